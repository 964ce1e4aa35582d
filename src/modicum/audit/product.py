"""Laws that are products of independent laws: their factors."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

from modicum.mechanisms.additive import Additive
from modicum.mechanisms.law import Law
from modicum.mechanisms.radius import RadiusDraw
from modicum.mechanisms.ranks import RadiusRanks
from modicum.mechanisms.subsampled import Subsampled
from modicum.mechanisms.vector_noise import VectorNoise

__all__ = ["factors"]


@singledispatch
def factors(law: Law[Any]) -> tuple[Law[Any], ...]:  # noqa: ARG001
    """Return independent laws on one-tuples whose joined outcomes have this law.

    The log density of the law is the sum of theirs. So are, over all outcomes, the largest and
    the smallest log ratio of two such laws, and their Rényi divergences: an audit need not
    enumerate the product. A law of which no factors are known has none: ``()``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import laplace
    >>> law = laplace((3, 4), l1=1, epsilon=Fraction(1))
    >>> parts = factors(law)
    >>> apart = parts[0].log_density((3,)) + parts[1].log_density((6,))
    >>> law.log_density((3, 6)) == apart
    True
    """
    return ()


@factors.register
def _(law: Additive) -> tuple[Law[Any], ...]:
    return tuple(
        Additive((value,), (noise,), law.stated)
        for value, noise in zip(law.values, law.noise, strict=True)
    )


@factors.register
def _(law: VectorNoise) -> tuple[Law[Any], ...]:
    return tuple(Additive((value,), (law.noise,), law.event) for value in law.values)


@factors.register
def _(law: RadiusRanks) -> tuple[Law[Any], ...]:
    return tuple(
        replace(law, targets=(target,), tilts=(tilt,))
        for target, tilt in zip(law.targets, law.tilts, strict=True)
    )


@factors.register
def _(law: Subsampled) -> tuple[Law[Any], ...]:  # type: ignore[type-arg]
    # The members couple the factors, unless all records are members.
    return () if law.level else factors(law.law.over(law.records.all()))


@factors.register
def _(law: RadiusDraw) -> tuple[Law[Any], ...]:
    return tuple(replace(law, outside=(side,)) for side in law.outside)
