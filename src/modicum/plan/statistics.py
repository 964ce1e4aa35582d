"""Plan a release: one function for any query, and one of the same name as each query function.

:func:`release` plans. The others call it, with a signature and a documentation which follow from
those of the query function, of what reads the guess, and of :func:`release` itself. What a single
statistic needs is :class:`~modicum.statistics.spec.Planned`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Any, NamedTuple

from modicum.errors import InvalidArgument, WrongCall, as_given, did_you_mean
from modicum.exact.lattice import Lattice
from modicum.plan import persons, trial
from modicum.plan.asked import PlannedQuestion
from modicum.plan.shapes import Shape, TableShape, columns_of, regression_of, shape_of
from modicum.plan.solve import Effort, Simulated, Task
from modicum.plan.summary import Plan
from modicum.privacy.budget import Budget, Number, chosen_budget, pure
from modicum.privacy.unit import Unit, checked_unit
from modicum.runtime.query import Query
from modicum.statistics.contents import PLANNED, find_statistic
from modicum.statistics.spec import Declaration, Planned

Builder = Callable[..., Query[Any]]
_COST = ("epsilon", "rho", "budget")


@dataclass(frozen=True, slots=True)
class Guess:
    """A kind of data.

    ``read(lattice, **guess)`` checks a guess and returns the assumed data; the plans' arguments and
    their documentation are those of this function. ``trials(data, error, unit)`` returns what makes
    releases from these data, and ``effort(data)`` says how plans are searched. ``note`` is for the
    documentation of the plans.
    """

    read: Callable[..., Shape | TableShape | None]
    trials: Callable[[Any, Callable[[Any], float], Unit], Simulated]
    effort: Callable[[Any], Effort]
    note: str = ""


def _of_columns(read: Callable[..., TableShape], power: int) -> Guess:
    """Several columns, with at most 2^power numbers in a table."""

    def effort(columns: TableShape) -> Effort:
        most = (1 << power) // len(columns.sd)
        return Effort(
            columns=len(columns.sd),
            runs=8,
            search_runs=4,
            least_epsilon=1e-3,
            most_rows=most,
            limit=f"{most:,}",
            hint=": plans of so many columns end there; beyond, the error falls like 1/n",
            first_rows=1e3,
            further=lambda _error, _wanted: 1.1,
            weighted=False,
        )

    note = f"At most 2^{power} numbers are made up; with more rows the error falls like 1/n."
    return Guess(read, trial.columns_trials, effort, note)


GUESSES: Mapping[str, Guess] = MappingProxyType(
    {
        "nothing": Guess(
            lambda _lattice: None,  # a count does not look at values
            lambda _, error, unit: trial.column_trials(Shape("uniform", 0.0, 1.0), error, unit),
            lambda _: Effort(),
        ),
        "column": Guess(shape_of, trial.column_trials, lambda _: Effort()),
        "vectors": _of_columns(columns_of, 24),  # 128 MB
        "moments": _of_columns(columns_of, 21),  # each is multiplied with all others of its row
        "regression": _of_columns(regression_of, 21),
    }
)


def release(question: Builder, /, **asked: Any) -> Plan:
    """Plan the release that answers a question: its error, or what an error needs.

    Parameters
    ----------
    question : callable
        A function of :mod:`modicum.query`, such as ``query.mean``, or of
        :mod:`modicum.research.papers`, such as ``papers.kulesza2023.shifted_mean``.
    **asked
        Its arguments but for the column and the cost, and what the plan of its name takes besides:
        ``release(query.mean, ...)`` is ``plan.mean(...)``.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidArgument
        As the plan of the same name; or if the query function has no plan.

    Examples
    --------
    >>> from modicum import plan, query
    >>> release(query.count, error=10) == plan.count(error=10)
    True
    """
    known, name = _signature(question).parameters, question.__name__
    if unknown := [each for each in asked if each not in known]:
        meant = did_you_mean(unknown[0], known)
        if unknown[0] in _declared(question)[1].without:
            meant = ": to see its error, release it of made-up rows like yours, which costs nothing"
        raise WrongCall(f"{name}() has no argument {unknown[0]!r}{meant}")
    given = {each: parameter.default for each, parameter in known.items()} | asked
    if needed := [each for each, value in given.items() if value is Parameter.empty]:
        guess = ": a plan reads no data, so it takes your guess" * ("sd" in needed)
        raise WrongCall(f"{name}() needs {', '.join(f'{each}=' for each in needed)}{guess}")
    return _planned(question, **given)


def _planned(
    question: Builder,
    *,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    unit: Unit | None = None,
    rows_each: float | None = None,
    **asked: Any,
) -> Plan:
    """Plan a release.

    Parameters
    ----------
    question : callable
    n : int, optional
        Number of rows.
    epsilon, rho, budget : number, number, Budget, optional
        At most one: the cost. If none is given, the pure ε is found.
    error : float, optional
        Wanted expected error: the mean absolute difference from the statistic without privacy, if
        nothing else is said above.
    unit : Unit, optional
        Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
    rows_each : float, optional
        How many rows a person has on average, if all of them count: then it is needed. Numbers are
        taken to fall off geometrically, and values not to depend on whose they are.
    **asked
        Options of the question, and the guess of the data.

    Returns
    -------
    Plan
        ``error`` is usually within 20 % of the average of releases; sampling error comes on top.

    Raises
    ------
    InvalidArgument
        As the question; for a bad guess; if more or less is given than said above; if no ε up to
        100, or no n of those that are searched, is enough for the error.
    """
    cost = None
    if any(each is not None for each in (epsilon, rho, budget)):
        cost = chosen_budget(epsilon, rho, budget)
    given = {**asked, "unit": unit, "rows_each": rows_each}
    (task, sample, data, person), planned = (
        _prepared(question, cost, **given),
        _declared(question)[1],
    )
    answered = _answered(question, sample)
    found = task.solve(cost, n, error)
    shown: dict[str, Any] = {
        field: getattr(sample.options, name, None) for field, name in planned.shown.items()
    }
    if planned.sampled and isinstance(data, Shape):
        shown["sampling_error"] = data.sd / math.sqrt(found.rows)
    return Plan(
        statistic=sample.statistic,
        unit=person,
        wanted=error,
        lattice=None if data is None or sample.finds_range else sample.lattice,
        shape=data,
        meaning=planned.meaning,
        noun=answered.noun,
        asked=_asked(question, given, planned),
        **shown,
        **found.fields(),
    )


def _asked(question: Builder, given: Mapping[str, Any], planned: Planned) -> PlannedQuestion:
    """Keep what was planned; several columns are as many as spreads were guessed."""
    several = planned.data in {"vectors", "moments", "regression"}
    return PlannedQuestion(
        question,
        given,
        len(given["sd"]) if several else None,
        planned.slow,
        partial(_planned, question, **given),
        partial(_task, question, given),
    )


def _task(question: Builder, given: Mapping[str, Any], budget: Budget) -> Task:
    return _prepared(question, budget, **given).task


class _Prepared(NamedTuple):
    """What a plan is made of, all of it checked: ``sample`` is the question at some cost."""

    task: Task
    sample: Query[Any]
    data: Shape | TableShape | None
    person: Unit


def _prepared(
    question: Builder,
    cost: Budget | None,
    *,
    unit: Unit | None,
    rows_each: float | None,
    **asked: Any,
) -> _Prepared:
    planned, own = _declared(question)[1], _own(question)
    guess = GUESSES[planned.data]
    guessed = {name: value for name, value in asked.items() if name not in own}
    options = {name: value for name, value in asked.items() if name in own}
    sample = question(budget=cost or pure(1), **options)
    anywhere = Lattice.within((-1e307, 1e307))
    within = anywhere if sample.finds_range else sample.lattice
    data, person = guess.read(within, **guessed), checked_unit(unit)
    if person.whole and not _has_persons(planned):
        raise InvalidArgument(
            f"{planned.noun} has no plan for persons all of whose rows count: plan it for a unit "
            "with max_rows="
        )
    each = persons.checked_rows_each(rows_each, person)
    answered = _answered(question, sample)
    error_of = answered.error
    if error_of is None:
        assert answered.truth is not None
        error_of = trial.against(answered.truth)
    task = Task(
        partial(question, **options), guess.trials(data, error_of, person), guess.effort(data)
    )
    if person.whole:
        task = _of_persons(question, options, data, answered, PersonGuess(person, each))
    return _Prepared(task, sample, data, person)


def _answered(question: Builder, sample: Query[Any]) -> Planned:
    """Declaration of the plan of the statistic that is answered.

    Some options make it another one: the location by first powers is the median.
    """
    declared, planned = _declared(question)
    if any(
        (row.statistic, row.method) == (sample.statistic, sample.method) for row in declared.rows
    ):
        return planned
    return find_statistic(sample.statistic).plan or planned


def _has_persons(planned: Planned) -> bool:
    """Whether there are plans for persons all of whose rows count."""
    return planned.truth is not None and planned.data in {"column", "nothing"}


class PersonGuess(NamedTuple):
    """Persons all of whose rows count, and how many they have on average."""

    unit: Unit
    rows_each: float


def _of_persons(
    question: Builder, options: Mapping[str, Any], data: Any, planned: Planned, guess: PersonGuess
) -> Task:
    """The task for persons: tables of their rows are made, as for no other unit."""
    assert planned.truth is not None
    column = {"column": persons.COLUMN} if planned.data == "column" else {}
    shape = data if isinstance(data, Shape) else Shape("uniform", 0.0, 1.0)

    def asked(**cost: Any) -> Query[Any]:
        return question(**column, **options, **cost).for_unit(guess.unit)

    return Task(asked, persons.PersonTrials(shape, planned.truth, *guess), persons.EFFORT)


def _declared(question: Builder) -> tuple[Declaration, Planned]:
    """The declaration of a query function; the papers are imported only for theirs."""
    name = getattr(question, "__name__", "")
    known: tuple[Declaration, ...] = (find_statistic(name),) if name in PLANNED else ()
    if all(each.question is not question for each in known):
        from modicum.research.papers.registry import STATISTICS as known
    for each in known:
        if each.question is question and each.plan is not None:
            return each, each.plan
    raise InvalidArgument(
        f"plans are of questions such as modicum.query.mean, got {as_given(question)}"
    )


def _own(question: Builder) -> dict[str, Parameter]:
    """Parameters of a query function that its plan takes too."""
    left_out = ("column", "columns", *_COST, *_declared(question)[1].without)
    known = inspect.signature(question).parameters
    return {name: each for name, each in known.items() if name not in left_out}


def _guessed(guess: Guess) -> dict[str, Parameter]:
    known = inspect.signature(guess.read).parameters
    return {name: each for name, each in known.items() if each.kind is Parameter.KEYWORD_ONLY}


def _signature(question: Builder) -> Signature:
    """The query's own parameters, the guess and what is given, in this order."""
    planned, own = _declared(question)[1], _own(question)
    names = list(inspect.signature(question).parameters)
    later = names[names.index("budget") :]
    given = inspect.signature(_planned).parameters
    guess = _guessed(GUESSES[planned.data])
    n = given["n"].replace(default=planned.n if planned.rows_help else Parameter.empty)
    return Signature(
        [
            *(each for name, each in own.items() if name not in later),
            *(each for each in guess.values() if each.default is Parameter.empty),
            n if n.default is None else n.replace(annotation="int"),
            *(given[name] for name in (*_COST, "error")),
            *(each for each in guess.values() if each.default is not Parameter.empty),
            *(each for name, each in own.items() if name in later),
            *([given["rows_each"]] if _has_persons(planned) else []),
            given["unit"],
        ],
        return_annotation="Plan",
    )


def find_words(n: Parameter, names: tuple[str, str]) -> str:
    """Say what is given and what is found, by the default of ``n`` and names of it and the error.

    Examples
    --------
    >>> find_words(inspect.signature(plan_of("count")).parameters["n"], ("n", "error"))
    'Give the cost or error: the other is found.'
    """
    if n.default is None:
        return "Give two of the cost, {} and {}: the third is found.".format(*names)
    if n.default is Parameter.empty:
        return "Give {}, and the cost or {}: the other is found.".format(*names)
    return f"Give the cost or {names[1]}: the other is found."


def _about(planned: Planned, guess: Guess) -> str:
    """Write the documentation up to what is given and what is found."""
    sought = "the ε or the number of rows" if planned.rows_help and planned.n is None else "the ε"
    parts = [f"Plan {planned.noun}: the error, or {sought} that an error needs.", planned.note]
    if planned.meaning is not None:
        parts.append(f"The error is {planned.meaning}.")
    if not planned.rows_help:
        parts.append("More rows do not make it smaller.")
    return "\n\n".join(part for part in (*parts, guess.note) if part)


def _documentation(question: Builder) -> str:
    planned, own = _declared(question)[1], _own(question)
    n = _signature(question).parameters["n"]
    guess = GUESSES[planned.data]
    texts = [*_described(question, own), *_described(guess.read, _guessed(guess))]
    known = {name for text in texts for name in _names(text)}
    if lacking := [name for name in own if name not in known]:
        texts.insert(0, f"{', '.join(lacking)}\n    As for :func:`modicum.{question.__name__}`.")
    rows_each = ("rows_each",) if _has_persons(planned) else ()
    texts += _described(_planned, ("n", *_COST, "error", "unit", *rows_each))
    outcome = "".join((inspect.getdoc(_planned) or "").partition("Returns\n")[1:])
    find = find_words(n, ("``n``", "``error``"))
    return (
        f"{_about(planned, guess)}\n\n{find}\n\nParameters\n----------\n"
        + "\n".join(texts)
        + f"\n\n{outcome}\n\nExamples\n--------\n{planned.example}\n"
    )


def _described(function: Callable[..., Any], wanted: Collection[str]) -> list[str]:
    """The entries of those parameters in a documentation."""
    section = re.search(
        r"Parameters\n-+\n(.*?)(\n\n|\Z)", inspect.getdoc(function) or "", re.DOTALL
    )
    entries = [] if section is None else re.findall(r"^\S.*(?:\n +.*)*", section[1], re.MULTILINE)
    return [entry for entry in entries if all(name in wanted for name in _names(entry))]


def _names(entry: str) -> list[str]:
    """Parameters that an entry describes."""
    return entry.partition("\n")[0].partition(" : ")[0].split(", ")


def plan_of(name: str) -> Callable[..., Plan]:
    """:func:`release` of a query function, with its name, signature and documentation."""
    question = find_statistic(name).question

    def planner(**asked: Any) -> Plan:
        return release(question, **asked)

    planner.__name__ = planner.__qualname__ = name
    planner.__signature__ = _signature(question)  # type: ignore[attr-defined]
    planner.__doc__ = _documentation(question)
    return planner
