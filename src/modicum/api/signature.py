"""Turn a query function into one that answers, with its arguments and documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, get_args, get_type_hints

from modicum import errors
from modicum.releases import release
from modicum.runtime.query import Query

Q = TypeVar("Q", bound=Query[Any])

_ELSEWHERE = {
    "bounds": "none are needed; a known public range is within=, such as (0, 120)",
    "delta": "an (ε, δ) cost is budget=modicum.approx(1, '1e-6')",
    "lower": "a known public range is within=(lower, upper), and none is needed",
    "upper": "a known public range is within=(lower, upper), and none is needed",
    "confidence": "interval(level=0.9) of the release has intervals of any level, at no cost",
    **dict.fromkeys(
        ("level", "alpha"), "the release has intervals of any level, interval(level=0.9)"
    ),
    **dict.fromkeys(
        ("seed", "random_state"), "secret draws have no seed; for a test, give Curator an entropy="
    ),
    **dict.fromkeys(("sheet", "sheet_name"), "pass modicum.excel_file(path, sheet='2026')"),
    "mechanism": "epsilon= buys pure ε, rho= buys zCDP: the noise follows from that",
    "where": "rows are chosen by where('age >= 18') of the Curator",
    "with_columns": "columns are made by with_columns(bmi='weight / height ** 2') of the Curator",
    **dict.fromkeys(("unit", "ledger", "account", "key"), "it is one of the Curator"),
}
_EXAMPLES = {
    "within": "(-1e9, 1e9)",
    "q": "0.9",
    "tau": "0.5",
    "denominator": "'hours'",
    "p": "1.5",
    "trim": "0.1",
    "points": "[10, 100]",
    "components": "2",
}
_EXAMPLES_OF = {
    ("quantiles", "q"): "[0.25, 0.5, 0.75]",
    ("geometric_mean", "within"): "(0.01, 1e9)",
}


def asked(
    question: Callable[..., Q], table: str, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> Q:
    """Call a query function, or raise WrongCall, which shows a call that would do.

    ``table`` is what a call has before the arguments: ``"table, "``, or nothing.
    """
    try:
        return question(*arguments, **named)
    except TypeError:
        show = partial(example_of, question, table, arguments)
        wrong = errors.wrong_call(question, arguments, named, _ELSEWHERE, show)
        if not wrong:
            raise
    raise errors.WrongCall(f"{question.__name__}() {wrong}")


def example_of(question: Callable[..., Q], table: str, arguments: tuple[Any, ...]) -> str:
    """Write a call that would do."""
    name, known = question.__name__, inspect.signature(question).parameters
    first: object = ["age", "height"] if "columns" in known else "income"
    if arguments and isinstance(arguments[0], type(first)):
        first = arguments[0] if errors.as_given(arguments[0]) == repr(arguments[0]) else first
    values = [repr(first)]
    if "target" in known:
        values.append("target='weight'")
    for each in list(known.values())[1:]:
        if each.default is each.empty:
            value = _EXAMPLES_OF.get((name, each.name), _EXAMPLES.get(each.name, "..."))
            values.append(f"{each.name}={value}")
    if name == "histogram":
        values.append("edges=[0, 10, 100]")
    return f"{name}({table}{', '.join(values)}, epsilon=1)"


def released_as(question: Callable[..., Query[Any]]) -> type[release.Record]:
    """The type of release that answers a function's queries."""
    (released,) = get_args(get_type_hints(question)["return"])
    assert isinstance(released, type)
    return released


def dressed(
    function: Callable[..., Any],
    question: Callable[..., Query[Any]],
    *,
    owner: str | None,
    returns: type,
    example: str = "",
) -> Any:
    """Give a derived function the query function's signature and documentation.

    ``owner`` is the name of the class whose method it is; a function of a table has none.
    ``example`` is a doctest.
    """
    name, signature = question.__name__, inspect.signature(question)
    documentation = inspect.cleandoc(question.__doc__ or "").partition("Examples\n--------")[0]
    documentation = documentation.replace("Ask for ", "Release ", 1)
    documentation = re.sub(
        r"Query\n    Guarantee when answered:",
        f"{returns.__name__}\n    Guarantee:",
        documentation,
        count=1,
    )
    first = "table" if owner is None else "self"
    leading = inspect.Parameter(first, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [leading, *signature.parameters.values()]
    if owner is None:
        for extra, annotation in _EXTRAS.items():
            added = inspect.Parameter(extra, inspect.Parameter.KEYWORD_ONLY, default=None)
            parameters.append(added.replace(annotation=annotation))
        documentation = documentation.replace(_PARAMETERS, _PARAMETERS + _TABLE, 1)
        before, returns_head, after = documentation.partition("\nReturns\n-------")
        documentation = f"{before}{_DESCRIBED}{returns_head}{after}"
        if not returns_head:  # without sections, a sentence of their own
            documentation = f"{before.rstrip()}\n\n{_SAID}\n\n"
    function.__name__ = name
    function.__qualname__ = name if owner is None else f"{owner}.{name}"
    function.__doc__ = documentation + (f"Examples\n--------\n{example}\n" if example else "")
    visible = signature.replace(parameters=parameters, return_annotation=returns)
    function.__signature__ = visible  # type: ignore[attr-defined]
    return function


_EXTRAS = {
    "where": "str | None",
    "unit": "Unit | None",
    "ledger": "Ledger | str | None",
    "account": "str | None",
    "key": "str | None",
}
_PARAMETERS = "Parameters\n----------\n"
_TABLE = """\
table : table, array or path
    A pandas, Polars, PyArrow, DuckDB, Spark, Dask or Ibis table, a one-dimensional array or
    series, or the path of a file: what a :class:`Curator` takes.
"""
_DESCRIBED = """\
where : str, optional
    Only of rows for which this is true, such as ``"age >= 18"``: see :meth:`Curator.where`.
unit : Unit, optional
    Who is protected, from :func:`modicum.unit_of`. Default: whoever owns one row.
ledger, account, key : str, optional
    Charge this account of a ledger, and with a key answer once: see :class:`Curator`.
"""
_SAID = (
    "``where`` chooses rows, see `Curator.where`; ``unit`` says who is protected, see "
    "`modicum.unit_of`; ``ledger``, ``account`` and ``key`` what is charged, see `Curator`."
)
