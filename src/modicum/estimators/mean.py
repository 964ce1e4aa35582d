"""The adaptive mean: one absurdly wide public range, noise scaled to the data's own spread.

Five steps, one budget (docs/proofs/mean.md has the proofs; the labels are the same):

[M1] count    a noisy count drives the schedule;
[M2] centre   a private median on a floating-point grid, from a secret subsample;
[M3] shape    two radii with a public share of the data outside: how heavy is the tail?
     radii    on each side, the least width with few records outside;
[M4] rough    a rough mean of the data clipped to those bounds, and a second count;
[M5] final    the sum of clipped deviations from the rough mean, with most of the budget.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from modicum.estimators.clipping import (
    Bounds,
    Setting,
    find_bounds,
    find_centre,
    reach_from,
    rough_mean,
)
from modicum.estimators.mean_evidence import Counted, MeanEvidence, NoisyTerm, SingleValueEvidence
from modicum.estimators.purses import open_purse
from modicum.estimators.schedule import (
    INNER_TILT,
    OUTER_TILT,
    Clusters,
    Ranks,
    Schedule,
    count_share,
    first_reduction,
    mean_schedule,
    subsample_level,
    tail_weight,
)
from modicum.exact.lattice import Lattice
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.status import OK, Code, Status
from modicum.steps import Steps, draw, need, need_both
from modicum.summaries.clipped import ClippedSum
from modicum.summaries.records import Records, RecordSummary
from modicum.summaries.tails import TailSummary

__all__ = ["adaptive_mean"]

NO_CENTRE = Status(
    "few_records",
    "too little data for this budget: no private centre was possible, so the noise follows the "
    "size of the values, not their spread; a larger budget or a narrower `within` helps",
)
TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: most of it may have been clipped away; "
    "narrow `within` or spend more",
)
HEAVY = Status(
    "heavy_tail",
    "the tail looks heavy: more may have been clipped than the default interval allows for; "
    "interval(tail=2) assumes less",
)


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
    # Two secret subsamples, each for one law only.
    asks = here.ask(first), here.ask(Records(subsamples=2))
    summary, records = yield from need_both(*asks)
    tails = summary if isinstance(summary, TailSummary) else None

    counting = purse.noisy((summary.count,), sensitivity=1, share=count_share(purse))  # [M1]
    (n0,) = yield from draw("count", counting)
    first_count = Counted(Fraction(max(n0, 1)), (NoisyTerm(counting.noise[0], 1.0),))
    schedule = mean_schedule(lattice, purse, n0, clusters)

    centre = yield from find_centre(here, records, schedule, n0)  # [M2]
    seen = None
    if schedule.shape:
        schedule, seen = yield from _shape(here, records, schedule, centre, n0)
    bounds = yield from find_bounds(here, tails, schedule, centre)  # [M3]
    if bounds.single(lattice):
        return (yield from _single_value(here, centre, bounds, schedule, first_count))
    found = yield from rough_mean(here, bounds, schedule, first_count)  # [M4]

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
        outside=replace(bounds.outside, seen=seen),
    )
    return Answer(evidence.value, evidence, _status(schedule, too_little=evidence.too_little(0.05)))


def _shape(
    here: Setting, records: RecordSummary, schedule: Schedule, centre: int, n0: int
) -> Steps[tuple[Schedule, tuple[float, int] | None]]:
    """[M3] Adapt the schedule to the tail, seen through a fresh subsample.

    The outer radius is returned too, if it is one, with the records that were to be outside.
    """
    level = subsample_level(n0)
    ranks = Ranks.of(n0 * float(here.purse.scale))
    grid = RadiusGrid.between(
        max(1, abs(centre) >> schedule.bits), reach_from(here.lattice, centre), per_octave=4
    )
    law = here.purse.ranks(
        records,
        centre,
        grid,
        targets=(round(ranks.inner * n0) >> level, round(ranks.outer * n0) >> level),
        tilts=(INNER_TILT, OUTER_TILT),
        level=level,
        share=schedule.shape,
    )

    def words(drawn: tuple[int, ...]) -> str:
        inner, outer = (here.lattice.words(grid.radii[each]) for each in drawn)
        return f"radii {inner} and {outer} around the centre, at two ranks"

    inner, outer = yield from draw("shape", law, words)
    weight = tail_weight(grid.radii[inner], grid.radii[outer], ranks)
    seen = (ranks.outer * n0, grid.radii[outer]) if outer else None
    return schedule.for_tail(weight), seen


def _single_value(
    here: Setting, centre: int, bounds: Bounds, schedule: Schedule, counted: Counted
) -> Steps[Answer]:
    """Both radii are next to nothing: answer the centre, and count the records outside.

    A record is outside on one side at most, so their number has sensitivity 1.
    """
    law = here.purse.noisy((bounds.elsewhere,), sensitivity=1, share=None)
    (elsewhere,) = yield from draw("records elsewhere", law)
    evidence = SingleValueEvidence(
        lattice=here.lattice,
        lo=bounds.lo,
        hi=bounds.hi,
        point=centre,
        counted=counted,
        elsewhere=elsewhere,
        noise=NoisyTerm(law.noise[0], 1.0),
    )
    words = (
        "the clipping bounds coincide: most records are as good as equal, or they are too few; "
        f"about {max(elsewhere, 0)} others were clipped away"
    )
    if not schedule.has_centre:
        words = f"{NO_CENTRE.words}; {words}"
    code: Code = "clipped" if schedule.has_centre else "few_records"
    return Answer(evidence.value, evidence, Status(code, words))


def _status(schedule: Schedule, *, too_little: bool) -> Status:
    if not schedule.has_centre:
        return NO_CENTRE
    if too_little:
        return TOO_LITTLE
    return HEAVY if schedule.widening else OK
