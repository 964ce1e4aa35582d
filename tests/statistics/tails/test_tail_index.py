"""The tail index of the default interval: its law, what it covers, and where it is told."""

import json
import math
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.releases.release import Release
from modicum.statistics.tails.outside import Outside
from modicum.statistics.tails.tail_index import (
    USUAL,
    PowerEvidence,
    RadiusLaw,
    RankEvidence,
    assumed_index,
    law_of_outside,
    surely_enough,
    upper_quantile,
)

WITHIN = (-1e9, 1e9)
ETA, POWER, RECORDS = 0.18, 4.0, 8000.0
COARSE = 0.05  # indices are told apart so far


def drawn(tail: float, selection: str, number: int) -> np.ndarray:
    """Numbers of records outside, from their law for a tail."""
    numbers, probabilities = law_of_outside(POWER, tail, selection)
    rng = np.random.default_rng(7)
    return rng.choice(numbers, number, p=probabilities / probabilities.sum()) / ETA


def ranked(outside: float, tail: float) -> tuple[RankEvidence, float]:
    """The evidence of a radius of 1, and the one with so many records outside."""
    return RankEvidence(RECORDS, 1.0), math.pow(RECORDS / outside, 1 / tail)


def powers(outside: float, tail: float, order: int) -> tuple[PowerEvidence, float]:
    """The evidence of a moment of a Pareto distribution from 1 on, clipped to the radius drawn."""
    radius = math.pow(RECORDS / outside, 1 / tail)
    t = np.geomspace(1.0, radius, 20_001)
    inside = np.trapezoid(order * t ** (order - 1 - tail), t)
    return PowerEvidence(order, RECORDS, (1 + inside) / radius**order, radius), radius


@pytest.mark.parametrize("selection", ["flip", "exponential"])
@pytest.mark.parametrize("tail", [1.23, 1.77, 2.53])
@pytest.mark.parametrize("kind", ["rank", "mean", "square"])
@pytest.mark.one_in(2)
def test_the_index_is_too_large_as_seldom_as_it_says(kind, tail, selection) -> None:
    """Of data that are a power from the evidence on, with a radius from the exact law."""
    for alpha in (0.025, 0.2):
        missed = []
        for outside in drawn(tail, selection, 300):
            if kind == "rank":
                evidence, radius = ranked(outside, tail)
            else:
                evidence, radius = powers(outside, tail, 1 if kind == "mean" else 2)
            law = RadiusLaw(radius, ETA, POWER, selection)
            missed.append(law.least_index([evidence], alpha) > tail + COARSE)
        spread = math.sqrt(alpha * (1 - alpha) / len(missed))
        assert np.mean(missed) < alpha + 3 * spread


def test_a_smaller_chance_and_a_heavier_tail_have_a_smaller_index() -> None:
    outside = float(np.median(drawn(2.0, "flip", 1001)))
    found = []
    for tail in (1.5, 2.0, 2.5):
        evidence, radius = ranked(outside, tail)
        law = RadiusLaw(radius, ETA, POWER, "flip")
        found.append([law.least_index([evidence], alpha) for alpha in (0.01, 0.1, 0.5)])
    assert (np.diff(found, axis=0) > 0).all()
    assert (np.diff(found, axis=1) > 0).all()
    assert [each[2] for each in found] == pytest.approx([1.5, 2, 2.5], abs=0.25)


def test_the_best_evidence_counts_and_none_tells_nothing() -> None:
    law = RadiusLaw(100.0, ETA, POWER, "flip")
    strong, weak = RankEvidence(RECORDS, 30.0), RankEvidence(RECORDS, 1.0)
    assert law.least_index([], 0.1) is None
    assert law.least_index([strong], 0.1) == USUAL
    assert law.least_index([weak], 0.1) < 1.5
    assert law.least_index([weak, strong], 0.1) == USUAL
    everything = PowerEvidence(1, 10.0, 0.0, 100.0)
    assert law.least_index([everything], 0.1) == 1


def test_the_index_is_the_least_unless_that_is_too_small_for_any_interval() -> None:
    assert assumed_index(None, None, 1) == USUAL
    assert assumed_index(2.4, 3.0, 1) == assumed_index(2.4, 2.6, 2) == 2.4
    assert assumed_index(1.3, 1.5, 1) == 1.3
    assert assumed_index(1.0, 1.1, 1) == 1.2
    assert assumed_index(1.0, 1.9, 2) == assumed_index(1.9, 2.1, 2) == 2.2
    assert assumed_index(1.0, 2.5, 1) == surely_enough(1)


def test_a_radius_about_home_far_from_the_centre_tells_nothing() -> None:
    given = {"widest": 2**40, "candidates": 82, "eta": ETA, "power": POWER}
    near, far = (Outside(radii=(64, 64), half=(1e4, r), **given) for r in (20, 10_000))
    assert near.evidence() == (RankEvidence(1e4, 20),)
    assert far.evidence() == ()
    assert far.least_index(far.evidence(), 0.1) is None
    assert Outside(radii=(64, 64), half=(1e4, 1000), seen=(100.0, 30), **given).evidence()


def test_a_quantile_is_exceeded_by_no_more() -> None:
    numbers, probabilities = np.array([1.0, 4.0, 2.0]), np.array([0.5, 0.1, 0.4])
    found = [upper_quantile(numbers, probabilities, alpha) for alpha in (0.05, 0.2, 0.55)]
    assert found == [4, 2, 1]


HEAVY = {
    "Zipf": lambda rng: np.minimum(rng.zipf(2.0, 20_000), 10**7).astype(float),
    "Pareto 1.5": lambda rng: 1 + rng.pareto(1.5, 20_000),
    "mostly zeros": lambda rng: (rng.random(20_000) < 0.1) * (1 + rng.pareto(1.5, 20_000)),
    "t of 2": lambda rng: rng.standard_t(2, 20_000),
    "Pareto 2": lambda rng: 1 + rng.pareto(2, 20_000),
}


@cache
def heavy(kind: str, name: str) -> tuple[tuple[float, Release], ...]:
    """Releases of a few tables, each with the truth."""
    found = []
    for number in range(6):
        x = HEAVY[kind](np.random.default_rng([3, number]))
        for seed in range(4):
            curator = mo.Curator(
                x, budget=mo.pure(1), entropy=SeededEntropy(f"tails {name} {number} {seed}")
            )
            release = getattr(curator, name)(within=WITHIN, epsilon=1)
            found.append((float(getattr(np, name)(x)), release))
    return tuple(found)


@pytest.mark.parametrize("kind", HEAVY)
@pytest.mark.parametrize("name", ["mean", "sum", "std"])
@pytest.mark.one_in(4)
def test_heavy_tails_are_covered_or_the_code_says_so(kind, name) -> None:
    """With an index of 3 a part of the intervals miss that is far larger than their level says."""
    found = heavy(kind, name)

    def missed(tail) -> list[bool]:
        ends = [release.interval(tail=tail) for _, release in found]
        pairs = zip(found, ends, strict=True)
        return [not lower <= truth <= upper for (truth, _), (lower, upper) in pairs]

    unwarned = [m and r.code == "ok" for m, (_, r) in zip(missed("auto"), found, strict=True)]
    assert np.mean(unwarned) <= 0.1


LIGHT = {
    "bell": lambda rng: rng.normal(10, 3, 30_000),
    "uniform": lambda rng: rng.random(30_000),
    "counts": lambda rng: rng.poisson(4.0, 30_000).astype(float),
    "one value": lambda _: np.full(30_000, 5.0),
}


@pytest.mark.parametrize("kind", LIGHT)
@pytest.mark.parametrize("name", ["mean", "sum", "std"])
def test_light_tails_have_the_usual_interval(kind, name) -> None:
    x, wider, missed = LIGHT[kind](np.random.default_rng(5)), [], 0
    for seed in range(6):
        curator = mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy(f"light {kind} {seed}"))
        release = getattr(curator, name)(within=WITHIN, epsilon=1)
        lower, upper = release.interval()
        usual = release.interval(tail=3)
        missed += not lower <= float(getattr(np, name)(x)) <= upper
        wider.append((upper - lower) / (usual.upper - usual.lower))
    assert np.mean(wider) <= 1.1
    assert missed <= 1


def test_few_records_and_unknown_tails_are_told() -> None:
    few = np.random.default_rng(2).standard_t(2, 900) + 1e6
    curator = mo.Curator(few, budget=mo.zcdp(1), entropy=SeededEntropy("far"))
    release = curator.mean(within=WITHIN, rho="0.5")
    assert release.code == "unseen"
    assert release.status.startswith("no released number tells whether a few values lie")
    assert release.interval() == release.interval(tail=3)


def test_where_the_index_that_was_seen_is_too_low_the_code_says_so() -> None:
    """Of squares with seven times in eight, and where a thin tail reaches a bound too."""
    for kind, name in product(HEAVY, ("mean", "sum", "std")):
        order = 1 + (name == "std")
        for _, release in heavy(kind, name):
            model = release.error_model
            assert model.tail_index(0.95) == USUAL
            typical = model.least_index(0.5 / order**2)
            heavier = typical is not None and typical < surely_enough(order)
            if release.code != "clipped":
                thin = name == "std" and model.rings.thin(order)
                assert (heavier or thin) == (release.code == "heavy_tail")


def test_the_index_is_told_everywhere() -> None:
    _, release = heavy("mostly zeros", "std")[0]
    index = release.error_model.tail_index(0.95)
    assert release.interval() == release.interval(tail=index) == release.interval(tail="auto")
    assert "allows for rare far values" in str(release)
    assert "index" not in str(release)
    assert f"interval(tail={index:g}) also allows for" in release.explain()
    assert f"tail={index:g} is a tail index" in release.explain()
    told = json.loads(release.to_json())
    assert told["interval_tail"] == index
    assert told["interval"] == list(release.interval())
    count = mo.count(np.arange(100.0), epsilon=1)
    assert json.loads(count.to_json())["interval_tail"] is None
    assert count.interval(tail="auto") == count.interval()


def test_several_numbers_and_groups_take_it_too() -> None:
    rng = np.random.default_rng(4)
    columns = pd.DataFrame(
        {
            "a": rng.normal(size=4000),
            "b": rng.normal(size=4000),
            "g": rng.integers(0, 2, 4000),
        }
    )
    curator = mo.Curator(columns, budget=mo.pure(10), entropy=SeededEntropy("several"))
    vector = curator.mean_vector(["a", "b"], within=(-10, 10), epsilon=1)
    assert np.array_equal(vector.interval().upper, vector.interval(tail=3).upper)
    groups = curator.group_by("g", keys=[0, 1]).mean("a", within=(-10, 10), epsilon=4)
    assert groups.summary() == groups.summary(tail="auto")
    for tail in ("heavy", 1, True, math.inf):
        with pytest.raises(mo.InvalidArgument, match='above 1, "auto" or None'):
            vector.interval(tail=tail)
