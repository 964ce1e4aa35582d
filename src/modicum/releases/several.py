"""Several answers that were asked for together: a mapping that is shown as one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from modicum import errors
from modicum.privacy.budget import Budget
from modicum.privacy.event import Event, spent_on
from modicum.releases.confidence import Tail
from modicum.releases.publishable import Publishable
from modicum.releases.publishing import native, text
from modicum.releases.publishing.answers import AnswerRows, common_terms, sealed
from modicum.releases.publishing.html import answer_cells, written_label
from modicum.stored.codec import storable

R = TypeVar("R", bound=Publishable)
_SHOWN = 30  # lines of the summary


@storable
@sealed
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Releases(Mapping[str, R], Publishable, Generic[R]):
    """The answers of one call of ``release()``, by their names.

    It is a mapping; printed, in a notebook and by ``frame()`` and ``publish()`` it is one table of
    all numbers. Its columns are the name, the answer in words, value, lower and upper, and usable.

    Attributes
    ----------
    releases : mapping of str to Release, or another record
        The answers, in the order asked.
    cost : Budget
        What all of them cost together.

    Examples
    --------
    >>> import modicum as mo
    >>> curator = mo.Curator([23.0, 45, 67] * 3000, budget=mo.pure(2))
    >>> found = curator.release(
    ...     mean=mo.query.mean(epsilon=1), spread=mo.query.quantiles(q=[0.2, 0.8], epsilon=1)
    ... )
    >>> [row["answer"] for row in found.frame()]
    ['mean of array', 'quantiles of array, q = 0.2', 'quantiles of array, q = 0.8']
    >>> 40 < found["mean"].value < 50, str(found.cost)
    (True, 'ε = 2')
    """

    _internal = frozenset({"releases"})
    releases: Mapping[str, R]
    cost: Budget

    def __getitem__(self, name: str) -> R:
        if not errors.can_be_key(name) or name not in self.releases:
            raise errors.MissingKey(name, self.releases)
        return self.releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def usable(self) -> bool:
        """Whether any of the answers can be used; each says so for itself."""
        return any(any(each.answers().usable) for each in self.values())

    @property
    def total_event(self) -> Event:
        """What all of it cost the privacy unit, the draw of labels included."""
        return spent_on(self.cost)

    def facts(self) -> dict[str, object]:
        """Return what :meth:`to_json` says (``schema: modicum.releases/1``)."""
        return {
            "schema": "modicum.releases/1",
            "cost": str(self.cost),
            "usable": self.usable,
            "answers": {name: each.facts() for name, each in self.items()},
        }

    def answers(
        self, level: float = 0.95, tail: Tail = "auto", *, population: bool = False
    ) -> AnswerRows:
        names: list[str] = []
        words: list[str] = []
        numbers: list[tuple[Any, ...]] = []
        terms = []
        for name, release in self.items():
            each = release.answers(level, tail, population=population)
            labels = [*zip(*each.labels.values(), strict=True)] or [()] * len(each.values)
            names += [name] * len(each.values)
            words += [", ".join([each.what, *_parts(each.labels, label)]) for label in labels]
            numbers += zip(each.values, each.lower, each.upper, each.codes, strict=True)
            terms.append(each.terms)
        columns = [*zip(*numbers, strict=True)] or [()] * 4
        values, lower, upper, codes = columns
        shared = common_terms(terms)
        shared.pop("interval_simultaneous", None)
        return AnswerRows(
            errors.number_of(len(self), "answer"),
            {"name": names, "answer": words},
            values,
            lower,
            upper,
            codes,
            {**shared, "cost": str(self.cost), "cost_covers": "all answers together"}
            | {"interval_each": "each answer by itself"},
            partial(native.native_table, engine=str(shared.get("engine", ""))),
        )

    def summary(self, level: float = 0.95, tail: Tail = "auto") -> str:
        """Write a table of all numbers with intervals: what ``print(releases)`` shows.

        Parameters
        ----------
        level, tail
            As for :meth:`Release.interval`; each answer holds by itself.
        """
        answers = self.answers(level, tail)
        head, rows = answer_cells(answers, _SHOWN)
        more = len(answers.values) - _SHOWN
        return "\n".join(
            [
                f"{answers.title}:",
                *text.aligned([head, *rows], labels=2),
                *([f"  and {more} more: frame() has all"] if more > 0 else []),
                f"  cost  {self.cost} for {answers.terms['unit']}, all answers together",
            ]
        )

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={release!r}" for name, release in self.items())
        return f"Releases({inner})"


def _parts(names: Mapping[str, Any], label: tuple[Any, ...]) -> list[str]:
    return [f"{name} = {written_label(each)}" for name, each in zip(names, label, strict=True)]
