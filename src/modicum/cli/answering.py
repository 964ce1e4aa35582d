"""The answer to a query from a file, and the text that shows the release."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from modicum.array_release import ArrayRelease
from modicum.cli.options import (
    chosen_price,
    chosen_unit,
    opened,
    paying_curator,
    shown_level,
)
from modicum.errors import InvalidArgument
from modicum.grouped import GroupedRelease
from modicum.privacy.budget import Budget, approx
from modicum.privacy.event import event_of
from modicum.release import Release
from modicum.runtime.query import Query

_USUAL = (0.95, 3.0)  # the level and the tail of the interval that a release shows by itself


def released(
    arguments: argparse.Namespace, question: Callable[[Budget], Query[Any]]
) -> Release | ArrayRelease | GroupedRelease:
    """Answer a query from the file. Every argument is checked before the file is read."""
    price = chosen_price(arguments)
    if price is None:
        raise InvalidArgument("a price is needed: --epsilon or --rho, for example --epsilon 1")
    query = question(price)
    # A verb whose answer is an array has no options for groups.
    grouped = not query.several
    keys = _chosen_keys(arguments) if grouped else []
    source = opened(arguments)
    unit = chosen_unit(arguments)
    said = arguments.rows_per_person is not None or arguments.unit_column is not None
    options: dict[str, Any] = {}
    if grouped and arguments.by is not None:
        options["max_groups"] = arguments.max_groups
        if isinstance(keys, Budget):
            options["key_budget"] = keys
            price = keys + event_of(price).cost(keys.kind)
        else:
            read = _KEYS.get(source.check_label(arguments.by) or "text", str)
            options["keys"] = [read(key) for key in keys]
    curator, counted = paying_curator(arguments, source, unit if said else None, price)
    account = "not counted against any budget"
    if not options:
        release: Release | ArrayRelease = curator.run(query)
        return release if counted else replace(release, account=account)
    groups = curator.group_by(arguments.by, **options).run(query)
    return groups if counted else groups.under(account)


def _chosen_keys(arguments: argparse.Namespace) -> Budget | list[str]:
    """Read the keys, or the budget for drawing them."""
    keys, epsilon, delta = arguments.keys, arguments.key_epsilon, arguments.key_delta
    drawn = epsilon is not None or delta is not None
    if arguments.by is None:
        if keys is not None or drawn or arguments.max_groups is not None:
            raise InvalidArgument("--keys, --key-epsilon, --key-delta and --max-groups need --by")
        return []
    if (keys is None) != drawn:
        raise InvalidArgument("--by needs either --keys, or --key-epsilon and --key-delta")
    if not drawn:
        return str(keys).split(",")
    if epsilon is None or delta is None:
        raise InvalidArgument("--key-epsilon and --key-delta go together")
    if arguments.rho is not None:
        raise InvalidArgument("keys are drawn for an (ε, δ): the price must be --epsilon too")
    return approx(epsilon, delta)


def shown(release: Release | ArrayRelease | GroupedRelease, arguments: argparse.Namespace) -> str:
    """Write a release as the options say."""
    level, tail = shown_level(arguments), arguments.tail
    if arguments.json:
        return json.dumps(_record(release, level, tail))
    if not isinstance(release, Release):
        return release.explain() if arguments.explain else release.summary(level, tail)
    text = release.explain() if arguments.explain else str(release)
    if (level, tail) != _USUAL:
        interval = release.interval(level, tail)
        text += (
            f"\n{100 * level:g} % interval  [{interval.lower:,.6g}, {interval.upper:,.6g}]: "
            f"{release.error_model.assumption(tail)}"
        )
    return text


def _record(
    release: Release | ArrayRelease | GroupedRelease, level: float, tail: float | None
) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(release.to_json())
    if isinstance(release, GroupedRelease):
        for group, each in zip(record["groups"], release.values(), strict=True):
            group["release"] |= _interval(each, level, tail)
    elif isinstance(release, ArrayRelease) or (level, tail) != _USUAL:
        record |= _interval(release, level, tail)
    return record


def _interval(release: Release | ArrayRelease, level: float, tail: float | None) -> dict[str, Any]:
    said = {"interval_level": level, "interval_assumption": release.error_model.assumption(tail)}
    if isinstance(release, ArrayRelease):
        ends = release.interval(level, tail)
        return {"lower": ends.lower.tolist(), "upper": ends.upper.tolist(), **said}
    return {"interval": list(release.interval(level, tail)), **said}


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
