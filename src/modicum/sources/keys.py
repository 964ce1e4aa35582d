"""What a column holds for a key, or for the constant of a condition, by its declared type.

An engine converts what a user writes to the type of the column, and so does this: 0.1 is the
nearest float32 in a column of float32, and a day is its midnight in a column of moments. What no
row can hold is refused, since its count would be a zero that looks like an answer. Only the key and
the declared type are looked at.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument, as_given
from modicum.sources.labels import text_of_bytes, texts
from modicum.sources.types import label_kind

_LABELS = (str, Real, Decimal, date)
_SINGLE = re.compile(r"float(32)?")
_HALF = re.compile(r"float16|halffloat")
_FLOAT = re.compile(r"float(16|32|64)?|halffloat|double")
_DECIMAL = re.compile(r"decimal\d*\((?:precision=)?(\d+), ?(?:scale=)?(-?\d+)\)")
_INTEGER = re.compile(r"(u?)(?:int|(tiny|small|big|huge)?int(?:eger)?)(8|16|32|64|128)?")
_BITS = {"tiny": 8, "small": 16, "big": 64, "huge": 128, None: 64}
_ZONE = re.compile(r"tz=|time_zone='|with time zone|64\[\w+, |\('", re.IGNORECASE)
_DAYS = (date.min.toordinal() - 719163, date.max.toordinal() - 719163)  # since 1970
_MOST_DIGITS = 400  # of a decimal: more than any type has
_EXACT = Context(prec=2 * _MOST_DIGITS)
_FINEST = "moments are told apart to the microsecond"


class _NoSuchLabel(Exception):
    """No row can hold a key; why not."""


def read_key(key: Any, told: str) -> Any:
    """Return the Python value of a key, a moment with a zone in UTC; ``told`` is its name."""
    if isinstance(key, np.datetime64):
        moment = key.astype("M8[us]")
        if moment.astype(key.dtype) != key:
            raise InvalidArgument(f"{told} can be no label: {_FINEST}")
        return key.item() if np.datetime_data(key.dtype)[0] in "YMWD" else moment.item()
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, bytes):
        return text_of_bytes(key)
    identifiers = sys.modules.get("uuid")  # whoever has one has imported it
    if identifiers is not None and isinstance(key, identifiers.UUID):
        return str(key)
    if isinstance(key, datetime):
        if getattr(key, "nanosecond", 0):  # of pandas
            raise InvalidArgument(f"{told} can be no label: {_FINEST}")
        key = datetime.combine(key.date(), key.timetz())
        key = key if key.tzinfo is None else key.astimezone(UTC)
    if (
        not isinstance(key, _LABELS)
        or (isinstance(key, Decimal) and key.is_nan())
        or texts([key]) == [None]  # also an integer of more digits than Python writes
    ):
        raise InvalidArgument(
            f"{told} can be no label: pass text, numbers, bools, dates or moments"
        )
    return key


def label_of(declared: str, key: Any, column: str, told: str = "") -> Any:
    """Return the label that rows have whose column, of a declared type, holds a key.

    Messages call the key ``told``, by default as it is written.

    Examples
    --------
    >>> label_of("float32", 0.1, "x"), label_of("timestamp[us]", date(2024, 1, 1), "day")
    (0.10000000149011612, datetime.datetime(2024, 1, 1, 0, 0))
    >>> label_of("decimal(9, 2)", 0.1, "x"), label_of("", 0.1, "cell")
    (Decimal('0.10'), 0.1)
    >>> label_of("string", 5, "code")
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: ... declared as string; write it as text, such as '5'
    """
    try:
        return _label_of(declared, key)
    except _NoSuchLabel as why:
        advice = f"; {why}" * bool(str(why))
    name = _KINDS[str(label_kind(declared))][1]
    raise InvalidArgument(
        f"the column {column!r} holds {name}, so no row has the key {told or as_given(key)}: it is "
        f"declared as {declared}{advice}"
    )


def _label_of(declared: str, key: Any) -> Any:
    kind = label_kind(declared) or ""
    if kind not in _KINDS:  # a label is found by its text
        return key
    return _KINDS[kind][0](declared.removesuffix("[pyarrow]"), key)


def labels_of(types: Sequence[str], keys: Sequence[Any]) -> list[Any]:
    """Return the labels of keys of one column, or tuples for several; no key makes it fail."""
    if len(types) == 1:
        return [_held(types[0], key) for key in keys]
    return [tuple(map(_held, types, key)) for key in keys]


def _held(declared: str, key: Any) -> Any:
    try:
        return _label_of(declared, key)
    except _NoSuchLabel:  # it was drawn, so there are such labels
        return key


def shown_keys(types: Sequence[str], labels: Sequence[Any]) -> list[Any]:
    """Return labels that were drawn as keys: moments with a zone have it, UTC."""
    if len(types) == 1:
        return [_shown(types[0], label) for label in labels]
    return [tuple(map(_shown, types, label)) for label in labels]


def _shown(declared: str, label: Any) -> Any:
    if label_kind(declared) == "datetime" and zoned(declared) and isinstance(label, datetime):
        return label.replace(tzinfo=UTC)
    return label


def constant_of(declared: str, constant: np.float64) -> np.float64:
    """Return what a number that is compared with a column is in its type.

    A number that the type lacks, beyond its range or too near zero, stays as it is.

    Examples
    --------
    >>> constant_of("Float32", np.float64(0.1)), constant_of("double", np.float64(0.1))
    (np.float64(0.10000000149011612), np.float64(0.1))
    """
    narrow = _narrow(declared.removesuffix("[pyarrow]").lower())
    if narrow is None:
        return constant
    with np.errstate(all="ignore"):
        nearest = np.float64(narrow(constant))
    return nearest if np.isfinite(nearest) and (nearest != 0) == (constant != 0) else constant


def _narrow(declared: str) -> Callable[[Any], Any] | None:
    """What rounds to a type of floats that are narrower than float64."""
    if _HALF.fullmatch(declared):
        return np.float16
    return np.float32 if _SINGLE.fullmatch(declared) else None


def _number(declared: str, key: Any) -> Any:
    declared = declared.lower()
    if not isinstance(key, Real | Decimal):
        raise _NoSuchLabel
    if isinstance(key, Decimal) and key.is_finite() and abs(key.adjusted()) > _MOST_DIGITS:
        raise _NoSuchLabel
    if _FLOAT.fullmatch(declared):
        return _float(declared, key)
    if not math.isfinite(key):
        raise _NoSuchLabel
    number: Any = key
    exact = Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
    if match := _DECIMAL.fullmatch(declared):
        digits, scaled = int(match[1]), exact * Fraction(10) ** int(match[2])
        if scaled.denominator != 1 or abs(scaled) >= 10**digits:
            raise _NoSuchLabel
        return Decimal(int(scaled)).scaleb(-int(match[2]), _EXACT)
    if exact.denominator != 1:
        raise _NoSuchLabel
    whole = int(exact)
    if declared.startswith("bool"):
        if whole not in {0, 1}:
            raise _NoSuchLabel
        return bool(whole)
    if match := _INTEGER.fullmatch(declared):
        bits = int(match[3] or _BITS[match[2]])
        low, high = (0, 1 << bits) if match[1] else (-1 << bits - 1, 1 << bits - 1)
        if not low <= whole < high:
            raise _NoSuchLabel
    return whole


def _float(declared: str, key: Any) -> Any:
    """The nearest float; whole numbers that no float equals are refused."""
    try:
        wide = np.float64(float(key))
    except OverflowError:
        raise _NoSuchLabel from None
    narrow = _narrow(declared)
    with np.errstate(all="ignore"):
        found = float(wide if narrow is None else narrow(wide))
    lost = math.isfinite(wide) != math.isfinite(found) or (key != 0) != (found != 0)
    if lost or (isinstance(key, int) and key != found):
        raise _NoSuchLabel("no float of that type is so near it")
    return key if key == found else found


def _day(_declared: str, key: Any) -> Any:
    if type(key) is int and not _DAYS[0] <= key <= _DAYS[1]:  # beyond all calendars
        return key
    if not isinstance(key, date):
        raise _NoSuchLabel
    if not isinstance(key, datetime):
        return key
    if key.tzinfo is not None or key != datetime.combine(key.date(), datetime.min.time()):
        raise _NoSuchLabel("pass a date, such as datetime.date(2026, 1, 31)")
    return key.date()


def _moment(declared: str, key: Any) -> Any:
    if type(key) is int and not _DAYS[0] * 86_400 <= key < (_DAYS[1] + 1) * 86_400:
        return key
    if not isinstance(key, date):
        raise _NoSuchLabel
    given = isinstance(key, datetime) and key.tzinfo is not None
    has_zone = given if declared == "timestamp" else zoned(declared)  # Spark's is one of UTC
    if has_zone and not given:
        raise _NoSuchLabel(
            "its moments have a zone, so give one, such as "
            "datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)"
        )
    if given and not has_zone:
        raise _NoSuchLabel("its moments have no zone, so give none")
    if not isinstance(key, datetime):
        return datetime.combine(key, datetime.min.time())
    return key.astimezone(UTC).replace(tzinfo=None) if given else key


def zoned(declared: str) -> bool:
    """Whether moments of a declared type have a zone.

    Examples
    --------
    >>> zoned("timestamp[us, tz=UTC]"), zoned("datetime64[ns]")
    (True, False)
    """
    return _ZONE.search(declared) is not None


def _text(_declared: str, key: Any) -> Any:
    if not isinstance(key, str):
        raise _NoSuchLabel("write it as text, such as '5'")
    return key


_KINDS: Mapping[str, tuple[Callable[[str, Any], Any], str]] = {
    "number": (_number, "numbers"),
    "date": (_day, "dates"),
    "datetime": (_moment, "moments"),
    "text": (_text, "text"),
    "labels": (_text, "text"),
}
