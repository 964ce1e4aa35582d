"""Counts of very many keys, from a table to a file: columns in place of an object a key.

Each row of the file is a key, a count with noise, and an interval. All keys together cost what one
costs (docs/research/proofs/bulk.md), so there is one charge. It is charged before the first draw,
and the file appears under its name when it is whole, and after the ledger has recorded its digest
[bulk.8].
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from modicum import version
from modicum.api import group_by
from modicum.api.tables import key_blocks
from modicum.api.tables.parquet_out import digest_of, part_of, ready, restored, target_of, write
from modicum.errors import InvalidArgument, UnsupportedData, as_given
from modicum.mechanisms import additive, partition_selection
from modicum.privacy import event, split
from modicum.privacy.budget import Budget
from modicum.query import count as count_query
from modicum.releases import confidence
from modicum.releases.counts_file import CountsFile
from modicum.runtime import charging
from modicum.runtime.guard import Guard
from modicum.runtime.run import row_costs
from modicum.sources import base, key_counts, opening, reader, record_batches
from modicum.sources.counted import CountedTable


def count_to(
    guard: Guard,
    path: object,
    by: Sequence[str],
    keys: object,
    key_budget: Budget | None,
    at_least: int | None,
    level: float,
    cost: Budget,
) -> CountsFile:
    """Answer :meth:`Curator.count_to`."""
    record_batches.need_arrow()
    confidence.check_confidence(level, "auto")
    if at_least is not None and (type(at_least) is not int or at_least < 0):
        raise InvalidArgument(f"at_least must be a whole number, got {as_given(at_least)}")
    target, source = target_of(path), guard.source
    selection = _selection(source, keys, key_budget)
    kinds = _checked_columns(guard, by, keys)
    query = count_query(budget=cost)
    per_row = row_costs({"count": query}, guard.unit)["count"]
    noise = additive.add_noise((0,), split.BudgetSplit(per_row).rest(), sensitivity=1).noise[0]
    counted = source if isinstance(source, CountedTable) else None
    terms = CountsFile(
        path=str(target),
        digest="",
        by=tuple(by),
        rows=0,
        half_width=math.floor(noise.tail_bound(1 - level)),
        level=float(level),
        noise=noise.words,
        event=query.event,
        selection=selection,
        unit=guard.unit,
        counts=None if counted is None else counted.counts,
        at_least=at_least,
        engine=source.engine,
        view=tuple(map(str, source.views)),
        account="",
        private=guard.entropy.secret,
        version=version.VERSION,
    )
    total = query.event.cost(guard.kind)
    total = total if selection is None else total + selection.cost(guard.kind)
    asked = {name: each for name, each in terms.described().items() if name != "version"}
    text = charging.query_text(
        {"count": query}, guard.unit, **guard.told, to=terms.path, rows=asked,
        complete=counted is not None and counted.complete,
    )  # fmt: skip
    with guard.turn():
        pending = guard.pending(total, text, guard.key)
        done: CountsFile | None = pending.done
        if done is not None:
            return restored(done)
        if target.exists():
            raise InvalidArgument(f"{target.name!r} is there already: choose another name")
        found = _blocks(source, by, kinds, keys, drawn=selection is not None)
        curve = None
        if selection is not None:
            row = guard.unit.per_row(selection)
            curve = partition_selection.KeepCurve(row.epsilon, row.delta)
        draws = key_blocks.Draws(by, noise, terms.half_width, at_least, curve, guard.entropy)
        pending.charge()
        return _published(replace(terms, account=pending.account), target, found, draws, pending)


def _published(
    terms: CountsFile,
    target: Path,
    found: key_blocks.KeyBlocks,
    draws: key_blocks.Draws,
    pending: charging.PendingCharge,
) -> CountsFile:
    """Draw into a file, record it, and put it into its place [bulk.8]."""
    with part_of(target) as part:
        rows = write(part, found.blocks(draws), json.dumps(terms.described()))
        release = replace(terms, rows=rows, digest=digest_of(part))
        waiting = ready(target, release.digest)
        part.replace(waiting)
    kept = pending.commit(release)
    if kept.digest != release.digest:  # another process with the same key was faster
        waiting.unlink()
        return restored(kept)
    with suppress(FileNotFoundError):  # a process that was slower has put it there
        waiting.replace(target)
    return release


def _selection(
    source: base.Source, keys: object, key_budget: Budget | None
) -> event.ApproxDP | None:
    """Return what a draw of the keys costs; ``None`` if they are given."""
    complete = isinstance(source, CountedTable) and source.complete
    if [keys is not None, key_budget is not None, complete].count(True) != 1:
        raise InvalidArgument(
            "give one of keys=, a table of public keys, and key_budget=modicum.approx(...), for "
            "which they are drawn; a complete table of counts has its keys, and needs neither"
        )
    return None if key_budget is None else group_by.key_event(key_budget)


def _checked_columns(guard: Guard, by: Sequence[str], keys: object) -> list[key_counts.Kind]:
    """Check by the schemas that rows can be counted by these columns, for this unit."""
    source, unit = guard.source, guard.unit
    if isinstance(source, reader.RemoteSource):
        raise UnsupportedData(
            "rows on a cluster are counted there: write their counts by key to Parquet, and pass "
            "modicum.counted(path, 'n')"
        )
    if unit.column is not None:
        raise InvalidArgument(
            f"count_to() protects rows, not {unit}: bound the rows of each person beforehand, and "
            "say so with unit_of(rows=m)"
        )
    rows = source.inner if isinstance(source, CountedTable) else source
    if not by or len({*by}) < len(by):
        raise InvalidArgument(f"name different columns of keys, got {list(by)}")
    kinds = [key_counts.kind_of(rows, name) for name in by]
    taken = {*key_blocks.RELEASED} | (
        {source.counts} if isinstance(source, CountedTable) else set()
    )
    if taken & {*by}:
        raise InvalidArgument(f"no column of keys can have the name {min(taken & {*by})!r}")
    if keys is None:
        return kinds
    opened = opening.open_source(keys)
    for name, kind in zip(by, kinds, strict=True):
        given = key_counts.kind_of(opened, name)
        written = kind == "text" and not rows.declared(name)  # a CSV file holds text only
        if given != kind and not (written and given == "whole"):
            raise InvalidArgument(
                f"column {name!r} is declared as {rows.declared(name) or 'text'} in the data and "
                f"as {opened.declared(name)} in keys: no row could have such a key"
            )
    return kinds


def _blocks(
    source: base.Source,
    by: Sequence[str],
    kinds: Sequence[key_counts.Kind],
    keys: Any,
    *,
    drawn: bool,
) -> key_blocks.KeyBlocks:
    """Read what is needed before the charge."""
    if keys is not None:
        return key_blocks.GivenBlocks(
            source, by, kinds, partial(record_batches.blocks_of, keys, by, "the table of keys")
        )
    if not isinstance(source, CountedTable):
        return key_blocks.FoundBlocks(source, by, kinds)
    record_batches.reader_of(source.table)  # which refuses before the charge what it cannot read
    read = partial(record_batches.blocks_of, source.table, [*by, source.counts], source.label)
    return (
        key_blocks.CountedBlocks(read, kinds, source.label)
        if drawn
        else key_blocks.CompleteBlocks(read)
    )
