"""The error models of answers that are one draw and have no interval, and their truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.releases import array_release, release
from modicum.stored.codec import storable


@storable
@dataclass(frozen=True, slots=True)
class PointErrorModel:
    """A number that one draw, or a search, has found; its interval is the public range.

    The point is in lattice steps; ``known`` says what is known of it, from public arguments.
    """

    lattice: Lattice
    point: int
    known: str

    @property
    def value(self) -> Fraction:
        return self.lattice.inside(self.point)

    def interval(self, level: float, tail: float | None) -> release.Interval:
        return release.Interval(self.lattice.lo, self.lattice.hi)

    @property
    def condition(self) -> str:
        return ""

    def assumption(self, tail: float | None) -> str:
        return f"{self.known}; the interval is the public range."

    def to_dict(self) -> dict[str, object]:
        return {}


@storable
@dataclass(frozen=True, slots=True)
class FitChoice:
    """The chosen one of the listed fits; it has no bounds: how near others are is not released.

    With a probability of 95 % the sum of gradients at the fit is at most ``bound`` times the
    largest gradient of a row above the least of the list.
    """

    lattice: Lattice
    fit: tuple[float, ...]
    listed: int
    bound: float

    def intervals(self, level: float, tail: float | None) -> array_release.Intervals:
        free = np.full(len(self.fit), math.inf)
        return array_release.Intervals(-free, free)

    @property
    def condition(self) -> str:
        return "nothing: it has no bounds"

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() has no bounds; with a probability of 95 % the sum of the gradients at the "
            f"fit is at most {self.bound:,.0f} times the largest gradient of a row above the least "
            f"of the {self.listed:,} fits."
        )

    def to_dict(self) -> dict[str, object]:
        return {"fits": self.listed, "gradients_above_least": self.bound}


def true_record(run: Any, start: int, stop: int) -> Fraction:
    """Middle of the lowest and the highest of some records, in order, of a plan's table."""
    rows = run.table.rows
    records = run.table.at(min(max(start, 0), rows - 1), min(max(stop, 1), rows), None)
    step: Fraction = run.step
    return Fraction(int(records[0]) + int(records[-1]), 2) * step
