"""Persons, groups and quantiles where rows stay where they are: the integers of a local table.

In parts within this process everywhere; in Spark, Dask and Ibis where they are installed.
"""

import datetime as dt
import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.errors import SourceError
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit
from modicum.sources import groups
from modicum.sources.cluster.jobs import Job, KeyCounts, Known
from modicum.sources.groups import GroupReader, count_keys, reader_of_groups, reader_of_sizes
from modicum.sources.labels import Dictionary
from modicum.sources.opening import open_source
from modicum.sources.persons import SampledRows, TableReader, check_unit
from modicum.sources.reader import read
from modicum.summaries import brackets, subsample
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.brackets import Bracket, BracketSummary
from modicum.summaries.order_statistics import RankWindow, TrimPoints
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.reference.summaries import integers
from tests.sources.cluster.remote import REMOTE
from tests.sources.cluster.test_distributed import Cluster
from tests.sources.test_persons import UNITS, expected, people_table, records
from tests.summaries.test_records import Column
from tests.summaries.test_window import HARD, found, twin
from tests.summaries.test_windows import ASKED, agrees

LATTICE = Lattice.within((-8, 8), step=1)
WIDE = Lattice.within((-1e9, 1e9))


def in_parts(table: pa.Table, _: Path | None = None) -> Cluster:
    cuts = [0, len(table) // 3, len(table) // 3, len(table)]
    return Cluster([table[a:b] for a, b in itertools.pairwise(cuts)], 1)


MAKERS = {"parts": in_parts, **REMOTE}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return lambda table: open_source(MAKERS[request.param](table, tmp_path))


# Persons


@pytest.mark.parametrize("name", UNITS)
def test_persons_have_the_records_of_a_local_table(make: Any, name: str) -> None:
    table, rows = people_table()
    source, unit = make(table), UNITS[name]
    check_unit(source, unit)
    assert records(source, unit, WIDE) == expected(rows, unit, WIDE)
    reads = [Read(None, None, Count()), Read("x", None, Count()), Read("name", None, Count())]
    columns = ["x", "name", None]
    got = TableReader(source, unit, columns).read(reads, SYSTEM)
    assert got == TableReader(open_source(table), unit, columns).read(reads, SYSTEM)


LABELS = {
    "zeros": pa.array([0.0, -0.0, 0.0, -0.0, math.nan, None] * 4),
    "decimals": pa.array([Decimal("1.50"), Decimal("2.00"), None] * 8, pa.decimal128(9, 2)),
    "text": pa.array(["é", "e", "", None, "É", " e"] * 4),
    "moments": pa.array([dt.datetime(2024, 1, d) for d in (1, 2, 3)] * 8, pa.timestamp("us")),  # noqa: DTZ001
    "days": pa.array([dt.date(2024, 1, 1), None, dt.date(1960, 1, 1)] * 8),
    "flags": pa.array([True, False] * 12),
    "int8": pa.array([-1, 1, 0] * 8, pa.int8()),
}


@pytest.mark.parametrize("name", LABELS)
def test_equal_labels_are_one_person_and_one_group(make: Any, name: str) -> None:
    """Above all 0.0 and -0.0, which hashes tell apart."""
    table = pa.table({"id": LABELS[name], "x": np.arange(24.0)})
    source = make(table)
    declared = source._declared("id")
    if name in {"decimals", "days"} and source.engine == "dask" and "pyarrow" not in declared:
        pytest.skip("pandas makes objects of these, and Dask texts of objects")
    unit = mo.unit_of("id", max_rows=2, order_by="x")
    reads = [Read("x", WIDE, Tails(50)), Read(None, None, Count())]
    got = TableReader(source, unit, ["x"]).read(reads, SYSTEM)
    assert got == TableReader(open_source(table), unit, ["x"]).read(reads, SYSTEM)
    one = mo.unit_of("id", combine="sum")
    assert TableReader(source, one, []).read(reads, SYSTEM)[0].low.tolist() == (
        TableReader(open_source(table), one, []).read(reads, SYSTEM)[0].low.tolist()
    )
    grouped = count_keys(source, Unit(), "id", SYSTEM)
    assert grouped == count_keys(open_source(table), Unit(), "id", SYSTEM)
    keys = [*grouped, "never"]
    pairs = [(i, ask) for i in range(len(keys)) for ask in reads]
    read_apart = [
        GroupReader(each, Unit(), "id", keys, ["x"]).read(pairs, SYSTEM)
        for each in (source, open_source(table))
    ]
    assert read_apart[0] == read_apart[1]


def test_a_random_choice_holds_for_all_jobs_of_a_run(make: Any) -> None:
    x = np.arange(1000.0)
    table = pa.table({"id": [i // 20 for i in range(1000)], "x": x, "y": -x})
    source, unit = make(table), mo.unit_of("id", max_rows=3)
    reader = TableReader(source, unit, ["x", "y"])
    reads = [Read(each, WIDE, Tails(1000)) for each in "xy"]
    one, other = reader.read(reads, SYSTEM)
    (again,) = reader.read(reads[:1], SYSTEM)
    assert one == again
    assert one.low.tolist() == sorted((-other.low).tolist())
    kept = Counter((one.low * WIDE.step).astype(int) // 20)
    assert set(kept.values()) == {3}
    assert len(kept) == 50
    assert one != TableReader(source, unit, ["x", "y"]).read(reads, SYSTEM)[0]


def chosen_pairs(rows: list[tuple[str, float]], entropy: SeededEntropy, times: int) -> list[int]:
    table = pa.table({"id": [r[0] for r in rows], "x": [r[1] for r in rows]})
    source = Cluster([table[:3], table[3:]])
    unit = mo.unit_of("id", max_rows=2)
    drawn = []
    for _ in range(times):
        q = [v for v in records(source, unit, entropy=entropy) if v < 7]
        drawn.append(sum(1 << v for v in q))
    return drawn


@pytest.mark.slow
def test_a_random_choice_is_uniform_and_the_test_would_see_a_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of six rows two are kept, whatever another person's rows: each pair is as likely."""
    rows = [*(("a", float(x)) for x in range(1, 7)), ("b", 7.0), ("b", 7.0)]
    pairs = {1 << a | 1 << b: 1 / 15 for a, b in itertools.combinations(range(1, 7), 2)}
    drawn = chosen_pairs(rows, SeededEntropy("pairs"), 1500)
    assert p_value(drawn, pairs) > ACCEPT
    tags = SampledRows._tags
    monkeypatch.setattr(SampledRows, "_tags", lambda *a: tags(*a) >> np.uint64(62))
    assert p_value(chosen_pairs(rows, SeededEntropy("pairs"), 1500), pairs) < REJECT


def test_equal_rows_are_as_likely_as_different_ones() -> None:
    """Two of 1, 1, 1, 2: no 2 among them half the time."""
    rows = [("a", 1.0), ("a", 2.0), ("a", 1.0), ("a", 1.0)]
    entropy = SeededEntropy("equal")
    table = pa.table({"id": [r[0] for r in rows], "x": [r[1] for r in rows]})
    unit = mo.unit_of("id", max_rows=2)
    drawn = [records(Cluster([table]), unit, entropy=entropy).count(2) for _ in range(400)]
    assert p_value(drawn, {0: 0.5, 1: 0.5}) > ACCEPT


def test_persons_choices_are_independent() -> None:
    entropy, drawn = SeededEntropy("two"), []
    table = pa.table({"id": ["a"] * 3 + ["b"] * 3, "x": [0.0, 1, 2, 3, 4, 5]})
    for _ in range(500):
        a, b = records(Cluster([table]), mo.unit_of("id", max_rows=1), entropy=entropy)
        drawn.append(3 * a + b - 3)
    assert p_value(drawn, dict.fromkeys(range(9), 1 / 9)) > ACCEPT


def test_what_is_kept_depends_on_a_persons_rows_alone() -> None:
    """For a key: all tables of up to three rows in all orders, each person there or not."""
    unit, most = mo.unit_of("id", max_rows=1), 0

    def kept(rows: list[tuple[str, float]]) -> list[int]:
        table = pa.table({"id": pa.array([r[0] for r in rows], pa.string())})
        table = table.append_column("x", pa.array([r[1] for r in rows], pa.float64()))
        return records(Cluster([table]), unit, entropy=SeededEntropy("fixed"))

    kinds = list(itertools.product("ab", (1.0, 2.0, None)))
    for size in range(4):
        for rows in itertools.combinations_with_replacement(kinds, size):
            whole = kept(list(rows))
            assert all(kept(list(order)) == whole for order in itertools.permutations(rows))
            for person in {row[0] for row in rows}:
                rest = kept([row for row in rows if row[0] != person])
                assert not Counter(rest) - Counter(whole)
                most = max(most, len(whole) - len(rest))
    assert most == 1


def test_keys_are_secret_and_fresh() -> None:
    table, _ = people_table()
    source = in_parts(table)
    for _ in range(2):
        mo.count(source, epsilon=1, unit=mo.unit_of("id", max_rows=1))
    first, second = (job.scope.key for job in source.jobs)
    assert first != second
    assert str(first) not in repr(source.jobs[0])
    mo.count(source, epsilon=1, unit=mo.unit_of("id", max_rows=1, order_by="t"))
    assert source.jobs[-1].scope.key is None


# Groups

KEYS = ["b", "never", "a", "é"]
SIZE = 900
RNG = np.random.default_rng(3)
GROUPED = pa.table(
    {
        "g": pa.array(RNG.choice(["a", "b", "é", "other", None], SIZE), pa.string()),
        "x": np.where(RNG.random(SIZE) < 0.1, np.nan, RNG.normal(0, 1e5, SIZE)),
        "y": np.arange(float(SIZE)),
        "who": np.arange(SIZE) % 40,
    }
)
ASKS = [
    Read("x", WIDE, Tails(20)),
    Read("x", WIDE, Tails(5000)),
    Read("x", WIDE, ClippedSum(-1000, 10**7)),
    Read("x", None, Count()),
    Read("x", WIDE, RankWindow(Fraction(1, 3), 4)),
    Read("x", WIDE, TrimPoints(Fraction(1, 5), 4)),
    Read(None, None, Count()),
]
GROUP_UNITS = [
    Unit(),
    mo.unit_of("who", max_rows=7, order_by="y"),
    mo.unit_of("who", combine="sum").in_groups(99),
]


@pytest.mark.parametrize("unit", GROUP_UNITS, ids=str)
@pytest.mark.parametrize("many", [False, True])
def test_groups_are_those_of_a_local_table(
    make: Any, unit: Unit, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than 64 questions are divided among the tasks that merge.
    keys = [*KEYS, *(f"no {i}" for i in range(70))] if many else KEYS
    pairs = [(group, ask) for group in range(len(keys)) for ask in ASKS[:: 4 if many else 1]]
    source = make(GROUPED)
    got, local = (
        reader_of_groups(each, unit, "g", keys, ["x"]).read(pairs, SYSTEM)
        for each in (source, open_source(GROUPED))
    )
    assert got == local
    assert count_keys(source, unit, "g", SYSTEM) == count_keys(
        open_source(GROUPED), unit, "g", SYSTEM
    )


@pytest.mark.parametrize(
    "rule",
    [
        RecordRule("mean"),
        RecordRule("sum", lattice=WIDE, centre=17),
        RecordRule("count", lattice=WIDE),
        RecordRule("count"),
    ],
    ids=str,
)
def test_records_of_all_rows_are_those_of_a_local_table(make: Any, rule: RecordRule) -> None:
    unit, ask = mo.unit_of("who"), Read("x", WIDE, Tails(5000), rule=rule)
    source, local = make(GROUPED), open_source(GROUPED)
    readers = [TableReader(each, unit, ["x"]) for each in (source, local)]
    assert readers[0].read([ask], SYSTEM) == readers[1].read([ask], SYSTEM)
    pairs = [(group, ask) for group in range(len(KEYS))]
    got, expected = (
        reader_of_groups(each, unit.in_groups(99), "g", KEYS, ["x"]).read(pairs, SYSTEM)
        for each in (source, local)
    )
    assert got == expected
    sizes = Read(None, WIDE, Tails(5000), rule=RecordRule("groups"))
    got, expected = (
        reader_of_sizes(each, unit, "g", KEYS).read([(0, sizes)], SYSTEM)
        for each in (source, local)
    )
    assert got == expected


def test_persons_with_all_their_rows_are_answered(make: Any) -> None:
    budget = mo.approx(10**6, "0.1")
    curator = mo.Curator(make(GROUPED), budget=budget, unit=mo.unit_of("who"))
    here = np.array([who is not None for who in GROUPED["who"].to_pylist()])
    x = np.array(GROUPED["x"].to_pylist(), dtype=float)[here]
    there = x[~np.isnan(x)]
    assert curator.count(epsilon=1000).value == pytest.approx(here.sum(), abs=1)
    assert curator.mean("x", epsilon=10_000).value == pytest.approx(there.mean(), rel=0.02, abs=1)
    assert curator.sum("x", epsilon=10_000).value == pytest.approx(there.sum(), rel=0.02)
    assert curator.median("x", epsilon=10_000).limit >= 1
    groups = curator.group_by("g", keys=KEYS).count(epsilon=10_000)
    assert sum(each.value for each in groups.values()) <= here.sum() + 5
    assert groups["never"].value <= 5
    drawn = curator.group_by("g", key_budget=mo.approx(1000, "1e-6"))
    assert set(KEYS) & set(drawn.keys)


def test_groups_of_a_person_are_chosen_once_for_all_jobs() -> None:
    unit = mo.unit_of("who", combine="mean").in_groups(1)
    reads = [(group, Read(None, None, Count())) for group in range(4)]
    here = [g in KEYS for g in GROUPED["g"].to_pylist()]
    persons = set(np.array(GROUPED["who"].to_pylist(), dtype=object)[here].tolist()) - {None}
    seen = set()
    for _ in range(3):
        reader = reader_of_groups(in_parts(GROUPED), unit, "g", KEYS, [None])
        first, again = (reader.read(reads, SYSTEM) for _ in range(2))
        assert first == again
        assert sum(each.count for each in first) == len(persons)
        seen.add(tuple(each.count for each in first))
    assert len(seen) > 1  # another run chooses anew


@pytest.mark.parametrize("few", [0, 64])
def test_subsamples_of_groups(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_FEW", few)
    monkeypatch.setattr(subsample, "FEW", 4)  # thinned from 32 records on
    reader = GroupReader(in_parts(GROUPED), Unit(), "g", KEYS, ["x"])
    entropy = SeededEntropy(1)
    handles = reader.read([(group, Read("x", WIDE, Records(2))) for group in range(4)], entropy)
    for key, handle in zip(KEYS, handles, strict=True):
        here = [g == key for g in GROUPED["g"].to_pylist()]
        q = np.sort(WIDE.quantise(np.array(GROUPED["x"])[here]))
        assert np.array_equal(np.sort(handle.all()), q)
        for k in (4, 1):
            kept = handle.thin(k, entropy)
            assert set(kept.tolist()) <= set(q.tolist())
            assert abs(len(kept) - len(q) / 2**k) <= 6 * np.sqrt(len(q) / 2**k) + 1


def test_a_curator_asks_by_group_and_by_person(make: Any) -> None:
    rng = np.random.default_rng(0)
    size = 20_000
    table = pa.table(
        {
            "firm": rng.choice(["a", "b"], size),
            "who": rng.integers(0, 5000, size),
            "wage": rng.normal(40, 3, size),
        }
    )
    source = make(table)
    curator = mo.Curator(source, budget=mo.approx(10, "1e-6"), unit=mo.unit_of("who", max_rows=4))
    grouped = curator.group_by("firm", key_budget=mo.approx(2, "1e-6"))
    assert grouped.keys == ("a", "b")
    both = grouped.release(
        mean=mo.query.mean("wage", within=(0, 1e6), epsilon=2),
        median=mo.query.median("wage", within=(0, 1e6), epsilon=2),
        trimmed=mo.query.trimmed_mean("wage", trim=0.2, within=(0, 1e6), epsilon=2),
    )
    for answers in both.values():
        assert all(abs(release.value - 40) < 3 for release in answers.values())
    assert abs(curator.median("wage", within=(0, 1e6), epsilon=1).value - 40) < 3
    assert curator.spent == mo.approx(9, "1e-6")
    per_person = mo.mean(
        source, "wage", within=(0, 1e6), epsilon=1, unit=mo.unit_of("who", combine="mean")
    )
    assert abs(per_person.value - 40) < 1


# Quantiles


@pytest.fixture
def few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of more than 300 records, and brackets of more than 50, are sampled by 64 to 128."""
    monkeypatch.setattr(brackets, "FIRST_JOB", 300)
    monkeypatch.setattr(brackets, "INSIDE", 50)
    monkeypatch.setattr(subsample, "FEW", 6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 1000), Fraction(93, 100)])
@pytest.mark.usefixtures("few_are_held")
def test_samples_lead_to_the_same_records(name: str, q: Fraction) -> None:
    lattice, reduction = Lattice.within((0.0, 1e9), step=1.0), RankWindow(q, 6)
    for seed, cuts in enumerate(([], [1, 700, 701], [100] * 2 + list(range(100, 3000, 100)))):
        source = Cluster(np.split(HARD[name], cuts), seed)
        (summary,) = read(source, [Read("x", lattice, reduction)], SeededEntropy(seed))
        assert found(summary) == twin(HARD[name], reduction, lattice)
        assert len(source.jobs) < 10


@pytest.mark.parametrize("name", HARD)
@pytest.mark.usefixtures("few_are_held")
def test_several_ranks_share_their_jobs(name: str) -> None:
    lattice = Lattice.within((0.0, 1e9), step=1.0)
    source = Cluster(np.split(HARD[name], [1, 700, 701]), 1)
    (summary,) = read(source, [Read("x", lattice, ASKED)], SeededEntropy(1))
    assert len(source.jobs) < 10
    ordered = integers(HARD[name], lattice)
    agrees(summary, ordered, [*ASKED.ranks(len(ordered)), (0, 5), (999, 1020)], lattice)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("trim", [Fraction(1, 10), Fraction(1, 1000), Fraction(49, 100)])
@pytest.mark.usefixtures("few_are_held")
def test_samples_lead_to_the_same_cuts_and_sum(name: str, trim: Fraction) -> None:
    lattice, reduction = Lattice.within((0.0, 1e9), step=1.0), TrimPoints(trim, 6)
    for seed, cuts in enumerate(([], [1, 700, 701], [100] * 2 + list(range(100, 3000, 100)))):
        source = Cluster(np.split(HARD[name], cuts), seed)
        (summary,) = read(source, [Read("x", lattice, reduction)], SeededEntropy(seed))
        holding_all = reduction.begin(lattice)
        holding_all.update(HARD[name])
        assert summary == holding_all.finish()
        assert len(source.jobs) < 10


@pytest.mark.parametrize("size", [0, 1, 1000, 400_000])
def test_the_records_around_a_rank(make: Any, size: int) -> None:
    x = np.random.default_rng(1).lognormal(3, 3, size)
    x[::9] = np.nan
    reads = [Read("x", WIDE, RankWindow(q, 50)) for q in (Fraction(1, 2), Fraction(99, 100))]
    got = read(make(pa.table({"x": x})), [*reads, Read("x", WIDE, Tails(5))], SYSTEM)
    assert got == read(open_source(pa.table({"x": x})), [*reads, Read("x", WIDE, Tails(5))], SYSTEM)


def test_a_long_column_takes_two_jobs_and_little_moves() -> None:
    x = np.random.default_rng(2).permutation(3_000_000) * 1.0
    source = Cluster(np.split(x, 6), 3)
    reduction = RankWindow(Fraction(1, 2), 1000)
    (summary,) = read(source, [Read("x", WIDE, reduction)], SeededEntropy(4))
    assert (summary.count, summary.below) == (3_000_000, 1_499_000)
    assert (summary.values * WIDE.step).tolist() == list(range(1_499_000, 1_501_001))
    assert len(source.jobs) == 2
    assert source.most < 1_100_000


def test_what_a_bracket_holds_can_be_merged_and_written() -> None:
    lattice = Lattice.within((0, 100), step=1)
    whole = np.random.default_rng(5).integers(0, 101, 500) * 1.0

    def bracketed(x: np.ndarray, most: int) -> BracketSummary:
        reading = Bracket(20, 60, most).begin(lattice, Column([], SYSTEM, fetch=False))
        reading.update(x)
        return reading.finish()

    both = bracketed(whole[:100], 1000).joined(bracketed(whole[100:], 1000), SYSTEM)
    both = BracketSummary.from_bytes(both.to_bytes())
    alone = bracketed(whole, 1000)
    assert both.count == alone.count == 500
    assert both.holds_all
    start, stop = both.below, both.count - both.above
    assert both.window(start, stop).tolist() == alone.window(start, stop).tolist()
    assert both.window(start, stop).tolist() == sorted(whole[(whole >= 20) & (whole <= 60)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsample, "FEW", 3)
        sampled = bracketed(whole[:100], 30).joined(bracketed(whole[100:], 30), SYSTEM)
    assert not sampled.holds_all
    assert (sampled.count, sampled.below) == (500, alone.below)
    assert repr(sampled) == "BracketSummary(lo=20, hi=60, most=30)"


# Failures


class Dying(Cluster):
    """Fails in its second job."""

    def _run(self, job: Job) -> list[Known]:
        known = super()._run(job)
        if len(self.jobs) > 1:
            raise ValueError("secret")
        return known


def test_a_failure_after_the_charge_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it, nothing is spent: a quantile's jobs all come before."""
    monkeypatch.setattr(brackets, "FIRST_JOB", 300)
    monkeypatch.setattr(subsample, "FEW", 6)
    x = np.random.default_rng(1).normal(40, 3, 5000)
    curator = mo.Curator(Dying([x[:2000], x[2000:]]), budget=mo.pure(1))
    with pytest.raises(SourceError, match=r"^the cluster data could not be read$") as caught:
        curator.median("x", within=(0, 100), epsilon=1)
    assert caught.value.__context__ is None
    assert curator.spent.amount == 0
    for unit in (Unit(), mo.unit_of("x", combine="mean")):
        curator = mo.Curator(Dying([x]), budget=mo.pure(1), unit=unit)
        monkeypatch.setattr(subsample, "kept_level", lambda _: 9)  # too few: asked again
        with pytest.raises(SourceError, match=r"^the cluster data could not be read$"):
            curator.mean("x", within=(-1e9, 1e9), epsilon=1)
        assert curator.spent == mo.pure(1)


def test_counts_of_labels_travel() -> None:
    keys = ["a", "", 5, -(2**70), 0.5, Decimal("1.25"), True, dt.date(2024, 1, 2)]
    keys += [dt.datetime(2024, 1, 2, 3, 4, 5, 6), "é\ud800", math.inf]  # noqa: DTZ001
    counts = KeyCounts({key: i for i, key in enumerate(keys)})
    again = KeyCounts.from_bytes(counts.to_bytes())
    assert again.counts == counts.counts
    assert [type(key) for key in again.counts] == [type(key) for key in counts.counts]
    assert repr(counts) == "KeyCounts()"
    assert counts.merge(again).counts["é\ud800"] == 18


def test_a_row_is_drawn_by_the_label_not_its_code() -> None:
    x = np.arange(40.0)
    kept = []
    for order in (["a", "b"], ["b", "a"]):
        persons = Dictionary()
        rows = SampledRows(3, 5, persons)
        for name in order:
            rows.add(persons.codes([name] * 40), [x])
        codes, values = rows.kept()
        kept.append({(persons.keys()[c], v) for c, v in zip(codes, values, strict=True)})
    assert kept[0] == kept[1]
    assert len(kept[0]) == 6
