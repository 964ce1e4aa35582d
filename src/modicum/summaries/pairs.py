"""Numbers made of the two columns of a row: a value and its weight, or two parts of a ratio.

A reduction of one column becomes one of such numbers. Each is a function of its own row, so a row
more is a record more, and no other record changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Columns, More, PartsSearch, Reduction, Rows

S = TypeVar("S")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pair(Columns):
    """Two columns that are read together, with the words ``between`` their names.

    Examples
    --------
    >>> str(Pair(("spent", "earned"), " / "))
    'spent / earned'
    """

    between: str = ", "

    def __str__(self) -> str:
        return "array" if self.names is None else self.between.join(self.names)

    def ranged(self, statistic: str) -> tuple[str | None, ...]:
        return (self.names or ())[: statistic == "mean"]  # others' is of numbers made of both


@dataclass(frozen=True, slots=True)
class PairNumber:
    """[ratio.1] What is made of a row (x, w), a row of one column having w = 1.

    ``of`` says what a row is. "weights": x weighs w. Without a finite w > 0 the row is missing, and
    x is clamped to the range of ``lattice``. "ratio": a part x of a sum and a part w of another.
    Unless both are finite the row is missing.

    ``what`` is made: the "value", x or x / w; the "size" w; the "product" w x; or the "deviation"
    of w x, or of the part x, from w times the ``centre``, a number of steps of ``lattice``.

    Examples
    --------
    >>> rows = np.array([[5.0, 2.0], [7.0, 0.0], [9.0, -1.0]])
    >>> PairNumber("weights", "value").made(rows), PairNumber("ratio", "value").made(rows)
    (array([ 5., nan, nan]), array([ 2.5,  nan, -9. ]))
    """

    of: Literal["weights", "ratio"]
    what: Literal["value", "size", "product", "deviation"]
    lattice: Lattice | None = None
    centre: int = 0

    def made(self, rows: Floats) -> Floats:
        """Return the number of each row, NaN for a missing one."""
        x, w = rows[:, 0], rows[:, 1] if rows.shape[1] > 1 else np.ones(len(rows))
        there = np.isfinite(w)
        there &= w > 0 if self.of == "weights" else np.isfinite(x)
        with np.errstate(all="ignore"):  # a warning would reveal that there is a huge value
            return np.where(there, self._made(x, w), np.nan)

    def _made(self, x: Floats, w: Floats) -> Floats:
        if self.what == "size":
            return w
        lattice, weighted = self.lattice, self.of == "weights"
        if weighted and lattice is not None:
            x = np.clip(x, lattice.lo, lattice.hi)
        if self.what == "value":
            return x if weighted else np.where(w == 0, np.nan, x / w)
        if self.what == "product":
            return w * x
        assert lattice is not None
        centre = lattice.value(self.centre)
        # w (x - c), not w x - w c: x may be far from zero.
        return w * (x - centre) if weighted else x - w * centre


@dataclass(frozen=True, slots=True)
class OfPairs(Reduction[S]):
    """A reduction of the numbers that are made of the rows of two columns."""

    number: PairNumber
    inner: Reduction[S]

    @property
    def secret(self) -> bool:  # type: ignore[override]
        return self.inner.secret

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> Accumulator[S]:
        made = None if rows is None else _PairRows(self.number, rows)
        return PairPass(self.number, self.inner.begin(lattice, made))

    def in_parts(self, lattice: Lattice | None, more: More, /) -> PartsSearch:
        def of_pairs(reduction: Reduction[Any], entropy: Entropy | None) -> Any:
            return more(replace(self, inner=reduction), entropy)

        return _PairSearch(self, self.inner.in_parts(lattice, of_pairs))


class PairPass(Accumulator[S]):
    """A pass over rows of two columns, which hands on a number of each."""

    __slots__ = ("_inner", "_number")

    def __init__(self, number: PairNumber, inner: Accumulator[S]) -> None:
        self._number, self._inner = number, inner

    def update(self, x: Floats, /) -> None:
        self._inner.update(self._number.made(x))

    def finish(self) -> S:
        return self._inner.finish()


@dataclass(frozen=True, slots=True)
class _PairRows:
    """The rows of two columns, to a reduction of a number of each."""

    number: PairNumber
    rows: Rows
    fetchable: None = None

    @property
    def entropy(self) -> Entropy:
        return self.rows.entropy

    def feed(self, accumulator: Accumulator[object]) -> None:
        self.rows.feed(PairPass(self.number, accumulator))


@dataclass(frozen=True, slots=True)
class _PairSearch:
    """A search in parts of a table for a summary of a number of each row."""

    asked: OfPairs[Any]
    inner: PartsSearch

    def wanted(self) -> list[Reduction[Any]]:
        return [replace(self.asked, inner=each) for each in self.inner.wanted()]

    def learn(self, known: Sequence[Any]) -> Any:
        return self.inner.learn(known)
