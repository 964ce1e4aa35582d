"""The part on columns of real tables tells a miss without a warning."""

import numpy as np

from benchmarks.real import QUICK, measured, released


def test_one_record_far_away_decides_a_mean_and_no_median() -> None:
    x = np.append(np.random.default_rng(1).normal(100, 1, 30_000), 1e5)
    mean, median = (released(each, "made up", "x", x, 3) for each in ("mean", "median"))
    assert (mean.okay, mean.missed, mean.often) == (3, 3, True)
    assert (median.okay, median.missed, median.often) == (3, 0, False)


def test_a_table_has_both_statistics_of_its_columns() -> None:
    found = measured(*QUICK.packages, "nassCDS", 1)
    assert {each.statistic for each in found} == {"mean", "median"}
    assert len({each.name for each in found}) * 2 == len(found)
