"""The records around a rank: as sorting them all finds them, in any order and however read."""

import copy
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import CopyRefused, InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.summaries import brackets, subsample
from modicum.summaries.base import Read
from modicum.summaries.order_statistics import RankWindow, WindowSummary
from tests.reference.summaries import integers
from tests.sources.engines.makers import TABLES, table_of
from tests.summaries.cases import NAN, chunked, lattices, reduce
from tests.summaries.test_records import Column

LATTICE = Lattice.within((0.0, 1e9), step=1.0)
asked = st.builds(
    RankWindow,
    st.sampled_from([Fraction(1, 2), Fraction(1, 7), Fraction(99, 100)]),
    st.integers(1, 9),
)


def twin(values, reduction: RankWindow, lattice: Lattice) -> tuple[int, int, list[int]]:
    """Count, records before the window and the window, by sorting everything."""
    ordered = integers(values, lattice)
    rank = reduction.q * len(ordered)
    start = max(0, int(rank) - reduction.reach)
    return len(ordered), start, ordered[start : int(rank) + reduction.reach + 1]


def found(summary: WindowSummary) -> tuple[int, int, list[int]]:
    assert summary.values.dtype == np.int64
    return summary.count, summary.below, summary.values.tolist()


@given(chunked(), lattices, asked)
def test_it_is_what_sorting_finds(column, lattice, reduction) -> None:
    values, chunks = column
    summary = reduce(reduction, lattice, chunks)
    assert found(summary) == twin(values, reduction, lattice)
    assert WindowSummary.from_bytes(summary.to_bytes()) == summary
    mirrored = summary.mirrored()
    negated = [-x for x in reversed(integers(values, lattice))]
    assert (mirrored.count, mirrored.q) == (len(negated), 1 - reduction.q)
    assert mirrored.values.tolist() == negated[mirrored.below :][: len(mirrored.values)]


@pytest.fixture
def few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of more than 300 records, and brackets of more than 50, are sampled by 64 to 128."""
    monkeypatch.setattr(brackets, "WHOLE", 300)
    monkeypatch.setattr(brackets, "_FEW", 300)
    monkeypatch.setattr(brackets, "INSIDE", 50)
    monkeypatch.setattr(brackets, "_FETCHED", 100)
    monkeypatch.setattr(subsample, "FEW", 6)


RNG = np.random.default_rng(3)
HARD = {
    "spread": RNG.permutation(3000) * 1.0,
    "ascending": np.arange(3000.0),
    "constant": np.full(3000, 5.0),
    "two values": RNG.integers(0, 2, 3000) * 1e9,
    "a heavy tie": np.where(RNG.random(3000) < 0.6, 7.0, RNG.integers(0, 1000, 3000)),
    "ties": RNG.integers(0, 12, 3000) * 1.0,
    "missing": np.where(RNG.random(3000) < 0.5, NAN, RNG.integers(0, 10**6, 3000)),
    "beyond the range": RNG.normal(0, 1e12, 3000),
    "nothing": np.full(3000, NAN),
    "nearly nothing": np.concatenate([np.full(2999, NAN), [3.0]]),
}


@pytest.mark.parametrize("fetch", [False, True])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 1000), Fraction(93, 100)])
@pytest.mark.usefixtures("few_are_held")
@pytest.mark.one_in(6)
def test_samples_lead_to_the_same_records(name, q, fetch) -> None:
    """However poor the samples, and whatever passes they cost."""
    for seed in range(5):
        reduction = RankWindow(q, 6)
        data = Column(np.split(HARD[name], [1, 700, 701]), SeededEntropy(seed), fetch=fetch)
        accumulator = reduction.begin(LATTICE, data)
        data.feed(accumulator)
        assert found(accumulator.finish()) == twin(HARD[name], reduction, LATTICE)
        assert data.passes < 10


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("fetch", "passes"), [(True, 1), (False, 2)])
@pytest.mark.parametrize("name", ["spread", "a tie"])
def test_long_columns_take_one_pass_or_two(name, fetch, passes) -> None:
    rng = np.random.default_rng(1)
    x = rng.permutation(3_000_000) * 1.0
    if name == "a tie":
        x[x < 2_000_000] = 5
    data = Column(np.split(x, 30), SeededEntropy(4), fetch=fetch)
    reduction = RankWindow(Fraction(1, 2), 1000)
    accumulator = reduction.begin(LATTICE, data)
    data.feed(accumulator)
    assert found(accumulator.finish()) == twin_of_many(x, reduction)
    assert data.passes == passes


def twin_of_many(x, reduction) -> tuple[int, int, list[int]]:
    start, stop = reduction.ranks(len(x))
    return len(x), start, np.sort(x)[start:stop].astype(int).tolist()


def test_a_bracket_that_missed_is_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of the lowest rows only: the median is not among them."""
    monkeypatch.setattr(brackets, "_FEW", 1000)
    monkeypatch.setattr(
        brackets, "distinct_positions", lambda size, count, entropy: np.arange(count)
    )
    x = np.arange(500_000.0)
    data = Column(np.split(x, 5), SeededEntropy(4), fetch=True)
    reduction = RankWindow(Fraction(1, 2), 100)
    accumulator = reduction.begin(LATTICE, data)
    data.feed(accumulator)
    assert found(accumulator.finish()) == twin_of_many(x, reduction)
    assert data.passes > 1


@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.usefixtures("few_are_held")
def test_every_engine_gives_the_same_window(engine, tmp_path) -> None:
    x = np.random.default_rng(2).normal(size=2000)
    x[::7] = NAN
    reduction = RankWindow(Fraction(2, 3), 8)
    lattice = Lattice.within((-3.0, 3.0))
    table = TABLES[engine](table_of(pa.array(x[:250]), pa.array(x[250:])), tmp_path)
    (summary,) = read(open_source(table), [Read("x", lattice, reduction)], SeededEntropy(0))
    assert found(summary) == twin(x, reduction, lattice)


def test_it_does_not_travel_by_itself() -> None:
    summary = reduce(RankWindow(Fraction(1, 2), 3), LATTICE, [[1.0, 77.0]])
    assert repr(summary) == "WindowSummary(q=Fraction(1, 2), reach=3)"
    with pytest.raises(CopyRefused):
        copy.copy(summary)
    assert not hasattr(summary, "merge")


@pytest.mark.parametrize(
    ("q", "reach", "word"),
    [(Fraction(0), 1, "q"), (Fraction(1), 1, "q"), (Fraction(1, 2), 0, "reach")],
)
def test_arguments(q, reach, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        RankWindow(q, reach)
    with pytest.raises(InvalidArgument, match="range"):
        RankWindow(Fraction(1, 2), 1).begin(None)
