"""Poisson subsamples of positions: each is in with probability 2^-k, whatever the others."""

import numpy as np
import pytest
from scipy import stats

from modicum.exact.entropy import SeededEntropy
from modicum.summaries import subsample

DRAWS = 20_000


def chance_of_sets(size: int, k: int, rate: float) -> float:
    """P-value of the drawn sets, if each position were in with probability ``rate``."""
    entropy = SeededEntropy(f"{size} {k}")
    seen = np.zeros(1 << size)
    for _ in range(DRAWS):
        seen[int((1 << subsample.members(size, k, entropy)).sum())] += 1
    ones = np.array([each.bit_count() for each in range(1 << size)])
    expected = DRAWS * rate**ones * (1 - rate) ** (size - ones)
    few = expected < 5
    merged = [np.append(each[~few], each[few].sum()) for each in (seen, expected)]
    kept = merged[1] > 0
    return float(stats.chisquare(merged[0][kept], merged[1][kept]).pvalue)


@pytest.mark.parametrize("coined", [True, False], ids=["coins", "positions"])
@pytest.mark.parametrize("wide", [False, True], ids=["half words", "words"])
@pytest.mark.parametrize(("size", "k"), [(5, 1), (5, 2), (4, 3)])
def test_all_sets_have_their_probability(monkeypatch, coined, wide, size, k) -> None:
    if coined and wide:
        pytest.skip("coins have no positions")
    if not coined:
        monkeypatch.setattr(subsample, "_COINED", {})
    if wide:
        monkeypatch.setattr(subsample, "_SHORT", 0)
    assert chance_of_sets(size, k, 2.0**-k) > 1e-4
    assert chance_of_sets(size, k, 1.3 * 2.0**-k) < 1e-12


def test_any_size_at_any_level() -> None:
    entropy = SeededEntropy("sizes")
    for size in (0, 1, 2, 7, 8, 9, (1 << 13) - 1, (1 << 13) + 1):
        for k in range(24):
            chosen = subsample.members(size, k, entropy)
            assert (np.diff(chosen) > 0).all()
            assert len(chosen) == 0 or 0 <= chosen[0] <= chosen[-1] < size
