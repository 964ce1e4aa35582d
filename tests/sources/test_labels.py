"""Every engine gives the same labels, and the same codes for equal ones."""

import copy
import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import modicum
from modicum.errors import CopyRefused, InvalidArgument, MissingColumn, SourceError, UnsupportedData
from modicum.sources.engines.arrow import arrow_labels
from modicum.sources.engines.polars import labels_of as polars_labels
from modicum.sources.labels import Dictionary, Encoded, Label, coded, texts
from modicum.sources.opening import open_source
from modicum.sources.types import label_kind
from tests.sources.engines.makers import RANDOM_ACCESS, TABLES, relation, without

ENGINES = TABLES | {
    "duckdb without pyarrow": lambda t, _: relation(t),
}
# ruff: noqa: DTZ001 -- columns without a time zone are tested too
DAYS = [dt.date(2020, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)]
MOMENTS = [dt.datetime(1970, 1, 1), dt.datetime(2024, 5, 6, 7, 8, 9, 123456)]
HUGE = 2**62 + 1
COLUMNS = {
    "int64": pa.array([HUGE, HUGE + 1, -5, HUGE, 0], pa.int64()),
    "int8": pa.array([1, -128, 1], pa.int8()),
    "uint64": pa.array([2**64 - 1, 2**63, 2**64 - 1], pa.uint64()),
    "int32 with nulls": pa.array([3, None, 1, 3, None, 2], pa.int32()),
    "text": pa.array(["b", "", "a", None, "b", "é", "A", "nan"], pa.string()),
    "large text": pa.array(["b", "a", None, "b"], pa.large_string()),
    "category": pa.array(["b", "a", None, "b"]).dictionary_encode(),
    "bool": pa.array([True, False, True]),
    "floats": pa.array([1.5, float("nan"), None, 2.0, -0.0, 0.0, float("inf"), 1.5]),
    "date": pa.array([*DAYS, None, DAYS[0]], pa.date32()),
    "moment": pa.array([*MOMENTS, None, MOMENTS[1]], pa.timestamp("us")),
    "moment with zone": pa.array([*MOMENTS, None, MOMENTS[1]], pa.timestamp("us", "Asia/Tokyo")),
    "decimal": pa.array([Decimal("1.50"), Decimal(2), None, Decimal("1.50")], pa.decimal128(20, 2)),
    "all null": pa.array([None, None], pa.int64()),
    "empty": pa.array([], pa.int64()),
}


def table_of(*parts: pa.Array) -> pa.Table:
    x, parts_of_x = 0, []
    for part in parts:
        parts_of_x.append(pa.array(np.arange(float(x), x + len(part))))
        x += len(part)
    tables = [pa.table({"x": x, "g": g}) for x, g in zip(parts_of_x, parts, strict=True)]
    return pa.concat_tables(tables)


def labels_of(source, label="g", column="x"):
    """Label of each row by the row's number in ``x``, and the dictionary."""
    dictionary = Dictionary()
    source.check_label(label)
    found = {}
    for chunk in source.chunks([column], {label: dictionary}):
        codes = chunk[Label(label)]
        assert codes.dtype == np.int64
        assert len(codes) == len(chunk[column])
        found.update(zip(chunk[column].tolist(), codes.tolist(), strict=True))
    keys = dictionary.keys()
    assert len(keys) == len(dictionary) == len(set(keys))
    assert [dictionary.find(key) for key in keys] == list(range(len(keys)))
    return [None if code < 0 else keys[code] for _, code in sorted(found.items())]


def expected_of(column: pa.Array, *, as_text: bool = False) -> list:
    plain = [None if each != each else each for each in column.to_pylist()]
    if pa.types.is_timestamp(column.type):
        plain = [
            each and each.replace(tzinfo=None)
            for each in column.cast(pa.timestamp("us")).to_pylist()
        ]
    return [each if each is None or not as_text else str(each) for each in plain]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.one_in(2)
def test_all_engines_give_the_same_labels(engine, kind, tmp_path) -> None:
    column = COLUMNS[kind]
    table = table_of(column[:2], column[2:2], column[2:])
    if not len(column):
        table = table_of(column)
    if engine == "record batch" and not len(column):
        pytest.skip("no batch without rows")
    plain_pandas = engine in {"pandas", "pandas nullable"}
    as_text = plain_pandas and kind in {"date", "decimal"}  # objects
    with without(*(["pyarrow"] if engine == "duckdb without pyarrow" else [])):
        source = open_source(ENGINES[engine](table, tmp_path))
        assert labels_of(source) == expected_of(column, as_text=as_text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.one_in(48)
def test_many_batches_and_no_column_of_numbers(engine, tmp_path) -> None:
    rows = 150_000
    rng = np.random.default_rng(5)
    g, h = rng.integers(-40, 40, rows), rng.integers(0, 50_000, rows)
    table = pa.table({"x": np.arange(float(rows)), "g": g, "h": pa.array(h).cast(pa.string())})
    with without(*(["pyarrow"] if engine == "duckdb without pyarrow" else [])):
        source = open_source(ENGINES[engine](table, tmp_path))
        assert labels_of(source) == g.tolist()
        both = {"g": Dictionary(), "h": Dictionary()}
        keys, total = [], 0
        for chunk in source.chunks([], both):
            assert chunk.keys() == {Label("g"), Label("h")}
            total += len(chunk[Label("g")])
            keys += zip(chunk[Label("g")].tolist(), chunk[Label("h")].tolist(), strict=True)
        names, texts_ = both["g"].keys(), both["h"].keys()
        assert total == rows
        assert sorted((names[a], int(texts_[b])) for a, b in keys) == sorted(
            zip(g.tolist(), h.tolist(), strict=True)
        )
        rows_too = list(source.chunks([None, "g"], {"g": Dictionary()}))
        assert sum(len(chunk[None]) for chunk in rows_too) == rows
        for chunk in rows_too:  # a column can be read as numbers and as labels
            pairs = set(zip(chunk["g"].tolist(), chunk[Label("g")].tolist(), strict=True))
            assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_integers_with_nulls_as_pandas_makes_them() -> None:
    frame = pd.DataFrame({"x": [0.0, 1, 2, 3], "g": [5, None, 7, 5]})
    assert frame["g"].dtype == np.float64
    assert labels_of(open_source(frame)) == [5, None, 7, 5]
    assert [type(key) for key in labels_of(open_source(frame))] == [int, type(None), int, int]


@pytest.mark.parametrize(
    ("g", "expected"),
    [
        (
            pd.Series([1, "1", 1.0, None, [1], "nan", float("nan")], dtype=object),
            ["1", "1", "1.0", None, "[1]", "nan", None],
        ),
        (pd.Series(["b", "a", None], dtype="string"), ["b", "a", None]),
        (pd.Series(["b", "a", None], dtype="string[python]"), ["b", "a", None]),
        (pd.Series([3, None, 3, 1]).astype("category"), [3, None, 3, 1]),
        (pd.Series(["z", "a"]).astype(pd.CategoricalDtype(["a", "q", "z"])), ["z", "a"]),
        (pd.cut(pd.Series([1.0, 9.0]), [0, 5, 10]), ["(0, 5]", "(5, 10]"]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series(MOMENTS, dtype="M8[ns]"), MOMENTS),
        (pd.Series(MOMENTS, dtype="M8[s]"), [each.replace(microsecond=0) for each in MOMENTS]),
        (pd.Series(np.array([10**12], "M8[s]")), [10**12]),
        (
            pd.Series(MOMENTS).dt.tz_localize("Asia/Tokyo"),
            [each - dt.timedelta(hours=9) for each in MOMENTS],
        ),
        (pd.Series(MOMENTS).astype("category"), MOMENTS),
    ],
    ids=str,
)
def test_columns_of_pandas(g, expected) -> None:
    frame = pd.DataFrame({"x": np.arange(float(len(g))), "g": g})
    assert labels_of(open_source(frame)) == expected


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("secret")

    __hash__ = None


def test_cells_that_cannot_be_printed_are_missing() -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0], "g": pd.Series([Unprintable(), {}], dtype=object)})
    assert labels_of(open_source(frame)) == [None, "{}"]
    assert texts([np.datetime64("NaT"), pd.NaT, pd.NA, Decimal("NaN"), np.str_("a")]) == [
        *[None] * 4,
        "a",
    ]


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pl.Series(["b", None, "a"], dtype=pl.Categorical), ["b", None, "a"]),
        (pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b", "c"])), ["b", None, "a"]),
        (pl.Series([2**100, None, 5], dtype=pl.Int128), [2**100, None, 5]),
        (pl.Series([True, None], dtype=pl.Boolean), [True, None]),
        (pl.Series([HUGE, None, HUGE + 1]), [HUGE, None, HUGE + 1]),
        (pl.Series(MOMENTS, dtype=pl.Datetime("ns")), MOMENTS),
        (pl.Series(MOMENTS, dtype=pl.Datetime("us", "Asia/Tokyo")), MOMENTS),
    ],
    ids=lambda each: str(each.dtype) if isinstance(each, pl.Series) else "",
)
@pytest.mark.parametrize("lazy", [False, True])
def test_columns_of_polars(series, expected, lazy) -> None:
    frame = pl.DataFrame({"x": np.arange(float(len(series))), "g": series})
    if getattr(series.dtype, "time_zone", None):
        expected = [each - dt.timedelta(hours=9) for each in MOMENTS]
        frame = frame.with_columns(g=pl.Series(MOMENTS).dt.replace_time_zone("Asia/Tokyo"))
    assert labels_of(open_source(frame.lazy() if lazy else frame)) == expected


@pytest.mark.parametrize("missing", [[], ["pyarrow"]])
@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("170141183460469231731687303715884105727::hugeint", 2**127 - 1),
        ("12345678901234567890.50::decimal(38, 2)", Decimal("12345678901234567890.5")),
        ("7.00::decimal(38, 2)", 7),
        ("'a'::enum('b', 'a')", "a"),
        ("'12345678-1234-1234-1234-123456789abc'::uuid", "12345678-1234-1234-1234-123456789abc"),
        ("date '2020-02-29'", dt.date(2020, 2, 29)),
        ("timestamp_ns '2020-02-29 01:02:03.123456'", dt.datetime(2020, 2, 29, 1, 2, 3, 123456)),
        ("timestamp_s '2020-02-29 01:02:03'", dt.datetime(2020, 2, 29, 1, 2, 3)),
        ("'x'", "x"),
        ("true", True),
        ("3::utinyint", 3),
    ],
)
def test_columns_of_duckdb(missing, value, key) -> None:
    table = relation(pa.table({"x": [0.0, 1.0, 2.0]}))
    table = table.project(f"x, case when x < 2 then {value} end as g")
    with without(*missing):
        assert labels_of(open_source(table)) == [key, key, None]


@pytest.mark.parametrize("missing", [[], ["polars"]])
def test_cells_of_csv_files(tmp_path, missing) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('x,g\n0,5\n1, 5\n2,5.0\n3,\n4,""\n5,"a,""b"\n6\n7,NA\n8,"5"\n9,é\n')
    with without(*missing):
        source = open_source(path)
        expected = ["5", " 5", "5.0", None, None, 'a,"b', None, "NA", "5", "é"]
        assert labels_of(source) == expected
        dictionary = Dictionary()
        list(source.chunks([], {"g": dictionary}))
        assert dictionary.find(5) == dictionary.find("5") is not None


def test_keys_are_found_by_equal_values() -> None:
    numbers, moments = Dictionary(), Dictionary()
    numbers.codes(np.array([5.0, 2.5, np.nan]))
    assert (numbers.find(5), numbers.find(Decimal(5)), numbers.find(np.int8(5))) == (0, 0, 0)
    assert numbers.find("5") is None
    moments.codes(np.array(MOMENTS, "M8[us]"))
    for key in (
        MOMENTS[1].replace(tzinfo=dt.UTC),
        MOMENTS[1].replace(tzinfo=dt.UTC).astimezone(dt.timezone(dt.timedelta(hours=9))),
        np.datetime64(MOMENTS[1], "ns"),
        pd.Timestamp(MOMENTS[1]),
    ):
        assert moments.find(key) == 1
    for bad in (None, [1], {}, np.datetime64("NaT")):
        with pytest.raises(InvalidArgument, match="a label must be"):
            numbers.find(bad)


def test_codes_follow_the_first_appearance() -> None:
    dictionary = Dictionary()
    places = np.array([2, -1, 0, 2], np.int8)
    assert dictionary.codes(Encoded(places, ["a", "never", "c"])).tolist() == [0, -1, 1, 0]
    assert dictionary.codes(["new", "a"]).tolist() == [2, 1]
    assert dictionary.codes(Encoded(places[1:2], [])).tolist() == [-1]
    assert dictionary.codes(Encoded(np.array([1, 0]), ["a", None])).tolist() == [-1, 1]
    assert dictionary.keys() == ["c", "a", "new"]
    assert dictionary.codes([]).dtype == np.int64


def test_what_can_hold_no_labels(tmp_path) -> None:
    with pytest.raises(InvalidArgument, match="pass a table"):
        open_source(np.arange(3)).check_label("g")
    table = pa.table({"x": [1.0], "l": [["secret"]], "s": [{"a": 1}], "t": [dt.time()]})
    for engine in ("polars", "pandas arrow", "pyarrow", "dataset", "parquet", "duckdb", "lazy"):
        folder = tmp_path / engine
        folder.mkdir()
        source = open_source(TABLES[engine](table, folder))
        with pytest.raises(MissingColumn, match="columns: 'x'"):
            source.check_label("g")
        for name in "lst":
            with pytest.raises(UnsupportedData, match="cannot hold labels") as caught:
                source.check_label(name)
            assert "secret" not in str(caught.value)


def test_types_by_name() -> None:
    kinds = {
        "number": "int64 Int64 bool boolean[pyarrow] HUGEINT decimal128(3,2)",
        "text": "string str large_string[pyarrow] String VARCHAR UUID string_view BLOB Binary "
        "binary_view fixed_size_binary[16][pyarrow] extension<arrow.uuid> large_binary",
        "datetime": "datetime64[ns] TIMESTAMP_S timestamp[us][pyarrow] datetime64[us,UTC]",
        "date": "date32[day] Date DATE date32[day][pyarrow]",
        "labels": "category Categorical Enum(categories=['a'])",
        "object": "object",
    }
    for kind, names in kinds.items():
        assert {label_kind(name) for name in names.split()} == {kind}
    assert label_kind("TIMESTAMP WITH TIME ZONE") == "datetime"
    assert label_kind("Datetime(time_unit='us', time_zone=None)") == "datetime"
    assert label_kind("dictionary<values=string, indices=int32, ordered=0>[pyarrow]") == "text"
    refused = "complex128 timedelta64[ns] VARCHAR[] list<item:string> TIME period[D] null"
    assert [label_kind(each) for each in refused.split()] == [None] * 7
    assert label_kind("dictionary<values=list<item: int64>, indices=int32, ordered=0>") is None


def test_files_that_declare_a_label_differently(tmp_path) -> None:
    for name, g in {"a": [1, 2], "b": ["1", "2"]}.items():
        pq.write_table(pa.table({"x": [1.0, 2.0], "g": g}), tmp_path / f"{name}.parquet")
    with pytest.raises(SourceError, match="declare 'g' alike"):
        list(open_source(tmp_path).chunks([], {"g": Dictionary()}))


def test_dictionaries_show_and_give_away_nothing() -> None:
    dictionary = Dictionary()
    dictionary.codes(["secret"])
    assert repr(dictionary) == "Dictionary()"
    assert "secret" not in repr(Encoded(np.array([0]), ["secret"]))
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(CopyRefused):
            leak(dictionary)


@pytest.mark.parametrize("engine", RANDOM_ACCESS)
def test_labels_do_not_change_the_numbers(engine, tmp_path) -> None:
    source = open_source(RANDOM_ACCESS[engine](table_of(COLUMNS["text"]), tmp_path))
    plain = [chunk["x"].tolist() for chunk in source.chunks(["x"])]
    along = [chunk["x"].tolist() for chunk in source.chunks(["x"], {"g": Dictionary()})]
    assert plain == along


@pytest.mark.parametrize("engine", ENGINES)
def test_values_of_any_type_can_be_counted(engine, tmp_path) -> None:
    texts_of_two = pa.array(["b", None, "a", "b", None, ""])
    days = pa.array([DAYS[0], None, None, DAYS[1], None, None])
    table = ENGINES[engine](pa.table({"t": texts_of_two, "d": days}), tmp_path)
    curator = modicum.Curator(table, budget=modicum.pure(10_000))
    both = curator.release(
        t=modicum.query.count("t", epsilon=1000), d=modicum.query.count("d", epsilon=1000)
    )
    assert [both["t"].value, both["d"].value] == [4, 2]
    with pytest.raises(UnsupportedData, match="declared as"):
        curator.mean("t", within=(0, 1), epsilon=1)


@given(
    st.lists(
        st.one_of(
            st.lists(st.integers(-40, 40)),
            st.lists(st.sampled_from([0, 5, -(2**62) - 1, 2**63 - 1, 2**40])),
            st.lists(st.sampled_from(["a", 5, 5.0, None, True])),
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_whole_numbers_have_the_codes_of_a_plain_dictionary(chunks, masked) -> None:
    """In a table or not, beside other labels or not, masked or not: in the order of appearance."""
    labels, codes = Dictionary(), {}
    for chunk in chunks:
        whole = all(type(each) is int for each in chunk)
        missing = [bool(i % 3 == 1) and masked and whole for i in range(len(chunk))]
        values = np.ma.array(np.array(chunk, np.int64), mask=missing) if whole else chunk
        expected = [
            -1 if gone or each is None else codes.setdefault(each, len(codes))
            for each, gone in zip(chunk, missing, strict=True)
        ]
        assert labels.codes(values).tolist() == expected
        assert len(labels) == len(codes)
    assert labels.keys() == [int(each) if isinstance(each, float) else each for each in codes]
    assert all(labels.find(each) == code for each, code in codes.items())


PIECES = {
    "polars": lambda a, n: [polars_labels(pl.Series(a)[i : i + n]) for i in range(0, len(a), n)],
    "categorical": lambda a, n: [
        polars_labels(pl.Series(a, dtype=pl.Categorical)[i : i + n]) for i in range(0, len(a), n)
    ],
    "arrow": lambda a, n: [arrow_labels(pa.array(a[i : i + n])) for i in range(0, len(a), n)],
    "views": lambda a, n: [
        arrow_labels(pa.array(a[i : i + n], pa.string_view())) for i in range(0, len(a), n)
    ],
    "dictionary": lambda a, n: [
        arrow_labels(pa.array(a[i : i + n]).dictionary_encode()) for i in range(0, len(a), n)
    ],
    "list": lambda a, n: [a[i : i + n] for i in range(0, len(a), n)],
}


@pytest.mark.parametrize("size", [1, 7, 64, 5000])
@pytest.mark.parametrize("engine", PIECES)
@pytest.mark.parametrize("words", [3, 500, 10**6])
def test_text_is_coded_alike_by_engines_and_one_by_one(engine: str, size: int, words: int) -> None:
    """Equal text has equal codes, in the order of its first appearance, however it comes."""
    rng = np.random.default_rng(words + size)
    texts = [f"p{i}" for i in rng.integers(0, words, 300)]
    column = ["", None, "é", "e\u0301", *texts, "nan", "NaN", None, *texts[::3], " ", "P1", "p1"]
    codes: dict[str | None, int] = {None: -1}
    expected = [codes.setdefault(each, len(codes) - 1) for each in column]
    labels = Dictionary()
    found = [coded(each, labels).tolist() for each in PIECES[engine](column, size)]
    assert [code for some in found for code in some] == expected
    assert labels.keys() == [each for each in codes if each is not None]
    assert labels.codes(["p1", None, "never"]).tolist() == [codes["p1"], -1, len(codes) - 1]


def test_bytes_that_are_no_text_are_what_they_are_in_a_csv_file() -> None:
    """Two that are read as one text are one label."""
    data = pa.array([b"a\xff", b"a", b"a\xfe", None, b"a\xff"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(data), data.buffers(), data.null_count)
    labels = Dictionary()
    assert coded(arrow_labels(text), labels).tolist() == [0, 1, 0, -1, 0]
    assert coded(arrow_labels(text.slice(2)), labels).tolist() == [0, -1, 0]
    assert labels.keys() == ["a\ufffd", "a"]


@pytest.mark.parametrize("kind", ["str", "object", "category", "Int64", "string[pyarrow]"])
def test_codes_of_rows_in_memory_are_kept(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of their own, and where there are too many, in none."""
    values = pd.Series([3, 1, None, 3, 2, 2, None, 5] * 40).astype("Int64")
    if kind != "Int64":
        values = values.astype("string").astype(object).where(values.notna(), None).astype(kind)
    frame = pd.DataFrame({"g": values, "x": np.arange(320.0)})
    found = {}
    for block, kept in ((1 << 18, 1 << 24), (7, 1 << 24), (7, 0)):
        monkeypatch.setattr("modicum.sources.labels._BLOCK", block)
        monkeypatch.setattr("modicum.sources.labels._KEPT", kept)
        monkeypatch.setattr("modicum.sources.base.CHUNK", 50)
        source, labels = open_source(frame), Dictionary()
        for _ in range(2):
            parts = [*source.chunks(["x"], {"g": labels})]
            rows = np.concatenate([part["x"] for part in parts]).astype(int)
            codes = np.concatenate([part[Label("g")] for part in parts])
            keys = np.array([*map(str, labels.keys()), "missing"])[codes]
            found[block, kept] = keys[np.argsort(rows)].tolist()
            assert codes.dtype == np.int64
    expected = ["missing" if each is pd.NA else str(each) for each in frame["g"].astype("string")]
    assert all(each == expected for each in found.values())
