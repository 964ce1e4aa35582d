"""Damaged files of every kind: an answer, or one line that says why not; the process lives on."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from tests.privacy.ledger.server import ROOT


def endings(folder, number: int, seed: int) -> dict[str, int]:
    command = [
        sys.executable,
        "-m",
        "tests.sources.formats.damaged",
        str(folder),
        str(number),
        str(seed),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = (folder / "last").read_text()
    assert run.returncode == 0, f"died at file {last} of seed {seed}: {run.stderr[-2000:]}"
    return json.loads(run.stdout.splitlines()[-1])


def test_thirty_damaged_files(tmp_path) -> None:
    seen = endings(tmp_path, 30, 1)
    assert seen.keys() <= {"answered", "told", "printed"}
    assert seen["told"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_five_thousand_damaged_files(tmp_path, seed, record_property) -> None:
    seen = endings(tmp_path, 500, seed)
    assert seen.keys() <= {"answered", "told", "printed"}
    record_property("counted", f"500 damaged files: {seen}")


def texts(kind: str, ends: list[int]) -> pa.Array:
    """Texts that end where it is said, in six bytes; Arrow itself looks at the last end only."""
    wide = np.int64 if kind.startswith("large") else np.int32
    buffers = [None, pa.py_buffer(np.array(ends, wide)), pa.py_buffer(b"abcdef")]
    return pa.Array.from_buffers(getattr(pa, kind)(), len(ends) - 1, buffers)


@pytest.mark.parametrize("kind", ["string", "large_string"])
@pytest.mark.parametrize("ends", [[0, 90_000, 6], [0, 5, 2, 6], [0, -70_000, 6]])
@pytest.mark.parametrize("coded", [False, True])
def test_texts_that_end_beyond_their_bytes(kind, ends, coded) -> None:
    column = texts(kind, ends)
    if coded:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), column, safe=False)
    table = pa.table({"t": column, "x": np.arange(float(len(column)))})
    curator = mo.Curator(table, budget=mo.pure(9))
    for ask in (
        lambda: curator.group_by("t", keys=["a"]).count(epsilon=1),
        lambda: curator.n_distinct("t", epsilon=1),
        lambda: curator.where("t == 'a'").count(epsilon=1),
    ):
        with pytest.raises(mo.SourceError, match=r"^the pyarrow data could not be read$"):
            ask()
    assert curator.spent.amount == 0


@pytest.mark.parametrize("place", [-2, 2, 100])
def test_places_that_are_not_in_a_dictionary(place) -> None:
    places = pa.array([0, place], pa.int8())
    column = pa.DictionaryArray.from_arrays(places, pa.array(["a", "b"]), safe=False)
    curator = mo.Curator(pa.table({"t": column}), budget=mo.pure(9))
    with pytest.raises(mo.SourceError):
        curator.group_by("t", keys=["a"]).count(epsilon=1)


def test_bytes_that_are_no_utf8_are_no_damage() -> None:
    column = texts("string", [0, 3, 6]).view(pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)),
                                                    pa.py_buffer(b"\xff\xfe")])  # fmt: skip
    table = pa.table({"t": pa.concat_arrays([broken, column.view(pa.string())])})
    curator = mo.Curator(table, budget=mo.pure(900))
    assert round(curator.n_distinct("t", epsilon=400).value) == 3


def test_a_file_that_says_it_has_more_rows_than_values(tmp_path) -> None:
    """The number of its rows is that of its values."""
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, pa.schema([("x", pa.float64())])) as sink:
        sink.write_batch(pa.record_batch({"x": np.arange(300.0)}))
    data = path.read_bytes()
    rows = (300).to_bytes(8, "little")
    assert rows in data
    path.write_bytes(data.replace(rows, (1 << 40).to_bytes(8, "little")))
    curator = mo.Curator(path, budget=mo.pure(9))
    with pytest.raises(mo.SourceError, match="could not be read"):
        curator.count(epsilon=1)
    assert curator.spent.amount == 0
