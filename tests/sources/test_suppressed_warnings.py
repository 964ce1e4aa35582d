"""No warning, and no error that a warning was turned into, tells of a value, on any engine."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit
from modicum.sources import groups
from modicum.sources.base import StreamSource, TableBatch
from modicum.sources.files import prefetch
from modicum.sources.groups import GroupReader, count_keys
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.sources.reader import read
from modicum.summaries.base import Read
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.sources.cluster.remote import EVERYWHERE
from tests.sources.engines.makers import RANDOM_ACCESS

LATTICE = Lattice.within((-10, 10), step=1)
LOUD = np.array([0x7FA00000, 0x3F800000, 0x7F7FFFFF], np.uint32).view(np.float32)
"""A signalling NaN, which warns when it is cast; 1; and the largest number."""

TABLE = pa.table(
    {
        "id": pa.array([1, 1, 2] * 2),
        "loud": pa.array(np.tile(LOUD, 2)),
        "x": pa.array(np.tile(LOUD, 2)),
        "g": pa.array(["a", "b", "a"] * 2),
    }
)
UNITS = [
    Unit(),
    mo.unit_of("id", max_rows=2),
    mo.unit_of("id", max_rows=1, order_by="x"),
    mo.unit_of("id", combine="mean"),
    mo.unit_of("loud", max_rows=1),
]


@pytest.fixture
def loud() -> Iterator[None]:
    """Every floating-point event is an error, and so is every warning of NumPy's."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.fixture(params=EVERYWHERE)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return EVERYWHERE[request.param](TABLE, tmp_path)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_rows_and_persons(table: Any, unit: Unit, loud: None) -> None:
    source = open_source(table)
    reads = [Read("x", LATTICE, Tails(2)), Read("x", None, Count()), Read("x", LATTICE, Records())]
    tails, count, records = TableReader(source, unit, ["x"]).read(reads, SYSTEM)
    assert tails.count == count.count == len(records.all()) <= 4


@pytest.mark.one_in(2)
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("unit", [each for each in UNITS if each.combine is None], ids=str)
def test_groups(
    table: Any, unit: Unit, many: bool, loud: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_FEW", 0 if many else 64)
    source = open_source(table)
    reads = [(place, Read("x", LATTICE, each)) for place in (0, 1) for each in (Count(), Tails(3))]
    found = GroupReader(source, unit, "g", ["a", "b"], ["x"]).read(reads, SYSTEM)
    assert sum(each.count for each in found) <= 8
    assert set(count_keys(source, unit, "g", SYSTEM)) <= {"a", "b"}


@pytest.mark.parametrize("engine", RANDOM_ACCESS)
def test_rows_that_are_fetched(engine: str, loud: None, tmp_path: Path) -> None:
    fetchable = open_source(RANDOM_ACCESS[engine](TABLE, tmp_path)).fetchable("x")
    assert np.isnan(fetchable.take(np.array([0, 3]))).all()


def test_a_release(table: Any, loud: None) -> None:
    curator = mo.Curator(table, budget=mo.pure(9), entropy=SeededEntropy(1))
    for ask in (curator.sum, curator.mean):
        ask("x", within=(-10, 10), epsilon=1)
    assert curator.spent == mo.pure(2)


@pytest.mark.parametrize("pooled", [True, False])
def test_sums_of_a_person_that_are_no_float(pooled: bool, loud: None) -> None:
    """Twenty rows of 1.7e307 in a group, of a person with rows in others."""
    x = np.append(np.full(20, 1.7e307), np.arange(40.0))
    frame = pd.DataFrame({"who": [0] * 21 + [1] * 39, "g": ["a"] * 20 + ["b"] * 40, "x": x})
    curator = mo.Curator(frame, unit=mo.unit_of("who"), budget=mo.pure(9), entropy=SeededEntropy(1))
    groups = curator.group_by("g", keys=["a", "b"], pooled=pooled)
    groups.mean("x", within=(-2e307, 2e307), epsilon=1)
    assert curator.spent == mo.pure(1)


class Streaming(StreamSource):
    """Divides by zero for each of its batches."""

    def __init__(self) -> None:
        super().__init__("streaming", ["x"], lambda _: "double")

    def _batches(self, columns: Any, labels: Any) -> Iterator[TableBatch]:
        for _ in range(3):
            yield TableBatch([np.ones(2) / np.zeros(2)], [])

    def _count(self) -> int:
        return 0


def test_settings_do_not_leak_to_whoever_reads(loud: None) -> None:
    before = np.geterr()
    for _ in Streaming().chunks(["x"]):
        assert np.geterr() == before
    ask = Read("x", LATTICE, ClippedSum(-100, 100))
    assert read(Streaming(), [ask], SYSTEM)[0].total == 60
    assert np.geterr() == before


def test_warnings_are_suppressed_in_the_thread_that_prefetches() -> None:
    def batches() -> Iterator[Any]:
        for _ in range(3):
            yield np.ones(2) / np.zeros(2)

    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert len(list(prefetch(batches()))) == 3
