"""The ratio of two sums over the same rows, and the mean of rows with weights, which is one.

Of weighted rows (x, w) the mean is the sum of w x over that of w; of pairs (x, w) the ratio is the
sum of x over that of w. Both are c + R / M for any centre c, with M the sum of all w and R that of
the deviations, w x - c w or x - c w. That is the mean of all rows of persons, whose w are numbers
of rows; means/person_mean.py has the steps from the centre on. Here a record is a row, and w has
any scale:

[ratio.2] count    a noisy number of rows with a w that is not 0;
[ratio.3] scales   the octave of the median size of w, and for a ratio of x / w;
[ratio.4] rest     [people.4] to [people.8], with all that is left.

docs/research/proofs/ratio.md has the proofs, with the same labels.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from modicum.errors import InvalidArgument
from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw_count, read
from modicum.statistics import spec, texts
from modicum.statistics.means.found_sum import sum_in_window
from modicum.statistics.means.pairs import PairSetting, octaves_of, pair_of
from modicum.statistics.means.person_mean import RatioParts, centred_ratio, lattice_end
from modicum.statistics.options import NoOption
from modicum.statistics.people.sizes import Named
from modicum.statistics.ranges.found_range import NATS, find_octave, power_of_two
from modicum.statistics.ranges.split import expected_records
from modicum.statistics.ranges.window import Found, find_window
from modicum.summaries import base
from modicum.summaries.pairs import PairNumber
from modicum.summaries.sizes import OctaveSummary

Of = Literal["weights", "ratio"]

_COUNT = Fraction(1, 50)
_LARGEST = 0.25  # strength with which an octave is sought
_HIGHER, _LOWER = 20, 4  # octaves of sizes, above and below that of the median


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
    return _centred("weights", place, lattice, event)


def weighted_sum(
    place: base.Columns, lattice: Lattice, event: Event, _options: NoOption
) -> Steps[ScalarEstimate]:
    """Estimate the sum of values times their weights: [ratio.6] one number a row."""
    number = PairNumber("weights", "product")
    here = PairSetting(None, lattice, BudgetSplit(event), pairs=place, number=number)
    found = yield from find_window(here, sizes=True)
    return (yield from sum_in_window(replace(here, lattice=found.lattice), found))


def ratio_of_sums(
    place: base.Columns, _lattice: None, event: Event, _options: NoOption
) -> Steps[ScalarEstimate]:
    """Estimate a ratio of sums."""
    return replace((yield from _centred("ratio", place, KEYS, event)), lattice=None)


def _centred(of: Of, place: base.Columns, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    """[ratio.4] Find the scale of the sizes, and estimate a mean of rows of such sizes."""
    split = BudgetSplit(event)

    def made(number: PairNumber, on: Lattice) -> PairSetting:
        return PairSetting(None, on, split, pairs=place, number=number)

    size = PairNumber(of, "size")
    usual = yield from _scale(split, octaves_of(place, size))
    largest = power_of_two(usual + _HIGHER)
    on = Lattice.within((0.0 if of == "weights" else -largest, largest))

    def about(found: Found, centre: int) -> PairSetting:
        # Of a ratio those with a denominator of 0 are as far from it as their numerators are.
        reach = found.radius if of == "weights" else max(map(abs, found.ends))
        far = lattice_end(reach * Fraction(found.lattice.step) * Fraction(2) ** usual)
        number = PairNumber(of, "deviation", found.lattice, centre)
        return made(number, Lattice.within((-far, far)))

    octaves = tuple(on.last >> k for k in range(_HIGHER + _LOWER, 0, -1))
    named = Named("rows", "weights" if of == "weights" else "denominators")
    parts = RatioParts(
        made(PairNumber(of, "value"), lattice),
        made(size, on),
        octaves,
        on.last >> _HIGHER,
        about,
        named,
    )
    return (yield from centred_ratio(parts))


def _scale(split: BudgetSplit, octaves: base.Read[OctaveSummary]) -> Steps[int]:
    """[ratio.2], [ratio.3] A power of two that half of the sizes other than 0 reach, about."""
    counts = (yield from read(octaves)).counts[1:]
    number, _ = yield from draw_count(split, sum(counts), split.share(_COUNT), "count")
    strength = min(_LARGEST, 1.5 * NATS / expected_records(split, number))
    octave = yield from find_octave(split, counts, strength, "octave of the sizes")
    return OCTAVES.power(octave + 1)


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
    by_window=True,
)
WEIGHTED_SUM: spec.Row[NoOption, Release] = spec.Row(
    "sum",
    "weighted",
    (NoOption(),),
    "ratio",
    "sum of values times weights, with noise on the scale of their own size",
    weighted_sum,
    of_rows=True,
    by_window=True,
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
