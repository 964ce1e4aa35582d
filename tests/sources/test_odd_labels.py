"""Labels and numbers of odd kinds: read alike everywhere, and never a reason to fail."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources.base import open_source
from tests.sources.engines import labels_of, same, values

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
