"""The verb ``run``: a file of questions, checked, planned, costed or answered."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from modicum.cli.options import ACCOUNT, Output, add_ledger, chosen_ledger
from modicum.cli.tasks import words_of
from modicum.errors import InvalidArgument
from modicum.questions.file import QuestionFile, read

_DESCRIPTION = """\
Answer the questions of a TOML file, each once, and charge them to an account of a
ledger. The whole file is checked first: if a question cannot be asked, or all of
them cost more than is left, nothing is. A file can be run again: what was answered
gets its recorded answer, at no cost.
"""


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "run",
        help=words_of("run"),
        description=_DESCRIPTION,
        epilog="example: modicum run survey.toml --ledger sqlite:///budget.db",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a TOML file of questions")
    parser.add_argument("--table", metavar="FILE", help="in place of the field table")
    parser.add_argument(
        "--out", metavar="FOLDER", help="of the answers (default: FILE without .toml, and -answers)"
    )
    group = parser.add_argument_group("what is charged")
    add_ledger(group)
    group.add_argument(
        "--account",
        metavar="NAME",
        help=f"in place of the field account (if neither is given: {ACCOUNT})",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--plan",
        action="store_true",
        help="print predicted errors and costs; reads no table and spends nothing",
    )
    what.add_argument(
        "--check",
        action="store_true",
        help="check all questions against the table and the ledger; spends nothing",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> Output:
    file = read(arguments.file)
    if arguments.plan:
        plans = file.plan()
        return Output(plans.to_json() if arguments.json else str(plans))
    ledger, account = chosen_ledger(arguments), _account(arguments, file)
    if arguments.check:
        if arguments.json:
            raise InvalidArgument("--check prints text: leave --json out")
        return Output(str(file.cost(arguments.table, ledger=ledger, account=account)))
    done = file.run(
        arguments.table, ledger=ledger, account=account, out=arguments.out, progress=_told
    )
    left = [each.question.name for each in done.askings if each.state != "answered"]
    failed = (
        f"not all was done: {', '.join(left)}; the others are, and running the file again costs "
        "only what was not charged"
    )
    text = done.to_json() if arguments.json else str(done)
    return Output(text, done.usable, failed if left else "")


def _account(arguments: argparse.Namespace, file: QuestionFile) -> str | None:
    named: str | None = arguments.account
    return named or file.account or os.environ.get(ACCOUNT)


def _told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
