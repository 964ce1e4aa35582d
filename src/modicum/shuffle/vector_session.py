"""The parties of a mean vector through a shuffler: batches of clients, and the server."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from modicum.errors import BudgetExceeded, InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.local.arguments import integer
from modicum.local.mean_vector import VectorEstimate
from modicum.local.once import Once
from modicum.local.public import words
from modicum.local.round import Answers
from modicum.local.server import Tally
from modicum.local.session import Session
from modicum.local.wire import Announcement, joined, packed, sifted
from modicum.shuffle.mean_vector import MEANS, MeanVector

__all__ = ["VectorBatch", "VectorServer"]


class VectorBatch(Once):
    """Clients of a mean vector; one is a batch of 1.

    Parameters
    ----------
    protocol : MeanVector
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

    __slots__ = ("_answered", "_clients", "_entropy", "_protocol")

    def __init__(self, protocol: MeanVector, clients: int, *, entropy: Entropy = SYSTEM) -> None:
        super().__init__()
        self._protocol, self._entropy = protocol, entropy
        self._clients = integer(clients, "clients", 1)
        self._answered: set[int] = set()

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
        self._check_process()
        protocol, entropy = self._protocol, self._entropy
        said = protocol.understood(announcement)
        rows = protocol.rows(values, said)
        if len(rows) != self._clients:
            raise InvalidArgument(f"{self._clients} clients need as many vectors, got {len(rows)}")
        with self._lock:
            if said.round in self._answered:
                raise BudgetExceeded(f"these clients have answered round {said.round} already")
            # Charged before the first draw.
            self._answered.add(said.round)
        if said.round == MEANS:
            total = protocol.sum
            short = total.rounded(rows, said.parameters[-1], entropy)
            return total.frames(short, entropy)
        # Fresh numbers in each round: they tell nobody which messages are of one client.
        numbers = entropy.words(len(rows))
        found = words(bytes.fromhex(protocol.session), numbers)
        answers = protocol.tree(said.round).draw(rows, found, entropy)
        return packed(said.session, said.round, numbers, answers).tobytes()


class VectorServer(Session[VectorEstimate]):
    """Takes what the shuffler released, round by round. See :class:`VectorBatch`."""

    def __init__(self, protocol: MeanVector) -> None:
        super().__init__(protocol.first())
        self._protocol = protocol
        self._counts: list[int] = []

    def aggregate(self, released: bytes) -> Tally:
        """Take all messages of the present round, which ends with them.

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

        A client who lies may be among those who had to come: an answer that cannot be right is left
        out, and does not end the round of all others.
        """
        asked = self._protocol.tree(said.round)
        ((frames, wrong),) = joined([released], asked.answer)
        kept, reasons = sifted(frames, said.session, said.round)
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
        """Return the mean of the clipped vectors."""
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
