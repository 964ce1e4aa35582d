"""Laws around a value: the definition, the sampler, its power, and sizes beyond floats."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from modicum import audit
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.level_sets import LevelScore
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.privacy.event import RangeDP
from tests.exact.goodness import ACCEPT

ONE = Fraction(1)


def law_of(radii, norm=1, *, dimension=1, largest=3, epsilon=ONE, centre=None) -> RadialMechanism:
    where = tuple(range(2, 2 + dimension)) if centre is None else centre
    return RadialMechanism(where, tuple(radii), largest, norm, epsilon, RangeDP(epsilon))


def length(z, radii, norm, largest) -> int:
    """From the definition."""
    distance = sum(abs(x) ** norm for x in z)
    reach, k = 0, 0
    while reach**norm < distance:
        reach += min(radii[k], largest) if k < len(radii) else largest
        k += 1
    return k


def weights(radii, norm, dimension, largest, rate, reach) -> dict[tuple[int, ...], float]:
    cube = itertools.product(range(-reach, reach + 1), repeat=dimension)
    return {z: math.exp(-rate * length(z, radii, norm, largest)) for z in cube}


SHAPES = [
    ((1, 2), 1, 1, 3),
    ((), 1, 1, 2),
    ((0, 0, 2), 1, 1, 2),
    ((1, 2), 1, 2, 2),
    ((1, 0, 1), 2, 2, 2),
    ((5, 1), 2, 2, 2),
    pytest.param((1,), 2, 3, 1, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("radii", "norm", "dimension", "largest"), SHAPES)
def test_the_density_is_the_definition_and_sums_to_one(radii, norm, dimension, largest) -> None:
    mechanism = law_of(radii, norm, dimension=dimension, largest=largest, epsilon=Fraction(4))
    reach = 26 if dimension < 3 else 16
    exact = weights(radii, norm, dimension, largest, 2.0, reach)
    total = math.fsum(exact.values())
    moved = [tuple(c + x for c, x in zip(mechanism.centre, z, strict=True)) for z in exact]
    found = mechanism.log_densities(moved)
    logs = np.log(list(exact.values())) - math.log(total)
    assert np.allclose(found, logs, rtol=0, atol=1e-7)


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 2**40), max_size=30),
    st.integers(0, 2**45),
    st.integers(-(2**50), 2**50),
)
def test_in_one_dimension_it_is_a_law_over_level_sets(radii, largest, centre) -> None:
    """Within the last ball both have the same density but for a constant."""
    mechanism = law_of(radii, largest=largest, centre=(centre,))
    reaches = np.cumsum([0, *(min(r, largest) for r in radii)])
    level = Exponential(LevelScore(centre - reaches, centre + reaches, -(2**60), 2**60), ONE)
    points = sorted({centre + s * int(r) for r in reaches for s in (-1, 1)})
    ratios = [mechanism.log_density((t,)) - level.log_density(t) for t in points]
    assert max(ratios) - min(ratios) < 1e-9


@pytest.mark.parametrize(
    ("radii", "norm", "dimension", "largest"),
    [
        ((2, 1), 1, 1, 4),
        ((1, 2), 1, 2, 1),
        ((2, 1), 2, 2, 1),
        pytest.param((), 1, 1, 2, marks=pytest.mark.slow),
        pytest.param((1,), 2, 3, 1, marks=pytest.mark.slow),
    ],
)
def test_the_sampler_follows_the_law_and_a_tighter_one_is_noticed(
    radii, norm, dimension, largest
) -> None:
    shape = {"norm": norm, "dimension": dimension, "largest": largest}
    mechanism = law_of(radii, epsilon=Fraction(4), **shape)
    wrong = law_of(radii, epsilon=Fraction(4) * Fraction(10, 7), **shape)
    entropy = SeededEntropy(f"radial {radii} {norm} {dimension}")
    assert audit.fit(mechanism, 1500, entropy) > ACCEPT
    assert audit.power(mechanism, wrong, draws=1500, entropy=entropy, trials=1) == 1


def test_the_sampler_draws_far_shells_as_often_as_it_should() -> None:
    """At a small ε most of the mass lies in the tail, where all radii are the largest."""
    mechanism = law_of((1, 2), largest=5, epsilon=Fraction(1, 10), centre=(0,))
    entropy = SeededEntropy("far")
    drawn = Counter(
        int(mechanism._length(mechanism.sample(entropy), mechanism._reaches())) for _ in range(2000)
    )
    sizes = {0: 1, 1: 2, 2: 4}
    masses = {k: sizes.get(k, 10) * math.exp(-k / 20) for k in range(1200)}
    total = sum(masses.values())
    bins = [0, 2, 3, *range(5, 100, 8), 1200]
    expected = [sum(masses[k] for k in range(a, b)) / total for a, b in itertools.pairwise(bins)]
    seen = [sum(drawn[k] for k in range(a, b)) for a, b in itertools.pairwise(bins)]
    assert stats.chisquare(seen, np.array(expected) / sum(expected) * 2000).pvalue > ACCEPT


@pytest.mark.parametrize(("norm", "dimension"), [(1, 1), (2, 2)])
def test_without_a_sign_it_is_the_mean_of_two_laws(norm, dimension) -> None:
    shape = {"norm": norm, "dimension": dimension, "largest": 2, "epsilon": Fraction(4)}
    mechanism = replace(law_of((2, 1), **shape), signless=True)
    one = law_of((2, 1), **shape)
    other = replace(one, centre=tuple(-c for c in one.centre))
    points = [one.centre, other.centre, (0,) * dimension, (3,) * dimension]
    both = np.logaddexp(one.log_densities(points), other.log_densities(points)) - math.log(2)
    assert mechanism.log_densities(points) == pytest.approx(both)
    entropy = SeededEntropy(f"signless {norm}")
    assert audit.fit(mechanism, 1500, entropy) > ACCEPT
    assert audit.power(mechanism, one, draws=1500, entropy=entropy, trials=1) == 1


@pytest.mark.parametrize("norm", [1, 2])
def test_wide_shells_are_filled_uniformly(norm) -> None:
    """Radii far above 2^53, five dimensions: the volume within a point's norm is uniform."""
    d, unit = 5, 1 << 80
    mechanism = law_of((unit, unit), norm, dimension=d, largest=2 * unit, centre=(0,) * d)
    entropy = SeededEntropy(f"wide {norm}")
    points = np.array([mechanism.sample(entropy) for _ in range(800)], dtype=float) / unit
    norms = (np.abs(points) ** norm).sum(axis=1) ** (1 / norm)
    shell = np.where(norms <= 2, np.ceil(norms), 2 + np.ceil((norms - 2) / 2))
    ends = np.where(shell <= 2, shell, 2 * shell - 2)
    starts = np.where(shell <= 2, shell - 1, 2 * shell - 4)
    share = (norms**d - starts**d) / (ends**d - starts**d)
    assert stats.kstest(share, "uniform").pvalue > ACCEPT
    # The first component's share of the norm has a beta law in both norms.
    if norm == 1:
        assert (
            stats.kstest(1 - (1 - np.abs(points[:, 0]) / norms) ** (d - 1), "uniform").pvalue
            > ACCEPT
        )
    else:
        beta = stats.beta(0.5, (d - 1) / 2).cdf
        assert stats.kstest((points[:, 0] / norms) ** 2, beta).pvalue > ACCEPT
    assert abs(np.sign(points).sum(axis=0)).max() < 5 * 800**0.5


def test_twenty_dimensions_are_drawn() -> None:
    mechanism = law_of((1 << 30,), 2, dimension=20, largest=1 << 30)
    assert len(mechanism.sample(SeededEntropy("twenty"))) == 20
    assert len(law_of((9,), 1, dimension=40).sample(SeededEntropy("many"))) == 40


def test_radii_of_nothing() -> None:
    still = law_of((0, 0), largest=0)
    assert still.sample(SeededEntropy("still")) == still.centre
    assert still.log_density(still.centre) == pytest.approx(0)
    assert still.log_density((3,)) == -math.inf
    # Beyond the largest, and below 0: no error may tell of them.
    one, other = law_of((-4, 9), largest=2), law_of((0, 2), largest=2)
    assert one.log_density((4,)) == other.log_density((4,))
    assert one.sample(SeededEntropy(1)) == other.sample(SeededEntropy(1))


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_probes_find_the_worst_ratio(dimension) -> None:
    """For other centres and radii that keep the contract, against all points (L1)."""
    one = law_of((2, 2, 4), dimension=dimension, largest=5, epsilon=Fraction(2))
    shifts = [s for s in itertools.product(range(-2, 3), repeat=dimension) if sum(map(abs, s)) <= 2]
    for shift in shifts:
        there = tuple(c + s for c, s in zip(one.centre, shift, strict=True))
        other = RadialMechanism(there, (2, 3, 4), 5, 1, Fraction(2), one.stated)
        reach = max(one.reach(3), other.reach(3)) + 2
        cube = itertools.product(range(-reach, reach + 1), repeat=dimension)
        everywhere = [tuple(c + x for c, x in zip(one.centre, z, strict=True)) for z in cube]
        every = one.log_densities(everywhere) - other.log_densities(everywhere)
        probes = sorted({*one.probes(), *other.probes()})
        found = one.log_densities(probes) - other.log_densities(probes)
        assert (found.min(), found.max()) == pytest.approx((every.min(), every.max()), abs=1e-12)
        assert every.max() - every.min() <= 2 + 1e-9


@pytest.mark.parametrize(
    "wrong",
    [
        {"norm": 3},
        {"largest": -1},
        {"epsilon": Fraction(0)},
        {"centre": ()},
        {"norm": 2, "dimension": 21},
        {"dimension": 65},
    ],
)
def test_refusals(wrong) -> None:
    with pytest.raises(InvalidArgument, match=r"radial law|at most (20|64)"):
        law_of((1,), **wrong)
