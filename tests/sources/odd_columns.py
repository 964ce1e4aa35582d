"""Columns of every declared type, and for each the values that a reader may stumble over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa

Items = Sequence[Any]


def arrow_types(*asked: tuple[Any, ...]) -> list[pa.DataType]:
    """Make types, each of a name and arguments, of those that this PyArrow has."""
    return [getattr(pa, name)(*given) for name, *given in asked if hasattr(pa, name)]


@dataclass(frozen=True)
class Kind:
    """A declared type: plain values, of which the first two are keys, and odd ones."""

    type: pa.DataType
    plain: Items
    odd: Mapping[str, pa.Array]

    def rows(self, count: int) -> pa.Array:
        return typed([self.plain[i % len(self.plain)] for i in range(count)], self.type)


def typed(items: Items, kind: pa.DataType) -> pa.Array:
    """Make an array of exactly a type."""
    if pa.types.is_dictionary(kind):
        found = typed(items, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            found.indices.cast(kind.index_type), found.dictionary.cast(kind.value_type)
        )
    if pa.types.is_float16(kind):
        return pa.array([None if each is None else np.float16(each) for each in items], kind)
    if str(kind) == "extension<arrow.uuid>":
        return pa.array(items, pa.binary(16)).cast(kind)
    return pa.array(items, kind)


def raw(kind: pa.DataType, *words: int) -> pa.Array:
    """Make an array of a type of integers of the same width, by their bits."""
    width = {"date32[day]": np.int32, "float": np.uint32, "double": np.uint64}
    numbers = np.array(words, width.get(str(kind), np.int64))
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers.tobytes())])


def not_utf8(kind: pa.DataType) -> pa.Array:
    """Make a text that is none."""
    cuts = np.array([0, 4], np.int64 if kind == pa.large_string() else np.int32)
    if str(kind) == "string_view":
        view = np.frombuffer(b"\x04\0\0\0ab\xff\xfe" + bytes(8), np.uint8)
        return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(view.tobytes())])
    return pa.Array.from_buffers(
        kind, 1, [None, pa.py_buffer(cuts.tobytes()), pa.py_buffer(b"ab\xff\xfe")]
    )


def _kind(kind: pa.DataType, plain: Items, odd: Mapping[str, Any]) -> Kind:
    made = {"null": pa.nulls(1, kind)}
    for name, value in odd.items():
        made[name] = value if isinstance(value, pa.Array) else typed([value], kind)
    return Kind(kind, plain, made)


def _integers() -> Iterator[tuple[str, Kind]]:
    for bits in (8, 16, 32, 64):
        for sign, make in (("", f"int{bits}"), ("u", f"uint{bits}")):
            kind = getattr(pa, make)()
            top = 2 ** (bits - 1 if not sign else bits) - 1
            odd = {"largest": top, "zero": 0, "next": top - 1}
            if not sign:
                odd |= {"least": -top - 1, "negative": -1}
            if bits == 64:
                odd |= {"2^53 + 1": 2**53 + 1, "2^31": 2**31}
            yield make, _kind(kind, [1, 2, 3], odd)


def _floats() -> Iterator[tuple[str, Kind]]:
    plain = [1.0, 2.0, 3.5]
    common = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "-0": -0.0}
    yield "float16", _kind(pa.float16(), plain, common | {"largest": 65504.0})
    loud = {"signalling": raw(pa.float32(), 0x7FA00000), "largest": raw(pa.float32(), 0x7F7FFFFF)}
    yield "float32", _kind(pa.float32(), plain, common | loud)
    loud = {
        "signalling": raw(pa.float64(), 0x7FF4000000000000),
        "least": 5e-324,
        "largest": 1.7e308,
    }
    yield "float64", _kind(pa.float64(), plain, common | loud)
    yield "bool", _kind(pa.bool_(), [True, False], {"true": True})


TEXTS = {
    "empty": "",
    "blank": " ",
    "nan": "nan",
    "number": "1",
    "NUL": "a\0b",
    "U+FFFD": "\ufffd",
    "decomposed": "e\u0301",
    "long": "x" * 70_000,
    "quote": 'a"b\n,c',
    "other": "zz",
}


def _texts() -> Iterator[tuple[str, Kind]]:
    plain = ["a", "b", "c"]
    for kind in (pa.string(), pa.large_string(), *arrow_types(("string_view",))):
        yield str(kind), _kind(kind, plain, TEXTS | {"not UTF-8": not_utf8(kind)})
    for index in (pa.int8(), pa.uint8(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()):
        kind = pa.dictionary(index, pa.string())
        wrong = pa.DictionaryArray.from_arrays(pa.array([0], index), not_utf8(pa.string()))
        missing = pa.DictionaryArray.from_arrays(pa.array([0], index), pa.nulls(1, pa.string()))
        odd = {"empty": "", "other": "zz", "not UTF-8": wrong, "null in the list": missing}
        yield f"dictionary of {index}", _kind(kind, plain, odd)
    kind = pa.dictionary(pa.uint16(), pa.large_string())
    yield "dictionary of large text", _kind(kind, plain, {"other": "zz"})
    kind = pa.dictionary(pa.uint8(), pa.int64())
    yield (
        "dictionary of integers",
        _kind(kind, [1, 2, 3], {"largest": 2**63 - 1, "least": -(2**63)}),
    )
    kind = pa.dictionary(pa.uint32(), pa.date32())
    yield "dictionary of dates", _kind(kind, [date(2024, 1, 1)], {"year 1": date(1, 1, 1)})
    kind = pa.dictionary(pa.int16(), pa.float64())
    yield "dictionary of floats", _kind(kind, [1.5, 2.5], {"nan": np.nan, "inf": np.inf})


def _decimals() -> Iterator[tuple[str, Kind]]:
    with localcontext() as context:
        context.prec = 100
        for kind in (
            *arrow_types(("decimal32", 9, 2), ("decimal64", 18, 3)),
            pa.decimal128(10, 2),
            pa.decimal128(38, 0),
            pa.decimal128(38, 38),
            pa.decimal128(5, 39),
            pa.decimal256(76, 10),
            pa.decimal256(76, 76),
            pa.decimal128(10, -2),
        ):
            one = Decimal(10) ** -kind.scale
            top = one * (10**kind.precision - 1)
            odd = {"largest": top, "least": -top, "smallest": one, "zero": one * 0}
            yield str(kind), _kind(kind, [one * 2, one * 3], odd)


def _times() -> Iterator[tuple[str, Kind]]:
    plain = [date(2024, 1, 1), date(2024, 5, 1)]
    ends = {"year 1": date(1, 1, 1), "year 9999": date(9999, 12, 31)}
    far = {"least": raw(pa.date32(), -(2**31)), "largest": raw(pa.date32(), 2**31 - 1)}
    yield "date32", _kind(pa.date32(), plain, ends | far)
    day = 86_400_000
    far = {"least": raw(pa.date64(), -(2**63) // day * day + day)}
    far["largest"] = raw(pa.date64(), (2**63 - 1) // day * day)
    yield "date64", _kind(pa.date64(), plain, ends | far)
    moments = [datetime(2024, 1, 1, 12), datetime(2024, 5, 1)]  # noqa: DTZ001
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "Europe/Berlin"):
            kind = pa.timestamp(unit, zone)
            odd: dict[str, Any] = {
                "least": raw(kind, -(2**63)),
                "next": raw(kind, -(2**63) + 1),
                "largest": raw(kind, 2**63 - 1),
            }
            if unit != "ns":
                odd["year 1"] = datetime(1, 1, 1)  # noqa: DTZ001
                odd["year 9999"] = datetime(9999, 12, 31)  # noqa: DTZ001
            yield str(kind), _kind(kind, moments, odd)


def _refused() -> Iterator[tuple[str, Kind]]:
    yield "null", Kind(pa.null(), [None], {"null": pa.nulls(1)})
    yield "binary", _kind(pa.binary(), [b"a", b"b"], {"not UTF-8": b"\xff"})
    yield (
        "duration",
        _kind(pa.duration("us"), [1, 2], {"largest": raw(pa.duration("us"), 2**63 - 1)}),
    )
    yield "list", _kind(pa.list_(pa.int64()), [[1], [2]], {"empty": []})
    for kind in arrow_types(("uuid",)):
        yield "uuid", _kind(kind, [b"a" * 16, b"b" * 16], {"zeros": bytes(16)})


KINDS: dict[str, Kind] = {
    name: kind
    for part in (_integers, _floats, _texts, _decimals, _times, _refused)
    for name, kind in part()
}

Makers = Mapping[str, Callable[[pa.Table, Any], Any]]
