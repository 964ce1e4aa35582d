"""A trimmed or a winsorized mean and a radius around it, by the inverse sensitivity mechanism.

[T1] count   a noisy count says whether there are records enough;
[T2] point   near the mean, all lattice points of the range being possible: the further away,
             the more records would have to change;
[T3] radius  surely as large as the distance of the point from the mean, among geometrically
             growing ones: there are few of them, so sure is not far.

docs/proofs/trimmed_mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.level_sets import LevelScore
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.statistics.cut_levels import level_ends_of
from modicum.statistics.outside import NoisyTerm
from modicum.statistics.purse import Purse
from modicum.statistics.purses import open_purse
from modicum.statistics.trimmed_evidence import TrimmedEvidence
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.base import Integers
from modicum.summaries.order_statistics import Cuts

__all__ = ["LevelPlan", "trimmed_estimate"]

COUNT_SHARE = Fraction(1, 50)
POINT_SHARE = Fraction(7, 10)
RADIUS_SHARE = 1 - COUNT_SHARE - POINT_SHARE
NEGLIGIBLE = 40.0  # points at the cap together weigh at most e^-40 of all
RARE = 20.0  # radii at the cap, e^-20
MOST_LEVELS = 20_000


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """Public constants of one run, in records to change.

    Attributes
    ----------
    cap : int
        Cap of the point's length.
    aim : int
        Changes that reach about as far as the radius; 0 if none is drawn.
    radius_cap : int
        Cap of the radius' loss.
    length_bound : float
        With probability 95 % the point's length is no larger.
    """

    cap: int
    aim: int
    radius_cap: int
    length_bound: float

    @property
    def levels(self) -> int:
        """Level sets from which every law follows."""
        return max(self.cap, self.aim + self.radius_cap)

    @classmethod
    def of(cls, lattice: Lattice, purse: Purse, level: float | None) -> LevelPlan:
        """Compute them from public arguments.

        Raises
        ------
        InvalidArgument
            If the budget is so small that more than 20,000 level sets would be needed.
        """
        share = POINT_SHARE if level is not None else 1 - COUNT_SHARE
        points, unit = math.log(lattice.width + 1), 2 / float(purse.range_for(share))
        cap, bound = math.ceil((points + NEGLIGIBLE) * unit), (points + math.log(20)) * unit
        plan = cls(cap, 0, 0, bound)
        if level is not None:
            unit = 2 / float(purse.range_for(RADIUS_SHARE))
            radii = math.log(len(_radii(lattice.width).radii))
            aim = math.ceil((radii + math.log(1 / (1 - level))) * unit)
            plan = cls(cap, aim, max(aim, math.ceil((radii + RARE) * unit)), bound)
        if plan.levels > MOST_LEVELS:
            raise InvalidArgument(
                f"a trimmed mean for {float(purse.total):g} a row would need {plan.levels:,} "
                "level sets; it needs a larger budget"
            )
        return plan


def trimmed_estimate(
    column: str | None,
    lattice: Lattice,
    event: Event,
    *,
    trim: Fraction,
    winsorized: bool,
    level: float | None,
) -> Steps[Answer]:
    """Estimate the mean of the records between the floor(trim n) lowest and highest ones.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    trim : Fraction
        Share of the records beyond each cut, in (0, 1/2).
    winsorized : bool
        Whether the records beyond are moved to the nearest one between, or left out.
    level : float or None
        Confidence of the interval; ``None`` leaves its radius out.

    Raises
    ------
    InvalidArgument
        If the budget is too small for the level sets that are needed.
    """
    purse = open_purse(event)
    plan = LevelPlan.of(lattice, purse, level)
    cuts = yield from need(Ask(column, lattice, Cuts(trim, plan.levels)))
    lows, highs = level_ends_of(
        cuts, lattice.first, lattice.last, plan.levels, winsorized=winsorized
    )

    counting = purse.noisy((cuts.count,), sensitivity=1, share=COUNT_SHARE)  # [T1]
    (count,) = yield from draw("count", counting)
    law = purse.linear_level(  # [T2]
        (lows[: plan.cap], highs[: plan.cap]),
        lattice,
        share=POINT_SHARE if level is not None else None,
    )
    name = "winsorized mean" if winsorized else "trimmed mean"
    point = yield from draw(name, law, lattice.words)
    radius = None
    if level is not None:
        radii = _radii(max(lattice.last - point, point - lattice.first)).radii
        reached = np.maximum(highs - point, point - lows)
        chosen = yield from draw(  # [T3]
            "radius of the interval",
            _radius_law(reached, radii, plan, purse),
            lambda number: lattice.words(radii[number]),
        )
        radius = radii[chosen]
    evidence = TrimmedEvidence(
        lattice=lattice,
        trim=trim,
        winsorized=winsorized,
        point=point,
        radius=radius,
        level=level,
        count=count,
        count_noise=NoisyTerm(counting.noise[0], 1.0),
        length_bound=plan.length_bound,
    )
    return Answer(evidence.value, evidence, evidence.status)


def _radius_law(
    reached: Integers, radii: tuple[int, ...], plan: LevelPlan, purse: Purse
) -> Exponential[LevelScore]:
    """[T3] Number of the least radius that ``aim`` changes do not exceed, or about so.

    Every distance that k changes reach is rounded up to a radius: a public map, given the point.
    The loss of a radius is the distance of ``aim`` from the numbers of changes that reach it and
    no further.
    """
    numbers = np.searchsorted(np.array(radii), reached, side="left").astype(np.int64)
    aim, cap = plan.aim, plan.radius_cap
    lows = np.zeros(cap, dtype=np.int64)
    lows[:aim] = numbers[aim - 1 :: -1]
    return purse.level((lows, numbers[aim : aim + cap]), 0, len(radii) - 1, unit=1, share=None)


def _radii(largest: int) -> RadiusGrid:
    """Candidates for the radius: at most 2^(1/4) times as large as need be."""
    return RadiusGrid.between(1, largest, per_octave=4)
