"""One synthetic release: what it costs, how wide its interval is, and its expected error.

Rare wide radii matter for the mean error. A radius far too wide has a probability like r^-p, and an
error like r, so plain sampling needs many hundreds of runs to see them in proportion. Here half of
the runs draw one side's radius with its probability times r, and each run carries the weight P / Q
that corrects for it (the balance heuristic of Veach and Guibas 1995). Among runs of one kind the
draws are stratified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modicum.exact import enclosure, octaves
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms import additive, base
from modicum.plan.shapes import Population, Shape, TableShape
from modicum.privacy.event import Event
from modicum.privacy.unit import Unit
from modicum.releases import array_release, release
from modicum.releases.status import USABLE, Status, judged
from modicum.runtime.query import Query
from modicum.runtime.run import run
from modicum.runtime.steps import Draw, Reads, changed
from modicum.sources import persons
from modicum.sources.opening import open_source
from modicum.summaries import synthetic
from modicum.summaries.base import Read

_ROWS = Unit()
_FEW = 256  # integer noise of at most this size is summed over, not sampled
_STRIDE = 19  # 32 / golden ratio: pairs (i, 19 i mod 32) fill the square evenly
_KINDS = 4  # two kinds of runs are plain, and two have a tilted side
_STRIDES = (1, 5)  # the strata of the second side are taken in another order

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one synthetic release gave."""

    error: float
    interval_width: float
    passes: int
    transcript: tuple[release.TranscriptEntry, ...]
    status: str
    method: str
    usable: bool
    weight: float = 1.0


def trial(
    asked: Query[Any],
    reader: SyntheticReader | CountingReader,
    error: Callable[[Any], float],
    *,
    unit: Unit,
    seed: str,
) -> Trial:
    """Answer a query from synthetic data, at no cost, and compute the error of the answer."""
    entropy = SeededEntropy(seed)
    done = run({"plan": asked}, reader, unit=unit, charge=lambda: None, entropy=entropy)["plan"]
    answer = done.answer
    assert answer is not None
    status = judged(answer.status, answer.error_model)
    if status.ok and (left_out := unit.left_out(answer.limit)):
        status = Status("left_out", left_out)
    return Trial(
        error=error(answer),
        interval_width=answer.width(0.95),
        passes=reader.passes,
        transcript=tuple(done.transcript),
        status=status.words,
        method=answer.method or asked.method,
        usable=status.code in USABLE,
    )


class SyntheticReader:
    """Answers reductions from a synthetic table, and counts the passes.

    It keeps the summaries in the order of the reads, but for those that find a range: the records
    around a rank are spread at random, so the table itself does not know where they are.
    """

    def __init__(
        self,
        table: synthetic.SyntheticTable,
        lattice: Lattice | None = None,
        given: Lattice | None = None,
    ) -> None:
        self._lattice, self._tables = lattice, {lattice: table, None: table}
        self._given = given
        self.passes = 0
        self.summaries: list[Any] = []

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads."""
        self.passes += 1
        found = [
            ask.reduction.synthetic(self.on(ask.lattice), ask.lattice, entropy) for ask in reads
        ]
        self.summaries += [
            each for ask, each in zip(reads, found, strict=True) if ask.lattice != octaves.OCTAVES
        ]
        return found

    def on(self, lattice: Lattice | None) -> synthetic.SyntheticTable:
        """The table on a lattice; without one of its own it is on that of every read.

        But for octaves, which the values of a given range have too.
        """
        elsewhere = self._lattice or lattice is octaves.OCTAVES
        known = self._tables.get(lattice if elsewhere else None)
        if known is None:
            made_on = self._lattice or self._given
            assert made_on is not None
            assert lattice is not None
            known = self._tables[lattice] = self._tables[None].moved(made_on, lattice)
        return known


@dataclass(slots=True)
class Part:
    """One of several runs.

    ``number`` is which one, of ``runs``. ``weight`` is how much it counts, once its radii are
    drawn; ``mechanisms`` were drawn from, by label.
    """

    number: int
    runs: int
    weight: float = 1.0
    mechanisms: dict[str, base.Mechanism[Any]] = field(default_factory=dict)


def steered(query: Query[Any], part: Part) -> Query[Any]:
    """The same query, with its radii drawn for one of several runs."""

    def of_part(step: Reads | Draw) -> Reads | Draw:
        if isinstance(step, Reads):
            return step
        part.mechanisms[step.label] = step.mechanism
        sizes = step.mechanism.error_sizes()
        return step if sizes is None else Draw(step.label, _Steered(step.mechanism, sizes, part))

    return replace(query, begin=lambda event: changed(of_part, query.begin(event)))


@dataclass(frozen=True, slots=True)
class _Steered(base.Mechanism[tuple[int, ...]]):
    """The mechanism of the radii with another sampler; all that is said of it is the original's."""

    mechanism: base.Mechanism[tuple[int, ...]]
    sizes: Floats
    part: Part

    @property
    def event(self) -> Event:
        return self.mechanism.event

    def public(self) -> dict[str, object]:
        return self.mechanism.public()

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Take every side's next point, one side perhaps tilted, and set the weight."""
        stratum, kind = divmod(self.part.number, _KINDS)
        strata = -(-self.part.runs // _KINDS)
        factors = self.mechanism.factors()
        sides = len(factors)
        tilted = kind // 2 % sides if kind % 2 else None
        outcome, share = [], 0.5
        choices = [(place,) for place in range(len(self.sizes))]
        for side, factor in enumerate(factors):
            plain = np.exp(factor.log_densities(choices))
            expected = float(plain @ self.sizes)
            proposal = plain * self.sizes / expected if side == tilted else plain
            upto = np.cumsum(proposal)
            u = (stratum * _STRIDES[side] % strata + entropy.bits(53) * 2.0**-53) / strata
            u *= float(upto[-1])
            i = min(int(np.searchsorted(upto, u, side="right")), len(choices) - 1)
            outcome.append(i)
            share += float(self.sizes[i]) / expected / (2 * sides)
        self.part.weight = 1 / share
        return tuple(outcome)

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return self.mechanism.log_density(outcome)

    def probes(self) -> Iterable[tuple[int, ...]]:
        return self.mechanism.probes()


@dataclass(frozen=True, slots=True)
class Released:
    """A release of a synthetic column, whose error is to be computed.

    ``summaries`` were read, and ``mechanisms`` drawn from, by label.
    """

    asked: Query[Any]
    table: synthetic.SyntheticTable
    summaries: Sequence[Any]
    mechanisms: dict[str, Any]
    answer: Any

    @property
    def options(self) -> Any:
        """The options of the query."""
        return self.asked.options

    @property
    def lattice(self) -> Lattice:
        """The public range and step, given or found."""
        lattice = self.answer.lattice or self.asked.lattice
        assert lattice is not None
        return lattice

    @property
    def step(self) -> Fraction:
        """The unit of the table's integers."""
        return Fraction(self.lattice.step)

    def points(self, noise: additive.Noise) -> tuple[Floats, Floats]:
        """Integers that stand for a noise, and their chances."""
        z, chances = zip(*_points(noise), strict=True)
        return np.array(z, dtype=np.float64), np.array(chances)


Error = Callable[[Released], float]


def column_trials(
    shape: Shape, error: Error, unit: Unit
) -> Callable[[Query[Any], int, int], Iterator[Trial]]:
    """A function that answers queries from tables of a shape.

    The expected error is taken over the last draw's noise by its quantiles, and not by one sample,
    and wide radii are drawn more often than by chance: a few dozen runs then suffice.
    """

    def one(asked: Query[Any], table: synthetic.SyntheticTable, number: int, runs: int) -> Trial:
        made_on = shape.lattice if asked.finds_range else None
        reader, part = SyntheticReader(table, made_on, asked.lattice), Part(number, runs)

        def error_of(answer: release.Estimate[Any]) -> float:
            known = reader.on(answer.lattice or asked.lattice)
            return error(Released(asked, known, reader.summaries, part.mechanisms, answer))

        seed = f"plan, draws {number}"
        found = trial(steered(asked, part), reader, error_of, unit=unit, seed=seed)
        return replace(found, weight=part.weight)

    def simulated(asked: Query[Any], rows: int, runs: int) -> Iterator[Trial]:
        lattice = shape.lattice if asked.finds_range else asked.lattice
        if lattice is None:  # a count does not look at values
            alike = synthetic.SyntheticTable(np.zeros(1, np.int64), np.array([rows]))
            return (one(asked, alike, number, runs) for number in range(runs))
        population = Population.of(shape, lattice, rows)
        tables = (population.table(SeededEntropy(f"plan, table {n}")) for n in range(runs))
        return (one(asked, table, number, runs) for number, table in enumerate(tables))

    return simulated


def against(truth: Callable[[Released], Any]) -> Error:
    """Count the error from the table's own numbers, over the last noise if it is one.

    The error of several numbers is their mean error.
    """

    def error(run: Released) -> float:
        true = truth(run)
        if isinstance(true, Sequence):
            errors = [apart(*pair) for pair in zip(run.answer.values, true, strict=True)]
            return math.fsum(errors) / len(errors)
        return math.fsum(chance * apart(value, true) for value, chance in _values(run))

    return error


def apart(value: Fraction, true: Fraction) -> float:
    """How far an answer is from the truth, the largest float if that is beyond it."""
    return abs(enclosure.float_nearest(value - true))


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


def _joint(noise: additive.Noise, number: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Tuples that stand for several independent noises, and their chances."""
    quantiles = _quantiles(noise)
    for i in range(len(quantiles)):
        places = (i * _STRIDE**k % len(quantiles) for k in range(number))
        yield tuple(quantiles[place] for place in places), 1 / len(quantiles)


def _points(noise: additive.Noise) -> list[tuple[int, float]]:
    """Integers that stand for a noise, and their chances: all of them if they are few."""
    reach = noise.tail_bound(1e-9)
    if reach <= _FEW:
        return [(k, math.exp(noise.log_pmf(k))) for k in range(-int(reach), int(reach) + 1)]
    quantiles = _quantiles(noise)
    return [(z, 1 / len(quantiles)) for z in quantiles]


def _quantiles(noise: additive.Noise) -> list[int]:
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


class CountingReader(persons.TableReader):
    """Reads synthetic rows, and counts the passes."""

    __slots__ = ("passes",)

    def __init__(self, table: Any, unit: Unit = _ROWS, columns: Sequence[str] = ()) -> None:
        super().__init__(open_source(table), unit, columns)
        self.passes = 0

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the reads."""
        self.passes += 1
        return super().read(reads, entropy)


class ReleasedRows(NamedTuple):
    """A release of synthetic rows, whose error is to be computed."""

    columns: TableShape
    x: Floats
    answer: array_release.ArrayEstimate

    @property
    def values(self) -> Floats:
        """The answer as an array."""
        values = np.array([float(value) for value in self.answer.values])
        return values.reshape([len(axis) for axis in self.answer.axes])


def columns_trials(
    columns: TableShape, error: Callable[[ReleasedRows], float], unit: Unit
) -> Callable[[Query[Any], int, int], Iterator[Trial]]:
    """A function that answers queries from rows of these columns."""

    def one(asked: Query[Any], rows: int, number: int) -> Trial:
        x = columns.rows(rows, SeededEntropy(f"rows {number}"))
        if asked.lattice is not None and not asked.finds_range:
            x = np.clip(x, asked.lattice.lo, asked.lattice.hi)

        def error_of(answer: array_release.ArrayEstimate) -> float:
            return error(ReleasedRows(columns, x, answer))

        return trial(asked, CountingReader(x), error_of, unit=unit, seed=f"plan {number}")

    return lambda asked, rows, runs: (one(asked, rows, number) for number in range(runs))
