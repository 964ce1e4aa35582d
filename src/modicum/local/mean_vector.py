"""The mean of a vector that each client has: the shifted clipped mean in three rounds.

A centre, a norm, and the clipped vectors with Gaussian noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.gaussian import discrete_gaussian_many
from modicum.local.arguments import Flags, Floats, Integers, integer, length
from modicum.local.frequency import TreeRound
from modicum.local.protocol import (
    Answers,
    Protocol,
    Round,
    Words,
    chosen_session,
    local_budget,
    pure_share,
)
from modicum.local.tree import BRANCHING, Tree
from modicum.local.vectors import CENTRES, MEANS, NORMS, VectorEstimate, Vectors, centres
from modicum.local.wire import Announcement
from modicum.mechanisms.additive import Additive, GaussianNoise, gaussian
from modicum.privacy.budget import Number
from modicum.privacy.event import ZCDP, Event

__all__ = ["GaussianRound", "MeanVector", "clipped", "mean_vector"]

_OCTAVE = 8  # cells of norms in which a norm doubles
_NORM_TREE = Tree(BRANCHING, 4)  # 256 cells: 32 octaves
_SURE = 4.0, 3.5, 2.5  # deviations for the last norms: nodes of 8, 2 and 1/2 octaves
_TAIL = 2.0**-40

NORM = 1 << 16
"""Norm to which vectors are clipped, in units of the grid on which noise is added."""


@dataclass(frozen=True, slots=True)
class MeanVector(Protocol):
    """Huang, Liang and Yi (2021), Theorem 7: a centre, a norm, a clipped mean.

    Made by :func:`mean_vector`.
    """

    dimension: int
    radius: float

    kind: ClassVar[str] = "mean_vector"

    @property
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024: each coordinate of a centre needs its own."""
        first, second = min(96 + 7 * self.vectors.width, 384), 80
        return first, second, 1024 - first - second

    @property
    def vectors(self) -> Vectors:
        """The clients' vectors as integers."""
        return Vectors(self.seed, self.dimension, self.radius, _OCTAVE)

    def asked(self, said: Announcement) -> TreeRound | GaussianRound:
        """Return a round, after a look at what was announced."""
        self.vectors.check(said, counted=True)
        epsilon, width = pure_share(self.budget), self.vectors.width
        if said.round == CENTRES:
            return TreeRound(self.vectors.places.tree, epsilon, width)
        if said.round == NORMS:
            return TreeRound(_NORM_TREE, epsilon)
        return GaussianRound(width, self.budget.amount)

    def rows(self, values: Floats, said: Announcement) -> Integers:
        """Return cells of rotated coordinates, then of a norm, then clipped vectors."""
        rows = self.vectors.rows(values, said)
        return clipped(rows, said.parameters[-3]) if said.round == MEANS else rows

    def read(self, values: Any) -> Floats:
        """Read one vector for each client; a missing coordinate becomes 0."""
        return self.vectors.read(values)

    def closed(self, said: Announcement, answers: Answers) -> Announcement | VectorEstimate:
        """Announce the centre, then the radius, then return the mean."""
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, GaussianRound):
            return self._estimate(said, asked, answers.values)
        if said.round == CENTRES:
            centre = centres(asked, answers, self.vectors.places)
            return Announcement(said.session, NORMS, (*centre, count))
        *centre, first = said.parameters
        # [V2] Few lie beyond, and those pull less in more dimensions.
        sure = (*_SURE, max(0.0, 1.5 - 4 / self.vectors.width))
        radius = self.vectors.edge(asked.last_taken(answers, sure=sure))
        return Announcement(said.session, MEANS, (*centre, radius, first, count))

    def _estimate(
        self, said: Announcement, asked: GaussianRound, answers: NDArray[Any]
    ) -> VectorEstimate:
        *centre, radius, first, second = said.parameters
        count, step = len(answers), self.vectors.lattice.step
        root = math.sqrt(self.vectors.width)
        moved, error = np.zeros(self.vectors.width), math.inf
        if count:
            moved = answers.astype(np.float64).mean(axis=0) * (radius / NORM)
            error = math.sqrt(asked.noise.variance / count) * radius / NORM / root * step
        values = self.vectors.restored(np.array(centre) + moved)
        return VectorEstimate(values, error, radius / root * step, (first, second, count))

    def error(self, clients: int, *, distance: float) -> float:
        """Predict the norm of the error that is due to noise.

        Parameters
        ----------
        clients : int
            All those who answer, in any round.
        distance : float
            From the centre, within which nearly all vectors lie.

        Examples
        --------
        >>> from modicum import local
        >>> protocol = local.mean_vector(dimension=8, radius=1000, rho="0.5")
        >>> round(protocol.error(100_000, distance=4), 2)
        0.08
        """
        answers = integer(clients, "clients", 1) * self.shares[-1] / sum(self.shares)
        deviation = (
            2 * length(distance, "distance") / math.sqrt(2 * float(self.budget.amount) * answers)
        )
        return deviation * math.sqrt(self.dimension)

    def parameters(self) -> dict[str, Any]:
        return {"dimension": self.dimension, "radius": self.radius}


def mean_vector(
    *, dimension: int, radius: float, rho: Number, session: str | None = None
) -> MeanVector:
    """Estimate the mean of vectors from one randomised message of each client, in three rounds.

    Parameters
    ----------
    dimension : int
        1 to 2048.
    radius : float
        A public bound on the norm, up to about a million times the spread of the vectors.
        Coordinates beyond it are cut.
    rho : number
        zCDP budget of a client, at least 1e-6, whose vector may be replaced by any other.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    MeanVector
        For :class:`~modicum.local.Client` and :class:`~modicum.local.Server`, whose estimate is a
        :class:`~modicum.local.VectorEstimate`.

    Raises
    ------
    InvalidArgument
        For a bad dimension, radius, session or budget.

    Notes
    -----
    The error is about the diameter of the data times sqrt(d / (ρ n)), once some 2,000 d clients /ρ
    have found the centre (Huang, Liang and Yi 2021, Theorem 7).
    """
    checked = Vectors(b"", dimension, radius, _OCTAVE)
    budget = local_budget(None, rho)
    GaussianRound(dimension, budget.amount)  # refuses now what the last round would refuse
    return MeanVector(chosen_session(session), budget, dimension, float(checked.radius))


@dataclass(frozen=True, slots=True)
class GaussianRound(Round):
    """The discrete Gaussian mechanism about an integer vector of norm at most :data:`NORM`.

    With a zCDP of an answer below 1e-6 it would not fit its 32 bits.

    Notes
    -----
    [V1] Any two vectors of the ball lie within 2 NORM of each other: sigma² = 2 NORM²/ρ. A
    coordinate that exceeds NORM by more than noise does with probability 2^-40 is cut there, by
    the client, which is post-processing of the draw; so a server may refuse larger ones.
    """

    dimension: int
    rho: Fraction

    def __post_init__(self) -> None:
        if self.rho < Fraction(1, 10**6) or self.dimension < 1:
            raise InvalidArgument(
                f"a round about a vector needs rho of at least 1e-6, got {float(self.rho):g}"
            )

    @property
    def event(self) -> Event:
        return ZCDP(self.rho)

    @property
    def answer(self) -> np.dtype[Any]:
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

    def mechanism(self, row: Integers, found: Words) -> Additive:
        """Return the law of an answer before it is cut."""
        return gaussian(self._checked(np.atleast_2d(row))[0].tolist(), l2=2 * NORM, rho=self.rho)

    def stored(self, outcome: tuple[int, ...]) -> NDArray[Any]:
        """Cut the coordinates of an outcome."""
        cut = [min(max(x, -self.most), self.most) for x in outcome]
        return np.array([cut], "<i4")

    def draw(self, rows: Integers, found: Words, entropy: Entropy) -> NDArray[Any]:
        rows = self._checked(rows)
        noise = discrete_gaussian_many(self.noise.sigma2, rows.size, entropy)
        moved = rows + noise.reshape(rows.shape)
        answers: NDArray[Any] = np.clip(moved, -self.most, self.most).astype("<i4")
        return answers

    def possible(self, answers: NDArray[Any], found: Words) -> Flags:
        """Refuse coordinates that no client sends, and norms that next to none does."""
        x = answers.astype(np.float64)
        fits = (np.abs(x) <= self.most).all(axis=1) & (np.linalg.norm(x, axis=1) <= self.longest)
        return np.array(fits)

    def influence(self) -> float:
        """Most that one answer moves the mean in norm, in radii, times those who answer."""
        return 2 * self.longest / NORM

    def _checked(self, rows: Integers) -> Integers:
        """Replace what is longer than the promise by 0; :func:`clipped` makes no such rows."""
        # The absolute value of -2^63 is negative, and its square 0; squares are read below 2^32.
        long = ((rows > NORM) | (rows < -NORM)).any(axis=1)
        long |= (rows * rows).sum(axis=1) > NORM**2
        return np.where(long[:, None], 0, rows)


def clipped(vectors: Integers, radius: int) -> Integers:
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
    short: Integers = np.trunc(x * scale[:, None]).astype(np.int64)
    return short
