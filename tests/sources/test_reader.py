"""The reader: rows as vectors are the same from every engine, and progress is shown."""

import io
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum
from modicum.errors import InvalidArgument, MissingColumn, UnsupportedData
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit
from modicum.sources import progress, reader
from modicum.sources.engines import arrays
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.sources.progress import watched
from modicum.sources.reader import check_column, read
from modicum.summaries.base import Columns, Read, Reduction
from modicum.summaries.sums import Count
from tests.sources.engines.makers import TABLES

LATTICE = Lattice.within((-1e9, 1e9))
NAMES = Columns(("x", "y"))
X = [1.5, None, -2.0, float("nan"), 1e300, 7.0]
Y = [4, 5, None, 1, 0, 3]
COMPLETE = [(1.5, 4.0), (7.0, 3.0), (1e300, 0.0)]


class Kept(Reduction):
    """A reduction that keeps what it is shown."""

    def begin(self, lattice, rows=None):
        self.seen = []
        return self

    reads = True

    def update(self, x) -> None:
        assert x.dtype == np.float64
        assert x.flags.c_contiguous
        self.seen.append(np.array(x))

    def finish(self):
        return self.seen


def rows_of(source, columns=NAMES) -> np.ndarray:
    (seen,) = read(open_source(source), [Read(None, LATTICE, Kept(), columns)], SeededEntropy(0))
    assert all(block.ndim == 2 for block in seen)
    return np.concatenate(seen)


def in_order(rows) -> list[tuple[float, ...]]:
    return sorted(map(tuple, rows.tolist()))


@pytest.mark.parametrize("name", TABLES)
def test_every_engine_shows_the_same_rows_without_missing_values(name, tmp_path) -> None:
    table = pa.table({"label": ["secret"] * 6, "x": pa.array(X, pa.float64()), "y": pa.array(Y)})
    source = TABLES[name](table, tmp_path)
    assert in_order(rows_of(source)) == sorted(COMPLETE)
    assert in_order(rows_of(source, Columns(("y", "x")))) == sorted((b, a) for a, b in COMPLETE)


def test_small_blocks_show_the_same_rows(monkeypatch) -> None:
    x = np.random.default_rng(1).normal(size=(1000, 3))
    x[::7, 1] = np.nan
    x[5, 0], x[9, 2] = np.inf, -np.inf
    table = pd.DataFrame(x, columns=list("abc"))
    expected = x[~np.isnan(x).any(axis=1)]
    for block in (1, 8, 1 << 16):
        monkeypatch.setattr(arrays, "BLOCK", block)
        monkeypatch.setattr(reader, "BLOCK", block)
        for rows in (rows_of(x, Columns()), rows_of(table, Columns(("a", "b", "c")))):
            np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(12.0).reshape(4, 3),
        np.asfortranarray(np.arange(12.0).reshape(4, 3)),
        np.arange(24.0).reshape(8, 3)[::2],
        np.arange(12).reshape(4, 3).astype(np.int8),
        np.arange(12).reshape(4, 3) > 4,
        np.arange(12.0).reshape(4, 3).astype(np.float32),
        np.empty((0, 3)),
    ],
)
def test_arrays_of_any_layout(x) -> None:
    np.testing.assert_array_equal(rows_of(x, Columns()), x.astype(float))


def test_one_dimension_is_vectors_of_one_component() -> None:
    assert rows_of(np.array([1.0, np.nan, 3.0]), Columns()).tolist() == [[1.0], [3.0]]
    assert rows_of(pd.Series([1, 2]), Columns()).tolist() == [[1.0], [2.0]]


def test_arrow_lists_of_one_size() -> None:
    lists = pa.array([[1, 2], None, [3, None], [5, 6], [7, 8]], pa.list_(pa.int32(), 2))
    assert rows_of(lists, Columns()).tolist() == [[1, 2], [5, 6], [7, 8]]
    assert rows_of(lists[3:], Columns()).tolist() == [[5, 6], [7, 8]]
    both = pa.chunked_array([lists[3:], lists[:2]])
    assert rows_of(both, Columns()).tolist() == [[5, 6], [7, 8], [1, 2]]
    assert rows_of(pa.chunked_array([], lists.type), Columns()).tolist() == []


def test_single_columns_and_vectors_share_a_pass() -> None:
    table = pa.table({"x": pa.array(X, pa.float64()), "y": pa.array(Y)})
    reads = [
        Read("y", None, Count()),
        Read(None, LATTICE, Kept(), NAMES),
        Read(None, None, Count()),
    ]
    first, rows, last = read(open_source(table), reads, SeededEntropy(0))
    assert (first.count, sum(map(len, rows)), last.count) == (5, 3, 6)
    (counted,) = read(open_source(np.zeros((5, 2))), [Read(None, None, Count())], SeededEntropy(0))
    assert counted.count == 5


def test_a_few_rows_of_each_person() -> None:
    table = pd.DataFrame({"who": [1, 1, 1, 2], "x": [1.0, 2, 3, 4], "y": [1.0, 2, 3, 4]})
    reader = TableReader(open_source(table), Unit(2, "who"), [NAMES])
    reads = [Read(None, LATTICE, Kept(), NAMES)]
    (seen,), (again,) = (reader.read(reads, SeededEntropy(3)) for _ in range(2))
    rows = np.concatenate(seen)
    assert len(rows) == 3
    assert (rows[:, 0] == rows[:, 1]).all()
    assert in_order(rows) == in_order(np.concatenate(again))


def test_combined_persons_are_refused() -> None:
    source = open_source(pd.DataFrame({"who": [1], "x": [1.0], "y": [1.0]}))
    with pytest.raises(InvalidArgument, match="combined"):
        TableReader(source, Unit(1, "who", combine="mean"), [NAMES])


REFUSED = [
    (np.zeros((3, 2)), NAMES, InvalidArgument, "no names"),
    (np.zeros((3, 2)), "x", InvalidArgument, "no names"),
    (np.zeros((3, 2)), None, UnsupportedData, "one dimension"),
    (pd.DataFrame({"x": [1], "z": [2]}), NAMES, MissingColumn, "'y'"),
    (pd.DataFrame({"x": [1], "y": ["a"]}), NAMES, UnsupportedData, "declared"),
    (pd.DataFrame({"x": [1]}), Columns(), InvalidArgument, "columns is missing"),
    ([[1.0, 2.0]], Columns(), UnsupportedData, "numpy.asarray"),
]


@pytest.mark.parametrize(("table", "column", "error", "words"), REFUSED)
def test_what_cannot_be_read_is_refused_by_its_schema(table, column, error, words) -> None:
    with pytest.raises(error, match=words):
        check_column(open_source(table), column, LATTICE)


@pytest.mark.parametrize(
    "array", [np.zeros((2, 0)), np.zeros((2, 2, 2)), np.zeros((2, 2), complex), np.array([["a"]])]
)
def test_what_is_no_matrix_of_numbers_is_refused(array) -> None:
    with pytest.raises(UnsupportedData):
        open_source(array)


def test_lists_of_text_are_refused() -> None:
    with pytest.raises(UnsupportedData):
        open_source(pa.array([["a", "b"]], pa.list_(pa.string(), 2)))


def test_names_of_all_columns_once() -> None:
    several = [Columns(("b", "a")), None, "b", Columns(), "c"]
    for order in itertools.permutations(several):
        assert reader.named_columns(order) == ["a", "b", "c"]


class Terminal(io.StringIO):
    def __init__(self, *, tty: bool = True) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]

    def monotonic() -> float:
        now[0] += 0.05
        return now[0]

    monkeypatch.setattr(progress.time, "monotonic", monotonic)
    return now


def shown(monkeypatch: pytest.MonkeyPatch, terminal: Terminal, items: int) -> str:
    monkeypatch.setattr("sys.stderr", terminal)
    assert list(watched(((1234, i) for i in range(items)), "reading", "rows")) == [*range(items)]
    return terminal.getvalue()


@pytest.mark.usefixtures("clock")
def test_a_line_that_is_rewritten_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Terminal(), 200)
    lines = [part.strip() for part in text.split("\r")]
    assert len(lines) > 10
    assert lines[1] == "modicum: reading, 49,000 rows so far"
    assert all(part.split()[2].rstrip(",").endswith("000") for part in lines[1:-2])
    assert lines[-2:] == ["", ""]
    assert "\n" not in text
    assert len(text.split("\r")[-2]) == len(text.split("\r")[-3].rstrip())  # covers what was there


@pytest.mark.usefixtures("clock")
def test_silence_for_short_work_without_a_terminal_and_when_turned_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shown(monkeypatch, Terminal(), 10) == ""
    assert shown(monkeypatch, Terminal(tty=False), 200) == ""
    monkeypatch.setenv("MODICUM_PROGRESS", "off")
    assert shown(monkeypatch, Terminal(), 200) == ""
    monkeypatch.setattr("sys.stderr", None)
    assert list(watched([(1, "a")], "reading", "rows")) == ["a"]


@pytest.mark.usefixtures("clock")
def test_the_line_is_erased_when_reading_stops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    items = watched(((1, i) for i in range(1000)), "reading", "rows")
    for _ in range(100):
        next(items)
    items.close()  # type: ignore[attr-defined]
    assert terminal.getvalue().endswith("\r")


@pytest.mark.usefixtures("clock")
def test_a_release_shows_its_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    modicum.mean(np.arange(200_000.0), within=(-1e9, 1e9), epsilon=1)
    assert "modicum: reading, 65,000 rows so far (32 %, about 1 s left)" in terminal.getvalue()


@pytest.mark.usefixtures("clock")
def test_groups_are_drawn_under_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("modicum.runtime.run._BLOCK", 2)
    table = pd.DataFrame({"g": range(100), "x": 1.0})
    curator = modicum.Curator(table, budget=modicum.pure(1))
    curator.group_by("g", keys=list(range(100))).count(epsilon=1)
    assert "modicum: drawing, 80 groups so far" in terminal.getvalue()
    assert terminal.getvalue().split("\r")[-1] == ""


@pytest.mark.usefixtures("clock")
def test_silence_in_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(shown, monkeypatch, Terminal(), 200).result() == ""
