"""The first steps of moments: the number of rows, intervals of columns, what they miss.

Where rows are too few for an interval in each column, one centre and one half-width serve all
columns: a row has a value in every column, so that intervals divide a budget by the number of
columns; of norms it has one [moments.3]. Those steps are those of a mean vector.

Labels are those of docs/research/proofs/moments.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.mechanisms import additive, grids
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import IntervalScore, LossScore
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.status import OK, Status, unseen
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.vectors.vector_rounds import VectorRounds, VectorSetting
from modicum.statistics.vectors.vector_schedule import SUBSTEP, VectorSchedule, wide_radii
from modicum.stored.codec import storable
from modicum.summaries import base, cells, vectors
from modicum.summaries.second_moments import WHOLE, FarCounts, Norm, Scaling

Interval = tuple[int, int]

COUNTED, _INTERVALS = Fraction(3, 100), Fraction(2, 5)
# Of what is far, if ε n is so much that the noise hides few rows; if not, next to nothing.
_FAR, _TELLING, _LITTLE = Fraction(1, 50), 2000.0, Fraction(1, 1000)
_ENOUGH, _ENOUGH_FOR_FITS = 40.0, 30.0  # so much ε n finds a column of a bell shape [moments.2]
# Second draws, for columns of which no interval was found: share of the budget for each unit of
# ε n / (250 columns), and at most; ε n for each of them, least and most, or share if that is more.
# Up to the most it is what finds a column that products would show: by columns squared.
_AGAIN, _UNIT, _MOST_AGAIN = 0.075, 250.0, Fraction(3, 10)
_ENOUGH_AGAIN, _CHEAP_AGAIN = (600.0, 2000.0), Fraction(1, 100)
_VISIBLE = Fraction(2, 5)
# Doublings of none; nats by ε n of an interval, and what is taken off them; enough doublings.
_DOUBT, _SLOPE, _FIRST, _SURE = (-2, 10), 1.25, 15.6, 7


@dataclass(frozen=True, slots=True)
class StandardisedColumns(VectorSetting):
    """Columns whose place and scale are released.

    ``count`` is the noisy number of rows, at least 1, ``scaling`` has the centres and half-widths,
    and ``saved`` is the share of the budget that their intervals did not need. ``none_seen``: the
    noisy number cannot be distinguished from 0. ``common``: all columns have one half-width, that
    of rows and not their own. ``rare``: a second draw found the interval of the last column, whose
    values other than the most frequent ones are few.
    """

    labels: tuple[str, ...]
    count: int
    scaling: Scaling
    state: ColumnState
    saved: Fraction
    none_seen: bool
    common: bool = False
    rare: bool = False

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.labels)


def standardised_columns(
    columns: base.Columns, lattice: Lattice, event: Event, *, goal: bool, common: bool = False
) -> Steps[StandardisedColumns]:
    """Count the rows, draw an interval for each column or one for all, and count what it misses.

    These are [moments.1], [moments.2] or [moments.3], and [moments.4]. ``event`` is for all that
    follows, too. ``goal``: the last column is to be explained by the others, so its interval costs
    twice as much. ``common``: one centre and half-width for all columns will do if rows are few.
    """
    split = BudgetSplit(event)
    here = VectorSetting(columns, lattice, split)
    spread = yield from read(here.ask(cells.SpreadCounts()))
    width = spread.width
    labels = columns.names or tuple(f"column {place}" for place in range(width))
    counted, noise = yield from draw_count(split, spread.count, split.share(COUNTED))  # [moments.1]
    rows, none_seen = max(counted, 1), unseen(counted, noise.tail_bound(0.02))

    common = common and rows_are_few(split, rows, width)
    if common:
        scaling = yield from common_scaling(here, rows, width)  # [moments.3]
        missed, sure, saved, rare = (False,) * width, True, Fraction(0), False
    else:
        scaling, missed, sure, saved, rare = yield from _own_intervals(
            here, spread, labels, rows, goal=goal
        )

    counts = yield from read(here.ask(FarCounts(scaling)))
    share = split.share(_FAR if float(split.scale) * rows >= _TELLING else _LITTLE)
    # [moments.4]
    counting = split.spend(additive.add_noise(counts.totals, share, sensitivity=WHOLE))
    far = yield from draw("rows far from the interval of each column", counting)
    deviation = math.sqrt(counting.noise[0].variance) / WHOLE
    norm: Norm = "l2" if split.concentrated else "l1"
    state = ColumnState(missed, sure, far, deviation, norm, rows)
    return StandardisedColumns(
        columns, lattice, split, labels, rows, scaling, state, saved, none_seen, common, rare
    )


def _own_intervals(
    here: VectorSetting,
    spread: cells.SpreadSummary,
    labels: Sequence[str],
    rows: int,
    *,
    goal: bool,
) -> Steps[tuple[Scaling, tuple[bool, ...], bool, Fraction, bool]]:
    """[moments.2] Draw an interval for each column, and again for those that have none yet.

    Returned are the scaling, and of :class:`ColumnState` and :class:`StandardisedColumns`
    ``missed``, ``sure``, ``saved`` and ``rare``.
    """
    split, width = here.split, len(labels)
    # Two fifths among the intervals, or what makes them certain if that is less.
    enough = _ENOUGH_FOR_FITS if goal else _ENOUGH
    each = min(_INTERVALS / (width + goal + 1), split.part_for_range(enough / rows))
    shares = dict(enumerate([each] * (width - goal) + [2 * each] * goal))
    intervals = yield from _intervals(here, spread, labels, rows, shares)
    missed = [place for place, interval in intervals.items() if interval is None]
    saved = _INTERVALS - sum(shares.values())
    if missed and saved > 0:
        share = _share_again(split, rows, width - goal, len(missed), saved)
        again = dict.fromkeys(missed, share)
        intervals |= yield from _intervals(here, spread, labels, rows, again, clear=True)
        saved -= share * len(missed)
    # All the range for a column without an interval.
    grid = grids.IntervalGrid.of(here.lattice)
    ends = [found or grid.interval(grid.size) for found in intervals.values()]
    scaling = Scaling(
        tuple(low + wide // 2 for low, wide in ends),
        tuple(wide.bit_length() - 2 for _, wide in ends),
    )
    sure = _doubt(float(split.share(each).range) * rows) >= _SURE
    rare = width - 1 in missed and intervals[width - 1] is not None
    return scaling, tuple(found is None for found in intervals.values()), sure, saved, rare


def _intervals(
    here: VectorSetting,
    spread: cells.SpreadSummary,
    labels: Sequence[str],
    rows: int,
    shares: Mapping[int, Fraction],
    *,
    clear: bool = False,
) -> Steps[dict[int, Interval | None]]:
    """Draw an interval, or none, for each of the columns that have a share."""
    grid, chosen = grids.IntervalGrid.of(here.lattice, clear=clear), {}
    words, ends = partial(grid.words, here.lattice), cells.cell_numbers(grid.ends())
    for place, share in shares.items():
        scores = grid.scores(np.diff(spread.below(place, ends), axis=1))
        part = here.split.share(share)
        doubt = _DOUBT[1] if clear else _doubt(float(part.range) * rows)
        mechanism = here.split.spend(Exponential(IntervalScore(scores, grid, doubt), *part.ranged))
        label = f"interval of {labels[place]}{', again' if clear else ''}"
        found = yield from draw(label, mechanism, words)
        chosen[place] = None if found == grid.size else grid.interval(found)
    return chosen


def _doubt(heard: float) -> int:
    """Return the weight of no interval: as much as the column of a bell shape can spare."""
    return min(max(math.floor((_SLOPE * heard - _FIRST) / math.log(2)), _DOUBT[0]), _DOUBT[1])


def _share_again(
    split: BudgetSplit, rows: int, width: int, missed: int, saved: Fraction
) -> Fraction:
    """Return the share of a second draw: more where the noise of what follows is little."""
    heard = float(split.scale) * rows / (_UNIT * max(width, 1))
    most = min(Fraction(max(round(_AGAIN * heard * 2**20), 1), 2**20), _MOST_AGAIN, saved)
    least, enough = (split.part_for_range(each / rows) for each in _ENOUGH_AGAIN)
    enough = max(least, min(enough, _VISIBLE / max(width, 1) ** 2), _CHEAP_AGAIN)
    return min(most / missed, enough)


_FEW = 14.0  # ε n for each column, below which products of all columns are mostly noise
_OCTAVES = 3
_HEARD, _MOST_OCTAVES = 30.0, Fraction(1, 20)  # η n of the first draw, and its share at most
_MOST_STEP = 0.08  # share of a step of the centre
_MOST_LOCATING = Fraction(7, 20)  # share of the count and of all steps
_PART = 4  # half-widths in a radius


def rows_are_few(split: BudgetSplit, rows: int, width: int) -> bool:
    """Tell from public numbers whether a common scaling serves components better.

    Not in pure ε: norms are L1 norms there, and noise hides all but the clearest directions.
    """
    return split.concentrated and float(split.scale) * rows < _FEW * width


def common_scaling(here: VectorSetting, rows: int, width: int) -> Steps[Scaling]:
    """Find a centre, and one half-width for all columns: a quarter of a radius about it, or more.

    Few rows outweigh a prior over all octaves of the range by little, and a radius that is sixteen
    times too large costs rounds that they cannot afford. So the first draw is of three octaves that
    hold most norms, each as likely beforehand as any. ``rows`` is a noisy number.
    """
    schedule = VectorSchedule.of(here.split, rows, width)
    constants = replace(schedule.constants, most_step=_MOST_STEP, locate=_MOST_LOCATING)
    schedule = replace(schedule, constants=constants)
    norms = yield from read(here.norms(here.start))
    largest = yield from _octaves(here, norms, rows)
    ends = (largest / 2**_OCTAVES, float(largest))
    found = yield from VectorRounds.of(here, schedule).locate(norms, ends)
    shift = ((found.radius - 1) // (_PART * SUBSTEP)).bit_length()
    centre = found.scaling.centre
    return Scaling(centre * (width // len(centre)), (shift,) * width)


def _octaves(here: VectorSetting, norms: vectors.NormSummary, rows: int) -> Steps[int]:
    """Draw a radius R, by the number of rows that are not within (R/8, R]."""
    longest = here.start.longest(here.lattice, norms.width)
    wide = wide_radii(here.lattice, here.power).radii
    powers = tuple(each for each in wide if each & (each - 1) == 0 and each < 2 * longest)
    counted = here.beyond(norms)
    outside = np.array([counted[radius] for radius in powers], dtype=np.int64)
    # Rows at the very place that norms are measured from, as rows of zeros are, are in none.
    losses = outside[_OCTAVES:] + norms.count - outside[:-_OCTAVES]
    share = min(here.split.part_for_range(_HEARD / rows), _MOST_OCTAVES)
    mechanism = here.split.spend(
        Exponential(LossScore(losses, 1, 1), *here.split.share(share).ranged)
    )
    return powers[_OCTAVES:][(yield from draw("octaves of the norms", mechanism))]


Flags = NDArray[np.bool_]

UNSURE = Status(
    "few_records",
    "too little data for this budget: some columns have no interval, others may have a wrong one",
)
_CHANCE = 0.01  # that noise alone makes any column look far
_MOST_FAR = 1 / 50  # share of the rows; with more far ones a column is left out
# A tail of index 3 has 1/64 of what is beyond two half-widths beyond eight; of an interval that
# was found at most a quarter of the rows are beyond two.
_POWER = 1 / 256


@storable
@dataclass(frozen=True, slots=True)
class ColumnState:
    """What is known of the columns beside their intervals.

    ``missed``: no interval was found; if ``sure``, there is none, but for one column in a hundred.
    ``far`` are noisy numbers of rows with a value further than eight half-widths, in units of
    1 / ``WHOLE``, where a row that is far in several columns is divided among them; ``deviation``
    is the standard deviation of the noise of each, in rows, and ``norm`` its kind.
    """

    missed: tuple[bool, ...]
    sure: bool
    far: tuple[int, ...]
    deviation: float
    norm: Norm
    rows: int

    @property
    def scattered(self) -> Flags:
        """Columns with an interval and so many far values that it cannot stand for them."""
        found: Flags = self._far(_MOST_FAR) & ~np.array(self.missed)
        return found

    @property
    def lost(self) -> Flags:
        """Columns that are to be left out."""
        found: Flags = np.array(self.missed) | self._far(_MOST_FAR)
        return found

    @property
    def unbounded(self) -> Flags:
        """Columns with more far values than a tail of index 3 has; those without an interval."""
        found: Flags = np.array(self.missed) | self._far(_POWER)
        return found

    @property
    def share_far(self) -> list[float]:
        """Released shares of far rows, at least 0."""
        return [max(each, 0) / WHOLE / self.rows for each in self.far]

    def status(self, names: Sequence[str], used: Flags, what: str, none: Status) -> Status:
        """Say which of the first columns are not ``used``, and why; ``none`` if no column is.

        ``names`` are of the first columns, or all; ``what`` is what a column has that is not used.
        """
        scattered, heavy = (each[: len(names)] for each in (self.scattered, self.unbounded))
        if not used.any():
            return none
        if any(self.missed) and not self.sure:
            return UNSURE
        parts = [
            f"{why}: {', '.join(found)}"
            for why, chosen in (
                ("lost in the noise", ~used & ~scattered),
                ("too many values far from the rest", scattered),
            )
            if (found := [name for name, each in zip(names, chosen, strict=True) if each])
        ]
        if parts:
            return Status("partial", f"some columns have {what}; {'; '.join(parts)}")
        if heavy.any():
            tails = ", ".join(name for name, each in zip(names, heavy, strict=True) if each)
            return Status("heavy_tail", f"some values are far from the rest: {tails}")
        return OK

    def _far(self, share: float) -> Flags:
        """Tell the columns with more far rows than this share, whatever the noise."""
        noise = noise_quantile(self.norm, _CHANCE / len(self.far)) * self.deviation
        found: Flags = np.array(self.far) / WHOLE > share * self.rows + noise
        return found


def noise_quantile(norm: Norm, chance: float) -> float:
    """Quantile of noise, in standard deviations, that is exceeded with probability ``chance``.

    A sum of Laplace variables is between one of them and a normal one, so the larger counts.

    >>> round(noise_quantile("l2", 0.025), 2), round(noise_quantile("l1", 0.001), 2)
    (1.96, 4.39)
    """
    normal = -NormalDist().inv_cdf(chance)
    return max(normal, -math.log(2 * chance) / math.sqrt(2)) if norm == "l1" else normal
