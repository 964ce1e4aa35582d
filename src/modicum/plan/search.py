"""Find the least budget or number of rows whose predicted error is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["least_enough", "round_up"]

_CLOSE = 1.05  # finer than the simulation is certain
_STEPS = 40
_LARGEST_JUMP = 100.0


def round_up(x: float, digits: int = 3) -> float:
    """Round up to a few significant digits.

    Examples
    --------
    >>> round_up(0.083412), round_up(1234.0), round_up(0.5)
    (0.0835, 1240.0, 0.5)
    """
    text = f"{x:.{digits - 1}e}"
    if float(text) < x:
        mantissa, _, exponent = text.partition("e")
        text = f"{float(mantissa) + 10.0 ** (1 - digits):.{digits - 1}f}e{exponent}"
    return float(text)


def least_enough(
    error_at: Callable[[float], float], wanted: float, *, start: float, low: float, high: float
) -> float | None:
    """Return about the least x in [low, high] with ``error_at(x) <= wanted``, or None.

    Errors are about proportional to 1/x, but for a jump where data become too few; so a step
    first trusts that, and falls back to halving the bracket.

    Examples
    --------
    >>> least_enough(lambda x: 5 / x, 1, start=1, low=0.01, high=100)
    5.0
    """
    bad, good = low / _CLOSE, math.inf
    x = start
    for _ in range(_STEPS):
        error = error_at(x)
        if error <= wanted:
            good = x
            if x <= low or error >= wanted / _CLOSE:
                return x
        elif x >= high:
            return None
        else:
            bad = x
        if good <= bad * _CLOSE:
            return good
        factor = error / wanted if error > 0 else 0.0
        x = x * min(max(factor, 1 / _LARGEST_JUMP), _LARGEST_JUMP)
        if not bad < x < good:
            x = math.sqrt(bad * good) if good < math.inf else bad * 2
        x = min(max(x, low), high)
    return good if good < math.inf else None
