"""Any monotone statistic that a user supplies, in two ways.

By the inverse sensitivity mechanism of :mod:`modicum.statistics.robust.location`, or with
``method="subset"`` by Algorithm 4 of Dick, Kulesza, Sun and Suresh 2023, corrected
(:mod:`modicum.research.papers.dick2023`). docs/research/proofs/locations.md has the proofs.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.releases.release import Release
from modicum.research.papers.dick2023 import SUBSET_MONOTONE
from modicum.runtime.query import Query
from modicum.statistics import spec, texts
from modicum.statistics.robust import inverse_sensitivity
from modicum.statistics.robust.location import cases_of, location
from modicum.statistics.robust.monotone_statistic import MonotoneStatistic, Score, true_location


@texts.documented
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
    """Ask for a statistic supplied by you that never falls when a record is raised.

    Parameters
    ----------
    {column}
    statistic : Score or Boundaries
        Either a :class:`modicum.Score`: a function ψ, and the statistic is the t at which the sum
        of ψ(x - t) over the records is 0. Privacy does not depend on ψ: it is tabulated, and a
        table that falls somewhere is made level there. Or an instance of a subclass of
        :class:`modicum.Boundaries`: how low and how high k changed records can bring the
        statistic. Privacy depends on those being right.
    {within}
    {cost}
    {step}
    {level}
        The ends take a fifth of the cost.
    method : {"inverse-sensitivity", "subset"}
        ``"subset"`` is Algorithm 4 of Dick, Kulesza, Sun and Suresh 2023, corrected, with the
        constants of its theorem: thousands of records are left out on each side. It is for a pure
        ε and draws no interval: give ``level=None``.

    {returns}
        With boundaries supplied by you it holds if they keep their promise.

    {raises}
        If level is out of range; if the statistic fails at public points: a ψ that is not finite,
        not 0 at 0 or falls, boundaries that break their promise for a few records;
        ``method="subset"`` with a ρ or with a level.

    Notes
    -----
    {missing}

    The mechanism is that of :func:`modicum.query.expectile`. If the statistic says ``growth=0``, no
    record is clipped; otherwise those beyond two private bounds are.

    Examples
    --------
    >>> import numpy as np
    >>> from modicum import Score
    >>> smooth = Score("smooth median", np.tanh, growth=0, width=3)
    >>> monotone_statistic("delay", statistic=smooth, within=(-1e9, 1e9), epsilon=1).statistic
    'monotone_statistic'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = Lattice.within(within, step)
    if statistic is None:
        raise InvalidArgument("statistic must be a modicum.Score or a modicum.Boundaries, got None")
    if method == "subset" and level is not None:
        raise InvalidArgument("method='subset' draws no interval: give level=None")
    row = spec.method_of((MONOTONE, SUBSET_MONOTONE), method)
    return inverse_sensitivity.asked(row, column, statistic, cost, lattice, level)


def _cubic(v: NDArray[np.float64]) -> NDArray[np.float64]:
    return v**3


MONOTONE: spec.Row[inverse_sensitivity.LocationOption, Release] = spec.Row(
    "monotone_statistic",
    "inverse-sensitivity",
    cases_of(Score("cubic", _cubic, growth=3, homogeneous=True)),
    "locations",
    "any monotone statistic, by its score or its level boundaries",
    location,
)


STATISTICS = (
    spec.Declaration(
        monotone_statistic,
        (MONOTONE, SUBSET_MONOTONE),
        spec.shows_between(
            "monotone_statistic",
            "statistic=modicum.Score('cube', lambda v: v**3, growth=3), within=(-1e9, 1e9), ",
            9500,
            10500,
        ),
        plan=spec.Planned(
            "your own statistic",
            """>>> import numpy as np
>>> from modicum import Score
>>> smooth = Score("smooth median", lambda v: np.tanh(v / 1e4), growth=0, width=3e4)
>>> found = monotone_statistic(statistic=smooth, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
>>> 1 < found.error < 100
True""",
            truth=true_location,
            slow=True,
            sampled=True,
            note="The synthetic data have it where the sum of a score is 0, or in the middle of "
            "level 0 of\nboundaries, which are asked for tables as large as planned.",
        ),
    ),
)
