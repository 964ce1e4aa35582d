"""Where engines are known to go wrong in silence, every one gives the integers of NumPy."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.errors import InvalidArgument, MissingColumn, UnsupportedData
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.frames.base import open_source
from modicum.frames.reader import read
from modicum.steps import Ask
from modicum.summaries.cells import Cells
from modicum.summaries.clipped import ClippedSum
from modicum.summaries.count import Count
from modicum.summaries.records import Records
from modicum.summaries.tails import Tails
from tests.frames.engines import table_of
from tests.frames.remote import EVERYWHERE
from tests.frames.test_engines import COLUMNS

INF, NAN = float("inf"), float("nan")
LATTICES = [Lattice.within((-1e9, 1e9)), Lattice.within((-1e300, 1e300)), Lattice.within((1, 2))]
COARSE = Lattice.within((-1000, 1000), step=1)

TRAPS = {
    # A clipped null became the upper bound, a clipped NaN the upper bound or nothing.
    "missing": pa.array([None, NAN, 3.0, None, NAN], pa.float64()),
    # Sums of int32 and int64 wrap around, and int64 with nulls becomes a float.
    "int32": pa.array([2**31 - 1] * 9, pa.int32()),
    "int64": pa.array([2**62, 2**62, 2**62, -(2**63), 2**53 + 1, None], pa.int64()),
    # Rounding half away from zero, or to even.
    "halves": pa.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 998.5, -999.5]),
    # Sums of floats depend on their order.
    "cancelling": pa.array([1e16, 1.0, -1e16, 1.0] * 5),
    "infinite": pa.array([INF, -INF, 1e308, -1e308, 5e-324, -0.0]),
    "decimal": pa.array([Decimal("0.1"), Decimal("1.1"), None], pa.decimal128(20, 2)),
    "bool": pa.array([True, None, False, True]),
}


@pytest.fixture(params=EVERYWHERE)
def make(request, tmp_path) -> Any:
    def made(*parts: pa.Array) -> Any:
        table = table_of(*parts)
        numbers = table["x"]
        if request.param == "pandas" and numbers.null_count and numbers.type != pa.float64():
            pytest.skip("NumPy has no missing integers")
        if request.param in {"pandas", "pandas nullable"} and pa.types.is_decimal(numbers.type):
            pytest.skip("pandas makes objects of decimals, but for Arrow's")
        if request.param == "dask nullable" and pa.types.is_decimal(numbers.type):
            pytest.skip("pandas makes objects of decimals, but for Arrow's")
        if request.param == "record batch" and not len(table):
            return pa.RecordBatch.from_pylist([], schema=table.schema)
        return EVERYWHERE[request.param](table, tmp_path)

    return made


def answers(source: Any, column: str | None) -> list[bytes]:
    reductions = [Count(), Tails(2), Tails(100), ClippedSum(-5, 10**6), Cells(3, (0, 5, 900))]
    asks = [Ask(column, lattice, each) for lattice in [*LATTICES, COARSE] for each in reductions]
    return [summary.to_bytes() for summary in read(source, asks, SYSTEM)]


def expected_of(column: pa.Array) -> np.ndarray:
    return np.array([NAN if each is None else float(each) for each in column.to_pylist()])


@pytest.mark.parametrize("name", [*TRAPS, *(f"engines: {name}" for name in COLUMNS)])
def test_the_same_integers(make, name) -> None:
    column = TRAPS[name] if name in TRAPS else COLUMNS[name.removeprefix("engines: ")]
    source = open_source(make(column))
    source.check_values("x")
    assert answers(source, "x") == answers(open_source(expected_of(column)), None)
    (rows,) = read(source, [Ask(None, None, Count())], SYSTEM)
    assert rows.count == len(column)


def test_many_rows(make) -> None:
    x = np.random.default_rng(2).lognormal(8, 2, 100_000)
    x[::97] = NAN
    column = pa.array(x)
    source = open_source(make(column[:1], column[1:70_000], column[70_000:]))
    assert answers(source, "x") == answers(open_source(x), None)
    (records,) = read(source, [Ask("x", LATTICES[0], Records(2))], SYSTEM)
    one, other = records.thin(4, SYSTEM), records.thin(4, SYSTEM)
    mean = np.count_nonzero(~np.isnan(x)) / 16
    assert all(abs(len(q) - mean) < 7 * mean**0.5 for q in (one, other))
    assert set(one.tolist()) <= set(LATTICES[0].quantise(x).tolist())
    assert 0 < len(np.intersect1d(one, other)) < mean / 8
    # Below the kept level, more are drawn afresh.
    assert abs(len(records.thin(0, SYSTEM)) - 16 * mean) == 0


def test_a_curator_does_all_it_can(make) -> None:
    x = np.random.default_rng(3).normal(40, 3, 20_000)
    curator = mo.Curator(make(pa.array(x)), budget=mo.pure(10))
    for method in (curator.mean, curator.sum):
        release = method("x", within=(-1e9, 1e9), epsilon=1)
        scale = len(x) if release.statistic == "sum" else 1
        assert abs(release.value / scale - 40) < 2
    assert abs(curator.count(epsilon=1).value - len(x)) < 100
    assert curator.spent == mo.pure(3)
    for wrong, error in (("y", MissingColumn), ("label", UnsupportedData), (None, InvalidArgument)):
        with pytest.raises(error):
            curator.mean(wrong, within=(0, 1), epsilon=1)
    assert curator.spent == mo.pure(3)


NAMES = ('"', "a.b", "a b", "c0", "é", "select", "x'; drop", "*", "`", "a`.`b", "ß∂", "part")


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_awkward_column_names(engine: str, tmp_path: Path) -> None:
    # Ibis takes "*" for all columns in Polars; that fails, and gives nothing wrong.
    names = [name for name in NAMES if (name, engine) != ("*", "ibis polars")]
    table = pa.table({"c0 ": ["t"], **{name: [float(i)] for i, name in enumerate(names)}})
    source = open_source(EVERYWHERE[engine](table, tmp_path))
    asks = [Ask(name, COARSE, ClippedSum(-100, 100)) for name in names]
    got = [summary.total for summary in read(source, asks, SYSTEM)]
    assert got == list(range(len(names)))


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_dates_are_no_numbers(engine: str, tmp_path: Path) -> None:
    moment = datetime(2020, 1, 1)  # noqa: DTZ001
    for i, column in enumerate((pa.array([date(2020, 1, 1)]), pa.array([moment]))):
        folder = tmp_path / str(i)
        folder.mkdir()
        source = open_source(EVERYWHERE[engine](table_of(column), folder))
        with pytest.raises(UnsupportedData, match="column 'x' is declared as"):
            read(source, [Ask("x", COARSE, Count())], SYSTEM)
