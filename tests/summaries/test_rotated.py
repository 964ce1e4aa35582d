"""Counts of rotated rows, against exact integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.vectors import RotatedCounts, RotatedSummary, Rotation
from tests.summaries.cases import LATTICES
from tests.summaries.test_vectors import matrices, reduce


def matrix(rotation: Rotation) -> np.ndarray:
    """The rotation of rows of integers as Python's integers, from its definition."""
    h = np.array([[1]], dtype=object)
    while len(h) < rotation.padded:
        h = np.block([[h, h], [h, -h]])
    signs = rotation.turned(np.eye(rotation.width))[:, 0].astype(int).astype(object)
    return h[:, : rotation.width] * signs


def integers(x: np.ndarray, lattice: Lattice, rotation: Rotation) -> list[list[int]]:
    rows = []
    for row in np.clip(x, lattice.lo, lattice.hi):
        moved = [int(q) - rotation.origin for q in lattice.quantise(row)]
        # rint of an exact quotient: halves to even
        rows.append([round(q / (1 << rotation.shift)) for q in moved])
    return rows


@given(matrices(), st.sampled_from(LATTICES), st.data())
def test_rows_are_counted_below_every_threshold(x, lattice, data) -> None:
    rotation = Rotation.of(lattice, x.shape[1])
    whole = np.array(integers(x, lattice, rotation), dtype=object).reshape(-1, x.shape[1])
    turned = whole @ matrix(rotation).T
    near = st.integers(-rotation.reach, rotation.reach)
    if turned.size:
        near = st.one_of(near, st.sampled_from(turned.ravel().tolist()))
    thresholds = tuple(data.draw(near) for _ in range(rotation.padded))
    found = reduce(RotatedCounts(thresholds), lattice, [x], x.shape[1])
    assert (found.width, found.count) == (x.shape[1], len(x))
    assert found.below == tuple((turned <= np.array(thresholds, dtype=object)).sum(axis=0))
    assert all(abs(each) <= rotation.reach for each in turned.ravel())
    assert rotation.reach < 2**53
    cut = data.draw(st.integers(0, len(x)))
    parts = [
        reduce(RotatedCounts(thresholds), lattice, [each], x.shape[1])
        for each in (x[cut:], x[:cut])
    ]
    assert parts[0].merge(parts[1]) == found == RotatedSummary.from_bytes(found.to_bytes())


@pytest.mark.parametrize("width", [1, 2, 3, 5, 64, 100])
def test_a_point_is_turned_back(width) -> None:
    lattice = Lattice.within((-1000, 1000), 2.0**-4)
    rotation = Rotation.of(lattice, width)
    rng = np.random.default_rng(width)
    point = rng.integers(lattice.first, lattice.last, width)
    turned = rotation.turned(point[None].astype(float))[0].astype(np.int64)
    assert rotation.point(turned, lattice) == tuple(point.tolist())
    beyond = np.full(rotation.padded, rotation.reach)
    back = np.array(rotation.point(beyond, lattice))
    assert (lattice.first <= back).all()
    assert (back <= lattice.last).all()


def test_a_rotation_keeps_norms_and_spreads_a_coordinate_over_all() -> None:
    rotation = Rotation.of(Lattice(-8.0, 8.0, 1.0), 100)
    whole = np.random.default_rng(1).integers(-8, 9, (20, 100)).astype(float)
    turned = rotation.turned(whole)
    np.testing.assert_array_equal((turned**2).sum(axis=1), 128 * (whole**2).sum(axis=1))
    assert set(np.abs(rotation.turned(np.eye(100)[:1])).ravel()) == {1.0}
    assert 30 < (rotation.turned(np.eye(100))[:, 0] > 0).sum() < 70


def test_what_has_no_lattice_or_too_many_columns_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="range"):
        RotatedCounts((0,)).begin(None)
    with pytest.raises(InvalidArgument, match="65,536"):
        reduce(RotatedCounts((0,)), LATTICES[0], [], 70_000)
