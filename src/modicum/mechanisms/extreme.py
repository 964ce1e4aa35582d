"""A point that next to no record exceeds, over every integer of a public interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.law import SECRET
from modicum.mechanisms.octaves import OctavePrior
from modicum.mechanisms.piecewise import PiecewiseLaw, Runs, runs_between
from modicum.privacy.event import Event

__all__ = ["TopLaw"]

_FINE = 1 << 10  # units of a record, in which the prior is added


@dataclass(frozen=True, slots=True, eq=False)
class TopLaw(PiecewiseLaw):
    """An integer t with P(t) ∝ w(t) exp(-ε #{x > t}), w the prior's weight.

    Sensitivity contract: one record more adds 0 or 1 to #{x > t}, at every t. After a common shift
    by 1/2 that is at most 1/2 in size, so one draw is a bounded range of ε, where a score that may
    move both ways would have to be divided by 2. The prior does not depend on the data.

    Parameters
    ----------
    values : sorted int64 array
        The highest records, all or so many that candidates below them have no weight (secret).
    first, last : int
        The candidates.
    prior : OctavePrior
    epsilon : Fraction
    stated : Event
        What a draw is charged as: a bounded range of ε, or what follows from it.
    """

    values: NDArray[np.int64] = field(repr=False, metadata=SECRET)
    first: int
    last: int
    prior: OctavePrior
    epsilon: Fraction
    stated: Event

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    @property
    def rate(self) -> Fraction:
        """Weight of one unit of the losses of :meth:`runs`."""
        return self.epsilon / _FINE

    def runs(self) -> Runs:
        """Stretches of constant loss, the prior included."""
        starts, lengths, below, equal = runs_between(self.values, self.first, self.last)
        above = len(self.values) - below - equal
        return self.prior.added(Runs(starts, lengths, above * _FINE), self.prior.cost(self.rate))
