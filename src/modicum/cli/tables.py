"""The verbs ``crosstab``, ``value-counts`` and ``n-distinct``: labels of a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from modicum.api.curator import Curator
from modicum.api.tables.table_release import Crosstab
from modicum.cli import options, publishing, tasks
from modicum.cli.statistics import chosen_keys, keys_as_declared
from modicum.errors import InvalidArgument
from modicum.privacy.budget import Budget
from modicum.privacy.event import event_of
from modicum.releases.release import Release

_Answer = Callable[[Curator, argparse.Namespace, dict[str, Any]], Release | Crosstab]


def add_to(verbs: Any) -> None:
    """Add the verbs to the command line."""
    table = _verb(
        verbs,
        "crosstab",
        "+",
        _crosstab,
        "counts or sums of all combinations of labels, with margins that add up",
        "people.parquet region sex --keys North,South --keys f,m --epsilon 1",
    )
    keys = table.add_argument_group("cells")
    options.add_keys(keys, "once for each column")
    keys.add_argument("--values", metavar="COLUMN", help="sum this column in place of counting")
    keys.add_argument(
        "--margin",
        metavar="A,B,...",
        action="append",
        help="the columns that a margin keeps, in place of one margin for each column; may be "
        "given again",
    )
    keys.add_argument("--no-margins", action="store_true", help="cells only")
    options.add_range(table, needed=False)
    table.add_argument_group("output").add_argument(
        "--html", action="store_true", help="print a table of HTML"
    )
    counts = _verb(
        verbs,
        "value-counts",
        None,
        _value_counts,
        "counts of the labels of a column, the most frequent first, with their shares",
        "flights.parquet origin --key-epsilon 1 --key-delta 1e-7 --epsilon 1",
    )
    options.add_keys(counts.add_argument_group("labels"), "of the column")
    _verb(
        verbs,
        "n-distinct",
        None,
        _n_distinct,
        "how many different labels a column has",
        "people.parquet postcode --epsilon 1",
    )


def _verb(
    verbs: Any, name: str, columns: str | None, answer: _Answer, what: str, example: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=tasks.words_of(name),
        description=f"Release {what}.",
        epilog=f"example: modicum {name} {example}",
    )
    options.add_data(parser, column=columns)
    options.add_views(parser)
    options.add_cost(parser)
    if name == "n-distinct":
        parser.add_argument(
            "--max-groups",
            metavar="K",
            type=options.whole,
            help="with --unit-column: a person counts with at most K labels",
        )
    form = parser.add_argument_group("form of the output").add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--explain", action="store_true", help="also tell every draw and its cost")
    publishing.add_publishing(parser)
    parser.set_defaults(answer=partial(_answered, answer))
    return parser


def _answered(answer: _Answer, arguments: argparse.Namespace) -> options.Output:
    publication = publishing.chosen_publication(arguments)
    cost = options.chosen_cost(arguments)
    if cost is None:
        raise InvalidArgument("a cost is needed: --epsilon or --rho, for example --epsilon 1")
    columns = arguments.column
    chosen: dict[str, Any] = {"budget": cost, "max_groups": arguments.max_groups}
    source, unit = options.opened(arguments), options.chosen_unit(arguments)
    one = isinstance(columns, str)
    arguments.by = (
        [columns] if one else options.columns_of(columns, options.names_of(arguments, source))
    )
    if hasattr(arguments, "keys"):
        drawn = arguments.key_epsilon is not None or arguments.key_delta is not None
        if len(arguments.keys or ()) != len(arguments.by) * (not drawn):
            raise InvalidArgument(
                "give --keys once for each column, or --key-epsilon and --key-delta"
            )
        keys = chosen_keys(arguments)
        if isinstance(keys, Budget):
            chosen["key_budget"] = keys
            cost = keys + event_of(cost).cost(keys.kind)
        else:
            lists = keys_as_declared(arguments, source, unit, keys)
            several = len(lists) > 1
            chosen["keys"] = dict(zip(arguments.by, lists, strict=True)) if several else lists[0]
    said = arguments.rows_per_person is not None or arguments.unit_column is not None
    curator, counted = options.charged_curator(arguments, source, unit if said else None, cost)
    found = answer(options.viewed(curator, arguments), arguments, chosen)
    if not counted:
        found = replace(found, account="not counted against any budget")
    text = found.explain() if arguments.explain else str(found)
    if arguments.json:
        text = found.to_json()
    elif isinstance(found, Crosstab) and getattr(arguments, "html", False):
        text = found.to_html()
    return publication.output(found, text, usable=found.usable)


def _crosstab(
    curator: Curator, arguments: argparse.Namespace, chosen: dict[str, Any]
) -> Release | Crosstab:
    if arguments.no_margins and arguments.margin:
        raise InvalidArgument("--no-margins and --margin exclude each other")
    margins: Any = not arguments.no_margins
    if arguments.margin:
        margins = [tuple(name for name in each.split(",") if name) for each in arguments.margin]
    return curator.crosstab(
        *arguments.by,
        values=arguments.values,
        within=arguments.within,
        step=arguments.step,
        margins=margins,
        **chosen,
    )


def _value_counts(
    curator: Curator, arguments: argparse.Namespace, chosen: dict[str, Any]
) -> Release | Crosstab:
    return curator.value_counts(*arguments.by, **chosen)


def _n_distinct(
    curator: Curator, arguments: argparse.Namespace, chosen: dict[str, Any]
) -> Release | Crosstab:
    return curator.n_distinct(*arguments.by, **chosen)
