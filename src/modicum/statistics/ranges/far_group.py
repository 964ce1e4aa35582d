"""Records far from all others: counted outside of drawn radii, and reached where they are no tail.

Radii leave a few records outside, as a tail would. A code for missing values, or a second group, is
lost there too, with all its weight. So those who are outside are counted, and wider radii are
looked for if a tail does not explain their number; nobody else pays for that:

[mean.6]  count   the records outside, with noise;
[mean.10] twice   again and more closely, if a tail hardly explains the first count;
[mean.15] group   if a tail does not explain the second, the group itself tells how far out it is;
[mean.10] radii   or radii are drawn anew, for a group that outweighs a prior over all of them, and
                  what is beyond those is counted.

The search of search.py draws radii on both sides of a centre.
docs/research/proofs/mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms import grids, scores
from modicum.mechanisms.exponential import Exponential
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.split import CLEARLY_FROM, Schedule, expected_records
from modicum.statistics.tails.outside import Outside
from modicum.summaries.cells import Cells

# Strengths of counts of the records outside, pure and concentrated: at first and at last, and at
# most.
_FIRST, _MOST = (1 / 24, 1 / 10), (1 / 10, 1 / 5)
_OF_MANY = 1 / 16  # at first, of many records whose radii follow the shape of a tail
_CLOSELY = 20.0  # scales of the noise of a second count that the records found are, if it may be
# Of the releases of a tail so many are counted a second time, with its shape seen and without;
# twice as many if bounds are not tight.
_PERHAPS = (0.1, 0.05)
SURELY = (0.05, 1e-3)  # of those that are counted so are taken for a group, or beside tight bounds
# A count outside of tight bounds, or of others, has noise of so small a part of few records.
_IF_TIGHT, _IF_WIDE = 200.0, 50.0
# A group of fewer records, in units of the noise, is found by where they are themselves; candidates
# are parts of an octave, as steep as a prior of this power about them, over so many octaves at
# least; "none" weighs so many times all of them, the widest so many nats less than the first one,
# and these are to spare.
_FEW, _PARTS, _POWER, _OCTAVES, _NONE, _WIDEST, _SPARE = 250, 4, 2.5, 3, 1000, 6.0, 3.0
_TAIL = 8  # parts of an octave from the first bounds, in which a tail of index 2 has 15 in 16
_STRENGTH = 0.2  # least strength of that draw
# Power that radii drawn again should have, and the least: wider ones by 2.4 and 6 on average.
_AGAIN, _LEAST_AGAIN = 2.0, 1.25


class Looked(NamedTuple):
    """[mean.10] The records outside of bounds, counted once, or twice with this strength."""

    outside: Outside
    second: float = 0.0

    @property
    def group(self) -> bool:
        """Whether they are too many for a tail, as far as a second count tells."""
        surely = SURELY[self.outside.tight]
        return self.outside.twice and self.outside.excess(0.05, rare=surely) > 0


def count_twice(
    here: bounds.Setting, schedule: Schedule, outside: Outside, elsewhere: int, n0: int
) -> Steps[Looked]:
    """[mean.6], [mean.10] Count the records outside, again if a tail hardly explains the number."""
    split, tight = here.split, outside.tight
    expected = expected_records(split, n0)
    few = (_IF_TIGHT if tight else _IF_WIDE) / expected
    least = _FIRST[split.concentrated]
    if schedule.turn and expected >= CLEARLY_FROM and not tight:
        least = _OF_MANY
    first = max(least, bounds.affordable(here, schedule, few))
    outside = yield from bounds.count_outside(here, outside, elsewhere, n0, strength=first)
    perhaps = _PERHAPS[outside.seen is None] * (1 if tight else 2)
    if not outside.excess(0.05, rare=perhaps):
        return Looked(outside)
    most = 1.0 if tight else _MOST[split.concentrated]
    second = max(first, min(_CLOSELY / records_found(here, outside), most))
    second = bounds.affordable(here, schedule, second)
    return Looked((yield from count_closely(here, outside, elsewhere, second)), second)


def records_found(here: bounds.Setting, outside: Outside) -> float:
    """How many records were counted outside, at least one, in units of the noise."""
    return max(outside.counted or 0, 1) * float(here.split.scale)


def count_closely(
    here: bounds.Setting, outside: Outside, elsewhere: int, strength: float
) -> Steps[Outside]:
    """[mean.10] Count the records outside a second time."""
    label = "records outside, again"
    found, noise = yield from bounds.count_some(here, elsewhere, strength, label)
    return replace(outside, counted=found, noise=noise, twice=True)


def count_beyond(here: bounds.Setting, outside: Outside, elsewhere: int) -> Steps[Outside]:
    """[mean.10] Count what is outside of bounds that were widened for a group."""
    return (yield from count_closely(here, outside, elsewhere, _FIRST[here.split.concentrated]))


def _part_for(here: bounds.Setting, schedule: Schedule, strength: float) -> Fraction | None:
    """What a draw of a strength costs, or half of what the rough mean and the last count leave.

    ``None``: nothing is left.
    """
    split = here.split
    last = split.part_for(_FIRST[split.concentrated], "noise")
    rest = split.left / split.total - schedule.rough - last
    return min(split.part_for(strength, "range"), rest / 2) if rest > 0 else None


def radii_again(here: bounds.Setting, schedule: Schedule, outside: Outside) -> Schedule | None:
    """[mean.10] Radii for a group that was counted outside of the first ones.

    They get what a prior r^-2 costs from the first radii to the widest, if that is left. The prior
    is as steep as the group outweighs.
    """
    found = records_found(here, outside)
    span = math.log(outside.widest / max(1, *outside.radii))
    needed = max(0.10, (_AGAIN * span + bounds.SLACK) / (bounds.TRUST * found))
    part = _part_for(here, schedule, needed)
    if part is None:
        return None
    strength = float(here.split.share(part).range / here.split.scale)
    return schedule.plain(part, bounds.power_for(strength * found, span, _LEAST_AGAIN))


def few_of_them(here: bounds.Setting, outside: Outside) -> bool:
    """Whether a group is too small to outweigh a prior over all radii for little budget."""
    return records_found(here, outside) < _FEW


def reach_group(
    here: bounds.Setting,
    schedule: Schedule,
    first: Outside,
    centre: int,
    reaches: tuple[int, int],
) -> Steps[tuple[Outside, int] | None]:
    """[mean.15] A radius about a centre that a group of few records tells itself.

    The group was counted outside of ``first``, whose bounds go as far as ``reaches`` on both sides.
    Returned are what the radius says, and the number of records beyond it, which is not released;
    ``None``: there is no such group, or no budget.
    """
    lattice, split = here.lattice, here.split
    least, widest = max(min(reaches), lattice.floor), bounds.reach_from(lattice, centre)
    radii = grids.RadiusGrid.between(least, widest, _PARTS).radii[1:]
    none = _NONE * len(radii)
    needed = (math.log(none) + _WIDEST + _SPARE) / (bounds.TRUST * records_found(here, first))
    part = _part_for(here, schedule, max(needed, _STRENGTH))
    if part is None or len(radii) == 1:
        return None
    share = split.share(part)
    nats = float(share.range) * max(first.counted or 0, 1)
    if nats < math.log(none):  # it would be "none" whatever there is
        return None
    octaves = min(max(bounds.TRUST * nats / (_POWER * math.log(2)), _OCTAVES), len(radii) / _PARTS)
    most = 2 * math.ceil(_PARTS * octaves / 2)
    beyond = yield from _beyond(here, centre, radii, reaches)
    # Public: what the widest radius costs beside the first, without any records.
    prior = np.rint(np.linspace(0, _WIDEST * most / float(share.range), len(radii)))
    score = scores.LossScore(ramp(beyond, most) + prior.astype(np.int64), most, none)
    mechanism = split.spend(Exponential(score, *share.ranged))

    def words(place: int) -> str:
        if not place:
            return "no radius holds most of the records outside"
        return f"most of the records outside are within {lattice.words(radii[place])}"

    place = yield from draw("group", mechanism, words)
    if not place:
        return None
    most_of_all = first.counted_at_most(0.05)
    eta = float(mechanism.epsilon)
    outside = Outside(
        radii=tuple(max(radii[place], reach) for reach in reaches)[: len(first.radii)],
        widest=radii[-1],
        candidates=len(radii),
        eta=eta,
        power=_PARTS / math.log(2) * (eta * most_of_all / most + _WIDEST / (len(radii) - 1)),
        per_octave=_PARTS,
        least=radii[0],
        selection="exponential",
        seen=first.seen,
    )
    return outside, beyond[place]


def _beyond(
    here: bounds.Setting, centre: int, radii: Sequence[int], reaches: tuple[int, int]
) -> Steps[list[int]]:
    """How many records are further from a centre than each radius, and than the first bounds."""
    edges = sorted({*radii, *reaches} - {0})
    cells = yield from read(here.ask(Cells(centre, tuple(edges))))
    left, right = ([max(radius, reach) for radius in radii] for reach in reaches)
    above = cells.above_many([centre + reach for reach in right])
    below = cells.below_many([centre - reach for reach in left])
    return [a + b for a, b in zip(above, below, strict=True)]


def ramp(beyond: Sequence[int], most: int) -> NDArray[np.int64]:
    """[mean.15] Loss of each radius, of which ``beyond`` is the number of records further away.

    A record within the first radius counts for none of them. One in the cell that ends at radius i
    costs ``most`` at each radius before, and at radius j >= i as many steps as j is further out:
    half of ``most`` at the utmost, or all of it if i is within two octaves of the first radius,
    where nearly all records of a tail are. An integer of [0, most] everywhere.

    Examples
    --------
    >>> ramp([7] * 9 + [0] * 3, 2).tolist()  # seven records end at the tenth radius
    [14, 14, 14, 14, 14, 14, 14, 14, 14, 0, 7, 7]
    >>> ramp([7, 0, 0, 0, 0, 0], 2).tolist()  # just beyond the first: further out is no better
    [14, 0, 7, 14, 14, 14]
    """
    further, half = np.array(beyond, dtype=np.int64), most // 2
    losses, places = most * further, np.arange(len(beyond))
    for steps in range(1, min(most, len(further) - 1) + 1):
        # The records that are so many steps within a radius, or more: of the group all but those
        # further than the radius as many steps before; beyond a half only those of a tail.
        before = places[:-steps]
        held = before if steps <= half else before.clip(max=_TAIL)
        losses[steps:] += further[0] - further[held]
    return losses
