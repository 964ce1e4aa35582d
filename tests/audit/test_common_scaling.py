"""A common scaling of all columns keeps its claim; forms that are not private do not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from modicum import audit
from modicum import query as ask
from modicum.mechanisms.additive import VectorNoise
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import LossScore
from modicum.privacy.event import ZCDP
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import read
from modicum.statistics.vectors import standardised
from modicum.summaries.vectors import BOUND

NARROW = {"within": (-8, 8), "step": 1}
FAR, NEAR = (-8.0, 8.0), (3.0, 1.0)
NOBODY = np.empty((0, 2))
PAIRS = [
    (NOBODY, np.array([FAR])),
    (NOBODY, np.array([NEAR])),
    (np.array([NEAR]), np.array([NEAR, FAR])),
    (np.array([FAR]), np.array([FAR, NEAR])),
    (np.array([NEAR]), np.array([NEAR, (0.0, 0.0)])),
]
FEW = {"count": ((1,), (20,))}
PCA = ask.pca(components=2, **NARROW, rho="0.5")
OCTAVES, STEP = "octaves of the norms", "step 1"
HOLDS = 9  # from 2 to 16 steps


def test_few_rows_keep_the_claim() -> None:
    """In the octaves of one of the rows, and in others: too low, and so wide that all is near."""
    for place in (HOLDS, 2, 10):
        values = FEW | {OCTAVES: (place,)}
        report = audit.check(PCA, PAIRS, values=values, widths=(0, 1))
        assert report.passed, report
        assert report.drawn == report.claimed
        used = {step.label: step.used for step in report.steps}
        assert not any(label.startswith("interval") for label in used)
        assert used[OCTAVES] > 0.99
        if place == HOLDS:
            assert all(used[label] > 0.99 for label in ("radius 1", STEP, "radius 2", "step 2"))
            assert used["products"] > 0.2


def test_a_wrong_centre_keeps_the_claim() -> None:
    values = FEW | {OCTAVES: (HOLDS,), STEP: ((BOUND * 15, -BOUND * 15),)}
    report = audit.check(PCA, PAIRS, values=values, widths=(0, 0, 1))
    assert report.passed, report


def test_other_statistics_have_an_interval_for_each_column() -> None:
    for question in (
        ask.covariance(**NARROW, rho="0.5"),
        ask.pca(components=2, **NARROW, epsilon=1),
    ):
        report = audit.check(question, PAIRS[:1], values=FEW, widths=(0,))
        assert report.passed, report
        assert OCTAVES not in {step.label for step in report.steps}


def test_octaves_with_too_little_noise_break_the_claim(monkeypatch) -> None:
    """Losses as if they had paid for 30 % less noise."""

    def underpaid(self, mechanism):
        mechanism = spend(self, mechanism)
        octaves = isinstance(mechanism, Exponential) and isinstance(mechanism.score, LossScore)
        return (
            replace(mechanism, epsilon=mechanism.epsilon * Fraction(10, 7))
            if octaves
            else mechanism
        )

    spend = BudgetSplit.spend
    monkeypatch.setattr(BudgetSplit, "spend", underpaid)
    report = audit.check(PCA, PAIRS, values=FEW, widths=(0,))
    assert not report.passed
    (wrong,) = [step for step in report.steps if step.used > 1.3]
    assert wrong.label == OCTAVES


def test_steps_with_too_little_noise_break_the_claim(monkeypatch) -> None:
    """Gaussian noise 30 % too small: its variance is half of what was paid for."""

    class Louder(VectorNoise):
        @property
        def event(self):
            return ZCDP(self.rho * Fraction(49, 100))

    def underpaid(self, mechanism):
        mechanism = spend(self, mechanism)
        if not isinstance(mechanism, VectorNoise):
            return mechanism
        return Louder(mechanism.values, mechanism.bound, mechanism.rho / Fraction(49, 100))

    spend = BudgetSplit.spend
    monkeypatch.setattr(BudgetSplit, "spend", underpaid)
    report = audit.check(PCA, PAIRS, values=FEW | {OCTAVES: (HOLDS,)}, widths=(0, 1))
    assert not report.passed
    assert {step.label[:4] for step in report.steps if step.used > 1.3} == {"step"}


def test_the_true_number_of_rows_in_the_branch_leaks(monkeypatch) -> None:
    """Whether rows are few must follow from the noisy count, and so must the shares."""
    literal = standardised.common_scaling

    def by_truth(here, _rows, width):
        norms = yield from read(here.norms(here.start))
        return (yield from literal(here, 1 + 10 * norms.count, width))

    monkeypatch.setattr(standardised, "common_scaling", by_truth)
    report = audit.check(PCA, PAIRS, values=FEW, widths=(0, 1))
    assert report.leak is not None
