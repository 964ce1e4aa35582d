"""What one round asks of its clients: the law of an answer, and its place in a message."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.local.public import Words
from modicum.mechanisms.base import Law
from modicum.privacy.event import Event

__all__ = ["Answers", "Round"]

Rows = NDArray[np.int64]


class Round(ABC):
    """A question to many clients; public.

    Every answer is one draw of :meth:`law`, whose event is the same for all values. A row is what
    a round wants to know of a value: integers, shape (k,).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def event(self) -> Event:
        """Privacy event of an answer, for any two values."""

    @property
    @abstractmethod
    def answer(self) -> np.dtype[Any]:
        """Layout of an answer."""

    @abstractmethod
    def law(self, row: Rows, found: Words) -> Law[Any]:
        """Law of the answer of a client, given their row (k,) and their public words (8,)."""

    @abstractmethod
    def stored(self, outcome: Any) -> NDArray[Any]:
        """Return an outcome of the law as an array of one answer."""

    @abstractmethod
    def draw(self, rows: Rows, found: Words, entropy: Entropy) -> NDArray[Any]:
        """Draw the answers of many clients: rows (n, k), words (n, 8)."""

    @abstractmethod
    def possible(self, answers: NDArray[Any], found: Words) -> NDArray[np.bool_]:
        """Tell which answers a client that follows the rules can give."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The accepted answers of a round, and the public words of those who gave them."""

    values: NDArray[Any]
    words: Words
