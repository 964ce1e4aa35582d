"""The place of a label among public keys: tables and bisection give what a dictionary gives."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.frames.places import Places

BIG = 2**63 - 1
numbers = st.one_of(
    st.integers(-5, 40), st.sampled_from([-(2**63), -BIG, BIG, 2**53, 2**53 + 1, -(10**9), 10**12])
)


def test_places_of_labels_of_any_kind() -> None:
    day = dt.date(2024, 1, 2)
    places = Places([day, True, 2.0, "x"])
    assert places.codes([day, 1, 2, "x", "y", None, "2.0"]).tolist() == [0, 1, 2, 3, -1, -1, 2]
    assert places.codes(np.array([5, 2, 1])).tolist() == [-1, 2, 1]


@given(st.lists(numbers, unique=True, max_size=12), st.lists(numbers, max_size=20))
def test_integers_are_found_as_in_a_dictionary(keys, values) -> None:
    expected = [keys.index(each) if each in keys else -1 for each in values]
    places = Places(keys)
    assert places.codes(np.array(values, dtype=np.int64)).tolist() == expected
    assert places.codes(list(values)).tolist() == expected


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "u1", "u2", "u4", "u8", "?"])
def test_every_type_of_integers(kind) -> None:
    values = np.array([0, 1, 1, 0], dtype=kind)
    assert Places([1, 0]).codes(values).tolist() == [1, 0, 0, 1]
    assert Places([True, "0"]).codes(values).tolist() == [-1, 0, 0, -1]
    if kind == "u8":
        assert Places([1]).codes(np.array([2**64 - 1, 1], dtype=kind)).tolist() == [-1, 0]


@pytest.mark.parametrize("keys", [[3, -2], [3, -2, 10**12], [3.0, Decimal(-2)], [np.int8(3), -2.0]])
def test_floats_are_found_by_their_value(keys) -> None:
    values = np.array([3.0, -2.0, 2.5, np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), -0.0])
    assert Places(keys).codes(values).tolist() == [0, 1, *[-1] * 7]
    assert Places([0, *keys]).codes(values).tolist() == [1, 2, *[-1] * 6, 0]


def test_keys_with_fractions_and_masked_labels() -> None:
    assert Places([2.5, 1]).codes(np.array([2.5, 1.0, 2.0])).tolist() == [0, 1, -1]
    masked = np.ma.masked_array([1, 2, 1], [False, False, True])
    assert Places([2, 1]).codes(masked).tolist() == [1, 0, -1]
    assert Places(["1"]).codes(np.array([1])).tolist() == [-1]
