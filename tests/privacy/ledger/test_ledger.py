"""What a ledger promises, on both stores."""

import copy
import json
import os
import pickle
from fractions import Fraction

import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.privacy.ledger import chain
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.chain import AMOUNT_UNITS, Units, charged, granted
from modicum.privacy.ledger.store import Address


@pytest.fixture
def ledger(url) -> Ledger:
    made = Ledger.create(url)
    made.open_account("p", mo.pure(1))
    return made


def test_charges_are_counted_by_every_process_that_opens_it(ledger, url) -> None:
    assert ledger.charge("p", mo.pure("0.4"), request="a").seq == 2
    other = Ledger(url)
    other.charge("p", mo.pure("0.6"), request="b")
    assert ledger.account("p").spent == mo.pure(1)
    for each in (ledger, other):
        with pytest.raises(mo.BudgetExceeded, match=r"only ε = 0 of ε = 1 is left in account 'p'"):
            each.charge("p", mo.pure("1e-15"), request="c")
    ledger.grant("p", mo.pure("0.5"), note="second year")
    assert other.account("p").remaining == mo.pure("0.5")
    assert [each.action for each in other.entries("p")] == ["create", "charge", "charge", "grant"]
    assert str(ledger.verify()).startswith("1 account, 4 entries (2 charges, 0 releases)")


def test_ten_tenths_are_one(ledger) -> None:
    for _ in range(10):
        ledger.charge("p", mo.pure("0.1"), request="")
    assert ledger.account("p").remaining.amount == 0


def test_charges_round_up_and_grants_down() -> None:
    third, unit = mo.pure("1/3"), Fraction(1, AMOUNT_UNITS)
    assert Fraction(1, 3) < charged(third).budget("pure").amount < Fraction(1, 3) + unit
    assert Fraction(1, 3) - unit < granted(third).budget("pure").amount < Fraction(1, 3)
    assert charged(mo.approx("1e-30", "1e-30")) == Units(1, 1)
    with pytest.raises(InvalidArgument, match="up to 9,223"):
        charged(mo.pure(10_000))


def test_three_thirds_are_refused_rather_than_rounded_down(ledger) -> None:
    for _ in range(2):
        ledger.charge("p", mo.pure("1/3"), request="")
    with pytest.raises(mo.BudgetExceeded):
        ledger.charge("p", mo.pure("1/3"), request="")
    ledger.charge("p", ledger.account("p").remaining, request="")


def test_a_key_is_charged_once_and_keeps_its_first_release(ledger, url) -> None:
    first = ledger.charge("p", mo.pure("0.4"), request="a", key="monday")
    again = Ledger(url).charge("p", mo.pure("0.4"), request="a", key="monday")
    assert (first.seq, first.release) == (again.seq, again.release) == (2, None)
    assert Ledger(url).record(again, "one") == "one"
    assert ledger.record(first, "two") == "one"
    assert ledger.find("p", "monday", "a").release == "one"
    assert ledger.charge("p", mo.pure("0.4"), request="a", key="monday").release == "one"
    assert ledger.account("p").spent == mo.pure("0.4")
    assert ledger.find("p", "tuesday", "a") is None


def test_a_key_belongs_to_its_request(ledger) -> None:
    ledger.charge("p", mo.pure("0.4"), request="a", key="monday")
    for ask in (
        lambda: ledger.charge("p", mo.pure("0.1"), request="b", key="monday"),
        lambda: ledger.find("p", "monday", "b"),
    ):
        with pytest.raises(
            mo.KeyReusedError, match="key 'monday' was charged in account 'p' for ano"
        ):
            ask()
    assert ledger.account("p").spent == mo.pure("0.4")


def test_accounts_are_apart(ledger) -> None:
    assert ledger.open_account("q", mo.approx(2, "1e-6"), unit=mo.unit_of("id", max_rows=3))
    ledger.charge("q", mo.approx(1, "1e-6"), request="", key="monday")
    ledger.charge("p", mo.pure(1), request="", key="monday")
    with pytest.raises(mo.BudgetExceeded, match=r"\(ε, δ\) = \(1, 0\)"):
        ledger.charge("q", mo.approx("0.5", "1e-9"), request="")
    names = [(each.name, str(each.unit)) for each in ledger.accounts()]
    assert names == [("p", "one row"), ("q", str(mo.unit_of("id", max_rows=3)))]


def test_wrong_arguments_change_nothing(ledger) -> None:
    for wrong, text in (
        (lambda: ledger.open_account("p", mo.pure(1)), "already"),
        (lambda: ledger.open_account("", mo.pure(1)), "printable"),
        (lambda: ledger.open_account("a\nb", mo.pure(1)), "printable"),
        (lambda: ledger.open_account("x" * 201, mo.pure(1)), "up to 200"),
        (lambda: ledger.open_account("r", 1), "budget must come from"),
        (lambda: ledger.grant("p", mo.zcdp(1)), "kept in 'pure'"),
        (lambda: ledger.grant("p", mo.pure(9223)), "up to 9,223 in an account"),
        (lambda: ledger.grant("nobody", mo.pure(1)), "no account 'nobody'"),
        (lambda: ledger.charge("nobody", mo.pure(1), request=""), "no account 'nobody'"),
        (lambda: ledger.charge("p", mo.zcdp(1), request=""), "kept in 'pure'"),
        (lambda: ledger.charge("p", mo.pure("0.1"), request="", key=" "), "a key must be"),
        (lambda: ledger.account("' OR 1=1 --"), "no account"),
    ):
        with pytest.raises(InvalidArgument, match=text):
            wrong()
    assert [each.seq for each in ledger.entries("p")] == [1]


def test_a_ledger_has_to_be_made(url) -> None:
    with pytest.raises(InvalidArgument, match="there is no ledger"):
        Ledger(url).accounts()
    assert Ledger.create(url).accounts() == ()
    Ledger.create(url).open_account("p", mo.pure(1))
    assert len(Ledger.create(url).accounts()) == 1  # it is opened, not emptied


def test_a_viewer_looks_and_cannot_spend(ledger, url) -> None:
    charge = ledger.charge("p", mo.pure("0.1"), request="")
    viewer = Ledger(f"{url}?mode=ro")
    assert viewer.account("p").spent == mo.pure("0.1")
    assert viewer.verify().charges == 1
    for spend in (
        lambda: viewer.charge("p", mo.pure("0.1"), request=""),
        lambda: viewer.record(charge, "x"),
        lambda: viewer.grant("p", mo.pure(1)),
        lambda: viewer.open_account("q", mo.pure(1)),
    ):
        with pytest.raises(mo.AccessDeniedError, match="look only"):
            spend()
    assert ledger.account("p").spent == mo.pure("0.1")


def test_export_and_import(ledger, url, tmp_path) -> None:
    charge = ledger.charge("p", mo.pure("0.1"), request="ä", key="monday")
    ledger.record(charge, '{"é": 1}')
    lines = list(ledger.export())
    other = Ledger.create(f"sqlite:///{tmp_path}/other.db")
    assert other.load(lines) == ledger.verify()
    assert other.account("p") == ledger.account("p")
    assert other.find("p", "monday", "ä").release == '{"é": 1}'
    assert list(other.export()) == lines
    with pytest.raises(InvalidArgument, match="already"):
        other.load(lines)
    third = Ledger.create(f"sqlite:///{tmp_path}/third.db")
    edited = [lines[0], *(line.replace("100000000000000", "200000000000000") for line in lines[1:])]
    for bad in (edited, lines[1:], [*lines[:2], lines[3]], ["{}"], ["?"], [lines[0], '{"a": 1}']):
        with pytest.raises(mo.LedgerCorrupt):
            third.load(bad)
    assert third.accounts() == ()


def test_a_copy_shows_what_was_put_back(ledger, url, tmp_path) -> None:
    ledger.charge("p", mo.pure("0.1"), request="")
    before = list(ledger.export())
    ledger.charge("p", mo.pure("0.1"), request="")
    after = list(ledger.export())
    assert ledger.verify(before) == ledger.verify(after) == ledger.verify()
    old = Ledger.create(f"sqlite:///{tmp_path}/old.db")
    old.load(before)
    old.verify(before)
    with pytest.raises(mo.LedgerCorrupt, match="entry 3: it is in the copy and not here"):
        old.verify(after)
    old.charge("p", mo.pure("0.2"), request="")
    with pytest.raises(mo.LedgerCorrupt, match="entry 3: it is not the entry of the copy"):
        old.verify(after)


def test_time_may_run_backwards(ledger, monkeypatch) -> None:
    times = iter(["2030-01-01T00:00:00+00:00", "1999-01-01T00:00:00+00:00"])
    monkeypatch.setattr(chain, "now", lambda: next(times))
    ledger.charge("p", mo.pure("0.6"), request="", key="a")
    ledger.charge("p", mo.pure("0.2"), request="", key="b")
    monkeypatch.undo()
    assert ledger.verify().charges == 2
    assert [each.at[:4] for each in ledger.entries("p")[1:]] == ["2030", "1999"]
    with pytest.raises(mo.BudgetExceeded):
        ledger.charge("p", mo.pure("0.3"), request="")


def test_it_is_neither_copied_nor_forked(ledger) -> None:
    for take in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="give its URL"):
            take(ledger)
    process = ledger._process
    ledger._process = process + 1
    with pytest.raises(InvalidArgument, match="forked"):
        ledger.account("p")
    ledger._process = process


SECRET = "postgresql://anna:s3same@db.example:1234/budget"


def test_a_password_is_never_shown() -> None:
    address = Address.of(f"{SECRET}?sslmode=require")
    assert str(address) == "postgresql://anna@db.example:1234/budget"
    assert address.password == "s3same"
    assert address.options == {"sslmode": "require"}
    assert "s3same" not in repr(address) + address.scrubbed("connection to s3same failed")
    assert Address.of("postgresql://h/d?password=s3same").password == "s3same"
    for bad in (
        "mysql://anna:s3same@host/d",
        "anna:s3same@host",
        "postgresql://anna:s3same@host:port/d",
        f"{SECRET}?mode=write",
    ):
        with pytest.raises(InvalidArgument) as caught:
            Address.of(bad)
        assert "s3same" not in str(caught.value)


@pytest.mark.parametrize(
    "bad", ["budget.db", "sqlite://", "sqlite:///", "sqlite:///b.db?cache=shared", 3, ""]
)
def test_bad_urls(bad) -> None:
    with pytest.raises(InvalidArgument, match=r"ledger is sqlite:///FILE|only \?mode=ro"):
        Ledger(bad)


def test_entries_are_json_lines(ledger) -> None:
    first, second = ledger.export()
    assert json.loads(first) == {"schema": "modicum.ledger/1"}
    assert json.loads(second)["action"] == "create"
    assert os.linesep not in second
