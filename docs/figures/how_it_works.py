"""Draw how_it_works.svg: one release, and the error against the width of the range.

    python docs/figures/how_it_works.py [file.svg or file.png]

The data are invented and the randomness is seeded, so the drawing may show both.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace
from modicum.mechanisms.grids import FloatGrid

RANGE = 1e9
WIDTHS = 10.0 ** np.arange(6, 16)
RUNS = 40
LINEAR = 1000.0  # the axis is linear below it
DATA, DRAWN, FINAL, PLAIN = "#9aa5b1", "#1f6f8b", "#c0392b", "#6b6b6b"

STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "modicum",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
}


def released(data: np.ndarray, width: float, seed: str) -> mo.Release:
    curator = mo.Curator(data, budget=mo.pure(1), entropy=SeededEntropy(seed))
    return curator.mean(within=(-width, width), epsilon=1)


def range_scaled(data: np.ndarray, width: float, seed: str) -> float:
    """Noise scaled to the range on the sum, 2 % of ε for the count."""
    entropy, epsilon = SeededEntropy(seed), mo.pure(1).amount
    lattice = Lattice.within((-width, width))
    total = int(lattice.quantise(data).astype(object).sum())
    (noisy,) = laplace([total], l1=lattice.last, epsilon=epsilon * 49 / 50).sample(entropy)
    (count,) = laplace([len(data)], l1=1, epsilon=epsilon / 50).sample(entropy)
    return lattice.value(noisy) / max(count, 1)


def milestones(release: mo.Release) -> dict[str, float]:
    """What was drawn on the way, in the unit of the data."""
    drawn = {entry.label: entry for entry in release.transcript}
    grid = drawn["centre"].parameters["mechanism"].grid
    radii = drawn["radii"].parameters["grid"].radii
    left, right = (radii[i] for i in drawn["radii"].outcome)
    step = release.lattice.step
    centre = FloatGrid(grid.bits).point(drawn["centre"].outcome) * step
    found = release.error_model.to_dict()
    lo, hi = found["clip"]
    return {
        "centre": centre,
        "left": centre - left * step,
        "right": centre + right * step,
        "lo": lo,
        "hi": hi,
        "noise": found["noise_sd"] / found["count"],
    }


def rounded(x: float) -> str:
    return f"{float(f'{x:.3g}'):,.0f}"


def draw_release(axes, data: np.ndarray, release: mo.Release) -> None:
    at = milestones(release)
    edges = np.geomspace(LINEAR, RANGE, 121)
    counts, _ = np.histogram(data, edges)
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=0.4)
    base = 5.4
    axes.stairs(base + 3 * counts / counts.max(), edges, baseline=base, fill=True, color=DATA)
    axes.plot([-RANGE, RANGE], [base, base], color=DATA, lw=0.8)
    axes.vlines(at["centre"], 3.6, base + 3.2, color=DRAWN, lw=1)

    def row(y: float, name: str, ends: tuple[float, float], text: str, **style) -> None:
        axes.plot(ends, [y, y], marker="|", ms=9, solid_capstyle="butt", **style)
        axes.text(-1.6 * RANGE, y, name, ha="right", va="center")
        axes.text(2 * RANGE, y, text, ha="left", va="center", color=style["color"])

    axes.text(-1.6 * RANGE, base + 1.2, f"{len(data):,} records\n(secret)", ha="right", va="center")
    row(4.6, "public range", (-RANGE, RANGE), "±1e9", color=PLAIN, lw=1.5)
    axes.plot([at["centre"]], [3.6], "o", color=DRAWN)
    axes.text(-1.6 * RANGE, 3.6, "centre", ha="right", va="center")
    axes.text(2 * RANGE, 3.6, rounded(at["centre"]), ha="left", va="center", color=DRAWN)
    for end in ("left", "right"):
        arrow = {"arrowstyle": "->", "color": DRAWN, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (at[end], 2.6), (at["centre"], 2.6), arrowprops=arrow)
    axes.text(-1.6 * RANGE, 2.6, "radii", ha="right", va="center")
    radii = [rounded(abs(at[end] - at["centre"])) for end in ("left", "right")]
    axes.text(2 * RANGE, 2.6, f"−{radii[0]}, +{radii[1]}", ha="left", va="center", color=DRAWN)
    bounds = f"{rounded(at['lo'])} to {rounded(at['hi'])}".replace("-", "−")
    row(1.6, "clipping bounds", (at["lo"], at["hi"]), bounds, color=DRAWN, lw=3)
    ends = (release.value - at["noise"], release.value + at["noise"])
    answer = f"{rounded(release.value)} ± {at['noise']:.0f}"
    row(0.6, "answer ± noise sd", ends, answer, color=FINAL, lw=3)
    axes.set(xlim=(-1.3 * RANGE, 1.3 * RANGE), ylim=(0, 8.8), yticks=[])
    axes.spines["left"].set_visible(False)
    ticks = [-1e9, -1e6, -1e3, 1e3, 1e6, 1e9]
    axes.set_xticks(ticks, ["−1e9", "−1e6", "−1e3", "1e3", "1e6", "1e9"])
    axes.minorticks_off()
    axes.set_title("One release at ε = 1", loc="left")


def draw_errors(axes, data: np.ndarray) -> None:
    truth = data.mean()
    ours, usual = [], []
    for width in WIDTHS:
        seeds = [f"{width:g} {i}" for i in range(RUNS)]
        answers = [released(data, width, seed).value for seed in seeds]
        ours.append(np.mean(np.abs(np.array(answers) - truth)))
        answers = [range_scaled(data, width, seed) for seed in seeds]
        usual.append(np.mean(np.abs(np.array(answers) - truth)))
    for errors, name, color in (
        (usual, "noise scaled to the range", PLAIN),
        (ours, "modicum", FINAL),
    ):
        axes.loglog(WIDTHS, errors, "o-", ms=3.5, lw=1.3, color=color)
        axes.text(WIDTHS[-1] * 1.6, errors[-1], name, va="center", color=color)
    sampling = data.std() / len(data) ** 0.5
    axes.plot(WIDTHS[[0, -1]], [sampling] * 2, color=DATA, lw=1, ls="--", zorder=0)
    axes.text(WIDTHS[-1] * 1.6, sampling, "sampling error, sd / √n", va="center", color=PLAIN)
    axes.set_xlabel("public range: ± this")
    axes.set_title(f"Mean absolute error of {RUNS} releases at ε = 1", loc="left")


def main(path: Path) -> None:
    data = np.random.default_rng(1).lognormal(10.5, 0.6, 100_000)
    with mpl.rc_context(STYLE):
        figure, (upper, lower) = plt.subplots(
            2, 1, figsize=(8.6, 6.4), height_ratios=(3, 2), gridspec_kw={"hspace": 0.38}
        )
        figure.subplots_adjust(left=0.16, right=0.78, top=0.95, bottom=0.09)
        draw_release(upper, data, released(data, RANGE, "the picture"))
        draw_errors(lower, data)
        figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".svg"))
