"""Persons with all their rows: the exact loss of whole releases, with and without one person.

The records are made by the reader of a real run. A limit of rows makes a random choice, so there
the reader draws by one key for both tables: a bound for every choice is a bound for the mixture.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

import modicum as mo
from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.runtime.steps import Draw
from modicum.sources.persons import TableReader
from modicum.summaries.base import Read, RecordRule
from modicum.summaries.tails import Tails
from tests.audit.test_people import NARROW, People, Table, pairs_of

UNIT = mo.unit_of("id")
BOTH = "rows and rough total"
COUNTS = [(0,), (1,), (600,), (3000,), (10**6,)]


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
    "median, ε": ask.median("x", **NARROW, epsilon=1, level=None),
    "var, ρ": ask.var("x", **NARROW, rho="0.5"),
}


SLOW = ("mean, ρ", "var, ρ")  # the same steps as in ε, and as those of a median
ALL = pytest.param(COUNTS, [(1,), (2,), (5,)], id="all", marks=pytest.mark.slow)
EACH_WAY = pytest.param([(0,), (600,), (3000,), (10**6,)], [(5,)], id="each way")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "question",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in QUESTIONS],
)
@pytest.mark.parametrize(("counts", "radii"), [EACH_WAY, ALL])
def test_a_release_keeps_its_claim_for_a_person(audited, question, counts, radii) -> None:
    query = QUESTIONS[question]
    values = {"count": counts, "persons": counts, "most rows": [(0,), (1,), (2,), (5,)]}
    values |= {"radius": radii, "sizes": radii, "home": [(0,), (3,)]}
    others = [(who, 0.0, 1.0) for who in "bcd" for _ in range(4)]  # beyond a limit of some rows
    mine = [("a", 0.0, 8.0)] * 4
    pairs = [*pairs_of(UNIT), (Table(others, UNIT), Table([*mine, *others], UNIT))]
    report = audited(query, pairs, values=values, widths=(1 + (len(radii) > 2),) * 2 + (2, 1))
    claimed = float(report.claimed)
    assert report.leak is None
    assert max(report.worst, report.bound) <= claimed * (1 + 1e-9)
    assert report.drawn <= report.claimed
    assert all(step.used <= 1 + 1e-9 for step in report.steps)
    # A step that hardly any pair uses would be noise for nothing.
    used = {step.label: step.used for step in report.steps}
    noisy = {"count", "persons", "rows", BOTH, "total", "clipped sum", "most rows"}
    assert all(used[label] > 0.95 for label in noisy & used.keys()), used


@pytest.mark.parametrize("question", ["sum, ε", "mean, ε"])
def test_the_shape_of_the_tail_of_many_persons_is_audited(audited, question) -> None:
    values = {"count": [(10**6,)], "home": [(3,)], "sizes": [(1,)], BOTH: [(10**7, 0)]}
    report = audited(QUESTIONS[question], pairs_of(UNIT), values=values, widths=(1,) * 10)
    assert {"home", "shape", "radius"} <= {step.label for step in report.steps}
    assert report.leak is None
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)
    assert all(step.used <= 1 + 1e-9 for step in report.steps)


def test_every_step_of_a_mean_is_audited(audited) -> None:
    values = {"count": [(3000,)], "home": [(0,), (3,)], BOTH: [(10**7, 0), (10**3, 10**6)]}
    values |= {"persons elsewhere": [(1000,), (2900,)], "home, again": [(3,)]}
    values |= {"persons of larger sizes": [(0,), (2500,)]}
    values |= {"records outside": [(0,)]}
    widths = (1, 1, 1, 1, 2, 2, 1, 1, 1, 1)
    report = audited(QUESTIONS["mean, ε"], pairs_of(UNIT), values=values, widths=widths)
    assert {step.label for step in report.steps} == {
        "count", "centre", "sizes", "persons of larger sizes", "sizes, again", "home",
        "persons elsewhere", "persons elsewhere, again", "home, again", "radius", "records outside",
        BOTH, "rows", "radius, again", "total",
    }  # fmt: skip
    assert report.leak is None
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)


@pytest.mark.parametrize("question", ["mean, ε", pytest.param("mean, ρ", marks=pytest.mark.slow)])
def test_a_radius_for_those_far_away_is_audited(audited, question) -> None:
    values = {"count": [(3000,)], "home": [(3,)], BOTH: [(10**4, 0)], "centre": [0]}
    values |= {"records outside": [(0,), (900,)], "records outside, again": [(0,), (900,)]}
    values |= {"persons of larger sizes": [(0,)], "sizes": [(1,), (5,)], "radius": [(1,), (5,)]}
    report = audited(QUESTIONS[question], pairs_of(UNIT), values=values, widths=(0,) * 8 + (1, 1))
    used = {step.label: step.used for step in report.steps}
    assert all(used[label] > 0.9 for label in ("records outside", "records outside, again"))
    assert used["radius, for others"] > 0.5
    assert report.leak is None
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)
    assert all(each <= 1 + 1e-9 for each in used.values())


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
    values = {"count": COUNTS, "radius": [(1,), (36,)], "sizes": [(1,)]}
    report = audit.check(query, pairs_of(UNIT, persons=1), values=values, widths=(2, 2, 1))
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
