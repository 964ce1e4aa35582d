"""A budget is divided exactly, and what a share buys costs no more than the share."""

from fractions import Fraction

import pytest

from modicum.errors import InvalidArgument
from modicum.mechanisms.additive import add_noise, noise_sd
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import TargetScore
from modicum.privacy.event import ZCDP, ApproxDP, Event, PureDP, RangeDP
from modicum.privacy.split import BudgetSplit

WHOLES = [PureDP(Fraction(1, 3)), RangeDP(Fraction(2)), ZCDP(Fraction(1, 7))]
SHARES = [Fraction(1, 50), Fraction(2, 7), Fraction(1)]


@pytest.mark.parametrize("whole", WHOLES, ids=str)
@pytest.mark.parametrize("part", SHARES, ids=str)
def test_sizes_cost_no_more_than_their_share_and_hardly_less(whole: Event, part: Fraction) -> None:
    split = BudgetSplit(whole)
    share, amount = split.share(part), split.total * part
    for event in (PureDP(share.pure), RangeDP(share.range), share.ranged[1]):
        assert 0.999999 * amount < event.cost(whole.kind).amount <= amount
    assert share.loss.cost(whole.kind).amount == amount
    assert share.zcdp == (amount if whole.concentrated else None)


@pytest.mark.parametrize("whole", WHOLES, ids=str)
def test_draws_spend_the_budget_to_the_end(whole: Event) -> None:
    split, score = BudgetSplit(whole), TargetScore((9, 4, 0), 2)
    mechanisms = [
        split.spend(add_noise((3,), split.share(Fraction(1, 3)), sensitivity=1)),
        split.spend(Exponential(score, *split.share(Fraction(1, 3)).ranged)),
        split.spend(Exponential(score, *split.rest().ranged)),
    ]
    assert split.left == 0
    assert sum(mechanism.event.cost(whole.kind).amount for mechanism in mechanisms) == split.total
    with pytest.raises(AssertionError, match="more than its budget"):
        split.spend(mechanisms[0])


@pytest.mark.parametrize("whole", WHOLES, ids=str)
def test_a_share_for_a_strength_has_it(whole: Event) -> None:
    split, strength = BudgetSplit(whole), 0.2
    size = strength * float(split.scale)
    for use, reached in (
        ("range", lambda share: float(share.range)),
        ("subsample", lambda share: float(share.pure)),
        ("noise", lambda share: 2**0.5 / noise_sd(share)),
    ):
        share = split.share(split.part_for(strength, use))
        assert 0.95 * size < reached(share) < 1.05 * size, use
    assert float(split.share(split.part_for_range(size)).range) == pytest.approx(size, rel=1e-4)


def test_a_loss_with_a_delta_is_no_budget_of_a_statistic() -> None:
    with pytest.raises(InvalidArgument, match="needs a δ"):
        BudgetSplit(ApproxDP(Fraction(1), Fraction(1, 10**6)))
