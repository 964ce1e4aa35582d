"""The part on ordinary columns runs, and its targets see an estimator that is wrong."""

import numpy as np
import pytest

from benchmarks.kinds import ORDINARY, WIDE, rare, real_tables
from benchmarks.ordinary import Effort, ordinary
from benchmarks.outcomes import Outcomes, Seen, released
from benchmarks.targets import Target

SMALL = Effort(2, 2, (100, 1000), (1000,), records=(600,), only=("0/1, 30 %", "one value"))
STRICT = Effort(8, 8, (100, 1000), (1000,), records=(600,), only=("0/1, 30 %", "90 % zeros"))


def _lost(question, x, seed) -> Seen:
    """The default loses the rarer value, and says "ok"; known bounds do not."""
    if question.method == "bounded":
        return released(question, x, seed)
    return Seen(1e-13, -2e-13, 4e-13, "ok")


def _unsure(question, x, seed) -> Seen:
    return _lost(question, x, seed)._replace(code="few_records")


def _right(question, x, seed) -> Seen:
    """The default knows the truth; known bounds do not."""
    if question.method == "bounded":
        return released(question, x, seed)
    statistic = "max" if question.statistic == "max" else question.statistic
    truth = float(getattr(x, statistic)())
    return Seen(truth, truth, truth, "ok")


def _states(targets: list[Target]) -> dict[str, str]:
    return {target.name: target.state for target in targets}


def test_the_part_runs() -> None:
    """Two releases tell nothing of errors, but nothing that says "ok" is far off."""
    text, targets = ordinary(SMALL)
    states = _states(targets)
    assert text.count("| one value") == 4
    assert text.count("| 0/1, 30 %") == 2 + 2 + 1 + 4
    assert len(states) == 2 + 1 + 1 + 1
    assert {state for name, state in states.items() if "half-widths" in name} == {"reached"}


def test_right_answers_miss_no_target() -> None:
    states = _states(ordinary(STRICT, _right)[1])
    assert "MISSED" not in states.values()
    assert {state for name, state in states.items() if "rows" not in name} == {"reached"}


def test_wrong_answers_that_say_ok_miss_every_target() -> None:
    states = _states(ordinary(STRICT, _lost)[1])
    assert set(states.values()) == {"MISSED"}
    assert len(states) == 2 + 1 + 2 + 1


def test_wrong_answers_that_say_so_miss_the_targets_of_accuracy_only() -> None:
    states = _states(ordinary(STRICT, _unsure)[1])
    reached = {name for name, state in states.items() if state == "reached"}
    assert reached == {name for name in states if "misses" in name}


@pytest.mark.parametrize("kind", [*ORDINARY, *WIDE, *map(rare, (0.02, 0.5)), *real_tables()])
def test_kinds_are_seeded_and_within_their_range(kind) -> None:
    x = kind.sample(1000, 3)
    assert (x == kind.sample(1000, 3)).all()
    assert x.shape == (1000,)
    assert kind.within[0] <= x.min() <= x.max() <= kind.within[1]


def test_outcomes_of_known_releases() -> None:
    """Held; a miss by two half-widths; by twenty and "ok"; by twenty and not "ok"."""
    seen = [
        Seen(10, 9, 11, "ok"),
        Seen(12, 11, 13, "heavy_tail"),
        Seen(30, 29, 31, "ok"),
        Seen(30, 29, 31, "few_records"),
    ]
    found = Outcomes.of(seen, [10.0] * 4)
    assert found.cells() == ["0.25", "0.50", "0.75", "1"]
    assert found.errors.tolist() == [0, 2, 20, 20]
    assert found.relative.tolist() == [0, 0.2, 2, 2]
    assert found.unsaid == 0.75
    assert Outcomes.of(seen[1:2] * 3, [10.0] * 3).unsaid == 0


def test_the_ratio_is_of_medians_with_its_uncertainty() -> None:
    rng = np.random.default_rng(5)

    def of(scale: float) -> Outcomes:
        errors = scale * rng.exponential(size=4000)
        return Outcomes.of([Seen(e, 0, 0, "ok") for e in errors], [0.0] * 4000)

    ratio, below = of(2).ratio(of(1))
    assert ratio == pytest.approx(2, rel=0.1)
    assert 0.05 < below < 0.25
    assert of(0).ratio(of(0)) == (1, 0)
    assert of(1).ratio(of(0)) == (np.inf, 0)
