"""What every mechanism answers about itself: its cost, its exact probabilities, its sampler.

A log density is a float: a few roundings away from the truth. Every log ratio is moved towards
zero by more than those roundings can amount to, so a loss computed here is a lower bound of the
true one, and a law that has exactly its stated loss never seems to exceed it.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise, product
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.privacy.event import Event

T = TypeVar("T")

Floats = NDArray[np.float64]

ALPHAS = np.array([1.01, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0])
"""Orders of the Rényi divergences; near 1 the divergence is almost Kullback and Leibler's."""

MOST_EPSILON = 128
"""A larger ε is used as this one by samplers that cut stretches by what a record weighs.

What is ε-private for 128 is so for more. A draw that one record less would make e^64 times rarer is
as good as certain.
"""

TAIL = 1e-15
"""Probability beyond the listed outcomes of a law with infinitely many."""

_ROUNDING = 2.0**-44  # of a log density, relative to 1 + its size: some 500 roundings
_MOST = 1 << 21  # outcomes that are listed one by one
_PARTS = 8  # into which a stretch of equally likely integers is cut


SECRET: Mapping[str, bool] = MappingProxyType({"secret": True})
"""Marks a dataclass field as data: ``field(repr=False, metadata=SECRET)``.

Such a field is kept out of ``repr`` and of :meth:`Mechanism.public`.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Outcomes in increasing order; each stands for ``sizes[i]`` consecutive ones.

    All outcomes of a stretch have equal probability under every law.
    """

    outcomes: tuple[Any, ...]
    sizes: Floats

    @classmethod
    def of(cls, outcomes: Iterable[Any]) -> Support:
        every = tuple(outcomes)
        return cls(every, np.ones(len(every)))

    def cut(self, parts: int) -> Support:
        """Cut every stretch of integers into equal parts, or into single integers."""
        starts: list[Any] = []
        sizes: list[float] = []
        for start, size in zip(self.outcomes, self.sizes.tolist(), strict=True):
            pieces = int(min(size, parts))
            edges = [int(size) * i // pieces for i in range(pieces + 1)]
            starts += [start] if pieces == 1 else [start + edge for edge in edges[:-1]]
            sizes += [float(b - a) for a, b in pairwise(edges)]
        return Support(tuple(starts), np.array(sizes))


def points_around(balls: Sequence[tuple[Sequence[int], int]]) -> Iterator[tuple[int, ...]]:
    """Return every integer vector of the least box that holds balls of these centres and radii."""
    axes = []
    for values in zip(*(centre for centre, _ in balls), strict=True):
        ends = [c + s * r for c, (_, r) in zip(values, balls, strict=True) for s in (-1, 1)]
        axes.append(range(min(ends), max(ends) + 1))
    check_size(math.prod(len(axis) for axis in axes))
    return product(*axes)


def check_size(outcomes: int) -> None:
    """Refuse to list very many outcomes."""
    if outcomes > _MOST:
        raise InvalidArgument(
            f"the law has {outcomes:,} outcomes to list, more than {_MOST:,}: "
            "audit the same law at a smaller noise scale"
        )


def log_ratio(one: Floats, other: Floats) -> Floats:
    """Return ``one - other``, moved towards 0 by its rounding error [audit.6].

    Outcomes that are impossible under both laws have ratio 0, under one of them an infinity.

    Examples
    --------
    >>> import numpy as np
    >>> log_ratio(np.array([-1.0, -np.inf, -np.inf]), np.array([-1.0, -2.0, -np.inf]))
    array([  0., -inf,   0.])
    """
    with np.errstate(invalid="ignore"):
        gap = one - other
    gap = np.where(np.isneginf(one) & np.isneginf(other), 0.0, gap)
    sizes = (np.abs(np.where(np.isneginf(x), 0.0, x)) for x in (one, other))
    ratio: Floats = np.sign(gap) * np.maximum(np.abs(gap) - _ROUNDING * (2 + sum(sizes)), 0.0)
    return ratio + 0.0  # no negative zero


def needed_rho(log_p: Floats, log_q: Floats, sizes: Floats | float) -> Floats:
    """Return D_α(P || Q) / α for every α of :data:`ALPHAS`; zCDP bounds all of them by ρ.

    ``log_p`` and ``log_q`` are the log densities of one outcome in each stretch, of so many
    ``sizes``.

    D_α = ln(sum_z P(z) r(z)^(α-1)) / (α - 1) with r = P / Q. For a small exponent the sum is
    1 + sum P (r^(α-1) - 1), which keeps the digits of a small divergence.
    """
    possible = ~np.isneginf(log_p)
    log_p, log_q = log_p[possible], log_q[possible]
    if np.isneginf(log_q).any():
        return np.full(len(ALPHAS), math.inf)
    log_mass = log_p + np.log(sizes if isinstance(sizes, float) else sizes[possible])
    powers = (ALPHAS[:, None] - 1) * (log_p - log_q)
    mass = np.exp(log_mass)
    small = np.log1p((mass * np.expm1(np.minimum(powers, 1.0))).sum(axis=1))
    top = (log_mass + powers).max(axis=1)
    large = top + np.log(np.exp(log_mass + powers - top[:, None]).sum(axis=1))
    divergence = np.where(powers.max(axis=1) < 1, small, large) / (ALPHAS - 1)
    # An error e of the log ratios moves every D_α by at most e.
    error = _ROUNDING * (2 + float(mass @ (np.abs(log_p) + np.abs(log_q))))
    return np.array(np.maximum(divergence - error, 0.0) / ALPHAS)


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

    def log_densities(self, outcomes: Sequence[Any]) -> Floats:
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
        """
        return ()

    def error_sizes(self) -> Floats | None:
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

    def cells(self) -> tuple[Support, Floats]:
        """Cut all outcomes into stretches, with their masses; tests of samplers count in them."""
        listed = self.support([self]).cut(_PARTS)
        return listed, np.exp(self.log_densities(listed.outcomes)) * listed.sizes

    def renyi(self, other: Any) -> Floats:
        """Return D_α / α of two laws without factors, of this class, in both directions.

        The shape is (2, number of :data:`ALPHAS`).
        """
        both = self.support([self, other])
        p, q = (mechanism.log_densities(both.outcomes) for mechanism in (self, other))
        return np.array([needed_rho(p, q, both.sizes), needed_rho(q, p, both.sizes)])

    def public(self) -> dict[str, object]:
        """Parameters that do not depend on the data, by name."""
        return {name: getattr(self, name) for name in public_fields(type(self))}


class Stated(Mechanism[T]):
    """A mechanism that is told its event: that of its contract, or one that follows from it."""

    __slots__ = ()

    stated: Event

    @property
    def event(self) -> Event:
        return self.stated


@functools.cache
def public_fields(kind: type[Any]) -> tuple[str, ...]:
    """Names of the fields of a dataclass that are not secret."""
    return tuple(f.name for f in fields(kind) if not f.metadata.get("secret", False))
