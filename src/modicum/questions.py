"""Every function of :mod:`modicum.query` as a method of a curator, and of its groups.

A method is derived from the query function of the same name when it is first used, so that a
process loads the statistics that it uses. What a type checker and an editor show of the methods is
in ``questions.pyi``, which ``python -m tools.stubs`` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from modicum import query as ask
from modicum.derive import asked, dressed, released_as
from modicum.errors import InvalidArgument
from modicum.grouped import GroupedRelease
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics.contents import CHAPTERS

ONE_NUMBER = (
    "groups are asked for one number each, and {name} gives several; ask for each of them with a "
    "query of its own"
)


class _Method:
    """Stands for a method until it is first used."""

    def __init__(self, home: type, name: str, make: Callable[[str], Callable[..., Any]]) -> None:
        self._home = home
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type) -> Any:
        method = self._make(self._name)
        setattr(self._home, self._name, method)
        return method.__get__(instance, owner)


def _asking(question: Callable[..., Query[Any]], owner: str, returns: type) -> Callable[..., Any]:
    """Turn a query function into a method with the same arguments of what has ``run``."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.run(asked(question, "", args, kwargs))

    derived: Callable[..., Any] = dressed(method, question, owner=owner, returns=returns)
    return derived


def _of_curator(name: str) -> Callable[..., Any]:
    question = getattr(ask, name)
    return _asking(question, "Curator", released_as(question))


def _of_groups(name: str) -> Callable[..., Any]:
    """A method that says why a query of several numbers cannot be answered for groups."""
    question = getattr(ask, name)
    if released_as(question) is Release:
        return _asking(question, "GroupBy", GroupedRelease)

    def refused(_self: Any, *_: object, **__: object) -> Any:
        raise InvalidArgument(ONE_NUMBER.format(name=name))

    refused.__doc__ = f"Refuse: groups are asked for one number each, not for a {name}."
    return refused


class Statistics:
    """The methods of a curator that release one statistic."""

    __slots__ = ()


class GroupStatistics:
    """The methods of groups that release one statistic of each."""

    __slots__ = ()


for _name in CHAPTERS:
    setattr(Statistics, _name, _Method(Statistics, _name, _of_curator))
    setattr(GroupStatistics, _name, _Method(GroupStatistics, _name, _of_groups))
