"""Pages of accounts: what the ledger stores, no more and no less."""

import json

import pytest

import modicum as mo
from modicum.cli import main
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.chain import Units
from modicum.releases.publishing.ledger_report import (
    Account,
    asked_of,
    in_words,
    ledger_page,
    request_of,
)
from tests.releases.publishing.test_report import NASTY, parsed

DATA = {"x": [float(i % 90) for i in range(4000)], "place": ["N", NASTY] * 2000}


@pytest.fixture
def url(tmp_path) -> str:
    url = f"sqlite:///{tmp_path}/budget.db"
    ledger = mo.Ledger.create(url)
    ledger.open_account("people", mo.approx(9, "1e-5"))
    ledger.open_account("none", mo.zcdp(1))
    ledger.grant("people", mo.approx(1, "1e-7"), note=NASTY.replace("\u202e", ""))
    curator = mo.Curator(table(), ledger=url, account="people")
    curator.idempotent("monday").mean("x", epsilon=1)
    curator.idempotent("monday").mean("x", epsilon=1)
    curator.where("x > 3").group_by("place", key_budget=mo.approx(1, "1e-6")).count(epsilon=1)
    curator.describe(budget=mo.approx(2, "1e-6"))
    curator.crosstab("place", keys=["N", NASTY], epsilon="0.5")
    with pytest.raises(mo.BudgetExceeded):
        curator.count(epsilon=50)
    ledger.charge("people", mo.approx("0.25", "1e-9"), request="a text of its own")
    return url


def table():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(DATA)


def accounts(url: str) -> list[Account]:
    ledger = Ledger(url)
    return [Account(ledger.entries(each.name)) for each in ledger.accounts()]


def test_an_account_follows_from_its_entries(url) -> None:
    account = accounts(url)[1]
    state = Ledger(url).account("people")
    assert account.name == "people"
    assert account.amount(account.granted) == str(state.budget)
    assert account.amount(account.spent) == str(state.spent)
    assert account.amount(account.left) == str(state.remaining)


def test_a_page_has_every_charge(url) -> None:
    account = accounts(url)[1]
    text = ledger_page(url, [account], title=None, author="Office")
    found = parsed(text)
    words = "\n".join(found.text)
    assert "\u202e" not in text
    for part in (
        "Privacy budget of people",
        "Office",
        "monday",
        "mean of x",
        "labels of place, where x > 3",
        "count of rows by place, where x > 3",
        "a text of its own",
        account.entries[-1].hash,
        account.amount(account.spent),
        NASTY.replace("\u202e", ""),
    ):
        assert part in words
    assert any("% spent" in said for said in found.said)
    assert words.count("\nno\n") == 1  # the charge without a release
    charges = [each for each in account.entries if each.action == "charge"]
    assert sum(each.amount for each in charges) == account.spent.amount
    record = json.loads(found.data)
    assert record["schema"] == "modicum.ledger-report/1"
    (stored,) = record["accounts"]
    assert [each["hash"] for each in stored["entries"]] == [each.hash for each in account.entries]
    assert not [
        each for each in stored["entries"] if each["action"] == "release" and "body" in each
    ]


def test_totals_add_up(url) -> None:
    account = accounts(url)[1]
    found: dict[str, int] = {}
    for each in account.charges:
        name = asked_of(request_of(each))
        found[name] = found.get(name, 0) + each.amount
    assert sum(found.values()) == account.spent.amount
    assert found["place"] > 10**15  # the draws of its labels, those of the description too
    assert found["rows, place"] >= 15 * 10**14
    text = ledger_page(url, [account], title=None, author=None)
    assert account.amount(Units(found["rows, place"], 0)) in "\n".join(parsed(text).text)


def test_all_accounts_are_on_a_page(url) -> None:
    text = ledger_page(url, accounts(url), title="Budgets", author=None)
    words = "\n".join(parsed(text).text)
    assert "Left: ρ = 1 of ρ = 1" in words
    assert "What was granted to people" in words


def test_requests_that_others_wrote() -> None:
    assert in_words({"text": "x"}) == "x"
    assert in_words({}) == "a request"
    assert asked_of({}) == "other requests"
    several = {"ask": {"a": {"statistic": "pca", "column": {"columns": ["x", "y"]}}}}
    assert in_words(several) == "pca of x, y"


def test_the_command(url, tmp_path, capsys) -> None:
    out = tmp_path / "budget.html"
    words = ["ledger", "report", "people", "--ledger", url]
    assert main([*words, "--out", str(out), "--author", "Office", "--title", "Ours"]) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    assert "Ours" in out.read_text("utf-8")
    assert main([*words, "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main([*words, "--out", str(out), "--overwrite"]) == 0
    capsys.readouterr()
    assert main(["ledger", "report", "--ledger", url]) == 0
    assert parsed(capsys.readouterr().out).tags.count("h1") == 1
    assert main(["ledger", "report", "nobody", "--ledger", url]) == 2
    assert "there is no account 'nobody'" in capsys.readouterr().err
    empty = f"sqlite:///{tmp_path}/empty.db"
    mo.Ledger.create(empty)
    assert main(["ledger", "report", "--ledger", empty]) == 2
    assert "has no accounts" in capsys.readouterr().err
