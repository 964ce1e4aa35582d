"""What stands around the package: how it is cited, and what is run elsewhere."""

import re
from pathlib import Path

import pytest

from modicum.version import VERSION

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="not in the sdist")


def test_the_citation_has_the_version() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {VERSION}\n" in text


def test_what_is_run_elsewhere_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    parts = {
        part.strip()
        for listed in re.findall(r"^ +part: \[(.*)\]$", workflow, re.MULTILINE)
        for part in listed.split(",")
    }
    assert len(parts) > 10
    assert parts <= targets
    assert "run: make test\n" in workflow


def test_all_lists_of_versions_agree() -> None:
    declared = (ROOT / "pyproject.toml").read_text()
    classified = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', declared)
    least = re.search(r'requires-python = ">=(3\.\d+)"', declared)
    assert least is not None
    assert classified[0] == least[1]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    run = re.findall(r'"(3\.\d+)"', workflow)
    assert set(classified) <= set(run)
