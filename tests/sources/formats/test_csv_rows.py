"""Rows of CSV files: one definition, two readers, and no row that decides about another."""

import csv
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import modicum as mo
from modicum.errors import InvalidArgument
from modicum.sources.engines.polars import streams
from modicum.sources.formats import csv_rows as module
from modicum.sources.formats.csv import CsvFile
from modicum.sources.formats.csv_rows import Dialect, read_rows
from modicum.sources.formats.numerals import Numbers
from modicum.sources.labels import Dictionary, Label
from tests.sources.engines.makers import labels_of, values, without
from tests.sources.formats.csv_files import LONG, csv_file, odd_cell, reference, row, sound_cell

MARKS = [",", ";", "\t", "|"]
NUMBERS = [Numbers(), Numbers(","), Numbers(".", ","), Numbers(",", "."), Numbers(",", " ")]
ESCAPES = [None, None, None, None, None, "\\", "\\", "~", None]
COMMENTS = [None, None, None, None, "#", None, None]
BEFORE = [b"", b"", b"", b"", b"", b"", b'a "title\n', b"a\r\n\r\n", b"", b"a\rb\n", b"\n"]
OLD_LIMIT = csv.field_size_limit()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return str(tmp_path_factory.mktemp("csv") / "rows.csv")


def check_file(path: str, seed: int) -> bool:
    """Compare all readers of a generated file; return whether Polars was one of them."""
    escape, comment = ESCAPES[seed % len(ESCAPES)], COMMENTS[seed % len(COMMENTS)]
    before = BEFORE[seed % len(BEFORE)]
    dialect = Dialect(
        MARKS[seed % 4],
        multiline=seed % 5 > 0,
        escape=escape,
        comment=comment,
        skip=len(before.splitlines()),
    )
    odd_bit = ((escape or "") + (comment or ""))[:1]
    data = csv_file(seed, dialect.separator.encode(), before, odd_bit.encode())
    with Path(path).open("wb") as file:
        file.write(data)
    expected = reference(
        data,
        dialect.separator,
        multiline=dialect.multiline,
        escape=escape,
        comment=comment,
        skip=dialect.skip,
    )
    for block in (1, 2, 3, 7, 1 << 18) if len(data) < LONG else (1 << 16, 1 << 18):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_BLOCK", block)
            assert list(read_rows(path, dialect)) == expected
    columns = None if seed % 7 else ["g", "x", "y"]
    if columns is None:
        while expected and not expected[0]:  # blank lines before the header
            expected = expected[1:]
        if not expected or len(set(expected[0])) < len(expected[0]):
            return False
    numbers = NUMBERS[seed % len(NUMBERS)]
    shift = seed % 11 == 0
    fast, plain = (
        CsvFile(path, "rows", dialect, numbers, columns, row_names=shift) for _ in range(2)
    )
    with without("polars"):
        assert not plain._polars_agrees()
    body = expected if columns is not None else expected[1:]
    names = list(fast.names[shift:][:2])
    cells = [
        [each[place + shift] if place + shift < len(each) else "" for each in body]
        for place in (0, 1)
    ]
    for source in (fast, plain):
        texts = {name: Dictionary() for name in names}
        counted = [source.counted(name) for name in names]
        chunks = list(source.chunks([*names, *counted], texts))
        for name, count, known in zip(names, counted, cells, strict=False):
            x, there, codes = (
                np.concatenate([np.empty(0), *(chunk[each] for chunk in chunks)]).tolist()
                for each in (name, count, Label(name))
            )
            np.testing.assert_array_equal(x, [numbers.reader()(cell) for cell in known])
            assert [each == 0 for each in there] == [cell != "" for cell in known]
            labels = [*texts[name].keys(), ""]
            assert [labels[int(code)] for code in codes] == known
        assert len(values(source, None)) == len(body)
    return fast._polars_agrees()


def test_all_readers_agree_on_generated_files(path) -> None:
    by_polars = [check_file(path, seed) for seed in [*range(60), 2335]]
    assert 10 < sum(by_polars) < 50 if streams() else not any(by_polars)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 11_000, 250))
def test_all_readers_agree_on_ten_thousand_generated_files(path, first) -> None:
    by_polars = [check_file(path, seed) for seed in range(first, first + 250)]
    assert 25 < sum(by_polars) < 200 if streams() else not any(by_polars)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cell", [sound_cell, odd_cell])
def test_a_row_adds_itself_and_changes_no_other(path, cell) -> None:
    """Rows as programs write them anywhere in the file, and any line where no cell has lines."""
    rng = random.Random(7)
    multiline = cell is sound_cell
    dialect = Dialect(multiline=multiline)

    def read(rows: list[bytes]) -> list[list[str]]:
        with Path(path).open("wb") as file:
            file.write(b"".join(each + b"\n" for each in [b"x", *rows]))
        return list(read_rows(path, dialect))[1:]

    def one_row() -> bytes:
        found = row(rng, cell, b",")
        return found if multiline else found.replace(b"\r", b" ").replace(b"\n", b" ")

    for _ in range(300):
        rows = [one_row() for _ in range(6)]
        at, one = rng.randrange(7), one_row()
        whole = read(rows)
        assert read([*rows[:at], one, *rows[at:]]) == [*whole[:at], *read([one]), *whole[at:]]
        assert len(whole) == 6


@pytest.mark.one_in(2)
@pytest.mark.parametrize("absent", [(), ("polars",)], ids=["polars", "standard library"])
@pytest.mark.parametrize("size", [OLD_LIMIT + 1, 3 << 20])
@pytest.mark.parametrize("odd", ["", 'q,1,5"6\n', "q,1,\r\n", 'q,1,"a"b\n'])
def test_one_row_counts_as_one(tmp_path, absent, size, odd) -> None:
    """Whatever its cells hold, and however long they are."""
    unit = mo.unit_of("id", max_rows=1)
    people = "".join(f"p{i},1,ok\n" for i in range(50))
    fakes = "n" * size + "\n" + "".join(f"fake{i},1,\n" for i in range(1000))
    long = "".join(f"r{i},1,{'n' * size}\n" for i in range(3))
    path = tmp_path / "rows.csv"
    for last, more in (("", 0), (f'z,1,"{fakes}"\n', 1), (long, 3)):
        path.write_text("id,x,note\n" + people + last + odd)
        with without(*absent):
            found = mo.count(str(path), "x", epsilon=1000, unit=unit).value
        assert round(found) == 50 + more + bool(odd)


@pytest.mark.parametrize("before", ["", '"a",1\n'])
@pytest.mark.parametrize("after", ["", '"b"\n', "c\n" * 9 + '"open\n' + "d\n" * 9])
@pytest.mark.parametrize("size", [OLD_LIMIT, OLD_LIMIT + 1, 1 << 19])
def test_a_long_cell_anywhere_among_quotes(path, before, after, size) -> None:
    data = f"x,y\n{before}{'n' * size},1\n{after}".encode()
    Path(path).write_bytes(data)
    assert list(read_rows(path, Dialect())) == reference(data)


def test_the_limit_of_the_process_is_left_alone(path) -> None:
    with Path(path).open("w") as file:
        file.write('x\n"12"\n')
    csv.field_size_limit(1)
    try:
        assert list(read_rows(path, Dialect())) == [["x"], ["12"]]
        assert csv.field_size_limit() == 1
    finally:
        csv.field_size_limit(OLD_LIMIT)


def test_a_quote_that_is_never_closed_is_a_character(path) -> None:
    with Path(path).open("w") as file:
        file.write('id,note\np,"5\n' + ("q," + "o" * 1000 + "\n") * 40_000 + 'r,"5" x\ns,6"\n')
    tracemalloc.start()
    try:
        rows = sum(1 for _ in read_rows(path, Dialect()))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == 40_004
    assert most < 10e6  # it is searched for, and not held


@pytest.mark.one_in(2)
@pytest.mark.parametrize("tail", ["", '"', '""', "x\n", '"x\n', '" x\n'])
def test_unclosed_quotes_cost_no_more_than_the_file(path, tail) -> None:
    with Path(path).open("w") as file:
        file.write("x\n" + f'"5{tail}\n' * 20_000)
    assert list(read_rows(path, Dialect())) == reference(("x\n" + f'"5{tail}\n' * 20_000).encode())


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "koi8-r", "euc-kr", "UTF8"])
def test_encodings(path, encoding) -> None:
    text = "é" if encoding in {"cp1252", "latin-1", "UTF8"} else {"koi8-r": "ж"}.get(encoding, "한")
    with Path(path).open("w", encoding=encoding, newline="") as file:
        file.write(f'x,{text}\n1,"{text}""\n{text}"\n2,{text}\n')
    expected = [["x", text], ["1", f'{text}"\n{text}'], ["2", text]]
    assert list(read_rows(path, Dialect(encoding=encoding))) == expected
    source = mo.csv_file(path, encoding=encoding)
    assert sorted(labels_of(source, text)[1]) == sorted([f'{text}"\n{text}', text])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"separator": ""}, "one ASCII character"),
        ({"separator": "||"}, "one ASCII character"),
        ({"separator": "§"}, "one ASCII character"),
        ({"separator": '"'}, "one ASCII character"),
        ({"separator": "\n"}, "one ASCII character"),
        ({"separator": 5}, "one ASCII character"),
        ({"separator": "a"}, "part of numbers"),
        ({"separator": "."}, "part of numbers"),
        ({"encoding": "utf-16"}, "save other files as UTF-8"),
        ({"encoding": "gb18030"}, "save other files as UTF-8"),
        ({"encoding": "shift_jis"}, "save other files as UTF-8"),
        ({"encoding": "cp037"}, "save other files as UTF-8"),
        ({"encoding": "no such"}, "save other files as UTF-8"),
        ({"encoding": 5}, "save other files as UTF-8"),
        ({"multiline": "no"}, "True or False"),
    ],
    ids=str,
)
def test_dialects_that_are_refused(arguments, message) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Dialect(**arguments)


texts = st.text(st.sampled_from("0123456789.,' \u00a0\u202f_+-eEinfty\tx"), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(texts, min_size=1, max_size=30), place=st.integers(0, len(NUMBERS) - 1))
def test_both_readers_read_the_same_numbers(path, cells, place) -> None:
    pl = pytest.importorskip("polars")
    numbers = NUMBERS[place]
    table = pl.DataFrame({"x": cells}).select(numbers.polars(pl.col("x")))
    found = [numbers.reader()(each) for each in cells]
    for fast, cell, exact in zip(table["x"].to_list(), cells, found, strict=True):
        if fast is None:  # left to the reader
            continue
        np.testing.assert_array_equal(fast, exact, err_msg=ascii(cell))
