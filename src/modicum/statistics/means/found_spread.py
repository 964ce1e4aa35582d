"""The variance of a column of which no range is known, and its root.

[window.1] window  where the values are: ranges/window.py;
[window.8] bounds  of few records the ends of the window, of more those of found_mean.py, wider; and
                   a rough mean m within them;
[window.7] rings   how many records are near the bounds: the interval allows for what is beyond;
[window.9] squares about m, as [variance.5] in squares.py, with all that is left.

docs/research/proofs/window.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from modicum.releases.release import ScalarEstimate
from modicum.releases.status import Status
from modicum.runtime.steps import Steps, read_both
from modicum.statistics import spec
from modicum.statistics.means.found_mean import (
    Bounded,
    FoundMeanTuning,
    Near,
    about_a_median,
    about_a_rough_mean,
    near_the_bounds,
)
from modicum.statistics.means.squares import VarianceErrorModel, noisy_squares
from modicum.statistics.ranges.bounds import Bounds, Setting, rough_mean
from modicum.statistics.ranges.split import expected_records, mean_schedule
from modicum.statistics.ranges.window import Found
from modicum.statistics.tails.outside import HEAVY, UNCHECKED
from modicum.statistics.tails.rings import NOT_COUNTED, Rings
from modicum.statistics.tails.tail_index import Evidence
from modicum.stored.codec import storable
from modicum.summaries.sums import ClippedSquares


@dataclass(frozen=True, slots=True)
class FoundSpreadTuning(FoundMeanTuning):
    """How the budget is divided after a window, where it is not as that of a mean.

    Chosen on made-up shapes for the error of a standard deviation: noise grows like the squared
    radius, so the priors of radii are steeper. None affects privacy.
    """

    few: float = 300.0
    radius: tuple[float, float] = (0.16, 4.5)
    radii: tuple[float, float] = (0.25, 5.0)
    shape: int = 0
    within: tuple[float, float] = (0.15, 0.8)
    """Strength of the rough mean of fewer than many: at most, and times N^(-1/3)."""


FOUND_SPREAD = FoundSpreadTuning()


def spread_in_window(here: Setting, found: Found, *, root: bool) -> Steps[ScalarEstimate]:
    """Estimate the variance, or its root, of records whose window was found."""
    split = here.split
    if not root:
        found = _with_squares(found)
        here = replace(here, lattice=found.lattice)
    others = expected_records(split, found.others)
    if others < FOUND_SPREAD.many:
        bounded = yield from _of_fewer(here, found, few=others < FOUND_SPREAD.few)
    else:
        bounded = yield from about_a_median(here, found, FOUND_SPREAD)
    bounds, rough = bounded.bounds, bounded.rough
    bins, squares = yield from read_both(
        here.ask(bounded.bins), here.ask(ClippedSquares(bounds.lo, bounds.hi, rough.value))
    )
    rings = yield from near_the_bounds(split, found, bins, bounded.centre, bounded.radii)
    model = yield from noisy_squares(
        here,
        squares,
        bounds,
        rough,
        partial(FoundSpreadErrorModel, root=root, centre=bounded.centre, rings=rings),
    )
    status = model.status_of(found.status)
    if others < FOUND_SPREAD.many and status.ok:
        status = UNCHECKED
    return ScalarEstimate(model.value, model, status, found.lattice)


def _with_squares(found: Found) -> Found:
    """The same, or all of a lattice whose squares are floats: its ends count for what is beyond."""
    lattice = spec.with_squares(found.lattice)
    if lattice is found.lattice:
        return found
    return replace(found, lattice=lattice, centre=0, radius=lattice.last)


def _of_fewer(here: Setting, found: Found, *, few: bool) -> Steps[Bounded]:
    """[window.8] The ends of the window, or a radius about a rough mean, and a rough mean in it."""
    if few:
        outside = replace(Bounds.of_range(here.lattice).outside, radii=(found.radius, found.radius))
        centre, bounds = found.centre, Bounds.about(found.centre, outside, 0, here.lattice)
    else:
        centre, bounds, _ = yield from about_a_rough_mean(here, found, FOUND_SPREAD)
    most, times = FOUND_SPREAD.within
    strength = min(most, times / math.cbrt(expected_records(here.split, found.count)))
    plain = mean_schedule(here.lattice, here.split, found.count, "clip")
    schedule = replace(plain, rough=here.split.part_for(strength, "noise"))
    rough = yield from rough_mean(here, bounds, schedule, found.counted)
    return Bounded(centre, bounds, rough)


@storable
@dataclass(frozen=True, slots=True)
class FoundSpreadErrorModel(Near, VarianceErrorModel):
    """Squares about a rough mean, whose interval allows for clipping by counts near the bounds.

    The bounds are radii about the ``centre``. Beyond that of a side a number of its squared radii,
    in ``rings``, may be missing from the sum.
    """

    centre: int = 0
    rings: Rings = NOT_COUNTED
    given: ClassVar[bool] = False
    beyond: ClassVar[float] = 0.0
    parts: ClassVar[tuple[float, float, float]] = (0.3, 0.6, 0.15)  # m is rough, of few records

    def status_of(self, otherwise: Status) -> Status:
        """Whether it can be used: of a thin tail the largest decide, which nothing shows."""
        status = Near.status_of(self, otherwise)
        return HEAVY if status.ok and self.rings.thin else status

    def evidence(self) -> tuple[Evidence, ...]:
        """What noise explains tells nothing of the tail."""
        return () if self.noise.explains(self.sums[0]) else VarianceErrorModel.evidence(self)

    def to_dict(self) -> dict[str, object]:
        """Without a bound on what is clipped, where no radius was drawn."""
        shown = VarianceErrorModel.to_dict(self)
        return {name: shown[name] for name in shown if name != "clipped_at_most"}

    def _excess(self, alpha: float, tail: float) -> float:
        return self.missing(0, tail) + self.missing(1, tail)
