"""Intervals for the coefficients that a population has, of which the rows of a fit are a sample.

To the noise of a fit sampling adds an error: least squares of a sample is off by the inverse
products times the sum of all residuals times rows. Its variance along a coefficient is the sum of
the squares of these gradients along one direction, whatever the variance of residuals depends on:
the sandwich of White (1980). The last gradients are drawn after their directions are released, so

[regression.10] squares   one noisy sum of squares for each coefficient is enough, of gradients
                          that are clipped as those whose sum is drawn;
[regression.11] ends      noise, sampling and what clipping takes off are added as laws.

docs/research/proofs/regression.md has the proofs, with the same labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from modicum.mechanisms.additive import add_noise
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import Floats
from modicum.runtime.steps import Steps, draw
from modicum.statistics.ranges import population
from modicum.statistics.tails import error_law
from modicum.statistics.vectors import products
from modicum.stored.codec import storable
from modicum.summaries import gradients, second_moments

_PRECISE = 0.2  # standard deviation of the noise of a variance, as a share of it, that is enough
_MOST = Fraction(2, 25)  # of the precision that is left, at most
_NODES, _NEVER = 41, 1e-12


@storable
@dataclass(frozen=True, slots=True)
class SandwichSums:
    """[regression.10] Noisy sums of squares of clipped gradients, one for each coefficient.

    They are along the coefficients' own directions, each taken at length 1, in squares of the
    radius to which gradients are clipped over ``ROOT``. ``deviation`` is the standard deviation of
    their noise. Releases that were stored before have here what the gradients have now, ``rate``
    and ``prior``.
    """

    sums: tuple[int, ...]
    deviation: float
    rate: float = 0.0
    power: float = 1.0

    def part(self, place: int, unit: float, rows: int) -> error_law.NormalPart:
        """Return the error of sampling of one coefficient, which ``unit`` of a gradient moves it.

        A gradient clipped to the radius is 1; no sum of squares exceeds the number of rows.
        """
        found, spread = self.sums[place] / gradients.ROOT**2, self.deviation / gradients.ROOT**2
        squares, weights = population.likely_variances(found, spread, float(rows))
        enlarged = rows / max(rows - len(self.sums), 1)  # residuals of a fit are the smaller ones
        return error_law.NormalPart(np.sqrt(squares * enlarged) * unit, weights)


def squares_along(view: gradients.GradientView, ways: Floats) -> gradients.GradientSquares:
    """[regression.10] Ask for the squares along some ways, each taken at length 1."""
    lengths = np.sqrt((ways**2).sum(axis=1, keepdims=True))
    table = ways / np.maximum(lengths, np.finfo(float).tiny)
    return gradients.GradientSquares.along(view, tuple(map(products.units, table)))


def draw_squares(
    split: BudgetSplit,
    totals: tuple[int, ...],
    asked: gradients.GradientSquares,
    typical: float,
) -> Steps[SandwichSums]:
    """[regression.10] Spend a little of what is left on the sums of squares.

    ``typical`` is about what one of them is; what makes the noise a fifth of that is enough.
    """
    strength = math.sqrt(2) * asked.most / (_PRECISE * max(typical, 1.0))
    needed = split.part_for(min(strength / float(split.scale), 1.0), "noise")
    part = min(Fraction(split.total) * needed / split.left, split.power * _MOST)
    share = products.part_of_rest(split, max(part, Fraction(1, 1 << 12)))
    law = split.spend(add_noise(totals, share, sensitivity=asked.most))
    noisy = yield from draw("squares of gradients", law)
    return SandwichSums(noisy, math.sqrt(law.noise[0].variance))


def noise_parts(
    deviation: float, norm: second_moments.Norm, dimension: int
) -> tuple[error_law.NormalPart, ...]:
    """Return Gaussian noise, or that of a direction of balls in so many dimensions, if any.

    Laplace noise is that of one dimension.
    """
    if deviation <= 0:
        return ()
    if norm == "l2":
        return (error_law.NormalPart(np.array([deviation]), np.ones(1)),)
    scales, weights = error_law.ball_scales(dimension, _NODES)
    seen = weights > _NEVER
    return (error_law.NormalPart(scales[seen] * deviation, weights[seen]),)
