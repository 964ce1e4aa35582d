"""How many records a radius draw may have left outside: a bound from public values only."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Outside"]


@dataclass(frozen=True, slots=True)
class Outside:
    """What the radius draws imply about the records outside their radii.

    Attributes
    ----------
    radii : tuple of int
        The radius chosen on each side, in lattice steps.
    widest : int
        The widest candidate, outside of which there is no record.
    candidates : int
        Number of candidates a side.
    eta : float
        Score of one record outside.
    power : float
        The prior of a radius r is r^-power.
    widening : float
        Factor by which the drawn radii were widened afterwards.

    Notes
    -----
    Both selections choose a candidate i with probability at most exp(q_i - q_max), and the widest
    radius has score -power ln(widest). So with probability 1 - alpha a side's F records outside
    its radius r obey  eta F <= power ln(widest / r) + ln(candidates / alpha).  No assumption on
    the data is needed.
    """

    radii: tuple[int, ...]
    widest: int
    candidates: int
    eta: float
    power: float
    widening: float = 1.0

    def at_most(self, alpha: float) -> float:
        """Bound on the records outside all sides together, with probability 1 - alpha."""
        slack = math.log(self.candidates * len(self.radii) / alpha)
        # Radius 0 counts as one half octave below the first candidate, at most 1 step.
        spans = (math.log(self.widest / max(r, math.sqrt(0.5))) for r in self.radii)
        return sum((self.power * span + slack) / self.eta for span in spans)

    def too_many(self, least_count: float, alpha: float) -> bool:
        """Whether more than three quarters of the data may be outside: nothing can be said."""
        return self.at_most(alpha) > 0.75 * least_count

    def expected(self, tail: float) -> float:
        """Typical number of records outside the heavier side, for a tail of index ``tail``.

        Where F(r) ~ r^-tail the score is stationary at eta tail F = power; widening r by a
        factor g leaves g^-tail of them.
        """
        return self.power / (self.eta * tail) * math.pow(self.widening, -tail)
