"""What a charge costs, as a ratio to a bare commit of the same store."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median

import modicum as mo
from benchmarks.targets import Target, table
from modicum.privacy.ledger.book import Ledger
from tests.privacy.ledger.server import MISSING, Server, programs

COST = mo.pure("0.001")
BODY = "x" * 5_000  # a mean's release is about that long


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rounds, and charges that an account has before."""

    rounds: int
    before: tuple[int, ...]


FULL = Sizes(rounds=400, before=(0, 20_000))
QUICK = Sizes(rounds=100, before=(0, 500))


def ledger(sizes: Sizes) -> tuple[str, list[Target]]:
    """Time a charge, one with a key, and a charge with its release, in turns with bare commits."""
    rows, targets = [], []
    with tempfile.TemporaryDirectory() as folder:
        for before in sizes.before:
            url = f"sqlite:///{folder}/{before}.db"
            rows.append(_row("SQLite", url, before, sizes.rounds, targets))
    note = "PostgreSQL runs on the same machine, and is reached over TCP."
    if programs() is None or find_spec("psycopg") is None:
        note = f"PostgreSQL was not measured: {MISSING}."
    else:
        server = Server()
        try:
            url = server.database("bench")
            rows.append(_row("PostgreSQL", url, sizes.before[0], sizes.rounds, targets))
        finally:
            server.remove()
    header = ["store", "charges before", "bare commit", "charge", "with a key", "and its release"]
    text = f"""## Ledger: what a charge costs

Medians of {sizes.rounds} rounds, in each of which everything is done once. A bare commit is a
transaction that inserts one row, through the same connection. {note}

{table(header, rows)}"""
    return text, targets


def _row(store: str, url: str, before: int, rounds: int, targets: list[Target]) -> list[str]:
    made = Ledger.create(url)
    made.open_account("p", mo.pure(9000))
    with made._store.transaction(write=True) as db:
        db.rows("CREATE TABLE bare (x TEXT)")
    for number in range(before):
        made.charge("p", COST, request="", key=f"before {number}")

    def bare(_: int) -> None:
        with made._store.transaction(write=True) as db:
            db.rows("INSERT INTO bare VALUES (:x)", x="x" * 300)

    def charge(_: int) -> None:
        made.charge("p", COST, request="x" * 300)

    def keyed(number: int) -> None:
        made.charge("p", COST, request="x" * 300, key=f"k{number}")

    def released(_: int) -> None:
        made.record(made.charge("p", COST, request="x" * 300), BODY)

    times: dict[Callable[[int], None], list[float]] = {
        each: [] for each in (bare, charge, keyed, released)
    }
    for number in range(rounds):
        for work, seconds in times.items():
            start = time.perf_counter()
            work(number)
            seconds.append(time.perf_counter() - start)
    made.close()
    base, *costs = (median(seconds) for seconds in times.values())
    name = f"{store}, {before:,} charges before" if before else store
    targets.append(Target(f"a charge, {name}", 5.0, costs[0] / base, note="to a bare commit"))
    shown = [f"{1000 * cost:.2f} ms ({cost / base:.2f}x)" for cost in costs]
    return [store, f"{before:,}", f"{1000 * base:.2f} ms", *shown]
