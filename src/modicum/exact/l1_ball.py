"""Integer points of an L1 ball: how many there are, and one of them, uniformly."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.exact.entropy import Entropy


def l1_points(dimension: int, radius: int) -> int:
    """Count the integer vectors whose L1 norm is at most the radius.

    There are sum_i 2^i C(d, i) C(r, i) of them: i components are not 0 (proofs/radial, [radial.8]).

    Examples
    --------
    >>> [l1_points(d, 2) for d in (1, 2, 3)]
    [5, 13, 25]
    """
    return sum(_with_places(dimension, radius))


def point_of_l1_ball(dimension: int, radius: int, entropy: Entropy) -> tuple[int, ...]:
    """Draw one of the vectors that :func:`l1_points` counts, uniformly.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> point_of_l1_ball(3, 10**6, SeededEntropy(0))
    (-145270, -197529, -402398)
    """
    counts = _with_places(dimension, radius)
    places, rest = 0, entropy.below(sum(counts))
    while rest >= counts[places]:
        rest -= counts[places]
        places += 1
    point = [0] * dimension
    last = 0
    sums = sorted(_subset(radius, places, entropy))
    for place, total in zip(_subset(dimension, places, entropy), sums, strict=True):
        size, last = total - last, total
        point[place - 1] = -size if entropy.bits(1) else size
    return tuple(point)


def _with_places(dimension: int, radius: int) -> Sequence[int]:
    """Count the points with 0, 1, ... components that are not 0."""
    counts = [1]
    for i in range(min(dimension, radius)):
        # 2^i C(d, i) C(r, i), the next one from the last; the quotient is whole.
        counts.append(2 * counts[-1] * ((dimension - i) * (radius - i)) // (i + 1) ** 2)
    return counts


def _subset(size: int, chosen: int, entropy: Entropy) -> list[int]:
    """Draw a subset of {1, ..., size}, uniformly among those of its size: Floyd's algorithm.

    The subset that holds {1, ..., j} after step j is uniform by induction. Its order is not.
    """
    found: list[int] = []
    for j in range(size - chosen + 1, size + 1):
        at = 1 + entropy.below(j)
        found.append(j if at in found else at)
    return found
