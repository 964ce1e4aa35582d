"""What all groups find together and what each draws then cost one row what the query costs.

The audit is of a table whose rows are all in one group: there a row changes what all groups find
and what this group draws. A row of another group changes the first alone.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

import pandas as pd
import pytest

from modicum import audit
from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.event import event_of
from modicum.privacy.unit import Unit, unit_of
from modicum.runtime.pools import before_groups
from modicum.runtime.replay import Run
from modicum.runtime.steps import Draw
from modicum.sources.groups import GroupsTogether, reader_of_groups
from modicum.sources.opening import open_source
from tests.audit.counted import KINDS, kinds_of, windows_of

NARROW = {"within": (-8, 8), "step": 1}
NARROWLY = ask.mean(**NARROW, epsilon=1)
GROUPS = 100
# So few records that every group answers alone, some thousand, and many.
VALUES = {
    "all groups: records": ((900,), (4000,), (60_000,)),
    f"all groups: {KINDS}": ((0, 1000), (0, 60_000)),
    "all groups: count, again": ((1000,),),
    "all groups: window": windows_of(NARROWLY, (1, 2)),
    "all groups: records seen there": ((4000,),),
    "all groups: rough mean in the window": ((1,),),
    "all groups: radius": ((2,),),
    "all groups: centre": (2,),
    "all groups: shape": ((2, 3),),
    "all groups: radii": ((4, 3),),
    "count": ((25,), (1000,), (50_000,)),
    "count, again": ((25,),),
    "records beyond the bounds, and in cells": ((0, 100, 90, 110, 120, 80, 100),),
    KINDS: kinds_of(NARROWLY, ((0, 25), (0, 1000), (0, 50_000))),
    "window": windows_of(NARROWLY, (1, 2), (4, 0)),
    "records seen there": ((400,),),
    "centre": (2,),
    "shape": ((2, 3),),
    "radii": ((4, 3),),
}
FAR = VALUES | {
    "all groups: records": ((60_000,),),
    "all groups: radii": ((2, 2),),
    "count": ((500,), (1000,)),
    "records beyond the bounds": ((0,), (9000,)),
    "records beyond the bounds, and in cells": ((0, 0, 0, 1000, 0, 0, 0), (9000,) * 7),
    "records beyond, again": ((9000,),),
}
WIDTHS = (0,) * 6 + (1,) * 26
PAIRS = audit.neighbours((-8, 5), 2)


def together(query, *, charged: bool = True):
    """The query of a table whose rows are all in one of many groups."""
    first = before_groups(query, GROUPS)

    def begin(event):
        steps, received = first.begin(event), None
        spent, whole = Fraction(0), event.cost(event.kind).amount
        while True:
            try:
                step = steps.send(received)
            except StopIteration as stop:
                pool = stop.value
                break
            if isinstance(step, Draw):
                spent += step.event.cost(event.kind).amount
            received = yield step
        left = event.part(1 - spent / whole) if charged else event
        return (yield from query.pooling().begin(pool, left))

    return replace(query, begin=begin)


@pytest.mark.parametrize(
    "cost", [{"epsilon": 1}, pytest.param({"rho": "0.5"}, marks=pytest.mark.slow)], ids=str
)
def test_both_stages_keep_the_claim_and_use_it(cost) -> None:
    query = together(ask.mean(**NARROW, **cost))
    report = audit.check(query, PAIRS, values=VALUES, widths=WIDTHS)
    assert report.passed, report
    assert report.used > 0.95
    assert report.drawn == report.claimed
    used = {step.label for step in report.steps}
    assert {"all groups: records between the bounds", "mean between the bounds"} <= used
    assert {"records beyond the bounds, and in cells", "mean over the range"} <= used
    assert "all groups: records" in used
    assert any("upper bound" in label for label in used)


def test_records_of_a_group_beyond_the_bounds_are_counted_within_the_claim() -> None:
    report = audit.check(together(ask.mean(**NARROW, epsilon=1)), PAIRS, values=FAR, widths=WIDTHS)
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    for label in FAR.keys() - VALUES.keys() | {"records beyond the bounds, and in cells"}:
        assert used[label] > 0.95, label


def test_a_range_that_all_groups_find_keeps_the_claim() -> None:
    values = {
        "all groups: values other than 0": ((9000,),),
        "all groups: values beyond the range": ((0,),),
        "all groups: records": ((9000,),),
        "count": ((25,),),
        KINDS: ((0, 25),),
    }
    pairs = audit.neighbours((0.0, 5.0), 1)
    query = together(ask.mean(epsilon=1))
    report = audit.check(query, pairs, values=VALUES | values, widths=(0,) + (1,) * 30)
    assert report.passed, report
    assert report.drawn == report.claimed
    assert "all groups: octave" in {step.label for step in report.steps}


def test_groups_that_have_all_of_the_cost_again_are_caught() -> None:
    """The control: what all groups found together is not charged."""
    query = together(ask.mean(**NARROW, epsilon=1), charged=False)
    report = audit.check(query, PAIRS, values=VALUES, widths=WIDTHS)
    assert not report.passed
    assert report.drawn > report.claimed


KEYS = ["a", "b", "empty"]
TABLES = [[], [("a", 8.0, 1)], [("b", -8.0, 1), ("a", 1.0, 2), ("other", 8.0, 2)]]
FORCED = [
    {"all groups: records": (4000,), f"all groups: {KINDS}": (0, 4000), "count": (25,)},
    {"all groups: records": (60_000,), f"all groups: {KINDS}": (0, 60_000), "count": (1000,)},
]


class Remembering:
    """Summaries of a reader, each read once."""

    def __init__(self, read) -> None:
        self._read, self._kept = read, {}

    def read(self, reads, entropy):
        missing = [each for each in reads if each not in self._kept]
        if missing:
            self._kept.update(zip(missing, self._read(missing, entropy), strict=True))
        return [self._kept[each] for each in reads]


def readers(rows, unit: Unit) -> tuple[Remembering, list[Remembering]]:
    """A reader of all groups together, and one of each."""
    frame = pd.DataFrame(rows, columns=["g", "x", "who"])
    source = open_source(frame.astype({"g": object, "x": float, "who": object}))
    reader = reader_of_groups(source, unit, "g", KEYS, ["x", None])

    def of_group(group: int) -> Remembering:
        return Remembering(lambda asks, entropy: reader.read([(group, a) for a in asks], entropy))

    return Remembering(GroupsTogether(reader).read), [of_group(i) for i in range(len(KEYS))]


def follow(query, event, both, forced, entropy):
    """Follow a path on two tables: the log ratio, the part of the event spent, and the answer."""
    first, second = (Run(query, event, reader) for reader in both)
    ratio, spent = 0.0, Fraction(0)
    while first.waiting is not None:
        label = first.trail[-1][0]
        outcome = forced[label] if label in forced else first.waiting.sample(entropy)
        ratio += second.waiting.log_density(outcome) - first.waiting.log_density(outcome)
        spent += first.event.cost(event.kind).amount
        first.give(outcome)
        second.give(outcome)
    assert first.trail == second.trail
    return ratio, spent / event.cost(event.kind).amount, first.answer


def joint_loss(query, unit: Unit, rows, more, seed: str, *, pooled_unit: Unit | None = None):
    """The largest log ratio of what all groups found and of all their draws, on some paths."""
    event, entropy = event_of(query.budget), SeededEntropy(seed)
    both = readers(rows, unit), readers([*rows, *more], unit)
    first, losses = before_groups(query, len(KEYS)), []
    before = pooled_unit or (unit if unit.groups == 1 else Unit(unit.groups))
    for forced, _ in product(FORCED, range(3)):
        pair = (both[0][0], both[1][0])
        loss, spent, pool = follow(first, before.per_row(event), pair, forced, entropy)
        of_group = replace(query, begin=partial(query.pooling().begin, pool))
        for pair in zip(both[0][1], both[1][1], strict=True):
            left = unit.per_row(event.part(1 - spent))
            loss += follow(of_group, left, pair, forced, entropy)[0]
        losses.append(abs(loss))
    return max(losses)


ROWS = [[("a", 8.0, 9)], [("b", -8.0, 9)], [("empty", 1.0, 9)]]


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_a_row_more_in_any_group_costs_epsilon_over_both_stages(number) -> None:
    query, rows = ask.mean("x", **NARROW, epsilon=1), TABLES[number]
    losses = [joint_loss(query, Unit(), rows, more, f"{number}") for more in ROWS]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.3
    nobody = joint_loss(query, Unit(), rows, [("other", 8.0, 9)], "other")
    assert nobody == 0


def test_a_person_with_a_record_in_each_of_two_groups() -> None:
    query, unit = ask.mean("x", **NARROW, epsilon=1), unit_of("who", combine="mean").in_groups(2)
    mine = [("a", 8.0, 9), ("b", 8.0, 9)]
    assert 0.3 < joint_loss(query, unit, [], mine, "person") <= 1 + 1e-9


def test_two_rows_at_the_cost_of_one_are_caught() -> None:
    query = ask.mean("x", **NARROW, epsilon=1)
    assert joint_loss(query, Unit(), [], [("a", 8.0, 9), ("a", 8.0, 9)], "two") > 1.05


def test_records_of_a_person_add_up_in_the_first_stage_in_zcdp() -> None:
    """Of two records of a person each may cost a quarter of ρ where they are read together."""
    query = ask.mean("x", **NARROW, rho="0.5")
    both = readers([], unit_of("who", combine="mean").in_groups(2))
    run = Run(before_groups(query, 2), Unit(2).per_row(event_of(query.budget)), both[0])
    whole = Run(before_groups(query, 2), event_of(query.budget), both[0])
    quarter = run.event.cost("zcdp").amount * 4 / whole.event.cost("zcdp").amount
    assert quarter == pytest.approx(1)
