"""Quantiles and extremes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from modicum.array_release import ArrayRelease
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.runtime.steps import Steps
from modicum.statistics.extreme import extreme
from modicum.statistics.options import (
    NoOption,
    QuantileOption,
    QuantilesOption,
)
from modicum.statistics.quantile import rank_quantile
from modicum.statistics.quantiles import nested_quantiles
from modicum.statistics.spec import Row, ranged

__all__ = ["RANKS"]


def _quantile(
    column: str | None, lattice: Lattice | None, event: Event, options: QuantileOption
) -> Steps[Answer]:
    return rank_quantile(column, ranged(lattice), event, q=options.q, level=options.level)


RANKS: tuple[Row[Any, Any], ...] = (
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
    Row(
        "quantiles",
        "nested",
        ("pure", "zcdp", "approx"),
        True,
        (
            QuantilesOption((Fraction(1, 2),), interval=True, fine=1),
            QuantilesOption((Fraction(1, 3), Fraction(3, 5)), interval=False, fine=0),
        ),
        "quantiles",
        "several quantiles, each between those drawn before it, with simultaneous intervals",
        lambda column, lattice, event, options: nested_quantiles(
            column,
            ranged(lattice),
            event,
            qs=options.qs,
            interval=options.interval,
            fine=options.fine,
        ),
        ArrayRelease,
    ),
    Row(
        "maximum",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "extreme",
        "point that next to no record exceeds",
        lambda column, lattice, event, options: extreme(
            column, ranged(lattice), event, largest=True
        ),
    ),
    Row(
        "minimum",
        "exponential",
        ("pure", "zcdp", "approx"),
        True,
        (NoOption(),),
        "extreme",
        "point that next to no record is below",
        lambda column, lattice, event, options: extreme(
            column, ranged(lattice), event, largest=False
        ),
    ),
)
