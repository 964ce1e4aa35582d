"""Figure 2: error against ρ, covariance I, three means."""

from reproduce.huang2021.isotropic import run_isotropic
from reproduce.huang2021.normal import MEANS, D, by_rho, even
from reproduce.verdict import Verdict

PANELS = tuple(by_rho(f"μ = {mean:g}", mean, even(1)) for mean in MEANS)
ABOUT = (
    "Normal rows with covariance I: n = 4,000, d = 128, R = 50 sqrt(d), ρ = ε²/2 for ε = 0.1, 0.3, "
    "0.5, 0.7 and 1; errors from μ."
)


def run(*, quick: bool = False) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print."""
    return run_isotropic(2, PANELS, "ρ", ABOUT, quick=quick, work=8 * D)
