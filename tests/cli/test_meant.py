"""Wrong uses of the command line, and what the message proposes."""

from pathlib import Path

import pytest

from modicum.cli import main

RANGE = "--within=-1e9,1e9"
COST = ["--epsilon", "1"]


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("income,age,region\n" + "10,20,North\n" * 50)
    return str(path)


def refusal(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("modicum: error: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["geometric-mean", "{}", "income", *COST], "such as --within=-1e9,1e9 (see modicum geo"),
        (["meen", "{}", "income"], "did you mean 'mean'?"),
        (["hubre", "{}", "income"], "did you mean 'huber'?"),
        (["plan", "quantil"], "did you mean 'quantile'?"),
        (["ledger", "creat"], "did you mean 'create'?"),
        (
            ["mean", "{}", "income", RANGE, "--eps", "1"],
            "did you mean '--epsilon'? (see modicum mean --help)",
        ),
        (["mean", "{}", "income", "--withn=-1,1", *COST], "did you mean '--within'?"),
        (["mean", "{}", "income", RANGE, "--methd=subset"], "did you mean '--method'?"),
        (["ledger", "show", "--jsn"], "did you mean '--json'? (see modicum ledger show --help)"),
        (["plan", "mean", RANGE, "--shap", "normal"], "(see modicum plan mean --help)"),
        (["mean", "{}", "income", "more", RANGE], "arguments: more (see modicum mean --help)"),
        (["mean", "{}", "income", RANGE, "--method", "subse"], "did you mean 'subset'?"),
        (["mean", "{}", "incom", RANGE, *COST], "did you mean 'income'? columns: 'income', "),
        (["mean", "{}", "Income", RANGE, *COST], "did you mean 'income'?"),
        (["count", "{}", *COST, "--by", "regio", "--keys", "North"], "did you mean 'region'?"),
        (["count", "{}", *COST, "--unit-column", "Age", "--max-rows", "1"], "mean 'age'?"),
        (["histogram", "{}", "region", *COST], "`modicum count FILE --by COLUMN --keys A,B`"),
        (["quantile", "{}", "income", RANGE, "--q", "90", *COST], "in percent that is q = 0.9"),
        (["quantile", "{}", "income", RANGE, "--q", ".5,.9", *COST], "`quantiles` takes several"),
        (["quantiles", "{}", "income", RANGE, "--q", "25,75", *COST], "that is q = 0.25, 0.75"),
        (
            ["linear-regression", "{}", "age,income", "--target", "income", RANGE, *COST],
            "the target 'income' is among the columns: leave it out",
        ),
        (["ledger", "create", *COST], "name the account: --account NAME"),
        (["ledger", "grant", "a", "--account", "b", *COST], "not both 'a' and 'b'"),
    ],
)
def test_the_message_says_what_was_meant(
    words: list[str], told: str, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refusal(capsys, *[word.replace("{}", people) for word in words])


@pytest.mark.parametrize(
    "words", [["zzz"], ["mean", "{}", "zzz", RANGE, *COST], ["mean", "{}", "income", "--zzz"]]
)
def test_nothing_is_proposed_for_what_is_like_nothing(
    words: list[str], people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refusal(capsys, *[word.replace("{}", people) for word in words])
    assert "did you mean" not in told


def test_each_verb_stands_once_in_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    told = refusal(capsys, "meen")
    names = told.partition("(choose from ")[2].partition(")")[0].split(", ")
    assert len({name.replace("_", "-") for name in names}) == len(names) > 20
    assert main(["--help"]) == 0
    assert "lp_center" not in capsys.readouterr().out


def test_names_of_statistics_may_be_written_as_in_python(
    people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mean_vector", people, "income,age", RANGE, *COST]
    assert main(words) in {0, 3}
    assert capsys.readouterr().out.startswith("mean_vector of income, age")
    assert (
        main(["plan", "trimmed_mean", RANGE, "--sd", "1", "--n", "5000", "--trim", "0.1", *COST])
        == 0
    )
    assert "trimmed mean" in capsys.readouterr().out.replace("_", " ")


@pytest.mark.parametrize("words", [[], ["help"]])
def test_no_verb_is_a_request_for_help(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("usage: modicum")


def test_an_account_is_named_alike_everywhere(
    people: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = ["--ledger", f"sqlite:///{tmp_path}/b.db"]
    named = ["--account", "staff"]
    assert main(["ledger", "create", *ledger, *named, "--epsilon", "2"]) == 0
    assert main(["count", people, *ledger, *named, *COST]) == 0
    assert main(["ledger", "grant", *ledger, *named, *COST]) == 0
    capsys.readouterr()
    assert main(["ledger", "show", *ledger, *named]) == 0
    by_option = capsys.readouterr().out
    assert main(["ledger", "show", "staff", *ledger]) == 0
    assert capsys.readouterr().out == by_option
    assert "staff" in by_option
