"""Mean vectors: the same answer however rows are held, small errors, honest intervals."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum
from modicum import query as ask
from modicum.errors import InvalidArgument, UnsupportedData
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayEstimate
from modicum.runtime.run import LiveRun, run
from modicum.sources import reader
from modicum.sources.engines import arrays
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.statistics.vectors import vector_rounds
from modicum.stored.codec import from_text, to_text

WIDE = {"within": (-1e9, 1e9)}
NAMES = ["a", "b", "c"]
RNG = np.random.default_rng(8)
ROWS = RNG.normal([3, 500, -1e5], [1, 100, 0.01], size=(3000, 3))


def walk(data, question, seed="rows") -> LiveRun:
    reader = TableReader(open_source(data))
    entropy = SeededEntropy(seed)
    return run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"]


def answer(data, question, seed="rows") -> ArrayEstimate:
    found = walk(data, question, seed).answer
    assert isinstance(found, ArrayEstimate)
    return found


def distance(found: ArrayEstimate, truth: np.ndarray) -> float:
    return float(np.linalg.norm(np.array(found.values, dtype=float) - truth))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("question", "cost"),
    [
        (ask.mean_vector, {"rho": "0.5"}),
        (ask.mean_vector, {"epsilon": 1}),
        (ask.clipped_mean_vector, {"rho": "0.5"}),
    ],
)
def test_the_answer_does_not_depend_on_how_the_rows_are_held(
    question, cost, monkeypatch, tmp_path
) -> None:
    array, named = question(**WIDE, **cost), question(NAMES, **WIDE, **cost)
    expected = answer(ROWS, array).values
    assert answer(np.asfortranarray(ROWS[::-1]), array).values == expected
    lists = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 3)
    assert answer(lists, array).values == expected
    table = pd.DataFrame(ROWS, columns=NAMES).assign(other="text")
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    for held in (table, pl.from_pandas(table).lazy(), str(tmp_path / "rows.parquet")):
        assert answer(held, named).values == expected
    gone = pd.concat([table, pd.DataFrame({"a": [1.0], "b": [np.nan], "c": [2.0]})])
    assert answer(gone, named).values == expected
    monkeypatch.setattr(arrays, "BLOCK", 50)
    monkeypatch.setattr(reader, "BLOCK", 50)
    assert answer(ROWS, array).values == expected
    assert answer(table, named).values == expected


def test_the_noise_follows_the_columns_spreads_and_not_the_range() -> None:
    """The noise of a column of spread s is about sqrt(s S) / n, S being the sum of the spreads."""
    sd = np.array([1.0, 10.0, 0.1])
    x = np.random.default_rng(9).normal([3, 500, -1000], sd, size=(3000, 3))
    errors = []
    for seed in range(5):
        found = answer(x, ask.mean_vector(**WIDE, rho="0.5"), seed)
        assert found.status.ok
        errors.append(np.abs(np.array(found.values, dtype=float) - x.mean(axis=0)))
    assert (np.median(errors, axis=0) < 4 * np.sqrt(sd * sd.sum()) / 3000).all()


@pytest.mark.parametrize(("d", "limit"), [(1, 0.004), (16, 0.02), (128, 0.09)])
def test_errors_are_near_those_of_a_known_ball(d, limit) -> None:
    """The noise alone, with the best radius known, is d / (n sqrt(2 ρ))."""
    x = np.random.default_rng(d).normal(10, 1, size=(4000, d))
    errors = [
        distance(answer(x, ask.mean_vector(**WIDE, rho="0.5"), seed), x.mean(axis=0))
        for seed in range(3)
    ]
    assert np.median(errors) < limit


@pytest.mark.parametrize(("d", "limit"), [(4, 0.01), (16, 0.07)])
def test_errors_in_pure_epsilon_are_near_those_of_a_known_ball(d, limit) -> None:
    """The noise alone, for rows clipped to their mean L1 norm, is 1.1 d^(3/2) / (ε n)."""
    x = np.random.default_rng(d).normal(10, 1, size=(4000, d))
    errors = [
        distance(answer(x, ask.mean_vector(**WIDE, epsilon=1), seed), x.mean(axis=0))
        for seed in range(15)
    ]
    assert np.median(errors) < limit


def test_uneven_columns_gain_from_weights() -> None:
    """Standard deviations 128 / j: noise by the sum of them, and not by the largest."""
    d, n = 128, 5000
    sd = d / np.arange(1.0, d + 1)
    x = np.random.default_rng(2).normal(size=(n, d)) * sd
    found = answer(x, ask.mean_vector(**WIDE, rho="0.5"))
    clipped = answer(x, ask.clipped_mean_vector(**WIDE, rho="0.5"))
    assert distance(found, x.mean(axis=0)) < 3 * sd.sum() / n
    assert distance(found, x.mean(axis=0)) < distance(clipped, x.mean(axis=0)) / 1.5


def test_rows_far_from_zero_cost_rounds_and_not_accuracy() -> None:
    near = np.random.default_rng(3).normal(0, 1, size=(4000, 8))
    steps = []
    for place in (0.0, 1e3, 1e6):
        found = walk(near + place, ask.mean_vector(**WIDE, rho="0.5"))
        steps.append(sum(entry.label.startswith("step") for entry in found.transcript))
        assert isinstance(found.answer, ArrayEstimate)
        assert distance(found.answer, near.mean(axis=0) + place) < 0.02
    assert steps[0] <= steps[1] <= steps[2] <= 10


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", [{"rho": "0.5"}, {"epsilon": 2}], ids=str)
@pytest.mark.parametrize("question", [ask.mean_vector, ask.clipped_mean_vector])
def test_intervals_hold_all_at_once(question, cost) -> None:
    x = np.random.default_rng(4).normal(2, 1, size=(2000, 5))
    x[:, 0] = np.random.default_rng(5).standard_t(4, size=2000)
    truth, covered, inside = x.mean(axis=0), 0, 0
    for seed in range(40):
        found = answer(x, question(**WIDE, **cost), seed)
        lower, upper = found.error_model.intervals(0.95, 3)
        values = np.array(found.values, dtype=float)
        inside += bool(((lower <= values) & (values <= upper)).all())
        covered += bool(((lower <= truth) & (truth <= upper)).all())
        narrow = found.error_model.intervals(0.95, None)
        assert (narrow.upper - narrow.lower <= upper - lower).all()
    assert inside == 40
    assert covered >= 37


def test_the_interval_for_the_noise_alone_is_not_far_too_wide() -> None:
    """Of the clipped rows' mean: it holds, and half of it does not."""
    x = np.random.default_rng(6).uniform(-1, 1, size=(3000, 4))
    question = ask.clipped_mean_vector(within=(-1, 1), rho="0.02")
    held = half = 0
    for seed in range(60):
        found = answer(x, question, seed)
        lower, upper = found.error_model.intervals(0.8, None)
        miss = np.abs(np.array(found.values, dtype=float) - x.mean(axis=0))
        held += bool((miss <= (upper - lower) / 2 * 1.1).all())
        half += bool((miss <= (upper - lower) / 5).all())
    assert held >= 48
    assert half <= 30


@pytest.mark.parametrize(("d", "limit"), [(1, 0.006), (5, 0.02), (16, 0.04)])
def test_the_shifted_mean_finds_its_centre_anywhere(d, limit) -> None:
    x = np.random.default_rng(d).normal(30, 1, size=(4000, d))
    question = ask.mean_vector(within=(-100, 100), step=2.0**-6, rho="0.5", method="shifted")
    errors = []
    for seed in range(3):
        found = answer(x, question, seed)
        assert found.status.ok
        assert max(found.error_model.to_dict()["radii"]) < 4 * math.sqrt(d) + 2
        errors.append(distance(found, x.mean(axis=0)))
    assert np.median(errors) < limit


def test_too_many_columns_for_the_rows_are_said_to_be() -> None:
    x = np.random.default_rng(7).normal(size=(10, 2000))
    for cost in ({"rho": "0.1"}, {"epsilon": 1}):
        assert answer(x, ask.mean_vector(**WIDE, **cost)).status == vector_rounds.NOISY


def test_a_release_can_be_read_and_stored() -> None:
    table = pd.DataFrame(ROWS, columns=NAMES)
    found = modicum.mean_vector(table, ["a", "c"], **WIDE, rho="0.5")
    assert (found.column, found.shape, found.labels) == ("a, c", (2,), ("a", "c"))
    assert list(found.frame()["column"]) == ["a", "c"]
    assert "mean_vector of a, c: 2 numbers" in str(found)
    assert from_text(to_text(found)) == found
    assert "in any direction" in found.error_model.assumption(3)
    assert "not what was clipped" in found.error_model.assumption(None)
    assert len(found.error_model.to_dict()["sums"]) == 2


def test_a_curator_charges_for_it_and_answers_it_beside_others(tmp_path) -> None:
    curator = modicum.Curator(pd.DataFrame(ROWS, columns=NAMES), budget=modicum.zcdp("1"))
    found = curator.release(
        vector=ask.mean_vector(["a", "b"], **WIDE, rho="0.5"),
        mean=ask.mean("a", **WIDE, rho="0.1"),
        rows=ask.count(rho="0.1"),
    )
    assert curator.spent == modicum.zcdp("0.7")
    assert float(found["mean"]) == pytest.approx(found["vector"][0], abs=0.1)
    with pytest.raises(InvalidArgument):
        curator.mean_vector(NAMES, **WIDE, epsilon=1, rho=1)
    assert curator.spent == modicum.zcdp("0.7")


def test_a_persons_rows_cost_the_square_of_their_number() -> None:
    table = pd.DataFrame(ROWS, columns=NAMES).assign(who=np.repeat(np.arange(1500), 2))
    unit = modicum.unit_of("who", max_rows=2)
    found = modicum.mean_vector(table, NAMES, **WIDE, rho="0.5", unit=unit)
    assert math.isclose(
        sum(float(getattr(e.event, "rho", 0) or e.event.eta**2 / 8) for e in found.transcript),
        0.125,
    )
    with pytest.raises(InvalidArgument, match="combined"):
        modicum.mean_vector(
            table, NAMES, **WIDE, rho="0.5", unit=modicum.unit_of("who", combine="mean")
        )


def test_a_ledger_knows_the_question_again(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    account = modicum.Ledger.create(url).open_account("rows", modicum.zcdp(1))
    curator = modicum.Curator(ROWS, ledger=url, account="rows").idempotent("Monday")
    first, again = (curator.mean_vector(**WIDE, rho="0.5") for _ in range(2))
    assert first == again
    assert curator.remaining == modicum.zcdp("0.5")
    assert account is not None


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("a", "list of names"),
        ([], "0 names"),
        (["a", "a"], "different"),
        ([1], "text"),
        (3, "got 3"),
    ],
)
def test_columns_are_a_list_of_different_names(columns, words) -> None:
    for question in (ask.mean_vector, ask.clipped_mean_vector):
        with pytest.raises(InvalidArgument, match=words):
            question(columns, **WIDE, rho=1)


def test_what_cannot_be_asked_is_refused() -> None:
    table = pd.DataFrame(ROWS, columns=NAMES)
    with pytest.raises(InvalidArgument, match="columns is missing"):
        modicum.mean_vector(table, **WIDE, rho=1)
    with pytest.raises(InvalidArgument, match="within="):
        modicum.mean_vector(ROWS, bounds=(0, 1), rho=1)
    with pytest.raises(UnsupportedData, match=r"numpy\.asarray"):
        modicum.mean_vector([[1.0, 2.0]], **WIDE, rho=1)
    with pytest.raises(UnsupportedData, match="one dimension"):
        modicum.mean(ROWS, **WIDE, rho=1)
    with pytest.raises(InvalidArgument, match="exactly one of epsilon="):
        ask.mean_vector(**WIDE)
