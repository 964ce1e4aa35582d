"""The staircase of the L1 norm: its law, its sampler, its cost, and the false variant's cost."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum import audit
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import Additive, GaussianNoise, LaplaceNoise, laplace
from modicum.mechanisms.staircase import (
    STAIRCASE_FROM,
    Staircase,
    StaircaseNoise,
    add_to_one,
    best_width,
    staircase,
)
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import Share

SHAPES = [(l1, width) for l1 in (1, 2, 4) for width in {1, (l1 + 1) // 2, l1}]


def weight(norm: int, l1: int, width: int, epsilon: float) -> float:
    """The definition, step by step."""
    k = 0
    while norm >= width + k * l1:
        k += 1
    return math.exp(-epsilon * k)


def points(dimension: int, reach: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(-reach, reach + 1), repeat=dimension))


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(("l1", "width"), SHAPES)
def test_the_density_is_the_definition_and_sums_to_one(dimension, l1, width) -> None:
    mechanism = Staircase((3, -2)[:dimension], l1, width, Fraction(2))
    space = points(dimension, 18 * l1)
    weights = [weight(sum(map(abs, z)), l1, width, 2.0) for z in space]
    total, stride = sum(weights), len(space) // 97 + 1
    for z, w in zip(space[::stride], weights[::stride], strict=True):
        outcome = tuple(v + c for v, c in zip(mechanism.values, z, strict=True))
        assert mechanism.log_density(outcome) == pytest.approx(math.log(w / total), abs=1e-9)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(("l1", "width"), SHAPES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(5)])
@pytest.mark.one_in(2)
def test_the_privacy_loss_is_epsilon_and_no_more(dimension, l1, width, epsilon) -> None:
    """Exact enumeration: every move of L1 norm up to l1, every outcome within several steps."""
    origin = Staircase((0,) * dimension, l1, width, epsilon)
    space = points(dimension, 3 * l1)
    here = {k: origin.log_density(k) for k in space}
    moves = [z for z in points(dimension, l1) if 0 < sum(map(abs, z)) <= l1 and z[-1] >= 0]
    for move in moves:
        other = Staircase(move, l1, width, epsilon)
        worst = max(abs(here[k] - other.log_density(k)) for k in space)
        assert worst == pytest.approx(float(epsilon), rel=1e-12)
        # The probes find the worst case without enumeration.
        probes = {*origin.probes(), *other.probes()}
        found = max(abs(origin.log_density(k) - other.log_density(k)) for k in probes)
        assert found == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 4), Fraction(1, 2)])
def test_independent_staircases_cost_twice_as_much(share) -> None:
    """Kulesza et al. 2023, section 2: substitution per coordinate is not ε-private."""
    l1, epsilon = 1000, Fraction(1)
    one = Staircase((0,), l1, best_width(1, l1, epsilon), epsilon)
    x = int(share * l1)

    def loss(move: int) -> float:
        moved = Staircase((move,), l1, one.width, epsilon)
        outcomes = range(-3 * l1, 3 * l1)
        return max(one.log_density((k,)) - moved.log_density((k,)) for k in outcomes)

    assert loss(x) + loss(l1 - x) == pytest.approx(2.0)
    pair = staircase((0, 0), l1=l1, epsilon=epsilon)
    moved = Staircase((x, l1 - x), l1, pair.width, epsilon)
    outcomes = {*pair.probes(), *moved.probes()}
    assert max(abs(pair.log_density(k) - moved.log_density(k)) for k in outcomes) <= 1.0 + 1e-12


def p_value(samples, mechanism) -> float:
    """Chi-squared test of outcomes against the law, rare ones pooled."""
    observed = Counter(samples)
    space = [
        tuple(v + c for v, c in zip(mechanism.values, z, strict=True))
        for z in points(len(mechanism.values), 8 * mechanism.l1)
    ]
    expected = {k: len(samples) * math.exp(mechanism.log_density(k)) for k in space}
    cells = [(observed[k], e) for k, e in expected.items() if e >= 8]
    rest = (len(samples) - sum(o for o, _ in cells), len(samples) - sum(e for _, e in cells))
    table = np.array([*cells, rest] if rest[1] > 1 else cells)
    return float(
        stats.chisquare(table[:, 0], table[:, 1] * table[:, 0].sum() / table[:, 1].sum())[1]
    )


@pytest.mark.parametrize("values", [(4,), (4, -1)])
@pytest.mark.parametrize(("l1", "width", "epsilon"), [(1, 1, "1"), (3, 2, "2/3"), (4, 1, "3")])
@pytest.mark.one_in(8)
def test_the_sampler_follows_the_law_and_the_test_has_power(values, l1, width, epsilon) -> None:
    mechanism = Staircase(values, l1, width, Fraction(epsilon))
    entropy = SeededEntropy(7)
    samples = [mechanism.sample(entropy) for _ in range(12_000)]
    assert p_value(samples, mechanism) > 1e-3
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        wrong = Staircase(values, l1, width, mechanism.epsilon * factor)
        assert p_value(samples, wrong) < 1e-6


def test_every_step_is_uniform_for_large_parameters() -> None:
    """Wide steps, where no outcome repeats: the norm's distribution, and the four directions."""
    mechanism = staircase((0, 0), l1=10**12, epsilon=Fraction(1, 2))
    entropy = SeededEntropy(11)
    samples = np.array([mechanism.sample(entropy) for _ in range(8000)])
    norms = np.abs(samples).sum(axis=1)
    steps = np.floor((norms + mechanism.l1 - mechanism.width) / mechanism.l1).astype(int)
    inner = np.maximum(mechanism.width + (steps - 1.0) * mechanism.l1, 0) * (steps > 0)
    outer = mechanism.width + steps * float(mechanism.l1)
    # Within a step the points are uniform, so the area enclosed is.
    uniform = (norms**2.0 - inner**2) / (outer**2 - inner**2)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3
    quadrants = Counter(map(tuple, np.sign(samples).tolist()))
    assert stats.chisquare(list(quadrants.values())).pvalue > 1e-3
    assert stats.kstest(np.abs(samples[:, 0]) / norms, "uniform").pvalue > 1e-3


def mean_square(mechanism: Staircase) -> float:
    """E ||z||² / d, summed over norms."""
    far = int(40 * mechanism.l1 / float(mechanism.epsilon)) + 4 * mechanism.l1
    r = np.arange(far, dtype=np.float64)
    weights = np.exp(
        -float(mechanism.epsilon) * ((r + mechanism.l1 - mechanism.width) // mechanism.l1)
    )
    if len(mechanism.values) == 1:
        counts, squares = np.where(r == 0, 1, 2), r**2
    else:  # the mean of x² over the points of norm r is (2 r² + 1) / 6
        counts, squares = np.where(r == 0, 1, 4 * r), np.where(r == 0, 0, (2 * r**2 + 1) / 6)
    return float((weights * counts * squares).sum() / (weights * counts).sum())


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "2", "4", "8"])
def test_the_best_width_is_best(dimension, epsilon) -> None:
    l1, e = 300, Fraction(epsilon)
    least = min(mean_square(Staircase((0,) * dimension, l1, w, e)) for w in range(1, l1 + 1, 3))
    chosen = Staircase((0,) * dimension, l1, best_width(dimension, l1, e), e)
    assert mean_square(chosen) <= 1.002 * least


@pytest.mark.parametrize(
    ("epsilon", "gain"), [("0.1", 0.0), ("1", 0.007), ("2", 0.05), ("4", 0.27)]
)
def test_the_gain_over_laplace(epsilon, gain) -> None:
    mechanism = staircase((0, 0), l1=300, epsilon=Fraction(epsilon))
    noise = laplace((0, 0), l1=300, epsilon=Fraction(epsilon)).noise[0]
    assert isinstance(noise, LaplaceNoise)
    assert 1 - mean_square(mechanism) / noise.variance == pytest.approx(gain, abs=0.006)


def test_a_scalar_staircase_is_the_published_one() -> None:
    """Geng and Viswanath 2014: least variance at the width of their closed form."""
    epsilon = 3.0
    b = math.exp(-epsilon)
    bracket = b - 2 * b**2 + 2 * b**4 - b**5
    published = -b / (1 - b) + bracket ** (1 / 3) / (2 ** (1 / 3) * (1 - b) ** 2)
    assert best_width(1, 10**6, Fraction(3)) / 10**6 == pytest.approx(published, abs=1 / 256)


def test_event_and_refusals() -> None:
    mechanism = staircase((10, 20), l1=5, epsilon=Fraction(1, 2))
    assert mechanism.event == PureDP(Fraction(1, 2))
    for bad in [
        ((), 5, 1, 1),
        ((1, 2, 3), 5, 1, 1),
        ((1,), 5, 0, 1),
        ((1,), 5, 6, 1),
        ((1,), 5, 1, 0),
    ]:
        with pytest.raises(ValueError, match=r"staircase|need"):
            Staircase(*bad[:3], Fraction(bad[3]))


NOISES = [
    StaircaseNoise.of(l1, Fraction(epsilon))
    for l1 in (1, 2, 7, 50)
    for epsilon in ("1/2", "3/2", "3", "8")
]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_the_noise_of_one_value_is_that_of_a_staircase(noise) -> None:
    mechanism = Staircase((5,), noise.l1, noise.width, noise.epsilon)
    for k in (0, 1, noise.width - 1, noise.width, -noise.width - noise.l1, 3 * noise.l1 + 2):
        assert noise.log_pmf(k) == pytest.approx(mechanism.log_density((5 + k,)), abs=1e-9)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_what_is_said_of_the_noise_follows_from_its_probabilities(noise) -> None:
    reach = noise.l1 * math.ceil(50 / float(noise.epsilon)) + noise.width
    sizes = np.arange(-reach, reach + 1)
    masses = np.exp([noise.log_pmf(int(k)) for k in sizes])
    assert masses.sum() == pytest.approx(1)
    assert noise.variance == pytest.approx((masses * sizes.astype(float) ** 2).sum())
    assert noise.mean_size == pytest.approx((masses * abs(sizes)).sum())
    t = np.array([0.0, 0.5, 1.0, noise.width, noise.width + 0.7 * noise.l1, 3.0 * noise.l1])
    exact = [masses[sizes > each].sum() for each in t]
    assert noise.beyond(t) == pytest.approx(exact, rel=1e-9, abs=1e-18)
    for alpha in (0.9, 0.4, 0.05, 1e-4, 1e-9):
        bound = noise.tail_bound(alpha)
        assert masses[abs(sizes) > bound].sum() <= alpha * (1 + 1e-9)
        assert bound == 0 or masses[abs(sizes) >= bound].sum() > alpha * (1 - 1e-9)
        assert noise.sum_bound(((2.0, 1),), alpha) == 2 * noise.tail_bound(min(1, 2 * alpha))


def test_the_width_is_that_of_the_least_mean_size() -> None:
    for epsilon in (Fraction(3, 2), Fraction(3), Fraction(8)):
        noise = StaircaseNoise.of(200, epsilon)
        others = (StaircaseNoise(200, w, epsilon).mean_size for w in range(1, 201))
        assert noise.mean_size == pytest.approx(min(others), rel=1e-3)


def test_an_enormous_cost_leaves_no_noise() -> None:
    noise = StaircaseNoise.of(10**6, Fraction(1000))
    assert noise.width == 1
    assert noise.variance < 1e-100
    assert noise.tail_bound(1e-9) == 0
    assert noise.beyond(np.array([0.0])) < 1e-100


@pytest.mark.parametrize(
    ("epsilon", "ratio"), [("3/2", 0.912), ("2", 0.851), ("3", 0.704), ("4", 0.551)]
)
def test_the_gain_over_laplace_noise(epsilon, ratio) -> None:
    """By ε/2 / sinh(ε/2), of Geng and Viswanath (2014)."""
    epsilon = Fraction(epsilon)
    assert StaircaseNoise.of(10**9, epsilon).mean_size * float(epsilon) / 1e9 == pytest.approx(
        ratio, abs=1e-3
    )
    assert ratio == pytest.approx(float(epsilon) / 2 / math.sinh(float(epsilon) / 2), abs=1e-3)


@pytest.mark.parametrize("l1", [6, 1 << 40])
def test_draws_follow_the_noise_and_less_of_it_is_noticed(l1) -> None:
    one, wrong = (
        Additive((5,), (StaircaseNoise.of(l1, Fraction(e)),), PureDP(Fraction(3)))
        for e in ("3", "30/7")
    )
    assert audit.fit(one, 2000, SeededEntropy("staircase")) > 1e-3
    assert audit.power(one, wrong, draws=2000, entropy=SeededEntropy(3), trials=1) == 1


def test_one_value_gets_a_staircase_where_that_is_worth_it() -> None:
    def noise(loss, sensitivity=9) -> object:
        mechanism = add_to_one(4, Share(loss), sensitivity=sensitivity)
        assert mechanism.values == (4,)
        assert mechanism.event == loss
        return type(mechanism.noise[0])

    assert noise(PureDP(STAIRCASE_FROM)) is StaircaseNoise
    assert noise(PureDP(STAIRCASE_FROM - Fraction(1, 999))) is LaplaceNoise
    assert noise(PureDP(Fraction(9)), sensitivity=1) is LaplaceNoise  # the same law
    assert noise(ZCDP(Fraction(9))) is GaussianNoise
