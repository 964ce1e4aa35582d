"""Every row of the registry keeps its claim on every branch, uses it, and leaks nothing."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import approx, pure
from modicum.privacy.event import event_of
from modicum.runtime.replay import Run
from modicum.statistics.registry import REGISTRY, find_row
from modicum.summaries.tails import Tails
from tests.audit.counted import KINDS, NUMBERS, counts_of, kinds_of, told_apart

NARROW = {"within": (-8, 8), "step": 1}
ABOVE = {"within": (4, 12), "step": 1}
WIDE = {"within": (-1e9, 1e9)}
LATTICE = Lattice.within((-8, 8), 1)

FEW = audit.neighbours((-8, 8), 2)
MORE = audit.neighbours((-8, 1, 8), 2)
HIGH = audit.neighbours((4, 12), 2)
FAR = audit.neighbours((-1e9, 1234567.8), 2)

QUICK = {
    "mean, ε": (ask.mean(**NARROW, epsilon=1), MORE),
    "mean, ρ": (ask.mean(**NARROW, rho="0.5"), MORE),
    "mean, clusters kept": (ask.mean(**NARROW, epsilon=2, clusters="keep"), FEW),
    "mean, range above zero": (ask.mean(**ABOVE, epsilon=1), HIGH),
    "mean of a population, ε": (ask.mean(**NARROW, epsilon=1, population=True), MORE),
    "mean of a population, ρ": (ask.mean(**NARROW, rho="0.5", population=True), MORE),
    "mean of a population, above zero": (ask.mean(**ABOVE, epsilon=2, population=True), HIGH),
    "mean, cell table": (ask.mean(**NARROW, epsilon="0.0001"), FEW),
    "mean, cell table, ρ": (ask.mean(**NARROW, rho="1e-7"), FEW),
    "sum, ε": (ask.sum(**NARROW, epsilon=1), MORE),
    "sum, ρ": (ask.sum(**NARROW, rho="0.5"), MORE),
    "sum, clusters kept": (ask.sum(**NARROW, epsilon=2, clusters="keep"), FEW),
    "sum, range above zero": (ask.sum(**ABOVE, epsilon=1), HIGH),
    "sum, cell table": (ask.sum(**NARROW, epsilon="0.0001"), MORE),
    "count, ε": (ask.count(epsilon=1), None),
    "count, ρ": (ask.count(rho="0.5"), None),
}


# How many outcomes are followed at a draw, beside the counts that lead into every branch.
FOLLOWED = [(1, 2, 2, 1), pytest.param((2, 4, 3, 2, 1), marks=pytest.mark.slow)]
SLOW = ("mean of a population, ρ", "mean of a population, above zero")  # the draws of a mean


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in QUICK]
)
@pytest.mark.parametrize("widths", FOLLOWED, ids=str)
def test_an_adaptive_estimator_keeps_its_claim_and_uses_it(name, widths) -> None:
    query, pairs = QUICK[name]
    numbers = [(0, 10**k) for k in range(4, 10)] if "cell table" in name else NUMBERS
    report = audit.check(query, pairs, values=counts_of(query, numbers), widths=widths)
    assert report.passed, report
    assert report.used > 0.95
    assert report.drawn == report.claimed


@pytest.mark.parametrize("statistic", [ask.mean, ask.sum])
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_a_bounded_answer_keeps_its_claim_and_uses_it(statistic, cost) -> None:
    for within, points in (((-8, 8), MORE), ((-7, 2), audit.neighbours((-7, 2), 3))):
        query = statistic(within=within, step=1, method="bounded", **cost)
        report = audit.check(query, points)
        assert report.passed, report
        assert report.used > 0.99
        assert report.drawn == report.claimed


@pytest.mark.parametrize("statistic", [ask.mean, ask.sum])
def test_a_wide_range_on_its_default_lattice(statistic) -> None:
    """Integers up to 2^51 and a hundred radii; counts without and with a centre."""
    query = statistic(**WIDE, epsilon=1)
    values = counts_of(query, [(0, 1), (0, 10_000)])
    report = audit.check(query, FAR[:3], values=values, widths=(0, 2, 1, 1, 1, 1))
    assert report.passed, report
    assert report.bound > 0.95


@pytest.mark.one_in(2)
@pytest.mark.parametrize("epsilon", [1, 64])
def test_the_subset_mean_keeps_its_claim(epsilon) -> None:
    """At ε = 64 the rank target is below the number of records, and all branches are reached."""
    report = audit.check(
        ask.mean(**NARROW, epsilon=epsilon, method="subset"),
        audit.neighbours((-8, 1, 8), 4),
        widths=(6, 6, 1),
        values={"low threshold": (1,), "high threshold, negated": (-1,)},
    )
    assert report.passed, report
    # One record moves the thresholds in opposite directions, so they never lose both at once.
    assert 0.6 < report.used < 0.8


def test_a_threshold_of_the_subset_mean_can_lose_all_its_share() -> None:
    """Dick et al. 2023, Theorem 3.7: ε/2 a unit of loss is tight.

    Here t = 4: the fifth record lifts nearly all integers to loss 0 and those above the highest
    record from it.
    """
    query = ask.mean(**WIDE, epsilon=100, method="subset")
    data = (-1e9, -1e9, -1e9, 1e9 - 1)
    report = audit.joint_loss(query, data, (-1e9, *data), widths=(4, 4, 1))
    low, high, sums = report.steps
    assert report.passed
    assert report.worst == pytest.approx(75, abs=0.01)
    assert (low.used, high.loss, sums.used) == pytest.approx((1, 0, 1))


def around(kept: int) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Neighbours of about once and twice as many records as are kept at each end."""
    pairs = []
    for n in (kept - 1, kept, kept + 1, 2 * kept - 1, 2 * kept, 2 * kept + 1):
        third, half = n // 3, n // 2
        for data in (
            (-8.0,) * n,
            (8.0,) * n,
            (-8.0,) * half + (8.0,) * (n - half),
            (-8.0,) * third + (1.0,) * (n - 2 * third) + (8.0,) * third,
        ):
            pairs += [(data, tuple(sorted((*data, x)))) for x in (-8.0, 1.0, 8.0)]
    return pairs


def test_more_records_than_are_kept() -> None:
    """Counts outside are capped, the middle is known by its sum only."""
    mean, sum_ = ask.mean(**NARROW, epsilon=16), ask.sum(**NARROW, rho=16)
    reductions = [Run(r, event_of(r.budget), Remembered(())).trail[0] for r in (mean, sum_)]
    assert [reads[2].reduction for reads in reductions] == [Tails(64), Tails(64)]
    for query in (mean, sum_):
        values = counts_of(query, [(0, 0), (0, 600)])
        report = audit.check(query, around(64), values=values, widths=(0, 3, 2, 1, 1, 1))
        assert report.passed, report
        assert report.used > 0.9


@pytest.mark.parametrize("statistic", [ask.mean, ask.sum])
def test_a_staircase_as_the_last_draw(statistic) -> None:
    """From ε = 3/2 of it on; every record that moves the sum costs all of that."""
    query = statistic(**NARROW, epsilon=3)
    report = audit.check(
        query,
        audit.neighbours((-8, 1, 8), 3),
        values=counts_of(query, [(0, 600)]),
        widths=(0, 3, 2, 1, 1, 1),
    )
    assert report.passed, report
    assert report.used > 0.8


def test_more_records_than_the_subset_mean_keeps() -> None:
    query = ask.mean(**NARROW, epsilon=64, method="subset")
    (asked,) = Run(query, event_of(query.budget), Remembered(())).trail[0]
    report = audit.check(query, around(asked.reduction.keep)[::5], widths=(5, 5, 1))
    assert report.passed, report


QUANTILES = {
    "median, ε": (ask.median(**NARROW, epsilon=1), 1.0),
    "median, ρ": (ask.median(**NARROW, rho="0.5"), 0.98),
    "median, no ends": (ask.median(**NARROW, epsilon=1, level=None), 1.0),
    "median of a population, ε": (ask.median(**NARROW, epsilon=1, population=True), 1.0),
    "median of a population, ρ": (ask.median(**NARROW, rho="0.5", population=True), 0.9),
    "quantile, ε": (ask.quantile(q=0.3, **NARROW, epsilon=1), 0.7),
    "quantile, ρ": (ask.quantile(q=0.3, **NARROW, rho="0.5"), 0.45),
    "quantile, high": (ask.quantile(q="0.99", **ABOVE, epsilon=3), 0.5),
    "quantile, no ends, ρ": (ask.quantile(q=0.3, **NARROW, rho="0.5", level=None), 0.4),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", QUANTILES)
def test_a_quantile_keeps_its_claim_at_every_draw(name) -> None:
    """With a count that is drawn once, and again."""
    query, used = QUANTILES[name]
    points = (4, 12) if query.lattice.lo > 0 else (-8, 1, 8)
    records = 2 if query.budget.kind == "zcdp" else 3
    report = audit.check(query, audit.neighbours(points, records), widths=(1, 2, 1, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert all(step.used > used - 1e-6 for step in report.steps), report


def test_a_median_can_lose_all_of_its_budget() -> None:
    """A far record makes nearly all points likelier, and those on the other side less likely."""
    query = ask.median(**WIDE, epsilon=1, level=None)
    low = 1 - 1e9
    report = audit.joint_loss(query, (low, low), (low, low, 1e9))
    assert report.passed, report
    assert report.used > 0.999


def test_more_records_than_a_quantile_keeps() -> None:
    for query in (
        ask.median(**NARROW, epsilon=64),
        ask.quantile(q="0.8", **NARROW, epsilon=64, level=None),
    ):
        asked = Run(query, event_of(query.budget), Remembered(())).trail[0][0]
        pairs = around(asked.reduction.reach)[::5]
        values = {"count": ((0,), (600,))}
        report = audit.check(query, pairs, values=values, widths=(0, 3, 2, 1))
        assert report.passed, report
        assert report.bound > 0.3 * float(report.claimed)


SPREADS = {
    "variance, ε": (ask.var(**NARROW, epsilon=1), MORE),
    "std, ρ": (ask.std(**NARROW, rho="0.5"), FEW),
    "std, range above zero": (ask.std(**ABOVE, epsilon=1), HIGH),
    "variance, cell table": (ask.var(**NARROW, epsilon="0.0001"), FEW),
    "maximum, ε": (ask.max(**NARROW, epsilon=1), FEW),
    "maximum, range above zero": (ask.max(**ABOVE, epsilon=1), HIGH),
    "minimum, ε": (ask.min(**NARROW, epsilon=1), FEW),
}


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.one_in(4)
def test_a_spread_keeps_its_claim_and_uses_it(name) -> None:
    query, pairs = SPREADS[name]
    report = audit.check(query, pairs)
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > (0.6 if query.method == "exponential" else 0.95)


def test_a_distance_of_quantiles_keeps_its_claim_at_every_draw() -> None:
    for query in (
        ask.iqr(**NARROW, epsilon=1),
        ask.iqr(**NARROW, rho="0.5", between=("0.1", "0.9"), level=None),
    ):
        pairs = audit.neighbours((-8, 1, 8), 2)
        report = audit.check(query, pairs, widths=(1, 2, 1, 1, 1, 1, 1))
        assert report.passed, report
        assert report.drawn == report.claimed


def test_a_high_quantile_measured_from_a_centre() -> None:
    """600 records, it seems, and six of them beyond: all steps are taken on a few."""
    query = ask.quantile(q="0.99", **NARROW, epsilon=1)
    pairs = audit.neighbours((-8, 1, 8), 2)
    report = audit.check(query, pairs, values={"count": ((600,),)}, widths=(1, 3, 2, 1))
    assert report.passed, report
    assert [step.label for step in report.steps][:3] == ["count", "centre", "quantile"]


ARRAYS = {
    "quantiles, ε": (ask.quantiles(q=["1/3", "0.6"], **NARROW, epsilon=1), 0.8),
    "quantiles, ρ": (ask.quantiles(q=[0.25, 0.75], **NARROW, rho="0.5"), 0.8),
    "histogram, ε": (ask.histogram(edges=[-8, 0, 1], epsilon=1), 1),
    "histogram, ρ": (ask.histogram(edges=[-math.inf, 0, math.inf], rho="0.5"), 1),
    "histogram, drawn edges": (ask.histogram(bins=2, **NARROW, epsilon=1), 0.9),
    "histogram, drawn edges, ρ": (ask.histogram(bins=2, **NARROW, rho="0.5"), 0.9),
    "cdf, ε": (ask.cdf(points=[-8, 0], epsilon=1), 1),
    "cdf, ρ": (ask.cdf(points=[0, 1], rho="0.5"), 1),
    "cdf, two levels": (ask.cdf(points=range(-8, 60), epsilon=1), 1),
}


def _without_counts(options) -> bool:
    """Whether these are quantiles without counts: a single one has the law of a quantile."""
    return hasattr(options, "qs") and (len(options.qs) == 1 or options.level is None)


def coarse(query):
    """The same with few points of an integer: all outcomes of the nested law can be listed."""
    row = find_row(query.statistic, query.method)
    options = next(o for o in row.options if hasattr(o, "fine") and not _without_counts(o))
    return row.query(None, query.lattice, query.budget, options)


SLOW = {"quantiles, ρ"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in ARRAYS],
)
def test_several_numbers_keep_their_claim(name) -> None:
    query, used = ARRAYS[name]
    if query.method in ("nested", "drawn"):
        query = coarse(query)
    report = audit.check(query, MORE, widths=(2, 1, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > used - 1e-6, report


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_the_joint_law_of_quantiles_keeps_its_claim(cost) -> None:
    """A noisy number of records that is just large enough for it."""
    query = ask.quantiles(q=[0.25, 0.75], **NARROW, **cost)
    row = find_row(query.statistic, query.method)
    halves = replace(row.options[1], qs=(Fraction(1, 3), Fraction(3, 5)))
    query = row.query(None, query.lattice, query.budget, halves)
    many = (-8,) * 11 + (1,) * 8 + (8,) * 12
    pairs = [((), (1,)), ((8,), (8, 8)), ((-8, 1, 8), (-8, 1, 8, 8)), (many, (*many, 8))]
    report = audit.check(query, pairs, values={"count": ((32,), (66,))}, widths=(0, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > 0.5, report.used


@pytest.mark.parametrize(
    ("cost", "copies", "used", "option"),
    [
        ({"epsilon": 1}, 60, 0.93, 2),
        ({"rho": "0.5"}, 18, 0.6, 2),
        ({"epsilon": 1}, 60, 0.93, 3),  # edges for a population
    ],
)
def test_counts_of_cells_around_quantiles_keep_their_claim(cost, copies, used, option) -> None:
    """A noisy number of records that is plenty: counts between the points, then around them.

    The first counts see the quantiles at the points, or some records above them, or far away.
    """
    query = ask.quantiles(q=[0.25, 0.6], **NARROW, **cost)
    row = find_row(query.statistic, query.method)
    query = row.query(None, query.lattice, query.budget, row.options[option])  # no parts
    many = tuple(range(-8, 9)) * copies
    rows = len(many)
    pairs = [((), (1,)), *((many, (*many, x)) for x in (-3, 1, 8))]
    drawn = {
        "count": ((rows,),),
        "quantiles": ((rows, 4, 9), (rows, 4, 4)),
        "ranks": ((rows // 4, rows // 3, rows // 2), (rows // 9, rows // 3, rows // 2), (0, 0, 0)),
    }
    report = audit.check(query, pairs, values=drawn, widths=(0, 4, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.used > used
    assert [step.label for step in report.steps] == ["count", "quantiles", "ranks", "counts"]


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_a_range_that_is_stretched_around_the_bulk_is_paid_for(cost) -> None:
    """Around the middle, and around an end of the range, which then has two octaves."""
    query = ask.quantiles(q=["1/3", "0.6"], **NARROW, **cost, level=None)
    row = find_row(query.statistic, query.method)
    query = row.query(None, query.lattice, query.budget, row.options[1])  # no parts
    many = (-8,) * 11 + (1,) * 8 + (8,) * 12
    pairs = [((), (1,)), ((8,), (8, 8)), ((-8, 1, 8), (-8, 1, 8, 8)), (many, (*many, 8))]
    drawn = {"count": ((46,),), "bulk": (254, 255)}
    report = audit.check(query, pairs, values=drawn, widths=(0, 0, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert {step.label for step in report.steps} == {"count", "bulk", "quantiles"}


TRIMMED = {
    "trimmed mean, ε": (ask.trimmed_mean(trim=0.25, **NARROW, epsilon=1), 1.0),
    "trimmed mean, ρ": (ask.trimmed_mean(trim=0.25, **NARROW, rho="0.5"), 0.78),
    "trimmed mean, no radius": (ask.trimmed_mean(trim=0.4, **NARROW, epsilon=1, level=None), 1.0),
    "winsorized mean, ε": (ask.winsorized_mean(trim=0.25, **NARROW, epsilon=1), 1.0),
    "winsorized mean, above zero": (ask.winsorized_mean(trim=0.4, **ABOVE, epsilon=3), 0.9),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", TRIMMED)
def test_a_trimmed_mean_keeps_its_claim_at_every_draw(name) -> None:
    """No record, fewer than are trimmed, and enough: every neighbour among three values."""
    query, used = TRIMMED[name]
    points = (4, 12) if query.lattice.lo > 0 else (-8, 1, 8)
    records = 2 if query.budget.kind == "zcdp" else 4
    report = audit.check(query, audit.neighbours(points, records), widths=(1, 2, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert report.steps[1].used > used - 1e-6, report


@pytest.mark.parametrize("statistic", [ask.trimmed_mean, ask.winsorized_mean])
def test_more_records_than_a_trimmed_mean_keeps(statistic) -> None:
    """The records beyond both windows are known by their sum or not at all."""
    query = statistic(trim=0.3, **NARROW, epsilon=64)
    (asked,) = Run(query, event_of(query.budget), Remembered(())).trail[0]
    pairs = around(4 * asked.reduction.reach)[::5]
    report = audit.check(query, pairs, values={"count": ((0,), (600,))}, widths=(0, 3, 2))
    assert report.passed, report
    assert report.bound > 0.3 * float(report.claimed)


def test_missing_and_infinite_records() -> None:
    nan, inf = math.nan, math.inf
    pairs = [((), (nan,)), ((1.0,), (1.0, nan))]
    report = audit.check(ask.mean(**NARROW, epsilon=1), pairs)
    assert report.passed
    assert report.worst == 0
    outside = audit.check(ask.sum(**NARROW, epsilon=1), [((1.0,), (1.0, inf)), ((), (-1e300,))])
    assert outside.passed
    assert outside.used > 0.98


def test_an_approximate_budget_is_spent_as_a_pure_one() -> None:
    assert event_of(approx("0.7", "1e-6")) == event_of(pure("0.7"))


def test_scenarios_cover_every_budget_and_option() -> None:
    for row in REGISTRY:
        kinds = {query.budget.kind for query in audit.scenarios(row)}
        assert kinds == set(row.kinds)
        ranges = {query.lattice for query in audit.scenarios(row)}
        assert len(ranges) == (4 if row.needs_range else 1)


def test_scenarios_cover_every_kind_of_range() -> None:
    """About zero, above and below it, asymmetric about it, and with ends off the lattice."""
    ranges = [query.lattice for query in audit.scenarios(find_row("sum", "adaptive"))]
    assert any(r.lo == -r.hi for r in ranges)
    assert any(r.lo > 0 for r in ranges)
    assert any(r.hi < 0 for r in ranges)
    assert any(r.lo < 0 < r.hi and r.lo != -r.hi for r in ranges)
    assert any(r.value(r.first) != r.lo and r.value(r.last) != r.hi for r in ranges)


def test_cuts_of_a_scenario_are_in_its_range() -> None:
    for query in audit.scenarios(find_row("histogram", "noisy")):
        finite = [cut for cut in query.options.cuts if math.isfinite(cut)]
        assert finite == sorted(set(finite))
        assert query.lattice.value(query.lattice.first) < finite[0]
        assert finite[-1] < query.lattice.value(query.lattice.last)


SCENARIOS = [query for row in REGISTRY for query in audit.scenarios(row)]


def named(query) -> str:
    """Row, budget and range."""
    within = query.lattice and f"[{query.lattice.lo:g}, {query.lattice.hi:g}]"
    return f"{query.statistic}-{query.method}-{query.budget.kind}-{within}"


def uneven(query) -> bool:
    """Whether zero is above the range, or nearer to its upper end."""
    return query.lattice is not None and query.lattice.lo < -query.lattice.hi


# The first options of every row.
UNEVEN = {
    named(query): query
    for query in reversed(SCENARIOS)
    if query.budget.kind != "approx" and uneven(query)
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if query.budget.kind == "zcdp" else [])
        for name, query in UNEVEN.items()
    ],
)
@pytest.mark.one_in(6)
def test_a_range_below_or_about_zero_keeps_the_claim(name) -> None:
    query = UNEVEN[name]
    pairs = audit.neighbours((query.lattice.lo, query.lattice.hi), 2)
    report = audit.check(query, pairs, values=counts_of(query), widths=(1, 2, 1, 1))
    assert report.passed, report


@pytest.mark.slow
@pytest.mark.parametrize("request_", SCENARIOS, ids=named)
def test_every_scenario_on_three_records(request_) -> None:
    # A mean vector makes so many draws that few branches are walked; test_vectors walks others.
    few_branches = request_.statistic == "mean_vector"
    widths = (0, 1) if few_branches else (2, 4, 3, 2, 1)
    report = audit.check(told_apart(request_), values=counts_of(request_), widths=widths)
    assert report.passed, report
    # Records few and close together use a bounded range, but not all of an ε.
    usual = {
        "subset": 0.6,
        "exponential": 0.2,
        "nested": 0.2,
        "drawn": 0.5,
        "inverse-sensitivity": 0.2,
        "moments": 0.5,
        "radial": 0.2,
        "centred": 0.5,  # records of one column weigh 1: octaves hardly differ; see test_ratio
    }
    if (request_.statistic, request_.method) == ("mean", "weighted"):
        usual["weighted"] = 0.7
    # On half as many points no three records use all of every draw at once.
    least = usual.get(request_.method, 0.9 if uneven(request_) else 0.98)
    if request_.statistic == "monotone_statistic" and request_.method == "subset":
        least = 0.15  # all are trimmed
    if request_.statistic == "skewness" and request_.budget.kind == "zcdp":
        least = 0.9  # the powers of a record are bounded one by one, and not all largest at once
    if request_.statistic in {"mean_vector", "clipped_mean_vector"}:
        # Three rows end most searches early; test_vectors walks the branches that use all.
        least = 0.04 if few_branches else 0.6
    assert report.used > least


def test_a_row_is_checked_in_every_scenario() -> None:
    row = find_row("count", "noisy")
    reports = audit.check_row(row)
    assert [report.kind for report in reports] == ["pure", "zcdp", "approx"]
    assert all(report.passed for report in reports)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cost", [{"epsilon": "0.1"}, {"epsilon": 8}, {"rho": "0.001"}, {"rho": 4}], ids=str
)
@pytest.mark.parametrize("statistic", [ask.mean, ask.sum])
def test_many_branches_at_other_costs(statistic, cost) -> None:
    pairs = audit.neighbours((-8, -1, 3, 8), 2)
    query = statistic(**NARROW, **cost)
    report = audit.check(
        told_apart(query), pairs, values=counts_of(query), widths=(3, 5, 4, 3, 2, 1)
    )
    assert report.passed, report
    assert report.used > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
def test_a_wide_range_with_subsamples(cost) -> None:
    pairs = audit.neighbours((-1e9, 0.3, 1e9), 2)[:6]
    query = ask.mean(**WIDE, **cost)
    values = counts_of(query, [(0, 0), (0, 10_000), (0, 20_000)])
    report = audit.check(query, pairs, values=values, widths=(0, 3, 1, 2, 1, 1))
    assert report.passed, report
    assert report.bound > 0.95 * float(report.claimed)


SOME = ((0, 0), (0, 600), (0, 10_000))


@pytest.mark.slow
def test_random_larger_data_sets() -> None:
    """Up to eight records at random places of a range of ±100."""
    rng = np.random.default_rng(7)
    pairs = []
    for _ in range(20):
        data = tuple(float(x) for x in np.sort(rng.integers(-100, 101, rng.integers(4, 8))))
        pairs.append((data, tuple(sorted((*data, float(rng.integers(-100, 101)))))))
    for query in (
        ask.mean(within=(-100, 100), step=1, epsilon=1, clusters="keep"),
        ask.mean(within=(-100, 100), step=1, rho="0.5"),
        ask.sum(within=(-100, 100), step=1, epsilon=1),
        ask.mean(within=(-100, 100), step=1, epsilon=30, method="subset"),
    ):
        # No level of which 2^8 subsamples differ.
        values = {"count": ((0,), (600,), (10_000,)), KINDS: kinds_of(query, SOME)}
        report = audit.check(query, pairs, values=values, widths=(2, 3, 2, 2, 1))
        assert report.passed, report
