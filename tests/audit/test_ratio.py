"""Ratios and weighted means: the exact loss of whole releases on small tables, one row apart."""

import functools
import itertools
import math
from typing import Any

import pandas as pd
import pytest

from modicum import audit
from modicum import query as ask
from modicum.mechanisms.windows import DataWindow, WindowGrid
from tests.audit.counted import KINDS, RINGS, sizes_of

# A value or numerator, and a weight or denominator: some rows are missing for one or for both.
POINTS = [(8.0, 1.0), (-8.0, 4.0), (2.0, 0.0), (5.0, -1.0), (1.0, math.nan), (1.0, math.inf)]
LARGE = [(8.0, 2.0**200), (-8.0, 2.0**-200)]
FEW = POINTS[:1] + POINTS[3:4]


def pairs_of(points, records):
    """All tables of up to so many rows less one, and the same with one row more.

    Equal tables are one object, which an audit opens once.
    """

    @functools.cache
    def table(*places) -> pd.DataFrame:
        return pd.DataFrame([points[i] for i in places], columns=["x", "w"], dtype=float)

    return [
        (table(*places), table(*sorted((*places, one))))
        for size in range(records)
        for places in itertools.combinations_with_replacement(range(len(points)), size)
        for one in range(len(points))
    ]


NARROW = {"within": (-8, 8), "step": 1}
QUESTIONS = {
    "mean, ε": ask.mean("x", weights="w", **NARROW, epsilon=1),
    "mean, ρ": ask.mean("x", weights="w", **NARROW, rho="0.5"),
    "mean of any range, ε": ask.mean("x", weights="w", epsilon=1),
    "sum, ε": ask.sum("x", weights="w", **NARROW, epsilon=1),
    "sum of any range, ρ": ask.sum("x", weights="w", rho="0.5"),
    "ratio, ε": ask.ratio("x", "w", epsilon=1),
    "ratio, ρ": ask.ratio("x", "w", rho="0.5"),
}
UNIT = 1023 - 1  # the octave of 1, among those of numbers other than 0
BY_SIZE = "rows by weights", "rows by denominators"
BOTH = "weights and rough total", "denominators and rough total"
SIZES = sizes_of(25)
# Nobody, few, some and many rows; with many zeros, and with none.
VALUES: dict[str, Any] = {
    "count": [(0,), (10**5,)],
    "octave of the sizes": [UNIT],
    KINDS: [(0, 0), (5, 90), (5, 1200), (3000, 2500)],
    "count, again": [(80,), (1300,)],
    "records seen there": [(400,)],
    "rough mean in the window": [(1 << 20,)],
    "centre": [3],
    **dict.fromkeys(BY_SIZE, SIZES[:2]),
    "shape": [(3, 5)],
    "radius": [(0,), (5,)],
    **{both: [(1 << 60, 1 << 40)] for both in BOTH},
    "records near the bounds": [RINGS],
}
NOISY = {"count", KINDS, "count, again", "records seen there", *BY_SIZE, *BOTH, "clipped sum"}
# One outcome of every draw: so every way is followed to its answer once.
ONE_EACH = VALUES | {
    KINDS: [(5, 90), (5, 1200), (3000, 2500)],
    "count": [(10**5,)],
    "count, again": [(1300,)],
    "radius": [(5,)],
    **dict.fromkeys(BY_SIZE, SIZES[2:]),
}


def windows_of(query: Any) -> list[int]:
    """Numbers of windows that a query has: two about the rows, and one beside them."""
    within = query.ranged and query.lattice
    grid = WindowGrid.of_range(within, 0) if within else WindowGrid.of_floats(0)
    return [grid.number(DataWindow(*each)) for each in ((2, 3), (3, 0), (1, -3))]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("question", "points", "records", "width"),
    [
        *((question, FEW, 2, 0) for question in QUESTIONS),
        *((question, [*POINTS, *LARGE], 1, 0) for question in ("mean, ρ", "ratio, ε")),
        ("sum, ε", [*POINTS, *LARGE], 1, 1),
        *(pytest.param(each, POINTS, 2, 1, marks=pytest.mark.slow) for each in QUESTIONS),
        *(
            pytest.param(each, [*POINTS, *LARGE], 1, 1, marks=pytest.mark.slow)
            for each in QUESTIONS
            if each != "sum, ε"
        ),
    ],
)
def test_a_release_keeps_its_claim_for_a_row(question, points, records, width) -> None:
    report = audit.check(
        QUESTIONS[question],
        pairs_of(points, records),
        values={**(VALUES if width else ONE_EACH), "window": windows_of(QUESTIONS[question])},
        widths=(0,),
    )
    claimed = float(report.claimed)
    assert report.leak is None
    assert max(report.worst, report.bound) <= claimed * (1 + 1e-9)
    assert report.drawn <= report.claimed
    assert all(step.used <= 1 + 1e-9 for step in report.steps)
    used = {step.label: step.used for step in report.steps}
    assert all(used[label] > 0.95 for label in NOISY & used.keys()), used


@pytest.mark.parametrize("question", [each for each in QUESTIONS if "sum" not in each])
def test_every_step_is_audited(question) -> None:
    query, sizes = QUESTIONS[question], "denominators" if "ratio" in question else "weights"
    values = {**VALUES, "window": windows_of(query)}
    report = audit.check(query, pairs_of(FEW, 1), values=values, widths=(0,))
    assert {step.label for step in report.steps} == {
        "count", "octave of the sizes", KINDS, "count, again", "window", "records seen there",
        "rough mean in the window", "centre", f"rows by {sizes}", "radius",
        f"{sizes} and rough total", "records near the bounds", "total",
    }  # fmt: skip
    assert report.leak is None
    assert report.drawn == report.claimed
