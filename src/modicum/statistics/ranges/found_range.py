"""The range that nobody gave: a power of two beyond nearly all values of a column, or of columns.

A lattice needs a range, and its step follows from that. Where no range is given, one is found from
the sizes of the values, by their octaves, in one pass before those of the statistic:

[range.2] count   a noisy count of the values that are not zero, a second one if they may be few;
[range.3] octave  the octave of the median size, among all octaves of float64;
[range.4] top     from there up, an octave that few values exceed;
[range.5] range   2^12 times its end, on both sides of zero, with 2^52 steps.

How many values are beyond the range is drawn too: they count as its end. If they seem to be many
they are counted again, and the top is drawn again for them [range.7]; an answer without many of
them all the same is not to be used.

Zeros have no size, and do not count: of a column with 90 % zeros the others decide. The size of a
row of several columns is that of its largest value. All octaves are alike beforehand, so values 2^k
times as large are answered by 2^k times the answer, bit for bit, as far as the step can follow
[range.6]. What is far below the end of the values is noted as nothing beside them [range.8].
docs/research/proofs/range.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import MedianCellScore, TopCellScore
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share, Use
from modicum.releases import confidence, release
from modicum.releases.status import OK, USABLE, Status
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.tails.outside import APART, FEW
from modicum.summaries.base import Columns, Read
from modicum.summaries.sizes import OctaveCounts, OctaveSummary

R = TypeVar("R", bound=release.Record)
E = TypeVar("E", bound=release.Estimate[Any])

NATS = 30.0  # of the least number of values: half of them beat the octaves of float64, by e^7
_SURE_NATS = 40.0  # of more values: by e^12
DRAWS: Mapping[str, tuple[float, Use]] = MappingProxyType(  # their largest strengths
    {
        "values other than 0": (0.01, "noise"),
        "values other than 0, again": (0.04, "noise"),
        "octave": (0.25, "range"),
        "top": (0.12, "range"),
        "top, again": (0.24, "range"),
        "values beyond the range": (0.02, "noise"),
        "values beyond the range, again": (0.05, "noise"),
        "top, wider": (0.3, "range"),
        "values beyond a wider range": (0.04, "noise"),
    }
)
TILTS, NEAR = (Fraction(1, 2), Fraction(1, 10)), 16  # an octave more weighs e^(-1/2), e^(-1/10)
STEEPER = 2 * TILTS[0], 2 * TILTS[1]
FAR = 20  # octaves from which on it is drawn again, with a step that follows from that
SLACK = 12  # octaves beyond the top
DEPTH = 12  # octaves below it that are told apart about zero
SEEN, PERHAPS = 2.75, 0.65  # deviations of the noise, which it exceeds once in 100 and in 5
_PLENTY, _SURELY, _CLOSELY = 1200.0, 2, 3  # values, and deviations of the noise off them
WIDER = 36.0  # nats of the values that were counted: 9 in 10 outweigh an octave 60 further up
TOO_FEW = Status(
    "few_records",
    "too few values other than 0 to find their range at this budget: give `within`, a public "
    "range, or spend more",
)
TOO_LARGE = Status(
    "clipped", "the values are so large that they, or their squares, are no float64: rescale them"
)
NOTHING = Status(
    "few_records",
    "too little data for this budget: the noise follows the range that was found; give `within`, a "
    "public range, or spend more",
)
BEYOND = Status(
    "clipped",
    "some {number} values are far beyond the range that was found, and count as its end: give "
    "`within`, a public range, or spend more",
)
AT_END = Status(
    "clipped",
    "some values lie at the end of the range that was found, or beyond it, and count as its end: "
    "give `within`, a public range, or spend more",
)
_NARROWEST, _WIDEST = -849, 1020  # powers of two, of lattices that vectors can be read on too


class RangeNeeds(NamedTuple):
    """What a statistic needs of its range.

    ``spare`` is the share of the values that it need not hold, ``strength`` that with which its end
    is sought.
    """

    spare: Fraction
    strength: float


def in_found_range(
    ask: Read[OctaveSummary],
    event: Event,
    lattice_of: Callable[[Lattice], Lattice],
    begin: Callable[[Lattice, Event], Steps[release.Estimate[R]]],
    needs: RangeNeeds,
) -> Steps[release.Estimate[R]]:
    """Find a range with a part of the budget, and begin an estimator on it with all the rest.

    ``ask`` reads the octaves of the values.
    """
    split = BudgetSplit(event)
    # All these lattices have the same integers: what an estimator refuses of what may be left of a
    # budget, before its first step, it refuses here, before anything is charged.
    largest = {label: split.part_for(*each) for label, each in DRAWS.items()}
    least = (1 - sum(largest.values()) + largest["top, wider"]) / 2  # which leaves a half
    steps = begin(lattice_of(_lattice(0)), split.share(least).loss)
    next(steps)
    steps.close()

    found = yield from _find_top(ask, split, needs)
    lattice = _with_floor(lattice_of(_lattice(found.top + SLACK)), found.top)
    answer = yield from begin(lattice, split.rest().loss)
    status = found.status
    if status.ok:
        status = TOO_LARGE if found.top > math.log2(lattice.hi) else answer.status
        status = NOTHING if status in {FEW, APART} else status
    if status.code in USABLE:
        # What many groups find together is no answer, and has no error model.
        left_out = _left_out(getattr(answer, "error_model", None), lattice, found)
        status = status if left_out.ok else left_out
    return replace(answer, lattice=lattice, status=status)  # type: ignore[type-var]


def in_finer_range(
    column: str | None,
    lattice: Lattice,
    event: Event,
    begin: Callable[[Lattice, Event], Steps[E]],
    strength: float = 0.025,
) -> Steps[E]:
    """[range.9] Begin again in a part of a range about 0, of whose step the values are a part.

    The part is found as a range is that nobody gave, from what is left of a budget.
    """

    def within(found: Lattice) -> Lattice:
        return Lattice.within((max(found.lo, lattice.lo), min(found.hi, lattice.hi)))

    needs = RangeNeeds(Fraction(0), strength)
    found: Any = yield from in_found_range(octaves_of(column), event, within, begin, needs)
    return found  # type: ignore[no-any-return]  # a copy of what `begin` returns


@dataclass(frozen=True, slots=True)
class _Found:
    """Few sizes reach 2^top, and what the draws say against it.

    ``group``: of so many values it was counted that they are beyond the range of 2^``narrower``.
    """

    top: int
    status: Status = OK
    group: int = 0
    narrower: int = 0


def _beyond(number: int) -> Status:
    return BEYOND.filled(number=f"{number:,}")


def _left_out(error_model: confidence.ErrorModel | None, lattice: Lattice, found: _Found) -> Status:
    """What to say of an answer of clipped values that leaves out a group, or takes it for nearer.

    Bounds within the first range do not hold a group beyond it. Those that reach the end of a range
    that is 4,096 times wider than nearly all values were drawn for others, which may be further.
    """
    if getattr(error_model, "outside", None) is None:
        return OK
    ended: tuple[bool, bool] = getattr(error_model, "ended", (False, False))
    # 0 is an end of a part of a range that was given [range.9], and no value is clipped there.
    if any(end and bound for end, bound in zip(ended, (lattice.lo, lattice.hi), strict=True)):
        return AT_END
    bounds: Iterable[float] = getattr(error_model, "holds", getattr(error_model, "in_steps", ()))
    near = max(map(abs, bounds), default=0) * lattice.step <= power_of_two(found.narrower + SLACK)
    return _beyond(found.group) if found.group and near else OK


def _find_top(ask: Read[OctaveSummary], split: BudgetSplit, needs: RangeNeeds) -> Steps[_Found]:
    """Find how far the values reach, and whether a group is beyond."""
    octaves = yield from read(ask)
    counts = octaves.counts[1:]  # but for zeros
    number, noise = yield from _count(split, sum(counts), "values other than 0")  # [range.2]
    sure = (number - _SURELY * noise) * float(split.scale)
    if number * float(split.scale) < _PLENTY:
        label = "values other than 0, again"
        number, noise = yield from _count(split, sum(counts), label)
        sure = (number - _CLOSELY * noise) * float(split.scale)
    if sure * DRAWS["octave"][0] < NATS:
        return _Found(_WIDEST, TOO_FEW)

    middle = yield from find_octave(split, counts, _SURE_NATS / sure, "octave")  # [range.3]

    # The records above an octave, but for those that need not be in the range; beyond the octaves
    # of float64 there are as many more, so that there are as many wherever the middle is.
    above = np.maximum(sum(counts) - np.cumsum(counts) - math.floor(needs.spare * number), 0)
    above = np.append(above, np.zeros(len(counts), dtype=np.int64))[middle:]
    strength = max(needs.strength, 2 * NATS / sure)
    share = _share(split, "top", strength)  # [range.4]
    counts_above: tuple[int, ...] = tuple(above[: len(counts)].tolist())

    def words(k: int) -> str:
        return f"few exceed {_end(middle + k):.6g}"

    def draw_top(label: str, share: Share, tilts: tuple[Fraction, Fraction]) -> Steps[int]:
        score = TopCellScore(counts_above, tilts, NEAR)
        mechanism = split.spend(Exponential(score, *share.ranged))
        return (yield from draw(label, mechanism, words))

    def beyond() -> int:
        return counts_above[min(further + SLACK, len(counts) - 1)]

    further = yield from draw_top("top", share, TILTS)
    if further > FAR:  # once in a hundred, or because of values that far out
        share = _share(split, "top, again", 2 * strength)
        further = yield from draw_top("top, again", share, STEEPER)
    label = "values beyond the range"
    seen, noise = yield from _count(split, beyond(), label)  # [range.5]
    if seen > PERHAPS * noise:  # [range.7]
        seen, noise = yield from _count(split, beyond(), f"{label}, again")
    top = OCTAVES.power(middle + further + 1)
    if seen <= SEEN * noise:
        return _Found(top)
    share = _share(split, "top, wider", WIDER / (seen * float(split.scale)))
    further = max(further, (yield from draw_top("top, wider", share, STEEPER)))
    left, noise = yield from _count(split, beyond(), "values beyond a wider range")
    status = _beyond(left) if left > SEEN * noise else OK
    return _Found(OCTAVES.power(middle + further + 1), status, seen, top)


def find_octave(
    split: BudgetSplit, counts: tuple[int, ...], strength: float, label: str
) -> Steps[int]:
    """[range.3] Draw the octave of the median size, given the numbers in all but that of zeros."""
    share = _share(split, "octave", strength)
    mechanism = split.spend(Exponential(MedianCellScore(counts), *share.ranged))
    return (yield from draw(label, mechanism, lambda k: f"half are below {_end(k):.6g}"))


def _share(split: BudgetSplit, label: str, strength: float) -> Share:
    largest, use = DRAWS[label]
    return split.share(
        min(split.part_for(min(strength, largest), use), split.left / split.total / 2)
    )


def _count(
    split: BudgetSplit, records: int, label: str, strength: float = math.inf
) -> Steps[tuple[int, float]]:
    """Draw a number of records, and return the deviation of its noise too."""
    share = _share(split, label, strength)
    number, noise = yield from draw_count(split, records, share, label)
    return number, noise.variance**0.5


def octaves_of(place: str | Columns | None) -> Read[OctaveSummary]:
    """Read the octaves of a column, or of the largest value of each row of several."""
    if isinstance(place, Columns):
        return Read(None, OCTAVES, OctaveCounts(), place)
    return Read(place, OCTAVES, OctaveCounts())


def _end(octave: int) -> float:
    """The end of an octave, given its place among those of numbers other than 0."""
    return OCTAVES.value(octave + 1)


def _lattice(power: int) -> Lattice:
    """[range.5] The lattice of ±2^power, or of the nearest range that a lattice can hold."""
    reach = power_of_two(power)
    return Lattice.within((-reach, reach))


def _with_floor(lattice: Lattice, top: int) -> Lattice:
    """[range.8] Note that 2^top, the end of the values, is much more than what is far below it."""
    if lattice.hi != math.ldexp(1.0, min(top + SLACK, _WIDEST)):
        return lattice  # the nearest one that there is
    return replace(lattice, floor=lattice.last >> (SLACK + DEPTH))


def power_of_two(power: int) -> float:
    """The end of a range, or the nearest one that a lattice can have."""
    return math.ldexp(1.0, min(max(power, _NARROWEST), _WIDEST))
