"""What ``modicum check`` advises for cells that are not numbers yet, tried on these cells."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from keyword import iskeyword
from math import isclose, isnan
from typing import Any

from modicum.sources.formats.examined import AROUND, OPTIONS, TRUTHS, PatternCounts, pattern, within
from modicum.sources.formats.numerals import MARKS, Numbers

Advice = tuple[str, str]
"""What a line is for, and the line."""

READABLE = {*OPTIONS, *AROUND, "dates, year first", "dates, year last", "times of day"}
"""Kinds of cells that can be read as numbers by what is advised."""

_MARKS: Mapping[str, Mapping[str, str]] = {
    "thousands commas": {"thousands": ","},
    "decimal commas": {"decimal": ","},
    "decimal points": {"decimal": "."},
    "thousands points": {"decimal": ",", "thousands": "."},
    "thousands spaces": {"thousands": " "},
    "thousands spaces, decimal commas": {"decimal": ",", "thousands": " "},
    "thousands apostrophes": {"thousands": "'"},
    "thousands underscores": {"thousands": "_"},
}
_NEGATIVE = {"brackets around numbers": "(5)", "trailing minus signs": "5-"}
_BARE = {  # what leaves the number of a cell
    "currency signs": r'.str.replace_all(r"[$€£¥₹\s]|[A-Z]{3}", "")',
    "percent signs": r'.str.replace(r"\s*%\s*$", "")',
    "numbers with units": r'.str.replace(r"\s*[^\W\d_][^\s\d]*\s*$", "")',
    "brackets around numbers": r'.str.replace(r"^\s*\((.*)\)\s*$", "-$1")',
    "trailing minus signs": r'.str.replace(r"^(.*)-\s*$", "-$1")',
}
_FLOATS = ".cast(polars.Float64, strict=False)"
_DAY = r'.str.extract(r"^\s*({0})(?:\D|$)").str.replace_all("[/.]", "-").str.to_date("{1}", '
_TIME = (
    r'.str.replace(r"^(\d+:\d\d)$", "${1}:00").str.to_time("%H:%M:%S%.f", strict=False)'
    ".cast(polars.Int64) / 10**9"
)
_NOT_BESIDE = ("dates", "times")
_SECONDS = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")
_DATE = re.compile(r"\s*(\d+)[-/.](\d+)[-/.](\d+)")
_ORDERS = {"%Y-%m-%d": (0, 1, 2), "%d-%m-%Y": (2, 1, 0), "%m-%d-%Y": (2, 0, 1)}
_EPOCH = date(1970, 1, 1).toordinal()


def advice(counts: PatternCounts, name: str, kind: str, numbers: Numbers | None) -> list[Advice]:
    """What to write to read cells as numbers that are not yet; ``kind`` is what the column holds.

    Each line was tried on cells that it is for, and says which share of them it reads; one that
    reads none, or a cell as another number, is left out. ``numbers`` are those of a file of text,
    which has options, and None of one with types.
    """
    if kind == "text":
        return _truth(counts, name) or [
            ("can be counted, or group others", f"--by {mark_or_name(name)}")
        ]
    seen = counts.seen
    if kind in {"numbers", "true or false"}:  # a line for dates would lose them
        seen = {each: texts for each, texts in seen.items() if not each.startswith(_NOT_BESIDE)}
    found = [] if numbers is None else _options(seen, numbers)
    if find_spec("polars") is not None:
        found += _lines(seen, f"polars.col({name!r})", typed=numbers is None)
    return found


def _options(seen: Mapping[str, Counter[str]], numbers: Numbers) -> list[Advice]:
    """The options of a CSV file that read marks and signs of numbers."""
    kinds = [each for each in (*_MARKS, *_NEGATIVE) if each in seen]
    if not kinds:
        return []
    chosen = _chosen(seen, kinds)
    for each, example in _NEGATIVE.items():
        if each in seen:
            chosen["negative"] = example
    reader = _reader(chosen)
    meant = _meaning(chosen)
    read = sum(
        times
        for each in kinds
        for text, times in seen[each].items()
        if _alike(reader(text), meant(text))
    )
    if chosen.get("decimal") == numbers.decimal:
        del chosen["decimal"]
    written = " ".join(f"--{option} {mark_or_name(mark)}" for option, mark in chosen.items())
    return _told(kinds, read, seen, written)


def _reader(chosen: Mapping[str, str]) -> Callable[[str], float]:
    return Numbers(
        chosen.get("decimal", "."), chosen.get("thousands"), chosen.get("negative")
    ).reader()


def _chosen(seen: Mapping[str, Counter[str]], kinds: Iterable[str]) -> dict[str, str]:
    """How numbers are marked in these kinds of cells, and within what stands around them."""
    marks: Counter[str] = Counter()
    for each in kinds:
        for text, times in seen[each].items():
            number = within(text, each) if each in AROUND else text
            marks[pattern(number) if number else ""] += times
    if any(_MARKS[each].get("decimal") == "," for each in marks if each in _MARKS):
        del marks["thousands commas"]  # 1,234 is one and a bit in this column
    chosen: dict[str, str] = {}
    for each, _ in marks.most_common()[::-1]:  # the most frequent last, which decides
        chosen |= _MARKS.get(each, {})
    if chosen.get("thousands") == chosen.get("decimal", "."):
        del chosen["thousands"]
    return chosen


def _meaning(chosen: Mapping[str, str]) -> Callable[[str], float]:
    """Return what a cell means as a number, if numbers are marked so."""
    plain = Numbers(chosen.get("decimal", "."), chosen.get("thousands")).reader()

    def meant(text: str) -> float:
        kind = pattern(text)
        number = within(text, kind) if kind in AROUND else text
        return plain(number or "")

    return meant


def _lines(seen: Mapping[str, Counter[str]], column: str, *, typed: bool) -> list[Advice]:
    """The lines of Polars for what no option reads."""
    found: list[Advice] = []
    kinds = [each for each in _BARE if each in seen and (typed or each not in _NEGATIVE)]
    marks = [each for each in _MARKS if each in seen]
    for each in kinds:
        if each == "numbers with units" and _several_units(seen[each]):
            continue
        both = [each, *marks]
        for chosen, said in _readings(seen, both):
            line = _BARE[each] + _unmarked(chosen)
            found += _tried(column, line, both, seen, _meaning(chosen), said)
    if marks and not kinds and typed:
        chosen = _chosen(seen, marks)
        found += _tried(column, _unmarked(chosen), marks, seen, _meaning(chosen))
    found += _dates(seen, column)
    if "times of day" in seen:
        found += _tried(column, _TIME, ["times of day"], seen, _seconds, ", as seconds")
    if not found and typed and "numbers" in seen:
        found += _tried(column, _FLOATS, ["numbers"], seen, Numbers().reader())
    return found


def _readings(
    seen: Mapping[str, Counter[str]], kinds: Sequence[str]
) -> Iterator[tuple[Mapping[str, str], str]]:
    """How numbers are marked, and both ways if all marks may group thousands or be decimal."""
    chosen = _chosen(seen, kinds)
    numbers = [
        within(text, each) or "" if each in AROUND else text
        for each in kinds
        for text in seen[each]
    ]
    marked = [each for each in numbers if re.search("[,.]", each)]
    for mark, other, name in ((".", ",", "point"), (",", ".", "comma")):
        if marked and all(re.fullmatch(rf"-?\d{{1,3}}[{mark}]\d{{3}}", each) for each in marked):
            ways = [
                ({"decimal": mark}, f", if the {name} is decimal"),
                ({"decimal": other, "thousands": mark}, f", if the {name} groups thousands"),
            ]
            yield from ways if mark == "." else reversed(ways)
            return
    yield chosen, ""


def _several_units(texts: Iterable[str]) -> bool:
    """Whether numbers are of different sizes: 5 kg and 5 g."""
    return len({re.sub(r"^[^a-zA-Zµ°]*", "", text).strip().casefold() for text in texts}) > 1


def _unmarked(chosen: Mapping[str, str]) -> str:
    """What makes marked numbers plain."""
    line = ""
    if "thousands" in chosen:
        mark = chosen["thousands"]
        marks = r"\s" if mark == " " else f"[{MARKS[mark]}]"
        line += f'.str.replace_all(r"{marks}", "")'
    if chosen.get("decimal") == ",":
        line += '.str.replace(",", ".", literal=True)'
    return line + _FLOATS


def _dates(seen: Mapping[str, Counter[str]], column: str) -> list[Advice]:
    """The lines for dates: in which order day and month stand, the cells may show or not."""
    found: list[Advice] = []
    if "dates, year first" in seen:
        found += _dated("%Y-%m-%d", "dates, year first", seen, column, "")
    last = "dates, year last"
    if last not in seen:
        return found
    parts = [each for text in seen[last] if (each := _DATE.match(text))]
    day_first = any(int(each[1]) > 12 for each in parts)
    month_first = any(int(each[2]) > 12 for each in parts)
    points = all("." in text for text in seen[last])
    short = sum(len(each[3]) == 2 for each in parts) * 2 > len(parts)
    orders = {"%d-%m-%Y": ", day first", "%m-%d-%Y": ", month first"}
    if day_first != month_first or points:
        one = "%m-%d-%Y" if month_first and not day_first else "%d-%m-%Y"
        orders = {one: orders[one]}
    for form, order in orders.items():
        either = ", if the " + order.removeprefix(", ").replace(" first", " comes first")
        said = order if len(orders) == 1 else either
        found += _dated(form.replace("%Y", "%y") if short else form, last, seen, column, said)
    return found


def _dated(
    form: str, kind: str, seen: Mapping[str, Counter[str]], column: str, said: str
) -> list[Advice]:
    year, month, day = _ORDERS[form.replace("%y", "%Y")]
    short = "%y" in form

    def days(text: str) -> float:
        found = _DATE.match(text)
        parts = found.groups() if found is not None else ("",)
        if found is None or (len(parts[year]) == 2) != short:
            return float("nan")
        whole = int(parts[year]) + 2000 * short - 100 * (short and int(parts[year]) >= 70)
        try:
            return date(whole, int(parts[month]), int(parts[day])).toordinal() - _EPOCH
        except ValueError:
            return float("nan")

    digits = [r"\d{1,2}"] * 3
    digits[year] = r"\d{2}" if short else r"\d{4}"
    line = _DAY.replace("{0}", "[-/.]".join(digits)).replace("{1}", form)
    line += 'strict=False).dt.epoch("d")'
    return _tried(column, line, [kind], seen, days, f"{said}, as days since 1970")


def _seconds(text: str) -> float:
    found = _SECONDS.fullmatch(text)
    if found is None:
        return float("nan")
    return 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3] or 0)


def _tried(
    column: str,
    line: str,
    kinds: Sequence[str],
    seen: Mapping[str, Counter[str]],
    meant: Callable[[str], float],
    said: str = "",
) -> list[Advice]:
    """Run a line on the cells that were seen; nothing if it reads none of them, or one wrongly.

    What is run is the line alone, which is made here; ``column`` holds a name from the file.
    """
    polars = import_module("polars")
    cells = [(text, times) for each in kinds for text, times in seen[each].items()]
    cells += [(text, 0) for text in seen.get("numbers", ()) if "numbers" not in kinds]
    frame = polars.DataFrame({"": [text for text, _ in cells]}, schema={"": polars.String})
    try:
        expression: Any = eval(f"polars.col(''){line}", {"polars": polars})
        found = frame.select(expression.cast(polars.Float64)).to_series().to_list()
    except polars.exceptions.PolarsError:
        return []
    read = 0
    for (text, times), value in zip(cells, found, strict=True):
        if value is not None and not _alike(value, meant(text)):
            return []
        read += times * (value is not None)
    return _told(kinds, read, seen, column + line, said)


def _told(
    kinds: Sequence[str],
    read: int,
    seen: Mapping[str, Counter[str]],
    line: str,
    said: str = "",
) -> list[Advice]:
    whole = sum(seen[each].total() for each in kinds)
    if not read:
        return []
    share = "all" if read == whole else f"{min(max(100 * read / whole, 0.1), 99.9):.1f} %"
    return [(f"reads {listed(kinds)}{said} ({share} of these cells)", line)]


def _truth(counts: PatternCounts, name: str) -> list[Advice]:
    """The condition that is 1 where a word says so, if all cells are such words."""
    seen = counts.seen.get("truth words")
    if seen is None:
        return []
    for pair in TRUTHS:
        words = {text: text.strip().casefold() for text in seen}
        true = [text for text, word in words.items() if word == pair[0]]
        if not true or not {*words.values()} <= {*pair}:
            continue
        column = name if name.isidentifier() and not iskeyword(name) else f"col({name!r})"
        made = f"{name}_{pair[0]}" if column == name and pair[0].isascii() else "true"
        same = f"== {true[0]!r}" if len(true) == 1 else f"in {true!r}"
        share = _share(counts.patterns["truth words"], counts.cells - counts.empty)
        condition = f"{made}={column} {same}"
        return [
            (f"makes 1 and 0 of truth words ({share} of the cells)", f"--with {quoted(condition)}")
        ]
    return []


def quoted(condition: str) -> str:
    """Write a condition for a shell, in double quotes if these do."""
    plain = re.search(r'["$`\\!]', condition) is None
    return f'"{condition}"' if plain else shlex.quote(condition)


def listed(words: Sequence[str]) -> str:
    """Write some words one after the other."""
    *first, last = (each.replace(", decimal", " and decimal") for each in words)
    return f"{', '.join(first)} and {last}" if first else last


def _share(part: int, whole: int) -> str:
    return "all" if part == whole else f"{100 * part / whole:.1f} %"


def _alike(found: float, meant: float) -> bool:
    return not isnan(meant) and isclose(found, meant, rel_tol=1e-12)


def mark_or_name(mark: str) -> str:
    """Return a mark or a name as it is written on the command line."""
    return "tab" if mark == "\t" else shlex.quote(mark)
