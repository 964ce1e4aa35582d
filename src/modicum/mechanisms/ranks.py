"""Private radii with about a given number of records outside: the shape of a distribution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.event import Event, Pure

__all__ = ["RadiusRanks"]


@dataclass(frozen=True, slots=True, eq=False)
class RadiusRanks(Law[tuple[int, ...]]):
    """For each target t, a radius around a public centre with about t records outside.

    A radius r has score -(epsilon/2) |#{records outside r} - t| - tilt j(r); the exponential
    mechanism chooses one for each target, independently given the data.

    Sensitivity contract: a record changes every count, and so every |count - t|, by at most 1:
    each target costs ``epsilon``, together they cost their number times ``epsilon`` (basic
    composition). The tilt does not depend on the data; it keeps the unpopulated wide radii from
    outweighing the right ones.

    Parameters
    ----------
    distances : sorted int64 array
        Distances of the records from the centre (secret).
    centre : int
        Released.
    grid : RadiusGrid
    targets : tuple of int
        Wanted numbers of records outside.
    tilts : tuple of Fraction
        For each target, the prior cost of one index of the grid.
    epsilon : Fraction
        Cost of one target.

    Notes
    -----
    The outcome is the tuple of the chosen positions in ``grid.radii``, one a target.
    """

    distances: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    centre: int
    grid: RadiusGrid
    targets: tuple[int, ...]
    tilts: tuple[Fraction, ...]
    epsilon: Fraction

    def over(self, q: NDArray[np.int64]) -> RadiusRanks:
        """Build the same law for these records (lattice integers, any order)."""
        return replace(self, distances=np.sort(np.abs(q - self.centre)))

    @property
    def event(self) -> Event:
        """All targets together."""
        return Pure(self.epsilon * len(self.targets))

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw a position for each target."""
        ones = [1] * len(self.grid.radii)
        chosen = []
        for target, tilt in zip(self.targets, self.tilts, strict=True):
            costs, unit = self._costs(target, tilt)
            chosen.append(draw_level(ones, costs, Fraction(1, unit), entropy))
        return tuple(chosen)

    def log_density(self, outcome: tuple[int, ...]) -> float:
        """Sum over the targets of the log probability of the chosen position."""
        total = 0.0
        for chosen, target, tilt in zip(outcome, self.targets, self.tilts, strict=True):
            costs, unit = self._costs(target, tilt)
            exponents = np.array([(cost - costs[chosen]) / unit for cost in costs])
            least = float(exponents.min())
            total += least - math.log(float(np.exp(least - exponents).sum()))
        return total

    def _costs(self, target: int, tilt: Fraction) -> tuple[list[int], int]:
        """Cost of every radius as an integer over one denominator, the least being 0."""
        radii = np.array(self.grid.radii, dtype=np.int64)
        outside = len(self.distances) - np.searchsorted(self.distances, radii, side="right")
        denominator = math.lcm(2 * self.epsilon.denominator, tilt.denominator)
        a, b = int(self.epsilon / 2 * denominator), int(tilt * denominator)
        costs = [
            a * abs(count - target) + b * j
            for count, j in zip(outside.tolist(), self.grid.indices, strict=True)
        ]
        least = min(costs)
        return [cost - least for cost in costs], denominator

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Return every combination of positions on a small grid."""
        return product(range(len(self.grid.radii)), repeat=len(self.targets))
