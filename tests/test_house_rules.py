"""Rules of CONTRIBUTING.md that a machine can keep."""

import ast
from pathlib import Path

import modicum
from modicum.statistics.registry import REGISTRY

ROOT = Path(__file__).parents[1]
PACKAGE = Path(modicum.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_modules_are_short() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > 650} == {}


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_functions_are_short() -> None:
    lengths = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}:{node.name}": code_lines(node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length >= 60} == {}


def test_every_estimator_has_its_page() -> None:
    missing = {row.proof for row in REGISTRY if not (ROOT / f"docs/proofs/{row.proof}.md").exists()}
    assert missing == set()


def test_every_statistic_is_in_the_changelog() -> None:
    fragments = [path for path in (ROOT / "changes").glob("*.md") if path.name != "README.md"]
    notes = "".join(path.read_text() for path in (ROOT / "CHANGELOG.md", *fragments))
    assert {row.statistic for row in REGISTRY if f"`{row.statistic}`" not in notes} == set()


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    twice = {name for name, those in homes.items() if len(those) > 1}
    # A mean of people without a curator or through a shuffler, and the mean that theory is about.
    assert twice <= {"Mean", "MeanVector"}
