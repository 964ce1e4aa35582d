"""The difference of the answers of two groups, with its intervals: post-processing of releases.

The groups share no rows and their draws are independent, so the errors are. Where the distribution
of an answer's errors is known, that of the difference is their convolution; of any other answer the
ends of the two intervals are subtracted, each at the level whose square is asked for
(docs/research/proofs/population.md, [population.5]).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from sys import float_info
from typing import Any

from modicum.errors import InvalidArgument
from modicum.releases.confidence import Tail, check_confidence
from modicum.releases.publishing import answers, text
from modicum.releases.publishing.html import card, facts, interval, number
from modicum.releases.release import Interval, Release, law_of


@answers.no_arithmetic("float(difference) is the number")
@answers.sealed
@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """The answer of one group less that of another.

    Attributes
    ----------
    by : str
        The column of keys, or several in one line.
    keys : tuple
        Those of the first and of the second group.
    names : tuple of str
        The same in words.
    first, second : Release
        Their releases.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"firm": ["a", "b", "b"] * 5000, "wage": [10.0, 20, 40] * 5000})
    >>> curator = modicum.Curator(table, budget=modicum.pure(1))
    >>> wages = curator.group_by("firm", keys=["a", "b"]).mean("wage", within=(0, 1e6), epsilon=1)
    >>> found = wages.difference("b", "a")
    >>> 18 < found.value < 22, found.interval().lower < found.value
    (True, True)
    """

    by: str
    keys: tuple[Any, Any]
    names: tuple[str, str]
    first: Release
    second: Release

    @property
    def value(self) -> float:
        """The difference; not rounded any further."""
        return self.first.value - self.second.value

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)

    @property
    def usable(self) -> bool:
        """Whether both answers can be used."""
        return self.first.usable and self.second.usable

    def interval(self, level: float = 0.95, tail: Tail = "auto") -> Interval:
        """Interval for the difference of the statistics of the data at hand.

        Statistics with an argument ``level`` have an end at sqrt(level) if that was not less: 0.975
        serves for 95 %.

        Parameters
        ----------
        level, tail
            As for :meth:`Release.interval <modicum.releases.release.Release.interval>`.

        Returns
        -------
        Interval
            In the unit of the data.

        Raises
        ------
        InvalidArgument
            If ``level`` is not in (0, 1) or ``tail`` is not above 1.

        Examples
        --------
        >>> import modicum, pandas as pd
        >>> table = pd.DataFrame({"sex": ["f", "m"] * 5000, "age": [*range(40, 60)] * 500})
        >>> groups = modicum.Curator(table, budget=modicum.pure(1)).group_by("sex", keys=["f", "m"])
        >>> lower, upper = groups.mean("age", epsilon=1).difference("m", "f").interval()
        >>> -5 < lower < 1 < upper < 7
        True
        """
        check_confidence(level, tail)
        return self._between(level, tail, population=False)

    def confidence_interval(self, level: float = 0.95, tail: Tail = "auto") -> Interval:
        """Interval for the difference of the populations of which the rows are random samples.

        Parameters
        ----------
        level, tail
            As for :meth:`Release.confidence_interval
            <modicum.releases.release.Release.confidence_interval>`.

        Returns
        -------
        Interval
            In the unit of the data.

        Raises
        ------
        InvalidArgument
            If it was not bought by ``population=True``; if a person may own several rows or be in
            several groups: the samples are then not independent; or if an argument is out of range.
        """
        check_confidence(level, tail)
        if self.first.unit.groups > 1:
            raise InvalidArgument(
                f"samples that share persons are not independent, and {self.first.unit} may be in "
                "several groups: max_groups=1 keeps one group of each"
            )
        for each in self._both:
            each.unit.check_sample()
        return self._between(level, tail, population=True)

    def _between(self, level: float, tail: Tail, *, population: bool) -> Interval:
        laws = [law_of(each, (1 - level) / 2, tail, population=population) for each in self._both]
        if None not in laws:
            return _cut(laws[0].minus(laws[1]).interval(1 - level))
        one, other = (
            (each.confidence_interval if population else each.interval)(math.sqrt(level), tail)
            for each in self._both
        )
        return _cut(Interval(one.lower - other.upper, one.upper - other.lower))

    @property
    def _both(self) -> tuple[Release, Release]:
        return self.first, self.second

    def __str__(self) -> str:
        said = (text.line(name, words) for name, words in self._said())
        return "\n".join([self._heading, *said])

    @property
    def _heading(self) -> str:
        of = "rows" if self.first.column is None else self.first.column
        title = f"{self.first.statistic} of {of}, {self.by} {self.names[0]} less {self.names[1]}"
        return f"{title}: {number(self.value) if self.usable else 'no usable answer'}"

    def _said(self) -> Iterator[tuple[str, str]]:
        if self.usable:
            yield "95 % interval", interval(*self.interval())
        if (
            self.usable
            and self.first.population
            and self.second.population
            and self.first.unit.groups == 1
        ):
            ends = interval(*self.confidence_interval())
            yield "population", f"{ends}  (95 %, of random samples)"
        for name, each in zip(self.names, self._both, strict=True):
            if each.status != "ok":
                yield "note", f"{name}: {each.status}"

    def __repr__(self) -> str:
        value = f"value={self.value!r}" if self.usable else "no usable answer"
        return f"Difference({self.keys[0]!r} - {self.keys[1]!r}, {value})"

    def _repr_html_(self) -> str:
        return card(self._heading, facts(self._said()))


def _cut(interval: Interval) -> Interval:
    """Return ends that are floats."""
    most = float_info.max
    return Interval(*(min(max(end, -most), most) for end in interval))
