"""Single messages through a shuffler: the protocols of one number, for an (ε, δ) budget."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.local.arguments import between
from modicum.local.histogram import Histogram
from modicum.local.histogram import histogram as local_histogram
from modicum.local.mean import Mean
from modicum.local.mean import mean as local_mean
from modicum.local.protocol import chosen_session
from modicum.local.wire import frame, head
from modicum.local.written import Written, reread
from modicum.privacy.budget import Budget, Number
from modicum.shuffle.amplification import single_epsilon
from modicum.shuffle.crowd import crowd
from modicum.shuffle.shuffler import Shuffler

__all__ = ["Single", "histogram", "mean"]

_MISSING = Fraction(1, 10)  # of δ: fewer clients answer a round than counted on, [A3]
_SCHEMA = "modicum.shuffle.single/1"


@dataclass(frozen=True, slots=True)
class Single(Written):
    """A local protocol whose messages are shuffled. Made by :func:`histogram` or :func:`mean`.

    Clients and server are those of :mod:`modicum.local`, for :attr:`protocol`: a client is asked
    for a larger ε than without a shuffler, which it pays if the shuffler betrays it. The session of
    :attr:`protocol`, and so all frames, depends on the budget and on the crowd that it counts on.

    Parameters
    ----------
    session : str
        Seed of the local session.
    protocol : local.Histogram or local.Mean
    budget : Budget
        What the shuffled messages guarantee.
    clients, honest : int
        How many there are at most, and how many at least follow the protocol.
    """

    session: str
    protocol: Histogram | Mean
    budget: Budget
    clients: int
    honest: int

    @property
    def crowds(self) -> tuple[int, ...]:
        """How many honest clients are counted on in each round."""
        return _crowds(self.protocol.shares, self.honest, self.budget.delta)

    def shuffler(self, number: int, *, entropy: Entropy = SYSTEM) -> Shuffler:
        """Return a shuffler for a round, from 1 on."""
        if number not in range(1, self.protocol.rounds + 1):
            raise InvalidArgument(f"there are {self.protocol.rounds} rounds, got round {number}")
        size = frame(self.protocol.asked(self.protocol.first()).answer).itemsize
        return Shuffler(
            size=size,
            least=self.crowds[number - 1],
            most=self.clients,
            heads=[head(self.protocol.tag, number)],
            entropy=entropy,
        )

    def written(self) -> dict[str, Any]:
        """Return all parameters; :meth:`from_json` reads their JSON."""
        return {
            "schema": _SCHEMA,
            "kind": self.protocol.kind,
            "session": self.session,
            **self.protocol.parameters(),
            "epsilon": str(self.budget.amount),
            "delta": str(self.budget.delta),
            "clients": self.clients,
            "honest": self.honest,
            "single": str(self.protocol.budget.amount),
        }

    @staticmethod
    def from_json(text: str) -> Single:
        """Read a protocol; look at both budgets and at ``honest`` before you answer.

        Raises
        ------
        InvalidArgument
            If the text is no protocol that this version writes.

        Examples
        --------
        >>> from modicum import shuffle
        >>> steps = shuffle.histogram(
        ...     within=(0, 8), step=1, epsilon=1, delta="1e-8", clients=9000
        ... )
        >>> shuffle.Single.from_json(steps.to_json()) == steps
        True
        """
        names = ("session", "step", "epsilon", "delta", "clients", "honest")

        def built(said: dict[str, Any]) -> Single:
            build = {Histogram.kind: histogram, Mean.kind: mean}[said["kind"]]
            return build(within=(said["lo"], said["hi"]), **{name: said[name] for name in names})

        return reread(text, built)


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
    within : pair of numbers
        A public range. A wide one costs a logarithm.
    epsilon, delta : number
        Budget of a client whose value may be replaced by any other: ε of 0.01 to 10, δ of 1e-12
        to 1e-3.
    clients : int
        How many at most, 100 to 2^24.
    honest : int, optional
        How many at least take part and follow the protocol; by default 9 in 10.
    step : float, optional
        A power of two to which values are rounded; by default as fine as is safe.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    Single
        Its ``protocol`` is a :class:`~modicum.local.Histogram`, which plans the error.

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

    Arguments are those of :func:`histogram`. Prefer :func:`split_sum` if a tight range is known and
    many messages do no harm: its error is that of a curator. This one needs no tight range, and a
    client who lies moves it by little.

    Returns
    -------
    Single
        Its ``protocol`` is a :class:`~modicum.local.Mean`, which plans the error.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

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
    size = between(epsilon, "epsilon", "0.01", "10")
    small = between(delta, "delta", "1e-12", "1e-3")
    people, enough = crowd(clients, honest)
    chosen = chosen_session(session)
    # The shares of clients in the rounds do not depend on the budget.
    shares = build(within=within, step=step, epsilon=1, session=chosen).shares
    fewest = min(_crowds(shares, enough, small))
    if fewest < 2:
        raise InvalidArgument(f"{enough} honest clients are too few for {len(shares)} rounds")
    single = single_epsilon(Budget("approx", size, small * (1 - _MISSING)), fewest)
    bound = _bound(chosen, size, small, people, enough)
    protocol = build(within=within, step=step, epsilon=single, session=bound)
    return Single(chosen, protocol, Budget("approx", size, small), people, enough)


def _bound(session: str, *promised: object) -> str:
    """Return the session of the local protocol: another one for every other promise.

    A client that was promised another crowd then sends frames of another tag, which neither the
    shuffler nor the server of this one takes.
    """
    text = " ".join(map(str, ("modicum.shuffle.single/1", session, *promised)))
    return hashlib.shake_256(text.encode()).hexdigest(16)


def _crowds(shares: tuple[int, ...], honest: int, delta: Fraction) -> tuple[int, ...]:
    """Return how many clients answer each round but for a part of δ, [A3]."""
    if len(shares) == 1:
        return (honest,)
    means = [honest * share / sum(shares) for share in shares]
    surprise = -2 * math.log(delta * _MISSING / len(shares))
    return tuple(max(0, math.floor(mean - math.sqrt(surprise * mean))) for mean in means)
