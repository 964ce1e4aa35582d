"""The shape of a verb that asks for one statistic, and of its plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, get_args

from modicum.cli.answering import released, shown
from modicum.cli.options import (
    add_data,
    add_groups,
    add_level,
    add_output,
    add_price,
    add_range,
    chosen_price,
    chosen_unit,
    number,
)
from modicum.cli.output import Output
from modicum.errors import InvalidArgument
from modicum.plan.card import Plan, with_article
from modicum.plan.shapes import ShapeName
from modicum.privacy.budget import Budget
from modicum.runners.request import ArrayRequest, Request

__all__ = [
    "add_cuts",
    "column_options",
    "column_plan",
    "column_verb",
    "cuts_of",
    "cuts_plan",
    "cuts_verb",
    "plan_verb",
    "planned",
    "verb",
]

Question = Callable[[argparse.Namespace, Budget], Request | ArrayRequest]


def verb(
    verbs: Any, name: str, *, of: str, example: str, column: str | None, question: Question
) -> argparse.ArgumentParser:
    """Add a verb without its own options.

    Parameters
    ----------
    verbs : subparsers
    name : str
    of : str
        What it is of, such as ``"a column"``.
    example : str
        Arguments of a call.
    column : str or None
        ``"?"`` if the column may be left out.
    question : callable
        From the arguments and the price to a request.
    """
    command, words = _command(name)
    parser: argparse.ArgumentParser = verbs.add_parser(
        command,
        help=f"{words} of {of}",
        description=f"Release the {words} of {of}. Missing values are dropped.",
        epilog=f"example: modicum {command} {example}",
    )
    add_data(parser, column=column)

    def answer(arguments: argparse.Namespace) -> Output:
        release = released(arguments, lambda price: question(arguments, price))
        return Output(shown(release, arguments), release.usable)

    parser.set_defaults(answer=answer)
    return parser


def _command(name: str) -> tuple[str, str]:
    """Return the command of a statistic, and its name in words."""
    return name.replace("_", "-"), name.replace("_", " ")


def column_verb(
    verbs: Any,
    name: str,
    *,
    example: str,
    question: Question,
    options: Callable[[argparse.ArgumentParser], None],
    groups: bool = True,
    drawn: bool = False,
    tail: bool = False,
) -> None:
    """Add a verb for a statistic of a numeric column.

    Parameters
    ----------
    options : callable
        Adds those that only this statistic has.
    groups : bool
        Whether it can be asked of groups.
    drawn : bool
        Whether its interval is drawn, for a part of the price.
    tail : bool
        Whether its interval depends on an assumed tail.
    """
    parser = verb(verbs, name, of="a column", example=example, column=None, question=question)
    add_range(parser)
    options(parser)
    if groups:
        add_groups(parser)
    add_price(parser)
    add_output(parser, drawn=drawn, tail=tail)


def column_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments that every statistic of a numeric column takes."""
    return {"within": arguments.within, "step": arguments.step}


def plan_verb(
    statistics: Any, name: str, *, find: str, example: str, size: int | None, size_needed: bool
) -> argparse.ArgumentParser:
    """Add the plan of a statistic without its own options.

    Parameters
    ----------
    find : str
        What is to be given, and what is found.
    size : int or None
        Default number of rows.
    """
    command, words = _command(name)
    parser: argparse.ArgumentParser = statistics.add_parser(
        command,
        help=f"plan {with_article(words)}",
        description=f"Plan {with_article(words)}. {find}",
        epilog=f"example: modicum plan {command} {example}",
    )
    parser.add_argument(
        "--n", type=number, default=size, required=size_needed, help="number of rows"
    )
    parser.add_argument("--error", type=number, help="wanted mean absolute error")
    add_price(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def column_plan(
    statistics: Any,
    name: str,
    *,
    example: str,
    make: Callable[..., Plan],
    options: Callable[[argparse.ArgumentParser], None],
    chosen: Callable[[argparse.Namespace], dict[str, Any]],
    size_needed: bool = False,
    drawn: bool = False,
) -> None:
    """Add the plan of a statistic of a numeric column.

    Parameters
    ----------
    make : callable
        The plan.
    options, chosen : callable
        Add and read the options that only this statistic has.
    size_needed : bool
        Whether the number of rows cannot be found.
    drawn : bool
        Whether its interval is drawn, for a part of the price.
    """
    find = "Give two of the price, --n and --error: the third is found."
    if size_needed:
        find = "Give --n, and the price or --error: the other is found."
    parser = plan_verb(
        statistics, name, find=find, example=example, size=None, size_needed=size_needed
    )
    add_range(parser)
    options(parser)
    if drawn:
        add_level(parser, drawn=True)
    _add_guess(parser)

    def answer(arguments: argparse.Namespace) -> Output:
        options = column_options(arguments) | _guess(arguments) | chosen(arguments)
        return planned(arguments, make, **options)

    parser.set_defaults(answer=answer)


def _add_guess(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("guess of the data (public knowledge, not the data)")
    group.add_argument("--sd", type=number, required=True, help="standard deviation")
    group.add_argument("--mean", type=number, help="mean (default: usual for the shape)")
    group.add_argument("--shape", choices=get_args(ShapeName), default="lognormal")


def _guess(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"sd": arguments.sd, "mean": arguments.mean, "shape": arguments.shape}


def cuts_verb(
    verbs: Any,
    name: str,
    *,
    example: str,
    question: Question,
    options: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Add a verb for a statistic that counts between cuts.

    Parameters
    ----------
    options : callable
        Adds those that say where the cuts are.
    """
    parser = verb(verbs, name, of="a column", example=example, column=None, question=question)
    options(parser)
    add_price(parser)
    add_output(parser)


def cuts_plan(
    statistics: Any,
    name: str,
    *,
    example: str,
    make: Callable[..., Plan],
    options: Callable[[argparse.ArgumentParser], None],
    chosen: Callable[[argparse.Namespace], dict[str, Any]],
) -> None:
    """Add the plan of a statistic that counts between cuts.

    Parameters
    ----------
    options, chosen : callable
        Add and read the options that say where the cuts are.
    """
    find = "Give two of the price, --n and --error: the third is found."
    parser = plan_verb(statistics, name, find=find, example=example, size=None, size_needed=False)
    options(parser)
    _add_guess(parser)

    def answer(arguments: argparse.Namespace) -> Output:
        return planned(arguments, make, **chosen(arguments), **_guess(arguments))

    parser.set_defaults(answer=answer)


def add_cuts(parser: argparse.ArgumentParser, cuts: str, *, needed: bool) -> None:
    """Add --edges or --points."""
    parser.add_argument(
        f"--{cuts}", metavar="X,X,...", required=needed, help=f"public {cuts}, increasing"
    )


def cuts_of(arguments: argparse.Namespace, cuts: str) -> list[float]:
    """Read the cuts.

    Raises
    ------
    InvalidArgument
        If one is no number.
    """
    text: str = getattr(arguments, cuts)
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InvalidArgument(f"--{cuts} must be numbers and commas, got {text!r}") from None


def planned(arguments: argparse.Namespace, make: Callable[..., Plan], **options: Any) -> Output:
    """Make a plan and write it."""
    found = make(
        n=arguments.n,
        error=arguments.error,
        budget=chosen_price(arguments),
        unit=chosen_unit(arguments),
        **options,
    )
    return Output(found.to_json() if arguments.json else str(found))
