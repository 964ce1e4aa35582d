"""The last step of a mean vector: the clipped sum about a centre, and the number of rows."""

from __future__ import annotations

from modicum.array_release import ArrayAnswer, Axis
from modicum.runtime.steps import Steps, draw, need
from modicum.statistics.vector_ball import Ball
from modicum.statistics.vector_evidence import VectorEvidence
from modicum.statistics.vector_rounds import VectorSetting
from modicum.statistics.vector_share import count_share
from modicum.summaries.base import Columns
from modicum.summaries.vectors import ClippedVectors, VectorFrame

__all__ = ["answer_of", "last_sum"]


def last_sum(
    here: VectorSetting, frame: VectorFrame, ball: Ball, width: int, *, near: int
) -> Steps[VectorEvidence]:
    """Spend all that is left on the sum of rows clipped to a radius [M5], and their number [M6].

    Parameters
    ----------
    here : VectorSetting
    frame : VectorFrame
    ball : Ball
    width : int
        Number of components.
    near : int
        As for :func:`~modicum.statistics.vector_share.count_share`.
    """
    purse, asked = here.purse, ClippedVectors(frame, ball.radius)
    summary = yield from need(here.ask(asked))
    share = (1 - here.spent) * (1 - count_share(width, near, here.power))
    law = here.noisy(summary.totals, share)
    sums = yield from draw("sum", law)
    counting = purse.noisy((summary.count,), sensitivity=1, share=None)
    (rows,) = yield from draw("rows", counting)
    return VectorEvidence(
        lattice=here.lattice,
        centre=frame.centre * (width // len(frame.centre)),
        gains=asked.scaled.gains * (width // len(frame.gains)),
        sums=sums,
        noise=law.noise[0],
        rows=rows,
        rows_noise=counting.noise[0],
        outside=ball.outside,
        outside_noise=ball.noise,
        most_outside=ball.most,
        seen=ball.seen,
    )


def answer_of(columns: Columns, evidence: VectorEvidence) -> ArrayAnswer:
    """Return the means with the names of the columns, or the numbers of the components."""
    if columns.names is None:
        axis = Axis.of(component=tuple(float(place) for place in range(len(evidence.sums))))
    else:
        axis = Axis.of(column=columns.names)
    return ArrayAnswer(evidence.values, (axis,), evidence, evidence.status)
