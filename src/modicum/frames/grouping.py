"""What is read of a table's groups, by the privacy unit: rows, or one record a person and group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.frames.groups import GroupReader
from modicum.frames.labels import Dictionary, Label
from modicum.frames.people import kept_rows
from modicum.frames.person_groups import PersonGroups
from modicum.frames.places import Places
from modicum.frames.quiet import quiet
from modicum.frames.remote import RemoteSource, scope_of
from modicum.frames.source import Source
from modicum.mechanisms.partition_selection import natural_order
from modicum.privacy.unit import Unit

__all__ = ["check_groups", "count_keys", "reader_of_groups"]


def check_groups(source: Source, unit: Unit, by: str, max_groups: int | None) -> str | None:
    """Check by the schema that rows can be grouped; return the kind of the labels.

    Raises
    ------
    InvalidArgument
        If the unit makes one record of rows in several groups and ``max_groups`` is missing, if it
        does not and it is given, or if the unit needs the column of keys itself.
    MissingColumn, UnsupportedData
    """
    kind = source.check_label(by)
    if by == unit.column:
        raise InvalidArgument(
            f"by={by!r} says whose a row is: every group would be one protected person, of whom "
            "nothing can be told"
        )
    if by == unit.order_by and source.check_order(by) == "moment":
        raise InvalidArgument(
            f"by={by!r} already orders the rows of a person: pass a table with a copy of it"
        )
    if unit.combine is None and max_groups is not None:
        raise InvalidArgument(
            "max_groups= is for a unit with combine=: here the rows of a person are bounded over "
            "all groups together"
        )
    if unit.combine is not None and max_groups is None:
        raise InvalidArgument(
            f"combine={unit.combine!r} makes one record of a person's rows in each group: say in "
            "how many groups one person may count, for example max_groups=1"
        )
    return kind


def count_keys(
    source: Source, unit: Unit, by: str, entropy: Entropy, key: int | None = None
) -> dict[Any, int]:
    """Count the records of every label of a column, as the unit bounds them; sensitive.

    ``key`` decides what of a person is kept, as in :func:`modicum.frames.people.reader_of`.
    """
    if isinstance(source, RemoteSource):
        return source.count_keys(scope_of(unit, [], entropy), by, entropy)
    with quiet():
        return _counted(source, unit, by, entropy, key)


def _counted(
    source: Source, unit: Unit, by: str, entropy: Entropy, key: int | None
) -> dict[Any, int]:
    labels = Dictionary()
    counts = np.zeros(1, dtype=np.int64)  # first of the rows without a label
    for chunk in source.chunks([], {by: labels}):
        more = np.bincount(chunk[Label(by)] + 1, minlength=len(labels) + 1)
        more[: len(counts)] += counts
        counts = more
    keys = labels.keys()
    if unit.column is not None:
        # The order of ties must not depend on which label came first.
        keys.sort(key=natural_order)
        if unit.combine is None:
            _, (places,) = kept_rows(source, unit, [], {by: Places(keys)}, entropy, key)
        else:
            places = PersonGroups(source, unit, by, keys, key).chosen(entropy)
        counts = np.bincount(places.astype(np.int64) + 1, minlength=len(keys) + 1)
    return {each: n for each, n in zip(keys, counts[1:].tolist(), strict=True) if n}


def reader_of_groups(
    source: Source,
    unit: Unit,
    by: str,
    keys: Sequence[Hashable],
    columns: Sequence[str | None],
    key: int | None = None,
) -> GroupReader | PersonGroups:
    """Return the reader of one run; see :class:`GroupReader` for the parameters."""
    if unit.combine is None or isinstance(source, RemoteSource):
        return GroupReader(source, unit, by, keys, columns, key)
    return PersonGroups(source, unit, by, keys, key)
