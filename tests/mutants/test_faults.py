"""The list of faults fits the sources: nothing is planted here, ``make mutants`` does that."""

import builtins
import functools
import symtable
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants import FAULTS
from tests.mutants.fault import PACKAGE, DoesNotApplyError, Fault

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_replaces_one_text_and_leaves_python(fault: Fault) -> None:
    source = (PACKAGE / fault.file).read_text("utf-8")
    mutant = fault.planted(source)
    assert mutant != source
    # What is not Python is an error here, and any test notices a NameError.
    assert undefined(mutant) <= undefined(source)
    assert all((TESTS / test).is_file() for test in fault.tests.split())


@functools.lru_cache(maxsize=8)  # faults of one file follow each other
def undefined(source: str) -> set[str]:
    """Names that functions expect in their module, and that are neither there nor built in."""
    module = symtable.symtable(source, "", "exec")
    names, tables = set[str](), module.get_children()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names |= {each.get_name() for each in table.get_symbols() if each.is_global()}
    there = {each.get_name() for each in module.get_symbols() if each.is_local()}
    return names - there - set(dir(builtins))


def test_every_fault_has_a_name_of_its_own() -> None:
    assert [
        name for name, times in Counter(fault.name for fault in FAULTS).items() if times > 1
    ] == []


@pytest.mark.parametrize("old", ["not there", "size"])
def test_a_text_that_is_not_there_once_is_refused(old: str) -> None:
    fault = Fault("name", "wrong", "flip_many", old, "new", "exact/test_flip.py")
    with pytest.raises(DoesNotApplyError, match="occurs"):
        fault.planted((PACKAGE / fault.file).read_text("utf-8"))


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("flip_none", "0 places are named flip_none"),
        (
            "sample",
            r"places are named sample: .*additive\.LaplaceNoise\.sample",
        ),
        ("exact/flip.py:flip_many", "0 places"),
    ],
)
def test_a_place_is_one_definition_and_no_path(place: str, said: str) -> None:
    fault = Fault("name", "wrong", place, "old", "new", "exact/test_flip.py")
    with pytest.raises(DoesNotApplyError, match=said):
        fault.planted("")
