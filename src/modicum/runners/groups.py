"""The runner for groups of rows: the same requests for each, one pass for all of them.

Every row is in one group at most, and a group's releases depend on its rows only. So all groups
together are one product law, and cost one row what a single group costs it (parallel
composition, docs/proofs/groups.md): there is one charge, of one group's price.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from modicum.exact.entropy import Entropy
from modicum.frames.reader import watched
from modicum.privacy.unit import Unit
from modicum.runners.party import Party, row_prices
from modicum.runners.request import Query
from modicum.runners.walk import Walk, draw_together
from modicum.steps import Ask

__all__ = ["GroupedReader", "run_groups"]

_BLOCK = 1024  # groups whose draws are made at once


class GroupedReader(Protocol):
    """Answers reductions of disjoint groups of rows in one pass."""

    def read(self, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the asks, each of the group of that number."""


def run_groups(
    requests: Mapping[str, Query[Any]],
    groups: int,
    reader: GroupedReader,
    *,
    unit: Unit,
    charge: Callable[[], None],
    entropy: Entropy,
) -> list[dict[str, Walk]]:
    """Answer requests for every group.

    Parameters
    ----------
    requests : mapping of str to Query
        Asked of each group.
    groups : int
        Their number, public. A group may have no rows.
    reader : GroupedReader
        The only access to the data. A row must be in one group at most.
    unit : Unit
        Shrinks every request's event to what one row may cost; a unit's rows may be in any groups.
    charge : callable
        Charges all requests for one group, which pays for all groups. Called once, after the
        first pass and before the first draw.
    entropy : Entropy

    Returns
    -------
    list of dict of str to Walk
        Finished walks of each group. There were no more passes than the slowest group needed.
    """
    prices = row_prices(requests, unit)
    parties = [Party.of(requests, prices) for _ in range(groups)]
    _supply(parties, reader, entropy)
    charge()
    while any(party.waits for party in parties):
        blocks = [parties[start : start + _BLOCK] for start in range(0, groups, _BLOCK)]
        for block in watched(((len(each), each) for each in blocks), "drawing", "groups"):
            draw_together((walk for party in block for walk in party.walks.values()), entropy)
        _supply(parties, reader, entropy)
    return [party.walks for party in parties]


def _supply(parties: Sequence[Party], reader: GroupedReader, entropy: Entropy) -> None:
    asks = [party.asks() for party in parties]
    flat = [(group, ask) for group, asked in enumerate(asks) for ask in asked]
    answers = iter(reader.read(flat, entropy) if flat else [])
    for party, asked in zip(parties, asks, strict=True):
        party.supply([next(answers) for _ in asked])
