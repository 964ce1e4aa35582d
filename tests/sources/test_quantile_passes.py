"""How often quantiles read a long column: once where rows can be fetched, else twice."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import modicum as mo
from modicum.sources.base import Source
from modicum.sources.cluster.jobs import DistributedSource, Job
from modicum.sources.opening import open_source
from modicum.summaries import brackets
from tests.sources.cluster import remote
from tests.sources.cluster.test_distributed import Cluster
from tests.sources.engines.makers import TABLES

SIZE = 400_000
WITHIN = (-1e9, 1e9)

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "one": lambda source: mo.quantiles(source, "x", q=[0.3], within=WITHIN, epsilon=1),
    "joint": lambda source: mo.quantiles(
        source, "x", q=[0.2, 0.4, 0.7], within=WITHIN, epsilon=1, level=None
    ),
    "nested": lambda source: mo.quantiles(
        source, "x", q=[i / 40 for i in range(1, 40)], within=WITHIN, epsilon=1
    ),
    "histogram": lambda source: mo.histogram(source, "x", bins=6, within=WITHIN, epsilon=1),
}

PATHS: dict[str, tuple[str, Any, int]] = {
    "memory": ("pandas", lambda table, _: table.to_pandas(), 1),
    "batches": ("pyarrow", TABLES["lazy"], 2),
    "parts": ("pyarrow", lambda table, _: Cluster(np.array_split(table["x"].to_numpy(), 3)), 2),
    "spark": ("pyspark", remote.spark_frame, 2),
    "dask": ("dask", remote.dask_frame(), 2),
    "ibis": ("ibis", remote.ibis_polars, 2),
}


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the passes and jobs; columns of 400,000 rows are not held."""
    found: list[str] = []
    monkeypatch.setattr(brackets, "WHOLE", 1 << 17)
    summaries, chunks = DistributedSource._ran, Source.chunks

    def job(self: DistributedSource, job: Job, entropy: Any) -> Any:
        found.append("job")
        return summaries(self, job, entropy)

    def read(self: Source, *arguments: Any) -> Any:
        if not isinstance(self, DistributedSource) and "job" not in found:  # a part's own
            found.append("pass")
        return chunks(self, *arguments)

    monkeypatch.setattr(DistributedSource, "_ran", job)
    monkeypatch.setattr(Source, "chunks", read)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("path", PATHS)
def test_every_path_takes_as_few_as_it_can(
    path: str, question: str, passes: list[str], tmp_path: Path
) -> None:
    module, make, most = PATHS[path]
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed: make test-engines")
    x = np.random.default_rng(1).permutation(np.arange(SIZE) * 1.0)
    made = make(pa.table({"x": x}), tmp_path)
    # The cells of intervals are counted once more: their edges may be anywhere.
    most += question == "nested"
    for _ in range(2):  # what a sample did not bracket is read again, once in hundreds of releases
        passes.clear()
        QUESTIONS[question](open_source(made))
        if len(passes) == most:
            return
    pytest.fail(f"{len(passes)} passes, not {most}")
