"""Records of persons: the same from every engine, and a person's share is bounded and exact."""

import copy
import datetime as dt
import itertools
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import modicum as mo
from modicum.errors import CopyRefused
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.sources import persons as module
from modicum.sources.base import StreamSource, TableBatch
from modicum.sources.labels import Datetimes, Dictionary, Encoded
from modicum.sources.opening import open_source
from modicum.sources.persons import (
    PersonTotals,
    SampledRows,
    SmallestRows,
    TableReader,
    check_unit,
    records_on,
)
from modicum.sources.reader import read
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.sums import Count
from modicum.summaries.tails import Tails
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.reference.people import by_person, combined, first_rows
from tests.sources.engines.makers import RANDOM_ACCESS, TABLES

LATTICE = Lattice.within((-8, 8), step=1)
WIDE = Lattice.within((-1e9, 1e9))
RULES = {
    "first two": mo.unit_of("id", max_rows=2, order_by="t"),
    "first one": mo.unit_of("id", max_rows=1, order_by="t"),
    "mean": mo.unit_of("id", combine="mean"),
    "sum": mo.unit_of("id", combine="sum"),
}


class Rows(StreamSource):
    """A table of persons, times and values as lists, in batches of three rows."""

    def __init__(self, rows) -> None:
        super().__init__("rows", ["id", "t", "x"])
        self.rows = list(rows)
        self.passes = 0

    def _batches(self, columns, labels):
        self.passes += 1
        places = {"id": 0, "t": 1, "x": 2}
        for start in range(0, len(self.rows), 3):
            part = self.rows[start : start + 3]
            yield TableBatch(
                [np.array([row[places[c]] for row in part], dtype=float) for c in columns],
                [[row[places[name]] for row in part] for name in labels],
            )

    def _count(self) -> int:
        return len(self.rows)


def records(source, unit, lattice=LATTICE, entropy=SYSTEM) -> list[int]:
    """Lattice integers of the records, sorted."""
    reader = TableReader(open_source(source), unit, ["x"])
    (tails,) = reader.read([Read("x", lattice, Tails(10_000))], entropy)
    return sorted([*tails.low.tolist(), *tails.high.tolist()])


def expected(rows, unit, lattice=LATTICE) -> list[int]:
    if unit.combine is not None:
        return combined(rows, lattice, unit.combine)
    kept = first_rows(rows, unit.rows)
    return sorted(lattice.quantise(np.array(kept, dtype=float)).tolist())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rule", RULES)
def test_one_person_changes_few_records_whatever_the_order_of_rows(rule) -> None:
    """All tables of up to three rows; every order of them; every person present or absent."""
    unit = RULES[rule]
    kinds = list(itertools.product("ab", (0.0, None), (1.0, 5.0, None)))
    most = 0
    for size in range(4):
        for rows in itertools.combinations_with_replacement(kinds, size):
            whole = records(Rows(rows), unit)
            assert whole == expected(rows, unit)
            for order in list(itertools.permutations(rows))[1:]:
                assert records(Rows(order), unit) == whole
            for person in {row[0] for row in rows}:
                rest = records(Rows(row for row in rows if row[0] != person), unit)
                assert not Counter(rest) - Counter(whole)
                most = max(most, len(whole) - len(rest))
    assert most == unit.rows


values = st.sampled_from([None, 0.0, 1.0, -1e9, 1e9, 0.5, float("inf"), float("nan")])
tables = st.lists(st.tuples(st.sampled_from([None, "a", "b", "c", 7]), values, values), max_size=25)


@given(rows=tables, rule=st.sampled_from(sorted(RULES)), wide=st.booleans(), seed=st.integers(0))
def test_records_are_those_of_plain_python(rows, rule, wide, seed) -> None:
    unit, lattice = RULES[rule], WIDE if wide else LATTICE
    order = np.random.default_rng(seed).permutation(len(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LEAST", 4)
        assert records(Rows(rows), unit, lattice) == expected(rows, unit, lattice)
        assert records(Rows(rows[i] for i in order), unit, lattice) == expected(rows, unit, lattice)


def people_table(rows: int = 500) -> tuple[pa.Table, list]:
    rng = np.random.default_rng(3)
    ids = [None if i == 0 else int(i) for i in rng.integers(0, 60, rows)]
    start = dt.datetime(2024, 1, 1)  # noqa: DTZ001
    hours = [None if h == 0 else int(h) for h in rng.integers(0, 20, rows)]
    x = [None if v < -2 else float(v) for v in np.round(rng.normal(0, 1, rows), 2)]
    table = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array([None if i is None else f"person {i}" for i in ids]),
            "when": pa.array([h and start + dt.timedelta(hours=h) for h in hours]),
            "t": pa.array(hours, pa.int32()),
            "x": pa.array(x, pa.float64()),
        }
    )
    return table, list(zip(ids, hours, x, strict=True))


UNITS = {
    "by moment": mo.unit_of("id", max_rows=3, order_by="when"),
    "by number": mo.unit_of("name", max_rows=3, order_by="t"),
    "mean": mo.unit_of("id", combine="mean"),
    "sum": mo.unit_of("name", combine="sum"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.parametrize("name", UNITS)
def test_all_engines_give_the_same_integers(engine, name, tmp_path) -> None:
    table, rows = people_table()
    source = open_source(TABLES[engine](pa.concat_tables([table[:77], table[77:]]), tmp_path))
    unit = UNITS[name]
    check_unit(source, unit)
    assert records(source, unit, WIDE) == expected(rows, unit, WIDE)
    (rows_counted, values_counted) = TableReader(source, unit, ["x", None]).read(
        [Read(None, None, Count()), Read("x", None, Count())], SYSTEM
    )
    groups = by_person(rows)
    if unit.combine is None:
        assert rows_counted.count == sum(min(len(group), 3) for group in groups)
    else:
        assert rows_counted.count == len(groups)
        assert values_counted.count == len(expected(rows, unit, WIDE))


@pytest.mark.parametrize("polars", [True, False])
def test_a_csv_file_is_ordered_by_numbers(tmp_path, polars) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,t,x\na,10,1\na,9,2\na,x,3\n,1,4\nb,,5\nb,7,6\nc,1,\n")
    unit = mo.unit_of("id", max_rows=1, order_by="t")
    with pytest.MonkeyPatch.context() as patch:
        if not polars:
            patch.setattr("modicum.sources.formats.csv.find_spec", lambda _: None)
        assert records(path, unit) == [2, 6]


def test_a_random_choice_is_uniform_and_the_test_would_see_a_bias() -> None:
    """Six rows, of which two are kept: each of the 15 pairs is as likely."""
    rows = [("a", None, float(x)) for x in range(1, 7)]
    source = Rows([*rows[:4], ("b", None, 8.0), *rows[4:], ("b", None, 8.0)])
    unit = mo.unit_of("id", max_rows=2)
    pairs = {1 << a | 1 << b: 1 / 15 for a, b in itertools.combinations(range(1, 7), 2)}

    class Coarse(SeededEntropy):
        """Tags of two bits: of rows with equal tags, the lowest is kept."""

        def words(self, count):
            return super().words(count) >> np.uint64(62)

    def chosen(entropy) -> list[int]:
        found = [records(source, unit, entropy=entropy)[:2] for _ in range(1500)]
        return [1 << a | 1 << b for a, b in found]

    assert p_value(chosen(SeededEntropy("choice")), pairs) > ACCEPT
    assert p_value(chosen(Coarse("choice")), pairs) < REJECT


def test_the_choices_of_two_persons_are_independent() -> None:
    unit = mo.unit_of("id", max_rows=1)
    source = Rows([*(("a", None, x) for x in (0.0, 1, 2)), *(("b", None, x) for x in (3.0, 4, 5))])
    entropy = SeededEntropy("two")
    found = [records(source, unit, entropy=entropy) for _ in range(1500)]
    mechanism = {3 * a + b: 1 / 9 for a in range(3) for b in range(3)}
    assert p_value([3 * a + b - 3 for a, b in found], mechanism) > ACCEPT


def test_a_choice_holds_for_all_passes_and_columns_of_a_run() -> None:
    x = np.arange(1000.0)
    frame = pl.DataFrame({"id": [i // 20 for i in range(1000)], "x": x, "y": -x})
    unit = mo.unit_of("id", max_rows=3)
    reader = TableReader(open_source(frame), unit, ["x", "y"])
    reads = [Read(each, WIDE, Tails(1000)) for each in "xy"]
    (one, other), (again, _) = (reader.read(reads, SYSTEM) for _ in range(2))
    assert one == again
    assert one.count == 150
    assert one.low.tolist() == sorted((-other.low).tolist())
    assert one != TableReader(open_source(frame), unit, ["x", "y"]).read(reads, SYSTEM)[0]


@pytest.mark.parametrize("unit", [mo.unit_of("id", max_rows=2), RULES["mean"]], ids=str)
def test_the_table_is_read_once(unit) -> None:
    source = Rows([(str(i % 50), None, float(i % 7)) for i in range(400)])
    curator = mo.Curator(source, unit=unit, budget=mo.pure(10), entropy=SeededEntropy(1))
    curator.release(
        mean=mo.query.mean("x", within=(-8, 8), epsilon=2),
        rows=mo.query.count(epsilon=1),
        times=mo.query.count("t", epsilon=1),
    )
    assert source.passes == 1


def test_releases_are_about_persons() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": rng.integers(0, 5000, 40_000), "x": 1.0})
    frame.loc[frame["id"] == 7, "x"] = 1e6
    budget = mo.pure(100)
    curator = mo.Curator(frame, unit=mo.unit_of("id", combine="mean"), budget=budget)
    persons = frame["id"].nunique()
    assert float(curator.count(epsilon=10)) == pytest.approx(persons, abs=5)
    assert curator.count(epsilon=10).transcript[0].event.epsilon == 10
    sums = mo.sum(frame, "x", within=(0, 4), epsilon=10, unit=mo.unit_of("id", combine="sum"))
    per_person = frame.groupby("id")["x"].sum().clip(0, 4).sum()
    assert float(sums) == pytest.approx(per_person, abs=20)
    few = mo.unit_of("id", max_rows=5)
    bounded = mo.count(frame, epsilon=10, unit=few)
    kept = frame.groupby("id").size().clip(upper=5).sum()
    assert float(bounded) == pytest.approx(kept, abs=20)
    assert sum(entry.event.epsilon for entry in bounded.transcript) == 2
    assert "for one person (id) with at most 5 rows each, at random" in str(bounded)


@pytest.mark.parametrize("unit", [*RULES.values(), mo.unit_of("id", max_rows=2)], ids=str)
def test_a_table_without_rows_or_persons(unit) -> None:
    for rows in ([], [(None, 1.0, 2.0)], [(None, 1.0, 2.0)] * 5):
        assert records(Rows(rows), unit) == []
        curator = mo.Curator(Rows(rows), unit=unit, budget=mo.pure(100))
        assert float(curator.count(epsilon=50)) == 0


def test_what_cannot_tell_persons_is_refused_by_the_schema(tmp_path) -> None:
    frame = pl.DataFrame({"id": [1], "l": [[1]], "s": ["secret"], "x": [1.0]})
    refused = [
        (frame, mo.unit_of("who", max_rows=1), mo.MissingColumn, "no column 'who'"),
        (frame, mo.unit_of("l", combine="sum"), mo.UnsupportedData, "cannot hold labels"),
        (
            frame,
            mo.unit_of("id", max_rows=1, order_by="s"),
            mo.UnsupportedData,
            "cannot be ordered",
        ),
        (frame, mo.unit_of("id", max_rows=1, order_by="t"), mo.MissingColumn, "no column 't'"),
        ([1.0], mo.unit_of("id", max_rows=1), mo.InvalidArgument, "pass a table"),
        (frame["x"], mo.unit_of("id", max_rows=1), mo.InvalidArgument, "pass a table"),
    ]
    for table, unit, error, text in refused:
        with pytest.raises(error, match=text) as caught:
            mo.Curator(table, unit=unit, budget=mo.pure(1))
        assert "secret" not in str(caught.value)
        with pytest.raises(error, match=text):
            mo.count(table, epsilon=1, unit=unit)
    for unit in (mo.unit_of("id", max_rows=1), RULES["sum"]):
        with pytest.raises(mo.InvalidArgument, match="a table needs one"):
            mo.mean(frame, within=(0, 1), epsilon=1, unit=unit)
        with pytest.raises(mo.UnsupportedData, match="not as numbers"):
            mo.sum(frame, "s", within=(0, 1), epsilon=1, unit=unit)


def test_readers_show_and_give_away_nothing() -> None:
    source = Rows([("secret", 1.0, 2.0)])
    for unit in (mo.unit_of("id", max_rows=1), RULES["sum"], mo.unit_of(rows=1)):
        reader = TableReader(source, unit, ["x"])
        reader.read([Read("x", LATTICE, Count())], SYSTEM)
        assert repr(reader) == f"{type(reader).__name__}()"
        for leak in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(mo.ModicumError):
                leak(reader)


def test_moments_keep_their_order() -> None:
    far = 2**62
    for unit in ("D", "s", "ms", "us", "ns"):
        times = np.array([-far, -1001, -1, 0, 1, 1001, far], np.int64).view(f"M8[{unit}]")
        codes = Datetimes().codes(times)
        assert (np.diff(codes) >= 0).all()
        assert codes[3] == 0
        moments = np.append(times, np.datetime64("NaT"))
        assert Datetimes().codes(moments)[-1] == 2**63 - 1 > codes[-1]
    days = np.array(["2020-01-01", "1960-01-01"], "M8[D]")
    same = [Datetimes().codes(days.astype(f"M8[{unit}]")).tolist() for unit in ("s", "us", "ns")]
    assert same == [Datetimes().codes(days).tolist()] * 3
    encoded = Encoded(np.array([1, -1, 0], np.int8), days)
    assert Datetimes().codes(encoded).tolist() == [same[0][1], 2**63 - 1, same[0][0]]


@pytest.mark.parametrize("engine", RANDOM_ACCESS)
def test_a_bounded_view_can_be_subsampled(engine, tmp_path) -> None:
    table, _ = people_table(2000)
    source = RANDOM_ACCESS[engine](table, tmp_path)
    release = mo.mean(
        source, "x", within=(-1e9, 1e9), epsilon=40, unit=mo.unit_of("id", max_rows=20)
    )
    assert abs(release.value) < 1
    assert release.engine == open_source(source).engine


def test_a_view_is_like_an_array_of_its_records() -> None:
    table, rows = people_table()
    unit = UNITS["by number"]
    reads = [Read("x", WIDE, Tails(7)), Read("x", None, Count())]
    got = TableReader(open_source(table), unit, ["x"]).read(reads, SYSTEM)
    plain = np.array(first_rows(rows, 3), dtype=float)
    assert got == read(open_source(pl.DataFrame({"x": plain})), reads, SYSTEM)


NAN = float("nan")
owners = st.integers(-1, 3)
numbers = st.sampled_from([0.0, 1.0, 2.0, -1.0, float("inf"), -float("inf"), NAN])
rows_of_persons = st.lists(st.tuples(owners, numbers, numbers, numbers), max_size=30)


def smallest(rows, m, keys, cuts=()) -> list[tuple[float, ...]]:
    held = SmallestRows(m)
    for part in np.split(np.arange(len(rows)), sorted(cut % (len(rows) + 1) for cut in cuts)):
        codes = np.array([rows[i][0] for i in part], dtype=np.int64)
        columns = [np.array([rows[i][k] for i in part], dtype=float) for k in range(1, keys + 1)]
        held.add(codes, columns)
    return sorted(zip(*(column.tolist() for column in held.kept()), strict=True), key=_place)


def _place(keys: tuple[float, ...]) -> list[tuple[bool, float]]:
    return [(key != key, 0.0 if key != key else key) for key in keys]


def plain(rows, m, keys) -> list[tuple[float, ...]]:
    kept = []
    for person in range(4):
        mine = [row[1 : keys + 1] for row in rows if row[0] == person]
        kept += sorted(mine, key=_place)[:m]
    return sorted(kept, key=_place)


@given(
    rows=rows_of_persons,
    m=st.integers(1, 4),
    keys=st.integers(1, 3),
    cuts=st.lists(st.integers(0, 30), max_size=4),
    seed=st.integers(0, 2**32 - 1),
    least=st.sampled_from([1, 5, 1 << 18]),
)
def test_the_kept_rows_are_those_of_plain_python(rows, m, keys, cuts, seed, least) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LEAST", least)
        got = smallest(rows, m, keys, cuts)
        shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
        again = smallest(shuffled, m, keys, cuts[1:])
    expected = plain(rows, m, keys)
    np.testing.assert_equal(got, expected)
    np.testing.assert_equal(again, expected)


def test_words_of_64_bits_are_compared_as_such() -> None:
    held = SmallestRows(1)
    tags = np.array([2**64 - 1, 2**63, 2**63 - 1], np.uint64)
    held.add(np.zeros(3, np.int64), [tags, np.arange(3.0)])
    assert held.kept()[1].tolist() == [2.0]


def test_little_more_than_the_kept_rows_is_held(monkeypatch) -> None:
    monkeypatch.setattr(module, "_LEAST", 64)
    held = SmallestRows(2)
    rng = np.random.default_rng(0)
    for _ in range(200):
        held.add(rng.integers(0, 10, 50), [rng.random(50)])
        assert held._rows <= 64 + 50
    assert len(held.kept()[0]) == 20


def test_nothing_is_kept_of_nothing() -> None:
    assert SmallestRows(3).kept() == []
    held = SmallestRows(3)
    held.add(np.array([-1]), [np.array([1.0])])
    assert [column.tolist() for column in held.kept()] == [[]]


def test_rows_show_and_give_away_nothing() -> None:
    held = SmallestRows(2)
    held.add(np.zeros(1, np.int64), [np.array([123.0])])
    assert repr(held) == "SmallestRows()"
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(CopyRefused):
            leak(held)


LATTICES = [
    Lattice.within((-8, 8), step=1),
    Lattice.within((-1e9, 1e9)),
    Lattice.within((-1e300, 1e300)),
    Lattice.within((4.5, 12.25), step=0.5),
    Lattice.within((0.3, 0.7), step=0.25),
]
NASTY = [0.0, -0.0, 1.5, -1.5, 1e9, -1e9, 1e300, float("inf"), -float("inf"), float("nan"), 5e-324]
numbers_of_persons = st.one_of(st.sampled_from(NASTY), st.floats(-1e12, 1e12))
values_of_persons = st.lists(st.tuples(st.integers(-1, 4), numbers_of_persons), max_size=40)


@given(rows=values_of_persons, lattice=st.sampled_from(LATTICES), cut=st.integers(0, 40))
@pytest.mark.parametrize("rule", ["mean", "sum"])
def test_totals_are_those_of_plain_python(rule, rows, lattice, cut) -> None:
    totals = PersonTotals(lattice)
    codes = np.array([code for code, _ in rows], dtype=np.int64)
    x = np.array([value for _, value in rows])
    for part in (slice(cut), slice(cut, None)):
        totals.add(codes[part], x[part])
    records = totals.records(RecordRule(rule), 5)
    assert len(records) == 5
    plain = [(None if code < 0 else code, None, value) for code, value in rows]
    # On the way to a summary a record is rounded again, which changes nothing.
    assert sorted(lattice.quantise(records).tolist()) == combined(plain, lattice, rule)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_person_with_millions_of_rows_at_the_end_of_the_range(sign) -> None:
    """The sum, 2^21 · 2^51, is beyond int64."""
    lattice = Lattice.within((-(2.0**51), 2.0**51))
    assert lattice.last == 2**51
    totals = PersonTotals(lattice)
    for _ in range(32):
        totals.add(np.zeros(1 << 16, np.int64), np.full(1 << 16, sign * 2.0**51))
    totals.add(np.array([0, 1]), np.array([0.0, 1.0]))
    n = 2**21
    mean = (sign * n * 2**51) // (n + 1)
    assert totals.records(RecordRule("mean"), 2).tolist() == [mean, 1]
    assert totals.records(RecordRule("sum"), 2).tolist() == [sign * 2.0**51, 1]


def test_without_a_lattice_only_presence_counts() -> None:
    totals = PersonTotals(None)
    totals.add(np.array([0, 2, 2, -1]), np.array([float("inf"), float("nan"), 5.0, 1.0]))
    np.testing.assert_equal(totals.records(RecordRule("mean"), 4), [0.0, np.nan, 0.0, np.nan])
    assert PersonTotals(LATTICES[0]).records(RecordRule("sum"), 0).tolist() == []


def test_totals_show_and_give_away_nothing() -> None:
    totals = PersonTotals(LATTICES[0])
    totals.add(np.array([0]), np.array([7.0]))
    assert repr(totals) == "PersonTotals()"
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(CopyRefused):
            leak(totals)


def test_no_more_rows_of_a_person_are_kept_by_a_key_than_agreed() -> None:
    persons = Dictionary()
    codes = persons.codes(["a"] * 9 + ["b"] * 2 + ["c"] * 3)
    for key in range(20):
        rows = SampledRows(3, key, persons)
        rows.add(codes, [np.arange(14.0)])
        owners, values = rows.kept()
        assert np.bincount(owners).tolist() == [3, 2, 3]
        assert len(set(values)) == 8


@pytest.mark.parametrize("combine", ["mean", "sum"])
def test_sizes_of_persons_bound_what_they_are_combined_to(combine) -> None:
    """The least bound in octaves for the largest values of these numbers, in any order of rows."""
    rng = np.random.default_rng(3)
    codes = rng.integers(-1, 50, 400)
    x = rng.choice([-1, 1], 400) * np.exp2(rng.uniform(-40, 40, 400))
    x[rng.random(400) < 0.1], x[rng.random(400) < 0.1] = np.nan, 0.0
    sizes = records_on(OCTAVES)
    for part in np.array_split(rng.permutation(400), 7):
        sizes.add(codes[part], x[part])
    found = sizes.records(RecordRule(combine), 52)
    for person in range(52):
        values = x[(codes == person) & ~np.isnan(x)]
        if not len(values):
            assert np.isnan(found[person])
            continue
        largest, m = np.abs(values).max(), len(values) if combine == "sum" else 1
        octave = OCTAVES.quantise(np.array([largest]))[0]
        expected = octave + (m - 1).bit_length() * (largest > 0)
        assert OCTAVES.quantise(found[[person]])[0] == expected
        total = abs(getattr(values, combine)())
        assert total == 0 or total < OCTAVES.value(expected)


def test_a_huge_sum_of_a_person_is_in_the_last_octave() -> None:
    sizes = records_on(OCTAVES)
    sizes.add(np.zeros(5, dtype=np.int64), np.array([1e308, np.inf, 1.0, -1e308, 0.0]))
    assert OCTAVES.quantise(sizes.records(RecordRule("sum"), 1)).tolist() == [OCTAVES.last]


@pytest.mark.parametrize("how", [{"combine": "sum"}, {"combine": "mean"}, {"max_rows": 2}], ids=str)
def test_the_range_of_persons_is_found(how) -> None:
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"who": rng.integers(0, 8000, 20_000), "x": rng.lognormal(-30, 1, 20_000)})
    each = pl.col("x").sum() if how.get("combine") == "sum" else pl.col("x").mean()
    truth = table.group_by("who").agg(each)["x"].mean()
    found = mo.mean(table, "x", epsilon=4, unit=mo.unit_of("who", **how))
    assert found.usable
    assert found.value == pytest.approx(truth, rel=0.1)
