"""How the question of a plan is asked: in Python, and on the command line.

Names of tables and columns stand for those of whoever asks, and so does the cost, which is chosen
later: :data:`AMOUNT` takes its place.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from modicum.plan.solve import Task
from modicum.privacy.budget import Budget, decimal_text
from modicum.privacy.unit import Unit
from modicum.statistics import contents, spec

AMOUNT = "{amount}"
TABLE, COLUMN, TARGET = "table", "value", "y"


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """The question of a plan and the guess of the data.

    ``arguments`` are those of :func:`modicum.plan.release`, but for the number of rows, the cost
    and the error; ``columns`` is how many columns are read together, if they are, and ``slow``
    whether a synthetic release takes long. ``again`` plans it at another cost, or for another
    number of rows; ``task`` is what makes synthetic releases of it, at any cost of the kind of one
    and any size.
    """

    question: Callable[..., Any]
    arguments: Mapping[str, Any]
    columns: int | None
    slow: bool
    again: Callable[..., Any]
    task: Callable[[Budget], Task]

    @property
    def words(self) -> str:
        """What is asked, as the documentation says it."""
        first = (inspect.getdoc(self.question) or "").partition("\n")[0]
        return first.removeprefix("Ask for ").removeprefix("Ask ").replace("``", "")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the question that are not what they are by default."""
        known = inspect.signature(self.question).parameters
        defaults = {
            name: _literal(name, each.default)
            for name, each in known.items()
            if each.default is not each.empty
        }
        return {
            name: value
            for name, value in self.arguments.items()
            if name in known and _literal(name, value) != defaults.get(name)
        }

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.arguments.get("unit") or Unit()

    def python(self, budget: Budget) -> str:
        """Write it in Python."""
        name = self.question.__name__
        options = "".join(f", {each}={_literal(each, x)}" for each, x in self.options.items())
        if self.columns and "target" in inspect.signature(self.question).parameters:
            options = f', target="{TARGET}"{options}'
        asked = f"{self._column()}{options}, {_cost(budget)}".removeprefix(", ")
        unit = "" if self.unit == Unit() else f", unit=mo.{self.unit!r}"
        if self._declared() is not None:
            return f"import modicum as mo\n\nrelease = mo.{name}({TABLE}, {asked}{unit})\n"
        home, _, module = self.question.__module__.rpartition(".")
        return (
            f"import modicum as mo\nfrom {home} import {module}\n\n"
            f"question = {module}.{name}({asked})\n"
            f"curator = mo.Curator({TABLE}, budget=question.budget{unit})\n"
            "release = curator.run(question)\n"
        )

    def command(self, budget: Budget) -> str | None:
        """Write it for the command line, if it can be asked there."""
        declared = self._declared()
        if declared is None or not declared.command:
            return None
        verb = self.question.__name__.replace("_", "-")
        column = self._column(",").replace('"', "").strip()
        words = ["modicum", verb, f"{TABLE}.csv", *([column] if column else [])]
        if self.columns and "target" in declared.options:
            words.append(f"--target={TARGET}")
        words += _words(self.options)
        words += _unit_words(self.unit)
        words += ["--rho" if budget.concentrated else "--epsilon", AMOUNT]
        if budget.approximate:
            words += ["--delta", decimal_text(budget.delta)]
        return " ".join(word if word == AMOUNT else shlex.quote(word) for word in words)

    def _declared(self) -> spec.Declaration | None:
        """What declares it, if it is a statistic and not one of the papers' algorithms."""
        name = self.question.__name__
        declared = contents.find_statistic(name) if name in contents.PLANNED else None
        return declared if declared and declared.question is self.question else None

    def _column(self, between: str = ", ") -> str:
        first, guessed = next(iter(inspect.signature(self.question).parameters)), self.columns
        if guessed is not None:
            names = between.join(f'"x{number}"' for number in range(1, guessed + 1))
            return f"[{names}]" if between == ", " else names
        return f'"{COLUMN}"' if first == "column" and "sd" in self.arguments else ""


def _cost(budget: Budget) -> str:
    if budget.approximate:
        return f'budget=mo.approx("{AMOUNT}", "{decimal_text(budget.delta)}")'
    return f'{"rho" if budget.concentrated else "epsilon"}="{AMOUNT}"'


def _literal(name: str, x: Any) -> str:
    """Write a value in Python; an object of the asker is called as its argument is."""
    if isinstance(x, list | tuple | np.ndarray):
        listed = ", ".join(_literal(name, each) for each in x)
        return f"[{listed}]" if not isinstance(x, tuple) else f"({listed}{',' * (len(x) == 1)})"
    if x is None or isinstance(x, bool | str):
        return json.dumps(x) if isinstance(x, str) else repr(x)
    if isinstance(x, Fraction):
        return f'"{x}"'
    return _digits(x) if isinstance(x, Real) else name


def _digits(x: Real) -> str:
    """Write a number as short as it can be without a change.

    Examples
    --------
    >>> _digits(-1e9), _digits(0.25), _digits(3), _digits(123456789.5)
    ('-1e9', '0.25', '3', '123456789.5')
    """
    if isinstance(x, Integral):
        return str(int(x))
    short = f"{float(x):g}"
    text = short if float(short) == float(x) else repr(float(x))
    return re.sub(r"e\+?(-?)0*(\d)", r"e\1\2", text)


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """Write options for the command line."""
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
            continue
        several = value if isinstance(value, list | tuple | np.ndarray) else [value]
        said = ",".join(_literal(name, each).strip('"') for each in several)
        yield f"{option}={'none' if value is None else said}"


def _unit_words(unit: Unit) -> Iterator[str]:
    if unit.column is None:
        if unit.rows > 1:
            yield f"--rows-per-person={unit.rows}"
        return
    yield f"--unit-column={unit.column}"
    if unit.combine is None:
        yield f"--max-rows={unit.rows}"
    elif not unit.whole:
        yield f"--combine={unit.combine}"
    if unit.order_by is not None:
        yield f"--order-by={unit.order_by}"
