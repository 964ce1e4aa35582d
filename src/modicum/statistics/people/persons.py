"""Persons with all their rows: how many rows of a person count, where that has to be bounded.

A unit that names a column and nothing else leaves it to the question what becomes of a person's
rows. A statistic of a person's sum, number or mean bounds that itself. Of all others a few steps
come first, in which a person is one record, their number of rows:

[people.10] persons  a noisy number of persons, which sizes the next draw;
[people.11] limit    a number of rows that a small part of the persons exceed.

Then the statistic is answered from at most so many rows of each person, chosen at random, with the
rest of the budget divided by that number, as group privacy demands [people.12].
docs/research/proofs/people.md has the proofs, with the same labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeVar

from modicum import errors
from modicum.exact.lattice import Lattice
from modicum.mechanisms import grids, selection
from modicum.privacy.event import Event, check_size
from modicum.privacy.split import BudgetSplit
from modicum.releases import release
from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, draw, draw_count, read, reading
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.cells import Cells

R = TypeVar("R", bound=release.Record)

SIZES = Lattice(0.0, 2.0**24, 1.0)
"""The lattice of numbers of rows."""

MOST_OCTAVES = 18
"""Of numbers of rows."""

WIDER, WIDER_IF_FOUND = 16, 8
"""Octaves by which the range of a person's sums is wider than that of the values."""

_COUNT = 0.01  # strengths
_LEAST, _LARGEST = 0.02, 0.2
_TILT = Fraction(1)  # prior cost of a half octave of rows
_SURE = 16.0  # nats that are half of the persons aimed at beyond the limit
# Persons beyond a limit: enough of them per unit of noise, and parts of all, at least and at most.
# With rows, those beyond alone vouch for so many rows; groups that are dropped are missing.
_ENOUGH = MappingProxyType({"rows": 500.0, "groups": 200.0})
_BEYOND = MappingProxyType(
    {"rows": (Fraction(1, 50), Fraction(1, 4)), "groups": (Fraction(1, 200), Fraction(1, 10))}
)
_FEWEST = 80.0  # persons per unit of noise
TOO_FEW = Status(
    "few_records",
    "too few persons to find how many rows of a person may count at this budget: give `max_rows` "
    "to unit_of(), or spend more",
)


def in_values(
    begin: Callable[[Event], Steps[release.Estimate[R]]], event: Event
) -> Steps[release.Estimate[R]]:
    """Begin an estimator of persons, whose range is found from the mean of each person's values."""
    rule = RecordRule("mean")
    return reading(lambda ask: ask if ask.rule else replace(ask, rule=rule), begin(event))


def in_found_limit(
    begin: Callable[[Event], Steps[release.Estimate[R]]], event: Event
) -> Steps[release.Estimate[R]]:
    """Find how many rows of a person may count, and begin an estimator of so many of each."""
    split = BudgetSplit(event)
    # The most rows for which the estimator does not refuse what it may get of the budget: if none,
    # it refuses here, before anything is charged.
    least = split.share(_least_left(split)).loss

    def fits(rows: int) -> None:
        each = least.per_record(rows)
        check_size(each)
        steps = begin(each)
        next(steps)
        steps.close()

    octaves = _affordable(fits, MOST_OCTAVES)
    limit, status = yield from _find_limit(split, octaves, "rows")
    rule = RecordRule("rows", most=limit)
    answer = yield from reading(
        lambda ask: replace(ask, rule=rule), begin(split.rest().loss.per_record(limit)), limit
    )
    status = status if answer.status.ok or not status.ok else answer.status
    return replace(answer, limit=limit, status=status)  # type: ignore[type-var]


def _least_left(split: BudgetSplit) -> Fraction:
    """Return the least part of a budget that the draws for a limit leave."""
    return 1 - split.part_for(_COUNT, "noise") - split.part_for(_LARGEST, "range")


def _affordable(fits: Callable[[int], None], most: int) -> int:
    """Return the most octaves of rows or groups that leave each of them enough of a budget."""
    for octaves in range(most, -1, -1):
        try:
            fits(1 << octaves)
        except errors.InvalidArgument:
            if not octaves:
                raise
        else:
            return octaves
    raise AssertionError("unreachable")


def find_groups(event: Event, keys: int, fits: Callable[[int, Fraction], None]) -> Steps[int]:
    """Find in how many groups a person may count, of so many [people.13].

    ``fits`` refuses a number of groups that leaves too little for each, and a part of the budget.
    """
    split = BudgetSplit(event)
    octaves = min(max(keys - 1, 1).bit_length(), MOST_OCTAVES)
    least = _least_left(split)
    octaves = _affordable(lambda number: fits(number, least), octaves)
    limit, _ = yield from _find_limit(split, octaves, "groups")
    return min(limit, keys)


def _find_limit(
    split: BudgetSplit, octaves: int, what: Literal["rows", "groups"]
) -> Steps[tuple[int, Status]]:
    """Return how many rows of a person may count, and what the draws say against it.

    With r(m) rows of at most m a person, a row is worth r(m)/m of them when a person counts with m,
    and the persons beyond m alone are so many. That suffices for most statistics from 500/ε on.
    """
    grid = grids.RadiusGrid.between(1, 1 << octaves)
    limits = grid.radii[1:]  # every person has a row
    rule = RecordRule("count" if what == "rows" else "groups")
    sizes = yield from read(Read(None, SIZES, Cells(0, limits), rule=rule))
    share = split.share(split.part_for(_COUNT, "noise"))
    number, _ = yield from draw_count(split, sizes.count, share, "persons")  # [people.10]
    scale = float(split.scale)
    (least, most), enough = _BEYOND[what], _ENOUGH[what]
    people = max(number, 1)
    target = max(round(max(float(least) * people, min(float(most) * people, enough / scale))), 1)

    strength = min(max(_LEAST, _SURE / (target * scale)), _LARGEST)
    share = split.share(split.part_for(strength, "range"))
    # Those that may be beyond it anyway do not count: a person more still adds 0 or 1.
    beyond = tuple(max(number - target, 0) for number in sizes.above_many(limits))
    grid = grids.RadiusGrid(limits, grid.indices[1:])
    mechanism = split.spend(selection.RadiusDraw.of((beyond,), grid, share, tilt=_TILT))

    def words(drawn: tuple[int, ...]) -> str:
        return f"hardly more than {target:,} persons have more than {limits[drawn[0]]:,} {what}"

    (chosen,) = yield from draw(f"most {what}", mechanism, words)  # [people.11]
    return limits[chosen], OK if number * scale > _FEWEST else TOO_FEW
