"""Histograms and distribution functions: what is counted, noise, intervals, levels."""

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.statistics.order.histogram import CdfErrorModel, increasing, levels_of
from modicum.summaries.base import Read
from modicum.summaries.sums import BinCounts, BinSummary
from tests.sources.engines.makers import TABLES, table_of

SURE = {"epsilon": 50}  # noise of 0, but for once in e^50
RNG = np.random.default_rng(3)
X = np.concatenate([RNG.normal(50, 20, 5000), [0.0, 10.0, 100.0, 100.0, -5, 300, np.nan]])


@pytest.mark.parametrize("edges", [[0, 10, 100], [0.1, 0.2, 0.3, 100], np.linspace(-7, 301, 50)])
def test_a_histogram_is_that_of_numpy(edges) -> None:
    found = mo.histogram(X, edges=edges, **SURE)
    assert found.values.tolist() == np.histogram(X[~np.isnan(X)], edges)[0].tolist()


def test_infinite_edges_leave_nobody_out() -> None:
    found = mo.histogram(X, edges=[-np.inf, 50, np.inf], **SURE)
    assert found.values.tolist() == [(X < 50).sum(), (X >= 50).sum()]
    everyone = mo.histogram([-np.inf, np.inf, 3.0], edges=[-np.inf, 3, np.inf], **SURE)
    assert everyone.values.tolist() == [1, 2]


@pytest.mark.parametrize("bins", [2, 5, 20])
def test_drawn_bins_hold_everyone_about_evenly(bins) -> None:
    found = mo.histogram(X, bins=bins, within=(-1e9, 1e9), epsilon=200)
    left, right = ([label[i] for label in found.labels] for i in (0, 1))
    edges = [*left, right[-1]]
    assert edges[0] == -1e9
    assert edges[-1] == 1e9
    assert list(right[:-1]) == list(left[1:])
    # An edge may be a record, rounded to the step.
    rounded = np.round(X[~np.isnan(X)] * 2**21) / 2**21
    assert found.values.tolist() == np.histogram(rounded, edges)[0].tolist()
    assert np.allclose(found.values, 5006 / bins, atol=5)


def test_drawn_edges_that_are_equal_are_one() -> None:
    x = np.repeat([1.0, 2.0, 7.0], [3000, 5000, 100])
    found = mo.histogram(x, bins=8, within=(0, 7), epsilon=200, step=1)
    assert found.values.sum() == 8100
    assert found.labels == ((0, 1), (1, 2), (2, 7))
    ends = mo.histogram(np.full(900, 7.0), bins=4, within=(0, 7), epsilon=200, step=1)
    assert ends.values.tolist() == [900]


@pytest.mark.parametrize("points", [[50], [-10, 0, 50, 99.5, 100, 400], np.arange(0, 101, 0.25)])
def test_a_cdf_counts_up_to_each_point(points) -> None:
    found = mo.cdf(X, points=points, epsilon=500)
    numbers = X[~np.isnan(X)]
    assert np.allclose(found.values, [(numbers <= p).mean() for p in points], atol=1e-12)


@pytest.mark.parametrize(
    "edges",
    [(-5, 0, 12_345, 51_200), tuple(range(-9000, 99_000, 2000)), (-(2**40), -1_024_000, 1_024_001)],
    ids=["few", "many", "ends"],
)
@pytest.mark.parametrize("engine", TABLES)
def test_bins_are_equal_on_every_engine(edges, engine, tmp_path) -> None:
    lattice = Lattice.within((-1000, 1000), 2.0**-10)
    reduction = BinCounts(edges)
    table = TABLES[engine](table_of(pa.array(X[:300]), pa.array(X[300:])), tmp_path)
    (summary,) = read(open_source(table), [Read("x", lattice, reduction)], SeededEntropy("e"))
    places = np.searchsorted(reduction.edges, lattice.quantise(X[~np.isnan(X)]), side="right")
    assert summary.counts == tuple(np.bincount(places, minlength=len(edges) + 1).tolist())
    assert BinSummary.from_bytes(summary.to_bytes()) == summary
    assert summary.merge(summary).counts == tuple(2 * n for n in summary.counts)


@pytest.mark.parametrize(("apart", "code"), [(250, "coarse_step"), (2**20, "ok")])
@pytest.mark.parametrize("verb", ["cdf", "histogram"])
def test_cuts_a_few_steps_apart_are_told(verb, apart, code) -> None:
    """Integers near 2^53 are rounded to multiples of 8; less a public number they are not."""
    x, cuts = 2.0**53 - np.arange(1, 1000), [2.0**53 - 1 - k * apart for k in (3, 2, 1)]
    name = "points" if verb == "cdf" else "edges"
    assert getattr(mo, verb)(x, **{name: cuts}, epsilon=1).code == code
    near = [cut - 2.0**53 for cut in cuts]
    assert getattr(mo, verb)(x - 2.0**53, **{name: near}, epsilon=1).code == "ok"
    # A step that was asked for is no surprise.
    assert getattr(mo, verb)(X, **{name: [0, 64, 128]}, step=1, epsilon=1).code == "ok"


def coverage(question, truth, releases: int) -> float:
    curator = mo.Curator(X[:2000], budget=mo.zcdp(10**6), entropy=SeededEntropy("c"))
    held = 0
    for _ in range(releases):
        lower, upper = curator.run(question).interval()
        held += bool(((lower <= truth) & (truth <= upper)).all())
    return held / releases


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.1"}], ids=str)
@pytest.mark.one_in(2)
def test_all_intervals_hold_at_once(cost) -> None:
    edges, x = np.linspace(-50, 150, 21), X[:2000]
    question = ask.histogram(edges=edges, **cost)
    held = coverage(question, np.histogram(x, edges)[0], 250)
    assert 0.92 < held < 0.99 or held == 1  # integers: the level is met or exceeded
    for points in (edges, np.linspace(-50, 150, 200)):
        truth = np.array([(x <= p).mean() for p in points])
        assert coverage(ask.cdf(points=points, **cost), truth, 100) >= 0.95


def test_more_levels_pay_for_many_points() -> None:
    """The number of levels that is chosen has about the least error of all."""

    def error(cells: int, sizes: tuple[int, ...]) -> float:
        noise = LaplaceNoise(len(sizes))
        entropy = SeededEntropy(f"{cells} {sizes}")
        truth = np.full(cells, 100)
        errors = []
        for _ in range(30):
            exact = [np.add.reduceat(truth, np.arange(0, cells, size)) for size in sizes]
            counts = tuple(
                tuple(map(int, each + noise.vector(len(each), entropy))) for each in exact
            )
            found = CdfErrorModel(noise, Lattice.within((-8, 8)), sizes, counts).shares
            errors.append(np.abs(found - np.arange(1, cells) / cells).mean())
        return float(np.mean(errors))

    for cells in (10, 36, 200, 1000, 4000):
        part2, part3 = round(cells ** (1 / 2)), round(cells ** (1 / 3))
        tried = [(1,), (part2, 1), (part3**2, part3, 1)]
        chosen = levels_of(cells, 2)
        assert chosen in tried
        assert error(cells, chosen) < 1.25 * min(error(cells, sizes) for sizes in tried)


def test_levels_agree_after_the_estimate() -> None:
    counts = ((10, 20), (3, 4, 9, 2))
    found = CdfErrorModel(LaplaceNoise(1), Lattice.within((-8, 8)), (2, 1), counts)
    # least squares: x1 + x2 = 10, x3 + x4 = 20, x = counts, all of one variance
    design = np.array([[1, 1, 0, 0], [0, 0, 1, 1], *np.eye(4)])
    best = np.linalg.lstsq(design, np.array([10, 20, 3, 4, 9, 2.0]), rcond=None)[0]
    assert np.allclose(found.shares, np.cumsum(best)[:-1] / best.sum())


def test_increasing_is_the_nearest() -> None:
    y = RNG.normal(size=30).cumsum()
    found = increasing(y)
    assert (np.diff(found) >= 0).all()
    assert np.isclose(found.sum(), y.sum())
    for _ in range(200):
        other = np.sort(found + RNG.normal(0, 0.3, 30))
        assert ((y - found) ** 2).sum() <= ((y - other) ** 2).sum()


@pytest.mark.parametrize("noise", [LaplaceNoise(3), GaussianNoise(30)], ids=str)
@pytest.mark.parametrize("parts", [((1.0, 1),), ((0.9, 3), (0.1, 8)), ((1.0, 40),)])
def test_the_bound_of_a_sum_holds_and_is_near(noise, parts) -> None:
    entropy = SeededEntropy(f"{noise} {parts}")
    sums = [
        sum(weight * sum(noise.sample(entropy) for _ in range(times)) for weight, times in parts)
        for _ in range(2000)
    ]
    for alpha in (0.2, 0.05):
        bound = noise.sum_bound(parts, alpha)
        assert np.mean(np.array(sums) > bound) <= alpha
        assert bound < 2.5 * np.quantile(sums, 1 - alpha) + 3


def test_empty_data() -> None:
    found = mo.cdf(np.empty(0), points=[1, 2], epsilon=1)
    assert ((found.values >= 0) & (found.values <= 1)).all()
    assert mo.histogram(np.empty(0), edges=[0, 1], epsilon=1).values[0] >= 0


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ([0], "2 to 10000"),
        ([0, 0], "increase"),
        ([1, 0], "increase"),
        ([0, np.inf, np.inf], "finite"),
        ([-np.inf, np.inf], "finite"),
        ([0, float("nan")], "numbers"),
        ([0, "a"], "numbers"),
        ([True, 2], "numbers"),
        ("01", "list"),
        (5, "list"),
        ([0, 1e-300], "one number"),
        (list(range(10_002)), "10000"),
    ],
)
def test_bad_edges(wrong, word) -> None:
    with pytest.raises(mo.InvalidArgument, match=word):
        ask.histogram(edges=wrong, epsilon=1)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({}, "either"),
        ({"within": (0, 1)}, "either"),
        ({"edges": [0, 1], "within": (0, 1)}, "no range"),
        ({"bins": 3, "step": 1}, "step needs within"),
        ({"edges": [0, 1], "bins": 3, "within": (0, 1)}, "either"),
        ({"bins": 1, "within": (0, 1)}, "whole number"),
        ({"bins": 2.0, "within": (0, 1)}, "whole number"),
        ({"bins": True, "within": (0, 1)}, "whole number"),
        ({"bins": 3, "within": (1, 0)}, "within"),
    ],
)
def test_bad_bins(wrong, word) -> None:
    with pytest.raises(mo.InvalidArgument, match=word):
        ask.histogram(**wrong, epsilon=1)
    if wrong.keys() != {"within"}:
        with pytest.raises(mo.InvalidArgument, match=word):
            mo.plan.histogram(**wrong, epsilon=1, n=100, sd=1)


def test_bad_points() -> None:
    for wrong in ([], [np.inf], [1, np.nan], [2, 1]):
        with pytest.raises(mo.InvalidArgument, match="points"):
            ask.cdf(points=wrong, epsilon=1)
