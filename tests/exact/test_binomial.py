"""Binomial(n, 2^-k): small laws exactly, large ones by quantile cells."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum.errors import InvalidArgument
from modicum.exact.binomial import _block_width, _ratio, binomial_pow2
from modicum.exact.entropy import SeededEntropy
from tests.exact.goodness import ACCEPT, REJECT, p_value

SMALL = [(1, 1), (2, 1), (5, 3), (40, 1), (100, 2), (1000, 5), (300, 9)]


def mechanism(n: int, k: int, factor: float = 1.0) -> dict[int, float]:
    values = np.arange(n + 1)
    return dict(enumerate(stats.binom.pmf(values, n, factor * 2.0**-k).tolist()))


@pytest.mark.parametrize(("n", "k"), SMALL)
def test_small(n, k) -> None:
    entropy = SeededEntropy("binomial")
    draws = [binomial_pow2(n, k, entropy) for _ in range(10_000)]
    assert set(draws) <= set(range(n + 1))
    assert p_value(draws, mechanism(n, k)) > ACCEPT
    assert p_value(draws, mechanism(n, k, 0.7)) < REJECT


@pytest.mark.parametrize(("n", "k"), [(10**6, 4), (10**9, 15), (10**12, 26)])
def test_large(n, k) -> None:
    entropy = SeededEntropy("large")
    draws = np.array([binomial_pow2(n, k, entropy) for _ in range(300)])
    for factor, good in [(1.0, True), (1.3, False)]:
        spread = stats.binom(n, 2.0**-k).std() * factor
        edges = n * 2.0**-k + spread * stats.norm.ppf(np.arange(1, 10) / 10)
        probabilities = np.diff(stats.binom(n, 2.0**-k).cdf(np.r_[-1, np.floor(edges), n]))
        if not good:
            probabilities = np.full(10, 0.1)
        cells = Counter(np.searchsorted(edges, draws).tolist())
        observed = [cells[i] for i in range(10)]
        assert (stats.chisquare(observed, 300 * probabilities).pvalue > ACCEPT) == good


@pytest.mark.parametrize(("n", "k"), [*SMALL, (0, 1), (7, 40)])
def test_the_blocks_cover_the_law(n, k) -> None:
    """[samplers.14]: no acceptance probability is above 1; [samplers.15]: the ratios are exact."""
    mode = (n + 1) >> k
    p = Fraction(1, 2**k)
    row = [Fraction(1)]
    for j in range(n):  # f(j + 1)/f(j) = (n - j) p / ((j + 1)(1 - p))
        row.append(row[-1] * (n - j) * p / ((j + 1) * (1 - p)))
    width = _block_width(n, k, mode)
    assert row[mode] == max(row)
    for j in range(-2, min(n, 60) + 3):
        top, bottom = _ratio(n, k, mode, j - mode)
        assert Fraction(top, bottom) == (row[j] / row[mode] if 0 <= j <= n else 0)
        distance = j - mode if j >= mode else mode - 1 - j
        assert top << (distance // width) <= bottom


def test_edges() -> None:
    entropy = SeededEntropy(0)
    assert [binomial_pow2(0, k, entropy) for k in (0, 1, 30)] == [0, 0, 0]
    assert binomial_pow2(10**30, 0, entropy) == 10**30
    assert binomial_pow2(10, 200, entropy) == 0


@pytest.mark.parametrize(("n", "k"), [(-1, 3), (3, -1)])
def test_refuses_negative_arguments(n, k) -> None:
    with pytest.raises(InvalidArgument, match="at least 0"):
        binomial_pow2(n, k, SeededEntropy(0))
