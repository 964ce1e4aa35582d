"""What every mechanism answers about itself: its cost, its exact probabilities, its sampler."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.mechanisms.support import Support, needed_rho
from modicum.privacy.event import Event

T = TypeVar("T")

_PARTS = 8  # into which a stretch of equally likely integers is cut


SECRET: Mapping[str, bool] = MappingProxyType({"secret": True})
"""Marks a dataclass field as data: ``field(repr=False, metadata=SECRET)``.

Such a field is kept out of ``repr`` and of :meth:`Mechanism.public`.
"""


class Mechanism(ABC, Generic[T]):
    """A probability law on outcomes, given the data, and the privacy event of one draw.

    Subclasses are frozen slotted dataclasses. Fields that depend on the data are declared with
    the metadata :data:`SECRET`; the event and :meth:`public` depend on public values only.
    The privacy contract is that for neighbouring data the log ratio of the two laws obeys
    ``event`` at every outcome; :mod:`modicum.audit` computes it from :meth:`log_densities`.

    A mechanism needs its event, :meth:`sample`, :meth:`log_density` and :meth:`probes`. All that an
    audit reads beyond these has a default here, which is right if the probes are all outcomes.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name in transcripts; it stays as it is when classes are renamed or merged."""
        return type(self).__name__

    @property
    @abstractmethod
    def event(self) -> Event:
        """Privacy event of one draw."""

    @property
    def dimension(self) -> int:
        """Length of outcomes, if every vector of so many integers is one; else 0."""
        return 0

    @abstractmethod
    def sample(self, entropy: Entropy) -> T:
        """Draw one outcome, with exactly the probabilities of the law."""

    @classmethod
    def sample_many(cls, mechanisms: Sequence[Any], entropy: Entropy) -> list[Any]:
        """Draw from many mechanisms of this class, independently, in their order.

        Classes override it where vectors are drawn faster. Every draw has its own randomness.
        """
        return [mechanism.sample(entropy) for mechanism in mechanisms]

    @abstractmethod
    def log_density(self, outcome: T) -> float:
        """Natural logarithm of the probability of ``outcome``; ``-inf`` if it is impossible."""

    def log_densities(self, outcomes: Sequence[Any]) -> NDArray[np.float64]:
        """Return :meth:`log_density` of many outcomes; factors are evaluated once a value."""
        parts = self.factors()
        if len(parts) < 2:
            return np.array([self.log_density(outcome) for outcome in outcomes], dtype=np.float64)
        total = np.zeros(len(outcomes))
        for k, part in enumerate(parts):
            column = [outcome[k] for outcome in outcomes]
            place = {value: i for i, value in enumerate(dict.fromkeys(column))}
            densities = part.log_densities([(value,) for value in place])
            total += densities[[place[value] for value in column]]
        return total

    @abstractmethod
    def probes(self) -> Iterable[T]:
        """Outcomes, finitely many, among which the worst log ratio is attained.

        They may depend on the data; an audit joins the probes of both neighbours. See [audit.2].
        """

    def factors(self) -> tuple[Mechanism[tuple[Any, ...]], ...]:
        """Return independent laws on one-tuples whose joined outcomes have this law, or ``()``.

        The log density of the law is the sum of theirs. So are, over all outcomes, the largest and
        the smallest log ratio of two laws of the class, and their Rényi divergences: an audit need
        not enumerate the product. See [audit.3].

        Examples
        --------
        >>> from fractions import Fraction
        >>> from modicum.mechanisms.additive import laplace
        >>> law = laplace((3, 4), l1=1, epsilon=Fraction(1))
        >>> parts = law.factors()
        >>> apart = parts[0].log_density((3,)) + parts[1].log_density((6,))
        >>> law.log_density((3, 6)) == apart
        True
        """
        return ()

    def error_sizes(self) -> NDArray[np.float64] | None:
        """Sizes of the choices of every factor, if rare large ones dominate an answer's error."""
        return None

    @classmethod
    def telling(cls, mechanisms: Sequence[Any]) -> list[Any]:
        """Return outcomes, in order, among which any two laws of this class differ most."""
        return sorted({outcome for mechanism in mechanisms for outcome in mechanism.probes()})

    @classmethod
    def support(cls, mechanisms: Sequence[Any]) -> Support:
        """List the outcomes of laws of this class, but for a probability of about 1e-15.

        The laws have the same public parameters. Without an override they must have a finite number
        of outcomes, all of them among their :meth:`probes`; otherwise it is an error.
        """
        listed = Support.of(cls.telling(mechanisms))
        for mechanism in mechanisms:
            mass = float(np.exp(mechanism.log_densities(listed.outcomes)).sum())
            if abs(mass - 1) > 1e-9:
                raise InvalidArgument(
                    f"the probes of a {type(mechanism).__name__} sum to {mass:.12g}, not 1: "
                    "either they are not all of its outcomes, or its log_density is no density"
                )
        return listed

    def cells(self) -> tuple[Support, NDArray[np.float64]]:
        """Cut all outcomes into stretches, with their masses; tests of samplers count in them."""
        listed = self.support([self]).cut(_PARTS)
        return listed, np.exp(self.log_densities(listed.outcomes)) * listed.sizes

    def renyi(self, other: Any) -> NDArray[np.float64]:
        """Return D_α / α of two laws without factors, of this class, in both directions.

        The shape is (2, number of :data:`~modicum.mechanisms.support.ALPHAS`).

        Examples
        --------
        >>> from fractions import Fraction
        >>> from modicum.mechanisms.additive import gaussian
        >>> one, other = (gaussian([v], l2=3, rho=Fraction(1, 10)) for v in (7, 4))
        >>> one.renyi(other).max().round(9)
        np.float64(0.1)
        """
        both = self.support([self, other])
        p, q = (mechanism.log_densities(both.outcomes) for mechanism in (self, other))
        return np.array([needed_rho(p, q, both.sizes), needed_rho(q, p, both.sizes)])

    def public(self) -> dict[str, object]:
        """Parameters that do not depend on the data, by name."""
        return {name: getattr(self, name) for name in public_fields(type(self))}


@functools.cache
def public_fields(kind: type[Any]) -> tuple[str, ...]:
    """Names of the fields of a dataclass that are not secret."""
    return tuple(f.name for f in fields(kind) if not f.metadata.get("secret", False))
