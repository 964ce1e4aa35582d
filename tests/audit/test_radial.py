"""Approximate inverse sensitivity on all small data sets: private as corrected, not as printed."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from modicum import audit
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.privacy.budget import pure
from modicum.privacy.event import PureDP, RangeDP
from tests.audit.literal import CappedShells, Understated, one_draw
from tests.reference.radii import Data, Sensitivity, Value, added_or_removed, exchanged

ONE, LATTICE, LEVELS = Fraction(1), Lattice(0.0, 12.0, 1.0), 3
POINTS = (0, 1, 12)


def mean(data: Data) -> Value:
    return (round(Fraction(sum(map(int, data)), len(data))),) if data else (6,)


def median(data: Data) -> Value:
    return (int(data[(len(data) - 1) // 2]),) if data else (6,)


def columns(data: Data) -> list[Data]:
    """Records 0, ..., 3 stand for rows of two columns."""
    rows = [((0, 0), (3, 1), (0, 4), (3, 5))[int(x)] for x in data]
    return [tuple(sorted(column)) for column in zip(*rows, strict=True)] if rows else [(), ()]


def both(statistic: Callable[[Data], Value]) -> Callable[[Data], Value]:
    return lambda data: tuple(statistic(column)[0] for column in columns(data))


CASES = {
    "mean": (mean, POINTS, 1, 12),
    "median": (median, POINTS, 1, 12),
    "medians, L1": (both(median), range(4), 1, 12),
    "medians, L2": (both(median), range(4), 2, 12),
    "means, L1": (both(mean), range(4), 1, 12),
    "means, L2": (both(mean), range(4), 2, 12),
}


def pairs_of(points: Sequence[float], most: int, *, swap: bool) -> list[tuple[Data, Data]]:
    if not swap:
        return list(audit.neighbours(points, most))
    sets = combinations_with_replacement([float(p) for p in points], most)
    return sorted({(one, two) for one in sets for two in exchanged(one, points) if one < two})


@pytest.mark.one_in(2)
@pytest.mark.parametrize("swap", [False, True], ids=["add-remove", "exchange"])
@pytest.mark.parametrize("name", CASES)
def test_the_least_radii_are_private(name, swap) -> None:
    """Proposition 2.1 with distance k - 1, the tightest that Theorem 1 allows."""
    value, points, norm, largest = CASES[name]
    points = [float(p) for p in points]
    found = Sensitivity(value, points, norm, exchanged if swap else added_or_removed)

    def mechanism(q: np.ndarray) -> RadialMechanism:
        data = tuple(sorted(map(float, q)))
        radii = found.radii(data, LEVELS)
        return RadialMechanism(value(data), radii, largest, norm, ONE, RangeDP(ONE))

    report = audit.check(one_draw(mechanism, LATTICE, pure(1)), pairs_of(points, 3, swap=swap))
    assert report.passed
    assert report.steps[0].used > 0.99  # the promise is tight


def medians(radii: Callable[[Data, Sensitivity], tuple[int, ...]], cost: Fraction = ONE):
    found = Sensitivity(median, [float(p) for p in POINTS], 1)

    def mechanism(q: np.ndarray) -> RadialMechanism:
        data = tuple(sorted(map(float, q)))
        return RadialMechanism(median(data), radii(data, found), 12, 1, cost, RangeDP(cost))

    return mechanism


def checked(mechanism) -> audit.AuditReport:
    return audit.check(one_draw(mechanism, LATTICE, pure(1)), audit.neighbours(POINTS, 4))


def test_looser_radii_are_private_too() -> None:
    """The paper's distance k, and radii plus a constant."""
    assert checked(medians(lambda data, found: found.radii(data, LEVELS + 1)[1:])).passed
    assert checked(
        medians(lambda data, found: tuple(r + 2 for r in found.radii(data, LEVELS)))
    ).passed


def test_radii_that_do_not_grow() -> None:
    """Proposition 2.1 prints the bound on x itself, not on x' near it: constant in k."""
    report = checked(medians(lambda data, found: (found.local(data),) * 40))
    assert not report.passed
    assert report.steps[0].used > 5


def test_a_first_radius_below_the_local_sensitivity() -> None:
    report = checked(medians(lambda data, found: tuple(r // 4 for r in found.radii(data, LEVELS))))
    assert not report.passed


def test_weights_without_the_half() -> None:
    mechanism = medians(lambda data, found: found.radii(data, LEVELS), 2 * ONE)
    report = checked(lambda q: Understated(mechanism(q), RangeDP(ONE)))
    assert not report.passed
    assert report.steps[0].used > 1.2


@pytest.mark.parametrize(
    ("n", "epsilon", "mass"), [(10, "1", 2.2e-3), (20, "1/2", 9.6e-4), (100, "1/10", 1.7e-4)]
)
def test_shells_that_end_at_n(n, epsilon, mass) -> None:
    """Algorithm 1: answers of one data set that the other cannot give, on the mean of [0, 1]."""
    unit, cost = 1000, Fraction(epsilon)
    lattice = Lattice(0.0, 1.0, 1.0)

    def literal(q: np.ndarray) -> Exponential:
        return Exponential(CappedShells(int(q.sum()) * unit, (unit,) * n), cost, PureDP(cost))

    def endless(q: np.ndarray) -> RadialMechanism:
        centre = (int(q.sum()) * unit,)
        return RadialMechanism(centre, (unit,) * n, unit, 1, cost, RangeDP(cost))

    one, other = (0.0,) * n, (0.0,) * (n - 1) + (1.0,)
    report = audit.joint_loss(one_draw(literal, lattice, pure(epsilon)), one, other)
    assert report.worst == math.inf
    assert not report.passed
    here, there = literal(np.array(one)), literal(np.array(other))
    assert there.log_density(-(n - 1) * unit - 1) == -math.inf < there.log_density(-(n - 1) * unit)
    beyond = unit * math.exp(here.log_density(-n * unit))
    assert beyond == pytest.approx(mass, rel=0.03)
    # Where all radii are equal the normaliser does not move: half of ε is spent.
    report = audit.joint_loss(one_draw(endless, lattice, pure(epsilon)), one, other)
    assert report.worst == pytest.approx(float(cost) / 2)


def test_the_conditions_hold_for_the_reference() -> None:
    """What the audits above rest on."""
    value, points, norm, _ = CASES["medians, L2"]
    found = Sensitivity(value, [float(p) for p in points], norm)
    for one, other in audit.neighbours(points, 3):
        a, b = found.radii(one, LEVELS), found.radii(other, LEVELS)
        assert found.distance(value(one), value(other)) <= min(a[0], b[0])
        assert all(x <= y for x, y in zip(a, b[1:], strict=False))
        assert all(x <= y for x, y in zip(b, a[1:], strict=False))
        assert all(x <= y for x, y in pairwise(a))
