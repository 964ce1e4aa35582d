"""Groups are answered together: one charge, no pass too many, each as if it were alone."""

from fractions import Fraction

import numpy as np
import pytest

from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import laplace
from modicum.privacy.unit import Unit
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import OK
from modicum.runtime.query import Query
from modicum.runtime.run import run, run_groups
from modicum.runtime.steps import draw, read
from modicum.sources.opening import open_source
from modicum.sources.reader import read as read_source
from modicum.summaries.base import Read
from modicum.summaries.sums import Count
from tests.runtime.diary import NotedEntropy

WITHIN = (-1e9, 1e9)
RNG = np.random.default_rng(0)
GROUPS = [RNG.lognormal(10, 1, 3000), np.empty(0), RNG.normal(5, 1, 40), RNG.normal(0, 9, 700)]


class Watched:
    """A reader of some arrays that keeps a diary of its passes."""

    def __init__(self, groups, diary: list) -> None:
        self._sources = [open_source(x) for x in groups]
        self.diary = diary

    def read(self, reads, entropy):
        self.diary.append({group for group, _ in reads})
        return [read_source(self._sources[group], [ask], entropy)[0] for group, ask in reads]


def run_all(queries, groups=GROUPS, unit=None, charge=None):
    diary: list = []
    walks = run_groups(
        queries,
        len(groups),
        Watched(groups, diary),
        unit=unit or Unit(),
        charge=charge or (lambda: diary.append("charge")),
        entropy=NotedEntropy("groups", diary),
    )
    return walks, diary


def test_one_charge_for_all_groups_after_the_first_pass_and_before_the_first_draw() -> None:
    walks, diary = run_all({"n": query.count(epsilon=1)})
    assert diary == [{0, 1, 2, 3}, "charge", "draw"]
    assert [list(each) for each in walks] == [["n"]] * 4
    assert all(len(each["n"].transcript) == 1 for each in walks)


def test_a_refused_charge_stops_before_any_draw() -> None:
    seen = []

    def refuse() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        run_all({"n": query.count(epsilon=1)}, charge=refuse)
    assert seen == []


def passes(queries, groups) -> int:
    return sum(isinstance(entry, set) for entry in run_all(queries, groups)[1])


def test_no_more_passes_than_the_slowest_group() -> None:
    one, mean = query.median(within=WITHIN, epsilon=1), query.mean(within=WITHIN, epsilon=1)
    assert passes({"a": one}, GROUPS) == 1
    assert passes({"a": one, "b": query.count(epsilon=1)}, GROUPS) == 1
    slowest = max(passes({"a": mean}, [x]) for x in GROUPS)
    assert passes({"a": mean}, GROUPS) == passes({"a": mean, "b": one}, GROUPS) == slowest


def test_a_pass_reads_only_the_groups_that_still_wait() -> None:
    """The second need comes only in groups with a large noisy count."""

    def steps(event):
        first = yield from read(Read(None, None, Count()))
        if first.count > 100:  # no estimator may do this; it is a probe of the runner
            yield from read(Read(None, query.sum(within=WITHIN, epsilon=1).lattice, Count()))
        return ScalarEstimate(Fraction(first.count), None, OK)

    probe = Query("probe", "probe", None, None, query.count(epsilon=1).budget, steps)
    walks, diary = run_all({"a": probe})
    assert [entry for entry in diary if isinstance(entry, set)] == [{0, 1, 2, 3}, {0, 3}]
    assert [each["a"].answer.value for each in walks] == [len(x) for x in GROUPS]


@pytest.mark.parametrize(
    "asked",
    [
        query.count(epsilon=1),
        query.sum(within=WITHIN, epsilon=1),
        query.mean(within=WITHIN, epsilon=1),
        query.mean(within=WITHIN, rho="0.5"),
    ],
    ids=lambda r: f"{r.statistic} {r.budget.kind}",
)
@pytest.mark.parametrize("x", GROUPS, ids=len)
def test_a_single_group_is_released_as_the_column_alone(asked, x) -> None:
    alone = run(
        {"a": asked},
        type(
            "Reader", (), {"read": lambda self, reads, e: read_source(open_source(x), reads, e)}
        )(),
        unit=Unit(),
        charge=lambda: None,
        entropy=SeededEntropy("groups"),
    )["a"]
    (grouped,), _ = run_all({"a": asked}, [x])
    assert grouped["a"].answer == alone.answer
    assert grouped["a"].transcript == alone.transcript


def test_a_unit_of_several_rows_shrinks_the_event_in_every_group() -> None:
    walks, _ = run_all({"n": query.count(epsilon=1)}, unit=Unit(4))
    events = {entry.event.epsilon for each in walks for entry in each["n"].transcript}
    assert events == {Fraction(1, 4)}


def test_no_groups_at_all() -> None:
    walks, diary = run_all({"n": query.count(epsilon=1)}, [])
    assert (walks, diary) == ([], ["charge"])


def test_draws_of_many_groups_differ_and_are_all_in_their_journals() -> None:
    """Same data, same laws: what is drawn at once is still drawn for each group by itself."""
    rows = [np.arange(300.0)] * 200
    total = query.sum(within=WITHIN, epsilon=1)
    walks, _ = run_all({"n": query.count(epsilon=1), "s": total}, rows)
    for name in ("n", "s"):
        outcomes = [[entry.outcome for entry in each[name].transcript] for each in walks]
        # A sum of a group whose noisy count is small or large takes other steps.
        assert {len(each) for each in outcomes} >= {1 if name == "n" else 6}
        counts = [each[0][-1] - 300 for each in outcomes]
        assert len(set(counts)) > 5
        assert abs(np.mean(np.sign(counts))) < 0.3
    both = np.corrcoef(
        [[each[name].transcript[0].outcome[-1] for each in walks] for name in ("n", "s")]
    )
    assert abs(both[0, 1]) < 0.3


def test_a_draw_beyond_the_allowance_is_refused_before_it_happens() -> None:
    def steps(event):
        yield from draw("too much", laplace((3,), l1=1, epsilon=event.epsilon * 2))
        raise AssertionError("drawn")

    probe = Query("probe", "probe", None, None, query.count(epsilon=1).budget, steps)
    with pytest.raises(AssertionError, match="would cost more"):
        run_all({"a": probe})
