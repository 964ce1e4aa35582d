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

_PATIENCE = 600.0  # seconds
_WITHIN = (
    "cannot be used from within its own question, by a function of a lazy table or the handler of "
    "a signal: ask when that question is answered"
)


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
        start, for the engine of a lazy table runs its functions there: it does not wait. Nor can a
        thread of a pool be told from one that asks for its own sake: it waits for ten minutes at
        most. The main thread waits as long as it takes, until an interrupt.
        """
        if self.mine:
            raise InvalidArgument(f"{self._what} {_WITHIN}")
        thread = threading.current_thread()
        if isinstance(thread, threading._DummyThread) and not self._comes(0):  # noqa: SLF001
            raise InvalidArgument(f"{self._what} {_WITHIN}")
        if thread is not threading.main_thread() and not self._comes(_PATIENCE):
            raise InvalidArgument(
                f"{self._what} was busy for {_PATIENCE:g} seconds: its questions are answered one "
                "after the other. If this one is asked by a function of a lazy table, which that "
                "table's own question waits for, ask when that question is answered"
            )
        return self._lock

    def _comes(self, seconds: float) -> bool:
        """Whether the turn is free within some time; never asked in the main thread."""
        comes = self._lock.acquire(timeout=seconds)
        if comes:
            self._lock.release()
        return comes
