"""One at a time: a lock that an interrupt cannot leave closed.

Ctrl-C, a signal's handler and an exception that another thread sends all arrive between two steps
of Python. A lock that is taken and given back by Python code, as a generator in ``with`` does, has
places where such an exception finds it taken and nobody to give it back. ``with`` on a lock of the
interpreter itself has none: both steps are in C, and an exception cannot come between the lock and
the block that gives it back.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager

from modicum.errors import InvalidArgument


class Turn:
    """Lets one thread at a time through, and refuses one that would wait for itself.

    ``what`` is what the turn is of, in words. Use it as ``with turn.taken():``.

    Examples
    --------
    >>> turn = Turn("a budget")
    >>> with turn.taken():
    ...     turn.taken()
    Traceback (most recent call last):
    modicum.errors.InvalidArgument: a budget cannot be used from within ...
    """

    __slots__ = ("_lock", "_what")

    def __init__(self, what: str) -> None:
        self._lock, self._what = threading.RLock(), what

    @property
    def mine(self) -> bool:
        """Whether this thread has the turn."""
        return self._lock._is_owned()  # type: ignore[attr-defined,no-any-return]  # noqa: SLF001

    def taken(self) -> AbstractContextManager[object]:
        """Return the lock, which ``with`` takes and gives back.

        A thread that has it already is a function of a lazy table, or a handler of a signal, that
        asks what it is a part of: it would wait for itself. So may a thread that Python did not
        start, for the engine of a lazy table runs its functions there: it does not wait.
        """
        if self.mine or (_is_foreign() and not self._is_free()):
            raise InvalidArgument(
                f"{self._what} cannot be used from within its own question, by a function of a "
                "lazy table or the handler of a signal: ask when that question is answered"
            )
        return self._lock

    def _is_free(self) -> bool:
        free = self._lock.acquire(blocking=False)
        if free:
            self._lock.release()
        return free


def _is_foreign() -> bool:
    """Whether Python did not start this thread."""
    return isinstance(threading.current_thread(), threading._DummyThread)  # noqa: SLF001
