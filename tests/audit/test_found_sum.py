"""A sum keeps its claim through every branch, without a range, in one, and below its step."""

import math
from typing import Any

import pytest

from modicum import audit
from modicum import query as ask
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

SLOW = pytest.mark.slow
COSTS = ({"epsilon": 1}, {"rho": "0.5"})
ANYWHERE = ask.sum(epsilon=1)
GIVEN = {"within": (-1024, 1024), "step": 1}
WITHIN = ask.sum(**GIVEN, epsilon=1)
ABOVE = {"within": (512, 1024), "step": 1}

# Few, some and many records; with many zeros, and with none. At the end, those that have a shape.
BRANCHES: dict[str, Any] = {
    "count, again": ((80,), (700,)),
    "count, again, 2": ((40,),),
    "window": (),
    "records seen there": ((0,), (400,)),
    "shape": ((0, 0), (20, 25)),
    "radius": ((0,), (20,)),
    "records near the bounds": ((0, 0, 0, 0, 0, 0), RINGS),
    "clipped sum": ((1 << 20,),),
}
FEWER = BRANCHES | {
    "records seen there": ((400,),),
    "shape": ((20, 25),),
    "radius": ((9,),),
    "records near the bounds": (RINGS,),
}
NUMBERS = ((5, 90), (0, 700), (3000, 2500), (0, 9000), (0, 60_000))
# In a range also the whole of it, as there are few others, or as the window is wide.
WITH_FEW = ((5, 30), (900, 30), (0, 100), *NUMBERS[1:])
WINDOWS = ((1, 0), (2, 1), (0, 3))
INSIDE = ((3, 0), (2, 1), (10, 1), (11, -3))  # in a range: the third is wide, the last is beside
INSIDE_ABOVE = ((8, 3), (7, 3), (9, 3), (3, 0))  # the second is beside it too


def values_of(query: Any, branches: dict[str, Any], *, every: bool) -> dict[str, Any]:
    """Branches with the noisy numbers and the windows of a query."""
    within = INSIDE_ABOVE if query.ranged and query.lattice.lo > 0 else INSIDE
    found = windows_of(query, *(within if query.ranged else WINDOWS))
    numbers = WITH_FEW if query.ranged else NUMBERS
    return branches | {
        KINDS: kinds_of(query, numbers),
        "window": found if every else (*found[:1], *found[2:3] * query.ranged),
    }


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [{}, GIVEN, ABOVE], ids=["any range", "a range", "above zero"])
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=SLOW)], ids=["few", "all"])
def test_the_claim_is_kept_on_every_branch_and_used(every, within, cost) -> None:
    points = (600.0, 1000.0) if within == ABOVE else (0.0, 1.0, -6.0, math.nan)
    query = told_apart(ask.sum(**within, **cost))
    values = values_of(query, BRANCHES if every else FEWER, every=every)
    # Of a range the end has the largest share of the last draw.
    pairs = audit.neighbours((*points, 1024.0) if within else points[:3], 2)
    report = audit.check(query, pairs, values=values, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > (0.9 if within else 0.8)
    used = {step.label: step.used for step in report.steps}
    missing = ({"shape"} if "rho" in cost else set()) | ({"count, again, 2"} - {*within})
    assert set(BRANCHES) - set(used) <= missing
    for label in (KINDS, "records seen there", "radius", "records near the bounds", "clipped sum"):
        assert used[label] > 0.99, label


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [{}, GIVEN], ids=["any range", "a range"])
def test_groups_are_kept_at_the_same_claim(within, cost) -> None:
    query = told_apart(ask.sum(clusters="keep", **within, **cost))
    values = values_of(query, FEWER, every=False)
    points = (0.0, 1.0, 1024.0 if within else -6.0)
    report = audit.check(query, audit.neighbours(points, 2), values=values, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    used = {step.label: step.used for step in report.steps}
    assert used["radius"] > 0.99
    assert "shape" not in used


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [{}, GIVEN], ids=["any range", "a range"])
def test_a_window_of_some_records_costs_what_it_may(within, cost) -> None:
    """All of them are looked at, and their score is more than the least."""
    query = told_apart(ask.sum(**within, **cost))
    values = values_of(query, FEWER, every=False)
    values |= {KINDS: kinds_of(query, ((0, 100), (0, 2500), (60, 60)))}
    report = audit.check(query, around_some(110, 4.0), values=values, widths=(0,))
    assert report.passed, report
    assert {step.label: step.used for step in report.steps}["window"] > 0.99


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [{}, GIVEN], ids=["any range", "a range"])
def test_a_record_far_away_costs_no_more(within, cost) -> None:
    query = told_apart(ask.sum(**within, **cost))
    values = values_of(query, FEWER, every=False)
    if not within:
        values["window"] = (*values["window"], *windows_of(query, (-900, 2), (900, -1)))
    pairs = audit.neighbours((1.0, 1e300, -1e-300, -math.inf), 2)
    report = audit.check(query, pairs, values=values, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_what_a_step_hides_is_looked_for_in_a_finer_range(cost) -> None:
    """[mean.16] Nobody, few, some and many are found there."""
    report = below_a_step(ask.sum(within=(-1e9, 1e9), **cost), FEWER)
    assert report.used > 0.8
    used = {step.label: step.used for step in report.steps}
    for label in (KINDS, "octave", "top", f"{KINDS}, 2", "radius", "clipped sum"):
        assert used[label] > 0.99, label


def walks_of(query: Any) -> dict[str, list[Any]]:
    """Outcomes of every draw of a walk; of one to a finer range the first."""
    whole = query.ranged
    narrow, _, wide, *beside = windows_of(query, *(INSIDE if whole else WINDOWS))
    of = {n: kinds_of(query, [(0, n)])[0] for n in (30, 100, 300, 700, 2500, 9000)}
    some = [of[700], (700,), narrow, (400,), (9,), RINGS, (5,)]
    many = [of[2500], narrow, (9,), RINGS, (5,)]
    walks = {"few": [of[100], (100,), narrow, (400,), (5,)], "some": some, "many": many}
    walks["many, and a shape"] = [of[9000], narrow, (20, 25), (9,), RINGS, (5,)]
    if whole:
        walks |= {
            "the range": [of[30], (30,), (5,)],
            "wide": [of[700], (700,), wide, (5,)],
            "beside the range": [of[300], (300,), *beside, (300,), (5,)],
            "not seen": [of[300], (300,), narrow, (0,), (300,), (5,)],
            "hidden": [COARSE, (15_000,), 990],
        }
    return walks


@pytest.mark.parametrize("query", [ANYWHERE, WITHIN], ids=["any range", "a range"])
def test_wholly_different_tables_take_the_same_steps(query) -> None:
    """What is drawn, and what is said, depends on the data through outcomes alone."""
    for name, walk in walks_of(query).items():
        same_steps(query, walk, answered=name != "hidden")
