"""Products along directions keep their claim; losses and counts without a cap do not.

Covariances and components of many rows rest on them.
"""

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.statistics.vectors import refined_covariance
from modicum.summaries.gradients import WHOLE, ProductSums, ProductTotals

NARROW = {"within": (-8, 8), "step": 1}
NOBODY = np.empty((0, 2))
FAR, NEAR, LOW = (-8.0, 8.0), (3.0, 1.0), (0.0, -5.0)
PAIRS = [
    (NOBODY, np.array([FAR])),
    (NOBODY, np.array([NEAR])),
    (np.array([NEAR]), np.array([NEAR, FAR])),
    (np.array([FAR]), np.array([FAR, FAR])),
    (np.array([FAR]), np.array([FAR, LOW])),
    (np.array([LOW, NEAR]), np.array([LOW, NEAR, NEAR])),
]
INTERVALS = {f"interval of column {place}": (257,) for place in (0, 1)}
MANY = {"count": ((10**6,),), **INTERVALS, "size of the rows along directions": ((0,),)}
WIDTHS = (0, *(1,) * 12)
LOST, LONG, PRODUCTS = (
    "lost by products",
    "rows that are long, and longer",
    "products along directions",
)


def checked(cost):
    return audit.check(ask.covariance(**NARROW, **cost), PAIRS, values=MANY, widths=WIDTHS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("components", [None, 2])
def test_two_columns_keep_their_claim(components, cost) -> None:
    asked = ask.covariance(**NARROW, **cost)
    if components is not None:
        asked = ask.pca(components=components, **NARROW, **cost)
    report = audit.check(asked, PAIRS, values=MANY, widths=WIDTHS)
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert used[LOST] > 0.9
    assert used[LONG] > 0.99
    assert used[PRODUCTS] > 0.5


def broken() -> str:
    report = checked({"epsilon": 1})
    assert not report.passed
    (wrong,) = {step.label for step in report.steps if step.used > 1.01}
    return wrong


def test_losses_that_are_longer_than_allowed_break_the_claim(monkeypatch) -> None:
    lost = ProductSums.lost
    monkeypatch.setattr(ProductSums, "lost", lambda self, a, b: 2 * lost(self, a, b))
    assert broken() == LOST


def test_a_sum_of_sizes_in_place_of_a_norm_breaks_the_claim(monkeypatch) -> None:
    """All entries of a matrix more, in size, may add to several times its norm."""
    whole = property(lambda self: 16 * sum(map(abs, self.lost)) // WHOLE**2)
    monkeypatch.setattr(ProductTotals, "lost_size", whole)
    assert broken() == LOST


def test_longer_rows_that_count_twice_break_the_claim(monkeypatch) -> None:
    """Numbers of rows beyond sizes, of which one row changes several."""
    noise = refined_covariance.add_noise

    def twice(numbers, share, *, sensitivity):
        return noise((sum(numbers), *numbers[1:]), share, sensitivity=sensitivity)

    monkeypatch.setattr(refined_covariance, "add_noise", twice)
    assert broken() == LONG
