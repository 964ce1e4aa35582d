"""One file under several names, without its journal, or from before: one budget all the same."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.sqlite import Place
from modicum.privacy.ledger.store import Db
from tests.privacy.ledger.server import ROOT

TENTH = mo.pure("0.1")


@pytest.fixture
def path(tmp_path) -> Path:
    (tmp_path / "host").mkdir()
    made = tmp_path / "host" / "budget.db"
    ledger = Ledger.create(f"sqlite:///{made}")
    ledger.open_account("p", mo.pure(1))
    ledger.charge("p", TENTH, request="first")
    ledger.close()
    return made


def charge(path: Path) -> None:
    ledger = Ledger(f"sqlite:///{path}")
    try:
        ledger.charge("p", TENTH, request="x")
    finally:
        ledger.close()


def spent(path: Path) -> object:
    ledger = Ledger(f"sqlite:///{path}")
    assert ledger.verify().accounts == 1
    return ledger.account("p").spent


def python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def hard_link(path) -> Path:
    other = path.parent.parent / "other.db"
    os.link(path, other)
    return other


def test_a_commit_waits_for_the_disk_and_a_writer_for_the_lock(path, tmp_path) -> None:
    url = f"sqlite:///{path}"
    for ledger in (Ledger(url), Ledger.create(f"sqlite:///{tmp_path}/new.db")):
        ways = ledger._store.transaction(
            lambda db: [db.rows(f"PRAGMA {each}") for each in ("synchronous", "fullfsync")],
            write=True,
        )
        assert ways == [[(3,)], [(1,)]]  # 3 is EXTRA

    def reads_under_the_lock(db: Db) -> None:
        assert db.rows("SELECT entries FROM modicum_account") == [(2,)]
        other = sqlite3.connect(path, timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()

    Ledger(url)._store.transaction(reads_under_the_lock, write=True)


@pytest.mark.parametrize("mode", ["", "?mode=ro"])
def test_a_file_with_two_names_is_not_opened_under_either(path, hard_link, mode) -> None:
    for name in (path, hard_link):
        with pytest.raises(mo.LedgerError, match="has 2 names") as caught:
            Ledger(f"sqlite:///{name}{mode}").account("p")
        assert "nothing was written or released" in str(caught.value)
        with pytest.raises(mo.LedgerError, match="has 2 names"):
            Ledger.create(f"sqlite:///{name}")
    hard_link.unlink()
    charge(path)
    assert spent(path) == mo.pure("0.2")


def test_a_name_that_is_added_while_the_file_is_open(path) -> None:
    ledger = Ledger(f"sqlite:///{path}")
    ledger.charge("p", TENTH, request="x")
    other = path.with_name("other.db")
    os.link(path, other)
    with pytest.raises(mo.LedgerError, match="has 2 names"):
        ledger.charge("p", TENTH, request="x")
    path.unlink()  # so it was renamed
    with pytest.raises(InvalidArgument, match="there is no ledger"):
        ledger.charge("p", TENTH, request="x")
    charge(other)
    assert spent(other) == mo.pure("0.3")


def test_names_that_share_the_folder_share_the_budget(path, tmp_path) -> None:
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    (tmp_path / "twice.db").symlink_to(tmp_path / "link.db")
    names = [
        path,
        tmp_path / "link.db",
        tmp_path / "folder" / "budget.db",
        tmp_path / "twice.db",
        path.parent / ".." / "host" / "budget.db",
    ]
    opened = [Ledger(f"sqlite:///{name}") for name in names]
    for number, ledger in enumerate(opened):
        ledger.charge("p", TENTH, request="x")
        assert opened[number - 1].account("p").spent.amount == TENTH.amount * (number + 2)
    assert spent(path) == mo.pure("0.6")
    assert not list(tmp_path.glob("*-journal"))


def test_a_file_that_was_replaced_while_it_was_open(path, tmp_path) -> None:
    """Charges to what has no name any more would be lost."""
    ledger = Ledger(f"sqlite:///{path}")
    ledger.account("p")
    copy = shutil.copy(path, tmp_path / "backup.db")
    Path(copy).replace(path)
    with pytest.raises(mo.LedgerError, match="moved or replaced"):
        ledger.charge("p", TENTH, request="x")
    ledger.charge("p", TENTH, request="x")  # it is opened anew
    assert spent(path) == mo.pure("0.2")


def mounts_work() -> bool:
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None:
        return False
    run = subprocess.run(
        ["unshare", "-m", "sh", "-c", "mount --bind / /"], capture_output=True, check=False
    )
    return run.returncode == 0


@pytest.mark.skipif(not mounts_work(), reason="no right to mount")
def test_a_file_that_is_mounted_alone_is_refused_and_a_folder_is_not(path, tmp_path) -> None:
    script = """
        import sys, modicum as mo
        try:
            mo.Ledger(sys.argv[1] + sys.argv[2]).account("p")
            mo.Ledger(sys.argv[1]).charge("p", mo.pure("0.1"), request="x")
            print("charged")
        except mo.LedgerError as error:
            print(error)
    """
    mount = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    (tmp_path / "file.db").touch()
    (tmp_path / "folder").mkdir()
    for kind, source in (("file.db", path), ("folder", path.parent)):
        name = tmp_path / ("file.db" if kind == "file.db" else "folder/budget.db")
        for mode in ("", "?mode=ro"):
            run = subprocess.run(
                ["unshare", "-m", "sh", "-c", mount, "-", str(source), str(tmp_path / kind),
                 sys.executable, "-c", textwrap.dedent(script), f"sqlite:///{name}", mode],
                cwd=ROOT, capture_output=True, text=True, check=False,
            )  # fmt: skip
            expected = "mounted as a single file" if kind == "file.db" else "charged"
            assert expected in run.stdout, (run.stdout, run.stderr)
    assert spent(path) == mo.pure("0.3")


# A transaction of many entries that spills its pages into the file before its end, as a commit
# does, and then dies.
DIE = """
    import os, signal, sys, modicum as mo
    from modicum.privacy.ledger.chain import Chain
    from modicum.privacy.ledger.chain import charged
    ledger = mo.Ledger(sys.argv[1])
    ledger._store._ready().execute("PRAGMA cache_size=2")
    def spill(db):
        chain = Chain(db, "p")
        for each in range(int(sys.argv[2])):
            chain.append("charge", "me", charged(mo.pure("1e-6")), body="y" * 700)
        os.kill(os.getpid(), signal.SIGKILL)
    ledger._store.transaction(spill, write=True)
"""


def die(path: Path, entries: int = 60) -> None:
    before = path.read_bytes()
    assert python(DIE, f"sqlite:///{path}", entries).returncode == -9
    assert path.read_bytes() != before  # half of it is in the file
    assert any(path.with_name(f"{path.name}-journal").read_bytes()[:8])


def test_a_transaction_that_was_broken_off_is_undone(path) -> None:
    die(path)
    assert spent(path) == mo.pure("0.1")
    charge(path)
    assert spent(path) == mo.pure("0.2")


def test_a_file_renamed_without_its_journal_is_not_charged(path, tmp_path) -> None:
    """Else the journal would be rolled back over later charges when the old name comes back."""
    for other in (path.with_name("other.db"), tmp_path / "other.db"):
        die(path)
        path.rename(other)
        for use in (
            charge,
            lambda name: Ledger(f"sqlite:///{name}").find("p", "key", "x"),
            lambda name: Ledger(f"sqlite:///{name}?mode=ro").account("p"),
        ):
            with pytest.raises(mo.LedgerError, match=r"nothing was written or|damaged"):
                use(other)
        other.rename(path)
        assert spent(path) == mo.pure("0.1")
    charge(path)
    assert spent(path) == mo.pure("0.2")


def test_a_whole_file_without_its_journal_is_not_charged_either(path) -> None:
    """As it was before a transaction that died: no page tells that a journal is missing."""
    other, whole = path.with_name("other.db"), path.read_bytes()
    die(path)
    path.unlink()
    other.write_bytes(whole)
    for use in (charge, lambda name: Ledger(f"sqlite:///{name}?mode=ro").account("p")):
        with pytest.raises(mo.LedgerError, match="when a process died while it wrote"):
            use(other)
    other.rename(path)
    charge(path)
    assert spent(path) == mo.pure("0.2")


def test_a_file_renamed_in_peace_goes_on(path, tmp_path) -> None:
    for number in range(3):
        other = tmp_path / f"{number}.db"
        path.rename(other)
        charge(other)
        path = other
    assert spent(path) == mo.pure("0.4")


def test_a_side_file_that_is_lost_gives_nothing_back(path) -> None:
    """Processes die after their charges; what lies beside the file is cleared away."""
    script = """
        import os, sys, modicum as mo
        ledger = mo.Ledger(sys.argv[1])
        ledger.charge("p", mo.pure("0.1"), request="x")
        os.kill(os.getpid(), 9)
    """
    for number in range(2, 5):
        assert python(script, f"sqlite:///{path}").returncode == -9
        for beside in path.parent.glob("budget.db-*"):
            beside.unlink()
        assert spent(path).amount == TENTH.amount * number


def test_a_commit_torn_between_any_two_pages_gives_nothing_back(path) -> None:
    """Pages of a commit reach the file one by one; here its journal is lost as well."""
    ledger = Ledger(f"sqlite:///{path}")
    ledger.grant("p", mo.pure(50))
    tried = refused = 0
    torn = path.with_name("torn.db")
    for number in range(60):
        before = path.read_bytes()
        known = ledger.account("p").spent
        kept = ledger.charge("p", TENTH, request="z" * (number * 37 % 900), key=f"k{number}")
        after = path.read_bytes()
        size = int.from_bytes(before[16:18], "big")
        before += bytes(len(after) - len(before))
        pages = range(0, len(after), size)
        changed = [
            page for page in pages if before[page : page + size] != after[page : page + size]
        ]
        for until in range(1, len(changed)):
            written = set(changed[:until])
            torn.write_bytes(
                b"".join(
                    (after if page in written else before)[page : page + size] for page in pages
                )
            )
            tried += 1
            try:
                state = Ledger(f"sqlite:///{torn}").account("p")
                assert known.amount <= state.spent.amount <= known.amount + TENTH.amount
                charge(torn)
            except mo.LedgerError:
                refused += 1
            for beside in path.parent.glob("torn.db*"):
                beside.unlink()
        assert kept.seq == number + 4
    assert tried > 150
    assert refused > 50


LEGACY = """
    import os, sys, sqlite3, modicum as mo
    from modicum.privacy.ledger import sqlite
    def durable(self, connection):  # as ledgers were written before
        connection.execute("PRAGMA synchronous=FULL")
        assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    sqlite.SqliteStore._make_durable = durable
    sqlite.SqliteStore._settle = lambda self, db, *, write: None
    ledger = mo.Ledger.create(sys.argv[1])
    ledger.open_account("p", mo.pure(1))
    for each in range(4):
        ledger.charge("p", mo.pure("0.1"), request="x")
    os.kill(os.getpid(), 9) if sys.argv[2] == "killed" else ledger.close()
"""


@pytest.mark.parametrize("end", ["killed", "closed"])
@pytest.mark.parametrize("mode", ["", "?mode=ro"])
def test_a_ledger_with_a_log_is_taken_over(tmp_path, end, mode) -> None:
    path = tmp_path / "old.db"
    python(LEGACY, f"sqlite:///{path}", end)
    assert path.read_bytes()[18:20] == b"\2\2"  # it has a write-ahead log
    assert Path(f"{path}-wal").exists() == (end == "killed")
    assert Ledger(f"sqlite:///{path}{mode}").account("p").spent == mo.pure("0.4")
    charge(path)
    assert path.read_bytes()[18:20] == b"\1\1"
    for beside in tmp_path.glob("old.db-*"):
        beside.unlink()
    assert spent(path) == mo.pure("0.5")


def test_many_processes_take_a_log_over_at_once(tmp_path) -> None:
    path = tmp_path / "old.db"
    python(LEGACY, f"sqlite:///{path}", "killed")
    script = (
        "import sys, modicum as mo; mo.Ledger(sys.argv[1]).charge('p', mo.pure('0.1'), request='')"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, f"sqlite:///{path}"], cwd=ROOT)
        for _ in range(6)
    ]
    assert [each.wait() for each in running] == [0] * 6
    assert spent(path) == mo.pure(1)


def test_a_log_that_another_program_begins_is_ended(path) -> None:
    ledger = Ledger(f"sqlite:///{path}")
    ledger.account("p")
    other = sqlite3.connect(path)
    assert other.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    other.close()
    with suppress(mo.LedgerError):
        ledger.charge("p", TENTH, request="x")
    ledger.charge("p", TENTH, request="x")
    assert path.read_bytes()[18:20] == b"\1\1"


def charge_under_many_names(
    tmp_path: Path, charges: int, seed: int, count: Callable[[str, str], None]
) -> None:
    """Processes charge under all names while names come and go, and are killed."""
    (tmp_path / "host").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.db").touch()
    path, mounted = tmp_path / "host" / "budget.db", []
    storm = [sys.executable, "-m", "tests.privacy.ledger.names", str(path), str(charges), str(seed)]
    if mounts_work():
        path.touch()
        mounted = [str(tmp_path / "file.db"), str(tmp_path / "folder" / "budget.db")]
        mounts = 'mount --bind "$1" "$2" && mount --bind "$3" "$4" && shift 4 && exec "$@"'
        places = [path, tmp_path / "file.db", path.parent, tmp_path / "folder"]
        storm = ["unshare", "-m", "sh", "-c", mounts, "-", *map(str, places), *storm]
    run = subprocess.run([*storm, *mounted], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    said = json.loads(run.stdout)
    count("counted", f"names: {said}")
    assert {each: said[each] for each in ("overspent", "lost", "twice", "failed")} == dict.fromkeys(
        ("overspent", "lost", "twice", "failed"), 0
    )
    assert said["charges"] == charges
    assert min(said["refused"], said["killed"], said["paid"]) > 0  # how often is a matter of time


def test_three_hundred_charges_under_many_names(tmp_path, record_property) -> None:
    charge_under_many_names(tmp_path, 300, 1, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
def test_ten_thousand_charges_under_many_names(tmp_path, record_property, seed) -> None:
    charge_under_many_names(tmp_path, 10_000, seed, record_property)


def test_a_file_that_vanishes_while_it_is_opened_is_an_error_of_the_ledger(path) -> None:
    with pytest.raises(mo.LedgerError, match="cannot be found"):
        Place.of(f"{path}.gone")


def test_the_place_of_a_file_is_the_same_in_every_mount(path, tmp_path) -> None:
    place = Place.of(str(path))
    link = tmp_path / "elsewhere"
    link.symlink_to(path.parent)
    assert Place.of(str(link / "budget.db")) == place
    assert place.key.endswith("/budget.db")
