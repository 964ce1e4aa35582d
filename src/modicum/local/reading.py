"""A protocol from its JSON, as a client gets it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from modicum.local.histogram import Histogram, histogram
from modicum.local.mean import Mean, mean
from modicum.local.mean_vector import MeanVector, mean_vector
from modicum.local.protocol import Protocol
from modicum.local.written import reread

__all__ = ["from_json"]


def from_json(text: str) -> Protocol:
    """Read a protocol; look at its ``budget`` before you answer.

    Raises
    ------
    InvalidArgument
        If the text is no protocol that this version writes.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.mean(within=(0, 100), epsilon="0.5")
    >>> local.from_json(protocol.to_json()) == protocol
    True
    """
    return reread(text, _built)


def _built(said: dict[str, Any]) -> Histogram | Mean | MeanVector:
    session, amount = said["session"], said["amount"]
    pure = said["currency"] == "pure"
    if said["kind"] == MeanVector.kind:
        return mean_vector(
            dimension=said["dimension"], radius=said["radius"], rho=amount, session=session
        )
    if said["kind"] not in (Histogram.kind, Mean.kind):
        raise KeyError(said["kind"])
    build: Callable[..., Histogram | Mean] = histogram
    if said["kind"] == Mean.kind:
        build = functools.partial(mean, search=said["rounds"] == 2)
    return build(
        within=(said["lo"], said["hi"]),
        step=said["step"],
        epsilon=amount if pure else None,
        rho=None if pure else amount,
        session=session,
    )
