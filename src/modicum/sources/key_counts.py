"""How many rows have each key, for keys too many to be objects: keys are integers in arrays.

A label of a column becomes an int64 code, and a key of several columns one integer that is made of
their codes, as digits of a number whose base changes from place to place. Two keys are equal if and
only if these integers are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources import base, labels
from modicum.sources.engines import arrow
from modicum.summaries.base import Integers, Sensitive

LARGEST = 1 << 53
"""A count above it counts as it: floats hold all integers up to it."""

_WHOLE = re.compile(r"u?int(8|16|32)|int64|bool(ean)?|u?(tiny|small)int|(big|u)?integer|bigint")
_HALF = 26  # sums of 2^36 such parts fit int64
_ROOM = 1 << 62  # of the integer of a key
_WAITING = 1 << 21  # rows that are sorted together
_CHANGED = "the keys were not the same when they were read again"
Kind = Literal["whole", "date", "datetime", "text"]
_UNITS: Mapping[Kind, str] = {"date": "M8[D]", "datetime": "M8[us]"}
Blocks = Callable[[], Iterator[Any]]  # the record batches of public keys, anew at every call


def kind_of(source: base.Source, name: str) -> Kind:
    """Return how the labels of a declared column are coded."""
    kind = source.check_label(name)
    declared = source.declared(name)
    if kind == "number" and not _WHOLE.fullmatch(declared.lower()):
        raise UnsupportedData(
            f"column {name!r} is declared as {declared}: keys are integers of up to 64 bits with a "
            "sign, booleans, text, dates or moments"
        )
    if kind == "object":
        raise UnsupportedData(f"column {name!r} is declared as object: convert it to text")
    kinds: Mapping[str | None, Kind] = {"number": "whole", "date": "date", "datetime": "datetime"}
    return kinds.get(kind, "text")


class Wholes(Sensitive):
    """Codes integers by themselves."""

    __slots__ = ()
    missing: ClassVar[int] = -(2**63)

    def codes(self, values: labels.LabelValues) -> Integers:
        if isinstance(values, labels.Encoded):
            return labels.spread(values, self)
        assert isinstance(values, np.ndarray)  # as every engine gives integers
        numbers = np.asarray(np.ma.getdata(values), np.int64)
        return np.where(np.ma.getmaskarray(values), self.missing, numbers)


class Texts(Sensitive):
    """Codes labels by the place of their text in a dictionary."""

    __slots__ = ("dictionary",)
    missing: ClassVar[int] = -1

    def __init__(self) -> None:
        self.dictionary = labels.Dictionary()

    def codes(self, values: labels.LabelValues) -> Integers:
        if isinstance(values, labels.Encoded):
            return self.dictionary.codes(labels.Encoded(values.places, _text(values.labels)))
        return self.dictionary.codes(_text(values))


def _text(values: labels.LabelValues) -> Sequence[str | None]:
    return [None if each is None else str(each) for each in labels.label_items(values)]


def _writable(text: str) -> str:
    """Return text without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _coder(kind: Kind) -> labels.Coder:
    if kind == "text":
        return Texts()
    return Wholes() if kind == "whole" else labels.Datetimes()


def tallied(
    source: base.Source, by: Sequence[str], coders: Sequence[labels.Coder], counts: str | None
) -> Iterator[tuple[NDArray[np.int64], Integers]]:
    """Yield the codes of keys, one row of them for each column, and how many rows each stands for.

    Rows without a key are left out.
    """
    asked = {labels.Label(name, "key"): coder for name, coder in zip(by, coders, strict=True)}
    columns = [] if counts is None else [counts]
    with base.suppress_warnings():
        for chunk in source.chunks(columns, asked):
            codes = np.stack([chunk[label] for label in asked])
            there = np.logical_and.reduce(
                [row != coder.missing for row, coder in zip(codes, coders, strict=True)]
            )
            n = np.ones(codes.shape[1], np.int64) if counts is None else clamped(chunk[counts])
            there &= n > 0
            yield codes[:, there], n[there]


def clamped(counts: base.Floats) -> Integers:
    """Round counts down, to integers of 0 to 2^53; missing ones are 0 [bulk.3]."""
    bounded: Integers = np.clip(np.nan_to_num(counts, nan=0.0), 0, LARGEST).astype(np.int64)
    return bounded


@dataclass(frozen=True, slots=True)
class Packing:
    """Makes one integer of the codes of a key: digits, the first column's being the highest."""

    lows: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, lows: Sequence[int], highs: Sequence[int]) -> Packing | None:
        """Fit columns whose codes lie between these; ``None`` if 62 bits are too few for several.

        The codes of one column are left as they are.
        """
        sizes = [high - low + 1 for low, high in zip(lows, highs, strict=True)]
        room = 1
        for size in sizes:
            room *= size
        return cls(tuple(lows), tuple(sizes)) if room <= _ROOM or len(sizes) == 1 else None

    def packed(self, codes: NDArray[np.int64]) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the integers, and which codes lie in the range; the others' are undefined."""
        total, inside = np.zeros(codes.shape[1], np.int64), np.ones(codes.shape[1], np.bool_)
        if len(codes) == 1:
            return codes[0], inside
        for row, low, size in zip(codes, self.lows, self.sizes, strict=True):
            inside &= (row >= low) & (row <= low + size - 1)
            total *= size
            total += row - low
        return total, inside


class GivenKeys(Sensitive):
    """Counts the rows of public keys.

    ``blocks`` yields the record batches of the keys, whose columns are ``by``, anew at every call;
    it is called twice here. ``kinds`` are those of the columns of the data.
    """

    __slots__ = (
        "_coders",
        "_counts",
        "_keys",
        "_packing",
        "_read",
        "_rows",
        "_seen",
        "_waiting",
        "coders",
    )

    def __init__(self, blocks: Blocks, kinds: Sequence[Kind]) -> None:
        self.coders = [_coder(kind) for kind in kinds]
        ends = [_ends(self._codes_of(batch)) for batch in blocks()]
        if not ends:
            raise InvalidArgument("keys is empty: pass a table with a row for each key")
        lows, highs = (np.array(each) for each in zip(*ends, strict=True))
        packing = Packing.of(lows.min(axis=0).tolist(), highs.max(axis=0).tolist())
        if packing is None:
            raise InvalidArgument(
                "the keys' columns have too many combinations, more than 2^62: join some of them "
                "into one column of text, here and in the data"
            )
        self._packing = packing
        self._keys = np.concatenate([packing.packed(self._codes_of(b))[0] for b in blocks()])
        self._keys.sort()
        if any((part[1:] == part[:-1]).any() for part in _parts(self._keys)):
            raise InvalidArgument("keys must be different, but one is there twice")
        self._counts = np.zeros(len(self._keys), np.int64)
        self._seen, self._read = np.zeros(len(self._keys), np.bool_), 0
        self._waiting: list[tuple[Integers, Integers]] = []
        self._rows = 0

    def _codes_of(self, batch: Any) -> NDArray[np.int64]:
        codes = np.stack(
            [
                labels.coded(arrow.arrow_labels(column), coder)
                for coder, column in zip(self.coders, batch.columns, strict=True)
            ]
        )
        if any((row == c.missing).any() for row, c in zip(codes, self.coders, strict=True)):
            raise InvalidArgument("a key has a missing label")
        return codes

    def add(self, codes: NDArray[np.int64], n: Integers) -> None:
        """Count rows by the codes of their keys; those of other keys do not count."""
        packed, inside = self._packing.packed(codes)
        self._waiting.append((packed[inside], n[inside]))
        self._rows += len(packed)
        if self._rows >= _WAITING:
            self.flush()

    def flush(self) -> None:
        """Count what is waiting."""
        if self._waiting:
            packed, n = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
            keys, n = summed(packed[None], n)
            places, known = self._places(keys[0])
            places = places[known]
            self._counts[places] = np.minimum(self._counts[places] + n[known], LARGEST)
        self._waiting, self._rows = [], 0

    def counts_of(self, batch: Any) -> Integers:
        """Return the counts of a batch of the keys, which are read again."""
        packed, inside = self._packing.packed(self._codes_of(batch))
        order = None if _in_order(packed) else packed.argsort()
        places, known = self._places(packed if order is None else packed[order])
        if not (inside.all() and known.all()):
            raise InvalidArgument(_CHANGED)
        self._seen[places] = True
        self._read += len(places)
        counts = self._counts[places]
        if order is None:
            return counts
        arranged = np.empty_like(counts)
        arranged[order] = counts
        return arranged

    def check_read(self) -> None:
        """Refuse, unless each key was read again exactly once [bulk.5]."""
        if self._read != len(self._keys) or not self._seen.all():
            raise InvalidArgument(_CHANGED)

    def _places(self, ordered: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the places of integers, which are in order, and whether they are there."""
        first, last = int(self._keys[0]), int(self._keys[-1])
        if last - first == len(self._keys) - 1:  # no number between the keys is missing
            known = (ordered >= first) & (ordered <= last)
            return np.where(known, ordered - first, 0), known
        places = np.minimum(self._keys.searchsorted(ordered), len(self._keys) - 1)
        return places, self._keys[places] == ordered


def _in_order(values: Integers) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _ends(codes: NDArray[np.int64]) -> tuple[Integers, Integers]:
    return codes.min(axis=1), codes.max(axis=1)


def _parts(values: Integers) -> Iterator[Integers]:
    """Cut an array into parts that overlap by one element."""
    for start in range(0, len(values), _WAITING):
        yield values[start : start + _WAITING + 1]


def summed(codes: NDArray[np.int64], n: Integers) -> tuple[NDArray[np.int64], Integers]:
    """Add up what equal keys have; the keys come in order."""
    if not codes.shape[1]:
        return codes, n
    packing = Packing.of(*(each.tolist() for each in _ends(codes)))
    order = np.lexsort(codes[::-1]) if packing is None else packing.packed(codes)[0].argsort()
    codes = codes[:, order]
    first = np.ones(codes.shape[1], np.bool_)
    first[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
    return codes[:, first], _sums(n[order], np.flatnonzero(first))


def _sums(n: Integers, starts: Integers) -> Integers:
    """Add up integers of 0 to 2^53 from each start on; sums beyond 2^53 are 2^53 [bulk.3]."""
    high, low = (np.add.reduceat(each, starts) for each in (n >> _HALF, n & ((1 << _HALF) - 1)))
    total: Integers = (np.minimum(high, LARGEST >> _HALF) << _HALF) + low
    return np.minimum(total, LARGEST)


class FoundKeys(Sensitive):
    """Counts the rows of all keys that there are; which and how many is sensitive."""

    __slots__ = ("_codes", "_kinds", "_n", "_rows", "_waiting", "coders")

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self._kinds = tuple(kinds)
        self.coders = [_coder(kind) for kind in kinds]
        self._codes, self._n = np.empty((len(kinds), 0), np.int64), np.empty(0, np.int64)
        self._waiting: list[tuple[NDArray[np.int64], Integers]] = []
        self._rows = 0

    def add(self, codes: NDArray[np.int64], n: Integers) -> None:
        """Count rows by the codes of their keys."""
        self._waiting.append(summed(codes, n))
        self._rows += self._waiting[-1][0].shape[1]
        if self._rows >= max(_WAITING, self._codes.shape[1] // 2):
            self.flush()

    def flush(self) -> None:
        """Merge what is waiting."""
        parts = [(self._codes, self._n), *self._waiting]
        self._waiting, self._rows = [], 0
        self._codes, self._n = summed(
            np.concatenate([codes for codes, _ in parts], axis=1),
            np.concatenate([n for _, n in parts]),
        )

    @property
    def counts(self) -> Integers:
        """The counts, of keys in no order that may be shown."""
        return self._n

    def labels(self, places: Integers) -> list[Sequence[Any] | NDArray[Any]]:
        """Return the columns of labels of the keys at some places of the counts."""
        found: list[Sequence[Any] | NDArray[Any]] = []
        for kind, coder, row in zip(self._kinds, self.coders, self._codes[:, places], strict=True):
            if kind == "text":
                known = cast(Texts, coder).dictionary.keys()
                found.append([_writable(str(known[code])) for code in row.tolist()])
            else:
                found.append(row if kind == "whole" else row.view("M8[us]").astype(_UNITS[kind]))
        return found
