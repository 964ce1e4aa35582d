"""The comparison of small groups counts every group once."""

import numpy as np

from benchmarks.small_groups import QUICK, measured


def test_sizes_of_groups_and_their_errors() -> None:
    rng = np.random.default_rng(0)
    groups = [rng.lognormal(10, 1, n) for n in [5, 60, 150] * 12]
    found = measured("made up", groups, QUICK)
    assert [(size.rows, size.groups) for size in found] == [(1, 12), (30, 12), (100, 12)]
    assert all(0 < size.ratio < 30 and 0.8 < size.covered <= 1 for size in found)
    assert len(found[0].row) == 9
