"""A page about a release that somebody can read, print, sign and keep.

It says the numbers and their intervals in words and as a picture, what the intervals assume, what
was promised to whom at what cost, what the numbers do not say, how they were made and how to cite
them, and holds the whole record for programs. Only released numbers are on it, so it costs nothing.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from modicum import errors, version
from modicum.privacy import accountant, budget
from modicum.releases import status
from modicum.releases.publishing import files, picture, rules
from modicum.releases.publishing import page as html
from modicum.releases.publishing.answers import Answered, AnswerRows, texts_once
from modicum.releases.publishing.html import number, plain_text, terms_in_words, written_label
from modicum.releases.publishing.table import PublishedNumber, PublishedTable, Publishing, shown

_ROWS = 40  # numbers in a picture with a row for each
_BESIDE = 1500  # numbers in a picture beside each other
_LISTED = 500  # rows of a table
_LETTERS = 100  # of a label
_WIDER = 20  # times the interval: one as wide says nothing beside it
_FOLDED = 200_000  # letters of a record that is shown
_FACTS = (
    "interval",
    "account",
    "cost",
    "left out",
    "note",
    "WARNING",
)  # said elsewhere on the page
_DELTA = "0.000001"
_LARGE = math.log(100)  # an ε
_AMOUNT = r"(?:[ερ] = \S+|\(ε, δ\) = \([^)]*\))"
_SPENT = re.compile(rf"({_AMOUNT}) of ({_AMOUNT}) spent$")
_CALL = re.compile(r"^(.*?)\binterval\([^)]*\) (is|also|holds|allows|covers|assumes|has|knows)\b")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")

_WORDS = {
    "cdf": "shares up to each point",
    "iqr": "interquartile range",
    "max": "largest value",
    "min": "smallest value",
    "pca": "principal components",
    "std": "standard deviation",
    "var": "variance",
}

DOES_NOT_SAY = (
    "The exact number of the data: noise was added on purpose, and the interval says how much.",
    "Anything reliable about one {whom}: that is what the noise protects.",
    "What other releases from the same data reveal: their costs add up, whoever made them.",
    "Whether the data are right, complete or representative. Missing values were left out.",
)
_POPULATION = (
    "How far they are from those of a population that the data were drawn from: that error comes "
    "on top."
)


@dataclass(frozen=True, slots=True)
class Report:
    """What goes on the page besides the record."""

    publishing: Publishing
    author: str | None
    date: datetime

    @classmethod
    def of(cls, publishing: Publishing, author: str | None) -> Report:
        """Take the arguments of ``report()``; the date is that of now."""
        if author is not None and not isinstance(author, str):
            raise errors.InvalidArgument(f"author must be text, got {errors.as_given(author)}")
        return cls(publishing, author, datetime.now(UTC))

    def text(self, record: Answered) -> str:
        """Write the page."""
        chosen = self.publishing
        answers = record.answers(chosen.level, chosen.tail, population=chosen.population)
        table, title = chosen.table(record), chosen.title or _title(answers)
        facts: dict[str, Any] = json.loads(record.to_json())
        terms = answers.terms
        body = [
            html.header(title, " · ".join(_about(terms))),
            html.warning([*_warnings(answers)]),
            *(
                self._one(record, answers, table)
                if len(table) == 1 and not answers.labels
                else self._numbers(record, answers, table, title)
            ),
            html.section("What the interval assumes", *_assumptions(terms)),
            html.section("What is promised, and to whom", *_promise(record, terms)),
            html.section("What it costs, and what is left", *_budget(terms)),
            html.section("What the numbers do not say", html.bullets(_limits(terms))),
            html.section("Who and when", *self._who(terms)),
            html.section("How to cite it", *self._citation(title, table, terms)),
            html.section("How it was made", *_made(record, answers)),
            html.section("How to check it", *_checks(facts)),
            html.footer(f"Written {self._when} by modicum {version.VERSION}."),
        ]
        return html.page(title, filter(None, body), record=facts, style=picture.STYLE)

    def to_file(self, record: Answered, path: str | os.PathLike[str], *, overwrite: bool) -> Path:
        """Write the page to a file, whole or not at all."""
        target = files.checked_target(path, overwrite=overwrite, form=".html")
        files.write_whole({target: self.text(record)})
        return target

    @property
    def _when(self) -> str:
        return f"{self.date:%Y-%m-%d %H:%M} UTC"

    def _one(self, record: Answered, answers: AnswerRows, table: PublishedTable) -> Iterator[str]:
        """One number: large, in words, and as a picture."""
        (rounded,) = table.numbers
        if rounded.value is None:
            yield html.paragraph("No number is shown", "big")
            yield html.paragraph(f"{_reason(rounded)}. What was released is in the record below.")
            return
        yield html.paragraph(shown(rounded.value), "big")
        yield html.paragraph(_sentence(answers, rounded), "lead")
        yield _drawn(record, answers, shown(rounded.value), self.publishing)

    def _numbers(
        self, record: Answered, answers: AnswerRows, table: PublishedTable, title: str
    ) -> Iterator[str]:
        """Several numbers: a picture if they can be compared, and a table."""
        labels = [*zip(*table.labels.values(), strict=True)] or [()] * len(table)
        held: Any = record
        cells = len(held.keys) if hasattr(held, "margins") else len(table)  # and then the margins
        yield from _compared(answers, table, title, labels[:cells])
        flagged = any(each.flag != rules.NORMAL for each in table.numbers)
        rows = (
            [
                *map(_label, those),
                shown(each.value),
                "–" if each.value is None else f"{_end(each.lower)} to {_end(each.upper)}",
                *([_reason(each) if each.reason else ""] if flagged else []),
            ]
            for those, each in zip(labels[:_LISTED], table.numbers, strict=False)
        )
        at_once = ", all at once" * bool(answers.terms.get("interval_simultaneous"))
        head = [*table.labels, "value", f"{_level(answers)} interval{at_once}"]
        yield html.numbers(
            [*head, *["remark"] * flagged], rows, labels=len(table.labels), name=title
        )
        if len(table) > _LISTED:
            yield html.paragraph(
                f"And {len(table) - _LISTED:,} more, which are in the record below.", "sub"
            )
        if not len(table):
            yield html.paragraph("There are no numbers: no label was drawn, or none was given.")
        yield from (html.paragraph(note, "sub") for note in table.notes[2:])

    def _who(self, terms: Mapping[str, object]) -> Iterator[str]:
        said = [("answers for it", self.author)] if self.author else []
        said += [("page written", self._when)]
        said += [("software", f"modicum {terms.get('version', version.VERSION)}")]
        yield html.definitions([(name, words) for name, words in said if words])
        if re.match(r".*: \S", str(terms.get("account"))):
            yield html.paragraph(
                "The ledger of the account has when it was charged, and by whom; `modicum ledger "
                "report` makes a page of it."
            )
        yield html.signature(*html.SIGNED)

    def _citation(
        self, title: str, table: PublishedTable, terms: Mapping[str, object]
    ) -> Iterator[str]:
        who = f"{self.author}: " if self.author else ""
        yield html.quotation(
            table.citation
            or f"{who}“{title}”, released with differential privacy ({_cost(terms)} for "
            f"{terms['unit']}, {terms['neighbours']}) by modicum "
            f"{terms.get('version', version.VERSION)}, "
            f"{self.date:%Y-%m-%d}."
        )
        if table.rights:
            yield html.paragraph(table.rights)


def _named(answers: AnswerRows) -> str:
    """What the numbers are, the statistic in words."""
    name = str(answers.terms.get("statistic", ""))
    if name and answers.title.startswith(name):
        return _WORDS.get(name, name.replace("_", " ")) + answers.title[len(name) :]
    return answers.title


def _title(answers: AnswerRows) -> str:
    title = _named(answers)
    return title[:1].upper() + title[1:]


def _about(terms: Mapping[str, object]) -> Iterator[str]:
    yield f"Released with differential privacy, {_cost(terms)} for {terms['unit']}"
    yield from (str(view) for view in _each(terms.get("view")))


def _level(answers: AnswerRows) -> str:
    return f"{100 * float(str(answers.terms.get('interval_level', 0.95))):g} %"


def _cost(terms: Mapping[str, object]) -> str:
    keys = f", and {terms['keys_cost']} for drawing the labels" if "keys_cost" in terms else ""
    return f"{terms.get('cost')}{keys}"


def _label(label: object) -> str:
    """Write a label; the record has all letters of a very long one."""
    text = written_label(label)
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}…"


def _end(end: Decimal | None) -> str:
    if end is not None and end.is_infinite():
        return "∞" if end > 0 else "-∞"
    return shown(end)


def _reason(each: PublishedNumber) -> str:
    """Why a number is left out, or marked."""
    words = {
        "below": "it is smaller than a rule of the publication allows",
        "wider": "its interval is wider than a rule of the publication allows",
    }
    left = "Left out" if each.flag == rules.SUPPRESSED else "With care"
    return f"{left}: {words.get(str(each.reason), str(each.reason))}"


def _sentence(answers: AnswerRows, rounded: PublishedNumber) -> str:
    head = (
        f"With {_level(answers)} confidence, the {_named(answers)} {answers.terms['interval_of']}"
    )
    assert rounded.lower is not None
    assert rounded.upper is not None
    low, high = (end.is_finite() for end in (rounded.lower, rounded.upper))
    if low and high:
        return f"{head} is between {shown(rounded.lower)} and {shown(rounded.upper)}."
    if not low and not high:
        return f"{head} may be any number: the release says nothing about it."
    if low:
        return f"{head} is {shown(rounded.lower)} or more."
    return f"{head} is {shown(rounded.upper)} or less."


def _drawn(record: Any, answers: AnswerRows, text: str, chosen: Publishing) -> str:
    """A curve of the noise about one number, or its intervals; nothing if they have no ends."""
    find = record.confidence_interval if chosen.population else record.interval
    value, level = float(answers.values[0]), chosen.level
    interval = (level, float(answers.lower[0]), float(answers.upper[0]))
    if not _drawable(value, interval):
        return ""
    noise = record.noise_ends(picture.CURVE)
    if noise and all(_drawable(value, each) for each in noise[-20:]):
        drawn = picture.curve(answers.title, text, value, noise, interval)
        if drawn is not None:
            return html.figure(
                drawn,
                "How far the noise moves such an answer, drawn around the released number: the "
                "higher the curve, the more often so far. The line below is the interval of "
                f"{100 * level:g} %, with all that it allows for.",
            )
    most = _WIDER * (interval[2] - interval[1])
    ends = [(each, *find(each, chosen.tail)) for each in picture.LEVELS]
    several = [interval, *(each for each in ends if each[2] - each[1] <= most)]
    different = {each[1:]: each for each in sorted(several) if _drawable(value, each)}
    levels = ", ".join(f"{100 * each[0]:g} %" for each in different.values())
    return html.figure(
        picture.fan(answers.title, text, value, [*different.values()]),
        "The released number, and the interval that holds the truth with a confidence of "
        f"{levels}" + (", the darker the narrower." if len(different) > 1 else "."),
    )


def _drawable(value: float, ends: picture.Ends) -> bool:
    return picture.drawable([value, *ends[1:]])


def _compared(
    answers: AnswerRows, table: PublishedTable, title: str, labels: Sequence[tuple[Any, ...]]
) -> Iterator[str]:
    """A picture of the numbers that have these labels, if they are few and can be compared."""
    if "releases" in answers.terms:  # of different units
        return
    bins = [*table.labels] == ["left", "right"]
    names, values, ends = [], [], []
    found = zip(labels, table.numbers, answers.values, answers.lower, answers.upper, strict=False)
    for those, each, value, lower, upper in found:
        if each.value is not None and picture.drawable([value, lower, upper, 0.0, 1.0]):
            names.append((" to " if bins else ", ").join(map(written_label, those)))
            values.append(float(value))
            ends.append((float(lower), float(upper)))
    known = [*values, *(x for pair in ends for x in pair)]
    if len(values) < 2 or not picture.drawable(known):
        return
    of = f"their {_level(answers)} intervals"
    if len(values) <= _ROWS:
        if drawn := picture.rows(title, [plain_text(each) for each in names], values, ends):
            yield html.figure(drawn, f"The released numbers, and {of} as lines.")
    elif len(values) <= _BESIDE:
        drawn = picture.profile(title, names, values, ends)
        yield html.figure(drawn, f"The released numbers in their order, and {of} as bars.")


def _warnings(answers: AnswerRows) -> Iterator[str]:
    lost = sum(code not in status.USABLE for code in answers.codes)
    if lost and lost == len(answers.codes):
        codes = ", ".join(dict.fromkeys(answers.codes))
        yield f"The answer cannot be used ({codes})."
    elif lost:
        yield f"{lost:,} of {len(answers.codes):,} numbers cannot be used."
    if care := dict.fromkeys(code for code in answers.codes if code in status.USABLE - {"ok"}):
        yield f"To be used with care ({', '.join(care)})."
    if answers.terms.get("private") is False:
        yield "Test randomness was used: this release protects nobody and must not be shown."
    several = _each(answers.terms.get("releases")) or [answers.terms]
    notes = texts_once([[each.get("left_out"), each.get("status")] for each in several])
    yield from (f"{each[:1].upper()}{each[1:]}." for each in notes if each != "ok")


def _assumptions(terms: Mapping[str, object]) -> Iterator[str]:
    several = _each(terms.get("releases")) or [terms]
    texts = texts_once([each.get("interval_assumption") for each in several])
    alike: dict[str, dict[int, str]] = {}  # but for their numbers: in which texts, and with which
    for place, each in enumerate(texts):
        for sentence in re.split(r"(?<=\.) ", each):
            alike.setdefault(_NUMBER.sub("#", sentence), {})[place] = sentence
    said: dict[tuple[int, ...], list[str]] = {}
    for found in alike.values():
        said.setdefault(tuple(found), []).append(_merged([*found.values()]))
    for places, sentences in said.items():
        # The text names the call; here it stands beside the interval.
        words = _CALL.sub(r"\1the interval \2", " ".join(sentences))
        words = words.replace(". the interval", ". The interval")
        some = "" if len(places) == len(texts) else "Of some of these numbers: "
        yield html.paragraph(f"{some}{words[:1].upper()}{words[1:]}")
    if not texts:
        yield html.paragraph("Nothing: it covers the noise, whose distribution is known exactly.")
    if terms.get("interval_of"):
        yield html.paragraph(f"It is {terms['interval_of']}.")


def _merged(sentences: Sequence[str]) -> str:
    """Write sentences that differ in their numbers as one, with the least and the largest."""
    slots = zip(*map(_NUMBER.findall, sentences), strict=True)
    ends = [sorted({*slot}, key=lambda x: float(x.replace(",", ""))) for slot in slots]
    written = iter([" to ".join(dict.fromkeys((each[0], each[-1]))) for each in ends])
    return _NUMBER.sub(lambda _: next(written), sentences[0])


def _promise(record: Answered, terms: Mapping[str, object]) -> Iterator[str]:
    amounts = record.total_event.amounts
    whom = f"one {_whom(terms)}"
    if {*amounts} == {"rho"}:
        implied = accountant.zcdp_to_approx(budget.zcdp(amounts["rho"]), _DELTA)
        amounts = {"epsilon": implied.amount, "delta": implied.delta}
    if "epsilon" in amounts:
        yield html.paragraph(_odds(whom, float(amounts["epsilon"]), float(amounts.get("delta", 0))))
    yield html.definitions(
        [
            ("protected", str(terms["unit"])),
            ("neighbouring tables", f"{_them(whom)} present or absent ({terms['neighbours']})"),
            ("measure", f"{_cost(terms)}; the smaller, the stronger the promise"),
        ]
    )


def _odds(whom: str, epsilon: float, delta: float) -> str:
    """The guarantee in odds: presence is one addition, another content a swap, which is two."""
    once, twice = (_factor(math.exp(min(times * epsilon, 700.0))) for times in (1, 2))
    but = f", but for a probability of {number(delta, 3)}" if delta else ""
    other = " In all other cases nobody" if delta else " So nobody"
    return (
        f"Every possible result would have been nearly as likely without {whom} in the data: at "
        f"most {once} times more or less likely{but}.{other} who sees this page, whatever else "
        f"they know, can improve the odds of a guess on whether {whom} is in the data by more "
        f"than that factor, nor of a guess on what is known of {whom} by more than its square, "
        f"{twice}." + " So large a factor promises little." * (epsilon > _LARGE)
    )


def _factor(times: float) -> str:
    return number(times, 3) if times < 1000 or times > 1e9 else f"{times:,.0f}"


def _whom(terms: Mapping[str, object]) -> str:
    return "person" if "person" in str(terms["unit"]) else "row"


def _them(whom: str) -> str:
    return "all rows of the person" if "person" in whom else "the row"


def _budget(terms: Mapping[str, object]) -> Iterator[str]:
    covers = f", {terms['cost_covers']}" if "cost_covers" in terms else ""
    yield html.paragraph(f"This release costs {_cost(terms)} for {terms['unit']}{covers}.")
    accounts = [str(each) for each in _each(terms.get("account"))]
    for account in accounts[-1:]:
        found = _SPENT.search(account)
        if found is None:
            yield html.paragraph(f"Budget: {account}.")
            continue
        spent, whole = (_first(each) for each in found.groups())
        name = account[: found.start()].rstrip(": ")
        of = f" of the account {name}" if name else ""
        yield picture.bar(f"Budget{of}", spent, whole)
        left = f"{100 * max(1 - spent / whole, 0):.3g} % is left" if whole else "nothing is left"
        yield html.paragraph(
            f"Budget{of} after this release: {found[1]} of {found[2]} was spent, {left}."
        )


def _first(amount: str) -> float:
    """The ε or ρ of an amount in words."""
    found = re.search(r"= \(?~?([\d.e+-]+)", amount)
    return float(found[1]) if found else math.nan


def _limits(terms: Mapping[str, object]) -> Iterator[str]:
    yield from (text.format(whom=_whom(terms)) for text in DOES_NOT_SAY)
    if "population" not in str(terms.get("interval_of")):
        yield _POPULATION


def _made(record: Any, answers: AnswerRows) -> Iterator[str]:
    terms = answers.terms
    said = [pair for pair in terms_in_words(terms, answers.clip) if pair[0] not in _FACTS]
    engines = ", ".join(map(str, _each(terms.get("engine"))))
    yield html.definitions([pair for pair in [*said, ("read with", engines)] if pair[1]])
    transcript: Sequence[Any] = getattr(record, "transcript", ())
    if transcript:
        rows = [[each.label, _outcome(each), str(each.event)] for each in transcript]
        yield html.paragraph(f"Every draw, in order. {_together(record)}")
        yield html.numbers(
            ["draw", "what was drawn", "cost"], rows, labels=1, texts=1, name="draws"
        )
    else:
        yield html.paragraph("The record has every draw with its cost.")


def _together(record: Any) -> str:
    """How the costs of the draws add up to that of the release."""
    if record.event.failing:
        return "Their costs add up to a ρ that implies the cost of the release."
    if record.unit.rows > 1 or record.unit.groups > 1:
        return "Their costs are those for one record, and add up to the cost for all of a person."
    return "Their costs add up to the cost of the release."


def _outcome(entry: Any) -> str:
    """What was drawn, in words, or as it is if it is a single number."""
    found = entry.outcome
    if isinstance(found, tuple) and len(found) == 1:
        (found,) = found
    return entry.words or (f"{found:,}" if isinstance(found, int) else "–")


def _checks(facts: Mapping[str, object]) -> Iterator[str]:
    yield html.bullets(
        (
            "The number and its intervals follow from the draws: the record below, saved as a "
            "file, makes this page again by `modicum report FILE --out PAGE`, and any other "
            "interval in Python.",
            "An account of a ledger has the same charge, sealed by hashes: `modicum ledger "
            "verify`.",
        )
    )
    text = json.dumps(
        {name: each for name, each in facts.items() if name != "stored"},
        indent=1,
        ensure_ascii=False,
    )
    if len(text) > _FOLDED:
        yield html.paragraph(
            "The record is long. The source of this page has it, as JSON, in the element of the "
            "id “record”."
        )
    else:
        yield html.folded("The record, for programs", text)


def _each(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)
