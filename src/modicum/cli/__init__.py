"""The command ``modicum``."""

from __future__ import annotations

import argparse
import codecs
import functools
import io
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from modicum.cli.options import Output, Parser, actions_of
from modicum.cli.tasks import TASKS, by_task
from modicum.cli.wording import on_the_command_line
from modicum.errors import InvalidArgument, ModicumError
from modicum.statistics.contents import PLANNED
from modicum.version import VERSION

_DESCRIPTION = """\
Differentially private statistics of a file, with no bounds to guess.

The noise follows the spread of the data. A range that is certain to contain every value,
however wide, can be given; without one it is found privately. Files: .csv and .tsv (.gz,
.bz2 and .xz too), .parquet, .feather, .arrow, .orc, .xlsx, .dta, .sas7bdat, .xpt, .sav;
- is standard input.
"""

# The module of each verb that is not of a statistic, and of the others.
_STATISTICS = "statistics"
_HOMES: Mapping[str, str] = {
    "describe": "describe",
    "value-counts": "tables",
    "n-distinct": "tables",
    "crosstab": "tables",
    "check": "check",
    "plan": "plan",
    "run": "run",
    "report": "report",
    "ledger": "ledger",
    "completion": "completion",
}

_EXAMPLES = """\
modicum VERB --help tells the options of a verb.

examples:
  modicum mean people.parquet income --epsilon 1
  modicum sum people.csv income --within=0,1e9 --epsilon 0.5 --json
  modicum count people.csv --epsilon 0.1
  modicum quantile flights.csv delay --q 0.9 --epsilon 1
  modicum count views.parquet --by page --keys-file pages.parquet --epsilon 1 --to out.parquet
  modicum histogram people.csv age --edges 0,18,65,inf --epsilon 1
  modicum plan mean --n 100000 --sd 5e4 --error 500

Without --ledger every call is a release of its own: nothing adds up the costs of
several calls. `modicum ledger create` makes a budget that does.

exit status:
  0  done
  2  bad input: nothing was released or charged
  3  released and charged, but the answer cannot be used: the first line and the note
     say why, as do "usable" and "code" in JSON (of groups: 3 if no group can be used)
  4  released and charged, but not all was done: a file could not be written, or some
     questions of a file were refused
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on ``argv``, by default the arguments of the process.

    Returns
    -------
    int
        0; 3 if a release was made whose answer cannot be used, see
        :class:`modicum.releases.status.Status` (of groups: none of them can); 4 if one was made,
        and what was to be done with it could not; 2 for bad input, after one line on standard
        error; 130 if it was interrupted; 1 if nobody reads the output.
    """
    codecs.register_error("modicum", _spelled)
    given = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="modicum")
    arguments = argparse.Namespace()
    try:
        words = _words(given)
        arguments = _parser(*_verb_of(words)).parse_args(words)
        arguments.given = given
        output: Output = arguments.answer(arguments)
        print(output.text, flush=True)
        if output.failed:
            print("modicum: error:", _line(output.failed), file=sys.stderr)
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:  # whoever read the output has left; nothing is to be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ModicumError, OSError) as error:
        said = str(error)
        if given[:1] != ["run"]:  # a file of questions has fields
            known = {option for action in actions_of(_parser()) for option in action.option_strings}
            said = on_the_command_line(said, known)
        print("modicum: error:", _line(said), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("modicum: interrupted:", _of_interrupted(given, arguments), file=sys.stderr)
        return 130
    if output.failed:
        return 4
    return 0 if output.usable else 3


def _of_interrupted(given: Sequence[str], arguments: argparse.Namespace) -> str:
    """Say what was charged by a command that was interrupted."""
    if given[:1] == ["run"]:
        return "running the file again costs only what was not charged"
    if not hasattr(arguments, "charged"):
        return "nothing was released or charged"
    account, curator, before = arguments.charged
    charged = curator.spent - before
    if not (charged.amount or charged.delta):
        return f"nothing was released, and nothing was charged to account {account!r}"
    again = "" if arguments.key is None else "; the same command with the same --key goes on"
    return f"nothing was shown, and {charged} was charged to account {account!r}{again}"


_SPELLED = {
    "ε": "epsilon", "δ": "delta", "ρ": "rho", "±": "+-", "√": "sqrt", "×": "x", "²": "^2",
    "−": "-", "–": "-", "…": "...", "≤": "<=", "≥": ">=", "∞": "inf", "’": "'",
}  # fmt: skip


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Write letters that a console lacks in others, so that ε = 1 does not read ? = 1."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_SPELLED.get(each, "?") for each in letters), error.end


def _line(message: str) -> str:
    from modicum.privacy.ledger import store

    return store.without_passwords(" ".join(message.split()))


def _verb_of(words: Sequence[str]) -> Sequence[str]:
    """The verb that is asked for, and of ``plan`` the statistic, if there are such."""
    known = {verb for verbs in TASKS.values() for verb in verbs}
    if words[0] != "plan":
        return words[:1] if words[0] in known else ()
    planned = words[1] in known and words[1].replace("-", "_") in PLANNED
    return words[:2] if planned else words[:1]


def made_parser(*verb: str) -> Parser:
    """Make the parser of a verb, or of all: what others need is not even imported."""
    parser = Parser(
        prog="modicum",
        description=_DESCRIPTION,
        usage="modicum VERB FILE ... [options]",
        epilog=f"{by_task()}\n\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"modicum {VERSION}")
    verbs: Any = parser.add_subparsers(
        metavar="VERB", required=True, help=argparse.SUPPRESS, prog=parser.prog
    )
    homes = [_HOMES.get(verb[0], _STATISTICS)] if verb else [_STATISTICS, *_HOMES.values()]
    for home in dict.fromkeys(homes):
        _add_to(verbs, home, verb)
    return parser


def _add_to(verbs: Any, home: str, verb: Sequence[str]) -> None:
    """Add the verbs of a file, which is imported for it."""
    match home:
        case "describe":
            from modicum.cli import describe

            describe.add_to(verbs)
        case "tables":
            from modicum.cli import tables

            tables.add_to(verbs)
        case "check":
            from modicum.cli import check

            check.add_to(verbs)
        case "plan":
            from modicum.cli import plan

            plan.add_to(verbs, verb[1:])
        case "run":
            from modicum.cli import run

            run.add_to(verbs)
        case "report":
            from modicum.cli import report

            report.add_to(verbs)
        case "ledger":
            from modicum.cli import ledger

            ledger.add_to(verbs)
        case "completion":
            from modicum.cli import completion

            completion.add_to(verbs, made_parser)
        case _:
            from modicum.cli import statistics

            statistics.add_to(verbs, verb[:1])


_parser = functools.cache(made_parser)


def _words(argv: Sequence[str]) -> list[str]:
    """Write words as the parser wants them.

    ``--within -1e9,1e9`` becomes one word, or argparse takes the value for an option; names of
    statistics may have ``_``; no words, a verb of verbs alone, or ``help`` show the help.
    """
    if not argv or argv[0] == "help":
        argv = [*argv[1:], "--help"]
    if list(argv) in (["plan"], ["ledger"]):
        argv = [*argv, "--help"]
    verbs = 2 if argv[0] == "plan" else 1
    argv = [*(word.replace("_", "-") for word in argv[:verbs]), *argv[verbs:]]
    words: list[str] = []
    for word in argv:
        if word.startswith("--bounds"):
            raise InvalidArgument(
                "there is no --bounds, and none are needed: --within=LO,HI is for a public range "
                "that is certain to contain every value"
            )
        if re.match(r"-[\d.]", word) and words and re.fullmatch(r"--[a-z-]+", words[-1]):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words
