"""All groups together cost one row what one group costs it, computed on tiny tables."""

import functools
import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import pandas as pd
import pytest

from modicum import query as ask
from modicum.exact.entropy import SYSTEM
from modicum.privacy.event import event_of
from modicum.privacy.unit import Unit, unit_of
from modicum.runtime.replay import replay
from modicum.sources import groups as module
from modicum.sources.groups import GroupReader, reader_of_groups
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from tests.audit.counted import windows_of

KEYS = ["a", "b", "empty"]
NARROW = {"within": (-4, 4), "step": 1}
ROWS = [(key, x) for key in ("a", "b", "other", None) for x in (-4.0, 1.0, 4.0)]


class OneGroup:
    """One group of a grouped reader, for a replay; it remembers what was read."""

    def __init__(self, reader, group: int) -> None:
        self._reader, self._group, self._kept = reader, group, {}

    def read(self, reads, entropy):
        missing = [each for each in reads if each not in self._kept]
        found = self._reader.read([(self._group, each) for each in missing], entropy)
        self._kept.update(zip(missing, found, strict=True))
        return [self._kept[each] for each in reads]


class Overlapping:
    """The mistake to catch: the last group holds all rows, so that others share theirs with it."""

    def __init__(self, reader, source) -> None:
        self._reader, self._source = reader, source

    def read(self, reads, entropy):
        return [
            read(self._source, [each], entropy)[0]
            if group == len(KEYS) - 1
            else self._reader.read([(group, each)], entropy)[0]
            for group, each in reads
        ]


def readers(rows, *, overlap: bool = False) -> list[OneGroup]:
    return readers_of(tuple(rows), overlap, module._FEW)


@functools.cache  # pairs of tables have most of their tables in common
def readers_of(rows, overlap: bool, _few: int) -> list[OneGroup]:
    source = table_of(rows)
    reader = GroupReader(source, Unit(), "g", KEYS, ["x", None])
    if overlap:
        reader = Overlapping(reader, source)
    return [OneGroup(reader, group) for group in range(len(KEYS))]


def table_of(rows, *more: str):
    frame = pd.DataFrame(rows, columns=["g", "x", *more]).astype({"g": object, "x": float})
    return open_source(frame)


def outcomes_of(statistic: str) -> list[tuple]:
    """Paths through the draws: far below, near and far above, at counts of several sizes."""
    if statistic == "count":
        return [((n,),) for n in (-99, 0, 1, 2, 3, 99)]
    radii, sums = [(0,), (2,), (4,)], [(-300,), (300,)]
    # So few that no window is looked for; and some hundred: a window that is not confirmed, one
    # that is, and one that is as wide as the range.
    narrow, wide = windows_of(STATISTICS["sum"], (0, 0), (3, 0))
    few, some, counted = [(0, 0, 0), (0, 0, 2), (0, 2, 0)], [(0, 0, 300)], [(300,)]
    return [
        *product(few, [(2,)], sums),
        *product(some, counted, [narrow], [(0,)], counted, sums),
        *product(some, counted, [narrow], counted, radii, sums),
        *product(some, counted, [wide], sums),
    ]


def densities(asked, event, group: OneGroup) -> list[float]:
    return [replay(asked, event, group, path).log_density for path in outcomes_of(asked.statistic)]


def joint_loss(asked, unit: Unit, rows, more, *, overlap: bool = False) -> float:
    """Largest log ratio of all groups' draws together, in either direction.

    Given the data, the groups' draws are independent, so the largest sum is the sum of each
    group's largest one.
    """
    event = unit.per_row(event_of(asked.budget))
    up = down = 0.0
    for one, other in zip(
        readers(rows, overlap=overlap), readers([*rows, *more], overlap=overlap), strict=True
    ):
        pairs = zip(densities(asked, event, one), densities(asked, event, other), strict=True)
        ratios = [p - q for p, q in pairs]
        up, down = up + max(*ratios, 0.0), down + min(*ratios, 0.0)
    return max(up, -down)


TABLES = [
    list(rows) for size in range(3) for rows in combinations_with_replacement(ROWS[:8:3], size)
]
STATISTICS = {
    "count": ask.count("x", epsilon=1),
    "count of rows": ask.count(epsilon=1),
    "sum": ask.sum("x", **NARROW, epsilon=1),
}
every_statistic = pytest.mark.parametrize("name", STATISTICS)


@every_statistic
@pytest.mark.parametrize("few", [64, 0], ids=["few", "many"])
def test_one_row_more_in_any_group_costs_epsilon_over_all_groups(name, few, monkeypatch) -> None:
    monkeypatch.setattr(module, "_FEW", few)
    asked = STATISTICS[name]
    worst = {
        row: max(joint_loss(asked, Unit(), rows, [row]) for rows in TABLES[:: 2 if few else 5])
        for row in [*ROWS[::2], ("empty", 4.0), ("empty", float("nan"))]
    }
    assert max(worst.values()) <= 1 + 1e-9
    assert max(worst.values()) > 0.95
    assert all(loss == 0 for (key, _), loss in worst.items() if key in {"other", None})


@every_statistic
def test_a_person_with_two_rows_anywhere(name) -> None:
    asked, unit = STATISTICS[name], Unit(2)
    moves = [[("a", 4.0), ("b", 4.0)], [("a", 4.0)] * 2, [("a", -4.0), ("other", 1.0)]]
    losses = [joint_loss(asked, unit, rows, move) for rows in TABLES[::3] for move in moves]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.95


@every_statistic
def test_overlapping_groups_at_the_cost_of_one_are_caught(name) -> None:
    """The control: each of two groups that share a row spends all of ε on it."""
    loss = joint_loss(STATISTICS[name], Unit(), [("a", 1.0)], [("a", 4.0)], overlap=True)
    assert loss > 1.9


@every_statistic
def test_two_rows_at_the_cost_of_one_are_caught(name) -> None:
    loss = joint_loss(STATISTICS[name], Unit(), [], [("a", 4.0), ("b", 4.0)])
    assert loss > 1.9


def test_needs_and_laws_do_not_depend_on_the_rows() -> None:
    asked = STATISTICS["sum"]
    for path in outcomes_of("sum"):
        trails = {
            repr(replay(asked, event_of(asked.budget), group, path).trail)
            for rows in TABLES[:8]
            for group in readers(rows)
        }
        assert len(trails) == 1


def test_the_audit_reads_what_the_curator_reads() -> None:
    (group, *_) = readers([("a", 4.0), ("b", 1.0)])
    needs = replay(STATISTICS["count"], event_of(STATISTICS["count"].budget), group, ()).trail[0]
    assert group.read(needs, SYSTEM)[0].count == 1


@functools.cache
def person_readers(rows, most: int) -> list[OneGroup]:
    """Groups of one record a person, in as many groups each as they may have."""
    unit = unit_of("who", combine="mean").in_groups(most)
    reader = reader_of_groups(table_of(rows, "who"), unit, "g", KEYS, ["x", None])
    return [OneGroup(reader, group) for group in range(len(KEYS))]


def person_loss(asked, unit: Unit, rows, mine) -> float:
    """The largest log ratio of all groups together, all groups of a person being kept."""
    event = unit.per_row(event_of(asked.budget))
    up = down = 0.0
    both = (person_readers((*rows, *more), 3) for more in ((), mine))
    for one, other in zip(*both, strict=True):
        pairs = zip(densities(asked, event, one), densities(asked, event, other), strict=True)
        ratios = [p - q for p, q in pairs]
        up, down = up + max(*ratios, 0.0), down + min(*ratios, 0.0)
    return max(up, -down)


COMBINED = unit_of("who", combine="mean")
PEOPLE = [[], [("a", 4.0, 1)], [("a", -4.0, 1), ("b", 1.0, 1), ("b", 4.0, 2)]]
MINE = [
    [("a", 4.0, 9), ("a", 4.0, 9), ("b", 4.0, 9)],
    [("a", -4.0, 9), ("b", -4.0, 9), (None, 4.0, 9), ("other", 1.0, 9)],
    [("a", -4.0, 9), ("b", 4.0, 9), ("b", 4.0, 9)],
]


@every_statistic
def test_a_person_with_a_record_in_each_of_two_groups(name) -> None:
    asked = STATISTICS[name]
    losses = [
        person_loss(asked, COMBINED.in_groups(2), rows, mine)
        for rows, mine in product(PEOPLE, MINE)
    ]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.95


@every_statistic
def test_two_groups_of_a_person_at_the_cost_of_one_are_caught(name) -> None:
    """The control."""
    assert person_loss(STATISTICS[name], COMBINED, [], MINE[0]) > 1.9


def choices(rows, most: int):
    """Every choice of at most so many groups of each person, with its probability."""
    groups = {
        who: sorted({g for g, _, each in rows if each == who and g in KEYS}) for *_, who in rows
    }
    kept = [list(combinations(each, min(most, len(each)))) for each in groups.values()]
    for chosen in product(*kept):
        of = dict(zip(groups, chosen, strict=True))
        yield [row for row in rows if row[0] in of[row[2]]], 1 / math.prod(map(len, kept))


def mixture(asked, event, rows, most: int, paths) -> float:
    """Log-density of all groups' outcomes, over all random choices of groups."""
    densities = [
        (
            weight,
            sum(
                replay(asked, event, group, path).log_density
                for group, path in zip(person_readers(tuple(kept), 3), paths, strict=True)
            ),
        )
        for kept, weight in choices(rows, most)
    ]
    top = max(density for _, density in densities)
    return top + math.log(sum(weight * math.exp(each - top) for weight, each in densities))


@pytest.mark.parametrize("name", ["count", pytest.param("count of rows", marks=pytest.mark.slow)])
def test_a_random_choice_of_one_group_costs_epsilon(name) -> None:
    """The groups' outcomes depend on each other then; the loss of them all, jointly."""
    asked, unit = STATISTICS[name], COMBINED.in_groups(1)
    event = unit.per_row(event_of(asked.budget))
    worst = max(
        abs(mixture(asked, event, [*rows, *mine], 1, paths) - mixture(asked, event, rows, 1, paths))
        for rows, mine in product(PEOPLE, MINE)
        for paths in product(outcomes_of("count")[::2], repeat=len(KEYS))
    )
    assert 0.5 < worst <= 1 + 1e-9


def test_the_divergences_of_independent_groups_add_up() -> None:
    """A count in ρ: the Gaussian of every group of a person has ρ/k, and no less is enough."""
    asked = ask.count(rho="0.5")
    for most in (1, 2, 3):
        unit = COMBINED.in_groups(most)
        mechanism = replay(
            asked, unit.per_row(event_of(asked.budget)), person_readers((), 3)[0], ()
        )
        (noise,) = mechanism.waiting.noise
        assert most * Fraction(1, 2) / noise.variance == asked.budget.amount
