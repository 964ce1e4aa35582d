"""Scores: tables are nondecreasing whatever ψ is, and what no score is gets refused."""

import pickle

import numpy as np
import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.statistics.robust.monotone_statistic import (
    excess,
    expectile_score,
    huber_score,
    power_score,
)
from modicum.statistics.robust.score_lengths import ScoreTable

SPAN = 1 << 53
V = np.unique(
    np.concatenate([[0, 1, 2, 3], np.geomspace(1, SPAN, 4001).astype(np.int64), [SPAN - 1, SPAN]])
)
BOTH = np.concatenate([-V[:0:-1], V])


@pytest.mark.parametrize(
    "psi",
    [
        lambda v: v,
        np.sign,
        np.sin,
        lambda v: np.random.default_rng(0).normal(size=v.shape),
        lambda v: -v + 1e9,
        np.tanh,
    ],
)
def test_a_table_is_nondecreasing_whatever_the_score_is(psi) -> None:
    table = ScoreTable.of(psi, SPAN, 2.0**-21)
    found = table.at(BOTH)
    assert (np.diff(found) >= 0).all()
    assert table.at(np.zeros(1, dtype=np.int64)) == 0
    assert found.min() >= -(1 << 32)
    assert found.max() <= 1 << 32
    near = np.arange(-5000, 5001)
    assert (np.diff(table.at(near)) >= 0).all()


@pytest.mark.parametrize(
    "score", [huber_score(3e5), expectile_score(0.9), power_score(1.5), power_score(3)]
)
def test_a_table_is_close_to_the_score(score) -> None:
    step = 2.0**-21
    table = ScoreTable.of(score._values, SPAN, None if score.homogeneous else step)
    exact = score.psi(BOTH * step)
    scale = np.abs(table.at(BOTH)).max() / np.abs(exact).max()
    assert np.allclose(table.at(BOTH), exact * scale, rtol=1e-3, atol=2)
    assert np.abs(table.at(BOTH) / scale - exact).max() < 1e-3 * np.abs(exact).max()


@pytest.mark.parametrize("psi", [lambda v: v, np.sign, np.tanh, lambda v: np.clip(v, -2.3, 1.7)])
def test_a_score_is_between_the_knots_beside_it(psi) -> None:
    step = 2.0**-13
    v = np.arange(-40_000, 40_001)
    table = ScoreTable.of(psi, 1 << 16, step)
    low, high = table.beside(v, -1), table.beside(v, 1)
    for found in (low, high):
        assert (np.diff(found) >= 0).all()
        assert found[40_000] == 0
    assert (low <= table.at(v)).all()
    assert (table.at(v) <= high).all()
    # Between two knots any nondecreasing score may be: here one that steps in the middle.
    at = 3 * 2**13 + 1
    jump = ScoreTable.of(lambda v: np.where(v >= at * step, 1.0, np.minimum(v, 0.0)), 1 << 16, step)
    assert jump.beside(np.array([at]), 1) == jump.above[-1]
    assert jump.beside(np.array([at]), -1) == 0
    assert 0 < jump.at(np.array([at])) < jump.above[-1]


def test_beyond_the_span_a_table_is_constant() -> None:
    table = ScoreTable.of(lambda v: v, 100, 1.0)
    assert table.at(np.array([100, 101, -1000])).tolist() == [
        table.at(np.array([100]))[0],
        table.at(np.array([100]))[0],
        -table.at(np.array([100]))[0],
    ]


def score(psi, growth=1, width=None):
    return mo.Score("mine", psi, growth, width)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: mo.Score("mine", "v", 1), "psi must be a function"),
        (lambda: score(np.tanh, -1), "growth"),
        (lambda: score(np.tanh, np.nan), "growth"),
        (lambda: score(np.tanh, True), "growth"),
        (lambda: score(np.tanh, 0), "needs width"),
        (lambda: score(np.tanh, 0, -1), "needs width"),
        (lambda: score(np.tanh, 1, 3), "leave it out"),
        (lambda: mo.Score("mine", np.tanh, 0, 3, bends=((1.0, 2),)), "bends must be"),
        (lambda: mo.Score("mine", np.tanh, 0, 3, bends=(1.0, -1)), "bends must be"),
        (lambda: mo.Score("mine", np.tanh, 0, 3, bends=((np.inf, 1),)), "bends must be"),
        (lambda: score(lambda v: v + 1).check(9), r"psi\(0\) must be 0"),
        (lambda: score(lambda v: -v).check(9), "must not decrease"),
        (lambda: score(np.sin, 0, 3).check(9), "must not decrease"),
        (lambda: score(lambda v: v * 0).check(9), "must be negative far"),
        (lambda: score(lambda v: np.maximum(v, 0)).check(9), "must be negative far"),
        (lambda: score(lambda v: v[:3]).check(9), "one number a difference"),
        (lambda: score(lambda v: v / 0.0).check(9), "not finite"),
        (lambda: score(lambda v: v["x"]).check(9), "failed at public points"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_no_score(make, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        make()


def test_excess_of_a_pull_beyond_a_bound() -> None:
    rng = np.random.default_rng(0)
    for growth, tail in ((1, 3), (0.5, 3), (2, 7)):
        pareto = (1 - rng.random(2_000_000)) ** (-1 / tail)
        assert excess(growth, tail) == pytest.approx((pareto**growth).mean() - 1, rel=0.05)
    assert excess(3, 3) == np.inf
    assert excess(0, 1.1) == 0


def test_scores_of_the_library_are_values() -> None:
    for made in (huber_score(2), expectile_score(0.9), power_score(1.5)):
        assert pickle.loads(pickle.dumps(made)) == made
