"""The same estimator with noise that is 30 % too small for what it claims."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import SECRET, Mechanism, Support
from modicum.privacy.event import ZCDP, Event, PureDP, RangeDP
from modicum.runtime.query import Query
from modicum.runtime.steps import Draw, Reads, changed


@dataclass(frozen=True, slots=True)
class Relabelled(Mechanism[Any]):
    """A law of any number of outcomes that claims another event than its own."""

    mechanism: Mechanism[Any] = field(repr=False, metadata=SECRET)
    stated: Event

    @property
    def event(self) -> Event:
        return self.stated

    def sample(self, entropy: Entropy) -> Any:
        return self.mechanism.sample(entropy)

    def log_density(self, outcome: Any) -> float:
        return self.mechanism.log_density(outcome)

    def log_densities(self, outcomes: Sequence[Any]) -> NDArray[np.float64]:
        return self.mechanism.log_densities(outcomes)

    def probes(self) -> Iterable[Any]:
        return self.mechanism.probes()

    @classmethod
    def telling(cls, mechanisms: Sequence[Any]) -> list[Any]:
        return type(mechanisms[0].mechanism).telling([each.mechanism for each in mechanisms])

    @classmethod
    def support(cls, mechanisms: Sequence[Any]) -> Support:
        return type(mechanisms[0].mechanism).support([each.mechanism for each in mechanisms])

    def factors(self) -> tuple[Mechanism[tuple[Any, ...]], ...]:
        return self.mechanism.factors()

    def renyi(self, other: Any) -> NDArray[np.float64]:
        return self.mechanism.renyi(other.mechanism)


FACTOR = Fraction(10, 7)


def scaled(event: Event, factor: Fraction) -> Event:
    """The event of noise that is smaller by a factor."""
    if isinstance(event, ZCDP):
        return ZCDP(event.rho * factor**2)
    if isinstance(event, RangeDP):
        return RangeDP(event.eta * factor)
    assert isinstance(event, PureDP)
    return PureDP(event.epsilon * factor)


def weaker(query: Query[Any], factor: Fraction = FACTOR) -> Query[Any]:
    """Draw as for a multiple of ε, or its square of ρ, and claim the cost."""

    def claimed(step: Reads | Draw) -> Reads | Draw:
        if isinstance(step, Reads):
            return step
        stated = scaled(step.mechanism.event, 1 / factor)
        return step._replace(mechanism=Relabelled(step.mechanism, stated))

    return replace(query, begin=lambda event: changed(claimed, query.begin(scaled(event, factor))))
