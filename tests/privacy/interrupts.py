"""Interrupts at a chosen step of Python, or at a random moment."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_TRACED = ("/modicum/", "/contextlib.py")


@contextmanager
def heard() -> Iterator[None]:
    """Let Ctrl-C be heard as Python does, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Interrupt:
    """Presses Ctrl-C within the step of that number of all that Python takes in this library.

    Python hears it where it would: at the next place where it looks for signals, and not within a
    step. To raise an exception from the trace itself would be heard where none can come.
    """

    def __init__(self, at: int) -> None:
        self.left = at
        # What is missing is made by a call from C, after which Python does not look for signals:
        # it does that after this trace has returned.
        self._press: defaultdict[int, Any] = defaultdict(ctypes.pythonapi.PyErr_SetInterrupt)

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "call":
            if not any(each in frame.f_code.co_filename for each in _TRACED):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)  # or it would be heard in the next call of this trace
                self._press[0]
        return self

    def during(self, ask: Callable[[], object]) -> BaseException | None:
        """Ask; what came out of it, if anything did, with all frames that it went through."""
        try:
            sys.settrace(self)
            try:
                ask()
            finally:
                sys.settrace(None)
        except BaseException as error:  # noqa: BLE001
            return error
        return None


def steps_of(ask: Callable[[], object]) -> int:
    """How many steps a question takes in this library."""
    counted = Interrupt(sys.maxsize)
    counted.during(ask)
    return sys.maxsize - counted.left


def at_random(ask: Callable[[], object], after: float) -> BaseException | None:
    """Ask, and press Ctrl-C after some seconds; what came out of it, if anything did.

    The exception is kept, and with it all frames that it went through, as a notebook keeps them.
    """

    def raised(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raised)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        try:
            ask()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:  # noqa: BLE001
        return error
    finally:
        signal.signal(signal.SIGALRM, before)
    return None
