"""A checked query: which statistic, of which column, at what cost, and how to answer it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Generic, NamedTuple, Self, TypeVar

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.privacy.accountant import approx_to_zcdp
from modicum.privacy.budget import APPROX_KIND, Budget, Kind
from modicum.privacy.event import ZCDP, ApproxDP, Event, event_of
from modicum.privacy.unit import Unit
from modicum.releases.release import Estimate, Record, Release
from modicum.runtime.steps import Steps
from modicum.summaries.base import Columns

R_co = TypeVar("R_co", bound=Record, covariant=True)


class Pooling(NamedTuple):
    """How groups answer a query together: what all records tell first, each group, and after it.

    ``find`` starts the steps of all records together, given the event one row may cost and the
    number of groups; they spend a part of it. ``begin`` starts those of one group, given what was
    found and what is left for it. ``finish`` gets the estimates of all groups, which are released,
    and changes them by post-processing. ``least`` is the number of groups from which on they do so
    by default.
    """

    find: Callable[[Event, int], Steps[Any]]
    begin: Callable[[Any, Event], Steps[Any]]
    finish: Callable[[Any, Sequence[Any]], list[Any]]
    least: int


@dataclass(frozen=True, slots=True)
class Query(Generic[R_co]):
    """One statistic of a column, with checked arguments, and the kind of its release.

    Attributes
    ----------
    statistic, method : str
        Names for the release.
    place : str, Columns or None
        What is read: a column, the columns of vectors, or, if ``None``, a one-dimensional array or
        the rows of a table.
    lattice : Lattice or None
        The public range and step; the lattice of octaves if they are to be found.
    budget : Budget
        What the whole release may cost the privacy unit.
    begin : callable
        Starts a fresh run of the estimator, given the event one row may cost.
    begin_of_persons : callable or None
        The same where all rows of a person are one record, given what a person may cost; see
        :meth:`for_unit`.
    ranging : callable or None
        Makes the same query within a range, if none was given where one is needed; of values that
        are 0 or 1, in the way that is best for these.
    stated : str
        What states the range, if it was not given; see :meth:`within`.
    pooling, pooling_of_persons : callable or None
        Return how groups share what is alike, if they do; and where all rows of a person count.
    release : type of Record
        The type of its release.
    options : object
        What else was chosen; its repr says all of it.
    ranged : bool
        Whether the range was given; if not, the options imply it.
    turn : Fraction or None
        From ``turn`` ε²/(4 ρ) columns on, zCDP of size ρ gives smaller errors than pure ε.
    population : bool
        Whether it asks about a population, of which the records are a random sample.
    rho : Fraction or None
        If the budget is (ε, δ), and what is drawn is ρ-zCDP, which implies it; see
        :meth:`of_width`.

    Examples
    --------
    >>> import modicum as mo
    >>> query = mo.query.mean(within=(0, 120), epsilon="0.5")
    >>> curator = mo.Curator([30.0, 40.0, 50.0] * 1000, budget=mo.pure(1))
    >>> 39 < curator.release(age=query)["age"].value < 41
    True
    """

    statistic: str
    method: str
    place: str | Columns | None
    lattice: Lattice | None
    budget: Budget
    begin: Callable[[Event], Steps[Estimate[R_co]]] = field(repr=False)
    release: type[Record] = Release
    options: object = None
    ranged: bool = True
    turn: Fraction | None = None
    rho: Fraction | None = None
    population: bool = False
    begin_of_persons: Callable[[Event], Steps[Estimate[R_co]]] | None = field(
        default=None, repr=False
    )
    begin_of_combined: Callable[[Event], Steps[Estimate[R_co]]] | None = field(
        default=None, repr=False
    )
    ranging: Callable[..., Query[R_co]] | None = field(default=None, repr=False)
    stated: str = ""
    pooling: Callable[[], Pooling] | None = field(default=None, repr=False)
    pooling_of_persons: Callable[[], Pooling] | None = field(default=None, repr=False)

    def for_unit(self, unit: Unit) -> Self:
        """The query as it is answered for a unit.

        Parameters
        ----------
        unit : Unit
            Who is protected: if all rows of a person count, another algorithm may answer.

        Returns
        -------
        Query
            The same one, or with what begins for persons.

        Raises
        ------
        InvalidArgument
            If it is about a population, and the unit's records are not independent.
        """
        if self.population and (unit.whole or unit.rows > 1):
            raise InvalidArgument(
                f"population=True takes rows to be a random sample, and those of {unit} are not "
                "independent: unit_of(column, combine='mean') makes one record of each person"
            )
        if unit.combine is not None and not unit.whole and self.begin_of_combined is not None:
            return replace(self, begin=self.begin_of_combined)
        if not unit.whole or self.begin_of_persons is None:
            return self
        return replace(self, begin=self.begin_of_persons, pooling=self.pooling_of_persons)

    def within(
        self, span: tuple[float, float], stated: str, *, truths: bool = False
    ) -> Query[R_co]:
        """[view.5] The query as it is answered where something public states the range.

        Parameters
        ----------
        span : (float, float)
            Between which numbers all values lie.
        stated : str
            What says so.
        truths : bool
            Whether all records are 0 or 1.

        Returns
        -------
        Query
            The same one if a range was given, or none is needed.
        """
        if self.ranging is None:
            return self
        return replace(self.ranging(Lattice.within(span), truths=truths), stated=stated)

    @property
    def event(self) -> Event:
        """What the release costs the privacy unit."""
        if self.rho is None:
            return event_of(self.budget)
        return ApproxDP(self.budget.amount, self.budget.delta)

    @property
    def allowance(self) -> Event:
        """What all draws together cost the privacy unit; :attr:`event` follows from it."""
        return self.event if self.rho is None else ZCDP(self.rho)

    def of_width(self, width: int, kind: Kind) -> Self:
        """The query as it is answered from ``width`` columns and charged to a budget of a kind.

        A budget of (ε, δ) holds releases that are pure ε-DP, charged as (ε, 0), and releases that
        are ρ-zCDP, charged as (ε, δ). Which of them gives the smaller error follows from the number
        of columns, which is public: the noise of pure ε is calibrated to L1 norms, and that of ρ to
        L2 norms. Only a budget of kind ``"approx"`` holds a δ. See [composition.10].

        Parameters
        ----------
        width : int
            How many columns are read.
        kind : {"pure", "zcdp", "approx"}
            The currency of the budget that is charged.

        Returns
        -------
        Query
            The same one, or with the ``rho`` that is drawn at.
        """
        if self.turn is None or kind != APPROX_KIND or not self.budget.delta:
            return self
        try:
            rho = approx_to_zcdp(self.budget).amount
        except InvalidArgument:  # the budget holds no ρ
            return self
        epsilon = self.budget.amount
        return replace(self, rho=rho) if 4 * rho * width >= self.turn * epsilon**2 else self

    @property
    def finds_range(self) -> bool:
        """Whether no range was given where one is needed: the first part of the run finds it."""
        return self.lattice == OCTAVES

    @property
    def column(self) -> str | None:
        """The column, or several in one line, as a release names them; ``None`` for an array."""
        if isinstance(self.place, Columns):
            return None if self.place.names is None else str(self.place)
        return self.place

    @property
    def several(self) -> bool:
        """Whether its answer is several numbers."""
        return self.release is not Release
