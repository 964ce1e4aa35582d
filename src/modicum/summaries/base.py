"""What every reduction of the data offers: one pass over chunks, and an exact mergeable summary.

A reduction says with public parameters what is to be known of a column. Its accumulator reads
chunks of float64, rounds them to lattice integers (:class:`Quantiser`), and sums these so that
nothing overflows. The summary that comes out is sensitive: it shows nothing, and travels as bytes
only.
"""

from __future__ import annotations

import operator
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Generic, Literal, NoReturn, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import CopyRefused, InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.synthetic import SyntheticTable

S_co = TypeVar("S_co", covariant=True)
S = TypeVar("S")
A = TypeVar("A", bound="AdditiveSummary")
Integers = NDArray[np.int64]


class Accumulator(Protocol[S_co]):
    """One reduction under way; ``reads`` is False if it needs no chunks at all."""

    reads: bool = True

    def update(self, x: NDArray[np.float64], /) -> None:
        """Take in one chunk of any length; NaN is a missing value, infinities are clamped."""

    def finish(self) -> S_co:
        """Return the summary of all chunks."""


class Fetchable(Protocol):
    """A column any row of which can be fetched by its position."""

    @property
    def size(self) -> int:
        """Number of rows."""

    def take(self, positions: Integers) -> NDArray[np.float64]:
        """Fetch rows at increasing positions."""


class Rows(Protocol):
    """The column that is being read, for reductions that come back to single rows."""

    @property
    def entropy(self) -> Entropy:
        """Randomness for secret choices of rows."""

    @property
    def fetchable(self) -> Fetchable | None:
        """A way to fetch any row by its position, if there is one."""

    def feed(self, accumulator: Accumulator[object]) -> None:
        """Make one more pass over the column."""


More = Callable[["Reduction[Any]", Entropy | None], Any]
"""Reduces the rows once more; without entropy that of the first time is used."""


class PartsSearch(Protocol):
    """A search for a summary, in passes over a column or jobs over the parts of a table."""

    def wanted(self) -> list[Reduction[Any]]:
        """Return what the next pass or job reduces the rows to."""

    def learn(self, known: Sequence[Any]) -> Any:
        """Take in the summaries; return the result, ``None`` if it takes one more."""


class Reduction(ABC, Generic[S_co]):
    """A request for one summary of a column: a frozen slotted dataclass of public parameters."""

    __slots__ = ()

    secret: ClassVar[bool] = False
    """Whether records are chosen at random on the way: two runs never share what was chosen."""

    holds_rows: ClassVar[bool] = False
    """Whether it brings all rows into the memory of this process."""

    @abstractmethod
    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> Accumulator[S_co]:
        """Start a pass over a column rounded to ``lattice`` (``None``: values do not matter)."""

    def follows_from(self, _summary: Any) -> S_co | None:
        """Return the summary, if another summary of the same column contains it."""
        return None

    def in_parts(self, _lattice: Lattice | None, _more: More, /) -> PartsSearch:
        """Return the search for the summary of a table whose parts are reduced where they are."""
        return _Once(self)

    def synthetic(
        self, _table: SyntheticTable, _lattice: Lattice | None, _entropy: Entropy, /
    ) -> Any:
        """Return the summary of a synthetic table."""
        raise AssertionError(f"no synthetic answer to {self!r}")


@dataclass(frozen=True, slots=True)
class _Once:
    """A search of one job: the parts are summarised and merged."""

    asked: Reduction[Any]

    def wanted(self) -> list[Reduction[Any]]:
        return [self.asked]

    def learn(self, known: Sequence[Any]) -> Any:
        return known[0]


def ranged(lattice: Lattice | None, what: str) -> Lattice:
    """Return the lattice of a reduction that needs one; ``what`` is the subject of the error."""
    if lattice is None:
        raise InvalidArgument(f"{what} a range: lattice must not be None")
    return lattice


class Sensitive:
    """Base of objects that depend on data: no pickle, no copy, no data in ``repr``.

    ``to_bytes`` and ``from_bytes`` move a summary on purpose.
    """

    __slots__ = ()

    public: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that ``repr`` may show."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.public)
        return f"{type(self).__name__}({shown})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise CopyRefused(
            f"{type(self).__name__} depends on data and refuses to be pickled or copied; "
            "to_bytes() moves a summary on purpose"
        )

    def to_bytes(self) -> bytes:
        """Write the summary, data included, in a versioned format."""
        raise CopyRefused(f"{type(self).__name__} refers to single rows and cannot be written")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} depends on data and has no hash")

    def joined(self, other: Self, _entropy: Entropy) -> Self:
        """Merge what two parts hold; those that choose records in secret draw from ``entropy``."""
        merged: Self = self.merge(other)  # type: ignore[attr-defined]
        return merged

    def _check_same(self, other: Self) -> None:
        mine = [getattr(self, name) for name in self.public]
        if type(other) is not type(self) or mine != [getattr(other, n) for n in self.public]:
            raise InvalidArgument(f"cannot merge {self!r} with {other!r}: parameters differ")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summary(Sensitive):
    """Base of summaries: frozen slotted dataclasses that are written field by field.

    ``kind`` names what is written. A field is an ``int``, a ``Fraction``, :data:`Integers`, or a
    tuple of one of these.
    """

    kind: ClassVar[str]

    def to_bytes(self) -> bytes:
        return pack(self.kind, *(getattr(self, each.name) for each in fields(self)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        read = Fields(cls.kind, data)
        summary = cls(*(read.value(str(each.type)) for each in fields(cls)))
        read.end()
        return summary


class AdditiveSummary(Summary):
    """A summary whose sensitive fields are sums: two of them add up to that of all rows."""

    __slots__ = ()

    def merge(self, other: Self) -> Self:
        self._check_same(other)
        return self.plus(other)

    def plus(self, other: Self) -> Self:
        """Merge two of which is known that their parameters are the same."""
        total = []
        for each in fields(self):
            a, b = getattr(self, each.name), getattr(other, each.name)
            if each.name in self.public:
                total.append(a)
            elif not isinstance(a, tuple):
                total.append(a + b)
            elif len(a) != len(b):
                raise InvalidArgument(f"cannot merge {self.kind} of another width")
            else:
                total.append(tuple(map(operator.add, a, b)))
        return type(self)(*total)


class Blockwise(Accumulator[A]):
    """A pass that adds up the summaries of blocks of at most :data:`CHUNK` values."""

    __slots__ = ("_of_block", "_sum")

    def __init__(self, of_block: Callable[[NDArray[np.float64]], A]) -> None:
        self._of_block = of_block
        self._sum: A | None = None

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            found = self._of_block(x[start : start + CHUNK])
            self._sum = found if self._sum is None else self._sum.plus(found)

    def finish(self) -> A:
        return self._of_block(np.empty(0)) if self._sum is None else self._sum


@dataclass(frozen=True, slots=True)
class _Randomness:
    """Rows of which a reduction gets randomness only."""

    entropy: Entropy
    fetchable: None = None

    def feed(self, _accumulator: Accumulator[object]) -> None:
        raise AssertionError("only the randomness of these rows is used")


def passes_over(rows: Rows, lattice: Lattice) -> More:
    """Return a function that makes one more pass over a column."""

    def more(reduction: Reduction[Any], entropy: Entropy | None) -> Any:
        one_more = reduction.begin(lattice, _Randomness(entropy or rows.entropy))
        rows.feed(one_more)
        return one_more.finish()

    return more


class SearchPass(Accumulator[S]):
    """The passes of a search over a column; without ``rows`` there is one."""

    def __init__(self, search: PartsSearch, lattice: Lattice, rows: Rows | None) -> None:
        self._search, self._lattice, self._rows = search, lattice, rows
        self._found: S | None = None
        self._passes: list[Accumulator[Any]] = []

    def update(self, x: NDArray[np.float64], /) -> None:
        for each in self._begun():
            each.update(x)

    def _begun(self) -> list[Accumulator[Any]]:
        if not self._passes:
            wanted = self._search.wanted()
            self._passes = [each.begin(self._lattice, self._rows) for each in wanted]
        return self._passes

    def further(self) -> Self | None:
        """End a pass; return what the next one is to feed, ``None`` once the search is over."""
        if self._found is None:
            self._found = self._search.learn([each.finish() for each in self._begun()])
            self._passes = []
        return self if self._found is None else None

    def finish(self) -> S:
        while self.further() is not None:
            assert self._rows is not None
            self._rows.feed(self)
        assert self._found is not None
        return self._found


def further_pass(accumulator: Accumulator[Any]) -> Accumulator[object] | None:
    """End a pass; return what the next one is to feed, ``None`` if there is none."""
    return accumulator.further() if isinstance(accumulator, SearchPass) else None


Field = int | Fraction | Integers | tuple[int, ...] | tuple[Integers, ...]


def pack(kind: str, *values: Field) -> bytes:
    """Write numbers of any size and int64 arrays under a name and version."""
    parts = [_header(kind)]
    for value in values:
        for payload in _payloads(value):
            parts += [struct.pack("<Q", len(payload)), payload]
    return b"".join(parts)


def _payloads(value: Field) -> Iterator[bytes]:
    if isinstance(value, int):
        yield value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    elif isinstance(value, np.ndarray):
        yield value.astype("<i8", copy=False).tobytes()
    else:
        whole = value.as_integer_ratio() if isinstance(value, Fraction) else (len(value), *value)
        for each in whole:
            yield from _payloads(each)


def _header(kind: str) -> bytes:
    return f"modicum.{kind}/1\n".encode()


class Fields:
    """Reads back what :func:`pack` wrote, field by field."""

    def __init__(self, kind: str, data: bytes) -> None:
        self._kind = kind
        header = _header(kind)
        if data[: len(header)] != header:
            self._refuse()
        self._rest = memoryview(data)[len(header) :]

    def value(self, annotation: str) -> Any:
        """Read a field of a :class:`Summary` by its annotation."""
        if annotation == "int":
            return self.integer()
        if annotation == "Integers":
            return self.array()
        if annotation == "Fraction":
            return Fraction(self.integer(), self.integer())
        each = annotation.removeprefix("tuple[").removesuffix(", ...]")
        return tuple(self.value(each) for _ in range(self.integer()))

    def integer(self) -> int:
        return int.from_bytes(self._next(), "little", signed=True)

    def array(self) -> Integers:
        payload = self._next()
        if len(payload) % 8:
            self._refuse()
        return np.frombuffer(payload, "<i8").astype(np.int64)

    def end(self) -> None:
        """Check that nothing is left."""
        if self._rest:
            self._refuse()

    def _next(self) -> memoryview:
        if len(self._rest) < 8:
            self._refuse()
        (length,) = struct.unpack_from("<Q", self._rest)
        payload, self._rest = self._rest[8 : 8 + length], self._rest[8 + length :]
        if len(payload) < length:
            self._refuse()
        return payload

    def _refuse(self) -> NoReturn:
        raise InvalidArgument(f"these bytes are no {self._kind} summary of format version 1")


CHUNK = 1 << 16
"""Values that are worked on at a time: 512 KB, within a core's second-level cache."""

ROW = 1 << 11
"""Values summed in one int64: each lattice integer is at most 2^51 in size, a row 2^62."""

LIMB = 26
"""Bits of the lower part of an integer that is summed in two parts."""


class Quantiser:
    """Turns chunks of at most :data:`CHUNK` numbers into bits of lattice integers.

    The integer of x is read off the bits of y = x + M, M = 1.5 * 2^52 step: for |x| <= 2^51 step, y
    lies in [2^52, 2^53] step, where one step is one unit in the last place, so the bits of y, taken
    as an integer, are the bits of M plus the lattice integer. Outside, they are still in order for
    y >= 0 and negative for y < 0, so clamping bits to the bits of the range's ends is clamping x.
    The bits of a NaN lie beyond those of every number (docs/research/proofs/summaries.md,
    [summaries.1], [summaries.2], [summaries.3]).
    """

    __slots__ = ("_buffer", "_magic", "_read", "first", "last", "zero")

    def __init__(self, lattice: Lattice | None) -> None:
        lattice = ranged(lattice, "this reduction needs")
        self._magic = 1.5 * 2.0**52 * lattice.step
        self._read = lattice.read
        self.zero = int(np.float64(self._magic).view(np.int64))
        self.first, self.last = lattice.first, lattice.last
        self._buffer = np.empty(CHUNK)

    def bits(self, x: NDArray[np.float64]) -> Integers:
        """Return zero + q for x within the range, something beyond for all other x.

        The result is overwritten by the next call.
        """
        y = self._buffer[: len(x)]
        # A warning of an overflow would reveal that there is a huge value.
        with np.errstate(all="ignore"):
            np.add(self._read(x), self._magic, out=y)
        return y.view(np.int64)

    def present(self, x: NDArray[np.float64]) -> Integers:
        """Return :meth:`bits` of the values that are not NaN."""
        bits = self.bits(x)
        # The minimum of the floats is NaN if one of them is: a fifth of the cost of a mask.
        if np.isnan(bits.view(np.float64).min(initial=np.inf)):
            return bits[~np.isnan(bits.view(np.float64))]
        return bits

    def integers(self, bits: Integers) -> Integers:
        """Return a new array of clamped lattice integers, without those of NaN."""
        missing = np.isnan(bits.view(np.float64))
        present = bits[~missing] if missing.any() else bits
        q = np.maximum(present, self.zero + self.first)
        np.minimum(q, self.zero + self.last, out=q)
        q -= self.zero
        return q

    def lifted(self, q: int) -> float:
        """Return M + q * step, the float whose bits are zero + q."""
        return float(np.int64(self.zero + q).view(np.float64))


def sum_of_rows(values: NDArray[np.int64] | NDArray[np.uint64]) -> int:
    """Sum int64 of at most 2^51 in size, or uint64 of at most 2^52: a row stays within them."""
    whole = len(values) // ROW * ROW
    rows = values[:whole].reshape(-1, ROW).sum(axis=1)
    total: int = sum(rows.tolist())
    return total + int(values[whole:].sum())


def exact_sum(q: Integers) -> int:
    """Sum up to 2^36 integers of at most 2^52 in size, in two limbs."""
    high = int((q >> LIMB).sum())
    low = int((q & ((1 << LIMB) - 1)).sum())
    return (high << LIMB) + low


def quantised(quantiser: Quantiser, x: NDArray[np.float64]) -> list[Integers]:
    """Round rows without missing values to lattice integers, in blocks."""
    rows, width = x.shape
    size = max(1, CHUNK // width)
    return [
        quantiser.integers(quantiser.bits(x[start : start + size].ravel())).reshape(-1, width)
        for start in range(0, rows, size)
    ]


MOST_COLUMNS = 1 << 16
"""Components of a vector."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Several columns, whose rows a reduction reads as float64 matrices of shape (m, d).

    The :meth:`~modicum.summaries.base.Accumulator.update` of the reduction gets C-contiguous
    matrices of any number of rows; the first one has no rows and gives the width. A row with a
    missing value in any column is dropped, so the matrices hold no NaN. Infinities are kept, and
    clamped later. ``names`` are columns of a table, in the order of the components; ``None`` is all
    of an array of shape (n, d), or of a fixed-size list, and an array of shape (n,) has one.

    Examples
    --------
    >>> str(Columns(("height", "weight"))), str(Columns())
    ('height, weight', 'array')
    """

    names: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return "array" if self.names is None else ", ".join(self.names)

    def ranged(self, _statistic: str) -> tuple[str | None, ...]:
        """Name the columns whose values the range of a statistic is one of."""
        return self.names or (None,)


@dataclass(frozen=True, slots=True)
class Across:
    """A person's records in all groups, as one vector with a norm of the ``power`` 1 or 2.

    Without ``limits`` the norm is one record. With one, a vector is scaled down to be no longer.
    With two, it is scaled down as far as that of the person's sums may be no longer than the first
    of them, and that of numbers than the second. Where ``far``, it is the direction of the sums, of
    the length that the first limit takes off the second.
    """

    power: Literal[1, 2]
    limits: tuple[float, ...] | None = None
    far: bool = False


@dataclass(frozen=True, slots=True)
class RecordRule:
    """What the rows of a person become, where the unit leaves that to the question.

    One record: the mean, the sum or the number of a column's values, or at most ``most`` rows, at
    random. Values are rounded on ``lattice``, if it is not that of the records, and then less
    ``centre``, in its steps. Where rows are grouped, "groups" is the number of groups that a person
    has rows in, and sums and numbers may be taken ``across`` groups.
    """

    kind: Literal["mean", "sum", "count", "rows", "groups"]
    most: int = 1
    lattice: Lattice | None = None
    centre: int = 0
    across: Across | None = None


@dataclass(frozen=True, slots=True)
class Read(Generic[S]):
    """One reduction of one column on a public lattice; column ``None`` is the rows themselves.

    With ``columns`` it reads their rows as vectors, and ``column`` is ``None``. With a ``rule`` it
    reads the records of persons that this makes, in place of those of the unit.
    """

    column: str | None
    lattice: Lattice | None
    reduction: Reduction[S]
    columns: Columns | None = None
    rule: RecordRule | None = None

    @property
    def place(self) -> str | Columns | None:
        return self.column if self.columns is None else self.columns

    @property
    def of_values(self) -> Lattice | None:
        """The lattice on which values are rounded; ``None`` if only their number matters."""
        if self.rule is None or self.rule.kind == "rows":
            return self.lattice
        return self.rule.lattice or (self.lattice if self.rule.kind in {"mean", "sum"} else None)
