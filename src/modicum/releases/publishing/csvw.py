"""A table as CSV, and beside it what it says, as CSV on the Web (CSVW) describes tables.

The metadata follow W3C's Metadata Vocabulary for Tabular Data (2015): a file of the name of the
table and ``-metadata.json``. Title, citation and rights are terms of Dublin Core; what that
vocabulary has no words for, the privacy guarantee first, is an object of its ``notes``.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote

from modicum.releases.publishing.rounding import written

_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool,), "boolean"),
    ((int,), "integer"),
    ((int, float), "double"),
    ((Decimal,), "double"),
    ((datetime,), "dateTime"),
    ((date,), "date"),
)


class CsvColumn(NamedTuple):
    """A column of a CSV file: its name, what it holds in words, its cells, and their kind.

    The kind is that of a table of :meth:`PublishedTable.frame`; ``None`` is what the cells are.
    """

    name: str
    about: str
    cells: Sequence[Any]
    kind: type | None = None

    @property
    def datatype(self) -> str:
        """The type of its cells among those of XML Schema that CSVW names."""
        there = [each for each in self.cells if each is not None]
        for types, name in _TYPES:
            if there and all(_is_one(each, types) for each in there):
                return name
        return "string"

    def described(self) -> dict[str, object]:
        """What the metadata say of it."""
        return {"titles": self.name, "dc:description": self.about, "datatype": self.datatype}


def csv_text(columns: Sequence[CsvColumn]) -> str:
    r"""Write columns of one length as RFC 4180 says, in lines that end as on Unix.

    Examples
    --------
    >>> both = [CsvColumn("key", "", ["a", None]), CsvColumn("value", "", [Decimal("1.50"), None])]
    >>> csv_text(both)
    'key,value\na,1.50\n,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([each.name for each in columns])
    rows = zip(*(map(_cell, each.cells) for each in columns), strict=True)
    writer.writerows(rows)
    return text.getvalue()


def metadata(
    file: str, columns: Sequence[CsvColumn], said: Mapping[str, str | None], terms: object
) -> dict[str, object]:
    """Describe a CSV file: ``said`` are terms of Dublin Core, and ``terms`` is a note."""
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "url": quote(file),
        **{f"dc:{name}": text for name, text in said.items() if text is not None},
        "tableSchema": {"columns": [each.described() for each in columns]},
        "notes": [terms],
    }


def _is_one(value: object, types: tuple[type, ...]) -> bool:
    # A bool is an integer to Python, and a moment a date.
    if isinstance(value, bool | datetime):
        return type(value) in types or (isinstance(value, datetime) and datetime in types)
    return isinstance(value, types)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return written(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("INF" if value > 0 else "-INF")
    return value.isoformat() if isinstance(value, date) else str(value)
