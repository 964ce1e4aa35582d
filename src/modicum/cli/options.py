"""What verbs share: options of the file, the budget, who is protected and the account; output."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from modicum.api.curator import Curator
from modicum.errors import InvalidArgument, ModicumError, did_you_mean
from modicum.privacy.budget import Budget, approx, pure, zcdp
from modicum.privacy.unit import Unit, unit_of
from modicum.releases.confidence import Tail
from modicum.sources import files
from modicum.sources.base import Source
from modicum.sources.formats import copied
from modicum.statistics.options import LEAST_LEVEL

if TYPE_CHECKING:
    from modicum.privacy.ledger.book import Ledger
    from modicum.sources.conditions.view import View

T = TypeVar("T")
LEDGER = "MODICUM_LEDGER"
ACCOUNT = "MODICUM_ACCOUNT"
_TABS = {"tab", "\\t"}
TABLE = "the table: .csv, .parquet, .xlsx and others; - is standard input"


class Output(NamedTuple):
    """Text for standard output, and whether the answer in it can be used.

    ``failed`` says what could not be done after the answer was released and charged.
    """

    text: str
    usable: bool = True
    failed: str = ""


def _checked(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Turn the errors of a parser into argparse's, which name the option."""

    def convert(text: str) -> T:
        try:
            return parse(text)
        except ModicumError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


_REQUIRED = {
    "--within": ", a range that is certain to contain every value, as wide as you like, such as "
    "--within=-1e9,1e9",
    "--q": ", such as --q 0.9",
    "--trim": ", the share left out on each side, such as --trim 0.05",
    "--denominator": ", the column to divide by",
    "--target": ", the column that is explained by the others",
    "--sd": ", your guess of the standard deviation",
    "required: COLUMN": ": `modicum check FILE` lists the columns",
}


_ELSEWHERE = {
    "--column": "COLUMN is the word after FILE",
    "--confidence": "the level of the interval is --level 0.9",
    "--group-by": "--by COLUMN, with --keys A,B",
    "--html": "--report FILE.html writes a page",
    "--person": "--unit-column ID names the column that says whose a row is",
    "--plot": "pictures are drawn in Python, by plot() of a release",
    "--seed": "secret draws have no seed",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are :class:`~modicum.errors.InvalidArgument`.

    They name what was meant, and each verb's errors the help of that verb.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        if "are required" in message:
            message += "".join(how for option, how in _REQUIRED.items() if option in message)
        raise InvalidArgument(f"{message} (see {self.prog} --help)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown arguments here, where it is known which verb was meant."""
        if self._subparsers is None:
            known = self._option_string_actions
            before = ""
            for word in args or ():
                name, equals, value = word.partition("=")
                takes = before in known and known[before].nargs != 0
                if equals and not takes and f"--{name.replace('_', '-')}" in known:
                    self.error(f"{word!r} is written '--{name.replace('_', '-')} {value}'")
                before = word
                option = word.partition("=")[0]
                if option.startswith("--") and " " not in option and option not in {"--", *known}:
                    said = _ELSEWHERE.get(option)
                    meant = did_you_mean(option, known) if said is None else f": {said}"
                    self.error(f"unrecognized argument {option}{meant}")
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            several = ": name all columns together, as A B or A,B" * ("several" in found)
            column = getattr(found, "column", None)
            if (
                isinstance(column, str) and Path(column).is_file()
            ):  # a shell has spelt a pattern out
                several = (
                    ": several files are one table as a pattern in quotes, such as 'data/*.csv'"
                )
            self.error(f"unrecognized arguments: {' '.join(rest)}{several}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(each) for each in action.choices]
            meant = did_you_mean(str(value), known) or f" (choose from {', '.join(known)})"
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{meant}")


def actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Return every option and argument of a parser and of its verbs."""
    for action in parser._actions:  # noqa: SLF001 -- argparse tells nobody else
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each in action.choices.values():
                yield from actions_of(each)


def columns_of(words: Iterable[str], names: Collection[str] = ()) -> list[str]:
    """Return columns that are named as ``A B`` or as ``A,B``; a comma may be part of a name."""
    return [
        name for word in words for name in ([word] if word in names else word.split(",")) if name
    ]


def add_data(parser: argparse.ArgumentParser, *, column: str | None) -> None:
    """Add FILE and COLUMN (as ``nargs`` of argparse), and the account to charge."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help=TABLE,
    )
    parser.add_argument("column", metavar="COLUMN", nargs=column, help="name of the column")
    add_csv(parser)
    add_account(parser)


def add_csv(parser: argparse.ArgumentParser) -> None:
    """Add the options; with any of them, FILE is CSV unless its name is that of a workbook."""
    group = parser.add_argument_group("how a CSV file or a workbook is written")
    group.add_argument(
        "--separator", metavar="C", help="between cells, such as ';' or tab (default: a comma)"
    )
    group.add_argument("--decimal", metavar="C", help="the decimal point: . (default) or ,")
    group.add_argument(
        "--thousands", metavar="C", help="what groups digits by three: one of , . ' _ or a space"
    )
    group.add_argument(
        "--negative",
        metavar="EXAMPLE",
        help="how a negative number may be written besides -5: '5-' or '(5)'",
    )
    group.add_argument("--encoding", metavar="NAME", help="such as cp1252 (default: utf-8)")
    group.add_argument(
        "--columns", metavar="A,B,...", help="names of the columns of a file without a header"
    )
    group.add_argument(
        "--row-names",
        action="store_true",
        help="rows begin with a name that the header does not name, as R writes them",
    )
    group.add_argument("--skip", metavar="K", type=whole, help="leave out K lines above the header")
    group.add_argument(
        "--sheet", metavar="NAME", help="of a workbook, or its number (default: 1, the first)"
    )
    group.add_argument(
        "--one-line-rows",
        action="store_true",
        help="no cell holds a line end: every line is a row, whatever quotes there are",
    )
    group.add_argument(
        "--escape",
        metavar="C",
        help="takes the meaning of a quote or separator behind it, such as '\\' (default: none; "
        "quotes are doubled)",
    )
    group.add_argument(
        "--comment", metavar="C", help="what a line begins with that is no row, such as '#'"
    )


def add_views(parser: argparse.ArgumentParser) -> None:
    """Add --with and --where."""
    group = parser.add_argument_group("which rows, and columns made of others")
    group.add_argument(
        "--where",
        metavar="CONDITION",
        help="only rows for which this is true, such as \"age >= 18 and region == 'North'\"",
    )
    group.add_argument(
        "--with",
        dest="made",
        metavar="NAME=EXPRESSION",
        action="append",
        default=[],
        type=_made,
        help="make a column first, such as bmi='weight / height ** 2'; may be given again",
    )


def chosen_views(arguments: argparse.Namespace) -> list[View]:
    """Read --with, one after the other, then --where."""
    if not arguments.made and arguments.where is None:
        return []
    from modicum.sources.conditions.view import View

    views = [View(None, (each,)) for each in arguments.made]
    return views if arguments.where is None else [*views, View(arguments.where)]


def viewed(curator: Curator, arguments: argparse.Namespace) -> Curator:
    """Return the curator of the rows and columns that were asked for."""
    for view in chosen_views(arguments):
        made = dict(view.columns)
        curator = curator.with_columns(**made) if made else curator.where(str(view.condition))
    return curator


def names_of(arguments: argparse.Namespace, source: Source) -> list[str]:
    """Return the columns that there are: of the table, and made ones."""
    return [*source.names, *(name for view in chosen_views(arguments) for name, _ in view.columns)]


def opened(arguments: argparse.Namespace) -> Source:
    """Open FILE as the options say."""
    names = (
        "separator", "decimal", "thousands", "negative", "encoding", "escape", "comment", "skip",
        "sheet",
    )  # fmt: skip
    chosen: dict[str, Any] = {
        name: value for name in names if (value := getattr(arguments, name)) is not None
    }
    if chosen.get("separator") in _TABS:
        chosen["separator"] = "\t"
    if arguments.columns is not None:
        chosen["columns"] = arguments.columns.split(",")
    if arguments.one_line_rows:
        chosen["multiline"] = False
    if arguments.row_names:
        chosen["row_names"] = True
    if arguments.file == "-":
        arguments.copy = _standard_input()
        arguments.file = arguments.copy.path
    return files.open_as(arguments.file, chosen)


def _standard_input() -> copied.Copy:
    """Copy standard input, for a release may read its data again; Parquet begins with PAR1."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidArgument("- is standard input, and nothing is piped into it")
    stream = io.BufferedReader(sys.stdin.buffer)  # type: ignore[type-var]
    suffix = ".parquet" if stream.peek(4)[:4] == b"PAR1" else ".csv"
    return copied.Copy.of_stream(stream, "standard input", suffix)


def add_ledger(parser: argparse._ActionsContainer) -> None:
    """Add --ledger."""
    parser.add_argument(
        "--ledger",
        metavar="URL",
        help="sqlite:///FILE or postgresql://USER@HOST/DATABASE (default: the environment variable "
        f"{LEDGER}, which other users of the machine cannot see)",
    )


def add_account(parser: argparse.ArgumentParser) -> None:
    """Add --ledger, --account and --key."""
    group = parser.add_argument_group("what is charged, over all calls")
    add_ledger(group)
    group.add_argument(
        "--account", metavar="NAME", help=f"its account that is charged (default: {ACCOUNT})"
    )
    group.add_argument(
        "--key",
        metavar="TEXT",
        help="answer once: the same question with the same key gets the recorded answer again",
    )


def chosen_ledger(arguments: argparse.Namespace) -> Ledger:
    """Open the ledger that was named."""
    from modicum.privacy.ledger.book import Ledger

    return Ledger(chosen_url(arguments))


def chosen_url(arguments: argparse.Namespace) -> str:
    """Return the URL of the ledger that was named."""
    url = arguments.ledger or os.environ.get(LEDGER)
    if not url:
        raise InvalidArgument(f"name a ledger: --ledger URL, or the environment variable {LEDGER}")
    return str(url)


def charged_curator(
    arguments: argparse.Namespace, source: Source, unit: Unit | None, cost: Budget
) -> tuple[Curator, bool]:
    """Return the curator, and whether a ledger counts the release.

    Without a ledger the budget is that of this one release: nothing counts several calls together.
    """
    account = arguments.account or os.environ.get(ACCOUNT)
    if not (arguments.ledger or os.environ.get(LEDGER)):
        if arguments.account is not None or arguments.key is not None:
            raise InvalidArgument(f"--account and --key need --ledger, or {LEDGER}")
        return Curator(source, unit=unit, budget=cost), False
    if not account:
        raise InvalidArgument(f"name the account to charge: --account NAME, or {ACCOUNT}")
    curator = Curator(source, unit=unit, ledger=chosen_ledger(arguments), account=account)
    arguments.charged = account, curator, curator.spent  # told if it is interrupted
    return (curator if arguments.key is None else curator.idempotent(arguments.key)), True


def add_range(parser: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """Add --within and --step; ``needed`` if the statistic requires a range."""
    parser.add_argument(
        "--within",
        metavar="LO,HI",
        type=_range,
        required=needed,
        help="a public range certain to contain every value, as wide as you like"
        + "; without it one is found privately" * (not needed),
    )
    add_step(parser)


def add_step(parser: argparse.ArgumentParser) -> None:
    """Add --step."""
    parser.add_argument(
        "--step",
        type=_step,
        help="round values to multiples of this power of two, such as 0.25 or 2^-10",
    )


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Add --by and the options that say which groups there are."""
    group = parser.add_argument_group("groups")
    group.add_argument(
        "--by",
        metavar="COLUMN",
        action="append",
        help="release one answer for every key in this column; may be given again: keys are then "
        "combinations",
    )
    add_keys(group, "once for each --by")
    group.add_argument(
        "--pooled",
        choices=("auto", "yes", "no"),
        help="whether means of groups share what is alike: bounds that all find together, and "
        "shrinkage; and whether persons are bounded in all groups at once (default auto: for means "
        "of 30 groups or more, and sums and counts of 10 groups of persons or more)",
    )


def add_keys(group: argparse._ArgumentGroup, times: str) -> None:
    """Add the options that say which keys there are, or how they are drawn."""
    group.add_argument(
        "--keys",
        metavar="A,B,...",
        action="append",
        help="the keys: known beforehand, not taken from the data; other rows are left out; "
        + times,
    )
    group.add_argument(
        "--key-epsilon",
        metavar="E",
        help="in place of --keys: draw which keys are shown, for this ε on top of the cost",
    )
    group.add_argument("--key-delta", metavar="D", help="with --key-epsilon: its δ, such as 1e-9")
    group.add_argument(
        "--max-groups",
        metavar="K",
        type=whole,
        help="with --unit-column: a person counts in at most K groups (default: K is found)",
    )


def add_level(parser: argparse.ArgumentParser | argparse._ArgumentGroup, *, drawn: bool) -> None:
    """Add --level; it may be none where an interval is ``drawn``, for a part of the budget."""
    none = "; none: draw no interval, for a more accurate answer" if drawn else ""
    parser.add_argument(
        "--level",
        type=_drawn_level if drawn else _level,
        default=LEAST_LEVEL,
        help=f"confidence of the interval (default {LEAST_LEVEL:g}){none}",
    )


def add_cost(parser: argparse.ArgumentParser) -> None:
    """Add the budget, and the options that say who is protected."""
    group = parser.add_argument_group("cost")
    group.add_argument("--epsilon", metavar="E", help="total ε, such as 1, 0.1 or 1/3")
    group.add_argument("--rho", metavar="R", help="total ρ of zCDP, instead of ε")
    group.add_argument("--delta", metavar="D", help="with --epsilon: an (ε, δ) cost")
    group.add_argument(
        "--rows-per-person",
        metavar="M",
        type=whole,
        help="protect a person who has at most M rows, as you declare (default 1)",
    )
    group = parser.add_argument_group("who is protected, if a column says whose a row is")
    group.add_argument(
        "--unit-column",
        metavar="ID",
        help="the column, such as person_id; with it alone all rows of a person count",
    )
    group.add_argument(
        "--max-rows", metavar="M", type=whole, help="keep at most M rows of each person"
    )
    group.add_argument(
        "--order-by",
        metavar="C",
        help="with --max-rows: keep the rows with the lowest C (default: a random choice)",
    )
    group.add_argument(
        "--combine", choices=("mean", "sum"), help="make one record of each person's rows"
    )


def add_output(parser: argparse.ArgumentParser, *, drawn: bool = False, tail: bool = False) -> None:
    """Add --json, --explain, --level and, for statistics that clip values, --tail."""
    group = parser.add_argument_group("output")
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--explain", action="store_true", help="also tell every draw and its cost")
    add_level(group, drawn=drawn)
    parser.set_defaults(tail="auto")
    if tail:
        add_tail(group)


def add_tail(group: argparse._ArgumentGroup) -> None:
    """Add --tail."""
    group.add_argument(
        "--tail",
        type=_tail,
        default="auto",
        help="assumed tail index of clipped values, or none to cover the clipped data only "
        "(default auto: what the released numbers show, 3 at most)",
    )


def chosen_cost(arguments: argparse.Namespace) -> Budget | None:
    """Read the budget of the release; None if there is none."""
    epsilon, rho, delta = arguments.epsilon, arguments.rho, arguments.delta
    if epsilon is not None and rho is not None:
        raise InvalidArgument("give --epsilon or --rho, not both")
    if delta is not None:
        if epsilon is None:
            raise InvalidArgument("--delta needs --epsilon")
        return approx(epsilon, delta)
    if rho is not None:
        return zcdp(rho)
    return None if epsilon is None else pure(epsilon)


def chosen_unit(arguments: argparse.Namespace) -> Unit:
    """Read who is protected."""
    rows = arguments.rows_per_person
    person = (arguments.unit_column, arguments.max_rows, arguments.order_by, arguments.combine)
    column, most, order, combine = person
    if column is None:
        rows = 1 if rows is None else rows
        if any(each is not None for each in person):
            raise InvalidArgument("--max-rows, --order-by and --combine need --unit-column")
    elif rows is not None:
        raise InvalidArgument("give --rows-per-person or --unit-column, not both")
    elif most is not None and combine is not None:
        raise InvalidArgument("give --max-rows or --combine, or neither for all rows of a person")
    elif most is None and order is not None:
        raise InvalidArgument("--order-by says which rows are kept: give --max-rows too")
    return unit_of(column, rows=rows, max_rows=most, order_by=order, combine=combine)


def drawn_level(arguments: argparse.Namespace) -> float | None:
    """Level at which the ends of an interval are drawn: at least that of the summary."""
    return None if arguments.level is None else max(LEAST_LEVEL, arguments.level)


def shown_level(arguments: argparse.Namespace) -> float:
    """Level of the interval to show."""
    return LEAST_LEVEL if arguments.level is None else float(arguments.level)


@_checked
def number(text: str) -> float:
    """Read one number."""
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"must be a number, got {text!r}") from None


@_checked
def _made(text: str) -> tuple[str, str]:
    name, mark, expression = text.partition("=")
    if not (name.strip() and mark and expression.strip()):
        raise InvalidArgument(f"must be a name, = and an expression, got {text!r}")
    return name.strip(), expression.strip()


@_checked
def _range(text: str) -> tuple[float, float]:
    ends = text.split(",")
    try:
        lo, hi = (float(end) for end in ends)
    except ValueError:
        raise InvalidArgument(
            f"must be two numbers and a comma, such as -1e9,1e9, got {text!r}"
        ) from None
    return lo, hi


@_checked
def _step(text: str) -> float:
    base, _, exponent = text.partition("^")
    try:
        return float(Fraction(base) ** int(exponent)) if exponent else float(text)
    except (ValueError, ArithmeticError):
        raise InvalidArgument(f"must be a number such as 0.25 or 2^-10, got {text!r}") from None


@_checked
def whole(text: str) -> int:
    """Read one whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise InvalidArgument(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


@_checked
def _level(text: str) -> float:
    if 0 < (level := _float(text)) < 1:
        return level
    percent = f": in percent that is {level / 100:g}" if 1 < level < 100 else ""
    raise InvalidArgument(f"must lie strictly between 0 and 1, got {text!r}{percent}")


def _drawn_level(text: str) -> float | None:
    return None if text == "none" else _level(text)


@_checked
def _tail(text: str) -> Tail:
    if text == "none":
        return None
    if text == "auto":
        return "auto"
    if 1 < (tail := _float(text)) < float("inf"):
        return tail
    raise InvalidArgument(f"must be a number above 1, auto or none, got {text!r}")


def _float(text: str) -> float:
    """Read a number, and what is none as NaN, which lies in no interval."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
