"""Predicted errors and costs of the questions of a file: no data, no ledger, nothing is spent."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modicum.errors import InvalidArgument, ModicumError
from modicum.plan.shapes import three_digits
from modicum.plan.statistics import plan_of
from modicum.plan.summary import Plan
from modicum.plural import number_of
from modicum.privacy.budget import APPROX_KIND, Budget
from modicum.privacy.event import event_of
from modicum.questions.costs import aligned
from modicum.questions.question import Question, checked_fields
from modicum.questions.questionnaire import Questionnaire
from modicum.statistics.contents import PLANNED

_NOT_EXPECTED = {"epsilon", "rho", "budget", "error", "unit"}


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """The plan of a question, or in words why there is none."""

    question: Question
    plan: Plan | None
    why: str

    @property
    def words(self) -> str:
        """What to expect."""
        if self.plan is None:
            return f"no plan: {self.why}"
        width = self.plan.interval_width
        wide = f"{three_digits(width)} wide" if math.isfinite(width) else "without a bound"
        rows = f"{self.plan.n:,} rows{' in a group' if self.question.by else ''}"
        note = "" if self.plan.status == "ok" else f"; note: {self.plan.status}"
        return f"error {three_digits(self.plan.error)}, interval {wide}, of {rows}{note}"


@dataclass(frozen=True, slots=True)
class QuestionPlans:
    r"""Plans of all questions of a file.

    Attributes
    ----------
    file : str
        Its name.
    plans : tuple of QuestionPlan
        In the order of the file: ``question``, its ``plan``, or in ``why`` the reason that it has
        none.

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
        asked = number_of(len(self.plans), "question")
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


def _asked(
    question: Question, known: Mapping[str, Any], expect: Mapping[str, Any], file: Questionnaire
) -> dict[str, Any]:
    options = {name: value for name, value in question.options.items() if name in known}
    return {**options, **expect, "budget": question.cost, "unit": file.unit}
