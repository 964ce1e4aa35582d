"""A session's public parameters: what clients and server agree upon before anybody answers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.enclosure import sqrt_below
from modicum.exact.entropy import SYSTEM
from modicum.local.public import Words, pick, words
from modicum.local.round import Answers, Round
from modicum.local.wire import Announcement
from modicum.local.written import Written
from modicum.privacy.budget import Budget, Number, chosen_budget

__all__ = [
    "Protocol",
    "check_session",
    "chosen_session",
    "local_budget",
    "pure_share",
]

_SHARES = 1 << 10
_SCHEMA = "modicum.local.protocol/1"


@dataclass(frozen=True, slots=True)
class Protocol(Written):
    """What all parties know. Every client answers one round, with the whole budget.

    Parameters
    ----------
    session : str
        32 hexadecimal digits, fresh for every session; the seed of its public randomness.
    budget : Budget
        What a client spends in all, pure ε or zCDP.
    """

    session: str
    budget: Budget

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse a session that is no seed."""
        check_session(self.session)

    @property
    @abstractmethod
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024."""

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.shares)

    @property
    def seed(self) -> bytes:
        """Seed of the public randomness."""
        return bytes.fromhex(self.session)

    def public_words(self, clients: NDArray[np.uint64]) -> Words:
        """Return the public words of clients, shape (n, 8)."""
        return words(self.seed, clients)

    def round_of(self, found: Words) -> NDArray[np.int64]:
        """Return the round that each client answers, from 1 on."""
        ends = np.cumsum(self.shares)
        return 1 + np.searchsorted(ends, pick(found[:, 0], _SHARES), side="right")

    def first(self) -> Announcement:
        """Return the announcement of the first round."""
        return Announcement(self.tag, 1)

    @abstractmethod
    def asked(self, said: Announcement) -> Round:
        """Return what a round asks, after checking what was announced."""

    @abstractmethod
    def rows(self, values: NDArray[np.float64], said: Announcement) -> NDArray[np.int64]:
        """Return what the round wants to know of each value, shape (n, k)."""

    @abstractmethod
    def read(self, values: Any) -> NDArray[np.float64]:
        """Read values of many clients; only their declared type and shape can be wrong."""

    @abstractmethod
    def closed(self, said: Announcement, answers: Answers) -> Any:
        """Return the next announcement, or the estimate after the last round."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statistic."""

    def written(self) -> dict[str, Any]:
        """Return all parameters; :func:`modicum.local.from_json` reads their JSON."""
        return {
            "schema": _SCHEMA,
            "kind": self.kind,
            "session": self.session,
            "currency": self.budget.kind,
            "amount": str(self.budget.amount),
            **self.parameters(),
        }


def chosen_session(session: str | None) -> str:
    """Return a session that was given, or a new one: 128 bits of the operating system."""
    if session is None:
        return f"{SYSTEM.bits(128):032x}"
    check_session(session)
    return session


def check_session(session: object) -> None:
    """Refuse what is no session: nothing but 32 hexadecimal digits."""
    text = session if isinstance(session, str) else ""
    if len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise InvalidArgument(
            f"session must be 32 hexadecimal digits, fresh for every session, got {session!r}"
        )


def local_budget(epsilon: Number | None, rho: Number | None) -> Budget:
    """Read the budget of a client: pure or zCDP."""
    chosen = chosen_budget(epsilon, rho, None)
    if not Fraction(1, 1000) <= pure_share(chosen) <= 20:
        raise InvalidArgument(f"a client's ε must lie between 0.001 and 20, got {chosen}")
    return chosen


def pure_share(budget: Budget) -> Fraction:
    """Return the pure ε of one draw that uses the budget up: ε, or sqrt(2 ρ) rounded down."""
    return budget.amount if budget.kind == "pure" else sqrt_below(2 * budget.amount, 40)
