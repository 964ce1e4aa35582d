"""What a quantile and the distance of two quantiles share: constants, mechanisms, ends, warnings.

Labels are those of docs/proofs/quantile.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential, OctavePrior
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.quantile_tree import NEGLIGIBLE
from modicum.mechanisms.scores import RankScore
from modicum.privacy.split import BudgetSplit, Share
from modicum.runtime.steps import Steps, draw
from modicum.statistics.outside import NoisyTerm
from modicum.status import Status, unseen
from modicum.summaries.order_statistics import WindowSummary

COUNT_SHARE = Fraction(1, 50)
POINT_SHARE = Fraction(7, 10)
END_SHARE = (1 - COUNT_SHARE - POINT_SHARE) / 2
SELDOM = Fraction(1, 4)  # shares of the data beyond a quantile for which a centre may be of use
MOST_CENTRE = Fraction(1, 4)  # no centre takes more
POWER = Fraction(3)  # of the prior, r^-power in the distance from the centre
ATOM = 24  # cells that the centre is nearer: 2^9 times its weight, where nearly all records are it
GIVE_UP = 4.0  # with few records known, an end is the range's without need once in e^4
MOST_KEPT = 1 << 22  # ranks on each side of q n: 64 MB
TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: the answer may lie beyond all records; "
    "narrow `within` or spend more",
)


@dataclass(frozen=True, slots=True)
class RankPlan:
    """Public constants of one run, in ranks.

    Attributes
    ----------
    cap, far_cap, end_cap : int
        Caps of the loss of the point, of the point with a prior, and of an end.
    shift : int
        Ranks from q n to the target of an end, if there are enough records beyond; 0 if no ends
        are drawn.
    give_up : int
        With few records, further ranks, and the loss of the range's end.
    alpha : float
        Probability that the count, or an end, is not what it claims; a tenth is the count's.
    """

    cap: int
    far_cap: int
    end_cap: int
    shift: int
    give_up: int
    alpha: float

    @property
    def reach(self) -> int:
        """Ranks on each side of q n on which every draw depends."""
        return max(self.cap, self.far_cap, self.end_cap + self.shift + self.give_up)

    def drawn_ends(self, q: Fraction, count: int) -> tuple[bool, bool]:
        """Whether the lower and the upper end are drawn, given the noisy count.

        With less than half of the records that an end needs, it would be the range's anyhow.
        """
        if not self.shift:
            return False, False
        return 2 * q * count >= self.shift, 2 * (1 - q) * count >= self.shift

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        split: BudgetSplit,
        q: Fraction,
        level: float | None,
        part: Fraction = Fraction(1),
    ) -> RankPlan:
        """[quantile.11], [quantile.12], [quantile.13] For part of a budget, from public numbers.

        A budget for which more than 4 million ranks a side would be kept is refused.
        """
        unit = 2 * float(max(q, 1 - q))
        points = math.log(lattice.width + 1)
        share = part * (POINT_SHARE if level is not None else 1 - COUNT_SHARE)
        cap = math.ceil((points + NEGLIGIBLE) * unit / float(split.share(share).range))
        far_cap = cap
        if min(q, 1 - q) < SELDOM:
            least = float(split.share(share - part * MOST_CENTRE).range)
            nats = points + NEGLIGIBLE + OctavePrior(0, POWER, ATOM).log_cost(lattice.width)
            far_cap = math.ceil(nats * unit / least)
        plan = cls(cap, far_cap, 0, 0, 0, 0.05)
        if level is not None:
            alpha, rank = 1 - level, unit / float(split.share(part * END_SHARE).range)
            ends = math.log(len(distances(lattice.width).radii))
            plan = cls(
                cap,
                far_cap,
                math.ceil((ends + NEGLIGIBLE) * rank),
                math.ceil((ends + math.log(1 / (0.45 * alpha))) * rank),
                math.ceil(GIVE_UP * rank),
                alpha,
            )
        if plan.reach > MOST_KEPT:
            raise InvalidArgument(
                f"a quantile of {float(split.total):g} a row would keep {2 * plan.reach:,} "
                "records; it needs a larger budget"
            )
        return plan


@dataclass(frozen=True, slots=True)
class RankSetting:
    """What the draws of one run refer to; ``part`` is the share of the budget for this quantile."""

    lattice: Lattice
    split: BudgetSplit
    plan: RankPlan
    part: Fraction

    def mechanism(
        self, window: WindowSummary, share: Share, prior: OctavePrior | None = None
    ) -> Exponential[RankScore]:
        """The mechanism of the quantile: all lattice points of the range, by rank."""
        score = RankScore(
            window.values,
            window.below,
            window.count,
            self.lattice.first,
            self.lattice.last,
            window.q,
            shift=0,
            cap=self.plan.cap if prior is None else self.plan.far_cap,
            edge=None,
            prior=prior,
        )
        return self.split.spend(Exponential(score, *share.ranged))


class RankErrorModel:
    """What the error models of a quantile, and of the distance of two, share."""

    __slots__ = ()

    count: int
    count_noise: NoisyTerm
    rank_bound: float
    level: float | None

    @property
    def none_seen(self) -> bool:
        return unseen(self.count, self.count_noise.bound(0.1))

    def scarce(self, rare: Fraction) -> bool:
        """Whether a share of the records may be less than a point misses its rank by."""
        return (self.count - self.count_noise.bound(0.05)) * float(rare) < self.rank_bound

    def _numbers(self) -> dict[str, object]:
        return {
            "count": self.count,
            "count_noise_sd": self.count_noise.variance**0.5,
            "rank_bound": self.rank_bound,
            "drawn_level": self.level,
        }


def both_ends(
    here: RankSetting,
    window: WindowSummary,
    point: int,
    *,
    least: float,
    drawn: tuple[bool, bool],
    last: bool,
    name: str = "",
) -> Steps[tuple[int, int]]:
    """[quantile.4] Draw the lower and the upper end if ``drawn``; others are those of the range.

    ``point`` is the released quantile, and the number of records is at least ``least``. ``last``:
    the last end gets all that is left. ``name`` begins the labels.
    """
    lower, upper = here.lattice.first, here.lattice.last
    share = here.split.share(here.part * END_SHARE)
    if drawn[0]:  # the upper end of the negated records
        whole = here.split.rest() if last and not drawn[1] else share
        mirrored = window.mirrored()
        label = f"{name}lower end"
        negated = yield from _upper_end(here, mirrored, -point, least, whole, label, sign=-1)
        lower = -negated
    if drawn[1]:
        whole = here.split.rest() if last else share
        label = f"{name}upper end"
        upper = yield from _upper_end(here, window, point, least, whole, label, sign=1)
    return lower, upper


def _upper_end(
    here: RankSetting,
    window: WindowSummary,
    point: int,
    least: float,
    share: Share,
    label: str,
    *,
    sign: int,
) -> Steps[int]:
    """[quantile.4] Least of the ends point + r with about q n + shift records up to it or more."""
    plan = here.plan
    furthest = here.lattice.last if sign > 0 else -here.lattice.first
    radii = distances(furthest - point).radii
    # A record is moved up to the next end: a public map, record by record.
    numbers = np.searchsorted(np.array(radii), window.values - point, side="left")
    enough = float(1 - window.q) * least >= plan.shift
    score = RankScore(
        numbers,
        window.below,
        window.count,
        0,
        len(radii) - 1,
        window.q,
        shift=plan.shift if enough else plan.shift + plan.give_up,
        cap=plan.end_cap,
        edge=None if enough else plan.give_up,
    )
    mechanism = here.split.spend(Exponential(score, *share.ranged))

    def end(number: int) -> int:
        return min(point + radii[number], furthest)

    number = yield from draw(
        label, mechanism, lambda number: here.lattice.words(sign * end(number))
    )
    return end(number)


def distances(largest: int) -> RadiusGrid:
    """Candidates for the distance of an end: at most 2^(1/4) times as far as need be."""
    return RadiusGrid.between(1, largest, per_octave=4)


def rank_error(run: Any) -> float:
    """Expect the distance of a quantile's draw from its middle, for a plan."""
    mechanism = run.mechanisms["quantile"]
    score = mechanism.score
    truth = middle(score.values, score.below, score.q * score.count)
    runs = mechanism.runs()
    weights = runs.lengths * np.exp(-float(mechanism.rate) * (runs.losses - runs.losses.min()))
    # A stretch is uniform on its integers; one that holds the truth is cut there.
    left = np.maximum(truth - runs.starts, 0).astype(np.float64)
    right = np.maximum(runs.starts + runs.lengths - 1 - truth, 0).astype(np.float64)
    span = np.maximum(runs.lengths - 1, 1)
    inside = (left > 0) & (right > 0)
    outside = np.maximum(left, right) - (runs.lengths - 1) / 2
    distance = np.where(inside, (left**2 + right**2) / (2 * span), outside)
    return float(weights @ distance / weights.sum()) * float(run.lattice.step)


def middle(values: NDArray[np.int64], below: int, rank: Fraction) -> int:
    """Between the lowest and the highest record that are a quantile."""
    ends = (math.ceil(rank) - 1, math.floor(rank))
    places = [min(max(end - below, 0), len(values) - 1) for end in ends]
    return sum(int(values[place]) for place in places) // 2
