"""The variance of a column, and its root, in a range that is given or in none.

[window.1] window  where the values are: ranges/window.py;
[window.8] bounds  of few records the ends of the window, or of the range; of more those of
                   found_mean.py, wider; and a rough mean m within them;
[window.7] rings   how many records are near the bounds: the interval allows for what is beyond;
[window.9] powers  of the distances from m, with all that is left: of a variance [variance.1].

docs/research/proofs/window.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from modicum.mechanisms.additive import add_noise
from modicum.releases.release import ScalarEstimate
from modicum.runtime.steps import Steps, draw, read_both
from modicum.statistics import spec
from modicum.statistics.means.found_mean import (
    Bounded,
    FoundMeanTuning,
    about_a_median,
    about_a_rough_mean,
    ends_of,
    near_the_bounds,
)
from modicum.statistics.means.squares import VarianceErrorModel
from modicum.statistics.ranges.bounds import Bounds, Setting, rough_mean
from modicum.statistics.ranges.split import expected_records, mean_schedule
from modicum.statistics.ranges.window import Found
from modicum.statistics.tails.outside import NoisyTerm
from modicum.summaries.base import Reduction
from modicum.summaries.sums import ClippedSquares, SquareSummary


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


class Powers(NamedTuple):
    """What is drawn of the powers about a rough mean, and what is said of it.

    ``read`` asks for sums of powers of what is clipped to bounds, about a point between them;
    ``sums`` returns, by these and the largest distance, what is drawn, and its sensitivity.
    """

    read: Callable[[int, int, int], Reduction[Any]]
    sums: Callable[[Any, int], tuple[tuple[int, ...], int]]
    model: Callable[..., Any]
    label: str
    words: Callable[[Any], str]


def powers_in_window(powers: Powers, here: Setting, found: Found) -> Steps[ScalarEstimate]:
    """Estimate what follows from powers about a rough mean of records whose window was found."""
    split = here.split
    others = expected_records(split, found.others)
    # Of records in a range that says enough as long as no number tells of their tail.
    many = FOUND_SPREAD.many if found.window else FOUND_SPREAD.checked
    if others < many or found.home is not None:
        bounded = yield from _of_fewer(here, found, few=others < FOUND_SPREAD.few)
    else:
        bounded = yield from about_a_median(here, found, FOUND_SPREAD)
    bounds, rough = bounded.bounds, bounded.rough
    reading = powers.read(bounds.lo, bounds.hi, rough.value)
    bins, exact = yield from read_both(here.ask(bounded.bins), here.ask(reading))
    rings = yield from near_the_bounds(split, found, bins, bounded.centre, bounded.radii)
    values, sensitivity = powers.sums(exact, bounds.reach(rough.value))
    final = split.spend(add_noise(values, split.rest(), sensitivity=sensitivity))

    def model_of(sums: tuple[int, ...]) -> Any:
        return powers.model(
            lattice=here.lattice,
            lo=bounds.lo,
            hi=bounds.hi,
            rough=rough,
            sums=sums,
            noise=NoisyTerm(final.noise[0], 1.0),
            outside=bounds.outside,
            centre=bounded.centre,
            rings=rings,
            given=found.given,
            constant=found.home is not None,
        )

    sums = yield from draw(powers.label, final, lambda sums: powers.words(model_of(sums)))
    model = model_of(sums)
    status = model.status_in(found, few=others < many)
    return ScalarEstimate(model.value, model, status, here.lattice)


def spread_in_window(here: Setting, found: Found, *, root: bool) -> Steps[ScalarEstimate]:
    """Estimate the variance, or its root, of records whose window was found."""
    if not root:
        found = _with_squares(found)
        here = replace(here, lattice=found.lattice)
    model = partial(VarianceErrorModel, root=root)
    words = "standard deviation {}".format
    squares = Powers(
        ClippedSquares,
        _squares_and_rest,
        model,
        "squares about the rough mean",
        lambda model: words(here.lattice.words(model.deviation)),
    )
    return powers_in_window(squares, here, found)


def _squares_and_rest(squares: SquareSummary, reach: int) -> tuple[tuple[int, int], int]:
    """[variance.1] The squares, and what they lack of the largest."""
    largest = reach**2
    return (squares.total, squares.count * largest - squares.total), largest


def _with_squares(found: Found) -> Found:
    """The same, or all of a lattice whose squares are floats: its ends count for what is beyond."""
    lattice = spec.with_squares(found.lattice)
    if lattice is found.lattice:
        return found
    return replace(found, lattice=lattice, centre=0, radius=lattice.last)


def _of_fewer(here: Setting, found: Found, *, few: bool) -> Steps[Bounded]:
    """[window.8] The ends of the window, or a radius about a rough mean, and a rough mean in it.

    The ends of a given range, where nothing better is known.
    """
    centre = found.centre
    if found.window is None:
        bounds = Bounds.of_range(here.lattice)
    elif few:
        bounds = ends_of(here, found)
    else:
        centre, bounds, _ = yield from about_a_rough_mean(here, found, FOUND_SPREAD)
    most, times = FOUND_SPREAD.within
    strength = min(most, times / math.cbrt(expected_records(here.split, found.count)))
    plain = mean_schedule(here.lattice, here.split, found.count, "clip")
    schedule = replace(plain, rough=here.split.part_for(strength, "noise"))
    rough = yield from rough_mean(here, bounds, schedule, found.counted)
    return Bounded(centre, bounds, rough)
