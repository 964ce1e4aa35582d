"""How a location divides its budget, and the candidates it chooses from: public values only.

None of the constants affects privacy; benchmarks/locations.py compares the choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import FloatGrid, RadiusGrid
from modicum.statistics.purse import Purse
from modicum.statistics.purses import ConcentratedPurse
from modicum.statistics.split import HALF_LN2, octaves
from modicum.summaries.base import Integers

__all__ = ["Candidates", "LengthPlan", "LocationPlan", "cell_edges", "radius_grid"]

COUNT_SHARE = Fraction(1, 50)
END_SHARE = Fraction(1, 5)  # both together
WIDTH_SHARE = Fraction(3, 100)
CENTRE_BITS = 24
CENTRE_SHARES = tuple(Fraction(k, 100) for k in (1, 2, 5, 10, 20, 35, 50))
GIVE_UP = 6.0  # the interval is the range without need once in e^6
NEGLIGIBLE = 40.0  # candidates at the cap together weigh at most e^-40 of all
MOST_LEVELS = 1 << 20
CELL_BITS = 7  # 128 cells an octave of distance from the centre
FLAT = 8  # widths around the centre in which the candidates of a bounded score are uniform
FINE = 10  # the length is linear between candidates at most 2^10 fine steps apart


@dataclass(frozen=True, slots=True)
class LocationPlan:
    """Shares of the total, given the released noisy count; what they leave goes to the value.

    Attributes
    ----------
    centre, width, radii, ends : Fraction
        Shares of the centre, of a private width, of the radii, and of the ends. 0: left out.
    tilt : Fraction
        Prior cost of a half octave of radius.
    power : float
        The radius prior is r^-power.
    cell_bits : int
        2^cell_bits cells an octave.
    """

    centre: Fraction
    width: Fraction
    radii: Fraction
    ends: Fraction
    tilt: Fraction
    power: float
    cell_bits: int

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        purse: Purse,
        noisy_count: int,
        *,
        bounded: bool,
        scaled: bool,
        ends: bool,
    ) -> LocationPlan:
        """Divide.

        Parameters
        ----------
        bounded : bool
            Whether no radii are needed.
        scaled : bool
            Whether a width is to be found.
        ends : bool
            Whether an interval is wanted.
        """
        rows = max(1, noisy_count)
        log_width = octaves(lattice)
        nats = CENTRE_BITS * math.log(2) + math.log(2 * log_width / math.log(2) + 2) + 8
        shares = CENTRE_SHARES if bounded else CENTRE_SHARES[:-1]  # radii need theirs too
        centre = next(
            (f for f in shares if float(purse.range_for(f)) * rows >= 2 * nats), Fraction(0)
        )
        concentrated = isinstance(purse, ConcentratedPurse)
        few = max(1.0, 1000 / (rows * float(purse.scale))) ** 0.3
        radii = 0.06 if concentrated else min(0.30, 0.20 * few)
        radii_share = Fraction(0) if bounded else Fraction(round(1024 * radii), 1024)
        eta = float(purse.range_for(radii_share))
        power = min(4.0, max(1.25, eta * rows / (2 * (log_width + 6))))
        return cls(
            centre,
            WIDTH_SHARE if scaled else Fraction(0),
            radii_share,
            END_SHARE if ends else Fraction(0),
            Fraction(round(1024 * power), 1024) * HALF_LN2,
            power,
            CELL_BITS + min(5, max(0, (rows.bit_length() - 20) // 2)),
        )


def cell_edges(lattice: Lattice, centre: int, bits: int) -> tuple[int, ...]:
    """Distances from a centre: 2^bits an octave, and every candidate radius."""
    reach = max(lattice.last - centre, centre - lattice.first, 1)
    grid = FloatGrid(bits)
    points = {grid.point(i) for i in range(grid.number(reach) + 1)}
    return tuple(sorted(points | set(radius_grid(centre, reach).radii) | {reach}))


def radius_grid(centre: int, reach: int) -> RadiusGrid:
    """Candidate radii around a centre that is known to 24 bits."""
    return RadiusGrid.between(max(1, abs(centre) >> CENTRE_BITS), reach)


@dataclass(frozen=True, slots=True)
class LengthPlan:
    """How finely lengths are counted in one law, and where they are capped.

    Attributes
    ----------
    epsilon : Fraction
        Size of the bounded range.
    unit : int
        Lengths are counted in 1/unit of a record.
    cap : int
        In those units: levels 0, ..., cap - 1.
    """

    epsilon: Fraction
    unit: int
    cap: int

    @classmethod
    def of(
        cls, epsilon: Fraction, log_candidates: float, shift: float = 0.0, *, whole: bool
    ) -> LengthPlan:
        """Choose both: a unit is worth at most 1/32 nat, and beyond the cap no weight is left.

        Whole lengths are counted in halves.

        Raises
        ------
        InvalidArgument
            If the budget is so small that there are more than a million levels.
        """
        unit = 2 if whole else 1 << max(0, math.ceil(math.log2(16 * float(epsilon))))
        cap = math.ceil((shift + (log_candidates + NEGLIGIBLE) * 2 / float(epsilon)) * unit)
        if cap > MOST_LEVELS:
            raise InvalidArgument(
                f"a draw of ε = {float(epsilon):g} would need {cap:,} levels; use a larger budget"
            )
        return cls(epsilon, unit, cap)

    def bound(self, log_candidates: float, alpha: float) -> float:
        """Length in records that a draw exceeds with probability at most ``alpha``.

        If some candidate has length 0: those of length s weigh at most exp(-ε s / 2) each.
        """
        return (log_candidates - math.log(alpha)) * 2 / float(self.epsilon)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Values a release may have: evenly spaced around the centre, then evenly in the logarithm.

    The number y stands for centre + unit point(y), point that of a :class:`FloatGrid`. Coarse
    numbers z are those y = fine z; lengths are computed there.

    Attributes
    ----------
    centre : int
    unit : int
        Lattice steps between the nearest values.
    bits : int
        Those at a distance below 2^(bits + 1) units are evenly spaced.
    fine : int
        Values from one coarse number to the next, a power of two.
    first, last : int
        Coarse numbers of the lowest and highest value.
    """

    centre: int
    unit: int
    bits: int
    fine: int
    first: int
    last: int

    @classmethod
    def of(cls, lo: int, hi: int, centre: int, *, flat: int, spacing: int) -> Candidates:
        """Candidates in [lo, hi]; coarse ones at most ``spacing`` apart up to ``flat`` from it."""
        exponent = max(0, spacing.bit_length() - 1)
        inner = min(FINE, exponent)
        coarse = 1 << exponent
        bits = max(4, (flat >> exponent).bit_length() - 1)
        grid = FloatGrid(bits)
        return cls(
            centre,
            coarse >> inner,
            bits + inner,
            1 << inner,
            -grid.number((centre - lo) // coarse),
            grid.number((hi - centre) // coarse),
        )

    def place(self, number: int) -> int:
        """Return the lattice integer of a fine number."""
        return self.centre + self.unit * FloatGrid(self.bits).point(number)

    def places(self, coarse: Integers) -> Integers:
        """Return the lattice integers of coarse numbers."""
        size = np.abs(coarse) * self.fine
        shift = np.maximum((size >> self.bits) - 1, 0)
        distance = ((size - (shift << self.bits)) << shift) * self.unit
        places: Integers = self.centre + np.sign(coarse) * distance
        return places

    @property
    def log_count(self) -> float:
        """Ln of how many there are."""
        return math.log((self.last - self.first) * self.fine + 1)
