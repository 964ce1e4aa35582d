"""Clients: one person's device, and many of them at once for tests and experiments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import BudgetExceeded, InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.local.arguments import integer
from modicum.local.once import Once
from modicum.local.protocol import Protocol
from modicum.local.round import Round
from modicum.local.wire import Announcement, packed
from modicum.privacy.accountant import total
from modicum.privacy.budget import Budget

__all__ = ["Batch", "Client"]


class Batch(Once):
    """Many clients that answer together; their messages are those of single clients.

    Prefer :class:`Client` on a device. A batch is for tests, experiments and for a party that
    already holds the values of several people.

    Parameters
    ----------
    protocol : Protocol
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

    __slots__ = (
        "_costs",
        "_entropy",
        "_protocol",
        "_rounds",
        "_words",
        "numbers",
    )

    numbers: NDArray[np.uint64]
    """Random numbers that stand for the clients in this session."""

    def __init__(self, protocol: Protocol, clients: int, *, entropy: Entropy = SYSTEM) -> None:
        super().__init__()
        self.numbers = entropy.words(integer(clients, "clients", 1))
        self._protocol, self._entropy = protocol, entropy
        self._words = protocol.public_words(self.numbers)
        self._rounds = protocol.round_of(self._words)
        self._costs: dict[int, Budget] = {}

    @property
    def rounds(self) -> NDArray[np.int64]:
        """The round that each client answers."""
        return self._rounds

    @property
    def spent(self) -> list[Budget]:
        """What each client has spent."""
        nothing = Budget(self._protocol.budget.kind, Fraction(0))
        return [self._costs.get(number, nothing) for number in self._rounds.tolist()]

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
            If the announcement is of another session or does not fit the protocol, or if there
            are not as many values as clients.
        CopyRefused
            In a process that was forked from the clients' own.
        BudgetExceeded
            If these clients have answered already.
        """
        self._check_process()
        said, asked = _understood(self._protocol, announcement)
        rows = self._protocol.read(values)
        if len(rows) != len(self.numbers):
            raise InvalidArgument(
                f"{len(self.numbers)} clients need as many values, got {len(rows)}"
            )
        mine = self._rounds == said.round
        with self._lock:
            if said.round in self._costs:
                raise BudgetExceeded(f"these clients have answered round {said.round} already")
            # Charged before the first draw.
            self._costs[said.round] = total([asked.event], self._protocol.budget.kind)
        found = self._words[mine]
        answers = asked.draw(self._protocol.rows(rows[mine], said), found, self._entropy)
        return packed(said.session, said.round, self.numbers[mine], answers).tobytes()


class Client(Once):
    """One person's part of a protocol.

    A client answers one round of the session, which its number decides, and spends its whole
    budget on that one draw.

    Parameters
    ----------
    protocol : Protocol
        Read it from the server's JSON with :func:`modicum.local.from_json`, after a look at its
        budget.
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
    modicum.errors.BudgetExceeded: this client has answered round 1 already
    """

    __slots__ = (
        "_entropy",
        "_number",
        "_protocol",
        "_round",
        "_spent",
        "_words",
    )

    def __init__(self, protocol: Protocol, *, entropy: Entropy = SYSTEM) -> None:
        super().__init__()
        self._number = entropy.words(1)
        self._protocol, self._entropy = protocol, entropy
        self._words = protocol.public_words(self._number)
        self._round = int(protocol.round_of(self._words)[0])
        self._spent = Budget(protocol.budget.kind, Fraction(0))

    @property
    def number(self) -> int:
        """The random number that stands for the client in this session."""
        return int(self._number[0])

    @property
    def round(self) -> int:
        """The round that this client answers."""
        return self._round

    @property
    def spent(self) -> Budget:
        """Nothing, or the whole budget."""
        return self._spent

    def law(self, value: Any, announcement: bytes) -> Any:
        """Return the law of the answer, to audit it; secret, like the value.

        Its ``repr`` shows public parameters only.
        """
        said, asked = _understood(self._protocol, announcement)
        rows = self._protocol.rows(self._protocol.read(_alone(value)), said)
        return asked.law(rows[0], self._words[0])

    def respond(self, value: Any, announcement: bytes) -> bytes:
        """Answer the server, once.

        Parameters
        ----------
        value : number or array
            What is missing (NaN) is answered as a public value: silence would tell.
        announcement : bytes
            From the server.

        Returns
        -------
        bytes
            As long for every value.

        Raises
        ------
        InvalidArgument
            If the announcement is of another session or round, or does not fit the protocol.
        CopyRefused
            In a process that was forked from the client's own.
        BudgetExceeded
            If the client has answered already.
        """
        self._check_process()
        said, asked = _understood(self._protocol, announcement)
        if said.round != self._round:
            raise InvalidArgument(f"this client answers round {self._round}, not {said.round}")
        law = self.law(value, announcement)
        with self._lock:
            if self._spent.amount:
                raise BudgetExceeded(f"this client has answered round {said.round} already")
            self._spent = total([law.event], self._protocol.budget.kind)
        answers = asked.stored(law.sample(self._entropy))
        return packed(said.session, said.round, self._number, answers).tobytes()


def _alone(value: Any) -> Any:
    """Return what :meth:`Protocol.read` takes for a batch of one."""
    if value is np.ma.masked or not isinstance(value, np.ndarray | np.generic):
        return [value]
    return np.asanyarray(value)[None]


def _understood(protocol: Protocol, announcement: bytes) -> tuple[Announcement, Round]:
    """Check an announcement against what was agreed."""
    said = Announcement.from_bytes(announcement)
    if said.session != protocol.tag:
        raise InvalidArgument("the announcement belongs to another session or other parameters")
    if not 1 <= said.round <= protocol.rounds:
        raise InvalidArgument(f"there are {protocol.rounds} rounds, got round {said.round}")
    return said, protocol.asked(said)
