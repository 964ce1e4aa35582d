"""``modicum check``, and the options that say how a CSV file is written."""

import argparse
import datetime as dt
import json
import re
import shlex

import numpy as np
import polars as pl
import pytest

from modicum.cli import main
from modicum.cli.options import add_csv, opened
from modicum.sources.formats.examined import NumberCounts

SECRET = "Xylophon"
COLUMNS = {
    "id": ["1", "2", "3", "4"],
    "name": [SECRET, "Ann", "", "Bob"],
    "german": ["1.234,50", "12,5", "1.234.567", "-7"],
    "comma": ["0,5", "1,234", "17,25", ""],
    "usual": ["1,234", "12", "1,234,567.5", "NA"],
    "space": ["1 234", "12", "12 345 678", "5"],
    "swiss": ["1'234", "12", "12’345’678.5", "5"],
    "money": ["$5", "$6.50", "-$ 1", ""],
    "euro": ["5,50 €", "1.234,5 EUR", "€ 7", ""],
    "mixed": ["$5", "$6.50", "1,234.5", "1e3"],
    "share": ["5%", "6 %", "7.5%", "n/a"],
    "size": ["5 kg", "6kg", "1.5 kg", ""],
    "minus": ["(5)", "(6.5)", "1", "-2"],
    "day": ["2024-01-31", "2024-02-01", "1969/12/31 12:00", ""],
    "tag": ["31.01.2024", "1.2.2024", "", "03.04.2024"],
    "hour": ["12:30:00", "01:00", "", ""],
    "usa": ["12/31/2023", "1/2/24", "", "1/13/2024"],
    "either": ["1/2/2024", "3/4/2024", "", ""],
    "weight": ["1,231 kg", "12 kg", "3,000.5 kg", ""],
    "poids": ["1,5 kg", "12 kg", "", "7,25kg"],
    "prix": ["1.000 €", "2.500 €", "5 €", ""],
    "units": ["1 kg", "500 g", "", ""],
    "tax": ["1,5%", "7 %", "", ""],
    "debit": ["(1,231.5)", "(5)", "7", ""],
    "sap": ["5-", "1,231.50-", "7", ""],
    "part": ["1½", "½", "", "3/4"],
    "limit": ["<5", "80+", "> 90", "3"],
    "range": ["1-5", "6 – 9", "10 to 20", ""],
    "smokes": ["Yes", "no", "yes", ""],
    "flag": ["TRUE", "False", "true", ""],
    "indian": ["1,23,456", "12,34,567.5", "5", ""],
    "most": ["1", "2", "n/a", "forty"],
    "none": ["", "", "", ""],
}
EXPECTED = {
    "id": ("numbers", []),
    "name": ("text", ["--by name"]),
    "german": ("numbers, written otherwise", ["--decimal , --thousands ."]),
    "comma": ("numbers, written otherwise", ["--decimal ,"]),
    "usual": ("numbers, written otherwise", ["--thousands ,"]),
    "space": ("numbers", ["--thousands ' '"]),
    "swiss": ("numbers", ["--thousands ''\"'\"''"]),
    "money": ("numbers, written otherwise", ["polars.col('money')"]),
    "euro": ("numbers, written otherwise", ["polars.col('euro')"]),
    "mixed": ("numbers, written otherwise", ["--thousands ,", "polars.col('mixed')"]),
    "share": ("numbers, written otherwise", ["polars.col('share')"]),
    "size": ("numbers, written otherwise", ["polars.col('size')"]),
    "minus": ("numbers", ["--negative '(5)'"]),
    "day": ("dates", ["polars.col('day')"]),
    "tag": ("dates", ["polars.col('tag')"]),
    "hour": ("numbers, written otherwise", ["polars.col('hour')"]),
    "usa": ("dates", ["polars.col('usa')"]),
    "either": ("dates", ["polars.col('either')"] * 2),
    "weight": ("numbers, written otherwise", ["polars.col('weight')"]),
    "poids": ("numbers, written otherwise", ["polars.col('poids')"]),
    "prix": ("numbers, written otherwise", ["polars.col('prix')"] * 2),
    "units": ("numbers, written otherwise", []),
    "tax": ("numbers, written otherwise", ["polars.col('tax')"]),
    "debit": ("numbers, written otherwise", ["--thousands , --negative '(5)'"]),
    "sap": ("numbers, written otherwise", ["--thousands , --negative 5-"]),
    "part": ("text", ["--by part"]),
    "limit": ("text", ["--by limit"]),
    "range": ("text", ["--by range"]),
    "smokes": ("text", ["--with \"smokes_yes=smokes in ['Yes', 'yes']\""]),
    "flag": ("true or false", []),
    "indian": ("numbers, written otherwise", ["--thousands ,"]),
    "most": ("numbers", []),
    "none": ("nothing", []),
}
NUMBERS = {
    "german": [1234.5, 12.5, 1234567, -7],
    "comma": [0.5, 1.234, 17.25, None],
    "usual": [1234, 12, 1234567.5, None],
    "space": [1234, 12, 12345678, 5],
    "swiss": [1234, 12, 12345678.5, 5],
    "money": [5, 6.5, -1, None],
    "euro": [5.5, 1234.5, 7, None],
    "mixed": [5, 6.5, 1234.5, 1000],
    "share": [5, 6, 7.5, None],
    "size": [5, 6, 1.5, None],
    "minus": [-5, -6.5, 1, -2],
    "day": [19753, 19754, -1, None],
    "tag": [19753, 19754, None, 19816],
    "hour": [45000, 3600, None, None],
    "usa": [19722, None, None, 19735],
    "weight": [1231, 12, 3000.5, None],
    "poids": [1.5, 12, 7.25, None],
    "prix": [1000, 2500, 5, None],
    "tax": [1.5, 7, None, None],
    "debit": [-1231.5, -5, 7, None],
    "sap": [-5, -1231.5, 7, None],
    "indian": [123456, 1234567.5, 5, None],
}


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = zip(*COLUMNS.values(), strict=True)
    path.write_text("\n".join([";".join(COLUMNS), *map(";".join, rows)]) + "\n")
    return path


def checked(capsys, *argv: object) -> tuple[str, dict[str, list[str]], dict[str, list[str]]]:
    """Return what is printed, the table by column, and what to write by column."""
    assert main(["check", *map(str, argv)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("NOT PRIVATE: ")
    lines = out.splitlines()
    rows = {line.split()[0]: re.split(r"\s{2,}", line) for line in lines if "  " in line.strip()}
    advice: dict[str, list[str]] = {name: [] for name in rows}
    name = ""
    for line in lines:
        if not line.startswith(" ") and "  " not in line:
            name = line
        if line.startswith("    "):
            advice.setdefault(name, []).append(line.strip())
    return out, rows, advice


def test_what_columns_hold(people, capsys) -> None:
    out, rows, advice = checked(capsys, people)
    assert "people.csv: CSV in utf-8, separator ';' (write --separator ';'), 4 rows" in out
    for name, (kind, expected) in EXPECTED.items():
        assert rows[name][1] == kind, name
        assert len(advice[name]) == len(expected), name
        assert all(map(str.startswith, advice[name], expected)), name
    assert rows["name"][2:4] == ["25.0 %", "75.0 %"]
    assert "  no numbers: thousands points 66.7 %; decimal commas 33.3 %" in out
    assert "  reads currency signs and thousands commas (all of these cells):" in out
    assert "  reads dates, year last, month first, as days since 1970 (66.7 % of these" in out
    assert "if the month comes first" in out
    assert "reads currency signs, if the point groups thousands (all of these cells):" in out
    assert "  no numbers: limits such as <5 or 80+" in out
    assert rows["usual"][2:4] == ["0 %", "75.0 %"]
    assert rows["id"][4:6] == ["1", "4"]
    assert SECRET not in out
    assert max(map(len, (line for line in out.splitlines() if not line.startswith("    ")))) < 130


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_to_be_written_makes_numbers(people, capsys, tmp_path, name, kind) -> None:
    table, path = pl.scan_csv(people, separator=";", infer_schema=False), people
    if kind == "parquet":
        path = tmp_path / "people.parquet"
        table.collect().write_parquet(path)
    advice = checked(capsys, path, name)[2][name][-1]
    if advice.startswith("--"):
        arguments = parsed(path, name, "--separator", ";", *shlex.split(advice))
        found = np.sort(np.concatenate([each[name] for each in opened(arguments).chunks([name])]))
    else:
        expression = eval(advice, {"polars": pl}).cast(pl.Float64)
        found = table.select(expression).collect()[name].sort(nulls_last=True).to_numpy()
    known = [np.nan if each is None else float(each) for each in NUMBERS[name]]
    np.testing.assert_array_equal(found, np.sort(known))


def parsed(*argv: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("column")
    add_csv(parser)
    return parser.parse_args(list(map(str, argv)))


def test_a_typed_file(tmp_path, capsys) -> None:
    path = tmp_path / "typed.parquet"
    day = dt.date(2024, 1, 31)
    frame = {"x": [1.5, None], "t": ["1", "2"], "c": ["a", "b"], "d": [day, None], "l": [[1], [2]]}
    pl.DataFrame(frame, schema_overrides={"c": pl.Categorical}).write_parquet(path)
    out, rows, advice = checked(capsys, path)
    assert "typed.parquet: Parquet, 2 rows" in out
    assert rows["x"][2:] == ["50.0 %", "0 %", "1.5", "1.5"]
    assert advice["x"] == []
    assert advice["t"] == ["polars.col('t').cast(polars.Float64, strict=False)"]
    assert advice["c"] == ["--by c"]
    assert "epoch" in advice["d"][0]
    assert rows["l"][1].startswith(("list", "large_list"))
    assert rows["l"][2:] == ["100 %"]


def test_what_is_odd_about_a_file(tmp_path, capsys) -> None:
    path = tmp_path / "odd.csv"
    for data, words in (
        ("é\n5\n".encode("cp1252"), "--encoding cp1252"),
        (b'x\n5"6\n', "some quotes stand inside of cells"),
        (b"1,2\n3,4\n", "--columns NAME,NAME,..."),
    ):
        path.write_bytes(data)
        assert words in checked(capsys, path)[0]
    path.write_text("x,y\n1,2\n")
    assert len(checked(capsys, path)[0].splitlines()) == 5


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_codes_that_may_stand_for_missing_values(tmp_path, capsys, kind) -> None:
    ages, n = [30 + i % 40 for i in range(980)], 1000
    table = pl.DataFrame(
        {
            "age": ages + [999] * 20,
            "los days": ages + [-1] * 20,
            "score": [i % 5 for i in range(940)] + [-9] * 20 + [98] * 20 + [99] * 20,
            "spend": [0.5 * i for i in range(980)] + [99] * 20,  # among the others
            "change": [-i for i in range(980)] + [-99] * 20,  # others are below zero
            "old": ages + [99] + [30] * 19,  # once
            "text": [str(age) for age in ages] + ["999"] * 20,
        }
    )
    path = tmp_path / f"codes.{kind}"
    table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    out, rows, advice = checked(capsys, path)
    assert "  999 in 2.0 % of the rows: if it stands for a missing value, leave it out:" in out
    assert advice["age"] == ['--where "age < 999"']
    assert "--where \"col('los days') >= 0\"" in out
    assert "  -9, 98 and 99 in 6.0 % of the rows: if they stand for missing values" in out
    assert advice["score"] == ['--where "score >= 0 and score < 98"']
    assert [advice[name] for name in ("spend", "change", "old")] == [[], [], []]
    assert rows["age"][4:7] == ["30", "999", "30 in 2.5 %; 31 in 2.5 %"]
    assert any("--where" in line for line in advice["text"]) is (kind == "csv")
    condition = shlex.split(advice["score"][0])[1]
    argv = ["count", str(path), "--where", condition, "--epsilon", "1000"]
    assert main(argv) == 0
    assert capsys.readouterr().out.startswith(f"count of rows: {n - 60}")


def test_many_different_values_leave_the_frequent_ones() -> None:
    counts = NumberCounts()
    for start in range(0, 400_000, 50_000):
        counts.add(np.concatenate([np.arange(start, start + 50_000.0), np.full(1000, 7.5)]))
    (value, times), *_ = counts.frequent(1)
    assert value == 7.5
    assert 8000 - counts.total / 32768 <= times <= 8000
    assert counts.ends == (0.0, 399_999.0)


def test_a_check_in_json(tmp_path, capsys) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,x\n999,inf\n999,b\n30,\n")
    assert main(["check", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["warning"].startswith("NOT PRIVATE")
    assert (found["file"], found["rows"]) == ("a.csv", 3)
    age, x = found["columns"]
    assert (age["smallest"], age["largest"]) == (30, 999)
    assert age["most_frequent"] == [{"value": 999, "times": 2}]
    assert age["write"][0]["line"] == '--where "age < 999"'
    assert (x["empty"], x["no_number"], x["kinds"], x["largest"]) == (1, 1, {"words": 1}, "inf")


@pytest.mark.parametrize("end", [".alias(open({path!r}, 'w').name)#", ".b", ".str.len_chars()"])
def test_the_name_of_a_column_is_never_run(tmp_path, capsys, end) -> None:
    """A line that is tried on cells holds the name, which whoever wrote the file has chosen."""
    table, made = tmp_path / "a.csv", tmp_path / "made"
    name = "a)" + end.format(path=str(made))
    quoted = name.replace('"', '""')
    table.write_text(f'id,"{quoted}"\n' + "1,5 kg\n" * 9)
    assert main(["check", str(table), "--json"]) == 0
    assert not made.exists()
    _, found = json.loads(capsys.readouterr().out)["columns"]
    (line,) = [each["line"] for each in found["write"]]
    cells = pl.DataFrame({name: ["5 kg"]})
    assert cells.select(eval(line, {"polars": pl})).item() == 5.0


def test_a_column_that_is_not_there(people, capsys) -> None:
    assert main(["check", str(people), "germn"]) == 2
    assert "did you mean 'german'?" in capsys.readouterr().err


def test_options_of_a_release(people, capsys) -> None:
    common = ["mean", str(people), "german", "--within=-1e9,1e9", "--epsilon", "1"]
    assert main(common) == 2
    assert "--separator ';'" in capsys.readouterr().err
    options = [
        "--separator=;",
        "--decimal=,",
        "--thousands=.",
        "--encoding=utf-8",
        "--one-line-rows",
    ]
    assert main(["count", str(people), "german", "--epsilon", "100", *options]) == 0
    assert capsys.readouterr().out.startswith("count of german: 4")
    names = ["--columns", "a,b,c"]
    assert main(["count", str(people), "c", "--epsilon", "100", *options, *names]) == 0
    assert capsys.readouterr().out.startswith("count of c: 5")
    assert main([*common, "--separator", "ab"]) == 2
    assert "separator must be one ASCII character" in capsys.readouterr().err
    assert main(["count", "x.parquet", "--epsilon", "1", "--separator", "tab"]) == 2
    assert "takes no options of CSV files" in capsys.readouterr().err
