"""The kinds of data that plans make up: how a guess is read, and how plans of it are searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from modicum.plan.column import Shape, shape_of
from modicum.plan.columns import TableShape, columns_of, columns_trials, regression_of
from modicum.plan.solve import Effort, Simulated
from modicum.plan.trial import column_trials
from modicum.privacy.unit import Unit


@dataclass(frozen=True, slots=True)
class Guess:
    """A kind of data.

    ``read(lattice, **guess)`` checks a guess and returns the assumed data; the plans' arguments and
    their documentation are those of this function. ``trials(data, error, unit)`` returns what makes
    releases from these data, and ``effort(data)`` says how plans are searched. ``note`` is for the
    documentation of the plans.
    """

    read: Callable[..., Shape | TableShape | None]
    trials: Callable[[Any, Callable[[Any], float], Unit], Simulated]
    effort: Callable[[Any], Effort]
    note: str = ""


_COLUMN_EFFORT = Effort(
    columns=1,
    runs=64,
    search_runs=8,
    least_epsilon=1e-5,
    most_rows=10**12,
    limit="10^12",
    hint="",
    first_rows=1e4,
    further=lambda error, wanted: 1.02 * error / wanted,
    weighted=True,
)


def _of_columns(read: Callable[..., TableShape], power: int) -> Guess:
    """Several columns, with at most 2^power numbers in a table."""

    def effort(columns: TableShape) -> Effort:
        most = (1 << power) // len(columns.sd)
        return Effort(
            columns=len(columns.sd),
            runs=8,
            search_runs=4,
            least_epsilon=1e-3,
            most_rows=most,
            limit=f"{most:,}",
            hint=": plans of so many columns end there; beyond, the error falls like 1/n",
            first_rows=1e3,
            further=lambda _error, _wanted: 1.1,
            weighted=False,
        )

    note = f"At most 2^{power} numbers are made up; with more rows the error falls like 1/n."
    return Guess(read, columns_trials, effort, note)


GUESSES: Mapping[str, Guess] = MappingProxyType(
    {
        "nothing": Guess(
            lambda _lattice: None,  # a count does not look at values
            lambda _, error, unit: column_trials(Shape("uniform", 0.0, 1.0), error, unit),
            lambda _: _COLUMN_EFFORT,
        ),
        "column": Guess(shape_of, column_trials, lambda _: _COLUMN_EFFORT),
        "vectors": _of_columns(columns_of, 24),  # 128 MB
        "moments": _of_columns(columns_of, 21),  # each is multiplied with all others of its row
        "regression": _of_columns(regression_of, 21),
    }
)
