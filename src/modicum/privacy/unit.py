"""The privacy unit: who is protected, and what other notions of neighbours would cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeVar, get_args

from modicum.errors import InvalidArgument, as_given, says_how
from modicum.privacy.event import Event
from modicum.stored.codec import storable

NEIGHBOURS = "add-remove"
"""Neighbouring data sets differ by one unit's rows being present or absent."""

Combine = Literal["mean", "sum", "all"]
E = TypeVar("E", bound=Event)


@storable
@dataclass(frozen=True, slots=True, repr=False)
class Unit:
    """One protected person, and how many records of theirs enter a statistic. See `unit_of`.

    Attributes
    ----------
    rows : int
        The most records of one person.
    column : str or None
        Says whose a row is. ``None``: rows are not matched to persons, and ``rows`` is a
        declaration by the caller.
    order_by : str or None
        Which rows of a person are kept: the lowest of this column; ``None``: a random choice.
    combine : {"mean", "sum", "all"} or None
        All rows of a person become one record: their mean or sum, or what the question makes of
        all of them.
    groups : int
        With ``combine``, the most groups in which a person has a record; see `in_groups`.

    Examples
    --------
    >>> unit_of("patient").column, str(unit_of(rows=3))
    ('patient', 'one person with at most 3 rows')
    """

    rows: int = 1
    column: str | None = None
    order_by: str | None = None
    combine: Combine | None = None
    groups: int = 1

    def __post_init__(self) -> None:
        if type(self.rows) is not int or not 1 <= self.rows < 2**63:
            raise InvalidArgument(
                f"the most rows of a person must be a positive integer, got {as_given(self.rows)}"
            )
        for name in (self.column, self.order_by):
            if name is not None and not isinstance(name, str):
                raise InvalidArgument(
                    f"a unit goes by the name of one column, got {as_given(name)}: several are put "
                    "together into one first, as t['home'] + '/' + t['name'] in pandas"
                )
        if self.combine is not None and self.combine not in get_args(Combine):
            raise InvalidArgument(
                "combine must be 'mean' or 'sum', or be left out for all rows of a person, "
                f"got {as_given(self.combine)}"
            )
        if self.combine is not None and (self.rows > 1 or self.order_by is not None):
            raise InvalidArgument("combine= makes one record of all rows of a person")
        if self.column is not None and self.order_by == self.column:
            raise InvalidArgument(
                f"order_by={as_given(self.order_by)} says whose a row is, not which come first"
            )
        if self.column is None and (self.combine is not None or self.order_by is not None):
            raise InvalidArgument("name the column that says whose a row is")
        if type(self.groups) is not int or self.groups < 1:
            raise InvalidArgument(
                f"max_groups must be a positive integer, got {as_given(self.groups)}"
            )
        if self.groups > 1 and self.combine is None:
            raise InvalidArgument("rows that are not combined are bounded over all groups together")

    @property
    def whole(self) -> bool:
        """Whether all rows of a person count, as the question bounds them."""
        return self.combine == "all"

    def in_groups(self, most: int) -> Unit:
        """The same unit with a record in each of at most ``most`` groups.

        Parameters
        ----------
        most : int
            At least 1; above 1 only if the unit combines the rows of a person.

        Returns
        -------
        Unit
            A record in one group then has a part of the cost, see :meth:`per_row`.

        Raises
        ------
        InvalidArgument
            If it is not a positive integer, or rows are not combined: those are bounded over all
            groups together.

        Examples
        --------
        >>> print(unit_of("person_id", combine="mean").in_groups(2))
        one person (person_id) with the mean of their rows in each of at most 2 groups
        """
        return replace(self, groups=most)

    def left_out(self, limit: int | None = None, groups: int | None = None) -> str:
        """Say what of a person is in no answer, by rule; nothing, if all of it is.

        Parameters
        ----------
        limit : int, optional
            The most rows of a person that count, if that was found.
        groups : int, optional
            In how many groups a person might have rows.

        Returns
        -------
        str
            What `unit_of(rows=5)` declares leaves out nothing.

        Examples
        --------
        >>> unit_of("p", max_rows=9).left_out()
        'rows beyond 9 of each person (p) are neither in the answer nor in its interval'
        >>> unit_of(rows=9).left_out(), unit_of("p").left_out(groups=1)
        ('', '')
        """
        if self.column is None:
            return ""
        most = limit or (self.rows if self.combine is None else None)
        parts = [] if most is None else [f"rows beyond {most:,}"]
        beyond = groups is not None and self.combine is not None and self.groups < groups
        parts += [f"rows in groups beyond {self.groups:,}"] if beyond else []
        if not parts:
            return ""
        whose = f"{' and '.join(parts)} of each person ({self.column})"
        return f"{whose} are neither in the answer nor in its interval"

    def check_sample(self) -> None:
        """Refuse a unit whose records are no random sample: a person may own several.

        Raises
        ------
        InvalidArgument
            Unless it is of one row, or of persons whose rows are combined.
        """
        if self.rows > 1 or self.whole:
            raise InvalidArgument(
                f"the records of {self} are not independent: a confidence interval is for a unit "
                "of one row, or of persons whose rows are combined"
            )

    def per_row(self, event: E) -> E:
        """The event that one record may cost so that the whole unit costs ``event``.

        Group privacy (:meth:`~modicum.privacy.event.Event.per_record`); the δ of a row is rounded
        down. Records in k different groups are seen by k independent draws, whose costs add up: k
        ε, k ρ, (k ε, k δ) (docs/research/proofs/groups.md, [groups.3]).

        Parameters
        ----------
        event : Event
            What the whole unit may lose.

        Returns
        -------
        Event
            Of the same kind.

        Examples
        --------
        >>> from modicum.privacy.event import PureDP
        >>> unit_of(rows=4).per_row(PureDP(Fraction(1)))
        PureDP(epsilon=Fraction(1, 4))
        """
        # [unit.6], [groups.2]
        return (
            event.per_record(self.rows)
            if self.groups == 1
            else event.part(Fraction(1, self.groups))
        )

    def __str__(self) -> str:
        if self.column is None:
            return "one row" if self.rows == 1 else f"one person with at most {self.rows} rows"
        person = f"one person ({self.column})"
        if self.combine is not None:
            each = "" if self.groups == 1 else f" in each of at most {self.groups} groups"
            rows = "all their rows" if self.whole else f"the {self.combine} of their rows"
            return f"{person} with {rows}{each}"
        rows = "row" if self.rows == 1 else "rows"
        rule = "at random" if self.order_by is None else f"the first by {self.order_by}"
        return f"{person} with at most {self.rows} {rows} each, {rule}"

    def __repr__(self) -> str:
        if self.column is None:
            return f"unit_of(rows={self.rows})"
        if self.combine is not None:
            each = "" if self.groups == 1 else f".in_groups({self.groups})"
            rule = "" if self.whole else f", combine={self.combine!r}"
            return f"unit_of({self.column!r}{rule}){each}"
        order = "" if self.order_by is None else f", order_by={self.order_by!r}"
        return f"unit_of({self.column!r}, max_rows={self.rows}{order})"


@says_how(
    "unit_of('person_id'): a person is named by one column, into which several are put together"
)
def unit_of(
    column: str | None = None,
    *,
    rows: int | None = None,
    max_rows: int | None = None,
    order_by: str | None = None,
    combine: Combine | None = None,
) -> Unit:
    """Declare the privacy unit.

    Name the column that says whose a row is, and nothing else: all rows of a person count, and how
    far one person may move an answer is found with a part of the cost. Sums, counts and means bound
    what a person has of them, and all other statistics how many rows; see Notes.

    Parameters
    ----------
    column : str, optional
        Says whose a row is. Rows in which it is missing are dropped.
    rows : int
        Without a column: the most rows that one person owns in the table, as you declare. Nothing
        checks it.
    max_rows : int, optional
        With a column, for a question about few rows of each person: at most so many rows of each
        person are kept. A person's share is then ε/max_rows (ρ/max_rows²) a row, so many rows cost
        accuracy, and few drop data.
    order_by : str, optional
        With ``max_rows``: the rows with the lowest values of this column are kept, numbers, dates
        or times; rows without one come last, and ties go to the lowest values of the columns
        that are read. Without it the rows are chosen uniformly at random, anew for every release.
    combine : {"mean", "sum"}, optional
        With a column, for a question about persons in place of rows: each person's values become
        one record, their mean (rounded down to the lattice of the release) or their sum (clamped to
        its range). A person without values is missing. Each record has the whole ε.

    Returns
    -------
    Unit
        The guarantee is for the person: all of their rows, present or absent.

    Raises
    ------
    InvalidArgument
        Unless ``rows`` or a column is named, and at most one of ``max_rows`` and ``combine``.

    Notes
    -----
    A mean is that of all rows: a private centre plus the sum of all persons' deviations from it,
    divided by the number of rows, where a person's deviation and rows are clipped. Nobody's rows
    are dropped, so a mean is not biased if the number of rows goes with the value. Other statistics
    keep a number of each person's rows, at random, that few persons exceed; their intervals are for
    the rows that are kept. The release shows what was found. Its guarantee is for all rows of a
    person, whatever their number. ``method="bounded"`` of a sum and ``clusters="keep"`` of a mean
    are for units of rows.

    Examples
    --------
    >>> print(unit_of("person_id"))
    one person (person_id) with all their rows
    >>> print(unit_of("person_id", max_rows=5, order_by="day"))
    one person (person_id) with at most 5 rows each, the first by day
    >>> print(unit_of("person_id", combine="mean"))
    one person (person_id) with the mean of their rows
    >>> print(unit_of(rows=5))
    one person with at most 5 rows
    """
    # [unit.7]
    if column is None:
        if any(each is not None for each in (max_rows, order_by, combine)):
            raise InvalidArgument(
                "max_rows=, order_by= and combine= need the column that says whose a row is: "
                "unit_of('person_id', max_rows=5)"
            )
        if rows is None:
            raise InvalidArgument(
                "say whose a row is: unit_of('person_id'), or unit_of(rows=5) if no column does"
            )
        return Unit(rows)
    if rows is not None:
        raise InvalidArgument(
            f"rows={as_given(rows)} is a declaration, for tables that name no persons: with the "
            f"column {as_given(column)} leave it out, or give max_rows="
        )
    if max_rows is not None and combine is not None:
        raise InvalidArgument("give max_rows= or combine=, or neither for all rows of a person")
    if max_rows is None and order_by is not None:
        raise InvalidArgument("order_by= says which rows are kept: give max_rows= too")
    combine = combine or ("all" if max_rows is None else None)
    return Unit(1 if max_rows is None else max_rows, column, order_by, combine)


def checked_unit(unit: Unit | None) -> Unit:
    """The unit that the caller gave, by default one row."""
    if unit is not None and not isinstance(unit, Unit):
        raise InvalidArgument(
            "unit must come from modicum.unit_of, such as unit_of('person_id', max_rows=5), got "
            f"{as_given(unit)}"
        )
    return Unit() if unit is None else unit
