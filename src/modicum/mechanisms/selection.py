"""Private radii: a place in a public grid, with few records outside or about a wanted number."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from modicum.exact import flip, levels
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import SECRET, Floats, Mechanism
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.subsampled import Members, Subsampled, amplified
from modicum.privacy.event import Event, PureDP, RangeDP
from modicum.privacy.split import Share

Selection = Literal["flip", "exponential"]
Integers = NDArray[np.int64]

_NOBODY = np.empty(0, dtype=np.int64)
_MANY = 16  # fewer laws are drawn from one by one
_BLOCK = 256  # laws whose coins are held at a time
_INT64 = (1 << 63) - 1


class _Radii(Mechanism[tuple[int, ...]]):
    """Independent choices of a radius, each by costs that are integers over one denominator.

    An outcome is the tuple of the chosen positions in ``grid.radii``, one a choice.
    """

    __slots__ = ()

    grid: RadiusGrid

    @property
    def flips(self) -> bool:
        """Whether it chooses by permute-and-flip, and not by the exponential mechanism."""
        return False

    @abstractmethod
    def _choices(self) -> Iterator[tuple[Sequence[int], int, int, int]]:
        """Yield, for each choice, counts whose cost is a count + b index, a, b and the unit."""

    def _gaps(self) -> Iterator[tuple[list[int], int]]:
        """Yield the cost of every radius above the least, and the denominator, for each choice."""
        for counts, a, b, unit in self._choices():
            costs = [a * f + b * j for f, j in zip(counts, self.grid.indices, strict=True)]
            least = min(costs)
            yield [cost - least for cost in costs], unit

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        if self.flips:
            return tuple(flip.permute_and_flip(gaps, unit, entropy) for gaps, unit in self._gaps())
        return tuple(
            levels.draw_level([1] * len(gaps), gaps, Fraction(1, unit), entropy)
            for gaps, unit in self._gaps()
        )

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[tuple[int, ...]]) -> Floats:
        places = np.array(outcomes, dtype=np.intp).reshape(len(outcomes), -1)
        total = np.zeros(len(outcomes))
        for choice, (gaps, unit) in enumerate(self._gaps()):
            total += self._log_chances(gaps, unit)[places[:, choice]]
        return total

    def _log_chances(self, gaps: list[int], unit: int) -> Floats:
        exponents = np.array([gap / unit for gap in gaps])
        weights = np.exp(-exponents)
        if not self.flips:
            return -exponents - math.log(float(weights.sum()))
        # Permute-and-flip: candidate i arrives at a uniform time t and is accepted with w_i;
        # every other j has arrived and been accepted before with probability t w_j. Hence
        # P(i) = w_i ∫_0^1 prod_{j != i} (1 - t w_j) dt, a polynomial of degree m - 1, on which
        # Gauss-Legendre with ceil(m / 2) nodes is exact.
        nodes, node_weights = quadrature((len(gaps) + 1) // 2)
        stays = 1 - np.outer((nodes + 1) / 2, weights)
        others = np.prod(stays, axis=1)[:, None] / stays
        integrals: Floats = (node_weights / 2) @ others
        chances: Floats = np.log(integrals) - exponents
        return chances

    def probes(self) -> Iterable[tuple[int, ...]]:
        return product(range(len(self.grid.radii)), repeat=len(self.factors()))

    @classmethod
    def telling(cls, mechanisms: Sequence[_Radii]) -> list[tuple[int, ...]]:
        return list(mechanisms[0].probes())  # those of all, in order: the grid is public


@dataclass(frozen=True, slots=True)
class RadiusDraw(_Radii):
    """One radius a side, few records outside, wide radii less likely a priori.

    A radius r has score -epsilon #{records outside r} - tilt j(r), with j(r) about m log2 r.
    The side's radius is drawn by permute-and-flip (McKenna and Sheldon 2020) or by the
    exponential mechanism.

    Sensitivity contract: a record is outside on at most one side, and there it lowers every
    score by 0 or ``epsilon``. Both selections depend on score differences only, so after a
    common shift of epsilon/2 each score moves by at most epsilon/2: one side is pure
    ``epsilon`` (flip), or a bounded range of ``epsilon`` (exponential). The sides touch
    disjoint records and are drawn independently: together still one event of that size
    (parallel composition). The tilt does not depend on the data.

    Why a tilt and not a rank target: with the prior r^-p the expected overshoot is a geometric
    series, bounded whatever the public range is. A rank target would have to grow with the
    logarithm of the range, and its bias with it.

    ``outside`` counts the records outside of each radius, for each side (secret); the counts do not
    increase, and may be capped at any public number. ``tilt`` is the prior cost of one index of the
    grid.
    """

    outside: tuple[tuple[int, ...], ...] = field(repr=False, metadata=SECRET)
    grid: RadiusGrid
    epsilon: Fraction
    tilt: Fraction
    selection: Selection

    @classmethod
    def of(
        cls,
        outside: tuple[tuple[int, ...], ...],
        grid: RadiusGrid,
        share: Share,
        *,
        tilt: Fraction,
    ) -> RadiusDraw:
        """Choose the cheaper selection: a bounded range in zCDP, permute-and-flip in pure ε."""
        selection: Selection = "flip" if share.zcdp is None else "exponential"
        return cls(outside, grid, share.range, tilt, selection)

    @property
    def event(self) -> Event:
        return PureDP(self.epsilon) if self.flips else RangeDP(self.epsilon)

    @property
    def flips(self) -> bool:
        return self.selection == "flip"

    @classmethod
    def sample_many(
        cls, mechanisms: Sequence[RadiusDraw], entropy: Entropy
    ) -> list[tuple[int, ...]]:
        if len(mechanisms) < _MANY or not all(mechanism.flips for mechanism in mechanisms):
            return [mechanism.sample(entropy) for mechanism in mechanisms]
        drawn: list[tuple[int, ...]] = []
        for start in range(0, len(mechanisms), _BLOCK):
            drawn += _flipped(mechanisms[start : start + _BLOCK], entropy)
        return drawn

    def factors(self) -> tuple[RadiusDraw, ...]:
        return tuple(replace(self, outside=(side,)) for side in self.outside)

    def error_sizes(self) -> Floats:
        return np.array(self.grid.radii, dtype=np.float64)

    def _choices(self) -> Iterator[tuple[Sequence[int], int, int, int]]:
        unit, a, b = self.whole_scores()
        return ((counts, a, b, unit) for counts in self.outside)

    def whole_scores(self) -> tuple[int, int, int]:
        """The common denominator of the scores, and epsilon and tilt times it."""
        unit = math.lcm(self.epsilon.denominator, self.tilt.denominator)
        a = self.epsilon.numerator * (unit // self.epsilon.denominator)
        return unit, a, self.tilt.numerator * (unit // self.tilt.denominator)


def _flipped(mechanisms: Sequence[RadiusDraw], entropy: Entropy) -> list[tuple[int, ...]]:
    """Draw by permute-and-flip from a block of mechanisms."""
    numbers = [mechanism.whole_scores() for mechanism in mechanisms]
    sides = [(i, counts) for i, mechanism in enumerate(mechanisms) for counts in mechanism.outside]
    sizes = [len(counts) for _, counts in sides]
    largest = [
        max(numbers[i][1] * (counts[0] + 1), numbers[i][2] * (mechanisms[i].grid.indices[-1] + 1))
        for i, counts in sides
    ]
    if max(largest) > _INT64 // 2:
        return [mechanism.sample(entropy) for mechanism in mechanisms]
    units, a, b = zip(*(numbers[i] for i, _ in sides), strict=True)
    costs = np.array([count for _, counts in sides for count in counts], dtype=np.int64)
    costs *= np.repeat(np.array(a, dtype=np.int64), sizes)
    tilts = np.array([j for i, _ in sides for j in mechanisms[i].grid.indices], dtype=np.int64)
    costs += tilts * np.repeat(np.array(b, dtype=np.int64), sizes)
    starts = np.cumsum(sizes) - np.array(sizes)
    costs -= np.repeat(np.minimum.reduceat(costs, starts), sizes)
    drawn = iter(flip.flip_many(costs, sizes, units, entropy))
    return [tuple(next(drawn) for _ in mechanism.outside) for mechanism in mechanisms]


@dataclass(frozen=True, slots=True, eq=False)
class RadiusRanks(_Radii):
    """For each target t, a radius around a public centre with about t records outside.

    A radius r has score -(epsilon/2) |#{records outside r} - t| - tilt j(r); the exponential
    mechanism chooses one for each target, independently given the data.

    Sensitivity contract: a record changes every count, and so every |count - t|, by at most 1:
    each target costs ``epsilon``, together they cost their number times ``epsilon`` (basic
    composition). The tilt does not depend on the data; it keeps the unpopulated wide radii from
    outweighing the right ones.

    ``distances`` are those of the records from the released centre, sorted and secret. Each target
    has a tilt, the prior cost of one index of the grid.
    """

    distances: Integers = field(repr=False, metadata=SECRET)
    centre: int
    grid: RadiusGrid
    targets: tuple[int, ...]
    tilts: tuple[Fraction, ...]
    epsilon: Fraction

    @classmethod
    def subsampled(
        cls,
        records: Members,
        centre: int,
        grid: RadiusGrid,
        share: Share,
        *,
        targets: tuple[int, ...],
        tilts: tuple[Fraction, ...],
        level: int,
    ) -> Subsampled[tuple[int, ...]]:
        """Build the mechanism on a subsample of rate 2^-level, whose records the targets count."""
        each = amplified(share.pure, level) / len(targets)
        template = cls(_NOBODY, centre, grid, targets, tilts, each)
        return Subsampled(records, template, level, PureDP(share.pure))

    def over(self, q: Integers) -> RadiusRanks:
        return replace(self, distances=np.sort(np.abs(q - self.centre)))

    @property
    def event(self) -> Event:
        return PureDP(self.epsilon * len(self.targets))

    def factors(self) -> tuple[RadiusRanks, ...]:
        return tuple(
            replace(self, targets=(target,), tilts=(tilt,))
            for target, tilt in zip(self.targets, self.tilts, strict=True)
        )

    def _choices(self) -> Iterator[tuple[Sequence[int], int, int, int]]:
        radii = np.array(self.grid.radii, dtype=np.int64)
        outside = len(self.distances) - np.searchsorted(self.distances, radii, side="right")
        for target, tilt in zip(self.targets, self.tilts, strict=True):
            unit = math.lcm(2 * self.epsilon.denominator, tilt.denominator)
            a, b = int(self.epsilon / 2 * unit), int(tilt * unit)
            yield [abs(count - target) for count in outside.tolist()], a, b, unit


@functools.cache
def quadrature(nodes: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    if nodes == 2 * len(_HALF_OF_24):  # what releases ask for
        half, weights = np.array(_HALF_OF_24).T
        return np.append(-half[::-1], half), np.append(weights[::-1], weights)
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return points, weights


# The positive ones of 24 nodes, as numpy.polynomial computes them: loading it takes longer than all
# else of a first draw.
_HALF_OF_24 = (
    (0.06405689286260563, 0.12793819534675202),
    (0.1911188674736163, 0.12583745634682825),
    (0.3150426796961634, 0.1216704729278033),
    (0.4337935076260451, 0.11550566805372552),
    (0.5454214713888396, 0.10744427011596556),
    (0.6480936519369755, 0.09761865210411393),
    (0.7401241915785544, 0.0861901615319532),
    (0.820001985973903, 0.07334648141108016),
    (0.8864155270044011, 0.05929858491543636),
    (0.9382745520027328, 0.04427743881741941),
    (0.9747285559713095, 0.02853138862893356),
    (0.9951872199970213, 0.01234122979998869),
)
