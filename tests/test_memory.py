"""The peak memory of a release does not grow with the table: 10^7 and 10^8 rows of Parquet.

A folder of 10^8 rows is ten files of 10^6 rows, each there under ten names: 80 MB on the disk.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 1_000_000
FILES = 10
SCRIPT = """
import re, sys, modicum as mo
folder, statistic = sys.argv[1:]
within = dict(within=(-1e9, 1e9), epsilon=1)
curator = mo.Curator(folder, budget=mo.pure(9))
if statistic == "groups":
    answers = curator.group_by("g", keys=range(8)).mean("x", **within)
    counts = [each.error_model.to_dict()["count"] for each in answers.values()]
else:
    counts = [getattr(curator, statistic)("x", **within).error_model.to_dict()["count"]]
# Not ru_maxrss, which a child has from its parent.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(peak[1], round(sum(counts)))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("memory")
    found = {times: folder / str(times) for times in (1, 10)}
    for path in found.values():
        path.mkdir()
    for number in range(FILES):
        rng = np.random.default_rng(number)
        table = {"x": rng.lognormal(10, 1, ROWS), "g": rng.integers(0, 8, ROWS).astype("i1")}
        pq.write_table(pa.table(table), found[1] / f"{number}.parquet")
        for copy in range(10):
            os.link(found[1] / f"{number}.parquet", found[10] / f"{number} {copy}.parquet")
    return found


def peak(folder: Path, statistic: str) -> tuple[int, int]:
    """Peak memory in kB, and a noisy count, of a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), statistic],
        capture_output=True,
        text=True,
        check=True,
    )
    memory, count = done.stdout.split()
    return int(memory), int(count)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("statistic", ["mean", "median", "groups"])
def test_ten_times_the_rows_need_no_more_memory(statistic, folders) -> None:
    """Less than 1.3 times, and 24 bytes for a hundred rows."""
    small, few = peak(folders[1], statistic)
    large, many = peak(folders[10], statistic)
    assert (round(few, -5), round(many, -5)) == (FILES * ROWS, 10 * FILES * ROWS)
    assert large < 1.3 * small
    print(f"{statistic}: {small} kB, {large} kB")
