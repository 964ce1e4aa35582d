"""What all parties that answer for people have in common: their budgets are spent once."""

from __future__ import annotations

import os
from threading import Lock
from typing import NoReturn

from modicum.errors import CopyRefused

__all__ = ["Once"]


class Once:
    """Clients that are neither copied nor sent, nor used in a forked process."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = Lock(), os.getpid()

    def _check_process(self) -> None:
        """Refuse to answer for clients that were made by another process.

        Raises
        ------
        CopyRefused
            A forked process has copies of its parent's clients, and their budgets too.
        """
        if os.getpid() != self._process:
            raise CopyRefused("clients cannot answer in a forked process: they would answer twice")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise CopyRefused("a client's budget is spent once, so a client is neither copied nor sent")
