"""What releases are charged to: a budget in memory, or an account of a ledger.

Both make a pending charge of a query's cost, and are the same to what answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from modicum.errors import InvalidArgument
from modicum.exact.octaves import OCTAVES
from modicum.privacy.accountant import checked_sum, total
from modicum.privacy.budget import ZCDP_KIND, Budget, Kind, chosen_budget
from modicum.privacy.unit import Unit
from modicum.releases.release import Record
from modicum.runtime.query import Query
from modicum.sources import base, reader, spans
from modicum.summaries.base import Columns

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_SHOWN = 3  # questions of one charge, in words
_NO_LEDGER = "a key needs a ledger that remembers it: Curator(..., ledger=, account=)"


class Charged(NamedTuple):
    """What was charged for, in words, and at what cost; both are public."""

    what: str
    cost: Budget


class PendingCharge(Protocol):
    """A cost that is held, and not charged yet."""

    @property
    def done(self) -> Any:
        """The release that was charged for under the same key, if any."""

    def charge(self) -> None:
        """Charge the cost; nothing may be drawn before, or if it raises."""

    @property
    def account(self) -> str:
        """Say which budget was charged."""

    def commit(self, released: T) -> T:
        """Record a release, and return the one that may be shown."""


class Accountant(Protocol):
    """What releases are charged to."""

    @property
    def budget(self) -> Budget:
        """All that may be spent."""

    @property
    def spent(self) -> Budget:
        """All that was spent."""

    @property
    def charges(self) -> tuple[Charged, ...]:
        """What was charged, in order."""

    def pending(self, cost: Budget, query: str, key: str | None) -> PendingCharge:
        """Check that the budget holds a cost; nothing is charged yet."""

    def checked_key(self, key: object) -> str:
        """Return a key for one query, or refuse it: a ledger must remember it."""


class MemoryAccountant:
    """A budget that ends with its process.

    What was charged, and what for, is one list, and a charge is one append to it. An interrupt
    finds all of a charge or nothing of it.
    """

    __slots__ = ("_log", "budget")

    def __init__(self, budget: Budget) -> None:
        self.budget = chosen_budget(None, None, budget)
        self._log: list[tuple[Charged, Budget]] = []  # and what was spent after it

    @property
    def spent(self) -> Budget:
        return self._log[-1][1] if self._log else Budget(self.budget.kind, Fraction(0))

    @property
    def charges(self) -> tuple[Charged, ...]:
        return tuple(each for each, _ in self._log)

    def pending(self, cost: Budget, query: str, key: str | None) -> PendingCharge:
        if key is not None:
            raise InvalidArgument(_NO_LEDGER)
        checked_sum(self.spent, cost, self.budget)
        return _MemoryCharge(self, cost, query)

    def checked_key(self, _key: object) -> str:
        raise InvalidArgument(_NO_LEDGER)

    def charge(self, query: str, cost: Budget) -> None:
        """Charge a cost, and keep what for; the curator's turn keeps others off."""
        after = checked_sum(self.spent, cost, self.budget)
        self._log.append((Charged(words_of_query(query), cost), after))

    def __str__(self) -> str:
        return f"budget={self.budget!r}, spent={self.spent!r}"


@dataclass(frozen=True, slots=True)
class _MemoryCharge:
    done: ClassVar[None] = None
    budget: MemoryAccountant
    cost: Budget
    query: str

    def charge(self) -> None:
        self.budget.charge(self.query, self.cost)

    @property
    def account(self) -> str:
        return f"{self.budget.spent} of {self.budget.budget} spent"

    def commit(self, released: T) -> T:
        return released


def _named(column: str | Columns | None) -> object:
    if isinstance(column, Columns):
        return {"columns": None if column.names is None else list(column.names)}
    return column


def _asked_range(query: Query[Any]) -> list[float] | None:
    """The range that was asked for, and not the one that something else states."""
    lattice = OCTAVES if query.stated else query.lattice
    return None if lattice is None else [lattice.lo, lattice.hi, lattice.step]


def query_text(queries: Mapping[str, Query[Any]], unit: Unit, **more: object) -> str:
    """Describe queries by public arguments only: the same query has the same text.

    A query that is answered for another cost has another text, so that a key that was charged for
    (ε, 0) is not a charge for (ε, δ).
    """
    asked = {
        name: {
            "statistic": query.statistic,
            "method": query.method,
            "column": _named(query.place),
            "range": _asked_range(query),
            "options": repr(query.options),
            "budget": repr(query.budget),
            **({} if query.rho is None else {"noise": ZCDP_KIND}),
        }
        for name, query in queries.items()
    }
    record = {"ask": asked, "unit": asdict(unit), **more}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def words_of_query(text: str) -> str:
    """Say in a few words what a text of :func:`query_text` asks for.

    Examples
    --------
    >>> words_of_query('{"ask": {"answer": {"statistic": "mean", "column": "age"}}, "by": "firm"}')
    'mean of age by firm'
    """
    try:
        record = json.loads(text)
        asked = [*map(_asked_words, record["ask"].values())]
    except (ValueError, TypeError, KeyError, AttributeError):  # of another version
        return "a release"
    if "labels_of" in record:
        asked = [f"number of labels of {_joined(record['labels_of'])}"]
    more = f" and {len(asked) - _SHOWN} more" if len(asked) > _SHOWN else ""
    words = ", ".join(asked[:_SHOWN]) + more
    if "keys_of" in record:
        words = f"keys of {_joined(record['keys_of'])}"
    if "by" in record:
        words += f" by {_joined(record['by'])}"
    views = record.get("view", ())
    return f"{words}, {', '.join(views)}" if views else words


def _asked_words(query: Mapping[str, Any]) -> str:
    column = query["column"]
    if isinstance(column, Mapping):
        column = ", ".join(column["columns"] or ())
    return f"{query['statistic']} of {column}" if column else str(query["statistic"])


def _joined(names: object) -> str:
    return ", ".join(map(str, names)) if isinstance(names, list) else str(names)


def cost_of(queries: Iterable[object], kind: Kind) -> Budget:
    """What queries cost together, in a currency; one without a cost in it is refused."""
    return total([_checked(query).event for query in queries], kind)


def fitted(query: Query[R], source: base.Source, kind: Kind, unit: Unit) -> Query[R]:
    """A query as it is answered from a source for a unit, and charged to a kind of budget.

    A budget that cannot be spent is refused.
    """
    query = in_stated_range(_checked(query), source, unit).for_unit(unit)
    if not isinstance(query.place, Columns):
        return query
    return query.of_width(reader.width_of(source, query.place), kind)


def in_stated_range(query: Query[R], source: base.Source, unit: Unit) -> Query[R]:
    """[view.5] A query within the range that text or types state, if it has none and they do.

    That is a range of values: a person's sum may lie beyond it, and so may a number made of two
    columns, but for a weighted mean. A person's mean of truth values is none.
    """
    if query.ranging is None or unit.combine == "sum":
        return query
    names: Sequence[str | None] = (query.column,)
    if isinstance(query.place, Columns):
        names = query.place.ranged(query.statistic)
    if not names:
        return query
    span = reduce(spans.Span.join, map(source.span, names))
    if not span.usable:
        return query
    stated = " and ".join(dict.fromkeys(map(source.span_from, names)))
    truths = span.two_valued and unit.combine is None
    return query.within((span.lo, span.hi), stated, truths=truths)


def _checked(query: object) -> Query[Any]:
    if not isinstance(query, Query):
        raise InvalidArgument(
            "a query must be made with modicum.query, for example "
            f"modicum.query.mean(...), got {type(query).__name__}"
        )
    chosen_budget(None, None, query.budget)
    return query
