"""Means, sums and counts."""

from __future__ import annotations

from typing import Any

from modicum.statistics.bounded import bounded_mean
from modicum.statistics.count import COUNT
from modicum.statistics.mean import adaptive_mean
from modicum.statistics.options import (
    ClusterOption,
)
from modicum.statistics.spec import Row, ranged
from modicum.statistics.subset_mean import subset_mean
from modicum.statistics.sum import adaptive_sum, bounded_sum

__all__ = ["MEANS"]

_BOTH = (ClusterOption("clip"), ClusterOption("keep"))

MEANS: tuple[Row[Any, Any], ...] = (
    Row(
        "mean",
        "adaptive",
        ("pure", "zcdp", "approx"),
        True,
        _BOTH,
        "mean",
        "mean with noise on the scale of the data's own spread",
        lambda column, lattice, event, options: adaptive_mean(
            column, ranged(lattice), event, clusters=options.clusters
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
        lambda column, lattice, event, options: subset_mean(column, ranged(lattice), event),
    ),
    Row(
        "mean",
        "bounded",
        ("pure", "zcdp", "approx"),
        True,
        _BOTH[:1],
        "bounded_mean",
        "mean with noise on the scale of the range, for ranges known to be tight",
        lambda column, lattice, event, options: bounded_mean(column, ranged(lattice), event),
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
            column, ranged(lattice), event, clusters=options.clusters
        ),
    ),
    Row(
        "sum",
        "bounded",
        ("pure", "zcdp", "approx"),
        True,
        _BOTH[:1],
        "sum",
        "sum with noise on the scale of the range, for ranges known to be tight",
        lambda column, lattice, event, options: bounded_sum(column, ranged(lattice), event),
    ),
    COUNT,
)
