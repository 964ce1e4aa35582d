"""``--publish``: a file beside the answer, and what happens if it cannot be written."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import modicum as mo
from modicum.cli import main
from modicum.releases.publishing import files


@pytest.fixture
def people(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    rows = [f"{x:.2f},{'NS'[i % 2]}" for i, x in enumerate(rng.normal(5e4, 1e4, 20_000))]
    path.write_text("\n".join(["income,region", *rows]) + "\n")
    return str(path)


def rows_of(target: str) -> list[dict[str, str]]:
    return [*csv.DictReader(Path(target).read_text("utf-8").splitlines())]


def mean(people: str, *more: str) -> list[str]:
    words = ["mean", people, "income", "--epsilon", "1", "--by", "region", "--keys", "N,S"]
    return [*words, *more]


def test_a_table_is_published(people: str, tmp_path: Path, capsys) -> None:
    target = str(tmp_path / "out.csv")
    options = ["--digits=-2", "--suppress=below=10,wider=0.5", "--unreliable", "wider=1e-9"]
    words = mean(people, "--publish", target, *options, "--citation", "Office 2026")
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert out.startswith("mean of income by region")
    assert err == ""
    rows = rows_of(target)
    assert [each["region"] for each in rows] == ["N", "S"]
    assert {each["flag"] for each in rows} == {"U"}
    assert all(float(each["value"]) % 100 == 0 for each in rows)
    about = json.loads(Path(target + "-metadata.json").read_text("utf-8"))
    assert about["dc:bibliographicCitation"] == "Office 2026"
    assert main(words) == 2
    assert "is there already" in capsys.readouterr().err
    assert main([*words, "--overwrite", "--wide", "region", "--json", "--level", "0.99"]) == 0
    assert json.loads(capsys.readouterr().out)["statistic"] == "mean"
    assert rows_of(target)[0].keys() >= {"N", "S", "N flag"}
    about = json.loads(Path(target + "-metadata.json").read_text("utf-8"))
    assert about["notes"][0]["interval_level"] == 0.99


def test_a_description_and_one_number_are_published(people: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.csv")
    assert main(["describe", people, "income", "--epsilon", "2", "--publish", target]) == 0
    assert "income,median," in Path(target).read_text()
    words = ["count", people, "--epsilon", "1", "--publish", target, "--overwrite", "--base", "50"]
    assert main([*words, "--suppress", "unusable=no", "--digits", "auto"]) == 0
    assert float(rows_of(target)[0]["value"]) % 50 == 0
    assert main([*words[:-2], "--digits", "all"]) == 0


def test_the_interval_of_a_population_is_published(people: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.csv")
    words = ["mean", people, "income", "--epsilon", "1", "--population", "--publish", target]
    assert main([*words, "--of-population"]) == 0
    about = json.loads(Path(target + "-metadata.json").read_text("utf-8"))
    assert "population" in about["notes"][0]["interval_of"]
    assert main([*words, "--overwrite"]) == 0
    about = json.loads(Path(target + "-metadata.json").read_text("utf-8"))
    assert "data at hand" in about["notes"][0]["interval_of"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--digits", "2"], "--digits needs --publish"),
        (["--overwrite"], "--overwrite needs --publish"),
        (["--of-population"], "--of-population needs --publish"),
        (["--publish", "{}/x.csv", "--of-population"], "--of-population needs --population"),
        (["--publish", "{}/none/x.csv"], "there is no folder"),
        (["--publish", "{}"], "is a folder"),
        (["--publish", "{}/x.csv", "--wide", "sex"], "--wide must be a column of --by"),
        (["--publish", "{}/x.csv", "--digits", "2.5"], "--digits must be a whole number"),
        (["--publish", "{}/x.csv", "--suppress", "belw=2"], "did you mean 'below'"),
        (["--publish", "{}/x.csv", "--suppress", "below"], "--suppress must be rules"),
        (["--publish", "{}/x.csv", "--base", "0"], "base must be a positive"),
        (["--publish", "{}/x.csv", "--base", "5", "--digits", "1"], "not both"),
    ],
)
def test_bad_options_cost_nothing(people: str, tmp_path: Path, capsys, options, words) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(1))
    charged = ["--ledger", url, "--account", "people"]
    assert main(mean(people, *charged, *(each.format(tmp_path) for each in options))) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert mo.Ledger(url).account("people").spent == mo.pure(1) - mo.pure(1)


def test_an_answer_is_printed_though_its_file_cannot_be_written(
    people: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert main(mean(people, "--publish", str(tmp_path / "out.csv"))) == 4
    out, err = capsys.readouterr()
    assert out.startswith("mean of income by region")
    assert "  N  " in out
    assert err.startswith("modicum: error: released and charged, but not published: cannot write")
    assert err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()
