"""A spread without a range keeps its claim through every branch, on all small neighbouring data."""

import math
from typing import Any

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from tests.audit.test_found_mean import BRANCHES, COSTS, FAR, FEWER, RINGS, WINDOWS

SLOW = pytest.mark.slow
# No shape of the tail is drawn.
ALL, LESS = ({k: v for k, v in each.items() if k != "shape"} for each in (BRANCHES, FEWER))
ASKED = (ask.var, ask.std)


@pytest.mark.parametrize("question", ASKED, ids=lambda each: each.__name__)
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("branches", [LESS, pytest.param(ALL, marks=SLOW)], ids=["few", "all"])
def test_the_claim_is_kept_on_every_branch_and_used(branches, cost, question) -> None:
    points = (0.0, 1.0, -6.0, math.nan) if "epsilon" in cost else (0.0, 1.0, -6.0)
    pairs = audit.neighbours(points, 2)
    report = audit.check(question(**cost), pairs, values=branches, widths=(0, 0, 0, 0, 0))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.8  # of ε, by the records and outcomes tried
    used = {step.label: step.used for step in report.steps}
    assert set(branches) - set(used) <= {
        "mean between the bounds",
        "deviations from the rough mean",
    }
    assert used["zeros and other values"] > 0.99
    assert used["records near the bounds"] > 0.99


@SLOW
@pytest.mark.parametrize("question", ASKED, ids=lambda each: each.__name__)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_record_far_away_costs_no_more(cost, question) -> None:
    pairs = audit.neighbours((1.0, 1e300, -1e-300, math.inf), 3)
    values = LESS | {"window": (*WINDOWS[:1], *FAR), "radii": ((9, 20),)}
    report = audit.check(question(**cost), pairs, values=values, widths=(0, 0, 0, 0, 0))
    assert report.passed, report


PAIR = (1 << 40, 1 << 30)
WALKS: dict[str, list[Any]] = {
    "few": [(5, 90), (80,), WINDOWS[0], (400,), PAIR, PAIR],
    "some": [(0, 700), (700,), WINDOWS[0], (400,), (1 << 40,), (60,), PAIR, RINGS, PAIR],
    "many": [(0, 9000), WINDOWS[0], 3, (9, 40), PAIR, RINGS, PAIR],
}


@pytest.mark.parametrize("walk", WALKS)
def test_wholly_different_tables_take_the_same_steps(walk) -> None:
    """What is drawn, and what is said, depends on the data through outcomes alone."""
    rng = np.random.default_rng(5)
    tables = [np.zeros(400), 1e9 + rng.normal(size=60_000), rng.lognormal(-9, 4, 5000), np.empty(0)]
    for question in ASKED:
        assert audit.leaks(question(epsilon=1), tables, WALKS[walk]) is None
