"""How many different labels a column has: one draw.

docs/research/proofs/crosstab.md has the proof, [crosstab.8].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from modicum import errors
from modicum.exact.entropy import Entropy
from modicum.mechanisms.additive import Noise, add_noise
from modicum.privacy.budget import Budget
from modicum.privacy.event import Event, check_size
from modicum.privacy.split import BudgetSplit
from modicum.privacy.unit import Unit
from modicum.releases import status
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.guard import Guard
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.runtime.steps import Steps, draw_count, read
from modicum.sources import base, groups
from modicum.statistics.means.count import CountErrorModel
from modicum.summaries import sums
from modicum.summaries.base import Read, Sensitive


class _Labels(Sensitive):
    """Counts the labels of a column that the records of a unit have."""

    __slots__ = ("_by", "_source", "_unit")

    def __init__(self, source: base.Source, unit: Unit, by: str) -> None:
        self._source, self._unit, self._by = source, unit, by

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Return the number of labels, for each of the reads."""
        found = sums.CountSummary(
            len(groups.count_keys(self._source, self._unit, self._by, entropy))
        )
        return [found for _ in reads]


def _steps(labels: int, event: Event) -> Steps[ScalarEstimate]:
    """Draw the number with noise; a person more or less changes it by at most ``labels``."""
    split = BudgetSplit(event.per_record(labels))
    counted = yield from read(Read(None, None, sums.Count()))
    noisy, noise = yield from draw_count(split, counted.count, split.rest())
    return ScalarEstimate(Fraction(max(noisy, 0)), CountErrorModel(noisy, noise), status.OK)


def noise_of_labels(event: Event, labels: int) -> Noise:
    """Return the noise of the number before it is drawn: it is public."""
    row = event.per_record(labels)
    check_size(row)
    return add_noise((0,), BudgetSplit(row).rest(), sensitivity=1).noise[0]


def bounded_labels(unit: Unit, column: str, max_groups: int | None) -> tuple[Unit, int]:
    """Return the unit of a column, and how many of its labels a person may bring in."""
    if column == unit.column:  # every person is one label, whatever their rows
        if max_groups is not None:
            raise errors.InvalidArgument(
                "max_groups= is not needed: a person is one label of this column"
            )
        return unit, 1
    if unit.whole and max_groups is None:
        raise errors.InvalidArgument(
            f"one person may have all labels of {column!r}: say with how many of them one "
            "person may count, max_groups=1 for example; or give max_rows to unit_of()"
        )
    if max_groups is not None:
        unit = unit.in_groups(max_groups)
    return unit, unit.rows * unit.groups


def checked_labels(
    source: base.Source, unit: Unit, column: str, max_groups: int | None
) -> tuple[Unit, int]:
    """Check by the schema that labels can be counted; :func:`bounded_labels`."""
    source.check_label(column)
    if column != unit.column:
        groups.check_groups(source, unit, [column], max_groups)
    return bounded_labels(unit, column, max_groups)


def n_distinct(guard: Guard, column: str, max_groups: int | None, cost: Budget) -> Release:
    """Answer :meth:`Curator.n_distinct`."""
    if not isinstance(column, str):
        raise errors.InvalidArgument(f"column must be a column name, got {type(column).__name__}")
    unit, labels = checked_labels(guard.source, guard.unit, column, max_groups)
    read_for = Unit() if column == unit.column else unit
    begin: Callable[[Event], Steps[ScalarEstimate]] = partial(_steps, labels)
    query: Query[Release] = Query("n_distinct", "noisy", None, None, cost, begin)
    with guard.turn():
        pending = guard.charging({"answer": query}, unit, labels_of=column)
        done: Release | None = pending.done
        if done is not None:
            return done
        runs = run(
            {"answer": query},
            _Labels(guard.source, read_for, column),
            unit=Unit(),  # [crosstab.8] what a person may change is part of the steps
            charge=pending.charge,
            entropy=guard.entropy,
        )
        # Persons are counted whatever their rows; of another column one may have any label.
        release = guard.released(query, runs["answer"], unit, pending, keys=unit.groups + 1)
        if column == unit.column:
            release = replace(release, left_out="", status=status.OK.words, code=status.OK.code)
        return pending.commit(replace(release, column=column))
