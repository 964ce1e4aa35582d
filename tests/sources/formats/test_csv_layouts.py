"""Text files as programs write them: lines before the header, comments, escapes, names of rows."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import modicum as mo
from modicum.cli import main
from modicum.errors import InvalidArgument, MissingColumn, ModicumWarning
from modicum.sources import files
from modicum.sources.formats.oddities import oddities
from tests.sources.engines.makers import labels_of, values, without

ROWS = [f"{i},{i % 10}" for i in range(40)]
X = [float(i % 10) for i in range(40)]


@pytest.fixture(params=[(), ("polars",)], ids=["polars", "standard library"])
def opened(request, tmp_path):
    def of(text: str, **options):
        path = tmp_path / options.pop("name", "rows.csv")
        path.write_text(text, newline="")
        with without(*request.param):
            source = mo.csv_file(path, **options)
            source._polars_agrees()
            return source

    return of


def lines(*head: str, rows: list[str] = ROWS, end: str = "\n", mark: str = ",") -> str:
    return "".join(each.replace(",", mark) + end for each in [*head, *rows])


LAYOUTS = {
    "title": (lines("Table 1, persons", "id,x"), {"skip": 1}),
    "title and blank line": (lines("Table 1", "", "id,x"), {"skip": 1}),
    "title with a quote": (lines('5" of rain', "id,x"), {"skip": 1}),
    "units below the names": (lines("id,x", "id,x"), {"skip": 1}),
    "three lines, CR LF": (lines("a", "b", "c", "id,x", end="\r\n"), {"skip": 3}),
    "title, CR": (lines("a", "id,x", end="\r"), {"skip": 1}),
    "no header": (lines("a"), {"skip": 1, "columns": ["id", "x"]}),
    "own names": (lines("k,k"), {"skip": 1, "columns": ["id", "x"]}),
    "comments above": (lines("# office", '# "2024', "id,x"), {"comment": "#"}),
    "comments between": (lines("id,x", rows=[*ROWS[:9], '%x"', *ROWS[9:], "%"]), {"comment": "%"}),
    "comment first, no header": (lines("! a"), {"comment": "!", "columns": ["id", "x"]}),
    "sep=;": (lines("sep=;", "id,x", mark=";"), {}),
    "sep=; in quotes, CR LF": (lines('"sep=;"', "id,x", mark=";", end="\r\n"), {}),
    "SEP=tab": (lines("SEP=\t", "id,x", mark="\t"), {}),
    "sep=; and a title": (lines("sep=;", "Table 1", "id,x", mark=";"), {"skip": 2}),
    "sep=, with the separator": (lines("sep=,", "id,x", mark="|"), {"separator": "|"}),
    "sep=; behind a byte order mark": ("\ufeff" + lines("sep=;", "id,x", mark=";"), {}),
    "empty names": (lines("id,x,,", rows=[f"{row},," for row in ROWS]), {}),
    "names twice": (lines("a,x,a", rows=[f"{row},5" for row in ROWS]), {}),
    "row names": (lines("id,x", rows=[f'"{i}",{row}' for i, row in enumerate(ROWS)]), {
        "row_names": True
    }),
    "row names, tabs": (
        lines("id,x", rows=[f"r{i},{row}" for i, row in enumerate(ROWS)], mark="\t"),
        {"name": "rows.tsv", "row_names": True},
    ),
    "row names, CR LF": (
        lines('"id","x"', rows=[f"{i},{row}" for i, row in enumerate(ROWS)], end="\r\n"),
        {"row_names": True},
    ),
    "row names, few rows": (lines("id,x", rows=["a,0,0", "b,1,1"]), {"row_names": True}),
    "row names, few rows and columns": (lines(rows=["a,0,0", "b,1,1"]), {
        "row_names": True, "columns": ["id", "x"]
    }),
    "rows are longer": (lines("x,id", rows=[f"{row.partition(',')[2]},0,9" for row in ROWS]), {}),
    "separators behind rows": (lines("id,x", rows=[f"{row}," for row in ROWS]), {}),
    "one row is longer": (lines("id,x", rows=["0,0,9", *ROWS[1:]]), {}),
    "escaped quotes": (lines("t,x", rows=[rf'"a \"b, c\" d",{i % 10}' for i in range(40)]), {
        "escape": "\\"
    }),
    "escaped separators": (lines("t,x", rows=[f"a\\,b,{i % 10}" for i in range(40)]), {
        "escape": "\\"
    }),
    "escaped line ends": (lines("t,x", rows=[f"a\\\nb,{i % 10}" for i in range(40)]), {
        "escape": "\\"
    }),
    "escaped escapes": (lines("t,x", rows=[f'"C:\\\\",{i % 10}' for i in range(40)]), {
        "escape": "\\"
    }),
    "another escape": (lines("t,x", rows=[f'"a ~"b, c",{i % 10}' for i in range(40)]), {
        "escape": "~"
    }),
    "escapes that are none": (lines("t,x", rows=[f"C:\\temp,{i % 10}" for i in range(40)]), {
        "escape": "\\"
    }),
    "doubled quotes beside": (lines("t,x", rows=[f'"a ""b, c""",{i % 10}' for i in range(40)]), {
        "escape": "\\"
    }),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_column_is_read_whatever_stands_around(opened, layout) -> None:
    text, options = LAYOUTS[layout]
    source = opened(text, **options)
    expected = [0.0, 1.0] if "few" in layout else X
    if layout == "units below the names":
        assert source.names == ("id", "x")
    np.testing.assert_array_equal(values(source), expected)
    assert len(values(source, None)) == len(expected)
    assert source.has_row_names == ("row_names" in options)


def test_texts_keep_what_was_escaped(opened) -> None:
    rows = ['"a \\"b\\"",1', "a\\,b,2", '"a\\\\",3', "C:\\temp,4", '"a ""b""",5', '"a\\\nb",6']
    source = opened(lines("t,x", rows=rows), escape="\\")
    assert labels_of(source, "t")[1] == ['a "b"', "a,b", "a\\", "C:\\temp", "a\nb"]
    np.testing.assert_array_equal(values(source), [1, 2, 3, 4, 5, 6])


def test_names_that_are_shared_are_refused_alone(opened) -> None:
    source = opened(lines("a,x,a,,", rows=["1,2,3,,"]))
    assert source.names == ("x",)
    for name in ("a", ""):
        with pytest.raises(MissingColumn, match=rf"several columns {name!r}"):
            source.check(name)


def test_names_of_rows_have_no_name(opened) -> None:
    rows = [f"r{i},{row}" for i, row in enumerate(ROWS)]
    source = opened(lines("id,x", rows=rows), row_names=True)
    assert source.names == ("", "id", "x")
    assert labels_of(source, "")[1][:2] == ["r0", "r1"]


BAD = {
    "escape": ["", "\\\\", "a", "1", '"', "\n", " ", ",", "§", 5, True, b"\\", ["\\"]],
    "comment": ["", "##", "a", "1", '"', "\n", "\t", ",", "§", 5, True, b"#", ["#"]],
    "row_names": [0, 1, "", "yes", None, ["id"], "True", 1.0, b"1", (True,)],
    "skip": [-1, 1.0, 0.5, "1", "", True, False, None, [1], (2,), b"1", 1j],
    "negative": ["", "-5", "5", "(", "()", "(5", "- 5", "brackets", 5, -5, True, ["5-"]],
}


@pytest.mark.parametrize(
    ("option", "given"), [(option, given) for option in BAD for given in BAD[option]], ids=repr
)
def test_options_that_are_refused(tmp_path, option, given) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,x\n1,secret\n")
    with pytest.raises(InvalidArgument, match=option) as caught:
        mo.csv_file(path, **{option: given})
    assert "secret" not in str(caught.value)


def test_marks_that_are_one_another(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,x\n1,2\n")
    for options, words in (
        ({"escape": "#", "comment": "#"}, "escape and comment are both '#'"),
        ({"separator": "|", "escape": "|"}, "escape and separator are both"),
        ({"separator": "|", "comment": "|"}, "comment and separator are both"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            mo.csv_file(path, **options)


@pytest.mark.parametrize(
    ("option", "given"),
    [
        *(("--escape", each) for each in ("", "ab", "a", "1", '"', " ", ",", "§", "\\\\", "\t")),
        *(("--comment", each) for each in ("", "##", "a", "1", '"', " ", ",", "§", "//", "\t")),
        *(("--skip", each) for each in ("-1", "", "1.5", "a", "0x1", "1e3", "½", "1,2", "no")),
        *(("--negative", each) for each in ("", "5", "-5", "(5", "()", "(6)", "6-", "a", "-", "+")),
    ],
    ids=repr,
)  # fmt: skip
def test_options_that_the_command_line_refuses(tmp_path, capsys, option, given) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,x\n1,secret\n")
    assert main(["count", str(path), "x", "--epsilon", "1", f"{option}={given}"]) == 2
    out, err = capsys.readouterr()
    assert option.removeprefix("--") in err
    assert "secret" not in out + err
    assert err.count("\n") == 1


def test_the_command_line_has_the_options(tmp_path, capsys) -> None:
    path = tmp_path / "rows.csv"
    rows = [f'"a \\"b, c\\"",({i % 10})' for i in range(2000)]
    path.write_text(lines("Table 1", "# by whom", "note,x", rows=rows))
    argv = ["mean", str(path), "x", "--within=-9,9", "--epsilon", "100", "--skip", "1"]
    argv += ["--comment", "#", "--escape", "\\", "--negative", "(5)"]
    assert main(argv) == 0
    assert capsys.readouterr().out.startswith("mean of x: -4.5")


@pytest.mark.parametrize("example", ["5-", "(5)"])
def test_negative_numbers(opened, example) -> None:
    cells = {
        "5-": {"5-": -5, "1,231.5-": -1231.5, "5": 5, "-5": -5, "-5-": None, "(5)": None},
        "(5)": {"(5)": -5, "(1,231.5)": -1231.5, "5": 5, "-5": -5, "(-5)": None, "5-": None},
    }[example]
    rows = [f"1;{cell}" for cell in cells]
    source = opened("id;x\n" + "\n".join(rows), separator=";", thousands=",", negative=example)
    known = [np.nan if each is None else each for each in cells.values()]
    np.testing.assert_array_equal(values(source), known)


@pytest.mark.parametrize("pair", [("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
def test_truth_values_are_those_of_a_typed_file(opened, pair) -> None:
    source = opened("ok,x\n" + f"{pair[0]},1\n{pair[1]},3\n{pair[1]},3\n" * 300)
    curator = mo.Curator(source, budget=mo.pure(10**6))
    for condition, rows in {"ok": 300, "not ok": 600, "ok == True": 300, "ok == 0": 600}.items():
        assert round(curator.where(condition).count(epsilon=1000).value) == rows
    assert round(curator.mean("ok", within=(0, 1), epsilon=1000).value, 2) == 0.33
    for keys in ([True, False], [np.True_, np.False_], [pair[0], pair[1]]):
        groups = curator.group_by("ok", keys=keys).count(epsilon=1000)
        assert [round(each.value) for each in groups.values()] == [300, 600]


ODD = {
    "title": (
        lines("Table 1", "", "id,x"),
        "the first line has 1 cell and most others 2: --skip 1",
    ),
    "comment": (lines("#1,a", "id,x"), "the first line begins with #: if it is a comment"),
    "escapes": (lines("t,x", rows=['"a \\"b",1']), "backslashes stand before quotes: --escape"),
    "row names": (lines("t,x", rows=["1,2,3"]), "as R writes them, --row-names"),
    "row names, one column": (lines("x", rows=["r1,2", "r2,3"]), "as R writes them, --row-names"),
    "longer rows": (lines("t,x", rows=["1,2,3,4", "1,2"]), "1 of 2 rows have more cells than"),
    "shared": (lines("t,t,x,,", rows=["1,2,3,,"]), "several columns are called 't', nothing: to"),
    "data": (lines("Anna,1980-01-01"), "the header holds dates: if it is a row of data"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_check_says_of_a_layout(tmp_path, capsys, name) -> None:
    text, words = ODD[name]
    path = tmp_path / "rows.csv"
    path.write_text(text)
    assert any(words in each for each in oddities(mo.csv_file(path)))
    assert main(["check", str(path)]) == 0
    assert words in capsys.readouterr().out
    path.write_text(lines("id,x"))
    assert oddities(mo.csv_file(path)) == []


def test_another_kind_of_file_is_told_when_columns_are_named(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('[{"id": 1}]')
    assert oddities(mo.csv_file(path, columns=["a"]))[0].startswith("the file is a JSON file")


def test_that_polars_is_faster_is_said_once(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(lines("id,x"))
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    files._say_once.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mo.csv_file(path)
        mo.count(path, epsilon=1)
    assert [each.category for each in caught] == [ModicumWarning]
    assert "ten times faster with Polars: pip install polars" in str(caught[0].message)
    assert caught[0].filename == __file__
