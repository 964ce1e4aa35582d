"""The shuffler: takes messages of many people, and passes them on in a random order."""

from __future__ import annotations

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy

__all__ = ["Shuffler"]


class Shuffler:
    """Collects the messages of a round, and releases them once, permuted.

    It is trusted to forget who sent what and when, to permute at random, to show nobody the
    messages before, and to have heard of enough people who follow the protocol.

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
    >>> sorted(shuffler.release().decode())
    ['a', 'a', 'b', 'b', 'c', 'c']
    """

    __slots__ = ("_each", "_entropy", "_held", "_least", "_people", "_size")

    def __init__(self, *, size: int, each: int = 1, least: int, entropy: Entropy = SYSTEM) -> None:
        if min(size, each, least) < 1:
            raise InvalidArgument("size, each and least must be positive")
        self._size, self._each, self._least = size, each, least
        self._entropy = entropy
        self._held: list[bytes] = []
        self._people = 0

    @property
    def people(self) -> int:
        """How many were heard."""
        return self._people

    def add(self, message: bytes) -> bool:
        """Take the frames of one person or several; False if they are not whole."""
        whole = self._size * self._each
        if not message or len(message) % whole:
            return False
        self._held.append(message)
        self._people += len(message) // whole
        return True

    def release(self) -> bytes:
        """Return all frames in a uniformly random order, and forget them.

        Raises
        ------
        InvalidArgument
            If fewer people were heard than agreed. The messages stay.
        """
        if self._people < self._least:
            raise InvalidArgument(
                f"only {self._people} people were heard, and {self._least} are needed"
            )
        frames = np.frombuffer(b"".join(self._held), np.dtype((np.void, self._size)))
        self._held, self._people = [], 0
        # Sorting by independent uniform words permutes uniformly, given that no two are equal.
        keys = self._entropy.words(len(frames))
        while len(np.unique(keys)) < len(keys):
            keys = self._entropy.words(len(frames))
        return frames[np.argsort(keys)].tobytes()
