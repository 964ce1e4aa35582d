"""Ranges and quantiles of one number that each client has: one round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_integer
from modicum.privacy.budget import Number
from modicum.protocols.local import protocol
from modicum.protocols.local.frequency import TreeRound, best_tree
from modicum.protocols.local.protocol import Answers, Floats, Integers
from modicum.protocols.local.tree import TreeCells, TreeDistribution
from modicum.protocols.local.wire import Announcement

_MOST_CELLS = 1 << 32  # a finer lattice is cut into so many


@dataclass(frozen=True, slots=True)
class OneNumber(protocol.Protocol):
    """A protocol whose clients have a number in a public range."""

    lattice: Lattice

    @property
    def cells(self) -> TreeCells:
        """The cells at the bottom of the tree."""
        return TreeCells.of(self.lattice.first, self.lattice.last, _MOST_CELLS)

    def read(self, values: Any) -> Floats:
        return protocol.read_column(values, self.lattice)

    def parameters(self) -> dict[str, Any]:
        return {"lo": self.lattice.lo, "hi": self.lattice.hi, "step": self.lattice.step}


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """An estimated distribution, from randomised messages.

    Attributes
    ----------
    clients : int
        Answers it is made of.
    deviation : float
        Typical standard deviation of the share of clients below a point: the root mean square over
        all cells.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import local
    >>> protocol = local.histogram(within=(0, 100), step=1, epsilon=4)
    >>> batch, server = local.Batch(protocol, 4000), local.Server(protocol)
    >>> tally = server.aggregate([batch.respond(np.arange(4000) % 50, server.announcement)])
    >>> server.close()
    >>> found = server.estimate
    >>> 0.4 < found.share(0, 25) < 0.6, 15 < found.quantile(0.5) < 35
    (True, True)
    """

    clients: int
    deviation: float
    _lattice: Lattice
    _cells: TreeCells
    _fitted: TreeDistribution

    def below(self, x: float) -> float:
        """Estimate the share of clients whose value, rounded to a step, lies below ``x``.

        Unbiased at the starts of cells if there are at most 1024 of them. With a coarse step a
        value below ``x`` may have been rounded up to it.

        Parameters
        ----------
        x : float
            In the unit of the data; beyond the range the share is 0 or 1.

        Returns
        -------
        float
            It may be negative or above 1: noise is not cut off.
        """
        at = (x / self._lattice.step - self._cells.first) / self._cells.size
        return self._fitted.below(min(max(at, 0.0), float(self._fitted.edges[-1])))

    def share(self, low: float, high: float) -> float:
        """Estimate the share of clients with a value in [low, high).

        Parameters
        ----------
        low, high : float
            In the unit of the data.

        Returns
        -------
        float
            It may be negative: noise is not cut off.
        """
        return self.below(high) - self.below(low)

    def quantile(self, q: float) -> float:
        """Estimate a quantile: a value below which a share q of the clients are.

        Parameters
        ----------
        q : float
            In [0, 1].

        Returns
        -------
        float
            The lower end of a cell, in the unit of the data.

        Raises
        ------
        InvalidArgument
            If q is not in [0, 1].
        """
        if not 0 <= q <= 1:
            raise InvalidArgument(f"q must lie in [0, 1], got {as_given(q)}")
        return self._lattice.value(self._cells.edge(self._fitted.rank(q)))


@dataclass(frozen=True, slots=True)
class Histogram(OneNumber):
    """One answer about one level of a tree over the range from every client.

    Made by :func:`histogram`.

    Parameters
    ----------
    session : str
        32 hexadecimal digits, fresh for every session.
    budget : Budget
        What a client spends in all.
    lattice : Lattice
        The public range and the step.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.histogram(within=(0, 100), step=1, epsilon=1)
    >>> protocol.rounds, str(protocol.budget), protocol.lattice.step
    (1, 'ε = 1', 1.0)
    """

    kind: ClassVar[str] = "histogram"

    @property
    def shares(self) -> tuple[int, ...]:
        return (1024,)

    def asked(self, said: Announcement) -> TreeRound:
        if said.parameters:
            raise InvalidArgument("a histogram's round has no parameters")
        epsilon = protocol.pure_share(self.budget)
        return TreeRound(best_tree(self.cells, epsilon), epsilon)

    def rows(self, values: Floats, said: Announcement) -> Integers:
        return self.cells.of_integers(self.lattice.quantise(values))[:, None]

    def closed(self, said: Announcement, answers: Answers) -> Distribution:
        asked, count = self.asked(said), len(answers.values)
        fitted = asked.distribution(answers)
        return Distribution(count, fitted.deviation(count), self.lattice, self.cells, fitted)

    def error(self, clients: int) -> float:
        """Predict the typical error of the share below a point, for that many answers.

        Parameters
        ----------
        clients : int
            How many answer, at least 1.

        Returns
        -------
        float
            The root mean square of the standard deviation, over all cells.

        Raises
        ------
        InvalidArgument
            If it is no positive integer.

        Examples
        --------
        >>> from modicum import local
        >>> protocol = local.histogram(within=(0, 100), step=1, epsilon=1)
        >>> round(protocol.error(100_000), 3)
        0.016
        """
        return self.asked(self.first()).deviation(as_integer(clients, "clients", 1))


def histogram(
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    step: float | None = None,
    session: str | None = None,
) -> Histogram:
    """Estimate shares of ranges, and quantiles, from one randomised message of each client.

    Parameters
    ----------
    within : pair of numbers
        A public range. A wide one costs a logarithm.
    epsilon, rho : number
        Budget of a client, whose value may be replaced by any other: pure ε, or zCDP.
    step : float, optional
        A power of two to which values are rounded; by default as fine as is safe. There are at
        most 2^32 cells.
    session : str, optional
        32 hexadecimal digits; fresh by default.

    Returns
    -------
    Histogram
        For :class:`~modicum.protocols.local.Client` and :class:`~modicum.protocols.local.Server`,
        whose estimate is a :class:`~modicum.protocols.local.Distribution`.

    Raises
    ------
    InvalidArgument
        For a bad range, step, session or budget.

    Notes
    -----
    Hierarchical histograms of Cormode, Kulkarni and Srivastava (2019), or one level if there are
    few steps. With ε = 1 and n clients the share below a point is off by about 2 h / sqrt(n), h the
    levels of the tree: one for each factor of 4 between range and step. A coarse step helps.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.histogram(within=(0, 100), step=1, epsilon=1)
    >>> protocol.asked(protocol.first()).tree
    Tree(branching=4, depth=4)
    """
    budget, lattice = protocol.local_budget(epsilon, rho), Lattice.within(within, step)
    return Histogram(protocol.chosen_session(session), budget, lattice)
