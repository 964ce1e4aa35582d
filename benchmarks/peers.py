"""Other libraries on the same incomes, each in a worker process of their own environment."""

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

import modicum
from benchmarks.clock import fastest
from benchmarks.datasets import income
from benchmarks.methods import WITHIN
from benchmarks.targets import table
from modicum.exact.entropy import SeededEntropy

HERE = Path(__file__).parent
N = 100_000


@dataclass(frozen=True, slots=True)
class Peer:
    """A library as its user would call it, knowing only that incomes lie within ±1e9."""

    label: str
    worker: str
    releases: int
    quick: int
    note: str


PEERS = (
    Peer("OpenDP, bounds ±1e9", "opendp_wide", 200, 30, "sum and count"),
    Peer(
        "OpenDP, 5 % and 95 % quantiles as bounds", "opendp_quantiles", 100, 20,
        "its advice for unknown bounds; half of ε; the error is clipping bias",
    ),
    Peer(
        "OpenDP, 0.1 % and 99.9 % quantiles", "opendp_tails", 100, 20,
        "the same, tuned by us for heavy tails",
    ),
    Peer("diffprivlib, bounds ±1e9", "diffprivlib_wide", 200, 30, "swap neighbours, n public"),
    Peer(
        "PyDP, bounds left out", "pydp_auto", 30, 5,
        "Google's library finds them; few releases, each is slow",
    ),
)  # fmt: skip

DEVIATIONS = (
    Peer("PyDP, bounds left out", "pydp_std_auto", 30, 5, "Google's library finds them"),
    Peer("diffprivlib, bounds ±1e9", "diffprivlib_std_wide", 200, 30, "swap, n public"),
)


def spread_peers(*, quick: bool) -> str:
    """Run the standard deviations of other libraries and return a section of text."""
    x = income(default_rng(0), N)
    entropy = SeededEntropy("std")
    releases = 40 if quick else 400
    curator = modicum.Curator(x, budget=modicum.pure(10 * releases), entropy=entropy)
    ours = [curator.std(within=WITHIN, epsilon=1).value for _ in range(releases)]
    label = f"modicum {modicum.__version__}, within ±1e9"
    rows = [[label, *_summary(ours, float(x.std())), str(releases), ""]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "income.npy"
        np.save(path, x)
        for peer in DEVIATIONS:
            row = _row(peer, path, float(x.std()), quick=quick)
            rows.append([*row[:3], *row[4:]])
    header = ["library", "median error", "95 % below", "releases", "note"]
    return f"""### Peers: the standard deviation of {N:,} incomes, ε = 1

{table(header, rows)}"""


def peers(*, quick: bool) -> str:
    """Run all and return a section of text."""
    x = income(default_rng(0), N)
    rows = [_ours(x, 40 if quick else 400)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "income.npy"
        np.save(path, x)
        rows += [_row(peer, path, float(x.mean()), quick=quick) for peer in PEERS]
    header = ["library", "median error", "95 % below", "CPU time / numpy.sum", "releases", "note"]
    return f"""## Peers: the mean of {N:,} incomes, ε = 1

Incomes are lognormal(10.8, 0.9), their range is given as ±1e9 or not at all. Relative error of the
mean. CPU time of one release, the fastest of all, over numpy.sum of the same array in the same
process.

{table(header, rows)}"""


def _ours(x: NDArray[np.float64], releases: int) -> list[str]:
    entropy = SeededEntropy("peers")
    budget = modicum.pure(10 * releases)
    curator = modicum.Curator(x, budget=budget, entropy=entropy)
    estimates = [curator.mean(within=WITHIN, epsilon=1).value for _ in range(releases)]
    times = fastest(
        {
            "sum": lambda: [np.sum(x) for _ in range(20)],
            "mean": lambda: modicum.mean(x, within=WITHIN, epsilon=1),
        },
        20,
    )
    ratio = 20 * times["mean"] / times["sum"]
    label = f"modicum {modicum.__version__}, within ±1e9"
    return [label, *_summary(estimates, float(x.mean())), f"{ratio:,.0f}x", str(releases), ""]


def _row(peer: Peer, path: Path, truth: float, *, quick: bool) -> list[str]:
    releases = peer.quick if quick else peer.releases
    reply = ask(peer, path, releases)
    if "missing" in reply:
        return [peer.label, "-", "-", "-", "0", f"not installed: {reply['missing']}"]
    estimates = [e for e in reply["estimates"] if e is not None]
    failed = releases - len(estimates)
    note = peer.note + (f"; {failed} of {releases} releases failed" if failed else "")
    label = f"{peer.label} ({reply['package']} {reply['version']})"
    if not estimates:
        return [label, "-", "-", f"{reply['ratio']:,.0f}x", str(releases), note]
    return [label, *_summary(estimates, truth), f"{reply['ratio']:,.0f}x", str(releases), note]


def _summary(estimates: list[float], truth: float) -> Iterator[str]:
    errors = [abs(e / truth - 1) for e in estimates]
    for value in (statistics.median(errors), float(np.quantile(errors, 0.95))):
        yield f"{100 * value:.2g} %" if value < 1 else f"{100 * value:.0f} %"


def ask(peer: Peer, path: Path, releases: int, epsilon: float = 1.0) -> dict:
    """Run a worker on a file of numbers: its answers, its version, and its CPU time."""
    python = os.environ.get("MODICUM_PEERS", str(HERE.parent / ".venv-peers" / "bin" / "python"))
    worker = [python, str(HERE / "peer_worker.py"), peer.worker]
    command = [*worker, str(path), str(epsilon), str(releases)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        return {"missing": "no environment for peers; `make bench` makes it"}
    except subprocess.CalledProcessError as error:
        return {"missing": (error.stderr.strip().splitlines() or ["worker failed"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])
