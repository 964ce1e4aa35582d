"""What every reduction of the data offers: one pass over chunks, an exact mergeable summary."""

from __future__ import annotations

import struct
from typing import ClassVar, NoReturn, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from modicum.errors import CopyRefused, InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice

__all__ = [
    "Accumulator",
    "Fetchable",
    "Fields",
    "Integers",
    "Reduction",
    "Repeated",
    "Rows",
    "Sensitive",
    "pack",
]

S_co = TypeVar("S_co", covariant=True)
Integers = NDArray[np.int64]


class Accumulator(Protocol[S_co]):
    """One reduction under way.

    Attributes
    ----------
    reads : bool
        False if it needs no chunks at all.
    """

    reads: bool

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


@runtime_checkable
class Repeated(Protocol):
    """An accumulator that may need further passes, which others can share."""

    def further(self) -> Accumulator[object] | None:
        """Return the next pass, to be fed before this is asked again, ``None`` if none is needed.

        ``finish`` makes those that are left.
        """


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


class Reduction(Protocol[S_co]):
    """A question about one column; hashable, and made of public parameters only."""

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> Accumulator[S_co]:
        """Start a pass over a column rounded to ``lattice`` (``None``: values do not matter)."""


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

    def _check_same(self, other: Self) -> None:
        mine = [getattr(self, name) for name in self.public]
        if type(other) is not type(self) or mine != [getattr(other, n) for n in self.public]:
            raise InvalidArgument(f"cannot merge {self!r} with {other!r}: parameters differ")


def pack(kind: str, *fields: int | Integers) -> bytes:
    """Write integers of any size and int64 arrays under a name and version."""
    parts = [_header(kind)]
    for field in fields:
        if isinstance(field, int):
            payload = field.to_bytes(field.bit_length() // 8 + 1, "little", signed=True)
        else:
            payload = field.astype("<i8", copy=False).tobytes()
        parts += [struct.pack("<Q", len(payload)), payload]
    return b"".join(parts)


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

    def integer(self) -> int:
        """Read an integer."""
        return int.from_bytes(self._next(), "little", signed=True)

    def array(self) -> Integers:
        """Read an array."""
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
