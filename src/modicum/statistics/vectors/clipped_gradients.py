"""A noisy sum of gradients that are clipped to a drawn radius, and what their number tells.

The radius is drawn by how many gradients are beyond it, so a number that is large for a draw of
such a rate refutes light tails [regression.12], and a very large one any tail that bounds what was
clipped off: then rows far from the rest, as many as these, may be anywhere. Labels are those of
docs/research/proofs/regression.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from modicum.releases.status import Status
from modicum.stored.codec import storable

_LIKELY, _INDICES = 0.05, 77
LEAST_INDEX = 1.5
"""Of the tail of gradients; what heavier ones lost is not bounded [regression.14]."""
_BEYOND, _PLACES = 60.0, 2001

HEAVY_ROWS = Status(
    "heavy_tail",
    "many rows are far from the fit: the interval allows for some that are further out, and not "
    "for extreme ones",
)
FAR_ROWS = Status(
    "clipped",
    "some {records:,} rows are far from the fit of all others, and nothing tells how far: it is "
    "that of the others alone; these may be rare values of a column, or a code for missing ones",
)


@storable
@dataclass(frozen=True, slots=True)
class Gradient:
    """A noisy sum of gradients, and ``outside``, the noisy number of those that were clipped.

    ``radius`` is the norm of the given ``power`` to which they were. ``deviation`` is the standard
    deviation of the noise of each number, ``outside_deviation`` that of the number outside.
    ``rate`` is what a gradient beyond the radius took off its log-probability when it was drawn,
    and ``prior`` the power of a radius in its prior; releases that were stored before have neither.
    """

    sums: tuple[float, ...]
    deviation: float
    radius: float
    power: int
    outside: int
    outside_deviation: float
    rate: float = 0.0
    prior: float = 1.0

    def missing(self, tail: float | None, times: float) -> float:
        """[regression.8] Bound the norm of what was clipped off."""
        if tail is None:
            return 0.0
        return max(self.outside + times * self.outside_deviation, 0.0) * self.radius / (tail - 1)

    @property
    def outside_sampled(self) -> float:
        """Standard deviation of the number outside, as that of a sample too."""
        return math.hypot(self.outside_deviation, math.sqrt(max(self.outside, 0)))

    def index(self, times: float, usual: float) -> float:
        """[regression.12] The largest index up to ``usual`` that so many beyond leave likely.

        It is 1, which bounds nothing, if none from the least one on is [regression.14]. The number
        beyond is taken so many deviations of its noise lower.
        """
        beyond = self.rate * (self.outside - times * self.outside_deviation)
        for index in np.linspace(usual, LEAST_INDEX, _INDICES).tolist():
            if gamma_above(self.prior / index, beyond) >= _LIKELY:
                return float(index)
        return 1.0


def gamma_above(shape: float, t: float) -> float:
    """P(G > t) of a gamma variable.

    >>> round(gamma_above(1, 2.0), 4)  # an exponential one
    0.1353
    """
    if t <= 0:
        return 1.0
    u = np.log(t + _BEYOND * np.linspace(0, 1, _PLACES) ** 2)
    density = np.exp(shape * u - np.exp(u) - math.lgamma(shape))
    return float(np.trapezoid(density, u))
