"""The shape of a tail, from two released radii, and what a draw of bounds may take from it.

Two radii about the centre, with known shares of the data outside, tell how heavy the tail is
[mean.4]. From them its quantiles further out follow, as far as a tail is of one family: so the
bounds need not be found where few records are, which costs much budget, but may be found where
there are more, and be widened by what the family says [mean.12]. All of it is post-processing.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

HEAVIEST = 4.0  # tail weight; Pareto data of index 1 have about 3
_LIGHTEST = 0.02  # tail weight of data that end, for which it may be anything below
_CLIPPED = 3.0  # records per unit of noise, beyond widened bounds at least
_CLEAR, _BLURRED = 0.2, 0.3  # shares outside the inner radius, with which it is in the tail or not
_STEPS = 60  # of a bisection and of a fixed point


class Ranks(NamedTuple):
    """Fractions of the data outside an outer and an inner radius, targets of the shape step."""

    inner: float
    outer: float

    @classmethod
    def of(cls, expected: float) -> Ranks:
        """1000 records per unit of noise outside, or 0.3 %; and 10 times as many, at most 40 %."""
        outer = max(1000 / expected, 0.003)
        inner = min(10 * outer, 0.4)
        return cls(inner, min(outer, inner / 4))

    @property
    def clear(self) -> float:
        """How far a heavy tail shows, from 0 to 1: the inner radius of few records is no tail's.

        The bulk of a skewed distribution and a heavy tail have the same ratio of radii then.
        """
        return min(1.0, max(0.0, (_BLURRED - self.inner) / (_BLURRED - _CLEAR)))


def tail_weight(inner_radius: int, outer_radius: int, ranks: Ranks) -> float | None:
    """How heavy the tail is, from two released radii: 1 for an exponential distribution.

    The logarithm of the ratio of the radii, in units of what it is for exponential data about
    their median. Unknown if the inner radius has collapsed (a weight above 4, more than any mean
    that exists has): most of the data may then be a single value.
    """
    if inner_radius == 0 or outer_radius == 0:
        return None
    reference = exponential_radius(ranks.outer) / exponential_radius(ranks.inner)
    weight = math.log(outer_radius / inner_radius) / math.log(reference)
    return weight if weight <= HEAVIEST else None


def exponential_radius(fraction: float) -> float:
    """Radius r with P(|X - ln 2| > r) = fraction for X exponential with mean 1, median ln 2.

    Above ln 2 only the upper tail counts: exp(-r)/2. Below, also 1 - 2^-1 exp(r), a quadratic
    equation in exp(r).
    """
    one_sided = -math.log(2 * fraction)
    if one_sided >= math.log(2):
        return one_sided
    rest = 1 - fraction
    return math.log(rest + math.sqrt(rest**2 + 1))


@dataclass(frozen=True, slots=True)
class TailShape:
    """[mean.12] A tail of a ``weight`` among ``expected`` records per unit of noise.

    With E(f) the exponential radius that has a share f outside, the radius of the tail is
    proportional to E^weight if it is lighter than exponential (a Weibull tail), and to
    (exp(x E) - 1) / x with x > 0 if it is heavier (a generalised Pareto tail of index 1/x), x such
    that the ratio of both released radii is right. Both are exponential at a weight of 1.

    Examples
    --------
    >>> normal, pareto = (TailShape(weight, Ranks.of(1e5), 1e5) for weight in (0.5, 1.6))
    >>> [round(tail.ratio(100, 3), 2) for tail in (normal, pareto)]  # 1.26 and 4.59 in truth
    [1.25, 4.25]
    """

    weight: float
    ranks: Ranks
    expected: float

    def trusted(self) -> TailShape:
        """The same as far as a heavier tail than an exponential one shows."""
        weight = self.weight
        if weight > 1:
            weight = 1 + (weight - 1) * self.ranks.clear
        return TailShape(max(weight, _LIGHTEST), self.ranks, self.expected)

    def ratio(self, records: float, fewer: float) -> float:
        """How many times further out than so many records fewer of them are."""
        return self._radius(self._place(fewer)) / self._radius(self._place(records))

    def index(self, records: float) -> float:
        """The power with which the number of records falls, where there are so many."""
        place, x = self._place(records), self._excess
        return -math.expm1(-x * place) / x if x else place / self.weight

    def beyond(self, strength: float) -> float:
        """Records per unit of noise outside a radius whose prior has so many units of strength.

        A score -η F - p ln r is stationary at F = p / (η a), ``strength`` = p / η, where the
        number of records falls with the index a. Within the outer radius nothing is known.
        """
        records = most = self.ranks.outer * self.expected
        for _ in range(_STEPS):
            before, records = records, min(most, (records + strength / self.index(records)) / 2)
            if records == before:  # and would be from here on
                break
        return records

    def widening(self, strength: float) -> float:
        """By how much a radius that is drawn with such a prior is widened [mean.12].

        With F records beyond bounds, in units of the noise, the excess F / (a - 1) in units of the
        bounds enters the mean error by its square, and bounds with F / e records are wider by
        1 / a: both balance at about F = (a - 1) / sqrt(a). A heavy tail's excess is that of its
        largest record, and no less than 3 are left.
        """
        records = self.beyond(strength)
        index = self.index(records)
        fewer = max(_CLIPPED, (index - 1) / math.sqrt(max(index, 1.0)))
        return max(1.0, self.ratio(records, fewer)) if fewer < records else 1.0

    @property
    def end(self) -> float:
        """How many times further out than the outer radius one record is, per unit of noise."""
        return self.ratio(self.ranks.outer * self.expected, 1.0)

    def _place(self, records: float) -> float:
        return exponential_radius(records / self.expected)

    def _radius(self, place: float) -> float:
        x = self._excess
        return math.expm1(x * place) / x if x else math.pow(place, self.weight)

    @property
    def _excess(self) -> float:
        return _generalised(self.weight, self.ranks)


@functools.lru_cache(maxsize=1024)
def _generalised(weight: float, ranks: Ranks) -> float:
    """Solve for x, 0 if the tail is not heavier than exponential: a bisection, as x grows."""
    inner, outer = exponential_radius(ranks.inner), exponential_radius(ranks.outer)
    if weight <= 1:
        return 0.0
    ratio, low, high = math.pow(outer / inner, weight), 0.0, HEAVIEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        below = math.expm1(middle * outer) < ratio * math.expm1(middle * inner)
        low, high = (middle, high) if below else (low, middle)
    return high
