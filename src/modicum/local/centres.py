"""The centre of each coordinate of many vectors, in a range of any width."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modicum.local.cells import Cells
from modicum.local.round import Answers
from modicum.local.tree import Shares, Tree, heaviest
from modicum.local.tree_round import TreeRound

__all__ = ["centres"]

_KERNEL = 0.8  # deviation of the kernel, in nodes of the level where people spread
_REACH = 4  # such nodes around the heaviest path in which the centre is looked for
_FINE = 8  # places that are tried, for each such node


def centres(asked: TreeRound, answers: Answers, cells: Cells) -> list[int]:
    """Return a point amid the people for each coordinate, in lattice integers.

    Notes
    -----
    [C1] The heaviest path, from the root to a cell, is that with the largest sum of its nodes'
    shares. Above the level where people spread, nearly all of them are in one node or in two
    neighbours, and another path would lose their whole share at every level from where it leaves;
    so a wide range costs levels, and no accuracy but theirs.
    [C2] People spread where the path's shares fall off. A rotation makes coordinates alike, so that
    level is looked for in the average over all coordinates: where the sum of what shares exceed a
    threshold by is largest. The threshold lies between a half and one, higher where noise chooses
    among children.
    [C3] The centre is the mode of the shares of that level and the next, smoothed by a Gaussian
    kernel about as wide as the people. It uses noise of some ten nodes, each by its distance; a
    median has that of all nodes on one side, and is off by twice as much.
    """
    estimates = [asked.estimates(answers, j)[0] for j in range(asked.attributes)]
    paths = [heaviest(asked.tree, shares) for shares in estimates]
    noise = asked.level_deviation(len(answers.values))
    excess = np.mean([held for _, held in paths], axis=0) - min(0.9, 0.55 + 0.7 * noise)
    level = min(asked.tree.depth, int(np.argmax(np.cumsum(excess))) + 2)
    return [
        cells.edge(_mode(asked.tree, shares, leaf, level))
        for shares, (leaf, _) in zip(estimates, paths, strict=True)
    ]


def _mode(tree: Tree, shares: Shares, leaf: int, level: int) -> float:
    """Return the mode of the smoothed shares near a cell, [C3]."""
    size = tree.branching ** (tree.depth - level)
    places = leaf + 0.5 + size * np.linspace(-_REACH, _REACH, 2 * _REACH * _FINE + 1)
    found = np.zeros(len(places))
    for below in range(min(2, tree.depth - level + 1)):
        part = size // tree.branching**below
        reach = 2 * _REACH * size // part
        first = max(0, leaf // part - reach)
        nodes = np.arange(first, min(tree.nodes(level + below), leaf // part + reach + 1))
        far: NDArray[np.float64] = ((nodes + 0.5) * part - places[:, None]) / (_KERNEL * size)
        # A sum over nodes B times as many has B times the variance.
        found += np.exp(-far * far / 2) @ shares(level + below, nodes) / tree.branching**below
    return float(places[np.argmax(found)])
