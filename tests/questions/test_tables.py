"""Questions about a whole table: what the methods of a curator answer, charged once and planned."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum.cli import main
from modicum.privacy.ledger.book import Ledger
from tests.sources.cluster.test_distributed import Cluster

ROWS, RELEASES = 6000, 120
RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "person": RNG.integers(0, 2000, ROWS),
        "sex": RNG.choice(["f", "m"], ROWS),
        "region": RNG.choice(["N", "S", "W"], ROWS, p=[0.6, 0.38, 0.02]),
        "age": RNG.integers(18, 90, ROWS),
        "pay": RNG.lognormal(8, 1.5, ROWS),
    }
)
CELLS = """
[[question]]
name = "cells"
statistic = "crosstab"
by = ["sex", "region"]
keys = { sex = ["f", "m"], region = ["N", "S", "W"] }
where = "age >= 40"
epsilon = 1
publish = { wide = "region" }
"""
PAY = """
[[question]]
name = "pay"
statistic = "crosstab"
by = ["sex", "region"]
keys = [["f", "N"], ["m", "N"], ["m", "S"]]
values = "pay"
within = [0, 1e7]
margins = [["sex"], []]
epsilon = 1
"""
DRAWN = """
[[question]]
name = "drawn"
statistic = "crosstab"
by = ["sex", "region"]
key_epsilon = 1
key_delta = 1e-6
margins = false
epsilon = 0.5
"""
LABELS = """
[[question]]
name = "labels"
statistic = "value_counts"
column = "region"
keys = ["N", "S", "E"]
epsilon = 0.5
"""
DRAWN_LABELS = """
[[question]]
name = "drawn labels"
statistic = "value_counts"
column = "region"
key_epsilon = 1
key_delta = 1e-6
epsilon = 0.5
"""
DISTINCT = """
[[question]]
name = "ages"
statistic = "n_distinct"
column = "age"
epsilon = 0.5
"""
HEAD = 'table = "people.parquet"\naccount = "people"\n'
FILE = HEAD + CELLS + PAY + DRAWN + LABELS + DRAWN_LABELS + DISTINCT
TOTAL = mo.approx(6, "2e-6")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    TABLE.to_parquet(tmp_path / "people.parquet")
    (tmp_path / "survey.toml").write_text(FILE)
    mo.Ledger.create(url(tmp_path)).open_account("people", mo.approx(8, "1e-5"))
    return tmp_path


def url(folder: Path) -> str:
    return f"sqlite:///{folder}/budget.db"


def charges(folder: Path) -> list[str]:
    entries = mo.Ledger(url(folder)).entries("people")
    return [str(each.key) for each in entries if each.action == "charge"]


def read(folder: Path, text: str) -> mo.questions.QuestionFile:
    (folder / "survey.toml").write_text(text)
    return mo.questions.read(folder / "survey.toml")


def test_tables_are_answered_and_written(folder: Path) -> None:
    survey = mo.questions.read(folder / "survey.toml")
    done = survey.run(ledger=url(folder))
    assert done.complete
    assert done.usable
    cells, drawn, labels = (done.answers[each] for each in ("cells", "drawn", "labels"))
    true = TABLE[TABLE.age >= 40].groupby(["sex", "region"]).size()
    assert cells.keys == tuple(true.index)
    assert cells.view == ("where age >= 40",)
    assert all(abs(cells[key] - true[key]) < 60 for key in true.index)
    assert cells.margin("sex")["f"].value == cells["f", "N"] + cells["f", "S"] + cells["f", "W"]
    pay = done.answers["pay"]
    assert (pay.statistic, pay.column, len(pay.keys)) == ("sum", "pay", 3)
    assert pay.margins == (("sex",), ())
    assert drawn.margins == ()
    assert {("f", "N"), ("m", "S")} <= {*drawn.keys}
    assert 0.5 < labels.shares()["N"].value < 0.7
    assert labels.keys[:2] == ("N", "S")
    assert {"N", "S"} <= {*done.answers["drawn labels"].keys}
    assert done.answers["ages"].value == pytest.approx(72, abs=40)
    for name, answer in done.answers.items():
        assert (done.folder / f"{name}.txt").read_text("utf-8") == f"{answer}\n"
        assert type(answer).from_json((done.folder / f"{name}.json").read_text()) == answer
        assert (done.folder / f"{name}.csv-metadata.json").exists()
    lines = (done.folder / "cells.csv").read_text().splitlines()
    assert lines[0].startswith("sex,N,N lower")
    assert lines[1].startswith(f"f,{cells['f', 'N']},")
    written = pd.read_csv(done.folder / "labels.csv")
    assert [*written.columns] == ["region", "value", "lower", "upper", "flag", "reason"]
    assert [*written.region] == ["N", "S", "E", "total"]
    index = json.loads((done.folder / "run.json").read_text("utf-8"))
    assert [each["question"] for each in index["questions"]] == [
        "crosstab of rows by sex, region",
        "crosstab of pay by sex, region",
        "crosstab of rows by sex, region",
        "value_counts of region",
        "value_counts of region",
        "n_distinct of age",
    ]
    assert "6 cells of sex × region (2 × 3)" in str(done)


def test_they_cost_what_was_said_and_once(folder: Path) -> None:
    survey = mo.questions.read(folder / "survey.toml")
    cost = survey.cost(ledger=url(folder))
    assert (cost.total, cost.due) == (TOTAL, TOTAL)
    assert charges(folder) == []
    first = survey.run(ledger=url(folder))
    spent = mo.Ledger(url(folder)).account("people").spent
    assert spent <= TOTAL
    assert float(spent.amount) == pytest.approx(6, abs=1e-9)
    keys = charges(folder)
    assert len(keys) == len({*keys}) == 6 + 2 + 1  # labels of two columns, and of one
    again = mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    assert again.answers == first.answers
    assert charges(folder) == keys
    assert survey.cost(ledger=url(folder)).due == TOTAL - TOTAL
    curator = mo.Curator(TABLE, ledger=url(folder), account="people")
    asked = curator.idempotent(survey.questions[3].key("survey"))
    same = asked.value_counts("region", keys=["N", "S", "E"], epsilon="0.5")
    assert same == first.answers["labels"]
    assert charges(folder) == keys


@pytest.mark.parametrize("after", [0, 2, 3, 4, 7])
def test_a_run_that_ends_after_a_charge_is_continued(folder: Path, monkeypatch, after) -> None:
    """Labels of two columns and the cells are charged apart; none of it twice."""
    real, left = Ledger.record, [after]

    def ending(*arguments: object) -> str:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(Ledger, "record", ending)
    survey = mo.questions.read(folder / "survey.toml")
    with pytest.raises(KeyboardInterrupt):
        survey.run(ledger=url(folder))
    monkeypatch.undo()
    before = charges(folder)
    assert len(before) == after + 1
    assert survey.run(ledger=url(folder)).complete
    keys = charges(folder)
    assert len(keys) == len({*keys}) == 9
    assert keys[: len(before)] == before
    assert mo.Ledger(url(folder)).account("people").spent <= TOTAL


def test_a_price_that_does_not_fit_asks_nothing(folder: Path) -> None:
    survey = read(folder, HEAD + LABELS + CELLS.replace("= 1\n", "= 8\n"))
    with pytest.raises(mo.BudgetExceeded, match=r"question 'cells', epsilon: .* nothing was asked"):
        survey.run(ledger=url(folder))
    survey = read(folder, HEAD + LABELS + DRAWN.replace("1e-6", "1e-4"))
    with pytest.raises(mo.BudgetExceeded, match=r"question 'drawn', epsilon: .* nothing was asked"):
        survey.run(ledger=url(folder))
    mo.Ledger(url(folder)).open_account("pure", mo.pure(9))
    with pytest.raises(mo.InvalidArgument, match="question 'drawn', key_epsilon: "):
        survey.run(ledger=url(folder), account="pure")
    assert charges(folder) == []
    assert not (folder / "survey-answers").exists()


def test_rows_that_stay_elsewhere_are_counted_and_not_summed(folder: Path) -> None:
    source = Cluster([pa.Table.from_pandas(TABLE)])
    assert read(folder, HEAD + CELLS).cost(source, ledger=url(folder)).due.amount == 1
    with pytest.raises(mo.UnsupportedData, match="question 'pay', values: the rows of"):
        read(folder, HEAD + PAY).cost(source, ledger=url(folder))


def test_keys_of_one_column_are_those_of_its_list(folder: Path) -> None:
    for text in (LABELS, LABELS.replace("value_counts", "crosstab").replace("column", "by")):
        named = text.replace('["N", "S", "E"]', '{ region = ["N", "S", "E"] }')
        (asked,) = read(folder, HEAD + named).questions
        assert asked.keys == ["N", "S", "E"]
    mean = '[[question]]\nname = "m"\nstatistic = "mean"\ncolumn = "pay"\nepsilon = 1\n'
    survey = read(folder, HEAD + mean + 'by = "region"\nkeys = { region = ["N", "S"] }\n')
    assert [*survey.run(ledger=url(folder)).answers["m"]] == ["N", "S"]


def plans(folder: Path, text: str) -> list[mo.questions.QuestionPlans]:
    return [*read(folder, text).plan().plans]


def test_the_noise_is_told_before(folder: Path, capsys) -> None:
    found = plans(folder, FILE)
    assert [each.why for each in found] == [
        "",
        "the bounds of a sum are found",
        "the labels are drawn",
        "",
        "the labels are drawn",
        "",
    ]
    of_cells = found[0].plan.noises
    assert [(each.what, each.numbers) for each in of_cells] == [
        ("cells", 6),
        ("sex", 2),
        ("region", 3),
        ("total", 1),
    ]
    assert found[0].words.startswith(
        "error 0.851, interval 6 wide, of 6 cells; error of margins: sex 1."
    )
    assert found[5].words == "error 1.92, interval 12 wide"
    assert main(["run", str(folder / "survey.toml"), "--plan", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["questions"][0]
    assert record["plan"]["schema"] == "modicum.noise-plan/1"
    assert record["plan"]["noise"][3]["error"] == of_cells[3].error
    done = mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    for each in of_cells:
        margin = {"cells": ("sex", "region"), "total": ()}.get(each.what, (each.what,))
        sums = done.answers["cells"].margin(*margin)
        widths = [number.upper - number.lower for number in sums.values()]
        assert max(widths) == pytest.approx(each.interval_width, abs=1)
    lower, upper = done.answers["ages"].interval()
    assert upper - lower == found[5].plan.noises[0].interval_width


@pytest.mark.parametrize(
    ("unit", "most"),
    [(mo.unit_of(rows=2), None), (mo.unit_of("person", combine="mean"), 15)],
    ids=["rows", "persons"],
)
def test_planned_errors_are_those_of_releases(folder: Path, unit, most) -> None:
    """They are the mean of many; 30 % less or more is told apart. No row of a person is dropped."""
    said = "rows = 2" if most is None else 'column = "person", combine = "mean"'
    groups = "" if most is None else f"max_groups = {most}\n"
    text = f"unit = {{ {said} }}\n" + HEAD
    cells = CELLS.replace("epsilon = 1", "rho = 0.02").replace('where = "age >= 40"\n', groups)
    ages = DISTINCT.replace("epsilon = 0.5", "rho = 2") + groups
    planned, of_ages = plans(folder, text + cells + ages)
    keys = {"sex": ["f", "m"], "region": ["N", "S", "W"]}
    records = TABLE if most is None else TABLE.drop_duplicates(["person", "sex", "region"])
    true = records.groupby(["sex", "region"]).size()
    counts = [true.to_numpy(), *(true.groupby(level=each).sum() for each in keys), [len(records)]]
    errors: list[list[np.ndarray]] = [[] for _ in counts]
    for _ in range(RELEASES):
        found = mo.crosstab(
            TABLE, "sex", "region", keys=keys, rho="0.02", unit=unit, max_groups=most
        )
        for margin, count, sizes in zip(
            (("sex", "region"), ("sex",), ("region",), ()), counts, errors, strict=True
        ):
            values = [each.value for each in found.margin(*margin).values()]
            sizes.append(np.abs(np.array(values) - np.array(count)))
    for each, sizes in zip(planned.plan.noises, errors, strict=True):
        assert np.mean(sizes) == pytest.approx(each.error, rel=0.25)
    labels = TABLE.age.nunique()
    off = [
        abs(mo.n_distinct(TABLE, "age", rho=2, unit=unit, max_groups=most).value - labels)
        for _ in range(RELEASES)
    ]
    assert np.mean(off) == pytest.approx(of_ages.plan.noises[0].error, rel=0.25)


def test_persons_whose_numbers_are_found_have_no_plan(folder: Path) -> None:
    head = 'unit = { column = "person" }\n' + HEAD
    assert plans(folder, head + CELLS)[0].why.startswith("in how many cells a person counts")
    assert plans(folder, head + CELLS + "max_groups = 2\n")[0].why
    persons = head.replace(" }", ', combine = "sum" }')
    assert plans(folder, persons + CELLS)[0].why == "max_groups is missing"
    assert plans(folder, HEAD + CELLS + "max_groups = 2\n")[0].why.startswith("the file has no")
    with pytest.raises(mo.InvalidArgument, match="'ages', max_groups: one person may have all"):
        plans(folder, head + DISTINCT)
    assert plans(folder, head + DISTINCT.replace('"age"', '"person"'))[0].plan
    with pytest.raises(mo.InvalidArgument, match="'cells', expect: a crosstab is planned without"):
        plans(folder, HEAD + CELLS + "expect = { n = 5 }")
    with pytest.raises(mo.InvalidArgument, match="'labels', keys: keys must be different"):
        plans(folder, HEAD + LABELS.replace('"E"', '"S"'))
    with pytest.raises(mo.InvalidArgument, match=r"'labels', epsilon: .* too small"):
        plans(folder, HEAD + LABELS.replace("0.5", "1e-12"))
