"""Random rotation by public signs and a Hadamard matrix, on integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modicum.local.public import signs

__all__ = ["hadamard", "padded", "rotated", "unrotated"]


def padded(dimension: int) -> int:
    """Return the power of two that vectors are padded to."""
    return 1 << (dimension - 1).bit_length()


def hadamard(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Multiply rows (n, 2^k) by the Hadamard matrix, entries ±1.

    Examples
    --------
    >>> import numpy as np
    >>> hadamard(np.array([[1, 2, 3, 4]])).tolist()
    [[10, -2, -4, 0]]
    """
    count, dimension = rows.shape
    half = 1
    result = rows.copy()
    while half < dimension:
        blocks = result.reshape(count, dimension // (2 * half), 2, half)
        sums, gaps = blocks[:, :, 0] + blocks[:, :, 1], blocks[:, :, 0] - blocks[:, :, 1]
        result = np.stack([sums, gaps], axis=2).reshape(count, dimension)
        half *= 2
    return result


def rotated(rows: NDArray[np.int64], seed: bytes) -> NDArray[np.int64]:
    """Pad vectors with zeros, flip signs, multiply by the Hadamard matrix: exact integers.

    Norms grow by sqrt(d'), d' the padded dimension (Huang, Liang and Yi 2021, section 3.3).
    """
    count, dimension = rows.shape
    wide = np.zeros((count, padded(dimension)), np.int64)
    wide[:, :dimension] = rows
    return hadamard(wide * signs(seed, wide.shape[1]))


def unrotated(vector: NDArray[np.float64], seed: bytes, dimension: int) -> NDArray[np.float64]:
    """Undo the rotation of one vector."""
    width = len(vector)
    matrix = hadamard(np.eye(width, dtype=np.int64))
    return (matrix @ vector / width * signs(seed, width))[:dimension]
