"""A refined fit of two columns keeps its claim; gradients that are not clipped do not."""

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.privacy.split import BudgetSplit
from modicum.summaries import gradients
from modicum.summaries.gradients import GradientSquares, GradientSums, ProductSums

NARROW = {"within": (-8, 8), "step": 1}
NOBODY = np.empty((0, 2))
FAR, NEAR, LOW = (-8.0, 8.0), (3.0, 1.0), (0.0, -5.0)
PAIRS = [
    (NOBODY, np.array([FAR])),
    (NOBODY, np.array([NEAR])),
    (np.array([NEAR]), np.array([NEAR, FAR])),
    (np.array([FAR]), np.array([FAR, LOW])),
    (np.array([LOW, NEAR]), np.array([LOW, NEAR, NEAR])),
]
INTERVALS = {f"interval of column {place}": (257,) for place in (0, 1)}
MANY = {"count": ((10**6,),), **INTERVALS}
WIDTHS = (0, *(1,) * 16)


# Products that noise does not hide, so that the squares of gradients are drawn.
_ALL = 10**6
KNOWN = MANY | {
    "products": (tuple(each * _ALL << 32 for each in (1, 0, 0, 1, 0, 1)),),
    "products along directions": ((_ALL << 24, _ALL << 20, _ALL << 24),),
}
FORCED = (0, 0, 0, 1, 1, 0, 1, 1, 1, 0, *(1,) * 7)  # no others where a value is known


def request(cost, **options):
    return ask.linear_regression(**NARROW, **cost, **options)


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_two_columns_keep_their_claim(cost) -> None:
    report = audit.check(request(cost), PAIRS, values=MANY, widths=WIDTHS)
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert used["gradients"] > 0.5
    assert used["lost by products"] > 0
    assert {"products along directions", "first gradients", "radius of gradients"} <= set(used)


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_squares_for_a_population_keep_the_claim(cost) -> None:
    report = audit.check(request(cost, population=True), PAIRS, values=KNOWN, widths=FORCED)
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert used["squares of gradients"] > (0.5 if "epsilon" in cost else 0.2)
    plain = audit.check(request(cost), PAIRS, values=KNOWN, widths=FORCED)
    assert "squares of gradients" not in {step.label for step in plain.steps}


def test_squares_with_too_little_noise_break_the_claim(monkeypatch) -> None:
    """Noise that is 30 % too small, where one row has all that it may have."""

    def less(view, ways):
        found = along(view, ways)
        return GradientSquares(found.gradients, found.ways, found.most * 7 // 10)

    along = GradientSquares.along
    monkeypatch.setattr(GradientSquares, "along", less)
    monkeypatch.setattr(GradientSquares, "squares", uncapped)
    query = request({"epsilon": 1}, population=True)
    report = audit.check(query, PAIRS, values=KNOWN, widths=FORCED)
    assert not report.passed
    assert {step.label for step in report.steps if step.used > 1.01} == {"squares of gradients"}


def uncapped(_, clipped, table):
    along = np.trunc(clipped.astype(float) @ table).astype(np.int64)
    return (along * along).sum(axis=0)


def test_noise_in_balls_that_is_too_small_breaks_the_claim(monkeypatch) -> None:
    """Gradients at 10/7 of ε: by the line through the two sums."""

    def underpaid(self, mechanism):
        mechanism = spend(self, mechanism)
        if isinstance(mechanism, RadialMechanism):
            object.__setattr__(mechanism, "epsilon", mechanism.epsilon * 10 / 7)
        return mechanism

    spend = BudgetSplit.spend
    monkeypatch.setattr(BudgetSplit, "spend", underpaid)
    report = audit.check(request({"epsilon": 1}), PAIRS, values=MANY, widths=WIDTHS)
    assert not report.passed
    wrong = {step.label for step in report.steps if step.used > 1.01}
    assert wrong <= {"gradients", "first gradients"}
    assert wrong


def test_gradients_that_are_not_clipped_break_the_claim(monkeypatch) -> None:
    monkeypatch.setattr(GradientSums, "clipped", lambda _, u: np.rint(4 * u).astype(np.int64))
    report = audit.check(request({"epsilon": 1}), PAIRS, values=MANY, widths=WIDTHS)
    assert not report.passed


def test_losses_that_are_not_capped_break_the_claim(monkeypatch) -> None:
    def whole(self, a, b):
        return np.trunc(a * 10 * gradients.WHOLE * np.sqrt(self.most)).astype(np.int64)

    monkeypatch.setattr(ProductSums, "lost", whole)
    values = MANY | {"size of the rows along directions": ((0,),)}
    report = audit.check(request({"epsilon": 1}), PAIRS, values=values, widths=WIDTHS)
    assert not report.passed
    (wrong,) = {step.label for step in report.steps if step.used > 1.01}
    assert wrong == "lost by products"
