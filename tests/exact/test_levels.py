"""Levels: the law, its twin in 50 digits, and points at a boundary decided exactly."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact import levels
from modicum.exact.entropy import SeededEntropy
from modicum.exact.levels import draw_level
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.exact.stub import Listed
from tests.reference.levels import fraction, level_law, level_weights

DRAWS = 20_000
CASES = [
    ([1, 2, 3], [0, 0, 0], Fraction(1)),
    ([3, 0, 5, 10**18], [2, 0, 4, 45], Fraction(9, 10)),
    ([2**60, 2**60 - 1, 1], [0, 1, 40], Fraction(1)),
    ([10**30, 1], [10**6 + 69, 10**6], Fraction(1)),
    ([1, 7, 7], [10**7 + 3, 10**7 + 1, 10**7 + 5], Fraction(1, 3)),
    (list(range(1, 30)), [abs(i - 14) for i in range(29)], Fraction(3, 10)),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("counts", "exponents", "unit"), CASES)
def test_law(counts, exponents, unit) -> None:
    entropy = SeededEntropy("levels")
    draws = [draw_level(counts, exponents, unit, entropy) for _ in range(DRAWS // 4)]
    assert p_value(draws, level_law(counts, exponents, unit)) > ACCEPT
    if len(set(exponents)) > 1 and len(counts) > 3:
        assert p_value(draws, level_law(counts, exponents, unit * Fraction(13, 10))) < REJECT
    else:
        tilted = [c * (1 + 3 * i) for i, c in enumerate(counts)]
        assert p_value(draws, level_law(tilted, exponents, unit)) < REJECT


COUNTS = st.lists(st.integers(0, 2**60) | st.integers(0, 3), min_size=1, max_size=30)


@settings(max_examples=50)
@given(COUNTS.filter(any), st.data(), st.fractions(Fraction(1, 10**9), 10, max_denominator=10**9))
def test_cells_hold_their_weights(counts, data, unit) -> None:
    """[levels.2], [levels.3] against the twin: weight <= cell, (cell - 1)(1 - 2^-39) < weight."""
    exponents = data.draw(
        st.lists(
            st.integers(0, 10**7) | st.integers(0, 50),
            min_size=len(counts),
            max_size=len(counts),
        )
    )
    sizes, steps = np.array(counts), np.array(exponents)
    cells, scale = levels._cells(sizes, steps - steps[sizes > 0].min(), unit)
    assert 2**59 <= int(cells.sum()) < 2**61
    with mpmath.workdps(50):
        for cell, count, weight in zip(
            cells.tolist(), counts, level_weights(counts, exponents, unit), strict=True
        ):
            true = weight * fraction(scale)
            assert true <= cell
            assert (cell > 0) == (count > 0)
            assert cell <= 1 or (cell - 1) * (1 - mpmath.mpf(2) ** -39) < true


def boundary(counts, exponents, unit, i) -> tuple[int, int, list[int]]:
    """Total length, position of the end of stretch i, and that end's further binary digits."""
    sizes, steps = np.array(counts), np.array(exponents)
    cells, scale = levels._cells(sizes, steps - steps.min(), unit)
    with mpmath.workdps(120):
        rate = fraction(unit)
        weight = counts[i] * mpmath.exp(-(exponents[i] - min(exponents)) * rate) * fraction(scale)
        digits = int(mpmath.floor(weight * mpmath.mpf(2) ** 128))
    begin = int(cells[:i].sum())
    words = [digits >> 64 & (2**64 - 1), digits & (2**64 - 1)]
    return int(cells.sum()), begin + (digits >> 128), words


@pytest.mark.parametrize("i", [0, 1, 2, 3])
def test_a_point_at_a_boundary_is_decided_exactly(i) -> None:
    counts, exponents, unit = [5, 10**15 + 1, 2**59 + 3, 1], [1, 30, 44, 3], Fraction(7, 9)
    total, end, words = boundary(counts, exponents, unit, i)
    shift = 64 - (total - 1).bit_length()
    # Inside the stretch by 2^-128 of the line's unit, then outside by as little.
    inside = Listed(end << shift, words[0], words[1] - 1)
    assert draw_level(counts, exponents, unit, inside) == i
    assert inside.left == []
    # The refused point is followed by another, in the middle of level 3's stretch.
    middle = (total - 2**38) << shift
    outside = Listed(end << shift, words[0], words[1] + 1, middle)
    assert draw_level(counts, exponents, unit, outside) == 3
    assert outside.left == []


def test_whole_units_next_to_a_boundary_need_no_further_digit() -> None:
    counts, exponents, unit = [1, 2**40], [0, 3], Fraction(1, 2)
    total, end, _ = boundary(counts, exponents, unit, 1)
    shift = 64 - (total - 1).bit_length()
    assert end < total - 2**17, "the cell is longer than its stretch"
    assert draw_level(counts, exponents, unit, Listed((end - 1) << shift)) == 1
    assert draw_level(counts, exponents, unit, Listed((end + 1) << shift, 0)) == 0


def test_underflowed_levels_keep_their_tiny_probability() -> None:
    # Level 0 has probability exp(-10^7): its cell is one unit long and all but empty.
    counts, exponents, unit = [1, 1], [10**7, 0], Fraction(1)
    cells, _ = levels._cells(np.array(counts), np.array(exponents), unit)
    assert cells[0] == 1
    shift = 64 - (int(cells.sum()) - 1).bit_length()
    assert draw_level(counts, exponents, unit, Listed(0, *[0] * 3, 1 << 40, 1 << shift)) == 1
    # A weight of exp(-50), well inside float64's range, still gets its first stretch.
    counts, exponents = [1, 1], [50, 0]
    assert draw_level(counts, exponents, unit, Listed(0, 0)) == 0
    assert draw_level(counts, exponents, unit, Listed(0, 2**63, 5 << shift)) == 1


def test_arrays_lists_and_huge_integers_agree() -> None:
    counts, exponents, unit = [3, 9, 2, 8], [5, 6, 9, 5], Fraction(1, 2)
    expected = [draw_level(counts, exponents, unit, SeededEntropy(s)) for s in range(60)]
    for kind in (np.int8, np.uint8, np.int64, np.uint64, np.object_):
        c, e = np.array(counts, dtype=kind), np.array(exponents, dtype=kind)
        assert [draw_level(c, e, unit, SeededEntropy(s)) for s in range(60)] == expected
    # A common factor of all counts changes no probability; nor a common summand of exponents.
    wide = [c << 200 for c in counts]
    far = [e + 2**80 for e in exponents]
    assert [draw_level(wide, far, unit, SeededEntropy(s)) for s in range(60)] == expected
    # Integers that NumPy would have turned into floats.
    draws = {draw_level([2**63, 1], [0, 2**64], unit, SeededEntropy(s)) for s in range(5)}
    assert draws == {0}


def test_many_levels() -> None:
    n = 50_000
    rng = np.arange(n)
    counts = rng % 7 * 10**15 + 1
    exponents = (rng * 2_654_435_761) % 10**7
    entropy = SeededEntropy("many")
    draws = [draw_level(counts, exponents, Fraction(1, 10**6), entropy) for _ in range(150)]
    weights = counts * np.exp(-exponents * 1e-6)
    cell = np.searchsorted(np.cumsum(weights) / weights.sum(), np.arange(1, 10) / 10)
    groups = np.searchsorted(cell, draws, side="right").tolist()
    assert p_value(groups, dict.fromkeys(range(10), 0.1)) > ACCEPT


def test_extreme_units() -> None:
    tiny, huge = Fraction(1, 2**900), Fraction(2**900)
    draws = [draw_level([1, 3], [0, 1], tiny, SeededEntropy(s)) for s in range(400)]
    assert p_value(draws, {0: 0.25, 1: 0.75}) > ACCEPT
    assert {draw_level([1, 3], [2**255, 2**254], huge, SeededEntropy(s)) for s in range(9)} == {1}


@pytest.mark.parametrize(
    ("counts", "exponents", "unit", "words"),
    [
        ([], [], 1, "one or more integers"),
        ([[1]], [[1]], 1, "one or more integers"),
        (5, 5, 1, "one or more integers"),
        ([1], [1, 2], 1, "one length"),
        ([0, 0], [1, 2], 1, "must be positive"),
        ([1, -1], [1, 2], 1, "counts must hold integers of at least 0"),
        ([1, 1], [1, -2], 1, "exponents must hold integers of at least 0"),
        ([1.0, 1], [1, 2], 1, "counts must hold integers only, got a float"),
        ([True], [1], 1, "counts must hold integers only"),
        ([1], ["1"], 1, "exponents must hold integers only"),
        ([2**256], [1], 1, "below 2\\^256"),
        ([1], [1], 0, "unit must lie"),
        ([1], [1], -1, "unit must lie"),
        ([1], [1], Fraction(1, 2**901), "unit must lie"),
    ],
)
def test_refuses(counts, exponents, unit, words) -> None:
    with pytest.raises(InvalidArgument, match=words):
        draw_level(counts, exponents, Fraction(unit), SeededEntropy(0))


def test_the_largest_count_has_a_finite_weight() -> None:
    assert math.isfinite(float(2**256 - 1) * 2.0**60)
    assert draw_level([2**256 - 1], [0], Fraction(1), SeededEntropy(0)) == 0
