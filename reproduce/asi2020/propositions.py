"""Algorithm 1 and Propositions 2.1 and 2.2 of Asi and Duchi 2020, by exact laws."""

import math
from fractions import Fraction
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from modicum import theory
from modicum.privacy.event import RangeDP
from modicum.research.papers.asi2020 import RadialMechanism
from reproduce.verdict import STYLE, Verdict, write_csv, write_readme

OUT = Path(__file__).parent / "out" / "propositions"
SIZES = (10, 20, 50, 100, 200, 500)
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0)
JUMPS = (1, 2, 5, 10, 20, 50, 100)

NOTES = """
Asi and Duchi (2020), *Instance-optimality in differential privacy via approximate inverse
sensitivity mechanisms*, Algorithm 1 and Propositions 2.1 and 2.2; the paper has no figures. Made by
`python -m reproduce asi2020/propositions`.

Nothing is drawn. Figure 1 has the mean of n numbers of [0, 1] with all radii 1/n, on n zeros and on
n - 1 zeros and a one. Figure 2 has two neighbours whose values are 1 apart and whose local
sensitivities are 1 and J; 30 radii depend on the data, and with more of them the printed form loses
more, without a bound. Figure 3 has the expected error of the mechanism (M.2) in real numbers,
for radii between S and S exp(β k), β = ε/8.
"""


def figure_1() -> Verdict:
    rows = []
    for epsilon in EPSILONS:
        for n in SIZES:
            k = np.arange(1, n + 1)
            weights = np.exp(-k * epsilon / 2)  # of one side, all shells being equally wide
            # One data set's n-th shell on the far side, of a probability that the other lacks.
            rows.append((epsilon, n, float(weights[-1] / weights.sum() / 2), _endless(n, epsilon)))
    write_csv(OUT / "figure1.csv", ["epsilon", "n", "capped_mass", "endless_loss"], rows)
    table = np.array(rows)
    with plt.rc_context(STYLE):
        fig, axis = plt.subplots(layout="constrained")
        for epsilon in EPSILONS:
            mine = table[table[:, 0] == epsilon]
            axis.plot(mine[:, 1], mine[:, 2], "o-", label=f"ε = {epsilon:g}")
        axis.set(xscale="log", yscale="log", ylim=(1e-16, 1), xlabel="n", ylabel="probability")
        axis.set_title("Answers of Algorithm 1 that a neighbour cannot give", loc="left")
        axis.legend(ncols=3)
        _save(fig, "figure1")
    worst = max(loss / epsilon for epsilon, _, _, loss in rows)
    at = next(mass for epsilon, n, mass, _ in rows if (epsilon, n) == (1.0, 10))
    return Verdict(
        "Figure 1",
        "Algorithm 1 samples from (M.2), which is ε-differentially private",
        f"with its cap k <= n answers of probability {at:.2g} (n = 10, ε = 1) are impossible on a "
        f"neighbour; without the cap the loss is at most {worst:.2f} ε",
        "that probability is above 1e-3, and the loss without the cap at most ε everywhere",
        bool(at > 1e-3 and worst <= 1),
    )


def _endless(n: int, epsilon: float) -> float:
    one, other = (_law((at,), (1,) * n, 1, epsilon) for at in (0, 1))
    return _loss(one, other)


def figure_2() -> Verdict:
    rows = []
    for jump in JUMPS:
        here, there, levels = 1, jump, 30
        printed = [_law((at,), (r,) * levels, 1000, 1.0) for at, r in ((0, here), (1, there))]
        # Within one record of D is D', so all radii but the first are those of the larger one.
        radii = [(here, *[there] * (levels - 1)), (there,) * levels]
        right = [_law((at,), r, 1000, 1.0) for at, r in zip((0, 1), radii, strict=True)]
        rows.append((jump, _loss(*printed), _loss(*right)))
    write_csv(OUT / "figure2.csv", ["jump", "printed_loss", "corrected_loss"], rows)
    table = np.array(rows)
    with plt.rc_context(STYLE):
        fig, axis = plt.subplots(layout="constrained")
        axis.plot(table[:, 0], table[:, 1], "o-", label="R as printed, of x")
        axis.plot(table[:, 0], table[:, 2], "s-", label="R of all x' near x")
        axis.axhline(1, color="grey", ls=":", lw=1.2, label="ε")
        axis.set(xscale="log", yscale="log", xlabel="ratio of the local sensitivities")
        axis.set_ylabel("largest log ratio")
        axis.set_title("Proposition 2.1 at ε = 1", loc="left")
        axis.legend()
        _save(fig, "figure2")
    return Verdict(
        "Figure 2",
        "(M.2) with R_l(x) = sup over x' within l of LS(x) is ε-differentially private",
        f"as printed the loss is {table[-1, 1]:.1f} at a ratio of {JUMPS[-1]}; with x' for x, and "
        f"within l - 1, it is at most {table[:, 2].max():.3f}",
        "the printed form loses more than 5 ε at the largest ratio, the corrected one at most ε",
        bool(table[-1, 1] > 5 and table[:, 2].max() <= 1 + 1e-9),
    )


SEQUENCES = {
    "constant": lambda k, beta: np.ones(len(k)),
    "growing": lambda k, beta: np.exp(np.minimum(beta * k, 600)),
    "late": lambda k, beta: np.where(k > 3 / beta, np.exp(np.minimum(beta * k, 600)), 1.0),
}


def figure_3() -> Verdict:
    rows = []
    for epsilon in EPSILONS:
        beta, k = epsilon / 8, np.arange(1, round(400 / epsilon))
        for name, radii in SEQUENCES.items():
            error = theory.radial_error(radii(k, beta), epsilon, largest=1e-9)
            rows.append((name, epsilon, error * epsilon, 16 / 3 * math.exp(epsilon / 3)))
    write_csv(OUT / "figure3.csv", ["radii", "epsilon", "error_over_s_epsilon", "bound"], rows)
    with plt.rc_context(STYLE):
        fig, axis = plt.subplots(layout="constrained")
        for name in SEQUENCES:
            mine = np.array([row[1:3] for row in rows if row[0] == name])
            axis.plot(mine[:, 0], mine[:, 1], "o-", label=f"{name} radii")
        axis.plot(EPSILONS, [16 / 3 * math.exp(e / 3) for e in EPSILONS], "k:", label="bound")
        axis.set(xscale="log", xlabel="ε", ylabel="expected error over S/ε", ylim=(0, None))
        axis.set_title("Proposition 2.2, β = ε/8", loc="left")
        axis.legend()
        _save(fig, "figure3")
    worst = max(error / bound for _, _, error, bound in rows)
    largest = max(error for *_, error, _ in rows)
    return Verdict(
        "Figure 3",
        "the expected error is O(S/ε) if β = ε/8 and ε = O(1)",
        f"at most {largest:.2f} S/ε for ε up to 3, and {worst:.0%} of (16/3) exp(ε/3) S/ε",
        "every error is at most (16/3) exp(ε/3) S/ε",
        bool(worst <= 1),
    )


def run() -> list[Verdict]:
    """Draw all three and write the page."""
    OUT.mkdir(exist_ok=True, parents=True)
    verdicts = [figure_1(), figure_2(), figure_3()]
    title = "Asi and Duchi 2020, Algorithm 1 and Propositions 2.1 and 2.2"
    write_readme(OUT / "README.md", title, NOTES, verdicts)
    return verdicts


def _law(
    centre: tuple[int, ...], radii: tuple[int, ...], largest: int, epsilon: float
) -> RadialMechanism:
    cost = Fraction(str(epsilon))
    return RadialMechanism(centre, radii, largest, 1, cost, RangeDP(cost))


def _loss(one: RadialMechanism, other: RadialMechanism) -> float:
    probes = sorted({*one.probes(), *other.probes()})
    return float(np.abs(one.log_densities(probes) - other.log_densities(probes)).max())


def _save(fig: plt.Figure, name: str) -> None:
    fig.savefig(OUT / f"{name}.png", metadata={"Software": None})
    plt.close(fig)
