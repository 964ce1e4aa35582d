"""Scores of the exponential mechanism: what makes an outcome likely, and what one record changes.

One class a score, each with its sensitivity contract. The scores of nested level sets are in
:mod:`modicum.mechanisms.level_sets`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.mechanisms.base import SECRET
from modicum.mechanisms.exponential import (
    Exponential,
    OctavePrior,
    Runs,
    ScoreFunction,
    runs_between,
)
from modicum.mechanisms.grids import FloatGrid, IntervalGrid, RadiusGrid
from modicum.mechanisms.subsampled import Members, Subsampled, amplified
from modicum.privacy import split
from modicum.privacy.event import PureDP

Integers = NDArray[np.int64]

_STEEP = 1.25  # power of a distance in the prior of an end; measured, see [quantile.13]
_FINE = 1 << 10  # units of a rank or record, at least, where a prior is added to the losses


def on_subsample(
    nobody: ScoreFunction, records: Members, share: split.Share, level: int
) -> Subsampled[int]:
    """Build the draw by a score of ``nobody`` on a subsample of rate 2^-level of records."""
    if level == 0:
        whole = Exponential(nobody, share.range)
        return Subsampled(records, whole, level, whole.event)
    template = Exponential(nobody, amplified(share.pure, level))
    return Subsampled(records, template, level, PureDP(share.pure))


@dataclass(frozen=True, slots=True, eq=False)
class RankScore(ScoreFunction):
    """An integer t near rank T = q n + shift of n records: its distance from that rank.

    With b = #{x < t} and e = #{x = t}, the loss is the distance of T from [b, b + e],
    max(0, b - T, T - (b + e)), capped at ``cap`` >= 1. A ``prior`` multiplies P(t) with its weight,
    which does not depend on the data.

    Sensitivity contract: one record more changes b - q n by 1 - q or -q, and q n - (b + e) by
    q or q - 1; so the loss moves by at most m = max(q, 1 - q) at every t, whatever the record,
    and P(t) ∝ exp(-ε loss(t) / (2 m)). docs/research/proofs/quantile.md has the details.
    See [quantile.5], [quantile.6].

    ``values`` are all records whose rank is within ``cap`` of T, sorted; they, the number of
    records ``below`` them and the ``count`` of all are secret. The denominator of q, in (0, 1), is
    at most 10^9, so that losses are exact in int64.
    """

    mechanism = "RankLaw"

    values: Integers = field(repr=False, metadata=SECRET)
    below: int = field(repr=False, metadata=SECRET)
    count: int = field(repr=False, metadata=SECRET)
    first: int
    last: int
    q: Fraction
    shift: int
    cap: int
    prior: OctavePrior | None = None

    @property
    def span(self) -> int:
        """Losses are in units of 1/denominator of a rank, or finer."""
        return 2 * max(self.q.numerator, self.q.denominator - self.q.numerator) * self._fineness

    @property
    def _fineness(self) -> int:
        """Units of the losses in 1/denominator of a rank."""
        return 1 if self.prior is None else -(-_FINE // self.q.denominator)

    def runs(self, rate: Fraction) -> Runs:
        starts, lengths, before, equal = runs_between(self.values, self.first, self.last)
        unit = self.q.denominator
        # T = base + rest / unit; ranks are taken relative to base before they are multiplied.
        base, rest = divmod(self.q.numerator * self.count, unit)
        before += self.below - base - self.shift
        over, under = unit * before - rest, rest - unit * (before + equal)
        losses = np.clip(np.maximum(over, under), 0, self.cap * unit)
        runs = Runs(starts, lengths, losses * self._fineness)
        return runs if self.prior is None else self.prior.weighed(runs, rate)


@dataclass(frozen=True, slots=True, eq=False)
class EndsScore(ScoreFunction):
    """Both ends of an interval about a released point, in one draw.

    Candidates are pairs of distances below and above the point, a quarter of an octave apart, up to
    ``reach``. Each end has its loss as a :class:`RankScore`, for a target ``shift`` ranks beyond
    q n on its side; that of a pair is the larger one. A pair weighs beforehand what both distances
    do: (r / near)^1.25 up to ``near``, and the inverse of that beyond it.

    Sensitivity contract: every record is moved outwards to the next candidate, a public map, so
    both losses move by at most m = max(q, 1 - q), and so does the larger one. One draw for
    both costs what one end would. The prior does not depend on the data. See [quantile.11].

    ``lower`` are the negated records; what is known of both sides is secret.
    """

    mechanism = "EndsLaw"

    lower: RankScore = field(repr=False, metadata=SECRET)
    upper: RankScore = field(repr=False, metadata=SECRET)
    q: Fraction
    shift: int
    reach: tuple[int, int]
    near: int

    @classmethod
    def about(
        cls,
        point: int,
        records: tuple[Integers, int, int],
        q: Fraction,
        *,
        shift: int,
        cap: int,
        reach: tuple[int, int],
        near: int,
    ) -> EndsScore:
        """Build the score from the records near rank q n, how many are below them, and of all."""
        values, below, count = records
        above = count - below - len(values)

        def end(away: Integers, before: int, q: Fraction, furthest: int) -> RankScore:
            radii = _outwards(furthest)
            numbers = np.searchsorted(np.array(radii), away, side="left")
            return RankScore(numbers, before, count, 0, len(radii) - 1, q, shift, cap)

        lower = end(point - values[::-1], above, 1 - q, reach[0])
        upper = end(values - point, below, q, reach[1])
        return cls(lower, upper, q, shift, reach, near)

    @property
    def span(self) -> int:
        return self.upper.span

    def distances(self, outcome: int) -> tuple[int, int]:
        """Distances below and above the point that an outcome stands for."""
        below, above = map(_outwards, self.reach)
        i, j = divmod(outcome, len(above))
        return below[i], above[j]

    def runs(self, rate: Fraction) -> Runs:
        lower, upper = self.lower.runs(rate), self.upper.runs(rate)
        losses = [np.repeat(each.losses, each.lengths) for each in (lower, upper)]
        runs = Runs.of_candidates(np.maximum.outer(*losses).ravel()).finer(rate)
        costs = [self._cost(furthest, float(rate / runs.fine)) for furthest in self.reach]
        return replace(runs, losses=runs.losses + np.add.outer(*costs).ravel())

    def _cost(self, furthest: int, unit: float) -> Integers:
        """Loss of the prior for each distance, in units that weigh so much."""
        nats = np.log(np.maximum(np.array(_outwards(furthest)), 1) / self.near)
        found: Integers = np.rint(_STEEP * np.abs(nats) / unit).astype(np.int64)
        return found


def _outwards(furthest: int) -> tuple[int, ...]:
    """Candidates for the distance of an end: at most 2^(1/4) times as far as need be."""
    radii = RadiusGrid.between(1, max(furthest, 1), per_octave=4).radii
    return (*(radius for radius in radii if radius < furthest), furthest)


@dataclass(frozen=True, slots=True, eq=False)
class TopScore(ScoreFunction):
    """An integer t that only a few records exceed: P(t) ∝ w(t) exp(-ε #{x > t}), w the prior.

    Sensitivity contract: one record more adds 0 or 1 to #{x > t}, at every t: all losses move in
    one direction. A score that may move in both would have to be divided by 2. The prior does not
    depend on the data. See [extreme.5].

    ``values`` are the highest records, sorted and secret: all, or so many that candidates below
    them have a negligible weight.
    """

    mechanism = "TopLaw"
    span = _FINE

    values: Integers = field(repr=False, metadata=SECRET)
    first: int
    last: int
    prior: OctavePrior

    def runs(self, rate: Fraction) -> Runs:
        starts, lengths, below, equal = runs_between(self.values, self.first, self.last)
        above = len(self.values) - below - equal
        return self.prior.weighed(Runs(starts, lengths, above * _FINE), rate)


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdScore(ScoreFunction):
    """A rank-t threshold of all integers of the public range.

    Dick, Kulesza, Sun and Suresh 2023, Algorithm 2.

    Sensitivity contract: the loss of z is max(0, #{x < z} - t, t - #{x <= z}), capped at
    ``cap`` >= t; the ``target`` t >= 0 and the cap are public, both counts move by 0 or 1 with one
    record, so the loss moves by at most 1.

    Differs from the paper's Algorithm 2: the lattice takes the place of its window of width alpha
    (Corollary 3.8), so some candidate has loss 0 whenever t <= n. The literal ``alpha = gamma /
    |D|`` makes the window a function of the private size, which is not private. The cap lets the
    law be computed from the lowest ``cap + t`` records; it is chosen so large that capped
    candidates together have a negligible probability.

    ``lowest`` are the lowest records, at least min(n, cap + t) of them, sorted and secret. For a
    threshold from above, negate the highest records and the range.
    """

    mechanism = "RankThreshold"
    span = 2

    lowest: Integers = field(repr=False, metadata=SECRET)
    first: int
    last: int
    target: int
    cap: int

    def runs(self, rate: Fraction) -> Runs:
        starts, lengths, below, equal = runs_between(self.lowest, self.first, self.last)
        loss = np.maximum(below - self.target, self.target - below - equal)
        return Runs(starts, lengths, np.clip(loss, 0, self.cap))


@dataclass(frozen=True, slots=True, eq=False)
class MedianScore(ScoreFunction):
    """A median over the numbers of a :class:`FloatGrid`: a centre, to measure spread from.

    Sensitivity contract: with a records above, b below and e on a grid point, its loss is
    max(0, |a - b| - e), the number of records to add before the point is a median. One record
    more moves one of a, b, e by one, so the loss moves by at most 1, whatever the record.
    Data are rounded to the grid one record at a time.

    The outcome is the *number* of a grid point, between those of the lattice integers ``first`` and
    ``last``. ``numbers`` are those of the records, sorted and secret; without them it is a
    template, to be filled by :meth:`over`.
    """

    mechanism = "MedianCentre"
    span = 2

    numbers: Integers = field(repr=False, metadata=SECRET)
    grid: FloatGrid
    first: int
    last: int

    @classmethod
    def subsampled(
        cls, records: Members, lattice: Lattice, share: split.Share, *, bits: int, level: int
    ) -> Subsampled[int]:
        """Build the mechanism on a subsample of rate 2^-level, on a grid of so many bits."""
        nobody = cls(np.empty(0, dtype=np.int64), FloatGrid(bits), lattice.first, lattice.last)
        return on_subsample(nobody, records, share, level)

    def over(self, q: Integers) -> MedianScore:
        return replace(self, numbers=np.sort(self.grid.numbers(q)))

    def runs(self, rate: Fraction) -> Runs:
        first, last = self.grid.number(self.first), self.grid.number(self.last)
        starts, lengths, below, equal = runs_between(self.numbers, first, last)
        above = len(self.numbers) - below - equal
        return Runs(starts, lengths, np.maximum(np.abs(above - below) - equal, 0))


@dataclass(frozen=True, slots=True)
class TargetScore(ScoreFunction):
    """A threshold k by the loss |#{records beyond threshold k} - target|.

    Sensitivity contract: a record changes every count, which is secret, by at most 1, so every loss
    by 1. The target is public, or from released numbers.
    """

    mechanism = "BeyondTarget"
    span = 2

    beyond: tuple[int, ...] = field(repr=False, metadata=SECRET)
    target: int

    def runs(self, rate: Fraction) -> Runs:
        losses = [abs(count - self.target) for count in self.beyond]
        return Runs.of_candidates(np.array(losses))


@dataclass(frozen=True, slots=True)
class ReachScore(ScoreFunction):
    """The distance k that ``target`` changes of the data reach, and not much further, or about so.

    With N changes that reach no further than distance k, and M that reach no further than the one
    before, its loss is that of the target from [M, N], max(0, M - target, target - N). The prior
    costs a ``tilt`` for each distance that k is short of the last one: where too few distances
    would be as good as each other, the larger ones are drawn.

    Sensitivity contract: one record more changes every N, which is secret, by at most 1, and so the
    loss. The target and the prior do not depend on the data. Losses are in 1/``unit`` of a record.
    See [trimmed_mean.3].
    """

    mechanism = "Reach"

    within: tuple[int, ...] = field(repr=False, metadata=SECRET)
    target: int
    tilt: Fraction = Fraction(0)
    unit: int = 1

    @property
    def span(self) -> int:
        return 2 * self.unit

    def runs(self, rate: Fraction) -> Runs:
        most = np.array(self.within, dtype=np.int64)
        least = np.append(0, most[:-1])
        losses = np.maximum(np.maximum(least - self.target, self.target - most), 0)
        runs = Runs.of_candidates(losses * self.unit).finer(rate)
        short = np.arange(len(most))[::-1]
        return replace(runs, losses=runs.losses + round(self.tilt * runs.fine / rate) * short)


@dataclass(frozen=True, slots=True)
class MedianCellScore(ScoreFunction):
    """A cell k near the median of records that are counted by cells, in the order of cells.

    Sensitivity contract: with a records in cells above k, b below and e in it, its loss is
    max(0, |a - b| - e), the number of records to add before it holds a median. One record more
    moves one of a, b, e by one, so the loss moves by at most 1, whatever the record. The counts
    are secret. See [range.3].
    """

    mechanism = "MedianCell"
    span = 2

    counts: tuple[int, ...] = field(repr=False, metadata=SECRET)

    def runs(self, rate: Fraction) -> Runs:
        inside = np.array(self.counts, dtype=np.int64)
        below = np.cumsum(inside) - inside
        above = inside.sum() - below - inside
        return Runs.of_candidates(np.maximum(np.abs(above - below) - inside, 0))


@dataclass(frozen=True, slots=True)
class TopCellScore(ScoreFunction):
    """A cell k beyond which few records lie: P(k) ∝ exp(-ε #{records beyond k} - cost(k)).

    The prior costs the first of the ``tilts`` for each of the first ``near`` cells, and the second
    for all others: few cells too many are drawn, and far ones are within reach.

    Sensitivity contract: one record more adds 0 or 1 to every count: all losses move in one
    direction. They may be counted from a public or released number on, which keeps that. The prior
    does not depend on the data. The counts are secret. See [range.4].
    """

    mechanism = "TopCell"
    span = _FINE

    beyond: tuple[int, ...] = field(repr=False, metadata=SECRET)
    tilts: tuple[Fraction, Fraction]
    near: int

    def runs(self, rate: Fraction) -> Runs:
        places = np.arange(len(self.beyond))
        runs = Runs.of_candidates(np.array(self.beyond) * _FINE).finer(rate)
        near, far = (round(tilt * runs.fine / rate) for tilt in self.tilts)
        costs = near * np.minimum(places, self.near) + far * np.maximum(places - self.near, 0)
        return replace(runs, losses=runs.losses + costs)


@dataclass(frozen=True, slots=True, eq=False)
class LossScore(ScoreFunction):
    """A candidate k with nearly the least loss, P(k) ∝ w(k) exp(-ε loss(k) / most).

    A loss is a sum over records. w is 1 but for the ``first`` candidate, whose weight is public: it
    is the default if the noise hides that another one is better. The outcome is the candidate's
    place in the list.

    Sensitivity contract: a record adds an integer of [0, most] to every loss, which is secret. As
    all of them move in one direction, no factor 2 is lost.
    """

    mechanism = "LeastLoss"

    losses: Integers = field(repr=False, metadata=SECRET)
    most: int
    first: int

    @property
    def span(self) -> int:
        return self.most

    def runs(self, rate: Fraction) -> Runs:
        weights = np.ones(len(self.losses), dtype=np.int64)
        weights[0] = self.first
        return Runs.of_candidates(self.losses, weights)


@dataclass(frozen=True, slots=True, eq=False)
class IntervalScore(ScoreFunction):
    """An interval that holds a column, its place and its width at once, in one draw; or none.

    P(I) ∝ w(I) exp(ε s(I)), P(none) ∝ 2^doubt sum of all w(I), w a prior that does not depend on
    the data. ``doubt`` is public, at most 10; without it there always is an interval. The outcome
    is the index of the interval in the grid, ``grid.size`` for none.

    s(I) is the number of records in I outside of its fullest core, two or three neighbours of 16
    parts, so that data which are concentrated somewhere in a wide interval do not look spread out.
    It is little if I misses the data, and if it is so wide that they are in a core of it. So it
    finds where the data are and their scale, whatever the range, at the cost of a logarithm of the
    number of widths. Records count once, so both ends cost as much as one. If all scores are small,
    no interval is drawn with a probability of 1 - 1/(1 + 2^doubt), in place of any one of them.

    Sensitivity contract: s(I) = min over cores c of #(I without c), a minimum of counts: a
    record more adds 0 or 1 to it, for every I, and nothing to the exponent of none, which is 0. The
    scores, one for each candidate of the grid, are secret. See [moments.8].
    """

    mechanism = "IntervalDraw"
    span = 1

    scores: Integers = field(repr=False, metadata=SECRET)
    grid: IntervalGrid
    doubt: int | None = None

    def runs(self, rate: Fraction) -> Runs:
        scores, weights = self.scores, self.grid.prior()
        if self.doubt is not None:
            scores = np.append(scores, 0)
            weights = np.append(weights, int(math.ldexp(int(weights.sum()), self.doubt)))
        return Runs.of_candidates(scores.max() - scores, weights)
