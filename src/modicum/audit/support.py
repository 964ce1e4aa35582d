"""The outcomes of a law, listed: every probability that it gives, and how often."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.audit.product import factors
from modicum.errors import InvalidArgument
from modicum.mechanisms.additive import Additive
from modicum.mechanisms.interval import IntervalDraw
from modicum.mechanisms.joint import JointQuantiles
from modicum.mechanisms.law import Law
from modicum.mechanisms.least_loss import LeastLoss
from modicum.mechanisms.linear_level import LinearLevelLaw
from modicum.mechanisms.noise import GaussianNoise, LaplaceNoise
from modicum.mechanisms.piecewise import PiecewiseLaw
from modicum.mechanisms.radial import RadialLaw
from modicum.mechanisms.staircase import Staircase
from modicum.mechanisms.subsampled import Subsampled

__all__ = ["Support", "log_densities", "support", "telling"]

_MOST = 1 << 21  # outcomes that are listed one by one
_TAIL = 1e-15  # probability beyond the listed outcomes of a law with infinitely many


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Outcomes in increasing order; each stands for ``sizes[i]`` consecutive ones.

    Attributes
    ----------
    outcomes : tuple
        The first of each stretch of outcomes that have equal probability under every law.
    sizes : (m,) float array
        Outcomes in the stretch.
    """

    outcomes: tuple[Any, ...]
    sizes: NDArray[np.float64]


def support(laws: Sequence[Law[Any]]) -> Support:
    """List the outcomes of laws of one kind, but for a probability of about 1e-15.

    Parameters
    ----------
    laws : sequence of Law
        Of one type with the same public parameters. A law of a type unknown here must have a
        finite number of outcomes, all of them among its ``probes()``.

    Raises
    ------
    InvalidArgument
        If the outcomes cannot be listed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from modicum.mechanisms.threshold import RankThreshold
    >>> law = RankThreshold(np.array([4]), 0, 10**6, 1, 5, Fraction(1))
    >>> listed = support([law])
    >>> listed.outcomes, listed.sizes.tolist()
    ((0, 4, 5), [4.0, 1.0, 999996.0])
    """
    first = laws[0]
    if isinstance(first, Additive) and len(first.values) == 1:
        return _integers(laws)
    if isinstance(first, Staircase):
        return _points(laws)
    if isinstance(first, RadialLaw):
        every = _around(laws, math.ceil(40 / float(first.rate)) + 1)
        return Support(tuple(every), np.ones(len(every)))
    if isinstance(first, LinearLevelLaw):
        _check_size(first.last - first.first + 1)
        between = tuple(range(first.first, first.last + 1))
        return Support(between, np.ones(len(between)))
    pieces = [_pieces(law) for law in laws]
    if all(piece is not None for piece in pieces):
        return _stretches([piece for piece in pieces if piece is not None])
    outcomes = tuple(telling(laws))
    listed = Support(outcomes, np.ones(len(outcomes)))
    for law in laws:
        mass = float(np.exp(log_densities(law, outcomes)).sum())
        if abs(mass - 1) > 1e-9:
            raise InvalidArgument(
                f"the probes of a {type(law).__name__} have probability {mass:.12g}, not 1: "
                "either they are not all of its outcomes, or its log_density is no density"
            )
    return listed


def telling(laws: Sequence[Law[Any]]) -> list[Any]:
    """Return outcomes, in order, among which any two of the laws differ most.

    These are the probes of all of them. The probes of integer noise are right for the Laplace
    law (and its zCDP is not measured by ratios); for a noise of another kind every outcome is
    listed. So is, for balls of the L2 norm or about two signs, every point of those that depend on
    the data.
    """
    first = laws[0]
    if isinstance(first, RadialLaw) and (first.signless or not first.flat):
        return _around(laws, 2)
    if isinstance(first, Additive) and not isinstance(first.noise[0], LaplaceNoise | GaussianNoise):
        return list(support(laws).outcomes)
    return sorted({outcome for law in laws for outcome in law.probes()})


def log_densities(law: Law[Any], outcomes: Sequence[Any]) -> NDArray[np.float64]:
    """Log density at each outcome, shape (m,).

    The same as ``law.log_density`` one by one, but a factor of a product law is evaluated once
    for every value of its coordinate, and a subsampled law's subsamples are run through once.
    """
    parts = factors(law)
    if len(parts) > 1:
        total = np.zeros(len(outcomes))
        for k, part in enumerate(parts):
            values = list(dict.fromkeys(outcome[k] for outcome in outcomes))
            place = {value: i for i, value in enumerate(values)}
            densities = log_densities(part, [(value,) for value in values])
            total += densities[[place[outcome[k]] for outcome in outcomes]]
        return total
    if isinstance(law, Subsampled) and law.level > 0:
        return _mixture(law, outcomes)
    if isinstance(law, JointQuantiles | IntervalDraw | LeastLoss | RadialLaw):
        return law.log_densities(outcomes)
    return np.array([law.log_density(outcome) for outcome in outcomes], dtype=np.float64)


def _mixture(law: Subsampled[Any], outcomes: Sequence[Any]) -> NDArray[np.float64]:
    """Sum over all subsamples, equal ones together."""
    records = law.records.all()
    inside, outside = math.log(2.0**-law.level), math.log1p(-(2.0**-law.level))
    weights: dict[tuple[int, ...], float] = {}
    for size in range(len(records) + 1):
        for chosen in combinations(sorted(records.tolist()), size):
            weight = math.exp(size * inside + (len(records) - size) * outside)
            weights[chosen] = weights.get(chosen, 0.0) + weight
    total = np.full(len(outcomes), -np.inf)
    for chosen, weight in weights.items():
        inner = law.law.over(np.array(chosen, dtype=np.int64))
        total = np.logaddexp(total, math.log(weight) + log_densities(inner, outcomes))
    return total


def _pieces(law: Law[Any]) -> PiecewiseLaw | None:
    if isinstance(law, PiecewiseLaw):
        return law
    if isinstance(law, Subsampled):  # every subsample cuts at a subset of the records
        return _pieces(law.law.over(law.records.all()))
    return None


def _stretches(laws: Sequence[PiecewiseLaw]) -> Support:
    """Cut the interval wherever one of the laws has a new stretch."""
    runs = [law.runs() for law in laws]
    starts = sorted({int(start) for run in runs for start in run.starts})
    stop = int(runs[0].starts[-1]) + int(runs[0].lengths[-1])
    sizes = [after - start for start, after in zip(starts, [*starts[1:], stop], strict=True)]
    return Support(tuple(starts), np.array(sizes, dtype=np.float64))


def _integers(laws: Sequence[Law[Any]]) -> Support:
    ends = [
        law.values[0] + sign * math.ceil(law.noise[0].tail_bound(_TAIL))
        for law in laws
        if isinstance(law, Additive)
        for sign in (-1, 1)
    ]
    _check_size(max(ends) - min(ends) + 1)
    outcomes = tuple((k,) for k in range(min(ends), max(ends) + 1))
    return Support(outcomes, np.ones(len(outcomes)))


def _points(laws: Sequence[Law[Any]]) -> Support:
    """Return the points whose weight, for one of the laws, is at least exp(-40) of the top."""
    stairs = [law for law in laws if isinstance(law, Staircase)]
    reach = max(law.width + law.l1 * math.ceil(40 / float(law.epsilon)) for law in stairs)
    axes = [
        range(min(values) - reach, max(values) + reach + 1)
        for values in zip(*(law.values for law in stairs), strict=True)
    ]
    _check_size(math.prod(len(axis) for axis in axes))
    centres = {law.values for law in stairs}
    outcomes = tuple(
        point
        for point in product(*axes)
        if any(
            sum(abs(x - v) for x, v in zip(point, centre, strict=True)) <= reach
            for centre in centres
        )
    )
    return Support(outcomes, np.ones(len(outcomes)))


def _around(laws: Sequence[Law[Any]], shells: int) -> list[tuple[int, ...]]:
    """Return every point of a box around the balls of all laws, so many shells of the tail wide."""
    radial = [law for law in laws if isinstance(law, RadialLaw)]
    reaches = [law.reach(shells) for law in radial]
    axes = []
    for values in zip(*(law.centre for law in radial), strict=True):
        ends = [c + s * r for c, r in zip(values, reaches, strict=True) for s in (-1, 1)]
        ends += [-end for end in ends] if radial[0].signless else []
        axes.append(range(min(ends), max(ends) + 1))
    _check_size(math.prod(len(axis) for axis in axes))
    return list(product(*axes))


def _check_size(outcomes: int) -> None:
    if outcomes > _MOST:
        raise InvalidArgument(
            f"the law has {outcomes:,} outcomes to list, more than {_MOST:,}: "
            "audit the same law at a smaller noise scale"
        )
