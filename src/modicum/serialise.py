"""Releases as text that reads back complete, for a ledger.

The text is JSON in which every value names its type. Only the frozen records listed here are ever
made from it, by their own constructors; nothing in it is run. ``Release.to_json`` is for people and
other programs, and rounds; this is for modicum, and does not.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import PurePath
from typing import Any, TypeVar

from modicum.array_release import ArrayRelease, Axis
from modicum.counts_file import CountsFile
from modicum.errors import InvalidArgument, LedgerCorrupt, a_kind
from modicum.exact.lattice import Lattice
from modicum.exact.log_lattice import LogLattice
from modicum.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.privacy.budget import Budget
from modicum.privacy.event import ZCDP, ApproxDP, PureDP, RangeDP
from modicum.privacy.unit import Unit
from modicum.publishing.answers import Publishable
from modicum.release import Release, TranscriptEntry
from modicum.releases import Releases
from modicum.version import VERSION

SCHEMA = "modicum.stored/2"
R = TypeVar("R", bound=Publishable)

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

_ENDS = {"lower", "upper"}
_ASKED = ("statistic", "column", "columns", "by", "method", "unit", "within", "view")
_ANSWERED = ("value", "values", "axes", "tables", "groups", "keys", "numbers", "labels", "answers")
_JUDGED = ("code", "status", "usable", "private", "step", "skipped", "engine", "version")
_FOUND = ("range_found", "limit_found", "groups_found")
_PAID = ("cost", "account", "epsilon_exact", "delta_exact", "rho_exact")
_COMPARED = {"schema", *_ASKED, *_ANSWERED, *_JUDGED, *_FOUND, *_PAID}
"""Of what a record says, what is compared with what it stores."""

_OURS: tuple[type, ...] = (
    ApproxDP,
    ArrayRelease,
    Axis,
    Budget,
    CountsFile,
    RangeDP,
    ZCDP,
    TranscriptEntry,
    GroupedArrayRelease,
    GroupedRelease,
    Lattice,
    LogLattice,
    PureDP,
    Release,
    Releases,
    Unit,
)


@functools.cache
def _records() -> Mapping[str, type]:
    """Every record that may be stored; all statistics are imported for it."""
    models: tuple[type, ...] = import_module("modicum.statistics.registry").ERROR_MODELS
    tables: tuple[type, ...] = import_module("modicum.tables.table_release").RECORDS
    description: type = import_module("modicum.tables.description").Description
    return {each.__name__: each for each in (*_OURS, *models, *tables, description)}


_FORMS: tuple[tuple[type, str, Callable[[Any], object], Callable[[Any], object]], ...] = (
    (Fraction, "fraction", str, Fraction),
    (Decimal, "decimal", str, Decimal),
    (datetime, "moment", datetime.isoformat, datetime.fromisoformat),
    (date, "date", date.isoformat, date.fromisoformat),
    (float, "float", lambda value: repr(float(value)), float),
    (tuple, "tuple", lambda value: [*map(_plain, value)], lambda value: tuple(map(_value, value))),
    (
        Mapping,
        "map",
        lambda value: [[_plain(k), _plain(v)] for k, v in value.items()],
        lambda value: {_value(k): _value(v) for k, v in value},
    ),
)
_READERS = {tag: read for _, tag, _, read in _FORMS}


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
    return json.dumps(
        stored(value),
        ensure_ascii=True,  # a key may hold half of a surrogate pair, which no encoding writes
        allow_nan=False,
        separators=(",", ":"),
    )


def stored(value: object) -> dict[str, object]:
    """What :func:`to_text` writes, as JSON types."""
    return {"schema": SCHEMA, "version": VERSION, "value": _plain(value)}


def of_json(text: object, kind: type[R]) -> R:
    """Read a record from what its ``to_json`` wrote.

    InvalidArgument for anything else, or if the text does not say what the stored record says.
    """
    try:
        said = json.loads(text)  # type: ignore[arg-type]
        record = _read(said["stored"])
        agrees = isinstance(record, Publishable) and _agrees(said, record.facts())
    except LedgerCorrupt as error:
        raise InvalidArgument(str(error)) from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        hint = ": pass the text of the file" if _names_file(text) else ""
        raise InvalidArgument(
            f"this is no release in JSON, as to_json() and the option --json write it{hint}"
        ) from None
    if not isinstance(record, kind):
        own = type(record).__name__
        raise InvalidArgument(
            f"this is {a_kind(type(record))}, not {a_kind(kind)}: {own}.from_json reads it"
        )
    if not agrees:
        raise InvalidArgument("this release was edited: it does not say what it stores")
    return record


def _names_file(text: object) -> bool:
    short = isinstance(text, str) and "{" not in text and "\n" not in text
    return isinstance(text, PurePath) or (short and str(text).casefold().endswith(".json"))


def _agrees(said: Any, facts: Any) -> bool:
    """Whether a text says the numbers, costs and codes that follow from what it stores.

    Intervals may have been written at another level.
    """
    if isinstance(facts, Mapping):
        if not isinstance(said, Mapping):
            return False
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


def from_text(text: str) -> Any:
    """Read what :func:`to_text` wrote; anything else is LedgerCorrupt."""
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    return _read(record)


def _read(record: Any) -> Any:
    try:
        if record["schema"] == _FIRST_SCHEMA:
            return _value(_renamed(record["value"]))
        if record["schema"] == SCHEMA:
            return _value(record["value"])
        wrote = f"in the form {record['schema']!r}"
    except (ValueError, TypeError, KeyError, ArithmeticError):
        wrote = "by another version, or was damaged"
    raise LedgerCorrupt(f"a stored release was written {wrote}: modicum {VERSION} cannot read it")


def _plain(value: Any) -> object:
    kind: Any = type(value)
    if value is None or kind in {bool, int, str} or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, tuple) and kind is not tuple:
        raise TypeError(f"a release holds a {kind.__name__}, which cannot be stored")
    if kind is list:
        return [_plain(each) for each in value]
    name = kind.__name__
    if _records().get(name) is kind:
        return {name: {each.name: _plain(getattr(value, each.name)) for each in fields(value)}}
    for written, tag, write, _ in _FORMS:
        if isinstance(value, written):
            return {tag: write(value)}
    raise TypeError(f"a release holds a {name}, which cannot be stored")


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    ((name, content),) = plain.items()
    if name in _READERS:
        return _READERS[name](content)
    record = _records()[_RENAMED_SINCE.get(name, name)]
    values = {
        _RENAMED_SINCE.get(field, field): _value(each)
        for field, each in _completed(name, content).items()
    }
    return record(**values)


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
    if name == "QuantilesErrorModel" and content["counted"] is not None:
        counted = content["counted"]["CellCounts"]
        if "edges" not in counted:  # cells were of the records on the points and between them
            points = sorted(set(content["points"]["tuple"]))
            edges = {"tuple": [edge for point in points for edge in (point, point + 1)]}
            return {**content, "counted": {"CellCounts": {**counted, "edges": edges}}}
    return content
