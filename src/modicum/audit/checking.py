"""The exact privacy check of a query or of a row of the registry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from modicum.audit.report import AuditReport
from modicum.audit.trail import Family
from modicum.audit.tree import COUNTS, Search
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import approx, pure, zcdp
from modicum.runtime.query import Query
from modicum.statistics.options import Options
from modicum.statistics.order.histogram import CutsOption
from modicum.statistics.spec import Row

__all__ = ["COUNTS", "check", "check_row", "joint_loss", "neighbours", "scenarios"]

_WIDTHS = (2, 4, 3, 2, 1)
_BUDGETS = {budget.kind: budget for budget in (pure(1), zcdp("0.5"), approx(1, "1e-6"))}
# About zero, above it, below it with ends that are not multiples of the step, and with zero
# nearer to one end.
_RANGES = (
    Lattice(-8.0, 8.0, 1.0),
    Lattice(4.0, 12.0, 1.0),
    Lattice(-13.5, -3.5, 2.0),
    Lattice(-7.0, 2.0, 1.0),
)


Data = tuple[float, ...]
"""Records of a small data set, in order."""

Pair = tuple[Any, Any]
"""Two neighbouring data sets: tuples of numbers, or anything :func:`modicum.mean` reads."""


def neighbours(points: Iterable[float], max_records: int) -> tuple[tuple[Data, Data], ...]:
    """Return every pair of data sets that differ by one record.

    Parameters
    ----------
    points : iterable of float
        Values a record may have; a NaN is a missing value.
    max_records : int
        Size of the larger data set of the largest pairs.

    Returns
    -------
    tuple of pairs
        (data, the same with one record more), for all multisets of points of up to
        ``max_records - 1`` records, the empty one included. An audit takes both directions of
        a pair, so these are all the add and all the remove neighbours.

    Raises
    ------
    InvalidArgument
        Without points, or if ``max_records`` is not positive.

    Examples
    --------
    >>> neighbours((0.0, 5.0), 1)
    (((), (0.0,)), ((), (5.0,)))
    >>> len(neighbours(range(3), 3)), len(neighbours(range(3), 4))
    (30, 60)
    """
    values = tuple(float(x) for x in points)
    if not values or max_records < 1:
        raise InvalidArgument(
            "neighbours need at least one point and max_records >= 1, "
            f"got {len(values)} points and max_records={max_records}"
        )
    return tuple(
        (data, tuple(sorted((*data, x))))
        for records in range(max_records)
        for data in combinations_with_replacement(values, records)
        for x in values
    )


def check(
    query: Query[Any],
    pairs: Iterable[Pair] | None = None,
    *,
    values: Mapping[str, Sequence[Any]] | None = None,
    widths: Sequence[int] = _WIDTHS,
) -> AuditReport:
    """Compute the privacy loss of a release on neighbouring data, and look for leaks.

    Prefer it over tests by sampling: nothing is drawn. The joint density of all draws of the
    release is evaluated at outcomes, draw by draw, on every data set.

    Parameters
    ----------
    query : Query
        Made with :mod:`modicum.query`, or your own around a generator of steps.
    pairs : iterable of pairs, optional
        Neighbouring data sets: tuples of numbers, or anything :func:`modicum.mean` reads. By
        default all multisets of up to three records at three points of the range.
    values : mapping of str to sequence, optional
        Outcomes, by the label of their draw, that are followed in any case. By default
        :data:`COUNTS`, noisy counts up to 1e9, for a draw of integer noise called ``"count"``:
        so the branches for large data are checked on small data.
    widths : sequence of int
        How many more outcomes are followed at the first draw, the second, ...

    Returns
    -------
    AuditReport
        ``report.passed`` is the verdict. Each draw is compared at all outcomes that matter,
        after each prefix of outcomes that is followed.

    Raises
    ------
    InvalidArgument
        Without pairs or widths, or if the outcomes of a mechanism cannot be listed.

    Examples
    --------
    >>> from modicum import audit, query
    >>> report = audit.check(query.count(epsilon="0.5"))
    >>> report.passed, round(report.worst, 9)
    (True, 0.5)
    """
    compared = tuple(pairs) if pairs is not None else _default_pairs(query.lattice)
    if not compared or not widths:
        raise InvalidArgument("an audit needs at least one pair of neighbours and one width")
    tables = [table for pair in compared for table in pair]
    # Equal tuples are one data set; a table is itself only.
    keys = [repr(table) if isinstance(table, tuple) else id(table) for table in tables]
    data = dict(zip(keys, tables, strict=True))
    places = {key: place for place, key in enumerate(data)}
    positions = [places[key] for key in keys]
    family = Family.of(query, list(data.values()))
    return Search(family, np.array(positions).reshape(-1, 2), values, widths).report()


def joint_loss(
    query: Query[Any],
    data: Any,
    neighbour: Any,
    *,
    values: Mapping[str, Sequence[Any]] | None = None,
    widths: Sequence[int] = _WIDTHS,
) -> AuditReport:
    """Compute the privacy loss of a release on two given data sets.

    Parameters are those of :func:`check`, with one pair of data sets.

    Parameters
    ----------
    query : Query
        As for :func:`check`.
    data, neighbour : tuple of numbers, table or array
        Any two data sets; the claim is about neighbours.
    values, widths
        As for :func:`check`.

    Returns
    -------
    AuditReport
        Its ``worst`` is the loss; it is ``passed`` if the two keep the claim.

    Examples
    --------
    >>> from modicum import audit, query
    >>> loss = audit.joint_loss(query.sum(within=(-8, 8), step=1, epsilon=1), (), (8.0,))
    >>> 0.5 < loss.worst <= 1
    True
    """
    return check(query, [(data, neighbour)], values=values, widths=widths)


def check_row(row: Row[Any, Any], *, widths: Sequence[int] = _WIDTHS) -> tuple[AuditReport, ...]:
    """Check a row of the registry with every budget and option that it accepts.

    Parameters
    ----------
    row : Row
        Of :data:`modicum.statistics.registry.REGISTRY`: a statistic with one of its methods.
    widths : sequence of int
        As for :func:`check`.

    Returns
    -------
    tuple of AuditReport
        One for each query of :func:`scenarios`.

    Examples
    --------
    >>> from modicum import audit
    >>> from modicum.statistics.registry import find_row
    >>> [report.passed for report in audit.check_row(find_row("count", "noisy"))]
    [True, True, True]
    """
    return tuple(check(query, widths=widths) for query in scenarios(row))


def scenarios(row: Row[Any, Any]) -> Iterator[Query[Any]]:
    """Yield small queries of a row: each kind of budget, each option, each kind of range.

    The ranges are one about zero, one above it, one below it and one with zero near to an end;
    the ends of one are not multiples of its step. Public cuts are spread over each.

    Parameters
    ----------
    row : Row
        Of :data:`modicum.statistics.registry.REGISTRY`.

    Returns
    -------
    iterator of Query
        Small enough for :func:`check` to follow all branches that matter.

    Examples
    --------
    >>> from modicum import audit
    >>> from modicum.statistics.registry import find_row
    >>> [str(query.budget) for query in audit.scenarios(find_row("count", "noisy"))]
    ['ε = 1', 'ρ = 0.5', '(ε, δ) = (1, 0.000001)']
    """
    for kind in row.kinds:
        for options in row.options:
            for lattice in _RANGES if row.needs_range else (None,):
                yield row.query(None, lattice, _BUDGETS[kind], _within(options, lattice))


def _within(options: Options, lattice: Lattice | None) -> Options:
    """Spread finite cuts, which are in the unit of the data, over a range."""
    if lattice is None or not isinstance(options, CutsOption):
        return options
    parts = len(options.cuts) + 1
    cuts = (
        cut if math.isinf(cut) else lattice.value(lattice.first + lattice.width * i // parts)
        for i, cut in enumerate(options.cuts, start=1)
    )
    return replace(options, cuts=tuple(cuts))


def _default_pairs(lattice: Lattice | None) -> tuple[Pair, ...]:
    """Neighbours at both ends of the range and at a third of it; without a range, at 0."""
    if lattice is None:
        return neighbours((0.0,), 3)
    third = lattice.value(lattice.first + lattice.width // 3)
    return neighbours((lattice.lo, third, lattice.hi), 3)
