"""A fault that is planted in a copy of the sources, and what it takes to notice it."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass


class DoesNotApplyError(ValueError):
    """The text that a fault replaces is not there, or there more than once."""


@dataclass(frozen=True)
class Fault:
    """One edit of one definition.

    Attributes
    ----------
    name : str
    wrong : str
        What the mutant does, in one sentence.
    place : str
        A file of the package, and a definition in it: ``"exact/flip.py:flip_many"`` or
        ``"mechanisms/additive.py:LaplaceNoise.sample"``. Without one, the whole file.
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
    def file(self) -> str:
        return self.place.partition(":")[0]

    @property
    def module(self) -> str:
        return "modicum." + self.file.removesuffix(".py").replace("/", ".")

    def planted(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        start, stop = self._span(text)
        found = text.count(self.old, start, stop)
        if found != 1:
            raise DoesNotApplyError(
                f"{self.name}: {self.old!r} occurs {found} times in {self.place}"
            )
        at = text.index(self.old, start, stop)
        return text[:at] + self.new + text[at + len(self.old) :]

    def _span(self, text: str) -> tuple[int, int]:
        """Begin and end of the definition."""
        node: ast.AST = _parsed(text)
        names = self.place.partition(":")[2]
        for name in names.split(".") if names else ():
            found = [each for each in ast.iter_child_nodes(node) if name == _name(each)]
            if len(found) != 1:
                raise DoesNotApplyError(
                    f"{self.name}: there are {len(found)} {name} in {self.place}"
                )
            (node,) = found
        if isinstance(node, ast.Module):
            return 0, len(text)
        assert isinstance(node, ast.ClassDef | ast.FunctionDef)
        lines = text.splitlines(keepends=True)
        return tuple(sum(map(len, lines[:line])) for line in (node.lineno - 1, node.end_lineno))


@functools.lru_cache(maxsize=8)  # faults of one file follow each other
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _name(node: ast.AST) -> str | None:
    return node.name if isinstance(node, ast.ClassDef | ast.FunctionDef) else None
