"""The record of a table of counts or sums, with margins that add up."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from modicum.api.tables.margins import Floats, Names
from modicum.api.tables.table_errors import TableErrorModel, scaled, share_of
from modicum.errors import InvalidArgument, MissingKey, as_given, can_be_key, number_of
from modicum.exact.enclosure import float_nearest
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event, with_labels
from modicum.releases.confidence import Tail, assumed_tail, check_confidence
from modicum.releases.publishing import native, text
from modicum.releases.publishing.answers import DRAWS, AnswerRows, sealed
from modicum.releases.publishing.html import card, facts, table, terms_in_words
from modicum.releases.publishing.plain import plain
from modicum.releases.release import Estimate, Record, TranscriptEntry
from modicum.releases.status import Status
from modicum.stored.codec import storable

_WIDE = 96  # letters of a line of the summary
_ROWS = 30  # lines of the summary
TOTAL = "total"


class TableNumber(NamedTuple):
    """An adjusted number, its interval, and the same as it was released before."""

    value: float
    lower: float
    upper: float
    unadjusted: float


_NOTHING = TableNumber(0.0, 0.0, 0.0, 0.0)


class _Sums(NamedTuple):
    """The numbers of a margin, or of the cells, in the unit of the data."""

    labels: tuple[tuple[Any, ...], ...]
    values: list[float]
    lower: Floats
    upper: Floats
    unadjusted: list[float]


@dataclass(frozen=True, slots=True)
class TableEstimate(Estimate["Crosstab"]):
    """What the steps of a table return."""

    error_model: TableErrorModel
    status: Status
    method: str | None = None
    lattice: Lattice | None = None
    limit: int | None = None
    selection: tuple[TranscriptEntry, ...] = ()
    ranked: bool = False

    def width(self, level: float, tail: Tail = "auto") -> float:
        """Mean width of the intervals of the cells."""
        model = self.error_model
        ends = model.intervals(model.layout.by, level, assumed_tail(model, level, tail))
        return float(np.mean(ends[1] - ends[0]) * float(model.step))

    def _release(self, **fields: Any) -> Crosstab:
        made = ValueCounts if self.ranked else Crosstab
        return made(selection=self.selection, **fields)


@storable
@sealed
@dataclass(frozen=True, slots=True, repr=False)
class Crosstab(Record):
    """Counts or sums for all combinations of labels, with margins that add up.

    Every number has an interval, and is kept as it was released before it was adjusted.

    Attributes
    ----------
    selection : tuple of TranscriptEntry
        The draws of the labels, one for each column; empty if they were given. Their cost is not
        part of ``event``.
    error_model : TableErrorModel
        What the numbers and intervals are computed from.
    statistic, column, event, unit, lattice, ranged, method, status, code, transcript, engine,
    account
        And the others: as for :class:`~modicum.releases.release.Record`.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"region": ["N", "S", "S"] * 999, "sex": ["f", "f", "m"] * 999})
    >>> curator = modicum.Curator(table, budget=modicum.pure(1))
    >>> labels = {"region": ["N", "S"], "sex": ["f", "m"]}
    >>> found = curator.crosstab("region", "sex", keys=labels, epsilon=1)
    >>> found["S", "f"] + found["S", "m"] == found.margin("region")["S"].value
    True
    >>> [*found] == [*found.keys], ("S", "f") in found, len(found), sum(found.values()) > 2900
    (True, True, 4, True)
    >>> 2900 < found.total.value < 3100, list(found.frame(wide=True).columns)
    (True, ['region', 'f', 'm', 'total'])
    """

    _internal = frozenset({"selection"})
    error_model: TableErrorModel
    selection: tuple[TranscriptEntry, ...]

    @property
    def total_event(self) -> Event:
        """What all of it cost the privacy unit, the draw of labels included."""
        return with_labels(self.event, (each.event for each in self.selection))

    @property
    def by(self) -> Names:
        """The columns of labels."""
        return self.error_model.layout.by

    @property
    def keys(self) -> tuple[Any, ...]:
        """The labels of the cells: tuples, or plain labels of a single column."""
        return tuple(map(_bare, self.error_model.layout.keys))

    @property
    def margins(self) -> tuple[Names, ...]:
        """The columns that each margin keeps; ``()`` is the total."""
        return self.error_model.layout.margins

    def __getitem__(self, key: Hashable) -> float:
        cells: Any = map(_bare, self.error_model.layout.keys)
        values: dict[Hashable, float] = dict(zip(cells, self._plain(self.by), strict=True))
        if not can_be_key(key) or key not in values:
            of = self.error_model.layout.column_of(key)
            one = f"; the sum over the others is margin({of!r})[{as_given(key)}]" if of else ""
            raise MissingKey(key, values, one)
        return values[key]

    def __iter__(self) -> Iterator[Any]:
        """Go through the labels of the cells, which are :attr:`keys`."""
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.error_model.layout.keys)

    def __contains__(self, key: object) -> bool:
        return can_be_key(key) and key in self.keys

    def items(self) -> Sequence[tuple[Any, float]]:
        """Return each label of the cells with its number, as of a mapping.

        Returns
        -------
        sequence of tuple
            Label and number, in the order of :attr:`keys`; :meth:`numbers` has the intervals too.
        """
        return [(key, each.value) for key, each in self.numbers().items()]

    def values(self) -> Sequence[float]:
        """Return the numbers of the cells, in the order of :attr:`keys`.

        Returns
        -------
        sequence of float
            As of a mapping.
        """
        return [number for _, number in self.items()]

    def numbers(
        self, *columns: str, level: float = 0.95, tail: Tail = "auto"
    ) -> Mapping[Any, TableNumber]:
        """Return the cells by their labels, each a number with its ends; or a margin of columns.

        Parameters
        ----------
        *columns : str
            Which columns a margin keeps; none for the cells, see also :meth:`margin`.
        level, tail
            As for :meth:`Release.interval <modicum.releases.release.Release.interval>`. Each
            interval holds with probability ``level``, and not all at once.

        Returns
        -------
        mapping of label to TableNumber
            ``value``, ``lower``, ``upper`` and ``unadjusted``; a label of several columns is a
            tuple.

        Raises
        ------
        InvalidArgument
            If a column is none of the table, or for a level or tail that cannot be used.
        """
        return self._labelled(columns or self.by, level, tail)

    def margin(
        self, *columns: str, level: float = 0.95, tail: Tail = "auto"
    ) -> Mapping[Any, TableNumber]:
        """Return the sums over all other columns, by their labels, as :meth:`numbers` does.

        Parameters
        ----------
        *columns : str
            Columns that are kept.
        level, tail
            Of the intervals, as for :meth:`Release.interval
            <modicum.releases.release.Release.interval>`.

        Returns
        -------
        mapping of label to TableNumber
            As of :meth:`numbers`.

        Raises
        ------
        InvalidArgument
            If a column is none of the table.

        Examples
        --------
        >>> import modicum, pandas as pd
        >>> table = pd.DataFrame({"region": ["N", "S"] * 500, "sex": ["f", "f", "m", "m"] * 250})
        >>> keys = {"region": ["N", "S"], "sex": ["f", "m"]}
        >>> found = modicum.crosstab(table, "region", "sex", keys=keys, epsilon=1)
        >>> [*found.margin("sex")]
        ['f', 'm']
        """
        return self._labelled(columns, level, tail)

    @property
    def total(self) -> TableNumber:
        """The sum of all cells."""
        return self._labelled((), 0.95, "auto").get((), _NOTHING)

    def _labelled(
        self, columns: Sequence[str], level: float, tail: Tail
    ) -> Mapping[Any, TableNumber]:
        found = self._sums(columns, level, tail)
        rows = zip(found.values, found.lower, found.upper, found.unadjusted, strict=True)
        numbers = (TableNumber(a, float(b), float(c), d) for a, b, c, d in rows)
        return dict(zip(map(_bare, found.labels), numbers, strict=True))

    def _sums(self, columns: Sequence[str], level: float = 0.95, tail: Tail = "auto") -> _Sums:
        check_confidence(level, tail)
        given: Sequence[object] = columns
        if not all(isinstance(name, str) and name in self.by for name in given) or len(
            {*columns}
        ) < len(columns):
            raise InvalidArgument(
                f"the table has the columns {list(self.by)}, got {as_given(columns)}"
            )
        model = self.error_model
        names = tuple(name for name in self.by if name in columns)
        lower, upper = model.intervals(names, level, assumed_tail(model, level, tail))
        step = float(model.step)
        return _Sums(
            model.layout.sums(names),
            [self._value(each) for each in model.adjusted(names)],
            scaled(lower, step),
            scaled(upper, step),
            [self._value(each) for each in model.released(names)],
        )

    def _value(self, steps: int) -> float:
        if self.error_model.lattice is None:
            return steps
        return float_nearest(steps * self.error_model.step)

    def frame(self, *, wide: bool = False) -> Any:
        """Return a table with a row for each cell and each sum of the margins.

        Its columns are the labels, missing where a margin adds up over a column, value, lower,
        upper (the 95 % interval) and unadjusted. It is a table of the library that the data came
        in, as :meth:`Release.frame` of several numbers.

        Parameters
        ----------
        wide : bool
            Of two columns: a row for each label of the first and a column for each of the second,
            with margins that were asked for under the name "total".

        Raises
        ------
        InvalidArgument
            For a wide table that is not of two columns.
        """
        if wide:
            head, rows = self._wide()
        else:
            head = [*self.by, "value", "lower", "upper", "unadjusted"]
            rows = [[*row] for margin in (self.by, *self.margins) for row in self._rows(margin)]
        columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
        return native.native_table(columns, self.engine)

    def answers(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> AnswerRows:
        if population:
            raise InvalidArgument(f"a {self.statistic} table has no intervals for a population")
        rows: list[tuple[Any, ...]] = []
        for margin in (self.by, *self.margins):
            found = self._sums(margin, level, tail)
            for label, *number in zip(
                found.labels, found.values, found.lower, found.upper, strict=True
            ):
                parts = dict(zip(margin, label, strict=True))
                rows.append((*(parts.get(name, TOTAL) for name in self.by), *number))
        columns = [*zip(*rows, strict=True)] or [()] * (len(self.by) + 3)
        *labels, values, lower, upper = columns
        drawn = {"keys_cost": " and ".join(str(each.event) for each in self.selection)}
        return AnswerRows(
            f"{self._title} by {', '.join(self.by)}",
            dict(zip(self.by, labels, strict=True)),
            values,
            lower,
            upper,
            [self.code] * len(rows),
            {
                **self.terms(level, tail),
                "by": list(self.by),
                "keys": "drawn" if self.selection else "given",
                **(drawn if self.selection else {}),
            },
            functools.partial(native.native_table, engine=self.engine),
        )

    @DRAWS
    def plot(
        self, ax: Any = None, *, level: float = 0.95, tail: Tail = "auto", most: int = 40
    ) -> Any:
        """Draw the cells: of two columns as a heat map, else as points, the largest on top.

        Each number of a heat map has half of its interval under it; of more than 150 cells the bar
        of colours says how wide the intervals are at most.

        Parameters
        ----------
        ax, level, tail
            As for :meth:`Release.plot <modicum.releases.release.Release.plot>`.
        most : int
            How many labels, or points, are shown at most. The title says so.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InvalidArgument
            Without matplotlib, or for an argument that cannot be used.
        """
        from modicum.releases.publishing import plots

        points = plots.drawn(self.answers(level, tail))
        cells = points.of(range(len(self.keys)))  # margins come after them
        if len(self.by) == 2 and self.keys:
            return plots.heat_map(cells, ax, *self.by, most)
        return plots.ranked(cells, ax, most)

    def _rows(self, margin: Names) -> Iterator[tuple[Any, ...]]:
        found = self._sums(margin)
        for number, label in enumerate(found.labels):
            parts = dict(zip(margin, label, strict=True))
            yield (
                *(parts.get(name) for name in self.by),
                found.values[number],
                float(found.lower[number]),
                float(found.upper[number]),
                found.unadjusted[number],
            )

    def _wide(self, *, turned: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Return the head and the rows of a table of two columns; ``turned``: rows are columns."""
        if len(self.by) != 2:
            raise InvalidArgument(f"a wide table is of two columns, this one of {len(self.by)}")
        first, second = self.by[::-1] if turned else self.by
        layout = self.error_model.layout
        left, top = (layout.sums((name,)) for name in (first, second))
        keys = (key[::-1] if turned else key for key in layout.keys)
        cells = dict(zip(keys, self._plain(self.by), strict=True))
        body: list[list[Any]] = [
            [row, *(cells.get((row, column)) for (column,) in top)] for (row,) in left
        ]
        head = [first, *(str(label) for (label,) in top)]
        if (first,) in self.margins:
            head.append(TOTAL)
            for row, value in zip(body, self._plain((first,)), strict=True):
                row.append(value)
        if (second,) in self.margins or () in self.margins:
            known = (second,) in self.margins
            last: list[Any] = [TOTAL, *(self._plain((second,)) if known else [None] * len(top))]
            if (first,) in self.margins:
                last.append(self._plain(())[0] if () in self.margins and body else None)
            body.append(last)
        return head, body

    def _plain(self, margin: Names) -> list[float]:
        return [self._value(each) for each in self.error_model.adjusted(margin)]

    def said(self, level: float = 0.95, tail: Tail = "auto") -> dict[str, object]:
        # The cells, and then each margin, with its columns, whether it was measured with noise of
        # its own, and its numbers.
        tables = []
        for margin, measured in zip(
            (self.by, *self.margins), self.error_model.measured, strict=True
        ):
            found = self._sums(margin, level, tail)
            numbers = [
                {
                    "key": plain(label),
                    "value": value,
                    "lower": float(lower),
                    "upper": float(upper),
                    "unadjusted": unadjusted,
                }
                for label, value, lower, upper, unadjusted in zip(*found, strict=True)
            ]
            tables.append(
                {
                    "columns": list(margin),
                    "measured": measured.noise is not None,
                    "numbers": numbers,
                }
            )
        keys = [str(each.event) for each in self.selection] or "given"
        answer = {"by": list(self.by), "keys": keys, "tables": tables}
        return self._said("modicum.crosstab/1", answer, level, tail)

    def __str__(self) -> str:
        ends = [text.line(name, words) for name, words in self._intervals()]
        numbers = [*self._body(), *ends] if self.usable else []
        return "\n".join([*self._heading(), *numbers, *self._terms()])

    def _heading(self) -> list[str]:
        if len(self.by) == 1:
            first, *lines = self._head(number_of(len(self.keys), "label"))
            return [f"{self._title} by {self.by[0]}{first.removeprefix(self._title)}", *lines]
        shape = " × ".join(f"{len(self.error_model.layout.sums((name,)))}" for name in self.by)
        cells = number_of(len(self.keys), "cell")
        return self._head(f"{cells} of {' × '.join(self.by)} ({shape})")

    def _body(self) -> list[str]:
        """Lines of the numbers: a wide table if it fits, or a list."""
        for turned in (False, True) if len(self.by) == 2 else ():
            head, rows = self._wide(turned=turned)
            written = ([str(label), *map(_cell, cells)] for label, *cells in rows)
            lines = text.aligned([head, *written])
            if len(lines) <= _ROWS and max(map(len, lines)) <= _WIDE:
                return lines
        listed: list[list[str]] = []
        for margin in (*self.margins[::-1], self.by):
            found = self._sums(margin)
            for label, value, lower, upper, _ in zip(*found, strict=True):
                if len(listed) == _ROWS:
                    break
                parts = dict(zip(margin, label, strict=True))
                labels = [str(parts.get(name, TOTAL)) for name in self.by]
                listed.append([*labels, _cell(value), text.interval(lower, upper)])
        lines = text.aligned([[*self.by, "value", "95 % interval"], *listed])
        more = len(self.keys) + sum(self.error_model.layout.sizes) - len(listed)
        return [*lines, *([f"  and {more:,} more: frame() has all"] if more > 0 else [])]

    def _intervals(self) -> Iterator[tuple[str, str]]:
        said = []
        for margin in (self.by, *self.margins):
            found = self._sums(margin)
            if len(found.labels):
                half = float((found.upper / 2 - found.lower / 2).max())
                name = "cells" if margin == self.by else ", ".join(margin) or TOTAL
                said.append(f"{name} ± {text.end(half, 3)}")
        condition = f"; {self.error_model.condition}" if self.error_model.condition else ""
        yield "95 % interval", f"{', '.join(said)}{condition}"
        if self.margins:
            yield "margins", "add up; unadjusted numbers are kept"
        if self.selection:
            yield "labels", f"drawn, for {', '.join(str(each.event) for each in self.selection)}"

    def to_html(self) -> str:
        """Write it as a table of HTML, for another page."""
        rows: list[list[Any]]
        if len(self.by) == 2:
            head, rows = self._wide()
        else:
            head = [*self.by, "value", "lower", "upper", "unadjusted"]
            rows = list(map(list, chain(*map(self._rows, (self.by, *self.margins)))))
        labels = 1 if len(self.by) == 2 else len(self.by)
        cells = (
            [
                *(TOTAL if label is None else str(label) for label in row[:labels]),
                *map(_cell, row[labels:]),
            ]
            for row in rows
        )
        terms = self.answers().terms
        hidden = {"interval_condition", "keys_cost"}  # said with the intervals
        said = terms_in_words({name: each for name, each in terms.items() if name not in hidden})
        if not self.usable:
            return card(self._heading()[0], facts(said))
        return card(
            self._heading()[0],
            table([*map(str, head)], cells, labels=labels),
            facts([*self._intervals(), *said]),
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return f"Crosstab({self.statistic}, {number_of(len(self.keys), 'cell')} of {self.by})"


@storable
@sealed
@dataclass(frozen=True, slots=True, repr=False)
class ValueCounts(Crosstab):
    """Counts of the labels of one column, the most frequent first, and their shares.

    Attributes and methods are those of :class:`Crosstab`.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> found = modicum.value_counts(
    ...     pd.DataFrame({"origin": ["JFK", "LGA", "JFK"] * 999}),
    ...     "origin",
    ...     keys=["LGA", "JFK"],
    ...     epsilon=1,
    ... )
    >>> found.keys, 0.6 < found.shares()["JFK"].value < 0.7
    (('JFK', 'LGA'), True)
    """

    @property
    def keys(self) -> tuple[Any, ...]:
        """The labels, the most frequent first."""
        return tuple(self.numbers())

    def numbers(
        self, *columns: str, level: float = 0.95, tail: Tail = "auto"
    ) -> Mapping[Any, TableNumber]:
        """Return the counts by their labels, the largest first.

        Parameters
        ----------
        *columns : str
            Only the column that was counted, which is the default.
        level, tail
            As for :meth:`Crosstab.numbers`.

        Returns
        -------
        mapping of label to TableNumber
            ``value``, ``lower``, ``upper`` and ``unadjusted``.
        """
        found = self._labelled(columns or self.by, level, tail)
        return dict(sorted(found.items(), key=lambda item: -item[1].value))

    def shares(self, level: float = 0.95) -> Mapping[Any, TableNumber]:
        """Return the shares of the labels among all rows that have one of them, with intervals.

        Each interval holds with probability ``level``: it is the extremes of count and total, whose
        own intervals hold together with that probability.

        Parameters
        ----------
        level : float
            Confidence of each share, in (0, 1).

        Returns
        -------
        mapping of label to TableNumber
            Shares in [0, 1], the largest first.

        Raises
        ------
        InvalidArgument
            If ``level`` is not in (0, 1).
        """
        check_confidence(level, None)
        each = (1 + level) / 2
        whole = self._labelled((), each, "auto").get((), _NOTHING)
        found = {}
        for key, count in self.numbers(level=each).items():
            ends = share_of(count.lower, whole.upper), share_of(count.upper, whole.lower)
            parts = (share_of(count.value, whole.value), *ends)
            found[key] = TableNumber(*parts, share_of(count.unadjusted, whole.unadjusted))
        return found

    def frame(self, *, wide: bool = False) -> Any:
        """Return a table of the label, value, lower, upper, unadjusted, and share with its ends.

        It is a table of the library that the data came in.

        Parameters
        ----------
        wide : bool
            Only ``False``: a wide table has two columns of labels.

        Raises
        ------
        InvalidArgument
            If ``wide``.
        """
        if wide:
            self._wide()
        rows = [
            (key, *count, *share[:3])
            for (key, count), share in zip(
                self.numbers().items(), self.shares().values(), strict=True
            )
        ]
        ends = ("share", "share_lower", "share_upper")
        names = (*self.by, "value", "lower", "upper", "unadjusted", *ends)
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        return native.native_table(columns, self.engine)

    def _body(self) -> list[str]:
        shown = list(zip(self.numbers().items(), self.shares().values(), strict=True))
        listed = [
            [
                str(key),
                _cell(count.value),
                text.interval(count.lower, count.upper),
                f"{100 * share.value:.3g} %",
            ]
            for (key, count), share in shown[:_ROWS]
        ]
        lines = text.aligned([[*self.by, "count", "95 % interval", "share"], *listed])
        more = len(shown) - len(listed)
        return [*lines, *([f"  and {more:,} more: frame() has all"] if more else [])]


def _bare(label: tuple[Any, ...]) -> Any:
    return label[0] if len(label) == 1 else label


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else text.end(value)
