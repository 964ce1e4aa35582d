"""Records of many groups, sorted: those of each group, to the last bit."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import CopyRefused
from modicum.exact.lattice import Lattice
from modicum.summaries import base, grouped, tails
from modicum.summaries.grouped import PackedGroups, summary_of_sorted
from modicum.summaries.tails import Tails
from tests.summaries.cases import lattices, numbers

rows = st.lists(st.tuples(st.integers(-1, 6), numbers), max_size=60)


def packed(groups: int, lattice: Lattice, data, cuts=()):
    collected = PackedGroups(groups, lattice)
    keys = np.array([group for group, _ in data], dtype=np.int64)
    x = np.array([value for _, value in data], dtype=np.float64)
    for part in np.split(np.arange(len(data)), sorted(cuts)):
        collected.update(keys[part], x[part])
    return collected.finish()


def check(groups: int, lattice: Lattice, data, found) -> None:
    for group in range(groups):
        x = np.array([value for key, value in data if key == group], dtype=np.float64)
        assert np.array_equal(found.records(group), np.sort(lattice.quantise(x)))


def check_tails(groups: int, lattice: Lattice, found, keep: int) -> None:
    of_group = found.summaries(Tails(keep))
    for group in range(groups) if of_group is not None else ():
        alone = summary_of_sorted(Tails(keep), lattice, found.records(group))
        assert of_group(group) == alone


@given(rows, lattices, st.integers(1, 9), st.sampled_from([1, 4, 1 << 18]))
def test_tails_of_all_groups_are_those_of_each(data, lattice, keep, block) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tails, "_BLOCK", block)
        check_tails(9, lattice, packed(9, lattice, data), keep)


@pytest.mark.parametrize("step", [2.0**-21, 1.0, 2.0**20])
def test_tails_of_large_groups_have_exact_sums(step) -> None:
    """At the ends of the range a sum of a group is far beyond 2^63."""
    lattice = Lattice.within((-1e9, 1e9), step)
    rng = np.random.default_rng(3)
    x = np.where(rng.random(60_000) < 0.9, 1e9, rng.uniform(-1e9, 1e9, 60_000))
    data = list(zip(rng.choice([0, 1, 5], 60_000).tolist(), x.tolist(), strict=True))
    found = packed(7, lattice, data)
    assert found.summaries(Tails(100)) is not None
    check_tails(7, lattice, found, 100)


@given(rows, lattices, st.lists(st.integers(0, 60), max_size=3))
def test_every_group_has_its_records(data, lattice, cuts) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (base, grouped):
            patch.setattr(module, "CHUNK", 16)
        check(7, lattice, data, packed(7, lattice, data, cuts))


@pytest.mark.parametrize("groups", [1, 2, 3, 2**11, 2**11 + 1, 100_003, 2**20 + 5])
@pytest.mark.parametrize("lattice", [Lattice.within((-1e9, 1e9)), Lattice(-(2.0**51), 2.0**51, 1)])
def test_many_groups_and_integers_as_large_as_they_get(groups, lattice) -> None:
    """A group and an integer need up to 73 bits; no step is coarsened."""
    rng = np.random.default_rng(groups)
    keys = np.unique(np.append(rng.integers(0, groups, 300), [0, groups - 1]))
    data = [(int(key), float(x)) for key in keys for x in rng.uniform(lattice.lo, lattice.hi, 3)]
    data += [(0, lattice.lo), (groups - 1, lattice.hi), (-1, 1.0), (0, float("nan"))]
    found = packed(groups, lattice, [data[i] for i in rng.permutation(len(data))], (100,))
    for group in {*keys.tolist(), groups // 2}:
        x = np.array([value for key, value in data if key == group])
        assert np.array_equal(found.records(group), np.sort(lattice.quantise(x)))


def test_sorted_groups_guard_their_data() -> None:
    found = packed(2, Lattice(-8.0, 8.0, 1.0), [(0, 3.0), (1, 7.0)])
    assert repr(found) == "SortedGroups()"
    for attempt in (copy.copy, pickle.dumps):
        with pytest.raises(CopyRefused):
            attempt(found)
