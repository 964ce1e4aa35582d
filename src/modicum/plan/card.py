"""The frozen record of a plan."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.plan.shapes import Shape
from modicum.privacy.budget import Budget, decimal_text, short_text
from modicum.privacy.event import Event
from modicum.privacy.unit import NEIGHBOURS, Unit

__all__ = [
    "BinsPlan",
    "CountPlan",
    "CutsPlan",
    "MeanPlan",
    "Plan",
    "QuantilePlan",
    "QuantilesPlan",
    "SpreadPlan",
    "SumPlan",
    "TrimmedPlan",
    "with_article",
]


def with_article(name: str) -> str:
    """Put "a" or "an" before the name of one number, and nothing before that of several."""
    if name in {"quantiles", "pca"}:
        return name
    if name == "monotone":
        return "a monotone statistic"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a release would cost and how far it would be off.

    Attributes
    ----------
    statistic, method : str
        As on a release.
    budget : Budget
        The price, given or found.
    unit : Unit
        Who would be protected.
    n : int
        Number of rows, given or found.
    error : float
        Expected absolute error of the release against the same statistic without privacy.
    wanted : float or None
        The error that was asked for; ``error`` is at most that, but for simulation noise.
    interval_width : float
        Median width of the 95 % interval; infinite if it has no bound.
    passes : int
        Most passes over the data in any run.
    events : tuple of (str, Event)
        The draws of one run and what each costs a row.
    status : str
        ``"ok"``, or the warning that releases of this kind would carry.
    """

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

    @property
    def epsilon(self) -> float | None:
        """ε of the price; ``None`` if it is counted in ρ."""
        return None if self.budget.kind == "zcdp" else float(self.budget.amount)

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.plan/1``)."""
        record = {
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
            **self._data(),
        }
        return json.dumps(record, indent=indent, allow_nan=False)

    def _data(self) -> dict[str, object]:
        return {}

    def _data_words(self) -> str:
        return ""

    def _comparison(self) -> str | None:
        return None

    def __str__(self) -> str:
        named = with_article(self.statistic.replace("_", " "))
        draws = ", ".join(f"{label} {_amount(event)}" for label, event in self.events)
        lines = [
            f"plan for {named} of {self.n:,} rows{self._data_words()}",
            f"  expected error  {_short(self.error)}{self._target()}",
            f"  95 % interval   {self._width()}",
            self._comparison(),
            f"  cost            {self.budget} for {self.unit} ({NEIGHBOURS})",
            f"  spent on        {draws}",
            f"  passes          {self.passes}",
            f"  method          {self.method}",
        ]
        if self.status != "ok":
            lines.append(f"  note            {self.status}")
        return "\n".join(line for line in lines if line is not None)

    def _width(self) -> str:
        width = self.interval_width
        return f"{_short(width)} wide" if math.isfinite(width) else "without a bound"

    def _target(self) -> str:
        return "" if self.wanted is None else f"  ({_short(self.wanted)} wanted)"


@dataclass(frozen=True, slots=True)
class CountPlan(Plan):
    """Plan for a count."""


@dataclass(frozen=True, slots=True)
class SumPlan(Plan):
    """Plan for a sum of a column.

    Attributes
    ----------
    shape : Shape
        The assumed distribution.
    lattice : Lattice
        The public range and step.
    """

    shape: Shape
    lattice: Lattice

    def _data(self) -> dict[str, object]:
        return {
            "shape": self.shape.name,
            "mean": self.shape.mean,
            "sd": self.shape.sd,
            "within": [self.lattice.lo, self.lattice.hi],
            "step": self.lattice.step,
        }

    def _data_words(self) -> str:
        mean, sd = _short(self.shape.mean), _short(self.shape.sd)
        return (
            f", {self.shape.name} with mean {mean} and sd {sd}, "
            f"within [{self.lattice.lo:g}, {self.lattice.hi:g}]"
        )


@dataclass(frozen=True, slots=True)
class MeanPlan(SumPlan):
    """Plan for the mean of a column."""

    @property
    def sampling_error(self) -> float:
        """Standard error sd / sqrt(n) which the data have as a sample, privacy or not."""
        return self.shape.sd / math.sqrt(self.n)

    def _comparison(self) -> str:
        return f"  for comparison  {_short(self.sampling_error)} standard error as a sample"


@dataclass(frozen=True, slots=True)
class SpreadPlan(SumPlan):
    """Plan for a variance, a standard deviation or an interquartile range of a column."""


@dataclass(frozen=True, slots=True)
class QuantilePlan(SumPlan):
    """Plan for a quantile of a column.

    Attributes
    ----------
    q : Fraction
        Which quantile.
    """

    q: Fraction

    def _data(self) -> dict[str, object]:
        return {**super(QuantilePlan, self)._data(), "q": float(self.q)}

    def _data_words(self) -> str:
        return f", q = {short_text(self.q)}{super(QuantilePlan, self)._data_words()}"


@dataclass(frozen=True, slots=True)
class QuantilesPlan(SumPlan):
    """Plan for several quantiles of a column; the error and the width are averages over them.

    Attributes
    ----------
    q : tuple of Fraction
        Which quantiles.
    """

    q: tuple[Fraction, ...]

    def _data(self) -> dict[str, object]:
        return {**super(QuantilesPlan, self)._data(), "q": [float(q) for q in self.q]}

    def _data_words(self) -> str:
        return f", {len(self.q)} quantiles{super(QuantilesPlan, self)._data_words()}"


@dataclass(frozen=True, slots=True)
class CutsPlan(SumPlan):
    """Plan for a histogram or a distribution function; error and width are averages.

    Attributes
    ----------
    cuts : tuple of float
        Edges of the bins, or points.
    """

    cuts: tuple[float, ...]

    def _data(self) -> dict[str, object]:
        return {**super(CutsPlan, self)._data(), "cuts": [str(cut) for cut in self.cuts]}

    def _data_words(self) -> str:
        return f", {len(self.cuts)} cuts{super(CutsPlan, self)._data_words()}"


@dataclass(frozen=True, slots=True)
class BinsPlan(SumPlan):
    """Plan for a histogram whose edges are drawn; error and width are averages over the bins.

    Attributes
    ----------
    bins : int
        How many are asked for.
    """

    bins: int

    def _data(self) -> dict[str, object]:
        return {**super(BinsPlan, self)._data(), "bins": self.bins}

    def _data_words(self) -> str:
        return f", {self.bins} bins{super(BinsPlan, self)._data_words()}"


@dataclass(frozen=True, slots=True)
class TrimmedPlan(SumPlan):
    """Plan for a trimmed or a winsorized mean of a column.

    Attributes
    ----------
    trim : Fraction
        Share of the records beyond each cut.
    """

    trim: Fraction

    def _data(self) -> dict[str, object]:
        return {**super(TrimmedPlan, self)._data(), "trim": float(self.trim)}

    def _data_words(self) -> str:
        return f", trim = {short_text(self.trim)}{super(TrimmedPlan, self)._data_words()}"


def _short(x: float) -> str:
    """Three significant digits, without an exponent where it reads better."""
    rounded = float(f"{x:.3g}")
    return f"{rounded:,.10g}" if 1e-4 <= abs(rounded) < 1e15 or rounded == 0 else f"{rounded:.3g}"


def _amount(event: Event) -> str:
    (amount,) = event.amounts.values()
    return f"{float(amount):.3g}"
