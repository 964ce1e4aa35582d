"""Words and lines of what is released, as summaries and tables write them."""

from __future__ import annotations

from collections.abc import Sequence
from sys import float_info
from textwrap import fill

AT_HAND, POPULATION = "for the data at hand", "for the population the rows are a sample of"


def view_line(view: str, width: int) -> str:
    """Write a line of a summary of what a view of a table is; its first word is the name."""
    name, _, words = view.partition(" ")
    return f"  {name:{width}}{words}"


def note_text(head: str, words: str) -> str:
    """Write a note of a summary in lines below each other."""
    return fill(words, 96, initial_indent=head, subsequent_indent=" " * len(head))


def interval_of(left_out: str, *, population: bool) -> str:
    """Say what intervals are for, if something of persons is ``left_out`` or not."""
    if population:
        return POPULATION
    return "for the rows that are kept" if left_out else AT_HAND


def found_groups_words(most: int) -> str:
    """Say in how many groups a person counts, if that was found."""
    groups = "one group" if most == 1 else f"at most {most:,} groups"
    return f"{groups} of each person, at random: found; the rows in others do not count"


def end(x: float, digits: int = 6) -> str:
    """Write an end of an interval; an infinite one lies beyond the largest float.

    Examples
    --------
    >>> end(1234.5), end(-1.8e308)
    ('1,234.5', '-∞')
    """
    return f"{x:,.{digits}g}" if abs(x) < float_info.max else ("∞" if x > 0 else "-∞")


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
