"""Names that were mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a word, in any case; None if no name is near.

    One that begins with the word comes first.

    Examples
    --------
    >>> nearest("Icnome", ["income", "age"]), nearest("zip", ["income", "age"])
    ('income', None)
    >>> nearest("--eps", ["--step", "--epsilon"])
    '--epsilon'
    """
    names = {each.casefold(): each for each in reversed(list(known))}
    plain = word.casefold()
    begun = sorted((each for each in names if plain and each.startswith(plain)), key=len)
    found = begun or get_close_matches(plain, names, n=1)
    return names[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Ask whether the nearest name was meant, for the end of a message; empty if no name is near.

    Examples
    --------
    >>> did_you_mean("meen", ["mean", "sum"])
    ", did you mean 'mean'?"
    """
    found = nearest(word, known)
    return "" if found is None else f", did you mean {found!r}?"


def no_attribute(owner: object, name: str) -> AttributeError:
    """Return the error for a name that an object does not have, and that may be mistyped."""
    kind = type(owner)
    known = [each for each in dir(kind) if not each.startswith("_")]
    return AttributeError(f"a {kind.__name__} has no {name!r}{did_you_mean(name, known)}")
