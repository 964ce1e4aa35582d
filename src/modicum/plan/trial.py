"""One synthetic release: what it costs, how wide its interval is, and its expected error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.plan.column import Population, Shape
from modicum.plan.reader import SyntheticReader
from modicum.plan.steering import Part, steered
from modicum.privacy.unit import Unit
from modicum.release import Entry, Estimate
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.status import resolved
from modicum.summaries.base import Read
from modicum.summaries.synthetic import SyntheticTable

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
    """Answer a query from synthetic data, at no cost, and compute the error of the answer."""
    entropy = SeededEntropy(seed)
    walk = run({"plan": asked}, reader, unit=unit, charge=lambda: None, entropy=entropy)["plan"]
    answer = walk.answer
    assert answer is not None
    return Trial(
        error=error(answer),
        interval_width=answer.width(0.95, 3),
        passes=reader.passes,
        transcript=tuple(walk.transcript),
        status=resolved(answer.status, answer.error_model).words,
        method=answer.method or asked.method,
    )


@dataclass(frozen=True, slots=True)
class Released:
    """A release of a synthetic column, whose error is to be computed.

    ``summaries`` were read, and ``mechanisms`` drawn from, by label.
    """

    asked: Query[Any]
    table: SyntheticTable
    summaries: Sequence[Any]
    mechanisms: dict[str, Any]
    answer: Any

    @property
    def options(self) -> Any:
        """The options of the query."""
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

    def points(self, noise: Noise) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Integers that stand for a noise, and their chances."""
        z, chances = zip(*_points(noise), strict=True)
        return np.array(z, dtype=np.float64), np.array(chances)


Error = Callable[[Released], float]


def column_trials(
    shape: Shape, error: Error, unit: Unit
) -> Callable[[Query[Any], int, int], list[Trial]]:
    """A function that answers queries from tables of a shape.

    The expected error is taken over the last draw's noise by its quantiles, and not by one sample,
    and wide radii are drawn more often than by chance: a few dozen runs then suffice.
    """

    def one(asked: Query[Any], table: SyntheticTable, number: int, runs: int) -> Trial:
        reader, part = SyntheticReader(table), Part(number, runs)

        def error_of(answer: Estimate[Any]) -> float:
            return error(Released(asked, table, reader.summaries, part.mechanisms, answer))

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


def against(truth: Callable[[Released], Any]) -> Error:
    """Count the error from the table's own numbers, over the last noise if it is one.

    The error of several numbers is their mean error.
    """

    def error(run: Released) -> float:
        true = truth(run)
        if isinstance(true, Sequence):
            pairs = zip(run.answer.values, true, strict=True)
            errors = [abs(float(value - each)) for value, each in pairs]
            return math.fsum(errors) / len(errors)
        return math.fsum(chance * abs(float(value - true)) for value, chance in _values(run))

    return error


def _values(run: Released) -> Iterator[tuple[Fraction, float]]:
    """Answers which other outcomes of the last draw would have given, and their chances.

    Where the last draw is not noise, there is this answer alone.
    """
    redrawn = getattr(run.answer.error_model, "redrawn", None)
    if redrawn is None:
        yield run.answer.value, 1.0
        return
    noises, value = redrawn(run.table)
    if len(noises) == 1:
        for z, chance in _points(*noises):
            yield value(z), chance
    else:
        for several, chance in _joint(noises[0], len(noises)):
            yield value(*several), chance


def _joint(noise: Noise, number: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Tuples that stand for several independent noises, and their chances."""
    quantiles = _quantiles(noise)
    for i in range(len(quantiles)):
        places = (i * _STRIDE**k % len(quantiles) for k in range(number))
        yield tuple(quantiles[place] for place in places), 1 / len(quantiles)


def _points(noise: Noise) -> list[tuple[int, float]]:
    """Integers that stand for a noise, and their chances: all of them if they are few."""
    reach = noise.tail_bound(1e-9)
    if reach <= _FEW:
        return [(k, math.exp(noise.log_pmf(k))) for k in range(-int(reach), int(reach) + 1)]
    quantiles = _quantiles(noise)
    return [(z, 1 / len(quantiles)) for z in quantiles]


def _quantiles(noise: Noise) -> list[int]:
    """Quantiles of integer noise, one for each of equal shares of its probability."""
    upper = [noise.quantile(t) for t in _TAILS]
    return sorted([*upper, *(-k for k in upper)])


def _tails(shares: int) -> list[float]:
    """Tail probabilities t <= 1/2 with the mean of ln t of equal shares: E|Laplace| is exact."""

    def primitive(t: float) -> float:
        return t * math.log(t) - t if t > 0 else 0.0

    ends = [i / shares for i in range(shares + 1)]
    means = [(primitive(b) - primitive(a)) * shares for a, b in pairwise(ends)]
    return [math.exp(mean) / 2 for mean in means]


_TAILS = _tails(16)
