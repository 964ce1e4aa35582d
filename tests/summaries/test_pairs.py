"""Numbers made of two columns: which rows count, and what each adds."""

import numpy as np
import pytest

from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.summaries.base import Read
from modicum.summaries.pairs import OfPairs, Pair, PairNumber
from modicum.summaries.sizes import OctaveCounts
from modicum.summaries.subsample import PartRecords, Records
from modicum.summaries.sums import ClippedSum

NAN, INF = np.nan, np.inf
LATTICE = Lattice.within((-10, 10), 2.0**-4)
ROWS = np.array(
    [
        [2.0, 3.0], [20.0, 0.5], [-INF, 1.0], [1.0, 0.0], [1.0, -2.0], [1.0, NAN],
        [1.0, INF], [2.0**900, 2.0**900], [0.0, 5e-324],
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("value", [2.0, 10.0, -10.0, NAN, NAN, NAN, NAN, 10.0, 0.0]),
        ("size", [3.0, 0.5, 1.0, NAN, NAN, NAN, NAN, 2.0**900, 5e-324]),
        ("product", [6.0, 5.0, -10.0, NAN, NAN, NAN, NAN, 10 * 2.0**900, 0.0]),
        ("deviation", [3.0, 4.5, -11.0, NAN, NAN, NAN, NAN, 9 * 2.0**900, -5e-324]),
    ],
)
def test_a_weight_counts_if_it_is_finite_and_positive(what, expected) -> None:
    found = PairNumber("weights", what, LATTICE, 16).made(ROWS)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("value", [2 / 3, 40.0, NAN, NAN, -0.5, NAN, NAN, 1.0, 0.0]),
        ("size", [3.0, 0.5, NAN, 0.0, -2.0, NAN, NAN, 2.0**900, 5e-324]),
        ("deviation", [-1.0, 19.5, NAN, 1.0, 3.0, NAN, NAN, 0.0, -5e-324]),
    ],
)
def test_both_parts_of_a_ratio_are_finite(what, expected) -> None:
    found = PairNumber("ratio", what, LATTICE, 16).made(ROWS)
    np.testing.assert_array_equal(found, expected)


def test_a_deviation_far_from_zero_keeps_its_digits() -> None:
    lattice = Lattice.within((-2e9, 2e9))
    centre = round(1e9 / lattice.step)
    rows = np.array([[1e9 + 0.5, 1 / 3]])
    made = PairNumber("weights", "deviation", lattice, centre).made(rows)
    assert made[0] == 0.5 * rows[0, 1]


def test_a_huge_product_is_no_warning() -> None:
    with np.errstate(all="raise"):
        made = PairNumber("weights", "product").made(np.array([[1e300, 1e300], [INF, 1.0]]))
    assert made.tolist() == [INF, INF]


@pytest.mark.parametrize("of", ["weights", "ratio"])
@pytest.mark.parametrize("inner", [ClippedSum(-50, 50), OctaveCounts()])
def test_a_reduction_of_pairs_is_that_of_the_numbers(of, inner) -> None:
    number = PairNumber(of, "size")
    lattice = OCTAVES if isinstance(inner, OctaveCounts) else LATTICE
    pairs, plain = OfPairs(number, inner).begin(lattice), inner.begin(lattice)
    for part in (ROWS[:4], ROWS[4:]):
        pairs.update(part)
    plain.update(number.made(ROWS))
    assert pairs.finish() == plain.finish()


class PassedRows:
    """Rows that pass: nothing can be fetched."""

    fetchable = None
    entropy = SeededEntropy("pairs")

    def feed(self, accumulator) -> None:
        accumulator.update(ROWS)


def test_records_of_pairs_are_chosen_in_secret_from_their_numbers() -> None:
    reduction = OfPairs(PairNumber("weights", "value", LATTICE), Records())
    assert reduction.secret
    assert not OfPairs(PairNumber("weights", "value"), ClippedSum(0, 1)).secret
    search = reduction.begin(LATTICE, PassedRows())
    search.update(ROWS)
    records = search.finish()
    assert set(records.thin(1, SeededEntropy("thin")).tolist()) <= {-160, 0, 32, 160}
    assert sorted(records.all().tolist()) == [-160, 0, 32, 160, 160]


def test_parts_of_a_table_are_asked_for_pairs() -> None:
    number = PairNumber("weights", "value", LATTICE)
    search = OfPairs(number, Records(subsamples=2)).in_parts(LATTICE, lambda *_: None)
    assert search.wanted() == [OfPairs(number, PartRecords(2))]


def test_a_read_of_pairs_is_one_of_columns() -> None:
    pair = Pair(("x", "w"), " / ")
    ask = Read(None, LATTICE, OfPairs(PairNumber("ratio", "value"), ClippedSum(0, 1)), pair)
    assert ask.place == pair
    assert hash(ask) == hash(ask)
    assert pair != Pair(("x", "w"))
