"""Answers for groups of rows: their keys are drawn, or given, and each has a release.

All groups are answered under one charge. In how many of them a person may count is found first, if
nobody says it [people.13].
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from modicum import errors
from modicum.api.group_by import GroupBy, checked_keys, key_event
from modicum.mechanisms.partition_selection import KeySelection
from modicum.privacy.budget import Budget
from modicum.privacy.event import ApproxDP, Event, check_size
from modicum.privacy.unit import Unit
from modicum.releases import release
from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.releases.publishing.plain import plain
from modicum.releases.several import Releases
from modicum.runtime import charging
from modicum.runtime.guard import Guard
from modicum.runtime.pools import before_groups, in_pool, share_among
from modicum.runtime.query import Query
from modicum.runtime.run import Before, LiveRun, row_costs, run, run_before, run_groups
from modicum.runtime.steps import Steps
from modicum.sources import groups
from modicum.sources.conditions.view import View
from modicum.sources.keys import labels_of, shown_keys
from modicum.sources.reader import RemoteSource, read_as
from modicum.statistics.people.persons import find_groups
from modicum.stored import collector

Pooled = bool | Literal["auto"]


def group_by(
    guard: Guard,
    by: Sequence[str],
    keys: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None,
    key_budget: Budget | None,
    max_groups: int | None,
    pooled: Pooled = "auto",
) -> GroupBy:
    """Make the groups of :meth:`Curator.group_by`; keys are drawn at once, if none are given."""
    given: object = pooled
    if not (isinstance(given, bool) or (isinstance(given, str) and given == "auto")):
        raise errors.InvalidArgument(
            f'pooled must be True, False or "auto", got {errors.as_given(pooled)}'
        )
    for name in by:
        if not isinstance(name, str):
            raise errors.InvalidArgument(
                f"by must be a column name, got {type(name).__name__}: several columns are "
                "group_by('region', 'sex', keys=...)"
            )
    if len(by) > 1:
        view = View(None, (), tuple(by))
        return group_by(
            guard.viewing(view), [str(view.joint)], keys, key_budget, max_groups, pooled
        )
    columns = guard.source.joined or tuple(by)
    if (keys is None) == (key_budget is None):
        raise errors.InvalidArgument(
            "give either keys=[...], known beforehand, or key_budget=modicum.approx(...), for "
            "which they are drawn"
        )
    groups.check_groups(guard.source, guard.unit, columns, max_groups)
    types = [guard.source.label_type(name) for name in columns]
    unit = guard.unit if max_groups is None else guard.unit.in_groups(max_groups)
    selection: release.TranscriptEntry | None = None
    if keys is not None:
        chosen = checked_keys(keys, columns, types)
    else:
        event = key_event(key_budget)
        selection = _draw_keys(guard, by[0], event, unit)
        chosen = tuple(shown_keys(types, selection.outcome))  # type: ignore[arg-type]
    if max_groups is not None:
        unit = unit.in_groups(max(1, min(max_groups, len(chosen))))  # keys are public by now
    find = guard.unit.whole and max_groups is None and len(chosen) > 1
    together = _pools(guard, unit, len(chosen), pooled, bounded=max_groups is not None)
    labels = labels_of(types, chosen)
    answers = _Answers(guard, by[0], chosen, labels, selection, unit, find, together)
    return GroupBy(answers.named, chosen, selection, answers.answer)


def _pools(guard: Guard, unit: Unit, number: int, pooled: Pooled, *, bounded: bool) -> int | None:
    """By what the least number of groups that share what is alike is multiplied: a public rule.

    ``None``: none do.
    """
    why = ""
    if unit.whole and bounded:
        why = "max_groups= drops rows of persons: leave it out, as means, sums and counts need none"
    elif isinstance(guard.source, RemoteSource):
        why = "the rows stay on a cluster"
    elif number < 2:
        why = "there is one group"
    if pooled is True and why:
        raise errors.InvalidArgument(f"pooled=True cannot be done where {why}")
    # A person in k groups has a k-th of the cost for each of their records together, if these are
    # no one vector.
    if why or pooled is False:
        return None
    return 0 if pooled is True else (1 if unit.whole else unit.groups)


def _draw_keys(guard: Guard, by: str, event: ApproxDP, unit: Unit) -> release.TranscriptEntry:
    """Charge for the keys of a column, and draw them [groups.12].

    Where nobody says in how many groups a person counts, it is one: a threshold for k of them is
    more than k times as high [groups.11].
    """
    key = None if guard.key is None else f"{guard.key} (keys of {by})"
    told = {**guard.told, "keys_of": by, "event": repr(event)}
    cost = event.cost(guard.kind)
    with guard.turn():
        pending = guard.pending(cost, charging.query_text({}, unit, **told), key)
        done: release.TranscriptEntry | None = pending.done
        if done is not None:
            return done
        counts = groups.count_keys(guard.source, unit, by, guard.entropy)
        pending.charge()
        row = unit.per_row(event)
        mechanism = KeySelection(counts, row.epsilon, row.delta)
        parameters = {name: plain(value) for name, value in mechanism.public().items()}
        drawn = mechanism.sample(guard.entropy)
        return pending.commit(
            release.TranscriptEntry("keys", "KeySelection", parameters, drawn, "", event)
        )


def found_groups(
    guard: Guard,
    steps: Steps[int],
    event: Event,
    unit: Unit,
    by: str,
    keys: Sequence[Hashable],
    charge: Callable[[], None],
) -> Before:
    """Charge, and find in how many groups a person may count, with a part of an event."""
    reader = groups.reader_of_sizes(guard.source, unit, by, keys)
    return run_before(steps, event, reader, charge=charge, entropy=guard.entropy)


def nothing() -> None:
    """What is left to charge after the first draw."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """What answers queries for every group; ``labels`` are what the rows hold for its keys.

    ``find``: for persons in as many groups as are found; ``together``: which share what is alike,
    see :func:`_pools`.
    """

    guard: Guard
    by: str
    keys: tuple[Hashable, ...]
    labels: Sequence[Hashable]
    selection: release.TranscriptEntry | None
    unit: Unit
    find: bool
    together: int | None

    @property
    def named(self) -> str | tuple[str, ...]:
        """The column of keys, or several."""
        return self.guard.source.joined or self.by

    def answer(self, queries: Mapping[str, Query[Any]]) -> Releases[Any]:
        """Charge for queries once, and answer them for all groups."""
        fit = partial(charging.in_stated_range, source=self.guard.source, unit=self.unit)
        queries = {name: fit(query).for_unit(self.unit) for name, query in queries.items()}
        answers = collector.at_rest(lambda: self._answers(queries))
        return Releases(answers, charging.cost_of(queries.values(), self.guard.kind))

    def _answers(self, queries: Mapping[str, Query[Any]]) -> Mapping[str, Any]:
        guard, unit, found = self.guard, self.unit, None
        shared = {name: each for name, each in queries.items() if self._shares(each)}
        # What groups of persons with all their rows share needs no bound on groups [pooled.10].
        across = shared if unit.whole else {}
        others = {name: each for name, each in queries.items() if name not in across}
        finds = self.find and bool(others)
        told: dict[str, object] = {"finds": "groups"} if finds else {}
        if shared:
            told["pooled"] = sorted(shared)
        asked = {"by": self.by, "keys": [repr(key) for key in self.keys], **told}
        with guard.turn():
            pending = guard.charging(queries, unit, **asked)
            done: Mapping[str, Any] | None = pending.done
            if done is not None:
                return done
            charge, runs = pending.charge, dict[str, list[LiveRun]]()
            parts: dict[str, Fraction] = {}
            if finds:  # [people.13]
                row_costs(across, guard.unit)  # refuses before anything is charged
                payer, before = self._find_groups(others, charge)
                found, charge, parts = before.found, nothing, {payer: before.left}
                unit = unit.in_groups(found)
            if across:
                runs |= self._run(across, guard.unit, charge, across)
                charge = nothing
            if others:
                pooled = {name: each for name, each in others.items() if name in shared}
                runs |= self._run(others, unit, charge, pooled, parts)
            if finds:
                for live in runs[payer]:
                    live.transcript[:0] = before.transcript
            grouped = {
                name: (GroupedArrayRelease if query.several else GroupedRelease)(
                    statistic=query.statistic,
                    column=query.column,
                    by=self.named,
                    releases={
                        key: guard.released(
                            query,
                            live,
                            guard.unit if name in across else unit,
                            pending,
                            None if name in across else found,
                            None if name in across else len(self.keys),
                        )
                        for key, live in zip(self.keys, runs[name], strict=True)
                    },
                    event=query.event,
                    unit=guard.unit if name in across else unit,
                    selection=self.selection,
                    engine=guard.source.engine,
                    account=pending.account,
                )
                for name, query in queries.items()
            }
            return pending.commit(grouped)

    def _shares(self, query: Query[Any]) -> bool:
        if query.pooling is None or self.together is None:
            return False
        return len(self.keys) >= self.together * query.pooling().least

    def _run(
        self,
        queries: Mapping[str, Query[Any]],
        unit: Unit,
        charge: Callable[[], None],
        shared: Mapping[str, Query[Any]],
        parts: Mapping[str, Fraction] = MappingProxyType({}),
    ) -> dict[str, list[LiveRun]]:
        """Charge, and answer queries, some of which are ``shared``; return runs of all groups."""
        columns = [read_as(self.guard.source, q.column, q.lattice) for q in queries.values()]
        reader = groups.reader_of_groups(self.guard.source, unit, self.by, self.labels, columns)
        pools = self._find_pools(shared, reader, unit, charge)
        of_groups = {name: in_pool(queries[name], live) for name, live in pools.items()}
        left = {name: live.left for name, live in pools.items()}
        ran = run_groups(
            {**queries, **of_groups},
            len(self.keys),
            reader,
            unit=unit,
            charge=nothing if pools else charge,
            entropy=self.guard.entropy,
            parts={**parts, **left},
        )
        runs = {name: [each[name] for each in ran] for name in queries}
        for name, live in pools.items():
            share_among(runs[name], queries[name], live)
        return runs

    def _find_pools(
        self,
        queries: Mapping[str, Query[Any]],
        reader: groups.GroupReader,
        unit: Unit,
        charge: Callable[[], None],
    ) -> dict[str, LiveRun]:
        """Charge, and find what all groups have in common, with a part of each query's cost.

        A person's records in several groups are records of one table here [pooled.1], if they are
        not one record [pooled.11].
        """
        if not queries:
            return {}
        first = {name: before_groups(each, len(self.keys)) for name, each in queries.items()}
        together: groups.PersonsTogether | groups.GroupsTogether
        if unit.whole:
            assert isinstance(reader, groups.PersonGroups)
            together = groups.PersonsTogether(reader)
        else:
            together, unit = (
                groups.GroupsTogether(reader),
                unit if unit.groups == 1 else Unit(unit.groups),
            )
        return run(first, together, unit=unit, charge=charge, entropy=self.guard.entropy)

    def _find_groups(
        self, queries: Mapping[str, Query[Any]], charge: Callable[[], None]
    ) -> tuple[str, Before]:
        """Find in how many groups a person may count, from the cost of the largest query."""
        guard, unit = self.guard, self.unit
        name = max(queries, key=lambda each: queries[each].event.amount_in(guard.kind))

        def fits(number: int, least: Fraction) -> None:
            for which, cost in row_costs(queries, unit.in_groups(number), {name: least}).items():
                check_size(cost)
                steps = queries[which].begin(cost)
                next(steps)
                steps.close()

        event = queries[name].allowance
        steps = find_groups(event, len(self.keys), fits)
        return name, found_groups(guard, steps, event, unit, self.by, self.labels, charge)
