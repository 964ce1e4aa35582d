"""Words and lines of what is released, as summaries and tables write them."""

from __future__ import annotations

from collections.abc import Sequence
from sys import float_info
from textwrap import fill
from typing import Any

WIDTH = 79  # letters of a line
_LARGE = {1e6: "million", 1e9: "billion", 1e12: "trillion"}
USUAL = "adaptive"  # the method of what has several, if none is named
INDEX = (
    "tail={:g} is a tail index: of a tail of index a, the share beyond t times a distance falls "
    "like t^-a."
)
SAMPLE = "{:g} %, of a random sample"
AT_HAND, POPULATION = "for the data at hand", "for the population the rows are a sample of"


def wrapped(head: str, words: str, below: str) -> str:
    """Write words after a head, in lines that fit on a screen; those ``below`` begin so."""
    return fill(words, WIDTH, initial_indent=head, subsequent_indent=below, break_on_hyphens=False)


def line(head: str, words: str, width: int = 14) -> str:
    """Write a line of a summary: what it is about, and words, as many lines as they need.

    Examples
    --------
    >>> line("cost", "ε = 1 for one row", 7)
    '  cost    ε = 1 for one row'
    """
    first = f"  {head:{width}} "
    return wrapped(first, words, " " * len(first))


def amount(x: float, digits: int = 3) -> str:
    """Write a number for somebody who reads no powers of ten.

    Examples
    --------
    >>> amount(134217728), amount(-8312.5), amount(1e6, 6)
    ('134 million', '-8,310', '1 million')
    """
    rounded = float(f"{x:.{digits}g}")
    for size, word in _LARGE.items():
        if size <= abs(rounded) < 1000 * size:
            return f"{rounded / size:.{digits}g} {word}"
    return end(rounded, digits)


def range_words(within: Sequence[float], stated: str) -> str:
    """Say which range holds, and that it was given or what states it."""
    lower, upper = (amount(each, 6) for each in within)
    return f"{lower} to {upper}, {f'from {stated}' if stated else 'given'}"


def clip_of(record: Any) -> Sequence[float]:
    """The ends that values further out count as, of one number of rows or of single values."""
    whole: bool = record.unit.whole  # then what a person's rows add up to is clipped, and no value
    return () if whole else getattr(record.error_model, "clip", ())


def bounds_words(end: float, clip: Sequence[float]) -> str:
    """Say where values were clipped, or the ``end`` of the range that was found."""
    ends = [amount(each) for each in clip]
    if len({*ends}) < 2:
        return f"found privately (search ended at {amount(end)})"
    return f"{ends[0]} to {ends[1]}, found privately: others count as these"


def interval_of(left_out: str, *, population: bool) -> str:
    """Say what intervals are for, if something of persons is ``left_out`` or not."""
    if population:
        return POPULATION
    return "for the rows that are kept" if left_out else AT_HAND


def found_rows_words(most: int) -> str:
    """Say how many rows of a person count, if that was found."""
    rows = "one row" if most == 1 else f"at most {most:,} rows"
    return f"{rows} of each person, at random: found"


def found_groups_words(most: int) -> str:
    """Say in how many groups a person counts, if that was found."""
    groups = "one group" if most == 1 else f"at most {most:,} groups"
    return f"{groups} of each person, at random: found; the rows in others do not count"


def end(x: float, digits: int = 6) -> str:
    """Write an end of an interval; an infinite one lies beyond the largest float.

    Examples
    --------
    >>> end(1234.5), end(-39602512.3), end(-1.8e308)
    ('1,234.5', '-39,602,500', '-∞')
    """
    if not abs(x) < float_info.max:
        return "∞" if x > 0 else "-∞"
    rounded = float(f"{x:.{digits}g}")
    return f"{rounded:,.0f}" if 10**digits <= abs(rounded) < 1e15 else f"{rounded:,.{digits}g}"


def interval(lower: float, upper: float) -> str:
    """Write an interval."""
    return f"[{end(lower)}, {end(upper)}]"


def aligned(rows: Sequence[Sequence[str]], labels: int = 1) -> list[str]:
    """Write rows in columns: the first ones, of labels, to the left, the others to the right.

    Examples
    --------
    >>> aligned([["key", "value"], ["North", "7"]])
    ['  key    value', '  North      7']
    """
    wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            f"{cell:<{width}}" if place < labels else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    ]
