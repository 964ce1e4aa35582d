"""NumPy arrays, lists, and the order in which columns in memory are visited."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from modicum.errors import UnsupportedData
from modicum.sources.base import scrambled
from modicum.sources.opening import open_source
from modicum.summaries.base import Columns
from tests.sources.engines.makers import same, values

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "kind", ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", ">f8"]
)
def test_every_width(kind) -> None:
    x = np.array([0, 1, 1, 0], dtype=kind)
    assert same(values(x, None), [0, 1, 1, 0])
    assert same(open_source(x).fetchable(None).take(np.array([1, 3])), [1, 0])


def test_integers_are_rounded_to_nearest() -> None:
    signed = np.array([2**63 - 1, -(2**63), 2**53 + 1, 2**53 + 3, 2**62 + 2**9 + 1])
    unsigned = np.array([2**64 - 1, 2**63 + 1025], dtype=np.uint64)
    for x in (signed, unsigned):
        assert same(values(x, None), [float(n) for n in x.tolist()])


def test_float64_is_not_copied_and_cannot_be_written_to() -> None:
    for x in (np.arange(10.0), np.arange(40.0).reshape(10, 4)[:, 1]):
        (chunk,) = open_source(x).chunks([None])
        assert np.shares_memory(chunk[None], x)
        with pytest.raises(ValueError, match="read-only"):
            chunk[None][0] = 1.0
        assert x.flags.writeable


def test_other_numbers_are_converted_by_the_chunk() -> None:
    x = np.arange(200_000, dtype=np.int32)
    assert max(len(chunk[None]) for chunk in open_source(x).chunks([None])) == 65_536
    assert same(values(x, None), x)


@pytest.mark.parametrize(
    ("array", "advice"),
    [
        (np.zeros((3, 2, 2)), "one column"),
        (np.array(1.0), "one dimension"),
        (np.zeros(2, complex), "x.real"),
        (np.array(["1"]), "pandas.to_numeric"),
        (np.array([1.0], dtype=object), "pandas.to_numeric"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "numpy.timedelta64"),
        (np.array([1], dtype="m8[s]"), "numpy.timedelta64"),
        (np.zeros(2, dtype=[("a", float)]), "numbers"),
        (np.zeros(2, np.longdouble), "x.astype(float)"),
        (np.ma.masked_equal([1.0, 2.0], 2), "filled(numpy.nan)"),
    ],
    ids=lambda each: str(each.dtype) if isinstance(each, np.ndarray) else "",
)
def test_arrays_that_are_refused(array, advice) -> None:
    with pytest.raises(UnsupportedData) as caught:
        open_source(array)
    assert advice in str(caught.value)


def test_lists_of_numbers() -> None:
    assert same(values([], None), [])
    assert same(values((1, 2.5, True), None), [1, 2.5, 1])
    assert same(values(range(3, 100_000, 7), None), np.arange(3, 100_000, 7))
    mixed = [1, None, Decimal("0.1"), Fraction(1, 3), np.float32(0.5), np.int8(-3), np.True_]
    assert same(values(mixed, None), [1, NAN, 0.1, 1 / 3, 0.5, -3, 1])
    assert same(values([2**53 + 1, 2**63 + 1025], None), [2.0**53, float(2**63 + 1025)])
    assert same(values([10**400, -(10**400), Fraction(10**400)], None), [INF, -INF, INF])


def test_an_item_that_is_no_number_is_missing() -> None:
    items = ["1", "x", 1j, [1], {}, object(), math, Decimal("sNaN"), np.datetime64("2020-01-01")]
    for item in items:
        assert same(values([item, 2.0], None), [NAN, 2.0])
        assert same(values([item, 10**400], None), [NAN, INF])


def test_a_list_is_copied() -> None:
    x = [1.0, 2.0]
    source = open_source(x)
    x.append(3.0)
    assert source.fetchable(None).size == 2
    assert same(values(source, None), [1, 2])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 100, 153])
def test_scrambled_visits_every_chunk_once(count) -> None:
    assert sorted(scrambled(count)) == list(range(count))


@pytest.mark.parametrize("count", [50, 153, 1000])
def test_sorted_columns_bring_few_new_extremes(count) -> None:
    order = list(scrambled(count))
    records = sum(each == max(order[: i + 1]) for i, each in enumerate(order))
    # A shuffled order would have ln(count) of them on average, a plain one all.
    assert records <= 3 + 2 * math.log(count)


def test_a_missing_list_has_missing_values() -> None:
    pa = pytest.importorskip("pyarrow")
    held, missing = pa.array([1.0, 2, 9, 9, 3, 4]), pa.array([False, True, False])
    lists = pa.FixedSizeListArray.from_arrays(held, 2, mask=missing)
    (chunk,) = open_source(lists).chunks([Columns()])
    assert np.array_equal(chunk[Columns()], [[1, 2], [np.nan] * 2, [3, 4]], equal_nan=True)
