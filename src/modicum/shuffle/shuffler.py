"""The shuffler: takes messages of many people, and passes them on in a random order."""

from __future__ import annotations

from hashlib import blake2b
from threading import Lock

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.local.wire import octets

__all__ = ["Shuffler"]


class Shuffler:
    """Collects the messages of a round, and releases them once, permuted.

    It is trusted to forget who sent what and when, to permute at random, to show nobody the
    messages before, and to have heard of enough people who follow the protocol: it counts messages,
    and cannot tell who is behind them. What it heard before, it does not take again.

    Parameters
    ----------
    size : int
        Bytes of a frame.
    each : int
        Frames of one person; only whole ones are taken.
    least : int
        People without whom nothing is released.
    entropy : Entropy
        Secret by default.

    Examples
    --------
    >>> shuffler = Shuffler(size=2, each=1, least=3)
    >>> shuffler.add(b"aabb"), shuffler.add(b"c"), shuffler.add(b"cc")
    (True, False, True)
    >>> shuffler.add(b"bb")  # again
    False
    >>> sorted(shuffler.release().decode())
    ['a', 'a', 'b', 'b', 'c', 'c']
    """

    __slots__ = ("_each", "_entropy", "_heard", "_held", "_least", "_lock", "_people", "_size")

    def __init__(self, *, size: int, each: int = 1, least: int, entropy: Entropy = SYSTEM) -> None:
        if not all(type(x) is int and x > 0 for x in (size, each, least)):
            raise InvalidArgument(
                "size, each and least must be positive integers, got "
                f"{size!r}, {each!r} and {least!r}"
            )
        self._size, self._each, self._least = size, each, least
        self._entropy = entropy
        self._held: list[bytes] = []
        self._heard: set[bytes] = set()
        self._people = 0
        self._lock = Lock()

    @property
    def people(self) -> int:
        """How many were heard."""
        return self._people

    def add(self, message: bytes) -> bool:
        """Take the frames of one person or several, or none of them.

        Returns
        -------
        bool
            False if the frames are not whole, or if anybody's were heard before, in whatever
            message: a network that sends twice, and somebody who slips in a copy, change nothing.
        """
        data, whole = octets(message), self._size * self._each
        if not data or len(data) % whole:
            return False
        parts = (data[i : i + whole] for i in range(0, len(data), whole))
        names = [blake2b(part, digest_size=16).digest() for part in parts]
        new = set(names)
        with self._lock:
            if len(new) < len(names) or not self._heard.isdisjoint(new):
                return False
            self._heard |= new
            self._held.append(data)
            self._people += len(names)
        return True

    def release(self) -> bytes:
        """Return all frames in a uniformly random order, and forget them but for their digests.

        Raises
        ------
        InvalidArgument
            If fewer people were heard than agreed. The messages stay.
        """
        with self._lock:
            if self._people < self._least:
                raise InvalidArgument(
                    f"only {self._people} people were heard, and {self._least} are needed"
                )
            held, self._held, self._people = self._held, [], 0
        frames = np.frombuffer(b"".join(held), np.dtype((np.void, self._size)))
        # Sorting by independent uniform words permutes uniformly, given that no two are equal.
        keys = self._entropy.words(len(frames))
        while len(np.unique(keys)) < len(keys):
            keys = self._entropy.words(len(frames))
        return frames[np.argsort(keys)].tobytes()
