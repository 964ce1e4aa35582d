"""``modicum ledger``, and verbs that charge one."""

import json

import pytest

from modicum.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MODICUM_LEDGER", "MODICUM_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "p.csv").write_text("firm,income\n" + "a,10\nb,20\n" * 50)
    return tmp_path


@pytest.fixture
def run(files, capsys):
    def command(*words: str, code: int = 0, few: bool = False) -> str:
        """Few rows may give an answer that cannot be used, which has a status of its own."""
        assert main(words) in ({0, 3} if few else {code}), capsys.readouterr().err
        said = capsys.readouterr()
        return said.out if code == 0 else said.err

    return command


@pytest.fixture
def named(run, monkeypatch):
    """Environment variables name a ledger and its account."""
    monkeypatch.setenv("MODICUM_LEDGER", "sqlite:///b.db")
    monkeypatch.setenv("MODICUM_ACCOUNT", "people")
    run("ledger", "create", "people", "--epsilon", "2")


def test_a_life_of_a_ledger(run, files, capsys) -> None:
    at = ("--ledger", "sqlite:///b.db")
    said = run("ledger", "create", "people", "--epsilon", "1", *at)
    assert said == "people: ε = 0 of ε = 1 spent, ε = 1 left; protects one row\n"
    count = ("count", "p.csv", "--epsilon", "0.6", *at, "--account", "people")
    assert "account        people: ε = 0.6 of ε = 1 spent" in run(*count, "--key", "monday")
    assert "nothing was charged" in run(*count, code=2)
    assert run(*count, "--key", "monday").startswith("count of rows:")
    said = run("ledger", "grant", "people", "--epsilon", "1", "--note", "second year", *at)
    assert said.startswith("people: ε = 0.6 of ε = 2 spent")
    assert "1 account, 4 entries" in run("ledger", "verify", *at)
    copy = files / "copy.jsonl"
    copy.write_text(run("ledger", "export", *at))
    run(*count)
    assert run("ledger", "show", "people", *at).count("charge") == 2
    assert "6 entries" in run("ledger", "verify", "--against", str(copy), *at)
    other = ("--ledger", "sqlite:///c.db")
    assert "took over 1 account," in run("ledger", "import", "copy.jsonl", *other)
    newer = files / "newer.jsonl"
    newer.write_text(run("ledger", "export", *at))
    assert "is in the copy and not here" in run(
        "ledger", "verify", "--against", "newer.jsonl", *other, code=2
    )


def test_the_environment_names_it(run, named) -> None:
    assert "people: ε = 1 of ε = 2 spent" in run("count", "p.csv", "--epsilon", "1")
    by = ("sum", "p.csv", "income", "--within=0,1e6", "--epsilon", "1", "--by", "firm")
    assert "people: ε = 2 of ε = 2 spent" in run(*by, "--keys", "a,b", few=True)
    assert "left in account 'people'" in run("count", "p.csv", "--epsilon", "1", code=2)
    state = json.loads(run("ledger", "show", "people", "--json"))
    assert state["remaining"] == "pure('0')"
    assert [each["action"] for each in state["entries"]][1:] == ["charge", "release"] * 2
    (only,) = json.loads(run("ledger", "show", "--json"))["accounts"]
    assert only["account"] == "people"


def test_a_unit_of_persons(run, files) -> None:
    at = ("--ledger", "sqlite:///b.db")
    person = ("--unit-column", "firm", "--max-rows", "2")
    run("ledger", "create", "firms", "--rho", "1", *person, *at)
    mean = ("mean", "p.csv", "income", "--within=0,1e6", "--rho", "0.5", *at, "--account", "firms")
    assert "one person (firm) with at most 2 rows each" in run(*mean, few=True)
    assert "protects one person (firm)" in run(*mean, "--rows-per-person", "3", code=2)
    assert run(*mean, *person, few=True)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("ledger", "show"), "name a ledger"),
        (("ledger", "show", "--ledger", "sqlite:///no.db"), "there is no ledger"),
        (("ledger", "create", "p", "--ledger", "sqlite:///b.db"), "an amount is needed"),
        (("ledger", "create", "p", "--epsilon", "x", "--ledger", "sqlite:///b.db"), "epsilon"),
        (("ledger", "show", "--ledger", "postgresql://u:s3same@h:x/d"), "cannot be read"),
        (("ledger", "destroy"), "invalid choice"),
        (("count", "p.csv", "--epsilon", "1", "--key", "k"), "need --ledger"),
        (("count", "p.csv", "--epsilon", "1", "--ledger", "sqlite:///b.db"), "name the account"),
    ],
)
def test_wrong_input(run, words, text) -> None:
    said = run(*words, code=2)
    assert text in said
    assert "s3same" not in said


def test_without_a_ledger_nothing_is_counted(run) -> None:
    assert "not counted against any budget" in run("count", "p.csv", "--epsilon", "1")


def test_verbs_of_several_numbers_charge_it(run, named) -> None:
    several = ("histogram", "p.csv", "income", "--edges", "0,15,30", "--epsilon", "1")
    first = run(*several, "--key", "monday")
    assert "account        people: ε = 1 of ε = 2 spent" in first
    assert run(*several, "--key", "monday") == first
    assert json.loads(run("ledger", "show", "people", "--json"))["remaining"] == "pure('1')"
    assert "for another query" in run(*several[:-1], "0.5", "--key", "monday", code=2)


def test_drawn_keys_charge_it(run, named) -> None:
    run("ledger", "create", "firms", "--epsilon", "3", "--delta", "0.01")
    drawn = ("count", "p.csv", "--epsilon", "1", "--by", "firm", "--account", "firms")
    drawn += ("--key-epsilon", "2", "--key-delta", "0.01", "--key", "monday")
    first = run(*drawn)
    assert "(ε, δ) = (3, 0.01) of (ε, δ) = (3, 0.01) spent" in first
    assert run(*drawn) == first
    assert "left in account 'firms'" in run(*drawn[:-1], "tuesday", code=2)


@pytest.mark.parametrize("secret", ["geheim", "a@b", "c:d", "e/f", "g h", "100%25"])
@pytest.mark.parametrize(
    "words",
    [
        ("ledger", "show", "a", "b", "{}", "--ledger", "sqlite:///b.db"),
        ("ledger", "{}"),
        ("{}",),
        ("count", "{}", "--epsilon", "1"),
        ("count", "p.csv", "--epsilon", "{}"),
        ("count", "p.csv", "--ledgr", "{}", "--epsilon", "1"),
        ("ledger", "show", "--ledger={}", "b", "c"),
    ],
)
@pytest.mark.one_in(2)
def test_no_message_shows_a_password(run, words, secret) -> None:
    for url in (f"postgresql://anna:{secret}@h/d", "postgresql://anna@h/d?password=geheim&x=1"):
        said = run(*(each.format(url) for each in words), code=2)
        hidden = "geheim" if "password=" in url else f":{secret}@"
        assert hidden not in said
        assert said.startswith("modicum: error:")


def test_entries_say_what_was_asked(run, tmp_path) -> None:
    at = ("--ledger", f"sqlite:///{tmp_path}/c.db")
    table = tmp_path / "people.csv"
    table.write_text("age,sex\n" + "41,f\n" * 500)
    run("ledger", "create", "people", "--epsilon", "3", *at)
    words = ("--epsilon", "1", "--account", "people", *at)
    run("mean", str(table), "age", "--where", "age > 3", "--key", "first", *words)
    run("count", str(table), "--by", "sex", "--keys", "f,m", *words)
    shown = run("ledger", "show", "people", *at)
    assert "mean of age, where age > 3, key 'first'" in shown
    assert "count of rows by sex" in shown
