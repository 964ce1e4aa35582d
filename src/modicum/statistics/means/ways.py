"""Ways to answer a mean whose algorithms are imported when they are asked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import EPSILON_KINDS
from modicum.privacy.event import Event
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.steps import Steps
from modicum.statistics.ranges.split import BOTH_CLUSTERS, ClusterOption
from modicum.statistics.spec import Row, of_range

Answer = Callable[[str | None, Lattice, Event], Steps[ScalarEstimate]]
"""Steps that need a given range and no options."""


def subset_mean(steps: Answer) -> Row[ClusterOption, Release]:
    """The way of ``dick2023.subset_mean_steps``."""
    return Row(
        "mean",
        "subset",
        BOTH_CLUSTERS[:1],
        "subset_mean",
        "mean with the subset-optimality theorem of Dick et al. 2023",
        of_range(steps),
        kinds=EPSILON_KINDS,
    )


def _bounded_mean(column: str | None, lattice: Lattice, event: Event) -> Steps[ScalarEstimate]:
    from modicum.statistics.ranges.bounded_mean import bounded_mean_steps

    return bounded_mean_steps(column, lattice, event)


BOUNDED_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "bounded",
    BOTH_CLUSTERS[:1],
    "bounded_mean",
    "mean with noise on the scale of the range, for ranges known to be tight",
    of_range(_bounded_mean),
    finds_range=False,
)


def true_mean(run: Any) -> Fraction:
    """The mean of a plan's table."""
    mean: Fraction = run.table.mean() * run.step
    return mean
