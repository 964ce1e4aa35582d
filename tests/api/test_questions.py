"""Functions of a table and methods, derived when they are first asked for, and their stubs."""

import doctest
import inspect
import os
import re
import subprocess
import sys

import pytest

import modicum
from modicum.api import one_shot
from modicum.api.curator import Curator
from modicum.api.group_by import GroupBy
from modicum.statistics.contents import CHAPTERS
from modicum.statistics.texts import TEXTS, documented
from tools.stubs import CONTENTS, STORED, contents, stored_types, stubs


def test_the_stubs_are_those_of_the_functions() -> None:
    """If not: python -m tools.stubs. Ruff formats them."""
    pytest.importorskip("ruff")
    for path, text in {CONTENTS: contents(), STORED: stored_types(), **stubs()}.items():
        assert path.read_text(encoding="utf-8") == text, path.name


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_example_of_a_function_holds(name) -> None:
    function = getattr(one_shot, name)
    assert function is getattr(modicum, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_method_has_the_arguments_of_its_question(name) -> None:
    asked = inspect.signature(getattr(modicum.query, name)).parameters
    for owner in (Curator, GroupBy):
        method = getattr(owner, name)
        assert method is getattr(owner, name)
        if hasattr(method, "__signature__"):
            assert list(inspect.signature(method).parameters) == ["self", *asked]
        else:
            assert owner is GroupBy


def test_only_what_is_asked_for_is_derived() -> None:
    assert set(one_shot.__dir__()) == set(CHAPTERS)
    assert set(CHAPTERS) < set(dir(Curator))
    with pytest.raises(AttributeError, match="did you mean 'mean'"):
        one_shot.meen  # noqa: B018


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_documentation_is_whole(name) -> None:
    question = getattr(modicum.query, name)
    text = inspect.getdoc(question)
    assert not re.search(r"^ *\{\w+\}$", text, re.MULTILINE)
    entries = re.findall(r"^(\w+(?:, \w+)*) : ", text.partition("Returns\n")[0], re.MULTILINE)
    described = {each for entry in entries for each in entry.split(", ")}
    assert described == set(inspect.signature(question).parameters)
    for section in ("Parameters", "Returns", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text


def test_the_package_works_without_documentation() -> None:
    asked = "import modicum; print(modicum.query.mean('age', within=(0, 120), epsilon=1).statistic)"
    done = subprocess.run([sys.executable, "-OO", "-c", asked], capture_output=True, check=True)
    assert done.stdout.decode() == f"mean{os.linesep}"


def test_a_text_is_indented_like_its_name_and_can_be_continued() -> None:
    def question() -> None:
        """Ask.

        Parameters
        ----------
        {column}
            It is public.
        """

    expected = TEXTS["column"].strip().replace("\n        ", "\n") + "\n    It is public."
    assert documented(question).__doc__ == f"Ask.\n\nParameters\n----------\n{expected}"
