"""Files of questions: each is charged once, whatever happens, or nothing is asked at all."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main
from modicum.privacy.ledger import sqlite
from modicum.questions import costs, running
from modicum.releases.publishing import files

ROWS = 4000
RNG = np.random.default_rng(8)
TABLE = pd.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], ROWS),
        "age": RNG.integers(18, 90, ROWS),
        "pay": RNG.lognormal(8, 0.5, ROWS),
    }
)
FILE = """
title = "Pay"
table = "people.parquet"
account = "people"

[publish]
citation = "Office, 2026"

[[question]]
name = "pay by sex"
statistic = "mean"
column = "pay"
within = [0, 1e6]
by = "sex"
keys = ["f", "m"]
epsilon = 1
publish = { digits = 0, wide = "sex" }

[[question]]
name = "old"
statistic = "count"
where = "age >= 65"
epsilon = "0.25"

[[question]]
name = "months"
statistic = "quantiles"
column = "month"
with = { month = "pay / 12", half = "month / 2" }
q = [0.25, 0.75]
within = [0, 1e6]
level = "none"
epsilon = 0.5

[[question]]
name = "who"
statistic = "count"
by = ["sex"]
key_epsilon = 0.5
key_delta = 1e-6
epsilon = 0.25

[[question]]
name = "all"
statistic = "describe"
columns = ["age", "sex"]
epsilon = 1
delta = 1e-6
"""
NAMES = ["pay by sex", "old", "months", "who", "all"]
TOTAL = mo.approx("3.5", "2e-6")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    TABLE.to_parquet(tmp_path / "people.parquet")
    (tmp_path / "survey.toml").write_text(FILE)
    mo.Ledger.create(url(tmp_path)).open_account("people", mo.approx(4, "1e-5"))
    return tmp_path


def url(folder: Path) -> str:
    return f"sqlite:///{folder}/budget.db"


def spent(folder: Path) -> mo.Budget:
    return mo.Ledger(url(folder)).account("people").spent


def charges(folder: Path) -> list[str]:
    return [
        str(each.key)
        for each in mo.Ledger(url(folder)).entries("people")
        if each.action == "charge"
    ]


def test_every_question_is_answered_and_written(folder: Path) -> None:
    lines: list[str] = []
    survey = mo.questions.read(folder / "survey.toml")
    done = survey.run(ledger=url(folder), progress=lines.append)
    assert done.complete
    assert done.usable
    assert list(done.answers) == NAMES
    assert done.folder == folder / "survey-answers"
    endings = (".txt", ".json", ".csv", ".csv-metadata.json")
    written = {"run.json", *(name + ending for name in NAMES for ending in endings)}
    assert {each.name for each in done.folder.iterdir()} == written
    for name, answer in done.answers.items():
        assert (done.folder / f"{name}.txt").read_text("utf-8") == f"{answer}\n"
        assert json.loads((done.folder / f"{name}.json").read_text("utf-8")) == json.loads(
            answer.to_json()
        )
    assert (done.folder / "pay by sex.csv").read_text().startswith("f,f lower")
    about = json.loads((done.folder / "old.csv-metadata.json").read_text("utf-8"))
    assert about["dc:bibliographicCitation"] == "Office, 2026"
    assert done.answers["old"].value == pytest.approx((TABLE.age >= 65).sum(), abs=60)
    assert done.answers["months"].view == ("with month = pay / 12", "with half = month / 2")
    assert lines[1] == "[2/5] old: answered"  # the answer is in what is returned
    assert "charged before" not in str(done)
    again = survey.run(ledger=url(folder), progress=lines.append)
    assert lines[6] == "[2/5] old: answered; it was charged before, and costs nothing now"
    assert "; 5 of them charged before, which cost nothing now" in str(again).splitlines()[0]
    assert str(again).splitlines()[1:] == str(done).splitlines()[1:]
    index = json.loads((done.folder / "run.json").read_text("utf-8"))
    assert [each["state"] for each in index["questions"]] == ["answered"] * 5
    assert (index["complete"], index["title"], index["account"]) == (True, "Pay", "people")
    assert str(done).startswith("survey.toml: 5 of 5 answered")


def test_it_costs_what_was_said_and_once(folder: Path) -> None:
    survey = mo.questions.read(folder / "survey.toml")
    cost = survey.cost(ledger=url(folder))
    assert (cost.total, cost.due) == (TOTAL, TOTAL)
    assert "the check charges nothing" in str(cost)
    assert charges(folder) == []
    first = survey.run(ledger=url(folder))
    once = spent(folder)
    assert once <= TOTAL
    assert float(once.amount) == pytest.approx(3.5, abs=1e-9)
    keys = charges(folder)
    assert len(keys) == len({*keys})
    assert all(key.startswith("survey: ") for key in keys)
    for path in first.folder.iterdir():
        if path.name != "run.json":
            path.unlink()
    again = mo.questions.read(folder / "survey.toml").run(ledger=mo.Ledger(url(folder)))
    assert again.answers["old"] == first.answers["old"]
    assert str(again.answers["all"]) == str(first.answers["all"])
    assert spent(folder) == once
    assert charges(folder) == keys
    cost = survey.cost(ledger=url(folder))
    assert cost.due == TOTAL - TOTAL
    assert str(cost).count("charged already") == 5
    assert (again.folder / "old.csv").exists()


@pytest.mark.one_in(6)
@pytest.mark.parametrize("stop", ["charge", "record", "write"])
@pytest.mark.parametrize("after", [0, 2, 3, 5])
def test_a_killed_run_resumes(folder: Path, stop: str, after: int) -> None:
    """It ends at once: after a charge, before a release is recorded, or its files are written."""
    script = textwrap.dedent(
        f"""
        import os, signal
        import modicum as mo
        from modicum.privacy.ledger.book import Ledger
        from modicum.questions import running

        left = {after}

        def dying(function, first):
            def wrapped(*arguments, **named):
                global left
                left -= 1
                if left < 0 and first:
                    os.kill(os.getpid(), signal.SIGKILL)
                found = function(*arguments, **named)
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return found
            return wrapped

        if {stop!r} == "write":
            running.write_whole = dying(running.write_whole, True)
        else:
            setattr(Ledger, {stop!r}, dying(getattr(Ledger, {stop!r}), {stop!r} == "record"))
        mo.questions.read({str(folder / "survey.toml")!r}).run(ledger={url(folder)!r})
        """
    )
    environment = {**os.environ, "MODICUM_PROGRESS": "off"}
    killed = subprocess.run([sys.executable, "-c", script], check=False, env=environment)
    assert killed.returncode == -signal.SIGKILL
    before = charges(folder)
    done = mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    assert done.complete
    assert spent(folder) <= TOTAL
    keys = charges(folder)
    assert len(keys) == len({*keys})
    assert keys[: len(before)] == before
    mo.Ledger(url(folder)).verify()


def test_two_processes_at_once(folder: Path) -> None:
    words = [sys.executable, "-m", "modicum", "run", str(folder / "survey.toml")]
    words += ["--ledger", url(folder)]
    both = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [each.wait(120) for each in both] == [0, 0]
    keys = charges(folder)
    assert len(keys) == len({*keys})
    assert spent(folder) <= TOTAL
    done = mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    assert charges(folder) == keys
    written = json.loads((done.folder / "old.json").read_text("utf-8"))
    assert written["value"] == done.answers["old"].value


def test_a_first_run_that_another_one_is_just_before(folder: Path) -> None:
    """It has made the folder, and is about to put its first file there; or was killed then."""
    survey = mo.questions.read(folder / "survey.toml")
    answers = folder / "survey-answers"
    answers.mkdir()
    (answers / ".run.json.12-345.part").write_text("{}", "utf-8")
    assert survey.run(ledger=url(folder)).complete


def test_a_key_that_another_process_charges_meanwhile_is_not_refused(folder: Path) -> None:
    """The last of a budget goes to it between two looks of this process, which has its answer."""

    class Meanwhile(mo.Ledger):
        def find(self, name: str, key: str, request: str) -> object:
            found = super().find(name, key, request)
            if other:
                other.pop()()
            return found

    other, answers = [], []
    ledger = mo.Ledger(url(folder))
    ledger.open_account("little", mo.pure(1))

    def ask(ledger: mo.Ledger) -> None:
        curator = mo.Curator(TABLE, ledger=ledger, account="little")
        if type(ledger) is Meanwhile:
            other.append(lambda: ask(mo.Ledger(url(folder))))
        answers.append(curator.idempotent("once").count(epsilon=1))

    ask(Meanwhile(url(folder)))
    assert answers[0] == answers[1]
    assert ledger.account("little").spent == mo.pure(1)


def test_a_price_that_does_not_fit_asks_nothing(folder: Path) -> None:
    text = FILE.replace("epsilon = 0.5", "epsilon = 3")
    (folder / "survey.toml").write_text(text)
    survey = mo.questions.read(folder / "survey.toml")
    words = (
        r"survey.toml, question 'months', epsilon: the questions up to this one cost .*4.25.* but"
    )
    with pytest.raises(mo.BudgetExceeded, match=words):
        survey.run(ledger=url(folder))
    assert charges(folder) == []
    assert not (folder / "survey-answers").exists()


def test_what_is_charged_already_has_not_to_fit_again(folder: Path) -> None:
    """Half of the file is charged; what is left of the account is less than its whole cost."""
    survey = mo.questions.read(folder / "survey.toml")
    parts = FILE.split("[[question]]")
    half = folder / "half"
    half.mkdir()
    (half / "survey.toml").write_text("[[question]]".join(parts[:4]))
    mo.questions.read(half / "survey.toml").run(TABLE, ledger=url(folder))
    assert mo.Ledger(url(folder)).account("people").remaining.amount < TOTAL.amount
    assert survey.cost(ledger=url(folder)).due.amount == Fraction(7, 4)
    assert survey.run(ledger=url(folder)).complete


def test_what_others_were_charged_for_is_not_paid(folder: Path) -> None:
    other = mo.Curator(TABLE, ledger=url(folder), account="people")
    other.idempotent("survey: older [x]").count(epsilon="0.5")
    other.count(epsilon="0.25")
    survey = mo.questions.read(folder / "survey.toml")
    with pytest.raises(mo.BudgetExceeded, match=r"'all', epsilon: .*\(3.5, 0.000002\)"):
        survey.cost(ledger=url(folder))
    mo.Ledger(url(folder)).grant("people", mo.approx(1, "1e-9"))
    assert survey.cost(ledger=url(folder)).due == TOTAL


def test_another_question_needs_another_name(folder: Path) -> None:
    mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    once = spent(folder)
    text = FILE.replace("age >= 65", "age >= 70")
    (folder / "survey.toml").write_text(text)
    with pytest.raises(mo.InvalidArgument, match=r"'old', name: .* charged with other fields"):
        mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    big = text.replace('"old"', '"older"').replace('"0.25"', "1")
    (folder / "survey.toml").write_text(big)
    with pytest.raises(mo.BudgetExceeded, match=r"'older', epsilon: .* nothing was asked"):
        mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    assert spent(folder) == once
    # What is published is not what is asked.
    (folder / "survey.toml").write_text(FILE.replace("digits = 0", "digits = -1"))
    assert mo.questions.read(folder / "survey.toml").run(ledger=url(folder)).complete
    assert spent(folder) == once


def test_a_refusal_does_not_stop_the_others(folder: Path, monkeypatch, capsys) -> None:
    """Somebody spends what is left between the check and a question."""
    survey = mo.questions.read(folder / "survey.toml")

    def spend(line: str) -> None:
        if line.startswith("[1/"):
            other = mo.Curator(TABLE, ledger=url(folder), account="people")
            other.count(epsilon="2.5")

    done = survey.run(ledger=url(folder), progress=spend)
    assert [each.state for each in done.askings] == [
        "answered",
        "answered",
        "refused",
        "refused",
        "refused",
    ]
    assert not done.complete
    assert done.usable
    assert "only (ε, δ) = (0.25" in done.askings[2].why
    index = json.loads((done.folder / "run.json").read_text("utf-8"))
    assert index["questions"][2]["state"] == "refused"
    assert "is left" in index["questions"][2]["why"]
    assert main(["run", str(folder / "survey.toml"), "--ledger", url(folder)]) == 2
    assert "'months', epsilon" in capsys.readouterr().err
    mo.Ledger(url(folder)).grant("people", mo.approx(3, "1e-5"))
    assert main(["run", str(folder / "survey.toml"), "--ledger", url(folder)]) == 0
    assert float(spent(folder).amount) == pytest.approx(3.5 + 2.5)


def test_a_locked_ledger(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.1)
    words = ["run", str(folder / "survey.toml"), "--ledger", url(folder)]
    holder = sqlite3.connect(folder / "budget.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert main(words) == 2  # before anything is asked
    assert "survey.toml" in capsys.readouterr().err
    holder.execute("ROLLBACK")

    real, asked = running._ask, []

    def locking(*arguments):
        asked.append(1)
        if len(asked) == 2:
            holder.execute("BEGIN EXCLUSIVE")
        return real(*arguments)

    monkeypatch.setattr(running, "_ask", locking)
    assert main(words) == 4
    holder.execute("ROLLBACK")
    holder.close()
    out, err = capsys.readouterr()
    assert len(asked) == 2  # it refuses all others too
    assert "1 of 5 answered" in out
    assert "not all was done: old, months, who, all" in err.splitlines()[-1]
    assert len(charges(folder)) == 1
    monkeypatch.setattr(running, "_ask", real)
    assert main(words) == 0
    assert len(charges(folder)) == len({*charges(folder)})


@pytest.mark.one_in(2)
@pytest.mark.parametrize("after", [0, 3, 7, 9])
def test_a_full_disk(folder: Path, monkeypatch, capsys, after: int) -> None:
    """What was charged is in the ledger, and a later run writes it."""
    left = [after]
    real = os.fsync

    def fsync(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)
    words = ["run", str(folder / "survey.toml"), "--ledger", url(folder), "--json"]
    status = main(words)
    out, err = capsys.readouterr()
    monkeypatch.undo()
    before = charges(folder)
    if not after:
        assert (status, out, before) == (2, "", [])
    else:
        assert status == 4
        assert "not written" in err
        states = [each["state"] for each in json.loads(out)["questions"]]
        assert states.count("not written") == 1
        assert "not asked" in states
    assert not list(folder.rglob("*.part"))
    assert main(words) == 0
    keys = charges(folder)
    assert len(keys) == len({*keys})
    assert keys[: len(before)] == before


def test_an_answer_that_cannot_be_published_is_written_otherwise(folder: Path) -> None:
    text = FILE.split("[[question]]")
    text[3] += 'publish = { wide = "sex" }\n'  # known when the labels are: q
    (folder / "survey.toml").write_text("[[question]]".join(text))
    done = mo.questions.read(folder / "survey.toml").run(ledger=url(folder))
    assert [each.state for each in done.askings].count("not written") == 1
    assert "wide must be a column of labels, one of ['q']" in done.askings[2].why
    assert (done.folder / "months.json").exists()
    assert not (done.folder / "months.csv").exists()
    assert done.askings[3].state == "answered"


def test_a_folder_of_something_else(folder: Path) -> None:
    survey = mo.questions.read(folder / "survey.toml")
    with pytest.raises(mo.InvalidArgument, match="holds other files"):
        survey.run(ledger=url(folder), out=folder)
    mo.Ledger(url(folder)).open_account("others", mo.approx(4, "1e-5"))
    survey.run(ledger=url(folder), out=folder / "here" / "answers")
    with pytest.raises(mo.InvalidArgument, match="for account 'others'"):
        survey.run(ledger=url(folder), account="others", out=folder / "here" / "answers")
    with pytest.raises(mo.OutputError, match="cannot write"):
        survey.run(ledger=url(folder), out=folder / "survey.toml" / "answers")
    assert mo.Ledger(url(folder)).account("others").spent == mo.approx(1, "1e-6").part(Fraction(0))


def test_an_unusable_answer_is_status_3(folder: Path, capsys) -> None:
    text = FILE.split("[[question]]")
    few = (
        text[0]
        + "[[question]]"
        + text[1].replace('"pay by sex"', '"few"').replace("= 1\n", "= 1e-3\n")
    )
    (folder / "survey.toml").write_text(few)
    words = ["run", str(folder / "survey.toml"), "--ledger", url(folder)]
    assert (
        main([*words, "--table", str(folder / "people.parquet"), "--out", str(folder / "o")]) == 3
    )
    assert "without a usable answer" in capsys.readouterr().out


def test_the_account_fixes_the_currency(folder: Path) -> None:
    ledger = mo.Ledger(url(folder))
    ledger.open_account("rho", mo.zcdp(5))
    ledger.open_account("pure", mo.pure(5))
    survey = mo.questions.read(folder / "survey.toml")
    with pytest.raises(mo.InvalidArgument, match="question 'who', key_epsilon"):
        survey.cost(ledger=ledger, account="rho")
    with pytest.raises(mo.InvalidArgument, match="question 'who', key_epsilon"):
        survey.cost(ledger=ledger, account="pure")
    parts = FILE.split("[[question]]")
    (folder / "survey.toml").write_text("[[question]]".join([parts[0], *parts[1:3], parts[5]]))
    survey = mo.questions.read(folder / "survey.toml")
    with pytest.raises(mo.InvalidArgument, match="question 'all', epsilon"):
        survey.cost(ledger=ledger, account="pure")
    (folder / "survey.toml").write_text("[[question]]".join(parts[:3]))
    survey = mo.questions.read(folder / "survey.toml")
    cost = survey.cost(ledger=ledger, account="rho")
    assert cost.total == mo.zcdp(Fraction(1, 2) + Fraction(1, 32))
    done = survey.run(ledger=ledger, account="rho")
    assert done.complete
    assert ledger.account("rho").spent == cost.total


def test_who_is_protected(folder: Path) -> None:
    text = FILE.replace('account = "people"', 'account = "people"\nunit = { rows = 2 }')
    (folder / "survey.toml").write_text(text)
    with pytest.raises(
        mo.InvalidArgument, match=r"survey.toml, unit: account 'people' protects one"
    ):
        mo.questions.read(folder / "survey.toml").cost(ledger=url(folder))
    mo.Ledger(url(folder)).open_account("two", mo.approx(4, "1e-5"), unit=mo.unit_of(rows=2))
    survey = mo.questions.read(folder / "survey.toml")
    assert survey.cost(ledger=url(folder), account="two").account.unit == mo.unit_of(rows=2)


def test_parts_of_a_description_are_rounded_down() -> None:
    def due(paid: mo.Budget) -> mo.Budget:
        return costs.QuestionCost(None, cost, paid).due

    cost = mo.approx(1, "1e-6")
    assert due(mo.approx(1 - Fraction(1, 10**14), "1e-6")) == cost - cost
    assert due(mo.approx("0.5", "1e-6")).amount == Fraction(1, 2)
    assert due(mo.approx("0.5", "5e-7")).delta == Fraction(5, 10**7)
    assert due(cost - cost) == cost
