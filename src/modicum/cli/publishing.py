"""Options of verbs that write a released table to a file, rounded and with its terms."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from modicum.cli.options import Output, number
from modicum.errors import InvalidArgument, ModicumError
from modicum.publishing.answers import Publishable
from modicum.publishing.files import checked_target
from modicum.publishing.table import Publishing

_NEEDED = ("digits", "base", "suppress", "unreliable", "wide", "title", "citation", "rights")


def add_publishing(parser: argparse.ArgumentParser) -> None:
    """Add --publish and what goes with it."""
    group = parser.add_argument_group("a file to publish")
    group.add_argument(
        "--publish",
        metavar="FILE.csv",
        help="also write the numbers, rounded and flagged, to this file, and what a reader has to "
        "know to FILE.csv-metadata.json",
    )
    group.add_argument("--overwrite", action="store_true", help="replace files that are there")
    group.add_argument(
        "--digits",
        metavar="K",
        help="decimal places, such as 2, or -3 for thousands; auto (default): those that the "
        "interval supports; all",
    )
    group.add_argument("--base", metavar="B", help="round to multiples of it, such as 5")
    group.add_argument(
        "--suppress",
        metavar="RULE=X,...",
        help="leave out numbers: below=10, wider=0.5 (the interval, as a share of the value); "
        "answers that cannot be used are left out, unless unusable=no",
    )
    group.add_argument(
        "--unreliable", metavar="RULE=X,...", help="mark numbers: below=10, wider=0.2"
    )
    group.add_argument("--wide", metavar="COLUMN", help="five columns for each of its labels")
    group.add_argument(
        "--of-population",
        action="store_true",
        help="publish the intervals for the population, which --population buys",
    )
    group.add_argument("--title", help="in place of what was asked")
    group.add_argument("--citation", metavar="TEXT", help="how to cite the file")
    group.add_argument("--rights", metavar="TEXT", help="who may use the file, and how")


class PublishedFile(NamedTuple):
    """A file that is to be written, if one was asked for."""

    path: Path | None
    publishing: Publishing | None
    wide: str | None
    overwrite: bool

    def output(self, record: Publishable, text: str, *, usable: bool) -> Output:
        """What to print of a record that was released: the file is written before.

        If it cannot be, the record is printed all the same: it is charged.
        """
        if self.path is None or self.publishing is None:
            return Output(text, usable)
        try:
            table = self.publishing.table(record)
            table.to_csv(self.path, wide=self.wide, overwrite=self.overwrite)
        except ModicumError as error:
            return Output(text, usable, f"released and charged, but not published: {error}")
        return Output(text, usable)


def chosen_publication(arguments: argparse.Namespace) -> PublishedFile:
    """Read the options, before anything is charged."""
    if arguments.publish is None:
        given = [name for name in _NEEDED if getattr(arguments, name) is not None]
        given += [name for name in ("overwrite", "of_population") if getattr(arguments, name)]
        if given:
            option = given[0].replace("_", "-")
            raise InvalidArgument(f"--{option} needs --publish FILE.csv")
        return PublishedFile(None, None, None, overwrite=False)
    by = getattr(arguments, "by", None)
    if arguments.wide is not None and by is not None and arguments.wide not in by:
        raise InvalidArgument(f"--wide must be a column of --by, got {arguments.wide!r}")
    if arguments.of_population and not getattr(arguments, "population", False):
        raise InvalidArgument("--of-population needs --population, which buys the intervals")
    publishing = Publishing.of(
        digits=_digits(arguments.digits),
        base=arguments.base,
        suppress=_rules(arguments.suppress, "suppress"),
        unreliable=_rules(arguments.unreliable, "unreliable"),
        level=getattr(arguments, "level", None) or 0.95,
        tail=getattr(arguments, "tail", "auto"),
        population=arguments.of_population,
        title=arguments.title,
        citation=arguments.citation,
        rights=arguments.rights,
    )
    overwrite: bool = arguments.overwrite
    path = checked_target(arguments.publish, overwrite=overwrite)
    checked_target(f"{path}-metadata.json", overwrite=overwrite)
    return PublishedFile(path, publishing, arguments.wide, overwrite)


def _digits(text: str | None) -> Any:
    if text in {None, "auto"}:
        return "auto"
    if text == "all":
        return None
    try:
        return int(str(text))
    except ValueError:
        raise InvalidArgument(
            f"--digits must be a whole number, auto or all, got {text!r}"
        ) from None


def _rules(text: str | None, name: str) -> dict[str, object] | None:
    if text is None:
        return None
    rules: dict[str, object] = {}
    for each in text.split(","):
        rule, _, value = each.partition("=")
        if value in {"yes", "no"}:
            rules[rule.strip()] = value == "yes"
            continue
        try:
            rules[rule.strip()] = number(value)
        except argparse.ArgumentTypeError:
            raise InvalidArgument(
                f"--{name} must be rules such as below=10,wider=0.5, got {text!r}"
            ) from None
    return rules
