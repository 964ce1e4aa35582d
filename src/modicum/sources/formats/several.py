"""Several files as one table: what a list, a pattern or a folder of them holds.

A column that some files lack, or declare as of type null, is missing there: so come the exports of
each month. A folder called ``year=2026`` makes a column ``year`` of the rows below it. The names of
files and folders, and their schemas, are public.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import PurePath
from typing import Literal

import numpy as np

from modicum.errors import InvalidArgument, MissingColumn, SourceError
from modicum.sources import base
from modicum.sources.formats.numerals import Numbers
from modicum.sources.keys import zoned
from modicum.sources.labels import Encoded, LabelValues, Text, label_items
from modicum.sources.types import is_null, is_number, label_kind

_FOLDER = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_NOTHING = {"", "__HIVE_DEFAULT_PARTITION__"}
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_INTEGER = re.compile(r"u?int\d*|bool(ean)?|u?(tiny|small|big|huge)int|u?integer")


@dataclass(frozen=True, slots=True)
class OneFile:
    """A file, its name in messages, and what the names of its folders say of its rows."""

    source: base.StreamSource
    name: str
    folders: Mapping[str, str | None] = field(default_factory=dict)

    def declared(self, column: str) -> str | None:
        """The declared type of a column, ``None`` if it has no values here."""
        if column not in self.source.names:
            return None
        declared = self.source.declared(column)
        return None if is_null(declared) else declared


def folders_of(below: PurePath) -> dict[str, str | None]:
    """Return what the names of folders say, of a file's path below the one that was named.

    Examples
    --------
    >>> folders_of(PurePath("year=2026/region=New%20York/0.parquet"))
    {'year': '2026', 'region': 'New York'}
    """
    unquote = import_module("urllib.parse").unquote
    found = (_FOLDER.fullmatch(name) for name in below.parts[:-1])
    pairs = ((each[1], unquote(each[2])) for each in found if each is not None)
    return {name: None if text in _NOTHING else text for name, text in pairs}


class SeveralFiles(base.StreamSource):
    """The rows of one file after the other; ``parts`` are of one engine, at least one."""

    def __init__(self, parts: Sequence[OneFile], label: str) -> None:
        engine = parts[0].source.engine
        if any(part.source.engine != engine for part in parts):
            raise InvalidArgument(
                f"{label}: the files are of several kinds: write them as Parquet, or all as CSV"
            )
        self._parts = tuple(parts)
        columns = dict.fromkeys(name for part in parts for name in part.source.names)
        folders = dict.fromkeys(name for part in parts for name in part.folders)
        self._folders = {
            name: [part.folders.get(name) for part in parts]
            for name in folders
            if name not in columns
        }
        untyped = engine == "csv"
        super().__init__(
            engine, [*columns, *self._folders], None if untyped else self._type, label=label
        )
        self._counted = "#" * (1 + max(map(len, self.names), default=0)) if untyped else ""

    def _type(self, column: str) -> str:
        """The type of a column in all files; of several types of numbers, one for all of them."""
        if column in self._folders:
            return "int64" if self._whole(column) else "string"
        declared = list(dict.fromkeys(filter(None, self._types(column))))
        if len(declared) > 1 and all(map(is_number, declared)):
            whole = all(_INTEGER.fullmatch(each.lower()) for each in declared)
            return "int128" if whole else "double"
        return declared[0] if declared else "null"

    def _types(self, column: str) -> list[str | None]:
        return [part.declared(column) for part in self._parts]

    def _whole(self, folder: str) -> bool:
        """Whether all that folders are called is whole numbers."""
        return all(each is None or _WHOLE.fullmatch(each) for each in self._folders[folder])

    def _check_alike(self, column: str | None) -> None:
        """Refuse a column whose files declare it as of different kinds."""
        if column is None:
            return
        for part in self._parts:
            if column in part.source.shared:
                raise SourceError(
                    f"not all files of {self._label} declare {column!r} once: {part.name!r} has "
                    "several of that name"
                )
        if self._counted or column in self._folders:
            return
        first: tuple[str, str] | None = None
        for part, declared in zip(self._parts, self._types(column), strict=True):
            if declared is None:
                continue
            if first is None:
                first = part.name, declared
            elif _kind(declared) != _kind(first[1]):
                raise SourceError(
                    f"not all files of {self._label} declare {column!r} alike: it is {first[1]} in "
                    f"{first[0]!r} and {declared} in {part.name!r}; write both as one type"
                )

    @property
    def named(self) -> bool:
        return all(part.source.named for part in self._parts)

    @property
    def no_header(self) -> str:
        return next(filter(None, (part.source.no_header for part in self._parts)), "")

    def _missing(self, column: str) -> MissingColumn:
        """Say of a header that may be no header what its file would say."""
        if self._counted and column not in self._folders:
            unsure = (part.source for part in self._parts if not part.source.named)
            return next(unsure, self._parts[0].source)._missing(column)  # noqa: SLF001
        return super()._missing(column)

    def check(self, column: str | None) -> None:
        self._check_alike(column)
        super().check(column)

    def check_label(self, name: str) -> str | None:
        self._check_alike(name)
        return super().check_label(name)

    def check_order(self, name: str) -> Literal["number", "datetime"]:
        self._check_alike(name)
        return super().check_order(name)

    def check_counted(self, column: str | None) -> None:
        self._check_alike(column)
        if self._counted:
            self.check(column)
        else:
            super().check_counted(column)

    def counted(self, column: str) -> str:
        return self._counted + column

    def holds_labels(self, column: str | None) -> bool:
        if self._counted:
            return column is not None and column.startswith(self._counted)
        return super().holds_labels(column)

    def about_rows(self) -> int | None:
        rows = [part.source.about_rows() for part in self._parts]
        return None if None in rows else sum(filter(None, rows))

    def _count(self) -> int:
        return sum(part.source._count() for part in self._parts)  # noqa: SLF001

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[base.TableBatch]:
        for column in {*columns, *(name.removeprefix(self._counted) for name in labels)}:
            self._check_alike(column)
        for place, part in enumerate(self._parts):
            floats = [name for name in columns if part.declared(name) is not None]
            bare = [name.removeprefix(self._counted) for name in labels]
            there = [name for name in bare if part.declared(name) is not None]
            asked = [
                part.source.counted(name) if given != name else name
                for given, name in zip(labels, bare, strict=True)
                if name in there
            ]
            rounded = {name for name in there if self._is_rounded(name, part)}
            if len(floats) == len(columns) and len(there) == len(labels) and not rounded:
                yield from part.source._batches(floats, asked)  # noqa: SLF001
                continue
            for rows, batch in _read(part, floats, asked):
                read = dict(zip(floats, batch.floats, strict=True))
                coded = iter(
                    _floats_of(values) if name in rounded else values
                    for name, values in zip(there, batch.labels, strict=True)
                )
                yield base.TableBatch(
                    [
                        read[name] if name in read else self._number(name, place, rows)
                        for name in columns
                    ],
                    [
                        next(coded) if name in there else self._label_of(name, place, rows)
                        for name in bare
                    ],
                )

    def _is_rounded(self, column: str, part: OneFile) -> bool:
        """Whether a file's labels are decimals, and those of all files together floats."""
        decimal = (part.declared(column) or "").lower().startswith("decimal")
        return decimal and self._type(column) == "double"

    def _number(self, column: str, place: int, rows: int) -> base.Floats:
        """The number of all rows of a file, or none: what a folder is called is read as a cell."""
        text = self._folders[column][place] if column in self._folders else None
        return np.full(rows, Numbers().reader()(text or ""))

    def _label_of(self, column: str, place: int, rows: int) -> LabelValues:
        """The label of all rows of a file, or none."""
        text = self._folders[column][place] if column in self._folders else None
        kind = "text" if self._counted else label_kind(self.declared(column))
        if text is not None:
            number = kind == "number"
            labels: LabelValues = np.array([int(text)]) if number else [text]
            return Encoded(np.zeros(rows, np.int64), labels)
        empty = {"number": "i8", "date": "M8[D]", "datetime": "M8[us]"}.get(kind or "")
        return Encoded(np.full(rows, -1), [] if empty is None else np.empty(0, empty))


def _read(
    part: OneFile, floats: Sequence[str], labels: Sequence[str]
) -> Iterator[tuple[int, base.TableBatch]]:
    """Read columns that a file has, with the numbers of rows."""
    if not floats and not labels:
        left = part.source._count()  # noqa: SLF001
        while left > 0:
            yield min(left, base.CHUNK), base.TableBatch([], [])
            left -= base.CHUNK
        return
    for batch in part.source._batches(floats, labels):  # noqa: SLF001
        yield (len(batch.floats[0]) if floats else _rows(batch.labels[0])), batch


def _floats_of(labels: LabelValues) -> LabelValues:
    """The floats nearest to decimals."""
    if isinstance(labels, Encoded):
        return Encoded(labels.places, np.asarray(_floats_of(labels.labels)))
    return np.array([np.nan if each is None else float(each) for each in label_items(labels)])


def _rows(labels: LabelValues) -> int:
    if isinstance(labels, Encoded):
        return len(labels.places)
    return len(labels.among(("",)) if isinstance(labels, Text) else labels)


def _kind(declared: str) -> tuple[str | None, bool]:
    kind = label_kind(declared)
    return kind, kind == "datetime" and zoned(declared)
