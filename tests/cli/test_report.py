"""``--report`` and ``modicum report``: a page beside an answer, or of one printed before."""

import io
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


VERBS = {
    "mean": ["income", "--epsilon", "1"],
    "count": ["--epsilon", "1", "--by", "region", "--keys", "N,S"],
    "quantiles": ["income", "--q", "0.1,0.5", "--epsilon", "1"],
    "describe": ["--epsilon", "2"],
    "crosstab": ["region", "--keys", "N,S", "--epsilon", "1"],
    "value-counts": ["region", "--keys", "N,S", "--epsilon", "1"],
    "n-distinct": ["region", "--epsilon", "1"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_write_a_page(people: str, tmp_path: Path, capsys, verb) -> None:
    first, second = (str(tmp_path / name) for name in ("a.html", "b.html"))
    words = [verb, people, *VERBS[verb], "--json", "--report", first, "--author", "Office"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Office" in Path(first).read_text("utf-8")
    stored = tmp_path / "release.json"
    stored.write_text(out, encoding="utf-8")
    assert main(["report", str(stored), "--out", second, "--author", "Office"]) == 0
    assert capsys.readouterr().out == f"wrote {second}\n"
    one, other = (data_of(path) for path in (first, second))
    assert one == other
    for name in one.keys() - {"groups", "lower", "upper"}:
        assert json.loads(out)[name] == one[name]


def data_of(path: str) -> dict[str, object]:
    text = Path(path).read_text("utf-8").partition('<script type="application/json" id="record">')
    found: dict[str, object] = json.loads(text[2].partition("</script>")[0])
    return found


def test_a_table_and_a_page(people: str, tmp_path: Path, capsys) -> None:
    table, page = (str(tmp_path / name) for name in ("a.csv", "a.html"))
    words = ["mean", people, "income", "--epsilon", "1", "--publish", table, "--report", page]
    assert main([*words, "--digits=-3", "--level", "0.5", "--title", "Pay"]) == 0
    assert ",50000," not in capsys.readouterr().err
    assert "50,000" in Path(page).read_text("utf-8")
    assert "50000," in Path(table).read_text("utf-8")
    assert "With 50 % confidence" in Path(page).read_text("utf-8")


def test_standard_input(people: str, tmp_path: Path, monkeypatch) -> None:
    text = mo.mean([1.0, 2.0] * 999, epsilon=1).to_json()
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["report", "-", "--out", str(tmp_path / "p.html"), "--level", "0.9"]) == 0
    assert "With 90 % confidence" in (tmp_path / "p.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--report", "{}/there.html"], "is there already"),
        (["--report", "{}/none/x.html"], "there is no folder"),
        (["--report", "{}"], "is a folder"),
        (["--author", "Office"], "--author needs --publish FILE.csv or --report FILE.html"),
        (["--publish", "{}/x.csv", "--author", "Office"], "--author needs --report"),
        (["--report", "{}/x.html", "--wide", "region"], "--wide needs --publish"),
        (["--report", "{}/x.out", "--publish", "{}/x.out"], "name the same file"),
        (["--report", "{}/x.html", "--digits", "many"], "--digits must be"),
        (["--report", "{}/x.html", "--to", "{}/x.parquet"], "--to writes all counts"),
        (["--publish", "{}/x.csv", "--to", "{}/x.parquet"], "--to writes all counts"),
    ],
)
def test_bad_options_cost_nothing(people: str, tmp_path: Path, capsys, options, words) -> None:
    (tmp_path / "there.html").write_text("mine")
    url = f"sqlite:///{tmp_path}/budget.db"
    mo.Ledger.create(url).open_account("people", mo.pure(1))
    command = ["count", people, "--epsilon", "1", "--by", "region", "--keys", "N,S"]
    charged = ["--ledger", url, "--account", "people"]
    assert main([*command, *charged, *(each.format(tmp_path) for each in options)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert mo.Ledger(url).account("people").spent.amount == 0
    assert (tmp_path / "there.html").read_text() == "mine"


def test_a_folder_that_cannot_be_written_to(people, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    page = str(tmp_path / "x.html")
    assert main(["count", people, "--epsilon", "1", "--report", page]) == 2
    assert "cannot be written to" in capsys.readouterr().err


def test_an_answer_is_printed_though_its_page_cannot_be_written(
    people: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    table, page = (str(tmp_path / name) for name in ("a.csv", "a.html"))
    words = ["count", people, "--epsilon", "1", "--publish", table, "--report", page]
    assert main(words) == 4
    out, err = capsys.readouterr()
    assert out.startswith("count of rows")
    assert err.count("No space left") == 2
    assert err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("text", ["", "{}", "\xff", '{"stored": 1}'])
def test_what_is_no_release(tmp_path: Path, capsys, text) -> None:
    stored = tmp_path / "r.json"
    stored.write_bytes(text.encode("latin-1"))
    assert main(["report", str(stored), "--out", str(tmp_path / "p.html")]) == 2
    assert "release" in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()


def test_bad_files(tmp_path: Path, capsys) -> None:
    assert main(["report", str(tmp_path / "none.json"), "--out", str(tmp_path / "p.html")]) == 2
    assert "none.json" in capsys.readouterr().err
    assert main(["report", "x.json"]) == 2
    assert "--out" in capsys.readouterr().err
