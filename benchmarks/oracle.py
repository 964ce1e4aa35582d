"""The best clipping in hindsight: what no private method can know, and what all are divided by.

For one data set D and one ε the oracle knows the bounds [l, u] that minimise

    cost(l, u) = noise(l, u) + left bias + right bias,

    noise = E |(1 - p) Z1 - p Z2| w / n,  Z Laplace of scale 1/ε, w = u - l, p = (m - l) / w,
    left bias = sum (l - x)+ / n,  right bias = sum (x - u)+ / n,

with m the mean of the data clipped to [l, u]. The noise is that of Algorithm 3 of Kulesza, Suresh
and Wang 2023 with the whole ε, to first order in 1/(nε); for independent Laplace variables of
scales a and b, E |aZ1 - bZ2| = (a² + ab + b²)/(a + b), here (1 - p (1 - p)) w / (n ε).

Two biases of opposite sign get no credit for cancelling: else l = u = mean would win with no
error at all. At ε >= 1 the oracle is the pair of extremes, because clipping one record costs at
least what it saves.

The minimum is searched over the order statistics at each end, and three points between any two:
the noise falls by at most about 1/(nε) a unit, the bias rises by k/n, so no more than about 1/ε
records are clipped a side.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Oracle:
    """The best bounds of one data set, and their cost."""

    lo: float
    hi: float
    cost: float


def hindsight(x: NDArray[np.float64], epsilon: float) -> Oracle:
    """Find the best bounds of ``x``, which is sorted, for the whole ε."""
    n = len(x)
    reach = min(math.ceil(1.5 / epsilon) + 3, (n + 1) // 2)
    lows, low_loss = _candidates(x[:reach])
    highs, high_loss = _candidates(-x[::-1][:reach])
    highs = -highs
    total = float(x.sum())
    # Clipping at l adds the left loss to the sum, clipping at u takes the right loss away.
    mean = (total + low_loss[:, None] - high_loss[None, :]) / n
    width = np.maximum(highs[None, :] - lows[:, None], 0)
    share = np.divide(mean - lows[:, None], width, out=np.zeros_like(mean), where=width > 0)
    share = np.clip(share, 0, 1)
    noise = width * (1 - share * (1 - share)) / (n * epsilon)
    cost = noise + (low_loss[:, None] + high_loss[None, :]) / n
    cost = np.where(highs[None, :] >= lows[:, None], cost, math.inf)
    i, j = np.unravel_index(int(cost.argmin()), cost.shape)
    return Oracle(float(lows[i]), float(highs[j]), float(cost[i, j]))


def _candidates(
    ends: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower bounds to try, from the lowest records, and sum (l - x)+ at each."""
    gaps = np.diff(ends, append=ends[-1])
    bounds = np.unique((ends[:, None] + gaps[:, None] * np.array([0, 0.25, 0.5, 0.75])).ravel())
    below = np.searchsorted(ends, bounds, side="left")
    sums = np.concatenate(([0.0], np.cumsum(ends)))
    return bounds, below * bounds - sums[below]
