"""The error model of answers that are one draw, of which there is no interval, and their truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from modicum.array_release import Intervals
from modicum.exact.lattice import Lattice
from modicum.release import Interval

__all__ = ["FitChoice", "PointErrorModel", "true_record"]


@dataclass(frozen=True, slots=True)
class PointErrorModel:
    """A number that one draw, or a search, has found.

    Attributes
    ----------
    lattice : Lattice
    point : int
        In lattice steps.
    known : str
        What is known of it, from public arguments.
    """

    lattice: Lattice
    point: int
    known: str

    @property
    def value(self) -> Fraction:
        """The number in the data's unit."""
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> Interval:
        """Return the public range."""
        return Interval(self.lattice.lo, self.lattice.hi)

    @property
    def condition(self) -> str:
        """The range assumes nothing."""
        return ""

    def assumption(self, tail: float | None) -> str:
        """Say in words what is known."""
        return f"{self.known}; the interval is the public range."

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {}


@dataclass(frozen=True, slots=True)
class FitChoice:
    """The chosen one of the listed fits.

    Attributes
    ----------
    lattice : Lattice
    fit : tuple of float
    listed : int
        How many there were.
    bound : float
        With a probability of 95 % the sum of gradients at the fit is at most so many times the
        largest one of a row above the least of the list.
    """

    lattice: Lattice
    fit: tuple[float, ...]
    listed: int
    bound: float

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return no bounds: how near other fits are is not released."""
        free = np.full(len(self.fit), math.inf)
        return Intervals(-free, free)

    @property
    def condition(self) -> str:
        """It has no bounds."""
        return "nothing: it has no bounds"

    def assumption(self, tail: float | None) -> str:
        """Say in words what is known."""
        return (
            "interval() has no bounds; with a probability of 95 % the sum of the gradients at the "
            f"fit is at most {self.bound:,.0f} times the largest gradient of a row above the least "
            f"of the {self.listed:,} fits."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {"fits": self.listed, "gradients_above_least": self.bound}


def true_record(run: Any, start: int, stop: int) -> Fraction:
    """Middle of the lowest and the highest of some records, in order, of a plan's table."""
    rows = run.table.rows
    records = run.table.at(min(max(start, 0), rows - 1), min(max(stop, 1), rows), None)
    step: Fraction = run.step
    return Fraction(int(records[0]) + int(records[-1]), 2) * step
