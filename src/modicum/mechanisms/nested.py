"""Several quantiles by one law: each is drawn between those that were drawn before it.

Differs from Kaplan, Schnapp and Stemmer 2022: a budget is spent along a path of the tree and not by
level, so that a short path has more for each of its nodes; records that are equal to a drawn point
are divided between its two sides in proportion, and not by noise added to the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.bernoulli import bernoulli_exp
from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms.law import SECRET, Law
from modicum.privacy.event import Event

__all__ = ["NestedQuantiles", "Node", "RankedRecords", "mass"]

_FINE = 64  # losses are rounded down to 1/64 of a rank before a coin corrects for it
_LENGTH_BITS = 60
_MOST_SUMMED = 1 << 10  # points of a piece whose weights are added one by one

Integers = NDArray[np.int64]


class RankedRecords(Protocol):
    """Records in order, of which those near some ranks are at hand."""

    @property
    def count(self) -> int:
        """Number of records."""

    def place(self, value: int) -> tuple[int, int]:
        """Return the number of records below a value, and of those that have it."""

    def below(self, value: int) -> int:
        """Return the number of records below a value."""

    def between(self, start: int, stop: int) -> tuple[Integers, Integers, Integers]:
        """Return values, numbers of records below them and ties, at these positions."""


@dataclass(frozen=True, slots=True)
class Node:
    """One quantile, drawn between two that were drawn before; public.

    Attributes
    ----------
    place : int
        Its place among the quantiles.
    left, right : int
        Places of the two; -1 and the number of quantiles stand for the ends of the range.
    q : Fraction
        Wanted share of the records between the two that lie below.
    epsilon : Fraction
        Size of its bounded range.
    cap : int
        Largest loss, in ranks.
    """

    place: int
    left: int
    right: int
    q: Fraction
    epsilon: Fraction
    cap: int

    @property
    def rate(self) -> Fraction:
        """Weight of one rank of loss, ε / (2 max(q, 1 - q))."""
        return self.epsilon / (2 * max(self.q, 1 - self.q))


@dataclass(frozen=True, slots=True, eq=False)
class NestedQuantiles(Law[tuple[int, ...]]):
    """Increasing points z_0 <= ... <= z_(m-1), each near its share of the records between two.

    A lattice integer t has 2^fine points t 2^fine, ..., t 2^fine + 2^fine - 1, and a record at t
    is spread evenly over them: F(z), the mass below z, is linear there. A node with ends a <= b
    draws z in [a, b] with

        P(z) ∝ exp(-ε loss(z) / (2 m)),  loss(z) = min(cap, |F(z) - F(a) - q (F(b) - F(a))|),

    m = max(q, 1 - q). Outcomes are the z; the quantile is z >> fine.

    Sensitivity contract: a record more has the mass w in [0, 1] in [a, b), and changes the loss
    of the node by at most w m at every z, so the node's log ratio has a range of at most w ε. The
    w of two siblings add up to that of their parent. So the log ratio of all nodes is at most the
    largest sum of ε along a path of the tree (docs/proofs/quantiles.md has the proof).

    Parameters
    ----------
    records : RankedRecords
        Secret.
    first, last : int
        Ends of the lattice.
    fine : int
        Points of an integer, as a power of two.
    nodes : tuple of Node
        Parents first.
    stated : Event
        What a draw is charged as.
    """

    records: RankedRecords = field(repr=False, metadata=SECRET)
    first: int
    last: int
    fine: int
    nodes: tuple[Node, ...]
    stated: Event

    @property
    def event(self) -> Event:
        """The stated one."""
        return self.stated

    def public(self) -> dict[str, object]:
        """Name the range and, for every node, its quantile and share."""
        return {
            "first": self.first,
            "last": self.last,
            "fine": self.fine,
            "nodes": tuple(
                (node.place, node.left, node.right, node.q, node.epsilon, node.cap)
                for node in self.nodes
            ),
        }

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw node by node."""
        drawn: dict[int, int] = self._range()
        for node in self.nodes:
            drawn[node.place] = self._strip(node, drawn).sample(entropy)
        return tuple(drawn[place] for place in range(len(self.nodes)))

    def log_density(self, outcome: tuple[int, ...]) -> float:
        """Sum of the nodes' log probabilities."""
        drawn = self._range() | dict(enumerate(outcome))
        if list(outcome) != sorted(outcome) or not drawn[-1] <= outcome[0]:
            return -math.inf
        if outcome[-1] > drawn[len(self.nodes)]:
            return -math.inf
        return sum(self._strip(node, drawn).log_density(drawn[node.place]) for node in self.nodes)

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Return every outcome: an audit takes a small range and few points of an integer."""
        ends = self._range()
        points = range(ends[-1], ends[len(self.nodes)] + 1)
        return combinations_with_replacement(points, len(self.nodes))

    def _range(self) -> dict[int, int]:
        return {-1: self.first << self.fine, len(self.nodes): (self.last + 1) << self.fine}

    def _strip(self, node: Node, drawn: dict[int, int]) -> _Strip:
        return _Strip.of(self.records, self.fine, node, drawn[node.left], drawn[node.right])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Strip:
    """The points between two ends, cut into pieces where the mass is constant or hardly changes.

    Attributes
    ----------
    records, fine, node
        As in the law.
    target : Fraction
        Wanted mass below the point.
    ends : (int, int)
        First and last point.
    pieces : _Pieces
    """

    records: RankedRecords
    fine: int
    node: Node
    target: Fraction
    ends: tuple[int, int]
    pieces: _Pieces

    @classmethod
    def of(cls, records: RankedRecords, fine: int, node: Node, a: int, b: int) -> _Strip:
        """Cut the points from a to b."""
        low, high = (mass(records, fine, z) for z in (a, b))
        target = low + node.q * (high - low)
        start = max(math.floor(low), math.floor(target) - node.cap - 1)
        stop = min(math.ceil(high), math.ceil(target) + node.cap + 1)
        values, before, ties = records.between(start, stop)
        inside = (values >= a >> fine) & (values <= b >> fine)
        if inside.any():
            known = (values[inside], before[inside], ties[inside])
            pieces = _Pieces.of(known, fine, (a, b), float(target), node.cap)
        else:  # the mass is the same everywhere
            one, all_of_them = (np.array([each], dtype=np.object_) for each in (a, b - a + 1))
            pieces = _Pieces(one, all_of_them, np.array([float(low - target)]), np.zeros(1))
        return cls(records, fine, node, target, (a, b), pieces)

    def sample(self, entropy: Entropy) -> int:
        """Draw a point: a piece by its weight from above, a point of it, and a coin."""
        units = np.maximum(np.floor(self._least() * _FINE - 1), 0).astype(np.int64)
        rate, (lengths, power) = self.node.rate, self._lengths()
        while True:
            i = draw_level(lengths, units, rate / _FINE, entropy)
            offset = entropy.below(int(lengths[i]) << power)
            if offset >= self.pieces.sizes[i]:
                continue
            z = int(self.pieces.starts[i]) + offset
            excess = self._loss(z) - Fraction(int(units[i]), _FINE)
            assert excess >= 0
            if excess == 0 or bernoulli_exp(rate * excess, entropy):
                return z

    def log_density(self, z: int) -> float:
        """Log probability of a point."""
        if not self.ends[0] <= z <= self.ends[1]:
            return -math.inf
        rate, cap = float(self.node.rate), self.node.cap
        total = 0.0
        for size, mass, slope in zip(
            self.pieces.sizes, self.pieces.mass, self.pieces.slope, strict=True
        ):
            # Of a long piece the middles of equal parts stand for all points.
            parts = 1 if slope == 0 else min(int(size), _MOST_SUMMED)
            places = (np.arange(parts) + 0.5) * (int(size) / parts) - 0.5
            losses = np.minimum(np.abs(mass + slope * places), cap)
            total += float(np.exp(-rate * losses).sum()) * (int(size) / parts)
        return -rate * float(self._loss(z)) - math.log(total)

    def _lengths(self) -> tuple[NDArray[Any], int]:
        """Return the sizes in a power of two of points, rounded up: in int64 if that is near."""
        sizes = self.pieces.sizes
        power = max(0, int(sizes.max()).bit_length() - _LENGTH_BITS)
        if int(sizes.min()) < 1 << power:
            return sizes, 0
        return (-(-sizes >> power)).astype(np.int64), power

    def _least(self) -> NDArray[np.float64]:
        """Return the least loss in every piece, to float precision."""
        mass, slope = self.pieces.mass, self.pieces.slope
        last = mass + slope * (np.array(self.pieces.sizes, dtype=np.float64) - 1)
        crossed = (mass <= 0) & (last >= 0)
        least = np.where(crossed, 0.0, np.minimum(np.abs(mass), np.abs(last)))
        return np.minimum(least, float(self.node.cap))

    def _loss(self, z: int) -> Fraction:
        """Return the exact loss of a point."""
        missed = abs(mass(self.records, self.fine, z) - self.target)
        return min(missed, Fraction(self.node.cap))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Pieces:
    """Points in a row, in no order of the pieces.

    Attributes
    ----------
    starts, sizes : arrays of int
        First point, and how many: Python integers, they may exceed int64.
    mass, slope : float64 arrays
        F at the first point less the target, and its growth from one point to the next.
    """

    starts: NDArray[Any]
    sizes: NDArray[Any]
    mass: NDArray[np.float64]
    slope: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        known: tuple[Integers, Integers, Integers],
        fine: int,
        ends: tuple[int, int],
        target: float,
        cap: int,
    ) -> _Pieces:
        """Cut the points between two ends at the values; one value at least is between them."""
        values, before, ties = known
        (a, b), size = ends, 1 << fine
        first = np.where(values == a >> fine, a & (size - 1), 0)
        stop = np.where(values == b >> fine, (b & (size - 1)) + 1, size)
        cells = values.astype(np.object_) * size
        slope = ties * math.ldexp(1.0, -fine)
        mass = before - target + slope * first
        starts = [cells + first]
        sizes = [(stop - first).astype(np.object_)]
        # Between two values, before the first and after the last one: beyond the cap if there are
        # records that are not known.
        lefts = np.append(a, cells + size)
        gaps = np.append(cells, b + 1) - lefts
        level = np.append(before, before[-1] + ties[-1]) - target
        there = gaps > 0
        heavy = np.flatnonzero(slope * (stop - first) > 1)
        light = np.delete(np.arange(len(values)), heavy)
        parts = [
            (starts[0][light], sizes[0][light], mass[light], slope[light]),
            (lefts[there], gaps[there], level[there], np.zeros(int(there.sum()))),
            *(
                _cut(starts[0][i], int(sizes[0][i]), float(mass[i]), float(slope[i]), cap)
                for i in heavy
            ),
        ]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(columns[0], columns[1], columns[2], columns[3])


def _cut(
    start: int, size: int, mass: float, slope: float, cap: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Cut a piece so that its mass grows by about one rank at most where the loss is not capped."""
    near, far = (min(max(math.floor((x - mass) / slope), 0), size) for x in (-cap, cap))
    parts = max(1, math.ceil(slope * (far - near)))
    cuts = np.unique([0, *(near + (far - near) * i // parts for i in range(parts + 1)), size])
    return (
        start + cuts[:-1].astype(np.object_),
        np.diff(cuts).astype(np.object_),
        mass + slope * cuts[:-1],
        np.full(len(cuts) - 1, slope),
    )


def mass(records: RankedRecords, fine: int, z: int) -> Fraction:
    """Return F(z)."""
    value, part = z >> fine, z & ((1 << fine) - 1)
    if part == 0:  # so at the ends of the range
        return Fraction(records.below(value))
    before, ties = records.place(value)
    return before + Fraction(ties * part, 1 << fine)
