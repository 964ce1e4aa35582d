"""Bands around quantiles, from which the joint mechanism draws its proposals, [quantiles.7].

The points around each quantile are a band, cut into pieces of about one mass each. A proposal goes
through all bands; it has increasing points with given numbers of records between. Where bands are
cut is a matter of time alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms import grids, quantile_tree

_NEAR = 4.0  # units 1/rate of ranks around a quantile, where pieces are fine
_FINE = 8.0  # pieces of 1/8 of a unit there
_COARSE = 8  # and of 1/8 of the distance at most further out
_WIDE = 12.0  # units that a piece has at most
_LONG = 256  # a cell of more than 1/256 of the range is a separate piece
_SPLIT = 64  # at the second level: parts of equal length, of a cell as long as the range
_LIGHT = 4.0  # ties weigh so many nats less than a gap beside them, not to be cut

_CELL_BITS = 50  # of the integers that a proposal is drawn from
_LEAST = 1e-280  # of the largest weight of a row: smaller ones are raised to it
_REACH = 600.0  # most nats that are summed relative to one place
_CANCELLED = 1e-12  # of a sum that what is left after a subtraction may be wrong by

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Numbers = TypeVar("Numbers", Floats, Integers)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where pieces are cut: at fixed distances from the wanted rank, which grow.

    All m quantiles (``places``) may be off by d ranks together, at a loss of about d, but every
    piece has its own width: it is less than d / m. And it has few units, the inverse of the weight
    ``rate`` of a rank, so that far pieces are raised by little. Each higher level has pieces half
    as wide near the quantile, and a quarter as wide further out.
    """

    rate: float
    places: int
    level: int = 0

    @property
    def parts(self) -> int:
        """Parts of a cell as long as the range: one at the first level."""
        return _SPLIT << 2 * self.level - 2 if self.level else 1

    def distances(self, reach: float) -> Floats:
        fine, coarse = _FINE * 2.0**self.level, max(_COARSE, self.places) << 2 * self.level
        far = reach * self.rate
        near = np.arange(_NEAR * fine) / fine
        turn = max(_NEAR, min(far, _WIDE * coarse))
        grown = _NEAR * np.exp(np.arange(coarse * np.log(turn / _NEAR)) / coarse)
        found: Floats = np.concatenate([near, grown, np.arange(turn, far, _WIDE)]) / self.rate
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BandCells:
    """Points in a row: integers that have records, the gaps between them, or parts of these.

    A cell holds the points from (start << fine) + offset up to the start of the next one. A place
    has 2^fine points, and an integer has one place or more. Starts, offsets and masses have one
    entry more than there are cells.
    """

    starts: Integers  # in places
    offsets: Integers  # in points of one
    fine: int
    mass: Floats  # below these points
    source: Integers  # numbers of the cells that these are parts of
    sizes: Floats  # numbers of points, at least 1
    above: Floats  # mass below the last point of each cell, or a little more

    @classmethod
    def of(
        cls,
        records: quantile_tree.RankedRecords,
        ends: tuple[int, int],
        fine: int,
        ranks: tuple[int, int],
        warp: grids.RangeWarp = grids.EVEN,
    ) -> BandCells:
        """Take the points of a range whose rank is between two; all if there are few records."""
        n = records.count
        start, stop = max(0, min(ranks[0], n - 1)), min(n, max(ranks[1], 1))
        values, before, ties = records.between(start, stop)
        edges = warp.starts(np.stack([values, values + 1], axis=1).ravel())
        mass = np.stack([before, before + ties], axis=1).ravel()
        if not len(mass) or mass[0] == 0:
            edges, mass = np.append(warp.start(ends[0]), edges), np.append(0, mass)
        closed = bool(mass[-1] == n)
        if closed:
            edges, mass = np.append(edges, warp.start(ends[1] + 1)), np.append(mass, n)
        offsets = np.zeros(len(edges), dtype=np.int64)
        offsets[-1] = int(closed)  # the end of the range is a point too
        below = mass.astype(np.float64)
        cells, _ = cls._counted(edges, offsets, fine, below, np.arange(len(edges) - 1))
        return replace(cells, source=np.arange(len(cells.sizes)))

    @classmethod
    def _counted(
        cls, starts: Integers, offsets: Integers, fine: int, mass: Floats, source: Integers
    ) -> tuple[BandCells, Integers]:
        """Leave out cells without a point; return also which cell now begins where each began."""
        sizes = (starts[1:] - starts[:-1]) * 2.0**fine + (offsets[1:] - offsets[:-1])
        there = np.append(sizes > 0, True)
        if not there.all():
            starts, offsets, mass = starts[there], offsets[there], mass[there]
            source, sizes = source[there[:-1]], sizes[there[:-1]]
        above = np.where(sizes == 1, mass[:-1], mass[1:])  # one point has one mass
        cells = cls(starts, offsets, fine, mass, source, sizes, above)
        return cells, np.cumsum(there) - there

    def cut(self, keys: Floats) -> tuple[BandCells, Integers]:
        """Cut cells; return where in the result each key is.

        A key is a cell's number and the share of it that lies before: of its places, and of the
        points of the last of these.
        """
        cell = keys.astype(np.int64)
        within = keys - cell
        cuts = within > 0
        if not cuts.any():
            return self, cell
        own = cell[cuts]
        lengths = self.starts[own + 1] - self.starts[own]
        places = within[cuts] * lengths
        whole = np.floor(places)
        points = np.rint((places - whole) * 2.0**self.fine)
        shares = (whole + points * 2.0**-self.fine) / lengths
        cells, now = self._counted(
            np.insert(self.starts, own + 1, self.starts[own] + whole.astype(np.int64)),
            np.insert(self.offsets, own + 1, points.astype(np.int64)),
            self.fine,
            np.insert(
                self.mass, own + 1, self.mass[own] + (self.mass[own + 1] - self.mass[own]) * shares
            ),
            np.insert(self.source, own + 1, own),
        )
        return cells, _distinct(now[cell + np.cumsum(cuts)])

    def within(self, low: float, high: float, heads: Integers) -> tuple[BandCells, Integers]:
        """Leave out cells wholly below or above two masses, but one; some begin at the heads.

        What is drawn from beyond is never kept, so that mass may be taken for what is nearer.
        """
        if low <= self.mass[0] and self.mass[-1] <= high:
            return self, heads
        first = int(self.above[:-1].searchsorted(low, side="right"))
        last = max(first + 1, int(self.mass[:-1].searchsorted(high)))
        every, own = slice(first, last + 1), slice(first, last)
        cells = BandCells(
            self.starts[every],
            self.offsets[every],
            self.fine,
            np.clip(self.mass[every], low, high),
            self.source[own],
            self.sizes[own],
            np.clip(self.above[own], low, high),
        )
        return cells, _distinct(np.clip(heads, first, last)) - first

    def draw(self, cell: int, entropy: Entropy) -> tuple[int, int]:
        """Return a point of a cell, and how many it has."""
        low = (int(self.starts[cell]) << self.fine) + int(self.offsets[cell])
        high = (int(self.starts[cell + 1]) << self.fine) + int(self.offsets[cell + 1])
        return low + entropy.below(high - low), high - low


def _distinct(ordered: Numbers) -> Numbers:
    found: Numbers = ordered[np.append(True, ordered[1:] > ordered[:-1])]
    return found


def _light(lengths: Floats, nats: Floats) -> Truths:
    """Find cells that weigh little beside a neighbour, even where their own ranks are best.

    A neighbour misses these by the cell's mass at most, in two terms of the loss, and the cell
    counts as nearer than it is by as much again: three times its mass, which is ``nats``.
    """
    logs = np.log(np.maximum(lengths, 1.0))
    beside = np.zeros(len(logs))
    beside[1:] = logs[:-1]
    np.maximum(beside[:-1], logs[1:], out=beside[:-1])
    found: Truths = logs + 3 * nats + _LIGHT < beside
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Band:
    """The points around one quantile in pieces, each of one cell or several."""

    cells: BandCells
    halves: Floats  # bounds how far the mass of a cell's points is from the middle of its piece
    heads: Integers  # the first cell of each piece, and the number of cells
    middles: Floats  # one a piece; increasing
    stretches: tuple[int, ...]  # ends of the runs of parts of long cells, and of those between


def bands_of(
    cells: BandCells,
    ranks: tuple[int, int],
    scale: Scale,
    centres: Sequence[float],
    distances: Floats,
) -> list[Band]:
    """Cut cells at distances from each of some wanted ranks; light cells stay whole.

    What is drawn from beyond ``ranks`` is never kept.
    """
    lengths = (cells.starts[1:] - cells.starts[:-1]).astype(np.float64)
    mass, (low, high) = cells.mass, ranks
    growth = np.diff(mass)
    growth[_light(lengths, growth * scale.rate)] = 0.0
    fixed, parts = _fixed_cuts(cells, lengths, scale.parts)
    bands = []
    for centre in centres:
        wanted = np.concatenate([[low], centre - distances[:0:-1], centre + distances, [high]])
        np.minimum(np.maximum(wanted, low, out=wanted), high, out=wanted)
        wanted = wanted[(wanted > mass[0]) & (wanted < mass[-1])]
        at = mass.searchsorted(wanted, side="right") - 1
        grown = growth[at]
        shares = np.divide(wanted - mass[at], grown, out=np.zeros(len(at)), where=grown > 0)
        keys = np.concatenate([at + shares, fixed])
        keys.sort()
        own, heads = cells.cut(_distinct(keys))
        own, heads = own.within(low, high, heads)
        first = heads[:-1]
        below, above = own.mass[:-1], own.above
        # A piece's mean, so that what most of it weighs is hardly raised.
        means = np.add.reduceat(own.sizes * (below + above), first)
        middles = means / (2 * np.add.reduceat(own.sizes, first))
        np.maximum.accumulate(middles, out=middles)
        middle = np.repeat(middles, heads[1:] - first)
        halves = np.maximum(above - middle, middle - below)
        long = parts[own.source[first]] > 1
        changes = np.flatnonzero(long[1:] != long[:-1]) + 1
        stretches = (*changes.tolist(), len(middles))
        bands.append(Band(own, halves, heads, middles, stretches))
    return bands


def _fixed_cuts(cells: BandCells, lengths: Floats, most: int) -> tuple[Floats, Integers]:
    """Return keys at which a piece ends, wherever the quantile is, and the parts of each cell."""
    whole = float(cells.starts[-1] - cells.starts[0])
    long = np.flatnonzero(lengths * _LONG > whole)
    # Several points that are drawn from one gap are rarely in one part of it. Every part of
    # several has a place at least.
    parts = np.maximum(np.floor(lengths / max(whole, most) * most).astype(np.int64), 1)
    keys = [np.array([0.0, len(lengths)]), long, long + 1]
    if most > 1:  # nor are short cells put together to what is as long as a part
        grid = cells.starts[0] + np.arange(1, most) * (whole / most)
        several = np.repeat(np.arange(len(parts)), parts)
        part = np.arange(len(several)) - np.repeat(np.cumsum(parts) - parts, parts)
        keys += [
            np.searchsorted(cells.starts[:-1], grid, side="right") - 1,
            (several + part / parts[several])[part > 0],
        ]
    return np.concatenate(keys), parts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QuantileProposal:
    """Weights of all ways through the bands, for every candidate of the number of records.

    The weight of a way is the product of its pieces' weights and exp(-rate s): s is the sum of the
    losses between its pieces' middles. A piece weighs as much as its points, each raised by the
    distance by which it may be nearer (``upper``). A piece that begins after the end of the next
    one is on no way.

    The ``sums``, of shape (totals, pieces), are the weights of all ways up to a piece, in units of
    the largest of the row; too large rather than too small. Those of the last band include the end,
    and have one unit.
    """

    bands: Sequence[Band]
    totals: range
    shares: tuple[float, ...]
    rate: float
    cells: Sequence[Floats]  # weights of each band's cells
    before: Sequence[Integers]  # of pieces, what _before returns; empty for the first band
    sums: Sequence[Floats]
    log_total: float  # of all ways

    @classmethod
    def of(
        cls,
        bands: Sequence[Band],
        count: int,
        totals: range,
        shares: tuple[float, ...],
        rate: float,
        *,
        upper: bool,
    ) -> QuantileProposal:
        """Add the weights up, from the lowest band to the highest."""
        c = np.array(totals, dtype=np.float64)[:, None]
        cells: list[Floats] = []
        before: list[Integers] = [np.empty(0, dtype=np.int64)]
        sums: list[Floats] = []
        at = [rate * band.middles for band in bands]
        logs = np.zeros((len(c), 1))
        for j, band in enumerate(bands):
            wanted = rate * shares[j] * c
            if j == 0:
                ways = np.exp(-np.abs(at[0] - wanted))
            else:
                before.append(_before(bands[j - 1], band))
                stretches = bands[j - 1].stretches
                ways = _stepped(sums[-1], at[j - 1], stretches, before[j], at[j], wanted)
            sizes = band.cells.sizes
            cells.append(sizes * np.exp(2 * rate * band.halves) if upper else sizes)
            ways *= np.add.reduceat(cells[j], band.heads[:-1])
            logs += np.log(_scale(ways, axis=1))
            sums.append(ways)
        logs = logs - np.abs(rate * count - at[-1] - rate * shares[-1] * c)
        shift = float(logs.max())
        sums[-1] = sums[-1] * np.exp(logs - shift)
        total = float(np.log(_scale(sums[-1], axis=None).item()) + shift)
        total += float(np.log(sums[-1].sum()))
        return cls(bands, totals, shares, rate, cells, before, sums, total)

    def draw(self, entropy: Entropy) -> tuple[int, list[int], int, int]:
        """Return a total, points, and the exact chance of proposing just these, as a ratio."""
        place, chance, among = _choose(self.sums[-1].ravel(), entropy)
        row, i = divmod(place, self.sums[-1].shape[1])
        total, points = self.totals[row], []
        for j in range(len(self.bands) - 1, -1, -1):
            band = self.bands[j]
            if j < len(self.bands) - 1:
                later = self.bands[j + 1]
                until = int(self.before[j + 1][i])
                wanted = later.middles[i] - total * self.shares[j + 1]
                far = np.abs(band.middles[:until] - wanted)
                # The nearest has the weight 1, so that no sum vanishes.
                far -= far.min()
                far *= -self.rate
                weights = np.exp(far, out=far)
                weights *= self.sums[j][row, :until]
                i, share, every = _choose(weights, entropy)
                chance, among = chance * share, among * every
            cell, stop = int(band.heads[i]), int(band.heads[i + 1])
            if stop - cell > 1:
                own, share, every = _choose(self.cells[j][cell:stop], entropy)
                cell, chance, among = cell + own, chance * share, among * every
            z, size = band.cells.draw(cell, entropy)
            points.append(z)
            among *= size
        return total, points[::-1], chance, among


def _before(lower: Band, band: Band) -> Integers:
    """Return the number of pieces of the band before that begin before the end of each piece.

    Ends are rounded up to a place, so there may be too many; there is one at least, since all
    bands begin alike.
    """
    ends, heads = band.heads[1:], lower.heads[:-1]
    limits = band.cells.starts[ends] + (band.cells.offsets[ends] > 0)
    found: Integers = lower.cells.starts[heads].searchsorted(limits)
    return np.maximum(found, 1, out=found)


def _scale(weights: Floats, axis: int | None) -> Floats:
    """Divide weights by their largest, raise very small ones, and return the largest."""
    top: Floats = weights.max(axis=axis, keepdims=True)
    np.maximum(top, np.finfo(np.float64).tiny, out=top)
    weights /= top
    np.maximum(weights, _LEAST, out=weights)
    return top


def _stepped(
    sums: Floats,
    own: Floats,
    stretches: tuple[int, ...],
    before: Integers,
    at: Floats,
    wanted: Floats,
) -> Floats:
    """Return Σ_(i < before[k]) sums[c, i] exp(-|at[k] - wanted[c] - own[i]|) for all c, k.

    The middles of the two bands, ``own`` and ``at``, are in nats.
    """
    y = at - wanted
    place = own.searchsorted(y)
    np.minimum(place, before, out=place)
    found = _taken(_decayed(sums, own), place)
    found *= _faded(np.concatenate([own[:1], own])[place] - y)
    # Sums of what is at least wanted, stretch by stretch: from its first one that is, less those
    # from ``before`` on. Weights of one stretch are alike, so the difference is exact enough.
    for start, stop in pairwise([0, *stretches]):
        # From the k whose end is beyond the stretch's beginning, to the last k of which a row
        # wants something below its end: both increase with k, and the last row wants the least.
        first = int(before.searchsorted(start, side="right"))
        k = slice(first, max(first, int(place[-1].searchsorted(stop))))
        if k.start == k.stop:
            continue
        # From the end backwards: those from i on are the last ``stop - i``.
        last = own[start:stop][::-1]
        above = _decayed(sums[:, start:stop][:, ::-1], -last)
        ends = np.concatenate([last[:1], last])
        high = np.minimum(np.maximum(stop - place[:, k], 0), stop - start)
        reach = _taken(above, high)
        reach *= _faded(y[:, k] - ends[high])
        end = np.maximum(stop - before[k], 0)
        beyond = above.take(end, axis=1)
        beyond *= _faded(at[k] - ends[end])
        beyond *= np.exp(-wanted)
        found[:, k] += _CANCELLED * reach
        reach -= beyond
        found[:, k] += np.maximum(reach, 0.0, out=reach)
    return found


def _faded(nats: Floats) -> Floats:
    """Return exp(nats), 1 at most; rounding may put nats above 0. ``nats`` is overwritten."""
    np.minimum(nats, 0.0, out=nats)
    return np.exp(nats, out=nats)


def _taken(table: Floats, places: Integers) -> Floats:
    rows, columns = table.shape
    found: Floats = table.take(places + np.arange(0, rows * columns, columns)[:, None])
    return found


def _decayed(sums: Floats, at: Floats) -> Floats:
    """Return Σ_(i < k) sums[c, i] exp(at[i] - at[k - 1]) for k up to all, where ``at`` increases.

    In stretches of :data:`_REACH` nats: within one, weights are added relative to its beginning.
    """
    found = np.zeros((len(sums), len(at) + 1))
    start = 0
    while start < len(at):
        stop = int(at.searchsorted(at[start] + _REACH, side="right"))
        grown = np.exp(at[start:stop] - at[start])
        part = found[:, start + 1 : stop + 1]
        np.add.accumulate(sums[:, start:stop] * grown, axis=1, out=part)
        if start:
            part += found[:, start : start + 1] * np.exp(at[start - 1] - at[start])
        part /= grown
        start = stop
    return found


def _choose(weights: Floats, entropy: Entropy) -> tuple[int, int, int]:
    """Draw a place by its weight, to about 2^-40; return also its exact chance as a ratio."""
    cells = (weights * (2.0**_CELL_BITS / weights.sum())).astype(np.int64)
    cells += 1
    ends = cells.cumsum()
    among = int(ends[-1])
    place = int(ends.searchsorted(entropy.below(among), side="right"))
    return place, int(cells[place]), among
