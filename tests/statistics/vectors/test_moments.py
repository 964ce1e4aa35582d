"""Accuracy of covariances, components and regressions; wrong input."""

from dataclasses import replace

import numpy as np
import pytest

import modicum as mo
from modicum import query as ask
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy

WITHIN = (-1e6, 1e6)
RNG = np.random.default_rng(6)
MIX = np.array([[1.0, 0.6, 0, 0], [0, 1, 0.3, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]])
X = 3 + RNG.normal(size=(20_000, 4)) @ MIX * [1, 1000, 0.01, 30]
SLOPES = np.array([2.0, 0.004, -100.0, 0.0])
Y = 7 + X @ SLOPES + RNG.normal(size=len(X))
COSTS = [{"epsilon": 1}, {"rho": "0.1"}]


def curator(data, seed: object, cost: dict) -> mo.Curator:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(2)
    return mo.Curator(data, budget=budget, entropy=SeededEntropy(repr(seed)))


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_covariances_of_columns_of_different_scale(cost) -> None:
    true = np.cov(X.T, bias=True)
    scales = np.sqrt(np.outer(np.diag(true), np.diag(true)))
    release = curator(X, "covariance", cost).covariance(within=WITHIN, **cost)
    assert release.status == "ok"
    assert np.abs((release.values - true) / scales).max() < 0.15
    assert np.array_equal(release.values, release.values.T)


@pytest.mark.parametrize(("widest", "code"), [(1.0, "ok"), (1e9, "ok"), (1e18, "partial")], ids=str)
def test_one_range_found_for_all_columns_of_however_different_scale(widest, code) -> None:
    """A factor of 10^9 costs nothing; one of 10^18 is more than a lattice holds, and is told."""
    rows = 5 + np.random.default_rng(5).normal(size=(20_000, 3))
    scales = np.array([1.0, 1.0, widest])
    release = curator(rows * scales / np.sqrt(widest), "unlike", COSTS[0]).covariance(epsilon=1)
    assert release.code == code
    found = np.diag(release.values) * widest / scales**2
    assert found[2] == pytest.approx(1, abs=0.1)
    if code == "ok":
        assert found == pytest.approx(1, abs=0.1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_constant_columns_are_not_seen(cost) -> None:
    """Wherever their interval lies: the means' noise counts too."""
    data = np.ones((500, 3))
    found = [curator(data, each, cost).covariance(within=WITHIN, **cost) for each in range(30)]
    assert sum((np.diag(each.values) > 0).sum() for each in found) <= 1
    assert all("lost in the noise" in each.status for each in found)


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_regression_recovers_its_slopes(cost) -> None:
    release = curator(np.column_stack([X, Y]), "slopes", cost).linear_regression(
        within=WITHIN, **cost
    )
    predicted = release[0] + X @ release.values[1:]
    assert 1 - np.var(Y - predicted) / np.var(Y) > 0.6
    lower, upper = release.interval()
    assert np.isfinite(upper - lower).all()


def test_much_data_for_much_money_is_least_squares() -> None:
    """Whatever is lost with noise vanishes with it; what shrinking changes is small."""
    data = np.column_stack([X, Y])
    release = curator(data, "exact", {"epsilon": 1}).linear_regression(
        within=WITHIN, budget=mo.pure(2)
    )
    rich = mo.Curator(data, budget=mo.pure(10**5), entropy=SeededEntropy("rich"))
    near = rich.linear_regression(within=WITHIN, epsilon=10**4)
    assert near.values[1:] == pytest.approx(SLOPES, rel=0.1, abs=0.02)
    assert np.abs(near.values - release.values).max() > 0


def test_the_noise_of_a_scatter_is_that_of_noise_drawn_again() -> None:
    """Variances too, of columns that are not in the middle of their interval."""
    rows = RNG.normal(1, [1, 2, 0.5], size=(5000, 3))
    release = curator(rows, "scatter", {"rho": "0.03"}).covariance(within=WITHIN, rho="0.03")
    released = release.error_model.moments
    assert np.abs(released.means).max() > 0.2
    found = []
    for _ in range(2000):
        noise = RNG.normal(size=len(released.sums)) * released.deviations
        sums = tuple(int(a + b) for a, b in zip(released.sums, noise, strict=True))
        found.append(replace(released, sums=sums).scatter)
    ratio = released.scatter_noise() / np.std(found, axis=0)
    assert 0.9 < ratio.min() < ratio.max() < 1.1


def test_components_capture_variance() -> None:
    rows = RNG.normal(size=(3000, 10)) * np.sqrt([10, 5] + [1] * 8)
    matrix = np.cov(rows.T)
    shares = []
    for trial in range(10):
        release = curator(rows, trial, {"epsilon": 1}).pca(components=2, within=WITHIN, epsilon=1)
        assert release.values @ release.values.T == pytest.approx(np.eye(2), abs=1e-9)
        shares.append(np.trace(release.values @ matrix @ release.values.T) / np.trace(matrix))
    assert np.median(shares) > 0.6  # a random plane has 0.2, the best 0.65
    error_model = release.error_model
    assert error_model.explained_variance[0] == pytest.approx(10, rel=0.5)
    assert len(error_model.variances) == 10


def test_little_data_say_so() -> None:
    few = X[:30]
    for question, name in (
        (ask.pca(components=1, within=WITHIN, epsilon=1), "pca"),
        (ask.covariance(within=WITHIN, epsilon=1), "covariance"),
        (ask.linear_regression(within=WITHIN, epsilon=1), "regression"),
    ):
        release = curator(few, name, {"epsilon": 1}).run(question)
        assert "too little data" in release.status or "lost in the noise" in release.status


def test_singular_and_odd_data_are_answered() -> None:
    same = np.column_stack([X[:, 0], X[:, 0], np.full(len(X), 5.0), X[:, 0]])
    odd = np.array([[np.inf, -np.inf], [np.nan, 1], [1e308, 0], [0, 0]])
    for data in (same, odd, np.empty((0, 3)), X[:1]):
        for question in (
            ask.linear_regression(within=WITHIN, epsilon=1),
            ask.pca(components=9, within=WITHIN, epsilon=1),
        ):
            release = curator(data, "odd", {"epsilon": 1}).run(question)
            assert np.isfinite(release.values).all()
            assert str(release)


def test_wrong_arguments() -> None:
    good = {"within": WITHIN, "epsilon": 1}
    for call in (
        lambda: ask.pca(components=0, **good),
        lambda: ask.pca(components=1.5, **good),
        lambda: ask.pca(components=True, **good),
        lambda: ask.covariance(["a", "a"], **good),
        lambda: ask.covariance([f"c{k}" for k in range(501)], **good),
        lambda: ask.covariance(within=(-1e200, 1e200), epsilon=1),
        lambda: ask.linear_regression(["a"], **good),
        lambda: ask.linear_regression(target="a", **good),
        lambda: ask.linear_regression(["a", "b"], target="b", **good),
        lambda: ask.linear_regression(["a"], target=3, **good),
        lambda: ask.linear_regression(within=WITHIN, epsilon=1, rho=1),
        lambda: mo.pca(np.empty((0, 501)), components=1, **good),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_names_of_a_table_and_of_an_array_agree() -> None:
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
    cost = {"epsilon": 1}
    named = curator(table, 1, cost).linear_regression(["a", "b"], target="y", within=WITHIN, **cost)
    plain = curator(table.to_numpy(), 1, cost).linear_regression(within=WITHIN, **cost)
    assert named.labels == ("intercept", "a", "b")
    assert np.array_equal(named.values, plain.values)
