"""The comparison of sums of groups of persons adds up every row once."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.person_sums import CURRENCIES, Pairs, measured

RNG = np.random.default_rng(0)
WHO = np.repeat(np.arange(2000), 3)
ROWS = pd.DataFrame(
    {"who": WHO, "g": RNG.integers(0, 12, len(WHO)), "x": RNG.lognormal(3, 0.5, len(WHO))}
)


@pytest.mark.parametrize("currency", CURRENCIES, ids=str)
@pytest.mark.parametrize("asked", ["rows", "sum"])
def test_errors_beside_hindsight(currency, asked) -> None:
    line = measured("made up", ROWS, asked, currency, 2)
    assert line.groups == 12
    assert line.best < line.bounded
    assert 0 < line.ours / line.best < 4
    assert line.covered > 0.9
    assert line.okay >= line.okay_alone
    assert len(line.row) == 10


def test_hindsight_of_rows_is_the_number_of_a_persons_rows() -> None:
    pairs = Pairs.of(ROWS, "rows")
    assert pairs.s.sum() == len(ROWS)
    assert 2.5 < pairs.best_limit(CURRENCIES[0]) < 3.5
