"""The noise of a refined fit, what its intervals allow for, and how near it comes."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.privacy.event import PureDP
from modicum.statistics.vectors.products import Products, frame_of, hidden, in_use, narrowed, units
from modicum.statistics.vectors.refined_fit import ball_quantile
from modicum.summaries.gradients import WHOLE

WITHIN = (-1e6, 1e6)
RNG = np.random.default_rng(12)
COSTS = ({"epsilon": 1}, {"rho": "0.1"})


def curator(data, seed: object, cost: dict) -> mo.Curator:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(2)
    return mo.Curator(data, budget=budget, entropy=SeededEntropy(repr(seed)))


def plain(n: int, slopes: int) -> np.ndarray:
    x = RNG.normal(size=(n, slopes)) * np.geomspace(1, 100, slopes) + 5
    return np.column_stack([x, x @ (1 / np.geomspace(1, 100, slopes)) + RNG.normal(size=n)])


def least_squares(data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and their standard errors."""
    rows = np.column_stack([np.ones(len(data)), data[:, :-1]])
    found = np.linalg.lstsq(rows, data[:, -1], rcond=None)[0]
    left = data[:, -1] - rows @ found
    return found, np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)) * (left @ left) / len(data))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(3, 2)])
def test_quantiles_of_noise_in_balls_are_the_samplers(dimension, epsilon) -> None:
    """Deviation and quantile of one direction; noise 30 % smaller or larger would show."""
    size = 1 << 20
    law = RadialMechanism((0,) * dimension, (), size, 2, 2 * epsilon, PureDP(epsilon))
    entropy = SeededEntropy(repr((dimension, epsilon)))
    drawn = np.array([law.sample(entropy) for _ in range(4000)], dtype=float)
    deviation = size / float(epsilon) * math.sqrt(dimension + 1)
    assert drawn.std(axis=0) == pytest.approx(np.full(dimension, deviation), rel=0.12)
    for chance in (0.1, 0.01):
        beyond = (drawn > ball_quantile(dimension, chance) * deviation).mean()
        assert beyond == pytest.approx(
            chance, abs=4 * math.sqrt(chance / len(drawn)) + 0.1 * chance
        )


def test_quantiles_of_noise_in_balls_lie_between_laplace_and_normal() -> None:
    assert ball_quantile(1, 0.001) == pytest.approx(-math.log(0.002) / math.sqrt(2), rel=1e-3)
    found = [ball_quantile(dimension, 0.001) for dimension in (1, 2, 5, 20, 400)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(3.09, abs=0.02)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_intervals_are_some_times_those_of_least_squares(cost) -> None:
    """They were hundreds of times as wide; and they hold, with and without the allowance."""
    data = plain(50_000, 4)
    true, errors = least_squares(data)
    widths, held = [], 0
    for seed in range(12):
        found = curator(data, seed, cost).linear_regression(within=WITHIN, **cost)
        lower, upper = found.interval()
        widths.append((upper - lower) / (2 * 1.96 * errors))
        held += bool(((lower <= true) & (true <= upper)).all())
        assert (found.noise() < (upper - lower) / 2).all()
        assert np.abs(found.values - true).max() < 2 * found.noise().max()
    assert held >= 11
    assert np.median(widths) < 2.5


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_the_noise_of_a_fit_is_that_of_noise_drawn_again(cost) -> None:
    """The half-widths by noise alone against a simulation about the released numbers."""
    data = plain(20_000, 3)
    released = curator(data, "again", cost).linear_regression(within=WITHIN, **cost).error_model
    step, slopes = np.array(released.gradient.sums), []
    for _ in range(400):
        noise = RNG.normal(size=len(step)) * released.gradient.deviation
        products = RNG.normal(size=len(released.products.sums)) * released.products.deviation
        sums = zip(released.products.sums, products.tolist(), strict=True)
        again = replace(
            released,
            products=replace(released.products, sums=tuple(round(a + b) for a, b in sums)),
            gradient=replace(released.gradient, sums=tuple((step + noise).tolist())),
        )
        slopes.append(again.parts(0.95, None).middle)
    parts = released.parts(0.95, None)
    # Half-widths are of five-hundredths or so for each of four numbers: some 2.6 to 3.3 deviations.
    ratio = parts.noise / np.std(slopes, axis=0)
    assert 2.2 < ratio.min() < ratio.max() < 4.2
    assert not parts.allowance.any()


def test_the_card_and_json_show_noise_apart() -> None:
    data = plain(20_000, 2)
    found = curator(data, "card", COSTS[0]).linear_regression(within=WITHIN, epsilon=1)
    lines = str(found).splitlines()
    assert "noise" in lines[1]
    assert lines[3].count("±") == 1
    half = found.noise()
    lower, upper = found.interval(tail=None)
    assert half == pytest.approx((upper - lower) / 2)
    assert f"± {half[1]:,.3g}" in lines[3]
    written = json.loads(found.to_json())
    assert written["noise"] == pytest.approx(half.tolist())


def test_clipped_gradients_and_lost_products_widen() -> None:
    data = plain(20_000, 2)
    found = curator(data, "more", COSTS[0]).linear_regression(within=WITHIN, epsilon=1)
    released = found.error_model
    before = released.parts(0.95, 3).allowance
    more = replace(released, gradient=replace(released.gradient, outside=1000))
    assert (more.parts(0.95, 3).allowance > 2 * before).all()
    lost = replace(released, products=replace(released.products, lost=1 << 14))
    assert (lost.parts(0.95, 3).allowance > before).all()
    most = replace(released, products=replace(released.products, lost=1 << 40))
    assert np.isfinite(most.parts(0.95, 3).allowance).all()
    assert most.parts(0.95, 2).allowance == pytest.approx(most.parts(0.95, 2.0001).allowance, rel=1)


def test_noise_that_may_hide_a_direction_leaves_no_bound() -> None:
    released = curator(plain(20_000, 2), 1, COSTS[0]).linear_regression(within=WITHIN, epsilon=1)
    model = released.error_model
    noisy = replace(model.products, deviation=40 * model.products.deviation)
    for tail in (None, 3):
        assert np.isinf(replace(model, products=noisy).parts(0.95, tail).noise).all()
    assert model.status().ok
    assert replace(model, products=noisy).status().code == "unseen"


def test_many_gradients_far_out_refute_the_tail() -> None:
    released = curator(plain(20_000, 2), 1, COSTS[0]).linear_regression(within=WITHIN, epsilon=1)
    model = released.error_model
    far = replace(model.gradient, radius=30 * model.gradient.radius, outside=120)
    assert np.isinf(replace(model, gradient=far).parts(0.95, 3).noise).all()
    assert np.isfinite(replace(model, gradient=far).parts(0.95, 1.01).noise).all()
    assert np.isfinite(replace(model, gradient=far).parts(0.95, None).noise).all()
    # The default index is one that is not refuted, and the code says so.
    far = replace(model, gradient=replace(far, radius=far.radius / 5))
    index = far.tail_index(0.95)
    assert 1.05 < index < model.tail_index(0.95) == 3
    assert np.isinf(far.parts(0.95, 3).noise).all()
    assert np.isfinite(far.parts(0.95, index).noise).all()
    assert far.status().code == "heavy_tail"


@pytest.mark.parametrize("noise", ["heavy", "plain"])
def test_a_fit_without_bounds_never_says_ok(noise) -> None:
    """A skewed column that is explained, and few rows for the budget."""
    rng = np.random.default_rng(8)
    data = plain(20_000 if noise == "heavy" else 3000, 2)
    if noise == "heavy":
        data[:, -1] = rng.lognormal(data[:, 0] / 3, 1)
    truth = least_squares(data)[0]
    for seed in range(6):
        found = curator(data, f"{noise} {seed}", COSTS[0]).linear_regression(epsilon=1)
        lower, upper = found.interval()
        bounded = (np.maximum(np.abs(lower), np.abs(upper)) < 1e300).all()
        assert bounded or found.code != "ok"
        assert ((lower <= truth) & (truth <= upper)).all()
    assert noise == "plain" or bounded


def test_what_positive_products_that_lack_change() -> None:
    """[regression.9] (iv): at any positive matrix of a size, the extreme ones of rank one too."""
    tight = 0.0
    for trial in range(2000):
        size = int(RNG.integers(1, 5))
        most = float(RNG.choice([0.1, 1.0, 20.0]))
        roots = RNG.normal(size=(size, 1 if trial % 2 else size))
        lacking = roots @ roots.T
        lacking *= most / np.linalg.eigvalsh(lacking)[-1]
        way, gradient = RNG.normal(size=(2, size))
        if trial % 4 == 1:
            way = gradient.copy()
        change = way @ (np.linalg.solve(np.eye(size) + lacking, gradient) - gradient)
        lengths = np.linalg.norm(way) * np.linalg.norm(gradient)
        bound = most / (1 + most) / 2 * (abs(way @ gradient) + lengths)
        assert abs(change) <= bound * (1 + 1e-9)
        tight = max(tight, abs(change) / bound)
    assert tight > 0.99


def test_no_column_that_is_kept_leaves_the_mean() -> None:
    data = np.column_stack([np.full(40_000, 7.0), RNG.normal(3, 1, size=40_000)])
    found = curator(data, "none", COSTS[0]).linear_regression(within=WITHIN, epsilon=1)
    assert found.values[1] == 0
    assert found.values[0] == pytest.approx(3, abs=0.05)
    lower, upper = found.interval()
    assert lower[0] < data[:, 1].mean() < upper[0]
    assert upper[1] > 1e300


@pytest.mark.parametrize("left_out", [(0,), (1, 3), (0, 1, 2, 3)])
def test_coordinates_of_kept_columns_follow_from_those_of_all(left_out) -> None:
    """[regression.13]: exactly, but for the noise; and they do not look at a column left out."""
    roots = RNG.normal(size=(4, 6))
    values, vectors = np.linalg.eigh(roots @ roots.T / 6)
    turn, means = (vectors / np.sqrt(values)) @ vectors.T, RNG.normal(size=4)
    used = tuple(map(units, np.column_stack([-turn @ means, turn])))
    # The column before the last has no direction at all: it was left out before.
    ways = tuple((*way[:4], 0, way[4]) for way in used)
    frame = frame_of(ways, 5)
    assert in_use(frame).tolist() == [True, True, True, False, True]
    rows = np.column_stack([np.ones(500), RNG.normal(size=(500, 5)) @ np.diag([1, 2, 3, 4, 5])])
    kept = in_use(frame)
    kept[np.flatnonzero(kept)[list(left_out)]] = False
    found = narrowed(frame, kept)
    new = frame_of(found.directions, 5)
    assert (in_use(new) == kept).all()
    before, after = rows @ frame.T, rows @ new.T
    assert after == pytest.approx(before @ found.turn.T, abs=1e-8)
    assert found.turn @ found.turn.T == pytest.approx(np.eye(len(new)), abs=0.01)

    products = before.T @ before
    sums = tuple(np.rint(products[np.triu_indices(5)] * WHOLE**2).astype(int).tolist())
    all_of_them = Products(sums, 3.0 * WHOLE**2, 64, 16.0, "l1")
    turned = all_of_them.turned(found.turn)
    assert turned.matrix == pytest.approx(after.T @ after, rel=1e-6, abs=1e-3)
    assert turned.noise == pytest.approx(3 * math.sqrt(5 / len(new)), rel=0.03)
    assert 64 <= turned.lost < 68


def test_a_column_is_hidden_by_its_own_spread() -> None:
    """Not by that of others: a small one, a collinear one and a constant beside each other."""
    frame = frame_of(
        tuple(map(units, np.column_stack([np.zeros(3), np.diag([1.0, 1.0, 16.0])]))), 3
    )
    small, plain_, together = RNG.normal(size=(3, 4000))
    rows = np.column_stack([np.ones(4000), plain_, plain_ + 0.01 * together, small / 16])
    for factor, expected in ((1.0, [False] * 3), (0.05, [False, False, True])):
        along = rows * [1, 1, 1, factor] @ frame.T
        sums = np.rint((along.T @ along)[np.triu_indices(4)] * WHOLE**2).astype(int).tolist()
        assert (
            hidden(Products(tuple(sums), 10 * WHOLE**2, 0, 1.0, "l1"), frame).tolist() == expected
        )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_rare_values_have_a_slope_and_constants_none(cost) -> None:
    """A column of 3 % ones was lost in about half of the releases, and all that is constant is."""
    rng, found, held = np.random.default_rng(3), [], 0
    for seed in range(10):
        x, rare = rng.normal(size=20_000), rng.random(20_000) < 0.03
        data = np.column_stack([x, rare, np.full(20_000, 5.0), 2 * x + 3 * rare])
        data[:, -1] += rng.normal(size=20_000)
        release = curator(data, seed, cost).linear_regression(within=WITHIN, **cost)
        kept = release.error_model.kept
        assert not kept[2]
        assert release.values[3] == 0
        assert release.code in {"partial", "unseen"}
        found.append(release.values[2] if kept[1] else 0)
        lower, upper = (each[np.append(True, kept)] for each in release.interval())
        true = least_squares(data[:, np.append(kept, True)])[0]
        held += bool(((lower <= true) & (true <= upper)).all())
    assert np.median(found) == pytest.approx(3, abs=0.2)
    assert np.count_nonzero(found) >= 8
    assert held >= 9


def test_products_that_are_nothing_but_noise_have_any_size() -> None:
    """Their numbers exceed 64 bits; no column rises above them."""
    data = np.zeros((40_000, 12))
    found = curator(data, "tiny", COSTS[0]).linear_regression(epsilon="1e-9", population=True)
    assert not found.usable


def test_columns_are_left_out_only_for_intervals_of_the_others() -> None:
    """Half of twenty are 0/1; noise hides a direction whatever is left out."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=(40_000, 20))
    x[:, :10] = x[:, :10] > np.linspace(0, 1.2, 10)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    data = np.column_stack([x, standard.sum(axis=1) / 4 + rng.normal(size=len(x))])
    for seed in range(3):
        release = curator(data, seed, COSTS[0]).linear_regression(within=WITHIN, epsilon=1)
        assert release.method == "moments"
        assert release.code == "unseen"
        assert release.error_model.kept.all()
        left = data[:, -1] - release.values[0] - x @ release.values[1:]
        assert 1 - left.var() / data[:, -1].var() > 0.4
