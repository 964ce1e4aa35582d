"""Lattice integers in cells of equal length, for a tree."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, UnsupportedData
from modicum.exact.lattice import Lattice
from modicum.local.tree import Tree

__all__ = ["BRANCHING", "Cells", "numbers_of", "read_column"]

BRANCHING = 4
"""Children of a node; measured in benchmarks/local.py."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The lattice integers first..last, ``size`` of them a cell.

    Parameters
    ----------
    first, last, size : int
    """

    first: int
    last: int
    size: int

    @classmethod
    def of(cls, first: int, last: int, most: int) -> Cells:
        """Make at most ``most`` cells.

        Examples
        --------
        >>> Cells.of(-8, 7, 16).size, Cells.of(-8, 8, 16).size
        (1, 2)
        """
        return cls(first, last, -(-(last - first + 1) // most))

    @property
    def tree(self) -> Tree:
        """The smallest tree that holds all cells."""
        return Tree.over(-(-(self.last - self.first + 1) // self.size), branching=BRANCHING)

    def of_integers(self, q: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cells of lattice integers, clamped to the range."""
        return (np.clip(q, self.first, self.last) - self.first) // self.size

    def edge(self, cell: float) -> int:
        """Return the lattice integer at a place in a cell, in the range.

        A cell holds the integers from its start to before the next, so a place is rounded down.
        """
        return min(self.last, self.first + math.floor(cell * self.size))


def read_column(values: object, lattice: Lattice) -> NDArray[np.float64]:
    """Read one number for each client; a missing one becomes the middle of the range."""
    x = numbers_of(values)
    if x.ndim != 1:
        raise InvalidArgument(f"values must have the shape (n,), got {x.shape}")
    return np.where(np.isnan(x), lattice.lo / 2 + lattice.hi / 2, x)


def numbers_of(values: object) -> NDArray[np.float64]:
    """Read real numbers: of an array by its declared type, else each by its own.

    No number is too large, and what stands for a missing one is missing, also under a mask: an
    error for a few values would tell them. NumPy makes an array of objects of such lists and
    columns.
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
    """Tell what stands for no number: None, a masked number, and the two of pandas."""
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")
