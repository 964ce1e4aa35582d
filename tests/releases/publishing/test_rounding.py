"""Which digits are published: a rounded interval covers the interval, and holds the value."""

import math
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import modicum as mo
from modicum.releases.publishing.rounding import Rounding, written

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
RULES = st.one_of(
    st.just(("auto", None)),
    st.just((None, None)),
    st.integers(-300, 300).map(lambda digits: (digits, None)),
    st.sampled_from([5, 0.25, "1e3", 7, "0.003", 1e-300, 1e300]).map(lambda base: ("auto", base)),
)


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS).map(sorted), RULES)
@example([-1.0, 0.0, 1.0], ("auto", None))
@example([2.5e8, 2.5e8, 2.5e8], ("auto", None))
@example([-1.7976931348623157e308, 3.0, 1.7976931348623157e308], ("auto", None))
@example([1.7976931348623157e308, 1.7976931348623157e308, 1.7976931348623157e308], ("auto", None))
@example([5e-324, 1e-323, 1e-322], ("auto", None))
def test_ends_go_outwards_and_hold_the_value(numbers, rule) -> None:
    lower, value, upper = numbers
    found = Rounding.of(*rule).rounded(value, lower, upper)
    assert found.lower <= Decimal(repr(lower))
    assert found.upper >= Decimal(repr(upper))
    assert found.lower <= found.value <= found.upper
    assert float(found.lower) <= lower
    assert float(found.upper) >= upper
    assert all(Decimal(written(each).replace("INF", "Infinity")) == each for each in found)
    if rule == (None, None):
        assert float(found.value) == value


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.floats(0, 1))
def test_the_digits_of_an_interval_move_little(value, half, share) -> None:
    lower, upper = value - 2 * half * share, value + 2 * half * (1 - share)
    found = Rounding.of("auto", None).rounded(value, lower, upper)
    # Halves are rounded once as floats, and no number has more than fifteen sure digits.
    slack = max(half, 1e-14 * max(abs(value), abs(lower), abs(upper)))
    whole = all(each.is_integer() for each in (value, lower, upper))
    assert abs(float(found.value) - value) <= slack * 0.0501
    assert lower - float(found.lower) <= slack * 0.101 or whole
    assert float(found.upper) - upper <= slack * 0.101 or whole


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ((41034.52, 41009.9, 41060.1), ["41035", "41009", "41061"]),
        ((0.123456, 0.1201, 0.1268), ["0.1235", "0.1201", "0.1268"]),
        ((0.1234567, 0.1201, 0.1269), ["0.1235", "0.1201", "0.1269"]),
        ((1234567.0, 1200000.5, 1270000.5), ["1235000", "1200000", "1271000"]),
        ((20000.0, 19997.0, 20003.0), ["20000", "19997", "20003"]),  # a count has no decimals
        ((3.0, -497.2, 503.1), ["3", "-500", "510"]),  # it keeps its first digit
        ((0.0, -0.25, 0.25), ["0.00", "-0.25", "0.25"]),
        ((12.5, 12.5, 12.5), ["12.5", "12.5", "12.5"]),
        ((7.25, -1.7976931348623157e308, 1.7976931348623157e308), ["7", "-INF", "INF"]),
        ((0.0, -math.inf, 5.0), ["0", "-INF", "5.0"]),
        ((3e-9, 1e-9, 5e-9), ["3.0E-9", "1.0E-9", "5.0E-9"]),
        ((1e22, 0.5e22, 1.5e22), ["1.00E+22", "5.0E+21", "1.50E+22"]),
    ],
)
def test_what_is_shown(numbers, shown) -> None:
    assert [*map(written, Rounding.of("auto", None).rounded(*numbers))] == shown


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ((2, None), ["1234.57", "1234.01", "1235.00"]),
        ((0, None), ["1235", "1234", "1235"]),
        ((-2, None), ["1200", "1200", "1300"]),
        ((None, None), ["1234.567", "1234.01", "1234.999"]),
        (("auto", 5), ["1235", "1230", "1235"]),
        (("auto", "0.5"), ["1234.5", "1234.0", "1235.0"]),
    ],
)
def test_a_number_of_digits_and_a_base(rule, shown) -> None:
    rounding = Rounding.of(*rule)
    assert [*map(written, rounding.rounded(1234.567, 1234.01, 1234.999))] == shown
    assert rounding.rounds == (rule != (None, None))
    assert rounding.words


def test_halves_go_to_the_even_multiple() -> None:
    rounding = Rounding.of(0, None)
    assert [written(rounding.rounded(x, 0, 9).value) for x in (0.5, 1.5, 2.5)] == ["0", "2", "2"]


@pytest.mark.parametrize(
    ("digits", "base", "words"),
    [
        ("two", None, "digits must be"),
        (True, None, "digits must be"),
        (2.0, None, "digits must be"),
        (301, None, "digits must be"),
        ("auto", 0, "base must be a positive decimal"),
        ("auto", -5, "base must be a positive decimal"),
        ("auto", "1/3", "base must be a positive decimal"),
        ("auto", math.nan, "base must be a finite number"),
        ("auto", "five", "base must be a finite number"),
        (2, 5, "not both"),
    ],
)
def test_bad_arguments(digits, base, words) -> None:
    with pytest.raises(mo.InvalidArgument, match=words):
        Rounding.of(digits, base)
