"""The gradient mechanism on a list of linear fits: its law, its bound, its cost."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

import modicum as mo
from modicum import audit
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.research.papers import asi2020
from modicum.research.papers.asi2020 import FitsOption, gradient_losses, gradient_regression
from modicum.runtime.replay import Run
from tests.research.papers.weaker import weaker

FITS = [(a, b) for a in (-2.0, 0.0, 0.5, 3.0) for b in (-1.0, 0.0, 0.25, 4.0)]
ASKED = {"fits": FITS, "reach": 4.0, "cap": 2.0, "within": (-8, 8), "step": 1}
POINTS = ((-8.0, 8.0), (0.0, 1.0), (8.0, 8.0), (3.0, -8.0))
PAIRS = [
    (np.array(data).reshape(-1, 2), np.array([*data, row]))
    for size in range(3)
    for data in combinations_with_replacement(POINTS, size)
    for row in POINTS
]
ROWS = np.random.default_rng(6).integers(-8, 9, (40, 2)).astype(float)


def sizes(rows, fits, reach, cap):
    """|sum of g| / L as the mechanism says, in real numbers."""
    found = []
    for fit in fits:
        total = np.zeros(len(fit))
        for *x, y in rows:
            z = np.array(x) / reach
            z = np.append(1.0, z / max(1.0, float(np.linalg.norm(z))))
            slopes = np.array([fit[0], *(np.array(fit[1:]) * reach)])
            total += np.clip(y - slopes @ z, -cap, cap) * z
        found.append(np.linalg.norm(total) / (math.sqrt(2) * cap))
    return np.array(found)


@pytest.mark.parametrize("rows", [ROWS[:0], ROWS[:1], ROWS[:3], ROWS])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_law(rows, epsilon) -> None:
    asked = gradient_regression(**ASKED, epsilon=epsilon)
    mechanism = Run(asked, asked.event, Remembered(rows)).waiting
    found = mechanism.log_densities(range(len(FITS)))

    def logs(scale: float) -> np.ndarray:
        each = -scale * epsilon / 2 * sizes(rows, FITS, 4.0, 2.0)
        return each - np.log(np.exp(each).sum())

    near = 0.005 * (1 + len(rows) / 10) * epsilon
    assert np.abs(found - logs(1.0)).max() < near
    if len(rows) > 1:  # a scale that is wrong by 30 % is told apart
        assert np.abs(found - logs(1 / 0.7)).max() > near


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_it_keeps_its_claim(cost) -> None:
    """All data sets of up to three of four rows."""
    report = audit.check(gradient_regression(**ASKED, **cost), PAIRS)
    assert report.passed, report
    assert report.drawn == report.claimed


# A row with residuals of -cap at all fits; another one of +cap at all but the last.
FAR = np.array([[8.0, -1000.0], [8.0, 1000.0]])
STEEP = {
    "fits": [(k / 100, 0.0) for k in range(1000)] + [(0.0, 500.0)],
    "reach": 4.0,
    "cap": 2.0,
    "within": (-1024, 1024),
    "step": 1,
}


def test_it_uses_its_cost_and_less_noise_is_found() -> None:
    asked = gradient_regression(**STEEP, epsilon=1)
    report = audit.joint_loss(asked, FAR[:1], FAR)
    assert report.passed, report
    assert report.used > 0.99
    assert not audit.joint_loss(weaker(asked), FAR[:1], FAR).passed


def test_a_bound_that_forgets_the_intercept_breaks_the_claim(monkeypatch) -> None:
    """cap in place of sqrt(2) cap."""
    asked = gradient_regression(**STEEP, epsilon=1)

    def printed(rows, step, options):
        right = np.array(gradient_losses(rows, step, options))
        return tuple(np.floor(right * math.sqrt(2)).astype(int).tolist())

    monkeypatch.setattr(asi2020, "gradient_losses", printed)
    assert not audit.joint_loss(asked, FAR[:1], FAR).passed


def test_rows_that_are_not_drawn_in_break_the_claim(monkeypatch) -> None:
    asked = gradient_regression(**STEEP | {"reach": 0.5}, epsilon=1)
    assert audit.joint_loss(asked, FAR[:1], FAR).passed

    def unclipped(x, reach):
        ones = np.full(len(x), float(1 << 15))
        return np.column_stack([ones, np.trunc(x / reach * (1 << 15))])

    monkeypatch.setattr(asi2020, "_clipped_rows", unclipped)
    assert not audit.joint_loss(asked, FAR[:1], FAR).passed


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e300])
def test_no_row_is_longer_than_its_bound(scale) -> None:
    """Integers of (1, x), exactly; and a row's integers do not depend on the rows beside it."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=(500, 7)) * scale * rng.choice([1e-3, 1.0, 1e3], (500, 1))
    for reach in (1e-200, 1.0, 1e200):
        whole = asi2020._clipped_rows(x, reach)
        squares = (whole.astype(int).astype(object)[:, 1:] ** 2).sum(axis=1)
        assert max(squares) <= 1 << 30
        assert (whole[:, 0] == 1 << 15).all()
        alone = np.concatenate([asi2020._clipped_rows(row[None], reach) for row in x])
        assert np.array_equal(whole, alone)
        assert np.array_equal(whole[::-1], asi2020._clipped_rows(x[::-1].copy(), reach))


def test_sums_are_exact_in_any_blocks(monkeypatch) -> None:
    options = FitsOption.of(FITS, 4.0, 2.0)
    rows = np.random.default_rng(2).integers(-(1 << 40), 1 << 40, (3000, 2))
    whole = gradient_losses(rows, 2.0**-36, options)
    monkeypatch.setattr(asi2020, "_CHUNK", 16 * 7)
    assert gradient_losses(rows, 2.0**-36, options) == whole
    assert gradient_losses(rows[::-1].copy(), 2.0**-36, options) == whole


def test_a_fit_of_many_rows() -> None:
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (5000, 2))
    y = 1 + x @ [2.0, -1.0] + rng.normal(0, 0.2, 5000)
    grid = np.array([(a, b, c) for a in (0, 1, 2) for b in (1, 2, 3) for c in (-2, -1, 0)])
    release = mo.Curator(
        np.column_stack([x, y]),
        budget=mo.pure(1),
        entropy=SeededEntropy("many"),
    ).run(gradient_regression(fits=grid, reach=1.5, cap=2, within=(-10, 10), epsilon=1))
    assert release.values.tolist() == [1, 2, -1]
    assert release.axes[0].labels == ("intercept", "0", "1")
    assert (release.interval().lower < -1e300).all()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"fits": []}, "fits must"),
        ({"fits": [1.0, 2.0]}, "fits must"),
        ({"fits": [[1.0], [2.0, 3.0]]}, "fits must"),
        ({"fits": [[math.nan]]}, "fits must"),
        ({"fits": "no"}, "fits must"),
        ({"fits": np.zeros((1, 65))}, "at most"),
        ({"reach": 0}, "reach"),
        ({"reach": math.inf}, "reach"),
        ({"cap": -1}, "cap"),
        ({"columns": ["a"]}, "together"),
        ({"columns": ["a", "b"], "target": "y"}, "2 slopes"),
    ],
)
def test_wrong_arguments(change, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        gradient_regression(**{**ASKED, **change}, epsilon=1)


def test_columns_by_name() -> None:
    asked = gradient_regression(["x"], target="y", **ASKED, epsilon=1)
    assert asked.place.names == ("x", "y")
    assert asked.options.width == 2
