"""One synthetic release: what it costs, how wide its interval is, and its expected error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayEstimate
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import LaplaceNoise, Noise
from modicum.plan.column import Population, Shape, SyntheticTable
from modicum.plan.reader import SyntheticReader
from modicum.plan.steering import Part, steered
from modicum.privacy.unit import Unit
from modicum.release import Entry, Estimate
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.statistics.redrawn import NoisyLast
from modicum.status import resolved
from modicum.summaries.base import Read
from modicum.summaries.order_statistics import WindowSummary

__all__ = [
    "Released",
    "Trial",
    "against",
    "against_each",
    "column_trials",
    "level_error",
    "middle",
    "of_counts",
    "rank_error",
    "trial",
]

_ANY_LATTICE = Lattice.within((-2, 2))  # a count does not look at values
_FEW = 256  # integer noise of at most this size is summed over, not sampled
_STRIDE = 19  # 32 / golden ratio: pairs (i, 19 i mod 32) fill the square evenly


@dataclass(frozen=True, slots=True)
class Trial:
    """What one synthetic release gave."""

    error: float
    interval_width: float
    passes: int
    transcript: tuple[Entry, ...]
    status: str
    method: str
    weight: float = 1.0


class _Reader(Protocol):
    @property
    def passes(self) -> int: ...

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]: ...


def trial(
    asked: Query[Any],
    reader: _Reader,
    error: Callable[[Any], float],
    *,
    unit: Unit,
    seed: str,
) -> Trial:
    """Answer a question from synthetic data, at no cost, and tell the error of the answer."""
    entropy = SeededEntropy(seed)
    walk = run({"plan": asked}, reader, unit=unit, charge=lambda: None, entropy=entropy)["plan"]
    answer = walk.answer
    assert answer is not None
    return Trial(
        error=error(answer),
        interval_width=_width(answer),
        passes=reader.passes,
        transcript=tuple(walk.transcript),
        status=resolved(answer.status, answer.error_model).words,
        method=answer.method or asked.method,
    )


def _width(answer: Any) -> float:
    """Width of the 95 % interval; the mean one of several numbers."""
    if isinstance(answer, ArrayEstimate):
        low, high = answer.error_model.intervals(0.95, 3)
        return float(np.mean(high - low))
    lower, upper = answer.error_model.interval(0.95, 3)
    return float(upper - lower)


@dataclass(frozen=True, slots=True)
class Released:
    """A release of a synthetic column, of which the error is to be told.

    Attributes
    ----------
    asked : Query
    table : SyntheticTable
    windows : sequence of WindowSummary
        The records around ranks that were read.
    laws : mapping
        The laws that were drawn from, by their labels.
    answer : Answer or ArrayEstimate
    """

    asked: Query[Any]
    table: SyntheticTable
    windows: Sequence[WindowSummary]
    mechanisms: dict[str, Any]
    answer: Any

    @property
    def options(self) -> Any:
        """What was chosen."""
        return self.asked.options

    @property
    def lattice(self) -> Lattice:
        """The public range and step."""
        assert self.asked.lattice is not None
        return self.asked.lattice

    @property
    def step(self) -> Fraction:
        """The unit of the table's integers."""
        return Fraction(self.lattice.step)


Error = Callable[[Released], float]
Number = int | Fraction


def column_trials(
    shape: Shape, error: Error, unit: Unit
) -> Callable[[Query[Any], int, int], list[Trial]]:
    """Return what answers questions from tables of a shape.

    The expected error is taken over the last draw's noise by its quantiles, and not by one
    sample, and wide radii are drawn more often than by chance: a few dozen runs then suffice.
    """

    def one(asked: Query[Any], table: SyntheticTable, number: int, runs: int) -> Trial:
        reader, part = SyntheticReader(table), Part(number, runs)

        def error_of(answer: Estimate[Any]) -> float:
            return error(Released(asked, table, reader.windows, part.mechanisms, answer))

        seed = f"plan, draws {number}"
        found = trial(steered(asked, part), reader, error_of, unit=unit, seed=seed)
        return replace(found, weight=part.weight)

    def simulated(asked: Query[Any], rows: int, runs: int) -> list[Trial]:
        population = Population.of(shape, asked.lattice or _ANY_LATTICE, rows)
        return [
            one(asked, population.table(SeededEntropy(f"plan, table {i}")), i, runs)
            for i in range(runs)
        ]

    return simulated


def against(truth: Callable[[Released], Number]) -> Error:
    """Count the error of one number from that of the table, over the last noise if it is one."""

    def error(run: Released) -> float:
        true = truth(run)
        return math.fsum(chance * abs(float(value - true)) for value, chance in _values(run))

    return error


def against_each(truths: Callable[[Released], Sequence[Fraction]]) -> Error:
    """Count the mean error of several numbers from those of the table."""

    def error(run: Released) -> float:
        pairs = zip(run.answer.values, truths(run), strict=True)
        errors = [abs(float(value - true)) for value, true in pairs]
        return math.fsum(errors) / len(errors)

    return error


def of_counts(truths: Callable[[Released], Sequence[int] | None]) -> Error:
    """Expect the mean error of counts over their noise; without truths, of one above 0."""

    def error(run: Released) -> float:
        z, chances = (
            np.array(column, dtype=np.float64)
            for column in zip(*_points(run.answer.error_model.noise), strict=True)
        )
        counts = truths(run)
        if counts is None:
            return float(chances @ np.abs(z))
        errors = [
            float(chances @ np.abs(np.maximum(count + z, 0) - count))
            for count in np.array(counts, dtype=np.float64)
        ]
        return math.fsum(errors) / len(errors)

    return error


def level_error(label: str) -> Error:
    """Expect the distance of a draw by lengths of intervals from the middle of the shortest."""
    return lambda run: run.mechanisms[label].distance() * run.lattice.step


def rank_error(run: Released) -> float:
    """Expect the distance of a quantile's draw from its middle."""
    mechanism = run.mechanisms["quantile"]
    score = mechanism.score
    truth = middle(score.values, score.below, score.q * score.count)
    runs = mechanism.runs()
    weights = runs.lengths * np.exp(-float(mechanism.rate) * (runs.losses - runs.losses.min()))
    # A stretch is uniform on its integers; one that holds the truth is cut there.
    left = np.maximum(truth - runs.starts, 0).astype(np.float64)
    right = np.maximum(runs.starts + runs.lengths - 1 - truth, 0).astype(np.float64)
    span = np.maximum(runs.lengths - 1, 1)
    inside = (left > 0) & (right > 0)
    outside = np.maximum(left, right) - (runs.lengths - 1) / 2
    distance = np.where(inside, (left**2 + right**2) / (2 * span), outside)
    return float(weights @ distance / weights.sum()) * run.lattice.step


def middle(values: NDArray[np.int64], below: int, rank: Fraction) -> int:
    """Between the lowest and the highest record that are a quantile."""
    ends = (math.ceil(rank) - 1, math.floor(rank))
    places = [min(max(end - below, 0), len(values) - 1) for end in ends]
    return sum(int(values[place]) for place in places) // 2


def _values(run: Released) -> Iterator[tuple[Fraction, float]]:
    """Answers which other outcomes of the last draw would have given, and their chances.

    Where the last draw is no noise, there is this answer alone.
    """
    error_model = run.answer.error_model
    if not isinstance(error_model, NoisyLast):
        yield run.answer.value, 1.0
        return
    noises, value = error_model.redrawn(run.table)
    if len(noises) == 1:
        for z, chance in _points(*noises):
            yield value(z), chance
    else:
        for pair, chance in _pairs(noises[0]):
            yield value(*pair), chance


def _pairs(noise: Noise) -> Iterator[tuple[tuple[int, int], float]]:
    """Pairs that stand for two independent noises, and their chances."""
    quantiles = _quantiles(noise)
    for i, z in enumerate(quantiles):
        yield (z, quantiles[i * _STRIDE % len(quantiles)]), 1 / len(quantiles)


def _points(noise: Noise) -> list[tuple[int, float]]:
    """Integers that stand for a noise, and their chances: all of them if they are few."""
    reach = noise.tail_bound(1e-9)
    if reach <= _FEW:
        return [(k, math.exp(noise.log_pmf(k))) for k in range(-int(reach), int(reach) + 1)]
    quantiles = _quantiles(noise)
    return [(z, 1 / len(quantiles)) for z in quantiles]


def _quantiles(noise: Noise) -> list[int]:
    """Quantiles of integer noise, one for each of equal shares of its probability."""
    if isinstance(noise, LaplaceNoise):
        # P(K > k) = a^(k+1) / (1 + a) for k >= 0, a = exp(-1/scale): the least k with at most t.
        rate = float(1 / noise.scale)
        shift = math.log1p(math.exp(-rate))
        upper = [max(0, math.ceil(-(math.log(t) + shift) / rate - 1)) for t in _TAILS]
    else:
        normal = NormalDist(sigma=math.sqrt(noise.variance))
        upper = [round(-normal.inv_cdf(t)) for t in _TAILS]
    return sorted([*upper, *(-k for k in upper)])


def _tails(shares: int) -> list[float]:
    """Tail probabilities t <= 1/2 with the mean of ln t of equal shares: E|Laplace| is exact."""

    def primitive(t: float) -> float:
        return t * math.log(t) - t if t > 0 else 0.0

    ends = [i / shares for i in range(shares + 1)]
    means = [(primitive(b) - primitive(a)) * shares for a, b in pairwise(ends)]
    return [math.exp(mean) / 2 for mean in means]


_TAILS = _tails(16)
