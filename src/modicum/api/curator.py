"""The curator of a data set: it reads, charges, draws and releases, in that order."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from modicum.api import methods
from modicum.api.tables.whole_table import WholeTable
from modicum.errors import InvalidArgument, WrongCall, as_given, no_attribute, says_how
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.privacy.budget import Budget
from modicum.privacy.turn import Turn
from modicum.privacy.unit import Unit
from modicum.releases import release
from modicum.releases.publishing.html import bar, card, facts, paragraph, table
from modicum.releases.several import Releases
from modicum.runtime.accounts import accountant_for
from modicum.runtime.charging import Charged, cost_of, fitted
from modicum.runtime.guard import Guard
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.sources import opening, persons, reader

if TYPE_CHECKING:
    from modicum.api.group_by import GroupBy
    from modicum.privacy.ledger.book import Ledger

R = TypeVar("R", bound=release.Record)
_ELSEWHERE = {
    **dict.fromkeys(("head", "iloc", "loc", "sample", "tail", "values"), "no row is ever shown"),
    "columns": "describe() tells what they hold",
    **dict.fromkeys(("shape", "size"), "the number of rows is a question, count(epsilon=1)"),
    "epsilon": "budget, spent and remaining",
    "filter": "where('age >= 18')",
    "query": "where('age >= 18')",
    "sql": "where('age >= 18') and group_by('region', ...); or pass what duckdb.sql(...) selects",
    "summary": "describe()",
}  # of what tables have, and what a curator has
_SHOWN = 30  # charges in a notebook
Table = Any  # anything open_source accepts; engines are never imported here


class Curator(methods.Statistics, WholeTable):
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

    @says_how(
        "Curator(table, budget=modicum.pure(1))",
        epsilon="budget=modicum.pure(1)",
        rho="budget=modicum.zcdp(1)",
        delta="budget=modicum.approx(1, '1e-6')",
        key="idempotent('key') returns the same curator for one query",
        where="where('age >= 18') of the curator chooses rows",
        seed="secret draws have no seed; a test gives entropy=",
        random_state="secret draws have no seed; a test gives entropy=",
        sheet="pass modicum.excel_file(path, sheet='2026') in place of the path",
    )
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
        accountant, protects = accountant_for(unit, budget, ledger, account)
        source = opening.open_source(table)
        persons.check_unit(source, protects)
        chosen = entropy if entropy is not None else SYSTEM
        self._guard = Guard(source, protects, accountant, chosen, Turn("a Curator"), os.getpid())

    @property
    def budget(self) -> Budget:
        """The whole budget."""
        return self._guard.accountant.budget

    @property
    def spent(self) -> Budget:
        """What has been charged so far; to the account of a ledger, by whatever process."""
        return self._guard.accountant.spent

    @property
    def remaining(self) -> Budget:
        """What is left."""
        return self._guard.accountant.budget - self._guard.accountant.spent

    @property
    def charges(self) -> tuple[Charged, ...]:
        """What was charged so far, in order: what for, in words, and its cost.

        Of an account of a ledger it is what any process charged to it.

        Examples
        --------
        >>> import modicum
        >>> curator = modicum.Curator([1.0] * 999, budget=modicum.pure(1))
        >>> release = curator.count(epsilon="0.25")
        >>> [(each.what, str(each.cost)) for each in curator.charges]
        [('count', 'ε = 0.25')]
        """
        return self._guard.accountant.charges

    def plot(self, ax: Any = None, *, most: int = 40) -> Any:
        """Draw what was charged, one below the other, and what is left of the budget.

        Nothing of the data is drawn. It needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        most : int
            How many charges are shown at most: the last ones. Those before are one bar.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InvalidArgument
            Without matplotlib, or for an argument that cannot be used.
        """
        from modicum.releases.publishing import plots

        charges, budget = self.charges, self.budget
        before = max(0, len(charges) - plots.checked_most(most))
        shown = [(each.what, float(each.cost.amount)) for each in charges[before:]]
        if before:
            earlier = sum(each.cost.amount for each in charges[:before])
            shown.insert(0, (f"{before} before", float(earlier)))
        title = f"{self.spent} spent\nof {budget} for {self._guard.unit}"
        return plots.budget(shown, float(budget.amount), ax, title, budget.symbol)

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
        return self._with(self._guard.keyed(key))

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
        from the data. Every expression is described in :doc:`/questions/rows`.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"age": [12, 34, 56, None] * 999, "cost": [1, 2, 3, 4] * 999})
        >>> curator = modicum.Curator(table, budget=modicum.pure(2))
        >>> adults = curator.where("age >= 18")
        >>> 1900 < adults.count(epsilon=1).value < 2100, curator.remaining
        (True, pure('1'))
        """
        return self._viewing(condition)

    @says_how("with_columns(bmi='weight / height ** 2')")
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
        return self._viewing(None, tuple(columns.items()))

    def _viewing(self, condition: str | None, made: tuple[tuple[str, str], ...] = ()) -> Curator:
        from modicum.sources.conditions.view import View

        return self._with(self._guard.viewing(View(condition, made)))

    def _with(self, guard: Guard) -> Curator:
        curator = object.__new__(Curator)
        curator._guard = guard
        return curator

    def run(self, query: Query[R]) -> R:
        """Answer one query made with :mod:`modicum.query`.

        Parameters
        ----------
        query : Query
            Names the statistic, the column and the cost.

        Returns
        -------
        Release or ArrayRelease
            Of the kind that the query names.

        Raises
        ------
        ModicumError
            As :meth:`release`.

        Examples
        --------
        >>> import modicum
        >>> curator = modicum.Curator([1.0] * 999, budget=modicum.pure(1))
        >>> 900 < curator.run(modicum.query.count(epsilon="0.5")).value < 1100
        True
        """
        return self.release(answer=query)["answer"]

    @says_how("release(income=modicum.query.mean('income', epsilon=1))")
    def release(self, **queries: Query[R]) -> Releases[R]:
        """Answer several queries in the passes of the slowest one.

        Parameters
        ----------
        **queries : Query[Release] or Query
            Name each query: ``release(income=modicum.query.mean("income", ...))``.

        Returns
        -------
        Releases
            A mapping of str to Release or ArrayRelease, in the order asked, each of the kind of its
            query; ``frame()`` has all in one table. The whole cost is charged at once, before the
            first draw.

        Raises
        ------
        BudgetExceeded
            If their total does not fit into what remains; nothing is read or charged.
        InvalidArgument, MissingColumn, UnsupportedData
            For bad arguments or columns; nothing is read or charged.

        Examples
        --------
        >>> import modicum as mo
        >>> curator = mo.Curator([30.0, 40.0, 50.0] * 3000, budget=mo.pure(1))
        >>> rows, age = mo.query.count(epsilon="0.2"), mo.query.mean(within=(0, 120), epsilon="0.8")
        >>> found = curator.release(rows=rows, age=age)
        >>> 39 < found["age"].value < 41, str(curator.remaining)
        (True, 'ε = 0')
        """
        guard = self._guard
        source, unit = guard.source, guard.unit
        fit = partial(fitted, source=source, kind=guard.kind, unit=unit)
        queries = {name: fit(query) for name, query in queries.items()}
        cost = cost_of(queries.values(), guard.kind)
        with guard.turn():
            pending = guard.charging(queries, unit)
            done: Mapping[str, R] | None = pending.done
            if done is not None:
                return Releases(done, cost)
            places = [reader.read_as(source, each.place, each.lattice) for each in queries.values()]
            rows = persons.TableReader(source, unit, places)
            runs = run(queries, rows, unit=unit, charge=pending.charge, entropy=guard.entropy)
            releases = {
                name: guard.released(queries[name], live, unit, pending)
                for name, live in runs.items()
            }
            return Releases(pending.commit(releases), cost)

    @says_how(
        "group_by('region', keys=['N', 'S'])",
        other='all other keys are one in a column that is made, as in with_columns(other="where('
        "region in ['N', 'S'], 0, 1)\").group_by('other', keys=[0, 1])",
    )
    def group_by(
        self,
        by: str,
        *more: str,
        keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None,
        key_budget: Budget | None = None,
        max_groups: int | None = None,
        pooled: bool | Literal["auto"] = "auto",
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
            combinations are keys; any other dict is refused.
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
            of the cost, as a number that a small part of the persons exceed; what is ``pooled``
            needs none, and keys that are drawn count each person for one of them. A unit
            with ``combine`` needs it.
        pooled : bool or "auto"
            Whether means share what is alike: with a part of the cost, 10 to 20 % mostly, all
            groups together find clipping bounds for groups of every size, and each mean is moved
            towards that of all groups as far as its noise is large beside their differences. A
            group of some 300 rows or more that is not like the others finds its own bounds.
            ``"auto"``: for 30 groups or more, and k times as many if a person may be in k of them
            with a record each, unless the rows stay on a cluster, where it cannot be done. Where
            all rows of a person count, a person is one vector over all groups, and these find how
            long it may be, whatever the number of groups; ``max_groups`` rules that out. So do
            sums and counts, of which each group has its own value, and for 10 groups or more. A
            release of a group has the mean before it was moved as ``unshrunk``.

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
        from modicum.api import group_answers as groups

        return groups.group_by(self._guard, (by, *more), keys, key_budget, max_groups, pooled)

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> NoReturn:
            guard = self.__dict__.get("_guard")
            if guard is not None and name in guard.source.names:
                raise AttributeError(
                    f"ask for a statistic of the column: mean({name!r}, epsilon=1)"
                )
            raise no_attribute(self, name, _ELSEWHERE)

        def __getitem__(self, name: object) -> NoReturn:
            if not isinstance(name, str):
                raise WrongCall(
                    "rows are chosen by a condition that is text, such as where('age >= 18'), and "
                    f"columns by their names, got {as_given(name)}"
                )
            raise WrongCall(f"ask for a statistic of the column: mean({name!r}, epsilon=1)")

        __iter__ = None  # or rows would be sought by their numbers

    def __repr__(self) -> str:
        guard = self._guard
        return f"Curator({guard.source.engine} data, unit={guard.unit}, {guard.accountant})"

    def _repr_html_(self) -> str:
        """What a notebook shows: public names and amounts, and never data."""
        guard, charges = self._guard, self.charges
        budget, spent, left = self.budget, self.spent, self.remaining
        names = ", ".join(guard.source.names)
        said = [
            ("data", guard.source.engine),
            ("protects", str(guard.unit)),
            ("budget", str(budget)),
            ("spent", str(spent)),
            ("left", str(left)),
            ("columns", names if guard.source.named else f"{len(guard.source.names)}, not shown"),
            *((name, words) for name, _, words in (each.partition(" ") for each in guard.views)),
        ]
        share = float(left.amount / budget.amount)
        if budget.delta:
            share = min(share, float(left.delta / budget.delta))
        before = len(charges) - _SHOWN
        rows = [[each.what, str(each.cost)] for each in charges[-_SHOWN:]]
        return card(
            "Curator",
            facts((name, words) for name, words in said if words),
            bar(share, f"{100 * share:.3g} % of the budget is left"),
            table(["asked", "cost"], rows, labels=1) if rows else "",
            paragraph(f"and {before:,} before: charges has all") if before > 0 else "",
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Curator cannot be pickled or copied: it guards data and a budget")

    __copy__ = __deepcopy__ = None
