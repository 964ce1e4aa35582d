"""Mean, trimmed mean and median of one skewed sample, each released twenty times."""

import numpy as np
from drawing import WIDTH, Shade, curator, save
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import stats

RUNS = 20


def main() -> None:
    data = np.random.default_rng(1).lognormal(10.3, 0.9, 20_000)
    truths = {
        "median": float(np.median(data)),
        "trimmed mean (10 %)": float(stats.trim_mean(data, 0.1)),
        "mean": float(data.mean()),
    }
    keeper = curator(data, "the centres")
    drawn = {
        "median": [keeper.median(epsilon=1).value for _ in range(RUNS)],
        "trimmed mean (10 %)": [
            keeper.trimmed_mean(trim=0.1, epsilon=1).value for _ in range(RUNS)
        ],
        "mean": [keeper.mean(epsilon=1).value for _ in range(RUNS)],
    }

    def draw(shade: Shade) -> Figure:
        figure, axes = plt.subplots(figsize=(WIDTH, 3))
        figure.subplots_adjust(left=0.03, right=0.95, top=0.9, bottom=0.14)
        counts, edges = np.histogram(data, np.linspace(0, 140_000, 71))
        axes.stairs(counts / counts.max(), edges, fill=True, color=shade.data, alpha=0.5)
        colors = (shade.drawn, shade.ink, shade.final)
        for i, (name, color) in enumerate(zip(truths, colors, strict=True)):
            y = 1.1 + 0.14 * i
            error = np.mean(np.abs(np.array(drawn[name]) - truths[name]))
            axes.vlines(truths[name], 0, y, color=color, lw=1.2)
            axes.plot([truths[name], truths["mean"] + 5_000], [y, y], color=color, lw=0.6, ls=":")
            axes.plot(drawn[name], [y] * RUNS, "|", ms=8, color=color)
            said = f"{name}: {truths[name]:,.0f}, mean error {error:,.0f}"
            axes.text(truths["mean"] + 6_000, y, said, va="center", color=color)
        axes.set(xlim=(0, 140_000), ylim=(0, 1.5), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(f"20,000 invented incomes, {RUNS} releases each at ε = 1", loc="left")
        return figure

    save(__file__, draw)


if __name__ == "__main__":
    main()
