"""The exponential mechanism, over runs of outcomes that have equal losses.

P(z) ∝ w(z) exp(-rate loss(z)) for integers z (McSherry and Talwar 2007). A :class:`ScoreFunction`
makes the losses from the data; :class:`Exponential` draws, exactly. The candidates may be 2^60
integers: only the runs between data points matter.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms import base, grids
from modicum.privacy.event import Event, RangeDP
from modicum.stored.codec import storable

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Runs:
    """Consecutive stretches of an integer interval: first integer, length, loss of each.

    With ``weights``, every stretch is one integer, and its weight is not its length. The losses are
    in 1/``fine`` of the score's unit.
    """

    starts: Integers
    lengths: Integers
    losses: Integers
    weights: Integers | None = None
    fine: int = 1

    @classmethod
    def of_candidates(cls, losses: Integers, weights: Integers | None = None) -> Runs:
        """Number candidates 0, 1, ...; without weights they are alike."""
        ones = np.ones(len(losses), dtype=np.int64)
        return cls(np.arange(len(losses)), ones, losses, ones if weights is None else weights)

    def finer(self, rate: Fraction) -> Runs:
        """The same losses in units that are fine enough for a prior, where one weighs ``rate``.

        Of a large ε a unit weighs so much that a prior in whole units would be rounded to nothing.
        The units depend on the rate alone, and a loss too large for them is cut: neither makes one
        record count for more. What is cut weighs e^-(2^51) at most.
        """
        fine = fine_enough(rate)
        if fine == 1:
            return self
        return replace(self, losses=np.minimum(self.losses, _MOST // fine) * fine, fine=fine)


_FINE_RATE = Fraction(1, 256)  # of a unit; an eighth of an octave, the least prior, has 22 of them
_MOST = 1 << 61  # loss, so that a prior can be added in int64


def fine_enough(rate: Fraction) -> int:
    """Parts of a unit of loss, a power of two, of which each weighs 1/256 at most.

    Examples
    --------
    >>> fine_enough(Fraction(1, 1024)), fine_enough(Fraction(3, 4)), fine_enough(Fraction(10**6))
    (1, 256, 268435456)
    """
    return 1 << max(0, math.ceil(rate / _FINE_RATE) - 1).bit_length()


def runs_between(
    points: Integers, first: int, last: int
) -> tuple[Integers, Integers, Integers, Integers]:
    """Cut ``[first, last]`` at sorted points: every distinct point and every gap is a stretch.

    The points lie inside the interval and may repeat. Returned are, for each stretch, its first
    integer, its length, the number of points below it and the number of points on it (0 for a gap).
    """
    # np.unique would sort again; the points are sorted.
    apart = np.ones(len(points) + 1, dtype=bool)
    np.not_equal(points[1:], points[:-1], out=apart[1:-1])
    before = apart.nonzero()[0]
    values = points[before[:-1]]
    ends = np.empty(2 * len(before), dtype=np.int64)
    ends[0], ends[1:-1:2], ends[2::2], ends[-1] = first, values, values + 1, last + 1
    lengths = np.diff(ends)
    equal = np.zeros_like(lengths)
    equal[1::2] = np.diff(before)
    real = lengths > 0
    return ends[:-1][real], lengths[real], np.repeat(before, 2)[:-1][real], equal[real]


class ScoreFunction(ABC):
    """Losses of all outcomes, from the data; subclasses are frozen slotted dataclasses.

    Sensitivity contract, which every subclass proves: one record more changes the losses of all
    outcomes by amounts within an interval of length :attr:`span`. Subtracting the middle of that
    interval from all of them changes no law, so they move by ``span / 2`` at most.
    """

    __slots__ = ()

    mechanism: ClassVar[str]
    """What transcripts call the exponential mechanism with this score."""

    @property
    @abstractmethod
    def span(self) -> int:
        """Most by which one record raises the loss of one outcome more than that of another."""

    @abstractmethod
    def runs(self, rate: Fraction) -> Runs:
        """Stretches of constant loss, in order, without gaps or overlaps.

        ``rate`` is the weight of one unit of loss.
        """

    def over(self, q: Integers) -> Any:
        """Build the same score for these records, if a subsample may have it."""
        raise NotImplementedError


S = TypeVar("S", bound=ScoreFunction)


@dataclass(frozen=True, slots=True, repr=False)
class Exponential(base.Mechanism[int], Generic[S]):
    """An integer z with P(z) ∝ exp(-ε loss(z) / span), the loss and its span those of a score.

    Privacy: by the score's contract the numerator and the normaliser each change by a factor of
    exp(±ε/2) at most, and log ratios of all outcomes lie in an interval of length ε: one draw is a
    bounded range of ε. ``stated`` is the event that a draw is charged as: that one, or one that
    follows from it. The data of the score are secret.

    Examples
    --------
    >>> from modicum.mechanisms.scores import TargetScore
    >>> law = Exponential(TargetScore((9, 4, 2, 0), target=2), Fraction(1))
    >>> law
    BeyondTarget(target=2, epsilon=Fraction(1, 1))
    >>> [round(2 * (law.log_density(2) - law.log_density(k))) for k in range(4)]
    [7, 2, 0, 2]
    """

    score: S = field(metadata=base.SECRET)
    epsilon: Fraction
    stated: Event | None = None

    @property
    def name(self) -> str:
        return self.score.mechanism

    @property
    def event(self) -> Event:
        return RangeDP(self.epsilon) if self.stated is None else self.stated

    @property
    def rate(self) -> Fraction:
        """Weight of one unit of loss."""
        return self.epsilon / self.score.span

    def over(self, q: Integers) -> Exponential[S]:
        return replace(self, score=self.score.over(q))

    def runs(self) -> Runs:
        return self.score.runs(self.rate)

    def sample(self, entropy: Entropy) -> int:
        """Choose a stretch by its exact weight, then an integer of it uniformly."""
        runs = self.runs()
        rate = self.rate / runs.fine
        excess = runs.losses - runs.losses.min()
        if runs.weights is not None:
            return int(runs.starts[draw_level(runs.weights, excess, rate, entropy)])
        i = draw_level(runs.lengths, excess, rate, entropy)
        return int(runs.starts[i]) + entropy.below(int(runs.lengths[i]))

    def log_density(self, outcome: int) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[int]) -> base.Floats:
        runs, wanted = self.runs(), np.array(outcomes)
        weights = runs.lengths if runs.weights is None else runs.weights
        # Subtracting integers first keeps the exponents of the heavy stretches exact.
        logs = (runs.losses.min() - runs.losses) * float(self.rate / runs.fine)
        masses = np.log(weights.astype(np.float64)) + logs
        if runs.weights is not None:
            logs = masses
        top = float(masses.max())
        total = top + math.log(float(np.exp(masses - top).sum()))
        i = np.searchsorted(runs.starts, wanted, side="right") - 1
        there = (i >= 0) & (wanted < runs.starts[i] + runs.lengths[i])
        return np.where(there, logs[i] - total, -np.inf)

    def probes(self) -> Iterable[int]:
        """Return the two ends of every stretch: the law is constant in between."""
        runs = self.runs()
        ends = runs.starts + runs.lengths - 1
        return sorted({*runs.starts.tolist(), *ends.tolist()})

    @classmethod
    def support(cls, mechanisms: Sequence[Exponential[S]]) -> base.Support:
        """Cut the interval wherever one of the laws has a new stretch."""
        runs = [mechanism.runs() for mechanism in mechanisms]
        starts = np.unique(np.concatenate([run.starts for run in runs]))
        sizes = np.diff(starts, append=runs[0].starts[-1] + runs[0].lengths[-1])
        return base.Support(tuple(starts.tolist()), sizes.astype(np.float64))

    def public(self) -> dict[str, object]:
        """The required parameters of the score, then the cost, then the score's options."""
        kind: type[ScoreFunction] = type(self.score)
        needed, options = _parameters(kind)
        found = {name: getattr(self.score, name) for name in needed} | {"epsilon": self.epsilon}
        if self.stated is not None:
            found["stated"] = self.stated
        return found | {name: getattr(self.score, name) for name in options}

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.public().items())
        return f"{self.name}({inside})"


@functools.cache
def _parameters(kind: type[ScoreFunction]) -> tuple[list[str], list[str]]:
    """Public fields of a score: those without a default, and those with one."""
    options = {f.name for f in fields(kind) if f.default is not MISSING}  # type: ignore[arg-type]
    public = base.public_fields(kind)
    return [x for x in public if x not in options], [x for x in public if x in options]


CELLS = grids.FloatGrid(3)
"""Numbers distances so that 8 more are twice as far; those below 16 one by one."""

_LN2 = Fraction(710, 1024)

# Least distances of the cells from the first on, up to more than the widest interval has.
_BEGINS = np.array([CELLS.point(number) for number in range(1, CELLS.number(1 << 54) + 1)])


@storable
@dataclass(frozen=True, slots=True)
class OctavePrior:
    """Every doubling of the distance from a centre makes an integer less likely.

    Among 2^52 equally likely candidates nearly all are far beyond the data, and a few records
    cannot outweigh them. With a weight of about r^-power at distance r from a released or public
    centre the expected overshoot is a geometric series, whatever the range is.

    Distances are counted by :data:`CELLS`, eight cells an octave: a function of the distance alone,
    so the data have no influence on the prior. All integers but the centre are ``atom`` cells
    further away, for data that are constant. Within the ``core``, a distance, all weigh the same.
    """

    centre: int
    power: Fraction
    atom: int = 0
    core: int = 0

    def cost(self, rate: Fraction) -> int:
        """Loss of one cell, in units that weigh ``rate`` each."""
        return round(self.power * _LN2 / (1 << CELLS.bits) / rate)

    def weighed(self, runs: Runs, rate: Fraction) -> Runs:
        """Add the prior to losses of which a unit weighs ``rate``."""
        runs = runs.finer(rate)
        return self.added(runs, self.cost(rate / runs.fine))

    def added(self, runs: Runs, cost: int) -> Runs:
        """Cut stretches at the cells, and add ``cost`` for each cell."""
        first, end = int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1])
        cells = CELLS.number(max(abs(first - self.centre), abs(end - self.centre))) + 1
        distances = _BEGINS[:cells]
        edges = np.concatenate([self.centre + distances, self.centre + 1 - distances])
        starts = np.concatenate([runs.starts, edges[(first < edges) & (edges < end)]])
        starts.sort()  # np.unique of integers hashes them first
        starts = starts[np.append(True, starts[1:] > starts[:-1])]
        place = np.searchsorted(runs.starts, starts, side="right") - 1
        lengths = np.diff(starts, append=end)
        # All of a stretch is in one cell now.
        away = np.maximum(np.abs(starts - self.centre), self.core)
        numbers = CELLS.numbers(away) - CELLS.number(self.core)
        numbers += self.atom * (numbers > 0)
        return Runs(starts, lengths, runs.losses[place] + cost * numbers, fine=runs.fine)

    def log_beyond(self, distance: int, candidates: tuple[int, int], rate: Fraction) -> float:
        """Logarithm of the weight of all candidates at least so far above the centre.

        ``rate`` is that of the mechanism which has the prior. Without a candidate so far away it is
        about -690.
        """
        first, last = candidates
        length = np.array([last + 1 - first])
        runs = self.weighed(Runs(np.array([first]), length, np.zeros(1, np.int64)), rate)
        starts = np.maximum(runs.starts, self.centre + distance)
        lengths = np.maximum(runs.starts + runs.lengths - starts, 0)
        weights = np.exp(-float(rate / runs.fine) * runs.losses.astype(np.float64))
        return math.log(max(math.fsum((lengths * weights).tolist()), 1e-300))

    def log_cost(self, width: int) -> float:
        """Largest difference of the log weights of two integers of an interval."""
        cells = max(CELLS.number(width) - CELLS.number(self.core), 0) + self.atom
        return float(self.power * _LN2) * cells / (1 << CELLS.bits)
