"""Trimmed and winsorized means, each with a radius around it, by the inverse sensitivity mechanism.

[trimmed_mean.1] count   a noisy count says whether there are records enough;
[trimmed_mean.2] point   near the mean, all lattice points of the range being possible: the further
                         away, the more records would have to change;
[trimmed_mean.3] radius  at least the distance of the point from the mean, with the confidence
                         of the interval, among geometrically growing ones, the larger the likelier.

How far the mean moves when k records change is known exactly, for every k. Both statistics rise
with every record. So among all ways to add a records and to remove r, the highest value comes from
adding the largest possible one a times and removing the r lowest ([trimmed_mean.5]). It is a ratio
of integers; the end of level k is the ceiling of the largest one with a + r <= k.

docs/research/proofs/trimmed_mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_fraction
from modicum.mechanisms import base, level_sets, scores
from modicum.mechanisms.exponential import Exponential
from modicum.privacy.budget import Budget, Number, chosen_budget, short_text
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import OK, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics import spec, texts
from modicum.statistics.options import LARGEST_DENOMINATOR, Options, checked_level
from modicum.statistics.ranges.window import in_reach
from modicum.statistics.tails import drawn_interval, outside
from modicum.stored.codec import storable
from modicum.summaries.base import Integers, Read
from modicum.summaries.order_statistics import TrimPoints, TrimSummary


@texts.documented
def trimmed_mean(
    column: str | None = None,
    *,
    trim: Number,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for a trimmed mean of a column, with no bounds to guess.

    Of n records the floor(trim n) lowest and as many highest are left out, and the mean of the
    others is estimated; what ``scipy.stats.trim_mean`` computes. Its noise is about as wide as
    that of a mean of data within the two cuts, whatever lies beyond. Prefer it over a mean where a
    few records are errors, or say little about the others; over a median where the middle half
    of the records should count.

    Parameters
    ----------
    {column}
    trim : int, float, Fraction, decimal string
        Share of the records left out on each side, strictly between 0 and 1/2. A float is read
        as its shortest decimal.
    {found_within}
        At ε = 1 and ±1e9 some 110 records should be trimmed on each side; the status says if they
        are not.
    {cost}
    {step}
    level : float or None
        Confidence level at which the radius of the interval is drawn, 0.95 or more; it takes
        38 % of the cost. ``None``: no radius, the answer is more accurate, and its
        interval is the public range.

    {returns}

    {raises}
        If trim or level is out of range.

    Notes
    -----
    {missing}

    Inverse sensitivity mechanism (Asi and Duchi 2020) with a length that is exact for a share of
    a private number of records, and linear between its levels (Durfee 2025).

    Examples
    --------
    >>> trimmed_mean("delay", trim=0.1, within=(-1e9, 1e9), epsilon=1).statistic
    'trimmed_mean'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = TrimOption.of(trim, level)
    return TRIMMED_MEAN.query(spec.column_name(column), lattice, cost, options)


@texts.documented
def winsorized_mean(
    column: str | None = None,
    *,
    trim: Number,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for a winsorized mean of a column, with no bounds to guess.

    Of n records the floor(trim n) lowest are replaced by the lowest of the others, as many
    highest by the highest of the others, and the mean of all n is estimated. Prefer it over
    :func:`trimmed_mean` where the records beyond the cuts should count as low and high, though
    not by how much.

    Parameters
    ----------
    {column}
    trim : int, float, Fraction, decimal string
        Share of the records replaced on each side, strictly between 0 and 1/2. A float is read as
        its shortest decimal.
    {found_within}
        It is as for :func:`trimmed_mean`.
    {cost}
    {step}
    level : float or None
        As for :func:`trimmed_mean`.

    {returns}

    {raises}
        If trim or level is out of range.

    Notes
    -----
    {missing}

    The mechanism is that of :func:`trimmed_mean`.

    Examples
    --------
    >>> winsorized_mean("delay", trim="0.05", within=(-1e9, 1e9), rho="0.1").statistic
    'winsorized_mean'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    options = TrimOption.of(trim, level)
    return WINSORIZED_MEAN.query(spec.column_name(column), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class TrimOption(Options):
    """The share of the records left out on each side, and the level of the interval, if any."""

    trim: Fraction
    level: float | None

    @property
    def spare(self) -> Fraction:
        return self.trim / 4

    @classmethod
    def of(cls, trim: object, level: object) -> TrimOption:
        """Check that 0 < trim < 1/2, and that ``level`` is ``None`` or in [0.95, 1).

        >>> TrimOption.of(0.1, 0.95).trim
        Fraction(1, 10)
        """
        exact = as_fraction(trim, "trim").limit_denominator(LARGEST_DENOMINATOR)  # type: ignore[arg-type]
        if not 0 < exact < Fraction(1, 2):
            raise InvalidArgument(
                "trim is the share left out on each side, strictly between 0 and 1/2 "
                f"(0: a mean; 1/2: a median), got {as_given(trim)}"
            )
        return cls(exact, checked_level(level))


NEGLIGIBLE = 40.0  # points at the cap together weigh at most e^-40 of all
RARE = 20.0  # radii at the cap, e^-20
MOST_LEVELS = 30_000
TILTS = tuple(Fraction(1, k) for k in (8, 12, 16, 24, 32, 48, 64))  # costs of a radius less
CLEARLY = 1.5  # nats
_FINE = 1 << 10  # units of a change, or more with a large budget


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """Public constants of one run, in records to change.

    ``cap`` and ``radius_cap`` are those of the point's length and of the radius' loss. ``aim``
    changes, at most, reach about as far as the radius; 0 if none is drawn. With probability 95 %
    the point's length is at most ``length_bound``.
    """

    cap: int
    aim: int
    radius_cap: int
    length_bound: float

    @property
    def levels(self) -> int:
        """Level sets on which every draw depends."""
        return max(self.cap, self.aim + self.radius_cap)

    @classmethod
    def of(cls, lattice: Lattice, split: BudgetSplit, level: float | None) -> LevelPlan:
        """[trimmed_mean.9] From public arguments; more than 30,000 level sets are refused."""
        share = drawn_interval.POINT_SHARE if level is not None else 1 - drawn_interval.COUNT_SHARE
        points = math.log(lattice.width + 1)
        unit = 2 / min(float(split.share(share).range), base.MOST_EPSILON)
        # The last ring slopes: it is one more, so that where it begins no weight is left.
        cap = math.ceil((points + NEGLIGIBLE) * unit) + 1
        bound = (lattice.nats + math.log(20)) * unit
        plan = cls(cap, 0, 0, bound)
        if level is not None:
            unit = 2 / float(split.share(drawn_interval.INTERVAL_SHARE).range)
            radii = len(drawn_interval.distances(lattice.width).radii)
            aim = _aim(0, radii, level, unit)
            nats = math.log(radii) + float(TILTS[0]) * radii + RARE
            plan = cls(cap, aim, max(aim, math.ceil(nats * unit)), bound)
        if plan.levels > MOST_LEVELS:
            raise InvalidArgument(
                f"a trimmed mean for {float(split.total):g} a row would need {plan.levels:,} "
                "level sets; it needs a larger budget"
            )
        return plan


def _aim(tilt: float, radii: int, level: float, unit: float) -> int:
    """[trimmed_mean.9] Changes at which a radius that is too small is drawn so seldom."""
    weight = min(1 / math.expm1(tilt), radii) if tilt else radii
    return math.ceil((math.log(weight) + math.log(1 / (1 - level))) * unit)


def _tilted(radii: int, level: float, unit: float, changes: float) -> tuple[Fraction, int]:
    """[trimmed_mean.10] The largest prior cost that ``changes`` outweigh, and the aim with it.

    More changes than that may move the mean as far as the range reaches. All radii up to there may
    be as good as each other, and weigh more than the right ones by the cost of all of them.
    """
    for tilt in TILTS:
        aim = _aim(float(tilt), radii, level, unit)
        nats = float(tilt) * radii - math.log(-math.expm1(-float(tilt)))
        if (changes - aim) / unit >= nats + CLEARLY:
            return tilt, aim
    return Fraction(0), _aim(0, radii, level, unit)


def _estimate(
    column: str | None, lattice: Lattice, event: Event, options: TrimOption, *, winsorized: bool
) -> Steps[ScalarEstimate]:
    """Estimate the mean of the records between the floor(trim n) lowest and highest ones.

    The records beyond are moved to the nearest one between if ``winsorized``, else left out. The
    draws cost exactly ``event``.
    """
    level, trim = options.level, options.trim
    split = BudgetSplit(event)
    plan = LevelPlan.of(lattice, split, level)
    cuts = yield from read(Read(column, lattice, TrimPoints(trim, plan.levels)))
    lows, highs = level_ends_of(
        cuts, lattice.first, lattice.last, plan.levels, winsorized=winsorized
    )

    # [trimmed_mean.1]
    count, spread = yield from draw_count(
        split, cuts.count, split.share(drawn_interval.COUNT_SHARE)
    )
    noise = outside.NoisyTerm(spread, 1.0)
    share = split.rest() if level is None else split.share(drawn_interval.POINT_SHARE)
    ends = lows[: plan.cap], highs[: plan.cap]
    mechanism = split.spend(  # [trimmed_mean.2]
        level_sets.LinearLevelMechanism(*ends, lattice.first, lattice.last, *share.ranged)
    )
    name = "winsorized mean" if winsorized else "trimmed mean"
    point = yield from draw(name, mechanism, lattice.words)
    radius = None
    if level is not None:
        radii = drawn_interval.distances(max(lattice.last - point, point - lattice.first)).radii
        reached = np.maximum(highs - point, point - lows)
        chosen = yield from draw(  # [trimmed_mean.3]
            "radius of the interval",
            _radius_mechanism(reached, radii, plan, split, level, _changes(trim, count, noise)),
            lambda number: lattice.words(radii[number]),
        )
        radius = radii[chosen]
    error_model = TrimmedErrorModel(
        lattice, level, count, noise, point, trim, winsorized, radius, plan.length_bound
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _changes(trim: Fraction, count: int, noise: outside.NoisyTerm) -> float:
    """[trimmed_mean.8] So few changes leave the mean among the records, as a noisy count tells."""
    return float(trim / (1 - trim)) * (count - noise.bound(0.05))


def _radius_mechanism(
    reached: Integers,
    radii: tuple[int, ...],
    plan: LevelPlan,
    split: BudgetSplit,
    level: float,
    changes: float,
) -> Exponential[scores.ReachScore]:
    """[trimmed_mean.3] Number of the least radius that ``aim`` changes do not exceed, or about so.

    Radii are public, given the point. The loss of one is the distance of ``aim`` from the numbers
    of changes that reach it and no further. The prior follows from the released count.
    """
    share = split.rest()
    unit = 2 / float(share.range)
    tilt, aim = _tilted(len(radii), level, unit, changes)
    reach = reached[: aim + plan.radius_cap]
    within = np.searchsorted(reach, np.array(radii), side="right")
    fine = _FINE * max(1, math.ceil(share.range))
    score = scores.ReachScore(tuple(within.tolist()), aim, tilt, fine)
    return split.spend(Exponential(score, *share.ranged))


_LIMB = 26
_MASK = (1 << _LIMB) - 1
_FITS = 1 << 34  # with so many records no number below exceeds 2^63
_ONE_LIMB = 1 << 62  # smaller sums are not divided in limbs
_PAIRS = 1 << 13  # numbers of records removed and added that are tried at once


def level_ends_of(
    cuts: TrimSummary, first: int, last: int, levels: int, *, winsorized: bool
) -> tuple[Integers, Integers]:
    """Return ``lows`` and ``highs`` of a level mechanism: what k changes reach, rounded outwards.

    No record can lie beyond ``first`` and ``last``, and ``cuts`` reach at least ``levels``. The
    records beyond the cut points are moved to them if ``winsorized``, else left out.
    """
    lows = -upper_ends(cuts.mirrored(), -first, levels, winsorized=winsorized)
    return lows, upper_ends(cuts, last, levels, winsorized=winsorized)


def upper_ends(cuts: TrimSummary, largest: int, levels: int, *, winsorized: bool) -> Integers:
    """[trimmed_mean.4] Return the ceiling of the highest value that k changes reach, k < levels.

    Nondecreasing; from k = n on it is ``largest``, since data without records have no value and
    count as beyond every t. ``levels``² / 2 pairs (a, r), in integers: 2000 levels take about a
    twentieth of a second.
    """
    ends = np.full(levels, largest, dtype=np.int64)
    few = min(levels, cuts.count)
    if few:
        ends[:few] = np.maximum.accumulate(_highest(cuts, largest, few, winsorized=winsorized))
    return ends


def _highest(cuts: TrimSummary, largest: int, levels: int, *, winsorized: bool) -> Integers:
    """Highest value after exactly k changes, for k < levels <= n."""
    n, m = cuts.count, cuts.trimmed(cuts.count)
    # Records from position m on, and from position n - m - 1 on; beyond n come added ones.
    lower = _from(cuts.low, m - max(0, m - cuts.reach), levels, largest)
    upper = _from(cuts.high, n - m - 1 - max(0, n - m - cuts.reach), levels + 1, largest)
    total = cuts.middle + winsorized * m * int(lower[0] + upper[0])
    centre = total // (n if winsorized else n - 2 * m)
    whole: Any = np.int64 if n < _FITS else np.object_
    low, up = ((x - centre).astype(whole) for x in (lower, upper))
    # [trimmed_mean.6] All sums are relative to the centre.
    rest = cuts.middle - centre * (n - 2 * m)
    largest_sum = abs(rest) + (_size(low) + _size(up)) * (levels + winsorized * (m + levels))
    wide = largest_sum >= _ONE_LIMB
    lost, gained, rests = _sums(low, wide=wide), _sums(up[1:], wide=wide), _limbs(rest, wide=wide)
    sizes = range(n - levels + 1, n + levels)
    moves = np.array([cuts.trimmed(size) - m for size in sizes], dtype=np.int64)
    kept = (np.array(sizes) - (0 if winsorized else 2 * (m + moves))).astype(whole)
    best = np.full(levels, -(1 << 62), dtype=np.int64)
    for first in range(0, levels, rows := 1 + _PAIRS // levels):
        removed = np.arange(first, min(first + rows, levels))[:, None]
        added = np.arange(levels - first)  # in later rows by so much less as they remove
        size = levels - 1 + added - removed
        move = moves[size]  # of the cut, with n + added - removed records
        # Moves of the first and the last one kept.
        start, stop = removed + move, np.minimum(added - move, levels)
        limbs = zip(rests, gained, lost, strict=True)
        sums = [limb + more[stop] - less[start] for limb, more, less in limbs]
        if winsorized:
            ends = _limbs(low[start] + up[stop], wide=wide)
            sums = [limb + (m + move) * end for limb, end in zip(sums, ends, strict=True)]
        value = _ceiling(sums, kept[size]) + centre
        for row, found in zip(removed[:, 0], value.astype(np.int64), strict=True):
            best[row:] = np.maximum(best[row:], found[: levels - row])
    return best


def _from(records: Integers, start: int, length: int, largest: int) -> Integers:
    """Records from a position on, continued by the largest possible one."""
    there = records[start : start + length]
    return np.append(there, np.full(length - len(there), largest, dtype=np.int64))


def _size(x: NDArray[Any]) -> int:
    return max(abs(int(x.min())), abs(int(x.max())))


def _limbs(x: Any, *, wide: bool) -> tuple[Any, ...]:
    """Numbers in two limbs, the lower one of 26 bits, or as they are."""
    return (x >> _LIMB, x & _MASK) if wide else (x,)


def _sums(x: NDArray[Any], *, wide: bool) -> tuple[NDArray[Any], ...]:
    """Sums of the first 0, 1, 2, ... numbers, in limbs."""
    return tuple(np.append(x[:1] * 0, np.cumsum(limb)) for limb in _limbs(x, wide=wide))


def _ceiling(limbs: Sequence[NDArray[Any]], count: NDArray[Any]) -> NDArray[Any]:
    """Ceiling of a number over count: the floor after count - 1 is added."""
    *high, low = limbs
    low = low + (count - 1)
    value: NDArray[Any] = low // count
    if high:
        total = high[0] + (low >> _LIMB)
        ratio = total // count
        value = (ratio << _LIMB) + (((total - ratio * count) << _LIMB) + (low & _MASK)) // count
    return value


TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: so few records are trimmed that the answer may "
    "lie beyond all others; trim or spend more, or narrow `within`",
)
NO_END = Status(
    "range_end",
    "the interval reaches an end of the range: too few records are trimmed for one at this budget",
)


@storable
@dataclass(frozen=True, slots=True)
class TrimmedErrorModel(drawn_interval.DrawnEnds):
    """A point near the mean of the records between two cuts, and a radius.

    ``trim`` is the share of the records beyond each cut. With probability 95 %, at most
    ``length_bound`` records would have to change before the point were the mean.
    """

    trim: Fraction
    winsorized: bool
    radius: int | None
    length_bound: float

    @property
    def ends(self) -> tuple[int, int] | None:
        """Those of the interval, in steps, if they were drawn."""
        return None if self.radius is None else (self.point - self.radius, self.point + self.radius)

    def interval(self, level: float, tail: float | None) -> Interval:
        return self._interval(level)

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How far from 0 the value and the ends of its interval are, in steps; 0 if it is."""
        return (self._sized,)

    @property
    def status(self) -> Status:
        # [trimmed_mean.8] Fewer changes than that leave the mean among the records.
        if _changes(self.trim, self.count, self.count_noise) < self.length_bound:
            return TOO_LITTLE
        lower, upper = self.ends or (self.point, self.point)
        if lower < upper and (lower <= self.lattice.first or upper >= self.lattice.last):
            return NO_END
        return OK

    @property
    def condition(self) -> str:
        """How much is trimmed; the interval assumes nothing."""
        return f"trim = {short_text(self.trim)}"

    def assumption(self, tail: float | None) -> str:
        what = "winsorized" if self.winsorized else "trimmed"
        return self._covered(f"the {what} mean of the data at hand,")

    def to_dict(self) -> dict[str, object]:
        radius = None if self.radius is None else self.radius * self.lattice.step
        numbers = self._numbers(length_bound=self.length_bound, radius=radius)
        return {"trim": float(self.trim), **numbers}


def _row(name: str, summary: str, *, winsorized: bool) -> spec.Row[TrimOption, Release]:
    cases = (TrimOption(Fraction(1, 10), 0.95), TrimOption(Fraction(1, 3), None))
    begin = partial(_estimate, winsorized=winsorized)
    return spec.Row(
        name, "inverse-sensitivity", cases, "trimmed_mean", summary, in_reach(begin), by_window=True
    )


TRIMMED_MEAN = _row(
    "trimmed_mean",
    "mean without a share of the lowest and of the highest records, with an interval",
    winsorized=False,
)
WINSORIZED_MEAN = _row(
    "winsorized_mean",
    "mean after a share of the lowest and of the highest records is moved inwards",
    winsorized=True,
)


def _level_error(run: Any) -> float:
    """Expect the distance of the point from the middle of the shortest level."""
    mechanism = run.mechanisms[run.asked.statistic.replace("_", " ")]
    return float(mechanism.distance() * run.lattice.step)


def _declared(
    question: Callable[..., Query[Release]],
    row: spec.Row[TrimOption, Release],
    noun: str,
    most: str,
) -> spec.Declaration:
    arguments = "trim=0.1, within=(-1e9, 1e9), "
    return spec.Declaration(
        question,
        (row,),
        spec.shows_between(row.statistic, arguments, 9900, 10100),
        command="flights.csv delay --trim 0.1 --within=-1e9,1e9 --epsilon 1",
        options={"trim": "share of the records beyond each cut, such as 0.1 or 1/20"},
        plan=spec.Planned(
            noun,
            spec.error_between(
                f"{row.statistic}({arguments}sd=5e4, n=20_000, epsilon=1)", "1", most
            ),
            command="--trim 0.1 --within=-1e9,1e9 --n 1e5 --sd 5e4 --error 50",
            error=_level_error,
            slow=True,
            shown={"trim": "trim"},
        ),
    )


STATISTICS = (
    _declared(trimmed_mean, TRIMMED_MEAN, "a trimmed mean", "100"),
    _declared(winsorized_mean, WINSORIZED_MEAN, "a winsorized mean", "200"),
)
