"""Spark DataFrames, classic and Connect: summarised by their executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from modicum.errors import SourceError, UnsupportedData
from modicum.frames.arrow import arrow_floats
from modicum.frames.base import CHUNK, Chunk, guarded, rows_of
from modicum.frames.distributed import DistributedSource, Job, Parts
from modicum.version import VERSION

__all__ = ["SparkTable", "open_spark"]

_LABEL = "the spark data"

# Partitions that merge what all others know, before it goes to the driver. Spark cannot tell the
# number of partitions of a query without running parts of it, so this one is fixed: a partition
# more on the way costs milliseconds, and the driver never gets more than this many summaries.
_MERGERS = 8


class SparkTable(DistributedSource):
    """A DataFrame: a query that runs anew for every job.

    The executors need this version of modicum, with NumPy and PyArrow.
    """

    def __init__(self, frame: Any) -> None:
        fields = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
        types = dict(fields)
        super().__init__("spark", [name for name, _ in fields], types.__getitem__, label=_LABEL)
        self._frame = frame
        self._places = {name: f"c{place}" for place, name in enumerate(types)}

    def _run(self, job: Job) -> Iterable[Parts]:
        found: list[Parts] = []
        if _works(lambda: found.extend(self._collected(job))):
            return found
        raise SourceError(f"{_LABEL} could not be read" + self._reason())

    def _collected(self, job: Job) -> Iterator[Parts]:
        # By place: Spark would read dots and backticks, and take "x" for "X".
        frame = self._frame.toDF(*self._places.values())
        named = [self._places[name] for name in job.columns if name is not None]
        frame = frame.select(*named) if named else frame.selectExpr("true AS r")
        schema = ", ".join(["part bigint", *(f"s{i} binary" for i in range(len(job.asks)))])
        known = frame.mapInArrow(partial(_summarise, job), schema)
        known = known.repartition(_MERGERS, "part").mapInArrow(partial(_merge, job), schema)
        return ([bytes(each) for each in row[1:]] for row in known.collect())

    def _reason(self) -> str:
        """Say why a job failed, if it was not for the data."""
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


def _works(action: Callable[[], object]) -> bool:
    """Whether Spark does what it is asked; what it says if not may quote data."""
    try:
        guarded(_LABEL, action)
    except SourceError:
        return False
    return True


def open_spark(frame: Any) -> SparkTable:
    """Open a DataFrame; its schema is looked at."""
    if guarded(_LABEL, lambda: frame.isStreaming):
        raise UnsupportedData("a stream has no end: pass a DataFrame that was read at once")
    return guarded(_LABEL, lambda: SparkTable(frame))


def _summarise(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """Run on an executor, for one partition."""
    place = _partition()
    known = job.summarise(_chunks(job, batches), f"part {place}")
    yield _row(place, known)


def _merge(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """Run on an executor, for what some partitions know."""
    rows: Iterable[list[Any]]
    rows = (list(row.values()) for batch in batches for row in batch.to_pylist())
    if job.seed is not None:  # rows come as they like; a test has to repeat itself
        rows = sorted(rows, key=lambda row: int(row[0]))
    place = _partition()
    known = job.merge((row[1:] for row in rows), f"merge {place}")
    yield _row(place, known)


def _check(version: str, batches: Iterable[Any]) -> Iterator[Any]:
    """Run on an executor, to see if it can."""
    if version != VERSION:
        raise SourceError(f"this is modicum {VERSION}, not {version}")
    pa = import_module("pyarrow")
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([True] * batch.num_rows)], names=["ok"])


def _partition() -> int:
    place: int = import_module("pyspark").TaskContext.get().partitionId()
    return place


def _row(place: int, known: Parts) -> Any:
    pa = import_module("pyarrow")
    arrays = [pa.array([place], pa.int64()), *(pa.array([each], pa.binary()) for each in known)]
    names = ["part", *(f"s{i}" for i in range(len(known)))]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _chunks(job: Job, batches: Iterable[Any]) -> Iterator[Chunk]:
    """Put the small batches of Spark together into chunks."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK):
            part = batch.slice(start, CHUNK)
            if rows + part.num_rows > CHUNK:
                yield _chunk(job, held)
                held, rows = [], 0
            held.append(part)
            rows += part.num_rows
    if held:
        yield _chunk(job, held)


def _chunk(job: Job, batches: list[Any]) -> Chunk:
    places = iter(range(len(job.columns)))
    return {
        name: rows_of(sum(batch.num_rows for batch in batches))
        if name is None
        else _joined(batches, next(places))
        for name in job.columns
    }


def _joined(batches: list[Any], place: int) -> Any:
    return np.concatenate([arrow_floats(batch.column(place)) for batch in batches])
