"""What to say of a path that is read otherwise than from a CSV or Parquet file."""

from __future__ import annotations

import re
from pathlib import Path

from modicum.errors import InvalidArgument, SourceError

__all__ = ["check_local", "unknown_format"]

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/?/", re.IGNORECASE)
_READERS = {
    ("xlsx", "xlsm", "xls", "ods"): "a spreadsheet: in Python pass pandas.read_excel({0!r})",
    ("dta",): "a file of Stata: in Python pass pandas.read_stata({0!r})",
    ("sas7bdat", "xpt"): "a file of SAS: in Python pass pandas.read_sas({0!r})",
    ("sav", "zsav"): "a file of SPSS: in Python pass pandas.read_spss({0!r})",
    ("rds", "rdata", "rda"): "a file of R: write it with arrow::write_parquet or write.csv there",
    ("feather", "arrow", "ipc"): (
        'a Feather file: in Python pass pyarrow.dataset.dataset({0!r}, format="feather")'
    ),
    ("orc",): 'an ORC file: in Python pass pyarrow.dataset.dataset({0!r}, format="orc")',
    ("json",): "a JSON file: in Python pass pandas.read_json({0!r})",
    ("jsonl", "ndjson"): "a file of JSON lines: in Python pass polars.scan_ndjson({0!r})",
    ("gz", "bz2", "xz", "zst", "zip", "7z", "tar", "tgz"): (
        "compressed: unpack it first, for it is read more than once"
    ),
    ("db", "sqlite", "sqlite3"): (
        "a file of SQLite: in Python pass ibis.sqlite.connect({0!r}).table(NAME)"
    ),
    ("duckdb", "ddb"): "a file of DuckDB: in Python pass duckdb.connect({0!r}).table(NAME)",
    ("txt", "dat", "data"): (
        "a text file: if it is CSV, say so with modicum.csv_file({0!r}, separator=...) "
        "(on the command line --separator)"
    ),
}
_ADVICE = {suffix: line for suffixes, line in _READERS.items() for suffix in suffixes}


def check_local(text: str) -> None:
    """Refuse addresses, which may hold a password and are not shown, and standard input.

    Raises
    ------
    InvalidArgument, SourceError
    """
    address = _URL.match(text)
    if address is not None:
        kind = address[1].lower()
        if re.match(r"sqlite|postgres|mysql|mariadb|duckdb|mssql|oracle|snowflake", kind):
            raise InvalidArgument(
                f"{kind}:// names a database: in Python pass a table of it, for example "
                "ibis.connect(URL).table(NAME)"
            )
        raise InvalidArgument(
            f"{kind}:// addresses are not opened, only local files: download it, or in Python pass "
            "a relation that opens it, for example duckdb.read_parquet(URL)"
        )
    if text == "-":
        raise InvalidArgument(
            "standard input can be read only once, and a release may read its data again: save "
            "them to a file"
        )
    path = Path(text)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise SourceError(
            f"{path.name!r} is a pipe or a device, which can be read only once: save it to a file"
        )


def unknown_format(name: str) -> InvalidArgument:
    """Say what to do with a file, by its name."""
    advice = _ADVICE.get(name.rpartition(".")[2].lower())
    if advice is not None:
        return InvalidArgument(f"{name!r} is {advice.format(name)}")
    return InvalidArgument(
        f"{name!r} must name one .csv or .tsv file, or Parquet files that end in .parquet"
    )
