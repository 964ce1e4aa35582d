"""Ways of the papers to answer a mean; their algorithms are imported when one begins."""

from __future__ import annotations

from collections.abc import Callable

from modicum.privacy.budget import EPSILON_KINDS
from modicum.release import Release, ScalarEstimate
from modicum.runtime.steps import Steps
from modicum.statistics.spec import Row, in_paper, ranged
from modicum.statistics.split import BOTH_CLUSTERS, ClusterOption


def _steps_of(paper: str, name: str) -> Callable[..., Steps[ScalarEstimate]]:
    """Return steps that need a given range and no options."""
    steps = in_paper(paper, name)
    return lambda column, lattice, event, _: steps(column, ranged(lattice), event)


SUBSET_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "subset",
    BOTH_CLUSTERS[:1],
    "subset_mean",
    "mean with the subset-optimality theorem of Dick et al. 2023",
    _steps_of("dick2023", "subset_mean_steps"),
    kinds=EPSILON_KINDS,
)

BOUNDED_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "bounded",
    BOTH_CLUSTERS[:1],
    "bounded_mean",
    "mean with noise on the scale of the range, for ranges known to be tight",
    _steps_of("kulesza2023", "bounded_mean_steps"),
    finds_range=False,
)
