"""Enclosures hold the true value and are as narrow as promised."""

import decimal
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact import enclosure
from modicum.exact.decay import decay
from tests.reference.levels import fraction

RATIONALS = st.fractions(max_denominator=10**12)
DIGITS = st.integers(1, 80)


@given(RATIONALS.filter(lambda x: abs(x) < 10**4), DIGITS)
def test_exp(x, digits) -> None:
    lower, upper = enclosure.exp_bounds(x, digits)
    with mpmath.workdps(120):
        true = mpmath.exp(fraction(x))
        assert 0 < fraction(lower) <= true <= fraction(upper)
        assert fraction(upper - lower) <= true * mpmath.mpf(10) ** -digits
    assert enclosure.exp_below(x, digits) == lower
    assert enclosure.exp_above(x, digits) == upper


@given(RATIONALS.filter(lambda x: x > 0), DIGITS)
def test_ln(x, digits) -> None:
    lower, upper = enclosure.ln_bounds(x, digits)
    with mpmath.workdps(120):
        true = mpmath.log(fraction(x))
        assert fraction(lower) <= true <= fraction(upper)
        assert fraction(upper - lower) <= max(1, abs(true)) * mpmath.mpf(10) ** -digits
    assert (enclosure.ln_below(x, digits), enclosure.ln_above(x, digits)) == (lower, upper)


@given(RATIONALS.filter(lambda x: x >= 0), st.integers(0, 200))
def test_sqrt(x, bits) -> None:
    unit = Fraction(1, 2**bits)
    lower, upper = enclosure.sqrt_below(x, bits), enclosure.sqrt_above(x, bits)
    assert lower**2 <= x <= upper**2
    assert (lower + unit) ** 2 > x
    assert upper == lower or (upper == lower + unit and lower**2 < x)


@given(st.fractions())
def test_floats_on_either_side(x) -> None:
    lower, upper = enclosure.float_below(x), enclosure.float_above(x)
    assert lower <= x <= upper
    assert upper in (lower, math.nextafter(lower, math.inf))


@pytest.mark.parametrize("big", [Fraction(10**400), Fraction(-(10**400))])
def test_floats_beyond_the_largest(big) -> None:
    assert enclosure.float_below(big) <= big <= enclosure.float_above(big)
    assert math.isinf(enclosure.float_below(big)) != math.isinf(enclosure.float_above(big))


def test_floats_at_zero() -> None:
    assert math.copysign(1, enclosure.float_above(Fraction(0))) == 1
    assert enclosure.float_below(Fraction(1, 10**400)) == 0.0
    assert enclosure.float_above(Fraction(1, 10**400)) == 5e-324
    assert enclosure.float_above(Fraction(-1, 10**400)) == 0.0


def test_refuses_what_has_no_real_value() -> None:
    for call in (enclosure.ln_below, enclosure.ln_above):
        with pytest.raises(InvalidArgument, match="positive"):
            call(Fraction(0))
    with pytest.raises(InvalidArgument, match="square root"):
        enclosure.sqrt_below(Fraction(-1), 10)


def test_the_callers_decimal_context_changes_nothing() -> None:
    expected = enclosure.exp_bounds(Fraction(1, 3))
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP, Emax=5)):
        assert enclosure.exp_bounds(Fraction(1, 3)) == expected


@pytest.mark.parametrize("start", [0.0, 1e-9, 1e-3, 1.0, 44.4, 300.0, 699.0])
def test_decay_keeps_its_error_bound(start) -> None:
    x = start + np.linspace(0, 1, 301)
    x[0] = np.nextafter(x[0], np.inf)
    values = decay(x)
    with mpmath.workdps(40):
        for xi, value in zip(x.tolist(), values.tolist(), strict=True):
            true = mpmath.exp(-mpmath.mpf(xi))
            assert abs(value - true) <= true * mpmath.mpf(2) ** -46


def test_decay_at_its_ends() -> None:
    values = decay(np.array([0.0, 700.0, 701.0, 1e300, np.inf]))
    assert values[0] == 1.0
    assert set(values[1:].tolist()) == {values[1]}
    assert 0 < values[1] < 1e-304
    assert len(decay(np.zeros(0))) == 0
    # Longer than one stretch of the loop.
    x = np.linspace(0, 50, 40_001)
    assert np.allclose(decay(x), np.exp(-x), rtol=1e-13, atol=0)
