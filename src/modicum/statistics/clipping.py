"""Steps that the mean and the variance share: a centre, clipping bounds around it, a rough mean.

Labels are those of docs/proofs/mean.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import FloatGrid, RadiusGrid
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.mean_evidence import Counted, NoisyTerm
from modicum.statistics.outside import Outside
from modicum.statistics.purse import Purse
from modicum.statistics.schedule import Schedule, expected_records, subsample_level
from modicum.summaries.base import Ask, Reduction
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import RecordSummary
from modicum.summaries.sums import ClippedSum
from modicum.summaries.tails import TailSummary

__all__ = [
    "Bounds",
    "Rough",
    "Setting",
    "count_away",
    "count_outside",
    "find_bounds",
    "find_centre",
    "reach_from",
    "rough_mean",
]

S = TypeVar("S")
SINGLE = 46  # bounds narrower than 2^-46 of the range
COLLAPSED = 40  # radii
LOOK = 1 / 128  # least strength of the count of the records outside


@dataclass(frozen=True, slots=True)
class Setting:
    """What every step of one run refers to."""

    column: str | None
    lattice: Lattice
    purse: Purse

    def ask(self, reduction: Reduction[S]) -> Ask[S]:
        """Ask for a reduction of the column."""
        return Ask(self.column, self.lattice, reduction)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Clipping bounds around a centre, in lattice steps: released, but for ``elsewhere``."""

    lo: int
    hi: int
    outside: Outside
    elsewhere: int  # records outside: not released

    @classmethod
    def of_range(cls, lattice: Lattice) -> Bounds:
        """Return the ends of the range, outside of which there is nothing."""
        widest = max(lattice.width, 1)
        nothing = Outside((widest, widest), widest, candidates=1, eta=1.0, power=1.0)
        return cls(lattice.first, lattice.last, nothing, 0)

    def all_of(self, lattice: Lattice) -> bool:
        """Whether they are the ends of the range, outside of which there is nothing."""
        return self.lo <= lattice.first and self.hi >= lattice.last

    def single(self, lattice: Lattice) -> bool:
        """Whether they are so close that they hold a single value, for all we know."""
        return self.hi - self.lo <= lattice.width >> SINGLE

    def collapsed(self, lattice: Lattice) -> bool:
        """Whether a prior against so few records may have left nothing but a point of them."""
        return self.hi - self.lo <= lattice.width >> COLLAPSED

    def reach(self, point: int) -> int:
        """Largest distance of a clipped record from a point between them."""
        return max(self.hi - point, point - self.lo)


@dataclass(frozen=True, slots=True)
class Rough:
    """A rough mean of clipped data.

    Attributes
    ----------
    value : int
        Between the bounds.
    counted : Counted
        The best count so far.
    noise : NoisyTerm
        If two independent such terms are at most t in size, the mean of the clipped data is no
        further than t + 1/2 from the value.
    """

    value: int
    counted: Counted
    noise: NoisyTerm


def find_centre(here: Setting, records: RecordSummary, schedule: Schedule, n0: int) -> Steps[int]:
    """[M2] A median; 0, or the end of the range nearest to it, if the data are too few."""
    if not schedule.has_centre:
        return min(max(0, here.lattice.first), here.lattice.last)
    law = here.purse.centre(
        records,
        here.lattice,
        bits=schedule.bits,
        level=subsample_level(n0),
        share=schedule.centre,
    )
    grid = FloatGrid(schedule.bits)

    def point(number: int) -> int:
        return min(max(grid.point(number), here.lattice.first), here.lattice.last)

    number = yield from draw("centre", law, lambda number: here.lattice.words(point(number)))
    return point(number)


def reach_from(lattice: Lattice, centre: int) -> int:
    """Widest radius of use around a centre."""
    return max(lattice.last - centre, centre - lattice.first)


def find_bounds(
    here: Setting,
    source: TailSummary | CellSummary | None,
    schedule: Schedule,
    centre: int,
    *,
    exact: bool = False,
) -> Steps[Bounds]:
    """[M3] The radii on both sides of the centre: disjoint records, one event.

    Parameters
    ----------
    source : TailSummary, CellSummary or None
        What counts the records outside; ``None``: one more pass does.
    exact : bool
        Whether the centre is a public point, and so no matter of its own grid.
    """
    lattice = here.lattice
    smallest = 1 if exact else max(1, abs(centre) >> schedule.bits)
    grid = RadiusGrid.between(smallest, reach_from(lattice, centre))
    upper = tuple(centre + r for r in grid.radii)
    lower = tuple(centre - r for r in grid.radii)
    if source is None:
        source = yield from need(here.ask(Cells(centre, grid.radii)))
    outside = (tuple(source.below_many(lower)), tuple(source.above_many(upper)))
    law = here.purse.radii(outside, grid, tilt=schedule.tilt, share=schedule.radii)

    def words(drawn: tuple[int, ...]) -> str:
        left, right = (lattice.words(grid.radii[each]) for each in drawn)
        return f"few records are more than {left} below the centre, or {right} above"

    left, right = yield from draw("radii", law, words)
    chosen = Outside(
        radii=(grid.radii[left], grid.radii[right]),
        widest=grid.radii[-1],
        candidates=len(grid.radii),
        eta=float(law.epsilon),
        power=float(schedule.power),
        widening=2 ** (schedule.widening / 2),
        selection=law.selection,
    )
    widest = len(grid.radii) - 1
    wide_left, wide_right = (min(i + schedule.widening, widest) if i else 0 for i in (left, right))
    return Bounds(
        max(lower[wide_left], lattice.first),
        min(upper[wide_right], lattice.last),
        chosen,
        outside[0][wide_left] + outside[1][wide_right],
    )


def count_outside(here: Setting, outside: Outside, elsewhere: int, n0: int) -> Steps[Outside]:
    """[M3] Count the records outside of the bounds, with noise: are there more than a tail has.

    A record is outside on one side at most, so their number has sensitivity 1. A wide table of
    counts may cap it at a public number, which keeps that.
    """
    strength = max(LOOK, 16 / expected_records(here.purse, n0))
    share = here.purse.share_for(strength, "noise")
    law = here.purse.noisy((elsewhere,), sensitivity=1, share=share)
    (found,) = yield from draw("records outside", law)
    return replace(outside, counted=found, noise=law.noise[0])


def count_away(here: Setting, elsewhere: int) -> Steps[tuple[int, NoisyTerm]]:
    """Count the records that do not have the value of all others, with all that is left.

    A record is away from it or not, so their number has sensitivity 1.
    """
    law = here.purse.noisy((elsewhere,), sensitivity=1, share=None)
    (found,) = yield from draw("records away from a single value", law)
    return found, NoisyTerm(law.noise[0], 1.0)


def rough_mean(here: Setting, bounds: Bounds, schedule: Schedule, first: Counted) -> Steps[Rough]:
    """[M4] Transformed noise (Kulesza et al. 2023, Algorithm 3): a mean and a second count.

    With p the true share and e1, e2 the noise, the noisy share is off by
    ((1 - p) e1 - p e2) / (s1 + s2), so by at most max(|e1|, |e2|) / (s1 + s2).
    """
    width = bounds.hi - bounds.lo
    clipped = yield from need(here.ask(ClippedSum(bounds.lo, bounds.hi)))
    left = clipped.total - bounds.lo * clipped.count
    pair = (left, clipped.count * width - left)
    law = here.purse.noisy(pair, sensitivity=width, share=schedule.rough)

    def mean_of(sums: tuple[int, ...]) -> int:
        share = Fraction(sums[0] * width, max(sums[0] + sums[1], 1))
        return bounds.lo + min(max(round(share), 0), width)

    s1, s2 = yield from draw("rough mean", law, lambda sums: here.lattice.words(mean_of(sums)))
    second = (NoisyTerm(law.noise[0], 1 / width),) * 2
    return Rough(
        mean_of((s1, s2)),
        _combined(first, Counted(Fraction(s1 + s2, width), second)),
        NoisyTerm(law.noise[0], width / max(s1 + s2, 1)),
    )


def _combined(first: Counted, second: Counted) -> Counted:
    """Mean of two counts weighted by their inverse variances, at least 1."""
    spread = [sum(term.variance for term in c.noise) for c in (first, second)]
    weight = Fraction(round(1024 * spread[1] / (spread[0] + spread[1])), 1024)
    noise = tuple(
        NoisyTerm(term.noise, term.factor * float(share))
        for counted, share in ((first, weight), (second, 1 - weight))
        for term in counted.noise
    )
    return Counted(max(Fraction(1), weight * first.value + (1 - weight) * second.value), noise)
