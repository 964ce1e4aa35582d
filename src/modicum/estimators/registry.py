"""The table of estimators. The audit, the command line, the docs and the benchmarks read it.

Adding an estimator means one file, one row here, one page in docs/proofs and one changelog
fragment; a missing part fails a test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from modicum.array_release import ArrayRelease
from modicum.errors import InvalidArgument
from modicum.estimators.cdf import noisy_cdf
from modicum.estimators.count import noisy_count
from modicum.estimators.extreme import extreme
from modicum.estimators.histogram import drawn_histogram, noisy_histogram
from modicum.estimators.iqr import quantile_range
from modicum.estimators.mean import adaptive_mean
from modicum.estimators.options import (
    BinsOption,
    ClusterOption,
    CutsOption,
    NoOption,
    Options,
    QuantileOption,
    QuantilesOption,
    RangeOption,
)
from modicum.estimators.quantile import rank_quantile
from modicum.estimators.quantiles import nested_quantiles
from modicum.estimators.subset_mean import subset_mean
from modicum.estimators.sum import adaptive_sum
from modicum.estimators.variance import adaptive_variance
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event
from modicum.release import Answer, Finding, Record, Release
from modicum.runners.request import ArrayRequest, Request
from modicum.steps import Steps

__all__ = ["REGISTRY", "AnyRow", "ArrayRow", "Row", "find_array_row", "find_row"]

Chosen = TypeVar("Chosen", bound=Options)
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class AnyRow(Generic[Chosen, R]):
    """One way to answer one statistic.

    Attributes
    ----------
    statistic, method : str
        Names; a statistic's first row is its default method.
    kinds : tuple of str
        Budgets it accepts.
    needs_range : bool
        Whether ``within=`` is required.
    options : tuple of Options
        Those to audit and test; the first is the default.
    proof : str
        Page in docs/proofs, without ending.
    summary : str
        One line for lists.
    begin : callable
        ``begin(column, lattice, event, options)`` starts a run.
    """

    statistic: str
    method: str
    kinds: tuple[Kind, ...]
    needs_range: bool
    options: tuple[Chosen, ...]
    proof: str
    summary: str
    begin: Callable[[str | None, Lattice | None, Event, Chosen], Steps[Finding[R]]]

    def _begin(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Callable[[Event], Steps[Finding[R]]]:
        """Check the budget's kind and the options, and return what starts a run.

        Raises
        ------
        InvalidArgument
            If one of them does not fit the method.
        """
        where = f"{self.statistic} with method={self.method!r}"
        if budget.kind not in self.kinds:
            raise InvalidArgument(
                f"{where} takes budgets of kind {' or '.join(self.kinds)}, got {budget.kind!r}"
            )
        options.check(self.options, where)

        return lambda event: self.begin(column, lattice, event, options)


@dataclass(frozen=True, slots=True)
class Row(AnyRow[Chosen, Release]):
    """One way to answer one statistic with one number; attributes as for :class:`AnyRow`."""

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Request:
        """Build a checked request.

        Raises
        ------
        InvalidArgument
            If the budget's kind or an option does not fit the method.
        """
        begin = self._begin(column, lattice, budget, options)
        return Request(self.statistic, self.method, column, lattice, budget, begin, options)


@dataclass(frozen=True, slots=True)
class ArrayRow(AnyRow[Chosen, ArrayRelease]):
    """One way to answer one statistic with several numbers; attributes as for :class:`AnyRow`."""

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> ArrayRequest:
        """Build a checked request; errors as for :meth:`Row.request`."""
        begin = self._begin(column, lattice, budget, options)
        return ArrayRequest(self.statistic, self.method, column, lattice, budget, begin, options)


def _ranged(lattice: Lattice | None) -> Lattice:
    assert lattice is not None
    return lattice


_BOTH = (ClusterOption("clip"), ClusterOption("keep"))


def _quantile(
    column: str | None, lattice: Lattice | None, event: Event, options: QuantileOption
) -> Steps[Answer]:
    return rank_quantile(column, _ranged(lattice), event, q=options.q, level=options.level)


REGISTRY: tuple[Row[Any] | ArrayRow[Any], ...] = (
    Row(
        "mean",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        _BOTH,
        "mean",
        "mean with noise on the scale of the data's own spread",
        lambda column, lattice, event, options: adaptive_mean(
            column, _ranged(lattice), event, clusters=options.clusters
        ),
    ),
    Row(
        "mean",
        "subset",
        ("pure", "approx"),
        True,
        _BOTH[:1],
        "subset_mean",
        "mean with the subset-optimality theorem of Dick et al. 2023",
        lambda column, lattice, event, options: subset_mean(column, _ranged(lattice), event),
    ),
    Row(
        "sum",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        _BOTH,
        "sum",
        "sum with noise on the scale of the data's own size",
        lambda column, lattice, event, options: adaptive_sum(
            column, _ranged(lattice), event, clusters=options.clusters
        ),
    ),
    Row(
        "count",
        "noisy",
        ("pure", "zcdp", "approx"),
        False,
        (NoOption(),),
        "count",
        "count of rows or of non-missing values",
        lambda column, lattice, event, options: noisy_count(column, event),
    ),
    Row(
        "quantile",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (QuantileOption(Fraction(9, 10), 0.95), QuantileOption(Fraction(1, 3), None)),
        "quantile",
        "quantile by the exponential mechanism on ranks, with an interval",
        _quantile,
    ),
    Row(
        "median",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (QuantileOption(Fraction(1, 2), 0.95), QuantileOption(Fraction(1, 2), None)),
        "quantile",
        "median by the exponential mechanism on ranks, with an interval",
        _quantile,
    ),
    ArrayRow(
        "quantiles",
        "nested",
        ("pure", "zcdp", "approx"),
        True,
        (
            QuantilesOption((Fraction(1, 2),), interval=True, fine=1),
            QuantilesOption((Fraction(1, 3), Fraction(3, 5)), interval=False, fine=0),
        ),
        "quantiles",
        "several quantiles, each between those drawn before it, with simultaneous intervals",
        lambda column, lattice, event, options: nested_quantiles(
            column,
            _ranged(lattice),
            event,
            qs=options.qs,
            interval=options.interval,
            fine=options.fine,
        ),
    ),
    ArrayRow(
        "histogram",
        "noisy",
        ("pure", "zcdp", "approx"),
        True,
        (CutsOption((5.0, 6.0, 8.0)), CutsOption((-math.inf, 6.0, math.inf))),
        "histogram",
        "counts of the records in public bins",
        lambda column, lattice, event, options: noisy_histogram(
            column, _ranged(lattice), event, edges=options.cuts
        ),
    ),
    ArrayRow(
        "histogram",
        "drawn",
        ("pure", "zcdp", "approx"),
        True,
        (BinsOption(2, fine=1),),
        "histogram",
        "counts of the records between quantiles that are drawn first",
        lambda column, lattice, event, options: drawn_histogram(
            column, _ranged(lattice), event, bins=options.bins, fine=options.fine
        ),
    ),
    ArrayRow(
        "cdf",
        "noisy",
        ("pure", "zcdp", "approx"),
        True,
        (CutsOption((5.0, 6.0)),),
        "histogram",
        "shares of the records up to public points",
        lambda column, lattice, event, options: noisy_cdf(
            column, _ranged(lattice), event, points=options.cuts
        ),
    ),
    Row(
        "variance",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "variance",
        "variance with noise on the scale of the data's own spread",
        lambda column, lattice, event, options: adaptive_variance(
            column, _ranged(lattice), event, root=False
        ),
    ),
    Row(
        "std",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "variance",
        "standard deviation with noise on the scale of the data's own spread",
        lambda column, lattice, event, options: adaptive_variance(
            column, _ranged(lattice), event, root=True
        ),
    ),
    Row(
        "iqr",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (
            RangeOption((Fraction(1, 4), Fraction(3, 4)), 0.95),
            RangeOption((Fraction(1, 10), Fraction(2, 3)), None),
        ),
        "iqr",
        "interquartile range by two quantiles, with an interval",
        lambda column, lattice, event, options: quantile_range(
            column, _ranged(lattice), event, between=options.between, level=options.level
        ),
    ),
    Row(
        "maximum",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "extreme",
        "point that next to no record exceeds",
        lambda column, lattice, event, options: extreme(
            column, _ranged(lattice), event, largest=True
        ),
    ),
    Row(
        "minimum",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "extreme",
        "point that next to no record is below",
        lambda column, lattice, event, options: extreme(
            column, _ranged(lattice), event, largest=False
        ),
    ),
)

_BY_NAME: Mapping[tuple[str, str], Row[Any] | ArrayRow[Any]] = MappingProxyType(
    {(row.statistic, row.method): row for row in REGISTRY}
)


def find_row(statistic: str, method: str) -> Row[Any]:
    """Look up a method of a statistic that is one number.

    Raises
    ------
    InvalidArgument
        If there is no such method.
    """
    row = _found(statistic, method)
    assert isinstance(row, Row)
    return row


def find_array_row(statistic: str, method: str) -> ArrayRow[Any]:
    """Look up a method of a statistic that is several numbers; errors as :func:`find_row`."""
    row = _found(statistic, method)
    assert isinstance(row, ArrayRow)
    return row


def _found(statistic: str, method: str) -> Row[Any] | ArrayRow[Any]:
    row = _BY_NAME.get((statistic, method))
    if row is None:
        known = ", ".join(repr(r.method) for r in REGISTRY if r.statistic == statistic)
        raise InvalidArgument(f"method must be one of {known} for {statistic}, got {method!r}")
    return row
