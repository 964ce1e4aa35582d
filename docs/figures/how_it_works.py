"""One release of a mean: the public range, what was drawn on the way, and the answer."""

import re

import numpy as np
from drawing import WIDTH, Shade, curator, incomes, save
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import modicum as mo

RANGE = 1e9
LINEAR = 1000.0  # the axis is linear below it


def numbers(words: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"-?\d[\d,]*\.?\d*", words)]


def milestones(release: mo.Release) -> dict[str, float]:
    """What was drawn on the way, in the unit of the data."""
    words = {entry.label: numbers(entry.words) for entry in release.transcript}
    (centre,), (left, right) = words["centre"], words["radii"]
    found = release.error_model.to_dict()
    lo, hi = found["clip"]
    return {
        "centre": centre,
        "left": centre - left,
        "right": centre + right,
        "lo": lo,
        "hi": hi,
        "noise": found["noise_sd"] / found["count"],
    }


def rounded(x: float) -> str:
    return f"{float(f'{x:.3g}'):,.0f}"


def draw_release(axes: Axes, data: np.ndarray, release: mo.Release, shade: Shade) -> None:
    at = milestones(release)
    edges = np.geomspace(LINEAR, RANGE, 121)
    counts, _ = np.histogram(data, edges)
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=0.4)
    base = 5.4
    axes.stairs(base + 3 * counts / counts.max(), edges, baseline=base, fill=True, color=shade.data)
    axes.plot([-RANGE, RANGE], [base, base], color=shade.data, lw=0.8)
    axes.vlines(at["centre"], 3.6, base + 3.2, color=shade.drawn, lw=1)

    def row(y: float, name: str, ends: tuple[float, float], text: str, **look: object) -> None:
        axes.plot(ends, [y, y], marker="|", ms=9, solid_capstyle="butt", **look)
        axes.text(-2 * RANGE, y, name, ha="right", va="center")
        axes.text(2.5 * RANGE, y, text, ha="left", va="center", color=look["color"])

    axes.text(-2 * RANGE, base + 1.2, f"{len(data):,} records\n(secret)", ha="right", va="center")
    row(4.6, "public range", (-RANGE, RANGE), "±1e9", color=shade.quiet, lw=1.5)
    axes.plot([at["centre"]], [3.6], "o", color=shade.drawn)
    axes.text(-2 * RANGE, 3.6, "centre", ha="right", va="center")
    axes.text(2.5 * RANGE, 3.6, rounded(at["centre"]), ha="left", va="center", color=shade.drawn)
    for end in ("left", "right"):
        look = {"arrowstyle": "->", "color": shade.drawn, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (at[end], 2.6), (at["centre"], 2.6), arrowprops=look)
    axes.text(-2 * RANGE, 2.6, "radii", ha="right", va="center")
    radii = [rounded(abs(at[end] - at["centre"])) for end in ("left", "right")]
    shown = f"−{radii[0]}\n+{radii[1]}"
    axes.text(2.5 * RANGE, 2.6, shown, ha="left", va="center", color=shade.drawn)
    bounds = f"{rounded(at['lo'])}\nto {rounded(at['hi'])}".replace("-", "−")
    row(1.6, "clipping bounds", (at["lo"], at["hi"]), bounds, color=shade.drawn, lw=3)
    ends = (release.value - at["noise"], release.value + at["noise"])
    answer = f"{rounded(release.value)} ± {at['noise']:.0f}"
    row(0.6, "answer ± noise sd", ends, answer, color=shade.final, lw=3)
    axes.set(xlim=(-1.3 * RANGE, 1.3 * RANGE), ylim=(0, 8.8), yticks=[])
    axes.spines["left"].set_visible(False)
    ticks = [-1e9, -1e5, 0, 1e5, 1e9]
    axes.set_xticks(ticks, ["−1e9", "−1e5", "0", "1e5", "1e9"])
    axes.minorticks_off()


def main() -> None:
    data = incomes()
    release = curator(data, "the picture").mean(within=(-RANGE, RANGE), epsilon=1)

    def draw(shade: Shade) -> Figure:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.9))
        figure.subplots_adjust(left=0.25, right=0.79, top=0.98, bottom=0.08)
        draw_release(axes, data, release, shade)
        return figure

    save(__file__, draw)


if __name__ == "__main__":
    main()
