"""Groups of rows by public keys: the result for each group alone, for all groups in one pass.

A few groups are read with one accumulator for each reduction of each group, in bounded memory. Of
many groups the lattice integers are collected and sorted (:mod:`modicum.summaries.grouped`), 8
bytes a record, and no group needs another pass.

The privacy unit decides whether a group is made of rows (:class:`GroupReader`), or of one record of
each person in it (:class:`PersonGroups`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.partition_selection import natural_order
from modicum.privacy.unit import Unit
from modicum.sources import persons
from modicum.sources.across import across_groups
from modicum.sources.base import CHUNK, Chunk, Floats, Source, rows_of, suppress_warnings
from modicum.sources.labels import Coder, Dictionary, Label, label_bytes
from modicum.sources.places import FirstPlace, Places
from modicum.sources.reader import ColumnRows, RemoteSource, Scope, as_counted, named_columns
from modicum.summaries import grouped, sums
from modicum.summaries.base import Accumulator, Integers, Read, Sensitive, further_pass

_FEW = 64  # most groups that are read with accumulators of their own
_WAITING = 1 << 15  # rows of a group that are summarised at a time

_Started = tuple[int, str | None, Accumulator[Any]]  # of a group and column


def check_groups(
    source: Source, unit: Unit, columns: Sequence[str], max_groups: int | None
) -> None:
    """Check by the schema that rows can be grouped."""
    for by in columns:
        source.check_label(by)
    for by in columns:
        if by == unit.column:
            raise InvalidArgument(
                f"by={by!r} says whose a row is: every group would be one protected person, of "
                "whom nothing can be told"
            )
        if by == unit.order_by and source.check_order(by) == "datetime":
            raise InvalidArgument(
                f"by={by!r} already orders the rows of a person: pass a table with a copy of it"
            )
    if len({*columns}) < len(columns):
        raise InvalidArgument(f"the columns of keys must be different, got {list(columns)}")
    if unit.combine is None and max_groups is not None:
        raise InvalidArgument(
            "max_groups= is for a unit that names persons and has no max_rows=: here rows are "
            "bounded over all groups together"
        )
    if unit.combine is not None and not unit.whole and max_groups is None:
        raise InvalidArgument(
            f"combine={unit.combine!r} makes one record of a person's rows in each group: say in "
            "how many groups one person may count, for example max_groups=1"
        )


def reader_of_groups(
    source: Source,
    unit: Unit,
    by: str,
    keys: Sequence[Hashable],
    columns: Sequence[str | None],
    key: int | None = None,
) -> GroupReader:
    """Return the reader of one run; see :class:`GroupReader` for the parameters."""
    of_rows = unit.combine is None or isinstance(source, RemoteSource)
    return (GroupReader if of_rows else PersonGroups)(source, unit, by, keys, columns, key)


def reader_of_sizes(source: Source, unit: Unit, by: str, keys: Sequence[Hashable]) -> GroupReader:
    """Return a reader of the number of groups of each person."""
    if isinstance(source, RemoteSource):
        return GroupReader(source, unit, by, keys, [])
    return PersonGroups(source, unit, by, keys, [])


def count_keys(
    source: Source, unit: Unit, by: str, entropy: Entropy, key: int | None = None
) -> dict[Any, int]:
    """Count the records of every label of a column, as the unit bounds them; sensitive."""
    if isinstance(source, RemoteSource):
        return source.count_keys(Scope.of(unit, [], entropy, by), entropy)
    labels = Dictionary()
    counts = np.zeros(1, dtype=np.int64)  # first of the rows without a label
    with suppress_warnings():
        for chunk in source.chunks([], {by: labels}):
            more = np.bincount(chunk[Label(by)] + 1, minlength=len(labels) + 1)
            more[: len(counts)] += counts
            counts = more
        keys = labels.keys()
        if unit.column is not None:
            # The order of ties must not depend on which label came first.
            keys.sort(key=natural_order)
            if unit.combine is None:
                _, (places,) = persons.kept_rows(source, unit, [], {by: Places(keys)}, entropy, key)
            else:
                places = PersonGroups(source, unit, by, keys, [], key).chosen(entropy)
            counts = np.bincount(places.astype(np.int64) + 1, minlength=len(keys) + 1)
    return {each: n for each, n in zip(keys, counts[1:].tolist(), strict=True) if n}


class GroupReader(Sensitive):
    """Reads the rows of a table by the keys of one column, ``by``.

    Group i is made of the rows with ``keys[i]``; keys are public and different, and a key is also
    found by its text. Rows with other keys, or no key, are in no group. Of a person who is named by
    a column, at most ``unit.rows`` rows are read, over all groups; ``key`` decides which, as in
    :class:`~modicum.sources.persons.TableReader`. ``columns`` are all that will be read, checked.
    """

    __slots__ = (
        "_by", "_columns", "_kept", "_key", "_keys", "_places", "_scope", "_sorted", "_source",
        "_unit",
    )  # fmt: skip

    def __init__(
        self,
        source: Source,
        unit: Unit,
        by: str,
        keys: Sequence[Hashable],
        columns: Sequence[str | None],
        key: int | None = None,
    ) -> None:
        self._source = source
        self._key = key
        self._scope: Scope | None = None  # of a table whose rows stay where they are
        self._unit = unit
        self._by = by
        self._keys = keys
        self._places = Places(keys)
        self._columns = named_columns(columns)
        self._kept: list[NDArray[Any]] | None = None  # the rows of persons
        self._sorted: dict[
            tuple[str | None, Lattice], grouped.SortedGroups | grouped.FloatGroups
        ] = {}

    def read(self, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy) -> list[Any]:
        """Compute reductions, each for the group of its number, in at most one pass."""
        if isinstance(self._source, RemoteSource):
            if self._scope is None:
                self._scope = Scope.of(self._unit, self._columns, entropy, self._by, self._keys)
            return self._source.answer(self._scope, reads, entropy)
        reads = [(group, as_counted(self._source, ask)) for group, ask in reads]
        with suppress_warnings():
            self._keep(entropy)
            if len(self._keys) <= _FEW:
                return self._read_apart(reads, entropy)
            return self._read_sorted(reads, entropy)

    def read_together(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Compute reductions of the records of all groups as of one; not of a remote table."""
        counted = [(0, as_counted(self._source, ask)) for ask in reads]
        with suppress_warnings():
            self._keep(entropy)
            return _Together(self)._read_apart(counted, entropy)  # noqa: SLF001

    def _keep(self, entropy: Entropy) -> None:
        """Choose the rows of persons, once."""
        if self._unit.column is not None and self._kept is None:
            coders = {self._by: self._places}
            _, self._kept = persons.kept_rows(
                self._source, self._unit, self._columns, coders, entropy, self._key
            )

    def rows(self, columns: Sequence[str | None]) -> Iterator[tuple[Integers, dict[Any, Floats]]]:
        """Yield the groups of the rows of a chunk, -1 for none, and their columns."""
        if self._kept is None:
            for chunk in self._source.chunks(columns, {self._by: self._places}):
                yield chunk[Label(self._by)], {column: chunk[column] for column in columns}
            return
        groups, *values = self._kept
        kept: dict[str | None, Floats] = dict(zip(self._columns, values, strict=True))
        kept[None] = rows_of(len(groups))
        for start in range(0, len(groups), CHUNK):
            part = slice(start, start + CHUNK)
            yield groups[part].astype(np.int64), {each: kept[each][part] for each in columns}

    def _read_apart(self, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy) -> list[Any]:
        started: list[_Started] = []
        for group, ask in reads:
            rows = self._rows_of(group, ask.column, entropy)
            started.append((group, ask.column, ask.reduction.begin(ask.lattice, rows)))
        waiting = started
        while waiting:
            self._feed(waiting)
            waiting = [
                (group, column, more)
                for group, column, each in started
                if (more := further_pass(each)) is not None
            ]
        return [accumulator.finish() for _, _, accumulator in started]

    def _rows_of(self, group: int, column: str | None, entropy: Entropy) -> ColumnRows:
        def feed(accumulator: Accumulator[object]) -> None:
            for groups, columns in self.rows([column]):
                accumulator.update(columns[column][groups == group])

        return ColumnRows(entropy, feed)

    def _feed(self, started: Sequence[_Started]) -> None:
        routes: dict[tuple[int, str | None], _Route] = {}
        for group, column, accumulator in started:
            routes.setdefault((group, column), _Route()).accumulators.append(accumulator)
        for groups, columns in self.rows(list(dict.fromkeys(column for _, column, _ in started))):
            order = groups.astype(np.int8).argsort(kind="stable")  # by digits: linear in the rows
            cuts = groups[order].searchsorted(np.arange(len(self._keys) + 1)).tolist()
            for column, x in columns.items():
                arranged = x.take(order)
                for group, (start, stop) in enumerate(itertools.pairwise(cuts)):
                    route = routes.get((group, column))
                    if route is not None and start < stop:
                        route.add(arranged[start:stop].copy())  # a view would keep the chunk
        for route in routes.values():
            route.flush()

    def _read_sorted(self, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy) -> list[Any]:
        counted = {ask.column for _, ask in reads if ask.lattice is None}
        wanted = {(ask.column, ask.lattice) for _, ask in reads if ask.lattice is not None}
        counts = {column: np.zeros(len(self._keys), dtype=np.int64) for column in counted}
        packed = {
            (column, lattice): grouped.of_groups(len(self._keys), lattice)
            for column, lattice in wanted
            if (column, lattice) not in self._sorted
        }
        columns = list(dict.fromkeys([*counted, *(column for column, _ in packed)]))
        for groups, chunk in self.rows(columns) if columns else ():
            for column, tally in counts.items():
                there = (groups >= 0) & ~np.isnan(chunk[column])
                np.add(tally, np.bincount(groups[there], minlength=len(tally)), out=tally)
            for (column, _), collected in packed.items():
                collected.update(groups, chunk[column])
        self._sorted |= {place: collected.finish() for place, collected in packed.items()}
        at_once = {
            ask: self._sorted[ask.column, ask.lattice].summaries(ask.reduction)
            for ask, times in Counter(ask for _, ask in reads).items()
            if times > _FEW and ask.lattice is not None
        }

        def summary(group: int, ask: Read[Any]) -> Any:
            if ask.lattice is None:
                return sums.CountSummary(int(counts[ask.column][group]))
            if (of_group := at_once.get(ask)) is not None:
                return of_group(group)
            records = self._sorted[ask.column, ask.lattice].records(group)
            return grouped.summary_of_sorted(
                ask.reduction, ask.lattice, records, ColumnRows(entropy)
            )

        return [summary(group, ask) for group, ask in reads]


class GroupsTogether:
    """Reads the records of all groups of a reader as those of one table [pooled.1]."""

    def __init__(self, reader: GroupReader) -> None:
        self._reader = reader

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Compute reductions in one pass."""
        return self._reader.read_together(reads, entropy)


class PersonsTogether:
    """Reads one record of each person, of their rows in all groups of a reader [pooled.11]."""

    def __init__(self, reader: PersonGroups) -> None:
        self._groups = reader
        self._persons = reader.as_one()

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Compute reductions of records, or of their norms across groups."""
        across = [ask.rule is not None and ask.rule.across is not None for ask in reads]

        def answer(several: bool, some: list[Read[Any]]) -> list[Any]:  # noqa: FBT001
            reader = self._groups if several else self._persons
            return reader.read([(0, ask) for ask in some], entropy)

        return persons.together(across, reads, answer)


class _Route:
    """The rows of one group on their way to its accumulators, many at a time."""

    __slots__ = ("_rows", "_waiting", "accumulators")

    def __init__(self) -> None:
        self.accumulators: list[Accumulator[Any]] = []
        self._waiting: list[Floats] = []
        self._rows = 0

    def add(self, x: Floats) -> None:
        self._waiting.append(x)
        self._rows += len(x)
        if self._rows >= _WAITING:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            x = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
            for accumulator in self.accumulators:
                accumulator.update(x)
        self._waiting, self._rows = [], 0


class _Together(GroupReader):
    """The groups of a reader as one, of the same rows."""

    __slots__ = ("_of",)

    def __init__(self, of: GroupReader) -> None:
        super().__init__(of._source, of._unit, of._by, (0,), of._columns)  # noqa: SLF001
        self._of = of

    def rows(self, columns: Sequence[str | None]) -> Iterator[tuple[Integers, dict[Any, Floats]]]:
        for groups, chunk in self._of.rows(columns):
            yield np.minimum(groups, 0), chunk


class PersonGroups(GroupReader):
    """Reads one record of each person in each group, in at most ``unit.groups`` groups of each.

    A random choice that looks at one person's groups alone decides which of them count;
    docs/research/proofs/groups.md proves that it bounds a person's share, [groups.3]. The choice is
    made once, at the first pass, and holds for all columns and passes. A person has a group if they
    have a row with its key, whatever its values.

    The unit has ``combine``. Rows with other keys, or no key, are dropped before anything else. A
    rule may keep some rows of each person in each group, in place of one record.
    """

    __slots__ = ("_chosen", "_pairs", "_persons", "_readers", "_totals")

    def __init__(
        self,
        source: Source,
        unit: Unit,
        by: str,
        keys: Sequence[Hashable],
        columns: Sequence[str | None],
        key: int | None = None,
    ) -> None:
        super().__init__(source, unit, by, keys, columns, key)
        # Kept between passes, so that a pair has one number whatever the order of the rows.
        self._persons, self._pairs = Dictionary(), Dictionary()
        self._chosen: tuple[Integers, Integers] | None = None
        self._totals: dict[persons.OnLattice, persons.PersonRecords] = {}
        self._readers: dict[persons.Made | int, GroupReader] = {}

    def read(self, reads: Sequence[tuple[int, Read[Any]]], entropy: Entropy) -> list[Any]:
        reads = [(group, as_counted(self._source, ask)) for group, ask in reads]
        made = self._make([ask for _, ask in reads], entropy)

        def answer(each: persons.Made | int, some: list[tuple[int, Read[Any]]]) -> list[Any]:
            groups, asked = zip(*some, strict=True)
            of_groups = list(zip(groups, persons.of_records(each, asked), strict=True))
            return self._readers[each].read(of_groups, entropy)

        return persons.together(made, reads, answer)

    def read_together(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        counted = [as_counted(self._source, ask) for ask in reads]
        made = self._make(counted, entropy)
        return persons.together(
            made,
            counted,
            lambda each, some: self._readers[each].read_together(
                persons.of_records(each, some), entropy
            ),
        )

    def as_one(self) -> PersonGroups:
        """Return a reader of all these groups as one."""
        one = PersonGroups(self._source, self._unit, self._by, (0,), self._columns)
        one._places = FirstPlace(self._keys)
        return one

    def _make(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[persons.Made | int]:
        """Make the records that are to be read, each kind once; return what each read is of."""
        made = [persons.made_of(self._unit, ask) for ask in reads]
        self._sum(persons.places_of(made))
        with suppress_warnings():  # sums of a person's values may be no float
            for each in dict.fromkeys(made):
                if each not in self._readers:
                    self._readers[each] = self._reader(each, entropy)
        return made

    def chosen(self, entropy: Entropy) -> Integers:
        """Return the groups that are kept, once for each person in them; sensitive."""
        return self._choice(entropy)[1]

    def _sum(self, places: Iterable[persons.OnLattice]) -> None:
        """Sum what every person has of columns in each group, in one pass."""
        totals = {each: persons.records_on(each[1]) for each in places if each not in self._totals}
        if not totals:
            return
        with suppress_warnings():
            for there, pairs, chunk in self._chunks([column for column, _ in totals]):
                for (column, _), each in totals.items():
                    each.add(pairs, chunk[column][there])
        self._totals |= totals

    def _chunks(
        self, columns: Sequence[str | None]
    ) -> Iterator[tuple[NDArray[np.bool_], Integers, Chunk]]:
        """Yield which rows of a chunk are a person's in a group, their pairs, and the chunk."""
        person = self._unit.column
        assert person is not None
        labels: dict[str, Coder] = {person: self._persons, self._by: self._places}
        for chunk in self._source.chunks(list(dict.fromkeys(columns)), labels):
            who, group = chunk[Label(person)], chunk[Label(self._by)]
            there = (who >= 0) & (group >= 0)
            yield there, self._pairs.codes(who[there] * len(self._keys) + group[there]), chunk

    def _reader(self, made: persons.Made | int, entropy: Entropy) -> GroupReader:
        """Return the reader of the records that a rule makes, by the groups that are kept."""
        if not isinstance(made, int) and made[2].kind == "groups":
            return self._reader_of_sizes()  # places_of() has made a pass
        if not isinstance(made, int) and made[2].across is not None:
            return self._reader_across(made)
        pairs, groups = self._choice(entropy)
        if isinstance(made, int):
            columns: list[str | None] = [*self._columns]
            groups, *kept = self._rows(pairs, made, entropy)
            values = dict(zip(self._columns, kept, strict=True))
        else:
            columns = [persons.RECORDS]
            records = self._totals[made[0], persons.values_of(*made)].records(
                made[2], len(self._pairs)
            )
            values = {persons.RECORDS: records[pairs]}
        by = f"group of {columns!r}"  # no name of the table can be in the way of this one
        view = persons.table_of(self._source, len(groups), {by: groups, **values})
        return GroupReader(view, Unit(), by, range(len(self._keys)), columns)

    def _reader_of_sizes(self) -> GroupReader:
        """Return the reader of the number of groups of each person, all in the first group."""
        sizes = np.bincount(self._persons_and_groups()[0])
        return self._in_first_group(sizes[sizes > 0].astype(np.float64))

    def _reader_across(self, made: persons.Made) -> GroupReader:
        """Return the reader of records across all groups: none of a person's is dropped."""
        people, groups = self._persons_and_groups()
        assert made[2].across is not None
        totals = self._totals[made[0], persons.values_of(*made)]
        records = across_groups(totals, made[2], made[1], people)
        if made[2].across.limits is None:
            return self._in_first_group(records)
        values = {"group": groups, persons.RECORDS: records}
        view = persons.table_of(self._source, len(groups), values)
        return GroupReader(view, Unit(), "group", range(len(self._keys)), [persons.RECORDS])

    def _persons_and_groups(self) -> tuple[Integers, Integers]:
        """Return the person and the group of each pair."""
        pairs = np.array(self._pairs.keys(), dtype=np.int64)
        return np.divmod(pairs, max(len(self._keys), 1))

    def _in_first_group(self, records: Floats) -> GroupReader:
        """Return the reader of one record of each person, all in the first group."""
        values = {"group": np.zeros(len(records), np.int64), persons.RECORDS: records}
        view = persons.table_of(self._source, len(records), values)
        return GroupReader(view, Unit(), "group", [0], [persons.RECORDS])

    def _rows(self, pairs: Integers, most: int, entropy: Entropy) -> list[NDArray[Any]]:
        """Return the groups and the columns of at most so many rows of each kept pair."""
        kept = np.zeros(len(self._pairs), dtype=bool)
        kept[pairs] = True

        def parts() -> Iterator[tuple[Integers, None, list[NDArray[Any]]]]:
            for there, codes, chunk in self._chunks([*self._columns]):
                group = chunk[Label(self._by)][there]
                values = [chunk[name][there] for name in self._columns]
                yield np.where(kept[codes], codes, -1), None, [group, *values]

        found = persons.few_rows(most, parts(), _PairLabels(self), entropy, self._key)
        return found[1:] or [np.empty(0, np.int64)] * (1 + len(self._columns))

    def pair_labels(self) -> list[str]:
        """Return labels of the pairs of a person and a group, the same in every process."""
        people, numbers = self._persons.keys(), self._pairs.keys()
        places = (divmod(each, len(self._keys)) for each in numbers)
        return [f"{group} {label_bytes(people[who]).hex()}" for who, group in places]

    def _choice(self, entropy: Entropy) -> tuple[Integers, Integers]:
        """Choose groups of each person: the numbers of the pairs that are kept, and the groups."""
        if self._chosen is None:
            if not self._totals:
                self._sum([(None, None)])  # a pass that finds them
            numbers = np.array(self._pairs.keys(), dtype=np.int64)
            people, groups = np.divmod(numbers, len(self._keys))
            part = people, None, [groups, np.arange(len(numbers))]
            _, groups, pairs = persons.few_rows(
                self._unit.groups, [part], self._persons, entropy, self._key
            )
            self._chosen = pairs, groups
        return self._chosen


class _PairLabels:
    """The labels of a reader's pairs, made when they are needed."""

    def __init__(self, reader: PersonGroups) -> None:
        self.keys = reader.pair_labels
