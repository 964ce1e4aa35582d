"""The releases of many groups as one: a mapping from key to release, a table, a frame."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from textwrap import fill
from typing import Any

from modicum.confidence import check_confidence
from modicum.native_table import native_table
from modicum.privacy.event import Event
from modicum.privacy.unit import NEIGHBOURS, Unit
from modicum.release import HTML, Entry, Release, plain, sealed

SCHEMA = "modicum.grouped/2"
_SHOWN = 30  # groups on the summary
_NAMED = 8  # keys in a note
_NOTES = 4


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class GroupedRelease(Mapping[Any, Release]):
    """One statistic of every group: a mapping from key to :class:`Release`.

    Every row is in one group at most, so all groups together cost what one of them costs.

    Attributes
    ----------
    statistic : str
        ``"mean"``, ``"sum"``, ...
    column : str or None
        The column, ``None`` for rows.
    by : str
        The column of keys.
    releases : mapping
        Key to release, in the order of the keys.
    event : Event
        What all groups together cost the privacy unit.
    unit : Unit
        Who is protected.
    selection : Entry or None
        The draw of the keys; ``None`` if the keys were given. Its price is not part of ``event``.
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

    statistic: str
    column: str | None
    by: str
    releases: Mapping[Any, Release]
    event: Event
    unit: Unit
    selection: Entry | None
    engine: str
    account: str

    @property
    def usable(self) -> bool:
        """Whether the answer of any group can be used; each group says so for itself."""
        return not self.releases or any(release.usable for release in self.releases.values())

    def __getitem__(self, key: Hashable) -> Release:
        return self.releases[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def under(self, account: str) -> GroupedRelease:
        """Return the same releases with another text on which budget was charged."""
        releases = {key: replace(each, account=account) for key, each in self.releases.items()}
        return replace(self, releases=releases, account=account)

    def frame(self) -> Any:
        """Return a table with the columns key, value, lower, upper (the 95 % interval) and usable.

        It is a table of the library that the data came in: pandas, Polars or PyArrow (for DuckDB
        PyArrow, or pandas). Data of any other kind get a list of dicts.
        """
        intervals = [release.interval() for release in self.releases.values()]
        columns = {
            "key": list(self.releases),
            "value": [release.value for release in self.releases.values()],
            "lower": [interval.lower for interval in intervals],
            "upper": [interval.upper for interval in intervals],
            "usable": [release.usable for release in self.releases.values()],
        }
        return native_table(columns, self.engine)

    def summary(self, level: float = 0.95, tail: float | None = 3) -> str:
        """Write a table of all groups with intervals; arguments as for :meth:`Release.interval`."""
        check_confidence(level, tail)
        of = self.column if self.column is not None else "rows"
        rows = [("key", "value", f"{100 * level:g} % interval")]
        for key, release in list(self.releases.items())[:_SHOWN]:
            lower, upper = release.interval(level, tail)
            mark = "" if release.usable else f"  not usable ({release.code})"
            rows.append((str(key), f"{release.value:,.6g}", f"[{lower:,.6g}, {upper:,.6g}]{mark}"))
        wide = [max(len(row[place]) for row in rows) for place in (0, 1)]
        lost = sum(not release.usable for release in self.releases.values())
        lines = [
            f"{self.statistic} of {of} by {self.by}: {len(self)} group{'s' * (len(self) != 1)}"
            + (f", {lost if self.usable else 'all'} without a usable answer" if lost else "")
        ]
        lines += [f"  {key:{wide[0]}}  {value:>{wide[1]}}  {ends}" for key, value, ends in rows]
        if len(self) > _SHOWN:
            lines.append(f"  and {len(self) - _SHOWN} more: frame() has all")
        lines += self._terms()
        return "\n".join(lines)

    def _terms(self) -> list[str]:
        keys = "given" if self.selection is None else f"drawn, for {self.selection.event}"
        lines = [
            f"  cost     {self.event} for {self.unit}, all groups together ({NEIGHBOURS}; "
            f"swap: {self.event.swapped()})",
            f"  keys     {keys}",
            f"  account  {self.account}",
        ]
        steps = {release.step_words for release in self.releases.values()} - {""}
        lines += [f"  step     {words}" for words in sorted(steps)]
        notes: dict[str, list[str]] = {}
        for key, release in self.releases.items():
            if release.status != "ok":
                notes.setdefault(release.status, []).append(str(key))
        for status, keys_of in list(notes.items())[:_NOTES]:
            more = f" and {len(keys_of) - _NAMED} more" if len(keys_of) > _NAMED else ""
            text = f"{', '.join(keys_of[:_NAMED])}{more}: {status}"
            lines.append(fill(text, 96, initial_indent="  note     ", subsequent_indent=" " * 11))
        if len(notes) > _NOTES:
            lines.append(f"  and {len(notes) - _NOTES} other notes, each in its release's status")
        if not all(release.private for release in self.releases.values()):
            lines.append("  WARNING  test entropy, not private")
        return lines

    def explain(self) -> str:
        """Describe every draw of every group."""
        parts = [str(self)]
        if self.selection is not None:
            drawn = self.selection
            parts.append(f"The keys were drawn: {drawn.mechanism}  [{drawn.event}]")
        parts += [f"{self.by} = {key}\n{release.explain()}" for key, release in self.items()]
        return "\n\n".join(parts)

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.grouped/2``).

        ``groups`` is a list, in order, of objects with ``key`` and ``release``; ``usable`` is
        whether the answer of any can be used.
        """
        json = import_module("json")
        record = {
            "schema": SCHEMA,
            "statistic": self.statistic,
            "column": self.column,
            "by": self.by,
            "cost": str(self.event),
            "keys": "given" if self.selection is None else str(self.selection.event),
            "usable": self.usable,
            "groups": [
                {"key": plain(key), "release": json.loads(release.to_json())}
                for key, release in self.releases.items()
            ],
        }
        text: str = json.dumps(record, indent=indent, allow_nan=False)
        return text

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"GroupedRelease({self.statistic} of {self.column!r} by {self.by!r}, "
            f"{len(self)} groups)"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{str(self).translate(HTML)}</pre>"
