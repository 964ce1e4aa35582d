"""Every law of the library as a function of the records and of one cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, gaussian, laplace
from modicum.mechanisms.base import Mechanism
from modicum.mechanisms.exponential import Exponential, OctavePrior
from modicum.mechanisms.grids import FloatGrid, IntervalGrid, RadiusGrid
from modicum.mechanisms.level_sets import LevelScore, LinearLevelMechanism
from modicum.mechanisms.scores import (
    EndsScore,
    IntervalScore,
    LossScore,
    MedianCellScore,
    MedianScore,
    RankScore,
    ReachScore,
    TargetScore,
    ThresholdScore,
    TopCellScore,
    TopScore,
)
from modicum.mechanisms.selection import RadiusDraw, RadiusRanks, Selection
from modicum.mechanisms.staircase import StaircaseNoise, staircase
from modicum.mechanisms.subsampled import Subsampled, amplified
from modicum.mechanisms.windows import WindowGrid, WindowScore
from modicum.privacy.event import Event, PureDP, RangeDP
from modicum.research.papers.kulesza2023 import independent, shifted, transformed
from modicum.statistics.robust.trimmed import level_ends_of
from modicum.summaries.cells import SpreadCounts, cell_numbers
from modicum.summaries.order_statistics import TrimPoints, TrimSummary

LATTICE = Lattice(-8.0, 8.0, 1.0)
TILT = Fraction(1, 4)

Records = NDArray[np.int64]
LawOf = Callable[[Records, Fraction], Mechanism]


@dataclass(frozen=True, slots=True)
class Members:
    """Records for a subsampled law, in a test."""

    records: Records

    def all(self) -> Records:
        return self.records

    def thin(self, level: int, entropy: Entropy) -> Records:
        kept = [entropy.bits(level) == 0 for _ in self.records]
        return self.records[np.array(kept, dtype=bool)]


def _radii(selection: Selection) -> LawOf:
    def mechanism(q: Records, e: Fraction) -> Mechanism:
        grid = RadiusGrid.between(1, 16)
        outside = tuple(tuple(int((s * q > r).sum()) for r in grid.radii) for s in (-1, 1))
        return RadiusDraw(outside, grid, e, TILT, selection)

    return mechanism


def _bent_radii(q: Records, e: Fraction) -> Mechanism:
    """The prior beyond a radius of 4 is a third as steep."""
    grid = RadiusGrid.between(1, 16, per_octave=8).bent(4, Fraction(1, 3))
    outside = tuple(tuple(int((s * q > r).sum()) for r in grid.radii) for s in (-1, 1))
    return RadiusDraw(outside, grid, e, TILT, "flip")


def median_template(
    grid: FloatGrid, first: int, last: int, epsilon: Fraction
) -> Exponential[MedianScore]:
    """The law of a median over no records."""
    return Exponential(MedianScore(np.empty(0, dtype=np.int64), grid, first, last), epsilon)


def _centre(q: Records, e: Fraction) -> Mechanism:
    return median_template(FloatGrid(2), -8, 8, e).over(q)


def _ranks(q: Records, e: Fraction) -> Mechanism:
    """Of records at 1, all radii but the widest have the wanted rank; one more at 8 gives it."""
    grid = RadiusGrid.between(1, 13, per_octave=4)
    tilts = (Fraction(1, 64), Fraction(1, 64))
    return RadiusRanks(np.sort(q + 12), -12, grid, (1, 1), tilts, e / 2)


def rank_law(
    q: Records,
    e: Fraction,
    which: Fraction,
    shift: int = 0,
    prior: OctavePrior | None = None,
) -> Exponential[RankScore]:
    """A quantile's law with all records at hand."""
    score = RankScore(np.sort(q), 0, len(q), -8, 8, which, shift, 9, prior)
    return Exponential(score, e)


def ends_law(q: Records, e: Fraction, which: Fraction, near: int = 16) -> Exponential[EndsScore]:
    """Both ends of an interval about -1."""
    records = (np.sort(q), 0, len(q))
    score = EndsScore.about(-1, records, which, shift=1, cap=9, reach=(7, 9), near=near)
    return Exponential(score, e)


def _subsampled_ranks(q: Records, e: Fraction) -> Mechanism:
    inner = amplified(e, 2)
    return Subsampled(Members(q), _ranks(np.empty(0, dtype=np.int64), inner), 2, PureDP(e))


@dataclass(frozen=True, slots=True)
class CountLaw:
    """A noisy count of any records: the law whose amplification is tight."""

    epsilon: Fraction

    @property
    def event(self) -> Event:
        return PureDP(self.epsilon)

    def over(self, q: Records) -> Mechanism:
        return laplace((len(q),), l1=1, epsilon=self.epsilon)

    def public(self) -> dict[str, object]:
        return {"epsilon": self.epsilon}


def _subsampled_count(q: Records, e: Fraction) -> Mechanism:
    return Subsampled(Members(q), CountLaw(amplified(e, 2)), 2, PureDP(e))


def _subsampled_centre(q: Records, e: Fraction) -> Mechanism:
    template = median_template(FloatGrid(2), -8, 8, amplified(e, 2))
    return Subsampled(Members(q), template, 2, PureDP(e))


def trimmed_levels(q: Records, share: Fraction = Fraction(1, 4)) -> tuple[Records, Records]:
    """Level sets of a trimmed mean."""
    asked = TrimPoints(share, 9)
    cuts, ordered = asked.points(len(q)), np.sort(q)
    low, high = (ordered[max(0, cut - 9) : cut + 9] for cut in cuts)
    middle = int(ordered[cuts[0] : cuts[1]].sum())
    summary = TrimSummary(len(q), low, high, middle, share, 9)
    return level_ends_of(summary, -8, 8, 9, winsorized=False)


def _interval(q: Records, e: Fraction) -> Mechanism:
    summary = SpreadCounts().begin(LATTICE)
    summary.update(q[:, None].astype(np.float64))
    grid = IntervalGrid.of(LATTICE)
    below = summary.finish().below(0, cell_numbers(grid.ends()))
    scores = grid.scores(np.diff(below, axis=1))
    return Exponential(IntervalScore(scores, grid, 1), e)


def windows(q: Records, e: Fraction) -> Exponential[WindowScore]:
    """The law of a window, of records as they are."""
    score = WindowScore(np.empty(0), WindowGrid(-1, 4, 4), 1, 1, 0)
    return Exponential(score.over(KEYS.quantise(q.astype(np.float64))), e)


def _subsampled_windows(q: Records, e: Fraction) -> Mechanism:
    template = windows(np.empty(0, dtype=np.int64), amplified(e, 2))
    return Subsampled(Members(KEYS.quantise(q.astype(np.float64))), template, 2, PureDP(e))


def _beyond(q: Records, e: Fraction) -> Mechanism:
    counts = tuple(int((q > k).sum()) for k in (-9, 0, 4))
    return Exponential(TargetScore(counts, 1), e)


def _reach(q: Records, e: Fraction) -> Mechanism:
    within = tuple(int((q <= k).sum()) for k in (-8, 1, 8))
    return Exponential(ReachScore(within, 1, Fraction(1, 5), 1 << 10), e)


def _cell_counts(q: Records) -> tuple[int, ...]:
    """Records in cells of four integers."""
    return tuple(int((q // 4 == cell).sum()) for cell in range(-2, 3))


def _top_cell(q: Records, e: Fraction) -> Mechanism:
    beyond = tuple(max(int((q // 4 > cell).sum()) - 1, 0) for cell in range(-2, 3))
    return Exponential(TopCellScore(beyond, (Fraction(1, 3), Fraction(1, 5)), 2), e)


def _least_loss(q: Records, e: Fraction) -> Mechanism:
    """Squared distances from four places, cut off at 9: the best one is a capped mean."""
    places = np.array([0, -8, 3, 8])
    losses = np.minimum((q[:, None] - places) ** 2, 9).sum(axis=0)
    return Exponential(LossScore(losses, 9, 3), e)


def _weighted(q: Records, e: Fraction) -> Mechanism:
    """Sum and number of records, the number with an eighth of the noise."""
    return laplace((int(q.sum()), len(q)), l1=16, epsilon=e, weights=(1, 8))


LAWS: dict[str, LawOf] = {
    "laplace": lambda q, e: laplace((int(q.sum()),), l1=8, epsilon=e),
    "gaussian": lambda q, e: gaussian((int(q.sum()),), l2=8, rho=e**2 / 2),
    "independent": lambda q, e: independent(int(q.sum()), len(q), lo=-8, hi=8, epsilon=e),
    "shifted": lambda q, e: shifted(int(q.sum()), len(q), lo=-8, hi=8, epsilon=e),
    "transformed": lambda q, e: transformed(int(q.sum()), len(q), lo=-8, hi=8, epsilon=e),
    "staircase": lambda q, e: staircase((int(q.sum()),), l1=8, epsilon=e),
    "staircase of one": lambda q, e: Additive(
        (int(q.sum()),), (StaircaseNoise.of(8, e),), PureDP(e)
    ),
    "staircase of a pair": lambda q, e: staircase(
        (int((q + 8).sum()), int((8 - q).sum())), l1=16, epsilon=e
    ),
    "centre": _centre,
    "threshold": lambda q, e: Exponential(ThresholdScore(np.sort(q), -8, 8, 1, 3), e),
    "median": lambda q, e: rank_law(q, e, Fraction(1, 2)),
    "quantile": lambda q, e: rank_law(q, e, Fraction(1, 3)),
    "quantile with a shift": lambda q, e: rank_law(q, e, Fraction(2, 3), 1),
    "ends of a median": lambda q, e: ends_law(q, e, Fraction(1, 2)),
    "ends of a quantile": lambda q, e: ends_law(q, e, Fraction(1, 3), 3),
    "quantile with a prior": lambda q, e: rank_law(
        q, e, Fraction(3, 4), prior=OctavePrior(2, Fraction(3))
    ),
    "top": lambda q, e: Exponential(TopScore(np.sort(q), -8, 25, OctavePrior(0, Fraction(8))), e),
    "levels": lambda q, e: Exponential(LevelScore(*trimmed_levels(q), -8, 8), e),
    "linear levels": lambda q, e: LinearLevelMechanism(*trimmed_levels(q), -8, 8, e, RangeDP(e)),
    "interval": _interval,
    "windows": windows,
    "subsampled windows": _subsampled_windows,
    "beyond": _beyond,
    "reach": _reach,
    "median cell": lambda q, e: Exponential(MedianCellScore(_cell_counts(q)), e),
    "top cell": _top_cell,
    "least loss": _least_loss,
    "weighted laplace": _weighted,
    "radii by flip": _radii("flip"),
    "radii by exponential": _radii("exponential"),
    "radii of two priors": _bent_radii,
    "ranks": _ranks,
    "subsampled ranks": _subsampled_ranks,
    "subsampled count": _subsampled_count,
    "subsampled centre": _subsampled_centre,
}
