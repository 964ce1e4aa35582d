"""Curves of a plan's page, as SVG: the error and the interval against the rows, and the cost.

Both axes are logarithmic. A script draws the curves anew, in the same places, as sliders are moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from modicum.plan.grid import Grid
from modicum.releases.publishing.html import escaped

STYLE = """
.panels{display:grid;grid-template-columns:1fr 1fr;gap:1rem}
.panels svg{width:100%;height:auto;display:block}
.panels text{fill:var(--soft);font-size:12px;font-family:inherit}
.grid{stroke:var(--line)}
.panels path{fill:none}
path.error,.key.error{stroke:var(--main);border-color:var(--main);stroke-width:2.5}
path.half,.key.half{stroke:var(--warn);border-color:var(--warn);border-style:dashed;
stroke-width:2;stroke-dasharray:6 4}
path.sampling,.key.sampling{stroke:var(--soft);border-color:var(--soft);border-style:dotted;
stroke-width:2;stroke-dasharray:2 4}
circle.error{fill:var(--main)}circle.half{fill:var(--warn)}circle.sampling{fill:var(--soft)}
.chosen{stroke:var(--soft);stroke-dasharray:1 3}
.keys{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;color:var(--soft);font-size:.9rem}
.key{display:inline-block;width:1.75rem;border-top-width:3px;border-top-style:solid;
vertical-align:middle;margin-right:.4rem}
.sliders{display:grid;grid-template-columns:max-content 1fr;gap:.75rem 1.25rem;align-items:center;
margin:1rem 0}
.sliders[hidden]{display:none}
input[type=range]{width:100%;min-height:1.75rem;accent-color:var(--main)}
.call pre{margin-bottom:.4rem}
button{font:inherit;font-size:.9rem;padding:.2rem .75rem;color:var(--main);
background:var(--paper);border:1px solid var(--soft);border-radius:4px}
tbody th{white-space:nowrap}
@media (max-width:40rem){.panels{grid-template-columns:1fr}}
@media (max-width:30rem){.sliders{grid-template-columns:1fr;gap:.25rem}}
@media print{.sliders,button{display:none}}
"""
_WIDTH, _HEIGHT = 350, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 336, 10, 212
_TICKS = 6
_ROOM = 30.0  # how far above the largest error a wide interval is drawn
_UPPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
Kind = Literal["error", "half", "sampling"]


class LogAxis(NamedTuple):
    """Logarithms of the ends, and where these are."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Hold all values, with some room."""
        logs = [math.log10(each) for each in values if 0 < each < math.inf] or [0.0]
        room = 0.03 * (max(logs) - min(logs)) or 0.5
        return cls(min(logs) - room, max(logs) + room, start, end)

    def at(self, x: float) -> float:
        """Where a number is."""
        share = (math.log10(x) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Powers of ten, not too many of them; between two of them 2 and 5 times these."""
        first, last = math.floor(self.low), math.ceil(self.high)
        stride = -(-(last - first) // _TICKS)
        parts = (1, 2, 5) if last - first <= _TICKS // 3 else (1,)
        powers = [k for k in range(first, last + 1) if k % stride == 0]
        found = [float(f"{each}e{k}") for k in powers for each in parts]
        return [x for x in found if self.low <= math.log10(x) <= self.high]


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the two pictures: against the rows, or against the cost."""

    name: Literal["by-rows", "by-cost"]
    title: str
    x: LogAxis
    y: LogAxis

    def record(self) -> dict[str, Any]:
        """What the script needs to draw in it."""
        return {"name": self.name, "x": self.x, "y": self.y}

    def svg(self, grid: Grid, i: int, j: int, sampling: float | None) -> str:
        """Draw the curves through the point of a cost and a size."""
        sizes = self.name == "by-rows"
        xs = [*grid.sizes] if sizes else [float(cost.amount) for cost in grid.costs]
        points = grid.points[i] if sizes else [row[j] for row in grid.points]
        curves: dict[Kind, list[float | None]] = {
            "error": [each.error for each in points],
            "half": [each.half for each in points],
        }
        if sampling is not None:
            rows = grid.sizes if sizes else [grid.sizes[j]] * len(xs)
            curves["sampling"] = [sampling / math.sqrt(n) for n in rows]
        chosen, about = j if sizes else i, f"Expected error and half of the interval, {self.title}."
        parts = [
            *self._frame(),
            f'<clipPath id="{self.name}-clip"><rect x="{_LEFT}" y="{_TOP}" '
            f'width="{_RIGHT - _LEFT}" height="{_BOTTOM - _TOP}"/></clipPath>',
            f'<g clip-path="url(#{self.name}-clip)">',
            f'<line id="{self.name}-chosen" class="chosen" x1="{self.x.at(xs[chosen])}" '
            f'x2="{self.x.at(xs[chosen])}" y1="{_TOP}" y2="{_BOTTOM}"/>',
            *(self._curve(kind, xs, ys, chosen) for kind, ys in curves.items()),
            "</g>",
        ]
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escaped(about)} The tables below have the numbers.">'
            f"{''.join(parts)}</svg>"
        )

    def _frame(self) -> Iterator[str]:
        for x in self.x.ticks():
            at = self.x.at(x)
            yield f'<line class="grid" x1="{at}" x2="{at}" y1="{_TOP}" y2="{_BOTTOM}"/>'
            yield f'<text x="{at}" y="{_BOTTOM + 18}" text-anchor="middle">{_power(x)}</text>'
        for y in self.y.ticks():
            at = self.y.at(y)
            yield f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{at}" y2="{at}"/>'
            yield f'<text x="{_LEFT - 8}" y="{at + 4}" text-anchor="end">{_power(y)}</text>'
        middle = (_LEFT + _RIGHT) / 2
        title = escaped(self.title.removeprefix("against "))
        yield f'<text x="{middle}" y="{_BOTTOM + 40}" text-anchor="middle">{title}</text>'

    def _curve(
        self, kind: Kind, xs: Sequence[float], ys: Sequence[float | None], chosen: int
    ) -> str:
        path, broken = "", True
        for x, y in zip(xs, ys, strict=True):
            if y is None or y <= 0:
                broken = True
                continue
            path += f"{'M' if broken else 'L'}{self.x.at(x)} {self.y.at(y)}"
            broken = False
        y = ys[chosen]
        place = f'cx="{self.x.at(xs[chosen])}" cy="{self.y.at(y)}"' if y else 'visibility="hidden"'
        name = f"{self.name}-{kind}"
        return (
            f'<path id="{name}" class="{kind}" d="{path}"/>'
            f'<circle id="{name}-dot" class="{kind}" r="5" {place}/>'
        )


def panels_of(grid: Grid, sampling: float | None, symbol: str) -> tuple[Panel, Panel]:
    """The two pictures of a grid, with one scale for what they show."""
    points = [each for row in grid.points for each in row]
    shown = [each.error for each in points if each.error is not None]
    if sampling is not None:
        shown += [sampling / math.sqrt(n) for n in grid.sizes]
    most = _ROOM * max(shown, default=1.0)
    shown += [min(each.half, most) for each in points if each.half is not None]
    y = LogAxis.of(shown, _BOTTOM, _TOP)
    costs = [float(cost.amount) for cost in grid.costs]
    return (
        Panel("by-rows", "against the number of rows", LogAxis.of(grid.sizes, _LEFT, _RIGHT), y),
        Panel("by-cost", f"against the cost {symbol}", LogAxis.of(costs, _LEFT, _RIGHT), y),
    )


def _power(x: float) -> str:
    """Write a round number of an axis."""
    if 1e-3 <= x < 1e5:
        return f"{x:,g}"
    mantissa, _, exponent = f"{x:.0e}".partition("e")
    return f"{'' if mantissa == '1' else mantissa + '·'}10{str(int(exponent)).translate(_UPPER)}"
