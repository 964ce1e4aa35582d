"""The audit catches the papers' printed forms that are not private, and passes the right ones."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from modicum import audit
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, laplace
from modicum.mechanisms.exponential import Exponential, OctavePrior
from modicum.mechanisms.level_sets import LevelScore, LinearLevelMechanism
from modicum.mechanisms.scores import ThresholdScore, TopScore
from modicum.mechanisms.staircase import staircase
from modicum.privacy.budget import pure
from modicum.privacy.event import Event, PureDP, RangeDP
from modicum.research.papers.kulesza2023 import transformed
from tests.audit.cases import LATTICE, rank_law, trimmed_levels
from tests.audit.literal import (
    LiteralThreshold,
    StaircaseNoise,
    Understated,
    inverse_sensitivity,
    length_law,
    one_draw,
)
from tests.reference.swap import length as exchanges
from tests.reference.swap import literal_length


@pytest.mark.parametrize(
    ("n", "epsilon", "R", "gamma", "nats"),
    [
        (200, 1.0, 1e2, 0.1, 69.58),
        (1000, 1.0, 1e6, 1.0, 450.95),
        (1000, 0.5, 1e6, 1.0, 201.39),
        (10_000, 0.1, 1e9, 1.0, 432.08),
    ],
)
def test_a_window_that_shrinks_with_the_data(n, epsilon, R, gamma, nats) -> None:
    """Dick et al. 2023, Algorithm 3: alpha = gamma / |D|; n zeros against n + 1."""
    query = one_draw(
        lambda q: LiteralThreshold(q.astype(float), R, gamma, epsilon), LATTICE, pure(epsilon)
    )
    report = audit.joint_loss(query, np.zeros(n), np.zeros(n + 1))
    assert not report.passed
    assert report.worst == pytest.approx(nats, abs=0.01)
    # The ring between the two windows is that likely.
    mechanism = LiteralThreshold(np.zeros(n), R, gamma, epsilon)
    ring = 2 * (mechanism.alpha - replace(mechanism, data=np.zeros(n + 1)).alpha)
    inside = math.exp(mechanism.log_density(mechanism.alpha * (1 - 1e-9)))
    assert ring * inside == pytest.approx(1 / (n + 1), rel=0.01)


def test_the_same_on_a_public_grid() -> None:
    """A public lattice in place of the window, and a public rank: at most epsilon."""
    query = one_draw(
        lambda q: Exponential(ThresholdScore(np.sort(q), -8, 8, 61, 200), Fraction(1)),
        LATTICE,
        pure(1),
    )
    assert audit.joint_loss(query, np.zeros(200), np.zeros(201)).passed


@pytest.mark.parametrize("R", [8, 100])
def test_a_sum_that_is_not_clipped(R) -> None:
    """Algorithm 1 inside Algorithm 3: noise on the scale of [l, u] = [-1, 1], data up to R."""
    lattice = Lattice(-float(R), float(R), 1.0)

    def literal(q: np.ndarray) -> Additive:
        return laplace((int(q.sum()),), l1=2, epsilon=Fraction(1))

    def clipped(q: np.ndarray) -> Additive:
        c = q.clip(-1, 1)
        return transformed(int(c.sum()), len(c), lo=-1, hi=1, epsilon=Fraction(1))

    pairs = audit.neighbours((-R, 0, R), 2)
    report = audit.check(one_draw(literal, lattice, pure(1)), pairs)
    assert report.worst == pytest.approx(R / 2)
    assert not report.passed
    assert audit.check(one_draw(clipped, lattice, pure(1)), pairs).passed


@pytest.mark.parametrize(("statistic", "nats"), [("mean", 1.885), ("median", 1.672)])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_an_inverse_sensitivity_without_epsilon(statistic, nats, epsilon) -> None:
    """Algorithm 5 prints exp(-len): nearly 2 nats, whatever epsilon is claimed."""
    pairs = audit.neighbours((0, 1, 2, 3), 5)
    lattice = Lattice(0.0, 3.0, 1.0)
    cost = pure(epsilon)

    def mechanism(weight: Fraction):
        return lambda q: inverse_sensitivity(q, 0, 3, weight, statistic, PureDP(cost.amount))

    literal = audit.check(one_draw(mechanism(Fraction(1)), lattice, cost), pairs)
    assert literal.worst == pytest.approx(nats, abs=1e-3)
    assert not literal.passed
    assert audit.check(one_draw(mechanism(cost.amount / 2), lattice, cost), pairs).passed


def test_half_of_epsilon_is_the_right_weight_of_the_length() -> None:
    """exp(-epsilon len / 2) is tight: the mean of up to five records reaches 0.998 epsilon."""
    query = one_draw(
        lambda q: inverse_sensitivity(q, 0, 2, Fraction(5, 2), "mean", PureDP(Fraction(5))),
        Lattice(0.0, 2.0, 1.0),
        pure(5),
    )
    report = audit.check(query, audit.neighbours((0, 1, 2), 5))
    assert report.passed
    assert report.used > 0.998


@pytest.mark.parametrize("which", ["1/2", "1/3", "9/10"])
def test_a_quantile_without_the_factor_of_two(which) -> None:
    """exp(-epsilon loss / m): numerator and normaliser move by epsilon each."""
    q, one = Fraction(which), Fraction(1)
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 4)

    def literal(data: np.ndarray) -> Understated:
        return Understated(rank_law(data, 2 * one, q), RangeDP(one))

    report = audit.check(one_draw(literal, lattice, pure(1)), pairs)
    assert not report.passed
    assert report.steps[0].used > 1.2
    assert audit.check(one_draw(lambda d: rank_law(d, one, q), lattice, pure(1)), pairs).passed


def test_a_quantile_by_a_sensitivity_of_one_half() -> None:
    """m = max(q, 1 - q) is needed: what is right for the median is too little elsewhere."""
    q, one = Fraction(9, 10), Fraction(1)
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 4)

    def literal(data: np.ndarray) -> Understated:
        return Understated(rank_law(data, 2 * q * one, q), RangeDP(one))

    assert not audit.check(one_draw(literal, lattice, pure(1)), pairs).passed


def test_an_extreme_by_a_score_that_moves_both_ways() -> None:
    """|#{x > t} - k| rises on one side of its target, falls on the other, and needs ε/2."""
    one, prior = Fraction(1), OctavePrior(0, Fraction(2))
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 4)

    def literal(data: np.ndarray) -> Understated:
        return Understated(rank_law(data, 2 * one, Fraction(9, 10), prior=prior), RangeDP(one))

    def right(data: np.ndarray) -> Exponential[TopScore]:
        return Exponential(TopScore(np.sort(data), -8, 17, prior), one)

    assert not audit.check(one_draw(literal, lattice, pure(1)), pairs).passed
    report = audit.check(one_draw(right, lattice, pure(1)), pairs)
    assert report.passed
    assert report.used > 0.9


def test_an_extreme_measured_from_a_median_that_was_not_released() -> None:
    """The prior's centre is a public parameter of the law, so neighbours must agree on it."""
    one = Fraction(1)
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 4)

    def literal(data: np.ndarray) -> Exponential[TopScore]:
        median = int(np.median(data)) if len(data) else 0
        prior = OctavePrior(median, Fraction(16))
        return Exponential(TopScore(np.sort(data), -8, 25, prior), one)

    assert not audit.check(one_draw(literal, lattice, pure(1)), pairs).passed


def test_squares_by_half_of_the_width() -> None:
    """R is the larger distance of the bounds from m; half of their distance is less."""
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 3)
    m, reach = 3, 11

    def pair(data: np.ndarray, largest: int) -> Additive:
        total = sum((int(x) - m) ** 2 for x in data)
        return laplace((total, len(data) * reach**2 - total), l1=largest, epsilon=Fraction(1))

    def checked(largest: int) -> audit.AuditReport:
        return audit.check(one_draw(lambda d: pair(d, largest), lattice, pure(1)), pairs)

    assert not checked(8**2).passed
    assert checked(reach**2).passed
    assert checked(reach**2).used == pytest.approx(1)


CELLS = (-8, -2, 3, 9)


def test_cumulative_counts_with_the_noise_of_a_count() -> None:
    """A record below all points changes every share; one in a partition changes one count."""

    def counts(q: np.ndarray) -> list[int]:
        return np.histogram(q, CELLS)[0].tolist()

    def literal(q: np.ndarray) -> Additive:
        return laplace(tuple(np.cumsum(counts(q)).tolist()), l1=1, epsilon=Fraction(1))

    def right(q: np.ndarray) -> Additive:
        return laplace(tuple(counts(q)), l1=1, epsilon=Fraction(1))

    report = audit.joint_loss(one_draw(literal, LATTICE, pure(1)), (0.0,), (-8.0, 0.0))
    assert not report.passed
    assert report.used == pytest.approx(3)
    report = audit.joint_loss(one_draw(right, LATTICE, pure(1)), (0.0,), (-8.0, 0.0))
    assert report.passed
    assert report.used == pytest.approx(1)


def test_bins_between_the_least_and_the_largest_record() -> None:
    """As numpy.histogram(x, bins=2) cuts: one record moves the edge, and many change bins."""

    def literal(q: np.ndarray) -> Additive:
        counts = np.histogram(q, 2)[0] if len(q) else (0, 0)
        return laplace(tuple(int(n) for n in counts), l1=1, epsilon=Fraction(1))

    data = (0.0, 2.0, 3.0, 3.0, 4.0)
    report = audit.joint_loss(one_draw(literal, LATTICE, pure(1)), data, (*data, 8.0))
    assert not report.passed
    assert report.used > 4


@pytest.mark.parametrize(("n", "losses"), [(21, 3.496), (101, 23.465)])
def test_a_length_from_a_clipped_trimmed_mean(n, losses) -> None:
    """Asi and Duchi 2020, Lemma 4.1 subtracts the clipped value: the length jumps by m.

    Records are exchanged. With the trimmed mean itself the length moves by one.
    """
    m, ends = n // 2, (0, 8)
    one, other = (-9,) * (m + 1) + (-3,) * m, (-9,) * m + (-3,) * (m + 1)
    lattice = Lattice(-9.0, 8.0, 1.0)

    def mechanism(length):
        return lambda q: length_law(q, *ends, Fraction(1, 2), length, PureDP(Fraction(1)))

    def printed(data, t) -> int:
        return literal_length(data, m, Fraction(t), ends)

    def corrected(data, t) -> int:
        return exchanges(data, m, Fraction(t), (-math.inf, math.inf))

    report = audit.joint_loss(one_draw(mechanism(printed), lattice, pure(1)), one, other)
    assert not report.passed
    assert report.worst == pytest.approx(losses, abs=0.001)
    assert (
        audit.joint_loss(one_draw(mechanism(corrected), lattice, pure(1)), one, other).worst < 0.83
    )


def test_lengths_for_exchanges_are_no_lengths_for_additions() -> None:
    """Lemma 4.1 knows m and n; with m from the private n, one record more changes both."""
    pairs, lattice = audit.neighbours((-8, 1, 8), 5), Lattice(-8.0, 8.0, 1.0)

    def literal(q: np.ndarray) -> Exponential:
        def length(data, t) -> int:
            if not data:
                return 0
            return exchanges(data, len(data) // 4, Fraction(t), (-math.inf, math.inf))

        return length_law(q, -8, 8, Fraction(1, 2), length, PureDP(Fraction(1)))

    report = audit.check(one_draw(literal, lattice, pure(1)), pairs)
    assert not report.passed


def by_steps(lows, highs, first: int, last: int, epsilon: Fraction, stated: Event) -> Exponential:
    return Exponential(LevelScore(lows, highs, first, last), epsilon, stated)


@pytest.mark.parametrize("mechanism", [by_steps, LinearLevelMechanism])
@pytest.mark.parametrize("weight", [Fraction(2), Fraction(20)])
def test_levels_without_a_half_and_without_epsilon(mechanism, weight) -> None:
    """exp(-epsilon len), and exp(-len) at an epsilon of a tenth, of a trimmed mean."""
    stated = RangeDP(2 / weight if weight > 2 else Fraction(1))
    claim = pure(stated.eta)
    lattice, pairs = Lattice(-8.0, 8.0, 1.0), audit.neighbours((-8, 1, 8), 4)

    def literal(q: np.ndarray):
        return mechanism(*trimmed_levels(q), -8, 8, weight * stated.eta, stated)

    def right(q: np.ndarray):
        return mechanism(*trimmed_levels(q), -8, 8, stated.eta, stated)

    report = audit.check(one_draw(literal, lattice, claim), pairs)
    assert not report.passed
    assert report.steps[0].used > 1.2
    assert audit.check(one_draw(right, lattice, claim), pairs).passed


def test_an_outermost_ring_without_slope() -> None:
    """Linear inside all rings but the last: one record moves the length by nearly two."""
    lattice, one = Lattice(0.0, 60.0, 1.0), Fraction(1)
    ends = {0: ([0, 10, 20], [0] * 3), 1: ([0, 0, 10], [0] * 3)}

    def length(data, t) -> float:
        (highs, _) = ends[len(data)]
        if t > highs[-1]:
            return len(highs)
        return float(np.interp(t, *zip(*_corners(highs), strict=True)))

    mechanism = LinearLevelMechanism(
        np.zeros(3, int), np.array(ends[0][0]), 0, 60, one, RangeDP(one)
    )
    shorter = LinearLevelMechanism(np.zeros(3, int), np.array(ends[1][0]), 0, 60, one, RangeDP(one))
    worst = max(abs(length([], t) - length([0], t)) for t in range(61))
    assert worst > 1.8
    sloped = [mechanism.log_density(t) - shorter.log_density(t) for t in range(61)]
    assert max(sloped) - min(sloped) <= 1 + 1e-12
    assert lattice.width == 60


def _corners(highs: list[int]) -> list[tuple[int, int]]:
    """Ends and their levels, the last level of equal ends only."""
    return [(h, k) for k, h in enumerate(highs) if k + 1 == len(highs) or highs[k + 1] > h]


@pytest.mark.parametrize("x", [1, 4, 8])
def test_independent_staircases(x) -> None:
    """Kulesza et al. 2023 remark that staircase noise can be substituted: it costs 2 epsilon."""
    w = 16
    lattice = Lattice(0.0, float(w), 1.0)

    def literal(q: np.ndarray) -> Additive:
        noise = StaircaseNoise(w, 6, Fraction(2))
        return Additive((int(q.sum()), int((w - q).sum())), (noise, noise), PureDP(Fraction(2)))

    def radial(q: np.ndarray):
        return staircase((int(q.sum()), int((w - q).sum())), l1=w, epsilon=Fraction(2))

    report = audit.joint_loss(one_draw(literal, lattice, pure(2)), (), (float(x),))
    assert report.used == pytest.approx(2)
    assert not report.passed
    report = audit.joint_loss(one_draw(radial, lattice, pure(2)), (), (float(x),))
    assert report.passed
    assert report.used == pytest.approx(1)


@pytest.mark.parametrize("x", [0, 16])
def test_independent_staircases_at_the_ends_of_the_range(x) -> None:
    """There only one coordinate moves, and the remark holds."""
    noise = StaircaseNoise(16, 6, Fraction(2))
    query = one_draw(
        lambda q: Additive(
            (int(q.sum()), int((16 - q).sum())), (noise, noise), PureDP(Fraction(2))
        ),
        Lattice(0.0, 16.0, 1.0),
        pure(2),
    )
    assert audit.joint_loss(query, (), (float(x),)).used == pytest.approx(1)
