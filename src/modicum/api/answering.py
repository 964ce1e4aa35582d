"""Answers to one query of a table, once: for functions that need no curator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from modicum import errors
from modicum.api import signature
from modicum.api.curator import Curator, R, Table
from modicum.exact.entropy import SYSTEM
from modicum.privacy.unit import Unit, checked_unit
from modicum.releases import release
from modicum.runtime import charging, guard
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.sources import opening, persons
from modicum.sources.reader import check_column, read_as
from modicum.statistics.spec import Declaration

if TYPE_CHECKING:
    from modicum.privacy.ledger.book import Ledger

_NONE: Any = object()  # no table was given


def answered(
    query: Query[R], table: Table, unit: Unit, account: str, where: str | None = None
) -> R:
    """Answer a query from a table, or from the rows of it that a condition chooses.

    ``account`` says which budget counts what it costs.
    """
    source = opening.open_source(table)
    if where is not None:
        from modicum.sources import viewed
        from modicum.sources.conditions.view import View

        source = viewed.view_of(source, View(where, ()), unit)
    check_column(source, query.place, query.lattice)
    query = charging.fitted(query, source, query.budget.kind, unit)
    persons.check_unit(source, unit)
    reader = persons.TableReader(source, unit, [read_as(source, query.place, query.lattice)])
    runs = run({"answer": query}, reader, unit=unit, charge=lambda: None, entropy=SYSTEM)
    return guard.recorded(query, runs["answer"], source, unit, account, SYSTEM)


def function_of_a_table(statistic: Declaration) -> Callable[..., release.Record]:
    """Turn a query function into a function of a table with the same arguments, and more."""
    question: Callable[..., Query[release.Record]] = statistic.question

    def function(
        table: Table = _NONE,
        *args: Any,
        where: str | None = None,
        unit: Unit | None = None,
        ledger: Ledger | str | None = None,
        account: str | None = None,
        key: str | None = None,
        **kwargs: Any,
    ) -> release.Record:
        if table is _NONE:
            such = signature.example_of(question, "table, ", ())
            raise errors.WrongCall(f"{statistic.name}() needs the table first, such as {such}")
        if ledger is not None:
            curator = Curator(table, unit=unit, ledger=ledger, account=account)
            curator = curator if key is None else curator.idempotent(key)
            curator = curator if where is None else curator.where(where)
            return curator.run(signature.asked(question, "table, ", args, kwargs))
        if account is not None or key is not None:
            raise errors.InvalidArgument("account= and key= need ledger=, the URL of a ledger")
        query, person = signature.asked(question, "table, ", args, kwargs), checked_unit(unit)
        return answered(query, table, person, "not counted against any budget", where)

    function.__module__ = "modicum.api.one_shot"
    derived: Callable[..., release.Record] = signature.dressed(
        function,
        question,
        owner=None,
        returns=signature.released_as(question),
        example=statistic.example,
    )
    return derived
