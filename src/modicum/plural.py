"""Numbers of things in words."""

from __future__ import annotations


def number_of(number: int, thing: str, things: str | None = None) -> str:
    """Return a number and what it counts, in the singular if that is one.

    Examples
    --------
    >>> number_of(1, "row"), number_of(1234, "row"), number_of(0, "entry", "entries")
    ('1 row', '1,234 rows', '0 entries')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
