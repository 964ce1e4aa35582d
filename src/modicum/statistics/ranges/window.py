"""Where a column is, if nobody gave a range: one draw of a window, and a count that confirms it.

[window.1] counts  noisy numbers of zeros and of other values; of few records all are counted again;
[window.2] window  of all windows of float64 one that holds nearly all records, spread in it;
[window.3] seen    of few records, how many are in it: a window that was missed says so.

The window gives what follows a centre, a scale and a lattice. docs/research/proofs/window.md has
the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms.additive import add_noise
from modicum.mechanisms.subsampled import amplified
from modicum.mechanisms.windows import DataWindow, WindowGrid, WindowScore
from modicum.privacy.split import BudgetSplit
from modicum.releases.status import OK, Status
from modicum.runtime.steps import Steps, draw, draw_count, read_both
from modicum.statistics.ranges.bounds import Setting, combined
from modicum.statistics.ranges.split import expected_records, subsample_level
from modicum.statistics.tails.outside import Counted, NoisyTerm
from modicum.summaries.base import Read
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
    """Strength of the two counts."""
    again: tuple[float, float] = (1500.0, 0.07)
    """So many records per unit of noise are counted once, fewer again with that strength."""
    most: float = 0.38
    """Largest strength of the window."""
    need: tuple[float, float] = (40.0, 0.65)
    """The strength for N values other than 0 is the power of first / N."""
    sure: float = 22.0
    """Nats that the records of a window must have that a core has not."""
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
    reach: int = 20
    """Octaves beyond the window that the lattice has."""


WINDOW = WindowTuning()


@dataclass(frozen=True, slots=True)
class Found:
    """A window on a lattice of its own, in its steps, and the numbers of records.

    ``others`` are the values that are not 0, ``status`` says whether it was confirmed.
    """

    lattice: Lattice
    centre: int
    radius: int
    counted: Counted
    others: int
    window: DataWindow
    status: Status = OK

    @property
    def count(self) -> int:
        """A noisy number of records, at least 1."""
        return max(round(self.counted.value), 1)

    @property
    def ends(self) -> tuple[int, int]:
        """Both ends of the window."""
        return self.centre - self.radius, self.centre + self.radius


def find_window(column: str | None, split: BudgetSplit) -> Steps[Found]:
    """Find where a column's values are, with a part of a budget."""
    octaves, records = yield from read_both(
        Read(column, OCTAVES, OctaveCounts()), Read(column, KEYS, Records())
    )
    zeros, total = octaves.counts[0], sum(octaves.counts)
    mechanism = split.spend(
        add_noise(
            (zeros, total - zeros),
            split.share(split.part_for(WINDOW.counts, "noise")),
            sensitivity=1,
        )
    )
    at_zero, others = yield from draw("zeros and other values", mechanism)  # [window.1]
    terms = (NoisyTerm(mechanism.noise[0], 1.0),) * 2
    counted = Counted(Fraction(max(at_zero + others, 1)), terms)
    below, strength = WINDOW.again
    if expected_records(split, at_zero + others) < below:
        share = split.share(split.part_for(strength, "noise"))
        number, noise = yield from draw_count(split, total, share, "count, again")
        counted = combined(counted, Counted(Fraction(number), (NoisyTerm(noise, 1.0),)))
    others = max(min(others, round(counted.value)), 1)
    window = yield from _draw_window(records, split, counted, others)
    found = _on_lattice(window, counted, others)
    if expected_records(split, others) < WINDOW.seen[0]:
        return (yield from _confirmed(column, found, split))
    return found


def _draw_window(
    records: RecordSummary, split: BudgetSplit, counted: Counted, others: int
) -> Steps[DataWindow]:
    """[window.2] The draw, and what its grid and its score are by what was counted."""
    need, power = WINDOW.need
    strength = min(WINDOW.most, (need / expected_records(split, others)) ** power)
    number = max(round(counted.value), 1)
    level = subsample_level(number)
    share = split.share(split.part_for(strength, "subsample" if level else "range"))
    rate = float(amplified(share.pure, level) if level else share.range)
    part, spare = WINDOW.trusted
    grid = WindowGrid.of_floats(math.floor((part * rate * (others >> level) - spare) / math.log(2)))
    # Of a subsample the number of records varies too.
    deviation = math.sqrt(
        sum(term.variance for term in counted.noise) / 4**level + bool(level) * (number >> level)
    )
    outside = min(
        WINDOW.others * (others >> level),
        WINDOW.fewest * (number >> level),
        WINDOW.sure / rate + WINDOW.deviations * deviation,
    )
    mechanism = split.spend(
        WindowScore.subsampled(
            records,
            grid,
            share,
            (number >> level) - round(outside),
            round(outside / 2),
            round(WINDOW.listed * (others >> level)),
            level,
        )
    )

    def words(place: int) -> str:
        window = grid.window(place)
        lo, hi = (float(window.middle + sign * window.radius) for sign in (-1, 1))
        return f"most records are between {lo:.6g} and {hi:.6g}"

    return grid.window((yield from draw("window", mechanism, words)))


def _on_lattice(window: DataWindow, counted: Counted, others: int) -> Found:
    """A lattice about the window, that reaches far beyond it."""
    reach = window.radius * 2**WINDOW.reach
    lattice = Lattice.within((float(window.middle - reach), float(window.middle + reach)))
    step = Fraction(lattice.step)
    centre, radius = round(window.middle / step), max(round(window.radius / step), 1)
    return Found(lattice, centre, radius, counted, others, window)


def _confirmed(column: str | None, found: Found, split: BudgetSplit) -> Steps[Found]:
    """[window.3] Whether records are seen in the window; about the origin, not all close to it."""
    here, (lo, hi), near = Setting(column, found.lattice, split), found.ends, found.radius >> 3
    if abs(found.window.place) > 2:
        near = -1  # only about the origin may a window be far too wide
    core = BinCounts((min(max(-near, lo), hi), max(min(near + 1, hi + 1), lo + 1)))
    whole, close = yield from read_both(here.ask(BinCounts((lo, hi + 1))), here.ask(core))
    inside = whole.counts[1] - close.counts[1] * (near >= 0)
    _, look, most = WINDOW.seen
    strength = min(most, math.sqrt(look / expected_records(split, found.others)))
    share = split.share(split.part_for(strength, "noise"))
    number, noise = yield from draw_count(split, inside, share, "records seen there")
    seen = number > noise.tail_bound(WINDOW.surely)
    return found if seen else replace(found, status=NOT_SEEN)
