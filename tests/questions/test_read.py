"""What is wrong with a file of questions is said in one line, with the question and the field."""

import json
from pathlib import Path

import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main
from modicum.questions import file, question

HEAD = 'account = "people"\ntable = "people.csv"\n'
GOOD = '[[question]]\nname = "a"\nstatistic = "mean"\ncolumn = "pay"\nepsilon = 1\n'
COUNT = '[[question]]\nname = "a"\nstatistic = "count"\nepsilon = 1\n'
CELLS = COUNT.replace('"count"', '"crosstab"') + "by = ['sex', 'day']\nkeys = [['f', 1]]\n"
LABELS = COUNT.replace('"count"', '"value_counts"') + "column = 'sex'\nkeys = ['f']\n"
DISTINCT = COUNT.replace('"count"', '"n_distinct"') + "column = 'sex'\n"


def read(tmp_path: Path, text: str) -> mo.questions.QuestionFile:
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    return mo.questions.read(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "survey.toml, question: there is none"),
        ("question = 3", "survey.toml, question: there is none"),
        ("question = [3]", "question 1, name: every question needs a name"),
        ("[[question]]\nstatistic = 'mean'", "question 1, name: every question needs a name"),
        ("acount = 'x'\n" + GOOD, "no field 'acount', did you mean 'account'"),
        ("account = 3\n" + GOOD, "survey.toml, account: it must be text"),
        ("name = 'a/b'\n" + GOOD, "survey.toml, name: it must be up to 60 letters"),
        (GOOD.replace('"a"', '"../a"'), "question 1, name: it must be up to 60 letters"),
        (GOOD.replace('"a"', '"a "'), "question 1, name: it must be"),
        (GOOD + GOOD.replace('"a"', '"A"'), "question 'a', name: it is taken"),
        (GOOD.replace('"a"', '"Run"'), "question 'Run', name: it is taken"),
        (GOOD.replace('"mean"', '"meen"'), "question 'a', statistic: .* did you mean 'mean'"),
        (GOOD.replace('"mean"', '"monotone_statistic"'), "question 'a', statistic: it must be one"),
        (GOOD + "colum = 1", "question 'a': there is no field 'colum', did you mean 'column'"),
        (GOOD + "q = 0.5", "question 'a': there is no field 'q'"),
        (GOOD.replace('column = "pay"', ""), "question 'a', column: it is missing"),
        (GOOD.replace('"pay"', "3"), "question 'a', column: column must be a column name"),
        (GOOD.replace("epsilon = 1", ""), "question 'a', epsilon: give epsilon"),
        (GOOD + "rho = 1", "question 'a', epsilon: give epsilon"),
        (GOOD.replace("epsilon = 1", "epsilon = -1"), "question 'a', epsilon: .* positive"),
        (GOOD.replace("epsilon = 1", "epsilon = 'much'"), "question 'a', epsilon: .*'much'"),
        (GOOD.replace("epsilon = 1", "rho = 1\ndelta = 1e-6"), "'a', delta: it goes with epsilon"),
        (GOOD + "delta = 2", "question 'a', delta: delta must be below 1"),
        (GOOD + "within = [1, 0]", "question 'a', within: within"),
        (GOOD + "within = 3", "question 'a', within: within"),
        (GOOD + "method = 'best'", "question 'a', method: method must be one of"),
        (GOOD + "population = 1", "question 'a', population: population must be"),
        (GOOD.replace('"mean"', '"quantile"'), r"question 'a', q: quantile\(\) needs q="),
        (GOOD.replace('"mean"', '"quantile"') + "q = 50", "question 'a', q: q must lie"),
        (GOOD + "where = 3", "question 'a', where: "),
        (GOOD + "with = 3", "question 'a', with: it must be a table"),
        (GOOD + "by = 3", "question 'a', by: it must be a column or a list"),
        (GOOD + "by = 'sex'", "question 'a', keys: give keys, known beforehand"),
        (GOOD + "by = 'sex'\nkeys = ['f']\nkey_epsilon = 1", "question 'a', keys: give keys"),
        (GOOD + "by = 'sex'\nkeys = 'f'", "question 'a', keys: it must be a list"),
        (
            GOOD + "by = ['sex', 'day']\nkeys = {sex = ['f']}",
            "keys: it must have a list for each of",
        ),
        (GOOD + "by = 'sex'\nkeys = {age = [1]}", "keys: it must have a list for each of sex, got"),
        (
            GOOD + "by = 'sex'\nkeys = {sex = 'fm'}",
            "keys: it must have a list for each of sex, got",
        ),
        (GOOD + "by = 'sex'\nkey_epsilon = 1", "question 'a', key_delta: it is missing"),
        (GOOD + "by = 'sex'\nkey_epsilon = 1\nkey_delta = 2", "question 'a', key_epsilon: "),
        (GOOD + "keys = ['f']", "question 'a', keys: it needs by"),
        (GOOD + "max_groups = 2", "question 'a', max_groups: it needs by"),
        (COUNT.replace('"count"', '"describe"') + "by = 'x'\nkeys = ['f']", "'a', by: groups are"),
        (COUNT.replace('"count"', '"describe"') + "column = 'x'", "no field 'column', did you"),
        (COUNT.replace('"count"', '"describe"') + "columns = 'x'", "columns: it must be a list"),
        (CELLS.replace("by = ['sex', 'day']", ""), "question 'a', by: it is missing"),
        (
            CELLS.replace("keys", "key"),
            "question 'a': there is no field 'key', did you mean 'keys'",
        ),
        (CELLS + "column = 'pay'", "question 'a': there is no field 'column'"),
        (
            CELLS + "margins = 3",
            "question 'a', margins: it must be true, false, or a list of lists",
        ),
        (CELLS + "margins = ['sex']", "question 'a', margins: it must be true, false, or a list"),
        (CELLS + "margins = [[['sex']]]", "question 'a', margins: it must be true, false, or a"),
        (CELLS + "margins = [['age']]", "'a', margins: a margin keeps some of the columns"),
        (CELLS + "within = [0, 1]", "question 'a', within: it needs values, the column to sum"),
        (CELLS + "values = 3", "question 'a', values: it must be a column name, got 3"),
        (CELLS + "values = 'pay'\nwithin = [1, 0]", "question 'a', within: within must be"),
        (CELLS + "values = 'pay'\nstep = 1", "question 'a', step: step needs within"),
        (COUNT.replace('"count"', '"value_counts"'), "question 'a', column: it is missing"),
        (LABELS.replace("'sex'", "3"), "question 'a', column: it must be a column name, got 3"),
        (LABELS + "by = 'sex'", "question 'a': there is no field 'by'"),
        (LABELS.replace("keys", "key_epsilon = 1 #"), "question 'a', key_delta: it is missing"),
        (DISTINCT + "keys = ['f']", "question 'a': there is no field 'keys'"),
        (DISTINCT.replace("'sex'", "['sex']"), "'a', column: it must be a column name, got"),
        (GOOD + "expect = 3", "question 'a', expect: it must be a table"),
        (GOOD + "publish = 3", "question 'a', publish: it must be a table"),
        (GOOD + "publish = { digit = 3 }", "publish: there is no field 'digit', did you mean"),
        (GOOD + "publish = { digits = 'two' }", "question 'a', publish, digits: digits must be"),
        (GOOD + "publish = { base = 0 }", "question 'a', publish, base: base must be"),
        (GOOD + "publish = { level = 2 }", "question 'a', publish, level: level must be"),
        (GOOD + "publish = { tail = 'no' }", "question 'a', publish, tail: tail must be"),
        (
            GOOD + "publish = { suppress = { x = 1 } }",
            "publish, suppress: suppress has no rule 'x'",
        ),
        (GOOD + "publish = { wide = 'sex' }\nby = 'age'\nkeys = [1]", "publish, wide: it must be"),
        (GOOD + "publish = { population = true }", "publish, population: the question has to ask"),
        ("publish = { digit = 3 }\n" + GOOD, "survey.toml, publish: there is no field 'digit'"),
        ("publish = 3\n" + GOOD, "survey.toml, publish: it must be a table"),
        ("unit = 3\n" + GOOD, "survey.toml, unit: it must be a table"),
        ("unit = { colum = 'x' }\n" + GOOD, "survey.toml, unit: there is no field 'colum'"),
        ("unit = { rows = 0 }\n" + GOOD, "survey.toml, unit: .* positive integer"),
        ("csv = { sep = ';' }\n" + GOOD, "survey.toml, csv: there is no field 'sep'"),
    ],
)
def test_a_field_that_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(mo.InvalidArgument, match=words) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(mo.SourceError, match=r"cannot read .*none.toml: No such file"):
        mo.questions.read(tmp_path / "none.toml")
    for data in (b"a = [", b"\xff\xfe", b"a = 1\na = 2"):
        (tmp_path / "bad.toml").write_bytes(data)
        with pytest.raises(mo.SourceError, match=r"bad\.toml is no TOML file"):
            mo.questions.read(tmp_path / "bad.toml")
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert len(mo.questions.read(tmp_path / "bom.toml").questions) == 1


CROSSED = CELLS.replace("'day'", "'pay'").replace(
    "[['f', 1]]", "{ sex = ['f', 'm'], pay = [1, 2] }"
)
MANY = str([*range(500_001)])
TABLE = pd.DataFrame({"pay": [1.0, 2.0] * 500, "sex": ["f", "m"] * 500, "day": pd.Timestamp(0)})


@pytest.mark.parametrize(
    ("text", "words", "kind"),
    [
        (GOOD.replace('"pay"', '"pai"'), "'a', column: .*did you mean 'pay'", mo.MissingColumn),
        (GOOD.replace('"pay"', '"sex"'), "'a', column: ", mo.ModicumError),
        (COUNT + "column = 'pai'", "question 'a', column: ", mo.MissingColumn),
        (GOOD + "weights = 'pai'", "question 'a', (weights|column): ", mo.MissingColumn),
        (GOOD + "where = 'pai > 1'", "question 'a', where: ", mo.MissingColumn),
        (GOOD + "where = 'pay >'", "question 'a', where: ", mo.InvalidArgument),
        (GOOD + "with = { x = 'pai + 1' }", "question 'a', with, x: ", mo.MissingColumn),
        (GOOD + "by = 'sx'\nkeys = ['f']", "question 'a', by: ", mo.MissingColumn),
        (GOOD + "by = 'sex'\nkeys = []", "question 'a', keys: keys is empty", mo.InvalidArgument),
        (GOOD + "by = 'sex'\nkeys = ['f', 'f']", "'a', keys: keys must be dif", mo.InvalidArgument),
        (GOOD + "by = 'day'\nkeys = ['f']", "question 'a', keys: ", mo.InvalidArgument),
        (GOOD + "by = ['sex', 'sex']\nkeys = [['f', 'f']]", "'a', by: ", mo.InvalidArgument),
        (
            GOOD + "by = 'sex'\nkeys=['f']\nmax_groups = 2",
            "'a', by: max_groups",
            mo.InvalidArgument,
        ),
        (GOOD.replace("= 1", "= 1e-12"), "'a', epsilon: .* too small", mo.InvalidArgument),
        (CELLS.replace("'day'", "'dy'"), "'a', by: there is no column 'dy'", mo.MissingColumn),
        (CELLS, "question 'a', keys: the column 'day' holds moments", mo.InvalidArgument),
        (CELLS.replace("'day'", "'sex'"), "'a', by: .* must be different", mo.InvalidArgument),
        (CROSSED + "values = 'pai'", "'a', values: there is no column 'pai'", mo.MissingColumn),
        (CROSSED + "values = 'sex'", "'a', values: column 'sex' is declared", mo.ModicumError),
        (CROSSED + "max_groups = 2", "'a', by: max_groups= is for", mo.InvalidArgument),
        (CROSSED.replace("= 1", "= 1e-12"), "'a', epsilon: .* too small", mo.InvalidArgument),
        (CROSSED.replace("[1, 2]", MANY), "'a', keys: the labels make 1,000,002", mo.ModicumError),
        (LABELS.replace("'sex'", "'sx'"), "'a', column: there is no column", mo.MissingColumn),
        (LABELS.replace("['f']", "['f', 'f']"), "'a', keys: keys must be", mo.InvalidArgument),
        (DISTINCT.replace("'sex'", "'sx'"), "'a', column: there is no col", mo.MissingColumn),
        (DISTINCT + "max_groups = 2", "'a', max_groups: max_groups= is", mo.InvalidArgument),
        (DISTINCT.replace("= 1", "= 1e-12"), "'a', epsilon: .* too small", mo.InvalidArgument),
        (
            COUNT.replace('"count"', '"describe"') + "columns = ['pai']",
            "question 'a', columns: ",
            mo.MissingColumn,
        ),
    ],
)
def test_a_question_that_does_not_fit_the_table(tmp_path, text, words, kind) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(9))
    good = GOOD.replace('"a"', '"first"')
    survey = read(tmp_path, HEAD + good + text)
    with pytest.raises(kind, match=words) as error:
        survey.run(TABLE, ledger=url)
    assert str(error.value).startswith("survey.toml, question 'a', ")
    assert "\n" not in str(error.value)
    assert mo.Ledger(url).account("people").spent == mo.pure(9) - mo.pure(9)
    assert not (tmp_path / "survey-answers").exists()


def test_one_column_of_keys_as_a_mapping(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(9))
    survey = read(tmp_path, HEAD + GOOD + "by = 'sex'\nkeys = { sex = ['f', 'm'] }")
    answers = survey.run(TABLE, ledger=url)
    assert [*answers.answers["a"]] == ["f", "m"]


def test_groups_of_persons(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(9), unit=mo.unit_of("day"))
    good = HEAD + GOOD + "by = 'sex'\nkeys = ['f', 'm']\n"
    for most in ("0", "'two'", "1.5"):
        survey = read(tmp_path, good + f"max_groups = {most}")
        with pytest.raises(mo.InvalidArgument, match="question 'a', max_groups: max_groups must"):
            survey.cost(TABLE, ledger=url)
    for more in ("max_groups = 2", ""):
        assert read(tmp_path, good + more).cost(TABLE, ledger=url).due == mo.pure(1)


def test_the_account_and_the_table(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(9))
    survey = read(tmp_path, GOOD)
    with pytest.raises(mo.InvalidArgument, match=r"survey\.toml, table: it is missing"):
        survey.cost(ledger=url)
    with pytest.raises(mo.InvalidArgument, match=r"survey\.toml, account: it is missing"):
        survey.cost(TABLE, ledger=url)
    with pytest.raises(mo.InvalidArgument, match=r"survey\.toml, account: there is no account 'x'"):
        survey.cost(TABLE, ledger=url, account="x")
    survey = read(tmp_path, HEAD + GOOD)
    with pytest.raises(mo.SourceError, match=r"survey\.toml, table: "):
        survey.cost(ledger=url)
    with pytest.raises(mo.InvalidArgument, match="there is no ledger"):
        survey.cost(TABLE, ledger=f"sqlite:///{tmp_path}/none.db")


def test_the_options_of_a_csv_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("pay;sex\n1,5;f\n2,5;m\n")
    survey = read(tmp_path, HEAD + 'csv = { separator = ";", decimal = "," }\n' + GOOD)
    assert list(survey._opened().names) == ["pay", "sex"]
    survey = read(tmp_path, HEAD + 'csv = { separator = "ab" }\n' + GOOD)
    with pytest.raises(mo.InvalidArgument, match=r"survey\.toml, csv: separator must be"):
        survey._opened()


def test_fields_that_toml_has_no_words_for(tmp_path: Path) -> None:
    text = GOOD.replace('"mean"', '"median"') + "within = [0, inf]\n"
    with pytest.raises(mo.InvalidArgument, match="question 'a', within"):
        read(tmp_path, text)
    text = GOOD.replace('"mean"', '"median"') + 'within = [0, 1e9]\nlevel = "none"\n'
    (asked,) = read(tmp_path, text + 'publish = { digits = "all", tail = "none" }').questions
    assert asked.query is not None
    assert asked.query.ranged
    assert "level=None" in repr(asked.query.options)
    assert asked.publication.publishing.rounding.digits is None
    assert asked.publication.publishing.tail is None
    text = GOOD.replace('"mean"', '"histogram"') + "edges = [-inf, 0, inf]\n"
    assert read(tmp_path, text).questions[0].options["edges"][0] == -float("inf")


def test_a_key_says_which_file_and_question(tmp_path: Path) -> None:
    (one,) = read(tmp_path, GOOD).questions
    (same,) = read(tmp_path, GOOD + "publish = { base = 5 }\nexpect = { n = 5, sd = 1 }").questions
    (other,) = read(tmp_path, GOOD + "within = [0, 9]").questions
    assert one.key("survey") == same.key("survey") != other.key("survey")
    assert one.key("survey").startswith("survey: a [")
    assert one.key("other").startswith("other: a [")
    assert read(tmp_path, 'name = "2026"\n' + GOOD).name == "2026"


@pytest.mark.usefixtures("few_runs")
def test_plans(tmp_path: Path, capsys) -> None:
    text = (
        'unit = { column = "person", max_rows = 2 }\n'
        + GOOD
        + "within = [0, 1e6]\nby = 'sex'\nkeys = ['f']\n"
        + "expect = { n = 1000, sd = 50, mean = 200 }\n"
        + COUNT.replace('"a"', '"b"')
        + COUNT.replace('"a"', '"c"').replace('"count"', '"describe"')
        + GOOD.replace('"a"', '"d"').replace('"mean"', '"ratio"')
        + "denominator = 'hours'\n"
        + GOOD.replace('"a"', '"e"').replace("epsilon", "rho")
        + "expect = { n = 1000, sd = 50 }\n"
        + COUNT.replace('"a"', '"f"')
        + "by = 'sex'\nkey_epsilon = 0.5\nkey_delta = 1e-6\nexpect = { n = 5 }\n"
    )
    survey = read(tmp_path, text)
    found = survey.plan()
    plan = mo.plan.mean(
        within=(0, 1e6), n=1000, sd=50, mean=200, epsilon=1, unit=mo.unit_of("person", max_rows=2)
    )
    assert found.plans[0].plan == plan
    assert [each.why for each in found.plans] == [
        "",
        "no expect = { n = ..., sd = ... }",
        "there is none for describe",
        "there is none for ratio",
        "",
        "",
    ]
    assert [*map(str, found.totals)] == ["(ε, δ) = (5.5, 0.000001)", "ρ = 1"]
    words = str(found)
    assert "of 1,000 rows in a group" in words
    assert "nothing is read or spent" in words
    assert main(["run", str(survey.path), "--plan"]) == 0
    assert capsys.readouterr().out == words + "\n"
    assert main(["run", str(survey.path), "--plan", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["questions"][0]["plan"]["error"] == plan.error
    assert record["questions"][1]["no_plan"]


def test_what_cannot_be_answered_has_no_error(tmp_path: Path) -> None:
    (plan,) = read(tmp_path, GOOD + "expect = { n = 5, sd = 1 }").plan().plans
    assert plan.words.startswith("no usable answer, of 5 rows; note: ")


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("{ sd = 1 }", "question 'a', expect, n: it is missing"),
        ("{ n = 100 }", r"question 'a', expect: mean\(\) needs sd="),
        ("{ n = 100, sd = 1, q = 3 }", "question 'a', expect: there is no field 'q'"),
        ("{ n = 100, sd = 1, epsilon = 3 }", "question 'a', expect: there is no field 'epsilon'"),
        ("{ n = 100, sd = -1 }", "question 'a', expect: sd"),
    ],
)
def test_expectations_that_are_wrong(tmp_path: Path, expect: str, words: str) -> None:
    with pytest.raises(mo.InvalidArgument, match=words):
        read(tmp_path, GOOD + f"expect = {expect}").plan()


def test_the_command_line(tmp_path: Path, capsys, monkeypatch) -> None:
    TABLE[["pay", "sex"]].to_csv(tmp_path / "people.csv")
    survey = read(tmp_path, HEAD.replace('account = "people"\n', "") + GOOD)
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(9))
    words = ["run", str(survey.path)]
    assert main(words) == 2
    assert "name a ledger" in capsys.readouterr().err
    monkeypatch.setenv("MODICUM_LEDGER", url)
    assert main(words) == 2
    assert "survey.toml, account: it is missing" in capsys.readouterr().err
    monkeypatch.setenv("MODICUM_ACCOUNT", "people")
    assert main([*words, "--check"]) == 0
    assert "1 question can be asked; the check charges nothing" in capsys.readouterr().out
    assert main([*words, "--check", "--json"]) == 2
    assert main([*words, "--check", "--plan"]) == 2
    assert main([*words, "--account", "none"]) == 2
    capsys.readouterr()
    assert mo.Ledger(url).account("people").spent == mo.pure(9) - mo.pure(9)
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("[1/1] a: answered")
    assert "1 of 1 answered" in out
    assert main([*words, "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(
        (tmp_path / "out/run.json").read_text()
    )


def test_names_of_fields_are_not_taken_twice() -> None:
    assert not {*question._FIELDS} & {*question.PUBLISHED} - {"where"}
    assert {*file._FIELDS} >= {"table", "account", "unit", "publish", "question"}
