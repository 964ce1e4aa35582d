"""How a mean vector divides its budget: public numbers from a noisy count, nothing else.

All shares are of the whole budget. The proportions were chosen by simulation over the tables of
benchmarks/vectors.py; docs/research/proofs/mean_vector.md says what each is for.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import RadiusGrid
from modicum.privacy.split import BudgetSplit
from modicum.summaries.base import MOST_COLUMNS

TURN = Fraction(5, 4)
"""Where a budget of (ε, δ) is better spent as ρ, see :class:`~modicum.runtime.query.Query`.

With d components, noise of ρ has variance r²/(2 ρ) in each for L2 norms up to r, and noise of ε
has 2 q²/ε² for L1 norms up to q. Of rows of one norm r, q is sqrt(d) r if all components are
alike and sqrt(2 d/π) r if they are normal, so the two are equal for ε²/(4 ρ) components, and for
π/2 times as many. Between them simulated errors cross, for ε of 0.2, 1 and 5 at δ = 1e-6.
"""

OUTSIDE = {1: Fraction(1, 20), 2: Fraction(1, 100)}
"""Of the whole budget, what the number of rows outside the last radius gets, by the norm's power.

The intervals are as wide as its noise, which falls with the share in pure ε and with the root of
the share in zCDP.
"""

NEAR = 4
"""Radii are so many times the distance of a centre from the mean, about which they are found."""


def count_share(width: int, near: int = 1, power: int = 2) -> Fraction:
    """Of what is left at the end, what the last noisy count gets.

    With S ± s in each of d components and a count n ± t, the mean square error is about
    (d s² + |S/n|² t²) / n². For |S/n| of a radius over ``near`` it is least, in zCDP, if the count
    gets 1 / (1 + near sqrt d). In pure ε a radius is an L1 norm, some sqrt d times the L2 norm,
    and noise falls with the share and not its root: 1 / (1 + (near d)^(2/3)).
    """
    if power == 1:
        return Fraction(1, 1 + round((near * width) ** (2 / 3)))
    return Fraction(1, 1 + near * math.isqrt(width))


SUBSTEP = 256
"""Units of a scaling in one lattice step."""

_PLACES = 1 << 30
_FINE = 16  # radii an octave for the last one
_BELOW = 64  # so many below one that was drawn for little
_OCTAVES = 60  # from the least radius to the range
_WAY_NATS, _AGAIN_NATS = 160.0, 16.0  # of all radii a priori, at most
_LAST_TILT = 40.0  # largest power of the prior of the last radius
_USUAL = 8  # index of tails below which rows are looked for outside the last radius
_SURELY = 3.0  # standard deviations of a count
_AGAIN = 12  # octaves in which a radius that was found again is sought finely
_AGAIN_TILT = 6.0  # largest power of its prior


@dataclass(frozen=True, slots=True)
class Shares:
    """Constants of a currency."""

    count: Fraction
    last_radius: Fraction
    locate: Fraction  # the most that is spent before the weights
    weighed: Fraction  # the most that is spent after them, but for the last radius
    sizes: tuple[Fraction, ...]  # of the rounds of mean sizes
    least: float  # of a radius on the way and of a step of the centre; and these at most:
    most_radius: float
    most_step: float
    sure: float  # so many nats less likely is a radius on the way with twice as many rows outside
    shrink: float  # a step's radius in norms of its noise
    settled: float  # noise of the centre, in radii, that is small: in L2 5 % of a row's norm or so
    target: float  # share of the rows that the radii on the way leave outside, at most
    last: float  # rows outside the last radius, in norms of the noise over radii a row
    again_wide: Fraction  # of a second search, beyond a radius that leaves too many rows outside
    again_fine: Fraction
    again_outside: Fraction


_CONCENTRATED = Shares(
    count=Fraction(1, 200),
    last_radius=Fraction(3, 200),
    locate=Fraction(1, 4),
    weighed=Fraction(2, 5),
    sizes=(Fraction(1, 50), Fraction(3, 100), Fraction(3, 100)),
    least=0.002,
    most_radius=0.02,
    most_step=0.04,
    sure=8.0,
    shrink=5.0,
    settled=0.3,
    target=0.02,
    last=0.25,
    again_wide=Fraction(1, 25),
    again_fine=Fraction(2, 25),
    again_outside=Fraction(1, 50),
)
_PURE = Shares(
    count=Fraction(1, 50),
    last_radius=Fraction(1, 20),
    locate=Fraction(7, 20),
    weighed=Fraction(1, 2),
    sizes=(Fraction(1, 25), Fraction(3, 50)),
    least=0.005,
    most_radius=0.06,
    most_step=0.06,
    sure=5.0,
    shrink=10.0,
    settled=0.15,
    target=0.05,
    last=1.0,
    again_wide=Fraction(2, 25),
    again_fine=Fraction(2, 25),
    again_outside=Fraction(2, 25),
)


SHARES = {1: _PURE, 2: _CONCENTRATED}
"""The constants of a currency, by the norm's power."""


@dataclass(frozen=True, slots=True)
class VectorSchedule:
    """The shares of one run, given the noisy count ``rows``, at least 1.

    A share s of the budget buys s times what the whole buys in pure ε, and sqrt(s) times in zCDP.
    The whole buys a radius of ε ``nats``, and a sum whose noise has norm ``noise`` and in one
    component ``each``, in radii. Rows are clipped in the norm of ``power`` 1 or 2.
    """

    rows: int
    width: int
    power: int
    nats: float
    noise: float
    each: float
    constants: Shares

    @classmethod
    def of(cls, split: BudgetSplit, noisy_count: int, width: int) -> VectorSchedule:
        """Divide a budget.

        Gaussian noise of variance r²/(2 ρ) in each of d components has norm r sqrt(d/(2 ρ)); the
        noise of Laplace of scale r/ε has L1 norm d r/ε.
        """
        whole, rows = float(split.total), max(noisy_count, 1)
        nats, constants = float(split.share(Fraction(1)).range), SHARES[split.power]
        if not split.concentrated:
            return cls(rows, width, 1, nats, width / whole, math.sqrt(2) / whole, constants)
        each = math.sqrt(1 / (2 * whole))
        return cls(rows, width, 2, nats, each * math.sqrt(width), each, constants)

    @property
    def radius(self) -> Fraction:
        """Share of a radius on the way: the rows it is to leave out are worth some nats."""
        wanted = self.constants.sure / self._wanted
        return self._bounded((wanted / self.nats) ** self.power, self.constants.most_radius)

    @property
    def step(self) -> Fraction:
        """Share of a step of the centre: the mean's noise is a part of its radius."""
        shrink = self.constants.shrink
        if self.power == 1:  # and a part that tells rows that are one point from others: `seen`
            shrink *= max(1.0, 2.5 / math.sqrt(self.width))
        wanted = self.rows / shrink
        return self._bounded((self.noise / wanted) ** self.power, self.constants.most_step)

    @property
    def target(self) -> int:
        """Rows outside for which a radius on the way is not punished."""
        return int(self._wanted)

    @property
    def _wanted(self) -> float:
        """As many rows as the least share tells apart, and no more than a part of all."""
        least = self._part(self.constants.least)
        return min(self.constants.target * self.rows, self.constants.sure / (self.nats * least))

    @property
    def settled(self) -> float:
        """The centre's noise, in radii, that is small."""
        return min(self.constants.settled, self.seen / 1.5)

    @property
    def seen(self) -> float:
        """The centre's noise, in radii, up to which a radius tells of the rows' spread.

        Rows that are all one point lie where the noise of the centre has put it: at a distance
        whose standard deviation is some 1/sqrt(d) of it, and Laplace noise has the longer tail. A
        radius that is drawn with a prior r^-p is more than e^(2.5/p) times too large in one of
        e^2.5 draws.
        """
        return math.exp(-2.5 / self._last_power) / (1 + 8 / self.power / math.sqrt(self.width))

    @property
    def wide_tilt(self) -> Fraction:
        """Prior cost of a quarter of an octave of radius, some nats over all octaves.

        A prior that is too strong for the number of rows would pull every radius to the smallest:
        this one weighs at most 0.63 of the rows, and no more than a number of them that does not
        grow with the table.
        """
        return self._tilt(max(self._way_pull / (_OCTAVES * math.log(2)), 1 / 16), 4)

    def part_tilt(self, octaves: float) -> Fraction:
        """The same where a radius is looked for in some octaves."""
        power = self._way_pull / (max(octaves, 1.0) * math.log(2))
        return self._tilt(min(power, _LAST_TILT), 4)

    @property
    def _way_pull(self) -> float:
        return min(0.63 * self._pull(self.radius), _WAY_NATS)

    @property
    def fine_tilt(self) -> Fraction:
        """Prior cost of a sixteenth of an octave of the last radius: up to r^-40."""
        return self._tilt(self._last_power, _FINE)

    @property
    def _last_power(self) -> float:
        pull = self._pull(self.constants.last_radius)
        return min(max(pull / 8, 1.0), _LAST_TILT)

    def again_tilt(self, octaves: float, per_octave: int) -> Fraction:
        """Prior cost of a step of a second search, over some octaves: up to r^-6."""
        power = _AGAIN_NATS / (max(octaves, 1.0) * math.log(2))
        return self._tilt(min(power, _AGAIN_TILT), per_octave)

    def last_target(self, left: Fraction) -> int:
        """Rows outside the last radius for which it is not punished.

        Each row outside moves the mean by a part of r / rows, and the noise is r times ``noise``
        / rows: a quarter as many rows cost little beside it, and as many if that part is small,
        as it is for L1 norms, which spread less.
        """
        share = left * (1 - count_share(self.width, NEAR, self.power))
        return int(self.constants.last * self.noise / self._part(share))

    def most_outside(self, target: int, noise: float) -> int:
        """Rows outside the last radius that are no reason to look for them.

        With N(r) rows outside and a prior r^-p a radius is where ε r N'(r) = -p: for tails of
        index a, N = p / (a ε), and it varies by some 1/ε. ``noise`` is the standard deviation of
        the noisy count.
        """
        share = self.nats * self._part(self.constants.last_radius)
        return int(target + (self._last_power / _USUAL + 2) / share + _SURELY * noise)

    def most_again(self, target: int, noise: float) -> int:
        """Rows outside a radius of the second search that tails of index three may leave."""
        share = self.nats * self._part(self.constants.again_fine)
        return int(target + _AGAIN_TILT / (3 * share) + 2.5 * noise)

    def noise_norm(self, radius: int, share: Fraction) -> float:
        """Norm of a mean's noise for a share, in the unit of the radius."""
        return radius * self.noise / self._part(share) / self.rows

    def noise_each(self, radius: int, share: Fraction) -> float:
        """Noise of one component of a mean."""
        return radius * self.each / self._part(share) / self.rows

    def _part(self, share: Fraction | float) -> float:
        """What a share buys, as a part of what the whole buys."""
        return float(share) if self.power == 1 else math.sqrt(share)

    def _bounded(self, share: float, most: float) -> Fraction:
        return _fraction(min(max(share, self.constants.least), most))

    def _pull(self, share: Fraction) -> float:
        """Nats between a radius with all rows inside and one with all outside."""
        return self.nats * self._part(share) * self.rows

    def _tilt(self, power: float, per_octave: int) -> Fraction:
        return _fraction(power * math.log(2) / per_octave)


@functools.lru_cache(maxsize=16)
def wide_radii(lattice: Lattice, power: int) -> RadiusGrid:
    """Radii from one unit to beyond any row's norm of a power, four an octave."""
    most = MOST_COLUMNS if power == 1 else math.isqrt(MOST_COLUMNS)
    return _without_zero(RadiusGrid.between(1, SUBSTEP * lattice.width * most, per_octave=4))


@functools.lru_cache(maxsize=16)
def wide_squares(lattice: Lattice) -> RadiusGrid:
    """Radii for vectors of squares, two an octave."""
    largest = SUBSTEP * lattice.width * math.isqrt(MOST_COLUMNS)
    return _without_zero(RadiusGrid.between(1, largest**2, per_octave=2))


def _without_zero(grid: RadiusGrid) -> RadiusGrid:
    """Leave out radius 0: nothing can be clipped to it."""
    return RadiusGrid(grid.radii[1:], grid.indices[1:])


def part_of(grid: RadiusGrid, low: float, high: float) -> RadiusGrid:
    """Return the radii between two ends, and the next one beyond either."""
    start = max(bisect_right(grid.radii, low) - 1, 0)
    stop = max(bisect_left(grid.radii, high) + 1, start + 1)
    return RadiusGrid(grid.radii[start:stop], grid.indices[start:stop])


def fine_radii(radius: int, lattice: Lattice, power: int) -> RadiusGrid:
    """Sixteen radii an octave about a wide one: from four octaves below it to one above."""
    middle = _place(radius, lattice, power)
    return _sixteenths(range(middle - _BELOW, middle + _FINE + 1))


def again_radii(least: int, radius: int, lattice: Lattice, power: int) -> RadiusGrid:
    """Sixteen radii an octave up to a wide one: from twelve octaves below it, or one that is known.

    Over more octaves the prior could not be strong; and few radii are so much too large.
    """
    middle = _place(radius, lattice, power)
    lowest = max(math.floor(_FINE * math.log2(least)), middle - _AGAIN * _FINE)
    return _sixteenths(range(min(lowest, middle), middle + 1))


def _place(radius: int, lattice: Lattice, power: int) -> int:
    """Place of a wide radius among the fine ones."""
    grid = wide_radii(lattice, power)
    return _FINE // 4 * grid.indices[grid.radii.index(radius)]


def _sixteenths(places: range) -> RadiusGrid:
    numbers: dict[int, int] = {}
    for j in places:
        numbers.setdefault(_sixteenth(j), j)
    return RadiusGrid(tuple(numbers), tuple(numbers.values()))


@functools.lru_cache(maxsize=16)
def all_radii(lattice: Lattice, power: int) -> tuple[int, ...]:
    """Every wide radius, and every fine one about it."""
    wide = wide_radii(lattice, power)
    fine = range(-_BELOW, _FINE // 4 * wide.indices[-1] + 17)
    return tuple(sorted({*wide.radii, *(_sixteenth(j) for j in fine)}))


def _sixteenth(j: int) -> int:
    return max(1, round(math.pow(2, j / _FINE)))


def _fraction(x: float) -> Fraction:
    return Fraction(round(x * _PLACES), _PLACES)
