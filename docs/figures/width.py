"""The error of a mean against the width of the range that is given."""

import numpy as np
from drawing import WIDTH, Shade, curator, incomes, save
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace

WIDTHS = 10.0 ** np.arange(6, 16)
RUNS = 40


def range_scaled(data: np.ndarray, width: float, seed: str) -> float:
    """Noise scaled to the range on the sum, 2 % of ε for the count."""
    entropy, epsilon = SeededEntropy(seed), mo.pure(1).amount
    lattice = Lattice.within((-width, width))
    total = int(lattice.quantise(data).astype(object).sum())
    (noisy,) = laplace([total], l1=lattice.last, epsilon=epsilon * 49 / 50).sample(entropy)
    (count,) = laplace([len(data)], l1=1, epsilon=epsilon / 50).sample(entropy)
    return lattice.value(noisy) / max(count, 1)


def measured(data: np.ndarray) -> tuple[list[float], list[float]]:
    ours, usual = [], []
    for width in WIDTHS:
        seeds = [f"{width:g} {i}" for i in range(RUNS)]
        answers = [
            curator(data, seed).mean(within=(-width, width), epsilon=1).value for seed in seeds
        ]
        ours.append(float(np.mean(np.abs(np.array(answers) - data.mean()))))
        answers = [range_scaled(data, width, seed) for seed in seeds]
        usual.append(float(np.mean(np.abs(np.array(answers) - data.mean()))))
    return ours, usual


def main() -> None:
    data = incomes()
    ours, usual = measured(data)
    sampling = float(data.std()) / len(data) ** 0.5

    def draw(shade: Shade) -> Figure:
        figure, axes = plt.subplots(figsize=(WIDTH, 2.9))
        figure.subplots_adjust(left=0.12, right=0.74, top=0.9, bottom=0.16)
        for errors, name, color in (
            (usual, "noise scaled\nto the range", shade.quiet),
            (ours, "modicum", shade.final),
        ):
            axes.loglog(WIDTHS, errors, "o-", ms=3.5, lw=1.4, color=color)
            axes.text(WIDTHS[-1] * 2, errors[-1], name, va="center", color=color)
        axes.plot(WIDTHS[[0, -1]], [sampling] * 2, color=shade.data, lw=1, ls="--", zorder=0)
        axes.text(WIDTHS[-1] * 2, sampling * 1.4, "standard error", va="center", color=shade.quiet)
        axes.set_xlabel("given range: ± this")
        axes.set_title(f"Mean error of {RUNS} releases, 100,000 incomes, ε = 1", loc="left", x=-0.1)
        return figure

    save(__file__, draw)


if __name__ == "__main__":
    main()
