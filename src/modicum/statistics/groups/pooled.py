"""Means of many small groups, between clipping bounds that all groups find together.

Bounds that a group finds alone cost a group of a few hundred rows most of its budget, and fewer
find none. But groups of one table are mostly alike. So, of the records of all groups together:

[pooled.1] count   a noisy number of all records: large groups need nothing more;
[pooled.2] window  with a part of the budget as its own, the window of a mean and its radii
                   (found_mean.py): bounds with few records of all groups outside, and a centre;
[pooled.3] bounds  within these, for groups of several sizes, those with the least error of all
                   groups of this size, by noise and clipping together;
[pooled.4] cells   noisy numbers of records between these bounds, and near the centre;

and then, in every group in parallel:

[pooled.5] count   a noisy number of its records: which bounds it has;
[pooled.6] alike   of 600 records and more, noisy numbers of records in the inner cells, and of
                   300 and more one of those beyond the bounds, again if it is large: a group
                   that is not like all others answers alone, as one does without others;
[pooled.7] mean    the mean between the bounds, with all that is left;
[pooled.8] shrink  the means of small groups move towards that of all, by released variances.

docs/research/proofs/pooled.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms import additive, scores
from modicum.mechanisms.exponential import Exponential
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.groups import pooled_law
from modicum.statistics.ranges.bounded_mean import mean_between
from modicum.statistics.ranges.bounds import Bounds, Setting, combined
from modicum.statistics.ranges.split import expected_records
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import BEYOND, Counted, NoisyTerm
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.sums import Count

Bounded = tuple[int, int]
Cell = tuple[float, int | None]
Alone = Callable[[Event], Steps[Any]]

# Strengths: of the count of all records; of the draw of an end, at least, and at most so many
# times 1/N, between two strengths, N the records of all groups per unit of noise.
_COUNT, _LEAST = 0.01, 0.003
_MOST_FOR, _MOST = 300.0, (0.012, 0.02)
_CELLS, _LEAST_CELLS, _CELLS_FOR = 0.02, 0.01, 500.0  # of all cells: most, least, times 1/N
# Of the budget, of which the bounds have about a half: of few records, and from so many on.
_SEARCH, _MANY = (Fraction(3, 10), Fraction(3, 20)), 20_000.0
_FEWEST = 2000.0  # records of all groups per unit of noise
_LARGE = 5000.0  # records of a typical group per unit of noise, which finds its own bounds
# Records per unit of noise of the groups for which bounds are drawn: of so many groups, and at most
# so many times a typical one. A strength of one draw is 40 divided by the number of these groups.
_SIZES, _GROUPS, _TYPICAL, _SHARP = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0), 30, 4, 40.0
_LARGER = 3  # times the largest of these sizes: the outer bounds are for it
_BEYOND = 3  # times the largest of them: a larger group finds its own bounds
_WIDENED = 8  # times as far as they were drawn: bounds that are further were lengthened to home
_OCTAVES = 8  # by which bounds may be nearer to the centre than the outer ones
_WIDTH = 0.9  # noise of a mean between bounds, as a part of their distance
_FINE = 20  # bits of the largest loss of a record
# Strengths of the counts of a group, the second where the first tells of so few records.
_COUNTED, _AGAIN, _FEW = 1 / 50, 1 / 20, 400.0
_ALIKE_FROM, _ALIKE = 600.0, 25.0  # records per unit of noise, and nats
# Records per unit of noise from which on those beyond the bounds are counted; strengths, pure and
# concentrated, of that count and of a second one, and of the first as many as may be doubted and
# of the second as may be wrong.
_BEYOND_FROM, _ONCE, _TWICE = 300.0, (1 / 24, 1 / 10), (1 / 5, 1 / 5)
_PERHAPS, _SURELY = 0.2, 0.02
_WIDER = 1.5  # times the bounds of all groups are those of a group that reach what lies beyond
_UNLIKE = 0.25  # of the records of a group, which are in other cells than those of all groups
_DOUBT = 0.2  # probability with which the noise hides that more records are in a cell


@dataclass(frozen=True, slots=True)
class Pool:
    """What all groups found together: released.

    ``bounds`` are those for groups of the ``sizes``, in records per unit of noise, each within the
    next; ``counts`` the noisy numbers of records of all groups in the cells between them, from the
    lowest on, with ``noise``; ``tail`` the least and the typical index that explain what was seen
    of the tail. Without bounds, every group answers alone.
    """

    lattice: Lattice
    status: Status = OK
    centre: int = 0
    sizes: tuple[float, ...] = ()
    bounds: tuple[Bounded, ...] = ()
    counts: tuple[int, ...] = ()
    noise: NoisyTerm | None = None
    tail: tuple[float | None, float | None] = (None, None)

    @property
    def useful(self) -> bool:
        """Whether there are bounds."""
        return bool(self.bounds)

    def size_for(self, expected: float) -> int:
        """Return the place of the size nearest to a number of records per unit of noise."""
        return min(range(len(self.sizes)), key=lambda i: abs(math.log(self.sizes[i] / expected)))

    @property
    def nested(self) -> tuple[Bounded, ...]:
        """The bounds, and before them a quarter of the innermost about the centre."""
        lo, hi = self.bounds[0]
        centre = self.centre
        return ((centre - (centre - lo) // 4, centre + (hi - centre) // 4), *self.bounds)

    @property
    def cells(self) -> Cells:
        """What counts and sums the records between these, and on both sides of the centre."""
        return Cells(self.centre, _distances(self.centre, *chain(*self.nested)))

    def cell_counts(self, cells: CellSummary) -> tuple[int, ...]:
        """Count the records in the cells, from the lowest on; a record is in one of them."""
        lows = [cells.below(lo) for lo, _ in self.nested][::-1]
        highs = [cells.count - cells.above(hi) for _, hi in self.nested]
        upto = [0, *lows, cells.below(self.centre), *highs, cells.count]
        return tuple(b - a for a, b in pairwise(upto))

    @property
    def inner(self) -> Pool:
        """The innermost bounds alone, with the counts of their cells."""
        more = len(self.bounds) - 1
        counts = self.counts
        merged = (sum(counts[: more + 1]), *counts[more + 1 : -more - 1], sum(counts[-more - 1 :]))
        return replace(self, sizes=self.sizes[:1], bounds=self.bounds[:1], counts=merged)

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of the records of all groups in the cells."""
        known = [max(number, 0) for number in self.counts]
        return tuple(number / max(sum(known), 1) for number in known)

    def beyond(self, place: int) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
        """Cells beyond the bounds of a size on each side: their shares, and their far ends."""
        lows, highs = ([pair[side] for pair in self.bounds[place:]] for side in (0, 1))
        assert self.noise is not None
        room, total = self.noise.bound(2 * _DOUBT), max(sum(self.counts), 1)
        shares = [min(max(number, 0) + room, total) / total for number in self.counts]
        number = len(lows)
        return (
            tuple(zip(shares[:number][::-1], [*lows[1:], None], strict=True)),
            tuple(zip(shares[-number:], [*highs[1:], None], strict=True)),
        )

    def share_beyond(self, place: int) -> float:
        """Share of the records of all groups beyond the bounds of a size, rounded up by its noise.

        A sum of many noises is nearly normal.
        """
        assert self.noise is not None
        number = len(self.bounds) - place
        outer = (*self.counts[:number], *self.counts[-number:])
        room = NormalDist().inv_cdf(1 - _DOUBT) * math.sqrt(len(outer) * self.noise.variance)
        return min(1.0, (max(sum(outer), 0) + room) / max(sum(self.counts), 1))


def _distances(centre: int, *ends: int) -> tuple[int, ...]:
    """Distances of ends from the centre, increasing from 0."""
    return tuple(sorted({0, *(abs(end - centre) for end in ends)}))


def find_pool(
    bounds_of: Callable[[Setting], Steps[tuple[int, Bounds] | None]],
    column: str | None,
    lattice: Lattice,
    event: Event,
    groups: int,
) -> Steps[Pool]:
    """[pooled.1] to [pooled.4] Find bounds for groups of several sizes, of which there are many.

    ``bounds_of`` finds a centre and bounds about it of all records, if these are enough.
    """
    split = BudgetSplit(event)
    here, nothing = Setting(column, lattice, split), Pool(lattice)
    counted = yield from read(here.ask(Count()))
    share = split.share(split.part_for(_COUNT, "noise"))
    n0, _ = yield from draw_count(split, counted.count, share, "records")  # [pooled.1]
    expected = expected_records(split, n0)
    if expected < _FEWEST or expected / groups >= _LARGE:
        return nothing
    apart = Setting(column, lattice, BudgetSplit(event.part(_SEARCH[expected >= _MANY])))
    around = yield from bounds_of(apart)  # [pooled.2]
    split.left -= apart.split.total - apart.split.left
    if around is None:
        return nothing
    centre, bounds = around
    outer = _as_drawn(bounds, centre)
    most = min(expected / _GROUPS, _TYPICAL * expected / groups)
    sizes = tuple(size for size in _SIZES if size <= max(most, _SIZES[0]))
    lows, highs = _candidates(centre, outer)
    cells = yield from read(here.ask(Cells(centre, _distances(centre, *lows, *highs))))
    whole = cells.clipped_sum(*outer)
    below = [cells.clipped_sum(lo, outer[1]) - whole for lo in lows]
    above = [whole - cells.clipped_sum(outer[0], hi) for hi in highs]
    drawn = []
    for size in sizes:
        lo = yield from _draw_end(here, lows, below, size, n0, "lower")
        hi = yield from _draw_end(here, highs, above, size, n0, "upper")
        drawn.append((lo, hi))
    drawn.append(outer)
    # Bounds of larger groups hold those of smaller ones.
    ends = zip(
        accumulate((lo for lo, _ in drawn), min),
        accumulate((hi for _, hi in drawn), max),
        strict=True,
    )
    outside, seen = bounds.outside, bounds.outside.evidence()
    tail = outside.least_index(seen, 0.025), outside.least_index(seen, 0.5)  # [mean.11]
    pool = Pool(lattice, OK, centre, (*sizes, _LARGER * sizes[-1]), (*ends,), tail=tail)
    return (yield from _count_cells(here, pool, n0))


def _as_drawn(bounds: Bounds, centre: int) -> Bounded:
    """Bounds without what they were widened by for few records further out.

    The error of a draw of closer bounds is in proportion to their distance.
    """
    distances = centre - bounds.lo, bounds.hi - centre
    left, right = (
        min(distance, radius) if distance <= _WIDENED * radius else distance
        for distance, radius in zip(distances, bounds.outside.radii, strict=True)
    )
    return centre - left, centre + right


def _candidates(centre: int, outer: Bounded) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Ends at half octaves of distance from the outer ones to the centre, below and above it."""

    def distances(most: int) -> list[int]:
        halves = (round(most * 2 ** (-j / 2)) for j in range(2 * _OCTAVES + 1))
        return sorted({0, *halves}, reverse=True)

    lows = (centre - d for d in distances(centre - outer[0]))
    highs = (centre + d for d in distances(outer[1] - centre))
    return tuple(lows), tuple(highs)


def _draw_end(
    here: Setting, ends: tuple[int, ...], excesses: Sequence[int], size: float, n0: int, side: str
) -> Steps[int]:
    """[pooled.3] The end of the bounds on a side with about the least error of groups of a size.

    With n0 / n groups of n records, noise in proportion to the distance from the centre, which is
    public, and what clipping takes off all sums: the ``excesses`` of the records beyond each of the
    ``ends``, the furthest first. A record has an excess of at most the distance of the first.
    """
    if len(ends) == 1:
        return ends[0]
    split, centre = here.split, ends[-1]
    most = abs(ends[0] - centre)
    shift = max(0, most.bit_length() - _FINE)  # integers stay small, and sums are rounded down
    noise = _WIDTH * max(n0, 1) / size
    losses = [
        (round(noise * abs(end - centre)) >> shift) + (excess >> shift)
        for end, excess in zip(ends, excesses, strict=True)
    ]
    expected = expected_records(split, n0)
    most_of_all = min(_MOST[1], max(_MOST[0], _MOST_FOR / expected))
    strength = min(most_of_all, max(_LEAST, _SHARP * size / expected))
    score = scores.LossScore(np.array(losses, dtype=np.int64), (most >> shift) + 1, 1)
    share = split.share(split.part_for(strength, "range"))
    mechanism = split.spend(Exponential(score, *share.ranged))

    def words(place: int) -> str:
        return here.lattice.words(ends[place])

    label = f"{side} bound for groups of {size / float(split.scale):.3g} rows"
    return ends[(yield from draw(label, mechanism, words))]


def _count_cells(here: Setting, pool: Pool, n0: int) -> Steps[Pool]:
    """[pooled.4] Count the records between the bounds; a record is in one cell."""
    cells = yield from read(here.ask(pool.cells))
    most = _CELLS_FOR / expected_records(here.split, n0)
    strength = max(_LEAST_CELLS, min(_CELLS, most))
    share = here.split.share(here.split.part_for(strength, "noise"))
    mechanism = here.split.spend(additive.add_noise(pool.cell_counts(cells), share, sensitivity=1))
    drawn = yield from draw("records between the bounds", mechanism)
    return replace(pool, counts=drawn, noise=NoisyTerm(mechanism.noise[0], 1.0))


def mean_in_pool(column: str | None, pool: Pool, event: Event, alone: Alone) -> Steps[Any]:
    """[pooled.5] to [pooled.7] The mean of a group; ``alone`` answers if it is not like others."""
    if not pool.useful:
        return (yield from alone(event))
    split = BudgetSplit(event)
    here = Setting(column, pool.lattice, split)
    cells = yield from read(here.ask(pool.cells))
    n0 = yield from _count(here, cells.count)  # [pooled.5]
    expected = expected_records(split, n0)
    place = pool.size_for(expected)
    lo, hi = pool.bounds[place]
    unlike, beyond = expected > max(_BEYOND * pool.sizes[-1], _ALIKE_FROM), 0
    if not unlike and expected >= _BEYOND_FROM:
        unlike, beyond = yield from _is_unlike(here, pool, place, cells, n0)  # [pooled.6]
    if unlike:
        answer = yield from alone(split.rest().loss)
        return _reached(answer, hi - lo, beyond)
    ends, total = _between(pool.lattice, lo, hi), cells.clipped_sum(lo, hi)
    inside = yield from mean_between(here, ends, total, cells.count)  # [pooled.7]
    sides = pool.beyond(place)
    error_model = pooled_law.PooledErrorModel(pool.lattice, inside, pool.centre, *sides, *pool.tail)
    status = error_model.status if pool.status.ok else pool.status
    return ScalarEstimate(error_model.value, error_model, status)


def _between(lattice: Lattice, lo: int, hi: int) -> Lattice:
    """The lattice of values between two bounds, or of a single value and the next one."""
    if lo == hi:
        lo, hi = (lo, lo + 1) if lo < lattice.last else (lo - 1, lo)
    return Lattice(lattice.value(lo), lattice.value(hi), lattice.step)


def _count(here: Setting, records: int) -> Steps[int]:
    """A noisy number of records; the average of two, if they are few."""
    split = here.split

    def counted(strength: float, label: str) -> Steps[Counted]:
        share = split.share(split.part_for(strength, "noise"))
        number, noise = yield from draw_count(split, records, share, label)
        return Counted(Fraction(number), (NoisyTerm(noise, 1.0),))

    first = yield from counted(_COUNTED, "count")
    if expected_records(split, round(first.value)) < _FEW:
        again = yield from counted(_AGAIN, "count, again")
        first = combined(first, again)
    return round(first.value)


def _reached(answer: Any, width: int, beyond: int) -> Any:
    """Say of an answer alone if it does not reach the records that were counted beyond the bounds.

    Then its own bounds are not wider than those of all groups.
    """
    model: Any = answer.error_model
    silent = beyond and answer.status.code in ("ok", "unseen") and hasattr(model, "lo")
    if not silent or model.hi - model.lo > _WIDER * width:
        return answer
    return replace(answer, status=BEYOND.filled(records=beyond))


def _is_unlike(
    here: Setting, pool: Pool, place: int, cells: CellSummary, n0: int
) -> Steps[tuple[bool, int]]:
    """[pooled.6] Whether the records of a group lie in other cells than those of all groups.

    Those beyond the bounds are one cell, and of enough records those within are six. Returned is
    the noisy number of those beyond, too, if they are the reason.
    """
    split, inner = here.split, pool.inner
    expected, concentrated = expected_records(split, n0), split.concentrated
    lo, hi = pool.bounds[place]
    beyond = cells.below(lo) + cells.above(hi)
    numbers: tuple[int, ...] = (beyond,)
    if expected >= _ALIKE_FROM:
        first, *within, last = inner.cell_counts(cells)
        numbers = (beyond, first - cells.below(lo), *within, last - cells.above(hi))
    strength = max(_ONCE[concentrated], _ALIKE / expected if len(numbers) > 1 else 0.0)
    share = split.share(split.part_for(strength, "noise"))
    mechanism = split.spend(additive.add_noise(numbers, share, sensitivity=1))
    label = "records beyond the bounds" + ", and in cells" * (len(numbers) > 1)
    outside, *others = yield from draw(label, mechanism)
    if others:
        each = outside / 2  # half of those beyond the bounds are in each of the outermost cells
        found = [others[0] + each, *others[1:-1], others[-1] + each]
        away = [abs(number / n0 - usual) for number, usual in zip(found, inner.shares, strict=True)]
        noise = math.sqrt(mechanism.noise[0].variance / 2) * len(found) / n0
        if sum(away) / 2 > _UNLIKE + noise / 2:
            return True, 0
    if not _too_many(pool, place, n0, outside, NoisyTerm(mechanism.noise[0], 1.0), _PERHAPS):
        return False, 0
    share = split.share(split.part_for(_TWICE[concentrated], "noise"))
    again, noise_again = yield from draw_count(split, beyond, share, "records beyond, again")
    many = _too_many(pool, place, n0, again, NoisyTerm(noise_again, 1.0), _SURELY)
    return many, again if many else 0


def _too_many(
    pool: Pool, place: int, n0: int, outside: int, noise: NoisyTerm, alpha: float
) -> bool:
    """Whether more records of a group are beyond its bounds than [pooled.9] allows for.

    A group that is like the others has so many with a probability of at most alpha.
    """
    usual = tail_index.upper_quantile(
        *pooled_law.poisson(pooled_law.TIMES * n0 * pool.share_beyond(place)), alpha / 2
    )
    return outside - noise.bound(alpha) > usual
