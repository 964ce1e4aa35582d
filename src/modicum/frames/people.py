"""Tables of persons who own many rows: bounded before any statistic sees them.

A statistic sees records, not rows: at most m rows of each person, or one record a person. Which
rule, the privacy unit says; that it bounds a person's share is proved in docs/proofs/unit.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.frames.arrays import ArrayColumn
from modicum.frames.base import Chunk, Floats, Source
from modicum.frames.drawn import DrawnRows
from modicum.frames.fewest import SmallestRows
from modicum.frames.labels import Coder, Dictionary, Label, Moments
from modicum.frames.memory import MemorySource
from modicum.frames.quiet import quiet
from modicum.frames.reader import as_counted, check_asks, read
from modicum.frames.remote import RemoteSource, Scope, scope_of
from modicum.frames.totals import PersonTotals
from modicum.frames.vectors import Column, check_vector_unit, named_columns
from modicum.privacy.unit import Unit
from modicum.steps import Ask
from modicum.summaries.base import Sensitive

__all__ = ["TableReader", "check_unit", "kept_rows", "reader_of"]


class TableReader(Sensitive):
    """Answers reductions from the rows of a source, for one run."""

    __slots__ = ("_source",)

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        """Return summaries in the order of the asks, after one pass."""
        return read(self._source, asks, entropy)


def check_unit(source: Source, unit: Unit) -> None:
    """Check by the schema that a table can tell whose a row is, and in which order.

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData
    """
    if unit.column is not None:
        source.check_label(unit.column)
    if unit.order_by is not None:
        source.check_order(unit.order_by)


def reader_of(
    source: Source, unit: Unit, columns: Sequence[Column], key: int | None = None
) -> TableReader:
    """Return the reader of one run: of rows, or of the records of persons.

    Parameters
    ----------
    source : Source
    unit : Unit
        Checked with :func:`check_unit`.
    columns : sequence of str, Columns or None
        All columns that the run will ask for, as :func:`~modicum.frames.reader.read_as` names them.
    key : int, optional
        Decides which rows are kept at random. Without it a choice is fresh.
    """
    check_vector_unit(unit, columns)
    if unit.column is None:
        return TableReader(source)
    if isinstance(source, RemoteSource):
        return _Remote(source, unit, named_columns(columns))
    if unit.combine is None:
        return _FewRows(source, unit, named_columns(columns), key)
    return _Combined(source, unit)


class _Remote(TableReader):
    """The records of persons in a table whose rows stay where they are."""

    __slots__ = ("_columns", "_remote", "_scope", "_unit")

    def __init__(self, source: RemoteSource, unit: Unit, columns: Sequence[str | None]) -> None:
        super().__init__(source)
        self._remote = source
        self._unit = unit
        self._columns = columns
        self._scope: Scope | None = None

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        check_asks(self._source, asks)
        if self._scope is None:
            self._scope = scope_of(self._unit, self._columns, entropy)
        return self._remote.answer(self._scope, [(0, ask) for ask in asks], entropy)


class _FewRows(TableReader):
    """At most m rows of each person; the same ones for all passes and columns of the run."""

    __slots__ = ("_columns", "_kept", "_key", "_unit")

    def __init__(self, source: Source, unit: Unit, columns: Sequence[str], key: int | None) -> None:
        super().__init__(source)
        self._unit = unit
        self._key = key
        self._columns = columns
        self._kept: Source | None = None

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        check_asks(self._source, asks)
        if self._kept is None:
            self._kept = self._bounded(entropy)
        return read(self._kept, [as_counted(self._source, ask) for ask in asks], entropy)

    def _bounded(self, entropy: Entropy) -> Source:
        rows, kept = kept_rows(self._source, self._unit, self._columns, {}, entropy, self._key)
        return _view(self._source, rows, dict(zip(self._columns, kept, strict=True)))


def kept_rows(
    source: Source,
    unit: Unit,
    columns: Sequence[str],
    labels: Mapping[str, Coder],
    entropy: Entropy,
    key: int | None = None,
) -> tuple[int, list[NDArray[Any]]]:
    """Return at most ``unit.rows`` rows of each person, after one pass.

    Parameters
    ----------
    source : Source
    unit : Unit
        With a column, and no ``combine``.
    columns : sequence of str
    labels : mapping of str to Coder
        Columns of labels to be kept as integers. Ties go to the lowest of them first, so their
        order must be one of the labels, whatever else is in the table.
    entropy : Entropy
    key : int, optional
        As in :func:`reader_of`; only without ``unit.order_by``.

    Returns
    -------
    int
        The number of rows that are left.
    list of arrays
        The labels' integers, and the columns.
    """
    persons = Dictionary()
    rows: DrawnRows | SmallestRows = SmallestRows(unit.rows)
    if key is not None:
        rows = DrawnRows(unit.rows, key, persons)
    with quiet():
        for codes, order, chunk in _rows(source, unit, columns, labels, persons):
            values = [chunk[Label(name)] for name in labels] + [chunk[name] for name in columns]
            if order is not None:
                values = [chunk[order], *values]
            elif key is None:
                values = [entropy.words(len(codes)), *values]
            rows.add(codes, values)
        kept = rows.kept() or [np.empty(0)] * (1 + len(labels) + len(columns))
    return len(kept[0]), kept[1:]


def _rows(
    source: Source,
    unit: Unit,
    columns: Sequence[str],
    labels: Mapping[str, Coder],
    persons: Dictionary,
) -> Iterator[tuple[NDArray[np.int64], str | Label | None, Chunk]]:
    """Read rows: the person of each, by what they are ordered, and the values."""
    person, order = unit.column, unit.order_by
    assert person is not None
    read_columns, coders = list(columns), {**labels, person: persons}
    key: str | Label | None = order
    if order is not None and source.check_order(order) == "moment":
        coders[order], key = Moments(), Label(order)
    elif order is not None and order not in columns:
        read_columns.append(order)
    for chunk in source.chunks(read_columns, coders):
        yield chunk[Label(person)], key, chunk


class _Combined(TableReader):
    """One record a person, made for each column and lattice when it is first asked for."""

    __slots__ = ("_unit", "_views")

    def __init__(self, source: Source, unit: Unit) -> None:
        super().__init__(source)
        self._unit = unit
        self._views: dict[tuple[str | None, Lattice | None], Source] = {}

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        check_asks(self._source, asks)
        asks = [as_counted(self._source, ask) for ask in asks]
        keys = [(ask.column, ask.lattice) for ask in asks]
        with quiet():
            self._combine([key for key in dict.fromkeys(keys) if key not in self._views])
        answers: dict[int, Any] = {}
        for key in dict.fromkeys(keys):
            places = [i for i, each in enumerate(keys) if each == key]
            found = read(self._views[key], [asks[i] for i in places], entropy)
            answers.update(zip(places, found, strict=True))
        return [answers[i] for i in range(len(asks))]

    def _combine(self, wanted: Sequence[tuple[str | None, Lattice | None]]) -> None:
        person, combine = self._unit.column, self._unit.combine
        assert person is not None
        assert combine is not None
        if not wanted:
            return
        persons = Dictionary()
        totals = {key: PersonTotals(key[1]) for key in wanted}
        columns = list(dict.fromkeys(column for column, _ in wanted))
        for chunk in self._source.chunks(columns, {person: persons}):
            for (column, _), sums in totals.items():
                sums.add(chunk[Label(person)], chunk[column])
        for key, sums in totals.items():
            records = sums.records(combine, len(persons))
            values = {} if key[0] is None else {key[0]: records}
            self._views[key] = _view(self._source, len(persons), values)


def _view(source: Source, rows: int, values: dict[str, Floats]) -> Source:
    """Return records in memory, under the name of the engine that holds the rows."""
    columns = {name: ArrayColumn(each) for name, each in values.items()}
    return MemorySource(source.engine, rows, columns.__getitem__, list(columns))
