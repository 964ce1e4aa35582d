"""Laws over nested level sets of a length: the inverse sensitivity mechanism in one dimension.

The length rises by steps (:class:`LevelScore`) or linearly from one set to the next
(:class:`LinearLevelMechanism`). An estimator supplies the ends of the sets and nothing else (Asi
and Duchi 2020; Dick, Kulesza, Sun and Suresh 2023, Algorithm 5, where ε/2 is missing).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact import bernoulli, levels
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import MOST_EPSILON, SECRET, Stated, Support, check_size
from modicum.mechanisms.exponential import Runs, ScoreFunction
from modicum.privacy.event import Event

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LevelScore(ScoreFunction):
    """An integer t of [first, last], P(t) ∝ exp(-ε len(t) / 2), len given by its level sets.

    {t: len(t) <= k} = {t: lows[k] <= t <= highs[k]} for k = 0, ..., K - 1, and len(t) = K at every
    other t. The ends are secret: ``lows`` never increases, ``highs`` never decreases. A set is
    empty if lows[k] > highs[k]; parts outside [first, last] do not matter.

    Sensitivity contract: for neighbouring data sets D and D', of the same public K >= 1,
    lows'[k + 1] <= lows[k] and highs'[k + 1] >= highs[k], and the same with D and D' exchanged.
    Then len moves by at most 1 at every t. A length that is a largest of two distances, that to
    {data: value >= t} for ``highs`` and that to {data: value <= t} for ``lows``, obeys it for
    every statistic. docs/research/proofs/level_sets.md has the proofs.
    See [level_sets.1], [level_sets.2], [level_sets.3], [level_sets.4].

    Examples
    --------
    >>> from modicum.mechanisms.exponential import Exponential
    >>> score = LevelScore(np.array([5, 3]), np.array([5, 8]), 0, 9)
    >>> law = Exponential(score, Fraction(1))
    >>> [round(2 * (law.log_density(5) - law.log_density(t))) for t in range(10)]
    [2, 2, 2, 1, 1, 0, 1, 1, 1, 2]
    """

    mechanism = "LevelLaw"
    span = 2

    lows: Integers = field(repr=False, metadata=SECRET)
    highs: Integers = field(repr=False, metadata=SECRET)
    first: int
    last: int

    def runs(self, rate: Fraction) -> Runs:
        """One stretch on each side for every level, and one in the middle. See [level_sets.5]."""
        lows, highs = level_ends(self.lows, self.highs, self.first, self.last)
        least = int(np.argmax(lows <= highs))
        lows, highs = lows[least:][::-1], highs[least:]
        starts = np.concatenate([lows, highs[:-1] + 1])
        lengths = np.diff(starts, append=self.last + 1)
        outward = np.arange(least, least + len(highs))
        losses = np.concatenate([outward[::-1], outward[1:]])
        there = lengths > 0
        return Runs(starts[there], lengths[there], losses[there])


def level_ends(lows: Integers, highs: Integers, first: int, last: int) -> tuple[Integers, Integers]:
    """Return the ends within [first, last], and [first, last] itself as a last level.

    Both maps keep the order of two ends, and with it the sensitivity contract of
    :class:`LevelScore`. Arrays of different lengths are refused; no error depends on their entries.
    """
    if lows.shape != highs.shape or lows.ndim != 1:
        raise InvalidArgument(
            f"lows and highs must have one length, got {lows.shape} and {highs.shape}"
        )
    return (
        np.append(np.clip(lows, first, last + 1), first),
        np.append(np.clip(highs, first - 1, last), last),
    )


@dataclass(frozen=True, slots=True, eq=False)
class LinearLevelMechanism(Stated[int]):
    """An integer t of [first, last], P(t) ∝ exp(-ε len(t) / 2), len linear inside each ring.

    With h_k = highs[k] and h_K = last, len⁺(t) = k + (t - h_k) / (h_(k+1) - h_k) for
    h_k < t <= h_(k+1), and 0 for t <= h_0; len⁻ is the same to the left of ``lows``, and
    len = max(len⁺, len⁻). So len is at most that of :class:`LevelScore`,
    and equal to it at the far end of every ring.

    Prefer it where rings are about equally wide, as for means: there it comes near the Laplace
    law of the same ε (Durfee 2025). The law with steps is better where the innermost set holds
    many of the answers, as for a median between two records.

    Sensitivity contract: that of :class:`LevelScore`, separately for ``lows`` and ``highs``, which
    are secret and may cross at small k. Then len moves by at most 1 at every t
    (docs/research/proofs/level_sets.md, [level_sets.6]), and one draw is a bounded range of ε. An ε
    of more than 128 is used as 128.

    Examples
    --------
    >>> from modicum.privacy.event import RangeDP
    >>> one = Fraction(1)
    >>> law = LinearLevelMechanism(np.array([5, 3]), np.array([5, 9]), 0, 9, one, RangeDP(one))
    >>> [round(2 * (law.log_density(5) - law.log_density(t)), 2) for t in range(10)]
    [2.0, 1.67, 1.33, 1.0, 0.5, 0.0, 0.25, 0.5, 0.75, 1.0]
    """

    lows: Integers = field(repr=False, metadata=SECRET)
    highs: Integers = field(repr=False, metadata=SECRET)
    first: int
    last: int
    epsilon: Fraction
    stated: Event

    @property
    def rate(self) -> Fraction:
        return min(self.epsilon, Fraction(MOST_EPSILON)) / 2

    def sample(self, entropy: Entropy) -> int:
        """Draw from an envelope with steps, and accept with the exact probability.

        [level_sets.8] Every ring is cut into equal parts in which len rises by at most 1/rate; the
        envelope takes len at the beginning of a part, so more than e^-1 of all draws are accepted.
        """
        anchors, signs, nearest, counts, widths, floors = self._rings()
        parts = math.ceil(self.rate)
        edges = np.outer(widths, np.arange(parts + 1)) // parts
        least = np.maximum(edges[:, :-1] + 1, nearest[:, None])
        most = np.minimum(edges[:, 1:], (nearest + counts - 1)[:, None])
        rises = np.outer(np.abs(signs), np.arange(parts))
        steps = (floors[:, None] * parts + rises).ravel()
        sizes = np.maximum(most - least + 1, 0).ravel()
        while True:
            i, part = divmod(levels.draw_level(sizes, steps, self.rate / parts, entropy), parts)
            place = int(least[i, part]) + entropy.below(int(sizes[i * parts + part]))
            width, sign = int(widths[i]), int(signs[i])
            # exp(-rate (place / width - part / parts)); nothing is lost where len is constant.
            over = self.rate * Fraction(place * parts - part * width, width * parts) * abs(sign)
            if bernoulli.exp_coin(over.numerator, over.denominator, entropy):
                return int(anchors[i]) + (sign or 1) * place

    def log_density(self, outcome: int) -> float:
        if not self.first <= outcome <= self.last:
            return -math.inf
        anchors, signs, nearest, counts, widths, floors = self._rings()
        rate = float(self.rate)
        places = (outcome - anchors) * np.where(signs, signs, 1)
        inside = (nearest <= places) & (places < nearest + counts)
        i = int(np.argmax(inside))
        slopes = np.abs(signs) / widths
        least = floors.min()
        length = float(floors[i] - least) + float(slopes[i] * places[i])
        # Sum of exp(-rate (floor + slope place)) over the places of every ring.
        exponents = rate * ((floors - least) + slopes * nearest)
        masses = np.log(counts.astype(np.float64))
        sloped = np.flatnonzero(signs)
        x = rate * slopes[sloped]
        masses[sloped] = np.log(np.expm1(-x * counts[sloped]) / np.expm1(-x))
        logs = masses - exponents
        top = float(logs.max())
        return -rate * length - (top + math.log(float(np.exp(logs - top).sum())))

    def probes(self) -> Iterable[int]:
        """Return both ends of every ring: len is linear in between."""
        anchors, signs, nearest, counts, _, _ = self._rings()
        signs = np.where(signs, signs, 1)
        near = anchors + signs * nearest
        far = near + signs * (counts - 1)
        return sorted({*near.tolist(), *far.tolist()})

    @classmethod
    def support(cls, mechanisms: Sequence[LinearLevelMechanism]) -> Support:
        first, last = mechanisms[0].first, mechanisms[0].last
        check_size(last - first + 1)
        return Support.of(range(first, last + 1))

    def distance(self) -> float:
        """Expected distance of a draw from the middle of the innermost set.

        An integer of a ring is taken as spread over a unit interval: the law of its place is then
        a truncated exponential one.
        """
        anchors, signs, nearest, numbers, widths, floors = self._rings()
        rate = float(self.rate)
        middle = (int(anchors[0]) + int(nearest[0])) + (int(numbers[0]) - 1) / 2
        sloped = signs != 0
        x = np.where(sloped, rate / widths, 0.0)
        counts = numbers.astype(np.float64)
        reach = np.maximum(x * counts, 1e-9)
        shares = -np.expm1(-reach) / reach * counts
        weights = shares * np.exp(-rate * (floors - floors.min()))
        weights *= np.exp(-x * (nearest - 1))
        places = counts * (1 / reach - 1 / np.expm1(reach))
        starts = (anchors - middle) * signs + nearest - 0.5
        distances = np.where(sloped, starts + places, counts / 4)
        return float(weights @ distances / weights.sum())

    def _rings(self) -> Integers:
        """Cut [first, last] where the slope of len changes.

        The rows are anchors, signs, nearest, counts, widths and floors of the rings. A ring has the
        integers anchor + sign place, nearest <= place < nearest + count, and their len is floor +
        place / width. Where the sign is 0 it is the floor, and they are anchor + place.
        """
        lows, highs = level_ends(self.lows, self.highs, self.first, self.last)
        least = int(np.argmax(lows <= highs))
        rows = [_middle(lows, highs, least)]
        for ends, sign in ((highs, 1), (lows, -1)):
            ring = np.arange(least, len(ends) - 1)
            widths = np.abs(np.diff(ends[least:]))
            ones = np.ones_like(ring)
            rows.append(np.stack([ends[least:-1], sign * ones, ones, widths, widths, ring]))
        table = np.concatenate(rows, axis=1)
        found: Integers = table[:, table[3] > 0]
        return found


def _middle(lows: Integers, highs: Integers, least: int) -> Integers:
    """Rings of the innermost set that is not empty, one a column.

    [level_sets.7] If it is not the first one, the set before it is empty, and every t of this one
    lies right of the former ``highs`` or left of the former ``lows``: len⁺ and len⁻ cross here.
    """
    low, high = int(lows[least]), int(highs[least])
    if least == 0:
        length = high - low + 1
        return np.array([[low - 1], [0], [1], [length], [length], [0]], dtype=np.int64)
    right, left = int(highs[least - 1]), int(lows[least - 1])
    rise, fall = high - right, left - low
    # len⁺ >= len⁻ if and only if (t - right) fall >= (left - t) rise.
    split = max(-(-(left * rise + right * fall) // (rise + fall)), right + 1)
    columns = [
        (right, 1, split - right, high - split + 1, rise, least - 1),
        (left, -1, left - split + 1, split - low, fall, least - 1),
    ]
    return np.array(columns, dtype=np.int64).T
