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
from modicum.privacy.event import Event
from modicum.release import Estimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Draw, Steps

_KINDS = 4  # two kinds are plain, and two have a tilted side
_STRIDES = (1, 5)  # the strata of the second side are taken in another order

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Part:
    """One of several runs.

    ``number`` is which one, of ``runs``. ``weight`` is how much it counts, once its radii are
    drawn; ``mechanisms`` were drawn from, by label.
    """

    number: int
    runs: int
    weight: float = 1.0
    mechanisms: dict[str, Mechanism[Any]] = field(default_factory=dict)


def steered(query: Query[Any], part: Part) -> Query[Any]:
    """The same query, with its radii drawn for one of several runs."""

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
            if (sizes := step.mechanism.error_sizes()) is not None:
                step = Draw(step.label, _Steered(step.mechanism, sizes, part))
        reply = yield step


@dataclass(frozen=True, slots=True)
class _Steered(Mechanism[tuple[int, ...]]):
    """The mechanism of the radii with another sampler; its event and density are the original's."""

    mechanism: Mechanism[tuple[int, ...]]
    sizes: Floats
    part: Part

    @property
    def event(self) -> Event:
        return self.mechanism.event

    def sample(self, entropy: Entropy) -> tuple[int, ...]:
        """Take every side's next point, one side perhaps tilted, and set the weight."""
        stratum, kind = divmod(self.part.number, _KINDS)
        strata = -(-self.part.runs // _KINDS)
        factors = self.mechanism.factors()
        sides = len(factors)
        tilted = kind // 2 % sides if kind % 2 else None
        outcome, share = [], 0.5
        choices = [(place,) for place in range(len(self.sizes))]
        for side, factor in enumerate(factors):
            plain = np.exp(factor.log_densities(choices))
            expected = float(plain @ self.sizes)
            proposal = plain * self.sizes / expected if side == tilted else plain
            upto = np.cumsum(proposal)
            u = (stratum * _STRIDES[side] % strata + entropy.bits(53) * 2.0**-53) / strata
            u *= float(upto[-1])
            i = min(int(np.searchsorted(upto, u, side="right")), len(choices) - 1)
            outcome.append(i)
            share += float(self.sizes[i]) / expected / (2 * sides)
        self.part.weight = 1 / share
        return tuple(outcome)

    def log_density(self, outcome: tuple[int, ...]) -> float:
        return self.mechanism.log_density(outcome)

    def probes(self) -> Iterable[tuple[int, ...]]:
        return self.mechanism.probes()
