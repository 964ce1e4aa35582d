"""Where a ledger is, and what every data base does for it.

A store runs transactions, which are on the disk when they end and undone if they raise. Its
``lock`` is what a ``SELECT`` ends with to keep other writers off its rows until the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from modicum.errors import InvalidArgument, LedgerCorrupt, LedgerError, as_given

_HELP = (
    "a ledger is sqlite:///FILE (four slashes for an absolute path) or "
    "postgresql://USER@HOST/DATABASE; add ?mode=ro to look only"
)
_SERVER = {"postgresql", "postgres", "postgresql+psycopg"}


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """A parsed URL.

    ``path`` is the file, or the name of the data base. ``user`` to ``port`` are those of a server,
    ``None`` where the URL does not say; ``options`` are what else the URL passes to the server's
    driver, for example ``sslmode``.
    """

    store: Literal["sqlite", "postgresql"]
    path: str
    read_only: bool
    user: str | None
    password: str | None
    host: str | None
    port: int | None
    options: Mapping[str, str]

    @classmethod
    def of(cls, url: object) -> Address:
        """Parse a URL; an error does not quote its text if it may hold a password.

        Examples
        --------
        >>> print(Address.of("postgresql://anna:secret@db.example/budget?sslmode=require"))
        postgresql://anna@db.example/budget
        >>> Address.of("sqlite:///budget.db?mode=ro")
        Address('sqlite:///budget.db?mode=ro')
        """
        if not isinstance(url, str) or "://" not in url:
            raise InvalidArgument(f"{_HELP}, got {_harmless(url)}")
        scheme, _, rest = url.partition("://")
        if scheme == "sqlite":
            path, _, query = rest.partition("?")
            options = _options(query)
            if not path.startswith("/") or len(path) < 2:
                raise InvalidArgument(f"{_HELP}, got {as_given(url)}")
            read_only = _mode(options)
            if options:
                raise InvalidArgument(f"of a file only ?mode=ro can be asked, got {as_given(url)}")
            return cls("sqlite", unquote(path[1:]), read_only, None, None, None, None, {})
        if scheme not in _SERVER:
            raise InvalidArgument(f"{_HELP}, got {_harmless(scheme + '://...')}")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise InvalidArgument(f"{_HELP}; the URL cannot be read") from None
        options = _options(parts.query)
        read_only = _mode(options)
        password = options.pop("password", None)
        if parts.password is not None:
            password = unquote(parts.password)
        user = None if parts.username is None else unquote(parts.username)
        name = unquote(parts.path.lstrip("/"))
        return cls("postgresql", name, read_only, user, password, parts.hostname, port, options)

    def __str__(self) -> str:
        if self.store == "sqlite":
            return f"sqlite:///{self.path}" + ("?mode=ro" if self.read_only else "")
        user = "" if self.user is None else f"{self.user}@"
        port = "" if self.port is None else f":{self.port}"
        mode = "?mode=ro" if self.read_only else ""
        return f"postgresql://{user}{self.host or ''}{port}/{self.path}{mode}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def scrubbed(self, text: str) -> str:
        """Take the password out of a text, for example a driver's message."""
        return text.replace(self.password, "***") if self.password else text


def without_passwords(text: str) -> str:
    """Take the passwords of URLs out of a text that quotes words of a command.

    A password may itself hold any character, so everything goes up to the last ``@``.

    Examples
    --------
    >>> without_passwords("unrecognized arguments: postgresql://anna:a@/b c@db.example/budget")
    'unrecognized arguments: postgresql://anna:***@db.example/budget'
    """
    text = re.sub(r"(://[^\s/@:]*):.*@", r"\1:***@", text, flags=re.DOTALL)
    return re.sub(r"\b(password=)[^&\s]*", r"\1***", text)


def _options(query: str) -> dict[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True))


def _mode(options: dict[str, str]) -> bool:
    mode = options.pop("mode", "rw")
    if mode not in {"ro", "rw"}:
        raise InvalidArgument(f"mode must be ro or rw, got {as_given(mode)}")
    return mode == "ro"


def _harmless(url: object) -> str:
    """The URL that was given, unless a password may be in it."""
    if not isinstance(url, str):
        return type(url).__name__
    return "a text with '@'" if "@" in url else repr(url)


SCHEMA = "modicum.ledger/1"


class Db(Protocol):
    """An open transaction."""

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """Run one statement with named parameters (``:name``) and return all rows."""


def tables(strict: str, integer: str) -> list[str]:
    """The statements that make the tables.

    The constraints repeat what the ledger checks: the data base itself refuses to overspend, to
    charge a key twice, and to record two releases of one charge.
    """
    return [
        f"CREATE TABLE IF NOT EXISTS modicum_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
        f"{strict}",
        f"""CREATE TABLE IF NOT EXISTS modicum_account (
            name TEXT PRIMARY KEY,
            entries {integer} NOT NULL CHECK (entries > 0),
            head TEXT NOT NULL){strict}""",
        f"""CREATE TABLE IF NOT EXISTS modicum_entry (
            account TEXT NOT NULL,
            seq {integer} NOT NULL CHECK (seq > 0),
            action TEXT NOT NULL CHECK (action IN ('create', 'grant', 'charge', 'release')),
            amount {integer} NOT NULL CHECK (amount >= 0),
            delta {integer} NOT NULL CHECK (delta >= 0),
            granted {integer} NOT NULL,
            granted_delta {integer} NOT NULL,
            spent {integer} NOT NULL CHECK (spent >= 0 AND spent <= granted),
            spent_delta {integer} NOT NULL
                CHECK (spent_delta >= 0 AND spent_delta <= granted_delta),
            key TEXT CHECK (key IS NULL OR action = 'charge'),
            charge {integer} CHECK ((charge IS NOT NULL) = (action = 'release')),
            body TEXT NOT NULL,
            who TEXT NOT NULL,
            at TEXT NOT NULL,
            previous TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (account, seq)){strict}""",
        """CREATE UNIQUE INDEX IF NOT EXISTS modicum_one_charge ON modicum_entry (account, key)
            WHERE key IS NOT NULL""",
        """CREATE UNIQUE INDEX IF NOT EXISTS modicum_one_release ON modicum_entry (account, charge)
            WHERE charge IS NOT NULL""",
    ]


def check_parts(
    address: Address, wanted: Iterable[tuple[str, str]], there: Iterable[tuple[str, str]]
) -> None:
    """Check that no table, index or trigger was taken away: their kinds and names."""
    for kind, name in sorted({*wanted} - {*there}):
        raise LedgerCorrupt(f"the {kind} {name!r} of {address} is missing, so it was taken away")


def failed(address: Address, reason: object, *, committing: bool = False) -> LedgerError:
    """The error of a store that did not answer."""
    if committing:
        after = "it is not known whether the entry was written; nothing was released"
    else:
        after = "nothing was written or released"
    text = " ".join(address.scrubbed(str(reason)).split())
    return LedgerError(f"the ledger {address} failed: {text}; {after}")
