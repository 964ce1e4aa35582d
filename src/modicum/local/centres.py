"""The centre of each coordinate of many vectors, in a range of any width."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modicum.local.cells import Cells
from modicum.local.round import Answers
from modicum.local.tree import Shares, heaviest
from modicum.local.tree_round import TreeRound

__all__ = ["centres"]

_REACH = 4  # nodes of the level where people spread, around the heaviest path, that are searched
_FINE = 8  # places that are tried, for each such node
_SPREADS = tuple(2 ** (k / 2 - 3.5) for k in range(11))  # scales that are tried, in such nodes
_LEVELS = -1, 0, 1, 2  # about that level, which take part in the fit


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
    [C3] Near the path, a logistic distribution is fitted to the shares of four levels by least
    squares, with one scale for all coordinates, and its place is the centre. Any other curve with
    one hump would do: a centre has to lie amid the people. The fit weighs all shares by what they
    tell about the place; a median has the whole noise of all nodes on one side.
    """
    estimates = [asked.estimates(answers, j)[0] for j in range(asked.attributes)]
    paths = [heaviest(asked.tree, shares) for shares in estimates]
    noise = asked.level_deviation(len(answers.values))
    excess = np.mean([held for _, held in paths], axis=0) - min(0.9, 0.55 + 0.7 * noise)
    level = min(asked.tree.depth, int(np.argmax(np.cumsum(excess))) + 2)
    size = asked.tree.branching ** (asked.tree.depth - level)
    steps = size * np.linspace(-_REACH, _REACH, 2 * _REACH * _FINE + 1)
    fits = np.array(
        [
            _fit(asked, shares, leaf + 0.5 + steps, level)
            for shares, (leaf, _) in zip(estimates, paths, strict=True)
        ]
    )
    scale = int(np.argmax(fits.max(axis=2).sum(axis=0)))
    chosen = np.argmax(fits[:, scale], axis=1)
    return [
        cells.edge(float(np.clip(leaf + 0.5 + steps[place], 0, asked.tree.cells)))
        for (leaf, _), place in zip(paths, chosen.tolist(), strict=True)
    ]


def _fit(
    asked: TreeRound, shares: Shares, places: NDArray[np.float64], level: int
) -> NDArray[np.float64]:
    """Return by how much each scale and place lowers the squares of shares near the path, [C3]."""
    tree = asked.tree
    found = np.zeros((len(_SPREADS), len(places)))
    for here in sorted({min(max(level + step, 1), tree.depth) for step in _LEVELS}):
        size = tree.branching ** (tree.depth - here)
        first = max(0, int(places[0] // size) - 1)
        last = min(tree.nodes(here) - 1, int(places[-1] // size) + 1)
        held = shares(here, np.arange(first, last + 1))
        edges = np.arange(first, last + 2) * float(size) - places[:, None]
        for i, spread in enumerate(_SPREADS):
            scale = spread * tree.branching ** (tree.depth - level)
            curve = np.diff(np.tanh(edges / scale) / 2, axis=1)
            squares = 2 * curve @ held - (curve * curve).sum(axis=1)
            found[i] += squares / asked.oracle(here).variance
    return found
