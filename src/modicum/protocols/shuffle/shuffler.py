"""The shuffler: takes messages of many people, and passes them on in a random order.

Also what all shuffled protocols share: the crowd that they count on, and their text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.exact.rational import as_integer
from modicum.privacy.budget import Budget, Number, approx
from modicum.protocols.local import protocol, wire

_FEWEST, _MOST = 100, 1 << 24
_FEWEST_HONEST = 50


@dataclass(frozen=True, slots=True)
class Shuffled(wire.Written):
    """Public parameters of a protocol whose messages are shuffled.

    Attributes
    ----------
    session : str
        Seed of its public randomness.
    clients, honest : int
        How many there are at most, and how many at least follow the protocol.
    """

    session: str
    clients: int
    honest: int

    schema: ClassVar[str]

    @property
    def rounds(self) -> int:
        """How many rounds a session has."""
        return 1

    def shuffler(self, number: int = 1, *, entropy: Entropy = SYSTEM) -> Shuffler:
        """Return a shuffler for a round, from 1 on.

        Parameters
        ----------
        number : int
            The round, from 1 on.
        entropy : Entropy
            Secret by default; with a seeded one the order is public.

        Returns
        -------
        Shuffler
            It takes frames of this session and round only, of so many people as are agreed.

        Raises
        ------
        InvalidArgument
            If there is no such round.
        """
        if number not in range(1, self.rounds + 1):
            raise InvalidArgument(f"there are {self.rounds} rounds, got round {number}")
        size, heads, least = self._frames(number)
        each, most = len(heads), self.clients
        return Shuffler(size=size, each=each, least=least, most=most, heads=heads, entropy=entropy)

    @abstractmethod
    def _frames(self, number: int) -> tuple[int, list[bytes], int]:
        """The size and the heads of a client's frames, and how many clients are needed."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statistic."""

    def written(self) -> dict[str, Any]:
        """Return all parameters; :meth:`from_json` reads their JSON."""
        common = {"session": self.session, "clients": self.clients, "honest": self.honest}
        return {"schema": self.schema, **common, **self.parameters()}

    @classmethod
    @abstractmethod
    def _built(cls, said: dict[str, Any]) -> Self:
        """The protocol from all that :meth:`written` returns."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a protocol; look at its ``budget`` and at ``honest`` before you answer.

        Parameters
        ----------
        text : str
            What ``protocol.to_json()`` wrote.

        Returns
        -------
        Sum, MeanVector or Single
            The same protocol: of the class that it is called of.

        Raises
        ------
        InvalidArgument
            If the text is not a protocol that this version writes.

        Examples
        --------
        >>> from modicum import shuffle
        >>> protocol = shuffle.split_sum(within=(0, 1), epsilon="0.5", clients=1000)
        >>> shuffle.Sum.from_json(protocol.to_json()) == protocol
        True
        """
        return wire.reread(text, cls._built)


def crowd(clients: object, honest: object) -> tuple[int, int]:
    """Read how many clients there are at most, and how many at least follow the protocol."""
    people = as_integer(clients, "clients", _FEWEST, _MOST)
    if honest is None:
        return people, people * 9 // 10
    return people, as_integer(honest, "honest", _FEWEST_HONEST, people)


def promised(
    epsilon: Number, delta: Number, clients: object, honest: object
) -> tuple[Budget, int, int]:
    """Read what shuffled messages guarantee, and the crowd that they count on."""
    size = protocol.between(epsilon, "epsilon", "0.01", "10")
    small = protocol.between(delta, "delta", "1e-12", "1e-3")
    return approx(size, small), *crowd(clients, honest)


class Shuffler:
    """Collects the messages of a round, and releases them once, permuted.

    It is trusted to forget who sent what and when, to permute at random, to show nobody the
    messages before, and to have heard of enough people who follow the protocol: it counts messages,
    and cannot tell who is behind them. A frame that it heard before, it does not take again; one of
    another kind or session, or a person too many, would spoil everybody's answers, and is not taken
    either.

    Parameters
    ----------
    size : int
        Bytes of a frame.
    each : int
        Frames of one person; only whole ones are taken.
    least : int
        People without whom nothing is released.
    most : int, optional
        People beyond whom nobody is taken.
    heads : sequence of bytes
        How one person's frames begin, in whatever order: ``each`` public texts of one length. No
        more of a frame is read.
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

    __slots__ = (
        "_each",
        "_entropy",
        "_heads",
        "_heard",
        "_least",
        "_lock",
        "_messages",
        "_most",
        "_people",
        "_size",
    )

    def __init__(
        self,
        *,
        size: int,
        each: int = 1,
        least: int,
        most: int | None = None,
        heads: Sequence[bytes] = (),
        entropy: Entropy = SYSTEM,
    ) -> None:
        if not all(type(x) is int and x > 0 for x in (size, each, least)):
            raise InvalidArgument(
                "size, each and least must be positive integers, got "
                f"{as_given(size)}, {as_given(each)} and {as_given(least)}"
            )
        if most is not None and (type(most) is not int or most < least):
            raise InvalidArgument(
                f"most must be an integer of at least {least}, got {as_given(most)}"
            )
        self._size, self._each, self._least, self._most = size, each, least, most
        self._heads = _table(heads, size, each)
        self._entropy = entropy
        self._messages: list[bytes] = []
        self._heard: set[bytes] = set()
        self._people = 0
        self._lock = Lock()

    @property
    def people(self) -> int:
        """How many were heard."""
        return self._people

    def add(self, message: bytes) -> bool:
        """Take the frames of one person or several, or none of them.

        Parameters
        ----------
        message : bytes
            What a batch or a client returned: whole frames.

        Returns
        -------
        bool
            False if the frames are not whole or begin otherwise than agreed, if there would be more
            people than agreed, or if any frame was heard before, with whatever others and in
            whatever order: a network that sends twice, and somebody who slips in a copy of a part
            of a person's frames, change nothing.
        """
        data, whole = wire.as_bytes(message), self._size * self._each
        if not data or len(data) % whole:
            return False
        # Sorted, since a person's frames mean the same in any order.
        frames = np.frombuffer(data, np.dtype(("S", self._size))).reshape(-1, self._each)
        begin = np.sort(frames, axis=1).view(np.uint8).reshape(*frames.shape, self._size)
        if not (begin[..., : self._heads.shape[1]] == self._heads).all():
            return False
        # Frame by frame: of parts of a person's frames, each with others, all would be new.
        single: list[Any] = frames.view(np.dtype((np.void, self._size))).ravel().tolist()
        new = {blake2b(each, digest_size=16).digest() for each in single}
        with self._lock:
            if len(new) < len(single) or not self._heard.isdisjoint(new):
                return False
            if self._most is not None and self._people + len(frames) > self._most:
                return False
            self._heard |= new
            self._messages.append(data)
            self._people += len(frames)
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
            taken, self._messages, self._people = self._messages, [], 0
        frames = np.frombuffer(b"".join(taken), np.dtype((np.void, self._size)))
        # Sorting by independent uniform words permutes uniformly, given that no two are equal.
        keys = self._entropy.words(len(frames))
        while len(np.unique(keys)) < len(keys):
            keys = self._entropy.words(len(frames))
        return frames[np.argsort(keys)].tobytes()


def _table(heads: Sequence[bytes], size: int, each: int) -> NDArray[np.uint8]:
    """How sorted frames begin, shape (each, bytes): sorted frames have sorted heads."""
    if not heads:
        return np.empty((each, 0), np.uint8)
    lengths = {len(head) for head in heads}
    if len(heads) != each or len(lengths) != 1 or not 0 < max(lengths) <= size:
        raise InvalidArgument(f"heads must be {each} texts of one length, of at most {size} bytes")
    return np.frombuffer(b"".join(sorted(heads)), np.uint8).reshape(each, -1)
