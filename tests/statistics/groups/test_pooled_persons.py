"""Groups of persons with all their rows, whose limits all groups find together."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.statistics.groups.pooled_persons import PersonGroupErrorModel, quotient_between
from modicum.statistics.people.norms import WEIGHTS
from modicum.stored import codec

RNG = np.random.default_rng(0)
PERSONS, GROUPS = 6000, 60
WHO = np.repeat(np.arange(PERSONS), RNG.integers(1, 12, PERSONS))
OWN = RNG.normal(size=PERSONS)[WHO]
PLACE = np.where(RNG.random(len(WHO)) < 0.5, WHO % GROUPS, RNG.integers(0, GROUPS, len(WHO)))
VISITS = pd.DataFrame(
    {"who": WHO, "g": PLACE, "x": 50 + 3 * np.sin(PLACE) + 5 * OWN + 10 * RNG.normal(size=len(WHO))}
)
TRUTH = VISITS.groupby("g")["x"].mean().to_numpy()
UNIT = mo.unit_of("who")
KEYS = range(GROUPS)


def groups(table=VISITS, budget=None, seed="groups", unit=UNIT, keys=KEYS, **more):
    budget = budget or mo.pure(2)
    curator = mo.Curator(table, unit=unit, budget=budget, entropy=SeededEntropy(seed))
    return curator.group_by("g", keys=keys, **more)


@pytest.fixture(scope="module")
def means():
    return groups().mean("x", epsilon=2)


def test_small_groups_of_persons_are_answered(means) -> None:
    frame = means.frame()
    assert frame["usable"].mean() > 0.9
    assert np.abs(frame["value"] - TRUTH).mean() < 1
    assert ((frame["lower"] <= TRUTH) & (frame["upper"] >= TRUTH)).mean() > 0.95
    alone = groups(pooled=False).mean("x", epsilon=2).frame()
    assert alone["usable"].mean() < 0.1
    assert list(frame.columns) == ["key", "value", "lower", "upper", "usable", "unshrunk"]


def test_nobody_is_dropped_and_no_number_of_groups_is_found(means) -> None:
    assert means.unit == UNIT
    assert means[0].groups_found is None
    assert "groups found clipping bounds together" in str(means)
    rows = sum(each.error_model.weight_of_rows for each in means.values())
    assert rows == pytest.approx(len(VISITS), rel=0.1)


@pytest.mark.parametrize("budget", [mo.pure(2), mo.zcdp("0.2")], ids=str)
def test_every_group_spends_the_whole_cost(budget) -> None:
    cost = {"epsilon": 2} if budget.kind == "pure" else {"rho": "0.2"}
    found = groups(budget=budget).mean("x", **cost)
    for release in found.values():
        spent = sum(entry.event.cost(budget.kind).amount for entry in release.transcript)
        assert spent == budget.amount
    assert np.abs(found.frame()["value"] - TRUTH).mean() < 1


def test_the_noise_is_what_it_says() -> None:
    """Nobody is beyond the limits, so all sums are known; a scale 30 % less would be seen."""
    n = 12_000
    table = pd.DataFrame({"who": np.arange(n), "g": np.arange(n) % 300, "x": np.arange(n) % 2.0})
    ratios = []
    for seed in ("one", "two"):
        found = groups(table, seed=seed, keys=range(300)).mean("x", within=(0, 1), epsilon=2)
        for key in range(300):
            model = found[key].error_model
            rows, deviations = model.most
            assert rows >= 1
            assert deviations >= 0.52
            ratios.append((model.rows - 40 / WEIGHTS.step) ** 2 / model.rows_noise.variance)
            away = 40 * (key % 2) - 40 * model.lattice.value(model.centre)
            error = model.total * model.totals.step - away
            ratios.append((error / model.noise_of_total) ** 2)
    assert 0.75 < np.mean(ratios) < 1.3  # 0.49 if a scale is 30 % too small


def test_values_that_are_larger_by_a_power_of_two_are_answered_likewise(means) -> None:
    for power in (-200, 30):
        scaled = groups(VISITS.assign(x=VISITS["x"] * 2.0**power)).mean("x", epsilon=2)
        assert [r.value for r in scaled.values()] == [r.value * 2.0**power for r in means.values()]


def test_values_that_have_no_squares_are_bounded_in_rho() -> None:
    budget = mo.zcdp("0.2")
    means = groups(budget=budget).mean("x", rho="0.2")
    scaled = groups(VISITS.assign(x=VISITS["x"] * 2.0**-700), budget=budget).mean("x", rho="0.2")
    assert [r.value for r in scaled.values()] == [r.value * 2.0**-700 for r in means.values()]


def test_the_order_of_rows_does_not_move_what_is_added_up() -> None:
    frame = groups(seed="order").mean("x", within=(-1e3, 1e3), epsilon=2).frame()
    shuffled = VISITS.sort_values("x", ascending=False, ignore_index=True)
    other = groups(shuffled, seed="order").mean("x", within=(-1e3, 1e3), epsilon=2).frame()
    assert frame["usable"].tolist() == other["usable"].tolist()
    assert np.allclose(frame["value"], other["value"], atol=1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("table", "usable"),
    [
        (VISITS[:0], False),
        (VISITS[:40], False),
        (VISITS.assign(x=math.nan), False),
        (VISITS.assign(x=7.0), True),
        (VISITS.assign(x=(np.arange(len(VISITS)) % 50 == 0) * 1.0), True),
        (VISITS.assign(x=VISITS["x"] * 1e-9), True),
        (VISITS.assign(x=VISITS["x"].where(VISITS["x"] < 60)), True),
        (VISITS.assign(x=np.exp(VISITS["x"] / 10)), True),
    ],
    ids=["none", "few", "missing", "one value", "2 % ones", "tiny", "some missing", "skewed"],
)
def test_ugly_data(table, usable) -> None:
    frame = groups(table, seed="ugly").mean("x", epsilon=2).frame()
    assert (frame["usable"].mean() > 0.5) == usable
    truth = table.groupby("g")["x"].mean().reindex(KEYS).to_numpy()
    there = ~np.isnan(truth)
    held = (frame["lower"] <= truth) & (truth <= frame["upper"])
    assert not there.any() or held[there].mean() > 0.93


@pytest.mark.parametrize("budget", [mo.pure(2), mo.zcdp("0.2")], ids=str)
def test_a_group_with_persons_far_away_says_so(budget) -> None:
    """Some 300 rows of one group are a code for missing values; elsewhere nothing is far."""
    there = (VISITS["g"] == 7) & (np.arange(len(VISITS)) % 2 == 0)
    table = VISITS.assign(x=VISITS["x"].where(~there, 9999.0))
    cost = {"epsilon": 2} if budget.kind == "pure" else {"rho": "0.2"}
    found = groups(table, budget=budget).mean("x", **cost)
    assert found[7].code == "clipped"
    assert found[7].error_model.to_dict()["far_persons"] > there.sum() / 2
    assert [found[key].usable for key in KEYS].count(False) <= 2
    assert "persons far away" in found[7].explain()


def test_other_queries_find_in_how_many_groups_a_person_counts() -> None:
    found = groups(budget=mo.pure(20)).release(
        mean=mo.query.mean("x", epsilon=2),
        middle=mo.query.median("x", within=(0, 100), epsilon=18),
    )
    assert found["mean"].unit == UNIT
    assert found["middle"].unit.groups == found["middle"][0].groups_found > 1
    labels = [entry.label for entry in found["middle"][0].transcript]
    assert labels[:2] == ["persons", "most groups"]
    assert "most groups" not in [entry.label for entry in found["mean"][0].transcript]


@pytest.mark.parametrize(
    ("more", "pooled"),
    [
        ({}, True),
        ({"pooled": False}, False),
        ({"max_groups": 3}, False),
        ({"keys": range(29)}, False),
        ({"keys": range(2), "pooled": True}, True),
    ],
    ids=str,
)
def test_the_rule_is_public(more, pooled) -> None:
    found = groups(**more).mean("x", epsilon=2)
    assert isinstance(found[0].error_model, PersonGroupErrorModel) == pooled


def test_a_bound_on_groups_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="leave it out"):
        groups(max_groups=2, pooled=True)


def test_it_is_stored_and_read(means) -> None:
    text = codec.to_text(means)
    assert codec.to_text(codec.from_text(text)) == text
    record = means[0].error_model.to_dict()
    assert {"most_rows", "most_deviations", "unshrunk", "weight"} <= record.keys()
    assert "less weight" in means[0].explain()


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_an_interval_of_a_quotient_holds_it(alpha) -> None:
    noise, of_rows = LaplaceNoise(Fraction(100)), LaplaceNoise(Fraction(40))
    rng, truth, rows = np.random.default_rng(1), 3.0, 400
    draw: Callable[[float], int] = lambda scale: round(rng.laplace(0, scale))  # noqa: E731
    held, runs = 0, 2000
    for _ in range(runs):
        total, number = round(truth * rows) + draw(100), rows + draw(40)
        ends = quotient_between(total, number, noise, of_rows, alpha)
        held += ends is None or ends[0] <= truth <= ends[1]
    assert abs(held / runs - (1 - alpha)) < 0.04
    assert quotient_between(1000, 5, noise, of_rows, alpha) is None
