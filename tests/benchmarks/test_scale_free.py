"""The part without a range runs, and its targets see answers that follow the scale badly."""

import numpy as np

from benchmarks.outcomes import Seen, released
from benchmarks.scale_free import Effort, scale_free

SMALL = Effort(3, (10_000,), only=("N(0,1)", "Bernoulli 0.3"))


def _coarse(question, x, seed) -> Seen:
    """Without a range, an answer on a fixed step that is too wide for small data."""
    if not question.finds_range:
        return released(question, x, seed)
    value = float(np.round(getattr(np, question.statistic)(x) / 1e-3) * 1e-3)
    return Seen(value, value, value, "ok")


def test_the_part_runs() -> None:
    text, targets = scale_free(SMALL)
    assert text.count("| N(0,1)") == 2
    assert [target.measured for target in targets if "half-widths" in target.name] == [0]


def test_an_answer_that_is_lost_at_small_scales_misses() -> None:
    _, targets = scale_free(SMALL, _coarse)
    states = {target.name: target.state for target in targets}
    name = "no range, mean: error over the scale, the worst scale to scale 1"
    assert states[name] == "MISSED"
    assert any(state == "MISSED" for name, state in states.items() if "half-widths" in name)
