"""Write what type checkers and editors show of the derived functions: ``python -m tools.stubs``.

The functions of a table, and the methods of a curator and of its groups, are derived from the
questions of ``modicum.query`` when they are first asked for. Their signatures and documentation
are known at run time only; the stubs repeat them for those who read without running anything.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import modicum
from modicum import one_shot, query
from modicum.questions import STATISTICS, GroupStatistics, Statistics

PACKAGE = Path(modicum.__file__).parent
HEAD = '"""{what}; written by ``python -m tools.stubs``."""\n'
ALWAYS = """
from typing import Any
from modicum.array_release import ArrayRelease
from modicum.grouped import GroupedRelease
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit
from modicum.release import Release
"""


def stubs() -> dict[Path, str]:
    """Return the text of every stub, by its path."""
    imports = ALWAYS + "\n".join(sorted({line for name in STATISTICS for line in _imports(name)}))
    functions = "\n".join(_stub(getattr(one_shot, name), name) for name in STATISTICS)
    classes = "\n".join(_class(each) for each in (Statistics, GroupStatistics))
    constants = "ONE_NUMBER: str\nSTATISTICS: tuple[str, ...]\n"
    texts = {
        "one_shot.pyi": HEAD.format(what="Functions of a table") + imports + "\n" + functions,
        "questions.pyi": HEAD.format(what="Methods of a curator and of its groups")
        + f"{imports}\n{constants}\n{classes}",
    }
    return {PACKAGE / name: _formatted(text) for name, text in texts.items()}


def _class(each: type) -> str:
    methods = [
        _stub(getattr(each, name), name, brief=True)
        for name in STATISTICS
        if hasattr(getattr(each, name), "__signature__")
    ]
    head = f'class {each.__name__}:\n    """{each.__doc__}"""\n'
    return head + textwrap.indent("\n".join(methods), "    ")


def _stub(function: Callable[..., Any], name: str, *, brief: bool = False) -> str:
    signature = inspect.signature(function)
    returns = signature.return_annotation.__name__
    parameters = []
    keyword_only = False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            parameters.append("*")
            keyword_only = True
        typed = each.name if each.name == "self" else f"{each.name}: {_annotation(each)}"
        parameters.append(typed + ("" if each.default is each.empty else f" = {each.default!r}"))
    text = inspect.cleandoc(function.__doc__ or "")
    if brief:
        text = (
            f"{text.partition(chr(10) * 2)[0]}\n\nParameters are those of :func:`modicum.{name}`."
        )
    body = textwrap.indent(f'"""{text}\n"""\n', "    ")
    return f"def {name}({', '.join(parameters)}) -> {returns}:\n{body}    ...\n"


def _annotation(parameter: inspect.Parameter) -> str:
    known = parameter.annotation
    return "Any" if known is parameter.empty else str(known)


def _imports(name: str) -> Iterator[str]:
    """Yield imports of the names that the annotations of a question hold."""
    question = getattr(query, name)
    home = sys.modules[question.__module__]
    words = {
        word
        for each in inspect.signature(question).parameters.values()
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", str(each.annotation)))
    }
    for node in ast.parse(inspect.getsource(home)).body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                if alias.name in words:
                    yield f"from {node.module} import {alias.name}"
                    words.discard(alias.name)
    yield from (f"from {home.__name__} import {word}" for word in words if word in vars(home))


def _formatted(text: str) -> str:
    for command in (["check", "--fix"], ["format"]):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "ruff",
                *command,
                "--quiet",
                "--stdin-filename",
                str(PACKAGE / "stub.pyi"),
                "-",
            ],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
        print(f"{len(text.splitlines())} lines in {path.relative_to(PACKAGE.parents[1])}")
