"""A mean vector through a shuffler: a centre, a norm, and a sum of clipped vectors in shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.local.arguments import between, length
from modicum.local.centres import centres
from modicum.local.protocol import chosen_session
from modicum.local.round import Answers
from modicum.local.tree import Tree
from modicum.local.tree_round import TreeRound
from modicum.local.vectors import LARGEST_RADIUS, Vectors
from modicum.local.wire import Announcement, frame, head
from modicum.local.written import Written, reread
from modicum.privacy.budget import Budget, Number
from modicum.shuffle.amplification import single_epsilon
from modicum.shuffle.crowd import crowd
from modicum.shuffle.shuffler import Shuffler
from modicum.shuffle.vector_sum import VectorSum

__all__ = ["CENTRES", "MEANS", "NORMS", "MeanVector", "mean_vector"]

CENTRES, NORMS, MEANS = 1, 2, 3
_OCTAVE = 1  # cells of norms in which a norm doubles
_NORM_TREE = Tree(32, 1)
_SURE = 4.0  # standard deviations from which on a norm is believed in
_SPLIT = Fraction(1, 8), Fraction(1, 4), Fraction(5, 8)  # of ε
_SCHEMA = "modicum.shuffle.mean_vector/1"


@dataclass(frozen=True, slots=True)
class MeanVector(Written):
    """Public parameters of one mean vector. Made by :func:`mean_vector`.

    A client answers all three rounds: two single messages, then shares.
    """

    session: str
    dimension: int
    radius: float
    budget: Budget
    clients: int
    honest: int

    @property
    def vectors(self) -> Vectors:
        """The clients' vectors as integers."""
        return Vectors(bytes.fromhex(self.session), self.dimension, self.radius)

    @property
    def parts(self) -> tuple[Budget, Budget, Budget]:
        """(ε, δ) of each round; they add up to the budget, [M1]."""
        epsilon, delta = self.budget.amount, self.budget.delta
        one, two, three = (epsilon * part for part in _SPLIT)
        return (
            Budget("approx", one, delta / 4),
            Budget("approx", two, delta / 4),
            Budget("approx", three, delta / 2),
        )

    @property
    def single(self) -> tuple[Fraction, Fraction]:
        """ε of a message of the first and the second round, before it is shuffled."""
        first, second, _ = self.parts
        return single_epsilon(first, self.honest), single_epsilon(second, self.honest)

    @property
    def sum(self) -> VectorSum:
        """The third round. Half of its δ is for noise, half for what shares tell."""
        last, width = self.parts[2], self.vectors.width
        lost = (1 + math.exp(last.amount)) * width / (float(last.delta) / 2)
        security = math.ceil(math.log2(lost) + 1e-9)
        delta = float(last.delta) / 2
        return VectorSum(self.tag, width, last.amount, delta, security, self.clients, self.honest)

    @property
    def messages(self) -> tuple[int, int, int]:
        """Messages of a client in each round."""
        return 1, 1, self.sum.shares * self.vectors.width

    @property
    def message_sizes(self) -> tuple[int, int, int]:
        """Bytes of a message in each round."""
        single = frame(self.tree(CENTRES).answer).itemsize
        return single, single, self.sum.frame_size

    def shuffler(self, number: int, *, entropy: Entropy = SYSTEM) -> Shuffler:
        """Return a shuffler for a round, 1 to 3."""
        if number not in (CENTRES, NORMS, MEANS):
            raise InvalidArgument(f"there are 3 rounds, got round {number}")
        size, each = self.message_sizes[number - 1], self.messages[number - 1]
        heads = self.sum.heads if number == MEANS else [head(self.tag, number)]
        return Shuffler(
            size=size,
            each=each,
            least=self.honest,
            most=self.clients,
            heads=heads,
            entropy=entropy,
        )

    def first(self) -> Announcement:
        """Return the announcement of the first round."""
        return Announcement(self.tag, CENTRES)

    def tree(self, number: int) -> TreeRound:
        """Return what the first or the second round asks."""
        first, second = self.single
        if number == CENTRES:
            return TreeRound(self.vectors.places.tree, first, self.vectors.width)
        return TreeRound(_NORM_TREE, second)

    def understood(self, announcement: bytes) -> Announcement:
        """Check an announcement against what was agreed.

        Raises
        ------
        InvalidArgument
            If it is of another session, or does not fit.
        """
        said = Announcement.from_bytes(announcement)
        if said.session != self.tag:
            raise InvalidArgument("the announcement belongs to another session or other parameters")
        width = self.vectors.width
        centre, rest = said.parameters[:width], said.parameters[width:]
        fits = {
            CENTRES: not said.parameters,
            NORMS: not rest,
            MEANS: len(rest) == 1 and 0 < rest[0] <= LARGEST_RADIUS,
        }.get(said.round, False)
        if not fits or (said.round != CENTRES and not self.vectors.central(centre)):
            raise InvalidArgument("the announcement does not fit this mean of vectors")
        return said

    def rows(self, values: Any, said: Announcement) -> Any:
        """Return cells of rotated coordinates, then of a norm, then shifted vectors."""
        vectors = self.vectors
        shifted = vectors.shifted(vectors.read(values), said.parameters[: vectors.width])
        if said.round == CENTRES:
            return vectors.places.of_integers(shifted)
        if said.round == NORMS:
            cells = vectors.norm_cells(shifted, octave=_OCTAVE, cells=_NORM_TREE.cells)
            return cells[:, None]
        return shifted

    def closed(self, said: Announcement, answers: Answers) -> Announcement:
        """Announce the centre, or the radius."""
        asked, vectors = self.tree(said.round), self.vectors
        if said.round == CENTRES:
            centre = centres(asked, answers, vectors.places)
            return Announcement(said.session, NORMS, tuple(centre))
        oracle, places = asked.oracle(1), np.arange(_NORM_TREE.cells)
        shares = oracle.estimated(answers.values.astype(np.int64), answers.words, places)
        # [M2] Those beyond a norm are few if together they do not stand out of the noise.
        beyond = np.cumsum(shares[::-1])[::-1]
        noise = np.sqrt(oracle.variance / len(answers.values) * (len(places) - places))
        taken = np.flatnonzero(beyond[1:] > _SURE * noise[1:]) + 1
        place = int(taken[-1]) if len(taken) else 0
        # The upper end of the last such cell, and once more as far: what is near stays whole.
        radius = vectors.edge(place + 2, octave=_OCTAVE)
        return Announcement(said.session, MEANS, (*said.parameters, radius))

    def error(self, *, distance: float) -> float:
        """Predict the norm of the error that is due to noise and rounding, if all are honest.

        Parameters
        ----------
        distance : float
            From the centre, to which vectors are clipped. It is chosen 2 to 4 times as far as where
            few are left.

        Examples
        --------
        >>> from modicum import shuffle
        >>> protocol = shuffle.mean_vector(
        ...     dimension=8, radius=1000, epsilon=1, delta="1e-8", clients=100_000
        ... )
        >>> round(protocol.error(distance=4), 4)
        0.0015
        """
        return (
            length(distance, "distance") * self.sum.error(self.clients) * math.sqrt(self.dimension)
        )

    def written(self) -> dict[str, Any]:
        """Return all parameters; :meth:`from_json` reads their JSON."""
        return {
            "schema": _SCHEMA,
            "session": self.session,
            "dimension": self.dimension,
            "radius": self.radius,
            "epsilon": str(self.budget.amount),
            "delta": str(self.budget.delta),
            "clients": self.clients,
            "honest": self.honest,
            "single": [str(x) for x in self.single],
        }

    @staticmethod
    def from_json(text: str) -> MeanVector:
        """Read a protocol; look at its ``budget`` and at ``honest`` before you answer.

        Raises
        ------
        InvalidArgument
            If the text is no protocol that this version writes.

        Examples
        --------
        >>> from modicum import shuffle
        >>> protocol = shuffle.mean_vector(
        ...     dimension=2, radius=9, epsilon=1, delta="1e-8", clients=1000
        ... )
        >>> shuffle.MeanVector.from_json(protocol.to_json()) == protocol
        True
        """
        names = ("session", "dimension", "radius", "epsilon", "delta", "clients", "honest")
        return reread(text, lambda said: mean_vector(**{name: said[name] for name in names}))


def mean_vector(
    *,
    dimension: int,
    radius: float,
    epsilon: Number,
    delta: Number,
    clients: int,
    honest: int | None = None,
    session: str | None = None,
) -> MeanVector:
    """Estimate the mean of vectors through a shuffler, nearly as well as a curator, in 3 rounds.

    Parameters
    ----------
    dimension : int
        1 to 2048.
    radius : float
        A public bound on the norm, up to about a million times the spread of the vectors.
        Coordinates beyond it are cut.
    epsilon, delta : number
        Budget of a client in all three rounds, whose vector may be replaced by any other: ε of
        0.01 to 10, δ of 1e-12 to 1e-3.
    clients : int
        How many at most, 100 to 2^24.
    honest : int, optional
        How many at least take part in every round and follow the protocol; by default 9 in 10.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    MeanVector
        For :class:`VectorBatch` and :class:`VectorServer`, whose estimate is a
        :class:`~modicum.local.VectorEstimate`.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Notes
    -----
    Huang, Liang and Yi (2021), Theorem 8: the error is about the diameter of the data times
    sqrt(d log(1/δ)) / (ε n), once some 1,000 d clients have found the centre.

    Examples
    --------
    >>> from modicum import shuffle
    >>> protocol = shuffle.mean_vector(
    ...     dimension=3, radius=1000, epsilon=1, delta="1e-8", clients=10_000
    ... )
    >>> protocol.messages
    (1, 1, 40)
    """
    size = between(epsilon, "epsilon", "0.01", "10")
    small = between(delta, "delta", "1e-12", "1e-3")
    people, enough = crowd(clients, honest)
    reach = float(Vectors(b"", dimension, radius).radius)
    budget = Budget("approx", size, small)
    return MeanVector(chosen_session(session), dimension, reach, budget, people, enough)
