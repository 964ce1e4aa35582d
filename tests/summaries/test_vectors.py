"""Norms and clipped sums of rows against exact rational arithmetic."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries import vectors
from modicum.summaries.vectors import (
    BOUND,
    ClippedVectors,
    NormCounts,
    NormSummary,
    VectorScaling,
    VectorSummary,
    norms,
    size,
    slack,
)
from tests.summaries.cases import LATTICES

numbers = st.one_of(
    st.floats(allow_nan=False, width=64),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 3.0, 100.25, math.inf, -math.inf, 5e-324, 1e308]),
)


scales = st.sampled_from([2.0**-30, 1.0, 2.0**20, 2.0**60])


@st.composite
def matrices(draw) -> np.ndarray:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(numbers, min_size=width, max_size=width), max_size=12))
    return np.array(rows, dtype=np.float64).reshape(-1, width)


@st.composite
def scalings(draw, lattice: Lattice, width: int) -> VectorScaling:
    ends = st.integers(lattice.first, lattice.last)
    gains = st.floats(2.0**-10, 2.0**10)
    size = draw(st.sampled_from([1, width]))
    return VectorScaling(
        tuple(draw(ends) for _ in range(size)),
        tuple(draw(gains) for _ in range(size)),
        draw(st.booleans()),
        draw(st.sampled_from([1, 2])),
    )


def length(row: list[Fraction] | tuple[int, ...], power: int) -> float:
    """Norm of a row, from exact terms."""
    return float(sum(abs(each) ** power for each in row)) ** (1 / power)


def reduce(reduction, lattice, blocks, width):
    accumulator = reduction.begin(lattice)
    accumulator.update(np.empty((0, width)))
    for block in blocks:
        accumulator.update(np.ascontiguousarray(block))
    return accumulator.finish()


def exact_rows(x: np.ndarray, scaling: VectorScaling, lattice: Lattice) -> list[list[Fraction]]:
    """Components in units, without the rounding of a product."""
    width = x.shape[1]
    centre = scaling.centre * (width // len(scaling.centre))
    gains = scaling.gains * (width // len(scaling.gains))
    rows = []
    for row in x:
        q = lattice.quantise(row)
        u = [Fraction(g) * (int(a) - c) for a, c, g in zip(q, centre, gains, strict=True)]
        rows.append([abs(each) ** scaling.power for each in u] if scaling.sizes else u)
    return rows


@given(matrices(), st.sampled_from(LATTICES), st.data())
def test_no_row_adds_more_than_the_bound(x, lattice, data) -> None:
    scaling = data.draw(scalings(lattice, x.shape[1]))
    radius = data.draw(st.sampled_from([1, 7, 300, 2**20, 2**50, 2**70]))
    asked = ClippedVectors(scaling, radius)
    alone = [reduce(asked, lattice, [row[None]], x.shape[1]) for row in x]
    for each in alone:
        assert sum(abs(total) ** scaling.power for total in each.totals) <= BOUND**scaling.power
    whole = reduce(asked, lattice, [x], x.shape[1])
    assert whole.count == len(x)
    if alone:
        merged = alone[0]
        for each in reversed(alone[1:]):
            merged = merged.merge(each)
        assert merged == whole
    assert VectorSummary.from_bytes(whole.to_bytes()) == whole
    order = data.draw(st.permutations(range(len(x))))
    cut = data.draw(st.integers(0, len(x)))
    shuffled = x[list(order)]
    assert reduce(asked, lattice, [shuffled[:cut], shuffled[cut:]], x.shape[1]) == whole


@given(matrices(), st.sampled_from(LATTICES), st.data())
def test_a_clipped_row_is_near_the_row_or_its_projection(x, lattice, data) -> None:
    scaling = data.draw(scalings(lattice, x.shape[1]))
    radius = data.draw(st.sampled_from([7, 300, 2**20, 2**50]))
    asked = ClippedVectors(scaling, radius)
    for row, u in zip(x, exact_rows(x, scaling, lattice), strict=True):
        got = reduce(asked, lattice, [row[None]], x.shape[1]).totals
        norm = length(u, scaling.power)
        factor = min(1.0, radius / norm) if norm else 1.0
        wanted = [float(a) * factor * BOUND / radius for a in u]
        distance = math.dist(got, wanted)
        assert distance <= 4 * slack(len(u), scaling.power) * BOUND + 2 * len(u)


@given(matrices(), st.sampled_from(LATTICES), st.data())
def test_norms_are_counted_beyond_every_radius(x, lattice, data) -> None:
    scaling = data.draw(scalings(lattice, x.shape[1]))
    radii = sorted(set(data.draw(st.lists(st.integers(1, 2**40), min_size=1, max_size=5))))
    asked = NormCounts(scaling, tuple(radii))
    whole = reduce(asked, lattice, [x], x.shape[1])
    assert whole.count == len(x)
    sizes = [length(u, scaling.power) for u in exact_rows(x, scaling, lattice)]
    near = 8 * slack(x.shape[1], scaling.power)
    for radius, outside in zip(radii, whole.outside, strict=True):
        assert sum(s > radius * (1 + near) for s in sizes) <= outside
        assert outside <= sum(s >= radius * (1 - near) for s in sizes)
    cut = data.draw(st.integers(0, len(x)))
    parts = [reduce(asked, lattice, [block], x.shape[1]) for block in (x[cut:], x[:cut])]
    assert parts[0].merge(parts[1]) == whole == NormSummary.from_bytes(whole.to_bytes())


def test_a_row_at_a_radius_is_put_in_place_by_its_exact_norm() -> None:
    """Norm 5 in units of 2^20 is no more than 5, whatever rounding a quick sum would make."""
    lattice = Lattice(-1024.0, 1024.0, 2.0**-20)
    x = np.array([[3.0, 4.0], [3.0, 4.0 + 2.0**-10]])
    scaling = VectorScaling((0,), (1.0,))
    summary = reduce(NormCounts(scaling, (5 << 20,)), lattice, [x], 2)
    assert summary.outside == (1,)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("width", [1, 2, 3, 784, 1024, 4096])
def test_norms_do_not_depend_on_the_order_of_a_row(width, power) -> None:
    rng = np.random.default_rng(width)
    u = rng.normal(size=(50, width)) * np.exp(rng.normal(size=width) * 9)
    u[:10] *= 2.0**-40
    u[10:20] *= 2.0**90
    found = norms(u, power)
    np.testing.assert_array_equal(found, norms(u[:, ::-1], power))
    mixed = np.asfortranarray(u)[:, rng.permutation(width)]
    np.testing.assert_array_equal(found, norms(mixed, power))
    exact = [length([Fraction(a) for a in row], power) for row in u.tolist()[::7]]
    np.testing.assert_allclose(found[::7], exact, rtol=slack(width, power))


@given(matrices(), st.sampled_from(LATTICES), st.data())
def test_looking_for_values_beyond_the_range_only_where_norms_are_large(x, lattice, data) -> None:
    """Rows are the same as if every value had been compared with the ends of the range."""
    scaling = data.draw(scalings(lattice, x.shape[1]))
    wide = replace(scaling, gains=tuple(gain * data.draw(scales) for gain in scaling.gains))
    view = wide.view(lattice)
    u, sizes = view.measured(x)
    clamped = wide.view(lattice).seen(np.clip(x, lattice.lo, lattice.hi))
    np.testing.assert_array_equal(u, clamped)
    np.testing.assert_array_equal(sizes, size(clamped, wide.power))
    np.testing.assert_array_equal(
        wide.view(lattice).clipped(x),
        wide.view(lattice).clipped(np.clip(x, lattice.lo, lattice.hi)),
    )


def test_sums_of_squares_beyond_the_exact_ones_stay_beyond() -> None:
    """Half of the largest integers' squares, in every order, are never rounded below the bound."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        v = np.rint(rng.normal(size=1000) * 2.0 ** rng.integers(10, 24))
        v[0] = BOUND
        true = sum(int(a) ** 2 for a in v.tolist())
        for order in (np.arange(1000), rng.permutation(1000)):
            (found,) = size(v[order][None], 2)
            assert (found > BOUND**2) == (true > BOUND**2)


def test_rounding_to_nearest_would_break_the_bound() -> None:
    """Corrections of a known mistake: 784 components of 1/2 round up to norm 28, from norm 14."""
    half = np.full((1, 784), 0.5 + 1e-9)
    assert size(np.rint(half), 2) == 4 * np.rint(size(half, 2))
    lattice = Lattice(-8.0, 8.0, 2.0**-30)
    asked = ClippedVectors(VectorScaling((0,), (1.0,)), 14 << 30)
    total = reduce(asked, lattice, [half], 784).totals
    assert sum(a**2 for a in total) <= BOUND**2


def test_a_row_that_still_is_too_long_counts_for_nothing(monkeypatch) -> None:
    """The bound does not rest on the error analysis of the norm."""
    monkeypatch.setattr(vectors, "slack", lambda _width, _power: -0.5)
    lattice = Lattice(-8.0, 8.0, 1.0)
    asked = ClippedVectors(VectorScaling((0,), (1.0,)), 5)
    assert reduce(asked, lattice, [np.array([[8.0, 8.0], [3.0, 4.0]])], 2).totals == (
        round(0.6 * BOUND),
        round(0.8 * BOUND),
    )


def test_wide_blocks_of_many_rows_do_not_overflow() -> None:
    lattice = Lattice(-8.0, 8.0, 1.0)
    asked = ClippedVectors(VectorScaling((0,), (1.0,)), 8)
    x = np.full((1 << 16, 1), 8.0)
    total = reduce(asked, lattice, [x] * 3, 1)
    assert total.totals == (3 * BOUND << 16,)


@pytest.mark.parametrize("radii", [(), (0, 1), (2, 1), (1, 1)])
def test_radii_increase(radii) -> None:
    with pytest.raises(InvalidArgument, match="increase"):
        NormCounts(VectorScaling((0,), (1.0,)), radii)


@pytest.mark.parametrize("gain", [0.0, -1.0, math.inf, math.nan])
def test_gains_are_positive(gain) -> None:
    with pytest.raises(InvalidArgument, match="gains"):
        VectorScaling((0,), (gain,))


def test_what_has_no_lattice_or_too_many_columns_is_refused() -> None:
    scaling = VectorScaling((0,), (1.0,))
    for asked in (NormCounts(scaling, (1,)), ClippedVectors(scaling, 1)):
        with pytest.raises(InvalidArgument, match="range"):
            asked.begin(None)
        with pytest.raises(InvalidArgument, match="too fine"):
            asked.begin(Lattice(0.0, 2.0**-950, 2.0**-960))
    with pytest.raises(InvalidArgument, match="radius"):
        ClippedVectors(scaling, 0)
    with pytest.raises(InvalidArgument, match="65,536"):
        reduce(NormCounts(scaling, (1,)), LATTICES[0], [], 70_000)


def test_sums_of_many_parts_pass_the_integers_of_64_bits() -> None:
    part = VectorSummary(1 << 40, ((1 << 63) - 1, -(1 << 63), 0))
    whole = VectorSummary.from_bytes(part.merge(part).to_bytes())
    assert (whole.count, whole.totals) == (1 << 41, ((1 << 64) - 2, -(1 << 64), 0))
    with pytest.raises(InvalidArgument, match="no vectors summary"):
        VectorSummary.from_bytes(whole.to_bytes()[:-1])


def test_summaries_of_other_widths_do_not_merge() -> None:
    with pytest.raises(InvalidArgument):
        VectorSummary(1, (1, 2)).merge(VectorSummary(1, (1,)))
    with pytest.raises(InvalidArgument):
        NormSummary(1, (1, 2)).merge(NormSummary(2, (1, 2)))
    with pytest.raises(InvalidArgument):
        NormSummary(1, (1, 2)).merge(NormSummary(1, (1,)))
