"""Minimum and maximum, as far as they can be private: a point that next to no record exceeds.

[extreme.1] window  where the values are: ranges/window.py;
[extreme.2] centre  a rough mean in the window, to measure distances from;
[extreme.3] point   about the least that next to no record exceeds;
[extreme.4] near    how many records are from a half, and from a quarter, of the way to it on: how
                    fast they become rare.

The minimum is the maximum of the negated records. docs/research/proofs/extreme.md has the proofs,
with the same labels.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.exponential import CELLS, Exponential, OctavePrior
from modicum.mechanisms.scores import TopScore
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.split import Share
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import USABLE, Status, hardly_seen, unseen
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.options import NoOption
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.found_range import AT_END
from modicum.statistics.ranges.split import expected_records, mean_schedule
from modicum.statistics.ranges.window import Found, at_found_end, in_window
from modicum.statistics.tails import outside, tail_index
from modicum.statistics.tails.outside import TOO_LITTLE, Counted, NoisyTerm
from modicum.stored.codec import storable
from modicum.summaries.sums import BinCounts
from modicum.summaries.tails import Tails

POWER = Fraction(16)  # of the prior, r^-power in the distance from the centre
LEAST_POWER = 2.0
SLACK = 8.0  # the records elsewhere outweigh the prior by so many nats
BY_CHANCE = 1e-4  # the prior alone would draw a point as far more often
NEGLIGIBLE = 60.0  # candidates with more records beyond than are kept weigh at most e^-60 of all
MOST_KEPT = 1 << 22


@dataclass(frozen=True, slots=True)
class ExtremeTuning:
    """How the budget is divided after a window. Strengths are in units of the noise's scale.

    Chosen on made-up shapes and on half of the public tables. None affects privacy.
    """

    rough: tuple[float, float] = (0.06, 1000.0)
    """Strength of the centre for so many records; it falls, or rises, by the square root."""
    near: float = 0.1
    """Strength of the number of records near the point."""
    core: int = 5
    """Octaves within the window of the part about the centre where no place is preferred."""
    beside: float = 0.25
    """Part of the records that is surely on one side of the centre."""
    unlucky: float = 0.1
    """The noise of the number near the point exceeds what is taken off it so often."""
    heavy: float = 1.2
    """Least index of a tail that is seen without a warning."""
    least: float = 2.0
    """Least index that an interval assumes by default."""
    few: float = 1500.0
    """Of fewer nats of records a point at the centre is not worth its name."""


EXTREME = ExtremeTuning()
HEAVY = Status(
    "heavy_tail",
    "a few records lie far beyond the rest, and the extreme one may lie further out than the "
    "interval allows for",
)
HIDDEN = Status(
    "range_end",
    "most rows are (nearly) equal; at this budget the release cannot show whether a few lie "
    "further out, so the interval reaches the end of the range",
)


@texts.documented
def max(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a point that next to no record of a column exceeds: its maximum, nearly.

    One record decides a maximum, so no private method can tell it. What is released is about the
    least point that no more than a few records exceed, or a point not far beyond all of them. It
    is right in scale, often to a tenth of the distance from the median; for a sharper number
    ask for a high quantile.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}

    {returns}

    {raises}

    Notes
    -----
    {missing}

    A tail of index a leaves about 15 / (a ε) records beyond the point. With confidence 1 - α, and
    no assumption, they are at most (15 ln(range / distance) + ln(1000 / α)) / ε, about;
    ``interval`` is for the largest record, if those beyond the point become rare as those before
    it do. Fewer than some 300/ε records have no usable answer.

    Examples
    --------
    >>> max("delay", within=(-1e9, 1e9), epsilon=1).statistic
    'max'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    return MAXIMUM.query(spec.column_name(column), lattice, cost, NoOption())


@texts.documented
def min(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for a point that next to no record of a column is below: its minimum, nearly.

    What is estimated is as for :func:`max`, with all signs reversed.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}

    {returns}

    {raises}

    Notes
    -----
    {missing}

    Examples
    --------
    >>> min("delay", within=(-1e9, 1e9), rho="0.1").statistic
    'min'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    return MINIMUM.query(spec.column_name(column), lattice, cost, NoOption())


@storable
@dataclass(frozen=True, slots=True)
class ExtremeErrorModel:
    """A point that next to no record exceeds (in lattice steps; for a minimum of the negated data).

    ``prior``, ``epsilon`` and ``rate`` are those of the mechanism that draws the point,
    ``candidates`` its first and last one, and ``drawn`` its outcome, perhaps beyond the range. The
    prior's centre is released; with ``has_centre`` the window was confirmed, and it lies among the
    records. ``near`` are numbers of records from a half, and from a quarter, of
    the way to the point on, each with the noise ``near_noise``; none in earlier releases.

    Notes
    -----
    With W(d) the prior weight of all candidates at least d above the centre c:

    [extreme.7] If the largest record is c + D, P(point >= c + d) <= W(d) / W(D) for every d >= D.
    So with probability 1 - α the D with W(point - c) <= α W(D) are excluded.

    [extreme.8] With probability 1 - α at most (ln(W(s) / W(reach)) + ln(2 J / α)) / ε records
    exceed the point, s the begin of its cell, J the number of cells a side, and reach the largest
    distance in the range: a bound without assumptions. A tail of index a leaves about
    f = (power - 1) / (a ε), so hardly more than F = f + 2 sqrt(f), and with probability 1 - α' the
    largest of these is within (F / α')^(1 / a) times the distance.
    """

    lattice: Lattice
    largest: bool
    prior: OctavePrior
    candidates: tuple[int, int]
    epsilon: Fraction
    rate: Fraction
    drawn: int
    count: int
    has_centre: bool
    counted: Counted | None = None
    near: tuple[int, int] = (0, 0)
    near_noise: NoisyTerm | None = None

    @property
    def _sign(self) -> int:
        return 1 if self.largest else -1

    @property
    def _ends(self) -> tuple[int, int]:
        return _turned(self.lattice, largest=self.largest)

    @property
    def _point(self) -> int:
        return builtins.min(self.drawn, self._ends[1])

    @property
    def value(self) -> Fraction:
        """The point in the data's unit."""
        return self.lattice.inside(self._sign * self._point)

    def exceeded_at_most(self, alpha: float) -> float:
        """Bound on the number of records beyond the point, with probability 1 - alpha."""
        centre, (first, last) = self.prior.centre, self.candidates
        distance = self.drawn - centre
        start = CELLS.point(CELLS.number(distance)) if distance > 0 else first - centre
        cells = CELLS.number(last - first) + 1
        nats = self._beyond(start) - self._beyond(self._ends[1] - centre)
        return (nats + math.log(2 * cells / alpha)) / float(self.epsilon)

    def _beyond(self, distance: int) -> float:
        return self.prior.log_beyond(distance, self.candidates, self.rate)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Interval for the largest (or the smallest) record; without a tail up to the range."""
        alpha = 1 - level
        beyond = 0.0 if tail is None else 0.5 * alpha
        lower: float
        upper: float
        lower, upper = self._ends
        centre, distance = self.prior.centre, self._point - self.prior.centre
        if distance > 0:
            lower = builtins.max(lower, centre + self._least(distance, alpha - beyond) - 0.5)
            if tail is not None and not self._collapsed:
                factor = (self._beyond_typically(tail) / beyond) ** (1 / tail)
                upper = builtins.min(upper, centre + distance * builtins.max(1.0, factor) + 0.5)
        if not self.largest:
            lower, upper = -upper, -lower
        # A record at the end of the range may lie half a step beyond its integer.
        lattice = self.lattice
        lowest = lattice.lo if lower <= lattice.first else lower * lattice.step
        highest = lattice.hi if upper >= lattice.last else upper * lattice.step
        return Interval(builtins.max(lowest, lattice.lo), builtins.min(highest, lattice.hi))

    def _least(self, distance: int, alpha: float) -> int:
        """[extreme.7] The least D that is not excluded, by bisection: W falls."""
        needed = self._beyond(distance) - math.log(alpha)
        low, high = self.candidates[0] - self.prior.centre, distance
        while low < high:
            middle = (low + high) // 2
            if self._beyond(middle) < needed:
                high = middle
            else:
                low = middle + 1
        return low

    def status_of(self, otherwise: Status) -> Status:
        """Whether it can be used; ``otherwise`` is whether the window was confirmed."""
        if self.counted is not None and unseen(self.count, self.counted.bound(0.1)):
            return TOO_LITTLE
        if not self.has_centre:
            return otherwise
        if self._collapsed:
            few = self.count * float(self.epsilon) < EXTREME.few
            return TOO_LITTLE if few else HIDDEN
        if self._index_seen < EXTREME.heavy:
            return HEAVY
        distance, room = self._point - self.prior.centre, self._ends[1] - self._point
        return outside.perhaps_unseen(self.exceeded_at_most(0.02), self.count, distance, room)

    def tail_index(self, level: float) -> float:
        """The index that the interval assumes by default."""
        return builtins.max(self._index_seen, EXTREME.least)

    @property
    def _index_seen(self) -> float:
        """[extreme.4] The index of a tail that has so many records near the point."""
        if self.near_noise is None:
            return tail_index.USUAL
        sure = self.near_noise.bound(EXTREME.unlucky)
        least = [builtins.max(number - sure, 0.0) for number in self.near]
        halfway = builtins.max(self.near[0] + sure, sure, 1.0)
        index = math.log2(1 + least[1] / halfway)
        for _ in range(40):  # it grows up to the least that explains itself
            beyond = self._beyond_typically(builtins.max(index, 1.0))
            index = builtins.max(index, math.log2(1 + least[0] / beyond))
        return index

    def _beyond_typically(self, index: float) -> float:
        """[extreme.8] Hardly more records are beyond the point, if a tail has an index."""
        f = float(self.prior.power - 1) / (index * float(self.epsilon))
        return f + 2 * math.sqrt(f)

    @property
    def few_seen(self) -> bool:
        return self.counted is not None and hardly_seen(self.count, self.counted.bound(0.1))

    @property
    def _collapsed(self) -> bool:
        """Whether the point all but equals the centre: what is beyond may be outweighed."""
        distance = self.drawn - self.prior.centre
        return self._beyond(distance) - self._beyond(0) > math.log(BY_CHANCE)

    @property
    def condition(self) -> str:
        return outside.ALLOWS

    def assumption(self, tail: float | None) -> str:
        what, side = ("largest", "above") if self.largest else ("smallest", "below")
        most = math.ceil(self.exceeded_at_most(0.05))
        text = (
            f"estimated is a point with next to no record {side} it: at most {most} are, with 95 % "
            f"confidence and no assumption; the {what} record itself cannot be private. "
        )
        if tail is None:
            return (
                f"{text}interval(tail=None) holds the {what} record and assumes nothing, so it "
                "reaches the range's end."
            )
        return (
            f"{text}interval(tail={tail:g}) holds the {what} record, if records beyond the point "
            f"become rare: {tail_index.rare(tail)}."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "centre": self.lattice.value(self._sign * self.prior.centre),
            "count": self.count,
            "exceeded_at_most": self.exceeded_at_most(0.05),
        }


def _turned(lattice: Lattice, *, largest: bool) -> tuple[int, int]:
    """Return the ends of the range; for a minimum of the negated range."""
    return (lattice.first, lattice.last) if largest else (-lattice.last, -lattice.first)


def _point(here: bounds.Setting, found: Found, *, largest: bool) -> Steps[ScalarEstimate]:
    """[extreme.2], [extreme.3] and [extreme.4], with all that is left."""
    split, lattice, sign = here.split, here.lattice, 1 if largest else -1
    ends = _turned(lattice, largest=largest)
    prior = yield from _prior(here, found, sign)
    counting = split.part_for(EXTREME.near, "noise")
    share = split.share(split.left / split.total - counting)
    tails = yield from read(here.ask(Tails(_kept_records(prior, ends, share))))
    values = tails.highest() if largest else -tails.lowest()[::-1]
    # Beyond the range as far again: some candidates have no record beyond them for certain.
    furthest = prior.centre + 2 * (ends[1] - prior.centre) + 1
    score = TopScore(values, ends[0], furthest, prior)
    mechanism = split.spend(Exponential(score, *share.ranged))  # [extreme.3]
    drawn = yield from draw(
        "point", mechanism, lambda drawn: lattice.words(sign * builtins.min(drawn, ends[1]))
    )
    point = builtins.min(drawn, ends[1])
    near, noise = yield from _count_near(here, sign, prior.centre, point)
    error_model = ExtremeErrorModel(
        lattice=lattice,
        largest=largest,
        prior=prior,
        candidates=(mechanism.score.first, mechanism.score.last),
        epsilon=mechanism.epsilon,
        rate=mechanism.rate,
        drawn=drawn,
        count=found.count,
        has_centre=found.status.ok,
        counted=found.counted,
        near=near,
        near_noise=noise,
    )
    status = error_model.status_of(found.status)
    if status.code in USABLE and not found.given and at_found_end(lattice, error_model.value):
        status = AT_END
    return ScalarEstimate(error_model.value, error_model, status, lattice)


def _prior(here: bounds.Setting, found: Found, sign: int) -> Steps[OctavePrior]:
    """[extreme.2] A rough mean in the window is the centre; few records outweigh a low power."""
    split, (lo, hi) = here.split, found.ends
    records = expected_records(split, found.others)
    strength, begin = EXTREME.rough
    strength *= math.sqrt(begin / builtins.max(records, begin / 4))
    step = here.lattice.step
    whole = bounds.Bounds.of_range(Lattice(lo * step, hi * step, step))
    schedule = mean_schedule(here.lattice, split, found.count, "clip", shape=False)
    schedule = replace(schedule, rough=split.part_for(strength, "noise"))
    rough = yield from bounds.rough_mean(here, whole, schedule, found.counted)
    core = builtins.max(found.radius >> EXTREME.core, 1)
    sure = builtins.min(records, expected_records(split, found.count) * EXTREME.beside)
    nats = (sure - SLACK) / (EXTREME.core * math.log(2))
    power = builtins.min(float(POWER), builtins.max(LEAST_POWER, nats))
    return OctavePrior(sign * rough.value, Fraction(round(power * 1024), 1024), core=core)


def _count_near(
    here: bounds.Setting, sign: int, centre: int, point: int
) -> Steps[tuple[tuple[int, int], NoisyTerm]]:
    """[extreme.4] How many records lie from a half, and from a quarter, of the way to the point."""
    way = builtins.max(point - centre, 4)
    edges = sorted(sign * (centre + way // part) + (sign > 0) for part in (1, 2, 4))
    bins = yield from read(here.ask(BinCounts(tuple(edges))))
    exact = bins.counts[1:3][::-sign]
    mechanism = here.split.spend(add_noise(exact, here.split.rest(), sensitivity=1))
    halfway, quarter = yield from draw("records near the point", mechanism)
    return (halfway, quarter), NoisyTerm(mechanism.noise[0], 1.0)


def _kept_records(prior: OctavePrior, ends: tuple[int, int], share: Share) -> int:
    """[extreme.6] How many records of an end are kept: those with more beyond weigh e^-60 at most.

    Of a budget so small that they would be too many it is fewer, and the law is another.
    """
    width = 2 * (ends[1] - ends[0] + 1)
    nats = prior.log_cost(width) + math.log(width)
    return builtins.min(math.ceil((nats + NEGLIGIBLE) / float(share.range)), MOST_KEPT)


def _row(name: str, summary: str, *, largest: bool) -> spec.Row[NoOption, Release]:
    answer = partial(_point, largest=largest)
    return spec.Row(
        name,
        "exponential",
        (NoOption(),),
        "extreme",
        summary,
        spec.of_range(lambda column, lattice, event: in_window(answer, column, event, lattice)),
        strength=2 * spec.FOR_FAR_VALUES,
        by_window=True,
    )


MAXIMUM = _row("max", "point that next to no record exceeds", largest=True)
MINIMUM = _row("min", "point that next to no record is below", largest=False)


def _declared(
    question: Callable[..., Query[Release]],
    row: spec.Row[NoOption, Release],
    noun: str,
    place: int,
    shown: tuple[float, float],
) -> spec.Declaration:
    """``place``: the true one's among the sorted synthetic records."""
    call = f'{row.statistic}(within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1, shape="normal")'
    return spec.Declaration(
        question,
        (row,),
        spec.shows_between(row.statistic, "within=(-1e9, 1e9), ", *shown),
        command="people.parquet income --within=-1e9,1e9 --epsilon 1",
        tail=True,
        plan=spec.Planned(
            noun,
            spec.error_between(call, "1e3", "1e5"),
            command="--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=lambda run: int(run.table.q[place]) * run.step,
            rows_help=False,
        ),
    )


STATISTICS = (
    _declared(max, MAXIMUM, "a maximum", -1, (18_000, 100_000)),
    _declared(min, MINIMUM, "a minimum", 0, (-80_000, 2_000)),
)
