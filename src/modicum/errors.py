"""Every error and warning that modicum raises.

Each error is a :class:`ModicumError` and also of the built-in kind a caller would expect. Messages
say what was wrong, the value of the argument and what to do; they never depend on data values.
"""

from __future__ import annotations


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
