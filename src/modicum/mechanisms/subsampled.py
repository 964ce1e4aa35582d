"""A mechanism on a secret random subsample: privacy amplification by Poisson subsampling."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.enclosure import exp_above, exp_below, ln_above, ln_below
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import SECRET, Floats, Mechanism, Stated, Support
from modicum.privacy.budget import PURE_KIND
from modicum.privacy.event import Event

T = TypeVar("T")


class Members(Protocol):
    """Records from which a fresh secret subsample can be drawn once."""

    def thin(self, level: int, entropy: Entropy) -> NDArray[np.int64]:
        """Each record with probability exactly 2^-level, independently."""

    def all(self) -> NDArray[np.int64]:
        """Every record; for exact audits of small data."""


class RecordLaw(Protocol[T]):
    """A mechanism that can be rebuilt for any multiset of records."""

    @property
    def event(self) -> Event: ...
    def over(self, q: NDArray[np.int64], /) -> Mechanism[T]: ...
    def public(self) -> dict[str, object]: ...


@lru_cache(maxsize=1024)  # runs of one plan, or of many groups, ask for the same
def amplified(target: Fraction, level: int) -> Fraction:
    """Pure ε that a law on a Poisson subsample of rate 2^-level may have to cost ``target``.

    The largest multiple of 2^-20 with ln(1 + 2^-level (exp(ε) - 1)) <= target
    (Li, Qardaji and Su 2012; Balle, Barthe and Gaboardi 2018).
    """
    if level == 0:
        return target
    exact = ln_below(1 + (exp_below(target) - 1) * 2**level)
    inner = Fraction(math.floor(exact * 2**20), 2**20)
    # Directed rounding may leave the last unit undecided; then give it up.
    return inner if _amplified_cost(inner, level) <= target else inner - Fraction(1, 2**20)


@lru_cache(maxsize=1024)
def _amplified_cost(inner: Fraction, level: int) -> Fraction:
    return ln_above(1 + (exp_above(inner) - 1) / 2**level)


@dataclass(frozen=True, slots=True, eq=False)
class Subsampled(Stated[T]):
    """``mechanism`` over a Poisson subsample of rate ``2^-level``, drawn for this mechanism only.

    Privacy contract: if ``mechanism`` is pure ε, then one draw is pure ln(1 + q (exp(ε) - 1)) with
    q = 2^-level, under adding or removing a record. At level 0 it is ``mechanism`` itself.

    Proof. Let A be the law without the record x and B with x in the subsample, averaged over
    the other records; the law with x in the data is (1-q) A + q B, without x it is A. Given the
    others, B <= exp(ε) A and B >= exp(-ε) A pointwise; so the ratio is at most
    1 + q (exp(ε) - 1), and at least 1 - q (1 - exp(-ε)) >= 1 / (1 + q (exp(ε) - 1)). QED

    ``records`` are all records (secret); membership is drawn inside :meth:`sample`, once.
    ``mechanism`` is that of empty data, and its method ``over(records)`` fills it. ``stated``, the
    cost of a draw, is checked on construction: it must be an upper bound.
    """

    records: Members = field(repr=False, metadata=SECRET)
    mechanism: RecordLaw[T]
    level: int
    stated: Event

    def __post_init__(self) -> None:
        if self.level == 0:
            honest = self.stated == self.mechanism.event
        else:
            inner = self.mechanism.event.amount_in(PURE_KIND)
            honest = self.stated.implied_by_pure(_amplified_cost(inner, self.level))
        if not honest:
            raise ValueError("the stated event is smaller than the cost of the draw")

    def sample(self, entropy: Entropy) -> T:
        return self.mechanism.over(self.records.thin(self.level, entropy)).sample(entropy)

    def log_density(self, outcome: T) -> float:
        return float(self.log_densities([outcome])[0])

    def log_densities(self, outcomes: Sequence[T]) -> Floats:
        """Sum over all 2^n subsamples, equal ones together; for audits on a dozen records."""
        if self.level == 0:
            return self.whole.log_densities(outcomes)
        records = self.records.all()
        inside, outside = math.log(2.0**-self.level), math.log1p(-(2.0**-self.level))
        weights: dict[tuple[int, ...], float] = {}
        for size in range(len(records) + 1):
            for chosen in combinations(sorted(records.tolist()), size):
                weight = math.exp(size * inside + (len(records) - size) * outside)
                weights[chosen] = weights.get(chosen, 0.0) + weight
        total = np.full(len(outcomes), -np.inf)
        for chosen, weight in weights.items():
            mechanism = self.mechanism.over(np.array(chosen, dtype=np.int64))
            total = np.logaddexp(total, math.log(weight) + mechanism.log_densities(outcomes))
        return total

    def probes(self) -> Iterable[T]:
        return self.whole.probes()

    def factors(self) -> tuple[Mechanism[tuple[Any, ...]], ...]:
        """The members couple the factors, unless all records are members."""
        return () if self.level else self.whole.factors()

    @classmethod
    def telling(cls, mechanisms: Sequence[Subsampled[T]]) -> list[T]:
        wholes = [mechanism.whole for mechanism in mechanisms]
        return wholes[0].telling(wholes)

    @classmethod
    def support(cls, mechanisms: Sequence[Subsampled[T]]) -> Support:
        """List the outcomes on all records, whose cuts include those of a sample, and on none."""
        nobody = np.empty(0, dtype=np.int64)
        ends = [
            each
            for mechanism in mechanisms
            for each in (mechanism.whole, mechanism.mechanism.over(nobody))
        ]
        return ends[0].support(ends)

    @property
    def whole(self) -> Mechanism[T]:
        return self.mechanism.over(self.records.all())
