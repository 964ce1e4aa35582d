"""The verb ``report``: a page about a release that was printed with ``--json``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from modicum.cli import options, publishing, tasks
from modicum.errors import InvalidArgument
from modicum.releases import publishable
from modicum.releases.publishing import files
from modicum.releases.publishing.report import Report

_DESCRIPTION = """\
Write a page about a release: the numbers and intervals in words and as a picture, what
they cost and assume, what they do not say, how to cite them, and the whole record. It
needs no network and costs nothing. The release is JSON, as --json prints it, to_json()
writes it, and `modicum run` leaves it in its folder.
"""


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "report",
        help=tasks.words_of("report"),
        description=_DESCRIPTION,
        epilog="example: modicum report income.json --out income.html --author 'Statistics Office'",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="RELEASE.json", help="- is standard input")
    parser.add_argument("--out", metavar="FILE.html", required=True, help="the page")
    group = parser.add_argument_group("output")
    options.add_level(group, drawn=False)
    options.add_tail(group)
    publishing.add_form(group)
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> options.Output:
    report = Report.of(publishing.chosen_form(arguments), arguments.author)
    target = files.checked_target(arguments.out, overwrite=arguments.overwrite, form=".html")
    record: publishable.Publishable = publishable.Publishable.from_json(_read(arguments.file))
    report.to_file(record, target, overwrite=arguments.overwrite)
    return options.Output(f"wrote {target}")


def _read(path: str) -> str:
    if path == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise InvalidArgument("- is standard input, and nothing is piped into it")
        return sys.stdin.read()
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidArgument(
            f"{path} is no text: a release is JSON, as --json prints it"
        ) from None
