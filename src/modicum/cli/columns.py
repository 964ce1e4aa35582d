"""The shape of a verb that asks for a statistic of several columns, and of its plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from modicum.cli.options import add_output, add_price, add_range, number
from modicum.cli.output import Output
from modicum.cli.verb import Question, column_options, plan_verb, planned, verb
from modicum.errors import InvalidArgument
from modicum.plan.card import Plan

__all__ = ["columns_of", "columns_plan", "columns_verb"]

Options = Callable[[argparse.ArgumentParser], None]


def columns_verb(
    verbs: Any,
    name: str,
    *,
    example: str,
    question: Question,
    options: Options = lambda _: None,
) -> None:
    """Add a verb; its column is a list of names, with commas between.

    Parameters
    ----------
    options : callable
        Adds those that only this statistic has.
    """
    of = "several columns together, named COLUMN,COLUMN,..."
    parser = verb(verbs, name, of=of, example=example, column=None, question=question)
    add_range(parser)
    options(parser)
    add_price(parser)
    add_output(parser, tail=True)


def columns_of(arguments: argparse.Namespace) -> list[str]:
    """Names of the columns."""
    names: list[str] = arguments.column.split(",")
    return names


def columns_plan(
    statistics: Any,
    name: str,
    *,
    example: str,
    make: Callable[..., Plan],
    options: Options = lambda _: None,
    chosen: Callable[[argparse.Namespace], dict[str, Any]] = lambda _: {},
) -> None:
    """Add the plan of a statistic of several columns.

    Parameters
    ----------
    make : callable
        The plan.
    options, chosen : callable
        Add and read the options that only this statistic has.
    """
    find = "Give two of the price, --n and --error: the third is found."
    parser = plan_verb(statistics, name, find=find, example=example, size=None, size_needed=False)
    add_range(parser)
    options(parser)
    group = parser.add_argument_group("guess of the data (public knowledge, not the data)")
    group.add_argument(
        "--sd", metavar="S,S,...", required=True, help="standard deviation of each column"
    )
    group.add_argument("--mean", type=number, default=0.0, help="mean of every column (default 0)")
    group.add_argument(
        "--correlation", type=number, default=0.0, help="of any two columns (default 0)"
    )

    def answer(arguments: argparse.Namespace) -> Output:
        guess = {
            "sd": _spreads(arguments.sd),
            "mean": arguments.mean,
            "correlation": arguments.correlation,
        }
        return planned(arguments, make, **column_options(arguments), **guess, **chosen(arguments))

    parser.set_defaults(answer=answer)


def _spreads(text: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InvalidArgument(f"--sd must be numbers and commas, got {text!r}") from None
