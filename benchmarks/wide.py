"""Columns of all kinds within ±1e9: relative errors, coverage, and what is said of them."""

from dataclasses import dataclass

import numpy as np

from benchmarks.kinds import WIDE, Floats, Kind, rare, real_tables
from benchmarks.outcomes import Ask, Outcomes, far_target, low
from benchmarks.targets import Target, table
from modicum import query

STATISTICS = ("mean", "sum", "std", "max")
SHARES = (0.02, 0.1, 0.3, 0.5)
ENOUGH = 600  # records of the rarer value of a 0/1 column, from which on it is answered
SAID = ("Zipf(2.6)", "90 % zeros", "60 % zeros, incomes")  # promised: right, or not "ok"


@dataclass(frozen=True, slots=True)
class Cell:
    """Releases of one statistic of columns of one kind."""

    name: str
    n: int
    statistic: str
    found: Outcomes


def wide(
    sizes: tuple[int, ...],
    records: tuple[int, ...],
    releases: int,
    only: tuple[str, ...],
    *,
    ask: Ask,
) -> tuple[str, list[Target]]:
    """Return a table for each statistic, and the targets."""
    dummies = {s: rare(s) for s in SHARES if not only or rare(s).name in only}
    kinds = [kind for kind in (*WIDE, *real_tables()) if not only or kind.name in only]
    columns = [
        *((kind, round(ones / share)) for share, kind in dummies.items() for ones in records),
        *((kind, n) for kind in kinds for n in sizes if kind.most is None or n <= kind.most),
    ]
    cells = [_cell(k, n, name, releases, ask) for name in STATISTICS for k, n in columns]
    tables = "\n\n".join(f"### {name} within ±1e9\n\n{_table(cells, name)}" for name in STATISTICS)
    words = f"""## Columns of all kinds within ±1e9

Default arguments, ε = 1, {releases} releases a cell, each of fresh data; 0/1 columns have exactly
their share of ones. Errors are relative to the truth (absolute if it is 0), by median and 95 %
quantile; *n ε error*: the median error times n ε, about 0.7 for a 0/1 column if its bounds are
known; the other columns are as above."""
    return f"{words}\n\n{tables}", [
        *_targets(cells),
        far_target("columns within ±1e9", [c.found for c in cells]),
    ]


def _cell(kind: Kind, n: int, name: str, releases: int, ask: Ask) -> Cell:
    question = getattr(query, name)(within=kind.within, epsilon=1)
    seen, truths = [], []
    for k in range(releases):
        x = kind.sample(n, k)
        truths.append(_truth(x, name))
        seen.append(ask(question, x, f"{kind.name} {name} {n} {k}"))
    return Cell(kind.name, n, name, Outcomes.of(seen, truths))


def _truth(x: Floats, name: str) -> float:
    return float(getattr(x, "max" if name == "max" else name)())


def _table(cells: list[Cell], name: str) -> str:
    """One statistic; the errors of a mean also times n ε."""
    rows = []
    for cell in (each for each in cells if each.statistic == name):
        relative = cell.found.relative
        shown = [f"{np.median(relative):.2g}", f"{np.quantile(relative, 0.95):.2g}"]
        if name == "mean":
            shown.append(f"{np.median(cell.found.errors) * cell.n:.2g}")
        rows.append([cell.name, f"{cell.n:,}", *shown, *cell.found.cells()])
    header = ["data", "n", "error", "95 % below", *(["n ε error"] if name == "mean" else [])]
    return table([*header, "covered", '"ok"', "usable", "far"], rows)


def _targets(cells: list[Cell]) -> list[Target]:
    """0/1 columns of enough records are answered; heavy and mostly equal ones are right or said."""
    targets = []
    for share in SHARES:
        name = rare(share).name
        here = [c for c in cells if (c.name, c.statistic) == (name, "mean")]
        measured = [
            low(lambda e, n=cell.n: float(np.median(e)) * n, cell.found.errors)
            for cell in here
            if round(cell.n * share) >= ENOUGH
        ]
        if measured:
            worst, margin = max(measured, key=lambda pair: pair[0] - pair[1])
            words = f"mean within ±1e9, {name}, from {ENOUGH} ones on, n ε error"
            targets.append(Target(words, 3, worst, "", margin=margin))
    for name in SAID:
        chosen = [c for c in cells if c.name == name and c.statistic != "max"]
        if chosen:
            targets.append(_said(name, chosen))
    return targets


def _said(name: str, cells: list[Cell]) -> Target:
    """At most 7 % of the releases miss, or nearly all that do say so."""
    worst = max(cells, key=lambda cell: cell.found.unsaid)
    share = worst.found.unsaid
    margin = 2 * (0.07 * 0.93 / len(worst.found.held)) ** 0.5
    note = f"{worst.statistic}, n = {worst.n:,}"
    return Target(f"misses within ±1e9, {name}", 0.07, share, "", note=note, margin=margin)
