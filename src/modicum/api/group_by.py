"""Queries that a curator answers for every group of rows with one key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NoReturn, overload

from modicum.api.methods import ONE_COLUMN, GroupStatistics
from modicum.errors import InvalidArgument, a_kind, as_given, no_attribute
from modicum.privacy.budget import Budget, chosen_budget
from modicum.privacy.event import ApproxDP
from modicum.releases.array_release import ArrayRelease
from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.releases.release import Release, TranscriptEntry
from modicum.releases.several import Releases
from modicum.runtime.query import Query
from modicum.sources.keys import label_of, labels_of, read_key
from modicum.sources.types import label_kind
from modicum.summaries.base import Columns

_ELSEWHERE = {
    "where": "rows are chosen before they are grouped, curator.where('age >= 18').group_by(...)",
    "agg": "ask for one statistic, as in mean('age', epsilon=1), or for several by release(...)",
}  # of what tables have
_TYPED = 8  # keys that are listed by hand
LARGEST_DELTA = Fraction(1, 100)
"""Of a draw of keys: of a hundred persons with keys of their own one would be shown, by design."""
By = str | tuple[str, ...]
Answering = Callable[[Mapping[str, Query[Any]]], Releases[Any]]


class GroupBy(GroupStatistics):
    """Groups of the rows of a curator; made by :meth:`Curator.group_by`.

    Every query is answered for each group. A row is in one group at most, and the records of a
    person in several groups have a share of the cost each, so a query costs what it costs for one
    group, however many groups there are.

    Attributes
    ----------
    by : str or tuple of str
        The column of keys, or several.
    keys : tuple
        The keys, given or drawn; a release has them in this order.
    selection : TranscriptEntry or None
        The draw of the keys, ``None`` if they were given.

    Examples
    --------
    >>> import modicum as mo, pandas as pd
    >>> people = pd.DataFrame({"region": ["north", "south"] * 500, "age": [40.0, 50.0] * 500})
    >>> curator = mo.Curator(people, budget=mo.pure(1))
    >>> ages = curator.group_by("region", keys=["north", "south"]).mean("age", epsilon=1)
    >>> 30 < ages["north"].value < 60
    True
    """

    __slots__ = ("_answer", "by", "keys", "selection")

    def __init__(
        self,
        by: By,
        keys: tuple[Any, ...],
        selection: TranscriptEntry | None,
        answer: Answering,
    ) -> None:
        self.by = by
        self.keys = keys
        self.selection = selection
        self._answer = answer

    @overload
    def run(self, query: Query[Release]) -> GroupedRelease: ...

    @overload
    def run(self, query: Query[ArrayRelease]) -> GroupedArrayRelease: ...

    def run(self, query: Query[Any]) -> GroupedRelease | GroupedArrayRelease:
        """Answer one query made with :mod:`modicum.query` for every group.

        Parameters
        ----------
        query : Query
            About one column, or about rows.

        Returns
        -------
        GroupedRelease or GroupedArrayRelease
            For one number or several, a release for each key.

        Raises
        ------
        ModicumError
            As :meth:`release`.

        Examples
        --------
        >>> import modicum as mo, pandas as pd
        >>> table = pd.DataFrame({"region": ["N", "S"] * 500, "age": range(1000)})
        >>> groups = mo.Curator(table, budget=mo.pure(1)).group_by("region", keys=["N", "S"])
        >>> [*groups.run(mo.query.count(epsilon=1))]
        ['N', 'S']
        """
        found: GroupedRelease | GroupedArrayRelease = self.release(answer=query)["answer"]
        return found

    def release(self, **queries: Query[Any]) -> Releases[Any]:
        """Answer several queries for every group, in the passes of the slowest one.

        Parameters
        ----------
        **queries : Query
            Name each query, as for :meth:`Curator.release`; each is about one column, or about
            rows.

        Returns
        -------
        Releases
            Each answer is a :class:`GroupedRelease`, or a :class:`GroupedArrayRelease` if the query
            asks for several numbers. The queries' costs are charged once for all groups.

        Raises
        ------
        InvalidArgument
            For a query about several columns; nothing is read or charged.
        ModicumError
            As :meth:`Curator.release`.

        Examples
        --------
        >>> import modicum as mo, pandas as pd
        >>> table = pd.DataFrame({"region": ["N", "S"] * 500, "age": range(1000)})
        >>> groups = mo.Curator(table, budget=mo.pure(2)).group_by("region", keys=["N", "S"])
        >>> count, median = mo.query.count(epsilon=1), mo.query.median("age", epsilon=1)
        >>> [*groups.release(rows=count, middle=median)]
        ['rows', 'middle']
        """
        for name, query in queries.items():
            if not isinstance(query, Query):
                raise InvalidArgument(
                    f"{name}: a query is made with modicum.query, such as modicum.query.count("
                    f"epsilon=1), got {as_given(query)}"
                )
            if query.several and isinstance(query.place, Columns):
                message = ONE_COLUMN.format(name=query.statistic)
                raise InvalidArgument(f"{name}: {message}")
            if isinstance(query.place, Columns):
                raise InvalidArgument(
                    f"{name}: groups are asked about one column each, not about {query.place}: "
                    "filter the table by group, and pay for each; or divide two sums for each "
                    "group, one of a column made by with_columns(), such as product='x * w'"
                )
        return self._answer(queries)

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, _ELSEWHERE)

    def __repr__(self) -> str:
        return f"GroupBy({self.by!r}, {len(self.keys)} keys)"


def key_event(budget: Budget | None) -> ApproxDP:
    """The event of a draw of keys for a budget, which must be (ε, δ) with a positive δ.

    Without a δ, no key that one row brings in could ever be shown.
    """
    if not isinstance(budget, Budget) or not budget.approximate or not 0 < budget.delta < 1:
        raise InvalidArgument(
            "key_budget must be modicum.approx(epsilon, delta): without a δ, a key that is in the "
            f"data with few rows could never be shown, got {as_given(budget)}"
        )
    if budget.delta > LARGEST_DELTA:
        raise InvalidArgument(
            f"δ of key_budget must be {float(LARGEST_DELTA):g} at most, got "
            f"{as_given(budget)}: a key of a single row is shown with this probability; take one "
            "far below 1 / rows, such as 1e-6"
        )
    chosen_budget(None, None, budget)
    return ApproxDP(budget.amount, budget.delta)


def checked_keys(
    keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]],
    columns: Sequence[str],
    types: Sequence[str],
) -> tuple[Any, ...]:
    """Read public keys; errors depend on them and on the declared types of the columns.

    Keys of several columns are tuples, or the lists of a mapping, of which all combinations are
    keys. A mapping for one column has its list under the name of the column.
    """
    if isinstance(keys, Mapping):
        if {*keys} != {*columns}:
            raise InvalidArgument(_mapping_expected(columns))
        apart = [
            _listed_keys(keys[name], [name], [declared])
            for name, declared in zip(columns, types, strict=True)
        ]
        return apart[0] if len(apart) == 1 else tuple(product(*apart))
    return _listed_keys(keys, columns, types)


def _mapping_expected(columns: Sequence[str]) -> str:
    if len(columns) > 1:
        return f"keys must have a list for each of {list(columns)}"
    return (
        f"a mapping of keys has one list, under the name of the column: keys={{{columns[0]!r}: "
        "['a', 'b']}; if its own keys are meant, pass keys=list(mapping)"
    )


def _listed_keys(keys: object, columns: Sequence[str], types: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(keys, str | bytes | Mapping) or not isinstance(keys, Iterable):
        raise InvalidArgument(f"keys must be a list such as ['a', 'b'], got {as_given(keys)}")
    if hasattr(keys, "columns"):  # iterated, a table would be the names of its columns
        raise InvalidArgument(
            f"keys must be a list such as ['a', 'b'], got {as_given(keys)}, which is a table: pass "
            "the labels of its column, or a list of tuples for several"
        )
    index = getattr(getattr(keys, "index", None), "dtype", None)
    if index is not None and index.kind not in "iu":  # a Series is a mapping then, as of counts
        raise InvalidArgument(
            "keys must be a list such as ['a', 'b'], got a Series with labels of its own: pass "
            "list(series.index) or list(series)"
        )
    # Others than those that are listed by hand may be data, which no message shows.
    typed = isinstance(keys, list | tuple) and len(keys) <= _TYPED
    told = as_given if typed else _kind_of
    if len(columns) == 1:
        read = tuple(_checked_key(told, key, columns[0], types[0]) for key in keys)
    else:
        read = tuple(_checked_tuple(told, key, columns, types) for key in keys)
    if not read:
        raise InvalidArgument("keys is empty: name the groups, or give key_budget= to draw them")
    # Keys of one label are one. Where no type is declared, a label that is text is also found by a
    # key of that text; and a mapping of releases takes equal keys for one, such as 1, 1.0 and True.
    told_apart: list[Counter[Any]] = [Counter(read), Counter(labels_of(types, read))]
    if {*map(label_kind, types)} <= {None, "object"}:
        told_apart.append(Counter(map(str, read)))
    twice = sorted({str(key) for each in told_apart for key, n in each.items() if n > 1})
    if twice:
        which = f"there are several {twice}" if typed else "some of these are there several times"
        raise InvalidArgument(f"keys must be different, but {which}")
    return read


def _checked_tuple(
    told: Callable[[object], str], key: object, columns: Sequence[str], types: Sequence[str]
) -> tuple[Any, ...]:
    if not isinstance(key, tuple | list) or len(key) != len(columns):
        raise InvalidArgument(
            f"a key of {list(columns)} is a tuple of {len(columns)} labels, got {told(key)}; "
            "or give a list for each: keys={'column': [...], ...}"
        )
    return tuple(map(partial(_checked_key, told), key, columns, types))


def _checked_key(told: Callable[[object], str], key: object, column: str, declared: str) -> Any:
    read = read_key(key, told(key))
    label_of(declared, read, column, told(key))
    return read


def _kind_of(key: object) -> str:
    return a_kind(type(key))
