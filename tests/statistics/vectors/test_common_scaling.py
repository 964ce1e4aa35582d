"""Principal components of many columns of few rows, whose scaling is one for all columns."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum import plan
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.statistics.vectors.standardised import rows_are_few

WITHIN = (-1e6, 1e6)
RNG = np.random.default_rng(23)
LOADINGS = RNG.normal(size=(2, 45)) * [[3], [2]]
ROWS = 5 + RNG.normal(size=(600, 2)) @ LOADINGS + RNG.normal(size=(600, 45))


def released(rows: np.ndarray, seed: object, rho: str, components: int = 1) -> mo.ArrayRelease:
    curator = mo.Curator(rows, budget=mo.zcdp(1), entropy=SeededEntropy(repr(seed)))
    return curator.pca(components=components, within=WITHIN, rho=rho)


def captured(rows: np.ndarray, found: np.ndarray) -> float:
    """Share of the variance along the best directions."""
    matrix = np.cov(rows.T)
    best = np.linalg.eigvalsh(matrix)[::-1][: len(found)].sum()
    return float(np.trace(found @ matrix @ found.T) / best)


def common(release: mo.ArrayRelease) -> bool:
    labels = [entry.label for entry in release.transcript]
    assert ("octaves of the norms" in labels) != any(each.startswith("interval") for each in labels)
    return "octaves of the norms" in labels


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.one_in(2)
def test_components_of_few_rows_of_many_columns(components) -> None:
    """With an interval for each column 0.2 of the variance was captured."""
    shares = []
    for seed in range(8):
        release = released(ROWS, ("few", seed), "0.0175", components)
        assert common(release)
        assert release.code == "partial" or components == 2  # the second is about as faint as noise
        shares.append(captured(ROWS, release.values))
    assert np.median(shares) > 0.9
    assert min(shares) > 0.8


def test_wherever_the_rows_are() -> None:
    """Rows far from zero; wide ones, narrow ones. If they are too far it is said."""
    for scale, place in ((1.0, 1e3), (1e4, -2e5), (1e-3, 1.0)):
        rows = ROWS * scale + place
        shares = [captured(rows, released(rows, (scale, seed), "0.05").values) for seed in range(5)]
        assert np.median(shares) > 0.9, scale
    assert all(released(ROWS + 5e5, seed, "0.0175").code == "few_records" for seed in range(5))


def test_columns_of_different_scale() -> None:
    """The wide ones are found; the narrow ones are named, as their spread is below the noise."""
    rows = ROWS[:, :20] * np.repeat([1.0, 1000.0], 10)
    shares = []
    for seed in range(5):
        release = released(rows, ("scales", seed), "0.05")
        assert common(release)
        shares.append(captured(rows, release.values))
        assert release.code == "partial"
        assert all(f"column {place}" in release.status for place in range(10))
    assert np.median(shares) > 0.95


def test_enough_rows_have_an_interval_for_each_column() -> None:
    rows = ROWS[:, :5]
    assert not common(released(rows, "enough", "0.05"))
    for event, few in (
        (ZCDP(Fraction(1, 50)), 349),
        (ZCDP(Fraction(1, 2)), 69),
        (PureDP(Fraction(1)), 0),
    ):
        split = BudgetSplit(event)
        assert rows_are_few(split, few, 5) == (few > 0)
        assert not rows_are_few(split, few + 2, 5)


@pytest.mark.parametrize(
    "rows",
    [np.zeros((200, 20)), np.full((200, 20), 7.0), ROWS[:0], ROWS[:1], ROWS[:20]],
    ids=["zero", "constant", "none", "one", "twenty"],
)
@pytest.mark.one_in(4)
def test_what_cannot_be_found_is_said(rows) -> None:
    for seed in range(10):
        release = released(rows, ("nothing", len(rows), seed), "0.0175")
        assert release.code == "few_records"
        assert np.isfinite(release.values).all()
        assert str(release)


@pytest.mark.parametrize("place", [0.0, 1000.0])
def test_a_bound_on_noise_holds_for_noise_drawn_again(place) -> None:
    """Near to the common centre, and with a centre that is still far from the mean."""
    moments = (error_model := released(ROWS + place, "again", "0.05").error_model).moments
    covariance = moments.scatter / moments.weight * moments.units[0] ** 2
    sizes = []
    for _ in range(100):
        noise = RNG.normal(size=len(moments.sums)) * moments.deviations
        sums = tuple(int(a + b) for a, b in zip(moments.sums, noise, strict=True))
        again = replace(moments, sums=sums)
        found = again.scatter / again.weight * moments.units[0] ** 2
        sizes.append(np.abs(np.linalg.eigvalsh(found - covariance)).max())
    bound = error_model.distance(0.95, None)
    assert max(sizes) < bound < 4 * np.median(sizes)
    assert error_model.noise_size > np.median(sizes)


def test_two_places_far_apart_are_answered() -> None:
    """Half of the rows are zero: the direction to the others is the first component."""
    rows = np.where(np.arange(400)[:, None] % 2 == 0, 0.0, 3.0 + RNG.normal(size=(400, 30)))
    shares = [captured(rows, released(rows, ("two", seed), "0.05").values) for seed in range(5)]
    assert np.median(shares) > 0.8


def test_a_plan_makes_the_same_steps() -> None:
    planned = plan.pca(within=WITHIN, sd=[3.0] + [1.0] * 29, components=1, n=500, rho="0.0175")
    assert "octaves of the norms" in [label for label, _ in planned.events]
    assert 0 <= planned.error < 0.7
