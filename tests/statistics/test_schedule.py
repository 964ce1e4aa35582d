"""The division of the budget is exact, and the tail weight orders distributions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

from modicum.exact.lattice import Lattice
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.statistics.split import (
    Ranks,
    count_share,
    mean_schedule,
    subsample_level,
    sum_schedule,
    tail_weight,
)

LATTICE = Lattice.within((-1e9, 1e9))
STEPS = 2**21


@pytest.mark.parametrize(
    "event", [PureDP(Fraction(1)), PureDP(Fraction(1, 10)), ZCDP(Fraction(1, 2))]
)
@pytest.mark.parametrize("n0", [-100, 0, 1, 600, 10**4, 10**5, 10**9])
@pytest.mark.parametrize("clusters", ["clip", "keep"])
def test_shares_leave_most_for_the_final_sum(event, n0, clusters) -> None:
    split = BudgetSplit(event)
    for schedule in (
        mean_schedule(LATTICE, split, n0, clusters, shape=True),
        sum_schedule(LATTICE, split, n0, clusters),
    ):
        for weight in (0.0, 1.0, 3.0):
            adapted = schedule.for_tail(weight) if schedule.shape else schedule
            parts = (adapted.centre, adapted.shape, adapted.radii, adapted.rough)
            assert all(part.denominator <= 1024 and part >= 0 for part in parts)
            rest = 1 - count_share(split) - sum(parts)
            assert rest > Fraction(1, 10)
            if n0 >= 10**4 and event != PureDP(Fraction(1, 10)):
                assert rest > Fraction(13, 20)
            assert Fraction(5, 4) <= adapted.power <= 5


def test_a_centre_needs_about_five_hundred_records_per_unit_of_noise() -> None:
    split = BudgetSplit(PureDP(Fraction(1)))
    least = min(n for n in range(100, 2000) if mean_schedule(LATTICE, split, n, "clip").has_centre)
    assert 480 <= least <= 540


@pytest.mark.parametrize("event", [PureDP(Fraction(1)), ZCDP(Fraction(1, 2))], ids=str)
def test_many_records_leave_little_to_find_a_mean(event) -> None:
    """Each share falls with the number of records, and never below what its draw needs."""
    split, spans = BudgetSplit(event), []
    for n0 in (10**4, 10**5, 10**6, 10**10):
        lean = mean_schedule(LATTICE, split, n0, "clip", shape=True)
        fixed = mean_schedule(LATTICE, split, n0, "clip")
        spans.append(lean.centre + lean.shape + lean.rough)
        assert lean.centre + lean.rough <= fixed.centre + fixed.rough
        assert lean.bits == fixed.bits
        assert min(lean.centre, lean.rough) >= Fraction(1, 512)
        # The centre's median outweighs its grid: e^-16 is left of what is not in the bulk.
        strength = float(split.share(lean.centre).pure / split.scale)
        assert strength * (n0 - 150) / 2 > lean.bits * np.log(2) + 16
    assert spans == sorted(spans, reverse=True)
    assert spans[-1] < Fraction(1, 64)


def test_subsample_levels() -> None:
    assert [subsample_level(n) for n in (-5, 0, 2**14 - 1, 2**14, 2**15, 10**9)] == [
        0,
        0,
        0,
        1,
        2,
        16,
    ]
    for n in (2**14, 10**6, 10**12):
        assert 2**13 <= n >> subsample_level(n) < 2**14


def weight_of(mechanism, expected: float) -> float:
    """Tail weight from the exact radii of a distribution around its median."""
    median = mechanism.ppf(0.5)

    def radius(fraction: float) -> float:
        def excess(r: float) -> float:
            return mechanism.sf(median + r) + mechanism.cdf(median - r) - fraction

        return optimize.brentq(excess, 0, 1e9, xtol=1e-12)

    ranks = Ranks.of(expected)
    return tail_weight(
        round(radius(ranks.inner) * STEPS), round(radius(ranks.outer) * STEPS), ranks
    )


@pytest.mark.parametrize(
    ("mechanism", "weight"),
    [
        (stats.uniform(), 0.1),
        (stats.norm(), 0.5),
        (stats.expon(), 1.0),
        (stats.lognorm(0.9), 1.4),
        (stats.pareto(2.5), 1.7),
        (stats.pareto(1.5), 2.2),
        (stats.pareto(1.0), 3.0),
    ],
)
def test_the_tail_weight_of_well_known_shapes(mechanism, weight) -> None:
    assert weight_of(mechanism, 1e5) == pytest.approx(weight, abs=0.06)


def test_heavier_tails_get_flatter_priors_and_wider_radii() -> None:
    schedule = mean_schedule(LATTICE, BudgetSplit(PureDP(Fraction(1))), 10**5, "clip", shape=True)
    adapted = [schedule.for_tail(w) for w in np.linspace(-3, 5, 50)]
    for lighter, heavier in pairwise(adapted):
        assert lighter.power >= heavier.power
        assert lighter.radii <= heavier.radii
        assert lighter.widening <= heavier.widening
    assert (adapted[0].widening, adapted[-1].widening) == (0, 2)


def test_an_unknown_shape_changes_nothing() -> None:
    ranks = Ranks.of(1e5)
    schedule = mean_schedule(LATTICE, BudgetSplit(PureDP(Fraction(1))), 10**5, "clip", shape=True)
    assert schedule.for_tail(None) == schedule
    assert tail_weight(0, 5, ranks) is None
    assert tail_weight(5, 0, ranks) is None
    assert tail_weight(1, 2**21, ranks) is None  # coins: the inner radius may be any below 1
