"""Means of many groups share what is alike: when, at what cost, and what the release says."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.stored import codec

RNG = np.random.default_rng(0)
SIZES = np.resize([5, 20, 60, 200, 1000], 100)
KEYS = range(len(SIZES))
TABLE = pd.DataFrame(
    {
        "g": np.repeat(np.arange(len(SIZES)), SIZES),
        "x": RNG.lognormal(10.8, 0.9, SIZES.sum()),
    }
)
TABLE["who"] = np.arange(len(TABLE)) // 2
TRUTH = TABLE.groupby("g")["x"].mean().to_numpy()
WITHIN = (-1e9, 1e9)
SHARED = "all groups: "


def groups(table=TABLE, keys=KEYS, budget=None, unit=None, seed=None, **more):
    curator = mo.Curator(table, budget=budget or mo.pure(1), unit=unit)
    if seed is not None:
        object.__setattr__(curator._guard, "entropy", SeededEntropy(seed))
    return curator.group_by("g", keys=keys, **more)


def shared(release) -> bool:
    return any(entry.label.startswith(SHARED) for entry in release.transcript)


@pytest.fixture(scope="module")
def means():
    return groups(seed="means").mean("x", within=WITHIN, epsilon=1)


def test_small_groups_are_answered_and_intervals_hold_the_truth(means) -> None:
    frame = means.frame()
    assert list(frame.columns) == ["key", "value", "lower", "upper", "usable", "unshrunk"]
    errors = np.abs(frame["value"] - TRUTH)
    for size, limit in ((20, 25_000), (60, 13_000), (200, 6_000), (1000, 2_000)):
        assert errors[size == SIZES].mean() < limit
    covered = (frame["lower"] <= TRUTH) & (frame["upper"] >= TRUTH)
    assert covered.mean() > 0.93
    unshrunk = frame["unshrunk"]
    assert ((frame["lower"] <= unshrunk) & (frame["upper"] >= unshrunk)).all()
    assert frame["usable"][SIZES >= 60].mean() > 0.9


def test_values_of_the_smallest_groups_move_most(means) -> None:
    weights = np.array([getattr(means[key].error_model, "weight", 1.0) for key in KEYS])
    assert weights[SIZES == 5].mean() < weights[SIZES == 60].mean() < weights[SIZES == 1000].mean()


def test_the_whole_cost_is_spent_and_charged_once(means) -> None:
    curator = mo.Curator(TABLE, budget=mo.pure(1))
    found = curator.group_by("g", keys=KEYS).mean("x", within=WITHIN, epsilon=1)
    assert not curator.remaining.amount
    for release in (*found.values(), *means.values()):
        assert sum(entry.event.cost("pure").amount for entry in release.transcript) == 1
        first = [
            entry.event.cost("pure").amount
            for entry in release.transcript
            if entry.label.startswith(SHARED)
        ]
        assert 0.05 < sum(first) < 0.25


@pytest.mark.parametrize("cost", [{"rho": "0.5"}, {"epsilon": 3}], ids=str)
def test_other_costs(cost) -> None:
    kind = mo.zcdp("0.5") if "rho" in cost else mo.pure(3)
    found = groups(budget=kind, seed="cost").mean("x", within=WITHIN, **cost)
    errors = np.abs(found.frame()["value"] - TRUTH)
    assert errors[SIZES == 200].mean() < 6_000
    amounts = [entry.event.cost(kind.kind).amount for entry in found[0].transcript]
    assert sum(amounts) == kind.amount


def test_a_range_is_found_by_all_groups_together() -> None:
    found = groups(seed="range").mean("x", epsilon=1)
    assert found[0].range_found
    assert {found[key].range_found for key in KEYS} == {found[0].range_found}
    assert any(entry.label == f"{SHARED}octave" for entry in found[0].transcript)
    assert np.abs(found.frame()["value"] - TRUTH)[SIZES == 200].mean() < 8_000


def test_the_default_is_a_public_rule_and_can_be_overruled() -> None:
    few = TABLE[TABLE["g"] < 29]
    asked = {"within": WITHIN, "epsilon": 1}
    assert not shared(groups(few, range(29)).mean("x", **asked)[0])
    assert shared(groups(few, range(29), pooled=True).mean("x", **asked)[0])
    assert shared(groups(few, range(30)).mean("x", **asked)[0])
    assert not shared(groups(pooled=False).mean("x", **asked)[0])
    assert "unshrunk" not in groups(pooled=False).mean("x", **asked).frame()


@pytest.mark.parametrize(
    "asked",
    [
        mo.query.mean("x", within=WITHIN, epsilon=1, population=True),
        mo.query.mean("x", within=(0, 1e6), epsilon=1, method="bounded"),
        mo.query.mean("x", within=WITHIN, epsilon=1, clusters="keep"),
        mo.query.sum("x", within=WITHIN, epsilon=1),
    ],
    ids=["population", "bounded", "clusters kept", "sum"],
)
def test_other_queries_are_answered_as_without_other_groups(asked) -> None:
    assert not shared(groups(pooled=True).run(asked)[0])


def test_several_queries_are_charged_together() -> None:
    curator = mo.Curator(TABLE, budget=mo.pure(2))
    found = curator.group_by("g", keys=KEYS).release(
        n=mo.query.count(epsilon="0.5"), x=mo.query.mean("x", within=WITHIN, epsilon="1.5")
    )
    assert not curator.remaining.amount
    assert shared(found["x"][0])
    assert not shared(found["n"][0])


def test_persons() -> None:
    asked = {"within": WITHIN, "epsilon": 1}
    rows = mo.unit_of("who", max_rows=2)
    found = groups(unit=rows).mean("x", **asked)
    assert shared(found[0])
    assert sum(entry.event.cost("pure").amount for entry in found[0].transcript) == 0.5
    combined = groups(unit=mo.unit_of("who", combine="mean"), max_groups=2).mean("x", **asked)
    assert shared(combined[0])
    first, later = 0, 0
    both = groups(unit=mo.unit_of("who", combine="mean"), max_groups=2, budget=mo.zcdp("0.5"))
    for entry in both.mean("x", within=WITHIN, rho="0.5")[0].transcript:
        cost = entry.event.cost("zcdp").amount
        first, later = (
            (first + cost, later) if entry.label.startswith(SHARED) else (first, later + cost)
        )
    assert 4 * first + 2 * later == mo.zcdp("0.5").amount
    whole = mo.unit_of("who")
    assert not shared(groups(unit=whole, max_groups=1).mean("x", **asked)[0])
    with pytest.raises(InvalidArgument, match="max_groups= drops rows of persons"):
        groups(unit=whole, max_groups=1, pooled=True)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"pooled": "yes"}, "must be True, False or"),
        ({"keys": [1], "pooled": True}, "there is one group"),
    ],
)
def test_bad_arguments(more, message) -> None:
    with pytest.raises(InvalidArgument, match=message):
        groups(**{"keys": KEYS, **more})


def test_a_group_that_is_not_like_the_others() -> None:
    """One of 1000 rows answers alone, one of 200 beyond the bounds cannot be used."""
    other = TABLE.copy()
    other.loc[other["g"] == 99, "x"] = RNG.normal(9e4, 10, SIZES[99])
    other.loc[other["g"] == 98, "x"] = 1e6
    found = groups(other, seed="other").mean("x", within=WITHIN, epsilon=1)
    assert not hasattr(found[99].error_model, "unshrunk")
    assert found[99].value == pytest.approx(9e4, abs=100)
    assert found[98].code == "clipped"
    frame = found.frame()
    assert frame["unshrunk"][99] == frame["value"][99]


@pytest.mark.parametrize(
    ("share", "size", "epsilon"), [(0.3, 1200, 1), (0.1, 2400, 1), (0.1, 600, 5)]
)
def test_a_part_of_a_group_far_away_is_reached_or_told(share, size, epsilon) -> None:
    """The rows beyond the bounds are counted: as many as no other group has are not lost."""
    lost, other = 0, 0
    for seed in range(5):
        rng = np.random.default_rng([seed, size])
        g = rng.integers(0, 50, 50 * size)
        x = np.where((g == 7) & (rng.random(len(g)) < share), 1000, 0) + rng.normal(size=len(g))
        table = pd.DataFrame({"g": g, "x": x})
        asked = groups(table, list(range(50)), mo.pure(9), seed=f"{seed} {size}")
        found = asked.mean("x", epsilon=epsilon)
        truth, interval = table[g == 7]["x"].mean(), found[7].interval()
        lost += found[7].code == "ok" and not interval.lower <= truth <= interval.upper
        other += sum(not hasattr(found[k].error_model, "unshrunk") for k in range(50)) - 1
    assert lost <= 1
    assert other <= 12  # of 245 groups that are like all others


def test_no_rows_at_all_and_empty_groups() -> None:
    nothing = groups(TABLE[:0], seed="nothing").mean("x", within=WITHIN, epsilon=1)
    assert len(nothing) == 100
    found = groups(keys=range(110), seed="empty").mean("x", within=WITHIN, epsilon=1)
    assert not found[105].usable
    assert found[105].interval().lower < 70_000 < found[105].interval().upper


def test_what_a_release_says(means) -> None:
    text = str(means)
    assert "all groups found clipping bounds together" in " ".join(text.split())
    release = means[2]
    assert "(shrunk from" in str(release)
    assert "as of all groups" in str(release)
    assert "all groups: records: " in release.explain()
    record = json.loads(release.to_json())
    assert record["error_model"]["unshrunk"] == release.error_model.unshrunk
    assert {"towards", "weight"} <= record["error_model"].keys()
    assert record["value"] != record["error_model"]["unshrunk"]
    table = means.publish()
    assert len(table.frame()) == 100


def test_it_is_stored_and_read(means) -> None:
    again = codec.from_text(codec.to_text(means))
    assert again == means
    assert again[2].interval() == means[2].interval()


def test_a_difference_of_groups_is_one_of_what_is_shown(means) -> None:
    found = means.difference(3, 4)
    assert found.value == means[3].value - means[4].value
    assert found.interval().lower < TRUTH[3] - TRUTH[4] < found.interval().upper


def test_on_the_command_line(tmp_path, capsys) -> None:
    file = tmp_path / "table.csv"
    TABLE.to_csv(file, index=False)
    keys = ",".join(map(str, KEYS))
    asked = ["mean", str(file), "x", "--within=-1e9,1e9", "--epsilon", "1", "--by", "g"]
    assert main([*asked, "--keys", keys]) == 0
    assert "all groups found" in capsys.readouterr().out
    assert main([*asked, "--keys", keys, "--pooled", "no"]) == 0
    assert "all groups found" not in capsys.readouterr().out
    assert main(["mean", str(file), "x", "--epsilon", "1", "--pooled", "yes"]) != 0
    assert "--pooled needs --by" in capsys.readouterr().err


@pytest.mark.parametrize("unit", [None, mo.unit_of("who")], ids=["rows", "persons"])
def test_noise_beyond_the_floats_is_no_error_once_it_is_drawn(unit) -> None:
    """An error then would tell of draws that nobody sees, and a key would draw them again."""
    frame = pd.DataFrame({"g": np.arange(20_000) % 30, "x": np.tile([-2e307, 2e307], 10_000)})
    frame["who"] = np.arange(20_000) // 2
    curator = mo.Curator(frame, budget=mo.pure(1), unit=unit, entropy=SeededEntropy(1))
    of_groups = curator.group_by("g", keys=range(34), pooled=True)
    found = of_groups.mean("x", within=(-2e307, 2e307), epsilon="0.15")
    assert shared(found[33])
    assert found[33].code in {"few_records", "unseen"}
    assert np.isfinite([found[33].value, *found[33].interval()]).all()
    assert json.loads(found.to_json())


@pytest.mark.parametrize("unit", [None, mo.unit_of("who")], ids=["rows", "persons"])
@pytest.mark.parametrize("cost", [mo.pure("1e-9"), mo.zcdp("1e-18")], ids=str)
def test_what_is_left_of_the_smallest_cost_is_not_refused_after_the_charge(unit, cost) -> None:
    """What all groups found together has spent a part of it, and draws decide which."""
    budget = mo.zcdp(1) if cost.concentrated else mo.pure(1)
    of_groups = groups(unit=unit, budget=budget, pooled=True)
    assert of_groups.mean("x", within=WITHIN, budget=cost)[0].code == "few_records"
    with pytest.raises(InvalidArgument, match="too small"):
        of_groups.mean("x", within=WITHIN, budget=cost.part(Fraction(1, 2)))
