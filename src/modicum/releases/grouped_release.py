"""The records of groups: one release, or one of several numbers, for each key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from modicum.errors import InvalidArgument, MissingKey, as_given, can_be_key, number_of
from modicum.privacy.event import Event, with_labels
from modicum.privacy.unit import NEIGHBOURS, Unit
from modicum.releases.array_release import ArrayRelease, written_label
from modicum.releases.confidence import Tail, check_confidence
from modicum.releases.difference import Difference
from modicum.releases.publishable import Publishable
from modicum.releases.publishing import native, text
from modicum.releases.publishing.answers import AnswerRows, common_terms, sealed
from modicum.releases.publishing.explanation import Explanation
from modicum.releases.publishing.plain import plain
from modicum.releases.release import (
    Release,
    TranscriptEntry,
    chosen_interval,
)
from modicum.stored.codec import storable

_SHOWN = 30  # lines of the summary
_NAMED = 8  # keys in a note
_NOTES = 4
_EACH = frozenset(  # of a release: what stands in each group, even if all say it alike
    {"value", "interval", "confidence_interval", "axes", "values", "lower", "upper", "noise"}
    | {"confidence_lower", "confidence_upper", "status", "code", "usable", "error_model"}
)
R = TypeVar("R", bound=Release | ArrayRelease)


@dataclass(frozen=True, slots=True, repr=False)
class Groups(Mapping[Any, R], Publishable, Generic[R]):
    """What the records of all groups share; a mapping from key to release."""

    _internal = frozenset({"engine", "event", "releases", "selection"})
    shares_parts: ClassVar[bool] = True  # what releases hold alike is stored once
    statistic: str
    column: str | None
    by: str | tuple[str, ...]
    releases: Mapping[Any, R]
    event: Event
    unit: Unit
    selection: TranscriptEntry | None
    engine: str
    account: str

    @property
    def total_event(self) -> Event:
        """What all of it cost the privacy unit, the draw of labels included."""
        drawn = () if self.selection is None else (self.selection.event,)
        return with_labels(self.event, drawn)

    @property
    def usable(self) -> bool:
        """Whether the answer of any group can be used; each group says so for itself."""
        return not self.releases or any(release.usable for release in self.releases.values())

    def __getitem__(self, key: Hashable) -> R:
        if not can_be_key(key) or key not in self.releases:
            raise MissingKey(key, self.releases)
        return self.releases[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @abstractmethod
    def _rows(
        self, keys: Sequence[Any], level: float, tail: Tail, *, population: bool = False
    ) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        """Names of labels besides the keys; and rows of a key, labels, value, ends, usable."""

    def frame(self) -> Any:
        """Return a table with the columns key, value, lower, upper (the 95 % interval) and usable.

        Means that are shrunk towards that of all groups are in the column unshrunk too, as they
        were before. Keys of several columns are in columns of their names. Of several numbers there
        is a row for each, with its labels after the key.
        It is a table of the library that the data came in: pandas, Polars or PyArrow (for DuckDB
        PyArrow, or pandas). Data of any other kind get a list of dicts.

        Examples
        --------
        >>> import modicum, pandas as pd
        >>> table = pd.DataFrame({"region": ["N", "S"] * 500, "age": 40})
        >>> groups = modicum.Curator(table, budget=modicum.pure(1)).group_by("region", keys=["N"])
        >>> [*groups.count(epsilon=1).frame().columns]
        ['key', 'value', 'lower', 'upper', 'usable']
        """
        names, rows = self._rows(list(self), 0.95, "auto")
        keys = self._key_columns([key for key, *_ in rows], "key")
        places = enumerate((*names, "value", "lower", "upper", "usable"), start=1)
        columns = {name: [row[place] for row in rows] for place, name in places}
        return native.native_table({**keys, **columns, **self._unshrunk()}, self.engine)

    def _unshrunk(self) -> dict[str, list[float]]:
        """The values as they were before they were shrunk, if any of them is."""
        return {}

    def _key_columns(self, keys: Sequence[Any], name: str) -> dict[str, Sequence[Any]]:
        """Columns of keys: one of this name, or those of several columns by their own."""
        if isinstance(self.by, str):
            return {name: keys}
        return {by: [key[place] for key in keys] for place, by in enumerate(self.by)}

    def answers(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> AnswerRows:
        check_confidence(level, tail)
        names, rows = self._rows(list(self), level, tail, population=population)
        columns = [*zip(*rows, strict=True)] or [()] * (len(names) + 5)
        keys, *labels, values, lower, upper, _ = columns
        return AnswerRows(
            f"{self.statistic} of {self.column or 'rows'} by {self._by}",
            {**self._key_columns(keys, self._by), **dict(zip(names, labels, strict=True))},
            values,
            lower,
            upper,
            [self.releases[key].code for key in keys],
            self.terms(level, tail, population=population),
            partial(native.native_table, engine=self.engine),
        )

    def terms(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> dict[str, object]:
        """Return what a published table says of the release besides its numbers, as JSON types.

        What differs between groups is a list that has each once.

        Parameters
        ----------
        level, tail, population
            As for :meth:`publish`.
        """
        several = [each.terms(level, tail, population=population) for each in self.values()]
        unit: dict[str, object] = {"unit": str(self.unit), "neighbours": NEIGHBOURS}
        drawn = self.selection
        return {
            **common_terms(several),
            **unit,
            "by": plain(self.by),
            "keys": "given" if drawn is None else "drawn",
            **({} if drawn is None else {"keys_cost": str(drawn.event)}),
            "cost": str(self.event),
            "cost_covers": "all groups together",
            "interval_level": level,
            "interval_of": text.interval_of("".join(self._left_out()), population=population),
            "interval_each": "each group by itself",
        }

    def summary(self, level: float = 0.95, tail: Tail = "auto") -> str:
        """Write a table of all groups with intervals: what ``print(release)`` shows.

        Parameters
        ----------
        level, tail
            As for :meth:`Release.interval`; each interval holds by itself.
        """
        check_confidence(level, tail)
        of = self.column if self.column is not None else "rows"
        names, found = self._rows(list(self)[:_SHOWN], level, tail)
        rows = [("key", *names, "value", f"{100 * level:g} % interval")]
        for key, *labels, value, lower, upper, usable in found[:_SHOWN]:
            shown = (text.end(value), text.interval(lower, upper))
            if not usable:
                shown = ("–", f"not usable ({self.releases[key].code})")
            rows.append((_key(key), *map(written_label, labels), *shown))
        wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
        lost = sum(not release.usable for release in self.releases.values())
        lines = [
            f"{self.statistic} of {of} by {self._by}: {number_of(len(self), 'group')}"
            + (f", {lost if self.usable else 'all'} without a usable answer" if lost else "")
        ]
        lines += [text.line("left out", each, 8) for each in self._left_out()]
        for key, *numbers, ends in rows:
            cells = [f"{cell:>{size}}" for cell, size in zip(numbers, wide[1:], strict=True)]
            lines.append("  ".join([f"  {key:{wide[0]}}", *cells, ends]))
        if len(self) > _SHOWN:
            lines.append(f"  and {len(self) - _SHOWN} more: frame() has all")
        elif len(found) > _SHOWN:
            lines.append(f"  and {len(found) - _SHOWN} more numbers: frame() has all")
        return "\n".join([*lines, *self._terms()])

    def _terms(self) -> list[str]:
        keys = "given" if self.selection is None else f"drawn, for {self.selection.event}"
        together = f"all groups together ({NEIGHBOURS}; swap: {self.event.swapped()})"
        said = [("cost", f"{self.event} for {self.unit}, {together}"), ("keys", keys)]
        said += [("groups", text.found_groups_words(each)) for each in self._groups_found()]
        said += [("pooled", each) for each in self._pooled_words()]
        said += [each.partition(" ")[::2] for each in self._views()]
        said.append(("account", self.account))
        steps = {release.step_words for release in self.releases.values()} - {""}
        said += [("step", words) for words in sorted(steps)]
        notes: dict[str, list[str]] = {}
        for key, release in self.releases.items():
            if release.status not in {"ok", release.left_out}:
                notes.setdefault(release.status, []).append(_key(key))
        for status, keys_of in list(notes.items())[:_NOTES]:
            more = f" and {len(keys_of) - _NAMED} more" if len(keys_of) > _NAMED else ""
            words = f"{', '.join(keys_of[:_NAMED])}{more}: {status}"
            said.append(("note", words))
        lines = [text.line(*each, 8) for each in said]
        if len(notes) > _NOTES:
            lines.append(f"  and {len(notes) - _NOTES} other notes, each in its release's status")
        if not all(release.private for release in self.releases.values()):
            lines.append("  WARNING  test entropy, not private")
        return lines

    def _pooled_words(self) -> list[str]:
        """Say what all groups found together, if they did."""
        words = {
            getattr(each.error_model, "pooled_words", "") for each in self.releases.values()
        } - {""}
        if self._unshrunk():
            words = {
                "all groups found clipping bounds together, for a part of the cost; values are "
                "shrunk towards that of all groups, and those before it are the column unshrunk of "
                "frame()"
            }
        return sorted(words)

    def _left_out(self) -> list[str]:
        """What of a person is in no answer, in words that hold for all groups."""
        found = dict.fromkeys(each.left_out for each in self.releases.values() if each.left_out)
        if len(found) < 2:
            return [*found]
        return ["rows beyond a limit, of each group its own: see explain()"]

    def _groups_found(self) -> list[int]:
        """In how many groups a person counts, if that was found: with all keys, or with these."""
        found = {release.groups_found for release in self.releases.values()}
        if self.selection is not None:
            found.add(self.selection.parameters.get("most groups"))  # type: ignore[arg-type]
        return [each for each in found if each is not None]

    @property
    def _by(self) -> str:
        return self.by if isinstance(self.by, str) else ", ".join(self.by)

    def _views(self) -> tuple[str, ...]:
        return next((release.view for release in self.releases.values()), ())

    def explain(self) -> Explanation:
        """Describe every draw of every group: a text, and tables in a notebook."""
        drawn = self.selection
        said = [f"The keys were drawn: {drawn.mechanism}  [{drawn.event}]"] if drawn else []
        parts = {f"{self._by} = {_key(key)}": each.explain() for key, each in self.items()}
        return Explanation.of_parts(self, said, parts, headed=True)

    def facts(self, level: float = 0.95, tail: Tail = "auto") -> dict[str, object]:
        """Return what :meth:`to_json` says (``schema: modicum.grouped/3``).

        ``groups`` is a list, in order, of objects with ``key`` and ``release``; what all releases
        say alike of their circumstances is in ``alike``, and not in each, and their draws are in
        ``stored`` alone. ``usable`` is whether the answer of any can be used.

        Parameters
        ----------
        level, tail
            Of the intervals, as for :meth:`Release.interval`.
        """
        each = [release.said(level, tail) for release in self.releases.values()]
        alike = _alike(each)
        return {
            "schema": "modicum.grouped/3",
            "statistic": self.statistic,
            "column": self.column,
            "by": plain(self.by),
            "cost": str(self.event),
            "keys": "given" if self.selection is None else str(self.selection.event),
            "usable": self.usable,
            "alike": alike,
            "groups": [
                {
                    "key": plain(key),
                    "release": {name: of for name, of in said.items() if name not in alike},
                }
                for key, said in zip(self.releases, each, strict=True)
            ],
        }

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.statistic} of {self.column!r} by {self.by!r}, "
            f"{len(self)} groups)"
        )


G = TypeVar("G", bound=Groups[Any])


def under(groups: G, account: str) -> G:
    """Return the same releases with another text on which budget was charged."""
    releases = {key: replace(each, account=account) for key, each in groups.releases.items()}
    return replace(groups, releases=releases, account=account)


@storable
@sealed
@dataclass(frozen=True, slots=True, repr=False)
class GroupedRelease(Groups[Release]):
    """One statistic of every group: a mapping from key to :class:`Release`.

    Every row is in one group at most, so all groups together cost what one of them costs.

    Attributes
    ----------
    statistic : str
        ``"mean"``, ``"sum"``, ...
    column : str or None
        The column, ``None`` for rows.
    by : str or tuple of str
        The column of keys, or several: then a key is a tuple.
    releases : mapping
        Key to release, in the order of the keys.
    event : Event
        What all groups together cost the privacy unit.
    unit : Unit
        Who is protected.
    selection : TranscriptEntry or None
        The draw of the keys; ``None`` if the keys were given. Its cost is not part of ``event``.
    engine : str
        Which engine read the data.
    account : str
        Which budget was charged.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"firm": ["a", "b", "b"] * 5000, "wage": [10.0, 20, 30] * 5000})
    >>> curator = modicum.Curator(table, budget=modicum.pure(1))
    >>> wages = curator.group_by("firm", keys=["a", "b"]).mean("wage", within=(0, 1e6), epsilon=1)
    >>> 9 < wages["a"].value < 11, list(wages), list(wages.frame().columns)
    (True, ['a', 'b'], ['key', 'value', 'lower', 'upper', 'usable'])
    """

    def difference(self, first: Hashable, second: Hashable) -> Difference:
        """Return the answer of one group less that of another, with its intervals.

        It costs nothing: both answers are released already.

        Parameters
        ----------
        first, second : label
            Keys of two groups.

        Returns
        -------
        Difference
            Its ``value``, :meth:`~Difference.interval` and, if that was bought, interval for
            populations.

        Raises
        ------
        InvalidArgument
            If one of them is not the key of a group, or both are the same.

        Examples
        --------
        >>> import modicum as mo, pandas as pd
        >>> table = pd.DataFrame({"firm": ["a", "b"] * 5000, "wage": [10.0, 30.0] * 5000})
        >>> groups = mo.Curator(table, budget=mo.pure(1)).group_by("firm", keys=["a", "b"])
        >>> wages = groups.mean("wage", within=(0, 1e6), epsilon=1)
        >>> 18 < wages.difference("b", "a").value < 22
        True
        """
        for key in (first, second):
            if not can_be_key(key) or key not in self.releases:
                raise InvalidArgument(f"there is no group {as_given(key)} among {len(self)} groups")
        if first == second:
            raise InvalidArgument(
                f"the groups must be two different ones, got {as_given(first)} twice"
            )
        names = (_key(first), _key(second))
        releases = self.releases[first], self.releases[second]
        return Difference(self._by, (first, second), names, *releases)

    def _rows(
        self, keys: Sequence[Any], level: float, tail: Tail, *, population: bool = False
    ) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        rows: list[tuple[Any, ...]] = []
        for key in keys:
            each = self.releases[key]
            ends = chosen_interval(each, level, tail, population=population)
            rows.append((key, each.value, *ends, each.usable))
        return (), rows

    def _unshrunk(self) -> dict[str, list[float]]:
        models = [each.error_model for each in self.releases.values()]
        if not any(hasattr(model, "unshrunk") for model in models):
            return {}
        pairs = zip(models, self.releases.values(), strict=True)
        return {"unshrunk": [getattr(model, "unshrunk", each.value) for model, each in pairs]}


@storable
@sealed
@dataclass(frozen=True, slots=True, repr=False)
class GroupedArrayRelease(Groups[ArrayRelease]):
    """Several numbers of every group: a mapping from key to :class:`ArrayRelease`.

    Every row is in one group at most, so all groups together cost what one of them costs.

    Its attributes and methods are those of :class:`GroupedRelease`, but for ``difference``; its
    tables have a row for each number of each group.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"firm": ["a", "b"] * 9000, "wage": range(18_000)})
    >>> curator = modicum.Curator(table, budget=modicum.pure(1))
    >>> firms = curator.group_by("firm", keys=["a", "b"])
    >>> wages = firms.quantiles("wage", q=[0.25, 0.75], epsilon=1)
    >>> 4000 < float(wages["a"].values[0]) < 5000, list(wages.frame().columns)
    (True, ['key', 'q', 'value', 'lower', 'upper', 'usable'])
    """

    def plot(
        self, ax: Any = None, *, level: float = 0.95, tail: Tail = "auto", most: int = 12
    ) -> Any:
        """Draw each group by itself, all on the same scale, as :meth:`ArrayRelease.plot` does.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            Where to draw, one for each group; by default in a new figure.
        level, tail
            As for :meth:`ArrayRelease.plot`.
        most : int
            How many groups are shown at most: the first ones. The last title says so.

        Returns
        -------
        array of matplotlib Axes
            One for each group.

        Raises
        ------
        InvalidArgument
            Without matplotlib, without groups, or for an argument that cannot be used.
        """
        from modicum.releases.publishing import plots

        keys = list(self)[: plots.checked_most(most)]
        pictures = [
            (f"{self._by} = {_key(key)}", partial(self[key].plot, level=level, tail=tail))
            for key in keys
        ]
        points = plots.drawn(self.answers(level, tail))
        return plots.panels(pictures, ax, points, left_out=len(self) - len(keys), alike=True)

    def _rows(
        self, keys: Sequence[Any], level: float, tail: Tail, *, population: bool = False
    ) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        names: list[str] = []
        rows: list[tuple[Any, ...]] = []
        for key in keys:
            each = self.releases[key]
            columns = each.columns(level, tail, population=population)
            names = [name for name in columns if name not in {"value", "lower", "upper"}]
            ordered = (columns[name] for name in (*names, "value", "lower", "upper"))
            rows += [(key, *row, each.usable) for row in zip(*ordered, strict=True)]
        return names, rows


def _alike(each: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all say alike, besides the answer."""
    first = each[0] if each else {}
    return {
        name: of
        for name, of in first.items()
        if name not in _EACH and all(name in said and said[name] == of for said in each)
    }


def _key(key: Any) -> str:
    return f"({', '.join(map(str, key))})" if isinstance(key, tuple) else str(key)
