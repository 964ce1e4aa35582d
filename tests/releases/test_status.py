"""What released numbers say of an answer: codes of any statistic, and the step on its summary."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.releases.status import NO_VALUES, OK, Status, at_an_end, judged

WIDE = (-1e9, 1e9)
LATTICE = Lattice.within(WIDE)
FEW, LOST = Status("few_records", "too little"), Status("clipped", "lost")
WIDE_NOISE = Status("wide_noise", "as wide as the range")
RNG = np.random.default_rng(3)
SKEWED = RNG.lognormal(0, 1.5, 6000)
ASKED: dict[str, dict[str, Any]] = {
    "median": {},
    "quantile": {"q": 0.9},
    "quantiles": {"q": [0.1, 0.5, 0.9]},
    "iqr": {},
    "trimmed_mean": {"trim": 0.1},
    "huber": {},
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
    few_seen: bool = False
    lattice: Lattice = LATTICE
    perhaps_nothing: bool = False


@pytest.mark.parametrize(
    ("status", "error_model", "code"),
    [
        (OK, object(), "ok"),
        (FEW, object(), "few_records"),
        (OK, Seen(few_seen=True), "ok"),
        (FEW, Seen(few_seen=True), "no_values"),
        (LOST, Seen((3.0,), few_seen=True), "no_values"),
        (WIDE_NOISE, Seen(few_seen=True), "wide_noise"),
        (WIDE_NOISE, Seen(few_seen=True, perhaps_nothing=True), "no_values"),
        (WIDE_NOISE, Seen(perhaps_nothing=True), "wide_noise"),
        (OK, Seen(few_seen=True, perhaps_nothing=True), "ok"),
        (OK, Seen((0,)), "ok"),
        (OK, Seen((1,)), "coarse_step"),
        (OK, Seen((8, 0)), "coarse_step"),
        (OK, Seen((9, 1)), "ok"),
        (LOST, Seen((2,)), "coarse_step"),
        (FEW, Seen((2,)), "few_records"),
        (OK, Seen((2,), lattice=Lattice.within((0, 100), step=1)), "ok"),
    ],
)
def test_what_evidence_says_beside_the_status(
    status: Status, error_model: object, code: str
) -> None:
    found = judged(status, error_model, typed=False)
    assert found.code == code
    assert (found is status) == (code == status.code)
    assert judged(status, error_model, typed=True).code != "no_values"


@pytest.mark.one_in(2)
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
    assert f"  step           {2.0**-21:g}, coarse beside the released numbers" in str(fine)
    narrow = asked(SKEWED * 1e-6, name, within=(-1, 1))
    assert (narrow.code, narrow.step_words) == ("ok", "")


def test_a_coarse_step_stands_on_the_card_of_a_usable_answer() -> None:
    small = asked(SKEWED * 1e-4, "median")
    assert small.usable
    assert "  step           4.76837e-07, coarse" in str(small)
    assert "values that differ by less" in str(asked(ORDINARY["zeros"], "median"))
    several = asked(SKEWED * 1e-4, "quantiles")
    assert "  step           4.76837e-07, coarse" in str(several)


def test_columns_of_zeros_and_ones_have_no_coarse_step() -> None:
    rows = np.random.default_rng(1).random((20_000, 3)) < (0.1, 0.3, 0.5)
    for name in ("mean_vector", "covariance"):
        found = asked(np.column_stack([rows, np.arange(20_000.0)]), name, within=(-1e6, 1e6))
        assert found.code != "coarse_step"
        assert "  step" not in str(found)


def test_vectors_as_small_as_the_step_are_not_answered() -> None:
    rows = np.random.default_rng(1).normal(1e-6, 3e-7, (20_000, 2))
    for name in ("mean_vector", "covariance"):
        found = asked(rows, name)
        assert not found.usable
        if name == "mean_vector":  # no column is seen whose covariance could be small
            assert "  step           4.76837e-07, coarse" in str(found)
        narrow = asked(rows, name, within=(-1, 1))
        assert (narrow.code, narrow.step_words) == ("ok", "")


OF_LARGE: dict[str, dict[str, Any]] = {
    **{name: options for name, options in ASKED.items() if name != "huber"},
    "winsorized_mean": {"trim": 0.1},
    "histogram": {"bins": 4},
}


LARGE = [(2**53, 1000), (-(2**60), 3000), (10**18 + 1, 50)]


@pytest.mark.parametrize("name", OF_LARGE)
@pytest.mark.parametrize(("base", "spread"), LARGE)
def test_integers_that_the_step_takes_for_one_are_not_answered(name, base, spread) -> None:
    """Of steps up to 1 integers are told apart; a constant column of them is an answer."""
    integers = RNG.integers(0, spread, 8000)
    spread_out = base == 2**53 and name in {"quantiles", "iqr"}  # eight steps are told apart
    for x in (base + integers, np.full(8000, base))[spread_out:]:
        release = getattr(mo, name)(x, **OF_LARGE[name], epsilon=2)
        assert (release.code, release.usable) == ("coarse_step", False), release.interval()
        assert "subtract a public number" in release.status
    for x in (integers * 1.0, integers + 1e6, np.full(8000, 5.0)):
        release = getattr(mo, name)(x, **OF_LARGE[name], epsilon=2)
        assert release.code != "coarse_step", release.lattice
    large = getattr(mo, name)(np.full(8000, 1e8), **OF_LARGE[name], within=WIDE, epsilon=2)
    assert large.code != "coarse_step"


@pytest.mark.parametrize(("base", "spread"), LARGE)
def test_integers_that_floats_take_for_one_are_within_their_interval(base, spread) -> None:
    """A window has a lattice of its own, which is as fine as floats are there, or wider noise."""
    integers = [base + int(each) for each in RNG.integers(0, spread, 8000)]
    for x in (integers, [base] * 8000):
        release = mo.mean(np.array(x), epsilon=2)
        lower, upper = release.interval(level=0.9999)
        assert Fraction(lower) <= Fraction(sum(x), 8000) <= Fraction(upper)
        assert upper - lower < 1e-3 * abs(base)
        release = mo.std(np.array(x), epsilon=2)
        lower, upper = release.interval(level=0.9999)
        assert lower <= float(np.std(np.array(x) - base)) <= upper < 3e-3 * abs(base)


@pytest.mark.parametrize("name", ["median", "quantile", "quantiles", "iqr", "trimmed_mean"])
@pytest.mark.parametrize("within", [(0, 2.0**80), (-1e60, 1e60), (-1e22, 3.0)])
def test_an_answer_of_no_step_that_hides_integers_is_none(name: str, within: Any) -> None:
    for x in (SKEWED, RNG.integers(0, 9, 6000), -SKEWED * 100, np.zeros(6000)):
        assert asked(x, name, within=within).code == "coarse_step"


def test_a_step_that_was_chosen_is_no_surprise() -> None:
    release = asked(ORDINARY["answers"], "median", step=1)
    assert release.code == "ok"
    assert "  step           1, as asked for" in str(release)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("texts") / "people.csv"
    path.write_text("region,day,pay\n" + 'North,2024-01-31,"1,234.50"\n' * 3000)
    return str(path)


MANY: dict[str, dict[str, Any]] = {
    "covariance": {},
    "mean_vector": {},
    "pca": {"components": 1},
    "linear_regression": {"target": "pay"},
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [*ASKED, *MANY, "cdf"])
def test_a_column_without_numbers_is_named_as_the_reason(name: str, texts: str) -> None:
    options = {"points": [1.0, 2.0]} if name == "cdf" else {"within": WIDE}
    options |= ASKED.get(name, {}) | MANY.get(name, {})
    column = ["region", "day"] if name in MANY else "region"
    codes = set()
    for seed in "abcdef":
        curator = mo.Curator(texts, budget=mo.pure(100), entropy=SeededEntropy(seed))
        release = getattr(curator, name)(column, epsilon=1, **options)
        assert not release.usable
        codes.add(release.code)
        if release.code == "no_values":
            assert release.status == NO_VALUES.words
            assert "`modicum check FILE COLUMN`" in " ".join(str(release).split())
    assert "no_values" in codes <= {"no_values", "few_records"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [*ASKED, *MANY])
def test_declared_numbers_are_too_few_and_no_text(name: str) -> None:
    nothing = np.full((2000, 3) if name in MANY else 2000, np.nan)
    options = {key: value for key, value in MANY.get(name, {}).items() if key != "target"}
    for seed in "abcdef":
        assert asked(nothing, name, seed=seed, **options).code == "few_records"


def test_a_small_budget_is_not_taken_for_text(tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text("pay\n" + "\n".join(map(str, SKEWED[:400])) + "\n")
    for seed in "abcd":
        curator = mo.Curator(str(path), budget=mo.pure(1), entropy=SeededEntropy(seed))
        assert curator.median("pay", within=WIDE, epsilon="0.003").code == "few_records"


def test_a_plan_foretells_a_coarse_step() -> None:
    plan = mo.plan.median(within=WIDE, sd=3e-7, mean=1e-6, shape="normal", n=10_000, epsilon=1)
    assert "as small as the step" in plan.status
    narrow = mo.plan.median(within=(-1, 1), sd=3e-7, mean=1e-6, shape="normal", n=9999, epsilon=1)
    assert narrow.status == "ok"


def test_a_location_that_may_be_anywhere_is_not_to_be_used() -> None:
    release = asked(SKEWED * 1e-6, "huber")
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


@pytest.mark.parametrize("name", ["mean", "median"])
def test_values_beyond_a_range_are_hinted_at(name) -> None:
    """Incomes where the range is one of thousands: all of them count as its end."""
    incomes = RNG.lognormal(10, 0.5, 6000)
    found = asked(incomes, name, within=(-100, 100))
    assert (found.code, found.usable) == ("range_end", True)
    assert "end 100 of the range" in found.status
    assert asked(incomes, name, within=(-1e6, 1e6)).code == "ok"


def test_intervals_near_an_end_of_the_range() -> None:
    wide = Lattice.within((-10, 20))
    assert at_an_end(wide, 19.5, 20.0).code == "range_end"
    assert at_an_end(wide, -10.0, -9.0).code == "range_end"
    for lattice, lower, upper in (
        (wide, 19.0, 19.9),
        (wide, 5.0, 20.0),  # says little anyway
        (Lattice.within((0, 20)), 0.0, 0.5),
        (Lattice.within((0, 1)), 0.99, 1.0),
    ):
        assert at_an_end(lattice, lower, upper).ok
