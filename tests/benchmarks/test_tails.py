"""The benchmark of default intervals tells a miss with a warning from one without."""

from dataclasses import dataclass
from fractions import Fraction

from benchmarks.tails import QUICK, Seen, measure
from modicum.releases.release import Interval, ScalarEstimate
from modicum.releases.status import Status


@dataclass(frozen=True)
class Fixed:
    """An interval from 0 to 1, whatever the tail."""

    condition: str = ""

    def interval(self, level: float, tail: float | None) -> Interval:
        return Interval(0.0, 1.0)

    def assumption(self, tail: float | None) -> str:
        return ""

    def to_dict(self) -> dict[str, object]:
        return {}


def test_misses_without_a_warning_are_counted() -> None:
    seen = Seen("mean", "made up")
    for code in ("ok", "heavy_tail", "few_records"):
        for truth in (0.5, 7.0):
            seen.add(ScalarEstimate(Fraction(0), Fixed(), Status(code, "")), truth)
    assert (seen.unwarned, seen.lost) == (1 / 4, 2)
    assert seen.of_code("ok", seen.held) == [1.0, 0.0]
    assert seen.wider == [1.0] * 4


def test_a_quick_run_has_releases() -> None:
    seen = measure("sum", "Zipf 1.5", QUICK)
    assert len(seen.codes) + seen.lost == QUICK.tables * len(QUICK.sizes)
    assert len(seen.row) == 12
