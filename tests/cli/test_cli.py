"""The command line, called as a function and as a process."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import modicum
from modicum.cli import main, statistics

RANGE = "--within=-1e9,1e9"


@pytest.fixture
def people(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    rows = [f"{x:.2f},person" for x in rng.normal(5e4, 1e4, 20_000)]
    path.write_text("\n".join(["income,name", *rows]) + "\n")
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    assert main(argv) == status
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refusal(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("modicum: error: ")
    assert err.count("\n") == 1
    return err


def test_the_text_is_the_card(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "mean", people, "income", RANGE, "--epsilon", "1")
    lines = out.splitlines()
    assert lines[0].startswith("mean of income: ")
    assert 4e4 < float(lines[0].rpartition(" ")[2].replace(",", "")) < 6e4
    assert lines[1].startswith("  95 % interval  [")
    assert "ε = 1 for one row (add-remove; swap: ε = 2)" in out
    assert "not counted against any budget" in out


@pytest.mark.parametrize(
    "statistic",
    ["mean", "sum", "count", "median", "var", "std", "iqr", "min", "max"],
)
def test_json_is_one_object(
    statistic: str, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ranged = [RANGE] if statistic != "count" else []
    out = answer(capsys, statistic, people, "income", *ranged, "--epsilon", "1", "--json")
    assert out.count("\n") == 1
    record = json.loads(out)
    assert {"value", "interval", "epsilon", "neighbours", "within"} <= set(record)
    assert record["statistic"] == statistic
    assert record["interval"][0] <= record["value"] <= record["interval"][1]
    assert (record["epsilon"], record["neighbours"]) == (1, "add-remove")
    assert record["within"] == ([-1e9, 1e9] if ranged else None)
    assert record["private"] is True


def test_rows_are_counted_without_a_column(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "count", people, "--epsilon", "5").startswith("count of rows: ")


@pytest.mark.parametrize("words", [["--within", "-1e9,1e9"], ["--within", "-1e9,+1e9"]])
def test_a_range_may_be_a_word_of_its_own(
    words: list[str], people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "mean of income" in answer(capsys, "mean", people, "income", *words, "--epsilon", "1")


@pytest.mark.parametrize(
    ("cost", "shown"),
    [  # whoever is one of few persons gets no usable answer: status 3
        (["--epsilon", "1/3"], "ε = 1/3"),
        (["--rho", "0.1"], "ρ = 0.1"),
        (["--epsilon", "0.5", "--delta", "1e-6"], "ε = 0.5"),
        (["--epsilon", "1", "--rows-per-person", "4"], "one person with at most 4 rows"),
        (
            ["--epsilon", "1", "--unit-column", "name", "--combine", "mean"],
            "one person (name) with the mean of their rows",
        ),
        (
            ["--epsilon", "1", "--unit-column", "name", "--max-rows", "2"],
            "one person (name) with at most 2 rows each, at random",
        ),
        (
            ["--rho", "1", "--unit-column", "name", "--max-rows", "1", "--order-by", "income"],
            "one person (name) with at most 1 row each, the first by income",
        ),
    ],
)
def test_costs(
    cost: list[str], shown: str, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = 3 if "--unit-column" in cost else 0
    said = answer(capsys, "mean", people, "income", RANGE, *cost, status=status)
    assert shown in " ".join(said.split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--max-rows", "2"], "need --unit-column"),
        (["--combine", "mean"], "need --unit-column"),
        (["--unit-column", "name", "--order-by", "wage"], "give --max-rows too"),
        (["--unit-column", "name", "--rows-per-person", "2"], "not both"),
        (
            ["--unit-column", "name", "--combine", "mean", "--max-rows", "2"],
            "or neither for all",
        ),
        (["--unit-column", "name", "--combine", "median"], "invalid choice"),
        (["--unit-column", "who", "--combine", "mean"], "no column 'who'"),
        (["--unit-column", "name", "--max-rows", "0"], "at least 1"),
    ],
)
def test_one_rule_for_persons(
    words: list[str], text: str, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in refusal(capsys, "count", people, "--epsilon", "1", *words)


def test_a_plan_knows_persons(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--epsilon", "1", "--unit-column", "id", "--max-rows", "5"]
    assert "one person (id) with at most 5 rows" in answer(capsys, "plan", "count", *words)


def test_options_reach_the_release(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--method", "subset", "--step", "2^-10", "--epsilon", "1", "--json"]
    record = json.loads(answer(capsys, "mean", people, "income", RANGE, *options))
    assert (record["method"], record["step"]) == ("subset", 2**-10)
    options = ["--clusters", "keep", "--epsilon", "1", "--json"]
    record = json.loads(answer(capsys, "mean", people, "income", RANGE, *options))
    assert record["method"] == "adaptive"


@pytest.mark.usefixtures("few_runs")
def test_an_interval_for_the_population_is_bought(
    people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mean", people, "income", RANGE, "--epsilon", "1"]
    assert "confidence_interval" not in json.loads(answer(capsys, *words, "--json"))
    words.append("--population")
    record = json.loads(answer(capsys, *words, "--json"))
    assert record["confidence_interval"][0] < record["value"] < record["confidence_interval"][1]
    wider = json.loads(answer(capsys, *words, "--level", "0.9999", "--json"))
    assert wider["confidence_interval"][1] > wider["interval"][1]
    assert "  population     [" in answer(capsys, *words)
    assert "of the population    [" in answer(capsys, *words, "--level", "0.8")
    assert "--population" in refusal(capsys, *words, "--method", "subset")
    plan = ["plan", "mean", RANGE, "--n", "1e4", "--sd", "5e4", "--epsilon", "1"]
    assert "squares about the middle" in answer(capsys, *plan, "--population", "--json")


def test_the_interval_follows_level_and_tail(
    people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mean", people, "income", RANGE, "--epsilon", "1"]
    record = json.loads(answer(capsys, *words, "--level", "0.8", "--tail", "none", "--json"))
    assert record["interval_level"] == 0.8
    assert "clipped" in record["interval_assumption"]
    words[0] = "std"
    out = answer(capsys, *words, "--level", "0.8", "--tail", "3")
    assert "80 % interval" in out
    assert "records are near the lower bound" in out


def test_quantiles(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["quantile", people, "income", RANGE, "--epsilon", "1", "--json"]
    record = json.loads(answer(capsys, *words, "--q", "0.9"))
    assert record["statistic"] == "quantile"
    assert record["error_model"]["q"] == 0.9
    assert record["value"] == pytest.approx(62_800, rel=0.02)
    assert record["interval"][0] <= record["value"] <= record["interval"][1] < 1e5
    sure = json.loads(answer(capsys, *words, "--q", "1/3", "--level", "0.999"))
    assert (sure["error_model"]["drawn_level"], sure["interval_level"]) == (0.999, 0.999)
    assert sure["interval"][1] < 1e5
    point = json.loads(answer(capsys, *words, "--q", "0.9", "--level", "none"))
    assert point["interval"] == [-1e9, 1e9]
    out = answer(capsys, "median", people, "income", RANGE, "--rho", "0.1", "--explain")
    for label in ("count", "quantile", "ends"):
        assert f"  {label}" in out


def test_only_what_an_interval_uses_is_offered(
    people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tail where values are clipped, and no level where an interval is drawn."""
    words = [people, "income", RANGE, "--epsilon", "1"]
    assert "--tail" in refusal(capsys, "median", *words, "--tail", "2")
    assert "level" in refusal(capsys, "mean", *words, "--level", "none")
    for statistic in ("mean", "sum", "std", "var", "min", "max"):
        answer(capsys, statistic, *words, "--tail", "2")


def test_a_distance_of_quantiles(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["iqr", people, "income", RANGE, "--epsilon", "1", "--json"]
    record = json.loads(answer(capsys, *words, "--between", "0.1,0.9"))
    assert record["error_model"]["between"] == [0.1, 0.9]
    assert record["value"] == pytest.approx(25_600, rel=0.05)
    point = json.loads(answer(capsys, *words, "--level", "none"))
    assert point["interval"] == [0, 2e9]
    assert "between" in refusal(capsys, *words, "--between", "0.9,0.1")
    assert "between" in refusal(capsys, *words, "--between", "0.9")


@pytest.mark.parametrize(
    ("statistic", "noun"),
    [
        ("var", "a variance"),
        ("std", "a standard deviation"),
        ("iqr", "an interquartile range"),
        ("min", "a minimum"),
        ("max", "a maximum"),
    ],
)
@pytest.mark.one_in(4)
@pytest.mark.usefixtures("few_runs")
def test_plans_of_spreads(statistic: str, noun: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--n", "1e4", "--sd", "1", "--epsilon", "1"]
    out = answer(capsys, "plan", statistic, RANGE, *words)
    assert f"plan for {noun} of 10,000 rows" in out


@pytest.mark.usefixtures("few_runs")
def test_several_numbers(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    cost = ["--epsilon", "20", "--json"]
    words = ["quantiles", people, "income", RANGE, "--q", "0.25,1/2,0.75", *cost]
    found = json.loads(answer(capsys, *words))
    assert found["values"] == sorted(found["values"])
    assert found["axes"] == [{"q": [0.25, 0.5, 0.75]}]
    more = json.loads(answer(capsys, *words, "--level", "none"))
    assert more["upper"] == [1e9] * 3
    words = ["histogram", people, "income", *cost]
    cut = json.loads(answer(capsys, *words, "--edges=-inf,50000,inf"))
    assert len(cut["values"]) == 2
    drawn = json.loads(answer(capsys, *words, "--bins", "2", RANGE))
    assert sum(drawn["values"]) == pytest.approx(sum(cut["values"]), abs=6)
    assert drawn["axes"][0]["left"][1] == pytest.approx(found["values"][1], rel=0.05)
    assert "either --edges, or --bins" in refusal(capsys, *words)
    anywhere = json.loads(answer(capsys, *words, "--bins", "5"))
    assert len(anywhere["values"]) == 5
    assert anywhere["axes"][0]["right"][-1] == "inf"
    shares = json.loads(answer(capsys, "cdf", people, "income", "--points=0,1e9", *cost))
    assert shares["values"] == pytest.approx([0, 1], abs=0.01)
    for statistic in (
        ["quantiles", "--q", "0.5,0.9", RANGE],
        ["histogram", "--edges", "0,10,20"],
        ["histogram", "--bins", "5", RANGE],
        ["cdf", "--points", "5,10"],
    ):
        out = answer(capsys, "plan", *statistic, "--sd", "10", "--n", "5000", "--epsilon", "1")
        assert "expected error" in out


@pytest.mark.parametrize("verb", ["trimmed-mean", "winsorized-mean"])
@pytest.mark.one_in(2)
@pytest.mark.usefixtures("few_runs")
def test_trimmed_means(verb: str, people: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [verb, people, "income", RANGE, "--epsilon", "1"]
    record = json.loads(answer(capsys, *words, "--trim", "0.1", "--json"))
    assert record["statistic"] == verb.replace("-", "_")
    assert record["error_model"]["trim"] == 0.1
    assert record["interval"][0] <= record["value"] <= record["interval"][1] < 1e5
    out = answer(capsys, *words, "--trim", "1/20", "--explain")
    for label in ("count", verb.replace("-", " "), "radius of the interval"):
        assert f"  {label}" in out
    point = json.loads(answer(capsys, *words, "--trim", "0.1", "--level", "none", "--json"))
    assert point["interval"] == [-1e9, 1e9]
    shape = ["--n", "1e4", "--sd", "1", "--epsilon", "1", "--trim", "0.1"]
    assert "of 10,000 rows, trim = 0.1" in answer(capsys, "plan", verb, RANGE, *shape)


def test_explain_tells_every_draw(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "mean", people, "income", RANGE, "--epsilon", "2", "--explain")
    for label in ("zeros", "window", "centre", "radii", "rough mean", "deviations"):
        assert f"  {label}" in out


@pytest.mark.usefixtures("few_runs")
def test_plans(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "mean", RANGE, "--sd", "5e4", "--shape", "normal"]
    record = json.loads(answer(capsys, *words, "--n", "2e4", "--epsilon", "1", "--json"))
    assert record["n"] == 20_000
    expected = modicum.plan.mean(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")
    assert record["error"] == expected.error
    assert answer(capsys, *words, "--n", "2e4", "--epsilon", "1") == f"{expected}\n"
    wanted = answer(capsys, "plan", "count", "--error", "10")
    assert "plan for a count" in wanted
    assert "(10 wanted)" in wanted
    shape = ["--n", "1e4", "--sd", "1", "--epsilon", "1"]
    out = answer(capsys, "plan", "quantile", "--q", "0.9", RANGE, *shape)
    assert "plan for a quantile of 10,000 rows, q = 0.9" in out
    median = answer(capsys, "plan", "median", RANGE, *shape, "--level", "none")
    assert "plan for a median of 10,000 rows" in median
    assert "  ends" not in median
    out = answer(capsys, "plan", "sum", "--within=0,1e9", "--n", "1e4", "--sd", "1", "--rho", "1")
    assert "plan for a sum of 10,000 rows" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--json"], "VERB"),
        (["mode"], "invalid choice: 'mode'"),
        (["mean"], "FILE, COLUMN"),
        (["quantile", "{}", "income", RANGE, "--epsilon", "1"], "--q"),
        (["quantile", "{}", "income", RANGE, "--epsilon", "1", "--q", "2"], "q must lie"),
        (["quantile", "{}", "income", RANGE, "--epsilon", "1", "--q", "a"], "q must be"),
        (["plan", "quantile", RANGE, "--n", "9", "--sd", "1", "--q", "0"], "q must lie"),
        (["trimmed-mean", "{}", "income", RANGE, "--epsilon", "1"], "--trim"),
        (["trimmed-mean", "{}", "income", RANGE, "--epsilon", "1", "--trim", ".5"], "trim is"),
        (["geometric-mean", "{}", "income", "--epsilon", "1"], "--within"),
        (["mean", "{}", "income", "--epsilon", "1", "--step", "1"], "step needs within"),
        (["mean", "{}", "income", "--epsilon", "1", "--method", "bounded"], "needs --within"),
        (["mean", "{}", "income", RANGE], "--epsilon"),
        (["mean", "{}", "income", RANGE, "--epsilon", "0"], "epsilon must be positive"),
        (["mean", "{}", "income", RANGE, "--epsilon", "nan"], "epsilon"),
        (["mean", "{}", "income", RANGE, "--epsilon", "-1"], "epsilon must be positive"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--rho", "1"], "--rho"),
        (["mean", "{}", "income", RANGE, "--rho", "1", "--delta", "1e-6"], "--delta needs"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--delta", "2"], "delta"),
        (["mean", "{}", "income", "--within=1e9,-1e9", "--epsilon", "1"], "within"),
        (["mean", "{}", "income", "--within=1e9", "--epsilon", "1"], "argument --within"),
        (["mean", "{}", "income", "--bounds=0,1", "--epsilon", "1"], "--within=LO,HI"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--step", "2^-60"], "step"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--step", "fine"], "argument --step"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--method", "x"], "--method"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--level", "95"], "--level"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--tail", "0.5"], "--tail"),
        (["mean", "{}", "income", RANGE, "--epsilon", "1", "--rows-per-person", "0"], "--rows"),
        (["mean", "{}", "incme", RANGE, "--epsilon", "1"], "no column 'incme'"),
        (["mean", "{}.gone", "income", RANGE, "--epsilon", "1"], "people.csv.gone"),
        (["plan", "mean", RANGE, "--sd", "1", "--n", "10"], "exactly two"),
        (["plan", "mean", RANGE, "--sd", "wide", "--n", "10"], "argument --sd"),
        (["plan", "mean", RANGE, "--sd", "1", "--n", "ten", "--epsilon", "1"], "argument --n"),
        (["plan", "sum", RANGE, "--sd", "1", "--epsilon", "1"], "--n"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    words: list[str], told: str, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refusal(capsys, *[word.replace("{}", people) for word in words])


@pytest.mark.parametrize("words", [[], ["mean"], ["sum"], ["count"], ["plan"], ["plan", "mean"]])
def test_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, *words, "--help")
    assert out.startswith("usage: modicum")
    assert len(out.splitlines()) > 8


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "--version") == f"modicum {modicum.__version__}\n"


def test_an_interrupt_is_status_130(
    people: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(statistics, "_released", interrupted)
    assert main(["mean", people, "income", RANGE, "--epsilon", "1"]) == 130
    said = "modicum: interrupted: nothing was released or charged\n"
    assert capsys.readouterr() == ("", said)


def test_a_reader_that_leaves_is_no_error() -> None:
    words = [sys.executable, "-m", "modicum", "plan", "count", "--epsilon", "1"]
    done = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.close()
    assert done.stderr.read() == b""
    done.stderr.close()
    assert done.wait() == 1


def test_an_unreadable_file_is_one_line(
    people: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(statistics, "_released", unreadable)
    assert "Permission denied" in refusal(capsys, "mean", people, "income", RANGE, "--epsilon", "1")


def test_the_module_is_a_command_and_imports_no_engine(people: str) -> None:
    words = ["-m", "modicum", "count", people, "--epsilon", "1"]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.startswith("count of rows: ")
    listed = (
        "import sys, modicum.cli\n"
        "print([m for m in ('pandas', 'polars', 'pyarrow', 'duckdb', 'scipy', 'matplotlib')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", listed], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_console_without_greek_letters_is_served(people: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "modicum", "count", people, "--epsilon", "1"],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
    )
    assert b"cost           epsilon = 1 for one row" in done.stdout
    assert b"?" not in done.stdout


@pytest.fixture
def firms(tmp_path: Path) -> str:
    path = tmp_path / "firms.csv"
    rows = [f"{10 + i % 7},{'ab'[i % 2]},{i % 3},{i // 2}" for i in range(20_000)]
    path.write_text("\n".join(["wage,firm,size,who", *rows]) + "\n")
    return str(path)


def test_groups_of_a_file(firms: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["mean", firms, "wage", RANGE, "--epsilon", "1", "--by", "firm", "--keys", "b,a"]
    out = answer(capsys, *argv)
    assert out.startswith("mean of wage by firm: 2 groups\n")
    assert "not counted against any budget" in out
    record = json.loads(answer(capsys, *argv, "--json", "--level", "0.9"))
    assert [group["key"] for group in record["groups"]] == ["b", "a"]
    assert all(12 < group["release"]["value"] < 14 for group in record["groups"])
    assert record["alike"]["interval_level"] == 0.9
    assert answer(capsys, *argv, "--explain").count("Every draw") == 2
    counts = answer(capsys, "count", firms, "--epsilon", "1", "--by", "size", "--keys", "0,1,2")
    assert counts.count("6,6") >= 3


def test_keys_are_read_as_the_column_declares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2024-01-01", periods=3).repeat(1000)
    table = pd.DataFrame({"n": np.arange(3000) % 3, "t": days, "d": days.date})
    path = str(tmp_path / "t.parquet")
    table.to_parquet(path)
    for by, keys in (("n", "0,2"), ("t", "2024-01-01T00:00,2024-01-03"), ("d", "2024-01-02")):
        argv = ["count", path, "--epsilon", "2", "--by", by, "--keys", keys, "--json"]
        for group in json.loads(answer(capsys, *argv))["groups"]:
            assert abs(group["release"]["value"] - 1000) < 30
        assert "--keys" in refusal(capsys, *argv[:-2], "x")


def test_groups_of_quantiles(firms: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--epsilon", "1", "--by", "firm", "--keys", "b,a"]
    for words in (["median"], ["quantile", "--q", "0.9"]):
        out = answer(capsys, *words, firms, "wage", RANGE, *options)
        assert f"{words[0]} of wage by firm: 2 groups" in out


def test_keys_may_be_drawn(firms: str, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = ["--by", "firm", "--key-epsilon", "0.5", "--key-delta", "1e-6"]
    out = answer(capsys, "count", firms, "--epsilon", "1", *drawn)
    assert "count of rows by firm: 2 groups" in out
    assert "keys     drawn, for (ε, δ) = (0.5, 0.000001)" in out
    persons = ["--unit-column", "who", "--combine", "mean", "--max-groups", "2"]
    out = answer(capsys, "count", firms, "--epsilon", "1", *drawn, *persons)
    assert "in each of at most 2 groups" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--by", "firm"], "either --keys, or --key-epsilon"),
        (["--keys", "a"], "need --by"),
        (["--key-delta", "1e-6"], "need --by"),
        (["--max-groups", "1"], "need --by"),
        (["--by", "firm", "--key-epsilon", "1"], "go together"),
        (["--by", "firm", "--key-delta", "1e-6"], "go together"),
        (["--by", "firm", "--keys", "a", "--key-epsilon", "1"], "either --keys"),
        (["--by", "firm", "--key-epsilon", "x", "--key-delta", "1e-6"], "epsilon"),
        (["--by", "firm", "--key-epsilon", "1", "--key-delta", "1"], "delta"),
        (["--by", "firm", "--keys", "a", "--max-groups", "1"], "names persons"),
        (["--by", "firm", "--keys", "a", "--max-groups", "0"], "whole number"),
        (
            ["--by", "firm", "--keys", "a", "--unit-column", "wage", "--combine", "sum"],
            "--max-groups 1",
        ),
    ],
)
def test_options_of_groups_that_do_not_fit(
    options: list[str], text: str, firms: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in refusal(capsys, "count", firms, "--epsilon", "1", *options)


def test_drawn_keys_have_no_cost_in_rho(firms: str, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = ["--by", "firm", "--key-epsilon", "0.5", "--key-delta", "1e-6"]
    assert "--epsilon too" in refusal(capsys, "count", firms, "--rho", "1", *drawn)


def test_groups_by_several_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sales.csv"
    rows = ["region,year,x"] + ["N,2024,1", "S,2025,2", "N,2025,3"] * 500
    path.write_text("\n".join(rows), "utf-8")
    words = ["count", str(path), "--epsilon", "100", "--by", "region", "--by", "year"]
    out = answer(capsys, *words, "--keys", "N,S", "--keys", "2024,2025", "--json")
    groups = json.loads(out)["groups"]
    found = {tuple(each["key"]): each["release"]["value"] for each in groups}
    assert found == {("N", "2024"): 500, ("N", "2025"): 500, ("S", "2024"): 0, ("S", "2025"): 500}
    drawn = answer(capsys, *words, "--key-epsilon", "5", "--key-delta", "1e-6")
    assert "(S, 2025)" in drawn
    middle = ["quantiles", str(path), "x", "--q", "0.25,0.75", "--epsilon", "100"]
    out = answer(capsys, *middle, "--by", "region", "--keys", "N,S")
    assert out.splitlines()[1].split() == ["key", "q", "value", "95", "%", "interval"]
    found = json.loads(answer(capsys, *middle, "--by", "region", "--keys", "N,S", "--json"))
    assert len(found["groups"][1]["release"]["lower"]) == 2
    assert "once for each --by" in refusal(capsys, *words, "--keys", "N,S")
