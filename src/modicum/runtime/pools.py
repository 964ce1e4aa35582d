"""What groups find together before each is answered, and share after it.

The first part of a query's cost buys what the records of all groups tell together, and the rest
the answers of groups in parallel: two mechanisms in sequence, of which the second is
[groups.1] of docs/research/proofs/groups.md for every outcome of the first [pooled.1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from modicum.runtime import run, steps
from modicum.runtime.query import Pooling, Query

_PREFIX = "all groups: "


def pooling_of(query: Query[Any]) -> Pooling:
    """How the groups of a query share what is alike."""
    assert query.pooling is not None
    return query.pooling()


def before_groups(query: Query[Any], groups: int) -> Query[Any]:
    """The query of all records together whose answer so many groups share."""
    find = pooling_of(query).find
    return replace(query, begin=lambda event: steps.labelled(_PREFIX, find(event, groups)))


def in_pool(query: Query[Any], found: run.LiveRun) -> Query[Any]:
    """The query of one group, given what was found of all of them."""
    return replace(query, begin=partial(pooling_of(query).begin, found.answer))


def share_among(runs: Sequence[run.LiveRun], query: Query[Any], found: run.LiveRun) -> None:
    """Finish the runs of all groups, which are released: post-processing of their estimates."""
    estimates = pooling_of(query).finish(found.answer, [each.answer for each in runs])
    for live, estimate in zip(runs, estimates, strict=True):
        live.answer = estimate
        live.transcript[:0] = found.transcript
