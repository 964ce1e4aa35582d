"""Pictures of released numbers and their intervals, inside of a page.

Shapes are SVG that is stretched to the width of the page; labels and the numbers of axes are text
of the page, so that they can be read on a narrow screen too. Colours are the page's. Each picture
says in words what it shows, for those who do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from modicum.publishing.html import escaped, number

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
.tall .side{display:flex;flex-direction:column;justify-content:space-between;text-align:right;
font-size:.82rem;color:var(--soft);font-variant-numeric:tabular-nums}
@media (max-width:30rem){.rows .name{max-width:7.5rem}}
"""

LEVELS = (0.99, 0.95, 0.8, 0.5)
"""Of the intervals of a picture that has no curve."""

CURVE = (
    *(place / 50 for place in range(1, 47, 2)),
    *(0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995, 0.998),
)
"""Of the intervals that a curve is made of."""

_WIDE, _HIGH = 1000.0, 200.0  # of the shapes; they are stretched
_FEWEST = 6  # different ends on each side that make a curve
_FARTHEST = 5  # intervals of 95 % that a curve reaches beyond them
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


class Scale:
    """From numbers to places on a line, as shares of its length."""

    def __init__(self, low: float, high: float) -> None:
        margin = 0.04 * (high - low)
        self.low, self.high = low - margin, high + margin

    def __call__(self, x: float) -> float:
        share = (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)
        return round(share, 5)

    def x(self, x: float) -> float:
        """The place in a picture of shapes."""
        return round(_WIDE * self(x), 2)

    def axis(self) -> str:
        """Round numbers, each at its place."""
        for most in range(7, 1, -1):
            found = ticks(self.low, self.high, most)
            if sum(len(number(x)) + 2 for x in found) <= _LETTERS:
                break
        spans = "".join(f"<span{_at(self(x))}>{escaped(number(x))}</span>" for x in found)
        return f'<div class="axis">{spans}</div>'


def curve_of(value: float, ends: Sequence[Ends]) -> list[tuple[float, float]] | None:
    """Points of the density of the error, turned about the value: intervals of many levels say it.

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


def curve(title: str, shown: str, value: float, ends: Sequence[Ends], level: float) -> str | None:
    """Draw the density of the error about the value, the interval of a ``level`` filled in.

    ``shown`` is the value as it is written. ``None`` if the intervals make no curve.
    """
    points = curve_of(value, ends)
    if points is None:
        return None
    _, lower, upper = min(ends, key=lambda each: abs(each[0] - level))
    far = next(each for each in ends if each[0] >= 0.99)
    reach = _FARTHEST * (upper - lower)
    scale = Scale(max(far[1], lower - reach), min(far[2], upper + reach))
    top = max(height for _, height in points)
    drawn = [
        (scale.x(x), _HIGH * (1 - 0.94 * height / top))
        for x, height in points
        if scale.low <= x <= scale.high
    ]
    inside = [each for each in drawn if scale.x(lower) <= each[0] <= scale.x(upper)]
    filled = [(scale.x(lower), _HIGH), *inside, (scale.x(upper), _HIGH)]
    shapes = (
        f'<path d="M{_path(filled)}Z" fill="var(--pale)"/>'
        f'<polyline points="{_path(drawn)}" fill="none" stroke="var(--main)" stroke-width="2"/>'
        f"{_line(scale.x(value), 0, scale.x(value), _HIGH, 'var(--ink)', 2.5)}"
    )
    said = f"{title}: {shown}. The curve is highest there; {_in_words(ends, LEVELS)}."
    return _plot(f"{_mark(scale(value), shown)}{_svg(shapes, _HIGH, 150)}{scale.axis()}", said)


def fan(title: str, shown: str, value: float, ends: Sequence[Ends]) -> str:
    """Draw intervals of several levels, wide and pale to narrow and dark, and the value."""
    ordered = sorted(ends, reverse=True)
    scale = Scale(min(value, ordered[0][1]), max(value, ordered[0][2]))
    shapes = []
    for place, (_, lower, upper) in enumerate(ordered):
        x, width = scale.x(lower), max(scale.x(upper) - scale.x(lower), 1.0)
        shapes.append(
            f'<rect x="{x}" y="30" width="{round(width, 2)}" height="140" '
            f'fill="var(--main)" fill-opacity="{0.25 + 0.2 * place:.2f}"/>'
        )
    shapes.append(_line(scale.x(value), 0, scale.x(value), _HIGH, "var(--ink)", 2.5))
    said = f"{title}: {shown}; {_in_words(ends, [each[0] for each in ordered])}."
    drawn = _svg("".join(shapes), _HIGH, 64)
    return _plot(f"{_mark(scale(value), shown)}{drawn}{scale.axis()}", said)


def rows(
    title: str, labels: Sequence[str], values: Sequence[float], ends: Sequence[tuple[float, float]]
) -> str | None:
    """Draw a row for each number: its label, its interval as a line, the number as a dot.

    ``None`` if most of the numbers could not be told apart, as those in different units.
    """
    scale = Scale(*_outermost(values, ends))
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
            _line(a, 10, b, 10, "var(--main)", 3)
            + "".join(_line(x, 4, x, 16, "var(--main)", 2) for x in (a, b))
            + f'<path d="M{at} 10h.01" stroke="var(--ink)" stroke-width="10" '
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
    scale = Scale(*_outermost(values, ends))
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
    marks = [scale.high - 0.04 / 1.08 * (scale.high - scale.low), scale.low]
    side = "".join(f"<span>{escaped(number(x, 3))}</span>" for x in marks)
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
        f'<div class="tall"><div class="side">{side}</div>{drawn}<span></span>'
        f'<div class="axis">{below}</div></div>',
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


def _outermost(
    values: Sequence[float], ends: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    known = [*values, *(x for pair in ends for x in pair)]
    return min(known), max(known)


def _in_words(ends: Sequence[Ends], levels: Sequence[float]) -> str:
    found = {level: min(ends, key=lambda each: abs(each[0] - level)) for level in levels}
    return ", ".join(
        f"the interval of {100 * level:g} % is {number(lower)} to {number(upper)}"
        for level, (_, lower, upper) in found.items()
    )


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
