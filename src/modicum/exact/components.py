"""Components of a mixture, with weights count * x^e / (1 - x)^q, x = exp(-unit), drawn exactly."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import point_below, small_exp_bounds
from modicum.exact.entropy import Entropy

_CELL_BITS = 44  # of the largest cell; thousands of them stay below 2^60
_ROOM = 20  # a cell is longer than its weight by 2^-20, more than what logarithms are off by
_SLACK = 18  # less than 2^-18 of a long cell lies beyond the weight, see [radial.11]
_SHORT = 4  # binary logarithm of a scaled weight below which a cell is 2^5 units long


class Components:
    """A choice between components whose counts may be far beyond the range of floats.

    Every component has a count c >= 0, an exponent e >= 0 and an order q >= 0; some count is
    positive, and ``unit`` is above 0. ``log_total`` is the logarithm of the sum of all weights. The
    law is exact: docs/research/proofs/radial.md, [radial.11].

    It is for a few hundred or thousand components with counts of any size;
    :func:`modicum.exact.levels.draw_level` is faster, for counts below 2^256 and q = 0.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> components = Components([10**600, 1], [1400, 0], [0, 3], Fraction(1))
    >>> round(components.log_total, 9)
    1.376025439
    >>> components.draw(SeededEntropy(0))
    1
    """

    __slots__ = ("_counts", "_ends", "_exponents", "_orders", "_power", "_unit", "log_total")

    def __init__(
        self,
        counts: Sequence[int],
        exponents: Sequence[int],
        orders: Sequence[int],
        unit: Fraction,
    ) -> None:
        if not unit > 0 or min(map(min, (counts, exponents, orders))) < 0 or not any(counts):
            raise InvalidArgument("components need a positive unit and integers of at least 0")
        # A common factor of all weights changes nothing.
        least = min(e for c, e in zip(counts, exponents, strict=True) if c)
        self._counts, self._orders, self._unit = counts, orders, unit
        self._exponents = [max(0, e - least) for e in exponents]
        rate = float(unit)
        rest = -math.log(-math.expm1(-rate))
        logs = [
            math.log(c) - e * rate + q * rest if c else -math.inf
            for c, e, q in zip(counts, self._exponents, orders, strict=True)
        ]
        top = max(logs)
        self.log_total = (
            top + math.log(math.fsum(math.exp(log - top) for log in logs)) - least * rate
        )
        twos = [log / math.log(2) for log in logs]
        self._power = _CELL_BITS - math.ceil(max(twos))
        self._ends = list(accumulate(map(self._cell, twos)))

    def draw(self, entropy: Entropy) -> int:
        while True:
            point = entropy.below(self._ends[-1])
            i = bisect_right(self._ends, point)
            begin = self._ends[i - 1] if i else 0
            length, position = self._ends[i] - begin, point - begin
            if length >> _SLACK and position + 1 <= length - (length >> _SLACK) - 2:
                return i
            if point_below(position, 0, partial(self._bounds, i), entropy):
                return i

    def _cell(self, log: float) -> int:
        """Upper bound of 2^power times a weight, in whole units."""
        if log == -math.inf:
            return 0
        place = log + self._power
        if place < _SHORT:
            return 2 << _SHORT
        return math.ceil(math.exp2(place) * (1 + 2.0**-_ROOM))

    def _bounds(self, i: int, digits: int) -> tuple[Fraction, Fraction]:
        """Enclose 2^power times the weight of a component."""
        factor = Fraction(2) ** self._power * self._counts[i]
        # Digits after the point of a product whose factor has some before it.
        more = max(0, factor.numerator.bit_length() - factor.denominator.bit_length()) // 3 + 1
        low, high = small_exp_bounds(self._exponents[i] * self._unit, digits + more)
        if self._orders[i]:
            least, most = small_exp_bounds(self._unit, digits + more)
            low /= (1 - least) ** self._orders[i]
            high /= (1 - most) ** self._orders[i]
        return factor * low, factor * high
