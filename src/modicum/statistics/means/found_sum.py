"""The sum of a column, in a range that is given or in none.

[window.1] window  how large the values are, or that the range says it: ranges/window.py;
[window.10] radius  about zero, one that few values exceed, from 120/ε values on;
[window.7] rings   how many records are near the radius: the interval allows for what is beyond;
[window.10] sum     of the values clipped to the radius, with all that is left.

docs/research/proofs/window.md has the proofs, with the same labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from modicum.mechanisms.staircase import add_to_one
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import Status, unseen
from modicum.runtime.steps import Steps, draw, read, read_both
from modicum.statistics.means.found_mean import (
    FOUND_MEAN,
    KEPT,
    Near,
    near_the_bounds,
    radius_schedule,
)
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.bounds import Setting
from modicum.statistics.ranges.clipped_sum import LAST_DRAW, SumErrorModel
from modicum.statistics.ranges.split import (
    expected_records,
    first_reduction,
    mean_schedule,
    shape_share,
)
from modicum.statistics.ranges.window import Found
from modicum.statistics.tails.outside import TOO_LITTLE, Counted, NoisyTerm, Outside
from modicum.statistics.tails.rings import NOT_COUNTED, Rings, ring_bins
from modicum.stored.codec import storable
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum
from modicum.summaries.tails import TailSummary


@dataclass(frozen=True, slots=True)
class FoundSumTuning:
    """How the budget is divided after a window, if not as for a mean. Strengths are as there.

    Chosen on made-up shapes, looked at on half of the public tables. None affects privacy.
    """

    again: float = 0.12
    """Strength of a second count of few, which no window confirms."""
    left: Fraction = Fraction(1, 4)
    """Part of the budget that has to be left for a radius and the sum."""
    radii: tuple[float, float] = (0.18, 4.0)
    """Strength of the radius of many, and the power of its prior."""


FOUND_SUM = FoundSumTuning()


def sum_in_window(
    here: Setting, found: Found, *, keep: bool = False, least: float = 0.0
) -> Steps[ScalarEstimate]:
    """Estimate the sum of records whose window was found.

    ``keep``: groups far away too. The ``least`` is as in their rings.
    """
    split = here.split
    if found.window is None and not found.status.ok:
        found = yield from _counted_again(here, found)
    (lo, hi), outside = found.ends, None
    reach = max(-lo, hi, 1)
    enough = split.left > FOUND_SUM.left * split.total
    if found.window and enough and expected_records(split, found.others) >= FOUND_MEAN.few:
        outside = yield from _radius(here, found, reach, keep=keep)
        reach = max(outside.reach_of(0), here.lattice.first, -here.lattice.last, 1)
    lo, hi = max(-reach, here.lattice.first), min(reach, here.lattice.last)
    clipped, bins = yield from read_both(
        here.ask(ClippedSum(lo, hi)), here.ask(ring_bins(0, (reach, reach)))
    )
    rings = yield from near_the_bounds(split, found, bins, 0, (reach, reach))
    rings = replace(rings, least=least)
    final = split.spend(add_to_one(clipped.total, split.rest(), sensitivity=reach))
    (noisy,) = yield from draw(LAST_DRAW, final, lambda drawn: here.lattice.words(drawn[0]))
    model = FoundSumErrorModel(
        here.lattice,
        lo,
        hi,
        noisy,
        NoisyTerm(final.noise[0], 1.0),
        found.count,
        found.counted.noise[0],
        outside,
        home=found.home,
        whole=here.counts,
        every=found.counted,
        rings=rings,
        given=found.given,
    )
    return ScalarEstimate(model.value, model, _status(model, found), here.lattice)


def _counted_again(here: Setting, found: Found) -> Steps[Found]:
    """Count few records more closely: nothing else tells whether there are any."""
    summary = yield from read(here.ask(ClippedSum(here.lattice.first, here.lattice.last)))
    number, noise = yield from bounds.count_some(
        here, summary.count, FOUND_SUM.again, "count, again"
    )
    counted = Counted(Fraction(max(number, 1)), (NoisyTerm(noise, 1.0),))
    return replace(found, counted=counted)


def _status(model: FoundSumErrorModel, found: Found) -> Status:
    if found.window or found.status.ok:
        return model.status_of(found.status)
    if unseen(float(found.counted.value), found.counted.bound(0.1)):
        return TOO_LITTLE
    return found.among_zeros(model) or found.status


def _radius(here: Setting, found: Found, reach: int, *, keep: bool) -> Steps[Outside]:
    """[window.10] One radius about zero; of many values after a look at the shape of the tail."""
    split, n0, seen = here.split, found.count, None
    many = expected_records(split, found.others) >= FOUND_MEAN.many
    usual = KEPT.radii if keep else FOUND_SUM.radii if many else FOUND_MEAN.radius
    schedule = radius_schedule(here, found, usual, KEPT.ankle * keep)
    shaped = mean_schedule(here.lattice, split, n0, "clip", shape=True)
    least = max(1, reach >> FOUND_MEAN.inside[0])
    if shaped.shape and not keep and 2 * found.others > n0:
        records = found.records or (yield from read(here.ask(Records(subsamples=1))))
        shaped, seen = yield from bounds.look_at_tail(
            here, records, shaped, 0, n0, max(1, reach >> FOUND_MEAN.shape)
        )
        # Of few a skewed bulk has the shape of a tail; where that begins is evidence all the same.
        clear = shape_share(split, expected_records(split, n0))
        schedule = shaped if shaped.turn and clear else schedule
    most = bounds.reach_from(here.lattice, 0)
    if many and not (seen and seen[1] > least):
        seen = found.beyond_of(0)
    sizes: TailSummary | CellSummary | None = None
    if found.records is not None:  # read in the first pass, as both ends of the records were
        first = first_reduction(here.lattice, split, "clip", shape=True)
        sizes = (yield from read(here.ask(first))).tails
    if sizes is None:
        sizes = yield from read(here.ask(Cells(0, schedule.candidates(least, most)[0].radii)))
    outside, _ = yield from bounds.find_radius(here, sizes, schedule, most, seen, least=least)
    return outside


_NOBODY = Counted(Fraction(1), ())


@storable
@dataclass(frozen=True, slots=True)
class FoundSumErrorModel(Near, SumErrorModel):
    """A noisy clipped sum, whose interval allows for what is clipped by counts near the radius."""

    centre: ClassVar[int] = 0
    every: Counted = _NOBODY
    rings: Rings = NOT_COUNTED
    given: bool = False

    @property
    def counted(self) -> Counted:
        return self.every
