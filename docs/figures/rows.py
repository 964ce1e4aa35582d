"""The error of a mean of visits against the rows that are kept of a patient."""

import numpy as np
import pandas as pd
from drawing import WIDTH, Shade, curator, save
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import modicum as mo

KEPT = (1, 2, 4, 8, 16, 32, 64)
RUNS = 15


def visits() -> pd.DataFrame:
    """5,000 patients with about six visits each; sick ones come more often and cost more."""
    rng = np.random.default_rng(1)
    sickness = rng.gamma(2, 0.5, 5_000)
    times = 1 + rng.poisson(5 * sickness)
    patient = np.repeat(np.arange(5_000), times)
    cost = 100 * (1 + sickness[patient]) * rng.gamma(4, 0.25, len(patient))
    return pd.DataFrame({"patient": patient, "cost": cost})


def error(table: pd.DataFrame, unit: mo.Unit, seed: str) -> float:
    keeper = curator(table, seed, unit=unit)
    answers = [keeper.mean("cost", epsilon=1).value for _ in range(RUNS)]
    return float(np.mean(np.abs(np.array(answers) - table["cost"].mean())))


def main() -> None:
    table = visits()
    kept = [error(table, mo.unit_of("patient", max_rows=m), f"rows {m}") for m in KEPT]
    named = error(table, mo.unit_of("patient"), "named")

    def draw(shade: Shade) -> Figure:
        figure, axes = plt.subplots(figsize=(WIDTH, 2.9))
        figure.subplots_adjust(left=0.13, right=0.97, top=0.9, bottom=0.16)
        axes.loglog(KEPT, kept, "o-", ms=4, lw=1.4, color=shade.drawn)
        axes.text(KEPT[2], kept[2] * 1.25, "max_rows=m", color=shade.drawn)
        axes.axhline(named, color=shade.final, lw=1.6)
        axes.text(1, named * 1.12, "the column alone: nothing to choose", color=shade.final)
        axes.set_xticks(KEPT, [str(m) for m in KEPT])
        ticks = [0.5, 1, 2, 5, 10, 20]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set(ylim=(named / 1.6, 1.6 * max(kept)))
        axes.set_xlabel("rows kept of a patient")
        axes.set_title("Mean error against the mean of all rows, ε = 1", loc="left", x=-0.1)
        return figure

    save(__file__, draw)


if __name__ == "__main__":
    main()
