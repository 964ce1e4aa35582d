"""Several quantiles by one law, all at once, together with the number of records they divide.

Differs from JointExp (Gillenwater, Joseph and Kulesza 2021): the number of records is a part of the
outcome, and not read off the data. Then a record changes the loss by 1 at most, and not by almost
2, so that the same ε allows almost twice the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, combinations_with_replacement, pairwise, product

import numpy as np

from modicum.exact.bernoulli import guessed_below, small_exp_bounds
from modicum.exact.entropy import Entropy
from modicum.mechanisms import grids, quantile_bands, quantile_tree
from modicum.mechanisms.base import MOST_EPSILON, SECRET, Floats, Stated
from modicum.privacy.event import Event

_MARGIN = 2.0**-10  # far more than the relative errors of the proposal's sums, and
_ROUNDED = 2.0**-48  # of each rank, where there are so many that a float rounds them

_GUESSED = 2.0**-24  # more than what float logarithms of weights may be wrong by
_LARGEST = 700.0
_LEVELS = 4  # of finer and finer pieces
_PATIENCE = 2  # a level is given up after 4 times as many rejections as that before: 8, 32, 128
_LISTED = 1 << 18  # outcomes up to which all of them enter a normaliser


@dataclass(frozen=True, slots=True)
class JointTerms:
    """Public: the shares p_0, ..., p_m, candidates for the number of records, and the largest loss.

    The shares are positive with sum 1, the totals at least 0, and the loss is in ranks.
    """

    shares: tuple[Fraction, ...]
    totals: range
    cap: int


@dataclass(frozen=True, slots=True, eq=False)
class JointQuantiles(Stated[tuple[int, ...]]):
    """A number of records c, and increasing points z_1 <= ... <= z_m with shares of c between.

    Points are those of the places of a :class:`~modicum.mechanisms.grids.RangeWarp`, 2^fine of
    each. A record is spread evenly over the points of its integer, and F(z) is the mass below z:
    without octaves, as in :class:`~modicum.mechanisms.quantile_tree.NestedQuantiles`. With
    F(z_0) = 0, F(z_(m+1)) = n and public shares p_0 + ... + p_m = 1,
    P(c, z) ∝ exp(-ε min(cap, S) / 2) for every c in ``totals`` and

        S = Σ |F(z_(j+1)) - F(z_j) - c p_j|.

    Outcomes are (c, z_1, ..., z_m); a quantile is the integer of the place z_j >> fine. The records
    are secret; the warp of the lattice from ``first`` to ``last`` is public.

    Sensitivity contract: one record more adds d(z_j) in [0, 1] to F(z_j), increasing from 0 at
    z_0 to 1 at z_(m+1). S changes by Σ (d(z_(j+1)) - d(z_j)) = 1 at most, at every outcome, so one
    draw is a bounded range of ε (docs/research/proofs/quantiles.md, [quantiles.5]).
    """

    records: quantile_tree.RankedRecords = field(repr=False, metadata=SECRET)
    first: int
    last: int
    fine: int
    terms: JointTerms
    epsilon: Fraction
    stated: Event
    warp: grids.RangeWarp = grids.EVEN
    _proposals: list[quantile_bands.QuantileProposal] = field(
        default_factory=list, init=False, repr=False, metadata=SECRET
    )
    _totals: list[float] = field(default_factory=list, init=False, repr=False, metadata=SECRET)

    @property
    def rate(self) -> Fraction:
        return min(self.epsilon, Fraction(MOST_EPSILON)) / 2

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Propose from a law that is at least as likely everywhere, up to a factor; toss a coin.

        exp(-rate min(cap, S)) is exp(-rate cap), the same for all outcomes, and a rest where
        S < cap. The proposal stands for the rest, [quantiles.7], and one of finer pieces takes its
        place after some rejections.
        """
        rejected, rate, cap = 0, float(self.rate), self.terms.cap
        alike = math.log(self._outcomes) - rate * cap
        while True:
            level = len(self._proposals)
            if level == 0 or (level < _LEVELS and rejected >= _PATIENCE * 4**level):
                self._proposals.append(self._proposal(level, upper=True))
            proposal = self._proposals[-1]
            most = proposal.log_total + self._margin
            rejected += 1
            even = -math.log1p(math.exp(min(most - alike, _LARGEST)))
            if guessed_below(even, _GUESSED, partial(self._even, most), entropy):
                return self._any(entropy)
            total, points, chance, among = proposal.draw(entropy)
            if any(a > b for a, b in pairwise(points)):
                continue
            loss, unit = self._loss(total, points)
            if loss >= cap * unit:
                continue
            # e^(-r loss) - e^(-r cap) over most and chance / among, to float precision.
            kept = math.log(-math.expm1(-rate * ((cap * unit - loss) / unit)))
            kept -= rate * (loss / unit) + most + math.log(chance) - math.log(among)
            assert kept < _GUESSED
            exact = partial(self._kept, (loss, unit), most, (chance, among))
            if guessed_below(kept, _GUESSED, exact, entropy):
                return (total, *points)

    def log_density(self, outcome: tuple[int, ...]) -> float:
        """Log probability of one outcome; the normaliser of very many outcomes is approximate."""
        total, *points = outcome
        low, high = self._ends
        between = [low, *points, high]
        if total not in self.terms.totals or between != sorted(between):
            return -math.inf
        loss = min(Fraction(*self._loss(total, points)), Fraction(self.terms.cap))
        return -float(self.rate * loss) - self._normaliser()

    def log_densities(self, outcomes: Sequence[tuple[int, ...]]) -> Floats:
        return self._logs(outcomes) - self._normaliser()

    def probes(self) -> Iterable[tuple[int, ...]]:
        """Return every outcome: an audit takes a small range and few points of an integer."""
        low, high = self._ends
        tuples = combinations_with_replacement(range(low, high + 1), len(self.terms.shares) - 1)
        return ((total, *points) for total, points in product(self.terms.totals, tuples))

    @property
    def _margin(self) -> float:
        """Logarithm of the factor that raises the proposal: more than its rounding errors."""
        ranks = float(self.records.count + self.terms.totals[-1]) * len(self.terms.shares)
        return _MARGIN + float(self.rate) * ranks * _ROUNDED

    @property
    def _ends(self) -> tuple[int, int]:
        low, high = (self.warp.start(t) << self.fine for t in (self.first, self.last + 1))
        return low, high

    @property
    def _outcomes(self) -> int:
        low, high = self._ends
        m = len(self.terms.shares) - 1
        return len(self.terms.totals) * math.comb(high - low + m, m)

    def _even(self, most: float, digits: int) -> tuple[Fraction, Fraction]:
        """Enclose the share of the part that all outcomes have alike; ``most`` is a logarithm."""
        weight = Fraction(self._outcomes) / _raised(most)
        places = digits + max(0, len(str(math.ceil(weight))))
        bounds = small_exp_bounds(self.rate * self.terms.cap, places)
        low, high = (weight * bound / (1 + weight * bound) for bound in bounds)
        return low, high

    def _any(self, entropy: Entropy) -> tuple[int, ...]:
        """Draw one of all outcomes: m of N + m - 1 places in order, less the number before."""
        (low, high), m = self._ends, len(self.terms.shares) - 1
        total = self.terms.totals[entropy.below(len(self.terms.totals))]
        places: set[int] = set()
        while len(places) < m:
            places.add(entropy.below(high - low + m))
        return (total, *(low + place - i for i, place in enumerate(sorted(places))))

    def _kept(
        self, loss: tuple[int, int], most: float, chance: tuple[int, int], digits: int
    ) -> tuple[Fraction, Fraction]:
        """Enclose the probability of accepting a proposal of this loss and chance, two ratios."""
        weight = _raised(most) * Fraction(*chance)
        places = digits + len(str(math.ceil(1 / weight)))
        own = small_exp_bounds(self.rate * Fraction(*loss), places)
        even = small_exp_bounds(self.rate * self.terms.cap, places)
        low, high = (own[0] - even[1]) / weight, (own[1] - even[0]) / weight
        assert low <= 1
        return low, high

    @property
    def _bits(self) -> int:
        """A power b: an integer has at most 2^b points, and a power of two of them."""
        return self.fine + self.warp.octaves

    def _mass(self, z: int) -> int:
        """Return F(z) in units of 2^-bits."""
        return quantile_tree.mass_below(self.records, self.fine, z, self.warp)

    def _loss(self, total: int, points: Iterable[int]) -> tuple[int, int]:
        """The exact S, as a ratio."""
        shares, parts = _whole(self.terms.shares)
        below = [0, *map(self._mass, points), self.records.count << self._bits]
        wanted = total << self._bits
        found = sum(
            abs((b - a) * parts - wanted * share)
            for (a, b), share in zip(pairwise(below), shares, strict=True)
        )
        return found, parts << self._bits

    def _proposal(self, level: int, *, upper: bool) -> quantile_bands.QuantileProposal:
        rate, totals, n = float(self.rate), self.terms.totals, self.records.count
        scale = quantile_bands.Scale(rate, len(self.terms.shares) - 1, level)
        off = max(abs(n - totals[0]), abs(n - totals[-1]))
        distances = scale.distances(float(self.terms.cap + off))
        wanted: dict[tuple[int, int], list[float]] = {}  # of few records: all by the same ranks
        shares, parts = _whole(self.terms.shares)
        for upto in list(accumulate(shares))[:-1]:
            low = totals[0] * upto // parts - self.terms.cap - 1
            high = -(-totals[-1] * upto // parts) + self.terms.cap + 1
            wanted.setdefault((max(low, -1), min(high, n + 1)), []).append(upto / parts * n)
        bands = []
        for ranks, centres in wanted.items():
            ends = self.first, self.last
            cells = quantile_bands.BandCells.of(self.records, ends, self.fine, ranks, self.warp)
            bands += quantile_bands.bands_of(cells, ranks, scale, centres, distances)
        fractions = tuple(map(float, self.terms.shares))
        return quantile_bands.QuantileProposal.of(bands, n, totals, fractions, rate, upper=upper)

    def _normaliser(self) -> float:
        if not self._totals:
            if self._outcomes <= _LISTED:
                found = np.logaddexp.reduce(self._logs(list(self.probes())))
            else:
                even = math.log(self._outcomes) - float(self.rate * self.terms.cap)
                found = np.logaddexp(self._proposal(2, upper=False).log_total, even)
            self._totals.append(float(found))
        return self._totals[0]

    def _logs(self, outcomes: Sequence[tuple[int, ...]]) -> Floats:
        """Return the logarithms of the weights of outcomes, to float precision."""
        table, count = np.array(outcomes), self.records.count
        places, which = np.unique(table[:, 1:], return_inverse=True)
        masses = [self._mass(z) / (1 << self._bits) for z in places.tolist()]
        f = np.array(masses)[which.reshape(table[:, 1:].shape)]
        below = np.pad(f, ((0, 0), (1, 1)), constant_values=((0, 0), (0, count)))
        wanted = table[:, :1] * np.array(self.terms.shares, dtype=np.float64)
        losses = np.abs(np.diff(below, axis=1) - wanted).sum(axis=1)
        logs: Floats = -float(self.rate) * np.minimum(losses, self.terms.cap)
        return logs


@lru_cache(maxsize=64)
def _whole(shares: tuple[Fraction, ...]) -> tuple[tuple[int, ...], int]:
    """Return shares as numbers of equal parts, and how many of these there are."""
    parts = math.lcm(*(share.denominator for share in shares))
    return tuple(int(share * parts) for share in shares), parts


def _raised(log: float) -> Fraction:
    """Return exp(log) as a fraction, whatever its size, to float precision."""
    power = math.floor(log / math.log(2))
    return Fraction(math.exp(log - power * math.log(2))) * Fraction(2) ** power
