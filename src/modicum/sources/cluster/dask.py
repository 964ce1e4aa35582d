"""Dask DataFrames: summarised by their workers, or threads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from modicum.errors import ModicumError, SourceError
from modicum.sources.base import opener, suppress_warnings
from modicum.sources.cluster.jobs import DistributedSource, Job, Known
from modicum.sources.engines.pandas import open_pandas, pandas_column
from modicum.sources.labels import Dictionary, label_bytes
from modicum.sources.types import label_kind

_FAN_IN = 16  # parts merged at a time
_UNKNOWN = "__UNKNOWN_CATEGORIES__"  # of Dask, where only the parts know them
_UNLIKE = "not all parts of the dask data declare the columns alike"


@opener("dask.dataframe.DataFrame")
class DaskTable(DistributedSource):
    """A DataFrame: a graph that is computed anew for every job.

    The workers need this version of modicum.
    """

    def __init__(self, frame: Any) -> None:
        types = {name: dtype.name for name, dtype in frame.dtypes.items()}
        names = [name for name in frame.columns if isinstance(name, str)]
        super().__init__("dask", names, types.__getitem__)
        self._frame = frame

    def _run(self, job: Job) -> Iterable[Known]:
        # Impure: a part that is computed twice chooses its rows afresh.
        delayed = partial(import_module("dask").delayed, pure=False)
        frame = self._frame[list(job.columns)]
        unit = job.scope.unit
        kinds = {name: _kind(frame.dtypes[name]) for name in job.labels}
        if unit.column is not None:
            frame = _by_person(frame, unit.column, kinds)
        parts = frame.to_delayed()
        known = [delayed(_summarise)(job, part, place, kinds) for place, part in enumerate(parts)]
        height = 0
        while len(known) > 1:
            height += 1
            groups = [known[i : i + _FAN_IN] for i in range(0, len(known), _FAN_IN)]
            known = [
                delayed(_merge)(job, group, f"merge {height}/{place}")
                for place, group in enumerate(groups)
            ]
        (whole,) = known
        found: list[Known] = whole.compute()
        return found


def _kind(dtype: Any) -> str | None:
    """Return the kind of a column's labels; None if only its parts have its categories.

    Columns of objects hold labels by their text, so they are columns of text.
    """
    if hasattr(dtype, "categories"):
        if _UNKNOWN in dtype.categories:
            return None
        dtype = dtype.categories.dtype
    kind = label_kind(dtype.name)
    return "text" if kind == "object" else kind


def _check_kinds(frame: Any, kinds: Mapping[str, str | None]) -> None:
    """Refuse a part in which labels are of another kind: 5 and "5" would be two persons."""
    for name, kind in kinds.items():
        if kind is not None and _kind(frame[name].dtype) != kind:
            raise SourceError(_UNLIKE)


def _by_person(frame: Any, person: str, kinds: dict[str, str | None]) -> Any:
    """Bring all rows of a person into one part; rows without a person are left out.

    Dask's own hash distinguishes 0.0 from -0.0, and in a column of objects 5 from "5": equal labels
    that must not be divided. So the part is chosen here, and Dask moves rows by its number. Where
    the categories are not declared, their kinds are not either: there persons are known by their
    text.
    """
    place = "_" * (1 + max(map(len, frame.columns)))
    meta = frame._meta.assign(**{place: np.empty(0, dtype=np.int64)})  # noqa: SLF001
    if kinds[person] is None:
        meta = meta.assign(**{person: np.empty(0, dtype=object)})
    parts = frame.npartitions
    placed = frame.map_partitions(_placed, person, place, parts, dict(kinds), meta=meta)
    kinds[person] = kinds[person] or "text"
    return placed.shuffle(place, npartitions=parts, shuffle_method="tasks")


def _placed(
    frame: Any, person: str, place: str, parts: int, kinds: Mapping[str, str | None]
) -> Any:
    """Number the part that each row goes to; runs where a part is."""
    _check_kinds(frame, kinds)
    labels = Dictionary()
    with suppress_warnings():
        codes = pandas_column(frame[person]).codes(0, len(frame), labels)
    known = labels.keys()
    if kinds[person] is None:
        known = [str(label) for label in known]
        frame = frame.assign(**{person: np.array([*known, None], dtype=object)[codes]})
    digests = (hashlib.sha256(label_bytes(label)).digest() for label in known)
    places = [int.from_bytes(digest[:8], "little") % parts for digest in digests]
    there = codes >= 0
    return frame[there].assign(**{place: np.array(places, dtype=np.int64)[codes[there]]})


def _summarise(job: Job, frame: Any, place: int, kinds: Mapping[str, str | None]) -> list[Known]:
    _check_kinds(frame, kinds)
    source = open_pandas(frame)
    try:
        job.check(source)
    except ModicumError:
        pass
    else:
        return job.summarise(source, f"part {place}")
    raise SourceError(_UNLIKE)


def _merge(job: Job, parts: Sequence[list[Known]], place: str) -> list[Known]:
    """Merge, on a worker, what some parts know."""
    return job.merge(chain.from_iterable(parts), place)
