"""What was drawn for a release, step by step: a text that prints itself, and a table of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Protocol, Self

from modicum.releases.publishing import answers, plain
from modicum.releases.publishing.html import Markup, escaped, facts, folded, paragraph, table

_SHOWN = 30  # parts in a notebook


class _Draw(Protocol):
    """One draw: what was drawn, what came out, at what cost, by which mechanism."""

    @property
    def label(self) -> str: ...

    @property
    def mechanism(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, object]: ...

    @property
    def outcome(self) -> object: ...

    @property
    def words(self) -> str: ...

    @property
    def event(self) -> object: ...


class Explanation(str):
    """A text that a console prints as it is, and that a notebook shows as tables.

    Examples
    --------
    >>> import modicum
    >>> modicum.count([1.0] * 99, epsilon=1).explain().splitlines()[6]
    'Every draw, in order:'
    """

    __slots__ = ("_html",)
    _html: Callable[[], str]

    def __new__(cls, text: str, html: Callable[[], str]) -> Self:
        """Make it of the text, and of what writes the HTML."""
        made = super().__new__(cls, text)
        made._html = html
        return made

    @classmethod
    def of_draws(
        cls, record: answers.Answered, draws: Sequence[_Draw], said: str, more: Iterable[str]
    ) -> Self:
        """Explain a record by its draws, and what the interval assumes by sentences.

        ``said`` is what holds of all draws.
        """
        title = f"Every draw, in order{said}"
        lines = [str(record), "", f"{title}:"]
        for draw in draws:
            shown = ", ".join(f"{k}={plain.short(v)}" for k, v in draw.parameters.items())
            lines.append(f"  {draw.label}: {_came_out(draw)}  [{draw.event}]")
            lines.append(f"    {draw.mechanism}({shown})")
        sentences = [*more]
        html = partial(_draws, record, title, draws, sentences)
        return cls("\n".join([*lines, "", *sentences]), html)

    @classmethod
    def of_parts(
        cls,
        record: answers.Answered,
        said: Sequence[str],
        parts: Mapping[str, Explanation],
        *,
        headed: bool,
    ) -> Self:
        """Explain a record by sentences, and by the explanations of its parts.

        ``headed``: the text has the name of each part above it.
        """
        texts = (f"{name}\n{part}" if headed else str(part) for name, part in parts.items())
        html = partial(_parts, record, said, parts)
        return cls("\n\n".join([str(record), *said, *texts]), html)

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return str, (str(self),)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self._html()


def _draws(
    record: answers.Answered, title: str, draws: Sequence[_Draw], sentences: Sequence[str]
) -> str:
    rows = [[draw.label, _outcome(draw), str(draw.event)] for draw in draws]
    drawn = table(["draw", "outcome", "cost"], rows, labels=1, words=1, caption=title)
    assumed = "".join(map(paragraph, sentences))
    return f"<div>{record._repr_html_()}{drawn}{assumed}</div>"


def _came_out(draw: _Draw) -> str:
    return draw.words or plain.short(draw.outcome)


def _outcome(draw: _Draw) -> Markup:
    how = facts((name, plain.short(value)) for name, value in draw.parameters.items())
    return Markup(f"{escaped(_came_out(draw))}{folded(draw.mechanism, how)}")


def _parts(record: answers.Answered, said: Sequence[str], parts: Mapping[str, Explanation]) -> str:
    shown = islice(parts.items(), _SHOWN)
    inner = "".join(folded(name, part._repr_html_()) for name, part in shown)
    more = [f"and {len(parts) - _SHOWN:,} more: print() has all"] * (len(parts) > _SHOWN)
    head = record._repr_html_()
    return f"<div>{head}{''.join(map(paragraph, said))}{inner}{''.join(map(paragraph, more))}</div>"
