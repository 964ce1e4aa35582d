"""The mean of one number that each client has: first where the numbers are, then the mean.

Round 1 is that of a histogram, and leads to bounds; in round 2 each client's number is clipped to
them and randomised.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.window_response import Window, WindowResponse
from modicum.privacy.budget import Number
from modicum.protocols.local import protocol
from modicum.protocols.local.frequency import SymbolRound, TreeRound
from modicum.protocols.local.histogram import OneNumber
from modicum.protocols.local.protocol import Answers, Floats, Integers
from modicum.protocols.local.tree import Shares, Tree, TreeCells, heaviest_path
from modicum.protocols.local.wire import Announcement

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

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import local
    >>> protocol = local.mean(within=(0, 1), epsilon=4, search=False)
    >>> batch, server = local.Batch(protocol, 4000), local.Server(protocol)
    >>> tally = server.aggregate([batch.respond(np.arange(4000) % 2, server.announcement)])
    >>> server.close()
    >>> found = server.estimate
    >>> abs(found.value - 0.5) < 6 * found.standard_error, found.clients
    (True, 4000)
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
    """A quarter of the clients answer where the numbers are, the others with a clipped number.

    Without a search, all clients answer with their number within the range. Made by :func:`mean`.

    Parameters
    ----------
    session : str
        32 hexadecimal digits, fresh for every session.
    budget : Budget
        What a client spends in all.
    lattice : Lattice
        The public range and the step.
    search : bool
        Whether a first round looks for bounds.

    Examples
    --------
    >>> from modicum import local
    >>> protocol = local.mean(within=(-1e6, 1e6), epsilon=1)
    >>> protocol.rounds, protocol.shares  # clients of each round, in parts of 1024
    (2, (256, 768))
    """

    kind: ClassVar[str] = "mean"

    search: bool = True

    @property
    def shares(self) -> tuple[int, ...]:
        return (256, 768) if self.search else (1024,)

    def asked(self, said: Announcement) -> TreeRound | WindowRound:
        epsilon = protocol.pure_share(self.budget)
        if said.round == 1 and not said.parameters:
            if not self.search:
                return WindowRound(self.lattice.first, self.lattice.last, epsilon)
            return TreeRound(self.cells.tree, epsilon)
        if self.search and said.round == 2 and len(said.parameters) == 3:
            low, high, _ = said.parameters
            if self.lattice.first <= low < high <= self.lattice.last:
                return WindowRound(low, high, epsilon)
        raise InvalidArgument("the announcement does not fit a mean within this range")

    def rows(self, values: Floats, said: Announcement) -> Integers:
        q = self.lattice.quantise(values)
        tree = self.search and said.round == 1
        return (self.cells.of_integers(q) if tree else q)[:, None]

    def closed(self, said: Announcement, answers: Answers) -> Announcement | MeanEstimate:
        asked, count = self.asked(said), len(answers.values)
        if isinstance(asked, TreeRound):
            return Announcement(said.session, 2, (*bounds(asked, answers, self.cells), count))
        low, high, step = asked.low, asked.high, self.lattice.step
        value, error = low / 2 + high / 2, math.inf
        clipped, deviation = math.nan, math.inf
        if count:
            value, error = asked.mean(answers.values)
            room = low - self.lattice.first, self.lattice.last - high
            clipped, deviation, moved = asked.clipped(answers.values, room)
            error = math.hypot(error, moved)
        return MeanEstimate(
            value * step,
            error * step,
            low * step,
            high * step,
            clipped,
            deviation,
            located_by=said.parameters[-1] if self.search else 0,
            clients=count,
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

        Returns
        -------
        float
            In the unit of the data.

        Raises
        ------
        InvalidArgument
            For a number of clients below 1, or a width that is not positive.

        Examples
        --------
        >>> from modicum import local
        >>> protocol = local.mean(within=(-1e6, 1e6), epsilon=1)
        >>> round(protocol.error(100_000, width=10), 2)
        0.09
        """
        window = best_window(protocol.pure_share(self.budget))
        middle = window.variance(window.reach // 2) + 1 / 4
        wide, everything = 2.5 * protocol.length(width, "width"), self.lattice.hi - self.lattice.lo
        wide = min(wide, everything) if self.search else everything
        return wide / window.reach * math.sqrt(middle / self._answering(clients))

    def parameters(self) -> dict[str, Any]:
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
    within, epsilon, rho, step, session
        As for :func:`histogram`.
    search : bool, default True
        Look for bounds in a separate round, in a range of more than 7 steps. Without, all
        clients answer one round about the whole range: better if that is tight, as (0, 1) is for
        a share.

    Returns
    -------
    Mean
        For :class:`~modicum.protocols.local.Client` and :class:`~modicum.protocols.local.Server`,
        whose estimate is a :class:`~modicum.protocols.local.MeanEstimate`.

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
        raise InvalidArgument(f"search must be True or False, got {as_given(search)}")
    budget, lattice = protocol.local_budget(epsilon, rho), Lattice.within(within, step)
    return Mean(
        protocol.chosen_session(session), budget, lattice, search and lattice.width > _FEW_STEPS
    )


# Round 1: bounds from answers about where the numbers are; what is left out is small.

_SURE = 4.0  # standard deviations from which on a part of the range is believed in
_FINE = 4  # nodes that are so many times smaller hold a part of the people
_LEAST = 0.01  # quantiles farther out are not read
_RANKS = 3.5  # deviations of a level's share within which no quantile is read
_REACH = 3.37  # standard deviations of a normal distribution at its bounds, by any quantiles
_SEEN = 3.5  # deviations from which on people beyond the bounds are believed in
_LOST = 0.01  # most probability of others beyond bounds about a common value
_MOST_NODES = 6  # of a level that hold the bounds
_SAMPLED = 0.05  # most variance of a share of people beyond, by who is asked


def bounds(asked: TreeRound, answers: Answers, cells: TreeCells) -> tuple[int, int]:
    """Bounds of the numbers, in lattice integers.

    Notes
    -----
    [local.10] The bounds are two opposite quantiles of what is significant, and a part of their
    distance beyond each, chosen so that those of a normal distribution are 3.4 standard deviations
    off its middle. The less noise, the farther out the quantiles. In a wide range there are many
    empty places, and some of their shares look positive by chance. They would drag a far quantile
    anywhere, and a quartile only if they made up a quarter.
    [local.11] People beyond these bounds are seen together at all levels whose nodes are as large.
    If they are significant, the bounds are widened to where they end, and once more by half.
    [local.12] If most people have one value there is no scale to go by, and the others may be
    anywhere. Then the bounds are the narrowest beyond which others are unlikely.
    """
    fitted = asked.distribution(answers, sure=_SURE)
    quantile = min(0.25, max(_LEAST, _RANKS * asked.level_deviation(len(answers.values))))
    deviate = -NormalDist().inv_cdf(quantile)
    low, high = (cells.edge(fitted.rank(q)) for q in (quantile, 1 - quantile))
    shares, counts = asked.estimates(answers)
    common = _common_value(asked.tree, shares, cells, high - low)
    if common is not None:
        beyond = _beyond(asked, shares, counts, cells, (common - cells.size, common + cells.size))
        return _half_wider(cells, beyond.around_common_value())
    # 2 distances beyond the quartiles.
    room = math.ceil((_REACH / deviate - 1) / 2 * (high - low)) + cells.size
    low, high = _within(cells, low - room, high + room)
    beyond = _beyond(asked, shares, counts, cells, (low, high))
    share, deviation = beyond.found()
    if share < _SEEN * deviation:
        return low, high
    return _half_wider(cells, beyond.widened(share))


def _common_value(tree: Tree, shares: Shares, cells: TreeCells, spread: int) -> int | None:
    """A value that most people have, if there is one, in lattice integers.

    A distribution as wide as ``spread``, the distance of its quantiles, leaves little in a node
    that is much smaller. If the heaviest path holds most people there, the quantiles were noise.
    """
    cell, path = heaviest_path(tree, shares)
    sizes = cells.size * tree.branching ** np.arange(tree.depth - 1, -1, -1)
    fine = path[sizes * _FINE <= max(spread, cells.size * _FINE)]
    return cells.edge(cell) if spread <= cells.size or fine.mean() > 1 / 2 else None


@dataclass(frozen=True, slots=True)
class _Beyond:
    """What each level of the tree says about people beyond some bounds, from the root down.

    Shares, and their variances, of the people beyond ``covers``: the nodes that hold the bounds and
    half a node on either side, in lattice integers.
    """

    shares: Floats
    variances: Floats
    covers: list[tuple[int, int]]

    def found(self) -> tuple[float, float]:
        """Return the largest share in deviations of all runs up to the finest level, and its run's.

        The share beyond a level's nodes only grows from the root down, so the average over the
        last levels does not overstate the share beyond the bounds, and has less noise than one.
        """
        weights = 1 / self.variances[::-1]
        means = np.cumsum(weights * self.shares[::-1]) / np.cumsum(weights)
        deviations = 1 / np.sqrt(np.cumsum(weights))
        best = int(np.argmax(means / deviations))
        return float(means[best]), float(deviations[best])

    def widened(self, share: float) -> tuple[int, int] | None:
        """Return bounds beyond which less than a quarter of ``share`` is left; None for everything.

        Where the sum over all finer levels of what their shares exceed that quarter by, by weight,
        is largest. With a half it would be the likeliest level, if the share beyond drops to
        nothing there; to stop too early is the worse mistake.
        """
        excess = (self.shares - share / 4) / self.variances
        level = int(np.argmax(np.cumsum(excess[::-1])[::-1])) - 1
        return self.covers[level] if level >= 0 else None

    def around_common_value(self) -> tuple[int, int] | None:
        """Return the narrowest bounds beyond which others are unlikely; None for everything.

        Notes
        -----
        [local.12] Either there are no others, or a share s of the people lies beyond the nodes of
        level k and all finer ones, and nobody beyond those of coarser levels. The likelihood of k
        is that of its best s: others too few to be seen are not excluded. With 1/4 of the prior
        there are none, with 1/4 they lie beyond all nodes, as the other answer of two does in a
        tight range; all levels between are equally likely.
        """
        weights, levels = 1 / self.variances, len(self.shares)
        information, sums = (np.cumsum(x[::-1])[::-1] for x in (weights, weights * self.shares))
        share = np.clip(sums / information, 0.0, 1.0)
        gains = np.append(share * (sums - share * information / 2), 0.0)
        prior = np.full(levels + 1, 1 / 2 / max(1, levels - 1))
        prior[[0, -1]] = 1 / 4
        chances = prior * np.exp(gains - gains.max())
        lost = np.cumsum(chances[:-1]) / chances.sum()
        taken = np.flatnonzero(lost <= _LOST)
        return self.covers[int(taken[-1])] if len(taken) else None


def _within(cells: TreeCells, low: int, high: int) -> tuple[int, int]:
    return max(low, cells.first), min(high, cells.last)


def _half_wider(cells: TreeCells, found: tuple[int, int] | None) -> tuple[int, int]:
    """Bounds and half their width on either side; the range, if there are none."""
    if found is None:
        return cells.first, cells.last
    half = (found[1] - found[0]) // 2
    return _within(cells, found[0] - half, found[1] + half)


def _beyond(
    asked: TreeRound, shares: Shares, counts: Floats, cells: TreeCells, held: tuple[int, int]
) -> _Beyond:
    """Estimate the share beyond the nodes that hold the bounds, at every level of large nodes."""
    low, high = held
    found, variances, covers = [], [], []
    tree = asked.tree
    for level in range(1, tree.depth + 1):
        size = cells.size * tree.branching ** (tree.depth - level)
        first, last = (
            (x - cells.first) // size for x in _within(cells, low - size // 2, high + size // 2)
        )
        nodes = np.arange(first, last + 1)
        if len(nodes) > _MOST_NODES:
            break
        oracle, count = asked.oracle(level), max(1.0, counts[level - 1])
        found.append(1 - float(shares(level, nodes).sum()))
        noise = oracle.held_variance + (len(nodes) - 1) * oracle.variance
        variances.append((noise + _SAMPLED) / count)
        start, end = cells.first + first * size, cells.first + (last + 1) * size - 1
        covers.append(_within(cells, int(start), int(end)))
    return _Beyond(np.array(found), np.array(variances), covers)


# Round 2: each client's number, clipped to the bounds and randomised.

_POSITIONS = 256  # steps between the bounds, unless one bit is better: rounding adds 2^-18 width²
_MANY = 5.0  # deviations from which on people at a bound are believed in


@dataclass(frozen=True, slots=True)
class WindowRound(SymbolRound):
    """One bit, or the piecewise mechanism (Wang et al. 2019), about an integer in [low, high].

    These are the announced bounds, low < high <= low + 2^53.
    """

    low: int
    high: int
    epsilon: Fraction

    @property
    def window(self) -> Window:
        """The public part of the mechanism."""
        return best_window(self.epsilon)

    def mechanism(self, row: Integers, found: protocol.Words) -> WindowResponse:
        q = min(max(int(row[0]), self.low), self.high)
        return WindowResponse(
            Fraction((q - self.low) * self.window.reach, self.high - self.low), self.window
        )

    def draw(self, rows: Integers, found: protocol.Words, entropy: Entropy) -> NDArray[Any]:
        scaled = (np.clip(rows[:, 0], self.low, self.high) - self.low) * self.window.reach
        whole, rest = np.divmod(scaled, self.high - self.low)
        coins = entropy.below_many(self.high - self.low, len(rows)).astype(np.int64)
        return self.window.sample_many(whole + (coins < rest), entropy).astype(self.answer)

    def possible(self, answers: NDArray[Any], found: protocol.Words) -> protocol.Flags:
        possible: protocol.Flags = answers < self.window.outcomes
        return possible

    def mean(self, answers: NDArray[Any]) -> tuple[float, float]:
        """The unbiased mean of the clipped integers and its standard error, in steps."""
        unit = (self.high - self.low) / self.window.reach
        found = answers.astype(np.float64)
        spread = float(found.std(ddof=1)) if len(found) > 1 else math.inf
        error = spread / math.sqrt(len(found)) / self.window.slope
        return self.low + unit * self.window.decoded(float(found.mean())), unit * error

    def clipped(self, answers: NDArray[Any], room: tuple[int, int]) -> tuple[float, float, float]:
        """Estimate the share of people at the bounds, its deviation, and what clipping may move.

        ``room`` is how far beyond the lower and the upper bound anybody can lie, from 0 on.

        Notes
        -----
        [local.13] The last k <= W outcomes and the window of a position v share max(0, v - M + k).
        So an answer is one of them with probability (k e^-ε + (1 - e^-ε) max(0, v - M + k))/Z, and
        the share of these answers gives the average of max(0, v - M + k)/k: of a tent that is 1 at
        the bound and 0 from k positions on. If the density falls like e^(-h u) both before and
        beyond the bound, with a share c beyond, tents of k and 2k positions hold c (e^(hk) -
        1)/(hk) and c (e^(2hk) - 1)/(2hk): their ratio (e^(hk) + 1)/2 gives h and c. A power tail
        that falls at that rate there has a mean excess of 1/(h - 1/w), w the width; no more than
        the width is assumed. Many at the bound with nobody next to it lack this tail: they may
        lie as far as there is room.
        """
        near = min(self.window.reach // 8, self.window.width // 2)
        if not any(room) or near < 1:
            return (0.0, 0.0, 0.0) if not any(room) else (math.nan, math.inf, 0.0)
        unit = (self.high - self.low) / self.window.reach
        share = variance = moved = 0.0
        for outcomes, far in ((answers, room[0]), (self.window.outcomes - 1 - answers, room[1])):
            if far:
                (one, error), (two, _) = (self._tent(outcomes, k) for k in (near, 2 * near))
                share, variance = share + one, variance + error**2
                beside = two - one
                rate = math.log1p(2 * max(beside, error) / max(one, error))
                edge = max(0.0, one * rate / math.expm1(rate) - error)
                least = 1 / self.window.reach
                excess = unit / max(rate / near - least, least)
                # Even a density two deviations larger would go on beyond the width.
                most = beside + 2 * error
                if edge > _MANY * error and edge * near > 2 * self.window.reach * most:
                    excess = far
                moved = math.hypot(moved, edge * min(excess, far))
        return share, math.sqrt(variance), moved

    def _tent(self, outcomes: NDArray[Any], near: int) -> tuple[float, float]:
        """The average of a tent at 0, and its standard error, [local.13]."""
        window = self.window
        hit = float((outcomes < near).mean())
        lost = math.exp(-self.epsilon)
        total = window.width + window.reach * lost
        scale = total / ((1 - lost) * near)
        deviation = math.sqrt(max(hit * (1 - hit), 1 / len(outcomes)) / len(outcomes))
        return (hit - near * lost / total) * scale, deviation * scale

    def influence(self) -> float:
        """The most that one answer moves the mean, in widths, times the number of answers."""
        return (self.window.outcomes - 1) / self.window.slope / self.window.reach


@functools.lru_cache(maxsize=256)
def best_window(epsilon: Fraction) -> Window:
    """The window of least variance, averaged over all numbers between the bounds.

    That is one bit (Duchi, Jordan and Wainwright 2018) below ε of about 0.9, and from there on a
    window of about M e^(-ε/2) outcomes among many.
    """

    def averaged(window: Window) -> float:
        places = range(0, window.reach + 1, max(1, window.reach // 16))
        # A number between two positions is rounded: f (1 - f), 1/6 on average.
        rounded = sum(window.variance(v) for v in places) / len(places) + 1 / 6
        return rounded / window.reach**2

    # The variance falls to its minimum over the widths, and rises from there.
    low, high = 1, 4 * _POSITIONS
    while low < high:
        middle = (low + high) // 2
        first, second = (averaged(Window(_POSITIONS, w, epsilon)) for w in (middle, middle + 1))
        low, high = (low, middle) if first <= second else (middle + 1, high)
    return min(Window(_POSITIONS, low, epsilon), Window(1, 1, epsilon), key=averaged)
