"""The page of a plan: what it says without a browser, and that what it tells to copy can be run."""

import base64
import hashlib
import json
import math
import pickle
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum import plan
from modicum.cli import main
from modicum.plan import grid as grids
from modicum.plan.asked import AMOUNT
from modicum.plan.grid import Grid, Point, grid_of
from modicum.plan.page import PlanPage
from modicum.plan.summary import Plan
from modicum.privacy.budget import approx
from modicum.research.papers import kulesza2023
from modicum.statistics.contents import PLANNED
from modicum.statistics.registry import STATISTICS
from tests.statistics.robust.test_location import OwnMedian

WIDE = {"within": (-1e9, 1e9)}
GUESS = {"sd": 5e4, "n": 20_000}
OPTIONS: dict[str, dict] = {
    "count": {},
    "cdf": {"points": [0, 1e4, 1e6], **GUESS},
    "histogram": {"edges": [0, 1e4, 1e6], **GUESS},
    "quantile": {"q": "0.9", **WIDE, **GUESS},
    "quantiles": {"q": np.array([0.25, 0.5]), **WIDE, **GUESS},
    "expectile": {"tau": 0.9, "level": None, **WIDE, **GUESS},
    "lp_center": {"p": 1.5, "level": 0.99, **WIDE, **GUESS},
    "iqr": {"between": ("0.1", "0.9"), **GUESS},
    "geometric_mean": {"within": (1, 1e9), **GUESS},
    "trimmed_mean": {"trim": 0.1, **WIDE, **GUESS},
    "winsorized_mean": {"trim": "0.1", **WIDE, **GUESS},
    "monotone_statistic": {"statistic": OwnMedian(), **WIDE, **GUESS},
    "mean_vector": {**WIDE, "sd": [3.0, 1.0], "n": 3000},
    "clipped_mean_vector": {**WIDE, "sd": [3.0, 1.0], "n": 3000},
    "covariance": {**WIDE, "sd": [3.0, 1.0], "n": 3000},
    "pca": {**WIDE, "sd": [3.0, 1.0], "n": 3000, "components": 1},
    "linear_regression": {**WIDE, "sd": [3.0, 1.0], "n": 3000, "r2": 0.5},
}
SLOW = {"expectile", "lp_center", "huber", "monotone_statistic", "linear_regression"}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PLANNED]


def planned(name: str, **more) -> Plan:
    asked = {**OPTIONS.get(name, {**WIDE, **GUESS}), **more}
    return getattr(plan, name)(**{"epsilon": 3, **asked})


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    names = ("value", "x1", "x2", "y")
    found = pd.DataFrame({name: rng.lognormal(3, 1, 3000) for name in names})
    found["who"], found["day"] = rng.integers(0, 900, 3000), rng.integers(0, 9, 3000)
    monkeypatch.chdir(tmp_path)
    found.to_csv("table.csv", index=False)
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("few_runs")
def test_what_is_copied_runs_and_asks_what_was_planned(name, table, capsys) -> None:
    found = planned(name)
    code = found.asked.python(found.budget).replace(AMOUNT, "2.5")
    scope = {"table": table, "statistic": OPTIONS.get(name, {}).get("statistic")}
    exec(code, scope)
    release = scope["release"]
    assert release.statistic == found.statistic
    assert release.event.cost("pure") == mo.pure("2.5")
    command = found.asked.command(found.budget)
    if name == "monotone_statistic":
        assert command is None
        return
    words = command.replace(AMOUNT, "2.5").split()
    assert main(words[1:]) in {0, 3}
    assert "ε = 2.5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("unit", "python", "words"),
    [
        (mo.unit_of(rows=5), "unit=mo.unit_of(rows=5)", "--rows-per-person=5"),
        (
            mo.unit_of("who", max_rows=3, order_by="day"),
            "unit=mo.unit_of('who', max_rows=3, order_by='day')",
            "--unit-column=who --max-rows=3 --order-by=day",
        ),
        (
            mo.unit_of("who", combine="mean"),
            "unit=mo.unit_of('who', combine='mean')",
            "--unit-column=who --combine=mean",
        ),
    ],
)
@pytest.mark.usefixtures("few_runs")
def test_who_is_protected_is_copied_too(unit, python, words, table) -> None:
    found = planned("mean", unit=unit, budget=approx(3, "1e-6"), epsilon=None)
    code, command = found.asked.python(found.budget), found.asked.command(found.budget)
    assert python in code
    assert words in command
    assert "--delta 0.000001" in command
    scope = {"table": table}
    exec(code.replace(AMOUNT, "2.5"), scope)
    assert scope["release"].unit == unit
    assert main(command.replace(AMOUNT, "2.5").split()[1:]) in {0, 3}


@pytest.mark.usefixtures("few_runs")
def test_a_paper_s_algorithm_is_copied_for_a_curator(table) -> None:
    question = kulesza2023.shifted_mean
    found = plan.release(question, within=(0, 120), sd=12, mean=40, n=5000, epsilon=1)
    assert found.asked.command(found.budget) is None
    scope = {"table": table.value}
    exec(found.asked.python(found.budget).replace(AMOUNT, "2").replace('"value", ', ""), scope)
    assert scope["release"].event.cost("pure") == mo.pure(2)


def record(text: str) -> dict:
    part = re.search(r'<script type="application/json" id="record">(.*?)</script>', text)
    return json.loads(part[1])


@pytest.fixture
def thin(monkeypatch) -> None:
    """Pages of fewer points."""
    monkeypatch.setattr(grids, "_FACTORS", grids._THIN)


@pytest.mark.usefixtures("few_runs", "thin")
def test_the_page_says_what_plans_say(tmp_path) -> None:
    found = planned("sum")
    text = found.report(tmp_path / "plan.html").read_text("utf-8")
    known = record(text)
    i, j = known["amounts"].index(3), known["sizes"].index(20_000)
    assert known["error"][i][j] == found.error
    assert known["half"][i][j] == found.interval_width / 2
    assert known["plan"] == json.loads(found.to_json())
    for k, n in ((-1, 0), (0, -1)):
        other = planned("sum", n=known["sizes"][n], epsilon=known["amounts"][k])
        assert known["error"][k][n] == pytest.approx(other.error, rel=0.3)
    assert "epsilon=&quot;3&quot;" in text
    assert "lognormal with mean 50,000 and sd 50,000" in text
    for each in ("http:", "https:", "onclick", "onload", " src=", "@import", "url(http"):
        assert each not in text
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in text or f"'sha256-{digest}'" in text


@pytest.mark.usefixtures("few_runs", "thin")
def test_points_that_cannot_be_used_are_not_drawn() -> None:
    found = plan.mean(**WIDE, sd=5e4, n=5000, epsilon=1)
    few = plan.mean(**WIDE, sd=5e4, n=50, epsilon="0.1")
    assert found.usable
    assert not few.usable
    grid = grid_of(few, few.asked)
    i, j = grid.costs.index(few.budget), grid.sizes.index(50)
    assert grid.points[i][j][:2] == (None, None)
    assert grid.points[i][j].status == few.status
    assert grid.points[-1][-1].error < 1e4
    text = PlanPage(few, few.asked, grid).text("few")
    assert "Infinity" not in text
    assert "NaN" not in text


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "asked",
    [
        {"sd": 1e-9, "within": (0, 1e-6), "n": 3},
        {"sd": 1e9, "n": 10**12, "shape": "pareto"},
        {"sd": 1e250, "n": 1000},
    ],
)
@pytest.mark.usefixtures("few_runs", "thin")
def test_ugly_guesses_make_pages(asked, tmp_path) -> None:
    found = plan.mean(**asked, epsilon="1/3")
    text = found.report(tmp_path / "plan.html").read_text("utf-8")
    known = record(text)
    assert "1/3" in known["steps"]["amounts"]
    assert known["sizes"] == sorted(set(known["sizes"]))
    assert known["steps"]["sizes"][0] == known["sizes"][0] >= 1
    assert known["steps"]["sizes"][-1] == known["sizes"][-1] <= 10**12


@pytest.mark.usefixtures("few_runs")
def test_nothing_is_computed_for_a_file_that_is_there(tmp_path, monkeypatch, capsys) -> None:
    path = tmp_path / "plan.html"
    path.write_text("mine")
    found = planned("count")
    monkeypatch.setattr("modicum.plan.page.grid_of", None)
    with pytest.raises(mo.InvalidArgument, match="is there already"):
        found.report(path)
    with pytest.raises(mo.InvalidArgument, match="no folder"):
        found.report(tmp_path / "none" / "plan.html")
    words = ["plan", "count", "--epsilon", "1"]
    assert main([*words, "--report", str(path)]) == 2
    assert main([*words, "--overwrite"]) == 2
    assert main([*words, "--title", "Plan"]) == 2
    assert "--title needs --report" in capsys.readouterr().err
    assert path.read_text() == "mine"


@pytest.mark.usefixtures("few_runs", "thin")
def test_the_command_line_writes_the_page(tmp_path, capsys) -> None:
    path = tmp_path / "plan.html"
    words = ["plan", "count", "--rho", "0.5", "--title", "<Our> count", "--report", str(path)]
    assert main(words) == 0
    assert "expected error" in capsys.readouterr().out
    text = path.read_text("utf-8")
    assert "<h1>&lt;Our&gt; count</h1>" in text
    assert "rho=&quot;0.5&quot;" in text
    assert "said-odds" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


@pytest.mark.usefixtures("few_runs")
def test_what_takes_too_long_is_left_out(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(grids, "_SECONDS", -1.0)
    found = planned("mean")
    grid = grid_of(found, found.asked)
    assert grid.costs == (found.budget,)
    assert not grid.whole
    reached = [each for row in grid.points for each in row if each.error is not None]
    assert reached == [Point(found.error, found.interval_width / 2, found.status)]
    assert "left out" in found.report(tmp_path / "plan.html").read_text("utf-8")


@pytest.mark.usefixtures("few_runs")
def test_a_plan_is_kept_and_compared_as_before() -> None:
    found = planned("mean")
    assert pickle.loads(pickle.dumps(found)) == found
    assert "asked" not in repr(found)
    assert found == planned("mean")


def test_every_statistic_with_a_plan_is_tried_here() -> None:
    assert {each.name for each in STATISTICS if each.plan is not None} == set(PLANNED)


@pytest.mark.usefixtures("few_runs", "thin")
def test_values_of_the_sliders_are_round_and_hold_the_plan_s() -> None:
    found = planned("count", epsilon="0.37")
    grid = grid_of(found, found.asked)
    amounts, sizes = PlanPage(found, found.asked, grid)._steps()
    assert found.budget.amount in amounts
    assert found.n in sizes
    assert all(math.log10(b / a) < 0.2 for a, b in pairwise(amounts))
    assert isinstance(grid, Grid)
