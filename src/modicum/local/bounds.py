"""Bounds for a mean, from answers about where the numbers are: what is left out is small."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from modicum.local.cells import Cells
from modicum.local.round import Answers
from modicum.local.tree_round import TreeRound

__all__ = ["bounds"]

_SURE = 4.0  # standard deviations from which on a part of the range is believed in
_QUARTER = 0.25
_LEAST = 0.01  # quantiles farther out are not read
_RANKS = 3.5  # deviations of a level's share within which no quantile is read
_REACH = 3.37  # standard deviations of a normal distribution at its bounds, by any quantiles
_SEEN, _SEEN_ATOM = 3.5, 2.0  # deviations from which on people beyond the bounds are believed in
_UNSEEN = 0.02  # share of people beyond a single cell that has to be excluded
_UNLIKELY = 1.5  # deviations above what is left beyond wider bounds
_MOST_NODES = 6  # of a level that hold the bounds
_SAMPLED = 0.05  # most variance of a share of people beyond, by who is asked


@dataclass(frozen=True, slots=True)
class _Beyond:
    """What each level of the tree says about people beyond some bounds, from the root down.

    Attributes
    ----------
    shares, variances : (m,) float array
        Of the people beyond ``covers``.
    covers : list of pairs
        Lattice integers: the nodes that hold the bounds and half a node on either side.
    """

    shares: NDArray[np.float64]
    variances: NDArray[np.float64]
    covers: list[tuple[int, int]]

    def found(self) -> tuple[float, float, float]:
        """Return the largest share in deviations of all runs up to the finest level, and its run's.

        The share beyond a level's nodes only grows from the root down, so the average over the
        last levels does not overstate the share beyond the bounds, and has less noise than one.
        """
        weights = 1 / self.variances[::-1]
        means = np.cumsum(weights * self.shares[::-1]) / np.cumsum(weights)
        deviations = 1 / np.sqrt(np.cumsum(weights))
        best = int(np.argmax(means / deviations))
        return float(means[best]), float(deviations[best]), float(means[-1] + 2 * deviations[-1])

    def widened(self, share: float, *, atom: bool) -> tuple[int, int] | None:
        """Return bounds beyond which less than a quarter of ``share`` is left; None for everything.

        Where the sum over all finer levels of what their shares exceed that quarter by, by weight,
        is largest. With a half it would be the likeliest level, if the share beyond drops to
        nothing there; to stop too early is the worse mistake. About an ``atom`` it also has to be
        unlikely that half of ``share`` is left.
        """
        excess = (self.shares - share / 4) / self.variances
        sums = np.cumsum(excess[::-1])[::-1]
        level = int(np.argmax(sums)) - 1
        if level < 0:
            return None
        weights = 1 / self.variances[: level + 1]
        left = float(weights @ self.shares[: level + 1] / weights.sum())
        likely = left + _UNLIKELY / math.sqrt(weights.sum()) < share / 2
        return self.covers[level] if likely or not atom else None


def bounds(asked: TreeRound, answers: Answers, cells: Cells) -> tuple[int, int]:
    """Return bounds, in lattice integers.

    Notes
    -----
    [B1] The bounds are two opposite quantiles of what is significant, and a part of their distance
    beyond each, chosen so that those of a normal distribution are 3.4 standard deviations off its
    middle. The less noise, the farther out the quantiles. In a wide range there are many empty
    places, and some of their shares look positive by chance. They would drag a far quantile
    anywhere, and a quartile only if they made up a quarter.
    [B2] People beyond these bounds are seen together at all levels whose nodes are as large. If
    they are significant, the bounds are widened to where they end, and once more by half.
    [B3] Where both quantiles lie in one cell there is no scale to go by: most people have one
    value, and the others may be anywhere. If it cannot be excluded that there are others, the
    bounds are those of the range.
    """
    grown, everything = asked.grown(answers, sure=_SURE), (cells.first, cells.last)
    quantile = min(_QUARTER, max(_LEAST, _RANKS * asked.level_deviation(len(answers.values))))
    deviate = -NormalDist().inv_cdf(quantile)
    low, high = (cells.edge(grown.rank(q)) for q in (quantile, 1 - quantile))
    # 2 distances beyond the quartiles.
    room = math.ceil((_REACH / deviate - 1) / 2 * (high - low)) + cells.size
    atom = high - low <= cells.size
    low, high = _within(cells, low - room, high + room)
    beyond = _beyond(asked, answers, cells, low, high)
    if not beyond.covers:
        return low, high
    share, deviation, excluded = beyond.found()
    if share < (_SEEN_ATOM if atom else _SEEN) * deviation:
        return everything if atom and excluded > _UNSEEN else (low, high)
    wide = beyond.widened(share, atom=atom)
    if wide is None:
        return everything
    half = (wide[1] - wide[0]) // 2
    return _within(cells, wide[0] - half, wide[1] + half)


def _within(cells: Cells, low: int, high: int) -> tuple[int, int]:
    return max(low, cells.first), min(high, cells.last)


def _beyond(asked: TreeRound, answers: Answers, cells: Cells, low: int, high: int) -> _Beyond:
    """Estimate the share beyond the nodes that hold the bounds, at every level of large nodes."""
    shares, counts = asked.estimates(answers)
    found, variances, covers = [], [], []
    tree = asked.tree
    for level in range(1, tree.depth + 1):
        size = cells.size * tree.branching ** (tree.depth - level)
        first, last = (
            (x - cells.first) // size for x in _within(cells, low - size // 2, high + size // 2)
        )
        nodes = np.arange(first, last + 1)
        if len(nodes) > _MOST_NODES:
            break
        oracle, count = asked.oracle(level), max(1.0, counts[level - 1])
        found.append(1 - float(shares(level, nodes).sum()))
        noise = oracle.held_variance + (len(nodes) - 1) * oracle.variance
        variances.append((noise + _SAMPLED) / count)
        start, end = cells.first + first * size, cells.first + (last + 1) * size - 1
        covers.append(_within(cells, int(start), int(end)))
    return _Beyond(np.array(found), np.array(variances), covers)
