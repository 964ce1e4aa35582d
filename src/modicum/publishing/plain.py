"""Public parameters and outcomes as JSON types, and in a few letters."""

from __future__ import annotations

import functools


def plain(value: object) -> object:
    """Turn a public parameter or outcome into numbers, text and lists of them."""
    if isinstance(value, (int, float, str)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    # The releases of many groups have parameters alike: their text is written, and held, once.
    try:
        return _text(value)
    except TypeError:  # it has no hash
        return str(value)


@functools.lru_cache(maxsize=256, typed=True)
def _text(value: object) -> str:
    return str(value)


def short(value: object, limit: int = 120) -> str:
    """Write a public parameter or outcome, cut off if it is long."""
    text = str(plain(value))
    return text if len(text) <= limit else text[: limit - 3] + "..."
