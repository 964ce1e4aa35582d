"""What travels: parameters and announcements as JSON, answers as frames of a fixed size.

An answer's frame is ``mL``, the version, the round (one byte each), eight bytes that stand for the
session and all its parameters, the client's number (eight bytes) and the answer, little-endian.
Every frame of a round is equally long, whatever the value. Several frames may be joined. An
announcement goes from the server to everybody.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument

_VERSION = 1
_MAGIC = int.from_bytes(b"mL", "little")
_SCHEMA = "modicum.local/1"
_MOST_PARAMETERS = 1 << 16
_CHUNK = 1 << 22  # bytes that are looked at together


class Written(ABC):
    """Public parameters that travel as JSON: the same for everybody."""

    __slots__ = ()

    @abstractmethod
    def written(self) -> dict[str, Any]:
        """Return all that :meth:`to_json` writes."""

    def to_json(self) -> str:
        """The parameters as JSON, for the clients."""
        return json.dumps(self.written(), sort_keys=True, separators=(",", ":"))

    @property
    def tag(self) -> int:
        """64 bits that stand for the session with all its parameters."""
        return int.from_bytes(hashlib.shake_256(self.to_json().encode()).digest(8), "little")


Read = TypeVar("Read", bound=Written)


def reread(text: str | bytes, build: Callable[[dict[str, Any]], Read]) -> Read:
    """Make parameters from their JSON by ``build``, which checks them as it checks arguments.

    The text is refused unless the parameters that were made write the same: so nothing is unknown,
    left out, or other than what follows from the rest.
    """
    try:
        said = json.loads(text)
        made = build(said)
        same = json.loads(made.to_json()) == said
    except (ValueError, KeyError, TypeError, RecursionError):
        same = False
    if not same:
        raise InvalidArgument("this version of modicum does not read this as a protocol")
    return made


@dataclass(frozen=True, slots=True)
class Announcement:
    """What the server sends to everybody before a round.

    ``session`` stands for the session and its parameters; rounds count from 1; ``parameters`` are
    what the answers of earlier rounds led to.
    """

    session: int
    round: int
    parameters: tuple[int, ...] = ()

    def to_bytes(self) -> bytes:
        said = {
            "schema": _SCHEMA,
            "session": f"{self.session:016x}",
            "round": self.round,
            "parameters": list(self.parameters),
        }
        return json.dumps(said, separators=(",", ":")).encode()

    @classmethod
    def read(cls, data: bytes, session: int) -> Self:
        """Read an announcement of this session with these parameters; refuse all others."""
        try:
            said = json.loads(data)
            named = int(said["session"], 16)
            number, parameters = said["round"], said["parameters"]
            known = said["schema"] == _SCHEMA and isinstance(parameters, list)
        except (ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known or len(parameters) > _MOST_PARAMETERS:
            raise InvalidArgument(f"this is not an announcement of the version {_SCHEMA}")
        if any(type(x) is not int for x in (number, *parameters)):
            raise InvalidArgument("an announcement is made of integers")
        if named != session:
            raise InvalidArgument("the announcement belongs to another session or other parameters")
        return cls(session, number, tuple(parameters))


def frame(answer: np.dtype[Any]) -> np.dtype[Any]:
    """The layout of a frame around an answer's layout [local.2]."""
    head = [("magic", "<u2"), ("version", "u1"), ("round", "u1"), ("session", "<u8")]
    return np.dtype([*head, ("client", "<u8"), ("answer", answer)])


def head(session: int, number: int) -> bytes:
    """How every frame of a round begins: all that stands before the client's number."""
    empty = packed(session, number, np.zeros(1, np.uint64), np.zeros(1, np.uint8))
    rest = empty.dtype["client"].itemsize + empty.dtype["answer"].itemsize
    return empty.tobytes()[:-rest]


def packed(
    session: int, number: int, clients: NDArray[np.uint64], answers: NDArray[Any]
) -> NDArray[Any]:
    """The frames of answers, one for each client."""
    frames = np.empty(len(clients), frame(np.dtype((answers.dtype, answers.shape[1:]))))
    frames["magic"], frames["version"], frames["round"] = _MAGIC, _VERSION, number
    frames["session"], frames["client"], frames["answer"] = session, clients, answers
    return frames


def as_bytes(message: object) -> bytes:
    """The bytes of a message; empty if it is not made of bytes."""
    return bytes(message) if isinstance(message, bytes | bytearray | memoryview) else b""


def joined(messages: Iterable[bytes], answer: np.dtype[Any]) -> Iterator[tuple[NDArray[Any], int]]:
    """Yield the frames of messages, many at a time, and how many had a wrong length."""
    layout, wrong = frame(answer), 0
    waiting = bytearray()
    for message in messages:
        data = as_bytes(message)
        if not data or len(data) % layout.itemsize:
            wrong += 1
            continue
        waiting += data
        if len(waiting) >= _CHUNK:
            yield np.frombuffer(waiting, layout), wrong
            waiting, wrong = bytearray(), 0
    yield np.frombuffer(waiting, layout), wrong


def of_round(
    frames: NDArray[Any], session: int, number: int
) -> tuple[NDArray[Any], dict[str, int]]:
    """The frames of this version, session and round, and how many were of another."""
    wanted = {"magic": _MAGIC, "version": _VERSION, "session": session, "round": number}
    refused: dict[str, int] = {}
    for name, value in wanted.items():
        good = frames[name] == value
        reason = "version" if name == "magic" else name
        refused[reason] = refused.get(reason, 0) + int(len(frames) - good.sum())
        frames = frames[good]
    return frames, refused
