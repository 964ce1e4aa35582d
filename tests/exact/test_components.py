"""Components of huge and of tiny weight: their law, and its twin in 1200 digits."""

import math
from fractions import Fraction

import mpmath
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.components import Components
from modicum.exact.entropy import SeededEntropy
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.exact.stub import Listed

CASES = [
    ([1, 2, 3], [0, 0, 0], [0, 0, 0], Fraction(1)),
    ([3, 0, 5, 10**30], [2, 0, 4, 70], [0, 0, 1, 2], Fraction(9, 10)),
    ([10**600, 3 * 10**600, 10**608], [0, 1, 20], [0, 1, 2], Fraction(1)),
    ([7, 7, 7], [10**6, 10**6 + 2, 10**6 + 1], [3, 3, 4], Fraction(1, 3)),
    ([1, 1], [0, 3], [0, 2], Fraction(1, 10**6)),
    ([10**400, 1], [921, 0], [0, 0], Fraction(1)),
]


def weights(counts, exponents, orders, unit) -> list[mpmath.mpf]:
    with mpmath.workdps(1200):
        x = mpmath.exp(-mpmath.mpf(unit.numerator) / unit.denominator)
        return [c * x**e / (1 - x) ** q for c, e, q in zip(counts, exponents, orders, strict=True)]


def mechanism(*case) -> dict[int, float]:
    found = weights(*case)
    with mpmath.workdps(1200):
        total = mpmath.fsum(found)
        return {i: float(w / total) for i, w in enumerate(found)}


@pytest.mark.parametrize("case", CASES)
def test_law(case) -> None:
    entropy, components = SeededEntropy("components"), Components(*case)
    draws = [components.draw(entropy) for _ in range(4000)]
    assert p_value(draws, mechanism(*case)) > ACCEPT
    tilted = ([c * (1 + 3 * i) for i, c in enumerate(case[0])], *case[1:])
    if max(mechanism(*case).values()) < 0.99:
        assert p_value(draws, mechanism(*tilted)) < REJECT


@pytest.mark.parametrize("case", CASES)
def test_cells_hold_their_weights_and_little_more(case) -> None:
    components = Components(*case)
    counts, exponents, orders, unit = case
    least = min(e for c, e in zip(counts, exponents, strict=True) if c)
    case = (counts, [max(0, e - least) for e in exponents], orders, unit)
    with mpmath.workdps(1200):
        total = mpmath.log(mpmath.fsum(weights(*case))) - least * mpmath.mpf(float(unit))
        assert float(total) == pytest.approx(components.log_total, rel=1e-12)
        scaled = [w * mpmath.mpf(2) ** components._power for w in weights(*case)]
        ends = [0, *components._ends]
        for i, weight in enumerate(scaled):
            cell = ends[i + 1] - ends[i]
            assert weight <= cell
            assert (cell > 0) == (case[0][i] > 0)
            if cell >> 18:
                assert cell - (cell >> 18) - 2 < weight
            low, high = components._bounds(i, 40)
            assert mpmath.mpf(low.numerator) / low.denominator <= weight
            assert weight <= mpmath.mpf(high.numerator) / high.denominator
            assert high - low < Fraction(1, 10**20)


def test_a_weight_far_below_the_others_keeps_its_probability() -> None:
    """Its cell has 32 units, of which it fills next to nothing."""
    components = Components([1, 1], [0, 500], [0, 0], Fraction(1))
    low, high = components._bounds(1, 400)
    assert components._ends[1] - components._ends[0] == 32
    assert math.isclose(math.log(low), -500 + components._power * math.log(2))
    assert 0 < low < high


@pytest.mark.parametrize(
    "case", [([0], [0], [0], 1), ([1], [-1], [0], 1), ([1], [0], [0], 0), ([1], [0], [-1], 1)]
)
def test_refusals(case) -> None:
    with pytest.raises(InvalidArgument, match="components need"):
        Components(*case[:3], Fraction(case[3]))


@pytest.mark.parametrize("i", [0, 1])
def test_a_point_at_a_boundary_is_decided_exactly(i) -> None:
    """128 binary digits of the end of a weight, and one unit of the last on either side of it."""
    case = ([5, 10**30 + 1], [0, 70], [1, 2], Fraction(7, 9))
    components = Components(*case)
    with mpmath.workdps(1200):
        scaled = weights(*case)[i] * mpmath.mpf(2) ** components._power
        digits = int(mpmath.floor(scaled * mpmath.mpf(2) ** 128))
    begin, total = [0, *components._ends][i], components._ends[-1]
    shift = 64 - (total - 1).bit_length()
    end = (begin + (digits >> 128)) << shift
    words = [digits >> 64 & (2**64 - 1), digits & (2**64 - 1)]
    inside = Listed(end, words[0], words[1] - 1)
    assert components.draw(inside) == i
    assert inside.left == []
    # The refused point is followed by another, at the beginning of the first cell.
    outside = Listed(end, words[0], words[1] + 1, 0)
    assert components.draw(outside) == 0
    assert outside.left == []
