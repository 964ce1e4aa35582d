"""Statistics of two columns, of whose rows one number each is made: what their chapters share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.privacy.budget import Budget
from modicum.release import Release
from modicum.runtime.query import Query
from modicum.statistics import bounds, spec
from modicum.summaries.base import Columns, Read, Reduction
from modicum.summaries.pairs import OfPairs, Pair, PairNumber
from modicum.summaries.sizes import OctaveCounts, OctaveSummary

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class PairSetting(bounds.Setting):
    """What a step refers to whose records are numbers made of pairs."""

    pairs: Columns = field(kw_only=True)
    number: PairNumber = field(kw_only=True)

    def ask(self, reduction: Reduction[S]) -> Read[S]:
        return Read(None, self.lattice, OfPairs(self.number, reduction), self.pairs)


def octaves_of(pairs: Columns, number: PairNumber) -> Read[OctaveSummary]:
    """Read the octaves of numbers made of pairs."""
    return Read(None, OCTAVES, OfPairs(number, OctaveCounts()), pairs)


def weighted(
    statistic: str,
    column: object,
    weights: object,
    lattice: Lattice | None,
    cost: Budget,
    **chosen: Any,
) -> Query[Release]:
    """Ask for a statistic of weighted rows; other options than the default are refused."""
    if chosen != {"method": "adaptive", "clusters": "clip"}:
        raise InvalidArgument("weights= goes with the default method and clusters only")
    rows = spec.find_statistic("ratio").rows  # of all that ask for pairs
    row = next(row for row in rows if row.statistic == statistic)
    return row.query(
        pair_of("weights", column, weights, ", weights "), lattice, cost, spec.NoOption()
    )


def pair_of(argument: str, column: object, other: object, between: str) -> Pair:
    """Check the names of two different columns."""
    names = spec.column_name(column), spec.column_name(other)
    if names[0] is None or names[1] is None or names[0] == names[1]:
        raise InvalidArgument(
            f"{argument} must be the name of another column than the first, got "
            f"{as_given(column)} and {as_given(other)}"
        )
    return Pair((names[0], names[1]), between)
