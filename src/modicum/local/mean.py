"""The mean of one number that each client has: first where the numbers are, then the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.local.arguments import integer, length
from modicum.local.one_number import OneNumber
from modicum.local.protocol import pure_share
from modicum.local.round import Answers
from modicum.local.tree import Grown
from modicum.local.tree_round import TreeRound
from modicum.local.window_round import WindowRound, best_window
from modicum.local.wire import Announcement
from modicum.privacy.budget import Number

__all__ = ["Mean", "MeanEstimate", "mean"]

_SURE = 4.0  # standard deviations from which on a part of the range is believed in
_ROOM = 2  # quarters' distances beyond the quarters


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean from randomised messages.

    Attributes
    ----------
    value : float
        Unbiased for the mean of the values clipped to [low, high].
    standard_error : float
        Of the randomisation and of who answered this round; not of clipping.
    low, high : float
        The bounds that the first round led to.
    located_by, clients : int
        Answers in the first and in the second round.
    """

    value: float
    standard_error: float
    low: float
    high: float
    located_by: int
    clients: int


@dataclass(frozen=True, slots=True)
class Mean(OneNumber):
    """A quarter of the clients tell where the numbers are, the others a clipped number.

    Made by :func:`mean`.
    """

    kind: ClassVar[str] = "mean"

    @property
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024."""
        return (256, 768)

    def asked(self, said: Announcement) -> TreeRound | WindowRound:
        """Return a round: the tree, or the bounds that were announced."""
        epsilon = pure_share(self.budget)
        if said.round == 1 and not said.parameters:
            return TreeRound(self.cells.tree, epsilon)
        if said.round == 2 and len(said.parameters) == 3:
            low, high, _ = said.parameters
            if self.lattice.first <= low < high <= self.lattice.last:
                return WindowRound(low, high, epsilon)
        raise InvalidArgument("the announcement does not fit a mean within this range")

    def rows(self, values: NDArray[np.float64], said: Announcement) -> NDArray[np.int64]:
        """Return the cells of values, then their lattice integers."""
        q = self.lattice.quantise(values)
        return (self.cells.of_integers(q) if said.round == 1 else q)[:, None]

    def closed(self, said: Announcement, answers: Answers) -> Announcement | MeanEstimate:
        """Announce the bounds, then return the mean."""
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, TreeRound):
            bounds = self._bounds(asked.grown(answers, sure=_SURE))
            return Announcement(said.session, 2, (*bounds, count))
        low, high, located_by = said.parameters
        value, error = (low / 2 + high / 2, float("inf"))
        if count:
            value, error = asked.mean(answers.values)
        step = self.lattice.step
        return MeanEstimate(value * step, error * step, low * step, high * step, located_by, count)

    def _bounds(self, grown: Grown) -> tuple[int, int]:
        """Return the quartiles, and twice their distance beyond each.

        In a wide range there are many empty places, and some of their shares look positive by
        chance. They would drag a far quantile anywhere, and a quartile only if they made up a
        quarter; so only significant shares count, and only quartiles are read.
        """
        low, high = (self.cells.edge(grown.rank(q)) for q in (0.25, 0.75))
        room = _ROOM * (high - low) + self.cells.size
        return max(low - room, self.lattice.first), min(high + room, self.lattice.last)

    def error(self, clients: int, *, width: float) -> float:
        """Predict the standard error of the mean, in the unit of the data, without clipping.

        Parameters
        ----------
        clients : int
            All those who answer, in either round.
        width : float
            Where nearly all values lie. The bounds are then up to 2.5 times as wide, as for a
            uniform distribution, once the first round has found them.

        Examples
        --------
        >>> from modicum import local
        >>> protocol = local.mean(within=(-1e6, 1e6), epsilon=1)
        >>> round(protocol.error(100_000, width=10), 2)
        0.09
        """
        window = best_window(pure_share(self.budget))
        answers = integer(clients, "clients", 1) * self.shares[1] / sum(self.shares)
        middle = window.variance(window.reach // 2) + 1 / 4
        return 2.5 * length(width, "width") / window.reach * math.sqrt(middle / answers)


def mean(
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    step: float | None = None,
    session: str | None = None,
) -> Mean:
    """Estimate a mean from one randomised message of each client, in two rounds.

    Parameters
    ----------
    within : pair of numbers
        A public range. A wide one costs a logarithm.
    epsilon, rho : number
        Budget of a client, whose value may be replaced by any other: pure ε, or zCDP.
    step : float, optional
        A power of two to which values are rounded; by default as fine as is safe.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    Mean
        For :class:`~modicum.local.Client` and :class:`~modicum.local.Server`, whose estimate is a
        :class:`~modicum.local.MeanEstimate`.

    Raises
    ------
    InvalidArgument
        For a bad range, step, session or budget.

    Notes
    -----
    With ε = 1 the error is about the width of the bounds over sqrt(n), beside what is clipped.
    """
    return Mean.within(within, epsilon=epsilon, rho=rho, step=step, session=session)
