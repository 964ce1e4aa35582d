"""Ranges that are found: private, near the data whatever their scale; honest if there is none."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import modicum as mo
from modicum import audit
from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.exact.octaves import OCTAVES
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.statistics.ranges import found_range
from modicum.summaries.sizes import OctaveCounts
from tests.audit.counted import FINER, told_apart

N = 20_000
RNG = np.random.default_rng(18)
LOGNORMAL = RNG.lognormal(3, 1, N)
SLOW = pytest.mark.slow
COSTS = ({"epsilon": 1}, {"rho": "0.5"})
QUESTIONS: dict[str, dict[str, Any]] = {
    "sum": {},
    "std": {},
    "var": {},
    "skewness": {},
    "min": {},
    "max": {},
    "median": {},
    "quantile": {"q": 0.9},
    "quantiles": {"q": [0.25, 0.5, 0.75]},
    "iqr": {},
    "trimmed_mean": {"trim": 0.1},
    "winsorized_mean": {"trim": 0.1},
    "expectile": {"tau": 0.8},
    "huber": {},
}
COLUMNS: dict[str, dict[str, Any]] = {
    "mean_vector": {},
    "clipped_mean_vector": {},
    "covariance": {},
    "pca": {"components": 1},
    "linear_regression": {},
}


def released(name: str, x: Any, seed: object = 0, **asked: Any) -> Any:
    budget = mo.pure(100) if "epsilon" in asked else mo.zcdp("0.5")
    curator = mo.Curator(x, budget=budget, entropy=SeededEntropy(f"range {seed}"))
    return getattr(curator, name)(**(QUESTIONS | COLUMNS).get(name, {}), **asked)


def numbers(release: Any) -> list[float]:
    return list(release) if hasattr(release, "numbers") else [release.value]


# Through every branch, on any data: too few values, some, many; sizes about 1 and their ends.
BRANCHES = {
    "values other than 0": ((0,), (3000,), (10**6,)),
    "values other than 0, again": ((0,), (300,)),
    "octave": (0, 1022, 2045),
    "top": (0, 3, 2045),
    "values beyond the range": ((0,), (10**4,)),
    "values beyond the range, again": ((0,), (10**4,)),
    "top, wider": (3, 2045),
    "values beyond a wider range": ((0,), (10**4,)),
    "count": ((0,), (20_000,)),
}
FEWER = BRANCHES | {
    "values other than 0": ((0,), (10**6,)),
    "values other than 0, again": ((300,),),
    "octave": (0, 1022),
    "top": (0, 2045),
    "values beyond the range, again": ((10**4,),),
    "top, wider": (2045,),
    "values beyond a wider range": ((10**4,),),
    "count": ((20_000,),),
}


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize(
    "branches", [FEWER, pytest.param(BRANCHES, marks=SLOW)], ids=["few", "all"]
)
def test_the_claim_is_kept_on_every_branch_and_used(
    branches: dict[str, Any], cost: dict[str, Any]
) -> None:
    """[range.9] Of a part of a range that is found, as values are smaller than its step."""
    query = told_apart(ask.sum(within=(-1e9, 1e9), **cost))
    pairs = audit.neighbours((0.0, 1e-8, 5.0), 2)
    report = audit.check(query, pairs, values=FINER | branches, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    for label in ("values other than 0", "octave", "top", "values beyond the range"):
        assert used[label] > 0.99, label


@pytest.mark.parametrize("cost", [*COSTS, {"epsilon": 100}], ids=str)
@pytest.mark.parametrize("rows", [500, 5000, 50_000])
def test_an_octave_beyond_all_values_is_next_to_never_drawn(
    rows: int, cost: dict[str, Any]
) -> None:
    """[range.3] It would make all of them zeros, and any answer be 0."""
    found = released("histogram", LOGNORMAL[:1].repeat(rows), bins=4, **cost)
    (event,) = (step.event for step in found.transcript if step.label == "octave")
    assert OCTAVES.last * math.exp(-float(event.eta) * rows / 2) < 1e-5


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.one_in(2)
def test_powers_of_two_scale_the_answer_bit_for_bit(name: str, cost: dict[str, Any]) -> None:
    """But for a variance, which is in squared units, and a skewness, which has none."""
    power = {"var": 2, "skewness": 0}.get(name, 1)
    found = released(name, LOGNORMAL, **cost)
    for k in (-450, 5):
        scaled = released(name, np.ldexp(LOGNORMAL, k), **cost)
        assert np.ldexp(numbers(scaled), -k * power).tolist() == numbers(found)
        assert np.ldexp(scaled.range_found, -k).tolist() == list(found.range_found)


def test_bins_between_edges_in_no_range_hold_everyone() -> None:
    """The outer ones have no ends: what is beyond the range counts in them."""
    found = released("histogram", LOGNORMAL, bins=10, epsilon=1)
    left, right = (np.array(ends) for ends in zip(*found.labels, strict=True))
    assert [left[0], right[-1]] == [-math.inf, math.inf]
    assert left[1:].tolist() == right[:-1].tolist()
    counts = np.histogram(LOGNORMAL, [LOGNORMAL.min() - 1, *left[1:], LOGNORMAL.max() + 1])[0]
    assert np.allclose(found.values, counts, atol=15)
    assert np.allclose(found.values, len(LOGNORMAL) / 10, rtol=0.1)
    assert found.range_found[1] > LOGNORMAL.max()
    assert found.within is None

    scaled = released("histogram", np.ldexp(LOGNORMAL, 300), bins=10, epsilon=1)
    assert scaled.values.tolist() == found.values.tolist()
    assert [a for a, _ in scaled.labels] == np.ldexp(left, 300).tolist()


KINDS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda rng: rng.normal(5e4, 2e4, N),
    "lognormal": lambda rng: rng.lognormal(10, 1.5, N),
    "90 % zeros": lambda rng: np.where(rng.random(N) < 0.9, 0, rng.lognormal(8, 1, N)),
    "20 % ones": lambda rng: (rng.random(N) < 0.2).astype(float),
    "one value": lambda rng: np.full(N, 42.0),
    "two clusters": lambda rng: np.where(
        rng.random(N) < 0.5, rng.normal(1, 0.1, N), rng.normal(1e6, 10, N)
    ),
    "tiny": lambda rng: rng.normal(1e-9, 1e-10, N),
    "huge": lambda rng: rng.exponential(1e100, N),
    "negative": lambda rng: -rng.lognormal(3, 1, N),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["mean", "sum", "median", "std"])
@pytest.mark.one_in(4)
def test_an_answer_is_about_as_good_as_with_a_range(name: str, kind: str) -> None:
    """As with a range a thousand times the largest value, which nobody knows.

    The ratio of so few errors only shows what is wrong altogether; plans know it better, below.
    """
    x = KINDS[kind](np.random.default_rng(5))
    truth = {"mean": x.mean(), "sum": x.sum(), "median": np.median(x), "std": x.std()}[name]
    reach = 1024 * float(np.abs(x).max())
    errors, right = [], 0
    for seed in range(12):
        given = released(name, x, seed, epsilon=1, within=(-reach, reach))
        found = released(name, x, seed, epsilon=1)
        errors.append([abs(each.value - truth) for each in (found, given)])
        lower, upper = found.interval(tail=2)
        right += found.usable and lower <= truth <= upper
    of_found, of_given = np.median(errors, axis=0)
    assert of_found <= 5 * of_given + 1e-9 * abs(truth)
    assert right >= 10


@pytest.mark.parametrize("shape", ["normal", "lognormal", "pareto"])
@pytest.mark.parametrize("name", ["mean", "sum", "median", "std"])
@pytest.mark.one_in(12)
def test_a_plan_knows_that_a_range_hardly_helps(name: str, shape: str) -> None:
    """Of a table of N rows; a range of a thousand times the values is what one could guess."""
    plan, guess = getattr(mo.plan, name), {"epsilon": 1, "n": N, "sd": 5e4, "shape": shape}
    # A mean counts the records near its bounds too, which it does not within a range.
    most = 1.25 if name == "mean" else 1.12
    assert plan(**guess).error < most * plan(within=(-1e9, 1e9), **guess).error


def test_far_rows_do_not_spoil_what_hardly_depends_on_them() -> None:
    x = LOGNORMAL.copy()
    x[: N // 50] = 1e30
    for name, truth in (
        ("median", np.median(x)),
        ("quantile", np.quantile(x, 0.9)),
        ("iqr", np.subtract(*np.quantile(x, [0.75, 0.25]))),
        ("trimmed_mean", np.sort(x)[N // 10 : -N // 10].mean()),
    ):
        found = released(name, x, epsilon=1)
        assert found.usable
        assert found.value == pytest.approx(truth, rel=0.02)


def _far(n: int, others: int, size: float, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).lognormal(3, 1, n)
    x[:others] = size
    return x


SELDOM = {
    "values other than 0, again",
    "top, again",
    "values beyond the range, again",
    "top, wider",
    "values beyond a wider range",
}
USUAL = {name: draw for name, draw in found_range.DRAWS.items() if name not in SELDOM}
FAR = {
    "residues of floats instead of zeros": np.r_[RNG.normal(0, 1e-17, 99_500), _far(500, 0, 0, 1)],
    "500 values at 1e17": _far(100_000, 500, 1e17, 2),
    "1,500 values at 1e30": _far(100_000, 1500, 1e30, 3),
    "1,000 values at 1e9": _far(100_000, 1000, 1e9, 4),
    "15 % of few at 1e12": _far(3000, 450, 1e12, 5),
    "600 values at 1e60": _far(20_000, 600, 1e60, 8),
    "most at 1e100": _far(20_000, 11_000, 1e100, 6),
    "40 % at 1e100": _far(20_000, 8000, 1e100, 7),
}


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("name", ["mean", "sum", "max", "std", "median", "quantile"])
@pytest.mark.one_in(4)
def test_values_far_away_are_in_the_range_or_seen_to_be_beyond(name: str, kind: str) -> None:
    x = FAR[kind]
    truth = {
        "mean": x.mean,
        "sum": x.sum,
        "max": x.max,
        "std": x.std,
        "median": lambda: np.median(x),
        "quantile": lambda: np.quantile(x, 0.9),
    }[name]()
    wrong = 0
    for seed in range(6):
        found = released(name, x, seed, epsilon=1)
        lower, upper = found.interval(tail=2)
        near = abs(found.value - truth) <= 0.02 * abs(truth)
        wrong += found.usable and not (near or lower <= truth <= upper)
    assert wrong <= 1


def test_few_values_far_away_are_nothing_to_what_hardly_depends_on_them() -> None:
    for name in ("median", "huber"):
        assert released(name, FAR["600 values at 1e60"], epsilon=1).code == "ok"


NOTHING = {
    "no rows": np.empty(0),
    "one row": np.array([3.0]),
    "zeros": np.zeros(N),
    "missing": np.full(N, math.nan),
    "few ones": np.r_[np.ones(20), np.zeros(N)],
    "subnormal": np.full(N, 5e-324),
}


@pytest.mark.parametrize("kind", NOTHING)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.one_in(3)
def test_too_few_values_are_said_to_be_too_few(name: str, kind: str) -> None:
    found = released(name, NOTHING[kind], epsilon=1)
    assert (found.usable, found.code) == (False, "few_records")
    assert "`within`" in found.status
    assert "few_records" in str(found)
    assert found.to_json()
    if name in {"sum", "std", "max", "median"}:
        x = NOTHING[kind][~np.isnan(NOTHING[kind])]
        truth = {"sum": np.sum, "std": np.std, "max": np.max, "median": np.median}
        if len(x) > 1:
            lower, upper = found.interval(tail=2)
            assert lower <= float(truth[name](x)) <= upper


@pytest.mark.parametrize(
    ("name", "size"), [("sum", math.inf), ("mean", 1e308), ("median", -math.inf), ("var", 1e200)]
)
def test_values_beyond_every_lattice_are_said_to_be(name: str, size: float) -> None:
    found = released(name, np.full(N, size), epsilon=1)
    assert (found.usable, found.code) == (False, "clipped")
    assert found.to_json()


def test_all_lattices_have_the_same_integers() -> None:
    """So what an estimator refuses does not depend on the range that was found."""
    ends = {
        (found_range._lattice(k).first, found_range._lattice(k).last) for k in range(-1100, 1100)
    }
    assert ends == {(-(2**51), 2**51)}


def test_a_budget_too_small_is_refused_before_it_is_charged() -> None:
    for cost in ({"epsilon": "0.00001"}, {"rho": "1e-12"}):
        budget = mo.pure(1) if "epsilon" in cost else mo.zcdp(1)
        curator = mo.Curator(LOGNORMAL, budget=budget)
        with pytest.raises(mo.InvalidArgument, match="larger budget"):
            curator.median(**cost)
        assert curator.remaining == budget


@pytest.mark.parametrize("event", [PureDP(Fraction(1)), ZCDP(Fraction(1, 10))])
def test_the_statistic_has_most_of_the_budget(event: Any) -> None:
    split = BudgetSplit(event)
    least = 1 - sum(split.part_for(*largest) for largest in USUAL.values())
    assert least > (0.59 if event.kind == "pure" else 0.95)
    queried = ask.mean(budget=mo.pure(1))
    assert queried.finds_range
    assert not ask.mean(within=(-1, 1), epsilon=1).finds_range


def test_what_needs_a_range_says_so() -> None:
    with pytest.raises(mo.InvalidArgument, match="step needs within"):
        ask.mean(step=0.5, epsilon=1)
    for question in (ask.mean, ask.sum):
        with pytest.raises(mo.InvalidArgument, match=r"needs within=.*known as tight"):
            question(method="bounded", epsilon=1)


def test_a_release_tells_the_range_that_was_found() -> None:
    found = released("median", LOGNORMAL, epsilon=1)
    assert found.within is None
    low, high = found.range_found
    assert low < np.median(LOGNORMAL) < high
    assert f'"range_found": [{low}, {high}]' in found.to_json()
    assert [entry.label for entry in found.transcript[:2]] == ["zeros and other values", "window"]
    octaves = released("histogram", LOGNORMAL, bins=4, epsilon=1)
    low, high = octaves.range_found
    assert -low == high == 2.0 ** round(math.log2(high))
    assert [entry.label for entry in octaves.transcript[:4]] == list(USUAL)
    given = released("median", LOGNORMAL, epsilon=1, within=(-1e9, 1e9))
    assert given.range_found is None
    assert "range_found" not in given.to_json()


def test_groups_have_ranges_of_their_own() -> None:
    table = {"key": ["a"] * N + ["b"] * N, "x": np.r_[LOGNORMAL, 1e12 * LOGNORMAL]}
    curator = mo.Curator(pl.DataFrame(table), budget=mo.pure(1))
    found = curator.group_by("key", keys=["a", "b"]).mean("x", epsilon=1)
    assert found["a"].range_found[1] < 1e9 < found["b"].range_found[1]
    for key, scale in (("a", 1.0), ("b", 1e12)):
        assert found[key].value == pytest.approx(scale * LOGNORMAL.mean(), rel=0.1)


def test_a_plan_predicts_the_error() -> None:
    plan = mo.plan.median(epsilon=1, n=N, sd=1e-5, shape="normal")
    assert {"zeros and other values", "window"} <= {label for label, _ in plan.events}
    x = 1e-5 * RNG.normal(size=(40, N))
    errors = [
        abs(released("median", row, i, epsilon=1).value - np.median(row)) for i, row in enumerate(x)
    ]
    assert plan.error == pytest.approx(np.mean(errors), rel=0.4)
    assert "the range to be found" in " ".join(str(plan).split())
    assert '"within": null' in plan.to_json()


def test_a_cluster_to_be_kept_is_in_the_range() -> None:
    """250 of 50,250 values, a million times as far out as the others are spread."""
    x = np.r_[RNG.normal(size=50_000), np.full(250, 1e6)]
    kept = [released("mean", x, i, epsilon=1, clusters="keep").value for i in range(10)]
    assert np.median(np.abs(np.array(kept) / x.mean() - 1)) < 0.1


def rows_of(n: int, seed: int = 7) -> np.ndarray:
    """Incomes, ages, a dummy, and what follows from them."""
    rng = np.random.default_rng(seed)
    incomes, ages = rng.lognormal(10, 0.5, n), rng.integers(18, 90, n)
    dummy = rng.random(n) < 0.3
    return np.c_[incomes, ages, dummy, 1e-3 * incomes + 3 * ages + rng.normal(0, 10, n)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", [COSTS[1], pytest.param(COSTS[0], marks=SLOW)], ids=str)
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_need_no_range_either(name: str, cost: dict[str, Any]) -> None:
    """As good as within ±1e9, which is a thousand times the largest values and more."""
    x = rows_of(N)
    truth = {
        "mean_vector": lambda: x.mean(axis=0),
        "clipped_mean_vector": lambda: x.mean(axis=0),
        "covariance": lambda: np.cov(x.T, bias=True),
        "pca": lambda: np.abs(np.linalg.eigh(np.cov(x.T))[1][:, -1:].T),
        "linear_regression": lambda: np.linalg.lstsq(np.c_[np.ones(N), x[:, :-1]], x[:, -1])[0],
    }[name]()
    errors = []
    for seed in range(5):
        found, given = (
            released(name, x, seed, **cost, **within) for within in ({}, {"within": (-1e9, 1e9)})
        )
        assert found.usable
        assert found.range_found[1] > np.abs(x).max()
        apart = [np.abs(np.abs(each.values) - np.abs(truth)).ravel() for each in (found, given)]
        errors.append(apart)
    of_found, of_given = np.median(errors, axis=0)
    assert (of_found <= 6 * of_given + 1e-9 * np.abs(truth).ravel()).all()


@pytest.mark.parametrize("name", COLUMNS)
def test_powers_of_two_scale_answers_released(name: str) -> None:
    power = {"covariance": 2, "pca": 0}.get(name, 1)
    x = rows_of(N)
    found = released(name, x, rho="0.5").values
    for k in (-200, 200):
        scaled = released(name, np.ldexp(x, k), rho="0.5").values
        if name == "linear_regression":  # a slope is a ratio
            assert np.ldexp(scaled[0], -k) == found[0]
            assert scaled[1:].tolist() == found[1:].tolist()
        else:
            assert np.ldexp(scaled, -k * power).tolist() == found.tolist()


@pytest.mark.parametrize("cost", [COSTS[0], pytest.param(COSTS[1], marks=SLOW)], ids=str)
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    "x",
    [
        np.zeros((N, 3)),
        np.empty((0, 3)),
        np.ones((1, 2)),
        np.full((N, 2), math.nan),
        np.full((N, 2), math.inf),
        1e150 * RNG.normal(size=(N, 2)),
        1e-200 * RNG.normal(size=(N, 2)),
    ],
    ids=["zeros", "no rows", "one row", "missing", "infinite", "huge", "tiny"],
)
@pytest.mark.one_in(3)
def test_rows_of_any_size_are_answered(x: np.ndarray, name: str, cost: dict[str, Any]) -> None:
    found = released(name, x, **cost)
    assert ("found privately" in str(found)) == found.usable
    assert found.to_json()
    if len(np.unique(x)) < 3:
        assert not found.usable


def test_a_row_counts_once_and_by_its_largest_value() -> None:
    rows = np.array([[0.0, 0.0], [1.0, -8.0], [3.0, 0.0], [1.5, 1.5], [math.inf, 1.0]])
    reading = OctaveCounts().begin(OCTAVES)
    reading.update(rows)
    counts = np.array(reading.finish().counts)
    assert {int(k): int(counts[k]) for k in np.flatnonzero(counts)} == {
        0: 1, 1023: 1, 1024: 1, 1026: 1, 2046: 1,
    }  # fmt: skip


@SLOW
def test_rows_keep_the_claim() -> None:
    places = [(0.0, 0.0), (1.0, -4.0), (1e300, 2.0)]
    pairs = [
        (np.array(data).reshape(-1, 2), np.array([*data, row]).reshape(-1, 2))
        for data in ([], [places[0]], [places[1]], [places[1], places[2]])
        for row in places
    ]
    for cost in COSTS:
        query = ask.mean_vector(**cost)
        report = audit.check(query, pairs, values=BRANCHES, widths=(0, 0, 0, 0, 0))
        assert report.passed, report
        assert USUAL.keys() <= {step.label for step in report.steps}
