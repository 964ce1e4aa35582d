"""The mean of one number that each client has: first where the numbers are, then the mean."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.local.arguments import integer, length
from modicum.local.bounds import bounds
from modicum.local.one_number import OneNumber
from modicum.local.protocol import pure_share
from modicum.local.round import Answers
from modicum.local.tree_round import TreeRound
from modicum.local.window_round import WindowRound, best_window
from modicum.local.wire import Announcement
from modicum.privacy.budget import Number

__all__ = ["Mean", "MeanEstimate", "mean"]

_FEW_STEPS = 7  # of a range: bounds about people who differ by one step are as wide


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean from randomised messages.

    Attributes
    ----------
    value : float
        Unbiased for the mean of the values clipped to [low, high].
    standard_error : float
        Of the randomisation, of who answered this round and, as far as ``clipped`` stands out of
        its noise, of clipping.
    low, high : float
        The bounds that the first round led to, or the range.
    clipped : float
        Estimated share of the people at or near bounds that are not those of the range, and so at
        most about this share beyond them: a value near a bound, within an eighth of the width at
        most, counts in part. NaN if the answers are single bits, which do not tell.
    clipped_deviation : float
        Standard deviation of ``clipped``.
    located_by, clients : int
        Answers in the first and in the second round; 0 in the first if there is only one.
    """

    value: float
    standard_error: float
    low: float
    high: float
    clipped: float
    clipped_deviation: float
    located_by: int
    clients: int


@dataclass(frozen=True, slots=True)
class Mean(OneNumber):
    """A quarter of the clients tell where the numbers are, the others a clipped number.

    Without a search, all clients tell their number within the range. Made by :func:`mean`.
    """

    kind: ClassVar[str] = "mean"

    search: bool = True

    @property
    def shares(self) -> tuple[int, ...]:
        """Clients of each round, in parts of 1024."""
        return (256, 768) if self.search else (1024,)

    def asked(self, said: Announcement) -> TreeRound | WindowRound:
        """Return a round: the tree, or the bounds that were announced."""
        epsilon = pure_share(self.budget)
        if said.round == 1 and not said.parameters:
            if not self.search:
                return WindowRound(self.lattice.first, self.lattice.last, epsilon)
            return TreeRound(self.cells.tree, epsilon)
        if self.search and said.round == 2 and len(said.parameters) == 3:
            low, high, _ = said.parameters
            if self.lattice.first <= low < high <= self.lattice.last:
                return WindowRound(low, high, epsilon)
        raise InvalidArgument("the announcement does not fit a mean within this range")

    def rows(self, values: NDArray[np.float64], said: Announcement) -> NDArray[np.int64]:
        """Return the cells of values, then their lattice integers."""
        q = self.lattice.quantise(values)
        tree = self.search and said.round == 1
        return (self.cells.of_integers(q) if tree else q)[:, None]

    def closed(self, said: Announcement, answers: Answers) -> Announcement | MeanEstimate:
        """Announce the bounds, then return the mean."""
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, TreeRound):
            return Announcement(said.session, 2, (*bounds(asked, answers, self.cells), count))
        located_by = said.parameters[-1] if self.search else 0
        low, high, step = asked.low, asked.high, self.lattice.step
        if not count:
            middle = (low / 2 + high / 2) * step
            return MeanEstimate(
                middle, math.inf, low * step, high * step, math.nan, math.inf, located_by, 0
            )
        value, error = asked.mean(answers.values)
        room = low - self.lattice.first, self.lattice.last - high
        clipped, deviation, moved = asked.clipped(answers.values, room)
        return MeanEstimate(
            value * step,
            math.hypot(error, moved) * step,
            low * step,
            high * step,
            clipped,
            deviation,
            located_by,
            count,
        )

    def error(self, clients: int, *, width: float) -> float:
        """Predict the standard error of the mean, in the unit of the data, without clipping.

        Parameters
        ----------
        clients : int
            All those who answer, in either round.
        width : float
            Where nearly all values lie. The bounds are then up to 2.5 times as wide, as for a
            uniform distribution, once the first round has found them, and at most the range.

        Examples
        --------
        >>> from modicum import local
        >>> protocol = local.mean(within=(-1e6, 1e6), epsilon=1)
        >>> round(protocol.error(100_000, width=10), 2)
        0.09
        """
        window = best_window(pure_share(self.budget))
        answers = integer(clients, "clients", 1) * self.shares[-1] / sum(self.shares)
        middle = window.variance(window.reach // 2) + 1 / 4
        wide = min(2.5 * length(width, "width"), self.lattice.hi - self.lattice.lo)
        if not self.search:
            wide = self.lattice.hi - self.lattice.lo
        return wide / window.reach * math.sqrt(middle / answers)

    def parameters(self) -> dict[str, Any]:
        """Return the lattice, and how many rounds there are."""
        return {**OneNumber.parameters(self), "rounds": self.rounds}


def mean(
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    step: float | None = None,
    search: bool = True,
    session: str | None = None,
) -> Mean:
    """Estimate a mean from one randomised message of each client, in two rounds or one.

    Parameters
    ----------
    within : pair of numbers
        A public range. A wide one costs a logarithm.
    epsilon, rho : number
        Budget of a client, whose value may be replaced by any other: pure ε, or zCDP.
    step : float, optional
        A power of two to which values are rounded; by default as fine as is safe.
    search : bool, default True
        Look for bounds in a round of its own, in a range of more than 7 steps. Without, all
        clients answer one round about the whole range: better if that is tight, as (0, 1) is for
        a share.
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
        For a bad range, step, session or budget, or a search that is neither True nor False.

    Notes
    -----
    With ε = 1 the error is about the width of the bounds over sqrt(n), beside what is clipped.

    Examples
    --------
    >>> from modicum import local
    >>> shares = [
    ...     local.mean(within=(0, 1), epsilon=1, search=search) for search in (True, False)
    ... ]
    >>> [(one.rounds, round(one.error(100_000, width=1), 4)) for one in shares]
    [(2, 0.0035), (1, 0.003)]
    """
    if not isinstance(search, bool):
        raise InvalidArgument(f"search must be True or False, got {search!r}")
    made = Mean.within(within, epsilon=epsilon, rho=rho, step=step, session=session)
    return dataclasses.replace(made, search=search and made.lattice.width > _FEW_STEPS)
