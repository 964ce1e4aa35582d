"""The exponential mechanism for a quantile, over every integer of a public interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.law import SECRET
from modicum.mechanisms.octaves import OctavePrior
from modicum.mechanisms.piecewise import PiecewiseLaw, Runs, runs_between
from modicum.privacy.event import Event

__all__ = ["RankLaw"]

_FINE = 1 << 10  # units of a rank, at least, where a prior is added to the losses


@dataclass(frozen=True, slots=True, eq=False)
class RankLaw(PiecewiseLaw):
    """An integer t near rank T = q n + shift of n records, P(t) ∝ exp(-ε loss(t) / (2 m)).

    With b = #{x < t} and e = #{x = t}, the loss is the distance of T from [b, b + e],
    max(0, b - T, T - (b + e)), capped at ``cap``; the loss of the last candidate is capped at
    ``edge`` too. A ``prior`` multiplies P(t) with its weight, which does not depend on the data.

    Sensitivity contract: one record more changes b - q n by 1 - q or -q, and q n - (b + e) by
    q or q - 1; so the loss moves by at most m = max(q, 1 - q) at every t, whatever the record,
    and one draw is a bounded range of ε. docs/proofs/quantile.md has the details.

    Parameters
    ----------
    values : sorted int64 array
        All records whose rank is within ``cap`` of T (secret).
    below, count : int
        Number of records before them, and of all records (secret).
    first, last : int
        The candidates.
    q : Fraction
        In (0, 1), with a denominator of at most 10^9, so that losses are exact in int64.
    shift : int
        Ranks by which the target is moved.
    cap : int
        At least 1.
    edge : int or None
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.
    """

    values: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    below: int = field(repr=False, metadata=SECRET)
    count: int = field(repr=False, metadata=SECRET)
    first: int
    last: int
    q: Fraction
    shift: int
    cap: int
    edge: int | None
    epsilon: Fraction
    stated: Event
    prior: OctavePrior | None = None

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    @property
    def rate(self) -> Fraction:
        """Weight of one unit of the losses of :meth:`runs`."""
        return self.epsilon / (2 * max(self.q, 1 - self.q) * self.q.denominator * self._fineness)

    @property
    def _fineness(self) -> int:
        """Units of the losses in 1/denominator of a rank."""
        return 1 if self.prior is None else -(-_FINE // self.q.denominator)

    def runs(self) -> Runs:
        """Stretches of constant loss; losses are in units of 1/denominator of a rank, or finer."""
        starts, lengths, before, equal = runs_between(self.values, self.first, self.last)
        unit = self.q.denominator
        # T = base + rest / unit; ranks are taken relative to base before they are multiplied.
        base, rest = divmod(self.q.numerator * self.count, unit)
        before += self.below - base - self.shift
        over, under = unit * before - rest, rest - unit * (before + equal)
        losses = np.clip(np.maximum(over, under), 0, self.cap * unit)
        if self.edge is not None and losses[-1] > self.edge * unit:
            if lengths[-1] > 1:  # the last candidate gets a stretch of its own
                lengths[-1] -= 1
                starts, lengths = np.append(starts, self.last), np.append(lengths, 1)
                losses = np.append(losses, 0)
            losses[-1] = self.edge * unit
        runs = Runs(starts, lengths, losses * self._fineness)
        return runs if self.prior is None else self.prior.added(runs, self.prior.cost(self.rate))

    def rank_bound(self, alpha: float, beyond: int) -> float:
        """Loss that is exceeded with a probability of at most ``alpha``, if n > 0 and |T| fits.

        Where some candidate has loss 0, those of loss >= s weigh at most
        #candidates exp(-ε s / (2 m)) of all. With a prior, and where records thin out like a
        power of the distance, all candidates further out weigh about as much as ``beyond`` gaps
        between records, the number of records beyond the quantile.
        """
        candidates = self.last - self.first + 1 if self.prior is None else beyond
        return math.log(candidates / alpha) * 2 * float(max(self.q, 1 - self.q) / self.epsilon)
