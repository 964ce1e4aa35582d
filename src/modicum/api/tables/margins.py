"""Margins that add up: how a budget is shared, least squares, and the law of what remains wrong.

Cells and sums of cells are measured with independent noise of known laws. The best linear unbiased
estimate of the cells given all of it, and the sums of these cells, add up by construction. Nothing
here sees data: everything follows from released numbers and public parameters
(docs/research/proofs/crosstab.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from modicum.errors import can_be_key
from modicum.mechanisms.additive import Noise
from modicum.stored.codec import storable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Names = tuple[str, ...]

PARTS = 200
"""A share of the budget is a multiple of one of so many parts."""
_MOST_SUMS = 4096  # of all margins together, for which the equations are solved
_WORTH = 0.95  # of the squared errors that are left if cells alone are measured


@storable
@dataclass(frozen=True, slots=True)
class Layout:
    """Which cells there are, and which of them each sum of each margin adds up: all public.

    ``keys`` are the cells, one label for each column of ``by``; ``margins`` are the columns that a
    margin keeps. The whole table, with all columns, is not among them.

    Examples
    --------
    >>> layout = Layout(("a", "b"), ((1, "x"), (1, "y"), (2, "x")), (("a",), ()))
    >>> layout.sums(("a",)), layout.places(("a",)).tolist(), layout.sizes
    (((1,), (2,)), [0, 0, 1], (2, 1))
    """

    by: Names
    keys: tuple[tuple[object, ...], ...]
    margins: tuple[Names, ...]

    def sums(self, margin: Names) -> tuple[tuple[object, ...], ...]:
        """Return the labels of the sums of a margin, in the order of the cells."""
        return _placed(self, margin)[0]

    def places(self, margin: Names) -> Integers:
        """Return of which sum of a margin each cell is a part."""
        return _placed(self, margin)[1]

    def column_of(self, label: object) -> str | None:
        """Return the column, one of several, that has a label; ``None`` if none has."""
        one = (name for name in self.by if len(self.by) > 1 and can_be_key(label))
        return next((name for name in one if (label,) in self.sums((name,))), None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many sums each margin has."""
        return tuple(len(self.sums(margin)) for margin in self.margins)

    def widest(self, margin: Names) -> int:
        """The most cells of one sum of a margin."""
        return int(np.bincount(self.places(margin)).max(initial=0))


@lru_cache(maxsize=32)
def _placed(layout: Layout, margin: Names) -> tuple[tuple[tuple[object, ...], ...], Integers]:
    at = [layout.by.index(name) for name in margin]
    numbers: dict[tuple[object, ...], int] = {}
    parts = (tuple([key[place] for place in at]) for key in layout.keys)
    places = [numbers.setdefault(part, len(numbers)) for part in parts]
    found = np.array(places, dtype=np.int64)
    found.flags.writeable = False
    return tuple(numbers), found


class _Strata:
    """Orthogonal parts of a table, of which each margin sees some: exact if it is balanced.

    A part belongs to the smallest margin that sees it. What measures a margin of n sums with
    variance v says N/(n v) of each of its parts, N the number of cells [crosstab.3].
    """

    def __init__(self, layout: Layout) -> None:
        whole = frozenset(layout.by)
        self.margins = [whole, *map(frozenset, layout.margins)]
        self.sizes = np.array([len(layout.keys), *layout.sizes], dtype=np.float64)
        seen = {*self.margins}
        while more := {a & b for a in seen for b in seen} - seen:
            seen |= more
        closed = sorted(seen, key=lambda part: (len(part), sorted(part)))
        widths: dict[frozenset[str], float] = {}
        for part in closed:
            names = tuple(name for name in layout.by if name in part)
            below = sum(width for other, width in widths.items() if other < part)
            widths[part] = max(len(layout.sums(names)) - below, 0.0)
        self._sees = np.array([[part <= margin for part in closed] for margin in self.margins])
        self._widths = np.array([widths[part] for part in closed])

    def squared_errors(self, variances: Floats) -> Floats:
        """Return the sum of the variances of the adjusted sums of each margin, the cells first."""
        cells = self.sizes[0]
        with np.errstate(divide="ignore"):
            known = (cells / self.sizes / variances) @ self._sees
            found: Floats = (cells / self.sizes) * (self._sees @ (self._widths / known))
        return found


def shares(layout: Layout, noise_variances: Callable[[int, int], float]) -> tuple[int, ...]:
    """Share the budget between the cells and the margins, in parts of 200 [crosstab.4].

    ``noise_variances(margin, part)`` is the variance of the noise of a sum of a margin, the cells
    being number 0, for a part of the budget. The least sum of all squared errors is sought by
    moving parts from one to another, from several starts: what is found is a choice that depends on
    public numbers only. Cells alone are measured unless margins make it a good part smaller, or if
    the margins have thousands of sums.
    """
    count = len(layout.margins) + 1
    alone, rest = (PARTS, *[0] * (count - 1)), PARTS * 3 // 10
    if sum(layout.sizes) > _MOST_SUMS:
        return alone
    strata = _Strata(layout)
    known: dict[tuple[int, int], float] = {}

    def variance(margin: int, part: int) -> float:
        if (margin, part) not in known:
            known[margin, part] = _at_least(noise_variances(margin, part)) if part else math.inf
        return known[margin, part]

    def loss(parts: Sequence[int]) -> float:
        if not parts[0]:
            return math.inf
        variances = np.array([variance(margin, part) for margin, part in enumerate(parts)])
        return float(strata.squared_errors(variances).sum())

    starts = []
    for active in [[margin] for margin in range(1, count)] + [[*range(1, count)]] * (count > 2):
        each = rest // len(active)
        starts.append([each * (margin in active) for margin in range(count)])
        starts[-1][0] = PARTS - sum(starts[-1])
    best = min((_moved(start, loss) for start in starts), key=loss, default=alone)
    return best if loss(best) < _WORTH * loss(alone) else alone


def _at_least(variance: float) -> float:
    """A variance that may be divided by: that of noise at an ε of hundreds is 0 in floats."""
    return max(variance, 1e-300)


def _moved(start: Sequence[int], loss: Callable[[Sequence[int]], float]) -> tuple[int, ...]:
    """Move parts from one to another as long as that helps, many at first, then few."""
    best, least, size = list(start), loss(start), PARTS // 8
    while size:
        before = least
        for source, target in permutations(range(len(best)), 2):
            moved = best.copy()
            moved[source] -= size
            moved[target] += size
            if moved[source] >= 0 and (value := loss(moved)) < least * (1 - 1e-9):
                best, least = moved, value
        if least == before:
            size //= 2
    return tuple(best)


@storable
@dataclass(frozen=True, slots=True)
class NoisySums:
    """Released sums of a margin with independent noise; ``values`` is empty if it was not."""

    values: tuple[int, ...] = ()
    noise: Noise | None = None


class LeastSquares:
    """The best estimate of the cells, given the cells and margins that were measured.

    With y the measured cells of variance s, and z the measured sums, B of the true cells, of
    variances D, it is y + s B' A^-1 (z - B y), A = D + s B B' [crosstab.5].
    """

    def __init__(self, layout: Layout, cells: Noise, margins: Sequence[Noise | None]) -> None:
        self._layout, self._cells = layout, cells
        self._noises = [noise for noise in margins if noise is not None]
        self._of = [
            layout.places(margin)
            for margin, noise in zip(layout.margins, margins, strict=True)
            if noise is not None
        ]
        sizes = [int(places.max(initial=-1)) + 1 for places in self._of]
        self._starts = np.cumsum([0, *sizes])
        self._variance = _at_least(cells.variance)
        self._parts = np.array([
            places + start for places, start in zip(self._of, self._starts, strict=False)
        ]).reshape(len(self._of), len(layout.keys))  # the sums of each cell  # fmt: skip
        variances = [
            np.full(size, _at_least(noise.variance))
            for size, noise in zip(sizes, self._noises, strict=True)
        ]
        self._d = np.concatenate([np.empty(0), *variances])
        self._overlaps = np.zeros((len(self._d), len(self._d)))
        for one in self._parts:
            for other in self._parts:
                np.add.at(self._overlaps, (one, other), 1.0)
        # Scaled by the roots of D, so that noise of any size is solved alike.
        scale = 1 / np.sqrt(self._d)
        a = np.eye(len(self._d)) + self._variance * self._overlaps * np.outer(scale, scale)
        self._inverse = scale[:, None] * np.linalg.inv(a) * scale if len(a) else a

    def corrections(self, cells: Sequence[int], margins: Sequence[NoisySums]) -> Floats:
        """Return what is to be added to each measured cell."""
        measured = [each.values for each in margins if each.noise is not None]
        gaps = []
        for values, places in zip(measured, self._of, strict=True):
            gap = list(values)
            for value, place in zip(cells, places.tolist(), strict=True):
                gap[place] -= value  # integers of any size
            gaps += [float(each) for each in gap]
        if not gaps:
            return np.zeros(len(cells))
        solved = self._variance * (self._inverse @ np.array(gaps))
        found: Floats = solved[self._parts].sum(axis=0)
        return found

    def weights(self, cells: Integers) -> tuple[Floats, list[Floats]]:
        """Return the factors of all noises in the error of a sum of adjusted cells.

        Those of the cells, and those of the sums of each measured margin [crosstab.6].
        """
        number = len(self._layout.keys)
        chosen = np.zeros(number)
        chosen[cells] = 1.0
        if not len(self._d):
            return chosen, []
        of_sums = np.zeros(len(self._d))
        for places in self._parts:
            of_sums += np.bincount(places[cells], minlength=len(self._d))
        solved = self._variance * (self._inverse @ of_sums)
        own = chosen - solved[self._parts].sum(axis=0)
        return own, np.split(solved, self._starts[1:-1])

    def law(self, cells: Integers) -> ErrorOfSum:
        """Return the law of the error of a sum of adjusted cells."""
        own, of_margins = self.weights(cells)
        parts = [(self._cells, own), *zip(self._noises, of_margins, strict=True)]
        return ErrorOfSum(
            tuple(term for noise, factors in parts for term in _terms(noise, factors))
        )

    def variances(self, places: Integers) -> Floats:
        """Return the variances of the sums of adjusted cells with equal places [crosstab.6]."""
        counts = np.bincount(places)
        found = self._variance * counts.astype(np.float64)
        if not len(self._d):
            return found
        if len(counts) == len(places):  # single cells: each is part of few sums
            for one in self._parts:
                for other in self._parts:
                    found[places] -= self._variance**2 * self._inverse[one, other]
            return found
        shared = np.zeros((len(counts), len(self._d)))
        for parts in self._parts:
            np.add.at(shared, (places, parts), 1.0)
        found -= self._variance**2 * np.einsum("ij,ij->i", shared @ self._inverse, shared)
        return found


def _terms(noise: Noise, factors: Floats) -> Iterator[tuple[Noise, float, int]]:
    """Gather equal factors: noise, factor and how many there are."""
    sizes = np.abs(factors)
    most = sizes.max(initial=0.0)
    rounded = np.round(sizes / most, 9) * most if most else sizes
    for size, times in zip(*np.unique(rounded, return_counts=True), strict=True):
        if size > 1e-9 * most:
            yield noise, float(size), int(times)


_PERIOD = 64.0  # standard deviations after which the numerical law repeats
_BLUR = 0.02  # standard deviations within which a bound is exact
_FOLDS = 8  # uniform numbers of which the blur is the sum
_RIPPLE = 1e-7  # what is left out of the inversion
_FREQUENCIES = 20_000  # of an expected size


@dataclass(frozen=True, slots=True)
class ErrorOfSum:
    """The law of a sum of independent noises with factors: noise, factor and how many of each.

    Its tail comes from its characteristic function, and not from a normal approximation
    [crosstab.7].

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import LaplaceNoise
    >>> one = LaplaceNoise(Fraction(1))
    >>> ErrorOfSum(((one, 1.0, 1),)).bound(0.05) == one.tail_bound(0.05)
    True
    >>> 9 < ErrorOfSum(((one, 1.0, 12),)).bound(0.05) < 9.8
    True
    """

    terms: tuple[tuple[Noise, float, int], ...]

    @property
    def variance(self) -> float:
        """Sum of the variances, or an upper bound of it."""
        return math.fsum(factor**2 * times * noise.variance for noise, factor, times in self.terms)

    def bound(self, alpha: float) -> float:
        """Return a t with P(|error| > t) <= alpha."""
        if len(self.terms) == 1 and self.terms[0][2] == 1:
            noise, factor, _ = self.terms[0]
            return factor * noise.tail_bound(alpha)
        return _bound(self.terms, alpha)

    @property
    def expected_size(self) -> float:
        """E |error|, from (1 - cos ux) / u² whose integral over u > 0 is pi |x| / 2.

        The trapezoidal rule is exact for it, up to |x| = a period; what lies beyond the last
        frequency is at most 1 over it.
        """
        sd = _scale(self.terms)
        if not sd:
            return 0.0
        step = 2 * math.pi / (_PERIOD * sd)
        u: Floats = np.arange(1, _FREQUENCIES + 1, dtype=np.float64) * step
        phi = _transform(self.terms, u)
        heights = (1 - phi) / u**2  # half of the first is nearly what stands at 0
        inner = step * float(heights.sum() + heights[0] / 2)
        return 2 / math.pi * (inner + (1 - float(phi.mean())) / float(u[-1]))


def _scale(terms: tuple[tuple[Noise, float, int], ...]) -> float:
    """Return the standard deviation, or more for noise that is hardly ever not 0."""
    sd = math.sqrt(math.fsum(f**2 * times * noise.variance for noise, f, times in terms))
    return max((sd, *(factor for _, factor, _ in terms)))


def _transform(terms: tuple[tuple[Noise, float, int], ...], u: Floats) -> Floats:
    phi = np.ones(len(u))
    for noise, factor, times in terms:
        phi *= noise.transform(u * factor) ** times
    return phi


@lru_cache(maxsize=4096)
def _bound(terms: tuple[tuple[Noise, float, int], ...], alpha: float) -> float:
    """Solve P(|error| > t) <= alpha.

    With G a sum of uniform numbers within [-w, w], |error| > t implies |error + G| > t - w. The
    characteristic function of G ends the sum over frequencies early.
    """
    if not terms:
        return 0.0
    sd = _scale(terms)
    blur, step = _BLUR * sd, 2 * math.pi / (_PERIOD * sd)
    most = _FOLDS / blur * (2 / (math.pi * _FOLDS * _RIPPLE)) ** (1 / _FOLDS)
    u: Floats = np.arange(1, math.ceil(most / step) + 1) * step
    phi = np.sinc(u * blur / (_FOLDS * math.pi)) ** _FOLDS * _transform(terms, u)
    phi *= step / (math.pi * u)
    # P(|X| > t) of the periodic law = 1 - t/(half a period) - 2 sum of phi(u) sin(u t).
    low, high = 0.0, _PERIOD / 2 * sd

    def beyond(t: float) -> float:
        return 1 - step * t / math.pi - 2 * float(phi @ np.sin(u * t)) + _RIPPLE

    while high - low > 1e-3 * sd:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > alpha else (low, middle)
    return high + blur


def whole_corrections(layout: Layout, corrections: Floats) -> tuple[int, ...]:
    """Round corrections to integers, so that their sums are near those of the corrections.

    One cell after the other is rounded down or up, to what keeps the sums of all margins closer to
    what they should be.

    Examples
    --------
    >>> layout = Layout(("a",), ((1,), (2,), (3,), (4,)), ((),))
    >>> whole_corrections(layout, np.array([0.5, 0.25, 0.25, 1.0]))
    (0, 0, 1, 1)
    """
    parts = [layout.places(margin).tolist() for margin in layout.margins]
    over = [[0.0] * size for size in layout.sizes]
    whole: list[int] = []
    for cell, wanted in enumerate(corrections.tolist()):
        down = math.floor(wanted)
        drift = sum(sums[places[cell]] for sums, places in zip(over, parts, strict=True))
        # Rounding to r adds (r - wanted) to each sum: the sum of the squares is least at this r.
        aim = wanted - down - drift / (1 + len(parts))
        rounded = down + (aim > 0.5)
        whole.append(rounded)
        for sums, places in zip(over, parts, strict=True):
            sums[places[cell]] += rounded - wanted
    return tuple(whole)
