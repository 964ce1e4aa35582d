"""Inverse-sensitivity lengths: how many records away is each value of a monotone M-estimator.

They follow from the counts and sums of cells, and from the score ψ as a public table of integers
(:class:`ScoreTable`), which is nondecreasing by construction.

[locations.7] masses  each record is a unit of mass, split over the two cell ends around it in
                      proportion to its nearness; only counts and sums of cells are needed. For the
                      ends of an interval all of a cell is moved to one end, if the score bends in
                      it;
[locations.8] length  of a value t: the least mass to remove or to add before the sum of scores
                      S(t) = sum ψ(x - t) is 0; negative where S(t) > 0, that is below the estimate;
[locations.9] levels  where that signed length passes -k and k, for every k, between candidates;
[locations.10] trimming by rank, where that is wanted.

One record more is one unit of mass more, so a length moves by at most 1 at every t. All of it is
integer arithmetic. docs/research/proofs/locations.md has the proofs, with the same labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.mechanisms.grids import FloatGrid
from modicum.summaries.base import Integers
from modicum.summaries.cells import CellSummary

Reals = NDArray[np.float64]

_KNOTS = FloatGrid(12)  # ψ is interpolated between differences 2^-12 of their size apart
_LARGEST = 1 << 32  # integers of a table go up to this
_PLACES = 15  # binary places of a difference between two knots
_BELOW = 52 - _KNOTS.bits  # bits of a fraction below those of a knot


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """A nondecreasing integer function of the integers in [-span, span], 0 at 0; span <= 2^54.

    ``below`` is -ψ to the left of 0 and ``above`` is ψ to the right, at the knots: nondecreasing,
    from 0, at most 2^32.
    """

    span: int
    below: Integers
    above: Integers

    @classmethod
    def of(cls, psi: Callable[[Reals], Reals], span: int, step: float | None) -> ScoreTable:
        """Tabulate ψ for differences of up to ``span`` lattice steps; refuse one of zeros only.

        ``step`` is a lattice step in the unit of ψ; ``None``: the span is 1.
        """
        last = _KNOTS.number(span) + 1
        knots = _KNOTS.first(last + 1)
        scale = 1 / float(knots[-1]) if step is None else step
        values = psi(np.concatenate([-knots[::-1], knots]) * scale)
        below, above = -values[last::-1], values[last + 1 :]
        largest = max(float(above.max()), float(below.max()))
        if not largest > 0:
            raise InvalidArgument("psi is 0 at all differences: give a wider within=")

        def whole(side: Reals) -> Integers:
            # ψ(0) = 0 and the running maximum: nondecreasing, whatever ψ is.
            scaled = side / largest
            np.clip(scaled, 0, 1, out=scaled)
            scaled *= _LARGEST
            rounded = np.rint(scaled, out=scaled).astype(np.int64)
            rounded[0] = 0
            return np.maximum.accumulate(rounded, out=rounded)

        return cls(span, whole(below), whole(above))

    def at(self, differences: Integers) -> Integers:
        """Return ψ at integer differences, beyond the span as at its ends.

        Between two knots it is linear in the difference, rounded down twice: that keeps the
        order. It is 0 at 0, and never on the other side of it.
        """
        bits, numbers = self._knots_below(differences)
        bits >>= _BELOW - _PLACES
        bits &= (1 << _PLACES) - 1
        left = differences < 0
        numbers += left * len(self.below)
        values: Integers = self._magnitudes[numbers]
        rise = self._rises[numbers]
        rise *= bits
        rise >>= _PLACES
        values += rise
        np.negative(values, out=values, where=left)
        return values

    def beside(self, differences: Integers, towards: int) -> Integers:
        """Return ψ at the next knot from integer differences, upwards (1) or downwards (-1).

        Whatever ψ does between two knots, at the difference it is no more than this, or no less.
        """
        bits, numbers = self._knots_below(differences)
        bits &= (1 << _BELOW) - 1
        left = differences < 0
        outwards = left if towards < 0 else ~left
        numbers += outwards & (bits > 0)
        numbers += left * len(self.below)
        values: Integers = self._magnitudes[numbers]
        np.negative(values, out=values, where=left)
        return values

    def _knots_below(self, differences: Integers) -> tuple[Integers, Integers]:
        """Return sizes as the bits of float64, and their knots.

        It holds an integer up to 2^53, and an even one up to 2^54; others are rounded, in order.

        The exponent and the first bits of the fraction are the number of a knot, but for a
        constant; that of a size of fewer bits is less than the size, which is its own knot. What is
        left of the fraction is the place between two knots.
        """
        size = np.abs(differences)
        np.minimum(size, self.span, out=size)
        bits = size.astype(np.float64).view(np.int64)
        numbers = bits >> _BELOW
        numbers -= (1022 + _KNOTS.bits) << _KNOTS.bits
        np.minimum(size, 1 << _KNOTS.bits, out=size)
        np.maximum(numbers, size, out=numbers)
        return bits, numbers

    def knots_around(self, low: int, high: int) -> tuple[int, int]:
        """Return the last knot below ``low``, and the first one above ``high``."""
        return _beyond(low - 1, -1), _beyond(high + 1, 1)

    @cached_property
    def _magnitudes(self) -> Integers:
        return np.concatenate([self.above, self.below])

    @cached_property
    def _rises(self) -> Integers:
        return np.diff(self._magnitudes, append=0)


def _beyond(difference: int, towards: int) -> int:
    """Return the nearest knot at a difference or, 1 or -1, above or below it."""
    number = _KNOTS.number(difference)  # towards zero
    knot = _KNOTS.point(number)
    return knot if towards * (knot - difference) >= 0 else _KNOTS.point(number + towards)


_ROUNDING = 64  # parts of mass in one unit of length
_HUGE = 1 << 60
_LIMB, _LIMB_MASK = 26, (1 << 26) - 1
_HALF, _HALF_MASK = 16, (1 << 16) - 1
BLOCK = 1 << 17  # scores computed together, of which a core's cache holds a megabyte


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClippedCells:
    """Records in cells (sensitive), clipped to bounds between which all additions lie.

    The first edge of the cells is 0, and they reach all records; the bounds are ends of cells, or
    beyond all records. ``step`` is a lattice step in the unit of the data. If ``trimmed`` is
    positive, so many records are deleted on each side by rank, and what is then left beyond the
    bounds is deleted too, and not clipped.
    """

    cells: CellSummary
    lo: int
    hi: int
    step: float
    trimmed: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointMasses:
    """Mass at increasing places, in parts of a record (sensitive); at least 1 part at each place.

    All records and all additions lie between ``lo`` and ``hi``; ``edges``, the ends of the cells
    between them, are public.
    """

    places: Integers
    parts: Integers
    lo: int
    hi: int
    edges: Integers

    @classmethod
    def of(
        cls, records: ClippedCells, parts: int, towards: int = 0, *, moved: bool = False
    ) -> PointMasses:
        """[locations.7] Split the records of cells over the cells' ends; clip them to the bounds.

        Of a record x in a cell from a to b, the share (x - a) / (b - a) goes to b and the rest to
        a: as for each record the scores of a and b then average to its own where ψ is linear. The
        mass at b is rounded once, for the cell: with one record more it grows by 0 to ``parts``,
        and both ends together by exactly ``parts``, the parts of a record.

        ``towards`` 1 or -1: the share of the upper or lower end of a cell is rounded up;
        ``moved``: that end has all of it. Then no record is lowered (1), or none is raised (-1).
        """
        cells, lo, hi, trimmed = records.cells, records.lo, records.hi, records.trimmed
        edges = np.array(cells.edges, dtype=np.int64)
        size = len(edges)
        counts = np.array(cells.counts, dtype=np.int64)
        spans = np.diff(edges)
        found = np.zeros(2 * size - 1, dtype=np.int64)
        found[size - 1] = counts[size] * parts
        for side in (-1, 1):
            n = counts[size + side * np.arange(1, size)]
            # A cell of one integer, which is its outer end, hides nothing.
            outer = np.where((spans == 1) | (towards == side), n * parts, 0)
            for i in () if moved else np.flatnonzero(n).tolist():
                total = side * (cells.sums[size + side * (i + 1)] - int(n[i]) * cells.centre)
                wanted = (total - int(n[i]) * int(edges[i])) * parts
                up = int(spans[i]) - 1 if towards == side else 0
                outer[i] = (wanted + up) // int(spans[i])
            at = size - 1 + side * np.arange(size)
            found[at[1:]] += outer
            found[at[:-1]] += n * parts - outer
        places = cells.centre + np.concatenate([-edges[:0:-1], edges])
        if trimmed:
            found = trimmed_by_rank(found, trimmed * parts)
            found[(places < lo) | (places > hi)] = 0
        there = found > 0
        edges = np.clip(places, lo, hi)
        places, found = edges[there], found[there]
        heads = np.flatnonzero(np.diff(places, prepend=lo - 1))
        gathered = np.add.reduceat(found, heads) if len(heads) else found
        return cls(places[heads], gathered, lo, hi, edges)

    def in_halves(self) -> PointMasses:
        """Return the same masses, with places counted in halves of a lattice step."""
        return PointMasses(2 * self.places, self.parts, 2 * self.lo, 2 * self.hi, 2 * self.edges)

    def beside(self, places: Integers, towards: int) -> Integers:
        """Return the next end of a cell above places, or below; the last one has none."""
        if towards > 0:
            found = np.searchsorted(self.edges, places, side="right")
        else:
            found = np.searchsorted(self.edges, places) - 1
        nearest: Integers = self.edges[np.clip(found, 0, len(self.edges) - 1)]
        return nearest


def trimmed_by_rank(mass: Integers, cut: int) -> Integers:
    """[locations.10] Mass at increasing places without its ``cut`` lowest and highest units.

    Nothing is left if there is no more than both. One unit of mass more, wherever it is put in or
    over how many places it is spread, leaves one more, or none.
    """
    upto = np.cumsum(mass)
    total = int(upto[-1]) if len(upto) else 0
    kept: Integers = np.minimum(upto, total - cut) - np.maximum(upto - mass, cut)
    return np.maximum(kept, 0)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreLengths:
    """[locations.8] The signed length of any value t, in 1/unit of a record, capped.

    The masses (sensitive) are in parts of 1 / (64 unit) of a record, and the span of the table
    reaches from ``masses.lo`` to ``masses.hi``. With ``towards`` 1 or -1 scores are no less, or no
    more, than those of the records. ``bends`` are where the score is not linear: least and greatest
    difference, and whether its slope grows (1) or falls (-1) there; ``None``: anywhere, and then
    all records of a cell were moved.
    """

    masses: PointMasses
    table: ScoreTable
    cap: int
    towards: int = 0
    bends: tuple[tuple[int, int, int], ...] | None = None

    @staticmethod
    def parts(unit: int) -> int:
        """Parts of a record that its mass has to be counted in."""
        return _ROUNDING * unit

    def at(self, t: Integers) -> Integers:
        """Return the lengths of values t in [lo, hi]; nondecreasing if ``towards`` is 0."""
        rows = max(1, BLOCK // max(1, len(self.masses.places)))
        blocks = [self._block(t[i : i + rows]) for i in range(0, len(t), rows)]
        return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)

    @cached_property
    def _ends(self) -> tuple[Integers, Integers]:
        """Mass up to each of the lowest places, and of the highest, until the cap is passed."""
        most = (self.cap + 1) * _ROUNDING

        def upto(parts: Integers) -> Integers:
            found = np.cumsum(parts)
            return np.minimum(found[: int(np.searchsorted(found, most)) + 1], most)

        return upto(self.masses.parts), upto(self.masses.parts[::-1])

    def _scores(self, differences: Integers) -> Integers:
        """Return ψ; rounded to a knot where it is not known to be linear between two."""
        if self.towards == 0:
            return self.table.at(differences)
        if self.bends is None:
            return self.table.beside(differences, self.towards)
        found = self.table.at(differences)
        for low, high, _ in self.bends:
            below, above = self.table.knots_around(low, high)
            near = (differences > below) & (differences < above)
            found[near] = self.table.beside(differences[near], self.towards)
        return found

    def _scores_of_masses(self, t: Integers) -> Integers:
        """Return the scores of all places (columns) for values t (rows).

        Over a cell in which ψ bends the wrong way the mean of its ends' scores is no bound: there
        the end that is nearer to the statistic has the score of the other one.
        """
        places, towards = self.masses.places, self.towards
        scores = self._scores(places[None, :] - t[:, None])
        for low, high, sign in self.bends or ():
            if sign == -towards:
                if towards > 0:
                    place = np.searchsorted(places, t + high) - 1
                else:
                    place = np.searchsorted(places, t + low, side="right")
                rows = np.flatnonzero((place >= 0) & (place < len(places)))
                near = places[place[rows]]
                far = self.masses.beside(near, towards)
                across = (far > t[rows] + low) if towards > 0 else (far < t[rows] + high)
                rows, far = rows[across], far[across]
                scores[rows, place[rows]] = self._scores(far - t[rows])
        return scores

    def _block(self, t: Integers) -> Integers:
        masses = self.masses
        if not len(masses.places):
            return np.zeros(len(t), dtype=np.int64)
        scores = self._scores_of_masses(t)
        total = exact_sums(scores, masses.parts)
        up, down = self._scores(masses.hi - t), -self._scores(masses.lo - t)
        low, high = self._ends
        above = _needed(-total, -scores[:, : len(low)], low, up)
        below = _needed(total, scores[:, : -len(high) - 1 : -1], high, down)
        # [locations.8] floor(length + 1/2): above is rounded from whole parts; below, from the next
        # part.
        lengths = (above[0] + _ROUNDING // 2) // _ROUNDING
        negative = (_ROUNDING // 2 - below[0] - below[1]) // _ROUNDING
        return np.clip(np.where(total > 0, negative, lengths), -self.cap, self.cap)


def exact_sums(scores: Integers, parts: Integers) -> Integers:
    """Sum of scores times parts over each row, cut to ±2^60."""
    high, low = parts >> _LIMB, parts & _LIMB_MASK
    upper, lower = scores >> _HALF, scores & _HALF_MASK
    pieces = ((upper, high, _HALF + _LIMB), (upper, low, _HALF), (lower, high, _LIMB))
    total = (lower @ low).astype(object)
    for a, b, shift in pieces:
        if b.any():
            total = total + (a @ b).astype(object) * (1 << shift)
    cut: Integers = np.clip(total, -_HUGE, _HUGE).astype(np.int64)
    return cut


def _needed(
    deficit: Integers, gains: Integers, upto: Integers, adding: Integers
) -> tuple[Integers, NDArray[np.bool_]]:
    """Least mass whose removal or addition makes up for a deficit: whole parts, and whether more.

    ``deficit`` is the missing score; 0 or less needs nothing. ``gains[r, m]`` is what removing one
    part of a place gains, the best places first, and ``upto`` the mass up to each place; what is no
    better than ``adding``, the gain of adding one part (at least 0), is not removed.
    """
    used = gains > adding[:, None]
    worth = np.where(used, gains, 0) * np.diff(upto, prepend=0)
    gained = np.cumsum(worth, axis=1)
    place = (used & (gained < deficit[:, None])).sum(axis=1)
    removed = used.sum(axis=1)
    rows = np.arange(len(deficit))
    within = place < removed
    before = np.maximum(place - 1, 0)
    mass = np.where(place > 0, upto[before], 0)
    rest = np.maximum(deficit - np.where(place > 0, gained[rows, before], 0), 0)
    rate = np.where(within, gains[rows, np.minimum(place, gains.shape[1] - 1)], adding)
    # With nothing left to gain the length is endless, and cut by the cap.
    whole, broken = np.divmod(rest, np.maximum(rate, 1))
    whole = np.where((rate == 0) & (rest > 0), _HUGE, whole)
    return np.where(deficit > 0, mass + whole, 0), (deficit > 0) & (broken > 0)


def level_ends_of(
    length: Callable[[Integers], Integers], first: int, last: int, fine: int, levels: int
) -> tuple[Integers, Integers]:
    """[locations.9] [level_sets.9] Ends of the level sets {|length| <= k}, k < levels.

    ``first`` and ``last`` are coarse numbers, and ``length(z)``, nondecreasing, is that half way
    from number z - 1 to z; both ends of the numbers are half ways too. Between two of them it is
    linear, and ``fine`` candidates, a power of two, are evenly spaced. Each stands for the values
    up to half way to the next candidates, and has the least length among them. Those of the first
    and the last reach on without end, so no level is empty. Returned are the least and the greatest
    fine number of each level.
    """
    wanted = np.arange(-levels, levels, dtype=np.int64)

    def clipped(nodes: Integers) -> Integers:
        return np.clip(length(nodes), -levels, levels)

    at, below, above = _last_up_to(clipped, first, last + 1, wanted)
    inside = (at >= first) & (at <= last)
    rise = np.where(inside, above - below, 1)
    # Places in halves of a fine number: half way ``at`` is at (2 at - 1) fine, and those of a
    # candidate y are 2 y - 1 and 2 y + 1. For below <= v < above: so far on from the first.
    there = (2 * at - 1) * fine + np.where(inside, (wanted - below) * 2 * fine // rise, 0)
    highs = np.clip((there + 1) // 2, first * fine, last * fine)[levels:]
    # A length of at least -k = v + 1: so far back from the second.
    back = np.where(inside, (above - wanted - 1) * 2 * fine // rise, 0)
    there = (2 * at + 1) * fine - back
    lows = np.clip(there // 2, first * fine, last * fine)[:levels]
    return lows[::-1], highs


def _last_up_to(
    length: Callable[[Integers], Integers], first: int, last: int, wanted: Integers
) -> tuple[Integers, Integers, Integers]:
    """Greatest number of a length of at most v, for increasing v, by bisection for all v together.

    No length is computed twice, and each halving computes at most one for a v: their number is
    bounded by public values, however many numbers lie between two levels. Returned are that number,
    or first - 1, its length, and the length of the next one, where they are in [first, last].
    """
    at, after = np.full(len(wanted), first - 1), np.full(len(wanted), last + 1)
    below, above = np.zeros_like(wanted), np.zeros_like(wanted)
    while (left := np.flatnonzero(after - at > 1)).size:
        middles = (at[left] + after[left]) >> 1
        # They ascend: two levels have the same bracket, or one after the other.
        new = np.diff(middles, prepend=first - 1) > 0
        found = length(middles[new])[np.cumsum(new) - 1]
        up = found <= wanted[left]
        at[left[up]], below[left[up]] = middles[up], found[up]
        after[left[~up]], above[left[~up]] = middles[~up], found[~up]
    return at, below, above
