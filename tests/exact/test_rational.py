"""Numbers of a caller: read exactly or refused by name."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument, ModicumError
from modicum.exact.rational import as_fraction


@pytest.mark.parametrize(
    ("given_", "read"),
    [
        (1, Fraction(1)),
        (-3, Fraction(-3)),
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (2.0**-1074, Fraction(Decimal("5e-324"))),
        ("0.1", Fraction(1, 10)),
        (" 1e-6 ", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        ("0.1/0.3", Fraction(1, 3)),
        (Fraction(22, 7), Fraction(22, 7)),
        (Decimal("0.30"), Fraction(3, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int16(7), Fraction(7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
    ],
)
def test_reads_what_is_written(given_, read) -> None:
    value = as_fraction(given_, "epsilon")
    assert type(value) is Fraction
    assert value == read


@pytest.mark.parametrize(
    "bad",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        np.float64("nan"),
        True,
        np.True_,
        None,
        "",
        "much",
        "1_0",
        "1_0/3",
        Decimal("NaN"),
        "1/0",
        "1/2/3",
        "nan",
        "1/inf",
        "Infinity",
        "1e1000000000",
        "1e-1000000000",
        Decimal("sNaN"),
        1j,
        [1],
        b"1",
    ],
)
def test_refuses_what_is_no_number(bad) -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be a finite number") as caught:
        as_fraction(bad, "epsilon")
    assert isinstance(caught.value, ModicumError | ValueError)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_back_as_itself(x) -> None:
    assert float(as_fraction(x, "x")) == x
