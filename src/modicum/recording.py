"""The release of a finished run."""

from __future__ import annotations

from typing import TypeVar

from modicum.exact.entropy import Entropy
from modicum.privacy.unit import Unit
from modicum.release import Record
from modicum.runtime.query import Query
from modicum.runtime.run import LiveRun
from modicum.sources.base import Source
from modicum.version import VERSION

R = TypeVar("R", bound=Record)


def recorded(
    question: Query[R], walk: LiveRun, source: Source, unit: Unit, account: str, entropy: Entropy
) -> R:
    """Return the release of a query's run, with the circumstances of the run."""
    assert walk.answer is not None
    release: R = walk.answer.released(
        statistic=question.statistic,
        column=question.column,
        event=question.event,
        unit=unit,
        lattice=question.lattice,
        ranged=question.ranged,
        method=walk.answer.method or question.method,
        transcript=tuple(walk.transcript),
        engine=source.engine,
        account=account,
        private=entropy.secret,
        version=VERSION,
    )
    return release
