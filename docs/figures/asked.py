"""Draw asked.svg and asked-dark.svg: what a curator was asked, and a plan for several costs.

    python docs/figures/asked.py

The data are invented; the picture shows costs and predictions, and none of the data.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import modicum as mo

SHADES = {"": "default", "-dark": "dark_background"}
STYLE = {"font.size": 8, "font.sans-serif": ["DejaVu Sans"], "svg.hashsalt": "modicum"}


def curator() -> mo.Curator:
    table = pd.DataFrame({"income": np.arange(9000.0), "region": ["North", "South"] * 4500})
    people = mo.Curator(table, budget=mo.pure(4))
    people.count(epsilon="0.1")
    people.mean("income", epsilon=1)
    people.group_by("region", keys=["North", "South"]).median("income", epsilon="0.5")
    people.where("income > 1000").quantiles("income", q=[0.25, 0.75], epsilon="0.8")
    return people


def main() -> None:
    people = curator()
    plan = mo.plan.mean(n=20_000, sd=30_000, within=(-1e9, 1e9), epsilon=1)
    curve = plan.curve(epsilon=["0.05", "0.1", "0.3", 1, 3, 10])
    for ending, shade in SHADES.items():
        with plt.style.context(shade), mpl.rc_context(STYLE):
            figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained")
            people.plot(left)
            curve.plot(right)
            path = Path(__file__).with_name(f"asked{ending}.svg")
            figure.savefig(path, transparent=True, metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
