"""Single messages through a shuffler: what that does to their ε, and protocols of one number.

The ε of a shuffled message is computed, and not bounded by a formula.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction, as_integer
from modicum.privacy.budget import Budget, Number, approx, chosen_budget
from modicum.protocols.local import Histogram, Mean, wire
from modicum.protocols.local import histogram as local_histogram
from modicum.protocols.local import mean as local_mean
from modicum.protocols.local.protocol import Floats, Integers, chosen_session
from modicum.protocols.shuffle.shuffler import Shuffled, promised

_TAIL = 10.0  # standard deviations of a binomial that are summed, and 10 more integers
_LOST = 1e-15  # more than what lies beyond (below 1e-19) and the roundings of a sum near 1
_ROUNDED = 1 + 1e-9  # more than the relative error of probabilities
_STEPS = 40
_BLOCKS = 60
_MISSING = Fraction(1, 10)  # of δ: fewer clients answer a round than counted on, [shuffle.9]


def amplified(epsilon: Number, *, clients: int, delta: Number) -> Budget:
    """(ε, δ) guarantee of shuffled messages, each of which is private at pure ε₀ by itself.

    See [shuffle.7], [shuffle.8].

    Parameters
    ----------
    epsilon : number
        ε₀ of one message, for any two values of its sender.
    clients : int
        People who follow the protocol and whose messages are shuffled together, at least 2.
    delta : number
        In (0, 1). Below 1e-15 nothing is gained.

    Returns
    -------
    Budget
        A float that was rounded up by 1e-6 of itself: for plans and reports.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Notes
    -----
    Feldman, McMillan and Talwar (2021), Theorem 3.2: the worst case is dominated by the pair
    (A + D, C - A + 1 - D) and (A + 1 - D, C - A + D) with C binomial (n - 1, e^-ε₀), A binomial
    (C, 1/2) and D a coin with odds e^ε₀. Its hockey-stick divergence is summed; the binomials'
    tails beyond 10 standard deviations count as lost.

    Examples
    --------
    >>> from modicum import shuffle
    >>> round(float(shuffle.amplified(2, clients=100_000, delta="1e-8").amount), 2)
    0.06
    """
    size, small = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 < size <= 20 or not 0 < small < 1:
        raise InvalidArgument(
            f"epsilon must lie in (0, 20] and delta in (0, 1), got {epsilon} and {delta}"
        )
    pair = _DominatingPair(float(size), as_integer(clients, "clients", 2))
    low, high = 0.0, float(size)
    if pair.delta(0.0) <= small:
        high = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if pair.delta(middle) <= small else (middle, high)
    amount = min(Fraction(high) * Fraction(1_000_001, 1_000_000), size)
    return replace(approx(size, small), amount=amount)


def local_epsilon(budget: Budget, *, clients: int) -> Fraction:
    """Return an ε₀ for single messages that shuffling brings down to a budget of (ε, δ).

    Parameters
    ----------
    budget : Budget
        Of :func:`modicum.approx`: what the shuffled messages are to guarantee.
    clients : int
        People who follow the protocol and whose messages are shuffled together, at least 2.

    Returns
    -------
    Fraction
        At most 12, and nearly the largest: :func:`amplified` of it fits into the budget. The
        smaller of ε and 10 if shuffling gains nothing.

    Raises
    ------
    InvalidArgument
        If the budget has no δ, or for a number of clients below 2.

    Notes
    -----
    Bisection of :func:`amplified` (Feldman, McMillan and Talwar 2021), so floats: :func:`histogram`
    and :func:`mean` round it down.

    Examples
    --------
    >>> import modicum as mo
    >>> from modicum import shuffle
    >>> float(shuffle.local_epsilon(mo.approx(1, "1e-8"), clients=100_000)) > 4
    True
    """
    if not chosen_budget(None, None, budget).approximate:
        raise InvalidArgument(f"amplification needs a δ: give an (ε, δ) budget, not {budget}")
    low, high = min(budget.amount, Fraction(10)), Fraction(12)
    for _ in range(12):
        middle = (low + high) / 2
        found = amplified(middle, clients=clients, delta=budget.delta)
        low, high = (middle, high) if found.amount <= budget.amount else (low, middle)
    return low


@functools.lru_cache(maxsize=64)
def single_epsilon(budget: Budget, clients: int) -> Fraction:
    """:func:`local_epsilon` rounded down, so that it is the same on every machine."""
    unit = 1 << 12
    return Fraction(math.floor(local_epsilon(budget, clients=clients) * unit), unit)


class _DominatingPair:
    """The dominating pair, given C in each of some blocks.

    More clones hide more: a coin added to either of the pair for C makes it the pair for C + 1, so
    the divergence falls as C grows. A block counts as its smallest C, which errs on the safe side.
    """

    __slots__ = ("_pairs", "_weights")

    def __init__(self, epsilon: float, clients: int, *, blocks: int = _BLOCKS) -> None:
        n, p = clients - 1, math.exp(-epsilon)
        heads = 1 / (1 + p)
        counts = _window(n, p)
        mass = _binomial(counts, n, p)
        starts = np.arange(0, len(counts), max(1, len(counts) // blocks))
        self._weights = np.add.reduceat(mass, starts)
        self._pairs = []
        for count in counts[starts].tolist():
            tossed = _binomial(_window(count, 0.5), count, 0.5)
            same, more = np.append(tossed, 0.0), np.append(0.0, tossed)  # A and A + 1
            self._pairs.append(
                (heads * more + (1 - heads) * same, (1 - heads) * more + heads * same)
            )

    def delta(self, epsilon: float) -> float:
        """An upper bound of the hockey-stick divergence at ε."""
        grown = math.exp(epsilon)
        total = 0.0
        for weight, (one, other) in zip(self._weights.tolist(), self._pairs, strict=True):
            total += weight * float(np.maximum(one - grown * other, 0.0).sum())
        return total * _ROUNDED + _LOST


def _window(n: int, p: float) -> Integers:
    centre, reach = n * p, _TAIL * math.sqrt(n * p * (1 - p)) + _TAIL
    return np.arange(max(0, math.floor(centre - reach)), min(n, math.ceil(centre + reach)) + 1)


def _binomial(k: Integers, n: int, p: float) -> Floats:
    """The probabilities of consecutive k, given that k is one of them.

    Only ratios of one to the next are used: logarithms of factorials would lose digits as n grows.
    Without the tails all probabilities are larger, which errs on the safe side.
    """
    if p >= 1:
        return np.array(k == n, np.float64)
    ratios = (n - k[:-1]) / (k[:-1] + 1) * (p / (1 - p))
    logs = np.append(0.0, np.cumsum(np.log(ratios)))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, slots=True)
class Single(Shuffled):
    """A local protocol whose messages are shuffled. Made by :func:`histogram` or :func:`mean`.

    Clients and server are those of :mod:`modicum.protocols.local`, for :attr:`protocol`. A client's
    message has a larger ε than without a shuffler, which is what it costs the client if the
    shuffler betrays it. The session of :attr:`protocol`, and so all frames, depends on the budget
    and on the crowd that it counts on.

    Attributes
    ----------
    protocol : local.Histogram or local.Mean
        What clients and server follow.
    budget : Budget
        What the shuffled messages guarantee.
    session : str
        32 hexadecimal digits, fresh for every session.
    clients, honest : int
        How many there are at most, and how many at least follow the protocol.

    Examples
    --------
    >>> from modicum import shuffle
    >>> steps = shuffle.histogram(
    ...     within=(0, 100), step=1, epsilon="0.5", delta="1e-8", clients=100_000
    ... )
    >>> str(steps.budget), steps.crowds, steps.rounds
    ('(ε, δ) = (0.5, 0.00000001)', (90000,), 1)
    """

    protocol: Histogram | Mean
    budget: Budget

    schema: ClassVar[str] = "modicum.shuffle.single/1"

    @property
    def crowds(self) -> tuple[int, ...]:
        """How many honest clients are counted on in each round."""
        return _crowds(self.protocol.shares, self.honest, self.budget.delta)

    @property
    def rounds(self) -> int:
        return self.protocol.rounds

    def _frames(self, number: int) -> tuple[int, list[bytes], int]:
        size = wire.frame(self.protocol.asked(self.protocol.first()).answer).itemsize
        return size, [wire.head(self.protocol.tag, number)], self.crowds[number - 1]

    def parameters(self) -> dict[str, Any]:
        return {
            "kind": self.protocol.kind,
            **self.protocol.parameters(),
            "epsilon": str(self.budget.amount),
            "delta": str(self.budget.delta),
            "single": str(self.protocol.budget.amount),
        }

    @classmethod
    def _built(cls, said: dict[str, Any]) -> Single:
        names = ("session", "step", "epsilon", "delta", "clients", "honest")
        build = {Histogram.kind: histogram, Mean.kind: mean}[said["kind"]]
        return build(within=(said["lo"], said["hi"]), **{name: said[name] for name in names})


def histogram(
    *,
    within: tuple[float, float],
    epsilon: Number,
    delta: Number,
    clients: int,
    honest: int | None = None,
    step: float | None = None,
    session: str | None = None,
) -> Single:
    """Estimate shares of ranges, and quantiles, from one shuffled message of each client.

    Parameters
    ----------
    within, step
        As for :func:`modicum.protocols.local.histogram`.
    epsilon, delta : number
        Budget of a client whose value may be replaced by any other: ε of 0.01 to 10, δ of 1e-12
        to 1e-3.
    clients, honest, session
        As for :func:`split_sum`.

    Returns
    -------
    Single
        Its ``protocol`` is a :class:`~modicum.protocols.local.Histogram`, which plans the error.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Examples
    --------
    >>> from modicum import local, shuffle
    >>> steps = shuffle.histogram(
    ...     within=(0, 100), step=1, epsilon="0.5", delta="1e-8", clients=100_000
    ... )
    >>> float(steps.protocol.budget.amount) > 4
    True
    >>> alone = local.histogram(within=(0, 100), step=1, epsilon="0.5")
    >>> round(alone.error(100_000), 3), round(steps.protocol.error(100_000), 3)
    (0.032, 0.001)
    """
    return _made(local_histogram, within, step, epsilon, delta, clients, honest, session)


def mean(
    *,
    within: tuple[float, float],
    epsilon: Number,
    delta: Number,
    clients: int,
    honest: int | None = None,
    step: float | None = None,
    session: str | None = None,
) -> Single:
    """Estimate a mean from one shuffled message of each client, in two rounds.

    Prefer :func:`split_sum` if a tight range is known and many messages do no harm: its error is
    that of a curator. This one needs no tight range, and a client who lies moves it by little.

    Parameters
    ----------
    within, epsilon, delta, clients, honest, step, session
        As for :func:`histogram`.

    Returns
    -------
    Single
        Its ``protocol`` is a :class:`~modicum.protocols.local.Mean`, which plans the error.

    Raises
    ------
    InvalidArgument
        For arguments out of range, or fewer honest clients than two rounds need.

    Examples
    --------
    >>> from modicum import shuffle
    >>> hours = shuffle.mean(
    ...     within=(-1e6, 1e6), epsilon=1, delta="1e-8", clients=50_000
    ... )
    >>> hours.crowds, round(hours.protocol.error(50_000, width=10), 3)
    ((10555, 32547), 0.015)
    """
    return _made(local_mean, within, step, epsilon, delta, clients, honest, session)


def _made(
    build: Callable[..., Histogram | Mean],
    within: tuple[float, float],
    step: float | None,
    epsilon: Number,
    delta: Number,
    clients: int,
    honest: int | None,
    session: str | None,
) -> Single:
    budget, people, enough = promised(epsilon, delta, clients, honest)
    chosen = chosen_session(session)
    # The shares of clients in the rounds do not depend on the budget.
    shares = build(within=within, step=step, epsilon=1, session=chosen).shares
    fewest = min(_crowds(shares, enough, budget.delta))
    if fewest < 2:
        raise InvalidArgument(f"{enough} honest clients are too few for {len(shares)} rounds")
    part = approx(budget.amount, budget.delta * (1 - _MISSING))
    bound = _bound(chosen, budget.amount, budget.delta, people, enough)
    single = single_epsilon(part, fewest)
    protocol = build(within=within, step=step, epsilon=single, session=bound)
    return Single(chosen, people, enough, protocol, budget)


def _bound(session: str, *promised: object) -> str:
    """The session of the local protocol: another one for every other promise.

    A client that was promised another crowd then sends frames of another tag, which neither the
    shuffler nor the server of this one takes.
    """
    text = " ".join(map(str, ("modicum.shuffle.single/1", session, *promised)))
    return hashlib.shake_256(text.encode()).hexdigest(16)


def _crowds(shares: tuple[int, ...], honest: int, delta: Fraction) -> tuple[int, ...]:
    """How many clients answer each round but for a part of δ, [shuffle.9]."""
    if len(shares) == 1:
        return (honest,)
    means = [honest * share / sum(shares) for share in shares]
    surprise = -2 * math.log(delta * _MISSING / len(shares))
    return tuple(max(0, math.floor(mean - math.sqrt(surprise * mean))) for mean in means)
