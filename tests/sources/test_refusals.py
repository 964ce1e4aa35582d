"""What is refused by kind, name or type, never by value; and where engines go wrong in silence."""

import copy
import pickle
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import modicum as mo
from modicum.errors import CopyRefused, InvalidArgument, MissingColumn, SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.sources.types import is_number
from modicum.summaries.base import Read
from modicum.summaries.cells import Cells
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.sources.cluster.remote import EVERYWHERE
from tests.sources.engines.makers import RANDOM_ACCESS, TABLES, relation, table_of
from tests.sources.test_engines import COLUMNS

DAY = [date(2020, 1, 1)]
MOMENT = [datetime(2020, 1, 1)]  # noqa: DTZ001
ARROW_TYPES = {
    "date": pa.array(DAY),
    "timestamp": pa.array(MOMENT),
    "duration": pa.array([timedelta(1)]),
    "text": pa.array(["secret"]),
    "labels": pa.array(["secret"]).dictionary_encode(),
    "list": pa.array([[1.0]]),
    "struct": pa.array([{"a": 1.0}]),
    "time": pa.array([MOMENT[0].time()]),
}


@pytest.mark.parametrize("kind", ARROW_TYPES)
@pytest.mark.parametrize("engine", [*RANDOM_ACCESS, "lazy", "dataset", "duckdb", "parquet"])
def test_types_that_are_no_numbers(engine, kind, tmp_path) -> None:
    column = ARROW_TYPES[kind]
    texts = set()
    for i, part in enumerate((column, column[:0])):
        folder = tmp_path / str(i)
        folder.mkdir()
        table = table_of(part)
        if engine == "record batch" and not len(part):
            continue
        if engine.startswith("pandas") and kind in {"time", "list", "struct"}:
            table = table_of(column)  # the dtype of an empty column of objects is up to pandas
        source = open_source(TABLES[engine](table, folder))
        with pytest.raises(UnsupportedData) as caught:
            source.check("x")
        texts.add(str(caught.value))
    assert len(texts) == 1
    text = texts.pop()
    assert "secret" not in text
    assert "'x'" in text
    if kind in {"date", "timestamp", "duration", "text"} and engine != "parquet":
        assert "convert it first" in text


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([Decimal(1)], dtype=object),
        pd.Series(["a"]),
        pd.Series([1], dtype="category"),
        pd.Series([1j]),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series(pd.to_datetime(["2020-01-01"]).tz_localize("UTC")),
        pd.Series(pd.to_timedelta([1], unit="s")),
        pd.Series([1.0], dtype="Sparse[float64]"),
        pd.Series(pd.period_range("2020", periods=1, freq="D")),
        pd.Series(pd.interval_range(0, 1)),
        pl.Series([None]),
        pl.Series([object()], dtype=pl.Object),
        pl.Series(["a"], dtype=pl.Enum(["a"])),
        pl.Series([timedelta(1)]),
        pa.nulls(2),
        pa.array([b"1"]),
        pa.array([1, 1]).dictionary_encode(),
    ],
    ids=lambda series: str(series.dtype if hasattr(series, "dtype") else series.type),
)
def test_series_that_are_no_numbers(series) -> None:
    with pytest.raises(UnsupportedData, match="the data are declared as"):
        open_source(series)


@pytest.mark.parametrize(
    ("thing", "advice"),
    [
        ({"x": [1.0]}, "DataFrame"),
        (5.0, "pass a one-dimensional NumPy array"),
        (None, "pass a one-dimensional NumPy array"),
        (b"rows.csv", "pass a list"),
        ({1.0, 2.0}, "pass a list"),
        (iter([1.0]), "pass a list"),
        (pd.Index([1.0]), "numpy.asarray"),
        (table_of(pa.array([1.0])).to_reader(), "read_all()"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_objects_that_are_no_tables(thing, advice) -> None:
    with pytest.raises(UnsupportedData) as caught:
        open_source(thing)
    assert advice in str(caught.value)


@pytest.mark.parametrize("engine", TABLES)
def test_columns_of_a_table(engine, tmp_path) -> None:
    source = open_source(TABLES[engine](table_of(pa.array([1.0, 2.0])), tmp_path))
    source.check(None)
    source.check_values("x")
    with pytest.raises(MissingColumn, match=r"no column 'y'; columns: 'label', 'x'"):
        source.check("y")
    with pytest.raises(InvalidArgument, match="a table needs one; columns: 'label', 'x'"):
        source.check_values(None)
    with pytest.raises(InvalidArgument, match="a table needs one"):
        read(source, [Read(None, Lattice.within((0, 1)), ClippedSum(0, 1))], SYSTEM)
    with pytest.raises(UnsupportedData):
        read(source, [Read("label", Lattice.within((0, 1)), ClippedSum(0, 1))], SYSTEM)


def test_two_columns_of_one_name() -> None:
    twice = pa.Table.from_arrays([pa.array([1.0])] * 2, ["x", "x"])
    for table in (twice, twice.to_pandas(), ds.dataset(twice)):
        with pytest.raises(MissingColumn, match="several columns 'x'"):
            open_source(table).check("x")


def test_names_that_are_no_text_cannot_be_asked_for() -> None:
    frame = pd.DataFrame({0: [1.0], ("a", "b"): [1.0], "x": [2.0]})
    with pytest.raises(MissingColumn, match="columns: 'x'"):
        open_source(frame).check("0")
    with pytest.raises(MissingColumn, match="columns: none"):
        open_source(pd.DataFrame({0: [1.0]})).check("0")


def _failing(frame: pl.DataFrame) -> pl.DataFrame:
    raise ValueError("secret")


@pytest.mark.parametrize(
    "make",
    [
        lambda: relation(table_of(pa.array(["secret"]))).project("label, x::double as x"),
        lambda: pl.LazyFrame({"x": ["secret"]}).select(pl.col("x").cast(pl.Float64)),
        lambda: pl.LazyFrame({"x": [1.0]}).map_batches(_failing, schema={"x": pl.Float64}),
    ],
    ids=["duckdb", "polars", "polars function"],
)
def test_failures_of_an_engine_show_nothing(make) -> None:
    source = open_source(make())
    source.check("x")
    with pytest.raises(SourceError) as caught:
        list(source.chunks(["x"]))
    assert str(caught.value).endswith(" data could not be read")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_an_interrupt_is_no_failure() -> None:
    class Interrupted:
        def __getitem__(self, name):
            raise KeyboardInterrupt

    source = open_source(np.arange(3.0))
    source._column = Interrupted().__getitem__
    with pytest.raises(KeyboardInterrupt):
        list(source.chunks([None]))


@pytest.mark.parametrize("table", [[123.0], np.array([123.0]), pl.DataFrame({"x": [123.0]})])
def test_sources_show_and_give_away_nothing(table) -> None:
    source = open_source(table)
    assert repr(source) == f"Source(engine='{source.engine}')"
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(CopyRefused):
            leak(source)


def test_types_by_name() -> None:
    accepted = "int8 UInt64 Int128 bool boolean BOOLEAN halffloat float double Float32 FLOAT DOUBLE"
    accepted += " TINYINT UBIGINT HUGEINT INTEGER int64[pyarrow] double[pyarrow] float16"
    assert all(map(is_number, accepted.split()))
    assert is_number("decimal128(38, 18)[pyarrow]")
    assert is_number("Decimal(precision=38, scale=2)")
    refused = (
        "float128 complex128 object str FLOAT[] INTEGER[3] list<item:double> interval datetime64"
    )
    assert not any(map(is_number, refused.split()))


def test_no_engine_is_imported_for_nothing() -> None:
    script = """
import sys, modicum
from modicum.sources.opening import open_source
engines = {"narwhals", "pandas", "polars", "pyarrow", "duckdb"}
def loaded(): return sorted(engines & set(sys.modules))
assert not loaded(), loaded()
import numpy
open_source(numpy.arange(3.0)), open_source([1.0])
assert not loaded(), loaded()
try: open_source({})
except modicum.UnsupportedData: pass
assert not loaded(), loaded()
"""
    subprocess.run([sys.executable, "-c", script], check=True)


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
    reads = [Read(column, lattice, each) for lattice in [*LATTICES, COARSE] for each in reductions]
    return [summary.to_bytes() for summary in read(source, reads, SYSTEM)]


def expected_of(column: pa.Array) -> np.ndarray:
    return np.array([NAN if each is None else float(each) for each in column.to_pylist()])


@pytest.mark.parametrize("name", [*TRAPS, *(f"engines: {name}" for name in COLUMNS)])
@pytest.mark.one_in(3)
def test_the_same_integers(make, name) -> None:
    column = TRAPS[name] if name in TRAPS else COLUMNS[name.removeprefix("engines: ")]
    source = open_source(make(column))
    source.check_values("x")
    assert answers(source, "x") == answers(open_source(expected_of(column)), None)
    (rows,) = read(source, [Read(None, None, Count())], SYSTEM)
    assert rows.count == len(column)


@pytest.mark.one_in(3)
def test_many_rows(make) -> None:
    x = np.random.default_rng(2).lognormal(8, 2, 100_000)
    x[::97] = NAN
    column = pa.array(x)
    source = open_source(make(column[:1], column[1:70_000], column[70_000:]))
    assert answers(source, "x") == answers(open_source(x), None)
    (records,) = read(source, [Read("x", LATTICES[0], Records(2))], SYSTEM)
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
    reads = [Read(name, COARSE, ClippedSum(-100, 100)) for name in names]
    got = [summary.total for summary in read(source, reads, SYSTEM)]
    assert got == list(range(len(names)))


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_dates_are_no_numbers(engine: str, tmp_path: Path) -> None:
    moment = datetime(2020, 1, 1)  # noqa: DTZ001
    for i, column in enumerate((pa.array([date(2020, 1, 1)]), pa.array([moment]))):
        folder = tmp_path / str(i)
        folder.mkdir()
        source = open_source(EVERYWHERE[engine](table_of(column), folder))
        with pytest.raises(UnsupportedData, match="column 'x' is declared as"):
            read(source, [Read("x", COARSE, Count())], SYSTEM)
