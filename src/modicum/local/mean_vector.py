"""The mean of a vector that each client has: the shifted clipped mean in three rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.local.arguments import integer, length
from modicum.local.cells import BRANCHING
from modicum.local.centres import centres
from modicum.local.gaussian_round import NORM, GaussianRound, clipped
from modicum.local.protocol import Protocol, chosen_session, local_budget, pure_share
from modicum.local.round import Answers
from modicum.local.tree import Tree
from modicum.local.tree_round import TreeRound
from modicum.local.vectors import LARGEST_RADIUS, Vectors
from modicum.local.wire import Announcement
from modicum.privacy.budget import Budget, Number

__all__ = ["MeanVector", "VectorEstimate", "mean_vector"]

_CENTRES, _NORMS, _MEANS = 1, 2, 3
_OCTAVE = 8  # cells of norms in which a norm doubles
_NORM_TREE = Tree(BRANCHING, 4)  # 256 cells: 32 octaves
_SURE = 4.0, 3.5, 2.5  # deviations for the last norms: nodes of 8, 2 and 1/2 octaves


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
        return Vectors(self.seed, self.dimension, self.radius)

    def asked(self, said: Announcement) -> TreeRound | GaussianRound:
        """Return a round, after a look at what was announced."""
        epsilon, width = pure_share(self.budget), self.vectors.width
        centre, rest = said.parameters[:width], said.parameters[width:]
        if said.round == _CENTRES and not said.parameters:
            return TreeRound(self.vectors.places.tree, epsilon, width)
        if self.vectors.central(centre):
            if said.round == _NORMS and len(rest) == 1:
                return TreeRound(_NORM_TREE, epsilon)
            if said.round == _MEANS and len(rest) == 3 and 0 < rest[0] <= LARGEST_RADIUS:
                return GaussianRound(width, self.budget.amount)
        raise InvalidArgument("the announcement does not fit this mean of vectors")

    def rows(self, values: NDArray[np.float64], said: Announcement) -> NDArray[np.int64]:
        """Return cells of rotated coordinates, then of a norm, then clipped vectors."""
        vectors = self.vectors
        shifted = vectors.shifted(values, said.parameters[: vectors.width])
        if said.round == _CENTRES:
            return vectors.places.of_integers(shifted)
        if said.round == _MEANS:
            return clipped(shifted, said.parameters[-3])
        return vectors.norm_cells(shifted, octave=_OCTAVE, cells=_NORM_TREE.cells)[:, None]

    def read(self, values: Any) -> NDArray[np.float64]:
        """Read one vector for each client; a missing coordinate becomes 0."""
        return self.vectors.read(values)

    def closed(self, said: Announcement, answers: Answers) -> Announcement | VectorEstimate:
        """Announce the centre, then the radius, then return the mean."""
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, GaussianRound):
            return self._estimate(said, asked, answers.values)
        if said.round == _CENTRES:
            centre = centres(asked, answers, self.vectors.places)
            return Announcement(said.session, _NORMS, (*centre, count))
        *centre, first = said.parameters
        # [V2] Few lie beyond, and those pull less in more dimensions.
        sure = (*_SURE, max(0.0, 1.5 - 4 / self.vectors.width))
        radius = self.vectors.edge(asked.last_taken(answers, sure=sure), octave=_OCTAVE)
        return Announcement(said.session, _MEANS, (*centre, radius, first, count))

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
    checked = Vectors(b"", dimension, radius)
    budget: Budget = local_budget(None, rho)
    GaussianRound(dimension, budget.amount)  # refuses now what the last round would refuse
    return MeanVector(chosen_session(session), budget, dimension, float(checked.radius))
