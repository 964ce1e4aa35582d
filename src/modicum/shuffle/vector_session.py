"""The parties of a mean vector through a shuffler: batches of clients, and the server."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from modicum.errors import BudgetExceeded, InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.local.mean_vector import VectorEstimate
from modicum.local.once import Once
from modicum.local.public import words
from modicum.local.round import Answers
from modicum.local.server import Tally
from modicum.local.wire import joined, packed, sifted
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
        if clients < 1:
            raise InvalidArgument(f"clients must be positive, got {clients}")
        super().__init__()
        self._protocol, self._clients, self._entropy = protocol, clients, entropy
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


class VectorServer:
    """Takes what the shuffler released, round by round. See :class:`VectorBatch`."""

    def __init__(self, protocol: MeanVector) -> None:
        self._protocol = protocol
        self._said = protocol.first()
        self._counts: list[int] = []
        self._estimate: VectorEstimate | None = None

    @property
    def announcement(self) -> bytes:
        """What clients of the present round have to know."""
        return self._said.to_bytes()

    @property
    def round(self) -> int:
        """The present round."""
        return self._said.round

    @property
    def estimate(self) -> VectorEstimate | None:
        """The result, None before the last round."""
        return self._estimate

    def aggregate(self, released: bytes) -> Tally:
        """Take all messages of the present round, which ends with them.

        Raises
        ------
        InvalidArgument
            If fewer clients than agreed are among them, or only a part of a client's shares; then
            the round goes on. Also if the session is over.
        """
        if self._estimate is not None:
            raise InvalidArgument("the session is over; make a new one")
        if self._said.round == MEANS:
            return self._last(released)
        answers, tally = self._singles(released)
        if not self._protocol.honest <= tally.accepted <= self._protocol.clients:
            raise InvalidArgument(
                f"messages of {tally.accepted} clients can be right: fewer or more than agreed"
            )
        self._counts.append(tally.accepted)
        self._said = self._protocol.closed(self._said, answers)
        return tally

    def _singles(self, released: bytes) -> tuple[Answers, Tally]:
        """Keep the first possible message under each number."""
        asked = self._protocol.tree(self._said.round)
        ((frames, wrong),) = joined([released], asked.answer)
        kept, reasons = sifted(frames, self._said.session, self._said.round)
        refused = Counter[str](reasons)
        found = words(bytes.fromhex(self._protocol.session), kept["client"])
        possible = asked.possible(kept["answer"], found)
        kept, found = kept[possible], found[possible]
        first = np.unique(kept["client"], return_index=True)[1]
        refused.update(length=wrong, answer=int((~possible).sum()), replayed=len(kept) - len(first))
        return (
            Answers(kept["answer"][first], found[first]),
            Tally(len(first), dict(+refused)),
        )

    def _last(self, released: bytes) -> Tally:
        total, vectors = self._protocol.sum, self._protocol.vectors
        *centre, radius = self._said.parameters
        mean, clients, refused = total.mean(released)
        values = vectors.restored(np.array(centre) + mean * radius)
        reach = radius / np.sqrt(vectors.width) * vectors.lattice.step
        first, second = self._counts
        self._estimate = VectorEstimate(
            values, float(reach * total.error(clients)), float(reach), (first, second, clients)
        )
        return Tally(clients, {"share": refused} if refused else {})
