"""What the questions of a file cost that are not charged yet: checked before any is asked.

A question is charged under its own key, so the ledger says which are charged already. What is not
has to fit into the account as a whole; a ledger checks each charge again when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from modicum import errors
from modicum.api import group_by
from modicum.api.tables import crosstab, description, distinct
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import ApproxDP, Event, event_of
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.ledger.chain import AccountState, checked_name
from modicum.privacy.unit import Unit
from modicum.questions.question import N_DISTINCT, OF_CELLS, VALUE_COUNTS, Question, naming
from modicum.questions.questionnaire import Questionnaire
from modicum.runtime import charging
from modicum.runtime.query import Query
from modicum.runtime.run import row_costs
from modicum.sources import base, groups, persons, reader, viewed
from modicum.sources.conditions.view import View

_ROUNDED = Fraction(1, 10**9)  # parts of a description are rounded down to units of a ledger


@dataclass(frozen=True, slots=True)
class QuestionCost:
    """What a question costs, and what of it is charged already, in the account's currency."""

    question: Question
    cost: Budget
    charged: Budget

    @property
    def is_paid(self) -> bool:
        """Whether nothing is left to be charged."""
        return not self.due.amount and not self.due.delta

    @property
    def due(self) -> Budget:
        """What is still to be charged."""
        left = [
            max(cost - charged, Fraction(0))
            for cost, charged in (
                (self.cost.amount, self.charged.amount),
                (self.cost.delta, self.charged.delta),
            )
        ]
        if self.charged.amount and left[0] <= _ROUNDED * self.cost.amount:
            left[0] = Fraction(0)
        if self.charged.delta and left[1] <= _ROUNDED * self.cost.delta:
            left[1] = Fraction(0)
        return Budget(self.cost.kind, *left)


@dataclass(frozen=True, slots=True)
class QuestionCosts:
    r"""The costs of all questions of a file, which fit into an account.

    Attributes
    ----------
    file : str
        Its name.
    account : AccountState
        As it was.
    costs : tuple of QuestionCost
        In the order of the file: ``question``, ``cost``, what of it is ``charged`` already, and
        ``due``.

    Examples
    --------
    >>> import modicum as mo, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> question = '[[question]]\nname = "rows"\nstatistic = "count"\nepsilon = 0.5\n'
    >>> _ = (folder / "ages.toml").write_text(f'account = "people"\n{question}')
    >>> url = f"sqlite:///{folder}/budget.db"
    >>> account = mo.Ledger.create(url).open_account("people", mo.pure(1))
    >>> costs = mo.questions.read(folder / "ages.toml").cost([40.0] * 900, ledger=url)
    >>> str(costs.total), str(costs.due), str(costs.account.spent)
    ('ε = 0.5', 'ε = 0.5', 'ε = 0')
    """

    file: str
    account: AccountState
    costs: tuple[QuestionCost, ...]

    @property
    def total(self) -> Budget:
        """What all questions cost."""
        return _sum((each.cost for each in self.costs), self.account.budget.kind)

    @property
    def due(self) -> Budget:
        """What is not charged yet."""
        return _sum((each.due for each in self.costs), self.account.budget.kind)

    def __str__(self) -> str:
        asked = errors.number_of(len(self.costs), "question")
        lines = [f"{self.file}: {asked} can be asked; the check charges nothing"]
        rows = [
            (each.question.name, each.question.about, str(each.cost), _charged(each))
            for each in self.costs
        ]
        lines += aligned(rows)
        lines.append(f"  total {self.total}, of which {self.due} is not charged yet")
        lines.append(f"  {self.account}, {self.account.remaining} left")
        return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def costs_of(
    file: Questionnaire, source: base.Source, ledger: Ledger, account: str
) -> QuestionCosts:
    """Check every question against the schema of a table, and all costs against an account."""
    name = file.path.name
    with naming(f"{name}, account"):
        state = ledger.account(account)
        charged = _charged_by_key(ledger, state)
    if file.unit is not None and file.unit != state.unit:
        raise errors.InvalidArgument(
            f"{name}, unit: account {account!r} protects {state.unit}, and not {file.unit}"
        )
    with naming(f"{name}, unit"):
        persons.check_unit(source, state.unit)
    costs = []
    for question in file.questions:
        cost = _checked(question, source, state)
        key = question.key(file.name)
        _check_unchanged(question, file.name, charged)
        own = (spent for known, spent in charged.items() if known == key or _part_of(known, key))
        costs.append(QuestionCost(question, cost, _sum(own, state.budget.kind)))
    found = QuestionCosts(name, state, tuple(costs))
    _check_total(found)
    return found


def _check_total(costs: QuestionCosts) -> None:
    state = costs.account
    due = _sum((), state.budget.kind)
    for each in costs.costs:
        due += each.due
        if not due <= state.remaining:
            raise errors.BudgetExceeded(
                f"{each.question.where}, {'rho' if state.budget.concentrated else 'epsilon'}: the "
                f"questions up to this one cost {due} that is not charged yet, of {costs.due} for "
                f"all, but only {state.remaining} of {state.budget} is left in account "
                f"{state.name!r}; nothing was asked"
            )


def _checked(question: Question, source: base.Source, state: AccountState) -> Budget:
    """Check a question against the schema; its cost."""
    kind, unit, where = state.budget.kind, state.unit, question.where
    for view in question.views:
        field = "where" if view.columns == () else f"with, {view.columns[0][0]}"
        with naming(f"{where}, {field}"):
            source = viewed.view_of(source, view, unit)
    if question.query is None:
        with naming(f"{where}, columns"):
            description.Asked.of(source, unit, question.columns, question.cost)
        with naming(f"{where}, epsilon"):
            return _event(question.cost).cost(kind)
    try:
        if question.statistic == N_DISTINCT:
            (column,) = question.columns or ()
            labels = distinct.checked_labels(source, unit, column, question.max_groups)[1]
            unit = Unit(rows=labels)
        query = charging.fitted(question.query, source, kind, unit)
        reader.check_column(source, query.place, query.lattice)
        if question.statistic in OF_CELLS:
            crosstab.only_counted(source, unit, query)
    except errors.ModicumError as error:
        raise type(error)(f"{where}, {question.field_of(error)}: {error}") from None
    keys = _checked_groups(question, source, unit, kind)
    if question.max_groups is not None and question.statistic != N_DISTINCT:
        with naming(f"{where}, max_groups"):
            unit = unit.in_groups(question.max_groups)
    with naming(f"{where}, epsilon"):
        _check_begun(query, unit)
        return charging.cost_of([query], kind) + keys


def _check_begun(query: Query[Any], unit: Unit) -> None:
    """Refuse a cost that is too small to begin with; nothing is read."""
    for event in row_costs({"answer": query}, unit).values():
        steps = query.begin(event)
        next(steps)
        steps.close()


def _event(cost: Budget) -> Event:
    """What a description costs, whose δ is spent."""
    return ApproxDP(cost.amount, cost.delta) if cost.delta else event_of(cost)


def _checked_groups(question: Question, source: base.Source, unit: Unit, kind: Kind) -> Budget:
    """Check columns of keys and the keys; what drawing them costs."""
    by, where = question.by, question.where
    if not by:
        return _sum((), kind)
    with naming(f"{where}, {'column' if question.statistic == VALUE_COUNTS else 'by'}"):
        if len(by) > 1:
            source = viewed.view_of(source, View(None, (), by), unit)
        groups.check_groups(source, unit, by, question.max_groups)
        types = [source.label_type(name) for name in by]
    if question.key_budget is None:
        with naming(f"{where}, keys"):
            keys = group_by.checked_keys(question.keys, by, types)
            if question.statistic in OF_CELLS:
                crosstab.check_cells(len(keys))
        return _sum((), kind)
    with naming(f"{where}, key_epsilon"):
        return group_by.key_event(question.key_budget).cost(kind)


def _charged_by_key(ledger: Ledger, state: AccountState) -> dict[str, Budget]:
    return {
        each.key: each.units.budget(state.budget.kind)
        for each in ledger.entries(state.name)
        if each.action == "charge" and each.key is not None
    }


def _check_unchanged(question: Question, file: str, charged: Mapping[str, Budget]) -> None:
    """Refuse a name that was charged for other fields."""
    key = question.key(file)
    with naming(f"{question.where}, name"):
        checked_name(f"{key} (keys of {', '.join(question.by)})", "the key of a question")
    stem = key.rpartition("[")[0]
    if any(known.startswith(f"{stem}[") and not known.startswith(key) for known in charged):
        raise errors.InvalidArgument(
            f"{question.where}, name: a question of this name was charged with other fields: "
            "give this one another name, or the old fields"
        )


def _part_of(known: str, key: str) -> bool:
    """Whether a key was made of another one, for a part of its answer."""
    return known.startswith(f"{key} (")


def _charged(cost: QuestionCost) -> str:
    if not (cost.charged.amount or cost.charged.delta):
        return ""
    nothing = not (cost.due.amount or cost.due.delta)
    return "charged already" if nothing else f"{cost.charged} charged already"


def _sum(budgets: Iterator[Budget] | Sequence[Budget], kind: Kind) -> Budget:
    return reduce(Budget.__add__, budgets, Budget(kind, Fraction(0)))
