"""The graph of imports, drawn from the sources: no circle of files, and no arrow that runs up.

Imports inside functions are arrows too, and those for type checkers alone. No module is imported by
a string but those of tables: of public names and of statistics, whose arrows are drawn, and of
types that may be stored. The last has none: ``codec`` imports what a stored record names, so what
wrote it stands above.
"""

import ast
import re
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

import modicum
from modicum.statistics.contents import CHAPTERS

PACKAGE = Path(modicum.__file__).parent
ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
LAYERS = {
    contract["containers"][0]: [re.split(" [:|] ", layer) for layer in contract["layers"]]
    for contract in CONTRACTS
    if contract["type"] == "layers" and contract["exhaustive"]
}
"""By the package whose layers they are, from top to bottom."""
TABLES = {
    "modicum": {
        *modicum._HOMES,
        *modicum._EXTRAS,
        *(f"{home}.{name}" for name, home in modicum._SUBMODULES.items()),
    },
    "modicum.statistics.contents": {f"modicum.{each}" for each in CHAPTERS.values()},
    "modicum.stored.codec": set[str](),
}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


@cache
def found(module: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))))


def named(node: ast.AST) -> set[str]:
    """Modules that a node imports."""
    match node:
        case ast.Import(names=names):
            return {each.name for each in names}
        case ast.ImportFrom(module=str(home), names=names):
            within = {each.name: f"{home}.{each.name}" for each in names}
            return {whole if whole in SOURCES else home for whole in within.values()}
    return set()


@cache
def arrows() -> dict[str, set[str]]:
    return {
        module: set().union(TABLES.get(module, ()), *map(named, found(module))) & SOURCES.keys()
        for module in SOURCES
    }


def test_no_files_import_each_other_in_a_circle() -> None:
    assert (
        "modicum.statistics.groups.pooled" in arrows()["modicum.statistics.means.mean"]
    )  # in a function
    TopologicalSorter(arrows()).prepare()  # CycleError names the files


@pytest.mark.parametrize("package", LAYERS)
def test_no_import_runs_up(package: str) -> None:
    height = {unit: -place for place, layer in enumerate(LAYERS[package]) for unit in layer}

    def floor(module: str) -> int | None:
        """Of a module of the package; its own is above them all, and others have none."""
        inside = f"{module}.".removeprefix(f"{package}.")
        return height.get(inside.split(".")[0], None if inside == f"{module}." else 1)

    up = {
        (module, other)
        for module, others in arrows().items()
        for other in others
        for high, low in [(floor(other), floor(module))]
        if high is not None and low is not None and high > low
    }
    assert up == set()


def test_research_and_protocols_are_asked_for_by_few() -> None:
    """By their names, by two methods of means and by plans of the papers' own questions."""
    beside = ("modicum.research.", "modicum.protocols.")
    asking = {
        (module, other.rpartition(".")[2])
        for module, others in arrows().items()
        for other in others
        if other.startswith(beside) and not module.startswith(beside)
    }
    assert asking == {
        ("modicum", "local"),
        ("modicum", "shuffle"),
        ("modicum", "theory"),
        ("modicum", "vector_statistic"),
        ("modicum.statistics.contents", "huang2021"),
        ("modicum.statistics.contents", "monotone"),
        ("modicum.statistics.contents", "vector_statistic"),
        ("modicum.statistics.means.mean", "dick2023"),
        ("modicum.statistics.vectors.mean_vector", "huang2021"),
        ("modicum.plan.statistics", "registry"),
    }


def test_imports_by_string_are_of_others() -> None:
    """Tables aside: no linter and no type checker sees a string."""
    for module in SOURCES.keys() - TABLES.keys():
        for node in found(module):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ("import_module", "__import__")
            ):
                assert "modicum" not in ast.unparse(node), f"{module}:{node.lineno}"


def test_imports_within_functions_are_of_ours() -> None:
    """Other libraries are imported by a string, so that no linter takes them for needed."""
    for module in SOURCES:
        for function in found(module):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Import | ast.ImportFrom):
                        assert named(node) <= SOURCES.keys(), f"{module}:{node.lineno}"


def test_the_layers_are_all_there_is_and_the_table_of_contributing() -> None:
    layers = [*chain.from_iterable(LAYERS["modicum"])]
    assert sorted(layers) == sorted({name.split(".")[1] for name in SOURCES if "." in name})
    (_, table) = (
        (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("| layer | contents |\n|---|---|\n")
    )
    rows = table.partition("\n\n")[0].splitlines()
    assert [x for row in rows for x in re.findall(r"`(\w+)`", row.split(" | ")[0])] == layers
