"""The frozen record of a release: the only object that shows numbers from the data.

:class:`Record` is what all have, :class:`Release` has one number, ``ArrayRelease`` several.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from sys import float_info
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from modicum import errors
from modicum.exact.enclosure import float_nearest
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.privacy.unit import NEIGHBOURS, Unit
from modicum.releases import confidence, publishable
from modicum.releases.publishing import native, text
from modicum.releases.publishing.answers import AnswerRows, no_arithmetic, sealed
from modicum.releases.publishing.explanation import Explanation
from modicum.releases.publishing.plain import event_fields, plain
from modicum.releases.status import USABLE, Code, Status, judged, step_words
from modicum.stored import codec

_INTERNAL = frozenset(  # of records: names that users of a notebook do not need
    {"engine", "error_model", "event", "found", "groups_found", "lattice", "limit", "neighbours"}
    | {"population", "private", "ranged", "said", "step_words", "transcript", "version", "view"}
)


class Interval(NamedTuple):
    """Ends of an interval.

    Attributes
    ----------
    lower, upper : float
        In the unit of the data.

    Examples
    --------
    >>> Interval(lower=1.0, upper=3.0).width, 1.5 in Interval(1.0, 3.0)
    (2.0, True)
    """

    lower: float
    upper: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Real | Decimal) and bool(self.lower <= value <= self.upper)  # type: ignore[operator]

    @property
    def width(self) -> float:
        """How far the ends are apart."""
        return self.upper - self.lower

    @property
    def half_width(self) -> float:
        """Half of that: the number after ±, if the value is in the middle."""
        return self.upper / 2 - self.lower / 2


class ScalarErrorModel(confidence.ErrorModel, Protocol):
    """Released quantities from which intervals follow; one class a statistic."""

    def interval(self, level: float, tail: float | None) -> Interval:
        """Interval at a confidence level under a tail assumption."""


R_co = TypeVar("R_co", bound="Record", covariant=True)


class Estimate(ABC, Generic[R_co]):
    """What an estimator returns, and the kind of release that is made of it.

    ``error_model`` is what intervals are computed from, and ``status`` says whether the answer can
    be used, from released quantities alone. ``method`` names what answered, and ``lattice`` has the
    range that was found, if the query left them open; ``limit`` is how many rows of a person count
    at most, if that was found.
    """

    __slots__ = ()
    error_model: confidence.ErrorModel
    status: Status
    method: str | None = None
    lattice: Lattice | None = None
    limit: int | None = None

    @abstractmethod
    def width(self, level: float, tail: confidence.Tail = "auto") -> float:
        """Width of the interval, the mean one of several numbers."""

    @abstractmethod
    def _release(self, **fields: Any) -> R_co: ...

    def released(self, *, engine: str, stated: str, left_out: str, **circumstances: Any) -> R_co:
        """Return the record; the circumstances are the other fields of :class:`Record`.

        Its status is that of the estimate, or a warning that holds for all data of this kind.
        """
        status = judged(self.status, self.error_model, typed=engine != "csv", stated=bool(stated))
        unit: Unit = circumstances["unit"]
        if unit.whole and self.limit is None:
            status = status.of_persons(str(unit.column))
        if status.ok and left_out:
            status = Status("left_out", left_out)
        if not status.ok and circumstances["lattice"] is None:
            status = status.without_range
        return self._release(
            error_model=self.error_model,
            status=status.words,
            code=status.code,
            engine=engine,
            stated=stated,
            left_out=left_out,
            **circumstances,
        )


@dataclass(frozen=True, slots=True)
class ScalarEstimate(Estimate["Release"]):
    """What an estimator of one number returns: a value, its error model, and a status."""

    value: Fraction
    error_model: ScalarErrorModel
    status: Status
    lattice: Lattice | None = None
    limit: int | None = None

    def width(self, level: float, tail: confidence.Tail = "auto") -> float:
        """Width of the interval."""
        lower, upper = self.interval(level, tail)
        return upper - lower

    def interval(self, level: float = 0.95, tail: confidence.Tail = "auto") -> Interval:
        """Interval as of a release."""
        assumed = confidence.assumed_tail(self.error_model, level, tail)
        return self.error_model.interval(level, assumed)

    def _release(self, **fields: Any) -> Release:
        return Release(value=float_nearest(self.value), **fields)


@codec.storable
@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One draw in the transcript: what was drawn, from which public mechanism, at what cost.

    ``words`` is the outcome in the units of the data, where it has any.
    """

    label: str
    mechanism: str
    parameters: Mapping[str, object]
    outcome: object
    words: str
    event: Event


@dataclass(frozen=True, slots=True)
class Record(publishable.Publishable):
    """What was released, at what cost, for whom, how: the part that all releases share.

    Every number on it has been charged: the whole cost, before the first draw.

    Attributes
    ----------
    statistic : str
        ``"mean"``, ``"sum"``, ...
    column : str or None
        The column, ``None`` for an array or for rows.
    event : Event
        What the release cost the privacy unit, transcript included.
    unit : Unit
        Who is protected.
    lattice : Lattice or None
        The range and step; ``None`` for counts.
    ranged : bool
        Whether the range was given, as ``within``, or something public states it.
    stated : str
        What states the range, if it was not given: a condition, an expression, a declared type.
    found : bool
        Whether the range was found in the data, privately.
    method : str
        Which algorithm answered.
    status : str
        ``"ok"``, or a warning in words that follows from released quantities.
    code : str
        The same in one stable word, see :class:`modicum.releases.status.Status`.
    transcript : tuple of TranscriptEntry
        Every intermediate draw; their costs add up to ``event`` (for a unit of one row). If that
        is (ε, δ), they add up to the largest ρ that implies it.
    error_model : ErrorModel
        What ``interval`` computes from.
    engine : str
        Which engine read the data.
    account : str
        Which budget was charged.
    private : bool
        False if the randomness was a test's: the release then protects nobody.
    version : str
        Version of modicum.
    limit : int or None
        How many rows of a person count at most, at random, if that was found; ``None`` if all rows
        count as they are, or as the unit says.
    left_out : str
        What of a person is neither in the answer nor in its interval, by rule.
    groups_found : int or None
        In how many groups a person counts at most, at random, if that was found.
    population : bool
        Whether what an interval for the population takes was bought.
    view : tuple of str
        Which rows were chosen, and which columns made, of the table that was opened.
    """

    _internal = _INTERNAL
    statistic: str
    column: str | None
    event: Event
    unit: Unit
    lattice: Lattice | None
    ranged: bool
    method: str
    status: str
    code: Code
    transcript: tuple[TranscriptEntry, ...]
    error_model: confidence.ErrorModel
    engine: str
    account: str
    private: bool
    version: str
    found: bool = field(default=False, kw_only=True)
    stated: str = field(default="", kw_only=True)
    limit: int | None = field(default=None, kw_only=True)
    left_out: str = field(default="", kw_only=True)
    groups_found: int | None = field(default=None, kw_only=True)
    population: bool = field(default=False, kw_only=True)
    view: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def total_event(self) -> Event:
        """What all of it cost the privacy unit, the draw of labels included."""
        return self.event

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the guarantee, ``"add-remove"``."""
        return NEIGHBOURS

    @property
    def within(self) -> tuple[float, float] | None:
        """The public range, ``None`` if none was given."""
        return (self.lattice.lo, self.lattice.hi) if self.lattice and self.ranged else None

    @property
    def range_found(self) -> tuple[float, float] | None:
        """The range that was found, and released, if none was given; else ``None``."""
        if self.lattice is None or not self.found:
            return None
        return self.lattice.lo, self.lattice.hi

    @property
    def usable(self) -> bool:
        """Whether the answer can be used; if not, ``status`` and ``code`` say why.

        It follows from released numbers alone, and costs nothing.
        """
        return self.code in USABLE

    @property
    def step_words(self) -> str:
        """What to know about the step, if the answer is at most a million of it; or nothing."""
        return "" if self.lattice is None else step_words(self.error_model, self.lattice)

    def explain(self) -> Explanation:
        """Describe step by step what was drawn, what it cost, and what the interval assumes.

        It is a text; a notebook shows a table, with the mechanisms folded in.
        """
        tails = (confidence.chosen_index(self.error_model, 0.95), None)
        assumed = dict.fromkeys(self.error_model.assumption(tail) for tail in tails)
        if self.error_model.condition and hasattr(self.error_model, "tail_index"):
            assumed[text.INDEX.format(tails[0])] = None
        together = "; their costs are a ρ that implies the cost" * bool(self.event.failing)
        return Explanation.of_draws(self, self.transcript, together, assumed)

    def _of(self) -> str:
        return "rows" if self.column is None and self.lattice is None else self.column or "array"

    def _head(self, answer: str) -> list[str]:
        """First lines of the summary: the answer, or that it cannot be used, and no number."""
        left_out = [text.line("left out", self.left_out)] if self.left_out else []
        if self.usable:
            return [f"{self._title}: {answer}", *left_out]
        return [f"{self._title}: no usable answer ({self.code})", *left_out]

    def _terms(self) -> list[str]:
        """Lines of the summary besides the answer."""
        swap = f"{self.neighbours}; swap: {self.event.swapped()}"
        said = [("cost", f"{self.event} for {self.unit} ({swap})")]
        if self.method != text.USUAL:
            said.append(("method", self.method))
        if self.within:
            said.append(("range", text.range_words(self.within, self.stated)))
        if self.range_found and self.usable:
            said.append(("bounds", text.bounds_words(self.range_found[1], text.clip_of(self))))
        if self.step_words:
            said.append(("step", self.step_words))
        if self.limit is not None:
            said.append(("rows", text.found_rows_words(self.limit)))
        if self.groups_found is not None:
            said.append(("groups", text.found_groups_words(self.groups_found)))
        said += [*(each.partition(" ")[::2] for each in self.view), ("account", self.account)]
        if self.status not in {"ok", self.left_out}:
            said.append(("note", self.status))
        if not self.private:
            said.append(("WARNING", "test entropy, not private"))
        return [text.line(*each) for each in said]

    def _circumstances(self) -> dict[str, object]:
        """At what cost, for whom and how it was released, as JSON types."""
        return {
            **event_fields(self.event),
            "neighbours": self.neighbours,
            "unit": str(self.unit),
            "unit_rows": self.unit.rows,
            "unit_column": self.unit.column,
            "within": None if self.within is None else list(self.within),
            **({"within_from": self.stated} if self.stated else {}),
            **({"range_found": list(self.range_found)} if self.range_found else {}),
            **({} if self.limit is None else {"limit_found": self.limit}),
            **({"left_out": self.left_out} if self.left_out else {}),
            **({} if self.groups_found is None else {"groups_found": self.groups_found}),
            **({"view": list(self.view)} if self.view else {}),
            "step": None if self.lattice is None else self.lattice.step,
            "method": self.method,
            "status": self.status,
            "code": self.code,
            "usable": self.usable,
            "engine": self.engine,
            "account": self.account,
            "private": self.private,
        }

    def terms(
        self, level: float = 0.95, tail: confidence.Tail = "auto", *, population: bool = False
    ) -> dict[str, object]:
        """Return what a published table says of the release besides its numbers, as JSON types.

        Parameters
        ----------
        level, tail, population
            As for :meth:`publish`.
        """
        assumed = confidence.assumed_tail(self.error_model, level, tail)
        return {
            "statistic": self.statistic,
            "column": self.column,
            "cost": str(self.event),
            **self._circumstances(),
            "interval_level": level,
            "interval_of": text.interval_of(self.left_out, population=population),
            "interval_condition": self.error_model.condition if assumed is not None else "",
            "interval_assumption": self.error_model.assumption(assumed),
            "version": self.version,
        }

    @property
    def _title(self) -> str:
        """What was released, in a few words."""
        return f"{self.statistic} of {self._of()}"

    @abstractmethod
    def said(self, level: float = 0.95, tail: confidence.Tail = "auto") -> dict[str, object]:
        """Return what :meth:`facts` says besides the draws.

        Parameters
        ----------
        level, tail
            Of the intervals.
        """

    def facts(self, level: float = 0.95, tail: confidence.Tail = "auto") -> dict[str, object]:
        """Return what :meth:`to_json` says: what :meth:`said` is of, and the transcript.

        Parameters
        ----------
        level, tail
            Of the intervals.
        """
        draws = [
            {
                "label": entry.label,
                "mechanism": entry.mechanism,
                "parameters": dict(entry.parameters),
                "outcome": plain(entry.outcome),
                "words": entry.words,
                **event_fields(entry.event),
            }
            for entry in self.transcript
        ]
        return {**self.said(level, tail), "transcript": draws}

    def _said(
        self,
        schema: str,
        answer: Mapping[str, object],
        level: float = 0.95,
        tail: confidence.Tail = "auto",
    ) -> dict[str, object]:
        """Return the record with its answer, the interval included, as JSON types."""
        assumed = confidence.assumed_tail(self.error_model, level, tail)
        return {
            "schema": schema,
            "version": self.version,
            "statistic": self.statistic,
            "column": self.column,
            **answer,
            "interval_level": level,
            "interval_tail": assumed if self.error_model.condition else None,
            "interval_assumption": self.error_model.assumption(assumed),
            **self._circumstances(),
            "error_model": self.error_model.to_dict(),
        }


@codec.storable
@no_arithmetic("float(release) is the number")
@sealed
@dataclass(frozen=True, slots=True)
class Release(Record):
    """A differentially private answer and everything that was released with it.

    Attributes
    ----------
    value : float
        The answer; ``float(release)``, ``round(release)`` and ``f"{release:,.0f}"`` are of it.
    error_model : ScalarErrorModel
        What :meth:`interval` computes from.
    statistic, column, event, unit, lattice, ranged, method, status, code, transcript, engine,
    account
        And ``private`` and ``version``: as for :class:`Record`.

    >>> import modicum as mo
    >>> print(mo.count(range(1000), epsilon=1).event)
    ε = 1
    """

    error_model: ScalarErrorModel
    value: float

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)

    def __repr__(self) -> str:
        value = f"value={self.value!r}" if self.usable else f"no usable answer ({self.code})"
        return f"Release({self.statistic} of {self._of()!r}, {value}, {self.event})"

    @confidence.LEVELS
    def interval(self, level: float = 0.95, tail: confidence.Tail = "auto") -> Interval:
        """Interval for the statistic of the data at hand, from released quantities only.

        It covers the noise, the noisy count and, under a stated assumption, the clipping bias; it
        is post-processing, at no cost.

        Parameters
        ----------
        level : float
            Confidence over the mechanism's randomness, in (0, 1).
        tail : float, "auto" or None
            Assumed tail index a > 1 of the values beyond the clipping bounds: the share beyond
            t times the bound falls like t^-a or faster. ``"auto"``: the index that the released
            numbers show, less its uncertainty, 3 at most; the summary and the JSON say which. If
            that may be too much, or they show nothing of the tail, :attr:`code` is not ``"ok"``.
            ``None``: no assumption; the interval is then for the statistic of the *clipped*
            data.

        Returns
        -------
        Interval
            Its ``lower`` and ``upper`` end, in the unit of the data, and ``width``.

        Raises
        ------
        InvalidArgument
            If ``level`` is not in (0, 1) or ``tail`` is not above 1.

        Examples
        --------
        >>> import modicum as mo
        >>> age = mo.mean([30.0, 40.0, 50.0] * 3000, within=(0, 120), epsilon=1)
        >>> age.interval(level=0.5).width < age.interval(level=0.99).width
        True
        """
        confidence.check_confidence(level, tail)
        assumed = confidence.assumed_tail(self.error_model, level, tail)
        lower, upper = self.error_model.interval(level, assumed)
        most = float_info.max
        return Interval(*(min(max(end, -most), most) for end in (lower, upper)))

    def confidence_interval(self, level: float = 0.95, tail: confidence.Tail = "auto") -> Interval:
        """Interval for the population of which the rows are a random sample.

        It covers the sampling error, and what :meth:`interval` covers. Both are computed from
        released quantities only, at no cost.

        Parameters
        ----------
        level : float
            Confidence over the sample and the mechanism's randomness, in (0, 1). As that of all
            intervals for means of samples it is asymptotic: that of few or very skewed rows is
            lower.
        tail : float, "auto" or None
            As for :meth:`interval`.

        Returns
        -------
        Interval
            Its ``lower`` and ``upper`` end, in the unit of the data, and ``width``.

        Raises
        ------
        InvalidArgument
            If it was not bought by ``population=True`` of a mean, a median or a quantile; if a
            person may own several rows; or if an argument is out of range.

        Examples
        --------
        >>> import modicum as mo
        >>> age = mo.mean([30.0, 40.0, 50.0] * 3000, within=(0, 120), epsilon=1, population=True)
        >>> age.confidence_interval().width > age.interval().width
        True
        """
        confidence.check_confidence(level, tail)
        self.unit.check_sample()
        found: Interval | None = None
        if (law := law_of(self, 1 - level, tail, population=True)) is not None:
            found = law.interval(1 - level)
        elif drawn := getattr(self.error_model, "population_interval", None):
            found = drawn(level)
        if found is None:
            raise errors.InvalidArgument(
                f"this {self.statistic} has no confidence interval for a population, which mean, "
                "median and quantile draw if they are asked for with population=True; interval() "
                "is for the data at hand"
            )
        return found

    def noise_ends(self, levels: Sequence[float]) -> list[tuple[float, float, float]]:
        """Levels, and ends of intervals for the noise alone; none if its law is not known.

        They are exact and assume nothing; a picture of the law is made of them.

        Parameters
        ----------
        levels : sequence of float
            In (0, 1).

        Returns
        -------
        list of (float, float, float)
            Each level, with a lower and an upper end.
        """
        law = law_of(self, 0.05, None, population=False)
        if law is not None and law.above.parts:
            sides = (law.below.bound, law.above.bound)
        elif (bound := getattr(self.error_model, "noise_bound", None)) is None:
            return []
        else:
            sides = (lambda alpha: bound(2 * alpha),) * 2
        value = self.value
        return [
            (level, value - sides[0]((1 - level) / 2), value + sides[1]((1 - level) / 2))
            for level in levels
        ]

    def answers(
        self, level: float = 0.95, tail: confidence.Tail = "auto", *, population: bool = False
    ) -> AnswerRows:
        lower, upper = chosen_interval(self, level, tail, population=population)
        terms = self.terms(level, tail, population=population)
        if self.population and not population:
            terms["confidence_interval"] = list(self.confidence_interval(level, tail))
        return AnswerRows(
            self._title,
            {},
            [self.value],
            [lower],
            [upper],
            [self.code],
            terms,
            functools.partial(native.native_table, engine=self.engine),
            text.clip_of(self),
        )

    def said(self, level: float = 0.95, tail: confidence.Tail = "auto") -> dict[str, object]:
        ends = self.interval(level, tail)
        answer: dict[str, object] = {"value": self.value, "interval": list(ends)}
        if self.population:
            answer["confidence_interval"] = list(self.confidence_interval(level, tail))
        return self._said("modicum.release/2", answer, level, tail)

    def summary(self, level: float = 0.95, tail: confidence.Tail = "auto") -> str:
        """Write the answer, its interval and its terms: what ``print(release)`` shows.

        Parameters
        ----------
        level, tail
            As for :meth:`interval`.
        """
        lower, upper = self.interval(level, tail)
        assumed = bool(self.error_model.condition) and tail is not None
        condition = f"  ({self.error_model.condition})" * assumed
        ends = f"{100 * level:g} % interval"
        unshrunk = getattr(self.error_model, "unshrunk", None)
        shrunk = "" if unshrunk is None else f"  (shrunk from {text.end(unshrunk)})"
        lines = self._head(f"{text.end(self.value)}{shrunk}")
        if self.usable:
            lines.append(text.line(ends, f"{text.interval(lower, upper)}{condition}"))
        if self.usable and self.population:
            drawn = text.interval(*self.confidence_interval(level, tail))
            lines.append(text.line("population", f"{drawn}  ({text.SAMPLE.format(100 * level)})"))
        return "\n".join([*lines, *self._terms()])

    def __str__(self) -> str:
        return self.summary()


def chosen_interval(release: Any, level: float, tail: confidence.Tail, *, population: bool) -> Any:
    """The interval for the data at hand, or for the population."""
    interval = release.confidence_interval if population else release.interval
    return interval(level, tail)


def law_of(release: Release, alpha: float, tail: confidence.Tail, *, population: bool) -> Any:
    """Return the distribution of the errors of an answer, or ``None`` if it is not known."""
    make = getattr(release.error_model, "error_law", None)
    assumed = confidence.assumed_tail(release.error_model, 1 - alpha, tail)
    return make and make(alpha, assumed, population=population)
