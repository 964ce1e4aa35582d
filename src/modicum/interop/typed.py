"""Tables as scikit-learn takes them, read by their types and shapes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import UnsupportedData
from modicum.frames.arrays import numbers_of

__all__ = ["typed"]

_WIDEST = 8  # bytes of a number

Floats = NDArray[np.float64]


def typed(X: Any) -> Any:
    """Return what declares its types, and refuse what is no numbers by these: no value decides.

    A list declares none, so its items are read as :func:`modicum.mean` reads those of a list: one
    that is no number is missing.

    Raises
    ------
    UnsupportedData
        By types and shapes only.
    """
    if isinstance(X, list | tuple):
        return _listed(X)
    if isinstance(X, np.ma.MaskedArray):
        raise UnsupportedData("a masked array hides values: pass x.astype(float).filled(numpy.nan)")
    if hasattr(X, "dtypes") and not hasattr(X, "dtype"):
        types = list(X.dtypes)
    else:
        X = X if hasattr(X, "dtype") else _converted(X)
        types = [X.dtype]
    if not all(_is_number(each) for each in types):
        raise UnsupportedData(
            "a table of numbers is needed, of up to 64 bits each: convert others, text and objects "
            "beforehand"
        )
    return X


def _is_number(declared: Any) -> bool:
    """Whether a declared type holds numbers; scikit-learn refuses complex ones itself."""
    kind, size = getattr(declared, "kind", "O"), getattr(declared, "itemsize", 8)
    return kind == "c" or (kind in set("biuf") and size <= _WIDEST)


def _converted(X: Any) -> NDArray[Any]:
    if not hasattr(X, "__array__"):
        raise UnsupportedData(
            f"cannot read a {type(X).__name__}: pass an array, a data frame or a list of rows"
        )
    return np.asarray(X)


def _listed(items: list[Any] | tuple[Any, ...]) -> Floats:
    """Read a list of numbers, or of rows of one length."""
    rows = [isinstance(each, list | tuple) or getattr(each, "ndim", 0) == 1 for each in items]
    if not any(rows):
        return numbers_of(items)
    widths = {len(each) if is_row else -1 for each, is_row in zip(items, rows, strict=True)}
    if len(widths) > 1:
        raise UnsupportedData("the rows of a list must all have the same length")
    flat = [x for row in items for x in (row.tolist() if hasattr(row, "tolist") else row)]
    return numbers_of(flat).reshape(len(items), widths.pop())
