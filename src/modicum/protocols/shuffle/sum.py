"""A sum by split and mix: noisy integers in shares that only together mean anything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_integer
from modicum.privacy.budget import Budget, Number, approx
from modicum.protocols.local.parties import OneTimeClients
from modicum.protocols.local.protocol import Integers, between, chosen_session, read_column
from modicum.protocols.shuffle.noise import Polya
from modicum.protocols.shuffle.shares import ShareFrames, share_count, sum_of_shares
from modicum.protocols.shuffle.shuffler import Shuffled, crowd


@dataclass(frozen=True, slots=True)
class Sum(Shuffled):
    """Public parameters of one sum. Made by :func:`split_sum`.

    Parameters
    ----------
    session : str
        32 hexadecimal digits, fresh for every session.
    clients, honest : int
        How many there are at most, and how many at least follow the protocol.
    lattice : Lattice
        The public range and the step.
    epsilon : Fraction
        ε of the sum.
    security : int
        σ: shares show more than their sum with probability about 2^-σ.

    Examples
    --------
    >>> from modicum import shuffle
    >>> protocol = shuffle.split_sum(within=(0, 1), epsilon=1, clients=10_000)
    >>> protocol.honest, round(float(protocol.budget.delta), 14)
    (9000, 3.64e-12)
    """

    lattice: Lattice
    epsilon: Fraction
    security: int

    schema: ClassVar[str] = "modicum.shuffle/2"

    @property
    def precision(self) -> int:
        """Steps p of a value in the range: rounding to them adds at most n/4 to the variance.

        That is p²/16 for p >= 2 sqrt(n), beside noise of 2 p²/ε².
        """
        return 1 << (2 * math.isqrt(self.clients)).bit_length()

    @property
    def bits(self) -> int:
        """Shares are integers modulo 2^bits, which exceeds twice the sum and its noise."""
        tail = math.ceil(60 * self.precision / float(self.epsilon)) * 2
        return (2 * (self.clients * self.precision + tail)).bit_length()

    @property
    def shares(self) -> int:
        """Messages of a client [shuffle.5]."""
        return share_count(self.honest, security=self.security, bits=self.bits)

    @property
    def noise(self) -> Polya:
        """One side of a client's noise: those of the honest make up a geometric number."""
        return Polya(Fraction(1, self.honest), self.epsilon / self.precision)

    @property
    def budget(self) -> Budget:
        """What the shuffled messages guarantee: (ε, (1 + e^ε) 2^-security), δ rounded up.

        See [shuffle.6].
        """
        lost = Fraction(math.ceil(1 + math.exp(self.epsilon))) / 2**self.security
        return approx(self.epsilon, lost)

    @property
    def mix(self) -> ShareFrames:
        """How the noisy integers travel."""
        return ShareFrames(b"mS", self.tag, None, self.bits, self.shares)

    @property
    def frame_size(self) -> int:
        """Bytes of one message."""
        return self.mix.layout.itemsize

    @property
    def error(self) -> float:
        """Standard deviation of the sum that is predicted, if all are honest and answer."""
        scale = (self.lattice.hi - self.lattice.lo) / self.precision
        return scale * math.sqrt(
            self.clients / self.honest * 2 / float(self.epsilon / self.precision) ** 2
            + self.clients / 4
        )

    def _frames(self, number: int) -> tuple[int, list[bytes], int]:
        return self.frame_size, self.mix.heads, self.honest

    def parameters(self) -> dict[str, Any]:
        return {
            "lo": self.lattice.lo,
            "hi": self.lattice.hi,
            "step": self.lattice.step,
            "epsilon": str(self.epsilon),
            "security": self.security,
            # These follow from the others; a version that has other constants is noticed by them.
            "precision": self.precision,
            "bits": self.bits,
            "shares": self.shares,
        }

    @classmethod
    def _built(cls, said: dict[str, Any]) -> Sum:
        names = ("epsilon", "clients", "security", "honest", "session")
        return split_sum(within=(said["lo"], said["hi"]), **{name: said[name] for name in names})


def split_sum(
    *,
    within: tuple[float, float],
    epsilon: Number,
    clients: int,
    security: int = 40,
    honest: int | None = None,
    session: str | None = None,
) -> Sum:
    """Sum one number of each client, through a shuffler, almost as exactly as a curator could.

    Parameters
    ----------
    within : pair of numbers
        Public range; values are clamped to it.
    epsilon : number
        ε of the sum, for a client whose value may be replaced by any other; 0.001 to 10.
    clients : int
        How many at most, 100 to 2^24.
    security : int
        σ, 20 to 80: the shuffled shares show more than their sum with probability about 2^-σ.
    honest : int, optional
        How many at least take part and follow the protocol; by default 9 in 10.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    Sum
        For :class:`SumBatch` and :func:`analysed`; its ``error`` and ``budget`` say what to expect.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Notes
    -----
    Balle, Bell, Gascon and Nissim (2020), after Ishai, Kushilevitz, Ostrovsky and Sahai (2006).

    Examples
    --------
    >>> from modicum import shuffle
    >>> protocol = shuffle.split_sum(within=(0, 1), epsilon=1, clients=32_561)
    >>> protocol.shares, protocol.bits, round(protocol.error, 2)
    (10, 25, 1.5)
    """
    size = between(epsilon, "epsilon", "0.001", "10")
    people, enough = crowd(clients, honest)
    strength = as_integer(security, "security", 20, 80)
    return Sum(chosen_session(session), people, enough, Lattice.within(within), size, strength)


class SumBatch(OneTimeClients[Sum]):
    """Clients of a sum; one is a batch of 1.

    Parameters
    ----------
    protocol : Sum
        Made by :func:`split_sum`.
    clients, entropy
        As for :class:`VectorBatch`.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import shuffle
    >>> protocol = shuffle.split_sum(within=(0, 1), epsilon=1, clients=500)
    >>> shuffler = protocol.shuffler()
    >>> for _ in range(5):
    ...     assert shuffler.add(shuffle.SumBatch(protocol, 100).respond(np.full(100, 0.5)))
    >>> found = shuffle.analysed(protocol, shuffler.release())
    >>> found.clients, abs(found.value - 250) < 60
    (500, True)
    """

    __slots__ = ()

    def respond(self, values: Any) -> bytes:
        """Return the shares of every client, one client's after the other's; once.

        Parameters
        ----------
        values : array, shape (n,)
            A number for each client; those beyond the range are clipped, and a missing one becomes
            its middle.

        Returns
        -------
        bytes
            Their frames, for the shuffler.

        Raises
        ------
        InvalidArgument
            If there are not as many values as clients.
        UnsupportedData
            If the values are no numbers.
        CopyRefused
            In a process that was forked from the clients' own.
        BudgetExceeded
            The second time.
        """
        protocol = self._protocol
        x = read_column(values, protocol.lattice)
        self._check_count(x)
        self._charge(1, protocol.budget)
        rounded = self._rounded(protocol.lattice.quantise(x))
        return protocol.mix.frames(rounded, protocol.noise, self._entropy)

    def _rounded(self, q: Integers) -> Integers:
        """Round to p steps at random, so that the mean stays."""
        lattice, p = self._protocol.lattice, self._protocol.precision
        # (q - first) p overflows 64 bits for the finest lattices: whole and rest in two steps.
        wide = (q - lattice.first).astype(object) * p
        whole = np.array(wide // lattice.width, np.int64)
        rest = np.array(wide % lattice.width, np.int64)
        coins = self._entropy.below_many(lattice.width, len(q)).astype(np.int64)
        return whole + (coins < rest)


@dataclass(frozen=True, slots=True)
class SumEstimate:
    """A sum from shuffled shares.

    Attributes
    ----------
    value : float
        Unbiased for the sum of the clamped values of those who took part.
    mean : float
        The sum over the number of those.
    clients : int
        Those who took part.
    refused : int
        Frames of another kind, 0 unless the shuffler was fed with them.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import shuffle
    >>> protocol = shuffle.split_sum(within=(0, 1), epsilon=1, clients=500)
    >>> shuffler = protocol.shuffler()
    >>> taken = shuffler.add(shuffle.SumBatch(protocol, 500).respond(np.full(500, 0.5)))
    >>> found = shuffle.analysed(protocol, shuffler.release())
    >>> abs(found.value - 250) < 15 * protocol.error, found.mean == found.value / 500
    (True, True)
    """

    value: float
    mean: float
    clients: int
    refused: int


def analysed(protocol: Sum, frames: bytes) -> SumEstimate:
    """Add up what the shuffler released: the sum of all shares is that of the values.

    Parameters
    ----------
    protocol : Sum
        Made by :func:`split_sum`.
    frames : bytes
        What :meth:`Shuffler.release` returned.

    Returns
    -------
    SumEstimate
        In the unit of the data.

    Raises
    ------
    InvalidArgument
        If the frames are not those of whole clients of this session, or of fewer than ``honest``
        or more than ``clients``: a share that is missing makes the sum uniformly random.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import shuffle
    >>> protocol = shuffle.split_sum(within=(0, 10), epsilon=1, clients=500)
    >>> shuffler = protocol.shuffler()
    >>> taken = shuffler.add(shuffle.SumBatch(protocol, 500).respond(np.full(500, 2.0)))
    >>> abs(shuffle.analysed(protocol, shuffler.release()).mean - 2) < 1
    True
    """
    table, clients, refused = protocol.mix.read(
        frames, least=protocol.honest, most=protocol.clients
    )
    total = sum_of_shares(table, protocol.bits, middle=clients * protocol.precision // 2)
    lattice = protocol.lattice
    value = clients * lattice.lo + total * (lattice.hi - lattice.lo) / protocol.precision
    return SumEstimate(value, value / clients, clients, refused)
