"""The records around several ranks, and places asked for later: as sorting them all finds them."""

import copy
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from modicum.errors import CopyRefused, InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.summaries import brackets, subsample
from modicum.summaries.base import Read
from modicum.summaries.grouped import summary_of_sorted
from modicum.summaries.order_statistics import RankWindow, RankWindows, WindowsSummary
from tests.reference.summaries import integers
from tests.sources.engines.makers import TABLES, table_of
from tests.summaries.cases import reduce
from tests.summaries.test_records import Column
from tests.summaries.test_window import HARD, LATTICE

QS = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))


def asking(qs: Sequence[Fraction], reaches: Sequence[int]) -> RankWindows:
    return RankWindows(tuple(map(RankWindow, qs, reaches)))


ASKED = asking(QS, (6, 9, 6))
MANY = asking([Fraction(i, 40) for i in range(1, 40)], [2] * 39)


@pytest.fixture
def few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of more than 300 records, and brackets of more than 50, are sampled by 64 to 128."""
    monkeypatch.setattr(brackets, "WHOLE", 300)
    monkeypatch.setattr(brackets, "_FEW", 300)
    monkeypatch.setattr(brackets, "INSIDE", 50)
    monkeypatch.setattr(brackets, "_FETCHED", 100)
    monkeypatch.setattr(subsample, "FEW", 6)


def agrees(summary: WindowsSummary, ordered: list[int], spans, lattice: Lattice) -> None:
    """Windows and places are those of the sorted records."""
    assert summary.count == len(ordered)
    for start, stop in spans:
        wanted = sorted(set(ordered[max(start, 0) : max(stop, 0)]))
        values, before, ties = summary.between(start, stop)
        assert set(wanted) <= set(values.tolist())
        assert values.tolist() == sorted(set(values.tolist()))
        for value, below, same in zip(values, before, ties, strict=True):
            assert (below, same) == (bisect_left(ordered, value), ordered.count(value))
    seen = [ordered[i] for i in range(0, len(ordered), max(1, len(ordered) // 7))]
    ends = (lattice.first - 1, lattice.first, lattice.last, lattice.last + 1, lattice.last + 2)
    for value in (*ends, *seen, *(x + 1 for x in seen)):
        left, right = bisect_left(ordered, value), bisect_right(ordered, value)
        assert summary.below(value) == left
        assert summary.place(value) == (left, right - left)
    for start, stop in spans:
        assert (summary.between(start, stop).ties > 0).all()  # places without records are known now


@pytest.mark.one_in(3)
@pytest.mark.parametrize("asked", [ASKED, MANY], ids=["few", "many"])
@pytest.mark.parametrize("fetch", [False, True])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.usefixtures("few_are_held")
def test_samples_lead_to_the_same_records(name, fetch, asked) -> None:
    """The windows, and what lies beyond them, which takes further passes."""
    ordered = integers(HARD[name], LATTICE)
    for seed in range(3):
        data = Column(np.split(HARD[name], [1, 700, 701]), SeededEntropy(seed), fetch=fetch)
        accumulator = asked.begin(LATTICE, data)
        data.feed(accumulator)
        summary = accumulator.finish()
        assert data.passes < 10
        spans = [*asked.ranks(len(ordered)), (40, 60), (0, 3), (len(ordered) - 2, len(ordered))]
        agrees(summary, ordered, spans, LATTICE)


def test_without_rows_all_is_known() -> None:
    x = np.repeat(np.arange(20.0), 3)
    summary = reduce(asking(QS, (40, 1, 1)), LATTICE, [x[:7], x[7:]])
    agrees(summary, integers(x, LATTICE), [(0, 60), (10, 20)], LATTICE)
    empty = reduce(ASKED, LATTICE, [])
    assert empty.count == 0
    assert empty.place(5) == (0, 0)
    assert len(empty.between(0, 3).values) == 0


@pytest.mark.usefixtures("few_are_held")
def test_the_ends_of_the_range_take_no_pass() -> None:
    data = Column([HARD["spread"]], SeededEntropy(0), fetch=False)
    accumulator = ASKED.begin(LATTICE, data)
    data.feed(accumulator)
    summary, passes = accumulator.finish(), data.passes
    assert summary.below(LATTICE.first) == 0
    assert summary.below(LATTICE.last + 1) == summary.count
    assert data.passes == passes


@pytest.mark.usefixtures("few_are_held")
def test_rows_that_are_gone_end_the_search() -> None:
    """What further passes find is not what the first one saw: no error, no endless search."""
    data = Column([HARD["spread"]], SeededEntropy(0), fetch=False)
    accumulator = ASKED.begin(LATTICE, data)
    data.feed(accumulator)
    summary = accumulator.finish()
    for kept in (100, 3, 0):
        data.chunks = [each[:kept] for each in data.chunks]
        values, _, _ = summary.between(-5, summary.count - kept)
        assert (np.diff(values) > 0).all()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.usefixtures("few_are_held")
def test_every_engine_gives_the_same_windows(engine, tmp_path) -> None:
    x = np.random.default_rng(2).normal(size=2000)
    x[::7] = np.nan
    lattice = Lattice.within((-3.0, 3.0))
    table = TABLES[engine](table_of(pa.array(x[:250]), pa.array(x[250:])), tmp_path)
    (summary,) = read(open_source(table), [Read("x", lattice, ASKED)], SeededEntropy(0))
    ordered = integers(x, lattice)
    agrees(summary, ordered, [*ASKED.ranks(len(ordered)), (300, 310)], lattice)


def test_it_does_not_travel() -> None:
    summary = reduce(ASKED, LATTICE, [[1.0, 77.0]])
    assert "77" not in repr(summary)
    with pytest.raises(CopyRefused):
        copy.copy(summary)


@pytest.mark.parametrize("name", HARD)
def test_held_records_need_no_pass(name) -> None:
    ordered = integers(HARD[name], LATTICE)
    summary = summary_of_sorted(ASKED, LATTICE, np.array(ordered, dtype=np.int64))
    agrees(summary, ordered, [*ASKED.ranks(len(ordered)), (40, 60)], LATTICE)


def test_arguments() -> None:
    with pytest.raises(InvalidArgument, match="at least one"):
        RankWindows(())
    with pytest.raises(InvalidArgument, match="range"):
        ASKED.begin(None)
