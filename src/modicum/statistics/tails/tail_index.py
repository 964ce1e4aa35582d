"""The tail index that ``interval(tail="auto")`` assumes: what was seen, less its uncertainty.

Everything here is post-processing of released numbers. A radius is drawn so that few records are
beyond it, and the law of their number F is known for a tail of any index a [mean.11]. Released
:class:`Evidence` of the records within the radius says how large F would have to be, if the data
fell off like r^-a from there on: the heavier the tail, the larger. The index is the least for which
that F is not among the largest of its law.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.selection import Selection, quadrature

Floats = NDArray[np.float64]

USUAL = 3.0  # assumed where nothing was seen, and never more: beyond the bounds nothing can be seen
# Of the order of the moment that an answer needs: so much more an index is at least assumed to be,
# and so much more it has to be at least for a status without a warning, up to the order 1 and 2.
_LEAST, _SURE = 0.2, (0.6, 0.0)
_TWENTIETHS = range(20, 61)  # of the indices that are told apart, 1 to 3
_SIXTEENTHS = 16
_PHASES = 8
_NODES = 24


def assumed_index(least: float | None, typical: float | None, order: float) -> float:
    """Return the index to assume, of the least and the typical one that explain the evidence.

    If a tail that looks light enough may be heavier, for all that is known, that is worth a warning
    and not an interval for the worst.
    """
    if least is None or typical is None:
        return USUAL
    sure = surely_enough(order)
    return max(least, order + _LEAST, sure if typical >= sure else 0.0)


def surely_enough(order: float) -> float:
    """Return the index from which on the default interval allows for the tail that was seen."""
    return order + _SURE[order > 1]


def seen_in_words(index: float) -> str:
    """Say what was seen of a tail, as far as it can be told apart."""
    least, most = _TWENTIETHS[0] / 20, _TWENTIETHS[-1] / 20
    bound = " or more" * (index <= least) + " or less" * (index >= most)
    return f"{share_twice_as_far(index)}{bound}"


def share_twice_as_far(index: float) -> str:
    """Say what a tail index is: how many of those far out lie twice as far out.

    Examples
    --------
    >>> share_twice_as_far(3), share_twice_as_far(1.6)
    ('12 %', '33 %')
    """
    return f"{100 * 2**-index:.2g} %"


def rare(tail: float) -> str:
    """Say what an interval assumes of values far out."""
    return f"of those beyond any distance at most {share_twice_as_far(tail)} lie twice as far out"


def tail_in_words(
    tail: float, allowed: str, seen: str = "No released number can check that."
) -> str:
    """Say how far an interval allows for clipping, and what was ``seen`` of it."""
    return (
        "Values beyond the clipping bounds are cut before noise is added, so that no single row "
        f"shows. interval(tail={tail:g}) also allows for what was cut, {allowed}. {seen}"
    )


class Evidence(Hashable, Protocol):
    """What was released of the records within a drawn radius."""

    def fits(self, tail: float, number: float, radius: float) -> bool:
        """Whether a tail of an index explains it, with at most ``number`` beyond the radius."""


class RankEvidence(NamedTuple):
    """About so many ``records`` are further away than the distance ``beyond``."""

    records: float
    beyond: float

    def fits(self, tail: float, number: float, radius: float) -> bool:
        """F(r) = F(beyond) (beyond / r)^a is not more than ``number``."""
        return self.records * math.pow(self.beyond / radius, tail) <= number


class PowerEvidence(NamedTuple):
    """The mean power of the distances of ``records`` is at least ``share`` of a bound's.

    The distances, clipped to the ``bound``, have the power 1 or 2, the ``order``.

    Notes
    -----
    If a share f of the records is beyond the bound, and the distances fall off like r^-a from a
    smallest one on, that is s = f^(1/a) bounds, and the mean q-th power of the clipped distances is

    s^q + q ∫_s^1 u^(q-1) f u^-a du = s^q + q f (1 - s^(q-a)) / (q - a)

    in powers of the bound. It grows with a and with f. The data may have a larger part of their
    mean within: they are then lighter than it says.
    """

    order: int
    records: float
    share: float
    bound: float

    def fits(self, tail: float, number: float, radius: float) -> bool:
        """The tail has a mean power that is no less."""
        beyond = number * math.pow(min(radius / self.bound, 1.0), tail)
        share = min(beyond / self.records, 1.0)
        smallest, spare = math.pow(share, 1 / tail), self.order - tail
        inside = (
            -math.log(smallest) if abs(spare) < 1e-9 else (1 - math.pow(smallest, spare)) / spare
        )
        power = math.pow(smallest, self.order) + self.order * share * inside
        return power >= self.share


class RadiusLaw(NamedTuple):
    """The law of the number F of records beyond a drawn ``radius``: η F for a tail of any index."""

    radius: float
    eta: float
    power: float
    selection: Selection
    per_octave: int = 2

    def at_most(self, tail: float, alpha: float) -> float:
        """More records are beyond the radius with a probability of at most alpha.

        They grow with the power, which is rounded up: many groups have few laws between them.
        """
        power = math.ceil(_SIXTEENTHS * self.power) / _SIXTEENTHS
        return most_of(power, tail, self.selection, self.per_octave, alpha) / self.eta

    def least_index(self, evidence: Iterable[Evidence], alpha: float) -> float | None:
        """Return the least index, up to 3, that explains all evidence; ``None`` without any.

        It is too large with a probability of at most alpha, if the data fall off like a power.
        """
        found = [_least(self, each, alpha) for each in evidence]
        return max(found, default=None)


# A status and an interval ask the same of released numbers.
@functools.lru_cache(maxsize=64)
def _least(law: RadiusLaw, evidence: Evidence, alpha: float) -> float:
    def fits(place: int) -> bool:
        tail = _TWENTIETHS[place] / 20
        return evidence.fits(tail, law.at_most(tail, alpha), law.radius)

    low, high = -1, len(_TWENTIETHS) - 1
    if not fits(high):
        return USUAL  # the tail is lighter than that
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return _TWENTIETHS[high] / 20


@functools.lru_cache(maxsize=4096)
def most_of(
    power: float, tail: float, selection: Selection, per_octave: int, alpha: float
) -> float:
    """Return what the law of :func:`law_of_outside` exceeds with probability alpha at most."""
    return upper_quantile(*law_of_outside(power, tail, selection, per_octave), alpha)


def upper_quantile(numbers: Floats, probabilities: Floats, alpha: float) -> float:
    """Return what a distribution exceeds with a probability of at most alpha."""
    order = np.argsort(numbers)[::-1]
    more = np.cumsum(probabilities[order]) - probabilities[order]
    return float(numbers[order[np.searchsorted(more, alpha, side="right") - 1]])


@functools.lru_cache(maxsize=1024)
def law_of_outside(
    power: float, tail: float, selection: Selection, per_octave: int = 2
) -> tuple[Floats, Floats]:
    """Exact distribution of the selection on parts of an octave, for F(r) = F(1) r^-tail.

    It is that of eta F. It does not depend on F(1), but for the position of the candidates relative
    to the data: it is an average over positions. Candidates further out than a cost of 50, or with
    60 / eta more records outside than the best, have no weight.
    """
    step = math.log(2) / per_octave
    best = power / tail  # eta F where the score is stationary
    near = math.ceil(math.log(1 + (60 + best) / best) / (tail * step))
    far = math.ceil((50 + best) / (power * step))
    places = (np.arange(_PHASES)[:, None] / _PHASES + np.arange(-near, far + 1)) * step
    numbers = best * np.exp(-tail * places)
    costs = numbers + power * places
    weights = np.exp(costs.min(axis=1, keepdims=True) - costs)
    if selection == "flip":  # the integral over arrival times, as in mechanisms/selection.py
        nodes, node_weights = quadrature(_NODES)
        failed = np.log1p(-(nodes[:, None, None] + 1) / 2 * weights)
        others = np.exp(failed.sum(axis=2, keepdims=True) - failed)
        weights = weights * np.tensordot(node_weights / 2, others, axes=1)
    weights /= weights.sum(axis=1, keepdims=True) * _PHASES
    return numbers.ravel(), weights.ravel()
