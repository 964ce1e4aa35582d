"""Spark DataFrames: what is refused, what fails, and that a job is all that runs."""

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.errors import MissingColumn, SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.sources.reader import read
from modicum.summaries.base import Read
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.sources.cluster import remote

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-engines")

LATTICE = Lattice.within((-1e9, 1e9))


@pytest.fixture
def session() -> Any:
    return remote.spark()


def released(frame: Any, **arguments: Any) -> tuple[mo.Curator, Any]:
    curator = mo.Curator(frame, budget=mo.pure(1), **arguments)
    return curator, lambda column="x": curator.sum(column, within=(0, 10), epsilon=1)


def test_one_round_is_one_job(session) -> None:
    frame = session.range(1000).selectExpr("cast(id as double) as x", "id as y")
    tracker = session.sparkContext.statusTracker()
    session.sparkContext.setJobGroup("round", "")
    reads = [Read(c, LATTICE, r) for c in "xy" for r in (Tails(5), ClippedSum(0, 5), Records(2))]
    summaries = read(open_source(frame), [*reads, Read(None, None, Count())], SYSTEM)
    # With adaptive execution, the stage before the merge is a job of Spark's own count.
    assert len(tracker.getJobIdsForGroup("round")) <= 2
    session.sparkContext.setJobGroup("rest", "")
    assert len(summaries[2].thin(0, SYSTEM)) == 1000
    assert len(summaries[5].thin(3, SYSTEM)) < 1000
    assert tracker.getJobIdsForGroup("rest") == []
    assert summaries[-1].count == 1000


def test_questions_together_share_a_job(session) -> None:
    frame = session.range(20_000).selectExpr("cast(id as double) as x", "id % 150 as age")
    curator = mo.Curator(frame, budget=mo.pure(2))
    session.sparkContext.setJobGroup("release", "")
    answers = curator.release(
        x=mo.query.mean("x", within=(-1e9, 1e9), epsilon="0.5"),
        age=mo.query.mean("age", within=(0, 150), epsilon="0.25"),
        rows=mo.query.count(epsilon="0.05"),
    )
    # Two passes of two jobs at most: the second one looks whether the ages fill their range.
    assert len(session.sparkContext.statusTracker().getJobIdsForGroup("release")) <= 4
    assert abs(answers["x"].value - 10_000) < 1000
    assert abs(answers["age"].value - 74.5) < 20
    assert curator.spent == mo.pure("0.8")


def test_partitions_draw_independently(session) -> None:
    frame = session.range(0, 40_000, 1, 8).selectExpr("id % 5000 as x")
    (records,) = read(open_source(frame), [Read("x", LATTICE, Records(2))], SYSTEM)
    drawn = [np.unique(records.thin(3, SYSTEM) * LATTICE.step, return_counts=True) for _ in "ab"]
    for _, times in drawn:
        # Of eight equal partitions each keeps an eighth: were their coins the same, a value would
        # be kept by all or by none.
        assert abs(times.sum() - 5000) < 7 * 5000**0.5
        assert np.count_nonzero(times == 8) < 5
    assert not np.array_equal(drawn[0][0], drawn[1][0])


def test_a_seed_repeats_itself_and_is_not_private(session) -> None:
    frame = session.range(0, 50_000, 1, 5).selectExpr("cast(id as double) as x")

    def drawn(entropy: Any) -> list[int]:
        (records,) = read(open_source(frame), [Read("x", LATTICE, Records())], entropy)
        q: list[int] = records.thin(5, entropy).tolist()
        return q

    assert drawn(SeededEntropy(1)) == drawn(SeededEntropy(1)) != drawn(SeededEntropy(2))
    assert drawn(SYSTEM) != drawn(SYSTEM)
    _, ask = released(frame, entropy=SeededEntropy(3))
    assert not ask().private


def test_a_count_and_a_sum_are_those_of_numpy(session) -> None:
    x = np.random.default_rng(4).normal(5, 1, 3000)
    values = set()
    for table, column in ((session.createDataFrame(pa.table({"x": x})), "x"), (x, None)):
        curator = mo.Curator(table, budget=mo.pure(2), entropy=SeededEntropy(5))
        count, total = (
            curator.count(column, epsilon=1),
            # No subsample: which records are in one depends on where they are.
            curator.sum(column, within=(0, 10), epsilon=1, method="bounded"),
        )
        values.add((count.value, total.value))
    assert len(values) == 1


REFUSED = {
    "date": "unix_timestamp(`a``b`)",
    "timestamp": "unix_timestamp(`a``b`)",
    "timestamp_ntz": "unix_timestamp(`a``b`)",
    "string": "try_cast(`a``b` AS double)",
    "binary": "pass numbers",
    "array<double>": "pass numbers",
    "struct<a:double>": "`a``b`.`FIELD`",
    "interval day to second": "pass numbers",
    "void": "no row has a value",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_types_that_are_no_numbers(session, kind) -> None:
    cast = "null" if kind == "void" else f"cast(null as {kind})"
    frame = session.range(1).selectExpr(f"{cast} as `a``b`")
    with pytest.raises(UnsupportedData) as caught:
        open_source(frame).check("a`b")
    assert REFUSED[kind] in str(caught.value)
    if "`" in REFUSED[kind]:
        frame.selectExpr(REFUSED[kind].replace("FIELD", "a")).collect()


def test_names_in_any_case(session) -> None:
    with pytest.raises(MissingColumn, match="several"):
        open_source(session.range(1).selectExpr("1.0 as x", "2.0 as x")).check("x")
    both = open_source(session.range(1).selectExpr("1.0 as x", "2.0 as X"))
    sums = read(both, [Read(name, LATTICE, ClippedSum(0, 2**40)) for name in "xX"], SYSTEM)
    assert [each.total * LATTICE.step for each in sums] == [1, 2]
    with pytest.raises(MissingColumn):
        open_source(session.range(1).selectExpr("1.0 as x")).check("X")


def test_a_stream_is_refused(session) -> None:
    stream = session.readStream.format("rate").load()
    with pytest.raises(UnsupportedData, match="a stream has no end"):
        open_source(stream)


def test_a_failing_query_shows_nothing_and_costs_nothing(session) -> None:
    rows = session.createDataFrame([("secret",)], "t string")
    frame = rows.selectExpr("cast(t as double) as x")
    curator, ask = released(frame)
    with pytest.raises(SourceError, match=r"^the spark data could not be read$") as caught:
        ask()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert curator.spent.amount == 0


def test_files_of_different_types(session, tmp_path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": ["secret"]}), tmp_path / "b.parquet")
    curator, ask = released(session.read.schema("x double").parquet(str(tmp_path)))
    with pytest.raises(SourceError, match=r"^the spark data could not be read$"):
        ask()
    assert curator.spent.amount == 0


def test_executors_without_this_version_are_named(session, monkeypatch) -> None:
    curator, ask = released(session.range(3).selectExpr("id as x"))
    for module in ("spark", "jobs"):
        monkeypatch.setattr(
            f"modicum.sources.cluster.{module}.VERSION", "99"
        )  # on the driver alone
    with pytest.raises(SourceError, match="the executors cannot run modicum 99"):
        ask()
    assert curator.spent.amount == 0


@pytest.mark.parametrize("kind", ["double", "float", "string", "decimal(9, 1)", "timestamp"])
def test_all_rows_of_a_person_come_into_one_of_several_partitions(session, kind) -> None:
    """300 persons with 4 rows each; of the one with the id 0, half of them have -0.0."""
    cast = "timestamp_seconds(id % 300)" if kind == "timestamp" else f"cast(id % 300 as {kind})"
    if kind in {"double", "float"}:
        cast = f"if(id >= 600 and id % 300 = 0, -{cast}, {cast})"
    frame = session.range(0, 1200, 1, 5).selectExpr(f"{cast} as who", "cast(id as double) as x")
    partitions = frame.repartition("who").selectExpr("spark_partition_id() as p").distinct()
    assert partitions.count() == 4
    reader = TableReader(open_source(frame), mo.unit_of("who", max_rows=1, order_by="x"), ["x"])
    (tails,) = reader.read([Read("x", LATTICE, Tails(999))], SYSTEM)
    assert (tails.low * LATTICE.step).tolist() == list(range(300))


def test_labels_of_nobody_and_what_holds_none(session) -> None:
    frame = session.sql("select cast(null as string) as who, 1.0D as x from range(9)")
    for unit in (mo.unit_of("who", max_rows=1), mo.unit_of("who", combine="sum")):
        reader = TableReader(open_source(frame), unit, ["x"])
        assert reader.read([Read("x", None, Count())], SYSTEM)[0].count == 0
    for kind in ("array(1)", "'a' collate UTF8_LCASE"):
        with pytest.raises(UnsupportedData, match="cannot hold labels"):
            open_source(session.range(1).selectExpr(f"{kind} as who")).check_label("who")
    stored = session.sql("select cast('a' as binary) as who from range(9)")
    count = mo.Curator(stored, budget=mo.pure(200)).value_counts("who", keys=["a"], epsilon=200)
    assert count.total.value == 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "unit"), [(0, None), (5, None), (5, mo.unit_of("x", max_rows=1))]
)
def test_a_session_that_dies(seconds, unit) -> None:
    session = remote.spark()
    curator, ask = released(session.range(0, 10**11, 1, 8).selectExpr("id as x"), unit=unit)
    death = threading.Timer(seconds, session.stop)
    death.start()
    try:
        if not seconds:
            death.join()
        with pytest.raises(SourceError, match="its Spark session does not answer"):
            ask()
        assert curator.spent.amount == 0
    finally:
        death.join()
        remote._session.cache_clear()


CONNECT = """
import warnings
import numpy as np, pyarrow as pa, modicum as mo
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[2]").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "4")
x = np.random.default_rng(1).normal(40, 3, 20_000)
curator = mo.Curator(session.createDataFrame(pa.table({"a.b": x})), budget=mo.pure(3))
print(abs(curator.mean("a.b", within=(-1e9, 1e9), epsilon=1).value - 40) < 1)
columns = {"who": np.arange(20_000) % 2000, "g": ["a", "b"] * 10_000}
persons = session.createDataFrame(pa.table(columns))
curator = mo.Curator(persons, budget=mo.pure(100), unit=mo.unit_of("who", max_rows=3))
counts = curator.group_by("g", keys=["a", "b"]).count(epsilon=60)
print(abs(counts["a"].value - 3000) + abs(counts["b"].value - 3000) < 30)
bad = session.sql("select cast(t as double) as x from values ('secret') as rows(t)")
try: mo.count(bad, "x", epsilon=1)
except mo.SourceError as error: print(error)
session.stop()
"""


@pytest.mark.slow
def test_spark_connect(tmp_path) -> None:
    remote.need_java()
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: make test-engines")
    run = subprocess.run(
        [sys.executable, "-c", CONNECT], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert run.stdout.splitlines() == ["True", "True", "the spark data could not be read"], (
        run.stderr
    )
