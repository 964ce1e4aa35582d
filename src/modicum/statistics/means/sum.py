"""The sum: the question, and the ways to answer it, whose steps are those of ``clipped_sum``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

from modicum.errors import InvalidArgument
from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, read
from modicum.statistics import spec, texts
from modicum.statistics.means.found_sum import sum_in_window
from modicum.statistics.people.persons import SIZES
from modicum.statistics.people.sizes import by_size
from modicum.statistics.ranges import bounds, clipped_sum
from modicum.statistics.ranges.split import (
    BOTH_CLUSTERS,
    CLUSTERS_HELP,
    ClusterOption,
    Clusters,
)
from modicum.statistics.ranges.window import Found, in_window
from modicum.summaries import base, sums


@texts.documented
def sum(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "bounded"] = "adaptive",
    clusters: Clusters = "clip",
    weights: str | None = None,
) -> Query[Release]:
    """Ask for the sum of a column, with no bounds to guess.

    A sum moves by the size of one record, so its noise follows the size of the largest values, not
    their spread.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}
    method : {"adaptive", "bounded"}
        ``"bounded"`` looks for nothing and scales its noise to the range, as for
        :func:`modicum.query.mean`.
    {clusters}
    {weights}
        The sum is that of weight times value, and so are ``within`` and ``step``.

    {returns}

    {raises}
        If weights come without a column, or with another method or ``clusters``.

    Notes
    -----
    {missing}

    Examples
    --------
    >>> sum("income", within=(0, 1e9), rho="0.1").statistic
    'sum'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = ClusterOption(clusters)
    if weights is not None:
        from modicum.statistics.means import ratio

        chosen = {"method": method, "clusters": clusters}
        return ratio.weighted("sum", column, weights, lattice, cost, **chosen)
    return spec.method_of(SUMS, method).query(spec.column_name(column), lattice, cost, options)


def adaptive_sum(
    column: str | None, lattice: Lattice, event: Event, options: ClusterOption
) -> Steps[ScalarEstimate]:
    """Estimate a sum; the draws cost exactly ``event``."""
    answer = partial(sum_in_window, keep=options.clusters == "keep")
    return in_window(answer, column, event, lattice, sizes=True)


def sum_of_persons(
    wider: int, column: str | None, lattice: Lattice, event: Event, options: ClusterOption
) -> Steps[ScalarEstimate]:
    """[people.2] Estimate the sum of all rows of persons, each of whom is one record, of theirs."""
    given = None if lattice is KEYS else lattice
    keep = options.clusters == "keep"

    def answer(here: bounds.Setting, found: Found) -> Steps[ScalarEstimate]:
        rows = replace(here, lattice=SIZES, rule=base.RecordRule("count", lattice=given))
        sizes = yield from by_size(rows, found.count)
        if not sizes.status.ok:
            found = replace(found, status=sizes.status)
        return (yield from sum_in_window(here, found, keep=keep, least=sizes.rings.least))

    rule = base.RecordRule("sum", lattice=given)
    wide = given.widened(wider) if given else KEYS
    found = yield from in_window(answer, column, event, wide, rule=rule, sizes=True)
    return replace(found, lattice=None) if given else found


def pooled_way(wider: int, kind: Literal["sum", "count"]) -> spec.PooledWay:
    """How groups of persons find sums, or numbers of rows, together."""
    from modicum.statistics.groups import pooled_sums

    return spec.PooledWay(
        partial(pooled_sums.find_sums, wider, kind),
        pooled_sums.sum_in_pool,
        pooled_sums.with_lost,
        pooled_sums.FEWEST,
    )


def no_bounded_sum(*_: object) -> Steps[ScalarEstimate]:
    """Refuse: how much a person's rows add up to has no bound that is known to be tight."""
    raise InvalidArgument(
        "sum with method='bounded' is for a unit of rows: leave method out, or give max_rows or "
        "combine='sum' to unit_of()"
    )


def bounded_sum(
    column: str | None, lattice: Lattice, event: Event, _options: ClusterOption
) -> Steps[ScalarEstimate]:
    """Estimate a sum of values that lie in the range, with noise on the scale of its ends."""
    here = bounds.Setting(column, lattice, BudgetSplit(event))
    summary = yield from read(here.ask(sums.ClippedSum(lattice.first, lattice.last)))
    n0, counted = yield from clipped_sum.counted_rows(here, summary.count)
    return (yield from clipped_sum.sum_over_the_range(here, n0, counted))


SUMS: tuple[spec.Row[ClusterOption, Release], ...] = (
    spec.Row(
        "sum",
        "adaptive",
        BOTH_CLUSTERS,
        "sum",
        "sum with noise on the scale of the data's own size",
        adaptive_sum,
        by_window=True,
        of_persons=sum_of_persons,
        pooled_persons=lambda wider: pooled_way(wider, "sum"),
    ),
    spec.Row(
        "sum",
        "bounded",
        BOTH_CLUSTERS[:1],
        "sum",
        "sum with noise on the scale of the range, for ranges known to be tight",
        bounded_sum,
        finds_range=False,
        of_persons=no_bounded_sum,
    ),
)


STATISTICS = (
    spec.Declaration(
        sum,
        SUMS,
        spec.shows_between("sum", "within=(-1e9, 1e9), ", 1.9e8, 2.1e8),
        command="people.parquet income --within=0,1e9 --epsilon 1",
        options={**CLUSTERS_HELP, **spec.WEIGHTS_HELP},
        tail=True,
        plan=spec.Planned(
            "a sum",
            spec.error_between("sum(within=(0, 1e9), sd=5e4, n=20_000, epsilon=1)", "1e5", "5e6"),
            command="--within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=lambda run: run.table.total() * run.step,
            rows_help=False,
            without=("weights",),
        ),
    ),
)
