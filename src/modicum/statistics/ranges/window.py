"""Where a column is, in a range or in none: one draw of a window, and a count that confirms it.

[window.1] counts  noisy numbers of zeros and of other values; of few records all are counted again;
[window.2] window  of all windows of float64, or of a range, one that holds nearly all records,
                   spread in it;
[window.3] seen    of few records, how many are in it: a window that was missed says so.

The window gives what follows a centre, a scale and a lattice. docs/research/proofs/window.md has
the proofs, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np

from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.scores import on_subsample
from modicum.mechanisms.subsampled import amplified
from modicum.mechanisms.windows import DataWindow, WindowGrid, WindowScore
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Estimate, ScalarEstimate
from modicum.releases.status import COARSE, OK, USABLE, Status, alike
from modicum.runtime.steps import Reads, Steps, draw, read, read_both
from modicum.statistics.options import Options
from modicum.statistics.ranges.bounds import Setting, combined, count_some, hidden_octaves
from modicum.statistics.ranges.found_range import (
    AT_END,
    find_octave,
    in_finer_range,
    power_of_two,
)
from modicum.statistics.ranges.split import expected_records, first_reduction, subsample_level
from modicum.statistics.tails.outside import FEW, Counted, NoisyTerm
from modicum.summaries.base import RecordRule
from modicum.summaries.sizes import OctaveCounts
from modicum.summaries.subsample import Records, RecordSummary
from modicum.summaries.sums import BinCounts

NOT_SEEN = Status(
    "few_records",
    "too few rows for this budget to find where their values are: give `within`, a public range, "
    "or spend more",
)


@dataclass(frozen=True, slots=True)
class WindowTuning:
    """How a window is drawn. Strengths are in units of the scale of the noise, ε for pure ε.

    Chosen on made-up shapes and on half of the public tables: `python -m benchmarks records`. None
    affects privacy.
    """

    counts: float = 0.04
    """Strength of the counts of zeros and of other values."""
    again: tuple[float, float] = (1500.0, 0.07)
    """So many records per unit of noise are counted once, fewer again with that strength."""
    most: float = 0.38
    """Largest strength of the window."""
    need: tuple[float, float] = (1.8, 0.65)
    """The strength for N values other than 0 is the power of (first times those nats) / N."""
    sure: float = 12.5
    """Nats, besides those of all windows, that its records must have that a core has not."""
    fewest: float = 0.5
    """Part of the records, at most, that these are; the noise of the count can make them more."""
    others: float = 1.5
    """Times the values other than 0, at most, that these are."""
    deviations: float = 4.0
    """Of the noise of the count, which may not make a window that is far too wide as good."""
    trusted: tuple[float, float] = (0.75, 18.0)
    """Part of the nats of all records that pays for the places of windows, and nats to spare."""
    listed: float = 0.05
    """Part of the records from which on a window is listed."""
    seen: tuple[float, float, float] = (1500.0, 2.5, 0.15)
    """Fewer records are looked for in the window, with strength sqrt(second / N), third at most."""
    surely: float = 0.002
    """Where nothing is, half as many counts say that records are seen."""
    zeros: float = 200.0
    """So many records, of which most are 0, may all be 0."""
    octave: tuple[float, int] = (40.0, 16)
    """Nats of the records that an octave of their sizes is drawn with; so many octaves beyond it
    the lattice has."""
    given: float = 80.0
    """With fewer values per unit of noise other than 0 a given range is all that is used."""
    quartiles: float = 4.0
    """Times the larger distance of a quartile from the median, at least, that a radius is."""
    near: int = 3
    """Octaves beyond the window that a range has for what all records decide together."""
    rare: float = 0.01
    """A smaller share of the records may lie further out."""
    reach: int = 20
    """Octaves beyond the window that the lattice has."""


WINDOW = WindowTuning()
E = TypeVar("E", bound=Estimate[Any])


@dataclass(frozen=True, slots=True)
class Found:
    """Where records are: ends on a lattice, in its steps, and the numbers of records.

    ``others`` are the values that are not 0, ``status`` says whether the window was confirmed.
    ``given``: the range of the lattice was. Then there may be no ``window``: nothing better is
    known than the range, and whether most records are at ``home``, 0. Some records may be
    ``beyond`` a window. ``records``, further secret subsamples, are not released: on a lattice that
    was known before it the window's pass read them.
    """

    lattice: Lattice
    centre: int
    radius: int
    counted: Counted
    others: int
    window: DataWindow | None = None
    home: int | None = None
    status: Status = OK
    given: bool = False
    beyond: int = 0
    records: RecordSummary | None = field(default=None, repr=False)

    def beyond_of(self, point: int) -> tuple[float, int] | None:
        """So many records may lie further than a distance from a point of the lattice, if any."""
        if not self.beyond:
            return None
        return float(self.beyond), self.radius + abs(self.centre - point)

    @property
    def count(self) -> int:
        """A noisy number of records, at least 1."""
        return max(round(self.counted.value), 1)

    @property
    def place(self) -> int:
        """How far from the origin the window is, in halves of its radius."""
        return abs(self.window.place) if self.window else 0

    def among_zeros(self, model: Any) -> Status | None:
        """What to say of an answer in the whole range, if most records are 0."""
        if self.home is None:
            return None
        ends, equal = model.interval(0.95, None), model.at_home
        return alike(self.lattice, float(model.value), ends, equal=equal)

    @property
    def ends(self) -> tuple[int, int]:
        """Both ends, within the lattice."""
        first, last = self.lattice.first, self.lattice.last
        ends = self.centre - self.radius, self.centre + self.radius
        return min(max(ends[0], first), last), min(max(ends[1], first), last)


def hides(lattice: Lattice) -> bool:
    """Whether the step of a given range may hide values: their sizes are not known."""
    return lattice is not KEYS and lattice.floor == 1 and lattice.lo <= 0 <= lattice.hi


def in_window(
    answer: Callable[[Setting, Found], Steps[E]],
    column: str | None,
    event: Event,
    lattice: Lattice = KEYS,
    *,
    rule: RecordRule | None = None,
    sizes: bool = False,
    finer: bool = True,
) -> Steps[E]:
    """Find a window, and answer with all that is left; the draws cost exactly ``event``.

    ``lattice``: that of a range, if one is given. With a ``rule`` the records are those of persons.
    The others are for :func:`find_window`; values that the step hides are looked for in a part of
    the range.
    """
    here = Setting(column, lattice, BudgetSplit(event), rule=rule)
    finer = finer and rule is None and hides(lattice)
    found = yield from find_window(here, sizes=sizes, finer=finer)
    if found.status.code == COARSE.code:  # [mean.16]

        def again(part: Lattice, event: Event) -> Steps[E]:
            return in_window(answer, column, event, part, sizes=sizes, finer=False)

        return (yield from in_finer_range(column, lattice, here.split.rest().loss, again))
    return (yield from answer(replace(here, lattice=found.lattice), found))


def in_reach(begin: Callable[..., Steps[E]], *, placed: bool = True) -> Callable[..., Steps[E]]:
    """[window.11] Begin an estimator in a range about a window, if none is given.

    ``placed``: its answers are where records are, and none is at the end of that range.
    """

    def begun(column: str | None, lattice: Lattice, event: Event, options: Options) -> Steps[E]:
        if lattice is not KEYS:
            return begin(column, lattice, event, options)
        # What it refuses before its first step it refuses here, before anything is charged.
        split = BudgetSplit(event)
        parts = split.part_for(WINDOW.counts + WINDOW.again[1] + WINDOW.seen[2], "noise")
        parts += split.part_for(WINDOW.most, "subsample")
        widest = Lattice.within((-1.0, 1.0))
        steps = begin(column, widest, split.share(1 - parts).loss, options)
        next(steps)
        steps.close()
        return in_window(partial(_in_reach, begin, options, placed=placed), column, event)

    return begun


def _in_reach(
    begin: Callable[..., Steps[E]], options: Options, here: Setting, found: Found, *, placed: bool
) -> Steps[E]:
    """The range reaches further if few records, far out, decide."""
    lattice = here.lattice
    if found.window and options.spare >= WINDOW.rare:
        reach = found.window.radius * 2**WINDOW.near
        ends = [float(found.window.middle + sign * reach) for sign in (-1, 1)]
        lattice = Lattice.within((ends[0], ends[1]))
        gap = (lattice.width >> (WINDOW.near + 4)) // found.count
        lattice = replace(lattice, floor=max(gap, 1))
    estimate = yield from begin(here.column, lattice, here.split.rest().loss, options)
    status = estimate.status if found.status.ok else found.status
    numbers = getattr(estimate, "values", None) or (estimate.value,)  # type: ignore[attr-defined]
    if placed and status.code in USABLE and any(at_found_end(lattice, each) for each in numbers):
        status = AT_END
    return replace(estimate, lattice=lattice, status=status)  # type: ignore[type-var]


def at_found_end(lattice: Lattice, value: Fraction) -> bool:
    """Whether an answer is where values count that lie beyond a range that was found."""
    return not lattice.first < value / Fraction(lattice.step) < lattice.last


def find_window(here: Setting, *, sizes: bool = False, finer: bool = False) -> Steps[Found]:
    """Find where records are with a part of a budget; ``sizes``: or how large they are.

    On :data:`~modicum.exact.float_keys.KEYS` no range is given, and a lattice is made for them.
    ``finer``: it is looked whether the step of a given range hides them.
    """
    split, given = here.split, here.bounded
    kinds, records, octaves = yield from _kinds_of_values(here, finer=finer)
    numbers, counted = yield from _counted(here, kinds)
    others, hidden = numbers[-1], sum(numbers[1:-1])
    if given and expected_records(split, others) < WINDOW.given:
        many = max(sum(numbers) / 4, counted.noise[0].bound(WINDOW.surely))
        status = COARSE.filled(step=here.lattice.step) if hidden > many else FEW
        return _whole(here, counted, max(others, 1), status)
    counted = yield from counted_again(here, counted, sum(kinds))
    others = max(min(others, round(counted.value)), 1)
    if records is None:
        here, records = yield from _about_an_octave(here, octaves, others)
    window, beyond = yield from _draw_window(here, records, counted, others, sizes=sizes)
    found = replace(_on_lattice(here.lattice, window, counted, others), beyond=beyond)
    if here.lattice is not KEYS:
        found = replace(found, records=records)
    if given:
        found, (lo, hi) = replace(found, given=True), found.ends
        if lo == hi or 2 * (hi - lo) >= here.lattice.width:  # it is beside the range, or wide
            return _whole(here, counted, others, FEW if lo == hi else OK)
    if expected_records(split, others) < WINDOW.seen[0]:
        seen = yield from _are_seen(replace(here, lattice=found.lattice), found, found.radius >> 3)
        if not seen and given:
            return _whole(here, counted, others, FEW)
        return replace(found, status=OK if seen else NOT_SEEN)
    return found


def in_quartiles(
    answer: Callable[[Setting, Found], Steps[ScalarEstimate]],
    column: str | None,
    event: Event,
    quartiles: tuple[float, float, float],
) -> Steps[ScalarEstimate]:
    """[mean.14] Answer where quartiles were released before: no window is drawn.

    If no records are seen where they say, one is after all.
    """
    here = Setting(column, KEYS, BudgetSplit(event))
    found = yield from _of_quartiles(here, quartiles)
    there = replace(here, lattice=found.lattice)
    if (yield from _are_seen(there, found, found.radius >> 4)):
        return (yield from answer(there, found))
    return (yield from in_window(answer, column, here.split.rest().loss))


def _of_quartiles(here: Setting, quartiles: tuple[float, float, float]) -> Steps[Found]:
    """The window about a median that reaches some quartiles further than the quartiles."""
    first, median, third = quartiles
    octave = math.ceil(math.log2(WINDOW.quartiles * max(third - median, median - first)))
    window = DataWindow(octave, round(Fraction(median) / Fraction(2) ** (octave - 1)))
    kinds, *_ = yield from _kinds_of_values(here, finer=False)
    numbers, counted = yield from _counted(here, kinds)
    counted = yield from counted_again(here, counted, sum(kinds))
    others = max(min(numbers[-1], round(counted.value)), 1)
    return _on_lattice(KEYS, window, counted, others)


def _counted(here: Setting, kinds: tuple[int, ...]) -> Steps[tuple[tuple[int, ...], Counted]]:
    """[window.1] Numbers of values of all kinds, and of records."""
    share = here.split.share(here.split.part_for(WINDOW.counts, "noise"))
    mechanism = here.split.spend(add_noise(kinds, share, sensitivity=1))
    numbers = yield from draw("zeros and other values", mechanism)
    terms = (NoisyTerm(mechanism.noise[0], 1.0),) * len(numbers)
    return numbers, Counted(Fraction(max(sum(numbers), 1)), terms)


def counted_again(here: Setting, counted: Counted, records: int) -> Steps[Counted]:
    """[window.1] Count few records once more, which are not released."""
    below, strength = WINDOW.again
    if expected_records(here.split, round(counted.value)) >= below:
        return counted
    number, noise = yield from count_some(here, records, strength, "count, again")
    return combined(counted, Counted(Fraction(number), (NoisyTerm(noise, 1.0),)))


def _whole(here: Setting, counted: Counted, others: int, status: Status) -> Found:
    """The range that was given; most records of some hundred may be 0."""
    lattice, count = here.lattice, round(counted.value)
    some = expected_records(here.split, count) >= WINDOW.zeros and 2 * others < count
    home = 0 if some and lattice.first <= 0 <= lattice.last else None
    middle = (lattice.first + lattice.last) // 2
    radius = lattice.width // 2 + 1
    return Found(lattice, middle, radius, counted, others, None, home, status, given=True)


def _kinds_of_values(
    here: Setting, *, finer: bool
) -> Steps[tuple[tuple[int, ...], RecordSummary | None, tuple[int, ...]]]:
    """How many values are 0, hidden by the step if that is asked, and others: not released.

    With them come the records; or, of persons whose rows have no lattice to be added up on, none,
    and the numbers in the octaves of their sizes but for 0.
    """
    octaves = replace(here, lattice=OCTAVES).ask(OctaveCounts())
    if here.lattice is KEYS:
        if here.rule:
            sizes, records = (yield from read(octaves)), None
        else:
            sizes, records = yield from read_both(octaves, here.ask(Records()))
        return (sizes.counts[0], sum(sizes.counts[1:])), records, sizes.counts[1:]
    # What comes later is read in the same pass.
    first = here.ask(first_reduction(here.lattice, here.split, "clip", shape=True))
    kinds = octaves if finer else here.ask(BinCounts((0, 1)))
    found, records, _ = yield Reads((kinds, here.ask(Records(subsamples=3)), first))
    if not finer:
        below, zeros, above = found.counts
        return (zeros, below + above), records, ()
    last = 1 + hidden_octaves(here.lattice)
    return (found.counts[0], sum(found.counts[1:last]), sum(found.counts[last:])), records, ()


def _about_an_octave(
    here: Setting, octaves: tuple[int, ...], others: int
) -> Steps[tuple[Setting, RecordSummary]]:
    """[window.12] A lattice about the octave of the median size, and the records on it."""
    nats, beyond = WINDOW.octave
    strength = nats / expected_records(here.split, others)
    octave = yield from find_octave(here.split, octaves, strength, "octave")
    reach = power_of_two(OCTAVES.power(octave + 1) + beyond)
    here = replace(here, lattice=Lattice.within((-reach, reach)))
    return here, (yield from read(here.ask(Records(subsamples=3))))


def _draw_window(
    here: Setting, records: RecordSummary, counted: Counted, others: int, *, sizes: bool
) -> Steps[tuple[DataWindow, int]]:
    """[window.2] The draw, and how many records are beyond the window at most, but for few.

    What was counted says what its grid and its score are.
    """
    split = here.split
    grid_of = WindowGrid.of_floats
    if here.lattice is not KEYS:
        grid_of = partial(WindowGrid.of_range, here.lattice)
    sure = WINDOW.sure + math.log(grid_of(0).near)
    need, power = WINDOW.need
    strength = min(WINDOW.most, (need * sure / expected_records(split, others)) ** power)
    number = max(round(counted.value), 1)
    level = subsample_level(number)
    share = split.share(split.part_for(strength, "subsample" if level else "range"))
    rate = float(amplified(share.pure, level) if level else share.range)
    part, spare = WINDOW.trusted
    affordable = math.floor((part * rate * (others >> level) - spare) / math.log(2))
    grid = grid_of(0 if sizes else affordable)
    # Of a subsample the number of records varies too.
    deviation = math.sqrt(
        sum(term.variance for term in counted.noise) / 4**level + bool(level) * (number >> level)
    )
    outside = min(
        WINDOW.others * (others >> level),
        WINDOW.fewest * (number >> level),
        sure / rate + WINDOW.deviations * deviation,
    )
    nobody = WindowScore(
        np.empty(0),
        grid,
        (number >> level) - round(outside),
        round(outside / 2),
        round(WINDOW.listed * (others >> level)),
        here.lattice,
    )
    mechanism = split.spend(on_subsample(nobody, records, share, level))

    def words(place: int) -> str:
        window = grid.window(place)
        lo, hi = (float(window.middle + sign * window.radius) for sign in (-1, 1))
        return f"most records are between {lo:.6g} and {hi:.6g}"

    window = grid.window((yield from draw("window", mechanism, words)))
    return window, round(outside) << level


def _on_lattice(lattice: Lattice, window: DataWindow, counted: Counted, others: int) -> Found:
    """The window on a lattice that is given, or on one about it that reaches far beyond it."""
    if lattice is KEYS:
        reach = window.radius * 2**WINDOW.reach
        lattice = Lattice.within((float(window.middle - reach), float(window.middle + reach)))
    step = Fraction(lattice.step)
    centre, radius = round(window.middle / step), max(round(window.radius / step), 1)
    return Found(lattice, centre, radius, counted, others, window)


def _are_seen(here: Setting, found: Found, near: int) -> Steps[bool]:
    """[window.3] Whether records are seen in the window; about the origin, not all as ``near``."""
    lo, hi = found.ends
    if found.place > 2:
        near = -1  # only about the origin may a window be far too wide
    core = BinCounts((min(max(-near, lo), hi), max(min(near + 1, hi + 1), lo + 1)))
    whole, close = yield from read_both(here.ask(BinCounts((lo, hi + 1))), here.ask(core))
    inside = whole.counts[1] - close.counts[1] * (near >= 0)
    _, look, most = WINDOW.seen
    strength = min(most, math.sqrt(look / expected_records(here.split, found.others)))
    number, noise = yield from count_some(here, inside, strength, "records seen there")
    return number > noise.tail_bound(WINDOW.surely)
