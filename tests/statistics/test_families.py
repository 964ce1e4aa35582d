"""Each family of statistics has a page: its steps, a picture, and the benchmark that guards it."""

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2] / "src" / "modicum" / "statistics"
FAMILIES = sorted(path.parent for path in HOME.glob("*/__init__.py"))
PICTURE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_says_how_it_works(family: Path) -> None:
    text = (family / "README.md").read_text("utf-8")
    assert len(PICTURE.findall(text)) == 1
    assert 250 <= len(PICTURE.sub("", text).split()) <= 420  # with the links to proofs
    assert "`benchmarks/" in text
    assert re.search(r"\[\w+\.\d+\]", text)
    named = set(re.findall(r"\b\w+\.py\b", text.partition("## What guards it")[0]))
    assert {path.name for path in family.glob("[a-z]*.py")} <= named
    assert named <= {path.name for path in HOME.parent.rglob("*.py")}
    missing = {link for link in re.findall(r"\]\(([^)]+)\)", text) if not (family / link).exists()}
    assert missing == set()
