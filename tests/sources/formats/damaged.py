"""``python -m tests.sources.formats.damaged FOLDER NUMBER SEED``: ask questions of damaged files.

Each file is one of a kind that can be read, with bits, bytes or parts of it changed. A question is
asked of it from Python and from the command line; what comes of it is an answer or one line that
says why not. The number of each ending is printed; a death of the process is one.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather

import modicum as mo
from modicum.cli import main as command

_MEMORY = 6 << 30  # bytes of address space, so that a file that asks for more is told so
_ROWS = 300


def write_all(folder: Path) -> list[Path]:
    """Write a table of numbers, text and categories in every kind."""
    draws = np.random.default_rng(1)
    text = [f"a text of row {i}" if i % 7 else None for i in range(_ROWS)]
    table = pd.DataFrame(
        {
            "x": draws.normal(50, 9, _ROWS),
            "n": draws.integers(0, 9, _ROWS),
            "g": ["a", "b", "c"] * (_ROWS // 3),
            "t": text,
        }
    )
    table.to_csv(folder / "t.csv", index=False)
    table.to_csv(folder / "t.tsv", index=False, sep="\t")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes(), mtime=0))
    table.to_parquet(folder / "t.parquet")
    categories = pa.Table.from_pandas(table.assign(g=table["g"].astype("category")))
    feather.write_feather(categories, folder / "t.feather", compression="lz4")
    for name, kinds in (("t.arrow", table), ("c.arrow", categories)):
        made = kinds if isinstance(kinds, pa.Table) else pa.Table.from_pandas(kinds)
        with pa.ipc.new_file(folder / name, made.schema) as sink:
            sink.write_table(made, max_chunksize=70)
    table.to_excel(folder / "t.xlsx", index=False)
    table.assign(t=table["t"].fillna("")).to_stata(folder / "t.dta", write_index=False)
    return sorted(each for each in folder.iterdir() if each.name[1] == ".")


def damaged(data: bytes, draws: random.Random) -> bytes:
    """Change bits, clear a part, cut the end off, swap two blocks, or write a large number."""
    found = bytearray(data)
    way = draws.choice(["bits", "bits", "zeros", "cut", "swap", "number", "doubled"])
    place = draws.randrange(len(found))
    if way == "bits":
        for _ in range(draws.choice([1, 3, 20])):
            found[draws.randrange(len(found))] ^= 1 << draws.randrange(8)
    elif way == "zeros":
        size = draws.choice([1, 8, 64, 512])
        found[place : place + size] = bytes(len(found[place : place + size]))
    elif way == "cut":
        del found[place:]
    elif way == "swap":
        size, other = draws.choice([8, 64]), draws.randrange(len(found))
        one, two = bytes(found[place : place + size]), bytes(found[other : other + size])
        found[place : place + len(two)], found[other : other + len(one)] = two, one
    elif way == "number":
        place -= place % 4
        found[place : place + 4] = draws.choice([b"\xff\xff\xff\x7f", b"\xff" * 4, b"\0\0\0@"])
    else:
        found[place:place] = found[place : place + draws.choice([1, 8, 300])]
    return bytes(found)


def ask(path: Path) -> Iterator[str]:
    """Ask of a file, and yield how that ended."""
    for question in (
        lambda curator: curator.count(epsilon=1),
        lambda curator: curator.mean("x", within=(0, 100), epsilon=1),
        lambda curator: curator.group_by("g", keys=["a", "b"]).count(epsilon=1),
        lambda curator: curator.n_distinct("t", epsilon=1),
    ):
        try:
            question(mo.Curator(path, budget=mo.pure(9)))
            yield "answered"
        except mo.ModicumError as error:
            yield "told" if "a text of row" not in str(error) else f"a cell is told: {error}"
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        command(["mean", str(path), "x", "--within=0,100", "--by=g", "--keys=a,b", "--epsilon=1"])
    yield "a traceback" if "Traceback" in said.getvalue() else "printed"


def main() -> None:
    folder, number, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    whole = {each: each.read_bytes() for each in write_all(folder)}
    draws, seen = random.Random(seed), Counter[str]()
    for place in range(number):
        kind = draws.choice([*whole])
        path = folder / f"damaged{kind.name[1:]}"
        path.write_bytes(damaged(whole[kind], draws))
        (folder / "last").write_text(f"{place} of {kind.name}")
        try:
            seen.update(ask(path))
        except Exception as error:  # noqa: BLE001
            seen[f"{kind.name}: {type(error).__name__} {str(error)[:60]}"] += 1
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
