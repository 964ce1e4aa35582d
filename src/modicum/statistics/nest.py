"""The tree in which several quantiles are drawn, and how a budget is divided along its paths.

Only public numbers enter: the q, the budget, the number of lattice points. A node's draw misses its
rank with a variance of about 2 (2 m / ε)², m = max(q, 1 - q) of the node, where records lie about
evenly. A quantile below it inherits the miss in proportion to how near it is to the node, compared
with the node's ends. Minimised is the sum of the variances of all quantiles: over all trees, and
over all divisions of the budget such that no path spends more than all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from modicum.mechanisms.quantile_tree import Node

__all__ = ["Branch", "TreePlan", "drift_of", "nodes_of", "planned", "tree_of"]

NEGLIGIBLE = 60.0  # candidates at the cap together weigh at most e^-60 of all
_DRIFT = 24.0  # a node misses by more than this many scales once in e^24
_ALL_TRIED = 12  # of more quantiles between two ends, only those near the middle are tried first
_BITS = 20


@dataclass(frozen=True, slots=True)
class Branch:
    """One node of a tree, before it has a budget.

    Attributes
    ----------
    place, left, right : int
        As for :class:`~modicum.mechanisms.quantile_tree.Node`.
    q : Fraction
        As there.
    share : Fraction
        Its share of what its path has left.
    depth : int
    """

    place: int
    left: int
    right: int
    q: Fraction
    share: Fraction
    depth: int


@dataclass(frozen=True, slots=True)
class TreePlan:
    """Nodes of a tree with their budgets.

    Attributes
    ----------
    nodes : tuple of Node
        Parents first.
    reaches : tuple of int
        Ranks around each quantile on which its node depends, wherever its ends may lie.
    """

    nodes: tuple[Node, ...]
    reaches: tuple[int, ...]


@lru_cache(maxsize=64)
def tree_of(qs: tuple[Fraction, ...], power: Fraction) -> tuple[Branch, ...]:
    """Choose the tree and the shares, parents first.

    Parameters
    ----------
    qs : tuple of Fraction
        Increasing, in (0, 1).
    power : Fraction
        1/3 if the ε of a path add up, 1/2 if their squares do: sums of A / ε² along a path are
        least if each ε (or ε²) is in proportion to A to this power.

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

    branches: list[Branch] = []

    def grow(a: int, b: int, depth: int) -> None:
        _, k, share = best(a, b)
        if b - a < 2:
            return
        low, high = (Fraction(0) if a == 0 else qs[a - 1]), (qs[b - 1] if b <= len(qs) else 1)
        q = (qs[k - 1] - low) / (high - low)
        part = Fraction(round(share * 2**_BITS), 2**_BITS)
        branches.append(Branch(k - 1, a - 1, b - 1, q, part, depth))
        grow(a, k, depth + 1)
        grow(k, b, depth + 1)

    grow(0, len(at) - 1, 0)
    return tuple(sorted(branches, key=lambda branch: (branch.depth, branch.place)))


def nodes_of(
    tree: tuple[Branch, ...],
    amount: Fraction,
    range_of: Callable[[Fraction], Fraction],
    points: int,
) -> tuple[Node, ...]:
    """Give every node of a tree its part of an amount.

    Parameters
    ----------
    amount : Fraction
        Of ε or ρ, for each path.
    range_of : callable
        Size of the bounded range that an amount buys.
    points : int
        Number of candidates.
    """
    left: dict[tuple[int, int], Fraction] = {(-1, len(tree)): amount}
    nodes = []
    for branch in tree:
        rest = left[branch.left, branch.right]
        own = rest * branch.share
        left[branch.left, branch.place] = left[branch.place, branch.right] = rest - own
        epsilon = range_of(own)
        scale = 2 * float(max(branch.q, 1 - branch.q) / epsilon)
        cap = math.ceil((math.log(points) + NEGLIGIBLE) * scale)
        nodes.append(Node(branch.place, branch.left, branch.right, branch.q, epsilon, cap))
    return tuple(nodes)


@lru_cache(maxsize=64)
def planned(
    qs: tuple[Fraction, ...],
    power: Fraction,
    amount: Fraction,
    range_of: Callable[[Fraction], Fraction],
    points: int,
) -> TreePlan:
    """Choose the tree of quantiles, and divide an amount; parameters as for those two."""
    nodes = nodes_of(tree_of(qs, power), amount, range_of, points)
    drift = drift_of(nodes)
    reaches = {node.place: node.cap + drift[node.place] + 2 for node in nodes}
    return TreePlan(nodes, tuple(reaches[place] for place in range(len(qs))))


def drift_of(nodes: tuple[Node, ...]) -> dict[int, int]:
    """Ranks by which the ends of each place may miss, at most, but for once in e^24."""
    missed = {-1: 0, len(nodes): 0}
    ends: dict[int, int] = {}
    for node in nodes:
        ends[node.place] = max(missed[node.left], missed[node.right])
        missed[node.place] = ends[node.place] + math.ceil(_DRIFT / float(node.rate))
    return ends
