"""Clients' vectors as integers: rotated, about a centre, and the cells that rounds ask about."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.local.cells import BRANCHING, Cells, numbers_of
from modicum.local.rotation import padded, rotated, unrotated

__all__ = ["LARGEST_RADIUS", "Vectors"]

LARGEST_RADIUS = 1 << 62
"""Largest radius about a centre that is announced, in steps after the rotation."""

_BITS = 24  # of a coordinate within the radius
_SMALLEST = 1 << 20  # the least norm told apart, as a part of the farthest place
_LEVELS = 11  # of the tree over a coordinate: cells of some millionths of the radius


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of norm at most ``radius`` on a grid, and their public rotation.

    Parameters
    ----------
    seed : bytes
        Of the rotation's signs.
    dimension : int
        1 to 2048.
    radius : float

    Raises
    ------
    InvalidArgument
        For another dimension or radius.
    """

    seed: bytes
    dimension: int
    radius: float

    def __post_init__(self) -> None:
        """Refuse what the rounds could not hold."""
        if type(self.dimension) is not int or not 1 <= self.dimension <= 2048:
            raise InvalidArgument(
                f"dimension must be an integer from 1 to 2048, got {self.dimension!r}"
            )
        number = isinstance(self.radius, numbers.Real) and not isinstance(self.radius, bool)
        if not number or not 2.0**-900 < self.radius < 2.0**900:
            raise InvalidArgument(f"radius must be between 2^-900 and 2^900, got {self.radius!r}")

    @property
    def lattice(self) -> Lattice:
        """Grid of a coordinate: 2^-24 of the radius."""
        step = math.ldexp(1.0, math.frexp(self.radius)[1] - _BITS)
        return Lattice.within((-self.radius, self.radius), step)

    @property
    def width(self) -> int:
        """Coordinates after the rotation, a power of two."""
        return padded(self.dimension)

    @property
    def places(self) -> Cells:
        """Cells of a rotated coordinate, at most 4^11.

        The rotation is not scaled down. A vector of norm R then has coordinates up to R sqrt(d'),
        and beyond 5 R with probability 2 e^-12.5 (Hoeffding): there they are cut, for the centre.
        """
        reach = math.ceil(min(5.0, math.sqrt(self.width)) * self.lattice.last)
        return Cells.of(-reach, reach, BRANCHING**_LEVELS)

    @property
    def least_norm(self) -> float:
        """Norm about the centre below which none are told apart."""
        return max(1.0, self.places.last / _SMALLEST)

    def central(self, centre: Sequence[int]) -> bool:
        """Tell whether a centre may be announced."""
        return len(centre) == self.width and all(abs(x) <= self.places.last for x in centre)

    def read(self, values: Any) -> NDArray[np.float64]:
        """Read one vector for each client; a missing coordinate becomes 0."""
        x = numbers_of(values)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise InvalidArgument(
                f"values must have the shape (n, {self.dimension}), got {x.shape}"
            )
        return np.where(np.isnan(x), 0.0, x)

    def shifted(self, values: NDArray[np.float64], centre: Sequence[int]) -> NDArray[np.int64]:
        """Round vectors, rotate them and subtract a centre; an empty one is the origin."""
        q = self.lattice.quantise(values.ravel()).reshape(values.shape)
        turned = rotated(q, self.seed)
        return turned - np.array(centre, np.int64) if len(centre) else turned

    def norm_cells(
        self, shifted: NDArray[np.int64], *, octave: int, cells: int
    ) -> NDArray[np.int64]:
        """Return the cells of norms, ``octave`` of them for each doubling."""
        norms = np.sqrt((shifted.astype(np.float64) ** 2).sum(axis=1))
        places = np.floor(octave * np.log2(np.maximum(norms / self.least_norm, 1.0)))
        found: NDArray[np.int64] = np.minimum(places, cells - 1).astype(np.int64)
        return found

    def edge(self, place: float, *, octave: int) -> int:
        """Return the norm at a place between cells of norms."""
        return math.ceil(self.least_norm * 2 ** (place / octave))

    def restored(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Undo the rotation, in the unit of the data."""
        return unrotated(vector, self.seed, self.dimension) * self.lattice.step
