"""Rules of CONTRIBUTING.md that a machine can keep."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import modicum
from modicum.privacy.budget import ANY_KIND
from modicum.research.papers.registry import PAPERS
from modicum.statistics.registry import REGISTRY

ROOT = Path(__file__).parents[1]
PACKAGE = Path(modicum.__file__).parent
ROWS = (*REGISTRY, *PAPERS)
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted((ROOT / "docs/research/proofs").glob("*.md"))


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text())))


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
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length >= 60} == {}


def test_every_estimator_has_its_page() -> None:
    missing = {row.proof for row in ROWS} - {page.stem for page in PAGES}
    assert missing == set()


def test_every_statistic_is_in_the_changelog() -> None:
    fragments = [path for path in (ROOT / "changes").glob("*.md") if path.name != "README.md"]
    notes = "".join(path.read_text() for path in (ROOT / "CHANGELOG.md", *fragments))
    assert {row.statistic for row in ROWS if f"`{row.statistic}`" not in notes} == set()


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    twice = {name for name, those in homes.items() if len(those) > 1}
    # A mean of people without a curator or through a shuffler, and the mean that theory is about.
    assert twice <= {"Mean", "MeanVector"}


ASKED = {"mechanisms", "summaries", "privacy/event.py"}
"""Packages whose objects answer for themselves: nobody else asks of which class they are."""

NAMES = {"Columns"}
"""Defined there, and no object that answers: a place in a table, as the name of a column is."""


def classes(node: ast.expr) -> set[str]:
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }


def looked_at(node: ast.AST) -> set[str]:
    """Classes that an ``isinstance``, an ``issubclass`` or a pattern tells apart."""
    if isinstance(node, ast.MatchClass):
        return classes(node.cls)
    called = node.func if isinstance(node, ast.Call) else None
    reads = isinstance(called, ast.Name) and called.id in {"isinstance", "issubclass"}
    return classes(node.args[1]) if reads else set()


def package_of(path: Path) -> str:
    name = path.relative_to(PACKAGE)
    within = {"privacy": name, "statistics": Path("statistics")}  # its families share error models
    return str(within.get(name.parts[0], name.parent))


def test_objects_are_asked_and_not_looked_at() -> None:
    homes = {
        node.name: package_of(path)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
    }
    estimates = {name for name in homes if name.endswith(("Estimate", "ErrorModel"))}
    kept = estimates | {name for name, home in homes.items() if home in ASKED} - NAMES
    assert {
        "Mechanism",
        "PureDP",
        "RadiusDraw",
        "Tails",
        "TailSummary",
        "ScalarEstimate",
        "MeanErrorModel",
    } <= kept
    found = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {name}"  # type: ignore[attr-defined]
        for path in SOURCES
        for node in nodes_of(path)
        for name in looked_at(node) & kept
        if homes[name] != package_of(path)
    }
    assert found == set()


def literals(path: Path) -> set[ast.Constant]:
    """Strings that are data: no annotations, and no names of what a module exports."""
    said: set[ast.AST] = set()
    for node in nodes_of(path):
        notes = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for note in notes:
            said |= set(ast.walk(note)) if note is not None else set()
    strings = {each for each in nodes_of(path) if isinstance(each, ast.Constant)}
    return {each for each in strings - said if isinstance(each.value, str)}


def test_currencies_are_named_in_privacy_alone() -> None:
    """``modicum/__init__.py`` lists functions of these names, and nothing of a currency."""
    kinds = set(ANY_KIND)
    found = {
        f"{path.relative_to(PACKAGE)}:{literal.lineno}: {literal.value}"
        for path in SOURCES
        if PACKAGE / "privacy" not in path.parents and path != PACKAGE / "__init__.py"
        for literal in literals(path)
        if literal.value in kinds
    }
    assert found == set()


LABEL = re.compile(r"\[([a-z_]+\.[0-9]+)\]")
ROW = re.compile(r"^\| \[[a-z_]+\.[0-9]+\] \|", re.MULTILINE)
STATEMENT = re.compile(r"(?:^#+ |\*\*)(?:\[[a-z_]+\.[0-9]+\] ?)+", re.MULTILINE)
UNPREFIXED = re.compile(r"\[[A-Za-z][0-9]{1,2}'{0,2}(?:, [A-Z][0-9]{1,2})*\]")


def opened(page: Path, kind: re.Pattern[str]) -> list[tuple[int, str]]:
    """Labels of a page that open a row of its table of steps, or a statement, and where."""
    return [
        (found.start(), label)
        for found in kind.finditer(page.read_text())
        for label in LABEL.findall(found[0])
        if label.startswith(f"{page.stem}.")
    ]


def test_a_proof_label_is_defined_once() -> None:
    for page in PAGES:
        for kind in (ROW, STATEMENT):
            labels = [label for _, label in opened(page, kind)]
            assert len(labels) == len(set(labels)), page.stem


def test_proof_labels_are_numbered_in_their_order() -> None:
    for page in PAGES:
        order = [label for _, label in sorted(opened(page, ROW) + opened(page, STATEMENT))]
        numbered = [f"{page.stem}.{i}" for i in range(1, len(set(order)) + 1)]
        assert list(dict.fromkeys(order)) == numbered


def test_proof_labels_stand_on_a_page_and_in_the_code() -> None:
    defined = {
        label for page in PAGES for kind in (ROW, STATEMENT) for _, label in opened(page, kind)
    }
    code, others = (
        {
            label
            for top, ending in places
            for path in (ROOT / top).rglob(f"*.{ending}")
            for label in LABEL.findall(path.read_text())
        }
        for places in (
            (("src", "py"), ("tests", "py")),
            (("docs", "md"), ("benchmarks", "py"), ("reproduce", "py")),
        )
    )
    assert defined - code == set()
    assert (code | others) - defined == set()


def test_no_proof_label_lacks_its_page() -> None:
    found = {path.name: UNPREFIXED.findall(path.read_text()) for path in (*SOURCES, *PAGES)}
    assert {name: labels for name, labels in found.items() if labels} == {}


def test_a_first_release_loads_what_it_uses() -> None:
    """Tables, groups, persons, ledgers and stored releases are imported when asked for."""
    script = (
        "import sys, modicum\n"
        "modicum.mean([1.0] * 1000, epsilon=1)\n"
        "print(*(name for name in sys.modules if name.startswith('modicum')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert 50 < len(loaded) <= 130
    elsewhere = ("ledger", "pooled", "person_mean", "grouped", "table_release", "research", "local")
    assert [name for name in loaded for part in elsewhere if part in name] == []
