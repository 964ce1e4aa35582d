"""A release shows what was paid for, and nothing else."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

WITHIN = (-1e9, 1e9)
DATA = np.random.default_rng(1).lognormal(10, 1, 30_000)


def release_of(name: str, **arguments) -> mo.Release:
    curator = mo.Curator(DATA, budget=mo.zcdp(100), entropy=SeededEntropy("r"))
    return getattr(curator, name)(**arguments)


RELEASES = {
    "mean": release_of("mean", within=WITHIN, epsilon=1),
    "subset": release_of("mean", within=WITHIN, epsilon=2, method="subset"),
    "zcdp": release_of("mean", within=WITHIN, rho="0.5"),
    "cells": release_of("mean", within=WITHIN, epsilon="0.004"),
    "sum": release_of("sum", within=WITHIN, epsilon=1),
    "count": release_of("count", epsilon=1),
}


@pytest.fixture(params=RELEASES, ids=list(RELEASES))
def release(request) -> mo.Release:
    return RELEASES[request.param]


def test_it_is_a_number(release) -> None:
    assert float(release) == release.value


def test_json_holds_everything_and_only_json(release) -> None:
    record = json.loads(release.to_json())
    assert record["schema"] == "modicum.release/2"
    assert record["value"] == release.value
    assert record["interval"] == list(release.interval())
    assert record["neighbours"] == "add-remove"
    exact = record.get("epsilon_exact") or record["rho_exact"]
    key = "epsilon_exact" if "epsilon_exact" in record else "rho_exact"
    if key == "epsilon_exact":
        spent = sum(Fraction(e.get(key) or e["eta_exact"]) for e in record["transcript"])
        assert spent == Fraction(exact)
    assert len(record["transcript"]) == len(release.transcript)


def test_nothing_can_be_hung_on_it(release) -> None:
    for name in ("value", "note"):
        with pytest.raises(AttributeError, match=f"a Release cannot be changed: {name}"):
            setattr(release, name, 1.0)
    with pytest.raises(AttributeError):
        del release.value


def test_pickle_keeps_it(release) -> None:
    again = pickle.loads(pickle.dumps(release))
    assert again.to_json() == release.to_json()
    assert str(again) == str(release)


def test_the_card_and_the_explanation_are_text(release) -> None:
    card, story = str(release), release.explain()
    assert ("95 % interval" in card) == release.usable
    assert "test entropy, not private" in card
    assert card in story
    for entry in release.transcript:
        assert entry.label in story


def test_intervals_grow_with_the_level_and_the_tail(release) -> None:
    def width(**arguments) -> float:
        lower, upper = release.interval(**arguments)
        return upper - lower

    assert width(level=0.5) <= width(level=0.95) <= width(level=0.999)
    assert width(tail=None) <= width(tail=10) <= width(tail=3) <= width(tail=1.5)
    lower, upper = release.interval()
    assert lower <= release.value <= upper


@pytest.mark.parametrize("level", [0, 1, -1, 2, float("nan"), "95", "0.95", None, True])
def test_bad_levels(release, level) -> None:
    with pytest.raises(mo.InvalidArgument, match="level"):
        release.interval(level)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("epsilon", ["0.01", "1"])
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("within", [(0, 10.6), (-0.7, 10.4), (99.7, 101.3)])
def test_the_answer_and_its_interval_lie_in_the_range(epsilon, n, within) -> None:
    """Ends that are no multiples of the step too: their integers may lie beyond them."""
    cost = {"within": within, "step": 1, "epsilon": epsilon}
    asked = {
        "mean": {},
        "median": {},
        "min": {},
        "max": {},
        "huber": {},
        "expectile": {"tau": 0.9},
        "trimmed_mean": {"trim": 0.1},
        "std": {},
        "iqr": {},
    }
    x = np.full(n, within[1])
    for name, options in asked.items():
        curator = mo.Curator(x, budget=mo.pure(100), entropy=SeededEntropy("range"))
        spread = name in {"std", "iqr"}
        lowest, highest = (0.0, within[1] - within[0]) if spread else within
        for _ in range(5):
            found = getattr(curator, name)(**options, **cost)
            lower, upper = found.interval()
            assert lowest <= lower <= found.value <= upper <= highest, name


def test_the_interval_reaches_an_end_between_two_steps() -> None:
    """All records are 10.4, and count as 10."""
    x = np.full(5000, 10.4)
    for name in ("mean", "max", "median"):
        found = getattr(mo, name)(x, within=(0, 10.4), step=1, epsilon=1)
        assert found.interval().lower <= 10.4 <= found.interval().upper


@pytest.mark.parametrize("tail", [1, 0, -3, float("nan"), float("inf")])
def test_bad_tails(release, tail) -> None:
    with pytest.raises(mo.InvalidArgument, match="tail"):
        release.interval(tail=tail)
