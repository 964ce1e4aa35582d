"""Plan a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.estimators.options import BinsOption, CutsOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import BinsPlan, CutsPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.cuts import cuts_plan
from modicum.plan.shapes import ShapeName
from modicum.plan.table import Table
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit

__all__ = ["histogram"]


def histogram(
    *,
    edges: Sequence[float] | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    unit: Unit | None = None,
) -> CutsPlan | BinsPlan:
    """Plan a histogram: the mean error of a bin's count, or the ε that it needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.histogram`.

    Examples
    --------
    >>> round(histogram(edges=[0, 10, 20, 30], sd=10, n=2_000, epsilon="0.1").error)
    10
    >>> round(histogram(bins=10, within=(0, 1e6), sd=10, n=2_000, epsilon="0.1").error)
    13
    """
    ask.histogram(edges=edges, bins=bins, within=within, step=step, epsilon=1)  # checks them
    guess = Guess(shape, sd, mean)
    wanted = Wanted(open_price(epsilon, rho, budget), n, error, unit)
    if edges is not None:
        cuts = CutsOption.of(edges, "edges", least=2, infinite=True)
        question = partial(ask.histogram, edges=edges, step=step)
        return cuts_plan(question, _counts, cuts, cuts.lattice("edges", step), guess, wanted)
    assert within is not None
    return planned(
        BinsPlan,
        partial(ask.histogram, bins=bins, within=within, step=step),
        lambda _, __: None,
        Lattice.within(within, step),
        guess,
        wanted,
        bins=BinsOption.of(bins).bins,
    )


def _counts(table: Table, ends: tuple[int, ...]) -> tuple[Fraction, ...]:
    counts = table.counts((*ends[:-1], ends[-1] + 1))
    return tuple(Fraction(count) for count in counts[1:-1])
