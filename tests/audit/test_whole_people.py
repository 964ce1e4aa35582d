"""Persons with all their rows: the exact loss of whole releases, with and without one person.

The records are made by the reader of a real run. A limit of rows makes a random choice, so there
the reader draws by one key for both tables: a bound for every choice is a bound for the mixture.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import modicum as mo
from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.windows import DataWindow, WindowGrid
from modicum.runtime.steps import Draw
from modicum.sources.persons import TableReader
from modicum.statistics.people import persons
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.tails import Tails
from tests.audit.counted import KINDS, RINGS, sizes_of
from tests.audit.test_people import NARROW, People, Table, pairs_of

UNIT = mo.unit_of("id")


class ByKey(People):
    """The rows of a person that are kept follow from a key and the person's own rows."""

    def __init__(self, table) -> None:
        super().__init__(table)
        self._people._key = 7


@pytest.fixture
def audited(monkeypatch):
    monkeypatch.setattr("modicum.audit.trail.Remembered", ByKey)

    def check(query, pairs, **asked):
        return audit.check(query.for_unit(UNIT), pairs, **asked)

    return check


QUESTIONS = {
    "count, ε": ask.count("x", epsilon=1),
    "rows, ε": ask.count(epsilon=1),
    "sum, ε": ask.sum("x", **NARROW, epsilon=1),
    "sum, ρ": ask.sum("x", **NARROW, rho="0.5"),
    "mean, ε": ask.mean("x", **NARROW, epsilon=1),
    "mean, ρ": ask.mean("x", **NARROW, rho="0.5"),
    "mean of any range, ε": ask.mean("x", epsilon=1),
    "sum of any range, ρ": ask.sum("x", rho="0.5"),
    "median, ε": ask.median("x", **NARROW, epsilon=1, level=None),
    "var, ρ": ask.var("x", **NARROW, rho="0.5"),
}


SLOW = ("mean, ρ", "var, ρ")  # the same steps as in ε, and as those of a median
MEANS = [each for each in QUESTIONS if "mean" in each]
SIZES = sizes_of(20)
# Nobody, few, some and many persons; with many zeros, and with none.
BRANCHES: dict[str, Any] = {
    KINDS: ((0, 0), (5, 90), (5, 1200), (3000, 2500), (0, 60_000)),
    "count": ((0,), (600,), (10**6,)),
    "count, again": ((80,), (1300,)),
    "octave": (1023 + 2,),
    "records seen there": ((0,), (400,)),
    "rough mean in the window": ((1 << 20,),),
    "centre": (0, 3),
    "persons by rows": SIZES,
    "shape": ((0, 0), (3, 5)),
    "radius": ((0,), (5,)),
    "rows and rough total": ((0, 0), (1 << 30, 1 << 20)),
    "records near the bounds": ((0, 0, 0, 0, 0, 0), RINGS),
    "persons": ((0,), (600,), (10**6,)),
    "most rows": ((0,), (1,), (2,), (5,)),
}
FEWER = BRANCHES | {
    KINDS: ((5, 90), (5, 1200), (3000, 2500)),
    "count, again": ((1300,),),
    "records seen there": ((400,),),
    "centre": (3,),
    "persons by rows": SIZES[1:2],
    "shape": ((3, 5),),
    "radius": ((5,),),
    "rows and rough total": ((1 << 30, 1 << 20),),
    "records near the bounds": (RINGS,),
    "most rows": ((0,), (5,)),
}


def windows_of(query: Any) -> list[int]:
    """Numbers of two windows that a query has: one about the persons, and one beside them."""
    if query.lattice is None:  # a count draws none
        return []
    lattice = query.lattice if query.ranged else Lattice.within((-(2.0**20), 2.0**20))
    if query.ranged and query.statistic == "sum":
        lattice = lattice.widened(persons.WIDER)
    grid = WindowGrid.of_range(lattice, 0)
    return [grid.number(DataWindow(*each)) for each in ((1, 2), (3, 0))]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "question",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in QUESTIONS],
)
@pytest.mark.parametrize(
    "branches", [FEWER, pytest.param(BRANCHES, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_a_release_keeps_its_claim_for_a_person(audited, question, branches) -> None:
    query = QUESTIONS[question]
    others = [(who, 0.0, 1.0) for who in "bcd" for _ in range(4)]  # beyond a limit of some rows
    mine = [("a", 0.0, 8.0)] * 4
    pairs = [*pairs_of(UNIT), (Table(others, UNIT), Table([*mine, *others], UNIT))]
    values = branches | {"window": windows_of(query)}
    report = audited(
        query, pairs, values=values, widths=(0,) if question in MEANS else (1, 1, 2, 1)
    )
    claimed = float(report.claimed)
    assert report.leak is None
    assert max(report.worst, report.bound) <= claimed * (1 + 1e-9)
    assert report.drawn <= report.claimed
    assert all(step.used <= 1 + 1e-9 for step in report.steps)
    # A step that hardly any pair uses would be noise for nothing.
    used = {step.label: step.used for step in report.steps}
    noisy = {KINDS, "count", "count, again", "persons", "persons by rows", "rows and rough total"}
    noisy |= {"records seen there", "records near the bounds", "clipped sum", "most rows"}
    assert all(used[label] > 0.95 for label in noisy & used.keys()), used


@pytest.mark.parametrize("question", MEANS)
def test_every_step_of_a_mean_is_audited(audited, question) -> None:
    query = QUESTIONS[question]
    values = BRANCHES | {"window": windows_of(query), "persons by rows": SIZES[1:2]}
    report = audited(query, pairs_of(UNIT), values=values, widths=(0,))
    octave = {"octave"} if "any" in question else set()
    assert {step.label for step in report.steps} == octave | {
        KINDS, "count, again", "window", "records seen there", "rough mean in the window", "centre",
        "persons by rows", "radius", "rows and rough total", "records near the bounds", "total",
    }  # fmt: skip
    assert report.leak is None
    assert report.drawn == report.claimed
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)


LAST, BOTH = (5,), (1 << 50, 1 << 20)
WALKS: dict[str, list[Any]] = {
    "few": [(5, 90), (80,), 1025, 99, (400,), SIZES[1], BOTH],
    "some": [(0, 1200), (1200,), 1025, 99, (400,), (9,), SIZES[1], (9,), BOTH, RINGS, LAST],
    "many": [(0, 9000), 1025, 99, 3, SIZES[2], (9,), BOTH, RINGS, LAST],
}


@pytest.mark.parametrize("walk", WALKS)
def test_wholly_different_tables_take_the_same_steps(monkeypatch, walk) -> None:
    """What is drawn, and what is said, depends on the data through outcomes alone."""
    monkeypatch.setattr("modicum.audit.trail.Remembered", ByKey)
    tables = [
        Table(rows, UNIT)
        for rows in (
            [],
            [("a", 0.0, 0.0)] * 9,
            [(str(i), 0.0, 1e9) for i in range(400)],
            [(str(i % 50), 0.0, 1e-9 * i) for i in range(3000)],
        )
    ]
    query = QUESTIONS["mean of any range, ε"].for_unit(UNIT)
    assert audit.leaks(query, tables, WALKS[walk]) is None


@pytest.mark.parametrize("question", ["mean, ε", "sum, ε"])
def test_a_person_in_place_of_a_row_is_what_makes_it_private(monkeypatch, question) -> None:
    """Control: with the rows of a person as records of their own the claim is false."""

    class RowByRow(Remembered):
        def read(self, reads, entropy):
            return super().read([replace(each, rule=None) for each in reads], entropy)

        def check(self, column) -> None:
            pass

    monkeypatch.setattr("modicum.audit.trail.Remembered", RowByRow)
    query = QUESTIONS[question].for_unit(UNIT)
    values = FEWER | {"window": windows_of(QUESTIONS[question])}
    report = audit.check(query, pairs_of(UNIT, persons=1), values=values, widths=(0,))
    assert report.worst > 1.2 * float(report.claimed)


def test_the_cost_of_a_limit_is_that_of_all_rows() -> None:
    """At a limit of L a draw costs the person L times, in zCDP L^2 times, what it costs a row."""
    for query, power in ((QUESTIONS["median, ε"], 1), (QUESTIONS["var, ρ"], 2)):
        reader = ByKey(Table([("a", 0.0, 1.0)] * 9, UNIT))
        spent, step, seen = Fraction(0), None, set()
        reply = None
        steps = query.for_unit(UNIT).begin(query.event)
        while True:
            try:
                step = steps.send(reply)
            except StopIteration:
                break
            if isinstance(step, Draw):
                cost = step.event.cost(query.event.kind).amount
                row = step.mechanism.event.cost(query.event.kind).amount
                seen.add(cost / row)
                spent += cost
                number = {"persons": (1000,), "most rows": (4,)}.get(step.label)
                reply = number or step.mechanism.sample(SeededEntropy(step.label))
            else:
                reply = tuple(reader.read(step.reads, SeededEntropy("rows")))
        assert seen == {1, 6**power}  # the fifth of 1, 2, 3, 4, 6
        assert query.budget.amount * Fraction(99, 100) < spent <= query.budget.amount


def test_a_choice_by_a_key_is_a_function_of_the_persons_own_rows() -> None:
    rule, entropy = RecordRule("rows", most=2), SeededEntropy("any")
    read = Read("x", mo.query.sum("x", **NARROW, epsilon=1).lattice, Tails(99), rule=rule)
    mine = [("a", 0.0, float(x)) for x in (-8, -3, 5, 8)]
    kept = []
    for others in ([], [("b", 0.0, 1.0), ("b", 0.0, 2.0), ("c", 0.0, 0.0)]):
        reader = TableReader(Table([*others, *mine], UNIT), UNIT, ["x"], key=7)
        (tails,) = reader.read([read], entropy)
        kept.append(sorted([*tails.low.tolist(), *tails.high.tolist()]))
    alone, together = kept
    assert len(alone) == 2
    assert len(together) == 5
    assert not (set(alone) - set(together))
