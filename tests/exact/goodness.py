"""Chi-square tests of integer draws against an exact law, and what they can detect."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from scipy import stats

ACCEPT = 1e-4
REJECT = 1e-9


def p_value(draws: Iterable[int], mechanism: Mapping[int, float]) -> float:
    """p-value of Pearson's test; outcomes of expectation below 8 are one cell, or ignored.

    They are ignored if they are expected less than 8 times together, unless they come 40 times.
    """
    counts = Counter(draws)
    n = counts.total()
    cells = {k: p for k, p in mechanism.items() if n * p >= 8}
    observed = [counts[k] for k in cells]
    expected = [n * p for p in cells.values()]
    rest = n - sum(expected)
    if rest >= 8:
        observed.append(n - sum(observed))
        expected.append(rest)
    elif n - sum(observed) > 40:
        return 0.0
    if len(cells) + (rest >= 8) == 1:
        return 1.0
    observed_array, expected_array = np.array(observed, float), np.array(expected)
    expected_array *= observed_array.sum() / expected_array.sum()
    return float(stats.chisquare(observed_array, expected_array).pvalue)


def normalised(weights: Mapping[int, float]) -> dict[int, float]:
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}
