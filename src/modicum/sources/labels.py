"""Columns of labels: ids of persons, keys of groups. Equal labels get equal codes.

Labels are compared exactly, by one rule for each declared type:

- integers, floats, decimals and booleans by their value: 5, 5.0 (as pandas makes of integers with
  nulls) and Decimal("5.00") are one label;
- text by its characters, and bytes by the text that they are; a cell of a CSV file is its text as
  it stands, an empty one is missing;
- dates by the day; datetimes to the microsecond, and in UTC if they have a time zone;
- labels of a categorical column, a dictionary or an enum like a column of their type;
- anything in an object column of pandas by its text, ``str(value)``.

Null, NaN and NaT are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.summaries.base import Integers, Sensitive


@dataclass(frozen=True, slots=True)
class Label:
    """The key of a label column's codes in a chunk.

    A column may be coded in several ways at once; ``use`` tells them apart.
    """

    name: str
    use: Hashable = None


@dataclass(frozen=True, slots=True, repr=False)
class Encoded:
    """Labels by their place in a list; a negative place is a missing label."""

    places: NDArray[Any]
    labels: LabelValues


@dataclass(frozen=True, slots=True, repr=False)
class Text:
    """Text as an engine holds it, which is only coded for a coder that asks for labels.

    ``among`` is 1 where a label is one of some texts, 0 where it is another, -1 where it is
    missing: engines compare text faster than they hand it over. ``arrow`` has it as an array of
    Arrow, for which equal text can be found without a Python object for every row.
    """

    labels: Callable[[], Listed]
    among: Callable[[Sequence[str]], NDArray[np.int8]]
    arrow: Callable[[], Any] | None = None


Listed = NDArray[Any] | Sequence[Hashable] | Encoded
LabelValues = Listed | Text
"""What an engine gives for labels.

An array of integers, floats, booleans or datetime64, masked where labels are missing; or hashable
Python values with None for missing ones; or either, encoded; or text of its own.
"""


class Coder(Protocol):
    """Maps labels to integers; ``missing`` is that of missing labels, and of no other.

    One that has ``texts`` asks for nothing but whether a label is one of them.
    """

    missing: ClassVar[int]

    def codes(self, values: LabelValues) -> Integers:
        """Return an integer for each label."""


def coded(values: LabelValues, coder: Coder) -> NDArray[Any]:
    """Code labels, and text of an engine where it is.

    U+FFFD may stand for bytes that are no text, which engines do not compare with it.
    """
    if not isinstance(values, Text):
        return coder.codes(values)
    if isinstance(coder, Dictionary) and values.arrow is not None:
        return coder.codes_of_arrow(values.arrow())
    texts = getattr(coder, "texts", None)
    if texts is None or any("\ufffd" in each for each in texts):
        return coder.codes(values.labels())
    return values.among([*filter(_is_unicode, texts)])


def _is_unicode(text: str) -> bool:
    """Whether it has no half of a surrogate pair, which no text of an engine has."""
    return not any("\ud800" <= each <= "\udfff" for each in text)


def spread(values: Encoded, coder: Coder) -> Integers:
    """Code each label of a list once, and give the rows their codes."""
    known = np.append(coded(values.labels, coder), coder.missing)
    return known[np.maximum(values.places.astype(np.intp), -1)]


_MISSING = {"None", "nan", "NaN", "NaT", "<NA>"}
"""Texts of the objects that pandas takes for missing, whatever their class."""


_DENSE = 16  # entries of a table for each number in it
_FIRST = 1 << 16
_MOST = 1 << 26  # entries: half a gigabyte
_LARGEST = 1 << 62


class _WholeCodes(Sensitive):
    """The codes of whole numbers that lie near each other, in a table; -1 if not known yet.

    The table is no longer than a multiple of the numbers that are in it.
    """

    __slots__ = ("_base", "_known", "_table")

    def __init__(self) -> None:
        self._base, self._known = 0, 0
        self._table = _NO_CODES

    def codes(self, values: Integers, make: Callable[[Integers], Integers]) -> Integers | None:
        """Return the codes; ``None`` if the numbers are too far apart.

        ``make`` returns codes of numbers that were not there before.
        """
        if not self._reaches(values):
            return None
        places = values - self._base
        codes = self._table[places]
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            new, first = np.unique(values[unknown], return_index=True)
            new = new[first.argsort()]  # in the order of their first appearance
            self._table[new - self._base] = make(new)
            self._known += len(new)
            codes[unknown] = self._table[places[unknown]]
        return codes

    def _reaches(self, values: Integers) -> bool:
        """Grow the table so that it holds these numbers, if it may be so large."""
        size, least, most = len(self._table), int(values.min()), int(values.max())
        if size:
            least, most = min(least, self._base), max(most, self._base + size - 1)
        if size == most - least + 1:
            return True
        wanted = most - least + 1
        if max(-least, most) > _LARGEST or wanted > _MOST:
            return False
        if wanted > _FIRST and wanted > _DENSE * (self._known + len(np.unique(values))):
            return False
        table = np.full(wanted + size // 2, -1, dtype=np.int64)
        table[self._base - least :][:size] = self._table
        self._base, self._table = least, table
        return True


_UNKNOWN = -2  # in place of a code
_NO_CODES: Integers = np.empty(0, dtype=np.int64)
_TIMES = 4  # times as many texts as a batch has rows are looked up in it


class _ArrowTexts(Sensitive):
    """Texts of Arrow's arrays, and the codes of each.

    Arrow looks texts up in a table that it makes anew each time. So that this stays in proportion
    to the rows, no more texts are held than a few times the rows that come at a time.
    """

    __slots__ = ("_codes", "_known")

    def __init__(self) -> None:
        self._known: Any = None
        self._codes = _NO_CODES

    def codes(self, array: Any, make: Callable[[Sequence[Any]], Integers]) -> Integers:
        """Return the code of each row; ``make`` returns those of texts that were not there."""
        pa, compute = import_module("pyarrow"), import_module("pyarrow.compute")
        if array.type != pa.large_string():
            array = array.cast(pa.large_string())
        encoded = array.dictionary_encode()
        texts, places = encoded.dictionary, encoded.indices
        if self._known is None:
            self._known = texts.slice(0, 0)
        known = compute.index_in(texts, value_set=self._known)
        new = known.is_null().to_numpy(zero_copy_only=False)
        codes = np.empty(len(texts) + 1, dtype=np.int64)
        codes[-1] = Dictionary.missing
        codes[:-1][~new] = self._codes[known.drop_null().to_numpy()]
        if new.any():
            added = texts.filter(pa.array(new))
            codes[:-1][new] = made = make(arrow_items(added))
            if len(self._codes) + len(made) <= _TIMES * len(array):
                self._known = pa.concat_arrays([self._known, added])
                self._codes = np.concatenate([self._codes, made])
        if places.null_count:
            places = places.fill_null(len(texts))
        found: Integers = codes[places.to_numpy(zero_copy_only=False)]
        return found


def arrow_items(array: Any) -> Sequence[Hashable]:
    """Return texts or decimals; bytes that are not UTF-8 become U+FFFD, as in a CSV file."""
    try:
        items: list[Hashable] = array.to_pylist()
    except UnicodeDecodeError:
        data = array.cast(import_module("pyarrow").large_binary()).to_pylist()
        items = [None if each is None else str(each, "utf-8", "replace") for each in data]
    return items


_KEPT = 1 << 24  # codes of rows that are kept: 64 MB
_BLOCK = 1 << 18  # rows that are coded at a time for it


class Dictionary(Sensitive):
    """Codes 0, 1, ... for labels, in the order of their first appearance; -1 for a missing one.

    Which labels there are, and how many, depends on the data.

    Examples
    --------
    >>> labels = Dictionary()
    >>> labels.codes(["b", "a", None, "b"])
    array([ 0,  1, -1,  0])
    >>> labels.keys(), labels.find("a"), labels.find("z")
    (['b', 'a'], 1, None)
    """

    __slots__ = ("_arrow", "_codes", "_kept", "_listed", "_made", "_mixed", "_wholes")
    missing: ClassVar[int] = -1

    def __init__(self) -> None:
        self._codes = _Codes({None: -1})
        self._mixed = False  # whether there are labels that the table of whole numbers lacks
        self._wholes = _WholeCodes()
        self._made: list[Integers] = []  # whole numbers that are in the table alone
        self._arrow: _ArrowTexts | None = None
        self._listed: tuple[object, Sequence[Any], Integers] = (None, (), _NO_CODES)
        self._kept: tuple[object, NDArray[np.int32]] | None = None

    def codes(self, values: LabelValues) -> Integers:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            found = self._codes_of_wholes(values)
            if found is not None:
                return found
        known, self._mixed = self._all(), True
        if not isinstance(values, Encoded):
            items = label_items(values)
            return np.fromiter(map(known.__getitem__, items), np.int64, len(items))
        return self._codes_of_list(values, known)

    def _codes_of_list(self, values: Encoded, known: _Codes) -> Integers:
        """Code the labels of a list that are used; some of the list that came last are known."""
        if self._listed[0] is not values.labels:
            items = label_items(values.labels)
            fresh = np.append(np.full(len(items), _UNKNOWN), self.missing)
            self._listed = values.labels, items, fresh
        _, items, codes = self._listed
        rows = len(values.places)
        places = np.where(values.places < 0, len(codes) - 1, values.places).astype(np.intp)
        new = np.flatnonzero(codes[places] == _UNKNOWN)
        if len(new):
            first = np.full(len(items), rows)
            first[places[new[::-1]]] = new[::-1]  # the last one written is the first in order
            used = np.flatnonzero(first < rows)
            used = used[np.argsort(first[used])]
            codes[used] = [known[items[place]] for place in used.tolist()]
        return codes[places]

    def codes_of_arrow(self, array: Any) -> Integers:
        """Return the codes of an array of text of Arrow."""
        known, self._mixed = self._all(), True
        if self._arrow is None:
            self._arrow = _ArrowTexts()
        return self._arrow.codes(
            array, lambda items: np.fromiter(map(known.__getitem__, items), np.int64, len(items))
        )

    def of_rows(
        self, column: object, rows: int, code: Callable[[int, int], Integers]
    ) -> Callable[[int, int], Integers]:
        """Return what has the codes of some rows of a column that cost much to make.

        They are made once, in large blocks, and kept for further passes, if they are not too many.
        """
        if rows > _KEPT:
            return code
        if self._kept is None or self._kept[0] != column:
            blocks = (
                code(start, min(start + _BLOCK, rows)).astype(np.int32)
                for start in range(0, rows, _BLOCK)
            )
            self._kept = column, np.concatenate([np.empty(0, dtype=np.int32), *blocks])
        kept = self._kept[1]
        return lambda start, stop: kept[start:stop].astype(np.int64)

    def _all(self) -> _Codes:
        """Return the codes of all labels."""
        for numbers in self._made:
            start = len(self._codes) - 1
            self._codes.update(
                zip(numbers.tolist(), range(start, start + len(numbers)), strict=True)
            )
        self._made = []
        return self._codes

    def _made_for(self, numbers: Integers) -> Integers:
        """Return codes for whole numbers that the table lacks."""
        if self._mixed:
            return np.fromiter(
                map(self._codes.__getitem__, numbers.tolist()), np.int64, len(numbers)
            )
        start = len(self)
        self._made.append(numbers)
        return np.arange(start, start + len(numbers))

    def _codes_of_wholes(self, values: NDArray[Any]) -> Integers | None:
        """Return the codes of an array, masked where labels are missing, if a table has them."""
        there = ~np.ma.getmaskarray(values)
        whole = np.ma.getdata(values)[there]
        if not len(whole) or values.dtype == np.uint64:
            return None
        found = self._wholes.codes(whole.astype(np.int64, copy=False), self._made_for)
        if found is None or len(found) == len(values):
            return found
        codes = np.full(len(values), self.missing)
        codes[there] = found
        return codes

    def __len__(self) -> int:
        return len(self._codes) - 1 + sum(map(len, self._made))

    def find(self, key: object) -> int | None:
        """Return the code of a label by its Python value, ``None`` if it has not appeared.

        Labels that are text are also found by a value that has this text: ``find(5)`` finds the
        cell 5 of a CSV file. InvalidArgument for a key that cannot be a label, such as a list.
        """
        key = plain_label(key)
        if key is None or not isinstance(key, Hashable):
            raise InvalidArgument("a label must be a number, a text, a bool, a date or a moment")
        code = self._all().get(key)
        return self._codes.get(str(key)) if code is None else code

    def keys(self) -> list[Any]:
        """Return all labels as Python values, in the order of their codes.

        Numbers without a fraction are int. Dates and datetimes beyond the years 1 to 9999 are the
        int that the engine holds: days, or units of its clock, since 1970.
        """
        return [_whole(key) for key in self._all() if key is not None]


class Presence(Sensitive):
    """Codes whether there is a label: 0, or -1 for a missing one."""

    __slots__ = ()
    missing: ClassVar[int] = -1

    def codes(self, values: LabelValues) -> Integers:
        if isinstance(values, Encoded):
            return spread(values, self)
        if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biu":
            return -np.ma.getmaskarray(values).astype(np.int64)
        items = label_items(values)
        return np.fromiter((-(item is None) for item in items), np.int64, len(items))


class Datetimes(Sensitive):
    """Dates and datetimes as microseconds since 1970, missing ones as the last of all.

    Those beyond the range of int64, 290 000 years, are all coded as its ends.
    """

    __slots__ = ()
    missing: ClassVar[int] = 2**63 - 1

    def codes(self, values: LabelValues) -> Integers:
        if isinstance(values, Encoded):
            return spread(values, self)
        datetimes = np.asarray(values)
        unit = np.datetime_data(datetimes.dtype)[0]
        times = datetimes.view(np.int64)
        if unit == "ns":
            times = times // 1000
        else:
            scale = _MICROSECONDS[unit]
            last = (self.missing - 1) // scale
            times = np.clip(times, -last, last) * scale
        return np.where(np.isnat(datetimes), self.missing, times)


_MICROSECONDS = {"D": 86_400_000_000, "s": 1_000_000, "ms": 1000, "us": 1}


class _Codes(dict[Any, int]):
    """Codes by label; a label that is looked up and not there gets the next code."""

    __slots__ = ()

    def __missing__(self, label: Hashable) -> int:
        code = self[label] = len(self) - 1  # None is there from the start
        return code


def label_bytes(label: Hashable) -> bytes:
    """Return bytes by which a label is known in every process: equal bytes for equal labels.

    Python's hash of a number depends on its value only, whatever its type. Different numbers may
    share one.

    Examples
    --------
    >>> label_bytes(5) == label_bytes(Decimal("5.00")) == label_bytes(5.0) != label_bytes("5")
    True
    """
    if isinstance(label, Real | Decimal):
        return b"number %d" % hash(label)
    return f"{type(label).__name__} {label}".encode("utf-8", "surrogatepass")


def texts(values: Iterable[Any]) -> list[Hashable]:
    """Return the texts of objects of any kind, None for missing ones; no object makes it fail."""
    return [each if type(each) is str else _text(each) for each in values]


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return text_of_bytes(bytes(value))
    try:
        text = str.__str__(str(value))
    except Exception:  # noqa: BLE001 -- the user's class; its failure would reveal a value
        return None
    return None if text in _MISSING else text


def text_of_bytes(data: bytes) -> str:
    """Return the text that bytes are in UTF-8, or their digits if they are none.

    Examples
    --------
    >>> text_of_bytes(b"North"), text_of_bytes(bytes([0, 255])), text_of_bytes(bytes(2))
    ('North', '0x00ff', '0x0000')
    """
    if 0 not in data:
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
    return f"0x{data.hex()}"


def label_items(values: LabelValues) -> Sequence[Any]:
    """Return labels as Python values, None for missing ones."""
    if isinstance(values, Text):
        return label_items(values.labels())
    if isinstance(values, Encoded):
        known = [*label_items(values.labels), None]
        return [known[max(place, -1)] for place in values.places.tolist()]
    if not isinstance(values, np.ndarray):
        return values
    if values.dtype == "M8[ns]":
        values = values.astype("M8[us]")  # Python knows no nanoseconds
    items: list[Any] = values.tolist()  # NaT becomes None, and so does what is masked
    if values.dtype.kind == "f":
        for place in np.flatnonzero(np.isnan(np.ma.filled(values, np.nan))).tolist():
            items[place] = None
    return items


def plain_label(key: Any) -> Any:
    """Return the Python value of a label, a date and time in UTC."""
    if isinstance(key, np.generic):
        key = key.astype("M8[us]").item() if key.dtype == "M8[ns]" else key.item()
    if isinstance(key, datetime) and key.tzinfo is not None:
        return key.astimezone(UTC).replace(tzinfo=None)
    return key


def _whole(key: Any) -> Any:
    if isinstance(key, Decimal):
        return int(key) if key == key.to_integral_value() else key
    return int(key) if isinstance(key, float) and key.is_integer() else key
