"""Rows of several columns where they stay: the integers, and the answers, of an array in memory.

In parts within this process everywhere; in Spark, Dask and Ibis where they are installed.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.errors import InvalidArgument, MissingColumn, UnsupportedData
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.sources.reader import check_column, read
from modicum.summaries.base import Columns, Read
from modicum.summaries.cells import SpreadCounts
from modicum.summaries.second_moments import RowNorm, RowNormCounts, Scaling, SecondMoments, Weights
from modicum.summaries.sums import Count
from modicum.summaries.tails import Tails
from modicum.summaries.vectors import ClippedVectors, NormCounts, RotatedCounts, VectorScaling
from tests.sources.cluster.remote import REMOTE
from tests.sources.cluster.test_distributed import Cluster
from tests.sources.cluster.test_remote import in_parts

INF, NAN = float("inf"), float("nan")
LATTICE = Lattice.within((-1e6, 1e6))
NAMES = Columns(("a.b", "c`d", "e f"))
MAKERS = {"parts": in_parts, **REMOTE}

_SCALING = VectorScaling((0, 3 << 31, -7), (2.0**-20, 2.0**-31, 2.0**-40))
_COLUMNS = Scaling((0, 10 << 31, 0), (30, 33, 40))
_ROW_NORMS = [RowNorm(norm, Weights(20, 10, 20, 20)) for norm in ("l1", "l2")]
REDUCTIONS = [
    NormCounts(_SCALING, (1, 2**8, 2**12, 2**30)),
    NormCounts(VectorScaling((0,), (2.0**-25,), sizes=True), (1, 2**20, 2**40)),
    NormCounts(VectorScaling((0,), (2.0**-25,), power=1), (1, 2**10, 2**20)),
    ClippedVectors(_SCALING, 2**10),
    ClippedVectors(VectorScaling((0,), (1.0,), power=1), 2**40),
    SpreadCounts(),
    *(
        RowNormCounts(_COLUMNS, each, (each.typical(4) // 4, each.typical(4)))
        for each in _ROW_NORMS
    ),
    *(SecondMoments(_COLUMNS, each, each.typical(4) // 4) for each in _ROW_NORMS),
    RotatedCounts((0, 1 << 30, -(1 << 20), 5)),
]
ASKS = [Read(None, LATTICE, each, NAMES) for each in REDUCTIONS]
SPIKED = [
    [NAN, 1, 2],
    [1, NAN, 2],
    [NAN, NAN, NAN],
    [INF, 0, -INF],
    [-0.0, 5e-324, 1e308],
    [1e6, -1e6, 0.5],
]


def vectors(rows: int) -> np.ndarray:
    x = np.random.default_rng(rows).normal([0, 10, 0], [1, 4, 900], size=(rows, 3))
    x[: len(SPIKED)] = np.array(SPIKED)[:rows]
    return x


def table_of(x: np.ndarray) -> pa.Table:
    return pa.table(dict(zip(NAMES.names, x.T, strict=True)))


def local(x: np.ndarray) -> list[Any]:
    return read(
        open_source(x), [Read(None, LATTICE, each, Columns()) for each in REDUCTIONS], SYSTEM
    )


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return lambda table: open_source(MAKERS[request.param](table, tmp_path))


# Summaries


@pytest.mark.one_in(2)
@pytest.mark.parametrize("merges", [0, 1, 3])
@pytest.mark.parametrize("cuts", [[], [0, 3], [3, 3, 4], [2, 100, 1500, 2000]], ids=str)
@pytest.mark.parametrize("rows", [0, 2, 2000])
def test_parts_and_merges_make_no_difference(rows: int, cuts: list[int], merges: int) -> None:
    x = vectors(rows)
    ends = itertools.pairwise([0, *cuts, rows])
    source = Cluster([table_of(x)[min(a, rows) : max(min(a, rows), b)] for a, b in ends], merges)
    alone = [Read("a.b", LATTICE, Tails(5)), Read("c`d", None, Count()), Read(None, None, Count())]
    got = read(source, [*ASKS, *alone], SYSTEM)
    assert [each.to_bytes() for each in got[:-3]] == [each.to_bytes() for each in local(x)]
    assert got[-3:] == read(open_source(table_of(x)), alone, SYSTEM)
    assert len(source.jobs) == 1


def test_no_parts_are_no_rows() -> None:
    empty = Cluster([table_of(vectors(0))[:0]])
    empty.parts = []
    assert read(empty, ASKS, SYSTEM) == local(vectors(0))


def test_every_engine_gives_the_integers_of_an_array(make: Any) -> None:
    x = vectors(3000)
    assert read(make(table_of(x)), ASKS, SYSTEM) == local(x)
    assert local(x) != local(x[:-1])


def test_columns_of_other_types(make: Any) -> None:
    table = pa.table(
        {
            "x": pa.array([1, None, -3, 4, 5] * 9, pa.int32()),
            "y": pa.array([True, False, False] * 15),
            "z": pa.array([0.5, 2.0, NAN, 0.1, 7.25] * 9, pa.float64()),
        }
    )
    reads = [Read(None, LATTICE, each, Columns(("z", "x", "y"))) for each in REDUCTIONS]
    got = read(make(table), reads, SYSTEM)
    assert got == read(open_source(table), reads, SYSTEM)
    assert got[3].count == 27


def test_how_much_moves() -> None:
    """The sizes that docs/operate/engines.md names, over the widest table of cells there is."""
    sizes = 2.0 ** np.random.default_rng(1).uniform(-21, 30, size=(60_000, 3))
    source = Cluster([table_of(sizes * [1, -1, 1])])
    budget = mo.zcdp(9)
    moved = {}
    for statistic in ("mean_vector", "covariance"):
        source.most = 0
        curator = mo.Curator(source, budget=budget, entropy=SeededEntropy(1))
        getattr(curator, statistic)(NAMES.names, within=(-1e9, 1e9), rho=1)
        moved[statistic] = source.most
    assert 5000 < moved["mean_vector"] < 13_000 + 3 * 17
    assert 3 * 400_000 < moved["covariance"] < 3 * 1_400_000


# Persons


PERSONS = pa.table(
    {
        "id": pa.array([*(f"p{i % 40}" for i in range(395)), *[None] * 5], pa.string()),
        "t": np.random.default_rng(5).permutation(400),
        **dict(zip(NAMES.names, vectors(400).T, strict=True)),
    }
)


@pytest.mark.parametrize("order_by", ["t", "a.b"])
def test_the_first_rows_of_persons_are_those_of_a_local_table(make: Any, order_by: str) -> None:
    unit = mo.unit_of("id", max_rows=3, order_by=order_by)
    got, expected = (
        TableReader(source, unit, [NAMES]).read(ASKS, SYSTEM)
        for source in (make(PERSONS), open_source(PERSONS))
    )
    assert got == expected
    assert 100 < got[3].count <= 120  # of 40 persons; missing values are dropped after


def test_a_random_choice_holds_for_all_jobs_and_columns(make: Any) -> None:
    unit, other = mo.unit_of("id", max_rows=3), Columns(("t",))
    source = make(PERSONS)
    reader = TableReader(source, unit, [NAMES, other])
    reads = [Read(None, LATTICE, SpreadCounts(), each) for each in (NAMES, other)]
    (first,), (again, beside) = (reader.read(each, SYSTEM) for each in (reads[:1], reads))
    assert first == again
    assert (first.count <= 120, beside.count) == (True, 120)
    assert first != TableReader(source, unit, [NAMES, other]).read(reads, SYSTEM)[0]


def test_combined_persons_are_refused(make: Any) -> None:
    unit = mo.unit_of("id", combine="mean")
    curator = mo.Curator(make(PERSONS), budget=mo.zcdp(1), unit=unit)
    with pytest.raises(InvalidArgument, match="not combined into one vector"):
        curator.mean_vector(NAMES.names, within=(-1, 1), rho=1)
    assert curator.spent.amount == 0


# Answers

STATISTICS: dict[str, tuple[str, dict[str, Any]]] = {
    "mean_vector": ("mean_vector", {"rho": 1}),
    "pure": ("mean_vector", {"epsilon": 8}),
    "shifted": ("mean_vector", {"rho": 1, "method": "shifted", "step": 4096.0}),
    "clipped_mean_vector": ("clipped_mean_vector", {"rho": 1}),
    "covariance": ("covariance", {"rho": 1}),
    "pca": ("pca", {"rho": 1, "components": 2}),
    "linear_regression": ("linear_regression", {"rho": 1, "target": "e f"}),
}


CASES = [
    pytest.param(
        name,
        maker,
        # Spark takes some time for each of many jobs.
        marks=pytest.mark.slow if maker.startswith("spark") and name != "covariance" else (),
    )
    for name in STATISTICS
    for maker in MAKERS
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "maker"), CASES)
def test_a_release_is_that_of_a_local_table(name: str, maker: str, tmp_path: Path) -> None:
    """For the same noise, draw by draw: laws and steps follow from the same integers."""
    statistic, arguments = STATISTICS[name]
    columns = NAMES.names[:2] if "target" in arguments else NAMES.names
    x = vectors(4000)
    found = []
    for source in (MAKERS[maker](table_of(x), tmp_path), table_of(x)):
        budget = mo.pure(8) if "epsilon" in arguments else mo.zcdp(1)
        curator = mo.Curator(source, budget=budget, entropy=SeededEntropy(name))
        release = getattr(curator, statistic)(columns, within=(-1e6, 1e6), **arguments)
        found.append((release.values.tolist(), [each.outcome for each in release.transcript]))
        assert curator.remaining.amount == 0
    assert found[0] == found[1]


def test_vectors_and_single_columns_are_asked_together(make: Any) -> None:
    x = np.random.default_rng(2).normal([40, 10, -3], 2, size=(6000, 3))
    curator = mo.Curator(make(table_of(x)), budget=mo.zcdp(2))
    answers = curator.release(
        means=mo.query.mean_vector(NAMES.names, within=(-1e6, 1e6), rho=1),
        mean=mo.query.mean("a.b", within=(-1e6, 1e6), rho="0.5"),
        rows=mo.query.count(rho="0.5"),
    )
    assert np.abs(answers["means"].values - x.mean(axis=0)).max() < 0.3
    assert abs(answers["mean"].value - 40) < 0.3
    assert abs(answers["rows"].value - 6000) < 20


# Refusals


class Means(mo.Sensitivities):
    name, labels, columns = "means", ("a", "b"), 2

    def value(self, rows: Any, lo: float, hi: float) -> Any:
        return rows.mean(axis=0) if len(rows) else np.full(2, (lo + hi) / 2)

    def sensitivities(self, rows: Any, lo: float, hi: float, levels: int) -> Any:
        return 2 * (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)


def test_a_statistic_that_holds_all_rows_is_refused_before_any_job(make: Any) -> None:
    source = make(table_of(vectors(500)))
    curator = mo.Curator(source, budget=mo.pure(1))
    arguments: Any = {"statistic": Means(), "within": (-1e6, 1e6), "epsilon": 1}
    if source.engine == "ibis":  # its rows come in batches, as those of a file
        assert len(curator.vector_statistic(NAMES.names[:2], **arguments).values) == 2
        return
    with pytest.raises(UnsupportedData, match=r"holds all rows in memory.*toPandas\(\)"):
        curator.vector_statistic(NAMES.names[:2], **arguments)
    assert curator.spent.amount == 0
    assert getattr(source, "jobs", []) == []


REFUSED = [
    (Columns(), InvalidArgument, "columns is missing"),
    (Columns(("a.b", "z")), MissingColumn, "no column 'z'"),
    (Columns(("a.b", "label")), UnsupportedData, "column 'label' is declared as"),
]


@pytest.mark.parametrize(("columns", "error", "words"), REFUSED)
def test_what_cannot_be_read_is_refused_by_the_schema(
    make: Any, columns: Columns, error: type[Exception], words: str
) -> None:
    table = table_of(vectors(9)).append_column("label", pa.array(["secret"] * 9))
    with pytest.raises(error, match=words) as caught:
        check_column(make(table), columns, LATTICE)
    assert "secret" not in str(caught.value)
