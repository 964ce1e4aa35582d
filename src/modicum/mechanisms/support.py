"""Outcomes of laws in lists, and the differences of two listed laws.

A log density is a float: a few roundings away from the truth. Every log ratio is moved towards
zero by more than those roundings can amount to, so a loss computed here is a lower bound of the
true one, and a law that has exactly its stated loss never seems to exceed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument

Floats = NDArray[np.float64]

ALPHAS = np.array([1.01, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0])
"""Orders of the Rényi divergences; near 1 the divergence is almost Kullback and Leibler's."""

TAIL = 1e-15
"""Probability beyond the listed outcomes of a law with infinitely many."""

_ROUNDING = 2.0**-44  # of a log density, relative to 1 + its size: some 500 roundings
_MOST = 1 << 21  # outcomes that are listed one by one


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Outcomes in increasing order; each stands for ``sizes[i]`` consecutive ones.

    All outcomes of a stretch have equal probability under every law.
    """

    outcomes: tuple[Any, ...]
    sizes: Floats

    @classmethod
    def of(cls, outcomes: Iterable[Any]) -> Support:
        every = tuple(outcomes)
        return cls(every, np.ones(len(every)))

    def cut(self, parts: int) -> Support:
        """Cut every stretch of integers into equal parts, or into single integers."""
        starts: list[Any] = []
        sizes: list[float] = []
        for start, size in zip(self.outcomes, self.sizes.tolist(), strict=True):
            pieces = int(min(size, parts))
            edges = [int(size) * i // pieces for i in range(pieces + 1)]
            starts += [start] if pieces == 1 else [start + edge for edge in edges[:-1]]
            sizes += [float(b - a) for a, b in pairwise(edges)]
        return Support(tuple(starts), np.array(sizes))


def points_around(balls: Sequence[tuple[Sequence[int], int]]) -> Iterator[tuple[int, ...]]:
    """Return every integer vector of the least box that holds balls of these centres and radii."""
    axes = []
    for values in zip(*(centre for centre, _ in balls), strict=True):
        ends = [c + s * r for c, (_, r) in zip(values, balls, strict=True) for s in (-1, 1)]
        axes.append(range(min(ends), max(ends) + 1))
    check_size(math.prod(len(axis) for axis in axes))
    return product(*axes)


def check_size(outcomes: int) -> None:
    """Refuse to list very many outcomes."""
    if outcomes > _MOST:
        raise InvalidArgument(
            f"the law has {outcomes:,} outcomes to list, more than {_MOST:,}: "
            "audit the same law at a smaller noise scale"
        )


def log_ratio(one: Floats, other: Floats) -> Floats:
    """Return ``one - other``, moved towards 0 by its rounding error [audit.6].

    Outcomes that are impossible under both laws have ratio 0, under one of them an infinity.

    Examples
    --------
    >>> import numpy as np
    >>> log_ratio(np.array([-1.0, -np.inf, -np.inf]), np.array([-1.0, -2.0, -np.inf]))
    array([  0., -inf,   0.])
    """
    with np.errstate(invalid="ignore"):
        gap = one - other
    gap = np.where(np.isneginf(one) & np.isneginf(other), 0.0, gap)
    sizes = (np.abs(np.where(np.isneginf(x), 0.0, x)) for x in (one, other))
    ratio: Floats = np.sign(gap) * np.maximum(np.abs(gap) - _ROUNDING * (2 + sum(sizes)), 0.0)
    return ratio + 0.0  # no negative zero


def needed_rho(log_p: Floats, log_q: Floats, sizes: Floats | float) -> Floats:
    """Return D_α(P || Q) / α for every α of :data:`ALPHAS`; zCDP bounds all of them by ρ.

    ``log_p`` and ``log_q`` are the log densities of one outcome in each stretch, of so many
    ``sizes``.

    D_α = ln(sum_z P(z) r(z)^(α-1)) / (α - 1) with r = P / Q. For a small exponent the sum is
    1 + sum P (r^(α-1) - 1), which keeps the digits of a small divergence.
    """
    possible = ~np.isneginf(log_p)
    log_p, log_q = log_p[possible], log_q[possible]
    if np.isneginf(log_q).any():
        return np.full(len(ALPHAS), math.inf)
    log_mass = log_p + np.log(sizes if isinstance(sizes, float) else sizes[possible])
    powers = (ALPHAS[:, None] - 1) * (log_p - log_q)
    mass = np.exp(log_mass)
    small = np.log1p((mass * np.expm1(np.minimum(powers, 1.0))).sum(axis=1))
    top = (log_mass + powers).max(axis=1)
    large = top + np.log(np.exp(log_mass + powers - top[:, None]).sum(axis=1))
    divergence = np.where(powers.max(axis=1) < 1, small, large) / (ALPHAS - 1)
    # An error e of the log ratios moves every D_α by at most e.
    error = _ROUNDING * (2 + float(mass @ (np.abs(log_p) + np.abs(log_q))))
    return np.array(np.maximum(divergence - error, 0.0) / ALPHAS)
