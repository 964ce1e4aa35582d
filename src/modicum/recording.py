"""The release of a finished run."""

from __future__ import annotations

from typing import TypeVar

from modicum.exact.entropy import Entropy
from modicum.frames.base import Source
from modicum.privacy.unit import Unit
from modicum.release import Record
from modicum.runners.request import Question
from modicum.runners.walk import Walk
from modicum.summaries.base import Columns
from modicum.version import VERSION

__all__ = ["recorded"]

R = TypeVar("R", bound=Record)


def recorded(
    question: Question[R], walk: Walk, source: Source, unit: Unit, account: str, entropy: Entropy
) -> R:
    """Return what a user gets of a question's walk, with the circumstances of the run."""
    assert walk.answer is not None
    release: R = walk.answer.released(
        statistic=question.statistic,
        column=_text(question.place),
        event=question.event,
        unit=unit,
        lattice=question.lattice,
        ranged=question.ranged,
        method=walk.answer.method or question.method,
        journal=tuple(walk.journal),
        engine=source.engine,
        account=account,
        private=entropy.secret,
        version=VERSION,
    )
    return release


def _text(column: str | Columns | None) -> str | None:
    """Write several columns in one line."""
    if isinstance(column, Columns):
        return None if column.names is None else str(column)
    return column
