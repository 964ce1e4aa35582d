"""Functions that release one statistic of a table, charged to an account of a ledger if given.

Each is derived from the query function of the same name when it is first used. What a type checker
and an editor show of them is in ``one_shot.pyi``, which ``python -m tools.stubs`` writes.
"""

from __future__ import annotations

from typing import Any

from modicum import errors
from modicum.api import answering
from modicum.statistics import contents


def __getattr__(name: str) -> Any:
    if name not in contents.CHAPTERS:
        raise AttributeError(
            f"modicum.api.one_shot has no {name!r}{errors.did_you_mean(name, contents.CHAPTERS)}"
        )
    function = globals()[name] = answering.function_of_a_table(contents.find_statistic(name))
    return function


def __dir__() -> list[str]:
    return list(contents.CHAPTERS)
