"""A sum of vectors by split and mix: integers of bounded norm, noise by the better of two laws."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.shuffle.poisson import LARGEST_RATE, Poisson
from modicum.shuffle.polya import Polya
from modicum.shuffle.shares import pooled, share_count, split
from modicum.shuffle.skellam import skellam_variance

__all__ = ["VectorSum"]

_FRAME = np.dtype(
    [
        ("magic", "<u2"),
        ("version", "u1"),
        ("session", "<u8"),
        ("coordinate", "<u2"),
        ("share", "<u8"),
    ]
)
_MAGIC = int.from_bytes(b"mV", "little")
_VERSION = 1
_FINE = 128  # the norm, in parts of what rounding can add to it
_COIN = 53  # bits of the coin that rounds


@dataclass(frozen=True, slots=True)
class VectorSum:
    """Public parameters of the sum of one vector of norm at most 1 of each client.

    Parameters
    ----------
    tag : int
        64 bits that stand for the session with all its parameters.
    width : int
        Coordinates, at most 2^16.
    epsilon : Fraction
    delta : float
        Of the noise.
    security : int
        Shares of a coordinate tell more than its sum with probability about 2^-security.
    clients, honest : int
        How many are expected at most, and how many at least follow the protocol.

    Raises
    ------
    InvalidArgument
        If a client's part of the noise is too large for a table.
    """

    tag: int
    width: int
    epsilon: Fraction
    delta: float
    security: int
    clients: int
    honest: int

    def __post_init__(self) -> None:
        """Refuse noise that has no sampler."""
        _, variance, scale = _scaled(self.width, self.epsilon, self.delta, self.clients)
        if scale is None and variance > 2 * self.honest * LARGEST_RATE:
            raise InvalidArgument(
                f"{self.honest} clients cannot add so much noise: raise epsilon or clients"
            )

    @property
    def norm(self) -> int:
        """K: what a client sends are integers with a norm of at most K."""
        return _scaled(self.width, self.epsilon, self.delta, self.clients)[0]

    @property
    def unit(self) -> float:
        """Steps of a vector of norm 1, so that rounding leads to a norm of at most K."""
        # A relative 2^-30 covers the rounding of floats.
        return (self.norm - math.sqrt(self.width)) * (1 - 2.0**-30)

    @property
    def variance(self) -> float:
        """Variance of a coordinate of the sum, of the noise of ``honest`` clients."""
        return float(_scaled(self.width, self.epsilon, self.delta, self.clients)[1])

    @property
    def noise(self) -> Poisson | Polya:
        """One side of a client's noise of a coordinate."""
        _, variance, scale = _scaled(self.width, self.epsilon, self.delta, self.clients)
        if scale:
            return Polya(Fraction(1, self.honest), 1 / scale)
        return Poisson(Fraction(variance, 2 * self.honest))

    @property
    def bits(self) -> int:
        """Shares are integers modulo 2^bits, which exceeds twice a sum and its noise, [V2]."""
        all_noise = math.sqrt(self.variance * self.clients / self.honest)
        return (2 * (self.clients * self.norm + math.ceil(45 * all_noise) + 60)).bit_length()

    @property
    def shares(self) -> int:
        """Messages of a client about one coordinate."""
        return share_count(self.honest, security=self.security, bits=self.bits)

    @property
    def frame_size(self) -> int:
        """Bytes of one message."""
        return _FRAME.itemsize

    def error(self, clients: int) -> float:
        """Return the standard deviation of a coordinate of the mean, where the radius is 1."""
        noise = self.variance * clients / self.honest + clients / 4
        return math.sqrt(noise) / clients / self.unit

    def rounded(
        self, vectors: NDArray[np.int64], radius: int, entropy: Entropy
    ) -> NDArray[np.int64]:
        """Clip vectors to the radius, scale it to :attr:`unit`, and round to integers at random.

        No norm exceeds K: rounding moves each coordinate by less than 1. What is longer all the
        same is replaced by 0.
        """
        x = vectors.astype(np.float64)
        norms = np.sqrt((x * x).sum(axis=1))
        x *= (self.unit / np.maximum(norms, float(radius)))[:, None]
        whole = np.floor(x)
        coins = entropy.words(x.size).reshape(x.shape) >> np.uint64(64 - _COIN)
        u = whole.astype(np.int64) + (coins < (x - whole) * 2.0**_COIN)
        long = (u * u).sum(axis=1) > self.norm**2
        return np.where(long[:, None], 0, u)

    def frames(self, vectors: NDArray[np.int64], entropy: Entropy) -> bytes:
        """Return the shares of every client's vector, noise added, one client's after the other's.

        Parameters
        ----------
        vectors : (n, width) int array
            From :meth:`rounded`.
        """
        noisy = vectors.ravel().astype(np.int64)
        for sign in (1, -1):
            noisy += sign * self.noise.sample_many(noisy.size, entropy)
        frames = self._empty(len(vectors))
        frames["share"] = split(noisy, self.shares, self.bits, entropy)
        return frames.tobytes()

    @property
    def heads(self) -> list[bytes]:
        """How the frames of one client begin: all that stands before a share."""
        end = -_FRAME["share"].itemsize
        return [frame.tobytes()[:end] for frame in self._empty(1).ravel()]

    def _empty(self, clients: int) -> NDArray[Any]:
        """Return frames without shares, shape (clients * width, shares)."""
        frames = np.zeros((clients * self.width, self.shares), _FRAME)
        frames["magic"], frames["version"], frames["session"] = _MAGIC, _VERSION, self.tag
        frames["coordinate"] = np.tile(np.arange(self.width), clients)[:, None]
        return frames

    def mean(self, frames: bytes) -> tuple[NDArray[np.float64], int, int]:
        """Add up what the shuffler released: the mean where the radius is 1, clients, refused.

        Raises
        ------
        InvalidArgument
            If the frames are not those of whole clients of this session, of fewer than are needed
            or of more than agreed: a share that is missing makes a sum uniformly random.
        """
        if len(frames) % _FRAME.itemsize:
            raise InvalidArgument("these are no whole frames")
        read = np.frombuffer(frames, _FRAME)
        good = (
            (read["magic"] == _MAGIC)
            & (read["version"] == _VERSION)
            & (read["session"] == np.uint64(self.tag))
            & (read["coordinate"] < self.width)
        )
        kept = read[good]
        counts = np.bincount(kept["coordinate"], minlength=self.width)
        clients, rest = divmod(int(counts[0]), self.shares)
        if rest or (counts != counts[0]).any() or not self.honest <= clients <= self.clients:
            raise InvalidArgument("shares are missing, or more or fewer came than agreed")
        # Each coordinate has as many shares: sorted by it, they are the rows of a table.
        order = np.argsort(kept["coordinate"], kind="stable")
        table = kept["share"][order].reshape(self.width, -1)
        sums = np.array([pooled(row, self.bits) for row in table], np.float64)
        return sums / clients / self.unit, clients, int(len(read) - len(kept))


@functools.lru_cache(maxsize=64)
def _scaled(
    width: int, epsilon: Fraction, delta: float, clients: int
) -> tuple[int, int, Fraction | None]:
    """Return K, the variance of a coordinate, and the scale if the noise is Laplace.

    K is large enough that rounding lengthens by less than 1 % and adds less than 1/64 of the
    variance: rounding n numbers to integers adds at most n/4, and the noise has at least 16 n.
    """
    norm = 1 << math.ceil(math.log2(_FINE * math.sqrt(width)))
    while True:
        laplace = Fraction(math.isqrt(4 * norm**2 * width) + 1) / epsilon
        skellam = skellam_variance(float(epsilon), delta, distance=2 * norm)
        simple = 2 * laplace**2 <= skellam
        variance = math.ceil(2 * laplace**2) if simple else skellam
        if variance >= 16 * clients:
            return norm, variance, laplace if simple else None
        norm *= 2
