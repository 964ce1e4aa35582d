"""A spread keeps its claim through every branch, on all small neighbouring data: of any range.

So it does in a range that is given, and so does a skewness, which takes the same steps.
"""

import math
from typing import Any

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from tests.audit.counted import (
    COARSE,
    KINDS,
    around_some,
    below_a_step,
    kinds_of,
    same_steps,
    windows_of,
)
from tests.audit.test_found_mean import (
    BRANCHES,
    COSTS,
    FAR,
    FEWER,
    GIVEN,
    INSIDE,
    INSIDE_FEWER,
    NARROW,
    RINGS,
    WIDE,
    WINDOWS,
)

SLOW = pytest.mark.slow
# No shape of the tail is drawn, and what is left is always for the powers.
NONE = {"shape", "mean between the bounds", "mean over the range", "deviations from the rough mean"}
ALL, LESS, ALL_INSIDE, LESS_INSIDE = (
    {name: values for name, values in each.items() if name not in NONE}
    for each in (BRANCHES, FEWER, INSIDE, INSIDE_FEWER)
)
ASKED = (ask.var, ask.std, ask.skewness)
QUESTIONS = pytest.mark.parametrize("question", ASKED, ids=lambda each: each.__name__)


def used_by(question, cost) -> float:
    """Part of the claim; the three powers of a record are not 7 cubes in L2 norm, but sqrt(21)."""
    return 0.4 if question is ask.skewness and "rho" in cost else 0.8


@QUESTIONS
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("branches", [LESS, pytest.param(ALL, marks=SLOW)], ids=["few", "all"])
def test_the_claim_is_kept_on_every_branch_and_used(branches, cost, question) -> None:
    points = (0.0, 1.0, -6.0, math.nan) if "epsilon" in cost else (0.0, 1.0, -6.0)
    pairs = audit.neighbours(points, 2)
    report = audit.check(question(**cost), pairs, values=branches, widths=(0, 0, 0, 0, 0))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > used_by(question, cost)  # by the records and outcomes tried
    used = {step.label: step.used for step in report.steps}
    assert set(branches) <= set(used)
    assert used["zeros and other values"] > 0.99
    assert used["records near the bounds"] > 0.99


@QUESTIONS
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize(
    "branches", [LESS_INSIDE, pytest.param(ALL_INSIDE, marks=SLOW)], ids=["few", "all"]
)
def test_the_claim_is_kept_in_a_range_on_every_branch_and_used(branches, cost, question) -> None:
    points = (0.0, 1.0, -6.0, math.nan) if "epsilon" in cost else (0.0, 5.0, -1024.0)
    query = question(**GIVEN, **cost)
    report = audit.check(query, audit.neighbours(points, 2), values=branches, widths=(0,))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > used_by(question, cost)
    used = {step.label: step.used for step in report.steps}
    assert set(branches) <= set(used)
    for label in (
        *(KINDS, "records seen there", "rough mean in the window", "radius", "radii"),
        "records near the bounds",
    ):
        assert used[label] > 0.99, label


@SLOW
@QUESTIONS
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("within", [{}, GIVEN], ids=["any range", "a range"])
def test_a_record_far_away_costs_no_more(within, cost, question) -> None:
    pairs = audit.neighbours((1.0, 1e300, -1e-300, math.inf), 3)
    values = LESS | {"window": (*WINDOWS[:1], *FAR), "radii": ((9, 20),)}
    values = LESS_INSIDE if within else values
    report = audit.check(question(**within, **cost), pairs, values=values, widths=(0, 0, 0, 0, 0))
    assert report.passed, report


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_window_of_some_records_costs_what_it_may(cost) -> None:
    """All of them are looked at, and their score is more than the least."""
    query = ask.std(**GIVEN, **cost)
    values = {
        KINDS: kinds_of(query, ((0, 100), (0, 2500), (60, 60))),
        "count, again": ((100,),),
        "window": windows_of(query, (3, 0)),
        "records seen there": ((400,),),
    }
    report = audit.check(query, around_some(110, 4.0), values=values, widths=(0,))
    assert report.passed, report
    assert {step.label: step.used for step in report.steps}["window"] > 0.99


@QUESTIONS
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_what_a_step_hides_is_looked_for_in_a_finer_range(cost, question) -> None:
    """[mean.16] Nobody, few, some and many are found there."""
    values = LESS | {"radii": ((9, 20),)}
    report = below_a_step(question(within=(-1e9, 1e9), **cost), values)
    used = {step.label: step.used for step in report.steps}
    for label in (KINDS, "octave", "top", f"{KINDS}, 2", "records near the bounds"):
        assert used[label] > 0.99, label


def walks(power: tuple[int, ...], *, within: bool) -> dict[str, list[Any]]:
    """Outcomes of every draw of a walk; of one to a finer range the first."""
    pair, rough = (1 << 40, 1 << 30), [1 << 40]
    if not within:
        return {
            "few": [(5, 90), (80,), WINDOWS[0], (400,), pair, power],
            "some": [(0, 700), (700,), WINDOWS[0], (400,), rough, (60,), pair, RINGS, power],
            "many": [(0, 9000), WINDOWS[0], 3, (9, 40), pair, RINGS, power],
        }
    some = [(0, 0, 700), (700,), NARROW[0], (400,), (1 << 9,), (6,), pair, RINGS, power]
    return {
        "the range": [(5, 0, 30), pair, power],
        "beside zeros": [(900, 0, 30), pair, power],
        "wide": [(0, 0, 700), (700,), WIDE[0], pair, power],
        "wide, and many": [(0, 0, 9000), WIDE[0], 3, (9, 12), pair, RINGS, power],
        "wide, and zeros": [(9000, 0, 4000), WIDE[0], pair, power],
        "not seen": [(0, 0, 700), (700,), NARROW[0], (0,), pair, power],
        "some": some,
        "many": [(0, 0, 9000), NARROW[1], 3, (9, 12), pair, RINGS, power],
        "hidden": [COARSE, (15_000,), 990],
    }


@QUESTIONS
def test_wholly_different_tables_take_the_same_steps(question) -> None:
    """What is drawn, and what is said, depends on the data through outcomes alone."""
    power = (1 << 40, 1 << 30, 5)[: 3 if question is ask.skewness else 2]
    rng = np.random.default_rng(5)
    tables = [np.zeros(400), 1e9 + rng.normal(size=60_000), rng.lognormal(-9, 4, 5000), np.empty(0)]
    for walk in walks(power, within=False).values():
        assert audit.leaks(question(epsilon=1), tables, walk) is None, walk
    for name, walk in walks(power, within=True).items():
        same_steps(question(**GIVEN, epsilon=1), walk, answered=name != "hidden")
