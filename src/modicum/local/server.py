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
from modicum.local.session import Session
from modicum.local.wire import joined, sifted

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


class Server(Session[Any]):
    """Collects the messages of a session. It is not trusted: messages are private already.

    Several threads may hand over messages, and one may close the round meanwhile.

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
        super().__init__(protocol.first())
        self._protocol = protocol
        self._seen: set[int] = set()
        self._kept: list[tuple[NDArray[Any], Words]] = []

    def aggregate(self, messages: Iterable[bytes]) -> Tally:
        """Take messages of the present round, each one frame or several.

        Nothing in a message raises an error. A client counts once in a session, with its first
        answer that can be right. What is still read when the round is closed is refused.

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
            frames, reasons = sifted(joint, said.session, said.round)
            refused.update(reasons, length=wrong)
            found = self._protocol.public_words(frames["client"])
            mine = self._protocol.round_of(found) == said.round
            possible = asked.possible(frames["answer"], found)
            good = mine & possible
            # Only this needs the lock: whoever comes first with a client's number is heard.
            with self._lock:
                late = not self._still(said)
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
            values = [values for values, _ in self._kept]
            found = [words for _, words in self._kept]
            # An empty array of the right layout stands for a round that nobody answered.
            none = np.empty(0, self._protocol.asked(said).answer)
            answers = Answers(
                np.concatenate([none, *values]),
                np.concatenate([self._protocol.public_words(np.empty(0, np.uint64)), *found]),
            )
            self._kept = []
            self._ended(self._protocol.closed(said, answers))

    def _new(self, clients: NDArray[np.uint64], good: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark the first good frame of each client that was not heard before."""
        new = np.zeros(len(clients), np.bool_)
        for i in np.flatnonzero(good).tolist():
            client = int(clients[i])
            if client not in self._seen:
                self._seen.add(client)
                new[i] = True
        return new
