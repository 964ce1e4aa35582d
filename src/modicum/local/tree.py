"""How many people hold a node of a tree over a range: one symbol from each, about one level.

The tree and its frequency oracles, and shares of people at its nodes that fit together.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.local.protocol import (
    Answers,
    Flags,
    Floats,
    Integers,
    Round,
    Words,
    digits,
    pick,
)
from modicum.mechanisms.window_response import Window, WindowResponse
from modicum.privacy.event import Event, PureDP

BRANCHING = 4  # children of a node; measured in benchmarks/local.py
_PARENTS = 256  # nodes of a level whose children are looked at
_PATHS = 64  # that are followed from level to level
_LEAST_INFORMATION = 1e-12  # of a level nobody answered about
_MOST_SYMBOLS = 1021  # a prime; the largest alphabet that is considered
_BLOCK = 1 << 22  # pairs of an answer and a node that are compared at a time
_FLAT = 256  # nodes of one level at most: a sum of more has more noise than levels have
_ATTRIBUTE, _LEVEL = 1, 2  # the public words that choose them

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
    """

    edges: Integers
    shares: Floats
    bounded: Floats

    def below(self, cell: float) -> float:
        """Share of people in cells below ``cell``, which may split a stretch."""
        return float(np.interp(cell, self.edges, np.append(0.0, np.cumsum(self.shares))))

    @property
    def mixed(self) -> float:
        """Average of F (1 - F) over all cells, F the share below them."""
        below = np.clip(np.cumsum(self.shares)[:-1], 0.0, 1.0)
        middle = (self.edges[2:] - self.edges[:-2]) / 2
        return float((below * (1 - below) * middle).sum() / self.edges[-1])

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
    fitted = _fitted(levels, 1 / information)
    if spread is not None:
        most = 1 / _LEAST_INFORMATION
        fitted = _fitted(levels, [np.minimum(spread(i, x), most) for i, x in enumerate(fitted, 1)])
    bounded = _bounded(levels, fitted, np.asarray(sure) / np.sqrt(information))
    closed = np.concatenate([~level.open for level in levels])
    sizes = tree.branching ** np.arange(tree.depth - 1, -1, -1)
    starts = np.concatenate([x.nodes * size for x, size in zip(levels, sizes, strict=True)])[closed]
    order = np.argsort(starts)
    return TreeDistribution(
        np.append(starts[order], tree.cells),
        *(np.concatenate(each)[closed][order] for each in (fitted, bounded)),
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
        zip(levels, _fitted(levels, 1 / information), strict=True), 1
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


def _fitted(levels: list[_Level], given: Floats | list[Floats]) -> list[Floats]:
    """Weighted least squares on the tree, [local.7]; given the variances of levels or of nodes."""
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
    return means


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


# The answers, and what they tell of the nodes.


@dataclass(frozen=True, slots=True)
class Oracle:
    """A frequency oracle for ``nodes`` nodes at pure ε.

    A node is written in base q, q prime, as a vector over the field of q elements. A client's
    public vector j maps it to the symbol <j, node> mod q, and the client answers by randomised
    response among q symbols. With ``hashed`` false there is no hash, and q is the number of nodes.

    Notes
    -----
    [local.6] Two nodes have equal symbols with probability 1/q over a uniform j, since their
    difference is not zero. So a node that is not the client's is hit with probability 1/q, whatever
    the answer's law, and its own with p = e^ε/(e^ε + q - 1): (hit - r)/(p - r) is unbiased,
    r = 1/q. Without a hash r = 1/(e^ε + q - 1). It is local hashing (Wang, Blocki, Li and Jha 2017)
    with a linear family; for q = 2 it is Hadamard response.
    """

    nodes: int
    symbols: int  # q
    hashed: bool
    epsilon: Fraction

    @property
    def window(self) -> Window:
        """The public part of an answer's mechanism."""
        return Window(self.symbols - 1, 1, self.epsilon)

    @property
    def hit(self) -> float:
        """Probability that an answer hits its own node."""
        return self.window.inside

    @property
    def false_hit(self) -> float:
        """Probability that an answer hits a given other node than its own."""
        return 1 / self.symbols if self.hashed else (1 - self.hit) / (self.symbols - 1)

    @property
    def variance(self) -> float:
        """Variance of one client's estimate of a node that they do not hold."""
        return self.false_hit * (1 - self.false_hit) / (self.hit - self.false_hit) ** 2

    @property
    def held_variance(self) -> float:
        """Variance of one client's estimate of a node that they hold."""
        return self.hit * (1 - self.hit) / (self.hit - self.false_hit) ** 2

    def spread(self, share: Floats | float) -> Floats:
        """Variance of one answer about a node that a share of all people holds.

        Which clients are asked is random too: an answer hits with probability h = r + (p - r)
        share.
        """
        hit = self.false_hit + (self.hit - self.false_hit) * np.clip(share, 0.0, 1.0)
        return np.asarray(hit * (1 - hit) / (self.hit - self.false_hit) ** 2)

    @property
    def _length(self) -> int:
        return Tree.over(self.nodes, branching=self.symbols).depth

    def encoded(self, nodes: Integers, found: Words) -> Integers:
        """The symbols of nodes, one for each client, shape (n,)."""
        if not self.hashed:
            return nodes
        total = np.zeros(len(nodes), np.int64)
        rest = nodes.copy()
        for digit in digits(found, self.symbols, self._length).T:
            rest, lowest = np.divmod(rest, self.symbols)
            total += digit * lowest
        return total % self.symbols

    def estimated(self, answers: Integers, found: Words, nodes: Integers) -> Floats:
        """Estimate the share of clients at each of ``nodes``; zeros if nobody answered."""
        if not len(answers):
            return np.zeros(len(nodes))
        hits = self._hits(answers, found, nodes) / len(answers)
        return (hits - self.false_hit) / (self.hit - self.false_hit)

    def _hits(self, answers: Integers, found: Words, nodes: Integers) -> Floats:
        if not self.hashed:
            return np.bincount(answers, minlength=self.nodes)[nodes].astype(np.float64)
        q, length = self.symbols, self._length
        # Products stay below length q² <= 2^27: exact in float64, whose matrix product is fast.
        keys = digits(found, q, length).astype(np.float64)
        own = (nodes[:, None] // q ** np.arange(length)) % q
        hits = np.zeros(len(nodes))
        # Which sums are which symbol, looked up instead of divided.
        symbol = (np.arange(length * (q - 1) ** 2 + 1) % q).astype(np.int16)
        rows = max(1, _BLOCK // max(1, len(nodes)))
        for start in range(0, len(answers), rows):
            sums = (keys[start : start + rows] @ own.T).astype(np.int32)
            hits += (symbol[sums] == answers[start : start + rows, None]).sum(axis=0)
        return hits


@functools.lru_cache(maxsize=1024)
def oracle(nodes: int, epsilon: Fraction) -> Oracle:
    """Return the oracle of least variance: plain randomised response, or hashed to a prime."""
    choices = [Oracle(nodes, q, True, epsilon) for q in _primes()]
    if 2 <= nodes <= _MOST_SYMBOLS:
        choices.append(Oracle(nodes, nodes, False, epsilon))
    return min(choices, key=lambda choice: choice.variance)


@functools.cache
def _primes() -> tuple[int, ...]:
    return tuple(
        q for q in range(2, _MOST_SYMBOLS + 1) if all(q % d for d in range(2, math.isqrt(q) + 1))
    )


class SymbolRound(Round):
    """A round whose answer is one symbol, at pure ε."""

    __slots__ = ()
    epsilon: Fraction

    @property
    def event(self) -> Event:
        return PureDP(self.epsilon)

    @property
    def answer(self) -> np.dtype[Any]:
        return np.dtype("<u2")

    def stored(self, outcome: int) -> NDArray[Any]:
        return np.array([outcome], self.answer)


@dataclass(frozen=True, slots=True)
class TreeRound(SymbolRound):
    """Hierarchical histograms (Cormode, Kulkarni and Srivastava 2019) of several attributes.

    Attributes are numbers in a row, each with its own tree. A client is asked about one.
    """

    tree: Tree
    epsilon: Fraction
    attributes: int = 1

    def __post_init__(self) -> None:
        # Public words can choose among so many.
        if not 1 <= self.attributes <= 1 << 11:
            raise InvalidArgument(f"there can be 1 to 2048 attributes, got {self.attributes}")

    def oracle(self, level: int) -> Oracle:
        return oracle(self.tree.nodes(level), self.epsilon)

    @property
    def oracles(self) -> list[Oracle]:
        """The frequency oracles of all levels, from the root down."""
        return [self.oracle(level) for level in range(1, self.tree.depth + 1)]

    def mechanism(self, row: Integers, found: Words) -> WindowResponse:
        row, found = np.atleast_2d(row), np.atleast_2d(found)
        attributes, levels = self._asked(found)
        attribute, level = int(attributes[0]), int(levels[0])
        asked = self.oracle(level)
        (symbol,) = asked.encoded(self.tree.node(row[:, attribute], level), found)
        return WindowResponse(Fraction(int(symbol)), asked.window)

    def draw(self, rows: Integers, found: Words, entropy: Entropy) -> NDArray[Any]:
        attributes, levels = self._asked(found)
        cells = rows[np.arange(len(rows)), attributes]
        answers = np.empty(len(rows), self.answer)
        for level, asked in enumerate(self.oracles, 1):
            mine = levels == level
            symbols = asked.encoded(self.tree.node(cells[mine], level), found[mine])
            answers[mine] = asked.window.sample_many(symbols, entropy)
        return answers

    def possible(self, answers: NDArray[Any], found: Words) -> Flags:
        most = np.array([asked.symbols for asked in self.oracles])
        possible: Flags = answers < most[self._asked(found)[1] - 1]
        return possible

    def distribution(
        self, answers: Answers, attribute: int = 0, *, sure: float | Sequence[float] = 0.0
    ) -> TreeDistribution:
        """Estimate the distribution of an attribute, by :func:`fit_distribution`."""
        shares, counts = self.estimates(answers, attribute)

        def spread(level: int, held: Floats) -> Floats:
            return self.oracle(level).spread(held) / float(max(counts[level - 1], 1e-12))

        return fit_distribution(
            self.tree, shares, self._information(counts), sure=sure, spread=spread
        )

    def significant_end(self, answers: Answers, *, sure: Sequence[float]) -> float:
        """Where the cells end that people hold, by the function of that name."""
        shares, counts = self.estimates(answers)
        return significant_end(self.tree, shares, self._information(counts), sure=sure)

    def deviation(self, clients: float, *, mixed: float = 1 / 6) -> float:
        """Typical standard deviation of the share F below a point, if that many clients answer.

        ``mixed`` is the average of F (1 - F) over points: 1/6 if F is uniform in [0, 1].
        """
        count, tree = clients / self.attributes, self.tree
        if not count:
            return 1.0
        # The noise of a node that B^-l of the people hold, at level l.
        noise = [
            each.variance + (each.held_variance - each.variance) / tree.nodes(level)
            for level, each in enumerate(self.oracles, 1)
        ]
        drawn = prefix_deviation(tree, count / tree.depth / np.array(noise))
        # Who is asked: what lies inside a node of level l - 1, B^(1-l) of all, is asked of those
        # of level l and below, h - l + 1 in h; the more, the less it differs from what all say.
        asked = sum(
            (tree.depth / (tree.depth - above) - 1) / tree.branching**above
            for above in range(tree.depth)
        )
        return min(1.0, math.hypot(drawn, math.sqrt(mixed * asked / count)))

    def level_deviation(self, clients: float) -> float:
        """Typical standard deviation of a quarter of the people, by the answers of one level."""
        spreads = [float(asked.spread(0.25)) for asked in self.oracles]
        each = clients / self.attributes / self.tree.depth
        return math.sqrt(sum(spreads) / self.tree.depth / max(each, 1e-12))

    def influence(self) -> float:
        """The most that one answer moves a node's share, times the number of its level's answers.

        An answer hits a node or not, which differ by 1/(p - r).
        """
        return max(1 / (asked.hit - asked.false_hit) for asked in self.oracles)

    def estimates(self, answers: Answers, attribute: int = 0) -> tuple[Shares, Floats]:
        """The shares of an attribute at each level's nodes, and how many answers each level has."""
        attributes, levels = self._asked(answers.words)
        parts = {}
        for level in range(1, self.tree.depth + 1):
            mine = (attributes == attribute) & (levels == level)
            parts[level] = (answers.values[mine].astype(np.int64), answers.words[mine])

        def shares(level: int, nodes: Integers) -> Floats:
            return self.oracle(level).estimated(*parts[level], nodes)

        return shares, np.array([len(parts[level][0]) for level in parts], np.float64)

    def _information(self, counts: Floats) -> Floats:
        return np.asarray(counts / np.array([asked.variance for asked in self.oracles]))

    def _asked(self, found: Words) -> tuple[Integers, Integers]:
        """The attribute and the level that clients are asked about."""
        attributes = pick(found[:, _ATTRIBUTE], self.attributes)
        return attributes, 1 + pick(found[:, _LEVEL], self.tree.depth)


def best_tree(cells: TreeCells, epsilon: Fraction) -> Tree:
    """The tree over cells whose predicted variance of a share below a point and of a cell is least.

    That is one level if there are few cells, else levels in which each node has four parts. The sum
    of both variances is compared.
    """
    count = -(-(cells.last - cells.first + 1) // cells.size)
    choices = [cells.tree]
    if 2 <= count <= _FLAT:
        choices.append(Tree(count, 1))
    return min(choices, key=lambda tree: _planned(TreeRound(tree, epsilon)))


def _planned(asked: TreeRound) -> float:
    """Variance of the share below a point and of a cell, times the clients, whose number is large.

    A cell's own level is asked of one client in h, and siblings add up to their parent.
    """
    tree, clients = asked.tree, 1e9
    own = asked.oracle(tree.depth).variance * tree.depth * (1 - 1 / tree.branching)
    return asked.deviation(clients) ** 2 * clients + own + (tree.depth - 1) / tree.cells
