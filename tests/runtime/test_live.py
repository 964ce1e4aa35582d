"""Read, charge, draw: in that order, once, and no pass too many."""

from fractions import Fraction

import numpy as np
import pytest

from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace
from modicum.privacy.budget import pure
from modicum.privacy.event import PureDP
from modicum.privacy.unit import Unit
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import OK
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.runtime.steps import draw, read
from modicum.sources.opening import open_source
from modicum.sources.reader import read as read_source
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.runtime.diary import NotedEntropy

WITHIN = (-1e9, 1e9)
DATA = np.random.default_rng(0).lognormal(10, 1, 5000)


class Watched:
    """A reader that keeps a diary."""

    def __init__(self, diary: list[object], data=DATA) -> None:
        self._source = open_source(data)
        self._diary = diary

    def read(self, reads, entropy):
        self._diary.append([type(ask.reduction).__name__ for ask in reads])
        return read_source(self._source, reads, entropy)


def run_all(queries, diary, charge=None):
    return run(
        queries,
        Watched(diary),
        unit=Unit(),
        charge=charge or (lambda: diary.append("charge")),
        entropy=NotedEntropy("diary", diary),
    )


def test_the_charge_comes_after_the_first_pass_and_before_the_first_draw() -> None:
    diary: list[object] = []
    run_all({"a": query.mean(within=WITHIN, epsilon=1)}, diary)
    assert diary.count("charge") == 1
    first_pass, charge, first_draw = diary[0], diary.index("charge"), diary.index("draw")
    assert first_pass == ["OctaveCounts", "Tails", "Records"]
    assert charge < first_draw


def test_a_refused_charge_stops_before_any_draw() -> None:
    diary: list[object] = []

    def refuse() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        run_all({"a": query.count(epsilon=1)}, diary, refuse)
    assert "draw" not in diary


def test_together_makes_no_more_passes_than_the_slowest() -> None:
    def passes(queries) -> int:
        diary: list[object] = []
        rows = np.random.default_rng(2).normal(50, 9, 40_000)
        entropy = SeededEntropy("passes 1")
        run(queries, Watched(diary, rows), unit=Unit(), charge=lambda: None, entropy=entropy)
        return len(diary)

    mean = query.mean(within=WITHIN, epsilon=1)
    small = query.mean(within=WITHIN, epsilon="0.004")  # few records per unit of noise
    alone = {"mean": passes({"a": mean}), "small": passes({"a": small})}
    assert alone["mean"] <= 2 < alone["small"] <= 5
    count, total = query.count(epsilon=1), query.sum(within=WITHIN, epsilon=1)
    assert passes({"a": mean, "b": total, "c": count, "d": mean}) <= 3
    assert passes({"a": mean, "b": small, "c": count}) <= 5


def test_equal_asks_are_read_once_but_subsamples_never_shared() -> None:
    diary: list[object] = []
    mean = query.mean(within=WITHIN, epsilon=1)
    run_all({"a": mean, "b": mean}, diary)
    assert diary[0].count("Tails") == 1
    assert diary[0].count("Records") == 2


def test_runs_are_reproducible_with_a_seed() -> None:
    def values() -> list[Fraction]:
        walks = run_all({"a": query.mean(within=WITHIN, epsilon=1)}, [])
        return [walks["a"].answer.value]

    assert values() == values()


def asking(steps) -> Query[Release]:
    return Query("probe", "probe", None, None, pure(1), steps)


def test_a_draw_beyond_the_charge_is_refused() -> None:
    def greedy(event):
        yield from read(Read(None, None, Count()))
        yield from draw("more", laplace((1,), l1=1, epsilon=Fraction(9, 10)))
        yield from draw("too much", laplace((1,), l1=1, epsilon=Fraction(2, 10)))
        return ScalarEstimate(Fraction(0), None, "never")

    with pytest.raises(AssertionError, match="more than was charged"):
        run_all({"a": asking(greedy)}, [])


def test_a_clipped_sum_the_tails_cannot_answer_costs_a_pass() -> None:
    lattice, seen = Lattice.within(WITHIN), []

    def narrow(event):
        tails = yield from read(Read(None, lattice, Tails(5)))
        inside, outside = int(tails.low[0]), int(tails.high[-1])
        seen.append((yield from read(Read(None, lattice, ClippedSum(inside, outside)))))
        seen.append((yield from read(Read(None, lattice, ClippedSum(10**9, 10**10)))))
        yield from draw("nothing", laplace((0,), l1=1, epsilon=Fraction(1)))
        return ScalarEstimate(Fraction(0), None, OK)

    diary: list[object] = []
    run_all({"a": asking(narrow)}, diary)
    assert [entry for entry in diary if isinstance(entry, list)] == [["Tails"], ["ClippedSum"]]
    quantised = lattice.quantise(DATA)
    for (lo, hi), summary in zip(
        ((quantised.min(), quantised.max()), (10**9, 10**10)), seen, strict=True
    ):
        assert summary.total == sum(np.clip(quantised, lo, hi).tolist())
        assert summary.count == len(DATA)


def test_an_event_per_row_is_what_the_estimator_may_spend() -> None:
    events = []

    def curious(event):
        events.append(event)
        yield from read(Read(None, None, Count()))
        return ScalarEstimate(Fraction(0), None, OK)

    run(
        {"a": asking(curious)},
        Watched([]),
        unit=Unit(4),
        charge=lambda: None,
        entropy=SeededEntropy("u"),
    )
    assert events == [PureDP(Fraction(1, 4))]
