"""Locations keep their claim at every draw, with any score; the printed forms do not."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import modicum as mo
from modicum import audit
from modicum import query as ask
from modicum.exact.lattice import Lattice
from modicum.mechanisms.base import SECRET
from modicum.mechanisms.exponential import Exponential, Runs, ScoreFunction
from modicum.mechanisms.level_sets import LevelScore
from modicum.privacy.budget import pure
from modicum.privacy.event import RangeDP
from modicum.research.papers.dick2023 import trim_plan
from modicum.statistics.robust import score_lengths
from modicum.statistics.robust.monotone_statistic import expectile_score
from modicum.statistics.robust.score_lengths import (
    PointMasses,
    ScoreLengths,
    ScoreTable,
    trimmed_by_rank,
)
from tests.audit.literal import mean_length, one_draw
from tests.statistics.robust.test_location import OwnMedian

NARROW = {"within": (-8, 8), "step": 1}
ABOVE = {"within": (4, 12), "step": 1}
FEW = audit.neighbours((-8, 1, 8), 2)
HIGH = audit.neighbours((4, 12), 3)
FALLING = mo.Score("falls", lambda v: np.where(np.abs(v) < 5, v, v - 3 * np.sign(v)), growth=1)

REQUESTS = {
    "expectile, ε": (ask.expectile(tau=0.9, **NARROW, epsilon=1), FEW),
    "expectile, ρ": (ask.expectile(tau=0.3, **ABOVE, rho="0.5"), HIGH),
    "expectile, no ends": (ask.expectile(tau=0.9, **NARROW, epsilon=3, level=None), FEW),
    "lp 1.5": (ask.lp_center(p=1.5, **NARROW, epsilon=1), FEW),
    "lp 3": (ask.lp_center(p=3, **NARROW, epsilon=1, level=None), FEW),
    "huber": (ask.huber(width=3, **NARROW, epsilon=1), FEW),
    "huber, ρ": (ask.huber(width=3, **NARROW, rho="0.5"), FEW),
    "huber, private width": (ask.huber(**NARROW, epsilon=1), FEW),
    "own boundaries": (ask.monotone_statistic(statistic=OwnMedian(), **NARROW, epsilon=1), FEW),
}


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.one_in(4)
def test_a_location_keeps_its_claim_at_every_draw(name) -> None:
    """Without a centre and with one, with coarse cells and fine ones, by the noisy count."""
    query, pairs = REQUESTS[name]
    report = audit.check(query, pairs, widths=(1, 2, 2, 2, 1, 1, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    for step in report.steps:
        # Few records are never far enough apart to bring an end's law near its claim.
        assert "end" in step.label or step.used > 0.4, (step.label, step.used)


OUTSIDE = {
    "count": ((4000,),),
    "centre": (7,),
    "tail": ((3,),),
    "radii": ((2, 1), (0, 0)),
    "records outside": ((0,), (3000,)),
    "records outside, again": ((0,), (3000,)),
    "records outside, home included": ((0,), (2900,)),
    "radii, again": ((3, 4), (0, 0)),
    "records beside a single value": ((0,), (3000,)),
}


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("level", [0.95, None])
def test_what_lies_outside_is_counted_within_the_claim(cost, level) -> None:
    """Bounds that are drawn again, or reach the home point, and a single value."""
    query = ask.expectile(tau=0.9, **ABOVE, **cost, level=level)
    report = audit.check(query, HIGH, values=OUTSIDE, widths=(0,) * 12 + (1,) * 4)
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert {"records outside, home included", "radii, again"} <= used.keys()
    assert {"records away from a single value", "tail", "location"} <= used.keys()
    for label in ("records outside", "records outside, again", "records beside a single value"):
        assert used[label] > 0.95, label


@pytest.mark.one_in(2)
@pytest.mark.parametrize("statistic", [mo.Score("mean", lambda v: v, growth=1), OwnMedian()])
def test_thresholds_trimming_and_a_value(statistic) -> None:
    """Algorithm 4, corrected: at this ε one record a side is trimmed, and the target rank is 1."""
    query = ask.monotone_statistic(
        statistic=statistic, **NARROW, epsilon=400, level=None, method="subset"
    )
    assert trim_plan(query.lattice, Fraction(400)).trimmed == 1
    assert trim_plan(query.lattice, Fraction(400)).target == 1
    report = audit.check(
        query,
        audit.neighbours((-8, 1, 8), 4),
        widths=(1, 2, 2, 1),
        values={"low threshold": (-8, 1), "high threshold, negated": (-8, -1)},
    )
    assert report.passed, report
    assert report.drawn == report.claimed
    assert all(step.used > 0.99 for step in report.steps[:3])
    assert report.steps[3].used > 0.2


def crowds(trimmed: int) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Neighbours of which few records, or none, are left after so many are deleted on each side."""
    pairs = []
    for n in (2 * trimmed, 2 * trimmed + 1, 2 * trimmed + 9):
        third, half = n // 3, n // 2
        for data in (
            (-8.0,) * half + (8.0,) * (n - half),
            (-8.0,) * third + (1.0,) * (n - 2 * third) + (8.0,) * third,
            tuple(float(x) for x in np.linspace(-8, 8, n).round()),
        ):
            pairs += [(data, tuple(sorted((*data, x)))) for x in (-8.0, 1.0, 8.0)]
    return pairs


def with_deletions(statistic) -> audit.AuditReport:
    """Audit a method that deletes four records a side, then those beyond any thresholds."""
    query = ask.monotone_statistic(
        statistic=statistic, **NARROW, epsilon=100, level=None, method="subset"
    )
    trimmed = trim_plan(query.lattice, Fraction(100)).trimmed
    assert trimmed == 4
    values = {
        "count": ((0,), (30,)),
        "low threshold": (-8, -3),
        "high threshold, negated": (-8, -5),
    }
    return audit.check(query, crowds(trimmed), widths=(0, 1, 1, 1), values=values)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("statistic", [mo.Score("mean", lambda v: v, growth=1), OwnMedian()])
def test_deletion_by_rank_leaves_records_between_the_thresholds(statistic) -> None:
    report = with_deletions(statistic)
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.steps[-1].used > 0.7  # 0.2 where all records are deleted


def test_records_moved_to_the_next_ones_in_place_of_deleted_break_the_claim(monkeypatch) -> None:
    """With one record more a whole block of them moves."""

    def moved(mass, cut):
        kept = trimmed_by_rank(mass, cut)
        there = np.flatnonzero(kept)
        if len(there):
            kept[there[0]] += cut
            kept[there[-1]] += cut
        return kept

    monkeypatch.setattr(score_lengths, "trimmed_by_rank", moved)
    report = with_deletions(mo.Score("mean", lambda v: v, growth=1))
    assert not report.passed
    assert report.steps[-1].used > 1.5


class Fails(OwnMedian):
    """On data of a size, or always (past the check, which would find it)."""

    def __init__(self, *, size: int | None, how: str) -> None:
        self.size, self.how = size, how

    def check(self, span: float) -> None:
        """Accept it."""

    def ends(self, places, counts, lo, hi, levels):
        lows, highs = super().ends(places, counts, lo, hi, levels)
        if self.size is not None and counts.sum() != self.size:
            return lows, highs
        if self.how == "raises":
            raise ZeroDivisionError
        return {"nan": (lows * np.nan, highs), "short": (lows[1:], highs), "text": "no"}[self.how]


@pytest.mark.parametrize("how", ["raises", "nan", "short", "text"])
def test_boundaries_that_always_fail_are_private(how) -> None:
    """All values are equally likely, whatever the data, at the full cost."""
    query = ask.monotone_statistic(
        statistic=Fails(size=None, how=how), **NARROW, epsilon=3, level=None
    )
    report = audit.check(query, FEW, widths=(1, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert {step.label: step.used for step in report.steps}["location"] == 0


@pytest.mark.parametrize("how", ["raises", "nan"])
def test_boundaries_that_fail_on_one_neighbour_only(how) -> None:
    """They break the promise by failing, which no fallback mends: the audit tells."""
    pairs = audit.neighbours((-8, 0, 8), 4)
    query = ask.monotone_statistic(
        statistic=Fails(size=4, how=how), **NARROW, epsilon=20, level=None
    )
    report = audit.check(query, pairs, widths=(1, 1))
    assert not report.passed
    assert {step.label: step.used for step in report.steps}["location"] > 1.2


def test_a_score_that_falls_is_private_all_the_same() -> None:
    """Past the check, which would refuse it: privacy does not hang on it."""
    row = mo.query.monotone_statistic(
        statistic=mo.Score("rises", lambda v: v, growth=1), **NARROW, epsilon=1, level=None
    )
    assert audit.check(row, FEW[:3], widths=(1,)).passed
    table = ScoreTable.of(FALLING.psi, 16, 1.0)
    t = np.arange(-8, 9)
    for data, more in audit.neighbours((-8, -3, 2, 8), 3):
        one, other = (_lengths(np.array(q, dtype=np.int64), table).at(t) for q in (data, more))
        assert np.abs(one - other).max() <= 1


def _lengths(q: NDArray[np.int64], table: ScoreTable, lo: int = -8, hi: int = 8) -> ScoreLengths:
    places, counts = np.unique(q, return_counts=True)
    return ScoreLengths(
        PointMasses(places, counts * ScoreLengths.parts(1), lo, hi, places), table, 100
    )


def _law(q: NDArray[np.int64], weight: int) -> Exponential[LevelScore]:
    """The value's law on single integers, with exp(-weight ε len / 2)."""
    span, t = 16, np.arange(-8, 9)
    found = _lengths(q, ScoreTable.of(expectile_score(0.5).psi, span, 1.0)).at(t)
    levels = np.arange(100)
    lows = np.searchsorted(found, -levels, side="left") - 8
    highs = np.searchsorted(found, levels, side="right") - 9
    one = Fraction(1)
    return Exponential(LevelScore(lows, highs, -8, 8), weight * one, RangeDP(one))


def test_a_value_without_the_factor_of_two() -> None:
    """Asi and Duchi 2020 have ε/2: without it a draw is a bounded range of more than ε."""
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 4)
    assert audit.check(one_draw(lambda q: _law(q, 1), lattice, pure(1)), pairs).passed
    literal = audit.check(one_draw(lambda q: _law(q, 2), lattice, pure(1)), pairs)
    assert not literal.passed
    assert literal.steps[0].used > 1.3


@dataclass(frozen=True, slots=True, eq=False)
class ShiftedEnds(ScoreFunction):
    """Dick et al. 2023, Algorithm 4, steps 5 to 7, for given thresholds 0 and 4 and a mean.

    As printed the m lowest and highest records are moved outwards by one step before all beyond
    the thresholds are pruned; ``trim`` deletes them by rank instead.
    """

    mechanism = "ShiftedEnds"
    span = 2

    data: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    trim: bool
    m: int = 1

    def kept(self) -> NDArray[np.int64]:
        y, n = np.sort(self.data), len(self.data)
        if self.trim:
            y = y[self.m : max(n - self.m, self.m)]
        else:
            y = np.concatenate([y[: self.m] - 1, y[self.m : n - self.m], y[n - self.m :] + 1])
        return y[(y >= 0) & (y <= 4)]

    def runs(self, rate: Fraction) -> Runs:
        points = np.arange(0, 9)
        kept = self.kept()
        losses = [mean_length(kept, Fraction(int(k), 2), 0, 4) for k in points]
        return Runs(points, np.ones(9, dtype=np.int64), np.array(losses))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1", "40"])
def test_moving_the_ends_outwards_before_pruning(epsilon) -> None:
    """One record more changes up to three of those that stay: 1.5 times the claim of the stage."""
    lattice, cost = Lattice(-1.0, 5.0, 1.0), pure(epsilon)
    pairs = [
        (data, more)
        for data, more in audit.neighbours((-1, 0, 3, 4), 7)
        if len(data) > 3  # shifted ends that overlap have no meaning
    ]

    def mechanism(*, trim: bool):
        return lambda q: Exponential(ShiftedEnds(q, trim), cost.amount)

    literal = audit.check(one_draw(mechanism(trim=False), lattice, cost), pairs)
    assert not literal.passed
    assert literal.used > 1.2
    trimmed = audit.check(one_draw(mechanism(trim=True), lattice, cost), pairs)
    assert trimmed.passed, trimmed
    assert math.isfinite(trimmed.worst)
