"""Keys as integers: packing, exact and bounded sums, labels of every engine."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modicum as mo
from modicum.errors import InvalidArgument, UnsupportedData
from modicum.sources import key_counts as module
from modicum.sources.key_counts import (
    LARGEST,
    FoundKeys,
    GivenKeys,
    Packing,
    clamped,
    kind_of,
    summed,
    tallied,
)
from modicum.sources.opening import open_source
from modicum.sources.record_batches import BLOCK, blocks_of

RNG = np.random.default_rng(3)
ENDS = np.iinfo(np.int64)


def keys_of(table: pa.Table, kinds) -> GivenKeys:
    return GivenKeys(lambda: blocks_of(table, table.column_names, "keys"), kinds)


def test_packing_is_one_to_one_and_keeps_the_order() -> None:
    codes = RNG.integers(-50, 50, (3, 2000))
    packing = Packing.of((-50, -50, -50), (49, 49, 49))
    packed, inside = packing.packed(codes)
    assert inside.all()
    rows = list(map(tuple, codes.T.tolist()))
    assert len({*packed.tolist()}) == len({*rows})
    assert sorted(rows) == [rows[i] for i in packed.argsort(kind="stable")]
    _, outside = packing.packed(np.array([[-51, 50, 0], [0, 0, ENDS.max], [0, 0, 0]]))
    assert not outside.any()


def test_packing_of_wide_columns() -> None:
    assert Packing.of((0, 0), (2**31, 2**32)) is None
    alone = Packing.of((ENDS.min + 1,), (ENDS.max,))
    assert alone.packed(np.array([[ENDS.max, -5]]))[0].tolist() == [ENDS.max, -5]


@pytest.mark.parametrize("wide", [1, 2**40])
def test_equal_keys_are_added_up(wide) -> None:
    codes = RNG.integers(-9, 9, (2, 5000)) * wide
    n = RNG.integers(0, 100, 5000)
    found, sums = summed(codes, n)
    frame = pd.DataFrame({"a": codes[0], "b": codes[1], "n": n}).groupby(["a", "b"]).n.sum()
    assert list(zip(*found.tolist(), strict=True)) == list(frame.index)
    assert sums.tolist() == frame.tolist()


@pytest.mark.parametrize(
    "n", [[LARGEST] * 2000, [LARGEST - 1, 1], [LARGEST - 1, 2], [1, 2, 3], [2**30] * 2**12, [0]]
)
def test_sums_are_exact_and_end_at_the_largest(n) -> None:
    (total,) = summed(np.zeros((1, len(n)), np.int64), np.array(n))[1].tolist()
    assert total == min(sum(n), LARGEST)
    given = keys_of(pa.table({"k": [0]}), ["whole"])
    for each in n[:50]:  # in parts
        given.add(np.zeros((1, 1), np.int64), np.array([each]))
        given.flush()
    batch = pa.record_batch({"k": [0]})
    assert given.counts_of(batch).tolist() == [min(sum(n[:50]), LARGEST)]


def test_counts_are_whole_and_bounded() -> None:
    odd = np.array([np.nan, -np.inf, np.inf, -3.0, 2.9, 1e300, -0.0])
    assert clamped(odd).tolist() == [0, 0, LARGEST, 0, 2, LARGEST, 0]


FRAME = pd.DataFrame(
    {
        "page": RNG.integers(-40, 40, 3000),
        "site": RNG.choice(["de", "fr", "commons"], 3000),
        "day": pd.to_datetime(RNG.integers(0, 5, 3000), unit="D"),
    }
)
FRAME["site"] = FRAME["site"].astype("str").where(RNG.random(3000) < 0.9)
ARROW = pa.Table.from_pandas(FRAME, preserve_index=False)
EXPECTED = FRAME.groupby(["page", "site", "day"]).size()
BY = ["page", "site", "day"]


def engines(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path)
    connection = duckdb.connect()
    connection.register("t", ARROW)
    yield "pandas", FRAME.astype({"site": "string"})  # before version 3 it makes objects of text
    yield "categories", FRAME.assign(site=FRAME.site.astype("category"))
    yield "arrow", ARROW
    yield "polars", pl.from_arrow(ARROW)
    yield "lazy", pl.from_arrow(ARROW).lazy()
    yield "duckdb", connection.sql("select * from t")
    yield "parquet", path


def test_every_engine_finds_the_same_keys(tmp_path) -> None:
    for name, table in engines(tmp_path):
        source = open_source(table)
        found = FoundKeys([kind_of(source, each) for each in BY])
        for codes, n in tallied(source, BY, found.coders, None):
            found.add(codes, n)
        found.flush()
        labels = found.labels(np.arange(len(found.counts)))
        frame = pd.DataFrame(dict(zip(BY, labels, strict=True)))
        counted = frame.assign(n=found.counts).set_index(BY).n.sort_index()
        assert counted.tolist() == EXPECTED.tolist(), name
        assert list(counted.index) == list(EXPECTED.index), name


@pytest.mark.parametrize("waiting", [100, 1 << 21])
def test_every_engine_counts_given_keys(tmp_path, monkeypatch, waiting) -> None:
    monkeypatch.setattr(module, "_WAITING", waiting)
    index = EXPECTED.reset_index()[BY]
    more = index.assign(page=index.page + 1000)
    keys = pa.Table.from_pandas(
        pd.concat([index, more]).sample(frac=1, random_state=1), preserve_index=False
    )
    truth = EXPECTED.reindex(pd.MultiIndex.from_frame(keys.to_pandas())).fillna(0).astype(int)
    for name, table in engines(tmp_path):
        source = open_source(table)
        given = keys_of(keys, [kind_of(source, each) for each in BY])
        for codes, n in tallied(source, BY, given.coders, None):
            given.add(codes, n)
        given.flush()
        found = [given.counts_of(batch).tolist() for batch in blocks_of(keys, BY, "keys")]
        given.check_read()
        assert [n for each in found for n in each] == truth.tolist(), name


@pytest.mark.parametrize(
    "pages", [range(100), range(0, 300, 3), [5, -7, 3, ENDS.max, ENDS.min + 1], [2**40, 7]]
)
def test_dense_and_sparse_keys(pages) -> None:
    given = keys_of(pa.table({"k": list(pages)}), ["whole"])
    beside = [page - 1 for page in pages if page - 1 not in {*pages, ENDS.min}]
    rows = np.array([*list(pages)[::2] * 2, *beside, ENDS.min + 2, ENDS.max - 1])
    given.add(rows[None], np.ones(len(rows), np.int64))
    given.flush()
    truth = [int((rows == page).sum()) for page in pages]
    assert given.counts_of(pa.record_batch({"k": list(pages)})).tolist() == truth


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"k": [1, 2, 1]}, "different"),
        ({"k": [1, None]}, "missing label"),
        ({"k": pa.array([], pa.int64())}, "empty"),
        ({"k": [0, 2**40], "j": [0, 2**40]}, "combinations"),
    ],
)
def test_public_keys_that_are_none(keys, words) -> None:
    with pytest.raises(InvalidArgument, match=words):
        keys_of(pa.table(keys), ["whole"] * len(keys))


@pytest.mark.parametrize("again", [[1, 2, 2], [1, 2], [1, 2, 3, 3], [1, 2, 4], [3, 3, 3]])
def test_keys_that_change_are_noticed(again) -> None:
    given = keys_of(pa.table({"k": [1, 2, 3]}), ["whole"])
    with pytest.raises(InvalidArgument, match="not the same"):  # noqa: PT012
        given.counts_of(pa.record_batch({"k": again}))
        given.check_read()


def test_kinds_of_labels() -> None:
    table = pa.table(
        {
            "i": pa.array([1], pa.int16()),
            "u": pa.array([1], pa.uint64()),
            "f": [1.5],
            "b": [True],
            "t": ["x"],
            "d": [dt.date(2026, 1, 1)],
            "m": [dt.datetime(2026, 1, 1, tzinfo=dt.UTC)],
            "c": pa.array(["x"]).dictionary_encode(),
        }
    )
    source = open_source(table)
    kinds = {name: kind_of(source, name) for name in "ibtdmc"}
    assert kinds == {
        "i": "whole", "b": "whole", "t": "text", "d": "date", "m": "datetime", "c": "text"
    }  # fmt: skip
    for name in "uf":
        with pytest.raises(UnsupportedData, match="integers of up to 64 bits"):
            kind_of(source, name)
    with pytest.raises(UnsupportedData, match="object"):
        kind_of(open_source(pd.DataFrame({"k": pd.Series(["x"], dtype=object)})), "k")


def test_blocks_have_one_size_whatever_the_engine_gives(monkeypatch) -> None:
    monkeypatch.setattr("modicum.sources.record_batches.BLOCK", 100)
    parts = pa.table({"k": range(350)}).to_batches(max_chunksize=37)
    table = pa.Table.from_batches(parts)
    blocks = list(blocks_of(table, ["k"], ""))
    assert [len(block) for block in blocks] == [100, 100, 100, 50]
    assert pa.Table.from_batches(blocks) == table
    assert BLOCK == 1 << 20


def test_only_tables_that_give_batches_hold_keys(tmp_path) -> None:
    (tmp_path / "keys.csv").write_text("k\n1\n")
    for table in (tmp_path / "keys.csv", np.arange(3.0), mo.csv_file(tmp_path / "keys.csv")):
        with pytest.raises(UnsupportedData, match="read from Parquet"):
            list(blocks_of(table, ["k"], ""))
