"""Errors of a mean beside other libraries, from 300 to 100,000 records: writes ``curve.csv``.

    MODICUM_PEERS=.venv-peers/bin/python .venv/bin/python -m benchmarks.curve

``docs/figures/error.py`` draws it. The data are the incomes of ``peers``, and ε is 1.
"""

import csv
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.random import default_rng

import modicum
from benchmarks.datasets import income
from benchmarks.methods import WITHIN
from benchmarks.peers import PEERS, ask
from modicum.exact.entropy import SeededEntropy

SIZES = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
RELEASES = 60
SLOW = {"pydp_auto": 15, "opendp_tails": 30}
FILE = Path(__file__).with_name("curve.csv")


def estimates(library: str, path: Path) -> list[float]:
    if library == "modicum":
        budget = modicum.pure(2 * RELEASES)
        curator = modicum.Curator(np.load(path), budget=budget, entropy=SeededEntropy("curve"))
        return [curator.mean(within=WITHIN, epsilon=1).value for _ in range(RELEASES)]
    peer = next(each for each in PEERS if each.worker == library)
    reply = ask(peer, path, SLOW.get(library, RELEASES))
    if "missing" in reply:
        sys.exit(f"{library} is missing: {reply['missing']}")
    return [each for each in reply["estimates"] if each is not None]


def main() -> None:
    libraries = ["modicum", *(each.worker for each in PEERS if each.worker != "opendp_quantiles")]
    with tempfile.TemporaryDirectory() as folder, FILE.open("w", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["library", "n", "epsilon", "median_error", "releases", "failed"])
        for n in SIZES:
            x = income(default_rng(0), n)
            path = Path(folder) / "income.npy"
            np.save(path, x)
            for library in libraries:
                found = estimates(library, path)
                asked = SLOW.get(library, RELEASES)
                errors = [abs(each / float(x.mean()) - 1) for each in found]
                error = f"{statistics.median(errors):.3g}" if 2 * len(errors) > asked else ""
                rows.writerow([library, n, 1, error, asked, asked - len(errors)])
                file.flush()


if __name__ == "__main__":
    main()
