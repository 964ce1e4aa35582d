"""What the statistics with clipping bounds say of an answer, if there is something to say."""

from __future__ import annotations

from modicum.status import Status

__all__ = ["APART", "BEYOND", "FEW", "HEAVY", "NO_CENTRE", "TOO_LITTLE"]

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
