"""The papers' printed forms that are not private, and small estimators around one law."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.mechanisms.base import SECRET, Mechanism
from modicum.mechanisms.exponential import Exponential, Runs, ScoreFunction
from modicum.privacy.budget import Budget
from modicum.privacy.event import Event, PureDP
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import OK
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.summaries.base import Read
from modicum.summaries.subsample import Records


def one_draw(
    law_of: Callable[[NDArray[np.int64]], Mechanism], lattice: Lattice, budget: Budget
) -> Query[Release]:
    """An estimator of one draw, from a law of the records."""

    def begin(event: Event) -> Steps[ScalarEstimate]:
        records = yield from read(Read(None, lattice, Records()))
        yield from draw("outcome", law_of(records.all()))
        return ScalarEstimate(Fraction(0), None, OK)

    return Query("test", "one draw", None, lattice, budget, begin)


@dataclass(frozen=True, slots=True)
class Understated(Mechanism):
    """A law that claims another event than its own."""

    mechanism: Mechanism = field(repr=False, metadata=SECRET)
    stated: Event

    @property
    def event(self) -> Event:
        return self.stated

    def sample(self, entropy: Entropy) -> object:
        return self.mechanism.sample(entropy)

    def log_density(self, outcome: object) -> float:
        return self.mechanism.log_density(outcome)

    def probes(self) -> Iterable[object]:
        return self.mechanism.probes()


@dataclass(frozen=True, slots=True, eq=False)
class LiteralThreshold(Mechanism):
    """Dick et al. 2023, Algorithm 3, step 2 as printed: alpha = gamma / |D|."""

    data: NDArray[np.float64] = field(repr=False, metadata=SECRET)
    R: float
    gamma: float
    epsilon: float

    @property
    def event(self) -> Event:
        return PureDP(Fraction(self.epsilon))

    @property
    def alpha(self) -> float:
        return self.gamma / len(self.data)

    @property
    def target(self) -> float:
        n, e = len(self.data), self.epsilon
        zeta = self.alpha / (self.R * n * e)
        return 1 / e + 2 / e * math.log(2 * self.R / (self.alpha * zeta))

    def loss(self, tau: float) -> float:
        """Least rank error of a threshold within alpha of tau."""
        below = bisect_left(self.data, tau - self.alpha)
        up_to = bisect_right(self.data, tau + self.alpha)
        return max(0.0, below - self.target, self.target - up_to)

    def edges(self) -> list[float]:
        inside = {x + s * self.alpha for x in set(self.data.tolist()) for s in (-1, 1)}
        return sorted({-self.R, self.R, *inside})

    def sample(self, entropy: Entropy) -> float:
        raise NotImplementedError

    def log_density(self, outcome: float) -> float:
        edges = self.edges()
        logs = [
            math.log(b - a) - self.epsilon / 2 * self.loss((a + b) / 2) for a, b in pairwise(edges)
        ]
        return -self.epsilon / 2 * self.loss(outcome) - float(np.logaddexp.reduce(logs))

    def probes(self) -> Iterable[float]:
        edges = self.edges()
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        # The ring between the windows of n and of n + 1 records lies at the inside of a window.
        return sorted({*middles, *(edge * (1 - 1e-9) for edge in edges)})


def median_length(data: NDArray[np.int64], t: Fraction) -> int:
    """Records to add or remove before t is a median."""
    above, below = int((data > t).sum()), int((data < t).sum())
    return max(0, abs(above - below) - (len(data) - above - below))


def mean_length(data: NDArray[np.int64], t: Fraction, lo: int, hi: int) -> int:
    """Records to add or remove before the mean of data in [lo, hi] crosses t."""

    def upwards(values: list[int], t: Fraction, top: int) -> int:
        deficit = -sum(x - t for x in values)
        if deficit <= 0 or not values:
            return 0
        if t >= top:  # nothing to add pulls the mean up to t: remove what is below
            return sum(x < t for x in values)
        moves, deficit = 0, Fraction(deficit)
        for x in sorted(values):
            if deficit <= 0 or t - x <= top - t:
                break
            deficit -= t - x
            moves += 1
        return moves + max(0, math.ceil(deficit / (top - t)))

    values = data.tolist()
    return max(upwards(values, t, hi), upwards([-x for x in values], -t, -lo))


@dataclass(frozen=True, slots=True, eq=False)
class InverseSensitivity(ScoreFunction):
    """Dick et al. 2023, Algorithm 5 on half integers: weight exp(-rate len)."""

    mechanism = "InverseSensitivity"
    span = 1

    data: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    first: int
    last: int
    statistic: str

    def runs(self, rate: Fraction) -> Runs:
        points = range(2 * self.first, 2 * self.last + 1)
        losses = [
            median_length(self.data, Fraction(k, 2))
            if self.statistic == "median"
            else mean_length(self.data, Fraction(k, 2), self.first, self.last)
            for k in points
        ]
        ones = np.ones(len(points), dtype=np.int64)
        return Runs(np.array(points), ones, np.array(losses))


def inverse_sensitivity(
    data: NDArray[np.int64], first: int, last: int, weight: Fraction, statistic: str, stated: Event
) -> Exponential[InverseSensitivity]:
    """The law that gives a length this weight."""
    return Exponential(InverseSensitivity(data, first, last, statistic), weight, stated)


@dataclass(frozen=True, slots=True, eq=False)
class Length(ScoreFunction):
    """The length as any function of the data, on integers."""

    mechanism = "Length"
    span = 1

    data: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    first: int
    last: int
    length: Callable[[list[int], int], int]

    def runs(self, rate: Fraction) -> Runs:
        points = np.arange(self.first, self.last + 1)
        losses = [self.length(self.data.tolist(), t) for t in points.tolist()]
        return Runs(points, np.ones_like(points), np.array(losses))


def length_law(
    data: NDArray[np.int64],
    first: int,
    last: int,
    weight: Fraction,
    length: Callable[[list[int], int], int],
    stated: Event,
) -> Exponential[Length]:
    """Weight exp(-weight length) of any length."""
    return Exponential(Length(data, first, last, length), weight, stated)


@dataclass(frozen=True, slots=True)
class StaircaseNoise(Noise):
    """Scalar staircase of sensitivity ``l1`` and top half-width ``width`` (integers)."""

    l1: int
    width: int
    epsilon: Fraction

    @property
    def variance(self) -> float:
        return float((self.l1 / self.epsilon) ** 2 * 2)

    def tail_bound(self, alpha: float) -> float:
        return self.l1 * math.ceil((math.log(1 / alpha) + 2) / float(self.epsilon))

    def sample(self, entropy: Entropy) -> int:
        raise NotImplementedError

    def beyond(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    masses = quantile = length = _chernoff = beyond

    def log_pmf(self, k: int) -> float:
        step = (abs(k) + self.l1 - self.width) // self.l1
        e = float(self.epsilon)
        total = (2 * self.width - 1) + 2 * self.l1 / math.expm1(e)
        return -e * step - math.log(total)


@dataclass(frozen=True, slots=True, eq=False)
class CappedShells(ScoreFunction):
    """Asi and Duchi 2020, Algorithm 1 in one dimension: a shell k <= len(radii), and no other."""

    mechanism = "CappedShells"
    span = 2

    centre: int = field(repr=False, metadata=SECRET)
    radii: tuple[int, ...] = field(repr=False, metadata=SECRET)

    def runs(self, rate: Fraction) -> Runs:
        ends = np.cumsum([0, *self.radii])
        starts = np.concatenate(
            [self.centre - ends[:0:-1], [self.centre], self.centre + ends[:-1] + 1]
        )
        lengths = np.concatenate([np.diff(ends)[::-1], [1], np.diff(ends)])
        losses = np.concatenate([np.arange(len(self.radii), 0, -1), [0], np.arange(1, len(ends))])
        return Runs(starts, lengths, losses)
