"""Plans that differ in one thing, the cost or the number of rows: a table, and a curve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from modicum import errors
from modicum.plan.record import PlanRecord
from modicum.plan.shapes import three_digits
from modicum.releases.publishing.html import card, facts, table
from modicum.releases.publishing.text import aligned, line

P = TypeVar("P", bound=PlanRecord)
_NAMES = {"epsilon": "ε", "rho": "ρ", "n": "rows"}


@dataclass(frozen=True, slots=True, repr=False)
class PlanCurve(Sequence[P], Generic[P]):
    """Plans for several costs, or for several numbers of rows; made by :meth:`Plan.curve`.

    It is a sequence of plans, in the order asked.

    Attributes
    ----------
    varied : str
        ``"epsilon"``, ``"rho"`` or ``"n"``.
    plans : tuple of Plan
        The plans.

    Examples
    --------
    >>> from modicum import plan
    >>> found = plan.count(epsilon=1).curve(epsilon=["0.1", 1])
    >>> [row["epsilon"] for row in found.frame()], found[0].error > 5 * found[1].error
    ([0.1, 1.0], True)
    """

    varied: str
    plans: tuple[P, ...]

    def __getitem__(self, place: Any) -> Any:
        return self.plans[place]

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[P]:
        return iter(self.plans)

    def frame(self) -> list[dict[str, float | None]]:
        """Return a row for each plan, of which pandas, Polars and PyArrow make a table.

        Its columns are ``epsilon``, ``rho`` or ``n``, ``error``, ``interval_width`` (infinite
        without a bound) and ``sampling_error``.
        """
        return [
            {
                self.varied: x,
                "error": plan.error,
                "interval_width": plan.interval_width,
                "sampling_error": plan.sampling_error,
            }
            for x, plan in zip(self._x, self.plans, strict=True)
        ]

    @property
    def _x(self) -> list[float]:
        if self.varied == "n":
            return [float(plan.n) for plan in self.plans]
        return [float(plan.budget.amount) for plan in self.plans]

    def plot(self, ax: Any = None) -> Any:
        """Draw the expected error, and half of the 95 % interval, on scales of logarithms.

        It needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        matplotlib Axes
            With the sampling error too, where a plan has one. A number that is a million times as
            large as the smallest, or without a bound, is an arrow at the upper end.

        Raises
        ------
        InvalidArgument
            Without matplotlib.
        """
        from modicum.releases.publishing import plots

        lines = [
            ("expected error", [plan.error for plan in self.plans]),
            ("half of the 95 % interval", [plan.interval_width / 2 for plan in self.plans]),
        ]
        sampling = [plan.sampling_error for plan in self.plans if plan.sampling_error is not None]
        if len(sampling) == len(self):
            lines.append(("standard error as a sample", sampling))
        return plots.curves(
            self._x, lines, ax, self._heading, _NAMES[self.varied], "error, in the data's unit"
        )

    @property
    def _heading(self) -> str:
        first = self.plans[0]
        fixed = str(first.budget) if self.varied == "n" else errors.number_of(first.n, "row")
        return f"plans for {first.noun}: {fixed}"

    def _cells(self) -> list[list[str]]:
        sampled = all(plan.sampling_error is not None for plan in self.plans)
        head = [_NAMES[self.varied], "expected error", "95 % interval"]
        rows = [[*head, *["standard error as a sample"] * sampled]]
        for x, plan in zip(self._x, self.plans, strict=True):
            width = plan.interval_width
            wide = f"{three_digits(width)} wide" if width < float("inf") else "without a bound"
            sampling = [three_digits(plan.sampling_error or 0.0)] * sampled
            found = [three_digits(plan.error), wide] if plan.usable else ["no usable answer", ""]
            rows.append([f"{x:,.6g}", *found, *sampling])
        return rows

    def _notes(self) -> list[str]:
        return [*dict.fromkeys(plan.status for plan in self.plans if plan.status != "ok")]

    def __str__(self) -> str:
        notes = [line("note", words, 5) for words in self._notes()]
        return "\n".join([self._heading, *aligned(self._cells()), *notes])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        head, *rows = self._cells()
        notes = facts(("note", words) for words in self._notes())
        return card(self._heading, table(head, rows, labels=1), notes)


def checked_values(**lists: Any) -> tuple[str, list[Any]]:
    """Read the one of several lists of numbers that was given."""
    given = {name: values for name, values in lists.items() if values is not None}
    if len(given) != 1:
        names = ", ".join(f"{name}=" for name in lists)
        raise errors.InvalidArgument(
            f"give exactly one of {names}, a list, such as epsilon=[0.1, 0.3, 1]; got {len(given)}"
        )
    ((name, values),) = given.items()
    if isinstance(values, str | int | float | Fraction) or not isinstance(values, Iterable):
        raise errors.InvalidArgument(
            f"{name} must be a list, such as [{values!r}], got {errors.as_given(values)}"
        )
    several = list(values)
    if not several:
        raise errors.InvalidArgument(f"{name} must be a list of at least one number, got none")
    return name, several
