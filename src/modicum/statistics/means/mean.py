"""The mean: the question, and the table of the ways to answer it.

By default found_mean.py answers, groups that shall be kept and populations included.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps
from modicum.statistics import spec, texts
from modicum.statistics.means import ways
from modicum.statistics.means.found_mean import bounds_in_window, mean_in_window
from modicum.statistics.options import checked_population
from modicum.statistics.ranges.split import (
    BOTH_CLUSTERS,
    BOTH_SAMPLES,
    CLUSTERS_HELP,
    ClusterOption,
    Clusters,
    SampleOption,
)
from modicum.statistics.ranges.window import in_quartiles, in_window


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
    column: str | None, budget: Budget, quartiles: tuple[float, float, float]
) -> Query[Release]:
    """Ask for a mean of values whose quartiles were released before [mean.14].

    They say where the values are, so hardly anything is spent on that. Means of persons look for
    themselves: quartiles are of a few rows of each.
    """

    def begin(event: Event) -> Steps[ScalarEstimate]:
        return in_quartiles(mean_in_window, column, event, quartiles)

    return replace(MEANS[0].query(column, None, budget, BOTH_CLUSTERS[0]), begin=begin)


def _chosen(clusters: Clusters, population: object, method: str) -> ClusterOption:
    """Read the arguments of a mean."""
    if checked_population(population) and method != "adaptive":
        raise InvalidArgument(
            f"population=True is for method='adaptive', got method={as_given(method)}"
            + "; its confidence_interval() needs nothing more" * (method == "bounded")
        )
    return SampleOption(clusters) if population else ClusterOption(clusters)


def adaptive_mean(
    column: str | None, lattice: Lattice, event: Event, options: ClusterOption
) -> Steps[ScalarEstimate]:
    """Estimate a mean; the draws cost exactly ``event``."""
    keep, population = options.clusters == "keep", options.population
    answer = partial(mean_in_window, keep=keep, population=population)
    return in_window(answer, column, event, lattice)


def _mean_of_persons(*arguments: Any) -> Steps[ScalarEstimate]:
    from modicum.statistics.means import person_mean

    return person_mean.mean_of_persons(*arguments)


def _pooled() -> spec.PooledWay:
    from modicum.statistics.groups import pooled, shrinkage

    find = partial(pooled.find_pool, bounds_in_window)
    return spec.PooledWay(find, pooled.mean_in_pool, shrinkage.shrunk)


def _pooled_persons(wider: int) -> spec.PooledWay:
    from modicum.statistics.groups import pooled_persons as pooled

    find = partial(pooled.find_person_pool, _mean_of_persons, wider)
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
        by_window=True,
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
