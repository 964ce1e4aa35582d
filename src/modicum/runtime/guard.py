"""What stands between a table and its answers: one budget, one lock, one process.

A curator and the groups of its rows answer through it. A view of the table, or a key for one
query, is another guard with the same budget and the same lock.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from modicum import errors, version
from modicum.exact.entropy import Entropy
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.turn import Turn
from modicum.privacy.unit import Unit
from modicum.releases.release import Record
from modicum.runtime.charging import Accountant, PendingCharge, cost_of, query_text
from modicum.runtime.query import Query
from modicum.runtime.run import LiveRun
from modicum.sources import base, reader

if TYPE_CHECKING:
    from modicum.sources.conditions.view import View

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Guard:
    """A table, whom it protects, what is charged for it, and the lock of its answers.

    ``key`` is that of one query, which a ledger answers once; ``process`` the only one that may
    ask.
    """

    source: base.Source
    unit: Unit
    accountant: Accountant
    entropy: Entropy
    one_at_a_time: Turn
    process: int
    key: str | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the whole budget."""
        return self.accountant.budget.kind

    def keyed(self, key: object) -> Guard:
        """Return the same for one query."""
        return replace(self, key=self.accountant.checked_key(key))

    def viewing(self, view: View) -> Guard:
        """Return the same of a view of the table."""
        from modicum.sources import viewed

        return replace(self, source=viewed.view_of(self.source, view, self.unit))

    @property
    def told(self) -> dict[str, object]:
        """[view.3] What a query's text says of the table: releases of all views add up."""
        return {"view": self.views} if self.views else {}

    @property
    def views(self) -> list[str]:
        """Which rows were chosen, and which columns made, of the table that was opened."""
        return [str(each) for each in self.source.views]

    def turn(self) -> AbstractContextManager[object]:
        """What keeps other questions off while one is answered; refused to a forked process."""
        if os.getpid() != self.process:  # before the lock: a fork may have copied it locked
            raise errors.InvalidArgument(
                "a Curator cannot be used in a forked process: its budget would be spent twice"
            )
        return self.one_at_a_time.taken()

    def pending(self, cost: Budget, query: str, key: str | None = None) -> PendingCharge:
        """Return the charge of what is drawn for a cost, in this thread's turn."""
        assert self.one_at_a_time.mine
        return self.accountant.pending(cost, query, key)

    def charging(
        self, queries: Mapping[str, Query[Any]], unit: Unit, **more: object
    ) -> PendingCharge:
        """Check queries, and return the charge for all, in this thread's turn."""
        if not queries:
            raise errors.InvalidArgument("release() needs at least one query")
        text = query_text(queries, unit, **self.told, **more)
        pending = self.pending(cost_of(queries.values(), self.kind), text, self.key)
        for query in queries.values():
            reader.check_column(self.source, query.place, query.lattice)
        return pending

    def released(
        self,
        query: Query[R],
        live: LiveRun,
        unit: Unit,
        pending: PendingCharge,
        groups: int | None = None,
        keys: int | None = None,
    ) -> R:
        """Return the release of a query's run that was charged."""
        account, entropy = pending.account, self.entropy
        return recorded(query, live, self.source, unit, account, entropy, groups, keys)


def recorded(
    query: Query[R],
    live: LiveRun,
    source: base.Source,
    unit: Unit,
    account: str,
    entropy: Entropy,
    groups: int | None = None,
    keys: int | None = None,
) -> R:
    """Return the release of a query's run, with the circumstances of the run.

    ``groups`` is in how many groups a person counts, if that was found, and ``keys`` the number of
    all groups.
    """
    assert live.answer is not None
    release: R = live.answer.released(
        statistic=query.statistic,
        column=query.column,
        event=query.event,
        unit=unit,
        lattice=live.answer.lattice or query.lattice,
        ranged=query.ranged,
        stated=query.stated,
        found=live.answer.lattice is not None,
        limit=live.answer.limit,
        left_out=unit.left_out(live.answer.limit, keys),
        groups_found=groups,
        population=query.population,
        method=live.answer.method or query.method,
        transcript=tuple(live.transcript),
        engine=source.engine,
        view=tuple(map(str, source.views)),
        account=account,
        private=entropy.secret,
        version=version.VERSION,
    )
    return release
