"""Pictures of released numbers and their intervals, inside of a page.

Shapes are SVG that is stretched to the width of the page; labels and the numbers of axes are text
of the page, so that they can be read on a narrow screen too. Colours are the page's. Each picture
says in words what it shows, for those who do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from modicum.releases.publishing.html import escaped, number

STYLE = """
.plot svg{display:block;width:100%;overflow:visible}
.plot line,.plot path,.plot polyline{vector-effect:non-scaling-stroke}
.axis,.mark{position:relative;height:1.6rem;font-size:.82rem;color:var(--soft)}
.axis{border-top:1px solid var(--line)}
.mark{font-size:.95rem;font-weight:650;color:var(--ink)}
.axis span,.mark span{position:absolute;top:.35rem;transform:translateX(-50%);white-space:nowrap;
font-variant-numeric:tabular-nums}
.mark span{top:0}
.axis span:before{content:"";position:absolute;left:50%;top:-.35rem;height:.3rem;
border-left:1px solid var(--soft)}
.axis .start,.mark .start{transform:none}
.axis .end,.mark .end{transform:translateX(-100%)}
.axis .start:before{left:0}
.axis .end:before{left:100%}
.rows{display:grid;grid-template-columns:minmax(3rem,max-content) minmax(0,1fr);
gap:0 .8rem;align-items:center}
.rows .name{max-width:13rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;
text-align:right;font-size:.9rem}
.tall{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:0 .6rem}
.tall .side{position:relative;font-size:.82rem;color:var(--soft);
font-variant-numeric:tabular-nums}
.tall .side span{position:absolute;right:0;transform:translateY(-50%)}
@media (max-width:30rem){.rows .name{max-width:7.5rem}}
"""

LEVELS = (0.99, 0.95, 0.8, 0.5)
"""Of the intervals of a picture that has no curve."""

CURVE = (
    *(place / 100 for place in range(4, 92, 8)),
    *(1 - 0.1 * 10 ** (-place / 12) for place in range(25)),
)
"""Of the intervals that a curve is made of."""

_WIDE, _HIGH = 1000.0, 200.0  # of the shapes; they are stretched
_FEWEST = 6  # different ends on each side that make a curve
_LEGIBLE = 0.004  # of the width of a picture
_LETTERS = 40  # of the numbers of an axis on a narrow screen

Ends = tuple[float, float, float]
"""A level, and the lower and the upper end of its interval."""


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two ends, ``most`` at most.

    Examples
    --------
    >>> ticks(0.0, 10.0, 6), ticks(1234.0, 1311.0, 4)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1240.0, 1260.0, 1280.0, 1300.0])
    """
    power = 10.0 ** math.floor(math.log10(high - low) - 1)
    for step in (power * each for each in (1, 2, 5, 10, 20, 50, 100)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [float(f"{place * step:.12g}") for place in range(first, last + 1)]
    return []


def drawable(numbers: Iterable[float]) -> bool:
    """Whether numbers are finite, and neither too far from each other nor too near to draw."""
    some = [*numbers]
    if not some or not all(abs(x) < 1e300 for x in some):
        return False
    span = max(some) - min(some)
    return math.isfinite(span) and span > max(map(abs, some)) * 1e-13


class NumberLine:
    """From numbers to places on a line, as shares of its length."""

    def __init__(self, low: float, high: float) -> None:
        margin = 0.04 * (high - low)
        self.low, self.high = low - margin, high + margin

    def __call__(self, x: float) -> float:
        """The place of a number."""
        share = (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)
        return round(share, 5)

    def x(self, x: float) -> float:
        """The place in a picture of shapes."""
        return round(_WIDE * self(x), 2)

    def axis(self) -> str:
        """Round numbers, each at its place."""
        for most in range(7, 1, -1):
            found = {_tick(x): self(x) for x in ticks(self.low, self.high, most)}
            if sum(len(text) + 2 for text in found) <= _LETTERS:
                break
        spans = "".join(f"<span{_at(at)}>{escaped(text)}</span>" for text, at in found.items())
        return f'<div class="axis">{spans}</div>'


def curve_of(value: float, ends: Sequence[Ends]) -> list[tuple[float, float]] | None:
    """Points of the density of an error, turned about the value, from intervals of many levels.

    An interval of level p misses on each side with a probability of (1 - p) / 2, so its ends are
    points of a distribution. On each side of the value the least concave curve above them is taken,
    whose slope is the density. ``None`` if too few intervals differ.
    """
    sides = []
    for side in (1, 2):
        points: dict[float, float] = {0.0: 0.0}
        reach = 0.0
        for each in ends:
            reach = max(reach, abs(each[side] - value))  # a wider level reaches no less far
            points[reach] = each[0] / 2
        if len(points) <= _FEWEST:
            return None
        sides.append([*_slopes(_majorant([*points.items()]))])
    left = [(value - t, height) for t, height in reversed(sides[0])]
    return left + [(value + t, height) for t, height in sides[1]]


def _majorant(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of the least concave curve above points in increasing order."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2], kept[-1]
            if (d - b) * (x - c) > (y - d) * (c - a):
                break
            kept.pop()
        kept.append((x, y))
    return kept


def _slopes(corners: Sequence[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    """Slopes in the middle of each stretch, the first one from the start."""
    slopes = [((a + c) / 2, (d - b) / (c - a)) for (a, b), (c, d) in pairwise(corners)]
    yield 0.0, slopes[0][1]
    yield from slopes
    yield corners[-1][0], slopes[-1][1] / 2


def curve(
    title: str, shown: str, value: float, noise: Sequence[Ends], interval: Ends
) -> str | None:
    """Draw the density of the noise about the value, and below it an interval.

    ``shown`` is the value as it is written; ``noise`` has intervals of many levels. ``None`` if
    these make no curve.
    """
    points = curve_of(value, noise)
    if points is None:
        return None
    level, lower, upper = interval
    far = next(each for each in noise if each[0] >= 0.99)
    scale = NumberLine(min(far[1], lower), max(far[2], upper))
    top = max(height for _, height in points)
    drawn = [
        (scale.x(x), _HIGH * (1 - 0.94 * height / top))
        for x, height in points
        if scale.low <= x <= scale.high
    ]
    path = _path(drawn)
    shapes = (
        f'<path d="M{drawn[0][0]},{_HIGH:g} {path} {drawn[-1][0]},{_HIGH:g}Z" fill="var(--pale)"/>'
        f'<polyline points="{path}" fill="none" stroke="var(--main)" stroke-width="2"/>'
        f"{_line(scale.x(value), 0, scale.x(value), _HIGH, 'var(--ink)', 2.5)}"
    )
    said = (
        f"{title}: {shown}. A curve that is highest there and falls off to both sides, and the "
        f"interval of {100 * level:g} %, {number(lower)} to {number(upper)}."
    )
    whole = _svg(_whisker(scale.x(lower), scale.x(upper)), 20, 22)
    return _plot(
        f"{_mark(scale(value), shown)}{_svg(shapes, _HIGH, 150)}{scale.axis()}{whole}", said
    )


def fan(title: str, shown: str, value: float, ends: Sequence[Ends]) -> str:
    """Draw intervals of several levels, wide and pale to narrow and dark, and the value."""
    ordered = sorted(ends, reverse=True)
    scale = NumberLine(min(value, ordered[0][1]), max(value, ordered[0][2]))
    shapes = []
    for place, (_, lower, upper) in enumerate(ordered):
        x, width = scale.x(lower), max(scale.x(upper) - scale.x(lower), 1.0)
        shapes.append(
            f'<rect x="{x}" y="30" width="{round(width, 2)}" height="140" '
            f'fill="var(--main)" fill-opacity="{0.25 + 0.2 * place:.2f}"/>'
        )
    shapes.append(_line(scale.x(value), 0, scale.x(value), _HIGH, "var(--ink)", 2.5))
    several = ", ".join(
        f"the interval of {100 * level:g} % is {number(lower)} to {number(upper)}"
        for level, lower, upper in ordered
    )
    said = f"{title}: {shown}; {several}."
    drawn = _svg("".join(shapes), _HIGH, 64)
    return _plot(f"{_mark(scale(value), shown)}{drawn}{scale.axis()}", said)


def rows(
    title: str, labels: Sequence[str], values: Sequence[float], ends: Sequence[tuple[float, float]]
) -> str | None:
    """Draw a row for each number: its label, its interval as a line, the number as a dot.

    ``None`` if most of the numbers could not be told apart, as those in different units.
    """
    scale = NumberLine(*_outermost(values, ends))
    origin = scale(0.0)
    legible = sum(
        max(scale(upper) - scale(lower), abs(scale(value) - origin)) >= _LEGIBLE
        for value, (lower, upper) in zip(values, ends, strict=True)
    )
    if 2 * legible < len(values):
        return None
    parts = []
    for label, value, (lower, upper) in zip(labels, values, ends, strict=True):
        a, b, at = scale.x(lower), scale.x(upper), scale.x(value)
        shapes = (
            f'{_whisker(a, b)}<path d="M{at} 10h.01" stroke="var(--ink)" stroke-width="10" '
            'stroke-linecap="round"/>'
        )
        parts.append(f'<span class="name">{escaped(label)}</span>{_svg(shapes, 20, 26)}')
    shown = (
        f"{label}: {number(value)}, {number(lower)} to {number(upper)}"
        for label, value, (lower, upper) in zip(labels, values, ends, strict=True)
    )
    return _plot(
        f'<div class="rows">{"".join(parts)}<span></span>{scale.axis()}</div>',
        f"{title}. {'; '.join(shown)}.",
    )


def profile(
    title: str, labels: Sequence[str], values: Sequence[float], ends: Sequence[tuple[float, float]]
) -> str:
    """Draw many numbers beside each other: intervals as vertical bars, numbers as marks on them."""
    scale = NumberLine(*_outermost(values, ends))
    wide = _WIDE / len(values)

    def y(x: float) -> float:
        return round(_HIGH * (1 - scale(x)), 2)

    shapes = []
    for place, (value, (lower, upper)) in enumerate(zip(values, ends, strict=True)):
        x, high = round(place * wide, 2), max(y(lower) - y(upper), 1.0)
        shapes.append(
            f'<rect x="{x}" y="{y(upper)}" width="{0.8 * wide:.2f}" height="{high:.2f}" '
            'fill="var(--pale)"/>'
        )
        shapes.append(_line(x, y(value), x + 0.8 * wide, y(value), "var(--main)", 2))
    marks = {_tick(x): 1 - scale(x) for x in ticks(scale.low, scale.high, 5)}
    side = "".join(
        f'<span style="top:{100 * share:.2f}%">{escaped(text)}</span>'
        for text, share in marks.items()
    )
    room = max(map(len, marks), default=1)
    last = len(labels) - 1
    below = "".join(
        f"<span{_at((place + 0.4) / len(labels))}>{escaped(labels[place])}</span>"
        for place in (0, last // 2, last)
    )
    drawn = _svg("".join(shapes), _HIGH, 220)
    top = max(range(len(values)), key=lambda place: values[place])
    said = (
        f"{title}, {len(values)} numbers from {labels[0]} to {labels[-1]}; the largest is "
        f"{number(values[top])}, of {labels[top]}. The table has all."
    )
    return _plot(
        f'<div class="tall"><div class="side" style="width:{room}ch">{side}</div>{drawn}'
        f'<span></span><div class="axis">{below}</div></div>',
        said,
    )


def bar(title: str, spent: float, whole: float) -> str:
    """Draw which part of a budget is spent."""
    share = min(max(spent / whole, 0.0), 1.0) if whole > 0 else 1.0
    shapes = (
        f'<rect width="{_WIDE}" height="20" fill="var(--tint)" stroke="var(--soft)"/>'
        f'<rect width="{round(share * _WIDE, 2)}" height="20" fill="var(--main)"/>'
    )
    said = f"{title}: {100 * share:.3g} % spent, {100 * (1 - share):.3g} % left."
    return _plot(_svg(shapes, 20, 22), said)


def _outermost(values: Sequence[float], ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    known = [*values, *(x for pair in ends for x in pair)]
    return min(known), max(known)


def _tick(x: float) -> str:
    return f"{x:,.12g}" if 1e-4 <= abs(x) < 1e12 else number(x)


def _whisker(a: float, b: float) -> str:
    """An interval, as a line with ends."""
    ends = "".join(_line(x, 4, x, 16, "var(--main)", 2) for x in (a, b))
    return f"{_line(a, 10, b, 10, 'var(--main)', 3)}{ends}"


def _at(share: float) -> str:
    side = ' class="start"' if share < 0.08 else ' class="end"' if share > 0.92 else ""
    return f'{side} style="left:{100 * share:.2f}%"'


def _mark(share: float, text: str) -> str:
    return f'<div class="mark"><span{_at(share)}>{escaped(text)}</span></div>'


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _line(x: float, y: float, to_x: float, to_y: float, colour: str, width: float) -> str:
    return (
        f'<line x1="{round(x, 2)}" y1="{round(y, 2)}" x2="{round(to_x, 2)}" y2="{round(to_y, 2)}" '
        f'stroke="{colour}" stroke-width="{width}"/>'
    )


def _svg(shapes: str, height: float, shown: int) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDE:g} {height:g}" preserveAspectRatio="none" '
        f'style="height:{shown}px" aria-hidden="true">{shapes}</svg>'
    )


def _plot(inside: str, said: str) -> str:
    return f'<div class="plot" role="img" aria-label="{escaped(said)}">{inside}</div>'
