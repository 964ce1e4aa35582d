"""``python -m tests.privacy.ledger.faults URL FAULTS SEED [PORT]``: break a ledger in every way.

Forks processes that ask a curator questions, a few at a time, from one account whose budget runs
out again and again. Each process is hit by one fault:

- step: it kills itself (SIGKILL) at a statement, a commit, a draw, or between two of them;
- moment: it is killed from outside at a random moment;
- disk: a write beyond a random file size fails (SQLite);
- cut: its network to the server, through the proxy at PORT, is reset after random bytes.

A process writes the digest of a release to a pipe when it has it: that is what leaves. At the end
the ledger is verified, and everything that left is looked up in it. Prints one JSON object.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import select
import signal
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

import modicum as mo
from modicum.exact.entropy import SystemEntropy
from modicum.privacy.ledger import sqlite
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.chain import charged, digest
from modicum.query import count
from modicum.stored.codec import to_text

TABLE = pd.DataFrame({"g": list("ab") * 20, "x": np.arange(40.0)})
COST = "0.01"
AT_ONCE = 3
STEPS = {"sqlite": 62, "postgresql": 150}  # about as many as a question has
LONGEST = {"sqlite": 0.04, "postgresql": 0.2}  # seconds in which a question is answered
MARGIN = 3  # costs granted at a time


class Steps:
    """Counts what happens in this process, and ends it at one of them."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class SteppingEntropy(SystemEntropy):
    """System entropy in which every draw is a step."""

    __slots__ = ("_step",)

    def __init__(self, step: Steps) -> None:
        self._step = step

    def word(self) -> int:
        self._step()
        return super().word()


class WatchedConnection:
    """A connection to a server of which every statement has a step before and after it."""

    def __init__(self, connection: object, step: Steps) -> None:
        self._connection, self._step = connection, step

    def execute(self, *statement: object) -> object:
        self._step()
        found = self._connection.execute(*statement)  # type: ignore[attr-defined]
        self._step()
        return found

    def close(self) -> None:
        self._connection.close()  # type: ignore[attr-defined]


def watch(ledger: Ledger, step: Steps) -> None:
    """Let statements, commits and the ends of transactions be steps."""
    connect = ledger._store._connect
    of_a_file = isinstance(ledger._store, sqlite.SqliteStore)

    def watched(*mode: str) -> object:
        connection = connect(*mode)
        if of_a_file:
            connection.set_trace_callback(step)
            return connection
        return WatchedConnection(connection, step)

    ledger._store._connect = watched  # type: ignore[method-assign]
    for name in ("find", "account", "charge", "record"):
        method = getattr(ledger, name)

        def stepped(*args: object, _method: object = method, **kwargs: object) -> object:
            step()
            result = _method(*args, **kwargs)  # type: ignore[operator]
            step()
            return result

        setattr(ledger, name, stepped)


def ask(url: str, key: str | None, kind: int, step: Steps, out: int) -> None:
    """Ask one question, and let its answer leave."""
    ledger = Ledger(url)
    watch(ledger, step)
    curator = mo.Curator(TABLE, ledger=ledger, account="p", entropy=SteppingEntropy(step))
    asked = curator if key is None else curator.idempotent(key)
    if kind == 0:
        answer: object = asked.release(answer=count(epsilon=COST))
    elif kind == 1:
        answer = asked.release(a=count(epsilon="0.004"), b=count("x", epsilon="0.006"))
    else:
        groups = asked.group_by("g", keys=["a", "b"])
        answer = groups.release(answer=count(epsilon=COST))
    step()
    os.write(out, f"{json.dumps([key, digest(to_text(dict(answer)))])}\n".encode())  # type: ignore[call-overload]
    step()


@dataclass
class Child:
    pid: int
    pipe: int
    fault: str
    deadline: float
    struck: bool = False


def warm_up() -> None:
    """Import and compute here, once, what every child would."""
    curator = mo.Curator(TABLE, budget=mo.pure(4))
    curator.release(a=count(epsilon=1), b=count("x", epsilon=1))
    to_text(dict(curator.group_by("g", keys=["a", "b"]).release(answer=count(epsilon=1))))
    gc.collect()
    gc.freeze()


class Storm:
    """All faults of a run."""

    def __init__(self, url: str, faults: int, seed: int, port: int | None) -> None:
        self.url, self.faults, self.port = url, faults, port
        self.store = url.partition(":")[0]
        self.draws = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.left: list[tuple[str | None, str]] = []
        self.live: list[Child] = []
        self.asked = 0
        kinds = ["step", "step", "moment"]
        self.kinds = [*kinds, "disk" if self.store == "sqlite" else "cut"]
        warm_up()
        ledger = Ledger.create(url)
        ledger.open_account("p", mo.pure(Fraction(COST) * MARGIN))
        ledger.accounts()  # what a driver imports and computes once
        ledger.close()

    def run(self) -> None:
        done = 0
        while done < self.faults or self.live:
            while len(self.live) < AT_ONCE and done + len(self.live) < self.faults:
                self.begin()
            self.wait()
            done = sum(self.counts[f"struck by {kind}"] for kind in set(self.kinds))

    def begin(self) -> None:
        fault = self.draws.choice(self.kinds)
        # A key is asked for again until it is answered; some questions have none.
        key = None if self.draws.random() < 0.4 else f"k{self.asked // 6}"
        kind = 0 if key is None else int(key[1:]) % 3
        self.asked += 1
        last = self.draws.randint(1, STEPS[self.store]) if fault == "step" else 0
        beyond = self.draws.choice([0, 4096, 20_000, 50_000]) if fault == "disk" else None
        delay = self.draws.uniform(0, LONGEST[self.store]) if fault == "moment" else 60.0
        if self.asked % 7 == 0:
            self.refill()
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            self.child(key, kind, last, beyond, fault, write)
        os.close(write)
        self.live.append(Child(pid, read, fault, time.monotonic() + delay))

    def child(
        self, key: str | None, kind: int, last: int, beyond: int | None, fault: str, out: int
    ) -> None:
        """Ask in a new process; its exit code says how it ended."""
        code = 9
        try:
            url = self.url
            if fault == "cut":
                there, _, database = url.rpartition("/")
                url = f"{there.rpartition(':')[0]}:{self.port}/{database}"
            if beyond is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (beyond, beyond))
            ask(url, key, kind, Steps(last), out)
            code = 0
        except mo.BudgetExceeded:
            code = 1
        except mo.LedgerError:
            code = 2
        except BaseException as error:  # noqa: BLE001
            os.write(2, f"unexpected {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)

    def wait(self) -> None:
        """Strike whose time has come, and collect whoever has ended."""
        now = time.monotonic()
        for child in self.live:
            if child.deadline <= now and not child.struck:
                child.struck = True
                os.kill(child.pid, signal.SIGKILL)
        ends = [child.pipe for child in self.live]
        nearest = min(child.deadline for child in self.live)
        ready, _, _ = select.select(ends, [], [], max(0.0005, min(1.0, nearest - now)))
        for child in [each for each in self.live if each.pipe in ready]:
            self.collect(child)

    def collect(self, child: Child) -> None:
        said = b""
        while chunk := os.read(child.pipe, 65_536):
            said += chunk
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        self.live.remove(child)
        self.left += [tuple(json.loads(line)) for line in said.splitlines() if line.endswith(b"]")]
        ended = "killed" if os.WIFSIGNALED(status) else _ENDS[os.WEXITSTATUS(status)]
        self.counts[ended] += 1
        if ended in {"killed", "refused by the ledger"}:
            self.counts[f"struck by {child.fault}"] += 1

    def refill(self) -> None:
        """Grant a little when nothing is left, so that the limit is always near."""
        ledger = Ledger(self.url)
        if ledger.account("p").remaining.amount < Fraction(COST):
            ledger.grant("p", mo.pure(Fraction(COST) * MARGIN))
        ledger.close()

    def verdict(self) -> dict[str, object]:
        """Look up in the ledger what left."""
        ledger = Ledger(self.url)
        checked = ledger.verify()
        state, entries = ledger.account("p"), ledger.entries("p")
        charges = [each for each in entries if each.action == "charge"]
        keys = {each.seq: each.key for each in charges}
        recorded = {
            (keys[each.charge], digest(each.body))
            for each in entries
            if each.action == "release" and each.charge is not None
        }
        values: dict[str, set[str]] = {}
        for key, value in self.left:
            if key is not None:
                values.setdefault(key, set()).add(value)
        total = sum(each.amount for each in charges)
        named = [each.key for each in charges if each.key is not None]
        return {
            "faults": sum(self.counts[f"struck by {kind}"] for kind in set(self.kinds)),
            "ended": dict(sorted(self.counts.items())),
            "left": len(self.left),
            "charges": checked.charges,
            "unpaid": sum(pair not in recorded for pair in self.left),
            "keys with two values": sum(len(each) > 1 for each in values.values()),
            "keys charged twice": len(named) - len(set(named)),
            "overspent": max(0, total - charged(state.budget).amount),
            "miscounted": total - charged(state.spent).amount,
            "spent": str(state),
        }


_ENDS = {0: "answered", 1: "refused by the budget", 2: "refused by the ledger", 9: "UNEXPECTED"}


def main() -> None:
    url, faults, seed, *port = sys.argv[1:]
    warnings.simplefilter("ignore", DeprecationWarning)
    storm = Storm(url, int(faults), int(seed), int(port[0]) if port else None)
    storm.run()
    print(json.dumps(storm.verdict()))


if __name__ == "__main__":
    main()
