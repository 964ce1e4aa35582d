"""Reading many groups at once gives what reading each of them alone gives, on every engine."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.frames import groups as module
from modicum.frames.grouping import check_groups, count_keys
from modicum.frames.groups import GroupReader
from modicum.frames.reader import read
from modicum.frames.source import open_source
from modicum.privacy.unit import Unit, unit_of
from modicum.steps import Ask
from modicum.summaries import sifting, subsample
from modicum.summaries.cells import Cells
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.frames.engines import TABLES

LATTICE = Lattice.within((-1e6, 1e6))
RNG = np.random.default_rng(3)
SIZE = 3000
KEYS = ["b", "never", "a", "é"]
LABELS = RNG.choice(["a", "b", "é", "other", None], SIZE, p=[0.5, 0.3, 0.01, 0.1, 0.09])
X = np.where(RNG.random(SIZE) < 0.1, np.nan, RNG.normal(0, 1e5, SIZE))
TABLE = pa.table({"g": pa.array(LABELS, pa.string()), "x": X, "y": np.arange(float(SIZE))})
ASKS = [
    Ask("x", LATTICE, Tails(20)),
    Ask("x", LATTICE, Tails(5000)),
    Ask("x", LATTICE, ClippedSum(-1000, 10**7)),
    Ask("x", LATTICE, Cells(0, (10, 10**9, 10**12))),
    Ask("x", LATTICE, RankWindow(Fraction(1, 3), 40)),
    Ask("x", None, Count()),
    Ask("x", LATTICE, Count()),
    Ask("y", LATTICE, Tails(3)),
    Ask(None, None, Count()),
]


@pytest.fixture(params=["few", "many"])
def ways(request, monkeypatch) -> None:
    """Both ways of reading, whatever the number of keys."""
    monkeypatch.setattr(module, "_FEW", 100 if request.param == "few" else 0)
    monkeypatch.setattr(module, "_WAITING", 100)


def alone(table: pa.Table, key: object, asks=ASKS) -> list:
    """Summaries of the rows with one key, read as a table of their own."""
    chosen = [label == key for label in table.column("g").to_pylist()]
    return read(open_source(table.filter(pa.array(chosen))), asks, SYSTEM)


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_all_groups_at_once_are_each_group_alone(make, tmp_path) -> None:
    source = open_source(make(TABLE, tmp_path))
    reader = GroupReader(source, Unit(), "g", KEYS, ["x", "y", None])
    asks = [(group, ask) for ask in ASKS for group in range(len(KEYS))]
    found = dict(zip(asks, reader.read(asks, SYSTEM), strict=True))
    for group, key in enumerate(KEYS):
        assert [found[group, ask] for ask in ASKS] == alone(TABLE, key)


@pytest.mark.usefixtures("ways")
def test_a_csv_file(tmp_path) -> None:
    table = TABLE.set_column(0, "g", pa.array(RNG.integers(0, 5, SIZE)))
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    reader = GroupReader(open_source(tmp_path / "t.csv"), Unit(), "g", [3, 9, 0], ["x"])
    ask = Ask("x", LATTICE, Tails(20))
    found = reader.read([(0, ask), (1, ask), (2, ask)], SYSTEM)
    assert found == [alone(table, key, [ask])[0] for key in (3, 9, 0)]


@pytest.mark.usefixtures("ways")
def test_records_of_a_group_and_subsamples_of_them(monkeypatch) -> None:
    monkeypatch.setattr(subsample, "FEW", 4)  # thinned from 32 records on
    reader = GroupReader(open_source(TABLE), Unit(), "g", KEYS, ["x"])
    ask = Ask("x", LATTICE, Records(2))
    entropy = SeededEntropy(1)
    asks = [(group, ask) for group in range(len(KEYS))] * 2
    handles = reader.read(asks, entropy)
    for (group, _), handle in zip(asks, handles, strict=True):
        q = np.sort(alone(TABLE, KEYS[group], [ask])[0].all())
        for k in (4, 0, 1):
            kept = handle.thin(k, entropy)
            assert set(kept.tolist()) <= set(q.tolist())
            assert abs(len(kept) - len(q) / 2**k) <= 6 * np.sqrt(len(q) / 2**k) + (k > 0)
        assert np.array_equal(np.sort(handle.all()), q)


def test_a_reader_of_many_groups_needs_no_second_pass(monkeypatch) -> None:
    monkeypatch.setattr(module, "_FEW", 0)
    source = open_source(TABLE)
    passes = []
    chunks = source.chunks
    monkeypatch.setattr(source, "chunks", lambda *a: passes.append(a) or chunks(*a))
    reader = GroupReader(source, Unit(), "g", KEYS, ["x"])
    for _ in range(3):
        reader.read([(0, ASKS[0]), (1, ASKS[2])], SYSTEM)
    assert len(passes) == 1
    assert repr(reader) == "GroupReader()"


def test_further_passes_are_shared_by_all_groups(monkeypatch, tmp_path) -> None:
    """Windows that need a second pass, or more, of groups that are read apart."""
    monkeypatch.setattr(sifting, "_WHOLE", 100)
    monkeypatch.setattr(sifting, "INSIDE", 200)
    monkeypatch.setattr(subsample, "FEW", 6)
    source = open_source(TABLES["lazy"](TABLE, tmp_path))
    passes = []
    chunks = source.chunks
    monkeypatch.setattr(source, "chunks", lambda *a: passes.append(a) or chunks(*a))
    reader = GroupReader(source, Unit(), "g", KEYS, ["x"])
    asks = [
        (group, Ask(column, LATTICE, RankWindow(Fraction(i, 7), 5)))
        for group in range(len(KEYS))
        for column in "xy"
        for i in (1, 2, 5)
    ]
    found = reader.read(asks, SeededEntropy(1))
    assert found == [alone(TABLE, KEYS[group], [ask])[0] for group, ask in asks]
    assert 1 < len(passes) < 10


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_rows_of_persons_are_bounded_over_all_groups(make, tmp_path) -> None:
    """Person i % 100 keeps the two rows that come first by ``y``, whatever their keys."""
    table = TABLE.append_column("who", pa.array(np.arange(SIZE) % 100))
    unit = unit_of("who", max_rows=2, order_by="y")
    source = open_source(make(table, tmp_path))
    reader = GroupReader(source, unit, "g", KEYS, ["x", None])
    asks = [(group, ask) for ask in (ASKS[0], ASKS[-1]) for group in range(len(KEYS))]
    found = reader.read(asks, SYSTEM)
    expected = [alone(table[:200], KEYS[group], [ask])[0] for group, ask in asks]
    assert found == expected
    counts = count_keys(source, unit, "g", SYSTEM)
    assert counts == {k: LABELS[:200].tolist().count(k) for k in set(LABELS[:200]) - {None}}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_keys_are_counted(make, tmp_path) -> None:
    counts = count_keys(open_source(make(TABLE, tmp_path)), Unit(), "g", SYSTEM)
    assert counts == {key: LABELS.tolist().count(key) for key in ("a", "b", "é", "other")}


def test_ties_of_a_person_do_not_depend_on_others() -> None:
    """One row of each person is kept, the first by d; ties go to the lowest key."""
    unit = unit_of("who", max_rows=1, order_by="d")
    rows = pd.DataFrame({"who": [1, 1], "g": ["z", "a"], "d": [0, 0]})
    other = pd.DataFrame({"who": [2], "g": ["z"], "d": [0]})
    before, after = rows, pd.concat([other, rows], ignore_index=True)
    one = count_keys(open_source(before), unit, "g", SYSTEM)
    more = count_keys(open_source(after), unit, "g", SYSTEM)
    assert one == {"a": 1}
    assert more == {"a": 1, "z": 1}


def test_rows_of_a_group_have_no_positions() -> None:
    reader = GroupReader(open_source(TABLE), Unit(), "g", KEYS, ["x"])
    assert module._GroupRows(reader, 0, "x", SYSTEM).fetchable is None


def test_an_array_has_no_groups() -> None:
    with pytest.raises(InvalidArgument, match="single column"):
        check_groups(open_source(np.arange(3.0)), Unit(), "g", None)
