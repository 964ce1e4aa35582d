"""Every error and warning that modicum raises, and what they say of a mistyped name.

Each error is a :class:`ModicumError` and also of the built-in kind a caller would expect. Messages
say what was wrong, the value of the argument and what to do; they never depend on data values.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module


class ModicumError(Exception):
    """Base class of every error of modicum."""


class InvalidArgument(ModicumError, ValueError):
    """An argument has a value that cannot be used."""


class WrongCall(InvalidArgument, TypeError):
    """A function was called with arguments that it does not take, or without one that it needs."""


class MissingColumn(ModicumError, KeyError):
    """The table declares no column of that name."""

    def __str__(self) -> str:
        """Return the plain message (``KeyError`` would quote it)."""
        return Exception.__str__(self)


class UnsupportedData(ModicumError, TypeError):
    """The object is not a table, or the declared type of a column cannot be used."""


class CopyRefused(ModicumError, TypeError):
    """The object holds a secret, and so refuses to be copied, pickled or sent to a process."""


class SourceError(ModicumError, OSError):
    """The data could not be read."""


class OutputError(ModicumError, OSError):
    """A file could not be written. What it was to hold is released and charged already."""


class BudgetExceeded(ModicumError, RuntimeError):
    """A release costs more than what is left of the budget."""


class LedgerError(ModicumError, OSError):
    """The ledger could not be read or written. Nothing was released."""


class AccessDeniedError(LedgerError, PermissionError):
    """Whoever asks may read the ledger, and not spend from it."""


class LedgerCorrupt(LedgerError):
    """The entries of the ledger were edited, or its file is damaged. Nothing is spent from it."""


class KeyReusedError(InvalidArgument):
    """An idempotency key belongs to another query."""


class ModicumWarning(UserWarning):
    """A warning of modicum; it never depends on data values."""


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
    found = begun or import_module("difflib").get_close_matches(plain, names, n=1)
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
    meant = "" if name.startswith("_") else did_you_mean(name, known)
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return AttributeError(f"{article} {kind.__name__} has no {name!r}{meant}")
