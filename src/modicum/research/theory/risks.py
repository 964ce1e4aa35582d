"""The least error that an ε-private algorithm can have near the data at hand, and its bounds.

Risks differ in what is near: subsets, data of the same values, a ball, or one other data set.
All rest on how well two data sets can be distinguished. :func:`compare` puts three side by side.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument, as_given
from modicum.exact.rational import as_integer
from modicum.privacy.budget import Number
from modicum.research.theory.arguments import checked_range, chosen, ordered, positive
from modicum.research.theory.modulus import Neighbours, extremes, farthest
from modicum.research.theory.statistics import Floats, Integers, Statistic

_SCHEMA = "modicum.theory/1"
_MARK = "computed from the data: not private"


def two_point_error(distance: int, epsilon: Number) -> float:
    """Return the least error probability of an ε-private test between two data sets.

    Parameters
    ----------
    distance : int
        m >= 0, the number of neighbouring steps between them.
    epsilon : int, float, str or Fraction
        Above 0.

    Returns
    -------
    float
        exp(-ε m/2) / 2 for even m and exp(-ε (m - 1)/2) / (1 + exp(ε)) for odd m: the least value
        of the larger of the two probabilities of a wrong answer.

    Notes
    -----
    Let b be the probability of the second answer. A step to a neighbour raises it at most to
    f(b) = min(exp(ε) b, 1 - exp(-ε) (1 - b)). Starting from δ, m steps must reach 1 - δ. By
    symmetry half of them lead to 1/2 (m even), where b still grows by exp(ε) each; for odd m the
    middle step leads from 1/(1 + exp(ε)) to exp(ε)/(1 + exp(ε)). The test that answers with these
    probabilities, by the distance from the first data set, is ε-private on all data sets and
    attains it. The bound of Dick et al. 2023, Lemma 4.4, exp(-ε m)/2, uses the two ends of the path
    only; for ε m = 2 it is smaller by a factor of e.

    If a statistic differs by Δ between the two, then under absolute loss the least value of the
    larger expected loss is Δ times this: ``sum |t - θ1| p1 + |t - θ2| p2 >= Δ sum min(p1, p2)``,
    and the test above answers θ1 or θ2.

    Examples
    --------
    >>> two_point_error(2, 1) == math.exp(-1) / 2
    True
    >>> two_point_error(1, 1) == 1 / (1 + math.e)
    True
    """
    m = as_integer(distance, "distance", 0)
    return float(_two_point_errors(np.array([m]), float(positive(epsilon, "epsilon")))[0])


def _two_point_errors(distances: Integers, epsilon: float) -> Floats:
    pairs, odd = np.divmod(distances, 2)
    middle = np.where(odd, 1 / (1 + math.exp(epsilon)), 0.5)
    return np.asarray(np.exp(-epsilon * pairs) * middle, dtype=np.float64)


class _Result:
    """Numbers that were computed from the data."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON types; an infinite number is None."""
        found = {each.name: _json(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]
        return {"schema": _SCHEMA, "private": False, **found}

    def to_json(self) -> str:
        """Return it as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)


def _json(x: Any) -> object:
    match x:
        case _Result():
            return x.to_dict()
        case Fraction():
            return str(x)
        case tuple():
            return [_json(each) for each in x]
        case float() if not math.isfinite(x):
            return None
    return x


@dataclass(frozen=True, slots=True)
class RiskBounds(_Result):
    """A risk under absolute loss, in the unit of the data.

    Not private: it is not a release but computed from the data themselves, and publishing it
    reveals them.

    Attributes
    ----------
    risk : str
        Which one.
    statistic : str
        Of what.
    epsilon : Fraction
        Of the algorithms that compete.
    operations : int
        k = floor(1/ε).
    spread : float
        The quantity with which the papers characterise the risk up to constants.
    lower, upper : float
        The risk lies between them; they agree where it is known exactly.

    Examples
    --------
    >>> from modicum import theory
    >>> risk = theory.subset_risk([28_000.0] * 990 + [100_000.0] * 10, "mean", 0.1)
    >>> risk.operations, round(risk.lower), round(risk.upper)
    (10, 218, 364)
    """

    risk: str
    statistic: str
    epsilon: Fraction
    operations: int
    spread: float
    lower: float
    upper: float

    def __str__(self) -> str:
        """Return one line."""
        exact = self.lower == self.upper
        value = f"{self.lower:.4g}" if exact else f"{self.lower:.4g} to {self.upper:.4g}"
        return (
            f"{self.risk} risk of the {self.statistic} at ε = {float(self.epsilon):g}: {value} "
            f"(spread {self.spread:.4g}; {_MARK})"
        )


def _removals(epsilon: Number) -> int:
    """Return k = floor(1/ε), the number of records that subset risk may remove.

    Above 1 no record could be removed and the risk would be 0.
    """
    value = positive(epsilon, "epsilon")
    if value > 1:
        raise InvalidArgument(f"epsilon must be at most 1 for this risk, got {as_given(epsilon)}")
    return math.floor(1 / value)


def _ball_bounds(lowest: Floats, highest: Floats, epsilon: Fraction) -> tuple[float, float]:
    """Bound inf over ε-private A of the largest E|A(D') - θ(D')| over a set of data sets.

    ``highest[i]`` and ``lowest[j]`` are attained by members of the set at distances at most i
    and j from one centre, and the last of them are the extremes of the whole set.

    Below: two members at distance i + j or less, and :func:`two_point_error`. Above: the algorithm
    that always answers the middle of the extremes.
    """
    rate, best = float(epsilon), 0.0
    errors = _two_point_errors(np.arange(len(highest) + len(lowest)), rate)
    for i, top in enumerate(highest.tolist()):
        best = max(best, float(((top - lowest) * errors[i : i + len(lowest)]).max()))
    return best, float(highest[-1] - lowest[-1]) / 2


def subset_risk(data: ArrayLike, statistic: str | Statistic, epsilon: Number) -> RiskBounds:
    """Return the subset risk R(D, ε) of Dick et al. 2023, bounded from both sides.

    R(D, ε) is the least value, over ε-private algorithms A, of the largest E|A(D') - θ(D')| over
    the subsets D' that leave out at most k = floor(1/ε) records. Not private: it is computed from
    the data themselves.

    Parameters
    ----------
    data, statistic
        As for :func:`modulus`; n > 1/ε.
    epsilon : int, float, str or Fraction
        In (0, 1].

    Returns
    -------
    RiskBounds
        ``spread`` is θ(D without its k lowest) - θ(D without its k highest), the largest
        difference between such subsets.

    Raises
    ------
    InvalidArgument
        For bad arguments, or if the statistic is not defined for n - k records.

    Notes
    -----
    Lemma 3.2 (mean) and Lemma 4.4 (monotone properties) have R = c spread with c between
    1/(2e²) and 1. Differs from them: the bounds here are tighter. ``upper`` is half of the
    spread, by the algorithm that answers the middle (theirs answers θ(D)). ``lower`` takes
    the best pair of subsets and the exact testing error, which is 1/(2e) of the spread or more
    if 1/ε is an integer. Lemma 4.4 prints no condition that both data sets are subsets of D; it
    is false without it.

    The cost is n log n for the sort, 1/ε values of the statistic a side, and 1/ε² operations.

    Examples
    --------
    >>> from modicum import theory
    >>> incomes = [28_000.0] * 500 + [100_000.0] * 500
    >>> print(theory.subset_risk(incomes, "mean", 0.1))
    subset risk of the mean at ε = 0.1: 133.8 to 363.6 (spread 727.3; computed ... not private)
    """
    x, k = ordered(data), _removals(epsilon)
    rate, theta = positive(epsilon, "epsilon"), chosen(statistic)
    if len(x) <= k:
        raise InvalidArgument(f"more than 1/epsilon = {k} records are needed, got {len(x)}")
    removed = np.arange(k + 1)
    none = np.zeros_like(removed)
    highest = theta.raised(x, removed, none, float(x[-1]))
    lowest = theta.lowered(x, removed, none, float(x[0]))
    if np.isnan(highest).any() or np.isnan(lowest).any():
        raise InvalidArgument(f"the {theta.name} is not defined for {len(x) - k} records")
    spread = float(highest[-1] - lowest[-1])
    return RiskBounds("subset", theta.name, rate, k, spread, *_ball_bounds(lowest, highest, rate))


def in_neighbour_risk(data: ArrayLike, statistic: str | Statistic, epsilon: Number) -> RiskBounds:
    """Return the in-neighbour risk R2(D, ε) of Huang et al. 2021, extended to distance 1/ε.

    It is the least value, over ε-private algorithms A, of the largest E|A(D') - θ(D')| over the
    data sets D' within k = floor(1/ε) additions and removals whose values all occur in D. Not
    private: it is computed from the data themselves.

    Parameters
    ----------
    data, statistic, epsilon
        As for :func:`subset_risk`, with n >= 1.

    Returns
    -------
    RiskBounds
        ``spread`` is the largest ``|θ(D) - θ(D')|``, the quantity of Dick et al. 2023, Remark 2.4.

    Raises
    ------
    InvalidArgument
        As of :func:`subset_risk`.

    Notes
    -----
    For a monotone statistic the extremes add copies of the largest or smallest record, so the
    spread is the modulus of continuity for the range of the data. Differs from both papers:
    expected loss as in R, where Huang et al. ask for an error that holds with probability
    2/3. Dick et al. print that as Pr(loss > η) < 2/3, which allows failure with
    probability 2/3: then a coin that knows two values has risk 0.

    Examples
    --------
    >>> from modicum import theory
    >>> theory.in_neighbour_risk([0.0] * 900 + [1.0] * 100, "mean", 0.1).spread
    0.009090909090909094

    Without ten of the ones: 90/990 against 100/1000.
    """
    x, k = ordered(data), _removals(epsilon)
    ends = (float(x[0]), float(x[-1]))
    ball = ball_risk(x, statistic, epsilon, radius=k, within=ends, neighbours="add-remove")
    return replace(ball, risk="in-neighbour")


def ball_risk(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    radius: int,
    within: tuple[float, float],
    neighbours: Neighbours = "swap",
) -> RiskBounds:
    """Return the least, over ε-private algorithms, of the largest error within a radius of D.

    Not private: it is computed from the data themselves.

    Parameters
    ----------
    data, statistic, within, neighbours
        As for :func:`modulus`. The paper's data sets have one size, as under "swap".
    epsilon : int, float, str or Fraction
        Above 0.
    radius : int
        r >= 0, the distance from the data up to which the error counts.

    Returns
    -------
    RiskBounds
        ``spread`` is ω(D, r).

    Notes
    -----
    Theorem 4 states R(x; d/ε) = Ω(ω(x; d/ε)) without the constant. In one dimension the two-point
    bound gives it: ``lower`` is at least ω(x; r) :func:`two_point_error` (r), which is 0.30 times
    ω if r = 1/ε. ``upper`` is the algorithm that always answers the middle.

    Examples
    --------
    >>> from modicum import theory
    >>> bounds = theory.ball_risk([0.5] * 100, "mean", 0.1, radius=10, within=(0, 1))
    >>> print(bounds)
    radius 10 minimax risk of the mean at ε = 0.1: 0.01839 to 0.05 (spread 0.05; ... private)
    """
    # Asi and Duchi 2020, equation (6).
    x, rate, theta = ordered(data), positive(epsilon, "epsilon"), chosen(statistic)
    r = as_integer(radius, "radius", 0)
    range_ = checked_range(within, x)
    here = theta.value(x)
    ends = extremes(x, theta, np.arange(r + 1), range_, neighbours)
    bounds = _ball_bounds(*ends, rate)
    return RiskBounds(f"radius {r} minimax", theta.name, rate, r, farthest(here, *ends), *bounds)


def local_minimax_risk(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    within: tuple[float, float],
    neighbours: Neighbours = "add-remove",
) -> RiskBounds:
    """Return the local minimax risk R1(D, ε) of Asi and Duchi 2020, exactly.

    It is the largest value, over data sets D', of the least value, over ε-private algorithms A, of
    the larger of E|A - θ| at D and at D'. Not private: it is computed from the data themselves.

    Parameters
    ----------
    data, statistic, within, neighbours
        As for :func:`modulus`. With an infinite end of the range the risk is infinite.
    epsilon : int, float, str or Fraction
        In (0, 1].

    Returns
    -------
    RiskBounds
        ``lower`` equals ``upper``. ``spread`` is ω(D, floor(1/ε)), for which the papers write
        R1 ≈ ω(D, 1/ε).

    Notes
    -----
    R1 = max over k of ω(D, k) times :func:`two_point_error` of k: the two points alone matter, and
    the best test between them is known. With 1/ε an even number this gives R1 >= 0.30 ω(D, 1/ε).
    No bound of this form holds from above: for the median of equal records ω(D, 1/ε) is 0, while
    R1 is not. (Dick et al. 2023, equation (2), write ≈.)

    Numbers k are tried until those left cannot matter, about (2/ε) ln(range / R1) of them.

    Examples
    --------
    >>> from modicum import theory
    >>> print(theory.local_minimax_risk(range(1000), "mean", 0.1, within=(0, 1e6)))
    local minimax risk of the mean at ε = 0.1: 3605 (spread 9896; computed ... not private)
    """
    x = ordered(data)
    range_ = checked_range(within, x)
    k, rate, theta = _removals(epsilon), positive(epsilon, "epsilon"), chosen(statistic)
    here = theta.value(x)
    spread = farthest(here, *extremes(x, theta, np.array([k]), range_, neighbours))
    most = max(range_[1] - here, here - range_[0])
    best, done, block = 0.0, 0, 4 * k
    while math.isfinite(most):
        steps = np.arange(done + 1, done + block + 1)
        errors = _two_point_errors(steps, float(rate))
        low, high = extremes(x, theta, steps, range_, neighbours)
        best = max(best, float((np.maximum(high - here, here - low) * errors).max()))
        done += block
        if most * errors[-1] <= best:
            break
    else:
        best = math.inf
    return RiskBounds("local minimax", theta.name, rate, k, spread, best, best)


def unbiased_lower_bound(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    within: tuple[float, float],
) -> float:
    """Return the lower bound of Asi and Duchi 2020, Theorem 3, for unbiased mechanisms.

    Every ε-private mechanism (swap, n public) whose answer is at least as often near θ(x) as near
    θ(x'), for all x, x' and distances, has E|M(x) - θ(x)| at least this on these data. Additive
    symmetric noise is one of them. Not private: it is computed from the data themselves.

    Parameters
    ----------
    data, statistic, within
        As for :func:`modulus`. The statistic is continuous in every record, as all of them here
        but perhaps ``Monotone`` are.
    epsilon : int, float, str or Fraction
        Above 0.

    Returns
    -------
    float
        max over k of exp(-2kε) min(up, down) / 8, where up and down are how far k swaps raise and
        lower the statistic. In the unit of the data.

    Notes
    -----
    The theorem assumes that the values W(x; k) within k swaps hold a ball of radius c ω(x; k). It
    prints a ball around 0, which would depend on the origin; it has to be one around θ(x). In one
    dimension W is an interval, so c ω is the shorter of its two sides.

    Examples
    --------
    >>> from modicum import theory
    >>> round(theory.unbiased_lower_bound([0.5] * 100, "mean", 0.1, within=(0, 1)), 5)
    0.00115

    The Laplace mechanism has 1/(n ε) = 0.1 here.
    """
    x, rate, theta = ordered(data), float(positive(epsilon, "epsilon")), chosen(statistic)
    range_ = checked_range(within, x)
    here = theta.value(x)
    # exp(-2kε) is below 1e-17 beyond 20/ε, and the two sides grow no more than k-fold.
    steps = np.arange(1, min(len(x), int(20 / rate) + 1) + 1)
    low, high = extremes(x, theta, steps, range_, "swap")
    return float((np.exp(-2 * rate * steps) * np.minimum(high - here, here - low)).max()) / 8


@dataclass(frozen=True, slots=True)
class Comparison(_Result):
    """Three risks of one statistic of one data set. Not private, as :class:`RiskBounds`.

    Attributes
    ----------
    statistic : str
        Of what.
    n : int
        Records.
    true_value : float
        The statistic itself, in the unit of the data.
    within : (lo, hi)
        Where new records may lie.
    subset, in_neighbour, local_minimax : RiskBounds
        R, R2 and R1.

    Examples
    --------
    >>> from modicum import theory
    >>> found = theory.compare([0.0] * 900 + [1.0] * 100, "mean", 0.1, within=(0, 1))
    >>> round(found.true_value, 6), round(found.subset.spread, 4)
    (0.1, 0.0101)
    """

    statistic: str
    n: int
    true_value: float
    within: tuple[float, float]
    subset: RiskBounds
    in_neighbour: RiskBounds
    local_minimax: RiskBounds

    def __str__(self) -> str:
        """Return a small table."""
        rows = (
            ("R   subset (Dick et al.)", self.subset),
            ("R2  in-neighbour (Huang et al., extended)", self.in_neighbour),
            ("R1  local minimax (Asi and Duchi)", self.local_minimax),
        )
        lines = [
            f"Risks of the {self.statistic} of {self.n:,} records at ε = "
            f"{float(self.subset.epsilon):g}, within [{self.within[0]:g}, {self.within[1]:g}]",
            f"{'':42}{'spread':>12}{'at least':>12}{'at most':>12}",
        ]
        lines += [f"{title:42}{r.spread:12.4g}{r.lower:12.4g}{r.upper:12.4g}" for title, r in rows]
        return "\n".join([*lines, f"True value {self.true_value:.6g}. {_MARK.capitalize()}."])


def compare(
    data: ArrayLike,
    statistic: str | Statistic,
    epsilon: Number,
    *,
    within: tuple[float, float] = (float("-inf"), float("inf")),
) -> Comparison:
    """Return subset, in-neighbour and local minimax risk of the data, to be printed.

    Not private: it is computed from the data themselves. All are expected absolute errors, in the
    unit of the data, that no ε-private algorithm can beat everywhere near the data; they differ in
    what "near" means: subsets, data of the same values, or any data.

    Parameters
    ----------
    data, statistic, epsilon
        As for :func:`subset_risk`.
    within : (lo, hi)
        Where new records may lie, for the local minimax risk. Without it any number may occur,
        and that risk is infinite.

    Returns
    -------
    Comparison
        Printed, a table of the three risks.

    Notes
    -----
    Dick et al. 2023, appendix F, with exact numbers in place of bounds.

    Examples
    --------
    Their example, the minimiser of ``sum |x - t|^p`` of n - 1 zeros and a one.

    >>> from modicum import theory
    >>> data = [0.0] * 999 + [1.0]
    >>> print(theory.compare(data, theory.Location(1.5), 0.1, within=(0, 1000)))
    Risks of the location (p = 1.5) of 1,000 records at ε = 0.1, within [0, 1000]
                                                    spread    at least     at most
    R   subset (Dick et al.)                     1.022e-06    4.76e-07   5.112e-07
    R2  in-neighbour (Huang et al., extended)    0.0001202   3.646e-05   6.061e-05
    R1  local minimax (Asi and Duchi)               0.1008      0.1082      0.1082
    True value 1.002e-06. Computed from the data: not private.
    """
    x, theta = ordered(data), chosen(statistic)
    return Comparison(
        theta.name,
        len(x),
        theta.value(x),
        checked_range(within, x),
        subset_risk(x, theta, epsilon),
        in_neighbour_risk(x, theta, epsilon),
        local_minimax_risk(x, theta, epsilon, within=within),
    )
