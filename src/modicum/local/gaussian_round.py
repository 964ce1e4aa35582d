"""A round about a mean vector: each client's vector, clipped in norm, with Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.gaussian import discrete_gaussian_many
from modicum.local.public import Words
from modicum.local.round import Round
from modicum.mechanisms.additive import Additive, GaussianNoise, gaussian
from modicum.privacy.event import Concentrated, Event

__all__ = ["NORM", "GaussianRound", "clipped"]

NORM = 1 << 16
"""Norm to which vectors are clipped, in units of the grid on which noise is added."""

_TAIL = 2.0**-40


@dataclass(frozen=True, slots=True)
class GaussianRound(Round):
    """The discrete Gaussian mechanism about an integer vector of norm at most :data:`NORM`.

    Parameters
    ----------
    dimension : int
    rho : Fraction
        zCDP of an answer. Below 1e-6 answers would not fit their 32 bits.

    Notes
    -----
    [V1] Any two vectors of the ball lie within 2 NORM of each other: sigma² = 2 NORM²/ρ. A
    coordinate that exceeds NORM by more than noise does with probability 2^-40 is cut there, by
    the client, which is post-processing of the draw; so a server may refuse larger ones.
    """

    dimension: int
    rho: Fraction

    def __post_init__(self) -> None:
        """Refuse what does not fit a frame."""
        if self.rho < Fraction(1, 10**6) or self.dimension < 1:
            raise InvalidArgument(
                f"a round about a vector needs rho of at least 1e-6, got {float(self.rho):g}"
            )

    @property
    def event(self) -> Event:
        """ρ-zCDP."""
        return Concentrated(self.rho)

    @property
    def answer(self) -> np.dtype[Any]:
        """One integer for each coordinate."""
        return np.dtype(("<i4", (self.dimension,)))

    @property
    def noise(self) -> GaussianNoise:
        """Noise of a coordinate."""
        return GaussianNoise(Fraction(2 * NORM**2) / self.rho)

    @property
    def most(self) -> int:
        """Largest coordinate of an answer."""
        return NORM + math.ceil(self.noise.tail_bound(_TAIL))

    @property
    def longest(self) -> int:
        """Norm that an honest answer exceeds with probability below 2^-40.

        Discrete Gaussians are subgaussian, so P(|noise|² > sigma² (d + 2 sqrt(d t) + 2 t)) <= e^-t
        (Hsu, Kakade and Zhang 2012).
        """
        t = -math.log(_TAIL)
        square = self.dimension + 2 * math.sqrt(self.dimension * t) + 2 * t
        return NORM + math.ceil(math.sqrt(float(self.noise.sigma2) * square))

    def law(self, row: NDArray[np.int64], found: Words) -> Additive:
        """Return the law of an answer before it is cut."""
        return gaussian(self._checked(np.atleast_2d(row))[0].tolist(), l2=2 * NORM, rho=self.rho)

    def stored(self, outcome: tuple[int, ...]) -> NDArray[Any]:
        """Cut the coordinates of an outcome."""
        cut = [min(max(x, -self.most), self.most) for x in outcome]
        return np.array([cut], "<i4")

    def draw(self, rows: NDArray[np.int64], found: Words, entropy: Entropy) -> NDArray[Any]:
        """Draw a vector for each client."""
        rows = self._checked(rows)
        noise = discrete_gaussian_many(self.noise.sigma2, rows.size, entropy)
        moved = rows + noise.reshape(rows.shape)
        answers: NDArray[Any] = np.clip(moved, -self.most, self.most).astype("<i4")
        return answers

    def possible(self, answers: NDArray[Any], found: Words) -> NDArray[np.bool_]:
        """Refuse coordinates that no client sends, and norms that next to none does."""
        x = answers.astype(np.float64)
        fits = (np.abs(x) <= self.most).all(axis=1) & (np.linalg.norm(x, axis=1) <= self.longest)
        return np.array(fits)

    def influence(self) -> float:
        """Most that one answer moves the mean in norm, in radii, times those who answer."""
        return 2 * self.longest / NORM

    def _checked(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Replace what is longer than the promise by 0; :func:`clipped` makes no such rows."""
        # The absolute value of -2^63 is negative, and its square 0; squares are read below 2^32.
        long = ((rows > NORM) | (rows < -NORM)).any(axis=1)
        long |= (rows * rows).sum(axis=1) > NORM**2
        return np.where(long[:, None], 0, rows)


def clipped(vectors: NDArray[np.int64], radius: int) -> NDArray[np.int64]:
    """Scale vectors to the grid and into the ball of ``radius``, rounding towards zero.

    Rounding to the nearest integer could lengthen a vector by as much as its own norm.

    Examples
    --------
    >>> import numpy as np
    >>> clipped(np.array([[30, 40], [3, 4]]), 10).tolist()
    [[39321, 52428], [19660, 26214]]
    """
    x = vectors.astype(np.float64)
    norms = np.sqrt((x * x).sum(axis=1))
    # A relative 2^-30 covers the roundings of the norm and of the quotient.
    scale = NORM * (1 - 2.0**-30) / np.maximum(np.maximum(norms, float(radius)), 1.0)
    short: NDArray[np.int64] = np.trunc(x * scale[:, None]).astype(np.int64)
    return short
