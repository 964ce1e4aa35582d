"""How far the truth may lie from an answer: independent errors, added up exactly on a grid.

Half-widths do not add up to an interval of the same level, and neither do their squares: the errors
of an answer are Laplace, normal, or of a shape of their own. Here they are added as distributions:
each is rounded up to a grid, so that the sum is exceeded at least as often as it is in truth, and
the grid is fine beside all of them together [population.2].
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.mechanisms.base import Floats
from modicum.releases.release import Interval

_CELLS = 1 << 12  # of the sizes of all errors together
_RAREST = 1e-9
_LARGEST = 2.0**1000  # of a noise, where float64 may hold no more
_RARE = 1e-4  # of a probability of error, for what lies off the grid


class ErrorPart(Protocol):
    """One of several independent errors."""

    def extent(self, rare: float) -> tuple[float, float]:
        """Return ends beyond which it lies with a probability of at most ``rare`` each."""

    def above(self, t: Floats) -> Floats:
        """Upper bounds of P(error > t)."""


class NoisePart(NamedTuple):
    """A known positive multiple of a noise."""

    noise: Noise
    factor: float

    def extent(self, rare: float) -> tuple[float, float]:
        """The same on both sides."""
        most = self.factor * self.noise.tail_bound(2 * rare)
        return -most, most

    def above(self, t: Floats) -> Floats:
        """P(error > -t) is at most 1 - P(error > t), since the noise is symmetric."""
        with np.errstate(over="ignore"):
            sizes = np.minimum(np.abs(t) / self.factor, _LARGEST)
        share = self.noise.above(sizes)
        return np.where(t < 0, 1 - share, share)


class NormalPart(NamedTuple):
    """A mixture of normal errors: their standard deviations, each with a weight."""

    deviations: Floats
    weights: Floats

    def extent(self, rare: float) -> tuple[float, float]:
        """P(N > z) is at most exp(-z²/2) / 2."""
        most = float(self.deviations.max()) * math.sqrt(-2 * math.log(min(2 * rare, 0.5)))
        return -most, most

    def above(self, t: Floats) -> Floats:
        """Average of the normal tails."""
        z = t[:, None] / np.maximum(self.deviations, 1e-300)
        found: Floats = normal_above(z) @ self.weights
        return found


def ball_scales(dimension: int, nodes: int) -> tuple[Floats, Floats]:
    """Return noise in balls along a direction as a mixture of normal errors [regression.5].

    The density exp(-|z|) in d dimensions is that of sqrt(2 G) times a normal vector, G being gamma
    with shape (d + 1) / 2: their characteristic functions are both (1 + |t|²)^(-(d + 1) / 2). Of
    one dimension it is Laplace noise. Returned are standard deviations, of which the mean square is
    1, and weights.

    >>> scales, weights = ball_scales(1, 401)
    >>> round(float(scales**2 @ weights), 4)
    1.0
    """
    shape = (dimension + 1) / 2
    about = math.log(shape) + np.linspace(-12, 8, nodes) / math.sqrt(shape)
    weights = np.exp(shape * about - np.exp(about) - math.lgamma(shape))
    # In standard deviations of a direction: the variance of sqrt(2 G) N is d + 1.
    return np.exp(about / 2) * math.sqrt(2 / (dimension + 1)), weights / weights.sum()


class DiscretePart(NamedTuple):
    """An error of at least 0 that has one of some sizes, each with a probability."""

    sizes: Floats
    probabilities: Floats

    @classmethod
    def of(cls, size: float) -> DiscretePart:
        """Return an error of one size."""
        return cls(np.array([size]), np.array([1.0]))

    def extent(self, rare: float) -> tuple[float, float]:
        """From 0 to the size that is exceeded so rarely."""
        order = np.argsort(self.sizes)
        beyond = 1 - np.cumsum(self.probabilities[order])
        place = min(int(np.searchsorted(-beyond, -rare)), len(order) - 1)
        return 0.0, float(self.sizes[order[place]])

    def above(self, t: Floats) -> Floats:
        """Sum the probabilities of all larger sizes."""
        order = np.argsort(self.sizes)
        upto = np.concatenate([[0.0], np.cumsum(self.probabilities[order])])
        found: Floats = 1 - upto[np.searchsorted(self.sizes[order], t, side="right")]
        return np.clip(found, 0.0, 1.0)


@functools.cache
def _normal_table() -> tuple[Floats, Floats]:
    z = np.arange(-9 * 512, 9 * 512 + 1) / 512
    return z, np.array([math.erfc(each / math.sqrt(2)) / 2 for each in z])


def normal_above(z: Floats) -> Floats:
    """P(N(0, 1) > z) to within 1e-6, which is less beyond 9.

    >>> float(normal_above(np.array([1.959964])).round(4)[0])
    0.025
    """
    found: Floats = np.interp(z, *_normal_table())
    return found


class Reach(NamedTuple):
    """How far the truth may lie beyond an answer on one side: independent parts, and a constant."""

    parts: tuple[ErrorPart, ...]
    more: float = 0.0

    def plus(self, other: Reach) -> Reach:
        """Return the reach of a sum of independent errors."""
        return Reach((*self.parts, *other.parts), self.more + other.more)

    def bound(self, alpha: float) -> float:
        """Return what it exceeds with a probability of at most ``alpha``.

        [population.2] A part within ((i - 1) h, i h] counts as i h, which is no less, and what lies
        off the grid counts as an error. The transform has not the places for the rarest errors:
        their bound is the sum of those of all parts. Errors that float64 does not hold, as of an
        answer in the widest range, have no bound but the ends.
        """
        if alpha < _RAREST:
            each = alpha / max(len(self.parts), 1)
            return sum(part.extent(each)[1] for part in self.parts) + self.more
        rare = _RARE * alpha
        extents = [part.extent(rare) for part in self.parts]
        whole = sum(high - low for low, high in extents)
        if whole <= 0:
            return self.more
        if math.isinf(whole):
            return whole
        h, lost, first = whole / _CELLS, 0.0, 0
        spectra, grids = [], [(math.floor(low / h), math.ceil(high / h)) for low, high in extents]
        size = 1 << (sum(high - low + 1 for low, high in grids)).bit_length()
        for part, (low, high) in zip(self.parts, grids, strict=True):
            places: Floats = np.arange(low, high + 1, dtype=np.float64) * h
            beyond = np.minimum.accumulate(part.above(places))
            masses = -np.diff(beyond, prepend=1.0)
            lost += float(beyond[-1])
            first += low
            spectra.append(np.fft.rfft(masses, size))
        masses = np.fft.irfft(np.prod(spectra, axis=0), size)
        beyond = np.cumsum(masses[::-1])[::-1]  # from each place on
        place = int(np.argmax(beyond <= max(alpha - lost, 0.0)))
        return (first + place - 1) * h + self.more


class ErrorLaw(NamedTuple):
    """The errors of an answer in the unit of the data, on both sides of it.

    They are about a ``centre``, near which the released ``value`` is. ``ends`` are public, and the
    truth is between them. What is bounded, and not added, holds but for a probability of ``spent``.
    """

    value: float
    centre: float
    below: Reach
    above: Reach
    ends: tuple[float, float]
    spent: float

    @classmethod
    def anywhere(cls, lattice: Lattice, value: float) -> ErrorLaw:
        """Return that of an answer that says nothing."""
        nothing = Reach((), 2 * (lattice.hi - lattice.lo))
        return cls(value, value, nothing, nothing, (lattice.lo, lattice.hi), 0.0)

    def interval(self, alpha: float) -> Interval:
        """Return an interval that is missed with a probability of at most alpha > ``spent``.

        It holds the value.
        """
        side, (low, high) = (alpha - self.spent) / 2, self.ends
        return Interval(
            min(max(self.centre - self.below.bound(side), low), self.value),
            max(min(self.centre + self.above.bound(side), high), self.value),
        )

    def minus(self, other: ErrorLaw) -> ErrorLaw:
        """Return the law of a difference of answers with independent errors [population.5]."""
        return ErrorLaw(
            self.value - other.value,
            self.centre - other.centre,
            self.below.plus(other.above),
            self.above.plus(other.below),
            (self.ends[0] - other.ends[1], self.ends[1] - other.ends[0]),
            self.spent + other.spent,
        )


def noise_parts(terms: Sequence[tuple[Noise, float]]) -> tuple[NoisePart, ...]:
    """Return multiples of noises as parts, without those that are 0."""
    return tuple(NoisePart(noise, factor) for noise, factor in terms if factor > 0)
