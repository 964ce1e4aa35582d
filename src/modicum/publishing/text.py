"""Words and lines of what is released, as summaries and tables write them."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill


def view_line(view: str, width: int) -> str:
    """Write a line of a summary of what a view of a table is; its first word is the name."""
    name, _, words = view.partition(" ")
    return f"  {name:{width}}{words}"


def note_text(head: str, words: str) -> str:
    """Write a note of a summary in lines below each other."""
    return fill(words, 96, initial_indent=head, subsequent_indent=" " * len(head))


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
