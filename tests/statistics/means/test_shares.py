"""Columns of zeros and ones, and others with zeros far from all else: shares in a wide range."""

from collections import Counter

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.releases.status import USABLE

WIDE = {"within": (-1e9, 1e9)}
NOTHING: dict[str, tuple[float, float]] = {}
RELEASES = 24


def shares(n: int, ones: int) -> np.ndarray:
    return (np.arange(n) < ones).astype(float)


def released(name: str, x: np.ndarray, seed: int, **asked: object) -> mo.Release:
    budget = mo.zcdp("0.5") if "rho" in asked else mo.pure(1)
    curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(f"share {seed}"))
    found: mo.Release = getattr(curator, name)(**asked)
    return found


def outcomes(name: str, x: np.ndarray, **asked: object) -> Counter[str]:
    """Whether answers can be used, and if so whether they are right, to two of a hundred."""
    truth = getattr(np, name)(x)
    seen: Counter[str] = Counter()
    for seed in range(RELEASES):
        found = released(name, x, seed, **asked)
        lower, upper = found.interval()
        if found.code not in USABLE:
            seen["unusable"] += 1
        elif abs(found.value - truth) < 0.02 and lower <= truth <= upper:
            seen["right"] += 1
        else:
            seen["wrong"] += 1
    return seen


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("within", [NOTHING, WIDE], ids=["found", "wide"])
@pytest.mark.parametrize(("n", "ones"), [(1000, 700), (1000, 870), (3000, 2880), (20_000, 19_800)])
@pytest.mark.one_in(2)
def test_most_are_ones(n, ones, within, cost) -> None:
    """A mean of 0.87 came out as 1, within [1, 1], or not at all."""
    seen = outcomes("mean", shares(n, ones), **within, **cost)
    assert seen["right"] >= 0.8 * RELEASES, seen
    assert seen["wrong"] <= 2, seen


@pytest.mark.parametrize(("n", "ones"), [(1000, 500), (3000, 900), (20_000, 2000)])
def test_most_are_zeros_and_there_is_no_range(n, ones) -> None:
    seen = outcomes("mean", shares(n, ones), epsilon=1)
    assert seen["right"] >= 0.8 * RELEASES, seen
    assert seen["wrong"] <= 2, seen


@pytest.mark.parametrize(("n", "ones"), [(1000, 870), (3000, 2850)])
def test_deviations_of_a_share(n, ones) -> None:
    seen = outcomes("std", shares(n, ones), epsilon=1)
    assert seen["right"] >= 0.8 * RELEASES, seen
    assert seen["wrong"] <= 3, seen


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ones", [0, 4, 20, 48])
def test_a_few_ones_are_found_or_said_to_be_too_few(ones) -> None:
    """The range of a few ones was noise, and their mean 1e-220, about once in a hundred."""
    x = shares(3000, ones)
    answers = [released("mean", x, seed, epsilon=1) for seed in range(100)]
    usable = [each for each in answers if each.usable]
    lost = sum(not each.interval()[0] <= x.mean() <= each.interval()[1] for each in usable)
    assert lost <= 3
    assert len(usable) <= 10 or ones == 48
    assert all(abs(each.value - x.mean()) < 0.05 for each in usable)


def test_a_code_for_missing_values_far_from_the_others_is_found() -> None:
    """Years, and a zero where none is known."""
    x = np.where(np.arange(20_000) < 1000, 0.0, np.random.default_rng(1).normal(2000, 2, 20_000))
    seen = Counter()
    for seed in range(RELEASES):
        found = released("mean", x, seed, epsilon=1)
        lower, upper = found.interval()
        seen[found.usable, bool(lower <= x.mean() <= upper)] += 1
        assert not found.usable or abs(found.value - x.mean()) < 5
    assert seen[True, True] >= 0.9 * RELEASES, seen


@pytest.mark.one_in(2)
@pytest.mark.parametrize("n", [1000, 3000])
def test_a_tight_bulk_far_from_zero_is_not_paid_for(n) -> None:
    """Nobody is at zero, and bounds that reach it would cost a million times as much."""
    x = np.random.default_rng(2).normal(1e6, 1, n)
    far = [
        abs(released("mean", x, seed, **WIDE, epsilon=1).value - x.mean()) for seed in range(100)
    ]
    assert np.sort(far)[-3] < 2, sorted(far)[-5:]
