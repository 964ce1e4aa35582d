"""Queries as measurements of OpenDP, for its compositors to count (extra ``opendp``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from modicum.api.answering import answered
from modicum.errors import InvalidArgument
from modicum.exact.enclosure import float_above
from modicum.privacy.budget import Budget
from modicum.privacy.unit import Unit
from modicum.releases.release import Record
from modicum.runtime.query import Query

__all__ = ["register", "to_opendp"]

ACCOUNT = "counted by OpenDP"
_FEATURES = ("contrib", "honest-but-curious")
_RECORDS = {"SymmetricDistance": 1, "ChangeOneDistance": 2}
_NUMBERS = re.compile(r"Vec<(f32|f64|bool|[iu](?:8|16|32|64))>")

# Those of OpenDP, which is not imported before it is needed.
Domain: TypeAlias = Any
Metric: TypeAlias = Any
Measurement: TypeAlias = Any


def to_opendp(
    question: Query[Any], *, domain: Domain | None = None, metric: Metric | None = None
) -> Measurement:
    """Turn a query into a measurement of OpenDP.

    Its function gives the query's release. Its map says what data sets at distance d cost:
    d ε, d² ρ, or (d ε, 0) for a cost in (ε, δ), rounded up to float64. A changed record is one
    less and one more, so under ``change_one_distance`` d counts twice. OpenDP adds up what is
    spent: a curator or ledger of modicum knows nothing of it.

    Parameters
    ----------
    question : Query[Release] or Query
        From :mod:`modicum.query`, without a column: the data of a measurement are one vector.
    domain : opendp.mod.Domain, optional
        A ``vector_domain`` of numbers or bools, of any size. Default: float64, NaN included (NaN
        is a missing value).
    metric : opendp.mod.Metric, optional
        ``symmetric_distance()``, the default, or ``change_one_distance()``.

    Returns
    -------
    opendp.mod.Measurement
        Its output measure is ``max_divergence()``, ``zero_concentrated_divergence()`` or
        ``approximate(max_divergence())``, by the kind of the question's cost. It can be composed
        and chained like any other: ``measurement >> float`` gives the value alone.

    Raises
    ------
    InvalidArgument
        Without OpenDP; before its features ``"contrib"`` and ``"honest-but-curious"`` are enabled,
        which only you may do, since they say that you trust this library's proofs; for a question
        with a column, or another domain or metric.

    Notes
    -----
    What ``honest-but-curious`` asks of a function holds: that close data give close distributions
    is proved in docs/research/proofs, and audited; nothing comes of a call but the release, and no
    error depends on a value. The map depends on the cost alone.

    Examples
    --------
    >>> import opendp.prelude as dp, modicum as mo
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> mean = to_opendp(mo.query.mean(within=(-1e9, 1e9), epsilon=5))
    >>> mean.map(2), 450 < mean([float(each) for each in range(1000)]).value < 550
    (10.0, True)
    """
    dp = _opendp()
    if not isinstance(question, Query):
        raise InvalidArgument(
            "question must be made with modicum.query, for example "
            f"modicum.query.mean(...), got {type(question).__name__}"
        )
    if isinstance(question.place, str):
        raise InvalidArgument(
            f"leave out column={question.column!r}: the data of a measurement are one vector"
        )
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=True)) if domain is None else domain
    metric = dp.symmetric_distance() if metric is None else metric
    dtype, records = _dtype(domain), _records(metric)
    measure = _measure(dp, question.budget)
    question = replace(question, turn=None)  # the map counts no δ: a budget is spent on its ε

    def function(data: Sequence[float]) -> Record:
        release: Record = answered(question, np.asarray(data, dtype=dtype), Unit(), ACCOUNT)
        return release

    return dp.m.make_user_measurement(
        domain,
        metric,
        measure,
        function,
        lambda distance: _loss(question.budget, records * distance),
    )


@cache
def register() -> None:
    """Let OpenDP's ``Context`` ask questions: ``context.query().modicum(...).release()``.

    The argument makes a question for a cost. It is tried with costs until the question costs
    what the context has for it; a second argument sets the cost instead.

    Raises
    ------
    InvalidArgument
        Without OpenDP, or before its features are enabled.

    Examples
    --------
    >>> import opendp.prelude as dp, modicum as mo
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> register()
    >>> context = dp.Context.compositor(
    ...     data=[1.0] * 900, privacy_unit=dp.unit_of(contributions=1),
    ...     privacy_loss=dp.loss_of(epsilon=9.0), split_evenly_over=2,
    ...     domain=dp.vector_domain(dp.atom_domain(T=float, nan=True)),
    ... )
    >>> count = lambda epsilon: mo.query.count(epsilon=epsilon)
    >>> 880 < context.query().modicum(count).release().value < 920
    True
    """
    _opendp().register(_make_modicum, "modicum")


def _make_modicum(
    input_domain: Domain,
    input_metric: Metric,
    question: Callable[[float], Query[Any]],
    cost: float,
) -> Measurement:
    if not callable(question):
        raise InvalidArgument(
            "give a function from a cost to a question, for example lambda epsilon: "
            f"modicum.query.count(epsilon=epsilon), got {type(question).__name__}"
        )
    return to_opendp(question(cost), domain=input_domain, metric=input_metric)


def _opendp() -> Any:
    try:
        dp = import_module("opendp.prelude")
        mod = import_module("opendp.mod")
    except ImportError:
        raise InvalidArgument("this needs OpenDP: pip install opendp") from None
    try:
        mod.assert_features(*_FEATURES)
    except mod.OpenDPException:
        line = f"opendp.prelude.enable_features({', '.join(map(repr, _FEATURES))})"
        raise InvalidArgument(
            "OpenDP wants to hear from you that it may trust a measurement that it cannot check. "
            f"If so, run {line}"
        ) from None
    return dp


def _dtype(domain: Domain) -> np.dtype[Any]:
    carrier = str(getattr(domain, "carrier_type", type(domain).__name__))
    match = _NUMBERS.fullmatch(carrier)
    if match is None:
        raise InvalidArgument(
            "domain must be a vector_domain of an atom_domain of numbers or bools, for example "
            f"dp.vector_domain(dp.atom_domain(T=float, nan=True)), got {carrier}"
        )
    name = match[1]
    return np.dtype(name if name == "bool" else f"{name[0]}{int(name[1:]) // 8}")


def _records(metric: Metric) -> int:
    """How many records come or go at distance 1."""
    name = str(getattr(metric, "type", type(metric).__name__))
    if name not in _RECORDS:
        raise InvalidArgument(
            f"metric must be symmetric_distance() or change_one_distance(), got {name}"
        )
    return _RECORDS[name]


def _measure(dp: Any, budget: Budget) -> Any:
    if budget.concentrated:
        return dp.zero_concentrated_divergence()
    return dp.approximate(dp.max_divergence()) if budget.approximate else dp.max_divergence()


def _loss(budget: Budget, records: int) -> float | tuple[float, float]:
    """Group privacy: what so many records more or less cost together, rounded up."""
    if budget.concentrated:
        return float_above(budget.amount * records**2)
    epsilon = float_above(budget.amount * records)
    return (epsilon, 0.0) if budget.approximate else epsilon
