"""The verbs of statistics and of their plans, from the signatures of the functions they call.

A parameter is written as the option of its name, in the way that :data:`_OPTIONS` says once for all
statistics. What a signature cannot tell stands in :data:`_VERBS`: an example of each call, and
whether the interval depends on an assumed tail.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from types import MappingProxyType
from typing import Any, get_args

from modicum import plan
from modicum import query as ask
from modicum.cli.answering import released, shown
from modicum.cli.options import (
    add_data,
    add_groups,
    add_level,
    add_output,
    add_price,
    add_range,
    add_step,
    chosen_price,
    chosen_unit,
    drawn_level,
    number,
    whole,
)
from modicum.cli.output import Output
from modicum.errors import InvalidArgument
from modicum.plan.column import ShapeName
from modicum.plan.statistics import find_words
from modicum.plan.summary import with_article
from modicum.privacy.budget import Budget
from modicum.runtime.query import Query
from modicum.statistics.registry import REGISTRY
from modicum.statistics.spec import Row

__all__ = ["add_plans", "add_verbs"]

Parameters = Mapping[str, Parameter]


@dataclass(frozen=True, slots=True)
class _Verb:
    """What the signature of a statistic does not tell."""

    name: str
    example: str
    planned: str
    tail: bool = False

    @property
    def command(self) -> str:
        """Its name on the command line."""
        return self.name.replace("_", "-")

    @property
    def words(self) -> str:
        """Its name in a sentence."""
        return self.name.replace("_", " ")


_PEOPLE = "people.parquet income --within=-1e9,1e9 --epsilon 1"
_FLIGHTS = "flights.csv delay{} --within=-1e9,1e9 --epsilon 1"
_BODIES = "people.csv age,height,weight{} --within=-1e6,1e6 --epsilon 1"
_SPREAD = "--within=-1e9,1e9 --n 1e5 --sd 5e4 --error 500"
_AMOUNTS = "{}--within=0,1e9 --n 1e5 --sd 5e4 --error 500"
_LOCATION = "{}--within=0,1e9 --n 1e5 --sd 5e4 --epsilon 1"
_TRIMMED = "--trim 0.1 --within=-1e9,1e9 --n 1e5 --sd 5e4 --error 50"

_VERBS = (
    _Verb("mean", _PEOPLE, _SPREAD, tail=True),
    _Verb(
        "sum", "people.parquet income --within=0,1e9 --epsilon 1", _LOCATION.format(""), tail=True
    ),
    _Verb("count", "people.csv income --epsilon 0.1", "--error 10"),
    _Verb("quantile", _FLIGHTS.format(" --q 0.9"), _AMOUNTS.format("--q 0.9 ")),
    _Verb("median", _FLIGHTS.format(""), _AMOUNTS.format("")),
    _Verb(
        "cdf",
        "people.csv age --points 18,30,65 --epsilon 1",
        "--points 5,10,20 --n 1e5 --sd 10 --error 0.001",
    ),
    _Verb("expectile", _FLIGHTS.format(" --tau 0.9"), _LOCATION.format("--tau 0.9 "), tail=True),
    _Verb(
        "histogram",
        "people.csv age --edges 0,18,65,inf --epsilon 1",
        "--edges 0,10,20 --n 1e5 --sd 10 --error 5",
    ),
    _Verb("huber", _FLIGHTS.format(""), _LOCATION.format("")),
    _Verb("iqr", _FLIGHTS.format(""), _AMOUNTS.format("")),
    _Verb("lp_center", _FLIGHTS.format(" --p 1.5"), _LOCATION.format("--p 1.5 "), tail=True),
    _Verb("max", _PEOPLE, "--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1", tail=True),
    _Verb("min", _PEOPLE, "--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1", tail=True),
    _Verb(
        "quantiles",
        _FLIGHTS.format(" --q 0.25,0.5,0.75"),
        _AMOUNTS.format("--q 0.25,0.5,0.75 "),
    ),
    _Verb("std", _PEOPLE, _SPREAD, tail=True),
    _Verb("trimmed_mean", _FLIGHTS.format(" --trim 0.1"), _TRIMMED),
    _Verb("var", _PEOPLE, "--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1", tail=True),
    _Verb("winsorized_mean", _FLIGHTS.format(" --trim 0.1"), _TRIMMED),
    _Verb(
        "mean_vector",
        "people.csv age,height,weight --within=-1e9,1e9 --rho 0.5",
        "--within=-1e9,1e9 --sd 12,9,15 --mean 100 --n 1e5 --rho 0.5",
        tail=True,
    ),
    _Verb(
        "clipped_mean_vector",
        "changes.csv age,height,weight --within=-1e9,1e9 --rho 0.5",
        "--within=-1e9,1e9 --sd 12,9,15 --n 1e5 --rho 0.5",
        tail=True,
    ),
    _Verb(
        "covariance",
        _BODIES.format(""),
        "--within=-1e6,1e6 --sd 12,9,15 --n 1e5 --epsilon 1",
        tail=True,
    ),
    _Verb(
        "linear_regression",
        "people.csv age,height --target weight --within=-1e6,1e6 --epsilon 1",
        "--within=-1e6,1e6 --sd 12,9 --r2 0.5 --n 1e4 --epsilon 1",
        tail=True,
    ),
    _Verb(
        "pca",
        _BODIES.format(" --components 1"),
        "--components 1 --within=-1e6,1e6 --sd 12,9,3 --n 1e4 --epsilon 1",
        tail=True,
    ),
)


def _words(text: str, _name: str) -> list[str]:
    return text.split(",")


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InvalidArgument(f"--{name} must be numbers and commas, got {text!r}") from None


@dataclass(frozen=True, slots=True)
class _Option:
    """How a parameter is written: its help, what argparse reads, and what is made of that."""

    help: str
    metavar: str | None = None
    type: Callable[[str], Any] | None = None
    read: Callable[[str, str], Any] | None = None


_SEVERAL = _Option("which ones, increasing, such as 0.1,1/3,0.9", "Q,Q,...", read=_words)
_OPTIONS: Mapping[str, _Option] = MappingProxyType(
    {
        "q": _Option("which one, such as 0.9 or 1/3"),
        "between": _Option("which quantiles (default: %(default)s)", read=_words),
        "trim": _Option("share of the records beyond each cut, such as 0.1 or 1/20"),
        "tau": _Option("weight of the records above it, such as 0.9", type=number),
        "p": _Option("power of the distances, such as 1.5", type=number),
        "width": _Option(
            "where the pull of a record ends to grow (default: found privately)", type=number
        ),
        "points": _Option("public points, increasing", "X,X,...", read=_numbers),
        "edges": _Option("public edges, increasing", "X,X,...", read=_numbers),
        "bins": _Option(
            "instead of --edges, with --within: K bins between quantiles that are drawn first",
            "K",
            type=int,
        ),
        "components": _Option("how many components", "K", type=whole),
        "target": _Option("the explained column", "COLUMN"),
        "r2": _Option("share of the explained column's variance", type=number),
        "target_sd": _Option("its standard deviation", type=number),
        "clusters": _Option(
            "keep: also keep a small distant cluster of values, at some cost in accuracy"
        ),
    }
)
_EVERYWHERE = ("column", "columns", "epsilon", "rho", "budget", "unit", "n", "error")


def add_verbs(verbs: Any) -> None:
    """Add a verb for each statistic."""
    for verb in _VERBS:
        _add_verb(verbs, verb)


def add_plans(statistics: Any) -> None:
    """Add each statistic to ``modicum plan``."""
    for verb in _VERBS:
        _add_plan(statistics, verb)


def _add_verb(verbs: Any, verb: _Verb) -> None:
    question = getattr(ask, verb.name)
    signature = inspect.signature(question)
    column, parameters = next(iter(signature.parameters)), _options_of(signature)
    of = "several columns together, named COLUMN,COLUMN,..." if column == "columns" else "a column"
    about = ""
    if verb.name == "count":
        of = "rows, or of the values of a column"
        about = (
            " A column of text may be counted too; in a CSV file every cell that is not empty "
            "counts, NA as well."
        )
    parser: argparse.ArgumentParser = verbs.add_parser(
        verb.command,
        help=f"{verb.words} of {of}",
        description=f"Release the {verb.words} of {of}. Missing values are dropped.{about}",
        epilog=f"example: modicum {verb.command} {verb.example}",
    )
    add_data(parser, column="?" if verb.name == "count" else None)
    _add_options(parser, verb, parameters)
    if signature.return_annotation == "Query[Release]":
        add_groups(parser)
    add_price(parser)
    add_output(parser, drawn="level" in parameters, tail=verb.tail)

    def asked(arguments: argparse.Namespace, price: Budget) -> Query[Any]:
        of = arguments.column.split(",") if column == "columns" else arguments.column
        query: Query[Any] = question(of, budget=price, **_chosen(arguments, parameters))
        return query

    def answer(arguments: argparse.Namespace) -> Output:
        release = released(arguments, lambda price: asked(arguments, price))
        return Output(shown(release, arguments), release.usable)

    parser.set_defaults(answer=answer)


def _add_plan(statistics: Any, verb: _Verb) -> None:
    make = getattr(plan, verb.name)
    signature = inspect.signature(make)
    size, parameters = signature.parameters["n"], _options_of(signature)
    find = find_words(size, ("--n", "--error"))
    parser: argparse.ArgumentParser = statistics.add_parser(
        verb.command,
        help=f"plan {with_article(verb.words)}",
        description=f"Plan {with_article(verb.words)}. {find}",
        epilog=f"example: modicum plan {verb.command} {verb.planned}",
    )
    _add(parser, "n", size, type=number, help="number of rows")
    parser.add_argument("--error", type=number, help="wanted mean absolute error")
    add_price(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    _add_options(parser, verb, parameters)
    if "level" in parameters:
        add_level(parser, drawn=True)
    _add_guess(parser, parameters)

    def answer(arguments: argparse.Namespace) -> Output:
        found = make(
            n=arguments.n,
            error=arguments.error,
            budget=chosen_price(arguments),
            unit=chosen_unit(arguments),
            **_chosen(arguments, parameters),
        )
        return Output(found.to_json() if arguments.json else str(found))

    parser.set_defaults(answer=answer)


def _options_of(signature: inspect.Signature) -> Parameters:
    """Parameters that are options, other than those of every statistic."""
    found = signature.parameters.items()
    return {name: each for name, each in found if name not in _EVERYWHERE}


def _add_options(parser: argparse.ArgumentParser, verb: _Verb, parameters: Parameters) -> None:
    """Add the range first, then what only some statistics have."""
    if "within" in parameters:
        add_range(parser, needed=parameters["within"].default is Parameter.empty)
    elif "step" in parameters:
        add_step(parser)
    rows = [row for row in REGISTRY if row.statistic == verb.name]
    for name, parameter in parameters.items():
        if name == "method":
            text = "; ".join(map(_described, rows))
            _add(parser, name, parameter, choices=[row.method for row in rows], help=text)
        elif name in _OPTIONS:
            option, choices = _option(name, parameter), None
            if name == "clusters":
                choices = [option.clusters for option in rows[0].options]
            _add(
                parser,
                name,
                parameter,
                metavar=option.metavar,
                type=option.type,
                choices=choices,
                help=option.help,
            )


def _described(row: Row[Any, Any]) -> str:
    only = ", with --rho only" if row.kinds == ("zcdp",) else ""
    return f"{row.method}: {row.summary}{only}"


def _option(name: str, parameter: Parameter) -> _Option:
    several = name == "q" and str(parameter.annotation).startswith("Sequence")
    return _SEVERAL if several else _OPTIONS[name]


def _add(
    parser: argparse._ActionsContainer, name: str, parameter: Parameter, **options: Any
) -> None:
    """Add a parameter with the default of its signature; without one it is needed."""
    default = parameter.default
    # A column that is explained has no place of its own on the command line.
    needed = default is Parameter.empty or name == "target"
    if isinstance(default, tuple):
        default = ",".join(default)
    parser.add_argument(
        f"--{name.replace('_', '-')}",
        required=needed,
        default=None if needed else default,
        **{key: value for key, value in options.items() if value is not None},
    )


def _add_guess(parser: argparse.ArgumentParser, parameters: Parameters) -> None:
    """Add what is to be guessed of the data."""
    if "sd" not in parameters:
        return
    group = parser.add_argument_group("guess of the data (public knowledge, not the data)")
    if "correlation" in parameters:
        sd = {"metavar": "S,S,...", "help": "standard deviation of each column"}
        mean = "mean of every column (default 0)"
        several = "of any two columns (default 0)"
        _add(group, "sd", parameters["sd"], **sd)
        _add(group, "mean", parameters["mean"], type=number, help=mean)
        _add(group, "correlation", parameters["correlation"], type=number, help=several)
    else:
        mean = "mean (default: usual for the shape)"
        _add(group, "sd", parameters["sd"], type=number, help="standard deviation")
        _add(group, "mean", parameters["mean"], type=number, help=mean)
        _add(group, "shape", parameters["shape"], choices=get_args(ShapeName))


def _chosen(arguments: argparse.Namespace, parameters: Parameters) -> dict[str, Any]:
    """Read the options of a statistic."""
    found = {}
    for name, parameter in parameters.items():
        value: Any = drawn_level(arguments) if name == "level" else getattr(arguments, name)
        read = _option(name, parameter).read if name in _OPTIONS else None
        if name == "sd" and "correlation" in parameters:
            read = _numbers
        found[name] = value if read is None or value is None else read(value, name)
    return found
