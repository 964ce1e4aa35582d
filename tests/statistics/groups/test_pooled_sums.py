"""Sums and counts of groups of persons with all their rows, bounded in all groups at once."""

import math

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.mechanisms.additive import LaplaceNoise
from modicum.statistics.groups.pooled_sums import FEW, FEWEST, GroupSumErrorModel
from modicum.statistics.tails.outside import NoisyTerm
from modicum.stored import codec
from tests.statistics.groups.test_pooled_persons import GROUPS, KEYS, UNIT, VISITS, groups

TRUTH = {
    "count": VISITS.groupby("g").size().to_numpy().astype(float),
    "sum": VISITS.groupby("g")["x"].sum().to_numpy(),
}


@pytest.fixture(params=TRUTH)
def kind(request) -> str:
    return request.param


def asked(kind, grouped, within=None, **cost):
    """The count of rows, or the sum."""
    return grouped.count(**cost) if kind == "count" else grouped.sum("x", within=within, **cost)


def truth_of(kind, table, keys=KEYS):
    rows = table.groupby("g")["x"]
    found = rows.size() if kind == "count" else rows.sum()
    return found.reindex(keys).fillna(0).to_numpy()


@pytest.fixture
def found(kind):
    return asked(kind, groups(), epsilon=2)


def error_of(frame, truth) -> float:
    return float(np.abs(frame["value"] - truth).mean())


def test_small_groups_of_persons_are_answered(kind, found) -> None:
    frame, truth = found.frame(), TRUTH[kind]
    assert frame["usable"].all()
    assert error_of(frame, truth) < 0.04 * truth.mean()
    assert ((frame["lower"] <= truth) & (frame["upper"] >= truth)).mean() > 0.93
    alone = asked(kind, groups(pooled=False), epsilon=2).frame()
    assert not alone["usable"].any()
    assert (np.abs(alone["value"] - truth) > 4 * error_of(frame, truth)).mean() > 0.6
    assert list(frame.columns) == ["key", "value", "lower", "upper", "usable"]


def test_nobody_is_dropped_and_no_number_of_groups_is_found(kind, found) -> None:
    assert found.unit == UNIT
    assert found[0].groups_found is None
    labels = [entry.label for entry in found[0].transcript]
    assert "most groups" not in labels
    assert labels[-1] == "total"
    assert "persons were bounded in all groups at once" in " ".join(str(found).split())
    assert sum(r.value for r in found.values()) == pytest.approx(TRUTH[kind].sum(), rel=0.03)


@pytest.mark.parametrize("budget", [mo.pure(2), mo.zcdp("0.2")], ids=str)
def test_every_group_spends_the_whole_cost(kind, budget) -> None:
    cost = {"epsilon": 2} if budget.kind == "pure" else {"rho": "0.2"}
    found = asked(kind, groups(budget=budget), **cost)
    for release in found.values():
        spent = sum(entry.event.cost(budget.kind).amount for entry in release.transcript)
        assert spent == budget.amount
    assert error_of(found.frame(), TRUTH[kind]) < 0.1 * TRUTH[kind].mean()


def test_rows_are_whole_numbers() -> None:
    values = [each.value for each in groups().count(epsilon=2).values()]
    assert values == [round(value) for value in values]


def test_rows_and_sums_of_one_table_share_its_budget() -> None:
    both = groups(budget=mo.pure(4)).release(
        rows=mo.query.count(epsilon=2), total=mo.query.sum("x", epsilon=2)
    )
    assert both["rows"].usable
    assert error_of(both["total"].frame(), TRUTH["sum"]) < 0.05 * TRUTH["sum"].mean()


@pytest.mark.parametrize("budget", [mo.pure(2), mo.zcdp(2)], ids=str)
def test_the_noise_is_what_it_says(kind, budget) -> None:
    """Nobody is beyond the limit, so all sums are known; a scale 30 % less would be seen."""
    n, cost = 12_000, {"epsilon": 2} if budget.kind == "pure" else {"rho": 2}
    table = pd.DataFrame({"who": np.arange(n), "g": np.arange(n) % 300, "x": np.ones(n)})
    ratios = []
    for seed in ("one", "two"):
        grouped = groups(table, seed=seed, keys=range(300), budget=budget)
        found = asked(kind, grouped, within=(0, 2), **cost)
        for release in found.values():
            model = release.error_model
            assert model.limit >= 1
            spent = float(release.transcript[-1].event.cost(budget.kind).amount)
            variance = model.most**2 * (2 / spent**2 if budget.kind == "pure" else 0.5 / spent)
            assert model.noise.variance == pytest.approx(variance, rel=0.01)
            ratios.append((model.noisy - 40 / model.lattice.step) ** 2 / variance)
    assert 0.8 < np.mean(ratios) < 1.25  # 0.49 if the scale is 30 % too small


def test_sums_that_are_larger_by_a_power_of_two_are_answered_likewise() -> None:
    plain = [release.value for release in groups().sum("x", epsilon=2).values()]
    for power in (-200, 30):
        scaled = groups(VISITS.assign(x=VISITS["x"] * 2.0**power)).sum("x", epsilon=2)
        assert [release.value for release in scaled.values()] == [v * 2.0**power for v in plain]


def test_the_order_of_rows_does_not_move_what_is_added_up(kind) -> None:
    within = (-1e3, 1e3)
    frame = asked(kind, groups(seed="order"), within, epsilon=2).frame()
    shuffled = VISITS.sort_values("x", ascending=False, ignore_index=True)
    other = asked(kind, groups(shuffled, seed="order"), within, epsilon=2).frame()
    assert np.allclose(frame["value"], other["value"], rtol=1e-9)


N = len(VISITS)
ODD = np.random.default_rng(1)
TABLES = {
    "none": VISITS[:0],
    "few": VISITS[:40],
    "missing": VISITS.assign(x=math.nan),
    "one value": VISITS.assign(x=7.0),
    "2 % ones": VISITS.assign(x=(np.arange(N) % 50 == 0) * 1.0),
    "90 % zeros": VISITS.assign(x=(ODD.random(N) < 0.1) * ODD.lognormal(5, 1, N)),
    "all zeros": VISITS.assign(x=0.0),
    "tiny": VISITS.assign(x=VISITS["x"] * 1e-9),
    "huge": VISITS.assign(x=VISITS["x"] * 1e9),
    "two signs": VISITS.assign(x=np.where(VISITS["g"] % 2, 1.0, -1.0) * VISITS["x"]),
    "lognormal": VISITS.assign(x=ODD.lognormal(0, 1.5, N)),
    "Zipf": VISITS.assign(x=ODD.zipf(2.2, N).astype(float)),
    "two clusters": VISITS.assign(x=np.where(ODD.random(N) < 0.5, 0.0, 1e6)),
    "one person more with all rows": pd.concat(
        [VISITS, VISITS.assign(who=-1).iloc[::10]], ignore_index=True
    ),
    "one person has all": VISITS.assign(who=1),
    "nobody": VISITS.assign(who=np.nan),
    "empty groups": VISITS[VISITS["g"] % 2 == 0],
    "everywhere": pd.DataFrame(
        {"who": np.repeat(np.arange(2000), 60), "g": np.tile(np.arange(60), 2000), "x": 1.5}
    ),
}
UNSEEN = {"one person has all", "one person more with all rows"}  # as nobody may be seen
HOPELESS = {"none", "few", "missing", "all zeros", "one person has all", "nobody"}


@pytest.mark.parametrize("name", TABLES)
def test_ugly_data(kind, name) -> None:
    table = TABLES[name]
    counted = kind == "count" and name in {"missing", "all zeros"}
    frame = asked(kind, groups(table, seed="ugly", budget=mo.pure(4)), epsilon=4).frame()
    truth = truth_of(kind, table.dropna(subset=["who"]))
    assert np.isfinite(frame["value"]).all()
    if name in UNSEEN:
        assert frame["usable"].any() == (name not in HOPELESS)
        return
    held = (frame["lower"] <= truth + 1e-6 * np.abs(truth)) & (truth <= frame["upper"])
    assert held.mean() > (0.9 if name not in HOPELESS else 0.8)
    if (kind, name) != ("sum", "Zipf"):  # one row may be most of a group
        assert (frame["usable"].mean() > 0.3) == (counted or name not in HOPELESS)


def test_a_range_on_one_side_of_zero_keeps_sums_there() -> None:
    negative = VISITS.assign(x=-VISITS["x"])
    for table, within in ((VISITS[:40], (0, 1e6)), (negative[:40], (-1e6, 0))):
        frame = groups(table).sum("x", within=within, epsilon="0.01").frame()
        signs = frame["value"] * np.sign(sum(within))
        assert (signs >= 0).all()
        assert (frame["lower"] * np.sign(sum(within)) >= 0).all() or sum(within) < 0
        assert (frame["upper"] <= 0).all() or sum(within) > 0


def test_values_of_any_type_are_counted() -> None:
    names = VISITS.assign(name=np.where(np.arange(N) % 2, "yes", None))
    truth = names.dropna().groupby("g").size().to_numpy()
    frame = groups(names).count("name", epsilon=2).frame()
    assert error_of(frame, truth) < 0.1 * truth.mean()


@pytest.mark.parametrize(
    ("more", "pooled"),
    [
        ({}, True),
        ({"pooled": False}, False),
        ({"max_groups": 3}, False),
        ({"keys": range(FEWEST)}, True),
        ({"keys": range(FEWEST - 1)}, False),
        ({"keys": range(2), "pooled": True}, True),
        ({"unit": mo.unit_of("who", max_rows=5)}, False),
        ({"unit": mo.unit_of("who", combine="sum"), "max_groups": 2}, False),
    ],
    ids=str,
)
def test_the_rule_is_public(kind, more, pooled) -> None:
    found = asked(kind, groups(**more), (0, 1e3), epsilon=2)
    assert isinstance(found[0].error_model, GroupSumErrorModel) == pooled


def test_keys_that_are_drawn_come_through_the_same_steps(kind) -> None:
    curator = mo.Curator(VISITS, unit=UNIT, budget=mo.approx(6, "1e-6"))
    drawn = curator.group_by("g", key_budget=mo.approx(2, "1e-6"))
    found = asked(kind, drawn, epsilon=4)
    assert len(found) > FEWEST
    assert all(isinstance(each.error_model, GroupSumErrorModel) for each in found.values())


def test_it_is_stored_and_read(kind, found) -> None:
    text = codec.to_text(found)
    assert codec.to_text(codec.from_text(text)) == text
    record = found[0].error_model.to_dict()
    assert {"most", "noise_sd", "weighted", "raised", "lost_of_all"} <= record.keys()
    assert "less weight" in found[0].explain()


def test_what_all_groups_lose_is_put_back() -> None:
    """One person in 66 has a fifth of the rows, most of which are beyond any limit."""
    rng = np.random.default_rng(3)
    rows = np.where(np.arange(20_000) % 66 == 0, 60, 3)
    who = np.repeat(np.arange(20_000), rows)
    table = pd.DataFrame({"who": who, "g": rng.integers(0, 200, len(who))})
    truth = table.groupby("g").size().to_numpy()
    found = groups(table, keys=range(200)).count(epsilon=1)
    model = found[0].error_model
    assert model.raised > 1.1
    values = np.array([each.value for each in found.values()])
    weighted = np.array([m.noisy * m.lattice.step for m in (f.error_model for f in found.values())])
    assert abs((values - truth).mean()) < 0.6 * abs((weighted - truth).mean())


def model_of(noisy: int, share: float = 0.0, **more) -> GroupSumErrorModel:
    lattice = mo.query.sum(within=(0, 1024), step=1, epsilon=1).lattice
    noise = NoisyTerm(LaplaceNoise(10), 1.0)
    return GroupSumErrorModel(lattice, 8, noisy, noise, 1, (share, 100.0), **more)


def test_an_interval_reaches_as_far_as_the_limits_may() -> None:
    sure, unsure = model_of(1000), model_of(1000, 0.1)
    assert sure.interval(0.95, None) == unsure.interval(0.95, None) == sure.interval(0.95, 3.0)
    lower, upper = unsure.interval(0.95, 3.0)
    assert lower == sure.interval(0.95, 3.0).lower
    assert upper == pytest.approx(sure.interval(0.95, 3.0).upper + 3 * 0.1 * 1000)
    little = model_of(10, 0.1)  # a small group loses no more than three times what others do
    assert little.interval(0.95, 3.0).upper == pytest.approx(
        little.interval(0.95, None).upper + 3 * 0.1 * 100
    )


@pytest.mark.parametrize(
    ("noisy", "share", "usable"), [(1000, 0.1, True), (30, 0.0, False), (1000, 0.6, False)]
)
def test_an_answer_is_usable_if_its_interval_says_something(noisy, share, usable) -> None:
    assert (model_of(noisy, share).status == FEW) != usable


def test_intervals_hold(kind) -> None:
    """Of all groups of some releases, at two levels."""
    held = {0.5: [], 0.95: []}
    for seed in range(6):
        found = asked(kind, groups(seed=f"holds {seed}"), epsilon=2)
        for level, seen in held.items():
            ends = [each.interval(level) for each in found.values()]
            seen += [a <= t <= b for (a, b), t in zip(ends, TRUTH[kind], strict=True)]
    assert len(held[0.5]) == 6 * GROUPS
    assert np.mean(held[0.5]) > 0.45
    assert np.mean(held[0.95]) > 0.93


@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb"])
def test_other_engines_add_up_the_same_integers(kind, engine) -> None:
    module = pytest.importorskip(engine)
    if engine == "polars":
        table = module.from_pandas(VISITS)
    elif engine == "pyarrow":
        table = module.Table.from_pandas(VISITS)
    else:
        table = module.from_df(VISITS)
    within = (-1e4, 1e4)
    here, there = (asked(kind, groups(each), within, epsilon=2) for each in (VISITS, table))
    assert [r.value for r in there.values()] == [r.value for r in here.values()]
