"""The record of counts of very many keys, which are in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modicum.errors import number_of
from modicum.privacy.event import Event
from modicum.privacy.unit import NEIGHBOURS, Unit
from modicum.releases.publishing.answers import sealed
from modicum.releases.publishing.html import card, facts
from modicum.stored.codec import storable


@storable
@sealed
@dataclass(frozen=True, slots=True, repr=False)
class CountsFile:
    """A Parquet file of released counts, a row for each key: what :meth:`Curator.count_to` made.

    Its columns are those of the key, ``value``, ``lower`` and ``upper``, integers. A value is a
    count plus noise, and may be negative: cut at 0, values would be biased, and sums of them badly
    so. The ends are the value less and plus ``half_width``, cut at 0.

    Attributes
    ----------
    path, digest : str
        The file, and the SHA-256 of its bytes.
    by : tuple of str
        The columns of the key.
    rows : int
        Rows of the file: keys that are shown.
    half_width : int
        Half the width of the interval of every count.
    level : float
        Its confidence, for each count alone.
    noise : str
        The law of the noise.
    event : Event
        What all counts together cost the privacy unit, without the draw of the keys.
    selection : Event or None
        What the draw of the keys cost; ``None`` if they were given.
    unit : Unit
        Who is protected.
    counts : str or None
        The column that said how many rows a row stands for.
    at_least : int or None
        Counts whose value is smaller were left out.
    engine : str
        Which engine read the data.
    view : tuple of str
        Which rows were chosen, and which columns made, of the table that was opened.
    account : str
        Which budget was charged.
    private : bool
        False if the randomness was a test's: the release then protects nobody.
    version : str
        Version of modicum.

    Examples
    --------
    >>> import modicum as mo, pandas as pd, pathlib, tempfile
    >>> visits = pd.DataFrame({"page": [1, 2] * 500})
    >>> curator = mo.Curator(visits, budget=mo.pure(1))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> counts = curator.count_to(file, "page", keys=visits[:2], epsilon=1)
    >>> counts.rows, counts.by
    (2, ('page',))
    """

    path: str
    digest: str
    by: tuple[str, ...]
    rows: int
    half_width: int
    level: float
    noise: str
    event: Event
    selection: Event | None
    unit: Unit
    counts: str | None
    at_least: int | None
    engine: str
    view: tuple[str, ...]
    account: str
    private: bool
    version: str

    @property
    def usable(self) -> bool:
        """Whether there is a count."""
        return self.rows > 0

    def summary(self) -> str:
        """Write what was released, at what cost."""
        return "\n".join([self._heading, *(f"  {name:15}{words}" for name, words in self._said())])

    @property
    def _heading(self) -> str:
        of = "rows" if self.counts is None else f"rows ({self.counts} for each key)"
        by = ", ".join(self.by)
        return f"counts of {of} by {by}: {number_of(self.rows, 'key')} in {Path(self.path).name}"

    def _said(self) -> Iterator[tuple[str, str]]:
        yield f"{100 * self.level:g} % interval", f"±{self.half_width:,} for each count"
        yield "noise", self.noise
        swap = self.event.swapped()
        yield (
            "cost",
            f"{self.event} for {self.unit}, all keys together ({NEIGHBOURS}; swap: {swap})",
        )
        yield "keys", "given" if self.selection is None else f"drawn, for {self.selection}"
        if self.at_least is not None:
            yield "shown", f"values of at least {self.at_least:,}"
        yield from ((name, words) for name, _, words in (each.partition(" ") for each in self.view))
        yield "account", self.account
        yield "file", self.path
        yield "sha256", self.digest
        if not self.private:
            yield "WARNING", "test entropy, not private"

    def described(self) -> dict[str, object]:
        """What the file itself says of its counts: all but where it is and whose budget it was."""
        return {
            "schema": "modicum.counts/1",
            "by": list(self.by),
            "half_width": self.half_width,
            "level": self.level,
            "noise": self.noise,
            "cost": str(self.event),
            "keys": "given" if self.selection is None else str(self.selection),
            "unit": str(self.unit),
            "neighbours": NEIGHBOURS,
            "counts": self.counts,
            "at_least": self.at_least,
            "view": list(self.view),
            "private": self.private,
            "version": self.version,
        }

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object (``schema: modicum.counts/1``).

        Parameters
        ----------
        indent : int, optional
            Spaces by which each level is indented; by default all is one line.

        Returns
        -------
        str
            What the record says; the counts are in the file.
        """
        found = {"path": self.path, "sha256": self.digest, "rows": self.rows}
        record = self.described() | found | {"account": self.account, "usable": self.usable}
        return json.dumps(record, indent=indent, allow_nan=False)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"CountsFile({self.path!r}, {number_of(self.rows, 'key')})"

    def _repr_html_(self) -> str:
        return card(self._heading, facts(self._said()))
