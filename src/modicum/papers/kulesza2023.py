"""Kulesza, Suresh and Wang 2023: means of values in a known range.

Records are lattice integers in [lo, hi], the ends of the public range, to which every value is
clipped; w = hi - lo. Each algorithm releases two integers from which a count and a mean follow:

=======================  ========================  ===============================================
paper                    query                     pair
=======================  ========================  ===============================================
Algorithm 1              :func:`independent_mean`  sum and count, half of ε each
Algorithm 2              :func:`shifted_mean`      the sum about the middle, and the count
Algorithm 3              :func:`transformed_mean`  [bounded_mean.4] sums of x - lo and of hi - x,
                                                   all of ε
a remark to Algorithm 3  :func:`staircase_mean`    the same pair with one staircase
=======================  ========================  ===============================================

Algorithm 3 is the best of them, and what a mean that searches falls back on
(:func:`mean_in_range`). docs/research/proofs/bounded_mean.md has the proofs, with the same labels.

Differs from the text: noise is discrete on integers, so nothing is rounded; a noisy count of 0 or
less answers the middle of the range, where the text's ratio changes its sign; the remark that
staircases may replace the noise of Algorithm 3 is false of two independent ones, which cost 2 ε.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from sys import float_info

from modicum.codec import storable
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, LaplaceNoise, add_noise, laplace
from modicum.mechanisms.staircase import StaircaseTerm, staircase
from modicum.papers import rows
from modicum.privacy.budget import EPSILON_KINDS, Budget, Number, chosen_budget
from modicum.privacy.event import Event, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.release import Interval, Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import bounds, outside, spec, split, texts
from modicum.statistics.error_law import ErrorLaw
from modicum.statistics.population import SPENT, Squares, law_over_the_range
from modicum.status import OK, Status, hardly_seen
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum


@texts.documented
def independent_mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a mean by Algorithm 1: a noisy sum and a noisy count.

    For comparison. :func:`transformed_mean` is better on all data: the noise of this one grows with
    the distance of the range from 0, and half of ε goes to the count.

    Parameters
    ----------
    {column}
    within : (float, float)
        A public range that holds every value; the noise is on its scale.
    epsilon, budget : number, Budget
        Exactly one: the total cost as pure ε.
    {step}

    Returns
    -------
    Query
        Guarantee when answered: ε-DP for add-remove neighbours, that is one privacy unit more or
        less.

    {raises}

    Notes
    -----
    {missing}

    Examples
    --------
    >>> import modicum
    >>> table = modicum.Curator([4.0] * 1000, budget=modicum.pure(1))
    >>> 3 < table.run(independent_mean(within=(0, 10), epsilon=1)).value < 5
    True
    """
    return _asked(INDEPENDENT_MEAN, column, within, step, chosen_budget(epsilon, None, budget))


def shifted_mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a mean by Algorithm 2: a noisy sum about the middle of the range, and a noisy count.

    Algorithm 1 of Dick, Kulesza, Sun and Suresh 2023 is the same, but for the clipping of each
    record, which its text leaves out. For comparison: :func:`transformed_mean` has half of its mean
    squared error on all data. Parameters, guarantee, missing values and errors are as for
    :func:`independent_mean`.

    Examples
    --------
    >>> shifted_mean("age", within=(0, 120), epsilon=1).method
    'shifted'
    """
    return _asked(SHIFTED_MEAN, column, within, step, chosen_budget(epsilon, None, budget))


def transformed_mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a mean by Algorithm 3; the same as ``modicum.query.mean(method="bounded")``.

    Parameters, missing values and errors are as for :func:`independent_mean`; with rho, which the
    paper does not have, the pair has discrete Gaussian noise, and the guarantee is ρ-zCDP.

    Examples
    --------
    >>> import modicum
    >>> asked = dict(within=(0, 120), epsilon=1)
    >>> str(transformed_mean("age", **asked)) == str(
    ...     modicum.query.mean("age", method="bounded", **asked)
    ... )
    True
    """
    cost, lattice = chosen_budget(epsilon, rho, budget), Lattice.within(within, step)
    row = rows.bounded_mean(bounded_mean_steps)
    return row.query(spec.column_name(column), lattice, cost, split.BOTH_CLUSTERS[0])


def staircase_mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a mean by the pair of Algorithm 3 and one staircase of its L1 norm.

    Its mean squared error is that of :func:`transformed_mean` for ε up to 1, 5 % less at ε = 2 and
    27 % less at ε = 4. Parameters, guarantee, missing values and errors are as for
    :func:`independent_mean`.

    Examples
    --------
    >>> staircase_mean("age", within=(0, 120), epsilon=4).method
    'staircase'
    """
    return _asked(STAIRCASE_MEAN, column, within, step, chosen_budget(epsilon, None, budget))


def _asked(
    row: spec.Row[spec.NoOption, Release],
    column: str | None,
    within: tuple[float, float],
    step: float | None,
    cost: Budget,
) -> Query[Release]:
    return row.query(spec.column_name(column), Lattice.within(within, step), cost, spec.NoOption())


def independent(total: int, count: int, *, lo: int, hi: int, epsilon: Fraction) -> Additive:
    """Algorithm 1: sum and count, half of ε each; the sum has sensitivity max(|lo|, |hi|).

    One record x in [lo, hi] moves (sum, count) by (x, 1). Coordinate by coordinate the cost is
    |x| / (2 max(|lo|, |hi|) / ε) + 1 / (2 / ε) <= ε.
    """
    # [bounded_mean.1]
    half = epsilon / 2
    reach = max(abs(lo), abs(hi), 1)
    noise = (LaplaceNoise(reach / half), LaplaceNoise(1 / half))
    return Additive((total, count), noise, PureDP(epsilon))


def shifted(total: int, count: int, *, lo: int, hi: int, epsilon: Fraction) -> Additive:
    """Algorithm 2: twice the sum about the midpoint, and the count; half of ε each.

    2x - lo - hi lies in [-w, w]; doubling keeps the midpoint on the integers.
    """
    half = epsilon / 2
    noise = (LaplaceNoise(max(hi - lo, 1) / half), LaplaceNoise(1 / half))
    return Additive((2 * total - count * (lo + hi), count), noise, PureDP(epsilon))


def transformed(total: int, count: int, *, lo: int, hi: int, epsilon: Fraction) -> Additive:
    """Algorithm 3: (sum of x - lo, sum of hi - x), both at the full ε.

    One record moves the pair by (x - lo, hi - x), whose L1 norm is exactly w (Theorem 1 of the
    paper; its proof's "Lap(w/ε)" is a leftover of the unscaled form, which this is).
    """
    # [bounded_mean.2]
    return laplace(_pair(total, count, lo, hi), l1=max(hi - lo, 1), epsilon=epsilon)


def _pair(total: int, count: int, lo: int, hi: int) -> tuple[int, int]:
    """Sums of x - lo and of hi - x."""
    return total - count * lo, count * hi - total


def independent_value(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`independent`, clipped to [lo, hi]."""
    total, count = outcome
    return _clipped_ratio(total, count, lo, hi)


def shifted_value(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`shifted`, clipped to [lo, hi]."""
    doubled, count = outcome
    return _clipped_ratio(doubled + (lo + hi) * count, 2 * count, lo, hi)


def transformed_value(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`transformed`, clipped to [lo, hi]."""
    left, both = outcome[0], sum(outcome)
    return _clipped_ratio(lo * both + (hi - lo) * left, both, lo, hi)


def _clipped_ratio(numerator: int, denominator: int, lo: int, hi: int) -> Fraction:
    """Ratio clipped to the interval; the middle of the interval if the denominator is <= 0.

    See [bounded_mean.3].
    """
    if denominator <= 0:
        return Fraction(lo + hi, 2)
    if numerator <= lo * denominator:
        return Fraction(lo)
    return Fraction(hi) if numerator >= hi * denominator else Fraction(numerator, denominator)


_USELESS = 4  # an interval wider than this part of the range says next to nothing

TOO_LITTLE = Status(
    "few_records",
    "too little data for this budget: the interval is wider than a quarter of the range; narrow "
    "`within` or spend more",
)


@dataclass(frozen=True, slots=True)
class _RangeErrorModel(ABC):
    """A mean over the public range: the interval covers all noise, and nothing is clipped."""

    lattice: Lattice

    @property
    @abstractmethod
    def value(self) -> Fraction: ...

    @abstractmethod
    def ends(self, alpha: float) -> tuple[float, float]:
        """Bounds of the mean in lattice steps, each with half of the error probability."""

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return an interval, the same for every tail.

        Rounding moves each value, and so the mean, by half a step at most.
        """
        lower, upper = self.ends(1 - level)
        value, step = float(self.value), self.lattice.step
        return Interval(
            min(max((lower - 0.5) * step, self.lattice.lo), value),
            max(min((upper + 0.5) * step, self.lattice.hi), value),
        )

    @property
    def status(self) -> Status:
        interval = self.interval(0.95, None)
        width = interval.upper - interval.lower
        return OK if _USELESS * width < self.lattice.hi - self.lattice.lo else TOO_LITTLE

    @property
    def condition(self) -> str:
        return ""

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() covers all noise and assumes nothing: no value within the range is clipped."
        )


@storable
@dataclass(frozen=True, slots=True)
class SumAndCountErrorModel(_RangeErrorModel):
    """A mean from a noisy sum and a noisy count (in lattice steps), see [bounded_mean.5].

    If it is ``shifted``, the sum is twice that about the middle of the range.
    """

    shifted: bool
    total: int
    count: int
    noise: outside.NoisyTerm
    count_noise: outside.NoisyTerm

    @property
    def value(self) -> Fraction:
        mean_of = shifted_value if self.shifted else independent_value
        ends = {"lo": self.lattice.first, "hi": self.lattice.last}
        return self.lattice.inside(mean_of((self.total, self.count), **ends))

    def ends(self, alpha: float) -> tuple[float, float]:
        """Return the ratio's extremes over the noises' box.

        The true count is at least 1, since without a record there is no mean.
        """
        z, t = self.noise.bound(alpha / 2), self.count_noise.bound(alpha / 2)
        counts = max(self.count - t, 1.0), max(self.count + t, 1.0)
        middle, parts = 0.0, 1
        if self.shifted:
            middle, parts = (self.lattice.first + self.lattice.last) / 2, 2
        lower = middle + min((self.total - z) / (parts * n) for n in counts)
        upper = middle + max((self.total + z) / (parts * n) for n in counts)
        return lower, upper

    @property
    def few_seen(self) -> bool:
        return hardly_seen(self.count, self.count_noise.bound(0.1))

    def to_dict(self) -> dict[str, object]:
        return {
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
        }


@storable
@dataclass(frozen=True, slots=True)
class BoundedErrorModel(_RangeErrorModel):
    """A mean from noisy sums of x - lo and of hi - x (in lattice steps), each with the same noise.

    ``home`` is a public point that most records have: the estimate, if noise may explain the rest.
    """

    left: int
    right: int
    noise: outside.NoisyTerm | StaircaseTerm
    home: int | None = None
    squares: Squares | None = None

    @property
    def value(self) -> Fraction:
        if self.home is not None and self.at_home:
            return self.lattice.inside(self.home)
        return _mean_of(self.lattice, self.left, self.right)

    @property
    def at_home(self) -> bool:
        """Whether all records may be at a public point, as far as noise tells."""
        return self.home is not None and self._all_at(self.home)

    def _all_at(self, home: int) -> bool:
        """Whether noise may explain the sum of x - home.

        It is (left (last - home) - right (home - first)) / width, and the noise of that is at most
        the larger distance over the width times the noise of one of them.
        """
        below, above = home - self.lattice.first, self.lattice.last - home
        deviation = self.left * above - self.right * below
        return self.noise.explains(deviation / max(below, above, 1))

    @property
    def count(self) -> float:
        return (self.left + self.right) / max(self.lattice.width, 1)

    def ends(self, alpha: float) -> tuple[float, float]:
        """Return the ratio's extremes over the noise's box.

        The true sums are at least 0, so negative ones are taken as 0: then the interval never
        shrinks to a point.
        """
        sums, z = (max(self.left, 0), max(self.right, 0)), self.noise.bound(alpha / 2)
        lower, upper = (
            self.lattice.first + self.lattice.width * share
            for share in outside.share_between(*sums, z)
        )
        return lower, upper

    def error_law(self, alpha: float, tail: float | None, *, population: bool) -> ErrorLaw | None:
        """Return the law of the errors; no tail plays a part, since nothing is clipped."""
        noise = self.noise.noise
        if noise is None:
            return None
        sums, box = (self.left, self.right), self.ends(0.5 * SPENT * alpha)
        return law_over_the_range(
            self.lattice,
            float(self.value),
            sums,
            noise,
            box,
            self.squares,
            alpha,
            population=population,
        )

    @property
    def few_seen(self) -> bool:
        return hardly_seen(self.count, self.noise.bound(0.1) / max(self.lattice.width, 1))

    def to_dict(self) -> dict[str, object]:
        noise = min(self.noise.variance**0.5 * self.lattice.step, float_info.max)
        return {"count": self.count, "noise_sd": noise}


@lru_cache(maxsize=1 << 8)  # an interval, and what is said with it, ask for it again
def _mean_of(lattice: Lattice, left: int, right: int) -> Fraction:
    return lattice.inside(transformed_value((left, right), lo=lattice.first, hi=lattice.last))


def mean_in_range(here: bounds.Setting, home: int | None = None) -> Steps[BoundedErrorModel]:
    """Spend all that is left on the mean over the range; ``home`` as in the error model.

    See [bounded_mean.4].
    """
    first, last = here.lattice.first, here.lattice.last
    clipped = yield from read(here.ask(ClippedSum(first, last)))
    return (yield from mean_between(here, here.lattice, clipped.total, clipped.count, home))


def mean_between(
    here: bounds.Setting, ends: Lattice, total: int, count: int, home: int | None = None
) -> Steps[BoundedErrorModel]:
    """Spend all that is left on the mean of so many records, of a sum, clipped to some ends."""
    pair = _pair(total, count, ends.first, ends.last)
    mechanism = here.split.spend(add_noise(pair, here.split.rest(), sensitivity=max(ends.width, 1)))

    def model_of(sums: tuple[int, ...]) -> BoundedErrorModel:
        noise = outside.NoisyTerm(mechanism.noise[0], 1.0)
        return BoundedErrorModel(ends, sums[0], sums[1], noise, home)

    def words(sums: tuple[int, ...]) -> str:
        found = model_of(sums)
        return f"mean {float(found.value):,.6g} of about {max(found.count, 0):,.0f} rows"

    label = "mean over the range" if ends == here.lattice else "mean between the bounds"
    sums = yield from draw(label, mechanism, words)
    return model_of(sums)


def _sum_and_count(
    column: str | None, lattice: Lattice, event: Event, *, build: Callable[..., Additive]
) -> Steps[ScalarEstimate]:
    first, last = lattice.first, lattice.last
    clipped = yield from read(Read(column, lattice, ClippedSum(first, last)))
    mechanism = build(clipped.total, clipped.count, lo=first, hi=last, epsilon=event.largest_pure)
    total, count = yield from draw("sum and count", mechanism)
    noise, count_noise = (outside.NoisyTerm(each, 1.0) for each in mechanism.noise)
    error_model = SumAndCountErrorModel(lattice, build is shifted, total, count, noise, count_noise)
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _staircase(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """The pair of Algorithm 3 with a staircase."""
    first, last = lattice.first, lattice.last
    clipped = yield from read(Read(column, lattice, ClippedSum(first, last)))
    pair = _pair(clipped.total, clipped.count, first, last)
    mechanism = staircase(pair, l1=max(lattice.width, 1), epsilon=event.largest_pure)
    left, right = yield from draw("staircase sums", mechanism)
    error_model = BoundedErrorModel(lattice, left, right, mechanism.term)
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def bounded_mean_steps(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """Estimate a mean in its range with all of an event."""
    """Estimate a mean in its range with all of an event."""
    error_model = yield from mean_in_range(bounds.Setting(column, lattice, BudgetSplit(event)))
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _row(
    method: str, summary: str, begin: Callable[[str | None, Lattice, Event], Steps[ScalarEstimate]]
) -> spec.Row[spec.NoOption, Release]:
    return spec.Row(
        "mean",
        method,
        (spec.NoOption(),),
        "bounded_mean",
        summary,
        lambda column, lattice, event, _: begin(column, spec.ranged(lattice), event),
        kinds=EPSILON_KINDS,
    )


INDEPENDENT_MEAN = _row(
    "independent",
    "mean by a noisy sum and a noisy count (Kulesza et al. 2023, Algorithm 1)",
    partial(_sum_and_count, build=independent),
)
SHIFTED_MEAN = _row(
    "shifted",
    "mean by a noisy sum about the middle and a noisy count (Kulesza et al. 2023, Algorithm 2)",
    partial(_sum_and_count, build=shifted),
)
STAIRCASE_MEAN = _row(
    "staircase",
    "mean by the pair of Kulesza et al. 2023, Algorithm 3, with one staircase of its norm",
    _staircase,
)


def _planned(name: str, noun: str) -> spec.Planned:
    call = f"release({name}, within=(0, 120), sd=20, mean=40, n=1000, epsilon=1)"
    return spec.Planned(
        noun, spec.error_between(call, "0", "1"), truth=rows.true_mean, sampled=True
    )


STATISTICS = (
    spec.Declaration(
        independent_mean,
        (INDEPENDENT_MEAN,),
        plan=_planned("independent_mean", "a mean by Algorithm 1"),
    ),
    spec.Declaration(
        shifted_mean,
        (SHIFTED_MEAN,),
        plan=_planned("shifted_mean", "a mean by Algorithm 2"),
    ),
    spec.Declaration(
        transformed_mean,
        (),  # the row of ``modicum.mean``
        plan=_planned("transformed_mean", "a mean by Algorithm 3"),
    ),
    spec.Declaration(
        staircase_mean,
        (STAIRCASE_MEAN,),
        plan=_planned("staircase_mean", "a mean by a staircase"),
    ),
)
