"""The confidence level of an interval, and the tail that it assumes."""

from __future__ import annotations

from numbers import Real
from sys import float_info
from typing import Literal, Protocol

from modicum.errors import InvalidArgument, as_given, says_how

Tail = float | Literal["auto"] | None
LEVELS = says_how("interval(level=0.9)", confidence="level=0.9", alpha="level=0.95 is 1 - alpha")


class ErrorModel(Protocol):
    """Released quantities in words and as numbers.

    Those that allow for a tail that was seen have a method ``tail_index``: the index that the
    interval at a level assumes by default. ``releases/status.py`` reads two more of some.
    """

    @property
    def condition(self) -> str:
        """The default interval's assumption in a few words; empty if it has none."""

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers and what it assumes."""

    def to_dict(self) -> dict[str, object]:
        """Every number as JSON types."""


def chosen_index(error_model: ErrorModel, level: float) -> float:
    """Return the tail index that the interval at a level assumes by default."""
    index: float = getattr(error_model, "tail_index", lambda _: 3.0)(level)
    return index


def assumed_tail(error_model: ErrorModel, level: float, tail: Tail) -> float | None:
    """Return the tail index that an interval assumes: one that was asked for, or the default."""
    return chosen_index(error_model, level) if tail == "auto" else tail


def check_confidence(level: object, tail: object) -> None:
    """Refuse a ``level`` outside of (0, 1), and a ``tail`` that is not above 1."""
    if not (_is_number(level) and 0 < level < 1):  # type: ignore[operator]
        percent = _is_number(level) and 1 < level < 100  # type: ignore[operator]
        meant = f": in percent that is {level / 100:g}" if percent else ""  # type: ignore[operator]
        raise InvalidArgument(
            f"level must be a number strictly between 0 and 1, got {as_given(level)}{meant}"
        )
    if tail is None or (isinstance(tail, str) and tail == "auto"):
        return
    if not (_is_number(tail) and tail > 1):  # type: ignore[operator]
        raise InvalidArgument(
            f'tail must be a number above 1, "auto" or None, got {as_given(tail)}'
        )


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return bool(abs(value) <= float_info.max)  # type: ignore[operator]
