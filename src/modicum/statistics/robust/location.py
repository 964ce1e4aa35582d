"""Locations: the expectile and those of Huber and of the least sum of powers, with intervals.

Monotone M-estimators by the inverse sensitivity mechanism on cells around a private centre.

[locations.1] count   a noisy count drives the schedule;
[locations.2] centre  a private median from a secret subsample: where the cells are fine;
[locations.3] width   for a Huber location without a width: a private radius that half of the data
                      exceed;
[locations.4] radii   for an unbounded score: on each side, the least width with few records
                      outside, and the data are clipped there;
[locations.15] tail   before these, how far a small part of the records reach: is it heavy?
[locations.16] outside  after them, how many records are outside: too many for a tail are looked
                      for again (ranges/search.py), or told; where all records seem to have one
                      value, that is the answer, and how many others there are is all that is drawn;
[locations.5] value   P(t) ∝ exp(-ε |length(t)| / 2), the length in records from the cells' counts
                      and sums;
[locations.6] ends    on each side of it, a value beyond the location, with the confidence
                      of the interval.

Differs from Dick, Kulesza, Sun and Suresh 2023, Algorithm 4: [locations.4] has no rank target and
clips where they trim, and a bounded score needs no thresholds at all.
docs/research/proofs/locations.md has the proofs, with the same labels, and says how that was
decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from modicum.exact.lattice import Lattice
from modicum.mechanisms import grids, selection
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit, Share
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, draw_count, read, read_both
from modicum.statistics import spec, texts
from modicum.statistics.means.mean import mean
from modicum.statistics.order import quantile
from modicum.statistics.ranges.bounds import (
    Bounds,
    Setting,
    count_away,
    find_bounds,
    find_centre,
    reach_from,
)
from modicum.statistics.ranges.search import SearchResult, count_again
from modicum.statistics.ranges.split import (
    LEAST_FOR_COUNTS,
    Schedule,
    expected_records,
    octaves,
    subsample_level,
)
from modicum.statistics.ranges.window import in_reach
from modicum.statistics.robust import inverse_sensitivity, monotone_statistic
from modicum.statistics.tails.outside import Counted, NoisyTerm, OneValue
from modicum.summaries import subsample, sums
from modicum.summaries.cells import Cells, CellSummary

COUNT_SHARE = Fraction(1, 50)
END_SHARE = Fraction(1, 2)  # both together, of what others than the value leave
WIDTH_SHARE = Fraction(3, 100)
# Strength of the look at the tail: so much, so many times 1/N, at most; and the part it is for.
_LEAST_LOOK, _LOOK_FOR, _MOST_LOOK = 0.01, 90.0, 0.05
_TAIL_PARTS, _FROM = (Fraction(1, 8), Fraction(1, 16)), 10_000.0  # of few records, and from there
_LEAST_VALUE = Fraction(2, 5)  # of the value, if no ends are drawn
CENTRE_SHARES = tuple(Fraction(k, 100) for k in (1, 2, 5, 10, 20, 35, 50))
CELL_BITS = 7  # 128 cells an octave of distance from the centre
_BESIDE = 2  # steps from the last records to where they are clipped: an end fits in on any lattice
FLAT = 8  # widths around the centre in which the candidates of a bounded score are uniform


@texts.documented
def expectile(
    column: str | None = None,
    *,
    tau: float,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the τ-expectile of a column, with no bounds to guess.

    The t at which τ sum (x - t)+ = (1 - τ) sum (t - x)+: for τ = 1/2 the mean (then prefer
    :func:`modicum.query.mean`, which is about three times more accurate), for larger τ a value
    further up. Prefer it over a quantile where it matters how far the extremes lie, and not only
    how many they are.

    Parameters
    ----------
    {column}
    tau : float
        From 0.001 to 0.999.
    {found_within}
    {cost}
    {step}
    {level}
        The ends take up to half of the cost.

    {returns}

    {raises}
        If tau or level is out of range.

    Notes
    -----
    {missing}

    The inverse sensitivity mechanism (Asi and Duchi 2020) between two private bounds, after Dick,
    Kulesza, Sun and Suresh 2023, Algorithm 4. The answer is about 2/ε' records away from the
    expectile of the clipped data, whatever the range is; a few extreme records are clipped.

    Examples
    --------
    >>> expectile("delay", tau=0.9, within=(-1e9, 1e9), epsilon=1).statistic
    'expectile'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    statistic = monotone_statistic.expectile_score(
        monotone_statistic.checked_number("tau", tau, 0.001, 0.999)
    )
    return inverse_sensitivity.asked(EXPECTILE, column, statistic, cost, lattice, level)


@texts.documented
def lp_center(
    column: str | None = None,
    *,
    p: float,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for the t with the least sum of ``|x - t|^p``, with no bounds to guess.

    p = 1 is the median and p = 2 the mean: those queries are made then, and ``level`` is not used
    for p = 2. Prefer a p between them for something between them; a p above 2 leans towards the
    middle of the extremes, and its answers are as noisy as those are far.

    Parameters
    ----------
    {column}
    p : float
        From 1 to 8.
    {within}
    {cost}
    {step}
    {level}
        The ends take up to half of the cost.

    {returns}

    {raises}
        If p or level is out of range.

    Notes
    -----
    {missing}

    The mechanism is that of :func:`modicum.query.expectile`. For p >= 4 the default interval is the
    public range: data with tails of index 3 need not have such a location.

    Examples
    --------
    >>> lp_center("delay", p=1.5, within=(-1e9, 1e9), epsilon=1).statistic
    'lp_center'
    >>> lp_center("delay", p=1, within=(-1e9, 1e9), epsilon=1).statistic
    'median'
    """
    power = monotone_statistic.checked_number("p", p, 1, 8)
    cost = chosen_budget(epsilon, rho, budget)
    if power == 1:
        return quantile.median(column, within=within, budget=cost, step=step, level=level)
    if power == 2:
        return mean(column, within=within, budget=cost, step=step)
    lattice = Lattice.within(within, step)
    return inverse_sensitivity.asked(
        LP_CENTER, column, monotone_statistic.power_score(power), cost, lattice, level
    )


@texts.documented
def huber(
    column: str | None = None,
    *,
    width: float | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
) -> Query[Release]:
    """Ask for Huber's location of a column: a mean in which far records count as near ones.

    The t at which the sum of x - t, clipped to ±width, is 0. Prefer it over the mean if outliers
    are errors, and over the median if the middle of the data is smooth: nothing is clipped away,
    and the noise follows the width and not the tails.

    Parameters
    ----------
    {column}
    width : float, optional
        In the unit of the data. Records further than this from the answer pull with a constant
        force. Without it, twice the median distance from the median is used, found privately to
        the next 19 % for 3 % of the cost, and shown on the release: about 1.35 standard
        deviations of normal data, the usual choice.
    {found_within}
    {cost}
    {step}
    {level}
        The ends take up to half of the cost.

    {returns}

    {raises}
        If the width is not positive, or level out of range.

    Notes
    -----
    {missing}

    The mechanism is that of :func:`modicum.query.expectile` on the whole range: the score is
    bounded, so no private bounds are needed. The interval assumes nothing.

    Examples
    --------
    >>> huber("delay", within=(-1e9, 1e9), epsilon=1).statistic
    'huber'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    statistic = (
        None
        if width is None
        else monotone_statistic.huber_score(monotone_statistic.checked_width(width))
    )
    return inverse_sensitivity.asked(HUBER, column, statistic, cost, lattice, level)


@dataclass(frozen=True, slots=True)
class LocationPlan:
    """Shares of the total, given the released noisy count; what they leave goes to the value.

    A share of 0 leaves the centre, a private width, the radii or the ends out. The prior of a
    radius is r^-power, and an octave has 2^cell_bits cells.
    """

    centre: Fraction
    width: Fraction
    radii: Fraction
    ends: Fraction
    power: Fraction
    cell_bits: int

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        split: BudgetSplit,
        noisy_count: int,
        *,
        bounded: bool,
        scaled: bool,
        ends: bool,
    ) -> LocationPlan:
        """Divide. ``bounded``: no radii are needed; ``scaled``: a width is to be found."""
        rows = max(1, noisy_count)
        log_width = octaves(lattice)
        nats = (
            inverse_sensitivity.CENTRE_BITS * math.log(2)
            + math.log(2 * log_width / math.log(2) + 2)
            + 8
        )
        shares = CENTRE_SHARES if bounded else CENTRE_SHARES[:-1]  # radii need theirs too
        centre = next(
            (f for f in shares if float(split.share(f).range) * rows >= 2 * nats), Fraction(0)
        )
        few = max(1.0, 1000 / (rows * float(split.scale))) ** 0.3
        radii = 0.06 if split.concentrated else min(0.30, 0.20 * few)
        radii_share = Fraction(0) if bounded else Fraction(round(1024 * radii), 1024)
        eta = float(split.share(radii_share).range)
        power = min(4.0, max(1.25, eta * rows / (2 * (log_width + 6))))
        width = WIDTH_SHARE if scaled else Fraction(0)
        left = 1 - COUNT_SHARE - centre - width - radii_share
        return cls(
            centre,
            width,
            radii_share,
            END_SHARE * left if ends else Fraction(0),
            Fraction(round(1024 * power), 1024),
            CELL_BITS + min(5, max(0, (rows.bit_length() - 20) // 2)),
        )

    @property
    def value(self) -> Fraction:
        """Share of the value: all that the other draws leave."""
        return 1 - COUNT_SHARE - self.centre - self.width - self.radii - self.ends

    @property
    def schedule(self) -> Schedule:
        """That of the radii, and of what is spent between them and the value, as of a mean."""
        return Schedule(
            self.centre,
            Fraction(0),
            self.radii,
            self.ends,
            inverse_sensitivity.CENTRE_BITS,
            self.power,
        )


@dataclass(frozen=True, slots=True)
class _Planned(Setting):
    """A run, the noisy count, and the plan that follows from it."""

    count: int
    plan: LocationPlan


def location(
    column: str | None, lattice: Lattice, event: Event, options: inverse_sensitivity.LocationOption
) -> Steps[ScalarEstimate]:
    """Estimate a statistic that follows the order of the data; the draws cost exactly ``event``.

    A budget that is too small is refused.
    """
    statistic, level = options.statistic, options.level
    split = BudgetSplit(event)
    inverse_sensitivity.check_levels(
        split.share(_LEAST_VALUE * (1 if level is None else END_SHARE))
    )
    setting = Setting(column, lattice, split)
    counts, records = yield from read_both(
        setting.ask(sums.Count()), setting.ask(subsample.Records(subsamples=2))
    )
    # [locations.1]
    n0, noise = yield from draw_count(split, counts.count, split.share(COUNT_SHARE))
    bounded, scaled = statistic is None or statistic.bounded, statistic is None
    plan = LocationPlan.of(
        lattice, split, n0, bounded=bounded, scaled=scaled, ends=level is not None
    )
    here = _Planned(column, lattice, split, n0, plan)
    centre = yield from find_centre(  # [locations.2]
        here, records, n0, share=plan.centre, bits=inverse_sensitivity.CENTRE_BITS
    )
    if statistic is None:
        statistic = yield from _scaled(here, records, centre)  # [locations.3]
    edges = inverse_sensitivity.cell_edges(lattice, centre, plan.cell_bits)
    cells = yield from read(here.ask(Cells(centre, edges)))
    count_noise, bounds, share = NoisyTerm(noise, 1.0), None, split.share(plan.value)
    if not statistic.bounded:
        place = yield from _find_bounds(here, cells, records)
        # A search that looked twice leaves less: then the interval gets a half of that.
        left = split.left / split.total
        bounds, share = place.bounds, split.share(left - min(plan.ends, left / 2))
        assert bounds is not None
        if place.way == "single":
            counted = Counted(Fraction(max(n0, 1)), (count_noise,))
            return (yield from _one_value(here, bounds, options, centre, counted))
    clip = _clipped(here, bounds, centre)
    candidates = _candidates(here, clip, statistic, centre, share)
    scene = inverse_sensitivity.Scene(split, lattice, statistic, cells, clip, candidates)
    value = yield from inverse_sensitivity.draw_value(  # [locations.5]
        scene, share if level is not None else split.rest()
    )
    ends = None
    if level is not None:
        ends = yield from inverse_sensitivity.draw_ends(scene, value[0], level)  # [locations.6]
    has_centre = plan.centre > 0
    return scene.estimate(value, n0, count_noise, ends=ends, level=level, has_centre=has_centre)


def _scaled(
    here: _Planned, records: subsample.RecordSummary, centre: int
) -> Steps[monotone_statistic.MonotoneStatistic]:
    """[locations.3] Huber's score with twice the radius that half of the records exceed.

    For normal data that is 2 * 0.6745 = 1.35 standard deviations.
    """

    def width(radius: int) -> int:
        return 2 * max(radius, 1)

    def words(radius: int) -> str:
        return here.lattice.words(width(radius))

    share = here.split.share(here.plan.width)
    radius = yield from _radius_of(here, records, centre, Fraction(1, 2), share, "width", words)
    return monotone_statistic.huber_score(here.lattice.value(width(radius)))


def _radius_of(
    here: _Planned,
    records: subsample.RecordSummary,
    centre: int,
    part: Fraction,
    share: Share,
    label: str,
    words: Callable[[int], str],
) -> Steps[int]:
    """Draw a radius about the centre that a part of the records exceed, in quarter octaves."""
    reach = max(here.lattice.last - centre, centre - here.lattice.first)
    near = inverse_sensitivity.radius_grid(centre, reach).radii[1]
    grid = grids.RadiusGrid.between(near, max(reach, near), per_octave=4)
    level = subsample_level(here.count)
    target = math.floor(2 * part * max(here.count, 0)) >> 1
    mechanism = here.split.spend(
        selection.RadiusRanks.subsampled(
            records,
            centre,
            grid,
            share,
            targets=((target >> level) + 1,),
            tilts=(grids.HALF_LN2 / 8,),
            level=level,
        )
    )
    drawn = yield from draw(label, mechanism, lambda drawn: words(grid.radii[drawn[0]]))
    return grid.radii[drawn[0]]


def _look_at_tail(
    here: _Planned, records: subsample.RecordSummary, centre: int
) -> Steps[tuple[float, int] | None]:
    """[locations.15] A radius that a small part of the records exceed, and how many these are.

    Beside the radius that few exceed it tells how heavy the tail is; a radius of 0 tells nothing.
    """
    expected = expected_records(here.split, here.count)
    strength = min(_MOST_LOOK, max(_LEAST_LOOK, _LOOK_FOR / expected))
    share = here.split.share(here.split.part_for(strength, "subsample"))
    part = _TAIL_PARTS[expected >= _FROM]

    def words(radius: int) -> str:
        return f"about {part} of the records are more than {here.lattice.words(radius)} away"

    radius = yield from _radius_of(here, records, centre, part, share, "tail", words)
    return (float(part * max(here.count, 1)), radius) if radius else None


def _find_bounds(
    here: _Planned, cells: CellSummary, records: subsample.RecordSummary
) -> Steps[SearchResult]:
    """[locations.4] The radii on both sides of the centre, and what is outside of them.

    Of few records, or without a centre, there is nothing to spare for that: such an answer can
    hardly be used, and is never without a warning.
    """
    centre, schedule = cells.centre, here.plan.schedule
    few = expected_records(here.split, here.count) < LEAST_FOR_COUNTS
    if few or not schedule.has_centre:
        bounds = yield from find_bounds(here, cells, schedule, centre)
        return SearchResult("bounds", schedule, centre, bounds)
    seen = yield from _look_at_tail(here, records, centre)
    bounds = yield from find_bounds(here, cells, schedule, centre)
    bounds = replace(bounds, outside=replace(bounds.outside, seen=seen))
    way: Literal["single", "bounds"] = "single" if bounds.single(here.lattice) else "bounds"
    place = SearchResult(way, schedule, centre, bounds)
    return (yield from count_again(here, place, here.count))  # [locations.16]


def _one_value(
    here: _Planned,
    bounds: Bounds,
    option: inverse_sensitivity.LocationOption,
    centre: int,
    counted: Counted,
) -> Steps[ScalarEstimate]:
    """[locations.16] The value that all records seem to have, and a count of the others.

    These may be anywhere in the range: no tail fits a single value.
    """
    elsewhere, noise = yield from count_away(here, bounds.elsewhere)
    others = OneValue(here.lattice, bounds.lo, bounds.hi, counted, elsewhere, noise)
    ends, statistic, lattice = (bounds.lo, bounds.hi), option.statistic, here.lattice
    if option.level is not None and statistic is not None:
        share = others.share_elsewhere(1 - option.level)
        low, high = lattice.first - bounds.lo, lattice.last - bounds.hi
        below, above = (
            inverse_sensitivity.moved_by(statistic, each, lattice.step, share)
            for each in (low, high)
        )
        ends = bounds.lo + below, bounds.hi + above
    error_model = inverse_sensitivity.OneLocationErrorModel(
        lattice, bounds.lo, bounds.hi, counted, elsewhere, noise, centre, option.level, ends
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _clipped(here: _Planned, bounds: Bounds | None, centre: int) -> inverse_sensitivity.ClipBounds:
    """Return where records are clipped: the range, or bounds with something to choose from."""
    if bounds is None:
        return inverse_sensitivity.ClipBounds(here.lattice.first, here.lattice.last, None)
    near = inverse_sensitivity.radius_grid(centre, reach_from(here.lattice, centre)).radii[1]
    return inverse_sensitivity.ClipBounds(
        min(bounds.lo - _BESIDE, centre - near),
        max(bounds.hi + _BESIDE, centre + near),
        bounds.outside,
    )


def _candidates(
    here: _Planned,
    bounds: inverse_sensitivity.ClipBounds,
    statistic: monotone_statistic.MonotoneStatistic,
    centre: int,
    share: Share,
) -> inverse_sensitivity.Candidates:
    """Candidates spaced like the noise: a change of one record in a scale of ψ's width.

    On a coarse lattice they are further apart, and so many are evenly spaced all the same.
    """
    lo, hi = max(bounds.lo, here.lattice.first), min(bounds.hi, here.lattice.last)
    flat, scale = max(hi - centre, centre - lo), hi - lo
    if statistic.width is not None:
        scale = max(1, round(min(2 * statistic.width / here.lattice.step, 2.0**52)))
    changes = max(1.0, max(1, here.count) * float(share.range))
    spacing = max(1, math.floor(scale / changes))
    if statistic.width is not None:
        flat = min(FLAT * max(scale, math.ceil(spacing * changes)), flat)
    jumps = inverse_sensitivity.jumps(statistic, (hi - lo) * here.lattice.step)
    return inverse_sensitivity.Candidates.of(
        lo, hi, centre, flat=max(flat, 1), spacing=spacing, jumps=jumps
    )


def cases_of(
    statistic: monotone_statistic.Score | None,
) -> tuple[inverse_sensitivity.LocationOption, ...]:
    """Return what a row is tested with: the statistic with an interval, and without."""
    return (
        inverse_sensitivity.LocationOption(statistic, 0.95),
        inverse_sensitivity.LocationOption(statistic, None),
    )


def _row(
    name: str, statistic: monotone_statistic.Score | None, summary: str
) -> spec.Row[inverse_sensitivity.LocationOption, Release]:
    return spec.Row(
        name,
        "inverse-sensitivity",
        cases_of(statistic),
        "locations",
        f"{summary}, with an interval",
        in_reach(location),
        by_window=True,
    )


EXPECTILE = _row(
    "expectile",
    monotone_statistic.expectile_score(0.9),
    "expectile by the inverse sensitivity mechanism",
)
LP_CENTER = _row(
    "lp_center",
    monotone_statistic.power_score(1.5),
    "value with the least sum of p-th powers of distances",
)
HUBER = _row("huber", None, "Huber's robust location")
_GUESS = "within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1"

STATISTICS = (
    spec.Declaration(
        expectile,
        (EXPECTILE,),
        spec.shows_between("expectile", "tau=0.5, within=(-1e9, 1e9), ", 9900, 10100),
        command="flights.csv delay --tau 0.9 --within=-1e9,1e9 --epsilon 1",
        options={"tau": "weight of the records above it, such as 0.9"},
        tail=True,
        plan=spec.Planned(
            "an expectile",
            spec.error_between(f"expectile(tau=0.9, {_GUESS})", "50", "5000"),
            command="--tau 0.9 --within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=monotone_statistic.true_location,
            slow=True,
            sampled=True,
        ),
    ),
    spec.Declaration(
        lp_center,
        (LP_CENTER,),
        spec.shows_between("lp_center", "p=1.5, within=(-1e9, 1e9), ", 9900, 10100),
        command="flights.csv delay --p 1.5 --within=-1e9,1e9 --epsilon 1",
        options={"p": "power of the distances, such as 1.5"},
        tail=True,
        plan=spec.Planned(
            "a location by p-th powers",
            spec.error_between(f"lp_center(p=1.5, {_GUESS})", "5", "500"),
            command="--p 1.5 --within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=monotone_statistic.true_location,
            slow=True,
            sampled=True,
            note="For p = 2 better plan a mean.",
        ),
    ),
    spec.Declaration(
        huber,
        (HUBER,),
        spec.shows_between("huber", "within=(-1e9, 1e9), ", 9900, 10100),
        command="flights.csv delay --within=-1e9,1e9 --epsilon 1",
        options={"width": "where the pull of a record ends to grow (default: found privately)"},
        plan=spec.Planned(
            "Huber's location",
            spec.error_between(f"huber(width=5e4, {_GUESS})", "1", "100"),
            command="--within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=monotone_statistic.true_location,
            slow=True,
            sampled=True,
            note="Without a width it is against the location with the width that was released.",
        ),
    ),
)
