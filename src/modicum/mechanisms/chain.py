"""A chain of pieces that proposes increasing points with given numbers of records between."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms.nested import RankedRecords
from modicum.mechanisms.stretch import EVEN, Stretch

__all__ = ["Chain", "Scale", "Strip"]

_NEAR = 4.0  # units 1/rate of ranks around a quantile, where pieces are fine
_FINE = 8.0  # pieces of 1/8 of a unit there
_COARSE = 16  # and of 1/16 of the distance at most further out
_LONG = 256  # a gap of more than 1/256 of the range is a piece of its own
_SPLIT = 64  # at the second level: parts of equal length, of a piece as long as the range
_LIGHT = 5.0  # nats by which ties weigh less than a gap beside them, to be one piece
_CELL_BITS = 50
_LEAST = 1e-280  # of the largest weight of a row: smaller ones are raised to it
_REACH = 600.0  # most nats that are summed relative to one place
_CANCELLED = 1e-12  # of a sum that what is left after a subtraction may be wrong by

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Strip:
    """Points around one quantile, cut into pieces in which the mass hardly changes.

    A piece holds the points from (start << fine) + offset up to the start of the next piece. A
    place has 2^fine points, and an integer has one place or more.

    Attributes
    ----------
    starts, offsets : (k + 1,) int64 arrays
        In places, and in points of one; increasing.
    sizes : (k,) float64 array
        Numbers of points.
    middles, halves : (k,) float64 arrays
        The mass below a point of the piece lies within ``halves`` of ``middles``.
    fine : int
    stretches : tuple of int
        Ends of the runs of long pieces, and of those between them.
    """

    starts: Integers
    offsets: Integers
    sizes: Floats
    middles: Floats
    halves: Floats
    fine: int
    stretches: tuple[int, ...]

    @classmethod
    def of(
        cls,
        records: RankedRecords,
        ends: tuple[int, int],
        fine: int,
        ranks: tuple[int, int],
        scale: Scale,
        stretch: Stretch = EVEN,
    ) -> Strip:
        """Cut the points whose rank is between two; those of all if there are few records."""
        n = records.count
        start, stop = max(0, min(ranks[0], n - 1)), min(n, max(ranks[1], 1))
        values, before, ties = records.between(start, stop)
        edges = stretch.starts(np.stack([values, values + 1], axis=1).ravel())
        mass = np.stack([before, before + ties], axis=1).ravel()
        if not len(mass) or mass[0] == 0:
            edges, mass = np.append(stretch.start(ends[0]), edges), np.append(0, mass)
        if mass[-1] == n:
            edges, mass = np.append(edges, stretch.start(ends[1] + 1)), np.append(mass, n)
        return cls._cut(edges, mass.astype(np.float64), fine, scale, closed=bool(mass[-1] == n))

    @classmethod
    def _cut(cls, edges: Integers, mass: Floats, fine: int, scale: Scale, *, closed: bool) -> Strip:
        y = scale.of(mass)
        whole = np.floor(y)
        changes = whole[1:] != whole[:-1]
        # A long gap is a piece of its own: several points may be drawn from it.
        changes |= (edges[1:] - edges[:-1]) * float(_LONG) > float(edges[-1] - edges[0])
        kept = np.ones(len(edges), dtype=np.bool_)
        kept[1:-1] = changes[1:] | changes[:-1]
        edges, mass, y = edges[kept], mass[kept], y[kept]
        # What is left between two edges has less than one part, or is one integer with ties.
        parts = np.maximum(1, np.ceil(y[1:] - y[:-1])).astype(np.int64)
        parts[_light(edges[1:] - edges[:-1], (mass[1:] - mass[:-1]) * scale.rate)] = 1
        starts, offsets, below = edges, np.zeros(len(edges), dtype=np.int64), mass
        if int(parts.max()) > 1:
            piece = np.repeat(np.arange(len(parts)), parts)
            part = np.arange(len(piece)) - np.repeat(np.cumsum(parts) - parts, parts)
            wanted = scale.back(y[piece] + (y[piece + 1] - y[piece]) * part / parts[piece])
            grown = np.where(part > 0, mass[piece + 1] - mass[piece], 1.0)
            places = np.clip((wanted - mass[piece]) / grown, 0.0, 1.0) * (part > 0)
            widths = np.maximum(edges[piece + 1] - edges[piece], 1).astype(np.float64)
            whole = np.floor(places * widths)
            cuts = np.rint((places * widths - whole) * 2.0**fine)
            starts = np.append(edges[piece] + whole.astype(np.int64), edges[-1])
            offsets = np.append(cuts.astype(np.int64), 0)
            places = (whole + cuts * 2.0**-fine) / widths
            below = np.append(mass[piece] + grown * places, mass[-1])
        offsets[-1] = int(closed)  # the end of the range is a point too
        sizes = (starts[1:] - starts[:-1]) * 2.0**fine + (offsets[1:] - offsets[:-1])
        there = np.append(sizes > 0, True)
        starts, offsets, below = starts[there], offsets[there], below[there]
        sizes = sizes[there[:-1]]
        highest = np.where(sizes == 1, below[:-1], below[1:])  # one point has one mass
        middles, halves = (highest + below[:-1]) / 2, (highest - below[:-1]) / 2
        ends = (len(sizes),)
        return cls(starts, offsets, sizes, middles, halves, fine, ends).split(scale.split)

    def split(self, most: int) -> Strip:
        """Cut long pieces, so that several points that are drawn from one gap are seldom in one."""
        lengths = np.diff(self.starts)
        whole = np.float64(max(int(self.starts[-1] - self.starts[0]), most))
        parts = np.maximum(np.floor(lengths / whole * most), 1).astype(np.int64)
        if int(parts.max()) == 1:
            return self
        piece = np.repeat(np.arange(len(parts)), parts)
        part = np.arange(len(piece)) - np.repeat(np.cumsum(parts) - parts, parts)
        # Every part of several has an integer at least; rounded quotients are no problem.
        starts = self.starts[piece] + lengths[piece] // parts[piece] * part
        starts = np.append(starts, self.starts[-1])
        offsets = np.append(np.where(part > 0, 0, self.offsets[piece]), self.offsets[-1])
        sizes = np.diff(starts) * 2.0**self.fine + np.diff(offsets)
        changes = np.flatnonzero(np.diff(parts[piece] > 1)) + 1
        ends = (*changes.tolist(), len(piece))
        middles, halves = self.middles[piece], self.halves[piece]
        return Strip(starts, offsets, sizes, middles, halves, self.fine, ends)

    def draw(self, i: int, entropy: Entropy) -> tuple[int, int]:
        """Return a point of a piece, and how many it has."""
        low, high = ((int(self.starts[k]) << self.fine) + int(self.offsets[k]) for k in (i, i + 1))
        return low + entropy.below(high - low), high - low


@dataclass(frozen=True, slots=True)
class Scale:
    """Where pieces are cut: at every integer of y, a monotone function of the rank.

    All quantiles may be off by d ranks together, at a loss of d or so, but every piece has its
    own width: it is less than d / (2 m), where they are m.

    Attributes
    ----------
    centre, rate : float
        Wanted rank, and the weight of one.
    places : int
        Number m of quantiles.
    level : int
        Pieces are finer at a higher one: half as wide near the quantile, a quarter further out.
    """

    centre: float
    rate: float
    places: int
    level: int = 0

    @property
    def split(self) -> int:
        """Parts of a piece as long as the range: one at the first level."""
        return _SPLIT << 2 * self.level - 2 if self.level else 1

    @property
    def _fine(self) -> float:
        return _FINE * 2.0**self.level

    @property
    def _coarse(self) -> int:
        return max(_COARSE, 2 * self.places) << 2 * self.level

    def of(self, mass: Floats) -> Floats:
        """Return y of ranks."""
        far = (mass - self.centre) * self.rate
        size = np.abs(far)
        y: Floats = self._fine * np.minimum(size, _NEAR)
        y += self._coarse * np.log(np.maximum(size / _NEAR, 1.0))
        return y * np.sign(far)

    def back(self, y: Floats) -> Floats:
        """Return the ranks of y."""
        size = np.abs(y)
        beyond = np.maximum(size - self._fine * _NEAR, 0.0) / self._coarse
        far = np.minimum(size / self._fine, _NEAR) * np.exp(beyond)
        return self.centre + far * np.sign(y) / self.rate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """Weights of all ways through the strips, for every candidate of the number of records.

    The weight of a way is the product of its pieces' sizes and exp(-rate s): s is the sum of the
    losses between its pieces' middles, less what the points of a piece may be nearer (``upper``).
    A piece that begins after the end of the next one is on no way.

    Attributes
    ----------
    strips : tuple of Strip
    totals : range
    shares : tuple of float
    rate : float
    sums : tuple of (totals, pieces) arrays
        Weight of all ways up to a piece, in units of the largest of the row; too large rather than
        too small. Those of the last strip include the end, and have one unit.
    log_total : float
        Of all ways.
    """

    strips: tuple[Strip, ...]
    totals: range
    shares: tuple[float, ...]
    rate: float
    sums: tuple[Floats, ...]
    log_total: float

    @classmethod
    def of(
        cls,
        strips: tuple[Strip, ...],
        count: int,
        totals: range,
        shares: tuple[float, ...],
        rate: float,
        *,
        upper: bool,
    ) -> Chain:
        """Add the weights up, from the lowest strip to the highest."""
        c = np.array(totals, dtype=np.float64)[:, None]
        sums: list[Floats] = []
        logs = np.zeros((len(c), 1))
        for j, strip in enumerate(strips):
            wanted = strip.middles - c * shares[j]
            if j == 0:
                ways = np.exp(-rate * np.abs(wanted))
            else:
                ways = _stepped(sums[-1], strips[j - 1], _before(strips, j), wanted, rate)
            ways *= strip.sizes * np.exp(2 * rate * strip.halves) if upper else strip.sizes
            found, top = _relative(ways, axis=1)
            sums.append(found)
            logs = logs + np.log(top)
        last = rate * np.abs(count - strips[-1].middles - c * shares[-1])
        shift = float(logs.max())
        found, top = _relative(sums[-1] * np.exp(logs - shift - last), axis=None)
        sums[-1] = found
        total = float(np.log(found.sum()) + np.log(top.item()) + shift)
        return cls(strips, totals, shares, rate, tuple(sums), total)

    def propose(self, entropy: Entropy) -> tuple[int, list[int], Fraction]:
        """Return a total, points, and the exact chance of proposing just these."""
        place, chance, among = _choose(self.sums[-1].ravel(), entropy)
        row, i = divmod(place, self.sums[-1].shape[1])
        total = self.totals[row]
        z, size = self.strips[-1].draw(i, entropy)
        points, among = [z], among * size
        for j in range(len(self.strips) - 2, -1, -1):
            until = int(_before(self.strips, j + 1)[i])
            wanted = self.strips[j + 1].middles[i] - total * self.shares[j + 1]
            far = np.abs(self.strips[j].middles[:until] - wanted)
            # The nearest has the weight 1, so that no sum vanishes.
            weights = self.sums[j][row][:until] * np.exp(-self.rate * (far - far.min()))
            i, cell, cells = _choose(weights, entropy)
            z, size = self.strips[j].draw(i, entropy)
            points.append(z)
            chance, among = chance * cell, among * cells * size
        return total, points[::-1], Fraction(chance, among)


def _before(strips: tuple[Strip, ...], j: int) -> Integers:
    """Return how many pieces of strip j - 1 begin before the end of each piece of strip j.

    To an integer, so rather too many; there is one at least, since all strips begin alike.
    """
    found: Integers = np.searchsorted(strips[j - 1].starts[:-1], strips[j].starts[1:], side="right")
    return np.maximum(found, 1)


def _relative(weights: Floats, axis: int | None) -> tuple[Floats, Floats]:
    """Return the weights in units of their largest, raised where they are very small; and it."""
    top = np.maximum(weights.max(axis=axis, keepdims=True), np.finfo(np.float64).tiny)
    return np.maximum(weights / top, _LEAST), top


def _light(lengths: Integers, nats: Floats) -> NDArray[np.bool_]:
    """Tell which pieces weigh little beside a neighbour, even where their own ranks are best.

    A neighbour misses these by the piece's mass at most, in two terms of the loss, and the piece
    counts as nearer than it is by as much again: three times its mass, which is ``nats``.
    """
    logs = np.log(np.maximum(lengths, 1.0))
    beside = np.zeros(len(logs))
    beside[1:] = logs[:-1]
    beside[:-1] = np.maximum(beside[:-1], logs[1:])
    found: NDArray[np.bool_] = logs + 3 * nats + _LIGHT < beside
    return found


def _stepped(sums: Floats, strip: Strip, before: Integers, wanted: Floats, rate: float) -> Floats:
    """Return Σ_(i < before[k]) sums[c, i] exp(-rate |wanted[c, k] - middles[i]|) for all c, k."""
    at, y = rate * strip.middles, rate * wanted
    place = np.minimum(np.searchsorted(at, y), before)
    rows = np.arange(len(sums))[:, None] * len(at)
    low = np.maximum(place - 1, 0)
    found: Floats = np.take(_decayed(sums, at), rows + low)
    found *= np.exp(np.minimum(at[low] - y, 0.0)) * (place > 0)
    # Sums of what is at least wanted, stretch by stretch: from its first one that is, less those
    # from ``before`` on. Weights of one stretch are alike, so the difference is exact enough.
    for start, stop in pairwise([0, *strip.stretches]):
        # From the k whose end is beyond the stretch's beginning, to the last k of which a row
        # wants something below its end: both increase with k, and the last row wants the least.
        first = int(np.searchsorted(before, start, side="right"))
        k = slice(first, max(first, int(np.searchsorted(place[-1], stop))))
        if k.start == k.stop:
            continue
        own, at_own = slice(start, stop), at[start:stop]
        above = _decayed(sums[:, own][:, ::-1], -at_own[::-1])[:, ::-1]
        from_here, until = place[:, k] - start, before[k] - start
        high = np.clip(from_here, 0, stop - start - 1)
        reach = np.take_along_axis(above, high, axis=1)
        reach *= np.exp(np.minimum(y[:, k] - at_own[high], 0.0))
        reach *= from_here < np.minimum(until, stop - start)
        if int(until[0]) < stop - start:
            end = np.minimum(until, stop - start - 1)
            beyond = above[:, end] * np.exp(np.minimum(y[:, k] - at_own[end], 0.0))
            beyond *= until < stop - start
            found[:, k] += np.maximum(reach - beyond, 0.0) + _CANCELLED * reach
        else:
            found[:, k] += reach
    return found


def _decayed(sums: Floats, at: Floats) -> Floats:
    """Return Σ_(i <= k) sums[c, i] exp(at[i] - at[k]), where ``at`` increases.

    In stretches of :data:`_REACH` nats: within one, weights are added relative to its beginning.
    """
    found = np.empty_like(sums)
    start, carried = 0, np.zeros((len(sums), 1))
    while start < len(at):
        stop = int(np.searchsorted(at, at[start] + _REACH, side="right"))
        grown = np.exp(at[start:stop] - at[start])
        if start:
            carried = found[:, start - 1 : start] * np.exp(at[start - 1] - at[start])
        found[:, start:stop] = (np.cumsum(sums[:, start:stop] * grown, axis=1) + carried) / grown
        start = stop
    return found


def _choose(weights: Floats, entropy: Entropy) -> tuple[int, int, int]:
    """Draw a place by its weight, to about 2^-40; return its exact chance as a ratio too."""
    cells = (weights * (2.0**_CELL_BITS / weights.sum())).astype(np.int64) + 1
    ends = np.cumsum(cells)
    among = int(ends[-1])
    place = int(np.searchsorted(ends, entropy.below(among), side="right"))
    return place, int(cells[place]), among
