"""Released numbers as pictures of matplotlib, which is imported only when one is drawn.

Every number is drawn with its interval, and nothing but released numbers is drawn. Colours are
those of the axes: the bars and points take the next one of their cycle, all else that of their
labels, so that pictures fit any style, dark ones too.

The axis of values shows all numbers that can be used and their intervals, but for those that are
wider than all numbers together and 20 times as wide as the median one. An interval that goes on
beyond the axis, as those of numbers that cannot be used often do, ends in an arrow; a number that
cannot be used is a cross.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.releases.publishing.answers import AnswerRows
from modicum.releases.publishing.html import number, plain_text, written_label

Floats = NDArray[np.float64]

_FAR = 1e300  # what is farther off is beyond any axis
_WIDE = 20.0  # median widths of intervals: wider ones may go on beyond the axis
_DECADES = 1e6  # that a scale of logarithms shows
_UNEVEN = 20  # widths of bins that differ by more are not drawn to scale
_TICKS = 5  # of values with many digits
_LABELS = 14  # of a horizontal axis
_LONGEST, _SHORT = 40, 9  # letters of a label
_WRITTEN = 150  # cells of a heat map with their numbers in it
_PANELS = 4  # beside each other


@dataclass(frozen=True, slots=True)
class Drawn:
    """Numbers with intervals, as they are drawn, and what is said of them."""

    title: str
    values_are: str
    said: str
    labels: Sequence[Sequence[Any]]
    values: Floats
    lower: Floats
    upper: Floats
    usable: NDArray[np.bool_]

    def of(self, chosen: Any, left_out: str = "", *, named: Any = slice(None)) -> Drawn:
        """Return some of them, in another order; ``left_out`` says which are not there.

        ``named``: which of the columns of labels are kept.
        """
        labels = [self.labels[place][named] for place in chosen]
        said = f"{self.said}; {left_out}" if left_out else self.said
        values, lower, upper = (each[chosen] for each in (self.values, self.lower, self.upper))
        return replace(
            self,
            said=said,
            labels=labels,
            values=values,
            lower=lower,
            upper=upper,
            usable=self.usable[chosen],
        )

    @property
    def names(self) -> list[str]:
        """A label in words for each."""
        return [", ".join(map(shown_label, each)) for each in self.labels]

    @property
    def half(self) -> Floats:
        """Half of the width of each interval."""
        half = self.upper / 2 - self.lower / 2
        return np.where(half < _FAR, half, np.inf)

    def view(self, *, zero: bool = False) -> tuple[float, float]:
        """Ends of the axis of values; ``zero``: it begins there, or below."""
        finite = (np.abs(self.lower) < _FAR) & (np.abs(self.upper) < _FAR)
        chosen = self.usable if self.usable.any() else np.full_like(self.usable, fill_value=True)
        values = self.values[chosen & (np.abs(self.values) < _FAR)]
        half, sure = self.half, finite & chosen
        if sure.any():
            sure &= half <= max(_WIDE * np.median(half[sure]), np.ptp(values) if values.size else 0)
        ends = np.concatenate([self.lower[sure], self.upper[sure], values, [0.0] * zero])
        low, high = (ends.min(), ends.max()) if ends.size else (0.0, 0.0)
        room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
        return float(low - (0.0 if zero and not low else room)), float(high + room)


def drawn(answers: AnswerRows) -> Drawn:
    """Read the answers of a record."""
    terms = answers.terms
    level = 100 * float(str(terms.get("interval_level", 0.95)))
    together = "simultaneous " * bool(terms.get("interval_simultaneous"))
    said = f"{together}{level:g} % intervals, {terms['cost']}"
    if terms.get("private") is False:
        said += ", test entropy: not private"
    lost = bool(answers.codes) and not any(answers.usable)
    return Drawn(
        f"{answers.title}{': no usable answer' * lost}",
        answers.what,
        said,
        [*zip(*answers.labels.values(), strict=True)] or [()] * len(answers.values),
        np.array(answers.values, dtype=float),
        np.array(answers.lower, dtype=float),
        np.array(answers.upper, dtype=float),
        np.array(answers.usable, dtype=bool),
    )


def shown_label(label: object) -> str:
    """Write a label for a picture: in one line, and not too long."""
    text = " ".join(plain_text(written_label(label)).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def ranked(points: Drawn, ax: Any, most: int) -> Any:
    """Draw points with labels, the largest value on top; no more than ``most``."""
    order = np.argsort(points.values, kind="stable")
    kept = order[max(0, len(order) - checked_most(most)) :]
    return _listed(points.of(kept, _left_out(len(order), len(kept), "largest")), ax)


def named(points: Drawn, ax: Any, most: int) -> Any:
    """Draw points with labels in their order, the first on top; no more than ``most``.

    They need not be of one kind.
    """
    count = len(points.values)
    kept = np.arange(count)[: checked_most(most)][::-1]
    return _listed(points.of(kept, _left_out(count, len(kept), "first")), ax)


def _left_out(count: int, kept: int, which: str) -> str:
    return f"the {which} {kept:,} of {count:,}" if kept < count else ""


def _listed(points: Drawn, ax: Any) -> Any:
    """Draw points from the bottom to the top, with horizontal intervals."""
    places = np.arange(len(points.values))
    ax = _axes(ax, height=1.3 + 0.27 * max(len(places), 2))
    _with_intervals(ax, places, points, points.view(), upright=False)
    ax.set_yticks(places, points.names, parse_math=False)
    ax.set_ylim(-0.7, len(places) - 0.3)
    ax.locator_params(axis="x", nbins=_TICKS)
    _say(ax, points, xlabel=points.values_are)
    return ax


def quantiles(points: Drawn, ax: Any, column: str) -> Any:
    """Draw quantiles against their q."""
    ax = _axes(ax)
    _with_intervals(ax, _numbers(points.labels), points, points.view(), upright=True)
    ax.set_xlim(-0.02, 1.02)
    _say(ax, points, xlabel="q, the share of values below", ylabel=column)
    return ax


def cdf(points: Drawn, ax: Any, column: str) -> Any:
    """Draw shares up to points as steps, and their intervals as a band."""
    ax = _axes(ax)
    at = _numbers(points.labels)
    style, marker = ("-", ".") if points.usable.all() else (":", "x")
    (line,) = ax.step(at, points.values, style, where="post", marker=marker)
    band = {"step": "post", "alpha": 0.25, "color": line.get_color(), "linewidth": 0}
    ax.fill_between(at, points.lower, points.upper, **band)
    ax.vlines(at, points.lower, points.upper, color=line.get_color(), linewidth=0.8)
    ax.set_ylim(-0.02, 1.02)
    _say(ax, points, xlabel=column, ylabel="share of values up to here")
    return ax


def histogram(points: Drawn, ax: Any, column: str) -> Any:
    """Draw counts as bars.

    A bin without an end is as wide as its neighbour, and hatched. If the widths of the others
    differ very much, all are drawn equally wide.
    """
    ax = _axes(ax)
    left, right = _numbers(points.labels).T
    edges, ends = np.array([*left, right[-1]]), [number(each) for each in (*left, right[-1])]
    open_ends = ~np.isfinite(edges)
    known = np.diff(edges)[np.isfinite(left) & np.isfinite(right)]
    to_scale = not known.size or known.max() <= _UNEVEN * known.min()
    if to_scale and known.size:
        edges[0] = edges[1] - known[0] if open_ends[0] else edges[0]
        edges[-1] = edges[-2] + known[-1] if open_ends[-1] else edges[-1]
    else:
        edges = np.arange(float(len(edges)))
    widths = np.diff(edges)
    bars = ax.bar(edges[:-1], points.values, widths, align="edge", alpha=0.6, edgecolor=_ink(ax))
    for place in np.flatnonzero(open_ends[:-1] | open_ends[1:]):
        bars.patches[place].set_hatch("//")
    ink = _ink(ax)
    _with_intervals(
        ax, edges[:-1] + widths / 2, points, points.view(zero=True), upright=True, color=ink
    )
    if not to_scale or open_ends.any():
        shown = slice(None, None, -(-len(edges) // _LABELS))
        ax.set_xticks(edges[shown], ends[shown], rotation=30 if len(edges) > _LABELS // 2 else 0)
    apart = "" if to_scale else ", bins drawn equally wide"
    _say(ax, points, xlabel=f"{column}{apart}", ylabel="values in the bin")
    return ax


def heat_map(points: Drawn, ax: Any, rows: str, columns: str, most: int) -> Any:
    """Draw a number for each pair of labels as a colour, and write it with half of its interval.

    Too many to be written are drawn without, and the bar of colours says how wide the intervals
    are at most.
    """
    matplotlib = _library("matplotlib")
    down, across = ([*dict.fromkeys(each)] for each in zip(*points.labels, strict=True))
    kept = checked_most(most)
    left = [_left_out(len(each), min(kept, len(each)), "first") for each in (down, across)]
    said = [f"{which}: {words}" for which, words in zip((rows, columns), left, strict=True)]
    said = [words for words, out in zip(said, left, strict=True) if out]
    down, across = down[:kept], across[:kept]
    places = {label: place for place, label in enumerate(points.labels)}
    grid = [[places.get((row, column)) for column in across] for row in down]
    values = np.array(
        [[np.nan if at is None else points.values[at] for at in each] for each in grid]
    )
    half = points.half
    ax = _axes(ax, height=1.9 + 0.42 * len(down), width=3.2 + 0.85 * len(across))
    most_of_all = np.nanmax(np.abs(values), initial=0.0)
    signed = bool((values < 0).any())
    scale = {"vmin": -most_of_all, "vmax": most_of_all} if signed else {}
    image = ax.imshow(
        np.ma.masked_invalid(values), aspect="auto", cmap="PuOr" if signed else "cividis", **scale
    )
    known = [(i, j, at) for i, row in enumerate(grid) for j, at in enumerate(row) if at is not None]
    for i, j, at in known if len(known) <= _WRITTEN else ():
        mark = "" if points.usable[at] else "× "
        red, green, blue, _ = image.cmap(image.norm(points.values[at]))
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5  # as television weighs them
        words = f"{mark}{number(points.values[at], 4)}\n±{number(half[at], 2)}"
        ax.text(j, i, words, ha="center", va="center", color="black" if light else "white")
    widest = number(max((half[at] for _, _, at in known), default=math.nan), 2)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label(f"intervals: ±{widest} at most")
    ax.set_xticks(range(len(across)), [*map(shown_label, across)], parse_math=False)
    if any(len(shown_label(each)) > _SHORT for each in across):
        turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
        matplotlib.artist.setp(ax.get_xticklabels(), **turned)
    ax.set_yticks(range(len(down)), [*map(shown_label, down)], parse_math=False)
    _say(ax, replace(points, said="; ".join([points.said, *said])), xlabel=columns, ylabel=rows)
    return ax


def panels(
    draw: Sequence[tuple[str, Callable[[Any], Any]]],
    axes: Any,
    points: Drawn,
    *,
    left_out: int,
    alike: bool,
) -> Any:
    """Draw pictures beside each other, each under its title; return the array of their axes.

    ``axes`` are where, one for each; a new figure has what is said of ``points`` above them.
    ``left_out`` more are not drawn. ``alike``: all show the same values.
    """
    pyplot = _library("matplotlib.pyplot")
    if not draw:
        raise InvalidArgument("there is nothing to draw: no group, or no column, was released")
    if axes is None:
        across = min(_PANELS, len(draw))
        down = -(-len(draw) // across)
        size = (3.6 * across, 2.9 * down)
        figure, grid = pyplot.subplots(
            down, across, figsize=size, squeeze=False, layout="constrained"
        )
        figure.suptitle(
            f"{plain_text(points.title)}\n{points.said}", parse_math=False, fontsize="medium"
        )
        axes = grid.ravel()
        for unused in axes[len(draw) :]:
            unused.remove()
    axes = np.array([axes] if np.ndim(axes) == 0 else axes, dtype=object).ravel()
    if len(axes) < len(draw):
        raise InvalidArgument(f"ax must be {len(draw)} axes, one for each part, got {len(axes)}")
    axes = axes[: len(draw)]
    for ax, (title, picture) in zip(axes, draw, strict=True):
        picture(ax)
        ax.set_title(shown_label(title), parse_math=False, fontsize="medium")
    if left_out:
        last = axes[-1].get_title()
        axes[-1].set_title(f"{last}\n{left_out:,} more are not shown", parse_math=False)
    if alike:
        for ends, give in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
            found = [getattr(ax, ends)() for ax in axes]
            whole = min(low for low, _ in found), max(high for _, high in found)
            for ax in axes:
                getattr(ax, give)(*whole)
    return axes


def curves(
    x: Sequence[float],
    lines: Iterable[tuple[str, Sequence[float]]],
    ax: Any,
    title: str,
    xlabel: str,
    ylabel: str,
) -> Any:
    """Draw positive numbers against positive numbers, both on a scale of logarithms.

    A number that is a million times as large as the smallest is an arrow at the upper end.
    """
    ax = _axes(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    read = [(name, np.array(values, dtype=float)) for name, values in lines]
    above = np.concatenate([values[values > 0] for _, values in read])
    most = _DECADES * (above.min() if above.size else 1.0)
    shown = above[above < most]
    for (name, values), style in zip(read, ("o-", "s--", ":"), strict=False):
        inside = np.where((values > 0) & (values < most), values, np.nan)
        (line,) = ax.plot(x, inside, style, label=name)
        beyond = np.flatnonzero(values >= most)
        if beyond.size and shown.size:
            top = np.full(beyond.size, 3 * shown.max())
            ax.plot(np.array(x)[beyond], top, "^", color=line.get_color())
    ax.set_title(plain_text(title), parse_math=False, fontsize="medium")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.legend(frameon=False)
    return ax


def budget(
    charges: Sequence[tuple[str, float]], whole: float, ax: Any, title: str, symbol: str
) -> Any:
    """Draw what was charged, one after the other, and what is left of a budget."""
    ax = _axes(ax, height=1.4 + 0.3 * (len(charges) + 1))
    ends = np.cumsum([0.0, *(amount for _, amount in charges)])
    places = np.arange(len(charges))
    ax.barh(places, np.diff(ends), left=ends[:-1], alpha=0.8)
    left = max(whole - ends[-1], 0.0)
    row = len(charges)
    ax.barh(row, left, left=ends[-1], fill=False, hatch="//", edgecolor=_ink(ax))
    names = [shown_label(name) for name, _ in charges]
    ax.set_yticks([*places, row], [*names, f"left: {number(left, 4)}"], parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(0, max(whole, ends[-1]) * 1.02)
    ax.axvline(whole, color=_ink(ax), linewidth=0.8)
    ax.set_xlabel(f"{symbol}, one after the other")
    ax.set_title(title, parse_math=False, fontsize="medium")
    return ax


def checked_most(most: object) -> int:
    """How many are shown at most: a whole number of at least 1."""
    whole = isinstance(most, int | np.integer) and not isinstance(most, bool)
    if not whole or most < 1:  # type: ignore[operator]
        raise InvalidArgument(f"most must be a whole number of at least 1, got {as_given(most)}")
    return int(most)  # type: ignore[call-overload, no-any-return]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidArgument("plots need matplotlib: pip install matplotlib") from None


def _axes(ax: Any, *, height: float = 4.0, width: float = 6.4) -> Any:
    """Where to draw: the axes that were given, or those of a new figure."""
    pyplot = _library("matplotlib.pyplot")
    if ax is None:
        size = (min(width, 16), min(height, 24))
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, import_module("matplotlib.axes").Axes):
        raise InvalidArgument(
            "ax must be axes of matplotlib, as pyplot.subplots() makes them, got "
            f"{type(ax).__name__}"
        )
    return ax


def _ink(ax: Any) -> Any:
    """The colour that these axes write in."""
    return ax.xaxis.label.get_color()


def _numbers(labels: Sequence[Sequence[Any]]) -> Floats:
    found = np.array(labels, dtype=float)
    return found[:, 0] if found.shape[1] == 1 else found


def _with_intervals(
    ax: Any,
    places: Any,
    points: Drawn,
    view: tuple[float, float],
    *,
    upright: bool,
    color: Any = None,
) -> None:
    """Draw values and intervals along an axis that shows ``view``; without a colour as points."""
    low, high = view

    def draw(at: Any, values: Any, marker: str, **style: Any) -> Any:
        return ax.plot(*((at, values) if upright else (values, at)), marker, **style)[0]

    inside = (points.values >= low) & (points.values <= high)
    if color is None:
        sure = points.usable & inside
        color = draw(places[sure], points.values[sure], "o").get_color()
    lost = ~points.usable
    if lost.any():
        values = np.clip(points.values[lost], low, high)
        draw(places[lost], values, "x", color=color, markersize=8, clip_on=False)
    ends = np.clip(points.lower, low, high), np.clip(points.upper, low, high)
    lines = ax.vlines if upright else ax.hlines
    lines(places, *ends, color=color, linewidth=1.5)
    cap, arrows = ("_", ("v", "^")) if upright else ("|", ("<", ">"))
    style = {"color": color, "markersize": min(6.0, 200 / max(len(places), 1))}
    for end, shown, arrow in zip((points.lower, points.upper), ends, arrows, strict=True):
        beyond = end != shown
        draw(places[~beyond], shown[~beyond], cap, **style)
        draw(places[beyond], shown[beyond], arrow, **style)
    (ax.set_ylim if upright else ax.set_xlim)(low, high)


def _say(ax: Any, points: Drawn, *, xlabel: str, ylabel: str = "") -> None:
    lost = "" if points.usable.all() else "; × cannot be used"
    title = f"{points.title}\n{points.said}{lost}"
    ax.set_title("\n".join(map(plain_text, title.split("\n"))), parse_math=False, fontsize="medium")
    ax.set_xlabel(plain_text(xlabel), parse_math=False)
    ax.set_ylabel(plain_text(ylabel), parse_math=False)
