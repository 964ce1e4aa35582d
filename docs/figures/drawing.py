"""What the pictures share: colours for light and dark pages, and a width that a phone can show.

A script draws once for each shade, ``python docs/figures/NAME.py``, into ``NAME.svg`` and
``NAME-dark.svg``. Data are invented and randomness is seeded, so drawings may show both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import modicum as mo
from modicum.exact.entropy import SeededEntropy

WIDTH = 5.3  # inches; 380 points, so that letters keep their size on a phone


@dataclass(frozen=True)
class Shade:
    ending: str
    ink: str
    quiet: str
    data: str
    drawn: str
    final: str
    panel: str


LIGHT = Shade("", "#24292f", "#6b6b6b", "#9aa5b1", "#1f6f8b", "#c0392b", "#eef2f5")
DARK = Shade("-dark", "#e6e6e6", "#a8a8a8", "#66717d", "#5fb3d1", "#ff8a75", "#2b333b")


def style(shade: Shade) -> dict[str, object]:
    return {
        "font.size": 9,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": shade.ink,
        "axes.labelcolor": shade.ink,
        "axes.titlecolor": shade.ink,
        "text.color": shade.ink,
        "xtick.color": shade.ink,
        "ytick.color": shade.ink,
        "svg.hashsalt": "modicum",
    }


def save(script: str, draw: Callable[[Shade], Figure]) -> None:
    path = Path(script)
    for shade in (LIGHT, DARK):
        with mpl.rc_context(style(shade)):
            figure = draw(shade)
            figure.savefig(
                path.with_name(f"{path.stem}{shade.ending}.svg"),
                metadata={"Date": None},
                transparent=True,
            )
            plt.close(figure)


def curator(table: object, seed: str, **options: object) -> mo.Curator:
    return mo.Curator(table, budget=mo.pure(10_000), entropy=SeededEntropy(seed), **options)


def incomes(n: int = 100_000) -> np.ndarray:
    return np.random.default_rng(1).lognormal(10.5, 0.6, n)


def canvas(height: float, width: float = 100) -> tuple[Figure, Axes]:
    """Axes without ticks, for boxes and arrows: ``width`` units wide, 10 units for a line."""
    figure = plt.figure(figsize=(WIDTH, height / width * WIDTH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return figure, axes


def box(axes: Axes, x: float, y: float, text: str, shade: Shade, **options: object) -> None:
    axes.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        bbox={
            "boxstyle": "round,pad=0.4",
            "facecolor": options.pop("fill", shade.panel),
            "edgecolor": options.pop("edge", shade.data),
        },
        **options,
    )


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    look = {"arrowstyle": "->", "color": color, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look)
