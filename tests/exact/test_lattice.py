"""The lattice: the default step, what is refused, and the rounding of every datum."""

import math
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice

FINITE = st.floats(min_value=-(2.0**1021), max_value=2.0**1021)


@st.composite
def lattices(draw) -> Lattice:
    lo, hi = sorted((draw(FINITE), draw(FINITE)))
    if lo == hi:
        hi = math.nextafter(hi, math.inf) if hi < 2.0**1021 else hi
        lo = math.nextafter(lo, -math.inf) if lo == hi else lo
    try:
        finest = Lattice.within((lo, hi))
    except InvalidArgument:  # the two ends are closer than the finest step
        return Lattice.within((-1.0, 1.0))
    coarser = finest.step * 2.0 ** draw(st.integers(0, 60))
    try:
        return Lattice.within((lo, hi), step=coarser)
    except InvalidArgument:
        return finest


@pytest.mark.parametrize(
    ("within", "step"),
    [
        ((-1e9, 1e9), 2.0**-21),
        ((-1e15, 1e15), 0.5),
        ((0, 2**51), 1.0),
        ((-(2.0**51) - 1, 5), 2.0),
        ((0, 1), 2.0**-51),
        ((-1e300, 1e300), 2.0**946),
        ((0.0, 1e-300), 2.0**-1000),
        ((-(2.0**1021), 2.0**1021), 2.0**970),
        ([np.float32(-8), np.int64(4)], 2.0**-48),
    ],
)
def test_default_step(within, step) -> None:
    assert Lattice.within(within).step == step


@given(lattices())
def test_the_step_is_the_smallest_safe_power_of_two(lattice) -> None:
    step = Lattice.within((lattice.lo, lattice.hi)).step
    reach = Fraction(max(abs(lattice.lo), abs(lattice.hi)))
    assert reach <= 2**51 * Fraction(step)
    assert step == 2.0**-1000 or reach > 2**51 * Fraction(step) / 2


@pytest.mark.parametrize(
    ("within", "step", "words"),
    [
        ((1, 0), None, "lowest < highest"),
        ((1, 1), None, "lowest < highest"),
        ((0.0, -0.0), None, "lowest < highest"),
        ((math.nan, 1), None, "within must be made of finite numbers"),
        ((0, math.inf), None, "within must be made of finite numbers"),
        ((-math.inf, math.inf), None, "within must be made of finite numbers"),
        ((0, 10**400), None, "within must be made of finite numbers"),
        ((False, True), None, "within must be made of finite numbers"),
        (("0", "1"), None, "within must be made of finite numbers"),
        ((0, 1j), None, "within must be made of finite numbers"),
        ((None, 1), None, "within must be made of finite numbers"),
        ((0, 1, 2), None, "within must be a pair of numbers"),
        ((0,), None, "within must be a pair of numbers"),
        (5, None, "within must be a pair of numbers"),
        ("01", None, "within must be a pair of numbers"),
        (None, None, "within must be a pair of numbers"),
        ((0, 1e308), None, "2.2e307"),
        ((0, 1), 0.3, "power of two"),
        ((0, 1), -0.5, "power of two"),
        ((0, 1), 0, "power of two"),
        ((0, 1), math.nan, "step must be made of finite numbers|step must be"),
        ((0, 1), math.inf, "step"),
        ((0, 1), True, "step"),
        ((0, 1), 2.0, "too coarse"),
        ((0, 1), 2.0**1000, "too coarse"),
        ((0, 1e-310), None, "too coarse"),
        ((-1e9, 1e9), 2.0**-22, "finest step allowed is 4.76837158203125e-07.*±536870912.0"),
        ((0, 1e-300), 2.0**-1001, "finest step allowed"),
    ],
)
def test_refuses_by_name(within, step, words) -> None:
    with pytest.raises(InvalidArgument, match=words):
        Lattice.within(within, step)


def test_an_invalid_lattice_cannot_be_built_either() -> None:
    for lo, hi, step in [(0.0, 1.0, 0.3), (1.0, 0.0, 0.5), (0.0, math.nan, 0.5), (0, 1, 2.0**-60)]:
        with pytest.raises(InvalidArgument):
            Lattice(lo, hi, step)


def exact_index(lattice: Lattice, x: float) -> int:
    """Clamp, divide, and round half to even: Fraction's own rounding."""
    return round(Fraction(min(max(x, lattice.lo), lattice.hi)) / Fraction(lattice.step))


@given(lattices(), st.lists(st.floats(allow_nan=True), max_size=20))
@example(Lattice.within((-8, 8), step=1), [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -0.0, 5e-324])
@example(Lattice.within((0.3, 8), step=1), [0.0, 0.3, 0.5])
def test_quantise_rounds_exactly(lattice, xs) -> None:
    x = np.array(xs, dtype=float)
    before = x.copy()
    q = lattice.quantise(x)
    assert np.array_equal(x, before, equal_nan=True)
    assert q.dtype == np.int64
    assert q.tolist() == [exact_index(lattice, v) for v in xs if not math.isnan(v)]
    assert all(lattice.first <= v <= lattice.last for v in q.tolist())


@given(lattices(), st.lists(FINITE, min_size=2, max_size=20))
def test_quantise_is_monotone_and_reaches_both_ends(lattice, xs) -> None:
    q = lattice.quantise(np.array([-math.inf, *sorted(xs), math.inf]))
    assert (np.diff(q) >= 0).all()
    assert (q[0], q[-1]) == (lattice.first, lattice.last)
    assert lattice.width == lattice.last - lattice.first > 0


@given(lattices(), st.data())
def test_value_inverts_quantise(lattice, data) -> None:
    q = data.draw(st.integers(lattice.first, lattice.last))
    x = lattice.value(q)
    assert Fraction(x) == q * Fraction(lattice.step)
    if lattice.lo <= x <= lattice.hi:
        assert lattice.quantise(np.array([x])).tolist() == [q]


@pytest.mark.parametrize("q", [0, Fraction(-1, 10**400), Fraction(-1, 10**9)])
def test_zero_has_no_sign(q) -> None:
    value = Lattice.within((-1e-300, 1e-300)).value(q)
    assert value <= 0
    assert math.copysign(1.0, value) == 1.0 or value < 0
    assert math.copysign(1.0, Lattice.within((-0.0, 1.0)).lo) == 1.0


def test_values_far_outside_stay_finite() -> None:
    lattice = Lattice.within((-1e300, 1e300))
    assert lattice.value(10**400) == sys.float_info.max
    assert lattice.value(Fraction(-(10**400), 3)) == -sys.float_info.max


def test_values_are_correctly_rounded() -> None:
    lattice = Lattice.within((0, 10), step=1)
    assert lattice.value(Fraction(1, 3)) == 1 / 3
    assert lattice.value(2**53 + 1) == float(2**53)
    assert lattice.value(Fraction(2**54 + 3, 2)) == float(2**53 + 2)


def test_lattices_are_values() -> None:
    one = Lattice.within((-1, 1))
    assert one == Lattice(-1.0, 1.0, 2.0**-51) == pickle.loads(pickle.dumps(one))
    assert len({one, Lattice.within((-1.0, 1.0))}) == 1


def test_a_chunk_without_records() -> None:
    assert Lattice.within((0, 1)).quantise(np.array([math.nan, math.nan])).tolist() == []
    assert Lattice.within((0, 1)).quantise(np.array([])).dtype == np.int64
