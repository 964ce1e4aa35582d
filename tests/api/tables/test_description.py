"""Whole tables at a glance: what is asked, charged, shown; columns of every kind, ugly ones too."""

import json

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.api.tables.description import Number
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy

RNG = np.random.default_rng(5)
ROWS = 20_000
TABLE = pd.DataFrame(
    {
        "id": np.arange(ROWS) // 2,
        "income": np.where(RNG.random(ROWS) < 0.2, np.nan, RNG.lognormal(10, 1, ROWS)),
        "age": RNG.integers(18, 90, ROWS),
        "insured": RNG.random(ROWS) < 0.7,
        "region": RNG.choice(["North", "South", "<b>"], ROWS, p=[0.6, 0.3, 0.1]),
        "day": pd.to_datetime(RNG.integers(0, 20_000, ROWS), unit="D"),
    }
)
BUDGET = mo.approx(8, "1e-6")


@pytest.fixture(scope="module")
def found() -> mo.Description:
    return mo.describe(TABLE, budget=BUDGET)


def test_numbers_and_labels_are_near_the_truth(found: mo.Description) -> None:
    assert found.rows.value == pytest.approx(ROWS, abs=300)
    assert found.columns == ("id", "income", "age", "insured")
    assert found.missing("income") == pytest.approx(TABLE.income.isna().mean(), abs=0.02)
    assert found.numbers["mean income"].value == pytest.approx(TABLE.income.mean(), rel=0.05)
    assert found.numbers["mean insured"].value == pytest.approx(0.7, abs=0.02)
    assert found.numbers["quartiles age"].values == pytest.approx([36, 54, 72], abs=2)
    assert "quartiles insured" not in found.numbers
    counts = found.labels["region"]
    assert {key: each.value for key, each in counts.items()} == pytest.approx(
        TABLE.region.value_counts().to_dict(), abs=200
    )
    assert found.skipped == {"day": TABLE.day.dtype.name}
    assert found.usable


@pytest.mark.parametrize(("rows", "epsilon", "told"), [(ROWS, "2", True), (200, "0.2", False)])
def test_the_share_of_missing_values_has_an_interval(rows: int, epsilon: str, told: bool) -> None:
    """With too little budget it is a dash, and not a number."""
    table = TABLE[["income", "age"]][:rows]
    covered = 0
    for seed in range(20):
        curator = mo.Curator(table, budget=mo.pure(2), entropy=SeededEntropy(f"missing {seed}"))
        found = curator.describe(epsilon=epsilon)
        frame = found.frame().set_index(["column", "statistic"])
        for name in table:
            row = frame.loc[(name, "missing")]
            covered += row.lower <= table[name].isna().mean() <= row.upper
            assert row.lower <= found.missing(name) <= row.upper
            assert row.usable == told
        line = next(text for text in str(found).splitlines() if text.startswith("  income"))
        assert ("%" in line) == told
    assert covered >= 36  # of 40: at least 95 % are


@pytest.mark.parametrize("column", ["region", "day", "none"])
def test_missing_values_are_known_of_numbers(found: mo.Description, column: str) -> None:
    with pytest.raises(mo.InvalidArgument, match="columns of numbers"):
        found.missing(column)


def test_it_costs_what_was_said_and_no_more() -> None:
    for budget in (mo.pure(3), mo.zcdp("0.5"), BUDGET):
        curator = mo.Curator(TABLE, budget=budget + budget)
        found = curator.describe(budget=budget)
        assert found.cost == budget
        assert curator.spent <= budget
        assert float(curator.spent.amount) == pytest.approx(float(budget.amount))
        assert ("region" in found.labels) == bool(budget.delta)
        assert ("region" in found.skipped) == (not budget.delta)
    curator = mo.Curator(TABLE, budget=mo.pure(1))
    with pytest.raises(mo.BudgetExceeded):
        curator.describe(epsilon=2)
    assert curator.remaining == mo.pure(1)


def test_what_it_shows(found: mo.Description) -> None:
    text = str(found)
    head, names, *rest = text.splitlines()
    assert head.startswith("description of ")
    assert names.split() == ["column", "values", "missing", "mean", "25", "%", "median", "75", "%"]
    assert any(line.startswith("  region: North ") for line in rest)
    assert "  note     not described (datetime64" in text
    assert "(ε, δ) = (8, 0.000001) for one row, all columns together" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    html = found._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    notes = sum(line.startswith("  note ") for line in text.splitlines())
    assert html.count("<tr>") == 1 + 4 + 1 + 1 + notes  # head, columns, labels, cost
    frame = found.frame()
    named = ["column", "statistic", "value", "lower", "upper", "usable", "code"]
    assert list(frame.columns) == named
    assert len(frame) == 1 + 3 * 6 + 3 + 3
    assert (frame.lower <= frame.value).all()
    record = json.loads(found.to_json())
    assert record["schema"] == "modicum.description/1"
    assert record["numbers"]["mean age"]["statistic"] == "mean"
    assert repr(found) == "Description(5 columns, (ε, δ) = (8, 0.000001))"
    assert "\nquartiles" not in found.explain()  # no heads of parts
    assert "zeros and other values" in found.explain()


@pytest.mark.parametrize(
    ("number", "words", "margin"),
    [
        (Number(1234.567, 1234.1, 1235.1, usable=True), "1,234.57", "1,234.57 ± 0.50"),
        (Number(1234.567, 1000.0, 1500.0, usable=True), "1,235", "1,235 ± 250"),
        (Number(2013, 2013, 2013, usable=True), "2,013", "2,013 ± 0"),
        (Number(0, 0, 0, usable=True), "0", "0 ± 0"),
        (Number(0.0, -2e-7, 2e-7, usable=True), "0", "0 ± 2e-07"),
        (Number(3.2e-9, 3.1e-9, 3.3e-9, usable=True), "3.2e-09", "3.2e-09 ± 1e-10"),
        (Number(5.0, -1e300, 1e300, usable=True), "5", "5 ± 1e+300"),
        (Number(5.0, 4.0, 6.0, usable=False), "–", "–"),
    ],
)
def test_digits_are_those_that_the_interval_supports(number, words, margin) -> None:
    assert number.words() == words
    assert number.words(margin=True) == margin


def test_columns_rows_and_persons_can_be_chosen() -> None:
    person = mo.unit_of("id")
    found = mo.describe(
        TABLE, ["age", "region"], where="age < 40", unit=person, budget=mo.approx(20, "1e-6")
    )
    assert found.columns == ("age",)
    assert list(found.labels) == ["region"]
    assert found.numbers["quartiles age"].values[2] == pytest.approx(34, abs=2)
    assert "  where    age < 40\n" in str(found)
    assert "one person (id)" in str(found)
    everything = mo.describe(TABLE, unit=person, budget=mo.approx(20, "1e-6"))
    assert "id" not in everything.columns
    with pytest.raises(mo.InvalidArgument, match="whose the rows are"):
        mo.describe(TABLE, ["id"], unit=person, epsilon=1)


def test_a_key_answers_once(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", BUDGET)  # to the last unit
    options = {"ledger": url, "account": "people", "key": "Monday", "budget": BUDGET}
    first, again = (mo.describe(TABLE, **options) for _ in range(2))
    assert first.to_json() == again.to_json()
    assert mo.Ledger(url).account("people").spent <= BUDGET
    with pytest.raises(mo.KeyReusedError):
        mo.describe(TABLE, ["age"], **options)
    with pytest.raises(mo.InvalidArgument, match="ledger"):
        mo.describe(TABLE, epsilon=1, key="Monday")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": []}, dtype=float),
        pd.DataFrame({"x": [1.0]}),
        pd.DataFrame({"x": np.full(3000, np.nan)}),
        pd.DataFrame({"x": np.full(3000, 7.0)}),
        pd.DataFrame({"x": (np.arange(3000) % 50 == 0) * 1.0}),
        pd.DataFrame({"x": np.where(np.arange(3000) % 10, 0, np.arange(3000) * 1e9)}),
        pd.DataFrame({"x": RNG.lognormal(0, 1.5, 3000) * 1e-9}),
        pd.DataFrame({"x": RNG.lognormal(0, 1.5, 3000) * 1e300}),
    ],
    ids=["empty", "one row", "missing", "one value", "2 %", "zeros", "tiny", "huge"],
)
def test_ugly_columns_are_described_honestly(table: pd.DataFrame) -> None:
    found = mo.describe(table, rho=1)
    assert str(found)
    assert json.loads(found.to_json())
    frame = found.frame()
    present = table.x.dropna()
    if len(present) < 2:  # nothing to compare with
        return
    for name, truth in (("mean", present.mean()), ("median", present.median())):
        row = frame[(frame.column == "x") & (frame.statistic == name)].iloc[0]
        if row.usable:
            room = row.upper - row.lower  # it may miss now and then
            assert row.lower - room <= truth <= row.upper + room or abs(truth) > 1e300


def test_a_mean_is_looked_for_where_the_quartiles_are() -> None:
    """Of 1,000 grades with ε = 1.2 in all: a mean of its own could be used in half of these."""
    grades = pd.DataFrame({"x": np.clip(np.round(RNG.normal(70, 12, 1000)), 0, 100)})
    found = [
        mo.Curator(grades, budget=mo.pure("1.2"), entropy=SeededEntropy(f"grades {k}"))
        .describe(epsilon="1.2")
        .numbers
        for k in range(16)
    ]
    beside = [each for each in found if each["quartiles x"].usable]
    means = [each["mean x"] for each in beside if each["mean x"].usable]
    assert len(means) >= len(beside) - 1 >= 12
    truth = grades.x.mean()
    assert np.median([abs(each.value - truth) for each in means]) < 0.6  # 0.05 deviations
    covered = [each.lower <= truth <= each.upper for each in map(Number.of, means)]
    assert sum(covered) >= len(means) - 1


def test_quartiles_that_are_one_value_do_not_say_where_the_others_are() -> None:
    table = pd.DataFrame({"x": np.where(np.arange(30_000) % 10, 0.0, 50.0)})
    found = mo.describe(table, epsilon=2).numbers
    assert found["quartiles x"].values[0] == found["quartiles x"].values[2] == 0
    assert found["mean x"].value == pytest.approx(5, abs=0.3)


@pytest.mark.parametrize(
    ("table", "options", "told"),
    [
        ([1.0, 2.0], {"epsilon": 1}, "named columns"),
        (TABLE, {}, "exactly one of epsilon"),
        (TABLE, {"epsilon": 1, "rho": 1}, "exactly one of epsilon"),
        (TABLE, {"epsilon": 0}, "positive"),
        (TABLE, {"columns": "age", "epsilon": 1}, "a list of names"),
        (TABLE, {"columns": [], "epsilon": 1}, "no column can be described"),
        (TABLE, {"columns": ["agee"], "epsilon": 1}, "did you mean 'age'"),
        (TABLE, {"columns": ["region"], "epsilon": 1}, "drawn for an"),
        (TABLE, {"columns": ["day"], "epsilon": 1}, "no column can be described"),
    ],
)
def test_bad_descriptions(table, options, told) -> None:
    with pytest.raises(mo.ModicumError, match=told):
        mo.describe(table, **options)


def test_the_command_line(tmp_path, capsys) -> None:
    path = tmp_path / "people.parquet"
    TABLE.to_parquet(path)
    assert main(["describe", str(path), "--epsilon", "8", "--delta", "1e-6"]) == 0
    assert "region: North" in capsys.readouterr().out
    words = ["describe", str(path), "age", "income", "--rho", "1", "--where", "insured"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["age", "income"]
    assert main([*words, "--html"]) == 0
    assert capsys.readouterr().out.startswith("<div>")
    csv = tmp_path / "people.csv"
    TABLE.head(3000).to_csv(csv, index=False)
    assert main(["describe", str(csv), "--rho", "1"]) == 0
    assert "no_values" in capsys.readouterr().out  # of texts, which a CSV file does not declare
    assert main(["describe", str(path)]) == 2
    assert "a cost is needed" in capsys.readouterr().err


@pytest.mark.parametrize("budget", [mo.approx(5, "1e-6"), mo.zcdp(2), mo.pure(5)])
def test_a_budget_of_another_kind_holds_what_it_costs(budget: mo.Budget) -> None:
    curator = mo.Curator(TABLE, budget=budget, entropy=SeededEntropy(f"kinds {budget.kind}"))
    assert curator.describe(["age", "income"], epsilon=1).usable
    assert 0 < curator.spent.amount <= 1
    spent = curator.spent
    for answer in (
        curator.crosstab("region", keys=["North"], epsilon="0.1").total,
        curator.value_counts("region", keys=["North"], epsilon="0.1").total,
        curator.n_distinct("id", epsilon="0.1"),
    ):
        assert answer.value > 0
    with pytest.raises(mo.BudgetExceeded):
        curator.describe(epsilon=50)
    assert spent <= curator.spent <= budget


def test_the_numbers_of_a_column_are_taken_by_its_name(found: mo.Description) -> None:
    assert [*found] == ["id", "income", "age", "insured", "region"]
    assert len(found) == 5
    assert "age" in found
    assert "day" not in found
    mean = found.numbers["mean age"]
    assert found["age"]["mean"] == (mean.value, *mean.interval(), mean.usable)
    assert found["age"]["median"].value == found.numbers["quartiles age"].values[1]
    assert found["region"]["North"].value == found.labels["region"]["North"].value
    with pytest.raises(KeyError, match="there is no 'agee', did you mean 'age'"):
        found["agee"]
    with pytest.raises(KeyError, match="a DataFrame"):
        found[TABLE]
