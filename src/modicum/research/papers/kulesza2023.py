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
(``ranges/bounded_mean.py``). docs/research/proofs/bounded_mean.md has the proofs, with the same
labels.

Differs from the text: noise is discrete on integers, so nothing is rounded; a noisy count of 0 or
less answers the middle of the range, where the text's ratio changes its sign; the remark that
staircases may replace the noise of Algorithm 3 is false of two independent ones, which cost 2 ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from sys import float_info

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, LaplaceNoise, laplace
from modicum.mechanisms.staircase import staircase
from modicum.privacy.budget import EPSILON_KINDS, Budget, Number, chosen_budget
from modicum.privacy.event import Event, PureDP
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import hardly_seen
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.means import ways
from modicum.statistics.options import NoOption
from modicum.statistics.ranges import split
from modicum.statistics.ranges.bounded_mean import (
    BoundedErrorModel,
    PublicRangeErrorModel,
    clipped_ratio,
    end_sums,
)
from modicum.statistics.tails import outside
from modicum.stored.codec import storable
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
    return ways.BOUNDED_MEAN.query(spec.column_name(column), lattice, cost, split.BOTH_CLUSTERS[0])


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
    row: spec.Row[NoOption, Release],
    column: str | None,
    within: tuple[float, float],
    step: float | None,
    cost: Budget,
) -> Query[Release]:
    return row.query(spec.column_name(column), Lattice.within(within, step), cost, NoOption())


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
    return laplace(end_sums(total, count, lo, hi), l1=max(hi - lo, 1), epsilon=epsilon)


def independent_value(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`independent`, clipped to [lo, hi]."""
    total, count = outcome
    return clipped_ratio(total, count, lo, hi)


def shifted_value(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`shifted`, clipped to [lo, hi]."""
    doubled, count = outcome
    return clipped_ratio(doubled + (lo + hi) * count, 2 * count, lo, hi)


@storable
@dataclass(frozen=True, slots=True)
class SumAndCountErrorModel(PublicRangeErrorModel):
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
    pair = end_sums(clipped.total, clipped.count, first, last)
    mechanism = staircase(pair, l1=max(lattice.width, 1), epsilon=event.largest_pure)
    left, right = yield from draw("staircase sums", mechanism)
    error_model = BoundedErrorModel(lattice, left, right, mechanism.term)
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _row(
    method: str, summary: str, begin: Callable[[str | None, Lattice, Event], Steps[ScalarEstimate]]
) -> spec.Row[NoOption, Release]:
    return spec.Row(
        "mean",
        method,
        (NoOption(),),
        "bounded_mean",
        summary,
        spec.of_range(begin),
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
        noun, spec.error_between(call, "0", "1"), truth=ways.true_mean, sampled=True
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
