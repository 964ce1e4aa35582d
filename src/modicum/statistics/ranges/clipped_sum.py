"""A sum clipped between bounds, and the sum over the whole range.

[sum.1]  count   a noisy count;
[sum.4]  final   the sum of values clipped to the range, with all that is left.

A sum moves by the size of one record, so zero is the only useful centre. The mean is not this
sum over a count: far from zero the sum needs noise on the scale of the values, the mean does not.
The error model holds released quantities and public noise distributions only. The proofs are in
docs/research/proofs/sum.md; means/found_sum.py has the sum within a radius.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from sys import float_info

from modicum.mechanisms.staircase import add_to_one
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import OK, unseen
from modicum.runtime.steps import Steps, draw, draw_count, read
from modicum.statistics.ranges import bounds
from modicum.statistics.ranges.split import (
    count_share,
)
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    NOISE_OF_EVIDENCE,
    TOO_LITTLE,
    Clipped,
    Counted,
    NoisyTerm,
    Outside,
    Redrawn,
    SizedByBounds,
    mean_size,
)
from modicum.stored.codec import storable
from modicum.summaries import sums, synthetic

LAST_DRAW = "clipped sum"
"""Name of the draw that answers; all before it look for bounds."""


def counted_rows(here: bounds.Setting, rows: int) -> Steps[tuple[int, NoisyTerm]]:
    """[sum.1] A noisy number of rows, and its noise."""
    share = here.split.share(count_share(here.split))
    n0, noise = yield from draw_count(here.split, rows, share)
    return n0, NoisyTerm(noise, 1.0)


def sum_over_the_range(here: bounds.Setting, n0: int, counted: NoisyTerm) -> Steps[ScalarEstimate]:
    """[sum.4] The sum over the whole range, with all that is left."""
    lattice = here.lattice
    lo, hi = lattice.first, lattice.last
    clipped = yield from read(here.ask(sums.ClippedSum(lo, hi)))
    reach = max(abs(lo), abs(hi))
    final = here.split.spend(
        add_to_one(clipped.total, here.split.rest(), sensitivity=max(reach, 1))
    )
    (noisy,) = yield from draw(LAST_DRAW, final, lambda drawn: lattice.words(drawn[0]))
    noise = NoisyTerm(final.noise[0], 1.0)
    error_model = SumErrorModel(lattice, lo, hi, noisy, noise, n0, counted, None)
    terms = error_model.counted
    lost = unseen(float(terms.value), terms.bound(0.1))
    return ScalarEstimate(error_model.value, error_model, TOO_LITTLE if lost else OK)


@storable
@dataclass(frozen=True, slots=True)
class SumErrorModel(Clipped, SizedByBounds):
    """A noisy clipped sum (all in lattice steps).

    ``noisy`` is the sum of values clipped to [lo, hi] with its ``noise``; the noisy count is for
    the rounding of the records to the lattice. ``outside`` is what the radius draw implies about
    clipped records, if anything was clipped. ``home`` is a public point that most records have: if
    noise may explain the others, all have it. ``whole``: the records are on the lattice, and not
    rounded to it.
    """

    noisy: int
    noise: NoisyTerm
    count: int
    count_noise: NoisyTerm
    outside: Outside | None
    home: int | None = None
    whole: bool = False

    @property
    def counted(self) -> Counted:
        return Counted(Fraction(self.count), (self.count_noise,))

    def evidence(self) -> tuple[tail_index.Evidence, ...]:
        """Of values on one side of zero the sum tells their mean size too."""
        found = Clipped.evidence(self)
        if self.outside is None or not self.outside.others:
            return found
        total = max(abs(self.noisy) - self.noise.bound(NOISE_OF_EVIDENCE), 0.0)
        return (*found, mean_size(total, self.outside.others, max(self.hi, -self.lo)))

    @property
    def value(self) -> Fraction:
        return self._steps * Fraction(self.lattice.step)

    @property
    def _steps(self) -> int:
        """The sum in steps, or that of as many records at home if noise may explain the rest."""
        return (self.home or 0) * max(self.count, 0) if self.at_home else self.noisy

    @property
    def perhaps_nothing(self) -> bool:
        """Whether noise alone may be the sum."""
        return self.noise.explains(self.noisy)

    @property
    def at_home(self) -> bool:
        """Whether all records may be at home, as far as noise tells."""
        if self.home is None:
            return False
        there = self.home * max(self.count, 0)
        surer = self.noise.explains(abs(self.home) * self.count_noise.variance**0.5)
        return surer and self.noise.explains(self.noisy - there)

    def noise_bound(self, alpha: float) -> float:
        """Return how far the noise moves the sum, but for a probability of alpha."""
        return self.noise.bound(alpha) * self.lattice.step

    def redrawn(self, table: synthetic.SyntheticTable) -> Redrawn:
        clipped = table.clipped_sum(self.lo, self.hi)
        return Redrawn((self.noise.noise,), lambda z: replace(self, noisy=clipped + z).value)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Noise, rounding, and under a tail assumption the clipped records."""
        alpha, first, last = 1 - level, self.lattice.first, self.lattice.last
        most = max(0.0, self.count + self.count_noise.bound(0.1 * alpha))
        if tail is None:
            below = above = self.noise.bound(0.9 * alpha)
        elif self.too_little(alpha):
            return Interval(most * min(self.lattice.lo, 0.0), most * max(self.lattice.hi, 0.0))
        else:
            below, above = (self.side_bound(0.45 * alpha, tail, side) for side in (0, 1))
            # More records outside than any tail explains may be anywhere in the range.
            excess = 0.0 if self.outside is None else self.outside.excess(0.1 * alpha)
            below += excess * (self.lo - first)
            above += excess * (last - self.hi)
        rounded = 0.0 if self.whole else 0.5 * most
        return Interval(
            min(self.noisy - below - rounded, self._steps) * self.lattice.step,
            max(self.noisy + above + rounded, self._steps) * self.lattice.step,
        )

    def assumption(self, tail: float | None) -> str:
        if self.outside is None:
            return "interval() covers the noise and assumes nothing: no value is clipped."
        if tail is None:
            return self.clipped_in_words("sum", "the noise")
        return self.tail_in_words(tail)

    def to_dict(self) -> dict[str, object]:
        return {
            "clip": self.clip,
            "noise_sd": min(self.noise.variance**0.5 * self.lattice.step, float_info.max),
            "clipped_at_most": 0.0 if self.outside is None else self.outside.at_most(0.05),
        }
