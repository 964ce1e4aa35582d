"""The release of a finished run."""

from __future__ import annotations

from modicum.exact.enclosure import float_nearest
from modicum.exact.entropy import Entropy
from modicum.frames.source import Source
from modicum.privacy.event import event_of
from modicum.privacy.unit import Unit
from modicum.release import Release
from modicum.runners.request import Request
from modicum.runners.walk import Walk
from modicum.version import VERSION

__all__ = ["recorded"]


def recorded(
    request: Request, walk: Walk, source: Source, unit: Unit, account: str, entropy: Entropy
) -> Release:
    """Return what a user gets of a request's walk, with the circumstances of the run."""
    assert walk.answer is not None
    return Release(
        statistic=request.statistic,
        column=request.column,
        value=float_nearest(walk.answer.value),
        event=event_of(request.budget),
        unit=unit,
        lattice=request.lattice,
        method=request.method,
        status=walk.answer.status,
        journal=tuple(walk.journal),
        evidence=walk.answer.evidence,
        engine=source.engine,
        account=account,
        private=entropy.secret,
        version=VERSION,
    )
