"""What reductions may know of the rows that they are given: randomness, and nothing else."""

from __future__ import annotations

from modicum.errors import UnsupportedData
from modicum.exact.entropy import Entropy
from modicum.summaries.base import Accumulator, Fetchable, Sensitive

__all__ = ["PassingOnce"]


class PassingOnce(Sensitive):
    """Rows that pass once and then are gone. Other kinds of rows derive from it."""

    __slots__ = ("_entropy",)

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    @property
    def entropy(self) -> Entropy:
        """Randomness for secret choices of rows."""
        return self._entropy

    @property
    def fetchable(self) -> Fetchable | None:
        """None: no row is found by its position."""
        return None

    def feed(self, _accumulator: Accumulator[object]) -> None:
        """Refuse a second pass."""
        raise UnsupportedData("these rows pass once")
