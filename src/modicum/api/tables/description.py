"""A whole table at a glance: how many values, how many missing, means, quartiles, frequent labels.

The columns share one budget. Which columns are described, and how the budget is divided, follows
from the declared types alone. Every number is a release of its own, with its interval and status.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from modicum import query as ask
from modicum.errors import InvalidArgument, MissingKey, as_given
from modicum.privacy.accountant import total
from modicum.privacy.budget import Budget, Kind, approx, pure
from modicum.privacy.event import ApproxDP, Event, event_of, spent_on
from modicum.privacy.ledger.chain import AMOUNT_UNITS, DELTA_UNITS
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayRelease
from modicum.releases.confidence import Tail
from modicum.releases.grouped_release import GroupedRelease
from modicum.releases.publishable import Publishable
from modicum.releases.publishing.answers import AnswerRows, sealed
from modicum.releases.publishing.explanation import Explanation
from modicum.releases.publishing.html import card, facts, table
from modicum.releases.publishing.native import native_table
from modicum.releases.publishing.text import line
from modicum.releases.release import Release
from modicum.releases.status import USABLE
from modicum.runtime.query import Query
from modicum.sources.base import Source
from modicum.statistics.means.mean import mean_near
from modicum.stored.codec import storable

QUARTILES = ("25 %", "median", "75 %")
_LABELS = "labels, which are drawn for an (ε, δ)"
_Q = ("0.25", "0.5", "0.75")
_ADVICE = {
    "few_records": "; a larger budget or fewer columns help",
    "no_values": "; leave out columns of text and dates: `modicum check` says which they are",
}
_MISSED = 80  # values per unit of noise that a mean beside quartiles may miss, by measurement
_SHOWN = 5  # labels of a column on the summary
# Parts of the budget: a count needs next to nothing, and the quartiles find a range too. The number
# of rows is in the shares of missing values of all columns, so it has a cube root of them as much.
_VALUES, _QUARTILES, _MEAN, _KEYS, _COUNTS = 2, 16, 5, 8, 2
_TOO_WIDE = 0.5  # a share of the rows so uncertain says nothing

_SHARED = (
    "unit",
    "unit_rows",
    "unit_column",
    "neighbours",
    "view",
    "account",
    "private",
    "interval_level",
    "interval_of",
    "version",
)  # terms of all releases of a description

Numbers = Mapping[str, Release | ArrayRelease]


class Number(NamedTuple):
    """A released number with its 95 % interval, and whether it can be used."""

    value: float
    lower: float
    upper: float
    usable: bool

    @classmethod
    def of(cls, release: Release) -> Number:
        """Take the number of a release."""
        return cls(release.value, *release.interval(), release.usable)

    def words(self, *, margin: bool = False) -> str:
        """Write it to the digits that its interval supports; ``margin``: half of that, too.

        Examples
        --------
        >>> Number(1234.567, 1234.1, 1235.1, True).words(), Number(0.5, 0.4, 0.6, False).words()
        ('1,234.57', '–')
        """
        half = (self.upper - self.lower) / 2
        if not self.usable:
            return "–"
        size = abs(self.value)
        if half <= 1e-6 * size or half >= 1e12 or not 1e-4 <= max(size, half) < 1e12:
            text, spread = f"{self.value:,.6g}", f"{half:.2g}"
        else:
            digits = max(0, 1 - math.floor(math.log10(half)))
            text, spread = f"{self.value:,.{digits}f}", f"{half:,.{digits}f}"
        return f"{text} ± {spread}" if margin else text


class Asked(NamedTuple):
    """What is asked of a table: numbers in one release, then means, then labels of each column.

    ``means`` have the budget of each mean, ``labels`` those of the draw of keys and of their
    counts.
    """

    queries: Mapping[str, Query[Any]]
    means: Mapping[str, Budget]
    labels: Mapping[str, tuple[Budget, Budget]]
    numbers: tuple[str, ...]
    skipped: Mapping[str, str]

    @classmethod
    def of(cls, source: Source, unit: Unit, names: Sequence[str] | None, cost: Budget) -> Asked:
        """Divide a budget among the columns of a table, by their declared types.

        InvalidArgument or MissingColumn for a name that is none; InvalidArgument if nothing can be
        described.
        """
        if not source.is_table:
            raise InvalidArgument("a table with named columns can be described")
        chosen = _chosen(source, unit, names)
        kinds = {name: _kind(source, name) for name in chosen}
        numbers = tuple(name for name, kind in kinds.items() if kind in {"number", "boolean"})
        labels = tuple(name for name, kind in kinds.items() if kind == "label")
        skipped = {name: kind for name, kind in kinds.items() if name not in {*numbers, *labels}}
        if labels and not cost.delta:
            skipped |= dict.fromkeys(labels, _LABELS)
            labels = ()
        if not numbers and not labels:
            raise InvalidArgument(
                "no column can be described: "
                + (
                    ", ".join(f"{name!r} ({why})" for name, why in skipped.items())
                    or "none is left"
                )
            )
        parts: dict[str, int] = {}
        for name in numbers:
            parts[f"values {name}"] = _VALUES
            if kinds[name] == "number":
                parts[f"quartiles {name}"] = _QUARTILES
        others = [*parts.values(), *[_MEAN] * len(numbers), *[_KEYS, _COUNTS] * len(labels)]
        whole = round(_VALUES * max(len(numbers), 1) ** (1 / 3)) + sum(others)
        plain = pure(cost.amount) if cost.approximate else cost

        def amount(part: int) -> Fraction:
            return rounded_down(Fraction(part, whole) * plain.amount, AMOUNT_UNITS)

        def share(part: int) -> Budget:
            return plain.part(amount(part) / plain.amount)

        # The number of rows has what rounding left, so that the whole is charged and no more.
        rows = plain.amount - sum(map(amount, others))
        queries = {"rows": _query("rows", plain.part(rows / plain.amount))}
        queries |= {each: _query(each, share(part)) for each, part in parts.items()}
        means, counts = dict.fromkeys(numbers, share(_MEAN)), share(_COUNTS)
        draws = {
            name: (
                approx(share(_KEYS).amount, rounded_down(cost.delta / len(labels), DELTA_UNITS)),
                counts,
            )
            for name in labels
        }
        return cls(queries, means, draws, numbers, skipped)

    def cost(self, kind: Kind) -> Budget:
        """What all of it costs in a currency, by what each part does."""
        events: list[Event] = [query.event for query in self.queries.values()]
        events += map(event_of, self.means.values())
        for keys, counts in self.labels.values():
            events += [ApproxDP(keys.amount, keys.delta), event_of(counts)]
        return total(events, kind)

    def means_in(self, numbers: Numbers) -> dict[str, Query[Any]]:
        """Ask for the means, where the quartiles are: these are known. A share needs none."""
        queries: dict[str, Query[Any]] = {}
        for name, budget in self.means.items():
            quartiles = numbers.get(f"quartiles {name}")
            if isinstance(quartiles, ArrayRelease):
                queries[f"mean {name}"] = _mean_beside(quartiles, name, budget)
            else:
                queries[f"mean {name}"] = ask.mean(name, budget=budget)
        return queries


def rounded_down(amount: Fraction, units: int) -> Fraction:
    """Round down to what a ledger counts exactly: it would round up, and the sum be too much."""
    return Fraction(math.floor(amount * units), units)


def _share_left(part: float, whole: float, otherwise: float) -> float:
    return min(max(1 - part / whole, 0.0), 1.0) if whole > 0 else otherwise


def _percent(share: Number) -> str:
    """Write a share in percent, with its margin if that is not next to nothing."""
    if not share.usable:
        return "–"
    half = 100 * max(share.value - share.lower, share.upper - share.value)
    margin = f" ± {half:.0f}" if half >= 0.5 else ""
    return f"{100 * share.value:.0f}{margin} %"


def _chosen(source: Source, unit: Unit, names: Sequence[str] | None) -> list[str]:
    owners = {unit.column, unit.order_by}
    if names is None and source.no_header:
        raise InvalidArgument(f"{source.no_header}; or name those to describe")
    if names is None:
        return [name for name in source.names if name not in owners]
    named = isinstance(names, Sequence) or type(names).__name__ == "Index"  # columns of pandas
    listed = named and not isinstance(names, str)
    if not listed or not all(isinstance(name, str) for name in names):
        raise InvalidArgument(f"columns must be a list of names, got {as_given(names)}")
    for name in names:
        source.check_counted(name)
        if name in owners:
            raise InvalidArgument(f"column {name!r} says whose the rows are")
    return list(dict.fromkeys(names))


def _kind(source: Source, name: str) -> str:
    """What a column is described as, or why it is not."""
    declared = source.declared(name)
    if not source.holds_labels(name):
        try:
            source.check(name)
        except InvalidArgument:
            return declared
        return "boolean" if source.span(name).two_valued else "number"
    return "label" if source.check_label(name) in {"text", "labels", "object"} else declared


def _query(what: str, budget: Budget) -> Query[Any]:
    kind, _, name = what.partition(" ")
    if kind == "rows":
        return ask.count(budget=budget)
    if kind == "values":
        return ask.count(name, budget=budget)
    return ask.quantiles(name, q=_Q, budget=budget)


def _mean_beside(quartiles: ArrayRelease, name: str, budget: Budget) -> Query[Any]:
    """A mean of values whose quartiles were released, unless they say nothing.

    Quartiles that are one value do not say how far the others are from it.
    """
    first, median, third = (float(each) for each in quartiles.values)
    if quartiles.code in {"few_records", "clipped"} or quartiles.lattice is None:
        return ask.mean(name, budget=budget)
    if first < third:
        return mean_near(name, budget, (first, median, third))
    return ask.mean(name, within=quartiles.range_found, budget=budget)


@storable
@sealed
@dataclass(frozen=True, slots=True)
class Description(Publishable):
    """What was released about the columns of a table, together, for one cost.

    Attributes
    ----------
    numbers : mapping of str to Release or ArrayRelease
        ``"rows"``, and for each column of numbers ``"values NAME"``, ``"mean NAME"`` and
        ``"quartiles NAME"``.
    labels : mapping of str to GroupedRelease
        For each column of labels the counts of those that were drawn.
    columns : tuple of str
        The columns of numbers, in the order of the table.
    skipped : mapping of str to str
        Columns that are not described, and why.
    cost : Budget
        What all of it cost.

    Examples
    --------
    >>> import numpy as np, pandas as pd, modicum
    >>> table = pd.DataFrame({"age": np.arange(9000) % 90, "income": np.arange(9000.0)})
    >>> found = modicum.describe(table, epsilon=2)
    >>> found.columns, 40 < found.numbers["mean age"].value < 48
    (('age', 'income'), True)
    >>> [*found], 40 < found["age"]["median"].value < 48
    (['age', 'income'], True)
    >>> print(str(found).splitlines()[1].split())
    ['column', 'values', 'missing', 'mean', '25', '%', 'median', '75', '%']
    """

    numbers: Numbers
    labels: Mapping[str, GroupedRelease]
    columns: tuple[str, ...]
    skipped: Mapping[str, str]
    cost: Budget

    @property
    def total_event(self) -> Event:
        """What all of it cost the privacy unit, the draw of labels included."""
        return spent_on(self.cost)

    @property
    def rows(self) -> Release:
        """The number of rows."""
        rows = self.numbers["rows"]
        assert isinstance(rows, Release)
        return rows

    @property
    def usable(self) -> bool:
        """Whether any column has a number that can be used."""
        found = [each for name, each in self.numbers.items() if name != "rows"]
        return any(each.usable for each in [*found, *self.labels.values()])

    def __getitem__(self, column: str) -> Mapping[str, Number]:
        """Return the numbers of a column by their names, those of labels by the label.

        A number is a tuple of ``value``, ``lower`` and ``upper``, the 95 % interval, and
        ``usable``.
        """
        if column not in self:
            raise MissingKey(column, [*self])
        if column in self.columns:
            return dict(self._numbers(column))
        return {str(key): Number.of(each) for key, each in self.labels[column].items()}

    def __contains__(self, column: object) -> bool:
        return isinstance(column, str) and (column in self.columns or column in self.labels)

    def __iter__(self) -> Iterator[str]:
        """Go through the columns that are described."""
        return iter((*self.columns, *self.labels))

    def __len__(self) -> int:
        return len(self.columns) + len(self.labels)

    def missing(self, column: str) -> float:
        """Share of the rows that have no value in a column of numbers.

        Parameters
        ----------
        column : str
            One of :attr:`columns`.

        Returns
        -------
        float
            In [0, 1], from two released counts: values that are there, and rows. ``frame()`` has
            its interval.

        Raises
        ------
        InvalidArgument
            For a column that is not one of numbers.
        """
        if column not in self.columns:
            raise InvalidArgument(
                f"missing values are counted in columns of numbers, {list(self.columns)}, "
                f"got {as_given(column)}"
            )
        return self._missing(column).value

    def _missing(self, column: str) -> Number:
        """Compare two counts; each has an interval of 97.5 %, so this one has 95 %."""
        values = self._of("values", column)[0]
        least, most = values.interval(0.975)
        fewest, all_rows = self.rows.interval(0.975)
        lower, upper = _share_left(most, fewest, 0.0), _share_left(least, all_rows, 1.0)
        share = _share_left(values.value, self.rows.value, 0.0)
        usable = fewest > _TOO_WIDE * all_rows and upper - lower < _TOO_WIDE
        return Number(share, lower, upper, usable)

    def frame(self) -> Any:
        """Return a table: column, statistic, value, lower, upper (95 %), usable and code.

        A row for each number; the statistic of a label is its count. It is a table of the library
        that the data came in, as :meth:`Release.frame` of several numbers.
        """
        rows: list[tuple[Any, ...]] = [(None, "rows", *Number.of(self.rows), self.rows.code)]
        for column in self.columns:
            for what, number in self._numbers(column):
                rows.append((column, what, *number, self._code(what, column)))
        for column, counts in self.labels.items():
            rows += [
                (column, str(key), *Number.of(each), each.code) for key, each in counts.items()
            ]
        names = ("column", "statistic", "value", "lower", "upper", "usable", "code")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return native_table(columns, self.rows.engine)

    def answers(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> AnswerRows:
        columns: list[str | None] = []
        names: list[str] = []
        numbers: list[tuple[Any, ...]] = []
        terms: list[dict[str, object]] = []
        for column, own, release in self._releases():
            each = release.answers(level, tail, population=population)
            columns += [column] * len(own)
            names += own
            numbers += zip(each.values, each.lower, each.upper, each.codes, strict=True)
            terms.append({"column": column, **each.terms})
        shared = {name: terms[0][name] for name in _SHARED if name in terms[0]}
        values, lower, upper, codes = zip(*numbers, strict=True)
        return AnswerRows(
            f"description of {'a view of ' * bool(self.rows.view)}a table",
            {"column": columns, "statistic": names},
            values,
            lower,
            upper,
            codes,
            {
                **shared,
                "cost": str(self.cost),
                "cost_covers": "all columns together",
                "not_described": dict(self.skipped),
                "releases": terms,
            },
            partial(native_table, engine=self.rows.engine),
        )

    def plot(
        self, ax: Any = None, *, level: float = 0.95, tail: Tail = "auto", most: int = 12
    ) -> Any:
        """Draw each column by itself: mean and quartiles, or the counts of labels.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            Where to draw, one for each column; by default in a new figure.
        level, tail
            As for :meth:`Release.plot`.
        most : int
            How many columns, and labels of each, are shown at most. The last title says so.

        Returns
        -------
        array of matplotlib Axes
            One for each column.

        Raises
        ------
        InvalidArgument
            Without matplotlib, or for an argument that cannot be used.
        """
        from modicum.releases.publishing import plots

        points = plots.drawn(self.answers(level, tail))
        chosen = {"mean", *QUARTILES}
        pictures: list[tuple[str, Any]] = []
        for column in self.columns:
            places = [
                place
                for place, (of, what) in enumerate(points.labels)
                if of == column and what in chosen
            ]
            of_column = replace(points.of(places, named=slice(1, None)), values_are=column)
            pictures.append((column, partial(plots.named, of_column, most=most)))
        for column, counts in self.labels.items():
            pictures.append((column, partial(counts.plot, level=level, tail=tail, most=most)))
        shown = pictures[: plots.checked_most(most)]
        return plots.panels(shown, ax, points, left_out=len(pictures) - len(shown), alike=False)

    def _releases(self) -> Iterator[tuple[str | None, Sequence[str], Publishable]]:
        """Yield the column of each release, and names of its numbers."""
        yield None, ["rows"], self.rows
        for column in self.columns:
            for what, names in (
                ("values", ["values"]),
                ("mean", ["mean"]),
                ("quartiles", QUARTILES),
            ):
                for release in self._of(what, column):
                    yield column, names, release
        for column, counts in self.labels.items():
            yield column, [*map(str, counts)], counts

    def facts(self) -> dict[str, object]:
        """Return what :meth:`to_json` says (``schema: modicum.description/1``)."""
        return {
            "schema": "modicum.description/1",
            "cost": str(self.cost),
            "usable": self.usable,
            "columns": list(self.columns),
            "skipped": dict(self.skipped),
            "numbers": {name: each.facts() for name, each in self.numbers.items()},
            "labels": {name: each.facts() for name, each in self.labels.items()},
        }

    def explain(self) -> Explanation:
        """Describe every draw of every release: a text, and tables in a notebook."""
        labels = {f"labels of {name}": each for name, each in self.labels.items()}
        parts = {name: each.explain() for name, each in {**self.numbers, **labels}.items()}
        return Explanation.of_parts(self, (), parts, headed=False)

    def _of(self, what: str, column: str) -> tuple[Any, ...]:
        found = self.numbers.get(f"{what} {column}")
        return () if found is None else (found,)

    def _numbers(self, column: str) -> Iterator[tuple[str, Number]]:
        """Yield names and numbers of a column, with their intervals, and whether to use them."""
        for what in ("values", "mean"):
            for release in self._of(what, column):
                yield what, Number.of(release)
                if what == "values":
                    yield "missing", self._missing(column)
        for release in self._of("quartiles", column):
            lower, upper = release.interval()
            numbers = zip(release, lower.tolist(), upper.tolist(), strict=True)
            for name, number in zip(QUARTILES, numbers, strict=True):
                yield name, Number(*number, release.usable)

    def _code(self, what: str, column: str) -> str:
        """The code of a number; a share of missing values has that of the number of values."""
        of = {"missing": "values", **dict.fromkeys(QUARTILES, "quartiles")}.get(what, what)
        code: str = self.numbers[f"{of} {column}"].code
        return code

    @property
    def _title(self) -> str:
        return f"description of {Number.of(self.rows).words(margin=True)} rows"

    def _cells(self) -> list[list[str]]:
        head = ["column", "values", "missing", "mean", *QUARTILES]
        cells = [head]
        for column in self.columns:
            numbers = dict(self._numbers(column))
            shown = {
                name: each.words(margin=name in {"values", "mean"})
                for name, each in numbers.items()
            }
            shown["missing"] = _percent(numbers["missing"])
            cells.append([column, *(shown.get(name, "") for name in head[1:])])
        return cells

    def _label_lines(self) -> Iterator[tuple[str, str]]:
        for column, counts in self.labels.items():
            found = sorted(counts.items(), key=lambda item: -item[1].value)
            shown = [f"{key} {Number.of(each).words()}" for key, each in found[:_SHOWN]]
            more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
            yield column, ", ".join([*shown, *more]) or "no label was drawn"

    @property
    def means_apart(self) -> int:
        """About how many values of a column a mean may miss, if they are far from its quartiles.

        That many per unit of noise go unnoticed where the quartiles say where the values are.
        """
        means = [
            each.event.amount_in(each.event.kind)
            for name, each in self.numbers.items()
            if name.startswith("mean ") and f"quartiles {name[5:]}" in self.numbers
        ]
        if not means:
            return 0
        amount = float(min(means))
        concentrated = self.cost.concentrated
        return round(_MISSED / (math.sqrt(2 * amount) if concentrated else amount))

    def _left_out(self) -> list[str]:
        """What of a person is in none of the numbers, or not in some."""
        found = [each.left_out for each in self.numbers.values()]
        alike = [*dict.fromkeys(filter(None, found))]
        if len(alike) == 1 and all(found):
            return alike
        some = [name for name, each in self.numbers.items() if each.left_out]
        return [f"rows of persons beyond a limit: {', '.join(some)}"] if some else []

    def _notes(self) -> Iterator[str]:
        said: dict[str, list[str]] = {}
        for name, each in self.numbers.items():
            if each.code not in {"ok", "left_out"}:
                said.setdefault(each.code, []).append(name)
        for code, names in said.items():
            what = "to be used with care" if code in USABLE else "no usable answer"
            yield f"{what} ({code}): {', '.join(names)}{_ADVICE.get(code, '')}"
        if self.means_apart:
            yield (
                f"means are of the values near the quartiles: up to some {self.means_apart:,} far "
                "from these, as codes such as 999, may be in no mean and no interval of one"
            )
        apart: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            apart.setdefault(why, []).append(name)
        for why, names in apart.items():
            if why == _LABELS:
                yield (
                    f"not described: {', '.join(names)}. Columns of labels need an (ε, δ) budget, "
                    "such as budget=modicum.approx(2, '1e-6')"
                )
            else:
                yield f"not described ({why}): {', '.join(names)}"

    def __str__(self) -> str:
        lines = [self._title]
        lines += [line("left out", each, 8) for each in self._left_out()]
        cells = self._cells()
        wide = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
        for name, *numbers in cells if self.columns else []:
            padded = [f"{cell:>{width}}" for cell, width in zip(numbers, wide[1:], strict=True)]
            lines.append(f"  {name:{wide[0]}}  {'  '.join(padded)}")
        lines += [f"  {column}: {words}" for column, words in self._label_lines()]
        lines += [line(*each.partition(" ")[::2], 8) for each in self.rows.view]
        lines.append(line("cost", f"{self.cost} for {self.rows.unit}, all columns together", 8))
        lines += [line("note", words, 8) for words in self._notes()]
        return "\n".join([*lines, "  frame() has the 95 % interval of every number"])

    def to_html(self) -> str:
        """Write it as a table of HTML, for another page."""
        head, *rows = self._cells()
        cost = f"{self.cost} for {self.rows.unit}, all columns together"
        labels = facts([*self._label_lines()]) if self.labels else ""
        views = (each.partition(" ") for each in self.rows.view)
        said = [("left out", each) for each in self._left_out()]
        said += [(name, words) for name, _, words in views]
        said += [("cost", cost), *(("note", words) for words in self._notes())]
        numbers = table(head, rows, labels=1) if self.columns else ""
        return card(self._title, numbers, labels, facts(said))

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return f"Description({len(self.columns) + len(self.labels)} columns, {self.cost})"
