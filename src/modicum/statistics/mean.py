"""The adaptive mean: one absurdly wide public range, noise scaled to the data's own spread.

One budget, steps with the labels of docs/proofs/mean.md, which has the proofs:

[M1] count    a noisy count drives the schedule;
[H1] home     is one public value, zero mostly, half of the data? then [H2, H3] of atom.py;
[M2] centre   a private median on a floating-point grid, from a secret subsample;
[M3] shape    two radii with a public share of the data outside: how heavy is the tail?
     radii    on each side, the least width with few records outside, and how many those are;
[M4] rough    a rough mean of the data clipped to those bounds, and a second count;
[M5] final    the sum of clipped deviations from the rough mean, with most of the budget.

Where nothing can be known of the spread, for lack of records, [K1] of bounded.py spends the rest on
the mean over the whole range, so that a search never loses much against known bounds.
"""

from __future__ import annotations

from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.runtime.steps import Steps, draw, need, need_both
from modicum.statistics.bounded import mean_in_range
from modicum.statistics.clipping import Setting, count_away, count_outside, rough_mean
from modicum.statistics.mean_evidence import Counted, MeanEvidence, NoisyTerm, SingleValueEvidence
from modicum.statistics.purses import open_purse
from modicum.statistics.remarks import FEW, judged
from modicum.statistics.schedule import (
    FEWEST,
    Clusters,
    count_share,
    expected_records,
    first_reduction,
    mean_schedule,
)
from modicum.statistics.search import Place, find_place
from modicum.status import Status
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum
from modicum.summaries.tails import TailSummary

__all__ = ["adaptive_mean"]


def adaptive_mean(
    column: str | None, lattice: Lattice, event: Event, *, clusters: Clusters
) -> Steps[Answer]:
    """Estimate a mean.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    clusters : {"clip", "keep"}
        Whether a small distant cluster may be clipped away.
    """
    purse = open_purse(event)
    here = Setting(column, lattice, purse)
    first = first_reduction(lattice, purse, clusters)
    # Secret subsamples, each for one law only.
    asks = here.ask(first), here.ask(Records(subsamples=3))
    summary, records = yield from need_both(*asks)
    tails = summary if isinstance(summary, TailSummary) else None

    counting = purse.noisy((summary.count,), sensitivity=1, share=count_share(purse))  # [M1]
    (n0,) = yield from draw("count", counting)
    if expected_records(purse, n0) < FEWEST:
        return (yield from _over_the_range(here, FEW))
    counted = Counted(Fraction(max(n0, 1)), (NoisyTerm(counting.noise[0], 1.0),))

    schedule = mean_schedule(lattice, purse, n0, clusters)
    place = yield from find_place(here, tails, records, schedule, n0, filled=True)
    if place.way == "range":
        return (yield from _over_the_range(here, place.remark, place.centre))
    if place.way == "single":
        return (yield from _single_value(here, place, counted))
    return (yield from _deviations(here, tails, place, counted, n0))


def _over_the_range(here: Setting, remark: Status, home: int | None = None) -> Steps[Answer]:
    """[K1] The mean over the whole range, with all that is left."""
    evidence = yield from mean_in_range(here, home)
    return Answer(evidence.value, evidence, remark if evidence.status.ok else evidence.status)


def _deviations(
    here: Setting, tails: TailSummary | None, place: Place, counted: Counted, n0: int
) -> Steps[Answer]:
    """[M4, M5] The rough mean, and the deviations from it."""
    lattice, purse, bounds = here.lattice, here.purse, place.bounds
    assert bounds is not None
    outside = bounds.outside
    if place.schedule.has_centre and not bounds.all_of(lattice):
        outside = yield from count_outside(here, outside, bounds.elsewhere, n0)
    found = yield from rough_mean(here, bounds, place.schedule, counted)  # [M4]

    rough, reach = found.value, bounds.reach(found.value)
    lo, hi = bounds.lo, bounds.hi
    if tails is not None:
        # The short side may reach as far as the long one: the noise is scaled to `reach`.
        lo, hi = max(rough - reach, lattice.first), min(rough + reach, lattice.last)
    clipped = yield from need(here.ask(ClippedSum(lo, hi)))
    deviation = clipped.total - rough * clipped.count
    final = purse.noisy((deviation,), sensitivity=reach, share=None)  # [M5]
    (noisy,) = yield from draw(
        "deviations from the rough mean", final, lambda drawn: lattice.words(drawn[0])
    )
    evidence = MeanEvidence(
        lattice=lattice,
        lo=lo,
        hi=hi,
        rough=rough,
        deviation=noisy,
        counted=found.counted,
        noise=NoisyTerm(final.noise[0], 1.0),
        outside=outside,
    )
    return Answer(evidence.value, evidence, judged(evidence, outside, n0, place.remark))


def _single_value(here: Setting, place: Place, counted: Counted) -> Steps[Answer]:
    """Both radii are next to nothing: answer the centre, and count the records outside.

    A record is outside on one side at most, so their number has sensitivity 1.
    """
    assert place.bounds is not None
    assert place.centre is not None
    elsewhere, noise = yield from count_away(here, place.bounds.elsewhere)
    evidence = SingleValueEvidence(
        lattice=here.lattice,
        lo=place.bounds.lo,
        hi=place.bounds.hi,
        point=place.centre,
        counted=counted,
        elsewhere=elsewhere,
        noise=noise,
    )
    return Answer(evidence.value, evidence, evidence.status)
