"""One synthetic release: what it would cost, and its expected error given what it clipped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

from modicum.estimators.count import CountEvidence
from modicum.estimators.mean_evidence import MeanEvidence, NoisyTerm, SingleValueEvidence
from modicum.estimators.subset_mean import SubsetEvidence
from modicum.estimators.sum import SumEvidence
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.noise import LaplaceNoise, Noise
from modicum.plan.reader import SyntheticReader
from modicum.plan.steering import Part, steered
from modicum.plan.table import Table
from modicum.privacy.unit import Unit
from modicum.release import Entry, Evidence
from modicum.runners.live import run
from modicum.runners.request import Request

__all__ = ["Trial", "trial"]

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


def trial(request: Request, table: Table, *, unit: Unit, number: int, runs: int) -> Trial:
    """Run the estimator on a synthetic table, as one of several runs.

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
    truth = _truth(request, table)
    errors = [abs(float(value - truth)) for value in _values(evidence, table)]
    lower, upper = evidence.interval(0.95, 3)
    return Trial(
        weight=part.weight,
        error=math.fsum(errors) / len(errors),
        interval_width=upper - lower,
        passes=reader.passes,
        journal=tuple(walk.journal),
        status=walk.answer.status,
    )


def _truth(request: Request, table: Table) -> Fraction:
    if request.lattice is None:
        return Fraction(table.rows)
    exact = table.mean() if request.statistic == "mean" else Fraction(table.total())
    return exact * Fraction(request.lattice.step)


def _values(evidence: Evidence, table: Table) -> Iterator[Fraction]:
    """Answers which other outcomes of the last draw would have given."""
    match evidence:
        case SingleValueEvidence() | SumEvidence(noise=None):
            yield evidence.value
        case MeanEvidence():
            clipped = table.clipped_sum(evidence.lo, evidence.hi)
            deviation = clipped - evidence.rough * table.rows
            for z in _points(evidence.noise.noise):
                yield replace(evidence, deviation=deviation + z).value
        case SumEvidence(noise=NoisyTerm(noise)):
            clipped = table.clipped_sum(evidence.lo, evidence.hi)
            for z in _points(noise):
                yield replace(evidence, noisy=clipped + z).value
        case SubsetEvidence(lo=lo, hi=hi, noise=term):
            left = table.clipped_sum(lo, hi) - lo * table.rows
            right = (hi - lo) * table.rows - left
            points = _points(term.noise)
            for i, z in enumerate(points):
                other = points[i * _STRIDE % len(points)]
                yield replace(evidence, left=left + z, right=right + other).value
        case CountEvidence(noise=noise):
            for z in _points(noise):
                yield Fraction(max(table.rows + z, 0))
        case _:
            raise AssertionError(f"no expected error for {type(evidence).__name__}")


def _points(noise: Noise) -> list[int]:
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
