"""What is drawn in a range about a window keeps its claim, in every window."""

import math

import pytest

from modicum import audit
from modicum import query as ask
from tests.audit.counted import KINDS, same_steps, windows_of

COSTS = ({"epsilon": 1}, {"rho": "0.5"})
WINDOWS = windows_of(ask.median(epsilon=1), (2, 1), (-900, 2))
BRANCHES = {
    KINDS: ((5, 90), (0, 9000)),
    "count, again": ((80,),),
    "window": WINDOWS,
    "records seen there": ((0,), (400,)),
    "count": ((90,), (9000,)),
    "quantile": (0, 1 << 45),
    "lower quantile": (0,),
    "upper quantile": (1 << 45,),
    "lower quantile's ends": (0,),
}
ASKED = {
    "median": ask.median,
    "quantile far out": lambda **cost: ask.quantile(q="0.99", **cost),
    "iqr": ask.iqr,
}


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("name", ASKED)
def test_the_claim_is_kept_in_every_window(name, cost) -> None:
    pairs = audit.neighbours((0.0, 1.0, -6.0, math.nan)[: 4 - ("rho" in cost)], 2)
    report = audit.check(ASKED[name](**cost), pairs, values=BRANCHES, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert used[KINDS] > 0.99


@pytest.mark.parametrize("question", [ask.median(epsilon=1), ask.iqr(epsilon=1)], ids=str)
def test_wholly_different_tables_take_the_same_steps(question) -> None:
    same_steps(question, [(0, 9000), WINDOWS[0]], answered=False)
