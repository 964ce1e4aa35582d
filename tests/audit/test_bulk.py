"""Counts of very many keys: what all of them together cost a row, on all small tables."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modicum as mo
from modicum.api.tables.key_blocks import CompleteBlocks, CountedBlocks, FoundBlocks, GivenBlocks
from modicum.mechanisms.additive import LaplaceNoise
from modicum.mechanisms.partition_selection import KeepCurve
from modicum.privacy.event import ApproxDP, PureDP
from modicum.sources.opening import open_source
from modicum.sources.record_batches import blocks_of

KEYS = ["b", "a", "empty"]
LABELS = ("a", "b", "other", None)
TABLES = [
    list(rows)
    for size in range(4)
    for rows in itertools.combinations_with_replacement(LABELS, size)
]
PUBLIC = pa.table({"k": KEYS})


class Seen:
    """Shows the exact counts, in place of what is drawn of them."""

    by = ("k",)

    def kept(self, counts):
        return counts > 0

    def noisy(self, keys, counts):
        return pa.RecordBatch.from_arrays([*keys, pa.array(counts)], names=["k", "value"])


def shown(found) -> list[tuple[str, int]]:
    rows = [row for batch in found.blocks(Seen()) for row in batch.to_pylist()]
    return [(row["k"], row["value"]) for row in rows]


def table_of(rows) -> pd.DataFrame:
    return pd.DataFrame({"k": pd.Series(rows, dtype="str")})


def counts_of(rows) -> pa.Table:
    """The same rows, counted: in the order of their first appearance."""
    labels = list(dict.fromkeys(rows))
    counts = pa.array([rows.count(each) for each in labels], pa.int32())
    return pa.table({"k": pa.array(labels, pa.string()), "n": counts})


def given(rows):
    return GivenBlocks(
        open_source(table_of(rows)), ["k"], ["text"], lambda: blocks_of(PUBLIC, ["k"], "")
    )


def found(rows):
    return FoundBlocks(open_source(table_of(rows)), ["k"], ["text"])


def counted_given(rows):
    source = mo.counted(counts_of(rows), "n")
    return GivenBlocks(source, ["k"], ["text"], lambda: blocks_of(PUBLIC, ["k"], ""))


def counted_drawn(rows):
    table = counts_of(rows)
    return CountedBlocks(lambda: blocks_of(table, ["k", "n"], ""), ["text"], "")


def complete(rows):
    table = pa.table({"k": KEYS, "n": [rows.count(key) for key in KEYS]})
    return CompleteBlocks(lambda: blocks_of(table, ["k", "n"], ""))


GIVEN = {"rows": given, "counts": counted_given, "complete": complete}
DRAWN = {"rows": found, "counts": counted_drawn}


@functools.cache
def shown_in_order(make, rows: tuple[str | None, ...]) -> list[tuple[str, int]]:
    return shown(make(list(rows)))


def exact(make, rows) -> list[tuple[str, int]]:
    """What is shown of rows in any order: pairs of tables have most of their tables in common."""
    return shown_in_order(make, tuple(sorted(rows, key=LABELS.index)))


@pytest.mark.parametrize("way", GIVEN)
def test_given_keys_come_in_their_order_with_their_counts(way) -> None:
    for rows in TABLES:
        assert shown(GIVEN[way](rows)) == [(key, rows.count(key)) for key in KEYS]


@pytest.mark.parametrize("way", DRAWN)
def test_drawn_keys_come_in_order_whatever_the_order_of_the_rows(way) -> None:
    for rows in TABLES:
        expected = [(k, rows.count(k)) for k in sorted({*rows} - {None})]
        for order in {*itertools.permutations(rows)}:
            assert shown(DRAWN[way](list(order))) == expected


def loss(one, other, noise: LaplaceNoise) -> float:
    """Largest log ratio of the values of all keys: they are independent, so it is a sum."""
    up = down = 0.0
    for (_, n), (_, m) in zip(one, other, strict=True):
        ratios = [noise.log_pmf(v - n) - noise.log_pmf(v - m) for v in range(-30, 35)]
        up, down = up + max(ratios), down + min(ratios)
    return max(up, -down)


@pytest.mark.parametrize("way", GIVEN)
@pytest.mark.parametrize("owned", [1, 2])
def test_a_unit_costs_epsilon_over_all_given_keys(way, owned) -> None:
    """All tables of up to three rows, and all ways to add (or remove) the rows of a unit."""
    row = mo.unit_of(rows=owned).per_row(PureDP(Fraction(1)))
    noise = LaplaceNoise(1 / row.epsilon)
    losses = [
        loss(exact(GIVEN[way], rows), exact(GIVEN[way], [*rows, *more]), noise)
        for rows in TABLES
        for more in itertools.combinations_with_replacement(LABELS, owned)
    ]
    assert 0.95 < max(losses) <= 1 + 1e-9
    wrong = LaplaceNoise(Fraction(7, 10) / row.epsilon)  # 30 % too small
    assert loss(shown(GIVEN[way]([])), shown(GIVEN[way](["a"] * owned)), wrong) > 1.4


REACH = 60


@functools.cache
def law(n: int, noise: LaplaceNoise, curve: KeepCurve) -> np.ndarray:
    """P(not shown), and P(shown with the value v), of a key with n rows."""
    values = [math.exp(noise.log_pmf(v - n)) for v in range(-REACH, REACH)]
    kept = curve.probability(n)
    return np.array([1 - kept, *(kept * p for p in values)])


def needed(one, other, noise, curve, epsilon: float) -> float:
    """The δ of all keys together, in both directions; only keys whose numbers differ matter."""
    p = q = np.ones(1)
    for key in {**dict(one), **dict(other)}:
        n, m = dict(one).get(key, 0), dict(other).get(key, 0)
        if n != m:
            p, q = (np.outer(a, law(b, noise, curve)).ravel() for a, b in ((p, n), (q, m)))
    factor = math.exp(epsilon)
    return max(np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum())


@pytest.mark.parametrize("way", DRAWN)
@pytest.mark.parametrize("owned", [1, 2])
def test_a_unit_costs_epsilon_and_delta_over_all_drawn_keys(way, owned) -> None:
    unit, delta = mo.unit_of(rows=owned), Fraction(1, 50)
    keys = unit.per_row(ApproxDP(Fraction(1), delta))
    noise = LaplaceNoise(1 / unit.per_row(PureDP(Fraction(1, 2))).epsilon)
    curve = KeepCurve(keys.epsilon, keys.delta)
    used = [
        needed(exact(DRAWN[way], rows), exact(DRAWN[way], [*rows, *more]), noise, curve, 1.5)
        for rows in TABLES
        for more in itertools.combinations_with_replacement(LABELS, owned)
    ]
    assert 0.6 * delta < max(used) <= float(delta) * (1 + 1e-6)
    more = KeepCurve(keys.epsilon, keys.delta * Fraction(10, 7))
    assert needed([], [("a", 1)], noise, more, 1.5) > 1.3 * float(keys.delta)
