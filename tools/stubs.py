"""Write the table of contents of the statistics, and the stubs: ``python -m tools.stubs``.

The table says which chapter of ``modicum.statistics`` declares a statistic; another one, which
module declares each type that may be stored. All public functions
and methods of statistics are derived from the questions that it names, when they are first asked
for. Their signatures and documentation are known at run time only; the stubs repeat them for type
checkers and editors, which read without running anything.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import modicum
from modicum import plan, query
from modicum.api import one_shot
from modicum.api.methods import GroupStatistics, Statistics
from modicum.plan.statistics import GUESSES
from modicum.statistics.contents import CHAPTERS, PLANNED

PLAN = """
from modicum.plan.summary import Plan as Plan
from modicum.plan.statistics import release as release
"""
QUERY = "from modicum.runtime.query import Query as Query"
PACKAGE = Path(modicum.__file__).parent
SOURCES = Path(__file__).parents[1] / "src" / "modicum"
HEAD = '"""{what}; written by ``python -m tools.stubs``."""\n'
ALWAYS = """
from typing import Any
from modicum.releases.array_release import ArrayRelease
from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit
from modicum.releases.release import Release
"""


CONTENTS = PACKAGE / "statistics" / "contents.py"
STORED = PACKAGE / "stored" / "stored_types.py"
FIND = '''
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modicum.statistics.spec import Declaration

CHAPTERS = {homes}
_UNPLANNED = {unplanned}
PLANNED = tuple(name for name in CHAPTERS if name not in _UNPLANNED)


def find_statistic(name: str) -> Declaration:
    """Import the chapter of a statistic, and return what it declares of it."""
    declared: tuple[Declaration, ...]
    declared = import_module(f"modicum.{{CHAPTERS[name]}}").STATISTICS
    return next(each for each in declared if each.name == name)
'''


def contents() -> str:
    """Return the text of the table of contents."""
    chapters = [
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        if "\nSTATISTICS = (\n" in path.read_text(encoding="utf-8")
    ]
    found = {
        statistic.name: (chapter, statistic)
        for chapter in chapters
        for statistic in import_module(f"modicum.{chapter}").STATISTICS
        if statistic.example  # questions that only the papers have are no functions of a table
    }
    homes = {name: found[name][0] for name in sorted(found)}
    unplanned = tuple(name for name in homes if found[name][1].plan is None)
    head = HEAD.format(what="The chapter of each statistic, and those with a plan")
    return _formatted(head + FIND.format(homes=json.dumps(homes), unplanned=unplanned), ".py")


def stored_types() -> str:
    """Return the text of the table of types that may be stored."""
    homes = {
        node.name: ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and set(map(ast.unparse, node.decorator_list)) & {"storable", "codec.storable"}
    }
    head = HEAD.format(what="The module of each type that may be stored")
    text = f"{head}\nSTORED_TYPES = {json.dumps(dict(sorted(homes.items())))}\n"
    return _formatted(text, ".py")


def stubs() -> dict[Path, str]:
    """Return the text of every stub, by its path."""
    questions = {line for name in CHAPTERS for line in _imports(getattr(query, name))}
    imports = ALWAYS + "\n".join(sorted(questions))
    functions, questioned = (
        "\n".join(_stub(getattr(home, name), name) for name in CHAPTERS)
        for home in (one_shot, query)
    )
    classes = "\n".join(_class(each) for each in (Statistics, GroupStatistics))
    guessed = {line for guess in GUESSES.values() for line in _imports(guess.read)}
    plans = "\n".join(_stub(getattr(plan, name), name) for name in PLANNED)
    texts = {
        "__init__.pyi": _names_of(modicum, _homes()),
        "query/__init__.pyi": "\n".join([_head(query), imports, QUERY, _listed(query), questioned]),
        "api/one_shot.pyi": HEAD.format(what="Functions of a table") + imports + "\n" + functions,
        "api/methods.pyi": HEAD.format(what="Methods of a curator and of its groups")
        + f"{imports}\nONE_COLUMN: str\n{classes}",
        "plan/__init__.pyi": "\n".join(
            [_head(plan), imports, *sorted(guessed), PLAN, _listed(plan), plans]
        ),
    }
    return {PACKAGE / name: _formatted(text) for name, text in texts.items()}


def _homes() -> dict[str, str]:
    """Return the module that each public name of the package is imported from."""
    known = {**modicum._HOMES, **modicum._EXTRAS}
    return modicum._SUBMODULES | {name: home for home, names in known.items() for name in names}


def _names_of(module: ModuleType, homes: dict[str, str]) -> str:
    """Write a module whose names are imported when they are first asked for."""
    lines = [f"from {home} import {name} as {name}" for name, home in sorted(homes.items())]
    version = "__version__: str" if hasattr(module, "__version__") else ""
    return "\n".join([_head(module), *lines, version, _listed(module)])


def _head(module: ModuleType) -> str:
    return f'"""{module.__doc__}"""'


def _listed(module: ModuleType) -> str:
    return f"__all__ = {json.dumps(module.__all__)}"


def _class(each: type) -> str:
    methods = [
        _stub(getattr(each, name), name, brief=True)
        for name in CHAPTERS
        if hasattr(getattr(each, name), "__signature__")
    ]
    head = f'class {each.__name__}:\n    """{each.__doc__}"""\n'
    return head + textwrap.indent("\n".join(methods), "    ")


def _stub(function: Callable[..., Any], name: str, *, brief: bool = False) -> str:
    signature = inspect.signature(function)
    returns = signature.return_annotation
    returns = returns if isinstance(returns, str) else returns.__name__
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


def _imports(function: Callable[..., Any]) -> Iterator[str]:
    """Yield imports of the names that the annotations of a function hold."""
    home = sys.modules[function.__module__]
    words = {
        word
        for each in inspect.signature(function).parameters.values()
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", str(each.annotation)))
    }
    for node in ast.parse(inspect.getsource(home)).body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                if alias.name in words:
                    yield f"from {node.module} import {alias.name}"
                    words.discard(alias.name)
    yield from (f"from {home.__name__} import {word}" for word in words if word in vars(home))


def _formatted(text: str, suffix: str = ".pyi") -> str:
    for command in (["format"], ["check", "--fix"], ["format"]):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "ruff",
                *command,
                "--quiet",
                "--stdin-filename",
                str(SOURCES / f"stub{suffix}"),  # its rules, wherever the package is installed
                "-",
            ],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


def _written(path: Path, text: str) -> bool:
    """Write a file; whether it was another before."""
    was = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(text, encoding="utf-8")
    print(f"{len(text.splitlines())} lines in {path.relative_to(PACKAGE.parents[1])}")
    return was != text


if __name__ == "__main__":
    if _written(CONTENTS, contents()):  # what follows from it has to be imported anew
        sys.exit(subprocess.call([sys.executable, "-m", "tools.stubs"]))
    for path, text in {STORED: stored_types(), **stubs()}.items():
        _written(path, text)
