"""Outcomes that lead a mean and a sum into every branch, whatever the data; labels told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from modicum import audit
from modicum.audit.trail import Remembered
from modicum.exact.octaves import OCTAVES
from modicum.mechanisms.windows import DataWindow, WindowGrid
from modicum.privacy.event import Event, event_of
from modicum.runtime.query import Query
from modicum.runtime.replay import replay
from modicum.runtime.steps import Draw, Reads, Steps, changed
from modicum.statistics.ranges.window import hides
from modicum.summaries.base import Columns

KINDS = "zeros and other values"
RINGS = (100, 30, 300, 900, 60, 2)
"""Noisy numbers of records near the bounds."""
COARSE = (0, 20_000, 0)
"""About all values are hidden by the step of a range."""

# Nobody, few, some and many records; with many zeros, and with none.
NUMBERS = ((0, 0), (0, 1), (5, 90), (0, 700), (3000, 2500), (0, 30_000), (20_000, 10), (0, 10**9))

# They lie about 1e-8: numbers of them, their octave and the end of them; then nobody, few, some and
# many in a range of 53 octaves about them, of which some are windows about 0.
FINER: Mapping[str, Sequence[Any]] = {
    KINDS: (COARSE,),
    f"{KINDS}, 2": ((0, 10), (0, 100), (0, 700), (0, 9000)),
    "values other than 0": ((15_000,),),
    "octave": (int(OCTAVES.read(np.array([1e-8]))[0]) - 1,),
    "top": (2,),
    "values beyond the range": ((0,),),
    "window": (3 * 53 + 40, 3 * 53 + 50),
}


def kinds_of(query: Query[Any], numbers: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Noisy numbers of zeros and of other values, as the range of a query has them drawn."""
    of_pairs = isinstance(query.place, Columns)
    if of_pairs or not (query.ranged and query.lattice and hides(query.lattice)):
        return list(numbers)
    return [(zeros, 0, others) for zeros, others in numbers]


def counts_of(
    query: Query[Any], numbers: Sequence[tuple[int, int]] = NUMBERS, *, hidden: bool = False
) -> Mapping[str, Sequence[Any]]:
    """Noisy numbers of records for :func:`modicum.audit.check`, which follows one draw of them."""
    return {
        "count": audit.COUNTS,
        KINDS: [*kinds_of(query, numbers), *[COARSE] * hidden],
        f"{KINDS}, 2": numbers,
    }


def told_apart(query: Query[Any]) -> Query[Any]:
    """The query, with a number for every draw whose label was met before.

    What begins again in a finer range draws other numbers of records by the same name.
    """

    def begin(event: Event) -> Steps[Any]:
        met = Counter[str]()

        def numbered(step: Reads | Draw) -> Reads | Draw:
            if isinstance(step, Reads):
                return step
            met[step.label] += 1
            again = met[step.label] > 1
            return step._replace(label=f"{step.label}, {met[step.label]}") if again else step

        return changed(numbered, query.begin(event))

    return replace(query, begin=begin)


def windows_of(query: Query[Any], *windows: tuple[int, int]) -> list[int]:
    """Numbers of windows of these octaves and places, at most 3, among those that are drawn."""
    lattice = query.lattice
    within = query.ranged and lattice
    grid = WindowGrid.of_range(within, 0) if within else WindowGrid.of_floats(0)
    return [grid.number(DataWindow(*each)) for each in windows]


def around_some(number: int, size: float) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Neighbours of so many records: all alike, at two places, or evenly spread.

    Of fewer no window has more than the least score.
    """
    half = number // 2
    tables = [
        (size,) * number,
        (-6 * size,) * half + (size,) * half,
        tuple(np.linspace(-2 * size, 7 * size, number).tolist()),
    ]
    return [(each, (*each, x * size)) for each in tables for x in (0.0, 1.0, -6.0)]


def below_a_step(query: Query[Any], values: Mapping[str, Sequence[Any]]) -> audit.AuditReport:
    """Audit a query whose step hides values, and where they are found in a finer range."""
    pairs = audit.neighbours((0.0, 1e-8, 5.0), 2)
    report = audit.check(told_apart(query), pairs, values={**values, **FINER}, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    return report


def same_steps(query: Query[Any], walk: Sequence[Any], *, answered: bool) -> None:
    """Wholly different tables take the same steps, and get an answer if the walk ends with one."""
    rng = np.random.default_rng(6)
    tables = [
        np.zeros(400),
        100 + rng.normal(size=60_000),
        rng.lognormal(-9, 4, 5000),
        np.full(3000, 1024.0),
        np.empty(0),
    ]
    assert audit.leaks(query, tables, walk) is None, walk
    if answered:
        run = replay(query, event_of(query.budget), Remembered(tables[0]), walk)
        assert run.answer is not None, walk


def sizes_of(octaves: int) -> list[tuple[int, ...]]:
    """Noisy numbers of records by their sizes: of nobody, with a thin tail, with a heavy one."""
    numbers = (0,), (2500, 900, 300), (5000, 2000, 1000, 500, 250, 120, 60)
    return [each + (0,) * (octaves - len(each)) for each in numbers]
