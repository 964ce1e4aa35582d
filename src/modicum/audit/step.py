"""One draw under many data sets: its worst loss for every pair, and outcomes to go on with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.mechanisms.base import ALPHAS, Floats, Mechanism, log_ratio
from modicum.privacy.event import Event


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What one draw says about each pair of data sets, all outcomes considered.

    ``event`` is what the draw claims to be; ``high`` and ``low`` are the largest and the smallest
    log ratio of each pair, and ``extremes`` has an outcome of each pair where they are attained.
    ``rho``, of shape (pairs, 2, len(ALPHAS)), has Rényi divergences over α in both directions, if
    they were wanted or are claimed. ``children`` are outcomes to go on with, and the log ratios of
    all pairs there.
    """

    event: Event
    high: Floats
    low: Floats
    rho: Floats | None
    extremes: tuple[list[Any], list[Any]]
    children: tuple[tuple[Any, Floats], ...]

    @property
    def loss(self) -> Floats:
        """Loss of every pair in the unit of the event: ε, η or ρ."""
        return self.event.attained(self.high, self.low, self.rho)

    @property
    def size(self) -> Floats:
        """Largest absolute log ratio of every pair."""
        size: Floats = np.maximum(self.high, -self.low)
        return size


def measure(
    mechanisms: Sequence[Mechanism[Any]],
    pairs: NDArray[np.intp],
    *,
    event: Event,
    renyi: bool,
    forced: Sequence[Any],
    width: int,
) -> Measured:
    """Compare the mechanisms that wait for an outcome, one for each data set.

    They have the same public parameters, and claim to be an ``event``. ``pairs``, of shape (m, 2),
    has positions of neighbours. ``renyi`` says whether Rényi divergences are wanted whatever the
    event. The outcomes ``forced`` are explored in any case, and up to ``width`` others.

    The outcomes considered are the joined probes of all the mechanisms: more than a pair's own, and
    the same for every pair, so a branch is explored once for all of them. A product mechanism is
    measured factor by factor: extreme log ratios and Rényi divergences of independent factors add
    up.
    """
    split = [mechanism.factors() for mechanism in mechanisms]
    joined = bool(split[0])
    columns = [
        _Column(
            [parts[k] for parts in split] if joined else mechanisms,
            pairs,
            [(outcome[k],) if joined else outcome for outcome in forced],
        )
        for k in range(max(1, len(split[0])))
    ]

    def outcome_at(positions: Sequence[int]) -> Any:
        parts = [column.outcomes[i] for column, i in zip(columns, positions, strict=True)]
        return tuple(chain.from_iterable(parts)) if joined else parts[0]

    def extremes(sign: float) -> list[Any]:
        best = [(sign * column.ratios).argmax(axis=1) for column in columns]
        return [outcome_at([int(b[i]) for b in best]) for i in range(len(pairs))]

    wanted = renyi or event.concentrated
    chosen = [*_forced(columns, forced, joined=joined), *_spread(columns, width)]
    return Measured(
        event=event,
        high=sum_of([column.ratios.max(axis=1) for column in columns]),
        low=sum_of([column.ratios.min(axis=1) for column in columns]),
        rho=sum_of([column.rho() for column in columns]) if wanted else None,
        extremes=(extremes(1.0), extremes(-1.0)),
        children=tuple(
            (
                outcome_at(positions),
                sum_of([c.ratios[:, i] for c, i in zip(columns, positions, strict=True)]),
            )
            for positions in dict.fromkeys(chosen)
        ),
    )


def sum_of(arrays: Sequence[Floats]) -> Floats:
    """Add log ratios or divergences; of opposite infinities the positive one counts."""
    total = arrays[0]
    with np.errstate(invalid="ignore"):
        for array in arrays[1:]:
            total = total + array
    return np.where(np.isnan(total), np.inf, total)


class _Column:
    """One factor of the draw: log densities of its distinct mechanisms, log ratios of the pairs."""

    def __init__(
        self, mechanisms: Sequence[Mechanism[Any]], pairs: NDArray[np.intp], forced: Sequence[Any]
    ) -> None:
        self._laws, which = _distinct(mechanisms)
        self._pairs = which[pairs]
        self.outcomes: list[Any] = sorted({*self._laws[0].telling(self._laws), *forced})
        densities = np.array([mechanism.log_densities(self.outcomes) for mechanism in self._laws])
        self.ratios = log_ratio(densities[self._pairs[:, 0]], densities[self._pairs[:, 1]])

    def rho(self) -> Floats:
        """Rényi divergences over α of every pair."""
        known: dict[tuple[int, int], Floats] = {}
        result = np.zeros((len(self._pairs), 2, len(ALPHAS)))
        for row, (a, b) in enumerate(self._pairs.tolist()):
            if a != b:
                if (a, b) not in known:
                    known[a, b] = self._laws[a].renyi(self._laws[b])
                result[row] = known[a, b]
        return result

    def telling(self) -> Iterator[int]:
        """Yield positions of outcomes, the most telling first, then evenly spread ones."""
        last = len(self.outcomes) - 1
        yield from (0, int(self.ratios.max(axis=0).argmax()), int(self.ratios.min(axis=0).argmin()))
        yield last
        parts = 2
        while parts <= last:
            yield from (last * i // parts for i in range(1, parts, 2))
            parts *= 2


def _distinct(
    mechanisms: Sequence[Mechanism[Any]],
) -> tuple[list[Mechanism[Any]], NDArray[np.intp]]:
    """The different mechanisms, and for every data set which of them it has."""
    kept: dict[object, tuple[int, Mechanism[Any]]] = {}
    which = [kept.setdefault(_key(each), (len(kept), each))[0] for each in mechanisms]
    return [mechanism for _, mechanism in kept.values()], np.array(which, dtype=np.intp)


def _key(mechanism: Mechanism[Any]) -> object:
    try:
        hash(mechanism)
    except TypeError:
        return id(mechanism)
    return mechanism


def _forced(
    columns: Sequence[_Column], forced: Sequence[Any], *, joined: bool
) -> Iterator[tuple[int, ...]]:
    for outcome in forced:
        parts = [(x,) for x in outcome] if joined else [outcome]
        yield tuple(c.outcomes.index(part) for c, part in zip(columns, parts, strict=True))


def _spread(columns: Sequence[_Column], width: int) -> Iterator[tuple[int, ...]]:
    """Up to ``width`` joint positions: equal ranks of the factors, then shifted ranks."""
    if len(columns) == 1:  # there may be very many, of which few are wanted
        found = _firsts(columns[0].telling(), width)
        yield from ((place,) for place in found)
        return
    ranked = [list(dict.fromkeys(column.telling())) for column in columns]
    longest = max(len(ranks) for ranks in ranked)
    seen: dict[tuple[int, ...], None] = {}
    for shift in range(longest):
        for rank in range(longest):
            if len(seen) == width:
                break
            seen[
                tuple(ranks[(rank + shift * k) % len(ranks)] for k, ranks in enumerate(ranked))
            ] = None
    yield from seen


def _firsts(places: Iterator[int], most: int) -> list[int]:
    """The first different ones, at most so many."""
    found: dict[int, None] = {}
    for place in places:
        if len(found) == most:
            break
        found[place] = None
    return list(found)


def needed_delta(one: Mechanism[Any], other: Mechanism[Any], epsilon: float) -> float:
    """Return the least δ at which two mechanisms are (ε, δ)-indistinguishable, in both directions.

    It is the larger of sum_z max(0, P(z) - exp(ε) Q(z)) and the same with P and Q exchanged: the
    excess of the worst set of outcomes. The outcomes of both must be few enough to list.

    Parameters
    ----------
    one, other : Mechanism
        The same mechanism on two neighbouring data sets.
    epsilon : float
        At least 0.

    Returns
    -------
    float
        δ in [0, 1], a sum of floats without a bound of its rounding.

    Raises
    ------
    InvalidArgument
        If the outcomes of the mechanisms cannot be listed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import laplace
    >>> one, other = (laplace([v], l1=1, epsilon=Fraction(1)) for v in (7, 8))
    >>> round(needed_delta(one, other, 1), 12), round(needed_delta(one, other, 0), 3)
    (0.0, 0.462)
    """
    both = one.support([one, other])
    p, q = (
        np.exp(mechanism.log_densities(both.outcomes)) * both.sizes for mechanism in (one, other)
    )
    factor = math.exp(epsilon)
    return max(float(np.maximum(a - factor * b, 0.0).sum()) for a, b in ((p, q), (q, p)))
