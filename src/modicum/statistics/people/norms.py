"""Limits on the norm of what a person has in all groups together, chosen from how many exceed them.

A person is one vector over groups, and one record here: its norm. Of few norms a radius draw takes
the least that hardly more persons exceed than may be scaled down [pooled.12]; of very many it first
takes a coarse one, since the prior of a draw grows with every candidate [pooled.16].

docs/research/proofs/pooled.md has the proofs, with the same labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import RadiusGrid
from modicum.mechanisms.selection import RadiusDraw
from modicum.privacy.split import BudgetSplit
from modicum.runtime.steps import Steps, draw
from modicum.statistics.people.persons import SIZES
from modicum.statistics.ranges.split import SIZE_PARTS
from modicum.summaries.cells import CellSummary

WEIGHTS = Lattice(0.0, SIZES.hi, 2.0**-16)
"""The lattice of sums of weights of rows."""

_MOST_BEYOND = 0.2  # persons beyond a limit, of all
_LEAST, _SURE, _LARGEST = 0.01, 20.0, 0.15  # strengths, and nats of those beyond a limit
_TILT = Fraction(1)  # prior cost of a quarter octave
_MANY, _COARSE = 100, 16  # quarter octaves
_TILT_COARSE = Fraction(3)
_NATS, _MOST_COARSE = 60.0, 0.05  # of all persons, and a strength
_FURTHEST, _TILT_FURTHEST = 0.1, Fraction(3, 8)
_FINE = 2 * SIZE_PARTS  # quarter octaves
_BETWEEN = SIZE_PARTS // 2  # quarter octaves from a limit to the furthest norm, at least


def persons_beyond(split: BudgetSplit, persons: int, times: float, least: float = 0.0) -> int:
    """[pooled.12] How many persons may be beyond a limit: so many, per unit of noise.

    The noise of so many sums of groups grows with the limit as fast as what it takes off persons
    shrinks. They are a fifth of all at most, and at least a part.
    """
    few, most = least * max(persons, 1), _MOST_BEYOND * max(persons, 1)
    return max(round(min(max(few, times / float(split.scale)), most)), 1)


@dataclass(frozen=True, slots=True)
class Norms:
    """The norms of all persons, counted by the radii of a grid of quarter octaves: sensitive.

    Draws have so many times the usual strength.
    """

    split: BudgetSplit
    cells: CellSummary
    grid: RadiusGrid
    lattice: Lattice
    times: float = 1.0

    def limit(self, target: int, label: str) -> Steps[int]:
        """[pooled.12] A norm that hardly more than so many persons exceed, as in [people.11]."""
        strength = min(max(_LEAST, _SURE / (target * float(self.split.scale))), _LARGEST)

        def words(norm: int) -> str:
            return f"hardly more than {target:,} persons have more: {self.lattice.words(norm)}"

        grid = RadiusGrid(self.grid.radii[1:], self.grid.indices[1:])
        return (yield from self._draw(label, grid, target, strength, _TILT, words))

    def nearer(self, persons: int, target: int) -> Steps[RadiusGrid]:
        """[pooled.16] The norms from well below the limit on, of a grid of very many.

        The prior of a limit is outweighed by persons beyond it. Of every sixteenth norm that takes
        few of them, and the limit is at most an interval or two below the one that is drawn.
        """
        grid = self.grid
        if len(grid.radii) <= _MANY:
            return grid
        radii = grid.radii[1::_COARSE]
        coarse = RadiusGrid(radii, tuple(range(1, len(radii) + 1)))
        enough = _NATS / max(persons * float(self.split.scale), 1.0)
        strength = min(max(_LEAST, enough), _MOST_COARSE)

        def words(norm: int) -> str:
            return f"the limit is hardly above {self.lattice.words(norm)}"

        norm = yield from self._draw("size", coarse, target, strength, _TILT_COARSE, words)
        first = max(grid.radii.index(norm) - 2 * _COARSE, 0)
        return RadiusGrid(grid.radii[first:], grid.indices[first:])

    def furthest(self, least: int) -> Steps[int]:
        """[pooled.16] A norm, half an octave above a limit or more, that hardly anybody exceeds.

        Two octaves further on it is one of every eighth, at the prior cost of three: so fewer
        persons that are far beyond all others outweigh the prior.
        """
        radii = self.grid.radii
        first = min(radii.index(least) + _BETWEEN, len(radii) - 1)
        fine = radii[first : first + _FINE]
        coarse = radii[first + 2 * _FINE - 1 :: _FINE]
        indices = (*range(1, len(fine) + 1), *(_FINE + 3 * i for i in range(1, len(coarse) + 1)))

        def words(norm: int) -> str:
            return f"hardly anybody has more: {self.lattice.words(norm)}"

        grid = RadiusGrid((*fine, *coarse), indices)
        return (yield from self._draw("furthest", grid, 0, _FURTHEST, _TILT_FURTHEST, words))

    def _draw(
        self,
        label: str,
        grid: RadiusGrid,
        target: int,
        strength: float,
        tilt: Fraction,
        words: Callable[[int], str],
    ) -> Steps[int]:
        """A norm of a grid; those who may be beyond it anyway do not count."""
        # A person more still adds 0 or 1.
        beyond = tuple(max(number - target, 0) for number in self.cells.above_many(grid.radii))
        share = self.split.share(self.split.part_for(self.times * strength, "range"))
        mechanism = self.split.spend(RadiusDraw.of((beyond,), grid, share, tilt=tilt))
        (chosen,) = yield from draw(label, mechanism, lambda drawn: words(grid.radii[drawn[0]]))
        return grid.radii[chosen]
