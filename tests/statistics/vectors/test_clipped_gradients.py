"""What the number of gradients beyond a drawn radius tells: tails, and rows far from all others."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.selection import RadiusDraw
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.statistics.vectors.clipped_gradients import Gradient
from modicum.statistics.vectors.products import radius_grid, tilt
from modicum.statistics.vectors.sandwich import SandwichSums

COSTS = ({"epsilon": 1}, {"rho": "0.1"})
N = 30_000


def released(data: np.ndarray, seed: object, cost: dict, **options: object) -> mo.ArrayRelease:
    budget = mo.zcdp(1) if "rho" in cost else mo.pure(4)
    curator = mo.Curator(data, budget=budget, entropy=SeededEntropy(repr(seed)))
    return curator.linear_regression(within=(-1e6, 1e6), **cost, **options)


def line(seed: int, n: int = N) -> np.ndarray:
    x = np.random.default_rng([seed, n]).normal(size=(n, 3))
    return np.column_stack([x[:, :2], x @ [1.0, -0.5, 1.0]])


def rare_target(share: float, seed: int = 5, n: int = N) -> np.ndarray:
    """A target of few ones, as many more of them as a column is larger."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return np.column_stack([x, rng.random(n) < share * np.exp(0.5 * x[:, 0] - 0.125)])


def rare_column(share: float, effect: float, seed: int = 5, n: int = N) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x, rare = rng.normal(size=n), rng.random(n) < share
    return np.column_stack([x, rare, x + effect * rare + rng.normal(0, 2, size=n)])


def a_code(rows: int, seed: int = 5, n: int = N) -> np.ndarray:
    data = line(seed, n)
    data[:rows, 1] = -999
    return data


def held(found: mo.ArrayRelease, data: np.ndarray) -> bool:
    """Whether intervals hold least squares on the columns that were kept."""
    at = np.append(True, found.error_model.kept)
    rows = np.column_stack([np.ones(len(data)), data[:, :-1]])[:, at]
    true = np.linalg.lstsq(rows, data[:, -1], rcond=None)[0]
    lower, upper = (each[at] for each in found.interval())
    return bool(((lower <= true) & (true <= upper)).all())


@pytest.mark.parametrize("loss", [PureDP(Fraction(1)), ZCDP(Fraction(1, 2))], ids=str)
@pytest.mark.parametrize("index", [1.6, 3.0])
def test_how_many_are_beyond_a_drawn_radius_tells_their_tail(loss, index) -> None:
    """[regression.12] At the mechanism: a number that an index leaves unlikely is drawn seldom."""
    grid = radius_grid(1 << 12, (-4, 11))
    counts = tuple(round(min(50_000 * (r / (1 << 12)) ** -index, 50_000)) for r in grid.radii)
    share = BudgetSplit(loss).share(Fraction(3, 100))
    law = RadiusDraw.of((counts,), grid, share, tilt=tilt(5))
    entropy = SeededEntropy(f"{loss} {index}")
    drawn = np.array([counts[law.sample(entropy)[0]] for _ in range(1000)])
    clipped = Gradient((), 1.0, 1.0, 2, 0, 0.0, float(share.range), 5.0)
    found = [replace(clipped, outside=number).index(0.0, 6.0) for number in drawn.tolist()]
    assert np.mean(np.array(found) < index - 0.1) < 0.08
    assert np.mean(np.array(found) < index + 1) > 0.02
    assert clipped.index(0.0, 3.0) == 3.0


@pytest.mark.parametrize("population", [False, True])
def test_more_gradients_beyond_than_an_index_leaves_likely_lower_it(population) -> None:
    model = released(line(7), "index", COSTS[0], population=population).error_model
    assert model.tail_index(0.95) == 3
    assert model.status().ok
    more = replace(model, gradient=replace(model.gradient, outside=200))
    assert 1.5 <= more.tail_index(0.95) < 3
    assert more.status().code == "heavy_tail"
    assert more.intervals(0.95, more.tail_index(0.95)).width.max() < np.inf
    # So many that no tail explains them: they may be anywhere.
    far = replace(model, gradient=replace(model.gradient, outside=500))
    assert far.status().code == "clipped"
    assert "500 rows" in far.status().words
    assert "no bounds" in far.condition
    assert (far.intervals(0.95, far.tail_index(0.95)).width == np.inf).all()


def test_releases_of_before_are_read_as_they_were() -> None:
    """Then the law of the radius stood with squares, or nowhere."""
    model = released(line(7), "before", COSTS[0], population=True).error_model
    rate = model.gradient.rate
    before = replace(model.gradient, rate=0.0, prior=1.0, outside=200)
    assert replace(model, gradient=before, squares=None).tail_index(0.95) == 3
    squares = SandwichSums(model.squares.sums, model.squares.deviation, rate, 5.0)
    now = replace(model, gradient=replace(model.gradient, outside=200))
    assert replace(model, gradient=before, squares=squares).tail_index(0.95) == now.tail_index(0.95)


FAR = {
    "rare target": rare_target(0.01),
    "rare column": rare_column(0.01, 30),
    "code": a_code(400),
    "nine in ten zeros": np.column_stack(
        [line(4, 5000)[:, :2], np.where(np.arange(5000) % 10, 0, line(4, 5000)[:, 2] + 20)]
    ),
}


@pytest.mark.parametrize("data", FAR.values(), ids=FAR)
def test_rows_far_from_the_fit_never_go_unsaid(data) -> None:
    """Of each, most releases were ok, and not one interval of these held."""
    for seed in range(5):
        found = released(data, f"far {seed}", COSTS[0])
        assert found.code != "ok" or held(found, data)
        assert not found.usable or held(found, data)


def test_a_rare_target_has_a_fit() -> None:
    """[regression.14] Its ones were clipped away, unless some 900/ε."""
    data = rare_target(0.02)
    found = [released(data, f"rare {seed}", COSTS[0]) for seed in range(5)]
    usable = [each for each in found if each.usable]
    assert len(usable) >= 3
    assert all(held(each, data) for each in usable)
    true = np.linalg.lstsq(np.column_stack([np.ones(N), data[:, :-1]]), data[:, -1], rcond=None)[0]
    slopes = [each.values[1] for each in usable]
    assert np.median(slopes) == pytest.approx(true[1], rel=0.25)


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_bell_shaped_columns_are_ok(cost) -> None:
    """The control: nothing is far, and the radius of gradients is drawn as before."""
    data = line(9)
    for seed in range(6):
        found = released(data, f"plain {seed}", cost)
        assert found.code == "ok"
        assert held(found, data)
        assert found.error_model.gradient.prior == 5
