"""What figures 1 and 2 claim: as good as COINPRESS with the best t, wherever the mean is."""

from reproduce.huang2021.measure import (
    COINPRESS,
    WORK,
    Found,
    Panel,
    against_the_best,
    measure,
    show,
    write,
)
from reproduce.huang2021.normal import (
    FEW,
    OTHERS,
    PLAIN,
    across_means,
    enough_rows,
    extremes,
    in_integers,
)
from reproduce.verdict import Verdict


def run_isotropic(
    number: int,
    panels: tuple[Panel, ...],
    across: str,
    about: str,
    *,
    quick: bool,
    work: int = WORK,
) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print."""
    found = measure(number, panels, PLAIN, quick=quick, work=work)
    show(found, across)
    verdicts = [_as_good(number, found), _shifts(number, found), in_integers(number, found)]
    verdicts.append(against_the_best(number, found, OTHERS))
    if not quick:
        write(number, found, across, about, verdicts)
    return verdicts


def _as_good(number: int, found: Found) -> Verdict:
    ratio, enough = found.ratio("Shifted-CM", COINPRESS), enough_rows(found)
    seen = f"{extremes(ratio[enough])} times the error of the best t"
    if not enough.all():
        seen += f"; {extremes(ratio[~enough])} times where {FEW}"
    return Verdict(
        f"Figure {number}",
        "Shifted-CM performs at least as well as COINPRESS with the best t",
        seen,
        f"no ratio above 1.15, but where {FEW}",
        bool(ratio[enough].max() <= 1.15),
    )


def _shifts(number: int, found: Found) -> Verdict:
    enough = enough_rows(found).reshape(len(found.panels), -1)[0]
    shifted, plain = (across_means(found, name)[enough] for name in ("Shifted-CM", "CM"))
    return Verdict(
        f"Figure {number}",
        "Shifted-CM is not affected by μ, CM is",
        f"between the panels errors of Shifted-CM differ by factors of at most {shifted.max():.2f},"
        f" those of CM of at least {plain.min():.2f}",
        f"at most 1.2, trials being few, and at least 1.5, but where {FEW}",
        bool(shifted.max() <= 1.2 and plain.min() >= 1.5),
    )
