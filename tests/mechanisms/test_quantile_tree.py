"""Nested quantiles: an exact law, private on small neighbours, and its wrong forms are not."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from modicum import audit
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms import quantile_tree as nested
from modicum.mechanisms.quantile_tree import NestedQuantiles, nodes_of, tree_of
from modicum.privacy.event import PureDP

THIRDS = (Fraction(1, 3), Fraction(2, 3))
QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
UNEVEN = (Fraction(1, 10), Fraction(1, 2), Fraction(3, 5))


@dataclass
class Sorted:
    """All records at hand; ``extra`` counts ties on both sides, as a wrong form does."""

    data: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.data)

    def place(self, value: int) -> tuple[int, int]:
        return sum(x < value for x in self.data), self.data.count(value)

    def below(self, value: int) -> int:
        return self.place(value)[0]

    def between(self, start: int, stop: int):
        values = sorted({self.data[i] for i in range(max(start, 0), min(stop, self.count))})
        places = [self.place(value) for value in values]
        before, ties = ([place[i] for place in places] for i in (0, 1))
        return tuple(np.array(column, dtype=np.int64) for column in (values, before, ties))


def law_of(data, qs, *, epsilon=Fraction(1), fine=1, first=0, last=2) -> NestedQuantiles:
    points = (last - first + 1) << fine
    nodes = nodes_of(tree_of(qs, Fraction(1, 3)), PureDP(epsilon), points)
    return NestedQuantiles(Sorted(tuple(sorted(data))), first, last, fine, nodes, PureDP(epsilon))


def worst(build, pairs) -> float:
    """Largest absolute log ratio of two neighbours, over all outcomes."""
    found, densities = 0.0, {}
    for pair in pairs:
        for data in pair:
            if data not in densities:
                mechanism = build(data)
                densities[data] = np.array([mechanism.log_density(z) for z in mechanism.probes()])
        found = max(found, float(np.abs(densities[pair[0]] - densities[pair[1]]).max()))
    return found


def neighbours(values, most: int):
    for n in range(most):
        for data in combinations_with_replacement(values, n):
            for x in values:
                yield data, tuple(sorted((*data, x)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("qs", [(Fraction(1, 3),), THIRDS, QUARTERS, UNEVEN], ids=len)
@pytest.mark.parametrize("fine", [0, 1, 2])
def test_all_probabilities_add_up(qs, fine) -> None:
    for data in ((), (1,), (0, 0, 1, 2, 2), (1,) * 30):
        mechanism = law_of(data, qs, fine=fine)
        total = math.fsum(math.exp(mechanism.log_density(z)) for z in mechanism.probes())
        assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("qs", "fine"),
    [(THIRDS, 2), (QUARTERS, 1), pytest.param(UNEVEN, 1, marks=pytest.mark.slow)],
)
def test_it_is_private_on_all_small_neighbours(qs, fine) -> None:
    loss = worst(lambda data: law_of(data, qs, fine=fine), neighbours((0, 1, 2), 4))
    assert 0.4 < loss <= 1


def test_a_path_can_lose_most_of_its_budget() -> None:
    """Records that leave all points but few far from every target, and one more at an end."""

    def build(data) -> NestedQuantiles:
        return law_of(data, QUARTERS, epsilon=Fraction(4), fine=0, last=8)

    pairs = [((0,) * k + (8,) * j, (0,) * k + (8,) * (j + 1)) for k in (4, 8) for j in (0, 3)]
    loss = worst(build, pairs)
    assert 0.6 * 4 < loss <= 4


def test_wrong_forms_are_not_private(monkeypatch) -> None:
    """Targets counted from all records; ties spread by whole records; full ε at every node."""
    of = nested._NodeBand.of

    def whole(records, fine, z):
        before, ties = records.place(z >> fine)
        return Fraction(before + ties * (z & ((1 << fine) - 1)) // (1 << fine))

    def evenly(records, fine, z):
        return Fraction(nested.mass_below(records, fine, z), 1 << fine)

    tied = [((1,) * n, (1,) * (n + 1)) for n in (3, 20, 58)]
    # log_density takes F inside a cell as linear, so evaluate the wrong law point by point
    assert max(_pointwise(tied, whole)) > 1.5
    assert max(_pointwise(tied, evenly)) <= 1

    def four(data) -> NestedQuantiles:
        return law_of(data, QUARTERS, epsilon=Fraction(4), fine=0, last=4)

    def everyone(cls, records, fine, node, a, b):
        band = of(records, fine, node, a, b)
        q = QUARTERS[node.place]
        shift = band.target - q * records.count
        return replace(band, target=q * records.count, mass=band.mass + float(shift))

    with monkeypatch.context() as patched:
        patched.setattr(nested._NodeBand, "of", classmethod(everyone))
        data = (0,) * 9 + (2,) * 2
        assert worst(four, [(data, (*data, 4))]) > 1.2 * 4
    assert worst(four, [(data, (*data, 4))]) <= 4

    def spendthrift(data) -> NestedQuantiles:
        mechanism = law_of(data, QUARTERS, fine=0)
        return replace(
            mechanism, nodes=tuple(replace(node, epsilon=Fraction(1)) for node in mechanism.nodes)
        )

    assert worst(spendthrift, neighbours((0, 1, 2), 4)) > 1


def _pointwise(pairs, mass, fine: int = 5, last: int = 2) -> list[float]:
    """Worst log ratios of a median and the two nodes below it, by listing every point.

    Every node has q = 1/2, so 2 m = 1, and ε = 1/2: a path has 1. The two nodes below are drawn
    independently, so their worst ratios add up.
    """
    end = (last + 1) << fine

    def masses(data) -> np.ndarray:
        return np.array([float(mass(Sorted(data), fine, z)) for z in range(end + 1)])

    def node(f: np.ndarray, a: int, b: int) -> np.ndarray:
        weights = -np.abs(f[a : b + 1] - (f[a] + f[b]) / 2) / 2
        return weights - np.log(np.exp(weights).sum())

    found = []
    for f, g in ((masses(a), masses(b)) for a, b in pairs):
        ratio = [
            [node(g, a, b) - node(f, a, b) for a, b in ((0, root), (root, end))]
            for root in range(end + 1)
        ]
        first = node(g, 0, end) - node(f, 0, end)
        high = max(first[i] + left.max() + right.max() for i, (left, right) in enumerate(ratio))
        low = min(first[i] + left.min() + right.min() for i, (left, right) in enumerate(ratio))
        found.append(max(high, -low))
    return found


@pytest.mark.parametrize(
    "qs",
    [(Fraction(1, 2),), THIRDS, pytest.param(QUARTERS, marks=pytest.mark.slow)],
    ids=len,
)
def test_the_sampler_follows_the_law(qs) -> None:
    mechanism = law_of((0, 1, 1, 1, 2), qs, epsilon=Fraction(4))
    assert audit.fit(mechanism, 1500, SeededEntropy(repr(qs))) > 1e-4


def test_a_sampler_with_a_wrong_scale_is_noticed() -> None:
    mechanism = law_of((0, 1, 1, 1, 2), THIRDS, epsilon=Fraction(4))
    wrong = law_of((0, 1, 1, 1, 2), THIRDS, epsilon=Fraction(4) * Fraction(13, 10))
    assert audit.power(mechanism, wrong, draws=3000, entropy=SeededEntropy("w"), trials=1) == 1


def test_many_ties_are_cut_into_pieces() -> None:
    """A cell of many records is sampled like any other: the shares of its ends are those wanted."""
    mechanism = law_of((1,) * 5000, (Fraction(1, 5), Fraction(1, 2)), fine=20, epsilon=Fraction(2))
    entropy = SeededEntropy("ties")
    drawn = np.array([mechanism.sample(entropy) for _ in range(200)])
    assert (drawn >> 20 == 1).all()
    shares = (drawn & (2**20 - 1)) / 2**20
    assert np.allclose(shares.mean(axis=0), [0.2, 0.5], atol=0.002)


HEAPS = {
    "one heap": {5: 3000},
    "two heaps": {2: 400, 9: 401},
    "a heap at an end, and few": {0: 900, 7: 3, 8: 1},
    "all heaps": {x: 500 + 77 * x for x in range(12)},
    "normal": {x: round(3000 * math.exp(-((x - 6) ** 2) / 8)) for x in range(12)},
    "single records": dict.fromkeys(range(12), 1),
}


class Heaps:
    """Records by the number at each value."""

    def __init__(self, name: str) -> None:
        self.ties = np.array([HEAPS[name].get(x, 0) for x in range(13)])
        self.before = np.concatenate([[0], np.cumsum(self.ties)])
        self.count = int(self.ties.sum())

    def place(self, value: int) -> tuple[int, int]:
        return int(self.before[value]), int(self.ties[value])

    def below(self, value: int) -> int:
        return int(self.before[value])

    def between(self, start: int, stop: int):
        here = (self.ties > 0) & (self.before[1:] > start) & (self.before[:-1] < stop)
        return np.flatnonzero(here), self.before[:-1][here], self.ties[here]


def heaped(name: str, qs, epsilon: Fraction, fine: int) -> NestedQuantiles:
    return replace(law_of((), qs, epsilon=epsilon, fine=fine, last=11), records=Heaps(name))


@pytest.mark.parametrize("name", HEAPS)
@pytest.mark.parametrize("fine", [0, 1, 4])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(5), Fraction(40)])
def test_a_draw_is_soon_accepted_whatever_the_ties(name, fine, epsilon, monkeypatch) -> None:
    """Also where one point has more than a rank: no piece holds a near and a far point."""
    tried, coin = [0], nested.exp_coin

    def counted(*arguments) -> bool:
        tried[0] += 1
        assert tried[0] < 1000, "a draw that does not end"
        return coin(*arguments)

    monkeypatch.setattr(nested, "exp_coin", counted)
    mechanism, entropy = heaped(name, UNEVEN, epsilon, fine), SeededEntropy(f"{name}{fine}")
    for _ in range(5):
        assert mechanism.log_density(mechanism.sample(entropy)) > -math.inf


@pytest.mark.parametrize("name", HEAPS)
@pytest.mark.parametrize("fine", [0, 1, 4])
def test_the_density_is_that_of_every_point(name, fine) -> None:
    mechanism = heaped(name, (Fraction(2, 5),), Fraction(3), fine)
    (node,), heaps = mechanism.nodes, mechanism.records
    points = np.arange((12 << fine) + 1)
    cells, parts = np.divmod(points, 1 << fine)
    below = heaps.before[cells] + heaps.ties[cells] * parts / (1 << fine)
    losses = np.minimum(np.abs(below - 0.4 * heaps.count), node.cap)
    expected = -float(node.rate) * losses
    expected -= np.log(np.exp(expected).sum())
    some = slice(None, None, max(1, len(points) // 30))
    found = [mechanism.log_density((z,)) for z in points[some].tolist()]
    assert found == pytest.approx(expected[some], abs=1e-9)


def test_impossible_outcomes() -> None:
    mechanism = law_of((0, 1), THIRDS)
    for outcome in ((3, 2), (-1, 2), (0, 7)):
        assert mechanism.log_density(outcome) == -math.inf


def test_what_a_draw_is_made_of_shows_no_data() -> None:
    data = Sorted((77,) * 5)
    mechanism = NestedQuantiles(data, 0, 99, 0, law_of((), THIRDS).nodes, PureDP(1))
    band = mechanism._band(mechanism.nodes[0], mechanism._range())
    assert type(band).__name__ in repr(band)
    assert "array" not in repr(band)
    assert "Fraction" not in repr(band)


def test_paths_spend_exactly_the_amount() -> None:
    for m in (1, 2, 5, 9, 29, 200):
        qs = tuple(Fraction(i, m + 1) for i in range(1, m + 1))
        nodes = nodes_of(tree_of(qs, Fraction(1, 3)), PureDP(Fraction(1)), 1000)
        spent = {-1: Fraction(0), m: Fraction(0)}
        ends = {node.place: (node.left, node.right) for node in nodes}
        for node in nodes:
            spent[node.place] = node.epsilon + max(spent[i] for i in ends[node.place])
        inner = {end for pair in ends.values() for end in pair}
        leaves = [spent[place] for place in range(m) if place not in inner]
        assert max(spent.values()) == 1
        assert set(leaves) == {Fraction(1)}
        assert sorted(node.place for node in nodes) == list(range(m))
