"""The records of several numbers: an array, such as a histogram, or one release for each group."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import prod
from sys import float_info
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from modicum.difference import Difference
from modicum.errors import InvalidArgument
from modicum.exact.enclosure import float_nearest
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.privacy.unit import NEIGHBOURS, Unit
from modicum.release import (
    HTML,
    ErrorModel,
    Estimate,
    Record,
    Release,
    Tail,
    TranscriptEntry,
    assumed_tail,
    check_confidence,
    found_groups_words,
    native_table,
    note_text,
    plain,
    sealed,
    view_line,
)
from modicum.status import Status

_SHOWN = 30  # components or groups on the summary
_NAMED = 8  # keys in a note
_NOTES = 4
_LARGEST = float_info.max

Floats = NDArray[np.float64]
Label = float | str


class Intervals(NamedTuple):
    """Ends of intervals, one for each component: two arrays of the shape of the values."""

    lower: Floats
    upper: Floats


class ArrayErrorModel(ErrorModel, Protocol):
    """Released quantities from which intervals of every component follow."""

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return intervals that hold all at once with probability ``level``, in C order."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What the components along one axis stand for: public columns of labels.

    ``columns`` are names and labels, all of one length: the q of quantiles, the left and right ends
    of bins.

    Examples
    --------
    >>> Axis.of(left=(0.0, 1.0), right=(1.0, 2.0)).labels
    ((0.0, 1.0), (1.0, 2.0))
    >>> Axis.of(q=(0.1, 0.5)).labels
    (0.1, 0.5)
    """

    columns: tuple[tuple[str, tuple[Label, ...]], ...]

    @classmethod
    def of(cls, **columns: tuple[Label, ...]) -> Axis:
        """Make an axis of named columns."""
        return cls(tuple(columns.items()))

    def __len__(self) -> int:
        return len(self.columns[0][1])

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label a component; a tuple if there are several columns."""
        columns = [labels for _, labels in self.columns]
        return columns[0] if len(columns) == 1 else tuple(zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class ArrayEstimate(Estimate["ArrayRelease"]):
    """What an estimator of several numbers returns.

    ``values`` are the components in C order; the number of ``axes`` is the number of dimensions.
    ``method`` is as for :class:`~modicum.release.Estimate`.
    """

    values: tuple[Fraction, ...]
    axes: tuple[Axis, ...]
    error_model: ArrayErrorModel
    status: Status
    method: str | None = None
    lattice: Lattice | None = None
    limit: int | None = None

    def width(self, level: float, tail: Tail = "auto") -> float:
        """Mean width of the intervals."""
        assumed = assumed_tail(self.error_model, level, tail)
        low, high = self.error_model.intervals(level, assumed)
        return float(np.mean(high - low))

    def _release(self, **fields: Any) -> ArrayRelease:
        numbers = tuple(float_nearest(value) for value in self.values)
        return ArrayRelease(numbers=numbers, axes=self.axes, **fields)


@sealed
@dataclass(frozen=True, slots=True)
class ArrayRelease(Record):
    """Several numbers that were released together, each with a public label.

    It is a sequence of floats with labels: ``len``, iteration, indexing and ``numpy.asarray``
    treat it as the array :attr:`values`.

    Attributes
    ----------
    numbers : tuple of float
        The components, in C order.
    axes : tuple of Axis
        What they stand for.
    error_model : ArrayErrorModel
        What :meth:`interval` computes from.
    statistic, column, event, unit, lattice, ranged, method, status, code, transcript, engine,
    account
        And ``private`` and ``version``: as for :class:`~modicum.release.Record`.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> found = modicum.quantiles(np.arange(1e5), q=[0.1, 0.5], within=(-1e9, 1e9), epsilon=1)
    >>> found.labels, len(found), bool(found[0] < found[1]), found.values.flags.writeable
    ((0.1, 0.5), 2, True, False)
    >>> found.interval().lower.shape, list(found.frame()[0])
    ((2,), ['q', 'value', 'lower', 'upper'])
    """

    error_model: ArrayErrorModel
    numbers: tuple[float, ...]
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of components along each axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def values(self) -> Floats:
        """The answer as a read-only float64 array."""
        return self._shaped(np.array(self.numbers, dtype=np.float64))

    @property
    def labels(self) -> tuple[Any, ...]:
        """Public labels of the components, in the order of iteration."""
        return self.axes[0].labels

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an ArrayRelease makes a new array, so copy=False is impossible")
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.axes[0])

    def __iter__(self) -> Iterator[Any]:
        """Go through the components of the first axis: floats, or arrays if there are more axes."""
        return iter(self.values.tolist() if len(self.axes) == 1 else self.values)

    def __getitem__(self, index: Any) -> Any:
        found = self.values[index]
        return float(found) if isinstance(found, np.float64) else found

    def __float__(self) -> float:
        raise TypeError(f"{len(self.numbers)} numbers were released: take one of them, release[0]")

    def interval(self, level: float = 0.95, tail: Tail = "auto") -> Intervals:
        """Intervals for all components, which hold at once with probability ``level``.

        From released quantities only; they cost nothing. :meth:`explain` says what they assume.

        Parameters
        ----------
        level : float
            Confidence over the mechanism's randomness that all intervals hold, in (0, 1).
        tail : float, "auto" or None
            As for :meth:`Release.interval <modicum.release.Release.interval>`.

        Returns
        -------
        Intervals
            Read-only arrays ``lower`` and ``upper`` of the shape of the values.

        Raises
        ------
        InvalidArgument
            If ``level`` is not in (0, 1) or ``tail`` is not above 1.
        """
        check_confidence(level, tail)
        assumed = assumed_tail(self.error_model, level, tail)
        lower, upper = self.error_model.intervals(level, assumed)
        return Intervals(
            self._shaped(np.maximum(lower, -_LARGEST)), self._shaped(np.minimum(upper, _LARGEST))
        )

    def noise(self, level: float = 0.95) -> Floats:
        """Half of the widths that the intervals have by noise alone, with no allowance for more.

        That is half of the width of ``interval(level, tail=None)``, and infinite where that is.
        """
        check_confidence(level, None)
        lower, upper = self.error_model.intervals(level, None)
        with np.errstate(over="ignore"):
            return self._shaped((upper - lower) / 2)

    def frame(self) -> Any:
        """Return a table with a row for each component: its labels, value, lower and upper.

        The interval is that of 95 %. It is a table of the library that the data came in: pandas,
        Polars or PyArrow (for DuckDB PyArrow, or pandas). Data of any other kind get a list of
        dicts.
        """
        return native_table(self._columns(), self.engine)

    def summary(self, level: float = 0.95, tail: Tail = "auto") -> str:
        """Write a table of all components with intervals; arguments as for :meth:`interval`."""
        columns = self._columns(level, tail)
        names = [name for name in columns if name not in {"value", "lower", "upper"}]
        several = len(self.numbers) > 1
        ends = f"{100 * level:g} % interval{', simultaneous' if several else ''}"
        apart = self._apart and tail is not None
        noise = self.noise(level).ravel().tolist() if apart else ()
        rows = [(*names, "value", *(["noise"] if apart else []), ends)]
        for i in range(min(len(self.numbers), _SHOWN)):
            value, lower, upper = (columns[name][i] for name in ("value", "lower", "upper"))
            labels = [_shown(columns[name][i]) for name in names]
            by_noise = [f"± {_end(noise[i], digits=3)}"] if apart else []
            rows.append((*labels, f"{value:,.6g}", *by_noise, f"[{_end(lower)}, {_end(upper)}]"))
        wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
        lines = self._head(f"{len(self.numbers)} number{'s' * several}")
        for *cells, interval in rows:
            parts = [f"{cell:>{width}}" for cell, width in zip(cells, wide, strict=True)]
            lines.append("  " + "  ".join([*parts, interval]))
        if len(self.numbers) > _SHOWN:
            lines.append(f"  and {len(self.numbers) - _SHOWN} more: frame() has all")
        if self.error_model.condition:
            lines.append(f"  intervals      {self.error_model.condition}")
        return "\n".join([*lines, *self._terms()])

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.array/2``).

        ``values``, ``lower`` and ``upper`` are nested lists of one shape; ``axes`` is a list of
        objects, each from the name of a column to its labels. Where the summary shows the part of
        noise, ``noise`` is one more such list, as of :meth:`noise`; null stands for infinite.
        """
        lower, upper = self.interval()
        answer = {
            "axes": [
                {name: [_plain(label) for label in labels] for name, labels in axis.columns}
                for axis in self.axes
            ],
            "values": self.values.tolist(),
            "lower": lower.tolist(),
            "upper": upper.tolist(),
        }
        if self._apart:
            half = self.noise().astype(object)
            half[half == np.inf] = None
            answer["noise"] = half.tolist()
        return self._json("modicum.array/2", answer, indent)

    @property
    def _apart(self) -> bool:
        """Whether the allowance is often so much more than the noise that both are shown."""
        return bool(getattr(self.error_model, "noise_apart", False))

    def _columns(self, level: float = 0.95, tail: Tail = "auto") -> dict[str, list[Any]]:
        """Labels of every component, in C order, its value and its interval."""
        lower, upper = self.interval(level, tail)
        columns: dict[str, list[Any]] = {}
        places = list(product(*(range(size) for size in self.shape)))
        for number, axis in enumerate(self.axes):
            for name, labels in axis.columns:
                columns[name] = [labels[place[number]] for place in places]
        ends = {"lower": lower.ravel().tolist(), "upper": upper.ravel().tolist()}
        return columns | {"value": list(self.numbers)} | ends

    def _shaped(self, numbers: Floats) -> Floats:
        if numbers.size != prod(self.shape):
            raise InvalidArgument(f"{numbers.size} numbers do not fill the shape {self.shape}")
        shaped = np.array(numbers, dtype=np.float64).reshape(self.shape)
        shaped.flags.writeable = False
        return shaped

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"ArrayRelease({self.statistic} of {self._of()!r}, shape={self.shape})"


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

    statistic: str
    column: str | None
    by: str | tuple[str, ...]
    releases: Mapping[Any, Release]
    event: Event
    unit: Unit
    selection: TranscriptEntry | None
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

        Keys of several columns are in columns of their names.
        It is a table of the library that the data came in: pandas, Polars or PyArrow (for DuckDB
        PyArrow, or pandas). Data of any other kind get a list of dicts.
        """
        intervals = [release.interval() for release in self.releases.values()]
        keys: dict[str, list[Any]] = {"key": list(self.releases)}
        if isinstance(self.by, tuple):
            keys = {name: [key[place] for key in self] for place, name in enumerate(self.by)}
        columns = {
            **keys,
            "value": [release.value for release in self.releases.values()],
            "lower": [interval.lower for interval in intervals],
            "upper": [interval.upper for interval in intervals],
            "usable": [release.usable for release in self.releases.values()],
        }
        return native_table(columns, self.engine)

    def difference(self, first: Hashable, second: Hashable) -> Difference:
        """Return the answer of one group less that of another, with its intervals.

        It costs nothing: both answers are released already.

        Parameters
        ----------
        first, second : label
            Keys of two groups.

        Raises
        ------
        InvalidArgument
            If one of them is not the key of a group, or both are the same.
        """
        for key in (first, second):
            if key not in self.releases:
                raise InvalidArgument(f"there is no group {key!r} among {len(self)} groups")
        if first == second:
            raise InvalidArgument(f"the groups must be two different ones, got {first!r} twice")
        names = (_key(first), _key(second))
        releases = self.releases[first], self.releases[second]
        return Difference(self._by, (first, second), names, *releases)

    def summary(self, level: float = 0.95, tail: Tail = "auto") -> str:
        """Write a table of all groups with intervals; arguments as for :meth:`Release.interval`."""
        check_confidence(level, tail)
        of = self.column if self.column is not None else "rows"
        rows = [("key", "value", f"{100 * level:g} % interval")]
        for key, release in list(self.releases.items())[:_SHOWN]:
            lower, upper = release.interval(level, tail)
            mark = "" if release.usable else f"  not usable ({release.code})"
            rows.append((_key(key), f"{release.value:,.6g}", f"[{lower:,.6g}, {upper:,.6g}]{mark}"))
        wide = [max(len(row[place]) for row in rows) for place in (0, 1)]
        lost = sum(not release.usable for release in self.releases.values())
        lines = [
            f"{self.statistic} of {of} by {self._by}: {len(self)} group{'s' * (len(self) != 1)}"
            + (f", {lost if self.usable else 'all'} without a usable answer" if lost else "")
        ]
        lines += [f"  {key:{wide[0]}}  {value:>{wide[1]}}  {ends}" for key, value, ends in rows]
        if len(self) > _SHOWN:
            lines.append(f"  and {len(self) - _SHOWN} more: frame() has all")
        return "\n".join([*lines, *self._terms()])

    def _terms(self) -> list[str]:
        keys = "given" if self.selection is None else f"drawn, for {self.selection.event}"
        lines = [
            f"  cost     {self.event} for {self.unit}, all groups together ({NEIGHBOURS}; "
            f"swap: {self.event.swapped()})",
            f"  keys     {keys}",
            *(f"  groups   {found_groups_words(each)}" for each in self._groups_found()),
            *(view_line(each, 9) for each in self._views()),
            f"  account  {self.account}",
        ]
        steps = {release.step_words for release in self.releases.values()} - {""}
        lines += [f"  step     {words}" for words in sorted(steps)]
        notes: dict[str, list[str]] = {}
        for key, release in self.releases.items():
            if release.status != "ok":
                notes.setdefault(release.status, []).append(_key(key))
        for status, keys_of in list(notes.items())[:_NOTES]:
            more = f" and {len(keys_of) - _NAMED} more" if len(keys_of) > _NAMED else ""
            words = f"{', '.join(keys_of[:_NAMED])}{more}: {status}"
            lines.append(note_text("  note     ", words))
        if len(notes) > _NOTES:
            lines.append(f"  and {len(notes) - _NOTES} other notes, each in its release's status")
        if not all(release.private for release in self.releases.values()):
            lines.append("  WARNING  test entropy, not private")
        return lines

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

    def explain(self) -> str:
        """Describe every draw of every group."""
        parts = [str(self)]
        if self.selection is not None:
            drawn = self.selection
            parts.append(f"The keys were drawn: {drawn.mechanism}  [{drawn.event}]")
        parts += [f"{self._by} = {_key(key)}\n{each.explain()}" for key, each in self.items()]
        return "\n\n".join(parts)

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.grouped/2``).

        ``groups`` is a list, in order, of objects with ``key`` and ``release``; ``usable`` is
        whether the answer of any can be used.
        """
        json = import_module("json")
        record = {
            "schema": "modicum.grouped/2",
            "statistic": self.statistic,
            "column": self.column,
            "by": plain(self.by),
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


def _key(key: Any) -> str:
    return f"({', '.join(map(str, key))})" if isinstance(key, tuple) else str(key)


def _shown(label: Label) -> str:
    return label if isinstance(label, str) else f"{label:,.6g}"


def _end(x: float, digits: int = 6) -> str:
    """Write an end of an interval; an infinite one lies beyond the largest float."""
    return f"{x:,.{digits}g}" if abs(x) < _LARGEST else ("∞" if x > 0 else "-∞")


def _plain(label: Label) -> Label:
    """JSON has no infinite numbers."""
    return label if isinstance(label, str) or abs(label) <= _LARGEST else str(label)
