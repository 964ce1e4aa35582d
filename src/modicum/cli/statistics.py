"""The verbs of statistics, from the signatures of the functions they call.

A parameter is written as the option of its name, in the way that :data:`_KINDS` gives for its type.
The declaration of the statistic holds what a signature cannot express.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import reduce
from inspect import Parameter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from modicum.cli import bulk, options, publishing, tasks
from modicum.errors import InvalidArgument
from modicum.privacy.budget import ZCDP_ONLY, Budget, approx
from modicum.privacy.event import event_of
from modicum.privacy.unit import Unit
from modicum.releases.confidence import assumed_tail
from modicum.releases.publishing.text import interval as ends
from modicum.releases.release import Release
from modicum.runtime.query import Query
from modicum.sources import base
from modicum.sources.types import label_kind
from modicum.statistics.contents import CHAPTERS, find_statistic
from modicum.statistics.spec import Declaration, Row
from modicum.stored import codec

if TYPE_CHECKING:
    from modicum.releases.array_release import ArrayRelease
    from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease

    AnyRelease = Release | ArrayRelease | GroupedRelease | GroupedArrayRelease

Parameters = Mapping[str, Parameter]


_USUAL = (0.95, "auto")  # the level and the tail of the interval that a release shows by itself
_FIRST = ("mean", "sum", "count", "quantile", "median", "mean_vector")  # the others by their names


def _words(text: str, _name: str) -> list[str]:
    return text.split(",")


def _numbers(text: str, name: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InvalidArgument(f"--{name} must be numbers and commas, got {text!r}") from None


class _Kind(NamedTuple):
    """How a parameter is written: what argparse reads, and what is made of that."""

    metavar: str | None = None
    type: Callable[[str], Any] | None = None
    read: Callable[[str, str], Any] | None = None


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "Number": _Kind(),
        "str": _Kind("COLUMN"),
        "float": _Kind(type=options.number),
        "int": _Kind("K", options.whole),
        "Sequence[float]": _Kind("X,X,...", read=_numbers),
        "Sequence[Number]": _Kind("Q,Q,...", read=_words),
        "tuple[Number, Number]": _Kind(read=_words),
    }
)
_EVERYWHERE = ("column", "columns", "epsilon", "rho", "budget", "unit", "n", "error")


def add_to(verbs: Any, only: Collection[str] = ()) -> None:
    """Add a verb for each statistic, or for some alone."""
    for statistic in listed(only):
        _add_verb(verbs, statistic)


def listed(only: Collection[str] = ()) -> list[Declaration]:
    """Statistics with a verb, those of one column first; or those of some verbs alone."""
    names = [verb.replace("-", "_") for verb in only] or CHAPTERS
    found = map(find_statistic, names)
    return sorted((each for each in found if each.command), key=_place)


def _place(statistic: Declaration) -> tuple[bool, int, str]:
    name = statistic.name
    first = _FIRST.index(name) if name in _FIRST else len(_FIRST)
    return statistic.rows[0].of_rows, first, name


def command_of(statistic: Declaration) -> str:
    """Return the word for a statistic."""
    return statistic.name.replace("_", "-")


def _in_words(statistic: Declaration) -> str:
    """Return the noun of its plan without an article, or its name if that tells of columns too."""
    noun = "the" if statistic.plan is None else statistic.plan.noun
    article, _, words = noun.partition(" ")
    if article == "the":
        return statistic.name.replace("_", " ")
    return words if article in {"a", "an"} else noun


def _add_verb(verbs: Any, statistic: Declaration) -> None:
    question, words = statistic.question, _in_words(statistic)
    signature = inspect.signature(question)
    column, parameters = next(iter(signature.parameters)), options_of(signature)
    several = column == "columns"
    of = "several columns together, named A B or A,B" if several else "a column"
    of = "the sums of two columns" if "denominator" in signature.parameters else of
    about = ""
    if statistic.name == "count":
        of = "rows, or of the values of a column"
        about = (
            " A column of text may be counted too; in a CSV file every cell that is not empty "
            "counts, NA as well."
        )
    purpose = tasks.words_of(command_of(statistic))
    parser: argparse.ArgumentParser = verbs.add_parser(
        command_of(statistic),
        help=purpose,
        description=f"Release the {words} of {of}: {purpose}. Missing values are dropped.{about}",
        epilog=f"example: modicum {command_of(statistic)} {statistic.command}",
    )
    options.add_data(parser, column={"count": "?"}.get(statistic.name, "+" if several else None))
    options.add_views(parser)
    add_options(parser, statistic, parameters)
    if column == "column":
        options.add_groups(parser)
    if statistic.name == "count":
        bulk.add_options(parser)
    options.add_cost(parser)
    options.add_output(parser, drawn="level" in parameters, tail=statistic.tail)
    publishing.add_publishing(parser)

    def asked(arguments: argparse.Namespace, cost: Budget) -> Query[Any]:
        of = options.columns_of(arguments.column) if several else arguments.column
        query: Query[Any] = question(of, budget=cost, **chosen(arguments, parameters))
        return query

    def answer(arguments: argparse.Namespace) -> options.Output:
        if "to" in arguments:
            if arguments.to is not None:
                publishing.refuse_publication(
                    arguments, "--to writes all counts to a file of its own"
                )
                return bulk.answer(arguments)
            bulk.check_unused(arguments)
        publication = publishing.chosen_publication(arguments)
        release = _released(arguments, lambda cost: asked(arguments, cost))
        return publication.output(release, _shown(release, arguments), usable=release.usable)

    parser.set_defaults(answer=answer)
    if several:
        parser.set_defaults(several=True)


def options_of(signature: inspect.Signature) -> Parameters:
    """Parameters that are options, other than those of every statistic."""
    found = signature.parameters.items()
    return {name: each for name, each in found if name not in _EVERYWHERE}


def add_options(
    parser: argparse.ArgumentParser, statistic: Declaration, parameters: Parameters
) -> None:
    """Add the range first, then what only some statistics have."""
    if "within" in parameters:
        options.add_range(parser, needed=parameters["within"].default is Parameter.empty)
    elif "step" in parameters:
        options.add_step(parser)
    rows = statistic.rows
    for name, parameter in parameters.items():
        if name == "method":
            text = "; ".join(map(_described, rows))
            add(parser, name, parameter, choices=[row.method for row in rows], help=text)
        elif name in statistic.options:
            if parameter.annotation == "bool":
                add(parser, name, parameter, action="store_true", help=statistic.options[name])
                continue
            kind = _kind(parameter)
            choices = None if kind else _choices(rows[0], name)
            metavar, read, _ = kind or _Kind()
            text = statistic.options[name]
            add(parser, name, parameter, metavar=metavar, type=read, choices=choices, help=text)


def _choices(row: Row[Any, Any], name: str) -> list[Any]:
    """Values of an option that the row lists, each once."""
    return list(dict.fromkeys(getattr(option, name) for option in row.options))


def _described(row: Row[Any, Any]) -> str:
    only = ", with --rho only" if row.kinds == ZCDP_ONLY else ""
    return f"{row.method}: {row.summary}{only}"


def _kind(parameter: Parameter) -> _Kind | None:
    return _KINDS.get(str(parameter.annotation).removesuffix(" | None"))


def add(parser: argparse._ActionsContainer, name: str, parameter: Parameter, **chosen: Any) -> None:
    """Add a parameter with the default of its signature; without a default it is required."""
    default = parameter.default
    # A column that is explained has no place of its own on the command line.
    needed = default is Parameter.empty or name == "target"
    if isinstance(default, tuple):
        default = ",".join(default)
    parser.add_argument(
        f"--{name.replace('_', '-')}",
        required=needed,
        default=None if needed else default,
        **{key: value for key, value in chosen.items() if value is not None},
    )


def chosen(arguments: argparse.Namespace, parameters: Parameters) -> dict[str, Any]:
    """Return the arguments that options stand for."""
    found = {}
    for name, parameter in parameters.items():
        value: Any = options.drawn_level(arguments) if name == "level" else getattr(arguments, name)
        kind = _kind(parameter)
        read = None if kind is None else kind.read
        found[name] = value if read is None or value is None else read(value, name)
    return found


def _released(
    arguments: argparse.Namespace, question: Callable[[Budget], Query[Any]]
) -> AnyRelease:
    """Answer a query from the file. Every argument is checked before the file is read."""
    cost = options.chosen_cost(arguments)
    if cost is None:
        raise InvalidArgument("a cost is needed: --epsilon or --rho, for example --epsilon 1")
    query = question(cost)
    grouped = "by" in arguments  # a verb of several columns has no options for groups
    if grouped and arguments.by is None and arguments.pooled is not None:
        raise InvalidArgument("--pooled needs --by")
    keys = chosen_keys(arguments) if grouped else []
    source = options.opened(arguments)
    unit = options.chosen_unit(arguments)
    said = arguments.rows_per_person is not None or arguments.unit_column is not None
    chosen: dict[str, Any] = {}
    if grouped and arguments.by is not None:
        chosen["max_groups"] = arguments.max_groups
        chosen["pooled"] = {"yes": True, "no": False}.get(arguments.pooled, "auto")
        if isinstance(keys, Budget):
            chosen["key_budget"] = keys
            cost = keys + event_of(cost).cost(keys.kind)
        else:
            lists = keys_as_declared(arguments, source, unit, keys)
            several = len(lists) > 1
            chosen["keys"] = dict(zip(arguments.by, lists, strict=True)) if several else lists[0]
    curator, counted = options.charged_curator(arguments, source, unit if said else None, cost)
    curator = options.viewed(curator, arguments)
    account = "not counted against any budget"
    if not chosen:
        release: Release | ArrayRelease = curator.run(query)
        return release if counted else replace(release, account=account)
    groups: GroupedRelease = curator.group_by(*arguments.by, **chosen).run(query)
    from modicum.releases.grouped_release import under

    return groups if counted else under(groups, account)


def keys_as_declared(
    arguments: argparse.Namespace, source: base.Source, unit: Unit, keys: Sequence[Sequence[str]]
) -> list[list[Hashable]]:
    """Read the keys of each column of --by as the column's declared type has them."""
    from modicum.sources import viewed

    views = options.chosen_views(arguments)
    seen = reduce(lambda table, view: viewed.view_of(table, view, unit), views, source)
    for by in arguments.by:
        seen.check_label(by)
    read = [_KEYS.get(label_kind(seen.label_type(by)) or "text", str) for by in arguments.by]
    return [[to(key) for key in some] for to, some in zip(read, keys, strict=True)]


def chosen_keys(arguments: argparse.Namespace) -> Budget | list[list[str]]:
    """Read the keys of each column, or the budget for drawing them."""
    keys, epsilon, delta = arguments.keys, arguments.key_epsilon, arguments.key_delta
    drawn = epsilon is not None or delta is not None
    if arguments.by is None:
        if keys is not None or drawn or arguments.max_groups is not None:
            raise InvalidArgument("--keys, --key-epsilon, --key-delta and --max-groups need --by")
        return []
    if (keys is None) != drawn:
        raise InvalidArgument("--by needs either --keys, or --key-epsilon and --key-delta")
    if not drawn:
        if len(keys) != len(arguments.by):
            raise InvalidArgument("--keys is given once for each --by")
        return [each.split(",") for each in keys]
    if epsilon is None or delta is None:
        raise InvalidArgument("--key-epsilon and --key-delta go together")
    if arguments.rho is not None:
        raise InvalidArgument("keys are drawn for an (ε, δ): the cost must be --epsilon too")
    return approx(epsilon, delta)


def _shown(release: AnyRelease, arguments: argparse.Namespace) -> str:
    """Write a release as the options say."""
    level, tail = options.shown_level(arguments), arguments.tail
    if arguments.json:
        return codec.to_json(release, release.facts(level, tail))
    if not isinstance(release, Release):
        return release.explain() if arguments.explain else release.summary(level, tail)
    text = release.explain() if arguments.explain else str(release)
    if (level, tail) != _USUAL:
        text += (
            f"\n{100 * level:g} % interval  {ends(*release.interval(level, tail))}: "
            f"{release.error_model.assumption(assumed_tail(release.error_model, level, tail))}"
        )
        if release.population:
            text += f"\nof the population    {ends(*release.confidence_interval(level, tail))}"
    return text


def _key_read_by(
    read: Callable[[str], Hashable], name: str, example: str
) -> Callable[[str], Hashable]:
    """Return a function from text to a key of a column that declares its type."""

    def key(text: str) -> Hashable:
        try:
            return read(text.strip())
        except ValueError:
            raise InvalidArgument(
                f"--keys: the column holds {name} such as {example}, got {text!r}"
            ) from None

    return key


def _numeric_key(text: str) -> Hashable:
    value = float(text)
    return int(text) if value.is_integer() and text.lstrip("+-").isdecimal() else value


_KEYS: Mapping[str, Callable[[str], Hashable]] = {
    "number": _key_read_by(_numeric_key, "numbers", "5"),
    "date": _key_read_by(date.fromisoformat, "dates", "2024-01-31"),
    "datetime": _key_read_by(datetime.fromisoformat, "moments", "2024-01-31T12:00"),
}
