"""The number of records in each bin of a partition, which is public or drawn first.

[H0] edges   quantiles, if only the number of bins is given;
[H1] counts  all bins, noise for all that is left on each: a record is in one bin at most.

docs/proofs/histogram.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from modicum.array_release import ArrayAnswer, Axis, Intervals
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.purses import open_purse
from modicum.statistics.quantiles import drawn_points
from modicum.status import OK
from modicum.summaries.base import Ask
from modicum.summaries.sums import BinCounts

__all__ = ["HistogramEvidence", "drawn_histogram", "noisy_histogram", "rounded"]

EDGES_SHARE = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class HistogramEvidence:
    """Noisy counts and their noise; the lattice to which values and edges were rounded."""

    noisy: tuple[int, ...]
    noise: Noise
    lattice: Lattice

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return intervals that hold at once: the noises are independent, so levels multiply."""
        reach = self.noise.tail_bound(1 - level ** (1 / len(self.noisy)))
        counts = np.array(self.noisy, dtype=np.float64)
        return Intervals(np.maximum(counts - reach, 0), np.maximum(counts + reach, 0))

    @property
    def condition(self) -> str:
        """What the counts are about, if that may show; the intervals assume nothing."""
        return rounded(self.lattice) if self.lattice.coarse else ""

    def assumption(self, tail: float | None) -> str:
        """Say in words what the intervals cover."""
        return (
            "the intervals cover the noise of all bins at once, and assume nothing. They are "
            f"{rounded(self.lattice)}: within half a step of an edge a value may count on its "
            "other side."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {"noisy": list(self.noisy), "noise_sd": self.noise.variance**0.5}


def noisy_histogram(
    column: str | None, lattice: Lattice, event: Event, *, edges: tuple[float, ...]
) -> Steps[ArrayAnswer]:
    """Count the records of each bin [edges[i], edges[i + 1]); the last one is closed.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
        Wider than the finite edges on both sides, so that what lies outside stays outside.
    event : Event
        Total cost for one row.
    edges : tuple of float
        Increasing, all different on the lattice; the first and the last may be infinite.
    """
    cuts = [*_integers(lattice, edges[:-1]), *(cut + 1 for cut in _integers(lattice, edges[-1:]))]
    counted = yield from need(Ask(column, lattice, BinCounts(tuple(cuts))))
    # What lies beyond the edges is in no bin; an infinite edge is an end of the lattice.
    law = open_purse(event).noisy(counted.counts[1:-1], sensitivity=1, share=None)  # [H1]
    noisy = yield from draw("counts", law)
    evidence = HistogramEvidence(noisy, law.noise[0], lattice)
    axis = Axis.of(left=edges[:-1], right=edges[1:])
    return ArrayAnswer(tuple(Fraction(max(n, 0)) for n in noisy), (axis,), evidence, OK)


def drawn_histogram(
    column: str | None, lattice: Lattice, event: Event, *, bins: int, fine: int
) -> Steps[ArrayAnswer]:
    """Count the records of bins with about equally many each: between quantiles, drawn first.

    Parameters
    ----------
    column : str or None
    lattice : Lattice
        Its ends are the outer edges.
    event : Event
        Total cost for one row; the draws add up to exactly this.
    bins : int
        At least 2. Edges that are drawn twice are one.
    fine : int
        As for :func:`~modicum.statistics.quantiles.nested_quantiles`.

    Raises
    ------
    InvalidArgument
        If the budget is too small to keep the records around the ranks.
    """
    purse = open_purse(event)
    qs = tuple(Fraction(i, bins) for i in range(1, bins))
    drawn = yield from drawn_points(
        purse, column, lattice, qs=qs, fine=fine, share=EDGES_SHARE, label="edges"
    )  # [H0]
    edges = sorted({lattice.first, *drawn.points, lattice.last})
    upto = [0, *(drawn.windows.below(edge) for edge in edges[1:-1]), drawn.windows.count]
    law = purse.noisy(tuple(b - a for a, b in pairwise(upto)), sensitivity=1, share=None)  # [H1]
    noisy = yield from draw("counts", law)
    evidence = HistogramEvidence(noisy, law.noise[0], lattice)
    inner = (float(edge * Fraction(lattice.step)) for edge in edges[1:-1])
    values = (lattice.lo, *inner, lattice.hi)
    axis = Axis.of(left=values[:-1], right=values[1:])
    return ArrayAnswer(tuple(Fraction(max(n, 0)) for n in noisy), (axis,), evidence, OK)


def rounded(lattice: Lattice) -> str:
    """Say what is counted."""
    return f"for values and cuts rounded to multiples of {lattice.step:g}"


def _integers(lattice: Lattice, edges: tuple[float, ...]) -> list[int]:
    return [int(q) for q in lattice.quantise(np.array(edges))]
