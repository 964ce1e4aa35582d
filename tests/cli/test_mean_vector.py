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
    "price", [("--rho", "0.5"), ("--epsilon", "1"), ("--rho", "0.5", "--method", "shifted")]
)
def test_means_of_named_columns(people: str, price, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mean-vector", people, "age,height", "--within=-1e9,1e9", *price]
    assert main(words) == 0
    assert "mean_vector of age, height: 2 numbers" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["axes"] == [{"column": ["age", "height"]}]
    assert found["values"] == pytest.approx([40, 170], abs=2)


@pytest.mark.parametrize(
    ("columns", "price", "said"),
    [
        ("age,nope", ["--rho", "1"], "no column 'nope'"),
        ("age,age", ["--rho", "1"], "different names"),
        ("age", ["--epsilon", "-1"], "epsilon must be positive"),
        ("age", ["--epsilon", "1", "--method", "shifted"], "kind zcdp"),
        ("age", [], "price is needed"),
    ],
)
def test_bad_arguments(columns, price, said, people, capsys) -> None:
    assert main(["mean-vector", people, columns, "--within=-1e9,1e9", *price]) == 2
    assert said in capsys.readouterr().err
