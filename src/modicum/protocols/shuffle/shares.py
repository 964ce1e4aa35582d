"""Split and mix: integers as shares of which any but all are uniform, and how they travel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.protocols.local.protocol import Integers
from modicum.protocols.shuffle.noise import Poisson, Polya

_VERSION = 2
_NONCE = 2  # words


def share_count(honest: int, *, security: int, bits: int) -> int:
    """Shares of an integer modulo 2^bits: s + 2 of [shuffle.5]."""
    return math.ceil((2 * security + bits) / (math.log2(honest) - math.log2(math.e))) + 2


def split(values: Integers, shares: int, bits: int, entropy: Entropy) -> NDArray[np.uint64]:
    """Write each integer as a sum of shares modulo 2^bits, all but the last uniform: a row each."""
    mask = np.uint64((1 << bits) - 1)
    result = np.empty((len(values), shares), np.uint64)
    words = entropy.words(len(values) * (shares - 1))
    result[:, :-1] = words.reshape(len(values), shares - 1) & mask
    # Unsigned arithmetic wraps at 2^64, a multiple of the modulus.
    rest = values.astype(np.uint64) - result[:, :-1].sum(axis=1, dtype=np.uint64)
    result[:, -1] = rest & mask
    return result


def sum_of_shares(shares: NDArray[np.uint64], bits: int, *, middle: int = 0) -> int:
    """Add up shares: the representative of the sum modulo 2^bits that is closest to ``middle``."""
    total = int(shares.sum(dtype=np.uint64))  # which wraps at 2^64, a multiple of the modulus
    low = middle - (1 << bits - 1)
    return low + (total - low) % (1 << bits)


@dataclass(frozen=True, slots=True)
class ShareFrames:
    """The frames of noisy integers, one or several of each client, in shares modulo 2^bits.

    Shares are equal by chance, and frames are not: each has 128 random bits of its own, so that a
    shuffler recognises every copy of one [shuffle.17].
    """

    magic: bytes  # two: what the shares are of
    tag: int  # stands for the session with all its parameters
    width: int | None  # coordinates, whose numbers the frames then carry
    bits: int
    shares: int  # of an integer

    @property
    def layout(self) -> np.dtype[Any]:
        head = [("magic", "<u2"), ("version", "u1"), ("session", "<u8")]
        number = [] if self.width is None else [("coordinate", "<u2")]
        return np.dtype([*head, *number, ("nonce", "<u8", (_NONCE,)), ("share", "<u8")])

    @property
    def heads(self) -> list[bytes]:
        """How the frames of one client begin: all that stands before what is random."""
        end = -self.layout["nonce"].itemsize - self.layout["share"].itemsize
        return [frame.tobytes()[:end] for frame in self._empty(1).ravel()]

    def frames(self, values: Integers, noise: Poisson | Polya, entropy: Entropy) -> bytes:
        """The shares of all integers, noise added, one client's after the other's."""
        noisy = values.ravel().astype(np.int64)
        for sign in (1, -1):
            noisy += sign * noise.sample_many(noisy.size, entropy)
        frames = self._empty(noisy.size // (self.width or 1))
        frames["share"] = split(noisy, self.shares, self.bits, entropy)
        frames["nonce"] = entropy.words(frames.size * _NONCE).reshape(*frames.shape, _NONCE)
        return frames.tobytes()

    def read(self, frames: bytes, *, least: int, most: int) -> tuple[NDArray[np.uint64], int, int]:
        """The shares of each coordinate, whose clients they are, and how many were refused.

        The frames must be those of whole clients of this session, from ``least`` to ``most`` of
        them: a share that is missing makes a sum uniformly random.
        """
        layout, width = self.layout, self.width or 1
        if len(frames) % layout.itemsize:
            raise InvalidArgument("the bytes are not whole frames")
        read = np.frombuffer(frames, layout)
        places = np.zeros(len(read), np.int64) if self.width is None else read["coordinate"]
        good = (
            (read["magic"] == int.from_bytes(self.magic, "little"))
            & (read["version"] == _VERSION)
            & (read["session"] == np.uint64(self.tag))
            & (places < width)
        )
        counts = np.bincount(places[good], minlength=width)
        clients, rest = divmod(int(counts[0]), self.shares)
        if rest or (counts != counts[0]).any() or not least <= clients <= most:
            raise InvalidArgument("shares are missing, or more or fewer came than agreed")
        # Each coordinate has as many shares: sorted by it, they are the rows of a table.
        order = np.argsort(places[good], kind="stable")
        table: NDArray[np.uint64] = read["share"][good][order].reshape(width, -1)
        return table, clients, int(len(read) - good.sum())

    def _empty(self, clients: int) -> NDArray[Any]:
        """Frames without shares, shape (clients * width, shares)."""
        frames = np.zeros((clients * (self.width or 1), self.shares), self.layout)
        frames["magic"], frames["version"] = int.from_bytes(self.magic, "little"), _VERSION
        frames["session"] = self.tag
        if self.width is not None:
            frames["coordinate"] = np.tile(np.arange(self.width), clients)[:, None]
        return frames
