"""Joint quantiles: an exact law, private on small neighbours, and its wrong forms are not."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from modicum import audit
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms import joint_quantiles as joint
from modicum.mechanisms import quantile_bands
from modicum.mechanisms.grids import EVEN, RangeWarp
from modicum.mechanisms.joint_quantiles import JointQuantiles, JointTerms
from modicum.mechanisms.quantile_bands import Band, BandCells, QuantileProposal, Scale, bands_of
from modicum.privacy.event import PureDP
from modicum.summaries.brackets import Ranked
from tests.mechanisms.test_quantile_tree import Sorted, neighbours, worst

HALVES = (Fraction(1, 2), Fraction(1, 2))
THIRDS = (Fraction(1, 3),) * 3
UNEVEN = (Fraction(1, 10), Fraction(2, 5), Fraction(1, 2))
CAP = 60


def law_of(data, shares, *, epsilon=Fraction(1), fine=1, last=2, totals=range(6), cap=CAP):
    terms = JointTerms(shares, totals, cap)
    return JointQuantiles(
        Sorted(tuple(sorted(data))), 0, last, fine, terms, epsilon, PureDP(epsilon)
    )


class Many(Sorted):
    """The same for many records."""

    def __init__(self, data) -> None:
        self.data = tuple(sorted(data))
        values = np.array(self.data, dtype=np.int64)
        self.ranked = Ranked(*np.unique(values, return_index=True, return_counts=True))

    def place(self, value: int) -> tuple[int, int]:
        low, high = (int(np.searchsorted(self.data, value, side)) for side in ("left", "right"))
        return low, high - low

    def below(self, value: int) -> int:
        return self.place(value)[0]

    def between(self, start: int, stop: int):
        return self.ranked.between(max(start, 0), min(stop, self.count))


def mass(data, fine: int, z: int) -> float:
    """Records below a point, those at its integer in proportion."""
    t, part = divmod(z, 1 << fine)
    return sum(x < t for x in data) + data.count(t) * part / (1 << fine)


def listed(data, shares, *, epsilon, fine, last, totals, cap) -> dict:
    """All probabilities, straight from the definition."""
    ends = range(((last + 1) << fine) + 1)
    weights = {}
    for c in totals:
        for points in combinations_with_replacement(ends, len(shares) - 1):
            below = [0.0, *(mass(data, fine, z) for z in points), float(len(data))]
            loss = sum(
                abs(b - a - c * float(p)) for (a, b), p in zip(pairwise(below), shares, strict=True)
            )
            weights[c, *points] = math.exp(-float(epsilon) / 2 * min(loss, cap))
    total = math.fsum(weights.values())
    return {outcome: weight / total for outcome, weight in weights.items()}


@pytest.mark.parametrize("shares", [HALVES, THIRDS, UNEVEN], ids=str)
@pytest.mark.parametrize("data", [(), (1,), (0, 0, 1, 2, 2)], ids=str)
def test_probabilities_are_those_of_the_definition(shares, data) -> None:
    wanted = {"epsilon": Fraction(1), "fine": 1, "last": 2, "totals": range(0, 8, 3), "cap": 90}
    mechanism = law_of(data, shares, **wanted)
    found = {outcome: math.exp(mechanism.log_density(outcome)) for outcome in mechanism.probes()}
    exact = listed(data, shares, **wanted)
    assert found.keys() == exact.keys()
    assert [found[o] for o in exact] == pytest.approx(list(exact.values()), rel=1e-9)


STRETCHED = RangeWarp(0, 0, 2)


def stretched_mass(data, fine: int, z: int) -> float:
    """Records below a point; the integers 0, 1 and 2 have 4, 2 and 1 places."""
    edges = [0, 4, 6, 7]
    shares = [(z / 2**fine - low) / (high - low) for low, high in pairwise(edges)]
    return sum(data.count(t) * min(max(share, 0.0), 1.0) for t, share in enumerate(shares))


@pytest.mark.parametrize("data", [(), (1,), (0, 0, 1, 2, 2)], ids=str)
@pytest.mark.parametrize("fine", [0, 1])
def test_in_a_stretched_range_records_are_spread_over_all_points_of_an_integer(data, fine) -> None:
    wanted = {"epsilon": Fraction(1), "fine": fine, "last": 2, "totals": range(0, 8, 3), "cap": 90}
    mechanism = replace(law_of(data, THIRDS, **wanted), warp=STRETCHED)
    weights = {}
    for c, *points in mechanism.probes():
        below = [0.0, *(stretched_mass(data, fine, z) for z in points), float(len(data))]
        loss = sum(abs(b - a - c / 3) for a, b in pairwise(below))
        weights[c, *points] = math.exp(-min(loss, 90) / 2)
    assert max(z for _, *points in weights for z in points) == 7 << fine
    total = math.fsum(weights.values())
    found = {outcome: math.exp(mechanism.log_density(outcome)) for outcome in weights}
    exact = {outcome: weight / total for outcome, weight in weights.items()}
    assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("shares", [HALVES, UNEVEN], ids=str)
def test_a_stretched_range_is_private_on_all_small_neighbours(shares) -> None:
    loss = worst(
        lambda data: replace(law_of(data, shares), warp=STRETCHED), neighbours((0, 1, 2), 3)
    )
    assert 0.4 < loss <= 1


@pytest.mark.parametrize("levels", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_sampler_follows_the_law_in_a_stretched_range(levels) -> None:
    mechanism = law_of((0, 1, 1, 1, 2), THIRDS, epsilon=Fraction(4), totals=range(3, 9, 2))
    mechanism = replace(mechanism, warp=STRETCHED)
    mechanism._proposals.extend(mechanism._proposal(level, upper=True) for level in range(levels))
    assert audit.fit(mechanism, 800, SeededEntropy("stretched")) > 1e-4


@pytest.mark.parametrize(("shares", "fine"), [(HALVES, 2), (THIRDS, 1), (UNEVEN, 0)], ids=str)
def test_it_is_private_on_all_small_neighbours(shares, fine) -> None:
    loss = worst(lambda data: law_of(data, shares, fine=fine), neighbours((0, 1, 2), 3))
    assert 0.4 < loss <= 1


def test_it_can_lose_nearly_all_of_its_budget() -> None:
    """One candidate is right for one of two neighbours, at many more points than for the other."""

    def build(data) -> JointQuantiles:
        return law_of(data, HALVES, epsilon=Fraction(4), last=40, totals=range(0, 13, 12))

    data = (0,) * 6 + (40,) * 5
    assert 0.8 * 4 < worst(build, [(data, (*data, 40))]) <= 4


def test_wrong_forms_are_not_private() -> None:
    """The number of records read off the data; a rate of ε; ties divided as whole records."""

    def told(data) -> np.ndarray:
        """JointExp's loss at the rate of this law: its sensitivity is 2 (1 - 1/10)."""
        n = len(data)
        f = np.array([sum(x < z for x in data) for z in range(42)])
        first, second = np.array(list(combinations_with_replacement(range(42), 2))).T
        cells = (f[first], f[second] - f[first], n - f[second])
        loss = sum(
            np.abs(cell - n * share) for cell, share in zip(cells, (0.1, 0.1, 0.8), strict=True)
        )
        return -loss / 2 - np.log(np.exp(-loss / 2).sum())

    assert np.abs(told((40,) * 12) - told((*(40,) * 12, 0))).max() > 1.6

    def hasty(data) -> JointQuantiles:
        return law_of(data, HALVES, epsilon=Fraction(2), last=40, totals=range(0, 13, 12))

    data = (0,) * 6 + (40,) * 5
    assert worst(hasty, [(data, (*data, 40))]) > 1.5

    def whole(n: int) -> np.ndarray:
        """Records at 1 are divided as whole ones: d(z) falls as well as rises."""
        f = np.array([n * min(max(z - 16, 0), 16) // 16 for z in range(49)])
        first, second = np.array(list(combinations_with_replacement(range(49), 2))).T
        cells = (f[first], f[second] - f[first], n - f[second])
        loss = sum(
            np.abs(cell - 10 * share) for cell, share in zip(cells, (0.1, 0.8, 0.1), strict=True)
        )
        return -loss / 2 - np.log(np.exp(-loss / 2).sum())

    assert np.abs(whole(5) - whole(6)).max() > 1.8


@pytest.mark.parametrize("levels", [1, 3])
@pytest.mark.parametrize("shares", [HALVES, THIRDS], ids=len)
def test_the_sampler_follows_the_law(shares, levels) -> None:
    """With pieces of any width."""
    mechanism = law_of((0, 1, 1, 1, 2), shares, epsilon=Fraction(4), totals=range(3, 9, 2))
    mechanism._proposals.extend(mechanism._proposal(level, upper=True) for level in range(levels))
    assert audit.fit(mechanism, 1200, SeededEntropy(repr(shares))) > 1e-4


@pytest.mark.parametrize("warp", [RangeWarp(), STRETCHED], ids=["even", "stretched"])
def test_the_sampler_follows_the_law_with_pieces_of_many_cells(warp, monkeypatch) -> None:
    """Each point is raised by its own distance from the middle of its piece."""
    for name, value in {
        "_NEAR": 1.0,
        "_FINE": 1.0,
        "_COARSE": 1,
        "_LONG": 1,
        "_LIGHT": 1e9,
    }.items():
        monkeypatch.setattr(quantile_bands, name, value)
    mechanism = law_of((0, 0, 1, 1, 2), THIRDS, totals=range(3, 9, 2))
    mechanism = replace(mechanism, warp=warp)
    mechanism._proposals.append(mechanism._proposal(0, upper=True))
    assert max(np.diff(each.heads).max() for each in mechanism._proposals[0].bands) >= 3
    assert audit.fit(mechanism, 900, SeededEntropy("wide pieces")) > 1e-4


def test_float_guesses_change_no_outcome(monkeypatch) -> None:
    mechanism = law_of((0, 1, 1, 1, 2), THIRDS, epsilon=Fraction(4), totals=range(3, 9, 2), cap=9)
    entropies = [SeededEntropy(seed) for seed in range(150)]
    guessed = [replace(mechanism).sample(entropy) for entropy in entropies]
    monkeypatch.setattr(joint, "_GUESSED", 0.9)
    asked, kept = [], JointQuantiles._kept
    monkeypatch.setattr(JointQuantiles, "_kept", lambda *a: asked.append(0) or kept(*a))
    assert [replace(mechanism).sample(SeededEntropy(seed)) for seed in range(150)] == guessed
    assert len(asked) > 50


def test_a_low_cap_is_drawn_too() -> None:
    """With a cap of two ranks many outcomes are those that are all alike."""
    wanted = {"epsilon": Fraction(1), "fine": 2, "last": 2, "totals": range(2, 8, 3), "cap": 2}
    exact = listed((0, 1, 1, 1, 2), HALVES, **wanted)
    mechanism, entropy = law_of((0, 1, 1, 1, 2), HALVES, **wanted), SeededEntropy("cap")
    drawn = [mechanism.sample(entropy) for _ in range(600)]
    counts = np.array([drawn.count(outcome) for outcome in exact])
    expected = 600 * np.array(list(exact.values()))
    assert ((counts - expected) ** 2 / expected).sum() < len(exact) + 5 * math.sqrt(2 * len(exact))


def test_a_sampler_with_a_wrong_scale_is_noticed() -> None:
    mechanism = law_of((0, 1, 1, 1, 2), HALVES, epsilon=Fraction(4), totals=range(3, 9, 2))
    wrong = replace(mechanism, epsilon=mechanism.epsilon * Fraction(13, 10))
    assert audit.power(mechanism, wrong, draws=1500, entropy=SeededEntropy("w"), trials=1) == 1


def band_of(data, ranks, centre, scale, *, fine=12, last=900, warp=EVEN) -> Band:
    cells = BandCells.of(Many(data), (0, last), fine, ranks, warp)
    (band,) = bands_of(cells, ranks, scale, [centre], scale.distances(2.0 * len(data)))
    return band


BLOCKS = (5, 6, 6, 7, *(8,) * 40, *range(300, 330), *(331,) * 90, *range(600, 836))


@pytest.mark.parametrize("warp", [RangeWarp(), RangeWarp(0, 2, 8)], ids=["even", "stretched"])
@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize(
    "data", [(1,) * 400, tuple(range(0, 800, 2)), BLOCKS], ids=["ties", "spread", "blocks"]
)
def test_pieces_hold_every_point_once_and_bound_its_mass(data, level, warp) -> None:
    fine, last = 12, 900
    band = band_of(data, (-1, 401), 120.0, Scale(0.5, 4, level), warp=warp)
    edges = (band.cells.starts << fine) + band.cells.offsets
    assert edges[0] == 0
    assert edges[-1] == (warp.start(last + 1) << fine) + 1
    assert (np.diff(edges) == band.cells.sizes).all()
    assert band.cells.sizes.min() >= 1
    assert band.heads[0] == 0
    assert band.heads[-1] == len(edges) - 1
    assert (np.diff(band.heads) >= 1).all()
    assert band.stretches[-1] == len(band.middles) == len(band.heads) - 1
    assert (np.diff(band.middles) >= 0).all()
    middles = np.repeat(band.middles, np.diff(band.heads))
    mechanism = replace(law_of((), HALVES, fine=fine, last=last), records=Many(data), warp=warp)
    points = np.arange(0, edges[-1], max(977, int(edges[-1]) // 1501))
    for z, j in zip(points.tolist(), np.searchsorted(edges, points, side="right") - 1, strict=True):
        missed = abs(mechanism._mass(z) / (1 << mechanism._bits) - middles[j])
        assert missed <= band.halves[j] + 1e-9


def test_beyond_the_ranks_only_those_of_the_nearest_count() -> None:
    """A million ties, of which few are near: no piece is raised beyond measure, none is light."""
    data = (400,) * 10**6
    band = band_of(data, (-1, 700), 300.0, Scale(0.5, 4), fine=30)
    assert band.middles.max() <= 700
    assert band.cells.above.max() <= 701
    assert (band.cells.starts == 400).sum() > 100
    assert band.halves.max() < 40
    near = np.abs(band.middles - 300) < 8
    assert band.halves[np.repeat(near, np.diff(band.heads))].max() <= 0.25


def test_light_ties_stay_whole_and_heavy_ones_are_cut() -> None:
    data = (10**6,) * 3 + (2 * 10**6,) * 100 + (3 * 10**6, 3 * 10**6 + 1)
    band = band_of(data, (-1, 106), 50.0, Scale(0.5, 4), last=4 * 10**6)
    cells = band.cells
    assert [int((cells.starts == t).sum()) for t in (10**6, 3 * 10**6)] == [1, 1]
    assert (cells.starts == 2 * 10**6).sum() > 80
    spread = band_of(tuple(range(0, 10**6, 1000)), (-1, 1001), 300.0, Scale(0.5, 4), last=10**6)
    near = np.abs(spread.middles - 300) < 8
    assert near.sum() == 16
    raised = spread.halves[np.repeat(near, np.diff(spread.heads))]
    assert np.sort(raised)[: near.sum()].max() < 0.01  # the gaps, which weigh nearly all


def test_pieces_grow_with_the_distance_up_to_some_width() -> None:
    distances = Scale(0.5, 10).distances(2000.0)
    steps = np.diff(distances)
    assert distances[0] == 0
    assert distances[-1] > 2000 - 24
    assert steps.max() < 24 + 1e-9
    assert (steps <= np.maximum(distances[1:] / 10, 0.25) + 1e-9).all()


def test_no_number_overflows_where_very_many_records_are_equal() -> None:
    """Ties far beyond the ranks that matter; a warning would tell of them."""
    data = (400,) * 300_000
    mechanism = law_of((), THIRDS, fine=30, last=900, totals=range(299_900, 300_100, 16), cap=400)
    mechanism, entropy = replace(mechanism, records=Many(data)), SeededEntropy("equal")
    with np.errstate(all="raise", under="ignore"):
        for _ in range(5):
            _, *points = mechanism.sample(entropy)
            assert [z >> 30 for z in points] == [400, 400]


def test_many_quantiles_of_many_records() -> None:
    """The sampler's pieces, its capped part and far candidates: the marginals are near the q."""
    data = tuple(np.random.default_rng(3).integers(0, 10**6, 500).tolist())
    shares = (Fraction(1, 5),) * 5
    mechanism = law_of(data, shares, fine=4, last=10**6, totals=range(380, 640, 16), cap=400)
    mechanism, entropy = replace(mechanism, records=Many(data)), SeededEntropy("many")
    drawn = np.array([mechanism.sample(entropy) for _ in range(60)])
    ranks = np.searchsorted(np.sort(data), drawn[:, 1:] >> 4)
    assert (np.diff(drawn[:, 1:], axis=1) >= 0).all()
    assert np.abs(ranks.mean(axis=0) - 100 * np.arange(1, 5)).max() < 4
    assert 2 < np.abs(ranks - 100 * np.arange(1, 5)).mean() < 12


def test_impossible_outcomes() -> None:
    mechanism = law_of((0, 1), THIRDS)
    for outcome in ((3, 3, 2), (7, 1, 2), (3, -1, 2), (3, 0, 7)):
        assert mechanism.log_density(outcome) == -math.inf


def test_points_of_a_gap_are_in_order_and_follow_the_law() -> None:
    """Long pieces are cut into parts: few records in the middle, and points on both sides."""
    wanted = {"epsilon": Fraction(1), "fine": 0, "last": 200, "totals": range(5, 6), "cap": 40}
    data = (99, 100, 100, 101, 102)
    exact, entropy = listed(data, THIRDS, **wanted), SeededEntropy("gap")
    mechanism = law_of(data, THIRDS, **wanted)
    mechanism._proposals.extend(mechanism._proposal(level, upper=True) for level in (0, 1))
    assert max(len(band.middles) for band in mechanism._proposals[1].bands) > 50
    expected, counts = np.zeros((4, 4)), np.zeros((4, 4))
    for (_, low, high), chance in exact.items():
        expected[low // 51, high // 51] += 400 * chance
    for _ in range(400):
        _, low, high = mechanism.sample(entropy)
        assert low <= high
        counts[low // 51, high // 51] += 1
    there = expected > 0
    excess = (counts - expected)[there] ** 2 / expected[there]
    assert excess.sum() < there.sum() + 5 * math.sqrt(2 * there.sum())


@pytest.mark.parametrize("records", [0, 30])
def test_many_points_of_one_gap_take_few_proposals(records, monkeypatch) -> None:
    """Twelve points in one gap are in order once in 12! times."""
    proposals, draw = [], QuantileProposal.draw
    monkeypatch.setattr(QuantileProposal, "draw", lambda *a: proposals.append(0) or draw(*a))
    data = tuple(range(10**14, 10**14 + records))
    mechanism = law_of(
        data, (Fraction(1, 13),) * 13, fine=4, last=10**15, totals=range(30, 31), cap=900
    )
    mechanism, entropy = replace(mechanism, records=Many(data)), SeededEntropy("wide")
    for _ in range(4):
        _, *points = mechanism.sample(entropy)
        assert points == sorted(points)
    assert len(proposals) < 400


def test_many_records_at_few_integers_of_a_wide_range_take_few_proposals(monkeypatch) -> None:
    """Points that go astray together meet pieces of many ranks, until these are cut finer."""
    proposals, draw = [], QuantileProposal.draw
    monkeypatch.setattr(QuantileProposal, "draw", lambda *a: proposals.append(0) or draw(*a))
    data = 2**49 + np.rint(np.random.default_rng(0).normal(0, 2.5, 600)).astype(np.int64)
    terms = {"fine": 30, "last": 2**50, "totals": range(440, 760, 32), "cap": 1200}
    mechanism = replace(law_of((), (Fraction(1, 10),) * 10, **terms), records=Many(data.tolist()))
    for seed in range(3):
        mechanism._proposals.clear()
        mechanism.sample(SeededEntropy(seed))
    assert len(proposals) < 150


def test_a_range_must_not_be_stretched_around_the_data_themselves() -> None:
    def told(data) -> np.ndarray:
        mechanism = law_of(data, HALVES, last=30, fine=0, totals=range(2, 3))
        mechanism = replace(mechanism, warp=RangeWarp(data[len(data) // 2], 0, 5))
        chances = np.zeros(32)
        for _, z in mechanism.probes():
            chances[mechanism.warp.value(z)] += math.exp(mechanism.log_density((2, z)))
        return np.log(chances)

    assert np.abs(told((0, 0, 30)) - told((0, 0, 30, 30))).max() > 4.4
