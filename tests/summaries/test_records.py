"""Secret subsamples: exactly Poisson from memory, fetched rows and passing rows, drawn once."""

import os
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from modicum.errors import CopyRefused, InvalidArgument
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.summaries import subsample
from modicum.summaries.subsample import Records, RecordSummary, distinct_positions, kept_level
from tests.exact.goodness import ACCEPT, REJECT, p_value
from tests.summaries.cases import NAN, reduce

LATTICE = Lattice.within((0.0, 1e9), step=1.0)


class Column:
    """A column as reductions see it: rows that can be fetched, or chunks that pass."""

    def __init__(self, chunks: list[NDArray[np.float64]], entropy: Entropy, *, fetch: bool) -> None:
        self.chunks = chunks
        self.entropy = entropy
        self.fetch = fetch
        self.passes = 0

    @property
    def fetchable(self) -> "Column | None":
        return self if self.fetch else None

    @property
    def size(self) -> int:
        return sum(map(len, self.chunks))

    def take(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        assert np.all(np.diff(positions) > 0)
        return np.concatenate(self.chunks)[positions]

    def feed(self, accumulator) -> None:
        self.passes += 1
        for chunk in self.chunks:
            accumulator.update(chunk)

    def read(self, subsamples: int = 1) -> RecordSummary:
        accumulator = Records(subsamples).begin(LATTICE, self)
        if accumulator.reads:
            self.feed(accumulator)
        return accumulator.finish()


def column(values: list[float], entropy: Entropy, *, fetch: bool, cuts=(1, 4)) -> Column:
    return Column(np.split(np.array(values), cuts), entropy, fetch=fetch)


def subset_law(rows: int, rate: float) -> dict[int, float]:
    """Probability of every set of rows, as a bit mask."""
    return {
        sum(1 << i for i in chosen): rate**size * (1 - rate) ** (rows - size)
        for size in range(rows + 1)
        for chosen in combinations(range(rows), size)
    }


def mask(q: NDArray[np.int64]) -> int:
    assert len(set(q.tolist())) == len(q)
    return sum(1 << int(each) for each in q)


@pytest.fixture
def early_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are forgotten after 3 and 5 records, not 2^15 and 2^16; 4 or 8 are drawn ahead."""
    monkeypatch.setattr(subsample, "FEW", 1)
    monkeypatch.setattr(
        subsample, "kept_level", lambda records: int(records > 2) + int(records > 4)
    )


@pytest.mark.parametrize(("size", "count"), [(5, 0), (5, 1), (5, 2), (5, 3), (5, 5), (6, 3)])
def test_sets_of_positions_are_equally_likely(size: int, count: int) -> None:
    entropy = SeededEntropy(size * 10 + count)
    sets = list(combinations(range(size), count))
    drawn = [tuple(distinct_positions(size, count, entropy).tolist()) for _ in range(4000)]
    numbers = {each: i for i, each in enumerate(sets)}
    mechanism = dict.fromkeys(range(len(sets)), 1 / len(sets))
    assert p_value([numbers[each] for each in drawn], mechanism) > ACCEPT


@pytest.mark.parametrize(
    ("size", "count"),
    [(10**12, 50_000), (2**32 + 1, 9000), (2**32, 9000), (70_000, 40_000), (2, 1), (1, 1), (0, 0)],
)
def test_positions_are_distinct_and_increase(size: int, count: int) -> None:
    positions = distinct_positions(size, count, SeededEntropy(0))
    assert len(positions) == count
    assert np.all(np.diff(positions) > 0)
    assert positions.dtype == np.int64
    if count:
        assert 0 <= positions[0] <= positions[-1] < size


@pytest.mark.parametrize("coins", [0, 8])  # rows that may be given them
@pytest.mark.parametrize("kind", ["held", "fetched", "passing"])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.usefixtures("early_levels")
@pytest.mark.one_in(3)
def test_every_set_of_rows_has_its_probability(
    kind: str, k: int, coins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subsample, "_COINED", dict.fromkeys((1, 2), coins))
    entropy = SeededEntropy(f"{kind} {k} {coins}")
    values = [0.0, 1.0, 2.0, NAN, 3.0, 4.0]
    draws = []
    rereads = 0
    for _ in range(3000):
        data = column(values, entropy, fetch=kind == "fetched")
        records = reduce(Records(), LATTICE, [values]) if kind == "held" else data.read()
        draws.append(mask(records.thin(k, entropy)))
        rereads += data.passes - (kind == "passing")
    # Only rows that passed, and below the kept level, have to be read again.
    assert rereads == (3000 if (kind, k) == ("passing", 1) else 0)
    assert p_value(draws, subset_law(5, 2.0**-k)) > ACCEPT
    # A rate 30 % off is noticed, and so are pairs of rows that share their coin.
    assert p_value(draws, subset_law(5, 0.7 * 2.0**-k)) < REJECT
    shared = [each & 0b11100 | (each & 1) * 3 for each in draws]
    assert p_value(shared, subset_law(5, 2.0**-k)) < REJECT


@pytest.mark.parametrize("kept", [1, 2])
@pytest.mark.usefixtures("early_levels")
def test_a_second_subsample_is_a_fresh_one(kept: int) -> None:
    entropy = SeededEntropy(3 + kept)
    pairs = []
    for _ in range(2500):
        data = column([0.0, 1.0, 2.0, 3.0, 4.0], entropy, fetch=False)
        records = data.read(kept)
        assert data.passes == 1
        first, second = (mask(records.thin(2, entropy)) & 1 for _ in range(2))
        assert data.passes == 3 - kept
        pairs.append(2 * first + second)
    mechanism = {0: 9 / 16, 1: 3 / 16, 2: 3 / 16, 3: 1 / 16}
    assert p_value(pairs, mechanism) > ACCEPT
    assert (
        p_value([3 * (each >> 1) for each in pairs], mechanism) < REJECT
    )  # if it were the same one


@pytest.mark.parametrize("fetch", [False, True])
def test_all_records(fetch: bool) -> None:
    entropy = SeededEntropy(0)
    data = column([7.0, NAN, 9.0, 1e300, -5.0], entropy, fetch=fetch)
    records = data.read()
    assert data.passes == (not fetch)
    expected = [0, 7, 9, 10**9]
    assert sorted(records.all().tolist()) == expected
    assert sorted(records.thin(0, entropy).tolist()) == expected
    assert sorted(records.thin(0, entropy).tolist()) == expected
    assert data.passes == (not fetch)
    records.thin(3, entropy)
    assert sorted(records.all().tolist()) == expected


def test_a_forked_child_draws_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    entropy = SeededEntropy(5)
    data = column([1.0, 2.0, 3.0, 4.0, 5.0], entropy, fetch=False)
    records = data.read()
    monkeypatch.setattr(subsample.os, "getpid", os.getppid)
    records.thin(1, entropy)
    assert data.passes == 2


def test_long_streams_keep_few_rows() -> None:
    entropy = SeededEntropy(9)
    rows, size = 3_000_000, 50_000
    chunks = [np.arange(i, i + size, dtype=np.float64) for i in range(0, rows, size)]
    chunks[10] = np.full(size, NAN)
    data = Column(chunks, entropy, fetch=False)
    records = data.read()
    level = kept_level(rows - size)
    (kept,) = records._pool._chosen
    mean = (rows - size) / 2**level
    assert abs(len(kept) - mean) < 6 * mean**0.5
    thinned = records.thin(level + 4, entropy)
    assert data.passes == 1
    assert abs(len(thinned) - mean / 16) < 6 * (mean / 16) ** 0.5
    assert len(np.unique(thinned)) == len(thinned)
    # Rows of every part of the stream are as likely as others.
    tenths = Counter((thinned // 300_000).tolist())
    mechanism = {i: (250_000 if i == 1 else 300_000) / (rows - size) for i in range(10)}
    assert p_value(tenths.elements(), mechanism) > ACCEPT


def test_large_arrays_are_sampled_by_position() -> None:
    entropy = SeededEntropy(11)
    data = Column([np.arange(10.0**6)], entropy, fetch=True)
    sizes = [len(data.read().thin(6, entropy)) for _ in range(20)]
    assert data.passes == 0
    mean, sd = 10**6 / 64, (10**6 * (1 - 1 / 64) / 64) ** 0.5
    assert abs(np.mean(sizes) - mean) < 6 * sd / 20**0.5
    assert 0.4 * sd < np.std(sizes) < 1.8 * sd


def test_no_rows() -> None:
    for records in (
        reduce(Records(), LATTICE, []),
        Column([], SeededEntropy(0), fetch=False).read(),
        Column([np.empty(0)], SeededEntropy(0), fetch=True).read(),
    ):
        for k in (0, 5):
            assert records.thin(k, SeededEntropy(0)).tolist() == []


def test_arguments() -> None:
    with pytest.raises(InvalidArgument, match="lattice"):
        Records().begin(None)
    records = reduce(Records(), LATTICE, [[1.0]])
    with pytest.raises(InvalidArgument, match="got -1"):
        records.thin(-1, SeededEntropy(0))
    with pytest.raises(CopyRefused):
        records.to_bytes()
