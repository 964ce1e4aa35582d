"""How a mean vector divides its budget: public numbers from a noisy count, nothing else.

All shares are of the whole ρ. The proportions were chosen by simulation over the tables of
benchmarks/vectors.py; docs/proofs/mean_vector.md says what each is for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.estimators.vector_share import NEAR, count_share
from modicum.exact.lattice import Lattice
from modicum.mechanisms.radius import RadiusGrid
from modicum.summaries.vector_frame import MOST_COLUMNS

__all__ = ["SUBSTEP", "VectorSchedule", "fine_radii", "wide_radii", "wide_squares"]

SUBSTEP = 256
"""Units of a frame in one lattice step."""

COUNT = Fraction(1, 200)
LOCATE = Fraction(1, 4)  # the most that is spent before the weights
WEIGHED = Fraction(2, 5)  # the most that is spent after them, but for the last radius
SCALES = (Fraction(1, 50), Fraction(3, 100), Fraction(3, 100))
LAST_RADIUS = Fraction(3, 200)

_TARGET = 0.02  # share of the rows that the radii on the way leave outside
_SURE = 8.0  # nats by which a radius with twice as many outside is less likely
_SHRINK = 5.0  # a step's noise is this fraction of its radius
_PLACES = 1 << 30


@dataclass(frozen=True, slots=True)
class VectorSchedule:
    """The shares of one run.

    Attributes
    ----------
    rows : int
        The noisy count, at least 1.
    width : int
    rho : float
        The whole budget.
    radius, step : Fraction
        Shares of a radius on the way, and of a step of the centre.
    """

    rows: int
    width: int
    rho: float
    radius: Fraction
    step: Fraction

    @classmethod
    def of(cls, rho: Fraction, noisy_count: int, width: int) -> VectorSchedule:
        """Divide a budget.

        A radius on the way is drawn with ε = 8 nats for ``_TARGET`` of the rows, as far as 0.2
        to 2 % of the budget allow. A step's noise has norm r sqrt(width / (2 ρ')) / rows, which is
        r / ``_SHRINK`` for ρ' = ``_SHRINK``² width / (2 rows²), as far as 0.2 to 4 % allow.
        """
        rows, whole = max(noisy_count, 1), float(rho)
        radius = (_SURE / (_TARGET * rows)) ** 2 / 8 / whole
        step = _SHRINK**2 * width / (2 * rows**2) / whole
        return cls(
            rows,
            width,
            whole,
            _fraction(min(max(radius, 0.002), 0.02)),
            _fraction(min(max(step, 0.002), 0.04)),
        )

    @property
    def target(self) -> int:
        """Rows outside for which a radius on the way is not punished."""
        return int(_TARGET * self.rows)

    @property
    def wide_tilt(self) -> Fraction:
        """Prior cost of a quarter of an octave of radius: up to r^-6.

        A prior that is too strong for the number of rows would pull every radius to the smallest:
        over the 60 octaves of the default lattice this one weighs at most 0.63 of the rows.
        """
        return self._tilt(min(max(self._pull(self.radius) / 66, 1 / 16), 6.0), 4)

    @property
    def fine_tilt(self) -> Fraction:
        """Prior cost of a sixteenth of an octave of the last radius: up to r^-40."""
        return self._tilt(min(max(self._pull(LAST_RADIUS) / 8, 1.0), 40.0), 16)

    def last_target(self, left: Fraction) -> int:
        """Rows outside the last radius for which it is not punished.

        Each row outside moves the mean by a part of r / rows, and the noise is
        r sqrt(width / (2 ρ)) / rows: a quarter as many rows cost little beside it.
        """
        rho = float(left * (1 - count_share(self.width, NEAR))) * self.rho
        return int(math.sqrt(self.width / (2 * rho)) / 4)

    def noise_norm(self, radius: int, share: Fraction) -> float:
        """Norm of a mean's noise for a share, in the unit of the radius."""
        return radius * math.sqrt(self.width / (2 * self.rho * float(share))) / self.rows

    def noise_each(self, radius: int, share: Fraction) -> float:
        """Noise of one component of a mean."""
        return self.noise_norm(radius, share) / math.sqrt(self.width)

    def _pull(self, share: Fraction) -> float:
        """Nats between a radius with all rows inside and one with all outside."""
        return math.sqrt(8 * float(share) * self.rho) * self.rows

    def _tilt(self, power: float, per_octave: int) -> Fraction:
        return _fraction(power * math.log(2) / per_octave)


def wide_radii(lattice: Lattice) -> RadiusGrid:
    """Radii from one unit to beyond any row's norm, four an octave."""
    return _positive(RadiusGrid.between(1, _largest(lattice), per_octave=4))


def wide_squares(lattice: Lattice) -> RadiusGrid:
    """Radii for vectors of squares, two an octave."""
    return _positive(RadiusGrid.between(1, _largest(lattice) ** 2, per_octave=2))


def fine_radii(radius: int) -> RadiusGrid:
    """Sixteen radii an octave, from about a third of a radius to its double."""
    numbers: dict[int, int] = {}
    for j in range(-24, 17):
        numbers.setdefault(max(1, round(radius * 2 ** (j / 16))), j)
    return RadiusGrid(tuple(numbers), tuple(numbers.values()))


def _largest(lattice: Lattice) -> int:
    return SUBSTEP * lattice.width * math.isqrt(MOST_COLUMNS)


def _positive(grid: RadiusGrid) -> RadiusGrid:
    """Leave out radius 0: nothing can be clipped to it."""
    return RadiusGrid(grid.radii[1:], grid.indices[1:])


def _fraction(x: float) -> Fraction:
    return Fraction(round(x * _PLACES), _PLACES)
