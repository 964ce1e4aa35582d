"""What docstrings promise: every public name says what it takes, gives and does, by an example.

Public are the names of ``modicum``, those that its public modules and the bridges to other
libraries list, and their methods. The sections are NumPy's.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

import modicum as mo

MADE_BY_THE_LIBRARY = {
    "GroupedArrayRelease": "its attributes are those of GroupedRelease, to which it refers",
    "ValueCounts": "its attributes are those of Crosstab, to which it refers",
}
"""Classes that do not say what they are made of, and why."""

WITHOUT_EXAMPLE = {
    "interop.mbi.to_mbi": "mbi may be missing: docs/questions/synthetic.md shows it, and is tested",
}
"""Functions that have none, and why."""

BRIDGES = ("mbi", "opendp", *(["sklearn"] if find_spec("sklearn") else []))

ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .+)?$")


def named_objects() -> Iterator[tuple[str, Any]]:
    """Names of the package and of its public modules; a module gives what it lists."""
    for name in set(mo.__all__) - {"__version__"}:
        found = getattr(mo, name)
        if inspect.ismodule(found):
            yield from ((f"{name}.{each}", getattr(found, each)) for each in found.__all__)
        else:
            yield name, found
    for bridge in BRIDGES:
        module = import_module(f"modicum.interop.{bridge}")
        yield from ((f"interop.{bridge}.{each}", getattr(module, each)) for each in module.__all__)


OBJECTS = dict(sorted((name, each) for name, each in named_objects() if callable(each)))
CLASSES = {name: each for name, each in OBJECTS.items() if inspect.isclass(each)}
FUNCTIONS = {name: each for name, each in OBJECTS.items() if name not in CLASSES}


def methods_of(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods, also those that are derived or inherited; none of Python's own classes."""
    for name in dir(kind):
        found = getattr(kind, name, None)
        found = getattr(found, "__func__", found)
        ours = inspect.isfunction(found) and found.__module__.startswith("modicum")
        if ours and not name.startswith("_"):
            yield name, found


METHODS = {
    f"{name}.{method}": found
    for name, kind in CLASSES.items()
    for method, found in methods_of(kind)
}


SECTION = r"^{}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}\n|\Z)"


def section(text: str, title: str) -> list[str]:
    """Lines of a section, none if there is no such section."""
    found = re.search(SECTION.format(title), text, re.MULTILINE | re.DOTALL)
    return found[1].strip("\n").split("\n") if found else []


def entries(text: str, title: str) -> dict[str, bool]:
    """Names that a section describes, and whether it says something of each."""
    lines, said = section(text, title), {}
    for place, line in enumerate(lines):
        if (entry := ENTRY.match(line)) and not line.startswith(" "):
            described = place + 1 < len(lines) and lines[place + 1].startswith("    ")
            said |= {name.strip("*"): described for name in entry[1].split(", ")}
    return said


def asked(function: Callable[..., Any]) -> set[str]:
    names = set(inspect.signature(function).parameters) - {"self", "cls"}
    return {name for name in names if not name.startswith("_")}


def documentation(found: object) -> str:
    """The docstring, of a method the one that it inherits if it has none."""
    return inspect.getdoc(found) or ""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_and_gives(name: str) -> None:
    text, wanted = documentation(FUNCTIONS[name]), asked(FUNCTIONS[name])
    assert entries(text, "Parameters") == dict.fromkeys(wanted, True)
    returned = inspect.signature(FUNCTIONS[name]).return_annotation
    assert section(text, "Returns") or returned == "None"
    assert (">>> " in text) == (name not in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_what_it_takes(name: str) -> None:
    text, wanted = documentation(METHODS[name]), asked(METHODS[name])
    assert text
    assert entries(text, "Parameters") == dict.fromkeys(wanted, True)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_says_what_it_is_made_of(name: str) -> None:
    kind, text = CLASSES[name], documentation(CLASSES[name])
    assert ">>> " in text
    properties = inspect.getmembers(kind, lambda found: isinstance(found, property))
    assert all(inspect.getdoc(each) for at, each in properties if not at.startswith("_"))
    assert all(entries(text, "Attributes").values())
    if issubclass(kind, BaseException) or inspect.isabstract(kind) or not asked(kind):
        return
    if given := entries(text, "Parameters"):
        assert given == dict.fromkeys(asked(kind), True)
    else:
        assert bool(section(text, "Attributes")) == (name not in MADE_BY_THE_LIBRARY)


def test_a_section_is_read_as_it_is_written() -> None:
    def question(a: int, b: int, **others: int) -> None:
        """Ask.

        Parameters
        ----------
        a, b : int
            Two numbers.
        **others : int

        Notes
        -----
        c : this is no parameter.
        """

    found = entries(inspect.getdoc(question) or "", "Parameters")
    assert found == {"a": True, "b": True, "others": False}
    assert set(found) == asked(question)
