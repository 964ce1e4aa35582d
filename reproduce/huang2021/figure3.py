"""Figure 3: error against the dimension, diagonal covariances."""

from reproduce.huang2021.normal import by_dimension, even, spread
from reproduce.huang2021.uneven import run_uneven
from reproduce.verdict import Verdict

PANELS = (
    by_dimension("σ² = 0.1", 0, even(0.1)),
    by_dimension("σ² = 10", 0, even(10)),
    by_dimension("σ² uniform in [0, 10]", 0, spread),
)
ABOUT = (
    "Normal rows with diagonal covariances: n = 4,000, ρ = 0.5, R = 50 sqrt(d). The paper does not "
    "say where their mean is: 0 here, since all methods but CM are moved along with it."
)


def run(*, quick: bool = False) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print."""
    return run_uneven(3, PANELS, "d", ABOUT, quick=quick)
