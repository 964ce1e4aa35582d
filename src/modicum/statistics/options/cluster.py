"""What becomes of records that lie together far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modicum.errors import InvalidArgument
from modicum.statistics.schedule import Clusters
from modicum.statistics.spec import Options

__all__ = ["ClusterOption"]


@dataclass(frozen=True, slots=True)
class ClusterOption(Options):
    """Whether a small distant cluster may be clipped away."""

    clusters: Clusters

    def check(self, listed: Sequence[Options], where: str) -> None:
        """Refuse what is not listed.

        Raises
        ------
        InvalidArgument
        """
        if self not in listed:
            known = ", ".join(repr(o.clusters) for o in listed if isinstance(o, ClusterOption))
            raise InvalidArgument(
                f"clusters must be one of {known} for {where}, got {self.clusters!r}"
            )
