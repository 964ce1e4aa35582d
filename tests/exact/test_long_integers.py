"""Integers of more digits than Python writes: refused as other numbers that are too large."""

from fractions import Fraction

import pandas as pd
import pytest

import modicum as mo

LONG = 10**5000
TABLE = pd.DataFrame({"x": [1.0, 2, 3] * 99, "g": ["a", "b", "c"] * 99})
CALLS = {
    "epsilon": lambda c: c.count(epsilon=LONG),
    "a negative one": lambda c: c.count(epsilon=-LONG),
    "a fraction": lambda c: c.count(epsilon=Fraction(LONG, 3)),
    "a small one": lambda c: c.count(epsilon=Fraction(1, LONG)),
    "pure": lambda _: mo.pure(LONG),
    "zcdp": lambda _: mo.zcdp(LONG),
    "delta": lambda _: mo.approx(1, LONG),
    "within": lambda c: c.mean("x", within=(0, LONG), epsilon=1),
    "step": lambda c: c.mean("x", within=(0, 9), step=LONG, epsilon=1),
    "q": lambda c: c.quantile("x", q=LONG, within=(0, 9), epsilon=1),
    "several q": lambda c: c.quantiles("x", q=[LONG], within=(0, 9), epsilon=1),
    "key": lambda c: c.group_by("g", keys=[LONG]),
    "column": lambda c: c.mean(LONG, within=(0, 9), epsilon=1),
    "by": lambda c: c.group_by(LONG, keys=["a"]),
    "edges": lambda c: c.histogram("x", edges=[0, LONG], epsilon=1),
    "points": lambda c: c.cdf("x", points=[-LONG], epsilon=1),
    "rows": lambda _: mo.unit_of("g", max_rows=LONG),
    "groups": lambda c: c.crosstab("g", keys=["a"], max_groups=LONG, epsilon=1),
    "level": lambda c: c.count(epsilon=1).interval(LONG),
    "tail": lambda c: c.count(epsilon=1).interval(0.9, LONG),
    "digits": lambda c: c.count(epsilon=1).publish(digits=LONG),
    "plan": lambda _: mo.plan.mean(n=LONG, sd=1, within=(0, 9), epsilon=1),
    "ledger": lambda _: mo.Ledger(LONG),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_is_refused(call) -> None:
    with pytest.raises(mo.ModicumError) as caught:
        CALLS[call](mo.Curator(TABLE, budget=mo.approx(9, "1e-3")))
    assert len(str(caught.value)) < 400
