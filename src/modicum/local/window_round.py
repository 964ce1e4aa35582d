"""A round about a mean: each client's number, clipped to announced bounds and randomised."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.local.public import Words
from modicum.local.round import Round
from modicum.mechanisms.window_response import Window, WindowResponse
from modicum.privacy.event import Event, Pure

__all__ = ["POSITIONS", "WindowRound", "best_window"]

POSITIONS = 256
"""Steps between the bounds, unless one bit is better; rounding to one adds 2^-18 width²."""

_MANY = 5.0  # deviations from which on people at a bound are believed in


@dataclass(frozen=True, slots=True)
class WindowRound(Round):
    """One bit, or the piecewise mechanism (Wang et al. 2019), about an integer in [low, high].

    Parameters
    ----------
    low, high : int
        Announced bounds, low < high <= low + 2^53.
    epsilon : Fraction
    """

    low: int
    high: int
    epsilon: Fraction

    @property
    def window(self) -> Window:
        """The law's public part."""
        return best_window(self.epsilon)

    @property
    def event(self) -> Event:
        """Pure ε."""
        return Pure(self.epsilon)

    @property
    def answer(self) -> np.dtype[Any]:
        """One outcome of the window."""
        return np.dtype("<u2")

    def law(self, row: NDArray[np.int64], found: Words) -> WindowResponse:
        """Return the law of an answer; the position is that of the clipped integer."""
        q = min(max(int(row[0]), self.low), self.high)
        return WindowResponse(
            Fraction((q - self.low) * self.window.reach, self.high - self.low), self.window
        )

    def stored(self, outcome: int) -> NDArray[Any]:
        """Return the outcome."""
        return np.array([outcome], self.answer)

    def draw(self, rows: NDArray[np.int64], found: Words, entropy: Entropy) -> NDArray[Any]:
        """Draw an answer for each client."""
        scaled = (np.clip(rows[:, 0], self.low, self.high) - self.low) * self.window.reach
        whole, rest = np.divmod(scaled, self.high - self.low)
        coins = entropy.below_many(self.high - self.low, len(rows)).astype(np.int64)
        return self.window.sample_many(whole + (coins < rest), entropy).astype(self.answer)

    def possible(self, answers: NDArray[Any], found: Words) -> NDArray[np.bool_]:
        """Refuse what is no outcome."""
        possible: NDArray[np.bool_] = answers < self.window.outcomes
        return possible

    def mean(self, answers: NDArray[Any]) -> tuple[float, float]:
        """Return the unbiased mean of the clipped integers and its standard error, in steps."""
        unit = (self.high - self.low) / self.window.reach
        found = answers.astype(np.float64)
        spread = float(found.std(ddof=1)) if len(found) > 1 else math.inf
        error = spread / math.sqrt(len(found)) / self.window.slope
        return self.low + unit * self.window.decoded(float(found.mean())), unit * error

    def clipped(self, answers: NDArray[Any], room: tuple[int, int]) -> tuple[float, float, float]:
        """Estimate the share of people at the bounds, its deviation, and what clipping may move.

        Parameters
        ----------
        answers : (n,) array
            Not empty.
        room : pair of int
            How far beyond the lower and the upper bound anybody can lie, from 0 on.

        Notes
        -----
        [W1] The last k <= W outcomes and the window of a position v share max(0, v - M + k). So an
        answer is one of them with probability (k e^-ε + (1 - e^-ε) max(0, v - M + k))/Z, and the
        share of such answers tells the average of max(0, v - M + k)/k: of a tent that is 1 at the
        bound and 0 from k positions on. If the density falls like e^(-h u) both before and beyond
        the bound, with a share c beyond, tents of k and 2k positions hold c (e^(hk) - 1)/(hk) and
        c (e^(2hk) - 1)/(2hk): their ratio (e^(hk) + 1)/2 tells h and c. A power tail that falls at
        that rate there has a mean excess of 1/(h - 1/w), w the width; no more than the width is
        assumed. Many at the bound with nobody next to it have no such tail: they may lie as far as
        there is room.
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
        """Return the average of a tent at 0, and its standard error, [W1]."""
        window = self.window
        hit = float((outcomes < near).mean())
        lost = math.exp(-self.epsilon)
        total = window.width + window.reach * lost
        scale = total / ((1 - lost) * near)
        deviation = math.sqrt(max(hit * (1 - hit), 1 / len(outcomes)) / len(outcomes))
        return (hit - near * lost / total) * scale, deviation * scale

    def influence(self) -> float:
        """Most that one answer moves the mean, in widths, times those who answer."""
        return (self.window.outcomes - 1) / self.window.slope / self.window.reach


@functools.lru_cache(maxsize=256)
def best_window(epsilon: Fraction) -> Window:
    """Return the window of least variance, averaged over all numbers between the bounds.

    That is one bit (Duchi, Jordan and Wainwright 2018) below ε of about 0.9, and from there on a
    window of about M e^(-ε/2) outcomes among many.

    Examples
    --------
    >>> [(w.reach, w.width) for w in map(best_window, map(Fraction, ("1/2", "1", "4")))]
    [(1, 1), (256, 180), (256, 68)]
    """

    def averaged(window: Window) -> float:
        places = range(0, window.reach + 1, max(1, window.reach // 16))
        # A number between two positions is rounded: f (1 - f), 1/6 on average.
        rounded = sum(window.variance(v) for v in places) / len(places) + 1 / 6
        return rounded / window.reach**2

    # The variance falls to its minimum over the widths, and rises from there.
    low, high = 1, 4 * POSITIONS
    while low < high:
        middle = (low + high) // 2
        first, second = (averaged(Window(POSITIONS, w, epsilon)) for w in (middle, middle + 1))
        low, high = (low, middle) if first <= second else (middle + 1, high)
    return min(Window(POSITIONS, low, epsilon), Window(1, 1, epsilon), key=averaged)
