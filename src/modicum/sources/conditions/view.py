"""The text that makes one table of another: which rows are chosen, which columns are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modicum.errors import InvalidArgument
from modicum.sources.conditions.expressions import Expression, parse


@dataclass(frozen=True)
class View:
    """What makes one table of another: a condition on rows, or columns, as text.

    ``joined`` are columns that are read together as one column of labels, which are tuples; it has
    their names, with commas.

    Examples
    --------
    >>> print(View("age >= 18")), print(View(None, (("bmi", "kg / m ** 2"),)))
    where age >= 18
    with bmi = kg / m ** 2
    (None, None)
    """

    condition: str | None
    columns: tuple[tuple[str, str], ...] = ()
    joined: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a condition or an expression that is no text, such as a column of truths."""
        given: tuple[object, ...] = (self.condition, *(text for _, text in self.columns))
        for each in given:
            if each is not None and not isinstance(each, str):
                raise InvalidArgument(
                    f'an expression must be text, such as "age >= 18", got {type(each).__name__}'
                )

    @property
    def joint(self) -> str | None:
        """The column of joined labels."""
        return ", ".join(self.joined) or None

    @property
    def where(self) -> Expression | None:
        """The condition."""
        return None if self.condition is None else parse(self.condition)

    @property
    def made(self) -> Mapping[str, Expression]:
        """The columns that are made."""
        return {name: parse(text) for name, text in self.columns}

    def only(self, names: Sequence[str]) -> View:
        """Leave out the columns that are not asked for."""
        made = tuple(each for each in self.columns if each[0] in names)
        return View(self.condition, made, self.joined if self.joint in names else ())

    def needs(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the table that are read for some of the view."""
        made = self.made
        names = self._apart(names)
        needed = dict.fromkeys(name for name in names if name not in made)
        read = [made[name] for name in names if name in made]
        if self.where is not None:
            read.append(self.where)
        for expression in read:
            needed |= dict.fromkeys(sorted(leaf.name for leaf in expression.leaves))
        return list(needed)

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the table that may be read as labels, if some of the view are."""
        leaves = [leaf for each in self.expressions for leaf in each.leaves]
        tested = {leaf.name for leaf in leaves if leaf.read != "number"}
        return [*(name for name in self._apart(names) if name not in self.made), *sorted(tested)]

    def _apart(self, names: Sequence[str]) -> list[str]:
        """Name the columns that are joined, in place of what they are joined to."""
        apart = [name for name in names if name != self.joint]
        return apart if len(apart) == len(names) else [*apart, *self.joined]

    @property
    def expressions(self) -> list[Expression]:
        return [*self.made.values(), *([self.where] if self.where is not None else [])]

    def __str__(self) -> str:
        if self.condition is not None:
            return f"where {self.condition}"
        return "with " + ", ".join(f"{name} = {text}" for name, text in self.columns)
