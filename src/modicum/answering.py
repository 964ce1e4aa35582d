"""Answers from a table, once: for functions that need no curator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from modicum.charging import fitted
from modicum.curator import Curator, R, Table
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM
from modicum.guard import recorded
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit, checked_unit
from modicum.release import Record
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.signature import asked, dressed, released_as
from modicum.sources.base import open_source
from modicum.sources.persons import TableReader, check_unit
from modicum.sources.reader import check_column, read_as
from modicum.sources.views import View, view_of
from modicum.statistics.spec import Declaration
from modicum.tables.description import Description


def answered(
    query: Query[R], table: Table, unit: Unit, account: str, where: str | None = None
) -> R:
    """Answer a query from a table, or from the rows of it that a condition chooses.

    ``account`` says which budget counts what it costs.
    """
    source = open_source(table)
    if where is not None:
        source = view_of(source, View(where), unit)
    check_column(source, query.place, query.lattice)
    query = fitted(query, source, query.budget.kind, unit)
    check_unit(source, unit)
    reader = TableReader(source, unit, [read_as(source, query.place, query.lattice)])
    runs = run({"answer": query}, reader, unit=unit, charge=lambda: None, entropy=SYSTEM)
    return recorded(query, runs["answer"], source, unit, account, SYSTEM)


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
    if ledger is None:
        if account is not None or key is not None:
            raise InvalidArgument("account= and key= need ledger=, the URL of a ledger")
        cost = chosen_budget(epsilon, rho, budget)
        curator = Curator(table, unit=unit, budget=cost)
    else:
        curator = Curator(table, unit=unit, ledger=ledger, account=account)
        curator = curator if key is None else curator.idempotent(key)
    curator = curator if where is None else curator.where(where)
    return curator.describe(columns, epsilon=epsilon, rho=rho, budget=budget)


def function_of_a_table(statistic: Declaration) -> Callable[..., Record]:
    """Turn a query function into a function of a table with the same arguments, and more."""
    question: Callable[..., Query[Record]] = statistic.question

    def function(
        table: Table,
        *args: Any,
        where: str | None = None,
        unit: Unit | None = None,
        ledger: Ledger | str | None = None,
        account: str | None = None,
        key: str | None = None,
        **kwargs: Any,
    ) -> Record:
        if ledger is not None:
            curator = Curator(table, unit=unit, ledger=ledger, account=account)
            curator = curator if key is None else curator.idempotent(key)
            curator = curator if where is None else curator.where(where)
            return curator.run(asked(question, "table, ", args, kwargs))
        if account is not None or key is not None:
            raise InvalidArgument("account= and key= need ledger=, the URL of a ledger")
        query, person = asked(question, "table, ", args, kwargs), checked_unit(unit)
        return answered(query, table, person, "not counted against any budget", where)

    function.__module__ = "modicum.one_shot"
    derived: Callable[..., Record] = dressed(
        function, question, owner=None, returns=released_as(question), example=statistic.example
    )
    return derived
