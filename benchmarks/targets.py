"""What the library promises, and whether a run reached it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """One promise and what was measured; smaller is better.

    ``goal`` is an aim beyond it, ``margin`` half of the measurement's 95 % interval.
    """

    name: str
    limit: float
    measured: float | None
    unit: str = "x"
    goal: float | None = None
    note: str = ""
    margin: float = 0.0

    @property
    def state(self) -> str:
        """Whether the limit is kept; a miss within the measurement's error is not called one."""
        if self.measured is None:
            return "not measured"
        if self.measured <= self.limit:
            return "reached"
        return "MISSED" if self.measured - self.margin > self.limit else "above, within error"

    def row(self) -> list[str]:
        """Cells for :func:`table`."""
        measured = "-" if self.measured is None else _with_unit(self.measured, self.unit)
        limit = f"<= {_with_unit(self.limit, self.unit)}"
        if self.goal is not None:
            limit += f" (goal {_with_unit(self.goal, self.unit)})"
        return [self.name, limit, measured, self.state, self.note]


HEADER = ["target", "limit", "measured", "", "note"]


def _with_unit(value: float, unit: str) -> str:
    return f"{value:.3g}{unit}" if unit == "x" else f"{value:.3g} {unit}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Lay out a Markdown table, readable as plain text too."""
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) + " |" for r in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)
