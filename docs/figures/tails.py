"""Intervals of one release under three assumptions on the tail, and what they cost in width."""

import numpy as np
from drawing import WIDTH, Shade, curator, save
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

TAILS = (None, 3, 2, 1.5)
NAMES = (
    "tail=None: noise alone",
    "tail=3: the light default",
    "tail=2",
    "tail=1.5: claims, fortunes",
)


def main() -> None:
    data = np.random.default_rng(3).pareto(2.5, 50_000) * 10_000 + 10_000
    release = curator(data, "the tails").mean(within=(-1e9, 1e9), epsilon=1)
    ends = [release.interval(tail=tail) for tail in TAILS]

    def draw(shade: Shade) -> Figure:
        figure, axes = plt.subplots(figsize=(WIDTH, 2.6))
        figure.subplots_adjust(left=0.03, right=0.97, top=0.84, bottom=0.18)
        for y, (name, (lower, upper)) in enumerate(zip(NAMES, ends, strict=True)):
            color = shade.final if TAILS[y] == 3 else shade.drawn
            axes.plot([lower, upper], [-y, -y], "|-", ms=9, lw=2.5, color=color)
            axes.text(lower, 0.32 - y, f"{name}", va="center", color=color)
        axes.axvline(data.mean(), color=shade.data, lw=1, ls="--")
        axes.text(data.mean(), 0.75, " mean without privacy", color=shade.quiet, va="center")
        axes.plot([release.value] * len(TAILS), -np.arange(len(TAILS)), "o", ms=4, color=shade.ink)
        axes.set(ylim=(-3.4, 1), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title("95 % intervals of one release (Pareto of index 2.5, ε = 1)", loc="left")
        return figure

    save(__file__, draw)


if __name__ == "__main__":
    main()
