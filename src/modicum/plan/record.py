"""What a plan says: the frozen record, as JSON and in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from modicum.errors import number_of
from modicum.exact.lattice import Lattice
from modicum.plan import solve
from modicum.plan.asked import PlannedQuestion
from modicum.plan.shapes import Shape, TableShape, three_digits
from modicum.privacy.budget import Budget, decimal_text, short_text
from modicum.privacy.event import Event
from modicum.privacy.unit import NEIGHBOURS, Unit
from modicum.releases.publishing.text import USUAL, line, wrapped


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """The fields of :class:`~modicum.plan.Plan`, which says what they are."""

    statistic: str
    method: str
    budget: Budget
    unit: Unit
    n: int
    error: float
    wanted: float | None
    interval_width: float
    passes: int
    events: tuple[tuple[str, Event], ...]
    status: str
    usable: bool = True
    lattice: Lattice | None = None
    shape: Shape | TableShape | None = None
    sampling_error: float | None = None
    q: Fraction | tuple[Fraction, ...] | None = None
    trim: Fraction | None = None
    cuts: tuple[float, ...] | None = None
    bins: int | None = None
    meaning: str | None = None
    noun: str = field(default="a release", repr=False)
    asked: PlannedQuestion | None = field(default=None, repr=False, compare=False)

    @property
    def epsilon(self) -> float | None:
        """ε of the budget; ``None`` if it is counted in ρ."""
        return None if self.budget.concentrated else float(self.budget.amount)

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.plan/1``).

        Parameters
        ----------
        indent : int, optional
            Spaces by which each level is indented; by default all is one line.

        Returns
        -------
        str
            JSON without NaN or infinities: an interval without a bound has the width null.
        """
        record: dict[str, object] = {
            "schema": "modicum.plan/1",
            "statistic": self.statistic,
            "method": self.method,
            "budget_kind": self.budget.kind,
            "epsilon": self.epsilon,
            "budget_exact": decimal_text(self.budget.amount),
            "neighbours": NEIGHBOURS,
            "unit": str(self.unit),
            "unit_rows": self.unit.rows,
            "n": self.n,
            "error": self.error,
            "wanted_error": self.wanted,
            "interval_width": self.interval_width if math.isfinite(self.interval_width) else None,
            "passes": self.passes,
            "events": [{"label": label, "cost": str(event)} for label, event in self.events],
            "status": self.status,
            "usable": self.usable,
        }
        if self.shape is not None:
            record |= self.shape.to_dict(self.lattice)
        if self.meaning is not None:
            record["error_is"] = self.meaning
        record |= {name: value for name, value, _ in self._chosen()}
        return json.dumps(record, indent=indent, allow_nan=False)

    def _chosen(self) -> Iterator[tuple[str, object, str]]:
        """Name, JSON value and words of what only some statistics have."""
        if isinstance(self.q, tuple):
            yield "q", [float(q) for q in self.q], f"{len(self.q)} quantiles"
        elif self.q is not None:
            yield "q", float(self.q), f"q = {short_text(self.q)}"
        if self.trim is not None:
            yield "trim", float(self.trim), f"trim = {short_text(self.trim)}"
        if self.cuts is not None:
            yield "cuts", [str(cut) for cut in self.cuts], f"{len(self.cuts)} cuts"
        if self.bins is not None:
            yield "bins", self.bins, f"{self.bins} bins"

    def __str__(self) -> str:
        lines = (line(name, words, 15) for name, words in said(self))
        return "\n".join([wrapped("", self.heading, "    "), *lines])

    @property
    def heading(self) -> str:
        """What was planned, in one line."""
        about = "".join(f", {words}" for _, _, words in self._chosen())
        if self.shape is not None:
            about += self.shape.words(self.lattice)
        return f"plan for {self.noun} of {number_of(self.n, 'row')}{about}"


def said(plan: PlanRecord) -> Iterator[tuple[str, str]]:
    """Yield what a plan says, as names and words."""
    wanted = "" if plan.wanted is None else f"  ({three_digits(plan.wanted)} wanted)"
    width = "without a bound"
    if math.isfinite(plan.interval_width):
        width = f"{three_digits(plan.interval_width)} wide"
    if plan.usable:
        yield "expected error", f"{three_digits(plan.error)}{wanted}"
        yield "95 % interval", width
    else:
        yield "expected error", f"no usable answer{wanted}, see the note"
    if plan.sampling_error is not None:
        standard = three_digits(plan.sampling_error)
        yield "for comparison", f"{standard} standard error as a sample"
    if plan.meaning is not None:
        yield "the error is", plan.meaning
    yield "cost", f"{plan.budget} for {plan.unit} ({NEIGHBOURS})"
    yield "spent on", solve.spent_on(plan.events, plan.budget)
    yield "passes", str(plan.passes)
    if plan.method != USUAL:
        yield "method", plan.method
    if plan.status != "ok":
        yield "note", plan.status
