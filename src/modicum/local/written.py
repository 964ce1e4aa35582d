"""Public parameters as text: the same JSON for everybody, and a number that stands for it."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from modicum.errors import InvalidArgument

__all__ = ["Written", "reread"]


class Written(ABC):
    """Parameters that everybody has to know, and that travel as JSON."""

    __slots__ = ()

    @abstractmethod
    def written(self) -> dict[str, Any]:
        """Return all that :meth:`to_json` writes."""

    def to_json(self) -> str:
        """Write the parameters as JSON, for the clients."""
        return json.dumps(self.written(), sort_keys=True, separators=(",", ":"))

    @property
    def tag(self) -> int:
        """64 bits that stand for the session with all its parameters."""
        return int.from_bytes(hashlib.shake_256(self.to_json().encode()).digest(8), "little")


Read = TypeVar("Read", bound=Written)


def reread(text: str | bytes, build: Callable[[dict[str, Any]], Read]) -> Read:
    """Make parameters from their JSON.

    Parameters
    ----------
    text : str or bytes
    build : function
        Of what was read, by the checks that arguments undergo.

    Raises
    ------
    InvalidArgument
        Unless the parameters that were made write the same: so nothing is unknown, left out, or
        other than what follows from the rest.
    """
    try:
        said = json.loads(text)
        made = build(said)
        same = json.loads(made.to_json()) == said
    except (ValueError, KeyError, TypeError, RecursionError):
        same = False
    if not same:
        raise InvalidArgument("this is no protocol that this version of modicum reads")
    return made
