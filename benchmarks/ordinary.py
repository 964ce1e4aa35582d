"""Means and sums of ordinary columns beside those of known bounds, and columns in wide ranges."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import polars as pl

from benchmarks.kinds import ORDINARY, Floats, Kind
from benchmarks.outcomes import Ask, Outcomes, Seen, far_target, released
from benchmarks.targets import Target, table
from benchmarks.wide import wide
from modicum import Curator, pure, query
from modicum.exact.entropy import SeededEntropy

GROUPS, IN_A_GROUP = 20, 300
FEW = 400  # rows, below which the looser limit holds
METHODS: tuple[Literal["adaptive", "bounded"], ...] = ("adaptive", "bounded")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried.

    Attributes
    ----------
    releases, wide_releases : int
        Of a cell, beside known bounds and in wide ranges; the former for groups in all.
    sizes, wide_sizes, records : tuple of int
        Records of a column; and of the rarer value of a 0/1 column in a wide range.
    only : tuple of str
        Names of the kinds to try; all if empty.
    """

    releases: int
    wide_releases: int
    sizes: tuple[int, ...]
    wide_sizes: tuple[int, ...]
    records: tuple[int, ...] = (300, 600, 2400)
    only: tuple[str, ...] = ()


FULL = Effort(400, 100, (30, 100, 300, 1000, 10_000), (100, 1000, 10_000, 100_000))
QUICK = Effort(40, 4, (30, 300, 1000), (1000, 10_000), (600,))


@dataclass(frozen=True, slots=True)
class Cell:
    """The default and the known bounds on the same data."""

    kind: Kind
    asked: str
    n: int
    default: Outcomes
    bounded: Outcomes

    def row(self) -> list[str]:
        """Cells of the table."""
        ratio, below = self.default.ratio(self.bounded)
        return [
            self.kind.name,
            "{:g} to {:g}".format(*self.kind.within),
            f"{self.n:,}",
            f"{np.median(self.default.errors):.2g}",
            f"{np.median(self.bounded.errors):.2g}",
            f"{ratio:.2f} (from {ratio - below:.2f})",
            f"{self.bounded.held.mean():.2f}",
            *self.default.cells(),
        ]


def ordinary(effort: Effort, ask: Ask = released) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets; ``ask`` answers all but the groups."""
    kinds = [kind for kind in ORDINARY if not effort.only or kind.name in effort.only]
    alone = [
        _cell(kind, name, n, effort.releases, ask)
        for name in ("mean", "sum")
        for kind in kinds
        for n in effort.sizes
    ]
    grouped = [_groups(kind, max(1, effort.releases // GROUPS)) for kind in kinds]
    cells = [*alone, *grouped]
    targets = [target for kind in kinds for target in _targets(kind, cells)]
    targets.append(far_target("ordinary columns", [cell.default for cell in cells]))
    tables = "\n\n".join(
        f"### {name}\n\n{_table([cell for cell in cells if cell.asked == name])}"
        for name in dict.fromkeys(cell.asked for cell in cells)
    )
    shown, others = wide(
        effort.wide_sizes, effort.records, effort.wide_releases, effort.only, ask=ask
    )
    return f"{_words(effort)}\n\n{tables}\n\n{shown}", [*targets, *others]


def _words(effort: Effort) -> str:
    return f"""## Ordinary columns beside known bounds

Default arguments beside `method="bounded"`, ε = 1, {effort.releases} releases a cell, each of fresh
data and both of the same: median errors, their ratio and the lower end of its 95 % interval
(bootstrap); how often the 95 % intervals hold; how often the default says "ok", or a code that can
be used; how many releases say "ok" and miss by more than ten half-widths."""


def _table(cells: list[Cell]) -> str:
    header = ["data", "within", "n", "error", "bounded", "ratio", "bounded covered"]
    header += ["covered", '"ok"', "usable", "far"]
    return table(header, [cell.row() for cell in cells])


def _cell(kind: Kind, name: str, n: int, releases: int, ask: Ask) -> Cell:
    seen: dict[str, list[Seen]] = {method: [] for method in METHODS}
    truths = []
    for k in range(releases):
        x = kind.sample(n, k)
        truths.append(float(getattr(x, name)()))
        for method in METHODS:
            question = getattr(query, name)(within=kind.within, epsilon=1, method=method)
            seen[method].append(ask(question, x, f"{kind.name} {name} {n} {method} {k}"))
    default, bounded = (Outcomes.of(seen[method], truths) for method in METHODS)
    return Cell(kind, name, n, default, bounded)


def _groups(kind: Kind, runs: int) -> Cell:
    """Means of all groups of a table, the same number of rows in each."""
    seen: dict[str, list[Seen]] = {method: [] for method in METHODS}
    truths: list[float] = []
    keys = np.repeat(np.arange(GROUPS), IN_A_GROUP)
    for k in range(runs):
        x = kind.sample(len(keys), k)
        truths += x.reshape(GROUPS, IN_A_GROUP).mean(axis=1).tolist()
        for method in METHODS:
            seen[method] += _group_means(kind, keys, x, method, k)
    default, bounded = (Outcomes.of(seen[method], truths) for method in METHODS)
    return Cell(kind, f"mean of each of {GROUPS} groups", IN_A_GROUP, default, bounded)


def _group_means(
    kind: Kind,
    keys: np.ndarray,
    x: Floats,
    method: Literal["adaptive", "bounded"],
    k: int,
) -> Iterator[Seen]:
    entropy = SeededEntropy(f"groups {kind.name} {method} {k}")
    curator = Curator(pl.DataFrame({"g": keys, "x": x}), budget=pure(1), entropy=entropy)
    question = query.mean("x", within=kind.within, epsilon=Fraction(1), method=method)
    found = curator.group_by("g", keys=range(GROUPS)).run(question)
    for key in range(GROUPS):
        yield Seen.of(found[key])


def _targets(kind: Kind, cells: list[Cell]) -> Iterator[Target]:
    """The surest excess of a kind over each limit, over all sizes and statistics."""
    here = [cell for cell in cells if cell.kind is kind]
    for limit, words, chosen in (
        (1.6, f"below {FEW} rows", [cell for cell in here if cell.n < FEW]),
        (1.3, f"from {FEW} rows on", [cell for cell in here if cell.n >= FEW]),
    ):
        if not chosen:
            continue
        ratios = [(cell, *cell.default.ratio(cell.bounded)) for cell in chosen]
        cell, ratio, margin = max(ratios, key=lambda each: each[1] - each[2])
        above = sum(each > limit for _, each, _ in ratios)
        note = f"{cell.asked}, n = {cell.n:,}; {above} of {len(ratios)} above"
        name = f"error over bounded, {kind.name}, {words}"
        yield Target(name, limit, ratio, note=note, margin=margin)
