"""CSV files: the same numbers whichever reader there is, and no failure by a value."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import modicum as mo
from modicum.errors import MissingColumn, SourceError
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.privacy.unit import Unit, unit_of
from modicum.sources.engines.polars import streams
from modicum.sources.formats import csv_rows as module
from modicum.sources.formats.csv_rows import Dialect, is_well_formed
from modicum.sources.groups import reader_of_groups
from modicum.sources.opening import open_source
from modicum.sources.persons import TableReader
from modicum.sources.reader import read, read_as
from modicum.summaries.base import Read
from modicum.summaries.sums import Count
from modicum.summaries.tails import Tails
from tests.sources.engines.makers import labels_of, same, values, without

INF, NAN = float("inf"), float("nan")
LATTICE = Lattice.within((-8, 8), step=1)
CELLS = {
    "1": 1.0,
    " 1 ": 1.0,
    "\t-2.5\t": -2.5,
    "+1.": 1.0,
    "-.5": -0.5,
    "-0": -0.0,
    "007": 7.0,
    "1e3": 1000.0,
    "1E+3": 1000.0,
    "1e-400": 0.0,
    "5e-324": 5e-324,
    "1e308": 1e308,
    "1e400": INF,
    "-1e400": -INF,
    "inf": INF,
    "-Infinity": -INF,
    "+INF": INF,
    "9007199254740993": 9007199254740992.0,
    "0.1000000000000000055511151231257827021181583404541015626": 0.1,
    '"1"': 1.0,
    '" 2 "': 2.0,
    "": NAN,
    '""': NAN,
    "nan": NAN,
    "-NaN": NAN,
    "nan(1)": NAN,
    "null": NAN,
    "NA": NAN,
    "abc": NAN,
    '"1,5"': NAN,
    '"1\n2"': NAN,
    '"a ""quoted"" 1"': NAN,
    "1 2": NAN,
    "1_000": NAN,
    "0x10": NAN,
    "1d5": NAN,
    "1f": NAN,
    "1e": NAN,
    ".": NAN,
    "+": NAN,
    "--1": NAN,
    "true": 1.0,
    "True": 1.0,
    "TRUE": 1.0,
    "false": 0.0,
    "FALSE": 0.0,
    "tRUE": NAN,
    "T": NAN,
    "yes": NAN,
    "2020-01-01": NAN,
    "$5": NAN,
    "5%": NAN,
    "١": 1.0,
    "۱۲٫۵": 12.5,
    "１．５": 1.5,
    "1\u00a0": 1.0,
    "\u2007 1\u2009": 1.0,
    "\u200e−1": -1.0,
    "–1": -1.0,
    "－１Ｅ２": -100.0,
    "−inf": -INF,
    "1–2": NAN,
    "½": NAN,
    "1²": NAN,
    '="5"': 5.0,
    '"=""05"""': 5.0,
    '="a"': NAN,
    "'5": 5.0,
    "''5": NAN,
    "1.0D+02": 100.0,
    "-1.5d-001": -0.15,
    "1.0D2": NAN,
    "1D+02": NAN,
    "5-": NAN,
    "(5)": NAN,
    "1\u202f234": NAN,
    "1\x00": NAN,
}
ILL_FORMED = {'1"2': NAN, '"1"2': NAN, ' "1"': NAN, '"1" ': 1.0}


@pytest.fixture(params=[(), ("polars",)], ids=["polars", "standard library"])
def opened(request, tmp_path):
    def of(text: str | bytes):
        path = tmp_path / "rows.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with without(*request.param):
            source = open_source(path)
            source._polars_agrees()
            return source

    return of


@pytest.mark.parametrize("cell", CELLS, ids=ascii)
def test_cells(opened, cell) -> None:
    text = f"label,x\nabc,{cell}\n,{cell}\r\nabc,7\n"
    assert same(values(opened(text)), [CELLS[cell], CELLS[cell], 7])
    assert len(values(opened(text), None)) == 3


@pytest.mark.parametrize("cell", CELLS, ids=ascii)
def test_every_cell_that_is_not_empty_is_counted(opened, cell) -> None:
    source = opened(f"label,x\nabc,{cell}\n,{cell}\r\nabc,7\n\nabc\n")
    whole = read(source, [Read(name, None, Count()) for name in ("label", "x", None)], SYSTEM)
    there = cell not in {"", '""'}
    assert [each.count for each in whole] == [3, 1 + 2 * there, 5]


UNITS = {
    "rows": (Unit(), (6, 3)),
    "first": (unit_of("who", max_rows=1, order_by="t"), (3, 2)),
    "all": (unit_of("who", max_rows=9), (5, 3)),
    "persons": (unit_of("who", combine="mean"), (3, 3)),
}


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("keys", [["g"], ["g", *(f"no {i}" for i in range(70))]], ids=len)
def test_texts_and_numbers_of_one_column_are_told_apart(opened, name, keys) -> None:
    """The column is counted and added up in one run, of all rows and of a group."""
    unit, (texts, numbers) = UNITS[name]
    rows = ["p,2,5", "p,1,a", "p,3,", "q,1,2", "q,2,b", ",1,NA", "r,1,3", "s,1,"]
    source = opened("by,who,t,x\n" + "".join(f"g,{each}\n" for each in rows))
    reads = [Read("x", None, Count()), Read("x", LATTICE, Count()), Read("x", LATTICE, Tails(9))]
    columns = [read_as(source, each.column, each.lattice) for each in reads]
    grouped = unit if unit.combine is None else unit.in_groups(1)
    whole = TableReader(source, unit, columns).read(reads, SYSTEM)
    group = reader_of_groups(source, grouped, "by", keys, columns)
    for found in (whole, group.read([(0, ask) for ask in reads], SYSTEM)):
        assert [each.count for each in found] == [texts, numbers, numbers]
    there = group.read([(i, reads[0]) for i in range(len(keys))], SYSTEM)
    assert sum(each.count for each in there) == texts


def test_a_count_of_texts_is_released(opened) -> None:
    source = opened("firm,x\n" + "abc,NA\n,1\n" * 500)
    curator = mo.Curator(source, budget=mo.pure(60))
    answers = curator.release(
        firms=mo.query.count("firm", epsilon=10), x=mo.query.count("x", epsilon=10)
    )
    assert [round(each.value, -1) for each in answers.values()] == [500, 1000]
    assert round(mo.count(source, "firm", epsilon=10).value, -1) == 500
    by = curator.group_by("firm", keys=["abc"])
    assert round(by.count("firm", epsilon=10)["abc"].value, -1) == 500
    assert answers["firms"].column == "firm"
    with pytest.raises(MissingColumn, match="columns: 'firm', 'x'"):
        curator.count("#####firm", epsilon=1)


@pytest.mark.parametrize("cell", ILL_FORMED)
def test_ill_formed_cells_are_read_too(opened, cell) -> None:
    assert same(values(opened(f"x,y\n{cell},1\n2,3\n")), [ILL_FORMED[cell], 2])


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("x\n", "x", []),
        ("x", "x", []),
        ("x\n1", "x", [1]),
        ("x\r\n1\r\n2\r\n", "x", [1, 2]),
        ("x\r1\r2\r", "x", [1, 2]),
        ("x\n1\n\n2\n", "x", [1, NAN, 2]),
        ("\n\nx\n1\n", "x", [1]),
        ("x,y\n1\n2,3\n", "y", [NAN, 3]),
        ("x,y\n1,2,3,4\n5,6\n", "y", [2, 6]),
        ("\ufeffx,y\n1,2\n", "x", [1]),
        ('\ufeff"x"\n1\n', "x", [1]),
        ('"a ""b"", c","x\ny"\n1,2\n', 'a "b", c', [1]),
        ('"a ""b"", c","x\ny"\n1,2\n', "x\ny", [2]),
        ('x\n"1\n2\n3\n', "x", [NAN, 2, 3]),
        (b"x,y\n1,\xff\n\xfe2,3\n4,5\n", "x", [1, NAN, 4]),
        (b"x,y\n1,\xff\n\xfe2,3\n4,5\n", "y", [NAN, 3, 5]),
        ("é,ü\n1,2\n", "ü", [2]),
        (",x\n1,2\n", "", [1]),
        ("x;y\n1;2\n", "x;y", [NAN]),
    ],
    ids=ascii,
)
def test_forms(opened, text, column, expected) -> None:
    source = opened(text)
    source.check_values(column)
    assert same(values(source, column), expected)
    assert len(values(source, None)) == len(expected)


def test_every_column_may_hold_numbers(opened) -> None:
    source = opened("id,a\nx,y\n")
    source.check_values("a")
    assert same(values(source, "a"), [NAN])
    with pytest.raises(MissingColumn, match=r"'c'; 'rows.csv' has 2 columns, which"):
        source.check("c")
    assert source.engine == "csv"


def test_headers_that_are_refused(opened) -> None:
    with pytest.raises(MissingColumn, match="several columns 'x'"):
        opened("x,x\n1,2\n").check("x")
    for empty in ("", "\n\n"):
        with pytest.raises(SourceError, match=r"^'rows.csv' is empty: its first line must"):
            opened(empty)


def test_chunks_are_short(opened) -> None:
    source = opened("x,y\n" + "".join(f"{i},a\n" for i in range(140_000)))
    chunks = [chunk["x"] for chunk in source.chunks(["x"])]
    assert max(map(len, chunks)) <= 65_536
    assert same(values(source), range(140_000))


def test_a_file_that_vanishes(opened, tmp_path) -> None:
    source = opened("x\n1\n")
    (tmp_path / "rows.csv").unlink()
    with pytest.raises(SourceError, match=r"^'rows.csv' could not be read$") as caught:
        values(source)
    assert caught.value.__context__ is None


cells = st.sampled_from([*CELLS, *ILL_FORMED, '"', "\r", "é"])
rows = st.lists(cells, max_size=4).map(",".join)
files = st.tuples(
    st.sampled_from(["x", "x,y", "x,y,z", '"x"', '"x","y\n"', "\ufeffx,y", "\nx"]),
    st.lists(rows, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
).map(lambda parts: parts[2].join([parts[0], *parts[1]]) + parts[2] * parts[3])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "rows.csv"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=files, block=st.sampled_from([1, 2, 3, 1 << 20]))
@example(text='x\n"""1""",2\n', block=1)
def test_both_readers_agree(path, text, block) -> None:
    path.write_bytes(text.encode())
    fast = open_source(path)
    with without("polars"):
        plain = open_source(path)
        assert not plain._polars_agrees()
    column = "x"
    np.testing.assert_array_equal(values(fast, column), values(plain, column))
    assert labels_of(fast, column) == labels_of(plain, column)
    assert len(values(fast, None)) == len(values(plain, None)) == len(values(plain, column))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        start = fast.first.begin
        assert (is_well_formed(path, Dialect(), start) and streams()) == fast._polars_agrees()


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("", True),
        ("x\n1\n", True),
        ('x\n"1"\n"a""b",""\r\n"a\nb"', True),
        ('"x"', True),
        ('x\n1"2\n', False),
        ('x\n"1"2\n', False),
        ('x\n"1', False),
        ("x\r1\r", False),
        ("\nx\n", False),
        ('\ufeff"x"\n', True),
    ],
)
def test_well_formed(tmp_path, text, sound) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    assert is_well_formed(str(path), Dialect()) == sound
