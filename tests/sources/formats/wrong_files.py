"""Files of another kind, or without a header, under a name that says CSV; and their cells."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import random
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pyreadstat

Columns = dict[str, list[str] | list[float]]
_PARTS = ["ba", "ke", "lim", "no", "rus", "ta", "vel", "wi", "zor", "fen", "gup", "hy", "jo", "dax"]


def word(rng: random.Random) -> str:
    """A word of no language; long enough that no message has it by chance."""
    return "".join(rng.choice(_PARTS) for _ in range(rng.randint(3, 4))).capitalize()


def columns_of(rng: random.Random) -> Columns:
    """A small table of persons."""
    rows = rng.randint(3, 40)
    number = rng.choice([lambda: float(rng.randint(10**6, 10**8)), lambda: 1.0])
    found: Columns = {
        "name": [f"{word(rng)} {word(rng)}" for _ in range(rows)],
        "town": [word(rng) for _ in range(rows)],
        "x": [number() for _ in range(rows)],
    }
    if rng.random() < 0.5:
        found["day"] = [
            f"19{rng.randint(50, 99)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
            for _ in range(rows)
        ]
    return found


def cells_of(columns: Columns) -> list[str]:
    """The cells that no message may have."""
    return [each for values in columns.values() for each in values if isinstance(each, str)]


def _table(columns: Columns) -> pa.Table:
    return pa.table(dict(columns))


def _parquet(rng: random.Random, columns: Columns, path: Path) -> None:
    pq.write_table(
        _table(columns),
        path,
        compression=rng.choice(["none", "snappy", "zstd"]),
        use_dictionary=rng.random() < 0.5,
    )


def _arrow(rng: random.Random, columns: Columns, path: Path) -> None:
    table = _table(columns)
    if rng.random() < 0.5:
        feather.write_feather(table, path, compression=rng.choice(["uncompressed", "zstd"]))
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)


def _orc(rng: random.Random, columns: Columns, path: Path) -> None:
    orc.write_table(_table(columns), path, compression=rng.choice(["uncompressed", "zlib"]))


def _statistics(rng: random.Random, columns: Columns, path: Path) -> None:
    frame = pd.DataFrame(columns)
    kind = rng.choice(["dta", "dta", "sav", "xpt"])
    if kind == "dta":
        frame.to_stata(path, version=rng.choice([114, 117, 118]), write_index=False)
        return
    other = path.with_suffix(f".{kind}")
    (pyreadstat.write_sav if kind == "sav" else pyreadstat.write_xport)(frame, str(other))
    other.replace(path)


def _workbook(rng: random.Random, columns: Columns, path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        book.active.append(row)
    book.save(path.with_suffix(".xlsx"))
    path.with_suffix(".xlsx").replace(path)


def _text(rng: random.Random, columns: Columns, *, header: bool = True) -> str:
    mark = rng.choice([",", ";", "\t", "|"])
    rows = [list(columns)] if header else []
    rows += [[str(each) for each in row] for row in zip(*columns.values(), strict=True)]
    return "".join(mark.join(row) + "\n" for row in rows)


def _packed(rng: random.Random, columns: Columns, path: Path) -> None:
    text = _text(rng, columns).encode()
    kind = rng.choice([gzip.compress, bz2.compress, lzma.compress, _zstd, _lz4, _zip])
    path.write_bytes(kind(text))


def _zstd(text: bytes) -> bytes:
    return pa.compress(text, codec="zstd", asbytes=True)


def _lz4(text: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(text)
    return sink.getvalue().to_pybytes()


def _zip(text: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:  # stored as it is
        archive.writestr("people.csv", text)
    return held.getvalue()


def _sqlite(rng: random.Random, columns: Columns, path: Path) -> None:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"create table t ({', '.join(columns)})")
    marks = ", ".join("?" * len(columns))
    rows = list(zip(*columns.values(), strict=True))
    connection.executemany(f"insert into t values ({marks})", rows)
    connection.commit()
    connection.close()


def _markup(rng: random.Random, columns: Columns, path: Path) -> None:
    frame = pd.DataFrame(columns)
    rows = list(zip(*columns.values(), strict=True))
    page = "".join("<row>" + "".join(f"<c>{c}</c>" for c in row) + "</row>\n" for row in rows)
    path.write_text(
        rng.choice(
            [
                lambda: "<!DOCTYPE html>\n<html><head></head><body>" + frame.to_html(),
                frame.to_html,
                lambda: "\n\n<html lang='en'>" + frame.to_html(),
                lambda: '<?xml version="1.0"?>\n<data>' + page + "</data>",
                lambda: f"<data>\n  {page}</data>",
            ]
        )()
    )


def _json(rng: random.Random, columns: Columns, path: Path) -> None:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text(
        rng.choice(
            [
                lambda: "\n".join(map(json.dumps, rows)),
                lambda: json.dumps(rows),
                lambda: json.dumps(rows, indent=2),
                lambda: json.dumps(columns),
                lambda: json.dumps({"people": rows}, indent=1),
                lambda: json.dumps([list(row.values()) for row in rows]),
                lambda: "\ufeff" + json.dumps(rows),
            ]
        )()
    )


def _binary(rng: random.Random, columns: Columns, path: Path) -> None:
    cells = cells_of(columns)
    kind = rng.randrange(5)
    if kind == 0:
        np.save(path.with_suffix(".npy"), np.array(cells))
        path.with_suffix(".npy").replace(path)
    elif kind == 1:
        path.write_bytes(pickle.dumps(columns, protocol=rng.choice([2, 3, 4, 5])))
    elif kind == 2:
        path.write_bytes(b"%PDF-1.7\n" + "\n".join(cells).encode())
    elif kind == 3:
        path.write_bytes("\0".join(cells).encode())
    else:
        noise = bytes(rng.randrange(256) for _ in range(8))
        path.write_bytes(noise + b"\x02".join(each.encode() for each in cells))


def _sixteen(rng: random.Random, columns: Columns, path: Path) -> None:
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    path.write_bytes(_text(rng, columns, header=rng.random() < 0.5).encode(encoding))


def _headerless(rng: random.Random, columns: Columns, path: Path) -> None:
    chosen = rng.sample(list(columns), rng.randint(1, len(columns)))
    few: Columns = {name: columns[name] for name in chosen}
    if rng.random() < 0.3:  # other kinds of cells
        rows = len(columns["x"])
        few["more"] = [_cell(rng) for _ in range(rows)]
    columns |= few
    path.write_text(_text(rng, few, header=False))


def _cell(rng: random.Random) -> str:
    one = word(rng)
    return rng.choice(
        [
            f"{one}@example.org",
            f"{one.lower()}_{word(rng).lower()}",
            f"K{rng.randint(10, 99)}.{rng.randint(0, 9)}{one}",
            f"#{one}",
            f'"{one}, {word(rng)}"',
            f"{one}\u00e9",
            f"'{one}",
            one.upper(),
            f"{one} " * 30,
        ]
    )


KINDS: dict[str, Callable[[random.Random, Columns, Path], None]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "orc": _orc,
    "statistics": _statistics,
    "workbook": _workbook,
    "packed": _packed,
    "sqlite": _sqlite,
    "markup": _markup,
    "json": _json,
    "binary": _binary,
    "sixteen bits": _sixteen,
    "no header": _headerless,
    "no header again": _headerless,
    "no header either": _headerless,
}


def wrong_file(seed: int, folder: Path) -> tuple[Path, str, list[str]]:
    """Write a file; return its path, its kind, and the cells that no message may have."""
    rng = random.Random(f"wrong {seed}")
    kind = list(KINDS)[seed % len(KINDS)]
    path = folder / f"people{seed % 7}{rng.choice(['.csv', '.tsv', '.CSV'])}"
    columns = columns_of(rng)
    KINDS[kind](rng, columns, path)
    return path, kind, [each.strip().strip("\"'#") for each in cells_of(columns)]
