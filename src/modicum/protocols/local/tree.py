"""Shares of people at the nodes of a tree over a range, made to fit together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modicum.protocols.local.protocol import Flags, Floats, Integers

BRANCHING = 4  # children of a node; measured in benchmarks/local.py
_PARENTS = 256  # nodes of a level whose children are looked at
_PATHS = 64  # that are followed from level to level
_LEAST_INFORMATION = 1e-12  # of a level nobody answered about

# Estimates of the shares of people at nodes of a level, and variances of these estimates at a
# level, given the shares.
Shares = Callable[[int, Integers], Floats]
Spread = Callable[[int, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Tree:
    """Cells 0, 1, ..., branching^depth - 1, and above them ``depth`` levels of nodes."""

    branching: int
    depth: int

    @classmethod
    def over(cls, cells: int, *, branching: int) -> Tree:
        """The smallest tree with at least that many cells."""
        depth = 1
        while branching**depth < cells:
            depth += 1
        return cls(branching, depth)

    @property
    def cells(self) -> int:
        return int(self.branching**self.depth)

    def nodes(self, level: int) -> int:
        """The number of nodes at a level, 1..depth."""
        return int(self.branching**level)

    def node(self, cells: Integers, level: int) -> Integers:
        """The nodes of a level that hold cells."""
        nodes: Integers = cells // int(self.branching ** (self.depth - level))
        return nodes


@dataclass(frozen=True, slots=True)
class TreeCells:
    """The lattice integers first..last, ``size`` of them a cell."""

    first: int
    last: int
    size: int

    @classmethod
    def of(cls, first: int, last: int, most: int) -> TreeCells:
        """At most ``most`` cells of one size."""
        return cls(first, last, -(-(last - first + 1) // most))

    @property
    def tree(self) -> Tree:
        """The smallest tree that holds all cells."""
        return Tree.over(-(-(self.last - self.first + 1) // self.size), branching=BRANCHING)

    def of_integers(self, q: Integers) -> Integers:
        """The cells of lattice integers, clamped to the range."""
        return (np.clip(q, self.first, self.last) - self.first) // self.size

    def edge(self, cell: float) -> int:
        """The lattice integer at a place in a cell, in the range.

        A cell holds the integers from its start to before the next, so a place is rounded down.
        """
        return min(self.last, self.first + math.floor(cell * self.size))


@dataclass(frozen=True, slots=True, eq=False)
class TreeDistribution:
    """Shares of people in consecutive stretches of cells.

    Stretch i holds the cells edges[i] .. edges[i + 1] - 1. The ``shares`` are fitted, so some may
    be negative; ``bounded`` are the same made non-negative from the root down. Both add up to 1.
    ``variance`` is that of the share below a cell, averaged over all cells, who is asked included.
    """

    edges: Integers
    shares: Floats
    bounded: Floats
    variance: float

    def below(self, cell: float) -> float:
        """Share of people in cells below ``cell``, which may split a stretch."""
        return float(np.interp(cell, self.edges, np.append(0.0, np.cumsum(self.shares))))

    def deviation(self, clients: int) -> float:
        """Root mean square over all cells of the deviation from what these clients hold.

        They are a sample themselves, of variance F (1 - F)/n for a share F; what is unbiased
        given this sample contains it.
        """
        below = np.clip(np.cumsum(self.shares)[:-1], 0.0, 1.0)
        middle = (self.edges[2:] - self.edges[:-2]) / 2
        sampled = float((below * (1 - below) * middle).sum() / self.edges[-1]) / max(1, clients)
        return math.sqrt(min(1.0, max(0.0, self.variance - sampled)))

    def rank(self, share: float) -> float:
        """The cell, or a point in a stretch, below which that share lies."""
        sums = np.append(0.0, np.cumsum(self.bounded))
        i = int(np.clip(np.searchsorted(sums, share, side="right") - 1, 0, len(self.shares) - 1))
        if self.bounded[i] <= 0:
            return float(self.edges[i])
        part = min(1.0, max(0.0, (share - float(sums[i])) / float(self.bounded[i])))
        return float(self.edges[i]) + part * float(self.edges[i + 1] - self.edges[i])


def fit_distribution(
    tree: Tree,
    shares: Shares,
    information: Floats,
    *,
    sure: float | Sequence[float] = 0.0,
    spread: Spread | None = None,
) -> TreeDistribution:
    """Estimate a distribution from separate estimates of every level.

    ``information`` is one over the variance of an empty node's share, for each level, and 0 where
    nobody answered. ``bounded`` ignores shares below ``sure`` standard deviations of their level,
    beside siblings that have more. With ``spread`` there is a second fit.

    Notes
    -----
    [local.8] Below each level only the 256 nodes that look largest have children; the others stay
    whole. So all of a tree with 1024 cells is looked at. In a deeper one the choice is
    post-processing, and a node that stays whole loses no mass; but those chosen look larger than
    they are.
    [local.7] On the tree so chosen, shares are made to fit by weighted least squares (Hay et al.
    2010, for unequal variances): upwards, a node's own estimate and the sum of its children's are
    averaged by their information; downwards, what a parent has more than its children is spread
    over these by their variances. The root is 1. Linear, with weights that depend on counts of
    answers alone: unbiased if the tree was not chosen. A share that is not small has more variance
    than an empty node, by who is asked; with ``spread``, the fit is made again with the variances
    of the first one's shares, whose noise biases it in the second order.
    """
    levels = _levels(tree, shares)
    information = np.maximum(information, _LEAST_INFORMATION)
    fitted, variances = _fitted(levels, 1 / information)
    if spread is not None:
        most = 1 / _LEAST_INFORMATION
        given = [np.minimum(spread(i, x), most) for i, x in enumerate(fitted, 1)]
        fitted, variances = _fitted(levels, given)
    bounded = _bounded(levels, fitted, np.asarray(sure) / np.sqrt(information))
    closed = np.concatenate([~level.open for level in levels])
    sizes = tree.branching ** np.arange(tree.depth - 1, -1, -1)
    starts = np.concatenate([x.nodes * size for x, size in zip(levels, sizes, strict=True)])[closed]
    order = np.argsort(starts)
    return TreeDistribution(
        np.append(starts[order], tree.cells),
        np.concatenate(fitted)[closed][order],
        np.concatenate(bounded)[closed][order],
        _prefix_variance(tree, levels, variances),
    )


def significant_end(
    tree: Tree, shares: Shares, information: Floats, *, sure: Sequence[float]
) -> float:
    """The cell, or a point in it, beyond which nothing stands out of the noise.

    ``sure`` says by how many standard deviations, at each level; the rest is as for
    :func:`fit_distribution`.

    Notes
    -----
    [local.9] From the root down, the last child is taken that, together with its later siblings,
    holds more people than noise makes up. What lies beyond is few people, O(sqrt(n)). A false step
    near the root leads far into empty places, one near the cells leads nowhere: so the first levels
    have to be surer. The last child is cut where as many are left as noise makes up.
    """
    levels = _levels(tree, shares)
    information = np.maximum(information, _LEAST_INFORMATION)
    above, end = 0, float(tree.cells)
    for depth, (level, fitted) in enumerate(
        zip(levels, _fitted(levels, 1 / information)[0], strict=True), 1
    ):
        mine = np.flatnonzero(level.parents == above)
        tails = np.append(np.cumsum(fitted[mine][::-1])[::-1], 0.0)
        noise = sure[depth - 1] * np.sqrt(np.arange(len(mine), 0, -1) / information[depth - 1])
        taken = np.flatnonzero(tails[:-1] > noise)
        last = int(taken[-1]) if len(taken) else int(np.argmax(fitted[mine]))
        place, own = int(mine[last]), float(fitted[mine[last]])
        spare = float(tails[last] - noise[last])
        part = min(1.0, spare / own) if spare > 0 and own > 0 else 1.0
        end = (int(level.nodes[place]) + part) * tree.branching ** (tree.depth - depth)
        if not level.open[place]:
            break
        above = int(level.open[:place].sum())
    return end


def heaviest_path(tree: Tree, shares: Shares) -> tuple[int, Floats]:
    """The cell whose path from the root has the largest sum of shares, and those shares.

    Of each level the 64 best paths are followed.
    """
    above = np.zeros(1)
    nodes = np.arange(tree.branching, dtype=np.int64)
    for level in range(1, tree.depth + 1):
        sums = np.repeat(above, tree.branching) + shares(level, nodes)
        best = np.argsort(-sums, kind="stable")[:_PATHS]
        above, kept = sums[best], nodes[best]
        nodes = (kept[:, None] * tree.branching + np.arange(tree.branching)).ravel()
    path = [float(shares(i, tree.node(kept[:1], i))[0]) for i in range(1, tree.depth + 1)]
    return int(kept[0]), np.array(path)


def prefix_deviation(tree: Tree, information: Floats) -> float:
    """Root mean square deviation of the share below a cell, over all cells, after the fit.

    Given its parent's share, the fit leaves a node a variance of u, by its own estimate and those
    below it, and siblings add up to the parent. A share below a cell takes k of B siblings and a
    part f of the next, whose own error is spread evenly over its cells: a variance of
    (k + f² - (k + f)²/B) u, averaged over all cells. Levels add up. (Cormode, Kulkarni and
    Srivastava 2019 have a bound of more than twice as much.)
    """
    total, below, parts, b = 0.0, math.inf, 1.0, tree.branching
    for own in 1 / np.maximum(information[::-1], _LEAST_INFORMATION):
        fitted = own if math.isinf(below) else own * below / (own + below)
        # f is one of 0, 1/parts, .., and k + f one of so many B times as far.
        part = (1 - 1 / parts) * (2 - 1 / parts) / 6
        whole = (b - 1 / parts) * (2 * b - 1 / parts) / 6
        total += ((b - 1) / 2 + part - whole / b) * fitted
        below, parts = b * fitted, b * parts
    return min(1.0, math.sqrt(total))


@dataclass(slots=True)
class _Level:
    nodes: Integers
    parents: Integers  # places in the level above
    open: Flags  # whether the node has children here
    shares: Floats


def _levels(tree: Tree, shares: Shares) -> list[_Level]:
    """Look at the children of the root, then at those of the nodes that look largest."""
    levels: list[_Level] = []
    nodes = np.arange(tree.branching, dtype=np.int64)
    parents = np.zeros(tree.branching, np.int64)
    above = np.ones(1)
    for depth in range(1, tree.depth + 1):
        found = shares(depth, nodes)
        # A rough fit, from the root down, to choose by.
        sums = np.bincount(parents, weights=found, minlength=len(above))
        rough = found + ((above - sums) / tree.branching)[parents]
        chosen = np.zeros(len(nodes), np.bool_)
        if depth < tree.depth:
            chosen[np.argsort(-rough, kind="stable")[:_PARENTS]] = True
        levels.append(_Level(nodes, parents, chosen, found))
        above = rough[chosen]
        parents = np.repeat(np.arange(len(above), dtype=np.int64), tree.branching)
        children = nodes[chosen, None] * tree.branching + np.arange(tree.branching)
        nodes = children.ravel()
    return levels


def _fitted(
    levels: list[_Level], given: Floats | list[Floats]
) -> tuple[list[Floats], list[Floats]]:
    """Weighted least squares on the tree, [local.7]; given the variances of levels or of nodes.

    Returns the shares, and the variances by each node's own estimate and those below it.
    """
    means = [level.shares.copy() for level in levels]
    variances = [np.zeros(len(x.nodes)) + each for x, each in zip(levels, given, strict=True)]
    for here in range(len(levels) - 2, -1, -1):
        level, below = levels[here], levels[here + 1]
        count = int(level.open.sum())
        sums = np.bincount(below.parents, weights=means[here + 1], minlength=count)
        spread = np.bincount(below.parents, weights=variances[here + 1], minlength=count)
        own = variances[here][level.open]
        weight = spread / (own + spread)
        means[here][level.open] = weight * means[here][level.open] + (1 - weight) * sums
        variances[here][level.open] = own * weight
    above = np.ones(1)
    for here, level in enumerate(levels):
        sums = np.bincount(level.parents, weights=means[here], minlength=len(above))
        spread = np.bincount(level.parents, weights=variances[here], minlength=len(above))
        means[here] += variances[here] * ((above - sums) / spread)[level.parents]
        above = means[here][level.open]
    return means, variances


def _prefix_variance(tree: Tree, levels: list[_Level], variances: list[Floats]) -> float:
    """Variance of the share below a cell after the fit, averaged over all cells, [local.7].

    Let the part of a node that is counted below a cell be a share b of it, plus an error that does
    not depend on it: b = 0 for the cell itself, evenly spread over the cells of a node that stays
    whole. Given its parent, a node's share x has the variance v that its own and lower levels
    leave, and siblings add up to the parent. With the siblings before it the part is a + b x, of
    variance A + b² v - (A + b v)²/V, A and V the sums of v before it and of all; and an increase of
    the parent moves it by (A + b v)/V. So the mean, the mean square of b and the variance are
    carried from the cells to the root, for all cells of a stretch together.
    """
    owner = np.zeros(0, np.int64)
    first, second, found, weight = np.zeros((4, 0))
    for depth in range(len(levels), 0, -1):
        level, own = levels[depth - 1], variances[depth - 1]
        whole = np.flatnonzero(~level.open)
        size = float(tree.branching ** (tree.depth - depth))
        rest = 1 - 1 / size
        new = np.array([[rest / 2], [rest * (2 - 1 / size) / 6], [0.0], [size]])
        owner = np.append(np.flatnonzero(level.open)[owner], whole)
        first, second, found, weight = np.concatenate(
            [[first, second, found, weight], np.repeat(new, len(whole), axis=1)], axis=1
        )
        families = own.reshape(-1, tree.branching)
        v, before = own[owner], (np.cumsum(families, axis=1) - families).ravel()[owner]
        parent = level.parents[owner]
        total = families.sum(axis=1)[parent]
        moved = before**2 + 2 * before * v * first + v**2 * second
        found += before + second * v - moved / total
        first, second, owner = (before + v * first) / total, moved / total**2, parent
    return float(weight @ found / weight.sum())


def _bounded(levels: list[_Level], fitted: list[Floats], least: Floats) -> list[Floats]:
    """Cut small shares at 0 and scale siblings to their parent, from the root down.

    Where no sibling is large, all that are positive count; where none is, all count alike.
    """
    result = []
    above = np.ones(1)
    for level, shares, bound in zip(levels, fitted, least, strict=True):
        parents = level.parents

        def total(part: Floats, parents: Integers = parents) -> Any:
            return np.bincount(parents, weights=part)[parents]

        positive = np.maximum(shares, 0.0)
        cut = np.where(shares > bound, shares, 0.0)
        cut = np.where(total(cut) > 0, cut, positive)
        cut = np.where(total(cut) > 0, cut, 1.0)
        kept = cut / total(cut) * above[parents]
        result.append(kept)
        above = kept[level.open]
    return result
