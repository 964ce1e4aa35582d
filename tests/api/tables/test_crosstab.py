"""Crosstabs: what one person changes, what adds up, what is refused, and what is kept."""

import json
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum import query as ask
from modicum.api.tables import crosstab as module
from modicum.api.tables.crosstab import CellDraws, CellReader
from modicum.api.tables.margins import Layout
from modicum.cli import main
from modicum.errors import BudgetExceeded, InvalidArgument, UnsupportedData
from modicum.exact.entropy import SYSTEM, SeededEntropy
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.unit import Unit
from modicum.runtime.steps import Reads
from modicum.sources.conditions.view import View
from modicum.sources.groups import reader_of_groups
from modicum.sources.opening import open_source
from modicum.sources.viewed import view_of
from modicum.stored.codec import from_text, to_text
from tests.sources.cluster.test_distributed import Cluster

KEYS = [(a, b) for a in "xy" for b in "uvw"]
LAYOUT = Layout(("a", "b"), tuple(KEYS), (("a",), ("b",), ()))
FORCED = (80, 50, 40, 30)
LABELS = {"a": ["x", "y"], "b": ["u", "v", "w"]}


@pytest.fixture
def margins_too(monkeypatch) -> None:
    """Measure all margins, whatever that is worth."""
    monkeypatch.setattr(module, "_shares", lambda *_: FORCED)


def table_of(rows) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["a", "b", "cost"])
    return frame.astype({"a": object, "b": object, "cost": float})


def reader_of(rows) -> CellReader:
    source = view_of(open_source(table_of(rows)), View(None, (), ("a", "b")), Unit())
    return CellReader(reader_of_groups(source, Unit(), "a, b", KEYS, ["cost"]), len(KEYS))


def drawn_by(steps, reader, outcomes):
    """Carry out steps with given outcomes; return the draws, and the answer as the last one."""
    received, draws = None, []
    while True:
        try:
            step = steps.send(received)
        except StopIteration as stop:
            return draws, stop.value
        if isinstance(step, Reads):
            received = tuple(reader.read(list(step.reads), SYSTEM))
            continue
        received = outcomes(step, len(draws))
        draws.append((step, received))


def far(sign: int):
    """All noisy numbers far above, or far below: where log ratios are largest."""
    return lambda step, _: (sign * 999,) * len(step.mechanism.values)


def loss_of(begin, rows, more, outcomes) -> float:
    one, other = (
        sum(
            step.mechanism.log_density(outcome)
            for step, outcome in drawn_by(begin(), reader_of(each), outcomes)[0]
        )
        for each in (rows, [*rows, *more])
    )
    return abs(one - other)


ROWS = [("x", "u", 1.0), ("y", "w", 4.0), ("x", "v", -4.0), ("z", "u", 1.0), (None, "u", 1.0)]


@pytest.mark.usefixtures("margins_too")
def test_one_row_costs_epsilon_over_cells_and_margins() -> None:
    """[crosstab.2] Exhaustive: any row more, in any small table, cells and margins together."""
    plan = CellDraws(LAYOUT)

    def begin():
        return plan.counted(PureDP(Fraction(1)))

    worst = {}
    for rows in (ROWS[:0], ROWS[:1], ROWS[1:3]):
        for row in [*((a, b, 0.0) for a, b in KEYS), *ROWS[3:]]:
            losses = [loss_of(begin, rows, [row], far(sign)) for sign in (-1, 1)]
            worst[row] = max(*losses, worst.get(row, 0.0))
    assert all(abs(worst[a, b, 0.0] - 1) < 1e-9 for a, b in KEYS)
    assert worst[ROWS[3]] == worst[ROWS[4]] == 0


@pytest.mark.usefixtures("margins_too")
@pytest.mark.parametrize("records", [2, 3])
def test_a_person_in_several_cells_costs_epsilon(records) -> None:
    plan = CellDraws(LAYOUT, records)
    losses = []
    for cells in product(KEYS, repeat=records):
        if len({*cells}) == records:
            more = [(*cell, 0.0) for cell in cells]
            losses.append(loss_of(lambda: plan.counted(PureDP(Fraction(1))), [], more, far(1)))
    assert 0.999 < max(losses) <= 1 + 1e-9


ONE = ZCDP(Fraction(1))


def rho_of(plan: CellDraws, rows, more, event=ONE) -> float:
    """Cost of the draws on two tables, in ρ: half of the squared change over the variance."""
    (one, other) = (
        drawn_by(plan.counted(event), reader_of(each), far(1))[0] for each in (rows, [*rows, *more])
    )
    return float(
        sum(
            Fraction((p - q) ** 2) / (2 * noise.sigma2)
            for (first, _), (second, _) in zip(one, other, strict=True)
            for p, q, noise in zip(
                first.mechanism.values, second.mechanism.values, first.mechanism.noise, strict=True
            )
        )
    )


@pytest.mark.usefixtures("margins_too")
def test_persons_in_several_cells_cost_rho_wherever_these_are() -> None:
    """[crosstab.2] Cells of one row are the worst; a share of ρ/k, as of groups, is too much."""
    for records in (1, 2, 3):
        plan, costs = CellDraws(LAYOUT, records), {}
        for cells in product(KEYS, repeat=records):
            if len({*cells}) == records:
                costs[cells] = rho_of(plan, [], [(*cell, 0.0) for cell in cells])
        assert 0.85 < max(costs.values()) <= 1 + 1e-9
    together = [("x", each, 0.0) for each in "uvw"]
    literal = rho_of(CellDraws(LAYOUT), [], together, ZCDP(Fraction(1, 3)))
    assert literal > 1.5


@pytest.mark.usefixtures("margins_too")
@pytest.mark.parametrize("records", [1, 2])
def test_sums_cost_epsilon_bounds_included(records) -> None:
    query = ask.sum("cost", within=(-4, 4), step=1, epsilon=1)
    plan = CellDraws(LAYOUT, records)

    def begin():
        return plan.summed(query, PureDP(Fraction(1)))

    def outcomes(count: int, sign: int):
        def chosen(step, place):
            if place == 0:  # zeros, hidden by the step, others
                return (0, 0, count)
            if step.label == "window":
                return 20
            if step.label == "radius":
                return (4,)
            values = getattr(step.mechanism, "values", (0,))
            return (sign * 999,) * len(values)

        return chosen

    losses = [
        loss_of(begin, rows, [(*cell, value) for cell in KEYS[:records]], outcomes(count, sign))
        for rows in (ROWS[:0], ROWS[:2])
        for value in (-4.0, 4.0)
        for count in (-99, 0, 99, 300)
        for sign in (-1, 1)
    ]
    assert 0.8 < max(losses) <= 1 + 1e-9


@pytest.mark.usefixtures("margins_too")
def test_the_answer_follows_from_the_outcomes_alone() -> None:
    query = ask.sum("cost", within=(-4, 4), step=1, epsilon=1)

    def outcomes(step, place):
        numbers = getattr(step.mechanism, "values", (0,))
        return (300,) if place == 0 and len(numbers) == 1 else (2,) * len(numbers)

    answers = [
        drawn_by(steps(PureDP(Fraction(1))), reader_of(rows), outcomes)[1]
        for steps in (CellDraws(LAYOUT).counted, partial(CellDraws(LAYOUT).summed, query))
        for rows in ([], ROWS[:3] * 20)
    ]
    assert answers[0] == answers[1]
    assert answers[2] == answers[3]


RNG = np.random.default_rng(7)
N = 4000
PEOPLE = pd.DataFrame(
    {
        "region": RNG.choice(["N", "S", "W"], N, p=[0.5, 0.3, 0.2]),
        "sex": RNG.choice(["f", "m"], N),
        "year": RNG.choice([2025, 2026], N),
        "cost": RNG.lognormal(3, 1, N),
        "person": RNG.integers(0, 1500, N),
    }
)
CODES = {"region": ["N", "S", "W"], "sex": ["f", "m"]}


def curator_of(budget=None, table=PEOPLE, seed: str = "crosstab", **more) -> mo.Curator:
    return mo.Curator(table, budget=budget or mo.pure(10), entropy=SeededEntropy(seed), **more)


@pytest.mark.parametrize("values", [None, "cost"])
@pytest.mark.parametrize("kind", ["pure", "zcdp"])
def test_margins_and_total_add_up_to_the_digit(values, kind) -> None:
    curator = curator_of(getattr(mo, kind)(10))
    cost = {"epsilon": 2} if kind == "pure" else {"rho": 2}
    found = curator.crosstab("region", "sex", keys=CODES, values=values, **cost)
    model = found.error_model
    cells = dict(zip(found.keys, model.adjusted(("region", "sex")), strict=True))
    for place, name in enumerate(found.by):
        sums = dict(zip(model.layout.sums((name,)), model.adjusted((name,)), strict=True))
        for label, value in sums.items():
            assert value == sum(each for key, each in cells.items() if (key[place],) == label)
    assert model.adjusted(()) == (sum(cells.values()),)
    for margin in (found.by, *found.margins):
        for each in found.numbers(*margin).values() if margin else [found.total]:
            assert each.lower <= each.value <= each.upper
    truth = N if values is None else PEOPLE.cost.sum()
    assert found.total.lower <= truth <= found.total.upper
    assert all(isinstance(each.value, int) for each in found.numbers().values()) == (values is None)


def test_a_hierarchy_adds_up_and_shows_its_levels() -> None:
    keys = [("N", 2025), ("N", 2026), ("S", 2025)]
    found = curator_of(mo.zcdp(1)).crosstab(
        "region", "year", keys=keys, rho=1, margins=[("region",), ()]
    )
    regions = found.margin("region")
    assert found["N", 2025] + found["N", 2026] == regions["N"].value
    assert regions["N"].value + regions["S"].value == found.total.value
    assert found.keys == tuple(keys)
    assert list(found.frame().columns) == [
        "region", "year", "value", "lower", "upper", "unadjusted"
    ]  # fmt: skip
    assert len(found.frame()) == 3 + 2 + 1


def test_noise_and_intervals_are_those_of_the_law(margins_too) -> None:
    """Squared errors are the variances, and intervals hold; noise off by 30 % fails both."""
    truth = PEOPLE.groupby(["region", "sex"]).size()
    curator, squares, missed, wide = curator_of(mo.zcdp(1000)), [], [], []
    for _ in range(60):
        found = curator.crosstab("region", "sex", keys=CODES, rho="0.02")
        cells = found.numbers()
        margins = (found.by, *found.margins)
        for margin, measured in zip(margins, found.error_model.measured, strict=True):
            names = list(margin)
            true = truth.groupby(level=names).sum() if names else {(): truth.sum()}
            for key, each in (found.numbers(*margin) if margin else {(): found.total}).items():
                right = true[key]
                squares.append((each.unadjusted - right) ** 2 / measured.noise.variance)
                missed.append(not each.lower <= right <= each.upper)
        wide.append(cells["N", "f"].upper - cells["N", "f"].lower)
    assert 0.85 < np.mean(squares) < 1.15  # 720 squares: 0.3 more is 1.69, or 0.49
    assert 0.02 < np.mean(missed) < 0.08
    assert max(wide) - min(wide) < 3


def test_adjusted_margins_are_better_than_sums_of_cells() -> None:
    table = pd.DataFrame({"a": RNG.integers(0, 16, 3000), "b": RNG.integers(0, 12, 3000)})
    keys = {"a": list(range(16)), "b": list(range(12))}
    curator, errors = curator_of(mo.zcdp(100), table), {"a": [], "b": [], "total": []}
    for _ in range(12):
        found = curator.crosstab("a", "b", keys=keys, rho="0.5")
        for name in ("a", "b"):
            true = table.groupby(name).size()
            errors[name] += [e.value - true[k] for k, e in found.margin(name).items()]
        errors["total"].append(found.total.value - 3000)
    alone = {"a": 12, "b": 16, "total": 192}
    for name, size in alone.items():
        assert np.mean(np.square(errors[name])) ** 0.5 < 0.9 * size**0.5, name


def test_persons_and_drawn_labels() -> None:
    unit = mo.unit_of("person")
    whole = curator_of(mo.pure(10), unit=unit).crosstab("region", "sex", keys=CODES, epsilon=10)
    assert whole.total.lower <= N <= whole.total.upper * 1.2
    assert whole.groups_found is not None
    curator = curator_of(mo.approx(10, "1e-5"), unit=mo.unit_of("person", max_rows=2))
    drawn = curator.crosstab("region", "sex", key_budget=mo.approx(2, "1e-6"), epsilon=1)
    assert {*drawn.keys} == {*product(["N", "S", "W"], ["f", "m"])}
    assert curator.spent == mo.approx(3, "1e-6")
    combined = curator_of(mo.zcdp(9), unit=mo.unit_of("person", combine="mean"))
    means = combined.crosstab("region", keys=CODES["region"], max_groups=2, rho=1)
    assert means.unit.groups == 2
    empty = curator_of(mo.approx(9, "1e-5"), PEOPLE[:0])
    nothing = empty.crosstab("region", "sex", key_budget=mo.approx(1, "1e-9"), epsilon=1)
    assert (nothing.keys, nothing.total.value) == ((), 0)
    assert "0 cells" in str(nothing)
    assert "0 cells" in nothing.to_html()
    assert json.loads(nothing.to_json())["tables"][0]["numbers"] == []


@pytest.mark.parametrize("within", [None, (0, 10)])
def test_a_sum_without_cells_can_be_stored(within) -> None:
    """No label was drawn, so no bounds were found either."""
    table = pd.DataFrame({"a": [f"x{i}" for i in range(50)], "v": 1.5})
    found = mo.crosstab(
        table, "a", key_budget=mo.approx("0.1", "1e-9"), values="v", within=within, epsilon=1
    )
    assert found.keys == ()
    assert from_text(to_text(found)) == found
    assert type(found).from_json(found.to_json()) == found


def test_too_few_values_are_said_to_be_too_few() -> None:
    found = curator_of(table=PEOPLE[:3]).crosstab(
        "region", "sex", keys=CODES, values="cost", epsilon="0.1"
    )
    assert not found.usable
    assert "no usable answer" in str(found)
    assert json.loads(found.to_json())["usable"] is False
    assert "nan" not in found.to_html().lower()


def test_value_counts_are_sorted_with_shares() -> None:
    found = curator_of(mo.approx(5, "1e-5")).value_counts(
        "region", key_budget=mo.approx(1, "1e-6"), epsilon=1
    )
    assert found.keys == ("N", "S", "W")
    shares = found.shares()
    assert sum(each.value for each in shares.values()) == pytest.approx(1)
    assert all(each.lower <= each.value <= each.upper for each in shares.values())
    assert list(found.frame().region) == ["N", "S", "W"]
    assert "50" in str(found).splitlines()[2]
    with pytest.raises(mo.InvalidArgument, match="strictly between 0 and 1, got 2"):
        found.shares(2)


REFUSED = {
    "no keys": ({}, "either keys"),
    "both": ({"keys": CODES, "key_budget": mo.approx(1, "1e-6")}, "either keys"),
    "empty": ({"keys": {"region": [], "sex": ["f"]}}, "keys is empty"),
    "twice": ({"keys": {"region": ["N", "N"], "sex": ["f"]}}, "must be different"),
    "overlap": ({"keys": [("N", "f"), ("N", "f")]}, "must be different"),
    "short": ({"keys": [("N",)]}, "tuple of 2"),
    "other names": ({"keys": {"region": ["N"], "age": [1]}}, "a list for each"),
    "no subset": ({"keys": CODES, "margins": [("age",)]}, "keeps some of the columns"),
    "all columns": ({"keys": CODES, "margins": [("region", "sex")]}, "keeps some of the columns"),
    "margin twice": ({"keys": CODES, "margins": [(), ()]}, "must be different"),
    "text margin": ({"keys": CODES, "margins": ["sex"]}, "tuple of columns"),
    "one text": ({"keys": CODES, "margins": "sex"}, "True, False, or a list"),
    "range": ({"keys": CODES, "within": (0, 1)}, "values="),
    "groups": ({"keys": CODES, "max_groups": 2}, "max_groups"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_arguments_are_refused_and_cost_nothing(name) -> None:
    arguments, message = REFUSED[name]
    curator = curator_of()
    with pytest.raises(InvalidArgument, match=message):
        curator.crosstab("region", "sex", epsilon=1, **arguments)
    assert curator.spent.amount == 0


def test_a_cost_that_is_too_small_is_refused_before_labels_are_drawn() -> None:
    table = pd.DataFrame({"a": [1, 2] * 500, "b": ["x", "y"] * 500})
    curator = mo.Curator(table, unit=mo.unit_of(rows=3), budget=mo.approx(1, "1e-6"))
    keys = mo.approx("0.5", "1e-9")
    for ask_for in (partial(curator.crosstab, "a", "b"), partial(curator.value_counts, "a")):
        with pytest.raises(InvalidArgument, match="too small"):
            ask_for(key_budget=keys, epsilon="1e-9")
    assert not curator.charges


def test_columns_of_persons_and_unknown_ones_are_refused() -> None:
    curator = curator_of(unit=mo.unit_of("person"))
    keys = {"region": ["N"], "person": [1]}
    with pytest.raises(InvalidArgument, match="says whose a row is"):
        curator.crosstab("region", "person", keys=keys, epsilon=1)
    with pytest.raises(mo.MissingColumn):
        curator.crosstab("regoin", "sex", keys=[("N", "f")], epsilon=1)
    with pytest.raises(InvalidArgument, match="must be different"):
        curator.crosstab("sex", "sex", keys=[("f", "f")], epsilon=1)
    with pytest.raises(InvalidArgument):
        curator.crosstab(3, keys=[1], epsilon=1)
    many = {name: [str(i) for i in range(2000)] for name in CODES}
    with pytest.raises(InvalidArgument, match="cells"):
        curator_of().crosstab("region", "sex", keys=many, epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.crosstab("region", keys=["N"], epsilon=11)
    assert curator.spent.amount == 0


def test_a_key_is_charged_once_and_answered_again(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("visits", mo.zcdp(3))
    curator = mo.Curator(PEOPLE, ledger=url, account="visits")
    first, again = (
        curator.idempotent("May").crosstab("region", "sex", keys=CODES, rho=1) for _ in range(2)
    )
    assert first == again
    assert curator.spent == mo.zcdp(1)
    assert from_text(to_text(first)) == first
    with pytest.raises(mo.KeyReusedError):
        curator.idempotent("May").crosstab("region", "sex", keys=CODES, rho=1, margins=False)


def test_drawn_labels_have_a_key_of_their_own(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    ledger = mo.Ledger.create(url)
    ledger.open_account("visits", mo.approx(9, "1e-5"))
    curator = mo.Curator(PEOPLE, ledger=url, account="visits")
    for _ in range(2):
        keyed = curator.idempotent("May")
        found = keyed.crosstab("region", "sex", key_budget=mo.approx(2, "1e-6"), epsilon=1)
        counts = curator.idempotent("June").value_counts("sex", keys=["f", "m"], epsilon=1)
        number = curator.idempotent("July").n_distinct("region", epsilon=1)
    assert curator.spent == mo.approx(5, "1e-6")
    assert len(found.selection) == 2
    assert type(counts).__name__ == "ValueCounts"
    assert number.column == "region"
    ledger.open_account("small", mo.approx(2, "1e-6"))
    whole = mo.Curator(PEOPLE, ledger=url, account="small").crosstab(
        "region", "sex", "year", key_budget=mo.approx(1, "1e-6"), epsilon=1
    )
    assert len(whole.keys) == 12
    with pytest.raises(BudgetExceeded):
        curator.crosstab("sex", key_budget=mo.approx(2, "1e-6"), epsilon=3)
    assert curator.spent == mo.approx(5, "1e-6")


def test_a_table_in_parts_is_counted_but_not_summed() -> None:
    table = pa.Table.from_pandas(PEOPLE[["region", "sex", "cost"]])
    source = Cluster([table.slice(start, 1500) for start in range(0, N, 1500)])
    curator = mo.Curator(source, budget=mo.pure(99))
    found = curator.crosstab("region", "sex", keys=CODES, epsilon=50)
    truth = PEOPLE.groupby(["region", "sex"]).size()
    assert {key: found[key] for key in found.keys} == truth.to_dict()
    with pytest.raises(UnsupportedData, match="stay where they are"):
        curator.crosstab("region", "sex", keys=CODES, values="cost", epsilon=1)
    assert curator.spent == mo.pure(50)


def test_forms_of_the_answer(tmp_path, capsys) -> None:
    found = curator_of(mo.zcdp(1)).crosstab("region", "sex", keys=CODES, rho=1)
    wide = found.frame(wide=True)
    assert list(wide.columns) == ["region", "f", "m", "total"]
    assert wide.iloc[3]["total"] == found.total.value
    record = json.loads(found.to_json())
    assert record["schema"] == "modicum.crosstab/1"
    assert [each["columns"] for each in record["tables"]] == [
        ["region", "sex"], ["region"], ["sex"], []
    ]  # fmt: skip
    assert "<table" in found.to_html() == found._repr_html_()
    assert "total" in str(found)
    assert "region, sex" in found.explain()
    PEOPLE.to_parquet(path := tmp_path / "people.parquet")
    cells = ["crosstab", str(path), "region", "year", "--keys", "N,S", "--keys", "2025,2026"]
    assert main([*cells, "--epsilon", "1"]) == 0
    assert "2026" in capsys.readouterr().out
    assert main([*cells, "--rho", "1", "--margin", "year", "--html"]) == 0
    assert "<table" in capsys.readouterr().out
    assert main([*cells, "--rho", "1", "--values", "cost", "--within=0,1e6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["statistic"] == "sum"
    counts = ["value-counts", str(path), "sex", "--key-epsilon", "1", "--key-delta", "1e-6"]
    assert main([*counts, "--epsilon", "1"]) == 0
    assert "share" in capsys.readouterr().out
    assert main(["n-distinct", str(path), "region", "--epsilon", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == 3
    assert main([*cells, "--epsilon", "1", "--no-margins", "--margin", "year"]) == 2
    assert main([*cells[:-2], "--epsilon", "1"]) == 2
    assert main([*cells, "--key-epsilon", "1", "--key-delta", "1e-6", "--epsilon", "1"]) == 2
    assert "once for each column" in capsys.readouterr().err


def test_cells_are_taken_as_of_a_mapping() -> None:
    table = pd.DataFrame({"region": ["N", "S", "S"] * 999, "sex": ["f", "f", "m"] * 999})
    keys = {"region": ["N", "S"], "sex": ["f", "m"]}
    found = mo.crosstab(table, "region", "sex", keys=keys, epsilon=1)
    assert [*found] == [*found.keys]
    assert len(found) == 4
    assert ("N", "f") in found
    assert "N" not in found
    assert found.items() == [(key, found[key]) for key in found]
    assert found.values() == [found[key] for key in found]
    with pytest.raises(KeyError, match=r"over the others is margin\('region'\)\['N'\]"):
        found["N"]
    with pytest.raises(KeyError, match=r"there is no 'f',.*margin"):
        found["f"]
    ranked = mo.value_counts(table, "region", keys=["N", "S"], epsilon=1)
    assert [*ranked] == [*ranked.keys] == ["S", "N"]
    assert ranked.values() == sorted(ranked.values(), reverse=True)
