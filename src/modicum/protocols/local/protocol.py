"""What all parties know: a session's public parameters, its public randomness, and its rounds.

Which round a client answers, which part of it, and which hash function are fixed by SHAKE-256 of
the session's seed and the client's number. So no message carries them, and nobody chooses them
freely. The last functions read values and arguments.
"""

from __future__ import annotations

import hashlib
import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData, as_given
from modicum.exact.entropy import SYSTEM, Entropy
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_fraction, as_integer
from modicum.mechanisms.base import Mechanism
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event, event_of
from modicum.protocols.local.wire import Announcement, Written

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

Words = NDArray[np.uint64]
"""Shape (n, 8): the public words of n clients."""

_SHARES = 1 << 10
_SCHEMA = "modicum.local.protocol/1"
_PER_CLIENT = 8
_FIRST_DIGITS = 3  # the words before this one choose the round, the attribute and the level
_KEPT = 53  # bits of a word that are used: a product with a number below 2^11 fits 64 bits
_SPENT = 24  # bits of digits made of one word, so that each is uniform to 2^-29


def words(seed: bytes, clients: NDArray[np.uint64]) -> Words:
    """The public words of clients, shape (n, 8), by the session's seed and their numbers."""
    start = hashlib.shake_256(b"modicum.local/1 client" + seed)
    names = clients.astype("<u8").tobytes()
    blocks = []
    for i in range(0, len(names), 8):
        one = start.copy()
        one.update(names[i : i + 8])
        blocks.append(one.digest(8 * _PER_CLIENT))
    flat = np.frombuffer(b"".join(blocks), "<u8").astype(np.uint64, copy=False)
    return flat.reshape(len(clients), _PER_CLIENT)


def pick(word: NDArray[np.uint64], n: int) -> Integers:
    """Map words to 0..n-1, n <= 2^11, each to within 2^-53 equally likely."""
    kept = word >> np.uint64(64 - _KEPT)
    return ((kept * np.uint64(n)) >> np.uint64(_KEPT)).astype(np.int64)


def digits(found: Words, base: int, count: int) -> Integers:
    """``count`` digits of base ``base`` for each client, shape (n, count).

    Any 24 bits of them are those of one word, so they are jointly uniform to within 2^-29.
    """
    each = 1
    while base ** (each + 1) <= 1 << _SPENT:
        each += 1
    result = np.empty((len(found), count), np.int64)
    mask, shift = np.uint64((1 << _KEPT) - 1), np.uint64(_KEPT)
    for i in range(count):
        if i % each == 0:
            rest = found[:, _FIRST_DIGITS + i // each] >> np.uint64(64 - _KEPT)
        rest = rest * np.uint64(base)
        result[:, i] = (rest >> shift).astype(np.int64)
        rest &= mask
    return result


class Round(ABC):
    """What a round asks of many clients; public.

    Every answer is one draw of :meth:`mechanism`, whose event is the same for all values. A row is
    what a round reads of a value: integers, shape (k,).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def event(self) -> Event:
        """Privacy event of an answer, for any two values."""

    @property
    @abstractmethod
    def answer(self) -> np.dtype[Any]:
        """Layout of an answer."""

    @abstractmethod
    def mechanism(self, row: Integers, found: Words) -> Mechanism[Any]:
        """Mechanism of a client's answer, given their row (k,) and their public words (8,)."""

    @abstractmethod
    def stored(self, outcome: Any) -> NDArray[Any]:
        """An outcome of the mechanism as an array of one answer."""

    @abstractmethod
    def draw(self, rows: Integers, found: Words, entropy: Entropy) -> NDArray[Any]:
        """Draw the answers of many clients: rows (n, k), words (n, 8)."""

    @abstractmethod
    def possible(self, answers: NDArray[Any], found: Words) -> Flags:
        """Which answers a client that follows the rules can give."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The accepted answers of a round, and the public words of those who gave them."""

    values: NDArray[Any]
    words: Words


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

    @property
    @abstractmethod
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024."""

    @property
    def rounds(self) -> int:
        """How many rounds a session has; each client answers one of them."""
        return len(self.shares)

    @property
    def seed(self) -> bytes:
        """The session as bytes: the seed of its public randomness."""
        return bytes.fromhex(self.session)

    def public_words(self, clients: NDArray[np.uint64]) -> Words:
        """Return the public random words of clients, from which their rounds and questions follow.

        Parameters
        ----------
        clients : uint64 array, shape (n,)
            The numbers that stand for them.

        Returns
        -------
        uint64 array, shape (n, 8)
            The same for everybody who knows the session.
        """
        return words(self.seed, clients)

    def round_of(self, found: Words) -> Integers:
        """Return the round that each client answers, from 1 on.

        Parameters
        ----------
        found : uint64 array, shape (n, 8)
            Of :meth:`public_words`.

        Returns
        -------
        int64 array, shape (n,)
            Nobody chooses it: it follows from the session and the client's number.
        """
        ends = np.cumsum(self.shares)
        return 1 + np.searchsorted(ends, pick(found[:, 0], _SHARES), side="right")

    def first(self) -> Announcement:
        """Return the announcement of the first round."""
        return Announcement(self.tag, 1)

    @abstractmethod
    def asked(self, said: Announcement) -> Round:
        """Return what a round asks, after checking what was announced.

        Parameters
        ----------
        said : Announcement
            Of the server, for this session.

        Returns
        -------
        Round
            Its mechanism, and how an answer is laid out in bytes.

        Raises
        ------
        InvalidArgument
            If the announcement does not fit the parameters.
        """

    @abstractmethod
    def rows(self, values: Floats, said: Announcement) -> Integers:
        """Return what a round reads of each value.

        Parameters
        ----------
        values : float64 array
            As :meth:`read` returns them: a row for each client.
        said : Announcement
            Of the round.

        Returns
        -------
        int64 array, shape (n, k)
            Within what the round's mechanism takes.
        """

    @abstractmethod
    def read(self, values: Any) -> Floats:
        """Read values of many clients, before the budget is spent.

        Parameters
        ----------
        values : array, list or column
            A number, or a vector, for each client. What is missing becomes a public value.

        Returns
        -------
        float64 array
            A row for each client.

        Raises
        ------
        InvalidArgument
            If the shape is another one.
        UnsupportedData
            If they are no numbers. No error depends on what the numbers are.
        """

    @abstractmethod
    def closed(self, said: Announcement, answers: Answers) -> Any:
        """Return the next announcement, or the estimate after the last round.

        Parameters
        ----------
        said : Announcement
            Of the round that ended.
        answers : Answers
            What was accepted.

        Returns
        -------
        Announcement, or an estimate
            Of the kind that the protocol says.
        """

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statistic."""

    def _answering(self, clients: int) -> float:
        """Return how many of so many clients answer the last round, on average."""
        return as_integer(clients, "clients", 1) * self.shares[-1] / sum(self.shares)

    def written(self) -> dict[str, Any]:
        """Return all parameters; :func:`modicum.protocols.local.from_json` reads their JSON."""
        return {
            "schema": _SCHEMA,
            "kind": self.kind,
            "session": self.session,
            "currency": self.budget.kind,
            "amount": str(self.budget.amount),
            **self.parameters(),
        }


def chosen_session(session: str | None) -> str:
    """A session that was given, or a new one: 128 bits of the operating system."""
    if session is None:
        return f"{SYSTEM.bits(128):032x}"
    text: object = session  # whatever a caller gave
    if not isinstance(text, str) or len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise InvalidArgument(
            f"session must be 32 hexadecimal digits, fresh for every session, "
            f"got {as_given(session)}"
        )
    return text


def local_budget(epsilon: Number | None, rho: Number | None) -> Budget:
    """Read the budget of a client: pure or zCDP."""
    chosen = chosen_budget(epsilon, rho, None)
    if not Fraction(1, 1000) <= pure_share(chosen) <= 20:
        raise InvalidArgument(f"a client's ε must lie between 0.001 and 20, got {chosen}")
    return chosen


def pure_share(budget: Budget) -> Fraction:
    """The pure ε of one draw that spends the whole budget: ε, or sqrt(2 ρ) rounded down."""
    return event_of(budget).largest_pure


def between(value: Number, name: str, low: str, high: str) -> Fraction:
    """Read a number of a closed range, whose ends are decimals."""
    found = as_fraction(value, name)
    if not Fraction(low) <= found <= Fraction(high):
        raise InvalidArgument(f"{name} must lie between {low} and {high}, got {as_given(value)}")
    return found


def length(value: float, name: str) -> float:
    """Read a positive number, in the unit of the data."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 < value < float("inf"):
        raise InvalidArgument(f"{name} must be a positive finite number, got {as_given(value)}")
    return float(value)


def read_column(values: object, lattice: Lattice) -> Floats:
    """Read one number for each client; a missing one becomes the middle of the range."""
    x = numbers_of(values)
    if x.ndim != 1:
        raise InvalidArgument(f"values must have the shape (n,), got {x.shape}")
    return np.where(np.isnan(x), lattice.lo / 2 + lattice.hi / 2, x)


def numbers_of(values: object) -> Floats:
    """Read real numbers: of an array by its declared type, else each by its own.

    No number is too large, and what stands for a missing one is missing, also under a mask: an
    error for a few values would reveal them. NumPy makes an array of objects of lists and columns
    of mixed types.
    """
    if isinstance(values, list | tuple | numbers.Real) or _missing(values):
        values = np.asarray(values, object)
    x = np.asanyarray(values)
    hidden = np.ma.getmaskarray(x) if isinstance(x, np.ma.MaskedArray) else None
    x = np.asarray(x)
    if x.dtype.kind == "O":
        found = np.array([_float(value) for value in x.ravel().tolist()], np.float64)
        found = found.reshape(x.shape)
    elif x.dtype.kind in "fiub":
        with np.errstate(over="ignore"):  # long floats beyond float64 become infinite
            found = x.astype(np.float64)
    else:
        raise UnsupportedData(f"values must be real numbers, got an array of {x.dtype}")
    return found if hidden is None else np.where(hidden, np.nan, found)


def _float(value: object) -> float:
    if _missing(value):
        return math.nan
    if not isinstance(value, numbers.Real | np.bool_):
        raise UnsupportedData(f"values must be real numbers, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def _missing(value: object) -> bool:
    """Whether it stands for no number: None, a masked number, and the two of pandas."""
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")
