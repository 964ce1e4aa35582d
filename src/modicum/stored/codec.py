"""Releases as text that reads back complete, for a ledger.

The text is JSON in which every value names its type. Only frozen records that are declared
:func:`storable` are ever made from it, by their own constructors; nothing in it is run. Which
module declares one is in ``stored_types.py``, so no record is known here, and none is imported to
write another. ``Release.to_json`` is for people and other programs, and rounds; this is for
modicum, and does not.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeVar

from modicum.errors import InvalidArgument, LedgerCorrupt, a_kind
from modicum.stored import collector
from modicum.stored.stored_types import STORED_TYPES
from modicum.version import VERSION

SCHEMA = "modicum.stored/2"
_WITH_PARTS = "modicum.stored/3"
"""The same, where what the releases of groups share is written once, see :class:`_Writer`."""
R = TypeVar("R")
T = TypeVar("T")

# Names in what the first schema wrote, and what they are now.
_FIRST_SCHEMA = "modicum.stored/1"
_RENAMED = {
    "Pure": "PureDP",
    "BoundedRange": "RangeDP",
    "Concentrated": "ZCDP",
    "Approximate": "ApproxDP",
    "journal": "transcript",
    "law": "mechanism",
    "evidence": "error_model",
}

# Names in what either schema wrote before, and what they are now.
_RENAMED_SINCE: Mapping[Any, str] = {
    "Entry": "TranscriptEntry",
    "Frame": "Scaling",
    "HeldColumns": "ColumnState",
    "frame": "scaling",
    "held": "state",
    "OwnVectorErrorModel": "VectorStatisticErrorModel",
}

_GROUPED, _GROUPED_BEFORE = "modicum.grouped/3", "modicum.grouped/2"
_ENDS = {"lower", "upper"}
_ASKED = ("statistic", "column", "columns", "by", "method", "unit", "within", "within_from", "view")
_ANSWERED = ("value", "values", "axes", "tables", "groups", "keys", "numbers", "labels", "answers")
_JUDGED = ("code", "status", "usable", "private", "step", "skipped", "engine", "version")
_FOUND = ("range_found", "limit_found", "groups_found", "left_out")
_PAID = (
    *("cost", "account", "epsilon", "epsilon_exact", "delta", "delta_exact", "rho", "rho_exact"),
    *("neighbours", "unit_rows", "unit_column"),
)
_COMPARED = {"schema", *_ASKED, *_ANSWERED, *_JUDGED, *_FOUND, *_PAID}
"""Of what a record says, what is compared with what it stores."""

_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError),
    *(ArithmeticError, AssertionError, RecursionError),
)
"""What is raised where a record is made, or looked at, of what is none."""

_TYPES: dict[str, type] = {}


def storable(cls: type[T]) -> type[T]:
    """Let a frozen dataclass be written, and read by its name; stands above ``@dataclass``."""
    _TYPES[cls.__name__] = cls
    return cls


def _type_named(name: str) -> type:
    if name not in _TYPES:
        import_module(f"modicum.{STORED_TYPES[name]}")  # its module declares it
    return _TYPES[name]


def _fraction(text: str) -> Fraction:
    """Read what ``str`` writes of a fraction: an exponent, which may be huge, is nothing of it."""
    if not re.fullmatch("-?[0-9]+(/[0-9]+)?", text):
        raise ValueError("no fraction")
    return Fraction(text)


_TEXTS: tuple[tuple[type, str, Callable[[Any], str], Callable[[str], object]], ...] = (
    (Fraction, "fraction", str, _fraction),
    (Decimal, "decimal", str, Decimal),
    (datetime, "moment", datetime.isoformat, datetime.fromisoformat),
    (date, "date", date.isoformat, date.fromisoformat),
    (float, "float", lambda value: repr(float(value)), float),
)
"""Values that are written as text, and what reads them."""

_READ_AS = {tag: read for _, tag, _, read in _TEXTS}
_PART = "part"


def to_text(value: object) -> str:
    """Write releases, and mappings and tuples of them.

    A type that is not listed is a TypeError: a mistake of the estimator, whatever the data.

    Examples
    --------
    >>> import modicum
    >>> release = modicum.count([1.0] * 99, epsilon=1)
    >>> from_text(to_text({"answer": release})) == {"answer": release}
    True
    """
    return _Writer().text(value)


def to_json(record: object, facts: Mapping[str, object], indent: int | None = None) -> str:
    """Write what a record says, and the record as it is stored, with a seal.

    The seal shows any change of what is stored, which says in one way or another all that the
    record shows; whoever changes it on purpose can seal it anew.
    """
    stored = to_text(record)
    stored = f'{stored[:-1]},"sha256":"{_seal(stored)}"}}'
    if indent is None:
        return f'{json.dumps(facts, allow_nan=False)[:-1]}, "stored": {stored}}}'
    return json.dumps({**facts, "stored": json.loads(stored)}, indent=indent, allow_nan=False)


def _seal(stored: str) -> str:
    sha256: Callable[[bytes], Any] = import_module("hashlib").sha256
    return str(sha256(stored.encode()).hexdigest())


def of_json(text: object, kind: type[R]) -> R:
    """Read a record from what its ``to_json`` wrote.

    InvalidArgument for anything else, or if the text does not say what the stored record says.
    """
    try:
        record, agrees = collector.at_rest(lambda: _read_and_compared(text))
    except LedgerCorrupt as error:
        raise InvalidArgument(str(error)) from None
    except _UNREADABLE:
        hint = ": pass the text of the file" if _names_file(text) else ""
        raise InvalidArgument(
            f"this is no release in JSON, as to_json() and the option --json write it{hint}"
        ) from None
    if not (isinstance(record, kind) or record is None):
        own = type(record).__name__
        raise InvalidArgument(
            f"this is {a_kind(type(record))}, not {a_kind(kind)}: {own}.from_json reads it"
        )
    if not agrees or record is None:
        raise InvalidArgument("this release was edited: it does not say what it stores")
    return record


def _read_and_compared(text: Any) -> tuple[Any, bool]:
    """The record of a text, and whether the text says what it stores; nothing of a broken seal."""
    said = json.loads(text, object_pairs_hook=_once)
    kept = said.pop("stored")
    seal = kept.pop("sha256", None)
    # As the writer writes.
    if seal is not None and seal != _seal(json.dumps(kept, separators=(",", ":"))):
        return None, False
    record = _read(kept)
    if not hasattr(record, "facts"):
        return record, False
    if seal is None or kept["version"] != VERSION:
        shown = (str, type(record)._repr_html_, getattr(type(record), "explain", repr))
        return record, all(show(record) for show in shown) and _agrees(said, record.facts())
    return record, _says(said, record)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; of two fields of one name another program might read the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _names_file(text: object) -> bool:
    short = isinstance(text, str) and "{" not in text and "\n" not in text
    return isinstance(text, os.PathLike) or (short and str(text).casefold().endswith(".json"))


def _says(said: Mapping[str, Any], record: Any) -> bool:
    """Whether a text says what follows from what it stores: all of it, in the same words.

    Intervals may be at the level, and assume the tail, that the text says.
    """
    facts, text = record.facts(), json.dumps(said, sort_keys=True)
    if text == json.dumps(facts, sort_keys=True):
        return True
    names = ("interval_level", "interval_tail")
    usual = [_first(facts).get(name) for name in names]
    if usual[0] is None:  # several answers, each with intervals of its own
        return False
    level, tail = (_first(said).get(name) for name in names)
    return (
        level is not None
        and [level, tail] != usual
        and any(
            text == json.dumps(record.facts(level, each), sort_keys=True) for each in ("auto", tail)
        )
    )


def _first(facts: Any) -> Any:
    """What is said of the only answer, or of the first group's."""
    return {**facts["alike"], **facts["groups"][0]["release"]} if "groups" in facts else facts


def _agrees(said: Any, facts: Any) -> bool:
    """Whether another version's text says the numbers, costs and codes that follow.

    Its words and intervals may be others.
    """
    if isinstance(facts, Mapping):
        if not isinstance(said, Mapping):
            return False
        if facts.get("schema") == _GROUPED:
            if not said.get("alike", {}).keys() <= facts["alike"].keys():
                return False
            said, facts = _whole(said), _whole(facts)
        names = facts.keys() | said.keys()
        names = names & _COMPARED if "schema" in facts else names - _ENDS
        return all(
            name in said and name in facts and _agrees(said[name], facts[name]) for name in names
        )
    if isinstance(facts, list | tuple):
        return (
            isinstance(said, list)
            and len(said) == len(facts)
            and all(_agrees(a, b) for a, b in zip(said, facts, strict=True))
        )
    same: bool = said == facts
    return same


def _whole(grouped: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of groups, with what their releases say alike in each, as it once was."""
    schema = _GROUPED if grouped["schema"] == _GROUPED_BEFORE else grouped["schema"]
    groups = [
        {**each, "release": {**grouped.get("alike", {}), **each["release"]}}
        for each in grouped["groups"]
    ]
    return {**grouped, "schema": schema, "groups": groups}


def from_text(text: str) -> Any:
    """Read what :func:`to_text` wrote; anything else is LedgerCorrupt."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    return _read(record)


def _read(record: Any) -> Any:
    try:
        schema, parts = record["schema"], list[Any]()
        if schema == _FIRST_SCHEMA:
            return _value(_renamed(record["value"]), parts)
        if schema == _WITH_PARTS:
            for each in record["parts"]:  # in order: none holds itself, or one that follows
                parts.append(_value(each, parts))
        if schema in {SCHEMA, _WITH_PARTS}:
            return _value(record["value"], parts)
        wrote = f"in the form {schema!r}"
    except _UNREADABLE:
        wrote = "by another version, or was damaged"
    raise LedgerCorrupt(f"a stored release was written {wrote}: modicum {VERSION} cannot read it")


class _Writer:
    """Writes values as JSON in which each names its type.

    Records and mappings that several groups hold, as a draw that was made for all of them, are
    written once: as a part, for which its number stands. They are those that are the same object,
    and not equal ones, which may differ in a type; what was read back holds the same objects again,
    and is written as it was.
    """

    __slots__ = ("_again", "_grouped", "_pieces", "_written")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._grouped = False
        # Which pieces are a record, by its identity, and where it came again. It is complete after
        # all that it holds, so that a part names earlier ones only.
        self._written: dict[int, tuple[int, int]] = {}
        self._again: dict[int, list[int]] = {}

    def text(self, value: object) -> str:
        """Write all of it; TypeError for a type that is not listed."""
        self._write(value)
        parts = ",".join(self._parts())
        schema, more = (_WITH_PARTS, f'"parts":[{parts}],') if parts else (SCHEMA, "")
        head = f'{{"schema":"{schema}","version":"{VERSION}",{more}"value":'
        return f"{head}{''.join(self._pieces)}}}"

    def _parts(self) -> Iterator[str]:
        """What came again, in place of which there are numbers from now on."""
        number, pieces = 0, self._pieces
        for each, (start, end) in self._written.items():
            if each in self._again:
                yield "".join(pieces[start:end])
                pieces[start:end] = ["", *[""] * (end - start - 1)]
                for place in (start, *self._again[each]):
                    pieces[place] = f'{{"{_PART}":{number}}}'
                number += 1

    def _write(self, value: Any) -> None:
        kind: Any = type(value)
        if (written := _LEAVES.get(kind)) is not None:
            self._pieces.append(written(value))
        elif kind is tuple:
            self._list('{"tuple":[', value, "]}")
        elif kind is list:
            self._list("[", value, "]")
        elif _is_record(kind):
            self._once(value, self._record)
        elif isinstance(value, Mapping):
            self._once(value, self._map)
        else:
            self._pieces.append(_text_of(value))

    def _list(self, start: str, values: Sequence[Any], end: str) -> None:
        for each in values:
            self._pieces.append(start)
            self._write(each)
            start = ","
        self._pieces.append(end if values else start + end)

    def _map(self, value: Mapping[Any, Any]) -> None:
        start = '{"map":[['
        for name, each in value.items():
            self._pieces.append(start)
            self._write(name)
            self._pieces.append(",")
            self._write(each)
            start = "],["
        self._pieces.append("]]}" if value else '{"map":[]}')

    def _record(self, value: Any) -> None:
        kind: Any = type(value)
        grouped = self._grouped
        self._grouped = grouped or getattr(kind, "shares_parts", False)
        for name, before in _names(kind):
            self._pieces.append(before)
            self._write(getattr(value, name))
        self._pieces.append("}}")
        self._grouped = grouped

    def _once(self, value: Any, write: Callable[[Any], None]) -> None:
        """Write a record or a mapping, or where it came again."""
        start = len(self._pieces)
        if id(value) in self._written:
            self._again.setdefault(id(value), []).append(start)
            self._pieces.append("")
            return
        write(value)
        if self._grouped:
            self._written[id(value)] = start, len(self._pieces)


_quoted = json.encoder.encode_basestring_ascii  # half of a surrogate pair is a key, too


def _float_text(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'{{"float":"{value!r}"}}'


_LEAVES: Mapping[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: repr,
    str: _quoted,
    float: _float_text,
}


def _text_of(value: Any) -> str:
    if not isinstance(value, tuple):
        for written, tag, write, _ in _TEXTS:
            if isinstance(value, written):
                return f'{{"{tag}":{_quoted(write(value))}}}'
    raise TypeError(f"a release holds a {type(value).__name__}, which cannot be stored")


@functools.cache
def _is_record(kind: type) -> bool:
    return _TYPES.get(kind.__name__) is kind


@functools.cache
def _names(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a record, and what is written before each."""
    names = [each.name for each in fields(kind)]
    before = (f'{{"{kind.__name__}":{{"{names[0]}":', *(f',"{name}":' for name in names[1:]))
    return tuple(zip(names, before, strict=True))


def _value(plain: Any, parts: Sequence[Any]) -> Any:
    """Read what was written, given the parts that it may name."""
    if isinstance(plain, list):
        return [_value(each, parts) for each in plain]
    if not isinstance(plain, dict):
        return plain
    ((name, content),) = plain.items()
    if name in _HOLDS:
        return _HOLDS[name](content, parts)
    if name in _READ_AS:
        return _READ_AS[name](content)
    record = _type_named(_RENAMED_SINCE.get(name, name))
    values = {
        _RENAMED_SINCE.get(field, field): _value(each, parts)
        for field, each in _completed(name, content).items()
    }
    return record(**values)


def _part(place: object, parts: Sequence[Any]) -> Any:
    if type(place) is not int or not 0 <= place < len(parts):
        raise ValueError(f"there are {len(parts)} parts, and none is {place!r}")
    return parts[place]


_HOLDS: Mapping[str, Callable[[Any, Sequence[Any]], object]] = {
    _PART: _part,
    "tuple": lambda content, parts: tuple([_value(each, parts) for each in content]),
    "map": lambda content, parts: {
        _value(name, parts): _value(each, parts) for name, each in content
    },
}


def _renamed(plain: Any) -> Any:
    """What the first schema wrote, with the names of this one."""
    if isinstance(plain, list):
        return [_renamed(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    return {_new_name(name): _renamed(content) for name, content in plain.items()}


def _new_name(name: str) -> str:
    model, evidence, _ = name.partition("Evidence")
    return f"{model}ErrorModel" if evidence else _RENAMED.get(name, name)


def _completed(name: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add what releases did not hold yet when a ledger wrote them."""
    if "status" in content and "code" not in content:
        return {**content, "code": "ok" if content["status"] == "ok" else "few_records"}
    if name in {"ListedFit", "Moments"} and not {"held", "state"} & content.keys():
        width = len(content["labels"]["tuple"])
        nothing = {"tuple": [False] * width}, {"tuple": [0] * width}
        state = {"missed": nothing[0], "sure": True, "far": nothing[1], "deviation": 1.0}
        return {**content, "state": {"ColumnState": {**state, "norm": "l1", "rows": 1}}}
    if name == "QuantilesErrorModel":
        counted = (content["counted"] or {}).get("CellCounts")
        # Cells were of the records on the points and between them.
        if counted is not None and "edges" not in counted:
            points = sorted(set(content["points"]["tuple"]))
            edges = {"tuple": [edge for point in points for edge in (point, point + 1)]}
            return {**content, "counted": {"CellCounts": {**counted, "edges": edges}}}
    return content
