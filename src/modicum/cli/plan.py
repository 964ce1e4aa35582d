"""The verb ``plan``: a verb for the plan of each statistic."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Collection
from typing import Any, get_args

from modicum.cli import options, statistics, tasks
from modicum.errors import InvalidArgument
from modicum.plan.shapes import ShapeName
from modicum.plan.statistics import find_words, plan_of
from modicum.releases.publishing.files import checked_target
from modicum.statistics.spec import Declaration, Planned

_ABOUT = """\
Predict the error of a release, or find the cost or the size that an error needs.
No data are read and nothing is spent: give your guess of the spread and the shape.
"""


def add_to(verbs: Any, only: Collection[str] = ()) -> None:
    """Add the verb, with the plans of all statistics or of some alone."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "plan",
        help=tasks.words_of("plan"),
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    plans = parser.add_subparsers(title="statistics", metavar="STATISTIC", required=True)
    for statistic in statistics.listed(only):
        if statistic.plan is not None:
            _add_plan(plans, statistic, statistic.plan)


def _add_plan(plans: Any, statistic: Declaration, planned: Planned) -> None:
    make, words = plan_of(statistic.name), planned.noun
    signature = inspect.signature(make)
    size, parameters = signature.parameters["n"], statistics.options_of(signature)
    find = find_words(size, ("--n", "--error"))
    parser: argparse.ArgumentParser = plans.add_parser(
        statistics.command_of(statistic),
        help=f"plan {words}",
        description=f"Plan {words}. {find}",
        epilog=f"example: modicum plan {statistics.command_of(statistic)} {planned.command}",
    )
    statistics.add(parser, "n", size, type=options.number, help="number of rows")
    parser.add_argument("--error", type=options.number, help="wanted mean absolute error")
    options.add_cost(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--report",
        metavar="FILE.html",
        help="also write a page with the error at other costs and numbers of rows, with sliders",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    parser.add_argument("--title", help="of the page, in place of what is planned")
    statistics.add_options(parser, statistic, parameters)
    if "level" in parameters:
        options.add_level(parser, drawn=True)
    _add_guess(parser, parameters)
    if "rows_each" in parameters:
        statistics.add(
            parser,
            "rows_each",
            parameters["rows_each"],
            type=options.number,
            metavar="M",
            help="rows a person has on average, if all of them count (--unit-column alone)",
        )

    def answer(arguments: argparse.Namespace) -> options.Output:
        page, title, replaced = arguments.report, arguments.title, arguments.overwrite
        if page is not None:
            checked_target(page, overwrite=replaced)
        elif title is not None or replaced:
            option = "--overwrite" if replaced else "--title"
            raise InvalidArgument(f"{option} needs --report FILE.html")
        found = make(
            n=arguments.n,
            error=arguments.error,
            budget=options.chosen_cost(arguments),
            unit=options.chosen_unit(arguments),
            **statistics.chosen(arguments, parameters),
        )
        if page is not None:
            found.report(page, title=title, overwrite=replaced)
        return options.Output(found.to_json() if arguments.json else str(found))

    parser.set_defaults(answer=answer)


def _add_guess(parser: argparse.ArgumentParser, parameters: statistics.Parameters) -> None:
    if "sd" not in parameters:
        return
    group = parser.add_argument_group("guess of the data (public knowledge, not the data)")
    if "correlation" in parameters:
        sd = {"metavar": "S,S,...", "help": "standard deviation of each column"}
        mean = "mean of every column (default 0)"
        several = "of any two columns (default 0)"
        statistics.add(group, "sd", parameters["sd"], **sd)
        statistics.add(group, "mean", parameters["mean"], type=options.number, help=mean)
        statistics.add(
            group, "correlation", parameters["correlation"], type=options.number, help=several
        )
    else:
        mean = "mean (default: usual for the shape)"
        statistics.add(
            group, "sd", parameters["sd"], type=options.number, help="standard deviation"
        )
        statistics.add(group, "mean", parameters["mean"], type=options.number, help=mean)
        statistics.add(group, "shape", parameters["shape"], choices=get_args(ShapeName))
