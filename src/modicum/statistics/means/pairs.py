"""Statistics of two columns, of whose rows one number each is made: what their chapters share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from modicum.errors import InvalidArgument, as_given
from modicum.exact.octaves import OCTAVES
from modicum.statistics import spec
from modicum.statistics.ranges import bounds
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


def pair_of(argument: str, column: object, other: object, between: str) -> Pair:
    """Check the names of two different columns."""
    names = spec.column_name(column), spec.column_name(other)
    if names[0] is None or names[1] is None or names[0] == names[1]:
        raise InvalidArgument(
            f"{argument} must be the name of another column than the first, got "
            f"{as_given(column)} and {as_given(other)}"
        )
    return Pair((names[0], names[1]), between)
