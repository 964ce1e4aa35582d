"""Mean vectors keep their claim on every branch, leak nothing, and wrong forms are found."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import Additive, GaussianNoise, VectorNoise
from modicum.mechanisms.selection import RadiusDraw
from modicum.privacy.event import PureDP, RangeDP
from modicum.privacy.split import BudgetSplit
from modicum.privacy.unit import Unit
from modicum.research.papers import huang2021
from modicum.runtime.run import run
from modicum.statistics.vectors import vector_rounds
from modicum.statistics.vectors.vector_rounds import VectorErrorModel, VectorSetting
from modicum.statistics.vectors.vector_schedule import VectorSchedule
from modicum.summaries.vectors import BOUND, ScaledRows

Point = tuple[float, ...]
NARROW = {"within": (-8, 8), "step": 1}


def vectors(points: list[Point], most: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All data sets of fewer than ``most`` rows, each with every one that has a row more."""
    known: dict[tuple[Point, ...], np.ndarray] = {}

    def rows(*chosen: Point) -> np.ndarray:
        key = tuple(sorted(chosen))
        empty = np.empty((0, len(points[0])))
        return known.setdefault(key, np.array(key, dtype=float) if key else empty)

    return [
        (rows(*data), rows(*data, point))
        for n in range(most)
        for data in combinations_with_replacement(points, n)
        for point in points
    ]


CORNERS = [(-8.0, 8.0), (0.0, 1.0), (8.0, 8.0)]
FEW = {"count": ((1,), (600,), (10**9,))}
CASES = {
    "one component": (vectors([(-8.0,), (1.0,)], 2), (0, 1)),
    "two components": (vectors(CORNERS, 2), (0, 1)),
}
MORE = {
    "one component": (vectors([(-8.0,), (1.0,), (8.0,)], 3), (2, 2, 2, 1)),
    "two components": (vectors(CORNERS, 3), (2, 1)),
    "three components": (vectors([(-8.0, 0.0, 8.0), (1.0, 1.0, 1.0)], 2), (1, 2, 1)),
    "four rows": (vectors([(-8.0, 8.0), (3.0, 1.0)], 4), (0, 2, 1)),
}
EVERY = [pytest.param(*CASES[name], FEW, id=name) for name in CASES] + [
    pytest.param(*MORE[name], FEW, id=f"more, {name}", marks=pytest.mark.slow) for name in MORE
]


@pytest.mark.parametrize(("pairs", "widths", "values"), EVERY)
def test_the_whole_release_keeps_its_claim_for_every_order(pairs, widths, values) -> None:
    """The sum over all draws of D_α / α is at most ρ, and nearly ρ is used."""
    question = ask.mean_vector(**NARROW, rho="0.5")
    report = audit.check(question, pairs, widths=widths, values=values)
    assert report.passed, report
    assert report.drawn == report.claimed
    assert 0.97 < report.used <= 1


@pytest.mark.parametrize(("pairs", "widths", "values"), EVERY)
def test_the_whole_release_keeps_its_claim_in_pure_epsilon(pairs, widths, values) -> None:
    report = audit.check(ask.mean_vector(**NARROW, epsilon=1), pairs, widths=widths, values=values)
    assert report.passed, report
    assert report.drawn == report.claimed
    assert 0.85 < report.used <= 1


UNEVEN = ((BOUND * 300, BOUND), (BOUND, BOUND * 300))  # of 600 rows: 1/2 and 1/600 of the radius

LOST = {
    "count": ((1,), (600,)),
    "rows outside": ((10**6,),),
    "rows outside again": ((10**6,),),
}
FOUND = LOST | {"wider radius": ((40,),)}  # far beyond the first, for tables of one row
AGAIN = ["wider radius", "last radius again", "rows outside again"]


@pytest.mark.parametrize("cost", [{"rho": "0.5"}, {"epsilon": 1}], ids=str)
@pytest.mark.parametrize(
    ("pairs", "widths", "values"),
    [pytest.param(*CASES[name], FOUND, id=name) for name in CASES]
    + [pytest.param(*MORE["four rows"], LOST, id="four rows", marks=pytest.mark.slow)],
)
def test_the_second_search_keeps_the_claim(pairs, widths, values, cost) -> None:
    """A noisy count of rows outside that is too large leads to it, on any data."""
    report = audit.check(ask.mean_vector(**NARROW, **cost), pairs, widths=widths, values=values)
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert set(AGAIN) <= set(used)
    if pairs is CASES["one component"][0]:  # elsewhere as many rows may be outside, for nothing
        assert all(0.99 < used[label] < 1.001 for label in AGAIN)


@pytest.mark.parametrize("cost", [{"rho": "0.5"}, {"epsilon": 1}], ids=str)
def test_the_branch_with_weights_keeps_the_claim(cost) -> None:
    """Released sizes of two components differ, so that rows are weighed and measured again."""
    values = {"count": ((600,),), "sizes 1": UNEVEN, "sizes 2": UNEVEN[:1]}
    pairs = vectors(CORNERS, 2)
    report = audit.check(ask.mean_vector(**NARROW, **cost), pairs, widths=(0, 1), values=values)
    assert report.passed, report
    assert report.drawn == report.claimed
    weighed = [step for step in report.steps if step.label.startswith("weighed")]
    assert len(weighed) > 1
    assert max(step.used for step in weighed) > 0.9


@pytest.mark.parametrize("cost", [{"rho": "0.5"}, {"epsilon": 1}], ids=str)
def test_a_second_search_with_too_little_noise_breaks_the_claim(cost, monkeypatch) -> None:
    """Scores of its two radii as if they had paid for 30 % less noise."""

    class Louder(RadiusDraw):
        @property
        def event(self):
            told = self.epsilon * Fraction(7, 10)
            return PureDP(told) if self.selection == "flip" else RangeDP(told)

    def underpaid(self, mechanism):
        mechanism, sizes = spend(self, mechanism), [self.share(part).range for part in again]
        if not isinstance(mechanism, RadiusDraw) or mechanism.epsilon not in sizes:
            return mechanism
        return Louder(
            mechanism.outside,
            mechanism.grid,
            mechanism.epsilon * Fraction(10, 7),
            mechanism.tilt,
            mechanism.selection,
        )

    spend, again = BudgetSplit.spend, {Fraction(1, 25), Fraction(2, 25)}
    monkeypatch.setattr(BudgetSplit, "spend", underpaid)
    pairs = CASES["one component"][0]
    report = audit.check(ask.mean_vector(**NARROW, **cost), pairs, widths=(0, 1), values=FOUND)
    assert not report.passed
    assert {step.label for step in report.steps if step.used > 1.3} == set(AGAIN[:2])


def test_looking_again_by_the_true_number_of_rows_outside_is_found(monkeypatch) -> None:
    counted: list[int] = []
    counts, most = VectorSetting.noisy_count, VectorSchedule.most_outside

    def remembered(self, outside, share, label):
        counted[:] = [outside]
        return (yield from counts(self, outside, share, label))

    def by_truth(self, target, noise):
        return most(self, target, noise) if counted[0] == 0 else -(10**9)

    monkeypatch.setattr(VectorSetting, "noisy_count", remembered)
    monkeypatch.setattr(VectorSchedule, "most_outside", by_truth)
    query = ask.mean_vector(**NARROW, rho="0.5")
    values = {"count": ((600,),), "last radius": ((0,),), "rows outside": ((0,),)}
    report = audit.check(query, CASES["one component"][0], widths=(0, 1), values=values)
    assert report.leak is not None


@pytest.mark.parametrize(("cost", "least"), [({"rho": "0.5"}, 0.9999), ({"epsilon": 1}, 0.95)])
def test_the_clipped_mean_keeps_its_claim(cost, least) -> None:
    question = ask.clipped_mean_vector(**NARROW, **cost)
    report = audit.check(question, vectors(CORNERS, 3), widths=(2, 2, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > least


SHIFTED = {"within": (-2, 2), "step": 1, "rho": "0.5", "method": "shifted"}
NEAR = [(-2.0, 2.0, 0.0), (0.0, 1.0, 1.0), (2.0, 2.0, 2.0)]


@pytest.mark.parametrize(
    "points", [[(-2.0,), (1.0,)], [(-2.0, 2.0), (0.0, 1.0)], NEAR], ids=["one", "two", "three"]
)
def test_the_shifted_mean_keeps_its_claim_for_every_order(points) -> None:
    """Three components are padded to four; two have a bound that is no integer."""
    report = audit.check(ask.mean_vector(**SHIFTED), vectors(points, 3), widths=(2, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.97


def test_medians_of_padded_rows_that_pay_for_the_others_only_break_the_claim(monkeypatch) -> None:
    """Four coordinates of three components, each at ρ / (4 · 3)."""
    monkeypatch.setattr(huang2021, "_bound", lambda padded: (1024, 1774))
    report = audit.check(ask.mean_vector(**SHIFTED), vectors(NEAR[:1], 2), widths=(1,))
    assert not report.passed
    assert max(step.used for step in report.steps) > 1.3


def test_medians_by_natural_logarithms_break_the_claim(monkeypatch) -> None:
    """Five questions for 17 values, with noise as if they were ln(17)."""

    class Natural(VectorNoise):
        @property
        def noise(self):
            (noise, *_) = super().noise
            return (GaussianNoise(noise.sigma2 * Fraction(283, 500)),) * len(self.values)

    def underpaid(self, mechanism):
        mechanism = spend(self, mechanism)
        if not isinstance(mechanism, VectorNoise) or mechanism.bound == BOUND:
            return mechanism
        return Natural(mechanism.values, mechanism.bound, mechanism.rho)

    spend = BudgetSplit.spend
    monkeypatch.setattr(BudgetSplit, "spend", underpaid)
    report = audit.check(ask.mean_vector(**SHIFTED), vectors(NEAR[:1], 2), widths=(1,))
    assert not report.passed


@pytest.mark.parametrize("question", [ask.mean_vector, ask.clipped_mean_vector])
def test_laplace_noise_for_rows_clipped_in_the_other_norm_breaks_the_claim(
    question, monkeypatch
) -> None:
    """A row of L2 norm BOUND has up to sqrt(d) times that in L1."""
    monkeypatch.setattr(VectorSetting, "power", property(lambda self: 2))
    pairs = [(np.empty((0, 3)), np.full((1, 3), 8.0))]
    report = audit.check(question(**NARROW, epsilon=1), pairs, widths=(1,), values=FEW)
    assert not report.passed
    assert max(step.used for step in report.steps) > 1.5


def test_a_search_by_natural_logarithms_breaks_its_claim(monkeypatch) -> None:
    """One question for each of ceil(log2 radii) levels, paid as if there were ln(radii)."""

    def underpaid(self, mechanism):
        mechanism = spend(self, mechanism)
        if not isinstance(mechanism, Additive):
            return mechanism
        smaller = mechanism.noise[0].sigma2 * Fraction(7, 10)
        return replace(mechanism, noise=(GaussianNoise(smaller),))

    spend = BudgetSplit.spend
    monkeypatch.setattr(BudgetSplit, "spend", underpaid)
    question = ask.clipped_mean_vector(**NARROW, rho="0.5")
    report = audit.check(question, vectors(CORNERS[:1], 2), widths=(1,))
    assert not report.passed


@pytest.mark.slow
@pytest.mark.parametrize("rho", ["1e-6", "20"])
def test_small_and_large_budgets(rho) -> None:
    report = audit.check(ask.mean_vector(**NARROW, rho=rho), vectors(CORNERS[:2], 2), widths=(0, 1))
    assert report.passed, report


@pytest.mark.slow
def test_a_wide_range_on_its_default_lattice() -> None:
    pairs = vectors([(-1e9, 1e9), (1234567.8, 0.1)], 1)
    query = ask.mean_vector(within=(-1e9, 1e9), rho="0.5")
    report = audit.check(query, pairs, widths=(1,), values={"count": ((1,), (10_000,))})
    assert report.passed, report
    assert report.used > 0.95


def test_rounding_to_the_nearest_integers_breaks_the_claim(monkeypatch) -> None:
    """A row of 16 components of half a coarse unit rounds to twice its norm: four times ρ."""
    coarse = BOUND / 2

    def rounded(self, x):
        u = self.seen(x)
        size = np.sqrt((u * u).sum(axis=1, keepdims=True))
        clipped = u * np.minimum(1, BOUND / np.maximum(size, 1))
        return np.floor(clipped / coarse + 0.5 + 1e-9) * coarse

    pairs = [(np.empty((0, 16)), np.full((1, 16), 8.0))]
    query = ask.mean_vector(**NARROW, rho="0.5")
    values = {"count": ((600,),), "radius 1": ((44,),)}
    monkeypatch.setattr(ScaledRows, "clipped", rounded)
    report = audit.check(query, pairs, widths=(1,), values=values)
    assert not report.passed
    assert max(step.used for step in report.steps) > 3.9


def test_dividing_by_the_true_number_of_rows_is_found(monkeypatch) -> None:
    query = ask.mean_vector(**NARROW, rho="0.5")
    data = [np.zeros((n, 2)) for n in (1, 2)]
    walk = run(
        {"answer": query},
        Remembered(data[0]),
        unit=Unit(),
        charge=lambda: None,
        entropy=SeededEntropy(1),
    )["answer"]
    outcomes = [entry.outcome for entry in walk.transcript]
    assert audit.leaks(query, data, outcomes) is None
    counted: list[int] = []
    spend = BudgetSplit.spend

    def remembered(self, mechanism):
        if isinstance(mechanism, Additive):
            counted[:] = mechanism.values
        return spend(self, mechanism)

    def true_rows(**fields):
        return VectorErrorModel(**{**fields, "rows": counted[0]})

    monkeypatch.setattr(BudgetSplit, "spend", remembered)
    monkeypatch.setattr(vector_rounds, "VectorErrorModel", true_rows)
    leak = audit.leaks(query, data, outcomes)
    assert leak is not None
    assert leak.kind == "answer"
