"""One synthetic release: what it would cost, and its expected error given what it clipped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from modicum.estimators.count import CountEvidence
from modicum.estimators.mean_evidence import MeanEvidence, NoisyTerm
from modicum.estimators.subset_mean import SubsetEvidence
from modicum.estimators.sum import SumEvidence
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.noise import LaplaceNoise, Noise
from modicum.mechanisms.quantile import RankLaw
from modicum.plan.reader import SyntheticReader
from modicum.plan.steering import Part, steered
from modicum.plan.table import Table
from modicum.privacy.unit import Unit
from modicum.release import Answer, Entry
from modicum.runners.live import run
from modicum.runners.request import Request

__all__ = ["Trial", "trial"]

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


def trial(
    request: Request, table: Table, truth: Fraction, *, unit: Unit, number: int, runs: int
) -> Trial:
    """Run the estimator on a synthetic table, as one of several runs.

    ``truth`` is the table's own statistic, from which the error is counted.

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
    evidence = walk.answer.evidence
    lower, upper = evidence.interval(0.95, 3)
    return Trial(
        weight=part.weight,
        error=_error(request, table, truth, walk.answer, part.quantile),
        interval_width=upper - lower,
        passes=reader.passes,
        journal=tuple(walk.journal),
        status=walk.answer.status,
    )


def _error(
    request: Request, table: Table, truth: Fraction, answer: Answer, quantile: RankLaw | None
) -> float:
    if quantile is not None:
        assert request.lattice is not None
        return _rank_error(quantile) * request.lattice.step
    return math.fsum(chance * abs(float(value - truth)) for value, chance in _values(answer, table))


def _rank_error(law: RankLaw) -> float:
    """Expected distance of a draw from the middle of the quantile, in lattice steps."""
    rank = law.q * law.count
    places = [min(max(each - law.below, 0), len(law.values) - 1) for each in _middle(rank)]
    truth = sum(int(law.values[place]) for place in places) // 2
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


def _middle(rank: Fraction) -> tuple[int, int]:
    """Positions, from 0, of the lowest and the highest record that are a quantile."""
    return math.ceil(rank) - 1, math.floor(rank)


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
            quantiles = _quantiles(term.noise)
            for i, z in enumerate(quantiles):
                other = quantiles[i * _STRIDE % len(quantiles)]
                changed = replace(evidence, left=left + z, right=right + other)
                yield changed.value, 1 / len(quantiles)
        case CountEvidence(noise=noise):
            for z, chance in _points(noise):
                yield Fraction(max(table.rows + z, 0)), chance
        case _:
            yield answer.value, 1.0


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
