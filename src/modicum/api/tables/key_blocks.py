"""Keys and their counts, block by block, and what is drawn of them.

A block is a batch of Arrow's columns: those of the key, then ``value``, ``lower`` and ``upper``.
Whatever reads the data before the charge does so in a constructor; ``blocks`` draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms import additive, partition_selection
from modicum.sources import base, counted
from modicum.sources.key_counts import LARGEST, Blocks, FoundKeys, GivenKeys, Kind, tallied
from modicum.sources.record_batches import BLOCK
from modicum.summaries.base import Integers, Sensitive

RELEASED = ("value", "lower", "upper")
_DRAWN = 1 << 18  # counts that are treated at a time


@dataclass(frozen=True, slots=True)
class Draws:
    """What is drawn of counts: noise of one law, and with a curve whether a key is shown."""

    by: Sequence[str]
    noise: additive.Noise
    half_width: int
    at_least: int | None
    curve: partition_selection.KeepCurve | None
    entropy: Entropy

    def kept(self, counts: Integers) -> NDArray[np.bool_]:
        """Draw which keys are shown [bulk.4]; without a curve all are."""
        if self.curve is None:
            return np.ones(len(counts), np.bool_)
        return self.curve.toss_each(counts, self.entropy)

    def noisy(self, keys: Sequence[Any], counts: Integers) -> Any:
        """Draw the noise of the counts of these keys, and leave out small values [bulk.1]."""
        pa = import_module("pyarrow")
        parts = [
            self.noise.added_to(counts[at : at + _DRAWN], self.entropy)
            for at in range(0, len(counts), _DRAWN)
        ]
        value = np.concatenate(parts) if parts else np.empty(0, np.int64)
        ends = (np.maximum(value + half, 0) for half in (-self.half_width, self.half_width))
        columns = [*keys, *map(pa.array, (value, *ends))]
        block = pa.RecordBatch.from_arrays(columns, names=[*self.by, *RELEASED])
        return block if self.at_least is None else block.filter(pa.array(value >= self.at_least))


class KeyBlocks(ABC, Sensitive):
    """Keys and their counts."""

    __slots__ = ()

    @abstractmethod
    def blocks(self, draws: Draws) -> Iterator[Any]:
        """Draw, and yield at least one block, in an order that tells nothing of the rows."""


class GivenBlocks(KeyBlocks):
    """Public keys of a table, in its order; ``read`` yields its batches anew at every call."""

    __slots__ = ("_given", "_read")

    def __init__(
        self, source: base.Source, by: Sequence[str], kinds: Sequence[Kind], read: Blocks
    ) -> None:
        self._read = read
        rows, counts = source, None
        if isinstance(source, counted.CountedTable):
            rows, counts = source.inner, source.counts
        self._given = GivenKeys(read, kinds)
        for codes, n in tallied(rows, by, self._given.coders, counts):
            self._given.add(codes, n)
        self._given.flush()

    def blocks(self, draws: Draws) -> Iterator[Any]:
        for batch in self._read():
            yield draws.noisy(batch.columns, self._given.counts_of(batch))
        self._given.check_read()


class CompleteBlocks(KeyBlocks):
    """The rows of a complete table of counts, in its order; it is read as it is drawn."""

    __slots__ = ("_read",)

    def __init__(self, read: Blocks) -> None:
        self._read = read

    def blocks(self, draws: Draws) -> Iterator[Any]:
        for *keys, counts in (batch.columns for batch in self._read()):
            yield draws.noisy(keys, whole_counts(counts))


class CountedBlocks(KeyBlocks):
    """Keys of a table of counts that are drawn, row by row as it is read; they come in order."""

    __slots__ = ("_kinds", "_label", "_read")

    def __init__(self, read: Blocks, kinds: Sequence[Kind], label: str) -> None:
        self._read, self._kinds, self._label = read, kinds, label

    def blocks(self, draws: Draws) -> Iterator[Any]:
        found = [draws.noisy(no_labels(self._kinds), np.empty(0, np.int64))]
        for batch in self._read():
            keys, counts, there = base.guarded(self._label, lambda: self._plain(batch))  # noqa: B023
            kept = draws.kept(np.where(there, counts, 0))
            mask = import_module("pyarrow").array(kept)
            found.append(draws.noisy([each.filter(mask) for each in keys], counts[kept]))
        return in_order(found, draws.by)

    def _plain(self, batch: Any) -> tuple[list[Any], Integers, NDArray[np.bool_]]:
        """Return the labels, the counts, and which rows have a key."""
        *labels, counts = batch.columns
        types = [each.type for each in no_labels(self._kinds)]
        keys = [each.cast(to, safe=False) for each, to in zip(labels, types, strict=True)]
        there = np.ones(len(batch), np.bool_)
        for each in keys:
            there &= each.is_valid().to_numpy(zero_copy_only=False)
        return keys, whole_counts(counts), there


class FoundBlocks(KeyBlocks):
    """Keys of a table of rows that are drawn; they come in order."""

    __slots__ = ("_found", "_kinds")

    def __init__(self, source: base.Source, by: Sequence[str], kinds: Sequence[Kind]) -> None:
        self._kinds = kinds
        self._found = FoundKeys(kinds)
        for codes, n in tallied(source, by, self._found.coders, None):
            self._found.add(codes, n)
        self._found.flush()

    def blocks(self, draws: Draws) -> Iterator[Any]:
        pa, counts = import_module("pyarrow"), self._found.counts
        types = [each.type for each in no_labels(self._kinds)]
        found = [draws.noisy(no_labels(self._kinds), np.empty(0, np.int64))]
        for start in range(0, len(counts), BLOCK):
            places = start + np.flatnonzero(draws.kept(counts[start : start + BLOCK]))
            labels = zip(self._found.labels(places), types, strict=True)
            found.append(draws.noisy([pa.array(*each) for each in labels], counts[places]))
        return in_order(found, draws.by)


def whole_counts(column: Any) -> Integers:
    """Return integers of 0 to 2^53 from a column of integers; a missing one is 0 [bulk.3]."""
    counts = column.fill_null(0).to_numpy(zero_copy_only=False)
    wide = counts if counts.dtype == np.uint64 else counts.astype(np.int64)
    bounded: Integers = np.clip(wide, 0, LARGEST).astype(np.int64)
    return bounded


def no_labels(kinds: Sequence[Kind]) -> list[Any]:
    """Return empty columns of labels that are drawn."""
    pa = import_module("pyarrow")
    types = {"whole": pa.int64(), "text": pa.string(), "date": pa.date32()}
    return [pa.array([], types.get(kind, pa.timestamp("us"))) for kind in kinds]


def in_order(blocks: Sequence[Any], by: Sequence[str]) -> Iterator[Any]:
    """Yield released rows ordered by key, then by value: not as they were found [bulk.5]."""
    pa, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    table = pa.Table.from_batches(blocks).combine_chunks()
    keys = [(name, "ascending") for name in (*by, RELEASED[0])]
    order = compute.sort_indices(table, sort_keys=keys)
    for start in range(0, max(len(table), 1), BLOCK):
        block = table.take(order.slice(start, BLOCK)).combine_chunks()
        yield pa.RecordBatch.from_arrays(
            [each.combine_chunks() for each in block.columns], schema=block.schema
        )
