"""What an audit found, as frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event

_SHOWN = 100  # characters of a data set in a text
SLACK = 1e-9
"""Relative slack of a verdict, for the roundings that are left in sums of losses."""


@dataclass(frozen=True, slots=True)
class Path:
    """Where a loss was found: two neighbours and the draws' labels and outcomes, in order.

    Attributes
    ----------
    data, neighbour : object
        The data sets.
    draws : tuple of (str, object)
        The label and the outcome of each draw that came before.

    Examples
    --------
    >>> print(Path((), (1.0,), (("count", 7),)))
    () against (1.0,) at count = 7
    """

    data: object
    neighbour: object
    draws: tuple[tuple[str, object], ...]

    def __str__(self) -> str:
        draws = ", ".join(f"{label} = {outcome}" for label, outcome in self.draws)
        return f"{_short(self.data)} against {_short(self.neighbour)} at {draws or 'the start'}"


def _short(data: object) -> str:
    text = " ".join(str(data).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


@dataclass(frozen=True, slots=True)
class Leak:
    """The first difference that an observer of the steps sees between two data sets.

    Attributes
    ----------
    kind : {"read", "draw", "answer", "error"}
        What differs.
    path : Path
        The data sets and the fixed outcomes before the difference.
    seen, instead : str
        What the data set shows, and what the neighbour shows at the same place.

    Examples
    --------
    >>> path = Path((), (1.0,), (("count", 7),))
    >>> print(Leak("draw", path, "noise of scale 1", "noise of scale 2"))
    draw depends on data: noise of scale 1 but noise of scale 2 (() against (1.0,) at count = 7)
    """

    kind: str
    path: Path
    seen: str
    instead: str

    def __str__(self) -> str:
        return f"{self.kind} depends on data: {self.seen} but {self.instead} ({self.path})"


@dataclass(frozen=True, slots=True)
class StepReport:
    """The draw of one label that used most of its own claim.

    Attributes
    ----------
    label : str
        Of the draw.
    event : Event
        Its claim there.
    loss : float
        Largest loss found, in the unit of the event: ε, range or ρ.
    path : Path
        Where.

    Examples
    --------
    >>> import modicum as mo
    >>> first = mo.audit.check(mo.query.sum(within=(-8, 8), step=1, epsilon=1)).steps[0]
    >>> first.label, str(first.event), round(first.used, 6)
    ('zeros and other values', 'ε = ~0.04000091553', 1.0)
    """

    label: str
    event: Event
    loss: float
    path: Path

    @property
    def used(self) -> float:
        """Loss over claim."""
        (amount,) = self.event.amounts.values()
        return self.loss / float(amount)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Losses of a query over pairs of neighbours and branches of its outcome tree.

    Attributes
    ----------
    statistic, method : str
        What was audited.
    kind : {"pure", "zcdp", "approx"}
        Currency of the claim.
    claimed : Fraction
        ε or ρ that the query is charged.
    worst : float
        Largest loss of the whole release on a branch: the absolute value of the sum of signed
        log ratios, or in zCDP the sum of Rényi divergences over α.
    bound : float
        Largest sum over a branch of the steps' worst losses, whatever their outcomes and
        signs; at least ``worst``.
    where : Path
        Where ``worst`` was found.
    steps : tuple of StepReport
        One a label.
    drawn : Fraction
        Largest sum of the draws' stated costs on a branch.
    pairs, branches : int
        Pairs of neighbours; prefixes of outcomes at which all of them were compared.
    leak : Leak or None
        The first step or answer that depends on data.

    Examples
    --------
    >>> import modicum as mo
    >>> report = mo.audit.check(mo.query.count(epsilon=1))
    >>> report.passed, report.leak, round(report.used, 6)
    (True, None, 1.0)
    """

    statistic: str
    method: str
    kind: Kind
    claimed: Fraction
    worst: float
    bound: float
    where: Path
    steps: tuple[StepReport, ...]
    drawn: Fraction
    pairs: int
    branches: int
    leak: Leak | None

    @property
    def used(self) -> float:
        """Worst loss over claim: above 1 the claim is false, far below 1 budget is wasted."""
        return self.worst / float(self.claimed)

    @property
    def passed(self) -> bool:
        """Whether every loss keeps its claim, the costs add up, and nothing leaks."""
        return (
            self.leak is None
            and self.drawn <= self.claimed
            and max(self.worst, self.bound) <= float(self.claimed) * (1 + SLACK)
            and all(step.used <= 1 + SLACK for step in self.steps)
        )

    def __str__(self) -> str:
        unit = Budget(self.kind, self.claimed).symbol
        lines = [
            f"{self.statistic} ({self.method}): {'passed' if self.passed else 'FAILED'}",
            f"  claimed {unit} = {float(self.claimed):.6g}, worst loss {self.worst:.6g} "
            f"({self.used:.2%}), bound {self.bound:.6g}",
            f"  over {self.pairs} pairs of neighbours and {self.branches} branches",
            f"  worst: {self.where}",
        ]
        lines += [
            f"  {step.label}: {step.loss:.6g} of {step.event} ({step.used:.2%})"
            for step in self.steps
        ]
        if self.leak is not None:
            lines.append(f"  LEAK {self.leak}")
        return "\n".join(lines)
