"""Algorithm 2 of Asi and Duchi 2020: its radii, and that they are needed."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

import modicum as mo
from modicum import audit
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.research.papers.asi2020 import LeadingDirection


class Coarse(LeadingDirection):
    """Twice as long, for a coarse lattice."""

    def range(self, lo, hi):
        return -3.0, 3.0

    def value(self, rows, lo, hi):
        return 2 * super().value(rows, lo, hi)

    def sensitivities(self, rows, lo, hi, levels):
        return 2 * super().sensitivities(rows, lo, hi, levels)


POINTS = np.array([(0.0, 0.0), (4.0, 1.0), (1.0, 4.0)])
PAIRS = [
    (POINTS[list(data)], POINTS[[*data, more]])
    for size in range(2)
    for data in combinations_with_replacement(range(3), size)
    for more in range(3)
]


def asked(statistic, epsilon=8):
    return mo.query.vector_statistic(statistic=statistic, within=(-4, 4), step=1.0, epsilon=epsilon)


def test_it_is_private_on_small_data() -> None:
    report = audit.check(asked(Coarse(2)), PAIRS)
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.3


def test_neighbours_are_within_the_first_radius() -> None:
    """Random and adversarial rows; radii of 30 % less would be too small for a few."""
    rng, worst = np.random.default_rng(1), 0.0
    statistic = LeadingDirection(2)
    for _ in range(3000):
        n = int(rng.integers(1, 6))
        rows = rng.normal(size=(n, 2)) * rng.choice([0.3, 1.0, 3.0])
        if rng.random() < 0.5:  # a gap of about 1, and a row that turns it
            rows = np.array([[1.0, 0.0], [rng.normal(0, 0.1), 0.05]])
        angle = rng.uniform(0, math.pi)
        more = np.vstack([rows, [[math.cos(angle), math.sin(angle)]]])
        one, other = (statistic.value(each, -4, 4) for each in (rows, more))
        distance = min(np.linalg.norm(one - other), np.linalg.norm(one + other))
        for each, next_one in ((rows, more), (more, rows)):
            radii = statistic.sensitivities(each, -4, 4, 3)
            others = statistic.sensitivities(next_one, -4, 4, 3)
            assert distance <= radii[0] + 1e-7
            assert (radii[:-1] <= others[1:] * (1 + 1e-6)).all()
            worst = max(worst, distance / radii[0])
    assert worst > 0.7


def test_the_radius_is_no_less_than_the_chord() -> None:
    """2 sin(asin(1/G)/4) for G >= 1, and sqrt(2) below."""
    for gap in np.concatenate([[1.0], 1 + np.geomspace(1e-6, 1e6, 500)]):
        chord = 2 * math.sin(math.asin(1 / gap) / 4)
        assert chord <= 0.5 / (gap - 1 + math.sqrt(1 / 8))
    rows = np.eye(2)
    assert LeadingDirection(2).sensitivities(rows, -4, 4, 1)[0] == pytest.approx(math.sqrt(2))


def test_the_direction_of_many_rows() -> None:
    x = np.random.default_rng(0).normal(0, 0.5, 5000)[:, None] * [0.6, 0.64, 0.48]
    x += np.random.default_rng(1).normal(0, 0.1, (5000, 3))
    query = mo.query.vector_statistic(statistic=LeadingDirection(3), within=(-1e6, 1e6), epsilon=1)
    curator = mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy("direction"))
    found = curator.run(query).values
    assert abs(found @ [0.6, 0.64, 0.48]) > 0.999 * np.linalg.norm(found)


@pytest.mark.parametrize("columns", [1, 21, 2.5])
def test_columns_are_2_to_20(columns) -> None:
    with pytest.raises(InvalidArgument, match="2 to 20"):
        LeadingDirection(columns)
