"""The smallest rows of each person, whatever the chunks, the order and the ties."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import CopyRefused
from modicum.frames import fewest
from modicum.frames.fewest import SmallestRows

NAN = float("nan")
persons = st.integers(-1, 3)
numbers = st.sampled_from([0.0, 1.0, 2.0, -1.0, float("inf"), -float("inf"), NAN])
tables = st.lists(st.tuples(persons, numbers, numbers, numbers), max_size=30)


def smallest(rows, m, keys, cuts=()) -> list[tuple[float, ...]]:
    held = SmallestRows(m)
    for part in np.split(np.arange(len(rows)), sorted(cut % (len(rows) + 1) for cut in cuts)):
        codes = np.array([rows[i][0] for i in part], dtype=np.int64)
        columns = [np.array([rows[i][k] for i in part], dtype=float) for k in range(1, keys + 1)]
        held.add(codes, columns)
    return sorted(zip(*(column.tolist() for column in held.kept()), strict=True), key=_place)


def _place(keys: tuple[float, ...]) -> list[tuple[bool, float]]:
    return [(key != key, 0.0 if key != key else key) for key in keys]


def plain(rows, m, keys) -> list[tuple[float, ...]]:
    kept = []
    for person in range(4):
        mine = [row[1 : keys + 1] for row in rows if row[0] == person]
        kept += sorted(mine, key=_place)[:m]
    return sorted(kept, key=_place)


@given(
    rows=tables,
    m=st.integers(1, 4),
    keys=st.integers(1, 3),
    cuts=st.lists(st.integers(0, 30), max_size=4),
    seed=st.integers(0, 2**32 - 1),
    least=st.sampled_from([1, 5, 1 << 18]),
)
def test_the_kept_rows_are_those_of_plain_python(rows, m, keys, cuts, seed, least) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fewest, "_LEAST", least)
        got = smallest(rows, m, keys, cuts)
        shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
        again = smallest(shuffled, m, keys, cuts[1:])
    expected = plain(rows, m, keys)
    np.testing.assert_equal(got, expected)
    np.testing.assert_equal(again, expected)


def test_words_of_64_bits_are_compared_as_such() -> None:
    held = SmallestRows(1)
    tags = np.array([2**64 - 1, 2**63, 2**63 - 1], np.uint64)
    held.add(np.zeros(3, np.int64), [tags, np.arange(3.0)])
    assert held.kept()[1].tolist() == [2.0]


def test_little_more_than_the_kept_rows_is_held(monkeypatch) -> None:
    monkeypatch.setattr(fewest, "_LEAST", 64)
    held = SmallestRows(2)
    rng = np.random.default_rng(0)
    for _ in range(200):
        held.add(rng.integers(0, 10, 50), [rng.random(50)])
        assert held._rows <= 64 + 50
    assert len(held.kept()[0]) == 20


def test_nothing_is_kept_of_nothing() -> None:
    assert SmallestRows(3).kept() == []
    held = SmallestRows(3)
    held.add(np.array([-1]), [np.array([1.0])])
    assert [column.tolist() for column in held.kept()] == [[]]


def test_rows_show_and_give_away_nothing() -> None:
    held = SmallestRows(2)
    held.add(np.zeros(1, np.int64), [np.array([123.0])])
    assert repr(held) == "SmallestRows()"
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(CopyRefused):
            leak(held)
