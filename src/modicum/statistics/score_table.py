"""A score as a public table of integers: nondecreasing by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.mechanisms.grids import FloatGrid
from modicum.summaries.base import Integers

__all__ = ["Reals", "ScoreTable"]

Reals = NDArray[np.float64]

_KNOTS = FloatGrid(12)  # ψ is interpolated between differences 2^-12 of their size apart
_LARGEST = 1 << 32  # integers of a table go up to this
_PLACES = 15  # binary places of a difference between two knots


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """A nondecreasing integer function of the integers in [-span, span], 0 at 0.

    Attributes
    ----------
    span : int
        At most 2^53.
    below, above : int64 arrays
        -ψ to the left of 0, and ψ to the right, at the knots: nondecreasing, from 0, at most
        2^32.
    """

    span: int
    below: Integers
    above: Integers

    @classmethod
    def of(cls, psi: Callable[[Reals], Reals], span: int, step: float | None) -> ScoreTable:
        """Tabulate ψ for differences of up to ``span`` lattice steps.

        Parameters
        ----------
        step : float or None
            What a lattice step is in the unit of ψ; ``None``: the span is 1.

        Raises
        ------
        InvalidArgument
            If ψ is 0 at all of them.
        """
        last = _KNOTS.number(span) + 1
        knots = _points(np.arange(last + 1))
        scale = 1 / float(knots[-1]) if step is None else step
        values = psi(np.concatenate([-knots[::-1], knots]) * scale)
        below, above = -values[last::-1], values[last + 1 :]
        largest = max(float(above.max()), float(below.max()))
        if not largest > 0:
            raise InvalidArgument("psi is 0 at all differences: give a wider within=")

        def whole(side: Reals) -> Integers:
            # ψ(0) = 0 and the running maximum: nondecreasing, whatever ψ is.
            scaled = np.rint(np.clip(side / largest, 0, 1) * _LARGEST).astype(np.int64)
            scaled[0] = 0
            return np.maximum.accumulate(scaled)

        return cls(span, whole(below), whole(above))

    def at(self, differences: Integers) -> Integers:
        """Return ψ at integer differences, beyond the span as at its ends.

        Between two knots it is linear in the difference, rounded down twice: that keeps the
        order. It is 0 at 0, and never on the other side of it.
        """
        size = np.minimum(np.abs(differences), self.span)
        # The exponent field of a float64, which holds an integer up to 2^53 exactly.
        shift = (size.astype(np.float64).view(np.int64) >> 52) - (1023 + _KNOTS.bits)
        np.maximum(shift, 0, out=shift)
        numbers = size >> shift
        size -= numbers << shift
        size <<= _PLACES
        size >>= shift
        numbers += shift << _KNOTS.bits
        left = differences < 0
        numbers += left * len(self.below)
        values: Integers = self._magnitudes[numbers]
        numbers += 1
        rise = self._magnitudes[numbers]
        rise -= values
        rise *= size
        rise >>= _PLACES
        values += rise
        np.negative(values, out=values, where=left)
        return values

    def beside(self, differences: Integers, towards: int) -> Integers:
        """Return ψ at the next knot from integer differences, upwards (1) or downwards (-1).

        Whatever ψ does between two knots, at the difference it is no more, or no less.
        """
        size = np.minimum(np.abs(differences), self.span)
        # As in ``at``: the place of the knot below.
        shift = (size.astype(np.float64).view(np.int64) >> 52) - (1023 + _KNOTS.bits)
        np.maximum(shift, 0, out=shift)
        numbers = size >> shift
        left = differences < 0
        outwards = left if towards < 0 else ~left
        numbers += outwards & (size != numbers << shift)
        numbers += shift << _KNOTS.bits
        numbers += left * len(self.below)
        values: Integers = self._magnitudes[numbers]
        np.negative(values, out=values, where=left)
        return values

    def knots_around(self, low: int, high: int) -> tuple[int, int]:
        """Return the last knot below a difference that is at least ``low``, at most ``high``.

        And the first one above it.
        """
        return _beyond(low - 1, -1), _beyond(high + 1, 1)

    @cached_property
    def _magnitudes(self) -> Integers:
        return np.concatenate([self.above, self.below])


def _beyond(difference: int, towards: int) -> int:
    """Return the nearest knot at a difference or, 1 or -1, above or below it."""
    number = _KNOTS.number(difference)  # towards zero
    knot = _KNOTS.point(number)
    return knot if towards * (knot - difference) >= 0 else _KNOTS.point(number + towards)


def _points(numbers: Integers) -> Integers:
    """Knots with these numbers, each at least 0."""
    shift = np.maximum((numbers >> _KNOTS.bits) - 1, 0)
    points: Integers = (numbers - (shift << _KNOTS.bits)) << shift
    return points
