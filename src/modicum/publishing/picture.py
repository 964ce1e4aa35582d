"""Pictures of released numbers and their intervals, as SVG inside of a page.

Colours are the page's. Each picture says in words what it shows, for those who do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from modicum.publishing.html import escaped, number

WIDTH = 640
_LEFT, _RIGHT = 16, 16
_LEVELS = (0.99, 0.95, 0.8, 0.5)
_LETTER = 7.6  # of a label of 14 points, on average
_LONGEST = 26  # letters of a label


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two ends, ``most`` at most.

    Examples
    --------
    >>> ticks(0.0, 10.0, 6), ticks(1234.0, 1311.0, 4)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1240.0, 1260.0, 1280.0, 1300.0])
    """
    if not (math.isfinite(high - low) and high > low):
        return [low]
    power = 10.0 ** math.floor(math.log10(high - low) - 1)
    for step in (power * each for each in (1, 2, 5, 10, 20, 50, 100)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [float(f"{place * step:.12g}") for place in range(first, last + 1)]
    return [low]


class Scale:
    """From numbers to places on a line of the picture."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        margin = 0.04 * (high - low) or max(abs(low), 1.0) * 0.04
        self.low, self.high = low - margin, high + margin
        self._start, self._end = start, end

    def __call__(self, x: float) -> float:
        share = (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self._start + share * (self._end - self._start), 2)

    def axis(self, y: float) -> str:
        """Draw the line, with round numbers below it."""
        found = [_line(self._start, y, self._end, y, "var(--line)")]
        widest = max(len(number(x)) for x in (self.low, self.high)) + 2
        most = max(2, int((self._end - self._start) / (_LETTER * widest)))
        for x in ticks(self.low, self.high, most):
            found.append(_line(self(x), y, self(x), y + 6, "var(--soft)"))
            found.append(_text(self(x), y + 24, number(x), "middle", "var(--soft)"))
        return "".join(found)


def fan(title: str, value: float, ends: Sequence[tuple[float, float, float]]) -> str:
    """Draw intervals of several levels, wide and pale to narrow and dark, and the value.

    ``ends`` are level, lower and upper.
    """
    ordered = sorted(ends, reverse=True)
    scale = Scale(ordered[0][1], ordered[0][2], _LEFT, WIDTH - _RIGHT)
    parts = []
    for place, (_, lower, upper) in enumerate(ordered):
        x, width = scale(lower), max(scale(upper) - scale(lower), 1.0)
        shade = 0.18 + 0.22 * place
        parts.append(
            f'<rect x="{x}" y="44" width="{round(width, 2)}" height="44" rx="3" '
            f'fill="var(--main)" fill-opacity="{shade:.2f}"/>'
        )
    at = scale(value)
    side = "start" if at < WIDTH / 4 else "end" if at > WIDTH * 3 / 4 else "middle"
    parts.append(_line(at, 34, at, 98, "var(--ink)", 2.5))
    parts.append(_text(at, 26, number(value), side, "var(--ink)", bold=True))
    said = ", ".join(f"{100 * a:g} %: {number(b)} to {number(c)}" for a, b, c in ordered)
    about = f"{title}: {number(value)}. Intervals of {said}."
    return _svg("".join([*parts, scale.axis(108)]), 142, about)


def whiskers(
    title: str, labels: Sequence[str], values: Sequence[float], ends: Sequence[tuple[float, float]]
) -> str:
    """Draw a row for each number: its label, its interval as a line, the number as a dot."""
    shown = [_cut(label) for label in labels]
    start = min(_LEFT + _LETTER * (max(map(len, shown)) + 2), WIDTH * 0.45)
    known = [x for pair in ends for x in pair if math.isfinite(x) and abs(x) < 1e300]
    known += [x for x in values if math.isfinite(x) and abs(x) < 1e300]
    scale = Scale(min(known, default=0.0), max(known, default=1.0), start, WIDTH - _RIGHT)
    parts = []
    for place, (label, value, (lower, upper)) in enumerate(zip(shown, values, ends, strict=True)):
        y = 22 + 26 * place
        parts.append(_text(start - 12, y + 5, label, "end", "var(--ink)"))
        parts.append(_line(scale(lower), y, scale(upper), y, "var(--main)", 3))
        parts += (_line(scale(x), y - 6, scale(x), y + 6, "var(--main)", 2) for x in (lower, upper))
        parts.append(f'<circle cx="{scale(value)}" cy="{y}" r="5" fill="var(--ink)"/>')
    bottom = 22 + 26 * len(shown)
    said = "; ".join(
        f"{label}: {number(value)}, {number(lower)} to {number(upper)}"
        for label, value, (lower, upper) in zip(labels, values, ends, strict=True)
    )
    return _svg("".join([*parts, scale.axis(bottom)]), bottom + 34, f"{title}. {said}.")


def bar(title: str, spent: float, whole: float) -> str:
    """Draw which part of a budget is spent."""
    share = min(max(spent / whole, 0.0), 1.0) if whole > 0 else 1.0
    width = WIDTH - _LEFT - _RIGHT
    frame = f'x="{_LEFT}" y="8" height="26" rx="4"'
    parts = (
        f'<rect {frame} width="{width}" fill="var(--tint)" stroke="var(--line)"/>'
        f'<rect {frame} width="{round(share * width, 2)}" fill="var(--main)"/>'
    )
    return _svg(parts, 42, f"{title}: {100 * share:.0f} % spent.")


def levels() -> tuple[float, ...]:
    """Levels of the intervals of a fan."""
    return _LEVELS


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _line(x: float, y: float, to_x: float, to_y: float, colour: str, width: float = 1) -> str:
    return (
        f'<line x1="{round(x, 2)}" y1="{round(y, 2)}" x2="{round(to_x, 2)}" y2="{round(to_y, 2)}" '
        f'stroke="{colour}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, side: str, colour: str, *, bold: bool = False) -> str:
    weight = ' font-weight="650"' if bold else ""
    return (
        f'<text x="{round(x, 2)}" y="{round(y, 2)}" text-anchor="{side}" fill="{colour}" '
        f'font-size="14"{weight}>{escaped(text)}</text>'
    )


def _svg(parts: str, height: float, about: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escaped(about)}">{parts}</svg>'
