"""How well any ε-private algorithm tells two data sets apart."""

from __future__ import annotations

import math

import numpy as np

from modicum.theory.data import Floats, Integers, Number, checked_operations, positive

__all__ = ["two_point_error", "two_point_errors"]


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

    Raises
    ------
    InvalidArgument
        For other arguments.

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
    m = checked_operations(distance, "distance")
    return float(two_point_errors(np.array([m]), float(positive(epsilon, "epsilon")))[0])


def two_point_errors(distances: Integers, epsilon: float) -> Floats:
    """Return the errors for many distances, without checks."""
    pairs, odd = np.divmod(distances, 2)
    middle = np.where(odd, 1 / (1 + math.exp(epsilon)), 0.5)
    return np.asarray(np.exp(-epsilon * pairs) * middle, dtype=np.float64)
