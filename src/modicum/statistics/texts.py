"""What the documentation of many questions says in the same words, and how it is filled in."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Question = TypeVar("Question", bound=Callable[..., Any])

TEXTS = {
    "column": """
        column : str, optional
            Name of a numeric column. Leave it out for a one-dimensional array or series.
        """,
    "within": """
        within : (float, float)
            A public range certain to contain every value, as wide as you like, such as
            ``(-1e9, 1e9)``. It is no clipping bound to guess, and a far wider one costs little.
        """,
    "found_within": """
        within : (float, float), optional
            A public range certain to contain every value. By default it is found privately, for
            about 5 % of the cost, more in small tables, and one pass more: a power of two, far
            beyond nearly all values. A range that is known, such as ``(0, 120)`` for ages, saves
            that, and helps if there are few records.
        """,
    "columns_within": """
        within : (float, float), optional
            A public range certain to contain every value of every column, such as ``(-1e9, 1e9)``.
            It need not be tight, and columns may differ in scale and in place. By default one that
            holds nearly all rows is found privately, for about 5 % of the cost and one pass more;
            its step follows the column with the largest values.
        """,
    "cost": """
        epsilon, rho, budget : number, number, Budget
            Exactly one: the total cost as pure ε, as zCDP ρ, or as a :class:`~modicum.Budget`.
            Numbers may be int, Fraction, decimal string or float (read as its shortest decimal).
        """,
    "step": """
        step : float, optional
            A power of two: values are rounded to multiples of it. By default the finest for the
            range (2^-21 for ±1e9). It needs ``within``.
        """,
    "step_of_edges": """
        step : float, optional
            A power of two: values, and the points or edges, are rounded to multiples of it. By
            default the finest that fits, some 10^-15 of the largest of them.
        """,
    "clusters": """
        clusters : {"clip", "keep"}
            ``"keep"`` spends more on the clipping bounds so that a smaller distant cluster of
            records is kept, at some cost in accuracy otherwise.
        """,
    "population": """
        population : bool
            Whether the rows are a random sample, and ``release.confidence_interval()`` is wanted,
            for the mean of the population that they come from. It takes the variance of the clipped
            data, for 8 % of ε or less, the less the more rows there are.
        """,
    "population_ends": """
        population : bool
            Whether the rows are a random sample: the ends of the interval are then drawn so far out
            that it holds the quantile of the population that they come from too, and are
            ``release.confidence_interval()``. It needs a ``level``.
        """,
    "weights": """
        weights : str, optional
            Name of a column of weights, of any scale: row i counts w_i times. A row counts if its
            weight is finite and more than 0; all other rows are dropped, as those without a value.
        """,
    "level": """
        level : float or None
            Confidence level at which the ends of the interval are drawn, 0.95 or more. ``None``:
            no ends, the answer is more accurate, and its interval is the public range.
        """,
    "returns": """
        Returns
        -------
        Query
            Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
            privacy unit more or less.
        """,
    "returns_rows": """
        Returns
        -------
        Query
            Guarantee when answered: ε-DP, ρ-zCDP or (ε, δ)-DP for add-remove neighbours, that is
            one privacy unit more or less. The number of rows is private too.
        """,
    "raises": """
        Raises
        ------
        InvalidArgument
            If the range is reversed, empty or not finite; if the step is too fine or too coarse
            for it; if there is no cost, more than one, or one that is not positive.
        """,
    "missing": """
        Missing values (null, NaN) are dropped; infinities are clamped to the range. Errors never
        depend on values.
        """,
    "missing_rows": """
        A row with a missing value (null, NaN) in any column is dropped; infinities are clamped to
        the range. Errors never depend on values.
        """,
}


def documented(question: Question) -> Question:
    """Fill in the texts that a docstring names, each as ``{name}`` on a line of its own.

    A text is indented like its name; what stands below the name at a greater depth goes on with
    the last paragraph of the text.
    """
    if question.__doc__ is not None:  # as under python -OO
        question.__doc__ = re.sub(
            r"^( *)\{([a-z_]+)\}$", _filled, inspect.cleandoc(question.__doc__), flags=re.MULTILINE
        )
    return question


def _filled(name: re.Match[str]) -> str:
    return name[1] + inspect.cleandoc(TEXTS[name[2]]).replace("\n", f"\n{name[1]}")
