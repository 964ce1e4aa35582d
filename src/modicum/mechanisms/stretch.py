"""A public stretching of a range: integers near a centre have more points than far ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["EVEN", "Stretch"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Every integer t begins at its own place, and holds the places up to that of t + 1.

    With d = t - centre, an integer less than 2^near from the centre has 2^octaves places. From
    there on the number is halved at every doubling of d, so that each octave has as many places
    as half of the near part has on one side; it is 1 in the last octave. So a law that is uniform
    on places is uniform near the centre, and in the logarithm of the distance far from it: an empty
    part of a wide range outweighs the near part by a few octaves, and not by its length.

    Without octaves, places are integers.

    Attributes
    ----------
    centre, near, octaves : int
        Distances are at most 2^(near + octaves), and near + octaves at most 55.

    Examples
    --------
    >>> stretch = Stretch(centre=0, near=1, octaves=2)
    >>> stretch.starts(np.arange(9)).tolist()
    [0, 4, 8, 10, 12, 13, 14, 15, 16]
    >>> [stretch.value(place) for place in (-9, -8, -1, 0, 7, 11, 12)]
    [-3, -2, -1, 0, 1, 3, 4]
    """

    centre: int = 0
    near: int = 62
    octaves: int = 0

    @classmethod
    def about(cls, centre: int, near: int, ends: tuple[int, int]) -> Stretch:
        """Stretch a range from its first to its last integer around one of them."""
        reach = max(ends[1] + 1 - centre, centre - ends[0])
        return cls(centre, near, max(0, (reach - 1).bit_length() - near))

    def start(self, t: int) -> int:
        """Return the first place of an integer."""
        size = abs(t - self.centre)
        octave = min(max(0, size.bit_length() - self.near), self.octaves)
        place = (octave * self._octave) + (size << (self.octaves - octave))
        return place if t >= self.centre else -place

    def starts(self, values: Integers) -> Integers:
        """Vectorised :meth:`start`."""
        size = np.abs(values - self.centre)
        ends = np.int64(1) << np.arange(self.near, self.near + self.octaves, dtype=np.int64)
        octave = np.searchsorted(ends, size, side="right").astype(np.int64)
        places = octave * self._octave + (size << (self.octaves - octave))
        return np.where(values >= self.centre, places, -places)

    def value(self, place: int) -> int:
        """Return the integer that holds a place."""
        if self.octaves == 0:
            return self.centre + place
        size = abs(place)
        octave = min(max(0, size // self._octave - 1), self.octaves)
        within, shift = size - octave * self._octave, self.octaves - octave
        return self.centre + ((within if place >= 0 else -within) >> shift)

    @property
    def _octave(self) -> int:
        """Places of each octave; the near part has two of them on either side."""
        return 1 << max(0, self.near + self.octaves - 1)


EVEN = Stretch()
"""Every integer has one place."""
