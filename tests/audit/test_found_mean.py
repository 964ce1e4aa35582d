"""A mean keeps its claim through every branch, on all small neighbouring data: of any range.

So it does in a range that is given, and where that is looked at again for its step is too coarse.
"""

import inspect
import math
from typing import Any

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.mechanisms.windows import DataWindow, WindowGrid
from modicum.statistics.means.mean import mean_near
from modicum.statistics.ranges import window
from tests.audit.counted import (
    COARSE,
    KINDS,
    RINGS,
    around_some,
    below_a_step,
    kinds_of,
    same_steps,
    told_apart,
    windows_of,
)

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
    "deviations from the rough mean": ((5,),),
    "mean between the bounds": ((1 << 40, 1 << 30),),
}
LAST = {"mean over the range": ((1 << 20, 1 << 10),)}
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


# What is asked besides: no shape is drawn for groups that are kept.
OPTIONS = {"keep": {"clusters": "keep"}, "population": {"population": True}}
OPTIONS["both"] = OPTIONS["keep"] | OPTIONS["population"]


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [False, True], ids=["any range", "a range"])
@pytest.mark.parametrize("name", [*list(OPTIONS)[:2], pytest.param("both", marks=SLOW)])
def test_groups_are_kept_and_populations_asked_about_at_the_same_claim(name, within, cost) -> None:
    query = ask.mean(**OPTIONS[name], **(GIVEN if within else {}), **cost)
    branches = (INSIDE_FEWER if within else FEWER) | {"squares about the middle": ((1 << 20,),)}
    points = (0.0, 1.0, -1024.0 if within else -6.0)
    report = audit.check(query, audit.neighbours(points, 2), values=branches, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.8
    used = {step.label: step.used for step in report.steps}
    for label in ("radius", "radii", "records near the bounds", "deviations from the rough mean"):
        assert used[label] > (0.9 if within else 0.3), label
    assert ("squares about the middle" in used) == (name != "keep")


@SLOW
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_record_far_away_costs_no_more(cost) -> None:
    pairs = audit.neighbours((1.0, 1e300, -1e-300, math.inf), 3)
    values = FEWER | {"window": (*WINDOWS[:1], *FAR)}
    report = audit.check(ask.mean(**cost), pairs, values=values, widths=(0, 0, 0, 0, 0))
    assert report.passed, report


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


SOME = around_some(110, 4.0)

GIVEN = {"within": (-1024, 1024), "step": 1}
WITHIN = ask.mean(**GIVEN, epsilon=1)
NARROW = windows_of(WITHIN, (2, 1), (3, 0), (5, 3))
WIDE = windows_of(WITHIN, (10, 1))
# The whole range, as there are few others, and as the window is wide; a window that is not
# confirmed; few, some and many records in one that is. So does one beside the range.
BESIDE = windows_of(WITHIN, (11, -3))
INSIDE = (
    BRANCHES
    | LAST
    | {
        KINDS: kinds_of(
            WITHIN, ((5, 30), (900, 30), (0, 100), (0, 700), (3000, 2500), (0, 30_000))
        ),
        "count, again": ((100,), (700,)),
        "window": (*NARROW[1:], *WIDE, *BESIDE),
        "radius": ((0,), (20,)),
        "radii": ((0, 0), (9, 20)),
    }
)
INSIDE_FEWER = (
    FEWER
    | LAST
    | {
        KINDS: INSIDE[KINDS],
        "window": (*NARROW[:1], *WIDE),
        "radii": INSIDE["radii"][1:],
    }
)


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize(
    "branches", [INSIDE_FEWER, pytest.param(INSIDE, marks=SLOW)], ids=["few", "all"]
)
def test_the_claim_is_kept_in_a_range_on_every_branch_and_used(branches, cost) -> None:
    points = (0.0, 1.0, -6.0, math.nan) if "epsilon" in cost else (0.0, 5.0, -1024.0)
    query = ask.mean(**GIVEN, **cost)
    report = audit.check(query, audit.neighbours(points, 2), values=branches, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.9
    used = {step.label: step.used for step in report.steps}
    assert {*BRANCHES, *LAST} - set(used) <= ({"shape"} if "rho" in cost else set())
    for label in (
        *(KINDS, "records seen there", "rough mean in the window", "radius", "radii"),
        *("records near the bounds", "deviations from the rough mean", "mean over the range"),
    ):
        assert used[label] > 0.99, label


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [None, GIVEN], ids=["any range", "a range"])
def test_a_window_of_some_records_costs_what_it_may(within, cost) -> None:
    """All of them are looked at, and their score is more than the least."""
    query = ask.mean(**(within or {}), **cost)
    values = {
        KINDS: kinds_of(query, ((0, 100), (0, 2500), (60, 60))),
        "count, again": ((100,),),
        "window": windows_of(query, (3, 0)),
        "records seen there": ((400,),),
    }
    report = audit.check(query, SOME, values=values, widths=(0,))
    assert report.passed, report
    used = {step.label: step.used for step in report.steps}
    assert used["window"] > 0.99


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_record_far_beyond_a_range_costs_no_more(cost) -> None:
    pairs = audit.neighbours((1.0, 1e300, -1e-300, -math.inf), 3)
    query = ask.mean(**GIVEN, **cost)
    report = audit.check(query, pairs, values=INSIDE_FEWER, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_what_a_step_hides_is_looked_for_in_a_finer_range(cost) -> None:
    """[mean.16] Nobody, few, some and many are found there."""
    report = below_a_step(ask.mean(within=(-1e9, 1e9), **cost), FEWER)
    assert report.used > 0.9
    used = {step.label: step.used for step in report.steps}
    for label in (KINDS, "octave", "top", f"{KINDS}, 2", "records near the bounds"):
        assert used[label] > 0.99, label


INSIDE_WALKS: dict[str, list[Any]] = {
    "few": [(5, 0, 30), (1 << 20, 1 << 10)],
    "few beside zeros": [(900, 0, 30), (1 << 20, 1 << 10)],
    "wide": [(0, 0, 700), (700,), WIDE[0], (1 << 19, 700), (5,)],
    "wide, of few": [(0, 0, 300), (300,), WIDE[0], (1 << 20, 1 << 10)],
    "beside the range": [(0, 0, 300), (300,), BESIDE[0], (1 << 20, 1 << 10)],
    "not seen": [(0, 0, 700), (700,), NARROW[0], (0,), (1 << 20, 1 << 10)],
    "between the ends": [(5, 0, 100), (100,), NARROW[0], (400,), (1 << 9, 1 << 8)],
    "some": [(0, 0, 700), (700,), NARROW[0], (400,), (1 << 9,), (6,), RINGS, (5,)],
    "many": [(0, 0, 9000), NARROW[1], 3, (20, 45), (9, 12), (1 << 9, 9000), RINGS, (5,)],
    "hidden": [COARSE, (15_000,), 990],
}


@pytest.mark.parametrize("walk", INSIDE_WALKS)
def test_wholly_different_tables_take_the_same_steps_in_a_range(walk) -> None:
    same_steps(WITHIN, INSIDE_WALKS[walk], answered=walk != "hidden")


QUARTERS = (-1.0, 0.0, 2.0)


def beside(cost: Any) -> Any:
    """A mean beside quartiles."""
    return mean_near(None, ask.mean(**cost).budget, QUARTERS)


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_the_claim_is_kept_beside_quartiles_on_every_branch_and_used(cost) -> None:
    """Few, some and many records are seen where they say, or a window is drawn after all."""
    query = told_apart(beside(cost))
    values = FEWER | {
        KINDS: ((5, 90), (900, 60), (0, 700), (0, 30_000)),
        "records seen there": ((0,), (4000,)),
        f"{KINDS}, 2": ((0, 100), (0, 700)),
    }
    values |= {f"{label}, 2": values[label] for label in ("count, again", "records seen there")}
    pairs = audit.neighbours((0.0, 1.0, -6.0), 2)
    report = audit.check(query, pairs, values=values, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.8
    used = {step.label: step.used for step in report.steps}
    for label in (KINDS, f"{KINDS}, 2", "records seen there", "radii", "mean between the bounds"):
        assert used[label] > 0.9, label


@pytest.mark.parametrize(
    "walk",
    [
        [(5, 90), (80,), (400,), (1 << 9, 1 << 8)],
        [(0, 700), (700,), (400,), (1 << 9,), (60,), RINGS, (5,)],
        [(0, 9000), (4000,), 3, (20, 45), (9, 40), (1 << 9, 9000), RINGS, (5,)],
        [(0, 9000), (0,), (5, 90), (80,), WINDOWS[0], (400,), (1 << 40, 1 << 30)],
    ],
    ids=["few", "some", "many", "not seen"],
)
def test_wholly_different_tables_take_the_same_steps_beside_quartiles(walk) -> None:
    same_steps(beside({"epsilon": 1}), walk, answered=True)


@pytest.mark.parametrize("name", ["total", "hidden"])
def test_a_branch_by_unreleased_numbers_is_found(name, monkeypatch) -> None:
    """A control: the true number of records, or that of what the step hides, decides."""
    told = {
        "total": ("_counted", "max(sum(numbers), 1)", "max(sum(kinds), 1)"),
        "hidden": ("find_window", "sum(numbers[1", "sum(kinds[1"),
    }
    place, right, wrong = told[name]
    text = inspect.getsource(getattr(window, place))
    assert text.count(right) == 1
    there = dict(vars(window))
    exec(text.replace(right, wrong), there)
    monkeypatch.setattr(window, place, there[place])
    pairs = audit.neighbours((0.0, 1.0, -6.0), 2)
    report = audit.check(WITHIN, pairs, values=INSIDE_FEWER, widths=(0,))
    assert report.passed == (name == "hidden")  # two records are never so many
    tables = [np.zeros(400), np.full(90, 1.0), np.full(90_000, 1.0)]
    assert any(audit.leaks(WITHIN, tables, walk) for walk in INSIDE_WALKS.values())
