"""Questions about a whole table: the methods of a curator that are more than one statistic.

The chapters that answer them are imported when the first such question is asked.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from modicum import errors
from modicum import query as ask
from modicum.privacy.budget import Budget, Number, chosen_budget

if TYPE_CHECKING:
    from modicum.api.tables.description import Description
    from modicum.api.tables.table_release import Crosstab, ValueCounts
    from modicum.releases.counts_file import CountsFile
    from modicum.releases.release import Release
    from modicum.runtime.guard import Guard
    from modicum.runtime.query import Query


_ELSEWHERE = {
    "delta": "an (ε, δ) cost is budget=modicum.approx(1, '1e-6')",
    "where": "rows are chosen by where('age >= 18') of the curator",
}  # of arguments that others have


class WholeTable:
    """The methods of a curator that describe, cross and count a whole table."""

    __slots__ = ()

    if TYPE_CHECKING:
        _guard: Guard

        def idempotent(self, key: str) -> WholeTable: ...

        def release(self, **queries: Query[Any]) -> Mapping[str, Any]: ...

        def group_by(self, by: str, *, key_budget: Budget | None = None) -> Any: ...

    @errors.says_how("describe(['age', 'income'], epsilon=1)", **_ELSEWHERE)
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
        from modicum.api.tables import description as tables

        asked = tables.Asked.of(self._guard.source, self._guard.unit, columns, cost)
        if self._guard.key is None:
            whole = asked.cost(self._guard.kind)
            self._guard.accountant.pending(whole, "", None)  # it has to hold all of it
        numbers = self.release(**asked.queries)
        if means := asked.means_in(numbers):
            numbers = {**numbers, **self._part("means").release(**means)}
        labels = {
            name: self._part(f"labels of {name}")
            .group_by(name, key_budget=keys)
            .count(budget=counts)
            for name, (keys, counts) in asked.labels.items()
        }
        found: Description = tables.Description(numbers, labels, asked.numbers, asked.skipped, cost)
        return found

    def _part(self, name: str) -> WholeTable:
        """The same curator, with a key of its own for a part of an answer if there is one."""
        return self if self._guard.key is None else self.idempotent(f"{self._guard.key} ({name})")

    @errors.says_how(
        "crosstab('region', 'sex', keys={'region': [...], ...}, epsilon=1)", **_ELSEWHERE
    )
    def crosstab(
        self,
        by: str,
        *more: str,
        keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None,
        key_budget: Budget | None = None,
        values: str | None = None,
        within: tuple[float, float] | None = None,
        step: float | None = None,
        margins: bool | Sequence[Sequence[str]] = True,
        max_groups: int | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> Crosstab:
        """Count rows, or sum a column, for all combinations of labels, with margins that add up.

        Parameters
        ----------
        by, *more : str
            The columns of labels, one or more.
        keys : dict or list, optional
            Public labels, from a code book and not from the data: a dict with a list for each
            column, of which all combinations are cells, or a list of tuples, the cells that there
            can be; of one column, a list, or a dict with one. Rows with other labels, or none, are
            in no number.
        key_budget : Budget, optional
            In place of ``keys``: draw the labels of each column, for this (ε, δ) together, as
            :meth:`group_by` does. All combinations of them are cells.
        values : str, optional
            A column to sum, between bounds that are found for all cells together. Without it rows
            are counted.
        within, step : optional
            A public range of the values, and what they are rounded to, as for :meth:`sum`; without
            it, it is found.
        margins : bool or list of tuples
            ``True``: a margin for each column, and the total. ``False``: none. Or which columns
            each margin keeps, as in ``[("country",), ("country", "region"), ()]``: ``()`` is the
            total.
        max_groups : int, optional
            For a unit that names persons: the most cells in which one person counts, as for
            :meth:`group_by`.
        epsilon, rho, budget
            What the whole table costs, as for :meth:`count`. It is shared between cells and
            margins so that the squared errors of all numbers add up to the least: in ρ most
            margins get a share, in pure ε those of large tables.

        Returns
        -------
        Crosstab
            Cells, margins and total, which add up to the digit; counts are integers. Each has an
            interval, and is kept as it was before it was adjusted. Printed it is a table.

        Raises
        ------
        InvalidArgument, MissingColumn, UnsupportedData
            For keys or columns as :meth:`group_by`, for margins that are not subsets of the
            columns, and for what :meth:`sum` refuses. Nothing is read or charged.
        BudgetExceeded
            Nothing is read or charged.

        Notes
        -----
        Adjusted numbers are not cut at 0, which would bias all sums: a cell that is nearly empty
        may be released as -2. A person with rows in several cells is in each of them once, as the
        unit says, and so several times in the total.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"region": ["N", "S", "S"] * 999, "sex": ["f", "f", "m"] * 999})
        >>> curator = modicum.Curator(table, budget=modicum.zcdp(1))
        >>> labels = {"region": ["N", "S"], "sex": ["f", "m"]}
        >>> found = curator.crosstab("region", "sex", keys=labels, rho="0.5")
        >>> sum(each.value for each in found.numbers().values()) == found.total.value
        True
        """
        cost = chosen_budget(epsilon, rho, budget)
        if values is None and (within is not None or step is not None):
            raise errors.InvalidArgument("within= and step= are for values=, the column to sum")
        summed = None
        if values is not None:
            summed = ask.sum(values, within=within, step=step, budget=cost)
        columns = (by, *more)
        from modicum.api.tables import crosstab as tables

        return tables.crosstab(
            self._guard, columns, keys, key_budget, summed, margins, max_groups, cost
        )

    @errors.says_how("value_counts('region', keys=['N', 'S'], epsilon=1)", **_ELSEWHERE)
    def value_counts(
        self,
        column: str,
        *,
        keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None,
        key_budget: Budget | None = None,
        max_groups: int | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> ValueCounts:
        """Count the labels of a column, the most frequent first, with their shares.

        Parameters
        ----------
        column : str
            The column of labels: text, integers, booleans, dates, times or categories.
        keys : list, optional
            Public labels, from a code book and not from the data. Each is counted, even if no row
            has it. A dict has the list under the name of the column.
        key_budget, max_groups
            As for :meth:`group_by`: draw which labels are shown, frequent ones for sure; and the
            most labels with which one person counts.
        epsilon, rho, budget
            What all counts cost together, as for :meth:`count`.

        Returns
        -------
        ValueCounts
            A :class:`Crosstab` of one column; ``shares()`` are among the rows that have one of the
            labels.

        Raises
        ------
        InvalidArgument, MissingColumn, UnsupportedData, BudgetExceeded
            As :meth:`crosstab` does; nothing is read or charged.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"origin": ["JFK", "LGA", "JFK"] * 999})
        >>> curator = modicum.Curator(table, budget=modicum.approx(2, "1e-6"))
        >>> found = curator.value_counts("origin", key_budget=modicum.approx(1, "1e-6"), epsilon=1)
        >>> found.keys, found["JFK"] + found["LGA"] == found.total.value
        (('JFK', 'LGA'), True)
        """
        cost = chosen_budget(epsilon, rho, budget)
        from modicum.api.tables import crosstab as tables

        found = tables.crosstab(
            self._guard, [column], keys, key_budget, None, True, max_groups, cost, ranked=True
        )
        return cast("ValueCounts", found)

    @errors.says_how("n_distinct('region', epsilon=1)", **_ELSEWHERE)
    def n_distinct(
        self,
        column: str,
        *,
        max_groups: int | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> Release:
        """Count the different labels of a column; of the column of persons, the persons.

        Parameters
        ----------
        column : str
            The column of labels: text, integers, booleans, dates, times or categories.
        max_groups : int, optional
            For a unit that names persons, without ``max_rows``: the most labels with which one
            person counts; others of a person are dropped, at random. It is not needed for the
            column of persons itself, of which a person is one label.
        epsilon, rho, budget
            What it costs, as for :meth:`count`.

        Returns
        -------
        Release
            The exact number of labels and noise: one row brings in one label at most, so the noise
            is that of a count. A missing label is none.

        Raises
        ------
        InvalidArgument
            If a person might have any number of labels; see ``max_groups``.
        MissingColumn, UnsupportedData, BudgetExceeded
            Nothing is read or charged.

        Notes
        -----
        All labels are held in memory while they are counted, some 100 bytes each: ten million take
        about a gigabyte. With ``max_rows`` the labels of the rows that are kept are counted.

        Examples
        --------
        >>> import pandas as pd, modicum
        >>> table = pd.DataFrame({"person": list(range(500)) * 2, "city": ["A", "B"] * 500})
        >>> curator = modicum.Curator(
        ...     table, unit=modicum.unit_of("person"), budget=modicum.pure(1)
        ... )
        >>> 480 < curator.n_distinct("person", epsilon=1).value < 520
        True
        """
        cost = chosen_budget(epsilon, rho, budget)
        from modicum.api.tables import distinct as tables

        return tables.n_distinct(self._guard, column, max_groups, cost)

    @errors.says_how("count_to('counts.parquet', 'page', keys=pages, epsilon=1)", **_ELSEWHERE)
    def count_to(
        self,
        path: str | os.PathLike[str],
        by: str,
        *more: str,
        keys: Any = None,
        key_budget: Budget | None = None,
        at_least: int | None = None,
        level: float = 0.95,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> CountsFile:
        """Count the rows of very many keys, and write the counts to a Parquet file.

        Prefer it to ``group_by(...).count(...)`` from some hundred thousand keys on: a hundred
        million take minutes and no object each. All keys together cost what one costs.

        Parameters
        ----------
        path : str or path
            The file, which must not be there yet; its name ends in ``.parquet``. It has the columns
            of the key, ``value``, ``lower`` and ``upper``. It appears when it is whole.
        by : str
            The column of keys: integers, text, booleans, dates, times or categories.
        *more : str
            Further columns of the key.
        keys : table or path, optional
            A table with a row for each public key, in columns of the same names: Parquet, a DuckDB
            relation, or a PyArrow, pandas or Polars table. Each gets a count, in this order, even
            if no row has it; rows with other keys are left out.
        key_budget : Budget, optional
            In place of ``keys``: draw which keys are shown, for this (ε, δ), as in
            :meth:`group_by`. It is charged in addition to the counts, together with them. The file
            is ordered by key.
        at_least : int, optional
            Leave out the rows whose value is smaller: a rule on released numbers, which costs
            nothing.
        level : float
            Confidence of the interval from ``lower`` to ``upper``, for each count alone.
        epsilon, rho : number, optional
            What all counts cost together, in pure ε or in ρ.
        budget : Budget, optional
            In place of both.

        Returns
        -------
        CountsFile
            Where the file is, and what holds for all of its rows.

        Raises
        ------
        InvalidArgument
            Unless exactly one of ``keys`` and ``key_budget`` is given (neither for a complete table
            of counts); if the file is there, or its folder is not; if keys are not different; for a
            unit that names persons; without PyArrow.
        BudgetExceeded, MissingColumn, UnsupportedData
            Nothing is read or charged.

        Notes
        -----
        A table that holds counts already, one row for each key, is passed to the curator as
        :func:`modicum.counted`. A value is a count plus noise and may be negative, so that sums of
        values are unbiased; the ends are cut at 0.

        Examples
        --------
        >>> import pandas as pd, modicum, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> views = pd.DataFrame({"page": [1, 2, 2] * 1000})
        >>> curator = modicum.Curator(views, budget=modicum.pure(1))
        >>> pages = pd.DataFrame({"page": range(1, 4)})
        >>> found = curator.count_to(f"{folder}/views.parquet", "page", keys=pages, epsilon=1)
        >>> found.rows, found.half_width
        (3, 3)
        >>> counts = pd.read_parquet(found.path)
        >>> list(counts.columns), bool(1980 < counts["value"][1] < 2020)
        (['page', 'value', 'lower', 'upper'], True)
        """
        cost = chosen_budget(epsilon, rho, budget)
        from modicum.api.tables import bulk as tables

        return tables.count_to(
            self._guard, path, (by, *more), keys, key_budget, at_least, level, cost
        )
