"""A mean without a range keeps its claim through every branch, on all small neighbouring data."""

import math
from typing import Any

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.mechanisms.windows import DataWindow, WindowGrid

GRID = WindowGrid.of_floats(3)
SLOW = pytest.mark.slow
COSTS = ({"epsilon": 1}, {"rho": "0.5"})

# Numbers of windows with |m| <= 3 are the same in every grid: about the origin, and beside it.
WINDOWS = tuple(
    GRID.number(each) for each in (DataWindow(1, 0), DataWindow(2, 1), DataWindow(0, 3))
)
FAR = tuple(GRID.number(each) for each in (DataWindow(-900, 2), DataWindow(900, -1)))
# Few, some and many records; with many zeros, and with none.
BRANCHES: dict[str, Any] = {
    "zeros and other values": ((5, 90), (0, 700), (3000, 2500), (0, 30_000)),
    "count, again": ((80,), (700,)),
    "window": WINDOWS[1:],
    "records seen there": ((0,), (400,)),
    "rough mean in the window": ((0,), (1 << 40,)),
    "radius": ((0,), (60,)),
    "centre": (0, 3),
    "shape": ((0, 0), (20, 45)),
    "radii": ((0, 0), (9, 40)),
    "rough mean": ((1 << 50, 1 << 40),),
    "records near the bounds": ((0, 0, 0, 0, 0, 0), (100, 30, 300, 900, 60, 2)),
}
FEWER = BRANCHES | {
    "zeros and other values": ((5, 90), (0, 700), (0, 30_000)),
    "window": WINDOWS[:1],
    "records seen there": ((400,),),
    "rough mean in the window": ((1 << 40,),),
    "radius": ((9,),),
    "centre": (3,),
    "shape": ((20, 45),),
    "radii": ((9, 40),),
    "rough mean": ((1 << 50, 1 << 40),),
    "records near the bounds": ((100, 30, 300, 900, 60, 2),),
}


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize(
    "branches", [FEWER, pytest.param(BRANCHES, marks=SLOW)], ids=["few", "all"]
)
def test_the_claim_is_kept_on_every_branch_and_used(branches, cost) -> None:
    points = (0.0, 1.0, -6.0, math.nan) if "epsilon" in cost else (0.0, 1.0, -6.0)
    pairs = audit.neighbours(points, 2)
    report = audit.check(ask.mean(**cost), pairs, values=branches, widths=(0, 0, 0, 0, 0))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.8  # of ε, by the records and outcomes tried
    used = {step.label: step.used for step in report.steps}
    assert set(BRANCHES) - set(used) <= ({"shape"} if "rho" in cost else set())
    assert used["zeros and other values"] > 0.99
    assert used["records near the bounds"] > 0.99


@SLOW
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_record_far_away_costs_no_more(cost) -> None:
    pairs = audit.neighbours((1.0, 1e300, -1e-300, math.inf), 3)
    values = FEWER | {"window": (*WINDOWS[:1], *FAR)}
    report = audit.check(ask.mean(**cost), pairs, values=values, widths=(0, 0, 0, 0, 0))
    assert report.passed, report


RINGS = (100, 30, 300, 900, 60, 2)
WALKS: dict[str, list[Any]] = {
    "few": [(5, 90), (80,), WINDOWS[0], (400,), (1 << 40, 1 << 30)],
    "some": [(0, 700), (700,), WINDOWS[0], (400,), (1 << 40,), (60,), RINGS, (5,)],
    "many": [(0, 9000), WINDOWS[0], 3, (20, 45), (9, 40), (1 << 50, 1 << 40), RINGS, (5,)],
}


@pytest.mark.parametrize("walk", WALKS)
def test_wholly_different_tables_take_the_same_steps(walk) -> None:
    """What is drawn, and what is said, depends on the data through outcomes alone."""
    rng = np.random.default_rng(5)
    tables = [np.zeros(400), 1e9 + rng.normal(size=60_000), rng.lognormal(-9, 4, 5000), np.empty(0)]
    assert audit.leaks(ask.mean(epsilon=1), tables, WALKS[walk]) is None
