"""All small data sets, their distances, and risks as linear programmes: slow, by definition."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.sparse import coo_array

Multiset = tuple[float, ...]


def multisets(grid: Sequence[float], most: int) -> list[Multiset]:
    """Every multiset of at most so many values, sorted; the empty one first."""
    return [
        data
        for size in range(most + 1)
        for data in itertools.combinations_with_replacement(sorted(grid), size)
    ]


def distances(datasets: Sequence[Multiset], grid: Sequence[float]) -> np.ndarray:
    """Additions and removals between every two of them."""
    counts = np.array([[data.count(value) for value in grid] for data in datasets])
    return np.abs(counts[:, None, :] - counts[None, :, :]).sum(axis=2)


def mean(data: Multiset) -> float:
    return sum(data) / len(data) if data else math.nan


def quantile(q: Fraction) -> Callable[[Multiset], float]:
    return lambda data: sorted(data)[math.ceil(q * len(data)) - 1] if data else math.nan


def trimmed_mean(m: int) -> Callable[[Multiset], float]:
    return lambda data: mean(tuple(sorted(data)[m : len(data) - m]))


def location(p: float) -> Callable[[Multiset], float]:
    def value(data: Multiset) -> float:
        if not data or max(data) == min(data):
            return data[0] if data else math.nan
        slope = lambda t: sum(math.copysign(abs(t - x) ** (p - 1), t - x) for x in data)  # noqa: E731
        return brentq(slope, min(data), max(data), xtol=1e-15, rtol=1e-14)

    return value


def least_risk(
    neighbours: Sequence[tuple[int, int]], values: Sequence[float | None], epsilon: float
) -> float:
    """min over ε-private mechanisms of the largest expected |answer - value|.

    ``values[i]`` is the truth at data set i, None where no error counts. It is enough to answer
    values: between two neighbouring ones every loss is linear, so an answer there can be replaced
    by one of the two, at random, with the same expected losses.
    """
    answers = sorted({v for v in values if v is not None})
    width, sets = len(answers), len(values)
    risk = sets * width  # the last variable
    rows, columns, entries, right = [], [], [], []

    def at_most(terms: list[tuple[int, float]], bound: float) -> None:
        for column, entry in terms:
            rows.append(len(right))
            columns.append(column)
            entries.append(entry)
        right.append(bound)

    for i, j in neighbours:
        for a in range(width):
            for one, other in ((i, j), (j, i)):
                at_most([(one * width + a, 1.0), (other * width + a, -math.exp(epsilon))], 0.0)
    for i, v in enumerate(values):
        if v is not None:
            losses = [(i * width + a, abs(t - v)) for a, t in enumerate(answers)]
            at_most([*losses, (risk, -1.0)], 0.0)
    sums = coo_array(
        (np.ones(risk), (np.repeat(np.arange(sets), width), np.arange(risk))),
        shape=(sets, risk + 1),
    )
    inequalities = coo_array((entries, (rows, columns)), shape=(len(right), risk + 1))
    cost = np.zeros(risk + 1)
    cost[risk] = 1
    found = linprog(
        cost, A_ub=inequalities.tocsr(), b_ub=right, A_eq=sums.tocsr(), b_eq=np.ones(sets)
    )
    assert found.status == 0, found.message
    return float(found.fun)


def subset_risk(data: Multiset, value: Callable[[Multiset], float], epsilon: Fraction) -> float:
    """R(D, ε) exactly.

    A mechanism on the subsets of D is one on all data: intersect with D first, which moves by at
    most one record with its argument.
    """
    removed = math.floor(1 / epsilon)
    subsets = sorted({s for k in range(len(data) + 1) for s in itertools.combinations(data, k)})
    gaps = distances(subsets, sorted(set(data)))
    pairs = list(zip(*np.nonzero(np.triu(gaps == 1)), strict=True))
    values = [value(s) if len(s) >= len(data) - removed else None for s in subsets]
    return least_risk(pairs, values, float(epsilon))
