"""``modicum check``: what a file holds, for the person who keeps it. Not private."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

from modicum.cli.advice import READABLE, advice, listed, mark_or_name, quoted
from modicum.cli.options import TABLE, Output, add_csv, opened
from modicum.cli.tasks import words_of
from modicum.errors import InvalidArgument, number_of
from modicum.sources import base, progress
from modicum.sources.formats import copied, excel
from modicum.sources.formats.csv import CsvFile
from modicum.sources.formats.examined import NumberCounts, PatternCounts
from modicum.sources.formats.numerals import TRUTH, Numbers
from modicum.sources.formats.oddities import oddities
from modicum.sources.formats.several import SeveralFiles
from modicum.sources.types import conversion, is_number, label_kind

_WARNING = "NOT PRIVATE: exact facts about the data, for whoever keeps them. Do not pass them on."
_SCANS = {".feather": "scan_ipc", ".arrow": "scan_ipc", ".ipc": "scan_ipc"}
_MISSING = {"blanks", "words for missing values"}
_FREQUENT, _SHARE = 2, 0.01  # values that are shown, if each has this share of the rows


class _Column(NamedTuple):
    """What a column holds.

    ``write`` has lines, each with what it is for. A condition can compare numbers of a CSV file
    and of columns of numbers, and not those in text of a file with types.
    """

    name: str
    holds: str
    empty: int | None
    others: int
    kinds: Sequence[tuple[str, int]]
    values: NumberCounts
    write: Sequence[tuple[str, str]]
    comparable: bool = True


def add_to(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "check",
        help=words_of("check"),
        description="Tell what each column of a file holds, which cells are not numbers, and what "
        "to write so that they are; the smallest, largest and most frequent numbers; and codes "
        "such as 999 that may stand for missing values. This reads the data and is NOT private: it "
        "prints exact numbers and shares of cells, for the terminal of whoever keeps the file.",
        epilog="example: modicum check people.csv income",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help=TABLE,
    )
    parser.add_argument("column", metavar="COLUMN", nargs="?", help="only this one")
    add_csv(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object; not private")
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
        rows, columns = _declared(source, names)
        facts = [form.removeprefix(".").capitalize()]
    elif form in {*copied.STATISTICS, *excel.SUFFIXES}:
        rows, columns = _cells(source, names)
        facts, scan = [f"{form}, read cell by cell"], "a frame of these cells as text"
    else:
        rows, columns = _cells(source, names)
        separator = repr(source.dialect.separator)
        facts = [f"CSV in {source.dialect.encoding}, separator {separator}{written}"]
        facts += oddities(source)
        scan = f"polars.scan_csv({path!r}, separator={separator}, infer_schema=False)"
    if arguments.json:
        return Output(_as_json(path, facts, rows, columns))
    lines = [_WARNING, f"{path}: {facts[0]}, {number_of(rows, 'row')}"]
    lines += [f"  {each}" for each in facts[1:]]
    lines += _table(columns, rows, "holds" if isinstance(source, CsvFile) else "declared")
    lines += [line for each in columns for line in _said(each, rows)]
    if any("polars.col" in line for line in lines):
        lines.append("polars.col... is for Python, after `pip install polars`; the table is then")
        lines.append(f"  {scan}.with_columns(...)")
    return Output("\n".join(lines))


def _opened(arguments: argparse.Namespace) -> tuple[base.Source, str]:
    """Open the file, with another separator if the header needs one and the options give none."""
    source = opened(arguments)
    if isinstance(source, SeveralFiles) and source.engine == "csv":
        raise InvalidArgument(f"{source.label} are several files: check them one after the other")
    if isinstance(source, CsvFile) and arguments.separator is None:
        other = source.other_separator
        if other is not None:
            arguments.separator = other
            return opened(arguments), f" (write --separator {mark_or_name(other)})"
    return source, ""


def _cells(source: CsvFile, names: Sequence[str]) -> tuple[int, list[_Column]]:
    counts = {name: PatternCounts(source.numbers) for name in names}
    rows = sum(len(chunk[None]) for chunk in _read(source, [], counts))
    return rows, [_of_text(name, _kind(counts[name]), counts[name], source) for name in names]


def _of_text(name: str, holds: str, counts: PatternCounts, source: base.Source) -> _Column:
    numbers = source.numbers if isinstance(source, CsvFile) else None
    # Text of a file with types is no number as it stands, whatever it looks like.
    others = counts.others if numbers is not None else counts.cells - counts.empty
    return _Column(
        name,
        holds,
        counts.empty,
        others,
        counts.patterns.most_common(),
        counts.values,
        advice(counts, name, _kind(counts), numbers),
        comparable=numbers is not None,
    )


def _declared(source: base.Source, names: Sequence[str]) -> tuple[int, list[_Column]]:
    """Describe columns with types; text is examined like the cells of a CSV file."""
    kinds = {name: source.declared(name) for name in names}
    floats = {name: NumberCounts() for name in names if is_number(kinds[name])}
    counts = {
        name: PatternCounts(Numbers())
        for name in names
        if label_kind(kinds[name]) in {"text", "labels"}
    }
    rows = 0
    for chunk in _read(source, list(floats), counts):
        rows += len(chunk[None])
        for name, values in floats.items():
            values.add(chunk[name])
    found = []
    for name, kind in kinds.items():
        if name in counts:
            found.append(_of_text(name, kind, counts[name], source))
        elif name in floats:
            values = floats[name]
            found.append(_Column(name, kind, rows - values.total, 0, [], values, []))
        else:
            line = conversion("polars", kind, name)
            write = [] if line is None else [("reads it as a number", line)]
            found.append(_Column(name, kind, None, rows, [], NumberCounts(), write))
    return rows, found


def _read(
    source: base.Source, floats: Sequence[str], counts: Mapping[str, PatternCounts]
) -> Iterator[base.Chunk]:
    chunks = source.chunks([None, *floats], counts)
    return progress.watched(
        ((len(chunk[None]), chunk) for chunk in chunks), "reading", "rows", source.about_rows
    )


def _kind(counts: PatternCounts) -> str:
    there = counts.cells - counts.empty
    numbers = there - counts.others
    if not there:
        return "nothing"
    (most, times), *_ = counts.patterns.most_common(1) or [("numbers", 0)]
    if numbers >= times:
        return "true or false" if numbers and {*counts.seen["numbers"]} <= {*TRUTH} else "numbers"
    if most in READABLE:
        return "dates" if most.startswith("dates") else "numbers, written otherwise"
    return "text" if most not in _MISSING else "numbers and missing ones"


def _left_out(column: _Column, rows: int) -> tuple[str, str] | None:
    """What is said of numbers that look like codes, and the condition that leaves them out."""
    codes = column.values.codes() if column.comparable else []
    if not codes:
        return None
    name = column.name
    if not name.isidentifier() or iskeyword(name):
        name = f"col({name!r})"
    above = [value for value, _ in codes if value > 0]
    parts = [f"{name} >= 0"] * (len(above) < len(codes))
    if above:
        parts.append(f"{name} < {_number(min(above))}")
    condition = " and ".join(parts)
    share = _share(sum(times for _, times in codes), rows)
    values = listed([_number(value) for value, _ in codes])
    one = "it stands for a missing value, leave it out"
    several = "they stand for missing values, leave them out"
    missing = one if len(codes) == 1 else several
    return f"{values} in {share} of the rows: if {missing}", f"--where {quoted(condition)}"


def _said(column: _Column, rows: int) -> list[str]:
    """Lines about a column below the table; code stands alone, to be copied."""
    lines = []
    if column.kinds:
        lines.append(f"  no numbers: {_shares(column.kinds)}")
    for purpose, line in _written(column, rows):
        lines += [f"  {purpose}:", f"    {line}"]
    return [column.name, *lines] if lines else []


def _written(column: _Column, rows: int) -> list[tuple[str, str]]:
    codes = _left_out(column, rows)
    return [*column.write, *([] if codes is None else [codes])]


def _shares(kinds: Sequence[tuple[str, int]]) -> str:
    total = sum(n for _, n in kinds)
    shown = kinds[:3]
    if len(kinds) == 1:
        return kinds[0][0]
    return "; ".join(f"{name} {_share(n, total)}" for name, n in shown)


def _frequent(column: _Column, rows: int) -> list[tuple[float, int]]:
    return [(value, n) for value, n in column.values.frequent(_FREQUENT) if n >= _SHARE * rows]


def _table(columns: Sequence[_Column], rows: int, kind: str) -> list[str]:
    table = [["column", kind, "empty", "no number", "smallest", "largest", "most frequent"]]
    for each in columns:
        ends = each.values.ends
        frequent = _frequent(each, rows)
        table.append(
            [
                each.name,
                each.holds,
                "" if each.empty is None else _share(each.empty, rows),
                _share(each.others, rows),
                *(["", ""] if ends is None else map(_number, ends)),
                "; ".join(f"{_number(value)} in {_share(n, rows)}" for value, n in frequent),
            ]
        )
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def _as_json(path: str, facts: Sequence[str], rows: int, columns: Sequence[_Column]) -> str:
    found = []
    for each in columns:
        ends = each.values.ends or (None, None)
        frequent = _frequent(each, rows)
        found.append(
            {
                "column": each.name,
                "holds": each.holds,
                "empty": each.empty,
                "no_number": each.others,
                "kinds": dict(each.kinds),
                "smallest": _in_json(ends[0]),
                "largest": _in_json(ends[1]),
                "most_frequent": [{"value": _in_json(x), "times": n} for x, n in frequent],
                "write": [{"for": why, "line": line} for why, line in _written(each, rows)],
            }
        )
    said = {"warning": _WARNING, "file": path, "facts": facts, "rows": rows, "columns": found}
    return json.dumps(said, ensure_ascii=False)


def _in_json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _number(value: float) -> str:
    return f"{value:.10g}"


def _share(part: int, whole: int) -> str:
    if part in {0, whole}:
        return "0 %" if not part else "100 %"
    return f"{min(max(100 * part / whole, 0.1), 99.9):.1f} %"
