"""A mean vector through a shuffler: a centre, a norm, and a sum of clipped vectors in shares.

Two rounds of single messages as in :mod:`modicum.protocols.local.mean_vector`, and one of shares.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.privacy.budget import Budget, Number, approx
from modicum.protocols.local.frequency import TreeRound
from modicum.protocols.local.mean_vector import (
    CENTRES,
    MEANS,
    NORMS,
    VectorEstimate,
    Vectors,
    centres,
    checked_ball,
)
from modicum.protocols.local.parties import OneTimeClients, Session, Tally
from modicum.protocols.local.protocol import (
    Answers,
    Floats,
    Integers,
    chosen_session,
    length,
    words,
)
from modicum.protocols.local.tree import Tree
from modicum.protocols.local.wire import Announcement, frame, head, joined, of_round, packed
from modicum.protocols.shuffle.noise import LARGEST_RATE, Poisson, Polya, skellam_variance
from modicum.protocols.shuffle.shares import ShareFrames, share_count, sum_of_shares
from modicum.protocols.shuffle.shuffler import Shuffled, promised
from modicum.protocols.shuffle.single import single_epsilon

_OCTAVE = 1  # cells of norms in which a norm doubles
_NORM_TREE = Tree(32, 1)
_SURE = 4.0  # standard deviations from which on a norm is believed in
_SPLIT = Fraction(1, 8), Fraction(1, 4), Fraction(5, 8)  # of ε
_FINE = 128  # the norm, in parts of what rounding can add to it
_COIN = 53  # bits of the coin that rounds


@dataclass(frozen=True, slots=True)
class MeanVector(Shuffled):
    """Public parameters of one mean vector. Made by :func:`mean_vector`.

    A client answers all three rounds: two single messages, then shares.

    Parameters
    ----------
    session : str
        32 hexadecimal digits, fresh for every session.
    clients, honest : int
        How many there are at most, and how many at least follow the protocol.
    dimension : int
        Of the vectors.
    radius : float
        A public bound on their norm.
    budget : Budget
        (ε, δ) of a client in all three rounds.

    Examples
    --------
    >>> from modicum import shuffle
    >>> protocol = shuffle.mean_vector(
    ...     dimension=3, radius=1000, epsilon=1, delta="1e-8", clients=10_000
    ... )
    >>> protocol.rounds, [str(part.amount) for part in protocol.parts]
    (3, ['1/8', '1/4', '5/8'])
    """

    dimension: int
    radius: float
    budget: Budget

    schema: ClassVar[str] = "modicum.shuffle.mean_vector/2"

    @property
    def rounds(self) -> int:
        return 3

    @property
    def vectors(self) -> Vectors:
        """The clients' vectors as integers."""
        return Vectors(bytes.fromhex(self.session), self.dimension, self.radius, _OCTAVE)

    @property
    def parts(self) -> tuple[Budget, Budget, Budget]:
        """(ε, δ) of each round; they add up to the budget, [shuffle.15]."""
        one, two, three = (self.budget.amount * part for part in _SPLIT)
        delta = self.budget.delta
        return approx(one, delta / 4), approx(two, delta / 4), approx(three, delta / 2)

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
        return single, single, self.sum.mix.layout.itemsize

    def _frames(self, number: int) -> tuple[int, list[bytes], int]:
        heads = self.sum.mix.heads if number == MEANS else [head(self.tag, number)]
        return self.message_sizes[number - 1], heads, self.honest

    def first(self) -> Announcement:
        """Return the announcement of the first round."""
        return Announcement(self.tag, CENTRES)

    def tree(self, number: int) -> TreeRound:
        """Return what the first or the second round asks of every client.

        Parameters
        ----------
        number : {1, 2}
            The round.

        Returns
        -------
        TreeRound
            A draw about one level of a tree: over a coordinate, or over norms.
        """
        first, second = self.single
        if number == CENTRES:
            return TreeRound(self.vectors.places.tree, first, self.vectors.width)
        return TreeRound(_NORM_TREE, second)

    def closed(self, said: Announcement, answers: Answers) -> Announcement:
        """Announce the centre after the first round, or the radius after the second.

        Parameters
        ----------
        said : Announcement
            Of the round that ended.
        answers : Answers
            What was accepted.

        Returns
        -------
        Announcement
            Of the next round.
        """
        asked, vectors = self.tree(said.round), self.vectors
        if said.round == CENTRES:
            centre = centres(asked, answers, vectors.places)
            return Announcement(said.session, NORMS, tuple(centre))
        oracle, places = asked.oracle(1), np.arange(_NORM_TREE.cells)
        shares = oracle.estimated(answers.values.astype(np.int64), answers.words, places)
        # [shuffle.16] Those beyond a norm are few if together they do not stand out of the noise.
        beyond = np.cumsum(shares[::-1])[::-1]
        noise = np.sqrt(oracle.variance / len(answers.values) * (len(places) - places))
        taken = np.flatnonzero(beyond[1:] > _SURE * noise[1:]) + 1
        place = int(taken[-1]) if len(taken) else 0
        # The upper end of the last such cell, and once more as far: what is near stays whole.
        radius = vectors.edge(place + 2)
        return Announcement(said.session, MEANS, (*said.parameters, radius))

    def error(self, *, distance: float) -> float:
        """Predict the norm of the error that is due to noise and rounding, if all are honest.

        Parameters
        ----------
        distance : float
            From the centre, to which vectors are clipped. It is chosen 2 to 4 times as far as where
            few are left.

        Returns
        -------
        float
            Its L2 norm, in the unit of the data.

        Raises
        ------
        InvalidArgument
            If the distance is not positive.

        Examples
        --------
        >>> from modicum import shuffle
        >>> protocol = shuffle.mean_vector(
        ...     dimension=8, radius=1000, epsilon=1, delta="1e-8", clients=100_000
        ... )
        >>> round(protocol.error(distance=4), 4)
        0.0015
        """
        deviation = self.sum.error(self.clients)
        return length(distance, "distance") * deviation * math.sqrt(self.dimension)

    def parameters(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension,
            "radius": self.radius,
            "epsilon": str(self.budget.amount),
            "delta": str(self.budget.delta),
            "single": [str(x) for x in self.single],
        }

    @classmethod
    def _built(cls, said: dict[str, Any]) -> MeanVector:
        names = ("session", "dimension", "radius", "epsilon", "delta", "clients", "honest")
        return mean_vector(**{name: said[name] for name in names})


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
    dimension, radius
        As for :func:`modicum.protocols.local.mean_vector`.
    epsilon, delta : number
        Budget of a client in all three rounds, whose vector may be replaced by any other: ε of
        0.01 to 10, δ of 1e-12 to 1e-3.
    clients, honest, session
        As for :func:`split_sum`; the honest take part in every round.

    Returns
    -------
    MeanVector
        For :class:`VectorBatch` and :class:`VectorServer`, whose estimate is a
        :class:`~modicum.protocols.local.VectorEstimate`.

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
    budget, people, enough = promised(epsilon, delta, clients, honest)
    ball = checked_ball(dimension, radius)
    return MeanVector(chosen_session(session), people, enough, *ball, budget)


class VectorBatch(OneTimeClients[MeanVector]):
    """Clients of a mean vector; one is a batch of 1.

    Parameters
    ----------
    protocol : MeanVector
        Made by :func:`mean_vector`.
    clients : int
        How many, positive.
    entropy : Entropy
        Secret by default; a seeded one makes the answers public.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import shuffle
    >>> protocol = shuffle.mean_vector(
    ...     dimension=2, radius=100, epsilon=8, delta="1e-6", clients=6000
    ... )
    >>> batch, server = shuffle.VectorBatch(protocol, 6000), shuffle.VectorServer(protocol)
    >>> while server.estimate is None:
    ...     shuffler = protocol.shuffler(server.round)
    ...     taken = shuffler.add(batch.respond(np.full((6000, 2), 7.0), server.announcement))
    ...     tally = server.aggregate(shuffler.release())
    >>> bool(np.abs(server.estimate.values - 7).max() < 1)
    True
    """

    __slots__ = ()

    def respond(self, values: Any, announcement: bytes) -> bytes:
        """Answer a round for all clients, each round once.

        Parameters
        ----------
        values : (n, d) array
            A missing coordinate is answered as 0.
        announcement : bytes
            From the server.

        Returns
        -------
        bytes
            Their messages, one client's after the other's.

        Raises
        ------
        InvalidArgument
            If the announcement is of another session or does not fit the protocol, or if there
            are not as many vectors as clients.
        CopyRefused
            In a process that was forked from the clients' own.
        BudgetExceeded
            If these clients have answered the round already.
        """
        protocol, entropy = self._protocol, self._entropy
        said, vectors = Announcement.read(announcement, protocol.tag), protocol.vectors
        vectors.check(said, counted=False)
        rows = vectors.rows(vectors.read(values), said)
        self._check_count(rows)
        self._charge(said.round, protocol.parts[said.round - 1])
        if said.round == MEANS:
            total = protocol.sum
            short = total.rounded(rows, said.parameters[-1], entropy)
            return total.mix.frames(short, total.noise, entropy)
        # Fresh numbers in each round: they do not show which messages are of one client.
        numbers = entropy.words(len(rows))
        found = words(bytes.fromhex(protocol.session), numbers)
        answers = protocol.tree(said.round).draw(rows, found, entropy)
        return packed(said.session, said.round, numbers, answers).tobytes()


class VectorServer(Session[VectorEstimate]):
    """Takes what the shuffler released, round by round.

    Parameters
    ----------
    protocol : MeanVector
        Made by :func:`mean_vector`.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import shuffle
    >>> protocol = shuffle.mean_vector(
    ...     dimension=2, radius=100, epsilon=8, delta="1e-6", clients=2000
    ... )
    >>> batch, server = shuffle.VectorBatch(protocol, 2000), shuffle.VectorServer(protocol)
    >>> shuffler = protocol.shuffler(server.round)
    >>> taken = shuffler.add(batch.respond(np.full((2000, 2), 7.0), server.announcement))
    >>> server.aggregate(shuffler.release()), server.round
    (Tally(accepted=2000, refused={}), 2)
    """

    def __init__(self, protocol: MeanVector) -> None:
        super().__init__(protocol.first())
        self._protocol = protocol
        self._counts: list[int] = []

    def aggregate(self, released: bytes) -> Tally:
        """Take all messages of the present round, which ends with them.

        Parameters
        ----------
        released : bytes
            What :meth:`Shuffler.release` of the round returned.

        Returns
        -------
        Tally
            How many messages, in the last round clients, were accepted, and why others were
            refused.

        Raises
        ------
        InvalidArgument
            If fewer clients than agreed are among them, or only a part of a client's shares; then
            the round goes on. Also if the session is over.
        """
        with self._lock:
            said = self._open()
            if said.round == MEANS:
                found, tally = self._last(released, said)
                self._ended(found)
                return tally
            answers, tally, came = self._singles(released, said)
            if came < self._protocol.honest or tally.accepted > self._protocol.clients:
                raise InvalidArgument(
                    f"{came} messages are of this round: those of fewer or more than agreed"
                )
            self._counts.append(tally.accepted)
            self._ended(self._protocol.closed(said, answers))
            return tally

    def _singles(self, released: bytes, said: Announcement) -> tuple[Answers, Tally, int]:
        """Keep the first possible message under each number, and count all of the round.

        A client who lies may be among those who had to come: an impossible answer is left out, and
        does not end the round of all others.
        """
        asked = self._protocol.tree(said.round)
        ((frames, wrong),) = joined([released], asked.answer)
        kept, reasons = of_round(frames, said.session, said.round)
        refused, came = Counter[str](reasons), len(kept)
        found = words(bytes.fromhex(self._protocol.session), kept["client"])
        possible = asked.possible(kept["answer"], found)
        kept, found = kept[possible], found[possible]
        first = np.unique(kept["client"], return_index=True)[1]
        refused.update(length=wrong, answer=int((~possible).sum()), replayed=len(kept) - len(first))
        return (
            Answers(kept["answer"][first], found[first]),
            Tally(len(first), dict(+refused)),
            came,
        )

    def _last(self, released: bytes, said: Announcement) -> tuple[VectorEstimate, Tally]:
        total, vectors = self._protocol.sum, self._protocol.vectors
        *centre, radius = said.parameters
        mean, clients, refused = total.mean(released)
        values = vectors.restored(np.array(centre) + mean * radius)
        reach = radius / np.sqrt(vectors.width) * vectors.lattice.step
        first, second = self._counts
        estimate = VectorEstimate(
            values, float(reach * total.error(clients)), float(reach), (first, second, clients)
        )
        return estimate, Tally(clients, {"share": refused} if refused else {})


@dataclass(frozen=True, slots=True)
class VectorSum:
    """Public parameters of the sum of one vector of norm at most 1 of each client."""

    tag: int  # stands for the session with all its parameters
    width: int  # coordinates, at most 2^16
    epsilon: Fraction
    delta: float  # of the noise
    security: int  # shares of a coordinate show more than its sum with probability 2^-security
    clients: int  # at most
    honest: int  # at least

    def __post_init__(self) -> None:
        # A client's part of the noise needs a table.
        _, variance, scale = _scaled(self.width, self.epsilon, self.delta, self.clients)
        if scale is None and variance > 2 * self.honest * LARGEST_RATE:
            raise InvalidArgument(
                f"{self.honest} clients cannot add so much noise: raise epsilon or clients"
            )

    @property
    def norm(self) -> int:
        """K: what a client sends are integers with a norm of at most K."""
        return _scaled(self.width, self.epsilon, self.delta, self.clients)[0]

    @property
    def unit(self) -> float:
        """Steps of a vector of norm 1, so that rounding leads to a norm of at most K."""
        # A relative 2^-30 covers the rounding of floats.
        return (self.norm - math.sqrt(self.width)) * (1 - 2.0**-30)

    @property
    def variance(self) -> float:
        """Variance of a coordinate of the sum, of the noise of ``honest`` clients."""
        return float(_scaled(self.width, self.epsilon, self.delta, self.clients)[1])

    @property
    def noise(self) -> Poisson | Polya:
        """One side of a client's noise of a coordinate."""
        _, variance, scale = _scaled(self.width, self.epsilon, self.delta, self.clients)
        if scale:
            return Polya(Fraction(1, self.honest), 1 / scale)
        return Poisson(Fraction(variance, 2 * self.honest))

    @property
    def bits(self) -> int:
        """Shares are integers modulo 2^bits: more than twice a sum and its noise [shuffle.14]."""
        all_noise = math.sqrt(self.variance * self.clients / self.honest)
        return (2 * (self.clients * self.norm + math.ceil(45 * all_noise) + 60)).bit_length()

    @property
    def shares(self) -> int:
        """Messages of a client about one coordinate."""
        return share_count(self.honest, security=self.security, bits=self.bits)

    @property
    def mix(self) -> ShareFrames:
        """How the noisy integers travel: coordinates are split each on its own, [shuffle.14]."""
        return ShareFrames(b"mV", self.tag, self.width, self.bits, self.shares)

    def error(self, clients: int) -> float:
        """Standard deviation of a coordinate of the mean, where the radius is 1."""
        noise = self.variance * clients / self.honest + clients / 4
        return math.sqrt(noise) / clients / self.unit

    def rounded(self, vectors: Integers, radius: int, entropy: Entropy) -> Integers:
        """Clip vectors to the radius, scale it to :attr:`unit`, and round to integers at random.

        No norm exceeds K: rounding moves each coordinate by less than 1. A vector that is longer
        all the same is replaced by 0. See [shuffle.13].
        """
        x = vectors.astype(np.float64)
        norms = np.sqrt((x * x).sum(axis=1))
        x *= (self.unit / np.maximum(norms, float(radius)))[:, None]
        whole = np.floor(x)
        coins = entropy.words(x.size).reshape(x.shape) >> np.uint64(64 - _COIN)
        u = whole.astype(np.int64) + (coins < (x - whole) * 2.0**_COIN)
        long = (u * u).sum(axis=1) > self.norm**2
        return np.where(long[:, None], 0, u)

    def mean(self, frames: bytes) -> tuple[Floats, int, int]:
        """Add up what the shuffler released: the mean where the radius is 1, clients, refused."""
        table, clients, refused = self.mix.read(frames, least=self.honest, most=self.clients)
        sums = np.array([sum_of_shares(row, self.bits) for row in table], np.float64)
        return sums / clients / self.unit, clients, refused


@functools.lru_cache(maxsize=64)
def _scaled(
    width: int, epsilon: Fraction, delta: float, clients: int
) -> tuple[int, int, Fraction | None]:
    """K, the variance of a coordinate, and the scale if the noise is Laplace.

    K is large enough that rounding lengthens by less than 1 % and adds less than 1/64 of the
    variance: rounding n numbers to integers adds at most n/4, and the noise has at least 16 n.
    """
    norm = 1 << math.ceil(math.log2(_FINE * math.sqrt(width)))
    while True:
        laplace = Fraction(math.isqrt(4 * norm**2 * width) + 1) / epsilon
        skellam = skellam_variance(float(epsilon), delta, distance=2 * norm)
        simple = 2 * laplace**2 <= skellam
        variance = math.ceil(2 * laplace**2) if simple else skellam
        if variance >= 16 * clients:
            return norm, variance, laplace if simple else None
        norm *= 2
