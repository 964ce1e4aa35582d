"""An example of every law and of every score, as a function of the records."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from modicum.mechanisms.additive import VectorNoise
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.mechanisms.partition_selection import KeySelection
from modicum.mechanisms.staircase import staircase
from modicum.mechanisms.window_response import Window, WindowResponse
from modicum.privacy.event import RangeDP
from tests.audit.cases import LAWS, LawOf
from tests.mechanisms.test_joint_quantiles import THIRDS
from tests.mechanisms.test_joint_quantiles import law_of as joint_of
from tests.mechanisms.test_quantile_tree import THIRDS as TERTILES
from tests.mechanisms.test_quantile_tree import law_of as tree_of

FOUR = Fraction(4)  # so little noise that all outcomes can be listed


def _at_four(of: LawOf) -> LawOf:
    return lambda q, _: of(q, FOUR)


EXAMPLES: dict[str, LawOf] = {name: _at_four(of) for name, of in LAWS.items()} | {
    "staircase of a pair": lambda q, _: staircase((len(q), int((q > 0).sum())), l1=2, epsilon=FOUR),
    "vector": lambda q, e: VectorNoise((int(q.sum()), len(q)), 5, e / 2),
    "ball": lambda q, e: RadialMechanism((int(q.sum()),), (1, len(q)), 8, 1, e, RangeDP(e)),
    "ball in a plane": lambda q, e: RadialMechanism(
        (int(q.sum()), len(q)), (1, 2), 2, 2, 4 * e, RangeDP(4 * e), signless=True
    ),
    "quantile tree": lambda q, _: tree_of(tuple((q % 3).tolist()), TERTILES),
    "joint quantiles": lambda q, _: joint_of(tuple((q % 3).tolist()), THIRDS),
    "keys": lambda q, e: KeySelection(Counter(q.tolist()), e, Fraction(1, 100)),
    "window": lambda q, e: WindowResponse(Fraction(len(q), 2) % 5, Window(5, 2, e)),
}

# What transcripts call a law and its parameters, in this order.
WRITTEN: dict[str, str] = {
    "Additive": "noise stated",
    "VectorNoise": "bound rho",
    "Staircase": "l1 width epsilon",
    "RankLaw": "first last q shift cap epsilon prior",
    "EndsLaw": "q shift reach near epsilon",
    "TopLaw": "first last prior epsilon",
    "RankThreshold": "first last target cap epsilon",
    "MedianCentre": "grid first last epsilon",
    "BeyondTarget": "target epsilon",
    "Reach": "target epsilon tilt unit",
    "MedianCell": "epsilon",
    "TopCell": "tilts near epsilon",
    "LeastLoss": "most first epsilon",
    "IntervalDraw": "grid epsilon doubt",
    "WindowDraw": "grid spare sized least epsilon lattice",
    "LevelLaw": "first last epsilon",
    "LinearLevelMechanism": "first last epsilon stated",
    "RadiusDraw": "grid epsilon tilt selection",
    "RadiusRanks": "centre grid targets tilts epsilon",
    "Subsampled": "mechanism level stated",
    "NestedQuantiles": "first last fine nodes",
    "JointQuantiles": "first last fine terms epsilon stated warp",
    "KeySelection": "epsilon delta",
    "RadialMechanism": "largest norm epsilon stated signless",
    "WindowResponse": "window",
}
