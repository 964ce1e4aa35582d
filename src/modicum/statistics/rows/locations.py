"""Robust means and monotone statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.statistics.location import location
from modicum.statistics.location_option import LocationOption
from modicum.statistics.monotone_statistic import Score, expectile_score, power_score
from modicum.statistics.spec import Row, ranged
from modicum.statistics.subset_location import subset_location
from modicum.statistics.trimmed import TRIMMED_MEAN, WINSORIZED_MEAN
from modicum.steps import Steps

__all__ = ["LOCATIONS"]


def _location(
    column: str | None, lattice: Lattice | None, event: Event, options: LocationOption
) -> Steps[Answer]:
    return location(
        column, ranged(lattice), event, statistic=options.statistic, level=options.level
    )


def _locations(*statistics: Score | None) -> tuple[LocationOption, ...]:
    """Each with an interval, and the last without one too."""
    asked = [LocationOption(each, 0.95) for each in statistics]
    return (*asked, LocationOption(statistics[-1], None))


def _cubic(v: NDArray[np.float64]) -> NDArray[np.float64]:
    return v**3


LOCATIONS: tuple[Row[Any, Any], ...] = (
    Row(
        "expectile",
        "inverse-sensitivity",
        ("pure", "zcdp", "approx"),
        True,
        _locations(expectile_score(0.9)),
        "locations",
        "expectile by the inverse sensitivity mechanism, with an interval",
        _location,
    ),
    Row(
        "lp_location",
        "inverse-sensitivity",
        ("pure", "zcdp", "approx"),
        True,
        _locations(power_score(1.5)),
        "locations",
        "value with the least sum of p-th powers of distances, with an interval",
        _location,
    ),
    Row(
        "huber_location",
        "inverse-sensitivity",
        ("pure", "zcdp", "approx"),
        True,
        _locations(None),
        "locations",
        "Huber's robust location, with an interval",
        _location,
    ),
    Row(
        "monotone",
        "inverse-sensitivity",
        ("pure", "zcdp", "approx"),
        True,
        _locations(Score("cubic", _cubic, growth=3, homogeneous=True)),
        "locations",
        "any monotone statistic, by its score or its level boundaries",
        _location,
    ),
    Row(
        "monotone",
        "subset",
        ("pure",),
        True,
        (LocationOption(expectile_score(0.5), None),),
        "locations",
        "any monotone statistic with the subset-optimality theorem of Dick et al. 2023",
        lambda column, lattice, event, options: subset_location(
            column, ranged(lattice), event, options.statistic
        ),
    ),
    TRIMMED_MEAN,
    WINSORIZED_MEAN,
)
