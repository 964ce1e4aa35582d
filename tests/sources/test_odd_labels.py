"""Labels and numbers of odd kinds: read alike everywhere, and never a reason to fail."""

import uuid

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources.opening import open_source
from tests.sources.engines.makers import TABLES as ALL_TABLES
from tests.sources.engines.makers import labels_of, same, values
from tests.sources.odd_columns import arrow_types

UNIT = mo.unit_of("id", max_rows=1)


def count(table, column="x", **options) -> int:
    return round(mo.count(table, column, epsilon=1000, **options).value)


def not_utf8() -> pa.Array:
    cuts = np.array([0, 1, 3, 4, 6], np.int32)
    buffers = [None, pa.py_buffer(cuts.tobytes()), pa.py_buffer(b"a\xff\xfeb\xff\xfe")]
    return pa.Array.from_buffers(pa.string(), 4, buffers)


def large() -> pa.Array:
    return not_utf8().cast(pa.binary()).cast(pa.large_binary()).view(pa.large_string())


def parquet(folder) -> str:
    path = str(folder / "rows.parquet")
    pq.write_table(pa.table({"id": not_utf8(), "x": [1.0] * 4}), path)
    return path


TABLES = {
    "table": lambda _: pa.table({"id": not_utf8(), "x": [1.0] * 4}),
    "large": lambda _: pa.table({"id": large(), "x": [1.0] * 4}),
    "dictionary": lambda _: pa.table(
        {"id": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), not_utf8()), "x": [1.0] * 4}
    ),
    "polars": lambda _: pl.from_arrow(pa.table({"id": not_utf8(), "x": [1.0] * 4})),
    "lazy": lambda _: pl.from_arrow(pa.table({"id": large(), "x": [1.0] * 4})).lazy(),
    "parquet": parquet,
    "dataset": lambda folder: ds.dataset(parquet(folder)),
    "pandas arrow": lambda _: pd.DataFrame(
        {"id": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([not_utf8()]))), "x": 1.0}
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_bytes_that_are_no_text(tmp_path, name) -> None:
    table = TABLES[name](tmp_path)
    assert count(table, "id") == 4
    assert count(table, unit=UNIT) == 3
    answers = mo.Curator(table, budget=mo.pure(2000)).group_by("id", keys=["a", "\ufffd\ufffd"])
    assert [round(each.value) for each in answers.count(epsilon=1000).values()] == [1, 2]


def test_bytes_that_are_no_text_in_pandas() -> None:
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    nan = {"na_value": np.nan} if version >= (2, 3) else {}
    dtype = pd.StringDtype("pyarrow" if nan else "pyarrow_numpy", **nan)
    kind, chunks = type(pd.array(["a"], dtype=dtype)), pa.chunked_array([large()])
    ids = kind(chunks, dtype=dtype) if version >= (3, 0) else kind(chunks)
    assert count(pd.DataFrame({"id": pd.Series(ids), "x": 1.0}), unit=UNIT) == 3


@pytest.mark.parametrize(
    "ids",
    [[float("nan")] * 50, ["c", ["b"]], [(1, 2), "z"], [1, 2]],
    ids=["nan", "list", "mixed", "int"],
)
def test_objects_of_polars_are_refused_by_their_type(ids) -> None:
    table = pl.DataFrame({"id": pl.Series(ids, dtype=pl.Object), "x": [1.0] * len(ids)})
    curator = mo.Curator(table, budget=mo.approx(9, "1e-3"))
    asked = (
        lambda: count(table, unit=UNIT),
        lambda: count(table, "id"),
        lambda: curator.group_by("id", key_budget=mo.approx(4, "5e-4")),
        lambda: curator.group_by("id", keys=["z"]),
    )
    for ask in asked:
        with pytest.raises(UnsupportedData, match="declared as Object"):
            ask()
    assert curator.spent.amount == 0


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
@pytest.mark.parametrize("order", ["day", "x"])
def test_the_column_that_orders_rows_is_counted(unit, order) -> None:
    days = ["1960-01-01"] * 300 + ["2020-01-01"] * 200 + [None] * 100
    table = pd.DataFrame({"id": range(600), "day": np.array(days, f"M8[{unit}]"), "x": 1.0})
    table.loc[::2, "x"] = np.nan
    by = mo.unit_of("id", max_rows=1, order_by=order)
    for each in (table, pl.from_pandas(table), pa.Table.from_pandas(table)):
        assert count(each, "day", unit=by) == 500
        assert count(each, "x", unit=by) == 300


@pytest.mark.parametrize(
    "keys",
    [[1, 1.0], [True, 1], [0, False], ["1", 1], [1, "1"], [1.0, "1.0"], ["a", "b", "a"]],
    ids=str,
)
@pytest.mark.parametrize("ids", [["1", "1.0", "True"], [1, 2, 3], ["1", 1, True]], ids=str)
def test_keys_that_are_one_are_refused(keys, ids) -> None:
    table = pd.DataFrame({"g": ids, "x": 1.0})
    with pytest.raises(InvalidArgument):
        mo.Curator(table, budget=mo.pure(1)).group_by("g", keys=keys)


def test_half_of_a_surrogate_pair_is_a_key(tmp_path) -> None:
    ids = pd.Series(["\ud800"] * 500 + ["b"] * 500, dtype=object)
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = mo.Ledger.create(url)
    ledger.open_account("a", mo.approx(10, "0.1"))
    curator = mo.Curator(pd.DataFrame({"g": ids}), ledger=url, account="a")
    groups = curator.group_by("g", key_budget=mo.approx(5, "0.01"))
    assert groups.keys == ("b", "\ud800")
    assert [round(each.value, -2) for each in groups.count(epsilon=1).values()] == [500, 500]
    assert mo.Ledger(url).verify()


class Odd(float):
    """A number that shows itself when it is converted."""

    error: type[BaseException] = ZeroDivisionError

    def __float__(self) -> float:
        raise self.error("secret")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, RecursionError, AssertionError])
def test_numbers_that_cannot_be_converted_are_missing(monkeypatch, error) -> None:
    monkeypatch.setattr(Odd, "error", error)
    assert same(values([5.0, Odd(3), 7], None), [5, np.nan, 7])
    assert same(values([5.0, "x", Odd(3), 10**400], None), [5, np.nan, np.nan, np.inf])


def test_labels_of_a_decoded_column_are_in_order() -> None:
    source = open_source(TABLES["table"](None))
    assert labels_of(source, "id") == ([0, 1, 2, 1], ["a", "\ufffd\ufffd", "b"])


@pytest.mark.parametrize("index", ["int8", "uint8", "int32", "uint16", "uint32", "uint64"])
def test_a_null_in_a_dictionary_is_missing_whatever_its_indices_are(index) -> None:
    kind = pa.dictionary(getattr(pa, index)(), pa.string())
    table = pa.table({"id": pa.array(["p", "q", None, "p"]).cast(kind), "x": [1.0] * 4})
    for each in (table, table.to_pandas(types_mapper=pd.ArrowDtype), ds.dataset(table)):
        assert labels_of(open_source(each), "id") == ([0, 1, -1, 0], ["p", "q"])
        assert count(each, "id") == 3


@pytest.mark.parametrize(
    ("first", "second", "fine"),
    [
        ("int32", "int64", False),
        ("int64", "int32", True),
        ("int16", "uint16", False),
        ("int32", "uint16", True),
        ("float64", "int64", False),
        ("float64", "int32", True),
        ("float32", "float64", False),
        ("float64", "float32", True),
        ("int64", "float64", False),
        ("int64", "null", True),
        ("string", "large_string", True),
        ("string", "int64", False),
        ("float64", "string", False),
    ],
)
def test_files_of_a_data_set_are_read_if_no_value_can_fail(tmp_path, first, second, fine) -> None:
    """2^40 in an int64 file where the first one says int32, or 2^53 + 1 where it says float64."""
    far = {"int64": 2**53 + 1, "float64": 1e300, "uint16": 60_000}
    plain = "1" if "string" in second else 1
    for name, value in {"plain": plain, "far": far.get(second, plain)}.items():
        folder = tmp_path / name
        folder.mkdir()
        items = [None] if second == "null" else [value]
        kinds = {each: getattr(pa, each)() for each in (first, second)}
        pq.write_table(pa.table({"x": pa.array([None], kinds[first])}), folder / "a.parquet")
        pq.write_table(pa.table({"x": pa.array(items, kinds[second])}), folder / "b.parquet")
        whole = ds.dataset(folder)
        for data in (whole, whole.filter(ds.field("x").is_valid()), ds.dataset([whole, whole])):
            if fine:
                count(data, "x")
                continue
            with pytest.raises(mo.SourceError, match=r"not all files of .* declare 'x' as"):
                count(data, "x")


BYTES = [b"North", b"\xff\x00", None, b"North", b""]
AS_TEXT = ["North", "0xff00", None, "North", ""]
IDS = [uuid.UUID(int=5), None, uuid.UUID(int=2**100), uuid.UUID(int=5)]


@pytest.mark.parametrize(
    "kind",
    [pa.binary(), pa.large_binary(), *arrow_types(("binary_view",)), pa.binary(2), "dictionary"],
    ids=str,
)
def test_bytes_are_labels_by_the_text_that_they_are(kind, tmp_path) -> None:
    fixed = kind == pa.binary(2)
    given = [None if each is None else each[:2] for each in BYTES[:4]] if fixed else BYTES
    expected = ["No", "0xff00", None, "No"] if fixed else AS_TEXT
    array = pa.array(given, pa.binary() if kind == "dictionary" else kind)
    table = pa.table({"x": 1.0 * np.arange(len(given)), "id": array})
    if kind == "dictionary":
        table = table.set_column(1, "id", array.dictionary_encode())
    for name, make in ALL_TABLES.items():
        if name in {"folder", "pattern"} or (kind == "dictionary" and "pandas" in name):
            continue
        folder = tmp_path / name
        folder.mkdir()
        try:
            source = open_source(make(table, folder))
        except pa.ArrowNotImplementedError:  # PyArrow 16 writes no views of bytes to Parquet
            continue
        source.check_label("id")
        codes, known = labels_of(source, "id")
        assert [None if code < 0 else known[code] for code in codes] == expected, name
        curator = mo.Curator(source, budget=mo.pure(10**4))
        for key in (expected[0], expected[0].encode()):
            count = curator.value_counts("id", keys=[key], epsilon=200)
            assert count.total.value == 2, name
        assert curator.value_counts("id", keys=[b"\xff\x00"], epsilon=200).total.value == 1
        assert curator.where(f"id == {expected[0]!r}").count(epsilon=200).value == 2
        assert count_of_persons(source) == len({*expected} - {None})


def count_of_persons(source) -> int:
    return round(mo.n_distinct(source, "id", unit=mo.unit_of("id"), epsilon=200).value)


@pytest.mark.skipif(not arrow_types(("uuid",)), reason="this PyArrow has no UUIDs")
def test_identifiers_are_labels_by_their_text(tmp_path) -> None:
    expected = [None if each is None else str(each) for each in IDS]
    stored = pa.array([None if each is None else each.bytes for each in IDS], pa.binary(16))
    table = pa.table({"x": np.arange(4.0), "id": pa.ExtensionArray.from_storage(pa.uuid(), stored)})
    pq.write_table(table, tmp_path / "a.parquet")
    path = str(tmp_path / "b.parquet")
    duckdb.from_arrow(pa.table({"x": np.arange(4.0), "id": expected})).project(
        "x, id::uuid as id"
    ).write_parquet(path)
    for source in (
        table,
        tmp_path / "a.parquet",
        path,
        duckdb.read_parquet(path),
        table.to_pandas(types_mapper=pd.ArrowDtype),
        pd.DataFrame({"x": np.arange(4.0), "id": IDS}),
        [tmp_path / "a.parquet"],
    ):
        codes, known = labels_of(open_source(source), "id")
        assert [None if code < 0 else known[code] for code in codes] == expected
        curator = mo.Curator(source, budget=mo.pure(10**4))
        for key in (IDS[0], expected[0]):
            assert curator.value_counts("id", keys=[key], epsilon=200).total.value == 2
        assert count_of_persons(source) == 2


ODD = {
    "runs": pa.RunEndEncodedArray.from_arrays([2], [1.0]),
    "fields": pa.array([{"a": 1}, {"a": 2}]),
    "nothing": pa.nulls(2),
}
for name, stored in {
    "truth": ("bool8", pa.array([1, 0], pa.int8())),
    "json": ("json_", pa.array(["1", "2"])),
    "uuid": ("uuid", pa.array([bytes(16)] * 2, pa.binary(16))),
}.items():
    for kind in arrow_types((stored[0],)):
        ODD[name] = pa.ExtensionArray.from_storage(kind, stored[1])
LINES = {
    "runs": "pyarrow.compute.run_end_decode(t['runs'])",
    "truth": "t['truth'].cast(pyarrow.bool_())",
    "json": "pandas.to_numeric(t['json'].cast(pyarrow.string()).to_pandas()",
    "fields": "pyarrow.compute.struct_field(t['fields'], \"FIELD\")",
    "nothing": "declared as null: no row has a value",
    "uuid": "pass numbers",
}


@pytest.mark.parametrize("name", ODD)
def test_what_to_write_for_numbers_of_odd_types(name) -> None:
    table = pa.table(ODD)
    for source in (table, table.to_batches()[0], ds.dataset(table)):
        with pytest.raises(UnsupportedData) as caught:
            mo.mean(source, name, epsilon=1)
        assert LINES[name] in str(caught.value)
    if name in {"runs", "truth", "fields"}:  # the line does what it says
        line = LINES[name].replace("FIELD", "a")
        changed = {"x": eval(line, {"t": table, "pyarrow": pa})}
        open_source(pa.table(changed)).check_values("x")


def test_what_to_write_for_fields_long_doubles_and_the_index() -> None:
    frame = pl.DataFrame({"x": [{"a": 1.0}]})
    with pytest.raises(mo.MissingColumn, match=r"polars.col\('x'\).struct.field\(\"a\"\)"):
        mo.mean(frame, "x.a", epsilon=1)
    with pytest.raises(mo.MissingColumn, match=r"struct_field\(t\['x'\], \"a\"\)"):
        mo.mean(frame.to_arrow(), "x.a", epsilon=1)
    with pytest.raises(UnsupportedData, match=r"x.astype\(float\)"):
        mo.mean(np.ones(3, "g"), epsilon=1)
    with pytest.raises(mo.MissingColumn, match=r"index and no column: pass table.reset_index\(\)"):
        mo.mean(pd.DataFrame({"x": [1.0]}, pd.Index([1], name="p")), "p", epsilon=1)
    for table in (pl.DataFrame({"x": [None]}), pa.table({"x": pa.nulls(1)})):
        for ask in (
            lambda t: mo.mean(t, "x", epsilon=1),
            lambda t: open_source(t).check_label("x"),
        ):
            with pytest.raises(UnsupportedData, match=r"(?i)declared as null: no row has a value"):
                ask(table)


def test_categories_are_counted_or_made_numbers() -> None:
    told = r"value_counts\('home ward', .*with_columns\(name=.col\('home ward'\) == 'some text'"
    frame = pd.DataFrame({"home ward": ["ICU", "ER"], "x": [1.0, 2.0]})
    for table in (frame, frame.astype("category"), pl.from_pandas(frame), pa.table(frame)):
        with pytest.raises(UnsupportedData, match=told):
            mo.mean(table, "home ward", epsilon=1)
        with pytest.raises(UnsupportedData, match=told):
            mo.linear_regression(table, ["home ward"], target="x", epsilon=1)
