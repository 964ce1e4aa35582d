"""The table of estimators. The audit, the command line, the docs and the benchmarks read it.

Adding an estimator means one file, one row here, one page in docs/proofs and one changelog
fragment; a missing part fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from modicum.errors import InvalidArgument
from modicum.estimators.count import noisy_count
from modicum.estimators.mean import adaptive_mean
from modicum.estimators.options import ClusterOption, NoOption, Options, QuantileOption
from modicum.estimators.quantile import rank_quantile
from modicum.estimators.subset_mean import subset_mean
from modicum.estimators.sum import adaptive_sum
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.runners.request import Request
from modicum.steps import Steps

__all__ = ["REGISTRY", "Row", "find_row"]

Chosen = TypeVar("Chosen", bound=Options)


@dataclass(frozen=True, slots=True)
class Row(Generic[Chosen]):
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
    begin: Callable[[str | None, Lattice | None, Event, Chosen], Steps[Answer]]

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Request:
        """Build a checked request.

        Raises
        ------
        InvalidArgument
            If the budget's kind or an option does not fit the method.
        """
        where = f"{self.statistic} with method={self.method!r}"
        if budget.kind not in self.kinds:
            raise InvalidArgument(
                f"{where} takes budgets of kind {' or '.join(self.kinds)}, got {budget.kind!r}"
            )
        options.check(self.options, where)

        def begin(event: Event) -> Steps[Answer]:
            return self.begin(column, lattice, event, options)

        return Request(self.statistic, self.method, column, lattice, budget, begin, options)


def _ranged(lattice: Lattice | None) -> Lattice:
    assert lattice is not None
    return lattice


_BOTH = (ClusterOption("clip"), ClusterOption("keep"))


def _quantile(
    column: str | None, lattice: Lattice | None, event: Event, options: QuantileOption
) -> Steps[Answer]:
    return rank_quantile(column, _ranged(lattice), event, q=options.q, level=options.level)


REGISTRY: tuple[Row[Any], ...] = (
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
)

_BY_NAME: Mapping[tuple[str, str], Row[Any]] = MappingProxyType(
    {(row.statistic, row.method): row for row in REGISTRY}
)


def find_row(statistic: str, method: str) -> Row[Any]:
    """Look up a method of a statistic.

    Raises
    ------
    InvalidArgument
        If there is no such method.
    """
    row = _BY_NAME.get((statistic, method))
    if row is None:
        known = ", ".join(repr(r.method) for r in REGISTRY if r.statistic == statistic)
        raise InvalidArgument(f"method must be one of {known} for {statistic}, got {method!r}")
    return row
