"""Skewness: sums of three powers about a rough mean, within the bounds of found_spread.py.

[skewness.1] powers  the sums of (x - m), (x - m)² and (x - m)³ in one draw, with most of the
                     budget;
[skewness.2] noise   an interval for the data clipped to the bounds;
[skewness.3] clipped what is beyond them, by counts near the bounds.

docs/research/proofs/skewness.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import OK, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps
from modicum.statistics import spec, texts
from modicum.statistics.means.found_spread import Powers, powers_in_window
from modicum.statistics.means.squares import PowersErrorModel
from modicum.statistics.options import NoOption
from modicum.statistics.ranges.bounds import Setting
from modicum.statistics.ranges.window import Found, in_window
from modicum.statistics.tails import outside
from modicum.statistics.tails.outside import UNCHECKED
from modicum.stored.codec import storable
from modicum.summaries.sums import ClippedPowers, PowerSummary
from modicum.summaries.synthetic import SyntheticTable

_WEIGHTS = (1, 2, 4)
_VAGUE = 2.0  # an interval of clipped data this wide says next to nothing
NOISY = Status(
    "wide_noise",
    "the noise of so few rows, or of so far ones, is as large as the skewness of ordinary data; a "
    "larger budget helps",
)
EQUAL = Status(
    "wide_noise",
    "all rows but a few are (nearly) equal, and those few may make any skewness, which is given "
    "as 0",
)


@texts.documented
def skewness(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for the skewness of a column, with no bounds to guess.

    It is the mean of the cubed distances from the mean, divided by the cube of the standard
    deviation, as ``scipy.stats.skew`` is; 0 if all values are equal.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}

    {returns}

    {raises}

    Notes
    -----
    {missing}

    Values far out are clipped, as for a variance, and may decide a skewness: the default interval
    allows for a tail of index 4; ``interval(tail=8)`` is for data that are known to be lighter,
    ``interval(tail=None)`` for the clipped data, and of a tail of index 3 there is no skewness.

    Examples
    --------
    >>> skewness("income", within=(-1e9, 1e9), epsilon=1).statistic
    'skewness'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    return SKEWNESS.query(spec.column_name(column), lattice, cost, NoOption())


def skewness_in_window(here: Setting, found: Found) -> Steps[ScalarEstimate]:
    """Estimate the skewness of records whose window was found."""
    return powers_in_window(_POWERS, here, found)


def _drawn(powers: PowerSummary, reach: int) -> tuple[tuple[int, ...], int]:
    """[skewness.1] The sums that are drawn, and how far one record moves them."""
    return tuple(_weighted(powers.totals, reach)), sum(_WEIGHTS) * reach**3


def _weighted(totals: Sequence[int], reach: int) -> list[int]:
    """[skewness.1] Sums of three powers in one unit, with their weights."""
    pairs = enumerate(zip(_WEIGHTS, totals, strict=True), start=1)
    return [weight * total * reach ** (3 - k) for k, (weight, total) in pairs]


Range = tuple[float, float]


@storable
@dataclass(frozen=True, slots=True)
class SkewnessErrorModel(PowersErrorModel):
    """Powers of clipped data about a released rough mean m.

    ``sums`` are R² A1, 2 R A2 and 4 A3, A_k the sum of (x - m)^k and R the largest |x - m|.
    """

    order: ClassVar[int] = 3

    @property
    def explained(self) -> bool:
        return self.sums[1] <= 0 or self.noise.explains(self.sums[1])

    @property
    def value(self) -> Fraction:
        if self.explained:
            return Fraction(0)
        first, second, third = self._moments()
        spread = second - first**2
        if spread <= 0:
            return Fraction(0)
        central = float(third - 3 * first * second + 2 * first**3)
        most = math.sqrt(max(float(self.counted.value), 1.0))
        return Fraction(min(max(central / float(spread) ** 1.5, -most), most))

    @property
    def squared(self) -> float:
        unit = _WEIGHTS[1] * float(self.reach) ** 3 * float(self.counted.value)
        return (self.sums[1] - self.noise.bound(outside.NOISE_OF_EVIDENCE)) / unit

    def _moments(self) -> tuple[Fraction, ...]:
        """Mean powers in units of the reach, M_k / R^k."""
        unit = self.reach**3 * self.counted.value
        return tuple(sum_ / (w * unit) for sum_, w in zip(self.sums, _WEIGHTS, strict=True))

    def status_in(self, found: Found, *, few: bool) -> Status:
        status = PowersErrorModel.status_in(self, found, few=few)
        if status not in (OK, UNCHECKED):
            return status
        if self.explained:
            return EQUAL
        lower, upper = self.interval(0.95, None)
        return NOISY if upper - lower > _VAGUE else status

    def redrawn(self, table: SyntheticTable) -> outside.Redrawn:
        powers = [table.power(self.lo, self.hi, self.rough.value, k) for k in (1, 2, 3)]
        exact = _weighted(powers, self.reach)
        return outside.Redrawn(
            (self.noise.noise,) * 3,
            lambda *z: (
                replace(self, sums=tuple(a + b for a, b in zip(exact, z, strict=True))).value
            ),
        )

    def interval(self, level: float, tail: float | None) -> Interval:
        """[skewness.2], [skewness.3] For the skewness, of the clipped data if ``tail`` is None."""
        share = (1 - level) / 4
        t, z = self.counted.bound(share), self.noise.bound(share)
        most = math.sqrt(max(float(self.counted.value) + t, 1.0))
        least = float(self.counted.value) - t
        if least <= 0 or (self.clips and tail is not None and tail <= self.order):
            return Interval(-most, most)
        ratio = float(self.counted.value) / least, float(self.counted.value) / (least + 2 * t)
        unit = float(self.reach) ** 3 * float(self.counted.value)
        moments = []
        for moment, weight in zip(self._moments(), _WEIGHTS, strict=True):
            ends = [float(moment) + sign * z / (weight * unit) for sign in (-1, 1)]
            moments.append(_hull(end * r for end in ends for r in ratio))
        if tail is not None:
            moments = self._unclipped(moments, tail, least)
        lower, upper = _skewness_of(_rounded(moments, 1 / self.reach), most)
        return Interval(min(lower, float(self.value)), max(upper, float(self.value)))

    def _unclipped(self, moments: list[Range], tail: float, least: float) -> list[Range]:
        """[skewness.3] Add what clipping may have taken from each moment, in units of the reach."""
        found = [list(each) for each in moments]
        for side in (0, 1):
            for k in (1, 2, 3):
                added = self.missing(side, tail, k) / float(self.reach) ** k / least
                if side or k == 2:
                    found[k - 1][1] += added
                else:
                    found[k - 1][0] -= added
        return [(lower, upper) for lower, upper in found]

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return self.clipped_in_words("skewness", "the noise and the noisy count")
        return self.tail_in_words(tail)

    def to_dict(self) -> dict[str, object]:
        return self.shown(moments=[float(moment) for moment in self._moments()])


def _hull(values: Iterable[float]) -> Range:
    listed = list(values)
    return min(listed), max(listed)


def _rounded(moments: list[Range], step: float) -> list[Range]:
    """[skewness.2] Widen bounds on mean powers by what rounding to a step may have moved them."""
    (a, b), (p, q), (low, high) = moments
    root = math.sqrt(max(q, 0.0))
    second = step * root + step**2 / 4
    third = 1.5 * step * max(q, 0.0) + 0.75 * step**2 * root + step**3 / 8
    return [(a - step / 2, b + step / 2), (p - second, q + second), (low - third, high + third)]


def _skewness_of(moments: list[Range], most: float) -> Range:
    """[skewness.2] Bounds on N / V^(3/2), by interval arithmetic."""
    (a, b), (p, q), (low, high) = moments
    products = _hull(3 * first * second for first in (a, b) for second in (p, q))
    numerator = low - products[1] + 2 * a**3, high - products[0] + 2 * b**3
    least = p - max(a * a, b * b)
    if least <= 0:
        return -most, most
    spreads = least**1.5, (q - (0.0 if a <= 0 <= b else min(a * a, b * b))) ** 1.5
    lower, upper = _hull(n / v for n in numerator for v in spreads)
    return max(lower, -most), min(upper, most)


def _true_skewness(table: Any) -> Fraction:
    """Skewness of a plan's table."""
    rows, lo, hi = table.rows, int(table.q[0]), int(table.q[-1])
    centre = min(max(round(table.mean()), lo), hi)
    first, second, third = (Fraction(table.power(lo, hi, centre, k), rows) for k in (1, 2, 3))
    spread = float(second - first**2)
    central = float(third - 3 * first * second + 2 * first**3)
    return Fraction(central / spread**1.5) if spread else Fraction(0)


_POWERS = Powers(
    ClippedPowers,
    _drawn,
    SkewnessErrorModel,
    "powers about the rough mean",
    lambda model: f"skewness {float(model.value):.6g}",
)

SKEWNESS = spec.Row(
    "skewness",
    "adaptive",
    (NoOption(),),
    "skewness",
    "skewness with noise on the scale of the data's own spread",
    lambda column, lattice, event, _: in_window(skewness_in_window, column, event, lattice),
    by_window=True,
    strength=spec.FOR_FAR_VALUES,
)

STATISTICS = (
    spec.Declaration(
        skewness,
        (SKEWNESS,),
        spec.shows_between("skewness", "within=(-1e9, 1e9), ", -0.2, 0.2),
        command="people.parquet income --within=-1e9,1e9 --epsilon 1",
        tail=True,
        plan=spec.Planned(
            "a skewness",
            spec.error_between(
                'skewness(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")',
                "0",
                "0.1",
            ),
            command="--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=lambda run: _true_skewness(run.table),
            note="The largest records decide, so the shape matters even more than for a variance.",
        ),
    ),
)
