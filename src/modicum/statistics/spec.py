"""What a statistic is to everything around it: its options, and a table of the ways to answer it.

A chapter of a statistic holds its public function, its rows, its algorithm and its error model. The
audit, the command line, the plans, the tests and the docs read the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from modicum.errors import InvalidArgument, as_given
from modicum.exact import octaves
from modicum.exact.float_keys import KEYS
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import ANY_KIND, Budget, Kind
from modicum.privacy.event import Event
from modicum.releases.release import Estimate, Record, Release
from modicum.runtime.query import Pooling, Query
from modicum.runtime.steps import Steps
from modicum.statistics.options import Options
from modicum.statistics.people import persons
from modicum.statistics.ranges.found_range import RangeNeeds, in_found_range, octaves_of
from modicum.summaries.base import MOST_COLUMNS, Columns, Read
from modicum.summaries.sizes import OctaveSummary

Chosen = TypeVar("Chosen", bound=Options)
R_co = TypeVar("R_co", bound=Record, covariant=True)
_Answer = Callable[[Any, Any, Event, Chosen], Steps[Estimate[R_co]]]


class PooledWay(NamedTuple):
    """How the default options of a row are answered for groups that share what is alike.

    The parts are those of a :class:`~modicum.runtime.query.Pooling`; ``find`` has the place and the
    lattice besides, ``begin`` the place, and what answers a group alone: within the lattice that
    all groups found, and without it; ``least`` groups do so by default, and more.
    """

    find: Callable[[Any, Lattice, Event, int], Steps[Any]]
    begin: Callable[[Any, Any, Event, Callable[[Event], Steps[Any]]], Steps[Any]]
    finish: Callable[[Any, Sequence[Any]], list[Any]]
    least: int = 30


class Row(NamedTuple, Generic[Chosen, R_co]):
    """One way to answer one statistic; a statistic's first row is its default ``method``.

    ``options`` are those to audit and test, the default first; ``proof`` is a page in
    docs/research/proofs, ``summary`` one line for lists, and ``kinds`` are the budgets it accepts.
    An answer, of the type ``release``, comes from ``begin(place, lattice, event, options)``; the
    lattice is ``None`` where there is no range, and the range is found if it is ``None`` where one
    is needed, unless the row never ``finds_range``. Its end is sought with ``strength``: values 2^d
    times the median size are missed if they are fewer than (d/2 + 3)/strength, divided by ε, from d
    = 16 on (d/10 + 9)/strength. If it is ``of_rows``, it reads rows that are vectors, and ``place``
    is :class:`Columns`. ``turn`` says where a budget of (ε, δ) is spent as ρ, see
    :class:`~modicum.runtime.query.Query`, if anywhere. ``lattice_of`` makes the lattice that the
    statistic is about out of any lattice; of that one, itself. ``octaves_of`` reads the sizes of
    which a range is found. ``by_window``: none is, and ``begin`` finds what it needs itself on
    :data:`~modicum.exact.float_keys.KEYS`. ``of_persons`` answers from all rows of persons, whose
    sums are read in a range that is so many octaves wider; without it, from a number of rows of
    each that is found. ``of_truths`` is the row that answers the default options where values are 0
    or 1.
    ``pooled`` returns how groups of rows share what is alike, and ``pooled_persons`` how groups of
    persons with all their rows do, given by how many octaves that range is wider; only then is it
    imported.
    """

    statistic: str
    method: str
    options: tuple[Chosen, ...]
    proof: str
    summary: str
    begin: Callable[[Any, Any, Event, Chosen], Steps[Estimate[R_co]]]
    release: type[Record] = Release
    kinds: tuple[Kind, ...] = ANY_KIND
    needs_range: bool = True
    finds_range: bool = True
    strength: float = 0.025
    of_rows: bool = False
    turn: Fraction | None = None
    lattice_of: Callable[[Lattice], Lattice] = lambda lattice: lattice
    octaves_of: Callable[[Any], Read[OctaveSummary]] = octaves_of
    by_window: bool = False
    of_persons: Callable[[int, Any, Any, Event, Chosen], Steps[Estimate[R_co]]] | None = None
    of_truths: Any = None  # a row
    pooled: Callable[[], PooledWay] | None = None
    pooled_persons: Callable[[int], PooledWay] | None = None

    def query(
        self, place: str | Columns | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Query[R_co]:
        """Build a checked query: the budget's kind and the options must fit the method."""
        where = f"{self.statistic} with method={self.method!r}"
        if budget.kind not in self.kinds:
            raise InvalidArgument(
                f"{where} takes budgets of kind {' or '.join(self.kinds)}, got {budget.kind!r}"
            )
        options.check(self.options, where)
        lattice = lattice and self.lattice_of(lattice)
        if self.of_rows and not isinstance(place, Columns):
            place = Columns(None if place is None else (place,))

        found = lattice is None and self.needs_range
        if found and not self.finds_range:
            raise InvalidArgument(f"{where} needs within=(lowest, highest), a range known as tight")

        def begin(answer: Callable[..., Steps[Any]], event: Event) -> Steps[Any]:
            def on(lattice: Lattice | None, event: Event) -> Steps[Any]:
                return answer(place, lattice, event, options)

            if not found:
                return on(lattice, event)
            needs = RangeNeeds(options.spare, max(self.strength, options.strength))
            return in_found_range(self.octaves_of(place), event, self.lattice_of, on, needs)

        alone = partial(self._on_keys, place, options) if found and self.by_window else None
        of_rows = partial(begin, self.begin)
        wider = persons.WIDER_IF_FOUND if found else persons.WIDER
        of_persons = self._of_persons(place, options, begin, wider, itself=alone is not None)
        return Query(
            self.statistic,
            self.method,
            place,
            octaves.OCTAVES if found else lattice,
            budget,
            alone or of_rows,
            self.release,
            options,
            options.ranged and not found,
            self.turn,
            population=options.population,
            begin_of_persons=of_persons,
            begin_of_combined=of_rows if alone else None,  # the records of persons are on a lattice
            ranging=partial(self._within, place, budget, options) if found else None,
            pooling=self._pooling(self.pooled, begin, place, options, found=found),
            pooling_of_persons=self._pooling(
                self.pooled_persons and partial(self.pooled_persons, wider),
                lambda answer, event: persons.in_values(partial(begin, answer), event),
                place,
                options,
                found=found,
            ),
        )

    def _on_keys(self, place: Any, options: Chosen, event: Event) -> Steps[Estimate[R_co]]:
        """Answer without a range."""
        return self.begin(place, KEYS, event, options)

    def _of_persons(
        self,
        place: Any,
        options: Chosen,
        begin: Callable[[Callable[..., Steps[Any]], Event], Steps[Any]],
        wider: int,
        *,
        itself: bool,
    ) -> Callable[[Event], Steps[Any]]:
        """What answers of persons with all their rows; ``itself``: it finds the range it needs."""
        if isinstance(place, Columns):  # a person's largest row is not looked for
            return partial(persons.in_found_limit, partial(begin, self.begin))
        if self.of_persons is None:
            return partial(persons.in_values, partial(begin, self._in_found_limit))
        answer = partial(self.of_persons, wider)
        if itself:
            return partial(persons.in_values, lambda event: answer(place, KEYS, event, options))
        return partial(persons.in_values, partial(begin, answer))

    def _within(
        self, place: Any, budget: Budget, options: Chosen, lattice: Lattice, *, truths: bool
    ) -> Query[R_co]:
        """Build the query within a range that something public states."""
        apart = truths and self.of_truths is not None and options == self.options[0]
        row: Row[Chosen, R_co] = self.of_truths if apart else self
        return row.query(place, lattice, budget, options)

    def _pooling(
        self,
        pooled: Callable[[], PooledWay] | None,
        begin: Callable[[Callable[..., Steps[Any]], Event], Steps[Any]],
        place: Any,
        options: Chosen,
        *,
        found: bool,
    ) -> Callable[[], Pooling] | None:
        """How groups share what is alike; a range is found by all of them together."""
        if pooled is None or options != self.options[0]:
            return None

        def find(way: PooledWay, event: Event, groups: int) -> Steps[Any]:
            def first(place: Any, lattice: Lattice, event: Event, _: Chosen) -> Steps[Any]:
                return way.find(place, lattice, event, groups)

            return begin(first, event)

        def of_group(way: PooledWay, pool: Any, event: Event) -> Steps[Any]:
            def alone(event: Event) -> Steps[Any]:
                if pool.useful:
                    return self.begin(place, pool.lattice, event, options)
                return begin(self.begin, event)

            estimate = yield from way.begin(place, pool, event, alone)
            return replace(estimate, lattice=pool.lattice) if found and pool.useful else estimate

        def pooling() -> Pooling:
            way = pooled()
            return Pooling(partial(find, way), partial(of_group, way), way.finish, way.least)

        return pooling

    def _in_found_limit(
        self, place: str | None, lattice: Lattice | None, event: Event, options: Chosen
    ) -> Steps[Estimate[R_co]]:
        return persons.in_found_limit(lambda each: self.begin(place, lattice, each, options), event)


class Planned(NamedTuple):
    """What the plan of a statistic declares.

    A plan releases the statistic of synthetic ``data``. ``truth``, the answer without privacy, and
    ``error``, the expected error in place of it, are functions of this release: of a
    :class:`~modicum.plan.trial.Released` of one column, and of a
    :class:`~modicum.plan.trial.ReleasedRows` of several. ``truth`` is a number, or one for each
    number of the answer.

    ``command`` has the arguments of an example on the command line, if there is one. ``n`` is the
    default of the number of rows, if it is not given or found; ``rows_help``: more rows make the
    error smaller, so that their number can be found. ``shown`` are fields of the plan, and which
    option of the question each of them shows; ``sampled``: the plan compares with the error that
    the data have as a sample; ``meaning`` is what the error is, if it is not an absolute one in the
    unit of the answer. ``note`` is for the documentation, and plans do not take the arguments
    ``without``. A ``slow`` one takes seconds, so its page has fewer points.
    """

    noun: str
    example: str
    command: str = ""
    truth: Callable[[Any], Any] | None = None
    error: Callable[[Any], float] | None = None
    data: Literal["column", "nothing", "vectors", "moments", "regression"] = "column"
    n: int | None = None
    rows_help: bool = True
    shown: Mapping[str, str] = MappingProxyType({})
    sampled: bool = False
    meaning: str | None = None
    note: str = ""
    without: tuple[str, ...] = ()
    slow: bool = False


class Declaration(NamedTuple):
    """What a chapter declares at its end, and all else is made of: one for each of its questions.

    The name of the ``question``, the public function, is the statistic's. ``example`` is a doctest
    of the function of a table, and ``command`` has the arguments of an example on the command line;
    empty if there is none, or no verb. ``options`` is what the command line says of the arguments
    that only some statistics have. ``tail``: the interval depends on an assumed tail; ``plan``:
    its error can be planned.
    """

    question: Callable[..., Query[Any]]
    rows: tuple[Row[Any, Any], ...]
    example: str = ""
    command: str = ""
    options: Mapping[str, str] = MappingProxyType({})
    tail: bool = False
    plan: Planned | None = None

    @property
    def name(self) -> str:
        """The name of the question."""
        return self.question.__name__


def shows_between(name: str, arguments: str, low: float, high: float) -> str:
    """Write a doctest of a function of a table, whose answer lies between two numbers."""
    return f""">>> import numpy as np, modicum
>>> release = modicum.{name}(np.arange(20_000.0), {arguments}epsilon=1)
>>> {low} < release.value < {high}
True"""


def error_between(call: str, low: str, high: str) -> str:
    """Write a doctest of a plan, whose error lies between two numbers."""
    return f">>> found = {call}\n>>> {low} < found.error < {high}\nTrue"


WEIGHTS_HELP: Mapping[str, str] = MappingProxyType({"weights": "column of weights, of any scale"})


def chosen_range(within: tuple[float, float] | None, step: float | None) -> Lattice | None:
    """Read the arguments ``within`` and ``step``; ``None``: the range is to be found."""
    if within is not None:
        return Lattice.within(within, step)
    if step is not None:
        raise InvalidArgument("step needs within, a public range: without one both are found")
    return None


LARGEST_SQUARED = 1e150
FOR_FAR_VALUES = 0.06  # strength, where few far values decide


def chosen_squared_range(
    within: tuple[float, float] | None, step: float | None, what: str, hint: str = ""
) -> Lattice | None:
    """Read ``within`` and ``step`` for ``what``, which is made of squares: these must be floats."""
    lattice = chosen_range(within, step)
    if lattice is not None and max(-lattice.lo, lattice.hi) > LARGEST_SQUARED:
        raise InvalidArgument(
            f"within must lie inside ±{LARGEST_SQUARED:g} for {what}, which is made of squares, "
            f"got {as_given(within)}{hint}"
        )
    return lattice


def with_squares(lattice: Lattice) -> Lattice:
    """A lattice that was found, or the nearest one whose squares are floats."""
    if lattice.hi <= LARGEST_SQUARED:
        return lattice
    widest = 2.0 ** math.floor(math.log2(LARGEST_SQUARED))
    return Lattice.within((-widest, widest))


def ranged(lattice: Lattice | None) -> Lattice:
    """Return the lattice of a row that needs a range, and so has one."""
    assert lattice is not None
    return lattice


def of_range(
    steps: Callable[[Any, Lattice, Event], Steps[Estimate[R_co]]],
) -> Callable[[Any, Any, Event, Any], Steps[Estimate[R_co]]]:
    """Return what begins a row whose steps need a range, and no options."""
    return lambda place, lattice, event, _: steps(place, ranged(lattice), event)


def method_of(rows: Sequence[Row[Any, R_co]], method: object) -> Row[Any, R_co]:
    """Choose one of the ways to answer a statistic, and refuse one that does not exist."""
    for row in rows:
        if isinstance(method, str) and row.method == method:
            return row
    known = ", ".join(repr(row.method) for row in rows)
    raise InvalidArgument(
        f"method must be one of {known} for {rows[0].statistic}, got {as_given(method)}"
    )


def column_name(column: object) -> str | None:
    """Check the name of a column; ``None`` stands for an array's values or a table's rows."""
    if isinstance(column, int) and not isinstance(column, bool):
        raise InvalidArgument(
            f"column must be a column name, got the number {as_given(column)}: name the columns of "
            "the table with text, as by t.columns = ['age', 'income']"
        )
    if column is not None and not isinstance(column, str):
        raise InvalidArgument(
            f"column must be a column name, got {type(column).__name__}: ask for one column after "
            "the other, or for all in one release()"
        )
    return column


def column_names(columns: object) -> Columns:
    """Check names of columns, all different; ``None`` stands for all components of an array."""
    if columns is None:
        return Columns()
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise InvalidArgument(
            f"columns must be a list of names, such as ['age', 'income'], got {as_given(columns)}"
        )
    names = tuple(columns)
    if not all(isinstance(name, str) for name in names):
        raise InvalidArgument("columns must be a list of names, each a text")
    if not 0 < len(set(names)) == len(names) <= MOST_COLUMNS:
        raise InvalidArgument(
            f"columns must be 1 to {MOST_COLUMNS:,} different names, got {len(names)} names, "
            f"{len(set(names))} of them different"
        )
    return Columns(names)
