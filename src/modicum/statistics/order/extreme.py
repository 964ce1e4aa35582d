"""Minimum and maximum, as far as they can be private: a point that next to no record exceeds.

[extreme.1] count   a noisy count says whether there are records enough for a centre;
[extreme.2] centre  a private median, from a secret subsample, to measure distances from;
[extreme.3] point   about the least that next to no record exceeds, with all that is left.

The minimum is the maximum of the negated records. docs/research/proofs/extreme.md has the proofs,
with the same labels.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import CELLS, Exponential, OctavePrior
from modicum.mechanisms.scores import TopScore
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import Status, hardly_seen
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read_both
from modicum.statistics import spec, texts
from modicum.statistics.options import NoOption
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.split import Schedule, count_share, mean_schedule
from modicum.statistics.tails import outside, tail_index
from modicum.stored.codec import storable
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.tails import Tails

POWER = Fraction(16)  # of the prior, r^-power in the distance from the centre
LEAST_POWER = 2.0
SLACK = 8.0  # the records elsewhere outweigh the prior by so many nats
COLLAPSED = 40  # a point within 2^-40 of the range from the centre
BY_CHANCE = 1e-4  # the prior alone would draw a point as far more often
MOST_CENTRE = Fraction(2, 5)  # no centre takes more, what is looked for at home included
NEGLIGIBLE = 60.0  # candidates with more records beyond than are kept weigh at most e^-60 of all
MOST_KEPT = 1 << 22
NO_CENTRE = Status(
    "few_records",
    "too little data for this budget: no private centre was possible, so distances are measured "
    "from zero; a larger budget helps",
)
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
        If it is so small that more than four million records would have to be kept.

    Notes
    -----
    {missing}

    A tail of index a leaves about 15 / (a ε) records beyond the point. With confidence 1 - α, and
    no assumption, they are at most (15 ln(range / distance) + ln(1000 / α)) / ε, about;
    ``interval`` is for the largest record.

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
        If it is so small that more than four million records would have to be kept.

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
    prior's centre is released; with ``has_centre`` it is a private one. ``half`` is about how many
    records are further from home than a radius, and the radius.

    Notes
    -----
    With W(d) the prior weight of all candidates at least d above the centre c:

    [extreme.6] If the largest record is c + D, P(point >= c + d) <= W(d) / W(D) for every d >= D.
    So with probability 1 - α the D with W(point - c) <= α W(D) are excluded.

    [extreme.7] With probability 1 - α at most (ln(W(s) / W(reach)) + ln(2 J / α)) / ε records
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
    count_noise: outside.NoisyTerm | None = None
    half: tuple[float, int] | None = None

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
                f = float(self.prior.power - 1) / (tail * float(self.epsilon))
                factor = ((f + 2 * math.sqrt(f)) / beyond) ** (1 / tail)
                upper = builtins.min(upper, centre + distance * builtins.max(1.0, factor) + 0.5)
        if not self.largest:
            lower, upper = -upper, -lower
        # A record at the end of the range may lie half a step beyond its integer.
        lattice = self.lattice
        lowest = lattice.lo if lower <= lattice.first else lower * lattice.step
        highest = lattice.hi if upper >= lattice.last else upper * lattice.step
        return Interval(builtins.max(lowest, lattice.lo), builtins.min(highest, lattice.hi))

    def _least(self, distance: int, alpha: float) -> int:
        """[extreme.6] The least D that is not excluded, by bisection: W falls."""
        needed = self._beyond(distance) - math.log(alpha)
        low, high = self.candidates[0] - self.prior.centre, distance
        while low < high:
            middle = (low + high) // 2
            if self._beyond(middle) < needed:
                high = middle
            else:
                low = middle + 1
        return low

    @property
    def status(self) -> Status:
        if not self.has_centre:
            return NO_CENTRE
        if self._collapsed:
            return HIDDEN
        least, assumed = self._least_index(0.025), self.tail_index(0.95)
        if least is not None and least < assumed < tail_index.USUAL:
            return HEAVY
        distance, room = self._point - self.prior.centre, self._ends[1] - self._point
        return outside.perhaps_unseen(self.exceeded_at_most(0.02), self.count, distance, room)

    def _least_index(self, alpha: float) -> float | None:
        """[mean.14] The least tail index between half of the data and the point."""
        home = self._sign * outside.home_of(self.lattice)
        if self.half is None or self._point <= home:
            return None
        power = float(self.prior.power - 1)
        law = tail_index.RadiusLaw(self._point - home, float(self.epsilon), power, "exponential")
        return law.least_index((tail_index.RankEvidence(*self.half),), alpha)

    def tail_index(self, level: float) -> float:
        """The index that the interval assumes by default."""
        least = self._least_index((1 - level) / 2)
        return tail_index.assumed_index(least, least, 1)

    @property
    def few_seen(self) -> bool:
        return self.count_noise is not None and hardly_seen(self.count, self.count_noise.bound(0.1))

    @property
    def _collapsed(self) -> bool:
        """Whether the point all but equals the centre: what is beyond may be outweighed."""
        distance = self.drawn - self.prior.centre
        by_chance = self._beyond(distance) - self._beyond(0) > math.log(BY_CHANCE)
        return by_chance or distance <= self.lattice.width >> COLLAPSED

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


def _estimate(
    column: str | None, lattice: Lattice, event: Event, _options: NoOption, *, largest: bool
) -> Steps[ScalarEstimate]:
    """Estimate a maximum or a minimum; the draws cost exactly ``event``.

    A budget for which more than 4 million records would be kept is refused.
    """
    split = BudgetSplit(event)
    here = bounds.Setting(column, lattice, split)
    reads = here.ask(Tails(kept_records(lattice, split))), here.ask(Records(subsamples=2))
    tails, records = yield from read_both(*reads)

    share = split.share(count_share(split))
    count, noise = yield from draw_count(split, tails.count, share)  # [extreme.1]
    schedule = mean_schedule(lattice, split, count, "clip")
    # [extreme.2]
    centre, power, half = yield from _centre_and_power(here, records, schedule, count)

    sign = 1 if largest else -1
    values = tails.highest() if largest else -tails.lowest()[::-1]
    ends = _turned(lattice, largest=largest)
    prior = OctavePrior(sign * centre, power)
    # Beyond the range as far again: some candidates have no record beyond them for certain.
    furthest = prior.centre + 2 * (ends[1] - prior.centre) + 1
    score = TopScore(values, ends[0], furthest, prior)
    mechanism = split.spend(Exponential(score, *split.rest().ranged))  # [extreme.3]
    drawn = yield from draw(
        "point", mechanism, lambda drawn: lattice.words(sign * builtins.min(drawn, ends[1]))
    )
    error_model = ExtremeErrorModel(
        lattice=lattice,
        largest=largest,
        prior=prior,
        candidates=(mechanism.score.first, mechanism.score.last),
        epsilon=mechanism.epsilon,
        rate=mechanism.rate,
        drawn=drawn,
        count=count,
        has_centre=schedule.has_centre,
        count_noise=outside.NoisyTerm(noise, 1.0),
        half=half,
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _centre_and_power(
    here: bounds.Setting, records: RecordSummary, schedule: Schedule, count: int
) -> Steps[tuple[int, Fraction, tuple[float, int] | None]]:
    """[extreme.2] The centre, a power of the prior that the records elsewhere outweigh, and a half.

    If a good part of the records is one public value ([mean.2], [mean.3] of the mean), the point
    has to be found among the others, which are fewer.
    """
    half = None
    if schedule.has_centre:
        home = yield from bounds.find_home(here, records, count)
        if home.radius:
            half = bounds.Home.part(count), home.radius
        else:
            atom = yield from bounds.look_elsewhere(here, schedule, home, count)
            if atom.way != "none":
                sure = builtins.max(0.0, atom.found - 2 * atom.noise)
                nats = sure * float(here.split.rest().range) / 2 - SLACK
                power = builtins.min(
                    float(POWER), builtins.max(LEAST_POWER, nats / math.log(here.lattice.width + 2))
                )
                return home.point, Fraction(round(power * 1024), 1024), None
    centre = yield from bounds.find_centre(
        here, records, count, share=schedule.centre, bits=schedule.bits
    )
    return centre, POWER, half


def kept_records(lattice: Lattice, split: BudgetSplit) -> int:
    """[extreme.5] How many records of an end are kept: those with more beyond weigh e^-60 at most.

    More than 4 million are refused.
    """
    epsilon = float(split.share(1 - count_share(split) - MOST_CENTRE).range)
    nats = OctavePrior(0, POWER).log_cost(2 * lattice.width) + math.log(2 * lattice.width + 2)
    kept = math.ceil((nats + NEGLIGIBLE) / epsilon)
    if kept > MOST_KEPT:
        raise InvalidArgument(
            f"an extreme of {float(split.total):g} a row would keep {kept:,} records; it needs a "
            "larger budget"
        )
    return kept


def _row(name: str, summary: str, *, largest: bool) -> spec.Row[NoOption, Release]:
    begin = partial(_estimate, largest=largest)
    return spec.Row(
        name,
        "exponential",
        (NoOption(),),
        "extreme",
        summary,
        begin,
        strength=2 * spec.FOR_FAR_VALUES,
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
