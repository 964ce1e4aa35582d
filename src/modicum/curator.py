"""The curator of a data set: it reads, charges, draws and releases, in that order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from modicum.charging import (
    PendingCharge,
    accountant_for,
    checked_key,
    cost_of,
    fitted,
    query_text,
)
from modicum.description import Asked, Description
from modicum.errors import InvalidArgument, no_attribute
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.group_by import GroupBy, checked_keys, key_event
from modicum.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.mechanisms.partition_selection import KeySelection
from modicum.methods import Statistics
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import ApproxDP, Event, PureDP
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit
from modicum.release import Record, TranscriptEntry, plain
from modicum.runtime.query import Query
from modicum.runtime.run import Before, LiveRun, row_costs, run, run_before, run_groups
from modicum.runtime.steps import Steps
from modicum.sources.base import Source, open_source
from modicum.sources.groups import check_groups, count_keys, reader_of_groups, reader_of_sizes
from modicum.sources.persons import TableReader, check_unit
from modicum.sources.reader import check_column, read_as
from modicum.sources.views import View, view_of
from modicum.statistics.persons import find_groups
from modicum.version import VERSION

R = TypeVar("R", bound=Record)
Table = Any  # anything open_source accepts; engines are never imported here


class Curator(Statistics):
    """Guards one data set with one budget.

    Parameters
    ----------
    table : table, array or path
        A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
        series, or the path of a Parquet or CSV file. It is only read for a query.
    unit : Unit
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    budget : Budget
        Everything this curator may ever spend: :func:`modicum.pure`, ``zcdp`` or ``approx``.
        There is no default. It ends with the process; for a budget that does not, give a ledger.
    ledger : str or Ledger
        In place of ``budget``: the URL of a :class:`modicum.Ledger`, such as
        ``"sqlite:///budget.db"``.
    account : str
        The account of the ledger that is charged. It says who is protected; a ``unit`` that is
        given too has to be the same.
    entropy : Entropy, optional
        For tests only: releases made with it say that they are not private.

    Notes
    -----
    Safe to share between threads: one query is answered at a time. It refuses to be pickled,
    copied or used in a forked child, where its budget would be spent twice.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> curator = modicum.Curator(np.arange(1000.0), budget=modicum.pure("3"))
    >>> release = curator.mean(within=(-1e6, 1e6), epsilon=1)
    >>> curator.remaining
    pure('2')
    """

    def __init__(
        self,
        table: Table,
        *,
        unit: Unit | None = None,
        budget: Budget | None = None,
        ledger: Ledger | str | None = None,
        account: str | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        self._accountant, self._unit = accountant_for(unit, budget, ledger, account)
        self._kind = self._accountant.budget.kind
        self._key: str | None = None
        self._source = open_source(table)
        check_unit(self._source, self._unit)
        self._entropy = entropy if entropy is not None else SYSTEM
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def budget(self) -> Budget:
        """The whole budget."""
        return self._accountant.budget

    @property
    def spent(self) -> Budget:
        """What has been charged so far; to the account of a ledger, by whatever process."""
        return self._accountant.spent

    @property
    def remaining(self) -> Budget:
        """What is left."""
        return self._accountant.budget - self._accountant.spent

    def idempotent(self, key: str) -> Curator:
        """Return the same curator for one query, which is answered once whatever happens.

        The first answer is recorded in the ledger under the key. The same query with
        the same key, in this process or another, gets that answer again: nothing is read, drawn
        or charged. If a process ended after the charge and before its answer was recorded,
        the next one draws on the same charge.

        Parameters
        ----------
        key : str
            For example ``"2026-11-21 mean income"``. It belongs to the query's arguments, not
            to the data: give tonight's data tonight's key.

        Raises
        ------
        InvalidArgument
            If the curator has no ledger.

        Notes
        -----
        :class:`KeyReusedError` is raised by a query with other arguments than those that the key
        was charged for. The draw of a group's keys has its own key, made of this one.

        Examples
        --------
        >>> import modicum, tempfile
        >>> url = f"sqlite:///{tempfile.mkdtemp()}/budget.db"
        >>> account = modicum.Ledger.create(url).open_account("visits", modicum.pure(1))
        >>> curator = modicum.Curator([1.0] * 999, ledger=url, account="visits")
        >>> first, again = (curator.idempotent("Monday").count(epsilon="0.5") for _ in range(2))
        >>> first == again, curator.remaining
        (True, pure('0.5'))
        """
        keyed = object.__new__(Curator)
        keyed.__dict__.update(self.__dict__, _key=checked_key(self._accountant, key))
        return keyed

    def where(self, condition: str) -> Curator:
        """Return a curator of the rows for which a condition is true, with the same budget.

        Parameters
        ----------
        condition : str
            Such as ``"age >= 18 and region in ['North', 'South']"``. It is made of columns,
            numbers, texts, ``+ - * / // % **``, comparisons, ``and``, ``or``, ``not``, ``in`` and
            functions such as ``missing(x)``; it is parsed, and never run as Python. A column whose
            name is not a plain word is written ``col('its name')``.

        Returns
        -------
        Curator
            It answers as this one does, and charges the same budget: queries to both add up.

        Raises
        ------
        InvalidArgument, MissingColumn, UnsupportedData
            For what is no condition, or does not fit the declared types. Nothing is read.

        Notes
        -----
        A comparison with a missing value is missing, as in SQL, and such rows are left out. No
        value can make it fail: a division by zero, or the logarithm of what is not positive, is
        missing. The condition is public, and printed on every release: do not write what you learnt
        from the data. Every expression is described in :doc:`/howto-rows`.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"age": [12, 34, 56, None] * 999, "cost": [1, 2, 3, 4] * 999})
        >>> curator = modicum.Curator(table, budget=modicum.pure(2))
        >>> adults = curator.where("age >= 18")
        >>> 1900 < adults.count(epsilon=1).value < 2100, curator.remaining
        (True, pure('1'))
        """
        return self._viewing(View(condition))

    def with_columns(self, **columns: str) -> Curator:
        """Return a curator of the table with more columns, made of its own, with the same budget.

        Parameters
        ----------
        **columns : str
            Name and expression, such as ``bmi="weight / height ** 2"``. Expressions are those of
            :meth:`where`, and all read the table as it was: a column of the same name is replaced.
            What is true is 1, what is false 0. A column that is made holds numbers, by which rows
            can be grouped too.

        Returns
        -------
        Curator
            As :meth:`where` does.

        Raises
        ------
        InvalidArgument, MissingColumn, UnsupportedData
            As for :meth:`where`; also for a column that says whose a row is.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"weight": [60, 75] * 2000, "height": [1.6, 1.8] * 2000})
        >>> curator = modicum.Curator(table, budget=modicum.pure(1))
        >>> release = curator.with_columns(bmi="weight / height ** 2").mean("bmi", epsilon=1)
        >>> 22 < release.value < 25, release.view
        (True, ('with bmi = weight / height ** 2',))
        """
        if not columns:
            raise InvalidArgument("with_columns() needs a column, such as bmi='kg / m ** 2'")
        return self._viewing(View(None, tuple(columns.items())))

    def _viewing(self, view: View) -> Curator:
        curator = object.__new__(Curator)
        source = view_of(self._source, view, self._unit)
        curator.__dict__.update(self.__dict__, _source=source)
        return curator

    @property
    def _told(self) -> dict[str, object]:
        """[view.3] What a query's text says of the table: releases of all views add up."""
        views = [str(each) for each in self._source.views]
        return {"view": views} if views else {}

    def run(self, query: Query[R]) -> R:
        """Answer one query made with :mod:`modicum.query`."""
        return self.release(answer=query)["answer"]

    def release(self, **queries: Query[R]) -> Mapping[str, R]:
        """Answer several queries in the passes of the slowest one.

        Parameters
        ----------
        **queries : Query[Release] or Query
            Name each query: ``release(income=modicum.query.mean("income", ...))``.

        Returns
        -------
        mapping of str to Release or ArrayRelease
            In the order asked, each of the kind of its query. The whole cost is charged at
            once, before the first draw.

        Raises
        ------
        BudgetExceeded
            If their total does not fit into what remains; nothing is read or charged.
        InvalidArgument, MissingColumn, UnsupportedData
            For bad arguments or columns; nothing is read or charged.
        """
        fit = partial(fitted, source=self._source, kind=self._kind, unit=self._unit)
        queries = {name: fit(query) for name, query in queries.items()}
        with self._charging(queries, self._unit) as pending:
            done: Mapping[str, R] | None = pending.done
            if done is not None:
                return done
            places = [read_as(self._source, each.place, each.lattice) for each in queries.values()]
            rows = TableReader(self._source, self._unit, places)
            runs = run(queries, rows, unit=self._unit, charge=pending.charge, entropy=self._entropy)
            releases = {
                name: self._release(queries[name], live, self._unit, pending)
                for name, live in runs.items()
            }
            return pending.commit(releases)

    def describe(
        self,
        columns: Sequence[str] | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> Description:
        """Describe all columns of a table: values, missing ones, means, quartiles, frequent labels.

        Parameters
        ----------
        columns : list of str, optional
            Which columns; by default all but those that say whose a row is.
        epsilon, rho : number, optional
            What all of it costs, in pure ε or in ρ; the columns share it.
        budget : Budget, optional
            In place of both. From :func:`modicum.approx` labels are described too: which of them
            are shown is drawn, for all of the δ, as by ``group_by(..., key_budget=...)``.

        Returns
        -------
        Description
            Printed it is a table; ``frame()`` has every number with its interval.

        Raises
        ------
        BudgetExceeded
            Nothing is read or charged.
        InvalidArgument, MissingColumn
            For names that are no columns, or if none can be described.

        Notes
        -----
        Counts and quartiles are one release; means, in the ranges that these found, are another;
        and each column of labels is two more. In a CSV file, where nothing is declared, every
        column is read as numbers.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"age": [23, 45, 67] * 3000, "region": ["N", "S", "S"] * 3000})
        >>> curator = modicum.Curator(table, budget=modicum.approx(2, "1e-6"))
        >>> found = curator.describe(budget=modicum.approx(2, "1e-6"))
        >>> list(found.labels["region"]), 40 < found.numbers["mean age"].value < 50
        (['N', 'S'], True)
        """
        cost = chosen_budget(epsilon, rho, budget)
        asked = Asked.of(self._source, self._unit, columns, cost)
        if self._key is None:
            self._accountant.pending(cost, "", None)  # it has to hold all of it
        numbers = self.release(**asked.queries)
        if means := asked.means_in(numbers):
            numbers = {**numbers, **self._part("means").release(**means)}
        labels = {
            name: self._part(f"labels of {name}")
            .group_by(name, key_budget=keys)
            .count(budget=counts)
            for name, (keys, counts) in asked.labels.items()
        }
        return Description(numbers, labels, asked.numbers, asked.skipped, cost)

    def _part(self, name: str) -> Curator:
        """The same curator, with a key of its own for a part of an answer if there is one."""
        return self if self._key is None else self.idempotent(f"{self._key} ({name})")

    def group_by(
        self,
        by: str,
        *more: str,
        keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None,
        key_budget: Budget | None = None,
        max_groups: int | None = None,
    ) -> GroupBy:
        """Answer queries for every group of rows that have the same key in a column, or in several.

        A row is in one group at most, so a query costs what it costs for one group, however
        many groups there are.

        Parameters
        ----------
        by : str
            The column of keys: text, integers, booleans, dates, times or categories.
        *more : str
            Further columns: a key is then a tuple, such as ``("North", 2026)``.
        keys : list or dict, optional
            Public keys, from a code book and not from the data. Each gets a release, in this
            order, even if no row has it; rows with other keys, or none, are left out. For several
            columns a list of tuples, or a dict with a list for each column, of which all
            combinations are keys.
        key_budget : Budget, optional
            In place of ``keys``: draw which keys are shown, for this (ε, δ),
            :func:`modicum.approx`. It is charged at once and in addition to all queries. A key
            is shown for sure only if it has many rows, about ln(1/δ) 2/ε of them; one with a
            single row is shown with probability δ. It needs a curator with a budget of kind
            ``"approx"``.
        max_groups : int, optional
            For a unit that names persons, without ``max_rows``: the most groups in which one person
            counts. A person's other groups are dropped, at random, anew for every query. A record
            in each of k groups is drawn with ε/k (ρ/k). By default it is found, with some percent
            of the cost, as a number that a small part of the persons exceed; a unit with
            ``combine`` needs it.

        Returns
        -------
        GroupBy
            It has the curator's methods for statistics of one column, and ``release``; each
            release is a :class:`GroupedRelease`, of several numbers (``quantiles``,
            ``histogram``, ``cdf``) a :class:`GroupedArrayRelease`.

        Raises
        ------
        InvalidArgument
            Unless exactly one of ``keys`` and ``key_budget`` is given; if keys are not different
            or cannot be in the column; if ``key_budget`` is not (ε, δ) or cannot be charged here;
            if a unit with ``combine`` lacks ``max_groups``, or one of rows has it; if a column of
            keys says whose a row is.
        BudgetExceeded, MissingColumn, UnsupportedData
            Nothing is read or charged.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"firm": ["a", "b", "b"] * 999, "wage": [10, 20, 30] * 999})
        >>> curator = modicum.Curator(table, budget=modicum.approx(2, "1e-6"))
        >>> given = curator.group_by("firm", keys=["a", "b", "c"])
        >>> 900 < given.count(epsilon=1)["a"].value < 1100
        True
        >>> curator.group_by("firm", key_budget=modicum.approx(1, "1e-6")).keys
        ('a', 'b')
        """
        for name in (by, *more):
            if not isinstance(name, str):
                raise InvalidArgument(f"by must be a column name, got {type(name).__name__}")
        if more:
            view = View(None, (), (by, *more))
            return self._viewing(view).group_by(
                str(view.joint), keys=keys, key_budget=key_budget, max_groups=max_groups
            )
        columns = self._source.joined or (by,)
        if (keys is None) == (key_budget is None):
            raise InvalidArgument(
                "give either keys=[...], known beforehand, or key_budget=modicum.approx(...), for "
                "which they are drawn"
            )
        kinds = check_groups(self._source, self._unit, columns, max_groups)
        unit = self._unit if max_groups is None else self._unit.in_groups(max_groups)
        selection: TranscriptEntry | None = None
        most = max_groups
        if keys is not None:
            chosen = checked_keys(keys, columns, kinds)
        else:
            selection = self._draw_keys(by, key_event(key_budget), unit, find=self._finds(most))
            chosen = tuple(selection.outcome)  # type: ignore[arg-type]
            most = selection.parameters.get("most groups", most)  # type: ignore[assignment]
        if most is not None:
            unit = unit.in_groups(max(1, min(most, len(chosen))))  # keys are public by now
        answer = partial(self._answer_groups, by, chosen, selection, unit, find=self._finds(most))
        return GroupBy(self._source.joined or by, chosen, selection, answer)

    def _finds(self, max_groups: int | None) -> bool:
        """Whether it is to be found in how many groups a person may count."""
        return self._unit.whole and max_groups is None

    def _draw_keys(self, by: str, event: ApproxDP, unit: Unit, *, find: bool) -> TranscriptEntry:
        """Charge for the keys of a column, and draw them [groups.12]."""
        self._check_process()
        with self._lock:
            key = None if self._key is None else f"{self._key} (keys of {by})"
            finds = {"finds": "groups"} if find else {}
            told = {**self._told, "keys_of": by, "event": repr(event), **finds}
            query = query_text({}, unit, **told)
            pending = self._accountant.pending(event.cost(self._kind), query, key)
            done: TranscriptEntry | None = pending.done
            if done is not None:
                return done
            charge, left, more = pending.charge, event, {}
            if find:  # [people.13]
                whole = PureDP(event.epsilon)
                steps = find_groups(whole, None, lambda *_: None)  # any ε will do for keys
                before = self._found_groups(steps, whole, unit, by, None, charge)
                unit, charge = unit.in_groups(before.found), _nothing
                left = replace(event, epsilon=event.epsilon * before.left)
                more = {"most groups": before.found}
            counts = count_keys(self._source, unit, by, self._entropy)
            charge()
            row = unit.per_row(left)
            mechanism = KeySelection(counts, row.epsilon, row.delta)
            parameters = {name: plain(value) for name, value in mechanism.public().items()} | more
            drawn = mechanism.sample(self._entropy)
            return pending.commit(
                TranscriptEntry("keys", "KeySelection", parameters, drawn, "", event)
            )

    def _found_groups(
        self,
        steps: Steps[int],
        event: Event,
        unit: Unit,
        by: str,
        keys: Sequence[Hashable] | None,
        charge: Callable[[], None],
    ) -> Before:
        """Charge, and find in how many groups a person may count, with a part of an event."""
        reader = reader_of_sizes(self._source, unit, by, keys)
        return run_before(steps, event, reader, charge=charge, entropy=self._entropy)

    def _find_groups(
        self,
        queries: Mapping[str, Query[Any]],
        unit: Unit,
        by: str,
        keys: Sequence[Hashable],
        charge: Callable[[], None],
    ) -> tuple[str, Before]:
        """Find in how many groups a person may count, from the cost of the largest query."""
        name = max(queries, key=lambda each: queries[each].event.cost(self._kind).amount)

        def fits(number: int, least: Fraction) -> None:
            for which, cost in row_costs(queries, unit.in_groups(number), {name: least}).items():
                steps = queries[which].begin(cost)
                next(steps)
                steps.close()

        event = queries[name].allowance
        steps = find_groups(event, len(keys), fits)
        return name, self._found_groups(steps, event, unit, by, keys, charge)

    def _answer_groups(
        self,
        by: str,
        keys: tuple[Hashable, ...],
        selection: TranscriptEntry | None,
        unit: Unit,
        queries: Mapping[str, Query[Any]],
        *,
        find: bool,
    ) -> Mapping[str, Any]:
        queries = {name: query.for_unit(unit) for name, query in queries.items()}
        find = find and len(keys) > 1
        told: dict[str, object] = {"finds": "groups"} if find else {}
        asked = {"by": by, "keys": [repr(key) for key in keys], **told}
        with self._charging(queries, unit, **asked) as pending:
            done: Mapping[str, Any] | None = pending.done
            if done is not None:
                return done
            charge, before, parts, payer = pending.charge, None, {}, None
            if find:  # [people.13]
                payer, before = self._find_groups(queries, unit, by, keys, charge)
                unit, charge = unit.in_groups(before.found), _nothing
                parts = {payer: before.left}
            columns = [read_as(self._source, q.column, q.lattice) for q in queries.values()]
            groups = run_groups(
                queries,
                len(keys),
                reader_of_groups(self._source, unit, by, keys, columns),
                unit=unit,
                charge=charge,
                entropy=self._entropy,
                parts=parts,
            )
            if before is not None and payer is not None:
                for runs in groups:
                    runs[payer].transcript[:0] = before.transcript
            found = before and before.found
            grouped = {
                name: (GroupedArrayRelease if query.several else GroupedRelease)(
                    statistic=query.statistic,
                    column=query.column,
                    by=self._source.joined or by,
                    releases={
                        key: self._release(query, runs[name], unit, pending, found)
                        for key, runs in zip(keys, groups, strict=True)
                    },
                    event=query.event,
                    unit=unit,
                    selection=selection,
                    engine=self._source.engine,
                    account=pending.account,
                )
                for name, query in queries.items()
            }
            return pending.commit(grouped)

    @contextmanager
    def _charging(
        self, queries: Mapping[str, Query[Any]], unit: Unit, **more: object
    ) -> Iterator[PendingCharge]:
        """Check queries, and hold the lock while they are answered; yield the charge for all."""
        if not queries:
            raise InvalidArgument("release() needs at least one query")
        self._check_process()  # before the lock: a fork may have copied it locked
        with self._lock:
            cost = cost_of(queries.values(), self._kind)
            text = query_text(queries, unit, **self._told, **more)
            pending = self._accountant.pending(cost, text, self._key)
            for query in queries.values():
                check_column(self._source, query.place, query.lattice)
            yield pending

    def _release(
        self,
        query: Query[R],
        live: LiveRun,
        unit: Unit,
        pending: PendingCharge,
        groups: int | None = None,
    ) -> R:
        source, entropy = self._source, self._entropy
        return recorded(query, live, source, unit, pending.account, entropy, groups)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise InvalidArgument(
                "a Curator cannot be used in a forked process: its budget would be spent twice"
            )

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> NoReturn:
            source = self.__dict__.get("_source")
            if source is not None and name in source.names:
                raise AttributeError(f"ask for a statistic of the column: mean({name!r}, ...)")
            raise no_attribute(self, name)

    def __repr__(self) -> str:
        return f"Curator({self._source.engine} data, unit={self._unit}, {self._accountant})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Curator cannot be pickled or copied: it guards data and a budget")

    __copy__ = __deepcopy__ = None


def _nothing() -> None:
    """What is left to charge after the first draw."""


def recorded(
    query: Query[R],
    live: LiveRun,
    source: Source,
    unit: Unit,
    account: str,
    entropy: Entropy,
    groups: int | None = None,
) -> R:
    """Return the release of a query's run, with the circumstances of the run."""
    assert live.answer is not None
    release: R = live.answer.released(
        statistic=query.statistic,
        column=query.column,
        event=query.event,
        unit=unit,
        lattice=live.answer.lattice or query.lattice,
        ranged=query.ranged,
        found=live.answer.lattice is not None,
        limit=live.answer.limit,
        groups_found=groups,
        population=query.population,
        method=live.answer.method or query.method,
        transcript=tuple(live.transcript),
        engine=source.engine,
        view=tuple(map(str, source.views)),
        account=account,
        private=entropy.secret,
        version=VERSION,
    )
    return release
