"""Predicted errors and costs of the questions of a file: no data, no ledger, nothing is spent."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from modicum import errors
from modicum.api import group_by
from modicum.api.tables import crosstab, distinct, table_release
from modicum.api.tables.margins import ErrorOfSum
from modicum.errors import InvalidArgument, ModicumError
from modicum.plan import shapes, summary
from modicum.plan.statistics import plan_of
from modicum.privacy.budget import APPROX_KIND, Budget
from modicum.privacy.event import event_of
from modicum.privacy.unit import Unit, checked_unit
from modicum.questions.costs import aligned
from modicum.questions.question import (
    DESCRIBE,
    N_DISTINCT,
    WHOLE_TABLE,
    Question,
    checked_fields,
    naming,
)
from modicum.questions.questionnaire import Questionnaire
from modicum.runtime import charging
from modicum.sources import opening, viewed
from modicum.statistics.contents import PLANNED

_ALPHA = 0.05  # of the intervals
_NOT_EXPECTED = {"epsilon", "rho", "budget", "error", "unit"}


@dataclass(frozen=True, slots=True)
class PlannedNoise:
    """The noise of numbers that are alike, the largest if they are not: ``what`` says which."""

    what: str
    numbers: int
    error: float
    interval_width: float


@dataclass(frozen=True, slots=True)
class NoisePlan:
    """The noise of all numbers of an answer, which is their only error; the cells come first.

    Examples
    --------
    >>> of_cells, total = PlannedNoise("cells", 6, 2.83, 11.0), PlannedNoise("total", 1, 7.0, 27.0)
    >>> NoisePlan((of_cells, total)).words
    'error 2.83, interval 11 wide, of 6 cells; error of margins: total 7'
    """

    noises: tuple[PlannedNoise, ...]

    @property
    def words(self) -> str:
        """What to expect."""
        first, *others = self.noises
        said = (
            f"error {shapes.three_digits(first.error)}, interval "
            f"{shapes.three_digits(first.interval_width)} wide"
        )
        if first.numbers > 1:
            said += f", of {first.numbers:,} {first.what}"
        margins = (f"{each.what} {shapes.three_digits(each.error)}" for each in others)
        return f"{said}; error of margins: {', '.join(margins)}" if others else said

    def to_json(self) -> str:
        """Write it as one JSON object (``schema: modicum.noise-plan/1``)."""
        noises = [asdict(each) for each in self.noises]
        return json.dumps({"schema": "modicum.noise-plan/1", "noise": noises})


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """The plan of a question, or in words why there is none."""

    question: Question
    plan: summary.Plan | NoisePlan | None
    why: str

    @property
    def words(self) -> str:
        """What to expect."""
        if self.plan is None:
            return f"no plan: {self.why}"
        if isinstance(self.plan, NoisePlan):
            return self.plan.words
        rows = f"{self.plan.n:,} rows{' in a group' if self.question.by else ''}"
        note = "" if self.plan.status == "ok" else f"; note: {self.plan.status}"
        if not self.plan.usable:
            return f"no usable answer, of {rows}{note}"
        width = self.plan.interval_width
        wide = f"{shapes.three_digits(width)} wide" if math.isfinite(width) else "without a bound"
        return f"error {shapes.three_digits(self.plan.error)}, interval {wide}, of {rows}{note}"


@dataclass(frozen=True, slots=True)
class QuestionPlans:
    r"""Plans of all questions of a file.

    Attributes
    ----------
    file : str
        Its name.
    plans : tuple of QuestionPlan
        In the order of the file: ``question``, its ``plan``, or in ``why`` the reason that it has
        none. That of a crosstab is the noise of its cells and margins.

    Examples
    --------
    >>> import modicum as mo, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ages.toml"
    >>> question = '[[question]]\nname = "rows"\nstatistic = "count"\nepsilon = 0.5\n'
    >>> _ = path.write_text(f"{question}expect = {{n = 900}}\n")
    >>> plans = mo.questions.read(path).plan()
    >>> [str(each) for each in plans.totals], 1 < plans.plans[0].plan.error < 3
    (['ε = 0.5'], True)
    """

    file: str
    plans: tuple[QuestionPlan, ...]

    @property
    def totals(self) -> tuple[Budget, ...]:
        """What all questions cost: ε and δ added up, and ρ."""
        costs = [each.question.cost for each in self.plans]
        keys = [each.question.key_budget for each in self.plans]
        costs += [each for each in keys if each is not None]
        found: dict[bool, Budget] = {}
        mixed = len({each.kind for each in costs if not each.concentrated}) > 1
        for cost in costs:
            each = cost
            if mixed and not (cost.concentrated or cost.approximate):
                each = event_of(cost).cost(APPROX_KIND)
            before = found.get(each.concentrated)
            found[each.concentrated] = each if before is None else before + each
        return tuple(found.values())

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.question-plans/1``).

        Parameters
        ----------
        indent : int, optional
            Spaces by which each level is indented; by default all is one line.

        Returns
        -------
        str
            Totals, and of each question its cost and its plan, or why it has none.
        """
        record = {
            "schema": "modicum.question-plans/1",
            "file": self.file,
            "totals": [str(each) for each in self.totals],
            "questions": [
                {
                    "name": each.question.name,
                    "question": each.question.about,
                    "cost": str(each.question.cost),
                    "keys_cost": each.question.key_budget and str(each.question.key_budget),
                    "plan": None if each.plan is None else json.loads(each.plan.to_json()),
                    "no_plan": each.why or None,
                }
                for each in self.plans
            ],
        }
        return json.dumps(record, ensure_ascii=False, indent=indent, allow_nan=False)

    def __str__(self) -> str:
        rows = []
        for each in self.plans:
            keys = each.question.key_budget
            cost = str(each.question.cost) + ("" if keys is None else f" and {keys} for keys")
            rows.append((each.question.name, each.question.about, cost, each.words))
        total = " and ".join(map(str, self.totals))
        asked = errors.number_of(len(self.plans), "question")
        return "\n".join(
            [
                f"plan of {self.file}: {asked}; nothing is read or spent",
                *aligned(rows),
                f"  total {total}",
            ]
        )


def planned(file: Questionnaire) -> QuestionPlans:
    """Plan every question that says what it expects of the data."""
    return QuestionPlans(file.path.name, tuple(_plan(file, each) for each in file.questions))


def _plan(file: Questionnaire, question: Question) -> QuestionPlan:
    if question.statistic in WHOLE_TABLE:
        return _noise_plan(file, question)
    if question.statistic not in PLANNED:
        return QuestionPlan(question, None, f"there is none for {question.statistic}")
    if question.expect is None:
        return QuestionPlan(question, None, "no expect = { n = ..., sd = ... }")
    planner = plan_of(question.statistic)
    known = inspect.signature(planner).parameters
    guesses = [each for each in known if each not in {*_NOT_EXPECTED, *question.options}]
    expect = checked_fields(question.expect, guesses, f"{question.where}, expect")
    if "n" not in expect:
        raise InvalidArgument(f"{question.where}, expect, n: it is missing, a number of rows")
    try:
        return QuestionPlan(question, planner(**_asked(question, known, expect, file)), "")
    except ModicumError as error:
        raise type(error)(f"{question.where}, expect: {error}") from None


def _noise_plan(file: Questionnaire, question: Question) -> QuestionPlan:
    """Plan a question about a whole table; its noise is its only error where there is a plan."""
    unit, statistic = checked_unit(file.unit), question.statistic
    if question.expect is not None and statistic != DESCRIBE:
        raise InvalidArgument(
            f"{question.where}, expect: a {statistic} is planned without it: leave it out"
        )
    grouped = unit.combine is not None and not unit.whole and question.max_groups is None
    why = ""
    if statistic == DESCRIBE:
        why = "there is none for describe"
    elif question.max_groups is not None and file.unit is None:
        why = "the file has no unit, for max_groups"
    elif statistic == N_DISTINCT:
        return QuestionPlan(question, _noise_of_labels(question, unit), "")
    elif question.keys is None:
        why = "the labels are drawn"
    elif question.options.get("values") is not None:
        why = "the bounds of a sum are found"
    elif unit.whole:
        why = "in how many cells a person counts, and with how many rows, is found"
    elif grouped:
        why = "max_groups is missing"
    return QuestionPlan(question, None if why else _noise_of_cells(question, unit), why)


def _noise_of_cells(question: Question, unit: Unit) -> NoisePlan:
    by, query, where = question.by, question.query, question.where
    assert query is not None
    with naming(f"{where}, keys"):
        keys = group_by.checked_keys(question.keys, by, [""] * len(by))
        crosstab.check_cells(len(keys))
    if question.max_groups is not None:
        with naming(f"{where}, max_groups"):
            unit = unit.in_groups(min(unit.in_groups(question.max_groups).groups, len(keys)))
    with naming(f"{where}, epsilon"):
        model = crosstab.planned_counts(
            by, keys, question.options.get("margins", True), query, unit
        )
    noises = []
    for margin in (by, *model.layout.margins):
        lower, upper = model.intervals(margin, 1 - _ALPHA, None)
        what = "cells" if margin == by else ", ".join(margin) or table_release.TOTAL
        errors, width = model.expected_errors(margin), float((upper - lower).max())
        noises.append(PlannedNoise(what, len(errors), float(errors.max()), width))
    return NoisePlan(tuple(noises))


def _stated(question: Question, unit: Unit) -> dict[str, Any]:
    """The range that the conditions and made columns of a question state, if they do."""
    source = opening.open_source([])  # with no column that declares a type
    for view in question.views:
        source = viewed.LocalView(source, view)
    assert question.query is not None
    found = charging.in_stated_range(question.query, source, unit)
    if not found.stated or found.lattice is None:
        return {}
    return {"within": (found.lattice.lo, found.lattice.hi), "method": found.method}


def _noise_of_labels(question: Question, unit: Unit) -> NoisePlan:
    (column,), query = question.columns or (), question.query
    assert query is not None
    with naming(f"{question.where}, max_groups"):
        labels = distinct.bounded_labels(unit, column, question.max_groups)[1]
    with naming(f"{question.where}, epsilon"):
        law = ErrorOfSum(((distinct.noise_of_labels(query.event, labels), 1.0, 1),))
    return NoisePlan((PlannedNoise(N_DISTINCT, 1, law.expected_size, 2 * law.bound(_ALPHA)),))


def _asked(
    question: Question, known: Mapping[str, Any], expect: Mapping[str, Any], file: Questionnaire
) -> dict[str, Any]:
    options = {name: value for name, value in question.options.items() if name in known}
    if "within" in known and "step" not in options:
        stated = _stated(question, checked_unit(file.unit))
        options = {**{name: each for name, each in stated.items() if name in known}, **options}
    return {**options, **expect, "budget": question.cost, "unit": file.unit}
