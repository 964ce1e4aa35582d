"""Turning a request builder into something that answers, with its arguments and documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from modicum.errors import InvalidArgument
from modicum.release import Record
from modicum.runners.request import Question

__all__ = ["dressed", "refuse_bounds", "released_as"]


def refuse_bounds(arguments: Mapping[str, object]) -> None:
    """Answer those who look for clipping bounds."""
    if "bounds" in arguments:
        raise InvalidArgument(
            "bounds= is no argument here: give within=, any safe public range such as "
            "(-1e9, 1e9); no tight bounds are needed"
        )


def released_as(question: Callable[..., Question[Any]]) -> type[Record]:
    """Return the kind of release that a builder's questions are answered by."""
    asked: type[Question[Any]] = get_type_hints(question)["return"]
    return asked.release


def dressed(
    function: Callable[..., Any],
    question: Callable[..., Question[Any]],
    *,
    owner: str | None,
    returns: type,
    example: str = "",
) -> Any:
    """Give a derived function the question's signature and documentation.

    Parameters
    ----------
    function, question : callable
    owner : str or None
        Name of the class whose method it is; a function of a table has none.
    returns : type
    example : str
        A doctest.
    """
    name, signature = question.__name__, inspect.signature(question)
    documentation = inspect.cleandoc(question.__doc__ or "").partition("Examples\n--------")[0]
    documentation = documentation.replace("Ask for ", "Release ", 1)
    documentation = re.sub(
        r"\w*Request\n    Guarantee when answered:",
        f"{returns.__name__}\n    Guarantee:",
        documentation,
        count=1,
    )
    first = "table" if owner is None else "self"
    leading = inspect.Parameter(first, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [leading, *signature.parameters.values()]
    if owner is None:
        unit = inspect.Parameter("unit", inspect.Parameter.KEYWORD_ONLY, default=None)
        parameters.append(unit.replace(annotation="Unit | None"))
        documentation = _with_unit(documentation)
    function.__name__ = name
    function.__qualname__ = name if owner is None else f"{owner}.{name}"
    function.__doc__ = documentation + (f"Examples\n--------\n{example}\n" if example else "")
    visible = signature.replace(parameters=parameters, return_annotation=returns)
    function.__signature__ = visible  # type: ignore[attr-defined]
    return function


def _with_unit(documentation: str) -> str:
    """Document the unit, after the other parameters or in a sentence of its own."""
    described = (
        "unit : Unit, optional\n    Who is protected, from :func:`modicum.unit_of`. Default: "
        "whoever owns one row.\n"
    )
    before, returns, after = documentation.partition("\nReturns\n-------")
    if returns:
        return f"{before}{described}{returns}{after}"
    return f"{documentation.rstrip()}\n\n``unit`` says who is protected, see `modicum.unit_of`.\n\n"
