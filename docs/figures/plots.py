"""Draw plots.svg and plots-dark.svg: what plot() of four releases draws.

    python docs/figures/plots.py

The data are invented and the randomness is seeded.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import modicum as mo
from modicum.exact.entropy import SeededEntropy

SHADES = {"": "default", "-dark": "dark_background"}
STYLE = {"font.size": 8, "font.sans-serif": ["DejaVu Sans"], "svg.hashsalt": "modicum"}


class Drawn(SeededEntropy):
    """It repeats itself, and the titles are those that a user sees."""

    secret = True


def curator() -> mo.Curator:
    draws = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "income": draws.lognormal(10.5, 0.6, 20_000),
            "age": draws.triangular(0, 35, 95, 20_000).astype(int),
            "region": draws.choice(
                ["North", "South", "East", "West"], 20_000, p=[0.6, 0.3, 0.09, 0.01]
            ),
        }
    )
    return mo.Curator(table, budget=mo.pure(10), entropy=Drawn("plots"))


def main() -> None:
    people = curator()
    regions = people.group_by("region", keys=["North", "South", "East", "West"])
    releases = (
        people.histogram("age", edges=[0, 18, 30, 45, 65, 80, np.inf], epsilon="0.02"),
        people.cdf("age", points=range(5, 95, 5), epsilon="0.05"),
        people.quantiles("income", q=[0.05, 0.1, 0.25, 0.5, 0.75, 0.9], epsilon="0.1"),
        regions.mean("income", epsilon="0.5"),
    )
    for ending, shade in SHADES.items():
        with plt.style.context(shade), mpl.rc_context(STYLE):
            figure, axes = plt.subplots(2, 2, figsize=(7.2, 5.2), layout="constrained")
            for release, ax in zip(releases, axes.flat, strict=True):
                release.plot(ax)
            path = Path(__file__).with_name(f"plots{ending}.svg")
            figure.savefig(path, transparent=True, metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
