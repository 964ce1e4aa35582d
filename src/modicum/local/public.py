"""Public randomness: what everybody can compute from the session's seed and a client's number.

Which round a client answers, which question of it, and which hash function are fixed by
SHAKE-256. So no message carries them, and nobody chooses them freely.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["FIRST_DIGITS", "Words", "digits", "pick", "signs", "words"]

Words = NDArray[np.uint64]
"""Shape (n, 8): the public words of n clients."""

_PER_CLIENT = 8
FIRST_DIGITS = 3
"""The words before this one choose the round, the attribute and the level."""

_KEPT = 53  # bits of a word that are used: a product with a number below 2^11 fits 64 bits
_SPENT = 24  # bits of digits made of one word, so that each is uniform to 2^-29


def words(seed: bytes, clients: NDArray[np.uint64]) -> Words:
    """Return the public words of clients.

    Parameters
    ----------
    seed : bytes
        The session's.
    clients : (n,) uint64 array
        Their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = words(b"seed", np.array([7, 8], np.uint64))
    >>> one.shape, bool((one == words(b"seed", np.array([7], np.uint64))[0]).all())
    ((8,), True)
    """
    start = hashlib.shake_256(b"modicum.local/1 client" + seed)
    names = clients.astype("<u8").tobytes()
    blocks = []
    for i in range(0, len(names), 8):
        one = start.copy()
        one.update(names[i : i + 8])
        blocks.append(one.digest(8 * _PER_CLIENT))
    flat = np.frombuffer(b"".join(blocks), "<u8").astype(np.uint64, copy=False)
    return flat.reshape(len(clients), _PER_CLIENT)


def pick(word: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Map words to 0..n-1, n <= 2^11, each to within 2^-53 equally likely."""
    kept = word >> np.uint64(64 - _KEPT)
    return ((kept * np.uint64(n)) >> np.uint64(_KEPT)).astype(np.int64)


def digits(found: Words, base: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` digits of base ``base`` for each client, shape (n, count).

    Any 24 bits of them are those of one word, so they are jointly uniform to within 2^-29.
    """
    each = 1
    while base ** (each + 1) <= 1 << _SPENT:
        each += 1
    result = np.empty((len(found), count), np.int64)
    mask, shift = np.uint64((1 << _KEPT) - 1), np.uint64(_KEPT)
    for i in range(count):
        if i % each == 0:
            rest = found[:, FIRST_DIGITS + i // each] >> np.uint64(64 - _KEPT)
        rest = rest * np.uint64(base)
        result[:, i] = (rest >> shift).astype(np.int64)
        rest &= mask
    return result


def signs(seed: bytes, dimension: int) -> NDArray[np.int64]:
    """Return the random signs of a rotation, shape (dimension,), each +1 or -1."""
    drawn = hashlib.shake_256(b"modicum.local/1 signs" + seed).digest(dimension)
    return 1 - 2 * (np.frombuffer(drawn, np.uint8) & 1).astype(np.int64)
