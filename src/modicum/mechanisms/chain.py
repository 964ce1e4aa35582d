"""A chain of pieces that proposes increasing points with given numbers of records between."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms.strip import Strip

__all__ = ["Chain"]

_CELL_BITS = 50
_LEAST = 1e-280  # of the largest weight of a row: smaller ones are raised to it
_REACH = 600.0  # most nats that are summed relative to one place
_CANCELLED = 1e-12  # of a sum that what is left after a subtraction may be wrong by

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """Weights of all ways through the strips, for every candidate of the number of records.

    The weight of a way is the product of its pieces' weights and exp(-rate s): s is the sum of the
    losses between its pieces' middles. A piece weighs as much as its points, each raised by what it
    may be nearer (``upper``). A piece that begins after the end of the next one is on no way.

    Attributes
    ----------
    strips : tuple of Strip
    totals : range
    shares : tuple of float
    rate : float
    cells : tuple of (cells,) arrays
        Weights of each strip's cells.
    before : tuple of (pieces,) arrays
        How many pieces of the strip before begin before the end of each; none for the first.
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
    cells: tuple[Floats, ...]
    before: tuple[Integers, ...]
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
        cells: list[Floats] = []
        before: list[Integers] = [np.empty(0, dtype=np.int64)]
        sums: list[Floats] = []
        at = [rate * strip.middles for strip in strips]
        logs = np.zeros((len(c), 1))
        for j, strip in enumerate(strips):
            wanted = rate * shares[j] * c
            if j == 0:
                ways = np.exp(-np.abs(at[0] - wanted))
            else:
                before.append(_before(strips[j - 1], strip))
                stretches = strips[j - 1].stretches
                ways = _stepped(sums[-1], at[j - 1], stretches, before[j], at[j], wanted)
            sizes = strip.cells.sizes
            cells.append(sizes * np.exp(2 * rate * strip.halves) if upper else sizes)
            ways *= np.add.reduceat(cells[j], strip.heads[:-1])
            logs += np.log(_scale(ways, axis=1))
            sums.append(ways)
        logs = logs - np.abs(rate * count - at[-1] - rate * shares[-1] * c)
        shift = float(logs.max())
        sums[-1] = sums[-1] * np.exp(logs - shift)
        total = float(np.log(_scale(sums[-1], axis=None).item()) + shift)
        total += float(np.log(sums[-1].sum()))
        return cls(strips, totals, shares, rate, tuple(cells), tuple(before), tuple(sums), total)

    def propose(self, entropy: Entropy) -> tuple[int, list[int], int, int]:
        """Return a total, points, and the exact chance of proposing just these, as a ratio."""
        place, chance, among = _choose(self.sums[-1].ravel(), entropy)
        row, i = divmod(place, self.sums[-1].shape[1])
        total, points = self.totals[row], []
        for j in range(len(self.strips) - 1, -1, -1):
            strip = self.strips[j]
            if j < len(self.strips) - 1:
                later = self.strips[j + 1]
                until = int(self.before[j + 1][i])
                wanted = later.middles[i] - total * self.shares[j + 1]
                far = np.abs(strip.middles[:until] - wanted)
                # The nearest has the weight 1, so that no sum vanishes.
                far -= far.min()
                far *= -self.rate
                weights = np.exp(far, out=far)
                weights *= self.sums[j][row, :until]
                i, share, every = _choose(weights, entropy)
                chance, among = chance * share, among * every
            cell, stop = int(strip.heads[i]), int(strip.heads[i + 1])
            if stop - cell > 1:
                own, share, every = _choose(self.cells[j][cell:stop], entropy)
                cell, chance, among = cell + own, chance * share, among * every
            z, size = strip.cells.draw(cell, entropy)
            points.append(z)
            among *= size
        return total, points[::-1], chance, among


def _before(lower: Strip, strip: Strip) -> Integers:
    """Return how many pieces of the strip before begin before the end of each piece.

    To a place, so rather too many; there is one at least, since all strips begin alike.
    """
    ends, heads = strip.heads[1:], lower.heads[:-1]
    limits = strip.cells.starts[ends] + (strip.cells.offsets[ends] > 0)
    found: Integers = lower.cells.starts[heads].searchsorted(limits)
    return np.maximum(found, 1, out=found)


def _scale(weights: Floats, axis: int | None) -> Floats:
    """Put weights in units of their largest, raise those that are very small; return that."""
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

    The middles of the two strips, ``own`` and ``at``, are in nats.
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
    """Return exp of what is 0 at most, but for rounding; ``nats`` is used up."""
    np.minimum(nats, 0.0, out=nats)
    return np.exp(nats, out=nats)


def _taken(table: Floats, places: Integers) -> Floats:
    """Return table[c, places[c, k]] for all c, k."""
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
    """Draw a place by its weight, to about 2^-40; return its exact chance as a ratio too."""
    cells = (weights * (2.0**_CELL_BITS / weights.sum())).astype(np.int64)
    cells += 1
    ends = cells.cumsum()
    among = int(ends[-1])
    place = int(ends.searchsorted(entropy.below(among), side="right"))
    return place, int(cells[place]), among
