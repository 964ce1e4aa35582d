"""Tables of chosen rows and of columns made of others: what is read of them is made row by row.

A view makes of each row of a table at most one row, and what it makes depends on that row and on
public text alone. So a row more or less of the table is at most a row more or less of the view
[view.1], and the rows of a person stay those of that person [view.2]. docs/research/proofs/view.md
has the proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.exact.entropy import Entropy
from modicum.privacy.unit import Unit
from modicum.sources.base import Chunk, Floats, Key, Source, guarded, rows_of
from modicum.sources.conditions.expressions import Columns, Constant, Expression, Leaf, Matches
from modicum.sources.conditions.view import View
from modicum.sources.keys import constant_of
from modicum.sources.labels import Coder, Datetimes, Dictionary, Encoded, Label, Presence
from modicum.sources.reader import RemoteSource, Scope
from modicum.sources.spans import TRUTH, Span
from modicum.sources.types import in_expressions
from modicum.summaries.base import Fetchable, Integers, Read, Sensitive

_DERIVED = "float64"  # the declared type of a column that is made
_TABLE = 1 << 18  # entries of a table of what is joined, besides one a row


def check_view(source: Source, view: View, unit: Unit) -> None:
    """Check by the schema that a view can be made of a table."""
    if not source.is_table:
        raise InvalidArgument("rows are chosen, and columns made, of a table with named columns")
    for name, _ in view.columns:
        if name in {unit.column, unit.order_by}:
            raise InvalidArgument(f"column {name!r} says whose the rows are: it stays as it is")
    for name in view.joined:
        source.check_label(name)
    if view.joined and view.joint in {unit.column, unit.order_by}:
        raise InvalidArgument(
            f"column {view.joint!r} says whose the rows are, and {list(view.joined)} together "
            "would have the same name: rename it"
        )
    for name, made in view.made.items():
        for leaf in made.leaves:
            _check_leaf(source, leaf, made.text, name)
    for leaf in () if view.where is None else view.where.leaves:
        _check_leaf(source, leaf)


def _check_leaf(source: Source, leaf: Leaf, text: str = "", made: str = "") -> None:
    """Check by the schema that a column can be read as an expression does; ``made`` of a text."""
    name = leaf.name
    if leaf.read == "number" and not source.holds_labels(name):
        source.check_values(name)
        return
    kind = source.check_label(name)
    date = kind in {"date", "datetime"}
    fits = {"missing": True, "number": False, "time": date}
    if fits.get(leaf.read, kind != "number" and not date):
        return
    example = "== 'some text'"
    if date or kind == "number":
        example = ">= '2026-01-31'" if date else ">= 18"
    declared = source.declared(name)
    what = f"is declared as {declared}" if declared else "has no declared type"
    word = in_expressions(name)
    advice = f"compare it as in {word} {example}"
    if leaf.read == "time" and kind != "number":
        advice = (
            "a date in a CSV file is text, so write the table to Parquet"
            if not declared
            else "a date in text is no date, so convert the column first"
        ) + f"; or compare the begin of the text, as in starts_with({word}, '2026-01')"
    elif text == word:
        what += f", and a made column such as {made!r} holds numbers"
        advice += ", which is 1 or 0"
    raise UnsupportedData(f"column {name!r} {what}: {advice}")


def view_of(source: Source, view: View, unit: Unit) -> Source:
    """Return the view of a table, wherever its rows are; its text and the schema are checked."""
    check_view(source, view, unit)
    if isinstance(source, RemoteSource):
        return RemoteView(source, view)
    return LocalView(source, view)


class _Viewed(Source):
    """The schema of a view."""

    def __init__(self, source: Source, view: View) -> None:
        made = view.made
        names = dict.fromkeys([*source.names, *made])

        def declared(name: str) -> str:
            return _DERIVED if name in made else source.declared(name)

        super().__init__(source.engine, list(names), declared, label=source.label)
        self._source, self._view, self._made = source, view, made

    @property
    def views(self) -> tuple[View, ...]:
        return self._source.views if self._view.joined else (*self._source.views, self._view)

    @property
    def joined(self) -> tuple[str, ...]:
        return self._view.joined

    @property
    def named(self) -> bool:
        return self._source.named

    @property
    def no_header(self) -> str:
        return self._source.no_header

    def span(self, column: str | None, read: str = "number") -> Span:
        if column is not None and column in self._made:
            made = self._made[column]
            constants = _constants(self._source, made)
            return made.span(self._span_of, constants) if read == "number" else TRUTH
        where = self._view.where
        if column is None or where is None:
            return self._source.span(column, read)
        narrowed = where.where_true(self._span_of, _constants(self._source, where))
        return narrowed.get(Leaf(column, read)) or self._source.span(column, read)

    def span_from(self, column: str | None) -> str:
        if column in self._made:
            return "its expression"
        chosen = self.span(column) != self._source.span(column)
        return "the condition" if chosen else self._source.span_from(column)

    def _span_of(self, leaf: Leaf) -> Span:
        return self._source.span(leaf.name, leaf.read)

    def check(self, column: str | None) -> None:
        if column not in self._made:
            self._source.check(column)

    def check_counted(self, column: str | None) -> None:
        if column not in self._made:
            self._source.check_counted(column)

    def counted(self, column: str) -> str:
        return column if column in self._made else self._source.counted(column)

    def holds_labels(self, column: str | None) -> bool:
        return column not in self._made and self._source.holds_labels(column)

    def check_label(self, name: str) -> str | None:
        if name == self._view.joint:
            return "joined"
        return "number" if name in self._made else self._source.check_label(name)

    def label_type(self, column: str) -> str:
        return _DERIVED if column in self._made else self._source.label_type(column)

    def check_order(self, name: str) -> Literal["number", "datetime"]:
        return "number" if name in self._made else self._source.check_order(name)


class LocalView(_Viewed):
    """A view of a table that is read in this process."""

    def fetchable(self, column: str | None) -> Fetchable | None:
        if self._view.where is not None:
            return None
        if column is None or column not in self._made:
            return self._source.fetchable(column)
        made = self._made[column]
        parts = {
            leaf: self._source.fetchable(leaf.name) if leaf.read == "number" else None
            for leaf in made.leaves
        }
        there = {leaf: part for leaf, part in parts.items() if part is not None}
        if len(there) < len(parts):
            return None
        return _MadeRows(made, there, _constants(self._source, made), self.label)

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterator[Chunk]:
        asked = _Asked(self._source, self._view, columns, labels)
        for chunk in self._source.chunks(asked.numbers, asked.coders):
            yield asked.made(chunk)


class _MadeRows(Sensitive):
    """A made column, any row of which is made of those that its expression names."""

    __slots__ = ("_constants", "_label", "_made", "_parts", "size")

    def __init__(
        self,
        made: Expression,
        parts: Mapping[Leaf, Fetchable],
        constants: Mapping[Leaf | Constant, Any],
        label: str,
    ) -> None:
        self._made, self._parts, self._label = made, parts, label
        self._constants = constants
        self.size = next(iter(parts.values())).size

    def take(self, positions: Integers) -> Floats:
        read: dict[Leaf | Constant, Any] = {
            leaf: part.take(positions) for leaf, part in self._parts.items()
        }
        columns: Columns = {**read, **self._constants}
        return guarded(self._label, lambda: self._made.evaluate(columns, len(positions)))


def _constants(source: Source, *expressions: Expression) -> dict[Leaf | Constant, Any]:
    """What numbers are in the types of the columns of a table that they are compared with."""
    return {
        each: constant_of(source.declared(each.column), np.float64(each.number))
        for expression in expressions
        for each in expression.constants
    }


class _Asked:
    """What is read of a table for some columns and labels of a view."""

    def __init__(
        self,
        source: Source,
        view: View,
        columns: Sequence[str | None],
        labels: Mapping[Label, Coder],
    ) -> None:
        made = view.made
        self._columns, self._where = columns, view.where
        self._labels = dict(labels)
        self._made = {name: made[name] for name in self._named if name in made}
        plain = [each for each in columns if each not in self._made]
        self._joint, self._parts = view.joint, [_JoinedPart(name) for name in view.joined]
        self.coders: dict[Label, Coder] = {
            label: coder
            for label, coder in labels.items()
            if label.name not in self._made and label.name != self._joint
        }
        if any(label.name == self._joint for label in labels):
            self.coders |= {each.label: each.labels for each in self._parts}
        self._leaves: dict[Leaf, str | Label] = {}
        expressions = [*self._made.values(), *filter(None, [self._where])]
        self._constants = _constants(source, *expressions)
        for expression in expressions:
            for leaf in expression.leaves:
                self._leaves[leaf] = self._read(source, leaf)
        numbers = [key for key in self._leaves.values() if isinstance(key, str)]
        self.numbers: list[str | None] = list(dict.fromkeys([*plain, *numbers]))

    @property
    def _named(self) -> list[str]:
        return [
            *(each for each in self._columns if each is not None),
            *(label.name for label in self._labels),
        ]

    def _read(self, source: Source, leaf: Leaf) -> str | Label:
        """Return where a chunk has what a leaf needs, and have it coded if it is labels."""
        if leaf.read == "number":
            return leaf.name
        coder: Coder
        if leaf.read == "missing":
            if source.check_label(leaf.name) == "number":
                return leaf.name
            coder = Presence()
        else:
            coder = Datetimes() if leaf.read == "time" else Matches(leaf)
        label = Label(leaf.name, leaf)
        self.coders[label] = coder
        return label

    def made(self, chunk: Chunk) -> Chunk:
        """Make the chunk of the view."""
        rows = len(next(iter(chunk.values())))
        read: dict[Leaf | Constant, Any] = {
            leaf: self._values(leaf, key, chunk) for leaf, key in self._leaves.items()
        }
        leaves: Columns = {**read, **self._constants}
        chosen = None if self._where is None else self._where.holds(leaves, rows)
        places = None if chosen is None else np.flatnonzero(chosen)
        left = rows if places is None else len(places)

        def kept(values: NDArray[Any]) -> NDArray[Any]:
            return values if places is None else values.take(places)

        found: dict[Key, NDArray[Any]] = {}
        columns = {name: each.evaluate(leaves, rows) for name, each in self._made.items()}
        for name in self._columns:
            if name is None:
                found[None] = rows_of(left)
            else:
                found[name] = kept(columns[name] if name in columns else chunk[name])
        for label, coder in self._labels.items():
            if label.name == self._joint:
                found[label] = coder.codes(_joined(self._parts, chunk, kept))
            elif label.name in columns:
                found[label] = coder.codes(kept(columns[label.name]))
            else:
                found[label] = kept(chunk[label])
        return found

    def _values(self, leaf: Leaf, key: str | Label, chunk: Chunk) -> Floats:
        values = chunk[key]
        if leaf.read == "number":
            # NumPy's exp, log and powers may differ in the last bit in arrays that run backwards.
            return np.ascontiguousarray(values)
        if isinstance(key, str):  # whether a number is missing
            return np.where(np.isnan(values), 1.0, 0.0)
        if leaf.read == "missing":
            return np.where(values == Presence.missing, 1.0, 0.0)
        missing = Datetimes.missing if leaf.read == "time" else Matches.missing
        return np.where(values == missing, np.nan, values.astype(np.float64))


class _JoinedPart:
    """One of the columns that are joined: what codes its labels, and these by their codes."""

    def __init__(self, name: str) -> None:
        self.label = Label(name, "joined")
        self.labels = Dictionary()
        self._keys: list[Any] = []

    def keys(self) -> list[Any]:
        """By code; the last one, at -1, is None."""
        if len(self._keys) <= len(self.labels):
            self._keys = [*self.labels.keys(), None]
        return self._keys


def _joined(
    parts: Sequence[_JoinedPart],
    chunk: Chunk,
    kept: Callable[[NDArray[Any]], NDArray[Any]],
) -> Encoded:
    """Return labels of several columns as tuples; one is missing if one of its parts is."""
    codes = np.stack([kept(chunk[part.label]) for part in parts])
    distinct, places = _distinct(codes)
    places = np.where((codes < 0).any(axis=0), -1, places)
    labels = []
    for part, of in zip(parts, distinct.tolist(), strict=True):
        keys = part.keys()
        labels.append([keys[code] for code in of])
    return Encoded(places, list(zip(*labels, strict=True)))


def _distinct(codes: Integers) -> tuple[Integers, Integers]:
    """Return the distinct columns of codes from -1 on, in order, and which of them each one is.

    As ``numpy.unique(codes, axis=1, return_inverse=True)``, many times as fast: row by row, what is
    distinct so far is numbered anew, so that there are never more numbers than columns.
    """
    places = np.zeros(codes.shape[1], dtype=np.int64)
    for row in codes:
        width = int(row.max(initial=-1)) + 2
        numbers = places * width + (row + 1)
        most = int(numbers.max(initial=0)) + 1
        if most > _TABLE + len(numbers):
            places = np.unique(numbers, return_inverse=True)[1].ravel()
            continue
        there = np.zeros(most, dtype=bool)
        there[numbers] = True
        places = (np.cumsum(there) - 1)[numbers]
    some = np.empty(int(places.max(initial=-1)) + 1, dtype=np.int64)
    some[places] = np.arange(len(places))
    return codes[:, some], places


class RemoteView(_Viewed, RemoteSource):
    """[view.4] A view of a table whose rows stay where they are: every part makes its own."""

    def answer(
        self, scope: Scope, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy
    ) -> list[Any]:
        return self._remote.answer(self._scope(scope), reads, entropy)

    def count_keys(self, scope: Scope, entropy: Entropy) -> dict[Any, int]:
        return self._remote.count_keys(self._scope(scope), entropy)

    def _scope(self, scope: Scope) -> Scope:
        return replace(scope, views=(self._view, *scope.views))

    @cached_property
    def _remote(self) -> RemoteSource:
        assert isinstance(self._source, RemoteSource)
        return self._source

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterable[Chunk]:
        return self._remote.chunks(columns, {**labels})
