"""The ratio of two sums over the same rows, and the mean of rows with weights, which is one.

Of weighted rows (x, w) the mean is the sum of w x over that of w; of pairs (x, w) the ratio is the
sum of x over that of w. Both are c + R / M for any centre c, with M the sum of all w and R that of
the deviations, w x - c w or x - c w. That is the mean of all rows of persons, whose w are numbers
of rows; people/person_mean.py has the steps from the centre on. Here a record is a row, and w has
any scale:

[ratio.2] count    a noisy number of rows with a w that is not 0;
[ratio.3] scales   the octave of the median size of w, and for a ratio of x / w;
[ratio.4] rest     [people.4] to [people.8], with all that is left.

docs/research/proofs/ratio.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms.grids import RadiusGrid
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw_count, read, read_both
from modicum.statistics import spec, texts
from modicum.statistics.means.pairs import PairSetting, octaves_of, pair_of
from modicum.statistics.options import NoOption
from modicum.statistics.people import person_mean, person_radii
from modicum.statistics.ranges.clipped_sum import sum_within
from modicum.statistics.ranges.found_range import NATS, find_octave, power_of_two
from modicum.statistics.ranges.split import SIZE_PARTS, expected_records
from modicum.statistics.tails import outside
from modicum.summaries import base, subsample
from modicum.summaries.cells import Cells
from modicum.summaries.pairs import PairNumber
from modicum.summaries.sizes import OctaveSummary

Of = Literal["weights", "ratio"]

_COUNT = Fraction(1, 50)
_CLOSE_ENOUGH, _LEAST_COUNT = 40.0, 1 / 512  # strength
_LARGEST = 0.25  # strength with which an octave is sought
_HIGHER, _LOWER = 12, 4  # octaves of sizes, above and below that of the median
_SLACK = 12  # octaves of quotients
_WIDER = {"weights": 4, "ratio": 2}  # octaves of deviations, beyond the largest size times a range
_NARROWEST, _WIDEST = power_of_two(-2000), power_of_two(2000)  # ranges of lattices
_FURTHEST = 1 << 51  # steps of a lattice
TOO_FEW = Status(
    "few_records",
    "too few rows with weights, or with parts, other than 0 to find their scale at this budget: "
    "spend more",
)


@texts.documented
def ratio(
    column: str,
    denominator: str,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
) -> Query[Release]:
    """Ask for the ratio of the sums of two columns, with no bounds to guess.

    Prefer it over a quotient of two sums: the noise follows how far the rows are from the ratio,
    which goes to nothing where ``column`` is a multiple of ``denominator``.

    Parameters
    ----------
    column : str
        Name of the numeric column whose sum is divided.
    denominator : str
        Name of the numeric column by whose sum it is divided.
    {cost}

    {returns}

    Raises
    ------
    InvalidArgument
        If the names are equal or no text; if there is no cost, more than one, or one that is not
        positive.

    Notes
    -----
    A row without a finite number in both columns is dropped. Numbers may have any scale and both
    signs; where the sum of the denominators may be 0 for all that is known, the interval has no
    ends and ``release.status`` says so. Errors never depend on values.

    Examples
    --------
    >>> ratio("spent", "earned", epsilon=1).column
    'spent / earned'
    """
    cost = chosen_budget(epsilon, rho, budget)
    place = pair_of("denominator", column, denominator, " / ")
    return RATIO.query(place, None, cost, NoOption())


def weighted_mean(
    place: base.Columns, lattice: Lattice, event: Event, _options: NoOption
) -> Steps[ScalarEstimate]:
    """Estimate the mean of rows with weights."""
    split = BudgetSplit(event)
    sizes = yield from read(octaves_of(place, PairNumber("weights", "size")))
    scale = yield from _scale(split, sizes, "count", "octave of the weights")
    return (yield from _centred("weights", place, lattice, split.rest().loss, scale))


def weighted_sum(
    place: base.Columns, lattice: Lattice, event: Event, _options: NoOption
) -> Steps[ScalarEstimate]:
    """Estimate the sum of values times their weights: [ratio.6] one number a row."""
    number = PairNumber("weights", "product")
    here = PairSetting(None, lattice, BudgetSplit(event), pairs=place, number=number)
    return (yield from sum_within(here, "clip"))


def ratio_of_sums(
    place: base.Columns, _lattice: None, event: Event, _options: NoOption
) -> Steps[ScalarEstimate]:
    """Estimate a ratio of sums."""
    split = BudgetSplit(event)
    values, sizes = yield from read_both(
        octaves_of(place, PairNumber("ratio", "value")),
        octaves_of(place, PairNumber("ratio", "size")),
    )
    scale = yield from _scale(split, sizes, "count", "octave of the denominators")
    quotients = yield from _scale(
        split, values, "quotients other than 0", "octave of quotients", scale.number
    )
    reach = power_of_two(quotients.power + _SLACK)
    lattice = Lattice.within((-reach, reach))
    scale = replace(scale, enough=scale.enough and quotients.enough)
    return (yield from _centred("ratio", place, lattice, split.rest().loss, scale))


@dataclass(frozen=True, slots=True)
class _Scale:
    """How many numbers are not 0, and a power of two that half of them reach, about."""

    number: int
    noise: outside.NoisyTerm
    power: int
    enough: bool


def _scale(
    split: BudgetSplit, octaves: OctaveSummary, count: str, label: str, about: int = 0
) -> Steps[_Scale]:
    """[ratio.2], [ratio.3] Count the numbers that are not 0, and find their scale.

    If there are ``about`` so many, a count of a few hundredths of them is close enough.
    """
    counts = octaves.counts[1:]
    share = _COUNT
    if about:
        strength = _CLOSE_ENOUGH / expected_records(split, about)
        share = min(_COUNT, split.part_for(max(_LEAST_COUNT, strength), "noise"))
    n0, noise = yield from draw_count(split, sum(counts), split.share(share), count)
    expected = expected_records(split, n0)
    octave = yield from find_octave(split, counts, min(_LARGEST, 1.5 * NATS / expected), label)
    enough = expected * _LARGEST >= NATS
    return _Scale(n0, outside.NoisyTerm(noise, 1.0), OCTAVES.power(octave + 1), enough)


def _centred(
    of: Of, place: base.Columns, lattice: Lattice, event: Event, scale: _Scale
) -> Steps[ScalarEstimate]:
    """[ratio.4] The steps from the centre on, with what the scales leave of the budget."""
    split = BudgetSplit(event)

    def made(number: PairNumber, on: Lattice) -> PairSetting:
        return PairSetting(None, on, split, pairs=place, number=number)

    largest = power_of_two(scale.power + _HIGHER)
    on = Lattice.within((0.0 if of == "weights" else -largest, largest))
    grid = RadiusGrid.between(max(1, on.last >> (_HIGHER + _LOWER)), on.last, SIZE_PARTS)
    width = lattice.hi - lattice.lo

    def about(centre: int, most: int) -> PairSetting:
        reach = 2.0 ** _WIDER[of] * width * (most * on.step)
        reach = min(max(reach, _NARROWEST), _WIDEST)
        number = PairNumber(of, "deviation", lattice, centre)
        return made(number, Lattice.within((-reach, reach)))

    means = made(PairNumber(of, "value"), lattice)
    sizes = made(PairNumber(of, "size"), on)
    records, cells = yield from read_both(
        means.ask(subsample.Records()), sizes.ask(Cells(0, grid.radii))
    )
    sums = "sum of the " + ("weights" if of == "weights" else "denominators")
    half = scale.number / 2, max(1, round(math.sqrt(0.5) * (on.last >> _HIGHER)))
    parts = person_radii.RatioParts(means, sizes, grid, about, "rows", sums, half)
    schedule = person_radii.PeopleSchedule.of(split, scale.number, _FURTHEST, grid.log_width)
    counted = scale.number, scale.noise
    answer = yield from person_mean.centred_ratio(parts, records, cells, schedule, counted)
    return answer if scale.enough else replace(answer, status=TOO_FEW)


RATIO: spec.Row[NoOption, Release] = spec.Row(
    "ratio",
    "centred",
    (NoOption(),),
    "ratio",
    "ratio of two sums with noise on the scale of how far rows are from it",
    ratio_of_sums,
    needs_range=False,
    of_rows=True,
)
WEIGHTED_MEAN: spec.Row[NoOption, Release] = spec.Row(
    "mean",
    "weighted",
    (NoOption(),),
    "ratio",
    "mean of rows with weights, with noise on the scale of the data's own spread",
    weighted_mean,
    of_rows=True,
    octaves_of=lambda place: octaves_of(place, PairNumber("weights", "value")),
)
WEIGHTED_SUM: spec.Row[NoOption, Release] = spec.Row(
    "sum",
    "weighted",
    (NoOption(),),
    "ratio",
    "sum of values times weights, with noise on the scale of their own size",
    weighted_sum,
    of_rows=True,
    octaves_of=lambda place: octaves_of(place, PairNumber("weights", "product")),
)


def weighted(
    statistic: Literal["mean", "sum"],
    column: object,
    weights: object,
    lattice: Lattice | None,
    cost: Budget,
    **chosen: Any,
) -> Query[Release]:
    """Ask for a statistic of weighted rows; other options than the default are refused."""
    if chosen != {"method": "adaptive", "clusters": "clip"}:
        raise InvalidArgument("weights= goes with the default method and clusters only")
    row = WEIGHTED_MEAN if statistic == "mean" else WEIGHTED_SUM
    return row.query(pair_of("weights", column, weights, ", weights "), lattice, cost, NoOption())


STATISTICS = (
    spec.Declaration(
        ratio,
        (RATIO, WEIGHTED_MEAN, WEIGHTED_SUM),
        """>>> import numpy as np, pandas as pd, modicum
>>> rng = np.random.default_rng(1)
>>> table = pd.DataFrame({"earned": rng.lognormal(10, 1, 20_000)})
>>> table["spent"] = table["earned"] * rng.uniform(0.5, 0.9, 20_000)
>>> release = modicum.ratio(table, "spent", "earned", epsilon=1)
>>> 0.69 < release.value < 0.71
True""",
        command="people.csv spent --denominator earned --epsilon 1",
        options={"denominator": "column by whose sum it is divided"},
        tail=True,
    ),
)
