"""Edited rows, damaged files, full disks, missing rights: refused, and never spent from."""

import gc
import json
import os
import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import modicum as mo
from modicum.privacy.ledger.book import Ledger, _ChainCheck
from modicum.privacy.ledger.chain import LedgerEntry, Units
from tests.privacy.ledger.server import Proxy


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path) -> Ledger:
    made = Ledger.create(f"sqlite:///{path}")
    made.open_account("p", mo.pure(1))
    for key in "abcd":
        made.record(made.charge("p", mo.pure("0.2"), request=key, key=key), f"release {key}")
    made.close()
    return made


def forge(path: Path, *statements: str) -> None:
    """Edit the file as its owner could, and leave no trace but the edit."""
    connection = sqlite3.connect(path)
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    made = dict(triggers.fetchall())
    for trigger in made:
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("PRAGMA ignore_check_constraints=ON")
    for statement in [*statements, *made.values()]:
        connection.execute(statement)
    connection.commit()
    connection.close()


LAST = "account = 'p' AND seq = 9"
EDITS = {
    "a smaller sum": f"UPDATE modicum_entry SET spent = 0 WHERE {LAST}",
    "a larger grant": f"UPDATE modicum_entry SET granted = 9000000000000000 WHERE {LAST}",
    "another release": f"UPDATE modicum_entry SET body = 'forged' WHERE {LAST}",
    "no last entry": f"DELETE FROM modicum_entry WHERE {LAST}",
    "an earlier end": "UPDATE modicum_account SET entries = 7, head = 'x'",
    "another unit": "UPDATE modicum_entry SET body = '{}' WHERE seq = 1",
}
DEEP_EDITS = {
    "an earlier cost": "UPDATE modicum_entry SET amount = 1 WHERE seq = 2",
    "another time": "UPDATE modicum_entry SET at = '1999' WHERE seq = 3",
    "a missing entry": "DELETE FROM modicum_entry WHERE seq = 3",
    "an entry too much": "INSERT INTO modicum_entry SELECT account, 10, action, amount, delta, "
    "granted, granted_delta, spent, spent_delta, key, 99, body, who, at, previous, hash "
    f"FROM modicum_entry WHERE {LAST}",
    "a lost account": "DELETE FROM modicum_account",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_end_stops_every_charge(ledger, path, edit) -> None:
    forge(path, EDITS[edit])
    for use in (
        lambda: ledger.charge("p", mo.pure("0.1"), request=""),
        lambda: ledger.account("p"),
        ledger.verify,
    ):
        with pytest.raises(mo.LedgerCorrupt, match=r"account 'p'|1 of its entries are missing"):
            use()


@pytest.mark.parametrize("edit", DEEP_EDITS)
def test_an_edit_anywhere_shows_when_all_is_verified(ledger, path, edit) -> None:
    ledger.verify()
    forge(path, DEEP_EDITS[edit])
    with pytest.raises(mo.LedgerCorrupt):
        ledger.verify()


ENDS = {
    "an earlier end": "entries = {end}, head = "
    "(SELECT hash FROM modicum_entry WHERE account = 'p' AND seq = {end})",
    "another name": "name = 'q{end}'",
}


@pytest.mark.parametrize("end", [1, 2, 4, 7, 8])
@pytest.mark.parametrize("edit", ENDS)
def test_an_account_never_shows_less_than_was_spent(url, edit, end) -> None:
    """Its row alone is edited, which the rights of an analyst on a server allow."""
    ledger = Ledger.create(url)
    ledger.open_account("p", mo.pure(1))
    for key in "abcd":
        ledger.record(ledger.charge("p", mo.pure("0.2"), request=key, key=key), f"release {key}")
    ledger.open_account("other", mo.pure(1))  # whose entry is the last one that was written
    statement = "UPDATE modicum_account SET " + ENDS[edit].format(end=end) + " WHERE name = 'p'"
    ledger._store.transaction(lambda db: db.rows(statement), write=True)
    for use in (
        lambda: ledger.account("p"),
        ledger.accounts,
        lambda: ledger.entries("p"),
        lambda: ledger.charge("p", mo.pure("0.1"), request=""),
        lambda: ledger.open_account("p", mo.pure(1)),
        ledger.verify,
    ):
        with pytest.raises(mo.LedgerCorrupt, match=r"account '(p|q)"):
            use()
    assert str(ledger.account("other").spent) == "ε = 0"


@pytest.mark.parametrize("seed", range(4))
def test_old_pages_that_are_put_back(path, tmp_path, seed) -> None:
    """What is shown is what was spent, or nothing.

    If the first page is among them, all that is looked at may be of one time, as in an old copy:
    then it still shows when all is verified.
    """
    draws, states, said = random.Random(seed), [], set()
    ledger = Ledger.create(f"sqlite:///{path}")
    ledger.open_account("p", mo.pure(100))
    for number in range(40):
        request, release = "x" * draws.choice([9, 300]), "y" * draws.choice([9, 900])
        ledger.record(ledger.charge("p", mo.pure(1), request=request, key=f"{number}"), release)
        states.append(path.read_bytes())
    now, page = states[-1], 4096
    for number in range(30):
        old, mixed = draws.choice(states[:-1]), bytearray(now)
        pages = [slice(at, at + page) for at in range(0, len(old), page)]
        changed = [each for each in pages if old[each] != now[each]]
        put_back = draws.sample(changed, draws.randint(1, len(changed) - 1))
        if number == 0:  # all but the first, which alone knows of later ones
            put_back = changed[1:]
        for each in put_back:
            mixed[each] = old[each]
        damaged = tmp_path / f"{number}.db"
        damaged.write_bytes(mixed)
        there = Ledger(f"sqlite:///{damaged}")
        try:
            spent = there.account("p").spent.amount
        except mo.LedgerError:
            said.add("an error")
            continue
        said.add("what was spent" if spent == 40 else "less")
        if spent < 40:
            assert pages[0] in put_back
            with pytest.raises(mo.LedgerCorrupt):
                there.verify()
    assert "an error" in said


@pytest.mark.parametrize(
    "part", ["INDEX modicum_one_charge", "INDEX modicum_one_release", "TRIGGER modicum_no_delete"]
)
def test_a_part_that_was_taken_away_shows_when_all_is_verified(ledger, path, part) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"DROP {part}")
    connection.close()
    with pytest.raises(mo.LedgerCorrupt, match=f"{part.partition(' ')[2]}.* was taken away"):
        ledger.verify()


def test_a_part_that_was_taken_away_on_a_server(server, database) -> None:
    ledger = Ledger.create(database)
    ledger.open_account("p", mo.pure(1))
    ledger.verify()
    name = database.rpartition("/")[2]
    for part, by in (
        ("one_charge", "DROP INDEX modicum_one_charge"),
        ("append_only", "ALTER TABLE modicum_entry DISABLE TRIGGER ALL"),
    ):
        server.sql(name, by)
        with pytest.raises(mo.LedgerCorrupt, match=f"modicum_{part}.* was taken away"):
            ledger.verify()
        Ledger.create(database)
        server.sql(name, "ALTER TABLE modicum_entry ENABLE TRIGGER ALL")


def test_a_stored_release_that_was_edited_is_not_given_out(ledger, path) -> None:
    forge(path, "UPDATE modicum_entry SET body = 'forged' WHERE charge = 2")
    with pytest.raises(mo.LedgerCorrupt, match="was edited"):
        ledger.find("p", "a", "a")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE modicum_entry SET spent = 0",
        "DELETE FROM modicum_entry",
        "INSERT OR REPLACE INTO modicum_entry SELECT * FROM modicum_entry WHERE seq = 2",
        "INSERT INTO modicum_entry SELECT account, 10, action, amount, delta, granted, 0, "
        "granted + 1, 0, NULL, NULL, body, who, at, previous, hash FROM modicum_entry "
        "WHERE seq = 2",
        "INSERT INTO modicum_entry SELECT account, 10, action, amount, delta, granted, 0, "
        "spent, 0, key, NULL, body, who, at, previous, hash FROM modicum_entry WHERE seq = 2",
        "INSERT INTO modicum_entry SELECT account, 10, action, amount, delta, granted, 0, "
        "spent, 0, NULL, charge, body, who, at, previous, hash FROM modicum_entry WHERE seq = 3",
        "INSERT INTO modicum_entry SELECT account, 'ten', action, amount, delta, granted, 0, "
        "spent, 0, NULL, NULL, body, who, at, previous, hash FROM modicum_entry WHERE seq = 2",
    ],
)
def test_the_data_base_itself_refuses(ledger, path, statement) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA recursive_triggers=ON")
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    connection.close()
    ledger.verify()


def test_chains_that_were_hashed_anew_are_still_checked() -> None:
    """Whoever can hash can forge, but not past the rules."""

    def record(
        seq: int, action: str, units: Units, spent: int, before: LedgerEntry | None
    ) -> LedgerEntry:
        return LedgerEntry(
            "p", seq, action, *units, 10, 0, spent, 0, None, None, "", "", "",
            "0" * 64 if before is None else before.hash,
        ).sealed()  # fmt: skip

    first = record(1, "create", Units(10, 0), 0, None)
    first.check_after(None)
    record(2, "charge", Units(10, 0), 10, first).check_after(first)
    for bad, text in (
        (record(2, "charge", Units(11, 0), 11, first), "more was spent"),
        (record(2, "charge", Units(-1, 0), -1, first), "totals"),
        (record(2, "charge", Units(3, 0), 2, first), "totals"),
        (record(2, "release", Units(3, 0), 3, first), "no charge"),
        (record(3, "charge", Units(3, 0), 3, first), "follow"),
        (replace(record(2, "charge", Units(3, 0), 3, first), previous="1" * 64).sealed(), "follow"),
        (record(2, "create", Units(0, 0), 0, first), "creates"),
    ):
        with pytest.raises(mo.LedgerCorrupt, match=text):
            bad.check_after(first)


@pytest.mark.parametrize("paid", [None, 1, 2, 4])
def test_a_release_needs_a_charge_of_its_own(ledger, paid) -> None:
    """The second entry is a charge, and the third one the release that it paid for."""
    walk = _ChainCheck()
    for entry in ledger.entries("p")[:3]:
        walk.step(entry)
    last = walk.last
    assert last is not None
    more = replace(last, seq=4, charge=paid, previous=last.hash).sealed()
    with pytest.raises(mo.LedgerCorrupt, match="no charge is left"):
        walk.step(more)


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file_is_never_overspent(ledger, path, seed, tmp_path) -> None:
    """Bytes change anywhere in the file: an error, or the same account as before."""
    draws = random.Random(seed)
    whole = bytearray(path.read_bytes())
    start = draws.randrange(len(whole))
    for place in range(start, min(len(whole), start + draws.choice([1, 8, 500]))):
        whole[place] = draws.randrange(256)
    path.write_bytes(whole)
    fresh = Ledger(f"sqlite:///{path}")
    spent = 0
    try:
        fresh.charge("p", mo.pure("0.2"), request="")
        spent = 1
        fresh.charge("p", mo.pure("0.1"), request="")
        spent = 2
    except (mo.LedgerError, mo.BudgetExceeded):
        pass
    assert spent <= 1


@pytest.mark.parametrize("text", [b"", b"no data base at all" * 100])
def test_something_else_is_no_ledger(path, text) -> None:
    path.write_bytes(text)
    with pytest.raises(mo.LedgerError):
        Ledger(f"sqlite:///{path}").accounts()
    if text:
        with pytest.raises(mo.LedgerError):
            Ledger.create(f"sqlite:///{path}")
    assert path.read_bytes() == text


def test_another_data_base_is_left_alone(path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    with pytest.raises(mo.LedgerError, match=r"is no ledger$"):
        Ledger.create(f"sqlite:///{path}")


def test_a_full_file_charges_nothing(ledger, path) -> None:
    """SQLite may not take another page: the disk is full."""
    ready = ledger._store._ready()
    (pages,) = ready.execute("PRAGMA page_count").fetchone()
    ready.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(mo.LedgerError, match="full; nothing was written or released"):
        ledger.charge("p", mo.pure("0.1"), request="x" * 100_000)
    assert ledger.account("p").spent == mo.pure("0.8")
    ledger.charge("p", mo.pure("0.1"), request="")
    ledger.verify()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX rights")
@pytest.mark.parametrize("open_to", ["file", "folder"])
def test_who_may_only_read_the_file_can_look_and_not_spend(ledger, path, open_to) -> None:
    folder = Path("/tmp") / f"modicum-viewer-{os.getpid()}-{open_to}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = shutil.copy(path, folder / "budget.db")
    copy.chmod(0o444)
    folder.chmod(0o777 if open_to == "folder" else 0o555)
    try:
        said = as_nobody(lambda: look_and_spend(f"sqlite:///{copy}"))
    finally:
        folder.chmod(0o777)
        shutil.rmtree(folder)
    assert said == ["ε = 0.8", "refused", "refused"]


def look_and_spend(url: str) -> list[str]:
    said = [str(Ledger(f"{url}?mode=ro").account("p").spent)]
    for each in (url, f"{url}?mode=ro"):
        try:
            Ledger(each).charge("p", mo.pure("0.1"), request="")
        except mo.AccessDeniedError:
            said.append("refused")
    return said


def as_nobody(work: Callable[[], list[str]]) -> list[str]:
    """Do it in a forked process, which gives up root's rights."""
    read, write = os.pipe()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65_534)
                os.setuid(65_534)
            os.write(write, json.dumps(work()).encode())
        except BaseException as error:  # noqa: BLE001
            os.write(write, json.dumps([repr(error)]).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read, "rb") as pipe:
        return json.loads(pipe.read())


def test_a_server_that_is_gone(server, database) -> None:
    ledger = Ledger.create(database)
    ledger.open_account("p", mo.pure(1))
    ledger.charge("p", mo.pure("0.2"), request="", key="a")
    server.stop("immediate")
    try:
        with pytest.raises(mo.LedgerError, match=r"failed: .*nothing was written") as caught:
            ledger.charge("p", mo.pure("0.2"), request="")
        assert "sesame" not in str(caught.value)
    finally:
        server.start()
    ledger.charge("p", mo.pure("0.3"), request="")
    assert ledger.account("p").spent == mo.pure("0.5")
    ledger.verify()


def test_a_network_that_breaks_at_any_byte(server, database) -> None:
    Ledger.create(database).open_account("p", mo.pure(100))
    proxy = Proxy(server.port, 12_000, seed=3)
    name = database.rpartition("/")[2]
    paid, said = 0, []
    try:
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            for number in range(40):
                try:
                    far = Ledger(server.url(name, port=proxy.port))
                    far.charge("p", mo.pure(1), request="", key=f"k{number}")
                    paid += 1
                except mo.LedgerError as error:
                    said.append(str(error))
            gc.collect()  # the driver warns of connections that broke while they were set up
    finally:
        proxy.stop()
    near = Ledger(database)
    checked = near.verify()
    assert paid <= checked.charges <= paid + len(said)
    assert min(paid, len(said)) > 0
    assert all("released" in text and "sesame" not in text for text in said)
    for number in range(40):  # a key that may have been charged is charged once
        near.charge("p", mo.pure(1), request="", key=f"k{number}")
    assert near.account("p").spent == mo.pure(40)


def test_a_role_that_may_only_select(server, database) -> None:
    Ledger.create(database).open_account("p", mo.pure(1))
    name = database.rpartition("/")[2]
    server.sql(
        name,
        f'CREATE ROLE "viewer_{name}" LOGIN',
        f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "viewer_{name}"',
    )
    viewer = Ledger(server.url(name, user=f"viewer_{name}"))
    assert viewer.account("p").spent.amount == 0
    for spend in (
        lambda: viewer.charge("p", mo.pure("0.1"), request=""),
        lambda: viewer.grant("p", mo.pure("0.1")),
        lambda: viewer.open_account("q", mo.pure("0.1")),
    ):
        with pytest.raises(mo.AccessDeniedError, match="only be read by this role"):
            spend()


def test_rows_of_a_server_cannot_be_changed(server, database) -> None:
    refused = import_module("psycopg").errors.RaiseException
    ledger = Ledger.create(database)
    ledger.open_account("p", mo.pure(1))
    name = database.rpartition("/")[2]
    for statement in (
        "UPDATE modicum_entry SET spent = 0",
        "DELETE FROM modicum_entry",
        "TRUNCATE modicum_entry",
    ):
        with pytest.raises(refused, match="append-only"):
            server.sql(name, statement)
    server.sql(
        name,
        "ALTER TABLE modicum_entry DISABLE TRIGGER ALL",
        "UPDATE modicum_entry SET granted = 5000000000000000",
    )
    with pytest.raises(mo.LedgerCorrupt, match="was edited"):
        ledger.charge("p", mo.pure(2), request="")


def test_a_commit_on_a_server_waits_for_its_disk(server, database) -> None:
    name = database.rpartition("/")[2]
    Ledger.create(database)
    server.sql(name, f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    ledger = Ledger(database)  # it gives back its connection when it is freed
    shown = ledger._store.transaction(lambda db: db.rows("SHOW synchronous_commit"), write=True)
    assert shown == [("on",)]
