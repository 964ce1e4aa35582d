"""Tails of weighted sums of independent noises, from their exact masses and not from a bound.

Chernoff's bound (:meth:`~modicum.mechanisms.additive.Noise.sum_bound`) makes an interval from a
sum of many noises some 20 % wider than it has to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.additive import Noise

_PARTS = 128  # of a standard deviation, at least as many, or single integers
_REACH = 40.0  # standard deviations of one noise: beyond there is less than 1e-17
_SPREAD = 12.0  # and of a sum of many
_MOST = 1 << 20  # integers within reach of noise whose masses are listed
_TIES = 1e-9  # sums that are less by so much, of one noise's steps, count as equal
_ROUNDING = 1e-12  # more than what the transforms of masses may be wrong by

_GRID = 1 << 13  # places of a grid of sums on either side; a part has a quarter of them
_NOTHING = 1e-17  # masses of places that are left out

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Part = tuple[Noise, float, int]  # a noise, a weight of at least 0, and how many noises have it


def sum_tail(noise: Noise, parts: tuple[tuple[float, int], tuple[float, int]], t: float) -> float:
    """Return an upper bound, to some percent, of P(a weighted sum of independent noises >= t).

    ``parts`` are two positive weights, each with the positive number of noises that have it. Wide
    noise is rounded up to multiples of a 128th of its standard deviation. Of noise that is too wide
    to be listed it is 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import LaplaceNoise
    >>> noise, parts = LaplaceNoise(Fraction(5)), ((0.5, 8), (0.5, 8))
    >>> bound = noise.sum_bound(parts, 0.01)
    >>> 0 < sum_tail(noise, parts, bound) < 0.002, 0.5 < sum_tail(noise, parts, 0.0) < 0.54
    (True, True)
    """
    (weight, times), (other, others) = parts
    step, masses = _masses(noise, times + others)
    if not step:
        return 1.0
    half = len(masses) // 2
    one, two = (_summed(noise, times + others, k) for k in (times, others))
    above = np.append(np.cumsum(one[::-1])[::-1], 0.0)  # P(sum >= place - half)
    least = (t / step - other * np.arange(-half, half)) / weight
    places = np.ceil(least - _TIES).astype(np.int64)
    found = float(two @ above[np.clip(places + half, 0, 2 * half)])
    return min(1.0, found + _ROUNDING)


@lru_cache(maxsize=16)
def _masses(noise: Noise, most: int) -> tuple[int, Floats]:
    """Return a step h, and P(noise rounded up to h k) for k = -half, ..., half - 1; or (0, none).

    There is room for a sum of ``most`` noises.
    """
    sd = math.sqrt(noise.variance)
    step = max(1, math.floor(sd / _PARTS))
    reach = math.ceil(_REACH * max(sd, 1.0) / step)
    if reach * step > _MOST:
        return 0, np.empty(0)
    room = reach + math.ceil(_SPREAD * max(sd, 1.0) * math.sqrt(most) / step)
    half = 1 << room.bit_length()
    listed = noise.masses(reach * step)  # from -reach * step
    # k stands for the integers from h (k - 1) + 1 to h k.
    padded = np.concatenate([np.zeros(step - 1), listed])
    found = np.zeros(2 * half)
    found[half - reach : half + reach + 1] = padded.reshape(-1, step).sum(axis=1)
    return step, found


@lru_cache(maxsize=64)
def _summed(noise: Noise, most: int, times: int) -> Floats:
    """Return the masses of a sum of ``times`` noises, as those of one."""
    _, masses = _masses(noise, most)
    power = np.fft.rfft(np.fft.ifftshift(masses)) ** times
    found: Floats = np.maximum(np.fft.fftshift(np.fft.irfft(power, len(masses))), 0.0)
    return found


@dataclass(frozen=True, slots=True)
class GridMasses:
    """Masses of consecutive places of a grid, from place ``first`` on; 0 is that of no noise.

    ``above`` are those of each place and all above it, ``lost`` is the probability of what lies
    above the grid.
    """

    first: int
    masses: Floats
    above: Floats
    lost: float

    @classmethod
    def of(cls, first: int, masses: Floats, lost: float) -> GridMasses:
        """Add the masses up, from above."""
        above = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
        return cls(first, masses, np.minimum(above, 1.0), lost)

    def tail(self, places: Integers) -> Floats:
        """Return P(sum >= place), without what is lost."""
        inside = np.minimum(np.maximum(places - self.first, 0), len(self.masses))
        found: Floats = self.above[inside]
        return found


def grid_masses(parts: Sequence[Part], step: float) -> GridMasses:
    """Return the masses of a sum of parts, each rounded up to multiples of a step.

    So a rank is reached at least as often as in truth, but for what is lost. What lies far below
    the grid counts as its lowest place; noise that is too wide to be listed is lost.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import LaplaceNoise
    >>> found = grid_masses([(LaplaceNoise(Fraction(1)), 0.5, 2)], 0.25)
    >>> bool(0.5 < found.tail(np.array([0]))[0] < 0.75)
    True
    """
    spectrum, lost = np.ones(_GRID + 1, dtype=np.complex128), _ROUNDING
    for noise, weight, times in parts:
        if weight > 0 and times:
            part, more = _spectrum(noise, weight, times, step)
            if part is None:
                return GridMasses.of(0, np.ones(1), 1.0)
            spectrum *= part
            lost += more
    found = np.maximum(np.fft.fftshift(np.fft.irfft(spectrum, 2 * _GRID)), 0.0)
    seen = np.flatnonzero(found > _NOTHING)
    first, last = int(seen[0]), int(seen[-1])
    return GridMasses.of(first - _GRID, found[first : last + 1], lost)


@lru_cache(maxsize=16)
def _spectrum(
    noise: Noise, weight: float, times: int, step: float
) -> tuple[NDArray[np.complex128] | None, float]:
    """Return the transform of a part's masses on a grid, ``None`` if they are not listed."""
    unit, masses = _masses(noise, times)
    if not unit:
        return None, 1.0
    values = np.arange(len(masses)) - len(masses) // 2
    places = np.ceil(values * (weight * unit / step) - _TIES).astype(np.int64)
    there = places < _GRID // 4
    sums = _summed(noise, times, times)
    put = np.bincount(
        np.maximum(places[there], -_GRID // 4) % (2 * _GRID),
        weights=sums[there],
        minlength=2 * _GRID,
    )
    return np.fft.rfft(put), float(sums[~there].sum())
