"""Options of verbs that write a release to files: a table, rounded and with its terms, and a page.

Every argument, and whether the files can be written, is checked before anything is charged.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from modicum.cli.options import Output, number
from modicum.errors import InvalidArgument, ModicumError
from modicum.releases import publishable
from modicum.releases.publishing import files

if TYPE_CHECKING:
    from modicum.releases.publishing.table import Publishing

_FORM = ("digits", "base", "suppress", "unreliable", "title", "citation", "rights")
_FLAGS = ("overwrite", "of_population")


def add_publishing(parser: argparse.ArgumentParser) -> None:
    """Add --publish and --report, and what goes with them."""
    group = parser.add_argument_group("a table to publish, and a page to sign")
    group.add_argument(
        "--publish",
        metavar="FILE.csv",
        help="also write the numbers, rounded and flagged, to this file, and what a reader has to "
        "know to FILE.csv-metadata.json",
    )
    group.add_argument(
        "--report",
        metavar="FILE.html",
        help="also write a page that needs nothing else: the numbers and intervals in words and "
        "as a picture, what they cost and assume, how to cite them, and the whole record",
    )
    group.add_argument("--wide", metavar="COLUMN", help="five columns for each of its labels")
    add_form(group)


def add_form(group: argparse._ArgumentGroup) -> None:
    """Add the options of a table and of a page."""
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
    group.add_argument(
        "--of-population",
        action="store_true",
        help="publish the intervals for the population, which --population buys",
    )
    group.add_argument("--title", help="in place of what was asked")
    group.add_argument("--citation", metavar="TEXT", help="how to cite the file")
    group.add_argument("--rights", metavar="TEXT", help="who may use the file, and how")
    group.add_argument("--author", metavar="TEXT", help="who answers for the numbers, on the page")


class PublishedFiles(NamedTuple):
    """Files that are to be written of a release, if any were asked for."""

    publishing: Publishing | None = None
    table: Path | None = None
    wide: str | None = None
    page: Path | None = None
    author: str | None = None
    overwrite: bool = False

    def output(self, record: publishable.Publishable, text: str, *, usable: bool) -> Output:
        """What to print of a record that was released: the files are written before.

        If one cannot be, the record is printed all the same: it is charged.
        """
        failed = []
        for write in (self._write_table, self._write_page):
            try:
                write(record)
            except ModicumError as error:
                failed.append(str(error))
        why = f"released and charged, but not published: {'; '.join(failed)}" if failed else ""
        return Output(text, usable, why)

    def _write_table(self, record: publishable.Publishable) -> None:
        if self.table is not None and self.publishing is not None:
            table = self.publishing.table(record)
            table.to_csv(self.table, wide=self.wide, overwrite=self.overwrite)

    def _write_page(self, record: publishable.Publishable) -> None:
        if self.page is not None and self.publishing is not None:
            from modicum.releases.publishing.report import Report

            report = Report.of(self.publishing, self.author)
            report.to_file(record, self.page, overwrite=self.overwrite)


def chosen_publication(arguments: argparse.Namespace) -> PublishedFiles:
    """Read the options, before anything is charged."""
    if arguments.publish is None and arguments.report is None:
        given = [name for name in (*_FORM, "wide", "author") if getattr(arguments, name)]
        given += [name for name in _FLAGS if getattr(arguments, name)]
        if given:
            option = given[0].replace("_", "-")
            raise InvalidArgument(f"--{option} needs --publish FILE.csv or --report FILE.html")
        return PublishedFiles()
    if arguments.wide is not None and arguments.publish is None:
        raise InvalidArgument("--wide needs --publish FILE.csv")
    if arguments.author is not None and arguments.report is None:
        raise InvalidArgument("--author needs --report FILE.html")
    by = getattr(arguments, "by", None)
    if arguments.wide is not None and by is not None and arguments.wide not in by:
        raise InvalidArgument(f"--wide must be a column of --by, got {arguments.wide!r}")
    if arguments.of_population and not getattr(arguments, "population", False):
        raise InvalidArgument("--of-population needs --population, which buys the intervals")
    publishing = chosen_form(arguments)
    overwrite: bool = arguments.overwrite
    table, page = _files(arguments, overwrite=overwrite)
    return PublishedFiles(publishing, table, arguments.wide, page, arguments.author, overwrite)


def chosen_form(arguments: argparse.Namespace) -> Publishing:
    """Read the options of a table and of a page."""
    from modicum.releases.publishing.table import Publishing

    return Publishing.of(
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


def refuse_publication(arguments: argparse.Namespace, why: str) -> None:
    """Refuse files where the answer is one itself."""
    for name in ("publish", "report"):
        if getattr(arguments, name) is not None:
            raise InvalidArgument(f"--{name}: {why}")


def _files(arguments: argparse.Namespace, *, overwrite: bool) -> tuple[Path | None, Path | None]:
    """The table and the page, which can be written, and are not the same file."""
    check = partial(files.checked_target, overwrite=overwrite)
    table = None if arguments.publish is None else check(arguments.publish, form=".csv")
    page = None if arguments.report is None else check(arguments.report, form=".html")
    if table is not None:
        beside = check(f"{table}-metadata.json")
        if page is not None and page.absolute() in {table.absolute(), beside.absolute()}:
            raise InvalidArgument("--publish and --report name the same file")
    return table, page


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
