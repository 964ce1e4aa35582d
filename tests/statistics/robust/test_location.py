"""Locations: near the true ones at any range, with intervals that cover, and honest notes."""

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import modicum as mo
from modicum import query
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.event import ZCDP, PureDP
from modicum.privacy.split import BudgetSplit
from modicum.research.papers.dick2023 import trim_plan
from modicum.statistics.robust.inverse_sensitivity import (
    Candidates,
    cell_edges,
    moved_by,
    radius_grid,
)
from modicum.statistics.robust.location import LocationPlan
from modicum.statistics.robust.monotone_statistic import expectile_score
from tests.statistics.order.test_quantile import SHAPES, answers

WITHIN = (-1e9, 1e9)


class OwnMedian(mo.Boundaries):
    """The lower median, by the records that k changes bring to the middle."""

    name, growth, width = "median", 0, 1.0

    def ends(self, places, counts, lo, hi, levels):
        upto, n, k = np.cumsum(counts), int(counts.sum()), np.arange(levels)

        def record(i):
            inside = np.clip(i, 0, max(n - 1, 0))
            found = places[np.searchsorted(upto, inside, side="right")] if n else np.zeros(levels)
            return np.where(i < 0, lo, np.where(i >= n, hi, found))

        return record((n - 1 - k) // 2), record((n + k) // 2)


def crossing(x, psi) -> float:
    lo, hi = float(x.min()), float(x.max())
    for _ in range(100):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if psi(x - middle).sum() > 0 else (lo, middle)
    return (lo + hi) / 2


ASKED = {
    "expectile 0.9": (
        lambda **k: query.expectile(tau=0.9, within=WITHIN, **k),
        lambda v: np.where(v > 0, 0.9, 0.1) * v,
    ),
    "lp 1.5": (
        lambda **k: query.lp_center(p=1.5, within=WITHIN, **k),
        lambda v: np.sign(v) * np.sqrt(np.abs(v)),
    ),
    "huber": (
        lambda **k: query.huber(width=2, within=WITHIN, **k),
        lambda v: np.clip(v, -2, 2),
    ),
    "tanh": (
        lambda **k: query.monotone_statistic(
            statistic=mo.Score("tanh", np.tanh, growth=0, width=3), within=WITHIN, **k
        ),
        np.tanh,
    ),
}
# Largest mean error in records, once at the clipping bounds: 2/ε' and what clipping costs.
RECORDS = {"expectile 0.9": 30, "lp 1.5": 20, "huber": 6, "tanh": 6}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    "shape",
    ["far", "income", *(pytest.param(x, marks=pytest.mark.slow) for x in ("normal", "ages"))],
)
@pytest.mark.one_in(6)
def test_a_location_is_near_the_true_one(name, shape) -> None:
    """Its error is that of a few records, whatever the range is."""
    ask, psi = ASKED[name]
    data = SHAPES[shape](np.random.default_rng(3), 20_000)
    if shape == "income":
        data = data / 2e4
    truth = crossing(data, psi)
    reach = max(psi(np.array([data.max() - truth]))[0], -psi(np.array([data.min() - truth]))[0])
    for question in (ask(epsilon=1, level=None), ask(rho="0.5", level=None)):
        found = answers(question, data, 6)
        pulls = [abs(psi(data - float(a.value)).sum()) / reach for a in found]
        assert np.mean(pulls) < RECORDS[name]
        # Of skewed records little is seen of the tail, which is said.
        assert {a.status.code for a in found} <= {"ok", "unseen" if shape == "income" else "ok"}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("n", [0, 1, 300, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.one_in(6)
def test_the_interval_covers_the_location(name, n) -> None:
    """Whatever the data, and however few: only the noise is random."""
    ask, psi = ASKED[name]
    question = ask(epsilon=1)
    for shape in ("normal", "ages", "constant", "coins", "edge of the range"):
        data = SHAPES[shape](np.random.default_rng(n), n)
        truth = crossing(data, psi) if n else 0.0
        held = [
            lower <= truth <= upper
            for a in answers(question, data, 4)
            for lower, upper in [a.error_model.interval(0.95, 3)]
        ]
        assert np.mean(held) >= 0.75, shape  # 4 intervals


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_interval_covers_what_cells_hide(sign) -> None:
    """A third of the data at the kink of the score, within one cell: hardly noise, but a bias."""
    width, n, held = 1.003, 20_000, []
    question = query.huber(width=width, within=(-1e3, 1e3), epsilon=100)
    for at in (1.4 * width, 1.402 * width):
        data = sign * np.repeat([0.0, at, -50.0], [n // 2, 35 * n // 100, 15 * n // 100])
        truth = crossing(data, lambda v: np.clip(v, -width, width))
        for a in answers(question, data, 3):
            lower, upper = a.error_model.interval(0.95, 3)
            held.append(lower <= truth <= upper)
    assert np.mean(held) >= 0.6  # 6 intervals


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "pareto 1.5"])
@pytest.mark.parametrize("n", [200, 1000, 10_000])
def test_coverage_over_many_data_sets(name, shape, n) -> None:
    ask, psi = ASKED[name]
    question, held = ask(epsilon=1), []
    for k in range(6):
        data = SHAPES[shape](np.random.default_rng([k, n]), n)
        truth = crossing(data, psi)
        for a in answers(question, data, 10, k):
            lower, upper = a.error_model.interval(0.95, 3)
            held.append(lower <= truth <= upper)
    assert np.mean(held) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("name", ["huber", "expectile 0.9"])
def test_intervals_of_many_records_are_narrow_and_cover(name) -> None:
    """Only cells in which the score bends are moved; before, all were: 2.8 and 6.7 times this."""
    ask, psi = ASKED[name]
    n, held, widths = 1_000_000, [], []
    for k in range(3):
        data = np.random.default_rng(k).normal(size=n)
        truth = crossing(data, psi)
        for a in answers(ask(epsilon=1), data, 5, k):
            lower, upper = a.error_model.interval(0.95, 3)
            held.append(lower <= truth <= upper)
            widths.append((upper - lower) / 2)
    assert all(held)
    assert np.mean(widths) < {"huber": 0.5e-3, "expectile 0.9": 3.5e-3}[name]


@pytest.mark.parametrize("odd", [0, 1])
def test_two_halves_far_apart(odd) -> None:
    """Lengths pass from none to half of the records within a step: ends must not stay between."""
    data = np.repeat([-1e8, 1e8], [1500, 1500 + odd]) + np.random.default_rng(0).random(3000 + odd)
    question = query.huber(width=2, within=WITHIN, epsilon=1)
    for a in answers(question, data, 3):
        lower, upper = a.error_model.interval(0.95, 3)
        assert lower < -9e7
        assert upper > 1e8


def test_a_width_is_found_and_shown() -> None:
    """1.35 standard deviations of normal data, to the next quarter octave."""
    data = 1e6 + 5 * np.random.default_rng(0).normal(size=30_000)
    for answer in answers(query.huber(within=WITHIN, epsilon=1), data, 8):
        assert 5 * 1.35 / 1.3 < answer.error_model.width < 5 * 1.35 * 1.3
        assert answer.error_model.to_dict()["statistic"].startswith("huber(")
        assert abs(float(answer.value) - data.mean()) < 0.2


def test_own_boundaries() -> None:
    """A median brought by the user answers as the library's own, but for the cells."""
    data = np.random.default_rng(0).normal(50, 10, 5000)
    question = query.monotone_statistic(statistic=OwnMedian(), within=WITHIN, epsilon=1)
    for answer in answers(question, data, 8):
        assert abs((data < float(answer.value)).sum() - 2500) < 40
        lower, upper = answer.error_model.interval(0.95, 3)
        assert lower < np.median(data) < upper


class Failing(OwnMedian):
    name = "failing"

    def ends(self, places, counts, lo, hi, levels):
        if counts.sum() > 2000:
            raise RuntimeError("more than two thousand")
        return super().ends(places, counts, lo, hi, levels)


def test_boundaries_that_fail_on_the_data_tell_nobody() -> None:
    question = query.monotone_statistic(statistic=Failing(), within=WITHIN, epsilon=1)
    found = answers(question, np.random.default_rng(0).normal(size=2500), 3)
    assert all(-1e9 <= float(a.value) <= 1e9 for a in found)


class Warns(OwnMedian):
    name = "warns"

    def ends(self, places, counts, lo, hi, levels):
        if counts.sum() > 100:
            warnings.warn("more than a hundred", stacklevel=1)
            np.log(np.zeros(1) - 1)
        return super().ends(places, counts, lo, hi, levels)


@pytest.mark.parametrize("action", ["always", "error"])
def test_warnings_about_the_data_tell_nobody(action) -> None:
    data = np.random.default_rng(0).normal(size=20_000)
    question = query.monotone_statistic(statistic=Warns(), within=WITHIN, epsilon=1)
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="raise"):
        warnings.simplefilter(action)
        found = answers(question, data, 2)
    assert not heard
    # Nor do they count as a failure: the answers are medians.
    assert all(abs(float(a.value)) < 0.1 for a in found)


class Greedy(OwnMedian):
    """Claims that ends move by one record where they move by two."""

    name = "greedy"

    def ends(self, places, counts, lo, hi, levels):
        lows, highs = super().ends(places, counts, lo, hi, 2 * levels)
        return lows[: levels // 2].repeat(2), highs[: levels // 2].repeat(2)


class Short(OwnMedian):
    name = "short"

    def ends(self, places, counts, lo, hi, levels):
        return np.zeros(3), np.zeros(3)


class Corner(OwnMedian):
    """Fails, or has no finite answer, on some data only."""

    name = "corner"

    def __init__(self, happens, value=None) -> None:
        self.happens, self.value = happens, value

    def ends(self, places, counts, lo, hi, levels):
        if self.happens(places, counts, lo, hi):
            if self.value is None:
                raise ZeroDivisionError("a corner")
            return np.full(levels, self.value), np.full(levels, self.value)
        return super().ends(places, counts, lo, hi, levels)


@pytest.mark.parametrize(
    "happens",
    [
        lambda places, counts, lo, hi: counts.sum() == 26,
        lambda places, counts, lo, hi: counts.sum() == 0,
        lambda places, counts, lo, hi: len(places) == 1 and counts.sum() > 20,  # no spread
        lambda places, counts, lo, hi: len(places) > 1 and places[0] == lo and places[-1] == hi,
        lambda places, counts, lo, hi: counts.sum() > 500 and len(places) == 2,
        lambda places, counts, lo, hi: len(places) > 5 and (np.diff(places) < 1e-6 * hi).any(),
        lambda places, counts, lo, hi: len(places) > 30 and (counts == 1).all(),
        lambda places, counts, lo, hi: (counts > 9).any() and (counts == 1).any(),
    ],
)
def test_a_statistic_that_fails_on_some_data_is_refused(happens) -> None:
    for value, word in ((None, "failed for the records"), (np.nan, "finite"), (np.inf, "finite")):
        with pytest.raises(InvalidArgument, match=word):
            Corner(happens, value).check(100.0)
    OwnMedian().check(100.0)


def test_boundaries_that_are_wrong_from_some_size_on_are_refused() -> None:
    class Late(OwnMedian):
        name = "late"

        def ends(self, places, counts, lo, hi, levels):
            lows, highs = super().ends(places, counts, lo, hi, levels)
            middle = (lows[0] + highs[0]) / 2
            return (lows, highs) if counts.sum() < 12 else (lows * 0 + middle, highs * 0 + middle)

    with pytest.raises(InvalidArgument, match="compare the records"):
        Late().check(100.0)


@pytest.mark.parametrize(
    ("statistic", "word"),
    [
        (Greedy(), "break their promise"),
        (Short(), "6 lows"),
        (3, "modicum.Score"),
        (None, "modicum.Score"),
        (OwnMedian, "modicum.Score"),
        (mo.Score("sine", np.sin, growth=0, width=1), "must not decrease"),
    ],
)
def test_what_is_no_statistic(statistic, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        query.monotone_statistic(statistic=statistic, within=WITHIN, epsilon=1)


@pytest.mark.parametrize(
    ("ask", "options", "word"),
    [
        (query.expectile, {"tau": 0}, "tau"),
        (query.expectile, {"tau": 1}, "tau"),
        (query.expectile, {"tau": "half"}, "tau"),
        (query.expectile, {"tau": True}, "tau"),
        (query.expectile, {"tau": 0.5, "level": 0.5}, "level"),
        (query.lp_center, {"p": 0.5}, "p must be"),
        (query.lp_center, {"p": 9}, "p must be"),
        (query.lp_center, {"p": None}, "p must be"),
        (query.huber, {"width": 0}, "width"),
        (query.huber, {"width": np.inf}, "width"),
        (query.huber, {"width": "wide"}, "width"),
        (query.huber, {"level": 1}, "level"),
    ],
)
def test_wrong_arguments(ask, options, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        ask("income", within=WITHIN, epsilon=1, **options)


def in_the_theorem(**options):
    """The mean by Algorithm 4 with the constants of its theorem."""
    options = {"epsilon": 1, "level": None} | options
    mean = mo.Score("mean", lambda v: v, growth=1, homogeneous=True)
    return query.monotone_statistic(statistic=mean, within=WITHIN, method="subset", **options)


def test_the_constants_of_the_theorem() -> None:
    """r = (32/ε) ln(6R/(ηβ)) with η = β/(2R): 3r/2 records a side are trimmed."""
    lattice = Lattice.within(WITHIN)
    plan, ratio = trim_plan(lattice, Fraction(1)), (lattice.hi - lattice.lo) / lattice.step
    r = 32 * np.log(3 * ratio**2)
    assert (plan.trimmed, plan.target) == (np.ceil(1.5 * r), np.ceil(1.75 * r))
    data = np.random.default_rng(0).normal(5, 1, 20_000)
    for answer in answers(in_the_theorem(), data, 5):
        assert abs(float(answer.value) - data.mean()) < 0.05
        assert answer.status.words == "ok"
        assert tuple(answer.error_model.interval(0.95, 3)) == WITHIN
        assert "no interval" in answer.error_model.assumption(3)
        lo, hi = (lattice.value(each) for each in answer.error_model.bounds)
        # Corollary 3.8: between 3r/2 and 2r records beyond each threshold.
        assert 1.5 * r <= (data < lo).sum() <= 2 * r
        assert 1.5 * r <= (data > hi).sum() <= 2 * r


@pytest.mark.parametrize("n", [0, 1, 300])
def test_too_few_records_for_the_theorem(n) -> None:
    for answer in answers(in_the_theorem(), np.zeros(n), 3):
        assert -1e9 <= answer.value <= 1e9
        assert answer.status.words.startswith("too little data: method='subset'")


def test_constant_data_have_a_value_in_the_theorem_too() -> None:
    for answer in answers(in_the_theorem(), np.full(20_000, 7.0), 3):
        assert float(answer.value) == pytest.approx(7, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"level": 0.95}, "level=None"),
        ({"epsilon": None, "rho": 1}, "pure|ε"),
        ({"epsilon": "1e-4"}, "larger budget"),
    ],
)
def test_what_the_theorem_is_not_about(options, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        answers(in_the_theorem(**options), np.arange(9.0), 1)


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-9"])
def test_a_tiny_budget_is_refused(epsilon) -> None:
    question = query.expectile(tau=0.9, within=WITHIN, epsilon=epsilon)
    with pytest.raises(InvalidArgument, match="larger budget"):
        answers(question, np.arange(9.0), 1)


def test_powers_that_have_their_own_request() -> None:
    assert query.lp_center(p=1, within=WITHIN, epsilon=1).statistic == "median"
    assert query.lp_center(p=2, within=WITHIN, epsilon=1).statistic == "mean"


def test_notes() -> None:
    data = np.random.default_rng(0).normal(size=20)
    for answer in answers(query.huber(width=2, within=WITHIN, epsilon=1), data, 4):
        assert answer.status.words.startswith("too little data for this budget")
    data = np.random.default_rng(0).normal(size=300)
    found = answers(query.expectile(tau=0.9, within=WITHIN, epsilon=1), data, 6)
    assert not all(a.status.words == "ok" for a in found)
    steep = answers(
        query.lp_center(p=5, within=WITHIN, epsilon=1),
        SHAPES["ages"](np.random.default_rng(0), 20_000),
        1,
    )[0]
    assert steep.error_model.interval(0.95, 3) == WITHIN
    assert "need not have" in steep.error_model.assumption(3)
    assert steep.error_model.interval(0.95, None) != WITHIN


@pytest.mark.parametrize("event", [PureDP(1), ZCDP(1), PureDP(64)])
@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("n", [-50, 0, 1, 100, 1000, 10**5, 10**9])
def test_shares_leave_something_for_the_value(event, bounded, n) -> None:
    lattice = Lattice.within(WITHIN)
    plan = LocationPlan.of(
        lattice, BudgetSplit(event), n, bounded=bounded, scaled=bounded, ends=True
    )
    assert 0.1 < plan.ends <= plan.value


def test_cells_hold_every_radius_and_reach_all_records() -> None:
    lattice = Lattice.within((0, 1e6))
    for centre in (lattice.first, lattice.first + 12345, lattice.last):
        edges = cell_edges(lattice, centre, 7)
        reach = max(lattice.last - centre, centre - lattice.first)
        assert edges[0] == 0
        assert edges[-1] >= reach
        assert all(a < b for a, b in pairwise(edges))
        assert set(radius_grid(centre, reach).radii) <= set(edges)


@pytest.mark.parametrize("flat", [10, 3000, 10**9])
@pytest.mark.parametrize("spacing", [1, 7, 5000])
def test_candidates_ascend_within_their_ends(flat, spacing) -> None:
    found = Candidates.of(-(10**6), 5 * 10**6, 1000, flat=flat, spacing=spacing)
    coarse = np.unique(np.linspace(found.first, found.last, 500).astype(np.int64))
    places = [found.place(int(z) * found.fine) for z in coarse]
    assert all(b > a for a, b in pairwise(places))
    assert places[0] >= -(10**6)
    assert places[-1] <= 5 * 10**6
    before = [found.place(max(int(z) - 1, found.first) * found.fine) for z in coarse]
    assert found.between(coarse).tolist() == [a + b for a, b in zip(before, places, strict=True)]
    assert found.between(np.array([found.last + 1])) == 2 * places[-1]
    fine = [found.place(y) for y in range(-300, 300)]
    assert all(b > a for a, b in pairwise(fine))
    assert found.place(0) == 1000


def test_the_same_seed_gives_the_same_answer() -> None:
    data = np.random.default_rng(0).normal(size=2000)
    question = query.expectile(tau=0.3, within=WITHIN, epsilon=1)
    assert answers(question, data, 2, 5) == answers(question, data[::-1], 2, 5)


def far_apart(name: str) -> np.ndarray:
    """Most records in one place, and a part of them elsewhere."""
    rng = np.random.default_rng(5)
    return {
        "zeros beside 1e6": np.where(np.arange(3000) % 10 == 0, 0.0, 1e6),
        "beside 1": np.where(np.arange(3000) < 300, rng.normal(1, 1, 3000), 1.0),
        "300 at 1e6": np.where(np.arange(3000) < 300, 1e6, rng.normal(0, 1, 3000)),
        "pareto 1.2": rng.pareto(1.2, 3000) + 1,
    }[name]


@pytest.mark.parametrize("name", ["zeros beside 1e6", "beside 1", "300 at 1e6", "pareto 1.2"])
@pytest.mark.parametrize("asked", ["expectile 0.9", "lp 1.5"])
def test_what_lies_far_from_most_records_is_reached_or_told(name, asked) -> None:
    """Intervals that miss are not ok."""
    if (name, asked) == ("pareto 1.2", "lp 1.5"):
        return  # its location is well within the bounds
    ask, psi = ASKED[asked]
    data = far_apart(name)
    truth = crossing(data, psi)
    lost = 0
    for cost in ({"epsilon": 1}, {"rho": "0.1"}):
        for a in answers(ask(**cost), data, 5, (name, asked)):
            lower, upper = a.error_model.interval(0.95, 3)
            lost += a.status.ok and not lower <= truth <= upper
    assert lost <= 1


def test_one_value_is_answered_and_allows_for_others() -> None:
    """The records elsewhere may be anywhere, and their noisy number is all that is known."""
    for a in answers(query.expectile(tau=0.9, within=WITHIN, epsilon=1), np.full(3000, 7.5), 5):
        assert a.status.ok
        assert a.value == 7.5
        lower, upper = a.error_model.interval(0.95, 3)
        assert lower < 7.5 < upper
        others = a.error_model.share_elsewhere(0.05)
        score = expectile_score(0.9)
        part = 0.9 * others / (0.9 * others + 0.1 * (1 - others))
        assert moved_by(score, 10**9, 1.0, others) == pytest.approx(1e9 * part, rel=1e-5)
        assert upper == pytest.approx(7.5 + 1e9 * part, rel=1e-3)
        assert a.error_model.interval(0.99, 3) == WITHIN
    assert moved_by(score, 10**9, 1.0, 0.0) == 0
    assert moved_by(score, -(10**9), 1.0, 1.0) == -(10**9)
    mirrored = moved_by(expectile_score(0.1), -(10**9), 1.0, 0.01)
    assert mirrored == -moved_by(score, 10**9, 1.0, 0.01)
    assert moved_by(OwnMedian(), 5, 1.0, 0.1) == 5
