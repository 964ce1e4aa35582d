"""One record a person and group: combined rows, in a bounded number of groups of each person.

Which groups of a person count, a random choice says that looks at that person's groups alone; that
it bounds a person's share is proved in docs/proofs/groups.md, [G3].
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.frames.arrays import ArrayColumn
from modicum.frames.drawn import DrawnRows
from modicum.frames.fewest import SmallestRows
from modicum.frames.groups import GroupReader
from modicum.frames.labels import Coder, Dictionary, Label
from modicum.frames.memory import MemorySource
from modicum.frames.places import Places
from modicum.frames.quiet import quiet
from modicum.frames.reader import as_counted
from modicum.frames.source import Source
from modicum.frames.totals import PersonTotals
from modicum.privacy.unit import Unit
from modicum.steps import Ask
from modicum.summaries.base import Integers, Sensitive

__all__ = ["PersonGroups"]

_Place = tuple[str | None, Lattice | None]


class PersonGroups(Sensitive):
    """Reads one record of each person in each group, in at most ``unit.groups`` groups of each.

    The choice of groups is made once, at the first pass, and holds for all columns and passes. A
    person has a group if they have a row with its key, whatever its values.

    Parameters
    ----------
    source : Source
        Its columns have been checked.
    unit : Unit
        With ``combine``.
    by : str
        The column of keys.
    keys : sequence
        Different public keys, see :class:`~modicum.frames.groups.GroupReader`. Rows with others,
        or none, are dropped before anything else.
    key : int, optional
        Decides which groups of a person count, as in :func:`modicum.frames.people.reader_of`.
    """

    __slots__ = (
        "_by",
        "_kept",
        "_key",
        "_keys",
        "_pairs",
        "_persons",
        "_readers",
        "_source",
        "_unit",
    )

    def __init__(
        self,
        source: Source,
        unit: Unit,
        by: str,
        keys: Sequence[Hashable],
        key: int | None = None,
    ) -> None:
        self._source = source
        self._unit = unit
        self._by = by
        self._key = key
        self._keys = keys
        # Kept between passes, so that a pair has one number whatever the order of the rows.
        self._persons, self._pairs = Dictionary(), Dictionary()
        self._kept: tuple[Integers, Integers] | None = None
        self._readers: dict[_Place, GroupReader] = {}

    def read(self, asks: Sequence[tuple[int, Ask[Any]]], entropy: Entropy) -> list[Any]:
        """Answer reductions of groups, as :meth:`GroupReader.read` does."""
        asks = [(group, as_counted(self._source, ask)) for group, ask in asks]
        places = [(ask.column, ask.lattice) for _, ask in asks]
        self._combine(
            [each for each in dict.fromkeys(places) if each not in self._readers], entropy
        )
        answers: dict[int, Any] = {}
        for place in dict.fromkeys(places):
            mine = [i for i, each in enumerate(places) if each == place]
            found = self._readers[place].read([asks[i] for i in mine], entropy)
            answers.update(zip(mine, found, strict=True))
        return [answers[i] for i in range(len(asks))]

    def chosen(self, entropy: Entropy) -> Integers:
        """Return the groups that are kept, once for each person in them; sensitive."""
        self._totals([(None, None)])
        return self._choice(entropy)[1]

    def _combine(self, wanted: Sequence[_Place], entropy: Entropy) -> None:
        if not wanted:
            return
        combine = self._unit.combine
        assert combine is not None
        totals = self._totals(wanted)
        pairs, groups = self._choice(entropy)
        for (column, lattice), sums in totals.items():
            records = sums.records(combine, len(self._pairs))[pairs]
            # No name of the table can be in the way of this one.
            by = f"group of {column!r}"
            values = {by: ArrayColumn(groups)}
            if column is not None:
                values[column] = ArrayColumn(records)
            view = MemorySource(self._source.engine, len(groups), values.__getitem__, list(values))
            self._readers[column, lattice] = GroupReader(
                view, Unit(), by, range(len(self._keys)), [column]
            )

    def _totals(self, wanted: Sequence[_Place]) -> dict[_Place, PersonTotals]:
        """Add up the rows of each person and group, in one pass."""
        person = self._unit.column
        assert person is not None
        labels: dict[str, Coder] = {person: self._persons, self._by: Places(self._keys)}
        totals = {place: PersonTotals(place[1]) for place in wanted}
        columns = list(dict.fromkeys(column for column, _ in wanted))
        with quiet():
            for chunk in self._source.chunks(columns, labels):
                who, group = chunk[Label(person)], chunk[Label(self._by)]
                there = (who >= 0) & (group >= 0)
                pairs = self._pairs.codes(who[there] * len(self._keys) + group[there])
                for (column, _), sums in totals.items():
                    sums.add(pairs, chunk[column][there])
        return totals

    def _choice(self, entropy: Entropy) -> tuple[Integers, Integers]:
        """Choose groups of each person: the numbers of the pairs that are kept, their groups."""
        if self._kept is None:
            numbers = np.array(self._pairs.keys(), dtype=np.int64)
            persons, groups = np.divmod(numbers, len(self._keys))
            values = [groups, np.arange(len(numbers))]
            rows: DrawnRows | SmallestRows = SmallestRows(self._unit.groups)
            if self._key is not None:
                rows = DrawnRows(self._unit.groups, self._key, self._persons)
            else:
                values = [entropy.words(len(numbers)), *values]
            rows.add(persons, values)
            _, groups, pairs = rows.kept() or [np.empty(0, np.int64)] * 3
            self._kept = pairs, groups
        return self._kept
