"""Statistics that follow the order of the data, as a user supplies them: by a score, or by bounds.

A :class:`Score` is a nondecreasing function ψ with ψ(0) = 0, and the statistic is the θ at which
the sum of ψ(x - θ) over the records crosses zero. Its values enter a release through a table of
integers only (:class:`~modicum.statistics.robust.score_lengths.ScoreTable`), which is nondecreasing
whatever ψ is, so the guarantee does not depend on it: not on rounding, and not on a wrong ψ of a
user. :class:`Boundaries` are for a statistic that brings its own level boundaries; there the
guarantee depends on those being right.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Protocol, TypeGuard

import numpy as np

from modicum.errors import InvalidArgument, as_given
from modicum.statistics.robust import score_lengths
from modicum.statistics.robust.score_lengths import ClippedCells, Reals, ScoreLengths, ScoreTable
from modicum.summaries.base import Integers

_MOST_GROWTH = 15.0
_HALVINGS = 64


class SignedLengths(Protocol):
    """How many records each value is from the statistic, in 1/unit of a record."""

    def at(self, halves: Integers) -> Integers:
        """Lengths of halves of lattice steps: negative below the statistic, nondecreasing, capped.

        One record more or less changes each by at most the unit.
        """


class MonotoneStatistic(ABC):
    """A statistic that never falls when a record is raised; ``name`` is for messages and summaries.

    A record at distance r pulls like r^growth for large r; growth is 0 if the pull is bounded. For
    a bounded pull, ``width`` is a distance from which it hardly changes.
    """

    __slots__ = ()

    name: str
    growth: float
    width: float | None
    whole: ClassVar[bool] = False
    """Whether lengths are whole numbers of records; then they are counted in halves."""

    @property
    def bounded(self) -> bool:
        """Whether far records count no more than near ones."""
        return self.growth == 0

    @abstractmethod
    def check(self, span: float) -> None:
        """Try the statistic on public data, up to a distance ``span``; refuse it if it fails."""

    @abstractmethod
    def lengths(
        self, records: ClippedCells, *, unit: int, cap: int, towards: int = 0
    ) -> SignedLengths:
        """Return how many records each value is from the statistic: what it is drawn by.

        Parameters
        ----------
        records : ClippedCells
            How many records are in each cell, and between which bounds they are clipped.
        unit : int
            Lengths are in 1/unit of a record.
        cap : int
            Longer lengths count as this.
        towards : {-1, 0, 1}
            1 or -1: lengths from a statistic that is no less, or no more, than that of the records;
            0: as near as cells tell.

        Returns
        -------
        SignedLengths
            ``at(2 t)`` has the lengths of lattice integers t, and of what is between them.
        """

    def _check_numbers(self) -> None:
        """Refuse growth and width that are not numbers or do not fit each other."""
        if not (is_number(self.growth) and 0 <= self.growth <= _MOST_GROWTH):
            raise InvalidArgument(
                f"growth must be a number from 0 (bounded) to {_MOST_GROWTH:g}, "
                f"got {as_given(self.growth)}"
            )
        if self.growth > 0 and self.width is not None:
            raise InvalidArgument("width is for a bounded statistic: leave it out, or growth=0")
        if self.growth == 0 and not (is_number(self.width) and self.width > 0):
            raise InvalidArgument(
                "a bounded statistic (growth=0) needs width=, a positive distance from which a "
                f"record's pull hardly changes, got {as_given(self.width)}"
            )


def excess(growth: float, tail: float) -> float:
    """Mean excess of a pull beyond a clipping bound, in units of that at the bound.

    For a pull of r^g and P(X > r s) = s^-a it is E[(X / r)^g] - 1 = g / (a - g).
    """
    if growth == 0:
        return 0.0
    return growth / (tail - growth) if tail > growth else math.inf


def is_number(x: object) -> TypeGuard[float]:
    """Whether it is a finite number, and not a bool."""
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


@dataclass(frozen=True, slots=True)
class Score(MonotoneStatistic):
    """A monotone M-estimator: the θ at which the sum of ψ(x - t) over the records changes sign.

    Parameters
    ----------
    name : str
        For messages and summaries.
    psi : callable
        From a float64 array of differences x - t, in the unit of the data, to an array of the
        same shape: nondecreasing, 0 at 0, finite. It has to be a pure function. It may jump, as
        ``np.sign`` does, of which the statistic is a median: where records tie, the sums just below
        and just above a value decide, and not what ψ is at 0.
    growth : float
        ψ grows like this power of ``|v|`` for large ``|v|``; 0 if it is bounded.
    width : float or None
        For a bounded ψ, a distance from which it hardly changes; the noise is on its scale.
    homogeneous : bool
        Whether ψ(c v) is a multiple of ψ(v) for every c > 0. Then it is evaluated only for
        ``|v| <= 1``.
    bends : tuple of (float, int), optional
        If ψ is linear but for some differences: these, in the unit of the data, and whether its
        slope grows (1) or falls (-1) there. Intervals of many records are narrower then. They
        may miss if it is not so; the guarantee does not depend on it.

    Raises
    ------
    InvalidArgument
        If growth and width do not fit each other, or ``bends`` are not such pairs.

    Examples
    --------
    >>> tanh = Score("log cosh", np.tanh, growth=0, width=3)
    >>> tanh.bounded
    True
    """

    name: str
    psi: Callable[[Reals], Reals] = field(repr=False)
    growth: float
    width: float | None = None
    homogeneous: bool = False
    bends: tuple[tuple[float, int], ...] | None = None

    def __post_init__(self) -> None:
        """Check the numbers; :meth:`check` looks at ψ."""
        if not callable(self.psi):
            raise InvalidArgument(f"psi must be a function, got {type(self.psi).__name__}")
        self._check_numbers()
        if self.bends is not None and not _are_bends(self.bends):
            raise InvalidArgument(
                "bends must be a tuple of differences, each with 1 or -1, such as "
                f"((-2.0, 1), (2.0, -1)), got {as_given(self.bends)}"
            )

    def check(self, span: float) -> None:
        """Try ψ at public points on both sides of 0: queries do it first, and it costs nothing.

        Parameters
        ----------
        span : float
            Positive: differences are tried up to it, in the unit of the data; of a homogeneous ψ up
            to 1.

        Raises
        ------
        InvalidArgument
            If ψ fails there, is not finite, not 0 at 0, decreases, or is 0 everywhere.
        """
        largest = 1.0 if self.homogeneous else span
        reach = np.geomspace(largest * 2.0**-60, largest, 481)
        if self.width is not None:
            reach = np.sort(np.append(reach, np.linspace(self.width / 64, 2 * self.width, 128)))
        points = np.concatenate([-reach[::-1], [0.0], reach])
        values = self._values(points)
        if values[len(reach)] != 0:
            raise InvalidArgument(f"psi(0) must be 0, got {as_given(values[len(reach)])}")
        falls = np.flatnonzero(np.diff(values) < -1e-9 * np.abs(values).max())
        if len(falls):
            a, b = points[falls[0]], points[falls[0] + 1]
            raise InvalidArgument(
                f"psi must not decrease, but psi({a:g}) = {values[falls[0]]:g} and "
                f"psi({b:g}) = {values[falls[0] + 1]:g}"
            )
        if not values[-1] > 0 > values[0]:
            raise InvalidArgument("psi must be negative far to the left and positive to the right")

    def _values(self, points: Reals) -> Reals:
        """ψ at public points; refused if it fails, or returns anything but finite numbers."""
        try:
            values = np.asarray(self.psi(points), dtype=np.float64)
        except Exception as error:
            raise InvalidArgument(f"psi failed at public points: {error}") from error
        if values.shape != points.shape:
            raise InvalidArgument(
                f"psi must return one number a difference: shape {points.shape} in, "
                f"{values.shape} out"
            )
        if not np.isfinite(values).all():
            at = points[np.flatnonzero(~np.isfinite(values))[0]]
            raise InvalidArgument(f"psi({at:g}) is not finite: choose a narrower within=")
        return values

    def table(self, span: int, step: float) -> ScoreTable:
        """Tabulate ψ in integers, nondecreasing whatever ψ is: what lengths are computed from.

        Parameters
        ----------
        span : int
            Differences are tabulated up to so many steps on both sides.
        step : float
            The step of the lattice, in the unit of the data.

        Returns
        -------
        ScoreTable
            The same for all data.

        Raises
        ------
        InvalidArgument
            If ψ fails, or is not finite.
        """
        with suppress_warnings():
            return ScoreTable.of(self._values, span, None if self.homogeneous else step)

    def lengths(
        self, records: ClippedCells, *, unit: int, cap: int, towards: int = 0
    ) -> ScoreLengths:
        moved, half = towards != 0 and self.bends is None, records.step / 2
        masses = score_lengths.PointMasses.of(
            records, ScoreLengths.parts(unit), towards, moved=moved
        )
        table = self.table(2 * (records.hi - records.lo), half)
        bends = None if self.bends is None else tuple(_whole(v / half, k) for v, k in self.bends)
        return ScoreLengths(masses.in_halves(), table, cap, towards, bends)


def _are_bends(bends: object) -> bool:
    """Whether it is a tuple of pairs of a number and 1 or -1."""
    return isinstance(bends, tuple) and all(
        isinstance(each, tuple) and len(each) == 2 and is_number(each[0]) and each[1] in (-1, 1)
        for each in bends
    )


def _whole(difference: float, kind: int) -> tuple[int, int, int]:
    """Return a bend between two integers; beyond all that a table holds, at a bound of it."""
    inside = min(max(difference, -(2.0**60)), 2.0**60)
    return math.floor(inside), math.ceil(inside), kind


@dataclass(frozen=True, slots=True)
class _Clipped:
    width: float

    def __call__(self, v: Reals) -> Reals:
        return np.clip(v, -self.width, self.width)


@dataclass(frozen=True, slots=True)
class _Tilted:
    tau: float

    def __call__(self, v: Reals) -> Reals:
        return np.where(v > 0, self.tau, 1 - self.tau) * v


@dataclass(frozen=True, slots=True)
class _Power:
    exponent: float

    def __call__(self, v: Reals) -> Reals:
        signed: Reals = np.sign(v) * np.abs(v) ** self.exponent
        return signed


def huber_score(width: float) -> Score:
    """ψ(v) = v clipped to ±width: a mean near the middle, a median far out."""
    bends = ((-width, 1), (width, -1))
    return Score(f"huber({width:g})", _Clipped(width), 0, width, bends=bends)


def expectile_score(tau: float) -> Score:
    """ψ(v) = τ v for v > 0 and (1 - τ) v for v < 0."""
    bends = () if tau == 0.5 else ((0.0, 1 if tau > 0.5 else -1),)
    return Score(f"expectile({tau:g})", _Tilted(tau), 1, homogeneous=True, bends=bends)


def power_score(p: float) -> Score:
    """ψ(v) = sign(v) |v|^(p - 1): θ has the least sum of |x - θ|^p."""
    return Score(f"lp({p:g})", _Power(p - 1), p - 1, homogeneous=True)


def checked_number(name: str, value: object, lo: float, hi: float) -> float:
    """Return an argument, refused unless it is a number from lo to hi."""
    if not (is_number(value) and lo <= value <= hi):
        raise InvalidArgument(
            f"{name} must be a number from {lo:g} to {hi:g}, got {as_given(value)}"
        )
    return float(value)


def checked_width(width: object) -> float:
    """Return a width, refused unless it is a positive number."""
    if not (is_number(width) and width > 0):
        raise InvalidArgument(f"width must be a positive number or None, got {as_given(width)}")
    return float(width)


# Public data sets to try the promises of a supplied statistic on. A few hundred find one that fails
# on some data, or whose bounds are too small from some number of records on; they prove nothing
# about all others.
_GOLDEN = (5**0.5 - 1) / 2
_STEP_BY_STEP = 40  # numbers of records that are all tried
_LARGE = (100, 1000)
_CROWDS = (4, 10, 100, 1000)
_STRAY = 30
_SHOWN = 4


def _spread(count: int, *, column: int = 0) -> Reals:
    """Return numbers spread over [0, 1) without a pattern: fractional parts of multiples.

    They stand for random ones, and are the same each time.
    """
    found: Reals = np.modf((np.arange(count) + 1) * (_GOLDEN + column * 2**0.5))[0]
    return found


def grown(span: float) -> Iterator[tuple[Reals, Reals]]:
    """Yield pairs of sorted data sets within ±span/2, the second with one record more.

    From none to some dozens one by one, and some large ones: all equal in the middle and at an
    end, at both ends, tied, all different, and nearly equal beside one that is far.
    """
    draws = _spread(_LARGE[-1] + 1) - 0.5
    turns = np.arange(len(draws)) % 2 - 0.5
    kinds = (
        np.zeros(len(draws)),
        np.full(len(draws), -0.5),
        np.full(len(draws), 0.5),
        turns,
        np.rint(draws * 8) / 8,
        draws,
        np.where(np.arange(len(draws)) % 9 == 4, turns, draws * 2.0**-40),
    )
    for kind in kinds:
        records = kind * span
        for size in (*range(_STEP_BY_STEP), *_LARGE):
            yield np.sort(records[:size]), np.sort(records[: size + 1])
        for size in _LARGE:
            for more in (-span / 2, 0.0, span / 2):
                some = np.sort(records[:size])
                yield some, np.sort(np.append(some, more))


def crowds(points: Reals, lo: float, hi: float) -> Iterator[tuple[Reals, Reals]]:
    """Yield pairs of sets of sorted rows, the second with one row more.

    Copies of a row among ``points`` and one more copy, or another one of them; half of each of two;
    and rows all over the range, one by one.
    """
    for size in _CROWDS:
        for i, row in enumerate(points):
            copies = np.repeat(row[None], size, axis=0)
            for other in points:
                yield copies, _sorted(np.concatenate([copies, other[None]]))
            if i:
                halves = np.repeat(points[[0, i]], size // 2, axis=0)
                yield _sorted(halves), _sorted(np.concatenate([halves, row[None]]))
    columns = [_spread(_STRAY, column=each) for each in range(points.shape[1])]
    rows = lo + np.column_stack(columns) * (hi - lo)
    for size in range(_STRAY):
        yield _sorted(rows[:size]), _sorted(rows[: size + 1])


def _sorted(rows: Reals) -> Reals:
    """Sort rows by the first column, then by the second, and so on."""
    return rows[np.lexsort(rows.T[::-1])]


def shown(records: Reals) -> str:
    """Write a data set for an error message."""
    values, counts = np.unique(records, return_counts=True, axis=0)
    pairs = [
        f"{count} x {value}"
        for value, count in zip(values[:_SHOWN].tolist(), counts.tolist(), strict=False)
    ]
    return "(" + ", ".join(pairs) + (", ..." if len(values) > _SHOWN else "") + ")"


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Let no warning of a user's code, Python's or NumPy's, reveal the data that it reads.

    Filters that turn warnings into errors do not apply either. Before Python 3.14 the filters are
    those of the whole process: warnings of other threads are suppressed meanwhile.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


_HALF = 2  # whole lengths k become 2k - 1 halves
_CHECKED_LEVELS = (6, 12)  # for small data sets also more than they have records
_CHECKED_RECORDS = 3


class Boundaries(MonotoneStatistic):
    """Base of statistics for :func:`modicum.monotone_statistic`, given by level boundaries.

    Write a subclass with the attributes ``name``, ``growth`` and ``width`` (as of
    :class:`Score`) and the method :meth:`ends`.

    Examples
    --------
    >>> class Median(Boundaries):
    ...     name, growth, width = "median", 0, 1.0
    ...
    ...     def ends(self, places, counts, lo, hi, levels):
    ...         records = np.repeat(places, counts)
    ...         padded = np.concatenate([[lo] * (levels + 1), records, [hi] * (levels + 1)])
    ...         k, n = np.arange(levels), len(records)
    ...         return (
    ...             padded[np.maximum((n + 1 - k) // 2 + levels, 0)],
    ...             padded[np.minimum((n + k) // 2 + levels + 1, len(padded) - 1)],
    ...         )
    >>> Median().check(100.0)
    """

    __slots__ = ()
    whole: ClassVar[bool] = True

    @abstractmethod
    def ends(
        self, places: Reals, counts: Integers, lo: float, hi: float, levels: int
    ) -> tuple[Reals, Reals]:
        """Lowest and highest value after adding or removing k records, k = 0, ..., levels - 1.

        Parameters
        ----------
        places : float64 array
            Increasing: the different values of the records.
        counts : int64 array
            How many records have each; there may be none.
        lo, hi : float
            Records are, and may be added, between them.
        levels : int
            How many k there are, at least 1.

        Returns
        -------
        lows, highs : (levels,) arrays
            *You promise*, for any two data sets D and D' of which one has one record more, and
            for every k: ``lows'[k + 1] <= lows[k]`` and ``highs'[k + 1] >= highs[k]``, and
            ``lows[k] <= highs[k]``. The ends of what k changes can reach do this for every
            statistic; a bound that is not exact may not. The promise includes that the method
            never fails, on any data: it returns finite numbers for no records, one, ties, and
            records at both ends. Privacy depends on it: a failure voids the guarantee.
            :meth:`check` tries some hundred data sets. If the method fails on the data all the
            same, all candidates count as equally good. That answer is not private, but no error
            or warning depends on the data.
        """

    def check(self, span: float) -> None:
        """Try the promise on some hundred public data sets: tiny, large, tied, extreme.

        It proves nothing about all others.

        Parameters
        ----------
        span : float
            Positive: records are tried within ±span/2, in the unit of the data.

        Raises
        ------
        InvalidArgument
            With a data set on which the method fails, or two that break the promise.
        """
        self._check_numbers()
        known: dict[tuple[bytes, int], tuple[Reals, Reals]] = {}

        def tried(records: Reals, levels: int) -> tuple[Reals, Reals]:
            key = (records.tobytes(), levels)
            if key not in known:
                known[key] = self._tried(records, span, levels)
            return known[key]

        for few, more, levels in self._pairs(span):
            here, there = tried(few, levels), tried(more, levels)
            if not (_promise_kept(here, there) and _promise_kept(there, here)):
                raise InvalidArgument(
                    f"the level boundaries of {self.name} break their promise: compare the records "
                    f"{shown(few)} with {shown(more)} between {-span / 2:g} and {span / 2:g}"
                )

    def _pairs(self, span: float) -> Iterator[tuple[Reals, Reals, int]]:
        points = (-span / 2, -span / 8, 0.0, span / 2)
        for size in range(_CHECKED_RECORDS):
            for data in combinations_with_replacement(points, size):
                for x in points:
                    for levels in _CHECKED_LEVELS:
                        yield np.array(data), np.sort([*data, x]), levels
        for few, more in grown(span):
            yield few, more, _CHECKED_LEVELS[0]

    def _tried(self, records: Reals, span: float, levels: int) -> tuple[Reals, Reals]:
        places, counts = np.unique(records.astype(np.float64), return_counts=True)
        try:
            with suppress_warnings():
                found = self.ends(places, counts, -span / 2, span / 2, levels)
                lows, highs = (np.asarray(each, dtype=np.float64) for each in found)
        except Exception as error:
            raise InvalidArgument(
                f"{self.name} failed for the records {shown(records)}, and may fail for none: "
                f"{error}"
            ) from error
        if lows.shape != (levels,) or highs.shape != lows.shape:
            raise InvalidArgument(
                f"{self.name} must return {levels} lows and as many highs, got shapes "
                f"{lows.shape} and {highs.shape}"
            )
        finite = np.isfinite(lows).all() and np.isfinite(highs).all()
        if not (finite and (lows <= highs).all()):
            fault = "lows above highs" if finite else "ends that are not finite"
            raise InvalidArgument(f"{self.name} has {fault} for the records {shown(records)}")
        return lows, highs

    def lengths(
        self, records: ClippedCells, *, unit: int, cap: int, towards: int = 0
    ) -> BoundaryLengths:
        assert unit == _HALF
        cells, step, bounds = records.cells, records.step, (records.lo, records.hi)
        edges = np.array(cells.edges, dtype=np.int64)
        # A cell does not hold its inner edge: the middle of the integers that it holds.
        inner, outer = edges[:-1] + 1, edges[1:]
        middles, halves = (inner + outer) / 2.0, (outer - inner) * (towards / 2.0)
        lower, upper = (halves - middles)[::-1], middles + halves
        places = np.concatenate([lower, [0.0], upper]) + cells.centre
        counts = np.array(cells.counts[1:-1], dtype=np.int64)
        if records.trimmed:
            counts = score_lengths.trimmed_by_rank(counts, records.trimmed)
            counts[(places < bounds[0]) | (places > bounds[1])] = 0
        clipped = np.clip(places, *bounds)
        heads = np.flatnonzero(np.diff(clipped, prepend=-np.inf))
        gathered = np.add.reduceat(counts, heads)
        there = gathered > 0
        levels = cap // _HALF + 1
        lo, hi = records.lo * step, records.hi * step
        try:
            with suppress_warnings():
                found = self.ends(clipped[heads][there] * step, gathered[there], lo, hi, levels)
                lows, highs = (np.asarray(each, dtype=np.float64).reshape(levels) for each in found)
                fine = bool(np.isfinite(lows).all() and np.isfinite(highs).all())
        except Exception:  # noqa: BLE001 -- whether it fails may depend on the data
            fine = False
        if not fine:
            lows, highs = np.full(levels, lo), np.full(levels, hi)
        lows, highs = np.minimum.accumulate(lows), np.maximum.accumulate(highs)
        return BoundaryLengths(lows, highs, step / 2, cap)


def _promise_kept(one: tuple[Reals, Reals], other: tuple[Reals, Reals]) -> bool:
    return bool((other[0][1:] <= one[0][:-1]).all() and (other[1][1:] >= one[1][:-1]).all())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundaryLengths:
    """Signed lengths from level ends (sensitive), in halves of a record: 0, ±1, ±3, ±5, ..."""

    lows: Reals
    highs: Reals
    half: float
    cap: int

    def at(self, halves: Integers) -> Integers:
        """Lengths of halves of lattice steps."""
        x = halves * self.half
        above = np.searchsorted(self.highs, x, side="left")
        below = np.searchsorted(-self.lows, -x, side="left")
        found = np.maximum(2 * above - 1, 0) - np.maximum(2 * below - 1, 0)
        lengths: Integers = np.clip(found, -self.cap, self.cap)
        return lengths


def true_location(run: Any) -> Fraction:
    """Where a score's sum over a plan's table is 0, or the middle of level 0 of boundaries.

    Huber's location without a width is that with the width that was released.
    """
    statistic = run.options.statistic
    if statistic is None:
        statistic = huber_score(run.answer.error_model.width)
    locate = _zero_of if isinstance(statistic, Score) else _middle_of
    return locate(statistic, run)


def _zero_of(score: Score, run: Any) -> Fraction:
    x = run.table.q.astype(np.float64) * float(run.step)
    lo, hi = float(x[0]), float(x[-1])
    for _ in range(_HALVINGS):
        centre = (lo + hi) / 2
        above = float(score.psi(x - centre) @ run.table.weights) > 0
        lo, hi = (centre, hi) if above else (lo, centre)
    return Fraction((lo + hi) / 2)


def _middle_of(statistic: Boundaries, run: Any) -> Fraction:
    table, lattice = run.table, run.lattice
    places, inverse = np.unique(table.q, return_inverse=True)
    counts = np.zeros(len(places), dtype=np.int64)
    np.add.at(counts, inverse, table.weights)
    there, values = counts > 0, np.asarray(places * float(run.step), dtype=np.float64)
    try:
        lows, highs = statistic.ends(values[there], counts[there], lattice.lo, lattice.hi, 1)
        return (Fraction(float(lows[0])) + Fraction(float(highs[0]))) / 2
    except Exception as error:
        raise InvalidArgument(
            f"{statistic.name} failed on {table.rows:,} synthetic records: {error}"
        ) from error
