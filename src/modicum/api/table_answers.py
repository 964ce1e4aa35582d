"""Answers about a whole table, once: for functions that need no curator."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from modicum.api.curator import Curator, Table
from modicum.api.group_by import key_event
from modicum.api.tables.description import Description
from modicum.api.tables.table_release import Crosstab, ValueCounts
from modicum.errors import InvalidArgument, as_given, says_how
from modicum.privacy.accountant import total
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import event_of
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit
from modicum.releases.release import Release


@says_how("describe(table, epsilon=1)")
def describe(
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Description:
    """Describe all columns of a table: values, missing ones, means, quartiles, frequent labels.

    Parameters
    ----------
    table : table or path
        As for :class:`Curator`.
    columns, epsilon, rho, budget
        As for :meth:`Curator.describe`.
    where : str, optional
        Only of rows for which this is true, see :meth:`Curator.where`.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    ledger, account, key : str, optional
        Charge this account of a ledger, and with a key answer once: see :class:`Curator`.

    Returns
    -------
    Description
        Printed it is a table; ``frame()`` has every number with its interval.

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData, BudgetExceeded
        As :meth:`Curator.describe` does; nothing is charged.

    Examples
    --------
    >>> import numpy as np, modicum, pandas as pd
    >>> table = pd.DataFrame({"age": np.arange(9000) % 90})
    >>> found = modicum.describe(table, epsilon=1)
    >>> bool(40 < found.numbers["quartiles age"].values[1] < 48)
    True
    """
    cost = chosen_budget(epsilon, rho, budget)
    curator = curator_of(table, cost, None, where, unit, ledger, account, key)
    return curator.describe(columns, epsilon=epsilon, rho=rho, budget=budget)


def _check_names(*names: object) -> None:
    """Refuse columns themselves, as other libraries take them, in place of their names."""
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgument(
                "pass the table, and then names of its columns, such as (table, 'region'), got "
                f"{as_given(name)} for a name"
            )


def curator_of(
    table: Table,
    cost: Budget,
    key_budget: Budget | None,
    where: str | None,
    unit: Unit | None,
    ledger: Ledger | str | None,
    account: str | None,
    key: str | None,
) -> Curator:
    """Return a curator for one answer of a whole table, with the budget that this takes."""
    if ledger is None:
        if account is not None or key is not None:
            raise InvalidArgument("account= and key= need ledger=, the URL of a ledger")
        if key_budget is not None:
            event = key_event(key_budget)
            cost = total([event, event_of(cost)], key_budget.kind)
        curator = Curator(table, unit=unit, budget=cost)
    else:
        curator = Curator(table, unit=unit, ledger=ledger, account=account)
        curator = curator if key is None else curator.idempotent(key)
    return curator if where is None else curator.where(where)


@says_how("crosstab(table, 'region', 'sex', keys={'region': [...], ...}, epsilon=1)")
def crosstab(
    table: Table,
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
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Crosstab:
    """Count rows, or sum a column, for all combinations of labels, with margins that add up.

    Parameters
    ----------
    table : table or path
        As for :class:`Curator`.
    by, *more, keys, key_budget, values, within, step, margins, max_groups, epsilon, rho, budget
        As for :meth:`Curator.crosstab`.
    where, unit, ledger, account, key
        As for :func:`modicum.describe`.

    Returns
    -------
    Crosstab
        Cells, margins and total, which add up to the digit, each with an interval.

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData, BudgetExceeded
        As :meth:`Curator.crosstab` does; nothing is charged.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"region": ["N", "S", "S"] * 999, "sex": ["f", "f", "m"] * 999})
    >>> labels = {"region": ["N", "S"], "sex": ["f", "m"]}
    >>> found = modicum.crosstab(table, "region", "sex", keys=labels, epsilon=1)
    >>> found["S", "f"] + found["S", "m"] == found.margin("region")["S"].value
    True
    """
    _check_names(by, *more)
    cost = chosen_budget(epsilon, rho, budget)
    curator = curator_of(table, cost, key_budget, where, unit, ledger, account, key)
    return curator.crosstab(
        by,
        *more,
        keys=keys,
        key_budget=key_budget,
        values=values,
        within=within,
        step=step,
        margins=margins,
        max_groups=max_groups,
        budget=cost,
    )


@says_how("value_counts(table, 'region', keys=['N', 'S'], epsilon=1)")
def value_counts(
    table: Table,
    column: str,
    *,
    keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None,
    key_budget: Budget | None = None,
    max_groups: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ValueCounts:
    """Count the labels of a column, the most frequent first, with their shares.

    Parameters
    ----------
    table : table or path
        As for :class:`Curator`.
    column, keys, key_budget, max_groups, epsilon, rho, budget
        As for :meth:`Curator.value_counts`.
    where, unit, ledger, account, key
        As for :func:`modicum.describe`.

    Returns
    -------
    ValueCounts
        A :class:`Crosstab` of one column, with shares.

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData, BudgetExceeded
        As :meth:`Curator.value_counts` does; nothing is charged.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"origin": ["JFK", "LGA", "JFK"] * 999})
    >>> modicum.value_counts(table, "origin", keys=["LGA", "JFK"], epsilon=1).keys
    ('JFK', 'LGA')
    """
    _check_names(column)
    cost = chosen_budget(epsilon, rho, budget)
    curator = curator_of(table, cost, key_budget, where, unit, ledger, account, key)
    return curator.value_counts(
        column, keys=keys, key_budget=key_budget, max_groups=max_groups, budget=cost
    )


@says_how("n_distinct(table, 'region', epsilon=1)")
def n_distinct(
    table: Table,
    column: str,
    *,
    max_groups: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    where: str | None = None,
    unit: Unit | None = None,
    ledger: Ledger | str | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Release:
    """Count the different labels of a column; of the column of persons, the persons.

    Parameters
    ----------
    table : table or path
        As for :class:`Curator`.
    column, max_groups, epsilon, rho, budget
        As for :meth:`Curator.n_distinct`.
    where, unit, ledger, account, key
        As for :func:`modicum.describe`.

    Returns
    -------
    Release
        The exact number of labels and the noise of a count.

    Raises
    ------
    InvalidArgument, MissingColumn, UnsupportedData, BudgetExceeded
        As :meth:`Curator.n_distinct` does; nothing is charged.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"postcode": range(3000)})
    >>> 2980 < modicum.n_distinct(table, "postcode", epsilon=1).value < 3020
    True
    """
    _check_names(column)
    cost = chosen_budget(epsilon, rho, budget)
    curator = curator_of(table, cost, None, where, unit, ledger, account, key)
    return curator.n_distinct(column, max_groups=max_groups, budget=cost)
