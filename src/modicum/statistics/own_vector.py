"""A vector statistic of a user: approximate inverse sensitivity with the whole budget in one draw.

docs/proofs/radial.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from modicum.array_release import ArrayAnswer, Axis, Intervals
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.norm_ball import RadialLaw
from modicum.privacy.event import BoundedRange, Concentrated, Event
from modicum.statistics.crossing import Reals
from modicum.statistics.purses import open_purse
from modicum.statistics.sensitivities import Sensitivities
from modicum.statistics.spec import Options
from modicum.status import OK, Status
from modicum.steps import Ask, Steps, draw, need
from modicum.summaries.base import Columns
from modicum.summaries.cells import MOST_COLUMNS
from modicum.summaries.second_moments import HeldRows

__all__ = ["MeanOfRange", "OwnVectorEvidence", "OwnVectorOption", "own_vector"]

_NEGLIGIBLE = 40.0  # nats by which balls beyond the last own radius are lighter than the first
_MOST_LEVELS = 1 << 17
TINY = Status(
    "few_records", "too little budget: an answer may be anywhere in the range, whatever the data"
)


@dataclass(frozen=True, slots=True)
class OwnVectorOption(Options):
    """Which statistic."""

    statistic: Sensitivities

    @classmethod
    def of(cls, statistic: object, columns: Columns, lattice: Lattice) -> OwnVectorOption:
        """Check it, on small data sets too.

        Raises
        ------
        InvalidArgument
            If it is none, breaks its promise, is of another number of columns, or if the step of
            the lattice is too wide for its values.
        """
        if not isinstance(statistic, Sensitivities):
            raise InvalidArgument(
                "statistic must be an instance of a subclass of modicum.Sensitivities, got "
                f"{type(statistic).__name__}"
            )
        statistic.check(lattice.lo, lattice.hi)
        if columns.names is not None and len(columns.names) != statistic.columns:
            raise InvalidArgument(
                f"{statistic.name} is of {statistic.columns} columns, got {len(columns.names)}"
            )
        if statistic.columns > MOST_COLUMNS:
            raise InvalidArgument(f"at most {MOST_COLUMNS} columns, got {statistic.columns}")
        statistic.answers(lattice)
        return cls(statistic)


@dataclass(frozen=True, slots=True)
class OwnVectorEvidence:
    """A drawn vector.

    Attributes
    ----------
    lattice : Lattice
        On which values are.
    drawn : tuple of int
        The outcome, perhaps beyond the range.
    levels : int
        How many radii depended on the data.
    norm : int
    """

    lattice: Lattice
    drawn: tuple[int, ...]
    levels: int
    norm: int

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The components, within the range."""
        first, last, step = self.lattice.first, self.lattice.last, Fraction(self.lattice.step)
        return tuple(min(max(each, first), last) * step for each in self.drawn)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """The range: how wide the noise is depends on the data, and is not released."""
        ones = np.ones(len(self.drawn))
        return Intervals(self.lattice.lo * ones, self.lattice.hi * ones)

    @property
    def condition(self) -> str:
        """What the default intervals assume."""
        return ""

    def assumption(self, tail: float | None) -> str:
        """Say in words what the intervals cover."""
        return (
            "interval() knows only the range of the values: the size of the noise depends on the "
            "data and is not released. On public data of the same kind theory.radial_error has it."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {"levels": self.levels, "norm": self.norm}


def own_vector(
    columns: Columns, lattice: Lattice, event: Event, statistic: Sensitivities
) -> Steps[ArrayAnswer]:
    """Release a vector statistic.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        The public range of every column.
    event : Event
        What the draw costs one row.
    statistic : Sensitivities
    """
    size = open_purse(event).range_for(None)
    stated = event if isinstance(event, Concentrated) else BoundedRange(size)
    answers = statistic.answers(lattice)
    levels = _levels(statistic.dimension, statistic.largest(answers), size)
    held = yield from need(Ask(None, lattice, HeldRows(statistic.columns), columns))
    centre, radii = statistic.measured(held.rows, lattice, answers, levels)
    fixed = statistic.largest(answers), statistic.norm, size, stated, statistic.signless
    law = RadialLaw(centre, radii, *fixed)
    drawn = yield from draw(statistic.name, law, partial(_in_words, answers))
    evidence = OwnVectorEvidence(answers, drawn, levels, statistic.norm)
    axis = Axis.of(component=statistic.labels)
    status = OK if levels < _MOST_LEVELS else TINY
    return ArrayAnswer(evidence.values, (axis,), evidence, status)


def _in_words(answers: Lattice, drawn: tuple[int, ...]) -> str:
    return ", ".join(answers.words(each) for each in drawn)


def _levels(dimension: int, largest: int, size: Fraction) -> int:
    """After so many radii balls of any size are lighter than the first by e^-40."""
    nats = dimension * math.log(2 * largest + 1) + _NEGLIGIBLE
    return min(math.ceil(2 * nats / float(size)), _MOST_LEVELS)


class MeanOfRange(Sensitivities):
    """The mean of one column, with the sensitivity of its range: for the registry."""

    name, labels = "mean", ("mean",)

    def value(self, rows: Reals, lo: float, hi: float) -> Reals:
        """Return the mean, or the middle of the range."""
        return np.asarray(rows.mean(axis=0) if len(rows) else [lo + (hi - lo) / 2])

    def sensitivities(self, rows: Reals, lo: float, hi: float, levels: int) -> Reals:
        """The larger one of two sets has at least n - k rows, of which one moves the mean."""
        left = np.maximum(len(rows) - np.arange(levels), 1)
        return np.asarray((hi - lo) / left, dtype=np.float64)
