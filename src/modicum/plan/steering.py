"""Importance sampling of the radii: rare wide ones matter for the mean error.

A radius far too wide has a probability like r^-p, and an error like r. Plain sampling needs many
hundreds of runs to see them in proportion. Here half of the runs draw one side's radius with
its probability times r, and each run carries the weight P / Q that corrects for it (the balance
heuristic of Veach and Guibas 1995). Among runs of one kind the draws are stratified.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import Mechanism
from modicum.mechanisms.selection import RadiusDraw, quadrature
from modicum.privacy.event import Event
from modicum.release import Estimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Draw, Steps

__all__ = ["Part", "chances", "steered"]

_KINDS = 4  # two kinds are plain, and two have a tilted side
_STRIDES = (1, 5)  # the strata of the second side are taken in another order

Array = NDArray[np.float64]


@dataclass(slots=True)
class Part:
    """One of several runs.

    Attributes
    ----------
    number, runs : int
        Which one, and of how many.
    weight : float
        How much it counts, once its radii are drawn.
    laws : dict of str to Law
        What was drawn, by its label.
    """

    number: int
    runs: int
    weight: float = 1.0
    mechanisms: dict[str, Mechanism[Any]] = field(default_factory=dict)


def steered(query: Query[Any], part: Part) -> Query[Any]:
    """Return the same query, with its radii drawn for one of several runs."""

    def begin(event: Event) -> Steps[Estimate[Any]]:
        return _steps(query.begin(event), part)

    return replace(query, begin=begin)


def _steps(steps: Steps[Estimate[Any]], part: Part) -> Steps[Estimate[Any]]:
    reply = None
    while True:
        try:
            step = steps.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        if isinstance(step, Draw):
            part.mechanisms[step.label] = step.mechanism
            if isinstance(step.mechanism, RadiusDraw):
                step = Draw(step.label, _Steered(step.mechanism, part))
        reply = yield step


@dataclass(frozen=True, slots=True)
class _Steered(Mechanism[tuple[int, ...]]):
    """The radii's law with another sampler; its event and density are the original's."""

    mechanism: RadiusDraw
    part: Part

    @property
    def event(self) -> Event:
        return self.mechanism.event

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Take every side's next point, one side perhaps tilted, and note the weight."""
        stratum, kind = divmod(self.part.number, _KINDS)
        strata = -(-self.part.runs // _KINDS)
        sides = len(self.mechanism.outside)
        tilted = kind // 2 % sides if kind % 2 else None
        radii = np.array(self.mechanism.grid.radii, dtype=np.float64)
        outcome, share = [], 0.5
        for side in range(sides):
            plain = chances(self.mechanism, side)
            expected = float(plain @ radii)
            proposal = plain * radii / expected if side == tilted else plain
            upto = np.cumsum(proposal)
            u = (stratum * _STRIDES[side] % strata + entropy.bits(53) * 2.0**-53) / strata
            u *= float(upto[-1])
            i = min(int(np.searchsorted(upto, u, side="right")), len(radii) - 1)
            outcome.append(i)
            share += float(radii[i]) / expected / (2 * sides)
        self.part.weight = 1 / share
        return tuple(outcome)

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return self.mechanism.log_density(outcome)

    def probes(self) -> Iterable[tuple[int, ...]]:
        return self.mechanism.probes()


def chances(mechanism: RadiusDraw, side: int) -> Array:
    """Probability of every position on one side, in floating point.

    For permute-and-flip see :class:`~modicum.mechanisms.selection.RadiusDraw`: the integral of
    w_i prod_{j != i} (1 - t w_j), by Gauss-Legendre, for all i at once.
    """
    costs = float(mechanism.epsilon) * np.array(mechanism.outside[side], dtype=np.float64)
    costs += float(mechanism.tilt) * np.array(mechanism.grid.indices, dtype=np.float64)
    weights = np.exp(costs.min() - costs)
    result: Array
    if mechanism.selection == "exponential":
        result = weights / weights.sum()
    else:
        nodes, node_weights = quadrature((len(weights) + 1) // 2)
        stays = 1 - np.outer((nodes + 1) / 2, weights)
        all_stay = np.prod(stays, axis=1)
        result = weights * ((node_weights / 2) @ (all_stay[:, None] / stays))
    return result
