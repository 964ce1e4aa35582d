"""Public values as text, and as JSON types."""

from __future__ import annotations

import functools

from modicum.privacy.event import Event


def event_fields(event: Event) -> dict[str, object]:
    """Exact amounts by their usual names, as floats for reading and strings for exactness."""
    fields: dict[str, object] = {}
    for name, amount in event.amounts.items():
        fields |= {name: float(amount), f"{name}_exact": str(amount)}
    return fields


def draws_heading(event: Event) -> str:
    """What a list of draws adds up to, if that is not the cost itself."""
    together = "; their costs are a ρ that implies the price" * bool(event.failing)
    return f"Every draw, in order{together}:"


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
    """Write a public value in at most so many letters."""
    text = str(plain(value))
    return text if len(text) <= limit else text[: limit - 3] + "..."


def range_text(within: tuple[float, float]) -> str:
    """Write a range."""
    return "[{:g}, {:g}]".format(*within)
