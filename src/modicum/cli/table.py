"""Options that say how a CSV file is written."""

from __future__ import annotations

import argparse
from typing import Any

from modicum.errors import InvalidArgument
from modicum.frames.base import Source, open_source
from modicum.frames.files import csv_file

__all__ = ["add_csv", "opened"]

_TABS = {"tab", "\\t"}


def add_csv(parser: argparse.ArgumentParser) -> None:
    """Add the options; with any of them, FILE is CSV whatever its name ends in."""
    group = parser.add_argument_group("how a CSV file is written")
    group.add_argument(
        "--separator", metavar="C", help="between cells, such as ';' or tab (default: a comma)"
    )
    group.add_argument("--decimal", metavar="C", help="the decimal point: . (default) or ,")
    group.add_argument(
        "--thousands", metavar="C", help="what groups digits by three: one of , . ' _ or a space"
    )
    group.add_argument("--encoding", metavar="NAME", help="such as cp1252 (default: utf-8)")
    group.add_argument(
        "--columns", metavar="A,B,...", help="names of the columns of a file without a header"
    )
    group.add_argument(
        "--one-line-rows",
        action="store_true",
        help="no cell holds a line end: every line is a row, whatever quotes there are",
    )


def opened(arguments: argparse.Namespace) -> Source:
    """Open FILE as the options say."""
    names = ("separator", "decimal", "thousands", "encoding")
    chosen: dict[str, Any] = {
        name: value for name in names if (value := getattr(arguments, name)) is not None
    }
    if chosen.get("separator") in _TABS:
        chosen["separator"] = "\t"
    if arguments.columns is not None:
        chosen["columns"] = arguments.columns.split(",")
    if arguments.one_line_rows:
        chosen["multiline"] = False
    if not chosen:
        return open_source(arguments.file)
    if arguments.file.lower().endswith(".parquet"):
        raise InvalidArgument("a Parquet file takes no options of CSV files")
    return csv_file(arguments.file, **chosen)
