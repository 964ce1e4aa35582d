"""The approximate inverse sensitivity mechanism: a law around a value, by radii that the data set.

Asi and Duchi (2020), (M.2), on the integer vectors, without the cap of their Algorithm 1.
See [radial.2].
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise, permutations
from types import MappingProxyType
from typing import Literal

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact import bernoulli, l1_ball
from modicum.exact.components import Components
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import SECRET, Floats, Mechanism, Stated, Support, points_around
from modicum.privacy.event import Event

Norm = Literal[1, 2]

MOST_DIMENSIONS: Mapping[Norm, int] = MappingProxyType({1: 64, 2: 20})
"""Of a law in each norm: a draw then takes seconds, of one proposal in 170 in the L2 norm."""

_COUNTED = 128  # L2 balls of larger radius are taken at their volume by ``log_density``
_BEYOND = 2  # shells of the constant tail, which all look alike, among the probes


@dataclass(frozen=True, slots=True)
class RadialMechanism(Stated[tuple[int, ...]]):
    """An integer vector z, P(z) ∝ exp(-ε len(z) / 2), len by distances from a secret centre.

    With s_k = R_1 + ... + R_k, len(z) = min{k >= 0: s_k >= ``|z - centre|``} in the L1 or L2 norm;
    R_1, ..., R_K are ``radii``, which are secret, and all further ones are ``largest``, which is
    public. This is the approximate inverse sensitivity mechanism (Asi and Duchi 2020, M.2): it does
    not need a length of the statistic, only how far one record moves it on data near the given
    ones. Prefer :class:`~modicum.mechanisms.level_sets.LevelScore` in one dimension where lengths
    are known.

    Differs from their Algorithm 1: shells go on without end. Theirs stop at n, so answers stay in
    a ball that moves with the data, which is not private.

    Sensitivity contract (their Theorem 1): for neighbouring data sets D and D', in both orders,
    ``|centre - centre'| <= R_1`` in the norm, and R_k <= R'_(k+1) for k < K; K is public. Radii
    below 0 are used as 0 and those above ``largest`` as ``largest``, which must bound ``|centre -
    centre'|`` too. Then len moves by at most 1 at every z, and one draw is a bounded range of ε
    (docs/research/proofs/radial.md, [radial.1]). Without ``radii`` all balls are public and the
    normaliser does not change: then one draw is pure ε/2, as a sum of bounded vectors is released
    ([regression.5]).

    A value that is one up to its sign, such as a direction, is ``signless``: a coin gives the
    answer a sign, and it is enough that ``|centre - centre'|`` or ``|centre + centre'|`` is within
    R_1 ([radial.12]).

    The sampler is exact, in integers, for values of any size; it takes up to 64 dimensions, or 20
    in the L2 norm. In the L2 norm of more than one dimension it proposes and rejects. There
    ``log_density`` counts the points of balls of radius up to 128, and takes wider ones at their
    volume, which is off by a relative d^1.5 / (2 radius) at most; only audits and tests read it.

    Examples
    --------
    >>> from modicum.privacy.event import RangeDP
    >>> one = Fraction(1)
    >>> law = RadialMechanism((5,), (1, 2), 3, 1, one, RangeDP(one))
    >>> [round(2 * (law.log_density((5,)) - law.log_density((t,)))) for t in range(4, 16)]
    [1, 0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5]
    """

    centre: tuple[int, ...] = field(repr=False, metadata=SECRET)
    radii: tuple[int, ...] = field(repr=False, metadata=SECRET)
    largest: int
    norm: Norm
    epsilon: Fraction
    stated: Event
    signless: bool = False

    def __post_init__(self) -> None:
        """Refuse public parameters without a law, or whose law takes too long to draw."""
        if self.norm not in {1, 2} or self.largest < 0 or not self.epsilon > 0 or not self.centre:
            raise InvalidArgument(
                "a radial law needs one or more dimensions, norm 1 or 2, largest >= 0 and "
                f"epsilon > 0, got {len(self.centre)} dimensions, norm={self.norm!r}, "
                f"largest={self.largest}, epsilon={self.epsilon}"
            )
        if len(self.centre) > MOST_DIMENSIONS[self.norm]:
            raise InvalidArgument(
                f"a law in the L{self.norm} norm has at most {MOST_DIMENSIONS[self.norm]} "
                f"dimensions, got {len(self.centre)}"
            )

    @property
    def rate(self) -> Fraction:
        return self.epsilon / 2

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Choose a ball by its exact weight, then a point of it uniformly [radial.7]."""
        dimension, reaches = len(self.centre), self._reaches()
        balls, wider = self._enclosing(reaches)
        components = _mixture(dimension, balls, wider, self.rate)
        last = len(reaches) - 1
        while True:
            i = components.draw(entropy)
            beyond = max(0, i - last)
            if i >= last:  # [radial.9] one of the d + 1 components of all wider balls
                beyond += sum(bernoulli.geometric(self.rate, entropy) for _ in range(beyond + 1))
            at = min(i, last)
            point = l1_ball.point_of_l1_ball(dimension, balls[at] + beyond * wider, entropy)
            reach = reaches[at] + beyond * self.largest
            if self.flat or sum(z * z for z in point) <= reach * reach:  # [radial.10]
                break
        sign = -1 if self.signless and entropy.bits(1) else 1
        return tuple(sign * (c + z) for c, z in zip(self.centre, point, strict=True))

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[tuple[int, ...]]) -> Floats:
        reaches = self._reaches()
        total = self._log_total(reaches) + math.log(-math.expm1(-float(self.rate)))
        rate = float(self.rate)
        logs: Floats = np.array([-rate * self._length(z, reaches) for z in outcomes])
        if self.signless:
            turned = [tuple(-x for x in z) for z in outcomes]
            other = np.array([-rate * self._length(z, reaches) for z in turned])
            logs = np.logaddexp(logs, other) - math.log(2)
        return logs - total

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Return the corners of every ball, and the points next to them.

        In the L1 norm, and in one dimension, the largest distance from another centre within a ball
        is attained at a corner, and beyond the K-th ball all shells are alike. In the L2 norm it
        need not be on an axis, and without a sign both centres matter: see :meth:`telling`.
        """
        reaches = self._reaches()
        ends = {*reaches, *(reaches[-1] + m * self.largest for m in range(1, _BEYOND + 1))}
        found = {self.centre}
        for axis, value in enumerate(self.centre):
            for reach in ends:
                for moved in (value + reach, value + reach + 1, value - reach, value - reach - 1):
                    found.add((*self.centre[:axis], moved, *self.centre[axis + 1 :]))
        return sorted(found)

    @property
    def dimension(self) -> int:
        return len(self.centre)

    @classmethod
    def telling(cls, mechanisms: Sequence[RadialMechanism]) -> list[tuple[int, ...]]:
        """Return the probes, or every point of the balls that depend on the data.

        If no ball does, a length differs most on the line through two centres, at the ends of a
        ball about one of them.
        """
        first = mechanisms[0]
        if not (first.radii or first.signless or first.flat):
            return Mechanism.telling(mechanisms) + _on_lines(mechanisms)
        if first.signless or not first.flat:
            return cls._around(mechanisms, _BEYOND)
        return Mechanism.telling(mechanisms)

    @classmethod
    def support(cls, mechanisms: Sequence[RadialMechanism]) -> Support:
        """List the points whose weight is at least exp(-40) of the top."""
        return Support.of(cls._around(mechanisms, math.ceil(40 / float(mechanisms[0].rate)) + 1))

    def reach(self, shells: int) -> int:
        """Radius of the ball that is ``shells`` beyond the K-th."""
        return self._reaches()[-1] + shells * self.largest

    @classmethod
    def _around(cls, mechanisms: Sequence[RadialMechanism], shells: int) -> list[tuple[int, ...]]:
        """Return every point of a box around the balls of all laws, so many shells beyond K."""
        signs = (1, -1) if mechanisms[0].signless else (1,)
        balls = [
            ([sign * c for c in mechanism.centre], mechanism.reach(shells))
            for mechanism in mechanisms
            for sign in signs
        ]
        return list(points_around(balls))

    @property
    def flat(self) -> bool:
        """Whether its balls are L1 balls."""
        return self.norm == 1 or len(self.centre) == 1

    def _reaches(self) -> tuple[int, ...]:
        """Radii s_0 = 0, ..., s_K of the balls."""
        radii = (min(max(r, 0), self.largest) for r in self.radii)
        return tuple(accumulate(radii, initial=0))

    def _enclosing(self, reaches: tuple[int, ...]) -> tuple[list[int], int]:
        """Radii of L1 balls that hold the balls, and what each further one adds at least."""
        if self.flat:
            return list(reaches), self.largest
        d = len(self.centre)
        balls = [math.isqrt(d * reach * reach) for reach in reaches]
        # Rounded up, so that every further ball is held too.
        balls[-1] += balls[-1] ** 2 < d * reaches[-1] ** 2
        wider = math.isqrt(d * self.largest**2)
        return balls, wider + (wider**2 < d * self.largest**2)

    def _length(self, point: tuple[int, ...], reaches: tuple[int, ...]) -> float:
        gaps = [abs(z - c) for z, c in zip(point, self.centre, strict=True)]
        if self.flat:
            distance = sum(gaps)
        else:
            square = sum(gap * gap for gap in gaps)
            distance = math.isqrt(square)
            distance += distance * distance < square  # a radius is whole: so is what it must reach
        if distance <= reaches[-1]:
            return bisect_left(reaches, distance)
        if not self.largest:
            return math.inf
        return len(reaches) - 1 - (reaches[-1] - distance) // self.largest

    def _log_total(self, reaches: tuple[int, ...]) -> float:
        """Logarithm of sum_j |B_j| exp(-ε j / 2)."""
        dimension = len(self.centre)
        if self.flat:
            balls, wider = self._enclosing(reaches)
            return _mixture(dimension, balls, wider, self.rate).log_total
        rate, wide = float(self.rate), list(reaches)
        # Terms of the tail fall by a factor of e^-40 relative to the first, powers of d included.
        while len(wide) < len(reaches) + (40 + 8 * dimension) / rate:
            wide.append(wide[-1] + self.largest)
        logs = np.array([_log_points(dimension, r) - k * rate for k, r in enumerate(wide)])
        top = float(logs.max())
        return top + math.log(float(np.exp(logs - top).sum()))


def _on_lines(mechanisms: Sequence[RadialMechanism]) -> list[tuple[int, ...]]:
    """Return the last points of the first balls on the lines through two centres."""
    found = set()
    for one, other in permutations(mechanisms, 2):
        gaps = [b - a for a, b in zip(one.centre, other.centre, strict=True)]
        length = math.sqrt(sum(gap * gap for gap in gaps))
        if length:
            for shells in range(1, _BEYOND + 2):
                for sign in (1, -1):
                    steps = (math.trunc(sign * one.largest * shells * gap / length) for gap in gaps)
                    found.add(tuple(c + step for c, step in zip(one.centre, steps, strict=True)))
    return sorted(found)


def _mixture(dimension: int, balls: Sequence[int], wider: int, rate: Fraction) -> Components:
    """Components of the mixture of L1 balls: all but the last, and d + 1 for it and the rest.

    The radii of the rest are balls[-1] + m wider, m = 0, 1, ...; see [radial.9].
    """
    last = len(balls) - 1
    counts = [l1_ball.l1_points(dimension, ball) for ball in balls[:-1]]
    tail = [l1_ball.l1_points(dimension, balls[-1] + m * wider) for m in range(dimension + 1)]
    differences = []
    while tail:
        differences.append(tail[0])
        tail = [after - before for before, after in pairwise(tail)]
    exponents = [*range(last), *(last + i for i in range(dimension + 1))]
    orders = [*(0 for _ in range(last)), *range(1, dimension + 2)]
    return Components([*counts, *differences], exponents, orders, rate)


def _log_points(dimension: int, radius: int) -> float:
    """Logarithm of the number of points of an L2 ball, or of its volume if it is wide."""
    if radius <= _COUNTED:
        return math.log(_l2_points(dimension)[radius * radius])
    half = dimension / 2
    return half * math.log(math.pi) - math.lgamma(half + 1) + dimension * math.log(radius)


@lru_cache(maxsize=8)
def _l2_points(dimension: int) -> list[float]:
    """Number of integer vectors of squared L2 norm up to 0, 1, ..., 128²."""
    most = _COUNTED**2
    found = np.zeros(most + 1)
    found[0] = 1.0
    for _ in range(dimension):
        more = found.copy()
        for x in range(1, _COUNTED + 1):
            more[x * x :] += 2 * found[: most + 1 - x * x]
        found = more
    points: list[float] = np.cumsum(found).tolist()
    return points
