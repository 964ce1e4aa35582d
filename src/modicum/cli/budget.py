"""Options that say which account of which ledger pays."""

from __future__ import annotations

import argparse
import os

from modicum.curator import Curator
from modicum.errors import InvalidArgument
from modicum.frames.base import Source
from modicum.privacy.budget import Budget
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit

__all__ = [
    "ACCOUNT",
    "LEDGER",
    "add_account",
    "add_ledger",
    "chosen_ledger",
    "chosen_url",
    "paying_curator",
]

LEDGER = "MODICUM_LEDGER"
ACCOUNT = "MODICUM_ACCOUNT"


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
    group = parser.add_argument_group("who pays, over all calls")
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
    return Ledger(chosen_url(arguments))


def chosen_url(arguments: argparse.Namespace) -> str:
    """Return the URL of the ledger that was named."""
    url = arguments.ledger or os.environ.get(LEDGER)
    if not url:
        raise InvalidArgument(f"name a ledger: --ledger URL, or the environment variable {LEDGER}")
    return str(url)


def paying_curator(
    arguments: argparse.Namespace, source: Source, unit: Unit | None, price: Budget
) -> tuple[Curator, bool]:
    """Return who answers, and whether a ledger counts it.

    Without a ledger the budget is that of this one release: nothing counts several calls together.
    """
    account = arguments.account or os.environ.get(ACCOUNT)
    if not (arguments.ledger or os.environ.get(LEDGER)):
        if arguments.account is not None or arguments.key is not None:
            raise InvalidArgument(f"--account and --key need --ledger, or {LEDGER}")
        return Curator(source, unit=unit, budget=price), False
    if not account:
        raise InvalidArgument(f"name the account that pays: --account NAME, or {ACCOUNT}")
    curator = Curator(source, unit=unit, ledger=chosen_ledger(arguments), account=account)
    return (curator if arguments.key is None else curator.idempotent(arguments.key)), True
