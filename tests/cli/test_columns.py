"""``modicum covariance``, ``pca`` and ``linear-regression``, and their plans."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from modicum.cli import main

RANGE = "--within=-1e6,1e6"


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal([40, 170], [12, 9], size=(6000, 2)), columns=["age", "height"])
    table["weight"] = 0.9 * table.height + rng.normal(0, 4, 6000)
    table.round(2).to_csv(path, index=False)
    return str(path)


def test_statistics_of_named_columns(people, capsys) -> None:
    cost = [RANGE, "--rho", "1"]
    assert main(["covariance", people, "age,height", *cost]) == 0
    assert "covariance of age, height: 4 numbers" in capsys.readouterr().out
    assert main(["pca", people, "age,height,weight", "--components", "1", *cost, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert np.array(found["values"]).shape == (1, 3)
    words = ["linear-regression", people, "age,height", "--target", "weight", *cost]
    assert main([*words, "--tail", "none"]) == 0
    assert "[" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["axes"] == [{"term": ["intercept", "age", "height"]}]
    assert found["values"][2] == pytest.approx(0.9, abs=0.3)
    assert "confidence_lower" not in found
    assert main([*words, "--population", "--json", "--level", "0.8"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["confidence_lower"][2] < found["lower"][2]
    assert main([*words, "--population"]) == 0
    assert "population" in capsys.readouterr().out.splitlines()[1]


@pytest.mark.parametrize("columns", [["age", "height"], ["age,height"], ["age,", "height"]])
def test_columns_are_one_word_or_several(people, capsys, columns) -> None:
    assert main(["covariance", people, *columns, RANGE, "--rho", "1"]) == 0
    assert "covariance of age, height: 4 numbers" in capsys.readouterr().out
    assert main(["describe", people, *columns, "--epsilon", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["age", "height"]
    words = ["crosstab", people, *columns, "--with", "a=age", "--keys=1", "--keys=2"]
    assert main([*words, "--epsilon", "1"]) in {0, 3}
    assert "of age × height" in capsys.readouterr().out


def test_a_name_may_have_a_comma(tmp_path, capsys) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"a,b",c\n' + "1,2\n" * 500)
    assert main(["describe", str(path), "a,b", "c", "--epsilon", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["a,b", "c"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["covariance", "FILE", "age,nope", RANGE, "--epsilon", "1"], "no column 'nope'"),
        (["pca", "FILE", "age", RANGE, "--epsilon", "1"], "--components"),
        (["pca", "FILE", "age", "--components", "0", RANGE, "--epsilon", "1"], "at least 1"),
        (["linear-regression", "FILE", "age", RANGE, "--epsilon", "1"], "--target"),
        (
            ["linear-regression", "FILE", "age", "--target", "age", RANGE, "--epsilon", "1"],
            "among the columns",
        ),
        (["plan", "covariance", RANGE, "--sd", "1,x", "--n", "9", "--epsilon", "1"], "--sd"),
        (["plan", "covariance", RANGE, "--sd", "1", "--n", "9"], "exactly two"),
        (["plan", "linear-regression", RANGE, "--sd", "1", "--n", "9", "--epsilon", "1"], "--r2"),
    ],
    ids=" ".join,
)
def test_bad_arguments(words, said, people, capsys) -> None:
    assert main([people if word == "FILE" else word for word in words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["covariance"],
        ["pca", "--components", "1"],
        ["linear-regression", "--r2", "0.5", "--target-sd", "3"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("few_runs")
def test_plans(words, capsys) -> None:
    coarse = ["--within=-1e3,1e3", "--step", "2^-6"]
    asked = ["plan", *words, *coarse, "--sd", "2,1", "--n", "500", "--epsilon", "1"]
    assert main([*asked, "--correlation", "0.5"]) == 0
    said = capsys.readouterr().out
    assert "of 500 rows of 2 normal columns with sd 1 to 2, correlation 0.5" in " ".join(
        said.split()
    )
