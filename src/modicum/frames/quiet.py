"""No word of NumPy's about values: its warnings, and the errors they may be turned into."""

from __future__ import annotations

import numpy as np

__all__ = ["quiet"]


def quiet() -> np.errstate:
    """Let no floating-point warning or error tell of a value, a signalling NaN for one.

    To be held around work on data in the same thread, and never across a ``yield``: the caller of
    a generator has settings of their own.
    """
    return np.errstate(all="ignore")
