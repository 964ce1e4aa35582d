"""Weighted means and ratios of sums: right, at any scale, and refused where they are not built."""

import math
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum import query as ask
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from tests.sources.cluster.test_distributed import Cluster

RNG = np.random.default_rng(31)
ROWS = 8000
PLAIN = pd.DataFrame({"x": RNG.normal(50, 10, ROWS), "w": RNG.lognormal(0, 0.7, ROWS)})
PLAIN["x"] += 10 * np.log(PLAIN.w)  # heavy rows have larger values
PLAIN["y"] = PLAIN.w * RNG.uniform(0.5, 0.9, ROWS)


def curator(table: Any, seed: object = 0, **given: Any) -> mo.Curator:
    budget = given.pop("budget", mo.pure(1000))
    return mo.Curator(table, budget=budget, entropy=SeededEntropy(f"ratio {seed}"), **given)


def mean_of(table: pd.DataFrame) -> float:
    return float(np.average(table.x, weights=table.w))


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}])
@pytest.mark.parametrize("within", [{}, {"within": (-1e9, 1e9)}])
def test_a_weighted_mean_is_that_of_rows_that_count_so_often(cost, within) -> None:
    budget = mo.pure(100) if "epsilon" in cost else mo.zcdp(100)
    truth, errors = mean_of(PLAIN), []
    for seed in range(6):
        found = curator(PLAIN, seed, budget=budget).mean("x", weights="w", **within, **cost)
        lower, upper = found.interval()
        assert found.usable
        assert lower < truth < upper
        assert found.method == "weighted"
        errors.append(abs(found.value - truth))
    assert np.mean(errors) < 0.1  # 53.6 without weights would be off by 5
    assert truth - PLAIN.x.mean() > 4


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}])
@pytest.mark.parametrize("within", [{}, {"within": (-1e9, 1e9)}])
def test_a_sum_with_weights_is_that_of_the_products(cost, within) -> None:
    budget = mo.pure(100) if "epsilon" in cost else mo.zcdp(100)
    truth = float((PLAIN.x * PLAIN.w).sum())
    for seed in range(4):
        found = curator(PLAIN, seed, budget=budget).sum("x", weights="w", **within, **cost)
        lower, upper = found.interval(tail=2)
        assert found.usable
        assert lower < truth < upper
        assert found.value == pytest.approx(truth, rel=0.03)
        assert "sum of x, weights w: " in str(found)


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}])
def test_a_ratio_is_far_closer_than_two_sums(cost) -> None:
    budget = mo.pure(100) if "epsilon" in cost else mo.zcdp(100)
    truth, errors, apart = PLAIN.y.sum() / PLAIN.w.sum(), [], []
    for seed in range(6):
        guarded = curator(PLAIN, seed, budget=budget)
        found = guarded.ratio("y", "w", **cost)
        lower, upper = found.interval()
        assert found.usable
        assert lower < truth < upper
        errors.append(abs(found.value - truth))
        two = guarded.sum("y", **cost).value / guarded.sum("w", **cost).value
        apart.append(abs(two - truth))
    assert np.mean(errors) < 0.5 * np.mean(apart)


def test_sizes_of_very_many_rows_leave_a_share_for_the_rough_total() -> None:
    """[ratio.4] In zCDP it is as small as their sum is unsure, and never nothing."""
    rows = 1_000_000
    x, w = np.arange(rows) % 97.0, 1.0 + np.arange(rows) % 2
    curator = mo.Curator(
        pa.table({"x": x, "w": w}), budget=mo.zcdp(2), entropy=SeededEntropy("many")
    )
    found = curator.mean("x", weights="w", rho=2)
    assert found.value == pytest.approx(np.average(x, weights=w), rel=1e-3)


def test_weights_that_are_all_equal_are_none() -> None:
    table = PLAIN.assign(w=1e-9)
    truth = table.x.mean()
    with_weights, without = (
        np.mean(
            [
                abs(curator(table, seed).mean("x", epsilon=1, **asked).value - truth)
                for seed in range(12)
            ]
        )
        for asked in ({"weights": "w"}, {})
    )
    assert with_weights < 2 * without + 0.02


@pytest.mark.parametrize("k", [-300, -30, 30, 300])
def test_weights_times_a_power_of_two_change_nothing(k: int) -> None:
    plain = curator(PLAIN, 5).mean("x", weights="w", epsilon=1)
    scaled = PLAIN.assign(w=np.ldexp(PLAIN.w, k))
    assert curator(scaled, 5).mean("x", weights="w", epsilon=1).value == plain.value
    ratio = curator(PLAIN, 5).ratio("y", "w", epsilon=1)
    both = scaled.assign(y=np.ldexp(PLAIN.y, k))
    assert curator(both, 5).ratio("y", "w", epsilon=1).value == ratio.value
    assert curator(scaled, 5).ratio("y", "w", epsilon=1).value == np.ldexp(ratio.value, -k)


def test_rows_without_a_weight_are_dropped_without_a_word() -> None:
    bad = pd.DataFrame(
        {"x": [1e6] * 600, "w": [-1.0, math.nan, math.inf, -math.inf, 0, -0.0] * 100}
    )
    bad = pd.concat([bad, pd.DataFrame({"x": [math.nan] * 100, "w": [5.0] * 100})])
    both = pd.concat([PLAIN[["x", "w"]], bad])
    one, other = (curator(table, 3).mean("x", weights="w", epsilon=1) for table in (PLAIN, both))
    # The same records: all that differs is which are chosen at random for the centre.
    assert other.value == pytest.approx(one.value, abs=0.2)
    assert [each.label for each in one.transcript] == [each.label for each in other.transcript]
    assert abs(other.value - mean_of(PLAIN)) < 0.5


def test_denominators_of_both_signs() -> None:
    table = pd.DataFrame({"x": RNG.normal(3, 1, ROWS), "w": RNG.normal(2, 1, ROWS)})
    truth = table.x.sum() / table.w.sum()
    for sign in (1, -1):
        found = curator(table.assign(w=sign * table.w)).ratio("x", "w", epsilon=1)
        lower, upper = found.interval()
        assert found.usable
        assert found.value == pytest.approx(sign * truth, abs=0.02)
        assert lower < sign * truth < upper


def test_a_sum_that_may_be_nothing_is_no_denominator() -> None:
    table = pd.DataFrame({"x": RNG.normal(3, 1, ROWS), "w": np.tile([1.0, -1.0], ROWS // 2)})
    found = curator(table).ratio("x", "w", epsilon=1)
    assert (found.code, found.usable) == ("few_records", False)
    assert -found.interval().lower == found.interval().upper == sys.float_info.max
    assert "Infinity" not in found.to_json()
    assert str(found)


UGLY = {
    "0/1 at 2 %": lambda n: (RNG.random(n) < 0.02).astype(float),
    "90 % zeros": lambda n: RNG.lognormal(3, 1, n) * (RNG.random(n) < 0.1),
    "lognormal": lambda n: RNG.lognormal(0, 1.5, n),
    "one value": lambda n: np.full(n, 7.25),
    "two clusters": lambda n: np.where(np.arange(n) % 5 == 0, 1e6, 0.0) + RNG.normal(size=n),
    "scale of 1e-9": lambda n: 1e-9 * RNG.normal(3, 1, n),
    "scale of 1e9": lambda n: 1e9 * RNG.normal(3, 1, n),
    "far from zero": lambda n: RNG.normal(1e6, 1, n),
}
WEIGHTS = {
    "equal": np.ones,
    "lognormal": lambda n: RNG.lognormal(0, 1, n),
    "half of them 0": lambda n: RNG.lognormal(0, 0.5, n) * (RNG.random(n) < 0.5),
    "Zipf": lambda n: np.minimum(np.random.default_rng(3).zipf(2.5, n), 1000).astype(float),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("values", UGLY)
@pytest.mark.one_in(2)
def test_intervals_hold_on_ugly_columns(values: str, weights: str) -> None:
    table = pd.DataFrame({"x": UGLY[values](ROWS), "w": WEIGHTS[weights](ROWS)})
    truth, missed = mean_of(table), 0
    for seed in range(6):
        found = curator(table, seed).mean("x", weights="w", epsilon=1)
        lower, upper = found.interval()
        missed += found.usable and not lower <= truth <= upper
    assert missed <= 1


def test_an_interval_holds_all_quotients_of_its_two_parts() -> None:
    """[ratio.5] Of a positive and a negative end, each by the least and the largest size."""
    model = curator(PLAIN).ratio("y", "w", epsilon="0.2").error_model
    total, sizes = model.total.interval(1 - 0.8 * 0.05, 2), model._sizes(0.05, 2)
    assert total[0] < 0 < total[1]
    assert 0 < sizes[0] < 0.99 * sizes[1]
    lower, upper = model.interval(0.95, 2)
    centre = model.lattice.value(model.centre)
    assert all(lower <= centre + each / size <= upper for each in total for size in sizes)


@pytest.mark.parametrize("rows", [0, 1, 20, 100])
def test_what_is_not_there_is_no_error(rows: int) -> None:
    guarded = curator(PLAIN.iloc[:rows])
    for found in (guarded.mean("x", weights="w", epsilon=1), guarded.ratio("y", "w", epsilon=1)):
        assert not found.usable
        assert found.to_json()
        found.interval()


@pytest.mark.parametrize("epsilon", ["1e-9", 1e-3, 0.1, 10, 1000])
def test_any_budget_is_spent_or_refused_before(epsilon) -> None:
    table = PLAIN.iloc[:300]
    for query in (
        ask.mean("x", weights="w", epsilon=epsilon),
        ask.mean("x", weights="w", within=(0, 1000), epsilon=epsilon),
        ask.ratio("y", "w", epsilon=epsilon),
    ):
        guarded = curator(table, budget=mo.pure(2000))
        try:
            guarded.run(query)
        except InvalidArgument:
            assert guarded.spent.amount == 0


@pytest.mark.parametrize(
    "table_of",
    [pl.from_pandas, pa.Table.from_pandas, lambda t: pl.from_pandas(t).lazy()],
    ids=["polars", "arrow", "lazy"],
)
def test_every_engine_has_the_same_sums(table_of) -> None:
    """The draws of the centre choose rows, so it is the summaries that are equal."""
    found = curator(table_of(PLAIN), 4).mean("x", weights="w", epsilon=200)
    assert found.value == pytest.approx(mean_of(PLAIN), abs=0.01)
    assert curator(table_of(PLAIN)).ratio("y", "w", epsilon=200).value == pytest.approx(
        PLAIN.y.sum() / PLAIN.w.sum(), abs=1e-4
    )


@pytest.mark.parametrize("merges", [0, 2])
def test_rows_that_stay_where_they_are(merges: int) -> None:
    whole = pa.Table.from_pandas(PLAIN)
    parts = [whole.slice(start, 3000) for start in range(0, ROWS, 3000)]
    guarded = curator(Cluster(parts, merges))
    assert guarded.mean("x", weights="w", epsilon=200).value == pytest.approx(
        mean_of(PLAIN), abs=0.01
    )
    truth = PLAIN.y.sum() / PLAIN.w.sum()
    assert guarded.ratio("y", "w", epsilon=200).value == pytest.approx(truth, abs=1e-4)
    total = guarded.sum("x", weights="w", epsilon=200).value
    assert total == pytest.approx((PLAIN.x * PLAIN.w).sum(), rel=1e-3)


def test_persons_count_with_a_number_of_rows() -> None:
    table = PLAIN.assign(who=np.arange(ROWS) // 2)
    for unit in (mo.unit_of("who"), mo.unit_of("who", max_rows=2)):
        found = curator(table, unit=unit).mean("x", weights="w", epsilon=4)
        assert found.value == pytest.approx(mean_of(PLAIN), abs=3)
        assert (found.limit is None) == (unit.rows == 2)


def test_what_is_not_built_is_refused_before_the_charge() -> None:
    table = PLAIN.assign(who=np.arange(ROWS) // 2, g="a")
    query = ask.mean("x", weights="w", epsilon=1)
    averaged = curator(table, unit=mo.unit_of("who", combine="mean"))
    with pytest.raises(InvalidArgument, match="not combined"):
        averaged.run(query)
    guarded = curator(table)
    with pytest.raises(InvalidArgument, match="one column each"):
        guarded.group_by("g", keys=["a"]).run(query)
    with pytest.raises(InvalidArgument, match="one column each"):
        guarded.group_by("g", keys=["a"]).ratio("y", "w", epsilon=1)
    assert averaged.spent.amount == guarded.spent.amount == 0


@pytest.mark.parametrize(
    ("column", "asked"),
    [
        ("x", {"weights": "x"}),
        (None, {"weights": "w"}),
        ("x", {"weights": 3}),
        ("x", {"weights": "w", "method": "bounded", "within": (0, 1)}),
        ("x", {"weights": "w", "clusters": "keep"}),
    ],
)
def test_weights_are_another_column_and_go_with_the_defaults(column, asked) -> None:
    for question in (ask.mean, ask.sum):
        with pytest.raises(InvalidArgument):
            question(column, epsilon=1, **asked)


def test_a_ratio_is_of_two_columns() -> None:
    for pair in (("x", "x"), ("x", None), (["x"], "w")):
        with pytest.raises(InvalidArgument):
            ask.ratio(*pair, epsilon=1)
    with pytest.raises(mo.errors.MissingColumn):
        curator(PLAIN).ratio("x", "nowhere", epsilon=1)


def test_what_pairs_have_no_answer_for_says_what_to_do() -> None:
    table = pd.DataFrame({"x": [1.0] * 9, "w": [2.0] * 9, "g": ["a"] * 9})
    groups = mo.Curator(table, budget=mo.pure(1)).group_by("g", keys=["a"])
    for ask_groups in (
        lambda: groups.mean("x", weights="w", epsilon=1),
        lambda: groups.ratio("x", "w", epsilon=1),
    ):
        with pytest.raises(InvalidArgument, match="with_columns"):
            ask_groups()
    with pytest.raises(AttributeError, match="made-up rows"):
        _ = mo.plan.ratio
    with pytest.raises(mo.errors.WrongCall, match="made-up rows"):
        mo.plan.mean(sd=1, n=100, epsilon=1, weights="w")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"epsilon": 5}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("kind", ["rare", "both signs", "few"])
def test_a_ratio_whose_rows_have_another_middle(kind, cost) -> None:
    """[people.7] Quotients leave out rows whose denominator is 0: the centre moves far."""
    rng = np.random.default_rng(4)
    n = 20_000
    top, below = {
        "rare": (np.ones(n), (rng.random(n) < 0.2) * 1.0),
        "both signs": (rng.uniform(1, 2, n), np.where(rng.random(n) < 0.7, 1.0, -1.0)),
        "few": (rng.lognormal(3, 0.5, n), rng.poisson(0.3, n) * 1.0),
    }[kind]
    table, true = pd.DataFrame({"x": top, "w": below}), top.sum() / below.sum()
    held = usable = 0
    for seed in range(6):
        asked = mo.Curator(
            table,
            budget=mo.pure(9) if "epsilon" in cost else mo.zcdp(9),
            entropy=SeededEntropy(f"{kind} {seed}"),
        )
        lower, upper = (found := asked.ratio("x", "w", **cost)).interval()
        held += lower <= true <= upper
        usable += found.usable
        assert abs(found.value - true) < 0.05 * true
    assert held >= 5
    assert usable >= 5  # once in 200 noise is taken for records beyond the bounds


def test_a_few_rows_with_most_of_the_weight_are_seen() -> None:
    """[people.5] One in twenty weighs ten thousand times as much: their octave is far out."""
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(20_000) < 1000, 1e4, 1.0)
    table = pd.DataFrame({"x": rng.lognormal(3, 0.7, 20_000), "w": weights})
    true = np.average(table.x, weights=table.w)
    for seed in range(6):
        asked = mo.Curator(table, budget=mo.pure(9), entropy=SeededEntropy(f"few {seed}"))
        found = asked.mean("x", weights="w", epsilon=1)
        lower, upper = found.interval()
        assert lower <= true <= upper
        assert abs(found.value - true) < 0.1 * true


def test_weights_beyond_all_octaves_are_said_to_be_left_out() -> None:
    """[people.5] A thousand rows weigh ten million times as much as half of all."""
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(20_000) < 1000, 1e7, 1.0)
    table = pd.DataFrame({"x": rng.lognormal(3, 0.7, 20_000), "w": weights})
    asked = mo.Curator(table, budget=mo.pure(9), entropy=SeededEntropy("beyond"))
    found = asked.mean("x", weights="w", epsilon=1)
    assert found.code == "clipped"
    assert "far larger weights" in found.status


@pytest.mark.parametrize("share", [0.005, 0.02])
def test_rare_ones_of_persons_are_seen_or_said_to_be_too_few(share) -> None:
    """[people.6] Most persons are at the centre, 0: the others have to outweigh the prior."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(6000), rng.geometric(0.2, 6000))
    table = pd.DataFrame({"x": (rng.random(len(who)) < share) * 1.0, "who": who})
    for seed in range(6):
        asked = mo.Curator(
            table,
            budget=mo.pure(9),
            unit=mo.unit_of("who"),
            entropy=SeededEntropy(f"rare {seed}"),
        )
        found = asked.mean("x", epsilon=1)
        lower, upper = found.interval()
        assert not found.usable or lower <= table.x.mean() <= upper
