"""Covariances and components of many rows: short intervals that hold, or a code that says why."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.releases.release import Release
from modicum.statistics.vectors import refined_covariance as refined
from modicum.statistics.vectors.covariance_error import ComponentsErrorModel
from modicum.statistics.vectors.refined_covariance import Forms, RefinedComponentsErrorModel

WITHIN = (-1e6, 1e6)
RNG = np.random.default_rng(14)
COSTS = ({"epsilon": 1}, {"rho": "0.1"})


def curator(data, seed: object, cost: dict) -> mo.Curator:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(2)
    return mo.Curator(data, budget=budget, entropy=SeededEntropy(repr(seed)))


def turned(n: int, values: list[float]) -> np.ndarray:
    """Normal rows with these eigenvalues, in any directions."""
    turn = np.linalg.qr(RNG.normal(size=(len(values), len(values))))[0]
    return 7 + RNG.normal(size=(n, len(values))) * np.sqrt(values) @ turn.T


def held(found: Release, data: np.ndarray) -> bool:
    """Whether intervals of components hold those of all rows, up to sign."""
    vectors = np.linalg.eigh(np.cov(data.T, bias=True))[1].T[::-1]
    lower, upper = found.interval()
    return all(
        any(((low <= v) & (v <= high)).all() for v in (vector, -vector))
        for low, high, vector in zip(lower, upper, vectors, strict=False)
    )


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize(
    ("values", "components", "most"),
    [
        ([1, 0.02, 0.02, 0.005, 0.005], 1, (0.1, 0.02)),
        ([20] + [0.1] * 9, 1, (0.2, 0.03)),
        ([20, 3] + [0.05] * 8, 2, (0.5, 0.1)),
    ],
    ids=["one of five", "one of ten", "two of ten"],
)
@pytest.mark.one_in(8)
def test_intervals_of_components_are_short_and_hold(values, components, most, cost) -> None:
    """They were [-1, 1]. The components hold 95 % of the variance and more."""
    data = turned(20_000, values)
    widths, good = [], 0
    for seed in range(6):
        found = curator(data, seed, cost).pca(components=components, within=WITHIN, **cost)
        assert found.status == "ok"
        lower, upper = found.interval()
        assert ((lower <= found.values) & (found.values <= upper)).all()
        widths.append((upper - lower).max())
        good += held(found, data)
        variances = found.error_model.variance_intervals()
        true = np.linalg.eigvalsh(np.cov(data.T, bias=True))[::-1][:components]
        good += bool(((variances.lower <= true) & (true <= variances.upper)).all())
        assert found.error_model.location == pytest.approx(data.mean(axis=0), abs=0.3)
    assert good >= 11
    assert np.median(widths) < most["rho" in cost]


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_intervals_of_covariances_are_short_and_hold(cost) -> None:
    data = turned(20_000, [4, 2, 1, 0.5, 0.25]) * [1, 10, 100, 0.01, 1]
    true = np.cov(data.T, bias=True)
    scales = np.sqrt(np.outer(np.diag(true), np.diag(true)))
    widths, good = [], 0
    for seed in range(6):
        found = curator(data, seed, cost).covariance(within=WITHIN, **cost)
        lower, upper = found.interval()
        widths.append(np.median((upper - lower) / scales))
        good += bool(((lower <= true) & (true <= upper)).all())
        assert np.array_equal(found.values, found.values.T)
        assert np.abs((found.values - true) / scales).max() < 0.1
    assert good >= 5
    assert np.median(widths) < (0.3 if "epsilon" in cost else 0.1)


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_the_noise_is_that_of_products_drawn_again(cost) -> None:
    """Half-widths by noise alone against a simulation; noise 30 % smaller or larger would show."""
    data = turned(20_000, [9, 3, 1])
    released = curator(data, "again", cost).covariance(within=WITHIN, **cost).error_model
    products, again = released.refined.products, []
    for _ in range(400):
        noise = RNG.normal(size=len(products.sums)) * products.deviation
        sums = tuple(round(a + b) for a, b in zip(products.sums, noise.tolist(), strict=True))
        moved = replace(released.refined, products=replace(products, sums=sums))
        again.append(replace(released, refined=moved).matrix)
    spread = released.refined.spread(released.moments)
    forms = Forms.of(spread.root, spread.root)
    deviations = spread.noise * np.sqrt(forms.variance + spread.matrix**2)
    assert np.std(again, axis=0) == pytest.approx(deviations, rel=0.15)
    lower, upper = released.intervals(0.95, None)
    assert ((upper - lower).reshape(3, 3) / 2 / deviations > 2.5).all()
    assert ((upper - lower).reshape(3, 3) / 2 / deviations < 5.5).all()


def test_the_noise_of_components_is_that_of_products_drawn_again() -> None:
    data = turned(60_000, [9, 3, 1])
    released = curator(data, 2, COSTS[1]).pca(components=1, within=WITHIN, **COSTS[1]).error_model
    products, again = released.refined.products, []
    for _ in range(400):
        noise = RNG.normal(size=len(products.sums)) * products.deviation
        sums = tuple(round(a + b) for a, b in zip(products.sums, noise.tolist(), strict=True))
        moved = replace(released.refined, products=replace(products, sums=sums))
        again.append(replace(released, refined=moved).directions[0])
    lower, upper = released.intervals(0.95, None)
    ratio = (upper - lower) / 2 / np.std(again, axis=0)
    assert 2.2 < ratio.min() < ratio.max() < 5


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_quantiles_of_forms(norm) -> None:
    """[moments.22] Of forms with one large part, and of forms of many."""
    draw = RNG.normal if norm == "l2" else lambda size: RNG.laplace(size=size) / math.sqrt(2)
    for width in (2, 6):
        noise = np.triu(draw(size=(40_000, width, width)))
        noise = noise + np.swapaxes(np.triu(noise, 1), 1, 2)
        a = np.vstack([np.eye(width)[0], RNG.normal(size=(3, width))])
        b = np.vstack([np.eye(width)[1], np.ones(width), RNG.normal(size=(1, width))])
        forms = Forms.of(a, b)
        drawn = np.einsum("ai,nij,bj->nab", a, noise, b)
        assert drawn.std(axis=0) == pytest.approx(np.sqrt(forms.variance), rel=0.03)
        for chance in (0.05, 0.005):
            beyond = (drawn > forms.noise(norm, chance)).mean(axis=0)
            assert (beyond < 1.25 * chance).all()
            assert (beyond > 0.15 * chance).all()


def test_forms_of_a_positive_matrix() -> None:
    """[moments.21] Both ends are attained."""
    tight = 1.0
    for _ in range(500):
        a, b = RNG.normal(size=(2, 4))
        low, high = (each.item() for each in Forms.of(a[None], b[None]).lacking(2.0))
        half = a / np.linalg.norm(a) + b / np.linalg.norm(b)
        for root in (half, RNG.normal(size=4)):
            found = 2 * float(a @ root) * float(b @ root) / float(root @ root)
            assert low - 1e-9 <= found <= high + 1e-9
            tight = min(tight, high - found)
    assert tight < 1e-9


def test_components_are_held_at_any_positive_matrix_that_lacks() -> None:
    """[moments.25] Without noise: matrices of rank one, and in the plane of two components, too."""
    clear = 0
    for trial in range(400):
        size = int(RNG.integers(2, 6))
        root = RNG.normal(size=(size, size)) * np.exp(RNG.normal(size=size))
        inner = np.eye(size) + 0.1 * np.cov(RNG.normal(size=(size, 30)))
        matrix, most = root @ inner @ root.T, float(RNG.choice([0.02, 0.1, 0.3]))
        ways = RNG.normal(size=(size, 1 if trial % 2 else size))
        if trial % 3 == 0:
            vectors = np.linalg.eigh(matrix)[1]
            ways = np.linalg.solve(root, vectors[:, -2:] @ RNG.normal(size=(2, 1)))
        lacks = ways @ ways.T
        lacks *= most / np.linalg.eigvalsh(lacks)[-1]
        true = matrix + root @ lacks @ root.T
        spread = refined.Noisy(root, matrix, np.zeros(size), 0.0, 1.0)
        bounds = refined._Bounds.of(spread, refined.Missing(most, 0.0), 0.0)
        values, vectors = np.linalg.eigh(true)
        assert (bounds.low <= values[::-1] + 1e-9 * values[-1]).all()
        assert (values[::-1] <= bounds.high + 1e-9 * values[-1]).all()
        for place, vector in enumerate(vectors.T[::-1]):
            ends = bounds.component(place, "l2", 0.01)
            if ends is None:
                continue
            clear += 1
            slack = 1e-7
            assert any(
                ((ends[0] - slack <= v) & (v <= ends[1] + slack)).all() for v in (vector, -vector)
            )
    assert clear > 300


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_rows_whose_tail_holds_any_variance_have_no_bound_and_a_code(cost) -> None:
    """Nine of ten are 0, the others skewed; and rows like a Pareto law of index 1.5."""
    for data in (
        np.where(RNG.random((20_000, 3)) < 0.9, 0, np.exp(RNG.normal(size=(20_000, 3)))),
        RNG.pareto(1.5, size=(20_000, 3)),
    ):
        found = curator(data, 1, cost).covariance(within=WITHIN, **cost)
        lower, upper = found.interval()
        true = np.cov(data.T, bias=True)
        assert found.code != "ok" or ((lower <= true) & (true <= upper)).all()
        components = curator(data, 1, cost).pca(components=1, within=WITHIN, **cost)
        if found.code == "heavy_tail":
            assert (upper > 1e300).all()
            assert (components.interval().width == 2).all()
            json.loads(components.to_json())


def test_long_rows_say_how_heavy_the_tail_is() -> None:
    model = curator(turned(20_000, [3, 2, 1]), 1, COSTS[1]).covariance(within=WITHIN, rho="0.1")
    found = model.error_model.refined
    assert found.tail_index(0.95) > 2.5
    for beyond in (10, 30, 100, 700):
        heavy = replace(found, long=(1000 - beyond, 0, beyond), deviation=0.0)
        index = -2 * math.log(beyond / 1000, 4) - 0.3
        assert heavy.tail_index(0.95) == pytest.approx(min(max(index, 1.1), 3), abs=0.01)
    # Rows of one length, far out, are no tail: none is longer still.
    assert replace(found, long=(10, 990, 0), deviation=0.1).tail_index(0.95) == 3
    unsure = replace(found, long=(900, 0, 10), deviation=60.0)
    assert unsure.tail_index(0.95) < 3
    assert unsure.tail_index(0.5) > unsure.tail_index(0.95)


def test_more_that_is_lost_widens() -> None:
    data = turned(20_000, [9, 3, 1])
    model = curator(data, 3, COSTS[1]).pca(components=2, within=WITHIN, rho="0.1").error_model
    products, widths = model.refined.products, []
    for lost in (0, 1 << 12, 1 << 14, 1 << 24):
        more = replace(model, refined=replace(model.refined, products=replace(products, lost=lost)))
        lower, upper = more.intervals(0.95, 3)
        widths.append(upper - lower)
    assert (widths[0] < widths[1]).all()
    assert (widths[1] <= widths[2]).all()
    assert (widths[3] == 2).all()


def test_a_column_that_is_lost_leaves_no_bound_for_components() -> None:
    data = np.column_stack([np.full(20_000, 7.0), turned(20_000, [4, 1])])
    found = curator(data, 1, COSTS[1]).pca(components=1, within=WITHIN, rho="0.1")
    assert found.code == "partial"
    assert (found.interval().width == 2).all()
    matrix = curator(data, 1, COSTS[1]).covariance(within=WITHIN, rho="0.1")
    upper = matrix.interval().upper
    assert (upper[1:, 1:] < 10).all()
    assert (upper[0] > 1e300).all()


def test_few_rows_have_products_of_columns() -> None:
    few = curator(turned(2000, [4, 1, 1]), 1, {"epsilon": "0.2"})
    assert isinstance(
        few.pca(components=1, within=WITHIN, epsilon="0.2").error_model, ComponentsErrorModel
    )
    many = curator(turned(20_000, [4, 1, 1]), 1, COSTS[0])
    found = many.pca(components=9, within=WITHIN, epsilon=1)
    assert isinstance(found.error_model, RefinedComponentsErrorModel)
    assert found.shape == (3, 3)


def with_a_heap(rows: int, distance: float, columns: slice = slice(None)) -> np.ndarray:
    data = np.random.default_rng(5).normal(size=(30_000, 3)) * [1, 13, 5]
    data[:rows, columns] += distance
    return data


HEAPS = {
    "1000 away": (300, 1000.0),
    "100 away": (300, 100.0),
    "a code": (300, -999.0, slice(1, 2)),
    "few": (200, 1000.0, slice(0, 1)),
}


@pytest.mark.parametrize("heap", HEAPS.values(), ids=HEAPS)
@pytest.mark.parametrize("question", ["covariance", "pca"])
def test_a_heap_of_rows_far_away_is_seen(heap, question) -> None:
    """[moments.26] All but a few were ok, with short intervals that were wrong."""
    data = with_a_heap(*heap)
    for seed in range(3):
        asked = curator(data, seed, COSTS[0])
        options = {"components": 1} if question == "pca" else {}
        found = getattr(asked, question)(within=WITHIN, **COSTS[0], **options)
        assert not found.usable
        assert found.code == "clipped"
        lower, upper = found.interval()
        assert lower.min() <= -1
        assert upper.max() >= (1 if question == "pca" else 1e300)


def test_rare_values_and_heavy_tails_are_no_heap() -> None:
    rng = np.random.default_rng(6)
    rare = rng.random((30_000, 2)) < [0.02, 0.1]
    zeros = np.where(rng.random(30_000) < 0.9, 0, rng.lognormal(3, 1, 30_000))
    for data in (
        np.column_stack([rng.normal(size=30_000), rare]),
        np.column_stack([rng.normal(size=30_000), zeros]),
        rng.standard_t(3, size=(30_000, 3)),
    ):
        for seed in range(3):
            found = curator(data, seed, COSTS[0]).covariance(within=WITHIN, **COSTS[0])
            assert not found.error_model.refined.clustered
            assert found.usable
