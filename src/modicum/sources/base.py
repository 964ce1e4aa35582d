"""What the reader needs of any table or array: declared columns, and chunks of float64.

A source holds columns in memory (:class:`MemorySource`), or an engine produces its batches anew for
every pass (:class:`StreamSource`). The file of each engine says with :func:`opener` which classes
it opens.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum import errors
from modicum.errors import number_of
from modicum.sources import spans
from modicum.sources.labels import Coder, Dictionary, Label, LabelValues, Presence, coded
from modicum.sources.types import check_number, field_of, is_null, label_kind, value_type
from modicum.summaries.base import Columns, Fetchable, Integers, Sensitive

if TYPE_CHECKING:
    from modicum.sources.conditions.view import View

CHUNK = 1 << 16
"""Most rows in a chunk."""

_PRESENT = "present"  # the use of a label that is counted

T = TypeVar("T")
Floats = NDArray[np.float64]
Key = str | Label | Columns | None
Chunk = Mapping[Key, NDArray[Any]]


class TableBatch(NamedTuple):
    """Columns of numbers and columns of labels, of one length."""

    floats: Sequence[Floats]
    labels: Sequence[LabelValues]


class Source(ABC):
    """A table or array that can be read again and again, in chunks.

    The name of the ``engine`` is public. ``names`` are the columns of a table, ``None`` for a
    one-dimensional array; those with ``shared`` names cannot be read. ``declared`` maps the name of
    a column to the printed name of its declared type; ``None`` accepts any column. An array answers
    to the name ``alias``. Error messages call the data ``label``: a file's name, never its
    contents.
    """

    def __init__(
        self,
        engine: str,
        names: Sequence[str] | None = None,
        declared: Callable[[str], str] | None = None,
        *,
        alias: str | None = None,
        label: str | None = None,
    ) -> None:
        self.engine = engine
        self._names = None if names is None else tuple(names)
        self.shared: frozenset[str] = frozenset()
        if self._names and len(set(self._names)) < len(self._names):
            times = Counter(self._names)
            self._names = tuple(name for name in self._names if times[name] == 1)
            self.shared = frozenset(times).difference(self._names)
        self._declared = declared
        self._alias = alias
        self._label = f"the {engine} data" if label is None else label

    @property
    def label(self) -> str:
        """What error messages call the data."""
        return self._label

    @property
    def views(self) -> tuple[View, ...]:
        """How it was made of the table that was opened, if it was."""
        return ()

    @property
    def joined(self) -> tuple[str, ...]:
        """The columns whose labels are read together, as tuples, under one name."""
        return ()

    @property
    def is_table(self) -> bool:
        return self._names is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a table; none for an array."""
        return self._names or ()

    @property
    def named(self) -> bool:
        """Whether messages may show names of columns: those of a file of text may be a row."""
        return True

    @property
    def no_header(self) -> str:
        """What is said if the names of the columns look like a row of data; else empty."""
        return ""

    def declared(self, column: str) -> str:
        """Return the printed name of a column's declared type, empty if no type is declared."""
        return "" if self._declared is None else self._declared(column)

    def label_type(self, column: str) -> str:
        """Return the declared type of a column's labels: of a categorical, that of its categories.

        Keys are converted to it.
        """
        return value_type(self.declared(column))

    def span(self, column: str | None, read: str = "number") -> spans.Span:
        """[view.5] Return between which numbers a column's values lie, as far as that is public.

        ``read`` is as for :class:`~modicum.sources.conditions.expressions.Leaf`: what labels are
        asked is true or false.
        """
        if read == "number":
            known = column in self._names if self._names is not None else column is None
            return spans.declared(self.declared(column or "")) if known else spans.ANY
        return spans.WHOLE if read == "time" else spans.TRUTH

    def span_from(self, _column: str | None) -> str:
        """Say what tells the span of a column."""
        return "the declared type"

    def about_rows(self) -> int | None:
        """Return the number of rows, or about that, if it is cheap to know; not private."""
        return None

    def fetchable(self, _column: str | None) -> Fetchable | None:
        """Return a way to fetch rows of a checked column by their position, if there is one."""
        return None

    def check(self, column: str | None) -> None:
        """Check that a column is declared, as numbers, without looking at a value.

        ``None`` stands for the only column of an array, and for the rows of a table. This check and
        the others raise InvalidArgument, MissingColumn or UnsupportedData for a column that cannot
        be read.
        """
        if column is None:
            return
        if self._names is None:
            if column != self._alias:
                raise errors.InvalidArgument(
                    f"column={column!r}: this data is a single column; leave the name out"
                )
        elif column not in self._names:
            raise self._missing(column)
        elif self._declared is not None:
            check_number(self.engine, self._declared(column), column)

    def check_counted(self, column: str | None) -> None:
        """Check that a column's values can be counted: it has numbers or labels, or is the rows."""
        if not self.holds_labels(column):
            self.check(column)

    def counted(self, column: str) -> str:
        """Return the name under which a checked column is read where its values are counted."""
        return column

    def holds_labels(self, column: str | None) -> bool:
        """Whether a column can be read as labels only."""
        if column is None or column not in (self._names or ()) or self._declared is None:
            return False
        return label_kind(self._declared(column)) not in {None, "number"}

    def check_values(self, column: str | None) -> None:
        """Check that a column has values to read: more than the rows of a table."""
        self.check(column)
        if column is None and self._names is not None:
            raise errors.InvalidArgument(
                f"column is missing: a table needs one; {self._available()}"
            )

    def check_label(self, name: str) -> str | None:
        """Check that a column of a table is declared, as something that can be a label.

        Returns the kind of its labels, as :func:`~modicum.sources.types.label_kind` names it;
        ``None`` where no type is declared, as in a CSV file: they are text.
        """
        self._check_name(name)
        if self._declared is None:
            return None
        kind = label_kind(self._declared(name))
        if is_null(self._declared(name)):
            check_number(self.engine, self._declared(name), name)
        if kind is None:
            raise errors.UnsupportedData(
                f"column {name!r} is declared as {self._declared(name)}, which cannot hold labels: "
                "pass integers, text, booleans, dates, moments or a categorical column"
            )
        return kind

    def check_order(self, name: str) -> Literal["number", "datetime"]:
        """Check that rows can be ordered by a column of a table; return how to read it.

        Any column of a CSV file is read as numbers;
        :class:`~modicum.sources.labels.Datetimes` codes datetimes.
        """
        self._check_name(name)
        kind = "number" if self._declared is None else label_kind(self._declared(name))
        if kind == "number":
            return "number"
        if kind in {"date", "datetime"}:
            return "datetime"
        raise errors.UnsupportedData(
            f"column {name!r} is declared as {self.declared(name)}, by which rows cannot be "
            "ordered: pass numbers, dates or moments"
        )

    def _check_name(self, name: str) -> None:
        if self._names is None:
            raise errors.InvalidArgument(
                f"there is no column {name!r}: the data are a single column; pass a table"
            )
        if name not in self._names:
            raise self._missing(name)

    def _missing(self, column: str) -> errors.MissingColumn:
        """Return an error that lists the columns, and the one that may be meant."""
        if column in self.shared:
            return errors.MissingColumn(
                f"there are several columns {column!r}: give each a name of its own"
            )
        whole, _, field = column.partition(".")
        if whole in self.names and (
            line := field_of(self.engine, self.declared(whole), whole, field)
        ):
            return errors.MissingColumn(
                f"there is no column {column!r}, but {whole!r} has fields: make a column of one, "
                f"for example of {line}"
            )
        meant = errors.did_you_mean(column, self.names) or ";"
        return errors.MissingColumn(f"there is no column {column!r}{meant} {self._available()}")

    def _available(self) -> str:
        if not self.named:
            return f"{self._label} has {number_of(len(self.names), 'column')}"
        return "columns: " + (", ".join(map(repr, self.names)) or "none")

    def chunks(
        self,
        columns: Sequence[str | None],
        labels: Mapping[str, Coder] | Mapping[Label, Coder] | None = None,
    ) -> Iterator[Chunk]:
        """Read checked columns once, in an order of the source's choice.

        Each chunk maps a column to at most ``CHUNK`` float64 values, missing values being NaN.
        ``None`` in a table yields zeros, one a row; so does a column that holds labels where it
        holds one, and NaN elsewhere. ``labels`` are checked columns of labels to read along, each
        with what codes them: ``Label(name)`` maps to the int64 codes of the same rows, -1 for a
        missing label. A column that is coded in several ways is named by labels of several uses.
        The arrays must not be written to. SourceError if reading fails.
        """
        counted = [name for name in columns if name is not None and self.holds_labels(name)]
        numbers = [name for name in columns if name not in counted]
        coders: dict[Label, Coder] = {Label(name, _PRESENT): Presence() for name in counted}
        for each, coder in (labels or {}).items():
            coders[each if isinstance(each, Label) else Label(each)] = coder
        batches = guarded(self._label, lambda: iter(self._chunks(numbers, coders)))
        while (batch := guarded(self._label, lambda: next(batches, None))) is not None:
            whole: dict[Key, NDArray[Any]] = dict(batch)
            for name in counted:
                codes = batch[Label(name, _PRESENT)]
                whole[name] = np.where(codes == Presence.missing, np.nan, 0.0)
            yield whole

    @abstractmethod
    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterable[Chunk]:
        """Read without guarding against failures."""

    def __repr__(self) -> str:
        return f"Source(engine={self.engine!r})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise errors.CopyRefused("an opened source guards data and refuses to be pickled or copied")


class StreamSource(Source):
    """Batches that an engine produces, anew for every pass."""

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterator[Chunk]:
        named = [each for each in columns if each is not None]
        if not named and not labels:
            rows = self._count()
            for start in range(0, rows, CHUNK):
                yield {None: rows_of(min(CHUNK, rows - start))}
            return
        for batch in self._batches(named, [label.name for label in labels]):
            arrays: dict[Key, NDArray[Any]] = dict(zip(named, batch.floats, strict=True))
            for (label, coder), values in zip(labels.items(), batch.labels, strict=True):
                arrays[label] = coded(values, coder)
            length = len(next(iter(arrays.values())))
            if None in columns:
                arrays[None] = rows_of(length)
            for start in range(0, length, CHUNK):
                yield {name: array[start : start + CHUNK] for name, array in arrays.items()}

    @abstractmethod
    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[TableBatch]:
        """Columns of numbers and of labels, at least one in all, in batches of any length.

        A column of labels may be asked for more than once.
        """

    @abstractmethod
    def _count(self) -> int:
        """Count the rows."""


class MemoryColumn:
    """A column in memory: pieces of the engine's own, and what converts them.

    ``pieces`` returns those that hold rows [start, stop), and ``fetch`` those that hold rows at
    increasing positions. ``floats`` converts a piece to float64, a missing value to NaN; ``labels``
    converts a piece of a column that may hold labels.
    """

    def __init__(
        self,
        pieces: Callable[[int, int], Iterable[Any]],
        fetch: Callable[[Integers], Iterable[Any]],
        floats: Callable[[Any], Floats],
        labels: Callable[[Any], LabelValues] = np.asarray,
    ) -> None:
        self._pieces, self._fetch = pieces, fetch
        self._floats, self._labels = floats, labels

    def floats(self, start: int, stop: int) -> Floats:
        return _joined(np.float64, map(self._floats, self._pieces(start, stop)))

    def take(self, positions: Integers) -> Floats:
        return _joined(np.float64, map(self._floats, self._fetch(positions)))

    def codes(self, start: int, stop: int, coder: Coder) -> Integers:
        labels = map(self._labels, self._pieces(start, stop))
        return _joined(np.int64, (coded(each, coder) for each in labels))


def _joined(kind: type, pieces: Iterable[NDArray[Any]]) -> NDArray[Any]:
    arrays = list(pieces)
    return arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, kind), *arrays])


class MemorySource(Source):
    """Columns in memory, visited in scrambled order.

    In a sorted column every new chunk would hold new extremes; chunks taken from all over it make
    the cost of a pass nearly independent of the order of the rows. ``column`` opens a column by its
    name; all else is as for :class:`Source`.
    """

    def __init__(
        self,
        engine: str,
        rows: int,
        column: Callable[[str], MemoryColumn],
        names: Sequence[str] | None = None,
        declared: Callable[[str], str] | None = None,
        *,
        alias: str | None = None,
    ) -> None:
        super().__init__(engine, names, declared, alias=alias)
        self._rows = rows
        self._column = column

    @classmethod
    def of_column(
        cls, engine: str, rows: int, column: MemoryColumn, declared: str, alias: str | None = None
    ) -> MemorySource:
        """Open a single column of numbers, whose declared type is checked."""
        check_number(engine, declared, None)
        return cls(engine, rows, lambda _: column, declared=lambda _: declared, alias=alias)

    def about_rows(self) -> int:
        return self._rows

    def fetchable(self, column: str | None) -> Fetchable:
        return _MemoryRows(self._open(column), self._rows, self._label)

    def _chunks(
        self, columns: Sequence[str | None], labels: Mapping[Label, Coder]
    ) -> Iterator[Chunk]:
        opened = {each: self._open(each) for each in columns}
        coded = {label: self._codes(label.name, coder) for label, coder in labels.items()}
        for number in scrambled(-(-self._rows // CHUNK)):
            start = number * CHUNK
            stop = min(start + CHUNK, self._rows)
            chunk: dict[Key, NDArray[Any]] = {
                name: column.floats(start, stop) for name, column in opened.items()
            }
            for label, codes in coded.items():
                chunk[label] = codes(start, stop)
            yield chunk

    def _codes(self, name: str, coder: Coder) -> Callable[[int, int], Integers]:
        """Return what codes some rows of a column; other labels than numbers are coded once."""
        column = self._column(name)
        code = partial(column.codes, coder=coder)
        if isinstance(coder, Dictionary) and label_kind(self.declared(name)) != "number":
            return coder.of_rows((self, name), self._rows, code)
        return code

    def _open(self, column: str | None) -> MemoryColumn:
        if column is None and self.is_table:
            return MemoryColumn(lambda start, stop: [stop - start], lambda at: [len(at)], rows_of)
        return self._column(column or "")


class _MemoryRows(Sensitive):
    __slots__ = ("_label", "_numbers", "size")

    def __init__(self, numbers: MemoryColumn, rows: int, label: str) -> None:
        self._numbers = numbers
        self._label = label
        self.size = rows

    def take(self, positions: Integers) -> Floats:
        return guarded(self._label, lambda: self._numbers.take(positions))


def scrambled(count: int) -> Iterator[int]:
    """Yield 0..count-1 so that every stretch of the sequence is spread over the whole.

    Steps of the golden ratio of ``count``, made prime to it.

    Examples
    --------
    >>> list(scrambled(8))
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    stride = round(count * (math.sqrt(5) - 1) / 2)
    while count and math.gcd(stride, count) > 1:
        stride += 1
    return (i * stride % count for i in range(count))


def rows_of(count: int) -> Floats:
    """Return rows without values: zeros that take no memory."""
    return np.broadcast_to(np.float64(0), (count,))


def suppress_warnings() -> np.errstate:
    """Silence NumPy's floating-point warnings and errors, which may reveal a value.

    A signalling NaN raises one, for example. To be held around work on data in the same thread,
    never across a ``yield``: the caller of a generator has settings of its own.
    """
    return np.errstate(all="ignore")


def guarded(label: str, action: Callable[[], T]) -> T:
    """Turn any failure of an engine into one message that depends on no value.

    The engine's own error may quote data, so it is not kept, not even as the context of ours.
    NumPy's warnings are off meanwhile.
    """
    try:
        with suppress_warnings():
            return action()
    except errors.ModicumError:
        raise
    except BaseException as error:
        # A panic within Polars is not an Exception, and neither is an interrupt by the user.
        failed = isinstance(error, Exception | GeneratorExit)
        if not failed and type(error).__name__ != "PanicException":
            raise
        # Arrow asks for as much memory as a damaged file says.
        memory = isinstance(error, MemoryError) and "arrow" not in type(error).__module__
    why = ": there is too little memory" if memory else ""
    raise errors.SourceError(f"{label} could not be read{why}")


Opener = Callable[[Any], Source]
OpenerT = TypeVar("OpenerT", bound=Opener)
OPENERS: dict[str, Opener] = {}


def opener(*kinds: str) -> Callable[[OpenerT], OpenerT]:
    """Register a function that opens the tables of some classes, such as ``"polars.DataFrame"``.

    Classes are looked up among the modules that are already imported, and the class of every table
    at hand is: no engine is imported to find out whose a table is.
    """

    def register(opened: OpenerT) -> OpenerT:
        OPENERS.update(dict.fromkeys(kinds, opened))
        return opened

    return register
