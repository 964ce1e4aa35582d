"""One person's answer: uniform, but for a window around their value that is more likely."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import KnownCoin, small_exp_bounds
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import SECRET, Mechanism
from modicum.privacy.event import Event, PureDP


@dataclass(frozen=True, slots=True)
class Window:
    """The public part: where windows may start, their length, and ε.

    Positions are the integers 0..reach, windows are [position, position + width), and all outcomes
    0..reach + width - 1. An outcome in the window is exp(ε) times as likely as one outside.
    """

    reach: int
    width: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.reach < 1 or self.width < 1 or self.epsilon <= 0:
            raise InvalidArgument(
                "a window needs a positive reach, width and epsilon, got "
                f"{self.reach}, {self.width} and {self.epsilon}"
            )

    @property
    def outcomes(self) -> int:
        return self.reach + self.width

    @property
    def inside(self) -> float:
        """Probability that the answer lies in the window, W/(W + M e^-ε)."""
        return self.width / (self.width + self.reach * math.exp(-self.epsilon))

    @property
    def slope(self) -> float:
        """The increase of the mean answer for one position more, W (1 - e^-ε)/(W + M e^-ε)."""
        return -self.inside * math.expm1(-self.epsilon)

    def decoded(self, mean: float) -> float:
        """Return the position whose mean answer is ``mean``: unbiased, since it is linear.

        E[answer] = (1 - e^-ε) W (v + (W-1)/2)/Z + e^-ε N (N-1)/(2 Z), Z = W + M e^-ε, and
        e^-ε N/Z = 1 - slope. See [local.5].
        """
        middle = (1 - self.slope) * (self.outcomes - 1) / 2
        return (mean - middle) / self.slope - (self.width - 1) / 2

    def variance(self, position: float) -> float:
        """Variance of one decoded answer about a whole position."""
        centre = position + (self.width - 1) / 2 - (self.outcomes - 1) / 2
        window = centre**2 + (self.width**2 - 1) / 12
        square = self.slope * window + (1 - self.slope) * (self.outcomes**2 - 1) / 12
        return square / self.slope**2 - centre**2

    def sample_many(self, positions: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        """Draw one answer for each whole position, with the law of :class:`WindowResponse`.

        [local.4] With probability W (1 - e^-ε)/(W + M e^-ε) the answer is uniform in the window,
        else uniform on all: weight 1 in the window and e^-ε outside. One coin and one integer.
        """
        count = len(positions)
        honest = honesty(self).toss_many(count, entropy)
        anywhere = entropy.below_many(self.outcomes, count).astype(np.int64)
        within = positions + entropy.below_many(self.width, count).astype(np.int64)
        return np.where(honest, within, anywhere)

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Enclose W (1 - a)/(W + M a), which falls as a = e^-ε grows, [local.4]."""
        low, high = small_exp_bounds(self.epsilon, digits)
        return tuple(  # type: ignore[return-value]
            self.width * (1 - a) / (self.width + self.reach * a) for a in (high, low)
        )


@functools.lru_cache(maxsize=1024)
def honesty(window: Window) -> KnownCoin:
    """Return the coin of [local.4]."""
    return KnownCoin(window.enclosure)


@dataclass(frozen=True, slots=True)
class WindowResponse(Mechanism[int]):
    """One answer 0..reach + width - 1 about a position that only its owner knows.

    With width 1 it is randomised response among reach + 1 symbols (Warner 1965; Kairouz, Oh and
    Viswanath 2014); with more it is the piecewise mechanism (Wang et al. 2019) on integers. The
    position, in [0, reach], is secret; between two integers it is rounded to either at random, so
    that the mean answer is linear in it.

    [local.3] Z = W + M e^-ε for every whole position, so every probability is 1/Z or e^-ε/Z, or
    lies between them after rounding: any two positions have log ratio at most ε. Any two values are
    neighbours.
    """

    position: Fraction = field(repr=False, metadata=SECRET)
    window: Window

    @property
    def event(self) -> Event:
        return PureDP(self.window.epsilon)

    def sample(self, entropy: Entropy) -> int:
        whole, rest = divmod(self.position, 1)
        place = whole + (entropy.below(rest.denominator) < rest.numerator)
        if honesty(self.window).toss(entropy):
            return place + entropy.below(self.window.width)
        return entropy.below(self.window.outcomes)

    def log_density(self, outcome: int) -> float:
        if not 0 <= outcome < self.window.outcomes:
            return -math.inf
        whole, rest = divmod(self.position, 1)
        inside = (1 - rest) * (whole <= outcome < whole + self.window.width) + rest * (
            whole + 1 <= outcome < whole + 1 + self.window.width
        )
        lost = math.exp(-self.window.epsilon)
        weight = math.log(inside + (1 - inside) * lost) if inside else -float(self.window.epsilon)
        return weight - math.log(self.window.width + self.window.reach * lost)

    def probes(self) -> Iterable[int]:
        return range(self.window.outcomes)
