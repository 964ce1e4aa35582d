"""Counts of very many keys, to a file: ``modicum count FILE --by page --to counts.parquet``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from modicum.cli import options
from modicum.errors import InvalidArgument
from modicum.privacy import budget, event
from modicum.sources.counted import counted

_ONLY = ("keys_file", "counts", "complete", "at_least")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add --to and the options that go with it."""
    group = parser.add_argument_group("counts of very many keys, to a file (with --by)")
    group.add_argument(
        "--to",
        metavar="FILE.parquet",
        help="write the count of every key to this file, in place of printing them",
    )
    group.add_argument(
        "--keys-file",
        metavar="FILE",
        help="a Parquet file with a row for each public key, in columns named as --by (or draw the "
        "keys: --key-epsilon and --key-delta)",
    )
    group.add_argument(
        "--counts",
        metavar="COLUMN",
        help="FILE holds counts by key: each row stands for so many; what is protected is one of "
        "those",
    )
    group.add_argument(
        "--complete",
        action="store_true",
        help="with --counts: FILE has a row for every key of a public list, in a public order",
    )
    group.add_argument(
        "--at-least", metavar="N", type=options.whole, help="leave out released counts below N"
    )


def check_unused(arguments: argparse.Namespace) -> None:
    """Refuse options that need --to."""
    if any(getattr(arguments, name) for name in _ONLY):
        raise InvalidArgument("--keys-file, --counts, --complete and --at-least need --to")


def answer(arguments: argparse.Namespace) -> options.Output:
    """Write the file, and say what is in it."""
    cost = options.chosen_cost(arguments)
    if cost is None:
        raise InvalidArgument("a cost is needed: --epsilon or --rho, for example --epsilon 1")
    if arguments.by is None or arguments.column is not None:
        raise InvalidArgument("--to counts rows by key: name the columns of the key with --by")
    if arguments.keys is not None or arguments.max_groups is not None or arguments.explain:
        raise InvalidArgument("--to goes without --keys, --max-groups and --explain")
    if arguments.complete and arguments.counts is None:
        raise InvalidArgument("--complete needs --counts")
    chosen: dict[str, Any] = {"keys": arguments.keys_file, "at_least": arguments.at_least}
    epsilon, delta = arguments.key_epsilon, arguments.key_delta
    total = cost
    if (epsilon is None) != (delta is None):
        raise InvalidArgument("--key-epsilon and --key-delta go together")
    if epsilon is not None:
        chosen["key_budget"] = budget.approx(epsilon, delta)
        total = chosen["key_budget"] + event.event_of(cost).cost(chosen["key_budget"].kind)
    source = options.opened(arguments)
    if arguments.counts is not None:
        table = arguments.file if arguments.file.lower().endswith(".parquet") else source
        source = counted(table, arguments.counts, complete=arguments.complete)
    said = arguments.rows_per_person is not None or arguments.unit_column is not None
    unit = options.chosen_unit(arguments) if said else None
    curator, is_counted = options.charged_curator(arguments, source, unit, total)
    found = options.viewed(curator, arguments).count_to(
        arguments.to, *arguments.by, **chosen, level=options.shown_level(arguments), budget=cost
    )
    if not is_counted:
        found = replace(found, account="not counted against any budget")
    return options.Output(found.to_json() if arguments.json else str(found), found.usable)
