"""Variance and standard deviation with no bounds: squares about a rough mean, clipped privately.

[V1] count    a noisy count drives the schedule;
[V2] centre   a private median, from a secret subsample, or a public value that most records have;
[V3] radii    on each side of it, the least width with few records outside;
[V4] rough    a rough mean m of the data clipped to those bounds, and a second count;
[V5] squares  the sum of squares about m and what it lacks of the largest, with most of the budget.

The variance is E (x - m)² - (mean - m)², and the last term is far below the noise, so nothing has
to be spent on it. docs/proofs/variance.md has the proofs, with the same labels.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.runtime.steps import Steps, draw, need, need_both
from modicum.statistics.clipping import Bounds, Setting, count_away, count_outside, rough_mean
from modicum.statistics.mean_evidence import Counted, NoisyTerm
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.statistics.remarks import FEW, judged
from modicum.statistics.schedule import (
    FEWEST,
    Schedule,
    count_share,
    ends_reduction,
    expected_records,
    mean_schedule,
)
from modicum.statistics.search import Place, find_place
from modicum.statistics.variance_evidence import ConstantEvidence, VarianceEvidence
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSquares
from modicum.summaries.tails import TailSummary

__all__ = ["adaptive_variance"]


def adaptive_variance(
    column: str | None, lattice: Lattice, event: Event, *, root: bool
) -> Steps[Answer]:
    """Estimate a variance, or its root.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    root : bool
        Whether the answer is the standard deviation.
    """
    purse = open_purse(event)
    here = Setting(column, lattice, purse)
    most = spread_schedule(lattice, purse, 1 << 60)
    asks = here.ask(ends_reduction(lattice, purse, most)), here.ask(Records(subsamples=2))
    summary, records = yield from need_both(*asks)
    tails = summary if isinstance(summary, TailSummary) else None

    counting = purse.noisy((summary.count,), sensitivity=1, share=count_share(purse))  # [V1]
    (n0,) = yield from draw("count", counting)
    first = Counted(Fraction(max(n0, 1)), (NoisyTerm(counting.noise[0], 1.0),))
    schedule = spread_schedule(lattice, purse, n0)

    if expected_records(purse, n0) < FEWEST:
        place = Place("range", schedule, remark=FEW)
    else:
        place = yield from find_place(here, tails, records, schedule, n0)  # [V2, V3]
    if place.way == "single":
        return (yield from _constant(here, place, first, root=root))
    bounds = Bounds.of_range(lattice) if place.bounds is None else place.bounds
    if place.way == "bounds" and schedule.has_centre and not bounds.all_of(lattice):
        outside = yield from count_outside(here, bounds.outside, bounds.elsewhere, n0)
        bounds = replace(bounds, outside=outside)
    rough = yield from rough_mean(here, bounds, place.schedule, first)  # [V4]

    squares = yield from need(here.ask(ClippedSquares(bounds.lo, bounds.hi, rough.value)))
    largest = bounds.reach(rough.value) ** 2
    pair = (squares.total, squares.count * largest - squares.total)
    final = purse.noisy(pair, sensitivity=largest, share=None)  # [V5]

    def spread_of(sums: tuple[int, ...]) -> VarianceEvidence:
        return VarianceEvidence(
            lattice=lattice,
            root=root,
            lo=bounds.lo,
            hi=bounds.hi,
            rough=rough,
            sums=(sums[0], sums[1]),
            noise=NoisyTerm(final.noise[0], 1.0),
            outside=bounds.outside,
            constant=place.way == "range" and place.centre is not None,
        )

    sums = yield from draw(
        "squares about the rough mean",
        final,
        lambda sums: f"standard deviation {lattice.words(spread_of(sums).deviation)}",
    )
    evidence = spread_of(sums)
    status = judged(evidence, evidence.outside, n0, place.remark)
    return Answer(evidence.value, evidence, status)


def _constant(here: Setting, place: Place, counted: Counted, *, root: bool) -> Steps[Answer]:
    """All records seem to have one value: count those that have not, with all that is left."""
    bounds = place.bounds
    assert bounds is not None
    elsewhere, noise = yield from count_away(here, bounds.elsewhere)
    evidence = ConstantEvidence(
        here.lattice, root, bounds.lo, bounds.hi, counted, max(elsewhere, 0), noise, has_centre=True
    )
    return Answer(evidence.value, evidence, evidence.status)


def spread_schedule(lattice: Lattice, purse: Purse, noisy_count: int) -> Schedule:
    """Divide the budget as a mean does, without a look at the shape of the tail."""
    return replace(mean_schedule(lattice, purse, noisy_count, "clip"), shape=Fraction(0))
