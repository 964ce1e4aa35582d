"""Any monotone statistic that a user supplies, in two ways.

By the inverse sensitivity mechanism of :mod:`modicum.statistics.location`, or with
``method="subset"`` by Dick, Kulesza, Sun and Suresh 2023, Algorithm 4, corrected:

[B1] count    a noisy count, for the status and for the spacing of candidates;
[B2] low      a private threshold near rank 7r/4 from below;
[B3] high     the same from above;
[B4] value    the 3r/2 lowest records and as many highest are deleted, then all beyond the
              thresholds; P(t) ∝ exp(-ε len(t) / 4) on what is left, between the thresholds.

The constants are the theorem's: r = (32/ε) ln(6R/(ηβ)), β the step of the lattice and η = β/(2R).
Differs from the text, which moves the 3r/2 extreme records on each side outwards (a record changes
up to three of those kept), has the thresholds at rank r/4 (the proof needs 7r/4), takes the rank
from above from |D|, and draws with exp(-len). docs/proofs/locations.md has the proof, and what was
measured: use it for the theorem, not for accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import ThresholdScore
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event, PureDP
from modicum.release import Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read, read_both
from modicum.statistics.inverse_sensitivity import (
    Candidates,
    ClipBounds,
    LocationErrorModel,
    Scene,
    cell_edges,
    draw_value,
)
from modicum.statistics.location import LocationOption, asked, cases_of, location
from modicum.statistics.monotone_statistic import MonotoneStatistic, Score, expectile_score
from modicum.statistics.outside import NoisyTerm
from modicum.statistics.purses import open_purse
from modicum.statistics.spec import Row, method_of, ranged
from modicum.summaries.base import Read
from modicum.summaries.cells import Cells
from modicum.summaries.sums import Count
from modicum.summaries.tails import Tails

__all__ = ["MONOTONE", "SUBSET", "TrimPlan", "monotone_statistic"]


def monotone_statistic(
    column: str | None = None,
    *,
    statistic: MonotoneStatistic,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
) -> Query[Release]:
    """Ask for a statistic of your own that never falls when a record is raised.

    Parameters
    ----------
    statistic : Score or Boundaries
        Either a :class:`modicum.Score`: a function ψ, and the statistic is the t at which the sum
        of ψ(x - t) over the records is 0. Privacy does not hang on ψ: it is tabulated, and a table
        that falls somewhere is made level there. Or an instance of a subclass of
        :class:`modicum.Boundaries`: how low and how high k changed records can bring the
        statistic. Privacy hangs on those being right.
    column, within, epsilon, rho, budget, step, level
        As for :func:`modicum.query.expectile`.
    method : {"inverse-sensitivity", "subset"}
        ``"subset"`` is Algorithm 4 of Dick, Kulesza, Sun and Suresh 2023, corrected, with the
        constants of its theorem: thousands of records are left out on each side. It is for a pure
        ε and draws no interval: give ``level=None``.

    Returns
    -------
    Query
        Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove neighbours, that is one
        privacy unit more or less; with own boundaries, if they keep their promise.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.query.expectile`; if the statistic fails at public points: a ψ that
        is not finite, not 0 at 0 or falls, boundaries that break their promise for a few records;
        ``method="subset"`` with a ρ or with a level.

    Notes
    -----
    Missing values, infinities and the mechanism are as for :func:`modicum.query.expectile`. If
    the statistic says ``growth=0``, no record is clipped; otherwise those beyond two private bounds
    are.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Score
    >>> smooth = Score("smooth median", np.tanh, growth=0, width=3)
    >>> monotone_statistic("delay", statistic=smooth, within=(-1e9, 1e9), epsilon=1).statistic
    'monotone'
    """
    price = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    if statistic is None:
        raise InvalidArgument("statistic must be a modicum.Score or a modicum.Boundaries, got None")
    if method == "subset" and level is not None:
        raise InvalidArgument("method='subset' draws no interval: give level=None")
    row = method_of((MONOTONE, SUBSET), method)
    return asked(row, column, statistic, price, lattice, level)


COUNT_SHARE = Fraction(1, 50)  # of ε, from the half of the value
THRESHOLD_SHARE = Fraction(1, 4)
CELL_BITS = 9
MOST_KEPT = 1 << 22  # records at each end: 64 MB


@dataclass(frozen=True, slots=True)
class TrimPlan:
    """Public constants of one run, in records a side.

    Attributes
    ----------
    trimmed : int
        Deleted by rank.
    target : int
        Rank of a threshold.
    cap : int
        Largest loss of a threshold.
    """

    trimmed: int
    target: int
    cap: int

    @property
    def keep(self) -> int:
        """Records at each end from which both laws of thresholds follow."""
        return self.target + self.cap

    @classmethod
    def of(cls, lattice: Lattice, epsilon: Fraction) -> TrimPlan:
        """Compute them from the range's points and ε.

        Raises
        ------
        InvalidArgument
            If ε is so small that more than 4 million records a side would be kept.

        Examples
        --------
        >>> TrimPlan.of(Lattice.within((-1e9, 1e9)), Fraction(1)).trimmed
        3507
        """
        points = lattice.last - lattice.first + 1
        # 6R/(ηβ) with 2R = points steps, η = 1 / points.
        r = 32 / float(epsilon) * math.log(3 * points**2)
        rate = float(epsilon * THRESHOLD_SHARE) / 2
        target = math.ceil(7 * r / 4)
        plan = cls(
            math.ceil(3 * r / 2), target, max(target, math.ceil((math.log(points) + 60) / rate))
        )
        if plan.keep > MOST_KEPT:
            raise InvalidArgument(
                f"method='subset' with epsilon={float(epsilon):g} a row would keep {plan.keep:,} "
                "records a side; leave method out, or use a larger budget"
            )
        return plan


def _subset(
    column: str | None, lattice: Lattice | None, event: Event, options: LocationOption
) -> Steps[ScalarEstimate]:
    """Estimate a monotone statistic with the guarantee of Dick et al. 2023, Theorem 4.3.

    Raises
    ------
    InvalidArgument
        If the budget is not pure (the theorem is about pure ε), or too small.
    """
    if not isinstance(event, PureDP):
        raise InvalidArgument("method='subset' is for a pure budget: use epsilon=")
    lattice, statistic = ranged(lattice), options.statistic
    assert statistic is not None
    purse = open_purse(event)
    plan = TrimPlan.of(lattice, event.epsilon)
    counts, tails = yield from read_both(
        Read(column, lattice, Count()), Read(column, lattice, Tails(plan.keep))
    )
    counting = purse.noisy((counts.count,), sensitivity=1, share=COUNT_SHARE)
    (count,) = yield from draw("count", counting)  # [B1]

    def threshold(sign: int) -> Exponential[ThresholdScore]:
        if sign > 0:
            lowest, ends = tails.lowest(), (lattice.first, lattice.last)
        else:
            lowest, ends = -tails.highest()[::-1], (-lattice.last, -lattice.first)
        return purse.threshold(
            lowest, ends, target=plan.target, cap=plan.cap, share=THRESHOLD_SHARE
        )

    lo = yield from draw("low threshold", threshold(1), lattice.words)  # [B2]
    negated = yield from draw(  # [B3]
        "high threshold, negated", threshold(-1), lambda q: lattice.words(-q)
    )
    lo, hi = min(lo, -negated), max(lo, -negated)
    if lo == hi:  # there has to be something to choose from
        lo, hi = (lo, hi + 1) if hi < lattice.last else (lo - 1, hi)
    centre = (lo + hi) // 2
    cells = yield from read(
        Read(column, lattice, Cells(centre, cell_edges(lattice, centre, CELL_BITS)))
    )
    changes = max(1.0, max(1, count) * float(purse.range_for(None)))
    spacing = max(1, math.floor((hi - lo) / changes))
    candidates = Candidates.of(lo, hi, centre, flat=hi - lo, spacing=spacing)
    bounds = ClipBounds(lo, hi, None)
    scene = Scene(purse, lattice, statistic, cells, bounds, candidates, plan.trimmed)
    point, length_bound = yield from draw_value(scene, None)  # [B4]
    error_model = LocationErrorModel(
        lattice=lattice,
        name=statistic.name,
        growth=statistic.growth,
        width=statistic.width,
        point=point,
        ends=None,
        level=None,
        allowed=0.0,
        bounds=(lo, hi),
        outside=None,
        count=count,
        count_noise=NoisyTerm(counting.noise[0], 1.0),
        length_bound=length_bound,
        has_centre=True,
        trimmed=plan.trimmed,
    )
    return ScalarEstimate(error_model.value, error_model, error_model.status)


def _cubic(v: NDArray[np.float64]) -> NDArray[np.float64]:
    return v**3


MONOTONE: Row[LocationOption, Release] = Row(
    "monotone_statistic",
    "inverse-sensitivity",
    ("pure", "zcdp", "approx"),
    True,
    cases_of(Score("cubic", _cubic, growth=3, homogeneous=True)),
    "locations",
    "any monotone statistic, by its score or its level boundaries",
    location,
)
SUBSET: Row[LocationOption, Release] = Row(
    "monotone_statistic",
    "subset",
    ("pure",),
    True,
    (LocationOption(expectile_score(0.5), None),),
    "locations",
    "any monotone statistic with the subset-optimality theorem of Dick et al. 2023",
    _subset,
)
