"""The numerical accountant agrees with the exact one."""

from fractions import Fraction

import pytest

from modicum.errors import InvalidArgument
from modicum.privacy.accountant import composed, composed_tightly
from modicum.privacy.event import ZCDP, ApproxDP, Event, PureDP, RangeDP

dp_accounting = pytest.importorskip(
    "dp_accounting", reason="pip install dp-accounting (make test-server does)"
)

TENTH = Fraction(1, 10)


def both(events: list[Event], delta: str) -> tuple[float, float]:
    return float(composed_tightly(events, delta).amount), float(composed(events, delta).amount)


@pytest.mark.parametrize("times", [1, 10, 100])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6"])
def test_it_is_tighter_but_not_by_much(times, delta) -> None:
    tight, ours = both([PureDP(TENTH)] * times, delta)
    assert tight <= ours * (1 + 1e-3)
    assert ours <= 1.35 * tight + 1e-3


def test_one_randomised_response_is_converted_exactly() -> None:
    tight, ours = both([PureDP(Fraction(1))], "0.01")
    assert tight == pytest.approx(ours, abs=2e-4)


def test_epsilon_and_delta_events() -> None:
    tight, ours = both([ApproxDP(TENTH, Fraction(1, 10**8))] * 20, "1e-6")
    assert ours / 1.35 <= tight <= ours
    with pytest.raises(InvalidArgument, match="no ε goes with"):
        composed_tightly([ApproxDP(TENTH, Fraction(1, 10))], "1e-6")


@pytest.mark.parametrize("rho", ["0.001", "0.5", "5"])
def test_rho_is_converted_alike(rho) -> None:
    tight, ours = both([ZCDP(Fraction(rho))], "1e-6")
    assert 0.95 * tight <= ours <= tight * (1 + 1e-12)  # their orders are a coarse grid


def test_mixtures() -> None:
    tight, ours = both([ZCDP(TENTH), PureDP(TENTH), RangeDP(TENTH)], "1e-6")
    assert ours == pytest.approx(tight, rel=1e-3)
    with pytest.raises(InvalidArgument, match="cannot be counted together"):
        composed_tightly([ZCDP(TENTH), ApproxDP(TENTH, TENTH)], "1e-6")
    assert composed_tightly([], "1e-6").amount == 0
    with pytest.raises(InvalidArgument, match="delta"):
        composed_tightly([], 0)
