"""Far rows against their definition; what one row adds; merging and bytes."""

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.summaries.second_moments import WHOLE, FarCounts, RowTotals, Scaling

LATTICE = Lattice(-(2.0**20), 2.0**20, 1.0)
SCALING = Scaling((100, -50, 0), (3, 0, 10))
RNG = np.random.default_rng(5)
X = np.concatenate([RNG.normal([100, -50, 0], [30, 4, 4000], (200, 3)).round(), [[164, -58, 8192]]])


def counts(x: np.ndarray) -> RowTotals:
    asked = FarCounts(SCALING).begin(LATTICE)
    for start in range(0, len(x), 37):
        asked.update(x[start : start + 37])
    return asked.finish()


def test_counts_are_those_of_the_definition() -> None:
    expected = np.zeros(3, dtype=int)
    for row in X:
        far = [
            abs(value - centre) >= 8 * 2**shift
            for value, centre, shift in zip(row, SCALING.centres, SCALING.shifts, strict=True)
        ]
        expected += [WHOLE // max(sum(far), 1) * each for each in far]
    assert list(counts(X).totals) == expected.tolist()
    assert (expected > 0).all()


def test_a_row_adds_no_more_than_one() -> None:
    for row in X:
        assert sum(counts(row[None, :]).totals) <= WHOLE
    assert counts(X[-1:]).totals == (WHOLE // 3,) * 3


def test_halves_merge_and_bytes_are_kept() -> None:
    merged = counts(X[:80]).merge(counts(X[80:]))
    assert RowTotals.from_bytes(merged.to_bytes()) == counts(X)
