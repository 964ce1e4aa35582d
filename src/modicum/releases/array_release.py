"""The record of several numbers that are released together, such as a histogram."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from sys import float_info
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from modicum import errors
from modicum.exact.enclosure import float_nearest
from modicum.exact.lattice import Lattice
from modicum.releases import release
from modicum.releases.confidence import LEVELS, ErrorModel, Tail, assumed_tail, check_confidence
from modicum.releases.publishing import text
from modicum.releases.publishing.answers import DRAWS, AnswerRows, no_arithmetic, sealed
from modicum.releases.publishing.native import native_table
from modicum.releases.status import Status
from modicum.stored.codec import storable

_SHOWN = 30  # components or groups on the summary
_NAMED = 8  # keys in a note
_NOTES = 4
_LARGEST = float_info.max

Floats = NDArray[np.float64]
Label = float | str


class Intervals(NamedTuple):
    """Ends of intervals, one for each component: two arrays of the shape of the values.

    Attributes
    ----------
    lower, upper : float64 array
        Read-only, in the unit of the data.

    Examples
    --------
    >>> import modicum as mo
    >>> ages = mo.histogram(range(1000), edges=(0, 500, 1000), epsilon=1)
    >>> lower, upper = ages.interval()
    >>> lower.shape == upper.shape == ages.values.shape
    True
    """

    lower: Floats
    upper: Floats

    @property
    def width(self) -> Floats:
        """How far the ends of each are apart."""
        return self.upper - self.lower

    @property
    def half_width(self) -> Floats:
        """Half of that: the numbers after ±, if the values are in the middle."""
        return self.upper / 2 - self.lower / 2


class ArrayErrorModel(ErrorModel, Protocol):
    """Released quantities from which intervals of every component follow."""

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Return intervals that hold all at once with probability ``level``, in C order."""


@storable
@dataclass(frozen=True, slots=True)
class Axis:
    """What the components along one axis stand for: public columns of labels.

    ``columns`` are names and labels, all of one length: the q of quantiles, the left and right ends
    of bins.

    Examples
    --------
    >>> Axis.of(left=(0.0, 1.0), right=(1.0, 2.0)).labels
    ((0.0, 1.0), (1.0, 2.0))
    >>> Axis.of(q=(0.1, 0.5)).labels
    (0.1, 0.5)
    """

    columns: tuple[tuple[str, tuple[Label, ...]], ...]

    @classmethod
    def of(cls, **columns: tuple[Label, ...]) -> Axis:
        """Make an axis of named columns."""
        return cls(tuple(columns.items()))

    def __len__(self) -> int:
        return len(self.columns[0][1])

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label a component; a tuple if there are several columns."""
        columns = [labels for _, labels in self.columns]
        return columns[0] if len(columns) == 1 else tuple(zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class ArrayEstimate(release.Estimate["ArrayRelease"]):
    """What an estimator of several numbers returns.

    ``values`` are the components in C order; the number of ``axes`` is the number of dimensions.
    ``method`` is as for :class:`~modicum.releases.release.Estimate`.
    """

    values: tuple[Fraction, ...]
    axes: tuple[Axis, ...]
    error_model: ArrayErrorModel
    status: Status
    method: str | None = None
    lattice: Lattice | None = None
    limit: int | None = None

    def width(self, level: float, tail: Tail = "auto") -> float:
        """Mean width of the intervals."""
        assumed = assumed_tail(self.error_model, level, tail)
        low, high = self.error_model.intervals(level, assumed)
        return float(np.mean(high - low))

    def _release(self, **fields: Any) -> ArrayRelease:
        numbers = tuple(float_nearest(value) for value in self.values)
        return ArrayRelease(numbers=numbers, axes=self.axes, **fields)


@storable
@no_arithmetic("values is the array of its numbers")
@sealed
@dataclass(frozen=True, slots=True)
class ArrayRelease(release.Record):
    """Several numbers that were released together, each with a public label.

    It is a sequence of floats with labels: ``len``, iteration, indexing and ``numpy.asarray``
    treat it as the array :attr:`values`.

    Attributes
    ----------
    numbers : tuple of float
        The components, in C order.
    axes : tuple of Axis
        What they stand for.
    error_model : ArrayErrorModel
        What :meth:`interval` computes from.
    statistic, column, event, unit, lattice, ranged, method, status, code, transcript, engine,
    account
        And ``private`` and ``version``: as for :class:`~modicum.releases.release.Record`.

    Examples
    --------
    >>> import numpy as np, modicum
    >>> found = modicum.quantiles(np.arange(1e5), q=[0.1, 0.5], within=(-1e9, 1e9), epsilon=1)
    >>> found.labels, len(found), bool(found[0] < found[1]), found.values.flags.writeable
    ((0.1, 0.5), 2, True, False)
    >>> found.interval().lower.shape, list(found.frame()[0])
    ((2,), ['q', 'value', 'lower', 'upper'])
    """

    _internal = frozenset({"axes", "columns", "numbers"})
    error_model: ArrayErrorModel
    numbers: tuple[float, ...]
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of components along each axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def values(self) -> Floats:
        """The answer as a read-only float64 array."""
        return self._shaped(np.array(self.numbers, dtype=np.float64))

    @property
    def labels(self) -> tuple[Any, ...]:
        """Public labels of the components, in the order of iteration."""
        return self.axes[0].labels

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an ArrayRelease makes a new array, so copy=False is impossible")
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.axes[0])

    def __iter__(self) -> Iterator[Any]:
        """Go through the components of the first axis: floats, or arrays if there are more axes."""
        return iter(self.values.tolist() if len(self.axes) == 1 else self.values)

    def __getitem__(self, index: Any) -> Any:
        try:
            found = self.values[index]
        except IndexError:
            raise IndexError(
                f"numbers are taken by their places, as of an array of shape {self.shape}, got "
                f"{errors.as_given(index)}; labels has what each is of"
            ) from None
        return float(found) if isinstance(found, np.float64) else found

    def __float__(self) -> float:
        raise TypeError(f"{len(self.numbers)} numbers were released: take one of them, release[0]")

    @LEVELS
    def interval(self, level: float = 0.95, tail: Tail = "auto") -> Intervals:
        """Intervals for all components, which hold at once with probability ``level``.

        From released quantities only; they cost nothing. :meth:`explain` says what they assume.

        Parameters
        ----------
        level : float
            Confidence over the mechanism's randomness that all intervals hold, in (0, 1).
        tail : float, "auto" or None
            As for :meth:`Release.interval <modicum.releases.release.Release.interval>`.

        Returns
        -------
        Intervals
            Read-only arrays ``lower`` and ``upper`` of the shape of the values.

        Raises
        ------
        InvalidArgument
            If ``level`` is not in (0, 1) or ``tail`` is not above 1.
        """
        check_confidence(level, tail)
        assumed = assumed_tail(self.error_model, level, tail)
        return self._ends(self.error_model.intervals(level, assumed))

    def confidence_interval(self, level: float = 0.95, tail: Tail = "auto") -> Intervals:
        """Intervals for the population of which the rows are a random sample, all at once.

        They cover the sampling error, and what :meth:`interval` covers. Both are computed from
        released quantities only, at no cost.

        Parameters
        ----------
        level : float
            Confidence over the sample and the mechanism's randomness that all intervals hold, in
            (0, 1).
        tail : float, "auto" or None
            As for :meth:`interval`.

        Returns
        -------
        Intervals
            As of :meth:`interval`.

        Raises
        ------
        InvalidArgument
            If they were not bought by ``population=True``; if a person may own several rows; or if
            an argument is out of range.

        Examples
        --------
        >>> import numpy as np, modicum
        >>> x = np.random.default_rng(1).normal([3, 50], [1, 9], size=(20_000, 2))
        >>> fit = modicum.linear_regression(x, within=(-1e6, 1e6), epsilon=1, population=True)
        >>> bool((fit.confidence_interval().width > 0).all())
        True
        """
        check_confidence(level, tail)
        self.unit.check_sample()
        find = getattr(self.error_model, "population_intervals", None)
        if not self.population or find is None:
            raise errors.InvalidArgument(
                f"this {self.statistic} has no intervals for a population, which "
                "linear_regression draws if it is asked for with population=True; interval() is "
                "for the data at hand"
            )
        return self._ends(find(level, assumed_tail(self.error_model, level, tail)))

    def _ends(self, intervals: Intervals) -> Intervals:
        lower, upper = intervals
        return Intervals(
            self._shaped(np.maximum(lower, -_LARGEST)), self._shaped(np.minimum(upper, _LARGEST))
        )

    def noise(self, level: float = 0.95) -> Floats:
        """Half of the widths that the intervals have by noise alone, with no allowance for more.

        That is half of the width of ``interval(level, tail=None)``, and infinite where that is.

        Parameters
        ----------
        level : float
            As for :meth:`interval`.

        Returns
        -------
        array
            Of the shape of the values.

        Examples
        --------
        >>> import modicum as mo
        >>> ages = mo.histogram([20, 30, 40] * 500, edges=[0, 25, 100], epsilon=1)
        >>> ages.noise().shape
        (2,)
        """
        check_confidence(level, None)
        lower, upper = self.error_model.intervals(level, None)
        with np.errstate(over="ignore"):
            return self._shaped((upper - lower) / 2)

    def frame(self) -> Any:
        """Return a table with a row for each component: its labels, value, lower and upper.

        The interval is that of 95 %; if one for the population was bought, its ends are in the
        columns ``confidence_lower`` and ``confidence_upper``. It is a table of the library that the
        data came in: pandas, Polars or PyArrow (for DuckDB PyArrow, or pandas). Data of any other
        kind get a list of dicts.

        Examples
        --------
        >>> import modicum as mo
        >>> ages = mo.histogram([20, 30, 40] * 500, edges=[0, 25, 100], epsilon=1)
        >>> [*ages.frame()[0]]
        ['left', 'right', 'value', 'lower', 'upper']
        """
        return native_table(self.columns() | self._of_population(), self.engine)

    def summary(self, level: float = 0.95, tail: Tail = "auto") -> str:
        """Write a table of all components with intervals: what ``print(release)`` shows.

        Parameters
        ----------
        level, tail
            As for :meth:`interval`.
        """
        columns = self.columns(level, tail)
        names = [name for name in columns if name not in {"value", "lower", "upper"}]
        several = len(self.numbers) > 1
        ends = f"{100 * level:g} % interval{', simultaneous' if several else ''}"
        apart = self._apart and tail is not None
        noise = self.noise(level).ravel().tolist() if apart else ()
        drawn = [*self._of_population(level, tail).values()]
        rows = [(*names, "value", *["noise"] * apart, ends, *["population"] * bool(drawn))]
        for i in range(min(len(self.numbers), _SHOWN)):
            value, lower, upper = (columns[name][i] for name in ("value", "lower", "upper"))
            labels = [written_label(columns[name][i]) for name in names]
            by_noise = [f"± {text.end(noise[i], digits=3)}"] if apart else []
            both = [f"[{text.end(lower)}, {text.end(upper)}]"]
            if drawn:
                both.append(f"[{', '.join(text.end(each[i]) for each in drawn)}]")
            rows.append((*labels, text.end(value), *by_noise, *both))
        wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        first = len(rows[0]) - 1 - bool(drawn)  # intervals stand to the left
        lines = self._head(f"{len(self.numbers)} number{'s' * several}")
        if not self.usable:
            return "\n".join([*lines, *self._terms()])
        for row in rows:
            cells = [
                f"{cell:{'>' if place < first else '<'}{width}}"
                for place, (cell, width) in enumerate(zip(row, wide, strict=True))
            ]
            lines.append(f"  {'  '.join(cells)}".rstrip())
        if len(self.numbers) > _SHOWN:
            lines.append(f"  and {len(self.numbers) - _SHOWN} more: frame() has all")
        if self.error_model.condition:
            lines.append(text.line("intervals", self.error_model.condition))
        return "\n".join([*lines, *self._terms()])

    def said(self, level: float = 0.95, tail: Tail = "auto") -> dict[str, object]:
        """Return what :meth:`to_json` says besides the draws (``schema: modicum.array/2``).

        ``values``, ``lower`` and ``upper`` are nested lists of one shape; ``axes`` is a list of
        objects, each from the name of a column to its labels. Where the summary shows the part of
        noise, ``noise`` is one more such list, as of :meth:`noise`; null stands for infinite.
        ``confidence_lower`` and ``confidence_upper`` are for the population, if they were bought.

        Parameters
        ----------
        level, tail
            Of the intervals, as for :meth:`interval`.
        """
        lower, upper = self.interval(level, tail)
        answer: dict[str, object] = {
            "axes": [
                {name: [_plain(label) for label in labels] for name, labels in axis.columns}
                for axis in self.axes
            ],
            "values": self.values.tolist(),
            "lower": lower.tolist(),
            "upper": upper.tolist(),
        }
        if self._apart:
            half = self.noise(level).astype(object)
            half[half == np.inf] = None
            answer["noise"] = half.tolist()
        if self.population:
            below, above = self.confidence_interval(level, tail)
            answer |= {"confidence_lower": below.tolist(), "confidence_upper": above.tolist()}
        return self._said("modicum.array/2", answer, level, tail)

    def terms(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> dict[str, object]:
        several = {"interval_simultaneous": len(self.numbers) > 1}
        return release.Record.terms(self, level, tail, population=population) | several

    def answers(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> AnswerRows:
        terms = self.terms(level, tail, population=population)
        columns = self.columns(level, tail, population=population)
        if self.population and not population:
            ends = self.confidence_interval(level, tail)
            pairs = zip(*(each.ravel().tolist() for each in ends), strict=True)
            terms["confidence_interval"] = [*map(list, pairs)]
        value, lower, upper = (columns.pop(name) for name in ("value", "lower", "upper"))
        return AnswerRows(
            self._title,
            columns,
            value,
            lower,
            upper,
            [self.code] * len(value),
            terms,
            partial(native_table, engine=self.engine),
        )

    @DRAWS
    def plot(
        self, ax: Any = None, *, level: float = 0.95, tail: Tail = "auto", most: int = 40
    ) -> Any:
        """Draw the numbers with their intervals: as bars, steps, points or colours.

        Counts of bins are bars: a bin without an end is hatched, and bins of very unlike widths are
        drawn equally wide. Shares up to points are steps in a band, quantiles are points against q.
        A matrix is a heat map, with half of each interval written under its number. Other numbers
        are points beside their labels. Only released numbers are drawn, so it costs nothing. It
        needs matplotlib.

        Parameters
        ----------
        ax, level, tail
            As for :meth:`Release.plot`.
        most : int
            How many labels are shown at most: the first ones. The title says so.

        Returns
        -------
        matplotlib Axes
            As of :meth:`Release.plot`.

        Raises
        ------
        InvalidArgument
            Without matplotlib, or for an argument that cannot be used.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("Agg")
        >>> import modicum
        >>> ages = modicum.histogram([23, 45, 67] * 999, edges=[0, 18, 65, 100], epsilon=1)
        >>> axes = ages.plot()
        >>> len(axes.patches), axes.get_ylabel()
        (3, 'values in the bin')
        """
        from modicum.releases.publishing import plots

        points, of = plots.drawn(self.answers(level, tail)), self._of()
        names = [name for axis in self.axes for name, _ in axis.columns]
        if len(self.axes) == 2:
            return plots.heat_map(points, ax, names[0], names[1], most)
        pictures = {("left", "right"): "histogram", ("q",): "quantiles", ("point",): "cdf"}
        if picture := pictures.get(tuple(names)):
            plots.checked_most(most)
            return getattr(plots, picture)(points, ax, of)
        return plots.named(replace(points, values_are="value"), ax, most)

    @property
    def _apart(self) -> bool:
        """Whether the allowance is often so much more than the noise that both are shown."""
        return bool(getattr(self.error_model, "noise_apart", False))

    def columns(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> dict[str, list[Any]]:
        """Return the labels of every component, in C order, its value and its interval.

        Parameters
        ----------
        level, tail
            As for :meth:`interval`.
        population : bool
            Whether the intervals are those for the population.

        Returns
        -------
        dict of str to list
            A column of each kind of label, ``value``, ``lower`` and ``upper``.
        """
        lower, upper = release.chosen_interval(self, level, tail, population=population)
        columns: dict[str, list[Any]] = {}
        places = list(product(*(range(size) for size in self.shape)))
        for number, axis in enumerate(self.axes):
            for name, labels in axis.columns:
                columns[name] = [labels[place[number]] for place in places]
        ends = {"lower": lower.ravel().tolist(), "upper": upper.ravel().tolist()}
        return columns | {"value": list(self.numbers)} | ends

    def _of_population(self, level: float = 0.95, tail: Tail = "auto") -> dict[str, list[float]]:
        """Ends of intervals for the population, if they were bought."""
        if not self.population:
            return {}
        lower, upper = self.confidence_interval(level, tail)
        ends = {"confidence_lower": lower, "confidence_upper": upper}
        return {name: each.ravel().tolist() for name, each in ends.items()}

    def _shaped(self, numbers: Floats) -> Floats:
        if numbers.size != prod(self.shape):
            raise errors.InvalidArgument(
                f"{numbers.size} numbers do not fill the shape {self.shape}"
            )
        shaped = np.array(numbers, dtype=np.float64).reshape(self.shape)
        shaped.flags.writeable = False
        return shaped

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"ArrayRelease({self.statistic} of {self._of()!r}, shape={self.shape})"


def written_label(label: Label) -> str:
    """Write a label on a summary."""
    return label if isinstance(label, str) else text.end(label)


def _plain(label: Label) -> Label:
    """JSON has no infinite numbers."""
    return label if isinstance(label, str) or abs(label) <= _LARGEST else str(label)
