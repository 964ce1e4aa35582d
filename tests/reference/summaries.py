"""Summaries in plain Python: fractions, lists and sorting, no NumPy arithmetic."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice


def integers(xs: Iterable[float], lattice: Lattice) -> list[int]:
    """Sorted lattice integers of what is not NaN: clamped, rounded to nearest, ties to even."""
    lo, hi, step = Fraction(lattice.lo), Fraction(lattice.hi), Fraction(lattice.step)
    kept = []
    for x in xs:
        if math.isnan(x):
            continue
        exact = (hi if x > 0 else lo) if math.isinf(x) else Fraction(x)
        kept.append(round(min(max(exact, lo), hi) / step))
    return sorted(kept)


def clip(q: int, lo: int, hi: int) -> int:
    return min(max(q, lo), hi)


@dataclass(frozen=True)
class TailTwin:
    """Attribute by attribute what a TailSummary holds."""

    count: int
    low: list[int]
    high: list[int]
    middle_sum: int
    middle_count: int

    @classmethod
    def of(cls, q: Sequence[int], keep: int) -> "TailTwin":
        low = list(q[:keep])
        rest = list(q[keep:])
        high = rest[max(0, len(rest) - keep) :]
        middle = rest[: len(rest) - len(high)]
        return cls(len(q), low, high, sum(middle), len(middle))


def cells(
    q: Sequence[int], centre: int, edges: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Counts and sums by distance, from the far left to the far right."""
    size = len(edges)
    members: list[list[int]] = [[] for _ in range(2 * size + 1)]
    for each in q:
        distance = abs(each - centre)
        ring = sum(edge < distance for edge in edges)
        members[size + (ring if each > centre else -ring)].append(each)
    return tuple(map(len, members)), tuple(map(sum, members))
