"""Released numbers as tables of HTML: in a notebook, in a file exported from it, in a page.

Styles are written beside what they are for, so that no style sheet has to come along, and name no
colour, so that they fit light and dark. There are no scripts. Every text is escaped.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from modicum.releases.publishing.answers import AnswerRows, texts_once
from modicum.releases.publishing.text import SAMPLE, USUAL, bounds_words, end, range_words
from modicum.releases.status import USABLE

_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_SHOWN = 30  # rows of a table in a notebook
_CELL = "padding:.2em .8em .2em 0;border:0;vertical-align:top"
_RULE = "border-bottom:1px solid currentColor"
_FACTS = "margin:.4em 0;border-collapse:collapse;border:0;background:none"


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def escaped(text: object) -> str:
    """Write text for HTML; what turns the direction of writing is shown as �.

    Examples
    --------
    >>> escaped('<b> & "x"')
    '&lt;b&gt; &amp; &quot;x&quot;'
    """
    if isinstance(text, Markup):
        return text
    return "".join(_ESCAPED.get(each, each) for each in plain_text(str(text)))


def plain_text(text: str) -> str:
    """Replace control characters, and those that turn the direction of writing."""
    return "".join(
        "�" if unicodedata.category(each) in {"Cc", "Cf", "Cs"} and each not in "\t\n" else each
        for each in text
    )


def number(x: float, digits: int = 6) -> str:
    """Write a released number or an end of an interval; beyond the largest float it is ∞.

    Examples
    --------
    >>> number(1234.5678), number(-1e999), number(float("nan"))
    ('1,234.57', '-∞', '–')
    """
    return "–" if math.isnan(x) else end(x, digits)


def interval(lower: float, upper: float) -> str:
    """Write an interval."""
    return f"[{number(lower)}, {number(upper)}]"


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    labels: int,
    words: int = 0,
    caption: str = "",
) -> str:
    """Write a table: the first columns are labels, the next ones words, the others numbers."""
    said = f"<caption style='text-align:left'>{escaped(caption)}</caption>" if caption else ""
    body = "".join(f"<tr>{_line(row, labels, words, 'td')}</tr>" for row in rows)
    return (
        f"<table style='{_FACTS};font-variant-numeric:tabular-nums'>{said}"
        f"<thead><tr>{_line(head, labels, words, 'th')}</tr></thead><tbody>{body}</tbody></table>"
    )


def _line(cells: Sequence[str], labels: int, words: int, tag: str) -> str:
    found = []
    for place, cell in enumerate(cells):
        side = "left" if place < labels + words else "right"
        scope = " scope='col'" if tag == "th" else ""
        name, weight = tag, ""
        if tag == "td" and place < labels:
            name, scope, weight = "th", " scope='row'", ";font-weight:normal"
        rule = f";{_RULE}" if tag == "th" else ""
        style = f"{_CELL};text-align:{side}{rule}{weight}"
        found.append(f"<{name}{scope} style='{style}'>{escaped(cell)}</{name}>")
    return "".join(found)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Write names and what is said of them, a line each."""
    lines = "".join(
        f"<tr><th scope='row' style='{_CELL};text-align:left;font-weight:normal;opacity:.75;"
        f"white-space:nowrap'>"
        f"{escaped(name)}</th><td style='{_CELL};text-align:left'>{escaped(words)}</td></tr>"
        for name, words in pairs
    )
    return f"<table style='{_FACTS}'><tbody>{lines}</tbody></table>"


def paragraph(text: str) -> str:
    """Write a sentence."""
    return f"<p style='margin:.4em 0'>{escaped(text)}</p>"


def folded(title: str, inner: str) -> str:
    """Write HTML that is shown once its title is clicked."""
    return f"<details><summary>{escaped(title)}</summary>{inner}</details>"


def bar(share: float, words: str) -> str:
    """Write a share as a bar that is filled from the left, and what it is in words."""
    filled = 100 * min(max(share, 0.0), 1.0)
    return (
        f"<div role='img' aria-label='{escaped(words)}' style='width:20em;max-width:100%;"
        "height:.7em;margin:.4em 0;border:1px solid currentColor;border-radius:.35em;"
        f"overflow:hidden'><div style='width:{filled:.4g}%;height:100%;"
        "background:currentColor;opacity:.45'></div></div>"
    )


def card(title: str, *parts: str) -> str:
    """Put parts below each other under a title."""
    return (
        f"<div><p style='margin:.2em 0'><strong>{escaped(title)}</strong></p>{''.join(parts)}</div>"
    )


def record_html(answers: AnswerRows) -> str:
    """Write the answers of a record, with their intervals, and at what cost they were released."""
    head, rows = answer_cells(answers, _SHOWN)
    more = len(answers.values) - _SHOWN
    left = [f"<p>and {more:,} more: frame() has all</p>"] if more > 0 else []
    lost = bool(answers.codes) and not USABLE.intersection(answers.codes)
    return card(
        f"{answers.title}{': no usable answer' * lost}",
        table(head, rows, labels=len(answers.labels)),
        *left,
        facts(terms_in_words(answers.terms, answers.clip)),
    )


def answer_cells(answers: AnswerRows, most: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns, and the cells of the first rows."""
    level = 100 * float(str(answers.terms.get("interval_level", 0.95)))
    doubtful = any(code != "ok" for code in answers.codes[:most])
    ends = (
        f"{level:g} % interval{', simultaneous' * bool(answers.terms.get('interval_simultaneous'))}"
    )
    head = [*map(str, answers.labels), "value", ends, *["code"] * doubtful]
    columns = (answers.values, answers.lower, answers.upper, answers.codes)
    labels = [*zip(*answers.labels.values(), strict=True)] or [()] * len(answers.values)
    rows = []
    for those, (value, lower, upper, code) in zip(labels, zip(*columns, strict=True), strict=True):
        cells = [written_label(each) for each in those]
        shown = [number(value), interval(lower, upper)] if code in USABLE else ["–", "–"]
        rows.append([*cells, *shown, *[code] * doubtful])
        if len(rows) == most:
            break
    return head, rows


def written_label(label: object) -> str:
    """Write a label of a row."""
    if isinstance(label, float):
        return number(label)
    return "(none)" if label is None or label == "" else str(label)


def terms_in_words(
    terms: Mapping[str, object], clip: Sequence[float] = ()
) -> Iterator[tuple[str, str]]:
    """Yield what the terms of a release say, as names and words, what is usual left out."""
    left_out = texts_once(terms.get("left_out"))
    yield from (("left out", each) for each in left_out)
    yield from (("interval", each) for each in texts_once(terms.get("interval_condition")))
    if ends := terms.get("confidence_interval"):
        level = 100 * float(str(terms["interval_level"]))
        each = "; ".join(interval(*pair) for pair in _pairs(ends))
        yield "population", f"{each} ({SAMPLE.format(level)})"
    together = f", {terms['cost_covers']}" if "cost_covers" in terms else ""
    yield (
        "cost",
        f"{_said(terms.get('cost'))} for {terms['unit']}{together} ({terms['neighbours']})",
    )
    if "keys_cost" in terms:
        yield "keys", f"drawn, for {terms['keys_cost']}"
    if terms.get("within"):
        within, stated = _pairs(terms["within"]), _said(terms.get("within_from"))
        several = f"{len(within)} different ranges"
        yield "range", range_words(within[0], stated) if len(within) == 1 else several
    if terms.get("range_found") and USABLE.intersection(texts_once(terms.get("code"))):
        found = _pairs(terms["range_found"])
        yield "bounds", bounds_words(found[0][1], clip) if len(found) == 1 else "found privately"
    if terms.get("limit_found"):
        yield "rows", f"at most {_said(terms['limit_found'])} of each person, at random: found"
    if terms.get("groups_found"):
        yield "groups", f"at most {_said(terms['groups_found'])} of each person, at random: found"
    for view in _each(terms.get("view")):
        name, _, words = str(view).partition(" ")
        yield name, words
    if terms.get("method", USUAL) != USUAL:
        yield "method", _said(terms["method"])
    yield "account", _said(terms.get("account", "none"))
    said = {"ok", *left_out}
    yield from (("note", each) for each in texts_once(terms.get("status")) if each not in said)
    if terms.get("private") is False:
        yield "WARNING", "test entropy, not private"


def _pairs(ends: Any) -> list[Any]:
    """One pair of ends, or several."""
    return [each for each in ends if isinstance(each, Sequence)] or [ends]


def _each(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def _said(value: object) -> str:
    return ", ".join(str(each) for each in _each(value))
