"""Bounds that all groups find together, and the mean of a group between them."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from modicum import query as ask
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import LaplaceNoise
from modicum.privacy.event import PureDP
from modicum.runtime.replay import Run
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.statistics.groups.pooled import Pool, find_pool
from modicum.statistics.groups.pooled_law import PooledErrorModel, _excess, poisson
from modicum.statistics.means.found_mean import bounds_in_window
from modicum.statistics.ranges.bounded_mean import BoundedErrorModel
from modicum.statistics.tails.outside import NoisyTerm

LATTICE = Lattice.within((-1e9, 1e9))
ONE = PureDP(Fraction(1))
RNG = np.random.default_rng(0)


class Table:
    """Reads an array for a replay."""

    def __init__(self, x) -> None:
        self._source = open_source(np.array(x))

    def read(self, reads, entropy):
        return read(self._source, reads, entropy)


def finished(steps, x, forced=None, seed="pool"):
    """Run steps on an array, with some outcomes given by their labels."""
    query = replace(ask.mean(within=(-1, 1), epsilon=1), begin=lambda event: steps)
    run, entropy, spent = Run(query, ONE, Table(x)), SeededEntropy(seed), Fraction(0)
    while run.waiting is not None:
        label = run.trail[-1][0]
        spent += run.event.cost("pure").amount
        run.give((forced or {}).get(label) or run.waiting.sample(entropy))
    return run, spent


INCOMES = RNG.lognormal(10.8, 0.9, 60_000)


def pool_of(x=INCOMES, groups: int = 300, **more) -> tuple[Pool, Fraction]:
    run, spent = finished(find_pool(bounds_in_window, None, LATTICE, ONE, groups), x, **more)
    return run.answer, spent


def test_bounds_are_nested_and_hold_more_the_larger_the_groups() -> None:
    pool, spent = pool_of()
    assert pool.useful
    assert pool.sizes == (10.0, 30.0, 100.0, 300.0, 900.0)
    assert spent < Fraction(1, 5)
    for (lo, hi), (wider_lo, wider_hi) in zip(pool.bounds, pool.bounds[1:], strict=False):
        assert wider_lo <= lo <= pool.centre <= hi <= wider_hi
    step = LATTICE.step
    outside = [np.mean((lo * step > INCOMES) | (hi * step < INCOMES)) for lo, hi in pool.bounds]
    assert outside == sorted(outside, reverse=True)
    # The best bounds of groups of m records leave about one record a side outside.
    assert 0.005 < outside[1] < 0.2
    assert outside[3] < 0.02


def test_the_cells_are_those_of_all_records() -> None:
    pool, _ = pool_of()
    step = LATTICE.step
    ends = [*(lo for lo, _ in pool.nested[::-1]), pool.centre, *(hi for _, hi in pool.nested)]
    counts = np.histogram(INCOMES / step, [-math.inf, *ends, math.inf])[0]
    assert len(pool.counts) == len(counts)
    assert np.abs(np.array(pool.counts) - counts).max() < 1500
    assert sum(pool.inner.shares) == pytest.approx(1)
    assert len(pool.inner.counts) == 6
    assert sum(pool.inner.counts) == sum(pool.counts)


@pytest.mark.parametrize(
    ("n0", "groups"), [(900, 30), (1_000_000, 30)], ids=["few records", "large groups"]
)
def test_nothing_more_is_spent_where_it_gains_nothing(n0: int, groups: int) -> None:
    pool, spent = pool_of(groups=groups, forced={"records": (n0,)})
    assert not pool.useful
    assert spent < Fraction(11, 1000)


@pytest.mark.parametrize(
    "x",
    [np.full(20_000, 7.0), np.arange(20_000) % 2.0, np.arange(60_000) % 20 < 1],
    ids=["sevens", "dummies", "5 % ones"],
)
def test_bounds_of_columns_of_few_values(x) -> None:
    pool, _ = pool_of(x.astype(float), groups=200)
    assert pool.useful
    lo, hi = (end * LATTICE.step for end in pool.bounds[-1])
    assert lo <= x.min() + 1e-6
    assert hi >= x.max() - 1e-6
    assert hi - lo < 3


def test_zeros_are_found_by_every_group_alone() -> None:
    assert not pool_of(np.zeros(20_000), groups=200)[0].useful


def model(left=300.0, right=700.0, *, scale=1.5, width=1000, **more) -> PooledErrorModel:
    """Of about 1000 records between 0 and 1, in thousandths."""
    lattice, step = Lattice(-8.0, 8.0, 2.0**-10), 2.0**-10
    width = round(width / 1000 * 1024)
    noise = NoisyTerm(LaplaceNoise(Fraction(scale) * width), 1.0)
    inside = BoundedErrorModel(
        Lattice(0.0, width * step, step), round(left * width), round(right * width), noise
    )
    cells = ((0.002, 2 * width), (0.0005, None))
    below = ((0.002, -width), (0.0005, None))
    tail = {"least": 2.0, "typical": 3.0} | more
    return PooledErrorModel(lattice, inside, width // 4, below, cells, **tail)


def test_the_interval_allows_for_noise_and_what_is_clipped() -> None:
    found = model()
    assert float(found.value) == pytest.approx(0.3, abs=1e-3)
    inner = found.interval(0.95, None)
    assert inner == found.inside.interval(0.95, None)
    outer = found.interval(0.95, 3.0)
    assert outer.lower < inner.lower < 0.3 < inner.upper < outer.upper
    heavier = found.interval(0.95, 1.5)
    assert heavier.upper > outer.upper
    # 3 x 2 records a side at half a width, 3 x 0.5 further out: about 5 widths in all.
    assert 0.003 < outer.upper - inner.upper < 0.03


@pytest.mark.parametrize("records", [1.0, 1.01, 7.3, 33.0, 410.7, 5000.0])
def test_few_laws_stand_for_those_of_all_numbers_of_records(records: float) -> None:
    """What is clipped is allowed for in full, and for hardly more than by a law of its own."""
    found = model(600 * records, 400 * records)
    for side, alpha in ((0, 0.006), (1, 0.006), (1, 0.1)):
        taken = found._taken(side, alpha, 2.0) * found.count / found.lattice.step
        ((share, end), (last, _)) = (found.below, found.above)[side]
        edge = (found.lo, found.hi)[side]
        far = float(abs(end - edge))
        sizes = ((share, far / 2), (last, far + (abs(edge - found.centre) + far) / 1.0))
        most = sizes[1][1]  # what is taken off each record at most, and one record more or less
        exact = min(_excess(sizes, found.count, alpha), most * found.count)
        assert exact * (1 - 1e-3) <= taken <= exact * 2 ** (1 / 32) + most


def test_the_interval_of_a_value_that_is_shrunk_holds_both() -> None:
    moved = replace(model(), towards=0.9, weight=0.25)
    assert float(moved.value) == pytest.approx(0.25 * moved.unshrunk + 0.75 * 0.9)
    lower, upper = moved.interval(0.95, 3.0)
    assert lower < moved.unshrunk < float(moved.value) <= upper
    assert moved.to_dict()["unshrunk"] == moved.unshrunk


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (model(), "ok"),
        (model(least=1.1, typical=1.3), "heavy_tail"),
        (model(least=1.4, typical=2.0), "unseen"),
        (model(least=None, typical=None), "unseen"),
        (model(2, 3), "few_records"),
        (model(990, 10), "clipped"),
        (model(10, 990), "clipped"),
        (model(50, 950), "clipped"),
        (model(100, 900), "ok"),
    ],
)
def test_statuses(found, code: str) -> None:
    assert found.status.code == code


def test_the_deviation_is_that_of_the_noise() -> None:
    """Drawn anew from the law of both sums; 30 % less noise would be seen."""
    found, rng = model(), np.random.default_rng(1)
    scale = float(found.inside.noise.noise.scale)
    left, right = (
        s + rng.laplace(0, scale, 20_000) for s in (found.inside.left, found.inside.right)
    )
    drawn = left / (left + right)
    assert found.deviation == pytest.approx(drawn.std() * found.hi * found.lattice.step, rel=0.04)


def test_poisson_numbers() -> None:
    for mean in (0.0, 0.3, 40.0, 3000.0):
        numbers, masses = poisson(mean)
        assert float(masses.sum()) == pytest.approx(1)
        assert float(numbers @ masses) == pytest.approx(mean, abs=1e-6)
