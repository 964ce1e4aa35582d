"""What every output law offers: its event, its exact probabilities, a sampler, its public part."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from modicum.exact.entropy import Entropy
from modicum.privacy.event import Event

__all__ = ["SECRET", "Law"]

T = TypeVar("T")


SECRET: Mapping[str, bool] = MappingProxyType({"secret": True})
"""Marks a dataclass field as data: ``field(repr=False, metadata=SECRET)``.

Such a field is kept out of ``repr`` and of :meth:`Law.public`.
"""


class Law(ABC, Generic[T]):
    """A probability law on outcomes, given the data, and the privacy event of one draw.

    Subclasses are frozen slotted dataclasses. Fields that depend on the data are declared with
    the metadata :data:`SECRET`; the event and :meth:`public` depend on public values only.
    The privacy contract is that for neighbouring data the log ratio of the two laws obeys
    ``event`` at every outcome; :mod:`modicum.audit` computes it from :meth:`log_density`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def event(self) -> Event:
        """Privacy event of one draw."""

    @abstractmethod
    def sample(self, entropy: Entropy) -> T:
        """Draw one outcome, with exactly the probabilities of the law."""

    @classmethod
    def sample_many(cls, laws: Sequence[Any], entropy: Entropy) -> list[Any]:
        """Draw from many laws of this class, each by itself, in their order.

        Classes override it where many draws are made faster at once. Every draw has randomness of
        its own.
        """
        return [law.sample(entropy) for law in laws]

    @abstractmethod
    def log_density(self, outcome: T) -> float:
        """Natural logarithm of the probability of ``outcome``; ``-inf`` if it is impossible."""

    @abstractmethod
    def probes(self) -> Iterable[T]:
        """Outcomes, finitely many, among which the worst log ratio is attained.

        They may depend on the data; an audit joins the probes of both neighbours.
        """

    def public(self) -> dict[str, object]:
        """Parameters that do not depend on the data, by name."""
        return {name: getattr(self, name) for name in _public_names(type(self))}


@functools.cache
def _public_names(kind: type[Law[Any]]) -> tuple[str, ...]:
    every = fields(kind)  # type: ignore[arg-type]
    return tuple(f.name for f in every if not f.metadata.get("secret", False))
