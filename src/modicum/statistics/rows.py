"""Ways of the papers to answer questions of others: their algorithms are imported when asked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import EPSILON_KINDS, ZCDP_ONLY
from modicum.privacy.event import Event
from modicum.releases.array_release import ArrayEstimate, ArrayRelease
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.steps import Steps
from modicum.statistics.options import NoOption
from modicum.statistics.ranges.split import BOTH_CLUSTERS, ClusterOption
from modicum.statistics.spec import Row, ranged
from modicum.summaries.base import Columns

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
        lambda column, lattice, event, _: steps(column, ranged(lattice), event),
        kinds=EPSILON_KINDS,
    )


def bounded_mean(steps: Answer) -> Row[ClusterOption, Release]:
    """The way of ``kulesza2023.bounded_mean_steps``."""
    return Row(
        "mean",
        "bounded",
        BOTH_CLUSTERS[:1],
        "bounded_mean",
        "mean with noise on the scale of the range, for ranges known to be tight",
        lambda column, lattice, event, _: steps(column, ranged(lattice), event),
        finds_range=False,
    )


def shifted_mean_vector(
    steps: Callable[[Columns, Lattice, Event], Steps[ArrayEstimate]],
) -> Row[NoOption, ArrayRelease]:
    """The way of ``huang2021.shifted_mean_steps``."""
    return Row(
        "mean_vector",
        "shifted",
        (NoOption(),),
        "shifted_mean_vector",
        "the same with a centre found by medians after a rotation",
        lambda columns, lattice, event, _: steps(columns, ranged(lattice), event),
        ArrayRelease,
        kinds=ZCDP_ONLY,
        of_rows=True,
    )


DISTANCE = "the L2 distance of all means together, in the unit of the data"


def mean_distance(run: Any) -> float:
    """L2 distance of the means from those of the rows of a plan's table."""
    return float(np.linalg.norm(run.values - run.x.mean(axis=0)))


def true_mean(run: Any) -> Fraction:
    """The mean of a plan's table."""
    mean: Fraction = run.table.mean() * run.step
    return mean
