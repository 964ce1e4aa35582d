"""``python -m tests.privacy.ledger.names FOLDER CHARGES SEED [MOUNTED ...]``: one file, many names.

Forks processes that charge 1 each from a budget of CHARGES, three at a time, each under a name of
its own: the file's, symbolic links, the MOUNTED names, and hard links that are made and removed
meanwhile. Half of them are killed at a random moment, and now and then the file is renamed. A
process writes the number of its charge to a pipe when it has it: that may be drawn on. Prints one
JSON object.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import modicum as mo
from modicum.privacy.ledger.book import Ledger

COST = mo.pure("1e-4")
AT_ONCE = 3


def work(name: str, out: int, most: int) -> None:
    """Charge until the budget ends or the name is refused."""
    ledger = Ledger(f"sqlite:///{name}")
    for _ in range(most):
        try:
            paid = ledger.charge("p", COST, request=name)
        except mo.BudgetExceeded:
            os.write(out, b"empty\n")
            return
        except (mo.LedgerError, mo.InvalidArgument):
            os.write(out, b"refused\n")
            return
        os.write(out, f"{paid.seq}\n".encode())


def begin(name: str, most: int) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 9
        try:
            os.close(read)
            work(name, write, most)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    return pid, read


def storm(path: Path, charges: int, seed: int, mounted: list[str]) -> dict[str, object]:
    draws = random.Random(seed)
    folder = path.parent.parent
    ledger = Ledger.create(f"sqlite:///{path}")
    ledger.open_account("p", mo.pure(f"{charges}e-4"))
    ledger.close()
    (folder / "symbolic.db").symlink_to(path)
    (folder / "symbolic").symlink_to(path.parent)
    names = [str(path), str(folder / "symbolic.db"), f"{folder}/symbolic/{path.name}", *mounted]
    seen: list[int] = []
    counts: Counter[str] = Counter()
    while not counts["empty"] and max(len(seen), counts["rounds"]) <= charges:
        counts["rounds"] += 1
        chosen = draws.choices(names, k=AT_ONCE)
        link = folder / f"hard{counts['rounds']}.db"
        fate = draws.random()
        if fate < 0.2:
            os.link(path, link)
            chosen[0] = str(link)
        live = [begin(name, draws.choice([5, 40])) for name in chosen]
        time.sleep(draws.uniform(0, 0.04))
        if 0.2 <= fate < 0.4:  # a second name while they are at it
            os.link(path, link)
            live.append(begin(str(link), 40))
            time.sleep(draws.uniform(0, 0.01))
        elif fate > 0.95:
            away = path.with_name("away.db")
            path.rename(away)
            live.append(begin(str(away), 40))
            time.sleep(draws.uniform(0, 0.01))
        for pid, _ in live:
            if draws.random() < 0.5:
                os.kill(pid, signal.SIGKILL)
        if fate > 0.95:
            away.rename(path)
        link.unlink(missing_ok=True)
        for pid, pipe in live:
            with os.fdopen(pipe) as lines:
                said = lines.read().split()
            _, status = os.waitpid(pid, 0)
            counts["killed"] += os.WIFSIGNALED(status)
            counts["failed"] += not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0
            seen += [int(each) for each in said if each.isdigit()]
            counts.update(each for each in said if not each.isdigit())
    ledger = Ledger(f"sqlite:///{path}")
    checked = ledger.verify()
    there = {each.seq for each in ledger.entries("p") if each.action == "charge"}
    return {
        **counts,
        "paid": len(seen),
        "charges": checked.charges,
        "overspent": max(0, len(seen) - charges, checked.charges - charges),
        "lost": len(set(seen) - there),
        "twice": len(seen) - len(set(seen)),
        "names": len(names) + 1,
    }


def main() -> None:
    path, charges, seed, *mounted = sys.argv[1:]
    print(json.dumps(storm(Path(path), int(charges), int(seed), mounted)))


if __name__ == "__main__":
    main()
