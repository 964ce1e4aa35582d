"""Several quantiles by one law: each is drawn between those that were drawn before it.

Differs from Kaplan, Schnapp and Stemmer 2022: a budget is spent along a path of the tree and not by
level, so that a short path has more for each of its nodes; records that are equal to a drawn point
are divided between its two sides in proportion, and not by noise added to the data.

The tree, and how a budget is divided along its paths, follow from public numbers: the q, the
budget, the number of lattice points. A node's draw misses its rank with a variance of about
2 (2 m / ε)², m = max(q, 1 - q) of the node, where records lie about evenly. A quantile below it
inherits the miss in proportion to how near it is to the node, compared with the node's ends.
Minimised is the sum of the variances of all quantiles: over all trees, and over all divisions of
the budget such that no path spends more than all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.exact.bernoulli import exp_coin
from modicum.exact.entropy import Entropy
from modicum.exact.levels import draw_level
from modicum.mechanisms import base, grids
from modicum.privacy.event import Event
from modicum.privacy.split import Share

NEGLIGIBLE = 60.0  # candidates at the cap together weigh at most e^-60 of all
_DRIFT = 24.0  # a node misses by more than this many scales once in e^24
_ALL_TRIED = 12  # of more quantiles between two ends, only those near the middle are tried first
_BITS = 20
_FINE = 64  # losses are rounded down to 1/64 of a rank before a coin corrects for it
_LENGTH_BITS = 60
_MOST_SUMMED = 1 << 10  # points of a piece whose weights are added one by one

Integers = NDArray[np.int64]


class RankedRecords(Protocol):
    """Sorted records, of which those near some ranks are at hand."""

    @property
    def count(self) -> int:
        """Number of records."""

    def place(self, value: int) -> tuple[int, int]:
        """Return the number of records below a value, and of those equal to it."""

    def below(self, value: int) -> int:
        """Return the number of records below a value."""

    def between(self, start: int, stop: int) -> tuple[Integers, Integers, Integers]:
        """Return values, numbers of records below them and ties, at these positions."""


@dataclass(frozen=True, slots=True)
class Node:
    """One quantile, drawn between two that were drawn before; public.

    ``left`` and ``right`` are the places of these two among the quantiles; -1 and the number of
    quantiles stand for the ends of the range. ``q`` is the wanted share of the records between the
    two that lie below, ``epsilon`` the size of the bounded range, and ``cap`` the largest loss, in
    ranks.
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


@dataclass(frozen=True, slots=True)
class Branch:
    """A node without its budget: ``share`` is its share of what its path has left."""

    place: int
    left: int
    right: int
    q: Fraction
    share: Fraction


@dataclass(frozen=True, slots=True)
class TreePlan:
    """Nodes of a tree with their budgets, parents first.

    ``reaches`` are the ranks around each quantile on which its node depends, wherever its ends lie.
    """

    nodes: tuple[Node, ...]
    reaches: tuple[int, ...]

    def variances(self, qs: tuple[Fraction, ...]) -> tuple[float, ...]:
        """Return those of the ranks of all quantiles, where records lie about evenly."""
        at = {-1: 0.0, len(qs): 1.0} | {k: float(q) for k, q in enumerate(qs)}
        found = {-1: 0.0, len(qs): 0.0}
        for node in self.nodes:
            share = (at[node.place] - at[node.left]) / (at[node.right] - at[node.left])
            inherited = (1 - share) ** 2 * found[node.left] + share**2 * found[node.right]
            found[node.place] = 2 / float(node.rate) ** 2 + inherited
        return tuple(found[place] for place in range(len(qs)))


@lru_cache(maxsize=64)
def tree_of(qs: tuple[Fraction, ...], power: Fraction) -> tuple[Branch, ...]:
    """Choose the tree and the shares for increasing ``qs`` in (0, 1); parents come first.

    The power is 1/3 if the ε of a path add up, 1/2 if their squares do: sums of A / ε² along a path
    are least if each ε (or ε²) is in proportion to A to this power.

    Examples
    --------
    >>> thirds = tuple(Fraction(i, 4) for i in (1, 2, 3))
    >>> [(b.place, b.left, b.right, b.q) for b in tree_of(thirds, Fraction(1, 3))]
    [(1, -1, 3, Fraction(1, 2)), (0, -1, 1, Fraction(1, 2)), (2, 1, 3, Fraction(1, 2))]
    """
    p, at = float(power), [0.0, *map(float, qs), 1.0]  # at[i + 1] belongs to place i

    def cost(a: int, k: int, b: int) -> float:
        """Variance that the node adds to all quantiles between its ends, at ε = 1."""
        q = (at[k] - at[a]) / (at[b] - at[a])
        left = sum(((at[i] - at[a]) / (at[k] - at[a])) ** 2 for i in range(a + 1, k))
        right = sum(((at[b] - at[i]) / (at[b] - at[k])) ** 2 for i in range(k + 1, b))
        return 8 * max(q, 1 - q) ** 2 * (1 + left + right)

    def tried(a: int, b: int) -> range:
        if b - a - 1 <= _ALL_TRIED:
            return range(a + 1, b)
        middle = min(range(a + 1, b), key=lambda k: abs(at[a] + at[b] - 2 * at[k]))
        return range(max(a + 1, middle - 1), min(b, middle + 2))

    @cache
    def best(a: int, b: int) -> tuple[float, int, float]:
        """Least sum of variances between two ends, the node that gives it, and its share."""
        if b - a < 2:
            return 0.0, a, 1.0
        found = (math.inf, a, 1.0)
        for k in tried(a, b):
            own, below = cost(a, k, b) ** p, (best(a, k)[0] + best(k, b)[0]) ** p
            found = min(found, ((own + below) ** (1 / p), k, own / (own + below)))
        return found

    branches, between = [], [(0, len(at) - 1)]
    for a, b in between:  # it grows
        if b - a < 2:
            continue
        _, k, share = best(a, b)
        low, high = (Fraction(0) if a == 0 else qs[a - 1]), (qs[b - 1] if b <= len(qs) else 1)
        part = Fraction(round(share * 2**_BITS), 2**_BITS)
        branches.append(Branch(k - 1, a - 1, b - 1, (qs[k - 1] - low) / (high - low), part))
        between += [(a, k), (k, b)]
    return tuple(branches)


def nodes_of(tree: tuple[Branch, ...], loss: Event, points: int) -> tuple[Node, ...]:
    """Divide a loss, which is that of each path, among the nodes of a tree.

    ``points`` is the number of candidates.
    """
    left = {(-1, len(tree)): loss}
    nodes = []
    for branch in tree:
        rest = left[branch.left, branch.right]
        below = rest.part(1 - branch.share)
        left[branch.left, branch.place] = left[branch.place, branch.right] = below
        epsilon = min(rest.part(branch.share).largest_range, Fraction(base.MOST_EPSILON))
        scale = 2 * float(max(branch.q, 1 - branch.q) / epsilon)
        cap = math.ceil((math.log(points) + NEGLIGIBLE) * scale)
        nodes.append(Node(branch.place, branch.left, branch.right, branch.q, epsilon, cap))
    return tuple(nodes)


@lru_cache(maxsize=64)
def planned(qs: tuple[Fraction, ...], share: Share, points: int) -> TreePlan:
    """Choose the tree of quantiles by :func:`tree_of`, and divide a share by :func:`nodes_of`."""
    power = Fraction(1, 2) if share.loss.concentrated else Fraction(1, 3)
    nodes = nodes_of(tree_of(qs, power), share.loss, points)
    # Ranks by which each place may miss, but for a chance of e^-24 [quantiles.15].
    missed, reaches = {-1: 0, len(nodes): 0}, [0] * len(nodes)
    for node in nodes:
        ends = max(missed[node.left], missed[node.right])
        missed[node.place] = ends + math.ceil(_DRIFT / float(node.rate))
        reaches[node.place] = node.cap + ends + 2
    return TreePlan(nodes, tuple(reaches))


@dataclass(frozen=True, slots=True, eq=False)
class NestedQuantiles(base.Stated[tuple[int, ...]]):
    """Increasing points z_0 <= ... <= z_(m-1), each near its share of the records between two.

    A lattice integer t has 2^fine points t 2^fine, ..., t 2^fine + 2^fine - 1, and a record at t
    is spread evenly over them: F(z), the mass below z, is linear there. A node with ends a <= b
    draws z in [a, b] with

        P(z) ∝ exp(-ε loss(z) / (2 m)),  loss(z) = min(cap, |F(z) - F(a) - q (F(b) - F(a))|),

    m = max(q, 1 - q). Outcomes are the z; the quantile is z >> fine. The records are secret; the
    nodes are listed parents first, on the lattice from ``first`` to ``last``.

    Sensitivity contract: a record more has the mass w in [0, 1] in [a, b), and changes the loss
    of the node by at most w m at every z, so the node's log ratio has a range of at most w ε. The
    w of two siblings add up to that of their parent. So the log ratio of all nodes is at most the
    largest sum of ε along a path of the tree (docs/research/proofs/quantiles.md has the proof).
    See [quantiles.11], [quantiles.12].
    """

    records: RankedRecords = field(repr=False, metadata=base.SECRET)
    first: int
    last: int
    fine: int
    nodes: tuple[Node, ...]
    stated: Event

    def public(self) -> dict[str, object]:
        """The range and, for every node, its quantile and share."""
        return {
            "first": self.first,
            "last": self.last,
            "fine": self.fine,
            "nodes": tuple(map(astuple, self.nodes)),
        }

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        drawn: dict[int, int] = self._range()
        for node in self.nodes:
            drawn[node.place] = self._band(node, drawn).sample(entropy)
        return tuple(drawn[place] for place in range(len(self.nodes)))

    def log_density(self, outcome: tuple[int, ...]) -> float:
        drawn = self._range() | dict(enumerate(outcome))
        points = [drawn[-1], *outcome, drawn[len(self.nodes)]]
        if points != sorted(points):
            return -math.inf
        return sum(self._band(node, drawn).log_density(drawn[node.place]) for node in self.nodes)

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Return every outcome: an audit takes a small range and few points of an integer."""
        ends = self._range()
        points = range(ends[-1], ends[len(self.nodes)] + 1)
        return combinations_with_replacement(points, len(self.nodes))

    def _range(self) -> dict[int, int]:
        return {-1: self.first << self.fine, len(self.nodes): (self.last + 1) << self.fine}

    def _band(self, node: Node, drawn: dict[int, int]) -> _NodeBand:
        return _NodeBand.of(self.records, self.fine, node, drawn[node.left], drawn[node.right])


_Pieces = tuple[NDArray[Any], ...]  # the arrays of a _NodeBand


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _NodeBand:
    """The points between two ends, cut into pieces where the mass is constant or nearly so.

    A piece, in no order, is the points from (starts << fine) + first up to (stops << fine) + last,
    exclusive.
    """

    records: RankedRecords
    fine: int
    node: Node
    target: Fraction  # wanted mass below the point
    ends: tuple[int, int]  # first and last point
    starts: Integers
    first: Integers
    stops: Integers
    last: Integers
    sizes: base.Floats  # numbers of points
    mass: base.Floats  # F at the first point, less the target
    slope: base.Floats  # growth of F from one point to the next

    @classmethod
    def of(cls, records: RankedRecords, fine: int, node: Node, a: int, b: int) -> _NodeBand:
        low, high = (mass_below(records, fine, z) for z in (a, b))
        p, unit = node.q.numerator, node.q.denominator << fine
        scaled = low * node.q.denominator + p * (high - low)
        whole = scaled // unit
        start = max(low >> fine, whole - node.cap - 1)
        stop = min(-(-high >> fine), whole + node.cap + 2)
        values, before, ties = records.between(start, stop)
        known = slice(*np.searchsorted(values, [a >> fine, (b >> fine) + 1]).tolist())
        values, before, ties = values[known], before[known], ties[known]
        # What is left of the mass is small, so floats hold it even if there are many records.
        part = (scaled - whole * unit) / unit
        level = (low - (whole << fine)) / (1 << fine) - part
        # Edges: a, each value and its successor, what follows b.
        edges = np.empty(2 * len(values) + 2, dtype=np.int64)
        points = np.zeros_like(edges)
        mass, slope = np.empty(len(edges) - 1), np.zeros(len(edges) - 1)
        rest = (1 << fine) - 1
        edges[0], points[0], edges[-1], points[-1] = a >> fine, a & rest, b >> fine, (b & rest) + 1
        edges[1:-1:2], edges[2:-1:2] = values, values + 1
        # Between two values, before the first and after the last one: beyond the cap if there are
        # records that are not known.
        mass[0], mass[1::2] = level, before - whole - part
        mass[2::2] = before + ties - whole - part
        slope[1::2] = ties * math.ldexp(1.0, -fine)
        if len(values):
            if values[0] == edges[0]:  # the first cell begins at a
                points[1] = points[0]
                mass[1] = level
            else:
                mass[0] = mass[1]
            if values[-1] == edges[-1]:  # the last one ends at b
                edges[-2], points[-2] = edges[-1], points[-1]
        sizes = np.diff(edges) * math.ldexp(1.0, fine) + np.diff(points)
        pieces: _Pieces = edges[:-1], points[:-1], edges[1:], points[1:], sizes, mass, slope
        grown = slope * sizes
        kept = (sizes > 0) & (grown <= 1)
        if not kept.all():
            pieces = _cut(pieces, kept, grown > 1, node.cap)
        return cls(records, fine, node, Fraction(scaled, unit), (a, b), *pieces)

    def sample(self, entropy: Entropy) -> int:
        """Draw a piece by an upper bound of its weight, then a point of it; accept by a coin.

        See [quantiles.14].
        """
        # The least loss in every piece, to float precision: the mass grows.
        above = -(self.mass + self.slope * (self.sizes - 1))
        least = np.minimum(np.maximum(np.maximum(self.mass, above), 0.0), float(self.node.cap))
        units = np.maximum(np.floor(least * _FINE - 1), 0).astype(np.int64)
        rate, (lengths, power) = self.node.rate, self._lengths()
        while True:
            i = draw_level(lengths, units, rate / _FINE, entropy)
            z = (int(self.starts[i]) << self.fine) + int(self.first[i])
            z += entropy.below(int(lengths[i]) << power)
            if z >= (int(self.stops[i]) << self.fine) + int(self.last[i]):
                continue
            missed, unit = self._missed(z)
            excess, unit = missed * _FINE - int(units[i]) * unit, unit * _FINE
            assert excess >= 0
            if exp_coin(rate.numerator * excess, rate.denominator * unit, entropy):
                return z

    def log_density(self, z: int) -> float:
        if not self.ends[0] <= z <= self.ends[1]:
            return -math.inf
        rate, cap = float(self.node.rate), self.node.cap
        total = 0.0
        for size, mass, slope in zip(self.sizes.tolist(), self.mass, self.slope, strict=True):
            # Of a long piece the middles of equal parts stand for all points.
            parts = 1 if slope == 0 else int(min(size, _MOST_SUMMED))
            places = (np.arange(parts) + 0.5) * (size / parts) - 0.5
            losses = np.minimum(np.abs(mass + slope * places), cap)
            total += float(np.exp(-rate * losses).sum()) * (size / parts)
        return -rate * float(Fraction(*self._missed(z))) - math.log(total)

    def _missed(self, z: int) -> tuple[int, int]:
        """The exact loss of a point, as a ratio."""
        unit = self.target.denominator
        below = mass_below(self.records, self.fine, z) * unit
        missed = abs(below - (self.target.numerator << self.fine))
        return min(missed, self.node.cap * unit << self.fine), unit << self.fine

    def _lengths(self) -> tuple[NDArray[Any], int]:
        """Return the sizes in units of 2^power points, rounded up, and the power.

        They are int64 where the rounding adds little, and else Python integers with power 0.
        """
        power = max(0, math.frexp(float(self.sizes.max()))[1] - _LENGTH_BITS)
        between, rest = self.stops - self.starts, self.last - self.first
        if power > self.fine or float(self.sizes.min()) < math.ldexp(1.0, power):
            return between.astype(np.object_) * (1 << self.fine) + rest, 0
        return (between << (self.fine - power)) - (-rest >> power), power


def _cut(pieces: _Pieces, kept: NDArray[np.bool_], heavy: NDArray[np.bool_], cap: int) -> _Pieces:
    """Cut heavy pieces so that the mass grows by about one rank where the loss is not capped.

    They lie in one integer each. Where a single point has more than a rank, each point there is a
    piece: so the losses of a piece never differ by much more than a rank, and a sampler that takes
    the least for all accepts soon.
    """
    starts, first, _, _, size, mass, slope = (each[heavy] for each in pieces)
    # From the last point at -cap to the first one beyond cap in equal parts, and what is before
    # and after them, where the loss is capped.
    near, far = (
        np.clip(np.floor((x - mass) / slope) + more, 0, size).astype(np.int64)
        for x, more in ((-cap, 0), (cap, 1))
    )
    wanted = np.minimum(np.ceil(slope * (far - near)), far - near)
    parts = np.maximum(1, wanted).astype(np.int64)
    piece = np.repeat(np.arange(len(parts)), parts + 2)
    part = np.arange(len(piece)) - np.repeat(np.cumsum(parts + 2) - parts - 2, parts + 2) - 1

    def cut(k: Integers) -> Integers:
        found: Integers = near[piece] + (far - near)[piece] * k // parts[piece]
        return found

    start = np.where(part < 0, 0, cut(part))
    stop = np.where(part == parts[piece], size[piece].astype(np.int64), cut(part + 1))
    there = stop > start
    piece, start, stop = piece[there], start[there], stop[there]
    cell, begin = starts[piece], first[piece]
    grown, sizes = mass[piece] + slope[piece] * start, (stop - start).astype(np.float64)
    cuts = cell, begin + start, cell, begin + stop, sizes, grown, slope[piece]
    both = zip(pieces, cuts, strict=True)
    return tuple(np.concatenate([each[kept], more]) for each, more in both)


def mass_below(
    records: RankedRecords, fine: int, z: int, warp: grids.RangeWarp = grids.EVEN
) -> int:
    """Return F(z) 2^(fine + octaves), where an integer has 2^fine points a place [quantiles.13]."""
    value, bits = warp.value(z >> fine), fine + warp.octaves
    start = warp.start(value) << fine
    if z == start:  # so at the ends of the range
        return records.below(value) << bits
    before, ties = records.place(value)
    points = (warp.start(value + 1) << fine) - start
    return (before << bits) + (ties * (z - start) << bits) // points
