"""Means of values that are mostly equal, far apart or skewed: right, or honestly unsure."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum import local, shuffle
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.protocols.local.frequency import best_tree
from modicum.protocols.local.mean import WindowRound, _Beyond
from modicum.protocols.local.tree import TreeCells


def played(protocol, data, seed=1):
    batch = local.Batch(protocol, len(data), entropy=SeededEntropy(seed))
    server = local.Server(protocol)
    while server.estimate is None:
        server.aggregate([batch.respond(data, server.announcement)])
        server.close()
    return server.estimate


def zeros(rng, n: int, scale: float) -> np.ndarray:
    return np.where(rng.random(n) < 0.1, rng.exponential(scale, n), 0.0)


KINDS = {
    "20 % yes": ((0, 1), lambda rng, n: (rng.random(n) < 0.2) * 1.0, 0.02),
    "5 % yes": ((0, 1), lambda rng, n: (rng.random(n) < 0.05) * 1.0, 0.02),
    "95 % yes": ((0, 1), lambda rng, n: (rng.random(n) < 0.95) * 1.0, 0.02),
    "90 % zero": ((0, 1000), lambda rng, n: zeros(rng, n, 100), 20),
    "90 % zero, shifted": ((-700, 300), lambda rng, n: -zeros(rng, n, 100), 20),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.one_in(3)
def test_a_mean_of_mostly_equal_values_is_found_in_a_range_like_theirs(kind, epsilon) -> None:
    within, data, most = KINDS[kind]
    protocol = local.mean(within=within, epsilon=epsilon, session=f"{epsilon:032x}")
    x = data(np.random.default_rng(epsilon), 60_000)
    found = played(protocol, x)
    error = abs(found.value - x.mean())
    assert error < most
    assert error < 4 * found.standard_error + 0.02 * (within[1] - within[0]) * found.clipped
    assert found.standard_error < most


@pytest.mark.parametrize(
    "kind", ["20 % yes", *(pytest.param(kind, marks=pytest.mark.slow) for kind in [*KINDS][1:])]
)
def test_few_answers_leave_nobody_out_of_a_tight_range(kind) -> None:
    """[local.12]: 2,500 people say where the numbers are, each about one of 16 levels."""
    within, data, _most = KINDS[kind]
    errors = []
    for seed in range(10):
        x = data(np.random.default_rng(seed), 10_000)
        found = played(local.mean(within=within, epsilon=1, session=f"{seed:032x}"), x, seed)
        errors.append((found.value - x.mean()) / found.standard_error)
    assert np.sum(np.abs(errors) > 2.5) <= 1


@pytest.mark.parametrize("low", [0, -1000])
def test_where_others_are_about_a_common_value_follows_the_likelihood(low) -> None:
    """Others beyond the nodes of the four finest of eight levels, seen or not."""
    covers = [(low - 4**k, low + 4**k) for k in range(8, 0, -1)]
    seen = np.array([0.0] * 4 + [0.2] * 4)
    for deviation, expected in ((0.01, covers[3]), (0.03, covers[3]), (0.5, None)):
        beyond = _Beyond(seen, np.full(8, deviation**2), covers)
        assert beyond.around_common_value() == expected
    # Noise that hides the level makes the bounds wider; a share of exactly 0 excludes nobody.
    unsure = _Beyond(seen, np.full(8, 0.08**2), covers).around_common_value()
    assert unsure is None or unsure[1] > covers[3][1]
    nobody = _Beyond(np.zeros(8), np.full(8, 1e-6), covers)
    assert nobody.around_common_value() is None


@pytest.mark.parametrize("kind", ["20 % yes", "90 % zero"])
def test_the_same_through_a_shuffler(kind) -> None:
    within, data, most = KINDS[kind]
    n = 30_000
    made = shuffle.mean(within=within, epsilon=1, delta="1e-8", clients=n, session="0" * 32)
    x = data(np.random.default_rng(2), n)
    found = played(made.protocol, x)
    assert abs(found.value - x.mean()) < most / 2
    assert found.standard_error < most / 2


@pytest.mark.parametrize("sign", [1, -1])
def test_others_far_from_a_common_value_are_seen_in_a_wide_range(sign) -> None:
    """The common value lies on a border of nodes of all levels; the others on either side of it."""
    rng = np.random.default_rng(3)
    for others in (np.full(40_000, 1.0), rng.exponential(100, 40_000)):
        x = sign * np.where(rng.random(40_000) < 0.25, others, 0.0)
        protocol = local.mean(within=(-1e6, 1e6), epsilon=4, session=f"{7:032x}")
        found = played(protocol, x)
        assert found.high - found.low < 1e5
        beyond = ((x < found.low) | (x > found.high)).mean()
        assert beyond < 0.1
        assert abs(found.value - x.mean()) < 5 * found.standard_error + 40 * beyond


def test_where_nothing_can_be_excluded_the_error_says_so() -> None:
    """Some hundred people of whom most have one value: the bounds stay wide, and so the error."""
    for seed in range(4):
        protocol = local.mean(within=(-1e6, 1e6), epsilon=1, session=f"{seed:032x}")
        data = np.where(np.arange(600) % 10 == 0, 5e5, 0.0)
        found = played(protocol, data, seed)
        assert found.standard_error > 1e4
        assert abs(found.value - data.mean()) < 5 * found.standard_error


def test_a_tight_range_is_one_round_of_everybody() -> None:
    x = (np.random.default_rng(1).random(20_000) < 0.3) * 1.0
    for protocol in (
        local.mean(within=(0, 1), epsilon=1, search=False),
        local.mean(within=(0, 1), epsilon=1, step=1),
    ):
        assert protocol.rounds == 1
        assert local.from_json(protocol.to_json()) == protocol
        found = played(protocol, x)
        assert (found.located_by, found.clients, found.clipped) == (0, 20_000, 0.0)
        assert abs(found.value - x.mean()) < 5 * found.standard_error
        assert 1 < found.standard_error / protocol.error(20_000, width=1) < 1.3
    wide = local.mean(within=(0, 1), epsilon=1)
    assert (wide.rounds, local.mean(within=(0, 8), epsilon=1, step=1).rounds) == (2, 2)
    assert wide.error(20_000, width=1) > 1.1 * protocol.error(20_000, width=1)
    with pytest.raises(InvalidArgument, match="search must be True or False"):
        local.mean(within=(0, 1), epsilon=1, search=1)


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_the_share_at_the_bounds_is_unbiased_and_its_deviation_right(epsilon) -> None:
    """[local.13]: 3 % beyond one bound, 10 % beyond the other, the rest in the middle."""
    asked = WindowRound(0, 1 << 20, Fraction(epsilon))
    rows = np.repeat([-5, 1 << 19, 1 << 21], [30, 870, 100])[:, None] * np.ones(1, np.int64)
    for room, truth in (((9**9, 9**9), 0.13), ((9**9, 0), 0.03), ((0, 9**9), 0.10)):
        found = np.array(
            [
                asked.clipped(asked.draw(rows, np.empty(0), SeededEntropy(seed)), room)
                for seed in range(150)
            ]
        )
        spread = found[:, 0].std()
        assert abs(found[:, 0].mean() - truth) < 4 * spread / math.sqrt(150)
        assert 0.8 < found[:, 1].mean() / spread < 1.25
        # Noise that is 30 % too small would be noticed.
        assert not 0.8 < found[:, 1].mean() / (0.6 * spread) < 1.25
    nobody = asked.clipped(asked.draw(rows, np.empty(0), SeededEntropy(1)), (0, 0))
    assert nobody == (0.0, 0.0, 0.0)
    single = WindowRound(0, 10, Fraction(1, 2))
    assert math.isnan(single.clipped(np.zeros(3, "<u2"), (1, 1))[0])


def test_the_error_counts_what_is_seen_to_be_clipped() -> None:
    rng = np.random.default_rng(8)
    asked = WindowRound(0, 1 << 20, Fraction(4))
    rows = (rng.exponential(0.3, 60_000) * 2**20).astype(np.int64)[:, None]
    answers = asked.draw(rows, np.empty(0), SeededEntropy(1))
    _value, error = asked.mean(answers)
    lost = rows.mean() - np.clip(rows, 0, 1 << 20).mean()
    moved = asked.clipped(answers, (0, 1 << 24))[2]
    assert lost > 4 * error
    assert 0.4 * lost < moved < 2.5 * lost
    # A tenth far beyond, and nobody near the bound: they may lie anywhere in the range.
    apart = (np.where(rng.random(60_000) < 0.1, 50.0, 0.5) * 2**20).astype(np.int64)[:, None]
    answers = asked.draw(apart, np.empty(0), SeededEntropy(3))
    far = 99 << 20
    assert 0.09 * far < asked.clipped(answers, (far, far))[2] < 0.11 * far
    inside = (rng.uniform(0.3, 0.7, 60_000) * 2**20).astype(np.int64)[:, None]
    answers = asked.draw(inside, np.empty(0), SeededEntropy(2))
    assert asked.clipped(answers, (1 << 24, 1 << 24))[2] < asked.mean(answers)[1]


@pytest.mark.parametrize("kind", ["exponential", "lognormal", "normal"])
@pytest.mark.one_in(6)
def test_stated_errors_of_a_mean_count_what_a_tail_loses(kind) -> None:
    """The bias of clipping, as far as it shows, beside what is drawn."""
    errors, stated = [], []
    for seed in range(4):
        x = getattr(np.random.default_rng(seed), kind)(size=60_000) * 10
        found = played(local.mean(within=(-1e9, 1e9), epsilon=4, session=f"{seed:032x}"), x, seed)
        errors.append(found.value - x.mean())
        stated.append(found.standard_error)
    real = math.sqrt(np.mean(np.square(errors)))
    assert 0.45 < real / math.sqrt(np.mean(np.square(stated))) < 1.6


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cells", "epsilon", "skew"),
    [
        (64, 8, 0),
        (10, 4, 0),
        (64, 4, 1.1),
        pytest.param(64, "6.5", 0, marks=pytest.mark.slow),
        pytest.param(64, 1, 0, marks=pytest.mark.slow),
        pytest.param(1000, 4, 1.5, marks=pytest.mark.slow),
    ],
)
def test_stated_errors_of_a_histogram_are_the_real_ones(cells, epsilon, skew) -> None:
    """Also where an answer says nearly everything, and who is asked is what is left of chance."""
    n = 3000
    weights = 1.0 / np.arange(1, cells + 1) ** skew
    data = np.random.default_rng(1).choice(cells, n, p=weights / weights.sum()).astype(float)
    errors, stated = [], []
    for seed in range(30):
        protocol = local.histogram(
            within=(0, cells - 1), step=1, epsilon=epsilon, session=f"{seed:032x}"
        )
        x = np.random.default_rng(seed).permutation(data)
        found = played(protocol, x, seed)
        points = np.arange(1, cells)
        errors += [found.below(point) - (x < point).mean() for point in points]
        stated.append(found.deviation)
        planned = protocol.error(n)
    real = math.sqrt(np.mean(np.square(errors)))
    assert 0.85 < real / np.mean(stated) < 1.2
    assert 0.8 < real / planned < 1.3 or skew


def test_few_cells_are_one_level_where_that_is_better() -> None:
    """Bins of ten categories, against the tree of two levels, by exact variances."""
    for epsilon in (1, 4, 6):
        flat = best_tree(TreeCells(0, 9, 1), Fraction(epsilon))
        assert (flat.branching, flat.depth) == (10, 1)
        assert best_tree(TreeCells(0, 1, 1), Fraction(epsilon)).depth == 1
        assert best_tree(TreeCells(0, 9999, 1), Fraction(epsilon)).branching == 4
