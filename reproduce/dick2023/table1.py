"""Table 1 of Dick, Kulesza, Sun and Suresh 2023: measured errors against the rates."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import modicum as mo
from modicum import theory
from modicum.exact.entropy import SeededEntropy
from modicum.research.papers.dick2023 import subset_mean
from reproduce.verdict import STYLE, Verdict, write_csv, write_readme

OUT = Path(__file__).parent / "out" / "table1"
SIZES = (4_000, 16_000, 64_000, 256_000, 1_024_000)
SETS, RELEASES = 24, 2  # samples of each size, releases of each
EPSILON, WITHIN = 1, (-1e9, 1e9)
METHODS = {"subset": subset_mean, "adaptive": mo.query.mean}
BOOTSTRAPS = 400
BAND, MOST_SD = 0.1, 0.1
# ln(candidates/ζ) / 10, for the 2^52 points of the lattice and the library's ζ.
MOST_RATIO = math.log(2**52 / 1e-6) / 10


@dataclass(frozen=True)
class Family:
    """A distribution of mean 0 and the table's exponent of its privacy term."""

    title: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    exponent: float  # 1 - 1/k for the largest k with a finite M_k (its supremum)


def symmetric_pareto(index: float) -> Family:
    return Family(
        f"symmetric Pareto, index {index:g}",
        lambda rng, n: rng.choice([-1.0, 1.0], n) * rng.pareto(index, n),
        1 - 1 / index,
    )


FAMILIES = (
    Family("normal", lambda rng, n: rng.normal(size=n), 1.0),
    Family("uniform", lambda rng, n: rng.uniform(-1, 1, n), 1.0),
    symmetric_pareto(4),
    symmetric_pareto(2.5),
)

NOTES = f"""
Dick, Kulesza, Sun and Suresh (2023), *Subset-based instance optimality in private estimation*,
Table 1. Made by `python -m reproduce dick2023/table1`.

The table has no experiment: it states rates, without constants and logarithms. With k finite
moments the error of privacy falls as (nε)^-(1 - 1/k), with sub-Gaussian tails as 1/(nε). We measure
the mean absolute distance of the release from the mean of its own sample, `modicum.mean`, within
±1e9 and at ε = {EPSILON}: {SETS} samples of each size, {RELEASES} releases of each, both methods.
`subset` is Algorithm 3, corrected; `adaptive` is the library's default. A Pareto distribution of
index a has M_k finite for k < a only, so the exponent is that of k towards a.

Slopes are fitted by least squares in both logarithms; ± is the standard deviation over {BOOTSTRAPS}
resamplings of the samples. The spread is the subset risk of the sample up to its constant,
`theory.subset_risk(x, "mean", 1).spread`: the rate that Lemma E.1 bounds. All randomness is seeded:
a rerun gives these files bit for bit.
"""


def measure(family: Family, n: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Errors of each method, shape (SETS,), the spreads, and the distances of the sample means."""
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    spreads, sampling = [], []
    for i in range(SETS):
        x = family.draw(np.random.default_rng([n, i]), n)
        spreads.append(theory.subset_risk(x, "mean", EPSILON).spread)
        sampling.append(abs(float(x.mean())))
        for method, ask in METHODS.items():
            curator = mo.Curator(
                x,
                budget=mo.pure(RELEASES * EPSILON),
                entropy=SeededEntropy(f"{family.title} {n} {i} {method}"),
            )
            question = ask(within=WITHIN, epsilon=EPSILON)
            off = [abs(curator.run(question).value - x.mean()) for _ in range(RELEASES)]
            errors[method].append(float(np.mean(off)))
    return {m: np.array(e) for m, e in errors.items()}, np.array(spreads), np.array(sampling)


def slope(samples: list[np.ndarray]) -> tuple[float, float]:
    """Least-squares slope of log mean error against log n, and its bootstrap deviation."""
    logs = np.log(SIZES)

    def fit(parts: list[np.ndarray]) -> float:
        return float(np.polyfit(logs, [math.log(p.mean()) for p in parts], 1)[0])

    rng = np.random.default_rng(0)
    again = [fit([rng.choice(p, len(p)) for p in samples]) for _ in range(BOOTSTRAPS)]
    return fit(samples), float(np.std(again))


def run() -> list[Verdict]:
    """Measure, draw and write the page."""
    OUT.mkdir(parents=True, exist_ok=True)
    rows, table, verdicts = [], [], []
    with plt.rc_context(STYLE | {"figure.figsize": (8.6, 6.6)}):
        fig, axes = plt.subplots(2, 2, layout="constrained", sharex=True)
        for family, axis in zip(FAMILIES, axes.flat, strict=True):
            found = [measure(family, n) for n in SIZES]
            series = {m: [errors[m] for errors, _, _ in found] for m in METHODS}
            series["spread"] = [spreads for _, spreads, _ in found]
            series["sampling"] = [sampling for _, _, sampling in found]
            means = {name: [float(p.mean()) for p in parts] for name, parts in series.items()}
            fits = {name: slope(parts) for name, parts in series.items()}
            rows += [
                (family.title, n, *(means[name][i] for name in series)) for i, n in enumerate(SIZES)
            ]
            table.append((family.title, -family.exponent, *(v for f in fits.values() for v in f)))
            verdicts.append(judged(family, fits, means))
            _panel(axis, family, means)
        for axis in axes[1]:
            axis.set_xlabel("records n")
        for axis in axes[:, 0]:
            axis.set_ylabel("mean absolute error")
        fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        fig.savefig(OUT / "table1.png", metadata={"Software": None})
        plt.close(fig)
    write_csv(OUT / "errors.csv", ["distribution", "n", *METHODS, "spread", "sampling"], rows)
    names = [f"{name}{suffix}" for name in series for suffix in ("", "_sd")]
    write_csv(OUT / "slopes.csv", ["distribution", "table1", *names], table)
    write_readme(OUT / "README.md", "Dick et al. 2023, Table 1", NOTES, verdicts)
    return verdicts


def judged(
    family: Family, fits: dict[str, tuple[float, float]], means: dict[str, list[float]]
) -> Verdict:
    """Compare slopes with the table, and each mean error with the spread of its samples."""
    said = "; ".join(f"{name} {b:.2f} ± {sd:.2f}" for name, (b, sd) in fits.items())
    ratios = {m: max(np.divide(means[m], means["spread"])) for m in METHODS}
    largest = ", ".join(f"{ratio:.1f} ({m})" for m, ratio in ratios.items())
    close = all(
        fits[m][1] <= MOST_SD and abs(fits[m][0] + family.exponent) <= BAND + 2 * fits[m][1]
        for m in METHODS
    )
    return Verdict(
        "Table 1",
        f"{family.title}: the error of privacy falls as n^-{family.exponent:.2f}, up to "
        "logarithms, and is at most c ln(candidates/ζ) times the spread (Theorem 3.1)",
        f"slopes: {said}; error over spread at most {largest}",
        f"the slopes of both methods are the table's ± {BAND} ± 2 standard deviations (a logarithm "
        f"is worth about 0.1 at these n), with standard deviations of at most {MOST_SD}; at every "
        f"size the mean error is at most {MOST_RATIO:.1f} spreads, c = 1/10 (the theorem has 32)",
        bool(close and max(ratios.values()) <= MOST_RATIO),
    )


def _panel(axis: plt.Axes, family: Family, means: dict[str, list[float]]) -> None:
    colours = plt.get_cmap("viridis")([0.0, 0.45, 0.75])
    axis.plot(SIZES, means["subset"], "o-", color=colours[0], label="method='subset'")
    axis.plot(SIZES, means["adaptive"], "s-", color=colours[1], label="method='adaptive'")
    axis.plot(SIZES, means["spread"], "^-", color=colours[2], label="spread of R(D, ε)")
    axis.plot(SIZES, means["sampling"], ":", color="grey", label="sampling error")
    guide = means["spread"][0] * (np.array(SIZES) / SIZES[0]) ** -family.exponent
    axis.plot(SIZES, guide, "--", color="black", lw=1, label="rate of Table 1")
    axis.set(xscale="log", yscale="log")
    axis.set_title(f"{family.title}: n^-{family.exponent:.2f}", loc="left")
