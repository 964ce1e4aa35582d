"""Groups of persons with all their rows: what all groups find, and all their draws, for one person.

The exact joint loss of both stages, on small tables with and without a person who has rows in
several groups. The records are made by the readers of a real run.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.windows import DataWindow, WindowGrid
from modicum.privacy.event import event_of
from modicum.privacy.unit import unit_of
from modicum.runtime.pools import before_groups
from modicum.sources.across import far_across, norms_of_persons, scaled_across
from modicum.sources.groups import PersonsTogether, reader_of_groups
from modicum.sources.opening import open_source
from modicum.statistics.groups.pooled_persons import PersonPool
from modicum.summaries.base import Across, RecordRule
from tests.audit.counted import RINGS, sizes_of
from tests.audit.test_pooled_groups import Remembering, follow, together

NARROW = {"within": (-8, 8), "step": 1}
UNIT = unit_of("who")
KEYS = ["a", "b", "empty"]
GROUPS = len(KEYS)
# Few persons and many, and limits below and above what a person has.
VALUES = {
    "all groups: persons": ((1,), (5000,)),
    "all groups: zeros and other values": ((5, 90), (0, 700), (0, 3000)),
    "all groups: count, again": ((700,),),
    "all groups: window": (
        WindowGrid.of_range(Lattice(-8.0, 8.0, 1.0), 0).number(DataWindow(1, 2)),
    ),
    "all groups: records seen there": ((400,),),
    "all groups: rough mean in the window": ((1 << 20,),),
    "all groups: centre": (3,),
    "all groups: persons by rows": sizes_of(20)[1:2],
    "all groups: radius": ((4,),),
    "all groups: rows and rough total": ((1 << 30, 1 << 20),),
    "all groups: records near the bounds": (RINGS,),
    "all groups: most rows": ((1,), (9,)),
    "all groups: most deviations": ((2,), (12,)),
}


class InGroups(Remembered):
    """Serves an audit with the records of a table's persons in groups, of which one is audited."""

    def __init__(self, table) -> None:
        super().__init__(table)
        self._reader = reader_of(table)

    def check(self, column) -> None:
        pass

    def read(self, reads, entropy):
        return [self._one(each, entropy) for each in reads]

    def _one(self, each, entropy):
        if each not in self._kept:
            across = each.rule.across
            if across is not None and across.limits is not None:
                (found,) = self._reader.read([(0, each)], entropy)
            else:
                (found,) = PersonsTogether(self._reader).read([each], entropy)
            self._kept[each] = found
        return self._kept[each]


def frame_of(rows) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["g", "x", "who"])
    return frame.astype({"g": object, "x": float, "who": object})


def reader_of(frame):
    return reader_of_groups(open_source(frame), UNIT, "g", KEYS, ["x", None])


def pairs():
    """A person of one to three rows, the first of them in the group that is audited.

    Beside nobody, another one, or three who have more than the limits that are sought.
    """
    another = [("a", 8.0, "z"), ("b", -8.0, "z")]
    three = [(g, x, who) for who in "uvw" for g in "ab" for x in (8.0, -8.0)]
    for others in ([], another, three):
        without = frame_of(others)
        for values, places in (((-8.0,), "a"), ((8.0,) * 3, "aaa"), ((-8.0, 8.0, 8.0), "aab")):
            mine = [(g, x, "me") for g, x in zip(places, values, strict=True)]
            yield without, frame_of([*others, *mine])


@pytest.mark.parametrize(
    "cost", [{"epsilon": 1}, pytest.param({"rho": "0.5"}, marks=pytest.mark.slow)], ids=str
)
def test_both_stages_keep_the_claim_for_a_person(monkeypatch, cost) -> None:
    monkeypatch.setattr("modicum.audit.trail.Remembered", InGroups)
    query = together(ask.mean("x", **NARROW, **cost).for_unit(UNIT))
    report = audit.check(query, list(pairs()), values=VALUES, widths=(0, 0) + (1,) * 16)
    assert report.leak is None
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)
    assert report.drawn == report.claimed
    assert all(step.used <= 1 + 1e-9 for step in report.steps)
    used = {step.label: step.used for step in report.steps}
    for label in ("persons", "most rows", "most deviations"):
        assert used[f"all groups: {label}"] > 0.95, label
    assert used["rows"] > 0.95
    assert used["total"] > 0.85


def readers(rows):
    """A reader of all groups together, and one of each."""
    reader = reader_of(frame_of(rows))

    def of_group(group: int) -> Remembering:
        return Remembering(lambda asks, entropy: reader.read([(group, a) for a in asks], entropy))

    return Remembering(PersonsTogether(reader).read), [of_group(i) for i in range(GROUPS)]


FORCED = [
    {
        "all groups: persons": (n,),
        "all groups: most rows": (d,),
        "all groups: most deviations": (t,),
    }
    for n, d, t in ((60, 1, 2), (5000, 9, 12), (5000, 0, 20))
]

FAR = {"rows": (10**9, 10**9), "total": (10**9,)}


def joint_loss(query, rows, mine, seed: str):
    """The largest log ratio of what all groups found and of all their draws, on some paths."""
    event, entropy = event_of(query.budget), SeededEntropy(seed)
    both = readers(rows), readers([*rows, *mine])
    first, losses = before_groups(query, GROUPS), []
    for forced, _ in product(FORCED, range(2)):
        pair = (both[0][0], both[1][0])
        loss, spent, pool = follow(first, event, pair, forced, entropy)
        of_group = replace(query, begin=partial(query.pooling().begin, pool))
        for pair in zip(both[0][1], both[1][1], strict=True):
            loss += follow(of_group, event.part(1 - spent), pair, FAR, entropy)[0]
        losses.append(abs(loss))
    return max(losses)


ROWS = [[], [("a", 8.0, "z"), ("b", -8.0, "z"), ("b", 1.0, "y"), ("other", 8.0, "y")]]
MINE = [
    [("a", 8.0, "me"), ("b", 8.0, "me"), ("empty", 8.0, "me")],
    [("a", 8.0, "me"), ("a", 7.0, "me"), ("b", -8.0, "me"), ("empty", 1.0, "me")],
    [("b", -8.0, "me")] * 4,
]


@pytest.mark.parametrize("rows", ROWS, ids=["nobody", "two others"])
def test_a_person_in_all_groups_costs_epsilon_over_both_stages(rows) -> None:
    query = ask.mean("x", **NARROW, epsilon=1).for_unit(UNIT)
    losses = [joint_loss(query, rows, mine, f"{len(rows)}") for mine in MINE]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.3
    assert joint_loss(query, rows, [("other", 8.0, "me")], "other") == 0


def test_how_many_may_be_beyond_a_limit_follows_from_released_numbers() -> None:
    """A fifth of 1002 and of 1003 persons are different numbers."""
    query = ask.mean("x", **NARROW, epsilon=1).for_unit(UNIT)
    rows = [("a", 1.0, f"{i}") for i in range(1002)]
    pair = readers(rows)[0], readers([*rows, ("a", 1.0, "me")])[0]
    entropy = SeededEntropy("many")
    loss, _, pool = follow(
        before_groups(query, 100), event_of(query.budget), pair, FORCED[1], entropy
    )
    assert abs(loss) <= 1 + 1e-9
    assert pool.rows == round(2 ** (9 / 4) * 2**16)


def test_groups_that_bound_a_person_one_by_one_are_caught(monkeypatch) -> None:
    """The control: each record within the limit, but not the vector of all groups."""
    real = PersonPool.ask

    def apart(pool, column, kind):
        found = real(pool, column, kind)
        far = replace(found.rule.across, limits=(1e9, 1e9))
        return replace(found, rule=replace(found.rule, across=far))

    monkeypatch.setattr(PersonPool, "ask", apart)
    query = ask.mean("x", **NARROW, epsilon=1).for_unit(UNIT)
    assert max(joint_loss(query, [], MINE[0], f"apart {i}") for i in range(5)) > 1.2


@pytest.mark.parametrize("power", [1, 2])
def test_a_scaled_vector_is_no_longer_than_its_limit(power) -> None:
    rng = np.random.default_rng(power)
    for scale in (2.0**-800, 1.0, 2.0**40):  # squares of the smallest are no floats
        persons = np.repeat(np.arange(40), 50)
        x = np.round(rng.standard_cauchy(2000) * 2**20) * (scale / 2**20)
        m = rng.integers(1, 100, 2000).astype(float)
        rule = RecordRule("sum", across=Across(power, (37.0 * scale, 211.0)))
        for records, limit, step in ((x, 37, scale / 2**20), (m, 211, 2.0**-20)):
            scaled = scaled_across(records, (x, m), persons, rule, step) / step
            assert (scaled == np.round(scaled)).all()
            integers = [abs(int(each)) for each in scaled.tolist()]
            exact = [
                sum(each**power for each in integers[start : start + 50])
                for start in range(0, 2000, 50)
            ]
            most = (limit << 20) ** power
            assert max(exact) <= most
            assert max(exact) > most * Fraction(99, 100)  # who is beyond it loses no more


@pytest.mark.parametrize("power", [1, 2])
def test_rows_and_far_persons_are_one_vector_within_the_limit_on_rows(power) -> None:
    """[pooled.19] Of sums of all sizes, of persons within both limits, beyond one, or both."""
    rng = np.random.default_rng(power)
    step, limit = 2.0**-20, 211 << 20
    for scale in (2.0**-800, 1.0, 2.0**40, 2.0**900):
        persons = np.repeat(np.arange(60), 50)
        x = np.round(rng.standard_cauchy(3000) * 2**20) * (scale / 2**20)
        x *= np.repeat(rng.choice([0.0, 2.0**-10, 1.0, 2.0**90], 60), 50)
        m = rng.integers(1, 10, 3000) * np.repeat(rng.choice([1.0, 30.0], 60), 50)
        m[:10], x[:10] = math.nan, math.nan
        rule = RecordRule("count", across=Across(power, (37.0 * scale, 211.0)))
        rows = scaled_across(m, (x, m), persons, rule, step) / step
        far = far_across(x, m, persons, rule, step) / step
        assert np.isnan(far[:10]).all()
        both = np.nan_to_num(np.stack([rows, far])).reshape(2, 60, 50)
        assert (both == np.round(both)).all()
        norms = [sum(int(each) ** power for each in both[:, i].ravel()) for i in range(60)]
        assert max(norms) <= limit**power
        most = np.maximum(norms_of_persons(m / 211.0, persons, power), 1)
        beyond = norms_of_persons(x / (37.0 * scale), persons, power) > 4 * most
        assert beyond.sum() > 10
        units = norms_of_persons(far / limit, persons, power)
        assert units[beyond].min() > 0.5  # who is far away counts
        none = norms_of_persons(x / scale, persons, power) == 0
        assert none.any()
        assert not both[1][none].any()
