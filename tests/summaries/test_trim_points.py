"""The records around two trim points and the sum between: as sorting finds them, however read."""

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
from modicum.summaries import brackets
from modicum.summaries.base import Read
from modicum.summaries.order_statistics import TrimPoints, TrimSummary
from tests.reference.summaries import integers
from tests.sources.engines.makers import TABLES, table_of
from tests.summaries.cases import NAN, chunked, lattices, reduce
from tests.summaries.test_records import Column
from tests.summaries.test_window import HARD, LATTICE, few_are_held  # noqa: F401

SHARES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(499, 1000)]
asked = st.builds(TrimPoints, st.sampled_from(SHARES), st.integers(1, 9))


def twin(values, asked: TrimPoints, lattice: Lattice) -> tuple[int, list[int], list[int], int]:
    """Count, both windows and the sum between the points, by sorting everything."""
    ordered = integers(values, lattice)
    n, reach = len(ordered), asked.reach
    m = int(asked.share * n)
    low, high = (ordered[max(0, cut - reach) : cut + reach] for cut in (m, n - m))
    return n, low, high, sum(ordered[m : n - m])


def found(summary: TrimSummary) -> tuple[int, list[int], list[int], int]:
    assert summary.low.dtype == summary.high.dtype == np.int64
    return summary.count, summary.low.tolist(), summary.high.tolist(), summary.middle


@given(chunked(), lattices, asked)
def test_it_is_what_sorting_finds(column, lattice, reduction) -> None:
    values, chunks = column
    summary = reduce(reduction, lattice, chunks)
    assert found(summary) == twin(values, reduction, lattice)
    assert TrimSummary.from_bytes(summary.to_bytes()) == summary
    mirrored = summary.mirrored()
    n, low, high, middle = found(summary)
    assert found(mirrored) == (n, [-x for x in high[::-1]], [-x for x in low[::-1]], -middle)


@pytest.mark.parametrize("fetch", [False, True])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.usefixtures("few_are_held")
@pytest.mark.one_in(3)
def test_samples_lead_to_the_same_records(name, share, fetch) -> None:
    """However poor the samples, and whatever passes they cost; brackets may overlap."""
    for seed in range(3):
        reduction = TrimPoints(share, 6)
        data = Column(np.split(HARD[name], [1, 700, 701]), SeededEntropy(seed), fetch=fetch)
        accumulator = reduction.begin(LATTICE, data)
        data.feed(accumulator)
        assert found(accumulator.finish()) == twin(HARD[name], reduction, LATTICE)
        assert data.passes < 12


@pytest.mark.parametrize(("fetch", "passes"), [(True, 1), (False, 2)])
def test_long_columns_take_one_pass_or_two(fetch, passes) -> None:
    x = np.random.default_rng(1).permutation(3_000_000) * 1.0
    data = Column(np.split(x, 30), SeededEntropy(4), fetch=fetch)
    accumulator = TrimPoints(Fraction(1, 10), 1000).begin(LATTICE, data)
    data.feed(accumulator)
    summary = accumulator.finish()
    assert summary.low.tolist() == list(range(299_000, 301_000))
    assert summary.middle == sum(range(300_000, 2_700_000))
    assert data.passes == passes


def test_a_bracket_that_missed_is_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of the lowest rows only: the upper point is not among them."""
    monkeypatch.setattr(
        brackets, "distinct_positions", lambda size, count, entropy: np.arange(count)
    )
    data = Column(np.split(np.arange(500_000.0), 5), SeededEntropy(4), fetch=True)
    accumulator = TrimPoints(Fraction(1, 20), 100).begin(LATTICE, data)
    data.feed(accumulator)
    summary = accumulator.finish()
    assert summary.high.tolist() == list(range(474_900, 475_100))
    assert summary.middle == sum(range(25_000, 475_000))
    assert data.passes > 1


@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.usefixtures("few_are_held")
def test_every_engine_gives_the_same_summary(engine, tmp_path) -> None:
    x = np.random.default_rng(2).normal(size=2000)
    x[::7] = NAN
    reduction, lattice = TrimPoints(Fraction(1, 5), 8), Lattice.within((-3.0, 3.0))
    table = TABLES[engine](table_of(pa.array(x[:250]), pa.array(x[250:])), tmp_path)
    (summary,) = read(open_source(table), [Read("x", lattice, reduction)], SeededEntropy(0))
    assert found(summary) == twin(x, reduction, lattice)


def test_it_does_not_travel_by_itself() -> None:
    summary = reduce(TrimPoints(Fraction(1, 4), 3), LATTICE, [[1.0, 77.0]])
    assert repr(summary) == "TrimSummary(share=Fraction(1, 4), reach=3)"
    with pytest.raises(CopyRefused):
        copy.copy(summary)
    assert not hasattr(summary, "merge")


@pytest.mark.parametrize(
    ("share", "reach", "word"),
    [(Fraction(-1), 1, "share"), (Fraction(1, 2), 1, "share"), (Fraction(1, 4), 0, "reach")],
)
def test_arguments(share, reach, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        TrimPoints(share, reach)
    with pytest.raises(InvalidArgument, match="range"):
        TrimPoints(Fraction(1, 4), 1).begin(None)
