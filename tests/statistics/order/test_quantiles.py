"""Several quantiles: which law is taken, and that all intervals together cover them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.runtime.run import run
from modicum.statistics.order.quantile_points import FEW, MOST_JOINT
from tests.statistics.order.test_quantile import SHAPES, Remembering

WITHIN = (-1e9, 1e9)


def fractions(m: int) -> list[Fraction]:
    return [Fraction(i, m + 1) for i in range(1, m + 1)]


def walks(question, data, releases: int, seed: str) -> list:
    reader, entropy = Remembering(data), SeededEntropy(seed)
    return [
        run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"]
        for _ in range(releases)
    ]


def ends(data, qs) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest quantile of every q."""
    x, n = np.sort(data), len(data)
    low = [max(math.ceil(q * n) - 1, 0) for q in qs]
    high = [min(math.floor(q * n), n - 1) for q in qs]
    return x[low], x[high]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("m", "epsilon", "shape"),
    [
        (9, 2, "uniform"),  # together
        (9, 2, "ages"),
        (9, 2, "coins"),
        (3, 1, "pareto 1.5"),
        pytest.param(16, 2, "normal", marks=pytest.mark.slow),  # around the bulk
        pytest.param(33, 4, "normal", marks=pytest.mark.slow),  # one between others
        (5, "0.05", "far"),
    ],
)
def test_intervals_cover_all_quantiles_at_once(m, epsilon, shape) -> None:
    level, held, informative = 0.8, 0, 0
    question = query.quantiles(q=fractions(m), within=WITHIN, epsilon=epsilon)
    for k in range(4):
        data = SHAPES[shape](np.random.default_rng([m, k]), 600)
        low, high = ends(data, fractions(m))
        for walk in walks(question, data, 8, f"{shape} {m} {k}"):
            lower, upper = walk.answer.error_model.intervals(level, None)
            held += bool((lower <= low).all() and (high <= upper).all())
            informative += bool((upper - lower < 2e9).any())
    assert held >= 32 * level - 3 * math.sqrt(32 * level * (1 - level))
    assert informative > 0 or epsilon == "0.05"


def labels(walk) -> list[str]:
    return [entry.label for entry in walk.transcript]


def test_the_law_depends_on_the_number_of_quantiles_and_a_noisy_count() -> None:
    data = np.random.default_rng(1).normal(size=600)

    def drawn(m: int, **cost) -> tuple[list[str], str]:
        question = query.quantiles(q=fractions(m), within=WITHIN, level=None, **cost)
        (walk,) = walks(question, data, 1, f"law {m}")
        return labels(walk), walk.transcript[-1].mechanism

    assert drawn(1, epsilon=1) == (["quantiles"], "NestedQuantiles")
    plenty, middling = ["count", "quantiles"], ["count", "bulk", "quantiles"]
    assert drawn(9, epsilon=2) == (plenty, "JointQuantiles")
    assert drawn(9, rho=1) == (plenty, "JointQuantiles")
    assert drawn(9, epsilon="0.4") == (middling, "JointQuantiles")
    assert drawn(9, rho="0.03") == (middling, "JointQuantiles")
    assert drawn(9, epsilon="0.01") == (plenty, "NestedQuantiles")
    assert drawn(9, epsilon="0.005")[0] == ["quantiles"]  # too many records would be kept
    assert drawn(FEW, epsilon=2)[0] == plenty
    assert drawn(FEW + 1, epsilon=1) == (middling, "JointQuantiles")
    assert drawn(FEW + 1, epsilon=4) == (plenty, "JointQuantiles")
    assert drawn(MOST_JOINT + 1, epsilon=2) == (["quantiles"], "NestedQuantiles")


@pytest.mark.parametrize(("shape", "most"), [("constant", 1), ("ages", 1.5), ("normal", 6)])
def test_nine_quantiles_are_near_in_rank(shape, most) -> None:
    """The joint law misses by 0, 0.6 and 4.5 ranks on average; the nested one by 10, 4 and 13."""
    data = SHAPES[shape](np.random.default_rng(5), 1000)
    question = query.quantiles(
        q=fractions(9),
        within=WITHIN,
        epsilon=1,
        step=1 if shape != "normal" else None,
        level=None,
    )
    x, wanted = np.sort(data), 100.0 * np.arange(1, 10)
    missed = []
    for walk in walks(question, data, 30, shape):
        found = np.array([float(value) for value in walk.answer.values])
        below, upto = np.searchsorted(x, found, "left"), np.searchsorted(x, found, "right")
        missed.append(np.maximum(0, np.maximum(below - wanted, wanted - upto)).mean())
    assert np.mean(missed) < most
    assert shape != "constant" or np.mean(missed) == 0


@pytest.mark.parametrize(
    ("shape", "m", "epsilon", "most"), [("normal", 29, 1, 15), ("pareto 1.5", 9, "0.4", 25)]
)
def test_the_bulk_of_a_wide_range_is_found(shape, m, epsilon, most) -> None:
    """Without it all quantiles are likely to leave the data: they miss by 50 ranks on average."""
    data = SHAPES[shape](np.random.default_rng(6), 1000)
    question = query.quantiles(q=fractions(m), within=WITHIN, epsilon=epsilon, level=None)
    x, wanted = np.sort(data), 1000 / (m + 1) * np.arange(1, m + 1)
    missed = []
    for walk in walks(question, data, 8, shape):
        assert "bulk" in labels(walk)
        found = np.array([float(value) for value in walk.answer.values])
        assert (np.diff(found) >= 0).all()
        missed.append(np.abs(np.searchsorted(x, found) - wanted).mean())
    assert np.mean(missed) < most


def test_records_that_were_not_kept_are_found_for_the_bulk() -> None:
    """The smallest share is that of one quantile; windows do not meet."""
    data = np.random.default_rng(7).normal(1000, 1, 60_000)
    question = query.quantiles(q=["0.0005", "0.5"], within=WITHIN, epsilon=1, level=None)
    (walk,) = walks(question, data, 1, "few")
    assert labels(walk) == ["count", "bulk", "quantiles"]
    low, middle = (float(value) for value in walk.answer.values)
    assert 996 < low < 997.5
    assert 999.9 < middle < 1000.1


@pytest.mark.parametrize("found", [False, True])
def test_a_single_one_is_that_of_a_quantile(found) -> None:
    """Counts around one point have no scale to place edges by: they left the whole range."""
    data = np.random.default_rng(1).lognormal(10, 0.6, size=5000)
    cost = {"within": None if found else WITHIN, "epsilon": 1}
    held = 0
    for walk in walks(query.quantiles(q=[0.3], **cost), data, 8, f"one {found}"):
        lower, upper = (float(end[0]) for end in walk.answer.error_model.intervals(0.95, None))
        held += lower <= np.quantile(data, 0.3) <= upper
        assert upper - lower < 0.1 * np.quantile(data, 0.3)
        assert walk.answer.status.ok
        (wide,) = zip(*walk.answer.error_model.intervals(0.99, None), strict=True)
        assert wide[1] - wide[0] > 100 * (upper - lower)  # ends are for the level that was asked
    assert held >= 7


def test_intervals_without_an_end_are_never_ok() -> None:
    """Of points so near that no counts tell them apart, outer ends are those of the range."""
    data = np.random.default_rng(2).normal(size=6000)
    codes = []
    for walk in walks(query.quantiles(q=[0.5, 0.51], within=WITHIN, epsilon=1), data, 6, "near"):
        lower, upper = walk.answer.error_model.intervals(0.95, None)
        codes.append((walk.answer.status.code, bool((upper - lower > 1e8).any())))
    assert ("range_end", True) in codes
    assert ("ok", True) not in codes
