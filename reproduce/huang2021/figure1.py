"""Figure 1: error against the dimension, covariance I, three means."""

from reproduce.huang2021.isotropic import run_isotropic
from reproduce.huang2021.normal import MEANS, by_dimension, even
from reproduce.verdict import Verdict

PANELS = tuple(by_dimension(f"μ = {mean:g}", mean, even(1)) for mean in MEANS)
ABOUT = "Normal rows with covariance I: n = 4,000, ρ = 0.5, R = 50 sqrt(d), errors from μ."


def run(*, quick: bool = False) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print."""
    return run_isotropic(1, PANELS, "d", ABOUT, quick=quick)
