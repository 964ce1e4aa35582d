"""A chain of pieces that proposes increasing points with given numbers of records between."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms.nested import RankedRecords

__all__ = ["Chain", "Scale", "Strip"]

_NEAR = 20.0  # units 1/rate of ranks around a quantile, where pieces are fine
_FINE = 8.0  # pieces of 1/8 of a unit there
_COARSE = 16  # and of 1/16 of the distance at most further out
_CELL_BITS = 50
_LEVEL = 500.0

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Strip:
    """Points around one quantile, cut into pieces in which the mass hardly changes.

    A piece holds the points from (start << fine) + offset up to the start of the next piece.

    Attributes
    ----------
    starts, offsets : (k + 1,) int64 arrays
        In lattice integers, and in points of one; increasing.
    sizes : (k,) float64 array
        Numbers of points.
    middles, halves : (k,) float64 arrays
        The mass below a point of the piece lies within ``halves`` of ``middles``.
    fine : int
    """

    starts: Integers
    offsets: Integers
    sizes: Floats
    middles: Floats
    halves: Floats
    fine: int

    @classmethod
    def of(
        cls,
        records: RankedRecords,
        ends: tuple[int, int],
        fine: int,
        ranks: tuple[int, int],
        scale: Scale,
    ) -> Strip:
        """Cut the points whose rank is between two; those of all if there are few records."""
        n = records.count
        start, stop = max(0, min(ranks[0], n - 1)), min(n, max(ranks[1], 1))
        values, before, ties = records.between(start, stop)
        edges = np.stack([values, values + 1], axis=1).ravel()
        mass = np.stack([before, before + ties], axis=1).ravel()
        if not len(mass) or mass[0] == 0:
            edges, mass = np.append(ends[0], edges), np.append(0, mass)
        if mass[-1] == n:
            edges, mass = np.append(edges, ends[1] + 1), np.append(mass, n)
        return cls._cut(edges, mass.astype(np.float64), fine, scale, closed=bool(mass[-1] == n))

    @classmethod
    def _cut(cls, edges: Integers, mass: Floats, fine: int, scale: Scale, *, closed: bool) -> Strip:
        y = scale.of(mass)
        changes = np.diff(np.floor(y)) != 0
        kept = np.append(True, changes) | np.append(changes, True)
        edges, mass, y = edges[kept], mass[kept], y[kept]
        # What is left between two edges has less than one part, or is one integer with ties.
        parts = np.maximum(1, np.ceil(np.diff(y))).astype(np.int64)
        piece = np.repeat(np.arange(len(parts)), parts)
        part = np.arange(len(piece)) - np.repeat(np.cumsum(parts) - parts, parts)
        wanted = scale.back(y[piece] + (y[piece + 1] - y[piece]) * part / parts[piece])
        grown = np.where(part > 0, mass[piece + 1] - mass[piece], 1.0)
        places = np.clip((wanted - mass[piece]) / grown, 0.0, 1.0) * (part > 0)
        offsets = np.rint(places * 2.0**fine).astype(np.int64)
        starts = np.append(edges[piece], edges[-1])
        below = np.append(mass[piece] + grown * (offsets * 2.0**-fine), mass[-1])
        offsets = np.append(offsets, int(closed))  # the end of the range is a point too
        sizes = np.diff(starts) * 2.0**fine + np.diff(offsets)
        there = np.append(sizes > 0, True)
        starts, offsets, below = starts[there], offsets[there], below[there]
        sizes = sizes[there[:-1]]
        highest = np.where(sizes == 1, below[:-1], below[1:])  # one point has one mass
        middles, halves = (highest + below[:-1]) / 2, (highest - below[:-1]) / 2
        return cls(starts, offsets, sizes, middles, halves, fine)

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
    """

    centre: float
    rate: float
    places: int

    @property
    def _coarse(self) -> int:
        return max(_COARSE, 2 * self.places)

    def of(self, mass: Floats) -> Floats:
        """Return y of ranks."""
        far = (mass - self.centre) * self.rate
        size = np.abs(far)
        y: Floats = _FINE * np.minimum(size, _NEAR)
        y += self._coarse * np.log(np.maximum(size / _NEAR, 1.0))
        return y * np.sign(far)

    def back(self, y: Floats) -> Floats:
        """Return the ranks of y."""
        size = np.abs(y)
        beyond = np.maximum(size - _FINE * _NEAR, 0.0) / self._coarse
        far = np.minimum(size / _FINE, _NEAR) * np.exp(beyond)
        return self.centre + far * np.sign(y) / self.rate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """Weights of all ways through the strips, for every candidate of the number of records.

    The weight of a way is the product of its pieces' sizes and exp(-rate s): s is the sum of the
    losses between its pieces' middles, less what the points of a piece may be nearer (``upper``).

    Attributes
    ----------
    strips : tuple of Strip
    totals : range
    shares : tuple of float
    rate : float
    sums : tuple of (totals, pieces) arrays
        Logarithm of the weight of all ways up to a piece; the last one includes the end.
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
        for strip, share in zip(strips, shares[:-1], strict=True):
            m = strip.middles
            own = np.log(strip.sizes) + (2 * rate * strip.halves if upper else 0.0)
            if not sums:
                ways = -rate * np.abs(m - c * share)
            else:
                ways = _stepped(sums[-1], strips[len(sums) - 1].middles, m - c * share, rate)
            sums.append(own + ways)
        sums[-1] = sums[-1] - rate * np.abs(count - strips[-1].middles - c * shares[-1])
        top = float(sums[-1].max())
        total = top + float(np.log(np.exp(sums[-1] - top).sum()))
        return cls(strips, totals, shares, rate, tuple(sums), total)

    def propose(self, entropy: Entropy) -> tuple[int, list[int], Fraction]:
        """Return a total, points, and the exact chance of proposing just these."""
        place, chance, among = _choose(self.sums[-1].ravel(), entropy)
        row, i = divmod(place, self.sums[-1].shape[1])
        total = self.totals[row]
        z, size = self.strips[-1].draw(i, entropy)
        points, among = [z], among * size
        for j in range(len(self.strips) - 2, -1, -1):
            wanted = self.strips[j + 1].middles[i] - total * self.shares[j + 1]
            logs = self.sums[j][row] - self.rate * np.abs(self.strips[j].middles - wanted)
            i, cell, cells = _choose(logs, entropy)
            z, size = self.strips[j].draw(i, entropy)
            points.append(z)
            chance, among = chance * cell, among * cells * size
        return total, points[::-1], Fraction(chance, among)


def _stepped(sums: Floats, middles: Floats, wanted: Floats, rate: float) -> Floats:
    """Return log Σ_i exp(sums[c, i] - rate |wanted[c, k] - middles[i]|) for all c, k."""
    rows = np.arange(len(sums))[:, None]
    edge = np.full((len(sums), 1), -np.inf)
    below = _summed(sums + rate * middles)
    above = _summed((sums - rate * middles)[:, ::-1])[:, ::-1]
    places = np.searchsorted(middles, wanted)
    return _added(
        np.concatenate([edge, below], axis=1)[rows, places] - rate * wanted,
        np.concatenate([above, edge], axis=1)[rows, places] + rate * wanted,
    )


def _summed(logs: Floats) -> Floats:
    """Return the logarithms of the sums of exp(logs) from the left, by rows.

    Sums are taken relative to the largest logarithm of a row; those below e^-500 of it once more,
    relative to e^-500 of it, and so on. Exponentials are cut at e^-600: smaller ones hardly count.
    """
    highest = np.maximum.accumulate(logs, axis=1)
    base = highest[:, -1:].copy()
    found = np.empty_like(logs)
    depth = float((base - highest).max())
    for _ in range(1 + int(depth // _LEVEL)):
        part = np.exp(np.clip(logs - base, -_LEVEL - 100, 0.0))
        part = np.log(np.cumsum(part, axis=1)) + base
        np.copyto(found, part, where=highest <= base)
        base -= _LEVEL
    return found


def _added(a: Floats, b: Floats) -> Floats:
    """Return log(exp(a) + exp(b)); faster than np.logaddexp."""
    top: Floats = np.maximum(a, b)
    top += np.log(1 + np.exp(np.maximum(-np.abs(a - b), -50.0)))
    return top


def _choose(logs: Floats, entropy: Entropy) -> tuple[int, int, int]:
    """Draw a place by its weight, to about 2^-40; return its exact chance as a ratio too."""
    cells = (np.exp(logs - logs.max()) * 2.0**_CELL_BITS).astype(np.int64) + 1
    ends = np.cumsum(cells)
    among = int(ends[-1])
    place = int(np.searchsorted(ends, entropy.below(among), side="right"))
    return place, int(cells[place]), among
