"""Intervals for coefficients of a population: they cover, and are as wide as they have to be."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.statistics.tails.error_law import Reach, ball_scales
from modicum.statistics.vectors.sandwich import (
    SandwichSums,
    draw_squares,
    noise_parts,
    squares_along,
)
from modicum.summaries.gradients import ROOT, GradientSquares, GradientView
from modicum.summaries.second_moments import Scaling
from modicum.summaries.vectors import BOUND

WITHIN = (-1e6, 1e6)
COSTS = ({"epsilon": 1}, {"rho": "0.1"})
TRUE = np.array([2.0, 1.0, -0.5])


def sample(n: int, seed: object) -> np.ndarray:
    """Rows about a line, and the further from the mean the more so."""
    rng = np.random.default_rng([3, n, seed])
    x = rng.normal([5, 0], 1, size=(n, 2))
    noise = rng.normal(size=n) * (0.4 + np.abs(x[:, 0] - 5))
    return np.column_stack([x, TRUE[0] + x @ TRUE[1:] + noise])


def released(data, seed: object, cost: dict, **options) -> mo.ArrayRelease:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(4)
    curator = mo.Curator(data, budget=budget, entropy=SeededEntropy(repr(seed)))
    return curator.linear_regression(within=WITHIN, **cost, **options)


def sandwich(data: np.ndarray) -> np.ndarray:
    """Standard errors that hold whatever the spread of residuals depends on (White 1980)."""
    rows = np.column_stack([np.ones(len(data)), data[:, :-1]])
    inverse = np.linalg.inv(rows.T @ rows)
    left = data[:, -1] - rows @ (inverse @ (rows.T @ data[:, -1]))
    return np.sqrt((((rows * left[:, None]) @ inverse) ** 2).sum(axis=0))


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_intervals_hold_the_population_s_coefficients(cost) -> None:
    held, inner, rows, widths = 0, 0, 0, []
    for seed in range(10):
        data = sample(40_000, seed)
        found = released(data, seed, cost, population=True)
        lower, upper = found.confidence_interval()
        held += bool(((lower <= TRUE) & (upper >= TRUE)).all())
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        inner += bool((np.abs(TRUE - middle) <= 0.4 * half).all())
        errors = sandwich(data)
        widths.append((half / errors)[1:].max())
        lower, upper = found.interval(tail=None)
        rows += bool(((lower <= TRUE) & (upper >= TRUE)).all())
    assert held >= 9
    assert inner < 8
    assert rows < held
    times = -NormalDist().inv_cdf(0.05 / 6)
    assert times < np.median(widths) < 3.2 * times


def without_noise(found: mo.ArrayRelease, data: np.ndarray):
    """The model of a release as it were with exact squares, and with noise in nothing."""
    model = found.error_model
    at = replace(model.view, gain=BOUND / model.gradient.radius)
    ways = ways_of(model)
    asked = squares_along(at, ways)
    accumulator = asked.begin(found.lattice)
    accumulator.update(data)
    exact = SandwichSums(accumulator.finish().totals, 0.0)
    return replace(
        model,
        squares=exact,
        gradient=replace(model.gradient, deviation=0.0, outside=0, outside_deviation=0.0),
        products=replace(model.products, deviation=0.0, lost=0, lost_deviation=0.0),
    )


def ways_of(model) -> np.ndarray:
    """What a gradient moves each coefficient, by moving it."""
    size = len(model.gradient.sums)
    none = replace(model, gradient=replace(model.gradient, sums=(0.0,) * size))
    start, columns = none.parts(0.95, None).middle, []
    for place in range(size):
        sums = tuple(float(k == place) for k in range(size))
        moved = replace(model, gradient=replace(model.gradient, sums=sums))
        columns.append(moved.parts(0.95, None).middle - start)
    return np.array(columns).T


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_without_noise_the_widths_are_those_of_the_sandwich(cost) -> None:
    """And not those of residuals that are alike everywhere; the released squares are near them."""
    data = sample(60_000, 1)
    found = released(data, "exact", cost, population=True)
    exact, errors = without_noise(found, data), sandwich(data)
    for tail in (None, 3):
        lower, upper = exact.population_intervals(0.95, tail)
        chance = 0.05 * 0.88 / 6
        ratio = (upper - lower) / 2 / errors / -NormalDist().inv_cdf(chance)
        assert ratio == pytest.approx(np.ones(3), rel=0.03)
    rows = np.column_stack([np.ones(len(data)), data[:, :-1]])
    left = data[:, -1] - rows @ np.linalg.lstsq(rows, data[:, -1], rcond=None)[0]
    alike = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)) * left.var())
    assert errors[1] > 1.3 * alike[1]
    off = np.array(found.error_model.squares.sums) - np.array(exact.squares.sums)
    assert (np.abs(off) < 5 * found.error_model.squares.deviation).all()
    assert (np.abs(off) > 0).all()


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_each_error_widens_as_its_law_says(cost) -> None:
    """Half-widths with noise of gradients, of squares and of numbers, against simulated errors."""
    data = sample(60_000, 2)
    found = released(data, "law", cost, population=True)
    exact, rng = without_noise(found, data), np.random.default_rng(4)
    norm, size = exact.moments.norm, 1 << 17
    sampled = (exact.population_intervals(0.95, None).width / 2)[1]
    side = 0.05 * 0.88 / 6
    sampled /= -NormalDist().inv_cdf(side)
    length = np.sqrt((ways_of(exact) ** 2).sum(axis=1))[1]
    noise = 2 * sampled / length
    noisy = replace(exact, gradient=replace(exact.gradient, deviation=noise))
    if norm == "l1":
        scales, weights = ball_scales(3, 401)
        factors = rng.choice(scales, size, p=weights)
    else:
        factors = np.ones(size)
    errors = sampled * (rng.normal(size=size) + 2 * factors * rng.normal(size=size))
    width = (noisy.population_intervals(0.95, None).width / 2)[1]
    assert width == pytest.approx(np.quantile(errors, 1 - side), rel=0.06)
    # Of clipped gradients the number counts, and its noise.
    each = length * exact.gradient.radius / 2
    more = replace(exact, gradient=replace(exact.gradient, outside=int(9 * sampled / each) + 1))
    wider = (more.population_intervals(0.95, 3).width / 2)[1]
    assert wider > 9 * sampled
    unsure = replace(exact, gradient=replace(exact.gradient, outside_deviation=3 * sampled / each))
    wider = (unsure.population_intervals(0.95, 3).width / 2)[1]
    drawn = rng.laplace(size=size) / math.sqrt(2) if norm == "l1" else rng.normal(size=size)
    errors = sampled * (rng.normal(size=size) + 3 * drawn)
    assert wider == pytest.approx(np.quantile(errors, 1 - side), rel=0.06)
    # Squares that are known up to noise may be more.
    spread = max(exact.squares.sums) / 2
    vague = replace(exact, squares=replace(exact.squares, deviation=spread))
    assert (vague.population_intervals(0.95, None).width / 2)[1] > 1.15 * sampled * 2.2
    # And products may lack what they lost, up to its noise.
    lost = replace(exact, products=replace(exact.products, lost=1 << 14))
    before = exact.population_intervals(0.95, 3).width
    assert (lost.population_intervals(0.95, 3).width > before).all()
    most = replace(exact, products=replace(exact.products, lost=1 << 40))
    assert np.isfinite(most.population_intervals(0.95, 3).width).all()


@pytest.mark.parametrize("loss", [PureDP(Fraction(1)), ZCDP(Fraction(1, 10))], ids=str)
def test_the_noise_of_squares_is_that_of_their_mechanism(loss) -> None:
    """Noise 30 % smaller or larger would show; it takes a small part of what is left."""
    view = GradientView(Scaling((0, 0), (3, 3)), (0, 1 << 12), ((0, 1 << 12),), 1.0, 2)
    asked = GradientSquares.along(view, ((4096, 0), (0, 4096)))
    assert asked.most == pytest.approx(ROOT**2, rel=1e-6)
    for typical, most in ((1.0, 1.0), (1e9 * ROOT**2, 0.01)):
        split = BudgetSplit(loss)
        steps = draw_squares(split, (10**9, 10**8), asked, typical)
        step = next(steps)
        entropy = SeededEntropy(f"{loss} {typical}")
        drawn = np.array([step.mechanism.sample(entropy) for _ in range(1500)], dtype=float)
        with pytest.raises(StopIteration) as ended:
            steps.send((10**9, 10**8))
        deviation = ended.value.value.deviation
        assert drawn.std(axis=0) == pytest.approx(np.full(2, deviation), rel=0.12)
        spent = float(1 - split.left / split.total)
        assert spent <= most * 0.0801 * split.power
        share = spent * float(split.total)
        expected = asked.most * (math.sqrt(2) / share if split.power == 1 else (2 * share) ** -0.5)
        assert deviation == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("norm", "dimension"), [("l1", 1), ("l1", 3), ("l2", 3)])
def test_noise_as_a_mixture(norm, dimension) -> None:
    (part,) = noise_parts(2.0, norm, dimension)
    assert not noise_parts(0.0, norm, dimension)
    assert float(part.weights @ part.deviations**2) == pytest.approx(4, rel=1e-3)
    if (norm, dimension) == ("l1", 1):  # Laplace
        bound = Reach((part,)).bound(0.01)
        assert bound == pytest.approx(2 / math.sqrt(2) * math.log(50), rel=0.01)


def test_the_squares_take_little_of_the_last_gradients() -> None:
    for cost in COSTS:
        found = released(sample(20_000, 3), "little", cost, population=True)
        spent = {each.label: float(max(each.event.amounts.values())) for each in found.transcript}
        squares, rest = spent["squares of gradients"], spent["gradients"]
        assert 0 < squares / (squares + rest) <= (0.0801 if "epsilon" in cost else 0.1601)
        assert found.event == released(sample(20_000, 3), "little", cost).event


def test_a_release_shows_both_intervals() -> None:
    found = released(sample(20_000, 4), "card", COSTS[0], population=True)
    assert "population" in str(found).splitlines()[1]
    lower, upper = found.confidence_interval()
    written = json.loads(found.to_json())
    assert written["confidence_lower"] == lower.tolist()
    assert written["confidence_upper"] == upper.tolist()
    assert mo.ArrayRelease.from_json(found.to_json()) == found
    assert found.frame()[1]["confidence_lower"] == lower[1]
    published = found.publish(population=True)
    assert "for the population" in str(published)
    assert "of a random sample" in found._repr_html_()
    narrow = found.confidence_interval(0.5).width
    assert (narrow < upper - lower).all()
    assert (found.confidence_interval(tail=None).width < upper - lower).all()


def test_what_was_not_bought_is_refused() -> None:
    data = sample(20_000, 5)
    found = released(data, "none", COSTS[0])
    with pytest.raises(mo.InvalidArgument, match="population=True"):
        found.confidence_interval()
    assert "confidence_lower" not in json.loads(found.to_json())
    with pytest.raises(mo.InvalidArgument, match="level"):
        released(data, "some", COSTS[0], population=True).confidence_interval(95)
    with pytest.raises(mo.InvalidArgument, match="population must be True or False"):
        mo.query.linear_regression(epsilon=1, population=1)
    people = {"id": np.arange(20_000) // 2, "x": data[:, 0], "y": data[:, 2]}
    curator = mo.Curator(pa.table(people), budget=mo.pure(4), unit=mo.unit_of("id", max_rows=2))
    with pytest.raises(mo.InvalidArgument, match="random sample"):
        curator.linear_regression(["x"], target="y", epsilon=1, population=True)


@pytest.mark.parametrize("rows", [300, 3000])
def test_with_few_rows_there_are_no_ends(rows) -> None:
    """Where a fit is chosen from lists, and where noise may hide a direction."""
    endless = 0
    for seed in range(6):
        found = released(sample(rows, seed), f"few {rows}", {"epsilon": "0.5"}, population=True)
        lower, upper = found.confidence_interval()
        if (np.maximum(np.abs(lower), np.abs(upper)) > 1e300).any():
            endless += 1
            assert found.code != "ok"
    assert endless
