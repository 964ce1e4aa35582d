"""Every function of :mod:`modicum.query` as a method of a curator, and of its groups.

A method is derived from the query function of the same name when it is first used, so that a
process loads the statistics that it uses. What a type checker and an editor show of the methods is
in ``methods.pyi``, which ``python -m tools.stubs`` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from modicum import errors
from modicum import query as ask
from modicum.api import signature
from modicum.releases.release import Record
from modicum.statistics.contents import CHAPTERS

ONE_COLUMN = (
    "groups are asked for statistics of one column each, and {name} takes several together; ask "
    "for each of them with a query of its own"
)


class _Method:
    """Stands for a method until it is first used."""

    def __init__(self, home: type, name: str) -> None:
        self._home = home
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        method = _method(self._home, self._name)
        setattr(self._home, self._name, method)
        return method.__get__(instance, owner)


def _method(home: type, name: str) -> Callable[..., Any]:
    """Turn a query function into a method with the same arguments of what has ``run``.

    For groups, a method of a query of several columns says why that cannot be answered.
    """
    question = getattr(ask, name)
    owner, returns = "Curator", signature.released_as(question)
    if home is GroupStatistics:
        if next(iter(inspect.signature(question).parameters)) == "columns":

            def refused(_self: Any, *_: object, **__: object) -> Any:
                raise errors.InvalidArgument(ONE_COLUMN.format(name=name))

            refused.__doc__ = f"Refuse: groups are asked for one column each, not for a {name}."
            return refused
        owner, returns = "GroupBy", _of_groups(returns)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.run(signature.asked(question, "", args, kwargs))

    derived: Callable[..., Any] = signature.dressed(method, question, owner=owner, returns=returns)
    return derived


def _of_groups(release: type[Record]) -> type:
    """The type of what releases of groups make together; its chapter is imported with the first."""
    from modicum.releases import grouped_release as home

    return home.GroupedArrayRelease if release is home.ArrayRelease else home.GroupedRelease


class Statistics:
    """The methods of a curator that release one statistic."""

    __slots__ = ()


class GroupStatistics:
    """The methods of groups that release one statistic of each."""

    __slots__ = ()


for _name in CHAPTERS:
    setattr(Statistics, _name, _Method(Statistics, _name))
    setattr(GroupStatistics, _name, _Method(GroupStatistics, _name))
