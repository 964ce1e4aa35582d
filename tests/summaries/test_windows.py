"""Several windows around ranks: what sorting finds, in shared passes and in later ones."""

from fractions import Fraction

import numpy as np
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.summaries.held import summary_of_held
from modicum.summaries.window import RankWindow
from modicum.summaries.windows import RankWindows, WindowsSummary
from tests.summaries.test_window import HARD, LATTICE, Column, few_are_held

__all__ = ["few_are_held"]

WINDOWS = tuple(RankWindow(Fraction(i, 10), 4) for i in (1, 5, 6))
MANY = tuple(RankWindow(Fraction(i, 40), 2) for i in range(1, 40))


def check_windows(summary: WindowsSummary, q: np.ndarray) -> None:
    """Compare with sorted integers, at the windows and where another pass is needed."""
    ordered, n = np.sort(q), len(q)
    assert summary.count == n
    spans = [window.ranks(n) for window in WINDOWS]
    for start, stop in [*spans, (0, min(n, 5)), (n // 3, n // 3 + 20), (n, n + 5)]:
        values = np.unique(ordered[start:stop])
        before, upto = ordered.searchsorted(values), ordered.searchsorted(values, "right")
        got = summary.between(start, stop)
        assert got.values.tolist() == values.tolist()
        assert got.before.tolist() == before.tolist()
        assert got.ties.tolist() == (upto - before).tolist()
    for value in (0, 7, 123, 10**9):
        low, high = ordered.searchsorted(value), ordered.searchsorted(value, "right")
        assert summary.place(value) == (low, high - low)


@pytest.mark.parametrize("windows", [WINDOWS, MANY], ids=["few", "many"])
@pytest.mark.parametrize("fetch", [False, True])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.usefixtures("few_are_held")
def test_they_are_what_sorting_finds(name, fetch, windows) -> None:
    q = LATTICE.quantise(HARD[name][~np.isnan(HARD[name])])
    data = Column(np.split(HARD[name], [1, 700, 701]), SeededEntropy(2), fetch=fetch)
    accumulator = RankWindows(windows).begin(LATTICE, data)
    data.feed(accumulator)
    check_windows(accumulator.finish(), q)
    assert data.passes < 20


@pytest.mark.parametrize("name", HARD)
def test_held_records_need_no_pass(name) -> None:
    q = np.sort(LATTICE.quantise(HARD[name][~np.isnan(HARD[name])]))
    check_windows(summary_of_held(RankWindows(WINDOWS), LATTICE, q), q)


def test_windows_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="at least one window"):
        RankWindows(())
    with pytest.raises(InvalidArgument, match="range"):
        RankWindows(WINDOWS).begin(None)
