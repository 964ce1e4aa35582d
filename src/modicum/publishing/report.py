"""A page about a release that somebody can read, print, sign and keep.

It says the numbers and their intervals in words and as a picture, what the intervals assume, what
was promised to whom at what cost, what the numbers do not say, how they were made and how to cite
them, and holds the whole record for programs. Only released numbers are on it, so it costs nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from modicum.publishing import page as html
from modicum.publishing.answers import AnswerRows, Publishable
from modicum.publishing.html import escaped, number, terms_in_words, written_label
from modicum.publishing.picture import fan, levels, whiskers
from modicum.publishing.table import PublishedTable, Publishing, shown
from modicum.status import USABLE
from modicum.version import VERSION

_DRAWN = 40  # numbers in a picture
_LISTED = 500  # rows of a table
_FACTS = ("interval", "account", "note", "WARNING")  # said elsewhere on the page

DOES_NOT_SAY = (
    "The exact number of the data: noise was added on purpose, and the interval says how much.",
    "Anything reliable about one {whom}: that is what the noise protects.",
    "What other releases from the same data reveal: their costs add up, whoever made them.",
    "Whether the data are right, complete or representative: missing values were left out.",
)


@dataclass(frozen=True, slots=True)
class Report:
    """What goes on the page besides the record."""

    publishing: Publishing
    date: datetime

    @classmethod
    def of(cls, publishing: Publishing) -> Report:
        """Take the arguments of ``report()``; the date is that of now."""
        return cls(publishing, datetime.now(UTC))

    def text(self, record: Publishable) -> str:
        """Write the page."""
        chosen = self.publishing
        answers = record.answers(chosen.level, chosen.tail, population=chosen.population)
        table = chosen.table(record)
        body = [
            f"<header><h1>{escaped(table.title)}</h1>",
            html.paragraph(" · ".join(_about(answers.terms)), "sub"),
            "</header>",
            *_warnings(answers),
            *self._numbers(record, answers, table),
            html.section("What the interval assumes", *_assumptions(answers.terms)),
            html.section("What is promised, and to whom", *_promise(record, answers.terms)),
            html.section("What the numbers do not say", html.bullets(_limits(answers.terms))),
            html.section("How it was made", *_made(record, answers.terms)),
            html.section("How to cite it", *self._citation(table, answers.terms)),
            self._record(record),
            f"<footer>Written {self.date:%Y-%m-%d %H:%M} UTC by modicum {VERSION}.</footer>",
        ]
        return html.page(table.title, body, version=VERSION, record=_data(record))

    def _numbers(
        self, record: Publishable, answers: AnswerRows, table: PublishedTable
    ) -> Iterator[str]:
        if len(table) == 1 and not answers.labels:
            yield from self._one(record, answers, table)
            return
        labels = [*zip(*answers.labels.values(), strict=True)]
        ends = [*zip(answers.lower, answers.upper, strict=True)]
        flagged = any(each.flag not in {"A", ""} for each in table.numbers)
        if len(table) <= _DRAWN and table.numbers:
            names = [", ".join(map(written_label, each)) for each in labels]
            picture = whiskers(answers.title, names, [*map(float, answers.values)], ends)
            yield html.figure(
                picture, f"The released numbers with their {_level(answers)} intervals."
            )
        rows = [
            [
                *map(written_label, those),
                shown(each.value),
                "–" if each.value is None else f"{shown(each.lower)} to {shown(each.upper)}",
                *([each.reason or ""] if flagged else []),
            ]
            for those, each in zip(labels[:_LISTED], table.numbers, strict=False)
        ]
        head = [*answers.labels, "value", f"{_level(answers)} interval", *["remark"] * flagged]
        yield html.numbers(head, rows, labels=len(answers.labels), name=table.title)
        if len(table) > _LISTED:
            more = f"and {len(table) - _LISTED:,} more, which are in the record below"
            yield html.paragraph(more, "sub")
        yield from (html.paragraph(note, "sub") for note in table.notes[1:])

    def _one(
        self, record: Publishable, answers: AnswerRows, table: PublishedTable
    ) -> Iterator[str]:
        (rounded,), value = table.numbers, float(answers.values[0])
        if rounded.value is not None:
            of = answers.terms["interval_of"]
            said = f"With {_level(answers)} confidence it is between {shown(rounded.lower)} and "
            yield html.paragraph(shown(rounded.value), "big")
            yield html.paragraph(f"{said}{shown(rounded.upper)}, {of}.", "lead")
        chosen = self.publishing
        find: Any = getattr(record, "confidence_interval" if chosen.population else "interval")
        ends = [(level, *find(level, chosen.tail)) for level in levels()]
        if all(math.isfinite(x) and abs(x) < 1e300 for each in ends for x in each):
            several = ", ".join(f"{100 * level:g}" for level in levels())
            yield html.figure(
                fan(answers.title, value, ends),
                f"The released number, and the intervals that hold the truth in {several} % of "
                "all releases, the palest the widest.",
            )

    def _citation(self, table: PublishedTable, terms: Mapping[str, object]) -> Iterator[str]:
        cited = table.citation or (
            f"“{table.title}”, released with differential privacy ({terms.get('cost')} for "
            f"{terms['unit']}, {terms['neighbours']}) by modicum {terms.get('version', VERSION)}"
            f", {self.date:%Y-%m-%d}."
        )
        yield f"<blockquote>{escaped(cited)}</blockquote>"
        if table.rights:
            yield html.paragraph(table.rights)

    @staticmethod
    def _record(record: Publishable) -> str:
        text = json.dumps(_data(record), indent=1, ensure_ascii=False)
        return (
            "<details><summary>The whole record, for programs</summary>"
            f'<pre tabindex="0">{escaped(text)}</pre></details>'
        )


def _data(record: Any) -> dict[str, object]:
    found: dict[str, object] = json.loads(record.to_json())
    return found


def _level(answers: AnswerRows) -> str:
    return f"{100 * float(str(answers.terms.get('interval_level', 0.95))):g} %"


def _about(terms: Mapping[str, object]) -> Iterator[str]:
    yield "released with differential privacy"
    yield f"{terms.get('cost')} for {terms['unit']}"
    yield from (str(view) for view in _each(terms.get("view")))


def _warnings(answers: AnswerRows) -> Iterator[str]:
    found = []
    if answers.terms.get("private") is False:
        found.append(
            "Test randomness was used: this release protects nobody and must not be shown."
        )
    if answers.codes and not USABLE.intersection(answers.codes):
        found.append(f"The answer cannot be used ({answers.codes[0]}).")
    found += [str(each) for each in _each(answers.terms.get("status")) if each != "ok"]
    if found:
        yield f'<div class="warn" role="note">{"".join(map(html.paragraph, found))}</div>'


def _assumptions(terms: Mapping[str, object]) -> Iterator[str]:
    found = [str(each) for each in _each(terms.get("interval_assumption")) if each]
    for each in dict.fromkeys(found):
        yield html.paragraph(each)
    if not found:
        yield html.paragraph("The interval covers the noise, whose distribution is known exactly.")
    if terms.get("interval_of"):
        yield html.paragraph(f"It is {terms['interval_of']}.")


def _promise(record: Any, terms: Mapping[str, object]) -> Iterator[str]:
    whom = f"{terms['unit']}"
    amounts = getattr(getattr(record, "event", None), "amounts", {})
    if set(amounts) == {"epsilon"}:
        times = math.exp(min(float(amounts["epsilon"]), 700))
        yield html.paragraph(
            f"With {whom} more or fewer in the data, every possible result would have been as "
            f"likely, but for a factor of {number(times, 3)} at most. So whoever sees this page, "
            f"whatever else they know, learns next to nothing that depends on {whom} alone: the "
            "odds of any guess about it change by that factor at most."
        )
    else:
        yield html.paragraph(
            f"With {whom} more or fewer in the data, the results would have been distributed "
            "almost in the same way; the cost below says how closely."
        )
    said = [("protected", whom), ("neighbouring data sets", str(terms["neighbours"]))]
    said.append(("cost", str(terms.get("cost"))))
    if "keys_cost" in terms:
        said.append(("cost of the labels", str(terms["keys_cost"])))
    said.append(("budget", ", ".join(dict.fromkeys(map(str, _each(terms.get("account")))))))
    yield html.definitions(said)


def _limits(terms: Mapping[str, object]) -> Iterator[str]:
    whom = "person" if "person" in str(terms["unit"]) or terms.get("unit_column") else "row"
    yield from (text.format(whom=whom) for text in DOES_NOT_SAY)
    if "population" not in str(terms.get("interval_of")):
        yield "How close it is to a population that the data were drawn from: that is another error."


def _made(record: Any, terms: Mapping[str, object]) -> Iterator[str]:
    said = [pair for pair in terms_in_words(terms) if pair[0] not in _FACTS]
    said += [("engine", ", ".join(map(str, _each(terms.get("engine")))))]
    yield html.definitions([pair for pair in said if pair[1]])
    transcript: Sequence[Any] = getattr(record, "transcript", ())
    if transcript:
        rows = [[each.label, each.words or "–", str(each.event)] for each in transcript]
        yield html.paragraph("Every draw, in order; together they cost what is said above.")
        yield html.numbers(["draw", "what was drawn", "cost"], rows, labels=3, name="draws")


def _each(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)
