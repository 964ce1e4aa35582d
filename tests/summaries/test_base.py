"""Summaries keep to themselves: no data in repr, no pickle, no copy; only well-formed bytes."""

import copy
import pickle

import numpy as np
import pytest

from modicum.errors import CopyRefused, InvalidArgument
from modicum.summaries.base import Fields, pack
from modicum.summaries.brackets import Ranked, Sample
from modicum.summaries.cells import Cells, CellSummary
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, ClippedSummary, Count, CountSummary
from modicum.summaries.tails import Tails, TailSummary
from tests.summaries.cases import LATTICES, reduce

REDUCTIONS = [Count(), Tails(2), ClippedSum(-7, 7), Cells(3, (0, 5)), Records()]
SUMMARIES = [reduce(reduction, LATTICES[0], [[654321.5] * 7]) for reduction in REDUCTIONS]


@pytest.mark.parametrize("summary", SUMMARIES, ids=lambda s: type(s).__name__)
def test_nothing_leaves(summary) -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(CopyRefused):
            leave(summary)
    assert "654321" not in repr(summary)
    assert "7" not in repr(summary).replace("1000000000", "")[:40]
    with pytest.raises(TypeError, match="no hash"):
        hash(summary)
    assert summary != "text"


def test_reprs_show_parameters() -> None:
    assert repr(SUMMARIES[1]) == "TailSummary(keep=2)"
    assert repr(SUMMARIES[0]) == "CountSummary()"
    assert repr(SUMMARIES[3]).startswith("CellSummary(centre=3, edges=(0, 5), first=")


def test_parts_of_summaries_show_no_data_either() -> None:
    values = np.array([654321])
    parts = (Sample(values, 1.0, 654321, 654320, 654322), Ranked(values, values, values))
    for part in parts:
        assert "654321" not in repr(part)
        assert "654321" not in f"{part}"


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions_are_public_and_hashable(reduction) -> None:
    assert pickle.loads(pickle.dumps(reduction)) == reduction
    assert hash(copy.copy(reduction)) == hash(reduction)


@pytest.mark.parametrize("kind", [CountSummary, TailSummary, ClippedSummary, CellSummary])
def test_other_bytes_are_refused(kind) -> None:
    good = {type(each): each for each in SUMMARIES}[kind].to_bytes()
    other = SUMMARIES[1 if kind is not TailSummary else 0].to_bytes()
    for bad in (b"", other, good[:-1], good + b"x", good.replace(b"/1\n", b"/2\n", 1)):
        with pytest.raises(InvalidArgument, match="format version 1"):
            kind.from_bytes(bad)


def test_fields_of_any_size() -> None:
    numbers = [0, -1, 127, 128, -128, -129, 2**200, -(2**63)]
    arrays = [np.array([], dtype=np.int64), np.array([-(2**63), 5])]
    fields = Fields("x", pack("x", *numbers, *arrays))
    assert [fields.integer() for _ in numbers] == numbers
    assert [fields.array().tolist() for _ in arrays] == [[], [-(2**63), 5]]
    fields.end()


def test_an_array_is_made_of_words() -> None:
    with pytest.raises(InvalidArgument):
        Fields("x", pack("x", 1)).array()
