"""Counts or sums of all combinations of labels, with margins that add up.

[crosstab.1]  cells    what each cell holds, exactly: a record is in one of them, or in none;
[crosstab.2]  draws    noise for the cells, and for the margins that are worth it;
[crosstab.5]  adjusted least squares makes of all of it one table that adds up.

A sum is read between bounds that are found for all cells together, by the steps of the statistic
itself. Its last draw is made for the table in place of one number. The proofs are in
docs/research/proofs/crosstab.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from modicum import query as ask
from modicum.api import group_answers, group_by
from modicum.api.tables import description, table_errors
from modicum.api.tables.margins import (
    PARTS,
    Layout,
    LeastSquares,
    Names,
    NoisySums,
    shares,
    whole_corrections,
)
from modicum.api.tables.table_release import Crosstab, TableEstimate
from modicum.errors import InvalidArgument, UnsupportedData, as_given
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, add_noise_to_sums
from modicum.privacy import accountant, split
from modicum.privacy.budget import Budget, approx
from modicum.privacy.event import Event, check_size
from modicum.privacy.ledger.chain import AMOUNT_UNITS, DELTA_UNITS
from modicum.privacy.unit import Unit
from modicum.releases import release, status
from modicum.runtime.charging import in_stated_range
from modicum.runtime.guard import Guard
from modicum.runtime.query import Query
from modicum.runtime.run import Before, row_costs, run
from modicum.runtime.steps import Reads, Steps, draw
from modicum.sources import base, groups, persons
from modicum.sources.conditions.view import View
from modicum.sources.keys import labels_of
from modicum.sources.reader import RemoteSource, read_as
from modicum.statistics.people.persons import find_groups
from modicum.statistics.ranges.clipped_sum import LAST_DRAW
from modicum.summaries.base import Accumulator, Read, Reduction, Rows, Sensitive
from modicum.summaries.sums import Count

MOST_CELLS = 1_000_000

Keys = Iterable[Hashable] | Mapping[str, Iterable[Hashable]]
Margins = bool | Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class OfCells(Reduction[tuple[Any, ...]]):
    """The summary of each cell, and not of all of them together."""

    of: Reduction[Any]
    secret: ClassVar[bool] = False

    def begin(self, _lattice: Lattice | None, _rows: Rows | None = None) -> Accumulator[Any]:
        """Refuse: its parts are read by :class:`CellReader`."""
        raise AssertionError("a reader of cells reads its parts")


class CellReader(Sensitive):
    """Reads the records of all cells together, or of each of them for :class:`OfCells`.

    [crosstab.1] The cells are groups of a reader of groups, so what is bounded there for a person
    is bounded here: at most so many rows, or one record in each of so many cells. Together they are
    the disjoint union of the groups.
    """

    __slots__ = ("_cells", "_reader")

    def __init__(self, reader: groups.GroupReader, cells: int) -> None:
        self._reader, self._cells = reader, cells

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Compute reductions, in the order of the reads."""
        return persons.together(
            [isinstance(each.reduction, OfCells) for each in reads],
            reads,
            lambda apart, some: (self._apart if apart else self._reader.read_together)(
                some, entropy
            ),
        )

    def _apart(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        asked = [
            (cell, replace(each, reduction=each.reduction.of))  # type: ignore[attr-defined]
            for each in reads
            for cell in range(self._cells)
        ]
        answers = iter(self._reader.read(asked, entropy))
        return [tuple(next(answers) for _ in range(self._cells)) for _ in reads]


@dataclass(frozen=True, slots=True)
class CellDraws:
    """What is drawn of a table; its repr says all of it that the query's text does not.

    A person has at most ``records`` records, in different cells.
    """

    layout: Layout
    records: int = 1
    selection: tuple[release.TranscriptEntry, ...] = ()
    ranked: bool = False

    def __repr__(self) -> str:
        return f"margins={self.layout.margins!r}"

    def counted(self, event: Event) -> Steps[TableEstimate]:
        """Count the records of each cell; all that there is to draw is noise."""
        (summaries,) = yield Reads((Read(None, None, OfCells(Count())),))
        cells = [each.count for each in summaries]
        measured = yield from self._measured(cells, event, 1)
        return self._estimate(measured, None)

    def summed(self, query: Query[Any], event: Event) -> Steps[TableEstimate]:
        """Sum the values of each cell, or persons' rows, clipped to the same bounds.

        The steps of the sum of all cells find the bounds. The records of a person in them are
        ``records``, of which each draw costs its share; the last one is the table's [crosstab.2].
        """
        steps: Steps[Any] = query.begin(event.per_record(self.records))
        received: Any = None
        measured: tuple[NoisySums, ...] = ()
        asked: Any = None
        while True:
            try:
                step = steps.send(received)
            except StopIteration as stop:
                return self._estimate(measured, stop.value)
            if isinstance(step, Reads):
                asked = step.reads[0]
                received = yield step
            elif step.label == LAST_DRAW:  # it is of what was read last
                clipped = replace(asked, reduction=OfCells(asked.reduction))
                (summaries,) = yield Reads((clipped,))
                size = max(abs(asked.reduction.lo), abs(asked.reduction.hi), 1)
                rest = step.event.for_records(self.records)
                cells = [each.total for each in summaries]
                measured = yield from self._measured(cells, rest, size)
                received = (sum(measured[0].values),)
            else:
                received = yield step._replace(records=step.records * self.records)

    def _measured(
        self, cells: Sequence[int], event: Event, size: int
    ) -> Steps[tuple[NoisySums, ...]]:
        """[crosstab.2] Draw noisy cells, and noisy sums of the margins that are worth a share."""
        layout = self.layout
        every = (layout.by, *layout.margins)
        if not cells:  # no label was drawn
            return (NoisySums(),) * len(every)
        widest = _widest(layout)
        measured: list[NoisySums] = []
        for margin, part in enumerate(_shares(layout, event, size, self.records)):
            places = layout.places(every[margin]).tolist()
            values = [0] * len(layout.sums(every[margin]))
            for place, value in zip(places, cells, strict=True):
                values[place] += value
            if not part:
                measured.append(NoisySums())
                continue
            mechanism = _mechanism(event, part, size, self.records, widest[margin], values)
            drawn = yield from draw(", ".join(every[margin]) or "total", mechanism)
            measured.append(NoisySums(drawn, mechanism.noise[0]))
        return tuple(measured)

    def _estimate(
        self, measured: tuple[NoisySums, ...], summed: release.ScalarEstimate | None
    ) -> TableEstimate:
        """[crosstab.5] Adjust the cells, so that all margins are sums of them."""
        cells, *margins = measured
        corrections: tuple[float, ...] = (0.0,) * len(cells.values)
        whole: tuple[int, ...] = (0,) * len(cells.values)
        if cells.noise is not None and any(each.noise for each in margins):
            solved = LeastSquares(self.layout, cells.noise, [each.noise for each in margins])
            found = solved.corrections(cells.values, margins)
            corrections, whole = tuple(found.tolist()), whole_corrections(self.layout, found)
        inner: Any = None if summed is None else summed.error_model
        model = table_errors.TableErrorModel(self.layout, measured, corrections, whole, inner)
        return TableEstimate(
            model,
            status.OK if summed is None else summed.status,
            lattice=None if summed is None else summed.lattice,
            selection=self.selection,
            ranked=self.ranked,
        )


@functools.lru_cache(maxsize=64)
def _shares(layout: Layout, event: Event, size: int, records: int) -> tuple[int, ...]:
    """[crosstab.4] Share a cost between the cells and the margins."""
    widest = _widest(layout)

    def variance(margin: int, part: int) -> float:
        return _mechanism(event, part, size, records, widest[margin]).noise[0].variance

    return shares(layout, variance)


def _widest(layout: Layout) -> list[int]:
    """Return the most cells of one sum, of the cells and of each margin."""
    return [1, *map(layout.widest, layout.margins)]


def _mechanism(
    event: Event, part: int, size: int, records: int, widest: int, values: Sequence[int] = (0,)
) -> Additive:
    """Return noisy cells, or sums of a margin, for a part of a cost."""
    share = split.Share(event.part(Fraction(part, PARTS)))
    return add_noise_to_sums(values, share, size=size, records=records, widest=widest)


def planned_counts(
    by: Names, keys: Sequence[Any], margins: Margins, query: Query[Any], unit: Unit
) -> table_errors.TableErrorModel:
    """Return the noise of a table of counts before it is drawn: all of it is public.

    ``query`` is for the count of all cells, and ``unit`` has at most so many groups as there are
    cells.
    """
    layout = _layout(by, keys, checked_margins(by, margins))
    (event,) = row_costs({"answer": query}, replace(unit, groups=1)).values()
    parts = _shares(layout, event, 1, unit.groups)
    measured = []
    for names, part, widest in zip((by, *layout.margins), parts, _widest(layout), strict=True):
        noise = _mechanism(event, part, 1, unit.groups, widest).noise[0] if part else None
        measured.append(NoisySums((0,) * len(layout.sums(names)), noise))
    nothing_added = (0,) * len(layout.keys)
    return table_errors.TableErrorModel(layout, tuple(measured), nothing_added, nothing_added, None)


def crosstab(
    guard: Guard,
    columns: Sequence[str],
    keys: Keys | None,
    key_budget: Budget | None,
    values: Query[Any] | None,
    margins: Margins,
    max_groups: int | None,
    cost: Budget,
    *,
    ranked: bool = False,
) -> Crosstab:
    """Answer :meth:`Curator.crosstab`; ``values`` is the query for a sum, if it is one.

    ``ranked``: :meth:`Curator.value_counts`.
    """
    by = checked_columns(columns)
    kept = checked_margins(by, margins)
    groups.check_groups(guard.source, guard.unit, by, max_groups)
    types = [guard.source.label_type(name) for name in by]
    if (keys is None) == (key_budget is None):
        raise InvalidArgument(
            "give either keys=[...], known beforehand, or key_budget=modicum.approx(...), for "
            "which the labels of each column are drawn"
        )
    asked = ask.count(budget=cost) if values is None else values
    query = in_stated_range(asked, guard.source, guard.unit).for_unit(guard.unit)
    row_costs({"answer": query}, guard.unit)  # refuses a small cost before labels are drawn
    joined = guard.viewing(View(None, (), by)) if len(by) > 1 else guard
    selection: tuple[release.TranscriptEntry, ...] = ()
    if keys is not None:
        chosen = group_by.checked_keys(keys, by, types)
        layout = _layout(by, chosen, kept)
    else:
        both = accountant.total([group_by.key_event(key_budget), query.event], guard.kind)
        if guard.key is None:
            guard.accountant.pending(both, "", None)  # it has to hold both
        chosen, selection = _drawn(guard, by, key_budget, max_groups)
        layout = _layout(by, chosen, kept)
    return _answered(joined, layout, types, selection, query, max_groups, ranked=ranked)


def checked_columns(columns: Sequence[str]) -> Names:
    """Read the names of the columns of labels."""
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InvalidArgument("a crosstab needs names of columns of labels, one or more")
    return tuple(columns)


def checked_margins(by: Names, margins: Margins) -> tuple[Names, ...]:
    """Read which margins are shown: of each column and the total, none, or those that are listed.

    Examples
    --------
    >>> checked_margins(("a", "b"), True), checked_margins(("a", "b"), [("b",)])
    ((('a',), ('b',), ()), (('b',),))
    """
    if isinstance(margins, bool):
        single = tuple((name,) for name in by) if len(by) > 1 else ()
        return (*single, ()) if margins else ()
    if isinstance(margins, str) or not isinstance(margins, Iterable):
        raise InvalidArgument(
            f"margins must be True, False, or a list such as [('region',), ()], got "
            f"{as_given(margins)}"
        )
    found: list[Names] = []
    for margin in margins:
        if isinstance(margin, str) or not isinstance(margin, Iterable):
            raise InvalidArgument(
                "each of the margins is a tuple of columns, such as ('region',), got "
                f"{as_given(margins)}"
            )
        names = tuple(margin)
        if not {*names} <= {*by} or len({*names}) < len(names) or len(names) == len(by):
            raise InvalidArgument(
                f"a margin keeps some of the columns {list(by)}, each once and not all of them, "
                f"got {as_given(margins)}"
            )
        found.append(tuple(name for name in by if name in names))
    if len({*found}) < len(found):
        raise InvalidArgument(f"margins must be different, got {as_given(margins)}")
    return tuple(found)


def check_cells(cells: int) -> None:
    """Refuse more cells than are released."""
    if cells > MOST_CELLS:
        raise InvalidArgument(
            f"the labels make {cells:,} cells, more than {MOST_CELLS:,}: name fewer columns, or "
            "list the combinations that there can be, as tuples"
        )


def _layout(by: Names, keys: Sequence[Any], margins: tuple[Names, ...]) -> Layout:
    """Return the layout of public keys, and refuse one that is too large."""
    check_cells(len(keys))
    return Layout(by, tuple((key,) if len(by) == 1 else key for key in keys), margins)


def only_counted(source: base.Source, unit: Unit, query: Query[Any]) -> bool:
    """Say whether records are counted; other tables are refused where rows stay elsewhere."""
    counted = query.statistic == "count" and not unit.whole
    if not counted and isinstance(source, RemoteSource):
        raise UnsupportedData(
            f"the rows of {source.engine} stay where they are, and there only rows are "
            "counted: collect the columns first (.toPandas() in Spark, .compute() in Dask)"
        )
    return counted


def _drawn(
    guard: Guard, by: Names, key_budget: Budget | None, max_groups: int | None
) -> tuple[tuple[Any, ...], tuple[release.TranscriptEntry, ...]]:
    """Draw the labels of each column, for an equal part of the budget, and combine them."""
    assert key_budget is not None
    share = Fraction(1, len(by))
    part = approx(
        description.rounded_down(share * key_budget.amount, AMOUNT_UNITS),
        description.rounded_down(share * key_budget.delta, DELTA_UNITS),
    )
    apart = [group_answers.group_by(guard, [name], None, part, max_groups) for name in by]
    found = [each.keys for each in apart]
    check_cells(math.prod(map(len, found)))  # the labels are released by now
    keys = tuple(key[0] if len(by) == 1 else key for key in product(*found))
    return keys, tuple(each.selection for each in apart if each.selection is not None)


def _answered(
    guard: Guard,
    layout: Layout,
    types: Sequence[str],
    selection: tuple[release.TranscriptEntry, ...],
    query: Query[Any],
    max_groups: int | None,
    *,
    ranked: bool,
) -> Crosstab:
    """Charge once, and draw the table."""
    by = ", ".join(layout.by)
    counted = only_counted(guard.source, guard.unit, query)
    keys = [key[0] if len(layout.by) == 1 else key for key in layout.keys]
    labels = labels_of(types, keys)
    unit, find = guard.unit, guard.unit.whole and max_groups is None and len(keys) > 1
    if unit.combine is not None:
        unit = unit.in_groups(max(1, min(max_groups or 1, len(keys))))
    told: dict[str, object] = {"finds": "groups"} if find else {}
    told |= {"ranked": True} if ranked else {}
    told |= {"by": by, "keys": [repr(key) for key in keys], "margins": layout.margins}

    def steps_for(records: int) -> Callable[[Event], Steps[TableEstimate]]:
        asked = CellDraws(layout, records, selection, ranked)
        if counted or not keys:
            return asked.counted
        return functools.partial(asked.summed, query)

    with guard.turn():
        pending = guard.charging({"answer": query}, unit, **told)
        done: Crosstab | None = pending.done
        if done is not None:
            return done
        charge, before, left = pending.charge, None, Fraction(1)
        if find:  # [people.13]
            before = _groups_found(guard, query, unit, by, labels, steps_for, charge)
            unit, charge, left = unit.in_groups(before.found), group_answers.nothing, before.left
        of_table: Query[Crosstab] = Query(
            query.statistic,
            "least squares",
            query.place,
            query.lattice if keys or query.ranged else None,  # without cells none is found
            query.budget.part(left),
            steps_for(unit.groups),
            Crosstab,
            ranged=query.ranged,
            stated=query.stated,
        )
        columns = [read_as(guard.source, query.column, query.lattice)]
        reader = CellReader(
            groups.reader_of_groups(guard.source, unit, by, labels, columns), len(keys)
        )
        # A person's records in several cells are the table's own concern [crosstab.2].
        alone = replace(unit, groups=1)
        runs = run({"answer": of_table}, reader, unit=alone, charge=charge, entropy=guard.entropy)
        live = runs["answer"]
        if before is not None:
            live.transcript[:0] = before.transcript
        of_table = replace(of_table, budget=query.budget)
        found = before and before.found
        return pending.commit(guard.released(of_table, live, unit, pending, found, len(keys)))


def _groups_found(
    guard: Guard,
    query: Query[Any],
    unit: Unit,
    by: str,
    labels: Sequence[Hashable],
    steps_for: Callable[[int], Callable[[Event], Steps[TableEstimate]]],
    charge: Callable[[], None],
) -> Before:
    """Charge, and find in how many cells a person may count, with a part of the cost."""

    def fits(number: int, least: Fraction) -> None:
        event = query.allowance.part(least)
        check_size(event.per_record(number))
        steps = steps_for(number)(event)
        next(steps)
        steps.close()

    steps = find_groups(query.allowance, len(labels), fits)
    return group_answers.found_groups(guard, steps, query.allowance, unit, by, labels, charge)
