"""A fault that is planted in a copy of the sources, and what it takes to notice it."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import modicum

PACKAGE = Path(modicum.__file__).parent


class DoesNotApplyError(ValueError):
    """There is no such place or more than one, or the text is not there once."""


@dataclass(frozen=True)
class Fault:
    """One edit of one definition.

    Attributes
    ----------
    name : str
    wrong : str
        What the mutant does, in one sentence.
    place : str
        The name of a function, a class, a constant or a module, wherever it is in the package:
        ``"flip_many"``. If others have that name, as much of the dotted name before it as tells it
        apart: ``"LaplaceNoise.sample"``, ``"codec.of_json"``.
    old, new : str
        The old text occurs once in the definition.
    tests : str
        Files below ``tests`` whose quick tests are expected to fail, with spaces between.
    """

    name: str
    wrong: str
    place: str
    old: str
    new: str
    tests: str

    @property
    def module(self) -> str:
        return self._found()[0]

    @property
    def file(self) -> str:
        """The file of the definition, in the package."""
        return _modules()[self.module].relative_to(PACKAGE).as_posix()

    def planted(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        module, names = self._found()
        start, stop = next(span for each, *span in _definitions(text) if each == names)
        found = text.count(self.old, start, stop)
        if found != 1:
            raise DoesNotApplyError(
                f"{self.name}: {self.old!r} occurs {found} times in {module}{names}"
            )
        at = text.index(self.old, start, stop)
        return text[:at] + self.new + text[at + len(self.old) :]

    def _found(self) -> tuple[str, str]:
        """The module that has the definition, and its name there, after a dot."""
        found = _named().get(self.place, [])
        if len(found) != 1:
            raise DoesNotApplyError(
                f"{self.name}: {len(found)} places are named {self.place}: "
                f"{', '.join(map(''.join, found))}"
            )
        return found[0]


@functools.cache
def _modules() -> dict[str, Path]:
    paths = {
        path: path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py")
    }
    return {".".join(each.parts).removesuffix(".__init__"): path for path, each in paths.items()}


@functools.cache
def _named() -> dict[str, list[tuple[str, str]]]:
    """Every definition, under each end of its dotted name."""
    named: dict[str, list[tuple[str, str]]] = {}
    for module, path in _modules().items():
        for names, *_ in _definitions(path.read_text("utf-8")):
            parts = (module + names).split(".")
            for first in range(len(parts)):
                named.setdefault(".".join(parts[first:]), []).append((module, names))
    return named


@functools.cache
def _definitions(text: str) -> list[tuple[str, int, int]]:
    """Names, each after a dot, with begin and end; the module itself has none."""
    lines = text.splitlines(keepends=True)
    begins = [0, *itertools.accumulate(map(len, lines))]

    def below(node: ast.AST, names: str) -> Iterator[tuple[str, int, int]]:
        for each in ast.iter_child_nodes(node):
            match each:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                    yield from below(each, f"{names}.{name}")
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ) if not isinstance(node, ast.FunctionDef):
                    pass
                case _:
                    continue
            assert isinstance(each, ast.stmt)
            yield f"{names}.{name}", begins[each.lineno - 1], begins[each.end_lineno or 0]

    return [("", 0, len(text)), *below(ast.parse(text), "")]
