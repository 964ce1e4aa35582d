"""The pass behind most releases, as ratios to numpy.sum: ``python -m benchmarks.kernel [rows]``.

One Tails pass over float64 in memory, for five orders of the rows, and with missing values. All
tasks run in turns in one process; the fastest round counts. The last column feeds the same rows
from first to last, as a stream would.
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import fastest
from benchmarks.targets import table
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.summaries.base import CHUNK, Read
from modicum.summaries.tails import Tails

LATTICE = Lattice.within((-1e9, 1e9))
Column = NDArray[np.float64]


def orders(rows: int) -> Iterator[tuple[str, Column]]:
    """The same rows in several orders, one at a time in memory."""
    rng = np.random.default_rng(0)
    x = rng.lognormal(3, 1.5, rows)
    yield "random", x
    with_gaps = x.copy()
    with_gaps[rng.integers(0, rows, rows // 50)] = np.nan
    yield "2 % missing", with_gaps
    del with_gaps
    x.sort()
    yield "ascending", x
    yield "descending", x[::-1].copy()
    outward = np.empty(rows)
    outward[0::2], outward[1::2] = x[rows // 2 :], x[: rows // 2][::-1]
    yield "outward", outward
    del outward
    x[:] = 3.25
    yield "constant", x


def in_memory(x: Column, keep: int) -> Callable[[], object]:
    """One pass of the reader."""
    return lambda: read(open_source(x), [Read(None, LATTICE, Tails(keep))], SYSTEM)


def streamed(x: Column, keep: int) -> Callable[[], object]:
    """One pass from the first row to the last."""

    def run() -> object:
        accumulator = Tails(keep).begin(LATTICE)
        for start in range(0, len(x), CHUNK):
            accumulator.update(x[start : start + CHUNK])
        return accumulator.finish()

    return run


def main(rows: int, rounds: int, keeps: tuple[int, ...] = (500, 2000, 20_000)) -> None:
    """Print the table."""
    lines = []
    for name, x in orders(rows + rows % 2):
        tasks: dict[str, Callable[[], object]] = {"numpy.sum": x.sum}
        tasks |= {f"keep {keep}": in_memory(x, keep) for keep in keeps}
        tasks["keep 2000, first to last"] = streamed(x, 2000)
        seconds = fastest(tasks, rounds)
        reference = seconds.pop("numpy.sum")
        ratios = [f"{each / reference:.2f}" for each in seconds.values()]
        lines.append([name, f"{reference / len(x) * 1e9:.2f}", *ratios])
        header = ["rows", "numpy.sum, ns a value", *seconds]
    print(table(header, lines))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 20_000_000, rounds=7)
