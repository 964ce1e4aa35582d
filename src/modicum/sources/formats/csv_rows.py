"""Rows of a CSV file, in a dialect in which every file can be read.

A row is a line, and cells stand between separators. A cell that begins with a quote is *quoted* if
its next quote that is not doubled stands before the end of the cell (a separator, a line end or the
end of the file; blanks may stand between). The text between these two quotes is its content,
separators and line ends included, and a doubled quote in it is one quote. Every other quote is a
character like any other: in the middle of a cell, at the start of a cell that is never closed like
this, behind blanks. A line ends with LF, CR or CR LF.

If its quoted cells are closed, as every program that writes CSV closes them, two rows of a file
read the same whatever stands in a third one. Cells may be of any length. Where it is declared that
no cell holds a line end, a quoted cell has to be closed on its line: then every line is read alone,
whatever is in any other.

An *escape*, where one is declared, takes the meaning of the separator, quote, line end or escape
behind it, inside of a quoted cell and outside, and is no part of the cell then. A line that begins
with the mark of a *comment* is no row. Both are marks of one character.

Text is decoded cell by cell, which is possible in encodings in which a byte below 128 is always
that ASCII character. Bytes that mean nothing become U+FFFD.
"""

from __future__ import annotations

import codecs
import csv
import functools
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from modicum.errors import InvalidArgument, as_given

_BLOCK = 1 << 18
_BOM = b"\xef\xbb\xbf"
_QUOTE, _LF, _CR = b'"\n\r'
_ASCII = bytes(range(128))


@dataclass(frozen=True, slots=True)
class Dialect:
    """How rows are made of bytes.

    The separator is one ASCII character, and so are an escape and the mark of a comment. In the
    encoding a byte below 128 is always that ASCII character. ``multiline`` is whether cells may
    hold line ends. The first ``skip`` lines are left out, whatever they hold.
    """

    separator: str = ","
    encoding: str = "utf-8"
    multiline: bool = True
    escape: str | None = None
    comment: str | None = None
    skip: int = 0

    def __post_init__(self) -> None:
        mark: Any = self.separator
        skip: Any = self.skip
        if (
            not isinstance(mark, str)
            or re.fullmatch(r"[\x01-\x7f]", mark) is None
            or mark in '"\r\n'
        ):
            raise InvalidArgument(
                f"separator must be one ASCII character such as ';' or '\\t', got {as_given(mark)}"
            )
        if mark.isalnum() or mark in "+-.":
            raise InvalidArgument(f"separator={mark!r} is part of numbers or words")
        if not _is_ascii_based(self.encoding):
            raise InvalidArgument(
                "encoding must be 'utf-8', or one in which ASCII stays ASCII such as 'cp1252' or "
                f"'latin-1', got {as_given(self.encoding)}: save other files as UTF-8"
            )
        if not isinstance(self.multiline, bool):
            raise InvalidArgument(
                f"multiline must be True or False, got {as_given(self.multiline)}"
            )
        for name, example in (("escape", r"'\\'"), ("comment", "'#'")):
            _check_mark(name, getattr(self, name), self.separator, example)
        if self.escape is not None and self.escape == self.comment:
            raise InvalidArgument(f"escape and comment are both {self.escape!r}")
        if type(skip) is not int or skip < 0:
            raise InvalidArgument(
                f"skip must be the number of lines before the header, got {as_given(skip)}"
            )

    @property
    def is_utf8(self) -> bool:
        return codecs.lookup(self.encoding).name == "utf-8"


def _check_mark(name: str, mark: object, separator: str, example: str) -> None:
    if mark is None:
        return
    if not isinstance(mark, str) or re.fullmatch(r"[!#-/:-@\[-`{-~]", mark) is None:
        raise InvalidArgument(
            f"{name} must be one ASCII character such as {example}, no letter, digit, blank or "
            f"quote, got {as_given(mark)}"
        )
    if mark == separator:
        raise InvalidArgument(f"{name} and separator are both {mark!r}")


def _is_ascii_based(encoding: str) -> bool:
    """Whether a byte below 128 is that character, whatever stands before it, and no other is."""
    try:
        return _keeps_ascii(encoding)
    except (LookupError, TypeError, ValueError):
        return False


@functools.cache
def _keeps_ascii(encoding: str) -> bool:
    """Try all pairs of bytes, which takes 7 ms; UTF-8 is made so."""
    if encoding == "utf-8":
        return True
    if _ASCII.decode(encoding) != _ASCII.decode("ascii"):
        return False
    pairs = ((bytes([high]), bytes([low])) for high in range(128, 256) for low in range(128))
    return all(
        (one + two).decode(encoding, "replace")[1:] == two.decode("ascii")
        and not one.decode(encoding, "replace").isascii()
        for one, two in pairs
    )


def read_rows(path: str, dialect: Dialect, start: int | None = None) -> Iterator[list[str]]:
    """Read a file row by row, whatever it contains; memory holds a block and the longest row.

    A blank line is an empty row. It begins at the byte ``start``, by default behind the lines that
    are skipped.
    """
    with Path(path).open("rb") as file:
        yield from chain.from_iterable(_Reader(file, dialect, start).stretches())


def separator_line(path: str) -> str | None:
    """Return the separator that a first line such as ``sep=;`` names, as Excel writes it."""
    with Path(path).open("rb") as file:
        start = file.read(len(_BOM) + 16).removeprefix(_BOM)
    found = re.match(rb'"?(?i:sep)=([\x01-\x7f])"?(?:\r|\n|$)', start)
    return None if found is None else found[1].decode()


class FirstRow(NamedTuple):
    """The cells of the first row that is not blank, and at which bytes it begins and ends."""

    cells: list[str]
    begin: int
    end: int


def first_row(path: str, dialect: Dialect) -> FirstRow | None:
    """Read the first row that is not blank; None if there is none."""
    with Path(path).open("rb") as file:
        return _Reader(file, dialect).first()


def begin_of_rows(path: str, dialect: Dialect) -> int:
    """Return the byte behind the lines that are skipped."""
    with Path(path).open("rb") as file:
        return _Reader(file, dialect).place


class _Reader:
    """The bytes of a file from the next row on.

    ``_data`` are the bytes that are held, which begin at ``_base`` in the file; the next row begins
    at ``_at``. ``_ended`` is whether they reach the end of the file.
    """

    __slots__ = (
        "_at", "_bare", "_base", "_comment", "_data", "_dialect", "_ended", "_ends", "_escape",
        "_escaped", "_file", "_judged", "_odd", "_opening", "_quoted",
    )  # fmt: skip

    def __init__(self, file: BinaryIO, dialect: Dialect, start: int | None = None) -> None:
        self._file = file
        self._dialect = dialect
        self._escape = (dialect.escape or "").encode()
        self._comment = (dialect.comment or "").encode()
        mark = dialect.separator.encode()
        ends, blanks = b"[" + re.escape(mark) + rb"\r\n]", b" \t".replace(mark, b"")
        self._ends = frozenset(mark + b"\r\n")
        self._opening = re.compile(b'"(?<=' + ends + b'")')
        self._bare, self._quoted, self._escaped = _cells_of(dialect, blanks)
        self._odd = _odd_places(self._escape, self._comment)
        self._base = file.seek(start or 0)
        self._data = file.read(max(_BLOCK, len(_BOM)))
        self._ended = not self._data
        self._at = 0
        self._judged = (-1, False)
        if start is None:
            if self._data.startswith(_BOM):
                self._at = len(_BOM)
            self._skip_lines(dialect.skip)

    @property
    def place(self) -> int:
        """The byte at which the next row begins."""
        return self._base + self._at

    def first(self) -> FirstRow | None:
        """Return the next row that is not blank."""
        while self._fill():
            if self._data[self._at] in b"\r\n" or self._at_comment():
                self._skip_lines(1)
            else:
                begin = self.place
                return FirstRow(self._row(), begin, self.place)
        return None

    def stretches(self) -> Iterator[list[list[str]]]:
        """Yield rows, many at a time where that is possible."""
        while self._fill():
            if self._odd is not None and (
                self._at_comment() or self._odd.search(self._data, self._at)
            ):
                yield from self._row_by_row(self._base + len(self._data))
            elif self._next_opening() < 0:
                end = self._last_line_end()
                if end == self._at:  # a line longer than a block
                    self._grow()
                else:
                    yield self._split(end)
            elif (end := self._sound_end()) > self._at:
                yield from self._unquoted(end)
            else:
                yield from self._one_by_one(len(self._data))

    def _next_opening(self) -> int:
        """Return where the next quote at the start of a cell is, if it is held; else -1."""
        if self._data.startswith(b'"', self._at):
            return self._at
        found = self._opening.search(self._data, self._at)
        return -1 if found is None else found.start()

    def _last_line_end(self) -> int:
        if self._ended:
            return len(self._data)
        last = len(self._data) - 1  # a CR there may be half of a line end
        ends = self._data.rfind(b"\n", self._at), self._data.rfind(b"\r", self._at, last)
        return 1 + max(*ends, self._at - 1)

    def _split(self, end: int) -> list[list[str]]:
        """Take lines without a quote at the start of a cell."""
        mark, text = self._dialect.separator, self._text(self._data[self._at : end])
        self._at = end
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if not lines[-1]:  # behind the last line end
            lines.pop()
        return [line.split(mark) if line else [] for line in lines]

    def _sound_end(self) -> int:
        """Return where whole rows end whose quotes all belong to quoted cells."""
        start = self._at
        text = np.frombuffer(self._data, np.uint8)[start:]
        quotes = np.flatnonzero(text == _QUOTE)
        if self._ended and len(quotes) % 2 == 0:
            end = len(text)
        else:
            lines = np.flatnonzero(text == _LF)
            outside = lines[quotes.searchsorted(lines) % 2 == 0]
            end = int(outside[-1]) + 1 if len(outside) else 0
        window = b"\n" + self._data[start : start + end] + b"\n"
        return start + end if _quotes(window, 0, self._dialect) == 0 else start

    def _unquoted(self, end: int) -> Iterator[list[list[str]]]:
        """Yield rows whose quotes all belong to quoted cells."""
        text = io.StringIO(self._text(self._data[self._at : end]), newline="\n")
        try:
            rows = list(csv.reader(text, delimiter=self._dialect.separator))
        except csv.Error:  # a cell beyond the limit that the library has for the whole process
            stop = self._base + end
            yield from self._one_by_one(end)
            if self._base + self._at < stop:
                yield self._split(stop - self._base)
        else:
            self._at = end
            yield rows

    def _one_by_one(self, stop: int) -> Iterator[list[list[str]]]:
        """Yield rows up to the last quote before a place that opens a cell; there is one."""
        stop += self._base
        while (quote := self._next_opening()) >= 0 and self._base + quote < stop:
            line = 1 + max(
                self._data.rfind(b"\n", self._at, quote), self._data.rfind(b"\r", self._at, quote)
            )
            if line > self._at:
                yield self._split(line)
            yield [self._row()]

    def _row_by_row(self, stop: int) -> Iterator[list[list[str]]]:
        """Yield the rows that begin before a place, where there are escapes or comments."""
        while self.place < stop:
            if self._at_comment():
                self._skip_lines(1)
            elif self._data[self._at] in b"\r\n":
                self._skip_lines(1)
                yield [[]]
            else:
                yield [self._row()]

    def _at_comment(self) -> bool:
        return bool(self._comment) and self._data.startswith(self._comment, self._at)

    def _skip_lines(self, count: int) -> None:
        """Go behind some line ends, whatever stands before them."""
        for _ in range(count):
            while not (found := _LINE_END.search(self._data, self._at)) or (
                found.end() == len(self._data) and not self._ended  # CR, and perhaps LF
            ):
                if self._ended:
                    self._at = len(self._data)
                    return
                self._grow()
            self._at = found.end()

    def _row(self) -> list[str]:
        while (found := self._cells()) is None:
            self._grow()
        cells, self._at = found
        return cells

    def _cells(self) -> tuple[list[str], int] | None:
        """Return the cells of the next row and where it ends, or None if more has to be read."""
        cells: list[str] = []
        at, data = self._at, self._data
        while True:
            if at == len(data) and not self._ended:
                return None
            quoted = self._quoted_cell(at) if data.startswith(b'"', at) else None
            if quoted is not None:
                text, end = quoted
                if end < 0:
                    return None
            else:
                found = self._bare.match(data, at)
                end = at if found is None else found.end()
                if end == len(data) and not self._ended:
                    return None
                text = self._meant(data[at:end])
            cells.append(self._text(text))
            if end == len(data):
                return cells, end
            at = end + 1
            if data[end] == _CR:
                if at == len(data) and not self._ended:
                    return None
                at += data.startswith(b"\n", at)
            if data[end] in b"\r\n":
                return cells, at

    def _quoted_cell(self, at: int) -> tuple[bytes, int] | None:
        """Return the text of a quoted cell and its end, -1 to read more; None if it is not one."""
        data = self._data
        found = self._quoted.match(data, at)
        if not self._dialect.multiline:
            line = re.compile(rb"[\r\n]").search(data, at)
            if line is not None and (found is None or found.end(1) > line.start()):
                return None
        if found is None:
            if self._ended or (self._dialect.multiline and not self._closes(at)):
                return None
            return b"", -1
        end = found.end()
        if end == len(data) and not self._ended:
            return b"", -1
        if end < len(data) and data[end] not in self._ends:
            return None
        inner = found[1]
        if self._escape and self._escape in inner:
            inner = self._escaped.sub(lambda each: each[1] or b'"', inner)
        else:
            inner = inner.replace(b'""', b'"')
        return inner + found[2], end

    def _meant(self, text: bytes) -> bytes:
        """Return the text of a cell without quotes, of what stands in the file."""
        if not self._escape or self._escape not in text:
            return text
        return self._escaped.sub(lambda each: each[1] or each[0], text)

    def _closes(self, at: int) -> bool:
        """Whether a cell is quoted although its quotes are not closed in what is held.

        The file is read on to find out, but not held. What is between two quotes that decide is
        read once for this, so all calls together cost one reading of the file at most.
        """
        place = self._base + at
        if self._judged[0] != place:
            back = self._file.tell()
            self._file.seek(place + 1)
            self._judged = place, self._finds_end()
            self._file.seek(back)
        return self._judged[1]

    def _finds_end(self) -> bool:
        closed, tail = False, False  # behind a quote that may be doubled; behind its blanks
        stop = re.compile(b'["' + re.escape(self._escape) + b"]")
        escaped = False  # behind an escape
        while block := self._file.read(_BLOCK):
            at = int(escaped)
            escaped = False
            while at < len(block):
                if not closed:
                    found = stop.search(block, at)
                    if found is None:
                        break
                    at, closed = found.end(), found[0] == b'"'
                    if not closed:
                        escaped, at = at == len(block), at + 1
                elif block[at] == _QUOTE and not tail:
                    closed, at = False, at + 1
                elif block[at] in b" \t" and block[at] not in self._ends:
                    tail, at = True, at + 1
                else:
                    return block[at] in self._ends
        return closed

    def _fill(self) -> bool:
        """Hold a block from the next row on; False if there is no row."""
        if self._at and not self._ended:
            self._grow()
        return self._at < len(self._data)

    def _grow(self) -> None:
        """Forget the rows that are done, and read as many bytes again as are held."""
        rest = self._data[self._at :]
        more = self._file.read(max(_BLOCK, len(rest)))
        self._base += self._at
        self._at, self._data, self._ended = 0, rest + more, not more

    def _text(self, data: bytes) -> str:
        return data.decode(self._dialect.encoding, "replace")


_LINE_END = re.compile(rb"\r\n|\n|\r")


def _cells_of(
    dialect: Dialect, blanks: bytes
) -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what matches a cell without quotes, one with quotes, and what an escape escapes.

    The last one matches a doubled quote too, without its group.
    """
    mark = re.escape(dialect.separator.encode())
    if dialect.escape is None:
        bare, inner, escaped = b"[^" + mark + rb"\r\n]*+", rb'[^"]*+(?:""[^"]*+)*+', rb'""()'
    else:
        escape = re.escape(dialect.escape.encode())
        behind = rb"(?:\r\n|.)?" if dialect.multiline else rb"[^\r\n]?"
        lines = rb"\r\n|\r|\n|" if dialect.multiline else b""
        bare = b"(?:[^" + mark + escape + rb"\r\n]++|" + escape + behind + b")*+"
        inner = b'(?:[^"' + escape + b']++|""|' + escape + b"(?:.)?)*+"
        escaped = escape + b"(" + lines + b'["' + mark + escape + b'])|""'
    flags = re.DOTALL
    return (
        re.compile(bare, flags),
        re.compile(b'"(' + inner + b')"([' + blanks + b"]*+)", flags),
        re.compile(escaped, flags),
    )


def _odd_places(escape: bytes, comment: bytes) -> re.Pattern[bytes] | None:
    """Return what matches where rows have to be read one by one; at the start a comment too."""
    marks = [re.escape(escape)] if escape else []
    marks += [rb"[\r\n]" + re.escape(comment)] if comment else []
    return re.compile(b"|".join(marks)) if marks else None


def is_well_formed(path: str, dialect: Dialect, start: int | None = None) -> bool:
    """Whether quotes stand around whole cells only, and all lines end in the same way.

    From the byte ``start`` on there are neither escapes nor comments. Every quote that opens
    follows a separator, the start of a line or, within a cell, the quote that it doubles; every
    quote that closes comes before a separator, the end of a line or its double. All carriage
    returns belong to line ends, and the first line is not blank.
    """
    odd = _odd_places((dialect.escape or "").encode(), (dialect.comment or "").encode())
    with Path(path).open("rb") as file:
        file.seek(begin_of_rows(path, dialect) if start is None else start)
        begin = file.read(3)
        if begin[:1] in {b"\n", b"\r"}:
            return False
        # Bytes 1 to -2 of each window are looked at; the windows overlap by two bytes.
        window, open_quotes, more = b"\n" + begin, 0, True
        while more:
            block = file.read(_BLOCK)
            more = bool(block)
            window += block if more else b"\n"
            if odd is not None and odd.search(window):
                return False
            if b'"' in window or b"\r" in window or open_quotes:
                found = _quotes(window, open_quotes, dialect)
                if found is None:
                    return False
                open_quotes = found
            window = window[-2:]
    return open_quotes == 0


def _quotes(window: bytes, before: int, dialect: Dialect) -> int | None:
    """Return whether a quote is open after a window (0 or 1), or None if one is misplaced."""
    mark = ord(dialect.separator)
    text = np.frombuffer(window, np.uint8)
    inner = text[1:-1]
    returns = np.flatnonzero(inner == _CR)
    quotes = np.flatnonzero(inner == _QUOTE)
    opening, closing = quotes[before::2], quotes[1 - before :: 2]
    sound = (
        np.all(text[returns + 2] == _LF)
        and np.isin(text[opening], (mark, _LF, _QUOTE)).all()
        and np.isin(text[closing + 2], (mark, _LF, _CR, _QUOTE)).all()
    )
    if sound and not dialect.multiline:
        lines = np.flatnonzero(inner == _LF)
        sound = np.all((before + quotes.searchsorted(lines)) % 2 == 0)
    return (before + len(quotes)) % 2 if sound else None
