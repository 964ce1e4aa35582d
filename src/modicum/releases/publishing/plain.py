"""Public parameters and outcomes as JSON types: mechanisms and noises are data, and not text."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modicum.privacy.event import Event


def plain(value: object) -> object:
    """Turn a public parameter or outcome into numbers, text, and lists and objects of them.

    An object has its ``type`` and its public fields, as a noise its scale.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.mechanisms.additive import LaplaceNoise
    >>> plain((LaplaceNoise(Fraction(1, 50)), Fraction(2)))
    [{'type': 'LaplaceNoise', 'scale': '1/50'}, '2']
    """
    if isinstance(value, (int, float, str)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    # The releases of many groups have parameters alike: they are written, and held, once.
    try:
        return _data(value)
    except TypeError:  # it has no hash
        return _data.__wrapped__(value)


@functools.lru_cache(maxsize=256, typed=True)
def _data(value: Any) -> object:
    kind: Any = type(value)
    name = {"type": kind.__name__}
    if isinstance(value, range):
        return {**name, "start": value.start, "stop": value.stop, "step": value.step}
    if (public := getattr(value, "public", None)) is not None:  # a mechanism
        return {"type": value.name, **{each: plain(of) for each, of in public().items()}}
    if (shown := _shown(kind)) is not None:
        return {**name, **{each: plain(getattr(value, each)) for each in shown}}
    return str(value)


@functools.cache
def _shown(kind: type[Any]) -> tuple[str, ...] | None:
    """Names of the fields that a dataclass shows."""
    # What writes itself in another way may hide something.
    if not is_dataclass(kind) or not hasattr(kind.__repr__, "__wrapped__"):
        return None
    return tuple(each.name for each in fields(kind) if each.repr)


def short(value: object, limit: int = 120) -> str:
    """Write a public parameter or outcome in a few letters, for people."""
    text = _written(plain(value))
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _written(data: object) -> str:
    """Write what :func:`plain` returns, for people."""
    if isinstance(data, list):
        return f"[{', '.join(map(_written, data))}]"
    if isinstance(data, dict):
        within = (f"{name}={_written(each)}" for name, each in data.items() if name != "type")
        return f"{data.get('type', '')}({', '.join(within)})"
    return str(data)


def event_fields(event: Event) -> dict[str, object]:
    """Exact amounts by their usual names, as floats for reading and strings for exactness."""
    fields: dict[str, object] = {}
    for name, amount in event.amounts.items():
        fields |= {name: float(amount), f"{name}_exact": str(amount)}
    return fields
