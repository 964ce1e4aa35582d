"""The mean of vectors, with noise on the scale of the rows' own spread, in each component.

[M1] count    a noisy number of rows, which divides the budget;
[M2] radius   few rows outside, drawn before every sum;
[M3] step     a centre, moved by clipped means whose noise shrinks with the radius;
[M4] sizes    noisy mean sizes, by which components are weighed;
[M5] sum      the clipped sum about the centre, with nearly all of the budget;
[M6] rows     the numbers of rows, and of those outside the last radius;
[M7] again    if these are too many, a second search for a radius.

In zCDP rows are clipped in L2 norm, sizes are squares, and noise is Gaussian; in pure ε they are
clipped in L1 norm, sizes are absolute values, and noise is Laplace. docs/proofs/mean_vector.md has
the proof.
"""

from __future__ import annotations

from modicum.array_release import ArrayAnswer
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps, draw
from modicum.statistics.purses import open_purse
from modicum.statistics.vector_ball import last_ball
from modicum.statistics.vector_rounds import VectorSetting, find_scales, first_norms, locate
from modicum.statistics.vector_schedule import VectorSchedule, shares_of
from modicum.statistics.vector_share import NEAR
from modicum.statistics.vector_sum import answer_of, last_sum
from modicum.summaries.base import Columns

__all__ = ["adaptive_mean_vector"]


def adaptive_mean_vector(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayAnswer]:
    """Estimate the mean of every component.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
        For all components.
    event : Event
        Total cost for one row; the draws add up to exactly this.
    """
    here = VectorSetting(columns, lattice, open_purse(event))
    norms = yield from first_norms(here)

    counting = here.purse.noisy(
        (norms.count,), sensitivity=1, share=shares_of(here.purse).count
    )  # [M1]
    (n0,) = yield from draw("count", counting)
    schedule = VectorSchedule.of(here.purse, n0, norms.width)
    found = yield from locate(here, schedule, norms)
    if norms.width > 1:
        found = yield from find_scales(here, schedule, found)
    ball = yield from last_ball(here, schedule, found)  # [M2] [M6] [M7]
    evidence = yield from last_sum(here, found.frame, ball, norms.width, near=NEAR)
    return answer_of(columns, evidence)
