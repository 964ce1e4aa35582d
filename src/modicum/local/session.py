"""A server's side of a session: rounds, one after the other, and the estimate after the last."""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

from modicum.errors import InvalidArgument
from modicum.local.wire import Announcement

__all__ = ["Session"]

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
        """Return the present announcement, unless the session is over."""
        if self._estimate is not None:
            raise InvalidArgument("the session is over; make a new one")
        return self._said

    def _still(self, said: Announcement) -> bool:
        """Tell whether the round of an announcement goes on."""
        return self._said is said and self._estimate is None

    def _ended(self, result: Announcement | Found) -> None:
        """Go on to the next round, or keep the estimate."""
        if isinstance(result, Announcement):
            self._said = result
        else:
            self._estimate = result
