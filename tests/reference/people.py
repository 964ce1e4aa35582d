"""Tables of persons in plain Python: lists, sorting and unbounded integers."""

import math
from collections.abc import Hashable, Sequence
from itertools import groupby

from modicum.exact.lattice import Lattice
from tests.reference.summaries import integers

Row = tuple[Hashable, float | None, float | None]
"""Person, what rows are ordered by, and value; None is missing."""


def _last(x: float | None) -> tuple[bool, float]:
    missing = x is None or math.isnan(x)
    return missing, 0.0 if missing else x


def by_person(rows: Sequence[Row]) -> list[list[Row]]:
    owned = sorted((row for row in rows if row[0] is not None), key=lambda row: str(row[0]))
    return [list(group) for _, group in groupby(owned, key=lambda row: str(row[0]))]


def first_rows(rows: Sequence[Row], m: int) -> list[float | None]:
    """Values of each person's first m rows, sorted."""
    kept = []
    for group in by_person(rows):
        ordered = sorted(group, key=lambda row: (_last(row[1]), _last(row[2])))
        kept += [value for _, _, value in ordered[:m]]
    return sorted(kept, key=_last)


def combined(rows: Sequence[Row], lattice: Lattice, rule: str) -> list[int]:
    """Sorted lattice integers of the persons who have values."""
    records = []
    for group in by_person(rows):
        q = integers([math.nan if x is None else x for _, _, x in group], lattice)
        if q:
            mean, total = sum(q) // len(q), min(max(sum(q), lattice.first), lattice.last)
            records.append(mean if rule == "mean" else total)
    return sorted(records)
