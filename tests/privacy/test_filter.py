"""A filter that is shared, copied or forked is spent once."""

import copy
import os
import pickle
import sys
import threading
from fractions import Fraction

import pytest

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.privacy.accountant import Filter
from modicum.privacy.event import PureDP


@pytest.mark.parametrize("parts", [7, 2000])
def test_threads_that_share_a_filter_spend_it_once(parts) -> None:
    budget, paid = Filter(mo.pure(1)), []
    cost = Fraction(1, parts)

    def work() -> None:
        for _ in range(parts):
            try:
                budget.admit(PureDP(cost))
            except mo.BudgetExceeded:
                continue
            paid.append(cost)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(before)
    assert (sum(paid), budget.spent, budget.remaining.amount) == (1, mo.pure(1), 0)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_filter_has_no_twin(twin) -> None:
    with pytest.raises(TypeError, match=r"copied|copyable|copy|NoneType"):
        twin(Filter(mo.zcdp(1)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_cannot_spend_a_filter(monkeypatch) -> None:
    budget = Filter(mo.pure(1))
    budget.charge(mo.pure("0.25"))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(InvalidArgument, match="forked process"):
        budget.admit(PureDP(Fraction(1, 4)))
    assert budget.spent == mo.pure("0.25")
