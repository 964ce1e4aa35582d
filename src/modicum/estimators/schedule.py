"""How the adaptive mean and sum divide their budget: every constant in one place.

The division depends on the released noisy count and on public arguments only. The constants were
chosen by measurement (docs/proofs/mean.md says how); none of them affects privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from modicum.estimators.purse import ConcentratedPurse, Purse
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Reduction
from modicum.summaries.count import Count, CountSummary
from modicum.summaries.tails import Tails, TailSummary

__all__ = [
    "Clusters",
    "Schedule",
    "count_share",
    "first_reduction",
    "mean_schedule",
    "subsample_level",
    "sum_schedule",
]

Clusters = Literal["clip", "keep"]

HALF_LN2 = Fraction(355, 1024)  # ln(2)/2, the prior cost of a half octave for a tilt of 1
SUBSAMPLE = 13  # a centre is computed from 2^13 to 2^14 records, or all of them if fewer
CELL_LIMIT = 1 << 18  # more kept records than this: a cell table is smaller


@dataclass(frozen=True, slots=True)
class Schedule:
    """Shares of the total, and the shape of the centre and of the radius prior.

    Attributes
    ----------
    centre, radii, rough : Fraction
        Shares; what the count and these leave goes to the final sum.
    bits : int
        Fraction bits of the centre's grid.
    power : Fraction
        The radius prior is r^-power.
    has_centre : bool
        False if the noisy count is too small for a private centre.
    """

    centre: Fraction
    radii: Fraction
    rough: Fraction
    bits: int
    power: Fraction

    @property
    def has_centre(self) -> bool:
        """Whether there is budget for a centre."""
        return self.centre > 0

    @property
    def tilt(self) -> Fraction:
        """Prior cost of one half octave of radius."""
        return self.power * HALF_LN2


def _grid(x: float) -> Fraction:
    """Round to a multiple of 2^-10, so that every share is an exact short rational."""
    return Fraction(round(x * 1024), 1024)


def count_share(purse: Purse) -> Fraction:
    """Share of the first count."""
    return Fraction(1, 100) if isinstance(purse, ConcentratedPurse) else Fraction(1, 50)


def octaves(lattice: Lattice) -> float:
    """ln(widest radius / one step)."""
    return math.log(2 * max(abs(lattice.first), abs(lattice.last), 1))


def first_reduction(
    lattice: Lattice, purse: Purse, clusters: Clusters
) -> Reduction[TailSummary | CountSummary]:
    """Choose what the first pass gathers: both ends of the data, or only the count.

    The ends hold so many records that what lies beyond them has no weight: a radius with F
    records outside is less likely than one with none by exp(-eta F + power ln(ratio)), with
    power <= 4 and eta at least the range that the smallest radii share buys, so counts beyond
    the kept ones matter with probability below e^-60. For small budgets that would be too many
    records; then a second pass makes a cell table.
    """
    many = mean_schedule(lattice, purse, 1 << 60, clusters)
    eta = float(purse.range_for(many.radii))
    log_width = octaves(lattice)
    keep = max(64, math.ceil((math.log(3 * log_width + 3) + 60 + 4 * log_width) / eta))
    return Tails(keep) if keep <= CELL_LIMIT else Count()


def subsample_level(noisy_count: int) -> int:
    """Level k of the centre's subsample rate 2^-k: all records up to 2^14, then at least 2^13."""
    return max(0, (max(noisy_count, 1) >> SUBSAMPLE).bit_length() - 1)


def mean_schedule(lattice: Lattice, purse: Purse, noisy_count: int, clusters: Clusters) -> Schedule:
    """Divide the budget of a mean, given the released noisy count."""
    log_width = octaves(lattice)
    expected = max(1.0, noisy_count * float(purse.scale))  # "N": records per unit of noise

    def nats(bits: int) -> float:  # what a median must overcome: grid points and a margin
        return bits * math.log(2) + math.log(2 * log_width / math.log(2) + 2) + 15

    safe = max(1.0, expected - 150)
    concentrated = isinstance(purse, ConcentratedPurse)
    if concentrated:
        # A share f of ρ buys a range of 2 sqrt(f) effective units.
        centre, radii, rough = 0.02, 0.06, 0.03
        power_of_centre = 2 * math.sqrt(centre) * safe / 2
        if power_of_centre < nats(24):
            centre = 0.0
        spare = power_of_centre / 2 - nats(24)
        eta = 2 * math.sqrt(radii)
    else:
        centre = max(0.01, 2 * nats(24) / safe)
        if centre > 0.20:
            centre = 0.0
        spare = 0.005 * safe - nats(24)
        radii = min(0.40, 0.20 * max(1.0, 1000 / expected) ** 0.3)
        rough = min(0.25, max(0.02, 0.7 * expected ** (-1 / 3)))
        eta = radii
    bits = 24 + min(16, max(0, math.floor(spare / math.log(2))))
    power = min(4.0, max(1.25, eta * expected / (2 * (log_width + 6))))
    if clusters == "keep":
        power = min(power, 2.5)
        radii = radii if concentrated else max(radii, 0.25)
    return Schedule(_grid(centre), _grid(radii), _grid(rough), bits, _grid(power))


def sum_schedule(lattice: Lattice, purse: Purse, noisy_count: int, clusters: Clusters) -> Schedule:
    """Divide the budget of a sum: no centre and no rough step, zero is the centre."""
    log_width = octaves(lattice)
    expected = max(1.0, noisy_count * float(purse.scale))
    concentrated = isinstance(purse, ConcentratedPurse)
    radii = 0.06 if concentrated else 0.20
    eta = 2 * math.sqrt(radii) if concentrated else radii
    power = min(4.0, max(1.25, eta * expected / (2 * (log_width + 6))))
    if clusters == "keep":
        power = min(power, 2.5)
        radii = radii if concentrated else 0.25
    return Schedule(Fraction(0), _grid(radii), Fraction(0), 0, _grid(power))
