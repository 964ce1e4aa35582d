"""Appendix F of Dick, Kulesza, Sun and Suresh 2023: three risks of one data set."""

from fractions import Fraction
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from modicum import theory
from reproduce.verdict import STYLE, Verdict, write_csv, write_readme

OUT = Path(__file__).parent / "out" / "appendixf"
N, REACH, K = 1000, 1000.0, 10  # not stated: our choice; the paper has R >> 1 and ε << 1
POWERS = np.concatenate([np.linspace(1.15, 2, 18), np.linspace(2.2, 7, 25)])

NOTES = f"""
Dick, Kulesza, Sun and Suresh (2023), *Subset-based instance optimality in private estimation*,
Appendix F. Made by `python -m reproduce dick2023/appendixf`.

The data are n - 1 zeros and a one in [0, R], the statistic minimises sum |x - t|^p. The paper
bounds three quantities, the largest change of the statistic within distance 1/ε among all data
(R1), among data of the same values (R2) and among subsets (R). Lines are exact values from
`theory.compare`, as are the risks themselves; dots are the paper's expressions. Our choice:
n = {N:,}, R = {REACH:,.0f}, ε = 1/{K}.

Three remarks. The paper's examples for R1 and R2 replace 1/ε zeros, which is 2/ε additions and
removals, not 1/ε; adding 1/ε values gives nearly the same numbers, so its conclusion stands. It
writes that subsets have minimisers of at most that of D; without zeros it is higher. And the regime
that it states, p < ln(nε), is not the right one: R2/R is about ε^-(1/(p - 1)) - 1, so that R2 >> R
takes p - 1 << ln(1/ε).
"""


def paper(p: float) -> tuple[float, float, float]:
    """The three expressions of Appendix F."""
    power = 1 / (p - 1)
    here = 1 / (1 + (N - 1) ** power)
    near = 1 / (1 + (N / K - 1) ** power)
    return REACH * near - here, near - here, here


def run() -> list[Verdict]:
    """Compute, draw and write the page."""
    OUT.mkdir(parents=True, exist_ok=True)
    data, rows = np.append(np.zeros(N - 1), 1.0), []
    for p in POWERS.tolist():
        found = theory.compare(data, theory.Location(p), Fraction(1, K), within=(0, REACH))
        risks = (found.local_minimax, found.in_neighbour, found.subset)
        rows.append((p, *(r.spread for r in risks), *(r.lower for r in risks), *paper(p)))
    header = ["p", "R1", "R2", "R", "risk1", "risk2_least", "risk_least", "F1", "F2", "F"]
    write_csv(OUT / "risks.csv", header, rows)
    table = np.array(rows)
    with plt.rc_context(STYLE):
        fig, axis = plt.subplots(layout="constrained")
        names = ("R1  local minimax", "R2  in-neighbour", "R   subset")
        for i, (name, colour) in enumerate(
            zip(names, plt.get_cmap("viridis")([0.0, 0.45, 0.8]), strict=True)
        ):
            axis.plot(table[:, 0], table[:, 1 + i], color=colour, label=name)
            axis.plot(table[:, 0], table[:, 7 + i], "o", ms=2.5, color=colour, alpha=0.6)
        axis.axvline(np.log(N / K), color="grey", ls=":", lw=1.2, label="p = ln(nε)")
        axis.set(yscale="log", xlabel="p", ylabel="largest change of the statistic")
        axis.set_title("Spreads (lines) and the paper's expressions (dots)", loc="left")
        axis.legend(loc="lower right")
        fig.savefig(OUT / "appendixf.png", metadata={"Software": None})
        plt.close(fig)
    verdicts = [_order(table), _expressions(table)]
    write_readme(OUT / "README.md", "Dick et al. 2023, Appendix F", NOTES, verdicts)
    return verdicts


def _order(table: np.ndarray) -> Verdict:
    small, last = table[:, 0] <= 1.5, table[:, 0] < np.log(N / K)
    first, second = table[:, 4] / table[:, 5], table[:, 5] / table[:, 6]
    edge = table[last][-1]
    return Verdict(
        "Appendix F",
        "R1 >> R2 >> R for small p (the paper: for p < ln(nε))",
        f"for p <= 1.5 the risks differ by factors of {first[small].min():,.0f} or more and "
        f"{second[small].min():,.0f} or more; just below p = ln(nε) = {np.log(N / K):.1f} the "
        f"spread of R2 is {edge[2] / edge[3]:.2f} times that of R: the regime is smaller",
        "both factors are 30 or more for p <= 1.5; R1 is above R2 for every p",
        bool(first[small].min() >= 30 and second[small].min() >= 30 and first.min() > 1),
    )


def _expressions(table: np.ndarray) -> Verdict:
    ratios = table[:, 1:4] / table[:, 7:10]
    low, high = ratios.min(axis=0), ratios.max(axis=0)
    return Verdict(
        "Appendix F",
        "the expressions bound R1 and R2 from below and R from above",
        "exact over printed: R1 "
        f"{low[0]:.2f} to {high[0]:.2f}, R2 {low[1]:.2f} to {high[1]:.2f}, R {low[2]:.3f} to "
        f"{high[2]:.3f} (our spread of R is between two subsets, the paper's between D and one)",
        "every ratio lies between 0.3 and 4: the expressions hold up to constants",
        bool(low.min() >= 0.3 and high.max() <= 4),
    )
