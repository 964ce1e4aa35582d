"""How far trimmed and winsorized means move: the closed form is what trying everything finds."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from modicum.exact.lattice import Lattice
from modicum.statistics.robust import trimmed
from modicum.statistics.robust.trimmed import level_ends_of, upper_ends
from modicum.summaries.order_statistics import TrimPoints, TrimSummary
from tests.reference.crossing import Crossing, Data, mean
from tests.summaries.cases import reduce

SHARES = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(49, 100)]
VALUES = (0, 3, 4, 10)
LEVELS = 4


def statistic(share: Fraction, *, winsorized: bool):
    """From the definition, with a share of the records at hand beyond each cut."""

    def value(data: Data) -> Fraction | None:
        if not data:
            return None
        m = math.floor(share * len(data))
        kept = data[m : len(data) - m]
        if winsorized:
            return Fraction(sum(kept) + m * (kept[0] + kept[-1]), len(data))
        return mean(kept)

    return value


def summary(data, share: Fraction, reach: int, lattice: Lattice) -> TrimSummary:
    return reduce(TrimPoints(share, reach), lattice, [np.asarray(data, dtype=np.float64)])


@pytest.mark.parametrize("winsorized", [False, True])
@pytest.mark.parametrize("share", SHARES)
def test_the_ends_are_what_all_changes_reach(share, winsorized) -> None:
    """Every way to change up to three records of up to five, on a range of eleven integers."""
    crossing = Crossing(statistic(share, winsorized=winsorized), VALUES, 8)
    lattice = Lattice(0.0, 10.0, 1.0)
    for n in range(6):
        for data in combinations_with_replacement(VALUES, n):
            cuts = summary(data, share, LEVELS, lattice)
            lows, highs = level_ends_of(cuts, 0, 10, LEVELS, winsorized=winsorized)
            least, most = crossing.extremes(data, LEVELS)
            assert lows.tolist() == [0 if x is None else math.floor(x) for x in least]
            assert highs.tolist() == [10 if x is None else math.ceil(x) for x in most]


@pytest.mark.parametrize("winsorized", [False, True])
def test_large_integers_are_exact(winsorized) -> None:
    """Twins in Python integers; beyond 2^34 records the arrays hold such integers too."""
    rng = np.random.default_rng(3)
    last, share, levels = 2**51, Fraction(1, 7), 12
    lattice = Lattice(-float(last), float(last), 1.0)
    for n in (13, 400):
        data = np.sort(rng.integers(-last, last, n))
        highs = upper_ends(
            summary(data, share, levels, lattice), last, levels, winsorized=winsorized
        )
        value = statistic(share, winsorized=winsorized)
        best, expected = Fraction(-last), []
        for k in range(levels):
            for removed in range(k + 1):
                changed = (*data[removed:].tolist(), *(last,) * (k - removed))
                best = max(best, value(changed))
            expected.append(math.ceil(best))
        assert highs.tolist() == expected


@pytest.mark.parametrize("winsorized", [False, True])
@pytest.mark.parametrize(("name", "value"), [("_PAIRS", 1), ("_PAIRS", 200), ("_ONE_LIMB", 0)])
def test_blocks_and_limbs_change_nothing(name, value, winsorized, monkeypatch) -> None:
    rng, share, levels = np.random.default_rng(4), Fraction(1, 7), 60
    lattice = Lattice(-(2.0**40), 2.0**40, 1.0)
    cuts = summary(rng.integers(-(2**40), 2**40, 500), share, levels, lattice)
    expected = upper_ends(cuts, 2**40, levels, winsorized=winsorized)
    monkeypatch.setattr(trimmed, name, value)
    assert (upper_ends(cuts, 2**40, levels, winsorized=winsorized) == expected).all()


def test_a_column_of_many_records() -> None:
    """2^35 records, of which only those around the cuts are known: sums beyond int64."""
    n, share, levels = 2**35, Fraction(1, 4), 5
    low = np.full(2 * levels, -(2**50))
    cuts = TrimSummary(n, low, -low, 3 * 2**80, share, levels)
    kept = n - 2 * (n // 4)
    for winsorized, count in ((False, kept), (True, n)):
        ends = upper_ends(cuts, 2**51, levels, winsorized=winsorized)
        assert ends[0] == -(-3 * 2**80 // count)
        assert (np.diff(ends) >= 0).all()
