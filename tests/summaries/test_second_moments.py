"""Spread counts, sizes of rows and sums of outer products, against their definitions."""

import numpy as np
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries import second_moments
from modicum.summaries.cells import SpreadCounts, SpreadSummary, cell_numbers
from modicum.summaries.second_moments import (
    CLIP,
    FINE,
    MOST_CUT,
    ONE,
    REACH,
    RowNorm,
    RowNormCounts,
    RowNormSummary,
    RowTotals,
    Scaling,
    SecondMoments,
    Weights,
)

LATTICE = Lattice.within((-1e6, 1e6))
RNG = np.random.default_rng(4)
X = RNG.normal([152, 0, 1e5], [70, 0.05, 3e4], size=(300, 3))
X[:4] = [[np.inf, 0, 0], [-np.inf, 1e6, 1], [1e300, -1e6, 2], [0, 5e-324, 3]]
SCALING = Scaling((152 << 31, 0, 0), (38, 28, 47))
PLAIN = Weights(count=20, mean=10, square=20, product=20)
UNEQUAL = Weights(count=20, mean=10, square=20, product=6)
ROW_NORMS = [RowNorm(norm, weights) for norm in ("l1", "l2") for weights in (PLAIN, UNEQUAL)]


def reduce(reduction, blocks):
    accumulator = reduction.begin(LATTICE)
    accumulator.update(np.empty((0, 3)))
    for block in blocks:
        accumulator.update(block)
    return accumulator.finish()


def rows(x=X):
    return SCALING.rows(LATTICE.quantise(x.ravel()).reshape(x.shape))


def size(row_norm: RowNorm, vector: np.ndarray) -> float:
    products = np.abs(np.outer(vector.astype(object), vector.astype(object)))
    weighted = np.triu(row_norm.weights.matrix(len(vector)).astype(object) * products)
    return weighted.sum() if row_norm.norm == "l1" else float((weighted**2).sum()) ** 0.5


@pytest.mark.parametrize("row_norm", ROW_NORMS, ids=str)
def test_sizes_are_norms_of_the_weighted_outer_product(row_norm) -> None:
    vectors = np.concatenate(
        [rows(), RNG.integers(-2 * ONE, 2 * ONE, (50, 4)), np.zeros((1, 4), int)]
    )
    vectors[:, 0] = np.abs(vectors[:, 0])
    found = row_norm.sizes(vectors)
    exact = np.array([float(size(row_norm, vector)) for vector in vectors])
    if row_norm.norm == "l1":
        assert found.tolist() == [size(row_norm, vector) for vector in vectors]
    else:
        assert (found >= exact).all()
        assert found == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("row_norm", ROW_NORMS, ids=str)
@pytest.mark.parametrize("share", [3000, 30, 3, 1])
def test_no_clipped_row_exceeds_the_bound(row_norm, share) -> None:
    bound = row_norm.typical(4) // share
    vectors = rows()
    clipped = row_norm.clipped(vectors, bound)
    assert all(size(row_norm, vector) <= bound for vector in clipped)
    beyond = row_norm.sizes(vectors) > bound
    assert np.array_equal(clipped[~beyond], vectors[~beyond])
    # A shrunk row keeps its direction, and fills the bound; of so few units that their fourth
    # powers are coarse, one in six may still be too long, and counts for nothing.
    factor = clipped[:, :1] / ONE
    assert np.abs(clipped - factor * vectors).max() < 8
    filled = row_norm.sizes(clipped)[beyond] > 0.9 * bound
    assert filled.all() if share < 3000 else filled.mean() > 5 / 6


@pytest.mark.parametrize("row_norm", ROW_NORMS, ids=str)
def test_a_row_that_still_is_too_long_counts_for_nothing(row_norm, monkeypatch) -> None:
    """The guarantee rests on the last look at the integers, and not on how they were shrunk."""
    monkeypatch.setattr(second_moments, "_TIMES", 0)
    bound = row_norm.typical(4) // 3
    vectors = rows()
    beyond = row_norm.sizes(vectors) > bound
    clipped = row_norm.clipped(vectors.copy(), bound)
    assert beyond.any()
    assert not clipped[beyond].any()
    assert np.array_equal(clipped[~beyond], vectors[~beyond])


@pytest.mark.parametrize("row_norm", ROW_NORMS[1:3], ids=str)
def test_sums_do_not_depend_on_order_or_blocks(row_norm) -> None:
    bound = row_norm.typical(4) // 4
    order = RNG.permutation(len(X))
    asked = (
        (SpreadCounts(), SpreadSummary),
        (RowNormCounts(SCALING, row_norm, (bound, 2 * bound)), RowNormSummary),
        (SecondMoments(SCALING, row_norm, bound), RowTotals),
    )
    for reduction, kind in asked:
        whole = reduce(reduction, [X])
        assert reduce(reduction, [X[order][:7], X[order][7:7], X[order][7:]]) == whole
        assert reduce(reduction, [X[:100]]).merge(reduce(reduction, [X[100:]])) == whole
        assert kind.from_bytes(whole.to_bytes()) == whole
        assert str(X[5, 0])[:6] not in repr(whole)
    clipped = row_norm.clipped(rows(), bound).astype(object)
    assert whole.totals == tuple((clipped.T @ clipped)[np.triu_indices(4)].tolist())


def test_empty_cells_take_no_bytes() -> None:
    few, many = reduce(SpreadCounts(), [X[:9]]), reduce(SpreadCounts(), [X])
    assert len(few.to_bytes()) < 27 * 16 + 120 < many.counts.nbytes
    assert SpreadSummary.from_bytes(few.to_bytes()).counts.shape == many.counts.shape


def test_what_is_cut_off_is_counted_by_definition() -> None:
    q = LATTICE.quantise(X.ravel()).reshape(X.shape)
    count, squares = SCALING.cut_off(q)
    u = np.abs(q - np.array(SCALING.centres)) / 2.0 ** np.array(SCALING.shifts)
    touched = (u > CLIP).any(axis=1)
    assert count == touched.sum() > 0
    kept = np.where(u < 8, np.minimum(u, CLIP), 0) ** 2
    lost = np.minimum(u**2, REACH * CLIP**2) - kept
    most = (REACH - 1) * CLIP**2
    lost *= np.minimum(1, most / np.maximum(lost.sum(axis=1, keepdims=True), 1e-9))
    # Rounded up to parts of a half-width, and down where a row has too much.
    assert squares / FINE == pytest.approx(lost.sum(axis=0), rel=0.05)


def test_a_row_adds_no_more_than_a_bound() -> None:
    for q in RNG.integers(-(1 << 50), 1 << 50, size=(200, 1, 3)):
        count, squares = SCALING.cut_off(q)
        assert count == 1
        assert 0 < squares.sum() <= MOST_CUT
    assert SCALING.cut_off(np.array([SCALING.centres]))[0] == 0


def test_far_values_are_clipped_and_farther_ones_are_the_centre() -> None:
    q = np.array([[10], [9], [17], [18], [26], [60], [73], [74], [-54], [-55]])
    found = Scaling((10,), (3,)).rows(q)[:, 1] / ONE
    assert found.tolist() == [0, -0.125, 0.875, 1, 2, 2, 2, 0, 0, 0]
    wide = Scaling((-(1 << 59), 1 << 59), (51, 51)).rows(np.array([[1 << 51, -(1 << 51)]]))
    assert np.abs(wide).max() <= 2 * ONE


def test_cells_are_half_open_on_both_sides_of_zero() -> None:
    q = np.arange(-5000, 5001)
    numbers = cell_numbers(q)
    assert (np.diff(numbers) >= 0).all()
    for boundary in (-4096, -1024, -8, 0, 8, 1024, 4096):
        assert cell_numbers(np.array([boundary - 1])) < cell_numbers(np.array([boundary]))


def test_too_many_columns_are_refused_by_their_number() -> None:
    with pytest.raises(InvalidArgument, match="500"):
        SpreadCounts().begin(LATTICE).update(np.empty((0, 501)))
    with pytest.raises(InvalidArgument, match="several columns"):
        SpreadCounts().begin(LATTICE).finish()
