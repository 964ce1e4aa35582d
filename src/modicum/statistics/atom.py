"""Columns of which a good part is one public value: zeros, or the end of the range nearest to zero.

A prior r^-p over all radii from one lattice step to the range weighs some hundred nats, against
which the records that are not zero have to speak up. Where most records are zeros those are few,
and would be clipped away unseen: all ones of a column with 10 % ones. So, before anything else,

[H1] home    is about half of the data at home, the point of the range nearest to zero?
[H2] others  if so, a noisy count of the records elsewhere, a second one if the first says little;
[H3] choice  enough to outweigh the prior: radii are drawn for them, with a prior that they
             outweigh. Too few for that: nothing is known of where they are, so the noise has to
             cover the range; what it may explain is answered as if all records were at home.
[H4] filled  if not, and half of the data are far from home beside a small table's range: do they
             fill it? Then bounds are not worth what they cost.

docs/proofs/mean.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import RadiusGrid
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.clipping import Setting
from modicum.statistics.remarks import APART
from modicum.statistics.schedule import Schedule, expected_records, subsample_level
from modicum.status import OK, Status
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import RecordSummary

__all__ = [
    "Atom",
    "Home",
    "Way",
    "find_home",
    "home_of",
    "is_filled",
    "look_elsewhere",
]

Way = Literal["none", "radii", "range"]

_SURE = 50  # times: an atom at home is missed more seldom
_SLOPE = 40  # a radius weighs e^(1/40) times what the next smaller one does
_TARGET = 0.4  # of the records, outside the radius
_ATOM = 0.7  # if more of the records are elsewhere, home is no atom
_CLEAR = 5.0  # a count of so many noise scales needs no second one
_KEPT = 0.76  # of the noise's precision, for the last step: 1.3 times the noise of known bounds
# Least and largest power of the prior, nats to spare, part of the noisy count to rely on.
_LEAST, _MOST, _SLACK, _TRUST = 1.0, 4.0, 6.0, 0.85
_HOPE = 3.0  # scales of a first count's noise that may turn few records into enough
_FAR = 6  # half of the data reach so large a part of the range: is it filled?
_FILLED_FROM, _FILLED_TO = 480, 20_000  # records per unit of noise
_PARTS, _WINDOW = 20, 9  # a window has 9/20 of the range
_SPILT, _EASILY = 0.1, 4  # of the records, outside of every window; weight against each


def home_of(lattice: Lattice) -> int:
    """Return the lattice point nearest to zero."""
    return min(max(0, lattice.first), lattice.last)


@dataclass(frozen=True, slots=True)
class Home:
    """[H1] What is known of the distances from home: released.

    Attributes
    ----------
    point : int
    radius : int
        About half of the records are further away. 0: home may be an atom.
    """

    point: int
    radius: int

    @staticmethod
    def part(n0: int) -> float:
        """About how many records are further away."""
        return _TARGET * max(n0, 1)


@dataclass(frozen=True, slots=True)
class Atom:
    """[H3] What to do about records that are not at home: released, but for ``cells``.

    Attributes
    ----------
    way : {"none", "radii", "range"}
        Home is no atom; radii can be drawn; only the range is left.
    schedule : Schedule
        With the share and the power for ``"radii"``.
    cells : CellSummary
        Records by distance from home: not released.
    found : float
        About how many are not at home: released.
    noise : float
        The scale of its noise.
    """

    way: Way
    schedule: Schedule
    cells: CellSummary
    found: float = 0.0
    noise: float = math.inf

    @property
    def elsewhere(self) -> int:
        """Records that are not at home: not released."""
        centre = self.cells.centre
        return self.cells.above(centre) + self.cells.below(centre)

    @property
    def remark(self) -> Status:
        """What to say where only the range is left."""
        return APART if self.found > _CLEAR * self.noise else OK


def find_home(here: Setting, records: RecordSummary, n0: int) -> Steps[Home]:
    """[H1] A radius about home, in quarter octaves, with about 40 % of the records outside.

    If home is an atom, all radii up to the next records are equally good. A radius weighs e^(1/40)
    times what the next smaller one does, so all together 40 times the widest, and home at least 50
    times that: an atom is missed less than once in 50. The finer the radii, the better is one of
    them for data without an atom, which may be close together.
    """
    home = home_of(here.lattice)
    reach = max(here.lattice.last - home, home - here.lattice.first, 1)
    radii = RadiusGrid.between(1, reach, 4).radii
    favour = math.ceil(_SLOPE * math.log(_SURE * _SLOPE))
    grid = RadiusGrid(radii, (-favour, *range(len(radii) - 2, -1, -1)))
    # An eighth of a median's subsample is enough for a radius this coarse.
    level = subsample_level(n0 << 3) if n0 > 1 << 12 else 0
    expected = expected_records(here.purse, n0)
    strength = max(0.002, min(0.01 + 40 / expected, 200 / expected))
    law = here.purse.ranks(
        records,
        home,
        grid,
        targets=(round(_TARGET * n0) >> level,),
        tilts=(Fraction(1, _SLOPE),),
        level=level,
        share=here.purse.share_for(strength, "subsample"),
    )

    def words(drawn: tuple[int, ...]) -> str:
        radius = here.lattice.words(grid.radii[drawn[0]])
        return f"about half of the records are within {radius} of {here.lattice.words(home)}"

    (chosen,) = yield from draw("home", law, words)
    return Home(home, grid.radii[chosen])


def look_elsewhere(here: Setting, schedule: Schedule, home: Home, n0: int) -> Steps[Atom]:
    """[H2, H3] Count the records that are not at home, and choose what to do about them."""
    reach = max(here.lattice.last - home.point, home.point - here.lattice.first, 1)
    cells = yield from need(here.ask(Cells(home.point, RadiusGrid.between(1, reach).radii)))
    atom = Atom("none", schedule, cells)
    expected = expected_records(here.purse, n0)
    scale = float(here.purse.scale)

    strength = max(0.01, 30 / expected)
    found = float((yield from _count(here, atom, strength, "records elsewhere")))
    if found > _ATOM * n0:
        return atom
    hope = found * scale + _HOPE / strength
    if found * strength * scale < _CLEAR and _radii_for(here, schedule, math.log(reach), hope):
        second = min(0.13, max(0.035, 200 / expected))
        again = yield from _count(here, atom, second, "records elsewhere, again")
        weight = second**2 / (strength**2 + second**2)
        found, strength = (1 - weight) * found + weight * again, math.hypot(strength, second)
    noise = 1 / (strength * scale)
    chosen = _radii_for(here, schedule, math.log(reach), found * scale)
    if chosen is None:
        return replace(atom, way="range", found=found, noise=noise)
    return replace(atom, way="radii", schedule=chosen, found=found, noise=noise)


def is_filled(here: Setting, home: Home, n0: int) -> Steps[bool]:
    """[H4] Whether the data fill the range of a small table: no window of 9/20 of it holds most.

    The window that holds most records is drawn, or none in place of one that a tenth is outside
    of. A count outside a window changes by 1 at most, that number is public.
    """
    lattice = here.lattice
    expected = expected_records(here.purse, n0)
    reach = max(lattice.last - home.point, home.point - lattice.first)
    if _FAR * home.radius < reach or not _FILLED_FROM < expected < _FILLED_TO:
        return False
    if lattice.width < _PARTS:
        return True
    cuts = tuple(lattice.width * k // _PARTS for k in range(_PARTS + 1))
    ends = [lattice.first + cut for cut in cuts]
    cells = yield from need(here.ask(Cells(lattice.first, cuts[1:-1])))
    above = (cells.count, *cells.above_many(ends[1:-1]), 0)
    outside = [above[0] - above[k] + above[k + _WINDOW] for k in range(len(above) - _WINDOW)]
    losses = np.array([round(_SPILT * max(n0, 0)), *outside], dtype=np.int64)
    share = here.purse.share_for(min(0.07, 90 / expected), "range")
    law = here.purse.least_loss(losses, most=1, first=_EASILY, share=share)

    def words(place: int) -> str:
        if not place:
            return "the data fill the range"
        lo, hi = lattice.words(ends[place - 1]), lattice.words(ends[place - 1 + _WINDOW])
        return f"most records are between {lo} and {hi}"

    place = yield from draw("filled", law, words)
    return place == 0


def _count(here: Setting, atom: Atom, strength: float, label: str) -> Steps[int]:
    share = here.purse.share_for(strength, "noise")
    law = here.purse.noisy((atom.elsewhere,), sensitivity=1, share=share)
    (found,) = yield from draw(label, law)
    return found


def _radii_for(
    here: Setting, schedule: Schedule, log_reach: float, others: float
) -> Schedule | None:
    """[H3] Radii, if the records elsewhere can outweigh their prior for a share that is affordable.

    At a strength s a radius has score -s F - p ln r: no radius with F records outside is chosen
    in place of the widest one if s F is well above p ln(reach).
    """
    strength = max(0.10, (_LEAST * log_reach + _SLACK) / max(_TRUST * others, 1.0))
    share = here.purse.share_for(strength, "range")
    if not here.purse.keeps(_KEPT, share):
        return None
    power = (_TRUST * strength * others - _SLACK) / max(log_reach, 1.0)
    power = min(max(power, _LEAST), _MOST)
    return replace(schedule, radii=share, power=Fraction(round(power * 1024), 1024), widening=0)
