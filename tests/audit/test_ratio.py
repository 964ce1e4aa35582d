"""Ratios and weighted means: the exact loss of whole releases on small tables, one row apart."""

import functools
import itertools
import math

import pandas as pd
import pytest

from modicum import audit
from modicum import query as ask

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
COUNTS = [(0,), (600,), (10**5,)]
UNIT = 1023 - 1  # the octave of 1, among those of numbers other than 0
VALUES = {
    "count": COUNTS,
    "quotients other than 0": COUNTS[-1:],
    "values other than 0": COUNTS[-1:],
    **{f"octave of {what}": [UNIT] for what in ("the weights", "the denominators", "quotients")},
    "octave": [UNIT],
    "top": [0],
    "radius": [(5,)],
    "sizes": [(1,)],
    "home": [(0,), (3,)],
}
NOISY = {
    "clipped sum",
    "count",
    "sum of the weights",
    "sum of the denominators",
    "total",
    "rough total",
}


# One outcome of every other draw: so every way is followed to its answer once. With a width of 1
# an extreme outcome of every draw is followed, too.
ONE_EACH = VALUES | {
    "values other than 0": [(0,), COUNTS[-1]],
    "values other than 0, again": [(0,)],
    "values beyond the range": [(0,)],
    "count, again": [(0,)],
    "centre": [0],
    "sum of the weights": [(40,)],
    "sum of the denominators": [(40,)],
    "rows elsewhere": [(0,)],
    "rows elsewhere, again": [(0,)],
    "records elsewhere": [(0,)],
    "records larger than 0": [(0,)],
    "shape": [(2, 3)],
    "records outside": [(0,)],
    "rough total": [(10**7,)],
    "total": [(40,)],
    "clipped sum": [(3,)],
}


# Nobody outside of the radius, or so many that it is drawn again for them.
FAR = {"records outside": [(0,), (900,)], "records outside, again": [(900,)]}


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
        values=VALUES if width else ONE_EACH,
        widths=(width,),
    )
    claimed = float(report.claimed)
    assert report.leak is None
    assert max(report.worst, report.bound) <= claimed * (1 + 1e-9)
    assert report.drawn <= report.claimed
    assert all(step.used <= 1 + 1e-9 for step in report.steps)
    used = {step.label: step.used for step in report.steps}
    assert all(used[label] > 0.95 for label in NOISY & used.keys()), used


def test_every_step_is_audited() -> None:
    query = QUESTIONS["ratio, ε"]
    values = {**VALUES, "count": [(3000,)], "rough total": [(0,), (10**7,)]}
    values |= {"home": [(0,), (3,)], "rows of larger sizes": [(0,), (2500,)]}
    values |= {"records outside": [(0,)]}
    report = audit.check(query, pairs_of(FEW, 1), values=values, widths=(1,) * 12)
    assert {step.label for step in report.steps} == {
        "count", "octave of the denominators", "quotients other than 0", "octave of quotients",
        "centre", "sizes", "rows of larger sizes", "sizes, again", "sum of the denominators",
        "home", "rows elsewhere", "rows elsewhere, again", "radius", "records outside",
        "rough total", "radius, again", "total",
    }  # fmt: skip


def test_a_radius_for_those_far_away_is_audited() -> None:
    values = {**ONE_EACH, **FAR, "count": [(3000,)], "home": [(3,)], "rough total": [(0,)]}
    values |= {"rows of larger sizes": [(0,)], "radius, for others": [(1,), (5,)]}
    report = audit.check(QUESTIONS["mean, ρ"], pairs_of(FEW, 1), values=values, widths=(0,) * 20)
    used = {step.label: step.used for step in report.steps}
    assert {"radius, for others", "records outside, again"} <= used.keys()
    assert report.leak is None
    assert max(report.worst, report.bound) <= float(report.claimed) * (1 + 1e-9)
    assert all(each <= 1 + 1e-9 for each in used.values())
