"""Covariances and principal components of several columns, from noisy moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.releases.array_release import ArrayEstimate, ArrayRelease, Axis
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps
from modicum.statistics import spec, texts
from modicum.statistics.options import NoOption, Options
from modicum.statistics.vectors import covariance_error, refined_covariance, standardised
from modicum.statistics.vectors.moments import exact_values, moments_of, noisy_moments
from modicum.summaries import base


@texts.documented
def covariance(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the covariance matrix of several columns, with no bounds to guess.

    It divides by n, as ``numpy.cov(..., bias=True)`` does.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    {columns_within}
    {cost}
        With more than about 15 columns, ρ has the smaller noise; a cost of (ε, δ) is spent as the
        better one of ε and ρ, see :func:`modicum.query.mean_vector`.
    {step}

    {returns_rows}

    {raises}
        If names are not different or no text; if the range exceeds ±1e150, whose square is too
        large for a number.

    Notes
    -----
    {missing_rows}

    An interval is drawn for each column, in which most of it lies; a value further than twice its
    half-width from its middle counts as that far, and further than eight times as the middle. Rows
    that are large in these units are shrunk as a whole, constant included, so that linear relations
    survive. A column whose spread is lost in the noise has covariance 0 with all.

    Examples
    --------
    >>> covariance(["height", "weight"], within=(-1e6, 1e6), epsilon=1).statistic
    'covariance'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_squared_range(within, step, "a covariance")
    return moments_of(COVARIANCE, spec.column_names(columns), lattice, cost, NoOption())


@texts.documented
def pca(
    columns: Sequence[str] | None = None,
    *,
    components: int,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the leading principal components of several columns, with no bounds to guess.

    They are those of a released covariance matrix, see :func:`covariance`; charged in ρ, of one
    whose columns share one half-width if rows are too few for an interval in each.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    components : int
        How many; no more than there are columns are returned.
    {columns_within}
    {cost}
        How it is spent is as for :func:`covariance`.
    {step}

    {returns_rows}
        The answer is unit vectors, shape (components, columns). Its release also has the variance
        along each, ``error_model.explained_variance``, and about the largest that noise alone would
        show, ``error_model.noise_size``.

    {raises}
        If components is no whole number of at least 1; if names are not different or no text, or
        the range exceeds ±1e150.

    Notes
    -----
    {missing_rows}

    Far values are as for :func:`covariance`.

    Examples
    --------
    >>> pca(["height", "weight"], components=1, within=(-1e6, 1e6), epsilon=1).statistic
    'pca'
    """
    cost = chosen_budget(epsilon, rho, budget)
    options = ComponentsOption.of(components)
    lattice = spec.chosen_squared_range(within, step, "a covariance")
    return moments_of(PCA, spec.column_names(columns), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class ComponentsOption(Options):
    """How many principal components."""

    components: int

    @classmethod
    def of(cls, components: object) -> ComponentsOption:
        """Check that it is a whole number of at least 1."""
        whole = isinstance(components, int | np.integer) and not isinstance(components, bool)
        if not whole or components < 1:  # type: ignore[operator]
            raise InvalidArgument(
                f"components must be a whole number of at least 1, got {as_given(components)}"
            )
        return cls(int(components))  # type: ignore[call-overload]


def noisy_covariance(columns: base.Columns, lattice: Lattice, event: Event) -> Steps[ArrayEstimate]:
    """Release the covariance matrix of several columns."""
    scaled = yield from standardised.standardised_columns(columns, lattice, event, goal=False)
    error_model: (
        covariance_error.CovarianceErrorModel | refined_covariance.RefinedCovarianceErrorModel
    )
    if refined_covariance.many_rows(scaled):
        error_model = refined_covariance.RefinedCovarianceErrorModel(
            *(yield from refined_covariance.refined_products(scaled))
        )
    else:
        error_model = covariance_error.CovarianceErrorModel((yield from noisy_moments(scaled)))
    axes = (Axis.of(column=scaled.labels), Axis.of(other=scaled.labels))
    values = exact_values(error_model.matrix)
    return ArrayEstimate(values, axes, error_model, error_model.columns_status())


def noisy_components(
    columns: base.Columns, lattice: Lattice, event: Event, *, components: int
) -> Steps[ArrayEstimate]:
    """Release leading principal components, no more than there are columns."""
    scaled = yield from standardised.standardised_columns(
        columns, lattice, event, goal=False, common=True
    )
    error_model: (
        covariance_error.ComponentsErrorModel | refined_covariance.RefinedComponentsErrorModel
    )
    components = min(components, scaled.width)
    if refined_covariance.many_rows(scaled):
        moments, refined = yield from refined_covariance.refined_products(scaled)
        error_model = refined_covariance.RefinedComponentsErrorModel(moments, components, refined)
    else:
        error_model = covariance_error.ComponentsErrorModel(
            (yield from noisy_moments(scaled)), components
        )
    numbers = tuple(float(k + 1) for k in range(error_model.components))
    axes = (Axis.of(component=numbers), Axis.of(column=scaled.labels))
    values = exact_values(error_model.directions)
    return ArrayEstimate(values, axes, error_model, error_model.status)


# The noise of d columns' products grows like d² in pure ε and like d^1.5 in ρ, as d^1.5 and d for
# their means (TURN in vector_schedule.py). Simulated errors cross at ε²/(4 ρ) columns.
_TURN = Fraction(1)

COVARIANCE: spec.Row[NoOption, ArrayRelease] = spec.Row(
    "covariance",
    "moments",
    (NoOption(),),
    "moments",
    "covariances of several columns, with noise on the scale of each column's own spread",
    lambda columns, lattice, event, _: noisy_covariance(columns, spec.ranged(lattice), event),
    ArrayRelease,
    of_rows=True,
    turn=_TURN,
    lattice_of=spec.with_squares,
)

PCA: spec.Row[ComponentsOption, ArrayRelease] = spec.Row(
    "pca",
    "moments",
    (ComponentsOption(1),),
    "moments",
    "principal components of several columns, and the variance along each",
    lambda columns, lattice, event, options: noisy_components(
        columns, spec.ranged(lattice), event, components=options.components
    ),
    ArrayRelease,
    of_rows=True,
    turn=_TURN,
    lattice_of=spec.with_squares,
)


def _mean_entry(run: Any) -> float:
    """Mean error of an entry of a covariance matrix, in standard deviations of its two columns."""
    apart = np.abs(run.values - np.cov(run.x.T, bias=True))
    return float((apart / np.outer(run.columns.sd, run.columns.sd)).mean())


def _variance_lack(run: Any) -> float:
    """Share of the variance along the best components that these lack."""
    matrix, directions = np.atleast_2d(np.cov(run.x.T)), run.values
    best = np.linalg.eigvalsh(matrix)[::-1][: len(directions)].sum()
    return float(1 - np.trace(directions @ matrix @ directions.T) / best)


STATISTICS = (
    spec.Declaration(
        covariance,
        (COVARIANCE,),
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.covariance(x, within=(-1e6, 1e6), epsilon=1)
>>> found.shape, 5_000 < found[1, 1] < 12_000
((2, 2), True)""",
        command="people.csv age,height,weight --within=-1e6,1e6 --epsilon 1",
        tail=True,
        plan=spec.Planned(
            "a covariance matrix",
            spec.error_between(
                "covariance(within=(-1e6, 1e6), sd=[1.0, 50.0], n=20_000, epsilon=1)", "0", "0.1"
            ),
            command="--within=-1e6,1e6 --sd 12,9,15 --n 1e5 --epsilon 1",
            error=_mean_entry,
            data="moments",
            meaning="the mean error of an entry, in standard deviations of its two columns",
        ),
    ),
    spec.Declaration(
        pca,
        (PCA,),
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.pca(x, components=1, within=(-1e6, 1e6), epsilon=1)
>>> abs(found.values.round(1)).tolist()
[[0.0, 1.0]]""",
        command="people.csv age,height,weight --components 1 --within=-1e6,1e6 --epsilon 1",
        options={"components": "how many components"},
        tail=True,
        plan=spec.Planned(
            "principal components",
            spec.error_between(
                "pca(components=1, within=(-1e6, 1e6), sd=[9, 1, 1], n=5000, epsilon=1)", "0", "0.1"
            ),
            command="--components 1 --within=-1e6,1e6 --sd 12,9,3 --n 1e4 --epsilon 1",
            error=_variance_lack,
            data="moments",
            meaning="the share of the variance along the best components that these lack",
        ),
    ),
)
