"""Events, their costs, conversions, units."""

import math
import pickle
from fractions import Fraction

import pytest

from modicum.errors import InvalidArgument
from modicum.privacy.accountant import total
from modicum.privacy.budget import approx, pure, zcdp
from modicum.privacy.event import ZCDP, ApproxDP, PureDP, RangeDP, event_of
from modicum.privacy.unit import Unit, unit_of

ONE = Fraction(1)


def test_costs() -> None:
    assert PureDP(ONE).cost("pure") == pure(1)
    assert PureDP(ONE).cost("zcdp") == zcdp("0.5")
    assert RangeDP(ONE).cost("pure") == pure(1)
    assert RangeDP(ONE).cost("zcdp") == zcdp("0.125")
    assert ZCDP(ONE).cost("zcdp") == zcdp(1)
    assert PureDP(ONE).cost("approx").delta == 0


@pytest.mark.parametrize("kind", ["pure", "approx"])
def test_concentrated_has_no_silent_cost_elsewhere(kind) -> None:
    with pytest.raises(InvalidArgument, match="zCDP"):
        ZCDP(ONE).cost(kind)


def test_composition_adds() -> None:
    events = [PureDP(ONE), RangeDP(ONE * 2)]
    assert total(events, "pure") == pure(3)
    assert total(events, "zcdp") == zcdp(1)
    assert total([], "pure").amount == 0


def test_the_event_of_a_budget() -> None:
    assert event_of(pure(2)) == PureDP(ONE * 2)
    assert event_of(zcdp(2)) == ZCDP(ONE * 2)
    assert event_of(approx(2, "1e-6")) == PureDP(ONE * 2)


def test_group_privacy_and_swap() -> None:
    unit = unit_of(rows=4)
    assert unit.per_row(PureDP(ONE)) == PureDP(ONE / 4)
    assert unit.per_row(RangeDP(ONE)) == RangeDP(ONE / 4)
    assert unit.per_row(ZCDP(ONE)) == ZCDP(ONE / 16)
    assert ZCDP(ONE).swapped() == ZCDP(ONE * 4)
    assert RangeDP(ONE).swapped() == RangeDP(ONE * 2)
    assert str(unit) == "one person with at most 4 rows"
    assert str(Unit()) == "one row"


def test_delta_of_several_rows_and_of_a_swap() -> None:
    """Group privacy of (ε, δ): m rows at (ε, δ) have (m ε, δ (1 + e^ε + ... + e^((m-1) ε)))."""
    event = ApproxDP(ONE, Fraction(1, 10**6))
    for rows in (2, 5):
        one = event.per_record(rows)
        assert one.epsilon == ONE / rows
        together = sum(math.exp(i / rows) for i in range(rows)) * float(one.delta)
        assert together == pytest.approx(1e-6, rel=1e-12)
    swapped = event.swapped()
    assert swapped.epsilon == 2
    assert float(swapped.delta) == pytest.approx((1 + math.e) * 1e-6, rel=1e-12)


def test_a_person_in_several_groups_pays_for_each() -> None:
    unit = unit_of("id", combine="mean").in_groups(4)
    assert unit.per_row(PureDP(ONE)) == PureDP(ONE / 4)
    assert unit.per_row(ZCDP(ONE)) == ZCDP(ONE / 4)
    assert unit.per_row(ApproxDP(ONE, ONE / 8)) == ApproxDP(ONE / 4, ONE / 32)


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "2"])
def test_bad_units(rows) -> None:
    with pytest.raises(InvalidArgument, match="rows"):
        unit_of(rows=rows)


def test_units_say_who_is_protected() -> None:
    units = {
        "one row": unit_of(rows=1),
        "one person (id) with at most 1 row each, at random": unit_of("id", max_rows=1),
        "one person (id) with at most 5 rows each, the first by day": unit_of(
            "id", max_rows=5, order_by="day"
        ),
        "one person (id) with the sum of their rows": unit_of("id", combine="sum"),
    }
    for text, unit in units.items():
        assert str(unit) == text
        assert eval(repr(unit), {"unit_of": unit_of}) == unit
        assert pickle.loads(pickle.dumps(unit)) == unit


def test_a_person_with_many_rows_shares_the_cost() -> None:
    bounded, combined = unit_of("id", max_rows=4, order_by="t"), unit_of("id", combine="mean")
    for event, share in (
        (PureDP(ONE), PureDP(ONE / 4)),
        (RangeDP(ONE), RangeDP(ONE / 4)),
        (ZCDP(ONE), ZCDP(ONE / 16)),
    ):
        assert bounded.per_row(event) == share
        assert combined.per_row(event) == event


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "say whose a row is"),
        ({"max_rows": 3}, "need the column"),
        ({"combine": "mean"}, "need the column"),
        ({"rows": 1, "order_by": "t"}, "need the column"),
        ({"column": "id", "rows": 3}, "rows=3 is a declaration"),
        ({"column": "id", "max_rows": 3, "combine": "mean"}, "or neither for all rows"),
        ({"column": "id", "order_by": "t"}, "give max_rows= too"),
        ({"column": "id", "combine": "mean", "order_by": "t"}, "give max_rows= too"),
        ({"column": "id", "combine": "median"}, "left out .* got 'median'"),
        ({"column": "id", "max_rows": 0}, "positive integer, got 0"),
        ({"column": "id", "max_rows": True}, "positive integer, got True"),
        ({"column": 3, "max_rows": 1}, "the name of one column, got 3: several"),
        ({"column": "id", "max_rows": 1, "order_by": 3}, "the name of one column, got 3: several"),
        ({"column": "id", "max_rows": 1, "order_by": "id"}, "not which come first"),
    ],
)
def test_one_rule_is_named(arguments, text) -> None:
    with pytest.raises(InvalidArgument, match=text):
        unit_of(**arguments)


def test_units_made_by_hand_are_checked() -> None:
    for arguments in ({"combine": "mean"}, {"order_by": "t"}):
        with pytest.raises(InvalidArgument, match="name the column"):
            Unit(**arguments)
    with pytest.raises(InvalidArgument, match="one record"):
        Unit(2, "id", combine="sum")


@pytest.mark.parametrize(
    "event",
    [
        PureDP(Fraction(1)),
        RangeDP(Fraction(2)),
        ZCDP(Fraction(1, 2)),
        ApproxDP(Fraction(1), Fraction(1, 10**6)),
    ],
    ids=str,
)
def test_pure_draws_of_one_keep_it_and_larger_ones_do_not(event) -> None:
    assert event.implied_by_pure(Fraction(1))
    assert not event.implied_by_pure(Fraction(101, 100))
