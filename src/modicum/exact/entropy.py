"""The only source of randomness: the operating system, or a seed in tests and plans."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from modicum.errors import CopyRefused, InvalidArgument

_WORD = 64
_BLOCK = 512  # words fetched at a time: 4 KB, so that a system call costs about 1 % of a draw


class Entropy(ABC):
    """A stream of independent uniform 64-bit words; all other draws are made of them."""

    __slots__ = ()

    secret: ClassVar[bool]
    """Whether an adversary cannot predict the words."""

    @abstractmethod
    def word(self) -> int:
        """Return one integer, uniform in [0, 2^64)."""

    @abstractmethod
    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent words, shape (count,)."""

    def bits(self, k: int) -> int:
        """Return an integer uniform in [0, 2^k), k >= 0."""
        if k <= _WORD:
            return self.word() >> (_WORD - k)
        value = 0
        for _ in range(k // _WORD):
            value = value << _WORD | self.word()
        rest = k % _WORD
        return value << rest | self.word() >> (_WORD - rest) if rest else value

    def below(self, n: int) -> int:
        """Return an integer uniform in [0, n), n >= 1.

        Values of the right bit length are drawn until one is below n; given that it is, it is
        uniform. Fewer than two are needed on average.
        """
        if n < 1:
            raise InvalidArgument(f"n must be at least 1, got {n}")
        k = (n - 1).bit_length()
        if k <= _WORD:
            word, shift = self.word, _WORD - k
            value = word() >> shift
            while value >= n:
                value = word() >> shift
            return value
        value = self.bits(k)
        while value >= n:
            value = self.bits(k)
        return value

    def below_many(self, n: int, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent integers uniform in [0, n), 1 <= n <= 2^64."""
        if not 1 <= n <= 1 << _WORD:
            raise InvalidArgument(f"n must be between 1 and 2^64, got {n}")
        if n == 1:
            return np.zeros(count, np.uint64)
        k = (n - 1).bit_length()
        shift, largest = np.uint64(_WORD - k), np.uint64(n - 1)
        kept: list[NDArray[np.uint64]] = []
        missing = count
        while missing:
            # The share kept is n / 2^k > 1/2; ask for a little more than the mean number.
            drawn = self.words((missing << k) // n + (missing >> 6) + 8) >> shift
            good = drawn[drawn <= largest][:missing]
            kept.append(good)
            missing -= len(good)
        return np.concatenate(kept) if kept else np.zeros(0, np.uint64)


class _Buffer(threading.local):
    """Words fetched from the operating system and not used yet, for one thread."""

    def __init__(self) -> None:
        self.drop()

    def drop(self) -> None:
        self.stream: Iterator[int] = iter(())

    def refill(self) -> int:
        self.stream = iter(memoryview(os.urandom(8 * _BLOCK)).cast("Q").tolist())
        return next(self.stream)


_buffer = _Buffer()

# A forked child must not replay its parent's words. Only the thread that forked lives on in the
# child, and new threads start with a buffer of their own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_buffer.drop)


class SystemEntropy(Entropy):
    """Secret randomness from the operating system (``os.urandom``), and from nothing else.

    Words are fetched in blocks and buffered per thread. A forked child drops the buffer. Copies
    and pickles are refused. Objects of this class hold nothing; :data:`SYSTEM` is one of them.

    Examples
    --------
    >>> SYSTEM.secret, 0 <= SYSTEM.below(6) < 6
    (True, True)
    """

    __slots__ = ()

    secret: ClassVar[bool] = True

    def word(self) -> int:
        value = next(_buffer.stream, None)
        return _buffer.refill() if value is None else value

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return fresh words; they never enter the buffer."""
        return np.frombuffer(os.urandom(8 * count), np.uint64)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise CopyRefused("secret entropy cannot be copied or pickled; use modicum's SYSTEM there")


def expanded(seed: bytes, length: int) -> bytes:
    """Return the first bytes of SHAKE-256 of a seed."""
    digest: bytes = _shake_256()(seed).digest(length)
    return digest


@cache
def _shake_256() -> Callable[[bytes], Any]:
    function: Callable[[bytes], Any] = import_module("hashlib").shake_256
    return function


class SeededEntropy(Entropy):
    """Reproducible words, SHAKE-256 of a seed (an integer or text).

    It is for tests and plans, never for a private release.

    Examples
    --------
    >>> SeededEntropy(1).below(1000) == SeededEntropy(1).below(1000)
    True
    """

    __slots__ = ("_blocks", "_seed", "_stream")

    secret: ClassVar[bool] = False

    def __init__(self, seed: int | str) -> None:
        self._seed = repr(seed).encode()
        self._blocks = 0
        self._stream: Iterator[int] = iter(())

    def word(self) -> int:
        value = next(self._stream, None)
        if value is None:
            self._stream = iter(self.words(_BLOCK).tolist())
            value = next(self._stream)
        return value

    def words(self, count: int) -> NDArray[np.uint64]:
        digest = expanded(self._seed + b"/%d" % self._blocks, 8 * count)
        self._blocks += 1
        return np.frombuffer(digest, "<u8").astype(np.uint64, copy=False)


SYSTEM = SystemEntropy()
