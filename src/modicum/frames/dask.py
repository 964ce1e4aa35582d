"""Dask DataFrames: summarised by their workers, or threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from modicum.errors import ModicumError, SourceError
from modicum.frames.distributed import DistributedSource, Job, Parts
from modicum.frames.native import open_pandas

__all__ = ["DaskTable"]

_FAN_IN = 16  # parts merged at a time


class DaskTable(DistributedSource):
    """A DataFrame: a graph that is computed anew for every job.

    The workers need this version of modicum.
    """

    def __init__(self, frame: Any) -> None:
        types = {name: dtype.name for name, dtype in frame.dtypes.items()}
        names = [name for name in frame.columns if isinstance(name, str)]
        super().__init__("dask", names, types.__getitem__)
        self._frame = frame

    def _run(self, job: Job) -> Iterable[Parts]:
        # Impure: a part that is computed twice chooses its rows afresh.
        delayed = partial(import_module("dask").delayed, pure=False)
        named = [name for name in job.columns if name is not None]
        frames = self._frame[named].to_delayed()
        known = [delayed(_summarise)(job, frame, place) for place, frame in enumerate(frames)]
        height = 0
        while len(known) > 1:
            height += 1
            groups = [known[i : i + _FAN_IN] for i in range(0, len(known), _FAN_IN)]
            known = [
                delayed(_merge)(job, group, f"merge {height}/{place}")
                for place, group in enumerate(groups)
            ]
        (parts,) = known
        return [parts.compute()]


def _summarise(job: Job, frame: Any, place: int) -> Parts:
    """Run where the part is."""
    source = open_pandas(frame)
    try:
        for name in job.columns:
            source.check(name)
    except ModicumError:
        pass
    else:
        return job.summarise(source.chunks(job.columns), f"part {place}")
    raise SourceError("not all parts of the dask data declare the columns as numbers")


def _merge(job: Job, parts: Sequence[Parts], place: str) -> Parts:
    """Run on a worker, for what some parts know."""
    return job.merge(parts, place)
