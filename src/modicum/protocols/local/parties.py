"""The parties of a session: clients, one or many at once, and the server."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import BudgetExceeded, CopyRefused, InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.exact.rational import as_integer
from modicum.privacy.budget import PURE_KIND, ZCDP_KIND, Budget
from modicum.protocols.local.histogram import Histogram, histogram
from modicum.protocols.local.mean import Mean, mean
from modicum.protocols.local.mean_vector import MeanVector, mean_vector
from modicum.protocols.local.protocol import Answers, Flags, Protocol, Round, Words
from modicum.protocols.local.wire import Announcement, joined, of_round, packed, reread

_AMOUNTS = {PURE_KIND: "epsilon", ZCDP_KIND: "rho"}  # which argument a written amount was


def from_json(text: str) -> Protocol:
    """Read a protocol; look at its ``budget`` before you answer.

    Parameters
    ----------
    text : str
        What ``protocol.to_json()`` wrote, from a server or a file.

    Returns
    -------
    Histogram, Mean or MeanVector
        The same protocol: its session, budget and parameters are those of the text.

    Raises
    ------
    InvalidArgument
        If the text is not a protocol that this version writes.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.mean(within=(0, 100), epsilon="0.5")
    >>> local.from_json(protocol.to_json()) == protocol
    True
    """
    return reread(text, _built)


def _built(said: dict[str, Any]) -> Histogram | Mean | MeanVector:
    common = {"session": said["session"], _AMOUNTS[said["currency"]]: said["amount"]}
    if said["kind"] == MeanVector.kind:
        return mean_vector(dimension=said["dimension"], radius=said["radius"], **common)
    common |= {"within": (said["lo"], said["hi"]), "step": said["step"]}
    if said["kind"] == Mean.kind:
        return mean(**common, search=said["rounds"] == 2)
    return {Histogram.kind: histogram}[said["kind"]](**common)


Plan = TypeVar("Plan")


class OneTimeClients(Generic[Plan]):
    """Clients that answer a round once: neither copied nor sent, nor used in a forked process.

    Entropy is secret by default; a seeded one makes the answers public.
    """

    __slots__ = ("_clients", "_costs", "_entropy", "_lock", "_process", "_protocol")

    def __init__(self, protocol: Plan, clients: int, *, entropy: Entropy = SYSTEM) -> None:
        self._protocol, self._clients = protocol, as_integer(clients, "clients", 1)
        self._entropy, self._lock, self._process = entropy, Lock(), os.getpid()
        self._costs: dict[int, Budget] = {}

    def _check_count(self, rows: NDArray[Any]) -> None:
        if len(rows) != self._clients:
            raise InvalidArgument(f"{self._clients} clients need as many values, got {len(rows)}")

    def _charge(self, number: int, cost: Budget) -> None:
        """Charge for a round, before the first draw; the second time it is refused.

        A forked process has copies of the clients and their budgets, so it is refused too
        [local.1].
        """
        if os.getpid() != self._process:
            raise CopyRefused("clients cannot answer in a forked process: they would answer twice")
        with self._lock:
            if number in self._costs:
                raise BudgetExceeded(f"round {number} has been answered already")
            self._costs[number] = cost

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise CopyRefused("a client's budget is spent once, so a client is neither copied nor sent")


class _Numbered(OneTimeClients[Protocol]):
    """Clients whose random numbers fix which round of a local protocol each answers."""

    __slots__ = ("_numbers", "_rounds", "_words")

    def __init__(self, protocol: Protocol, clients: int, *, entropy: Entropy = SYSTEM) -> None:
        super().__init__(protocol, clients, entropy=entropy)
        self._numbers = entropy.words(self._clients)
        self._words = protocol.public_words(self._numbers)
        self._rounds = protocol.round_of(self._words)

    def _spent(self, number: int) -> Budget:
        """What those have spent who answer a round: nothing, or the whole budget."""
        return self._costs.get(number, Budget(self._protocol.budget.kind, Fraction(0)))

    def _understood(self, announcement: bytes) -> tuple[Announcement, Round]:
        """Check an announcement against what was agreed."""
        protocol = self._protocol
        said = Announcement.read(announcement, protocol.tag)
        if not 1 <= said.round <= protocol.rounds:
            raise InvalidArgument(f"there are {protocol.rounds} rounds, got round {said.round}")
        return said, protocol.asked(said)


class Batch(_Numbered):
    """Many clients that answer together; their messages are those of single clients.

    Prefer :class:`Client` on a device. A batch is for tests, experiments and for a party that
    already holds the values of several people.

    Parameters
    ----------
    protocol : Protocol
        Made by :func:`modicum.protocols.local.histogram`, ``mean`` or ``mean_vector``.
    clients : int
        How many, positive.
    entropy : Entropy
        Secret by default; a seeded one makes the answers public.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import local
    >>> protocol = local.histogram(within=(0, 8), step=1, epsilon=1)
    >>> batch = local.Batch(protocol, 1000)
    >>> server = local.Server(protocol)
    >>> server.aggregate([batch.respond(np.arange(1000) % 8, server.announcement)]).accepted
    1000
    """

    __slots__ = ()

    @property
    def numbers(self) -> NDArray[np.uint64]:
        """Random numbers that stand for the clients in this session."""
        return self._numbers

    @property
    def rounds(self) -> NDArray[np.int64]:
        """The round that each client answers."""
        return self._rounds

    @property
    def spent(self) -> list[Budget]:
        """What each client has spent."""
        return [self._spent(number) for number in self._rounds.tolist()]

    def respond(self, values: Any, announcement: bytes) -> bytes:
        """Answer for all clients whose round it is, in their order.

        Parameters
        ----------
        values : array
            One row for each client of the batch. What is missing becomes a public value.
        announcement : bytes
            From the server.

        Returns
        -------
        bytes
            Their messages, joined.

        Raises
        ------
        InvalidArgument
            If the announcement is of another session or does not fit the protocol, or if there are
            not as many values as clients.
        UnsupportedData
            If the values are no numbers.
        CopyRefused
            In a process that was forked from the clients' own.
        BudgetExceeded
            If these clients have answered already.
        """
        said, asked = self._understood(announcement)
        rows = self._protocol.read(values)
        self._check_count(rows)
        mine = self._rounds == said.round
        self._charge(said.round, asked.event.cost(self._protocol.budget.kind))
        found = self._words[mine]
        answers = asked.draw(self._protocol.rows(rows[mine], said), found, self._entropy)
        return packed(said.session, said.round, self._numbers[mine], answers).tobytes()


class Client(_Numbered):
    """One person's part of a protocol.

    A client answers one round of the session, which its number decides, and spends its whole
    budget on that one draw.

    Parameters
    ----------
    protocol : Protocol
        Read it from the server's JSON with :func:`modicum.protocols.local.from_json`, after a look
        at its budget.
    entropy : Entropy
        Secret by default; a seeded one makes the answer public.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.histogram(within=(0, 8), step=1, epsilon=1)
    >>> client, server = local.Client(protocol), local.Server(protocol)
    >>> message = client.respond(5, server.announcement)
    >>> len(message), client.spent
    (22, pure('1'))
    >>> client.respond(5, server.announcement)
    Traceback (most recent call last):
    modicum.errors.BudgetExceeded: round 1 has been answered already
    """

    __slots__ = ()

    def __init__(self, protocol: Protocol, *, entropy: Entropy = SYSTEM) -> None:
        super().__init__(protocol, 1, entropy=entropy)

    @property
    def number(self) -> int:
        """The random number that stands for the client in this session."""
        return int(self._numbers[0])

    @property
    def round(self) -> int:
        """The round that this client answers."""
        return int(self._rounds[0])

    @property
    def spent(self) -> Budget:
        """Nothing, or the whole budget."""
        return self._spent(self.round)

    def mechanism(self, value: Any, announcement: bytes) -> Any:
        """Return the mechanism of the answer, to audit it; secret, like the value.

        Its ``repr`` shows public parameters only.

        Parameters
        ----------
        value : number or vector
            The person's, as for :meth:`respond`.
        announcement : bytes
            From the server.

        Returns
        -------
        Mechanism
            What :meth:`respond` draws from, once; nothing is charged here.

        Raises
        ------
        InvalidArgument
            If the announcement is of another session or does not fit the protocol, or the value has
            another shape.
        UnsupportedData
            If the value is no number.
        """
        said, asked = self._understood(announcement)
        rows = self._protocol.rows(self._protocol.read(_alone(value)), said)
        return asked.mechanism(rows[0], self._words[0])

    def respond(self, value: Any, announcement: bytes) -> bytes:
        """Answer the server, once, in as many bytes for every value.

        Parameters
        ----------
        value : number or vector
            What the statistic is of; values beyond the range are clipped. A missing value (NaN or
            None) is answered as a public one: silence would tell.
        announcement : bytes
            From the server.

        Returns
        -------
        bytes
            The message, for the server: private already, whoever reads it.

        Raises
        ------
        InvalidArgument
            If the announcement is of another session or round, or does not fit the protocol.
        UnsupportedData
            If the value is no number.
        CopyRefused
            In a process that was forked from the client's own.
        BudgetExceeded
            If the client has answered already.
        """
        said, asked = self._understood(announcement)
        if said.round != self.round:
            raise InvalidArgument(f"this client answers round {self.round}, not {said.round}")
        mechanism = self.mechanism(value, announcement)
        self._charge(said.round, mechanism.event.cost(self._protocol.budget.kind))
        answers = asked.stored(mechanism.sample(self._entropy))
        return packed(said.session, said.round, self._numbers, answers).tobytes()


def _alone(value: Any) -> Any:
    """What :meth:`Protocol.read` takes for a batch of one."""
    if value is np.ma.masked or not isinstance(value, np.ndarray | np.generic):
        return [value]
    return np.asanyarray(value)[None]


Found = TypeVar("Found")


class Session(Generic[Found]):
    """What a server announces, and what it has found. It may be used by several threads."""

    __slots__ = ("_estimate", "_lock", "_said")

    def __init__(self, first: Announcement) -> None:
        self._said = first
        self._estimate: Found | None = None
        self._lock = Lock()

    @property
    def announcement(self) -> bytes:
        """What clients of the present round have to know."""
        return self._said.to_bytes()

    @property
    def round(self) -> int:
        """The present round."""
        return self._said.round

    @property
    def estimate(self) -> Found | None:
        """The result, None before the last round has ended."""
        return self._estimate

    def _open(self) -> Announcement:
        """The present announcement, unless the session is over."""
        if self._estimate is not None:
            raise InvalidArgument("the session is over; make a new one")
        return self._said

    def _ended(self, result: Announcement | Found) -> None:
        """Go on to the next round, or keep the estimate."""
        if isinstance(result, Announcement):
            self._said = result
        else:
            self._estimate = result


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of messages.

    Attributes
    ----------
    accepted : int
        Answers that count.
    refused : mapping of str to int
        By reason: ``length``, ``version``, ``session`` (or other parameters), ``round``, ``client``
        (who answers another round), ``answer`` (impossible) and ``replayed``.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.histogram(within=(0, 8), step=1, epsilon=1)
    >>> server = local.Server(protocol)
    >>> message = local.Client(protocol).respond(5, server.announcement)
    >>> server.aggregate([message, message, b"noise"])
    Tally(accepted=1, refused={'length': 1, 'replayed': 1})
    """

    accepted: int
    refused: Mapping[str, int]


class Server(Session[Any]):
    """Collects the messages of a session. It is not trusted: messages are private already.

    Several threads may hand over messages, and one may close the round meanwhile.

    Parameters
    ----------
    protocol : Protocol
        Made by :func:`modicum.protocols.local.histogram`, ``mean`` or ``mean_vector``.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import local
    >>> protocol = local.mean(within=(-1e6, 1e6), epsilon=4)
    >>> batch, server = local.Batch(protocol, 4000), local.Server(protocol)
    >>> while server.estimate is None:
    ...     message = batch.respond(np.full(4000, 50.0), server.announcement)
    ...     tally = server.aggregate([message, message])
    ...     server.close()
    >>> tally.accepted == tally.refused["replayed"], server.estimate.clients > 2800
    (True, True)
    """

    def __init__(self, protocol: Protocol) -> None:
        super().__init__(protocol.first())
        self._protocol = protocol
        self._seen: set[int] = set()
        self._kept: list[tuple[NDArray[Any], Words]] = []

    def aggregate(self, messages: Iterable[bytes]) -> Tally:
        """Take messages of the present round, each one frame or several.

        Nothing in a message raises an error. A client counts once in a session, with its first
        answer that can be right. What is still read when the round is closed is refused.

        Parameters
        ----------
        messages : iterable of bytes
            What clients returned, in any order and number.

        Returns
        -------
        Tally
            How many were accepted, and why others were refused.

        Raises
        ------
        InvalidArgument
            If the session is over, or for a message that is not in a list.
        """
        said = self._open()
        if isinstance(messages, bytes | bytearray | memoryview | str):
            raise InvalidArgument("aggregate takes several messages: give [message]")
        asked = self._protocol.asked(said)
        accepted, refused = 0, Counter[str]()
        for joint, wrong in joined(messages, asked.answer):
            frames, reasons = of_round(joint, said.session, said.round)
            refused.update(reasons, length=wrong)
            found = self._protocol.public_words(frames["client"])
            mine = self._protocol.round_of(found) == said.round
            possible = asked.possible(frames["answer"], found)
            good = mine & possible
            # Only this needs the lock: whoever comes first with a client's number is heard.
            with self._lock:
                late = self._said is not said or self._estimate is not None
                new = self._new(frames["client"], good & (not late))
                self._kept.append((frames["answer"][new], found[new]))
            refused.update(client=int((~mine).sum()), answer=int((mine & ~possible).sum()))
            refused.update({"round" if late else "replayed": int((good & ~new).sum())})
            accepted += int(new.sum())
        return Tally(accepted, dict(+refused))

    def close(self) -> None:
        """End the round: the next one is announced, or the estimate is there.

        Clients that did not answer are left out; shares and means are of those who did.

        Raises
        ------
        InvalidArgument
            If the session is over.
        """
        with self._lock:
            said = self._open()
            # An empty array of the right layout stands for a round that nobody answered.
            nothing = np.empty(0, self._protocol.asked(said).answer)
            nobody = self._protocol.public_words(np.empty(0, np.uint64))
            values, found = zip((nothing, nobody), *self._kept, strict=True)
            self._kept = []
            answers = Answers(np.concatenate(values), np.concatenate(found))
            self._ended(self._protocol.closed(said, answers))

    def _new(self, clients: NDArray[np.uint64], good: Flags) -> Flags:
        """Mark the first good frame of each client that was not heard before."""
        new = np.zeros(len(clients), np.bool_)
        for i in np.flatnonzero(good).tolist():
            client = int(clients[i])
            if client not in self._seen:
                self._seen.add(client)
                new[i] = True
        return new
