"""What a release of 1e12 rows would move: ``python -m benchmarks.scale [--parts N] [--rows M]``.

Partitions are made up, summarised as on a cluster, and merged in the tree that Spark or Dask would
build. Prints the sizes of what travels, the time of a merge, and whether the answers are those of
one pass over all rows. The page docs/operate/scale.md quotes it.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.methods import WITHIN
from benchmarks.targets import table
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.privacy.event import PureDP
from modicum.privacy.split import BudgetSplit
from modicum.sources.base import MemorySource
from modicum.sources.cluster.jobs import DistributedSource, Job, Known
from modicum.sources.engines.arrays import array_column
from modicum.sources.opening import open_source
from modicum.sources.reader import Scope, read
from modicum.statistics.ranges.split import first_reduction
from modicum.summaries.base import Read, exact_sum
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.subsample import PartRecords
from modicum.summaries.sums import ClippedSum
from modicum.summaries.tails import TailSummary
from modicum.version import VERSION

MERGERS = 8
EPSILONS = ("10", "1", "0.1", "0.01")
LATTICE = Lattice.within(WITHIN)


def partition(number: int, rows: int) -> NDArray[np.float64]:
    """Rows of one partition, made anew each time: no two are held at once."""
    return default_rng(number).lognormal(8, 1.5, rows)


def job_of(epsilon: str) -> Job:
    """The asks of the first pass of a mean: both tails or a count, and two secret subsamples."""
    first = first_reduction(LATTICE, BudgetSplit(PureDP(Fraction(epsilon))), "clip")
    reads: Sequence[Any] = (first, PartRecords(2), ClippedSum(-(2**40), 2**40))
    return Job(Scope(), None, VERSION, tuple((0, Read(None, LATTICE, a)) for a in reads))


def timed(action: Callable[[], list[Known]]) -> tuple[float, list[Known]]:
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def size(known: Sequence[Known]) -> int:
    """Bytes of summaries."""
    return sum(len(data) for _, data in known)


def in_all(tails: TailSummary) -> int:
    """Sum of all records of a summary."""
    return exact_sum(tails.low) + tails.middle_sum + exact_sum(tails.high)


def grown(job: Job, merged: Sequence[Any], rows: int) -> list[str]:
    """Merge what is known with itself until it stands for ``rows`` rows: a tree of that height.

    Its secret subsamples are then of copies, not of people; their sizes are what they would be.
    """
    known = [(place, summary.to_bytes()) for place, summary in enumerate(merged)]
    tails, _, clipped = merged
    times, slowest = 1, 0.0
    while times * clipped.count < rows:
        times *= 2
        seconds, known = timed(lambda part=known: job.merge([*part, *part], ""))
        slowest = max(slowest, seconds)
    last, sampled, total = job.merged(known, SYSTEM)
    assert (total.count, total.total) == (times * clipped.count, times * clipped.total)
    assert (last.count, in_all(last)) == (times * tails.count, times * in_all(tails))
    return [
        f"{total.count:.2e}",
        f"{total.total.bit_length()} bits",
        f"{size(known) / 1e3:.0f} kB",
        f"2^-{sampled.level}",
        " ".join(f"{len(q):,}" for q in sampled.subsamples),
        f"{1e3 * slowest:.1f} ms",
    ]


def simulate(epsilon: str, parts: int, rows: int) -> tuple[list[str], list[str]]:
    """Summarise and merge; return a row of both tables."""
    job = job_of(epsilon)
    known: list[list[Known]] = [[] for _ in range(MERGERS)]
    summary_bytes: list[int] = []
    reading = merging = 0.0
    for number in range(parts):
        source = open_source(partition(number, rows))
        seconds, part = timed(lambda source=source: job.summarise(source, ""))
        reading += seconds
        summary_bytes.append(size(part))
        both = [*known[number % MERGERS], *part]
        seconds, known[number % MERGERS] = timed(lambda both=both: job.merge(both, ""))
        merging += seconds
    merged = job.merged([each for some in known for each in some], SYSTEM)
    whole = np.concatenate([partition(number, rows) for number in range(parts)])
    reads = [Read(None, LATTICE, ask.reduction) for ask in (job.reads[0][1], job.reads[2][1])]
    once = [each.to_bytes() for each in read(open_source(whole), reads, SYSTEM)]
    equal = once == [merged[0].to_bytes(), merged[2].to_bytes()]
    row = [
        epsilon,
        type(job.reads[0][1].reduction).__name__,
        f"{np.mean(summary_bytes) / 1e3:.0f} kB",
        f"{max(summary_bytes) / 1e3:.0f} kB",
        f"{sum(map(size, known)) / 1e6:.2f} MB",
        f"{1e3 * merging / parts:.1f} ms",
        f"{merging / reading:.2f}",
        f"2^-{merged[1].level}",
        " ".join(f"{len(q):,}" for q in merged[1].subsamples),
        "yes" if equal else "NO",
    ]
    return row, [epsilon, *grown(job, merged, 10**12)]


class MadeUp(DistributedSource):
    """Made-up partitions, and how much each job moves."""

    def __init__(self, parts: int, rows: int) -> None:
        super().__init__("made up", ["x"], lambda _: "double")
        self.parts, self.rows = parts, rows
        self.moved: list[list[str]] = []

    def _run(self, job: Job) -> list[Known]:
        known: list[list[Known]] = [[] for _ in range(MERGERS)]
        sizes = []
        for number in range(self.parts):
            column = array_column(partition(number, self.rows))
            part = MemorySource("made up", self.rows, lambda _, column=column: column, ["x"])
            sent = job.summarise(part, "")
            sizes.append(size(sent))
            known[number % MERGERS] = job.merge([*known[number % MERGERS], *sent], "")
        self.moved.append(
            [
                str(len(self.moved) + 1),
                f"{np.mean(sizes) / 1e3:.0f} kB",
                f"{max(sizes) / 1e3:.0f} kB",
                f"{sum(map(size, known)) / 1e6:.2f} MB",
            ]
        )
        return list(chain.from_iterable(known))


def quantile(parts: int, rows: int) -> list[list[str]]:
    """Find the records around the median; return a row for each job."""
    source = MadeUp(parts, rows)
    asked = RankWindow(Fraction(1, 2), 1000)
    (found,) = read(source, [Read("x", LATTICE, asked)], SYSTEM)
    whole = LATTICE.quantise(np.concatenate([partition(i, rows) for i in range(parts)]))
    start, stop = asked.ranks(len(whole))
    whole.partition([start, stop - 1])
    assert np.array_equal(np.sort(whole[start:stop]), found.values)
    return source.moved


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

JOBS = ["job", "a partition", "largest", f"to the driver ({MERGERS})"]
GROWN = ["ε", "rows", "exact sum", "bytes", "rate kept", "rows kept", "slowest merge"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--parts", type=int, default=200)
    parser.add_argument("--rows", type=int, default=200_000, help="in each part")
    args = parser.parse_args()
    rows, large = zip(*(simulate(each, args.parts, args.rows) for each in EPSILONS), strict=True)
    print(f"{args.parts} partitions of {args.rows:,} rows\n\n{table(HEADER, list(rows))}\n")
    print(f"A median\n\n{table(JOBS, quantile(args.parts, args.rows))}\n")
    print(f"A mean, merged with itself up to 1e12 rows\n\n{table(GROWN, list(large))}")


if __name__ == "__main__":
    main()
