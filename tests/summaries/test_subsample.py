"""Poisson subsamples of positions: each is in with probability 2^-k, whatever the others."""

import numpy as np
import pytest

from modicum.exact.entropy import SeededEntropy
from modicum.summaries import subsample
from tests.exact.goodness import p_value

DRAWS = 20_000


def chance_of_sets(size: int, k: int, rate: float) -> float:
    """P-value of the drawn sets, if each position were in with probability ``rate``."""
    entropy = SeededEntropy(f"{size} {k}")
    drawn = [int((1 << subsample.members(size, k, entropy)).sum()) for _ in range(DRAWS)]
    ones = [each.bit_count() for each in range(1 << size)]
    return p_value(drawn, {i: rate**n * (1 - rate) ** (size - n) for i, n in enumerate(ones)})


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
