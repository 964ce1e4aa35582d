"""No reader tells of a row: a table and its neighbour show the same, whatever value that row has.

Every reader reads every declared type, with a value more or less that one of them may stumble over:
where it stands first, last, in a chunk or a file of its own, or alone. The draws of the one table
are given to the other, so that everything that is shown has to be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.sources.opening import open_source
from tests.seen import Seen, seen
from tests.sources.engines import makers
from tests.sources.odd_columns import KINDS, Kind

ROWS = 12


def in_files(table: pa.Table, folder: Path, *, narrow: bool = False) -> Path:
    """Write each chunk into a file of its own, the first one of narrower numbers if so wanted."""
    made = folder / "rows"
    made.mkdir()
    for number, batch in enumerate(table.to_batches() or [None]):
        part = table if batch is None else pa.Table.from_batches([batch])
        kind = NARROWER.get(part.schema.field("v").type)
        if narrow and not number and kind is not None:
            part = part.set_column(0, "v", part.column("v").cast(kind))
        pq.write_table(part, made / f"{number}.parquet")
    return made


NARROWER = {
    pa.int64(): pa.int32(),
    pa.int32(): pa.int8(),
    pa.uint64(): pa.uint8(),
    pa.float64(): pa.float32(),
    pa.float32(): pa.int64(),
    pa.timestamp("us"): pa.timestamp("ms"),
    pa.timestamp("ns"): pa.date32(),
    pa.string(): pa.large_string(),
    pa.decimal128(10, 2): pa.int32(),
}


def file_as(write: Callable[[pa.Table, str], None], end: str) -> makers.Maker:
    def made(table: pa.Table, folder: Path) -> str:
        path = str(folder / f"rows.{end}")
        write(table, path)
        return path

    return made


def _excel(table: pa.Table, path: str) -> None:
    if getattr(table.schema.field("v").type, "tz", None) is not None:
        raise ValueError("a sheet has no zones, and pandas 2 may end the process on a far moment")
    table.to_pandas().to_excel(path, index=False)


def _stata(table: pa.Table, path: str) -> None:
    table.to_pandas().to_stata(path, write_index=False, version=118)


def _orc(table: pa.Table, path: str) -> None:
    kind = table.schema.field("v").type
    if pa.types.is_decimal(kind) and kind.scale < 0:
        raise ValueError("such a file ends the process that writes it")
    pa.orc.write_table(table, path)


def _held(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """A relation whose values DuckDB itself can hold: it reads Arrow's when it is asked."""
    relation.fetchall()
    return relation


READERS: Mapping[str, makers.Maker] = makers.TABLES | {
    "duckdb": lambda t, _: _held(makers.relation(t)),
    "files": in_files,
    "dataset of files": lambda t, f: ds.dataset(in_files(t, f)),
    "files of types": lambda t, f: in_files(t, f, narrow=True),
    "dataset of types": lambda t, f: ds.dataset(in_files(t, f, narrow=True)),
    "filtered": lambda t, f: ds.dataset(in_files(t, f, narrow=True)).filter(ds.field("x") > 0),
    "orders of files": lambda t, f: ds.dataset(sorted(map(str, in_files(t, f).iterdir()))[::-1]),
    "files polars": lambda t, f: without(in_files(t, f), "pyarrow"),
    "files duckdb": lambda t, f: without(in_files(t, f), "pyarrow", "polars"),
    "feather": file_as(pa.feather.write_feather, "feather"),
    "ipc": file_as(lambda t, p: pl.from_arrow(t).write_ipc(p), "arrow"),
    "orc": file_as(_orc, "orc"),
    "to_arrow of polars": lambda t, _: pl.from_arrow(t).to_arrow(),
    "csv": file_as(lambda t, p: t.to_pandas().to_csv(p, index=False), "csv"),
    "csv of polars": file_as(lambda t, p: pl.from_arrow(t).write_csv(p), "csv"),
    "xlsx": file_as(_excel, "xlsx"),
    "dta": file_as(_stata, "dta"),
    "arrow of duckdb": lambda t, _: makers.relation(t).to_arrow_table(),
}


def without(path: Path, *missing: str) -> Any:
    with makers.without(*missing):
        return open_source(path)


def _curator(table: Any, unit: Any = None) -> mo.Curator:
    return mo.Curator(table, budget=mo.pure(1), unit=unit, entropy=SeededEntropy("neighbours"))


Asked = Callable[[mo.Curator], Any]


def questions(kind: Kind) -> dict[str, tuple[Asked, Any]]:
    """What can be asked of a column, and the unit; a type refuses some of it."""
    hashable = [each for each in kind.plain if isinstance(each, Hashable) and each is not None]
    keys = list(dict.fromkeys(hashable))[:2] or ["a"]
    return {
        "mean": (lambda c: c.mean("v", epsilon=1), None),
        "where a number": (lambda c: c.where("v > 1").count(epsilon=1), None),
        "where a text": (lambda c: c.where("v in ('a', 'b')").count(epsilon=1), None),
        "where a date": (lambda c: c.where("year(v) > 2000").count(epsilon=1), None),
        "made": (lambda c: c.with_columns(z="v * v - 1").mean("z", epsilon=1), None),
        "keys": (lambda c: c.group_by("v", keys=keys).mean("x", epsilon=1), None),
        "counts": (lambda c: c.value_counts("v", keys=keys, epsilon=1), None),
        "values": (lambda c: c.count("v", epsilon=1), None),
        "labels": (lambda c: c.n_distinct("v", epsilon=1), None),
        "persons": (lambda c: c.mean("x", epsilon=1), mo.unit_of("v")),
        "persons' rows": (lambda c: c.mean("x", epsilon=1), mo.unit_of("v", max_rows=1)),
        "order": (lambda c: c.mean("x", epsilon=1), mo.unit_of("x", max_rows=1, order_by="v")),
    }


def shown(kind: Kind, question: str, table: Any, outcomes: Any = None) -> Seen:
    asked, unit = questions(kind)[question]

    def ask(data: Any) -> tuple[Any, ...]:
        curator = _curator(data, unit)
        answer = asked(curator)
        return answer, repr(curator), repr(curator.charges), str(curator.remaining)

    return seen(ask, table, outcomes)


def tables(kind: Kind, odd: pa.Array) -> Iterator[tuple[str, pa.Table, pa.Table]]:
    """A table and its neighbour, in several chunks; the odd row at several places."""
    plain = kind.rows(ROWS)
    parts = plain[: ROWS // 2], plain[ROWS // 2 :]
    base = _table(*parts)
    yield "in a chunk of its own", base, _table(*parts, odd)
    yield "alone", _table(plain[:0]), _table(odd)
    try:  # Arrow joins no dictionaries with a null in them
        first, last = _joined(odd, parts[0]), _joined(parts[1], odd)
    except pa.ArrowInvalid:
        return
    yield "first", base, _table(first, parts[1])
    yield "last", base, _table(parts[0], last)


def _joined(*parts: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(parts[0].type):
        return pa.chunked_array(parts).unify_dictionaries().combine_chunks()
    return pa.concat_arrays(parts)


def _table(*parts: pa.Array) -> pa.Table:
    column = pa.chunked_array(parts, parts[0].type)
    x = pa.chunked_array([pa.array(np.ones(len(part))) for part in parts], pa.float64())
    return pa.table({"v": column, "x": x})


def neighbours(reader: str, name: str, odd: str, folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """Neighbouring tables as a reader gets them, where it can be given both."""
    kind = KINDS[name]
    for number, (place, *both) in enumerate(tables(kind, kind.odd[odd])):
        made = []
        for which, table in enumerate(both):
            inside = folder / f"{number} {which}"
            inside.mkdir()
            try:
                made.append(READERS[reader](table, inside))
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                break  # another program cannot hold it, and Polars may panic
        else:
            if declared(made[0]) == declared(made[1]):
                yield place, *made


def declared(table: Any) -> str:
    """The declared type, which is public: some programs write another for some values."""
    try:
        return open_source(table).declared("v")
    except mo.ModicumError as error:
        return str(error)


def named_limit(reader: str, name: str, odd: str) -> bool:
    """Whether a value ends an engine's own reading of files, as the limits say."""
    if "duckdb" in reader and name.startswith("timestamp[ms") and odd == "least":
        return True
    narrow = name.startswith("dictionary") and "32" not in name
    datasets = {"dataset of files", "dataset of types", "filtered", "orders of files"}
    others = {"parquet polars", "parquet duckdb", "scan", "files polars", "files duckdb"}
    return odd == "not UTF-8" and (reader in others or (narrow and reader in datasets))


def unlike(
    reader: str, name: str, odd: str, folder: Path, place: int | None = None
) -> tuple[int, list[str]]:
    """Compare all that is shown of neighbours; return the number of pairs, and what differs.

    With a ``place``, only tables where the odd row has that place.
    """
    pairs, told = 0, []
    found = list(neighbours(reader, name, odd, folder))
    chosen = found if place is None else found[place % len(found) :][:1] if found else []
    for where, base, other in [] if named_limit(reader, name, odd) else chosen:
        for question in questions(KINDS[name]):
            first, second = (base, other) if pairs % 2 else (other, base)
            one = shown(KINDS[name], question, first)
            two = shown(KINDS[name], question, second, one.outcomes)
            pairs += 1
            if difference := one.unlike(two):
                told.append(f"{reader}, {name}, {odd} {where}, {question}: {difference}")
    return pairs, told


REFUSED = {
    ("dataset of types", "int64"),
    ("filtered", "float64"),
    ("pyarrow", "decimal128(5, 39)"),
}
QUICK = (
    ("pyarrow", "dictionary of uint8", "null", 0),
    ("to_arrow of polars", "dictionary of uint32", "null", 1),
    ("pandas arrow", "dictionary of uint64", "null in the list", 0),
    ("dataset of types", "int64", "largest", 3),
    ("filtered", "float64", "largest", 3),
    ("files of types", "uint64", "largest", 0),
    ("parquet", "string", "not UTF-8", 2),
    ("pyarrow", "decimal128(5, 39)", "smallest", 0),
    ("pyarrow", "decimal32(9, 2)", "largest", 1),
    ("duckdb", "timestamp[us]", "year 1", 0),
    ("polars", "large_string", "not UTF-8", 0),
    ("polars", "float32", "signalling", 0),
    ("csv", "string", "quote", 0),
)


@pytest.mark.parametrize(
    ("reader", "name", "odd", "place"), [each for each in QUICK if each[1] in KINDS]
)
def test_a_row_shows_in_nothing_but_the_draws(reader, name, odd, place, tmp_path) -> None:
    (tmp_path / "plain").mkdir()
    pairs, told = unlike(reader, name, odd, tmp_path, place)
    assert pairs
    assert told == []
    found = next(neighbours(reader, name, "null", tmp_path / "plain"))[1]
    answered = [q for q in questions(KINDS[name]) if "error" not in shown(KINDS[name], q, found)]
    assert bool(answered) == ((reader, name) not in REFUSED), "nothing is answered at all"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of writers that fail
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", KINDS)
def test_no_reader_tells_of_a_row(
    reader, name, tmp_path, record_property: Callable[[str, object], None]
) -> None:
    total = 0
    for place, odd in enumerate(KINDS[name].odd):
        folder = tmp_path / str(place)
        folder.mkdir()
        pairs, told = unlike(reader, name, odd, folder, place)
        assert told == []
        total += pairs
    record_property("counted", f"{reader}, {name}: {total} pairs of neighbours show the same")
