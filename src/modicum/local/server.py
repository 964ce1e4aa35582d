"""The server: checks messages, counts them once, and estimates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.local.protocol import Protocol
from modicum.local.public import Words
from modicum.local.round import Answers
from modicum.local.wire import Announcement, joined, sifted

__all__ = ["Server", "Tally"]


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of messages.

    Attributes
    ----------
    accepted : int
    refused : mapping of str to int
        By reason: ``length``, ``version``, ``session`` (or other parameters), ``round``,
        ``client`` (who answers another round), ``answer`` (impossible) and ``replayed``.
    """

    accepted: int
    refused: Mapping[str, int]


class Server:
    """Collects the messages of a session. It is not trusted: messages are private already.

    Parameters
    ----------
    protocol : Protocol

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
        self._protocol = protocol
        self._said = protocol.first()
        self._estimate: Any = None
        self._seen: set[int] = set()
        self._kept: list[tuple[NDArray[Any], Words]] = []

    @property
    def announcement(self) -> bytes:
        """What clients of the present round have to know."""
        return self._said.to_bytes()

    @property
    def round(self) -> int:
        """The present round."""
        return self._said.round

    @property
    def estimate(self) -> Any:
        """The result, None before the last round is closed."""
        return self._estimate

    def aggregate(self, messages: Iterable[bytes]) -> Tally:
        """Take messages of the present round, each one frame or several.

        Nothing in a message raises an error. A client counts once in a session, with its first
        answer that can be right.

        Raises
        ------
        InvalidArgument
            If the session is over, or for a message that is not in a list.
        """
        if self._estimate is not None:
            raise InvalidArgument("the session is over; make a new one")
        if isinstance(messages, bytes | bytearray | memoryview | str):
            raise InvalidArgument("aggregate takes several messages: give [message]")
        asked = self._protocol.asked(self._said)
        accepted, refused = 0, Counter[str]()
        for joint, wrong in joined(messages, asked.answer):
            frames, reasons = sifted(joint, self._said.session, self._said.round)
            refused.update(reasons, length=wrong)
            found = self._protocol.public_words(frames["client"])
            mine = self._protocol.round_of(found) == self._said.round
            possible = asked.possible(frames["answer"], found)
            new = self._new(frames["client"], mine & possible)
            refused.update(
                client=int((~mine).sum()),
                answer=int((mine & ~possible).sum()),
                replayed=int((mine & possible & ~new).sum()),
            )
            accepted += int(new.sum())
            self._kept.append((frames["answer"][new], found[new]))
        return Tally(accepted, dict(+refused))

    def close(self) -> None:
        """End the round: the next one is announced, or the estimate is there.

        Clients that did not answer are left out; shares and means are of those who did.

        Raises
        ------
        InvalidArgument
            If the session is over.
        """
        if self._estimate is not None:
            raise InvalidArgument("the session is over; make a new one")
        asked = self._protocol.asked(self._said)
        values = [values for values, _ in self._kept]
        found = [words for _, words in self._kept]
        # An empty array of the right layout stands for a round that nobody answered.
        none = np.empty(0, asked.answer)
        answers = Answers(
            np.concatenate([none, *values]),
            np.concatenate([self._protocol.public_words(np.empty(0, np.uint64)), *found]),
        )
        self._kept = []
        result = self._protocol.closed(self._said, answers)
        if isinstance(result, Announcement):
            self._said = result
        else:
            self._estimate = result

    def _new(self, clients: NDArray[np.uint64], good: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark the first good frame of each client that was not heard before."""
        new = np.zeros(len(clients), np.bool_)
        for i in np.flatnonzero(good).tolist():
            client = int(clients[i])
            if client not in self._seen:
                self._seen.add(client)
                new[i] = True
        return new
