"""What clipping takes off a sum or a mean, from counts of the records near the bounds.

Those within a bound are many, and say whether a thin tail reaches it, and so goes on. Those beyond
are few, so that their noisy number says little; but where much is lost, it is large more often. An
allowance is a number of radii over ε, for each side by itself. It is calibrated on public columns,
and assumes no law of their tails: docs/research/proofs/window.md says on which, and what the others
showed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from modicum.mechanisms.additive import add_noise
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw
from modicum.statistics.tails.tail_index import USUAL, tail_in_words
from modicum.stored.codec import storable
from modicum.summaries.sums import BinCounts, BinSummary

SHARES = (1, 2, 4)  # of the radius are the ends of what is counted


class Allowances(NamedTuple):
    """Powers of the radius that may be missing from a sum of powers, per unit of noise.

    ``unseen``: without counts, of records too few for them. ``thin``: where a thin tail reaches the
    bound, and so goes on; ``usual``: elsewhere. ``beyond``: more for each record beyond it.
    """

    unseen: float
    thin: float
    usual: float
    beyond: float


@dataclass(frozen=True, slots=True)
class RingTuning:
    """Counts are in records per unit of noise."""

    begin: float = 500.0
    """Records per unit of noise from which on they are drawn."""
    left: Fraction = Fraction(1, 8)
    """Part of the budget that has to be left for them and the last draw."""
    strength: float = 0.07
    """Of the vector of counts."""
    thin: tuple[tuple[float, float, float], ...] = ((40.0, 400.0, 0.1), (40.0, 500.0, 0.2))
    """So many to so many between a quarter of the bound and the bound are a thin tail, if fewer
    than that part of all: for a sum, and for a sum of squares."""
    beyond: float = 12.0
    """So many beyond the bound are taken for noise."""
    allowances: tuple[Allowances, Allowances] = (
        Allowances(30.0, 32.0, 1.5, 3.0),
        Allowances(80.0, 48.0, 6.0, 6.0),
    )
    """Of a sum, and of a sum of squares, or of cubes."""
    alarm: float = 0.01
    """Where nothing lies beyond the bounds, half as many counts of a side say that a group does."""


RINGS = RingTuning()


def usual_index(order: int) -> float:
    """Return the index that allowances are for, of a sum of powers: with it a mean power exists."""
    return max(USUAL, order + 1.0)


@storable
@dataclass(frozen=True, slots=True)
class Rings:
    """Noisy numbers of records near the bounds of both sides.

    ``counts`` are, on the left and on the right, those between a quarter and a half of the radius
    from the centre, between a half and the whole, and beyond; none if they were not drawn.
    ``every`` is a number of all records. All are in units of the noise, of which one is 1 /
    ``scale`` records. ``group`` is how many seem to be beyond, if noise does not explain them. The
    allowance is the ``least`` or more, where other numbers tell of a heavy tail.
    """

    counts: tuple[tuple[float, float, float], ...]
    every: float
    scale: float
    group: int = 0
    least: float = 0.0

    def excess(self, side: int, tail: float, order: int = 1) -> float:
        """Powers of the radius that may be clipped on a side, if beyond it a tail has an index."""
        if tail <= order:
            return math.inf
        allowances, usual = RINGS.allowances[order > 1], usual_index(order)
        allowed = allowances.unseen
        if self.counts:
            allowed = allowances.thin if self._thin(side, order) else allowances.usual
            allowed += allowances.beyond * max(self.counts[side][2] - RINGS.beyond, 0.0)
        return max(allowed, self.least) / self.scale * (usual - order) / (tail - order)

    def thin(self, order: int) -> bool:
        """Whether a tail that is thin for a sum of powers reaches a bound, and so goes on."""
        return self._thin(0, order) or self._thin(1, order)

    def in_words(self, tail: float, order: int = 1) -> str:
        """Say what an interval assumes, and what was seen of the tail."""
        times = (usual_index(order) - order) / (tail - order)
        most = f"up to {'' if times == 1 else f'{times:.2g} times '}what public tables lost"
        if not self.counts:
            return tail_in_words(tail, f"{most} of so few rows")
        numbers = [f"{max(sum(side[:2]) / self.scale, 0):,.0f}" for side in self.counts]
        return tail_in_words(
            tail,
            f"{most} that look alike near their bounds",
            f"About {numbers[0]} records are near the lower bound, {numbers[1]} near the upper.",
        )

    def _thin(self, side: int, order: int) -> bool:
        if not self.counts:
            return False
        inside, (least, less, part) = sum(self.counts[side][:2]), RINGS.thin[order > 1]
        return least <= inside < min(less, part * self.every)


NOT_COUNTED = Rings((), 0.0, 1.0)


def not_counted(split: BudgetSplit) -> Rings:
    """What is said without counts, in units of the noise of a budget."""
    return replace(NOT_COUNTED, scale=float(split.scale))


def ring_edges(centre: int, radii: tuple[int, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lattice integers on both sides of a centre from which on records are further out.

    They are the bound, a half and a quarter of the way to it: on the left the first integers that
    are not further out, on the right the first that are.
    """
    left, right = radii
    return (
        tuple(centre - left // share for share in SHARES),
        tuple(centre + right // share + 1 for share in SHARES),
    )


def ring_bins(centre: int, radii: tuple[int, int]) -> BinCounts:
    """Ask for the numbers of records between all of them."""
    left, right = ring_edges(centre, radii)
    return BinCounts(tuple(sorted({*left, *right})))


def draw_rings(
    split: BudgetSplit, bins: BinSummary, centre: int, radii: tuple[int, int], number: int
) -> Steps[Rings]:
    """Draw the numbers of records near the bounds at these radii, disjoint: one vector."""
    below = dict(zip(bins.edges, accumulate(bins.counts), strict=False))
    left, right = ring_edges(centre, radii)
    beyond = [below[edge] for edge in left], [sum(bins.counts) - below[edge] for edge in right]
    exact = [each for a, b, c in beyond for each in (c - b, b - a, a)]
    share = split.share(split.part_for(RINGS.strength, "noise"))
    mechanism = split.spend(add_noise(tuple(exact), share, sensitivity=1))
    found = yield from draw("records near the bounds", mechanism)
    scale = float(split.scale)
    most = mechanism.noise[0].tail_bound(RINGS.alarm)
    group = sum(count for count in (found[2], found[5]) if count > most)
    sides = tuple((a * scale, b * scale, c * scale) for a, b, c in (found[:3], found[3:]))
    return Rings(sides, number * scale, scale, group)
