"""Octaves are the exponents of float64, whatever the number."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.exact import octaves
from modicum.exact.octaves import OCTAVES, counted, sorted_out

SMALLEST = 2.0**-1022


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_between_the_ends_of_its_octave(x: float) -> None:
    (octave,) = OCTAVES.quantise(np.array([x])).tolist()
    assert 0 <= octave <= OCTAVES.last
    if abs(x) < SMALLEST:
        assert octave == 0
    else:
        assert octave == math.frexp(x)[1] + 1022
        assert float(OCTAVES.least(np.array([octave]))[0]) <= abs(x)
        assert abs(x) / 2 < math.ldexp(1.0, OCTAVES.power(octave) - 1)


def test_missing_values_are_dropped_and_infinities_are_in_the_last_octave() -> None:
    x = np.array([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, SMALLEST, 1.7e308])
    assert OCTAVES.quantise(x).tolist() == [2046, 2046, 0, 0, 0, 1, 2046]


def test_strided_numbers_are_read_as_they_are() -> None:
    x = np.arange(20.0)[::-3]
    assert OCTAVES.quantise(x).tolist() == OCTAVES.quantise(x.copy()).tolist()


@pytest.mark.parametrize("octave", [1, 1000, 1023, 2045, 2046])
def test_the_end_of_an_octave_is_the_next_power_of_two(octave: int) -> None:
    assert OCTAVES.value(octave) == min(
        2.0 * float(OCTAVES.least(np.array([octave]))[0]), 2.0**1023
    )


SPECIAL = [0.0, -0.0, 5e-324, -1e-310, 1e308, math.inf, -math.inf, math.nan, -math.nan]


@pytest.mark.parametrize("way", [counted, sorted_out])
def test_counts_are_those_of_the_numbers_one_by_one(way, monkeypatch) -> None:
    """Whatever the bits: of both signs, tiny, infinite, NaN of every kind, and far apart."""
    monkeypatch.setattr(octaves, "_faster", lambda: way)
    many = octaves._MANY
    bits = np.random.default_rng(5).integers(0, 2**64, many, dtype=np.uint64).view(np.float64)
    special = np.array(SPECIAL)
    alike = [np.repeat(each, many) for each in special]
    near = np.abs(bits).clip(0.5, 3.0)
    for x in (bits, bits[::-1], near, *alike, special, special[::2], special[:0], special[-2:]):
        expected = np.bincount(OCTAVES.quantise(x), minlength=OCTAVES.last + 1)
        assert np.array_equal(OCTAVES.counts(x), expected)


def test_the_faster_way_is_one_of_the_two() -> None:
    assert octaves._faster() in {counted, sorted_out}
