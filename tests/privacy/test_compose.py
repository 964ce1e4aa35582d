"""Conversions and compositions: never below the exact guarantee, and hardly above it."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.privacy.accountant import (
    Filter,
    approx_to_zcdp,
    composed,
    parallel,
    pure_to_approx,
    pure_to_zcdp,
    zcdp_to_approx,
)
from modicum.privacy.event import ZCDP, ApproxDP, PureDP, RangeDP

EPSILONS = ["0.001", "0.1", "1", "5"]
RHOS = ["1e-9", "0.001", "0.125", "2", "50"]
DELTAS = ["1e-2", "1e-6", "1e-12"]


def crossed(*lists: list[str]) -> list[tuple[str, ...]]:
    return list(itertools.product(*lists))


def gaussian_delta(rho: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Exact δ of Gaussian noise of variance 1 and sensitivity sqrt(2 ρ) (Balle and Wang 2018)."""
    shift = mpmath.sqrt(2 * rho)
    below = mpmath.ncdf(shift / 2 - epsilon / shift)
    return below - mpmath.exp(epsilon) * mpmath.ncdf(-shift / 2 - epsilon / shift)


@pytest.mark.parametrize(("rho", "delta"), crossed(RHOS, DELTAS))
def test_zcdp_in_epsilon_and_delta_holds_for_gaussian_noise(rho, delta) -> None:
    with mpmath.workdps(40):
        got = zcdp_to_approx(mo.zcdp(rho), delta)
        exact = gaussian_delta(
            float(rho), mpmath.mpf(got.amount.numerator) / got.amount.denominator
        )
        assert exact <= mpmath.mpf(delta)
    assert got.amount <= Fraction(rho) + 2 * Fraction(
        math.sqrt(Fraction(rho) * -Fraction(math.log(float(delta)))) * (1 + 1e-12)
    )


def renyi_bound(rho: mpmath.mpf, delta: mpmath.mpf) -> mpmath.mpf:
    """The least ε over a fine grid of α, of the same formula written out by δ."""

    def needed(log_beyond: float) -> mpmath.mpf:
        alpha = 1 + mpmath.exp(log_beyond)
        spread = mpmath.log(alpha - 1) - alpha * mpmath.log(1 - 1 / alpha) + mpmath.log(delta)
        return rho * alpha - spread / (alpha - 1)

    coarse = min(range(-10, 40), key=needed)
    lo, hi = mpmath.mpf(coarse - 1), mpmath.mpf(coarse + 1)
    for _ in range(100):
        third = (hi - lo) / 3
        lo, hi = (lo, hi - third) if needed(lo + third) < needed(hi - third) else (lo + third, hi)
    return needed(lo)


@pytest.mark.parametrize(("rho", "delta"), crossed(RHOS[1:], DELTAS))
def test_zcdp_in_epsilon_and_delta_is_the_best_order(rho, delta) -> None:
    with mpmath.workdps(50):
        best = renyi_bound(mpmath.mpf(rho), mpmath.mpf(delta))
        got = zcdp_to_approx(mo.zcdp(rho), delta).amount
        assert mpmath.mpf(got.numerator) / got.denominator >= max(best, 0) - mpmath.mpf(10) ** -40
        assert float(got) <= max(float(best), 0) * (1 + 1e-9)


@pytest.mark.parametrize(("rho", "delta"), crossed(RHOS, DELTAS[1:]))
def test_there_and_back(rho, delta) -> None:
    there = zcdp_to_approx(mo.zcdp(rho), delta)
    if there.amount:
        assert float(approx_to_zcdp(there).amount) == pytest.approx(float(rho), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), crossed(EPSILONS, ["1e-3", "1e-9"]))
def test_an_epsilon_and_delta_budget_holds_its_rho(epsilon, delta) -> None:
    rho = approx_to_zcdp(mo.approx(epsilon, delta)).amount
    with mpmath.workdps(40):
        exact = gaussian_delta(mpmath.mpf(rho.numerator) / rho.denominator, mpmath.mpf(epsilon))
        assert exact <= mpmath.mpf(delta)


@pytest.mark.parametrize(("epsilon", "delta"), crossed(EPSILONS, ["0", *DELTAS, "0.9"]))
def test_pure_in_epsilon_and_delta_is_exact_for_randomised_response(epsilon, delta) -> None:
    got = pure_to_approx(mo.pure(epsilon), delta).amount
    with mpmath.workdps(40):
        big = mpmath.exp(mpmath.mpf(epsilon))
        kept = (big - mpmath.exp(mpmath.mpf(got.numerator) / got.denominator)) / (1 + big)
        assert kept <= mpmath.mpf(delta)
        if 0 < got < Fraction(epsilon):
            assert kept == pytest.approx(mpmath.mpf(delta), rel=1e-9)


def test_pure_in_rho() -> None:
    assert pure_to_zcdp(mo.pure(2)) == mo.zcdp(2)


def exact_delta(steps: list[tuple[float, float]], epsilon: float) -> mpmath.mpf:
    """δ of randomised responses together, each with its ε and the probability that it tells all."""
    losses = [(mpmath.mpf(0), mpmath.mpf(1))]
    told = mpmath.mpf(1)
    for size, failing in steps:
        up = mpmath.exp(size) / (1 + mpmath.exp(size))
        told *= 1 - mpmath.mpf(failing)
        losses = [
            (loss + sign * size, weight * share)
            for loss, weight in losses
            for sign, share in ((1, up), (-1, 1 - up))
        ]
    bad = sum(weight * max(0, 1 - mpmath.exp(epsilon - loss)) for loss, weight in losses)
    return 1 - told + told * bad


MIXTURES = [
    [PureDP(Fraction(1, 2))] * 3,
    [PureDP(Fraction(1, 4))] * 10,
    [RangeDP(Fraction(1)), PureDP(Fraction(1, 3))],
    [ApproxDP(Fraction(1, 3), Fraction(1, 10**7)), PureDP(Fraction(1))],
    [ApproxDP(Fraction(1, 5), Fraction(1, 10**8))] * 9,
]


@pytest.mark.parametrize("events", MIXTURES)
@pytest.mark.parametrize("delta", ["1e-2", "1e-5"])
def test_a_composition_is_never_below_the_exact_one(events, delta) -> None:
    steps = [
        (mpmath.mpf(e.cost("approx").amount.numerator) / e.cost("approx").amount.denominator,
         float(getattr(e, "delta", 0)))
        for e in events
    ]  # fmt: skip
    with mpmath.workdps(30):
        got = composed(events, delta).amount
        value = mpmath.mpf(got.numerator) / got.denominator
        assert exact_delta(steps, value) <= mpmath.mpf(delta)
        assert got <= sum(e.cost("approx").amount for e in events)


def test_a_composition_of_all_kinds() -> None:
    events = [PureDP(Fraction(1)), ZCDP(Fraction(1, 2))]
    assert composed(events, "1e-6") == zcdp_to_approx(mo.zcdp(1), "1e-6")
    events.append(ApproxDP(Fraction(1), Fraction(1, 10**7)))
    more = composed(events, "1e-6")
    assert more.delta == Fraction(1, 10**6)
    assert more.amount > zcdp_to_approx(mo.zcdp("1.5"), "1e-6").amount
    assert composed([], "1e-6").amount == 0


def test_many_small_events_cost_less_than_their_sum() -> None:
    assert composed([PureDP(Fraction(1, 10))] * 400, "1e-6").amount < 14
    assert composed([PureDP(Fraction(2))], "1e-6").amount < 2


def test_disjoint_groups_pay_the_largest_cost() -> None:
    assert parallel([mo.pure(1), mo.pure("0.5")]) == mo.pure(1)
    assert parallel([mo.approx(1, "1e-6"), mo.approx("0.5", "1e-5")]) == mo.approx(1, "1e-5")
    with pytest.raises(InvalidArgument, match="at least one"):
        parallel([])
    with pytest.raises(InvalidArgument, match="kind"):
        parallel([mo.pure(1), mo.zcdp(1)])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: pure_to_zcdp(mo.zcdp(1)), "kind 'pure'"),
        (lambda: pure_to_zcdp(1), "a budget such as"),
        (lambda: mo.parallel([1]), "a budget such as"),
        (lambda: mo.parallel([mo.pure(1), 2]), "a budget such as"),
        (lambda: Filter(mo.zcdp(1)).admit(3), "an event such as"),
        (lambda: mo.shuffle.local_epsilon(3, clients=100), "must come from modicum.pure"),
        (lambda: zcdp_to_approx(mo.pure(1), "0.1"), "kind 'zcdp'"),
        (lambda: zcdp_to_approx(mo.zcdp(1), 0), "strictly between"),
        (lambda: zcdp_to_approx(mo.zcdp(1), "much"), "delta"),
        (lambda: pure_to_approx(mo.pure(1), 1), "below 1"),
        (lambda: approx_to_zcdp(mo.zcdp(1)), "kind 'approx'"),
        (lambda: approx_to_zcdp(mo.Budget("approx", Fraction(1))), "has no δ"),
        (lambda: composed([ApproxDP(Fraction(1), Fraction(1, 10))], "0.1"), "above the δ"),
        (lambda: composed([], 1), "below 1"),
    ],
)
def test_wrong_arguments(wrong, text) -> None:
    with pytest.raises(InvalidArgument, match=text):
        wrong()


def test_a_filter_admits_what_fits_and_its_odometer_adds_up() -> None:
    budget = Filter(mo.zcdp(1))
    assert budget.admit(PureDP(Fraction(1))) == mo.zcdp("0.5")
    assert budget.admit(RangeDP(Fraction(1))) == mo.zcdp("0.125")
    with pytest.raises(mo.BudgetExceeded, match="nothing was charged"):
        budget.admit(ZCDP(Fraction(3, 8) + Fraction(1, 10**30)))
    assert budget.spent == mo.zcdp("0.625")
    budget.admit(ZCDP(Fraction(3, 8)))
    assert budget.remaining.amount == 0


def test_a_filter_counts_epsilon_and_delta_apart() -> None:
    budget = Filter(mo.approx(1, "1e-6"))
    budget.admit(ApproxDP(Fraction(1, 2), Fraction(1, 10**6)))
    with pytest.raises(mo.BudgetExceeded):
        budget.admit(ApproxDP(Fraction(1, 10**9), Fraction(1, 10**9)))
    budget.admit(PureDP(Fraction(1, 2)))
    with pytest.raises(InvalidArgument, match="zCDP"):
        budget.admit(ZCDP(Fraction(1)))
    with pytest.raises(InvalidArgument, match="budget must come from"):
        Filter(1)
