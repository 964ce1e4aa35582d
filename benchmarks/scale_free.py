"""Statistics without a range beside those with one, on data of every scale."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.datasets import NINE, DataSet
from benchmarks.outcomes import Ask, Outcomes, Seen, far_target, released
from benchmarks.targets import Target, table
from modicum import query

SCALES = (1e-12, 1e-6, 1.0, 1e6, 1e12)
WIDE = 1e9  # the range that is given, for data about 1
BESIDE = 5  # times as many releases at scale 1, where both ranges are compared
LIMIT = 1.05
ASKED = ("mean", "median")


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of a cell, and numbers of records; ``only`` these data sets, all if empty."""

    releases: int
    sizes: tuple[int, ...]
    only: tuple[str, ...] = ()


FULL = Effort(200, (1000, 10_000, 100_000))
QUICK = Effort(10, (10_000,))


@dataclass(frozen=True, slots=True)
class Cell:
    """One statistic of one data set: without a range at all scales, and with ±1e9 at two."""

    data: DataSet
    asked: str
    n: int
    found: dict[float, Outcomes]
    given: dict[float, Outcomes]

    def row(self) -> list[str]:
        """Cells of the table: errors in units of the scale."""
        here, other = self.found[1.0], self.given[1.0]
        ratio, below = here.ratio(other)
        shown = [f"{np.median(self.found[scale].errors) / scale:.2g}" for scale in SCALES]
        tiny = f"{np.median(self.given[SCALES[0]].errors) / SCALES[0]:.2g}"
        names = [self.data.name, f"{self.n:,}", *shown]
        return [*names, f"{ratio:.2f} (from {ratio - below:.2f})", tiny, *here.cells()[:3]]


def scale_free(effort: Effort, ask: Ask = released) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets; ``ask`` answers."""
    data = [each for each in NINE if not effort.only or each.name in effort.only]
    cells = [
        _cell(each, asked, n, effort.releases, ask)
        for asked in ASKED
        for each in data
        for n in effort.sizes
    ]
    header = ["data", "n", *(f"x {scale:g}" for scale in SCALES), "over ±1e9, x 1"]
    header += ["±1e9, x 1e-12", "covered", '"ok"', "usable"]
    tables = "\n\n".join(
        f"### {asked}\n\n{table(header, [cell.row() for cell in cells if cell.asked == asked])}"
        for asked in ASKED
    )
    text = f"""## No range, at scales from 1e-12 to 1e12

A range that is found beside ±1e9, ε = 1, {effort.releases} releases a cell, {BESIDE} times
as many at scale 1, each of fresh data: median errors over the scale that the data are multiplied
by; the ratio to the error within ±1e9 at scale 1, with the lower end of its 95 % interval
(bootstrap); the error within ±1e9 at scale 1e-12; and how often the interval without a range
covers, says "ok", and can be used, at scale 1."""
    return f"{text}\n\n{tables}", [*_targets(cells)]


def _cell(data: DataSet, asked: str, n: int, releases: int, ask: Ask) -> Cell:
    plain = getattr(query, asked)(epsilon=1)
    within = getattr(query, asked)(within=(-WIDE, WIDE), epsilon=1)
    asks = [(plain, scale) for scale in SCALES] + [(within, SCALES[0]), (within, 1.0)]
    asks += [(plain, 1.0), (within, 1.0)] * (BESIDE - 1)
    seen: dict[tuple[bool, float], list[Seen]] = {}
    truths: dict[tuple[bool, float], list[float]] = {}
    for k in range(releases):
        x = data.sample(n, k)
        for place, (question, scale) in enumerate(asks):
            scaled, key = x * scale, (question is plain, scale)
            truths.setdefault(key, []).append(float(getattr(np, asked)(scaled)))
            answer = ask(question, scaled, f"{data.name} {asked} {n} {place} {k}")
            seen.setdefault(key, []).append(answer)
    found, given = (
        {
            scale: Outcomes.of(seen[without, scale], truths[without, scale])
            for without, scale in seen
            if without == chosen
        }
        for chosen in (True, False)
    )
    return Cell(data, asked, n, found, given)


def _to_scale_one(cells: list[Cell], scale: float) -> float:
    """Geometric mean of the errors at a scale over those at scale 1, where these are not 0."""
    pairs = [
        (
            float(np.median(cell.found[scale].errors)) / scale,
            float(np.median(cell.found[1.0].errors)),
        )
        for cell in cells
    ]
    logs = [np.log(max(here, 1e-300) / one) for here, one in pairs if one]
    return float(np.exp(np.mean(logs)))


def _targets(cells: list[Cell]) -> Iterator[Target]:
    """From n ε = 10,000 on: in the geometric mean over the data sets, and across scales."""
    for asked in ASKED:
        chosen = [cell for cell in cells if cell.asked == asked and cell.n >= 10_000]
        pairs = [cell.found[1.0].ratio(cell.given[1.0]) for cell in chosen]
        finite = [(np.log(ratio), below / ratio) for ratio, below in pairs if 0 < ratio < np.inf]
        logs, margins = np.array(finite).T
        ratio = float(np.exp(logs.mean()))
        margin = ratio * float(np.sqrt((margins**2).sum())) / len(finite)
        name = f"no range, {asked}: error over ±1e9, n >= 10,000"
        note = f"geometric mean of {len(finite)} cells"
        yield Target(name, LIMIT, ratio, note=note, margin=margin)
        name = f"no range, {asked}: error over the scale, the worst scale to scale 1"
        note = "geometric mean of the same cells; the releases are others at every scale"
        yield Target(name, 1.1, max(_to_scale_one(chosen, scale) for scale in SCALES), note=note)
    found = [outcomes for cell in cells for outcomes in cell.found.values()]
    yield far_target("no range", found)
