"""Huang, Liang and Yi 2021: instance-optimal means of vectors, and the quantiles they rest on.

===========  =============================  ======================================================
paper        query                          steps
===========  =============================  ======================================================
PrivQuant    :func:`private_quantile`       [private_quantile.1] a noisy binary search in one column
section 3.2  :func:`clipped_mean_vector`    [clipped_mean_vector.1] one for a radius,
                                            [mean_vector.5] the clipped sum, [mean_vector.6] rows
section 3.3  ``modicum.mean_vector`` with   [shifted_mean_vector.1] one for a median in each rotated
                                            coordinate, then
             ``method="shifted"``           [clipped_mean_vector.1] [mean_vector.5] [mean_vector.6]
                                            about the medians
both         :func:`exchange_mean_vector`   the same for a public number of rows:
                                            [shifted_mean_vector.2] [clipped_mean_vector.1]
                                            [clipped_mean_vector.2]
===========  =============================  ======================================================

The number of rows is private, or an argument; then the guarantee is for an exchanged row too, as in
the paper. docs/research/proofs/private_quantile.md, clipped_mean_vector.md and
shifted_mean_vector.md have the proofs, with the same labels, and where the text differs from
theirs: logarithms are to base 2 and rounded up, rows are compared with a public number or with each
other, and clipped rows are rounded so that no norm grows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from modicum import errors
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import VectorNoise, add_noise, noise_sd
from modicum.privacy.budget import ZCDP_ONLY, Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases import status
from modicum.releases.array_release import ArrayEstimate, ArrayRelease
from modicum.releases.release import Release, ScalarEstimate
from modicum.research.papers.point import PointErrorModel, true_record
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics import spec, texts
from modicum.statistics.options import NoOption, Options, checked_rank
from modicum.statistics.vectors import vector_schedule, ways
from modicum.statistics.vectors.vector_rounds import Ball, VectorSetting, last_sum
from modicum.summaries import base, sums, vectors

# ---- PrivQuant


@texts.documented
def private_quantile(
    column: str | None = None,
    *,
    q: Number,
    within: tuple[float, float],
    rows: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a quantile by PrivQuant: a binary search with a noisy answer to every question.

    Prefer :func:`modicum.query.quantile`, which draws once: this one reads the data once for each
    halving of the range down to the step, and divides the cost among them.

    Parameters
    ----------
    {column}
    q : int, float, Fraction, decimal string
        Strictly between 0 and 1.
    within : (float, float)
        A public range that holds every value.
    rows : int, optional
        The number of non-missing values, if it is public. It must not be taken from data whose size
        is private. Without it the search counts values on both sides.
    {cost}
    {step}

    Returns
    -------
    Query
        Guarantee when answered: ρ-zCDP, pure ε or (ε, δ) for add-remove neighbours, that is one
        privacy unit more or less. With ``rows`` it is the same for one value exchanged for another.
        There is no interval; the summary says by how many values the rank may be off.

    {raises}
        If q is out of range, or the number of rows is below 1.

    Notes
    -----
    {missing}

    Examples
    --------
    >>> import modicum
    >>> table = modicum.Curator(range(1000), budget=modicum.zcdp(1))
    >>> asked = private_quantile(q="0.5", within=(0, 1024), step=1, rho=1)
    >>> 400 < table.run(asked).value < 600
    True
    """
    cost = chosen_budget(epsilon, rho, budget)
    rank = checked_rank(q)
    options = SearchOption(rank, None if rows is None else _checked_rows(rows, ", or left out"))
    lattice = Lattice.within(within, step)
    return PRIVATE_QUANTILE.query(spec.column_name(column), lattice, cost, options)


def _checked_rows(rows: object, otherwise: str = "") -> int:
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise errors.InvalidArgument(
            f"rows must be a public number of rows, at least 1{otherwise}, got "
            f"{errors.as_given(rows)}"
        )
    return rows


@dataclass(frozen=True, slots=True)
class SearchOption(Options):
    """A quantile, and the number of records if that is public."""

    q: Fraction
    rows: int | None


def _private_quantile(
    column: str | None, lattice: Lattice, event: Event, options: SearchOption
) -> Steps[ScalarEstimate]:
    """[private_quantile.1] Halve the range until one integer is left.

    With q = a/b, question by question is (b - a) #{x <= middle} - a #{x > middle} >= 0, or, with a
    public number of rows, #{x <= middle} >= q rows. Each of the ceil(log2 values) questions gets an
    equal share, also where one integer is left.
    """
    split, q, rows = BudgetSplit(event), options.q, options.rows
    over, under = q.denominator - q.numerator, q.numerator
    levels = max(1, lattice.width.bit_length())  # width + 1 values
    low, high = lattice.first, lattice.last
    for level in range(1, levels + 1):
        middle = (low + high) // 2
        clipped = yield from read(base.Read(column, lattice, sums.ClippedSum(middle, middle + 1)))
        above = clipped.total - middle * clipped.count
        score, sensitivity = over * (clipped.count - above) - under * above, max(over, under)
        if rows is not None:
            score, sensitivity = clipped.count - above, 1
        share = split.share(Fraction(1, levels)) if level < levels else split.rest()
        mechanism = split.spend(add_noise((score,), share, sensitivity=sensitivity))
        (found,) = yield from draw(f"records up to {level}", mechanism)
        enough = found >= 0 if rows is None else found >= q * rows
        if low < high:
            low, high = (low, middle) if enough else (middle + 1, high)
    unit = q.denominator if rows is None else 1
    off = mechanism.noise[0].tail_bound(0.05 / levels) / unit
    words = (
        f"with a probability of 95 % at least {float(q):g} n - {off:,.0f} records are no larger "
        f"than the value and no more than {float(q):g} n + {off:,.0f} are smaller"
    )
    if rows is not None:
        words += f", n = {rows:,}; one record exchanged for another costs no more than one more"
    error_model = PointErrorModel(lattice, high, words)
    return ScalarEstimate(error_model.value, error_model, status.OK)


PRIVATE_QUANTILE: spec.Row[SearchOption, Release] = spec.Row(
    "quantile",
    "bisection",
    (SearchOption(Fraction(1, 2), None), SearchOption(Fraction(1, 3), 4)),
    "private_quantile",
    "quantile by a noisy binary search (Huang et al. 2021, PrivQuant)",
    lambda column, lattice, event, options: _private_quantile(
        column, spec.ranged(lattice), event, options
    ),
)

# ---- The clipped mean

SEARCH = Fraction(1, 4)


@texts.documented
def clipped_mean_vector(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the means of several columns, with noise on the scale of the rows' distances from 0.

    For rows that lie about 0, such as gradients or differences, and as the reference of the
    clipped mean of Huang, Liang and Yi (2021). For any other rows prefer :func:`mean_vector`.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 65,536. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    {columns_within}
    {cost}
        How it is spent is as for :func:`mean_vector`.
    {step}

    {returns_rows}

    {raises}
        If there are no names, or names that are not different or no text.

    Notes
    -----
    {missing_rows}

    Rows are clipped to the radius beyond which about sqrt(2 d/ρ) of them lie, found by a noisy
    binary search on a grid of four radii an octave. The noise of all components together is about
    (that radius) sqrt(d/(2 ρ)) / n. In pure ε norms are L1, about d/ε rows lie beyond the radius,
    and the noise of all components together is about (that radius) sqrt(2 d) / (ε n).

    Examples
    --------
    >>> clipped_mean_vector(within=(-1e9, 1e9), rho="0.5").method
    'search'
    """
    return CLIPPED_MEAN_VECTOR.query(
        spec.column_names(columns),
        spec.chosen_range(within, step),
        chosen_budget(epsilon, rho, budget),
        NoOption(),
    )


def noisy_clipped_mean(
    columns: base.Columns, lattice: Lattice, event: Event
) -> Steps[ArrayEstimate]:
    """Estimate the mean of every component, with noise on the scale of the rows' norms.

    They are measured from the point of the range that is nearest to 0.
    """
    here = VectorSetting(columns, lattice, BudgetSplit(event))
    return (yield from mean_about(here, here.start, SEARCH, near=1))


def mean_about(
    here: VectorSetting,
    scaling: vectors.VectorScaling,
    share: Fraction,
    *,
    near: int,
    public_rows: int | None = None,
) -> Steps[ArrayEstimate]:
    """Search for a radius about a scaling's centre, and spend what is left on the clipped sum.

    ``near`` and ``public_rows`` are as for
    :func:`~modicum.statistics.vectors.vector_rounds.last_sum`.
    """
    radii = vector_schedule.wide_radii(here.lattice, here.power).radii
    norms = yield from read(here.ask(vectors.NormCounts(scaling, radii)))
    # [clipped_mean_vector.1]
    place, most = yield from _search_radius(here.split, norms, len(radii), share)
    outside = norms.outside[place]
    rows, noise = yield from here.noisy_count(
        outside, vector_schedule.OUTSIDE[here.power], "rows outside"
    )
    most += math.ceil(3 * math.sqrt(noise.variance))
    ball = Ball(radii[place], rows, noise, most)
    return (
        yield from last_sum(here, scaling, ball, norms.width, near=near, public_rows=public_rows)
    )


def _search_radius(
    split: BudgetSplit, norms: vectors.NormSummary, radii: int, whole_share: Fraction
) -> Steps[tuple[int, int]]:
    """Find the first radius with no more than a public number of rows outside.

    Return its place, and a number of rows that hardly ever are outside it.

    Each of the ceil(log2 radii) questions gets an equal share. The number is the larger of
    sqrt(2 d / ρ), which balances clipping and noise, and three standard deviations of a question's
    noise, which hardly any question exceeds where all rows are inside. In pure ε the
    mean's noise has L1 norm C d / (ε n) for a radius C, and d / ε takes the place of the root.
    """
    whole = float(split.total)
    balance = math.sqrt(2 * norms.width / whole) if split.concentrated else norms.width / whole
    levels = (radii - 1).bit_length()
    share = split.share(whole_share / levels)
    noise = noise_sd(share)
    target = math.ceil(max(balance, 3 * noise))
    low, high = 0, radii - 1  # the last radius holds every row
    for level in range(1, levels + 1):
        middle = (low + high) // 2
        label = f"rows beyond {level}"
        found, _ = yield from draw_count(split, norms.outside[middle], share, label)
        if low < high:
            low, high = (middle + 1, high) if found > target else (low, middle)
    return high, math.ceil(target + 4 * noise)


# ---- The shifted clipped mean

MEDIANS, SEARCH_AFTER = Fraction(1, 4), Fraction(3, 16)
_UNITS = 1 << 10  # in a count, where the bound of all counts together is not an integer


def shifted_mean_vector(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float],
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for means by the mechanism of section 3.3.

    The same as ``modicum.query.mean_vector(method="shifted")``. Parameters are as for
    :func:`modicum.query.mean_vector`, guarantee, missing values and errors as there.

    Examples
    --------
    >>> shifted_mean_vector(within=(-1e9, 1e9), rho="0.5").method
    'shifted'
    """
    return SHIFTED_MEAN_VECTOR.query(
        spec.column_names(columns),
        Lattice.within(within, step),
        chosen_budget(None, rho, budget),
        NoOption(),
    )


def shifted_mean_steps(
    columns: base.Columns, lattice: Lattice, event: Event, public_rows: int | None = None
) -> Steps[ArrayEstimate]:
    """Estimate the mean of every component, with noise on the scale of the rows' spread.

    The width of the range sets the number of questions that a median takes, and so the number of
    rows that it needs.
    """
    here = VectorSetting(columns, lattice, BudgetSplit(event))
    summary = yield from read(here.ask(vectors.RotatedCounts((0,))))
    rotation = vectors.Rotation.of(lattice, summary.width)
    medians = yield from _medians(here, rotation, summary, public_rows)

    scaling = vectors.VectorScaling(
        rotation.point(medians, lattice), (float(vector_schedule.SUBSTEP),)
    )
    return (
        yield from mean_about(
            here, scaling, SEARCH_AFTER, near=vector_schedule.NEAR, public_rows=public_rows
        )
    )


def _medians(
    here: VectorSetting,
    rotation: vectors.Rotation,
    summary: vectors.RotatedSummary,
    public_rows: int | None,
) -> Steps[base.Integers]:
    """[shifted_mean_vector.1] Halve the range of every rotated coordinate to one integer.

    A question compares the rows at most some integer with the others, and is answered for all
    coordinates at once. Each of the ceil(log2 values) questions gets an equal share. If the number
    of rows is public, half of it takes the place of the others [shifted_mean_vector.2].
    """
    levels = (2 * rotation.reach).bit_length()  # 2 reach + 1 values
    unit, bound = _bound(rotation.padded)
    low = np.full(rotation.padded, -rotation.reach, dtype=np.int64)
    high = -low
    for level in range(1, levels + 1):
        middle = (low + high) >> 1
        if level > 1:
            summary = yield from read(here.ask(vectors.RotatedCounts(tuple(middle.tolist()))))
        if public_rows is None:
            score, enough = [2 * below - summary.count for below in summary.below], 0
        else:
            score, enough = list(summary.below), -(-unit * public_rows // 2)  # rounded up
        more = tuple(unit * each for each in score)
        mechanism = here.split.spend(
            VectorNoise.of(more, here.split.share(MEDIANS / levels), bound=bound)
        )
        found = yield from draw(f"rows below {level}", mechanism)
        left = np.array(found, dtype=object) >= enough
        low, high = np.where(left, low, np.minimum(middle + 1, high)), np.where(left, middle, high)
    return high


def _bound(coordinates: int) -> tuple[int, int]:
    """Units of a count, and the bound of all counts together in them.

    A row moves the difference of each coordinate by one, all together by the root of their
    number: if that is not an integer it is rounded up, by less than a thousandth.
    """
    root = math.isqrt(coordinates)
    if root * root == coordinates:
        return 1, root
    return _UNITS, math.isqrt(_UNITS**2 * coordinates) + 1


CLIPPED_MEAN_VECTOR: spec.Row[NoOption, ArrayRelease] = spec.Row(
    "clipped_mean_vector",
    "search",
    (NoOption(),),
    "clipped_mean_vector",
    "means of several columns with noise on the scale of the rows' norms",
    spec.of_range(noisy_clipped_mean),
    ArrayRelease,
    of_rows=True,
    turn=vector_schedule.TURN,
)

SHIFTED_MEAN_VECTOR = ways.shifted_mean_vector(shifted_mean_steps)


# ---- Both means as in the paper: the number of rows is public


def exchange_mean_vector(
    columns: Sequence[str] | None = None,
    *,
    rows: int,
    within: tuple[float, float],
    shifted: bool = True,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for means by the paper's mechanisms for exchanged rows, whose number is public.

    For comparison, as the figures of the paper are drawn. The guarantee for an exchanged row costs
    twice the noise, which a public number of rows does not win back: for a row more or less prefer
    :func:`modicum.query.mean_vector`.

    Parameters
    ----------
    columns, within, step
        As for :func:`modicum.query.mean_vector`.
    rows : int
        The number of rows without a missing value. It must be public, and not be taken from data
        whose size is private.
    shifted : bool, default True
        About a median in each rotated coordinate (section 3.3); else about the point of the range
        that is nearest to 0 (section 3.2).
    rho, budget : number, Budget
        Exactly one: the total cost in zCDP.

    Returns
    -------
    Query
        Guarantee when answered: ρ-zCDP for one row exchanged for another, and for one privacy unit
        more or less, whatever was given as ``rows``.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.query.mean_vector`; for a number of rows below 1.

    Notes
    -----
    The true number of rows is not read: means are sums over ``rows``, and intervals hold if it is
    right. Missing values are as for :func:`modicum.query.mean_vector`.

    Examples
    --------
    >>> import modicum
    >>> x = np.random.default_rng(1).normal([3, -5], 1, size=(20_000, 2))
    >>> asked = exchange_mean_vector(rows=20_000, within=(-64, 64), step=2**-10, rho="0.5")
    >>> modicum.Curator(x, budget=modicum.zcdp("0.5")).run(asked).values.round(0).tolist()
    [3.0, -5.0]
    """
    if not isinstance(shifted, bool):
        raise errors.InvalidArgument(
            f"shifted must be True or False, got {errors.as_given(shifted)}"
        )
    return EXCHANGE_MEAN_VECTOR.query(
        spec.column_names(columns),
        Lattice.within(within, step),
        chosen_budget(None, rho, budget),
        ExchangeOption(_checked_rows(rows), shifted),
    )


@dataclass(frozen=True, slots=True)
class ExchangeOption(Options):
    """The public number of rows, and whether they are measured from their medians."""

    rows: int
    shifted: bool


def _exchange_mean(
    columns: base.Columns, lattice: Lattice, event: Event, options: ExchangeOption
) -> Steps[ArrayEstimate]:
    """Make every draw with noise for an exchanged row [clipped_mean_vector.2]."""
    if options.shifted:
        return (yield from shifted_mean_steps(columns, lattice, event, options.rows))
    here = VectorSetting(columns, lattice, BudgetSplit(event))
    return (yield from mean_about(here, here.start, SEARCH, near=1, public_rows=options.rows))


EXCHANGE_MEAN_VECTOR: spec.Row[ExchangeOption, ArrayRelease] = spec.Row(
    "mean_vector",
    "exchange",
    (ExchangeOption(2, True), ExchangeOption(1000, False)),
    "shifted_mean_vector",
    "means of a public number of rows, for exchanged rows (Huang et al. 2021)",
    lambda columns, lattice, event, options: _exchange_mean(
        columns, spec.ranged(lattice), event, options
    ),
    ArrayRelease,
    kinds=ZCDP_ONLY,
    of_rows=True,
)


def _true_quantile(run: Any) -> Fraction:
    rank = run.options.q * run.table.rows
    return true_record(run, math.ceil(rank) - 1, math.floor(rank) + 1)


_CALL = (
    'release(private_quantile, q="0.9", within=(-1000, 1000), step=1, sd=50, n=5_000, rho="0.5")'
)


def _planned(noun: str, name: str, more: str = "") -> spec.Planned:
    guess = f'within=(-1000, 1000), sd=[1.0] * 4, n=20_000, {more}rho="0.5"'
    example = spec.error_between(f"release({name}, {guess})", "0", "0.01")
    return spec.Planned(
        noun, example, error=ways.mean_distance, data="vectors", meaning=ways.DISTANCE
    )


STATISTICS = (
    spec.Declaration(
        clipped_mean_vector,
        (CLIPPED_MEAN_VECTOR,),
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, -5], 1, size=(20_000, 2))
>>> found = modicum.clipped_mean_vector(x, within=(-1e9, 1e9), rho="0.5")
>>> found.shape, found.values.round(0).tolist()
((2,), [3.0, -5.0])""",
        command="changes.csv age,height,weight --within=-1e9,1e9 --rho 0.5",
        tail=True,
        plan=spec.Planned(
            "a mean vector clipped about 0",
            """>>> guess = dict(within=(-1e9, 1e9), sd=[1.0] * 4, n=2000, rho="0.5")
>>> clipped_mean_vector(**guess).error < clipped_mean_vector(**guess, mean=100).error
True""",
            command="--within=-1e9,1e9 --sd 12,9,15 --n 1e5 --rho 0.5",
            error=ways.mean_distance,
            data="vectors",
            meaning=ways.DISTANCE,
            note="The noise grows with the distance of the rows from 0, so with ``mean``.",
        ),
    ),
    spec.Declaration(
        private_quantile,
        (PRIVATE_QUANTILE,),
        plan=spec.Planned(
            "a quantile by bisection",
            spec.error_between(_CALL, "0", "20"),
            truth=_true_quantile,
            shown={"q": "q"},
        ),
    ),
    spec.Declaration(
        shifted_mean_vector,
        (),  # the row of ``modicum.mean_vector``
        plan=_planned("shifted clipped means", "shifted_mean_vector"),
    ),
    spec.Declaration(
        exchange_mean_vector,
        (EXCHANGE_MEAN_VECTOR,),
        plan=_planned("means of a public number of rows", "exchange_mean_vector", "rows=20_000, "),
    ),
)
