"""What a record gives to be published: labels, values with intervals, and the terms of the release.

Anything that can say this is published in the same way: a record of one number, of several, of
groups, or of a whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeVar

from modicum import errors
from modicum.releases import status

if TYPE_CHECKING:
    from modicum.privacy.event import Event

T = TypeVar("T")
_CALCULATE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_OPERATORS = (
    *_CALCULATE,
    *(f"r{each}" for each in _CALCULATE),
    *("lt", "le", "gt", "ge", "neg", "abs", "int"),
)
DRAWS = errors.says_how("plot(most=20)", kind="what is released says how it is drawn")


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Released numbers, a row for each.

    Attributes
    ----------
    title : str
        What the numbers are.
    labels : mapping of str to sequence
        Names of columns, and for each row the label in it; all labels together tell rows apart.
    values, lower, upper : sequence of float
        The numbers, and the ends of their intervals.
    codes : sequence of str
        Whether each can be used, see :class:`modicum.releases.status.Status`.
    terms : mapping
        What was released, at what cost, for whom and how, as JSON types.
    make : callable
        Makes a table of columns, of the library that the data came in.
    clip : sequence of float
        The ends that values further out count as, if they are released.
    """

    title: str
    labels: Mapping[str, Sequence[Any]]
    values: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    codes: Sequence[str]
    terms: Mapping[str, object]
    make: Callable[[Mapping[str, Sequence[Any]]], Any]
    clip: Sequence[float] = ()

    @property
    def what(self) -> str:
        """What each number is, without the columns that its labels are of."""
        by: Any = self.terms.get("by", ())
        return self.title.removesuffix(f" by {by if isinstance(by, str) else ', '.join(by)}")

    @property
    def usable(self) -> list[bool]:
        """Whether each number can be used."""
        return [code in status.USABLE for code in self.codes]


def common_terms(several: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Join the terms of several releases; what differs between them is a list of each once.

    Examples
    --------
    >>> common_terms([{"unit": "one row", "code": "ok"}, {"unit": "one row", "code": "partial"}])
    {'unit': 'one row', 'code': ['ok', 'partial']}
    """
    terms: dict[str, object] = {}
    for name in dict.fromkeys(name for each in several for name in each):
        found = {repr(each[name]): each[name] for each in several if name in each}
        terms[name] = [*found.values()] if len(found) > 1 else next(iter(found.values()))
    return terms


def texts_once(value: object) -> list[str]:
    """Take apart texts that :func:`common_terms` joined, of groups within several answers too.

    Examples
    --------
    >>> texts_once(["ok", ["too wide", "ok"]]), texts_once("ok"), texts_once(None)
    (['ok', 'too wide'], ['ok'], [])
    """
    if isinstance(value, list | tuple):
        return [*dict.fromkeys(text for each in value for text in texts_once(each))]
    return [str(value)] if value else []


def sealed(cls: type[T]) -> type[T]:
    """Make a frozen dataclass with slots refuse every attribute by ``AttributeError``, and hash it.

    Libraries attach notes to what passes through them, the data of a call among them. The refusal
    that ``dataclass`` writes ends in a ``TypeError`` for new names, and its hash in one for fields
    that are mappings: these are left out of it, as equal records have equal other fields.
    """

    def refuse(self: T, name: str, *_: object) -> NoReturn:
        raise FrozenInstanceError(f"a {type(self).__name__} cannot be changed: {name}")

    def hashed(self: Any) -> int:
        values = (getattr(self, each.name) for each in fields(self))
        return hash((type(self).__name__, *filter(errors.can_be_key, values)))

    if "__eq__" in cls.__dict__:
        cls.__hash__ = hashed  # type: ignore[method-assign]
    for method in ("__setattr__", "__delattr__"):
        setattr(cls, method, refuse)
    return cls


def no_arithmetic(taken: str) -> Callable[[type[T]], type[T]]:
    """Make a record refuse to be calculated with, and say how its number is ``taken``."""

    def refuse(self: object, *_: object) -> NoReturn:
        raise errors.WrongCall(
            f"{errors.a_kind(type(self))} is no number to calculate with: {taken}, which leaves "
            "its "
            "interval behind; intervals of sums and ratios do not follow from it, ask for the "
            "whole in one question, as modicum.ratio() does"
        )

    def decorated(cls: type[T]) -> type[T]:
        for method in _OPERATORS:
            setattr(cls, f"__{method}__", refuse)
        return cls

    return decorated


class Answered(Protocol):
    """A record, as far as what is published of it needs to know."""

    @property
    def total_event(self) -> Event:
        """What all of it cost the privacy unit."""

    def answers(
        self,
        level: float = 0.95,
        tail: float | Literal["auto"] | None = "auto",
        *,
        population: bool = False,
    ) -> AnswerRows:
        """Return all numbers in rows, with intervals."""

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object."""

    def _repr_html_(self) -> str:
        """What a notebook shows."""
