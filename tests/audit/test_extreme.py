"""A maximum keeps its claim through every branch, on all small neighbouring data: of any range."""

import math
from typing import Any

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from tests.audit.counted import KINDS, below_a_step, kinds_of, same_steps, windows_of

COSTS = ({"epsilon": 1}, {"rho": "0.5"})
ANY = windows_of(ask.max(epsilon=1), (1, 0), (2, 1), (-900, 2))
BRANCHES: dict[str, Any] = {
    KINDS: ((5, 90), (0, 700), (3000, 2500)),
    "count, again": ((80,), (700,)),
    "window": ANY,
    "records seen there": ((0,), (400,)),
    "rough mean": ((1 << 40, 1 << 40),),
    "point": (0, 3 << 29, 9 << 30),
}
GIVEN = {"within": (-1024, 1024), "step": 1}


def _within(query: Any) -> dict[str, Any]:
    numbers = ((5, 30), (0, 100), (0, 700), (3000, 2500))
    windows = windows_of(query, (2, 1), (5, 3), (10, 1))
    more = {KINDS: kinds_of(query, numbers), "window": windows, "rough mean": ((1 << 12, 1 << 11),)}
    return BRANCHES | more | {"point": (0, 600)}


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("question", [ask.max, ask.min])
def test_an_extreme_keeps_the_claim_on_every_branch_and_uses_it(question, cost) -> None:
    pairs = audit.neighbours((0.0, 1.0, -6.0, math.nan)[: 4 - ("rho" in cost)], 2)
    report = audit.check(question(**cost), pairs, values=BRANCHES, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert set(BRANCHES) <= set(used)
    assert used["records near the point"] > 0.99
    assert used["point"] > 0.5


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_so_does_one_in_a_range(cost) -> None:
    query = ask.max(**GIVEN, **cost)
    pairs = audit.neighbours((0.0, 5.0, -1024.0), 2)
    report = audit.check(query, pairs, values=_within(query), widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed


def test_values_below_a_step_are_looked_for() -> None:
    query = ask.max(within=(-1e9, 1e9), epsilon=1)
    below_a_step(
        query, {"window": windows_of(query, (2, 1)), "rough mean": ((5, 3),), "point": (9,)}
    )


def test_more_records_than_an_extreme_keeps() -> None:
    """Those beyond what is kept have a negligible weight, and cost nothing more."""
    query = ask.max(**GIVEN, epsilon=64)
    values = {
        KINDS: kinds_of(query, [(0, 9000)]),
        "window": windows_of(query, (5, 3)),
        "rough mean": ((1 << 12, 1 << 11),),
    }
    table = tuple(np.linspace(-9, 9, 60).tolist())
    report = audit.check(query, [(table, (*table, 8.0))], values=values, widths=(0,))
    assert report.passed, report


@pytest.mark.parametrize("numbers", [(0, 700), (0, 9000)])
def test_wholly_different_tables_take_the_same_steps(numbers) -> None:
    again, seen = ([each] * (numbers[1] < 1500) for each in ((700,), (400,)))
    walk = [numbers, *again, ANY[1], *seen, (1 << 40, 1 << 40), 1 << 40, (30, 90)]
    same_steps(ask.max(epsilon=1), walk, answered=True)
