"""Every error and warning that modicum raises, and what they say of a mistyped name.

Each error is a :class:`ModicumError` and also of the built-in kind a caller would expect. Messages
say what was wrong, the value of the argument and what to do; they never depend on data values.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module


class ModicumError(Exception):
    """Base class of every error of modicum.

    Examples
    --------
    >>> import modicum as mo
    >>> try:
    ...     mo.count([1.0, 2.0], epsilon=-1)
    ... except mo.ModicumError as error:
    ...     print(type(error).__name__)
    InvalidArgument
    """


class InvalidArgument(ModicumError, ValueError):
    """An argument has a value that cannot be used.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.quantile([1.0, 2.0], q=2, epsilon=1)
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: ...
    """


class WrongCall(InvalidArgument, TypeError):
    """A function was called with arguments that it does not take, or without one that it needs."""


class MissingColumn(ModicumError, KeyError):
    """The table declares no column of that name.

    Examples
    --------
    >>> import modicum as mo, pandas as pd
    >>> mo.mean(pd.DataFrame({"income": [1.0]}), "incom", epsilon=1)
    Traceback (most recent call last):
    modicum.errors.MissingColumn: ...
    """

    def __str__(self) -> str:
        """Return the plain message (``KeyError`` would quote it)."""
        return Exception.__str__(self)


class UnsupportedData(ModicumError, TypeError):
    """The object is not a table, or the declared type of a column cannot be used.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.mean({1.0, 2.0}, epsilon=1)
    Traceback (most recent call last):
    modicum.errors.UnsupportedData: ...
    """


class CopyRefused(ModicumError, TypeError):
    """The object holds a secret, and so refuses to be copied, pickled or sent to a process."""


class SourceError(ModicumError, OSError):
    """The data could not be read.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.mean("nowhere.csv", "income", epsilon=1)
    Traceback (most recent call last):
    modicum.errors.SourceError: ...
    """


class OutputError(ModicumError, OSError):
    """A file could not be written. What it was to hold is released and charged already.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.OutputError, OSError)
    True
    """


class BudgetExceeded(ModicumError, RuntimeError):
    """A release costs more than what is left of the budget.

    Examples
    --------
    >>> import modicum as mo
    >>> mo.Curator([1.0, 2.0], budget=mo.pure(1)).count(epsilon=2)
    Traceback (most recent call last):
    modicum.errors.BudgetExceeded: ...
    """


class LedgerError(ModicumError, OSError):
    """The ledger could not be read or written. Nothing was released.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.LedgerError, OSError)
    True
    """


class AccessDeniedError(LedgerError, PermissionError):
    """Whoever asks may read the ledger, and not spend from it.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.AccessDeniedError, mo.LedgerError)
    True
    """


class LedgerCorrupt(LedgerError):
    """The entries of the ledger were edited, or its file is damaged. Nothing is spent from it.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.LedgerCorrupt, mo.LedgerError)
    True
    """


class KeyReusedError(InvalidArgument):
    """An idempotency key belongs to another query.

    Examples
    --------
    >>> import modicum as mo, pathlib, tempfile
    >>> url = f"sqlite:///{pathlib.Path(tempfile.mkdtemp())}/budget.db"
    >>> account = mo.Ledger.create(url).open_account("people", mo.pure(3))
    >>> job = mo.Curator([1.0, 2.0], ledger=url, account="people").idempotent("tonight")
    >>> release = job.count(epsilon=1)
    >>> job.count(epsilon=2)
    Traceback (most recent call last):
    modicum.errors.KeyReusedError: ...
    """


class ModicumWarning(UserWarning):
    """A warning of modicum; it never depends on data values.

    Examples
    --------
    >>> import modicum as mo
    >>> issubclass(mo.ModicumWarning, UserWarning)
    True
    """


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
    return AttributeError(f"a {kind.__name__} has no {name!r}{did_you_mean(name, known)}")
