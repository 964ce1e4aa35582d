"""The adaptive mean: an absurdly wide range, noise scaled to the data's own spread.

One budget, steps with the labels of docs/research/proofs/mean.md, which has the proofs:

[mean.1]  count    a noisy count drives the schedule;
[mean.2]  home     is one public value, zero mostly, half of the data? then [mean.3], [mean.4] of
                   ranges/bounds.py;
[mean.6]  centre   a private median on a floating-point grid, from a secret subsample;
[mean.7]  shape    two radii with a public share of the data outside: how heavy is the tail?
[mean.8]  radii    on each side, the least width with few records outside;
[mean.9]  outside  how many those are; if they are a group far away, [mean.13] and [mean.16] of
                   ranges/search.py draw the radii again for it, or reach home;
[mean.10] rough    a rough mean of the data clipped to those bounds, and a second count;
[mean.11] final    the sum of clipped deviations from the rough mean, with most of the budget.

Where nothing can be known of the spread, for lack of records, [bounded_mean.4] of
ranges/bounded_mean.py spends the rest on the mean over the whole range, so that a search never
loses much against known bounds. The error model holds released quantities and public noise
distributions only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from sys import float_info
from typing import Any, Literal

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import Status, alike, at_an_end
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.means import ways
from modicum.statistics.options import checked_population
from modicum.statistics.ranges import search
from modicum.statistics.ranges.bounds import Bounds, Setting, count_away, rough_mean
from modicum.statistics.ranges.found_range import in_finer_range
from modicum.statistics.ranges.population import (
    Deviations,
    Squares,
    draw_squares,
    law_of_one_value,
    part_for_squares,
)
from modicum.statistics.ranges.split import (
    BOTH_CLUSTERS,
    BOTH_SAMPLES,
    CLUSTERS_HELP,
    ClusterOption,
    Clusters,
    NearOption,
    SampleOption,
)
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.error_law import ErrorLaw
from modicum.statistics.tails.outside import (
    NOISE_OF_EVIDENCE,
    Clipped,
    Counted,
    NoisyTerm,
    OneValue,
    Outside,
    Redrawn,
    SizedByBounds,
    home_of,
    mean_size,
)
from modicum.stored.codec import storable
from modicum.summaries import sums, synthetic
from modicum.summaries.tails import TailSummary


@texts.documented
def mean(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "subset", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    population: bool = False,
    weights: str | None = None,
) -> Query[Release]:
    """Ask for the mean of a column, with no bounds to guess.

    Prefer it over any mean that needs clipping bounds: the noise follows the spread that the
    data have, not the range.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}
    method : {"adaptive", "subset", "bounded"}
        ``"adaptive"`` is the accurate default; ``"subset"`` is Algorithm 3 of Dick et al. 2023,
        corrected, with its optimality theorem; ``"bounded"`` looks for nothing and scales its noise
        to the range (Kulesza, Suresh and Wang 2023, Algorithm 3), which is best if that is
        given, and known to be tight: the default is hardly worse then, and much better otherwise.
    {clusters}
    {population}
    {weights}

    {returns}

    {raises}
        If weights come without a column, or with another method or ``clusters``.

    Notes
    -----
    {missing}

    Examples
    --------
    >>> mean("income", epsilon=1).budget
    pure('1')
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = _chosen(clusters, population, method)
    if weights is not None:
        if population:
            raise InvalidArgument("a weighted mean has no confidence interval for a population")
        from modicum.statistics.means import ratio

        chosen = {"method": method, "clusters": clusters}
        return ratio.weighted("mean", column, weights, lattice, cost, **chosen)
    return spec.method_of(MEANS, method).query(spec.column_name(column), lattice, cost, options)


def mean_near(
    column: str | None, lattice: Lattice, budget: Budget, quartiles: tuple[float, float, float]
) -> Query[Release]:
    """Ask for a mean of values whose quartiles were released before [mean.17].

    They say where the values are, so nothing is spent on that.
    """
    return MEANS[0].query(column, lattice, budget, NearOption("clip", *quartiles))


def _chosen(clusters: Clusters, population: object, method: str) -> ClusterOption:
    """Read the arguments of a mean."""
    if checked_population(population) and method != "adaptive":
        raise InvalidArgument(
            f"population=True is for method='adaptive', got method={as_given(method)}"
            + "; its confidence_interval() needs nothing more" * (method == "bounded")
        )
    return SampleOption(clusters) if population else ClusterOption(clusters)


def adaptive_mean(
    column: str | None,
    lattice: Lattice,
    event: Event,
    options: ClusterOption,
    *,
    finer: bool = True,
) -> Steps[ScalarEstimate]:
    """Estimate a mean; the draws cost exactly ``event``.

    ``finer``: values that the step hides are looked for in a part of the range.
    """
    here = Setting(column, lattice, BudgetSplit(event))
    more = part_for_squares if options.population else None
    near = options if isinstance(options, NearOption) else None
    found = yield from search.locate_data(
        here, options.clusters, shape=True, filled=True, more=more, near=near
    )
    n0, counted, tails, place = found
    if place.way == "single":
        return (yield from _single_value(here, place, counted))
    if place.status.code == "coarse_step" and finer:  # [mean.19]
        again = partial(adaptive_mean, column, options=options, finer=False)
        return (yield from in_finer_range(column, lattice, here.split.rest().loss, again))
    bounds, squares = place.bounds or Bounds.of_range(lattice), None
    if options.population:  # [population.1]
        squares = yield from draw_squares(here, bounds.lo, bounds.hi, n0)
    if place.way == "range":
        return (yield from _over_the_range(here, place, squares))
    return (yield from _deviations(here, tails, place, counted, n0, squares))


def _over_the_range(
    here: Setting, place: search.SearchResult, squares: Squares | None
) -> Steps[ScalarEstimate]:
    """[mean.12] The mean over the whole range, with all that is left."""
    from modicum.statistics.ranges.bounded_mean import mean_in_range

    found = yield from mean_in_range(here, place.centre)
    error_model = replace(found, squares=squares)
    status = place.status if error_model.status.ok else error_model.status
    if status.ok and place.centre is not None:
        ends, equal = error_model.interval(0.95, None), error_model.at_home
        status = alike(here.lattice, float(error_model.value), ends, equal=equal)
    return ScalarEstimate(error_model.value, error_model, status)


def _deviations(
    here: Setting,
    tails: TailSummary | None,
    place: search.SearchResult,
    counted: Counted,
    n0: int,
    squares: Squares | None,
) -> Steps[ScalarEstimate]:
    """[mean.10], [mean.11] The rough mean, and the deviations from it."""
    lattice, split, bounds = here.lattice, here.split, place.bounds
    assert bounds is not None
    found = yield from rough_mean(here, bounds, place.schedule, counted)  # [mean.10]

    rough, reach = found.value, bounds.reach(found.value)
    lo, hi = bounds.lo, bounds.hi
    if tails is not None and squares is None:
        # The short side may reach as far as the long one: the noise is scaled to `reach`.
        lo, hi = max(rough - reach, lattice.first), min(rough + reach, lattice.last)
    clipped = yield from read(here.ask(sums.ClippedSum(lo, hi)))
    deviation = clipped.total - rough * clipped.count
    final = split.spend(add_to_one(deviation, split.rest(), sensitivity=reach))  # [mean.11]
    (noisy,) = yield from draw(
        "deviations from the rough mean", final, lambda drawn: lattice.words(drawn[0])
    )
    noise = NoisyTerm(final.noise[0], 1.0)
    error_model = MeanErrorModel(
        lattice, lo, hi, rough, noisy, found.counted, noise, bounds.outside, squares
    )
    status = error_model.judged(n0, place.status)
    return ScalarEstimate(error_model.value, error_model, _at_an_end(error_model, status))


def _single_value(
    here: Setting, place: search.SearchResult, counted: Counted
) -> Steps[ScalarEstimate]:
    """Both radii are next to nothing: answer the centre, and count the records outside.

    A record is outside on one side at most, so their number has sensitivity 1.
    """
    assert place.bounds is not None
    assert place.centre is not None
    elsewhere, noise = yield from count_away(here, place.bounds.elsewhere)
    ends = place.bounds.lo, place.bounds.hi
    error_model = SingleValueErrorModel(
        here.lattice, *ends, counted, elsewhere, noise, place.centre
    )
    status = _at_an_end(error_model, error_model.status)
    if status.ok:
        interval = error_model.interval(0.95, tail_index.USUAL)
        status = alike(here.lattice, float(error_model.value), interval)
    return ScalarEstimate(error_model.value, error_model, status)


def _at_an_end(error_model: MeanErrorModel | SingleValueErrorModel, status: Status) -> Status:
    """Say if the answer is at an end of the range, where there is nothing else to say."""
    if not status.ok:
        return status
    return at_an_end(error_model.lattice, *error_model.interval(0.95, None))


@storable
@dataclass(frozen=True, slots=True)
class MeanErrorModel(Deviations, SizedByBounds):
    """A mean around a rough mean, from clipped deviations (all in lattice steps).

    The final sum is of values clipped to [lo, hi] minus the released ``rough`` mean m;
    ``deviation`` is this sum with its ``noise``. ``outside`` is what the radius draws imply about
    clipped records.

    Notes
    -----
    The value is m + s / n̂, s / n̂ clamped to the reach r = max(hi - m, m - lo), and the whole to
    the range, where the mean is: that moves it towards the mean, if at all. With S the true sum of
    deviations, |S / n| <= r, and on an event of probability 1 - alpha both |s - S| <= z and |n̂ -
    n| <= t. Then |s / n̂ - S / n| <= z / n̂ + |S / n| t / n̂, with |S / n| <= min(r, (|s| + z) /
    (n̂ - t)).

    Beyond the bounds of a side, at a distance d, F records of a tail of index a have a mean excess
    of d / (a - 1), so the clipped mean is off by F d / ((a - 1) n). F is random, because the radius
    was drawn, and its distribution is known (:meth:`Outside.distribution`). The interval reaches as
    far on each side as noise and clipping together go, but for a probability of alpha / 2.

    If the bounds may hold less than a quarter of the data, the interval is the public range.
    """

    rough: int
    deviation: int
    counted: Counted
    noise: NoisyTerm
    outside: Outside
    squares: Squares | None = None

    @property
    def reach(self) -> int:
        """Largest deviation a clipped record can have."""
        return max(self.hi - self.rough, self.rough - self.lo)

    def evidence(self) -> tuple[tail_index.Evidence, ...]:
        """If the bounds are about home, the mean tells the mean distance from it too."""
        others, home = self.outside.others, home_of(self.lattice)
        if not others:
            return Clipped.evidence(self)
        away = abs(float(self.value / Fraction(self.lattice.step)) - home)
        total = max(away * float(self.counted.value) - self.noise.bound(NOISE_OF_EVIDENCE), 0.0)
        return (mean_size(total, others, max(self.hi - home, home - self.lo)),)

    @property
    def value(self) -> Fraction:
        shift = min(
            max(self.deviation / self.counted.value, Fraction(-self.reach)), Fraction(self.reach)
        )
        return self.lattice.inside(self.rough + shift)

    def redrawn(self, table: synthetic.SyntheticTable) -> Redrawn:
        deviation = table.clipped_sum(self.lo, self.hi) - self.rough * table.rows
        return Redrawn((self.noise.noise,), lambda z: replace(self, deviation=deviation + z).value)

    def interval(self, level: float, tail: float | None) -> Interval:
        below, above = self.reaches(1 - level, tail)
        centre = float(self.value / Fraction(self.lattice.step))
        return self.in_range(centre - below, centre + above)

    def reaches(self, alpha: float, tail: float | None) -> tuple[float, float]:
        """How far the interval goes below and above the value, in steps."""
        count, t = float(self.counted.value), self.counted.bound(0.1 * alpha)
        least = count - t
        if tail is not None and self.too_little(alpha):
            return (float(self.lattice.width),) * 2
        if least <= 0:  # the count may be anything: only the clipping bounds are known
            return (float(self.hi - self.lo) + 0.5,) * 2
        z = self.noise.bound(0.9 * alpha)
        deviation = min(float(self.reach), (abs(self.deviation) + z) / least)
        if tail is None:
            return (0.5 + (z + deviation * t) / count,) * 2
        left, right = (
            0.5 + (self.side_bound(0.45 * alpha, tail, side, self.rough) + deviation * t) / count
            for side in (0, 1)
        )
        # More records outside than any tail explains may be anywhere in the range.
        share = min(1.0, self.outside.excess(0.1 * alpha) / least)
        return left + share * (self.lo - self.lattice.first), right + share * (
            self.lattice.last - self.hi
        )

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return self.clipped_in_words("mean", "the noise and the noisy count")
        return self.tail_in_words(tail)

    def to_dict(self) -> dict[str, object]:
        return {
            "clip": self.clip,
            "rough_mean": self.lattice.value(self.rough),
            "noisy_deviation": self.lattice.value(self.deviation),
            "count": float(self.counted.value),
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
            "clipped_at_most": self.outside.at_most(0.05),
        }


@storable
@dataclass(frozen=True, slots=True)
class SingleValueErrorModel(OneValue, SizedByBounds):
    """A mean whose clipping bounds all but coincide: most records are there, or they are too few.

    ``point``, between the bounds, is the answer.
    """

    point: int

    @property
    def value(self) -> Fraction:
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Allow the records elsewhere to be anywhere in the range: no tail fits a single value."""
        share = 0.0 if tail is None else self.share_elsewhere(1 - level)
        lower = self.lo - 0.5 - share * (self.lo - self.lattice.first)
        upper = self.hi + 0.5 + share * (self.lattice.last - self.hi)
        return self.in_range(lower, upper)

    def error_law(self, alpha: float, tail: float | None, *, population: bool) -> ErrorLaw:
        return law_of_one_value(self, float(self.value), alpha, tail, population=population)


def _mean_of_persons(*arguments: Any) -> Steps[ScalarEstimate]:
    from modicum.statistics.people import person_mean

    return person_mean.mean_of_persons(*arguments)


def _pooled() -> spec.PooledWay:
    from modicum.statistics.groups import pooled, shrinkage

    return spec.PooledWay(pooled.find_pool, pooled.mean_in_pool, shrinkage.shrunk)


def _pooled_persons(wider: int) -> spec.PooledWay:
    from modicum.statistics.groups import pooled_persons as pooled

    find = partial(pooled.find_person_pool, wider)
    return spec.PooledWay(find, pooled.mean_in_person_pool, pooled.shrunk_persons)


def _subset(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    from modicum.research.papers import dick2023

    return dick2023.subset_mean_steps(column, lattice, event)


MEANS: tuple[spec.Row[ClusterOption, Release], ...] = (
    spec.Row(
        "mean",
        "adaptive",
        (*BOTH_CLUSTERS, *BOTH_SAMPLES),
        "mean",
        "mean with noise on the scale of the data's own spread",
        adaptive_mean,
        of_persons=_mean_of_persons,
        of_truths=ways.BOUNDED_MEAN,
        pooled=_pooled,
        pooled_persons=_pooled_persons,
    ),
    ways.subset_mean(_subset),
    ways.BOUNDED_MEAN,
)


STATISTICS = (
    spec.Declaration(
        mean,
        MEANS,
        spec.shows_between("mean", "", 9900, 10100),
        command="people.parquet income --epsilon 1",
        options={**CLUSTERS_HELP, **spec.WEIGHTS_HELP},
        tail=True,
        plan=spec.Planned(
            "a mean",
            """>>> found = mean(sd=5e4, n=20_000, error=500)
>>> 0.01 < found.epsilon < 10 and found.error <= 500
True""",
            command="--n 1e5 --sd 5e4 --error 500",
            truth=ways.true_mean,
            sampled=True,
            without=("weights",),
        ),
    ),
)
