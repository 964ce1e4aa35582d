"""Linear regression of few rows: the best of listed fits, list after list.

Products of columns take d²/2 noisy numbers; where noise would hide directions of the columns,
that is far more than a fit needs. Here a fit is chosen out of a public list, by what it leaves of
the explained column, and the next list lies closer about it (docs/proofs/moments.md, [moments.12]
to [moments.14]).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from modicum.array_release import Floats, Intervals
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import LossScore
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.placed import HeldColumns, PlacedColumns
from modicum.summaries.base import Integers
from modicum.summaries.fit_losses import FINE, RESIDUAL, FitList, FitLosses
from modicum.summaries.second_moments import Frame

# The constants of [moments.13] and [moments.14], found by simulation.
_FEW, _MOST_ROWS = 200, 1 << 15
_CERTAIN = 160.0  # η times rows of a list from which on more lists are better than a better choice
_MOST_LISTS = 24
_FIRST, _TIMID = 0.3, 0.06  # spread of the first slopes, at most, and times a root of η n in all
_SQUARE = 0.3  # twice the mean square of a column in half-widths, about
_LITTLE = 16  # below, a fit is worse than a constant about as often as not
_LEVELS, _LEVEL, _CERTAIN_LEVEL = 0.6, Fraction(1, 10), 60.0  # spread of levels; share, or η n
_STAY = 4
_CAP = 384  # 3/8 of a half-width: far residuals are few, and their noise less
_WORK, _LISTED = 1 << 23, (256, 4096)  # fits times rows; fits
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class ListedFit:
    """Error model of the fit that was chosen last.

    ``frame`` has the centres and half-widths, ``count`` is the noisy number of records, ``lists``
    the number of lists, ``chosen`` the intercept and slopes in half-widths, in units of 2^-12, and
    ``none_seen`` whether the noisy number of records cannot be distinguished from 0.
    """

    labels: tuple[str, ...]
    lattice: Lattice
    frame: Frame
    held: HeldColumns
    count: int
    lists: int
    chosen: tuple[int, ...]
    none_seen: bool = False

    @property
    def coefficients(self) -> Floats:
        """The intercept and the slopes, in the units of the data."""
        units = self.frame.units(self.lattice)
        centres = self.frame.middles(self.lattice)
        first, *slopes = (np.ldexp(np.array(self.chosen, dtype=np.float64), -FINE)).tolist()
        found = np.array(slopes) * (units[-1] / units[:-1])
        level = centres[-1] + first * units[-1] - found @ centres[:-1]
        return np.concatenate([[level], found])

    def intervals(self, _level: float, _tail: float | None) -> Intervals:
        """Return no bounds: nothing is known of the directions that a choice leaves open."""
        free = np.full(len(self.chosen), math.inf)
        return Intervals(-free, free)

    @property
    def condition(self) -> str:
        return "nothing: it has no bounds"

    def assumption(self, _tail: float | None) -> str:
        return (
            "interval() has no bounds: with so few rows for this budget a good fit is chosen from "
            "lists of fits, and others may be as good. Rows times epsilon of about 200 times the "
            "square of the number of columns are enough for products of columns, which have "
            "intervals."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "rows": self.count,
            "lists": self.lists,
            "half_widths": self.frame.units(self.lattice).tolist(),
            "centres": self.frame.middles(self.lattice).tolist(),
            "share_far": self.held.share_far,
        }


def few_rows(placed: PlacedColumns) -> bool:
    """[moments.14] Tell whether noise would hide directions of the columns in their products."""
    slopes = placed.width - 1
    enough = _FEW * slopes**2
    return float(placed.split.scale) * placed.count < enough and placed.count <= _MOST_ROWS


def listed_fit(placed: PlacedColumns) -> Steps[ListedFit]:
    """Spend all that is left on a choice from one list after another."""
    middle = (0,) * placed.width
    split, lost = placed.split, placed.held.lost
    idle = tuple((1 + np.flatnonzero(lost[:-1] | lost[-1])).tolist())
    lists = _lists(placed)
    size = min(max(_WORK // placed.count, _LISTED[0]), _LISTED[1])
    for number, each in enumerate(lists):
        spread = max(1, round(each.spread * (1 << FINE)))
        fits = FitList(middle, spread, size, number, each.free, idle)
        losses = yield from read(placed.ask(FitLosses(placed.frame, fits, each.cap)))
        score = LossScore(losses.losses, each.cap**2, each.stay * size or 1)
        last = number + 1 == len(lists)
        share = split.rest() if last else split.share(each.share)
        mechanism = split.spend(Exponential(score, *share.ranged))  # [moments.12]
        listed = fits.fits()
        chosen = yield from draw(f"fit of list {number + 1}", mechanism, partial(_words, listed))
        middle = tuple(listed[chosen].tolist())
    return ListedFit(
        labels=placed.labels,
        lattice=placed.lattice,
        frame=placed.frame,
        held=placed.held,
        count=placed.count,
        lists=len(lists),
        chosen=middle,
        none_seen=placed.none_seen,
    )


def is_little(placed: PlacedColumns) -> bool:
    """Tell whether lists say so little that the fit may be worse than none."""
    return placed.none_seen or _heard(placed) < _LITTLE * (placed.width - 1)


def _heard(placed: PlacedColumns) -> float:
    """Rows times the bounded range that is left: what all lists together can tell."""
    left = Fraction(placed.split.left, placed.split.total)
    return placed.count * float(placed.split.share(left).range)


class _List(NamedTuple):
    """Share, spread, free components, weight of staying in list lengths, cap of residuals."""

    share: Fraction
    spread: float
    free: int
    stay: int
    cap: int


def _lists(placed: PlacedColumns) -> list[_List]:
    """Plan all lists [moments.13]."""
    split, rows, slopes = placed.split, placed.count, placed.width - 1
    level = min(_LEVEL, split.part_for_range(_CERTAIN_LEVEL / rows))
    left = Fraction(split.left, split.total) - level
    affordable = int(left / split.part_for_range(_CERTAIN / rows))
    lists = min(max(affordable, 1), slopes + 2, _MOST_LISTS)
    certain = rows * float(split.share(left / lists).range)
    first = min(_FIRST, _TIMID * math.sqrt(_heard(placed) / slopes))
    last = min(first, _CAP / RESIDUAL / math.sqrt(_SQUARE * certain))
    spreads = np.geomspace(first, last, lists).tolist()
    return [
        _List(level, _LEVELS, 1, 0, RESIDUAL),
        *(
            _List(left / lists, spread, placed.width, 0 if number else _STAY, _CAP)
            for number, spread in enumerate(spreads)
        ),
    ]


def _words(listed: Integers, chosen: int) -> str:
    """Coefficients in half-widths; the first ones if there are many."""
    shown = np.ldexp(listed[chosen].astype(np.float64), -FINE)[:_SHOWN]
    more = ", ..." if len(listed[chosen]) > _SHOWN else ""
    return f"({', '.join(f'{each:.3g}' for each in shown)}{more}) half-widths"
