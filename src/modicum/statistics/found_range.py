"""The range that nobody gave: a power of two beyond nearly all values of a column, or of columns.

A lattice needs a range, and its step follows from that. Where no range is given, one is found from
the sizes of the values, by their octaves, in one pass before those of the statistic:

[range.2] count   a noisy count of the values that are not zero: are there enough?
[range.3] octave  the octave of the median size, among all octaves of float64;
[range.4] top     from there up, an octave that few values exceed;
[range.5] range   2^12 times its end, on both sides of zero, with 2^52 steps.

Zeros have no size, and do not count: of a column with 90 % zeros the others decide. The size of a
row of several columns is that of its largest value. All octaves are
alike beforehand, so values 2^k times as large are answered by 2^k times the answer, bit for bit,
as far as the step can follow [range.6]. docs/proofs/range.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import MedianCellScore, TopCellScore
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.release import Estimate, Record
from modicum.runtime.steps import Steps, draw, read
from modicum.status import Status
from modicum.summaries.base import Columns, Read
from modicum.summaries.sizes import OctaveCounts, OctaveSummary

R = TypeVar("R", bound=Record)

COUNT_STRENGTH = 0.01
NATS = 30.0  # half of them beat the octaves of float64, by a factor e^7
MOST = 0.12  # strength of the draw of the top
STRONGEST = 0.25  # of the draw of the median octave: else there are too few values
TILT = Fraction(3, 8)  # an octave more weighs e^(-3/8): about r^(-1/2) at a distance r
PLACES = 256  # octaves from that of the median up that may be the top
SLACK = 12  # octaves beyond the top
TOO_FEW = Status(
    "few_records",
    "too few values other than 0 to find their range at this budget: give `within`, a public "
    "range, or spend more",
)
TOO_LARGE = Status(
    "clipped", "the values are so large that they, or their squares, are no float64: rescale them"
)
_NARROWEST, _WIDEST = -849, 1020  # powers of two, of lattices that vectors can be read on too


class RangeNeeds(Protocol):
    """What a statistic needs of its range, as :class:`~modicum.statistics.spec.Options` say it."""

    @property
    def spare(self) -> Fraction: ...

    @property
    def strength(self) -> float: ...


def in_found_range(
    place: str | Columns | None,
    event: Event,
    lattice_of: Callable[[Lattice], Lattice],
    begin: Callable[[Lattice, Event], Steps[Estimate[R]]],
    needs: RangeNeeds,
) -> Steps[Estimate[R]]:
    """Find a range with a part of the budget, and begin an estimator on it with all the rest."""
    split = BudgetSplit(event)
    # All these lattices have the same integers, so the estimator refuses what may be left of a
    # budget here, before anything is charged, or never.
    steps = begin(lattice_of(_lattice(0)), split.share(_least_left(split)).loss)
    next(steps)
    steps.close()

    top = yield from _find_top(place, split, needs)
    lattice = lattice_of(_lattice(_WIDEST if top is None else top + SLACK))
    answer = yield from begin(lattice, split.rest().loss)
    status = answer.status
    if top is None:
        status = TOO_FEW
    elif top > math.log2(lattice.hi):
        status = TOO_LARGE
    return replace(answer, lattice=lattice, status=status)  # type: ignore[type-var]


def _least_left(split: BudgetSplit) -> Fraction:
    """Part of the budget that the estimator has at least."""
    return (
        1
        - split.part_for(COUNT_STRENGTH, "noise")
        - split.part_for(STRONGEST, "range")
        - split.part_for(MOST, "range")
    )


def _find_top(
    place: str | Columns | None, split: BudgetSplit, needs: RangeNeeds
) -> Steps[int | None]:
    """Return k so that few sizes reach 2^k; ``None`` if there are too few values to find it."""
    octaves = yield from read(_reading(place))
    counts = octaves.counts[1:]  # but for zeros

    share = split.share(split.part_for(COUNT_STRENGTH, "noise"))
    counted = split.spend(add_noise((sum(counts),), share, sensitivity=1))
    (number,) = yield from draw("values other than 0", counted)
    sure = (number - 2 * counted.noise[0].variance ** 0.5) * float(split.scale)  # [range.2]
    if sure < NATS / STRONGEST:
        return None

    share = split.share(split.part_for(NATS / sure, "range"))
    mechanism = split.spend(Exponential(MedianCellScore(counts), *share.ranged))
    middle = yield from draw("octave", mechanism, lambda k: f"half are below {_end(k):.6g}")

    # The records above an octave, but for those that need not be in the range.
    above = np.maximum(sum(counts) - np.cumsum(counts) - math.floor(needs.spare * number), 0)
    # As many octaves wherever the middle is: beyond those of float64 there is nothing.
    beyond = tuple([*above[middle:].tolist(), *[0] * PLACES][:PLACES])
    strength = min(max(needs.strength, 2 * NATS / sure), MOST)
    share = split.share(split.part_for(strength, "range"))
    top = split.spend(Exponential(TopCellScore(beyond, TILT), *share.ranged))
    further = yield from draw("top", top, lambda k: f"few exceed {_end(middle + k):.6g}")
    return OCTAVES.power(middle + further + 1)


def _reading(place: str | Columns | None) -> Read[OctaveSummary]:
    if isinstance(place, Columns):
        return Read(None, OCTAVES, OctaveCounts(), place)
    return Read(place, OCTAVES, OctaveCounts())


def _end(octave: int) -> float:
    """The end of an octave, given its place among those of numbers other than 0."""
    return OCTAVES.value(octave + 1)


def _lattice(power: int) -> Lattice:
    """[range.5] The lattice of ±2^power, or of the nearest range that a lattice can hold."""
    reach = math.ldexp(1.0, min(max(power, _NARROWEST), _WIDEST))
    return Lattice.within((-reach, reach))
