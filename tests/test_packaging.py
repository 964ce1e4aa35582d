"""The pinned requirements and what an import costs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement

import modicum

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKED = {
    "demo": "demo",
    "dev": "dev",
    "docs": "docs",
    "engines": "remote",
    "lowest": "test",
    "lowest-engines": "remote",
    "opendp": "opendp",
    "mbi": "mbi",
    "sklearn": "sklearn",
    "peers": "peers",
    "server": "server",
}


def pins(name: str) -> dict[str, set[str]]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    found: dict[str, set[str]] = {}
    for project, version in re.findall(r"^([a-z0-9-]+)==([^ ]+)", text, re.MULTILINE):
        found.setdefault(project, set()).add(version)
    return found


def wanted(group: str) -> list[Requirement]:
    named = resolve_dependency_groups(PYPROJECT["dependency-groups"], group)
    return [Requirement(text) for text in (*named, *PYPROJECT["project"]["dependencies"])]


def test_every_requirements_file_belongs_to_a_group() -> None:
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(LOCKED)


@pytest.mark.parametrize("name", LOCKED)
def test_the_pins_follow_pyproject(name: str) -> None:
    pinned = pins(name)
    for requirement in wanted(LOCKED[name]):
        versions = pinned.get(requirement.name, set())
        assert versions, f"{requirement.name} is not in requirements/{name}.txt: run tools/lock.sh"
        assert all(requirement.specifier.contains(version) for version in versions), requirement


@pytest.mark.parametrize("name", LOCKED)
def test_the_pins_carry_hashes_and_name_no_host(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert not re.search(r"://|file:|^-", text, re.MULTILINE)
    for block in re.split(r"\n(?=\S)", text):
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_the_demo_and_the_docs_share_the_pins_of_development() -> None:
    dev = pins("dev")
    for name in ("demo", "docs"):
        for project, versions in pins(name).items():
            assert dev.get(project, versions) == versions, project


def test_the_lowest_pins_are_the_declared_floors() -> None:
    lowest = pins("lowest")
    for requirement in wanted("test"):
        for floor in requirement.specifier:
            (version,) = lowest[requirement.name]
            assert (version + ".0").startswith(floor.version), requirement


def test_an_import_loads_no_engine() -> None:
    engines = (
        "pandas",
        "polars",
        "duckdb",
        "pyarrow",
        "pyspark",
        "dask",
        "ibis",
        "matplotlib",
        "scipy",
        "sqlite3",
        "sqlalchemy",
        "psycopg",
        "dp_accounting",
    )
    code = f"import sys, modicum; print(*[name for name in {engines} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_a_statistic_loads_its_own_chapter() -> None:
    code = "import sys, modicum; modicum.count; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in run.stdout.split() if name.startswith("modicum.")}
    assert "modicum.statistics.count" in loaded
    assert not loaded & {f"modicum.{name}" for name in ("plan", "cli", "audit", "interop")}
    assert not loaded & {f"modicum.statistics.{name}" for name in ("registry", "mean", "histogram")}


def test_every_public_name_is_found_when_asked_for() -> None:
    names = "names = [n for n in modicum.__all__ if n != '__version__']"
    code = f"import sys, modicum; {names}; print('numpy' in sys.modules); "
    code += (
        "print(all(hasattr(modicum, name) for name in names)); from modicum import *; print(mean)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("False\nTrue\n<function mean"), run.stdout


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'median_of_means'"):
        getattr(modicum, "median_of_means")  # noqa: B009
