"""Budgets are exact and refuse nonsense."""

import pickle
from fractions import Fraction

import pytest

from modicum.errors import InvalidArgument
from modicum.privacy.budget import Budget, approx, chosen_budget, decimal_text, pure, zcdp


def test_a_float_is_read_as_its_shortest_decimal() -> None:
    assert pure(0.1).amount == Fraction(1, 10)
    assert pure("0.1") == pure(Fraction(1, 10)) == pure(0.1)


@pytest.mark.parametrize("bad", [0, -1, "-0.5", float("nan"), float("inf"), "one", True, None, ""])
@pytest.mark.parametrize("make", [pure, zcdp])
def test_bad_amounts_are_refused(make, bad) -> None:
    with pytest.raises(InvalidArgument, match=r"epsilon|rho"):
        make(bad)


@pytest.mark.parametrize("delta", [0, 1, 2, -1e-6, float("nan")])
def test_bad_delta_is_refused(delta) -> None:
    with pytest.raises(InvalidArgument, match="delta"):
        approx(1, delta)


def test_kinds_do_not_mix() -> None:
    with pytest.raises(InvalidArgument, match="cannot be combined"):
        pure(1) + zcdp(1)
    with pytest.raises(InvalidArgument, match="cannot be combined"):
        _ = pure(1) <= approx(1, "1e-6")


def test_comparison_is_by_coordinate() -> None:
    assert approx(1, "1e-6") <= approx(2, "1e-6")
    assert not approx(1, "1e-5") <= approx(2, "1e-6")


def test_ten_tenths_are_one() -> None:
    assert sum([pure("0.1")] * 9, start=pure("0.1")) == pure(1)


def test_both_amounts_add_up() -> None:
    whole = approx(1, "3e-6") + approx(2, "1e-6")
    assert (whole.amount, whole.delta) == (3, Fraction("4e-6"))
    assert whole - approx(2, "1e-6") == approx(1, "3e-6")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 10**6), "0.000001"),
        (Fraction(2, 3), "2/3"),
        (Fraction(1, 2**60), "1/1152921504606846976"),
    ],
)
def test_decimal_text(x, text) -> None:
    assert decimal_text(x) == text
    assert Fraction(text) == x


def test_repr_and_pickle_round_trip() -> None:
    for budget in (pure("0.3"), zcdp("0.125"), approx(1, "1e-9")):
        assert eval(repr(budget)) == budget
        assert pickle.loads(pickle.dumps(budget)) == budget


def test_exactly_one_cost_is_chosen() -> None:
    assert chosen_budget(1, None, None) == pure(1)
    assert chosen_budget(None, 1, None) == zcdp(1)
    assert chosen_budget(None, None, approx(1, "1e-6")).kind == "approx"
    for none_or_many in [(None, None, None), (1, 1, None), (1, None, pure(1))]:
        with pytest.raises(InvalidArgument, match="exactly one"):
            chosen_budget(*none_or_many)
    with pytest.raises(InvalidArgument, match="budget must come from"):
        chosen_budget(None, None, 1.0)
    with pytest.raises(InvalidArgument, match="positive"):
        chosen_budget(None, None, Budget("pure", Fraction(0)))


@pytest.mark.parametrize(
    "wrong",
    [
        ("foo", Fraction(1)),
        (["pure"], Fraction(1)),
        ("pure", 1.0),
        ("pure", float("nan")),
        ("zcdp", True),
        ("zcdp", "1"),
        ("pure", Fraction(-1)),
        ("approx", Fraction(1), Fraction(-1, 2)),
        ("approx", Fraction(1), 1e-6),
        ("pure", Fraction(1), Fraction(1, 2)),
    ],
)
def test_a_budget_checks_its_kind_and_amounts(wrong) -> None:
    with pytest.raises(InvalidArgument, match="budget"):
        Budget(*wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        Budget("approx", Fraction(1), Fraction(5)),
        Budget("approx", Fraction(1), Fraction(1)),
        Budget("pure", Fraction(0)),
        Budget("zcdp", Fraction(10**101)),
    ],
)
def test_what_cannot_be_a_budget_is_refused_where_it_is_given(wrong) -> None:
    with pytest.raises(InvalidArgument, match="budget"):
        chosen_budget(None, None, wrong)
