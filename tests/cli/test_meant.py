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
    (tmp_path / "people.csv.ods").write_bytes(b"")
    (tmp_path / "people.csv.semicolons.csv").write_text("id;income;age\n1;2;3\n")
    (tmp_path / "people.csv.headless.csv").write_text("6492,North,f\n6493,South,m\n")
    return str(path)


def refusal(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("modicum: error: ")
    assert err.count("\n") == 1
    return err


WRONG = [
    # what is asked for
    (["meen", "{}", "income"], "did you mean 'mean'?"),
    (["hubre", "{}", "income"], "did you mean 'huber'?"),
    (["plan", "quantil"], "did you mean 'quantile'?"),
    (["ledger", "creat"], "did you mean 'create'?"),
    (["completion", "bsh"], "did you mean 'bash'?"),
    (["mean", "{}", *COST], "required: COLUMN: `modicum check FILE` lists the columns"),
    (["mean", "{}", "income", "more", *COST], "arguments: more (see modicum mean --help)"),
    (["mean-vector", "{}", "age", *COST, "income"], "name all columns together, as A B or A,B"),
    (["mean-vector", "{}", "age,age", *COST], "got 2 names, 1 of them different"),
    (["quantile", "{}", "income", *COST], "required: --q, such as --q 0.9"),
    (["trimmed-mean", "{}", "income", *COST], "--trim, the share left out on each side"),
    (["ratio", "{}", "income", *COST], "--denominator, the column to divide by"),
    (["geometric-mean", "{}", "income", *COST], "such as --within=-1e9,1e9 (see modicum geo"),
    (["linear-regression", "{}", "age,income", *COST], "--target, the column that is explained"),
    (
        ["linear-regression", "{}", "age,income", "--target", "income", RANGE, *COST],
        "the target 'income' is among the columns: leave it out",
    ),
    (["histogram", "{}", "region", *COST], "`modicum count FILE --by COLUMN --keys A,B`"),
    (["crosstab", "{}", "region", "age", "--keys", "a", *COST], "--keys once for each column"),
    (["value-counts", "{}", "region", *COST], "or --key-epsilon and --key-delta"),
    # options and their values
    (["mean", "{}", "income", "--eps", "1"], "did you mean '--epsilon'? (see modicum mean --help)"),
    (["mean", "{}", "income", "--withn=-1,1", *COST], "did you mean '--within'?"),
    (["mean", "{}", "income", "--range=-1,1", *COST], "did you mean '--within'?"),
    (["mean", "{}", "income", "--person", "id", *COST], "--person: --unit-column ID"),
    (["mean", "{}", "income", "--methd=subset"], "did you mean '--method'?"),
    (["mean", "{}", "income", "--method", "subse"], "did you mean 'subset'?"),
    (
        ["mean", "{}", "income", "--bounds", "0,9", *COST],
        "no --bounds, and none are needed",
    ),
    (["mean", "{}", "--column", "income", *COST], "COLUMN is the word after FILE"),
    (["mean", "{}", "income", "--confidence", ".9", *COST], "--level 0.9"),
    (["count", "{}", "--group-by", "region", *COST], "--by COLUMN, with --keys A,B"),
    (["mean", "{}", "income", "--seed", "1", *COST], "secret draws have no seed"),
    (["mean", "{}", "income", "--plot", *COST], "by plot() of a release"),
    (["average", "{}", "income", *COST], "did you mean 'mean'?"),
    (["ledger", "show", "--jsn"], "did you mean '--json'? (see modicum ledger show --help)"),
    (["plan", "mean", RANGE, "--shap", "normal"], "(see modicum plan mean --help)"),
    (["quantile", "{}", "income", "--q", "90", *COST], "in percent that is q = 0.9"),
    (["quantile", "{}", "income", "--q", ".5,.9", *COST], "`quantiles` takes several"),
    (["quantiles", "{}", "income", "--q", "25,75", *COST], "that is q = 0.25, 0.75"),
    (["quantiles", "{}", "income", "--q", ".9,.5", *COST], "the q must increase"),
    (["trimmed-mean", "{}", "income", "--trim", ".7", *COST], "between 0 and 1/2"),
    (["histogram", "{}", "age", "--edges", "65,18", *COST], "edges must increase"),
    (["histogram", "{}", "age", "--bins", "0", *COST], "a whole number of at least 1, got '0'"),
    (["mean", "{}", "income", "--level", "95", *COST], "in percent that is 0.95"),
    (["mean", "{}", "income", "--tail", "0", *COST], "a number above 1, auto or none"),
    (["mean", "{}", "income", "--within", "5", *COST], "two numbers and a comma, such as -1e9,1e9"),
    (["mean", "{}", "income", "--within", "9,1", *COST], "lowest < highest, got (9.0, 1.0)"),
    (["mean", "{}", "income", "--within=0,inf", *COST], "made of finite numbers, got inf"),
    (["mean", "{}", "income", "--step", ".3", RANGE, *COST], "step must be a power of two"),
    # the budget
    (["mean", "{}", "income"], "a cost is needed: --epsilon or --rho, for example --epsilon 1"),
    (["mean", "{}", "income", "--epsilon", "one"], "epsilon must be a finite number, got 'one'"),
    (["mean", "{}", "income", "--epsilon", "0,5"], "with a decimal point, 0.5"),
    (["mean", "{}", "income", "--epsilon", "0"], "epsilon must be positive, got '0'"),
    (["mean", "{}", "income", "--epsilon", "-1"], "epsilon must be positive, got '-1'"),
    (["mean", "{}", "income", "--epsilon", "1e-99"], "is too small: at least 1e-09 is needed"),
    (["mean", "{}", "income", "--rho", "1", *COST], "give --epsilon or --rho, not both"),
    (["mean", "{}", "income", "--delta", "2", *COST], "delta must be below 1"),
    (["mean", "{}", "income", "--key", "a", *COST], "--account and --key need --ledger"),
    (
        ["mean", "{}", "income", *COST, "--ledger", "sqlite:///none.db", "--account", "a"],
        "create it once, with `modicum ledger create`",
    ),
    (
        ["mean", "{}", "income", *COST, "--ledger", "my.db", "--account", "a"],
        "a ledger is sqlite:///FILE",
    ),
    (["ledger", "show"], "name a ledger: --ledger URL"),
    (["ledger", "create", *COST], "name the account: --account NAME"),
    (["ledger", "create", "--account", "a", "--ledger", "sqlite:///x.db"], "an amount is needed"),
    (["ledger", "grant", "a", "--account", "b", *COST], "not both 'a' and 'b'"),
    # columns, rows and persons
    (["mean", "{}", "incom", *COST], "did you mean 'income'? columns: 'income', "),
    (["mean", "{}", "Income", *COST], "did you mean 'income'?"),
    (["count", "{}", *COST, "--by", "regio", "--keys", "North"], "did you mean 'region'?"),
    (["count", "{}", *COST, "--by", "region"], "--by needs either --keys, or --key-epsilon"),
    (["count", "{}", *COST, "--keys", "North"], "need --by"),
    (["count", "{}", *COST, "--unit-column", "Age", "--max-rows", "1"], "mean 'age'?"),
    (["mean", "{}", "income", *COST, "--max-rows", "2"], "need --unit-column"),
    (["mean", "{}", "income", *COST, "--where", "age >"], 'such as "age >= 18 and region'),
    (["mean", "{}", "income", *COST, "--where", "agee > 1"], "did you mean 'age'?"),
    (["mean", "{}", "income", *COST, "--where", "eval('1')"], "there is no function 'eval'"),
    (["mean", "{}", "income", *COST, "--weights", "ages"], "did you mean 'age'?"),
    # files
    (["mean", "none.csv", "income", *COST], "there is no file 'none.csv'"),
    (["mean", "https://a.org/x.csv", "x", *COST], "only local files: download it"),
    (["mean", "s3://a/x.csv", "x", *COST], "only local files: download it"),
    (["mean", "sqlite:///x.db", "x", *COST], "ibis.connect(URL).table(NAME)"),
    (["mean", "{}.semicolons.csv", "income", *COST], "--separator ';'"),
    (["mean", "{}.headless.csv", "income", *COST], "--columns NAME,NAME,..."),
    (["mean", "{}.ods", "income", *COST], "save it as .xlsx"),
    (["mean", "{}", "income", *COST, "--separator", ";;"], "one ASCII character such as ';'"),
    (["mean", "{}", "income", *COST, "--decimal", "x"], "decimal must be '.' or ','"),
    (["mean", "{}", "income", *COST, "--encoding", "klingon"], "such as 'cp1252'"),
    (["mean", "{}", "income", *COST, "--publish", "/none/x.csv"], "there is no folder /none"),
    (["run", "none.toml"], "cannot read none.toml: No such file"),
    (["run", "{}"], "is no TOML file"),
]


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_the_message_says_what_was_meant(
    words: list[str], told: str, people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refusal(capsys, *[word.replace("{}", people) for word in words])


@pytest.mark.parametrize(
    "words",
    [
        ["zzz"],
        ["mean", "{}", "zzz", RANGE, *COST],
        ["mean", "{}", "income", "--zzz"],
        ["mean", "{}", "income", "--chart"],
    ],
)
def test_nothing_is_proposed_for_what_is_like_nothing(
    words: list[str], people: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refusal(capsys, *[word.replace("{}", people) for word in words])
    assert "did you mean" not in told


def test_each_verb_stands_once_in_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    told = refusal(capsys, "qqq")
    names = told.partition("(choose from ")[2].partition(")")[0].split(", ")
    assert len({name.replace("_", "-") for name in names}) == len(names) > 20
    assert main(["--help"]) == 0
    assert "lp_center" not in capsys.readouterr().out


@pytest.mark.usefixtures("few_runs")
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
