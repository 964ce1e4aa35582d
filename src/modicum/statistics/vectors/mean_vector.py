"""The mean of vectors, with noise on the scale of the rows' own spread, in each component.

[mean_vector.1] count   a noisy number of rows, which divides the budget;
[mean_vector.2] radius  few rows outside, drawn before every sum;
[mean_vector.3] step    a centre, moved by clipped means whose noise shrinks with the radius;
[mean_vector.4] sizes   noisy mean sizes, by which components are weighed;
[mean_vector.5] sum     the clipped sum about the centre, with nearly all of the budget;
[mean_vector.6] rows    the numbers of rows, and of those outside the last radius;
[mean_vector.7] again   if these are too many, a second search for a radius.

In zCDP rows are clipped in L2 norm, sizes are squares, and noise is Gaussian; in pure ε they are
clipped in L1 norm, sizes are absolute values, and noise is Laplace.
docs/research/proofs/mean_vector.md has the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import ArrayEstimate, ArrayRelease
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, read
from modicum.statistics import spec, texts
from modicum.statistics.options import NoOption
from modicum.statistics.vectors import ways
from modicum.statistics.vectors.vector_rounds import VectorRounds, VectorSetting, last_sum
from modicum.statistics.vectors.vector_schedule import NEAR, SHARES, TURN, VectorSchedule
from modicum.summaries.base import Columns


@texts.documented
def mean_vector(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    method: Literal["adaptive", "shifted"] = "adaptive",
) -> Query[ArrayRelease]:
    """Ask for the means of several columns, with noise on the scale of the rows' own spread.

    Prefer it over a mean for each column from a handful of columns on: a row is clipped as a
    whole, so the noise of all means together grows with the number of columns, not faster.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 65,536. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    {columns_within}
        The noise follows the distances between rows.
    epsilon : number
        Pure ε; a float counts as its shortest decimal. For more than a handful of columns rho
        goes much further.
    rho : number
        ρ of zero-concentrated differential privacy, instead of epsilon.
    budget : Budget
        Instead of epsilon and rho: ``modicum.approx(1, "1e-6")`` is spent as the largest ρ that
        implies this (ε, δ) and charged as (ε, δ), if that is better for so many columns (here 13
        and more), and otherwise as (ε, 0).
    {step}
    method : {"adaptive", "shifted"}
        "shifted" is the shifted clipped mean of Huang, Liang and Yi (2021), for comparison: in
        zCDP only. A median in each rotated coordinate takes a question for each halving of the
        range down to the step, each of which is a pass over the rows and costs accuracy.

    {returns_rows}

    {raises}
        If there are no names, or names that are not different or no text.

    Notes
    -----
    {missing_rows}

    The answer is the mean of the rows after rounding, of which a few far ones are drawn nearer,
    however many rows there are: some 10/sqrt(ρ) of bell-shaped rows, fewer of others. Rows far
    from all others that are fewer than some 40/sqrt(ρ), in pure ε 230/ε, may be lost; if the
    others are one point, the code tells. The L2 error of all components together is about
    S sqrt(1/(2 ρ)) / n for the sum S of the columns' spreads; a column of spread s has noise of
    about sqrt(s S) sqrt(1/(2 ρ)) / n. Rows may lie anywhere: each factor of five between their
    distance from 0 and their spread costs about 1 % of the budget. Methods after Huang, Liang and
    Yi (2021) and Biswas, Dong, Kamath and Ullman (2020), with the weights of Aumüller, Lebeda,
    Nelson and Pagh (2024).

    In pure ε the same steps are made in L1 norms with Laplace noise. For the spreads s of the
    columns the L2 error is at best about (sum of s^(2/3))^(3/2) / (ε n), and two or three times
    that for tens of columns: for columns of one spread it grows like d^(3/2), in zCDP like d. Two
    columns are better released one by one there.

    Examples
    --------
    >>> mean_vector(["height", "weight"], within=(-1e9, 1e9), rho="0.5").place.names
    ('height', 'weight')
    """
    return spec.method_of(MEAN_VECTORS, method).query(
        spec.column_names(columns),
        spec.chosen_range(within, step),
        chosen_budget(epsilon, rho, budget),
        NoOption(),
    )


def adaptive_mean_vector(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayEstimate]:
    """Estimate the mean of every component."""
    here = VectorSetting(columns, lattice, BudgetSplit(event))
    norms = yield from read(here.norms(here.start))
    # [mean_vector.1]
    n0, _ = yield from here.noisy_count(norms.count, SHARES[here.split.power].count, "count")
    rounds = VectorRounds.of(here, VectorSchedule.of(here.split, n0, norms.width))
    found = yield from rounds.locate(norms)
    if norms.width > 1:
        found = yield from rounds.find_scales(found)
    # [mean_vector.2] [mean_vector.6] [mean_vector.7]
    ball = yield from rounds.last_ball(found)
    return (yield from last_sum(here, found.scaling, ball, norms.width, near=NEAR))


def _shifted(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayEstimate]:
    from modicum.research.papers import huang2021

    return huang2021.shifted_mean_steps(columns, lattice, event)


MEAN_VECTORS: tuple[spec.Row[NoOption, ArrayRelease], ...] = (
    spec.Row(
        "mean_vector",
        "adaptive",
        (NoOption(),),
        "mean_vector",
        "means of several columns with noise on the scale of the rows' own spread",
        lambda columns, lattice, event, _: adaptive_mean_vector(
            columns, spec.ranged(lattice), event
        ),
        ArrayRelease,
        of_rows=True,
        turn=TURN,
    ),
    ways.shifted_mean_vector(_shifted),
)


STATISTICS = (
    spec.Declaration(
        mean_vector,
        MEAN_VECTORS,
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.mean_vector(x, within=(-1e9, 1e9), rho="0.5")
>>> found.shape, found.values.round(-1).tolist()
((2,), [0.0, 500.0])""",
        command="people.csv age,height,weight --within=-1e9,1e9 --rho 0.5",
        tail=True,
        plan=spec.Planned(
            "the means of several columns",
            spec.error_between(
                'mean_vector(within=(-1e9, 1e9), sd=[1.0] * 16, n=4000, rho="0.5")', "0.004", "0.02"
            ),
            command="--within=-1e9,1e9 --sd 12,9,15 --mean 100 --n 1e5 --rho 0.5",
            error=ways.mean_distance,
            data="vectors",
            meaning=ways.DISTANCE,
            without=("method",),
        ),
    ),
)
