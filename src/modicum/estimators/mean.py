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

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from modicum.estimators.mean_evidence import Counted, MeanEvidence, NoisyTerm, SingleValueEvidence
from modicum.estimators.outside import Outside
from modicum.estimators.purse import Purse, open_purse
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
from modicum.mechanisms.grid import FloatGrid
from modicum.mechanisms.radius import RadiusGrid
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.steps import Ask, Steps, draw, need, need_both
from modicum.summaries.base import Reduction
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.clipped import ClippedSum
from modicum.summaries.records import Records, RecordSummary
from modicum.summaries.tails import TailSummary

__all__ = ["adaptive_mean"]

S = TypeVar("S")
SINGLE = 46  # bounds narrower than 2^-46 of the range hold a single value, for all we know
NO_CENTRE = (
    "too little data for this budget: no private centre was possible, so the noise follows the "
    "size of the values, not their spread; a larger budget or a narrower `within` helps"
)
TOO_LITTLE = (
    "too little data for this range and budget: most of it may have been clipped away; "
    "narrow `within` or spend more"
)
HEAVY = (
    "the tail looks heavy: more may have been clipped than the default interval allows for; "
    "interval(tail=2) assumes less"
)


@dataclass(frozen=True, slots=True)
class _Setting:
    """What every step of one run refers to."""

    column: str | None
    lattice: Lattice
    purse: Purse
    clusters: Clusters

    def ask(self, reduction: Reduction[S]) -> Ask[S]:
        return Ask(self.column, self.lattice, reduction)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Clipping bounds around a centre, in lattice steps: released, but for ``elsewhere``."""

    lo: int
    hi: int
    outside: Outside
    elsewhere: int  # records outside: not released


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
    here = _Setting(column, lattice, purse, clusters)
    first = first_reduction(lattice, purse, clusters)
    # Two secret subsamples, each for one law only.
    asks = here.ask(first), here.ask(Records(subsamples=2))
    summary, records = yield from need_both(*asks)
    tails = summary if isinstance(summary, TailSummary) else None

    counting = purse.noisy((summary.count,), sensitivity=1, share=count_share(purse))  # [M1]
    (n0,) = yield from draw("count", counting)
    first_count = Counted(Fraction(max(n0, 1)), (NoisyTerm(counting.noise[0], 1.0),))
    schedule = mean_schedule(lattice, purse, n0, clusters)

    centre = yield from _centre(here, records, schedule, n0)  # [M2]
    if schedule.shape:
        schedule = yield from _shape(here, records, schedule, centre, n0)
    bounds = yield from _bounds(here, tails, schedule, centre)  # [M3]
    if bounds.hi - bounds.lo <= lattice.width >> SINGLE:
        return (yield from _single_value(here, centre, bounds, schedule, first_count))
    rough, counted = yield from _rough(here, bounds, schedule, first_count)  # [M4]

    reach = max(bounds.hi - rough, rough - bounds.lo)
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
        counted=counted,
        noise=NoisyTerm(final.noise[0], 1.0),
        outside=bounds.outside,
    )
    return Answer(evidence.value, evidence, _status(schedule, too_little=evidence.too_little(0.05)))


def _centre(here: _Setting, records: RecordSummary, schedule: Schedule, n0: int) -> Steps[int]:
    """[M2] A median; 0, or the end of the range nearest to it, if the data are too few."""
    if not schedule.has_centre:
        return min(max(0, here.lattice.first), here.lattice.last)
    law = here.purse.centre(
        records,
        here.lattice,
        bits=schedule.bits,
        level=subsample_level(n0),
        share=schedule.centre,
    )
    grid = FloatGrid(schedule.bits)

    def point(number: int) -> int:
        return min(max(grid.point(number), here.lattice.first), here.lattice.last)

    number = yield from draw("centre", law, lambda number: here.lattice.words(point(number)))
    return point(number)


def _shape(
    here: _Setting, records: RecordSummary, schedule: Schedule, centre: int, n0: int
) -> Steps[Schedule]:
    """[M3] Adapt the schedule to the tail, seen through a fresh subsample."""
    level = subsample_level(n0)
    ranks = Ranks.of(n0 * float(here.purse.scale))
    grid = RadiusGrid.between(
        max(1, abs(centre) >> schedule.bits), _reach(here.lattice, centre), per_octave=4
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
    return schedule.for_tail(tail_weight(grid.radii[inner], grid.radii[outer], ranks))


def _reach(lattice: Lattice, centre: int) -> int:
    """Widest radius of use around a centre."""
    return max(lattice.last - centre, centre - lattice.first)


def _bounds(
    here: _Setting, tails: TailSummary | None, schedule: Schedule, centre: int
) -> Steps[_Bounds]:
    """[M3] The radii on both sides of the centre: disjoint records, one event."""
    lattice = here.lattice
    smallest = max(1, abs(centre) >> schedule.bits)
    grid = RadiusGrid.between(smallest, _reach(lattice, centre))
    upper = tuple(centre + r for r in grid.radii)
    lower = tuple(centre - r for r in grid.radii)
    source: TailSummary | CellSummary
    source = tails if tails is not None else (yield from need(here.ask(Cells(centre, grid.radii))))
    outside = (tuple(source.below_many(lower)), tuple(source.above_many(upper)))
    law = here.purse.radii(outside, grid, tilt=schedule.tilt, share=schedule.radii)

    def words(drawn: tuple[int, ...]) -> str:
        left, right = (lattice.words(grid.radii[each]) for each in drawn)
        return f"few records are more than {left} below the centre, or {right} above"

    left, right = yield from draw("radii", law, words)
    widest = len(grid.radii) - 1
    wide_left, wide_right = (min(i + schedule.widening, widest) if i else 0 for i in (left, right))
    return _Bounds(
        max(lower[wide_left], lattice.first),
        min(upper[wide_right], lattice.last),
        Outside(
            radii=(grid.radii[left], grid.radii[right]),
            widest=grid.radii[-1],
            candidates=len(grid.radii),
            eta=float(law.epsilon),
            power=float(schedule.power),
            widening=2 ** (schedule.widening / 2),
        ),
        outside[0][wide_left] + outside[1][wide_right],
    )


def _rough(
    here: _Setting, bounds: _Bounds, schedule: Schedule, first: Counted
) -> Steps[tuple[int, Counted]]:
    """[M4] Transformed noise (Kulesza et al. 2023, Algorithm 3): a mean and a second count."""
    width = bounds.hi - bounds.lo
    clipped = yield from need(here.ask(ClippedSum(bounds.lo, bounds.hi)))
    left = clipped.total - bounds.lo * clipped.count
    pair = (left, clipped.count * width - left)
    law = here.purse.noisy(pair, sensitivity=width, share=schedule.rough)

    def mean_of(sums: tuple[int, ...]) -> int:
        share = Fraction(sums[0] * width, max(sums[0] + sums[1], 1))
        return bounds.lo + min(max(round(share), 0), width)

    s1, s2 = yield from draw("rough mean", law, lambda sums: here.lattice.words(mean_of(sums)))
    rough = mean_of((s1, s2))
    second = (NoisyTerm(law.noise[0], 1 / width),) * 2
    return rough, _combined(first, Counted(Fraction(s1 + s2, width), second))


def _combined(first: Counted, second: Counted) -> Counted:
    """Mean of two counts weighted by their inverse variances, at least 1."""
    spread = [sum(term.variance for term in c.noise) for c in (first, second)]
    weight = Fraction(round(1024 * spread[1] / (spread[0] + spread[1])), 1024)
    noise = tuple(
        NoisyTerm(term.noise, term.factor * float(share))
        for counted, share in ((first, weight), (second, 1 - weight))
        for term in counted.noise
    )
    return Counted(max(Fraction(1), weight * first.value + (1 - weight) * second.value), noise)


def _single_value(
    here: _Setting, centre: int, bounds: _Bounds, schedule: Schedule, counted: Counted
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
    status = (
        "the clipping bounds coincide: most records are as good as equal, or they are too few; "
        f"about {max(elsewhere, 0)} others were clipped away"
    )
    if not schedule.has_centre:
        status = f"{_status(schedule, too_little=True)}; {status}"
    return Answer(evidence.value, evidence, status)


def _status(schedule: Schedule, *, too_little: bool) -> str:
    if not schedule.has_centre:
        return NO_CENTRE
    if too_little:
        return TOO_LITTLE
    return HEAVY if schedule.widening else "ok"
