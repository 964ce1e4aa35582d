"""Gradients, lengths and directions as Asi and Duchi (2020) print them, and what is right."""

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from modicum import audit
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.base import SECRET, Mechanism
from modicum.privacy.budget import pure
from modicum.privacy.event import Event, PureDP
from tests.audit.literal import one_draw
from tests.reference import directions

ONE = Fraction(1)
Length = Callable[[list[int], int], float]


@dataclass(frozen=True, slots=True, eq=False)
class Weighed(Mechanism):
    """P(t) proportional to exp(-weight length(t)) on integers."""

    lengths: np.ndarray = field(repr=False, metadata=SECRET)
    first: int
    weight: Fraction

    @property
    def event(self) -> Event:
        return PureDP(ONE)

    def sample(self, entropy: Entropy) -> int:
        raise NotImplementedError

    def log_density(self, outcome: int) -> float:
        exponents = float(self.weight) * (self.lengths.min() - self.lengths)
        return float(exponents[outcome - self.first] - math.log(np.exp(exponents).sum()))

    def probes(self) -> Iterable[int]:
        finite = np.flatnonzero(np.isfinite(self.lengths))
        return (self.first + finite).tolist()


def asked(length: Length, ends: tuple[int, int], reach: int, weight: Fraction = ONE / 2):
    """Weight exp(-weight length) on the integers between two ends, claimed to be 1-DP."""

    def mechanism(q: np.ndarray) -> Weighed:
        points = range(ends[0], ends[1] + 1)
        lengths = [float(length(q.tolist(), t)) for t in points]
        return Weighed(np.array(lengths), ends[0], weight)

    return one_draw(mechanism, Lattice(-float(reach), float(reach), 1.0), pure(1))


def exchanges(points: Iterable[int], n: int) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Data sets of n records that differ in one of them."""
    found = []
    for rest in combinations_with_replacement(points, n - 1):
        for a in points:
            for b in points:
                if a < b:
                    pair = tuple(tuple(map(float, sorted((*rest, x)))) for x in (a, b))
                    found.append(pair)
    return found


# The gradient mechanism: exp(-ε |sum of gradients| / (2 L)).


def signs(data: list[int], t: int) -> int:
    """Sum of the gradients of absolute losses, of size 1 at most."""
    return abs(sum(int(np.sign(t - x)) for x in data))


def test_a_gradient_costs_twice_for_a_changed_row() -> None:
    """(4) with L, the largest size of a gradient: right for a row more, not for another row."""
    pairs = audit.neighbours((-8, 1, 8), 4)
    report = audit.check(asked(signs, (-8, 8), 8), pairs)
    assert report.passed
    r = 400
    changed = ((-float(r), r - 4.0), (r - 1.0, r - 4.0))
    report = audit.joint_loss(asked(signs, (-r, r), r), *changed)
    assert not report.passed
    assert report.worst == pytest.approx(1.990, abs=1e-3)
    assert audit.joint_loss(asked(signs, (-r, r), r, ONE / 4), *changed).passed
    assert audit.check(asked(signs, (-8, 8), 8, ONE / 4), exchanges((-8, 1, 8), 4)).passed


def test_a_gradient_without_a_half() -> None:
    """The numerator and the normaliser move."""
    assert not audit.check(asked(signs, (-8, 8), 8, ONE), audit.neighbours((-8, 1, 8), 4)).passed


def slope(data: list[int], t: int) -> int:
    """Sum of the gradients of squared losses (t - y)² / 2."""
    return sum(t - y for y in data)


def test_a_gradient_bound_that_is_read_off_the_data() -> None:
    """50 records of 0.01 and one of 1, in hundredths; 200 is the largest gradient of all."""

    def literal(data: list[int], t: int) -> float:
        return abs(slope(data, t)) / (100 + max((abs(y) for y in data), default=0))

    pair = ((1.0,) * 50, (*(1.0,) * 50, 100.0))
    report = audit.joint_loss(asked(literal, (-100, 100), 100), *pair)
    assert not report.passed
    assert report.worst == pytest.approx(11.47, abs=0.01)
    right = asked(lambda data, t: abs(slope(data, t)) / 200, (-100, 100), 100)
    assert audit.joint_loss(right, *pair).passed


@pytest.mark.parametrize("ridge", [0, 3])
def test_a_ridge_in_the_score_costs_nothing(ridge) -> None:
    """Empty and singular data included."""
    query = asked(lambda data, t: abs(slope(data, t) + ridge * t) / 16, (-8, 8), 8)
    assert audit.check(query, audit.neighbours((-8, 1, 8), 4)).passed


@dataclass(frozen=True, slots=True, eq=False)
class Trials(Mechanism):
    """How many proposals Algorithm 3 makes until one lies in [-1, 1]; a record 10 x, with y = 1."""

    data: np.ndarray = field(repr=False, metadata=SECRET)

    @property
    def event(self) -> Event:
        return PureDP(ONE)

    @property
    def chance(self) -> float:
        """A Laplace variable about the least-squares slope, of scale 2 L / sum x², L = 2."""
        squares, products = float((self.data**2).sum()) / 100, float(self.data.sum()) / 10
        centre, scale = products / squares, 4 / squares
        return (math.exp(-(centre - 1) / scale) - math.exp(-(centre + 1) / scale)) / 2

    def sample(self, entropy: Entropy) -> int:
        raise NotImplementedError

    def log_density(self, outcome: int) -> float:
        return math.log(self.chance) + (outcome - 1) * math.log1p(-self.chance)

    def probes(self) -> Iterable[int]:
        return range(1, 400)


def test_the_number_of_rejections_is_no_private_number() -> None:
    """Its law decays at a rate that depends on the data: the loss has no bound."""
    query = one_draw(Trials, Lattice(-10.0, 10.0, 1.0), pure(1))
    pair = ((1.0,) * 100, (*(1.0,) * 100, 10.0))
    assert Trials(np.array(pair[0])).chance == pytest.approx(0.0207, abs=1e-4)
    assert Trials(np.array(pair[1])).chance == pytest.approx(0.0333, abs=1e-4)
    report = audit.joint_loss(query, *pair)
    assert not report.passed
    assert report.worst == pytest.approx(4.67, abs=0.01)


# The approximate inverse sensitivity mechanism.


def mean_length(data: list[int], t: int) -> int:
    """Radii 1/n of the mean of ten records in [0, 1], on a grid of twentieths."""
    return math.ceil(abs(t - 20 * sum(data) / len(data)) / 2 - 1e-9)


def test_a_cap_at_the_number_of_records() -> None:
    """Ten zeros against one 1 among them: the balls have different ends."""
    pair = ((0.0,) * 10, (*(0.0,) * 9, 1.0))

    def literal(data: list[int], t: int) -> float:
        steps = mean_length(data, t)
        return steps if steps <= len(data) else math.inf

    report = audit.joint_loss(asked(literal, (-60, 60), 1), *pair)
    assert not report.passed
    assert report.worst == math.inf
    assert audit.joint_loss(asked(mean_length, (-60, 60), 1), *pair).passed


RANGE = range(13)
Three = tuple[int, int, int]


@functools.cache
def around(x: Three) -> frozenset[Three]:
    """Data sets of three records that differ in one at most."""
    found = {tuple(sorted((*x[:i], y, *x[i + 1 :]))) for i in range(3) for y in RANGE}
    return frozenset(found)  # type: ignore[arg-type]


@functools.cache
def local(x: Three) -> int:
    """Local sensitivity of the median."""
    return max(abs(y[1] - x[1]) for y in around(x))


@functools.cache
def within(x: Three, steps: int) -> frozenset[Three]:
    found = frozenset([x])
    for _ in range(steps):
        found = frozenset().union(*(around(y) for y in found))
    return found


def median_length(data: list[int], t: int, *, printed: bool) -> int:
    """Least k with R_1 + ... + R_k >= |t - median|."""
    x = tuple(sorted(data))
    left, k = abs(t - x[1]), 0
    while left > 0:
        k += 1
        radius = local(x) if printed else max(map(local, within(x, min(k, 4) - 1)))
        left -= max(radius, 1)
    return k


def test_a_local_sensitivity_where_its_bound_is_meant() -> None:
    """Proposition 2.1 prints R_l(x) = sup LS(x), in place of the sup over data sets l - 1 away."""

    def query(printed: bool):
        length = functools.partial(median_length, printed=printed)
        return asked(length, (0, 12), 12)

    calm, wild = (5.0, 6.0, 6.0), (5.0, 6.0, 12.0)
    assert local((5, 6, 6)) < local((5, 6, 12))
    report = audit.joint_loss(query(True), calm, wild)
    assert not report.passed
    assert report.worst == pytest.approx(1.755, abs=1e-3)
    some = exchanges((0, 5, 6, 12), 3)
    assert audit.check(query(False), some).passed
    assert not audit.check(query(True), some).passed


# Directions.

QUARTERS = (0, 7, 20, 24)
ENDS = (0, directions.CIRCLE - 1)


def test_sharp_angle_radii_for_a_row_more() -> None:
    length = functools.partial(directions.angular_length, radii=directions.sharp)
    query = asked(length, ENDS, directions.CIRCLE)
    report = audit.check(query, audit.neighbours(QUARTERS, 5))
    assert report.passed
    assert report.used > 0.6


def test_sharp_angle_radii_for_another_row() -> None:
    length = functools.partial(directions.angular_length, radii=directions.sharp_swap)
    query = asked(length, ENDS, directions.CIRCLE)
    report = audit.check(query, exchanges(QUARTERS, 4))
    assert report.passed
    assert report.used > 0.4


def test_one_radius_for_all_steps() -> None:
    """Algorithm 2, if k = 1 in its radius is the number of components, and not the step.

    Before it is normalised the outcome is a point in space: here those of a ray, in quarters.
    """
    pair = ((0.0,) * 40, (*(0.0,) * 39, 24.0))

    def query(printed: bool):
        return asked(
            lambda rows, t: directions.far_length(rows, abs(t) / 4, printed=printed), (0, 100), 48
        )

    report = audit.joint_loss(query(True), *pair)
    assert not report.passed
    assert report.worst == pytest.approx(8.997, abs=1e-3)
    assert audit.joint_loss(query(False), *pair).passed
    assert audit.check(query(False), exchanges(QUARTERS, 3)).passed


def test_a_direction_by_its_variance() -> None:
    """exp(ε v'X'Xv): the score rises by 0 to 1 with a row, and moves both ways with another."""
    query = asked(lambda rows, t: -directions.variance(rows, t), ENDS, directions.CIRCLE, ONE)
    assert audit.check(query, audit.neighbours(QUARTERS, 4)).passed
    report = audit.check(query, exchanges(QUARTERS, 4))
    assert not report.passed
    assert report.worst == pytest.approx(1.588, abs=1e-3)
