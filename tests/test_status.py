"""What released numbers say of an answer: codes of any statistic, and the step on its card."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.status import NO_VALUES, OK, Status, judged

WIDE = (-1e9, 1e9)
LATTICE = Lattice.within(WIDE)
FEW, LOST = Status("few_records", "few"), Status("clipped", "lost")
RNG = np.random.default_rng(3)
SKEWED = RNG.lognormal(0, 1.5, 6000)
ASKED: dict[str, dict[str, Any]] = {
    "median": {},
    "quantile": {"q": 0.9},
    "quantiles": {"q": [0.1, 0.5, 0.9]},
    "iqr": {},
    "trimmed_mean": {"trim": 0.1},
    "huber_location": {},
}
ORDINARY = {
    "rare ones": (RNG.random(6000) < 0.02) * 1.0,
    "half ones": np.arange(6000) % 2 * 1.0,
    "mostly zeros": np.where(RNG.random(6000) < 0.9, 0, RNG.lognormal(3, 1, 6000)),
    "heavy counts": RNG.zipf(2.0, 6000) * 1.0,
    "one value": np.full(6000, 7.0),
    "zeros": np.zeros(6000),
    "two clusters": np.where(np.arange(6000) % 2, 1e6, -1e6),
    "answers": RNG.integers(1, 6, 6000) * 1.0,
    "shares": RNG.random(6000),
    "large": RNG.random(6000) * 1e9,
}


def asked(data: np.ndarray, name: str, *, seed: str = "s", **options: Any) -> Any:
    curator = mo.Curator(data, budget=mo.pure(100), entropy=SeededEntropy(seed))
    options = {"within": WIDE, "epsilon": 1} | ASKED.get(name, {}) | options
    return getattr(curator, name)(**options)


@dataclass
class Seen:
    in_steps: tuple[float, ...] = ()
    none_seen: bool = False
    lattice: Lattice = LATTICE


@pytest.mark.parametrize(
    ("status", "evidence", "code"),
    [
        (OK, object(), "ok"),
        (FEW, object(), "few_records"),
        (OK, Seen(none_seen=True), "ok"),
        (FEW, Seen(none_seen=True), "no_values"),
        (LOST, Seen((3.0,), none_seen=True), "no_values"),
        (OK, Seen((0,)), "ok"),
        (OK, Seen((1,)), "coarse_step"),
        (OK, Seen((8, 0)), "coarse_step"),
        (OK, Seen((9, 1)), "ok"),
        (LOST, Seen((2,)), "coarse_step"),
        (FEW, Seen((2,)), "few_records"),
        (OK, Seen((2,), lattice=Lattice.within((0, 100), step=1)), "ok"),
    ],
)
def test_what_evidence_says_beside_the_status(status: Status, evidence: object, code: str) -> None:
    found = judged(status, evidence)
    assert found.code == code
    assert (found is status) == (code == status.code)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_columns_are_neither_empty_nor_coarse(name: str, kind: str) -> None:
    release = asked(ORDINARY[kind], name)
    assert release.code not in {"no_values", "coarse_step"}
    if kind in {"large", "answers", "one value", "two clusters"} and name != "iqr":
        assert "  step" not in str(release)


@pytest.mark.parametrize("name", ["median", "iqr", "trimmed_mean"])
def test_values_as_small_as_the_step_are_not_answered(name: str) -> None:
    fine = asked(SKEWED * 1e-6, name)
    assert (fine.code, fine.usable) == ("coarse_step", False)
    assert f"the step {2.0**-21:g}" in fine.status
    assert f"  step           {2.0**-21:g}, coarse beside what was released" in str(fine)
    narrow = asked(SKEWED * 1e-6, name, within=(-1, 1))
    assert (narrow.code, narrow.step_words) == ("ok", "")


def test_a_coarse_step_stands_on_the_card_of_a_usable_answer() -> None:
    small = asked(SKEWED * 1e-4, "median")
    assert small.usable
    assert "  step           4.76837e-07, coarse" in str(small)
    assert "values that differ by less" in str(asked(ORDINARY["zeros"], "median"))
    several = asked(SKEWED * 1e-4, "quantiles")
    assert "  step           4.76837e-07, coarse" in str(several)


def test_a_step_that_was_chosen_is_no_surprise() -> None:
    release = asked(ORDINARY["answers"], "median", step=1)
    assert release.code == "ok"
    assert "  step           1, as asked for" in str(release)


@pytest.mark.parametrize("name", [*ASKED, "cdf"])
def test_a_column_without_numbers_is_named_as_the_reason(name: str) -> None:
    nothing = np.full(6000, np.nan)
    options = {"within": WIDE} if name != "cdf" else {"points": [1.0, 2.0]}
    codes = set()
    for seed in "abcdefgh":
        curator = mo.Curator(nothing, budget=mo.pure(100), entropy=SeededEntropy(seed))
        arguments = ASKED.get(name, {}) | options
        release = getattr(curator, name)(epsilon=1, **arguments)
        assert not release.usable
        codes.add(release.code)
        if release.code == "no_values":
            assert release.status == NO_VALUES.words
            assert "modicum check" in str(release).replace("\n" + " " * 17, " ")
    assert "no_values" in codes <= {"no_values", "few_records"}


@pytest.mark.parametrize("name", ["covariance", "mean_vector", "linear_regression", "pca"])
def test_rows_without_numbers_are_named_as_the_reason(name: str) -> None:
    nothing = np.full((2000, 3), np.nan)
    options = {"components": 1} if name == "pca" else {}
    releases = [asked(nothing, name, seed=seed, **options) for seed in "abcdef"]
    assert not any(release.usable for release in releases)
    assert "no_values" in {release.code for release in releases}


def test_few_records_are_not_taken_for_none() -> None:
    codes = {asked(SKEWED[:400], "median", epsilon="0.03", seed=seed).code for seed in "abcd"}
    assert codes == {"few_records"}


def test_a_plan_foretells_a_coarse_step() -> None:
    plan = mo.plan.median(within=WIDE, sd=3e-7, mean=1e-6, shape="normal", n=10_000, epsilon=1)
    assert "as small as the step" in plan.status
    narrow = mo.plan.median(within=(-1, 1), sd=3e-7, mean=1e-6, shape="normal", n=9999, epsilon=1)
    assert narrow.status == "ok"


def test_a_location_that_may_be_anywhere_is_not_to_be_used() -> None:
    release = asked(SKEWED * 1e-6, "huber_location")
    if release.interval() == WIDE:
        assert not release.usable


def test_a_release_is_formatted_and_rounded_as_its_value() -> None:
    release = asked(SKEWED * 1e4, "median")
    assert f"{release:,.0f}" == f"{release.value:,.0f}"
    assert format(release, ".2e") == format(release.value, ".2e")
    assert (round(release), round(release, 1)) == (round(release.value), round(release.value, 1))
    assert f"{release}" == str(release)
    with pytest.raises(ValueError, match="format"):
        format(release, "wide")


def test_groups_say_which_of_them_can_be_used() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"g": ["a"] * 6000 + ["b"] * 5, "x": [*SKEWED, 1, 2, 3, 4, 5]})
    curator = mo.Curator(table, budget=mo.pure(9), entropy=SeededEntropy("g"))
    found = curator.group_by("g", keys=["a", "b"]).median("x", within=WIDE, epsilon=1)
    assert found.usable
    assert [release.usable for release in found.values()] == [True, False]
    lines = str(found).splitlines()
    assert lines[0] == "median of x by g: 2 groups, 1 without a usable answer"
    marked = [line for line in lines if line.endswith(f"not usable ({found['b'].code})")]
    assert len(marked) == 1
    assert marked[0].split()[0] == "b"
    assert found.frame()["usable"].tolist() == [True, False]
    lost = curator.group_by("g", keys=["b", "c"]).median("x", within=WIDE, epsilon=1)
    assert not lost.usable
    assert str(lost).startswith("median of x by g: 2 groups, all without a usable answer\n")
