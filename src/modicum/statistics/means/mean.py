"""The mean: the question, and the answer that keeps clusters, or is for a population too.

By default found_mean.py answers. Otherwise, with one budget, these steps, whose proofs have the
same labels in docs/research/proofs/mean.md:

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

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.staircase import add_to_one
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import Status, alike, at_an_end
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.means import ways
from modicum.statistics.means.found_mean import mean_in_window
from modicum.statistics.means.mean_error import MeanErrorModel, SingleValueErrorModel
from modicum.statistics.options import checked_population
from modicum.statistics.ranges import search
from modicum.statistics.ranges.bounds import Bounds, Setting, count_away, rough_mean
from modicum.statistics.ranges.found_range import in_finer_range
from modicum.statistics.ranges.population import (
    Squares,
    draw_squares,
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
from modicum.statistics.ranges.window import in_window
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    Counted,
    NoisyTerm,
)
from modicum.summaries import sums
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
    if options == BOTH_CLUSTERS[0]:
        return (yield from in_window(mean_in_window, column, event, lattice))
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
        of_any=partial(in_window, mean_in_window),
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
