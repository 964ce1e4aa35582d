"""Functions that release one statistic of a table, charged to an account of a ledger if given.

Each is derived from the query function of the same name when it is first used. What a type checker
and an editor show of them is in ``one_shot.pyi``, which ``python -m tools.stubs`` writes.
"""

from __future__ import annotations

from typing import Any

from modicum.answering import function_of_a_table
from modicum.errors import did_you_mean
from modicum.statistics.contents import CHAPTERS
from modicum.statistics.spec import find_statistic


def __getattr__(name: str) -> Any:
    if name not in CHAPTERS:
        raise AttributeError(f"modicum.one_shot has no {name!r}{did_you_mean(name, CHAPTERS)}")
    function = globals()[name] = function_of_a_table(find_statistic(name))
    return function


def __dir__() -> list[str]:
    return list(CHAPTERS)
