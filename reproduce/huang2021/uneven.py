"""What figures 3 and 4 claim: near the mean without privacy, where COINPRESS is not."""

import numpy as np

from reproduce.huang2021.measure import (
    COINPRESS,
    TOLD,
    WORK,
    Found,
    Panel,
    against_the_best,
    measure,
    show,
    write,
)
from reproduce.huang2021.normal import FEW, OTHERS, UNEVEN, enough_rows, in_integers
from reproduce.verdict import Verdict


def run_uneven(
    number: int,
    panels: tuple[Panel, ...],
    across: str,
    about: str,
    *,
    quick: bool,
    work: int = WORK,
) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print."""
    found = measure(number, panels, UNEVEN, quick=quick, work=work)
    show(found, across)
    verdicts = [_better(number, found), in_integers(number, found)]
    verdicts.append(against_the_best(number, found, (*OTHERS, *TOLD)))
    if not quick:
        write(number, found, across, about, verdicts)
    return verdicts


def _better(number: int, found: Found) -> Verdict:
    ratio, told = found.ratio("Shifted-CM", COINPRESS), found.ratio("Shifted-CM", TOLD)
    enough = enough_rows(found)
    mean = float(np.exp(np.log(ratio[enough]).mean()))
    seen = (
        f"{ratio[enough].min():.2f} to {ratio[enough].max():.2f} times the error of the best t, "
        f"{mean:.2f} in the geometric mean; {told[enough].min():.2f} to {told[enough].max():.2f} "
        "times if COINPRESS is told the largest standard deviation"
    )
    if not enough.all():
        few = ratio[~enough]
        seen += f"; {few.min():.2f} to {few.max():.2f} times the best t where {FEW}"
    return Verdict(
        f"Figure {number}",
        "where the covariance is not the identity, Shifted-CM outperforms COINPRESS with the best "
        "t by far",
        seen,
        f"at most 0.8 in the geometric mean, and no ratio above 1.15, but where {FEW}",
        bool(mean <= 0.8 and ratio[enough].max() <= 1.15),
    )
