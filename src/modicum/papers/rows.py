"""Ways of the papers to answer a mean; their algorithms are imported when one begins."""

from __future__ import annotations

from modicum.privacy.budget import EPSILON_KINDS
from modicum.release import Release
from modicum.statistics.spec import Row, in_paper, ranged
from modicum.statistics.split import BOTH_CLUSTERS, ClusterOption

SUBSET_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "subset",
    BOTH_CLUSTERS[:1],
    "subset_mean",
    "mean with the subset-optimality theorem of Dick et al. 2023",
    lambda column, lattice, event, _: in_paper("dick2023", "subset_mean_steps")(
        column, ranged(lattice), event
    ),
    kinds=EPSILON_KINDS,
)

BOUNDED_MEAN: Row[ClusterOption, Release] = Row(
    "mean",
    "bounded",
    BOTH_CLUSTERS[:1],
    "bounded_mean",
    "mean with noise on the scale of the range, for ranges known to be tight",
    lambda column, lattice, event, _: in_paper("kulesza2023", "bounded_mean_steps")(
        column, ranged(lattice), event
    ),
    finds_range=False,
)
