"""Dask DataFrames: what a part may be, schedulers, and fresh choices."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.errors import MissingColumn, SourceError, UnsupportedData
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy import turn
from modicum.sources.cluster.dask import _FAN_IN
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.summaries.base import Read
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count

dask = pytest.importorskip("dask", reason="Dask is not installed: make test-engines")
dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: make test-engines")

LATTICE = Lattice.within((0, 1e6), step=1)


def frame(rows: int, parts: int) -> Any:
    return dd.from_pandas(pd.DataFrame({"x": np.arange(float(rows))}), npartitions=parts)


@pytest.mark.parametrize("parts", [1, 2, _FAN_IN, _FAN_IN + 1, _FAN_IN**2 + 1])
def test_trees_of_any_height(parts: int) -> None:
    source = open_source(frame(1000, parts))
    reads = [Read("x", LATTICE, ClippedSum(0, 10**6)), Read(None, None, Count())]
    total, rows = read(source, reads, SYSTEM)
    assert (total.count, total.total, rows.count) == (1000, 499_500, 1000)


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_schedulers(scheduler: str) -> None:
    with dask.config.set(scheduler=scheduler):
        curator = mo.Curator(frame(20_000, 4), budget=mo.pure(1))
        assert abs(curator.mean("x", within=(-1e9, 1e9), epsilon=1).value - 10_000) < 1000


def test_choices_are_fresh_each_time() -> None:
    source = open_source(frame(40_000, 4))

    def drawn(entropy: Any) -> list[int]:
        (records,) = read(source, [Read("x", LATTICE, Records())], entropy)
        q: list[int] = sorted(records.thin(4, entropy).tolist())
        return q

    assert drawn(SYSTEM) != drawn(SYSTEM)
    assert drawn(SeededEntropy(1)) == drawn(SeededEntropy(1)) != drawn(SeededEntropy(2))
    quarters = np.unique(np.array(drawn(SYSTEM)) % 10_000, return_counts=True)[1]
    assert np.count_nonzero(quarters == 4) < 10  # parts have coins of their own


def test_a_part_of_another_type_shows_nothing() -> None:
    def second(place: int) -> pd.DataFrame:
        return pd.DataFrame({"x": ["secret"] if place else [1.0]}, dtype=object if place else None)

    mixed = dd.from_map(second, [0, 1], meta=pd.DataFrame({"x": [1.0]}))
    curator = mo.Curator(mixed, budget=mo.pure(1))
    with pytest.raises(SourceError) as caught:
        curator.sum("x", within=(0, 1), epsilon=1)
    assert str(caught.value) == "not all parts of the dask data declare the columns alike"
    assert curator.spent.amount == 0


def test_a_failing_part_shows_nothing_and_costs_nothing() -> None:
    def fail(part: pd.DataFrame) -> pd.DataFrame:
        raise ValueError("secret")

    failing = frame(10, 2).map_partitions(fail, meta=pd.DataFrame({"x": [1.0]}))
    curator = mo.Curator(failing, budget=mo.pure(1))
    with pytest.raises(SourceError, match=r"^the dask data could not be read$") as caught:
        curator.count("x", epsilon=1)
    assert caught.value.__context__ is None
    assert curator.spent.amount == 0


def test_names_and_types() -> None:
    table = pd.DataFrame({0: [1.0], "t": ["a"], "o": pd.Series([1], dtype="category")})
    source = open_source(dd.from_pandas(table, npartitions=1))
    with pytest.raises(MissingColumn, match="columns: 't', 'o'"):
        source.check("0")
    for name in "to":
        with pytest.raises(UnsupportedData, match=r"dask\.dataframe\.to_numeric"):
            source.check(name)


def parts_of(*ids: Any) -> Any:
    """A table whose parts hold these ids, declared like the first one."""
    tables = [pd.DataFrame({"id": pd.Series(each), "x": 1.0, "g": pd.Series(each)}) for each in ids]
    return dd.from_map(lambda i: tables[i], range(len(tables)), meta=tables[0].iloc[:0])


MANY, TEXTS = range(200), [*map(str, range(200)), "x7"]
UNLIKE = {
    "text": (MANY, pd.Series(TEXTS, dtype=str)),
    "numbers": (pd.Series(TEXTS, dtype=str), MANY),
    "objects": (MANY, pd.Series([*MANY, "x7"], dtype=object)),
    "moments": (["2020-01-01"], pd.to_datetime(["2020-01-01"])),
    "categories": (pd.Series(MANY).astype("category"), pd.Series(TEXTS).astype("category")),
}


@pytest.mark.parametrize("name", UNLIKE)
@pytest.mark.parametrize(
    "unit", [mo.unit_of("id", max_rows=1), mo.unit_of("id", combine="mean")], ids=["rows", "record"]
)
def test_parts_with_labels_of_another_kind(name: str, unit: mo.Unit) -> None:
    """Number 5 and text "5" are no two persons, in parts that are read apart."""
    curator = mo.Curator(parts_of(*UNLIKE[name]), unit=unit, budget=mo.pure(1))
    with pytest.raises(SourceError, match="declare the columns alike"):
        curator.count("x", epsilon=1)
    groups = mo.Curator(parts_of(*UNLIKE[name]), budget=mo.approx(1, "1e-6"))
    with pytest.raises(SourceError, match="declare the columns alike"):
        groups.group_by("g", key_budget=mo.approx(1, "1e-6"))
    assert curator.spent.amount == groups.spent.amount == 0


@pytest.mark.parametrize(
    ("ids", "persons"),
    [
        ((MANY, [*map(float, MANY), None]), 200),
        ((pd.Series([True, False]), [0, 1, 2]), 3),
        ((pd.Series(["1", "2"], dtype=object), pd.Series(["1", "3"], dtype=str)), 3),
        ((pd.Series(MANY).astype("category"), pd.Series(range(100, 300)).astype("category")), 300),
    ],
    ids=["float", "bool", "object", "categories"],
)
def test_parts_with_labels_of_one_kind(ids: Any, persons: int) -> None:
    unit = mo.unit_of("id", max_rows=1)
    assert round(mo.count(parts_of(*ids), "x", epsilon=1000, unit=unit).value) == persons


@pytest.mark.parametrize(
    "second", [TEXTS[:-1], range(200), [float(each) for each in MANY]], ids=["text", "int", "float"]
)
def test_categories_that_are_not_declared(second: Any) -> None:
    """Persons go by their text, whatever the kind of a part's categories."""
    table = parts_of(pd.Series(MANY).astype("category"), pd.Series(second).astype("category"))
    table["id"] = table["id"].cat.as_unknown()
    unit = mo.unit_of("id", max_rows=1)
    assert round(mo.count(table, "x", epsilon=1000, unit=unit).value) == 200


def test_a_function_of_the_table_that_asks_its_curator_does_not_wait_for_ever(monkeypatch) -> None:
    """Threads of the scheduler run it, while the question waits for them."""
    monkeypatch.setattr(turn, "_PATIENCE", 0.05)
    curators: list[mo.Curator] = []
    said: list[str] = []

    def function(part: pd.DataFrame) -> pd.DataFrame:
        for curator in curators:
            with pytest.raises(mo.InvalidArgument, match="own question"):
                curator.count(epsilon=1)
            said.append("refused")
        return part

    table = frame(100, 3).map_partitions(function, meta=pd.DataFrame({"x": [0.5]}))
    curators.append(mo.Curator(table, budget=mo.pure(5)))
    with dask.config.set(scheduler="threads"):
        curators[0].mean("x", within=(0, 100), epsilon=1)
    assert "refused" in said
    assert curators[0].spent == mo.pure(1)


@pytest.mark.parametrize("raised", [StopIteration, GeneratorExit, KeyError, MemoryError])
def test_whatever_a_function_of_the_table_raises_is_one_error(raised: type[BaseException]) -> None:
    def function(_part: pd.DataFrame) -> pd.DataFrame:
        raise raised("a row of 12")

    table = frame(100, 3).map_partitions(function, meta=pd.DataFrame({"x": [0.5]}))
    curator = mo.Curator(table, budget=mo.pure(5))
    with pytest.raises(SourceError, match=r"^the dask data could not be read"):
        curator.mean("x", within=(0, 100), epsilon=1)
    assert curator.spent.amount == 0
