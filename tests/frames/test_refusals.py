"""What is refused: by its kind, its names or its declared types, never by its values."""

import copy
import pickle
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from modicum.errors import CopyRefused, InvalidArgument, MissingColumn, SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.frames.base import open_source
from modicum.frames.reader import read
from modicum.frames.types import is_number
from modicum.steps import Ask
from modicum.summaries.clipped import ClippedSum
from tests.frames.engines import RANDOM_ACCESS, TABLES, relation, table_of

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
        read(source, [Ask(None, Lattice.within((0, 1)), ClippedSum(0, 1))], SYSTEM)
    with pytest.raises(UnsupportedData):
        read(source, [Ask("label", Lattice.within((0, 1)), ClippedSum(0, 1))], SYSTEM)


def test_two_columns_of_one_name() -> None:
    twice = pa.Table.from_arrays([pa.array([1.0])] * 2, ["x", "x"])
    for table in (twice, twice.to_pandas(), ds.dataset(twice)):
        with pytest.raises(UnsupportedData, match=r"several \['x'\]"):
            open_source(table)


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
from modicum.frames.base import open_source
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
