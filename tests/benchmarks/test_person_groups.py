"""The comparison of groups of persons counts every group once."""

import numpy as np
import pandas as pd

from benchmarks.person_groups import QUICK, measured


def test_sizes_of_groups_and_their_errors() -> None:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(2000), 3)
    x = rng.lognormal(3, 0.5, len(who))
    rows = pd.DataFrame({"who": who, "g": rng.integers(0, 31, len(who)), "x": x})
    (size,) = measured("made up", rows, QUICK)
    assert (size.persons, size.groups) == (100, 31)
    assert 0 < size.pooled / size.best < 5
    assert 0.9 < size.covered <= 1
    assert size.okay > size.okay_alone
    assert len(size.row) == 9
