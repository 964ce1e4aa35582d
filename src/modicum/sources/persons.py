"""Tables of persons who own many rows: bounded before any statistic sees them.

A statistic sees records, not rows: at most m rows of each person, or one record a person. The
privacy unit decides which, or the question if the unit names a column alone;
docs/research/proofs/unit.md proves that the rule bounds a person's share. See [unit.1].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy, expanded
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.privacy.unit import Unit
from modicum.sources import reader
from modicum.sources.base import Floats, MemorySource, Source, suppress_warnings
from modicum.sources.engines import arrays
from modicum.sources.labels import Coder, Datetimes, Dictionary, Label, label_bytes
from modicum.sources.reader import read
from modicum.summaries.base import LIMB, Columns, Integers, Read, RecordRule, Sensitive
from modicum.summaries.sums import Count

K = TypeVar("K", bound=Hashable)
A = TypeVar("A")

OnLattice = tuple[str | None, Lattice | None]
"""A column, and the lattice of its values (``None`` if only their number matters)."""

Made = tuple[str | None, Lattice | None, RecordRule]
"""A column, the lattice of the records, and the rule that makes them."""

RECORDS = "record"  # the name of their column

_ROWS = Unit()


def made_of(unit: Unit, ask: Read[Any]) -> Made | int:
    """Return what a read is of: records that a rule makes, or so many rows of each person."""
    rule = ask.rule
    if rule is None and (unit.combine is None or unit.combine == "all"):
        return unit.rows
    if rule is None:
        rule = RecordRule(unit.combine)  # type: ignore[arg-type]
    return rule.most if rule.kind == "rows" else (ask.column, ask.lattice, rule)


def values_of(column: str | None, lattice: Lattice | None, rule: RecordRule) -> Lattice | None:
    """Return the lattice on which the values of a read are summed."""
    return Read(column, lattice, Count(), rule=rule).of_values


def places_of(made: Iterable[Made | int]) -> list[OnLattice]:
    """Return what has to be summed for each person, each once."""
    places = [(each[0], values_of(*each)) for each in made if not isinstance(each, int)]
    return list(dict.fromkeys(places))


def check_unit(source: Source, unit: Unit) -> None:
    """Check by the schema that a table can show whose a row is, and in which order."""
    if unit.column is not None:
        source.check_label(unit.column)
    if unit.order_by is not None:
        source.check_order(unit.order_by)


class TableReader(Sensitive):
    """Computes reductions of the records of a source, for one run.

    Records are rows, at most m rows of each person (the same ones for all passes and columns), or
    one record a person (made for each column, lattice and rule when it is first read, of totals
    that are summed once). :func:`check_unit` has checked the unit; ``columns`` are all that the run
    will read, as :func:`~modicum.sources.reader.read_as` names them. ``key`` decides which rows are
    kept at random; without it a choice is fresh.
    """

    __slots__ = (
        "_columns", "_key", "_persons", "_scope", "_source", "_tables", "_totals", "_unit"
    )  # fmt: skip

    def __init__(
        self,
        source: Source,
        unit: Unit = _ROWS,
        columns: Sequence[reader.Column] = (),
        key: int | None = None,
    ) -> None:
        vectors = any(isinstance(each, Columns) for each in columns)
        if vectors and unit.combine is not None and not unit.whole:
            raise InvalidArgument(
                "a person's rows are not combined into one vector: leave out combine=, or combine "
                "them beforehand"
            )
        self._source = source
        self._unit = unit
        self._columns = reader.named_columns(columns)
        self._key = key
        self._scope: reader.Scope | None = None  # of a table whose rows stay where they are
        self._persons = Dictionary()
        self._totals: dict[OnLattice, PersonRecords] = {}
        self._tables: dict[Made | int, Source] = {}  # by the rule, or the most rows that are kept

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        source, unit = self._source, self._unit
        if unit.column is None:
            return read(source, reads, entropy)
        reader.check_asks(source, reads)
        if isinstance(source, reader.RemoteSource):
            if self._scope is None:
                self._scope = reader.Scope.of(unit, self._columns, entropy)
            return source.answer(self._scope, [(0, ask) for ask in reads], entropy)
        reads = [reader.as_counted(source, ask) for ask in reads]
        made = [made_of(unit, ask) for ask in reads]
        self._sum(places_of(made))
        for each in dict.fromkeys(made):
            if each not in self._tables:
                self._tables[each] = self._table(each, entropy)
        return together(
            made,
            reads,
            lambda each, some: read(self._tables[each], of_records(each, some), entropy),
        )

    def _sum(self, places: Iterable[OnLattice]) -> None:
        """Sum what every person has of columns, in one pass."""
        person = self._unit.column
        assert person is not None
        totals = {each: records_on(each[1]) for each in places if each not in self._totals}
        if not totals:
            return
        with suppress_warnings():
            columns = list(dict.fromkeys(column for column, _ in totals))
            for chunk in self._source.chunks(columns, {person: self._persons}):
                for (column, _), each in totals.items():
                    each.add(chunk[Label(person)], chunk[column])
        self._totals |= totals

    def _table(self, made: Made | int, entropy: Entropy) -> Source:
        if isinstance(made, int):
            source, unit, names = self._source, self._unit, self._columns
            rows, kept = kept_rows(source, unit, names, {}, entropy, self._key, most=made)
            return table_of(self._source, rows, dict(zip(self._columns, kept, strict=True)))
        totals = self._totals[made[0], values_of(*made)]
        with suppress_warnings():
            records = totals.records(made[2], len(self._persons))
        return table_of(self._source, len(self._persons), {RECORDS: records})


def of_records(made: Made | int, reads: Sequence[Read[Any]]) -> list[Read[Any]]:
    """Return the reads as they are of a table of one record a person, or of some rows."""
    return [ask if isinstance(made, int) else replace(ask, column=RECORDS) for ask in reads]


def together(
    keys: Sequence[K], reads: Sequence[A], answer: Callable[[K, list[A]], list[Any]]
) -> list[Any]:
    """Compute reads of equal keys together; return all results in the order of the reads."""
    answers: dict[int, Any] = {}
    for key in dict.fromkeys(keys):
        places = [i for i, each in enumerate(keys) if each == key]
        answers.update(zip(places, answer(key, [reads[i] for i in places]), strict=True))
    return [answers[i] for i in range(len(reads))]


def table_of(source: Source, rows: int, values: Mapping[str, NDArray[Any]]) -> MemorySource:
    """Return records in memory, under the name of the engine that holds the rows."""
    columns = {name: arrays.array_column(each) for name, each in values.items()}
    return MemorySource(source.engine, rows, columns.__getitem__, list(columns))


def kept_rows(
    source: Source,
    unit: Unit,
    columns: Sequence[str],
    labels: Mapping[str, Coder],
    entropy: Entropy,
    key: int | None = None,
    *,
    most: int | None = None,
) -> tuple[int, list[NDArray[Any]]]:
    """Return the number of rows that are left, at most ``most`` of each person, and the rows.

    ``None``: at most ``unit.rows``. These are the integers of ``labels``, and the columns. Ties go
    to the lowest label first, so their order must be one of the labels, whatever else is in the
    table. The unit has a column; ``key`` is as in :class:`TableReader`, and only without
    ``unit.order_by``.
    """
    person, order = unit.column, unit.order_by
    assert person is not None
    persons = Dictionary()
    coders: dict[str, Coder] = {**labels, person: persons}
    numbers = list(columns)
    place: str | Label | None = order
    if order is not None and source.check_order(order) == "datetime":
        coders[order], place = Datetimes(), Label(order)
    elif order is not None and order not in columns:
        numbers.append(order)

    def parts() -> Iterator[_Part]:
        for chunk in source.chunks(numbers, coders):
            values = [chunk[Label(name)] for name in labels] + [chunk[name] for name in columns]
            yield chunk[Label(person)], None if place is None else chunk[place], values

    with suppress_warnings():
        kept = few_rows(most or unit.rows, parts(), persons, entropy, key)
    kept = kept or [np.empty(0)] * (1 + len(labels) + len(columns))
    return len(kept[0]), kept[1:]


_Part = tuple[Integers, NDArray[Any] | None, list[NDArray[Any]]]


def few_rows(
    m: int, parts: Iterable[_Part], persons: Labels, entropy: Entropy, key: int | None
) -> list[NDArray[Any]]:
    """Return at most m rows of each person: the first in an order, or ones chosen at random.

    Each part is the person of some rows, what they are ordered by (``None`` if they are not), and
    their columns. The result is what decided, or whose the rows are, and the columns; it is empty
    if there are no parts. See [unit.3].
    """
    rows: SmallestRows | SampledRows
    rows = SmallestRows(m) if key is None else SampledRows(m, key, persons)
    for codes, order, values in parts:
        if order is not None:
            rows.add(codes, [order, *values])
        elif key is None:
            rows.add(codes, [entropy.words(len(codes)), *values])
        else:
            rows.add(codes, values)
    return rows.kept()


class Labels(Protocol):
    """Labels of the persons of rows, by their codes."""

    def keys(self) -> list[Any]:
        """Return all labels, in the order of their codes."""


class _Gathered(Sensitive):
    __slots__ = ("_m", "_parts", "_rows")

    def __init__(self, m: int) -> None:
        self._m = m
        self._parts: list[list[NDArray[Any]]] = []
        self._rows = 0

    def add(self, codes: Integers, columns: Sequence[NDArray[Any]]) -> None:
        """Take in rows: the person of each (those below 0 are dropped) and its columns."""
        owned = codes >= 0
        every = [codes, *columns]
        if not owned.all():
            every = [column[owned] for column in every]
        self._parts.append(every)
        self._rows += len(every[0])

    def _joined(self) -> list[NDArray[Any]]:
        return [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]


_LEAST = 1 << 18  # rows gathered before the first sort


class SmallestRows(_Gathered):
    """Keeps the m smallest rows of each person, rows being compared as tuples of columns.

    A person's rows that are kept are a function of that person's rows alone, as a multiset: ties
    are between rows that are equal in every column, and hence the same ([unit.2] on the proof
    page). About twice the kept rows are held.

    Examples
    --------
    >>> rows = SmallestRows(2)
    >>> rows.add(np.array([0, 1, 0, 0, -1]), [np.array([5.0, 1.0, 3.0, 4.0, 0.0])])
    >>> rows.kept()
    [array([3., 4., 1.])]
    """

    __slots__ = ("_limit",)

    def __init__(self, m: int) -> None:
        super().__init__(m)
        self._limit = _LEAST

    def add(self, codes: Integers, columns: Sequence[NDArray[Any]]) -> None:
        super().add(codes, columns)
        if self._rows >= self._limit:
            self._compact()
            self._limit = max(_LEAST, 2 * self._rows)

    def kept(self) -> list[NDArray[Any]]:
        """Return the columns of the rows that are left, in the order of persons and columns."""
        if not self._parts:
            return []
        self._compact()
        return self._parts[0][1:]

    def _compact(self) -> None:
        columns = self._joined()
        order = _sorted_by_person(columns)
        codes = columns[0][order]
        first = np.ones(len(codes), dtype=bool)
        first[self._m :] = codes[self._m :] != codes[: -self._m]
        self._parts = [[column[order[first]] for column in columns]]
        self._rows = len(self._parts[0][0])


class SampledRows(_Gathered):
    """Keeps m rows of each person, every set of m being equally likely over the keys.

    A table in parts is read anew for every job of a run, in whatever order, and all jobs must see
    the same rows. So a person's rows are sorted by their values, and the i-th of them gets the
    i-th word of SHAKE-256(key, label) as its tag; those with the smallest tags are kept. Rows
    that tie are equal in all that is read. So what is kept is a function of the key, the label
    and the multiset of the person's rows ([unit.5] on the proof page). All rows are held. The key
    is in [0, 2^256), and ``persons`` has made the codes of persons.
    """

    __slots__ = ("_key", "_persons")

    def __init__(self, m: int, key: int, persons: Labels) -> None:
        super().__init__(m)
        self._persons = persons
        self._key = key.to_bytes(32, "little")

    def kept(self) -> list[NDArray[Any]]:
        """Return the persons and the columns of the rows that are left."""
        if not self._parts:
            return []
        persons = self._persons.keys()
        columns = self._joined()
        order = _sorted_by_person(columns)
        codes = columns[0][order]
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        lengths = np.diff(begins, append=len(codes))
        chosen = np.ones(len(codes), dtype=bool)
        for place in np.flatnonzero(lengths > self._m).tolist():
            start, length = int(begins[place]), int(lengths[place])
            tags = self._tags(persons[codes[start]], length)
            chosen[start : start + length] = False
            chosen[start + tags.argsort(kind="stable")[: self._m]] = True
        return [column[order[chosen]] for column in columns]

    def _tags(self, person: Hashable, count: int) -> NDArray[np.uint64]:
        digest = expanded(self._key + label_bytes(person), 8 * count)
        return np.frombuffer(digest, "<u8")


def _sorted_by_person(columns: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Sort rows by person and columns, as ``numpy.lexsort(columns[::-1])``, several times as fast.

    By the first column alone; then by the person and that place, in one integer; only rows whose
    person and first column are equal need the others.
    """
    if len(columns) == 1:
        return columns[0].argsort()
    codes, first = columns[0], columns[1]
    rows = len(codes)
    by_first = np.argsort(first)
    places = codes[by_first] * rows + np.arange(rows)  # below 2^63: both factors fit in memory
    places.sort()
    order = by_first[places % max(rows, 1)]
    codes, first = codes[order], first[order]
    missing = first != first  # noqa: PLR0124 -- NaN
    tied = codes[1:] == codes[:-1]
    tied &= (first[1:] == first[:-1]) | (missing[1:] & missing[:-1])
    if len(columns) > 2 and tied.any():
        among, run = np.zeros(rows, dtype=bool), np.zeros(rows, dtype=np.int64)
        among[1:] |= tied
        among[:-1] |= tied
        run[1:] = np.cumsum(~tied)
        unsorted = order[among]
        rest = [column[unsorted] for column in columns[:1:-1]]
        order[among] = unsorted[np.lexsort((*rest, run[among]))]
    return order


_LOW = (1 << LIMB) - 1


class PersonRecords(Sensitive):
    """One record a person, of values that are taken in in any order."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts = np.zeros(0, dtype=np.int64)

    def add(self, codes: Integers, x: Floats) -> None:
        """Take in values and the person of each; persons below 0 and NaN are dropped."""
        present = (codes >= 0) & ~np.isnan(x)
        codes = codes[present]
        self._counts = _grown(self._counts, int(codes.max(initial=-1)) + 1)
        np.add.at(self._counts, codes, 1)
        self._take(codes, x[present])

    def records(self, rule: RecordRule, persons: int) -> Floats:
        """Return one number for each person, NaN without values."""
        self._counts = _grown(self._counts, persons)
        there = self._counts[:persons] > 0
        records = np.where(there, 0.0, np.nan)
        counts = self._counts[:persons][there]
        records[there] = counts if rule.kind == "count" else self._records(rule, there, counts)
        return records

    @abstractmethod
    def _take(self, codes: Integers, x: Floats) -> None:
        """Take in values of known persons."""

    @abstractmethod
    def _records(
        self, rule: RecordRule, there: NDArray[np.bool_], counts: Integers
    ) -> Floats | float:
        """Records of the persons that have values, and how many of them."""


def records_on(lattice: Lattice | None) -> PersonRecords:
    """Begin to take in values whose records are read on a lattice."""
    return PersonSizes() if lattice == OCTAVES else PersonTotals(lattice)


class PersonSizes(PersonRecords):
    """A number in the octave of a bound of what :class:`PersonTotals` has for the person.

    The size of a mean is at most that of the largest value, and that of a sum of m values at most m
    times as large: some octaves more ([unit.8] on the proof page).
    """

    __slots__ = ("_octaves",)

    def __init__(self) -> None:
        super().__init__()
        self._octaves = np.zeros(0, dtype=np.int64)

    def _take(self, codes: Integers, x: Floats) -> None:
        self._octaves = _grown(self._octaves, len(self._counts))
        np.maximum.at(self._octaves, codes, OCTAVES.quantise(x))

    def _records(self, rule: RecordRule, there: NDArray[np.bool_], counts: Integers) -> Floats:
        self._octaves = _grown(self._octaves, len(there))
        octaves = self._octaves[: len(there)][there]
        if rule.kind == "sum":
            more = np.frexp(counts - 1.0)[1]  # ceil(log2 m)
            octaves = np.minimum(octaves + more * (octaves > 0), OCTAVES.last)
        return OCTAVES.least(octaves)


class PersonTotals(PersonRecords):
    """The exact mean or sum of a person's values, on the lattice.

    Sums each person's lattice integers, in two limbs, and counts them. A lattice integer is q =
    2^26 h + l with 0 <= l < 2^26 and |h| <= 2^25, so that both sums stay within int64 for a person
    of up to 2^37 rows ([unit.4] on the proof page). Without a lattice values do not matter, only
    whether there are any.
    """

    __slots__ = ("_highs", "_lattice", "_lows")

    def __init__(self, lattice: Lattice | None) -> None:
        super().__init__()
        self._lattice = lattice and lattice.linear
        self._highs = self._lows = np.zeros(0, dtype=np.int64)

    def _take(self, codes: Integers, x: Floats) -> None:
        if self._lattice is not None:
            q = self._lattice.quantise(x)
            self._highs, self._lows = (
                _grown(each, len(self._counts)) for each in (self._highs, self._lows)
            )
            np.add.at(self._highs, codes, q >> LIMB)
            np.add.at(self._lows, codes, q & _LOW)

    def _records(
        self, rule: RecordRule, there: NDArray[np.bool_], counts: Integers
    ) -> Floats | float:
        if self._lattice is None:
            return 0.0
        self._highs, self._lows = (_grown(each, len(there)) for each in (self._highs, self._lows))
        highs, lows = self._highs[: len(there)][there], self._lows[: len(there)][there]
        highs, lows = highs + (lows >> LIMB), lows & _LOW
        if rule.kind == "mean":
            # floor((2^26 h + l) / n): of h = n a + r it is 2^26 a + floor((2^26 r + l) / n).
            whole, rest = np.divmod(highs, counts)
            q = (whole << LIMB) + ((rest << LIMB) + lows) // counts
        else:
            # 2^26 h + l, less n times the centre: each half by itself, then the carry.
            highs, lows = (
                highs - counts * (rule.centre >> LIMB),
                lows - counts * (rule.centre & _LOW),
            )
            highs, lows = highs + (lows >> LIMB), lows & _LOW
            if rule.lattice is not None:  # [people.1] in a wider range, rounded to float64
                sums = highs.astype(np.float64) * 2.0**LIMB + lows
                return sums * np.float64(self._lattice.step)
            # Clamped to the range: beyond |h| = 2^26 it is beyond 2^51 anyway.
            q = (np.clip(highs, -1 << LIMB, 1 << LIMB) << LIMB) + lows
            q = np.clip(q, self._lattice.first, self._lattice.last)
        records: Floats = q * self._lattice.step
        return records


def _grown(known: Integers, persons: int) -> Integers:
    """The numbers of at least so many persons, new ones 0; twice as many at a time."""
    if persons <= len(known):
        return known
    more = np.zeros(max(persons, 2 * len(known)) - len(known), dtype=np.int64)
    return np.concatenate([known, more])
