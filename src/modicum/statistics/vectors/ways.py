"""A way of a paper to answer a mean vector: its algorithm is imported when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import ZCDP_ONLY
from modicum.privacy.event import Event
from modicum.releases.array_release import ArrayEstimate, ArrayRelease
from modicum.runtime.steps import Steps
from modicum.statistics.options import NoOption
from modicum.statistics.spec import Row, ranged
from modicum.summaries.base import Columns


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
