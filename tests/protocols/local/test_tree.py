"""Shares that fit together: least squares, unbiased, bounded."""

import math

import numpy as np
import pytest

from modicum.protocols.local.tree import Tree, fit_distribution, prefix_deviation, significant_end


def true_shares(tree: Tree, cells: np.ndarray):
    def shares(level: int, nodes: np.ndarray) -> np.ndarray:
        return np.bincount(tree.node(cells, level), minlength=tree.nodes(level))[nodes] / len(cells)

    return shares


def design(tree: Tree) -> list[np.ndarray]:
    """Rows of ones and zeros that turn cells into the nodes of each level."""
    return [
        np.repeat(np.eye(tree.nodes(level)), tree.branching ** (tree.depth - level), axis=1)
        for level in range(1, tree.depth + 1)
    ]


def test_exact_shares_stay_what_they_are() -> None:
    tree = Tree.over(64, branching=4)
    cells = np.array([0, 0, 1, 17, 63, 63, 63])
    found = fit_distribution(tree, true_shares(tree, cells), np.ones(tree.depth))
    assert found.shares == pytest.approx(np.bincount(cells, minlength=64) / 7)
    assert found.bounded == pytest.approx(found.shares)
    assert found.below(1) == pytest.approx(2 / 7)
    assert 17 <= found.rank(0.5) <= 18


@pytest.mark.parametrize("branching", [2, 3, 4])
def test_the_fit_is_least_squares_given_that_all_is_one(branching) -> None:
    tree = Tree(branching, 3)
    rng = np.random.default_rng(branching)
    noisy = {level: rng.normal(size=tree.nodes(level)) for level in (1, 2, 3)}
    information = np.array([3.0, 0.5, 2.0])
    found = fit_distribution(tree, lambda level, nodes: noisy[level][nodes], information)
    # Normal equations with a Lagrange multiplier for the sum.
    blocks = design(tree)
    normal = sum(i * a.T @ a for i, a in zip(information, blocks, strict=True))
    right = sum(
        i * a.T @ noisy[level] for i, a, level in zip(information, blocks, (1, 2, 3), strict=True)
    )
    ones = np.ones(tree.cells)
    system = np.block([[normal, ones[:, None]], [ones[None], np.zeros((1, 1))]])
    wanted = np.linalg.solve(system, np.append(right, 1.0))[:-1]
    assert found.shares == pytest.approx(wanted, abs=1e-9)
    assert found.bounded.min() >= 0
    assert found.bounded.sum() == pytest.approx(1)


def test_levels_without_answers_are_filled_in() -> None:
    tree = Tree(4, 3)
    found = fit_distribution(tree, lambda level, nodes: np.zeros(len(nodes)), np.zeros(3))
    assert found.shares == pytest.approx(np.full(64, 1 / 64))


def test_a_deep_tree_follows_what_is_large_and_loses_nothing() -> None:
    tree = Tree.over(1 << 40, branching=4)
    cells = np.full(10, 123_456_789_012)

    def shares(level, nodes):
        return (nodes == tree.node(cells, level)[0]).astype(float)

    found = fit_distribution(tree, shares, np.ones(tree.depth))
    assert found.shares.sum() == pytest.approx(1)
    assert abs(found.rank(0.5) - 123_456_789_012) <= 1


def test_what_is_not_significant_is_ignored_by_ranks_only() -> None:
    tree = Tree(4, 2)

    def shares(level, nodes):
        return np.where(nodes == 0, 0.98, 0.02 / 3) if level == 1 else np.full(len(nodes), 1 / 16)

    plain, sure = (fit_distribution(tree, shares, np.full(2, 1e4), sure=z) for z in (0.0, 10.0))
    assert plain.shares == pytest.approx(sure.shares)
    assert plain.rank(1.0) == pytest.approx(tree.cells)
    assert sure.bounded[4:].max() == 0


@pytest.mark.parametrize(
    ("tree", "information"),
    [
        (Tree(4, 4), [100.0] * 4),
        (Tree(4, 3), [3.0, 50.0, 1000.0]),
        (Tree(2, 6), [9.0, 8, 7, 6, 5, 4]),
        (Tree(10, 1), [70.0]),
    ],
)
def test_the_stated_deviation_is_that_of_prefixes(tree, information) -> None:
    """Exact: the variance of every prefix under the least squares of a complete tree."""
    information = np.array(information) * 100
    blocks = design(tree)
    normal = sum(i * a.T @ a for i, a in zip(information, blocks, strict=True))
    cover = np.linalg.inv(normal)
    ones = np.ones(tree.cells)
    cover -= np.outer(cover @ ones, ones @ cover) / (ones @ cover @ ones)
    prefixes = np.tril(np.ones((tree.cells, tree.cells)))
    variances = np.diag(prefixes @ cover @ prefixes.T)
    assert prefix_deviation(tree, information) == pytest.approx(math.sqrt(variances.mean()))


@pytest.mark.parametrize("tree", [Tree(4, 3), Tree(3, 2), Tree(7, 1), Tree(2, 10)])
def test_the_variance_of_a_fit_is_that_of_prefixes(tree) -> None:
    """Exact, for any variances of nodes; of a tree whose last level is looked at in part too."""
    rng = np.random.default_rng(tree.cells)
    noise = [rng.uniform(0.1, 3.0, tree.nodes(level)) / 1e6 for level in range(1, tree.depth + 1)]
    looked: dict[int, np.ndarray] = {}

    def shares(level, nodes):
        looked[level] = nodes
        return np.full(len(nodes), float(tree.branching) ** -level)

    def spread(level, held):
        return noise[level - 1][looked[level]]

    found = fit_distribution(tree, shares, np.full(tree.depth, 1e6), spread=spread)
    assert (len(found.shares) < tree.cells) == (tree.depth == 10)
    starts, ends = found.edges[:-1], found.edges[1:]
    normal = np.zeros((len(starts), len(starts)))
    for level, nodes in looked.items():
        size = tree.branching ** (tree.depth - level)
        inside = (starts >= nodes[:, None] * size) & (ends <= (nodes[:, None] + 1) * size)
        normal += (inside.T / noise[level - 1][nodes]) @ inside
    cover = np.linalg.inv(normal)
    sums = cover.sum(axis=0)
    cover -= np.outer(sums, sums) / sums.sum()
    below = np.clip((np.arange(tree.cells)[:, None] - starts) / (ends - starts), 0.0, 1.0)
    variances = np.einsum("ij,jk,ik->i", below, cover, below)
    assert found.variance == pytest.approx(variances.mean(), rel=1e-9)


@pytest.mark.parametrize("depth", [1, 3, 20])
def test_the_last_cell_that_is_taken_is_found_if_nothing_is_noisy(depth) -> None:
    tree = Tree(4, depth)
    information = np.full(depth, 1e12)
    for last in (0, 1, tree.cells // 2, tree.cells - 2, tree.cells - 1):
        cells = np.array([0, last // 2, last])
        found = significant_end(tree, exact(tree, cells), information, sure=(4.0,) * depth)
        assert found == pytest.approx(last + 1, abs=1e-3)


def exact(tree: Tree, cells: np.ndarray):
    """The shares of nodes, in a tree of any depth."""

    def shares(level: int, nodes: np.ndarray) -> np.ndarray:
        held = tree.node(cells, level)
        return np.array([(held == node).mean() for node in nodes])

    return shares


def test_the_last_cell_is_near_the_last_people_and_not_where_noise_is() -> None:
    """Two in ten lie 7 cells above the rest; beyond are 180 cells of noise."""
    tree, deviation = Tree(4, 4), 0.03
    cells = np.repeat([68, 75], [8, 2])
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        plain = exact(tree, cells)

        def shares(level, nodes, rng=rng, plain=plain):
            return plain(level, nodes) + deviation * rng.normal(size=len(nodes))

        found.append(
            significant_end(tree, shares, np.full(4, deviation**-2), sure=(4.0, 3.0, 2.0, 2.0))
        )
    found = np.array(found)
    assert (found > 68).all()
    assert (found > 75).mean() > 0.9
    # A false step inside the node of 16 cells is likelier than one beyond it.
    assert (found > 80).mean() < 0.03
    assert (found > 128).mean() < 0.01


def test_where_nothing_stands_out_the_largest_is_taken() -> None:
    tree = Tree(4, 2)
    assert 0 < significant_end(tree, exact(tree, np.array([5])), np.zeros(2), sure=(4.0, 4.0)) <= 16
