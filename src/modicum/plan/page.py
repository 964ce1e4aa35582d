"""The page of a plan: its error at other costs and numbers of rows, as curves and as tables.

The curves are computed beforehand and stored in the page; a script interpolates them as sliders are
moved. Without it the page shows the plan itself, and all that was computed as tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from modicum import errors, version
from modicum.plan import curves, shapes, solve
from modicum.plan.asked import AMOUNT, PlannedQuestion
from modicum.plan.grid import Grid, grid_of, steps
from modicum.plan.record import PlanRecord
from modicum.privacy.budget import PURE_KIND, Budget, decimal_text
from modicum.privacy.unit import NEIGHBOURS
from modicum.releases.publishing import page as html
from modicum.releases.publishing.html import escaped

_SCRIPT = Path(__file__).with_name("page.js")
_ERROR = "the mean absolute difference from the same statistic without privacy"
_COMPARED = "standard error of the data as a sample"


def page_of(plan: PlanRecord, title: str | None = None) -> str:
    """Write the page of a plan, which computes it anew at other costs and sizes."""
    if plan.asked is None:
        raise errors.InvalidArgument(
            "this plan does not know its question: make it with modicum.plan"
        )
    named = title or f"Plan for {plan.noun}"
    return PlanPage(plan, plan.asked, grid_of(plan, plan.asked)).text(named)


@dataclass(frozen=True, slots=True)
class PlanPage:
    """A plan, its question, and the plans around it."""

    plan: PlanRecord
    asked: PlannedQuestion
    grid: Grid

    def text(self, title: str) -> str:
        """Write the page."""
        about = "No data were read: the plan was made from made-up rows, and costs nothing."
        body = [
            html.header(title, about),
            html.section("The question", *self._question()),
            html.section("How accurate the answer will be", *self._accuracy()),
            html.section("What is assumed", html.bullets(self._assumed())),
            html.section("What it costs", *self._price()),
            html.section("How to ask it", *self._calls()),
            html.section("All that was computed", *self._tables()),
            html.footer(f"Written by modicum {version.VERSION}."),
        ]
        script = _SCRIPT.read_text("utf-8")
        return html.page(title, body, record=self._record(), style=curves.STYLE, script=script)

    @property
    def _panels(self) -> tuple[curves.Panel, curves.Panel]:
        return curves.panels_of(self.grid, self._sampling, self.plan.budget.symbol)

    @property
    def _sampling(self) -> float | None:
        """Standard deviation of which the standard error is a share."""
        error = self.plan.sampling_error
        return None if error is None else error * math.sqrt(self.plan.n)

    @property
    def _place(self) -> tuple[int, int]:
        return self.grid.costs.index(self.plan.budget), self.grid.sizes.index(self.plan.n)

    def _question(self) -> Iterator[str]:
        words = self.asked.words
        yield html.paragraph(words[:1].upper() + words[1:], "lead")
        yield html.definitions([("planned", self.plan.heading.removeprefix("plan for "))])

    def _accuracy(self) -> Iterator[str]:
        yield self._sliders()
        yield f'<div aria-live="polite">{self._said()}</div>'
        keys = [("error", "expected error"), ("half", "half of the 95 % interval")]
        keys += [("sampling", _COMPARED)] if self._sampling is not None else []
        legend = "".join(
            f'<span><span class="key {kind}"></span>{escaped(words)}</span>' for kind, words in keys
        )
        i, j = self._place
        drawn = "".join(panel.svg(self.grid, i, j, self._sampling) for panel in self._panels)
        yield (
            f'<figure><p class="keys">{legend}</p><div class="panels">{drawn}</div><figcaption>'
            "Left: at the chosen cost. Right: with the chosen number of rows. Both axes are "
            "logarithmic. Points were computed, and lines join them.</figcaption></figure>"
        )
        yield (
            '<noscript><p class="sub">The sliders need JavaScript. The curves are those of the '
            "plan, and the tables below have the others.</p></noscript>"
        )

    def _sliders(self) -> str:
        amounts, sizes = self._steps()
        places = amounts.index(self.plan.budget.amount), sizes.index(self.plan.n)
        rows = []
        for name, words, all_of_them, place in (
            ("amount", f"Cost, {self.plan.budget.symbol}", amounts, places[0]),
            ("rows", "Number of rows", sizes, places[1]),
        ):
            rows.append(
                f'<label for="{name}">{escaped(words)}</label>'
                f'<input type="range" id="{name}" min="0" max="{len(all_of_them) - 1}" step="1" '
                f'value="{place}">'
            )
        return f'<div id="sliders" class="sliders" hidden>{"".join(rows)}</div>'

    def _steps(self) -> tuple[list[Fraction], list[int]]:
        """Values of the sliders."""
        own, costs, sizes = self.plan.budget.amount, self.grid.costs, self.grid.sizes
        found = steps(Fraction(self.plan.n), Fraction(sizes[0]), Fraction(sizes[-1]))
        return (
            steps(own, costs[0].amount, costs[-1].amount),
            sorted({math.ceil(each) for each in found}),
        )

    def _said(self) -> str:
        plan, (i, j) = self.plan, self._place
        point = self.grid.points[i][j]
        pairs = [
            ("cost", "cost", str(plan.budget)),
            ("rows", "rows", f"{plan.n:,}"),
            ("error", "expected error", _cell(point.error)),
            ("half", "95 % interval", "–" if point.half is None else f"± {_cell(point.half)}"),
        ]
        if plan.sampling_error is not None:
            pairs.append(("sampling", _COMPARED, shapes.three_digits(plan.sampling_error)))
        pairs.append(("status", "note of the release", point.status))
        lines = (
            f'<dt>{escaped(name)}</dt><dd id="said-{key}">{escaped(words)}</dd>'
            for key, name, words in pairs
        )
        return f"<dl>{''.join(lines)}</dl>"

    def _assumed(self) -> Iterator[str]:
        plan = self.plan
        if plan.shape is None:
            yield "The values play no part, so nothing is assumed of them."
        else:
            yield f"Made-up rows{plan.shape.words(plan.lattice)}."
            yield (
                "This guess has to come from public knowledge. As far as the data differ from it, "
                "so does the error."
            )
        if isinstance(plan.shape, shapes.Shape):
            yield 'Heavy tails make the error larger: shape="pareto" is a cautious guess.'
        if self.asked.arguments.get("rows_each") is not None:
            each = shapes.three_digits(float(self.asked.arguments["rows_each"]))
            yield f"A person has {each} rows on average, whose values do not depend on the person."
        yield (
            f"The error is {plan.meaning or _ERROR}. It is usually within 20 % of the average of "
            "releases. That the data are a sample themselves is another error, and comes on top."
        )
        yield (
            f"The plan was made again for {len(self.grid.costs)} costs and {len(self.grid.sizes)} "
            f"numbers of rows, from {self.grid.runs} made-up releases each, and 95 % intervals are "
            "of median width. Between those points the page interpolates linearly in logarithms; "
            "where data become too few for a method the error jumps, and the page blurs the jump."
        )
        if not self.grid.whole:
            yield "Costs and sizes were left out where planning takes long."

    def _price(self) -> Iterator[str]:
        budget, unit = self.plan.budget, self.plan.unit
        if budget.kind == PURE_KIND:
            times = shapes.three_digits(math.exp(min(float(budget.amount), 700)))
            yield (
                f"<p>Whoever sees the answer, whatever else they know: the odds of any guess about "
                f'{escaped(unit)} change by a factor of <span id="said-odds">{times}</span> at '
                "most.</p>"
            )
        yield html.definitions(
            [
                ("protected", str(unit)),
                ("neighbouring data sets", NEIGHBOURS),
                ("cost as planned", str(budget)),
                ("spent on", solve.spent_on(self.plan.events, budget)),
                ("passes over the data", str(self.plan.passes)),
                ("method", self.plan.method),
            ]
        )

    def _calls(self) -> Iterator[str]:
        amount = decimal_text(self.plan.budget.amount)
        for name, words in (("python", "In Python"), ("command", "On the command line")):
            if name not in (calls := self._templates()):
                continue
            call = calls[name].replace(AMOUNT, amount)
            yield html.paragraph(f"{words}, with the names of your table and column:")
            yield (
                f'<div class="call"><pre id="{name}" tabindex="0">{escaped(call)}</pre>'
                f'<button type="button" data-copies="{name}" hidden>Copy</button></div>'
            )

    def _templates(self) -> dict[str, str]:
        command = self.asked.command(self.plan.budget)
        found = {"python": self.asked.python(self.plan.budget)}
        return found if command is None else found | {"command": command}

    def _tables(self) -> Iterator[str]:
        head = ["rows", *(str(cost) for cost in self.grid.costs)]
        for name, words in (("error", "Expected error"), ("half", "Half of the 95 % interval")):
            values = self._values(name)
            rows = (
                [f"{size:,}", *(_cell(each[place]) for each in values)]
                for place, size in enumerate(self.grid.sizes)
            )
            yield html.paragraph(f"{words}, by the number of rows and the cost:")
            yield html.numbers(head, rows, labels=1, name=words)
        yield html.paragraph(
            "– is an answer that cannot be used, no bound, or a point that was left out.", "sub"
        )

    def _values(self, name: str) -> list[list[float | None]]:
        """Numbers of the points, by cost and size."""
        return [[getattr(each, name) for each in row] for row in self.grid.points]

    def _record(self) -> dict[str, Any]:
        plan, grid = self.plan, self.grid
        amounts, sizes = self._steps()
        statuses = [*dict.fromkeys(each.status for row in grid.points for each in row)]
        template = Budget(plan.budget.kind, Fraction(7), plan.budget.delta)
        return {
            "schema": "modicum.plan-page/1",
            "plan": json.loads(plan.to_json()),
            "amounts": [float(cost.amount) for cost in grid.costs],
            "sizes": grid.sizes,
            "error": self._values("error"),
            "half": self._values("half"),
            "statuses": statuses,
            "status": [[statuses.index(each.status) for each in row] for row in grid.points],
            "sampling": self._sampling,
            "steps": {"amounts": [decimal_text(each) for each in amounts], "sizes": sizes},
            "values": [float(each) for each in amounts],
            "cost": str(template).replace("7", AMOUNT, 1),
            "panels": [panel.record() for panel in self._panels],
            "calls": self._templates(),
        }


def _cell(x: float | None) -> str:
    return "–" if x is None else shapes.three_digits(x)
