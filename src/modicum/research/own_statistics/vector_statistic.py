"""A vector statistic of a user, which brings its own local sensitivities.

Approximate inverse sensitivity with the whole budget in one draw: docs/research/proofs/radial.md
has the proofs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import ClassVar

import numpy as np

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.norm_ball import MOST_DIMENSIONS, Norm, RadialMechanism
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import ArrayEstimate, ArrayRelease, Axis, Intervals
from modicum.releases.status import OK, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.options import Options
from modicum.statistics.robust import monotone_statistic
from modicum.statistics.robust.score_lengths import Reals
from modicum.stored.codec import storable
from modicum.summaries import base, cells, second_moments

_CHECKED_LEVELS = 6
_CHECKED_ROWS = 3
# tolerances, k times, by which the k-th radius grows: docs/research/proofs/radial.md, [radial.3]
_INFLATION = 4
_ROUNDING = 2.0**-30  # of the largest number of the range: a mean of 2^23 rows, added in any order
_LARGEST_TOLERANCE = 1e-3


@texts.documented
def vector_statistic(
    columns: Sequence[str] | None = None,
    *,
    statistic: Sensitivities,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for a vector statistic supplied by you, with noise on the scale of its local sensitivity.

    It is for statistics of which you know how far one row can move them, on the data and on data
    near them, and nothing else. Prefer :func:`modicum.query.monotone_statistic` for a monotone
    statistic of one column, and what the library has for means, covariances and components.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, as many as the statistic is of. Leave it out for an
        array of shape (n, d).
    statistic : Sensitivities
        An instance of a subclass of :class:`modicum.Sensitivities`. Privacy depends on its
        sensitivities being right.
    within : (float, float)
        A public range certain to contain every value of every column. How wide it is matters as
        much as the statistic lets it.
    {cost}
    {step}

    {returns}
        It holds if the sensitivities keep their promise. The number of rows is private too.

    {raises}
        If the statistic is not an instance of a subclass, is of another number of columns, or its
        sensitivities break their promise for a few rows; if names are not different or not text.

    Notes
    -----
    {missing_rows}

    All rows are held in memory, so a table in Spark or Dask is refused: collect its columns first.
    If the statistic fails on the data, all values are drawn about the middle of the range with the
    widest noise: no error may tell of data. The mechanism is the approximate inverse sensitivity
    mechanism (Asi and Duchi 2020, M.2), without the cap of their Algorithm 1; all arithmetic that
    privacy rests on is in integers. There is no interval: how wide the noise is depends on the
    data.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Sensitivities
    >>> class Means(Sensitivities):
    ...     name, labels, columns = "means", ("x", "y"), 2
    ...
    ...     def value(self, rows, lo, hi):
    ...         return rows.mean(axis=0) if len(rows) else np.full(2, (lo + hi) / 2)
    ...
    ...     def sensitivities(self, rows, lo, hi, levels):
    ...         return 2 * (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
    >>> vector_statistic(["x", "y"], statistic=Means(), within=(0, 100), epsilon=1).statistic
    'vector_statistic'
    """
    cost = chosen_budget(epsilon, rho, budget)
    names, lattice = spec.column_names(columns), Lattice.within(within, step)
    options = VectorStatisticOption.of(statistic, names, lattice)
    return VECTOR.query(names, lattice, cost, options)


class Sensitivities(ABC):
    """Base of statistics for :func:`modicum.vector_statistic`: a value and its sensitivities.

    Write a subclass with the attributes below and the methods :meth:`value` and
    :meth:`sensitivities`. Use it for statistics of which nothing more is known, vectors above all;
    for a monotone statistic of one column :class:`Boundaries` are far better.

    Attributes
    ----------
    name : str
        For messages and summaries.
    labels : tuple of str
        One for each component of the value.
    columns : int
        How many columns it is of; 1 if not given.
    norm : {1, 2}
        In which sensitivities are, L1 or L2; 1 if not given. L1 takes up to 64 components, L2 up
        to 20.
    rounding : float or None
        How far a computed component may be from the exact one, because numbers are floats. By
        default 2^-30 of the largest number of the range of values, which is enough for the mean
        of 8 million rows, however they are added; 0 for values that are records.
    tolerance : float
        How far computed sensitivities may be from the exact ones, relative to them; 2^-32 if not
        given. The k-th is raised by four times as much, k times.
    signless : bool
        Whether the value is one up to its sign, such as a direction; then a coin gives it a sign,
        and the distance of two values is the smaller one of both signs. The range must be
        symmetric. False if not given.

    Examples
    --------
    >>> class Means(Sensitivities):
    ...     name, labels, columns = "means", ("x", "y"), 2
    ...
    ...     def value(self, rows, lo, hi):
    ...         return rows.mean(axis=0) if len(rows) else np.full(2, (lo + hi) / 2)
    ...
    ...     def sensitivities(self, rows, lo, hi, levels):
    ...         # Two means of which the larger set has at least n - k rows.
    ...         return 2 * (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
    >>> Means().check(0.0, 100.0)
    """

    name: str
    labels: tuple[str, ...]
    columns: ClassVar[int] = 1
    norm: ClassVar[Norm] = 1
    rounding: ClassVar[float | None] = None
    tolerance: ClassVar[float] = 2.0**-32
    signless: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @abstractmethod
    def value(self, rows: Reals, lo: float, hi: float) -> Reals:
        """Return the statistic.

        Parameters
        ----------
        rows : float64 array, shape (n, columns)
            All rows, sorted by the first column, then by the second, and so on; there may be none.
        lo, hi : float
            Numbers are between them.

        Returns
        -------
        float64 array, shape (len(labels),)
            Between the ends of :meth:`range`; what is beyond is moved there.
        """

    @abstractmethod
    def sensitivities(self, rows: Reals, lo: float, hi: float, levels: int) -> Reals:
        """Return bounds of how far one row moves the value, on all data near these.

        Parameters
        ----------
        rows, lo, hi
            As for :meth:`value`.
        levels : int
            How many bounds, at least 1.

        Returns
        -------
        float64 array, shape (levels,)
            Entry k bounds the distance, in the norm, between the values of any two data sets of
            which one has one row more, one of them being ``rows`` with at most k rows added or
            removed. *You promise*, for any two data sets D and D' of which one has one row more:
            the distance of their values is at most entry 0 of either, and entry k of D is at most
            entry k + 1 of D', for every k. The suprema do this for every statistic; so do bounds of
            them of the form "largest over all data within k". The promise includes that both
            methods never fail, on any data: they return finite numbers for no rows, one, many that
            are equal. Privacy depends on it, and a failure voids the guarantee. :meth:`check` tries
            some hundred data sets.
        """

    def range(self, lo: float, hi: float) -> tuple[float, float]:
        """Return ends between which all components are: those of the data, if not overridden.

        Parameters
        ----------
        lo, hi : float
            Numbers are between them.

        Returns
        -------
        (float, float)
            Public: how wide it is must not follow from data. Values beyond it are moved to its
            ends.
        """
        return lo, hi

    @property
    def dimension(self) -> int:
        """How many components."""
        return len(self.labels)

    def check(self, lo: float, hi: float) -> None:
        """Check the attributes, and try the promise on some hundred public data sets.

        All of up to three rows of four, and up to 1,000 rows of which many are equal. It proves
        nothing about all others.

        Parameters
        ----------
        lo, hi : float
            Numbers are between them.

        Raises
        ------
        InvalidArgument
            With a data set on which a method fails, or two that break the promise, or for
            attributes that are not those of a statistic.
        """
        self._check_attributes(lo, hi)
        known: dict[bytes, tuple[Reals, Reals]] = {}

        def tried(rows: Reals) -> tuple[Reals, Reals]:
            key = rows.tobytes()
            if key not in known:
                try:
                    value, bounds = _computed(self, rows.copy(), lo, hi, _CHECKED_LEVELS)
                    known[key] = np.clip(value, *self.range(lo, hi)), bounds
                except Exception as error:
                    raise InvalidArgument(
                        f"{self.name} failed for the rows {monotone_statistic.shown(rows)}, and "
                        "may fail for none: "
                        f"{error}"
                    ) from error
            return known[key]

        for few, more in self._pairs(lo, hi):
            here, there = tried(few), tried(more)
            if not (self._keeps_promise(here, there) and self._keeps_promise(there, here)):
                raise InvalidArgument(
                    f"the sensitivities of {self.name} break their promise: compare the rows "
                    f"{monotone_statistic.shown(few)} with {monotone_statistic.shown(more)} "
                    f"between {lo:g} and {hi:g}"
                )

    def _pairs(self, lo: float, hi: float) -> Iterator[tuple[Reals, Reals]]:
        def rows(data: tuple[tuple[float, ...], ...]) -> Reals:
            return np.array(sorted(data), dtype=np.float64).reshape(len(data), self.columns)

        numbers = (lo, hi, lo + (hi - lo) / 3, lo + (hi - lo) / 2)
        points = tuple(
            tuple(numbers[(first + place * step) % 4] for place in range(self.columns))
            for first, step in ((0, 0), (1, 0), (2, 1), (3, 2))
        )
        for size in range(_CHECKED_ROWS):
            for data in combinations_with_replacement(points, size):
                for point in points:
                    yield rows(data), rows((*data, point))
        yield from monotone_statistic.crowds(rows(points), lo, hi)

    def _check_attributes(self, lo: float, hi: float) -> None:
        labels: object = getattr(self, "labels", None)
        name: object = getattr(self, "name", None)
        named = isinstance(labels, tuple) and all(isinstance(each, str) for each in labels)
        if not (named and labels and isinstance(name, str)):
            raise InvalidArgument(
                f"{type(self).__name__} needs name, a text, and labels, a tuple of one text for "
                f"each component, got labels={as_given(labels)}"
            )
        columns: object = self.columns
        if self.norm not in {1, 2} or not isinstance(columns, int) or columns < 1:
            raise InvalidArgument(
                f"{self.name} needs norm 1 or 2 and columns of at least 1, got "
                f"norm={as_given(self.norm)} and columns={as_given(self.columns)}"
            )
        most = MOST_DIMENSIONS[self.norm]
        if self.dimension > most:
            raise InvalidArgument(
                f"norm={self.norm} takes up to {most} components, got {self.dimension}"
            )
        if self.rounding is not None and not 0 <= self.rounding < math.inf:
            raise InvalidArgument(
                f"rounding must be a number of at least 0, got {as_given(self.rounding)}"
            )
        if not 2.0**-42 <= self.tolerance <= _LARGEST_TOLERANCE:
            raise InvalidArgument(
                f"tolerance must be a number from 2^-42 to 0.001, got {as_given(self.tolerance)}"
            )
        try:
            ends = Lattice.within(self.range(lo, hi))
        except InvalidArgument as error:
            raise InvalidArgument(f"the range of {self.name}: {error}") from error
        if self.signless and ends.lo != -ends.hi:
            raise InvalidArgument(
                f"{self.name} has no sign, so its range must be (-r, r), got ({ends.lo}, {ends.hi})"
            )

    def _keeps_promise(self, one: tuple[Reals, Reals], other: tuple[Reals, Reals]) -> bool:
        turned = (1, -1) if self.signless else (1,)
        distance = min(float(np.linalg.norm(one[0] - s * other[0], self.norm)) for s in turned)
        room = 1 + 3 * self.tolerance
        scale = max(float(np.abs(one[0]).max()), float(np.abs(other[0]).max()))
        near = distance <= one[1][0] * room + scale * _spread(self) * _ROUNDING
        return bool(near and (one[1][:-1] <= other[1][1:] * room).all())


def answers_of(statistic: Sensitivities, lattice: Lattice) -> Lattice:
    """Return the lattice of values: as fine as it can be, or as coarse as the step."""
    finest = Lattice.within(statistic.range(lattice.lo, lattice.hi))
    coarse = lattice.coarse and lattice.step > finest.step
    return Lattice(finest.lo, finest.hi, lattice.step) if coarse else finest


def largest_radius(statistic: Sensitivities, answers: Lattice) -> int:
    """Return a radius, in steps, that holds any two values."""
    widest = math.ceil(answers.width * _spread(statistic) * (1 + 2.0**-40))
    return widest + _slack(statistic, answers)


def measured(
    statistic: Sensitivities, rows: base.Integers, lattice: Lattice, answers: Lattice, levels: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return value and radii in lattice steps; if the methods fail, public ones.

    Those are a value in the middle and the largest radii.
    """
    numbers: Reals = rows * np.float64(lattice.step)
    most = largest_radius(statistic, answers)
    try:
        value, bounds = _computed(statistic, numbers, lattice.lo, lattice.hi, levels)
    except Exception:  # noqa: BLE001 -- whether it fails may depend on the data
        middle = (answers.first + answers.last) // 2
        return (middle,) * statistic.dimension, (most,) * levels
    centre = np.rint(np.clip(value, answers.lo, answers.hi) / answers.step)
    # [radial.3] A bound that is too large for a float is no smaller than any other.
    with np.errstate(over="ignore"):
        growth = np.power(1 + _INFLATION * statistic.tolerance, np.arange(1, levels + 1))
        raised = np.maximum(bounds, 0) * np.minimum(growth, 2.0**500)
    raised = np.minimum(raised, 2.0**1000)
    step, slack = Fraction(answers.step), _slack(statistic, answers)
    radii = (math.ceil(Fraction(each) / step) + slack for each in raised.tolist())
    return tuple(map(int, centre.tolist())), tuple(min(each, most) for each in radii)


def _spread(statistic: Sensitivities) -> float:
    """Norm of a vector of ones."""
    size = statistic.dimension
    return float(size) if statistic.norm == 1 else math.sqrt(size)


def _slack(statistic: Sensitivities, answers: Lattice) -> int:
    """Steps by which rounding may move two values apart, [radial.3]."""
    error = statistic.rounding
    if error is None:
        error = max(abs(answers.lo), abs(answers.hi)) * _ROUNDING
    return math.ceil((1 + 2 * error / answers.step) * _spread(statistic) * (1 + 2e-12))


def _computed(
    statistic: Sensitivities, rows: Reals, lo: float, hi: float, levels: int
) -> tuple[Reals, Reals]:
    """Call both methods; what is not an array of finite numbers is an error."""
    rows.flags.writeable = False
    with monotone_statistic.suppress_warnings():
        value = _finite(statistic.value(rows, lo, hi), statistic.dimension)
        return value, _finite(statistic.sensitivities(rows, lo, hi, levels), levels)


def _finite(found: Reals, size: int) -> Reals:
    """Return an array of one size, of finite numbers; ``ValueError`` for anything else."""
    array = np.asarray(found, dtype=np.float64).reshape(size)
    if not np.isfinite(array).all():
        raise ValueError("not finite")
    return array


_NEGLIGIBLE = 40.0  # balls beyond the last own radius are so many nats lighter than the first
_MOST_LEVELS = 1 << 17
TINY = Status(
    "few_records", "too little budget: an answer may be anywhere in the range, whatever the data"
)


@dataclass(frozen=True, slots=True)
class VectorStatisticOption(Options):
    """Which statistic."""

    statistic: Sensitivities

    def __repr__(self) -> str:
        # A ledger holds this text, to know a query again: it keeps its first name.
        return f"OwnVectorOption(statistic={self.statistic!r})"

    @classmethod
    def of(
        cls, statistic: object, columns: base.Columns, lattice: Lattice
    ) -> VectorStatisticOption:
        """Check the statistic, on small data sets too, and that it fits the columns and the range.

        The step of the lattice must not be too wide for its values.
        """
        if not isinstance(statistic, Sensitivities):
            raise InvalidArgument(
                "statistic must be an instance of a subclass of modicum.Sensitivities, got "
                f"{type(statistic).__name__}"
            )
        statistic.check(lattice.lo, lattice.hi)
        if columns.names is not None and len(columns.names) != statistic.columns:
            raise InvalidArgument(
                f"{statistic.name} is of {statistic.columns} columns, got {len(columns.names)}"
            )
        if statistic.columns > cells.MOST_COLUMNS:
            raise InvalidArgument(f"at most {cells.MOST_COLUMNS} columns, got {statistic.columns}")
        answers_of(statistic, lattice)
        return cls(statistic)


@storable
@dataclass(frozen=True, slots=True)
class VectorStatisticErrorModel:
    """A drawn vector, perhaps beyond the range; ``levels`` radii depended on the data."""

    lattice: Lattice
    drawn: tuple[int, ...]
    levels: int
    norm: int

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The components, within the range."""
        first, last, step = self.lattice.first, self.lattice.last, Fraction(self.lattice.step)
        return tuple(min(max(each, first), last) * step for each in self.drawn)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """The range: how wide the noise is depends on the data, and is not released."""
        ones = np.ones(len(self.drawn))
        return Intervals(self.lattice.lo * ones, self.lattice.hi * ones)

    @property
    def condition(self) -> str:
        return ""

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() knows only the range of the values: the size of the noise depends on the "
            "data and is not released. On public data of the same kind theory.radial_error has it."
        )

    def to_dict(self) -> dict[str, object]:
        return {"levels": self.levels, "norm": self.norm}


def noisy_vector(
    columns: base.Columns, lattice: Lattice, event: Event, statistic: Sensitivities
) -> Steps[ArrayEstimate]:
    """Release a vector statistic in one draw."""
    size, stated = BudgetSplit(event).rest().ranged
    answers = answers_of(statistic, lattice)
    largest = largest_radius(statistic, answers)
    # After so many radii balls of any size are lighter than the first by e^-40.
    nats = statistic.dimension * math.log(2 * largest + 1) + _NEGLIGIBLE
    levels = min(math.ceil(2 * nats / float(size)), _MOST_LEVELS)
    found = yield from read(
        base.Read(None, lattice, second_moments.RowsInMemory(statistic.columns), columns)
    )
    centre, radii = measured(statistic, found.rows, lattice, answers, levels)
    fixed = largest, statistic.norm, size, stated, statistic.signless
    mechanism = RadialMechanism(centre, radii, *fixed)
    drawn = yield from draw(
        statistic.name, mechanism, lambda drawn: ", ".join(answers.words(each) for each in drawn)
    )
    error_model = VectorStatisticErrorModel(answers, drawn, levels, statistic.norm)
    axis = Axis.of(component=statistic.labels)
    status = OK if levels < _MOST_LEVELS else TINY
    return ArrayEstimate(error_model.values, (axis,), error_model, status)


class MeanOfRange(Sensitivities):
    """The mean of one column, with the sensitivity of its range: for the registry."""

    name, labels = "mean", ("mean",)

    def value(self, rows: Reals, lo: float, hi: float) -> Reals:
        return np.asarray(rows.mean(axis=0) if len(rows) else [lo + (hi - lo) / 2])

    def sensitivities(self, rows: Reals, lo: float, hi: float, levels: int) -> Reals:
        # The larger one of two sets has at least n - k rows, of which one moves the mean.
        left = np.maximum(len(rows) - np.arange(levels), 1)
        return np.asarray((hi - lo) / left, dtype=np.float64)


VECTOR: spec.Row[VectorStatisticOption, ArrayRelease] = spec.Row(
    "vector_statistic",
    "radial",
    (VectorStatisticOption(MeanOfRange()),),
    "radial",
    "any vector statistic, by its local sensitivities",
    lambda columns, lattice, event, options: noisy_vector(
        columns, spec.ranged(lattice), event, options.statistic
    ),
    ArrayRelease,
    of_rows=True,
)


STATISTICS = (
    spec.Declaration(
        vector_statistic,
        (VECTOR,),
        """>>> import numpy as np, modicum
>>> class Mean(modicum.Sensitivities):
...     name, labels = "mean", ("mean",)
...
...     def value(self, rows, lo, hi):
...         return rows.mean(axis=0) if len(rows) else np.array([(lo + hi) / 2])
...
...     def sensitivities(self, rows, lo, hi, levels):
...         return (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
>>> x = np.arange(10_000.0)
>>> found = modicum.vector_statistic(x, statistic=Mean(), within=(0, 1e4), epsilon=1)
>>> found.labels, 4900 < found[0] < 5100
(('mean',), True)""",
    ),
)
