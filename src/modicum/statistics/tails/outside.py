"""The error model of statistics of clipped values: noise, records outside of the bounds, status.

How many records are outside is bounded from public values only; a status says what these say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Noise
from modicum.mechanisms.selection import Selection
from modicum.releases.release import Interval
from modicum.releases.status import OK, Status, bounds_in_steps, hardly_seen
from modicum.statistics.tails.tail_index import (
    Evidence,
    Floats,
    PowerEvidence,
    RadiusLaw,
    RankEvidence,
    assumed_index,
    law_of_outside,
    most_of,
    rare,
    seen_in_words,
    surely_enough,
    tail_in_words,
)
from modicum.stored.codec import storable

_RARELY = 0.03


class Redrawn(NamedTuple):
    """Independent noises of a last draw, and the answer in the data's unit that follows from them.

    The method ``redrawn`` of an error model returns this for a public table: a plan averages the
    error over that noise, whose law is known, and so needs fewer synthetic releases.
    """

    noises: tuple[Noise, ...]
    value: Callable[..., Fraction]


@storable
@dataclass(frozen=True, slots=True)
class NoisyTerm:
    """A known multiple of a noise variable."""

    noise: Noise
    factor: float

    def bound(self, alpha: float) -> float:
        """Return a t with P(|factor noise| > t) <= alpha."""
        return self.factor * self.noise.tail_bound(alpha)

    def explains(self, seen: float) -> bool:
        """Whether what was seen may be nothing but the term, which is larger 3 times in 100."""
        return abs(seen) <= self.bound(_RARELY)

    @property
    def variance(self) -> float:
        """Variance of the term."""
        return self.factor**2 * self.noise.variance


@storable
@dataclass(frozen=True, slots=True)
class Counted:
    """A count estimate, at least 1, and the independent terms its error is the sum of."""

    value: Fraction
    noise: tuple[NoisyTerm, ...]

    def bound(self, alpha: float) -> float:
        """Return a t with P(|error| > t) <= alpha."""
        return sum(term.bound(alpha / len(self.noise)) for term in self.noise)

    def least(self, alpha: float) -> float:
        """Return what the count is at least, with a probability of 1 - alpha."""
        return float(self.value) - self.bound(alpha)


_LEAST_INDEX = 2 / 3
_LARGEST_INDEX = 64.0  # with it, there is next to nothing outside
_RARE, _TWICE, _IN_TIGHT = 1e-3, 0.05, 0.2
STEEP = 5.0  # largest power of the prior of sizes
_WIDER = 0.5  # octaves by which radii of a heavy tail are widened, after so steep a prior
_HEAVY, _LIGHT = 1.3, 2.0  # indices from which on, downwards, that is all of it, and nothing
LEAST_OF_SIZES, _WIDEST_OF_SIZES = 2.0, 3.0  # index assumed, octaves
_STEEPEST = (12.0, 48.0)  # of the indices between two radii and of a shape
_NEAR = 2  # times the radii about the centre
_SEEN = 0.95  # level of the interval that a summary shows


@storable
@dataclass(frozen=True, slots=True)
class Outside:
    """What the radius draws imply about the records outside their radii.

    ``radii`` were chosen on each side, in lattice steps, of ``candidates``, ``per_octave`` of an
    octave, of which no record is outside the ``widest``, and widened afterwards by the factor
    ``widening``; the ``least`` of them is the first that is not 0. A record outside scores ``eta``,
    and the prior of a radius r is r^-power, or less steep far beyond the data. ``seen``, if the
    shape of the tail was looked at, is about how many records are further from the centre than a
    released radius, and this radius; ``falling`` is the index that a light tail of its shape has
    where the radii are drawn; ``half`` is the same of a radius about home; ``others``, if the radii
    are about home themselves, about how many records are away from it; ``counted``, if they were
    counted, a number of the records outside with ``noise``; ``twice``: it is a second number, drawn
    because a tail hardly explained the first; ``tight``: home is far from radii so small. Beyond an
    ``ankle``, if there is one, the prior of a radius is r^-1.

    Both selections choose a candidate i with probability at most exp(q_i - q_max), and the widest
    radius has score -power ln(widest). So with probability 1 - alpha a side's F records outside its
    radius r obey eta F <= power ln(widest / r) + ln(candidates / alpha), or power ln(ankle / r) +
    ln(widest / ankle) + ln(candidates / alpha). This needs no assumption on the data.
    """

    radii: tuple[int, ...]
    widest: int
    candidates: int
    eta: float
    power: float
    widening: float = 1.0
    per_octave: int = 2
    least: int = 1
    selection: Selection = "flip"
    seen: tuple[float, int] | None = None
    falling: float = 0.0
    half: tuple[float, int] | None = None
    others: float = 0.0
    counted: int | None = None
    noise: Noise | None = None
    twice: bool = False
    tight: bool = False
    ankle: int = 0
    half_inside: bool = False  # of releases that were stored before

    def reach_of(self, side: int) -> int:
        """Return the radius of a side, widened."""
        return round(self.widening * self.radii[side])

    def excess(self, alpha: float, rare: float | None = None) -> float:
        """Bound on the records outside, if there are more than a tail of index 2 explains; else 0.

        A part ``rare`` of the releases is wrong about that for each of noise and tail: a thousandth
        by default, or a twentieth of those that were counted twice. Beside tight radii a group at
        home would be most of the answer, so a tail is taken to leave what it leaves once in five.
        """
        if rare is None:
            rare = _TWICE if self.twice else _RARE
        if self.counted is None or self.noise is None:
            return 0.0
        usual = self.usual(_IN_TIGHT if self.tight else rare)
        if self.counted - self.noise.tail_bound(2 * rare) <= usual:
            return 0.0
        return self.counted_at_most(alpha)

    def usual(self, rare: float) -> float:
        """Bound on the records outside that a tail of index 2 explains, for each radius."""
        radii = [max(1.0, self.widening * r) for r in self.radii]
        return sum(self.quantile(rare, 2.0, r, side) for side, r in enumerate(radii))

    def counted_at_most(self, alpha: float) -> float:
        """Bound on the records outside from their noisy count alone; 0 if they were not counted."""
        if self.counted is None or self.noise is None:
            return 0.0
        return max(self.counted, 0) + self.noise.tail_bound(2 * alpha)

    def at_most(self, alpha: float) -> float:
        """Bound on the records outside all sides together, with probability 1 - alpha."""
        return sum(self._sides(alpha))

    def too_many(
        self, least_count: float, alpha: float, ended: tuple[bool, ...] = (False, False)
    ) -> bool:
        """Whether more than 3/4 of the data may be outside, 3/8 on one side of two.

        Then nothing can be said. No record is outside on a side that ended with the range. A noisy
        count of those outside may bound them more closely than the distribution of the draw.
        """
        if self.counted is not None:
            alpha /= 2
            if self.counted_at_most(alpha) <= 0.375 * least_count:
                return False
        sides = zip(self._sides(alpha), ended, strict=False)
        most = max(0.0 if end else side for side, end in sides)
        return most * len(self.radii) > 0.75 * least_count

    def _sides(self, alpha: float) -> list[float]:
        slack = math.log(self.candidates * len(self.radii) / alpha)
        # Radius 0 counts as one half octave below the first candidate.
        below = self.least * math.sqrt(0.5)
        return [(self._cost(max(r, below)) + slack) / self.eta for r in self.radii]

    def _cost(self, radius: float) -> float:
        """Nats that the prior costs from a radius to the widest."""
        turn = min(max(self.ankle, radius), self.widest) if self.ankle else self.widest
        return self.power * math.log(turn / radius) + math.log(self.widest / turn)

    def expected(self, tail: float) -> float:
        """Typical number of records outside the heavier side, for a tail of index ``tail``.

        Where F(r) ~ r^-tail the score is stationary at eta tail F = power; widening r by a
        factor g leaves g^-tail of them.
        """
        return self.power / (self.eta * tail) * math.pow(self.widening, -tail)

    def index(self) -> float | None:
        """Tail index between the radius that was seen and the wider one drawn; ``None``: unknown.

        It solves F(r) = F(seen) (seen / r)^a at F(r) = power / (eta a), the typical number, so it
        is about right to a third of itself. Below 2/3, where no mean would exist, the radius that
        was seen has collapsed: most of the data may be a single value.
        """
        if self.seen is None:
            return None
        inside = self.seen[1]
        ratio = math.log(max(self.radii) / inside) if max(self.radii) > inside > 0 else 0.0
        index = 3.0
        for _ in range(20):
            index = self._nats(index) / max(ratio, 1e-9)
        return index if index > _LEAST_INDEX else None

    def _nats(self, index: float) -> float:
        """How many records were seen for each beyond a drawn radius, power / (eta a), in nats."""
        number = self.seen[0] if self.seen else 0.0
        return math.log(max(number * self.eta * index / self.power, math.e))

    def wider(self, light: float = _LIGHT) -> float:
        """[sum.3] Octaves of a wider radius, whose noise is worth the clipping of a heavy tail.

        From the index ``light`` on there are none.
        """
        index = self.index()
        if index is None:
            return 0.0
        heavy = min(1.0, max(0.0, (light - index) / (light - _HEAVY)))
        return _WIDER * heavy * max(0.0, (self.power - 2) / (STEEP - 2))

    @property
    def status(self) -> Status:
        """What is to be said of sums of many rows: of their range."""
        return AT_END if max(self.radii) >= self.widest else OK

    def evidence(self) -> tuple[Evidence, ...]:
        """What was released of the tail before the bounds.

        A radius about home that is far wider than those about the centre tells how far the centre
        is from home, and nothing of the tail.
        """
        near = self.half is not None and self.half[1] <= _NEAR * max(self.radii)
        seen = (self.seen, self.half if near else None)
        return tuple(RankEvidence(*each) for each in seen if each is not None)

    def least_index(self, evidence: tuple[Evidence, ...], alpha: float) -> float | None:
        """[mean.11] Least index that explains all evidence; ``None`` if nothing is known."""
        radius = max(self.radii)
        if not radius:
            return None
        law = RadiusLaw(radius, self.eta, self.power, self.selection, self.per_octave)
        return law.least_index(evidence, alpha)

    def _index(self, tail: float) -> float:
        """Index of the records outside: two thirds of the one that was seen, if that is more."""
        between, shaped = _STEEPEST
        steep = max(min((self.index() or 0.0) * 2 / 3, between), min(self.falling * 2 / 3, shaped))
        return min(max(tail, math.floor(steep * 4) / 4), _LARGEST_INDEX)

    def distribution(self, tail: float) -> tuple[Floats, Floats]:
        """Distribution of eta times the records outside a drawn radius, for a tail of an index.

        If two thirds of the index that was seen are more than ``tail``, they take its place.
        Returned are numbers and probabilities.
        """
        return law_of_outside(self.power, self._index(tail), self.selection, self.per_octave)

    def _beyond(self, tail: float, distance: float, side: int) -> float:
        """Number of the records beyond a distance on a side for one that scores 1 at the radius."""
        radius = self.radii[side]
        share = math.pow(min(radius / distance, 1.0), tail) if radius else 1.0
        return share / self.eta

    def beyond(self, tail: float, distance: float, side: int) -> tuple[Floats, Floats]:
        """Distribution of the records beyond a distance on a side, for a tail of index ``tail``.

        Further out than the drawn radius there are (radius / distance)^tail of the records outside
        it. With a radius of 0 nothing is known of them: all of them. Returned are numbers and
        probabilities.
        """
        numbers, probabilities = self.distribution(tail)
        return self._beyond(tail, distance, side) * numbers, probabilities

    def quantile(self, alpha: float, tail: float, distance: float, side: int) -> float:
        """More records than this are beyond a distance with a probability of at most alpha."""
        most = most_of(self.power, self._index(tail), self.selection, self.per_octave, alpha)
        return self._beyond(tail, distance, side) * most

    def reach(
        self, alpha: float, tail: float, distance: float, side: int, noise: NoisyTerm
    ) -> float:
        """Bound on the clipped excess of a side less a noise, to within 1 %.

        Beyond a distance d, F records of a tail of index a have an excess of F d / (a - 1) over
        it, all together. It is exceeded with a probability of at most alpha.
        """
        distance = max(distance, self.widening * self.radii[side])
        numbers, probabilities = self.beyond(tail, distance, side)
        excesses = numbers * distance / (tail - 1)

        def missed(z: float) -> float:
            return float(probabilities @ noise.noise.beyond((z - excesses) / noise.factor))

        low = noise.bound(2 * alpha)
        high = 2 * low + float(probabilities @ excesses) + 1.0
        while missed(high) > alpha:
            low, high = high, 2 * high
        while high - low > 0.01 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if missed(middle) > alpha else (low, middle)
        return high


def home_of(lattice: Lattice) -> int:
    """Return the lattice point nearest to zero."""
    return min(max(0, lattice.first), lattice.last)


FEW = Status(
    "wide_noise",
    "so few rows for this budget that no bounds could be found: the noise follows the range; a "
    "larger budget or a narrower `within` helps",
)
APART = Status(
    "wide_noise",
    "few rows differ from the rest, too few for this budget to find their range: the noise is as "
    "for the whole range, and an answer whose interval is short enough can be used; a larger "
    "budget or a narrower `within` helps",
)
NO_CENTRE = Status(
    "wide_noise",
    "too few rows for a private centre at this budget: the noise follows the size of the "
    "values, not their spread; a larger budget helps",
)
TOO_LITTLE = Status(
    "few_records",
    "too little data for this range and budget: most records may have been clipped; narrow "
    "`within` or spend more",
)
BEYOND = Status(
    "clipped",
    "about {records:,} records lie beyond the clipping bounds, too many for "
    "a tail: a second group lies far away and was clipped; clusters='keep', a narrower "
    "`within` or a larger budget may reach it",
)
HEAVY = Status(
    "heavy_tail",
    "some values lie far beyond the rest, and a few may lie further out than the interval allows "
    "for; a median hardly depends on them",
)
UNTOLD = Status(
    "unseen",
    "at this budget the data cannot show whether a few values lie far beyond the rest: the "
    "interval allows for some, and not for extreme ones; a median does not depend on them, and a "
    "larger budget shortens the interval",
)
UNCHECKED = Status(
    "unseen",
    "no released number tells whether a few values lie far beyond the rest: the interval allows "
    "for some, and interval(tail=2) for more",
)
AT_END = Status(
    "clipped",
    "some persons' rows may add up to more than the widest range of sums: leave out `within`, or "
    "choose a wider one",
)
ALLOWS = "allows for rare far values"
UNSEEN = Status(
    "unseen",
    "up to {records:,} records could lie a hundred times further out than all others without "
    "being noticed, and the interval assumes that none do: there are few for so wide a range",
)
_FAR = 100  # times the distance of the bounds
_GOOD_PART = 1 / 12  # of the records


@dataclass(frozen=True, slots=True)
class InBounds:
    """Error model of an answer from values clipped to released bounds, in lattice steps."""

    lattice: Lattice
    lo: int
    hi: int

    if TYPE_CHECKING:  # a field of some, and a property of others

        @property
        def counted(self) -> Counted: ...

    @property
    def few_seen(self) -> bool:
        return hardly_seen(float(self.counted.value), self.counted.bound(0.1))

    @property
    def clip(self) -> list[float]:
        """The clipping bounds in the data's unit."""
        return [self.lattice.value(self.lo), self.lattice.value(self.hi)]

    @property
    def places(self) -> tuple[int, int]:
        """The clipping bounds, in steps."""
        return self.lo, self.hi

    @property
    def ended(self) -> tuple[bool, bool]:
        """Whether each side is cut at the range's own end, beyond which nothing lies."""
        return self.lo <= self.lattice.first, self.hi >= self.lattice.last

    def in_range(self, lower: float, upper: float) -> Interval:
        """Return an interval in the data's unit, cut at the ends of the range."""
        step, lo, hi = self.lattice.step, self.lattice.lo, self.lattice.hi
        return Interval(max(lower * step, lo), min(upper * step, hi))

    def clipped_in_words(self, what: str, covered: str) -> str:
        """Say what an interval is for that does not allow for clipping."""
        lo, hi = self.clip
        return (
            f"interval(tail=None) is for the {what} of the data clipped to "
            f"[{lo:,.6g}, {hi:,.6g}]; it covers {covered}."
        )


class SizedByBounds(InBounds):
    """Error model of an answer that is small if the bounds are: a mean or a sum, not a spread."""

    __slots__ = ()

    @property
    def in_steps(self) -> tuple[int, ...]:
        """How large the largest released bound is, in lattice steps; 0 if it may hold zeros."""
        return bounds_in_steps(self.lo, self.hi)


def tail_status(least: float | None, typical: float | None, order: float) -> Status:
    """What to say of a tail, given the least and the typical index that explain what was seen."""
    if least is None or typical is None:
        return UNCHECKED
    if least >= surely_enough(order):
        return OK
    return HEAVY if typical < surely_enough(order) else UNTOLD


class Clipped(InBounds):
    """Error model with a distribution of the records outside of the bounds."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def outside(self) -> Outside | None: ...

        @property
        def noise(self) -> NoisyTerm: ...

    order: ClassVar[int] = 1  # of the moment that the answer needs

    def evidence(self) -> tuple[Evidence, ...]:
        """What was released of the tail within the bounds."""
        return () if self.outside is None else self.outside.evidence()

    def least_index(self, alpha: float) -> float | None:
        """[mean.11] Least tail index that explains it; ``None`` if nothing is known of the tail."""
        return None if self.outside is None else self.outside.least_index(self.evidence(), alpha)

    def tail_index(self, level: float) -> float:
        """[mean.11] The index that the interval assumes by default."""
        least, typical = (self.least_index(alpha) for alpha in ((1 - level) / 2, 0.5))
        return assumed_index(least, typical, self.order)

    @property
    def clips(self) -> bool:
        """Whether a record may lie beyond the bounds."""
        return self.outside is not None and not all(self.ended)

    @property
    def condition(self) -> str:
        if not self.clips:
            return ""
        typical = self.least_index(0.5)
        if typical is None:
            return f"{ALLOWS}, unchecked"
        return ALLOWS

    def tail_in_words(self, tail: float) -> str:
        """Say what an interval assumes that allows for clipping, and what was seen of it."""
        typical = self.least_index(0.5)
        allowed = f"if such values become rare: {rare(tail)}"
        if typical is None:
            return tail_in_words(tail, allowed)
        return tail_in_words(
            tail,
            allowed,
            f"Up to the bounds it seems to be {seen_in_words(typical)}; beyond them, no released "
            "number can tell.",
        )

    def tail_status(self) -> Status:
        """Whether the default interval allows for the tail that was seen."""
        if not self.clips:
            return OK
        least = self.least_index((1 - _SEEN) / 2)
        light = least is not None and least >= surely_enough(self.order)
        typical = least if light else self.least_index(0.5)  # which a light tail does not need
        return tail_status(least, typical, self.order)

    def too_little(self, alpha: float) -> bool:
        """Whether the bounds may hold less than a quarter of the data."""
        if self.outside is None:
            return False
        ended = self.ended if len(self.outside.radii) > 1 else (False,)
        return self.outside.too_many(self.counted.least(0.1 * alpha), alpha, ended)

    def side_bound(self, alpha: float, tail: float, side: int, centre: int = 0) -> float:
        """Bound on noise and clipped excess of a side together, with probability 1 - alpha."""
        if self.outside is None or self.ended[side]:
            return self.noise.bound(2 * alpha)  # nothing lies beyond the range
        distance = (centre - self.lo, self.hi - centre)[side]
        radius = min(side, len(self.outside.radii) - 1)
        return self.outside.reach(alpha, tail, distance, radius, self.noise)

    def judged(self, n0: int, otherwise: Status) -> Status:
        """Whether an answer within released bounds can be used.

        ``otherwise`` is its status if the bounds are no reason to doubt it, ``n0`` a noisy count.
        """
        assert self.outside is not None
        if self.too_little(0.05):
            return TOO_LITTLE
        if self.outside.excess(0.05):
            return BEYOND.filled(records=max(self.outside.counted or 0, 0))
        room = max(self.lo - self.lattice.first, self.lattice.last - self.hi)
        most = self.outside.counted_at_most(0.02)
        if not otherwise.ok:
            return otherwise
        tail, far = self.tail_status(), perhaps_unseen(most, n0, self.hi - self.lo, room)
        return tail if far.ok or tail.code == "heavy_tail" else far


def perhaps_unseen(most: float, n0: int, width: int, room: int) -> Status:
    """Say if a good part of the records may lie where it would change the answer completely.

    ``most`` may lie outside, ``room`` steps further than ``width``, which the others reach.
    """
    if most > _GOOD_PART * n0 and room > _FAR * width:
        return UNSEEN.filled(records=round(most))
    return OK


NOISE_OF_EVIDENCE = 0.05  # what is seen of the tail is worth that much less noise, at this level


def mean_size(total: float, records: float, bound: int) -> PowerEvidence:
    """What a sum of sizes of records says of their tail."""
    records, bound = max(records, 1.0), max(bound, 1)
    return PowerEvidence(1, records, min(total / records / bound, 1.0), bound)


ELSEWHERE = Status(
    "clipped",
    "most rows are (nearly) equal; about {records:,} others are not in the answer, because they "
    "are too few to find their range; a larger budget or a narrower `within` helps",
)


@dataclass(frozen=True, slots=True)
class OneValue(InBounds):
    """Error model where the bounds all but coincide.

    ``elsewhere`` is the noisy number of records outside of them, with its ``noise``.
    """

    counted: Counted
    elsewhere: int
    noise: NoisyTerm

    @property
    def status(self) -> Status:
        """Whether there are records elsewhere, as far as their noisy number tells."""
        few = self.elsewhere <= self.noise.bound(2 * _RARE)
        return OK if few else ELSEWHERE.filled(records=self.elsewhere)

    def share_elsewhere(self, alpha: float) -> float:
        """Bound on the share of the records that are not within the bounds."""
        most = max(0, self.elsewhere) + self.noise.bound(0.9 * alpha)
        least = self.counted.least(0.1 * alpha)
        return 1.0 if most >= least else most / least

    @property
    def condition(self) -> str:
        return ""

    def assumption(self, tail: float | None) -> str:
        if tail is None:
            return "interval(tail=None) is for the data clipped to the bounds: all but no width."
        return (
            f"interval() allows the records outside of the bounds, about {max(self.elsewhere, 0)}, "
            "to be anywhere in the public range; it assumes no tail."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "clip": self.clip,
            "count": float(self.counted.value),
            "elsewhere": self.elsewhere,
            "elsewhere_noise_sd": self.noise.variance**0.5,
        }


def share_of_sums(first: float, second: float, otherwise: float) -> float:
    """Return the first of two sums as a share of both, each at least 0, if they are something."""
    first, second = max(first, 0.0), max(second, 0.0)
    return first / (first + second) if first + second > 0 else otherwise


def share_between(left: int, right: int, z: float) -> tuple[float, float]:
    """Return the extremes of s1 / (s1 + s2) where both sums, at least 0, are off by z at most."""
    return share_of_sums(left - z, right + z, 0.0), share_of_sums(left + z, right - z, 1.0)
