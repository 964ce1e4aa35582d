"""Gradients at a fit and products along directions, against exact rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.exact.lattice import Lattice
from modicum.summaries import gradients
from modicum.summaries.gradients import (
    LONGEST,
    PARTS,
    REACH,
    ROOT,
    WHOLE,
    GradientCounts,
    GradientSquares,
    GradientSums,
    GradientView,
    ProductSums,
    ProductTotals,
    SizeCounts,
    vectors,
)
from modicum.summaries.second_moments import RowNorm, RowTotals, Scaling, Weights
from modicum.summaries.vectors import BOUND

LATTICE = Lattice.within((-1e6, 1e6))
RNG = np.random.default_rng(5)
X = RNG.normal([152, 0, 1e5], [70, 0.05, 3e4], size=(300, 3))
X[:4] = [[np.inf, 0, 0], [-np.inf, 1e6, 1], [1e300, -1e6, 2], [0, 5e-324, 3]]
SCALING = Scaling((152 << 31, 0, 0), (38, 28, 47))
FIT = (300, -1 << 12, 2500)
DIRECTIONS = ((-700, 5000, 1000), (90, -3000, 1 << 18))
NORMS = {1: "l1", 2: "l2"}


def quantised(x: np.ndarray) -> np.ndarray:
    return LATTICE.quantise(x.ravel()).reshape(x.shape)


def view(power: int, gain: float = 64.0) -> GradientView:
    return GradientView(SCALING, FIT, DIRECTIONS, gain, power)


def product_sums(power: int, bound: int, most: int = 40) -> ProductSums:
    return ProductSums(view(power), RowNorm(NORMS[power], Weights(1, 1, 1, 1)), bound, most)


def reduce(reduction, blocks):
    accumulator = reduction.begin(LATTICE)
    accumulator.update(np.empty((0, 3)))
    for block in blocks:
        accumulator.update(block)
    return accumulator.finish()


def exact(row: np.ndarray) -> tuple[list[Fraction], Fraction]:
    """Coordinates and residual of a row of lattice integers, by their definition."""
    values = []
    for q, centre, shift in zip(row.tolist(), SCALING.centres, SCALING.shifts, strict=True):
        z = q - centre
        size = min((abs(z) << 16 >> shift), REACH << 16)
        values.append(Fraction(size if z >= 0 else -size, 1 << 16))
    *x, y = values

    def along(numbers):
        first, *others = (Fraction(each, 1 << 12) for each in numbers)
        return first + sum(a * b for a, b in zip(others, x, strict=True))

    return [Fraction(1), *map(along, DIRECTIONS)], y - along(FIT)


def test_coordinates_and_residuals_are_exact() -> None:
    q = quantised(X)
    rows, left = view(2).seen(q)
    for i in range(len(q)):
        coordinates, residual = exact(q[i])
        assert [Fraction(each) for each in rows[i].tolist()] == coordinates
        assert Fraction(float(left[i, 0])) == residual * 64


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("gain", [2.0**4, 2.0**24, 2.0**40])
def test_no_clipped_gradient_exceeds_the_bound(power, gain) -> None:
    at = view(power, gain)
    q = quantised(X)
    clipped = GradientSums(at).clipped(at.gradients(q))
    sizes = [sum(abs(each) ** power for each in row) for row in clipped.tolist()]
    assert max(sizes) <= BOUND**power
    whole = at.gradients(q)
    inside = np.linalg.norm(whole, ord=power, axis=1) < BOUND - 10
    assert np.array_equal(clipped[inside], np.rint(whole[inside]))
    if gain > 2**20:  # those that are shortened fill the bound, and keep their direction
        assert not inside.all()
        full = np.array(sizes, dtype=float)[~inside] ** (1 / power)
        assert (full[full > 0] > 0.7 * BOUND).all()
        cosines = (clipped * whole).sum(axis=1)[~inside] / np.linalg.norm(whole[~inside], axis=1)
        assert cosines == pytest.approx(np.linalg.norm(clipped[~inside], axis=1), rel=1e-4)


WAYS = ((4096, 0, 0), (-2000, 2500, 2500), (0, 4000, -800))


@pytest.mark.parametrize("power", [1, 2])
def test_squares_are_those_of_clipped_gradients_along_ways(power) -> None:
    at = view(power, 2.0**24)
    asked = GradientSquares.along(at, WAYS)
    clipped = GradientSums(at).clipped(at.gradients(quantised(X)))
    expected = []
    for way in WAYS:
        along = [
            Fraction(sum(a * b for a, b in zip(way, row, strict=True)), 1 << 23)
            for row in clipped.tolist()
        ]
        expected.append(sum(math.floor(abs(each)) ** 2 for each in along))
    found = reduce(asked, [X])
    assert found.totals == tuple(expected)
    assert min(found.totals) > ROOT**2


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("ways", [WAYS, ((4096, 0, 0),) * 5, ((0, 2896, 2896), (0, 2896, -2896))])
def test_squares_of_a_row_add_up_to_no_more_than_they_may(power, ways) -> None:
    """Some rows come near, so a smaller bound would be wrong; beyond it a row is left out."""
    asked = GradientSquares.along(view(power, 2.0**40), ways)
    sums = [sum(reduce(asked, [row[None, :]]).totals) for row in X]
    # The longest direction of all, which rows of the data need not have.
    table = np.ldexp(np.array(ways, dtype=float), -12)
    value, way = (each[..., -1] for each in np.linalg.eigh(table.T @ table))
    longest = np.trunc(way * (BOUND - 2)).astype(np.int64)[None, :]
    scaled = np.array(ways, dtype=float).T * 2.0**-12 * (ROOT / BOUND)
    sums.append(int(asked.squares(longest, scaled).sum()))
    assert max(sums) <= asked.most
    assert max(sums) > 0.99 * asked.most
    assert asked.most == pytest.approx(value * ROOT**2, rel=1e-6)
    assert asked.squares(2 * longest, scaled).sum() == 0


@pytest.mark.parametrize("power", [1, 2])
def test_counts_are_by_definition(power) -> None:
    radii = (50, 400, 3000, 10**5)
    q = quantised(X)
    long = np.linalg.norm(view(power).gradients(q), ord=power, axis=1)
    found = reduce(GradientCounts(view(power), radii), [X])
    assert found.totals == tuple(int((long > each).sum()) for each in radii)
    assert 0 < found.totals[-1] < found.totals[0] < len(X)
    row_norm = RowNorm(NORMS[power], Weights(1, 1, 1, 1))
    bounds = (WHOLE**2, 4 * WHOLE**2, 64 * WHOLE**2, 10**4 * WHOLE**2)
    sizes = row_norm.sizes(vectors(view(power).seen(q)[0]))
    found = reduce(SizeCounts(view(power), row_norm, bounds), [X])
    assert found.totals == tuple(int((sizes > each).sum()) for each in bounds)


@pytest.mark.parametrize("power", [1, 2])
def test_products_and_what_they_lose(power) -> None:
    asked = product_sums(power, 6 * WHOLE**2)
    rows = view(power).seen(quantised(X))[0]
    found = reduce(asked, [X])
    kept = asked.row_norm.clipped(vectors(rows), asked.bound)
    sums = (kept.astype(object).T @ kept.astype(object))[np.triu_indices(3)]
    assert found.products == tuple(sums.tolist())
    assert np.abs(vectors(rows)).max() == LONGEST * WHOLE
    total = np.zeros((3, 3))
    touched = 0
    for a, b in zip(rows, kept / WHOLE, strict=True):
        if np.abs(a - b).max() > 2 / WHOLE:
            size = np.abs(np.linalg.eigvalsh(np.outer(a, a) - np.outer(b, b))).max()
            total += np.outer(a, a) / (a @ a) * min(size, asked.most)
            touched += 1
    assert 0 < touched < len(X)
    lost = np.array(found.lost, dtype=float) / WHOLE**2
    assert lost == pytest.approx(total[np.triu_indices(3)], rel=0.01, abs=1e-3)
    whole = np.array([lost[[0, 1, 2]], lost[[1, 3, 4]], lost[[2, 4, 5]]])
    assert found.lost_size == math.floor(PARTS * np.linalg.norm(whole))
    # A row with a coordinate that is too large is shrunk too, whatever the size.
    short = np.abs(rows).max(axis=1) <= LONGEST
    assert not short.all()
    assert reduce(product_sums(power, 10**6 * WHOLE**2), [X[short]]).lost_size == 0
    assert reduce(product_sums(power, 10**6 * WHOLE**2), [X[~short]]).lost_size > 0


@pytest.mark.parametrize("power", [1, 2])
def test_a_row_adds_no_more_than_it_may(power) -> None:
    """To the Frobenius norm of what is lost, alone and beside others."""
    asked = product_sums(power, 6 * WHOLE**2, most=7)
    full = 0
    for place, row in enumerate(X[:40]):
        found = reduce(asked, [row[None, :]])
        assert 0 <= found.lost_size <= 7 * PARTS
        full += found.lost_size > 6.9 * PARTS
        fewer, more = (reduce(asked, [X[: place + one]]) for one in (0, 1))
        assert abs(more.lost_size - fewer.lost_size) <= 7 * PARTS
    assert full > 5


@pytest.mark.parametrize("power", [1, 2])
def test_sums_do_not_depend_on_order_or_blocks(power, monkeypatch) -> None:
    at, order = view(power, 2.0**20), RNG.permutation(len(X))
    asked = (
        (GradientCounts(at, (100, 1000, 10**6)), RowTotals),
        (GradientSums(at), RowTotals),
        (GradientSquares.along(at, WAYS), RowTotals),
        (product_sums(power, 6 * WHOLE**2), ProductTotals),
    )
    for reduction, kind in asked:
        whole = reduce(reduction, [X])
        monkeypatch.setattr(gradients, "_ROWS", 8)
        assert reduce(reduction, [X[order][:7], X[order][7:7], X[order][7:]]) == whole
        assert reduce(reduction, [X[:100]]).merge(reduce(reduction, [X[100:]])) == whole
        assert kind.from_bytes(whole.to_bytes()) == whole
        assert str(X[5, 0])[:6] not in repr(whole)
        monkeypatch.undo()


def test_without_a_column_that_is_kept_there_is_the_intercept() -> None:
    at = GradientView(SCALING, (0, 0, 0), (), 64.0, 2)
    rows, _ = at.seen(quantised(X))
    assert rows.tolist() == [[1.0]] * len(X)
    assert len(reduce(GradientSums(at), [X]).totals) == 1
