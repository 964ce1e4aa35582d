"""The whole release keeps its claim for a person with all of their rows, and uses it.

The unit's rule is carried out by the reader of a real run; the joint law of all draws is then
compared with and without one person. Without the rule the same audit finds a false claim.
"""

import itertools
import math
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

import modicum as mo
from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import approx, pure
from modicum.privacy.event import PureDP, event_of
from modicum.runtime.replay import replay
from modicum.sources.persons import TableReader
from modicum.summaries.base import Read
from modicum.summaries.tails import Tails
from tests.audit.counted import counts_of
from tests.sources.cluster.test_distributed import Cluster
from tests.sources.test_persons import Rows

NARROW = {"within": (-8, 8), "step": 1}
ENDS = (-8.0, 8.0)


class People(Remembered):
    """Serves an audit with the records of a table's persons."""

    def __init__(self, table) -> None:
        super().__init__(table)
        self._people = TableReader(Rows(table.rows), table.unit, ["x"])

    def check(self, column) -> None:
        pass

    def read(self, reads, entropy):
        missing = [each for each in dict.fromkeys(reads) if each not in self._kept]
        if missing:
            found = self._people.read(missing, entropy)
            self._kept.update(zip(missing, found, strict=True))
        return [self._kept[each] for each in reads]


class Table(Rows):
    """A small table under a unit; an audit shows it by its rows."""

    def __init__(self, rows, unit) -> None:
        super().__init__(rows)
        self.unit = unit

    def __repr__(self) -> str:
        return f"{self.unit} {self.rows}"


def for_a_person(query, unit):
    """The query as a run starts it: each row may cost what the unit leaves it."""
    return replace(query, begin=lambda event: query.begin(unit.per_row(event)))


def pairs_of(unit, *, persons: int = 2, rows: int = 3):
    """A person of 1 to ``rows`` rows at the ends of the range, beside none or one other row."""
    others = [(), (("b", 0.0, 1.0),), (("b", 0.0, -8.0), ("b", 1.0, 8.0))][:persons]
    pairs = []
    for other in others:
        without = Table(other, unit)
        for size in range(1, rows + 1):
            for x in itertools.combinations_with_replacement(ENDS, size):
                mine = [("a", float(t), value) for t, value in enumerate(x)]
                pairs.append((without, Table([*mine, *other], unit)))
    return pairs


@pytest.fixture
def audited(monkeypatch):
    monkeypatch.setattr("modicum.audit.trail.Remembered", People)
    return audit.check


QUESTIONS = {
    "count, ε": ask.count("x", epsilon=1),
    "sum, ε": ask.sum("x", **NARROW, epsilon=1),
    "sum, ρ": ask.sum("x", **NARROW, rho="0.5"),
    "mean, ε": ask.mean("x", **NARROW, epsilon=1),
    "count, (ε, δ)": ask.count("x", budget=approx(1, "1e-6")),
}
UNITS = {
    "two rows": mo.unit_of("id", max_rows=2, order_by="t"),
    "mean": mo.unit_of("id", combine="mean"),
    "sum": mo.unit_of("id", combine="sum"),
}


# Every rule with a count and a sum, and each currency and question with one rule or more.
SLOW = {("sum, ρ", "mean"), ("sum, ρ", "sum"), ("mean, ε", "two rows"), ("mean, ε", "sum")}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("question", "rule"),
    [
        pytest.param(*each, marks=[pytest.mark.slow] * (each in SLOW))
        for each in itertools.product(QUESTIONS, UNITS)
    ],
)
def test_a_release_keeps_its_claim_for_a_person(audited, rule, question) -> None:
    unit, query = UNITS[rule], QUESTIONS[question]
    values = counts_of(query) if query.lattice else None
    report = audited(for_a_person(query, unit), pairs_of(unit), values=values, widths=(2, 3, 2, 1))
    claimed = float(report.claimed)
    assert report.leak is None
    assert max(report.worst, report.bound) <= claimed * (1 + 1e-9)
    # The worst records for a mean, at both ends of the range, are no person's mean or sum.
    assert report.worst > (0.8 if query.statistic == "mean" else 0.95) * claimed
    share = unit.rows**2 if report.kind == "zcdp" else unit.rows
    assert report.drawn * share <= report.claimed


@pytest.mark.parametrize("question", ["count, ε", "sum, ε", "sum, ρ"])
def test_without_a_bound_the_audit_finds_a_false_claim(question) -> None:
    """Control: every row enters, as if two rows were the most by declaration."""
    declared, query = mo.unit_of(rows=2), QUESTIONS[question]
    report = audit.check(
        for_a_person(query, declared), pairs_of(declared, persons=1), widths=(2, 3, 2, 1)
    )
    assert report.worst > 1.2 * float(report.claimed)


def selections(rows, m):
    """Every choice of at most m rows a person, with its probability."""
    groups = [[row for row in rows if row[0] == person] for person in {row[0] for row in rows}]
    choices = [list(itertools.combinations(group, min(m, len(group)))) for group in groups]
    for chosen in itertools.product(*choices):
        yield [row for part in chosen for row in part], 1 / math.prod(map(len, choices))


def mixture(query, event, rows, m, outcomes) -> float:
    """Log-density of the release at these outcomes, over all random choices of rows."""
    densities = [
        (weight, replay(query, event, Remembered(Rows(kept)), outcomes).log_density)
        for kept, weight in selections(rows, m)
    ]
    top = max(density for _, density in densities)
    return top + math.log(sum(weight * math.exp(each - top) for weight, each in densities))


def test_a_random_choice_keeps_the_claim() -> None:
    """The law of the release is a mixture over choices; its exact loss, all draws together."""
    unit = mo.unit_of("id", max_rows=2)
    mine = [("a", None, -8.0), ("a", None, 8.0), ("a", None, 8.0), ("a", None, None)]
    other = [("b", None, 1.0), ("b", None, -8.0), ("b", None, 3.0)]
    worst = 0.0
    for query, paths in (
        (ask.count("x", epsilon=1), [((k,),) for k in range(-12, 13)]),
        (ask.sum("x", **NARROW, epsilon=1), [((0, 0, k),) for k in (-3, 0, 1, 5, 300)]),
    ):
        event = unit.per_row(event_of(query.budget))
        for path in paths:
            if query.statistic == "sum":
                path = _continued(query, event, path)  # noqa: PLW2901
            for beside in ([], other):
                with_, without = (
                    mixture(query, event, rows, 2, path) for rows in ([*beside, *mine], beside)
                )
                worst = max(worst, abs(with_ - without))
    assert 0.5 < worst <= 1 + 1e-9


def _continued(query, event, path):
    """Follow one run on two rows to its end."""
    rows = Remembered(Rows([("a", None, 8.0), ("a", None, 1.0)]))
    entropy = SeededEntropy("path")
    while (mechanism := replay(query, event, rows, path).waiting) is not None:
        path = (*path, mechanism.sample(entropy))
    return path


def test_the_choices_of_the_reader_are_those_of_the_mixture() -> None:
    rows = [("a", None, -8.0), ("a", None, 8.0), ("a", None, 1.0), ("b", None, 3.0)]
    unit, entropy = mo.unit_of("id", max_rows=2), SeededEntropy("choices")
    found = Counter()
    for _ in range(300):
        reader = TableReader(Rows(rows), unit, ["x"])
        (tails,) = reader.read([Read("x", Lattice(-8.0, 8.0, 1.0), Tails(100))], entropy)
        found[tuple(sorted([*tails.low.tolist(), *tails.high.tolist()]))] += 1
    assert set(found) == {tuple(sorted(x for *_, x in kept)) for kept, _ in selections(rows, 2)}


def test_an_approximate_cost_is_shared_exactly() -> None:
    """No δ is multiplied by e^((m-1)ε): the release is (ε, 0)-DP for the person."""
    unit = mo.unit_of("id", max_rows=5)
    assert unit.per_row(event_of(approx(1, "1e-6"))) == PureDP(event_of(pure("0.2")).epsilon)
    curator = mo.Curator(Rows([("a", 0.0, 1.0)]), unit=unit, budget=approx(1, "1e-6"))
    release = curator.count(budget=approx(1, "1e-7"))
    assert sum(entry.event.epsilon for entry in release.transcript) * 5 == 1
    assert (curator.spent.amount, curator.spent.delta) == (1, 0)


class InParts(People):
    """The same, of a table in parts; one key decides in both neighbours which rows are kept."""

    def __init__(self, table) -> None:
        super().__init__(table)
        fields = {"id": pa.string(), "t": pa.float64(), "x": pa.float64()}
        columns = [
            pa.array([row[i] for row in table.rows], kind) for i, kind in enumerate(fields.values())
        ]
        rows = pa.table(dict(zip(fields, columns, strict=True)))
        self._people = TableReader(Cluster([rows[i : i + 1] for i in range(4)]), table.unit, ["x"])

    def read(self, reads, entropy):
        return super().read(reads, SeededEntropy("key"))


@pytest.mark.parametrize("question", ["count, ε", "sum, ε", "sum, ρ"])
@pytest.mark.one_in(8)
def test_a_choice_by_a_key_keeps_the_claim_if_a_person_is_in_one_part(
    monkeypatch, question
) -> None:
    monkeypatch.setattr("modicum.audit.trail.Remembered", InParts)
    unit, query = mo.unit_of("id", max_rows=2), QUESTIONS[question]
    asked = for_a_person(query, unit), pairs_of(unit)
    report = audit.check(*asked, widths=(2, 3, 2, 1))
    claimed = float(report.claimed)
    assert report.leak is None
    assert 0.95 * claimed < max(report.worst, report.bound) <= claimed * (1 + 1e-9)
    # Control: persons stay in the parts that their rows are in.
    monkeypatch.setattr(Cluster, "_by_person", lambda cluster, _: cluster.parts)
    assert audit.check(*asked, widths=(2, 3, 2, 1)).worst > 1.2 * claimed
