"""What a release of 1e12 rows would move: ``python -m benchmarks.scale [--parts N] [--rows M]``.

Partitions are made up, summarised as on a cluster, and merged in the tree that Spark or Dask would
build. Prints the sizes of what travels, the time of a merge, and whether the answers are those of
one pass over all rows. The page docs/scale.md quotes it.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.methods import WITHIN
from benchmarks.targets import table
from modicum.estimators.purse import open_purse
from modicum.estimators.schedule import first_reduction
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.frames.distributed import Job, Parts
from modicum.frames.reader import read
from modicum.frames.source import open_source
from modicum.privacy.event import Pure
from modicum.steps import Ask
from modicum.summaries.clipped import ClippedSum
from modicum.summaries.part_records import PartRecords
from modicum.version import VERSION

MERGERS = 8
EPSILONS = ("10", "1", "0.1", "0.01")
LATTICE = Lattice.within(WITHIN)


def partition(number: int, rows: int) -> NDArray[np.float64]:
    """Rows of one partition, made anew each time: no two are held at once."""
    return default_rng(number).lognormal(8, 1.5, rows)


def job_of(epsilon: str) -> Job:
    """The asks of the first pass of a mean: both tails or a count, and two secret subsamples."""
    first = first_reduction(LATTICE, open_purse(Pure(Fraction(epsilon))), "clip")
    asks: Sequence[Any] = (first, PartRecords(2), ClippedSum(-(2**40), 2**40))
    return Job(tuple(Ask("x", LATTICE, each) for each in asks), None, VERSION)


def timed(action: Callable[[], Parts]) -> tuple[float, Parts]:
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def grown(job: Job, merged: Sequence[Any], rows: int) -> list[str]:
    """Merge what is known with itself until it stands for ``rows`` rows: a tree of that height.

    Its secret subsamples are then of copies, not of people; their sizes are what they would be.
    """
    known = [summary.to_bytes() for summary in merged]
    tails, _, clipped = merged
    times, slowest = 1, 0.0
    while times * clipped.count < rows:
        times *= 2
        seconds, known = timed(lambda part=known: job.merge([part, part], ""))
        slowest = max(slowest, seconds)
    last, sampled, total = job.merged([known], SYSTEM)
    assert (total.count, total.total) == (times * clipped.count, times * clipped.total)
    assert (last.count, last.total()) == (times * tails.count, times * tails.total())
    return [
        f"{total.count:.2e}",
        f"{total.total.bit_length()} bits",
        f"{sum(map(len, known)) / 1e3:.0f} kB",
        f"2^-{sampled.level}",
        " ".join(f"{len(q):,}" for q in sampled.subsamples),
        f"{1e3 * slowest:.1f} ms",
    ]


def simulate(epsilon: str, parts: int, rows: int) -> tuple[list[str], list[str]]:
    """Summarise and merge; return a row of both tables."""
    job = job_of(epsilon)
    known: list[Parts | None] = [None] * MERGERS
    summary_bytes: list[int] = []
    reading = merging = 0.0
    for number in range(parts):
        chunk = {"x": partition(number, rows)}
        seconds, part = timed(lambda chunk=chunk: job.summarise([chunk], ""))
        reading += seconds
        summary_bytes.append(sum(map(len, part)))
        before = known[number % MERGERS]
        both = [part] if before is None else [before, part]
        seconds, known[number % MERGERS] = timed(lambda both=both: job.merge(both, ""))
        merging += seconds
    arrived = [each for each in known if each is not None]
    merged = job.merged(arrived, SYSTEM)
    whole = np.concatenate([partition(number, rows) for number in range(parts)])
    asks = [Ask(None, LATTICE, ask.reduction) for ask in (job.asks[0], job.asks[2])]
    once = [each.to_bytes() for each in read(open_source(whole), asks, SYSTEM)]
    equal = once == [merged[0].to_bytes(), merged[2].to_bytes()]
    row = [
        epsilon,
        type(job.asks[0].reduction).__name__,
        f"{np.mean(summary_bytes) / 1e3:.0f} kB",
        f"{max(summary_bytes) / 1e3:.0f} kB",
        f"{sum(sum(map(len, each)) for each in arrived) / 1e6:.2f} MB",
        f"{1e3 * merging / parts:.1f} ms",
        f"{merging / reading:.2f}",
        f"2^-{merged[1].level}",
        " ".join(f"{len(q):,}" for q in merged[1].subsamples),
        "yes" if equal else "NO",
    ]
    return row, [epsilon, *grown(job, merged, 10**12)]


HEADER = [
    "ε",
    "first ask",
    "a partition",
    "largest",
    f"to the driver ({MERGERS})",
    "one merge",
    "merge / read",
    "rate kept",
    "rows kept",
    "equal to one pass",
]

GROWN = ["ε", "rows", "exact sum", "bytes", "rate kept", "rows kept", "slowest merge"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--parts", type=int, default=200)
    parser.add_argument("--rows", type=int, default=200_000, help="in each part")
    args = parser.parse_args()
    rows, large = zip(*(simulate(each, args.parts, args.rows) for each in EPSILONS), strict=True)
    print(f"{args.parts} partitions of {args.rows:,} rows\n\n{table(HEADER, list(rows))}\n")
    print(f"The same, merged with itself up to 1e12 rows\n\n{table(GROWN, list(large))}")


if __name__ == "__main__":
    main()
