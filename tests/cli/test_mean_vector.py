"""``modicum mean-vector``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from modicum.cli import main


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    x = np.random.default_rng(1).normal([40, 170], [12, 9], size=(3000, 2)).round(2)
    pd.DataFrame(x, columns=["age", "height"]).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize(
    "cost", [("--rho", "0.5"), ("--epsilon", "1"), ("--rho", "0.5", "--method", "shifted")]
)
def test_means_of_named_columns(people: str, cost, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mean-vector", people, "age,height", "--within=-1e9,1e9", *cost]
    assert main(words) == 0
    assert "mean_vector of age, height: 2 numbers" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["axes"] == [{"column": ["age", "height"]}]
    assert found["values"] == pytest.approx([40, 170], abs=2)


@pytest.mark.parametrize(
    ("columns", "cost", "said"),
    [
        ("age,nope", ["--rho", "1"], "no column 'nope'"),
        ("age,age", ["--rho", "1"], "different names"),
        ("age", ["--epsilon", "-1"], "epsilon must be positive"),
        ("age", ["--epsilon", "1", "--method", "shifted"], "kind zcdp"),
        ("age", [], "cost is needed"),
    ],
)
def test_bad_arguments(columns, cost, said, people, capsys) -> None:
    assert main(["mean-vector", people, columns, "--within=-1e9,1e9", *cost]) == 2
    assert said in capsys.readouterr().err


def test_a_clipped_mean_and_plans(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    wide = "--within=-1e9,1e9"
    assert main(["clipped-mean-vector", people, "age,height", wide, "--epsilon", "1"]) == 0
    assert "clipped_mean_vector of age, height: 2 numbers" in capsys.readouterr().out
    for name in ("mean-vector", "clipped-mean-vector"):
        guess = ["--sd", "12,9", "--mean", "100", "--n", "1e3"]
        assert main(["plan", name, wide, *guess, "--rho", "0.5"]) == 0
        assert "the L2 distance of all means together" in capsys.readouterr().out
