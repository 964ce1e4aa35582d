"""The geometric mean: errors, coverage on ugly data, and the rule for values below the range."""

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

LO, HI = WITHIN = (1e-9, 1e9)
TABLES = {
    "0/1 at 2 %": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    "90 % zeros": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(3, 1, n)),
    "lognormal": lambda rng, n: rng.lognormal(0, 1.5, n),
    "zipf": lambda rng, n: rng.zipf(2.0, n).clip(1, 10**8).astype(float),
    "one value": lambda rng, n: np.full(n, 7.0),
    "tiny": lambda rng, n: 1e-7 * rng.lognormal(0, 1.5, n),
    "huge": lambda rng, n: 1e7 * rng.lognormal(0, 1.5, n),
    "negative": lambda rng, n: -rng.lognormal(0, 1.5, n),
    "two groups": lambda rng, n: np.where(rng.random(n) < 0.3, 1e4, 1.0) * rng.uniform(0.9, 1.1, n),
}


def truth(x: np.ndarray) -> float:
    return float(np.exp(np.log(np.clip(x, LO, HI)).mean()))


def released(x, seed: str, **asked) -> mo.Release:
    curator = mo.Curator(x, budget=mo.pure(9), entropy=SeededEntropy(seed))
    return curator.geometric_mean(**{"within": WITHIN, "epsilon": 1, **asked})


def coverage(name: str, n: int, epsilon: str, runs: int) -> tuple[float, int, int]:
    """Share of intervals that hold the truth, how many do not, and how many of those say "ok"."""
    x = TABLES[name](np.random.default_rng(5), n)
    missed = []
    for i in range(runs):
        release = released(x, f"{name} {n} {i}", epsilon=epsilon)
        lower, upper = release.interval()
        if not lower <= truth(x) * (1 + 1e-12) or not truth(x) * (1 - 1e-12) <= upper:
            missed.append(release.code)
    return 1 - len(missed) / runs, len(missed), missed.count("ok")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", TABLES)
def test_the_interval_covers_or_says_so(name) -> None:
    share, missed, unsaid = coverage(name, 4000, "1", 20)
    assert share >= 0.85 or unsaid <= 0.05 * missed


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize("n", [2000, 20_000])
@pytest.mark.parametrize("name", TABLES)
def test_the_interval_covers_at_its_level(name, n, epsilon) -> None:
    share, missed, unsaid = coverage(name, n, epsilon, 200)
    assert share >= 0.93 or unsaid <= 0.05 * missed


def test_the_error_is_small_beside_the_spread() -> None:
    x = np.random.default_rng(1).lognormal(10, 1, 20_000)
    errors = [released(x, f"near {i}").value / truth(x) - 1 for i in range(9)]
    assert np.median(np.abs(errors)) < 0.002


def test_what_is_below_the_range_counts_as_its_end() -> None:
    x = np.random.default_rng(2).lognormal(2, 1, 3000)
    below = np.where(x < 3, -5.0, x)
    at_end = np.where(x < 3, 3.0, x)
    one, other = (released(data, "rule", within=(3, 1e6)) for data in (below, at_end))
    assert one == other


def test_data_in_another_unit_take_the_same_steps() -> None:
    x = np.random.default_rng(3).lognormal(2, 1, 5000)
    one, other = (released(f * x, "unit", within=(1e-3 * f, 1e6 * f)) for f in (1.0, 2.0**30))
    assert other.value == pytest.approx(one.value * 2**30, rel=1e-9)
    assert [step.label for step in one.transcript] == [step.label for step in other.transcript]


def test_rows_of_a_person_are_combined_before_the_logarithm() -> None:
    rows = np.random.default_rng(4).lognormal(2, 1, 6000)
    table = pd.DataFrame({"x": rows, "person": np.arange(6000) // 2})
    curator = mo.Curator(
        table,
        unit=mo.unit_of("person", combine="mean"),
        budget=mo.pure(100),
        entropy=SeededEntropy("persons"),
    )
    found = curator.geometric_mean("x", within=(1e-3, 1e6), epsilon=100)
    assert found.value == pytest.approx(truth(rows.reshape(-1, 2).mean(axis=1)), rel=1e-3)


def test_groups_are_asked_too() -> None:
    x = np.random.default_rng(6).lognormal(2, 1, 8000)
    table = pd.DataFrame({"x": x, "g": np.arange(8000) % 2})
    curator = mo.Curator(table, budget=mo.pure(9), entropy=SeededEntropy("groups"))
    found = curator.group_by("g", keys=[0, 1]).geometric_mean("x", within=(1e-3, 1e6), epsilon=8)
    for key in (0, 1):
        assert found[key].value == pytest.approx(truth(x[key::2]), rel=0.01)


def test_a_plan_predicts_the_error() -> None:
    plan = mo.plan.geometric_mean(within=(1, 1e9), sd=5e4, mean=5e4, n=20_000, epsilon=1)
    x = np.random.default_rng(7).lognormal(np.log(5e4 / 2**0.5), np.log(2) ** 0.5, 20_000)
    errors = [abs(released(x, f"plan {i}", within=(1, 1e9)).value - truth(x)) for i in range(40)]
    assert 0.5 < plan.error / np.mean(errors) < 2


@pytest.mark.parametrize("within", [(0, 1), (-1, 1)])
def test_a_range_that_is_not_positive_is_refused(within) -> None:
    with pytest.raises(mo.InvalidArgument, match="0 < lowest"):
        mo.geometric_mean([1.0], within=within, epsilon=1)


def test_an_answer_that_the_noise_may_move_by_a_factor_of_ten_is_not_usable() -> None:
    """20 rows of a range of 600 powers of ten: the noise is that of the range."""
    x = np.random.default_rng(3).lognormal(0, 1, 20)
    found = [mo.geometric_mean(x, within=(1e-300, 1e300), epsilon=1) for _ in range(20)]
    lost = [release for release in found if not release.usable]
    assert len(lost) > 15
    assert {release.code for release in lost} == {"few_records"}
    for release in found:
        if release.usable:
            assert release.value == pytest.approx(np.exp(np.log(x).mean()), rel=10)
    more = np.random.default_rng(3).lognormal(0, 1, 300)
    assert all(mo.geometric_mean(more, within=(1e-2, 1e2), epsilon=1).usable for _ in range(20))
