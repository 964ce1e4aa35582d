"""Spark DataFrames, classic and Connect: summarised by their executors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

from modicum.errors import SourceError, UnsupportedData, number_of
from modicum.sources.base import CHUNK, StreamSource, TableBatch, guarded, opener
from modicum.sources.cluster.jobs import DistributedSource, Job, Known
from modicum.sources.engines.arrow import arrow_batches
from modicum.version import VERSION

_LABEL = "the spark data"

# Partitions that merge what all others know, before it goes to the driver. Spark cannot tell the
# number of partitions of a query without running parts of it, so this one is fixed: a partition
# more on the way costs milliseconds, and the driver never gets more than this many summaries.
_MERGERS = 8
_MANY = 64  # questions
_SENT = 64  # summaries in a batch
_SCHEMA = "part bigint, question bigint, summary binary"
_TOO_LARGE = re.compile(
    r"(An error occurred while calling [\w.]+\s+: |\()?"
    r"(org\.apache\.spark\.SparkException\)?:? )?(\[\w.]+\] )?"
    r"(Job aborted due to stage failure: )?Total size of serialized results of \d+ tasks "
)
_REFUSED = ": what the driver is sent is more than Spark's limit, spark.driver.maxResultSize"


class SparkTable(DistributedSource):
    """A DataFrame: a query that runs anew for every job.

    The executors need this version of modicum, with NumPy and PyArrow.
    """

    def __init__(self, frame: Any) -> None:
        fields = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
        types = dict(fields)
        super().__init__("spark", [name for name, _ in fields], types.__getitem__, label=_LABEL)
        self._types = types
        self._frame = frame
        self._places = {name: f"c{place}" for place, name in enumerate(types)}

    def _run(self, job: Job) -> Iterable[Known]:
        found: list[Known] = []
        refused: list[str] = []
        if _works(lambda: found.extend(self._collected(job)), refused):
            return found
        reason = "".join(refused)
        if refused and job.scope.keys:
            reason += f", which holds the summaries of {number_of(len(job.scope.keys), 'group')}"
            reason += ": raise it, or ask for fewer groups at a time"
        raise SourceError(f"{_LABEL} could not be read" + (reason or self._reason()))

    def _collected(self, job: Job) -> Iterator[Known]:
        # By place: Spark would read dots and backticks, and take "x" for "X".
        frame = self._frame.toDF(*self._places.values())
        named = [self._places[name] for name in job.columns]
        frame = frame.select(*named) if named else frame.selectExpr("true AS r")
        person = job.scope.unit.column
        if person is not None:
            # Equal labels have equal hashes, 0.0 and -0.0 too. Rows of nobody, who would all come
            # to one partition, stay out.
            place = self._places[person]
            missing = f"{place} IS NULL"
            if self._types[person] in {"float", "double"}:
                missing += f" OR isnan({place})"
            frame = frame.where(f"NOT ({missing})").repartition(place)
        types = {name: self._types[name] for name in job.columns}
        known = frame.mapInArrow(partial(_summarise, job, types), _SCHEMA)
        # Many questions are divided among the tasks that merge; if there are few, the parts are.
        by = "question" if job.questions > _MANY else "part"
        known = known.repartition(_MERGERS, by).mapInArrow(partial(_merge, job), _SCHEMA)
        return ((row[1], bytes(row[2])) for row in known.collect())

    def _reason(self) -> str:
        """Return why a job failed, if it was not for the data."""
        session = self._frame.sparkSession
        if not _works(lambda: session.range(1).collect()):
            return ": its Spark session does not answer"
        check = partial(_check, VERSION)
        if not _works(lambda: session.range(1).mapInArrow(check, "ok boolean").collect()):
            return (
                f": the executors cannot run modicum {VERSION}; their Python needs this version of "
                "it, with NumPy, PyArrow and pandas"
            )
        return ""


def _works(action: Callable[[], object], refused: list[str] | None = None) -> bool:
    """Whether an action of Spark succeeds; its error may quote data.

    If its driver refused the results for their size, ``refused`` gets the reason. That is told by
    how the text of Spark's own error begins, before anything that it may quote.
    """

    def tried() -> None:
        try:
            action()
        except Exception as error:
            if refused is not None and _TOO_LARGE.match(str(error)):
                refused.append(_REFUSED)
            raise

    try:
        guarded(_LABEL, tried)
    except SourceError:
        return False
    return True


@opener("pyspark.sql.DataFrame", "pyspark.sql.connect.dataframe.DataFrame")
def _open_spark(frame: Any) -> SparkTable:
    if guarded(_LABEL, lambda: frame.isStreaming):
        raise UnsupportedData("a stream has no end: pass a DataFrame that was read at once")
    return guarded(_LABEL, lambda: SparkTable(frame))


def _summarise(job: Job, types: Mapping[str, str], batches: Iterable[Any]) -> Iterator[Any]:
    place = _partition()
    part = _Partition(types, list(batches) if job.rereads else batches)
    yield from _rows(place, job.summarise(part, f"part {place}"))


def _merge(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """Merge, on an executor, what some partitions know."""
    rows: Iterable[tuple[int, int, bytes]]
    rows = (tuple(row.values()) for batch in batches for row in batch.to_pylist())
    if job.seed is not None:  # rows come as they like; a test has to repeat itself
        rows = sorted(rows, key=lambda row: row[:2])
    place = _partition()
    yield from _rows(place, job.merge((row[1:] for row in rows), f"merge {place}"))


def _check(version: str, batches: Iterable[Any]) -> Iterator[Any]:
    """Check, on an executor, that it has what a job needs."""
    if version != VERSION:
        raise SourceError(f"this is modicum {VERSION}, not {version}")
    pa = import_module("pyarrow")
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([True] * batch.num_rows)], names=["ok"])


def _partition() -> int:
    place: int = import_module("pyspark").TaskContext.get().partitionId()
    return place


def _rows(place: int, known: Sequence[Known]) -> Iterator[Any]:
    pa = import_module("pyarrow")
    for start in range(0, len(known), _SENT):
        some = known[start : start + _SENT]
        arrays = [
            pa.array([place] * len(some), pa.int64()),
            pa.array([question for question, _ in some], pa.int64()),
            pa.array([summary for _, summary in some], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=["part", "question", "summary"])


class _Partition(StreamSource):
    """The rows of a partition on an executor, which pass once, unless they are a list."""

    def __init__(self, types: Mapping[str, str], batches: Iterable[Any]) -> None:
        super().__init__("spark", list(types), types.__getitem__, label=_LABEL)
        self._places = {name: place for place, name in enumerate(types)}
        self._arrow = batches

    def _batches(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[TableBatch]:
        places = [[self._places[name] for name in names] for names in (columns, labels)]
        return arrow_batches(chain.from_iterable(self._joined()), *places)

    def _joined(self) -> Iterator[list[Any]]:
        """Put the small batches of Spark together, up to a chunk."""
        join = import_module("pyarrow").Table.from_batches
        small: list[Any] = []
        rows = 0
        for batch in self._arrow:
            for start in range(0, batch.num_rows, CHUNK):
                part = batch.slice(start, CHUNK)
                if rows + part.num_rows > CHUNK:
                    yield join(small).combine_chunks().to_batches()
                    small, rows = [], 0
                small.append(part)
                rows += part.num_rows
        if small:
            yield join(small).combine_chunks().to_batches()

    def _count(self) -> int:
        return sum(batch.num_rows for batch in self._arrow)
