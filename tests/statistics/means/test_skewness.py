"""Skewness: errors, coverage on ugly data, and what data without a spread get."""

import math

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

TABLES = {
    "0/1 at 2 %": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    "90 % zeros": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(3, 1, n)),
    "lognormal": lambda rng, n: rng.lognormal(0, 1.5, n),
    "negative": lambda rng, n: -rng.lognormal(0, 1.5, n),
    "zipf": lambda rng, n: rng.zipf(2.0, n).clip(1, 10**8).astype(float),
    "one value": lambda rng, n: np.full(n, 7.0),
    "tiny": lambda rng, n: 1e-7 * rng.lognormal(0, 1.5, n),
    "huge": lambda rng, n: 1e5 * rng.lognormal(0, 1.5, n),
    "normal": lambda rng, n: rng.normal(100, 10, n),
    "exponential": lambda rng, n: rng.exponential(5, n),
    "two groups": lambda rng, n: np.where(rng.random(n) < 0.3, 1e4, 1.0) * rng.uniform(0.9, 1.1, n),
}
LIGHT = ("normal", "exponential", "two groups")


def truth(x: np.ndarray) -> float:
    apart = x - x.mean()
    spread = float((apart**2).mean())
    return float((apart**3).mean()) / spread**1.5 if spread else 0.0


def released(x, seed: str, **asked) -> mo.Release:
    curator = mo.Curator(
        x, budget=mo.zcdp(9) if "rho" in asked else mo.pure(9), entropy=SeededEntropy(seed)
    )
    return curator.skewness(**{"within": (-1e9, 1e9), **asked})


def codes_of_misses(name: str, n: int, epsilon: str, runs: int, tail: float | None) -> list[str]:
    x = TABLES[name](np.random.default_rng(5), n)
    missed = []
    for i in range(runs):
        release = released(x, f"{name} {n} {i}", epsilon=epsilon)
        lower, upper = release.interval(tail=tail)
        if not lower <= truth(x) <= upper:
            missed.append(release.code)
    return missed


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TABLES)
def test_the_interval_covers_or_says_so(name) -> None:
    missed = codes_of_misses(name, 4000, "1", 20, 4)
    assert len(missed) <= 3 or missed.count("ok") <= 0.05 * len(missed)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize("n", [2000, 20_000])
@pytest.mark.parametrize("name", TABLES)
def test_the_interval_covers_at_its_level(name, n, epsilon) -> None:
    missed = codes_of_misses(name, n, epsilon, 100, 4)
    assert len(missed) <= 7 or missed.count("ok") <= 0.05 * len(missed)


@pytest.mark.parametrize("name", LIGHT)
def test_light_tails_may_be_said_to_be_light(name) -> None:
    x = TABLES[name](np.random.default_rng(5), 20_000)
    held = []
    for i in range(20):
        release = released(x, f"light {name} {i}", epsilon=1)
        (low, high), (lower, upper) = release.interval(), release.interval(tail=8)
        assert low <= lower <= upper <= high
        held.append(lower <= truth(x) <= upper)
    assert np.mean(held) >= 0.85


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize(
    ("name", "most"), [("normal", 0.05), ("exponential", 0.2), ("two groups", 0.02)]
)
def test_the_skewness_is_near(name, most, cost) -> None:
    x = TABLES[name](np.random.default_rng(5), 20_000)
    errors = [abs(released(x, f"near {i}", **cost).value - truth(x)) for i in range(9)]
    assert np.median(errors) < most


@pytest.mark.parametrize("x", [np.full(5000, 3.0), np.zeros(5000)], ids=["threes", "zeros"])
def test_equal_values_have_no_skewness_and_the_code_says_so(x) -> None:
    release = released(x, "equal", epsilon=1)
    assert release.value == 0
    assert release.code != "ok"
    lower, upper = release.interval()
    assert lower < -math.sqrt(4900)
    assert upper > math.sqrt(4900)


def test_a_shift_and_a_factor_leave_it_alone() -> None:
    x = TABLES["exponential"](np.random.default_rng(6), 20_000)
    one, other, mirrored = (released(y, "moved", epsilon=1).value for y in (x, 1000 + 8 * x, -x))
    assert other == pytest.approx(one, abs=0.6)
    assert mirrored == pytest.approx(-one, abs=0.6)


def test_a_plan_predicts_the_error() -> None:
    plan = mo.plan.skewness(within=(-1e9, 1e9), sd=5, shape="exponential", n=20_000, epsilon=1)
    errors = []
    for i in range(40):
        x = TABLES["exponential"](np.random.default_rng(i), 20_000)
        errors.append(abs(released(x, f"plan {i}", epsilon=1).value - truth(x)))
    assert 0.5 < plan.error / np.mean(errors) < 2
