"""The runner that answers requests from data: read, charge, draw, in that order.

Any number of requests run together. Their waiting needs are collected and answered by one pass,
then all of them are resumed, so together they make no more passes than the slowest alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from modicum.exact.entropy import Entropy
from modicum.privacy.unit import Unit
from modicum.runners.party import Party, row_prices
from modicum.runners.request import Query
from modicum.runners.walk import Walk
from modicum.steps import Ask

__all__ = ["Reader", "run"]


class Reader(Protocol):
    """Answers reductions in one pass over the data."""

    def read(self, asks: Sequence[Ask[Any]], entropy: Entropy) -> list[Any]:
        """Summaries in the order of the asks."""


def run(
    requests: Mapping[str, Query[Any]],
    reader: Reader,
    *,
    unit: Unit,
    charge: Callable[[], None],
    entropy: Entropy,
) -> dict[str, Walk]:
    """Answer requests together.

    Parameters
    ----------
    requests : mapping of str to Query
    reader : Reader
        The only access to the data.
    unit : Unit
        Shrinks every request's event to what one row may cost.
    charge : callable
        Charges the whole cost of all requests in one transaction. Called once, after the first
        pass and before the first draw; if it raises, nothing has been drawn.
    entropy : Entropy

    Returns
    -------
    dict of str to Walk
        Finished walks, each with its answer and journal.
    """
    party = Party.of(requests, row_prices(requests, unit))
    _supply(party, reader, entropy)
    charge()
    while party.waits:
        party.draw(entropy)
        _supply(party, reader, entropy)
    return party.walks


def _supply(party: Party, reader: Reader, entropy: Entropy) -> None:
    asks = party.asks()
    party.supply(reader.read(asks, entropy) if asks else [])
