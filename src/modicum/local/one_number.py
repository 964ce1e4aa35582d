"""Protocols about one number that each client has: its range, its lattice and its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.local.cells import Cells, read_column
from modicum.local.protocol import Protocol, chosen_session, local_budget
from modicum.privacy.budget import Number

__all__ = ["MOST_CELLS", "OneNumber"]

MOST_CELLS = 1 << 32
"""A finer lattice is cut into this many cells."""


@dataclass(frozen=True, slots=True)
class OneNumber(Protocol):
    """A protocol whose clients have a number in a public range."""

    lattice: Lattice

    @classmethod
    def within(
        cls,
        within: tuple[float, float],
        *,
        epsilon: Number | None,
        rho: Number | None,
        step: float | None,
        session: str | None,
    ) -> Self:
        """Check arguments and make the protocol."""
        budget, lattice = local_budget(epsilon, rho), Lattice.within(within, step)
        return cls(chosen_session(session), budget, lattice)

    @property
    def cells(self) -> Cells:
        """The cells at the bottom of the tree."""
        return Cells.of(self.lattice.first, self.lattice.last, MOST_CELLS)

    def read(self, values: Any) -> NDArray[np.float64]:
        """Read one number for each client."""
        return read_column(values, self.lattice)

    def parameters(self) -> dict[str, Any]:
        """Return the lattice."""
        return {"lo": self.lattice.lo, "hi": self.lattice.hi, "step": self.lattice.step}
