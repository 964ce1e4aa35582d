"""Exact output laws of the papers' algorithms on few data, independent of the library's laws."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pieces:
    """A density that is constant between edges, or a pmf if the edges are None."""

    points: np.ndarray  # midpoints of the pieces, or the points themselves
    weights: np.ndarray  # probabilities, adding up to 1
    edges: np.ndarray | None = None

    def probability(self, where: Callable[[np.ndarray], np.ndarray]) -> float:
        return float(self.weights[where(self.points)].sum())

    def expectation(self, loss: Callable[[np.ndarray], np.ndarray]) -> float:
        return float(self.weights @ loss(self.points))

    def mean_square(self, about: float) -> float:
        """E (t - about)², the variance inside each piece included."""
        inside = np.diff(self.edges) ** 2 / 12 if self.edges is not None else 0.0
        return float(self.weights @ ((self.points - about) ** 2 + inside))


def exponential(
    scores: np.ndarray, rate: float, points: np.ndarray, edges: np.ndarray | None = None
) -> Pieces:
    """Weights exp(-rate score), times the lengths of pieces."""
    lengths = np.diff(edges) if edges is not None else np.ones(len(scores))
    logs = np.full(len(scores), -math.inf)
    logs[lengths > 0] = np.log(lengths[lengths > 0]) - rate * (scores - scores.min())[lengths > 0]
    weights = np.exp(logs - logs.max())
    return Pieces(points, weights / weights.sum(), edges)


def window_threshold(
    data: np.ndarray, rank: int, ends: tuple[float, float], alpha: float, rate: float
) -> tuple[Pieces, np.ndarray]:
    """Dick et al. 2023, Algorithm 2, and the loss of each piece.

    Thresholds in [t - α, t + α] have all ranks from #{x < t - α} to #{x <= t + α}.
    """
    x = np.sort(data)
    cuts = np.unique(np.clip(np.concatenate([ends, x - alpha, x + alpha]), *ends))
    middles = (cuts[:-1] + cuts[1:]) / 2
    least = np.searchsorted(x, middles - alpha, side="left")
    most = np.searchsorted(x, middles + alpha, side="right")
    losses = np.maximum(0, np.maximum(least - rank, rank - most))
    return exponential(losses, rate, middles, cuts), losses


def from_levels(
    low: np.ndarray, high: np.ndarray, ends: tuple[float, float], rate: float, smooth: float
) -> Pieces:
    """Inverse sensitivity on an interval whose level k ends at low[k] and high[k].

    Smoothing by ρ moves every boundary outwards by ρ: some t' within ρ of t has the length.
    """
    falling = np.clip(np.append(low - smooth, ends[0]), *ends)
    rising = np.clip(np.append(high + smooth, ends[1]), *ends)
    edges = np.concatenate([falling[::-1], rising])
    levels = np.arange(len(low) + 1)
    # Between falling[k] and falling[k - 1] the length is k; the middle piece has length 0.
    scores = np.concatenate([levels[:0:-1], [0], levels[1:]]).astype(float)
    return exponential(scores, rate, (edges[:-1] + edges[1:]) / 2, edges)


def algorithm_4(
    data: np.ndarray,
    *,
    reach: float,
    step: float,
    epsilon: float,
    value_bound: float,
    lengths: Callable[[np.ndarray, np.ndarray, tuple[float, float]], np.ndarray],
    prune: bool = True,
) -> tuple[list[tuple[float, Pieces]], float, int]:
    """Dick et al. 2023, Algorithm 4, corrected: rank targets 7r/4, trimming by rank.

    Returns the laws given the thresholds with their probabilities, the probability left out, and
    r. ``prune=False`` leaves thresholds out.
    """
    eta = step / value_bound  # L = 1
    r = math.ceil(32 * math.log(6 * reach / (eta * step)) / epsilon)
    x = np.sort(np.round(data / step) * step)
    if not prune:
        return [(1.0, _inverse(x, (-reach, reach), step, epsilon / 2, lengths))], 0.0, r
    target = math.ceil(7 * r / 4)
    low = _grid_threshold(x, target, reach, step, epsilon / 8)
    high = [(-t, p) for t, p in _grid_threshold(-x[::-1], target, reach, step, epsilon / 8)]
    trim = math.ceil(3 * r / 2)
    middle = x[trim : len(x) - trim]
    mechanisms, covered = [], 0.0
    for lo, p in low:
        for hi, q in high:
            if p * q > 1e-9:
                ends = (min(lo, hi), max(lo, hi))
                kept = middle[(middle >= ends[0]) & (middle <= ends[1])]
                mechanisms.append((p * q, _inverse(kept, ends, step, epsilon / 2, lengths)))
                covered += p * q
    return mechanisms, 1 - covered, r


def _grid_threshold(
    x: np.ndarray, rank: int, reach: float, step: float, rate: float
) -> list[tuple[float, float]]:
    """Values of the data with their probabilities; gaps between them count as left out."""
    values, counts = np.unique(x, return_counts=True)
    upto = np.cumsum(counts)
    at = np.maximum(0, np.maximum(upto - counts - rank, rank - upto))
    cuts = np.concatenate([[-reach - step], values, [reach + step]])
    gaps = np.maximum(np.round(np.diff(cuts) / step) - 1, 0)
    between = np.abs(np.append(0, upto) - rank)
    logs = np.concatenate([-rate * at, np.log(np.maximum(gaps, 1e-300)) - rate * between])
    weights = np.exp(logs - logs.max())
    return list(zip(values.tolist(), (weights / weights.sum())[: len(values)], strict=True))


def _inverse(
    x: np.ndarray,
    ends: tuple[float, float],
    step: float,
    epsilon: float,
    lengths: Callable[[np.ndarray, np.ndarray, tuple[float, float]], np.ndarray],
    most: int = 4000,
) -> Pieces:
    """Algorithm 5 on the grid; a grid of more points than ``most`` is thinned around the data."""
    size = round((ends[1] - ends[0]) / step) + 1
    if size <= most:
        grid = ends[0] + step * np.arange(size)
        return exponential(lengths(x, grid, ends), epsilon / 2, grid)
    edges = np.linspace(ends[0], ends[1], most + 1)  # one point stands for many neighbours
    points = (edges[:-1] + edges[1:]) / 2
    return exponential(lengths(x, points, ends), epsilon / 2, points, edges)
