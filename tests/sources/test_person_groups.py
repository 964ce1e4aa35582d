"""One record a person and group, in a bounded number of groups, on every engine."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import unit_of
from modicum.sources.groups import count_keys, reader_of_groups, reader_of_sizes
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.sums import ClippedSum, Count
from tests.sources.cluster.test_distributed import Cluster
from tests.sources.engines.makers import TABLES

LATTICE = Lattice.within((-1000, 1000), step=1)
COARSE = Lattice.within((-1000, 1000), step=4)
RNG = np.random.default_rng(8)
SIZE = 2000
KEYS = ["b", "never", "a", "é"]
WHO = [None if i % 50 == 7 else int(i) for i in RNG.integers(0, 300, SIZE)]
GROUP = RNG.choice(["a", "b", "é", "other", None], SIZE, p=[0.4, 0.2, 0.1, 0.2, 0.1]).tolist()
X = np.where(RNG.random(SIZE) < 0.3, np.nan, RNG.integers(-500, 500, SIZE))
TABLE = pa.table(
    {"who": pa.array(WHO), "g": pa.array(GROUP), "x": X, "y": np.arange(float(SIZE)) % 990}
)
MEAN = unit_of("who", combine="mean")


def twin(column: str, combine: str) -> dict[str, list[int]]:
    """Records of every key, all groups of a person being kept, in plain Python."""
    rows: dict[tuple[str, int], list[int]] = {}
    for who, group, x in zip(WHO, GROUP, TABLE.column(column).to_pylist(), strict=True):
        if who is not None and x == x:
            rows.setdefault((group, who), []).append(int(x))
    records: dict[str, list[int]] = {key: [] for key in KEYS}
    for (group, _), values in rows.items():
        if group in records:
            total = sum(values)
            records[group].append(
                total // len(values) if combine == "mean" else max(-1000, min(1000, total))
            )
    return {key: sorted(each) for key, each in records.items()}


@pytest.mark.parametrize("combine", ["mean", "sum"])
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_records_are_those_of_a_plain_loop(make, combine, tmp_path) -> None:
    unit = unit_of("who", combine=combine).in_groups(4)
    source = open_source(make(TABLE, tmp_path))
    for column in ("x", "y"):
        reader = reader_of_groups(source, unit, "g", KEYS, [column, None])
        expected = twin(column, combine)
        reads = [(group, Read(column, LATTICE, ClippedSum(-1000, 1000))) for group in range(4)]
        reads += [(group, Read(column, LATTICE, Count())) for group in range(4)]
        found = reader.read(reads, SYSTEM)
        sums = [each.total for each in found[:4]]
        assert sums == [sum(expected[key]) for key in KEYS]
        assert [each.count for each in found[4:]] == [len(expected[key]) for key in KEYS]


def groups_of() -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for who, group in zip(WHO, GROUP, strict=True):
        if who is not None and group in KEYS:
            found.setdefault(who, set()).add(group)
    return found


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("make", [TABLES["pandas"], TABLES["duckdb"], TABLES["lazy"]])
def test_a_person_counts_in_few_groups_the_same_in_every_pass(make, most, tmp_path) -> None:
    source = open_source(make(TABLE, tmp_path))
    reader = reader_of_groups(source, MEAN.in_groups(most), "g", KEYS, ["x", "y", None])
    entropy = SeededEntropy(most)
    persons = [(group, Read(None, None, Count())) for group in range(4)]
    counts = [each.count for each in reader.read(persons, entropy)]
    assert sum(counts) == sum(min(most, len(each)) for each in groups_of().values())
    # Later passes, of other columns and lattices, keep to the choice: y is never missing.
    for lattice in (LATTICE, COARSE):
        valued = [(group, Read("y", lattice, Count())) for group in range(4)]
        assert [each.count for each in reader.read(valued, entropy)] == counts


def test_the_order_of_rows_between_passes_does_not_matter() -> None:
    """A second pass in another order adds up the same pairs."""
    source, backwards = open_source(TABLE), open_source(TABLE[::-1])
    reader = reader_of_groups(source, MEAN.in_groups(1), "g", KEYS, ["x", "y"])
    entropy = SeededEntropy(5)
    reads = [(group, Read("y", LATTICE, ClippedSum(-1000, 1000))) for group in range(4)]
    reader.read([(0, Read("x", LATTICE, Count()))], entropy)
    reader._source = backwards
    found = reader.read(reads, entropy)
    again = reader_of_groups(source, MEAN.in_groups(1), "g", KEYS, ["x", "y"])
    assert found == again.read(reads, SeededEntropy(5))


def test_groups_of_a_person_are_chosen_uniformly() -> None:
    table = pa.table({"who": [1, 1, 1, 1, 2], "g": ["a", "b", "b", "é", "b"], "x": [1.0] * 5})
    source, entropy, chosen = open_source(table), SeededEntropy("choice"), Counter()
    for _ in range(900):
        reader = reader_of_groups(source, MEAN.in_groups(2), "g", KEYS, [None])
        reads = [(group, Read(None, None, Count())) for group in range(4)]
        counts = [each.count for each in reader.read(reads, entropy)]
        counts[0] -= 1  # the second person is always in b
        chosen[tuple(key for key, n in zip(KEYS, counts, strict=True) if n)] += 1
    pairs = list(combinations([key for key in KEYS if key != "never"], 2))
    assert set(chosen) == set(pairs)
    assert all(abs(chosen[pair] - 300) < 6 * np.sqrt(200) for pair in pairs)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_keys_are_counted_by_persons(make, tmp_path) -> None:
    source = open_source(make(TABLE, tmp_path))
    counts = count_keys(source, MEAN.in_groups(9), "g", SYSTEM)
    pairs = {(who, g) for who, g in zip(WHO, GROUP, strict=True) if None not in (who, g)}
    assert counts == Counter(group for _, group in pairs)
    once = count_keys(source, MEAN.in_groups(1), "g", SYSTEM)
    assert sum(once.values()) == len({who for who, _ in pairs})


def test_a_person_without_values_in_a_group_is_missing_there() -> None:
    table = pa.table({"who": [1, 1], "g": ["a", "b"], "x": [np.nan, 3.0]})
    reader = reader_of_groups(open_source(table), MEAN.in_groups(2), "g", ["a", "b"], ["x", None])
    reads = [(group, Read(column, None, Count())) for column in ("x", None) for group in (0, 1)]
    assert [each.count for each in reader.read(reads, SYSTEM)] == [0, 1, 1, 1]


def test_the_reader_shows_nothing() -> None:
    assert repr(reader_of_groups(open_source(TABLE), MEAN, "g", KEYS, [])) == "PersonGroups()"


WHOLE = unit_of("who")
NUMBERS = Lattice(0.0, 1024.0, 1.0)


def whole_twin(rule: RecordRule) -> dict[str, list[int]]:
    """Sums less a centre, or numbers, of every person with values in every key."""
    rows: dict[tuple[str, int], list[int]] = {}
    for who, group, x in zip(WHO, GROUP, TABLE.column("x").to_pylist(), strict=True):
        if who is not None and x == x:
            rows.setdefault((group, who), []).append(int(x))
    records: dict[str, list[int]] = {key: [] for key in KEYS}
    for (group, _), values in rows.items():
        if group in records:
            sizes = len(values)
            total = sum(values) - rule.centre * sizes
            records[group].append(sizes if rule.kind == "count" else total)
    return records


def parted(table: pa.Table) -> Cluster:
    return Cluster([table[:700], table[700:701], table[701:]])


@pytest.mark.parametrize("make", [*TABLES.values(), lambda t, _: parted(t)], ids=[*TABLES, "parts"])
@pytest.mark.parametrize(
    "rule",
    [
        RecordRule("sum", lattice=LATTICE),
        RecordRule("sum", lattice=LATTICE, centre=-37),
        RecordRule("count", lattice=LATTICE),
    ],
    ids=["sum", "deviation", "count"],
)
def test_a_rule_makes_the_same_records_everywhere(make, rule, tmp_path) -> None:
    source = open_source(make(TABLE, tmp_path))
    wide = NUMBERS if rule.kind == "count" else LATTICE.widened(10)
    ask = Read("x", wide, ClippedSum(-100_000, 100_000), rule=rule)
    expected = whole_twin(rule)
    reader = reader_of_groups(source, WHOLE.in_groups(4), "g", KEYS, ["x"])
    found = reader.read([(group, ask) for group in range(4)], SYSTEM)
    assert [each.total for each in found] == [sum(expected[key]) for key in KEYS]
    assert [each.count for each in found] == [len(expected[key]) for key in KEYS]
    (whole,) = TableReader(source, WHOLE, ["x"]).read([ask], SYSTEM)
    values = [x for x, who in zip(X, WHO, strict=True) if who is not None and x == x]
    if rule.kind == "count":
        assert whole.total == len(values)
    else:
        assert whole.total == sum(values) - rule.centre * len(values)


@pytest.mark.parametrize(
    "make", [TABLES["pandas"], lambda t, _: parted(t)], ids=["pandas", "parts"]
)
def test_rows_of_a_limit_are_the_same_in_every_pass_and_so_many(make, tmp_path) -> None:
    source, entropy = open_source(make(TABLE, tmp_path)), SeededEntropy(5)
    rule = RecordRule("rows", most=2)
    asks = [Read(column, LATTICE, ClippedSum(-1000, 1000), rule=rule) for column in ("y", "y")]
    reader = reader_of_groups(source, WHOLE.in_groups(2), "g", KEYS, ["x", "y"])
    first, again = (reader.read([(0, ask)], entropy)[0] for ask in asks)
    assert first == again
    rows = Counter(
        (who, group)
        for who, group in zip(WHO, GROUP, strict=True)
        if who is not None and group in KEYS
    )
    persons = {who: [n for (one, _), n in rows.items() if one == who] for who, _ in rows}
    counted = [(group, Read(None, None, Count(), rule=rule)) for group in range(4)]
    kept = sum(each.count for each in reader.read(counted, entropy))
    least = sum(sum(sorted(min(n, 2) for n in sizes)[:2]) for sizes in persons.values())
    most = sum(sum(sorted(min(n, 2) for n in sizes)[-2:]) for sizes in persons.values())
    assert least <= kept <= most
    whole = TableReader(source, WHOLE, ["y", "x"])
    (count,) = whole.read([Read(None, None, Count(), rule=rule)], entropy)
    assert count.count == sum(min(n, 2) for n in Counter(w for w in WHO if w is not None).values())


@pytest.mark.parametrize(
    "make", [TABLES["polars"], lambda t, _: parted(t)], ids=["polars", "parts"]
)
def test_the_number_of_groups_of_a_person(make, tmp_path) -> None:
    ask = Read(None, NUMBERS, ClippedSum(0, 1024), rule=RecordRule("groups"))
    reader = reader_of_sizes(open_source(make(TABLE, tmp_path)), WHOLE, "g", KEYS)
    (sizes,) = reader.read([(0, ask)], SYSTEM)
    pairs = {
        (who, group)
        for who, group in zip(WHO, GROUP, strict=True)
        if who is not None and group in KEYS
    }
    assert sizes.total == len(pairs)
    assert sizes.count == len({who for who, _ in pairs})
