"""Answers about nodes of a tree, and what they tell of the shares of people there.

One symbol from each client, about one level.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.mechanisms.window_response import Window, WindowResponse
from modicum.privacy.event import Event, PureDP
from modicum.protocols.local.protocol import (
    Answers,
    Flags,
    Floats,
    Integers,
    Round,
    Words,
    digits,
    pick,
)
from modicum.protocols.local.tree import (
    Shares,
    Tree,
    TreeCells,
    TreeDistribution,
    fit_distribution,
    prefix_deviation,
    significant_end,
)

_MOST_SYMBOLS = 1021  # a prime; the largest alphabet that is considered
_BLOCK = 1 << 22  # pairs of an answer and a node that are compared at a time
_FLAT = 256  # nodes of one level at most: a sum of more has more noise than levels have
_ATTRIBUTE, _LEVEL = 1, 2  # the public words that choose them


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

    def free_spread(self, share: Floats) -> Floats:
        """Variances of one answer's estimates for all nodes of a level, if they were independent.

        As a client is in one node, two estimates have the covariance - share share' besides. Made
        to add up to 1, independent ones of the variances here have it again [local.7]. Without a
        hash an answer hits one node, and the same holds of hits.
        """
        held = np.clip(share, 0.0, 1.0)
        hit = held if self.hashed else held + self.false_hit / (self.hit - self.false_hit)
        return np.asarray(self.spread(share) + hit**2)

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
            return self.oracle(level).free_spread(held) / float(max(counts[level - 1], 1e-12))

        return fit_distribution(
            self.tree, shares, self._information(counts), sure=sure, spread=spread
        )

    def significant_end(self, answers: Answers, *, sure: Sequence[float]) -> float:
        """Where the cells end that people hold, by the function of that name."""
        shares, counts = self.estimates(answers)
        return significant_end(self.tree, shares, self._information(counts), sure=sure)

    def deviation(self, clients: float) -> float:
        """Typical standard deviation of the share below a point, if that many clients answer."""
        count, tree = clients / self.attributes, self.tree
        if not count:
            return 1.0
        # The noise of a node that B^-l of the people hold, at level l.
        noise = [
            each.variance + (each.held_variance - each.variance) / tree.nodes(level)
            for level, each in enumerate(self.oracles, 1)
        ]
        drawn = prefix_deviation(tree, count / tree.depth / np.array(noise))
        # Who is asked, for shares F with an average F (1 - F) of 1/6: what lies inside a node of
        # level l - 1, B^(1-l) of all, is asked of those of level l and below, h - l + 1 in h; the
        # more, the less it differs from what all say.
        asked = sum(
            (tree.depth / (tree.depth - above) - 1) / tree.branching**above
            for above in range(tree.depth)
        )
        return min(1.0, math.hypot(drawn, math.sqrt(asked / 6 / count)))

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
