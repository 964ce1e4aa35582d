"""Histograms and distribution functions."""

from __future__ import annotations

import math
from typing import Any

from modicum.array_release import ArrayRelease
from modicum.statistics.cdf import noisy_cdf
from modicum.statistics.histogram import drawn_histogram, noisy_histogram
from modicum.statistics.options import (
    BinsOption,
    CutsOption,
)
from modicum.statistics.spec import Row, ranged

__all__ = ["DISTRIBUTIONS"]


DISTRIBUTIONS: tuple[Row[Any, Any], ...] = (
    Row(
        "histogram",
        "noisy",
        ("pure", "zcdp", "approx"),
        True,
        (CutsOption((5.0, 6.0, 8.0)), CutsOption((-math.inf, 6.0, math.inf))),
        "histogram",
        "counts of the records in public bins",
        lambda column, lattice, event, options: noisy_histogram(
            column, ranged(lattice), event, edges=options.cuts
        ),
        ArrayRelease,
    ),
    Row(
        "histogram",
        "drawn",
        ("pure", "zcdp", "approx"),
        True,
        (BinsOption(2, fine=1),),
        "histogram",
        "counts of the records between quantiles that are drawn first",
        lambda column, lattice, event, options: drawn_histogram(
            column, ranged(lattice), event, bins=options.bins, fine=options.fine
        ),
        ArrayRelease,
    ),
    Row(
        "cdf",
        "noisy",
        ("pure", "zcdp", "approx"),
        True,
        (CutsOption((5.0, 6.0)),),
        "histogram",
        "shares of the records up to public points",
        lambda column, lattice, event, options: noisy_cdf(
            column, ranged(lattice), event, points=options.cuts
        ),
        ArrayRelease,
    ),
)
