"""A page about accounts of a ledger: what was granted, who charged what when, and what is left.

It has what the ledger stores and nothing else. Releases are not on it: each has a page of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from modicum.privacy.ledger.chain import LedgerEntry, Terms, Units
from modicum.releases.publishing import page as html
from modicum.releases.publishing import picture
from modicum.version import VERSION

SCHEMA = "modicum.ledger-report/1"
_LISTED = 500  # entries of a table
_SAYS = (
    "Requests that were refused, and requests that were repeated under the same key, cost nothing "
    "and are not stored.",
    "A charge without a release was lost when its process ended, or its release is still being "
    "drawn. It stays charged.",
    "What was charged elsewhere about the same people adds up with this, and is not here.",
)


@dataclass(frozen=True, slots=True)
class Account:
    """The entries of an account, in order, and what follows from them."""

    entries: tuple[LedgerEntry, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.entries[0].account

    @property
    def terms(self) -> Terms:
        """The currency, and who is protected."""
        return Terms.of(self.entries[0])

    def amount(self, units: Units) -> str:
        """Write an amount in the account's currency."""
        return str(units.budget(self.terms.kind))

    @property
    def granted(self) -> Units:
        """All grants."""
        return self.entries[-1].total_granted

    @property
    def spent(self) -> Units:
        """All charges."""
        return self.entries[-1].total_spent

    @property
    def left(self) -> Units:
        """What is left."""
        return Units(self.granted.amount - self.spent.amount, self.granted.delta - self.spent.delta)

    @property
    def charges(self) -> list[LedgerEntry]:
        """The charges, in order."""
        return [each for each in self.entries if each.action == "charge"]

    def to_dict(self) -> dict[str, object]:
        """Totals and entries as JSON types; of releases the hash, and not the numbers."""
        entries = []
        for each in self.entries:
            said = each.to_dict()
            if each.action == "release":
                said["body_sha256"] = hashlib.sha256(said.pop("body").encode()).hexdigest()
            entries.append(said)
        return {
            "account": self.name,
            "kind": self.terms.kind,
            "unit": str(self.terms.unit),
            "granted": self.amount(self.granted),
            "spent": self.amount(self.spent),
            "remaining": self.amount(self.left),
            "entries": entries,
        }


def ledger_page(
    url: str, accounts: Sequence[Account], *, title: str | None, author: str | None
) -> str:
    """Write the page of some accounts of a ledger."""
    alone = accounts[0].name if len(accounts) == 1 else None
    title = title or ("Privacy budgets" if alone is None else f"Privacy budget of {alone}")
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    said = [("answers for it", author)] if author else []
    said += [("page written", when), ("ledger", url)]
    body = [
        html.header(title, f"As of {when}. All times are UTC."),
        *(part for each in accounts for part in _account(each, named=alone is None)),
        html.section("What this page does not say", html.bullets(_SAYS)),
        html.section("Who and when", html.definitions(said), html.signature(*html.SIGNED)),
        html.section("How to check it", html.bullets(_checks(accounts))),
        html.footer(f"Written {when} by modicum {VERSION}."),
    ]
    record = {
        "schema": SCHEMA,
        "version": VERSION,
        "ledger": url,
        "written": when,
        "accounts": [each.to_dict() for each in accounts],
    }
    return html.page(title, body, record=record, style=picture.STYLE)


def _account(account: Account, *, named: bool) -> Iterator[str]:
    spent, granted = account.spent, account.granted
    share = spent.amount / granted.amount if granted.amount else 1.0
    parts = [
        html.paragraph(
            f"Left: {account.amount(account.left)} of {account.amount(granted)}", "lead"
        ),
        picture.bar(f"Budget of {account.name}", spent.amount, granted.amount),
        html.paragraph(
            f"Spent: {account.amount(spent)}, {100 * share:.3g} %, in {len(account.charges):,} "
            "charges. Every release is charged before it is drawn, and the account cannot be "
            "overspent."
        ),
        html.definitions(
            [
                ("protected", str(account.terms.unit)),
                ("opened", f"{_when(account.entries[0])} by {account.entries[0].who}"),
                ("last entry", f"{len(account.entries):,}, {_when(account.entries[-1])}"),
            ]
        ),
    ]
    if named:
        yield html.section(account.name, *parts)
    else:
        yield "\n".join(parts)
    of = f" to {account.name}" * named
    if grants := [*_grants(account)]:
        head = ["entry", "when", "who", "note", "amount"]
        table = html.numbers(head, grants, labels=1, texts=3, name="grants")
        yield html.section(f"What was granted{of}", table)
    if account.charges:
        yield html.section(f"What was charged{of}", *_charges(account))
        yield html.section(
            f"Totals{of}",
            _totals(account, "asked of", lambda each: asked_of(request_of(each))),
            _totals(account, "charged by", lambda each: each.who),
        )


def _grants(account: Account) -> Iterator[list[str]]:
    for each in account.entries:
        if each.action in {"create", "grant"}:
            note = each.body if each.action == "grant" else "first grant"
            yield [str(each.seq), _when(each), each.who, note or "–", account.amount(each.units)]


def _charges(account: Account) -> Iterator[str]:
    released = {each.charge for each in account.entries if each.action == "release"}
    charges = account.charges
    rows = (
        [
            str(each.seq),
            _when(each),
            each.who,
            in_words(request_of(each)),
            each.key or "–",
            "yes" if each.seq in released else "no",
            account.amount(each.units),
        ]
        for each in charges[-_LISTED:]
    )
    if len(charges) > _LISTED:
        yield html.paragraph(
            f"The last {_LISTED} of {len(charges):,} charges; the data of the page have all.", "sub"
        )
    head = ["entry", "when", "who", "what", "key", "released", "cost"]
    yield html.numbers(head, rows, labels=1, texts=5, name="charges")


def _totals(account: Account, name: str, of: Callable[[LedgerEntry], str]) -> str:
    found: dict[str, list[Units]] = {}
    for each in account.charges:
        found.setdefault(of(each), []).append(each.units)
    sums = {key: reduce(Units.plus, several) for key, several in found.items()}
    rows = (
        [key, str(len(found[key])), account.amount(whole)]
        for key, whole in sorted(sums.items(), key=lambda item: (-item[1].amount, item[0]))
    )
    return html.numbers([name, "charges", "cost"], rows, labels=1, name=f"totals: {name}")


def _when(entry: LedgerEntry) -> str:
    """The time of an entry in minutes, in UTC."""
    return entry.at[:16].replace("T", " ")


def request_of(charge: LedgerEntry) -> Mapping[str, Any]:
    """What was charged for: the arguments, as the ledger stores them."""
    try:
        request = json.loads(charge.body)
    except ValueError:  # whatever charged it wrote a text of its own
        return {"text": charge.body}
    return request if isinstance(request, dict) else {"text": charge.body}


def in_words(request: Mapping[str, Any]) -> str:
    """Say what was asked.

    Examples
    --------
    >>> in_words({"ask": {"a": {"statistic": "mean", "column": "x"}}, "by": "g"})
    'mean of x by g'
    """
    if "text" in request:
        return str(request["text"])
    asked = [
        f"{str(each.get('statistic')).replace('_', ' ')} of {_columns(each.get('column'), request)}"
        for each in request.get("ask", {}).values()
    ]
    if "keys_of" in request:
        asked.append(f"labels of {_joined(request['keys_of'])}")
    by = f" by {_joined(request['by'])}" if request.get("by") else ""
    views = "".join(f", {each}" for each in request.get("view", ()))
    return f"{', '.join(dict.fromkeys(asked)) or 'a request'}{by}{views}"


def asked_of(request: Mapping[str, Any]) -> str:
    """Name the columns that were asked of, those of keys too."""
    found = [_columns(each.get("column"), request) for each in request.get("ask", {}).values()]
    found += [_joined(request[name]) for name in ("keys_of", "by") if request.get(name)]
    return ", ".join(dict.fromkeys(found)) or "other requests"


def _columns(column: object, request: Mapping[str, Any]) -> str:
    """A column, several, or rows."""
    if isinstance(column, dict):
        return _joined(column.get("columns") or "columns")
    return _joined(column or request.get("labels_of") or "rows")


def _joined(names: object) -> str:
    return ", ".join(map(str, names)) if isinstance(names, list | tuple) else str(names)


def _checks(accounts: Sequence[Account]) -> Iterator[str]:
    for each in accounts:
        yield (
            f"Every entry of {each.name} is sealed by the hash of the one before it. The last hash "
            f"is {each.entries[-1].hash}."
        )
    yield "`modicum ledger verify` checks every hash, total and budget of the ledger."
    yield (
        "An export that was kept elsewhere (`modicum ledger export`) shows whether anything was "
        "changed since: `modicum ledger verify --against FILE`."
    )
    yield "The entries are in the source of this page, as JSON, in the element of the id “record”."
