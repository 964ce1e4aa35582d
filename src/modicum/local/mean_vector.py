"""The mean of a vector that each client has: the shifted clipped mean in three rounds."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.local.cells import BRANCHING, Cells, numbers_of
from modicum.local.gaussian_round import NORM, GaussianRound, clipped
from modicum.local.protocol import Protocol, fresh_session, local_budget, pure_share
from modicum.local.rotation import padded, rotated, unrotated
from modicum.local.round import Answers
from modicum.local.tree import Tree
from modicum.local.tree_round import TreeRound
from modicum.local.wire import Announcement
from modicum.privacy.budget import Budget, Number

__all__ = ["MeanVector", "VectorEstimate", "mean_vector"]

_BITS = 24  # of a coordinate within the radius
_CENTRES, _NORMS, _MEANS = 1, 2, 3
_OCTAVE = 8  # cells of norms in which a norm doubles
_NORM_TREE = Tree(BRANCHING, 4)  # 256 cells: 32 octaves
_SMALLEST = 1 << 20  # the least norm told apart, as a part of the largest median
_SOME, _SURE = 0.5, 4.0  # what is believed in, for a median and for a norm
_LARGEST = 1 << 62  # radius


@dataclass(frozen=True, slots=True, eq=False)
class VectorEstimate:
    """A mean vector from randomised messages.

    Attributes
    ----------
    values : (d,) float array
    standard_error : float
        Of every coordinate, from the noise that was added; not of clipping.
    radius : float
        Distance from the centre to which vectors were clipped.
    clients : tuple of int
        Answers in the three rounds.
    """

    values: NDArray[np.float64]
    standard_error: float
    radius: float
    clients: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MeanVector(Protocol):
    """Huang, Liang and Yi (2021), Theorem 7: medians, a norm, a clipped mean.

    Made by :func:`mean_vector`.
    """

    dimension: int
    radius: float

    kind: ClassVar[str] = "mean_vector"

    @property
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024: a median of each coordinate needs its own."""
        first, second = min(96 + 5 * self._width, 384), 64
        return first, second, 1024 - first - second

    @property
    def lattice(self) -> Lattice:
        """Grid of a coordinate: 2^-24 of the radius."""
        step = math.ldexp(1.0, math.frexp(self.radius)[1] - _BITS)
        return Lattice.within((-self.radius, self.radius), step)

    @property
    def _width(self) -> int:
        return padded(self.dimension)

    @property
    def medians(self) -> Cells:
        """Cells of the median of a rotated coordinate, at most 1024.

        The rotation is not scaled down. A vector of norm R then has coordinates up to R sqrt(d'),
        and beyond 5 R with probability 2 e^-12.5 (Hoeffding): there they are cut, for the median.
        """
        reach = math.ceil(min(5.0, math.sqrt(self._width)) * self.lattice.last)
        return Cells.of(-reach, reach, BRANCHING**5)

    def asked(self, said: Announcement) -> TreeRound | GaussianRound:
        """Return a round, after a look at what was announced."""
        epsilon, size = pure_share(self.budget), len(said.parameters)
        if said.round == _CENTRES and not size:
            return TreeRound(self.medians.tree, epsilon, self._width)
        if all(abs(x) <= self.medians.last for x in said.parameters[: self._width]):
            if said.round == _NORMS and size == self._width + 1:
                return TreeRound(_NORM_TREE, epsilon)
            if (
                said.round == _MEANS
                and size == self._width + 3
                and 0 < said.parameters[-3] <= _LARGEST
            ):
                return GaussianRound(self._width, self.budget.amount)
        raise InvalidArgument("the announcement does not fit this mean of vectors")

    def rows(self, values: NDArray[np.float64], said: Announcement) -> NDArray[np.int64]:
        """Return cells of rotated coordinates, then of a norm, then clipped vectors."""
        q = self.lattice.quantise(values.ravel()).reshape(values.shape)
        turned = rotated(q, self.seed)
        if said.round == _CENTRES:
            return self.medians.of_integers(turned)
        shifted = turned - np.array(said.parameters[: self._width], np.int64)
        if said.round == _MEANS:
            return clipped(shifted, said.parameters[-3])
        norms = np.sqrt((shifted.astype(np.float64) ** 2).sum(axis=1))
        places = np.floor(_OCTAVE * np.log2(np.maximum(norms / self._least_norm, 1.0)))
        cells: NDArray[np.int64] = np.minimum(places, _NORM_TREE.cells - 1).astype(np.int64)
        return cells[:, None]

    @property
    def _least_norm(self) -> float:
        return max(1.0, self.medians.last / _SMALLEST)

    def read(self, values: Any) -> NDArray[np.float64]:
        """Read one vector for each client; a missing coordinate becomes 0."""
        x = numbers_of(values)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise InvalidArgument(
                f"values must have the shape (n, {self.dimension}), got {x.shape}"
            )
        return np.where(np.isnan(x), 0.0, x)

    def closed(self, said: Announcement, answers: Answers) -> Announcement | VectorEstimate:
        """Announce the centre, then the radius, then return the mean."""
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, GaussianRound):
            return self._estimate(said, asked, answers.values)
        if said.round == _CENTRES:
            cells = self.medians
            centre = [
                cells.edge(asked.grown(answers, j, sure=_SOME).rank(0.5))
                for j in range(self._width)
            ]
            return Announcement(said.session, _NORMS, (*centre, count))
        *centre, first = said.parameters
        # [V2] A far quantile would be led astray by places that look taken by chance.
        place = asked.grown(answers, sure=_SURE).rank(0.75)
        radius = math.ceil(self._least_norm * 2 ** (place / _OCTAVE))
        return Announcement(said.session, _MEANS, (*centre, radius, first, count))

    def _estimate(
        self, said: Announcement, asked: GaussianRound, answers: NDArray[Any]
    ) -> VectorEstimate:
        *centre, radius, first, second = said.parameters
        count, step = len(answers), self.lattice.step
        moved = np.zeros(self._width)
        error = math.inf
        if count:
            moved = answers.astype(np.float64).mean(axis=0) * (radius / NORM)
            noise = math.sqrt(asked.noise.variance / count) * radius / NORM
            error = noise / math.sqrt(self._width) * step
        values = unrotated(np.array(centre) + moved, self.seed, self.dimension) * step
        reach = radius / math.sqrt(self._width) * step
        return VectorEstimate(values, error, reach, (first, second, count))

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
        answers = clients * self.shares[-1] / sum(self.shares)
        deviation = 2 * distance / math.sqrt(2 * float(self.budget.amount) * answers)
        return deviation * math.sqrt(self.dimension)

    def parameters(self) -> dict[str, Any]:
        """Return dimension and radius."""
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
        A public bound on the norm, not a tight one. Coordinates beyond it are cut.
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
    The error is about the diameter of the data times sqrt(d / (ρ n)), once some 100 d clients /ρ
    have found the centre (Huang, Liang and Yi 2021, Theorem 7).
    """
    if type(dimension) is not int or not 1 <= dimension <= 2048:
        raise InvalidArgument(f"dimension must be an integer from 1 to 2048, got {dimension!r}")
    number = isinstance(radius, numbers.Real) and not isinstance(radius, bool)
    if not number or not 2.0**-900 < radius < 2.0**900:
        raise InvalidArgument(f"radius must be between 2^-900 and 2^900, got {radius!r}")
    budget: Budget = local_budget(None, rho)
    GaussianRound(dimension, budget.amount)  # refuses now what the last round would refuse
    return MeanVector(session or fresh_session(), budget, dimension, float(radius))
