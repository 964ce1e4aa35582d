"""A published table: released numbers, rounded and flagged, with the terms of their release."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from modicum.errors import InvalidArgument, as_given, can_be_key, did_you_mean
from modicum.releases.publishing import files, native
from modicum.releases.publishing.answers import Answered, texts_once
from modicum.releases.publishing.csvw import CsvColumn, csv_text, metadata
from modicum.releases.publishing.html import card, facts, table
from modicum.releases.publishing.rounding import Base, Digits, Rounding, written
from modicum.releases.publishing.rules import DOUBTFUL, LEGEND, NORMAL, SUPPRESSED, Rules
from modicum.releases.publishing.text import wrapped

_SHOWN = 30  # rows of the printed table
_ABOUT = {
    "value": "the released number, rounded",
    "lower": "lower end of its interval",
    "upper": "upper end of its interval",
    "flag": "state of the number: " + "; ".join(f"{k} {words}" for k, words in LEGEND.items()),
    "reason": "why it is suppressed or of low reliability",
}
_KINDS = {**dict.fromkeys(("value", "lower", "upper"), float), "flag": str, "reason": str}


class PublishedNumber(NamedTuple):
    """A number as it is published; all three are missing if it is suppressed."""

    value: Decimal | None
    lower: Decimal | None
    upper: Decimal | None
    flag: str
    reason: str | None

    def cells(self) -> tuple[Any, ...]:
        """The cells of a table: numbers, the flag, and the reason."""
        return tuple(self)


@dataclass(frozen=True, slots=True, repr=False)
class PublishedTable:
    """Released numbers as they are published, with all that a reader has to know.

    Made by ``publish()`` of a release. It holds released numbers only.

    Attributes
    ----------
    title : str
        What the numbers are.
    labels : mapping of str to tuple
        Columns of labels.
    numbers : tuple of PublishedNumber
        For each row ``value``, ``lower``, ``upper``, the ``flag`` and the ``reason`` for it.
    notes : tuple of str
        What was done to the numbers, in words.
    terms : mapping
        What was released, at what cost, for whom and how; how it was rounded, and by which rules
        numbers were left out.
    citation, rights : str or None
        How to cite the table, and who may use it how.
    make : callable
        Makes the table of :meth:`frame` of columns.

    Examples
    --------
    >>> import pandas as pd, modicum as mo
    >>> table = pd.DataFrame({"sex": ["f", "m"] * 5000, "pay": [2500, 2300, 2510, 2290] * 2500})
    >>> curator = mo.Curator(table, budget=mo.pure(1))
    >>> pay = curator.group_by("sex", keys=["f", "m"]).mean("pay", within=(0, 1e6), epsilon=1)
    >>> found = pay.publish(digits=-2, suppress={"wider": 0.5})
    >>> found.frame().columns.tolist(), found.frame()["value"].tolist()
    (['sex', 'value', 'lower', 'upper', 'flag', 'reason'], [2500.0, 2300.0])
    >>> found.frame(wide="sex").columns.tolist()[:3]
    ['f', 'f lower', 'f upper']
    """

    title: str
    labels: Mapping[str, tuple[Any, ...]]
    numbers: tuple[PublishedNumber, ...]
    notes: tuple[str, ...]
    terms: Mapping[str, object]
    citation: str | None
    rights: str | None
    make: Callable[[Mapping[str, Sequence[Any]]], Any] = field(compare=False)

    @property
    def legend(self) -> dict[str, str]:
        """What the flags that it has mean."""
        there = {each.flag for each in self.numbers}
        return {flag: words for flag, words in LEGEND.items() if flag in there}

    def frame(self, wide: str | None = None) -> Any:
        """Return a table with a row for each number: labels, value, lower, upper, flag, reason.

        It is a table of the library that the data came in, as ``frame()`` of a release.

        Parameters
        ----------
        wide : str, optional
            A column of labels: there are then five columns for each of its labels, named after the
            label, ``"label lower"``, ``"label upper"``, ``"label flag"`` and ``"label reason"``,
            and a row for all that share their other labels.

        Returns
        -------
        table or list of dict
            Numbers are floats, missing where they are suppressed; ``flag`` and ``reason`` are
            texts. The types of these columns are the same whatever they hold.

        Raises
        ------
        InvalidArgument
            If ``wide`` is no column of labels, or would give several columns one name.
        """
        columns = self._columns(wide)
        return self.make({each.name: _plain_cells(each) for each in columns})

    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        wide: str | None = None,
        overwrite: bool = False,
    ) -> tuple[Path, Path]:
        """Write a CSV file, and beside it its metadata.

        Parameters
        ----------
        path : path
            The CSV file. The metadata are in the file of that name and ``-metadata.json``, and
            follow CSVW, a recommendation of W3C.
        wide : str, optional
            As for :meth:`frame`.
        overwrite : bool
            Replace files of these names.

        Returns
        -------
        tuple of Path
            The CSV file and the metadata.

        Raises
        ------
        InvalidArgument
            If a file is there already, or there is no such folder.
        OutputError
            If the files cannot be written, because the disk is full for example. There is then no
            half file; what was there before is as it was.

        Notes
        -----
        The metadata are put in place first, and hold the SHA-256 of the CSV file.
        """
        target = files.checked_target(path, overwrite=overwrite, form=".csv")
        beside = files.checked_target(_beside(target), overwrite=overwrite)
        files.write_whole(self.files(target, wide))
        return target, beside

    def files(self, target: Path, wide: str | None = None) -> dict[Path, str]:
        """Return the texts of the files of :meth:`to_csv`, in the order they are put in place.

        Parameters
        ----------
        target : Path
            Where the CSV file will be: the metadata name it.
        wide : str, optional
            As for :meth:`frame`.

        Returns
        -------
        dict of Path to str
            The metadata, and then the CSV file.
        """
        columns = self._columns(wide)
        text = csv_text(columns)
        about = self._described(target.name, columns, text)
        described = json.dumps(about, ensure_ascii=False, indent=1, allow_nan=False)
        return {_beside(target): described + "\n", target: text}

    def _described(self, file: str, columns: Sequence[CsvColumn], text: str) -> dict[str, object]:
        said = {
            "title": self.title,
            "bibliographicCitation": self.citation,
            "rights": self.rights,
        }
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return metadata(file, columns, said, {**self.terms, "csv_sha256": digest})

    def _columns(self, wide: str | None = None) -> list[CsvColumn]:
        if wide is None:
            named = [CsvColumn(name, "label", cells) for name, cells in self.labels.items()]
            return [*named, *self._of_numbers("", "", self.numbers)]
        if not can_be_key(wide) or wide not in self.labels:
            meant = did_you_mean(str(wide), self.labels) if can_be_key(wide) else ""
            raise InvalidArgument(
                f"wide must be a column of labels, one of {[*self.labels]}, got "
                f"{as_given(wide)}{meant}"
            )
        others = [name for name in self.labels if name != wide]
        rows = [*zip(*(self.labels[name] for name in others), strict=True)] or [()] * len(
            self.numbers
        )
        cells = dict(zip(zip(rows, self.labels[wide], strict=True), self.numbers, strict=True))
        if len(cells) < len(self.numbers):
            raise InvalidArgument(f"several numbers have the same labels: {wide!r} cannot be wide")
        kept = [*dict.fromkeys(rows)]
        columns = [
            CsvColumn(name, "label", [row[place] for row in kept])
            for place, name in enumerate(others)
        ]
        for key in dict.fromkeys(self.labels[wide]):
            found = [cells.get((row, key), _NOTHING) for row in kept]
            columns += self._of_numbers(_written_label(key), f"{wide} = {key}: ", found)
        names = [each.name for each in columns]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InvalidArgument(f"several columns would be named {sorted(twice)[:5]}")
        return columns

    @staticmethod
    def _of_numbers(label: str, head: str, numbers: Sequence[PublishedNumber]) -> list[CsvColumn]:
        cells = [*zip(*(each.cells() for each in numbers), strict=True)] or [()] * len(_ABOUT)
        return [
            CsvColumn(_joined(label, name), head + about, column, _KINDS[name])
            for (name, about), column in zip(_ABOUT.items(), cells, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.numbers)

    def _cells(self) -> list[list[str]]:
        rows = [[*self.labels, "value", "interval", "flag"]]
        labels = zip(*self.labels.values(), strict=True) if self.labels else [()] * len(self)
        for those, each in zip(labels, self.numbers, strict=False):
            ends = "" if each.value is None else f"[{shown(each.lower)}, {shown(each.upper)}]"
            flag = "" if each.flag == NORMAL else f"{each.flag} ({each.reason})"
            rows.append([*map(_written_label, those), shown(each.value), ends, flag])
            if len(rows) > _SHOWN:
                break
        return rows

    def __str__(self) -> str:
        rows = self._cells()
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        left = len(self.labels)
        lines = [self.title]
        for row in rows:
            padded = [
                cell.ljust(size) if place < left else cell.rjust(size)
                for place, (cell, size) in enumerate(zip(row[:-1], wide[:-1], strict=True))
            ]
            lines.append("  ".join(["", *padded, row[-1]]).rstrip())
        if len(self) > _SHOWN:
            lines.append(f"  and {len(self) - _SHOWN} more: frame() has all")
        lines += [f"  {flag}  {words}" for flag, words in self.legend.items() if flag != NORMAL]
        lines += [wrapped("  ", note, "    ") for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        (*head, flag), *rows = self._cells()
        flagged = any(row[-1] for row in rows)
        cells = [row if flagged else row[:-1] for row in rows]
        legend = [(name, words) for name, words in self.legend.items() if name != NORMAL]
        more = [("", f"and {len(self) - _SHOWN} more: frame() has all")] * (len(self) > _SHOWN)
        notes = [*more, *legend, *(("", note) for note in self.notes)]
        shown = table([*head, *[flag] * flagged], cells, labels=len(self.labels))
        return card(self.title, shown, facts(notes))

    def __repr__(self) -> str:
        return f"PublishedTable({self.title!r}, {len(self)} numbers)"


_NOTHING = PublishedNumber(None, None, None, "", None)


@dataclass(frozen=True, slots=True)
class Publishing:
    """How numbers are published: the checked arguments of ``publish()``."""

    rounding: Rounding
    out: Rules
    doubt: Rules
    level: float
    tail: float | Literal["auto"] | None
    population: bool
    title: str | None
    citation: str | None
    rights: str | None

    @classmethod
    def of(
        cls,
        *,
        digits: Digits = "auto",
        base: Base | None = None,
        suppress: Mapping[str, object] | None = None,
        unreliable: Mapping[str, object] | None = None,
        level: float = 0.95,
        tail: float | Literal["auto"] | None = "auto",
        population: bool = False,
        title: str | None = None,
        citation: str | None = None,
        rights: str | None = None,
    ) -> Publishing:
        """Read the arguments; a release checks the level and the tail."""
        for name, text in (("title", title), ("citation", citation), ("rights", rights)):
            if text is not None and not isinstance(text, str):
                raise InvalidArgument(f"{name} must be text, got {as_given(text)}")
        if not isinstance(population, bool):
            raise InvalidArgument(f"population must be True or False, got {as_given(population)}")
        return cls(
            Rounding.of(digits, base),
            Rules.of(suppress, "suppress", unusable=True),
            Rules.of(unreliable, "unreliable", unusable=False),
            level,
            tail,
            population,
            title,
            citation,
            rights,
        )

    def table(self, record: Answered) -> PublishedTable:
        """Round the numbers of a record, and apply the rules to them."""
        answers = record.answers(self.level, self.tail, population=self.population)
        rows = zip(answers.values, answers.lower, answers.upper, answers.codes, strict=True)
        numbers = tuple(
            self._number(float(value), float(lower), float(upper), code)
            for value, lower, upper, code in rows
        )
        remarks = [*self._remarks(numbers)]
        if answers.terms.get("private") is False:
            remarks.append("WARNING: test entropy, not private.")
        terms = {
            "schema": "modicum.publication/1",
            **answers.terms,
            "rounding": self.rounding.words,
            "suppressed": self.out.words,
            "low_reliability": [*self.doubt.words, "answers whose code is not ok"],
            "flags": LEGEND,
            "flags_are": "SDMX CL_OBS_STATUS",
            "remarks": remarks,
        }
        labels = {
            f"{name} (label)" if name in _ABOUT else name: tuple(labels)
            for name, labels in answers.labels.items()
        }
        return PublishedTable(
            answers.title if self.title is None else self.title,
            labels,
            numbers,
            (*_guarantee(answers.terms), *remarks),
            terms,
            self.citation,
            self.rights,
            answers.make,
        )

    def _remarks(self, numbers: Sequence[PublishedNumber]) -> Iterator[str]:
        yield f"Rounding: {self.rounding.words}."
        if len(numbers) > 1 and self.rounding.rounds:
            yield "Numbers are rounded one by one: parts need not add up to a rounded total."
        if left := sum(each.flag == SUPPRESSED for each in numbers):
            yield f"Left out, {left} of {len(numbers)}: {', '.join(self.out.words)}."

    def _number(self, value: float, lower: float, upper: float, code: str) -> PublishedNumber:
        if (reason := self.out.reason(value, (lower, upper), code)) is not None:
            return _NOTHING._replace(flag=SUPPRESSED, reason=reason)
        why = self.doubt.reason(value, (lower, upper), code) if code == "ok" else code
        flag = NORMAL if why is None else DOUBTFUL
        return PublishedNumber(*self.rounding.rounded(value, lower, upper), flag, why)


def _guarantee(terms: Mapping[str, object]) -> list[str]:
    """What the reader is promised, from the terms that all records have."""
    level, whom = terms.get("interval_level"), terms.get("unit")
    keys = f", and {terms['keys_cost']} for drawing the keys" if "keys_cost" in terms else ""
    cost = f"{terms.get('cost')} for {whom} ({terms.get('neighbours')}){keys}"
    words = f"Differentially private: {cost}."
    at_once = ", which hold all at once" * bool(terms.get("interval_simultaneous"))
    interval = f"Intervals are of {100 * float(str(level)):g} %, {terms['interval_of']}{at_once}."
    several: Any = terms.get("releases") or [terms]
    left_out = texts_once([each.get("left_out") for each in several])
    return [words, interval, *(f"{each[:1].upper()}{each[1:]}." for each in left_out)]


def _beside(target: Path) -> Path:
    """The file of the metadata."""
    return target.with_name(f"{target.name}-metadata.json")


def _plain_cells(column: CsvColumn) -> list[Any]:
    cells = [*map(_plain, column.cells)]
    return cells if column.kind is None else native.TypedCells(cells, column.kind)


def _plain(cell: Any) -> Any:
    return float(cell) if isinstance(cell, Decimal) else cell


def _joined(label: str, name: str) -> str:
    if not label:
        return name
    return label if name == "value" else f"{label} {name}"


def _written_label(label: object) -> str:
    return "(none)" if label is None or label == "" else str(label)


def shown(number: Decimal | None) -> str:
    """Write a number for people; one that is left out is a dash."""
    if number is None:
        return "–"
    text = written(number)
    plain = number and "E" not in text and "INF" not in text
    return f"{number:,f}" if plain else text
