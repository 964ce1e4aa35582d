"""``modicum plan``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, get_args

from modicum import plan
from modicum.cli.options import (
    add_algorithm,
    add_ends,
    add_price,
    add_range,
    chosen_price,
    chosen_unit,
    number,
)
from modicum.plan.card import Plan
from modicum.plan.shapes import ShapeName

__all__ = ["add_to"]

_DESCRIPTION = """\
Predict the error of a release, or find the price or the size that an error needs.
No data are read and nothing is spent: give your guess of the spread and the shape.
"""


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "plan",
        help="predicted error, or the price that an error needs; reads no data",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    statistics = parser.add_subparsers(title="statistics", metavar="STATISTIC", required=True)

    mean = statistics.add_parser(
        "mean",
        help="plan a mean; give two of the price, --n and --error",
        description="Plan a mean. Give two of the price, --n and --error: the third is found.",
        epilog="example: modicum plan mean --within=-1e9,1e9 --n 1e5 --sd 5e4 --error 500",
    )
    _add_column(mean, "mean", size_needed=False)
    mean.set_defaults(answer=_mean)

    total = statistics.add_parser(
        "sum",
        help="plan a sum; give --n, and the price or --error",
        description="Plan a sum. Give --n, and the price or --error: the other is found.",
        epilog="example: modicum plan sum --within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1",
    )
    _add_column(total, "sum", size_needed=True)
    total.set_defaults(answer=_sum)

    count = statistics.add_parser(
        "count",
        help="plan a count; give the price or --error",
        description="Plan a count. Give the price or --error: the other is found.",
        epilog="example: modicum plan count --error 10",
    )
    _add_wishes(count, size=10_000, size_needed=False)
    count.set_defaults(answer=_count)

    quantile = statistics.add_parser(
        "quantile",
        help="plan a quantile; give two of the price, --n and --error",
        description="Plan a quantile. Give two of the price, --n and --error: the third is found.",
        epilog="example: modicum plan quantile --q 0.9 --within=0,1e9 --n 1e5 --sd 5e4 --error 500",
    )
    quantile.add_argument("--q", required=True, help="which one, such as 0.9 or 1/3")
    _add_ranks(quantile, plan.quantile, ("q",))

    median = statistics.add_parser(
        "median",
        help="plan a median; give two of the price, --n and --error",
        description="Plan a median. Give two of the price, --n and --error: the third is found.",
        epilog="example: modicum plan median --within=0,1e9 --n 1e5 --sd 5e4 --error 500",
    )
    _add_ranks(median, plan.median, ())


def _add_column(parser: argparse.ArgumentParser, statistic: str, *, size_needed: bool) -> None:
    add_range(parser)
    add_algorithm(parser, statistic)
    _add_guess(parser)
    _add_wishes(parser, size=None, size_needed=size_needed)


def _add_ranks(
    parser: argparse.ArgumentParser, make: Callable[..., Plan], more: tuple[str, ...]
) -> None:
    add_range(parser)
    add_ends(parser)
    _add_guess(parser)
    _add_wishes(parser, size=None, size_needed=False)
    names = ("within", "step", "sd", "mean", "shape", *more)

    def answer(arguments: argparse.Namespace) -> str:
        level = None if arguments.no_interval else 0.95
        options = {name: getattr(arguments, name) for name in names}
        return _shown(arguments, make, level=level, **options)

    parser.set_defaults(answer=answer)


def _add_guess(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("guess of the data (public knowledge, not the data)")
    group.add_argument("--sd", type=number, required=True, help="standard deviation")
    group.add_argument("--mean", type=number, help="mean (default: usual for the shape)")
    group.add_argument("--shape", choices=get_args(ShapeName), default="lognormal")


def _add_wishes(parser: argparse.ArgumentParser, *, size: int | None, size_needed: bool) -> None:
    parser.add_argument(
        "--n", type=number, default=size, required=size_needed, help="number of rows"
    )
    parser.add_argument("--error", type=number, help="wanted mean absolute error")
    add_price(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _mean(arguments: argparse.Namespace) -> str:
    return _shown(arguments, plan.mean, method=arguments.method, **_column(arguments))


def _sum(arguments: argparse.Namespace) -> str:
    return _shown(arguments, plan.sum, **_column(arguments))


def _count(arguments: argparse.Namespace) -> str:
    return _shown(arguments, plan.count)


def _column(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("within", "step", "clusters", "sd", "mean", "shape")
    return {name: getattr(arguments, name) for name in names}


def _shown(arguments: argparse.Namespace, make: Callable[..., Plan], **options: Any) -> str:
    found = make(
        n=arguments.n,
        error=arguments.error,
        budget=chosen_price(arguments),
        unit=chosen_unit(arguments),
        **options,
    )
    return found.to_json() if arguments.json else str(found)
