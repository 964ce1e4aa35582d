"""Synthetic releases of a column of persons who have several rows each, all of which count.

The rows themselves are made, as persons clip and keep them: how many a person has falls off
geometrically, and their values do not depend on whose they are. Where people differ, their rows
together are further from the others' than this, and the error is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.plan import shapes, solve
from modicum.plan.trial import CountingReader, Released, Trial, apart, trial
from modicum.privacy.unit import Unit
from modicum.releases.release import Estimate
from modicum.runtime.query import Query
from modicum.sources import base
from modicum.sources.engines import arrays
from modicum.summaries.synthetic import SyntheticTable, uniform

COLUMN = "value"
_MOST = 1 << 20  # rows
EFFORT = solve.Effort(
    runs=64,
    search_runs=8,
    least_epsilon=1e-3,
    most_rows=_MOST,
    limit=f"{_MOST:,}",
    hint=": plans for persons end there; beyond, the error of a mean falls like 1/n",
    first_rows=1e4,
    further=lambda _error, _wanted: 1.1,
    weighted=False,
)


def checked_rows_each(rows_each: object, unit: Unit) -> float:
    """Check how many rows a person has, which a unit of all rows needs, and no other."""
    if not unit.whole:
        if rows_each is not None:
            raise InvalidArgument("rows_each is for a unit of all rows of persons")
        return 1.0
    if not shapes.is_number(rows_each) or rows_each < 1:
        raise InvalidArgument(
            f"a plan for {unit} needs rows_each, how many rows a person has on average, at least "
            f"1, got {as_given(rows_each)}"
        )
    return float(rows_each)


@dataclass(frozen=True, slots=True)
class PersonTrials:
    """Answers queries from tables of persons; ``truth`` is the answer without privacy."""

    shape: shapes.Shape
    truth: Callable[[Released], Any]
    unit: Unit
    rows_each: float

    def __call__(self, asked: Query[Any], rows: int, runs: int) -> Iterator[Trial]:
        """Release it from so many tables."""
        return (self._one(asked, rows, number) for number in range(runs))

    def _one(self, asked: Query[Any], rows: int, number: int) -> Trial:
        entropy = SeededEntropy(f"persons {number}")
        x = self.shape.below(uniform(rows, entropy))
        person = self.unit.column
        assert person is not None
        columns = {COLUMN: x, person: _persons(rows, self.rows_each, entropy)}
        opened = {name: arrays.array_column(each) for name, each in columns.items()}
        source = base.MemorySource("plan", rows, opened.__getitem__, list(columns))

        def error_of(answer: Estimate[Any]) -> float:
            lattice = answer.lattice or asked.lattice or Lattice.within((-2, 2))
            q, weights = np.unique(lattice.quantise(x), return_counts=True)
            run = Released(asked, SyntheticTable(q, weights), (), {}, answer)
            true, found = self.truth(run), getattr(answer, "values", None)
            if found is None:
                return apart(answer.value, true)  # type: ignore[attr-defined]
            errors = [apart(*pair) for pair in zip(found, true, strict=True)]
            return math.fsum(errors) / len(errors)

        reader = CountingReader(source, self.unit, [COLUMN])
        return trial(asked, reader, error_of, unit=self.unit, seed=f"plan {number}")


def _persons(rows: int, each: float, entropy: SeededEntropy) -> NDArray[np.int64]:
    """Whose the rows are: 1, 2, ... rows of each, geometric with this mean."""
    if each == 1:
        return np.arange(rows)
    sizes = 1 + np.floor(np.log(uniform(rows, entropy)) / math.log1p(-1 / each)).astype(np.int64)
    return np.repeat(np.arange(rows), sizes)[:rows]
