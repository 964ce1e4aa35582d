"""Regressions of many columns explain no less of more rows."""

from itertools import pairwise

import pytest

from benchmarks import many_columns
from benchmarks.targets import Target


@pytest.mark.slow
def test_more_rows_explain_no_less() -> None:
    # A fit of products of columns, where lists serve, explained half as much from 2^15 rows on.
    cells = [many_columns.measure("correlated", n, 30, 2) for n in (10_000, 30_000, 50_000)]
    assert all(more.mean > fewer.mean - 0.05 for fewer, more in pairwise(cells))
    assert cells[-1].mean > 0.85 * cells[-1].least_squares


def test_the_table_and_its_targets() -> None:
    text, targets = many_columns.many_columns(
        many_columns.Effort((2,), (500, 2000), ("normal",), 2)
    )
    assert text.count("| normal") == 2
    (target,) = targets
    assert isinstance(target, Target)
    assert -1 < target.measured < 1
    assert target.margin > 0
