"""Groups: read together they give what each gives alone, and labels have places among keys."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit, unit_of
from modicum.sources import groups as module
from modicum.sources.groups import GroupReader, check_groups, count_keys
from modicum.sources.opening import open_source
from modicum.sources.places import Places
from modicum.sources.reader import read
from modicum.summaries import brackets, subsample
from modicum.summaries.base import Read
from modicum.summaries.cells import Cells
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.sources.engines.makers import TABLES

LATTICE = Lattice.within((-1e6, 1e6))
RNG = np.random.default_rng(3)
SIZE = 3000
KEYS = ["b", "never", "a", "é"]
LABELS = RNG.choice(["a", "b", "é", "other", None], SIZE, p=[0.5, 0.3, 0.01, 0.1, 0.09])
X = np.where(RNG.random(SIZE) < 0.1, np.nan, RNG.normal(0, 1e5, SIZE))
TABLE = pa.table({"g": pa.array(LABELS, pa.string()), "x": X, "y": np.arange(float(SIZE))})
ASKS = [
    Read("x", LATTICE, Tails(20)),
    Read("x", LATTICE, Tails(5000)),
    Read("x", LATTICE, ClippedSum(-1000, 10**7)),
    Read("x", LATTICE, Cells(0, (10, 10**9, 10**12))),
    Read("x", LATTICE, RankWindow(Fraction(1, 3), 40)),
    Read("x", None, Count()),
    Read("x", LATTICE, Count()),
    Read("y", LATTICE, Tails(3)),
    Read(None, None, Count()),
]


@pytest.fixture(params=["few", "many"])
def ways(request, monkeypatch) -> None:
    """Both ways of reading, whatever the number of keys."""
    monkeypatch.setattr(module, "_FEW", 100 if request.param == "few" else 0)
    monkeypatch.setattr(module, "_WAITING", 100)


def alone(table: pa.Table, key: object, reads=ASKS) -> list:
    """Summaries of the rows with one key, read as a table of their own."""
    chosen = [label == key for label in table.column("g").to_pylist()]
    return read(open_source(table.filter(pa.array(chosen))), reads, SYSTEM)


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_all_groups_at_once_are_each_group_alone(make, tmp_path) -> None:
    source = open_source(make(TABLE, tmp_path))
    reader = GroupReader(source, Unit(), "g", KEYS, ["x", "y", None])
    reads = [(group, ask) for ask in ASKS for group in range(len(KEYS))]
    found = dict(zip(reads, reader.read(reads, SYSTEM), strict=True))
    for group, key in enumerate(KEYS):
        assert [found[group, ask] for ask in ASKS] == alone(TABLE, key)


@pytest.mark.usefixtures("ways")
def test_a_csv_file(tmp_path) -> None:
    table = TABLE.set_column(0, "g", pa.array(RNG.integers(0, 5, SIZE)))
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    reader = GroupReader(open_source(tmp_path / "t.csv"), Unit(), "g", [3, 9, 0], ["x"])
    ask = Read("x", LATTICE, Tails(20))
    found = reader.read([(0, ask), (1, ask), (2, ask)], SYSTEM)
    assert found == [alone(table, key, [ask])[0] for key in (3, 9, 0)]


@pytest.mark.usefixtures("ways")
def test_records_of_a_group_and_subsamples_of_them(monkeypatch) -> None:
    monkeypatch.setattr(subsample, "FEW", 4)  # thinned from 32 records on
    reader = GroupReader(open_source(TABLE), Unit(), "g", KEYS, ["x"])
    ask = Read("x", LATTICE, Records(2))
    entropy = SeededEntropy(1)
    reads = [(group, ask) for group in range(len(KEYS))] * 2
    handles = reader.read(reads, entropy)
    for (group, _), handle in zip(reads, handles, strict=True):
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
    monkeypatch.setattr(brackets, "WHOLE", 100)
    monkeypatch.setattr(brackets, "INSIDE", 200)
    monkeypatch.setattr(subsample, "FEW", 6)
    source = open_source(TABLES["lazy"](TABLE, tmp_path))
    passes = []
    chunks = source.chunks
    monkeypatch.setattr(source, "chunks", lambda *a: passes.append(a) or chunks(*a))
    reader = GroupReader(source, Unit(), "g", KEYS, ["x"])
    reads = [
        (group, Read(column, LATTICE, RankWindow(Fraction(i, 7), 5)))
        for group in range(len(KEYS))
        for column in "xy"
        for i in (1, 2, 5)
    ]
    found = reader.read(reads, SeededEntropy(1))
    assert found == [alone(TABLE, KEYS[group], [ask])[0] for group, ask in reads]
    assert 1 < len(passes) < 10


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_rows_of_persons_are_bounded_over_all_groups(make, tmp_path) -> None:
    """Person i % 100 keeps the two rows that come first by ``y``, whatever their keys."""
    table = TABLE.append_column("who", pa.array(np.arange(SIZE) % 100))
    unit = unit_of("who", max_rows=2, order_by="y")
    source = open_source(make(table, tmp_path))
    reader = GroupReader(source, unit, "g", KEYS, ["x", None])
    reads = [(group, ask) for ask in (ASKS[0], ASKS[-1]) for group in range(len(KEYS))]
    found = reader.read(reads, SYSTEM)
    expected = [alone(table[:200], KEYS[group], [ask])[0] for group, ask in reads]
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
    assert reader._rows_of(0, "x", SYSTEM).fetchable is None


def test_an_array_has_no_groups() -> None:
    with pytest.raises(InvalidArgument, match="single column"):
        check_groups(open_source(np.arange(3.0)), Unit(), "g", None)


BIG = 2**63 - 1
numbers = st.one_of(
    st.integers(-5, 40), st.sampled_from([-(2**63), -BIG, BIG, 2**53, 2**53 + 1, -(10**9), 10**12])
)


def test_places_of_labels_of_any_kind() -> None:
    day = dt.date(2024, 1, 2)
    places = Places([day, True, 2.0, "x"])
    assert places.codes([day, 1, 2, "x", "y", None, "2.0"]).tolist() == [0, 1, 2, 3, -1, -1, 2]
    assert places.codes(np.array([5, 2, 1])).tolist() == [-1, 2, 1]


@given(st.lists(numbers, unique=True, max_size=12), st.lists(numbers, max_size=20))
def test_integers_are_found_as_in_a_dictionary(keys, values) -> None:
    expected = [keys.index(each) if each in keys else -1 for each in values]
    places = Places(keys)
    assert places.codes(np.array(values, dtype=np.int64)).tolist() == expected
    assert places.codes(list(values)).tolist() == expected


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "u1", "u2", "u4", "u8", "?"])
def test_every_type_of_integers(kind) -> None:
    values = np.array([0, 1, 1, 0], dtype=kind)
    assert Places([1, 0]).codes(values).tolist() == [1, 0, 0, 1]
    assert Places([True, "0"]).codes(values).tolist() == [-1, 0, 0, -1]
    if kind == "u8":
        assert Places([1]).codes(np.array([2**64 - 1, 1], dtype=kind)).tolist() == [-1, 0]


@pytest.mark.parametrize("keys", [[3, -2], [3, -2, 10**12], [3.0, Decimal(-2)], [np.int8(3), -2.0]])
def test_floats_are_found_by_their_value(keys) -> None:
    values = np.array([3.0, -2.0, 2.5, np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), -0.0])
    assert Places(keys).codes(values).tolist() == [0, 1, *[-1] * 7]
    assert Places([0, *keys]).codes(values).tolist() == [1, 2, *[-1] * 6, 0]


def test_keys_with_fractions_and_masked_labels() -> None:
    assert Places([2.5, 1]).codes(np.array([2.5, 1.0, 2.0])).tolist() == [0, 1, -1]
    masked = np.ma.masked_array([1, 2, 1], [False, False, True])
    assert Places([2, 1]).codes(masked).tolist() == [1, 0, -1]
    assert Places(["1"]).codes(np.array([1])).tolist() == [-1]
