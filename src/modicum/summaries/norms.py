"""How many rows have a norm beyond each of some public radii, about a public point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Rows, Sensitive, pack
from modicum.summaries.vector_frame import (
    MOST_COLUMNS,
    Floats,
    FrameView,
    VectorFrame,
    norms,
    slack,
)

__all__ = ["NormCounts", "NormSummary"]


@dataclass(frozen=True, slots=True)
class NormCounts:
    """Ask for the numbers of rows whose norm in a frame exceeds each of some radii.

    Attributes
    ----------
    frame : VectorFrame
    radii : tuple of int
        Positive and increasing, in the frame's units.
    """

    frame: VectorFrame
    radii: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.radii or self.radii[0] <= 0 or sorted(set(self.radii)) != [*self.radii]:
            raise InvalidArgument(f"radii must be positive and increase, got {self.radii}")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _NormPass:
        if lattice is None:
            raise InvalidArgument("norms need a range: lattice must not be None")
        return _NormPass(self, self.frame.view(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormSummary(Sensitive):
    """Numbers of rows between radii.

    Attributes
    ----------
    width : int
        Components of a row; public.
    between : tuple of int
        Rows whose norm is at most the first radius; beyond it and at most the second; ...;
        beyond the last. Sensitive.
    """

    width: int
    between: tuple[int, ...]

    public = ("width",)

    @property
    def count(self) -> int:
        """The number of rows."""
        return sum(self.between)

    @property
    def outside(self) -> tuple[int, ...]:
        """For each radius, the rows beyond it."""
        beyond = np.cumsum(self.between[::-1])[::-1][1:]
        return tuple(beyond.tolist())

    def merge(self, other: Self) -> NormSummary:
        self._check_same(other)
        if len(self.between) != len(other.between):
            raise InvalidArgument("cannot merge norms that were counted for other radii")
        between = tuple(a + b for a, b in zip(self.between, other.between, strict=True))
        return NormSummary(self.width, between)

    def to_bytes(self) -> bytes:
        return pack("norms", self.width, np.array(self.between, dtype=np.int64))

    @classmethod
    def from_bytes(cls, data: bytes) -> NormSummary:
        fields = Fields("norms", data)
        summary = cls(fields.integer(), tuple(fields.array().tolist()))
        fields.end()
        return summary


class _NormPass:
    """Rows are put in place by rounded norms; by exact ones where these come near a radius."""

    reads = True

    def __init__(self, asked: NormCounts, view: FrameView) -> None:
        self._view = view
        self._power = asked.frame.power
        self._radii = np.array(asked.radii, dtype=np.float64)
        self._between = np.zeros(len(asked.radii) + 1, dtype=np.int64)
        self._width = 1

    def update(self, x: Floats, /) -> None:
        self._width = x.shape[1]
        if self._width > MOST_COLUMNS:
            raise InvalidArgument(
                f"vectors have at most {MOST_COLUMNS:,} components, got {self._width:,}"
            )
        if len(x):
            self._between += np.bincount(self._places(x), minlength=len(self._between))

    def _places(self, x: Floats) -> NDArray[np.intp]:
        """How many radii each row's norm exceeds [F4]."""
        near = 4 * slack(self._width, self._power)
        u, size = self._view.measured(x)
        rough = np.sqrt(size) if self._power == 2 else size
        places = self._exceeded(rough * (1 - near))
        unsure = places != self._exceeded(rough * (1 + near))
        if unsure.any():
            places[unsure] = self._exceeded(norms(u[unsure], self._power))
        return places

    def _exceeded(self, norm: Floats) -> NDArray[np.intp]:
        return np.searchsorted(self._radii, norm, side="left")

    def finish(self) -> NormSummary:
        return NormSummary(self._width, tuple(self._between.tolist()))
