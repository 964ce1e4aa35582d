"""The arguments of an interval."""

from __future__ import annotations

import math
from numbers import Real

from modicum.errors import InvalidArgument


def check_confidence(level: object, tail: object) -> None:
    """Refuse a ``level`` outside of (0, 1), and a ``tail`` that is not above 1."""
    if not (_is_number(level) and 0 < level < 1):  # type: ignore[operator]
        raise InvalidArgument(f"level must be a number strictly between 0 and 1, got {level!r}")
    if tail is not None and not (_is_number(tail) and tail > 1):  # type: ignore[operator]
        raise InvalidArgument(f"tail must be a number above 1 or None, got {tail!r}")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return math.isfinite(value)
