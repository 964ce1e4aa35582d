"""``modicum ledger``: accounts of budgets, and what has been charged to them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from modicum.cli import options, tasks
from modicum.errors import InvalidArgument
from modicum.privacy.budget import Budget
from modicum.privacy.ledger import book, chain
from modicum.releases.publishing import files, ledger_report

_DESCRIPTION = """\
Budgets that outlive a process. A ledger is a file or a data base with accounts, one for
each set of people; every release about them is charged to its account before it is drawn.
"""


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "ledger",
        help=tasks.words_of("ledger"),
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    create = _action(actions, "create", _create, "make an account, and the ledger if need be")
    _add_account(create)
    options.add_cost(create)

    show = _action(actions, "show", _show, "accounts, or all entries of one")
    _add_account(show)
    show.add_argument("--json", action="store_true", help="print one JSON object")

    what = "a page about an account, or all of them, to read, print and sign"
    report = _action(actions, "report", _report, what)
    _add_account(report)
    report.add_argument("--out", metavar="FILE.html", help="the page (default: it is printed)")
    report.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    report.add_argument("--title", help="in place of the name of the account")
    report.add_argument("--author", metavar="TEXT", help="who answers for the account")

    verify = _action(actions, "verify", _verify, "check every hash, chain, total and release")
    verify.add_argument(
        "--against", metavar="FILE", help="an earlier export, all of which must still be there"
    )

    grant = _action(actions, "grant", _grant, "add to the budget of an account")
    _add_account(grant)
    for option, what in (("--epsilon", "E"), ("--rho", "R"), ("--delta", "D")):
        grant.add_argument(option, metavar=what)
    grant.add_argument("--note", default="", help="why; it is kept with the entry")

    _action(actions, "export", _export, "print every entry as a line of JSON")
    what = "take over the accounts of an export; makes the ledger if need be"
    take = _action(actions, "import", _import, what)
    take.add_argument("file", metavar="FILE")


def _action(actions: Any, name: str, answer: Any, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + "."
    )
    options.add_ledger(parser)
    parser.set_defaults(answer=lambda arguments: options.Output(answer(arguments)))
    return parser


def _add_account(parser: argparse.ArgumentParser) -> None:
    """Add ACCOUNT, and --account as where a release is charged."""
    parser.add_argument("account", metavar="ACCOUNT", nargs="?", help="its name, such as patients")
    parser.add_argument("--account", metavar="NAME", dest="named", help="the same")


def _account(arguments: argparse.Namespace) -> str | None:
    name, named = arguments.account, arguments.named
    if name is not None and named is not None:
        raise InvalidArgument(f"name one account, not both {name!r} and {named!r}")
    found: str | None = name if named is None else named
    return found


def _needed_account(arguments: argparse.Namespace) -> str:
    name = _account(arguments)
    if name is None:
        raise InvalidArgument("name the account: --account NAME, such as --account patients")
    return name


def _amount(arguments: argparse.Namespace) -> Budget:
    budget = options.chosen_cost(arguments)
    if budget is None:
        raise InvalidArgument("an amount is needed: --epsilon, --rho, or --epsilon and --delta")
    return budget


def _create(arguments: argparse.Namespace) -> str:
    name, budget, unit = (
        _needed_account(arguments),
        _amount(arguments),
        options.chosen_unit(arguments),
    )
    ledger = book.Ledger.create(options.chosen_url(arguments))
    return _line(ledger.open_account(name, budget, unit=unit))


def _grant(arguments: argparse.Namespace) -> str:
    name, amount = _needed_account(arguments), _amount(arguments)
    return _line(options.chosen_ledger(arguments).grant(name, amount, note=arguments.note))


def _show(arguments: argparse.Namespace) -> str:
    name, ledger = _account(arguments), options.chosen_ledger(arguments)
    if name is None:
        states = ledger.accounts()
        if arguments.json:
            return json.dumps(
                {"ledger": ledger.url, "accounts": [_fields(each) for each in states]}
            )
        return "\n".join([f"ledger {ledger.url}", *(f"  {_line(each)}" for each in states)])
    state, entries = ledger.account(name), ledger.entries(name)
    if arguments.json:
        return json.dumps(_fields(state) | {"entries": [each.to_dict() for each in entries]})
    return "\n".join([_line(state), *(_entry(each, state) for each in entries)])


def _report(arguments: argparse.Namespace) -> str:
    name, ledger = _account(arguments), options.chosen_ledger(arguments)
    target = None
    if arguments.out is not None:
        target = files.checked_target(arguments.out, overwrite=arguments.overwrite)
    names = [each.name for each in ledger.accounts()] if name is None else [name]
    if not names:
        raise InvalidArgument(f"the ledger {ledger.url} has no accounts")
    accounts = [ledger_report.Account(ledger.entries(each)) for each in names]
    page = ledger_report.ledger_page(
        ledger.url, accounts, title=arguments.title, author=arguments.author
    )
    if target is None:
        return page
    files.write_whole({target: page})
    return f"wrote {target}"


def _verify(arguments: argparse.Namespace) -> str:
    copy = [] if arguments.against is None else _lines(arguments.against)
    return str(options.chosen_ledger(arguments).verify(copy))


def _export(arguments: argparse.Namespace) -> str:
    return "\n".join(options.chosen_ledger(arguments).export())


def _import(arguments: argparse.Namespace) -> str:
    lines = _lines(arguments.file)
    return f"took over {book.Ledger.create(options.chosen_url(arguments)).load(lines)}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def _line(state: chain.AccountState) -> str:
    return f"{state}, {state.remaining} left; protects {state.unit}"


def _fields(state: chain.AccountState) -> dict[str, object]:
    return {
        "account": state.name,
        "budget": repr(state.budget),
        "spent": repr(state.spent),
        "remaining": repr(state.remaining),
        "unit": str(state.unit),
        "head": state.head,
    }


def _entry(record: chain.LedgerEntry, state: chain.AccountState) -> str:
    said = {"create": "first grant", "grant": record.body, "release": f"of {record.charge}"}
    what = said.get(record.action, "")
    if record.action == "charge":
        key = "" if record.key is None else f", key {record.key!r}"
        what = " ".join(ledger_report.in_words(ledger_report.request_of(record)).split()) + key
    amount = "" if record.action == "release" else str(record.units.budget(state.budget.kind))
    return (
        f"  {record.seq:>4}  {record.at}  {record.who:12}  {record.action:8}  {amount}  {what}"
    ).rstrip()
