"""Losses of many public linear fits on rows, each row adding at most a public amount.

A fit is a vector of integers in units of 2^-12: an intercept, and a slope for each column but the
last, which it explains. Columns are in half-widths of a
:class:`~modicum.summaries.second_moments.Frame`. Residuals are exact integers: sums of float64
numbers below 2^53, in any order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import (
    Fields,
    Integers,
    Quantiser,
    Reduction,
    Rows,
    Sensitive,
    pack,
    quantised,
)
from modicum.summaries.second_moments import Frame

Floats = NDArray[np.float64]

FINE = 12
"""Bits of a slope behind the point."""

RESIDUAL = 1 << 10
"""Parts of a half-width of the explained column in which residuals count."""

_ROW = 12  # bits of a row behind the point
_FAR = 1 << 10  # half-widths; a fit that uses a column in which a row is as far has its full loss
_LARGEST = 1 << 18  # a component of a fit: 2^22 of a row times this, for 500 columns, is below 2^49
_DICE = 12  # bytes whose sum is all but normal
_MEAN, _DEVIATION = 1530, 256  # 12 · 255 / 2 and the root of 12 · (2^16 - 1) / 12
_BLOCK = 1 << 20  # residuals at a time


@dataclass(frozen=True, slots=True)
class FitList:
    """A public list of ``size`` fits around one of them, ``middle``, which is the first.

    ``spread`` is the standard deviation of the components of the others, in units of 2^-12; every
    second one has half of it, or twice as much. Only the first ``free`` components differ from the
    middle, and of these not the ``idle`` ones. Each ``number`` gives another list.
    """

    middle: tuple[int, ...]
    spread: int
    size: int
    number: int
    free: int
    idle: tuple[int, ...] = ()

    def fits(self) -> Integers:
        """Return the fits, shape (size, number of components).

        Their steps are sums of dice from SHAKE-256 of a fixed text: the same everywhere, and chosen
        before any data. Privacy does not depend on where they are.

        Examples
        --------
        >>> FitList((0, 4096), 400, 4, 0, 2).fits().tolist()
        [[0, 4096], [-319, 3988], [-715, 3074], [-566, 3108]]
        """
        text = f"modicum: list {self.number} of fits".encode()
        dice = np.frombuffer(
            hashlib.shake_256(text).digest(self.size * len(self.middle) * _DICE), dtype=np.uint8
        ).reshape(self.size, len(self.middle), _DICE)
        steps = (dice.sum(axis=2, dtype=np.int64) - _MEAN) * self.spread
        # Of every eight in a row the last four leave about half of the components as they are.
        steps *= (np.arange(self.size) % 8 < 4)[:, None] | (dice[:, :, 0] & 1 == 1)
        # Half the spread, once, twice, once, and so on.
        steps *= np.array([2, 1, 2, 4])[np.arange(self.size) % 4][:, None]
        steps //= 2 * _DEVIATION
        steps[0], steps[:, self.free :], steps[:, list(self.idle)] = 0, 0, 0
        found: Integers = np.clip(steps + np.array(self.middle), -_LARGEST, _LARGEST)
        return found


@dataclass(frozen=True, slots=True)
class FitLosses(Reduction["FitLossSummary"]):
    """Sums the squared residuals of every fit of a list, each residual clipped to a cap.

    The cap is in units of 1 / :data:`RESIDUAL`; a row adds at most its square to a loss.
    """

    frame: Frame
    fits: FitList
    cap: int

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _FitPass:
        return _FitPass(self, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FitLossSummary(Sensitive):
    """The losses, in the order of the list (sensitive)."""

    losses: Integers

    def merge(self, other: Self) -> FitLossSummary:
        self._check_same(other)
        return FitLossSummary(self.losses + other.losses)

    def to_bytes(self) -> bytes:
        return pack("fit-losses", self.losses)

    @classmethod
    def from_bytes(cls, data: bytes) -> FitLossSummary:
        fields = Fields("fit-losses", data)
        summary = cls(fields.array())
        fields.end()
        return summary


class _FitPass:
    reads = True

    def __init__(self, asked: FitLosses, quantiser: Quantiser) -> None:
        self._frame, self._cap, self._quantiser = asked.frame, asked.cap, quantiser
        self._fits = asked.fits.fits().T.astype(np.float64)
        self._used = self._fits[1:] != 0
        self._losses = np.zeros(asked.fits.size, dtype=np.int64)

    def update(self, x: Floats, /) -> None:
        size = max(1, _BLOCK // len(self._losses))
        for q in quantised(self._quantiser, x):
            for start in range(0, len(q), size):
                rows, far = _rows(self._frame, q[start : start + size])
                left = rows[:, :-1] @ self._fits[1:]
                left += np.ldexp(self._fits[0], _ROW)
                left -= np.ldexp(rows[:, -1:], FINE)
                # Whole numbers up to the cap from here on: sums of squares are exact too.
                np.abs(left, out=left)
                left *= RESIDUAL * 2.0 ** -(FINE + _ROW)
                np.minimum(np.rint(left, out=left), self._cap, out=left)
                beyond = far[:, :-1].any(axis=1)
                left[beyond] = np.where(far[beyond, :-1] @ self._used, self._cap, left[beyond])
                self._losses += np.einsum("ij,ij->j", left, left).astype(np.int64)

    def finish(self) -> FitLossSummary:
        return FitLossSummary(self._losses)


def _rows(frame: Frame, q: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """Distances from the centres, towards zero, in units of 2^-12 half-widths; which are far."""
    shifts = np.array(frame.shifts, dtype=np.int64)
    z = q - np.array(frame.centres, dtype=np.int64)
    size = np.abs(z)
    far = size >> shifts >= _FAR
    size = np.where(far, 0, size)  # what is far must not overflow
    size = (size >> np.maximum(shifts - _ROW, 0)) << np.maximum(_ROW - shifts, 0)
    found: Floats = np.copysign(np.where(far, _FAR << _ROW, size).astype(np.float64), z)
    return found, far
