"""What the statistics with clipping bounds say of an answer, if there is something to say."""

from __future__ import annotations

from typing import Protocol

from modicum.exact.lattice import Lattice
from modicum.statistics.outside import Outside
from modicum.status import OK, Status

__all__ = ["APART", "BEYOND", "FEW", "HEAVY", "NO_CENTRE", "TOO_LITTLE", "judged", "perhaps_unseen"]

FEW = Status(
    "wide_noise",
    "so few rows for this budget that no bounds could be found: the noise follows the range; a "
    "larger budget or a narrower `within` helps",
)
APART = Status(
    "wide_noise",
    "most rows are as good as equal, and too few others for this budget to find how far they "
    "reach: the noise follows the range; a larger budget or a narrower `within` helps",
)
NO_CENTRE = Status(
    "wide_noise",
    "too few rows for this budget to find where they lie: the noise follows the size of the "
    "values, not their spread; a larger budget helps",
)
TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: most of it may have been clipped away; narrow "
    "`within` or spend more",
)
BEYOND = Status(
    "clipped",
    "about {records:,} records lie beyond the clipping bounds, more than the tail of a "
    "distribution explains: a second group is far away, and clipped; clusters='keep', a narrower "
    "`within` or a larger budget may reach it",
)
HEAVY = Status(
    "heavy_tail",
    "the tail looks heavy: more may have been clipped than the default interval allows for; "
    "interval(tail=2) assumes less",
)
UNSEEN = Status(
    "unseen",
    "up to {records:,} rows could lie a hundred times further out than all others without "
    "being noticed, and the interval takes it that none do: they are few for so wide a range",
)
_FAR = 100  # times the distance of the bounds
_GOOD_PART = 1 / 12  # of the records


class _Clipped(Protocol):
    """Evidence of an answer from values clipped to bounds."""

    @property
    def lattice(self) -> Lattice: ...
    @property
    def lo(self) -> int: ...
    @property
    def hi(self) -> int: ...
    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold less than a quarter of the data."""


def judged(evidence: _Clipped, outside: Outside, n0: int, otherwise: Status) -> Status:
    """Say whether an answer within released bounds can be used.

    Parameters
    ----------
    evidence : _Clipped
    outside : Outside
        What is known of the records outside.
    n0 : int
        The noisy count.
    otherwise : Status
        What to say if the bounds are no reason to doubt it.
    """
    if evidence.too_little(0.05):
        return TOO_LITTLE
    if outside.excess(0.05):
        return BEYOND.filled(records=max(outside.counted or 0, 0))
    lattice, width = evidence.lattice, evidence.hi - evidence.lo
    room = max(evidence.lo - lattice.first, lattice.last - evidence.hi)
    most = outside.counted_at_most(0.02)
    return perhaps_unseen(most, n0, width, room) if otherwise.ok else otherwise


def perhaps_unseen(most: float, n0: int, width: int, room: int) -> Status:
    """Say if a good part of the records may lie where it would change the answer by everything.

    Parameters
    ----------
    most : float
        How many records may lie outside.
    n0 : int
        The noisy count.
    width, room : int
        How far the others reach, and how much further these may lie, in steps.
    """
    if most > _GOOD_PART * n0 and room > _FAR * width:
        return UNSEEN.filled(records=round(most))
    return OK
