"""The README tells what happens: its code is run, and its output has the shape it shows."""

import importlib.util
import re
import runpy
import shlex
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def block(text: str, language: str = "") -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def structure(output: str) -> list[str]:
    """Lines with every number replaced; a note depends on the noise."""
    note = ("  note ", " " * 17)  # and its further lines
    lines = [line for line in output.splitlines() if not line.startswith(note)]
    return [re.sub(r"-?\d+(?:,\d{3})*(\.\d+)?(e[+-]?\d+)?", "#", line) for line in lines]


def test_the_first_example_is_a_file() -> None:
    code = block(section("Example"), "python")
    assert code == (ROOT / "examples/readme.py").read_text(encoding="utf-8")
    statements = [line for line in code.splitlines() if line and "import" not in line]
    assert len(statements) <= 10


def test_its_output_is_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/readme.py"))
    out = capsys.readouterr().out
    shown = block(section("Example"), "text")
    assert structure(out) == structure(shown)
    assert out.splitlines()[-1] == shown.splitlines()[-1]


def test_a_table_of_your_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    visits = pd.DataFrame({"patient": np.arange(9000) // 3, "cost": rng.lognormal(5, 1, 9000)})
    visits["age"] = rng.integers(0, 99, 9000).astype(str)
    visits.loc[::40, "age"], visits.loc[::50, "cost"] = "unknown", np.nan
    visits.to_csv("visits.csv", index=False)
    text = section("Your own table")
    for line in block(text).splitlines():
        assert main(shlex.split(line)[1:]) == 0
    assert "words for missing values" in capsys.readouterr().out
    page = Path("cost.html")
    assert "cost" in page.read_text("utf-8")
    page.unlink()
    exec(block(text, "python"), {"mo": mo})
    assert page.exists()


def test_the_python_lines_run() -> None:
    rng = np.random.default_rng(0)
    income = rng.lognormal(10.5, 0.5, 20_000)
    table = pd.DataFrame({"income": income, "patient": np.arange(20_000) // 4})
    release = mo.mean(table, "income", within=(-1e9, 1e9), epsilon=1)
    names = {"mo": mo, "table": table, "visits": table.rename(columns={"income": "cost"})}
    exec(block(section("In Python")), {**names, "release": release})


def test_the_plan_is_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = section("On the command line")
    words = shlex.split(block(text).splitlines()[-1])
    assert words[:3] == ["modicum", "plan", "mean"]
    assert main(words[1:]) == 0
    assert structure(capsys.readouterr().out) == structure(block(text, "text"))


def test_the_commands_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = pd.DataFrame({"income": np.arange(2000.0)})
    table.to_csv(tmp_path / "people.csv", index=False)
    table.to_parquet(tmp_path / "people.parquet")
    for line in block(section("On the command line")).splitlines()[:-1]:
        words = [
            str(tmp_path / word) if word.startswith("people.") else word
            for word in shlex.split(line)
        ]
        assert main(words[1:]) == 0
    assert "count of rows" in capsys.readouterr().out


def test_files_that_are_named_exist() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    # the comparison is written by `make bench`
    missing = [t for t in targets if not (ROOT / t).exists() and t != "docs/research/comparison.md"]
    assert missing == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z-]+)", README, flags=re.MULTILINE):
        assert f"\n{target}:" in makefile


@pytest.fixture
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples/demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_demo_runs(
    demo: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "RUNS", 5)
    demo.main()
    out = capsys.readouterr().out
    assert "mean of nettfa: " in out
    assert "the true mean is 19.07" in out
    assert max(map(len, out.splitlines())) <= 200
    assert len(out.splitlines()) <= 40


def test_its_comparison_is_the_one_that_was_measured() -> None:
    page = (ROOT / "docs/research/comparison.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\|.*\|$", section("How it compares"), flags=re.MULTILINE)
    assert len(shown) > 5
    assert "\n".join(shown) in page
