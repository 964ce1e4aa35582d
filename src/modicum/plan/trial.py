"""One synthetic release: what it would cost, and its expected error given what it clipped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayAnswer
from modicum.estimators.count import CountEvidence
from modicum.estimators.histogram import HistogramEvidence
from modicum.estimators.iqr import RangeEvidence
from modicum.estimators.mean_evidence import MeanEvidence, NoisyTerm
from modicum.estimators.quantile import QuantileEvidence
from modicum.estimators.subset_mean import SubsetEvidence
from modicum.estimators.sum_evidence import SumEvidence
from modicum.estimators.variance_evidence import VarianceEvidence
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise, Noise
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import RankScore
from modicum.plan.reader import SyntheticReader
from modicum.plan.steering import Part, steered
from modicum.plan.table import Table
from modicum.privacy.unit import Unit
from modicum.release import Answer, Entry, Finding
from modicum.runners.live import run
from modicum.runners.request import Question
from modicum.status import resolved

__all__ = ["Trial", "Truth", "trial"]

Truth = Fraction | Callable[[Answer], Fraction] | tuple[Fraction, ...] | None
_FEW = 256  # integer noise of at most this size is summed over, not sampled
_STRIDE = 19  # 32 / golden ratio: pairs (i, 19 i mod 32) fill the square evenly


@dataclass(frozen=True, slots=True)
class Trial:
    """What one synthetic release gave."""

    weight: float
    error: float
    interval_width: float
    passes: int
    journal: tuple[Entry, ...]
    status: str
    method: str | None


def trial(
    request: Question[Any], table: Table, truth: Truth, *, unit: Unit, number: int, runs: int
) -> Trial:
    """Run the estimator on a synthetic table, as one of several runs.

    ``truth`` is the table's own statistic, from which the error is counted; a function of the
    answer if it depends on which statistic that is of; or ``None`` for counts of bins that the
    release chose: their noise is the error. Of several numbers the error and the width are
    averages.

    The expected error is taken over the last draw's noise by its quantiles, and not by one
    sample, and wide radii are drawn more often than by chance: a few dozen runs then suffice.
    """
    reader, part = SyntheticReader(table), Part(number, runs)
    walk = run(
        {"plan": steered(request, part)},
        reader,
        unit=unit,
        charge=lambda: None,
        entropy=SeededEntropy(f"plan, draws {number}"),
    )["plan"]
    assert walk.answer is not None
    error, width = _judged(request, reader, table, truth, walk.answer, part)
    return Trial(
        weight=part.weight,
        error=error,
        interval_width=width,
        passes=reader.passes,
        journal=tuple(walk.journal),
        status=resolved(walk.answer.status, walk.answer.evidence).words,
        method=walk.answer.method,
    )


def _judged(
    request: Question[Any],
    reader: SyntheticReader,
    table: Table,
    truth: Truth,
    answer: Finding[Any],
    part: Part,
) -> tuple[float, float]:
    """Error and width of the interval."""
    if isinstance(answer, ArrayAnswer):
        low, high = answer.evidence.intervals(0.95, 3)
        width = float(np.mean(high - low))
        if isinstance(answer.evidence, HistogramEvidence):
            return _count_error(answer.evidence.noise, truth), width
        assert isinstance(truth, tuple)
        errors = [abs(float(a - b)) for a, b in zip(answer.values, truth, strict=True)]
        return math.fsum(errors) / len(errors), width
    assert isinstance(answer, Answer)
    if callable(truth):
        truth = truth(answer)
    assert isinstance(truth, Fraction)
    lower, upper = answer.evidence.interval(0.95, 3)
    return _error(request, reader, table, truth, answer, part), upper - lower


def _error(
    request: Question[Any],
    reader: SyntheticReader,
    table: Table,
    truth: Fraction,
    answer: Answer,
    part: Part,
) -> float:
    if part.quantile is not None and isinstance(answer.evidence, QuantileEvidence):
        assert request.lattice is not None
        return _rank_error(part.quantile) * request.lattice.step
    if part.levels is not None:
        assert request.lattice is not None
        return part.levels.distance() * request.lattice.step
    if isinstance(answer.evidence, RangeEvidence):
        assert request.lattice is not None
        low, high = (_middle(w.values, w.below, w.q * w.count) for w in reader.windows)
        truth = (high - low) * Fraction(request.lattice.step)
    return math.fsum(chance * abs(float(value - truth)) for value, chance in _values(answer, table))


def _count_error(noise: Noise, truth: Truth) -> float:
    """Expected error of a bin's count; without a truth, of one that stays above 0."""
    z, chances = (
        np.array(column, dtype=np.float64) for column in zip(*_points(noise), strict=True)
    )
    if truth is None:
        return float(chances @ np.abs(z))
    assert isinstance(truth, tuple)
    counts = np.array(truth, dtype=np.float64)
    errors = [float(chances @ np.abs(np.maximum(count + z, 0) - count)) for count in counts]
    return math.fsum(errors) / len(errors)


def _rank_error(law: Exponential[RankScore]) -> float:
    """Expected distance of a draw from the middle of the quantile, in lattice steps."""
    score = law.score
    truth = _middle(score.values, score.below, score.q * score.count)
    runs = law.runs()
    weights = runs.lengths * np.exp(-float(law.rate) * (runs.losses - runs.losses.min()))
    # A stretch is uniform on its integers; one that holds the truth is cut there.
    left = np.maximum(truth - runs.starts, 0).astype(np.float64)
    right = np.maximum(runs.starts + runs.lengths - 1 - truth, 0).astype(np.float64)
    span = np.maximum(runs.lengths - 1, 1)
    inside = (left > 0) & (right > 0)
    middle = np.maximum(left, right) - (runs.lengths - 1) / 2
    distance = np.where(inside, (left**2 + right**2) / (2 * span), middle)
    return float(weights @ distance / weights.sum())


def _middle(values: NDArray[np.int64], below: int, rank: Fraction) -> int:
    """Between the lowest and the highest record that are a quantile."""
    ends = (math.ceil(rank) - 1, math.floor(rank))
    places = [min(max(end - below, 0), len(values) - 1) for end in ends]
    return sum(int(values[place]) for place in places) // 2


def _values(answer: Answer, table: Table) -> Iterator[tuple[Fraction, float]]:
    """Answers which other outcomes of the last draw would have given, and their chances.

    Where the last draw is no noise, there is this answer alone.
    """
    match evidence := answer.evidence:
        case MeanEvidence():
            clipped = table.clipped_sum(evidence.lo, evidence.hi)
            deviation = clipped - evidence.rough * table.rows
            for z, chance in _points(evidence.noise.noise):
                yield replace(evidence, deviation=deviation + z).value, chance
        case SumEvidence(noise=NoisyTerm(noise)):
            clipped = table.clipped_sum(evidence.lo, evidence.hi)
            for z, chance in _points(noise):
                yield replace(evidence, noisy=clipped + z).value, chance
        case SubsetEvidence(lo=lo, hi=hi, noise=term):
            left = table.clipped_sum(lo, hi) - lo * table.rows
            right = (hi - lo) * table.rows - left
            for (z, other), chance in _pairs(term.noise):
                yield replace(evidence, left=left + z, right=right + other).value, chance
        case VarianceEvidence(lo=lo, hi=hi, rough=rough, noise=term):
            squares = table.squares(lo, hi, rough.value)
            rest = evidence.reach**2 * table.rows - squares
            for (z, other), chance in _pairs(term.noise):
                yield replace(evidence, sums=(squares + z, rest + other)).value, chance
        case CountEvidence(noise=noise):
            for z, chance in _points(noise):
                yield Fraction(max(table.rows + z, 0)), chance
        case _:
            yield answer.value, 1.0


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
