"""Every engine gives the same bits for the same column."""

import sys
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.sources import base
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.sources.engines.makers import (
    RANDOM_ACCESS,
    TABLES,
    relation,
    same,
    table_of,
    values,
    without,
)

INF, NAN = float("inf"), float("nan")
NASTY = [1.5, None, NAN, INF, -INF, -0.0, 5e-324, 1e308]
LATTICES = [Lattice.within((-1e9, 1e9)), Lattice.within((-1e300, 1e300)), Lattice.within((1, 2))]

# Each rounds to even or up only if it is rounded once, from the exact value.
LONG = [2**53 + 1, 2**53 + 3, 2**63 - 1, 2**62 + 2**9 + 1, 0]
SIGNED = [-(2**63), *(-n for n in LONG), *LONG]
UNSIGNED = [2**64 - 1, 2**63 + 1025, *LONG]
DECIMALS = [
    Decimal(text)
    for text in (
        "0.1",
        "1.1",
        "-0.000000000000000001",
        "9007199254740993.000000000000000001",
        "12345678901234567890.123456789012345678",
    )
]

COLUMNS = {
    "nasty": pa.array(NASTY, pa.float64()),
    "float32": pa.array([1.5, None, 3e38, -0.0, INF], pa.float32()),
    "int64": pa.array(SIGNED, pa.int64()),
    "int64 with nulls": pa.array([*SIGNED, None], pa.int64()),
    "uint64": pa.array(UNSIGNED, pa.uint64()),
    "uint64 with nulls": pa.array([*UNSIGNED, None], pa.uint64()),
    "int8": pa.array([-128, 127, 0], pa.int8()),
    "bool": pa.array([True, False, None]),
    "decimal": pa.array([*DECIMALS, None], pa.decimal128(38, 18)),
    "all null": pa.array([None, None], pa.float64()),
    "empty": pa.array([], pa.float64()),
    "no integers": pa.array([], pa.int64()),
}


@pytest.fixture(params=TABLES)
def make(request, tmp_path):
    def made(*parts: pa.Array):
        table = table_of(*parts)
        numbers = table["x"]
        if request.param == "pandas" and numbers.null_count and numbers.type != pa.float64():
            pytest.skip("NumPy has no missing integers")
        if request.param in {"pandas", "pandas nullable"} and pa.types.is_decimal(numbers.type):
            pytest.skip("pandas makes objects of decimals, but for Arrow's")
        if request.param == "record batch" and not len(table):
            return pa.RecordBatch.from_pylist([], schema=table.schema)
        return TABLES[request.param](table, tmp_path)

    return made


@pytest.mark.parametrize("name", COLUMNS)
def test_all_engines_give_the_same_floats_and_summaries(make, name) -> None:
    column = COLUMNS[name]
    expected = [NAN if each is None else float(each) for each in column.to_pylist()]
    source = open_source(make(column))
    assert same(values(source), expected)

    def answers(source, column):
        reductions = [Count(), Tails(2), Tails(100), ClippedSum(-5, 10**6)]
        reads = [Read(column, lattice, each) for lattice in LATTICES for each in reductions]
        return [summary.to_bytes() for summary in read(source, reads, SYSTEM)]

    assert answers(source, "x") == answers(open_source(np.array(expected)), None)
    (rows,) = read(source, [Read(None, None, Count())], SYSTEM)
    assert rows.count == len(expected)


def test_many_parts_and_chunks(make) -> None:
    x = np.arange(150_000.0)
    column = pa.array(x)
    source = open_source(make(column[:1], column[1:1], column[1:70_000], column[70_000:]))
    chunks = list(source.chunks(["x", None]))
    assert all(chunk.keys() == {"x", None} for chunk in chunks)
    assert all(0 < len(chunk["x"]) <= 65_536 for chunk in chunks)
    assert all(np.array_equal(chunk[None], np.zeros(len(chunk["x"]))) for chunk in chunks)
    assert all(chunk["x"].dtype == np.float64 for chunk in chunks)
    assert same(np.concatenate([chunk["x"] for chunk in chunks]), x)
    rows = [chunk[None] for chunk in source.chunks([None])]
    assert sum(map(len, rows)) == len(x)
    assert max(map(len, rows)) <= 65_536


def test_a_source_can_be_read_again(make) -> None:
    source = open_source(make(COLUMNS["nasty"]))
    next(iter(source.chunks(["x"])))  # and be left in the middle
    first, second = values(source), values(source)
    assert same(first, second)
    assert len(first) == len(NASTY)


@pytest.mark.parametrize("engine", RANDOM_ACCESS)
def test_a_release_does_not_depend_on_the_engine(engine, tmp_path) -> None:
    x = np.random.default_rng(1).lognormal(8, 1, size=3000)

    def released(table, column):
        curator = mo.Curator(table, budget=mo.pure(1), entropy=SeededEntropy(5))
        return curator.mean(column, within=(-1e9, 1e9), epsilon=1)

    table = RANDOM_ACCESS[engine](table_of(pa.array(x)), tmp_path)
    release, expected = released(table, "x"), released(x, None)
    assert release.value == expected.value
    assert [e.outcome for e in release.transcript] == [e.outcome for e in expected.transcript]


@pytest.mark.parametrize("engine", RANDOM_ACCESS)
@pytest.mark.parametrize("name", ["nasty", "int64", "decimal", "bool"])
def test_rows_by_position(engine, name, tmp_path) -> None:
    column = COLUMNS[name]
    if (engine, name) in {
        ("pandas", "bool"),
        *(("pandas" + m, "decimal") for m in ("", " nullable")),
    }:
        pytest.skip("pandas makes objects of these")
    expected = np.array([NAN if each is None else float(each) for each in column.to_pylist()])
    source = open_source(RANDOM_ACCESS[engine](table_of(column[:2], column[2:]), tmp_path))
    assert source.fetchable("x").size == len(column)
    for positions in ([], [0], [len(column) - 1], [1, 2], range(len(column))):
        at = np.array(positions, dtype=np.int64)
        assert same(source.fetchable("x").take(at), expected[at])
        assert len(source.fetchable(None).take(at)) == len(at)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(NASTY, name="x"),
        pd.Series(NASTY, name="x", dtype="Float64"),
        pd.Series(pa.array(NASTY).to_pandas(), name="x", dtype=pd.ArrowDtype(pa.float64())),
        pl.Series("x", NASTY, dtype=pl.Float64),
        pa.chunked_array([pa.array(NASTY[:3]), pa.array(NASTY[3:])]),
        pa.array(NASTY),
    ],
    ids=["pandas", "nullable", "arrow dtype", "polars", "chunked array", "array"],
)
def test_single_columns(series) -> None:
    source = open_source(series)
    expected = [NAN if each is None else each for each in NASTY]
    assert same(values(source, None), expected)
    assert same(source.fetchable(None).take(np.arange(8)), expected)
    source.check_values(None)
    if hasattr(series, "name"):
        source.check_values("x")
        assert same(values(source, "x"), expected)
    with pytest.raises(mo.InvalidArgument, match="leave the name out"):
        source.check("y")


def test_a_table_is_recognised_by_a_module_that_is_imported_already(monkeypatch) -> None:
    class Table:
        """Of an engine that nobody has."""

    # Not a copy of all openers: what registers itself meanwhile has to stay.
    monkeypatch.setitem(base.OPENERS, "engine_of_a_test.Table", None)
    base.opener("engine_of_a_test.Table")(lambda _: open_source([1.0]))
    for module in (None, SimpleNamespace(), SimpleNamespace(Table="no class")):
        monkeypatch.setitem(sys.modules, "engine_of_a_test", module)
        with pytest.raises(mo.UnsupportedData, match="cannot read a Table"):
            open_source(Table())
    monkeypatch.setitem(sys.modules, "engine_of_a_test", SimpleNamespace(Table=Table))
    assert open_source(Table()).engine == "list"


@pytest.mark.parametrize("name", ["narwhals", "narwhals.stable.v1", "narwhals.stable.v2"])
def test_narwhals_wrappers_are_opened(name) -> None:
    nw = pytest.importorskip(name)
    frame = pl.DataFrame({"x": [1.0, 2.0]})
    for wrapped in (nw.from_native(frame), nw.from_native(frame.lazy())):
        assert same(values(wrapped), [1, 2])
    assert same(values(nw.from_native(frame["x"], series_only=True), None), [1, 2])


def test_half_precision() -> None:
    x = np.array([1.5, NAN, INF, 6e-8, 65504], dtype=np.float16)
    for source in (x, pa.array(x), pd.Series(x)):
        assert same(values(source, None), x.astype(np.float64))


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128] if hasattr(pl, "UInt128") else [pl.Int128])
def test_wide_integers_of_polars(kind) -> None:
    numbers = [2**126 + 2**73 + 1, 2**100 + 3, 2**53 + 1, None]
    expected = [NAN if n is None else float(n) for n in numbers]
    frame = pl.DataFrame({"x": pl.Series(numbers, dtype=kind)})
    assert same(values(frame), expected)
    assert same(values(frame.lazy()), expected)


@pytest.mark.parametrize("missing", [[], ["pyarrow"]])
def test_types_of_duckdb(missing) -> None:
    whole = {"hugeint": -(2**126) - 2**73 - 1, "uhugeint": 2**128 - 1, "utinyint": 255}
    fields = ", ".join(f"{n}::{kind} as {kind}" for kind, n in whole.items())
    source = open_source(relation(table_of(pa.array([1]))).project(fields + ", null::double as n"))
    with without(*missing):
        for kind, n in whole.items():
            assert same(values(source, kind), [float(n)])
        assert same(values(source, "n"), [NAN])
        nasty = open_source(relation(table_of(COLUMNS["nasty"])))
        assert same(values(nasty), [NAN if each is None else each for each in NASTY])


def test_awkward_column_names(tmp_path) -> None:
    for name in ('"', "a.b", "a b", "c0", "é", "select", "x'; drop", "*"):
        table = pa.table({"c0 ": ["t"], name: [7.5]})
        for make in TABLES.values():
            folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            assert same(values(make(table, folder), name), [7.5])


def test_old_polars_collects_at_once(monkeypatch) -> None:
    monkeypatch.setattr(pl, "__version__", "1.38.1")
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    assert same(values(pl.DataFrame({"x": [1.5, None]}).lazy()), [1.5, NAN])
