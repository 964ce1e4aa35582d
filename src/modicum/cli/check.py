"""``modicum check``: what a file holds, for the person who keeps it. Not private."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from modicum.cli.options import TABLE, Output, add_csv, opened
from modicum.cli.tasks import words_of
from modicum.sources.base import Chunk, Source
from modicum.sources.copied import PROGRAMS
from modicum.sources.csv import MARKS, CsvFile, Numbers, PatternCounts
from modicum.sources.progress import watched
from modicum.sources.types import conversion, is_number, label_kind

_WARNING = "NOT PRIVATE: exact facts about the data, for whoever keeps them. Do not pass them on."
_OPTIONS = {
    "thousands commas": {"thousands": ","},
    "decimal commas": {"decimal": ","},
    "decimal points": {"decimal": "."},
    "thousands points": {"decimal": ",", "thousands": "."},
    "thousands spaces": {"thousands": " "},
    "thousands spaces, decimal commas": {"decimal": ",", "thousands": " "},
    "thousands apostrophes": {"thousands": "'"},
    "thousands underscores": {"thousands": "_"},
}
_SCANS = {".feather": "scan_ipc", ".arrow": "scan_ipc", ".ipc": "scan_ipc"}
_FLOATS = ".cast(polars.Float64, strict=False)"


def _days(form: str) -> str:
    day = r'.str.extract(r"(\d+[-/.]\d+[-/.]\d+)").str.replace_all("[/.]", "-")'
    return f'{day}.str.to_date("{form}", strict=False).dt.epoch("d")'


_CONVERSIONS = {
    "currency signs": '.str.replace_all("[^0-9.+-]", "")' + _FLOATS,
    "percent signs": r'.str.replace(r"\s*%", "")' + _FLOATS,
    "brackets around numbers": r'.str.replace(r"\((.*)\)", "-$1")' + _FLOATS,
    "numbers with units": r'.str.extract("^([0-9.+-]+)")' + _FLOATS,
    "dates, year first": _days("%Y-%m-%d"),
    "dates, year last": _days("%d-%m-%Y"),
    "times of day": '.str.to_time("%H:%M:%S", strict=False).cast(polars.Int64)',
}
_MISSING = {"blanks", "words for missing values"}


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "check",
        help=words_of("check"),
        description="Tell what each column of a file holds, which cells are not numbers, and what "
        "to write so that they are. This reads the data and is NOT private: it prints exact shares "
        "of cells, for the terminal of whoever keeps the file, but no value of a cell.",
        epilog="example: modicum check people.csv income",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help=TABLE,
    )
    parser.add_argument("column", metavar="COLUMN", nargs="?", help="only this one")
    add_csv(parser)
    parser.set_defaults(answer=_answer)


def _answer(arguments: argparse.Namespace) -> Output:
    source, written = _opened(arguments)
    names = list(source.names)
    if arguments.column is not None:
        source.check_counted(arguments.column)
        names = [arguments.column]
    path = "standard input" if "copy" in arguments else Path(arguments.file).name
    form = Path(arguments.file).suffix.lower()
    scan = f"polars.{_SCANS.get(form, 'scan_parquet')}({path!r})"
    if not isinstance(source, CsvFile):
        rows, table = _declared(source, names)
        facts = [form.removeprefix(".").capitalize()]
    elif form in PROGRAMS:
        rows, table = _cells(source, names)
        facts, scan = [f"{form}, read cell by cell"], "a frame of these cells as text"
    else:
        rows, table = _cells(source, names)
        separator = repr(source.dialect.separator)
        facts = [f"CSV in {source.dialect.encoding}, separator {separator}{written}"]
        facts += source.facts()
        scan = f"polars.scan_csv({path!r}, separator={separator}, infer_schema=False)"
    lines = [_WARNING, f"{path}: {facts[0]}, {rows:,} rows", *(f"  {each}" for each in facts[1:])]
    lines += _aligned(table)
    if any("polars" in row[-1] for row in table):
        lines.append(
            f"polars.col... in Python, after `pip install polars`: pass {scan}.with_columns(...)"
        )
    return Output("\n".join(lines))


def _opened(arguments: argparse.Namespace) -> tuple[Source, str]:
    """Open the file, with another separator if the header needs one and the options give none."""
    source = opened(arguments)
    if isinstance(source, CsvFile) and arguments.separator is None:
        other = source.other_separator
        if other is not None:
            arguments.separator = other
            return opened(arguments), f" (write --separator {_quoted(other)})"
    return source, ""


def _cells(source: CsvFile, names: Sequence[str]) -> tuple[int, list[list[str]]]:
    counts = {name: PatternCounts(source.numbers) for name in names}
    rows = 0
    for chunk in _read(source, [], counts):
        rows += len(chunk[None])
    table = [["column", "holds", "empty", "no number", "of these", "write"]]
    for name, each in counts.items():
        table.append(
            [
                name,
                _kind(each),
                _share(each.empty, rows),
                _share(each.others, rows),
                _most(each),
                _advice(each, name, source.numbers),
            ]
        )
    return rows, table


def _declared(source: Source, names: Sequence[str]) -> tuple[int, list[list[str]]]:
    """Describe columns with types; text is examined like the cells of a CSV file."""
    kinds = {name: source.declared(name) for name in names}
    floats = [name for name in names if is_number(kinds[name])]
    counts = {
        name: PatternCounts(Numbers())
        for name in names
        if label_kind(kinds[name]) in {"text", "labels"}
    }
    missing = dict.fromkeys(floats, 0)
    rows = 0
    for chunk in _read(source, floats, counts):
        rows += len(chunk[None])
        for name in floats:
            missing[name] += int(np.isnan(chunk[name]).sum())
    table = [["column", "declared", "empty", "no number", "of these", "write"]]
    for name in names:
        row = [name, kinds[name]]
        if name in missing:
            row += [_share(missing[name], rows), "0 %", "", "as it is"]
        elif name in counts:
            each = counts[name]
            row += [_share(each.empty, rows), _share(rows - each.empty, rows), _most(each)]
            row.append(_advice(each, name, None))
        else:
            row += ["", "100 %", "", conversion("polars", kinds[name], name) or ""]
        table.append(row)
    return rows, table


def _read(
    source: Source, floats: Sequence[str], counts: Mapping[str, PatternCounts]
) -> Iterator[Chunk]:
    chunks = source.chunks([None, *floats], counts)
    return watched(
        ((len(chunk[None]), chunk) for chunk in chunks), "reading", "rows", source.about_rows
    )


def _kind(counts: PatternCounts) -> str:
    there = counts.cells - counts.empty
    numbers = there - counts.others
    if not there:
        return "nothing"
    (most, times), *_ = counts.patterns.most_common(1) or [("numbers", 0)]
    if numbers >= times:
        return "numbers"
    if most in _OPTIONS or most in _CONVERSIONS:
        return "dates" if most.startswith("dates") else "numbers, written otherwise"
    return "text" if most not in _MISSING else "numbers and missing ones"


def _most(counts: PatternCounts) -> str:
    """The commonest kinds of cells that are not numbers."""
    total = counts.others
    found = [(name, _share(n, total)) for name, n in counts.patterns.most_common(3)]
    return "; ".join(name if len(found) == 1 else f"{name} {share}" for name, share in found)


def _advice(counts: PatternCounts, name: str, numbers: Numbers | None) -> str:
    """What to write to read cells as numbers that are not yet; ``numbers`` are of a CSV file."""
    patterns = [each for each, _ in counts.patterns.most_common() if each not in _MISSING]
    column = f"polars.col({name!r})"
    if not patterns:
        return column + _FLOATS if numbers is None else "as it is"
    if patterns[0] in _CONVERSIONS:
        return column + _CONVERSIONS[patterns[0]]
    if patterns[0] not in _OPTIONS:
        if _kind(counts) == "numbers":
            return column + _FLOATS if numbers is None else "as it is: other cells are left out"
        return f"it can be counted, or group others: --by {_quoted(name)}"
    commas = {each for each in _OPTIONS if _OPTIONS[each].get("decimal") == ","}
    if commas & set(patterns):  # then 1,234 is one and a bit in this column
        patterns = [each for each in patterns if each != "thousands commas"]
    chosen: dict[str, str] = {}
    for each in patterns:
        chosen |= _OPTIONS.get(each, {})
    if numbers is not None:
        return " ".join(f"--{option} {_quoted(mark)}" for option, mark in chosen.items())
    if "thousands" in chosen:
        mark = chosen["thousands"]
        marks = r"\s" if mark == " " else f"[{MARKS[mark]}]"
        column += f'.str.replace_all(r"{marks}", "")'
    if chosen.get("decimal") == ",":
        column += '.str.replace(",", ".")'
    return column + _FLOATS


def _quoted(mark: str) -> str:
    return "tab" if mark == "\t" else shlex.quote(mark)


def _share(part: int, whole: int) -> str:
    if part in {0, whole}:
        return "0 %" if not part else "100 %"
    return f"{min(max(100 * part / whole, 0.1), 99.9):.1f} %"


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
