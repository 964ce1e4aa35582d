"""Figure 4: error against ρ, diagonal covariances."""

from reproduce.huang2021.normal import D, by_rho, even, spread
from reproduce.huang2021.uneven import run_uneven
from reproduce.verdict import Verdict

PANELS = (
    by_rho("σ² = 0.1", 0, even(0.1)),
    by_rho("σ² = 10", 0, even(10)),
    by_rho("σ² uniform in [0, 10]", 0, spread),
)
ABOUT = (
    "Normal rows with diagonal covariances about 0: n = 4,000, d = 128, R = 50 sqrt(d), ρ = ε²/2 "
    "for ε = 0.1, 0.3, 0.5, 0.7 and 1."
)


def run(*, quick: bool = False) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print."""
    return run_uneven(4, PANELS, "ρ", ABOUT, quick=quick, work=6 * D)
