"""Events, their costs, conversions, units."""

import math
from fractions import Fraction

import pytest

from modicum.errors import InvalidArgument
from modicum.privacy.budget import approx, pure, zcdp
from modicum.privacy.compose import approx_to_zcdp, pure_to_zcdp, total, zcdp_to_approx
from modicum.privacy.event import BoundedRange, Concentrated, Pure, cost, event_of
from modicum.privacy.unit import Unit, swap_event, unit_of

ONE = Fraction(1)


def test_costs() -> None:
    assert cost(Pure(ONE), "pure") == pure(1)
    assert cost(Pure(ONE), "zcdp") == zcdp("0.5")
    assert cost(BoundedRange(ONE), "pure") == pure(1)
    assert cost(BoundedRange(ONE), "zcdp") == zcdp("0.125")
    assert cost(Concentrated(ONE), "zcdp") == zcdp(1)
    assert cost(Pure(ONE), "approx").delta == 0


@pytest.mark.parametrize("kind", ["pure", "approx"])
def test_concentrated_has_no_silent_price_elsewhere(kind) -> None:
    with pytest.raises(InvalidArgument, match="zCDP"):
        cost(Concentrated(ONE), kind)


def test_composition_adds() -> None:
    events = [Pure(ONE), BoundedRange(ONE * 2)]
    assert total(events, "pure") == pure(3)
    assert total(events, "zcdp") == zcdp(1)
    assert total([], "pure").amount == 0


def test_the_event_of_a_budget() -> None:
    assert event_of(pure(2)) == Pure(ONE * 2)
    assert event_of(zcdp(2)) == Concentrated(ONE * 2)
    assert event_of(approx(2, "1e-6")) == Pure(ONE * 2)


def test_conversions_round_towards_safety() -> None:
    assert pure_to_zcdp(pure(2)) == zcdp(2)
    rho, delta = 0.5, 1e-6
    exact = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    got = zcdp_to_approx(zcdp("0.5"), Fraction(1, 10**6)).amount
    assert exact <= float(got) + 1e-15
    assert float(got) == pytest.approx(exact, rel=1e-12)
    back = approx_to_zcdp(approx(Fraction(got), "1e-6")).amount
    assert back <= Fraction(1, 2)
    assert float(back) == pytest.approx(0.5, rel=1e-9)


def test_conversions_refuse_the_wrong_kind() -> None:
    with pytest.raises(InvalidArgument, match="kind"):
        pure_to_zcdp(zcdp(1))
    with pytest.raises(InvalidArgument, match="delta"):
        zcdp_to_approx(zcdp(1), Fraction(2))


def test_group_privacy_and_swap() -> None:
    unit = unit_of(rows=4)
    assert unit.per_row(Pure(ONE)) == Pure(ONE / 4)
    assert unit.per_row(BoundedRange(ONE)) == BoundedRange(ONE / 4)
    assert unit.per_row(Concentrated(ONE)) == Concentrated(ONE / 16)
    assert swap_event(Concentrated(ONE)) == Concentrated(ONE * 4)
    assert swap_event(BoundedRange(ONE)) == BoundedRange(ONE * 2)
    assert str(unit) == "one person with at most 4 rows"
    assert str(Unit()) == "one row"


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "2"])
def test_bad_units(rows) -> None:
    with pytest.raises(InvalidArgument, match="rows"):
        unit_of(rows=rows)
