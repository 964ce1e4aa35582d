"""The table of estimators. The audit, the command line, the docs and the benchmarks read it.

Adding an estimator means one file, one row here, one page in docs/proofs and one changelog
fragment; a missing part fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from modicum.errors import InvalidArgument
from modicum.estimators.count import noisy_count
from modicum.estimators.mean import adaptive_mean
from modicum.estimators.schedule import Clusters
from modicum.estimators.subset_mean import subset_mean
from modicum.estimators.sum import adaptive_sum
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.runners.request import Request
from modicum.steps import Steps

__all__ = ["REGISTRY", "Row", "find_row"]


@dataclass(frozen=True, slots=True)
class Row:
    """One way to answer one statistic.

    Attributes
    ----------
    statistic, method : str
        Names; a statistic's first row is its default method.
    kinds : tuple of str
        Budgets it accepts.
    needs_range : bool
        Whether ``within=`` is required.
    clusters : tuple of str
        Values of the ``clusters=`` option it accepts.
    proof : str
        Page in docs/proofs, without ending.
    summary : str
        One line for lists.
    begin : callable
        ``begin(column, lattice, event, clusters)`` starts a run.
    """

    statistic: str
    method: str
    kinds: tuple[Kind, ...]
    needs_range: bool
    clusters: tuple[Clusters, ...]
    proof: str
    summary: str
    begin: Callable[[str | None, Lattice | None, Event, Clusters], Steps[Answer]]

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, clusters: Clusters
    ) -> Request:
        """Build a checked request.

        Raises
        ------
        InvalidArgument
            If the budget's kind or the clusters option does not fit the method.
        """
        if budget.kind not in self.kinds:
            raise InvalidArgument(
                f"{self.statistic} with method={self.method!r} takes budgets of kind "
                f"{' or '.join(self.kinds)}, got {budget.kind!r}"
            )
        if clusters not in self.clusters:
            raise InvalidArgument(
                f"clusters must be one of {', '.join(map(repr, self.clusters))} for "
                f"{self.statistic} with method={self.method!r}, got {clusters!r}"
            )

        def begin(event: Event) -> Steps[Answer]:
            return self.begin(column, lattice, event, clusters)

        return Request(self.statistic, self.method, column, lattice, budget, begin)


def _ranged(lattice: Lattice | None) -> Lattice:
    assert lattice is not None
    return lattice


REGISTRY: tuple[Row, ...] = (
    Row(
        "mean",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        ("clip", "keep"),
        "mean",
        "mean with noise on the scale of the data's own spread",
        lambda column, lattice, event, clusters: adaptive_mean(
            column, _ranged(lattice), event, clusters=clusters
        ),
    ),
    Row(
        "mean",
        "subset",
        ("pure", "approx"),
        True,
        ("clip",),
        "subset_mean",
        "mean with the subset-optimality theorem of Dick et al. 2023",
        lambda column, lattice, event, clusters: subset_mean(column, _ranged(lattice), event),
    ),
    Row(
        "sum",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        ("clip", "keep"),
        "sum",
        "sum with noise on the scale of the data's own size",
        lambda column, lattice, event, clusters: adaptive_sum(
            column, _ranged(lattice), event, clusters=clusters
        ),
    ),
    Row(
        "count",
        "noisy",
        ("pure", "zcdp", "approx"),
        False,
        ("clip",),
        "count",
        "count of rows or of non-missing values",
        lambda column, lattice, event, clusters: noisy_count(column, event),
    ),
)

_BY_NAME: Mapping[tuple[str, str], Row] = MappingProxyType(
    {(row.statistic, row.method): row for row in REGISTRY}
)


def find_row(statistic: str, method: str) -> Row:
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
