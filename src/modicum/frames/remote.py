"""What is asked of tables whose rows stay where they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from modicum.exact.entropy import Entropy
from modicum.frames.base import Source
from modicum.privacy.unit import Unit
from modicum.steps import Ask

__all__ = ["RemoteSource", "Scope", "scope_of"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which records of a table are asked about, in all jobs of a run alike.

    Attributes
    ----------
    unit : Unit
        How many rows of a person are read, and which ones.
    columns : tuple of str
        All columns of numbers that the run reads, if ``unit`` names a column and the rows to keep.
    by : str or None
        The column of keys, if rows are grouped.
    keys : tuple
        The public keys; group i is made of the rows with ``keys[i]``.
    key : int or None
        Decides which rows, or groups, of a person are kept, if they are kept at random.
    """

    unit: Unit = field(default_factory=Unit)
    columns: tuple[str, ...] = ()
    by: str | None = None
    keys: tuple[Hashable, ...] = ()
    key: int | None = field(default=None, repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns to be read as labels."""
        return tuple(each for each in (self.unit.column, self.by) if each is not None)


class RemoteSource(Source):
    """A table that answers reductions where its rows are."""

    @abstractmethod
    def answer(
        self, scope: Scope, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy
    ) -> list[Any]:
        """Answer checked asks, each for the group of that number (0 if rows are not grouped)."""

    @abstractmethod
    def count_keys(self, scope: Scope, by: str, entropy: Entropy) -> dict[Any, int]:
        """Count the rows of every label of a column; sensitive."""


def scope_of(
    unit: Unit,
    columns: Sequence[str | None],
    entropy: Entropy,
    by: str | None = None,
    keys: Sequence[Hashable] = (),
) -> Scope:
    """Return the scope of one run; rows that are kept at random are decided here."""
    if unit.column is None:
        return Scope(unit, (), by, tuple(keys))
    key = entropy.bits(256) if unit.order_by is None else None
    if unit.combine is not None:
        return Scope(unit, (), by, tuple(keys), key)
    named = tuple(sorted({each for each in columns if each is not None}))
    return Scope(unit, named, by, tuple(keys), key)
